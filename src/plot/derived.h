// derived.h -- quantities of a picture that are formulas of columns: "hypot(joint.A.fx, joint.A.fz)".
#ifndef LWI_PLOT_DERIVED_H
#define LWI_PLOT_DERIVED_H

#include "model/signals/formula.h"
#include "plot/select.h"

/** A formula and the columns that it reads. */
typedef struct lwi_plot_derived {
    lwi_formula formula; ///< of variables and the time
    int *column;         ///< [n] of the table
    double *factor;      ///< [n] from the unit of the column to SI
    int n, time;         ///< column of the time; -1: there is none
} lwi_plot_derived;

/** Adds to the table a column for each item of y, and for x, by and z, that is a formula and neither the name of a column
 *  nor a pattern; its name is the text.
 *  @return LW_ERR_ARGUMENT: the formula is wrong; LW_ERR_MEMORY */
lw_status lwi_plot_derive(lwi_plot_table *table, const lw_plot_options *options, lwi_arena *arena,
                          lw_error *error);
/** Reads `n` rows of a stored column. */
typedef lw_status lwi_plot_read(void *user, int column, double *values);
/** The values of a derived column in SI units. */
lw_status lwi_plot_derived_values(const lwi_plot_derived *derived, lwi_plot_read *read, void *user,
                                  long n, double *values, lw_error *error);

/** The next item of a list with commas, those in parentheses and quotes aside.
 *  @param at  [in, out] the rest of the list
 *  @return its length without the spaces around it; *item is where it begins */
int lwi_plot_next_item(const char **at, const char **item);

#endif
