// fallback.h -- the scalar fallback of a step of index3 in lanes.
//
// Lanes compute the rows of points and axes (lanes.h).  All others -- slides, driven coordinates, couplings,
// springs and dampers, any edge that is not such a joint -- are written by the scalar code one by one, at the
// motion of the lanes, and copied to their lanes; so are loads, efforts and their stiffnesses.  Matrix
// blocks, right sides and forces of multipliers are then computed in lanes for all.
#ifndef LWI_METHODS_INDEX3_FALLBACK_H
#define LWI_METHODS_INDEX3_FALLBACK_H

#include "methods/index3/lanes.h"

/** Stage of a pass at which the scalar fallback runs. */
typedef enum lwi_index3_stage {
    LWI_INDEX3_STAGE_NONE,
    LWI_INDEX3_STAGE_NEWTON,       ///< rows, loads and stiffnesses of an iteration
    LWI_INDEX3_STAGE_SPEEDS,       ///< rows and their rates of the projections
    LWI_INDEX3_STAGE_ACCELERATIONS ///< gamma at velocities that are on the joints
} lwi_index3_stage;

/** An edge with rows of the fallback, from row `known` on. */
typedef struct lwi_index3_fallback_edge {
    int edge, known;
    int slot[LWI_EDGE_BODIES]; ///< slot of each side; -1: the ground, or none
    bool to_world;             ///< point rows are in axes of F1, lanes need world axes:
    double axes[9];            ///< [3][3] rows are those axes
} lwi_index3_fallback_edge;

typedef struct lwi_index3_fallback {
    int nedge, nnode, nread, njoint;
    lwi_index3_fallback_edge *edge; ///< [nedge]
    int *node;  ///< [nnode] bodies with motion used by the fallback, or with loads
    int *read;  ///< [nread] joints with coordinates used by the fallback
    int *joint; ///< [njoint] joints with stiffnesses: of fallback rows, of efforts
} lwi_index3_fallback;

/** Number of the first rows of an edge: points and axes that lanes compute; constraint rows. */
int lwi_index3_lane_row_count(const lwi_system *system, int edge);
int lwi_index3_constraint_row_count(const lwi_index3 *d, int edge);
/** full [nnode], out: bodies on which a wrench may act that changes with translations. */
void lwi_index3_find_full(const lwi_index3 *d, bool *full);
/** Creates lanes->fallback and ->load, or sets them to NULL: no fallback is needed.
 *  @return LW_ERR_MEMORY */
lw_status lwi_index3_fallback_create(const lwi_index3 *d, lwi_index3_lanes *lanes,
                                     lwi_arena *arena);
/** At the beginning of a step; at a stage of it; and at its end, for x. */
void lwi_index3_fallback_begin(lwi_index3 *d);
void lwi_index3_fallback_stage(lwi_index3 *d, lwi_index3_stage stage);
void lwi_index3_fallback_finish(lwi_index3 *d, double *x);

// ---- hinges (hinge.c)

/** Angle and speed of a joint into the motion; its driven row, the sixth of an edge.  False: not such a joint
 *  or edge. */
bool lwi_index3_read_hinge(lwi_system *system, int joint);
bool lwi_index3_hinge_drive(lwi_system *system, const lwi_index3_fallback_edge *edge, double t);

#endif
