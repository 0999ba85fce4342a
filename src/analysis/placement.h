// placement.h -- a mechanism placed at a state, for Jacobians and inverse kinematics.
#ifndef LWI_ANALYSIS_PLACEMENT_H
#define LWI_ANALYSIS_PLACEMENT_H

#include "analysis/chosen.h"

#include <linkwork/kinematics.h>

struct lw_kinematics {
    const lw_model *model;
    lwi_arena arena;
    lwi_chosen at;
    double *q;     ///< [tree nq] the coordinates
    double *tree;  ///< [6][tree nv] scratch
    double *still; ///< [tree nv] zeros
};

/** Places at q, without a check of the loops. */
lw_status lwi_placement_set(lw_kinematics *kinematics, double t, const double *q, const double *v,
                            lw_error *error);

#endif
