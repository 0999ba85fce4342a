// canvas_png.c -- PNG by cairo, an optional part of the build.
#include "plot/canvas.h"

#ifdef LWI_CAIRO_VERSION

#include <cairo.h>
#include <stdlib.h>
#include <string.h>

typedef struct png {
    lwi_canvas canvas;
    cairo_surface_t *surface;
    cairo_t *cairo;
} png;

static void set_colour(cairo_t *c, lwi_colour colour)
{
    cairo_set_source_rgba(c, colour.r, colour.g, colour.b, colour.a);
}

// Fills and strokes the path that stands.
static void paint(cairo_t *c, lwi_colour fill, const lwi_pen *pen)
{
    double lengths[4];
    if (fill.a > 0) {
        set_colour(c, fill);
        cairo_fill_preserve(c);
    }
    if (pen->width > 0 && pen->colour.a > 0) {
        const int n = lwi_dash_lengths(pen->dash, lengths);
        for (int i = 0; i < n; i++) lengths[i] *= pen->width;
        set_colour(c, pen->colour);
        cairo_set_line_width(c, pen->width);
        cairo_set_dash(c, lengths, n, 0);
        cairo_stroke_preserve(c);
    }
    cairo_new_path(c);
}

static void png_path(lwi_canvas *canvas, const double (*p)[2], int n, bool closed, lwi_colour fill,
                     const lwi_pen *pen)
{
    cairo_t *c = ((png *)canvas)->cairo;
    for (int i = 0; i < n; i++) cairo_line_to(c, p[i][0], p[i][1]);
    if (closed) cairo_close_path(c);
    paint(c, fill, pen);
}

static void png_disc(lwi_canvas *canvas, double x, double y, double radius, lwi_colour fill,
                     const lwi_pen *pen)
{
    cairo_t *c = ((png *)canvas)->cairo;
    cairo_arc(c, x, y, radius, 0, 6.283185307179586);
    cairo_close_path(c);
    paint(c, fill, pen);
}

// The layout goes by the table of widths; the letters are those of the font that cairo finds.
static void png_text(lwi_canvas *canvas, double x, double y, lwi_anchor anchor, const lwi_ink *ink,
                     const char *text)
{
    cairo_t *c = ((png *)canvas)->cairo;
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

static void png_clip(lwi_canvas *canvas, double x, double y, double width, double height)
{
    cairo_t *c = ((png *)canvas)->cairo;
    cairo_save(c);
    cairo_rectangle(c, x, y, width, height);
    cairo_clip(c);
}

static void png_unclip(lwi_canvas *canvas)
{
    cairo_restore(((png *)canvas)->cairo);
}

static void png_discard(lwi_canvas *canvas)
{
    png *p = (png *)canvas;
    cairo_destroy(p->cairo);
    cairo_surface_destroy(p->surface);
    free(p);
}

static lw_status png_finish(lwi_canvas *canvas, const char *path, lw_error *error)
{
    png *p = (png *)canvas;
    cairo_status_t failed = cairo_status(p->cairo);
    if (!failed) failed = cairo_surface_write_to_png(p->surface, path);
    png_discard(canvas);
    if (!failed) return LW_OK;
    return lwi_fail_at(error, failed == CAIRO_STATUS_NO_MEMORY ? LW_ERR_MEMORY : LW_ERR_IO, path, 0,
                       0, "cannot be written: %s", cairo_status_to_string(failed));
}

static void set_font_options(cairo_t *c)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(c, options);
    cairo_font_options_destroy(options);
}

lw_status lwi_png_create(double width, double height, double scale, lwi_canvas **canvas,
                         lw_error *error)
{
    static const lwi_canvas_type type = {png_path,   png_disc,   png_text,   png_clip,
                                         png_unclip, png_finish, png_discard};
    png *p = calloc(1, sizeof *p);
    if (!p) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    p->canvas = (lwi_canvas){&type, width, height};
    p->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * scale + 0.5),
                                            (int)(height * scale + 0.5));
    p->cairo = cairo_create(p->surface);
    if (cairo_status(p->cairo)) {
        png_discard(&p->canvas);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture of %g x %g pixels",
                        width * scale, height * scale);
    }
    cairo_scale(p->cairo, scale, scale);
    cairo_set_line_join(p->cairo, CAIRO_LINE_JOIN_ROUND);
    set_font_options(p->cairo);
    *canvas = &p->canvas;
    return LW_OK;
}

const char *lwi_png_version(void)
{
    return cairo_version_string();
}

#else

lw_status lwi_png_create(double width, double height, double scale, lwi_canvas **canvas,
                         lw_error *error)
{
    (void)width, (void)height, (void)scale, (void)canvas;
    return lwi_fail(error, LW_ERR_UNSUPPORTED, "this build has no cairo");
}

const char *lwi_png_version(void)
{
    return NULL;
}

#endif
