// joints.c -- joints of an SDF file, each an edge between two links, and the gears and mimics
// between their coordinates.
//
// The joint frame is relative to the child.  F2 is that frame rotated so that z2 is the axis, F1 the
// same frame on the parent at the poses of the file, where every joint closes.
#include "base/assert.h"
#include "io/sdf/sdf.h"

#include "io/frames.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_GEARS = 1000 }; // each searches all joints

// Cosine below which two axes are those of a universal joint: six printed digits.
#define RIGHT_ANGLE 1e-6

// ------------------------------------------------------------------------------------------- types

// The format calls it a joint; it is a relation of two others.
static const lwi_sdf_type gear = {"gearbox", LW_JOINT_FIXED, 2, true};

static lw_status read_type(const lwi_sdf *u, lwi_sdf_item *j)
{
    const char *type, *known[1 + LW_JOINT_COUNT * LWI_MAX_NAMES] = {gear.name};
    TRY(lwi_xml_need(&j->file->xml, j->e, "type", &type, u->error));
    const lwi_joint_type *found = lwi_joint_named(LWI_NAMES_SDF, type, &j->type.name);
    if (found) {
        j->type.type = found->id;
        j->type.naxis = found->scalar ? found->nv : 0;
        return LW_OK;
    }
    if (strcmp(type, gear.name) == 0) {
        j->type = gear;
        return LW_OK;
    }
    const char *near =
        lwi_nearest(type, known, 1 + lwi_joint_known_names(LWI_NAMES_SDF, known + 1));
    return lwi_sdf_fail(u, j, j->e, LW_ERR_PARSE,
                        "joint '%.100s': unknown type '%.60s', expected revolute, continuous, "
                        "prismatic, screw, universal, revolute2, ball, fixed or gearbox%s%s%s",
                        j->name, type, near ? " (did you mean '" : "", near ? near : "",
                        near ? "'?)" : "");
}

static lw_status read_end(const lwi_sdf *u, const lwi_sdf_item *j, const char *what, int *link)
{
    const lwi_xml_element *e = lwi_xml_child(j->e, what);
    if (!e || !*e->text)
        return lwi_sdf_fail(u, j, j->e, LW_ERR_PARSE, "joint '%.200s' has no <%s>", j->name, what);
    const int item = lwi_sdf_find(u, j->model, e->text);
    if (item < 0)
        return lwi_sdf_fail(u, j, e, LW_ERR_MODEL, "joint '%.120s': %s '%.120s' does not exist",
                            j->name, what, e->text);
    return lwi_sdf_link_of(u, item, link);
}

// ------------------------------------------------------------------------------------------- axes

static const lwi_xml_element *axis_element(const lwi_sdf_item *j, int k)
{
    return lwi_xml_child(j->e, k ? "axis2" : "axis");
}

// Axes are in the model frame until version 1.4, and with use_parent_model_frame until 1.6.
static int axis_frame_before_17(const lwi_sdf_item *j, const lwi_xml_element *axis)
{
    if (j->file->version >= 1007) return -1;
    if (j->file->version <= 1004 || lwi_sdf_true(axis, "use_parent_model_frame")) return j->model;
    return -1;
}

// Axis k as a unit vector in the joint frame; by default z.
static lw_status read_axis(const lwi_sdf *u, const lwi_sdf_item *j, int k, double *a)
{
    const lwi_xml_element *axis = axis_element(j, k);
    if (!axis)
        return lwi_sdf_fail(u, j, j->e, LW_ERR_PARSE, "joint '%.200s' has no <%s>", j->name,
                            k ? "axis2" : "axis");
    const lwi_xml_element *xyz = lwi_xml_child(axis, "xyz");
    v3_set(a, 0, 0, 1);
    if (xyz) TRY(lwi_xml_text_numbers(&j->file->xml, xyz, 3, a, u->error));
    const char *in = xyz ? lwi_xml_get(xyz, "expressed_in") : NULL;
    int frame = axis_frame_before_17(j, axis);
    if (in && *in) {
        frame = lwi_sdf_find(u, j->model, in);
        if (frame < 0)
            return lwi_sdf_fail(u, j, xyz, LW_ERR_MODEL,
                                "joint '%.120s': expressed_in '%.120s' does not exist", j->name,
                                in);
    }
    if (!lwi_frame_normalize(a))
        return lwi_sdf_fail(u, j, xyz, LW_ERR_MODEL, "joint '%.200s': axis is the zero vector",
                            j->name);
    if (frame < 0) return LW_OK;
    m3_mul_v(a, u->item[frame].R, a);
    m3_tmul_v(a, j->R, a);
    return LW_OK;
}

// Frame with z along the first axis and x along the normal part of the second.
static void frame_of_axes(const double *z, const double *x, double *A)
{
    double e[3], y[3];
    v3_copy(e, x);
    v3_axpy(e, -v3_dot(e, z), z);
    v3_scale(e, 1 / v3_norm(e), e);
    v3_cross(y, z, e);
    for (int i = 0; i < 3; i++) A[3 * i] = e[i], A[3 * i + 1] = y[i], A[3 * i + 2] = z[i];
}

// ------------------------------------------------------------------- what acts on the coordinates

static lw_status read_limits(const lwi_sdf *u, const lwi_sdf_item *j, const lwi_xml_element *axis,
                             lw_limits_desc *limits)
{
    const lwi_xml_element *e = lwi_xml_child(axis, "limit");
    if (!e || strcmp(j->type.name, "continuous") == 0) return LW_OK;
    double end[2] = {-INFINITY, INFINITY};
    const lwi_xml_element *present[2] = {lwi_xml_child(e, "lower"), lwi_xml_child(e, "upper")};
    // older files write 1e16 for infinity
    for (int k = 0; k < 2; k++)
        if (present[k] &&
            (lwi_xml_text_numbers(&j->file->xml, present[k], 1, &end[k], NULL) != LW_OK ||
             fabs(end[k]) >= 1e16))
            end[k] = k ? INFINITY : -INFINITY;
    if (!isfinite(end[0]) && !isfinite(end[1])) return LW_OK;
    const bool enforced = u->desc->limits.stiffness > 0 || u->desc->limits_time > 0;
    if (!enforced) lwi_notes_add(u->notes, e, j->name, "limits are not enforced, joints");
    if (!enforced && !(end[0] < end[1])) return LW_OK; // without stops, only a range is of use
    *limits = u->desc->limits;
    limits->has_lower = isfinite(end[0]), limits->has_upper = isfinite(end[1]);
    limits->lower = limits->has_lower ? end[0] : 0;
    limits->upper = limits->has_upper ? end[1] : 0;
    return LW_OK;
}

static lw_status read_dynamics(const lwi_sdf *u, const lwi_sdf_item *j, const lwi_xml_element *axis,
                               lw_coordinate_desc *c)
{
    const lwi_xml_element *e = lwi_xml_child(axis, "dynamics");
    double friction = 0;
    if (!e) return LW_OK;
    TRY(lwi_sdf_number(u, j, e, "damping", &c->damping));
    TRY(lwi_sdf_number(u, j, e, "spring_stiffness", &c->stiffness));
    TRY(lwi_sdf_number(u, j, e, "spring_reference", &c->at));
    TRY(lwi_sdf_number(u, j, e, "friction", &friction));
    if (c->stiffness == 0) c->at = 0;
    if (c->damping < 0 || friction < 0)
        return lwi_sdf_fail(
            u, j, e, LW_ERR_MODEL, "joint '%.200s': %s is %g, expected a number >= 0", j->name,
            c->damping < 0 ? "damping" : "friction", c->damping < 0 ? c->damping : friction);
    if (j->type.type == LW_JOINT_SPHERICAL)
        c->friction.coulomb = friction;
    else
        lwi_notes_friction(u->notes, e, j->name, friction, &c->friction);
    return LW_OK;
}

// Ball joints have no axis, but some files set their damping in one.
static lw_status read_ball(const lwi_sdf *u, const lwi_sdf_item *j, lw_joint_desc *d)
{
    const lwi_xml_element *axis = axis_element(j, 0);
    lw_coordinate_desc c = {0};
    if (!axis) return LW_OK;
    TRY(read_dynamics(u, j, axis, &c));
    d->damping = c.damping;
    if (c.stiffness != 0 || c.friction.coulomb != 0)
        lwi_notes_add(u->notes, axis, j->name,
                      "springs and friction of ball joints are not used, joints");
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ adding

static bool prefers_cut(const lwi_sdf_item *j)
{
    const lwi_xml_element *physics = lwi_xml_child(j->e, "physics");
    const lwi_xml_element *simbody = physics ? lwi_xml_child(physics, "simbody") : NULL;
    return simbody && lwi_sdf_true(simbody, "must_be_loop_joint");
}

static lw_status read_pitch(const lwi_sdf *u, const lwi_sdf_item *j, double *pitch)
{
    double thread = 0;
    *pitch = 1; // the default of the format
    TRY(lwi_sdf_number(u, j, j->e, "thread_pitch", &thread));
    // radians per metre, left-handed
    if (thread != 0) *pitch = -6.283185307179586 / thread;
    return lwi_sdf_number(u, j, j->e, "screw_thread_pitch", pitch);
}

// Body and pose of a link or of the world.
static lw_body body_of(const lwi_sdf *u, int link)
{
    return link ? u->item[link].body : (lw_body){0};
}

static lw_pose frame_in(const lwi_sdf *u, int link, const double *R, const double *r)
{
    double F[9], f[3];
    lwi_frame_between(F, f, u->item[link].R, u->item[link].r, R, r);
    return lwi_frame_pose(F, f);
}

// Adds joint d between the two bodies; its frame has axis z (and x) in the frame of the joint.
static lw_status add(const lwi_sdf *u, const lwi_sdf_item *j, lw_joint_desc *d, const double *A,
                     lw_joint *joint)
{
    double R[9];
    m3_mul(R, j->R, A);
    d->placement = LW_PLACED_FRAMES;
    d->body1 = body_of(u, j->parent);
    d->body2 = body_of(u, j->child);
    d->frame1 = frame_in(u, j->parent, R, j->r);
    d->frame2 = frame_in(u, j->child, R, j->r);
    d->place = j->place;
    d->cut = prefers_cut(j) ? LW_CUT_PREFER : LW_CUT_AUTO;
    return lw_builder_add_joint(u->builder, d, joint, u->error);
}

// Two axes that are not perpendicular: two revolute joints in series with a massless body between them.
static lw_status add_two_hinges(const lwi_sdf *u, lwi_sdf_item *j, const double axis[2][3],
                                const lw_joint_desc *universal)
{
    double A[2][9], R[9];
    char name[2 * LWI_NOTE_BYTES];
    lw_body cross;
    for (int k = 0; k < 2; k++) lwi_frame_to_axis(A[k], axis[k]);
    snprintf(name, sizeof name, "%.200s::cross", j->name);
    const lw_body_desc body = {.name = name, .pose = lwi_frame_pose(j->R, j->r), .place = j->place};
    TRY(lw_builder_add_body(u->builder, &body, &cross, u->error));
    for (int k = 0; k < 2; k++) {
        lw_joint_desc d = {.name = k ? name : j->name,
                           .type = LW_JOINT_REVOLUTE,
                           .placement = LW_PLACED_FRAMES,
                           .body1 = k ? cross : body_of(u, j->parent),
                           .body2 = k ? body_of(u, j->child) : cross,
                           .coordinate = {universal->coordinate[k]},
                           .place = j->place};
        m3_mul(R, j->R, A[k]);
        static const double nowhere[3] = {0, 0, 0};
        const lw_pose own = lwi_frame_pose(A[k], nowhere);
        d.frame1 = k ? own : frame_in(u, j->parent, R, j->r);
        d.frame2 = k ? frame_in(u, j->child, R, j->r) : own;
        TRY(lw_builder_add_joint(u->builder, &d, k ? NULL : &j->joint, u->error));
    }
    lwi_notes_add(u->notes, j->e, j->name,
                  "axes that are not perpendicular are two revolute joints, the second is named "
                  "JOINT::cross, joints");
    return LW_OK;
}

static lw_status add_joint(const lwi_sdf *u, lwi_sdf_item *j)
{
    double axis[2][3], A[9];
    const int n = j->type.naxis;
    lw_joint_desc d = {.name = j->name, .type = j->type.type};
    lwi_sdf_begin_notes(u, j->file);
    m3_identity(A);
    if (j->type.type == LW_JOINT_SPHERICAL) TRY(read_ball(u, j, &d));
    for (int k = 0; k < n; k++) {
        const lwi_xml_element *e = axis_element(j, k);
        TRY(read_axis(u, j, k, axis[k]));
        TRY(read_dynamics(u, j, e, &d.coordinate[k]));
        TRY(read_limits(u, j, e, &d.coordinate[k].limits));
        if (j->follows[k]) d.q[k] = u->coupling[j->follows[k] - 1].start;
        if (d.q[k] != 0) d.has_q = 1;
    }
    if (d.type == LW_JOINT_SCREW) TRY(read_pitch(u, j, &d.pitch));
    if (n == 1) lwi_frame_to_axis(A, axis[0]);
    if (n == 2) {
        const double dot = v3_dot(axis[0], axis[1]);
        if (fabs(dot) > 1 - RIGHT_ANGLE)
            return lwi_sdf_fail(u, j, j->e, LW_ERR_MODEL,
                                "joint '%.200s': its two axes are parallel", j->name);
        if (fabs(dot) > RIGHT_ANGLE) return add_two_hinges(u, j, (const double(*)[3])axis, &d);
        frame_of_axes(axis[0], axis[1], A);
    }
    return add(u, j, &d, A, &j->joint);
}

// --------------------------------------------------------------------------------- gears and
// mimics

static lw_status push_coupling(lwi_sdf *u, const lwi_sdf_coupling *c)
{
    if (u->ncoupling == u->coupling_room) {
        const int room = u->coupling_room ? 2 * u->coupling_room : 16;
        lwi_sdf_coupling *larger = LWI_PUSH(u->arena, lwi_sdf_coupling, room);
        if (!larger) return lwi_sdf_no_memory(u);
        if (u->ncoupling) memcpy(larger, u->coupling, (size_t)u->ncoupling * sizeof *larger);
        u->coupling = larger;
        u->coupling_room = room;
    }
    LWI_ASSERT(u->ncoupling < u->coupling_room);
    u->coupling[u->ncoupling++] = *c;
    u->item[c->joint].follows[c->coordinate] = u->ncoupling;
    return LW_OK;
}

// follower = multiplier (leader - reference) + offset
static lw_status read_mimic(lwi_sdf *u, int joint, int k)
{
    const lwi_sdf_item *j = &u->item[joint];
    const lwi_xml_element *axis = axis_element(j, k),
                          *e = axis ? lwi_xml_child(axis, "mimic") : NULL;
    const char *name, *leader_axis;
    double multiplier = 1, offset = 0, reference = 0;
    if (!e) return LW_OK;
    TRY(lwi_xml_need(&j->file->xml, e, "joint", &name, u->error));
    TRY(lwi_sdf_number(u, j, e, "multiplier", &multiplier));
    TRY(lwi_sdf_number(u, j, e, "offset", &offset));
    TRY(lwi_sdf_number(u, j, e, "reference", &reference));
    const char *full = u->item[j->model].scope;
    char *wanted = LWI_PUSH(u->arena, char, strlen(full) + strlen(name) + 1);
    if (!wanted) return lwi_sdf_no_memory(u);
    memcpy(wanted, full, strlen(full));
    memcpy(wanted + strlen(full), name, strlen(name));
    const int of = lwi_names_find(&u->names[LWI_SDF_JOINT], wanted);
    if (of < 0)
        return lwi_sdf_fail(u, j, e, LW_ERR_MODEL,
                            "joint '%.120s': mimics joint '%.120s', which does not exist", j->name,
                            name);
    leader_axis = lwi_xml_get(e, "axis");
    const int with = leader_axis && strcmp(leader_axis, "axis2") == 0;
    if (k >= j->type.naxis || with >= u->item[of].type.naxis || j->type.gear ||
        u->item[of].type.gear)
        return lwi_sdf_fail(
            u, j, e, LW_ERR_MODEL,
            "joint '%.120s' (%s) mimics '%.120s' (%s): one of them does not have this axis",
            j->name, j->type.name, name, u->item[of].type.name);
    const lwi_sdf_coupling c = {.joint = joint,
                                .coordinate = k,
                                .of = of,
                                .with = with,
                                .c = {offset - multiplier * reference, multiplier},
                                .place = j->place};
    return push_coupling(u, &c);
}

// The revolute joint between two links, and the sign of its angle as that of `to` relative to `from` about
// an axis (world); -1: there is none.
static int hinge_between(const lwi_sdf *u, int from, int to, const double *axis, double *sign)
{
    for (int k = 0; k < u->names[LWI_SDF_JOINT].count; k++) {
        const int i = u->names[LWI_SDF_JOINT].item[k];
        const lwi_sdf_item *j = &u->item[i];
        const bool forward = j->parent == from && j->child == to;
        if (!forward && !(j->parent == to && j->child == from)) continue;
        if (j->type.type != LW_JOINT_REVOLUTE) continue;
        double a[3];
        if (read_axis(u, j, 0, a) != LW_OK) continue;
        m3_mul_v(a, j->R, a);
        const double dot = v3_dot(a, axis);
        if (fabs(dot) < 1 - RIGHT_ANGLE) continue;
        *sign = (dot > 0) == forward ? 1 : -1;
        return i;
    }
    return -1;
}

// theta_2 = -ratio theta_1: angles of the parent about `axis` and of the child about `axis2`, both
// relative to the reference body.  A gearbox is a coupling of two revolute joints, not a joint.
static lw_status read_gear(lwi_sdf *u, int joint)
{
    const lwi_sdf_item *g = &u->item[joint];
    double ratio = 1, axis[2][3], sign[2];
    int reference, hinge[2];
    TRY(lwi_sdf_number(u, g, g->e, "gearbox_ratio", &ratio));
    TRY(read_end(u, g, "gearbox_reference_body", &reference));
    for (int k = 0; k < 2; k++) {
        TRY(read_axis(u, g, k, axis[k]));
        m3_mul_v(axis[k], g->R, axis[k]);
        hinge[k] = hinge_between(u, reference, k ? g->child : g->parent, axis[k], &sign[k]);
    }
    if (hinge[0] < 0 || hinge[1] < 0) {
        lwi_sdf_begin_notes(u, g->file);
        lwi_notes_add(u->notes, g->e, g->name,
                      "gearboxes need a revolute joint of the reference body to each of their two "
                      "links, about "
                      "their axes; they are not modelled, joints");
        return LW_OK;
    }
    const lwi_sdf_coupling c = {
        .joint = hinge[1], .of = hinge[0], .c = {0, -ratio * sign[0] / sign[1]}, .place = g->place};
    return push_coupling(u, &c);
}

// Initial coordinates are zero, those of followers c0 + c1 q_leader.
static lw_status follow(lwi_sdf *u, int first)
{
    int last = 0;
    double start = 0;
    for (int i = first; i; i = u->item[u->coupling[i - 1].of].follows[u->coupling[i - 1].with]) {
        lwi_sdf_coupling *c = &u->coupling[i - 1];
        if (c->seen == LWI_SDF_STARTED) {
            start = c->start;
            break;
        }
        const lwi_sdf_item *j = &u->item[c->joint];
        if (c->seen == LWI_SDF_FOLLOWED)
            return lwi_sdf_fail(u, j, j->e, LW_ERR_MODEL,
                                "joint '%.200s': mimics itself through other joints", j->name);
        c->seen = LWI_SDF_FOLLOWED;
        c->back = last;
        last = i;
    }
    for (; last; last = u->coupling[last - 1].back) {
        lwi_sdf_coupling *c = &u->coupling[last - 1];
        c->seen = LWI_SDF_STARTED;
        c->start = start = c->c[0] + c->c[1] * start;
    }
    return LW_OK;
}

static lw_status read_couplings(lwi_sdf *u)
{
    int gears = 0;
    for (int k = 0; k < u->names[LWI_SDF_JOINT].count; k++) {
        const int i = u->names[LWI_SDF_JOINT].item[k];
        const lwi_sdf_item *j = &u->item[i];
        if (j->type.gear && ++gears > MAX_GEARS)
            return lwi_sdf_fail(u, j, j->e, LW_ERR_PARSE, "more than %d gearboxes", MAX_GEARS);
        if (j->type.gear) TRY(read_gear(u, i));
        for (int axis = 0; axis < 2; axis++) TRY(read_mimic(u, i, axis));
    }
    for (int i = 1; i <= u->ncoupling; i++) TRY(follow(u, i));
    return LW_OK;
}

static lw_status add_coupling(const lwi_sdf *u, const lwi_sdf_coupling *c)
{
    const lw_coupling_desc d = {.joint = u->item[c->joint].joint,
                                .coordinate = c->coordinate,
                                .of = u->item[c->of].joint,
                                .with = c->with,
                                .polynomial = c->c,
                                .npolynomial = 2,
                                .place = c->place};
    return lw_builder_add_coupling(u->builder, &d, u->error);
}

lw_status lwi_sdf_add_joints(lwi_sdf *u)
{
    for (int k = 0; k < u->names[LWI_SDF_JOINT].count; k++) {
        lwi_sdf_item *j = &u->item[u->names[LWI_SDF_JOINT].item[k]];
        TRY(read_type(u, j));
        TRY(read_end(u, j, "parent", &j->parent));
        TRY(read_end(u, j, "child", &j->child));
    }
    TRY(read_couplings(u));
    for (int k = 0; k < u->names[LWI_SDF_JOINT].count; k++) {
        lwi_sdf_item *j = &u->item[u->names[LWI_SDF_JOINT].item[k]];
        if (!j->type.gear) TRY(add_joint(u, j));
    }
    for (int i = 0; i < u->ncoupling; i++) TRY(add_coupling(u, &u->coupling[i]));
    return LW_OK;
}
