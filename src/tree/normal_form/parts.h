// parts.h -- a tree as products of rotations and displacements: the first step of every normal form.
//
// Problem: replace joints with several degrees of freedom by joints with one.
// Input: lw_model.  Output: parts, parents first.  Cost: O(n).
//
// A part is a body with one degree of freedom along and about the z axis of its frame.  A joint with
// several degrees of freedom becomes several parts, all but the last massless.  Bodies on fixed joints
// are merged with their parents (parts.c).  Frames are raw: z on the axis, otherwise as in the model.
// A body on a free or spherical joint at the ground is one part, in its link frame.
#ifndef LWI_TREE_NORMAL_FORM_PARTS_H
#define LWI_TREE_NORMAL_FORM_PARTS_H

#include "model/model.h"

typedef struct lwi_k_frame {
    double R[9], r[3]; ///< axes to reference axes; origin in reference axes
} lwi_k_frame;

typedef struct lwi_k_part {
    int parent;     ///< part, -1: the ground
    lwi_k_frame in; ///< joint frame in the parent's frame
    bool floats;    ///< a body on a free or spherical joint at the ground
    bool
        ball; ///< of lwi_k_parts_create_any: a body on a spherical joint to another one, in its link frame
    int axis_of_ball; ///< of lwi_k_parts_create_balls: 1, 2, 3: rotates about this axis of a body on a ball,
                      ///< -1, -2, -3: of its parent, backwards; 0: none
    double turn, slide; ///< rotation [rad] and displacement [m] per unit of q
    double sign;        ///< -1: the tree passes the joint backwards
    int iq, iv;         ///< coordinate and speed in tree q, v; of drive i: tree nq + i, tree nv + i
    double m, h[3], J[6]; ///< about the frame's origin, in its axes
} lwi_k_part;

/** A coordinate of the tree with prescribed motion: of a joint, or of its mount. */
typedef struct lwi_k_drive {
    int joint, coordinate; ///< coordinate of the joint; LWI_K_MOUNT_TURN; LWI_K_MOUNT_SHIFT + i
} lwi_k_drive;

enum { LWI_K_MOUNT_TURN = -4, LWI_K_MOUNT_SHIFT = -3 };

/** Its function of time. */
lw_signal lwi_k_drive_motion(const lw_model *model, lwi_k_drive drive);

typedef struct lwi_k_parts {
    int n; ///< parts; -1: some joint is neither a product nor free at the ground, or has a mount
    lwi_k_part *part;    ///< [n]
    int *part_of;        ///< [nnode] part that carries the node, -1: the ground
    lwi_k_frame *offset; ///< [nnode] link frame of the node in that part's frame
    lwi_k_drive *drive;  ///< [ndrive] in the order of the parts
    int ndrive;
} lwi_k_parts;

/** Creates the parts of the model's tree, or n = -1.  @return LW_ERR_MEMORY */
lw_status lwi_k_parts_create(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts);

/** The same with a part that `floats` for every joint that is no product. */
lw_status lwi_k_parts_create_any(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts);

/** As lwi_k_parts_create, and spherical joints between bodies become three parts, all but the last massless.  Their speeds
 *  are about the axes of the joint's body 2, and iq is that of the quaternion. */
lw_status lwi_k_parts_create_balls(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts);

/** A frame at the origin with z along a unit vector. */
void lwi_k_frame_about(lwi_k_frame *frame, const double axis[3]);
/** c = a b; c may be a or b. */
void lwi_k_compose(lwi_k_frame *c, const lwi_k_frame *a, const lwi_k_frame *b);

#endif
