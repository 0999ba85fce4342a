// evaluate.h -- evaluations of `rcr` by cells in lanes (methods/rcr/clusters/clusters.h), where a model has them.
#ifndef LWI_METHODS_RCR_CLUSTERS_EVALUATE_H
#define LWI_METHODS_RCR_CLUSTERS_EVALUATE_H

#include "kinematics/formulation.h"

typedef struct lwi_rcr_clusters lwi_rcr_clusters;

/** Cells of the model that stands prepared in work->data; NULL where it has none: all loops are
 *  closed by revolute or spherical joints or couplings, which are not driven, the tree has joints of turns
 *  and displacements, which may be, and no mounts.
 *  @return LW_ERR_MEMORY */
lw_status lwi_rcr_clusters_create(lwi_work *work, lwi_rcr_clusters **clusters);
/** Changes a partition [tree_nv] that has just been chosen to one that cells can use, where it has
 *  pivots as large; x: where lwi_rcr_place was.  Leaves the elimination changed. */
void lwi_rcr_clusters_prefer(lwi_work *work, double t, const double *x, unsigned char *dependent);
/** Rates with the partition at hand: the numbers of the general elimination but for rounding and
 *  what positions are off the constraints.
 *  @param least  out: a lower bound for the sine that its smallest pivot is
 *  @return false: the general elimination has to decide; xdot is then void      @cost O(n) */
bool lwi_rcr_clusters_rates(lwi_work *work, double t, const double *x, const double *inputs,
                            double *xdot, double *min);

/** The same bound for a partition at the positions in x, in no unit of length where joints are
 *  hinges; 0: cells cannot use it there.  Another partition than the last one is planned anew. */
double lwi_rcr_clusters_pivot(const lwi_work *work, double t, const double *x,
                              const unsigned char *dependent);

/** As lwi_formulation.gap, of the partition in work->discrete; infinite where cells do not tell. */
double lwi_rcr_clusters_gap(const lwi_work *work, double t, const double *x);

/** Cells of the partition at hand; 0 where the general elimination has to do it. */
int lwi_rcr_clusters_count(const lwi_rcr_clusters *clusters);

#endif
