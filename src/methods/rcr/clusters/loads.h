// loads.h -- forces of a model with loop clusters.  Bodies with forces are attached bodies of the clusters
// (methods/rcr/clusters/clusters.h); efforts of cut joints become wrenches on these.
#ifndef LWI_METHODS_RCR_CLUSTERS_LOADS_H
#define LWI_METHODS_RCR_CLUSTERS_LOADS_H

#include "kinematics/formulation.h"
#include "methods/rcr/clusters/clusters.h"

typedef struct lwi_rcr_loads {
    bool at_bodies;       ///< else all forces act on joints of the tree
    bool cuts;            ///< forces read or act on cut joints
    int nmerged, *merged; ///< bodies rigidly merged with an attached body or the ground
} lwi_rcr_loads;

/** @param needed  [nnode] out: nodes that need attached bodies
 *  @param known   out: false if a force has a type without body list
 *  @return LW_ERR_MEMORY */
lw_status lwi_rcr_loads_create(const lw_model *model, lwi_arena *arena, lwi_rcr_loads *loads,
                               bool *needed, bool *known);
/** Forces at (t, x) and all speeds v: efforts and power in the tree's workspace, wrenches on its bodies; after
 *  cluster_place. */
void lwi_rcr_loads_apply(const lwi_work *work, const lwi_rcr_loads *loads,
                         const lwi_clusters *clusters, double t, const double *x, const double *v,
                         const double *inputs);
/** Adds those wrenches to the clusters; after cluster_force. */
void lwi_rcr_loads_pass(const lwi_work *work, const lwi_rcr_loads *loads,
                        const lwi_clusters *clusters);

#endif
