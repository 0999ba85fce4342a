// loads.h -- forces of a model whose loops are cells: bodies they act on have seats in the
// cells (methods/rcr/clusters/clusters.h), joints that are cut turn their efforts into wrenches there.
#ifndef LWI_METHODS_RCR_CLUSTERS_LOADS_H
#define LWI_METHODS_RCR_CLUSTERS_LOADS_H

#include "kinematics/formulation.h"
#include "methods/rcr/clusters/clusters.h"

typedef struct lwi_rcr_loads {
    bool at_bodies;       ///< else all act on joints of the tree
    bool cuts;            ///< something reads or moves joints that are cut
    int nmerged, *merged; ///< bodies that are merged with what has a seat or with the ground
} lwi_rcr_loads;

/** @param asked  [nnode] out: nodes that need seats
 *  @param known  out: false where a force is of a type that this text does not know
 *  @return LW_ERR_MEMORY */
lw_status lwi_rcr_loads_create(const lw_model *model, lwi_arena *arena, lwi_rcr_loads *loads,
                               bool *needed, bool *known);
/** Forces at (t, x) and all speeds v: efforts and power in the tree's workspace, wrenches on its bodies;
 *  after clusters_place. */
void lwi_rcr_loads_apply(const lwi_work *work, const lwi_rcr_loads *loads,
                         const lwi_clusters *clusters, double t, const double *x, const double *v,
                         const double *inputs);
/** Those wrenches on the cells; after clusters_force. */
void lwi_rcr_loads_pass(const lwi_work *work, const lwi_rcr_loads *loads,
                        const lwi_clusters *clusters);

#endif
