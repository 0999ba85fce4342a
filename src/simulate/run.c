// run.c -- a whole run: rows at t0 + k sample and at the end, or after every step.
#include "simulate/options.h"
#include "base/assert.h"
#include "simulate/simulation.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Between two calls of `progress` when rows are rare lie at most so many steps, so much wall time
// in steps [s], or one step: seldom enough to cost nothing, soon enough for who presses Ctrl-C.
enum { PATIENCE = 64 };
#define PATIENCE_WALL 0.05
// Rows that a double can count one by one.
#define MAX_ROWS 1e15

typedef struct run {
    lw_sim *sim;
    lw_observe level;
    lw_row row;
    bool rows; ///< they are observed, also without a function that takes them
    lw_progress progress;
    void *row_user, *progress_user;
    double end;
    double written;      ///< time of the last row
    double grid;         ///< time of the next row that is no event's
    long steps;          ///< since the last call of progress
    double checked;      ///< wall time in steps at the last call of progress [s]
    double start, began; ///< simulated and wall time at the start [s]
} run;

static lw_status write_row(run *r)
{
    const lw_observation *observation;
    TRY(lw_sim_observe(r->sim, r->level, &observation));
    r->written = r->sim->t;
    const lw_status status = r->row ? r->row(r->row_user, observation) : LW_OK;
    r->sim->triggers.logged = 0;
    if (status >= LW_OK) return LW_OK;
    return lwi_fail(&r->sim->error, status, "the row at t = %.10g was rejected: %s", r->sim->t,
                    lw_status_text(status));
}

// Calls progress; if the caller stops the run, writes a last row.
static lw_status check_progress(run *r)
{
    r->steps = 0;
    r->checked = r->sim->wall;
    r->sim->cancel.called = lwi_clock();
    if (!r->progress || !r->progress(r->progress_user, r->sim->t, r->end)) return LW_OK;
    if (r->written != r->sim->t) TRY(write_row(r));
    return lwi_fail(&r->sim->error, LW_ERR_INTERRUPTED, "stopped by the caller at t = %.10g",
                    r->sim->t);
}

// A run that fails has a last row at its last state, if that can be observed; otherwise the audit includes the
// quantities without accelerations.  The error remains that of the step.
static void write_last_row(run *r)
{
    if (r->written == r->sim->t) return;
    const lw_error error = r->sim->error;
    const lw_observation *observation;
    if (lw_sim_observe(r->sim, r->level, &observation) != LW_OK)
        lw_sim_observe(r->sim, r->level < LW_OBSERVE_ENERGY ? r->level : LW_OBSERVE_ENERGY,
                       &observation);
    else if (r->row)
        r->row(r->row_user, observation);
    r->sim->error = error;
}

// Waits for the wall-clock time of the state (option pace).
static lw_status wait_for_clock(run *r)
{
    lw_sim *sim = r->sim;
    if (!(sim->options.pace > 0)) return LW_OK;
    const double due = r->began + (sim->t - r->start) / sim->options.pace;
    const double behind = lwi_clock() - due;
    if (behind > 0) {
        sim->late++;
        sim->behind = fmax(sim->behind, behind);
        return LW_OK;
    }
    while (!lwi_sleep_until(due)) TRY(check_progress(r));
    return LW_OK;
}

// The rows before and after the impact that is due; without rows the impact alone.
static lw_status pass_impact(run *r)
{
    if (r->rows) TRY(write_row(r));
    const lw_status status = lwi_sim_strike(r->sim);
    if (status != LW_OK || !r->rows) return status;
    return write_row(r);
}

// A row at which the run can continue after its process has ended.
static lw_status write_grid_row(run *r)
{
    r->sim->grid.at_row = true;
    const lw_status status = write_row(r);
    r->sim->grid.at_row = false;
    return status;
}

static lw_status write_event_row(run *r, int event, bool last)
{
    r->sim->recorded = 1 + event;
    const lw_status status = last && r->sim->t == r->grid ? write_grid_row(r) : write_row(r);
    r->sim->recorded = 0;
    return status;
}

// Nothing follows that would change the state.
static bool is_last(const lw_sim *sim, int event)
{
    return sim->triggers.ndue == 1 && !sim->triggers.changed &&
           sim->model->desc.event[event].nset == 0;
}

// The events that are due happen one after the other, those that record with a row.  Another row follows, where switches
// have changed.
static lw_status pass_events(run *r)
{
    lw_sim *sim = r->sim;
    const int n = sim->model->desc.nevent;
    bool recorded = false, changed = false, listed = false;
    for (int event; (event = lwi_sim_due_event(sim)) >= 0;) {
        const bool record = r->rows && event < n && sim->model->desc.event[event].record;
        const bool last =
            record && !changed && is_last(sim, event); // its row has all that happened
        if (!listed) TRY(lwi_sim_log_due(sim));
        listed = true;
        if (record && !last) TRY(write_event_row(r, event, false));
        TRY(lwi_sim_fire(sim, event));
        if (last) TRY(write_event_row(r, event, true));
        recorded |= record, changed |= sim->triggers.changed;
        if (sim->triggers.ndue) continue;
        TRY(lwi_sim_end_firing(sim));
        listed = false;
    }
    if (!recorded || !changed) return LW_OK;
    return sim->t == r->grid ? write_grid_row(r) : write_row(r);
}

static lw_status one_step(run *r, double to, double limit)
{
    LWI_ASSERT(limit >= to);
    lw_status status = lwi_sim_advance(r->sim, to, limit, true);
    if (status == LW_OK && lwi_sim_due_event(r->sim) >= 0) status = pass_events(r);
    if (status == LW_OK && r->sim->impacts.due && r->sim->triggers.stopped < 0)
        status = pass_impact(r);
    // no step follows that would find the events of an impact at the end
    if (status == LW_OK && r->sim->t >= r->end) status = lwi_sim_take_jump(r->sim);
    if (status == LW_OK && r->sim->t >= r->end && lwi_sim_due_event(r->sim) >= 0)
        status = pass_events(r);
    if (status != LW_OK) write_last_row(r);
    TRY(status);
    TRY(wait_for_clock(r));
    const bool patient = ++r->steps < PATIENCE && r->sim->wall - r->checked < PATIENCE_WALL;
    return patient ? LW_OK : check_progress(r);
}

// Steps that take long ask the caller too.
static void allow_cancel(const run *r)
{
    r->sim->cancel = (lwi_cancel){
        .progress = r->progress, .user = r->progress_user, .end = r->end, .called = lwi_clock()};
}

static void end_cancel(lw_sim *sim)
{
    sim->cancel = (lwi_cancel){0};
}

lw_status lw_sim_step_progress(lw_sim *sim, double time, lw_progress progress, void *user)
{
    if (!sim) return LW_ERR_ARGUMENT;
    run r = {.sim = sim,
             .level = LW_OBSERVE_POSE,
             .progress = progress,
             .progress_user = user,
             .end = time,
             .checked = sim->wall};
    TRY(lwi_sim_check_step(sim, time));
    allow_cancel(&r);
    lw_status status = LW_OK;
    sim->triggers.stopped = -1;
    while (sim->t < time && status == LW_OK && sim->triggers.stopped < 0)
        status = one_step(&r, time, time);
    end_cancel(sim);
    return status;
}

// Number of rows at t0 + k sample before the end, except for round-off of duration / sample.
double lwi_run_inner_rows(double duration, double sample)
{
    const double ratio = duration / sample;
    return fmax(0, ceil(ratio - 8 * DBL_EPSILON * ratio) - 1);
}

// k sample, rounded once if a second contains a whole number of samples: 3 * 0.1 is 0.3, as typed.
double lwi_run_row_time(double sample, double k)
{
    const double rate = rint(1 / sample);
    return rate * sample == 1 ? k / rate : k * sample;
}

// Number of the row at t, except for round-off; -1 if there is none.
static double row_number(double sample, double t)
{
    const double k = rint(t / sample);
    return k >= 0 && k < MAX_ROWS && fabs(lwi_run_row_time(sample, k) - t) <= 8 * DBL_EPSILON * t
               ? k
               : -1;
}

static lw_status row_at(run *r, double time)
{
    const double limit = lwi_options_interpolate(&r->sim->options) ? r->end : time;
    r->grid = time;
    while (r->sim->t < time && r->sim->triggers.stopped < 0) TRY(one_step(r, time, limit));
    if (r->sim->triggers.stopped >= 0) time = r->sim->t;
    if (r->written != time) TRY(write_grid_row(r)); // that after an impact
    return check_progress(r);
}

// A run that starts at a row of a longer run has the same rows, bit for bit.
lwi_run_grid lwi_run_plan(const lw_options *o, double t0)
{
    lwi_run_grid g = {.t0 = t0, .end = t0 + o->duration};
    if (o->sample == LW_SAMPLE_STEPS) return g;
    g.rows = lwi_run_inner_rows(o->duration, o->sample);
    g.first = row_number(o->sample, t0);
    const double last = g.first > 0 ? row_number(o->sample, g.end) : -1;
    if (last > 0) g.end = lwi_run_row_time(o->sample, last);
    return g;
}

static double grid_time(const lwi_run_grid *g, double sample, double k)
{
    return g->first >= 0 ? lwi_run_row_time(sample, g->first + k)
                         : g->t0 + lwi_run_row_time(sample, k);
}

bool lwi_run_fits(const lw_options *o, const lwi_run_grid *g, double time)
{
    const lwi_run_grid plan = lwi_run_plan(o, g->t0);
    const bool same = g->end == plan.end && g->rows == plan.rows && g->first == plan.first;
    if (!same || !(g->t0 <= time && time <= g->end)) return false;
    if (o->sample == LW_SAMPLE_STEPS) return g->k == 0;
    if (!(g->k >= 0 && g->k <= g->rows && g->k == floor(g->k))) return false;
    if (g->k == g->rows && time == g->end) return true;
    return time == (g->k > 0 ? grid_time(g, o->sample, g->k) : g->t0);
}

static lw_status run_by_rows(run *r)
{
    const double sample = r->sim->options.sample;
    lwi_run_grid *g = &r->sim->grid;
    while (g->k < g->rows && r->sim->triggers.stopped < 0) {
        const double k = ++g->k;
        TRY(row_at(r, grid_time(g, sample, k)));
    }
    if (r->sim->triggers.stopped >= 0) return LW_OK;
    return r->end > r->sim->t ? row_at(r, r->end) : LW_OK;
}

static lw_status run_by_steps(run *r)
{
    while (r->sim->t < r->end && r->sim->triggers.stopped < 0) {
        TRY(one_step(r, r->end, r->end));
        if (r->written != r->sim->t) TRY(write_grid_row(r));
    }
    return LW_OK;
}

static lw_status run_all(run *r, bool continued)
{
    const bool steps = r->sim->options.sample == LW_SAMPLE_STEPS;
    const double rows = r->sim->grid.rows;
    if (!(rows < MAX_ROWS))
        return lwi_fail(&r->sim->error, LW_ERR_ARGUMENT, "sample: %g rows are too many", rows);
    if (continued) r->written = r->sim->t;
    r->sim->triggers.stopped = -1;
    TRY(lwi_sim_begin_triggers(r->sim));
    if (lwi_sim_due_event(r->sim) >= 0) TRY(pass_events(r));
    if (r->written != r->sim->t) TRY(write_grid_row(r));
    TRY(check_progress(r));
    return steps ? run_by_steps(r) : run_by_rows(r);
}

lw_status lw_sim_run(lw_sim *sim, lw_observe level, lw_row row, void *row_user,
                     lw_progress progress, void *progress_user)
{
    if (!sim) return LW_ERR_ARGUMENT;
    const bool continued = sim->grid.continued;
    sim->grid.continued = false;
    run r = {.sim = sim,
             .level = level,
             .row = row,
             .row_user = row_user,
             .rows = true,
             .written = NAN,
             .grid = NAN,
             .progress = progress,
             .progress_user = progress_user,
             .start = sim->t,
             .began = lwi_clock(),
             .end = continued ? sim->grid.end : sim->t + sim->options.duration};
    if (!continued) sim->grid = lwi_run_plan(&sim->options, sim->t), r.end = sim->grid.end;
    if (!continued && sim->options.duration > 0 && r.end == r.start)
        return lwi_fail(
            &sim->error, LW_ERR_ARGUMENT,
            "duration: %g s is below the resolution of time at t = %.10g s, t + duration "
            "= t; expected an earlier start",
            sim->options.duration, r.start);
    TRY(lwi_sim_check_resolution(sim, r.end));
    sim->callback.failed = false;
    sim->triggers.logged = 0;
    allow_cancel(&r);
    const lw_status status = run_all(&r, continued);
    end_cancel(sim);
    lwi_sim_add_warnings(sim);
    return status;
}
