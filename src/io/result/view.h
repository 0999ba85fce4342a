// view.h -- the reaction of a joint on either body, along other axes, about another point.
#ifndef LWI_IO_RESULT_VIEW_H
#define LWI_IO_RESULT_VIEW_H

#include "model/model.h"

#include <linkwork/simulate.h>

/** Where a reaction is wanted. */
typedef enum lwi_view_kind {
    LWI_VIEW_F1,    ///< on body2, about P2, axes of F1 as body1 carries it
    LWI_VIEW_F2,    ///< on body2, about P2, axes of F2
    LWI_VIEW_BODY1, ///< on body1, about P1, axes of body1
    LWI_VIEW_BODY2, ///< on body2, about P2, axes of body2
    LWI_VIEW_MARKER ///< about the marker, its axes; on body1 if that carries the marker, else on body2
} lwi_view_kind;

typedef struct lwi_result_view {
    lwi_view_kind kind;
    int joint, marker;
    unsigned parts;   ///< bits of the components that are wanted: fx ... tz
    const char *name; ///< behind the @ of a column
} lwi_result_view;

/** The place of that name: F1, F2, body1, body2 or a marker.  @return false: there is none */
bool lwi_result_view_find(const lw_model *model, const char *name, lwi_result_view *view);
/** @param out  [6] force, torque */
void lwi_result_view_compute(const lw_model *model, const lw_observation *observation,
                             const lwi_result_view *view, double out[6]);

#endif
