// sample.h -- points of the unit cube for designs of studies.
#ifndef LWI_BATCH_SAMPLE_H
#define LWI_BATCH_SAMPLE_H

#include "base/base.h"

typedef enum lwi_sampling { LWI_SAMPLE_RANDOM, LWI_SAMPLE_LATIN, LWI_SAMPLE_SOBOL } lwi_sampling;

enum { LWI_SOBOL_DIMENSIONS = 53 }; ///< most dimensions of LWI_SAMPLE_SOBOL

/** Fills n points, the same for the same arguments on every machine.
 *  LWI_SAMPLE_RANDOM: independent and uniform; those of a smaller n come first.
 *  LWI_SAMPLE_LATIN: Latin hypercube, in every dimension one point in each of n equal intervals, at random within it.
 *  LWI_SAMPLE_SOBOL: Sobol sequence; seed 0: as published, else scrambled [owen1995]; those of a smaller n come first.
 *  @param u  [n][dimensions] out, 0 <= u < 1      @return LW_ERR_MEMORY */
lw_status lwi_sample_fill(lwi_sampling kind, uint64_t seed, int n, int dimensions, double *u,
                          lwi_arena *scratch);

/** x with probability u below it in the normal distribution of mean 0 and deviation 1, 0 < u < 1; relative error 1e-15. */
double lwi_normal_quantile(double u);

#endif
