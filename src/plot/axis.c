// axis.c -- ranges, round ticks (1, 2, 5 times powers of ten) and labels that differ from one another.
//
// Labels are short: value = offset + label 10^exponent.  The exponent is set if all values are very large
// or small, the offset if they differ only after the fifth digit (an energy that is conserved).
#include "plot/axis.h"

#include "base/assert.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

lwi_plot_range lwi_plot_range_empty(void)
{
    return (lwi_plot_range){.lo = INFINITY, .hi = -INFINITY, .positive = INFINITY};
}

bool lwi_plot_range_is_empty(const lwi_plot_range *range)
{
    return !(range->lo <= range->hi);
}

bool lwi_plot_plottable(double value)
{
    return fabs(value) <= LWI_PLOT_AXIS_HUGE;
}

void lwi_plot_range_add(lwi_plot_range *range, double value)
{
    if (!lwi_plot_plottable(value)) return;
    if (value < range->lo) range->lo = value;
    if (value > range->hi) range->hi = value;
    if (value > 0 && value < range->positive) range->positive = value;
}

// ------------------------------------------------------------------------------------------ labels

void lwi_plot_put_number(char *text, size_t size, double value, int decimals)
{
    char digits[400];
    const double half = 0.5 * pow(10, -decimals);
    if (fabs(value) < half) value = 0; // no "-0"
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(value));
    snprintf(text, size, "%s%s", value < 0 ? "\u2212" : "", digits);
}

void lwi_plot_put_power(char *text, size_t size, int exponent)
{
    static const char *const raised[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    char digits[16], power[64] = "";
    snprintf(digits, sizeof digits, "%d", exponent < 0 ? -exponent : exponent);
    if (exponent < 0) strcpy(power, "\u207B");
    for (const char *d = digits; *d; d++) strcat(power, raised[*d - '0']);
    snprintf(text, size, "10%s", power);
}

// ------------------------------------------------------------------------------------------ ticks

double lwi_plot_nice_step(double length, int max_ticks)
{
    static const double nice[] = {1, 2, 5, 10};
    LWI_ASSERT(length > 0 && max_ticks > 0);
    const double raw = length / max_ticks, power = pow(10, floor(log10(raw)));
    for (int i = 0; i < 3; i++)
        if (nice[i] * power >= raw * (1 - 1e-9)) return nice[i] * power;
    return 10 * power;
}

static int decade(double value)
{
    return (int)floor(log10(value) + 1e-9);
}

// Sets the exponent and the offset of the labels.
static void shorten(lwi_plot_axis *a)
{
    const double size = fmax(fabs(a->lo), fabs(a->hi)), length = a->hi - a->lo;
    a->offset = 0, a->exponent = 0;
    if (length < 1e-4 * size) {
        const double unit = pow(10, decade(length) + 2); // labels of at most three digits
        a->offset = unit * rint(0.5 * (a->lo + a->hi) / unit);
    }
    const double largest = fmax(fabs(a->lo - a->offset), fabs(a->hi - a->offset));
    if (largest >= 1e5 || largest < 1e-2)
        a->exponent = 3 * (int)floor(decade(largest) / 3.0); // a multiple of three
}

static void linear_ticks(lwi_plot_axis *a, int max_ticks)
{
    if (a->step <= 0) a->step = lwi_plot_nice_step(a->hi - a->lo, max_ticks);
    shorten(a);
    const double from = a->lo - a->offset, to = a->hi - a->offset, slack = 1e-6 * a->step;
    const int decimals = a->exponent - decade(a->step);
    const double first = ceil((from - slack) / a->step);
    for (a->ntick = 0; a->ntick < LWI_PLOT_AXIS_TICKS; a->ntick++) {
        const double value = (first + a->ntick) * a->step; // rounding errors do not add up
        if (value > to + slack) break;
        a->tick[a->ntick] = a->offset + value;
        lwi_plot_put_number(a->label[a->ntick], LWI_PLOT_AXIS_LABEL, value / pow(10, a->exponent),
                            decimals > 0 ? decimals : 0);
    }
}

// Whole decades.
static void log_ticks(lwi_plot_axis *a, int max_ticks)
{
    const int first = (int)rint(log10(a->lo)), last = (int)rint(log10(a->hi));
    int stride = (last - first) / max_ticks + 1;
    a->step = stride, a->offset = 0, a->exponent = 0, a->ntick = 0;
    for (int k = first; k <= last && a->ntick < LWI_PLOT_AXIS_TICKS; k += stride) {
        a->tick[a->ntick] = pow(10, k);
        lwi_plot_put_power(a->label[a->ntick++], LWI_PLOT_AXIS_LABEL, k);
    }
}

void lwi_plot_axis_ticks(lwi_plot_axis *axis, int max_ticks)
{
    if (axis->log)
        log_ticks(axis, max_ticks);
    else
        linear_ticks(axis, max_ticks);
}

// ------------------------------------------------------------------------------------------ range

enum { MAX_DECADES = 20 };

static void fit_log(lwi_plot_axis *a, const lwi_plot_range *range)
{
    int first = decade(range->positive), last = (int)ceil(log10(range->hi) - 1e-9);
    if (last <= first) last = first + 1;
    if (first < last - MAX_DECADES)
        first = last - MAX_DECADES; // smaller values are drawn at the lower end
    a->lo = pow(10, first), a->hi = pow(10, last);
}

static void fit_linear(lwi_plot_axis *a, const lwi_plot_range *range, double pad)
{
    const double size = fmax(fabs(range->lo), fabs(range->hi)), length = range->hi - range->lo;
    if (size < 1e-290) { // zero, or too small for a tick
        a->lo = -1, a->hi = 1;
    } else if (length <= 16 * DBL_EPSILON * size) { // a constant, to rounding
        const double middle = 0.5 * range->lo + 0.5 * range->hi;
        a->lo = middle - 0.1 * size, a->hi = middle + 0.1 * size;
    } else {
        a->lo = range->lo - pad * length, a->hi = range->hi + pad * length;
    }
}

lwi_plot_axis lwi_plot_axis_fit(lwi_plot_range range, bool log, double pad, int max_ticks)
{
    lwi_plot_axis axis = {.log = log && isfinite(range.positive)};
    LWI_ASSERT(max_ticks >= 2 && max_ticks <= LWI_PLOT_AXIS_TICKS);
    if (lwi_plot_range_is_empty(&range))
        axis.lo = 0, axis.hi = 1;
    else if (axis.log)
        fit_log(&axis, &range);
    else
        fit_linear(&axis, &range, pad);
    LWI_ASSERT(isfinite(axis.hi - axis.lo) && axis.lo < axis.hi);
    lwi_plot_axis_ticks(&axis, max_ticks);
    return axis;
}

double lwi_plot_axis_at(const lwi_plot_axis *axis, double value)
{
    if (!axis->log) return (value - axis->lo) / (axis->hi - axis->lo);
    if (!(value > axis->lo)) return isnan(value) ? value : 0;
    return log10(value / axis->lo) / log10(axis->hi / axis->lo);
}
