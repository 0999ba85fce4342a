// servo.c -- a controlled drive of a joint coordinate, or of a weighted sum of several (a tendon over pulleys).
//
//   l = sum c q                                            c = gear times the factor of the coordinate
//
// with the force f of servo_law.h along l, within what the motor can do,
//   -stall (1 + l'/no_load) <= f <= stall (1 - l'/no_load),    both between 0 and the stall effort
// or behind it by a lag,  y' = (f - y)/lag within the limit of the rate,  y in place of f.  The effort on a coordinate is
// c f; all of the power f l' is supplied.
#include "model/forces/length.h"
#include "model/forces/servo_law.h"

#include <math.h>
#include <string.h>

typedef lwi_servo_share servo_share;
typedef lwi_servo_par servo_par;

typedef struct control {
    double l, dl, u;
    double wanted; // effort, within all limits
    double f;      // that acts
} control;

// What a motor can do at a speed, in the directions of both signs.
static double of_motor(const servo_par *p, double f, double speed)
{
    if (!(p->stall < INFINITY)) return f;
    const double up = p->stall * fmin(1, fmax(0, 1 - speed * p->per_speed));
    const double down = p->stall * fmin(1, fmax(0, 1 + speed * p->per_speed));
    return fmin(fmax(f, -down), up);
}

static double state_of(const servo_par *p, const lwi_kin *kin)
{
    return kin->states && kin->states->value ? kin->states->value[p->state] : 0;
}

static control control_of(const lw_model *model, const servo_par *p, const lwi_kin *kin, double t,
                          const double *inputs)
{
    const lwi_now now = lwi_now_at(kin, t, inputs);
    const double u = lwi_servo_target(model, &p->law, &now);
    double l = 0, dl = 0;
    for (int k = 0; k < p->n; k++) {
        l += p->share[k].c * kin->q[p->share[k].iq];
        dl += p->share[k].c * kin->qd[p->share[k].iv];
    }
    const double f = of_motor(p, lwi_servo_force(model, &p->law, &now, u, l, dl), dl);
    return (control){l, dl, u, f, p->per_lag > 0 ? state_of(p, kin) : f};
}

// Of the effort behind a lag, before its limit.
static double wanted_rate(const servo_par *p, const control *now)
{
    return (now->wanted - now->f) * p->per_lag;
}

static void set_rate(const servo_par *p, const lwi_kin *kin, const control *now)
{
    if (!(p->per_lag > 0) || !kin->states || !kin->states->rate) return;
    const double rate = wanted_rate(p, now);
    kin->states->rate[p->state] = fmin(fmax(rate, -p->effort_rate), p->effort_rate);
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const servo_par *p = par;
    const control now = control_of(model, p, kin, t, inputs);
    for (int k = 0; k < p->n; k++) loads->effort[p->share[k].iv] += p->share[k].c * now.f;
    loads->power += now.f * now.dl;
    set_rate(p, kin, &now);
}

// Limits of the law, of the motor, and of the rate behind a lag.
static int piece(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                 const double *inputs)
{
    const servo_par *p = par;
    const lwi_now at = lwi_now_at(kin, t, inputs);
    const control now = control_of(model, p, kin, t, inputs);
    const double f = lwi_servo_force(model, &p->law, &at, now.u, now.l, now.dl);
    const double slip = now.dl * p->per_speed, lag = wanted_rate(p, &now);
    const int motor = now.wanted < f   ? 0
                      : now.wanted > f ? 2
                                       : 1,
              speed = fabs(slip) < 1 ? (slip > 0 ? 2 : 1) : 0,
              rate = lag < -p->effort_rate  ? 0
                     : lag > p->effort_rate ? 2
                                            : 1;
    return lwi_servo_piece(model, &p->law, &at, now.l, now.dl) +
           9 * (motor + 3 * (speed + 3 * rate));
}

static int dissipates(const void *par)
{
    (void)par;
    return 1;
}

static double next_break(const lw_model *model, const void *par, double t)
{
    const servo_par *p = par;
    return lwi_servo_next_break(model, &p->law, t);
}

static lwi_force_place place(const void *par)
{
    const servo_par *p = par;
    return (lwi_force_place){.iv = p->n == 1 ? p->share[0].iv : -1};
}

static bool varies(const void *par)
{
    const servo_par *p = par;
    return p->law.bias[1] < 0 || p->law.bias[2] < 0 || p->follows;
}

// -df/ds of what target and rate follow, where the coordinate changes by s and its speed by two s.
static double rate_of_signals(const servo_par *p, const lwi_force_state *s)
{
    const lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    const servo_share *share = &p->share[0];
    const lwi_seed seed = {.iq = share->iq, .q = 1, .iv = share->iv, .qd = s->two, .spring = -1};
    const double l = share->c * s->kin->q[share->iq], dl = share->c * s->kin->qd[share->iv];
    double u[3], w[3];
    lwi_signal_jet(s->model->function, p->law.target, &now, &seed, u);
    lwi_signal_jet(s->model->function, p->law.rate, &now, &seed, w);
    return -share->c * (lwi_servo_gain(&p->law, l, dl) * u[1] + p->law.kd * w[1]);
}

// Of the bias and of signals; where the effort is limited, and of a gain that depends on the length, it is approximate.
static double rate(const void *par, const lwi_force_state *s)
{
    const servo_par *p = par;
    const double c = p->share[0].c;
    const double own = c * c * (fmax(-p->law.bias[1], 0) + s->two * fmax(-p->law.bias[2], 0));
    return p->follows ? own + rate_of_signals(p, s) : own;
}

// Of a sum of coordinates: what follows signals does not count, nor a force that is limited or lags.
static double rate_of_sum(const void *par, const lwi_force_state *s)
{
    const servo_par *p = par;
    const lwi_now at = lwi_now_at(s->kin, s->t, s->inputs);
    const control now = control_of(s->model, p, s->kin, s->t, s->inputs);
    const double f = lwi_servo_force(s->model, &p->law, &at, now.u, now.l, now.dl);
    if (p->per_lag > 0 || now.wanted != f ||
        lwi_servo_is_limited(s->model, &p->law, &at, now.l, now.dl))
        return 0;
    return -(p->law.bias[1] + s->two * p->law.bias[2]);
}

static int speed_of(const void *par, int k, double *share)
{
    const servo_par *p = par;
    if (k >= p->n) return -1;
    *share = p->share[k].c;
    return p->share[k].iv;
}

// Of the effort within all limits.
static void wanted_slopes(const servo_par *p, const lwi_force_state *s, const control *c,
                          lwi_law_slopes *slopes)
{
    const lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    const double f = lwi_servo_force(s->model, &p->law, &now, c->u, c->l, c->dl);
    lwi_servo_slopes(s->model, &p->law, &now, c->l, c->dl, slopes);
    if (c->wanted == f) return;
    const double slip = c->wanted < f ? c->dl * p->per_speed : -c->dl * p->per_speed;
    *slopes = (lwi_law_slopes){.by_rate = slip > 0 && slip < 1 ? -p->stall * p->per_speed : 0};
}

static int slopes_of(const void *par, const lwi_force_state *s, lwi_law_slopes *force,
                     lwi_law_slopes *rate)
{
    const servo_par *p = par;
    const control c = control_of(s->model, p, s->kin, s->t, s->inputs);
    *force = *rate = (lwi_law_slopes){.by_length = 0};
    if (!(p->per_lag > 0)) {
        wanted_slopes(p, s, &c, force);
        return -1;
    }
    force->by_state = 1;
    if (fabs(wanted_rate(p, &c)) > p->effort_rate) return p->state;
    wanted_slopes(p, s, &c, rate);
    rate->by_state = -p->per_lag;
    rate->by_length *= p->per_lag;
    rate->by_rate *= p->per_lag;
    for (int k = 0; k < 2; k++) rate->by_signal[k] *= p->per_lag;
    return p->state;
}

static bool is_limited(const void *par)
{
    const servo_par *p = par;
    return lwi_servo_has_range(&p->law) || p->stall < INFINITY || p->effort_rate < INFINITY;
}

static const lwi_force_length along_sum = {
    .speed = speed_of, .rate = rate_of_sum, .slopes = slopes_of, .limited = is_limited};

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
    .length = &along_sum,
    .piece = piece,
    .corner = "a limit of its target, its effort or its rate",
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
    LWI_SERVO_KEYS(servo),
    {"stall", LWI_KEY_NUMBER, AT(stall), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "largest effort of the motor, that at rest [N, N m]; default: any"},
    {"no_load", LWI_KEY_NUMBER, AT(no_load), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "speed dl/dt at which the motor has no effort left; from `stall` it falls on a straight line [m/s, rad/s]; default: it does not"},
    {"lag", LWI_KEY_NUMBER, AT(lag), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "time constant of a first-order lag of the effort [s]; default 0"},
    {"initial", LWI_KEY_NUMBER, AT(initial), .help = "effort at the start, with `lag`, along l [N, N m]; default 0"},
    {"effort_rate", LWI_KEY_NUMBER, AT(effort_rate), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "largest rate of change of the effort, with `lag` [N/s, N m/s]; default: any"},
    {"rotor", LWI_KEY_NUMBER, AT(rotor), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "inertia that moves with l, of a motor on one coordinate: on the coordinate `gear` squared times this [kg, kg m^2]; default 0"},
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

static lw_status check_motor(const lwi_item *it, const lw_servo_desc *d)
{
    const double numbers[] = {d->stall, d->no_load, d->lag, d->effort_rate, d->rotor};
    if (!none_negative(numbers, LWI_COUNT(numbers)))
        return lwi_item_fail(it,
                             "stall %g, no_load %g, lag %g, effort_rate %g, rotor %g, expected "
                             "numbers >= 0",
                             d->stall, d->no_load, d->lag, d->effort_rate, d->rotor);
    if (d->no_load > 0 && d->stall == 0)
        return lwi_item_fail(it, "no_load is %g, but `stall`, the effort at rest, is missing",
                             d->no_load);
    if (d->effort_rate > 0 && d->lag == 0)
        return lwi_item_fail(it,
                             "effort_rate is %g, but `lag`, the time constant of the effort, is "
                             "missing",
                             d->effort_rate);
    if (!isfinite(d->initial) || (d->initial != 0 && d->lag == 0))
        return lwi_item_fail(it,
                             "initial is %g, expected the finite effort at the start of a servo "
                             "with `lag`",
                             d->initial);
    if (d->rotor > 0 && d->nterm > 0)
        return lwi_item_fail(it,
                             "rotor is %g, which only a servo on one coordinate may have; expected "
                             "`joint` in place of `of`, or rotors of the joints",
                             d->rotor);
    return LW_OK;
}

static lw_status check_rotor(const lwi_item *it, const lw_servo_desc *d)
{
    const lw_joint_desc *joint = &it->builder->desc.joint[d->joint.index];
    if (d->rotor == 0 || joint->coordinate[d->coordinate].motion.index == 0) return LW_OK;
    return lwi_item_fail(it, "joint '%s' is driven along q%d: state its `rotor` at the joint",
                         joint->name, d->coordinate);
}

static lw_status check(const lwi_item *it, lw_servo_desc *d)
{
    TRY(lwi_servo_law_check(it, &d->law));
    TRY(check_motor(it, d));
    d->on_joint = d->nterm == 0;
    if (d->on_joint) {
        TRY(lwi_item_coordinate(it, d->joint, d->coordinate));
        return check_rotor(it, d);
    }
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
    const int n = d->nterm > 0 ? d->nterm : 1;
    servo_share *share = LWI_PUSH(&m->arena, servo_share, n);
    if (!share) return LW_ERR_MEMORY;
    *p = (servo_par){.share = share, .n = n};
    lwi_servo_law_compile(&d->law, &p->law);
    const double gear = p->law.gear;
    if (d->nterm == 0) share[0] = share_of(m, d->joint, d->coordinate, gear);
    for (int k = 0; k < d->nterm; k++) {
        const lw_servo_term *t = &d->terms[k];
        share[k] = share_of(m, t->joint, t->coordinate, gear * (t->factor != 0 ? t->factor : 1));
    }
    const unsigned needs = lwi_function_needs(m->function, d->law.target) |
                           lwi_function_needs(m->function, d->law.rate);
    p->follows = (needs & LWI_NEEDS_JOINT) != 0;
    p->stall = d->stall > 0 ? d->stall : INFINITY;
    p->per_speed = d->no_load > 0 ? 1 / d->no_load : 0;
    p->per_lag = d->lag > 0 ? 1 / d->lag : 0;
    p->effort_rate = d->effort_rate > 0 ? d->effort_rate : INFINITY;
    p->state = d->lag > 0 ? m->nstate++ : 0;
    return LW_OK;
}

#define ROW(...) LWI_FORCE_PARAMETER(servo, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("kp", "N m/rad", law.kp, .min = 0),
    ROW("kd", "N m s/rad", law.kd, .min = 0),
    ROW("gain", "N m", law.gain[0], LWI_ANY_NUMBER),
    ROW("bias", "N m", law.bias[0], LWI_ANY_NUMBER),
    ROW("stall", "N m", stall, .min = 0),
    ROW("no_load", "rad/s", no_load, .min = 0),
};
#undef ROW

const lwi_force_item lwi_force_item_servo =
    LWI_FORCE_ITEM(servo, &object, lw_servo_desc, servo_par, add, compile, parameters,
                   "drives joint coordinates", NULL);
