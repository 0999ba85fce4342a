// reactions.h -- reactions of a mechanism of loop clusters, loop by loop; of minimum norm where rows are redundant.
#ifndef LWI_METHODS_RCR_CLUSTERS_REACTIONS_H
#define LWI_METHODS_RCR_CLUSTERS_REACTIONS_H

#include "kinematics/tree_state.h"
#include "methods/rcr/clusters/clusters.h"

typedef struct lwi_cluster_reactions lwi_cluster_reactions;

/** Memory, and which joints the loops share.
 *  @param redundant  whether some rows are
 *  @param width      lanes: 1, 4, 8, or 0 for the widest of this machine
 *  @param reactions  out: NULL for other mechanisms: with drives, mounts, rotors, couplings, joints with rows that are not
 *                    unit forces and torques, or with too many loops at one joint
 *  @return LW_ERR_MEMORY */
lw_status lwi_cluster_reactions_create(const lwi_clusters *clusters, const lw_model *model,
                                       bool redundant, int width, lwi_arena *arena,
                                       lwi_cluster_reactions **reactions);
/** Whether each loop of the present plan has its own rows. */
bool lwi_cluster_reactions_fit(lwi_cluster_reactions *reactions, const lwi_clusters *clusters);
/** reaction [njoint]: in: of the joints of the tree as if the loops were open; out: of all joints, world axes about P2,
 *  with minimum norm over forces [N] and torques [N m].  After lwi_clusters_plan with these accelerations.
 *  @return false: a loop has dependent rows of another number, self-stresses are not of single loops, or numbers are not
 *          finite; `reaction` is undefined
 *  @cost O(loops) */
bool lwi_cluster_reactions_find(lwi_cluster_reactions *reactions, const lwi_clusters *clusters,
                                const lwi_tree_work *tree, double (*reaction)[6]);

#endif
