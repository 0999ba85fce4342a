// joint_friction.c -- friction on a joint coordinate: -coulomb tanh(qd / speed) - viscous qd.
//
// The smooth form of dry friction: at a few times `speed` it has its whole value; below, a joint at
// rest creeps.  All of it is dissipated.
#include "model/model.h"

#include <math.h>

static double effort_of(const lwi_joint_friction_par *p, double qd)
{
    const double viscous = -p->viscous * qd;
    return p->coulomb != 0 ? viscous - p->coulomb * tanh(qd / p->speed) : viscous;
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_joint_friction_par *p = par;
    (void)model, (void)t, (void)inputs;
    const double qd = kin->qd[p->iv], effort = effort_of(p, qd);
    loads->effort[p->iv] += effort;
    loads->power += effort * qd;
}

static int dissipates(const void *par)
{
    (void)par;
    return 1;
}

static lwi_force_place place(const void *par)
{
    const lwi_joint_friction_par *p = par;
    return (lwi_force_place){.iv = p->iv};
}

static bool varies(const void *par)
{
    (void)par;
    return true;
}

static double rate(const void *par, const lwi_force_state *s)
{
    const lwi_joint_friction_par *p = par;
    const double y = p->coulomb > 0 ? tanh(s->kin->qd[p->iv] / p->speed) : 0;
    return s->two * (p->viscous + (p->coulomb > 0 ? p->coulomb / p->speed * (1 - y * y) : 0));
}

static const lwi_quantity quantities[] = {
    LWI_COORDINATE_OUTPUT("friction", LWI_EFFORT_UNITS, "friction on coordinate K"),
    LWI_COORDINATE_OUTPUT("friction_power", LWI_POWER_UNITS, "its power"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_joint_friction_par *p = par;
    (void)model, (void)t, (void)inputs;
    const double qd = kin->qd[p->iv], effort = effort_of(p, qd);
    value[0] += effort;
    value[1] += effort * qd;
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_joint_friction = {
    .name = "joint_friction",
    .summary = "dry and viscous friction on one joint coordinate",
    .needs = LWI_NEEDS_JOINT,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = dissipates, .next_break = NULL,
                    .modes = NULL, .varies = varies, .rate = rate, .nrow = 0, .rows = NULL,
                    .actions = NULL, .outputs = &outputs),
};
