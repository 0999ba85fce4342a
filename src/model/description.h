// description.h -- the builder's insides: room for items, and checks of one item by itself.
#ifndef LWI_MODEL_DESCRIPTION_H
#define LWI_MODEL_DESCRIPTION_H

#include "model/model.h"

#include <math.h>

/** Lists of a builder: its room, in the order of lwi_description. */
enum {
    LWI_LIST_FUNCTIONS,
    LWI_LIST_INPUTS,
    LWI_LIST_BODIES,
    LWI_LIST_JOINTS,
    LWI_LIST_COUPLINGS,
    LWI_LIST_MARKERS,
    LWI_LIST_MEASURES,
    LWI_LIST_IMPULSES,
    LWI_LIST_EVENTS,
    LWI_LIST_WARNINGS,
    LWI_LIST_MESHES,
    LWI_LIST_FORCES, ///< and following: LWI_FORCE_ITEMS
    LWI_LIST_COUNT = LWI_LIST_FORCES + LWI_FORCE_ITEMS
};

/** Items of a list with room for one more; NULL: no memory.  The old list is gone. */
void *lwi_builder_grow(lw_builder *builder, int list, void *items, int count, size_t size);
#define LWI_GROW(b, list, field, count)                                                            \
    do {                                                                                           \
        void *larger_ = lwi_builder_grow((b), (list), (b)->desc.field, (b)->desc.count,            \
                                         sizeof *(b)->desc.field);                                 \
        if (!larger_) return lwi_builder_no_memory(error);                                         \
        (b)->desc.field = larger_;                                                                 \
    } while (0)
lw_status lwi_builder_no_memory(lw_error *error);
/** The given name, or "<kind><index>", copied; NULL: no memory. */
const char *lwi_builder_name(lw_builder *builder, const char *name, const char *kind, int index);

/** The item that a check is about. */
typedef struct lwi_item {
    lw_builder *builder;
    const char *kind, *name; ///< "joint", "elbow"
    lw_place place;
    lw_error *error;
} lwi_item;

/** "joint 'elbow': ..." with the item's place; LW_ERR_MODEL. */
lw_status lwi_item_fail(const lwi_item *item, const char *format, ...) LW_PRINTF(2, 3);
/** Makes a quaternion of unit length; all zero stands for the identity. */
lw_status lwi_item_unit(const lwi_item *item, const char *what, lw_quat *q);
/** Fails unless the signal exists; with `function_only`, unless its time derivatives are known. */
lw_status lwi_item_signal(const lwi_item *item, const char *what, lw_signal signal,
                          bool function_only);
lw_status lwi_item_body(const lwi_item *item, const char *what, lw_body body);
/** A scalar coordinate of a joint that is there. */
lw_status lwi_item_coordinate(const lwi_item *item, lw_joint joint, int k);
/** Two bodies, there and different. */
lw_status lwi_item_pair(const lwi_item *item, lw_body body1, lw_body body2);

/** Replaces strings and lists of a mesh by copies; false: no memory. */
bool lwi_mesh_desc_copy(lwi_arena *arena, lw_mesh_desc *desc);

/** Frame with z along `axis` and x along the part of `axis2` normal to it; without axis2 the world's axes, rotated by
 *  the smallest rotation that takes z to `axis`.  @return false: they are parallel */
bool lwi_frame_of_axes(lw_vec3 axis, lw_vec3 axis2, double q[4]);
/** World pose of a frame given in the frame of a body that is placed. */
lw_pose lwi_pose_in_world(const lw_pose *body, lw_pose frame);
/** World frame (r, q) in the frame of a body that is placed. */
lw_pose lwi_pose_in_body(const lw_pose *body, const double r[3], const double q[4]);

static inline bool finite_n(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}
static inline bool finite3(lw_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}
static inline bool zero3(lw_vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

/** The same direction, scaled so that the square of its length is finite and not zero. */
lw_vec3 lwi_direction(lw_vec3 v);

#endif
