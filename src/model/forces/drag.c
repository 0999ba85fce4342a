// drag.c -- resistance of a medium, at rest or in uniform flow, to a body.
//
//   f = -(c1 + c2 |v|) v at a point, v its velocity less that of the medium
//   torque = -(d1 + d2 |w|) w
#include "model/forces/change.h"
#include "model/forces/describe.h"
#include "model/model.h"
#include "spatial/motion.h"

#include <string.h>

typedef lwi_drag_par drag_par;

// Velocity of the point relative to the medium; its arm from the mass centre, world axes.
static void slip_of(const drag_par *p, const lwi_kin *kin, double v[3], double arm[3])
{
    m3_mul_v(arm, kin->R[p->body], p->point);
    point_velocity(v, kin, p->body, arm);
    v3_sub(v, v, p->flow);
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const drag_par *p = par;
    (void)model, (void)t, (void)inputs;
    const double *w = kin->w[p->body];
    double v[3], arm[3], moving[3];
    slip_of(p, kin, v, arm);
    v3_add(moving, v, p->flow);
    const double k = -(p->linear + p->quadratic * v3_norm(v));
    const double n = -(p->angular + p->angular_quadratic * v3_norm(w));
    push_along(loads, p->body, arm, k, v);
    v3_axpy(lwi_load_on(loads, p->body) + 3, n, w);
    loads->power += k * v3_dot(v, moving) + n * v3_dot(w, w);
}

static int dissipates(const void *par)
{
    (void)par;
    return 1;
}

static lwi_force_place place(const void *par)
{
    const drag_par *p = par;
    return (lwi_force_place){.iv = -1, .n = 1, .body = {p->body}};
}

// Along v the derivative of (c1 + c2 |v|) v is c1 + 2 c2 |v|, across it c1 + c2 |v|.
static void directions(double e[3][3], double rate[3], const double v[3], double linear,
                       double quadratic, double two)
{
    const double size = v3_norm(v);
    v3_set(e[0], 1, 0, 0);
    along(e[0], v);
    across(e[0], e[1], e[2]);
    rate[0] = two * (linear + 2 * quadratic * size);
    rate[1] = rate[2] = two * (linear + quadratic * size);
}

static void rows(const void *par, const lwi_force_state *s, lwi_force_row *row)
{
    const drag_par *p = par;
    double v[3], arm[3], point[3], e[3][3], rate[3];
    slip_of(p, s->kin, v, arm);
    v3_add(point, s->kin->r[p->body], arm);
    directions(e, rate, v, p->linear, p->quadratic, s->two);
    for (int i = 0; i < 3; i++) unit_force(&row[i], point, point, e[i], rate[i]);
    directions(e, rate, s->kin->w[p->body], p->angular, p->angular_quadratic, s->two);
    for (int i = 0; i < 3; i++) {
        unit_force(&row[3 + i], point, point, e[i], rate[i]);
        row[3 + i].couple = true;
    }
}

static int actions(const void *par, const lwi_force_state *s, lwi_force_action *action)
{
    const drag_par *p = par;
    double v[3], arm[3], point[3], T[3];
    slip_of(p, s->kin, v, arm);
    v3_add(point, s->kin->r[p->body], arm);
    v3_copy(T, s->load[0] + 3);
    v3_cross_add(T, s->load[0], arm); // less arm x F
    act(&action[0], 0, LWI_FOLLOWS_POINT, point, s->load[0]);
    act(&action[1], 0, LWI_FOLLOWS_TORQUE, point, T);
    return 2;
}

// dF := the change of -(linear + quadratic |v|) v.
static void resistance_change(double linear, double quadratic, const double v[3],
                              const double dv[3], double dF[3])
{
    const double size = v3_norm(v);
    v3_scale(dF, -(linear + quadratic * size), dv);
    if (size > 0) v3_axpy(dF, -quadratic * v3_dot(v, dv) / size, v);
}

static void differentiate(const void *par, const lwi_force_state *s, int n,
                          const lwi_motion_pair *change, double (*load)[2][6])
{
    const drag_par *p = par;
    const double *w = s->kin->w[p->body];
    double v[3], arm[3], F[3];
    slip_of(p, s->kin, v, arm);
    v3_scale(F, -(p->linear + p->quadratic * v3_norm(v)), v);
    memset(load, 0, (size_t)n * sizeof *load);
    for (int i = 0; i < n; i++) {
        double darm[3], dv[3], dF[3];
        arm_change(darm, &change[i], 0, arm);
        velocity_change(dv, &change[i], 0, w, arm, darm);
        resistance_change(p->linear, p->quadratic, v, dv, dF);
        resistance_change(p->angular, p->angular_quadratic, w, change[i].twist[0] + 3,
                          load[i][0] + 3);
        add_load_change(load[i][0], 1, F, dF, arm, darm);
    }
}

static const size_t load_numbers[] = {offsetof(drag_par, linear), offsetof(drag_par, quadratic),
                                      offsetof(drag_par, angular),
                                      offsetof(drag_par, angular_quadratic)};

static void by_numbers(const void *par, const lwi_force_state *s, double (*load)[2][6])
{
    const drag_par *p = par;
    const double *w = s->kin->w[p->body];
    static const double still[3];
    double v[3], arm[3], F[3];
    slip_of(p, s->kin, v, arm);
    memset(load, 0, LWI_COUNT(load_numbers) * sizeof *load);
    v3_scale(F, -1, v);
    add_load_change(load[0][0], 1, still, F, arm, still);
    v3_scale(F, -v3_norm(v), v);
    add_load_change(load[1][0], 1, still, F, arm, still);
    v3_scale(load[2][0] + 3, -1, w);
    v3_scale(load[3][0] + 3, -v3_norm(w), w);
}

static const lwi_quantity quantities[] = {
    LWI_OUTPUT("drag", "slip", LWI_OUTPUT_VECTOR("v", "world"), .unit = {"m/s"},
               .summary = "velocity of the point in the medium"),
    LWI_OUTPUT("drag", "force", LWI_OUTPUT_VECTOR("f", "world"), .unit = {"N"}, .summary = "force"),
    LWI_OUTPUT("drag", "torque", LWI_OUTPUT_VECTOR("t", "world"), .unit = {"N m"},
               .summary = "torque, in addition to that of the force at its point"),
    LWI_OUTPUT("drag", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "their power"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const drag_par *p = par;
    (void)model, (void)t, (void)inputs;
    const double *w = kin->w[p->body];
    double v[3], arm[3], moving[3];
    slip_of(p, kin, v, arm);
    v3_add(moving, v, p->flow);
    const double k = -(p->linear + p->quadratic * v3_norm(v));
    const double n = -(p->angular + p->angular_quadratic * v3_norm(w));
    v3_axpy(value, 1, v);
    v3_axpy(value + 3, k, v);
    v3_axpy(value + 6, n, w);
    value[9] += k * v3_dot(v, moving) + n * v3_dot(w, w);
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_drag = {
    .name = "drag",
    .summary = "resistance of a medium to a body, linear and quadratic in its velocity",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = dissipates, .next_break = NULL,
                    .modes = NULL, .varies = NULL, .rate = NULL, .nrow = 6, .rows = rows,
                    .actions = actions, .outputs = &outputs),
    .differentiate = differentiate,
    .load_number = load_numbers,
    .nload_number = LWI_COUNT(load_numbers),
    .by_numbers = by_numbers,
};

// ---- in model files

// clang-format off
#define AT(field) .offset = offsetof(lw_drag_desc, field)
static const lwi_yaml_key keys[] = {
    {"body", LWI_KEY_BODY, AT(body), .required = LWI_KEY_REQUIRED, .help = "body on which it acts"},
    {"at", LWI_KEY_VECTOR, AT(point), .flag = offsetof(lw_drag_desc, world_point),
     .help = "point of application of the force, in the world at the assembly configuration [m]"},
    {"point", LWI_KEY_VECTOR, AT(point),
     .help = "instead of `at`: in the body frame [m]; default 0 0 0"},
    {"linear", LWI_KEY_NUMBER, AT(linear),
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "force -(linear + quadratic |v|) v, v of the point in the medium [N s/m], >= 0; default 0"},
    {"quadratic", LWI_KEY_NUMBER, AT(quadratic), .range = LWI_RANGE_NOT_NEGATIVE, .help = "[N s^2/m^2], >= 0; default 0"},
    {"angular", LWI_KEY_NUMBER, AT(angular),
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "torque -(angular + angular_quadratic |w|) w [N m s/rad], >= 0; default 0"},
    {"angular_quadratic", LWI_KEY_NUMBER, AT(angular_quadratic),
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "[N m s^2/rad^2], >= 0; default 0"},
    {"flow", LWI_KEY_VECTOR, AT(flow), .help = "velocity of the medium, world axes [m/s]; default 0 0 0"},
};
#undef AT
static const char *const types[] = {"drag"};
static const lwi_yaml_object object = {.title = "drag", .help = "resistance of a medium to a body",
                                       .type = types, .ntype = 1, .key = keys, .nkey = LWI_COUNT(keys)};
// clang-format on

lw_status lw_builder_add_drag(lw_builder *b, const lw_drag_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_drag_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_drag_desc", error));
    d.name = lwi_builder_name(b, desc->name, "drag", b->desc.force[LWI_ITEM_drag].n);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "drag", d.name, d.place, error}, *it = &item;
    const double numbers[] = {d.linear, d.quadratic, d.angular, d.angular_quadratic};
    TRY(lwi_item_body(it, "body", d.body));
    if (d.body.index == 0) return lwi_item_fail(it, "acts on the ground, expected a moving body");
    if (!finite3(d.point) || !finite3(d.flow) || !none_negative(numbers, 4))
        return lwi_item_fail(it,
                             "linear %g, quadratic %g, angular %g, angular_quadratic %g; "
                             "expected numbers >= 0, point and flow finite",
                             d.linear, d.quadratic, d.angular, d.angular_quadratic);
    point_in_body(b, d.body, &d.point, &d.world_point);
    return lwi_force_push(b, LWI_ITEM_drag, &d, error);
}

static lw_status add(lw_builder *builder, const void *desc, lw_error *error)
{
    return lw_builder_add_drag(builder, desc, error);
}

static lw_status compile(lw_model *m, const void *desc, void *par)
{
    const lw_drag_desc *d = desc;
    drag_par *p = par;
    *p = (drag_par){.body = d->body.index,
                    .linear = d->linear,
                    .quadratic = d->quadratic,
                    .angular = d->angular,
                    .angular_quadratic = d->angular_quadratic,
                    .flow = {d->flow.x, d->flow.y, d->flow.z}};
    point_from_com(m, p->body, d->point, p->point);
    return LW_OK;
}

#define ROW(...) LWI_FORCE_PARAMETER(drag, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("linear", "N s/m", linear, .min = 0),
    ROW("quadratic", "N s^2/m^2", quadratic, .min = 0),
    ROW("angular", "N m s/rad", angular, .min = 0),
    ROW("angular_quadratic", "N m s^2/rad^2", angular_quadratic, .min = 0),
    ROW("flow_x", "m/s", flow.x, LWI_ANY_NUMBER),
    ROW("flow_y", "m/s", flow.y, LWI_ANY_NUMBER),
    ROW("flow_z", "m/s", flow.z, LWI_ANY_NUMBER),
};
#undef ROW

const lwi_force_item lwi_force_item_drag = LWI_FORCE_ITEM(
    drag, &object, lw_drag_desc, drag_par, add, compile, parameters, "acts on a body", NULL);
