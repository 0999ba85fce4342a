// canvas.h -- the surface of a picture: lines, areas, discs and text, in points from the top left.
//
// SVG is written by canvas_svg.c; PNG and PDF are drawn by cairo if the build has it.  All measure
// text by one table of widths (those of DejaVu Sans), so that the layout is the same in every format.
#ifndef LWI_PLOT_CANVAS_H
#define LWI_PLOT_CANVAS_H

#include "base/base.h"

typedef struct lwi_plot_colour {
    double r, g, b, a; ///< 0 .. 1
} lwi_plot_colour;
/** 0xRRGGBB, opaque. */
lwi_plot_colour lwi_plot_rgb(unsigned rgb);
lwi_plot_colour lwi_plot_faded(lwi_plot_colour colour, double alpha);
/** From a (at 0) to b (at 1). */
lwi_plot_colour lwi_plot_mix(lwi_plot_colour a, lwi_plot_colour b, double at);

typedef enum lwi_plot_dash {
    LWI_PLOT_SOLID,
    LWI_PLOT_DASHED,
    LWI_PLOT_DOTTED,
    LWI_PLOT_DASH_DOT,
    LWI_PLOT_DASHES
} lwi_plot_dash;

typedef struct lwi_plot_pen {
    lwi_plot_colour colour;
    double width;
    lwi_plot_dash dash;
} lwi_plot_pen;

typedef enum lwi_plot_anchor { LWI_PLOT_START, LWI_PLOT_MIDDLE, LWI_PLOT_END } lwi_plot_anchor;

typedef struct lwi_plot_ink {
    lwi_plot_colour colour;
    double size; ///< of the letters
    bool bold;
    lwi_plot_colour halo; ///< drawn around the letters if its alpha is not 0
} lwi_plot_ink;

typedef struct lwi_plot_canvas lwi_plot_canvas;

/** The operations of a canvas.  Coordinates must be finite. */
typedef struct lwi_plot_canvas_type {
    /** Fills the polygon if fill.a > 0, then strokes it if pen.width > 0. */
    void (*path)(lwi_plot_canvas *canvas, const double (*p)[2], int n, bool closed,
                 lwi_plot_colour fill, const lwi_plot_pen *pen);
    void (*disc)(lwi_plot_canvas *canvas, double x, double y, double radius, lwi_plot_colour fill,
                 const lwi_plot_pen *pen);
    /** (x, y): start, middle or end of the base line.  UTF-8 without control characters. */
    void (*text)(lwi_plot_canvas *canvas, double x, double y, lwi_plot_anchor anchor,
                 const lwi_plot_ink *ink, const char *text);
    /** Restricts drawing to the rectangle until `unclip`. */
    void (*clip)(lwi_plot_canvas *canvas, double x, double y, double width, double height);
    void (*unclip)(lwi_plot_canvas *canvas);
    /** Writes the file and frees the canvas, also on failure. */
    lw_status (*finish)(lwi_plot_canvas *canvas, const char *file, lw_error *error);
    void (*discard)(lwi_plot_canvas *canvas); ///< frees it without writing a file
} lwi_plot_canvas_type;

struct lwi_plot_canvas {
    const lwi_plot_canvas_type *type;
    double width, height; ///< points
};

// ---- the kinds; `scale` is pixels per point

/** @return LW_ERR_MEMORY */
lw_status lwi_plot_svg_create(double width, double height, lwi_plot_canvas **canvas,
                              lw_error *error);
/** @return LW_ERR_MEMORY; LW_ERR_UNSUPPORTED: this build has no cairo */
lw_status lwi_plot_png_create(double width, double height, double scale, lwi_plot_canvas **canvas,
                              lw_error *error);
lw_status lwi_plot_pdf_create(double width, double height, lwi_plot_canvas **canvas,
                              lw_error *error);
/** Version of cairo; NULL: this build has none. */
const char *lwi_plot_cairo_version(void);

// ---- shared by all kinds (canvas.c)

/** Width of a text in points. */
double lwi_plot_text_width(const char *text, double size, bool bold);
/** Copies `text`; if it is wider than `width`, its end is replaced by an ellipsis. */
void lwi_plot_text_fit(char *to, size_t size, const char *text, double width, double letter,
                       bool bold);
/** Lengths of dashes and gaps in widths of the pen; returns their number (0: solid). */
int lwi_plot_dash_lengths(lwi_plot_dash dash, double lengths[4]);

/** The growing contents of a file. */
typedef struct lwi_plot_bytes {
    char *data;
    size_t used, room;
    bool full; ///< out of memory: bytes are missing
} lwi_plot_bytes;
void lwi_plot_bytes_add(lwi_plot_bytes *bytes, const void *data, size_t n);
void lwi_plot_bytes_free(lwi_plot_bytes *bytes);
/** @return LW_ERR_MEMORY: bytes are missing; LW_ERR_IO */
lw_status lwi_plot_bytes_write(const lwi_plot_bytes *bytes, const char *path, lw_error *error);

// ---- shorthands

void lwi_plot_draw_line(lwi_plot_canvas *canvas, double x0, double y0, double x1, double y1,
                        const lwi_plot_pen *pen);
void lwi_plot_draw_rect(lwi_plot_canvas *canvas, double x, double y, double width, double height,
                        lwi_plot_colour fill);
/** Text from any source: invalid UTF-8 and control characters become question marks. */
void lwi_plot_draw_text(lwi_plot_canvas *canvas, double x, double y, lwi_plot_anchor anchor,
                        const lwi_plot_ink *ink, const char *text);

#endif
