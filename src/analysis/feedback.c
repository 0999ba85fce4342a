// feedback.c -- inputs of a callback about a state: u = u0 + K dx.
#include "analysis/feedback.h"

#include "loops/cut_state.h"
#include "simulate/simulation.h"

#include <string.h>

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for a callback of inputs");
}

static lw_status allocate(lwi_analysis_feedback *k, lwi_arena *arena)
{
    const lw_model *model = k->state->manifold.model;
    TRY(lwi_input_slopes_create(model, arena, &k->slopes));
    TRY(lwi_snapshot_create(model, arena, &k->near));
    TRY(lwi_tree_work_create(model, arena, &k->tree));
    TRY(lwi_cut_create_rows(model, arena, &k->cut));
    k->inputs = LWI_PUSH(arena, double, model->desc.ninput);
    k->y = LWI_PUSH(arena, double, k->linear->f);
    k->z = LWI_PUSH(arena, double, k->linear->f);
    return k->inputs && k->y && k->z ? LW_OK : LW_ERR_MEMORY;
}

// The motion of the tree at (q, v), with the states c of signals.
static void place(lwi_analysis_feedback *k, const double *q, const double *v, const double *c,
                  lwi_snapshot *to)
{
    static const lwi_auxiliary none = {.at_work = -1};
    const lw_model *model = k->state->manifold.model;
    const double t = k->state->manifold.t;
    memcpy(k->tree.joint_q, model->q0, (size_t)model->nq * sizeof *k->tree.joint_q);
    lwi_cut_place(&k->cut, &k->tree, t, q, v);
    to->t = t;
    lwi_cut_state_observe(&k->cut, &none, &k->tree, t, NULL, v, NULL, LW_OBSERVE_TWIST, to);
    lwi_observe_merged(model, LW_OBSERVE_TWIST, NULL, &k->tree.loads, to);
    if (model->nstate) memcpy(to->states, c, (size_t)model->nstate * sizeof *c);
}

// The values of the callback at a motion.
static lw_status call(const lwi_analysis_feedback *k, const lwi_snapshot *motion, double *value,
                      lw_error *error)
{
    const lw_model *model = k->state->manifold.model;
    const lw_observation seen = lwi_callback_observation(motion);
    for (int i = 0; i < model->desc.ninput; i++) value[i] = k->given ? k->given[i] : 0;
    const lw_status status = k->function(k->user, &seen, value);
    if (status != LW_OK) return lwi_callback_fail(status, motion->t, error);
    return lwi_callback_check(model, value, motion->t, error);
}

// The inputs at a neighbour of the state.
static lw_status inputs_at(void *user, lwi_analysis_vary what, int which, double by, double *out,
                           lw_error *error)
{
    lwi_analysis_feedback *const k = user;
    lwi_analysis_state *const s = k->state;
    lwi_manifold *const m = &s->manifold;
    const size_t f = (size_t)k->linear->f, nstate = (size_t)m->model->nstate;
    memset(k->y, 0, f * sizeof *k->y);
    memcpy(k->z, s->z, f * sizeof *k->z);
    if (what == LWI_VARY_POSITION) k->y[which] = by;
    if (what == LWI_VARY_SPEED) k->z[which] += by;
    TRY(lwi_analysis_neighbour(s, k->y, k->z, error));
    place(k, s->near_q, s->near_v, k->linear->c, &k->near);
    if (what == LWI_VARY_SIGNAL && nstate) k->near.states[k->linear->signal[which]] += by;
    if (!k->jacobian) return call(k, &k->near, out, error);
    lwi_input_slopes_predict(&k->slopes, &k->near, out);
    return LW_OK;
}

lw_status lwi_analysis_feedback_create(lw_linear *linear, const lw_linear_desc *desc,
                                       lwi_analysis_state *state, lwi_arena *arena,
                                       lwi_analysis_feedback *k, lw_error *error)
{
    *k = (lwi_analysis_feedback){.linear = linear,
                                 .state = state,
                                 .function = desc->callback,
                                 .jacobian = desc->jacobian,
                                 .user = desc->callback_user,
                                 .given = desc->inputs};
    if (allocate(k, arena) != LW_OK) return no_memory(error);
    lwi_input_slopes *s = &k->slopes;
    place(k, state->q, state->v, linear->c, &s->motion);
    TRY(call(k, &s->motion, s->inputs, error));
    memcpy(k->inputs, s->inputs, (size_t)linear->ninput * sizeof *k->inputs);
    if (!k->jacobian) return LW_OK;
    TRY(lwi_callback_slopes(k->jacobian, k->user, s, error));
    return lwi_callback_compare(k->function, k->user, s, 0, NULL, error);
}

lw_status lwi_analysis_feedback_gains(lwi_analysis_feedback *k, lwi_arena *arena, lw_error *error)
{
    const size_t p = (size_t)k->linear->ninput, n = (size_t)k->linear->n;
    double *scratch = LWI_PUSH(arena, double, 4 * p), *column = LWI_PUSH(arena, double, p);
    k->K = LWI_PUSH(arena, double, p *n);
    if (!scratch || !column || !k->K) return no_memory(error);
    for (size_t j = 0; j < n; j++) {
        int which;
        const lwi_analysis_vary what = lwi_linear_vary(k->linear, (int)j, &which);
        TRY(lwi_analysis_difference(inputs_at, k, what, which,
                                    lwi_linear_step(k->state, what, which), (int)p, scratch, column,
                                    error));
        for (size_t i = 0; i < p; i++) k->K[i * n + j] = column[i];
    }
    return LW_OK;
}

void lwi_analysis_feedback_close(const lwi_analysis_feedback *k, size_t count,
                                 const double *by_input, double *rows)
{
    const size_t p = (size_t)k->linear->ninput, n = (size_t)k->linear->n;
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < n; j++) rows[r * n + j] += by_input[r * p + i] * k->K[i * n + j];
}
