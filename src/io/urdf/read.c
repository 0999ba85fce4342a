// read.c -- reads robots in the Unified Robot Description Format.
//
// A link is a body with the frame of the link.  A joint connects its parent and child link, placed by
// frames: F2 is the frame of the child rotated so that z2 is the axis, F1 is the same frame on the
// parent at zero coordinate.  With rpy = (a, b, c)
//     R = Rz(c) Ry(b) Rx(a)             (rotations about the fixed axes x, y, z in this order)
// and world poses from the root on,  R_child = R_parent R,  r_child = r_parent + R_parent xyz.
//
// Loops are in loops.c and companion.c.  Contents that the model ignores are counted and reported once per kind (notes.c).
#include "base/assert.h"
#include "io/urdf/urdf.h"

#include "io/frames.h"
#include "io/readers.h"
#include "io/text.h"
#include "spatial/rotation.h"

#include <string.h>

typedef lwi_urdf_link link;
typedef lwi_urdf_joint joint;
typedef lwi_urdf reading;

// ------------------------------------------------------------------------------------------ places

static lw_place place_of(const lwi_xml_element *e)
{
    return (lw_place){e->line, e->column};
}

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "out of memory");
}

lw_status lwi_urdf_pose(const lwi_urdf *u, const lwi_xml_element *e, double *R, double *r)
{
    double rpy[3] = {0, 0, 0};
    v3_set(r, 0, 0, 0);
    if (e) {
        TRY(lwi_xml_numbers(u->xml, e, "xyz", 3, r, u->error));
        TRY(lwi_xml_numbers(u->xml, e, "rpy", 3, rpy, u->error));
    }
    lwi_frame_rpy(R, rpy);
    return LW_OK;
}

// <origin xyz rpy> of an element; identity if it is missing.
static lw_status read_origin(const reading *u, const lwi_xml_element *e, double *R, double *r)
{
    return lwi_urdf_pose(u, lwi_xml_child(e, "origin"), R, r);
}

lw_status lwi_urdf_axis(const lwi_urdf *u, const lwi_xml_element *e, const char *name, double *R)
{
    double a[3] = {1, 0, 0};
    const lwi_xml_element *axis = lwi_xml_child(e, "axis");
    if (axis) {
        const char *value;
        TRY(lwi_xml_need(u->xml, axis, "xyz", &value, u->error));
        TRY(lwi_xml_numbers(u->xml, axis, "xyz", 3, a, u->error));
    }
    if (lwi_frame_to_axis(R, a)) return LW_OK;
    return lwi_xml_fail(u->xml, axis, LW_ERR_MODEL, u->error, "joint '%s': axis is the zero vector",
                        name);
}

// ------------------------------------------------------------------------------------------- names

static int count_children(const lwi_xml_element *robot, const char *what)
{
    int count = 0;
    const lwi_xml_element *e = lwi_xml_child(robot, what);
    for (; e; e = lwi_xml_next(e, what)) count++;
    return count;
}

// Indexes the names of all elements `what` of the robot; equal names are an error.
static lw_status read_names(const reading *u, const char *what, lwi_names *names)
{
    const lwi_xml_element *robot = u->xml->root, *e = lwi_xml_child(robot, what);
    if (lwi_names_create(count_children(robot, what), &u->xml->arena, names) != LW_OK)
        return no_memory(u->error);
    for (; e; e = lwi_xml_next(e, what)) {
        const char *name;
        TRY(lwi_xml_need(u->xml, e, "name", &name, u->error));
        const char *problem = lwi_text_name_problem(name);
        if (problem)
            return lwi_xml_fail(u->xml, e, LW_ERR_MODEL, u->error, "%s '%.60s': its name %s", what,
                                name, problem);
        lwi_names_add(names, name, names->count);
    }
    lwi_names_sort(names);
    const int twice = lwi_names_repeated(names);
    if (!twice) return LW_OK;
    e = lwi_xml_child(robot, what);
    for (int k = 0; k < names->order[twice]; k++) e = lwi_xml_next(e, what);
    return lwi_xml_fail(u->xml, e, LW_ERR_MODEL, u->error, "%s '%s': this name occurs twice", what,
                        names->name[names->order[twice]]);
}

// ------------------------------------------------------------------------------------------- graph

static lw_status collect(reading *u)
{
    const lwi_xml_element *robot = u->xml->root;
    TRY(read_names(u, "link", &u->link_names));
    TRY(read_names(u, "joint", &u->joint_names));
    u->nlink = u->link_names.count;
    u->njoint = u->joint_names.count;
    if (!u->nlink) return lwi_xml_fail(u->xml, robot, LW_ERR_MODEL, u->error, "robot has no link");
    u->links = LWI_PUSH(&u->xml->arena, link, u->nlink);
    u->joints = LWI_PUSH(&u->xml->arena, joint, u->njoint);
    if (!u->links || !u->joints) return no_memory(u->error);
    int i = 0;
    for (const lwi_xml_element *e = lwi_xml_child(robot, "link"); e;
         e = lwi_xml_next(e, "link"), i++)
        u->links[i] = (link){.name = u->link_names.name[i], .e = e, .parent = -1, .first = -1};
    i = 0;
    for (const lwi_xml_element *e = lwi_xml_child(robot, "joint"); e;
         e = lwi_xml_next(e, "joint"), i++)
        u->joints[i] = (joint){.name = u->joint_names.name[i], .e = e};
    return LW_OK;
}

static lw_status read_kind(const reading *u, joint *j)
{
    const char *type, *known[LW_JOINT_COUNT * LWI_MAX_NAMES];
    TRY(lwi_xml_need(u->xml, j->e, "type", &type, u->error));
    const lwi_joint_type *found = lwi_joint_named(LWI_NAMES_URDF, type, &j->kind.name);
    if (found) {
        j->kind.type = found->id;
        j->kind.axis = lwi_joint_has_axis(found);
        j->kind.scalar = found->nv == 1;
        return LW_OK;
    }
    const char *near = lwi_nearest(type, known, lwi_joint_known_names(LWI_NAMES_URDF, known));
    return lwi_xml_fail(u->xml, j->e, LW_ERR_PARSE, u->error,
                        "joint '%.100s': unknown type '%.60s', expected revolute, continuous, "
                        "prismatic, planar, floating or fixed%s%s%s",
                        j->name, type, near ? " (did you mean '" : "", near ? near : "",
                        near ? "'?)" : "");
}

lw_status lwi_urdf_end(const lwi_urdf *u, const lwi_xml_element *end, const char *of, int *which)
{
    const char *name;
    TRY(lwi_xml_need(u->xml, end, "link", &name, u->error));
    *which = lwi_names_find(&u->link_names, name);
    if (*which >= 0) return LW_OK;
    const char *near = lwi_names_near(&u->link_names, name);
    return lwi_xml_fail(u->xml, end, LW_ERR_MODEL, u->error,
                        "joint '%.120s': %.20s link '%.120s' does not exist%s%.120s%s", of,
                        end->name, name, near ? " (did you mean '" : "", near ? near : "",
                        near ? "'?)" : "");
}

// The link named by <parent link> or <child link> of a joint.
static lw_status read_end(const reading *u, const joint *j, const char *end, int *which)
{
    const lwi_xml_element *e = lwi_xml_child(j->e, end);
    if (e) return lwi_urdf_end(u, e, j->name, which);
    return lwi_xml_fail(u->xml, j->e, LW_ERR_PARSE, u->error, "joint '%s' has no <%s>", j->name,
                        end);
}

static lw_status connect(reading *u)
{
    for (int i = u->njoint - 1; i >= 0;
         i--) { // backwards: lists of children have the order of the file
        joint *j = &u->joints[i];
        TRY(read_kind(u, j));
        TRY(read_end(u, j, "parent", &j->parent));
        TRY(read_end(u, j, "child", &j->child));
        j->next = u->links[j->parent].first;
        u->links[j->parent].first = i;
    }
    for (int i = 0; i < u->njoint; i++) {
        const joint *j = &u->joints[i];
        link *child = &u->links[j->child];
        if (child->parent >= 0)
            return lwi_xml_fail(u->xml, j->e, LW_ERR_MODEL, u->error,
                                "joint '%.120s': link '%.120s' is already the child of joint "
                                "'%.120s'; the <joint>s of a URDF are a tree, closed loops need "
                                "<loop_joint> or a companion file",
                                j->name, child->name, u->joints[child->parent].name);
        child->parent = i;
    }
    return LW_OK;
}

static lw_status find_root(const reading *u, int *root)
{
    *root = -1;
    for (int i = 0; i < u->nlink; i++) {
        if (u->links[i].parent >= 0) continue;
        if (*root >= 0)
            return lwi_xml_fail(u->xml, u->links[i].e, LW_ERR_MODEL, u->error,
                                "link '%.150s' is not the child of a joint and neither is "
                                "'%.150s'; expected one root",
                                u->links[i].name, u->links[*root].name);
        *root = i;
    }
    if (*root >= 0) return LW_OK;
    return lwi_xml_fail(u->xml, u->joints[0].e, LW_ERR_MODEL, u->error,
                        "joint '%s': every link is the child of a joint, expected one root link",
                        u->joints[0].name);
}

// World poses, breadth first.  Joints that are not reached are in a cycle.
static lw_status place_links(const reading *u, int root)
{
    int *queue = LWI_PUSH(&u->xml->arena, int, u->nlink);
    if (!queue) return no_memory(u->error);
    int head = 0, tail = 0;
    m3_identity(u->links[root].R);
    queue[tail++] = root;
    while (head < tail) {
        const link *parent = &u->links[queue[head++]];
        for (int i = parent->first; i >= 0; i = u->joints[i].next) {
            link *child = &u->links[u->joints[i].child];
            double R[9], r[3];
            TRY(read_origin(u, u->joints[i].e, R, r));
            m3_mul(child->R, parent->R, R);
            m3_mul_v(r, parent->R, r);
            v3_add(child->r, parent->r, r);
            LWI_ASSERT_INDEX(tail, u->nlink); // every link has one parent at most
            queue[tail++] = u->joints[i].child;
        }
    }
    if (tail == u->nlink) return LW_OK;
    char *reached = LWI_PUSH(&u->xml->arena, char, u->nlink);
    if (!reached) return no_memory(u->error);
    for (int i = 0; i < tail; i++) reached[queue[i]] = 1;
    int lost = 0;
    LWI_ASSERT(tail < u->nlink);
    while (reached[u->joints[lost].parent]) lost++;
    LWI_ASSERT(lost < u->njoint);
    return lwi_xml_fail(
        u->xml, u->joints[lost].e, LW_ERR_MODEL, u->error,
        "joint '%.150s': there is no path from the root link '%.150s' to its parent, "
        "its joints form a cycle",
        u->joints[lost].name, u->links[root].name);
}

// ------------------------------------------------------------------------------------------ bodies

static lw_status read_inertial(const reading *u, const link *l, lw_body_desc *d)
{
    static const char *const keys[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const lwi_xml_element *inertial = lwi_xml_child(l->e, "inertial");
    if (!inertial) return LW_OK;
    const char *value;
    double R[9], r[3];
    TRY(read_origin(u, inertial, R, r));
    d->com = (lw_vec3){r[0], r[1], r[2]};
    d->inertia_axes = lwi_frame_pose(R, r).orientation;
    d->place = place_of(inertial);
    const lwi_xml_element *mass = lwi_xml_child(inertial, "mass");
    if (mass) {
        TRY(lwi_xml_need(u->xml, mass, "value", &value, u->error));
        TRY(lwi_xml_numbers(u->xml, mass, "value", 1, &d->mass, u->error));
    } else {
        lwi_notes_add(u->notes, inertial, l->name,
                      "links have an <inertial> without <mass>: massless");
    }
    const lwi_xml_element *inertia = lwi_xml_child(inertial, "inertia");
    if (!inertia) {
        lwi_notes_add(u->notes, inertial, l->name,
                      "links have an <inertial> without <inertia>: point masses");
        return LW_OK;
    }
    for (int k = 0; k < 6; k++) {
        if (k < 3) TRY(lwi_xml_need(u->xml, inertia, keys[k], &value, u->error));
        TRY(lwi_xml_numbers(u->xml, inertia, keys[k], 1, &d->inertia[k], u->error));
    }
    return LW_OK;
}

static lw_status add_body(reading *u, link *l)
{
    lw_body_desc d = {
        .name = l->name,
        .inertia_axes = {1, 0, 0, 0},
        .pose = lwi_frame_pose(l->R, l->r),
        .inertia_check = LW_INERTIA_WARN, // no such key in the format; files of real robots need it
        .place = place_of(l->e)};
    TRY(read_inertial(u, l, &d));
    TRY(lwi_urdf_shapes(u, l->e, &d));
    return lw_builder_add_body(u->builder, &d, &l->body, u->error);
}

// ------------------------------------------------------------------------------------------ mimics

static lw_status no_leader(const reading *u, const joint *j, const char *name)
{
    const char *near = lwi_names_near(&u->joint_names, name);
    return lwi_xml_fail(u->xml, j->mimic, LW_ERR_MODEL, u->error,
                        "joint '%.120s': mimics joint '%.120s', which does not exist%s%.120s%s",
                        j->name, name, near ? " (did you mean '" : "", near ? near : "",
                        near ? "'?)" : "");
}

// q_joint = offset + multiplier q_of
static lw_status read_mimic(const reading *u, joint *j)
{
    const lwi_xml_element *e = lwi_xml_child(j->e, "mimic");
    if (!e) return LW_OK;
    if (j->kind.type == LW_JOINT_FIXED) {
        lwi_notes_add(u->notes, e, j->name, "<mimic> is not used for fixed joints, joints");
        return LW_OK;
    }
    const char *name;
    j->mimic = e;
    j->c[1] = 1;
    TRY(lwi_xml_need(u->xml, e, "joint", &name, u->error));
    TRY(lwi_xml_numbers(u->xml, e, "offset", 1, &j->c[0], u->error));
    TRY(lwi_xml_numbers(u->xml, e, "multiplier", 1, &j->c[1], u->error));
    j->of = lwi_names_find(&u->joint_names, name);
    if (j->of < 0) return no_leader(u, j, name);
    const joint *of = &u->joints[j->of];
    const bool fixed = of->kind.type == LW_JOINT_FIXED;
    const joint *wrong = !j->kind.scalar ? j : !of->kind.scalar && !fixed ? of : NULL;
    if (wrong)
        return lwi_xml_fail(u->xml, e, LW_ERR_MODEL, u->error,
                            "joint '%.150s' mimics '%.150s': %.150s is %s, expected revolute, "
                            "continuous or prismatic",
                            j->name, name, wrong->name, wrong->kind.name);
    if (!fixed) return LW_OK;
    j->of = -1;
    lwi_notes_add(u->notes, e, j->name,
                  "mimics of a fixed joint are fixed at their offset, joints");
    return LW_OK;
}

// A chain of mimics is composed: c0 + c1 (o0 + o1 q) = c0 + c1 o0 + c1 o1 q.  Every joint is composed once,
// from the first joint of its chain on.
static lw_status compose_mimics(const reading *u, int first)
{
    int last = -1;
    for (int i = first; i >= 0 && u->joints[i].mimic && u->joints[i].seen != LWI_URDF_COMPOSED;) {
        joint *j = &u->joints[i];
        if (j->seen == LWI_URDF_ON_THE_WAY)
            return lwi_xml_fail(u->xml, j->mimic, LW_ERR_MODEL, u->error,
                                "joint '%s': mimics itself through other joints", j->name);
        j->seen = LWI_URDF_ON_THE_WAY;
        j->back = last;
        last = i;
        i = j->of;
    }
    for (; last >= 0; last = u->joints[last].back) {
        joint *j = &u->joints[last];
        j->seen = LWI_URDF_COMPOSED;
        const joint *of = j->of >= 0 ? &u->joints[j->of] : NULL;
        if (!of || !of->mimic) continue;
        j->c[0] += j->c[1] * of->c[0];
        j->c[1] *= of->c[1];
        j->of = of->of;
    }
    return LW_OK;
}

static lw_status read_mimics(const reading *u)
{
    for (int i = 0; i < u->njoint; i++) TRY(read_mimic(u, &u->joints[i]));
    for (int i = 0; i < u->njoint; i++) TRY(compose_mimics(u, i));
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ joints

static lw_status read_damping(const reading *u, const joint *j, lw_joint_desc *d)
{
    const lwi_xml_element *e = lwi_xml_child(j->e, "dynamics");
    if (!e) return LW_OK;
    double damping = 0, friction = 0;
    TRY(lwi_xml_numbers(u->xml, e, "damping", 1, &damping, u->error));
    TRY(lwi_xml_numbers(u->xml, e, "friction", 1, &friction, u->error));
    if (damping < 0)
        return lwi_xml_fail(u->xml, e, LW_ERR_MODEL, u->error,
                            "joint '%s': damping is %g, expected a number >= 0", j->name, damping);
    if (friction < 0)
        return lwi_xml_fail(u->xml, e, LW_ERR_MODEL, u->error,
                            "joint '%s': friction is %g, expected a number >= 0", j->name,
                            friction);
    if (j->kind.scalar) {
        d->coordinate[0].damping = damping;
        lwi_notes_friction(u->notes, e, j->name, friction, &d->coordinate[0].friction);
    } else if (damping > 0 || friction > 0)
        lwi_notes_add(
            u->notes, e, j->name,
            "damping and friction are only defined for revolute, continuous and prismatic joints, "
            "they are not used for joints");
    return LW_OK;
}

// Limits become stops if the caller sets their stiffness; `continuous` joints and limits without ends have
// none.  Without stiffness they only show where the mechanism works.
static lw_status read_limit(const reading *u, const joint *j, lw_joint_desc *d)
{
    static const char *const keys[] = {"lower", "upper", "effort", "velocity"};
    const lwi_xml_element *e = lwi_xml_child(j->e, "limit");
    if (!e) return LW_OK;
    double value[4] = {0};
    bool good = true;
    for (int k = 0; k < LWI_COUNT(keys); k++)
        if (lwi_xml_numbers(u->xml, e, keys[k], 1, &value[k], NULL) != LW_OK) good = false;
    if (!good)
        lwi_notes_add(u->notes, e, j->name,
                      "<limit> has an unused value that is not a finite number, joints");
    if (!j->kind.axis) return LW_OK;
    const bool enforced = u->has_limits;
    const bool ends = lwi_xml_get(e, "lower") || lwi_xml_get(e, "upper");
    const bool range = good && ends && j->kind.scalar && strcmp(j->kind.name, "continuous") != 0;
    if (!enforced || !range)
        lwi_notes_add(u->notes, e, j->name,
                      enforced ? "limits have no lower and upper end, joints"
                               : "limits are not enforced, joints");
    if (!range || (!enforced && value[0] >= value[1])) return LW_OK;
    lw_limits_desc *limits = &d->coordinate[0].limits;
    *limits = u->limits;
    limits->has_lower = limits->has_upper = 1; // a missing end is zero
    limits->lower = value[0], limits->upper = value[1];
    return LW_OK;
}

// The initial coordinate of a mimic follows from the other at zero; all others are zero.  A mimic of a fixed
// joint is fixed there.
static lw_status start_mimic(const reading *u, const joint *j, lw_joint_desc *d)
{
    if (!j->mimic) return LW_OK;
    d->q[0] = j->c[0];
    d->has_q = d->q[0] != 0;
    if (j->of >= 0) return LW_OK;
    const lw_function_desc constant = {
        .type = LW_FUNCTION_CONSTANT, .value = j->c[0], .place = place_of(j->mimic)};
    return lw_builder_add_function(u->builder, &constant, &d->coordinate[0].motion, u->error);
}

// Axes of a universal joint that rotates about axis `axes[0]` of the joint's frame, then about `axes[1]`: z, x.
static void universal_axes(const char *axes, double A[9])
{
    double z[3] = {0, 0, 0}, x[3] = {0, 0, 0}, y[3];
    z[axes[0] - 'X'] = 1;
    x[axes[1] - 'X'] = 1;
    v3_cross(y, z, x);
    for (int i = 0; i < 3; i++) A[3 * i] = x[i], A[3 * i + 1] = y[i], A[3 * i + 2] = z[i];
}

static lw_status add_joint(const reading *u, joint *j)
{
    static const double nowhere[3] = {0, 0, 0};
    double R[9], r[3], A[9], F[9];
    lw_joint_desc d = {.name = j->name,
                       .type = j->kind.type,
                       .placement = LW_PLACED_FRAMES,
                       .body1 = u->links[j->parent].body,
                       .body2 = u->links[j->child].body,
                       .place = place_of(j->e)};
    TRY(read_origin(u, j->e, R, r));
    m3_identity(A);
    if (j->kind.axis)
        TRY(lwi_urdf_axis(u, j->e, j->name, A));
    else if (j->kind.axes)
        universal_axes(j->kind.axes, A);
    m3_mul(F, R, A);
    d.frame1 = lwi_frame_pose(F, r);
    d.frame2 = lwi_frame_pose(A, nowhere);
    TRY(read_damping(u, j, &d));
    TRY(read_limit(u, j, &d));
    TRY(start_mimic(u, j, &d));
    return lw_builder_add_joint(u->builder, &d, &j->added, u->error);
}

static lw_status add_mimic(const reading *u, const joint *j)
{
    if (!j->mimic || j->of < 0) return LW_OK;
    const lw_coupling_desc d = {.joint = j->added,
                                .of = u->joints[j->of].added,
                                .polynomial = j->c,
                                .npolynomial = 2,
                                .place = place_of(j->mimic)};
    return lw_builder_add_coupling(u->builder, &d, u->error);
}

// --------------------------------------------------------------------------------------- the base

// A root link without properties is the ground.
static bool is_ground(const link *root)
{
    return (strcmp(root->name, "world") == 0 || strcmp(root->name, "ground") == 0) &&
           !lwi_xml_child(root->e, "inertial");
}

// `ground` is the fixed world; another link of this name is renamed.
static lw_status rename_ground(const reading *u, int ground_link)
{
    const int i = lwi_names_find(&u->link_names, "ground");
    if (i < 0 || i == ground_link) return LW_OK;
    const char *name = lwi_names_distinct(&u->link_names, "ground_link", NULL, &u->xml->arena);
    if (!name) return no_memory(u->error);
    u->links[i].name = name;
    if (lw_builder_warn(u->builder, place_of(u->links[i].e),
                        "link 'ground' is renamed to '%s': `ground` is the fixed world",
                        name) != LW_OK)
        return no_memory(u->error);
    return LW_OK;
}

const char *lwi_urdf_new_name(const lwi_urdf *u, const char *first, const char *second)
{
    return lwi_names_distinct(&u->joint_names, first, second, &u->xml->arena);
}

static lw_status hold_root(const reading *u, const link *root, lw_base base)
{
    if (base == LW_BASE_FLOATING) return LW_OK;
    const char *name = lwi_urdf_new_name(u, root->name, "to_ground");
    if (!name) return no_memory(u->error);
    const lw_joint_desc d = {.name = name,
                             .type = LW_JOINT_FIXED,
                             .placement = LW_PLACED_FRAMES,
                             .body2 = root->body,
                             .place = place_of(root->e)};
    if (base == LW_BASE_AUTO)
        TRY(lw_builder_warn(u->builder, place_of(root->e),
                            "root link '%.200s' is fixed to the ground by joint '%.200s'; `--base "
                            "floating` makes it float, `--base fixed` confirms that it is fixed",
                            root->name, name));
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

static lw_status build(reading *u, lw_base base)
{
    int root;
    TRY(collect(u));
    TRY(connect(u));
    TRY(find_root(u, &root));
    TRY(place_links(u, root));
    const bool grounded = is_ground(&u->links[root]);
    TRY(rename_ground(u, grounded ? root : -1));
    TRY(lwi_urdf_change_joints(u));
    TRY(read_mimics(u));
    if (!grounded) TRY(add_body(u, &u->links[root])); // first: the base of a floating robot
    for (int i = 0; i < u->nlink; i++)
        if (i != root) TRY(add_body(u, &u->links[i]));
    if (!grounded)
        TRY(hold_root(u, &u->links[root], base));
    else if (base == LW_BASE_FLOATING)
        TRY(lw_builder_warn(u->builder, place_of(u->links[root].e),
                            "root link '%s' is the ground and cannot float", u->links[root].name));
    for (int i = 0; i < u->njoint; i++) TRY(add_joint(u, &u->joints[i]));
    for (int i = 0; i < u->njoint; i++) TRY(add_mimic(u, &u->joints[i]));
    return lwi_urdf_add_loops(u);
}

static lw_status read_robot(reading *u, const char *name, const lw_read_desc *desc)
{
    TRY(lwi_urdf_survey(u->xml, u->notes, u->error));
    TRY(lwi_urdf_read_beside(u, name, desc->folder));
    TRY(build(u, desc->base));
    return lwi_notes_report(u->notes, u->builder);
}

lw_status lwi_read_urdf(const char *text, size_t length, const char *name, const lw_read_desc *desc,
                        lw_builder *builder, lw_options *options, lw_error *error)
{
    (void)options; // the format has no settings
    lwi_xml xml;
    TRY(lwi_xml_parse(&xml, text, length, name, desc->allocator, error));
    reading u = {.xml = &xml,
                 .builder = builder,
                 .error = error,
                 .limits = desc->limits,
                 .has_limits = desc->limits.stiffness > 0 || desc->limits_time > 0};
    u.places = (lwi_mesh_places){desc->folder, desc->package_path};
    u.meshes.arena = &xml.arena;
    u.notes = LWI_PUSH(&xml.arena, lwi_notes, 1);
    const lw_status status = u.notes ? read_robot(&u, name, desc) : no_memory(error);
    lwi_xml_free(&xml);
    return status;
}
