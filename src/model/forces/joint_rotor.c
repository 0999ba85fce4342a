// joint_rotor.c -- rotor inertia on a driven coordinate: effort -I q'' with q'' of its function.
//
// On a free coordinate the acceleration is an unknown and the rotor a part of the mass matrix; on a
// driven one it is given, and the effort is one that only time decides.  Its work is the change of
// the rotor's kinetic energy, so none of it is lost: the drive does it, and says where its motion is
// not smooth.
#include "model/model.h"

#include <math.h>

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_joint_rotor_par *p = par;
    double q[3];
    (void)kin, (void)inputs;
    lwi_function_eval(model->function, p->motion, t, q);
    loads->effort[p->iv] -= p->inertia * q[2];
}

static lwi_force_place place(const void *par)
{
    const lwi_joint_rotor_par *p = par;
    return (lwi_force_place){.iv = p->iv};
}

static const lwi_quantity quantities[] = {
    LWI_COORDINATE_OUTPUT(
        "rotor", LWI_EFFORT_UNITS,
        "of the inertia of a driven rotor: minus inertia times derivative of speed K; its "
        "power is the change of its kinetic energy"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_joint_rotor_par *p = par;
    double q[3];
    (void)kin, (void)inputs;
    lwi_function_eval(model->function, p->motion, t, q);
    value[0] -= p->inertia * q[2];
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_joint_rotor = {
    .name = "joint_rotor",
    .summary = "inertia that rotates or slides with a driven joint coordinate",
    .needs = 0,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = NULL, .dissipates = NULL, .next_break = NULL,
                    .modes = NULL, .varies = NULL, .rate = NULL, .nrow = 0, .rows = NULL,
                    .actions = NULL, .outputs = &outputs),
};
