// length.h -- forces along one length over any number of bodies or coordinates, for implicit integrators.
#ifndef LWI_MODEL_FORCES_LENGTH_H
#define LWI_MODEL_FORCES_LENGTH_H

#include "model/forces/force.h"

/** Derivatives of a force along a length, or of the rate of its state. */
typedef struct lwi_law_slopes {
    double value; ///< of the force
    double by_length, by_rate, by_state;
    lw_signal signal[2];
    double by_signal[2];
} lwi_law_slopes;

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
    /** Those of f, and of the rate of its state; where it is limited, those of the limit.
     *  @return index of the state in lwi_states; -1: it has none */
    int (*slopes)(const void *par, const lwi_force_state *, lwi_law_slopes *force,
                  lwi_law_slopes *rate);
    /** Has it limits, where slopes jump? */
    bool (*limited)(const void *par);
    /** Along bodies: load [k] := what a unit force along L does to body k, about its mass centre; and the derivatives of the
     *  loads of the force along changes of the motion of body k: of the mass centre and rotation, of their velocities; at
     *  constant signals.  NULL: unknown. */
    void (*unit_loads)(const void *par, const lwi_kin *, double (*load)[6]);
    void (*differentiate)(const void *par, const lwi_force_state *, const lwi_law_slopes *force,
                          const double (*pose)[6], const double (*twist)[6], double (*load)[6]);
    /** Are they known for this one? */
    bool (*exact)(const void *par);
} lwi_force_length;

/** The length of a force with an unknown place (lwi_force_place).  @return NULL: it is along none */
const lwi_force_length *lwi_force_length_of(const lwi_force *force);

#endif
