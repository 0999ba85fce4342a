// describe_joints.c -- the builder takes joints and couplings of their coordinates.
#include "model/description.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

bool lwi_frame_of_axes(lw_vec3 axis, lw_vec3 axis2, double q[4])
{
    double z[3] = {axis.x, axis.y, axis.z}, R[9];
    if (zero3(axis)) z[2] = 1;
    v3_scale(z, 1 / v3_norm(z), z);
    if (zero3(axis2)) {
        // q = (1 + e3.z, e3 x z), normalised; z = -e3: 180 degrees about x
        double turn[4] = {1 + z[2], -z[1], z[0], 0};
        if (turn[0] < 1e-12) turn[0] = 0, turn[1] = 1, turn[2] = 0;
        const double s = 1 / sqrt(quat_norm2(turn));
        for (int i = 0; i < 4; i++) q[i] = s * turn[i];
        return true;
    }
    double x[3] = {axis2.x, axis2.y, axis2.z}, y[3];
    v3_scale(x, 1 / v3_norm(x), x);
    v3_axpy(x, -v3_dot(x, z), z);
    if (v3_norm(x) < 1e-6) return false; // parallel: no frame
    v3_scale(x, 1 / v3_norm(x), x);
    v3_cross(y, z, x);
    for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
    quat_from_matrix(q, R);
    return true;
}

static lw_status place_by_axes(const lwi_item *it, lw_joint_desc *d)
{
    double q[4];
    if (!finite3(d->at) || !finite3(d->axis) || !finite3(d->axis2))
        return lwi_item_fail(it, "at, axis or axis2 is not finite");
    const lwi_joint_type *type = lwi_joint_type_of(d->type);
    if (type->axis2 && zero3(d->axis2))
        return lwi_item_fail(it, "a %s joint needs axis2, %s", type->name, type->axis2);
    if (!zero3(d->axis)) d->axis = lwi_direction(d->axis);
    if (!zero3(d->axis2)) d->axis2 = lwi_direction(d->axis2);
    if (!lwi_frame_of_axes(d->axis, d->axis2, q))
        return lwi_item_fail(it, "axis2 is parallel to axis, expected a direction across it");
    if (type->axis2) {
        const lw_vec3 a = d->axis, c = d->axis2;
        const double dot = a.x * c.x + a.y * c.y + a.z * c.z;
        const double size =
            sqrt((a.x * a.x + a.y * a.y + a.z * a.z) * (c.x * c.x + c.y * c.y + c.z * c.z));
        if (!zero3(a) && fabs(dot) > 1e-6 * size)
            return lwi_item_fail(it, "axis and axis2 of a %s joint meet at %.9g deg, expected 90",
                                 type->name, acos(dot / size) * 57.295779513082321);
    }
    const double at[3] = {d->at.x, d->at.y, d->at.z};
    d->frame1 = lwi_pose_in_body(&it->builder->desc.body[d->body1.index].pose, at, q);
    d->frame2 = lwi_pose_in_body(&it->builder->desc.body[d->body2.index].pose, at, q);
    return LW_OK;
}

static lw_status place_by_frames(const lwi_item *it, lw_joint_desc *d)
{
    if (!finite3(d->frame1.position) || !finite3(d->frame2.position))
        return lwi_item_fail(it, "position of frame1 or frame2 is not finite");
    TRY(lwi_item_unit(it, "orientation of frame1", &d->frame1.orientation));
    return lwi_item_unit(it, "orientation of frame2", &d->frame2.orientation);
}

// Number of coordinates or speeds of a joint as described.
static int count_of(const lw_joint_desc *d, bool speeds)
{
    if (d->type == LW_JOINT_CUSTOM) return speeds ? d->custom->nv : d->custom->nq;
    const lwi_joint_type *type = lwi_joint_type_of(d->type);
    return speeds ? type->nv : type->nq;
}

static const char *type_text(lw_joint_type type)
{
    return lwi_joint_type_of(type)->name;
}

static lw_status check_limits(const lwi_item *it, const lw_joint_desc *d, int k, bool scalar)
{
    const lw_limits_desc *l = &d->coordinate[k].limits;
    if (!l->has_lower && !l->has_upper && l->stiffness == 0 && l->damping == 0) return LW_OK;
    if (!scalar)
        return lwi_item_fail(it, "a %s joint has no scalar coordinate q%d to limit",
                             type_text(d->type), k);
    if (!l->has_lower && !l->has_upper)
        return lwi_item_fail(it, "limits of q%d have neither `lower` nor `upper`", k);
    if (!isfinite(l->lower) || !isfinite(l->upper) || !isfinite(l->stiffness) ||
        !isfinite(l->damping) || !(l->stiffness >= 0) || l->damping < 0 ||
        (l->damping > 0 && l->stiffness == 0))
        return lwi_item_fail(it,
                             "limits of q%d are %g to %g with stiffness %g and damping %g; "
                             "expected finite numbers >= 0, and damping of stops with stiffness",
                             k, l->lower, l->upper, l->stiffness, l->damping);
    if (l->has_lower && l->has_upper && l->lower > l->upper)
        return lwi_item_fail(it, "lower limit %g of q%d lies above the upper one, %g", l->lower, k,
                             l->upper);
    if (d->coordinate[k].motion.index && l->stiffness > 0)
        return lwi_item_fail(
            it, "q%d follows a function, limits do not hold it; expected one of both", k);
    return LW_OK;
}

static lw_status check_friction(const lwi_item *it, const lw_friction_desc *f, int k)
{
    const bool good = isfinite(f->coulomb) && isfinite(f->viscous) && isfinite(f->speed) &&
                      f->coulomb >= 0 && f->viscous >= 0 && f->speed >= 0;
    if (good && (f->coulomb == 0 || f->speed > 0)) return LW_OK;
    return lwi_item_fail(it,
                         "friction of q%d has coulomb %g, viscous %g, speed %g; expected numbers "
                         ">= 0, and a speed > 0 at which `coulomb` acts",
                         k, f->coulomb, f->viscous, f->speed);
}

static lw_status check_rotor(const lwi_item *it, const lw_joint_desc *d, int k, bool scalar)
{
    const double rotor = d->coordinate[k].rotor;
    if (rotor == 0) return LW_OK;
    if (!scalar)
        return lwi_item_fail(
            it, "a %s joint has no scalar coordinate q%d that a rotor could rotate with",
            type_text(d->type), k);
    if (isfinite(rotor) && rotor > 0) return LW_OK;
    return lwi_item_fail(it, "rotor of q%d has the inertia %g, expected a number >= 0", k, rotor);
}

static lw_status check_coordinate(const lwi_item *it, const lw_joint_desc *d, int k, bool scalar)
{
    const lw_coordinate_desc *c = &d->coordinate[k];
    const bool used = c->motion.index || c->stiffness != 0 || c->damping != 0 || c->at != 0 ||
                      c->force.index || c->effort.index || c->limits.has_lower ||
                      c->limits.has_upper || c->limits.stiffness != 0 || c->limits.damping != 0 ||
                      c->friction.coulomb != 0 || c->friction.viscous != 0 ||
                      c->friction.speed != 0 || c->rotor != 0;
    if (!used) return LW_OK;
    if (k >= count_of(d, true))
        return lwi_item_fail(it, "coordinate q%d does not exist, a %s joint has %d", k,
                             type_text(d->type), count_of(d, true));
    TRY(check_limits(it, d, k, scalar));
    TRY(check_friction(it, &c->friction, k));
    TRY(check_rotor(it, d, k, scalar));
    if (!scalar && (c->motion.index || c->stiffness != 0 || c->at != 0))
        return lwi_item_fail(it,
                             "a %s joint has no scalar coordinate q%d to drive or spring; use a "
                             "mount to move it, `all` to damp it",
                             type_text(d->type), k);
    if (!isfinite(c->stiffness) || !isfinite(c->damping) || !isfinite(c->at))
        return lwi_item_fail(it, "spring on q%d is not finite", k);
    TRY(lwi_item_signal(it, "motion", c->motion, true));
    TRY(lwi_item_signal(it, "force", c->force, false));
    return lwi_item_signal(it, "effort", c->effort, false);
}

static lw_status check_custom(const lwi_item *it, const lw_custom_joint *c)
{
    if (!c || c->nq < 1 || c->nq > LW_JOINT_MAX_NQ || c->nv < 1 || c->nv > LW_JOINT_MAX_NV ||
        c->nq < c->nv || !c->pose || !c->subspace || !c->subspace_rate || !c->read ||
        (c->nq != c->nv && !c->kinematics))
        return lwi_item_fail(it, "a custom joint needs pose, subspace, subspace_rate, read, 1 <= "
                                 "nv <= 6, nv <= nq <= 8, and kinematics where nq != nv");
    return LW_OK;
}

static lw_status copy_custom(const lwi_item *it, lw_joint_desc *d)
{
    lw_builder *b = it->builder;
    TRY(check_custom(it, d->custom));
    lw_custom_joint *copy = LWI_PUSH(&b->arena, lw_custom_joint, 1);
    if (!copy) return lwi_builder_no_memory(it->error);
    *copy = *d->custom;
    copy->name = lwi_builder_name(b, d->custom->name, "custom", 0);
    if (!copy->name) return lwi_builder_no_memory(it->error);
    d->custom = copy;
    return LW_OK;
}

static lw_status place(const lwi_item *it, lw_joint_desc *d)
{
    TRY(lwi_item_body(it, "body1", d->body1));
    TRY(lwi_item_body(it, "body2", d->body2));
    if (d->body1.index == d->body2.index)
        return lwi_item_fail(it, "joins body '%s' with itself, expected two bodies",
                             it->builder->desc.body[d->body1.index].name);
    TRY(d->placement == LW_PLACED_AT ? place_by_axes(it, d) : place_by_frames(it, d));
    d->placement = LW_PLACED_FRAMES;
    d->at = d->axis = d->axis2 = (lw_vec3){0, 0, 0};
    return LW_OK;
}

static lw_status check_numbers(const lwi_item *it, const lw_joint_desc *d, bool scalar)
{
    if (!isfinite(d->pitch) || !isfinite(d->length) || d->length < 0)
        return lwi_item_fail(it, "pitch is %g, length %g; expected finite, length >= 0", d->pitch,
                             d->length);
    if (!isfinite(d->damping) || d->damping < 0)
        return lwi_item_fail(it, "damping is %g, expected >= 0", d->damping);
    if (d->damping != 0 && scalar)
        return lwi_item_fail(it,
                             "damping of `all` is for spherical and free joints; damp the "
                             "coordinates of a %s joint one by one",
                             type_text(d->type));
    return LW_OK;
}

static lw_status check_start(const lwi_item *it, lw_joint_desc *d)
{
    if (!finite_n(d->q, LW_JOINT_MAX_NQ) || !finite_n(d->qd, LW_JOINT_MAX_NV))
        return lwi_item_fail(it, "q or qd is not finite");
    if ((d->has_q && count_of(d, false) == 0) || (d->has_qd && count_of(d, true) == 0))
        return lwi_item_fail(it, "q or qd given, a %s joint has no coordinates",
                             type_text(d->type));
    const int quaternion = lwi_joint_type_of(d->type)->quaternion;
    if (!d->has_q || quaternion < 0) return LW_OK;
    double *quat = d->q + quaternion;
    lw_quat given = {quat[0], quat[1], quat[2], quat[3]};
    TRY(lwi_item_unit(it, "q", &given));
    quat[0] = given.w, quat[1] = given.x, quat[2] = given.y, quat[3] = given.z;
    return LW_OK;
}

static lw_status check_functions(const lwi_item *it, const lw_joint_desc *d)
{
    for (int k = 0; k < 3; k++) TRY(lwi_item_signal(it, "mount shift", d->mount_shift[k], true));
    TRY(lwi_item_signal(it, "mount turn", d->mount_turn, true));
    TRY(lwi_item_signal(it, "length", d->length_of, true));
    return finite3(d->mount_about) ? LW_OK : lwi_item_fail(it, "mount about is not finite");
}

lw_status lw_builder_add_joint(lw_builder *b, const lw_joint_desc *desc, lw_joint *joint,
                               lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_joint_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_joint_desc", error));
    d.name = lwi_builder_name(b, desc->name, "joint", b->desc.njoint);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "joint", d.name, d.place, error}, *it = &item;
    if ((int)d.type < 0 || d.type >= LW_JOINT_COUNT)
        return lwi_item_fail(it, "unknown type %d", (int)d.type);
    if (d.type == LW_JOINT_CUSTOM) TRY(copy_custom(it, &d));
    const bool scalar = count_of(&d, false) == count_of(&d, true) &&
                        (d.type != LW_JOINT_CUSTOM || !d.custom->kinematics);
    TRY(place(it, &d));
    TRY(check_numbers(it, &d, scalar));
    TRY(check_start(it, &d));
    for (int k = 0; k < LW_JOINT_MAX_NV; k++) TRY(check_coordinate(it, &d, k, scalar));
    TRY(check_functions(it, &d));
    LWI_GROW(b, LWI_LIST_JOINTS, joint, njoint);
    b->desc.joint[b->desc.njoint] = d;
    if (joint) joint->index = b->desc.njoint;
    b->desc.njoint++;
    return LW_OK;
}

// --------------------------------------------------------------------------------------- couplings

// Coordinates of a joint that have a speed each.
static int scalar_count(const lw_joint_desc *j)
{
    return count_of(j, true) == count_of(j, false) ? count_of(j, true) : 0;
}

lw_status lwi_item_coordinate(const lwi_item *item, lw_joint joint, int k)
{
    const lwi_description *desc = &item->builder->desc;
    if (joint.index < 0 || joint.index >= desc->njoint)
        return lwi_item_fail(item, "joint %d does not exist, there are %d", joint.index,
                             desc->njoint);
    const lw_joint_desc *j = &desc->joint[joint.index];
    const int n = scalar_count(j);
    if (k >= 0 && k < n) return LW_OK;
    return lwi_item_fail(item, "joint '%.200s' has no scalar coordinate q%d, a %s joint has %d",
                         j->name, k, type_text(j->type), n);
}

// A scalar coordinate of a joint that is there.
static lw_status check_coupled(lw_builder *b, const lw_coupling_desc *d, lw_joint joint, int k,
                               lw_error *error)
{
    if (joint.index < 0 || joint.index >= b->desc.njoint)
        return lwi_model_fail(&b->desc, d->place, error,
                              "coupling: joint %d does not exist, there are %d", joint.index,
                              b->desc.njoint);
    const lw_joint_desc *j = &b->desc.joint[joint.index];
    const lwi_item item = {b, "coupling of joint", j->name, d->place, error};
    const int n = scalar_count(j);
    if (k >= 0 && k < n) return LW_OK;
    return lwi_item_fail(&item, "no scalar coordinate q%d, a %s joint has %d", k,
                         type_text(j->type), n);
}

lw_status lw_builder_add_coupling(lw_builder *b, const lw_coupling_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_coupling_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_coupling_desc", error));
    TRY(check_coupled(b, &d, d.joint, d.coordinate, error));
    TRY(check_coupled(b, &d, d.of, d.with, error));
    const lwi_item item = {b, "coupling of joint", b->desc.joint[d.joint.index].name, d.place,
                           error};
    if (d.joint.index == d.of.index && d.coordinate == d.with)
        return lwi_item_fail(&item, "couples q%d with itself", d.coordinate);
    if (d.npolynomial < 1 || !d.polynomial || !finite_n(d.polynomial, d.npolynomial))
        return lwi_item_fail(&item, "polynomial needs one or more finite numbers");
    double *c = LWI_PUSH(&b->arena, double, d.npolynomial);
    if (!c) return lwi_builder_no_memory(error);
    memcpy(c, d.polynomial, (size_t)d.npolynomial * sizeof *c);
    d.polynomial = c;
    LWI_GROW(b, LWI_LIST_COUPLINGS, coupling, ncoupling);
    b->desc.coupling[b->desc.ncoupling++] = d;
    return LW_OK;
}
