// probe.h -- columns of results at states that need not satisfy the joints.
//
// Columns of poses and velocities need the tree alone; others need a simulation by a formulation with the coordinates and
// speeds of the tree as state.
#ifndef LWI_ANALYSIS_PROBE_H
#define LWI_ANALYSIS_PROBE_H

#include "io/result/columns.h"
#include "loops/cut.h"

#include <linkwork/simulate.h>

typedef struct lwi_probe_run {
    const lw_model *model;
    lw_sim *sim; ///< NULL: the tree is enough
    lwi_result_columns columns;
    lwi_result_rows rows;
    double *x; ///< state of the simulation
    lwi_tree_work tree;
    lwi_cut cut;
    lwi_snapshot snapshot;
} lwi_probe_run;

lw_status lwi_probe_run_create(const lw_model *model, const char *patterns, lwi_arena *arena,
                               lwi_probe_run *run, lw_error *error);
void lwi_probe_run_destroy(lwi_probe_run *run);
/** Has it been created? */
static inline bool lwi_probe_run_exists(const lwi_probe_run *run)
{
    return run->model != NULL;
}
/** run->rows.row (the first is the time) at (t, q, v).
 *  @param states  [model nstate] of signals; NULL: those of the start */
lw_status lwi_probe_run_at(lwi_probe_run *run, double t, const double *q, const double *v,
                           const double *states, lw_error *error);

#endif
