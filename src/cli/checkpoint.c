// checkpoint.c -- checkpoints of a run: written at intervals, and continued from.
//
// After each checkpoint the run begins again from it, with a new simulation, as a process that resumes does: both have the
// same bits for every integrator and formulation, with any history.
#include "cli/rows.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_COUNT = 20 }; // in a run

// ------------------------------------------------------------------------------------------ writing

// The first multiple of the interval after this time.
static double next_time(const cli_saving *s, double time)
{
    return s->every * (floor(time / s->every * (1 + 1e-12)) + 1);
}

static void plan_next(cli_saving *s, double time, long steps)
{
    s->next = s->every > 0 ? next_time(s, time) : INFINITY;
    s->next_steps = steps + s->every_steps;
}

cli_exit cli_saving_begin(const cli_arguments *a, const lw_sim *sim, const lw_checkpoint *from,
                          cli_saving *s)
{
    lw_error error = {0};
    if (!a->checkpoint) return CLI_DONE;
    const lw_options *o = lw_sim_options(sim);
    *s = (cli_saving){.file = a->checkpoint, .every = a->every, .every_steps = a->every_steps};
    if (!(s->every > 0) && !s->every_steps) s->every = o->duration / DEFAULT_COUNT;
    if (!(s->every > 0) && !s->every_steps) s->every = 1; // a run without duration has none
    const lw_checkpoint_desc desc = {.sim = sim,
                                     .nfile = a->noutput,
                                     .file = a->output,
                                     .level = a->level,
                                     .every = s->every,
                                     .every_steps = s->every_steps};
    const lw_status status = lw_checkpoint_create(&desc, &s->at, &error);
    if (status != LW_OK) return cli_fail(status, &error);
    const lw_checkpoint_info at = lw_checkpoint_about(from);
    plan_next(s, from ? at.time : lw_sim_time(sim), at.steps);
    return from ? CLI_DONE : cli_check_place(a->checkpoint);
}

void cli_saving_end(cli_saving *s)
{
    lw_checkpoint_destroy(s->at);
    *s = (cli_saving){.file = NULL};
}

lw_status cli_saving_row(cli_rows *w, const lw_observation *observation)
{
    cli_saving *s = &w->saving;
    if (cli_is_stopped(NULL)) return LW_OK; // the row of a step at which the run was ended
    if (lw_checkpoint_take(s->at, w->sim, w->measures, w->rows) != LW_OK) return LW_OK;
    s->taken = true;
    const lw_checkpoint_info at = lw_checkpoint_about(s->at);
    const bool due = s->every_steps ? at.steps >= s->next_steps : observation->time >= s->next;
    if (!due || !(observation->time < at.end)) return LW_OK;
    s->due = true;
    return LW_ERR_INTERRUPTED;
}

static cli_exit write_checkpoint(cli_rows *w)
{
    lw_error error = {0};
    for (int i = 0; i < w->n; i++) w->failed |= lw_writer_flush(w->writer[i]) != LW_OK;
    if (w->failed) return CLI_FAILED; // closing the file reports why
    const lw_status status = lw_checkpoint_write(w->saving.at, w->saving.file, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

cli_exit cli_saving_renew(cli_rows *w, lw_sim **sim)
{
    cli_saving *s = &w->saving;
    lw_sim *next = NULL;
    lw_error error = {0};
    const lw_checkpoint_info at = lw_checkpoint_about(s->at);
    const lw_sim_desc desc = {.options = lw_sim_options(*sim)};
    const cli_exit code = write_checkpoint(w);
    if (code) return code;
    lw_status status = lw_sim_create(w->model, &desc, &next, &error);
    if (status == LW_OK) status = lw_checkpoint_restore(s->at, next, w->measures, &error);
    for (int i = 0; i < w->n && status == LW_OK; i++)
        status = lw_writer_set_sim(w->writer[i], next);
    if (status != LW_OK) {
        lw_sim_destroy(next);
        return cli_fail(status, &error);
    }
    lw_sim_destroy(*sim);
    *sim = next;
    w->sim = next;
    if (w->said < SIZE_MAX) w->said = strlen(lw_sim_notice(next));
    s->due = s->taken = false;
    plan_next(s, at.time, at.steps);
    return CLI_DONE;
}

cli_exit cli_saving_stop(cli_rows *w)
{
    const cli_saving *s = &w->saving;
    if (!s->file || !s->taken || !lw_sim_is_exact(w->sim)) return CLI_DONE;
    return write_checkpoint(w);
}

// ----------------------------------------------------------------------------------------- resuming

static cli_exit check_use(const cli_arguments *a)
{
    const cli_options expected = CLI_OPTIONS(CLI_RESUME, CLI_CHECKPOINT, CLI_JSON, CLI_QUIET);
    if (!a->operand && !a->nsetting && !cli_other_option(a, expected)) return CLI_DONE;
    return cli_complain(CLI_USE,
                        "run --resume FILE: the checkpoint has the model, the options and the "
                        "results; expected nothing but --checkpoint, --json, --quiet");
}

// The arguments that the run began with.
static cli_exit take_arguments(cli_arguments *a, const lw_checkpoint *from)
{
    const lw_checkpoint_info at = lw_checkpoint_about(from);
    if (at.nfile > CLI_MAX) return cli_complain(CLI_INPUT, "%s: too many results", a->resume);
    a->operand = a->resume;
    if (!a->checkpoint) a->checkpoint = a->resume;
    for (int i = 0; i < at.nfile; i++) a->output[i] = at.file[i];
    a->noutput = at.nfile;
    a->level = at.level;
    a->every = at.every;
    a->every_steps = at.every_steps;
    return CLI_DONE;
}

cli_exit cli_resume_read(cli_arguments *a, lw_checkpoint **from, lw_model **model, lw_sim **sim)
{
    lw_error error = {0};
    cli_exit code = check_use(a);
    if (code) return code;
    lw_status status = lw_checkpoint_read(a->resume, from, &error);
    if (status == LW_OK) status = lw_checkpoint_model(*from, model, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    code = take_arguments(a, *from);
    if (!code) code = cli_check_checkpoint(a);
    if (code) return code;
    const lw_sim_desc desc = {.options = lw_checkpoint_about(*from).options};
    status = lw_sim_create(*model, &desc, sim, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}
