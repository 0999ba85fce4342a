// evaluate.c -- rates in lanes: a kernel where there is one, else the formulation lane by lane.
#include "batch/evaluate.h"

#include "base/assert.h"
#include "tree/batch_evaluator.h"
#include "tree/normal_form/plan.h"

#include <string.h>

struct lwi_evaluate {
    lwi_work *work, *own;      // own: the same, where it is not the simulation's
    double *x, *xdot;          // [nx] of one lane
    void *home;                // the workspace's own discrete part
    void *const *discrete;     // [lane] NULL: home
    unsigned unexplained;      // lanes with last rates that are not finite, though functions are
    lwi_tree_batch *evaluator; // NULL: none
    lwi_projection own_projection, *projection;
    lwi_snapshot own_snapshot, *snapshot; // scratch; own: where the simulation is shared
};

// ------------------------------------------------------------------------------------------ create

lw_status lwi_evaluate_create(lw_sim *sim, bool shared, int lanes, bool motion, lwi_arena *arena,
                              lwi_evaluate **evaluate, lw_error *error)
{
    lwi_evaluate *e = LWI_PUSH(arena, lwi_evaluate, 1);
    const int nx = sim->work->layout.nx;
    if (!e) return LW_ERR_MEMORY;
    *evaluate = e;
    e->work = sim->work;
    e->x = LWI_PUSH(arena, double, nx);
    e->xdot = LWI_PUSH(arena, double, nx);
    if (!e->x || !e->xdot) return LW_ERR_MEMORY;
    if (shared) {
        TRY(lwi_work_create_options(sim->model, sim->work->formulation, &arena->allocator, 0,
                                    sim->work->options, &e->own, error));
        e->work = e->own;
    }
    e->home = e->work->discrete;
    e->snapshot = shared ? &e->own_snapshot : &sim->snapshot;
    if (shared && (sim->model->desc.nfunction || motion))
        TRY(lwi_snapshot_create(sim->model, arena, &e->own_snapshot));
    e->projection = shared ? &e->own_projection : &sim->projection;
    if (shared) TRY(lwi_projection_create(e->work, &sim->options, arena, &e->own_projection));
    if (!e->work->formulation->rates_in_lanes || lanes <= 1) return LW_OK;
    return lwi_tree_batch_create(sim->model, arena, &e->evaluator);
}

void lwi_evaluate_destroy(lwi_evaluate *e)
{
    if (e) lwi_work_destroy(e->own);
}

// ------------------------------------------------------------------------------------ lane by lane

static void one_lane(lwi_evaluate *e, int stride, double t, const double *x, const double *inputs,
                     double *xdot, int l, lw_status *status, lw_error *why)
{
    LWI_ASSERT(l < stride);
    lwi_work *work = e->work;
    for (int i = 0; i < work->layout.nx; i++) e->x[i] = x[i * stride + l];
    work->error.text[0] = 0;
    if (e->discrete) work->discrete = e->discrete[l];
    *status = lwi_work_rates(work, t, e->x, inputs, e->xdot);
    if (*status == LW_ERR_NOT_FINITE && !lwi_name_functions(work, t, e->x, inputs, e->snapshot))
        e->unexplained |= 1u << l;
    work->discrete = e->home;
    if (*status != LW_OK) {
        *why = work->error;
        return;
    }
    for (int i = 0; i < work->layout.nx; i++) xdot[i * stride + l] = e->xdot[i];
}

// The lanes with rates by other code than the formulation's, where there is some.
static unsigned by_source(lwi_evaluate *e, int stride, const double *t, const double *x,
                          const double *const *inputs, double *xdot, unsigned lanes)
{
    const lwi_rates_source *s = &e->work->source;
    if (!s->rates_in_lanes) return 0;
    return s->rates_in_lanes(s->user, e->work, stride, t, x, inputs, xdot, lanes, e->discrete);
}

lwi_work *lwi_evaluate_work(lwi_evaluate *e)
{
    return e->work;
}

void lwi_evaluate_lanes(lwi_evaluate *e, int stride, const double *t, const double *x,
                        const double *const *inputs, double *xdot, unsigned lanes,
                        lw_status *status, lw_error *why)
{
    LWI_ASSERT(stride >= 1 && !(lanes >> (stride - 1) >> 1));
    e->unexplained = 0;
    lanes &= ~by_source(e, stride, t, x, inputs, xdot, lanes);
    // the kernel writes all lanes, also those that are done
    if (e->evaluator && stride == LWI_LANES && !e->work->source.rates_in_lanes)
        lanes &= ~e->work->formulation->rates_in_lanes(e->evaluator, t, x, inputs, xdot, lanes);
    // if the kernel rejects an evaluation, the formulation is used, as in a single run
    for (int l = 0; lanes >> l; l++)
        if (lanes >> l & 1u) one_lane(e, stride, t[l], x, inputs[l], xdot, l, &status[l], &why[l]);
}

unsigned lwi_evaluate_unexplained(const lwi_evaluate *e)
{
    return e->unexplained;
}

lw_status lwi_evaluate_motion(lwi_evaluate *e, int stride, double t, const double *x, int l,
                              const double *inputs, const lwi_snapshot **motion, lw_error *why)
{
    LWI_ASSERT_INDEX(l, stride);
    lwi_work *work = e->work;
    for (int i = 0; i < work->layout.nx; i++) e->x[i] = x[i * stride + l];
    work->error.text[0] = 0;
    if (e->discrete) work->discrete = e->discrete[l];
    const lw_status status =
        work->formulation->observe(work, t, e->x, inputs, LW_OBSERVE_TWIST, e->snapshot);
    work->discrete = e->home;
    if (status != LW_OK) *why = work->error;
    if (status == LW_OK)
        lwi_observe_merged(work->model, LW_OBSERVE_TWIST, inputs, NULL, e->snapshot);
    *motion = e->snapshot;
    return status;
}

void lwi_evaluate_hold(lwi_evaluate *e, void *const *discrete)
{
    e->discrete = e->work->ndiscrete ? discrete : NULL;
}

// As before a step of a single run.
static lw_status pre_step(lwi_evaluate *e, double t, const double *inputs, bool *changed)
{
    lwi_work *work = e->work;
    bool changed_too = false;
    if (e->projection->active)
        TRY(lwi_projection_apply(e->projection, work, e->projection->limit, t, e->x, inputs,
                                 changed));
    TRY(lwi_work_pre_step(work, t, e->x, &changed_too));
    const bool limited = lwi_states_limit(work, e->x);
    *changed = *changed || changed_too || limited;
    return LW_OK;
}

lw_status lwi_evaluate_pre_step(lwi_evaluate *e, int stride, double t, double *x, int l,
                                const double *inputs, lwi_pre_stepped *result, lw_error *why)
{
    LWI_ASSERT_INDEX(l, stride);
    lwi_work *work = e->work;
    *result = (lwi_pre_stepped){0};
    if (!work->formulation->pre_step && !e->projection->active && !work->model->limited)
        return LW_OK;
    const long before = e->projection->count;
    for (int i = 0; i < work->layout.nx; i++) e->x[i] = x[i * stride + l];
    work->error.text[0] = 0;
    if (e->discrete) work->discrete = e->discrete[l];
    const lw_status status = pre_step(e, t, inputs, &result->changed);
    work->discrete = e->home;
    if (status != LW_OK) *why = work->error;
    for (int i = 0; result->changed && i < work->layout.nx; i++) x[i * stride + l] = e->x[i];
    result->projected = e->projection->count > before;
    return status;
}
