// threads.h -- a pool of threads that compute the parts of one task.
//
// The assignment of parts is fixed: part i always runs on thread i, part 0 on the caller's.
// Nothing is stolen or reordered, so results can depend on the number of parts, but not on timing.
#ifndef LWI_BASE_THREADS_H
#define LWI_BASE_THREADS_H

#include "base/base.h"

#ifdef __cplusplus // bench/ops counts operations of one thread: the same layout is enough
#define LWI_ATOMIC volatile
#else
#include <stdatomic.h>
#define LWI_ATOMIC _Atomic
#endif

typedef struct lwi_pool lwi_pool; ///< used by one thread at a time

enum { LWI_MAX_THREADS = 256 };

/** @param count  threads, including the caller's; 1: no further ones
 *  @return LW_ERR_ARGUMENT; LW_ERR_MEMORY: no memory, or the system gives no more threads */
lw_status lwi_pool_create(int count, const lw_allocator *allocator, lwi_pool **pool,
                          lw_error *error);
/** NULL is allowed. */
void lwi_pool_destroy(lwi_pool *pool);
int lwi_pool_count(const lwi_pool *pool);
/** Calls task(user, i) for i = 0 ... count-1, all at once, and returns when all have returned.
 *  Allocates nothing; with one thread it is a plain call. */
void lwi_pool_run(lwi_pool *pool, void (*task)(void *user, int part), void *user);

/** Calls range(user, first, end) for consecutive ranges of equal length that make up 0 .. count-1, one on each thread, in
 *  the floating-point mode of the caller (base/flush.h).  NULL: one range, on the caller's thread.  A result that does
 *  not depend on the ranges does not depend on the number of threads. */
void lwi_pool_for(lwi_pool *pool, int count, void (*range)(void *user, int first, int end),
                  void *user);

/** A point that all parts of a task must reach before any of them continues; zero at first. */
typedef struct lwi_barrier {
    LWI_ATOMIC int arrived;
    LWI_ATOMIC unsigned round;
    int polls; ///< before the processor is yielded; 0: at once
} lwi_barrier;
/** For parts of a task of the pool: where it has more threads than there are processors, waiting ones yield at once. */
void lwi_barrier_init(const lwi_pool *pool, lwi_barrier *barrier);
void lwi_barrier_wait(lwi_barrier *barrier, int parts);

/** Threads that compute one thing together: each calls the same function with its own part. */
typedef struct lwi_team {
    int part, parts;
    lwi_barrier *barrier; ///< NULL: one thread
} lwi_team;

#define LWI_ALONE ((lwi_team){.part = 0, .parts = 1})

/** What the others have written before is seen after. */
static inline void lwi_team_meet(const lwi_team *team)
{
    if (team->parts > 1) lwi_barrier_wait(team->barrier, team->parts);
}

/** Number of times that lwi_pool_run has woken the other threads. */
unsigned long lwi_pool_rounds(const lwi_pool *pool);

/** Processors this process may run on; at least 1. */
int lwi_processors(void);

#endif
