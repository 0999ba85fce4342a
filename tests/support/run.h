// run.h -- a formulation evaluated at a state of a mechanism.
#ifndef LWT_RUN_H
#define LWT_RUN_H

#include "support/mechanism.h"

typedef struct lwt_run {
    const lw_model *model;
    lwi_work *work;
    lwi_arena arena;
    double *x, t;
    lwi_snapshot now; ///< filled by lwt_run_observe
} lwt_run;

/** The run at a snapshot; NULL: at the initial state of the model. The run owns `work` and destroys
 *  it. */
static inline lwt_run lwt_run_work(lwi_work *work, const lwi_snapshot *snapshot)
{
    lwt_run r = {.model = work->model, .work = work};
    lwi_snapshot start;
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_vector(work->layout.nx);
    if (!snapshot) {
        assert_int_equal(lwi_snapshot_create(r.model, &r.arena, &start), LW_OK);
        lwi_snapshot_start(r.model, &start);
        snapshot = &start;
    }
    r.t = snapshot->t;
    lwt_ok(work->formulation->enter(work, snapshot, r.x), &work->error);
    return r;
}

/** The same with options, which may be NULL. */
static inline lwt_run lwt_run_options(const lw_model *model, const lwi_formulation *formulation,
                                      const lw_options *options, const lwi_snapshot *snapshot)
{
    lwi_work *work;
    lw_error error;
    lwt_ok(lwi_work_create_options(model, formulation, NULL, 0, options, &work, &error), &error);
    return lwt_run_work(work, snapshot);
}

static inline lwt_run lwt_run_from(const lw_model *model, const lwi_formulation *formulation,
                                   const lwi_snapshot *snapshot)
{
    return lwt_run_work(lwt_work(model, formulation), snapshot);
}

static inline lwt_run lwt_run_start(const lw_model *model, const lwi_formulation *formulation)
{
    return lwt_run_work(lwt_work(model, formulation), NULL);
}

static inline void lwt_run_observe(lwt_run *r)
{
    lwt_observe(r->work, r->t, r->x, NULL, &r->arena, &r->now);
}

static inline void lwt_run_end(lwt_run *r)
{
    free(r->x);
    lwi_work_destroy(r->work);
    lwi_arena_free(&r->arena);
}

#endif
