// build.h -- what the files that bring a tree into normal form share (plan.h).
//
// In four steps:
//   expand    every joint becomes a product of turns and displacements along axes, each with a body
//             of its own (`part`), its frame raw: z on the axis, otherwise as the model has it
//                                                                                      (parts.c)
//   settle    a part's frame is turned about and shifted along its axis to suit its first child
//   place     slots, constants, the order of the recursion                             (plan.c)
//   meetings  where limbs leave their inertia to others                                (branch_points.c)
#ifndef LWI_TREE_NORMAL_FORM_BUILD_H
#define LWI_TREE_NORMAL_FORM_BUILD_H

#include "tree/normal_form/parts.h"
#include "tree/normal_form/plan.h"

typedef struct lwi_build_part {
    lwi_k_kind kind;
    int parent;     // part, -1: the ground
    lwi_k_frame in; // joint frame in the parent's raw frame
    double turn, slide, sign;
    int iq, iv;
    double m, h[3], J[6]; // in the raw frame
    double rotor;
    double phi, delta; // the settled frame in the raw one: turn and shift along z
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
/** Turn about and shift along z. */
lwi_k_frame lwi_k_screw_z(double angle, double shift);
/** Adds the inertia (m, h, J) of frame f to the sums of f's reference frame. */
void lwi_k_add_inertia(double *sum_m, double sum_h[3], double sum_J[6], const lwi_k_frame *f,
                       double m, const double h[3], const double J[6]);

/** Has every joint, drive, mount and force of the model a kernel? */
bool lwi_build_applies(const lw_model *model);
/** The parts of the model's tree; b->part [3 nnode] has room for them. */
void lwi_build_expand(lwi_build *b);

/** Once slots and constants are there: places of what meets, passages in registers, tips.
 *  @param order  [nstep] parts
 *  @return LW_ERR_MEMORY */
lw_status lwi_build_branch_points(const lwi_build *b, const int *order, lwi_arena *arena,
                                  lwi_kernel_plan *plan);

#endif
