// view.h -- what page and glTF share: the motion of all bodies, the parts they are drawn by, text.
#ifndef LWI_VIEW_VIEW_H
#define LWI_VIEW_VIEW_H

#include "base/numbers.h"
#include "model/model.h"
#include "plot/scene.h"

#include <linkwork/view.h>

#include <stdio.h>

/** Bytes of "joint.NAME.q0": names have 255 at the most. */
enum { LWI_VIEW_COLUMN_BYTES = 300 };

/** The motion, thinned out where it is too long. */
typedef struct lwi_view_motion {
    long nrow;
    long nresult;    ///< rows of the result
    long *row;       ///< [nrow] of the result
    double *time;    ///< [nrow]
    float *position; ///< [nrow][nbody][3] mass centres, world
    float *rotation; ///< [nrow][nbody][4] body -> world, scalar first, no jumps of sign
} lwi_view_motion;

/** Poses of all bodies; of the model's start where `result` is NULL. */
lw_status lwi_view_motion_read(const lw_model *model, lw_result *result, double most_bytes,
                               lwi_arena *arena, lwi_view_motion *motion, lw_error *error);

/** The drawing of the model at its start with everything in the axes of its body, from the body's mass
 *  centre. */
lw_status lwi_view_scene(const lw_model *model, lwi_arena *arena, lwi_plot_scene *scene,
                         lw_error *error);
/** Shape of a body from the mass centre: rotation and middle. */
void lwi_view_shape(const lw_body_desc *body, const lw_shape *shape, double *R, double *r);

/** 0xRRGGBB of the bodies of a group (lwi_plot_scene) that have no colour; group 0 is the ground. */
unsigned lwi_view_colour(int group);
enum { LWI_VIEW_COLOURS = 8 }; ///< different ones: groups 0 to 7

/** Text in quotes as JSON has it, and safe inside a <script>. */
void lwi_view_text(FILE *file, const char *text);
/** [a, b, c] with 9 digits. */
void lwi_view_numbers(FILE *file, const double *x, int n);

/** Base64 of bytes that come in pieces. */
typedef struct lwi_view_base64 {
    FILE *file;
    unsigned char rest[3];
    int nrest, ntext;
    char text[4096]; ///< not yet in the file
} lwi_view_base64;
void lwi_view_base64_put(lwi_view_base64 *b, const void *bytes, size_t size);
void lwi_view_base64_end(lwi_view_base64 *b);

/** The page without data: its text, and its size. */
extern const char lwi_view_template[];
extern const unsigned long lwi_view_template_size;

#endif
