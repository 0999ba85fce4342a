// times.h -- the clock of the wall, and how times are distributed without memory of each.
#ifndef LWI_BASE_TIMES_H
#define LWI_BASE_TIMES_H

#include <stdbool.h>

/** Monotonic [s]. */
double lwi_clock(void);
/** Sleeps to a time of that clock.  @return false: a signal came before */
bool lwi_sleep_until(double time);

enum { LWI_TIMES_BINS = 1024 };

/** Bins of 1/32 of an octave (2 to 3 %) from 7.5 ns to 32 s; the largest time is kept exactly. */
typedef struct lwi_times {
    long count;
    double total, least, worst; ///< [s]; 0: none yet
    long bin[LWI_TIMES_BINS];
} lwi_times;

/** Neither a lock nor a loop: the same few instructions whatever the time. */
void lwi_times_add(lwi_times *times, double seconds);
/** Upper end of the bin below which the part p of all times lies, at most the worst; 0: none. */
double lwi_times_quantile(const lwi_times *times, double p);

#endif
