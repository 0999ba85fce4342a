// real_time.c -- report: how the wall-clock time of steps is divided.
#include "methods/index3/index3.h"

#include <stdio.h>

void lwi_index3_report(const lwi_work *work, char *text, size_t size)
{
    const lwi_index3 *d = work->data;
    const lwi_index3_counts *n = &d->counts;
    const lwi_index3_times *t = &d->times;
    text[0] = 0;
    if (!n->steps || !(t->total > 0)) return;
    const double assembly = t->total - t->solve - t->projection;
    const int used =
        snprintf(text, size,
                 "%.2f iterations per step; rows, forces and matrix %.0f %%, solution %.1f %%, "
                 "projections %.0f %%",
                 (double)n->iterations / (double)n->steps, 100 * assembly / t->total,
                 100 * t->solve / t->total, 100 * t->projection / t->total);
    if (used < 0 || (size_t)used >= size || !d->method.projection) return;
    snprintf(text + used, size - (size_t)used,
             " (of velocities %.1f %%, of accelerations %.1f %%, their matrix the rest)",
             100 * t->velocity / t->total, 100 * t->acceleration / t->total);
}
