// joint_spring.c -- effort on one joint speed: -k (q - at) - c qd + force(t) + effort(t).
//
// The first part has the potential k (q - at)^2 / 2, the others do work.  Where the speed is not
// the derivative of a coordinate (iq < 0) there is no first part.
#include "model/model.h"

#include <math.h>

static double stretch(const lwi_joint_spring_par *p, const lwi_kin *kin)
{
    return p->iq < 0 ? 0 : kin->q[p->iq] - p->at;
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_joint_spring_par *p = par;
    const lwi_now now = lwi_now_at(kin, t, inputs);
    const double qd = kin->qd[p->iv];
    const double other = -p->damping * qd + lwi_signal_value(model->function, p->force, &now, 0) +
                         lwi_signal_value(model->function, p->effort, &now, 0);
    loads->effort[p->iv] += other - p->stiffness * stretch(p, kin);
    loads->power += other * qd;
}

static double potential(const lw_model *model, const void *par, const lwi_kin *kin)
{
    (void)model;
    const lwi_joint_spring_par *p = par;
    const double x = stretch(p, kin);
    return 0.5 * p->stiffness * x * x;
}

static int dissipates(const void *par)
{
    const lwi_joint_spring_par *p = par;
    return p->damping != 0 || p->force.index != 0 || p->effort.index != 0;
}

static double next_break(const lw_model *model, const void *par, double t)
{
    const lwi_joint_spring_par *p = par;
    return fmin(lwi_function_next_break(model->function, p->force, t),
                lwi_function_next_break(model->function, p->effort, t));
}

static lwi_force_place place(const void *par)
{
    const lwi_joint_spring_par *p = par;
    return (lwi_force_place){.iv = p->iv};
}

static bool varies(const void *par)
{
    const lwi_joint_spring_par *p = par;
    return (p->iq >= 0 && p->stiffness > 0) || p->damping > 0 || p->follows;
}

static double rate(const void *par, const lwi_force_state *s)
{
    const lwi_joint_spring_par *p = par;
    const double own = (p->iq < 0 ? 0 : p->stiffness) + s->two * p->damping;
    if (!p->follows) return own;
    const lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    const lwi_seed seed = {.iq = p->iq, .q = 1, .iv = p->iv, .qd = s->two, .spring = -1};
    double f[3], g[3];
    lwi_signal_jet(s->model->function, p->force, &now, &seed, f);
    lwi_signal_jet(s->model->function, p->effort, &now, &seed, g);
    return own - f[1] - g[1];
}

static const lwi_quantity quantities[] = {
    LWI_COORDINATE_OUTPUT("spring", LWI_EFFORT_UNITS, "effort of the spring on coordinate K"),
    LWI_COORDINATE_OUTPUT("damper", LWI_EFFORT_UNITS, "effort of the damper on speed K"),
    LWI_COORDINATE_OUTPUT("actuator", LWI_EFFORT_UNITS,
                          "what `force` and `effort` of coordinate K give: functions, inputs"),
    LWI_COORDINATE_OUTPUT("spring_power", LWI_POWER_UNITS, "power of the spring"),
    LWI_COORDINATE_OUTPUT("damper_power", LWI_POWER_UNITS, "power of the damper"),
    LWI_COORDINATE_OUTPUT("actuator_power", LWI_POWER_UNITS, "power of the actuator"),
    LWI_COORDINATE_OUTPUT("spring_energy", LWI_ENERGY_UNITS, "energy in the spring"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_joint_spring_par *p = par;
    const lwi_now now = lwi_now_at(kin, t, inputs);
    const double qd = kin->qd[p->iv];
    const double effort[3] = {-p->stiffness * stretch(p, kin), -p->damping * qd,
                              lwi_signal_value(model->function, p->force, &now, 0) +
                                  lwi_signal_value(model->function, p->effort, &now, 0)};
    for (int i = 0; i < 3; i++) value[i] += effort[i], value[3 + i] += effort[i] * qd;
    value[6] += potential(model, par, kin);
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_joint_spring = {
    .name = "joint_spring",
    .summary = "spring, damper and actuator on one joint coordinate",
    .needs = LWI_NEEDS_JOINT,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = potential, .dissipates = dissipates,
                    .next_break = next_break, .modes = NULL, .varies = varies, .rate = rate,
                    .nrow = 0, .rows = NULL, .actions = NULL, .outputs = &outputs),
};
