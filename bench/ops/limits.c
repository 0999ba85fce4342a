// limits.c -- peak rates of the processor: multiplications and additions of doubles per second, scalar
// and in the widest registers, and memory bandwidth.
//
// Counts of bench_ops divided by these rates are lower bounds of the run time.  Method: twelve
// independent chains of operations keep the units busy; each result depends on the preceding one of its
// chain, so the compiler cannot remove any.  Bandwidth: blocks of several sizes are read and written.
#include "cli/stopwatch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX512F__
enum { LANES = 8 };
#elif defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double lanes __attribute__((vector_size(8 * LANES)));

enum { CHAINS = 12, TURNS = 100000 };

// One operation of a chain; HIDE prevents the compiler from removing or merging operations.
#define DO(x, operation) ((x) = (x)operation by, HIDE(x))
#define HIDE(x) ({ __asm__ volatile("" : "+x"(x)); })

#define KEEP_BUSY(name, type, operation)                                                           \
    static int name(void *work)                                                                    \
    {                                                                                              \
        const type by = *(const type *)work;                                                       \
        type a = by, b = by, c = by, d = by, e = by, f = by;                                       \
        type g = by, h = by, i = by, j = by, k = by, l = by;                                       \
        for (int turn = 0; turn < TURNS; turn++) {                                                 \
            DO(a, operation), DO(b, operation), DO(c, operation), DO(d, operation);                \
            DO(e, operation), DO(f, operation), DO(g, operation), DO(h, operation);                \
            DO(i, operation), DO(j, operation), DO(k, operation), DO(l, operation);                \
        }                                                                                          \
        return 0;                                                                                  \
    }
KEEP_BUSY(multiply_scalars, double, *)
KEEP_BUSY(multiply_lanes, lanes, *)
KEEP_BUSY(add_scalars, double, +)
KEEP_BUSY(add_lanes, lanes, +)

static double rate(int (*operation)(void *), int at_once)
{
    union {
        double one;
        lanes all;
    } by = {.all = {0}};
    double *x = (double *)&by;
    for (int i = 0; i < LANES; i++) x[i] = 1.0000001;
    timing t = {0};
    stopwatch_measure(operation, &by, 0.5, 0, &t);
    return (double)CHAINS * TURNS * at_once / t.min;
}

// Reads a block and writes it back; bandwidth() counts the bytes of both directions.
typedef struct block {
    lanes *at;
    size_t count, turns;
} block;

static int rewrite(void *work)
{
    const block *b = work;
    for (size_t turn = 0; turn < b->turns; turn++)
        for (size_t i = 0; i + 4 <= b->count; i += 4) {
            lanes w = b->at[i], x = b->at[i + 1], y = b->at[i + 2], z = b->at[i + 3];
            HIDE(w), HIDE(x), HIDE(y), HIDE(z);
            b->at[i] = w, b->at[i + 1] = x, b->at[i + 2] = y, b->at[i + 3] = z;
        }
    return 0;
}

static double bandwidth(size_t bytes)
{
    enum { MOVED = 1 << 26 };
    block b = {.count = bytes / sizeof(lanes), .turns = MOVED / bytes};
    b.at = aligned_alloc(64, bytes);
    if (!b.at) return 0;
    memset(b.at, 0, bytes);
    timing t = {0};
    stopwatch_measure(rewrite, &b, 0.5, 0, &t);
    free(b.at);
    return 2.0 * (double)(b.turns * bytes) / t.min;
}

int main(void)
{
    static const size_t kib[] = {16, 512, 8192, 65536};
    const double ms = rate(multiply_scalars, 1), as = rate(add_scalars, 1);
    const double ml = rate(multiply_lanes, LANES), al = rate(add_lanes, LANES);
    printf("10^9 per second           one by one   %d lanes\n", LANES);
    printf("multiplications           %10.2f %9.2f\n", 1e-9 * ms, 1e-9 * ml);
    printf("additions                 %10.2f %9.2f\n", 1e-9 * as, 1e-9 * al);
    printf("10^9 bytes per second, read and written in place\n");
    for (size_t i = 0; i < sizeof kib / sizeof kib[0]; i++)
        printf("%6zu KiB                %10.1f\n", kib[i], 1e-9 * bandwidth(kib[i] << 10));
    return 0;
}
