// cost.h -- what one evaluation of each formulation costs for a model, and which one `auto` takes.
//
// What a cost is made of: kinematics/costs.h.
#ifndef LWI_SIMULATE_COST_H
#define LWI_SIMULATE_COST_H

#include "kinematics/costs.h"
#include "kinematics/formulation.h"
#include "system/shared.h"

/** What is known of a model and of its run's options before the formulation is chosen. */
typedef struct lwi_cost_survey {
    lwi_cost_features features;
    bool tree;           ///< no loops, no couplings
    bool momenta;        ///< asked for as state
    const char *rcr_way; ///< its row in the table of costs; NULL: it cannot begin
    double rcr_left_out; ///< its prediction [s], if that is why it was not set up; 0: it was
    double momenta_take; ///< evaluations of `hdca` where speeds take one, for the same accuracy
    const char *best;    ///< of those that can begin the one to take; NULL: none can
    lw_error rcr; ///< why rcr cannot begin at the model's start, or is not wanted; "": it can
    lw_error hdca;
    lwi_work *work; ///< the last one that could begin, set up so: the caller's; or NULL
    double *
        x; ///< [nx] the model's start as `work` has entered it, in its memory; NULL: to be entered again
    void *discrete; ///< [ndiscrete] its discrete state then
} lwi_cost_survey;

/** `rcr` is set up only where its prediction is below so many evaluations of `hdca`, before it; after it where momenta need
 *  so many more evaluations that `rcr` may be cheaper, up to the second number. */
#define LWI_COST_DEAR 2
#define LWI_COST_DEAREST 10

/** Features of the joins of `hdca` and `dca`, and of `dense`, from the graph.  @return LW_ERR_MEMORY */
lw_status lwi_cost_count(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                         lwi_cost_features *features);

/** Joints of a model of long paths, which `hdca` and `dca` evaluate in segments; else all zero.
 *  @return LW_ERR_MEMORY */
lw_status lwi_cost_count_path(const lw_model *model, lwi_shared *shared,
                              const lw_allocator *allocator, lwi_cost_features *features);

/** Counts the features; with loops or couplings `rcr` is set up once and evaluated at the start, unless it is predicted
 *  to be too dear (LWI_COST_DEAR), which shows whether it can start and whether loops go in lanes; so is `hdca` where
 *  it may be the cheaper one, first where `rcr` is predicted to be dear.  What was set up last is kept.
 *  @param shared  must outlive survey->work; NULL: the plan and ranks are not kept
 *  @cost about twenty evaluations of those that are set up
 *  @return LW_ERR_MEMORY */
lw_status lwi_cost_measure(const lw_model *model, const lw_options *options, lwi_shared *shared,
                           const lw_allocator *allocator, lwi_cost_survey *survey);

typedef struct lwi_cost_choice {
    const char *formulation;
    char why[400]; ///< one line: features that decided, estimates
} lwi_cost_choice;

/** The choice of `auto`. */
void lwi_cost_choose(const lw_model *model, const lwi_cost_survey *survey, lwi_cost_choice *choice);

#endif
