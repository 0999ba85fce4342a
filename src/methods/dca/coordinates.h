// coordinates.h -- rates of the coordinates of the tree, for `hdca` and `dca`.
//
// Problem: qdot from q and the speeds u.  Cost: that of a copy, where speeds are rates of coordinates.
#ifndef LWI_METHODS_DCA_COORDINATES_H
#define LWI_METHODS_DCA_COORDINATES_H

#include "base/threads.h"
#include "kinematics/tree_state.h"

/** Nodes with speeds that are not the rates of their coordinates, and how many follow that are ball joints too if the
 *  first one is, one after the other in q and u; nothing is driven. */
typedef struct lwi_coordinates {
    const lw_model *model;
    struct lwi_coordinates_run {
        int node, balls; ///< balls 0: a node by itself that is none
    } * run;             ///< [nrun]
    int nrun;
} lwi_coordinates;

/** @return LW_ERR_MEMORY */
lw_status lwi_coordinates_create(const lw_model *model, lwi_arena *arena,
                                 lwi_coordinates *coordinates);
/** qdot [tree_nq] from q [tree_nq] and u [tree_nv]; threads of the pool, if not NULL, share long runs of balls. */
void lwi_coordinates_rates(const lwi_coordinates *coordinates, lwi_pool *pool, const double *q,
                           const double *u, double *qdot);

/** For lwi_pool_for over the nodes, with drives too: rates of the coordinates, and Sdot of the links. */
typedef struct lwi_node_rates {
    const lw_model *model;
    lwi_link *link;
    double t;
    const double *u; ///< [tree_nv]
    double *qdot;    ///< [tree_nq] NULL: Sdot alone
} lwi_node_rates;
void lwi_node_rates_part(void *node_rates, int first, int end);

#endif
