// parts.h -- a tree as products of turns and displacements: what every normal form starts from.
//
// A part is a body of one freedom along and about the z axis of its frame; joints of several
// freedoms are several parts with massless ones between, fixed joints disappear into their bodies
// (parts.c).  Frames are raw: z on the axis, otherwise as the model has it.  Bodies that float or hang on
// a ball at the ground are parts as they are, their frame that of the link.
#ifndef LWI_TREE_NORMAL_FORM_PARTS_H
#define LWI_TREE_NORMAL_FORM_PARTS_H

#include "model/model.h"

typedef struct lwi_k_frame {
    double R[9], r[3]; ///< axes -> reference, origin
} lwi_k_frame;

typedef struct lwi_k_part {
    int parent;         ///< part, -1: the ground
    lwi_k_frame in;     ///< joint frame in the parent's frame
    bool floats;        ///< the body of a free or spherical joint at the ground
    double turn, slide; ///< of q: radians, metres
    double sign;        ///< -1: the tree passes the joint backwards
    int iq, iv;         ///< coordinate and speed in tree q, v; of drive i: tree nq + i, tree nv + i
    double m, h[3], J[6]; ///< about the frame's origin, its axes
} lwi_k_part;

/** A coordinate of the tree whose motion is prescribed. */
typedef struct lwi_k_drive {
    int joint, coordinate;
} lwi_k_drive;

typedef struct lwi_k_parts {
    int n;            ///< parts; -1: some joint is neither such a product nor floats, or is mounted
    lwi_k_part *part; ///< [n]
    int *part_of;     ///< [nnode] part that carries the node, -1: the ground
    lwi_k_frame *offset; ///< [nnode] link frame of the node in that part's frame
    lwi_k_drive *drive;  ///< [ndrive] in the order of the parts
    int ndrive;
} lwi_k_parts;

/** @return LW_ERR_MEMORY */
lw_status lwi_k_parts_create(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts);

/** c = a b; may overlap. */
void lwi_k_compose(lwi_k_frame *c, const lwi_k_frame *a, const lwi_k_frame *b);

#endif
