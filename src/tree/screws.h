// screws.h -- a tree as a sequence of elementary motions, with their screws in world axes about the world's origin.
//
// Problem: derivatives of the dynamics need joint axes that the motion of the joint leaves fixed.  A joint with
// several coordinates is the product of its factors (joint.h), so its tree is a longer one of elements: a rotation, a
// displacement, a screw; a ball or a free motion with axes fixed in F2; the motion of a mount.  With V, A of the
// element before it, an element with screws S has
//
//     V := V + nu,   A := A + alpha + V x nu,   nu = sum S v,   alpha = sum S vdot
//
// also where v and vdot are prescribed.  Input: links and their world frames (tree.h).  Output: S, V, A; the first
// A is -g.  Cost: O(n).
#ifndef LWI_TREE_SCREWS_H
#define LWI_TREE_SCREWS_H

#include "kinematics/tree_state.h"

/** One elementary motion of the joint of a node. */
typedef struct lwi_screw {
    int node, before;   ///< element before it on the way from the ground; -1: the ground
    signed char kind;   ///< of lwi_screw_kind
    signed char factor; ///< of the joint, of LWI_SCREW_FACTOR
    signed char nspeed; ///< speeds: 1, of a ball 3, of a free motion 6; of a mount 0
    bool follows; ///< its axes move with it: those of a ball or free joint that is not reversed
    int speed;    ///< index of the first in v; -1: prescribed
    double V[6], A[6];      ///< of the body side, world axes about the world's origin
    double nu[6], alpha[6]; ///< what it adds
} lwi_screw;

typedef enum lwi_screw_kind {
    LWI_SCREW_FACTOR, ///< one factor with one coordinate
    LWI_SCREW_GROUP,  ///< a ball or a free motion
    LWI_SCREW_MOUNT   ///< a prescribed motion of F1
} lwi_screw_kind;

typedef struct lwi_screws {
    lwi_screw *screw; ///< [n] each after the one before it
    int n;
    int *last; ///< [nnode] the last element of each node; of one without motion that of its parent
    int *of_speed;  ///< [tree_nv] element
    double (*S)[6]; ///< [tree_nv] screws
} lwi_screws;

/** @return LW_ERR_UNSUPPORTED for a joint with callbacks, which is named; LW_ERR_MEMORY */
lw_status lwi_screws_create(const lw_model *model, lwi_arena *arena, lwi_screws *screws,
                            lw_error *error);
/** S, V, A from the links (positions, rates) and world frames of `work` at time t. */
void lwi_screws_evaluate(const lw_model *model, lwi_screws *screws, const lwi_tree_work *work,
                         double t, const double *v, const double *vdot);

#endif
