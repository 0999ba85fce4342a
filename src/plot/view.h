// view.h -- one orthographic view of a scene in a rectangle of the picture.
#ifndef LWI_PLOT_VIEW_H
#define LWI_PLOT_VIEW_H

#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/scene.h"
#include "plot/theme.h"

#include <linkwork/plot.h>

/** Directions of a view: which way points right, up and to the viewer; unit, right x up = toward.
 */
typedef struct lwi_plot_camera {
    const char *name; ///< "from the front"
    double right[3], up[3], toward[3];
    const char *axis[2]; ///< names of right and up; NULL: an oblique view
} lwi_plot_camera;

/** xy, xz, yz; iso with `up` (0, 1, 2) as the axis that points up. */
lwi_plot_camera lwi_plot_camera_of(lw_view view, int up);

typedef struct lwi_plot_extent {
    double lo[2], hi[2];
} lwi_plot_extent;
/** What the scene takes up in a view [m]; at least a point. */
lwi_plot_extent lwi_plot_view_extent(const lwi_plot_scene *scene, const lwi_plot_camera *camera);

typedef struct lwi_plot_view {
    const lw_model *model;
    const lwi_plot_scene *scene;
    const lwi_plot_camera *camera;
    lwi_plot_extent extent;
    double scale;               ///< points per metre
    double x, y, width, height; ///< all of it: head, axes and the view itself
    const lwi_plot_theme *theme;
    bool crowded; ///< smaller letters and marks
} lwi_plot_view;

/** Points per metre at which the extent fills the view's rectangle. */
double lwi_plot_view_scale(const lwi_plot_view *view);
lw_status lwi_plot_view_draw(const lwi_plot_view *view, lwi_plot_canvas *canvas, lwi_arena *arena,
                             lw_error *error);

#endif
