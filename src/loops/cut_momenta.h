// cut_momenta.h -- joint momenta of a tree with impulses at its cut joints and couplings; shared by the
// formulations with momenta as state, whichever way they compute speeds and impulses.
//
// With sigma the impulses of the constraint rows the momenta are M V = b(p) + J' sigma: the paper's augmented
// momenta [naudet2003, (6)-(8)].  Joint k transmits the momentum of its subtree less the impulses of the cuts,
//
//     P_k = sum over the subtree of M V  -  sum over the subtree of J_c' sigma_c,     p = S' P
//
// Any function of time sigma_c(t) is admissible (a gauge): each has a p(t) with the same motion.  With
// sigmadot_c = lambda_c - l_c(sigma_c) the reactions lambda_c drop out of the Newton-Euler equations, and the
// cuts act like forces on their bodies:
//
//     Pdot_k = T_k + F_k + sum over the subtree of L_c,    L_c = -Jdot_c' sigma_c + J_c' l_c
//
// (rates about points fixed in space).  gauge.c defines l_c.  The projection on the joint is that of open trees
// [naudet2003, (35)].  See also [chadaj2017, (15)-(36), (69)].
//
// Drives and mounts of cuts, J_c V = -b_c: their power -lambda_c b_c is, with lambda_c = sigmadot_c + l_c,
//
//     d/dt (-sigma_c b_c) + sigma_c bdot_c - l_c b_c,     bdot_c = gamma_c - Jdot_c V
//
// which needs no lambda_c.  Those of the tree: tree/momenta.c.
//
// Floating bases and free joints on the ground have their momenta in world axes about the link's origin: without
// loads the linear part is constant and the angular part changes by r x f, exactly in every step.
#ifndef LWI_LOOPS_CUT_MOMENTA_H
#define LWI_LOOPS_CUT_MOMENTA_H

#include "loops/gauge.h"
#include "kinematics/passes.h"
#include "tree/momenta.h"

/** The impulses of one cut on its bodies. */
typedef struct lwi_cut_impulse {
    int nbody, body[LWI_CLOSURE_BODIES];
    double P[LWI_CLOSURE_BODIES][6];    ///< -J_c' sigma_c, link axes about the link's origin
    double load[LWI_CLOSURE_BODIES][6]; ///< L_c, world axes, mass centre
    double prescribed, prescribed_rate; ///< as of lwi_cut_momenta
} lwi_cut_impulse;

typedef struct lwi_cut_momenta {
    const lw_model *model;
    lwi_tree_work *tree;
    lwi_momenta momenta;
    lwi_gauge gauge;
    double length;           ///< characteristic length [m], between displacements and rotations
    lwi_tree_passes *passes; ///< of the tree, with its threads; NULL: plain recursions
    lwi_cut_impulse *cut;    ///< [nloop + ncoupling] cut joints, then couplings
    const double *state;     ///< momenta of the current rates
    double *pdot;
    double (*load)[6];      ///< [nbody] sum of L_c on each body: world axes, mass centres
    double prescribed;      ///< of cuts with prescribed motion: minus the sum of sigma . b [J]
    double prescribed_rate; ///< their power less the rate of `prescribed` [W]
} lwi_cut_momenta;

/** @param passes  NULL: rates are computed by recursions; else R of the tree must be current */
lw_status lwi_cut_momenta_create(const lw_model *model, lwi_tree_work *tree,
                                 lwi_tree_passes *passes, lwi_gauge gauge, double length,
                                 lwi_arena *arena, lwi_cut_momenta *m);

/** Momenta p [tree_nv] of floating bodies: world axes (state) to link axes, and back in place. */
void lwi_cut_momenta_to_links(const lwi_cut_momenta *m, const double *state, double *p);
void lwi_cut_momenta_from_links(const lwi_cut_momenta *m, double *p);
/** Rates pdot [tree_nv] of the momenta p in link axes from those of the state's, in place; v [tree_nv] speeds. */
void lwi_cut_momenta_rates_to_links(const lwi_cut_momenta *m, const double *p, const double *v,
                                    double *pdot);

/** State momenta p [tree_nv] without impulses, except those of rotors of cut joints, which are determined by the
 *  speeds.  After the links, the velocities V of the speeds v [tree_nv], and the speeds of the cut joints in
 *  tree->joint_qd. */
void lwi_cut_momenta_of_speeds(lwi_cut_momenta *m, double t, const lwi_motion *motion,
                               const double *v, double *p);

/** Impulses of cut i, a cut joint or i - nloop a coupling; several threads may add different cuts at once.  Those of
 *  cuts that are never added are zero.
 *  @param sigma  impulses of its rows, then of those of its rotors [N s, N m s]; NULL: zeros */
void lwi_cut_momenta_add(lwi_cut_momenta *m, int i, double t, const lwi_motion *motion,
                         const double *sigma);
/** Momenta P_k that the joints transmit, and `load`; after all cuts are added. */
void lwi_cut_momenta_transmit(lwi_cut_momenta *m);
/** `load` of the bodies of cut joints alone, where P is not read and there are no couplings. */
void lwi_cut_momenta_load_cuts(lwi_cut_momenta *m);
/** pdot [tree_nv] of the state's momenta.  After lwi_cut_momenta_transmit, the rates of the links, and the loads in
 *  tree->wrench and tree->effort; `load` is added to tree->wrench. */
void lwi_cut_momenta_rates(lwi_cut_momenta *m, const double *state, double *pdot);

/** The work of drives and mounts is w + lwi_cut_momenta_prescribed, where w has the rate
 *  lwi_cut_momenta_prescribed_rate, which needs no accelerations.  The first after lwi_cut_momenta_transmit, the
 *  second after lwi_cut_momenta_rates.  Efforts on cut joints with mounts are not part of it. */
double lwi_cut_momenta_prescribed(const lwi_cut_momenta *m);
double lwi_cut_momenta_prescribed_rate(const lwi_cut_momenta *m);

/** Scale of each momentum: the articulated inertia of the open tree along the joint [tree_nv]; for world axes
 *  the largest of the three.  Overwrites V, P and the speeds v.
 *  @param p  [tree_nv] link axes
 *  @return LW_OK also where the open tree is singular (locked inertias are used); else the error of the tree */
lw_status lwi_cut_momenta_scale(lwi_cut_momenta *m, double t, const double *p, double *v,
                                double *inertia, lw_error *error);

#endif
