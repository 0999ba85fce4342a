// pair.h -- two neighbours in an array, for operations side by side.  Every machine has pairs of doubles.
#ifndef LWI_BASE_PAIR_H
#define LWI_BASE_PAIR_H

#include <string.h>

typedef double lwi_pair __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) lwi_pair lwi_pair_load(const double *p)
{
    lwi_pair x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline __attribute__((always_inline)) void lwi_pair_store(double *p, lwi_pair x)
{
    memcpy(p, &x, sizeof x);
}

#endif
