// view.h -- one orthographic view of a scene in a rectangle of the picture.
#ifndef LWI_PLOT_VIEW_H
#define LWI_PLOT_VIEW_H

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/scene.h"
#include "plot/theme.h"

#include <linkwork/plot.h>

/** Unit vectors to the right, up and toward the viewer; right x up = toward. */
typedef struct lwi_plot_camera {
    const char *name; ///< "from the front"
    double right[3], up[3], toward[3];
    const char *axis[2]; ///< names of right and up; NULL: an oblique view
} lwi_plot_camera;

/** @param up  of iso: the axis (0, 1, 2) that points up */
lwi_plot_camera lwi_plot_camera_of(lw_view view, int up);

typedef struct lwi_plot_extent {
    double lo[2], hi[2];
} lwi_plot_extent;
/** Extent of the scene in a view [m]; a point if it is empty. */
lwi_plot_extent lwi_plot_view_extent(const lwi_plot_scene *scene, const lwi_plot_camera *camera);

typedef struct lwi_plot_view {
    const lw_model *model;
    const lwi_plot_scene *scene;
    const lwi_plot_camera *camera;
    lwi_plot_extent extent;
    double scale;               ///< points per metre
    double x, y, width, height; ///< with head and axes
    const lwi_plot_theme *theme;
    bool compact; ///< smaller letters and marks
} lwi_plot_view;

/** Points per metre at which the extent fills the view's rectangle. */
double lwi_plot_view_scale(const lwi_plot_view *view);
lw_status lwi_plot_view_draw(const lwi_plot_view *view, lwi_plot_canvas *canvas, lwi_arena *arena,
                             lw_error *error);

#endif
