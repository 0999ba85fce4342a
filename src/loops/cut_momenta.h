// cut_momenta.h -- joint momenta of a tree whose cut joints and couplings transmit impulses: what
// the formulations with momenta as state share, however they find speeds and impulses.
//
// Momenta of the bodies M V = b(p) + J' sigma, sigma the impulses of the cuts' rows.  What joint k
// transmits is the momentum of everything outboard less what came in by the cuts,
//
//     P_k = sum over outboard bodies M V  -  sum over outboard bodies J_c' sigma_c,     p = S' P
//
// The impulse of a cut is ours to choose as a function of time, for every sigma_c(t) there is a
// p(t) with the same motion; with  sigmadot_c = lambda_c - l_c(sigma_c)  the unknown reactions
// lambda_c drop out of Newton's and Euler's equations, and the cuts act like forces on their
// bodies:
//
//     Pdot_k = T_k + F_k + sum over outboard bodies L_c,    L_c = -Jdot_c' sigma_c + J_c' l_c
//
// (rates about points fixed in space).  gauge.c chooses l_c.  The projection on the joint is
// that of open trees [naudet2003, (35)].                              [chadaj2017, (15)-(36), (69)]
//
// Floating bases and free joints on the ground have their momenta in world axes about the link's
// origin: without loads the force part stands still and the moment part loses r x f, step by step
// and exactly.
#ifndef LWI_LOOPS_CUT_MOMENTA_H
#define LWI_LOOPS_CUT_MOMENTA_H

#include "loops/gauge.h"
#include "tree/momenta.h"

typedef struct lwi_cut_momenta {
    const lw_model *model;
    lwi_tree_work *tree;
    lwi_momenta momenta;
    lwi_gauge gauge;
    double length;     ///< unit between displacements and turns [m]
    lwi_closure rows;  ///< of one cut
    double (*load)[6]; ///< [nbody] what the cuts put on their bodies: world axes, mass centres
} lwi_cut_momenta;

lw_status lwi_cut_momenta_create(const lw_model *model, lwi_tree_work *tree, lwi_gauge gauge,
                                 double length, lwi_arena *arena, lwi_cut_momenta *m);

/** Momenta of floating bodies between world axes, as a state has them, and link axes; [tree_nv]. */
void lwi_cut_momenta_to_links(const lwi_cut_momenta *m, const double *state, double *p);
void lwi_cut_momenta_from_links(const lwi_cut_momenta *m, double *p);

/** State momenta [tree_nv] of the velocities themselves, no impulses in them but those of rotors on cut
 *  joints, which are not ours to choose; after the links and V, of the speeds v, and speeds of cut joints in
 *  tree->joint_qd. */
void lwi_cut_momenta_of_speeds(lwi_cut_momenta *m, double t, const lwi_motion *motion,
                               const double *v, double *p);

/** No impulses; then those of one cut after the other. */
void lwi_cut_momenta_begin(lwi_cut_momenta *m);
/** @param joint  cut joint, or -1 - coupling    @param sigma  of its rows, then of those of its rotors */
void lwi_cut_momenta_add(lwi_cut_momenta *m, int joint, double t, const lwi_motion *motion,
                         const double *sigma);
/** The momenta that the joints transmit; after all cuts. */
void lwi_cut_momenta_transmit(lwi_cut_momenta *m);
/** pdot [tree_nv] of the state's momenta; after lwi_cut_momenta_transmit, the rates of the links
 * and the loads in tree->wrench, tree->effort, to which those of `load` are added. */
void lwi_cut_momenta_rates(lwi_cut_momenta *m, const double *state, double *pdot);

/** What momenta are measured by: the inertia that each joint feels in the open tree; about world
 * axes the largest of the three.  Changes V and P and writes speeds v.
 *  @param p  in link axes */
lw_status lwi_cut_momenta_scale(lwi_cut_momenta *m, double t, const double *p, double *v,
                                double *inertia, lw_error *error);

#endif
