// spring.c -- between two points, along the line from P1 to P2:
//
//   f = -k (l - l0) - c ldot + force(t),   l = |r2 - r1|,  positive pushes the points apart
//
// The first part has the potential k (l - l0)^2 / 2, the others do the work f ldot.  Where the
// points meet there is no line, and no force.
#include "model/forces/change.h"
#include "model/forces/describe.h"
#include "model/model.h"
#include "spatial/motion.h"

#include <string.h>

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

// Of P2 less that of P1.
static void relative_velocity(double v[3], const lwi_spring_par *p, const lwi_kin *kin,
                              const line *l)
{
    double v1[3];
    point_velocity(v1, kin, p->body1, l->arm1);
    point_velocity(v, kin, p->body2, l->arm2);
    v3_sub(v, v, v1);
}

typedef struct pull {
    line line;
    double rate, spring, other; ///< dl/dt; forces: of the stiffness, of damper and actuator
} pull;

static pull pull_of(const lw_model *model, const lwi_spring_par *p, const lwi_kin *kin, double t,
                    const double *inputs)
{
    const lwi_now now = lwi_now_at(kin, t, inputs);
    pull s = {.line = line_of(p, kin)};
    double v[3];
    relative_velocity(v, p, kin, &s.line);
    s.rate = v3_dot(s.line.n, v);
    s.other = -p->damping * s.rate + lwi_signal_value(model->function, p->force, &now, 0);
    s.spring = -p->stiffness * (s.line.length - p->length);
    return s;
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_spring_par *p = par;
    const pull s = pull_of(model, p, kin, t, inputs);
    const double f = s.other + s.spring;
    push_along(loads, p->body1, s.line.arm1, -f, s.line.n);
    push_along(loads, p->body2, s.line.arm2, f, s.line.n);
    loads->power += s.other * s.rate;
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

// df/dl + two df/ddl of what `force` makes of the length of this spring.
static double slope_of_signal(const lwi_spring_par *p, const lwi_force_state *s)
{
    if (p->number < 0) return 0;
    const lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    const lwi_seed seed = {.iq = -1, .iv = -1, .spring = p->number, .length = 1, .rate = s->two};
    double f[3];
    lwi_signal_jet(s->model->function, p->force, &now, &seed, f);
    return f[1];
}

// Its length, and two rows across: the line rotates, tension f holds it with f / length.
static void rows(const void *par, const lwi_force_state *s, lwi_force_row *row)
{
    const lwi_spring_par *p = par;
    double point1[3], point2[3], d[3], n[3], a[3], b[3];
    point_of(point1, s->kin, p->body1, p->point1);
    point_of(point2, s->kin, p->body2, p->point2);
    v3_sub(d, point2, point1);
    if (!along(n, d)) return;
    across(n, a, b);
    const double tension = -v3_dot(n, s->load[1]), length = v3_norm(d);
    unit_force(&row[0], point1, point2, n,
               p->stiffness + s->two * p->damping - slope_of_signal(p, s));
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

// l' = n.d', n' = (d' - n l')/l of any change; the rate n.v changes by n'.v + n.v'.  Where the points meet, F = -k d is
// smooth if the stiffness acts alone and has no length; else there is no derivative, and zero is taken.
static void differentiate(const void *par, const lwi_force_state *s, int n,
                          const lwi_motion_pair *change, double (*load)[2][6])
{
    const lwi_spring_par *p = par;
    const line l = line_of(p, s->kin);
    const double f = v3_dot(l.n, s->load[1]);
    const bool meet = l.length == 0, smooth = p->length == 0 && p->force.index == 0;
    double v[3], F[3];
    relative_velocity(v, p, s->kin, &l);
    v3_scale(F, f, l.n);
    memset(load, 0, (size_t)n * sizeof *load);
    for (int i = 0; i < n && (smooth || !meet); i++) {
        const lwi_motion_pair *m = &change[i];
        double darm1[3], darm2[3], dd[3], dv[3], dp1[3], dv1[3], dn[3], dF[3];
        arm_change(darm1, m, 0, l.arm1);
        arm_change(darm2, m, 1, l.arm2);
        v3_add(dp1, m->pose[0], darm1);
        v3_add(dd, m->pose[1], darm2);
        v3_sub(dd, dd, dp1);
        velocity_change(dv1, m, 0, s->kin->w[p->body1], l.arm1, darm1);
        velocity_change(dv, m, 1, s->kin->w[p->body2], l.arm2, darm2);
        v3_sub(dv, dv, dv1);
        if (meet) {
            v3_scale(dF, -p->stiffness, dd);
        } else {
            direction_change(dn, l.n, l.length, dd);
            v3_scale(dF,
                     -p->stiffness * v3_dot(l.n, dd) -
                         p->damping * (v3_dot(dn, v) + v3_dot(l.n, dv)),
                     l.n);
            v3_axpy(dF, f, dn);
        }
        add_load_change(load[i][0], -1, F, dF, l.arm1, darm1);
        add_load_change(load[i][1], 1, F, dF, l.arm2, darm2);
    }
}

// With y = x of P2 less that of P1:  y.dF + darm2.(F x w2) - darm1.(F x w1) by what dF and the arms consist of.
static void pull_back(const void *par, const lwi_force_state *s, const double x[2][6],
                      lwi_motion_pair *by)
{
    const lwi_spring_par *p = par;
    const line l = line_of(p, s->kin);
    const double f = v3_dot(l.n, s->load[1]);
    const int body[2] = {p->body1, p->body2};
    const double *arm[2] = {l.arm1, l.arm2};
    double v[3], F[3], y[3], at[3], D[3], V[3];
    *by = (lwi_motion_pair){.pose = {{0}}};
    if (l.length == 0 && (p->length != 0 || p->force.index != 0)) return;
    relative_velocity(v, p, s->kin, &l);
    v3_scale(F, f, l.n);
    v3_cross(y, x[1] + 3, l.arm2);
    v3_add(y, y, x[1]);
    v3_cross(at, x[0] + 3, l.arm1);
    v3_add(at, at, x[0]);
    v3_sub(y, y, at);
    const double along = v3_dot(y, l.n);
    if (l.length == 0) {
        v3_scale(D, -p->stiffness, y);
        v3_scale(V, 0, y);
    } else {
        v3_scale(V, -p->damping * along, l.n);
        v3_scale(D, -p->stiffness * along, l.n);
        v3_scale(y, f / l.length, y);
        v3_axpy(y, -p->damping * along / l.length, v);
        v3_axpy(y, -v3_dot(y, l.n), l.n); // of dn
        v3_add(D, D, y);
    }
    for (int side = 0; side < 2; side++) {
        double E[3], c[3];
        v3_scale(by->pose[side], side ? 1 : -1, D);
        v3_scale(by->twist[side], side ? 1 : -1, V);
        v3_cross(E, V, s->kin->w[body[side]]);
        v3_cross(c, F, x[side] + 3);
        v3_add(E, E, c);
        v3_add(E, E, D);
        v3_scale(E, side ? 1 : -1, E);
        v3_cross(by->pose[side] + 3, arm[side], E);
        v3_cross(by->twist[side] + 3, arm[side], by->twist[side]);
    }
}

static const size_t load_numbers[] = {offsetof(lwi_spring_par, stiffness),
                                      offsetof(lwi_spring_par, damping),
                                      offsetof(lwi_spring_par, length)};

static void by_numbers(const void *par, const lwi_force_state *s, double (*load)[2][6])
{
    const lwi_spring_par *p = par;
    const line l = line_of(p, s->kin);
    static const double still[3];
    double v[3];
    relative_velocity(v, p, s->kin, &l);
    const double by[] = {p->length - l.length, -v3_dot(l.n, v), p->stiffness};
    memset(load, 0, LWI_COUNT(by) * sizeof *load);
    for (int i = 0; i < LWI_COUNT(by); i++) {
        double F[3];
        v3_scale(F, by[i], l.n);
        add_load_change(load[i][0], -1, still, F, l.arm1, still);
        add_load_change(load[i][1], 1, still, F, l.arm2, still);
    }
}

static int signals(const void *par, const lwi_force_state *s, lwi_force_signal *out)
{
    const lwi_spring_par *p = par;
    const line l = line_of(p, s->kin);
    static const double still[3];
    if (p->force.index == 0) return 0;
    *out = (lwi_force_signal){.signal = p->force};
    add_load_change(out->load[0], -1, still, l.n, l.arm1, still);
    add_load_change(out->load[1], 1, still, l.n, l.arm2, still);
    return 1;
}

static const lwi_quantity quantities[] = {
    LWI_OUTPUT("spring", "length", LWI_OUTPUT_SCALAR, .part = {"length"}, .unit = {"m"},
               .summary = "distance of the points"),
    LWI_OUTPUT("spring", "rate", LWI_OUTPUT_SCALAR, .part = {"rate"}, .unit = {"m/s"},
               .summary = "its derivative"),
    LWI_OUTPUT("spring", "push", LWI_OUTPUT_SCALAR, .part = {"force"}, .unit = {"N"},
               .summary = "force along the line; positive pushes the points apart"),
    LWI_OUTPUT("spring", "force", LWI_OUTPUT_VECTOR("f", "world"), .unit = {"N"},
               .summary = "force on the second body"),
    LWI_OUTPUT("spring", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "power of the force: spring, damper and actuator"),
    LWI_OUTPUT("spring", "energy", LWI_OUTPUT_SCALAR, .part = {"energy"}, .unit = {"J"},
               .summary = "energy in the spring"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_spring_par *p = par;
    const pull s = pull_of(model, p, kin, t, inputs);
    value[0] += s.line.length;
    value[1] += s.rate;
    value[2] += s.other + s.spring;
    v3_axpy(value + 3, s.other + s.spring, s.line.n);
    value[6] += (s.other + s.spring) * s.rate;
    value[7] += potential(model, par, kin);
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_spring = {
    .name = "spring",
    .summary = "spring, damper and actuator between two points",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = potential, .dissipates = dissipates,
                    .next_break = next_break, .modes = NULL, .varies = NULL, .rate = NULL,
                    .nrow = 3, .rows = rows, .actions = actions, .outputs = &outputs),
    .differentiate = differentiate,
    .pull_back = pull_back,
    .load_number = load_numbers,
    .nload_number = LWI_COUNT(load_numbers),
    .by_numbers = by_numbers,
    .signals = signals,
};

// ---- in model files

// clang-format off
#define AT(field) .offset = offsetof(lw_spring_desc, field)
static const lwi_yaml_key keys[] = {
    {"between", LWI_KEY_PAIR, AT(body1), .required = LWI_KEY_REQUIRED, .help = "the two bodies"},
    {"from", LWI_KEY_VECTOR, AT(point1), .flag = offsetof(lw_spring_desc, world1),
     .help = "point on the first body, in the world at the assembly configuration [m]"},
    {"to", LWI_KEY_VECTOR, AT(point2), .flag = offsetof(lw_spring_desc, world2),
     .help = "point on the second body, in the world at the assembly configuration [m]"},
    {"point1", LWI_KEY_VECTOR, AT(point1),
     .help = "instead of `from`: in the frame of the first body [m]; default 0 0 0"},
    {"point2", LWI_KEY_VECTOR, AT(point2),
     .help = "instead of `to`: in the frame of the second body [m]; default 0 0 0"},
    {"stiffness", LWI_KEY_NUMBER, AT(stiffness),
     .help = "force -stiffness (l - length) - damping dl/dt + force pushes the points apart [N/m]; "
             "default 0"},
    {"damping", LWI_KEY_NUMBER, AT(damping), .help = "[N s/m]; default 0"},
    {"length", LWI_KEY_NUMBER, AT(length), .range = LWI_RANGE_NOT_NEGATIVE, .help = "length without force [m], >= 0; default 0"},
    {"force", LWI_KEY_SIGNAL, AT(force), .help = "added, positive pushes the points apart [N]"},
};
#undef AT
static const char *const types[] = {"spring"};
static const lwi_yaml_object object = {.title = "spring", .help = "spring, damper and actuator between two points",
                                       .type = types, .ntype = 1, .key = keys, .nkey = LWI_COUNT(keys)};
// clang-format on

lw_status lw_builder_add_spring(lw_builder *b, const lw_spring_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_spring_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_spring_desc", error));
    d.name = lwi_builder_name(b, desc->name, "spring", b->desc.force[LWI_ITEM_spring].n);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "spring", d.name, d.place, error}, *it = &item;
    TRY(lwi_item_body(it, "body1", d.body1));
    TRY(lwi_item_body(it, "body2", d.body2));
    if (!finite3(d.point1) || !finite3(d.point2) || !isfinite(d.stiffness) ||
        !isfinite(d.damping) || !isfinite(d.length) || d.length < 0)
        return lwi_item_fail(it,
                             "points, stiffness, damping and length must be finite, length >= 0");
    TRY(lwi_item_signal(it, "force", d.force, false));
    point_in_body(b, d.body1, &d.point1, &d.world1);
    point_in_body(b, d.body2, &d.point2, &d.world2);
    return lwi_force_push(b, LWI_ITEM_spring, &d, error);
}

static lw_status add(lw_builder *builder, const void *desc, lw_error *error)
{
    return lw_builder_add_spring(builder, desc, error);
}

static lw_status compile(lw_model *m, const void *desc, void *par)
{
    const lw_spring_desc *d = desc;
    lwi_spring_par *p = par;
    *p = (lwi_spring_par){.body1 = d->body1.index,
                          .body2 = d->body2.index,
                          .stiffness = d->stiffness,
                          .damping = d->damping,
                          .length = d->length,
                          .force = d->force,
                          .number = -1};
    if (lwi_function_needs(m->function, d->force) & LWI_NEEDS_POSE)
        p->number = (int)(d - lwi_spring_desc(&m->desc, 0));
    point_from_com(m, p->body1, d->point1, p->point1);
    point_from_com(m, p->body2, d->point2, p->point2);
    return LW_OK;
}

// A coil if it has stiffness, else a damper, else a line.
static const char *drawn_line(const void *desc, int body[2], lw_vec3 point[2])
{
    const lw_spring_desc *d = desc;
    body[0] = d->body1.index, body[1] = d->body2.index;
    point[0] = d->point1, point[1] = d->point2;
    if (d->stiffness != 0) return "spring";
    return d->damping != 0 ? "damper" : "force";
}

#define ROW(...) LWI_FORCE_PARAMETER(spring, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("stiffness", "N/m", stiffness, LWI_ANY_NUMBER),
    ROW("damping", "N s/m", damping, LWI_ANY_NUMBER),
    ROW("length", "m", length, .min = 0),
};
#undef ROW

const lwi_force_item lwi_force_item_spring =
    LWI_FORCE_ITEM(spring, &object, lw_spring_desc, lwi_spring_par, add, compile, parameters,
                   "acts between points", drawn_line);
