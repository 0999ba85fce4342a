// hinges.h -- kernels of the articulated-body recursion at hinges, one table per ISA build; same bits as aba.c.
#ifndef LWI_TREE_SIMD_HINGES_H
#define LWI_TREE_SIMD_HINGES_H

#include "tree/articulated.h"

/** What aba.c works on. */
typedef struct lwi_aba_sweep {
    const lw_model *model;
    lwi_tree_work *work;
    lwi_articulated *node;                   ///< [nnode]
    const struct lwi_hinge_kernels *kernels; ///< NULL: none
    double t;
    const double *v, *tau; ///< [tree_nv]; tau NULL: zeros
    double *vdot;          ///< [tree_nv]
    bool alone;            ///< one thread, which says why it fails
    lw_status status;
    lw_error *error;
} lwi_aba_sweep;

/** lwi_aba with the kernels that are given. */
lw_status lwi_aba_sweeps(lwi_aba_sweep *of);

/** Builds of one lane have none. */
typedef struct lwi_hinge_kernels {
    /** M, p and c of nodes k, k + 1, ... below `end` before the sweeps, up to the first that is no hinge or is driven.
     *  @return that node or `end` */
    int (*start)(const lwi_aba_sweep *of, int k, int end);
    /** Factors, and what is given to the parents, of nodes k, k - 1, ... down to `first`, which does not give, up to
     *  the first that is no hinge, is driven or has a pivot that may be round-off.
     *  @return that node or first - 1 */
    int (*inward)(const lwi_aba_sweep *of, int k, int first);
    /** vdot and A of nodes k, k + 1, ... as `start`. */
    int (*outward)(const lwi_aba_sweep *of, int k, int end);
} lwi_hinge_kernels;

/** Those of a width: 4, 8, or 0 for the widest; NULL if there are none. */
const lwi_hinge_kernels *lwi_hinge_kernels_of(int width);

#endif
