// canvas_svg.c -- SVG 1.1: text elements, coordinates with two decimals, no external references.
#include "plot/canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct svg {
    lwi_plot_canvas canvas;
    lwi_plot_bytes text; // of the file
    int nclip;
} svg;

// ------------------------------------------------------------------------------------------ output

static void put(svg *s, const char *text, size_t n)
{
    lwi_plot_bytes_add(&s->text, text, n);
}

static void puts_svg(svg *s, const char *text)
{
    put(s, text, strlen(text));
}

// At most two decimals, without trailing zeros; independent of the locale.
static void put_number(svg *s, double value)
{
    const double bound = fmin(fmax(value, -1e7), 1e7);
    long hundredths = lround(100 * bound);
    char digits[32];
    int n = 0;
    if (hundredths < 0) put(s, "-", 1), hundredths = -hundredths;
    n = snprintf(digits, sizeof digits, "%ld", hundredths / 100);
    put(s, digits, (size_t)n);
    const int rest = (int)(hundredths % 100);
    if (!rest) return;
    const char part[3] = {'.', (char)('0' + rest / 10), (char)('0' + rest % 10)};
    put(s, part, rest % 10 ? 3 : 2);
}

static void put_attribute(svg *s, const char *name, double value)
{
    put(s, " ", 1);
    puts_svg(s, name);
    puts_svg(s, "=\"");
    put_number(s, value);
    puts_svg(s, "\"");
}

static void put_colour(svg *s, const char *name, lwi_plot_colour c)
{
    char text[64];
    if (c.a <= 0) {
        snprintf(text, sizeof text, " %s=\"none\"", name);
        puts_svg(s, text);
        return;
    }
    snprintf(text, sizeof text, " %s=\"#%02x%02x%02x\"", name, (unsigned)lround(255 * c.r),
             (unsigned)lround(255 * c.g), (unsigned)lround(255 * c.b));
    puts_svg(s, text);
    if (c.a >= 1) return;
    snprintf(text, sizeof text, "%s-opacity", name);
    put_attribute(s, text, c.a);
}

// The text of an element, markup escaped.
static void put_escaped(svg *s, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            puts_svg(s, "&amp;");
        else if (*text == '<')
            puts_svg(s, "&lt;");
        else if (*text == '>')
            puts_svg(s, "&gt;");
        else
            put(s, text, 1);
    }
}

// ----------------------------------------------------------------------------------------- drawing

static void put_pen(svg *s, const lwi_plot_pen *pen)
{
    double lengths[4];
    if (pen->width <= 0 || pen->colour.a <= 0) return;
    put_colour(s, "stroke", pen->colour);
    put_attribute(s, "stroke-width", pen->width);
    const int n = lwi_plot_dash_lengths(pen->dash, lengths);
    for (int i = 0; i < n; i++) {
        puts_svg(s, i ? "," : " stroke-dasharray=\"");
        put_number(s, pen->width * lengths[i]);
    }
    if (n) puts_svg(s, "\"");
}

static void svg_path(lwi_plot_canvas *canvas, const double (*p)[2], int n, bool closed,
                     lwi_plot_colour fill, const lwi_plot_pen *pen)
{
    svg *s = (svg *)canvas;
    puts_svg(s, "<path d=\"");
    for (int i = 0; i < n; i++) {
        puts_svg(s, i ? " " : "M");
        put_number(s, p[i][0]);
        puts_svg(s, ",");
        put_number(s, p[i][1]);
    }
    puts_svg(s, closed ? "Z\"" : "\"");
    put_colour(s, "fill", fill);
    put_pen(s, pen);
    puts_svg(s, "/>\n");
}

static void svg_disc(lwi_plot_canvas *canvas, double x, double y, double radius,
                     lwi_plot_colour fill, const lwi_plot_pen *pen)
{
    svg *s = (svg *)canvas;
    puts_svg(s, "<circle");
    put_attribute(s, "cx", x);
    put_attribute(s, "cy", y);
    put_attribute(s, "r", radius);
    put_colour(s, "fill", fill);
    put_pen(s, pen);
    puts_svg(s, "/>\n");
}

static void svg_text(lwi_plot_canvas *canvas, double x, double y, lwi_plot_anchor anchor,
                     const lwi_plot_ink *ink, const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    svg *s = (svg *)canvas;
    puts_svg(s, "<text");
    put_attribute(s, "x", x);
    put_attribute(s, "y", y);
    put_attribute(s, "font-size", ink->size);
    puts_svg(s, anchors[anchor]);
    if (ink->bold) puts_svg(s, " font-weight=\"bold\"");
    put_colour(s, "fill", ink->colour);
    if (ink->halo.a > 0) {
        put_colour(s, "stroke", ink->halo);
        puts_svg(s, " stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
    }
    puts_svg(s, ">");
    put_escaped(s, text);
    puts_svg(s, "</text>\n");
}

static void svg_clip(lwi_plot_canvas *canvas, double x, double y, double width, double height)
{
    svg *s = (svg *)canvas;
    char name[64];
    snprintf(name, sizeof name, "<clipPath id=\"c%d\"><rect", s->nclip);
    puts_svg(s, name);
    put_attribute(s, "x", x);
    put_attribute(s, "y", y);
    put_attribute(s, "width", width);
    put_attribute(s, "height", height);
    snprintf(name, sizeof name, "/></clipPath>\n<g clip-path=\"url(#c%d)\">\n", s->nclip++);
    puts_svg(s, name);
}

static void svg_unclip(lwi_plot_canvas *canvas)
{
    puts_svg((svg *)canvas, "</g>\n");
}

// ----------------------------------------------------------------------------------- begin and end

static void svg_discard(lwi_plot_canvas *canvas)
{
    lwi_plot_bytes_free(&((svg *)canvas)->text);
    free(canvas);
}

static lw_status svg_finish(lwi_plot_canvas *canvas, const char *path, lw_error *error)
{
    svg *s = (svg *)canvas;
    puts_svg(s, "</svg>\n");
    const lw_status status = lwi_plot_bytes_write(&s->text, path, error);
    svg_discard(canvas);
    return status;
}

lw_status lwi_plot_svg_create(double width, double height, lwi_plot_canvas **canvas,
                              lw_error *error)
{
    static const lwi_plot_canvas_type type = {svg_path,   svg_disc,   svg_text,   svg_clip,
                                              svg_unclip, svg_finish, svg_discard};
    svg *s = calloc(1, sizeof *s);
    if (!s) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    s->canvas = (lwi_plot_canvas){&type, width, height};
    puts_svg(s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" xml:space=\"preserve\"");
    put_attribute(s, "width", width);
    put_attribute(s, "height", height);
    puts_svg(s, " viewBox=\"0 0 ");
    put_number(s, width);
    puts_svg(s, " ");
    put_number(s, height);
    puts_svg(s, "\" font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\""
                " stroke-linejoin=\"round\" stroke-linecap=\"butt\">\n");
    *canvas = &s->canvas;
    return LW_OK;
}
