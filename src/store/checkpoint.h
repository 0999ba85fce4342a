// checkpoint.h -- inside of a checkpoint.
#ifndef LWI_STORE_CHECKPOINT_H
#define LWI_STORE_CHECKPOINT_H

#include "base/base.h"

#include <linkwork/checkpoint.h>

/** Lists of numbers. */
#define LWI_CHECKPOINT_LIST(X)                                                                     \
    X(state) /* of the simulation, with what its step depends on besides */                        \
    X(inputs)                                                                                      \
    X(run)      /* times and rows */                                                               \
    X(cost)     /* steps, evaluations, ... */                                                      \
    X(audit)    /* energies, residuals */                                                          \
    X(events)   /* how often each has happened */                                                  \
    X(measures) /* statistics of each */

#define X(name) LWI_CHECKPOINT_##name,
enum { LWI_CHECKPOINT_LIST(X) LWI_CHECKPOINT_LISTS };
#undef X

struct lw_checkpoint {
    lwi_arena arena;
    const char *version, *model; ///< the second as a native file
    lw_options options;
    int nfile;
    const char **file; ///< [nfile]
    lw_observe level;
    double every;
    long every_steps;
    bool taken;
    int n[LWI_CHECKPOINT_LISTS];
    double *list[LWI_CHECKPOINT_LISTS];
};

/** Places in the list `run`. */
enum {
    LWI_RUN_TIME,
    LWI_RUN_START, ///< of the simulation
    LWI_RUN_T0,
    LWI_RUN_END,
    LWI_RUN_FIRST,
    LWI_RUN_ROWS,
    LWI_RUN_K,
    LWI_RUN_WRITTEN, ///< rows of the results
    LWI_RUN_VALID_UNTIL,
    LWI_RUN_NUMBERS
};
/** Places in the list `cost`. */
enum { LWI_COST_STEPS, LWI_COST_NUMBERS = 10 };
enum { LWI_AUDIT_NUMBERS = 36, LWI_RUNNING_NUMBERS = 10 };

// ---- checkpoint_file.c

/** The checkpoint as JSON, in the arena.   @return LW_ERR_MEMORY */
lw_status lwi_checkpoint_text(const lw_checkpoint *checkpoint, lwi_arena *arena, char **text,
                              size_t *size);
/** Fills a checkpoint with an arena that is ready. */
lw_status lwi_checkpoint_parse(lw_checkpoint *checkpoint, const char *text, size_t size,
                               const char *path, lw_error *error);

#endif
