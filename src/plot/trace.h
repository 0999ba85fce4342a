// trace.h -- thins the points of a curve to what a picture can resolve.
#ifndef LWI_PLOT_TRACE_H
#define LWI_PLOT_TRACE_H

#include <stdbool.h>

/** Keeps of the points added, in points of the picture, the first, lowest, highest and last of each half
 *  point of width, without those within a tenth of a point of the line through their neighbours. */
typedef struct lwi_plot_trace {
    double (*p)[2]; ///< [n] kept; released by lwi_plot_trace_free
    int n, room;
    bool full; ///< out of memory: points are missing
    // the current column of half a point
    int column, count, lowest, highest; // which of the `count` points were the extremes
    double first[2], low[2], high[2], last[2];
    // points after `anchor`, all inside a cone of directions
    double anchor[2], end[2], right[2], left[2], reach;
    int state; // 0 no anchor, 1 anchor, 2 anchor and end, 3 also a cone
} lwi_plot_trace;

void lwi_plot_trace_add(lwi_plot_trace *trace, double x, double y);
/** Completes the curve; the points may then be drawn. */
void lwi_plot_trace_end(lwi_plot_trace *trace);
/** Removes the points, keeps the memory. */
void lwi_plot_trace_clear(lwi_plot_trace *trace);
void lwi_plot_trace_free(lwi_plot_trace *trace);

/** Of n rows with x increasing: first, lowest, highest and last of each of `buckets` groups of
 * equal size, in place, at most one value per group that is not finite.
 *  @return number of rows left; n if there are not more than 4 * buckets */
long lwi_plot_thin_rows(double *x, double *y, long n, long buckets);

#endif
