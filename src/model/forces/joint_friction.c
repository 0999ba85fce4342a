// joint_friction.c -- friction on a joint coordinate: -coulomb tanh(qd / speed) - viscous qd.
//
// The smooth form of dry friction: at a few times `speed` it has its whole value; below, a joint at
// rest creeps.  All of it is dissipated.
#include "model/model.h"

#include <math.h>

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_joint_friction_par *p = par;
    (void)model, (void)t, (void)inputs;
    const double qd = kin->qd[p->iv];
    double effort = -p->viscous * qd;
    if (p->coulomb != 0) effort -= p->coulomb * tanh(qd / p->speed);
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

static double rate(const void *par, const lwi_kin *kin, double two)
{
    const lwi_joint_friction_par *p = par;
    const double y = p->coulomb > 0 ? tanh(kin->qd[p->iv] / p->speed) : 0;
    return two * (p->viscous + (p->coulomb > 0 ? p->coulomb / p->speed * (1 - y * y) : 0));
}

const lwi_force_type lwi_force_joint_friction = {
    .name = "joint_friction",
    .summary = "dry and viscous friction on one joint coordinate",
    .needs = LWI_NEEDS_JOINT,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = dissipates, .next_break = NULL,
                    .modes = NULL, .varies = varies, .rate = rate, .nrow = 0, .rows = NULL,
                    .actions = NULL),
};
