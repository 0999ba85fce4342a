// labels.h -- placement of names next to marks without overlap.
#ifndef LWI_PLOT_LABELS_H
#define LWI_PLOT_LABELS_H

#include "plot/canvas.h"

/** What names should not cover.  The caller owns all memory. */
typedef struct lwi_plot_labels {
    double x, y, width, height; ///< names stay inside
    bool strict;                ///< only next to the mark, and only at low cost
    double (*segment)[4];       ///< [nsegment] x0 y0 x1 y1
    int nsegment;
    double (*mark)[3]; ///< [nmark] x y radius
    int nmark;
    double (*placed)[4]; ///< [nplaced] x y width height of names so far
    int nplaced;
} lwi_plot_labels;

typedef struct lwi_plot_label_place {
    double x, y;    ///< left end of the base line
    bool leader;    ///< far away: a line to the mark is drawn
    double lead[2]; ///< end of that line
} lwi_plot_label_place;

/** Finds a position for a name of this size next to the mark of `radius` at (x, y), and reserves it.
 *  @return false: there is none */
bool lwi_plot_label_place_beside(lwi_plot_labels *labels, double x, double y, double radius,
                                 double width, double size, lwi_plot_label_place *place);

#endif
