// costs.h -- what one evaluation takes: counts of a model's operations, times of each.
//
// A cost is a sum of coefficients times features of the model, LWI_COST_FEATURES; the coefficients are in one
// table (costs.def) and come from measurements (tools/calibrate_auto.py).  Costs are of evaluations on one
// processor; the machine of the measurements matters little, since all rows scale alike.
#ifndef LWI_KINEMATICS_COSTS_H
#define LWI_KINEMATICS_COSTS_H

/** Features: all counts.
 *  one          1: constant part of an evaluation
 *  bodies       that move and are not merged
 *  speeds       of the spanning tree
 *  closures     joints outside the tree, couplings
 *  redundant    equations of closures that depend on others
 *  rows         equations of all joints as `hdca` and `dca` join them
 *  joins        of their plan, equal ones in lanes once
 *  closings     of them that close loops and seek pivots
 *  products     multiplications of the other joins
 *  pivoted      and of those that seek pivots
 *  panels       and of the large ones of these, many rows at a time
 *  laned        and of those in lanes, once for all of them
 *  clusters     of `rcr`: loops and bodies that it evaluates in lanes
 *  steps        of these, those of eight equal ones once
 *  lane_products  multiplications in their lanes, once for all
 *  nodes        of its elimination: bodies with systems that are assembled one by one
 *  plain        of these those that no other body but the parent meets
 *  unconstrained  the others, which only carry loops or are in none
 *  fronts       sum of the squares of the systems' sizes
 *  cubes        and of their cubes
 *  paths        of all rows of cut joints at once: rows times the bodies between them and the ground
 *  reflections  multiplications of their decomposition and of one solution with it
 *  row_paths    the same, with eight rows at once where none is redundant: its dense path
 *  row_products  and of the decomposition and one solution in lanes there
 *  dense        of `dense`: rows of all joints squared times components of all bodies' motions
 *  factor       multiplications of a factorisation along the plan, `index3`, `rattle`
 *  hinges       of long paths that `hdca` and `dca` evaluate in segments; screws too
 *  square       the same, with the next axis parallel or at a right angle
 *  balls        of such a path
 *  hubs         bodies between several paths */
// clang-format off
#define LWI_COST_FEATURES(X) \
    X(one) X(bodies) X(speeds) X(closures) X(redundant) X(rows) X(joins) X(closings) X(products) \
    X(pivoted) X(panels) X(laned) X(clusters) X(steps) X(lane_products) X(nodes) X(plain) X(unconstrained) \
    X(fronts) X(cubes) X(paths) X(reflections) X(row_paths) X(row_products) X(dense) X(factor) X(hinges) X(square) X(balls) X(hubs)
// clang-format on

typedef struct lwi_cost_features {
#define X(name) double name;
    LWI_COST_FEATURES(X)
#undef X
} lwi_cost_features;

/** Time of one evaluation [s]; NAN: not in the table.  `rcr` goes one of three ways, each a row of the table:
 *  LWI_RCR_CLUSTERS, LWI_RCR_DENSE_PATH, LWI_RCR_ELIMINATION (rcr.h). */
double lwi_cost_estimate(const char *row, const lwi_cost_features *features);

/** The same in two parts, where a row is read many times: its coefficients [ns], NULL: not in the table; and the time [s]. */
const lwi_cost_features *lwi_cost_row(const char *row);
double lwi_cost_by_row(const lwi_cost_features *per, const lwi_cost_features *features);

/** The same by `aba`, `momenta`, `hdca` or `dca` of a model of long paths, on one thread; NAN: another formulation, or
 *  there is no path. */
double lwi_cost_of_path(const char *formulation, const lwi_cost_features *features);

#endif
