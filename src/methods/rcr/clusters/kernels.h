// kernels.h -- entry points of the cluster kernels, one table per ISA build (base/cpu.h).
#ifndef LWI_METHODS_RCR_CLUSTERS_KERNELS_H
#define LWI_METHODS_RCR_CLUSTERS_KERNELS_H

#include "methods/rcr/clusters/clusters.h"

/** The phases of the clusters in lanes l to l + width - 1 of a block.  No argument is a vector: compilers leave the
 *  upper register halves dirty after such a call, and scalar code that follows takes two to three times as long. */
typedef struct lwi_cluster_phases {
    /** Poses, K, M and coefficients of forces at tree q.
     *  @param max_ratio2  in, out: the largest squared ratio of a dependent to a known motion
     *  @return false: a loop is close to a singular position, or an angle is too large */
    bool (*place)(const lwi_cluster_block *block, const double *q, double per_length2,
                  double *max_ratio2, int l);
    /** f, k, rate from all speeds v and efforts tau [nv] (NULL: none); after place. */
    void (*force)(const lwi_cluster_block *block, const double *v, const double *tau,
                  double per_length2, int l);
    /** The smallest pivot that W_y'W_y of a block with closing joints has in any order, relative to the
     *  larger of its diagonal and the squared size of the motion of that coordinate; at most 1.  After place. */
    double (*pivot)(const lwi_cluster_block *block, int l);
} lwi_cluster_phases;

typedef struct lwi_cluster_kernels {
    int width;                       ///< lanes that `place` and `force` compute
    lwi_cluster_phases any;          ///< for any shape
    const lwi_cluster_phases *shape; ///< for each of the lists of shapes.h; NULL: as any other
    /** Position error of the loops at tree q: the largest square of the distance of closing points, or of the sine
     *  of the angle between closing axes.
     *  @return false: an angle is too large */
    bool (*gap2)(const lwi_clusters *clusters, const double *q, double *gap2);
    /** `pivot` at tree q, without place, of which it overwrites poses and factors.  0: a loop is close to a singular position, or an
     *  angle is too large */
    double (*pivot_at)(const lwi_cluster_block *block, const double *q, double per_length2, int l);
    /** k := changes of y that close the loops to first order at fixed x; after place. */
    void (*offsets)(const lwi_clusters *clusters);
    /** All speeds v [nv] from the independent ones among them; after place. */
    void (*speeds)(const lwi_clusters *clusters, double *v);
    /** vdot [nv].  @return false: a mass is not positive */
    bool (*solve)(const lwi_clusters *clusters, double *vdot);
} lwi_cluster_kernels;

/** The phases for a block. */
static inline const lwi_cluster_phases *lwi_cluster_phases_of(const lwi_cluster_kernels *kernels,
                                                              const lwi_cluster_block *block)
{
    const int variant = block->variant;
    return variant >= 0 && kernels->shape[variant].place ? &kernels->shape[variant] : &kernels->any;
}

/** The kernels of a width: 1, 4, 8, or 0 for the widest of this machine; NULL: not available. */
const lwi_cluster_kernels *lwi_cluster_kernels_of(int width);

#endif
