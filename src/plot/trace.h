// trace.h -- the points of a curve that show: of any number of rows, what a picture can resolve.
#ifndef LWI_PLOT_TRACE_H
#define LWI_PLOT_TRACE_H

#include <stdbool.h>

/** Takes points one after the other, in points of the picture, and keeps those that show: per half
 *  point of width the first, lowest, highest and last one, and of those none that lies within a
 * tenth of a point of the line through its neighbours. */
typedef struct lwi_plot_trace {
    double (*p)[2]; ///< [n] kept; released by lwi_plot_trace_free
    int n, room;
    bool full; ///< no memory: points are missing
    // the column of half a point that is being collected
    int column, count, lowest, highest; // which of the `count` points were the extremes
    double first[2], low[2], high[2], last[2];
    // points since `anchor`, all inside a cone of directions
    double anchor[2], end[2], right[2], left[2], reach;
    int state; // 0 no anchor, 1 anchor, 2 anchor and end, 3 also a cone
} lwi_plot_trace;

void lwi_plot_trace_add(lwi_plot_trace *trace, double x, double y);
/** Completes the curve; the points may then be drawn. */
void lwi_plot_trace_end(lwi_plot_trace *trace);
/** Forgets the points, keeps the memory. */
void lwi_plot_trace_clear(lwi_plot_trace *trace);
void lwi_plot_trace_free(lwi_plot_trace *trace);

/** Of n rows with x increasing: first, lowest, highest and last of each of `buckets` groups of
 * equal size, in place, values that are not finite left out but one per group.  @return how many
 * rows remain, n where there are not more than 4 * buckets */
long lwi_plot_thin_rows(double *x, double *y, long n, long buckets);

#endif
