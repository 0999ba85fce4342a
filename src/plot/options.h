// options.h -- what pictures of results, mechanisms and plans share: options, formats, theme.
#ifndef LWI_PLOT_OPTIONS_H
#define LWI_PLOT_OPTIONS_H

#include "plot/canvas.h"
#include "plot/theme.h"

#include <linkwork/plot.h>

const char *lwi_plot_preset_name(lw_plot_preset preset);

/** @return LW_ERR_ARGUMENT: neither .svg, .png nor .pdf; LW_ERR_UNSUPPORTED: this build has no cairo */
lw_status lwi_plot_check_file(const char *file, lw_error *error);
/** A canvas for the format of `file`, of the size in the options; default width x height. */
lw_status lwi_plot_canvas_open(const lw_plot_options *options, double width, double height,
                               const char *file, lwi_plot_canvas **canvas, lw_error *error);
/** Writes the file if `drawn` is LW_OK; frees the canvas in any case. */
lw_status lwi_plot_canvas_close(lwi_plot_canvas *canvas, lw_status drawn, const char *file,
                                lw_error *error);

static inline lwi_plot_theme lwi_plot_theme_of(const lw_plot_options *options)
{
    return options->dark ? lwi_plot_theme_dark() : lwi_plot_theme_light();
}

#endif
