// times.c -- the bin of a time is the leading bits of the double: exponent and five bits of the mantissa.
#include "base/times.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum {
    PER_OCTAVE = 32,
    MANTISSA = 52,
    DROPPED = 47, // bits below the five that distinguish the bins of an octave
    LOWEST = -27, // the first octave begins at 2^-27 s, 7.5 ns
    BIAS = 1023
};

#define LONGEST_SLEEP 1e6 // [s]

double lwi_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool lwi_sleep_until(double time)
{
    const double latest = lwi_clock() + LONGEST_SLEEP; // times beyond a time_t exist
    if (time > latest) return lwi_sleep_until(latest) && false;
#ifdef TIMER_ABSTIME
    const double whole = floor(time);
    const struct timespec at = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (time - whole))};
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != EINTR;
#else // macOS: sleep for the remaining time, repeatedly
    for (double left; (left = time - lwi_clock()) > 0;) {
        const double whole = floor(left);
        const struct timespec part = {.tv_sec = (time_t)whole,
                                      .tv_nsec = (long)(1e9 * (left - whole))};
        if (nanosleep(&part, NULL) && errno == EINTR) return false;
    }
    return true;
#endif
}

void lwi_times_add(lwi_times *times, double seconds)
{
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    const int64_t first = (int64_t)(BIAS + LOWEST) << (MANTISSA - DROPPED);
    const int64_t at = (int64_t)(bits >> DROPPED) - first;
    const bool inside = seconds > 0 && at > 0;
    times->bin[!inside ? 0 : at < LWI_TIMES_BINS ? at : LWI_TIMES_BINS - 1]++;
    times->minimum = times->count ? fmin(times->minimum, seconds) : seconds;
    times->count++;
    times->total += seconds;
    times->maximum = fmax(times->maximum, seconds);
}

double lwi_times_quantile(const lwi_times *times, double p)
{
    long below = 0;
    for (int i = 0; i < LWI_TIMES_BINS && times->count; i++) {
        below += times->bin[i];
        if ((double)below < p * (double)times->count) continue;
        const double end = ldexp(1 + (i % PER_OCTAVE + 1.0) / PER_OCTAVE, LOWEST + i / PER_OCTAVE);
        return fmin(end, times->maximum);
    }
    return times->maximum;
}
