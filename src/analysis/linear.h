// linear.h -- a linearised mechanism: what the modes read of it.
#ifndef LWI_ANALYSIS_LINEAR_H
#define LWI_ANALYSIS_LINEAR_H

#include "analysis/state.h"

#include <linkwork/analysis.h>

struct lw_linear {
    lwi_arena arena;
    int f, ninput, noutput;
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

/** C and D from the columns of results. */
lw_status lwi_linear_outputs(lw_linear *linear, lwi_analysis_state *state, const char *names,
                             lw_error *error);

#endif
