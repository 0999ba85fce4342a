// articulated.h -- the response of a tree to forces, at rest or moving, as values.
//
// The same two sweeps give accelerations from efforts and, without bias terms, speeds from momenta:
// both solve  S'(M A + p) = tau  for every joint.
#ifndef LWI_CODEGEN_ARTICULATED_H
#define LWI_CODEGEN_ARTICULATED_H

#include "codegen/factor.h"
#include "codegen/motion.h"

/** Results of the sweeps for a body. */
typedef struct lwi_pivot {
    lwi_factor factor; ///< of a ball or base
    val z[6];          ///< tau - S'p; of a ball or base after the forward substitution
    val y[6];          ///< z/D
    val g[6][6];       ///< rows D^-1 U', of a ball diag^-1 L^-1 B'
    val free_A[6];     ///< A without the contribution of the own joint
    val u[6];          ///< the solution: vdot, or speeds
} lwi_pivot;

typedef struct lwi_sweep {
    lwi_codegen_motion motion; ///< with poses; with velocities if `bias` is set; A is output
    bool bias;                 ///< accelerations: bias terms, and the model's efforts
    int tau;                   ///< array of the graph
    lwi_art *art;              ///< [n] M' and p' after elimination, own axes
    lwi_pivot *pivot;          ///< [n]
} lwi_sweep;

/** Fills art and pivot.  The ground moves with (ground, 0).
 *  @return LW_ERR_UNSUPPORTED naming a joint without inertia, LW_ERR_MEMORY */
lw_status lwi_sweeps(lwi_sweep *sweep, const double ground[3], lwi_arena *arena, lw_error *error);

// ---- the steps of the sweeps, for one element

/** Rigid body and bias wrench. */
void lwi_articulated_start(const lwi_sweep *sweep, int i);
/** The effort on a speed: the caller's and the model's. */
val lwi_articulated_effort(const lwi_sweep *sweep, int iv);
/** Eliminates the joint's own speeds.  @return LW_ERR_UNSUPPORTED naming a joint without inertia */
lw_status lwi_articulated_eliminate(lwi_sweep *sweep, int i, lw_error *error);
/** The error of a joint that nothing resists.  @return LW_ERR_UNSUPPORTED naming it */
lw_status lwi_articulated_singular(const lwi_sweep *sweep, int i, lw_error *error);
/** Transforms M' and p' before the joint to the parent's frame and adds them there. */
void lwi_articulated_pass(lwi_sweep *sweep, int i);
/** u and A of an element with an eliminated joint. */
void lwi_articulated_respond(lwi_sweep *sweep, int i, const val ground[6]);
/** The power of all efforts, those of prescribed motions too, after lwi_sweeps of a tree; no loops.
 *  @return LW_ERR_MEMORY */
lw_status lwi_articulated_power(const lwi_sweep *sweep, lwi_arena *arena, val *power);
/** A comment with the name of the element. */
void lwi_articulated_note(const lwi_sweep *sweep, int i, const char *what);

#endif
