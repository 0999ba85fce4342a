// cost.h -- what one evaluation of each formulation costs for a model, and which one `auto` takes.
//
// A cost is a sum of coefficients times features of the model, LWI_COST_FEATURES; the coefficients
// stand in one table (cost.c) and come from measurements (tools/calibrate_auto.py).  What is compared
// are evaluations on one processor; the machine the table was measured on counts little, since all
// its rows scale alike.
#ifndef LWI_COST_H
#define LWI_COST_H

#include "formulation/formulation.h"

/** Features: all counts.
 *  one         1: what any evaluation takes
 *  bodies      that move and are not merged
 *  speeds      of the spanning tree
 *  closures    joints outside the tree, couplings
 *  rows        equations of all joints as `hdca` and `dca` join them
 *  products    multiplications of the plan they follow
 *  few         of rcr: bodies where it takes all rows at once, and
 *  paths       rows of cut joints times bodies there
 *  fewrows     rows of cut joints squared times speeds there
 *  nodes       bodies that its general elimination takes; 0 where it has cells or takes all rows at once
 *  light       those of its bodies that only carry loops or are in none
 *  cuts        closures there
 *  fronts      sum of the squares of its systems' sizes
 *  cubes       and of their cubes
 *  cells       of rcr: loops and bodies it evaluates in lanes
 *  squares     of lagrange: rows of cut joints squared times speeds
 *  dense       of dense: rows of all joints squared times components of all bodies' motions */
#define LWI_COST_FEATURES(X)                                                                       \
    X(one) X(bodies) X(speeds) X(closures) X(rows) X(products) X(nodes) X(light) X(cuts)           \
    X(fronts) X(cubes) X(cells) X(few) X(paths) X(fewrows) X(squares) X(dense)

typedef struct lwi_cost_features {
#define X(name) double name;
    LWI_COST_FEATURES(X)
#undef X
} lwi_cost_features;

/** What is known of a model and of its run's options before the formulation is chosen. */
typedef struct lwi_cost_survey {
    lwi_cost_features features;
    bool tree;    ///< no loops, no couplings
    bool momenta; ///< asked for as state
    lw_error rcr; ///< why rcr cannot begin at the model's start, or is not wanted; "": it can
    lw_error hdca;
    lwi_work *work; ///< the last one that could begin, set up with these options: the caller's; or NULL
} lwi_cost_survey;

/** Counts the features; where there are loops or couplings `rcr` is set up once and evaluated at the
 *  start, which shows whether it can and whether loops go in lanes.  What was set up is kept.
 *  @cost about twenty evaluations of rcr
 *  @return LW_ERR_MEMORY */
lw_status lwi_cost_measure(const lw_model *model, const lw_options *options,
                           const lw_allocator *allocator, lwi_cost_survey *survey);

/** Time of one evaluation [s]; NAN: not in the table. */
double lwi_cost_estimate(const char *formulation, const lwi_cost_features *features);

typedef struct lwi_cost_choice {
    const char *formulation;
    char why[400]; ///< one line: features that decided, estimates
} lwi_cost_choice;

/** The choice of `auto`. */
void lwi_cost_choose(const lw_model *model, const lwi_cost_survey *survey, lwi_cost_choice *choice);

#endif
