// momenta.h -- momenta of bodies and joints of an observation, the same for every formulation.
#ifndef LWI_SIMULATE_MOMENTA_H
#define LWI_SIMULATE_MOMENTA_H

#include "kinematics/observe.h"

typedef struct lwi_observed_momenta {
    bool prepared;
    double *p;                ///< [model nv]
    double (*transmitted)[6]; ///< [njoint]
    double (*body)[6];        ///< [nbody] linear; angular about the mass centre; world axes
    // workspace
    double (*beyond)[6];      ///< [nbody] what the tree joint of the body transmits, as `body`
    lwi_loads none;           ///< zeros, for the balance of merged bodies
    double *zeros;            ///< [model nv]
    unsigned char *unique[2]; ///< [njoint] not read
} lwi_observed_momenta;

lw_status lwi_observed_momenta_create(const lw_model *model, lwi_arena *arena,
                                      lwi_observed_momenta *m);
/** Fills p, transmitted and body from a snapshot at level TWIST or more, and the impulses of loops in the state of
 *  `work` at its last observation. */
void lwi_observe_momenta(lwi_work *work, lwi_snapshot *snapshot, lwi_observed_momenta *m);

#endif
