// restore_states.h -- states of signals in a row of a result.
#ifndef LWI_IO_RESULT_RESTORE_STATES_H
#define LWI_IO_RESULT_RESTORE_STATES_H

#include "io/result/result.h"
#include "model/model.h"

typedef struct lwi_restored_states {
    int missing;     ///< states that the result does not have
    char names[200]; ///< of the first of them
} lwi_restored_states;

/** The states of signals of a model in a row of a result, which may be of another model or formulation; those that it does
 *  not have are those of the start.
 *  @param states  out [model nstate], in the arena; unchanged for a model without states
 *  @return LW_ERR_IO, LW_ERR_MEMORY */
lw_status lwi_result_restore_states(lw_result *result, long row, const lw_model *model,
                                    lwi_arena *arena, double **states, lwi_restored_states *report,
                                    lw_error *error);
/** "; states of signals that begin as at a start: ...", or "". */
void lwi_result_states_text(const lwi_restored_states *report, char *text, size_t size);

#endif
