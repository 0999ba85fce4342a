// axis.h -- the scale of an axis: its range, round ticks and their labels.  Draws nothing.
#ifndef LWI_PLOT_AXIS_H
#define LWI_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { LWI_PLOT_AXIS_TICKS = 32, LWI_PLOT_AXIS_LABEL = 32 };

/** Numbers beyond +-LWI_PLOT_AXIS_HUGE are treated as not finite: differences of two must exist. */
#define LWI_PLOT_AXIS_HUGE 1e300

/** Range of finite values. */
typedef struct lwi_plot_range {
    double lo, hi;   ///< lo > hi: no value yet
    double positive; ///< smallest value above 0; infinite: none
} lwi_plot_range;

/** Positions and labels of the ticks: value = offset + label 10^exponent. */
typedef struct lwi_plot_axis {
    bool log;
    double lo, hi; ///< values at the two ends; lo < hi
    double step;   ///< between ticks, 1, 2 or 5 times a power of ten; logarithmic: decades
    double offset; ///< subtracted from every label; 0 if labels differ without it
    int exponent;  ///< of the power of ten that every label is divided by
    int ntick;
    double tick[LWI_PLOT_AXIS_TICKS];
    char label[LWI_PLOT_AXIS_TICKS][LWI_PLOT_AXIS_LABEL];
} lwi_plot_axis;

lwi_plot_range lwi_plot_range_empty(void);
bool lwi_plot_range_is_empty(const lwi_plot_range *range);
void lwi_plot_range_add(lwi_plot_range *range, double value);
bool lwi_plot_plottable(double value); ///< finite and below LWI_PLOT_AXIS_HUGE

/** An axis over `range`, widened by `pad` of its length on both sides, with at most `max_ticks`
 *  ticks (2 .. LWI_PLOT_AXIS_TICKS).  A constant gets a margin of 10 %; an empty range becomes 0 .. 1;
 *  without a positive value a logarithmic axis becomes a linear one. */
lwi_plot_axis lwi_plot_axis_fit(lwi_plot_range range, bool log, double pad, int max_ticks);
/** Sets the ticks of an axis with known ends; axis->step, if > 0, is their distance. */
void lwi_plot_axis_ticks(lwi_plot_axis *axis, int max_ticks);

/** 0 at lo, 1 at hi.  Zeros and negative numbers are at the lower end of a logarithmic axis. */
double lwi_plot_axis_at(const lwi_plot_axis *axis, double value);

/** Step 1, 2 or 5 times a power of ten: the smallest with at most `max_ticks` ticks in `length`. */
double lwi_plot_nice_step(double length, int max_ticks);

/** "\u221212", "10\u207B\u00B9\u00B2": with the typographic minus sign and superscripts. */
void lwi_plot_put_number(char *text, size_t size, double value, int decimals);
void lwi_plot_put_power(char *text, size_t size, int exponent);

#endif
