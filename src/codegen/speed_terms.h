// speed_terms.h -- the factors of derivatives of inverse dynamics, vectors for each speed, as values of a graph.
#ifndef LWI_CODEGEN_SPEED_TERMS_H
#define LWI_CODEGEN_SPEED_TERMS_H

#include "codegen/walk.h"

/** The vectors of one speed j, [6] unless noted, SI, linear part first; screws and wrenches in world axes about the world's
 *  origin.  dtau_k/dq_j is S_k.by_q_j where j is outboard of k, and IS_k.accel_q_j + BS_k.rate_q_j where k is outboard of j,
 *  or both are speeds of one spherical or free joint; by v and by vdot correspondingly (compiled/derivative_source.c). */
enum {
    LWI_TERM_S,            ///< screw
    LWI_TERM_ACCEL_Q = 6,  ///< psi2: acceleration outboard by q, beyond its rotation with j
    LWI_TERM_ACCEL_V = 12, ///< drift: by v
    LWI_TERM_RATE_Q = 18,  ///< [3] of psi: angular velocity by q; by v it is that of S
    LWI_TERM_IS = 21,      ///< wrench of the subtree by vdot
    LWI_TERM_BS = 27,      ///< [3] angular part of B' S, of which the linear part is 0
    LWI_TERM_BY_Q = 30,    ///< wrench of the subtree by q
    LWI_TERM_BY_V = 36,    ///< by v
    LWI_TERMS = 42
};

/** The terms of all speeds.
 *  @param vdot  [tree nv] accelerations [m/s^2, rad/s^2]
 *  @param term  [LWI_TERMS][tree nv] out: entry k of speed j is term[k * tree nv + j]
 *  @return LW_ERR_MEMORY */
lw_status lwi_speed_terms(const lwi_walk *walk, const val *vdot, val *term, lwi_arena *arena);

#endif
