// theme.h -- the colours of a picture.
#ifndef LWI_PLOT_THEME_H
#define LWI_PLOT_THEME_H

#include "plot/canvas.h"

enum { LWI_PALETTE = 8 };

typedef struct lwi_theme {
    lwi_colour paper, ink, muted, grid, axis, zero;
    lwi_colour curve[LWI_PALETTE]; ///< told apart by the colour-blind too (after Okabe and Ito)
} lwi_theme;

lwi_theme lwi_theme_light(void);
lwi_theme lwi_theme_dark(void);

/** Colour of curve `index` of `count`: of the palette, and of a scale where it has not enough. */
lwi_colour lwi_curve_colour(const lwi_theme *theme, int index, int count);

#endif
