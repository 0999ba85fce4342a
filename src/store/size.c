// size.c -- how many variants a part has: a few of them, spread over the study, are run for about a second.
#define _XOPEN_SOURCE 700
#include "base/threads.h"
#include "store/store.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define PART_SECONDS 20.0 // of one part
#define LONGEST 1.0       // s of a trial, which is then ended
#define SHORTEST 0.2      // s: a shorter one is repeated with more variants
enum { LANES = 8, MORE = 8, MOST = 1000000 };

typedef struct trial {
    struct timespec start;
    double part; // of the run that is done, 0 to 1
} trial;

static double seconds(const trial *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->start.tv_sec) + 1e-9 * (double)(now.tv_nsec - t->start.tv_nsec);
}

static int poll(void *user, double time, double end)
{
    trial *t = user;
    t->part = end > 0 ? time / end : 1;
    return seconds(t) > LONGEST;
}

static lw_status nothing(void *user, lw_batch *batch, double time)
{
    (void)user, (void)batch, (void)time;
    return LW_OK;
}

// Runs `n` variants; variants per second.
static lw_status run(const lw_model *model, lw_batch_desc *desc, trial *t, double *rate,
                     lw_error *error)
{
    lw_sweep *sweep;
    *t = (trial){.part = 0};
    clock_gettime(CLOCK_MONOTONIC, &t->start);
    TRY(lw_sweep_create(model, desc, &sweep, error));
    const lw_status status = lw_sweep_run(sweep, nothing, NULL, poll, t);
    if (status == LW_OK) t->part = 1;
    *rate = fmax(t->part, 1e-9) * desc->instances / fmax(seconds(t), 1e-9);
    if (status != LW_OK && status != LW_ERR_INTERRUPTED && error) *error = *lw_sweep_error(sweep);
    lw_sweep_destroy(sweep);
    return status == LW_ERR_INTERRUPTED ? LW_OK : status;
}

// The reference, which can run, and variants evenly spaced over all.
static void choose(const lw_table *variants, int reference, int n, double *values)
{
    const size_t width = (size_t)variants->columns;
    for (int i = 0; i < n; i++) {
        const int row = i ? (int)((double)i * variants->rows / n) : reference;
        if (width)
            memcpy(values + (size_t)i * width, lwi_table_row(variants, row),
                   width * sizeof *values);
    }
}

lw_status lwi_store_size(const lw_model *model, const lwi_manifest *m, const lw_table *variants,
                         int threads, int *rows, lw_error *error)
{
    trial t;
    double rate = 0;
    if (threads < 1) threads = lwi_processors();
    int n = LANES * threads;
    for (bool again = true; again; n *= MORE) {
        n = n < variants->rows ? n : variants->rows;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        double *values = LWI_PUSH(&arena, double, (size_t)n *(size_t)variants->columns);
        lw_status status = LW_ERR_MEMORY;
        if (values) {
            choose(variants, m->reference, n, values);
            lw_batch_desc desc = {.options = &m->options,
                                  .instances = n,
                                  .threads = threads,
                                  .nvary = variants->columns,
                                  .vary = lw_table_names(variants),
                                  .values = values};
            status = run(model, &desc, &t, &rate, error);
        } else {
            lwi_fail(error, status, "no memory for %d variants", n);
        }
        lwi_arena_free(&arena);
        TRY(status);
        again = seconds(&t) < SHORTEST && n < variants->rows && n < MOST / MORE;
    }
    *rows = (int)fmin(fmax(ceil(rate * PART_SECONDS), 1), fmin(variants->rows, MOST));
    return LW_OK;
}
