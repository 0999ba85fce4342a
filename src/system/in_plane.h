// in_plane.h -- ranks and the smallest pivot of a mechanism that moves in a plane, from the rows within it.
#ifndef LWI_SYSTEM_IN_PLANE_H
#define LWI_SYSTEM_IN_PLANE_H

#include "system/system.h"

typedef struct lwi_in_plane {
    lwi_elim *elim;  ///< of the rows within the plane; NULL: the mechanism does not move in one
    lwi_plan plan;   ///< that of the system for these rows
    unsigned *rows;  ///< [nedge] rows of the joint within the plane, a bit each
    bool *forces;    ///< [nedge] these put nothing but forces on the bodies
    int *rank;       ///< [plan.nnode] ranks of all rows if those within are independent
    bool *pivots;    ///< [plan.nnode] where that is less than the number of rows
    int joint, axis; ///< F1 of this joint has this axis normal to the plane
    struct lwi_in_plane_compound
        *compound; ///< [bodies of the system + 1] scratch: the last one is the ground
    struct lwi_in_plane_row *row; ///< scratch: rows across of a node
    double *S;                    ///< scratch: their Schur complement
    double across;   ///< the smallest pivot across the plane when it was found last; 0: not yet
    int across_edge; ///< its edge
    double pivot;    ///< of the last call of lwi_in_plane_pivot
    int edge;
} lwi_in_plane;

/** For a system in the metric of lwi_system_geometric, at the start.
 *  @return LW_ERR_MEMORY */
lw_status lwi_in_plane_create(const lwi_system *system, lwi_arena *arena, lwi_in_plane *plane);
/** Sets the generic ranks of the system: those that follow from the plane if the rows within are clearly independent at the
 *  start, else those of lwi_system_find_ranks.  If these are others, the plane is not used any more.
 *  @param shared, arena  of lwi_system_find_ranks     @return LW_ERR_MEMORY */
lw_status lwi_in_plane_find_ranks(lwi_in_plane *plane, lwi_system *system, lwi_shared *shared,
                                  lwi_arena *arena);
/** The smallest kept pivot at the motion of the system, and its edge; false: there is no plane, or positions are not
 *  finite.  The system's own elimination is not used. */
bool lwi_in_plane_pivot(lwi_in_plane *plane, const lwi_system *system, double t, double *pivot,
                        int *edge);

#endif
