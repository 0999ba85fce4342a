// figure.h -- panels with axes, curves and keys, laid out on a canvas.
#ifndef LWI_PLOT_FIGURE_H
#define LWI_PLOT_FIGURE_H

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/theme.h"

/** Appearance of a line. */
typedef struct lwi_plot_style {
    lwi_plot_colour colour;
    lwi_plot_dash dash;
    bool broad; ///< wide and pale: visible below another line
} lwi_plot_style;

/** One line.  Values that are not finite make gaps; a point between two gaps is a dot. */
typedef struct lwi_plot_curve {
    const double *x, *y; ///< [n]
    long n;
    lwi_plot_style style;
    bool marks;                    ///< discs in place of a line
    const lwi_plot_colour *colour; ///< [n] of the discs; NULL: that of the style
} lwi_plot_curve;

/** A filled rectangle, below the curves; the ends in any order. */
typedef struct lwi_plot_tile {
    double x0, x1, y0, y1;
    lwi_plot_colour colour;
} lwi_plot_tile;

/** One entry of the key: a sample of the line and its name. */
typedef struct lwi_plot_figure_key {
    const char *text;
    lwi_plot_style style;
} lwi_plot_figure_key;

/** The quantity that colours show: a bar of the theme's colour scale, right of the panel. */
typedef struct lwi_plot_colour_bar {
    const char *title, *unit;
    lwi_plot_range range; ///< of the axis that the scale lies along
} lwi_plot_colour_bar;

typedef struct lwi_plot_panel {
    const char *title, *unit; ///< of the y axis; unit "" or "1": not shown
    const char *x_title, *x_unit;
    bool log, log_x;
    bool loose; ///< a margin at both ends of the x axis (x is not time)
    bool equal; ///< both axes have the same scale
    lwi_plot_curve *curve;
    int ncurve;
    lwi_plot_tile *tile;
    int ntile;
    const char **category; ///< labels of y = 0, 1, ... in place of numbers
    int ncategory;
    lwi_plot_figure_key *key;
    int nkey;
    const lwi_plot_colour_bar *bar; ///< NULL: none
} lwi_plot_panel;

typedef struct lwi_plot_figure {
    const char *title; ///< NULL: none
    lwi_plot_panel *panel;
    int npanel;
    int columns;   ///< panels side by side
    bool shared_x; ///< one x axis for all panels of a column
    lwi_plot_theme theme;
} lwi_plot_figure;

/** Default height [points]. */
double lwi_plot_figure_height(const lwi_plot_figure *figure);
/** @return LW_ERR_ARGUMENT: the panels do not fit; LW_ERR_MEMORY */
lw_status lwi_plot_figure_draw(const lwi_plot_figure *figure, lwi_plot_canvas *canvas,
                               lw_error *error);

#endif
