// kernels.h -- entry points of the kernels, one table per instruction set.
//
// All ISA builds compile the same sources (*.inl) and give the same bits.  Vector types stay inside:
// entry points take pointers to blocks and return scalars.
#ifndef LWI_TREE_SIMD_KERNELS_H
#define LWI_TREE_SIMD_KERNELS_H

#include "tree/normal_form/columns.h"

typedef bool lwi_k_phase(const lwi_kernel_plan *plan, const lwi_k_state *state, int section);

typedef struct lwi_kernels {
    const char *name; ///< of the instruction set
    int width;        ///< lanes of a register
    /** Accelerations of one state, in three phases, each for one section (plan.h): velocities, the trunk before the
     *  subtrees; inertias, the trunk after them; accelerations, the trunk before them.
     *  Input: joint, ball_joint.  Output: motion.vdot of screws (before `sign` is applied), ball_pivot.vdot.
     *  @return false: a pivot, angle or quaternion is not well conditioned; the result is invalid */
    lwi_k_phase *velocities, *inertias, *accelerations;
    /** Speeds and momentum rates of one state: inertias and momenta, the trunk after the subtrees; speeds and rates, the
     *  trunk before them.  Input: joint, ball_joint, with p in v.  Output: the speeds in motion.vdot and
     *  ball_pivot.vdot, and momentum.pdot; of screws before `sign` is applied. */
    lwi_k_phase *momenta, *momenta_rates;
    /** Efforts of one state from its accelerations.  Input: joint, ball_joint, with vdot in tau.  Output: motion.vdot of
     *  screws (before `sign` is applied), ball_pivot.vdot.
     *  @return false: an angle or quaternion is not well conditioned; the result is invalid */
    bool (*rnea)(const lwi_kernel_plan *plan, const lwi_k_state *state);
    /** Mass matrix M [count][count] of the columns, rotors included.  Input: joint, ball_joint.
     *  @return the same */
    bool (*crba)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                 const lwi_k_columns *columns, double *M);
    /** Accelerations of LWI_LANES instances.  state: of a batch.
     *  @return the lanes (bit 0: lane 0) with an invalid result */
    unsigned (*aba_batch)(const lwi_kernel_plan *plan, const lwi_k_state *state);
    /** Speeds and momentum rates of LWI_LANES instances; returns the same. */
    unsigned (*momenta_batch)(const lwi_kernel_plan *plan, const lwi_k_state *state);
    /** Transposes states [LWI_LANES][n] to rows [n][LWI_LANES], and back. */
    void (*to_rows)(const double *states, int n, double *rows);
    void (*from_rows)(const double *rows, int n, double *states);
    /** Copies rows of tree q, tree v and efforts to the blocks of a batch.  tau NULL: the efforts in
     *  the blocks remain. */
    void (*rows_in)(const lwi_kernel_plan *plan, const lwi_k_state *state, const double *q,
                    const double *v, const double *tau);
    /** Copies the results of a batch to rows of the tree: accelerations or speeds, or with `momenta`
     *  the momentum rates.
     *  @return the lanes in which all are finite */
    unsigned (*rows_out)(const lwi_kernel_plan *plan, const lwi_k_state *state, bool momenta,
                         double *rows);
    /** Copies numbers of a straight branch in segments, one for each body, to an entry of its blocks, which are `stride`
     *  doubles apart, and back.  rows: the entry in the first block of the state.  from NULL: zeros.
     *  @return 0; no number if one of them is not finite */
    void (*segments_in)(const lwi_k_stage *stage, const double *from, double *rows, size_t stride);
    double (*segments_out)(const lwi_k_stage *stage, const double *rows, size_t stride,
                           double *out);
    /** Sine and cosine of a block of angles [rad]. */
    void (*sincos)(const lwi_lanes angle, lwi_lanes sine, lwi_lanes cosine);
} lwi_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL if the processor does not support it. */
const lwi_kernels *lwi_kernels_of(int width);

#endif
