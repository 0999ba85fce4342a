// motion.h -- motion of the bodies of the normal form, as values: the part that all algorithms share.
//
// Accelerations are classical ones of the frames' origins in a frame that falls with gravity, so no
// linear velocities occur.  With w_P, al_P, a_P of the parent and r to the child's origin:
//
//   w = R'w_P + relative            al = R'al_P + k + relative
//   beta = w_P x (w_P x r)          a = R'(a_P + al_P x r + beta) + l + relative
#ifndef LWI_CODEGEN_MOTION_H
#define LWI_CODEGEN_MOTION_H

#include "codegen/algebra.h"
#include "codegen/walk.h"

/** Motion of one body. */
typedef struct lwi_body_values {
    // screws: the steps from the parent's frame, tree/normal_form/plan.h
    lwi_turn phi, alpha, theta;
    val d;
    // balls and bases
    val R[9], r[3];
    val u[6];       ///< relative velocity: screws v (signed) in u[0]; [v; w] of balls and bases
    val w[3];       ///< angular velocity, own axes
    val beta[3];    ///< screws: in the axes before the last screw; else in the parent's
    val l[3], k[3]; ///< own axes
    val A[6];       ///< acceleration of the origin, angular acceleration
} lwi_body_values;

typedef struct lwi_codegen_motion {
    lwi_codegen_graph *graph;
    const lwi_elements *elements;
    const lwi_walk *walk;
    lwi_body_values *body; ///< [n]
    const val *load; ///< [tree nv] efforts of forces between bodies and on cut joints; NULL: none
} lwi_codegen_motion;

/** Values of the bodies in the graph of a walk, which stays.  @return LW_ERR_MEMORY */
lw_status lwi_codegen_motion_create(const lwi_walk *walk, lwi_arena *arena,
                                    lwi_codegen_motion *motion);
/** Poses of all bodies in their parents. */
void lwi_codegen_motion_pose(lwi_codegen_motion *motion);
/** u, w, beta, l and k of all bodies; after the poses. */
void lwi_codegen_motion_velocity(lwi_codegen_motion *motion);

/** Cosine and sine of x + angle; a right angle exchanges the two. */
void lwi_codegen_circular(lwi_codegen_graph *g, val x, double angle, val *c, val *s);
/** b = the motion a of the parent's frame, a point's acceleration and an angular acceleration, at
 *  the origin and in the axes of body i; with `bias` the terms beta, l and k too. */
void lwi_codegen_motion_carry(const lwi_codegen_motion *motion, int i, bool bias, const val a[6],
                              val b[6]);
/** Transforms a wrench F on body i about its origin to its parent, in place. */
void lwi_codegen_wrench_to_parent(const lwi_codegen_motion *motion, int i, val F[6]);
/** F = I A of body i: [m a + al x h; h x a + J al].  Reads nothing else of the motion. */
void lwi_codegen_motion_inertia(const lwi_codegen_motion *motion, int i, const val A[6], val F[6]);
/** Bias wrench of a single body: [w x (w x h); w x J w]. */
void lwi_codegen_motion_wrench(const lwi_codegen_motion *motion, int i, val p[6]);
/** b = w x (w x a), by products of the components of w, which are shared. */
void lwi_codegen_centripetal(lwi_codegen_graph *g, val b[3], const val w[3], const val a[3]);

/** Degrees of freedom of the element's joint: 1, 3, 6; 0 of a prescribed one. */
int lwi_element_speeds(const lwi_element *element);
/** Column of the motion subspace, own axes, for the speeds of the model. */
void lwi_codegen_motion_subspace(lwi_codegen_graph *g, const lwi_element *element, int column,
                                 val S[6]);
/** The caller's tau [iv] plus the efforts of the model's springs and dampers; tau -1: those only. */
val lwi_codegen_motion_effort(const lwi_codegen_motion *motion, int tau, int iv);

#endif
