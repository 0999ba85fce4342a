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
} lwi_loop_kernels;

#endif
