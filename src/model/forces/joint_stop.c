// joint_stop.c -- a stop at one end of a joint coordinate: a one-sided spring and damper.
//
//   x = side (q - at),  effort  -side f,   f = max(0, k x + c dx/dt) beyond the end (x > 0), else 0
//
// The spring part has the potential k x^2 / 2 beyond the end, the rest does work: -c (dx/dt)^2
// while it is pressed, and k x dx/dt where the coordinate comes back faster than the spring
// follows, because a stop never pulls.  Three modes with smooth laws:
//   FREE     x < 0         no effort
//   PRESSED  k x + c dx/dt > 0
//   LOOSE    x > 0, but the spring cannot follow: no effort
#include "model/model.h"

#include "base/assert.h"

#include <math.h>

enum { FREE, PRESSED, LOOSE };

static double beyond(const lwi_joint_stop_par *p, const lwi_kin *kin)
{
    return p->side * (kin->q[p->iq] - p->at);
}
static double speed(const lwi_joint_stop_par *p, const lwi_kin *kin)
{
    return p->side * kin->qd[p->iv];
}

static int mode_index(const void *par)
{
    return ((const lwi_joint_stop_par *)par)->mode;
}

static unsigned char mode_now(const void *par, const lwi_kin *kin)
{
    LWI_ASSERT(((const lwi_joint_stop_par *)par)->stiffness > 0);
    const lwi_joint_stop_par *p = par;
    const double x = beyond(p, kin), v = speed(p, kin);
    if (x < 0 || (x == 0 && v <= 0)) return FREE;
    return p->stiffness * x + p->damping * v > 0 || x == 0 ? PRESSED : LOOSE;
}

// The effort in lengths: f / k.
static double press(const lwi_joint_stop_par *p, const lwi_kin *kin)
{
    return beyond(p, kin) + p->damping / p->stiffness * speed(p, kin);
}

static int mode_guards(const void *par, unsigned char mode, const lwi_kin *kin, double *guard)
{
    LWI_ASSERT(mode <= LOOSE);
    const lwi_joint_stop_par *p = par;
    const double x = beyond(p, kin);
    switch (mode) {
    case FREE:
        guard[0] = -x;
        return 1;
    case PRESSED:
        guard[0] = press(p, kin);
        return 1;
    default:
        guard[0] = x, guard[1] = -press(p, kin);
        return 2;
    }
}

// The guard of a pressed stop with a damper depends on the speed; its second derivative is unknown: no gap.
static void gap_of(const void *par, unsigned char mode, const lwi_kin *kin, lwi_gap *gap)
{
    const lwi_joint_stop_par *p = par;
    const double sign = mode == FREE ? -p->side : p->side;
    *gap = (lwi_gap){.n = mode != PRESSED || p->damping == 0};
    gap->y[0][0] = sign * (kin->q[p->iq] - p->at);
    gap->y[1][0] = sign * kin->qd[p->iv];
    gap->y[2][0] = kin->qdd ? sign * kin->qdd[p->iv] : NAN;
}

// Without a damper the spring follows as far as it reaches: it is never loose.
static unsigned char mode_next(const void *par, unsigned char mode, int k, const lwi_kin *kin)
{
    const lwi_joint_stop_par *p = par;
    if (mode == FREE) return PRESSED;
    if (mode == PRESSED) return p->damping > 0 && beyond(p, kin) > 0 ? LOOSE : FREE;
    return k == 0 ? FREE : PRESSED;
}

static double force_of(const lwi_joint_stop_par *p, const lwi_kin *kin)
{
    const unsigned char mode = kin->mode ? kin->mode[p->mode] : mode_now(p, kin);
    return mode == PRESSED ? p->stiffness * beyond(p, kin) + p->damping * speed(p, kin) : 0;
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_joint_stop_par *p = par;
    (void)model, (void)t, (void)inputs;
    const double x = beyond(p, kin), v = speed(p, kin);
    const double f = force_of(p, kin);
    const double spring = x > 0 ? p->stiffness * x : 0;
    loads->effort[p->iv] -= p->side * f;
    loads->power -= (f - spring) * v;
}

static double potential(const lw_model *model, const void *par, const lwi_kin *kin)
{
    const lwi_joint_stop_par *p = par;
    (void)model;
    const double x = beyond(p, kin);
    return x > 0 ? 0.5 * p->stiffness * x * x : 0;
}

static int dissipates(const void *par)
{
    return ((const lwi_joint_stop_par *)par)->damping > 0;
}

static const lwi_force_modes modes = {
    .index = mode_index, .now = mode_now, .guards = mode_guards, .gap = gap_of, .next = mode_next};

static lwi_force_place place(const void *par)
{
    const lwi_joint_stop_par *p = par;
    return (lwi_force_place){.iv = p->iv};
}

static bool varies(const void *par)
{
    (void)par;
    return true;
}

static double rate(const void *par, const lwi_force_state *s)
{
    const lwi_joint_stop_par *p = par;
    const unsigned char mode = s->kin->mode ? s->kin->mode[p->mode] : mode_now(p, s->kin);
    return mode == PRESSED ? p->stiffness + s->two * p->damping : 0;
}

static const lwi_quantity quantities[] = {
    LWI_COORDINATE_OUTPUT("stop", LWI_EFFORT_UNITS, "effort of the stops of coordinate K"),
    LWI_COORDINATE_OUTPUT("stop_power", LWI_POWER_UNITS, "their power"),
    LWI_COORDINATE_OUTPUT("stop_energy", LWI_ENERGY_UNITS, "energy in their springs"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_joint_stop_par *p = par;
    (void)t, (void)inputs;
    const double effort = -p->side * force_of(p, kin);
    value[0] += effort;
    value[1] += effort * kin->qd[p->iv];
    value[2] += potential(model, par, kin);
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_joint_stop = {
    .name = "joint_stop",
    .summary = "one-sided spring and damper at the end of a joint coordinate's range",
    .needs = LWI_NEEDS_JOINT,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = potential, .dissipates = dissipates,
                    .next_break = NULL, .modes = &modes, .varies = varies, .rate = rate, .nrow = 0,
                    .rows = NULL, .actions = NULL, .outputs = &outputs),
};
