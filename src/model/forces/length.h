// length.h -- forces along one length over any number of bodies or coordinates, for implicit integrators.
#ifndef LWI_MODEL_FORCES_LENGTH_H
#define LWI_MODEL_FORCES_LENGTH_H

#include "model/forces/force.h"

/** A force f(L, dL/dt) along a length L. */
typedef struct lwi_force_length {
    /** Body k on which dL/dt depends, which may be named again, 0: the ground; -1: there are k.  NULL: none. */
    int (*body)(const void *par, int k);
    /** What a unit force along L does to them. */
    void (*unit)(const void *par, const lwi_kin *, lwi_loads *);
    /** Index of speed k of a joint on which dL/dt depends, and the derivative; -1: there are k.  NULL: none. */
    int (*speed)(const void *par, int k, double *share);
    /** -(df/dL + two df/d(dL/dt)) */
    double (*rate)(const void *par, const lwi_force_state *);
} lwi_force_length;

/** The length of a force with an unknown place (lwi_force_place).  @return NULL: it is along none */
const lwi_force_length *lwi_force_length_of(const lwi_force *force);

#endif
