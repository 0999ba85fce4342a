// wrench.c -- a force at a point of a body and a torque, in world or body axes: (numbers + signals) times scale.
//
// It has no potential; its power is force . (velocity of the point) + torque . w.
#include "model/forces/change.h"
#include "model/forces/describe.h"
#include "model/model.h"
#include "spatial/motion.h"

#include <math.h>
#include <string.h>

// Force and torque now, world axes.
static void scaled(const lw_model *model, const lwi_wrench_par *p, const lwi_kin *kin, double t,
                   const double *inputs, double f[6])
{
    const lwi_now now = lwi_now_at(kin, t, inputs);
    const double scale = lwi_signal_value(model->function, p->scale, &now, 1);
    for (int k = 0; k < 3; k++) {
        f[k] = p->force[k];
        f[3 + k] = p->torque[k];
        if (p->force_of[k].index)
            f[k] += lwi_signal_value(model->function, p->force_of[k], &now, 0);
        if (p->torque_of[k].index)
            f[3 + k] += lwi_signal_value(model->function, p->torque_of[k], &now, 0);
    }
    v3_scale(f, scale, f);
    v3_scale(f + 3, scale, f + 3);
    if (!p->body_axes) return;
    m3_mul_v(f, kin->R[p->body], f);
    m3_mul_v(f + 3, kin->R[p->body], f + 3);
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_wrench_par *p = par;
    double f[6], arm[3];
    scaled(model, p, kin, t, inputs, f);
    m3_mul_v(arm, kin->R[p->body], p->point);
    v3_cross_add(f + 3, arm, f); // moment about the mass centre
    v6_axpy(lwi_load_on(loads, p->body), 1, f);
    loads->power += v3_dot(f, kin->v[p->body]) + v3_dot(f + 3, kin->w[p->body]);
}

static int dissipates(const void *par)
{
    (void)par;
    return 1;
}

static double next_break(const lw_model *model, const void *par, double t)
{
    const lwi_wrench_par *p = par;
    double next = lwi_function_next_break(model->function, p->scale, t);
    for (int k = 0; k < 3; k++) {
        next = fmin(next, lwi_function_next_break(model->function, p->force_of[k], t));
        next = fmin(next, lwi_function_next_break(model->function, p->torque_of[k], t));
    }
    return next;
}

static lwi_force_place place(const void *par)
{
    const lwi_wrench_par *p = par;
    return (lwi_force_place){.iv = -1, .n = 1, .body = {p->body}};
}

static int actions(const void *par, const lwi_force_state *s, lwi_force_action *action)
{
    const lwi_wrench_par *p = par;
    double own[3], point[3], T[3];
    m3_mul_v(own, s->kin->R[p->body], p->point);
    point_of(point, s->kin, p->body, p->point);
    v3_copy(T, s->load[0] + 3);
    v3_cross_add(T, s->load[0], own); // less own x F
    act(&action[0], 0, p->body_axes ? LWI_FOLLOWS_BODY : LWI_FOLLOWS_POINT, point, s->load[0]);
    if (p->body_axes) return 1;
    act(&action[1], 0, LWI_FOLLOWS_TORQUE, point, T);
    return 2;
}

// In body axes force and torque rotate with the body.
static void differentiate(const void *par, const lwi_force_state *s, int n,
                          const lwi_motion_pair *change, double (*load)[2][6])
{
    const lwi_wrench_par *p = par;
    double f[6], arm[3];
    scaled(s->model, p, s->kin, s->t, s->inputs, f);
    m3_mul_v(arm, s->kin->R[p->body], p->point);
    memset(load, 0, (size_t)n * sizeof *load);
    for (int i = 0; i < n; i++) {
        const double *turn = change[i].pose[0] + 3;
        double darm[3], dF[3] = {0};
        arm_change(darm, &change[i], 0, arm);
        if (p->body_axes) {
            v3_cross(dF, turn, f);
            v3_cross(load[i][0] + 3, turn, f + 3);
        }
        add_load_change(load[i][0], 1, f, dF, arm, darm);
    }
}

// load := a force and a torque, in axes of the wrench.
static void unit_load(const lwi_wrench_par *p, const lwi_kin *kin, const double f[6],
                      double load[6])
{
    static const double still[3];
    double F[3], T[3], arm[3];
    v3_copy(F, f);
    v3_copy(T, f + 3);
    m3_mul_v(arm, kin->R[p->body], p->point);
    if (p->body_axes) {
        m3_mul_v(F, kin->R[p->body], F);
        m3_mul_v(T, kin->R[p->body], T);
    }
    v3_copy(load + 3, T);
    add_load_change(load, 1, still, F, arm, still);
}

static int signals(const void *par, const lwi_force_state *s, lwi_force_signal *out)
{
    const lwi_wrench_par *p = par;
    const lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    const double scale = lwi_signal_value(s->model->function, p->scale, &now, 1);
    double sum[6];
    int n = 0;
    for (int k = 0; k < 6; k++) {
        const lw_signal own = k < 3 ? p->force_of[k] : p->torque_of[k - 3];
        double unit[6] = {0};
        sum[k] = k < 3 ? p->force[k] : p->torque[k - 3];
        if (own.index == 0) continue;
        sum[k] += lwi_signal_value(s->model->function, own, &now, 0);
        unit[k] = scale;
        out[n] = (lwi_force_signal){.signal = own};
        unit_load(p, s->kin, unit, out[n++].load[0]);
    }
    if (p->scale.index == 0) return n;
    out[n] = (lwi_force_signal){.signal = p->scale};
    unit_load(p, s->kin, sum, out[n++].load[0]);
    return n;
}

static const size_t load_numbers[] = {
    offsetof(lwi_wrench_par, force[0]),  offsetof(lwi_wrench_par, force[1]),
    offsetof(lwi_wrench_par, force[2]),  offsetof(lwi_wrench_par, torque[0]),
    offsetof(lwi_wrench_par, torque[1]), offsetof(lwi_wrench_par, torque[2])};

static void by_numbers(const void *par, const lwi_force_state *s, double (*load)[2][6])
{
    const lwi_wrench_par *p = par;
    const lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    const double scale = lwi_signal_value(s->model->function, p->scale, &now, 1);
    memset(load, 0, LWI_COUNT(load_numbers) * sizeof *load);
    for (int k = 0; k < LWI_COUNT(load_numbers); k++) {
        double unit[6] = {0};
        unit[k] = scale;
        unit_load(p, s->kin, unit, load[k][0]);
    }
}

static const lwi_quantity quantities[] = {
    LWI_OUTPUT("wrench", "force", LWI_OUTPUT_VECTOR("f", "world"), .unit = {"N"},
               .summary = "force"),
    LWI_OUTPUT("wrench", "torque", LWI_OUTPUT_VECTOR("t", "world"), .unit = {"N m"},
               .summary = "torque, in addition to that of the force at its point"),
    LWI_OUTPUT("wrench", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "their power"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_wrench_par *p = par;
    double f[6], arm[3], v[3];
    scaled(model, p, kin, t, inputs, f);
    m3_mul_v(arm, kin->R[p->body], p->point);
    point_velocity(v, kin, p->body, arm);
    v6_axpy(value, 1, f);
    value[6] += v3_dot(f, v) + v3_dot(f + 3, kin->w[p->body]);
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_wrench = {
    .name = "wrench",
    .summary = "force at a point of a body and torque, in world or body axes",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = dissipates,
                    .next_break = next_break, .modes = NULL, .varies = NULL, .rate = NULL,
                    .nrow = 0, .rows = NULL, .actions = actions, .outputs = &outputs),
    .differentiate = differentiate,
    .load_number = load_numbers,
    .nload_number = LWI_COUNT(load_numbers),
    .by_numbers = by_numbers,
    .signals = signals,
};

// ---- in model files

// clang-format off
static const char *const axes[] = {"world", "body"};

#define AT(field) .offset = offsetof(lw_wrench_desc, field)
static const lwi_yaml_key keys[] = {
    {"body", LWI_KEY_BODY, AT(body), .required = LWI_KEY_REQUIRED, .help = "body on which it acts"},
    {"at", LWI_KEY_VECTOR, AT(point), .flag = offsetof(lw_wrench_desc, world_point),
     .help = "point of application of `force`, in the world at the assembly configuration [m]"},
    {"point", LWI_KEY_VECTOR, AT(point),
     .help = "instead of `at`: in the body frame [m]; default 0 0 0"},
    {"force", LWI_KEY_VECTOR, AT(force), .help = "[N]; default 0 0 0"},
    {"torque", LWI_KEY_VECTOR, AT(torque), .help = "[N m]; default 0 0 0"},
    {"force_of", LWI_KEY_SIGNALS, AT(force_of), .count = 3, .help = "functions or inputs that are added to the components of `force` [N]"},
    {"torque_of", LWI_KEY_SIGNALS, AT(torque_of), .count = 3, .help = "the same of `torque` [N m]"},
    {"axes", LWI_KEY_SWITCH, AT(body_axes), .more = axes, .count = LWI_COUNT(axes),
     .help = "axes of the components; default world"},
    {"scale", LWI_KEY_FUNCTION, AT(scale), .help = "multiplies force and torque; default 1"},
};
#undef AT
static const char *const types[] = {"wrench"};
static const lwi_yaml_object object = {.title = "wrench", .help = "a force and a torque on one body",
                                       .type = types, .ntype = 1, .key = keys, .nkey = LWI_COUNT(keys)};
// clang-format on

lw_status lw_builder_add_wrench(lw_builder *b, const lw_wrench_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_wrench_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_wrench_desc", error));
    d.name = lwi_builder_name(b, desc->name, "wrench", b->desc.force[LWI_ITEM_wrench].n);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "wrench", d.name, d.place, error}, *it = &item;
    TRY(lwi_item_body(it, "body", d.body));
    if (d.body.index == 0) return lwi_item_fail(it, "acts on the ground, expected a moving body");
    if (!finite3(d.point) || !finite3(d.force) || !finite3(d.torque))
        return lwi_item_fail(it, "point, force or torque is not finite");
    TRY(lwi_item_signal(it, "scale", d.scale, false));
    for (int k = 0; k < 3; k++) {
        TRY(lwi_item_signal(it, "force_of", d.force_of[k], false));
        TRY(lwi_item_signal(it, "torque_of", d.torque_of[k], false));
    }
    point_in_body(b, d.body, &d.point, &d.world_point);
    return lwi_force_push(b, LWI_ITEM_wrench, &d, error);
}

static lw_status add(lw_builder *builder, const void *desc, lw_error *error)
{
    return lw_builder_add_wrench(builder, desc, error);
}

static lw_status compile(lw_model *m, const void *desc, void *par)
{
    const lw_wrench_desc *d = desc;
    lwi_wrench_par *p = par;
    *p = (lwi_wrench_par){.body = d->body.index,
                          .body_axes = d->body_axes,
                          .force = {d->force.x, d->force.y, d->force.z},
                          .torque = {d->torque.x, d->torque.y, d->torque.z},
                          .scale = d->scale};
    memcpy(p->force_of, d->force_of, sizeof p->force_of);
    memcpy(p->torque_of, d->torque_of, sizeof p->torque_of);
    point_from_com(m, p->body, d->point, p->point);
    return LW_OK;
}

#define ROW(...) LWI_FORCE_PARAMETER(wrench, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("fx", "N", force.x, LWI_ANY_NUMBER),    ROW("fy", "N", force.y, LWI_ANY_NUMBER),
    ROW("fz", "N", force.z, LWI_ANY_NUMBER),    ROW("tx", "N m", torque.x, LWI_ANY_NUMBER),
    ROW("ty", "N m", torque.y, LWI_ANY_NUMBER), ROW("tz", "N m", torque.z, LWI_ANY_NUMBER),
};
#undef ROW

const lwi_force_item lwi_force_item_wrench =
    LWI_FORCE_ITEM(wrench, &object, lw_wrench_desc, lwi_wrench_par, add, compile, parameters,
                   "acts on a body", NULL);
