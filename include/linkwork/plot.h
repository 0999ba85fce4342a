// plot.h -- pictures of results and of mechanisms: SVG always, PNG and PDF where the build found cairo.
//
// A picture of results has panels, one above the other: one per list of columns asked for, or those
// of a preset.  A picture of a mechanism shows bodies, joints and names, in orthographic views.
#ifndef LINKWORK_PLOT_H
#define LINKWORK_PLOT_H

#include <linkwork/batch.h>
#include <linkwork/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Predefined selections of quantities. */
#define LW_PLOT_PRESET_LIST(X)                                                                     \
    X(OVERVIEW, "overview", "joint coordinates, or positions where there are none, and energies")  \
    X(JOINTS, "joints", "joint coordinates and their rates")                                       \
    X(POSITIONS, "positions", "x, y, z of the mass centres")                                       \
    X(ENERGY, "energy", "kinetic, potential and total energy; drift of E - Wnc")                   \
    X(RESIDUALS, "residuals", "largest constraint residual per level, logarithmic")                \
    X(REACTIONS, "reactions", "size of force and torque of every joint")                           \
    X(PHASE, "phase", "rate over coordinate, a panel per joint coordinate")                        \
    X(WORK_PRECISION, "work-precision", "of several results: the error over what the run cost")    \
    X(TORNADO, "tornado", "of the table of a study: by how much what varies moves y")

#define X(name, text, help) LW_PLOT_##name,
typedef enum lw_plot_preset { LW_PLOT_PRESET_LIST(X) LW_PLOT_PRESET_COUNT } lw_plot_preset;
#undef X

/** Directions of a view: the axes that point right and up, or oblique. */
#define LW_VIEW_LIST(X)                                                                            \
    X(AUTO, "auto", "the plane of a planar mechanism, else all")                                   \
    X(XY, "xy", "along -z: x right, y up")                                                         \
    X(XZ, "xz", "along y: x right, z up")                                                          \
    X(YZ, "yz", "along -x: y right, z up")                                                         \
    X(ISO, "iso", "from the front, right and above")                                               \
    X(ALL, "all", "the four of them")

#define X(name, text, help) LW_VIEW_##name,
typedef enum lw_view { LW_VIEW_LIST(X) LW_VIEW_COUNT } lw_view;
#undef X

/** Every option of a picture: key, name of its value (NULL: a switch), help. */
#define LW_PLOT_OPTION_LIST(X)                                                                     \
    X(y, "COLUMN,...",                                                                             \
      "a panel with these columns, by name, pattern (* and ?) or formula of columns; repeatable")  \
    X(x, "COLUMN", "what the panels are drawn over, a formula too (default time)")                 \
    X(preset, "NAME",                                                                              \
      "overview, joints, positions, energy, residuals, reactions, phase, work-precision, tornado") \
    X(by, "COLUMN", "of a table: a line for each value of this column")                            \
    X(z, "COLUMN", "of a table: colours show this column, tiles of a grid or points")              \
    X(units, "UNIT,...", "deg,mm,kN: quantities of these kinds are drawn in these units")          \
    X(equal, NULL, "both axes have the same scale (force polars, paths)")                          \
    X(instance, "K", "of a sweep's result: this instance only")                                    \
    X(reference, "RESULT",                                                                         \
      "of work-precision: the exact result (default: the one with the lowest tolerances)")         \
    X(from, "S", "first time to show [s]; with --initial of a result: the time to draw")           \
    X(to, "S", "last time to show [s]")                                                            \
    X(log, NULL, "logarithmic scale of y; zeros are at its lower end")                             \
    X(title, "TEXT", "line above the picture; empty: none")                                        \
    X(size, "WxH[@S]", "width and height in points, S pixels per point (default 900x600@1)")       \
    X(theme, "NAME", "light (default) or dark")                                                    \
    X(initial, NULL, "draw the mechanism of a model, or of a result at its first row")             \
    X(view, "NAME", "of --initial: xy, xz, yz, iso, all; auto: the plane of a planar one, or all") \
    X(plan, "KIND", "draw the elimination order of a model: comb, balanced, mixed, or auto")

enum { LW_PLOT_MAX_PANELS = 64 };

typedef struct lw_plot_options {
    const char *
        y[LW_PLOT_MAX_PANELS]; ///< names, patterns or formulas, separated by commas; one panel each
    int ny;                    ///< 0: the preset
    const char *x;             ///< NULL: time
    lw_plot_preset preset;
    bool has_preset, has_from, has_to;
    double from, to; ///< [s]
    bool log;
    const char *title;           ///< NULL: chosen; "": none
    double width, height, scale; ///< 0: chosen; points, pixels per point
    bool dark;
    bool initial;
    lw_view view;
    const char *plan;      ///< NULL: no picture of a plan
    const char *reference; ///< of work-precision, one of the names; NULL: lowest tolerances
    const char *by, *z;    ///< of tables; NULL: none
    const char *units;     ///< "deg,mm,kN"; NULL: those of the columns
    bool equal, has_instance;
    long instance;
} lw_plot_options;

/** Sets one option from text, which must outlive `options`; `value` of a switch is ignored.
 *  @return LW_ERR_ARGUMENT with the nearest known key or what was expected */
LW_API lw_status lw_plot_set(lw_plot_options *options, const char *key, const char *value,
                             lw_error *error);

/** Draws the table of a study: `y` over `x` (NULL: what varies first) as points, as lines for the values of `by`, with
 *  colours of `z` (tiles where x and y are a grid), or the preset tornado: bars from the value of y at the lowest to that
 *  at the highest value of each quantity, of the linear model fitted to all variants.
 *  @param name     of the table, in the title and in messages
 *  @param options  NULL: the maximum of each measure over what varies first
 *  @return LW_ERR_ARGUMENT: no such column (the nearest is named), an option of results; others as lw_plot_results */
LW_API lw_status lw_plot_table(const lw_table *table, const char *name,
                               const lw_plot_options *options, const char *file, lw_error *error);

/** Draws quantities of one result, or of several overlaid.  In the result of a sweep each instance has its own line.
 *  @param names    [count] of the results in the key; the files, for example
 *  @param options  NULL: the overview
 *  @param file     .svg, .png or .pdf
 *  @return LW_ERR_ARGUMENT: no such column (the nearest is named), no rows in the interval, ...;
 *          LW_ERR_UNSUPPORTED: PNG or PDF, but this build has no cairo; LW_ERR_IO */
LW_API lw_status lw_plot_results(lw_result *const *results, const char *const *names, int count,
                                 const lw_plot_options *options, const char *file, lw_error *error);

/** Cost and error of one of several results. */
typedef struct lw_precision {
    char method[96];  ///< "hdca, dopri54"
    double tolerance; ///< the larger of rtol and atol
    double error;     ///< largest difference of a mass centre's coordinate, by the largest of
                      ///< them; 0 of the reference
    long evaluations, steps;
    double wall;    ///< [s]
    bool reference; ///< this is the reference
} lw_precision;

/** The numbers of preset work-precision, for finished HDF5 results (or in memory) of one model with rows at
 *  the same times.
 *  @param reference  one of the names; NULL: the one with the lowest tolerances, among equal ones that
 *                    with the most evaluations
 *  @param precision  [count] out
 *  @return LW_ERR_ARGUMENT: not of one model, other rows, a result without record of its cost */
LW_API lw_status lw_work_precision(lw_result *const *results, const char *const *names, int count,
                                   const char *reference, lw_precision *precision, lw_error *error);

/** Draws the mechanism at its start, or with the poses of `result` at options->from (default: its first
 *  row).
 *  @param result  of the same model; may be NULL */
LW_API lw_status lw_plot_mechanism(const lw_model *model, lw_result *result,
                                   const lw_plot_options *options, const char *file,
                                   lw_error *error);

/** Draws the elimination order of dca, hdca and index3 (options->plan; NULL: auto) as a tree. */
LW_API lw_status lw_plot_plan(const lw_model *model, const lw_plot_options *options,
                              const char *file, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
