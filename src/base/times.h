// times.h -- wall-clock time, and a histogram of times.
#ifndef LWI_BASE_TIMES_H
#define LWI_BASE_TIMES_H

#include <stdbool.h>

/** Monotonic [s]. */
double lwi_clock(void);
/** Sleeps until a time of that clock.  @return false: not yet, interrupted by a signal or after 11 days */
bool lwi_sleep_until(double time);

enum { LWI_TIMES_BINS = 1024 };

/** Bins of 1/32 of an octave (2 to 3 %) from 7.5 ns to 32 s; the smallest and the largest time are exact. */
typedef struct lwi_times {
    long count;
    double total, minimum, maximum; ///< [s]; 0: none yet
    long bin[LWI_TIMES_BINS];
} lwi_times;

/** Takes constant time, without locks and loops. */
void lwi_times_add(lwi_times *times, double seconds);
/** The quantile p: the upper end of its bin, at most the maximum; 0: no times. */
double lwi_times_quantile(const lwi_times *times, double p);

#endif
