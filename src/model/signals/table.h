// table.h -- curves through points, and surfaces through grids of points, with derivatives.
#ifndef LWI_MODEL_SIGNALS_TABLE_H
#define LWI_MODEL_SIGNALS_TABLE_H

#include "base/base.h"

#include <linkwork/model.h>

typedef struct lwi_axis {
    const double *x; ///< [n] strictly increasing
    int n;
    lw_ends ends;
} lwi_axis;

typedef struct lwi_table {
    lwi_axis axis[2];
    lw_interpolation how;
    const double *y;      ///< [axis 0 n], of a map [axis 0 n][axis 1 n]
    const double *slope2; ///< curve, spline: second derivatives at the points [n]
    /** Cubic: derivatives at the points.  Of a curve only the first; of a map along axis 0, axis 1 and both. */
    const double *slope[3];
} lwi_table;

/** Checks that a list has at least `minimum` numbers, all of them finite; `what`: their name.  @return LW_ERR_MODEL */
lw_status lwi_signal_array(const double *values, int n, int minimum, const char *what,
                           lw_error *error);
/** Checks the points and ends of a table, curve or map.  @return LW_ERR_MODEL */
lw_status lwi_table_check(const lw_function_desc *desc, lw_error *error);
/** What evaluation needs, the arrays of the description must stay where they are.  @return LW_ERR_MEMORY */
lw_status lwi_table_build(const lw_function_desc *desc, lwi_arena *arena, lwi_table *table);
/** f[0..2]: value and first two derivatives of a curve at x; where they jump, those of larger x. */
void lwi_curve_eval(const lwi_table *curve, double x, double f[3]);
/** f: value; derivatives along axis 0, axis 1; second ones 00, 01, 11. */
void lwi_map_eval(const lwi_table *map, const double x[2], double f[6]);
/** The next point of a curve after x, INFINITY: there is none. */
double lwi_curve_next(const lwi_table *curve, double x);

#endif
