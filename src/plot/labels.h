// labels.h -- names beside marks: placed where they cover nothing, left out where they cannot.
#ifndef LWI_PLOT_LABELS_H
#define LWI_PLOT_LABELS_H

#include "plot/canvas.h"

/** What a name should not lie on.  All memory is the caller's. */
typedef struct lwi_plot_labels {
    double x, y, width, height; ///< names stay inside
    bool strict;          ///< only right beside the mark, and where hardly anything is covered
    double (*segment)[4]; ///< [nsegment] x0 y0 x1 y1
    int nsegment;
    double (*mark)[3]; ///< [nmark] x y radius
    int nmark;
    double (*placed)[4]; ///< [nplaced] x y width height of names so far
    int nplaced;
} lwi_plot_labels;

typedef struct lwi_plot_label_place {
    double x, y;    ///< left end of the base line
    bool leader;    ///< so far away that a line to the mark helps
    double lead[2]; ///< where that line ends
} lwi_plot_label_place;

/** Finds a place for a name of this size beside (x, y), a mark of `radius`, and takes it.
 *  @return false: there is none */
bool lwi_plot_label_place_beside(lwi_plot_labels *labels, double x, double y, double radius,
                                 double width, double size, lwi_plot_label_place *place);

#endif
