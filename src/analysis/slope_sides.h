// slope_sides.h -- what two sides of a slope have in common: models that differ by the value of a parameter.
#ifndef LWI_ANALYSIS_SLOPE_SIDES_H
#define LWI_ANALYSIS_SLOPE_SIDES_H

#include "model/model.h"

bool lwi_sides_same_numbers(const double *a, const double *b, int n); ///< bit for bit
/** Do they have formulas with other numbers? */
bool lwi_sides_formulas_differ(const lw_model *a, const lw_model *b);
/** Do they have the same functions, and of a driven model the same joints?  Otherwise their equations may be equal at one
 *  time and differ at another. */
bool lwi_sides_same_at_all_times(const lw_model *a, const lw_model *b);
/** May the force be without effect at a state, as a slack tendon, and is it not known to have the same parameters? */
bool lwi_sides_may_pause(const lwi_force *a, const lwi_force *b);
/** Do two servos differ, apart from the numbers of formulas that they follow? */
bool lwi_sides_servos_differ(const lwi_force *a, const lwi_force *b);
/** Markers are read by columns alone. */
bool lwi_sides_markers_differ(const lw_model *a, const lw_model *b);
/** So are measures: their formulas have the values of parameters. */
bool lwi_sides_measures_differ(const lw_model *a, const lw_model *b);

#endif
