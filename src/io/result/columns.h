// columns.h -- the columns of a result.
//
// The writers and readers of every format take names, units and frames from here; all of them come from the
// table of quantities (quantities.c).
#ifndef LWI_IO_RESULT_COLUMNS_H
#define LWI_IO_RESULT_COLUMNS_H

#include "io/result/quantities.h"
#include "io/result/view.h"

/** A column: one number of each row. */
typedef struct lwi_result_column {
    const char *name; ///< "body.rod.x"
    const char *unit, *frame;
    const lwi_quantity *quantity; ///< NULL: unknown
    int joint; ///< index in the writer's array `undetermined`: the joint of a reaction; otherwise -1
    int item, item_length; ///< lwi_result_column_item
} lwi_result_column;

typedef struct lwi_result_columns {
    lwi_arena arena;
    int n;
    lwi_result_column *column; ///< [n] in the order of a file; the first is the time; NULL: unnamed
    lwi_result_entry *entry;   ///< [nentry] of a model's columns, in their order
    int nentry;
    lw_observe level;      ///< of observations that have all of them
    lwi_result_view *view; ///< [nview] reactions elsewhere
    int nview;
    struct lwi_measures *measures; ///< of the model, owned; NULL: no column needs them
} lwi_result_columns;

/** Columns of a model's results at `level`. */
lw_status lwi_result_columns_of_model(const lw_model *model, lw_observe level,
                                      lwi_result_columns *columns);
/** The columns that patterns choose (choose.c).
 *  @param patterns  separated by commas; NULL, "" or "auto": all of `level`
 *  @return LW_ERR_ARGUMENT: a pattern that matches nothing, with the nearest name */
lw_status lwi_result_columns_choose(const lw_model *model, lw_observe level, const char *patterns,
                                    lwi_result_columns *columns, lw_error *error);
/** Exactly these columns of a model, without measures; those of reactions elsewhere come last. */
lw_status lwi_result_columns_exactly(const lw_model *model, const char *const *names, int n,
                                     lwi_result_columns *columns, lw_error *error);
/** The lowest level that has a column of a model. */
lw_observe lwi_result_column_level(const lwi_result_columns *columns, int column);
/** Fills `column` from `entry`. */
lw_status lwi_result_columns_name(lwi_result_columns *columns, const lw_model *model);
/** As lwi_result_columns_choose, without the names (`column`) where no pattern needs them: they take more memory than
 *  anything else of a large result. */
lw_status lwi_result_columns_unnamed(const lw_model *model, lw_observe level, const char *patterns,
                                     lwi_result_columns *columns, lw_error *error);
enum {
    LWI_QUANTITY_NAME = 32, ///< bytes of the last part of a name, at most
    LWI_STEM_PIECE = 16     ///< stems can be read in pieces of so many bytes
};

/** The names of an entry: each is the stem and one of the ends. */
typedef struct lwi_result_names {
    const char *stem; ///< "body.rod."
    size_t length;    ///< of the stem
    bool same;        ///< the stem is that of the entry before
    bool elsewhere;   ///< ends have the place of a reaction, of any length: "fx@tip"
    int n;
    const char *end[LWI_QUANTITY_PARTS]; ///< [n] "x"
    char numbered[LWI_QUANTITY_NAME + 16];
} lwi_result_names;

/** Passes the names of all entries in their order.  @return LW_ERR_MEMORY */
lw_status lwi_result_columns_visit(const lwi_result_columns *columns, const lw_model *model,
                                   void (*visit)(void *user, const lwi_result_names *names),
                                   void *user);
/** The same from names.
 *  @param names  [n] distinct, the first is "time" */
lw_status lwi_result_columns_of_names(const char *const *names, int n, lwi_result_columns *columns);
void lwi_result_columns_free(lwi_result_columns *columns);

/** The quantity of a column by its name; NULL: unknown. */
const lwi_quantity *lwi_result_column_quantity(const char *name);
/** Columns of the pose of a body, by name: x, y, z of the mass centre, qw, qx, qy, qz.
 *  @return LW_ERR_ARGUMENT: one is missing, which `error` names; LW_ERR_MEMORY */
lw_status lwi_result_pose_columns(const lw_result *result, const char *body, int column[7],
                                  lw_error *error);
/** Unit and frame of a column by its name; "": unknown. */
void lwi_result_column_meaning(const char *name, const char **unit, const char **frame);

/** The item in the name of a column: "rod" of "body.rod.x", not terminated; length 0: none. */
static inline const char *lwi_result_column_item(const lwi_result_column *column, int *length)
{
    *length = column->item_length;
    return column->name + column->item;
}

// ---- row.c

typedef struct lwi_result_run lwi_result_run; ///< entries of one quantity at constant distances

/** Rows of numbers from observations. */
typedef struct lwi_result_rows {
    const lw_model *model;
    lw_observe level;
    lwi_result_values values;
    const lwi_result_run *run;   ///< [nrun] in the arena
    const lwi_result_view *view; ///< [nview] of the columns
    int nrun, nview, n;
    struct lwi_measures *measures;      ///< of the columns
    const struct lwi_formula *formulas; ///< of another model's measures; NULL: those of `measures`
    double *row; ///< [n] the last row; quaternions take their signs from the previous one
} lwi_result_rows;

/** @param columns  must outlive the rows */
lw_status lwi_result_rows_create(const lw_model *model, const lwi_result_columns *columns,
                                 lwi_arena *arena, lwi_result_rows *rows);
/** Fills rows->row.  @return LW_ERR_NOT_FINITE: a number is not finite */
lw_status lwi_result_rows_fill(lwi_result_rows *rows, const lw_observation *observation);

/** The motion in a row: time, bodies and joints, energies and work; memory in `arena`. */
lw_status lwi_result_row_motion(const lw_model *model, const lwi_result_columns *columns,
                                const double *row, lwi_arena *arena, lw_observation *motion);

#endif
