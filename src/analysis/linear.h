// linear.h -- a linearised mechanism: what the modes read of it.
#ifndef LWI_ANALYSIS_LINEAR_H
#define LWI_ANALYSIS_LINEAR_H

#include "analysis/state.h"

#include <linkwork/analysis.h>

struct lw_linear {
    lwi_arena arena;
    int f, ninput, noutput;
    int n, nsignal; ///< states 2 f + nsignal; those of signals that are integrated
    int *signal;    ///< [nsignal] of the model's states
    double *c;      ///< [model nstate] states of signals where the system is linearised
    const char **state, **input, **output; ///< names
    double *A, *B, *C, *D, *M, *acceleration;
    double *unit;  ///< [f] lwi_manifold_unit
    double weight; ///< of all bodies, times the length of the mechanism [N m]
    // bodies: displacements of independent increments, kinetic energy
    int nbody;
    const char **body;
    double (*move)[6];    ///< [f][nbody] displacement, rotation; world axes
    double *mass;         ///< [nbody]
    double (*inertia)[9]; ///< [nbody] about the mass centre, world axes at the state
};

/** What column k of A, or from n on of B, varies: number `which` of its kind, and the step of differences. */
lwi_analysis_vary lwi_linear_vary(const lw_linear *linear, int k, int *which);
double lwi_linear_step(const lwi_analysis_state *state, lwi_analysis_vary what, int which);
/** C and D from the columns of results. */
lw_status lwi_linear_outputs(lw_linear *linear, lwi_analysis_state *state, const char *names,
                             lw_error *error);
/** How many independent coordinates and bodies (the ground included) the modes have. */
void lwi_modes_size(const lw_modes *modes, int *coordinates, int *bodies);

#endif
