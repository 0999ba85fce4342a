// batch_evaluator.h -- rates of aba and momenta for eight states of one model side by side, by its kernel.
//
// A row is one component in all lanes: component i of lane l stands at [i * LWI_LANES + l]. Results
// are those of the formulation alone, bit for bit.  Lanes about which the kernel is in doubt, or
// whose numbers are not finite, are left to the generic text.
#ifndef LWI_TREE_BATCH_EVALUATOR_H
#define LWI_TREE_BATCH_EVALUATOR_H

#include "kinematics/tree_state.h"

typedef struct lwi_tree_batch lwi_tree_batch; ///< one thread

/** @param momenta  for lwi_tree_batch_momenta; else for the other two
 *  @param eight  out; NULL where the model has no kernel, or one whose single states go in runs of
 * a chain: another order of operations, other bits
 *  @return LW_ERR_MEMORY */
lw_status lwi_tree_batch_create(const lw_model *model, bool momenta, lwi_arena *arena,
                                lwi_tree_batch **eight);

/** Rates of the states x = (q, u, [work]) or (q, p, [work]) of the lanes in the set.
 *  @param inputs  [lane]      @return the lanes that are done; rates of the others are void */
unsigned lwi_tree_batch_aba(lwi_tree_batch *eight, const double *t, const double *x,
                            const double *const *inputs, double *xdot, unsigned set);
unsigned lwi_tree_batch_momenta(lwi_tree_batch *eight, const double *t, const double *x,
                                const double *const *inputs, double *xdot, unsigned set);
/** Accelerations vdot from rows q, v and efforts tau (may be NULL) beside the model's own. */
unsigned lwi_tree_batch_accelerations(lwi_tree_batch *eight, const double *t, const double *q,
                                      const double *v, const double *tau,
                                      const double *const *inputs, double *vdot, unsigned set);

/** `count` states of n numbers, one after the other, to rows; rows of the lanes in the set back. */
void lwi_tree_batch_to_rows(const lwi_tree_batch *eight, const double *states, int n, int count,
                            double *rows);
void lwi_tree_batch_from_rows(const lwi_tree_batch *eight, const double *rows, int n, unsigned set,
                              double *states);

#endif
