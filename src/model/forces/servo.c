// servo.c -- a controlled drive of a joint coordinate, or of a weighted sum of several (a tendon over pulleys).
//
//   l = sum c q                                            c = gear times the factor of the coordinate
//   u = target(t), within its range
//   f = (g0 + g1 l + g2 l') u + kd rate(t) + b0 + b1 l + b2 l', within its range
//
// where the gains kp and kd of the description are part of g and b: g0 has kp, b1 has -kp, b2 has -kd.  The effort on
// a coordinate is c f; all of the power f l' is supplied.
#include "model/forces/describe.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

typedef struct servo_share {
    int iq, iv; ///< in the joint arrays
    double c;
} servo_share;

typedef struct servo_par {
    const servo_share *share; ///< [n]
    int n;
    lw_signal target, rate;
    double kd, gain[3], bias[3];
    double target_range[2], effort_range[2]; ///< infinite: no limit
    bool follows; ///< target or rate read coordinates or speeds of joints
} servo_par;

static double within(double x, const double range[2])
{
    return fmin(fmax(x, range[0]), range[1]);
}

typedef struct control {
    double l, dl, u, f;
} control;

static control control_of(const lw_model *model, const servo_par *p, const lwi_kin *kin, double t,
                          const double *inputs)
{
    const lwi_now now = lwi_now_at(kin, t, inputs);
    const double u = within(lwi_signal_value(model->function, p->target, &now, 0), p->target_range);
    const double wanted = lwi_signal_value(model->function, p->rate, &now, 0);
    double l = 0, dl = 0;
    for (int k = 0; k < p->n; k++) {
        l += p->share[k].c * kin->q[p->share[k].iq];
        dl += p->share[k].c * kin->qd[p->share[k].iv];
    }
    const double gain = p->gain[0] + p->gain[1] * l + p->gain[2] * dl;
    const double bias = p->bias[0] + p->bias[1] * l + p->bias[2] * dl;
    return (control){l, dl, u, within(gain * u + p->kd * wanted + bias, p->effort_range)};
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const servo_par *p = par;
    const control now = control_of(model, p, kin, t, inputs);
    for (int k = 0; k < p->n; k++) loads->effort[p->share[k].iv] += p->share[k].c * now.f;
    loads->power += now.f * now.dl;
}

static int dissipates(const void *par)
{
    (void)par;
    return 1;
}

static double next_break(const lw_model *model, const void *par, double t)
{
    const servo_par *p = par;
    return fmin(lwi_function_next_break(model->function, p->target, t),
                lwi_function_next_break(model->function, p->rate, t));
}

static lwi_force_place place(const void *par)
{
    const servo_par *p = par;
    return (lwi_force_place){.iv = p->n == 1 ? p->share[0].iv : -1};
}

static bool varies(const void *par)
{
    const servo_par *p = par;
    return p->bias[1] < 0 || p->bias[2] < 0 || p->follows;
}

// -df/ds of what target and rate follow, where the coordinate changes by s and its speed by two s.
static double rate_of_signals(const servo_par *p, const lwi_force_state *s)
{
    const lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    const servo_share *share = &p->share[0];
    const lwi_seed seed = {.iq = share->iq, .q = 1, .iv = share->iv, .qd = s->two, .spring = -1};
    const double l = share->c * s->kin->q[share->iq], dl = share->c * s->kin->qd[share->iv];
    const double gain = p->gain[0] + p->gain[1] * l + p->gain[2] * dl;
    double u[3], w[3];
    lwi_signal_jet(s->model->function, p->target, &now, &seed, u);
    lwi_signal_jet(s->model->function, p->rate, &now, &seed, w);
    return -share->c * (gain * u[1] + p->kd * w[1]);
}

// Of the bias and of signals; where the effort is limited, and of a gain that depends on the length, it is approximate.
static double rate(const void *par, const lwi_force_state *s)
{
    const servo_par *p = par;
    const double c = p->share[0].c;
    const double own = c * c * (fmax(-p->bias[1], 0) + s->two * fmax(-p->bias[2], 0));
    return p->follows ? own + rate_of_signals(p, s) : own;
}

static const lwi_quantity quantities[] = {
    LWI_OUTPUT("servo", "length", LWI_OUTPUT_SCALAR, .part = {"length"}, .unit = {"m or rad"},
               .summary = "length l: gear times the coordinate, or times their sum"),
    LWI_OUTPUT("servo", "rate", LWI_OUTPUT_SCALAR, .part = {"rate"}, .unit = {"m/s or rad/s"},
               .summary = "its derivative"),
    LWI_OUTPUT("servo", "target", LWI_OUTPUT_SCALAR, .part = {"target"}, .unit = {"m or rad"},
               .summary = "target u, within its range"),
    LWI_OUTPUT("servo", "effort", LWI_OUTPUT_SCALAR, .part = {"effort"}, .unit = {"N or N m"},
               .summary = "effort along l, within its range"),
    LWI_OUTPUT("servo", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "power of the effort"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const control now = control_of(model, par, kin, t, inputs);
    const double numbers[] = {now.l, now.dl, now.u, now.f, now.f * now.dl};
    for (int i = 0; i < LWI_COUNT(numbers); i++) value[i] += numbers[i];
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_servo = {
    .name = "servo",
    .summary = "position, velocity or affine servo on a joint coordinate or a sum of several",
    .needs = LWI_NEEDS_JOINT,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = dissipates,
                    .next_break = next_break, .modes = NULL, .varies = varies, .rate = rate,
                    .nrow = 0, .rows = NULL, .actions = NULL, .outputs = &outputs),
};

// ---- in model files

// clang-format off
#define AT(field) .offset = offsetof(lw_servo_term, field)
static const lwi_yaml_key term_keys[] = {
    {"joint", LWI_KEY_JOINT, AT(joint), .required = LWI_KEY_REQUIRED, .help = "joint of the coordinate"},
    {"coordinate", LWI_KEY_COORDINATE, AT(coordinate), .help = "which one; default q0"},
    {"factor", LWI_KEY_NUMBER, AT(factor), .range = LWI_RANGE_NOT_ZERO, .help = "its share of the length, not 0; default 1"},
};
#undef AT
static const lwi_yaml_object term_object = {.title = "servo_term", .help = "a coordinate that a servo drives",
                                            .key = term_keys, .nkey = LWI_COUNT(term_keys)};

#define AT(field) .offset = offsetof(lw_servo_desc, field)
static const lwi_yaml_key keys[] = {
    {"joint", LWI_KEY_JOINT, AT(joint), .flag = offsetof(lw_servo_desc, on_joint), .help = "joint that is driven; its length l is gear q"},
    {"coordinate", LWI_KEY_COORDINATE, AT(coordinate), .help = "which coordinate of the joint; default q0"},
    {"of", LWI_KEY_OBJECTS, AT(terms), .size = offsetof(lw_servo_desc, nterm), .more = &term_object,
     .count = sizeof(lw_servo_term), .help = "instead of `joint`: several coordinates; l is gear times the sum of factor q"},
    {"gear", LWI_KEY_NUMBER, AT(gear), .range = LWI_RANGE_NOT_ZERO, .help = "not 0; default 1"},
    {"target", LWI_KEY_FUNCTION, AT(target), .help = "u, function or input: the wanted length where kp is given [m, rad]; default 0"},
    {"rate", LWI_KEY_FUNCTION, AT(rate), .help = "wanted rate of the length, function or input [m/s, rad/s]; default 0"},
    {"kp", LWI_KEY_NUMBER, AT(kp), .range = LWI_RANGE_NOT_NEGATIVE, .help = "effort kp (u - l) [N/m, N m/rad], >= 0; default 0"},
    {"kd", LWI_KEY_NUMBER, AT(kd), .range = LWI_RANGE_NOT_NEGATIVE, .help = "effort kd (rate - dl/dt) [N s/m, N m s/rad], >= 0; default 0"},
    {"gain", LWI_KEY_NUMBERS, AT(gain), .count = 3, .help = "effort (gain0 + gain1 l + gain2 dl/dt) u; default 0 0 0"},
    {"bias", LWI_KEY_NUMBERS, AT(bias), .count = 3, .help = "effort bias0 + bias1 l + bias2 dl/dt; default 0 0 0"},
    {"target_range", LWI_KEY_NUMBERS, AT(target_range), .count = 2, .flag = offsetof(lw_servo_desc, has_target_range),
     .help = "[lower, upper] of u; default: any"},
    {"effort_range", LWI_KEY_NUMBERS, AT(effort_range), .count = 2, .flag = offsetof(lw_servo_desc, has_effort_range),
     .help = "[lower, upper] of the effort along l, the sum of all parts [N, N m]; default: any"},
};
#undef AT
static const char *const types[] = {"servo"};
static const lwi_yaml_object object = {.title = "servo", .help = "a controlled drive of a joint coordinate, or of a sum of several",
                                       .type = types, .ntype = 1, .key = keys, .nkey = LWI_COUNT(keys)};
// clang-format on

static lw_status copy_terms(const lwi_item *it, lw_servo_desc *d)
{
    lw_servo_term *terms = LWI_PUSH(&it->builder->arena, lw_servo_term, d->nterm);
    if (!terms) return lwi_builder_no_memory(it->error);
    for (int k = 0; k < d->nterm; k++) {
        terms[k] = d->terms[k];
        if (!isfinite(terms[k].factor))
            return lwi_item_fail(it, "of[%d]: factor is %g, expected a finite number", k,
                                 terms[k].factor);
        TRY(lwi_item_coordinate(it, terms[k].joint, terms[k].coordinate));
    }
    d->terms = terms;
    return LW_OK;
}

static lw_status check_range(const lwi_item *it, const char *what, bool present,
                             const double range[2])
{
    if (!present || range[0] <= range[1]) return LW_OK;
    return lwi_item_fail(it, "%s is [%g, %g], expected lower <= upper", what, range[0], range[1]);
}

static lw_status check(const lwi_item *it, lw_servo_desc *d)
{
    const double numbers[] = {d->kp, d->kd};
    if (!none_negative(numbers, 2))
        return lwi_item_fail(it, "kp %g, kd %g, expected numbers >= 0", d->kp, d->kd);
    if (!isfinite(d->gear)) return lwi_item_fail(it, "gear is %g, expected a number", d->gear);
    for (int k = 0; k < 3; k++)
        if (!isfinite(d->gain[k]) || !isfinite(d->bias[k]))
            return lwi_item_fail(it, "gain or bias is not finite");
    TRY(check_range(it, "target_range", d->has_target_range, d->target_range));
    TRY(check_range(it, "effort_range", d->has_effort_range, d->effort_range));
    TRY(lwi_item_signal(it, "target", d->target, false));
    TRY(lwi_item_signal(it, "rate", d->rate, false));
    d->on_joint = d->nterm == 0;
    if (d->gear == 1) d->gear = 0; // the default, as it is written
    if (d->on_joint) return lwi_item_coordinate(it, d->joint, d->coordinate);
    if (d->nterm < 0 || !d->terms) return lwi_item_fail(it, "of: the list is missing");
    return copy_terms(it, d);
}

lw_status lw_builder_add_servo(lw_builder *b, const lw_servo_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_servo_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_servo_desc", error));
    d.name = lwi_builder_name(b, desc->name, "servo", b->desc.force[LWI_ITEM_servo].n);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "servo", d.name, d.place, error};
    TRY(check(&item, &d));
    return lwi_force_push(b, LWI_ITEM_servo, &d, error);
}

// A file that has neither `joint` nor `of` is refused here; in C the first joint is meant.
static lw_status add(lw_builder *builder, const void *desc, lw_error *error)
{
    const lw_servo_desc *d = desc;
    const lwi_item item = {builder, "servo", d->name, d->place, error};
    if (!d->on_joint && d->nterm == 0)
        return lwi_item_fail(&item, "what it drives is missing, expected `joint` or `of`");
    return lw_builder_add_servo(builder, desc, error);
}

static servo_share share_of(const lw_model *m, lw_joint joint, int k, double c)
{
    const lwi_joint *j = &m->joint[joint.index];
    return (servo_share){.iq = j->iq + k, .iv = j->iv + k, .c = c};
}

static lw_status compile(lw_model *m, const void *desc, void *par)
{
    const lw_servo_desc *d = desc;
    servo_par *p = par;
    const double gear = d->gear != 0 ? d->gear : 1;
    const int n = d->nterm > 0 ? d->nterm : 1;
    servo_share *share = LWI_PUSH(&m->arena, servo_share, n);
    if (!share) return LW_ERR_MEMORY;
    *p = (servo_par){.share = share, .n = n, .target = d->target, .rate = d->rate, .kd = d->kd};
    if (d->nterm == 0) share[0] = share_of(m, d->joint, d->coordinate, gear);
    for (int k = 0; k < d->nterm; k++) {
        const lw_servo_term *t = &d->terms[k];
        share[k] = share_of(m, t->joint, t->coordinate, gear * (t->factor != 0 ? t->factor : 1));
    }
    const unsigned needs =
        lwi_function_needs(m->function, d->target) | lwi_function_needs(m->function, d->rate);
    p->follows = (needs & LWI_NEEDS_JOINT) != 0;
    memcpy(p->gain, d->gain, sizeof p->gain);
    memcpy(p->bias, d->bias, sizeof p->bias);
    p->gain[0] += d->kp;
    p->bias[1] -= d->kp;
    p->bias[2] -= d->kd;
    for (int k = 0; k < 2; k++) {
        const double none = k ? INFINITY : -INFINITY;
        p->target_range[k] = d->has_target_range ? d->target_range[k] : none;
        p->effort_range[k] = d->has_effort_range ? d->effort_range[k] : none;
    }
    return LW_OK;
}

#define ROW(...) LWI_FORCE_PARAMETER(servo, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("kp", "N m/rad", kp, .min = 0),
    ROW("kd", "N m s/rad", kd, .min = 0),
    ROW("gain", "N m", gain[0], LWI_ANY_NUMBER),
    ROW("bias", "N m", bias[0], LWI_ANY_NUMBER),
};
#undef ROW

const lwi_force_item lwi_force_item_servo =
    LWI_FORCE_ITEM(servo, &object, lw_servo_desc, servo_par, add, compile, parameters,
                   "drives joint coordinates", NULL);
