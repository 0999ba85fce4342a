// momenta.h -- the recursion of the canonical momenta, phase by phase.
//
// Symbols, equations and order of the phases: momenta.c.  Every phase works on the tree's workspace
// (tree_state.h) and on arrays of its own; nothing is kept between evaluations.
#ifndef LWI_TREE_MOMENTA_H
#define LWI_TREE_MOMENTA_H

#include "kinematics/tree_state.h"

/** One node: what the inward sweep leaves for the outward one.  With M_j = L L' = S' M* S the
 *  arrays Y and z stand for  U M_j^-1 U' = Y' Y  and  U M_j^-1 pi = Y' z. */
typedef struct lwi_momenta_node {
    lwi_inertia M;  ///< M* on the way in, M' afterwards                          (43), (47)
    double D[6];    ///< D on the way in, D' afterwards                           (44), (48)
    double L[6][6]; ///< Cholesky factor of the joint inertia M_j [nv][nv]        (46)
    double Y[6][6]; ///< L^-1 U' [nv][6], U = M* S
    double z[6];    ///< L^-1 pi [nv], pi = p - S' D
    double P[6];    ///< momentum P* of the subtree                               (42)
    double T[6];    ///< wrench T* on the subtree, gravity included               (27)
    double c[6];    ///< bias acceleration, and
    double b[6];    ///< bias wrench of the acceleration pass
    double y[6];    ///< L^-1 (Q - S' b) [nv] of the acceleration pass
} lwi_momenta_node;

typedef struct lwi_momenta {
    lwi_momenta_node *node; ///< [nnode]
} lwi_momenta;

lw_status lwi_momenta_create(const lw_model *model, lwi_arena *arena, lwi_momenta *momenta);

/** p from the speeds: p = S' P*, after links and velocities V.                      [(26), (34)] */
void lwi_momenta_of_speeds(const lw_model *model, lwi_momenta *m, const lwi_tree_work *work,
                           const double *v, double *p);
/** v from the momenta, V of the workspace and P*; after the links.               [(37), (42)-(48)]
 *  @return LW_ERR_SINGULAR with the joint whose articulated inertia is singular */
lw_status lwi_momenta_speeds(const lw_model *model, lwi_momenta *m, lwi_tree_work *work, double t,
                             const double *p, double *v, lw_error *error);
/** pdot, after the rates of the links (of these only Sdot is read: no second derivatives of drives) and
 *  the loads.  Reads V, wrench and effort of the workspace and the momentum P of every node, what its
 *  joint transmits: P* of lwi_momenta_speeds in an open tree.                          [(27), (35)]
 *  @param tau  [tree_nv] efforts beside those of the model's forces, or NULL */
void lwi_momenta_rates(const lw_model *model, lwi_momenta *m, lwi_tree_work *work,
                       const double *tau, double *pdot);
/** What momenta are measured by: the inertia that each joint feels in the open tree, [tree_nv]; after the
 *  links.  Changes V and P and writes the speeds v of p, as lwi_momenta_speeds does. */
lw_status lwi_momenta_scale(const lw_model *model, lwi_momenta *m, lwi_tree_work *work, double t,
                            const double *p, double *v, double *inertia, lw_error *error);
/** Accelerations of the free speeds, A and F of the workspace, by one vector pass with the factors
 *  of lwi_momenta_speeds; after the rates of the links and the loads. */
void lwi_momenta_accelerations(const lw_model *model, lwi_momenta *m, lwi_tree_work *work,
                               const double *v, const double *tau, double *vdot);

#endif
