// cairo_module.h -- pictures by cairo as a module (base/module.h).
#ifndef LWI_PLOT_CAIRO_MODULE_H
#define LWI_PLOT_CAIRO_MODULE_H

#include "plot/canvas.h"

typedef struct lwi_cairo_functions {
    const char *version; ///< of Linkwork
    lw_status (*png_create)(double width, double height, double scale, lwi_plot_canvas **canvas,
                            lw_error *error);
    lw_status (*pdf_create)(double width, double height, lwi_plot_canvas **canvas, lw_error *error);
} lwi_cairo_functions;

#endif
