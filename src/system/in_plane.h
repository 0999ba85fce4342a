// in_plane.h -- the smallest pivot of a mechanism that moves in a plane, from the rows within it.
#ifndef LWI_SYSTEM_IN_PLANE_H
#define LWI_SYSTEM_IN_PLANE_H

#include "system/system.h"

typedef struct lwi_in_plane {
    lwi_elim *elim;      ///< of the rows within the plane; NULL: the mechanism does not move in one
    lwi_plan plan;       ///< that of the system for these rows
    unsigned *rows;      ///< [nedge] rows of the joint within the plane, a bit each
    bool *forces;        ///< [nedge] these put nothing but forces on the bodies
    bool *across;        ///< [plan.nrow of the system] rows across the plane
    double across_pivot; ///< smallest of these in the last pass of all rows
    double last;         ///< smallest pivot of the last pass
} lwi_in_plane;

/** For a system in the metric of lwi_system_geometric, at the generic ranks.
 *  @return LW_ERR_MEMORY */
lw_status lwi_in_plane_create(const lwi_system *system, lwi_arena *arena, lwi_in_plane *plane);
/** The smallest kept pivot at the motion of the system, and its edge, where it is one within the plane that is small enough;
 *  false: all rows have to be eliminated.  The system's own elimination is not used. */
bool lwi_in_plane_pivot(lwi_in_plane *plane, const lwi_system *system, double t, double *pivot,
                        int *edge);
/** After a matrix pass of the system. */
void lwi_in_plane_note(lwi_in_plane *plane, const lwi_system *system);

#endif
