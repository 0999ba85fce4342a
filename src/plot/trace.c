// trace.c -- thinning of curves.
//
// Two filters.  The first reduces each column of half a point to its first, lowest, highest and last
// point.  The second keeps the cone of directions from an anchor that pass all later points within
// TOLERANCE, and sets a new anchor when a point is outside the cone or reverses.
#include "plot/trace.h"

#include "base/assert.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN 0.5    // [points]
#define TOLERANCE 0.1 // [points]

static void copy(double *to, const double *from)
{
    memcpy(to, from, 2 * sizeof *to);
}
static double cross(const double *a, const double *b)
{
    return a[0] * b[1] - a[1] * b[0];
}
static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1];
}

// -------------------------------------------------------------------------------------- the cone

static void keep(lwi_plot_trace *t, const double *p)
{
    if (t->n == t->room && !t->full) {
        const int room = t->room < INT_MAX / 4 ? 2 * t->room + 256 : 0;
        void *grown = room ? realloc(t->p, (size_t)room * sizeof *t->p) : NULL;
        t->full = !grown;
        if (grown) t->p = grown, t->room = room;
    }
    if (!t->full) copy(t->p[t->n++], p);
}

static void turn(double *to, const double *d, double cosine, double sine)
{
    to[0] = cosine * d[0] - sine * d[1];
    to[1] = sine * d[0] + cosine * d[1];
}

// Intersects the cone with the directions that pass the point at d within the tolerance.
static void narrow(lwi_plot_trace *t, const double *d, double distance)
{
    LWI_ASSERT(distance > TOLERANCE);
    const double sine = TOLERANCE / distance, cosine = sqrt(1 - sine * sine);
    double right[2], left[2];
    turn(right, d, cosine, -sine);
    turn(left, d, cosine, sine);
    if (t->state < 3 || cross(t->right, right) > 0) copy(t->right, right);
    if (t->state < 3 || cross(left, t->left) > 0) copy(t->left, left);
    t->state = 3;
}

static bool fits(const lwi_plot_trace *t, const double *d, double distance)
{
    if (t->state < 3) return true;
    return cross(t->right, d) >= 0 && cross(d, t->left) >= 0 && dot(t->right, d) > 0 &&
           distance >= t->reach - TOLERANCE;
}

static void sift(lwi_plot_trace *t, const double *p)
{
    if (t->state == 0) {
        keep(t, p);
        copy(t->anchor, p);
        t->state = 1;
        return;
    }
    double d[2] = {p[0] - t->anchor[0], p[1] - t->anchor[1]};
    double distance = hypot(d[0], d[1]);
    if (!fits(t, d, distance)) {
        keep(t, t->end);
        copy(t->anchor, t->end);
        t->state = 1, t->reach = 0;
        d[0] = p[0] - t->anchor[0], d[1] = p[1] - t->anchor[1];
        distance = hypot(d[0], d[1]);
    }
    copy(t->end, p);
    if (t->state < 2) t->state = 2;
    t->reach = fmax(t->reach, distance);
    if (distance > TOLERANCE) narrow(t, d, distance);
}

// ------------------------------------------------------------------------------------ the columns

static void flush_column(lwi_plot_trace *t)
{
    if (!t->count) return;
    const bool low_first = t->lowest < t->highest;
    sift(t, t->first);
    if (t->count > 2) {
        sift(t, low_first ? t->low : t->high);
        sift(t, low_first ? t->high : t->low);
    }
    if (t->count > 1) sift(t, t->last);
    t->count = 0;
}

void lwi_plot_trace_add(lwi_plot_trace *t, double x, double y)
{
    const double p[2] = {x, y};
    const int column = (int)floor(fmin(fmax(x, -1e6), 1e6) / COLUMN);
    if (t->count && (column != t->column || t->count == INT_MAX)) flush_column(t);
    if (!t->count) {
        t->column = column, t->lowest = t->highest = 0;
        copy(t->first, p), copy(t->low, p), copy(t->high, p);
    }
    if (y < t->low[1]) copy(t->low, p), t->lowest = t->count;
    if (y > t->high[1]) copy(t->high, p), t->highest = t->count;
    copy(t->last, p);
    t->count++;
}

void lwi_plot_trace_end(lwi_plot_trace *t)
{
    flush_column(t);
    if (t->state >= 2) keep(t, t->end);
    t->state = 0, t->reach = 0;
}

void lwi_plot_trace_clear(lwi_plot_trace *t)
{
    t->n = 0, t->count = 0, t->state = 0, t->reach = 0;
}

void lwi_plot_trace_free(lwi_plot_trace *t)
{
    free(t->p);
    *t = (lwi_plot_trace){0};
}

// ------------------------------------------------------------------------------------------- rows

// Sorts four row numbers and drops equal ones.
static int sort_rows(long row[4])
{
    int n = 0;
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0 && row[k] < row[k - 1]; k--) {
            const long swap = row[k];
            row[k] = row[k - 1], row[k - 1] = swap;
        }
    for (int i = 0; i < 4; i++)
        if (!n || row[i] != row[n - 1]) row[n++] = row[i];
    return n;
}

// Rows of [from, to) to keep: first, lowest, highest, and last or one that is not finite (a gap).
static int pick_rows(const double *y, long from, long to, long row[4])
{
    long low = -1, high = -1, gap = -1;
    for (long i = from; i < to; i++) {
        if (!isfinite(y[i])) {
            gap = i;
            continue;
        }
        if (low < 0 || y[i] < y[low]) low = i;
        if (high < 0 || y[i] > y[high]) high = i;
    }
    row[0] = from, row[1] = low < 0 ? from : low, row[2] = high < 0 ? from : high;
    row[3] = gap < 0 ? to - 1 : gap;
    return sort_rows(row);
}

long lwi_plot_thin_rows(double *x, double *y, long n, long buckets)
{
    if (n <= 4 * buckets) return n;
    long kept = 0;
    LWI_ASSERT(buckets > 0);
    for (long b = 0; b < buckets; b++) {
        const long from = (long)((double)n * (double)b / (double)buckets);
        const long to = (long)((double)n * (double)(b + 1) / (double)buckets);
        long row[4];
        const int count = pick_rows(y, from, to, row);
        LWI_ASSERT(count > 0 && kept <= row[0]); // rows move down only
        for (int i = 0; i < count; i++, kept++) x[kept] = x[row[i]], y[kept] = y[row[i]];
    }
    return kept;
}
