// stopwatch.c -- samples of CPU time.
#include "cli/stopwatch.h"

#include <stdlib.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

enum { FEWEST = 5, MOST = 200 };

static double clock_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double stopwatch(void)
{
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

double stopwatch_wall(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

double stopwatch_children(void)
{
    struct tms t;
    times(&t);
    return (double)(t.tms_cutime + t.tms_cstime) / (double)sysconf(_SC_CLK_TCK);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// [s] of one evaluation, the mean of `repeats`
static double sample(double (*clock)(void), int (*evaluate)(void *), void *work, long repeats,
                     int *status)
{
    const double start = clock();
    for (long i = 0; i < repeats && !*status; i++) *status = evaluate(work);
    return (clock() - start) / (double)repeats;
}

int stopwatch_measure_by(double (*clock)(void), int (*evaluate)(void *work), void *work,
                         double seconds, int samples, timing *result)
{
    double seen[MOST];
    int status = 0;
    sample(clock, evaluate, work, 2, &status); // warm
    const double once = sample(clock, evaluate, work, 1, &status) + 1e-9;
    const long repeats = 1 + (long)(1e-3 / once);
    const double wanted = samples > 0 ? samples : seconds / (once * (double)repeats);
    const double fewest = samples > 0 ? 1 : FEWEST;
    const int n = (int)(wanted < fewest ? fewest : wanted > MOST ? MOST : wanted);
    for (int i = 0; i < n && !status; i++)
        seen[i] = sample(clock, evaluate, work, repeats, &status);
    if (status) return status;
    qsort(seen, (size_t)n, sizeof *seen, by_size);
    *result = (timing){n, seen[0], seen[n / 2]};
    return 0;
}

int stopwatch_measure(int (*evaluate)(void *work), void *work, double seconds, int samples,
                      timing *result)
{
    return stopwatch_measure_by(stopwatch, evaluate, work, seconds, samples, result);
}
