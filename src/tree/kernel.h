// kernel.h -- fast recursions for trees that have a kernel normal form, behind the arrays of the
// formulations.
//
// A kernel stands beside the generic text, never in its place: it says so when a model is not for
// it (create), and when an evaluation is not beyond doubt (pivots near zero, huge angles, numbers
// that are not finite); the generic text then decides and names the joint.
#ifndef LWI_TREE_KERNEL_H
#define LWI_TREE_KERNEL_H

#include "tree/simd/kernels.h"

typedef struct lwi_kernel {
    const lwi_kernels *kernels;
    const lwi_kernel_plan *plan;
    lwi_k_state state;
} lwi_kernel;

/** @param width   lanes at once: 0 for the widest of this machine, 1, 4, 8
 *  @param kernel  out; NULL where the model or the machine has none
 *  @return LW_ERR_MEMORY */
lw_status lwi_kernel_create(const lw_model *model, int width, lwi_arena *arena,
                            lwi_kernel **kernel);
/** The same for momenta, which are worth runs of longer chains only. */
lw_status lwi_kernel_create_momenta(const lw_model *model, int width, lwi_arena *arena,
                                    lwi_kernel **kernel);

/** The same with what stands side by side as asked for. */
lw_status lwi_kernel_create_chosen(const lw_model *model, int width, lwi_k_choice choice,
                                   lwi_arena *arena, lwi_kernel **kernel);

/** vdot [tree_nv] from q [tree_nq], v and tau [tree_nv], all efforts (NULL: none).
 *  @return false when the generic text has to decide; vdot is then void     @cost O(n) */
bool lwi_kernel_aba(const lwi_kernel *kernel, const double *q, const double *v, const double *tau,
                    double *vdot);
/** Speeds v and rates pdot of the momenta p [tree_nv], without efforts: these add to pdot.
 *  @return as above */
bool lwi_kernel_momenta(const lwi_kernel *kernel, const double *q, const double *p, double *v,
                        double *pdot);

#endif
