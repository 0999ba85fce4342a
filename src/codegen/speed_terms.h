// speed_terms.h -- what derivatives of inverse dynamics are products of, for each speed, as values.
#ifndef LWI_CODEGEN_SPEED_TERMS_H
#define LWI_CODEGEN_SPEED_TERMS_H

#include "codegen/walk.h"

/** Numbers of one speed j, [6] unless noted; screws and wrenches in world axes about the world's origin.  dtau_k/dq_j is
 *  S_k.by_q_j where j is outboard of k, and IS_k.accel_q_j + BS_k.rate_q_j where k is outboard of j, or both are speeds of
 *  one spherical or free joint; by v and by vdot correspondingly (derivative_source.c). */
enum {
    LWI_TERM_S,            ///< screw
    LWI_TERM_ACCEL_Q = 6,  ///< of what is outboard, beyond the rotation about j: acceleration by q
    LWI_TERM_ACCEL_V = 12, ///< by v
    LWI_TERM_RATE_Q = 18,  ///< [3] angular velocity by q; by v it is that of S
    LWI_TERM_IS = 21,      ///< wrench of the subtree by vdot
    LWI_TERM_BS = 27,      ///< [3]
    LWI_TERM_BY_Q = 30,    ///< wrench of the subtree by q
    LWI_TERM_BY_V = 36,
    LWI_TERMS = 42
};

/** All terms: term[k * tree nv + j] of speed j.
 *  @param vdot  [tree nv] accelerations;  @param term  [LWI_TERMS][tree nv] out
 *  @return LW_ERR_MEMORY */
lw_status lwi_speed_terms(const lwi_walk *walk, const val *vdot, val *term, lwi_arena *arena);

#endif
