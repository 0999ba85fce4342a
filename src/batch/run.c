// run.c -- a whole run of a batch: the rows of a simulation, all instances at each.
#include "batch/batch.h"

#include "simulate/options.h"

#include <string.h>

// Rows that a double can count one by one.
#define MAX_ROWS 1e15

typedef struct run {
    lw_batch *batch;
    lw_batch_row row;
    lw_progress progress;
    void *row_user, *progress_user;
    double end;
} run;

// If an instance fails, the run continues with the others.
static lw_status row_at(run *r, double time)
{
    lw_batch *b = r->batch;
    // failures of instances are in their rows; a defect of the library ends the run
    const lw_status stepped = lw_batch_step(b, time);
    if (stepped == LW_ERR_INTERNAL || stepped == LW_ERR_INTERRUPTED) return stepped;
    if (r->row) lwi_batch_observe_ahead(b);
    const lw_status status = r->row ? r->row(r->row_user, b, time) : LW_OK;
    if (status < LW_OK)
        return lwi_fail(&b->error, status, "the rows at t = %.10g were refused: %s", time,
                        lw_status_text(status));
    if (r->progress && r->progress(r->progress_user, time, r->end))
        return lwi_fail(&b->error, LW_ERR_INTERRUPTED, "stopped by the caller at t = %.10g", time);
    return LW_OK;
}

static lw_status run_all(run *r)
{
    const lw_batch *b = r->batch;
    const double duration = b->options.duration, sample = b->options.sample;
    const double rows = lwi_run_inner_rows(duration, sample);
    if (!(rows < MAX_ROWS))
        return lwi_fail(&r->batch->error, LW_ERR_ARGUMENT, "sample: %g rows are too many", rows);
    TRY(row_at(r, 0));
    for (double k = 1; k <= rows && lw_batch_failed(b) < b->n; k++)
        TRY(row_at(r, lwi_run_row_time(sample, k)));
    return duration > 0 && lw_batch_failed(b) < b->n ? row_at(r, duration) : LW_OK;
}

lw_status lw_batch_run(lw_batch *b, lw_batch_row row, void *row_user, lw_progress progress,
                       void *progress_user)
{
    if (!b) return LW_ERR_ARGUMENT;
    run r = {b, row, progress, row_user, progress_user, b->options.duration};
    if (b->options.sample == LW_SAMPLE_STEPS)
        return lwi_fail(
            &b->error, LW_ERR_UNSUPPORTED,
            "sample: instances have separate time steps, a batch has rows at times only");
    lwi_batch_cancel *cancel = &b->cancel;
    cancel->progress = progress, cancel->user = progress_user, cancel->end = r.end;
    cancel->latest = 0;
    cancel->called = lwi_clock();
    const lw_status status = run_all(&r);
    cancel->progress = NULL, cancel->stopped = false;
    return status;
}
