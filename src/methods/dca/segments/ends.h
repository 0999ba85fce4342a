// ends.h -- what an exchange between segments copies from one lane to another (blocks.h).
#ifndef LWI_METHODS_DCA_SEGMENTS_ENDS_H
#define LWI_METHODS_DCA_SEGMENTS_ENDS_H

#include "base/block_cholesky.h"
#include "methods/dca/segments/blocks.h"

#include <stddef.h>
#include <string.h>

/** Entries first ... end - 1 of lwi_path_end. */
typedef struct lwi_path_range {
    size_t first, end;
} lwi_path_range;

#define LWI_PATH_PLACE(field) (offsetof(lwi_path_end, field) / sizeof(lwi_lanes))
#define LWI_PATH_RANGE(from, to)                                                                   \
    {                                                                                              \
        LWI_PATH_PLACE(from), LWI_PATH_PLACE(to)                                                   \
    }

/** Those that an exchange takes up and down. */
static const lwi_path_range lwi_path_up[LWI_PATH_EXCHANGES] = {
    [LWI_PATH_MOMENTA] = LWI_PATH_RANGE(M, Q), [LWI_PATH_CORRECTION] = LWI_PATH_RANGE(z, R),
    [LWI_PATH_FACTORS] = LWI_PATH_RANGE(M, Q), [LWI_PATH_VELOCITIES] = LWI_PATH_RANGE(W, Q),
    [LWI_PATH_VECTORS] = LWI_PATH_RANGE(z, R),
};
static const lwi_path_range lwi_path_down[LWI_PATH_EXCHANGES] = {
    [LWI_PATH_MOMENTA] = LWI_PATH_RANGE(V0, W0), [LWI_PATH_CORRECTION] = LWI_PATH_RANGE(V, load),
    [LWI_PATH_FACTORS] = LWI_PATH_RANGE(W0, V),  [LWI_PATH_VELOCITIES] = LWI_PATH_RANGE(W0, V),
    [LWI_PATH_VECTORS] = LWI_PATH_RANGE(V0, g),  [LWI_PATH_LOADS] = LWI_PATH_RANGE(load, next),
};

static inline void lwi_path_copy_lane(lwi_path_end *to, int to_lane, const lwi_path_end *from,
                                      int from_lane, lwi_path_range range)
{
    double *x = (double *)to + to_lane;
    const double *y = (const double *)from + from_lane;
#pragma GCC unroll 8
    for (size_t i = range.first * LWI_LANES; i < range.end * LWI_LANES; i += LWI_LANES) x[i] = y[i];
}

/** Two neighbouring lanes of `from`, `lane` and the next one, to lane l of a and of b. */
static inline void lwi_path_part_lanes(lwi_path_end *a, lwi_path_end *b, int l,
                                       const lwi_path_end *from, int lane, lwi_path_range range)
{
    double *x = (double *)a + l, *y = (double *)b + l;
    const double *z = (const double *)from + lane;
#pragma GCC unroll 8
    for (size_t i = range.first * LWI_LANES; i < range.end * LWI_LANES; i += LWI_LANES) {
        const lwi_pair two = lwi_pair_load(z + i);
        x[i] = two[0];
        y[i] = two[1];
    }
}

/** And back. */
static inline void lwi_path_unite_lanes(lwi_path_end *to, int lane, const lwi_path_end *a,
                                        const lwi_path_end *b, int l, lwi_path_range range)
{
    double *z = (double *)to + lane;
    const double *x = (const double *)a + l, *y = (const double *)b + l;
#pragma GCC unroll 8
    for (size_t i = range.first * LWI_LANES; i < range.end * LWI_LANES; i += LWI_LANES) {
        const lwi_pair two = {x[i], y[i]};
        memcpy(z + i, &two, sizeof two);
    }
}

#endif
