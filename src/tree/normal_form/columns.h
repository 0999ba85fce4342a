// columns.h -- bodies of a plan in depth-first order, and the columns of the mass matrix.
//
// The joints outboard of a body have consecutive columns then, which the kernels process in lanes.
// Input: a plan.  Output: lwi_k_columns, with the memory of one evaluation.  Memory: O(n).
#ifndef LWI_TREE_NORMAL_FORM_COLUMNS_H
#define LWI_TREE_NORMAL_FORM_COLUMNS_H

#include "tree/normal_form/plan.h"

/** A body. */
typedef struct lwi_k_column_body {
    int32_t step, parent;      ///< of the plan; in this order, -1: the ground
    int32_t first, count, end; ///< columns: of its joint, and the end of those of its subtree
} lwi_k_column_body;

/** Mass and first and second moments about a point: 1, 3, 6 numbers as in lwi_k_body. */
typedef struct lwi_k_composite {
    double m, h[3], J[6];
} lwi_k_composite;

typedef struct lwi_k_columns {
    int n, count;            ///< bodies, columns
    lwi_k_column_body *body; ///< [n]
    int32_t *speed;          ///< [count] in tree v
    double *sign;            ///< [count] of the joint
    // of one evaluation
    lwi_k_composite *composite; ///< [n] of the bodies outboard
    double *F
        [6]; ///< [count + LWI_LANES] momentum of a unit speed; wrench about the present body's origin
    double *along; ///< [count] scratch
    double *still; ///< [tree nv] zeros
} lwi_k_columns;

/** @return LW_ERR_MEMORY     @cost O(n) */
lw_status lwi_k_columns_create(const lwi_kernel_plan *plan, int nv, lwi_arena *arena,
                               lwi_k_columns *columns);

#endif
