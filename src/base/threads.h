// threads.h -- a few threads that do the parts of one task together.
//
// Which part a thread does is fixed: part i always runs on thread i, part 0 on the caller's.
// Nothing is stolen or reordered, so results can depend on the number of parts at most, never on
// timing.
#ifndef LWI_BASE_THREADS_H
#define LWI_BASE_THREADS_H

#include "base/base.h"

typedef struct lwi_pool lwi_pool; ///< used by one thread at a time

enum { LWI_MOST_THREADS = 256 };

/** @param count  threads, the caller's included; 1 makes none
 *  @return LW_ERR_ARGUMENT, LW_ERR_MEMORY; LW_ERR_UNSUPPORTED: the system gives no more threads */
lw_status lwi_pool_create(int count, const lw_allocator *allocator, lwi_pool **pool,
                          lw_error *error);
/** NULL is allowed. */
void lwi_pool_destroy(lwi_pool *pool);
int lwi_pool_count(const lwi_pool *pool);
/** Calls task(user, i) for i = 0 ... count-1, all at once, and returns when all have returned.
 *  Allocates nothing; with one thread it is a plain call. */
void lwi_pool_run(lwi_pool *pool, void (*task)(void *user, int part), void *user);

/** Processors this process may run on; at least 1. */
int lwi_processors(void);

#endif
