// outputs.c -- C and D of a linearised mechanism: differences of columns of results.
#include "analysis/linear.h"
#include "io/result/columns.h"
#include "simulate/simulation.h"

#include <stdlib.h>
#include <string.h>

// Columns of a simulation that is set to neighbours of a state.
typedef struct observer {
    lw_linear *linear;
    lwi_analysis_state *state;
    lw_sim *sim;
    lwi_result_columns columns;
    lwi_result_rows rows;
    int *column;         ///< [noutput]
    double *x;           ///< state of the simulation
    double *y, *z, *out; ///< [f], [f], [f]
    const double *given; ///< inputs, or NULL
} observer;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for outputs");
}

static lw_status set_inputs(observer *o, int k, double by)
{
    for (int i = 0; i < o->linear->ninput; i++)
        TRY(lw_sim_set_input(o->sim, i, (o->given ? o->given[i] : 0) + (i == k ? by : 0)));
    return LW_OK;
}

static lw_status outputs_at(void *user, lwi_analysis_vary what, int k, double by, double *out,
                            lw_error *error)
{
    observer *const o = user;
    lwi_analysis_state *const s = o->state;
    const lw_model *model = s->manifold.model;
    const size_t f = (size_t)o->linear->f;
    const lw_observation *seen;
    memset(o->y, 0, f * sizeof *o->y);
    memcpy(o->z, s->z, f * sizeof *o->z);
    if (what == LWI_VARY_POSITION) o->y[k] = by;
    if (what == LWI_VARY_SPEED) o->z[k] += by;
    TRY(lwi_analysis_near(s, o->y, o->z, true, o->out, error));
    memcpy(o->x, s->near_q, (size_t)model->tree_nq * sizeof *o->x);
    memcpy(o->x + model->tree_nq, s->near_v, (size_t)model->tree_nv * sizeof *o->x);
    double *const signals = o->x + o->sim->work->layout.nx - model->nstate;
    memcpy(signals, o->linear->c, (size_t)model->nstate * sizeof *signals);
    if (what == LWI_VARY_SIGNAL) signals[o->linear->signal[k]] += by;
    lw_status status = lw_sim_set_state(o->sim, s->manifold.t, o->x);
    if (status == LW_OK) status = set_inputs(o, what == LWI_VARY_INPUT ? k : -1, by);
    if (status == LW_OK) status = lw_sim_observe(o->sim, LW_OBSERVE_FORCE, &seen);
    if (status == LW_OK) status = lwi_result_rows_fill(&o->rows, seen);
    if (status != LW_OK) return lwi_fail(error, status, "outputs: %s", lw_sim_error(o->sim)->text);
    for (int i = 0; i < o->linear->noutput; i++) out[i] = o->rows.row[o->column[i]];
    return LW_OK;
}

static lw_status find_column(observer *o, const char *name, int *column, lw_error *error)
{
    const lwi_result_columns *c = &o->columns;
    for (int i = 1; i < c->n; i++)
        if (!strcmp(c->column[i].name, name)) {
            *column = i;
            return LW_OK;
        }
    const char *nearest = NULL;
    const char **names = calloc((size_t)c->n + 1, sizeof *names);
    for (int i = 1; names && i < c->n; i++) names[i - 1] = c->column[i].name;
    if (names) nearest = lwi_nearest(name, names, c->n - 1);
    const lw_status status =
        lwi_fail(error, LW_ERR_ARGUMENT, "outputs: there is no column '%.120s'%s%s%s", name,
                 nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(names);
    return status;
}

static lw_status read_names(observer *o, const char *list, lw_error *error)
{
    lw_linear *const linear = o->linear;
    lwi_arena *const arena = &linear->arena;
    int count = 1;
    for (const char *at = list; *at; at++) count += *at == ',';
    linear->output = LWI_PUSH(arena, const char *, count);
    o->column = LWI_PUSH(arena, int, count);
    char *text = (char *)lwi_arena_text(arena, list);
    if (!linear->output || !o->column || !text) return no_memory(error);
    for (char *name = text, *next; name; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = 0;
        name += strspn(name, " ");
        for (size_t n = strlen(name); n > 0 && name[n - 1] == ' ';) name[--n] = 0;
        linear->output[linear->noutput] = name;
        TRY(find_column(o, name, &o->column[linear->noutput], error));
        linear->noutput++;
    }
    return LW_OK;
}

static lw_status differences(observer *o, lwi_arena *arena, lw_error *error)
{
    lw_linear *const linear = o->linear;
    const size_t n = (size_t)linear->n, p = (size_t)linear->ninput, r = (size_t)linear->noutput;
    double *scratch = LWI_PUSH(arena, double, 4 * r), *column = LWI_PUSH(arena, double, r);
    linear->C = LWI_PUSH(&linear->arena, double, n *r);
    linear->D = LWI_PUSH(&linear->arena, double, p *r);
    if (!scratch || !column || !linear->C || !linear->D) return no_memory(error);
    for (size_t k = 0; k < n + p; k++) {
        int i;
        const lwi_analysis_vary what = lwi_linear_vary(linear, (int)k, &i);
        TRY(lwi_analysis_difference(outputs_at, o, what, i, lwi_linear_step(o->state, what, i),
                                    (int)r, scratch, column, error));
        for (size_t j = 0; j < r; j++) {
            if (k < n)
                linear->C[j * n + k] = column[j];
            else
                linear->D[j * p + (k - n)] = column[j];
        }
    }
    return LW_OK;
}

static lw_status observe(observer *o, const char *names, lwi_arena *arena, lw_error *error)
{
    const lw_model *model = o->state->manifold.model;
    const size_t f = (size_t)o->linear->f;
    lw_options options;
    lw_options_default(&options);
    const bool tree = model->nloop + model->ncoupling == 0; // both have the state (q, v, ...)
    strcpy(options.formulation, tree ? "aba" : "lagrange");
    const lw_sim_desc desc = {.options = &options};
    TRY(lw_sim_create(model, &desc, &o->sim, error));
    TRY(lwi_result_columns_of_model(model, LW_OBSERVE_FORCE, &o->columns));
    TRY(lwi_result_rows_create(model, &o->columns, arena, &o->rows));
    o->x = LWI_PUSH(arena, double, lw_sim_state_size(o->sim));
    o->y = LWI_PUSH(arena, double, f);
    o->z = LWI_PUSH(arena, double, f);
    o->out = LWI_PUSH(arena, double, f);
    if (!o->x || !o->y || !o->z || !o->out) return no_memory(error);
    lw_sim_get_state(o->sim, NULL, o->x);
    TRY(read_names(o, names, error));
    return differences(o, arena, error);
}

lw_status lwi_linear_outputs(lw_linear *linear, lwi_analysis_state *state, const char *names,
                             lw_error *error)
{
    observer o = {.linear = linear, .state = state, .given = state->manifold.inputs};
    lwi_arena arena;
    lwi_arena_init(&arena, &linear->arena.allocator);
    const lw_status status = observe(&o, names, &arena, error);
    lwi_result_columns_free(&o.columns);
    lw_sim_destroy(o.sim);
    lwi_arena_free(&arena);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}
