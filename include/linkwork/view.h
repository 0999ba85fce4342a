// view.h -- interactive views of a mechanism and its motion: a page for a browser, a glTF file.
#ifndef LINKWORK_VIEW_H
#define LINKWORK_VIEW_H

#include <linkwork/result.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Motions that a page shows one at a time, each again and again: modes, for example. */
typedef struct lw_view_clips {
    int count;
    long rows;               ///< of each, at equal distances in time
    double seconds;          ///< of each
    const char *const *name; ///< [count]
    const double (*r)[3];    ///< [count][rows][body count] mass centres, world axes, m
    const double (*quat)[4]; ///< [count][rows][body count] body frames to world, scalar first
} lw_view_clips;

typedef struct lw_view_desc {
    size_t size;       ///< sizeof this struct, or 0: see linkwork.h
    const char *title; ///< NULL: the model's file
    /** Largest size in bytes of the poses, and of the columns for plots, before base64, which adds a third.
     *  Beyond it rows are thinned evenly and columns left out, the motion of bodies first.  0: 40 MB */
    double max_bytes;
    /** Is called with a line for each mesh that is not drawn: its file cannot be read, or all meshes together exceed
     *  `max_bytes`; NULL: no. */
    void (*report)(void *user, const char *text);
    void *user;
    /** For comparison, of pages only: a second mechanism, drawn transparent in one colour, with its motion on the same
     *  clock; plots show columns of the same name of both.  NULL: none; the result may be NULL, as below. */
    const lw_model *model2;
    lw_result *result2;
    const char *title2;         ///< NULL: the second model's file
    const lw_view_clips *clips; ///< of pages without a result; NULL: none
} lw_view_desc;

/** Writes one HTML page that needs nothing else: the mechanism in three dimensions, moving as the result
 *  says, with plots of its columns.
 *  @param result  of this model, with poses; NULL: the mechanism at its start
 *  @param desc    may be NULL
 *  @return LW_ERR_ARGUMENT: the result is of another model (the column that is missing is named),
 *          LW_ERR_IO, LW_ERR_MEMORY */
LW_API lw_status lw_view_page(const lw_model *model, lw_result *result, const lw_view_desc *desc,
                              FILE *file, lw_error *error);

/** Writes glTF 2.0, one JSON file with its numbers inside: a node for each body with its shapes, and the
 *  motion as an animation.  Its axes are glTF's (y up); lengths are metres, colours those of the shapes.
 *  Bodies without a shape show as boxes along the lines between their joints. */
LW_API lw_status lw_view_gltf(const lw_model *model, lw_result *result, const lw_view_desc *desc,
                              FILE *file, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
