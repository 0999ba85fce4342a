// theme.h -- the colours of a picture.
#ifndef LWI_PLOT_THEME_H
#define LWI_PLOT_THEME_H

#include "plot/canvas.h"

enum { LWI_PLOT_PALETTE = 8 };

typedef struct lwi_plot_theme {
    lwi_plot_colour paper, ink, muted, grid, axis, zero;
    lwi_plot_colour
        curve[LWI_PLOT_PALETTE]; ///< distinct also for colour-blind readers (after Okabe and Ito)
} lwi_plot_theme;

lwi_plot_theme lwi_plot_theme_light(void);
lwi_plot_theme lwi_plot_theme_dark(void);

/** Colour of curve `index` of `count`: from the palette, or from a scale if there are more. */
lwi_plot_colour lwi_plot_curve_colour(const lwi_plot_theme *theme, int index, int count);
/** Of a scale with steadily changing lightness, at 0 ... 1. */
lwi_plot_colour lwi_plot_scale_colour(const lwi_plot_theme *theme, double at);

#endif
