// probe.c -- columns of results at states that need not satisfy the joints.
#include "analysis/probe.h"

#include "loops/cut_state.h"
#include "simulate/simulation.h"

#include <string.h>

static lw_status create_simulation(const lw_model *model, lwi_arena *arena, lwi_probe_run *run,
                                   lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    const bool tree = model->nloop + model->ncoupling == 0; // both have the state (q, v, ...)
    strcpy(options.formulation, tree ? "aba" : "lagrange");
    options.project = LW_PROJECT_NEVER; // states need not satisfy the joints
    TRY(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &run->sim, error));
    run->x = LWI_PUSH(arena, double, lw_sim_state_size(run->sim));
    if (!run->x) return LW_ERR_MEMORY;
    lw_sim_get_state(run->sim, NULL, run->x);
    return LW_OK;
}

static lw_status create_tree(const lw_model *model, lwi_arena *arena, lwi_probe_run *run)
{
    TRY(lwi_tree_work_create(model, arena, &run->tree));
    TRY(lwi_cut_create_rows(model, arena, &run->cut));
    return lwi_snapshot_create(model, arena, &run->snapshot);
}

lw_status lwi_probe_run_create(const lw_model *model, const char *patterns, lwi_arena *arena,
                               lwi_probe_run *run, lw_error *error)
{
    *run = (lwi_probe_run){.model = model};
    TRY(lwi_result_columns_choose(model, LW_OBSERVE_REACTION, patterns, &run->columns, error));
    lw_status status = lwi_result_rows_create(model, &run->columns, arena, &run->rows);
    if (status == LW_OK)
        status = run->columns.level > LW_OBSERVE_TWIST ? create_simulation(model, arena, run, error)
                                                       : create_tree(model, arena, run);
    return status == LW_ERR_MEMORY ? lwi_fail(error, status, "no memory for columns") : status;
}

void lwi_probe_run_destroy(lwi_probe_run *run)
{
    lwi_result_columns_free(&run->columns);
    lw_sim_destroy(run->sim);
    *run = (lwi_probe_run){.model = NULL};
}

static lw_status simulate(lwi_probe_run *run, double t, const double *q, const double *v,
                          const double *states)
{
    const lw_observation *now;
    const int nz = run->model->nstate;
    if (nz) memcpy(run->x + run->sim->work->layout.nx - nz, states, (size_t)nz * sizeof *states);
    memcpy(run->x, q, (size_t)run->model->tree_nq * sizeof *q);
    memcpy(run->x + run->model->tree_nq, v, (size_t)run->model->tree_nv * sizeof *v);
    TRY(lw_sim_set_state(run->sim, t, run->x));
    TRY(lw_sim_observe(run->sim, run->columns.level, &now));
    return lwi_result_rows_fill(&run->rows, now);
}

// Coordinates of loop-closing joints are those nearest to the start's.
static lw_status place(lwi_probe_run *run, double t, const double *q, const double *v,
                       const double *states)
{
    static const lwi_auxiliary none = {.at_work = -1};
    const lw_model *model = run->model;
    const lw_observe level = run->columns.level;
    lwi_totals totals = {0};
    lw_observation now;
    memcpy(run->tree.joint_q, model->q0, (size_t)model->nq * sizeof *run->tree.joint_q);
    lwi_cut_place(&run->cut, &run->tree, t, q, v);
    run->snapshot.t = t;
    if (model->nstate) memcpy(run->snapshot.states, states, (size_t)model->nstate * sizeof *states);
    lwi_cut_state_observe(&run->cut, &none, &run->tree, t, NULL, v, NULL, level, &run->snapshot);
    lwi_observe_merged(model, level, NULL, &run->tree.loads, &run->snapshot);
    lwi_sim_fill(&now, level, &run->snapshot, &totals);
    return lwi_result_rows_fill(&run->rows, &now);
}

lw_status lwi_probe_run_at(lwi_probe_run *run, double t, const double *q, const double *v,
                           const double *states, lw_error *error)
{
    if (!states) states = run->model->state0;
    if (!run->sim) {
        const lw_status status = place(run, t, q, v, states);
        return status == LW_OK ? LW_OK
                               : lwi_fail(error, status, "a column is not finite at t = %.9g s", t);
    }
    const lw_status status = simulate(run, t, q, v, states);
    return status == LW_OK ? LW_OK : lwi_fail(error, status, "%s", lw_sim_error(run->sim)->text);
}
