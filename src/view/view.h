// view.h -- what page and glTF share: the motion of all bodies, their geometry, output of JSON.
#ifndef LWI_VIEW_VIEW_H
#define LWI_VIEW_VIEW_H

#include "base/numbers.h"
#include "model/model.h"
#include "plot/scene.h"

#include <linkwork/view.h>

#include <stdio.h>

/** Default of lw_view_desc.max_bytes. */
#define LWI_VIEW_MAX_BYTES 40e6

/** Bytes of "joint.NAME.q0"; names have at most 255. */
enum { LWI_VIEW_COLUMN_BYTES = 300 };

/** The motion; every n-th row if it is too long. */
typedef struct lwi_view_motion {
    long nrow;
    long nresult;    ///< rows of the result
    long *row;       ///< [nrow] of the result
    double *time;    ///< [nrow]
    float *position; ///< [nrow][nbody][3] mass centres, world
    float *rotation; ///< [nrow][nbody][4] body -> world, scalar first, without jumps of sign
} lwi_view_motion;

/** Bytes that files take of max_bytes for the poses of a row: 3 floats and 4 short integers of a body, and the time. */
static inline double lwi_view_row_bytes(const lw_model *model)
{
    return 20.0 * model->nbody + 8;
}
/** Poses of all bodies; of the model's start where `result` is NULL. */
lw_status lwi_view_motion_read(const lw_model *model, lw_result *result, double max_bytes,
                               lwi_arena *arena, lwi_view_motion *motion, lw_error *error);
/** The same of clips, one after the other; those that do not fit into max_bytes are left out.
 *  @param count  out: of the clips that are there */
lw_status lwi_view_motion_clips(const lw_model *model, const lw_view_clips *clips, double max_bytes,
                                lwi_arena *arena, lwi_view_motion *motion, int *count,
                                lw_error *error);

/** The straight pieces of tendons at every row of a motion. */
typedef struct lwi_view_ropes {
    int n;
    float (*p)[2][3]; ///< [nrow][n] ends, world
} lwi_view_ropes;

/** Pieces of one row. */
lw_status lwi_view_rope_count(const lw_model *model, lwi_arena *arena, int *count, lw_error *error);
lw_status lwi_view_ropes_read(const lw_model *model, const lwi_view_motion *motion,
                              lwi_arena *arena, lwi_view_ropes *ropes, lw_error *error);

/** The geometry of the model at its start, each part in the axes of its body from the mass centre. */
lw_status lwi_view_scene(const lw_model *model, lwi_arena *arena, lwi_plot_scene *scene,
                         lw_error *error);
/** Rotation and centre of a shape, in body axes from the mass centre. */
void lwi_view_shape(const lw_body_desc *body, const lw_shape *shape, double *R, double *r);

/** Writes "kinematics": frames, motions and coordinates of the joints, with which the page moves them; null if a joint
 *  is defined by callbacks. */
lw_status lwi_view_kinematics(FILE *file, const lw_model *model, lwi_arena *arena, lw_error *error);

/** 0xRRGGBB of the bodies of a group (lwi_plot_scene) that have no colour; group 0 is the ground. */
unsigned lwi_view_colour(int group);
enum { LWI_VIEW_COLOURS = 8 }; ///< different colours: groups 0 to 7

/** A JSON string, safe inside <script>. */
void lwi_view_text(FILE *file, const char *text);
/** [a, b, c] with 9 digits. */
void lwi_view_numbers(FILE *file, const double *x, int n);

/** Base64 of bytes added in pieces. */
typedef struct lwi_view_base64 {
    FILE *file;
    unsigned char rest[3];
    int nrest, ntext;
    char text[4096]; ///< not yet in the file
} lwi_view_base64;
void lwi_view_base64_put(lwi_view_base64 *b, const void *bytes, size_t size);
void lwi_view_base64_end(lwi_view_base64 *b);

/** The page without data, and its size. */
extern const char lwi_view_template[];
extern const unsigned long lwi_view_template_size;

#endif
