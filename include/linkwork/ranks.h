// ranks.h -- one run by several processes.
//
// Every process creates the same model and the same simulation with the same options, and makes the same calls in the
// same order.  The evaluations of rates by `dca` and `hdca` are shared out; all else is computed by each process.
// Results are those of one process, bit for bit, in all of them.  docs/ranks.md.
#ifndef LINKWORK_RANKS_H
#define LINKWORK_RANKS_H

#include <linkwork/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The processes and how they exchange messages, by MPI or otherwise.  Of a simulation: lw_sim_desc.ranks. */
typedef struct lw_ranks {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    int rank;    ///< number of this process, 0 ... count - 1
    int count;   ///< processes, at most 65536
    void *user;
    /** Sends out_size bytes to rank `to` and receives in_size bytes from rank `from` at the same time; -1: neither sends
     *  nor receives.  Messages from one rank to another arrive in the order in which they were sent.
     *  @return 0; otherwise the run ends with LW_ERR_IO */
    int (*exchange)(void *user, int to, const void *out, size_t out_size, int from, void *in,
                    size_t in_size);
} lw_ranks;

#ifdef __cplusplus
}
#endif
#endif
