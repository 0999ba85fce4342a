// precision.h -- the work-precision diagram of several results.
#ifndef LWI_PLOT_PRECISION_H
#define LWI_PLOT_PRECISION_H

#include "plot/figure.h"

#include <linkwork/plot.h>

/** Two panels, the error over evaluations and over time, a curve for every method.
 *  @param arena  memory of the figure */
lw_status lwi_plot_precision_figure(lw_result *const *results, const char *const *names, int count,
                                    const char *reference, lwi_arena *arena,
                                    lwi_plot_figure *figure, lw_error *error);

#endif
