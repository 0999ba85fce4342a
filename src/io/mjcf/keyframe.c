// keyframe.c -- named initial states of an MJCF file: <keyframe><key name qpos qvel/></keyframe>.
//
// One is used if lw_read_desc.keyframe names it; otherwise the initial poses are those of the bodies in
// the file, as in MuJoCo.  qpos and qvel list the joints in the order of the file:
//
//   hinge, slide   angle [rad, even if the file uses degrees] or displacement; rate
//   ball           quaternion of the body relative to its pose in the file; angular velocity, body axes
//   free           position and quaternion of the body frame in the world; velocity in the world,
//                  angular velocity in body axes
#include "io/mjcf/mjcf.h"

#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

typedef struct sizes {
    int q, v;
} sizes;

static sizes sizes_of(const lwi_mjcf_joint *j)
{
    switch (j->desc.type) {
    case LW_JOINT_REVOLUTE:
    case LW_JOINT_PRISMATIC:
        return (sizes){1, 1};
    case LW_JOINT_SPHERICAL:
        return (sizes){4, 3};
    default:
        return (sizes){7, 6}; // free, also if it is fixed (base fixed)
    }
}

// Rotations of a ball refer to the axes of the body, ours to those of the joint frame F2.
static void to_joint_frame(const lwi_mjcf_joint *j, double *vector)
{
    const lw_quat o = j->desc.frame2.orientation;
    const double q[4] = {o.w, o.x, o.y, o.z}, before[3] = {vector[0], vector[1], vector[2]};
    double A[9];
    quat_matrix(A, q);
    m3_tmul_v(vector, A, before);
}

static lw_status take_quaternion(const lwi_mjcf *u, const lwi_xml_element *key,
                                 const lwi_mjcf_joint *j, double *q)
{
    const double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(n > 0))
        return lwi_mjcf_fail(u, key, LW_ERR_MODEL,
                             "<key qpos>: the quaternion of joint '%.80s' is zero",
                             j->name ? j->name : j->e->name);
    for (int k = 0; k < 4; k++) q[k] /= n;
    return LW_OK;
}

static lw_status set_q(const lwi_mjcf *u, const lwi_xml_element *key, lwi_mjcf_joint *j,
                       const double *q)
{
    if (j->desc.type == LW_JOINT_FIXED) return LW_OK; // by base fixed
    const int n = sizes_of(j).q;
    j->desc.has_q = 1;
    memcpy(j->desc.q, q, (size_t)n * sizeof *q);
    if (n == 1) return LW_OK;
    double *turn = j->desc.q + n - 4;
    if (n == 4) to_joint_frame(j, turn + 1);
    return take_quaternion(u, key, j, turn);
}

// Free joint: the velocity of the file is in world axes, ours in body axes.
static void to_body_axes(const lwi_mjcf *u, const lwi_mjcf_joint *j, double *v)
{
    const double before[3] = {v[0], v[1], v[2]};
    double R[9];
    if (j->desc.has_q)
        quat_matrix(R, j->desc.q + 3);
    else
        memcpy(R, u->body[j->body].W, sizeof R);
    m3_tmul_v(v, R, before);
}

static void set_qd(const lwi_mjcf *u, lwi_mjcf_joint *j, const double *qd)
{
    if (j->desc.type == LW_JOINT_FIXED) return;
    const int n = sizes_of(j).v;
    j->desc.has_qd = 1;
    memcpy(j->desc.qd, qd, (size_t)n * sizeof *qd);
    if (n == 3) to_joint_frame(j, j->desc.qd);
    if (n == 6) to_body_axes(u, j, j->desc.qd);
}

static lw_status take(const lwi_mjcf *u, const lwi_xml_element *key)
{
    const lwi_mjcf_at at = {key, LWI_MJCF_PLAIN, -1};
    sizes all = {0, 0};
    for (int i = 0; i < u->njoint; i++) {
        const sizes s = sizes_of(&u->joint[i]);
        all.q += s.q, all.v += s.v;
    }
    double *q = LWI_PUSH(u->arena, double, all.q + 1), *qd = LWI_PUSH(u->arena, double, all.v + 1);
    int nq, nv;
    if (!q || !qd) return lwi_mjcf_no_memory(u);
    TRY(lwi_mjcf_numbers(u, &at, "qpos", all.q, all.q, q, &nq));
    TRY(lwi_mjcf_numbers(u, &at, "qvel", all.v, all.v, qd, &nv));
    for (int i = 0; i < u->njoint; i++) {
        lwi_mjcf_joint *j = &u->joint[i];
        const sizes s = sizes_of(j);
        if (nq) TRY(set_q(u, key, j, q));
        if (nv) set_qd(u, j, qd);
        q += s.q, qd += s.v;
    }
    return LW_OK;
}

// Keys in the order of the file.
static const lwi_xml_element *next_key(const lwi_mjcf *u, const lwi_xml_element *key)
{
    const lwi_xml_element *list = NULL;
    if (key) {
        const lwi_xml_element *next = lwi_xml_next(key, "key");
        if (next) return next;
        list = lwi_xml_next(key->parent, "keyframe");
    } else {
        list = lwi_xml_child(u->xml.root, "keyframe");
    }
    for (; list; list = lwi_xml_next(list, "keyframe")) {
        const lwi_xml_element *first = lwi_xml_child(list, "key");
        if (first) return first;
    }
    return NULL;
}

static lw_status not_there(const lwi_mjcf *u, int count)
{
    const char **names = LWI_PUSH(u->arena, const char *, count + 1);
    const char *wanted = u->desc->keyframe, *nearest = NULL;
    int n = 0;
    if (!names) return lwi_mjcf_no_memory(u);
    for (const lwi_xml_element *k = next_key(u, NULL); k; k = next_key(u, k)) {
        const char *name = lwi_xml_get(k, "name");
        if (name) names[n++] = name;
    }
    nearest = n ? lwi_nearest(wanted, names, n) : NULL;
    if (!n)
        return lwi_mjcf_fail(u, u->xml.root, LW_ERR_MODEL,
                             "there is no keyframe '%.80s', the file has none", wanted);
    return lwi_mjcf_fail(u, u->xml.root, LW_ERR_MODEL, "there is no keyframe '%.80s', %s '%.80s'%s",
                         wanted, nearest ? "did you mean" : "the first is",
                         nearest ? nearest : names[0], nearest ? "?" : "");
}

lw_status lwi_mjcf_apply_keyframe(lwi_mjcf *u)
{
    int count = 0;
    for (const lwi_xml_element *k = next_key(u, NULL); k; k = next_key(u, k), count++) {
        const char *name = lwi_xml_get(k, "name");
        lwi_mjcf_begin_notes(u, k);
        if (!u->desc->keyframe)
            lwi_notes_add(u->notes, k, name,
                          "keyframes are used as the initial state if requested by name");
        else if (name && strcmp(name, u->desc->keyframe) == 0)
            return take(u, k);
    }
    return u->desc->keyframe ? not_there(u, count) : LW_OK;
}
