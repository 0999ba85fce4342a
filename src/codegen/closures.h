// closures.h -- closed loops of generated code: which there are, and their rows as values.
//
// A joint that closes a loop has one row for each direction it constrains, a coupling has one.  With the speeds v of
// the tree
//     phi = 0,   J v + b = 0,   J vdot + gamma = 0
//
// where b is the rate of prescribed motions; in axes in which the first joint of a loop is along z, relative to the body that the loop is based on.
#ifndef LWI_CODEGEN_CLOSURES_H
#define LWI_CODEGEN_CLOSURES_H

#include "codegen/paths.h"

/** Rows as values in a graph. */
typedef struct lwi_closures {
    val *J;     ///< [m][tree nv]
    val *phi;   ///< [m] m, rad
    val *gamma; ///< [m]
    val *rate; ///< [m] J v of the speeds of the walk, prescribed ones included; of none: the latter
} lwi_closures;

/** Refuses joints and couplings without rows here, and counts the rows.
 *  @return LW_ERR_UNSUPPORTED naming the joint, LW_ERR_MEMORY */
lw_status lwi_closings_create(lwi_elements *elements, lwi_arena *arena, lw_error *error);
/** The joint of the model that closes loop k, or the one that is coupled. */
int lwi_closing_joint(const lwi_elements *elements, int k);
/** The rows; gamma needs speeds (walk->v).  @return LW_ERR_MEMORY */
lw_status lwi_closures_create(const lwi_walk *walk, lwi_arena *arena, lwi_closures *closures);
/** Unit of a row: a length, or an angle. */
bool lwi_closing_row_is_length(const lwi_elements *elements, int row);

#endif
