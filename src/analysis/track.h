// track.h -- the motion that the columns of a result or of any table prescribe, in coordinates of the tree.
#ifndef LWI_ANALYSIS_TRACK_H
#define LWI_ANALYSIS_TRACK_H

#include "model/model.h"

#include <linkwork/result.h>

typedef struct lwi_track {
    const lw_model *model;
    long rows;
    double *time;         ///< [rows]
    double **q, **v, **a; ///< [tree nq], [tree nv], [tree nv] columns [rows]; NULL: there is none
} lwi_track;

/** Reads "time" (or the first column) and the columns of all coordinates that are there.  Speeds and accelerations that
 *  have none are derivatives of the columns, by polynomials through seven rows.
 *  @return LW_ERR_ARGUMENT: no coordinate of the model has a column, or times do not increase; LW_ERR_IO */
lw_status lwi_track_create(const lw_model *model, lw_result *result, lwi_arena *arena,
                           lwi_track *track, lw_error *error);
/** Does the table have the coordinate, speed and acceleration of this speed? */
bool lwi_track_has(const lwi_track *track, int speed);
/** Writes what the row has into q, v and vdot; other entries are unchanged. */
void lwi_track_row(const lwi_track *track, long row, double *q, double *v, double *vdot);

#endif
