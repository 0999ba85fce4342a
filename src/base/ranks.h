// ranks.h -- the processes of a run, and what they exchange.
//
// Problem: messages from one rank to another; what each rank has computed, to all of them.
// Cost: lwi_ranks_gather takes log2 of the number of ranks messages, rounded up, and each number once.
//
// Ranks exchange copies only: no sum is formed by them, so results do not depend on their number.
#ifndef LWI_BASE_RANKS_H
#define LWI_BASE_RANKS_H

#include "base/base.h"

#include <linkwork/ranks.h>

#include <stdbool.h>

typedef struct lwi_ranks {
    lw_ranks of;
    bool active; ///< evaluations are shared out; otherwise every rank computes all
    bool failed; ///< an exchange has failed: results are not valid
} lwi_ranks;

/** Whether the next evaluation is shared out; NULL: no. */
static inline bool lwi_ranks_share(const lwi_ranks *ranks)
{
    return ranks && ranks->active;
}

void lwi_ranks_send(lwi_ranks *ranks, int to, const void *data, size_t size);
void lwi_ranks_receive(lwi_ranks *ranks, int from, void *data, size_t size);
/** Both at once. */
void lwi_ranks_exchange(lwi_ranks *ranks, int to, const void *out, size_t out_size, int from,
                        void *in, size_t in_size);

/** Consecutive numbers of one of several arrays. */
typedef struct lwi_ranks_run {
    int array, first, n;
} lwi_ranks_run;

/** What each rank computes of some arrays. */
typedef struct lwi_ranks_gather {
    lwi_ranks_run *run; ///< by rank
    int *first;         ///< [count + 1] first run of each rank
    size_t *numbers;    ///< [count] of each rank
    double *block;      ///< those of all ranks, from this one on
} lwi_ranks_gather;

/** Adds numbers to runs, as a part of the last one where they continue it.
 *  @param from  first run of the rank  @param nrun  in, out */
void lwi_ranks_add(lwi_ranks_run *run, int from, int *nrun, int array, int first, int n);
/** Memory for runs that are made rank by rank: `of` has room for all of them.
 *  @return LW_ERR_MEMORY */
lw_status lwi_ranks_gather_create(const lwi_ranks *ranks, int room, lwi_arena *arena,
                                  lwi_ranks_gather *of);
/** After the last run.  @return LW_ERR_MEMORY */
lw_status lwi_ranks_gather_end(const lwi_ranks *ranks, lwi_arena *arena, lwi_ranks_gather *of);
/** All ranks have the numbers of each afterwards.
 *  @param array  the arrays that runs are parts of
 *  @param valid  of this rank     @return whether all ranks are valid */
bool lwi_ranks_gather_all(lwi_ranks *ranks, const lwi_ranks_gather *of, double *const *array,
                          bool valid);

#endif
