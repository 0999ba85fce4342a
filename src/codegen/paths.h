// paths.h -- link frames along paths of the tree, in any axes at rest: poses, velocities, columns of the speeds.
//
// The frames are those of the model (lwi_node), not of the normal form.  Sines and cosines are those of the normal
// form, so a graph that has both computes them once.
#ifndef LWI_CODEGEN_PATHS_H
#define LWI_CODEGEN_PATHS_H

#include "codegen/motion.h"

/** A frame, in axes at rest. */
typedef struct lwi_place {
    val R[9], r[3];  ///< its axes -> those at rest; origin
    val v[3], w[3];  ///< velocity of the origin, angular velocity
    val a[3], al[3]; ///< accelerations, without those of the speeds
} lwi_place;

/** Motion of everything beyond a joint per unit of one of its speeds: angular velocity w, and at a point P the
 *  velocity l + w x (P - at). */
typedef struct lwi_column {
    val w[3], l[3], at[3];
} lwi_column;

/** The frame (R, r), at rest. */
void lwi_place_start(lwi_codegen_graph *g, lwi_place *place, const double R[9], const double r[3]);
/** The frame at the pose (R, r) in a frame.  Zeros and ones except for rounding are exact. */
void lwi_place_fixed(lwi_codegen_graph *g, lwi_place *place, const double R[9], const double r[3]);
/** Axis i of a frame. */
void lwi_place_axis(const lwi_place *place, int i, val a[3]);
/** The link frame of a node, from that of its parent.
 *  @param column  [node nv] out; NULL: not needed
 *  @param before  [node nv] out: the frame in front of the step of each speed; NULL: not needed */
void lwi_place_node(const lwi_walk *walk, const lwi_node *node, lwi_place *place,
                    lwi_column *column, lwi_place *before);
/** From joint frame F1 on its body to where the mount of the joint has moved it. */
void lwi_place_mount(const lwi_walk *walk, int joint, lwi_place *place);
/** Velocity at the point P that a unit of the speed gives. */
void lwi_column_at(lwi_codegen_graph *g, const lwi_column *column, const val P[3], val v[3]);

#endif
