// batch_evaluator.h -- rates of aba and momenta for eight states of one model in parallel lanes, by its SIMD
// kernel.
//
// Problem: xdot = f(t, x) for up to LWI_LANES independent states.  Input and output are rows: a row has one
// component in all lanes, component i of lane l is at [i * LWI_LANES + l].  Results are those of the
// formulation for a single state, bit for bit.  Lanes that are not well conditioned or not finite are not
// in the set returned; the caller evaluates them with the scalar functions.  Cost: O(n).
#ifndef LWI_TREE_BATCH_EVALUATOR_H
#define LWI_TREE_BATCH_EVALUATOR_H

#include "kinematics/tree_state.h"

typedef struct lwi_tree_batch lwi_tree_batch; ///< for use by one thread at a time

/** @param batch  out; NULL if the model has no kernel (kernel.h, lwi_kernel_create_prescribed), or if its kernel cuts chains into segments for a
 *  single state: the order of operations and the bits would differ
 *  @return LW_ERR_MEMORY */
lw_status lwi_tree_batch_create(const lw_model *model, lwi_arena *arena, lwi_tree_batch **batch);

/** Rates of the states x = (q, u, [work]) or (q, p, [work]) of the lanes in the set.
 *  @param inputs  [lane]      @return the lanes evaluated; the rates of the others are invalid */
unsigned lwi_tree_batch_aba(lwi_tree_batch *batch, const double *t, const double *x,
                            const double *const *inputs, double *xdot, unsigned set);
unsigned lwi_tree_batch_momenta(lwi_tree_batch *batch, const double *t, const double *x,
                                const double *const *inputs, double *xdot, unsigned set);
/** Accelerations vdot from rows q, v and efforts tau (may be NULL) in addition to the model's forces. */
unsigned lwi_tree_batch_accelerations(lwi_tree_batch *batch, const double *t, const double *q,
                                      const double *v, const double *tau,
                                      const double *const *inputs, double *vdot, unsigned set);

/** Transposes `count` consecutive states of n numbers to rows, and the lanes in the set back to states. */
void lwi_tree_batch_to_rows(const lwi_tree_batch *batch, const double *states, int n, int count,
                            double *rows);
void lwi_tree_batch_from_rows(const lwi_tree_batch *batch, const double *rows, int n, unsigned set,
                              double *states);

#endif
