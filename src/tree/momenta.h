// momenta.h -- the recursion of the joint momenta, phase by phase.  Numbers (n) are those of [naudet2003].
//
// Symbols, equations and order of the phases: momenta.c.  Each phase reads and writes the tree's workspace
// (tree_state.h) and lwi_momenta; nothing is kept from one evaluation to the next.
#ifndef LWI_TREE_MOMENTA_H
#define LWI_TREE_MOMENTA_H

#include "kinematics/tree_state.h"

/** One node between the sweeps.  With M_j = L L' = S' M* S + I_r:  U M_j^-1 U' = Y' Y,  U M_j^-1 pi
 *  = Y' z. */
typedef struct lwi_momenta_node {
    lwi_inertia M;  ///< M* during the inward sweep, M' afterwards                (43), (47)
    double D[6];    ///< D during the inward sweep, D' afterwards                 (44), (48)
    double L[6][6]; ///< [nv][nv] Cholesky factor of the joint inertia M_j        (46)
    double Y[6][6]; ///< [nv][6] L^-1 U', U = M* S
    double z[6];    ///< [nv] L^-1 pi, pi = p - S' D
    double c[6];    ///< acceleration pass: bias acceleration
    double b[6];    ///< bias wrench
    double y[6];    ///< [nv] L^-1 (Q - S' b)
} lwi_momenta_node;

typedef struct lwi_momenta {
    lwi_momenta_node *node; ///< [nnode]
    double (*P)[6];         ///< [nnode] momentum P* of the subtree                (42)
    double (*T)[6];         ///< [nnode] wrench T* on the subtree, gravity included  (27)
} lwi_momenta;

lw_status lwi_momenta_create(const lw_model *model, lwi_arena *arena, lwi_momenta *momenta);

/** p [tree_nv] from the speeds v [tree_nv]; after the links and the velocities V.          [(26),
 *  (34)] */
void lwi_momenta_of_speeds(const lw_model *model, lwi_momenta *m, const lwi_tree_work *work,
                           const double *v, double *p);
/** Speeds v [tree_nv] from p [tree_nv], with V of the workspace and P*; after the links.   [(37), (42)-(48)]
 *  @return LW_ERR_SINGULAR naming the joint with singular articulated inertia, LW_ERR_NOT_FINITE */
lw_status lwi_momenta_speeds(const lw_model *model, lwi_momenta *m, lwi_tree_work *work, double t,
                             const double *p, double *v, lw_error *error);
/** pdot [tree_nv]; after the loads and the rates of the links (only Sdot is read: no second derivatives of drives).
 *  Reads V, wrench, effort of the workspace and the momentum P that the joint of each node transmits: P* of
 *  lwi_momenta_speeds in an open tree.                                                       [(27), (35)]
 *  @param tau  [tree_nv] efforts added to those of the model, or NULL */
void lwi_momenta_rates(const lw_model *model, lwi_momenta *m, lwi_tree_work *work,
                       const double *tau, double *pdot);
/** Parts of it: T of node k alone, from the wrench and g of the workspace; pdot of node k, from T of its subtree. */
void lwi_momenta_own_wrench(const lw_model *model, lwi_momenta *m, const lwi_tree_work *work,
                            int k);
void lwi_momenta_node_rates(const lw_model *model, const lwi_momenta *m, const lwi_tree_work *work,
                            int k, const double *tau, double *pdot);
/** The sum of P . sigma over the nodes with drives or moving mounts [J]: the energy less the Hamiltonian.  After
 *  the links and P. */
double lwi_momenta_prescribed(const lw_model *model, const lwi_momenta *m,
                              const lwi_tree_work *work);
/** Power of drives and mounts less the rate of lwi_momenta_prescribed [W], without any acceleration of a body.
 *  After lwi_momenta_rates. */
double lwi_momenta_prescribed_rate(const lw_model *model, const lwi_momenta *m,
                                   const lwi_tree_work *work);
/** Scale of each momentum: the articulated inertia along the joint [tree_nv]; after the links.
 *  Overwrites V and P and writes the speeds v of p, as lwi_momenta_speeds. */
lw_status lwi_momenta_scale(const lw_model *model, lwi_momenta *m, lwi_tree_work *work, double t,
                            const double *p, double *v, double *inertia, lw_error *error);
/** Accelerations vdot [tree_nv] of the free speeds, A and F of the workspace, by one vector pass with the factors
 *  of lwi_momenta_speeds; after the rates of the links and the loads. */
void lwi_momenta_accelerations(const lw_model *model, lwi_momenta *m, lwi_tree_work *work,
                               const double *v, const double *tau, double *vdot);

#endif
