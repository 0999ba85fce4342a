// describe.h -- what the builder's functions and the compile steps of forces share.
#ifndef LWI_MODEL_FORCES_DESCRIBE_H
#define LWI_MODEL_FORCES_DESCRIBE_H

#include "model/description.h"
#include "model/forces/item.h"
#include "spatial/rotation.h"

/** Adds the checked description to its list. */
lw_status lwi_force_push(lw_builder *builder, int item, const void *desc, lw_error *error);

// A point given in the world goes into the frame of its body.
static inline void point_in_body(const lw_builder *b, lw_body body, lw_vec3 *point, bool *in_world)
{
    const double r[3] = {point->x, point->y, point->z}, identity[4] = {1, 0, 0, 0};
    if (*in_world) *point = lwi_pose_in_body(&b->desc.body[body.index].pose, r, identity).position;
    *in_world = false;
}

static inline bool none_negative(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!(isfinite(x[i]) && x[i] >= 0)) return false;
    return true;
}

static inline void point_from_com(const lw_model *m, int body, lw_vec3 p, double r[3])
{
    v3_set(r, p.x - m->body[body].com[0], p.y - m->body[body].com[1], p.z - m->body[body].com[2]);
}

static inline void frame_from_com(const lw_model *m, int body, const lw_pose *frame, double R[9],
                                  double r[3])
{
    const double q[4] = {frame->orientation.w, frame->orientation.x, frame->orientation.y,
                         frame->orientation.z};
    quat_matrix(R, q);
    point_from_com(m, body, frame->position, r);
}

#endif
