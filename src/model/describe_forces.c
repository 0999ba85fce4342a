// describe_forces.c -- the builder takes springs, wrenches, bushings and stops.
#include "model/description.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

// A point given in the world goes into the frame of its body.
static void point_in_body(const lw_builder *b, lw_body body, lw_vec3 *point, bool *in_world)
{
    const double r[3] = {point->x, point->y, point->z}, identity[4] = {1, 0, 0, 0};
    if (*in_world) *point = lwi_pose_in_body(&b->desc.body[body.index].pose, r, identity).position;
    *in_world = false;
}

lw_status lw_builder_add_spring(lw_builder *b, const lw_spring_desc *desc, lw_error *error)
{
    lw_spring_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_spring_desc", error));
    d.name = lwi_builder_name(b, desc->name, "spring", b->desc.nspring);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "spring", d.name, d.place, error}, *it = &item;
    TRY(lwi_item_body(it, "body1", d.body1));
    TRY(lwi_item_body(it, "body2", d.body2));
    if (!finite3(d.point1) || !finite3(d.point2) || !isfinite(d.stiffness) ||
        !isfinite(d.damping) || !isfinite(d.length) || d.length < 0)
        return lwi_item_fail(it,
                             "points, stiffness, damping and length must be finite, length >= 0");
    TRY(lwi_item_signal(it, "force", d.force, false));
    point_in_body(b, d.body1, &d.point1, &d.world1);
    point_in_body(b, d.body2, &d.point2, &d.world2);
    LWI_GROW(b, LWI_LIST_SPRINGS, spring, nspring);
    b->desc.spring[b->desc.nspring++] = d;
    return LW_OK;
}

lw_status lw_builder_add_wrench(lw_builder *b, const lw_wrench_desc *desc, lw_error *error)
{
    lw_wrench_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_wrench_desc", error));
    d.name = lwi_builder_name(b, desc->name, "wrench", b->desc.nwrench);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "wrench", d.name, d.place, error}, *it = &item;
    TRY(lwi_item_body(it, "body", d.body));
    if (d.body.index == 0) return lwi_item_fail(it, "acts on the ground, expected a moving body");
    if (!finite3(d.point) || !finite3(d.force) || !finite3(d.torque))
        return lwi_item_fail(it, "point, force or torque is not finite");
    TRY(lwi_item_signal(it, "scale", d.scale, false));
    point_in_body(b, d.body, &d.point, &d.world_point);
    LWI_GROW(b, LWI_LIST_WRENCHES, wrench, nwrench);
    b->desc.wrench[b->desc.nwrench++] = d;
    return LW_OK;
}

static bool none_negative(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!(isfinite(x[i]) && x[i] >= 0)) return false;
    return true;
}

lw_status lw_builder_add_bushing(lw_builder *b, const lw_bushing_desc *desc, lw_error *error)
{
    lw_bushing_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_bushing_desc", error));
    d.name = lwi_builder_name(b, desc->name, "bushing", b->desc.nbushing);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "bushing", d.name, d.place, error}, *it = &item;
    TRY(lwi_item_pair(it, d.body1, d.body2));
    if (!finite3(d.at) || !finite3(d.frame1.position) || !finite3(d.frame2.position) ||
        !none_negative(d.stiffness, 6) || !none_negative(d.damping, 6))
        return lwi_item_fail(
            it, "its places must be finite, stiffness and damping six numbers >= 0 each");
    if (d.has_at) {
        const double r[3] = {d.at.x, d.at.y, d.at.z}, q[4] = {1, 0, 0, 0};
        d.frame1 = lwi_pose_in_body(&b->desc.body[d.body1.index].pose, r, q);
        d.frame2 = lwi_pose_in_body(&b->desc.body[d.body2.index].pose, r, q);
        d.has_at = 0, d.at = (lw_vec3){0, 0, 0};
    }
    TRY(lwi_item_unit(it, "orientation of frame1", &d.frame1.orientation));
    TRY(lwi_item_unit(it, "orientation of frame2", &d.frame2.orientation));
    LWI_GROW(b, LWI_LIST_BUSHINGS, bushing, nbushing);
    b->desc.bushing[b->desc.nbushing++] = d;
    return LW_OK;
}

// The normal of a plane on body 2, in its frame, of unit length.
static lw_status place_normal(const lwi_item *it, lw_stop_desc *d)
{
    const lw_pose *pose = &it->builder->desc.body[d->body2.index].pose;
    const double q[4] = {pose->orientation.w, pose->orientation.x, pose->orientation.y,
                         pose->orientation.z};
    double R[9];
    if (!finite3(d->normal) || (zero3(d->normal) == (d->radius2 == 0)))
        return lwi_item_fail(
            it,
            "expected the `normal` of a plane or the `radius2` of a sphere on body 2, one of both");
    if (d->radius2 > 0) return LW_OK;
    d->normal = lwi_direction(d->normal);
    double n[3] = {d->normal.x, d->normal.y, d->normal.z};
    if (d->world_normal) {
        quat_matrix(R, q);
        m3_tmul_v(n, R, n);
    }
    const double length = v3_norm(n);
    // one that was written is left alone to the last bit
    if (!(fabs(length - 1) <= 2e-16)) v3_scale(n, 1 / length, n);
    d->normal = (lw_vec3){n[0], n[1], n[2]};
    d->world_normal = 0;
    return LW_OK;
}

lw_status lw_builder_add_stop(lw_builder *b, const lw_stop_desc *desc, lw_error *error)
{
    lw_stop_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_stop_desc", error));
    d.name = lwi_builder_name(b, desc->name, "stop", b->desc.nstop);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "stop", d.name, d.place, error}, *it = &item;
    if (d.exponent == 0) d.exponent = 1.5;
    const double numbers[] = {d.radius2, d.dissipation};
    TRY(lwi_item_pair(it, d.body1, d.body2));
    if (!finite3(d.point1) || !finite3(d.point2) || !none_negative(numbers, 2) ||
        !(isfinite(d.radius) && d.radius > 0) || !(isfinite(d.stiffness) && d.stiffness > 0) ||
        !(isfinite(d.exponent) && d.exponent >= 1))
        return lwi_item_fail(
            it,
            "radius %g, radius2 %g, stiffness %g, exponent %g, dissipation %g; expected radius and "
            "stiffness > 0, exponent >= 1, the others >= 0, and finite points",
            d.radius, d.radius2, d.stiffness, d.exponent, d.dissipation);
    TRY(place_normal(it, &d));
    point_in_body(b, d.body1, &d.point1, &d.world1);
    point_in_body(b, d.body2, &d.point2, &d.world2);
    LWI_GROW(b, LWI_LIST_STOPS, stop, nstop);
    b->desc.stop[b->desc.nstop++] = d;
    return LW_OK;
}
