// select.h -- names, patterns and presets to panels of quantities.
#ifndef LWI_PLOT_SELECT_H
#define LWI_PLOT_SELECT_H

#include "base/base.h"

#include <linkwork/plot.h>

/** The columns of a result, then formulas of them (lwi_plot_derive). */
typedef struct lwi_plot_table {
    const lw_column_info *info;             ///< [n]
    int n, stored;                          ///< `stored` of them are of the result
    const struct lwi_plot_derived *derived; ///< [n - stored]
} lwi_plot_table;

typedef enum lwi_plot_measure {
    LWI_PLOT_VALUE,   ///< column[0]
    LWI_PLOT_CHANGE,  ///< column[0] minus that of the first row shown
    LWI_PLOT_BALANCE, ///< (column[0] - column[1]) minus the same in the first row shown
    LWI_PLOT_SIZE     ///< root of the sum of squares of column[0..2]
} lwi_plot_measure;

/** One curve. */
typedef struct lwi_plot_quantity {
    const char *name; ///< in the key; "": as the title of the panel
    lwi_plot_measure measure;
    int column[3];
} lwi_plot_quantity;

typedef struct lwi_plot_choice {
    const char *title, *unit;
    int x;               ///< column
    const char *x_title; ///< NULL: the column's name
    bool log;
    lwi_plot_quantity *quantity; ///< [nquantity], memory for `room`
    int nquantity, room;
} lwi_plot_choice;

typedef struct lwi_plot_selection {
    lwi_plot_choice *panel;
    int npanel;
    int columns;      ///< panels side by side
    bool shared_x;    ///< all panels have the same x
    const char *note; ///< what is missing; NULL: nothing
} lwi_plot_selection;

/** Matches `*` with any text, `?` with one letter. */

/** @return LW_ERR_ARGUMENT: a name without a column (the nearest is named), a preset without its
 *          columns; LW_ERR_MEMORY */
lw_status lwi_plot_select(const lwi_plot_table *columns, const lw_plot_options *options,
                          lwi_arena *arena, lwi_plot_selection *selection, lw_error *error);

#endif
