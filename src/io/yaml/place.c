// place.c -- subsystems that are included elsewhere: rotated, moved, mirrored.
//
// With S = S' and det S = s, a rotation about v by an angle becomes one about s S v by the same angle: S R(v) S = R(s S v).
// An axial vector is s S x, a polar one S x.
#include "io/yaml/place.h"

#include "base/base.h"
#include "spatial/rotation.h"

#include <string.h>

void lwi_yaml_place_none(lwi_yaml_place *place)
{
    *place = (lwi_yaml_place){
        .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .S = {1, 1, 1}, .det = 1, .quat = {1, 0, 0, 0}};
}

static lw_quat unit_of(lw_quat q)
{
    const double a[4] = {q.w, q.x, q.y, q.z};
    double n[4];
    if (quat_norm2(a) == 0) return (lw_quat){1, 0, 0, 0};
    quat_normalize(n, a);
    return (lw_quat){n[0], n[1], n[2], n[3]};
}

static lw_quat product(const double *a, lw_quat b)
{
    const double c[4] = {b.w, b.x, b.y, b.z};
    double q[4];
    quat_mul(q, a, c);
    quat_normalize(q, q);
    return (lw_quat){q[0], q[1], q[2], q[3]};
}

// R = R_outer S_outer R_own S_outer,  S = S_outer S_own,  r = r_outer + R_outer S_outer r_own
void lwi_yaml_place_in(const lwi_yaml_place *outer, const lw_pose *pose, int mirror,
                       lwi_yaml_place *place)
{
    lwi_yaml_place_none(place);
    const lw_quat own = lwi_yaml_mirror_attitude(outer, unit_of(pose->orientation));
    const lw_quat q = product(outer->quat, own);
    const lw_vec3 r = lwi_yaml_place_position(outer, pose->position);
    place->quat[0] = q.w, place->quat[1] = q.x, place->quat[2] = q.y, place->quat[3] = q.z;
    quat_matrix(place->R, place->quat);
    v3_set(place->r, r.x, r.y, r.z);
    for (int i = 0; i < 3; i++) place->S[i] = outer->S[i] * (mirror == i + 1 ? -1 : 1);
    place->det = place->S[0] * place->S[1] * place->S[2];
    place->moved = outer->moved || mirror || q.w != 1 || r.x != 0 || r.y != 0 || r.z != 0;
}

lw_vec3 lwi_yaml_mirror_vector(const lwi_yaml_place *p, lw_vec3 x, bool axial)
{
    const double s = axial ? p->det : 1;
    return (lw_vec3){s * p->S[0] * x.x + 0.0, s * p->S[1] * x.y + 0.0, // 0.0: no zero is negative
                     s * p->S[2] * x.z + 0.0};
}

lw_vec3 lwi_yaml_place_vector(const lwi_yaml_place *p, lw_vec3 x, bool axial)
{
    const lw_vec3 m = lwi_yaml_mirror_vector(p, x, axial);
    const double a[3] = {m.x, m.y, m.z};
    double y[3];
    m3_mul_v(y, p->R, a);
    return (lw_vec3){y[0] + 0.0, y[1] + 0.0, y[2] + 0.0}; // 0 in place of -0
}

lw_vec3 lwi_yaml_place_position(const lwi_yaml_place *p, lw_vec3 x)
{
    const lw_vec3 y = lwi_yaml_place_vector(p, x, false);
    return (lw_vec3){p->r[0] + y.x, p->r[1] + y.y, p->r[2] + y.z};
}

lw_quat lwi_yaml_mirror_attitude(const lwi_yaml_place *p, lw_quat q)
{
    const lw_vec3 v = lwi_yaml_mirror_vector(p, (lw_vec3){q.x, q.y, q.z}, true);
    return (lw_quat){q.w, v.x, v.y, v.z};
}

lw_pose lwi_yaml_place_pose(const lwi_yaml_place *p, lw_pose pose)
{
    return (lw_pose){lwi_yaml_place_position(p, pose.position),
                     product(p->quat, lwi_yaml_mirror_attitude(p, unit_of(pose.orientation)))};
}

lw_pose lwi_yaml_place_back(const lwi_yaml_place *p, lw_pose pose)
{
    const double d[3] = {pose.position.x - p->r[0], pose.position.y - p->r[1],
                         pose.position.z - p->r[2]};
    double y[3], conjugate[4];
    m3_tmul_v(y, p->R, d);
    quat_conjugate(conjugate, p->quat);
    return (lw_pose){lwi_yaml_mirror_vector(p, (lw_vec3){y[0], y[1], y[2]}, false),
                     lwi_yaml_mirror_attitude(p, product(conjugate, pose.orientation))};
}

// The elements of S J S.
static void mirror_inertia(const lwi_yaml_place *p, double *J)
{
    J[3] *= p->S[0] * p->S[1];
    J[4] *= p->S[0] * p->S[2];
    J[5] *= p->S[1] * p->S[2];
}

void lwi_yaml_place_body(const lwi_yaml_place *p, lw_body_desc *d)
{
    if (!p->moved) return;
    if (d->in.index) { // relative to another body of the subsystem
        d->pose.position = lwi_yaml_mirror_vector(p, d->pose.position, false);
        d->pose.orientation = lwi_yaml_mirror_attitude(p, d->pose.orientation);
    } else {
        d->pose = lwi_yaml_place_pose(p, d->pose);
    }
    d->com = lwi_yaml_mirror_vector(p, d->com, false);
    d->inertia_axes = lwi_yaml_mirror_attitude(p, d->inertia_axes);
    mirror_inertia(p, d->inertia);
    d->velocity = lwi_yaml_place_vector(p, d->velocity, false);
    d->angular_velocity = lwi_yaml_mirror_vector(p, d->angular_velocity, true);
}

// ------------------------------------------------------------------------------------------ joints

// What the coordinates of a type are: displacements along, angles about the joint's axes x, y, z.
typedef struct motions {
    char q[LW_JOINT_MAX_NQ + 1],
        qd[LW_JOINT_MAX_NV + 1]; // x y z: along; X Y Z: about; w: of a quaternion
    signed char T[3];            // of a mirrored joint
} motions;

static const motions of_type[LW_JOINT_COUNT] = {
    [LW_JOINT_FIXED] = {"", "", {-1, -1, -1}},
    [LW_JOINT_REVOLUTE] = {"Z", "Z", {-1, -1, -1}},
    [LW_JOINT_PRISMATIC] = {"z", "z", {1, -1, 1}},
    [LW_JOINT_SCREW] = {"Z", "Z", {-1, -1, -1}},
    [LW_JOINT_CYLINDRICAL] = {"zZ", "zZ", {1, -1, 1}}, // the angle changes its sign
    [LW_JOINT_UNIVERSAL] = {"ZX", "ZX", {-1, -1, -1}},
    [LW_JOINT_SPHERICAL] = {"wXYZ", "XYZ", {-1, -1, -1}},
    [LW_JOINT_PLANAR] = {"xyZ", "xyZ", {1, 1, -1}},
    [LW_JOINT_FREE] = {"xyzwXYZ", "xyzXYZ", {0, 0, 0}}, // as the world's axes: those of S
    [LW_JOINT_DISTANCE] = {"", "", {0, 0, 0}},
    [LW_JOINT_PIN_SLOT] = {"xZ", "xZ", {1, 1, -1}},
};

static double sign_of(char motion, const double T[3], double det)
{
    if (motion >= 'x') return T[motion - 'x'];
    if (motion >= 'X' && motion <= 'Z') return det * T[motion - 'X'];
    return 1;
}

void lwi_yaml_joint_signs_of(const lwi_yaml_place *p, lw_joint_type type,
                             lwi_yaml_joint_signs *signs)
{
    const motions *m = &of_type[type];
    const bool as_world = m->T[0] == 0;
    for (int i = 0; i < 3; i++) signs->T[i] = p->det > 0 ? 1 : as_world ? p->S[i] : m->T[i];
    for (int k = 0; k < LW_JOINT_MAX_NQ; k++) signs->q[k] = 1;
    for (int k = 0; k < LW_JOINT_MAX_NV; k++) signs->qd[k] = 1;
    for (int k = 0; m->q[k]; k++) signs->q[k] = sign_of(m->q[k], signs->T, p->det);
    for (int k = 0; m->qd[k]; k++) signs->qd[k] = sign_of(m->qd[k], signs->T, p->det);
}

// S T is a rotation by 180 degrees about an axis, or none.
lw_pose lwi_yaml_mirror_frame(const lwi_yaml_place *p, const double T[3], lw_pose frame)
{
    static const lw_quat half[3] = {{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    const lw_quat q = lwi_yaml_mirror_attitude(p, unit_of(frame.orientation));
    const double a[4] = {q.w, q.x, q.y, q.z};
    const double d[3] = {p->S[0] * T[0], p->S[1] * T[1], p->S[2] * T[2]};
    lw_quat rotated = q;
    for (int i = 0; i < 3; i++)
        if (d[i] > 0 && d[(i + 1) % 3] < 0) rotated = product(a, half[i]);
    return (lw_pose){lwi_yaml_mirror_vector(p, frame.position, false), rotated};
}
