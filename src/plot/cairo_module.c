// cairo_module.c -- what the library finds in the module of cairo.
#include "plot/cairo_module.h"

#include "base/module.h"

extern LW_API const lwi_cairo_functions lwi_functions; // the name is LWI_MODULE_SYMBOL
const lwi_cairo_functions lwi_functions = {LWI_VERSION, lwi_plot_png_create, lwi_plot_pdf_create};
