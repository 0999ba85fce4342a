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

const lwi_force_type lwi_force_spring = {
    .name = "spring",
    .summary = "spring, damper and actuator between two points",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    .place = place,
    .potential = potential,
    .dissipates = dissipates,
    .next_break = next_break,
};
