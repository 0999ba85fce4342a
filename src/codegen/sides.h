// sides.h -- two frames on bodies of a tree, relative to their lowest common ancestor, which is at rest here.
#ifndef LWI_CODEGEN_SIDES_H
#define LWI_CODEGEN_SIDES_H

#include "codegen/paths.h"

/** A frame on a body, from its mass centre in its axes (the ground: world). */
typedef struct lwi_attachment {
    int body;
    const double *R, *r; ///< [9], [3]
} lwi_attachment;

/** Axes at rest are those of the first joint frame on the way; of `world` those of the world. */
typedef struct lwi_sides {
    const lwi_walk *walk;
    bool world;
    bool driven;        ///< prescribed motions are on the way
    int base;           ///< node, -1: the ground
    lwi_place frame[2]; ///< of both attachments
    val d[3];           ///< from the first to the second
    lwi_column *column; ///< [tree nv] of the joints on the way
    double *sign;       ///< [tree nv] 1: they move the second, -1: the first, 0: none
    int *node[2], n[2]; ///< nodes from the base to both
} lwi_sides;

/** @return LW_ERR_MEMORY */
lw_status lwi_sides_create(const lwi_walk *walk, lwi_arena *arena, lwi_sides *sides);
/** Places both frames. */
void lwi_sides_place(lwi_sides *sides, lwi_attachment one, lwi_attachment two);
/** Places a point of each body, in axes of the body. */
void lwi_sides_points(lwi_sides *sides, int body1, const double r1[3], int body2,
                      const double r2[3]);
/** Places one point of a body: the second frame, in world axes. */
void lwi_sides_point(lwi_sides *sides, int body, const double r[3]);
/** The frames F1 and F2 of a joint; its mount has moved the first. */
void lwi_sides_joint(lwi_sides *sides, const lwi_joint *joint);
/** J [tree nv]: e.(v2 - v1) of the origins; with `shared` both are points of the place of the second. */
void lwi_sides_force_row(const lwi_sides *sides, const val e[3], bool shared, val *J);
/** J [tree nv]: c.(w2 - w1). */
void lwi_sides_torque_row(const lwi_sides *sides, const val c[3], val *J);
/** e.(v2 - v1) of the origins, which is J v of their force row where nothing on the way is prescribed. */
val lwi_sides_rate(const lwi_sides *sides, const val e[3], const val *J);
/** load [tree nv] += J' f */
void lwi_sides_push(const lwi_sides *sides, const val *J, val f, val *load);

#endif
