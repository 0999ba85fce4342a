// number_gradient.h -- derivatives of the equations of a mechanism by the numbers of its model, all of them at once.
//
// Problem: of   f = u'F + nu'C,   F = M vdot + h - Q - J'lambda,   C = J vdot + gamma,   at fixed q, v, vdot, lambda,
// the derivatives by masses, mass centres and inertias of links, places of joints, lengths of distances, springs
// and dampers of joints, gravity.  With x = sum u S over the way to a body, its motion V, A, and a displacement of a
// joint's place by the screw s, which all that is outboard follows,
//
//     df = x.(I psi2 + B psi + s x* f) + y.psi2 + z.psi,   psi = V x s,  psi2 = A x s + V x psi         (trees)
//
// with I, B, f of the subtree (tree/derivatives.h) and y = sum u I S, z = sum u B'S over its speeds; rows of cut
// joints add the terms of loops/cut_derivatives.h.  One inward sweep gives all of them.        Cost: O(nodes + rows).
#ifndef LWI_DYNAMICS_NUMBER_GRADIENT_H
#define LWI_DYNAMICS_NUMBER_GRADIENT_H

#include "dynamics/state_derivatives.h"

/** A spring or damper of a joint of the tree. */
typedef struct lwi_number_spring {
    int force, speed, node, column; ///< column: of the joint's coordinate
    bool coordinate;                ///< false: a damper alone
} lwi_number_spring;

/** What a displacement of all that is outboard of a place changes: factors of s, psi, psi2, and of x x s. */
typedef struct lwi_number_load {
    double s[6], psi[6], psi2[6], psi_x[6];
    double y[6], z[3];
} lwi_number_load;

/** Order of the numbers: of each node mass, first moment [3], inertia [6] about the link's origin; of each node the
 *  displacement [6] of its inboard joint frame in axes of the parent's link about its origin (ground: world); of each
 *  loop-closing joint those of F1 and F2 [6] in the links of their bodies, and its length; of each spring stiffness,
 *  damping, offset; gravity [3]; of each force between bodies its numbers (lwi_force_type.load_number); numbers of formulas. */
typedef struct lwi_number_loads {
    int force, first; ///< a force with numbers; the first of these
} lwi_number_loads;
/** A number of a formula of a function. */
typedef struct lwi_number_constant {
    int function, formula, instruction;
} lwi_number_constant;

typedef struct lwi_model_numbers {
    int n;                                    ///< of all
    int inertia, frame, cut, spring, gravity; ///< first ones
    bool
        places; ///< derivatives by places are wanted; set by lwi_numbers_create, cleared by the user
    lwi_number_loads *loads; ///< [nloads]
    int nloads, constants, nconstant;
    lwi_number_constant *constant; ///< [nconstant], number constants + i
    bool *used;                    ///< [nconstant] derivatives are wanted; as `places`
    bool by_loads;                 ///< the same of forces
    int *first_reached,
        *reached; ///< [functions + 1] constants that each function's value depends on
    int nspring;
    lwi_number_spring *of; ///< [nspring]
    lwi_number_load *load; ///< [nnode] scratch
} lwi_model_numbers;
enum { LWI_NUMBERS_CUT = 13, LWI_NUMBERS_SPRING = 3 };

/** A state, with what lwi_inverse_derivatives or lwi_tree_inertial_begin evaluated there. */
typedef struct lwi_number_state {
    const lw_model *model;
    const lwi_state_derivatives *d;
    const lwi_tree_work *work; ///< positions, world frames
    double t;
    const double *v, *lambda; ///< lambda: of the rows
    const double *inputs;     ///< NULL: zeros
} lwi_number_state;

/** @return LW_ERR_MEMORY */
lw_status lwi_numbers_create(const lw_model *model, lwi_arena *arena, lwi_model_numbers *numbers);
/** Displacement of a frame (R, r) by its derivative (dR, dr): the screw of [dr; dR] about the origin of its axes. */
void lwi_numbers_frame(const double R[9], const double r[3], const double dR[9], const double dr[3],
                       double out[6]);
/** Sums of u S over the way to each node, world axes about the world's origin.  @param way  [nnode] out */
void lwi_number_ways(const lwi_number_state *at, const double *u, double (*way)[6]);
/** gradient [numbers n] += scale df.
 *  @param u [tree nv], nu [rows]      @param way  of u, by lwi_number_ways */
void lwi_number_gradient(const lwi_model_numbers *numbers, const lwi_number_state *at,
                         const double *u, const double *nu, const double (*way)[6], double scale,
                         double *gradient);
/** gradient [numbers n] += scale times the derivatives of mu'phi + kappa'(J v + b), of the rows of loops.
 *  @param mu, kappa  [rows] */
void lwi_number_constraints(const lwi_model_numbers *numbers, const lwi_number_state *at,
                            const double *mu, const double *kappa, double scale, double *gradient);

#endif
