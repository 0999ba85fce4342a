// equilibrium.h -- static equilibria of mechanisms with states of signals.
#ifndef LWI_ANALYSIS_EQUILIBRIUM_H
#define LWI_ANALYSIS_EQUILIBRIUM_H

#include "analysis/state.h"

#include <linkwork/analysis.h>

/** lw_model_equilibrium of a model with states of signals that are integrated.
 *  @param report  in: friction, relative; out: the rest */
lw_status lwi_equilibrium_of_signals(const lw_model *model, const lw_equilibrium_desc *desc,
                                     lw_model **balanced, lw_equilibrium *report, lw_error *error);

#endif
