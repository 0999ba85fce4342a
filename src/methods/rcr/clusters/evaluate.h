// evaluate.h -- evaluations of `rcr` by loop clusters in lanes (methods/rcr/clusters/clusters.h).
#ifndef LWI_METHODS_RCR_CLUSTERS_EVALUATE_H
#define LWI_METHODS_RCR_CLUSTERS_EVALUATE_H

#include "kinematics/formulation.h"

typedef struct lwi_rcr_clusters lwi_rcr_clusters;

/** Clusters of the model prepared in work->data.  NULL if it has none: clusters need loops closed by revolute, universal,
 *  spherical or fixed joints or couplings that are not driven, rotational and translational joints in the tree (which may be
 *  driven), and no moving mounts.
 *  @return LW_ERR_MEMORY */
lw_status lwi_rcr_clusters_create(lwi_work *work, lwi_rcr_clusters **clusters);
/** Changes a newly chosen partition [tree_nv] to one that clusters can use, if that has pivots as large.  Overwrites
 *  the elimination.
 *  @param x  state at which lwi_rcr_place was called */
void lwi_rcr_clusters_prefer(lwi_work *work, double t, const double *x, unsigned char *dependent);
/** Rates with the present partition: those of the general elimination up to rounding and position errors.
 *  @param min  out: a lower bound of the sine that is the smallest pivot
 *  @return false: the general elimination has to decide; xdot is undefined      @cost O(n) */
bool lwi_rcr_clusters_rates(lwi_work *work, double t, const double *x, const double *inputs,
                            double *xdot, double *min);
/** All speeds v [tree_nv] from the independent ones of x, which need not be those of the rates before; min and result as
 *  there. */
bool lwi_rcr_clusters_speeds(lwi_work *work, double t, const double *x, double *v, double *min);
/** All speeds v [tree_nv] and their rates vdot [tree_nv] at a state, to the bit those of lwi_rcr_clusters_rates;
 *  vdot NULL: speeds alone.  After the partition is made.
 *  @return false: as there */
bool lwi_rcr_clusters_motion(lwi_work *work, double t, const double *x, const double *inputs,
                             double *v, double *vdot);

/** Whether reactions are found loop by loop (reactions.h) with some partitions; with this one. */
bool lwi_rcr_clusters_have_reactions(const lwi_rcr_clusters *clusters);
bool lwi_rcr_clusters_fit_reactions(const lwi_rcr_clusters *clusters,
                                    const unsigned char *dependent);
/** These, after lwi_rcr_clusters_motion; as lwi_cluster_reactions_find. */
bool lwi_rcr_clusters_find_reactions(const lwi_work *work, double (*reaction)[6]);

/** The same bound for a partition at the positions in x, independent of a length if all joints are revolute; 0:
 *  clusters cannot use the partition.  A partition other than the last one is planned again. */
double lwi_rcr_clusters_pivot(const lwi_work *work, double t, const double *x,
                              const unsigned char *dependent);

/** As lwi_formulation.margin, after lwi_rcr_clusters_rates. */
double lwi_rcr_clusters_margin(const lwi_rcr_clusters *clusters);
/** As lwi_formulation.margin_at. */
double lwi_rcr_clusters_margin_at(lwi_work *work, double t, const double *x);

/** As lwi_formulation.gap, for the partition in work->discrete or, where there is none, that of the model's start; infinite if
 *  clusters cannot evaluate it. */
double lwi_rcr_clusters_gap(lwi_work *work, double t, const double *x);

/** As lwi_formulation.close without angles, for the same partition. */
bool lwi_rcr_clusters_close(lwi_work *work, double t, double *x, double gap);

/** Does this partition have clusters? */
bool lwi_rcr_clusters_fit(const lwi_rcr_clusters *clusters, const unsigned char *dependent);
/** Number of clusters of the present partition; 0: the general elimination evaluates it. */
int lwi_rcr_clusters_count(const lwi_rcr_clusters *clusters);
/** What they take, as lwi_clusters_count; zero if there are none. */
void lwi_rcr_clusters_cost(const lwi_rcr_clusters *clusters, double *steps, double *products);

#endif
