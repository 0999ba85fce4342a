// canvas.h -- the surface of a picture: lines, areas, discs and text, in points from the top left.
//
// SVG is written by canvas_svg.c; PNG and PDF are drawn by cairo where the build has it.  All measure
// text by one table of widths (those of DejaVu Sans), so that the layout is the same in every format.
#ifndef LWI_PLOT_CANVAS_H
#define LWI_PLOT_CANVAS_H

#include "base/base.h"

typedef struct lwi_colour {
    double r, g, b, a; ///< 0 .. 1
} lwi_colour;
/** 0xRRGGBB, opaque. */
lwi_colour lwi_rgb(unsigned rgb);
lwi_colour lwi_faded(lwi_colour colour, double alpha);
/** From a (at 0) to b (at 1). */
lwi_colour lwi_mix(lwi_colour a, lwi_colour b, double at);

typedef enum lwi_dash { LWI_SOLID, LWI_DASHED, LWI_DOTTED, LWI_DASH_DOT, LWI_DASHES } lwi_dash;

typedef struct lwi_pen {
    lwi_colour colour;
    double width;
    lwi_dash dash;
} lwi_pen;

typedef enum lwi_anchor { LWI_START, LWI_MIDDLE, LWI_END } lwi_anchor;

typedef struct lwi_ink {
    lwi_colour colour;
    double size; ///< of the letters
    bool bold;
    lwi_colour halo; ///< drawn around the letters where its alpha is not 0
} lwi_ink;

typedef struct lwi_canvas lwi_canvas;

/** What a kind of canvas can do.  Points that are not finite may not be passed. */
typedef struct lwi_canvas_type {
    /** Fills the polygon where fill.a > 0, then strokes it where pen.width > 0. */
    void (*path)(lwi_canvas *canvas, const double (*p)[2], int n, bool closed, lwi_colour fill,
                 const lwi_pen *pen);
    void (*disc)(lwi_canvas *canvas, double x, double y, double radius, lwi_colour fill,
                 const lwi_pen *pen);
    /** (x, y): where the base line starts, has its middle, or ends.  UTF-8 without controls. */
    void (*text)(lwi_canvas *canvas, double x, double y, lwi_anchor anchor, const lwi_ink *ink,
                 const char *text);
    /** What follows shows inside the rectangle only, until `unclip`. */
    void (*clip)(lwi_canvas *canvas, double x, double y, double width, double height);
    void (*unclip)(lwi_canvas *canvas);
    /** Writes the file and ends the canvas, also after a failure. */
    lw_status (*finish)(lwi_canvas *canvas, const char *file, lw_error *error);
    void (*discard)(lwi_canvas *canvas); ///< ends it without a file
} lwi_canvas_type;

struct lwi_canvas {
    const lwi_canvas_type *type;
    double width, height; ///< points
};

// ---- the kinds; `scale` is pixels per point

/** @return LW_ERR_MEMORY */
lw_status lwi_svg_create(double width, double height, lwi_canvas **canvas, lw_error *error);
/** @return LW_ERR_MEMORY; LW_ERR_UNSUPPORTED: this build has no cairo */
lw_status lwi_png_create(double width, double height, double scale, lwi_canvas **canvas,
                         lw_error *error);
lw_status lwi_pdf_create(double width, double height, lwi_canvas **canvas, lw_error *error);
/** Version of cairo; NULL: this build has none. */
const char *lwi_cairo_version(void);

// ---- shared by all kinds (canvas.c)

/** Width of a text in points. */
double lwi_text_width(const char *text, double size, bool bold);
/** Copies `text`, its end replaced by an ellipsis where it is wider than `width`. */
void lwi_text_fit(char *to, size_t size, const char *text, double width, double letter, bool bold);
/** Lengths of dash and gap in widths of the pen; returns how many (0: solid). */
int lwi_dash_lengths(lwi_dash dash, double lengths[4]);

/** The growing contents of a file. */
typedef struct lwi_bytes {
    char *data;
    size_t used, room;
    bool full; ///< out of memory: bytes are missing
} lwi_bytes;
void lwi_bytes_add(lwi_bytes *bytes, const void *data, size_t n);
void lwi_bytes_free(lwi_bytes *bytes);
/** @return LW_ERR_MEMORY: bytes are missing; LW_ERR_IO */
lw_status lwi_bytes_write(const lwi_bytes *bytes, const char *path, lw_error *error);

// ---- short forms

void lwi_line(lwi_canvas *canvas, double x0, double y0, double x1, double y1, const lwi_pen *pen);
void lwi_rect(lwi_canvas *canvas, double x, double y, double width, double height, lwi_colour fill);
/** Text of any origin: bytes that are not UTF-8 and control characters become question marks. */
void lwi_text(lwi_canvas *canvas, double x, double y, lwi_anchor anchor, const lwi_ink *ink,
              const char *text);

#endif
