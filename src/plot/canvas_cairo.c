// canvas_cairo.c -- PNG and PDF by cairo, an optional part of the build.
#include "plot/canvas.h"

#ifdef LWI_CAIRO_VERSION

#include <cairo-pdf.h>
#include <stdlib.h>
#include <string.h>

typedef struct drawing {
    lwi_plot_canvas canvas;
    cairo_surface_t *surface;
    cairo_t *cairo;
    lwi_plot_bytes bytes; // of the file
} drawing;

static void set_colour(cairo_t *c, lwi_plot_colour colour)
{
    cairo_set_source_rgba(c, colour.r, colour.g, colour.b, colour.a);
}

// Fills and strokes the current path, and clears it.
static void paint(cairo_t *c, lwi_plot_colour fill, const lwi_plot_pen *pen)
{
    double lengths[4];
    if (fill.a > 0) {
        set_colour(c, fill);
        cairo_fill_preserve(c);
    }
    if (pen->width > 0 && pen->colour.a > 0) {
        const int n = lwi_plot_dash_lengths(pen->dash, lengths);
        for (int i = 0; i < n; i++) lengths[i] *= pen->width;
        set_colour(c, pen->colour);
        cairo_set_line_width(c, pen->width);
        cairo_set_dash(c, lengths, n, 0);
        cairo_stroke_preserve(c);
    }
    cairo_new_path(c);
}

static void draw_path(lwi_plot_canvas *canvas, const double (*p)[2], int n, bool closed,
                      lwi_plot_colour fill, const lwi_plot_pen *pen)
{
    cairo_t *c = ((drawing *)canvas)->cairo;
    for (int i = 0; i < n; i++) cairo_line_to(c, p[i][0], p[i][1]);
    if (closed) cairo_close_path(c);
    paint(c, fill, pen);
}

static void draw_disc(lwi_plot_canvas *canvas, double x, double y, double radius,
                      lwi_plot_colour fill, const lwi_plot_pen *pen)
{
    cairo_t *c = ((drawing *)canvas)->cairo;
    cairo_arc(c, x, y, radius, 0, 6.283185307179586);
    cairo_close_path(c);
    paint(c, fill, pen);
}

// The layout uses the table of widths of canvas.c; the glyphs are of the font that cairo finds.
static void draw_text(lwi_plot_canvas *canvas, double x, double y, lwi_plot_anchor anchor,
                      const lwi_plot_ink *ink, const char *text)
{
    cairo_t *c = ((drawing *)canvas)->cairo;
    cairo_text_extents_t extents;
    cairo_select_font_face(c, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           ink->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, ink->size);
    cairo_text_extents(c, text, &extents);
    cairo_move_to(c, x - 0.5 * (int)anchor * extents.x_advance, y);
    if (ink->halo.a > 0) {
        cairo_text_path(c, text);
        set_colour(c, ink->halo);
        cairo_set_line_width(c, 3);
        cairo_set_dash(c, NULL, 0, 0);
        cairo_stroke(c);
        cairo_move_to(c, x - 0.5 * (int)anchor * extents.x_advance, y);
    }
    set_colour(c, ink->colour);
    cairo_show_text(c, text);
    cairo_new_path(c);
}

static void draw_clip(lwi_plot_canvas *canvas, double x, double y, double width, double height)
{
    cairo_t *c = ((drawing *)canvas)->cairo;
    cairo_save(c);
    cairo_rectangle(c, x, y, width, height);
    cairo_clip(c);
}

static void draw_unclip(lwi_plot_canvas *canvas)
{
    cairo_restore(((drawing *)canvas)->cairo);
}

static cairo_status_t take_bytes(void *user, const unsigned char *data, unsigned length)
{
    lwi_plot_bytes *bytes = user;
    lwi_plot_bytes_add(bytes, data, length);
    return bytes->full ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static void discard(lwi_plot_canvas *canvas)
{
    drawing *d = (drawing *)canvas;
    cairo_destroy(d->cairo);
    cairo_surface_destroy(d->surface);
    lwi_plot_bytes_free(&d->bytes);
    free(d);
}

// A PDF surface writes to `bytes` during drawing; an image is encoded here.
static lw_status finish(lwi_plot_canvas *canvas, const char *path, lw_error *error)
{
    drawing *d = (drawing *)canvas;
    lw_status status;
    cairo_status_t failed = cairo_status(d->cairo);
    if (!failed && cairo_surface_get_type(d->surface) == CAIRO_SURFACE_TYPE_IMAGE)
        failed = cairo_surface_write_to_png_stream(d->surface, take_bytes, &d->bytes);
    cairo_surface_finish(d->surface);
    if (!failed) failed = cairo_surface_status(d->surface);
    if (failed)
        status = lwi_fail_at(error, LW_ERR_MEMORY, path, 0, 0, "cannot be drawn: %s",
                             cairo_status_to_string(failed));
    else
        status = lwi_plot_bytes_write(&d->bytes, path, error);
    discard(canvas);
    return status;
}

// Unhinted advances: the layout does not depend on the resolution.
static void set_font_options(cairo_t *c)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(c, options);
    cairo_font_options_destroy(options);
}

static drawing *allocate(double width, double height)
{
    static const lwi_plot_canvas_type type = {draw_path,   draw_disc, draw_text, draw_clip,
                                              draw_unclip, finish,    discard};
    drawing *d = calloc(1, sizeof *d);
    if (d) d->canvas = (lwi_plot_canvas){&type, width, height};
    return d;
}

// Takes ownership of the drawing and its surface; frees both on failure.
static lw_status begin(drawing *d, double scale, lwi_plot_canvas **canvas, lw_error *error)
{
    const double width = d->canvas.width * scale, height = d->canvas.height * scale;
    d->cairo = cairo_create(d->surface);
    if (cairo_status(d->cairo)) {
        discard(&d->canvas);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture of %g x %g", width, height);
    }
    cairo_scale(d->cairo, scale, scale);
    cairo_set_line_join(d->cairo, CAIRO_LINE_JOIN_ROUND);
    set_font_options(d->cairo);
    *canvas = &d->canvas;
    return LW_OK;
}

lw_status lwi_plot_png_create(double width, double height, double scale, lwi_plot_canvas **canvas,
                              lw_error *error)
{
    drawing *d = allocate(width, height);
    if (!d) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    d->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * scale + 0.5),
                                            (int)(height * scale + 0.5));
    return begin(d, scale, canvas, error);
}

// No creation date: the same picture has the same bytes.
lw_status lwi_plot_pdf_create(double width, double height, lwi_plot_canvas **canvas,
                              lw_error *error)
{
    drawing *d = allocate(width, height);
    if (!d) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    d->surface = cairo_pdf_surface_create_for_stream(take_bytes, &d->bytes, width, height);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    return begin(d, 1, canvas, error);
}

const char *lwi_plot_cairo_version(void)
{
    return cairo_version_string();
}

#else

lw_status lwi_plot_png_create(double width, double height, double scale, lwi_plot_canvas **canvas,
                              lw_error *error)
{
    (void)width, (void)height, (void)scale, (void)canvas;
    return lwi_fail(error, LW_ERR_UNSUPPORTED, "this build has no cairo");
}

lw_status lwi_plot_pdf_create(double width, double height, lwi_plot_canvas **canvas,
                              lw_error *error)
{
    return lwi_plot_png_create(width, height, 1, canvas, error);
}

const char *lwi_plot_cairo_version(void)
{
    return NULL;
}

#endif
