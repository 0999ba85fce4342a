// reactions.h -- rows of results of a mechanism that is evaluated in segments.
//
// Problem: accelerations udot of segments have round-off that adds up along a path, and with it the wrenches F that
// joints transmit.  The efforts that are missing, r = tau - S'F - I_r udot, are what udot needs of M du = r: solved with the
// factors of udot, du changes F until S'F = tau.  Joints that close loops load their bodies by the multipliers of udot, and
// du comes with multipliers that change these; loops have no redundant rows, so that all are unique.
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
    lwi_net *net;
    lwi_articulated *
        articulated; ///< [nnode] of nets with driven joints, which are solved by recursion; else NULL
    double *udot, *r, *du;   ///< [tree_nv] corrected; efforts; what corrects
    double (*A)[6], (*F)[6]; ///< [nnode] those of du
    // of joints that close loops
    lwi_system *system;  ///< NULL: there are none
    double *lambda;      ///< [LWI_CLOSURE_ROWS] of each
    double (*load)[6];   ///< [nbody] wrenches and efforts on their bodies, world axes, mass centres
    double (*before)[6]; ///< [nbody] wrenches on the nodes of these without them
    int nend, *end;      ///< their bodies
} lwi_segment_rows;

/** Are the rows of a path or net in segments?  Those of loops need the general elimination where rows are redundant or
 *  something is driven. */
bool lwi_segment_rows_fit(const lw_model *model, const lwi_system *system, const lwi_path *path,
                          const lwi_net *net);

/** For a tree workspace that only rows use; one of path and net is NULL.
 *  @param system  of the net: motion of the bodies that loops are closed between
 *  @return LW_ERR_MEMORY */
lw_status lwi_segment_rows_create(const lw_model *model, lwi_system *system, lwi_tree_work *tree,
                                  lwi_tree_passes *passes, lwi_path *path, lwi_net *net,
                                  lwi_arena *arena, lwi_segment_rows *rows);
/** Keeps the multipliers of udot, after lwi_net_accelerations. */
void lwi_segment_rows_keep(lwi_segment_rows *rows);
/** Fills the snapshot after lwi_tree_evaluate at (t, q, u), with udot of the segments there; coordinates and speeds of
 *  joints that close loops are those of the system.
 *  @return false if the general elimination must be used */
bool lwi_segment_rows_observe(lwi_segment_rows *rows, const lw_model *model, double t,
                              const double *q, const double *u, const double *udot,
                              lw_observe level, lwi_snapshot *snapshot);

#endif
