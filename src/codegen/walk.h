// walk.h -- what a generated function reads: time, coordinates, speeds, states of signals, inputs.
#ifndef LWI_CODEGEN_WALK_H
#define LWI_CODEGEN_WALK_H

#include "codegen/algebra.h"
#include "codegen/elements.h"

typedef struct lwi_walk {
    lwi_codegen_graph *graph;
    const lwi_elements *elements;
    int t, q, v, x, u;     ///< arrays of the graph; -1: none, of v: the free speeds are zero
    const val *speed;      ///< [tree nv] in place of the array v; NULL: that is read
    const val (*drive)[3]; ///< [elements ndrive] prescribed coordinates and their derivatives
} lwi_walk;

/** What a function reads besides q; t, x and u if the model has a use for them. */
enum {
    LWI_READS_SPEEDS = 1,
    LWI_READS_FORCES = 2, ///< t, x, u for forces
    LWI_READS_ALL = 4     ///< t, v, x, u of any model
};

/** Declares these arrays, in the order t, q, v, x, u.
 *  @return LW_ERR_MEMORY */
lw_status lwi_walk_begin(lwi_codegen_graph *graph, const lwi_elements *elements, unsigned reads,
                         lwi_arena *arena, lwi_walk *walk);
val lwi_walk_time(const lwi_walk *walk);
/** A coordinate of the tree; tree nq + i: prescribed one i. */
val lwi_walk_coordinate(const lwi_walk *walk, int iq);
/** A speed of the tree; tree nv + i: of prescribed coordinate i. */
val lwi_walk_speed(const lwi_walk *walk, int iv);
/** Prescribed coordinate tree nv + i, or a derivative. */
val lwi_walk_drive(const lwi_walk *walk, int iv, int derivative);
/** Which prescribed coordinate of the elements it is; -1: none. */
int lwi_walk_drive_index(const lwi_elements *elements, int joint, int coordinate);
/** Index of a coordinate of a joint of the tree for lwi_walk_coordinate, lwi_walk_speed, free or prescribed. */
int lwi_walk_coordinate_index(const lwi_elements *elements, const lwi_node *node, int coordinate);
int lwi_walk_speed_index(const lwi_elements *elements, const lwi_node *node, int coordinate);

#endif
