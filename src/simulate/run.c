// run.c -- a whole run: rows at t0 + k sample and at the end, or after every step.
#include "simulate/options.h"
#include "simulate/simulation.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Steps between two calls of `progress` when rows are rare: seldom enough to cost nothing.
enum { PATIENCE = 64 };
// Rows that a double can count one by one.
#define MOST_ROWS 1e15

typedef struct run {
    lw_sim *sim;
    lw_observe level;
    lw_row row;
    lw_progress progress;
    void *row_user, *progress_user;
    double end;
    double written; ///< time of the last row
    long steps;     ///< since the last call of progress
} run;

static lw_status write_row(run *r)
{
    const lw_observation *observation;
    TRY(lw_sim_observe(r->sim, r->level, &observation));
    r->written = r->sim->t;
    const lw_status status = r->row ? r->row(r->row_user, observation) : LW_OK;
    if (status >= LW_OK) return LW_OK;
    return lwi_fail(&r->sim->error, status, "the row at t = %.10g was refused: %s", r->sim->t,
                    lw_status_text(status));
}

// A last row where there is none, when the caller wants to end.
static lw_status look_up(run *r)
{
    r->steps = 0;
    if (!r->progress || !r->progress(r->progress_user, r->sim->t, r->end)) return LW_OK;
    if (r->written != r->sim->t) TRY(write_row(r));
    return lwi_fail(&r->sim->error, LW_ERR_INTERRUPTED, "stopped by the caller at t = %.10g",
                    r->sim->t);
}

static lw_status one_step(run *r, double to, double limit)
{
    TRY(lwi_sim_advance(r->sim, to, limit, true));
    return ++r->steps < PATIENCE ? LW_OK : look_up(r);
}

static lw_status row_at(run *r, double time)
{
    const double limit = lwi_options_interpolate(&r->sim->options) ? r->end : time;
    while (r->sim->t < time) TRY(one_step(r, time, limit));
    TRY(write_row(r));
    return look_up(r);
}

// Rows at t0 + k sample that lie before the end, but for round-off of duration / sample.
static double inner_rows(double duration, double sample)
{
    const double ratio = duration / sample;
    return fmax(0, ceil(ratio - 8 * DBL_EPSILON * ratio) - 1);
}

static lw_status run_by_rows(run *r, double t0)
{
    const lw_options *o = &r->sim->options;
    const double sample = lwi_options_sample(o), rows = inner_rows(o->duration, sample);
    if (!(rows < MOST_ROWS))
        return lwi_fail(&r->sim->error, LW_ERR_ARGUMENT, "sample: %g rows are too many", rows);
    for (double k = 1; k <= rows; k++) TRY(row_at(r, t0 + k * sample));
    return r->end > t0 ? row_at(r, r->end) : LW_OK;
}

static lw_status run_by_steps(run *r)
{
    while (r->sim->t < r->end) {
        TRY(one_step(r, r->end, r->end));
        TRY(write_row(r));
    }
    return LW_OK;
}

lw_status lw_sim_run(lw_sim *sim, lw_observe level, lw_row row, void *row_user,
                     lw_progress progress, void *progress_user)
{
    run r = {.sim = sim,
             .level = level,
             .row = row,
             .row_user = row_user,
             .progress = progress,
             .progress_user = progress_user,
             .end = sim->t + sim->options.duration};
    const double t0 = sim->t;
    TRY(write_row(&r));
    TRY(look_up(&r));
    return strcmp(sim->options.sample, "steps") ? run_by_rows(&r, t0) : run_by_steps(&r);
}
