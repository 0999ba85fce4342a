// cairo_loaded.c -- PNG and PDF in a library that loads the module of cairo.
#include "base/module.h"
#include "plot/cairo_module.h"

static lwi_module module = {.name = "cairo", .what = "PNG and PDF pictures"};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    lwi_module_load(&module);
}

static lw_status find(const lwi_cairo_functions **functions, lw_error *error)
{
    pthread_once(&once, load);
    *functions = module.functions;
    return lwi_module_check(&module, error);
}

lw_status lwi_plot_png_create(double width, double height, double scale, lwi_plot_canvas **canvas,
                              lw_error *error)
{
    const lwi_cairo_functions *cairo;
    TRY(find(&cairo, error));
    return cairo->png_create(width, height, scale, canvas, error);
}

lw_status lwi_plot_pdf_create(double width, double height, lwi_plot_canvas **canvas,
                              lw_error *error)
{
    const lwi_cairo_functions *cairo;
    TRY(find(&cairo, error));
    return cairo->pdf_create(width, height, canvas, error);
}

const char *lwi_plot_cairo_version(void)
{
    return LWI_CAIRO_VERSION;
}
