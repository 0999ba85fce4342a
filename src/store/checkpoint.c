// checkpoint.c -- a run at one of its rows: taken from a simulation, and put into another one.
#include "store/checkpoint.h"

#include "base/assert.h"
#include "io/result/measures.h"
#include "simulate/simulation.h"
#include "store/folder.h"

#include <linkwork/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1e15 // rows, steps

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for a checkpoint");
}

// ---------------------------------------------------------------------------------------- creation

static lw_status keep_model(lw_checkpoint *c, const lw_model *model, lw_error *error)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file) return no_memory(error);
    lw_status status = lw_model_write(model, NULL, file, error);
    if ((fclose(file) || !text) && status == LW_OK) status = no_memory(error);
    if (status == LW_OK && !(c->model = lwi_arena_text(&c->arena, text))) status = no_memory(error);
    free(text);
    return status;
}

static lw_status make_lists(lw_checkpoint *c, const lw_sim *sim, lw_error *error)
{
    const int n[LWI_CHECKPOINT_LISTS] = {[LWI_CHECKPOINT_state] = lw_sim_state_size(sim),
                                         [LWI_CHECKPOINT_inputs] = sim->model->desc.ninput,
                                         [LWI_CHECKPOINT_run] = LWI_RUN_NUMBERS,
                                         [LWI_CHECKPOINT_cost] = LWI_COST_NUMBERS,
                                         [LWI_CHECKPOINT_audit] = LWI_AUDIT_NUMBERS,
                                         [LWI_CHECKPOINT_events] = sim->model->desc.nevent,
                                         [LWI_CHECKPOINT_measures] =
                                             LWI_RUNNING_NUMBERS * sim->model->desc.nmeasure};
    for (int k = 0; k < LWI_CHECKPOINT_LISTS; k++) {
        c->n[k] = n[k];
        c->list[k] = LWI_PUSH(&c->arena, double, n[k]);
        if (!c->list[k]) return no_memory(error);
    }
    return LW_OK;
}

static lw_status build(lw_checkpoint *c, const lw_checkpoint_desc *desc, lw_error *error)
{
    c->version = lw_version();
    c->options = *lw_sim_options(desc->sim);
    c->level = desc->level;
    c->every = desc->every;
    c->every_steps = desc->every_steps;
    c->nfile = desc->nfile;
    c->file = LWI_PUSH(&c->arena, const char *, desc->nfile);
    if (!c->file) return no_memory(error);
    for (int i = 0; i < desc->nfile; i++)
        if (!(c->file[i] = lwi_arena_text(&c->arena, desc->file[i]))) return no_memory(error);
    TRY(keep_model(c, lw_sim_model(desc->sim), error));
    return make_lists(c, desc->sim, error);
}

static lw_status begin(lw_checkpoint **checkpoint, lw_error *error)
{
    lw_checkpoint *c = lwi_allocate(NULL, sizeof *c);
    if (!c) return no_memory(error);
    *c = (lw_checkpoint){.model = NULL};
    lwi_arena_init(&c->arena, NULL);
    *checkpoint = c;
    return LW_OK;
}

lw_status lw_checkpoint_create(const lw_checkpoint_desc *desc, lw_checkpoint **checkpoint,
                               lw_error *error)
{
    LWI_DESC(lw_checkpoint_desc, desc, error);
    if (!desc->sim || !checkpoint || desc->nfile < 0 || (desc->nfile && !desc->file) ||
        !(desc->every >= 0) || desc->every_steps < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT, "simulation, files or checkpoint are missing");
    lw_checkpoint *c = NULL;
    TRY(begin(&c, error));
    const lw_status status = build(c, desc, error);
    if (status == LW_OK)
        *checkpoint = c;
    else
        lw_checkpoint_destroy(c);
    return status;
}

void lw_checkpoint_destroy(lw_checkpoint *c)
{
    if (!c) return;
    lwi_arena_free(&c->arena);
    lwi_release(NULL, c);
}

// ------------------------------------------------------------------------- lists of numbers and structs

// Copies numbers from a list to a struct, or from the struct to the list.
typedef struct copying {
    double *list;
    int at;
    bool to_list;
} copying;

static void copy(copying *c, double *number)
{
    if (c->to_list)
        c->list[c->at++] = *number;
    else
        *number = c->list[c->at++];
}

static void copy_long(copying *c, long *number)
{
    double value = (double)*number;
    copy(c, &value);
    *number = isfinite(value) && fabs(value) < 1e18 ? (long)value : 0;
}

static void copy_all(copying *c, double *number, int n)
{
    for (int i = 0; i < n; i++) copy(c, &number[i]);
}

static void copy_audit(copying *c, lwi_audit *a)
{
    double begun = a->begun;
    copy(c, &begun);
    a->begun = begun != 0;
    copy(c, &a->closed), copy(c, &a->size), copy(c, &a->reference);
    copy(c, &a->energy_error), copy(c, &a->energy_scale);
    copy_all(c, a->residual, 3);
    copy(c, &a->low), copy(c, &a->high);
    copy_all(c, a->sum, 10);
    for (int i = 0; i < 10; i++) copy_long(c, &a->rows[i]);
    copy(c, &a->last), copy(c, &a->balanced);
    copy_long(c, &a->impulses);
    copy(c, &a->impulse_work), copy(c, &a->work_beside);
    LWI_ASSERT(c->at == LWI_AUDIT_NUMBERS);
}

static void copy_cost(copying *c, lw_summary *s)
{
    copy_long(c, &s->steps), copy_long(c, &s->evaluations), copy_long(c, &s->rejected);
    copy_long(c, &s->restarts), copy_long(c, &s->projections), copy_long(c, &s->events);
    copy_long(c, &s->late);
    copy(c, &s->behind), copy(c, &s->wall), copy(c, &s->start);
    LWI_ASSERT(c->at == LWI_COST_NUMBERS);
}

static void copy_running(copying *c, lw_running *r)
{
    copy_long(c, &r->rows);
    copy(c, &r->first), copy(c, &r->last), copy(c, &r->value);
    copy(c, &r->min), copy(c, &r->max), copy(c, &r->time_of_min), copy(c, &r->time_of_max);
    copy(c, &r->integral), copy(c, &r->squares);
}

static copying list_of(const lw_checkpoint *c, int k, bool to_list)
{
    return (copying){.list = c->list[k], .to_list = to_list};
}

static void copy_measures(const lw_checkpoint *c, const lw_measures *measures, bool to_list)
{
    int n;
    if (!measures) return;
    lw_running *running = lwi_measures_running(measures, &n);
    copying at = list_of(c, LWI_CHECKPOINT_measures, to_list);
    for (int i = 0; i < n; i++) copy_running(&at, &running[i]);
}

// ------------------------------------------------------------------------------------- taking one

lw_status lw_checkpoint_take(lw_checkpoint *c, const lw_sim *sim, const lw_measures *measures,
                             long rows)
{
    lw_summary cost;
    if (!c || !sim || lw_sim_state_size(sim) != c->n[LWI_CHECKPOINT_state]) return LW_ERR_ARGUMENT;
    if (!sim->grid.at_row || sim->impacts.due || sim->impacts.struck ||
        lwi_sim_due_event(sim) >= 0 || sim->triggers.stopped >= 0)
        return LW_ERR_UNSUPPORTED;
    double *run = c->list[LWI_CHECKPOINT_run], *inputs = c->list[LWI_CHECKPOINT_inputs];
    lwi_audit audit = sim->audit;
    copying to = list_of(c, LWI_CHECKPOINT_audit, true);
    lw_sim_get_state(sim, &run[LWI_RUN_TIME], c->list[LWI_CHECKPOINT_state]);
    for (int i = 0; i < c->n[LWI_CHECKPOINT_inputs]; i++) inputs[i] = sim->inputs[i];
    run[LWI_RUN_START] = sim->start;
    run[LWI_RUN_T0] = sim->grid.t0, run[LWI_RUN_END] = sim->grid.end;
    run[LWI_RUN_FIRST] = sim->grid.first, run[LWI_RUN_ROWS] = sim->grid.rows;
    run[LWI_RUN_K] = sim->grid.k, run[LWI_RUN_WRITTEN] = (double)rows;
    run[LWI_RUN_VALID_UNTIL] = sim->work->valid_until;
    copy_audit(&to, &audit);
    for (int i = 0; i < c->n[LWI_CHECKPOINT_events]; i++)
        c->list[LWI_CHECKPOINT_events][i] = (double)lw_sim_event_count(sim, i);
    lw_sim_summary(sim, &cost);
    to = list_of(c, LWI_CHECKPOINT_cost, true);
    copy_cost(&to, &cost);
    copy_measures(c, measures, true);
    c->taken = true;
    return LW_OK;
}

lw_checkpoint_info lw_checkpoint_about(const lw_checkpoint *c)
{
    if (!c) return (lw_checkpoint_info){0};
    const double *run = c->list[LWI_CHECKPOINT_run];
    return (lw_checkpoint_info){.time = run[LWI_RUN_TIME],
                                .end = run[LWI_RUN_END],
                                .rows = (long)run[LWI_RUN_WRITTEN],
                                .steps = (long)c->list[LWI_CHECKPOINT_cost][LWI_COST_STEPS],
                                .nfile = c->nfile,
                                .file = c->file,
                                .level = c->level,
                                .every = c->every,
                                .every_steps = c->every_steps,
                                .options = &c->options};
}

// ------------------------------------------------------------------------------------- restoring it

lw_status lw_checkpoint_model(const lw_checkpoint *c, lw_model **model, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!c || !model) return lwi_fail(error, LW_ERR_ARGUMENT, "checkpoint and model must be given");
    const lw_read_desc desc = {.format = "yaml"};
    return lw_model_parse(c->model, strlen(c->model), "checkpoint", &desc, model, NULL, error);
}

static lwi_run_grid grid_of(const lw_checkpoint *c)
{
    const double *run = c->list[LWI_CHECKPOINT_run];
    return (lwi_run_grid){.continued = true,
                          .t0 = run[LWI_RUN_T0],
                          .end = run[LWI_RUN_END],
                          .first = run[LWI_RUN_FIRST],
                          .rows = run[LWI_RUN_ROWS],
                          .k = run[LWI_RUN_K]};
}

static lw_status check_sim(const lw_checkpoint *c, const lw_sim *sim, lw_error *error)
{
    const lw_model *model = lw_sim_model(sim);
    if (!c->taken) return lwi_fail(error, LW_ERR_ARGUMENT, "the checkpoint is empty");
    if (strcmp(c->options.formulation, sim->options.formulation) != 0 ||
        strcmp(c->options.integrator, sim->options.integrator) != 0 ||
        lw_sim_state_size(sim) != c->n[LWI_CHECKPOINT_state] ||
        model->desc.ninput != c->n[LWI_CHECKPOINT_inputs] ||
        model->desc.nevent != c->n[LWI_CHECKPOINT_events] ||
        LWI_RUNNING_NUMBERS * model->desc.nmeasure != c->n[LWI_CHECKPOINT_measures])
        return lwi_fail(error, LW_ERR_ARGUMENT, "the checkpoint is of another model or options");
    return LW_OK;
}

static void restore_sums(const lw_checkpoint *c, lw_sim *sim)
{
    const double *run = c->list[LWI_CHECKPOINT_run];
    copying from = list_of(c, LWI_CHECKPOINT_audit, false);
    copy_audit(&from, &sim->audit);
    from = list_of(c, LWI_CHECKPOINT_cost, false);
    copy_cost(&from, &sim->earlier);
    sim->continues = true;
    from = list_of(c, LWI_CHECKPOINT_events, false);
    for (int i = 0; i < c->n[LWI_CHECKPOINT_events]; i++) {
        copy_long(&from, &sim->triggers.count[i]);
        sim->triggers.total += sim->triggers.count[i];
    }
    sim->start = run[LWI_RUN_START];
    sim->work->valid_until = run[LWI_RUN_VALID_UNTIL];
    sim->grid = grid_of(c);
}

lw_status lw_checkpoint_restore(const lw_checkpoint *c, lw_sim *sim, lw_measures *measures,
                                lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!c || !sim) return lwi_fail(error, LW_ERR_ARGUMENT, "checkpoint and sim must be given");
    TRY(check_sim(c, sim, error));
    for (int i = 0; i < c->n[LWI_CHECKPOINT_inputs]; i++)
        sim->inputs[i] = c->list[LWI_CHECKPOINT_inputs][i];
    const lw_status status = lw_sim_set_state(sim, c->list[LWI_CHECKPOINT_run][LWI_RUN_TIME],
                                              c->list[LWI_CHECKPOINT_state]);
    if (status != LW_OK) return lwi_fail(error, status, "%s", lw_sim_error(sim)->text);
    restore_sums(c, sim);
    copy_measures(c, measures, false);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- files

lw_status lw_checkpoint_write(const lw_checkpoint *c, const char *path, lw_error *error)
{
    char *text;
    size_t size;
    if (error) memset(error, 0, sizeof *error);
    if (!c || !path || !c->taken)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "a checkpoint that was taken and a path are needed");
    const char *slash = strrchr(path, '/');
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    char *folder = lwi_arena_text(&arena, path);
    lw_status status = folder ? lwi_checkpoint_text(c, &arena, &text, &size) : LW_ERR_MEMORY;
    if (status != LW_OK) {
        no_memory(error);
    } else {
        folder[slash ? slash - path + (slash == path) : 0] = 0;
        status = lwi_folder_write(slash ? folder : ".", slash ? slash + 1 : path, text, size, false,
                                  NULL, error);
    }
    lwi_arena_free(&arena);
    return status;
}

// Times and rows are those of a run with these options: others would be continued without end.
static lw_status check_run(const lw_checkpoint *c, const char *path, lw_error *error)
{
    const double *run = c->list[LWI_CHECKPOINT_run];
    const double written = run[LWI_RUN_WRITTEN],
                 steps = c->list[LWI_CHECKPOINT_cost][LWI_COST_STEPS];
    const lwi_run_grid grid = grid_of(c);
    if (lwi_run_fits(&c->options, &grid, run[LWI_RUN_TIME]) && written >= 0 && written < MOST &&
        steps >= 0 && steps < MOST)
        return LW_OK;
    return lwi_fail_at(error, LW_ERR_PARSE, path, 0, 0,
                       "is damaged: 'run' has no time and rows of a run of %g s",
                       c->options.duration);
}

lw_status lw_checkpoint_read(const char *path, lw_checkpoint **checkpoint, lw_error *error)
{
    char *text;
    size_t size;
    lw_checkpoint *c = NULL;
    if (error) memset(error, 0, sizeof *error);
    if (!path || !checkpoint)
        return lwi_fail(error, LW_ERR_ARGUMENT, "path and checkpoint must be given");
    TRY(begin(&c, error));
    lw_status status = lwi_folder_read(path, &c->arena, &text, &size, error);
    if (status == LW_OK) status = lwi_checkpoint_parse(c, text, size, path, error);
    if (status == LW_OK) status = check_run(c, path, error);
    if (status == LW_OK)
        *checkpoint = c;
    else
        lw_checkpoint_destroy(c);
    return status;
}
