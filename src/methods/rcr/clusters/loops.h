// loops.h -- kernels of reactions loop by loop (reactions.c), one table per ISA build; a lane is a loop.
#ifndef LWI_METHODS_RCR_CLUSTERS_LOOPS_H
#define LWI_METHODS_RCR_CLUSTERS_LOOPS_H

#include "base/simd/lanes.h"
#include "kinematics/tree_state.h"

enum {
    LWI_LOOP_ROWS = 5,  ///< of a hinge; a universal joint has the first four, a ball three
    LWI_LOOP_NULLS = 3, ///< most redundant rows of a loop: one block
};

/** What motions of other coordinates may have outside of the range of W_y: more than positions drift. */
#define LWI_LOOP_OUTSIDE 1e-5

/** A joint between the bodies of a loop. */
typedef struct lwi_loop_step {
    int node, joint;
    double side;  ///< +1: between body 2 of the closing joint and the branch point, -1: body 1
    double share; ///< of a wrench on body 2 in the reaction of the joint: +1, -1
} lwi_loop_step;

/** A coordinate of such a joint. */
typedef struct lwi_loop_coordinate {
    int node, column; ///< of S
    float side,
        sign; ///< as lwi_loop_step; +1: the reaction of the joint acts on the node, -1: on its parent
} lwi_loop_coordinate;

/** What a loop is at a state.  With W_y = Q R of its dependent coordinates its wrench is Q R^-T tau; world axes, about the
 *  point of the closing joint. */
typedef struct lwi_loop_state {
    double end[3];                   ///< that point
    double effort[LWI_LOOP_ROWS][6]; ///< tau_i = effort . the reaction of its joint
    double wrench[LWI_LOOP_ROWS][6]; ///< of a unit of tau_i
    double null[LWI_LOOP_NULLS][6];  ///< N: orthonormal wrenches with W_y'N = 0
    double product[LWI_LOOP_NULLS *
                   LWI_LOOP_NULLS]; ///< N'N and the torques' products over its own steps
} lwi_loop_state;

/** Loops with equal numbers in the lanes. */
typedef struct lwi_loop_batch {
    const lw_model *model;
    const lwi_tree_work *tree;
    const double (*point)[3]; ///< [nnode] P2 of the node's joint
    int rows, dependent, coordinates, steps;
    bool null;                                        ///< are N, torques and products found?
    int joint[LWI_LANES];                             ///< the closing ones
    const lwi_loop_coordinate *coordinate[LWI_LANES]; ///< [coordinates] dependent ones first
    const lwi_loop_step *step[LWI_LANES];             ///< [steps]
    lwi_loop_state *state[LWI_LANES];                 ///< out
    double (
        *torque[LWI_LANES])[LWI_LOOP_NULLS][3]; ///< out: [steps] of N about the points of the steps
    bool
        follow; ///< in, out: false: with N, other coordinates of a lane move outside of the range of W_y
    double across
        [3]; ///< in, out: plus the size of what moves the loops out of planes across the axes of the world
} lwi_loop_batch;

typedef struct lwi_loop_kernels {
    int width; ///< lanes
    /** @return false: dependent coordinates of a lane have dependent rows */
    bool (*solve)(lwi_loop_batch *batch);
    /** w := what the closing joint transmits, from the reactions [njoint] of the others and the n dependent coordinates y. */
    void (*close)(const lw_model *model, const lwi_loop_state *state, const lwi_loop_coordinate *y,
                  int n, const double (*reaction)[6], double w[6]);
    /** Adds what a wrench w on the closing joint, at the point `end`, puts on the joints of n steps. */
    void (*pass_on)(const lwi_loop_step *step, int n, const double w[6], const double end[3],
                    const double (*point)[3], double (*reaction)[6]);
    /** w := N z of n self-stresses, added to the reaction of the closing joint. */
    void (*stress)(const lwi_loop_state *state, int n, const double *z, double w[6],
                   double closing[6]);
    /** z [n] := -T'F of the n self-stresses of a loop with `closing` on its closing joint. */
    void (*right_side)(const lwi_loop_step *step, int steps, const lwi_loop_state *state,
                       const double (*torque)[LWI_LOOP_NULLS][3], int n, const double closing[6],
                       const double (*reaction)[6], double *z);
    /** to [3 m + n] += sign (a_m . b_n), forces and torques, of the self-stresses of two loops at a joint. */
    void (*products)(const lwi_loop_state *a, const double (*torque_a)[3], int na,
                     const lwi_loop_state *b, const double (*torque_b)[3], int nb, double sign,
                     double *to);
    /** Takes the efforts of the free coordinates, which are round-off, out of the reactions of nodes k, k + 1, ... below
     *  `end`, up to the first that is neither a hinge nor universal, or is reversed.  @return that node or `end` */
    int (*remove_efforts)(const lw_model *model, const lwi_tree_work *tree, int k, int end,
                          double (*reaction)[6]);
} lwi_loop_kernels;

#endif
