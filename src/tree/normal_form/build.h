// build.h -- shared declarations of the files that bring a tree into normal form (plan.h).
//
// Problem: from the joints of a model to the constants and the order of the kernels.
// Input: lw_model.  Output: lwi_kernel_plan.  Four steps, memory O(n):
//   expand         every joint becomes a product of rotations about and displacements along axes, with
//                  one body (`part`) for each factor, in raw frames: z on the axis, otherwise as in
//                  the model                                                          (parts.c)
//   align          a part's frame is rotated about and shifted along its axis until x is the common
//                  normal of this axis and that of its first child                     (plan.c)
//   place          slots, constants, the order of the recursion                        (plan.c)
//   branch points  places at which branches add up their articulated inertias (branch_points.c)
#ifndef LWI_TREE_NORMAL_FORM_BUILD_H
#define LWI_TREE_NORMAL_FORM_BUILD_H

#include "tree/normal_form/parts.h"
#include "tree/normal_form/plan.h"

typedef struct lwi_build_part {
    lwi_k_kind kind;
    int parent;     // part, -1: the ground
    lwi_k_frame in; // joint frame in the parent's raw frame
    double turn, slide, sign;
    bool driven;          // its motion is prescribed
    int iq, iv;           // of drive i: tree nq + i, tree nv + i
    double m, h[3], J[6]; // in the raw frame
    double rotor;
    double phi, delta; // the aligned frame in the raw one: rotation about z and shift along z
    int slot;
    int children;
} lwi_build_part;

typedef struct lwi_build {
    const lw_model *model;
    lwi_build_part *part;
    int npart;
    int *part_of;        // [nnode] part that carries the node, -1: the ground
    lwi_k_frame *offset; // [nnode] link frame of the node in the raw frame of that part
    lwi_k_drive *drive;  // [ndrive] NULL: nothing is prescribed
    int ndrive;
    lwi_k_choice choice;
} lwi_build;

static inline int lwi_blocks_of(int count)
{
    return (count + LWI_LANES - 1) / LWI_LANES;
}

void lwi_k_invert(lwi_k_frame *inverse, const lwi_k_frame *a);
/** Rotation about z by `angle` and shift along z. */
lwi_k_frame lwi_k_screw_z(double angle, double shift);
/** Adds the inertia (m, h, J) of frame f to the sums of f's reference frame. */
void lwi_k_add_inertia(double *sum_m, double sum_h[3], double sum_J[6], const lwi_k_frame *f,
                       double m, const double h[3], const double J[6]);

/** True if every joint, drive, mount and force of the model has a kernel.
 *  @param prescribed  the caller evaluates drives, mounts and forces on bodies (lwi_k_choice) */
bool lwi_build_applies(const lw_model *model, bool prescribed);
/** Fills b->part, which has room for 3 nnode parts, from the model's tree. */
void lwi_build_expand(lwi_build *b);

/** Sets the places of branch points, the passages in registers and the tips.  Precondition: slots and
 *  constants are set.
 *  @param order  [nstep] parts
 *  @return LW_ERR_MEMORY */
lw_status lwi_build_branch_points(const lwi_build *b, const int *order, lwi_arena *arena,
                                  lwi_kernel_plan *plan);

#endif
