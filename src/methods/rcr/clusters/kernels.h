// kernels.h -- entry points of the cluster kernels, one table per ISA build (base/cpu.h).
#ifndef LWI_METHODS_RCR_CLUSTERS_KERNELS_H
#define LWI_METHODS_RCR_CLUSTERS_KERNELS_H

#include "methods/rcr/clusters/clusters.h"

typedef struct lwi_cluster_kernels {
    /** Loops in lanes (clusters.h): K, M and what forces need, from tree q.
     *  @param steepest  out: the largest square of what dependent coordinates move for a unit motion
     *  @return false: some loop is close to a singular position, or an angle too large */
    bool (*place)(const lwi_clusters *clusters, const double *q, double *max_ratio2);
    /** How far loops are open at tree q: square of the largest distance of points that meet, or sine of the
     *  angle between axes that are parallel.
     *  @return false: an angle is too large */
    bool (*gap2)(const lwi_clusters *clusters, const double *q, double *gap2);
    /** All speeds v [nv] from the independent ones among them; after place. */
    void (*speeds)(const lwi_clusters *clusters, double *v);
    /** f, k, rate from all speeds v and efforts tau [nv] (NULL: none); after place. */
    void (*force)(const lwi_clusters *clusters, const double *v, const double *tau);
    /** vdot [nv].  @return false: some mass is not positive */
    bool (*solve)(const lwi_clusters *clusters, double *vdot);
} lwi_cluster_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL when this machine has none. */
const lwi_cluster_kernels *lwi_cluster_kernels_of(int width);

#endif
