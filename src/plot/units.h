// units.h -- the units that a picture is drawn in.
#ifndef LWI_PLOT_UNITS_H
#define LWI_PLOT_UNITS_H

#include "base/base.h"

/** Checks a list of units, "deg,mm,kN".   @param list  NULL: none      @return LW_ERR_ARGUMENT */
lw_status lwi_plot_units_check(const char *list, lw_error *error);
/** The unit of the list for quantities in `unit`: the first of the same kind; else `unit` itself.
 *  @param factor  out: from `unit` to that one
 *  @return memory of `unit` or of the arena; NULL: no memory */
const char *lwi_plot_units_find(const char *list, const char *unit, lwi_arena *arena,
                                double *factor);
/** The same for the units of a panel, "rad, J": each of them.      @return NULL: no memory */
const char *lwi_plot_units_find_each(const char *list, const char *units, lwi_arena *arena);

#endif
