// transfer.h -- inertia for bodies that have none: it is transferred from their neighbours across joints.
//
// Bodies between the axes of a universal or spherical joint that a file has in pieces have no mass, others no inertia
// about some axis, or a billionth of the mass of their neighbours.  The block K = M^-1 of such a body in the
// elimination does not exist, or is so large that digits are lost.
//
// Rows of a joint between bodies p and m, J_p x_p + J_m x_m = c, relate quadratic forms of their motions: for any
// symmetric W the equations of motion
//
//     M_p x_p = f_p + J_p' lambda,    M_m x_m = f_m + J_m' lambda
//
// have the same solution x as
//
//     (M_p - J_p' W J_p) x_p = f_p + J_p' lambda~,    (M_m + J_m' W J_m) x_m = f_m + J_m' (W c + lambda~),
//     lambda = lambda~ + W J_p x_p                                                                           (1)
//
// exactly: J_m' W times the row is added to the second, and W J_p x_p is taken out of the multipliers.  The matrices
// stay those of single bodies, so the elimination is the same.  Inertia along the free directions of the joint, J S = 0,
// is not transferred, so a body on a hinge gets five of its six directions from each side: a cross of a universal joint
// all six from both.
//
// W = (J_p N^-1 J_p')^-1 is the largest with J_p' W J_p <= N.  From a body with inertia N = M_p / (n + 1) is given to
// each of its n borrowers, so that an equal share remains; from a borrower to another, N is half of what it has, along
// the directions that it has.  The ground gives a mean inertia of the bodies.  What is given depends on the motion but
// not the solution, so W is found again for each matrix pass and is constant in it.
//
// A body that has not all six directions after this can move without inertia: the mechanism is singular.
#ifndef LWI_SYSTEM_TRANSFER_H
#define LWI_SYSTEM_TRANSFER_H

#include "system/system.h"

/** An edge that transfers inertia; W is that of (1) with m its body number `to`. */
typedef struct lwi_transfer_edge {
    int edge, rows; ///< the first rows of the edge: not those of rotors
    int to, from;   ///< numbers of bodies in the edge; from < 0: the ground
    double W[36];   ///< [rows][rows] by lwi_transfer_find
} lwi_transfer_edge;

/** One transfer of a component, in its order: from `giver`, a body of the edge or the ground, to the other. */
typedef struct lwi_transfer_step {
    int edge;  ///< in lwi_transfer.edge
    bool back; ///< from `to` to `from`
} lwi_transfer_step;

/** A body of the elimination that gives or borrows. */
typedef struct lwi_transfer_body {
    int body;
    bool borrows;
    int gives;      ///< number of its edges, if it does not borrow
    int first, end; ///< these are lwi_transfer.give
    double M[36];   ///< world axes about the mass centre, by lwi_transfer_find
    double K[36];   ///< inverse, by lwi_transfer_invert
} lwi_transfer_body;

typedef struct lwi_transfer {
    int nedge, nstep, nbody, ncomponent, nborrower;
    lwi_transfer_edge *edge;
    lwi_transfer_step *step;
    lwi_transfer_body *body; ///< borrowers first, component by component
    int *
        first; ///< [ncomponent + 1] first step of each component: borrowers that give to each other
    int *give; ///< edges of bodies with inertia
    int *of;   ///< [bodies of the elimination] in `body`; -1: neither gives nor borrows
    double mean[2]; ///< of all bodies: mass and inertia, given by the ground
    int loose;      ///< body of the elimination that has no inertia in some direction; -1: none
} lwi_transfer;

/** Finds which edges transfer inertia, by the rows of the current motion, which it puts into the elimination.
 *  system->transfer stays NULL if every body has its own inertia.
 *  @return LW_ERR_MEMORY */
lw_status lwi_transfer_create(lwi_system *system, lwi_arena *arena);
/** W and M of all edges and bodies from the current rows and rotations. */
void lwi_transfer_find(lwi_system *system);
/** Then K of the bodies; sets transfer->loose. */
void lwi_transfer_invert(lwi_system *system);
/** K := (M of a borrower + share of what it borrows)^-1, after lwi_transfer_find; i in transfer->body. */
void lwi_transfer_mobility(const lwi_system *system, int i, double share, double K[36]);
/** f [nbody] += J_m' W (c - J base), in units of f of M x;  `base` [nbody]: the motion to which x is relative, or NULL.
 *  @param scale  of W: 1 for M, 1/eta for M / eta */
void lwi_transfer_load(const lwi_system *system, double scale, const double (*base)[6],
                       const double *c, double (*f)[6]);
/** lambda += W J_p (x - base)_p. */
void lwi_transfer_multipliers(const lwi_system *system, double scale, const double (*base)[6],
                              const double (*x)[6], double *lambda);
/** Error text of a body that has no inertia in some direction. */
lw_status lwi_transfer_fails(const lwi_system *system, double t, lw_status status, lw_error *error);

#endif
