// spring.c -- between two points, along the line from P1 to P2:
//
//   f = -k (l - l0) - c ldot + force(t),   l = |r2 - r1|,  positive pushes the points apart
//
// The first part has the potential k (l - l0)^2 / 2, the others do the work f ldot.  Where the
// points meet there is no line, and no force.
#include "model/forces/points.h"
#include "model/model.h"
#include "spatial/motion.h"

typedef struct line {
    double arm1[3], arm2[3]; ///< points from the mass centres, world axes
    double n[3];             ///< unit vector from P1 to P2; zero where they meet
    double length;
} line;

static line line_of(const lwi_spring_par *p, const lwi_kin *kin)
{
    line s;
    double d[3];
    m3_mul_v(s.arm1, kin->R[p->body1], p->point1);
    m3_mul_v(s.arm2, kin->R[p->body2], p->point2);
    v3_sub(d, kin->r[p->body2], kin->r[p->body1]);
    v3_add(d, d, s.arm2);
    v3_sub(d, d, s.arm1);
    s.length = v3_norm(d);
    v3_scale(s.n, s.length > 0 ? 1 / s.length : 0, d);
    return s;
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_spring_par *p = par;
    const lwi_now now = {.t = t, .inputs = inputs, .q = kin->q, .qd = kin->qd};
    const line s = line_of(p, kin);
    double v1[3], v2[3];
    point_velocity(v1, kin, p->body1, s.arm1);
    point_velocity(v2, kin, p->body2, s.arm2);
    v3_sub(v2, v2, v1);
    const double rate = v3_dot(s.n, v2);
    const double other = -p->damping * rate + lwi_signal_value(model->function, p->force, &now, 0);
    const double f = other - p->stiffness * (s.length - p->length);
    push_along(loads, p->body1, s.arm1, -f, s.n);
    push_along(loads, p->body2, s.arm2, f, s.n);
    loads->power += other * rate;
}

static double potential(const lw_model *model, const void *par, const lwi_kin *kin)
{
    (void)model;
    const lwi_spring_par *p = par;
    const double x = line_of(p, kin).length - p->length;
    return 0.5 * p->stiffness * x * x;
}

static int dissipates(const void *par)
{
    const lwi_spring_par *p = par;
    return p->damping != 0 || p->force.index != 0;
}

static double next_break(const lw_model *model, const void *par, double t)
{
    const lwi_spring_par *p = par;
    return lwi_function_next_break(model->function, p->force, t);
}

static lwi_force_place place(const void *par)
{
    const lwi_spring_par *p = par;
    return (lwi_force_place){.iv = -1, .n = 2, .body = {p->body1, p->body2}};
}

// Two unit vectors across the unit vector n.
static void across(const double n[3], double a[3], double b[3])
{
    const int least = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                              : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    const double e[3] = {least == 0, least == 1, least == 2};
    v3_cross(a, n, e);
    v3_scale(a, 1 / v3_norm(a), a);
    v3_cross(b, n, a);
}

// Its length, and two rows across: the line turns, tension f holds it with f / length.
static void rows(const void *par, const lwi_force_state *s, lwi_force_row *row)
{
    const lwi_spring_par *p = par;
    double point1[3], point2[3], n[3], a[3], b[3];
    point_of(point1, s->kin, p->body1, p->point1);
    point_of(point2, s->kin, p->body2, p->point2);
    v3_sub(n, point2, point1);
    const double length = v3_norm(n);
    if (!(length > 0)) return;
    v3_scale(n, 1 / length, n);
    across(n, a, b);
    const double tension = -v3_dot(n, s->load[1]);
    unit_force(&row[0], point1, point2, n, p->stiffness + s->two * p->damping);
    unit_force(&row[1], point1, point2, a, tension / length);
    unit_force(&row[2], point1, point2, b, tension / length);
}

static int actions(const void *par, const lwi_force_state *s, lwi_force_action *action)
{
    const lwi_spring_par *p = par;
    double point[3], back[3];
    v3_scale(back, -1, s->load[1]);
    point_of(point, s->kin, p->body2, p->point2);
    act(&action[0], 1, LWI_FOLLOWS_POINT, point, s->load[1]);
    point_of(point, s->kin, p->body1, p->point1);
    act(&action[1], 0, LWI_FOLLOWS_POINT, point, back);
    return 2;
}

const lwi_force_type lwi_force_spring = {
    .name = "spring",
    .summary = "spring, damper and actuator between two points",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = potential, .dissipates = dissipates,
                    .next_break = next_break, .modes = NULL, .varies = NULL, .rate = NULL,
                    .nrow = 3, .rows = rows, .actions = actions),
};
