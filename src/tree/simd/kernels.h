// kernels.h -- entry points of the kernels, one table per instruction set.
//
// The texts are those of the *.inl; every table comes from the same ones, and gives the same bits.
// Vector types stay inside: entry points take pointers to blocks and return plain values.
#ifndef LWI_TREE_SIMD_KERNELS_H
#define LWI_TREE_SIMD_KERNELS_H

#include "tree/normal_form/plan.h"

typedef struct lwi_kernels {
    const char *name; ///< of the instruction set
    int width;        ///< lanes at once
    /** Accelerations of one state: joint and ball_joint in; motion.vdot, ball_pivot.vdot out, for
     *  screws before `sign`.
     *  @return false: some pivot, angle or quaternion is not beyond doubt, the result is void */
    bool (*aba)(const lwi_kernel_plan *plan, const lwi_k_state *state);
    /** Speeds and rates of momenta of one state: joint.v and ball_joint.v hold p; out are the
     * speeds in motion.vdot and ball_pivot.vdot, and momentum.pdot; for screws before `sign`. */
    bool (*momenta)(const lwi_kernel_plan *plan, const lwi_k_state *state);
    /** The accelerations of LWI_LANES instances, state of a batch.
     *  @return the lanes (bit 0: lane 0) whose result is void */
    unsigned (*aba_batch)(const lwi_kernel_plan *plan, const lwi_k_state *state);
    /** Speeds and rates of momenta, likewise. */
    unsigned (*momenta_batch)(const lwi_kernel_plan *plan, const lwi_k_state *state);
    /** LWI_LANES states of n numbers, one after the other, to n rows [LWI_LANES], and back. */
    void (*to_rows)(const double *states, int n, double *rows);
    void (*from_rows)(const double *rows, int n, double *states);
    /** Rows of tree q, tree v and efforts into the blocks of a batch; tau NULL: what stands there
     *  stays. */
    void (*rows_in)(const lwi_kernel_plan *plan, const lwi_k_state *state, const double *q,
                    const double *v, const double *tau);
    /** Accelerations or speeds, or the rates of momenta, of a batch as rows of the tree.
     *  @return the lanes in which all are finite */
    unsigned (*rows_out)(const lwi_kernel_plan *plan, const lwi_k_state *state, bool momenta,
                         double *rows);
    /** Sine and cosine of one block. */
    void (*sincos)(const lwi_lanes angle, lwi_lanes sine, lwi_lanes cosine);
} lwi_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL when this machine has none. */
const lwi_kernels *lwi_kernels_of(int width);

#endif
