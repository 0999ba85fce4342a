// inverse.h -- inverse dynamics: what its files share (inverse.c has the equations).
#ifndef LWI_ANALYSIS_INVERSE_H
#define LWI_ANALYSIS_INVERSE_H

#include "analysis/chosen.h"
#include "analysis/track.h"
#include "base/linear.h"
#include "loops/cut_reactions.h"
#include "model/coordinate_names.h"

#include <linkwork/analysis.h>

struct lw_inverse {
    lw_model *model; ///< actuated, owned
    lwi_arena arena;
    lwi_chosen at;
    int m, n, f;            ///< actuators, speeds of the tree, degrees of freedom
    int *input;             ///< [m]
    double *weight;         ///< [m]
    double *inputs, *trial; ///< [ninput] with zeros, with trial values, of the actuators
    double *S;              ///< [m][n]
    double *A;              ///< [m][f] columns, scaled rows
    double *tau, *h1, *h2, *left, *bias;       ///< [n]
    double *need, *part, *L;                   ///< [f], [f], [f][f]
    double *x, *u, *missing, *null;            ///< [m], [m], [f], [m][m]
    double pivot;                              ///< last one kept, relative to the best column
    unsigned char *redundant;                  ///< [m]
    double *residual, *rate, *lambda, *column; ///< [rows]
    double *q, *v, *vdot;                      ///< [tree nq], [n], [n] of an observation
    lwi_cod actuators, rows;                   ///< of A [f][m], of J' [n][rows]
    lwi_cut_reactions reactions;
    lwi_snapshot snapshot;
    lwi_loads loads;
    lwi_track track;        ///< of the motion of the description; rows 0: none
    double *near_q, *still; ///< [tree nq], [n] on the way to a row
    char worst[LW_COORDINATE_NAME_SIZE];
    double gap;        ///< largest deviation of a coordinate of the motion from the loops, in units
    char warning[400]; ///< names it
    lw_inverse_solution solution;
};

#endif
