// state.h -- a state of a mechanism in independent coordinates, and differences along the manifold.
#ifndef LWI_ANALYSIS_STATE_H
#define LWI_ANALYSIS_STATE_H

#include "analysis/manifold.h"

typedef struct lwi_analysis_state {
    lwi_manifold manifold;
    double *q, *v; ///< [tree nq], [tree nv] closed
    double *z;     ///< [f] independent speeds
    double *B;     ///< [f][n] at q
    double *M;     ///< [f][f] M_r at q
    double *force; ///< [f] reduced force at (q, v)
    // scratch of a neighbour
    double *near_q, *near_v, *near_z, *increment;
} lwi_analysis_state;

/** The state nearest to (t, q, v) that closes; NULL: the model's start.
 *  @param v  NULL: the independent speeds are zero */
lw_status lwi_analysis_state_create(const lw_model *model, double t, const double *q,
                                    const double *v, const double *inputs, const char *independent,
                                    lwi_arena *arena, lwi_analysis_state *state, lw_error *error);
void lwi_analysis_state_destroy(lwi_analysis_state *state);
/** The states of signals that are integrated, in index [nstate]; returns their number.  Those of switches and relays keep
 *  their values. */
int lwi_analysis_signals(const lw_model *model, int *index);
/** Takes near_q, near_z as the state. */
lw_status lwi_analysis_state_take(lwi_analysis_state *state, lw_error *error);

/** increment := B y, displacements of the tree. */
void lwi_analysis_increment(const lwi_analysis_state *state, const double *y);
/** near_q, near_v := a neighbour: q moved by B y, the independent speeds z. */
lw_status lwi_analysis_neighbour(lwi_analysis_state *state, const double *y, const double *z,
                                 lw_error *error);
/** The reduced force (`forces`) or the accelerations zdot [f] of a neighbour: q moved by B y, the speeds z. */
lw_status lwi_analysis_near(lwi_analysis_state *state, const double *y, const double *z,
                            bool forces, double *out, lw_error *error);

/** What a difference varies. */
typedef enum lwi_analysis_vary {
    LWI_VARY_POSITION,
    LWI_VARY_SPEED,
    LWI_VARY_SIGNAL, ///< a state of a signal
    LWI_VARY_INPUT
} lwi_analysis_vary;
/** A function of the neighbour of a state; of position k, speed k or input k changed by `by`. */
typedef lw_status (*lwi_analysis_function)(void *user, lwi_analysis_vary what, int k, double by,
                                           double *out, lw_error *error);
/** out [count]: derivative by a central difference of order six, with shorter steps where it is not accurate or the
 *  function is singular; `scratch` [4 count]. */
lw_status lwi_analysis_difference(lwi_analysis_function function, void *user,
                                  lwi_analysis_vary what, int k, double step, int count,
                                  double *scratch, double *out, lw_error *error);
/** Weight of all bodies times the length of the mechanism [N m]. */
double lwi_analysis_weight(const lw_model *model);
/** What differences cannot distinguish from zero in y'K y: y [f] are increments, K [f][f] is a stiffness, unit [f] the units of
 *  the coordinates.  A part of the absolute terms, of the weight and of the stiffest coordinate. */
double lwi_analysis_noise(int f, const double *K, const double *y, const double *unit,
                          double weight);
/** Step of such differences of coordinate k, and of its speed per second: no coordinate moves by more than 3e-3 rad or
 *  lengths of the mechanism. */
double lwi_analysis_step(const lwi_analysis_state *state, int k);

#endif
