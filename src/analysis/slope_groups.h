// slope_groups.h -- parameters of a file that change different bodies and joints, varied together.
//
// Problem: variants of a model with other parameters take time, four for each parameter.  Where the file states by
// expressions which bodies, joints and forces depend on a parameter, those without a common one are varied at once:
// each number of the model that changes belongs to one of them.  Parameters of the same force or formula may be of one
// group too: it is varied twice, with other ratios of the steps, and each number that changes belongs to the parameter with
// its ratio.  Numbers that belong to none, or places of joints that change, end the group: its parameters are varied with
// fewer others, or alone.                                                    Cost: four or eight variants for each group.
#ifndef LWI_ANALYSIS_SLOPE_GROUPS_H
#define LWI_ANALYSIS_SLOPE_GROUPS_H

#include "analysis/slopes.h"

/** What all slopes of a model share. */
typedef struct lwi_slopes_desc {
    const lw_model *model;
    const lwi_model_numbers *numbers;
    lwi_state_derivatives *d; ///< for this model; evaluated at a state at random
    lwi_tree_work *work;
    const double *inputs;
    const double *z;       ///< as in lwi_slope_state
    const char *const *by; ///< [nby]
    int nby;
    double relative; ///< steps of parameters by their values
    bool together;   ///< parameters without effect on motions may be varied together
    bool any;        ///< numbers of the description too, lwi_slope_find
    bool moving;     ///< results show coordinates and motions alone, which formulas do not change
} lwi_slopes_desc;

/** The slopes of all parameters, compared with those of whole models at a state at random.
 *  @param slope    [nby] out
 *  @param created  out, also on failure: slopes to be destroyed */
lw_status lwi_slopes_create(const lwi_slopes_desc *desc, lwi_arena *arena, lwi_slope *slope,
                            int *created, lw_error *error);

#endif
