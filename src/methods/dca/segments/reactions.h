// reactions.h -- rows of results of a tree that is evaluated in segments.
//
// Problem: accelerations udot of segments have round-off that adds up along a path, and with it the wrenches F that
// joints transmit.  The efforts that are missing, r = tau - S'F - I_r udot, are what udot needs of M du = r: solved with the
// factors of udot, du changes F until S'F = tau.
// All recursions are prefix sums (kinematics/passes.h).  Cost: O(n), O(log n) with threads, except for one node in 64.
#ifndef LWI_METHODS_DCA_SEGMENTS_REACTIONS_H
#define LWI_METHODS_DCA_SEGMENTS_REACTIONS_H

#include "kinematics/tree_state.h"
#include "methods/dca/segments/net.h"
#include "methods/dca/segments/path.h"
#include "tree/articulated.h"

typedef struct lwi_segment_rows {
    lwi_tree_work *tree;
    lwi_path *path; ///< or
    lwi_net *net;   ///< without loops
    lwi_articulated *
        articulated; ///< [nnode] of nets with driven joints, which are solved by recursion; else NULL
    double *udot, *r, *du;   ///< [tree_nv] corrected; efforts; what corrects
    double (*A)[6], (*F)[6]; ///< [nnode] those of du
} lwi_segment_rows;

/** For a tree workspace that only rows use; one of path and net is NULL.
 *  @return LW_ERR_MEMORY */
lw_status lwi_segment_rows_create(const lw_model *model, lwi_tree_work *tree,
                                  lwi_tree_passes *passes, lwi_path *path, lwi_net *net,
                                  lwi_arena *arena, lwi_segment_rows *rows);
/** Fills the snapshot after lwi_tree_evaluate at (t, q, u), with udot of the segments there.
 *  @return false if the general elimination must be used */
bool lwi_segment_rows_observe(lwi_segment_rows *rows, const lw_model *model, double t,
                              const double *q, const double *u, const double *udot,
                              lw_observe level, lwi_snapshot *snapshot);

#endif
