// index3_times.c -- where the time of steps goes, and how it is distributed.
//
// Times of steps fall into bins that are 5 % wide, so that quantiles need no memory of the steps.
#include "formulation/index3.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define SHORTEST 1e-7             // [s] lower end of the first bin; the last one ends at 30 s
#define WIDTH 0.04879016416943205 // ln 1.05

double lwi_index3_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void lwi_index3_timed(lwi_index3_times *times, double seconds)
{
    const double bin = seconds > SHORTEST ? log(seconds / SHORTEST) / WIDTH : 0;
    times->bin[bin < LWI_INDEX3_BINS - 1 ? (int)bin : LWI_INDEX3_BINS - 1]++;
    times->worst = fmax(times->worst, seconds);
    times->total += seconds;
}

// Upper end of the bin below which the part p of all steps lies.
static double quantile(const lwi_index3_times *times, long steps, double p)
{
    long below = 0;
    for (int i = 0; i < LWI_INDEX3_BINS; i++) {
        below += times->bin[i];
        if ((double)below >= p * (double)steps) return SHORTEST * exp(WIDTH * (i + 1));
    }
    return times->worst;
}

void lwi_index3_report(const lwi_work *work, char *text, size_t size)
{
    const lwi_index3 *d = work->data;
    const lwi_index3_counts *n = &d->counts;
    const lwi_index3_times *t = &d->times;
    text[0] = 0;
    if (!n->steps || !(t->total > 0)) return;
    const double assembly = t->total - t->solve - t->projection;
    snprintf(
        text, size,
        "%.2f iterations per step; rows, forces and matrix %.0f %%, solution %.1f %%, projections "
        "%.0f %%\nsteps take %.3g s (median), %.3g s (99.9 %%), %.3g s at most",
        (double)n->iterations / (double)n->steps, 100 * assembly / t->total,
        100 * t->solve / t->total, 100 * t->projection / t->total,
        fmin(t->worst, quantile(t, n->steps, 0.5)), fmin(t->worst, quantile(t, n->steps, 0.999)),
        t->worst);
}
