// schedule.h -- which thread computes which groups and joins of a path.
//
// Problem: passes over the groups of a path, and over the binary tree of their joins, by the threads of a pool or by
// ranks.  A thread has consecutive groups and the joins of these; the joins above them are shared out level by level.
// A rank has the same groups, and those joins above them of which the first group is its own: the other end is sent to
// it, and its part of the result back.  A pass up, or down, takes as many messages one after the other as there are
// levels, the logarithm of the number of ranks.
// Every item has the same operations on any thread or rank: bits of results do not depend on their number.
#ifndef LWI_METHODS_DCA_SEGMENTS_SCHEDULE_H
#define LWI_METHODS_DCA_SEGMENTS_SCHEDULE_H

#include "base/ranks.h"
#include "base/threads.h"

/** A compound of groups a and, beyond it, b; 0 .. groups - 1 are groups, `to` and further numbers compounds. */
typedef struct lwi_path_join {
    int a, b, to;
} lwi_path_join;

typedef struct lwi_path_schedule {
    lwi_pool *pool; ///< NULL: one thread
    int threads;    ///< that have groups; those of the pool beyond have none
    int groups;
    lwi_path_join *
        join; ///< [groups - 1] each thread's own, parts before compounds; then those above, by levels
    int *own;   ///< [threads + 1] first join of each thread
    int *level; ///< [nlevel + 1] first join of each level above
    int nlevel;
    long *done;        ///< [threads] groups computed by each thread since creation
    lwi_ranks *ranks;  ///< that `threads` are then; NULL: threads
    int *left, *right; ///< [groups - 1] of ranks: with the first group of a and of b of each join
} lwi_path_schedule;

/** One pass: `down` from the compounds to their parts, `group`, `up` from the parts to the compounds; NULL: nothing.
 *  `group` returns false if its results are not valid. */
typedef struct lwi_path_work {
    void (*down)(void *path, const lwi_path_join *join);
    bool (*group)(void *path, int group);
    void (*up)(void *path, const lwi_path_join *join);
    /** Numbers of an end that pass from one rank to another. */
    double *(*numbers)(void *path, int end, bool up, size_t *count);
} lwi_path_work;

/** Number of threads of so many that groups and bodies are worth. */
int lwi_path_share(int threads, int groups, int bodies);
/** @param bodies  of the path: short ones are not shared out     @return LW_ERR_MEMORY */
lw_status lwi_path_schedule_create(int groups, int bodies, lwi_pool *pool, lwi_arena *arena,
                                   lwi_path_schedule *schedule);
/** Ranks share the passes from now on; without threads.  @return LW_ERR_MEMORY */
lw_status lwi_path_schedule_ranks(lwi_path_schedule *schedule, int bodies, lwi_ranks *ranks,
                                  lwi_arena *arena);
/** First group of a thread or rank; `threads` and more: the number of groups. */
static inline int lwi_path_first_group(const lwi_path_schedule *s, int thread)
{
    return thread < s->threads ? (int)((long)s->groups * thread / s->threads) : s->groups;
}
/** Returns whether all groups were valid; of ranks, those of this one. */
bool lwi_path_run(lwi_path_schedule *schedule, const lwi_path_work *work, void *path);
/** The compound of all groups. */
static inline int lwi_path_whole(const lwi_path_schedule *schedule)
{
    return 2 * schedule->groups - 2;
}

#endif
