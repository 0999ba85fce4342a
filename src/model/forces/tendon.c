// tendon.c -- a force along the length L of a path over bodies (path.h), or along that of a slider-crank.
//
//   f = -k x - c L' - C tanh(L' / v0) + gear f_law(gear L, gear L')           f_law: servo_law.h
//   x = L - length where it is positive, L - length + slack where that is negative, else 0
//
// A positive force makes the path longer; f < 0 is the tension of a rope.  The spring has the potential k x^2 / 2, the
// others do the work f L'.
//
// Slider-crank, with the unit vector a of the slider's axis, the vector d from the slider's point to the crank's, rod r:
//   L = a.d - s,  s = sqrt((a.d)^2 + r^2 - d.d)          dL/dd = a (1 - a.d / s) + d / s,  dL/da = d (1 - a.d / s)
// Where the rod does not reach the axis, L = a.d.
#include "model/forces/change.h"
#include "model/forces/length.h"
#include "model/forces/tendon.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

#define DEFAULT_SPEED 0.01 // of dry friction, as of joints in files without it [m/s]

typedef lwi_slider_crank_par crank_par;
typedef lwi_tendon_par tendon_par;

// ------------------------------------------------------------------------------------- slider-crank

/** What a unit force along L does: a force on the point of the crank, the opposite one on that of the slider, and a couple
 *  on the slider. */
typedef struct crank_state {
    double arm1[3], arm2[3], force[3], couple[3], length;
} crank_state;

static crank_state crank_of(const crank_par *p, const lwi_kin *kin)
{
    crank_state s;
    double a[3], d[3], dda[3];
    m3_mul_v(s.arm1, kin->R[p->crank], p->point);
    m3_mul_v(s.arm2, kin->R[p->slider], p->at);
    m3_mul_v(a, kin->R[p->slider], p->axis);
    v3_sub(d, kin->r[p->crank], kin->r[p->slider]);
    v3_add(d, d, s.arm1);
    v3_sub(d, d, s.arm2);
    const double ad = v3_dot(a, d), s2 = ad * ad + p->rod * p->rod - v3_dot(d, d);
    const double root = s2 > 0 ? sqrt(s2) : 0, share = root > 0 ? 1 - ad / root : 1;
    s.length = ad - root;
    v3_scale(s.force, share, a);
    if (root > 0) v3_axpy(s.force, 1 / root, d);
    v3_scale(dda, share, d);
    v3_cross(s.couple, a, dda);
    return s;
}

static double crank_rate(const crank_par *p, const lwi_kin *kin, const crank_state *s)
{
    double v1[3], v2[3];
    point_velocity(v1, kin, p->crank, s->arm1);
    point_velocity(v2, kin, p->slider, s->arm2);
    v3_sub(v1, v1, v2);
    return v3_dot(s->force, v1) + v3_dot(s->couple, kin->w[p->slider]);
}

static void push_crank(const crank_par *p, const crank_state *s, double f, lwi_loads *loads)
{
    push_along(loads, p->crank, s->arm1, f, s->force);
    push_along(loads, p->slider, s->arm2, -f, s->force);
    v3_axpy(lwi_load_on(loads, p->slider) + 3, f, s->couple);
}

// -------------------------------------------------------------------------------------------- path

typedef struct rate_of {
    const lwi_kin *kin;
    double rate;
} rate_of;

static void add_rate(void *user, const lwi_path_line *line)
{
    rate_of *to = user;
    double v1[3], v2[3];
    point_velocity(v1, to->kin, line->body1, line->arm1);
    point_velocity(v2, to->kin, line->body2, line->arm2);
    v3_sub(v2, v2, v1);
    to->rate += v3_dot(line->n, v2) / line->divisor;
}

typedef struct pushed {
    lwi_loads *loads;
    double f;
} pushed;

static void push_line(void *user, const lwi_path_line *line)
{
    const pushed *p = user;
    const double f = p->f / line->divisor;
    push_along(p->loads, line->body1, line->arm1, -f, line->n);
    push_along(p->loads, line->body2, line->arm2, f, line->n);
}

// ------------------------------------------------------------------------------------------- force

static double length_of(const tendon_par *p, const lwi_kin *kin)
{
    if (p->crank.rod > 0) return crank_of(&p->crank, kin).length;
    return lwi_path_walk(p->part, p->n, kin, NULL, NULL);
}

// How far the spring is deformed.
static double deformed(const tendon_par *p, double L)
{
    if (L > p->upper) return L - p->upper;
    return L < p->lower ? L - p->lower : 0;
}

typedef struct pull {
    double L, rate, u;
    double spring, other; ///< forces: of the stiffness, all others
} pull;

static pull pull_of(const lw_model *model, const tendon_par *p, const lwi_kin *kin, double t,
                    const double *inputs)
{
    const lwi_now now = lwi_now_at(kin, t, inputs);
    pull s;
    if (p->crank.rod > 0) {
        const crank_state crank = crank_of(&p->crank, kin);
        s.L = crank.length;
        s.rate = crank_rate(&p->crank, kin, &crank);
    } else {
        rate_of to = {.kin = kin};
        s.L = lwi_path_walk(p->part, p->n, kin, add_rate, &to);
        s.rate = to.rate;
    }
    const double gear = p->law.gear;
    s.u = lwi_servo_target(model, &p->law, &now);
    s.spring = -p->stiffness * deformed(p, s.L);
    s.other = gear * lwi_servo_force(model, &p->law, &now, s.u, gear * s.L, gear * s.rate) -
              p->damping * s.rate;
    if (p->coulomb > 0) s.other -= p->coulomb * tanh(s.rate / p->speed);
    return s;
}

static void push_all(const tendon_par *p, const lwi_kin *kin, double f, lwi_loads *loads)
{
    if (p->crank.rod > 0) {
        const crank_state crank = crank_of(&p->crank, kin);
        push_crank(&p->crank, &crank, f, loads);
        return;
    }
    pushed to = {loads, f};
    lwi_path_walk(p->part, p->n, kin, push_line, &to);
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const tendon_par *p = par;
    const pull s = pull_of(model, p, kin, t, inputs);
    loads->power += s.other * s.rate;
    push_all(p, kin, s.spring + s.other, loads);
}

static double potential(const lw_model *model, const void *par, const lwi_kin *kin)
{
    const tendon_par *p = par;
    (void)model;
    if (p->stiffness == 0) return 0;
    const double x = deformed(p, length_of(p, kin));
    return 0.5 * p->stiffness * x * x;
}

enum { PATH = 27 }; // pieces of the law

// Taut, slack, or a rod that pushes; limits of the servo; obstacles that the path touches.
static int piece(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                 const double *inputs)
{
    const tendon_par *p = par;
    const lwi_now now = lwi_now_at(kin, t, inputs);
    const pull s = pull_of(model, p, kin, t, inputs);
    const double gear = p->law.gear;
    const int spring = p->stiffness == 0 ? 1 : s.L > p->upper ? 2 : s.L < p->lower ? 0 : 1;
    const int law = lwi_servo_piece(model, &p->law, &now, gear * s.L, gear * s.rate);
    const int path = p->crank.rod > 0 ? 0 : lwi_path_piece(p->part, p->n, kin);
    return PATH * path + 3 * law + spring;
}

static lwi_force_passage passes(int from, int to)
{
    return lwi_path_changes_sides(from / PATH, to / PATH) ? LWI_PASSES_JUMP : LWI_PASSES_CORNER;
}

// -(df/dL + two df/dL').  Dry friction counts with its secant, with which Newton's iteration does not jump over the steep
// part; signals, and gains that depend on the length, do not count.
static double stiffness_of(const void *par, const lwi_force_state *state)
{
    const tendon_par *p = par;
    const lwi_now now = lwi_now_at(state->kin, state->t, state->inputs);
    const pull s = pull_of(state->model, p, state->kin, state->t, state->inputs);
    const double gear = p->law.gear, slip = s.rate / p->speed;
    double rate = state->two * p->damping;
    if (deformed(p, s.L) != 0) rate += p->stiffness;
    if (p->coulomb > 0)
        rate += state->two * p->coulomb / p->speed * (fabs(slip) > 1e-4 ? tanh(slip) / slip : 1);
    if (!lwi_servo_is_limited(state->model, &p->law, &now, gear * s.L, gear * s.rate))
        rate -= gear * gear * (p->law.bias[1] + state->two * p->law.bias[2]);
    return rate;
}

static int body_of(const void *par, int k)
{
    const tendon_par *p = par;
    if (p->crank.rod > 0) return k == 0 ? p->crank.crank : k == 1 ? p->crank.slider : -1;
    return k < p->n ? p->part[k].body : -1;
}

static void unit(const void *par, const lwi_kin *kin, lwi_loads *loads)
{
    const tendon_par *p = par;
    push_all(p, kin, 1, loads);
}

static int slopes_of(const void *par, const lwi_force_state *state, lwi_law_slopes *force,
                     lwi_law_slopes *rate)
{
    const tendon_par *p = par;
    const lwi_now now = lwi_now_at(state->kin, state->t, state->inputs);
    const pull s = pull_of(state->model, p, state->kin, state->t, state->inputs);
    const double gear = p->law.gear, y = p->coulomb > 0 ? tanh(s.rate / p->speed) : 0;
    *force = *rate = (lwi_law_slopes){.by_length = 0};
    lwi_servo_slopes(state->model, &p->law, &now, gear * s.L, gear * s.rate, force);
    force->value = s.spring + s.other;
    force->by_length = gear * gear * force->by_length - (deformed(p, s.L) != 0 ? p->stiffness : 0);
    force->by_rate = gear * gear * force->by_rate - p->damping;
    if (p->coulomb > 0) force->by_rate -= p->coulomb / p->speed * (1 - y * y);
    for (int k = 0; k < 2; k++) force->by_signal[k] *= gear;
    return -1;
}

static bool is_limited(const void *par)
{
    const tendon_par *p = par;
    return p->stiffness > 0 || lwi_servo_has_range(&p->law);
}

/** The loads of a path along changes of its bodies; the force changes by df. */
typedef struct changing {
    const lwi_force_state *state;
    const lwi_law_slopes *law;
    const double (*pose)[6], (*twist)[6];
    double length, rate, df; // changes of L, L', f
    double (*load)[6];
} changing;

// The change of the arm of an end, and of the velocity of the body there.
static void change_end(const changing *to, int part, int body, const double arm[3],
                       const double shift[3], double darm[3], double dv[3])
{
    v3_sub(darm, shift, to->pose[part]);
    v3_cross(dv, to->twist[part] + 3, arm);
    v3_add(dv, dv, to->twist[part]);
    v3_cross_add(dv, to->state->kin->w[body], darm);
}

// How far the body at an end moves along the line.
static double follows_line(const changing *to, int part, const double arm[3], const double n[3])
{
    double moved[3];
    v3_cross(moved, to->pose[part] + 3, arm);
    v3_add(moved, moved, to->pose[part]);
    return v3_dot(n, moved);
}

static void change_direction(const lwi_path_moved *m, double dn[3])
{
    double dd[3];
    v3_sub(dd, m->shift2, m->shift1);
    if (m->length > 0)
        direction_change(dn, m->line.n, m->length, dd);
    else
        v3_set(dn, 0, 0, 0);
}

static void change_length(void *user, const lwi_path_moved *m)
{
    changing *to = user;
    const lwi_path_line *l = &m->line;
    const lwi_kin *kin = to->state->kin;
    double v1[3], v[3], dv1[3], dv[3], dn[3], darm[3];
    point_velocity(v1, kin, l->body1, l->arm1);
    point_velocity(v, kin, l->body2, l->arm2);
    v3_sub(v, v, v1);
    change_end(to, m->part1, l->body1, l->arm1, m->shift1, darm, dv1);
    change_end(to, m->part2, l->body2, l->arm2, m->shift2, darm, dv);
    v3_sub(dv, dv, dv1);
    change_direction(m, dn);
    to->length +=
        (follows_line(to, m->part2, l->arm2, l->n) - follows_line(to, m->part1, l->arm1, l->n)) /
        l->divisor;
    to->rate += (v3_dot(dn, v) + v3_dot(l->n, dv)) / l->divisor;
}

static void change_load(void *user, const lwi_path_moved *m)
{
    changing *to = user;
    const lwi_path_line *l = &m->line;
    double F[3], dF[3], dn[3], darm1[3], darm2[3];
    v3_sub(darm1, m->shift1, to->pose[m->part1]);
    v3_sub(darm2, m->shift2, to->pose[m->part2]);
    change_direction(m, dn);
    v3_scale(F, to->law->value / l->divisor, l->n);
    v3_scale(dF, to->df / l->divisor, l->n);
    v3_axpy(dF, to->law->value / l->divisor, dn);
    add_load_change(to->load[m->part1], -1, F, dF, l->arm1, darm1);
    add_load_change(to->load[m->part2], 1, F, dF, l->arm2, darm2);
}

static void differentiate(const void *par, const lwi_force_state *s, const lwi_law_slopes *law,
                          const double (*pose)[6], const double (*twist)[6], double (*load)[6])
{
    const tendon_par *p = par;
    changing to = {.state = s, .law = law, .pose = pose, .twist = twist, .load = load};
    memset(load, 0, (size_t)p->n * sizeof *load);
    lwi_path_differentiate(p->part, p->n, s->kin, pose, change_length, &to);
    to.df = law->by_length * to.length + law->by_rate * to.rate;
    lwi_path_differentiate(p->part, p->n, s->kin, pose, change_load, &to);
}

/** Loads on the parts of a path. */
typedef struct part_loads {
    const lwi_path_part *part;
    double (*load)[6];
} part_loads;

static void add_unit(void *user, const lwi_path_moved *m)
{
    const part_loads *to = user;
    const lwi_path_line *l = &m->line;
    static const double still[3];
    double F[3];
    v3_scale(F, 1 / l->divisor, l->n);
    add_load_change(to->load[m->part1], -1, still, F, l->arm1, still);
    add_load_change(to->load[m->part2], 1, still, F, l->arm2, still);
}

static void unit_loads(const void *par, const lwi_kin *kin, double (*load)[6])
{
    const tendon_par *p = par;
    part_loads to = {p->part, load};
    memset(load, 0, (size_t)p->n * sizeof *load);
    lwi_path_differentiate(p->part, p->n, kin, NULL, add_unit, &to);
}

static bool is_exact(const void *par)
{
    const tendon_par *p = par;
    return p->crank.rod == 0 && lwi_path_is_outside(p->part, p->n);
}

static const lwi_force_length along_path = {.body = body_of,
                                            .unit = unit,
                                            .rate = stiffness_of,
                                            .slopes = slopes_of,
                                            .limited = is_limited,
                                            .unit_loads = unit_loads,
                                            .differentiate = differentiate,
                                            .exact = is_exact};

static int dissipates(const void *par)
{
    return ((const tendon_par *)par)->works;
}

static double next_break(const lw_model *model, const void *par, double t)
{
    return lwi_servo_next_break(model, &((const tendon_par *)par)->law, t);
}

static const lwi_quantity quantities[] = {
    LWI_OUTPUT("tendon", "length", LWI_OUTPUT_SCALAR, .part = {"length"}, .unit = {"m"},
               .summary = "length of the path"),
    LWI_OUTPUT("tendon", "rate", LWI_OUTPUT_SCALAR, .part = {"rate"}, .unit = {"m/s"},
               .summary = "its derivative"),
    LWI_OUTPUT("tendon", "target", LWI_OUTPUT_SCALAR, .part = {"target"}, .unit = {"m"},
               .summary = "target u, within its range"),
    LWI_OUTPUT("tendon", "push", LWI_OUTPUT_SCALAR, .part = {"force"}, .unit = {"N"},
               .summary = "force along the path: minus the tension"),
    LWI_OUTPUT("tendon", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "power of the force: spring, damper, friction and actuator"),
    LWI_OUTPUT("tendon", "energy", LWI_OUTPUT_SCALAR, .part = {"energy"}, .unit = {"J"},
               .summary = "energy in the spring"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const pull s = pull_of(model, par, kin, t, inputs);
    const double f = s.spring + s.other;
    const double numbers[] = {s.L, s.rate, s.u, f, f * s.rate, potential(model, par, kin)};
    for (int i = 0; i < LWI_COUNT(numbers); i++) value[i] += numbers[i];
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

// A path, or the rod of a slider-crank.
static int draw(const void *par, const lwi_kin *kin, lwi_drawn_piece *drawn, void *user)
{
    const tendon_par *p = par;
    const crank_par *c = &p->crank;
    if (!(c->rod > 0)) return lwi_path_draw(p->part, p->n, kin, drawn, user);
    double from[3], to[3], along[3];
    point_of(from, kin, c->crank, c->point);
    point_of(to, kin, c->slider, c->at);
    m3_mul_v(along, kin->R[c->slider], c->axis);
    v3_axpy(to, crank_of(c, kin).length, along);
    if (drawn) drawn(user, from, to);
    return 1;
}

const lwi_force_type lwi_force_tendon = {
    .name = "tendon",
    .summary = "tendon, rope or belt over points, pulleys, spheres and cylinders; slider-crank",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = NULL, .potential = potential, .dissipates = dissipates,
                    .next_break = next_break, .modes = NULL, .varies = NULL, .rate = NULL,
                    .nrow = 0, .rows = NULL, .actions = NULL, .outputs = &outputs),
    .length = &along_path,
    .piece = piece,
    .passes = passes,
    .corner = "slack, a limit, an obstacle",
    .jump = {"a change of sides of an obstacle", "its direction"},
    .draw = draw,
};

// ---- in model files

// clang-format off
#define AT(field) .offset = offsetof(lw_path_element, field)
static const lwi_yaml_key path_keys[] = {
    {"body", LWI_KEY_BODY, AT(body), .help = "body of the point or of the obstacle; default ground"},
    {"point", LWI_KEY_VECTOR, AT(point), .help = "point, or centre of the obstacle, in the body frame [m]; default 0 0 0"},
    {"radius", LWI_KEY_NUMBER, AT(radius), .range = LWI_RANGE_POSITIVE,
     .help = "it is an obstacle between two points: a sphere of this radius about the point, or a cylinder [m], > 0"},
    {"axis", LWI_KEY_DIRECTION, AT(axis), .help = "the obstacle is a cylinder about this direction, in the body frame"},
    {"side", LWI_KEY_VECTOR, AT(side), .flag = offsetof(lw_path_element, has_side),
     .help = "the path passes the obstacle on the side of this point, in the frame of `side_body` [m]; a point inside: within the obstacle; default: the shorter way"},
    {"side_body", LWI_KEY_BODY, AT(side_body), .flag = offsetof(lw_path_element, has_side_body),
     .help = "body of `side`; default: that of the obstacle"},
    {"pulley", LWI_KEY_NUMBER, AT(pulley), .range = LWI_RANGE_POSITIVE,
     .help = "in place of all others: the path ends, another part begins, with lengths that are divided by this number, > 0"},
};
#undef AT
static const lwi_yaml_object path_object = {.title = "path_element", .help = "a point, an obstacle or a pulley of a tendon",
                                            .key = path_keys, .nkey = LWI_COUNT(path_keys)};

#define AT(field) .offset = offsetof(lw_slider_crank, field)
static const lwi_yaml_key crank_keys[] = {
    {"crank", LWI_KEY_BODY, AT(crank), .required = LWI_KEY_REQUIRED, .help = "body of the crank"},
    {"crank_point", LWI_KEY_VECTOR, AT(crank_point), .help = "end of the rod on it, in its frame [m]; default 0 0 0"},
    {"slider", LWI_KEY_BODY, AT(slider), .help = "body with the axis along which the other end slides; default ground"},
    {"slider_point", LWI_KEY_VECTOR, AT(slider_point), .help = "point of the axis from which the length counts [m]; default 0 0 0"},
    {"axis", LWI_KEY_DIRECTION, AT(axis), .required = LWI_KEY_REQUIRED, .help = "direction of the axis, in the slider's frame"},
    {"rod", LWI_KEY_NUMBER, AT(rod), .required = LWI_KEY_REQUIRED, .range = LWI_RANGE_POSITIVE, .help = "length of the rod [m], > 0"},
};
#undef AT
static const lwi_yaml_object crank_object = {.title = "slider_crank", .help = "a rod between a point of a crank and an axis of a slider",
                                             .key = crank_keys, .nkey = LWI_COUNT(crank_keys)};

#define AT(field) .offset = offsetof(lw_tendon_desc, field)
static const lwi_yaml_key keys[] = {
    {"path", LWI_KEY_OBJECTS, AT(path), .size = offsetof(lw_tendon_desc, npath), .more = &path_object,
     .count = sizeof(lw_path_element), .help = "points, obstacles and pulleys, one after the other; L is the length of the path"},
    {"slider_crank", LWI_KEY_OBJECT, AT(slider_crank), .flag = offsetof(lw_tendon_desc, slider_crank.present), .more = &crank_object,
     .help = "in place of a path: L is the position of the rod's end along the axis of the slider"},
    {"stiffness", LWI_KEY_NUMBER, AT(stiffness), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "force -stiffness (L - length), positive makes the path longer [N/m], >= 0; default 0"},
    {"length", LWI_KEY_NUMBER, AT(length), .flag = offsetof(lw_tendon_desc, has_length),
     .help = "length without force of the spring [m]; default: that of the assembly configuration"},
    {"slack", LWI_KEY_NUMBER, AT(slack), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "the spring is without force also where it is up to this much shorter than `length` [m], >= 0; default 0"},
    {"damping", LWI_KEY_NUMBER, AT(damping), .range = LWI_RANGE_NOT_NEGATIVE, .help = "force -damping dL/dt [N s/m], >= 0; default 0"},
    {"coulomb", LWI_KEY_NUMBER, AT(coulomb), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "dry friction: force -coulomb tanh(dL/dt / speed) [N], >= 0; default 0"},
    {"speed", LWI_KEY_NUMBER, AT(speed), .range = LWI_RANGE_POSITIVE, .help = "of dry friction [m/s], > 0; default 0.01"},
    LWI_SERVO_KEYS(tendon),
};
#undef AT
static const char *const types[] = {"tendon"};
static const lwi_yaml_object object = {.title = "tendon", .help = "a tendon, rope or belt over bodies, with a spring, damper, friction and drive along it",
                                       .type = types, .ntype = 1, .key = keys, .nkey = LWI_COUNT(keys)};
// clang-format on

static lw_status check_obstacle(const lwi_item *it, int k, int n, lw_path_element *e)
{
    if (k == 0 || k == n - 1 || e[-1].radius > 0 || e[1].radius > 0 || e[-1].pulley != 0 ||
        e[1].pulley != 0)
        return lwi_item_fail(it, "path[%d]: an obstacle, expected one between two points", k);
    if (e->has_side && !e->has_side_body) e->side_body = e->body;
    e->has_side_body = e->has_side;
    if (!finite3(e->axis) || !finite3(e->side))
        return lwi_item_fail(it, "path[%d]: axis or side is not finite", k);
    return e->has_side ? lwi_item_body(it, "side_body", e->side_body) : LW_OK;
}

static lw_status check_element(const lwi_item *it, int k, int n, lw_path_element *e)
{
    if (!isfinite(e->pulley) || e->pulley < 0)
        return lwi_item_fail(it, "path[%d]: pulley is %g, expected a number > 0", k, e->pulley);
    if (!isfinite(e->radius) || e->radius < 0)
        return lwi_item_fail(it, "path[%d]: radius is %g, expected a number > 0", k, e->radius);
    if (e->pulley != 0) {
        if (e->radius == 0 && !e->has_side && zero3(e->axis) && zero3(e->point)) return LW_OK;
        return lwi_item_fail(it, "path[%d]: a pulley with other keys, expected `pulley` alone", k);
    }
    TRY(lwi_item_body(it, "body", e->body));
    if (!finite3(e->point)) return lwi_item_fail(it, "path[%d]: point is not finite", k);
    if (e->radius > 0) return check_obstacle(it, k, n, e);
    if (e->has_side || e->has_side_body || !zero3(e->axis))
        return lwi_item_fail(
            it, "path[%d]: axis or side of a point, expected them of an obstacle (radius)", k);
    return LW_OK;
}

// Is there a straight line in it?
static bool has_line(const lw_path_element *e, int n)
{
    int points = 0;
    for (int k = 0; k < n && points < 2; k++)
        points = e[k].pulley != 0 ? 0 : points + (e[k].radius == 0);
    return points >= 2;
}

static lw_status check_path(const lwi_item *it, lw_tendon_desc *d)
{
    if (d->npath < 1 || !d->path) return lwi_item_fail(it, "path: the list is missing");
    lw_path_element *path = LWI_PUSH(&it->builder->arena, lw_path_element, d->npath);
    if (!path) return lwi_builder_no_memory(it->error);
    memcpy(path, d->path, (size_t)d->npath * sizeof *path);
    for (int k = 0; k < d->npath; k++) TRY(check_element(it, k, d->npath, &path[k]));
    if (!has_line(path, d->npath)) return lwi_item_fail(it, "path: expected two points or more");
    d->path = path;
    return LW_OK;
}

static lw_status check_crank(const lwi_item *it, lw_slider_crank *s)
{
    TRY(lwi_item_body(it, "crank", s->crank));
    TRY(lwi_item_body(it, "slider", s->slider));
    if (!finite3(s->crank_point) || !finite3(s->slider_point) || !finite3(s->axis) ||
        zero3(s->axis))
        return lwi_item_fail(it, "slider_crank: points must be finite, axis finite and not zero");
    if (!(s->rod > 0) || !isfinite(s->rod))
        return lwi_item_fail(it, "slider_crank: rod is %g, expected a number > 0", s->rod);
    return LW_OK;
}

static lw_status check(const lwi_item *it, lw_tendon_desc *d)
{
    const double numbers[] = {d->stiffness, d->damping, d->coulomb, d->speed, d->slack};
    if (d->slider_crank.present && d->npath > 0)
        return lwi_item_fail(it, "both path and slider_crank, expected one");
    TRY(d->slider_crank.present ? check_crank(it, &d->slider_crank) : check_path(it, d));
    if (!none_negative(numbers, LWI_COUNT(numbers)) || !isfinite(d->length))
        return lwi_item_fail(
            it,
            "stiffness, damping, coulomb, speed and slack must be finite and >= 0, length finite");
    return lwi_servo_law_check(it, &d->law);
}

static void direction_of(lw_vec3 v, double to[3])
{
    v3_set(to, v.x, v.y, v.z);
    v3_scale(to, 1 / v3_norm(to), to);
}

static void set_axes(lw_vec3 axis, double R[9])
{
    double e[3][3];
    direction_of(axis, e[2]);
    across(e[2], e[0], e[1]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) R[3 * i + k] = e[k][i];
}

// Points are those of the body frames.
static lwi_path_part part_of(const lw_path_element *e)
{
    lwi_path_part p = {
        .body = e->body.index, .radius = e->radius, .side = -1, .divisor = e->pulley};
    m3_identity(p.R);
    v3_set(p.point, e->point.x, e->point.y, e->point.z);
    v3_set(p.side_point, e->side.x, e->side.y, e->side.z);
    p.cylinder = e->radius > 0 && !zero3(e->axis);
    if (p.cylinder) set_axes(e->axis, p.R);
    if (e->radius > 0 && e->has_side) p.side = e->side_body.index;
    return p;
}

// ---- length at the assembly configuration

/** Poses of the bodies of a path, which it has by their numbers here. */
typedef struct placed {
    double (*R)[9], (*r)[3];
    int n;
} placed;

static int place_body(const lw_builder *b, placed *to, int body)
{
    const lw_pose *pose = &b->desc.body[body].pose;
    const double q[4] = {pose->orientation.w, pose->orientation.x, pose->orientation.y,
                         pose->orientation.z};
    quat_matrix(to->R[to->n], q);
    v3_set(to->r[to->n], pose->position.x, pose->position.y, pose->position.z);
    return to->n++;
}

static lw_status path_at_assembly(lw_builder *b, const lw_tendon_desc *d, double *length)
{
    lwi_arena *arena = &b->arena;
    lwi_path_part *part = LWI_PUSH(arena, lwi_path_part, d->npath);
    placed to = {lwi_arena_push(arena, 2 * (size_t)d->npath, sizeof *to.R),
                 lwi_arena_push(arena, 2 * (size_t)d->npath, sizeof *to.r), 0};
    if (!part || !to.R || !to.r) return LW_ERR_MEMORY;
    for (int k = 0; k < d->npath; k++) {
        part[k] = part_of(&d->path[k]);
        part[k].body = place_body(b, &to, part[k].body);
        if (part[k].side >= 0) part[k].side = place_body(b, &to, part[k].side);
    }
    const lwi_kin kin = {.R = (const double(*)[9])to.R, .r = (const double(*)[3])to.r};
    *length = lwi_path_walk(part, d->npath, &kin, NULL, NULL);
    return LW_OK;
}

static lw_status crank_at_assembly(lw_builder *b, const lw_slider_crank *s, double *length)
{
    double R[2][9], r[2][3];
    placed to = {R, r, 0};
    crank_par p = {.rod = s->rod,
                   .point = {s->crank_point.x, s->crank_point.y, s->crank_point.z},
                   .at = {s->slider_point.x, s->slider_point.y, s->slider_point.z}};
    direction_of(s->axis, p.axis);
    p.crank = place_body(b, &to, s->crank.index);
    p.slider = place_body(b, &to, s->slider.index);
    const lwi_kin kin = {.R = (const double(*)[9])R, .r = (const double(*)[3])r};
    *length = crank_of(&p, &kin).length;
    return LW_OK;
}

static lw_status set_length(lw_builder *b, lw_tendon_desc *d)
{
    if (d->has_length || d->stiffness == 0) return LW_OK;
    d->has_length = true;
    if (d->slider_crank.present) return crank_at_assembly(b, &d->slider_crank, &d->length);
    return path_at_assembly(b, d, &d->length);
}

lw_status lw_builder_add_tendon(lw_builder *b, const lw_tendon_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_tendon_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_tendon_desc", error));
    d.name = lwi_builder_name(b, desc->name, "tendon", b->desc.force[LWI_ITEM_tendon].n);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "tendon", d.name, d.place, error};
    TRY(check(&item, &d));
    if (set_length(b, &d) != LW_OK) return lwi_builder_no_memory(error);
    return lwi_force_push(b, LWI_ITEM_tendon, &d, error);
}

static lw_status add(lw_builder *builder, const void *desc, lw_error *error)
{
    return lw_builder_add_tendon(builder, desc, error);
}

// ---- compiled

static lw_status compile(lw_model *m, const void *desc, void *par)
{
    const lw_tendon_desc *d = desc;
    tendon_par *p = par;
    const lw_slider_crank *s = &d->slider_crank;
    *p = (tendon_par){.n = d->npath,
                      .stiffness = d->stiffness,
                      .damping = d->damping,
                      .coulomb = d->coulomb,
                      .speed = d->speed > 0 ? d->speed : DEFAULT_SPEED};
    lwi_path_part *part = LWI_PUSH(&m->arena, lwi_path_part, d->npath);
    if (!part) return LW_ERR_MEMORY;
    for (int k = 0; k < d->npath; k++) {
        const lw_path_element *e = &d->path[k];
        part[k] = part_of(e);
        point_from_com(m, part[k].body, e->point, part[k].point);
        if (part[k].side >= 0) point_from_com(m, part[k].side, e->side, part[k].side_point);
    }
    p->part = part;
    if (s->present) {
        p->crank = (crank_par){.crank = s->crank.index, .slider = s->slider.index, .rod = s->rod};
        point_from_com(m, s->crank.index, s->crank_point, p->crank.point);
        point_from_com(m, s->slider.index, s->slider_point, p->crank.at);
        direction_of(s->axis, p->crank.axis);
    }
    lwi_servo_law_compile(&d->law, &p->law);
    p->works = d->damping != 0 || d->coulomb != 0 || p->law.kd != 0;
    for (int k = 0; k < 3; k++) p->works = p->works || p->law.gain[k] != 0 || p->law.bias[k] != 0;
    p->upper = d->length;
    p->lower = p->upper - d->slack;
    return LW_OK;
}

#define ROW(...) LWI_FORCE_PARAMETER(tendon, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("stiffness", "N/m", stiffness, .min = 0),  ROW("damping", "N s/m", damping, .min = 0),
    ROW("coulomb", "N", coulomb, .min = 0),        ROW("kp", "N/m", law.kp, .min = 0),
    ROW("kd", "N s/m", law.kd, .min = 0),          ROW("gain", "N", law.gain[0], LWI_ANY_NUMBER),
    ROW("bias", "N", law.bias[0], LWI_ANY_NUMBER),
};
#undef ROW

const lwi_force_item lwi_force_item_tendon =
    LWI_FORCE_ITEM(tendon, &object, lw_tendon_desc, tendon_par, add, compile, parameters,
                   "acts along a path", NULL);
