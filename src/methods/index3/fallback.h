// fallback.h -- what a step of index3 in lanes leaves to the general text.
//
// Lanes find the rows of points and axes (lanes.h).  All others -- slides, driven coordinates,
// couplings, springs and dampers, any edge that is not such a joint -- the general text writes one by one,
// at the motion that the lanes have, and they are copied to their lanes; so are loads, efforts and their
// stiffnesses.  Blocks of the matrix, right sides and what multipliers do are then found in lanes for all.
#ifndef LWI_METHODS_INDEX3_FALLBACK_H
#define LWI_METHODS_INDEX3_FALLBACK_H

#include "methods/index3/lanes.h"

/** When the general text does its part. */
typedef enum lwi_index3_stage {
    LWI_INDEX3_STAGE_NONE,
    LWI_INDEX3_STAGE_NEWTON,       ///< rows, loads and stiffnesses of an iteration
    LWI_INDEX3_STAGE_SPEEDS,       ///< rows and their rates of the projections
    LWI_INDEX3_STAGE_ACCELERATIONS ///< gamma at velocities that are on the joints
} lwi_index3_stage;

/** An edge with rows that are given, from row `known` on. */
typedef struct lwi_index3_fallback_edge {
    int edge, known;
    int slot[LWI_EDGE_BODIES]; ///< of each side; -1: the ground, or none
    bool to_world;             ///< points in axes of F1, which lanes have in world axes:
    double axes[9];            ///< rows are those axes
} lwi_index3_fallback_edge;

typedef struct lwi_index3_fallback {
    int nedge, nnode, nread, njoint;
    lwi_index3_fallback_edge *edge; ///< [nedge]
    int *node;  ///< [nnode] bodies whose motion is asked for, or that loads act on
    int *read;  ///< [nread] joints whose coordinates are asked for
    int *joint; ///< [njoint] joints with stiffnesses: of rows given, of efforts
} lwi_index3_fallback;

/** The first rows of an edge: points and axes that lanes find; those that are constraints. */
int lwi_index3_lane_row_count(const lwi_system *system, int edge);
int lwi_index3_constraint_row_count(const lwi_index3 *d, int edge);
/** [nnode] bodies on which a wrench may be that changes when they are displaced. */
void lwi_index3_find_full(const lwi_index3 *d, bool *full);
/** lanes->odd and ->load, or NULL there: the lanes do all. */
lw_status lwi_index3_fallback_create(const lwi_index3 *d, lwi_index3_lanes *lanes,
                                     lwi_arena *arena);
/** At the beginning of a step, at a stage of it, and what the end has beside the lanes', to x. */
void lwi_index3_fallback_begin(lwi_index3 *d);
void lwi_index3_fallback_stage(lwi_index3 *d, lwi_index3_stage stage);
void lwi_index3_fallback_finish(lwi_index3 *d, double *x);

// ---- hinges (hinge.c)

/** The angle of a revolute joint without a mount, continued, and what a relative turn changes it by. */
double lwi_index3_hinge_angle(const lwi_system *system, const lwi_joint *joint, double near,
                              double n[3]);
/** Angle and speed of a joint into the motion; its driven row, the sixth of an edge.  False: it is none. */
bool lwi_index3_read_hinge(lwi_system *system, int joint);
bool lwi_index3_hinge_drive(lwi_system *system, const lwi_index3_fallback_edge *edge, double t);

#endif
