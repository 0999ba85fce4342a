// shares.h -- the forces of a model, shared by the threads of a pool.
//
// Each thread owns bodies, which are consecutive in the spanning tree.  It applies every force on these,
// in the order of the model, and drops what such a force does to bodies of other threads.  So each sum over
// forces has the terms and the order that it has on one thread, and the bits do not depend on the number of threads.
// A force between bodies of two threads is computed twice.
#ifndef LWI_MODEL_FORCES_SHARES_H
#define LWI_MODEL_FORCES_SHARES_H

#include "base/threads.h"
#include "model/model.h"

typedef struct lwi_force_shares {
    const lw_model *model;
    lwi_pool *pool;
    int parts; ///< threads of the pool
    int *part; ///< [nbody] which thread owns the body; -1: ground, and bodies merged with it
    int *first_body, *body;   ///< [parts + 1]; bodies of each thread in ascending order
    int *first_force, *force; ///< [parts + 1]; forces on these, or on a joint, in ascending order
    bool *counts;             ///< [forces of all threads] this one counts the force's power
    int *first_joint, *joint; ///< [parts + 1]; joints at bodies of each thread, in ascending order
    double *power;            ///< [nforce] of the last call
} lwi_force_shares;

/** @param out  NULL if threads do not pay: less than 512 forces, many between bodies of different threads, or
 *              forces of which the bodies are not known
 *  @return LW_ERR_MEMORY */
lw_status lwi_force_shares_create(const lw_model *model, lwi_pool *pool, lwi_arena *arena,
                                  lwi_force_shares **out);
/** lwi_forces_apply, then lwi_loads_to_carriers; the loads on the ground are zero. */
void lwi_force_shares_apply(const lwi_force_shares *shares, const lwi_kin *kin, double t,
                            const double *inputs, lwi_loads *loads);
/** Calls task(user, part) for each thread, at once, in the floating-point mode of the caller. */
void lwi_force_shares_run(const lwi_force_shares *shares, void (*task)(void *user, int part),
                          void *user);

#endif
