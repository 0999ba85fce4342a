// loops.c -- loop-closing joints of a URDF model, which its tree of <joint>s cannot express:
//
//   <loop_joint name type> in the robot, in two variants,
//       <link1 link xyz rpy/> <link2 link xyz rpy/> <axis xyz/>
//           the joint frame in both links; the axis is in that frame
//       <parent link/> <child link/> <parent_origin xyz/> <child_origin xyz/> <axis xyz/>
//           the joint point in both links; axis and frame are those of the parent link, the frame has
//           the same attitude in both at the initial configuration
//   and a companion file, ROBOT.yaml for ROBOT.urdf,
//       closed_loop: [[A, B], ...], type: [6d, ...]    frames A and B (names of joints or links)
//       coincide;
//           6d: fixed, 3d: a common point (spherical), or a joint type about z of A and B
//       joint_name: [J, ...], joint_type: [SPHERICAL, ...]    joints of another type than in the
//       URDF file
//
// Every loop becomes a joint.  If the frames do not coincide initially the model reports it.
#include "io/urdf/urdf.h"

#include "io/frames.h"
#include "io/readers.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const lwi_joint_type *find_type(const char *name)
{
    const char *known;
    return lwi_joint_named(LWI_NAMES_URDF_LOOP, name, &known);
}
static const char known_types[] =
    "revolute, continuous, prismatic, cylindrical, planar, spherical, fixed or floating";

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "out of memory");
}

// --------------------------------------------------------------------------------------
// <loop_joint>

// First variant: joint frames in both links.
static lw_status read_frames(const lwi_urdf *u, const lwi_xml_element *e, const char *name,
                             const lwi_joint_type *type, int end[2], lw_pose frame[2])
{
    const lwi_xml_element *link[2] = {lwi_xml_child(e, "link1"), lwi_xml_child(e, "link2")};
    if (!link[1] && link[0]) link[1] = lwi_xml_next(link[0], "link1");
    if (!link[0] || !link[1])
        return lwi_xml_fail(u->xml, e, LW_ERR_PARSE, u->error,
                            "loop joint '%.200s': expected <link1> and <link2>, or <parent> and "
                            "<child>",
                            name);
    double A[9];
    m3_identity(A);
    if (lwi_joint_has_axis(type)) TRY(lwi_urdf_axis(u, e, name, A));
    for (int i = 0; i < 2; i++) {
        double R[9], r[3], F[9];
        TRY(lwi_urdf_end(u, link[i], name, &end[i]));
        TRY(lwi_urdf_pose(u, link[i], R, r));
        m3_mul(F, R, A);
        frame[i] = lwi_frame_pose(F, r);
    }
    return LW_OK;
}

// Second variant: a point in both links.  The attitude of the frame in one link determines the other.
static lw_status read_points(const lwi_urdf *u, const lwi_xml_element *e, const char *name,
                             const lwi_joint_type *type, int end[2], lw_pose frame[2])
{
    static const char *const ends[2] = {"parent", "child"};
    static const char *const origins[2] = {"parent_origin", "child_origin"};
    double A[9], R[2][9], r[2][3], F[9];
    m3_identity(A);
    if (lwi_joint_has_axis(type)) TRY(lwi_urdf_axis(u, e, name, A));
    for (int i = 0; i < 2; i++) {
        const lwi_xml_element *link = lwi_xml_child(e, ends[i]);
        if (!link)
            return lwi_xml_fail(u->xml, e, LW_ERR_PARSE, u->error,
                                "loop joint '%.200s' has no <%s>", name, ends[i]);
        TRY(lwi_urdf_end(u, link, name, &end[i]));
        TRY(lwi_urdf_pose(u, lwi_xml_child(e, origins[i]), R[i], r[i]));
    }
    m3_mul(F, R[0], A);
    frame[0] = lwi_frame_pose(F, r[0]);
    const lwi_xml_element *origin = lwi_xml_child(e, "child_origin");
    if (!origin || !lwi_xml_get(origin, "rpy")) { // the same attitude at the initial configuration
        double between[9];
        m3_tmul(between, u->links[end[1]].R, u->links[end[0]].R);
        m3_mul(R[1], between, R[0]);
    }
    m3_mul(F, R[1], A);
    frame[1] = lwi_frame_pose(F, r[1]);
    return LW_OK;
}

static lw_status read_type(const lwi_urdf *u, const lwi_xml_element *e, const char *name,
                           const lwi_joint_type **type)
{
    const char *text;
    TRY(lwi_xml_need(u->xml, e, "type", &text, u->error));
    *type = find_type(text);
    if (*type) return LW_OK;
    return lwi_xml_fail(u->xml, e, LW_ERR_PARSE, u->error,
                        "loop joint '%.100s': unknown type '%.60s', expected %s", name, text,
                        known_types);
}

static lw_status check_axis_frame(const lwi_urdf *u, const lwi_xml_element *e, const char *name)
{
    const lwi_xml_element *axis = lwi_xml_child(e, "axis");
    const char *frame = axis ? lwi_xml_get(axis, "frame") : NULL;
    if (!frame || strcmp(frame, "parent") == 0) return LW_OK;
    return lwi_xml_fail(u->xml, axis, LW_ERR_UNSUPPORTED, u->error,
                        "loop joint '%.150s': axis in frame '%.60s', expected parent", name, frame);
}

static lw_status add_element(const lwi_urdf *u, const lwi_xml_element *e)
{
    const char *name;
    const lwi_joint_type *type;
    int end[2];
    lw_pose frame[2];
    TRY(lwi_xml_need(u->xml, e, "name", &name, u->error));
    TRY(read_type(u, e, name, &type));
    TRY(check_axis_frame(u, e, name));
    TRY(lwi_xml_child(e, "parent") ? read_points(u, e, name, type, end, frame)
                                   : read_frames(u, e, name, type, end, frame));
    static const char *const unused[] = {"dynamics", "limit"};
    for (int i = 0; i < LWI_COUNT(unused); i++)
        if (lwi_xml_child(e, unused[i]))
            lwi_notes_add(u->notes, lwi_xml_child(e, unused[i]), name,
                          "<%s> of loop joints is not used, joints", unused[i]);
    const lw_joint_desc d = {.name = name,
                             .type = type->id,
                             .placement = LW_PLACED_FRAMES,
                             .body1 = u->links[end[0]].body,
                             .body2 = u->links[end[1]].body,
                             .frame1 = frame[0],
                             .frame2 = frame[1],
                             .cut = LW_CUT_PREFER,
                             .place = {e->line, e->column}};
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

// -------------------------------------------------------------------------- the companion file

static lw_status fail_companion(const lwi_urdf *u, const lwi_document_value *v, const char *format,
                                ...) LW_PRINTF(3, 4);
static lw_status fail_companion(const lwi_urdf *u, const lwi_document_value *v, const char *format,
                                ...)
{
    char text[sizeof u->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_fail_at(u->error, LW_ERR_MODEL, u->companion, v->place.line, v->place.column, "%s",
                       text);
}

// "robot.yaml" for ".../robot.urdf"
static const char *name_beside(const lwi_urdf *u, const char *robot)
{
    static const char wanted[] = ".yaml";
    const char *slash = strrchr(robot, '/');
    const char *file = slash ? slash + 1 : robot, *dot = strrchr(file, '.');
    const size_t n = dot ? (size_t)(dot - file) : strlen(file);
    char *name = LWI_PUSH(&u->xml->arena, char, n + sizeof wanted);
    if (!name) return NULL;
    memcpy(name, file, n);
    memcpy(name + n, wanted, sizeof wanted);
    return name;
}

// A file with this name may be of another kind: a converted model, settings of other programs.
static bool is_of_loops(const lwi_document_value *root)
{
    return root->kind == LWI_DOCUMENT_MAP && (lwi_document_find(root, "closed_loop") >= 0 ||
                                              lwi_document_find(root, "joint_type") >= 0);
}

// Does the file contain the word?  It may be binary.
static bool contains(const char *text, size_t length, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (memcmp(text + i, word, n) == 0) return true;
    return false;
}

lw_status lwi_urdf_read_beside(lwi_urdf *u, const char *robot, const char *folder)
{
    char *text = NULL;
    size_t length = 0;
    lw_error why = {0};
    const lwi_document_value *root = NULL;
    if (!folder) return LW_OK;
    const char *name = name_beside(u, robot);
    if (!name) return no_memory(u->error);
    u->companion = lwi_reader_path_inside(folder, name, &u->xml->arena);
    if (!u->companion) return LW_OK; // no companion file
    TRY(lwi_reader_file(u->companion, &u->xml->arena.allocator, &text, &length, u->error));
    const bool about_loops = contains(text, length, "closed_loop");
    const lw_status status =
        lwi_document_parse(text, length, u->companion, &u->xml->arena, &root, &why);
    lwi_release(&u->xml->arena.allocator, text);
    if (status == LW_ERR_MEMORY) return no_memory(u->error);
    if (status != LW_OK && about_loops) {
        if (u->error) *u->error = why;
        return status;
    }
    if (status == LW_OK && is_of_loops(root))
        u->loops = root;
    else if (status != LW_OK || root->kind != LWI_DOCUMENT_MAP ||
             lwi_document_find(root, "linkwork") < 0)
        return lw_builder_warn(u->builder, (lw_place){0, 0},
                               "%.200s is not read: it has no closed_loop%s%.100s", name,
                               status == LW_OK ? "" : ", ", status == LW_OK ? "" : why.text);
    return LW_OK;
}

// A list of the map, or NULL.
static lw_status list_of(const lwi_urdf *u, const char *key, const lwi_document_value **list)
{
    const int k = lwi_document_find(u->loops, key);
    *list = k < 0 ? NULL : u->loops->item[k];
    if (k < 0 || (*list)->kind == LWI_DOCUMENT_LIST) return LW_OK;
    return fail_companion(u, *list, "%s: expected a list", key);
}

static lw_status string_of(const lwi_urdf *u, const lwi_document_value *v, const char *what,
                           const char **text)
{
    *text = v->text;
    if (v->kind == LWI_DOCUMENT_SCALAR) return LW_OK;
    return fail_companion(u, v, "%s: expected a string", what);
}

static lw_status check_counts(const lwi_urdf *u, const lwi_document_value *a, const char *a_name,
                              const lwi_document_value *b, const char *b_name)
{
    if (a->count == b->count) return LW_OK;
    return fail_companion(u, b, "%s has %d entries and %s %d, expected equal numbers", b_name,
                          b->count, a_name, a->count);
}

// ---- types of joints

static const lwi_urdf_kind changes[] = {
    {"SPHERICAL", LW_JOINT_SPHERICAL, false, false},
    {"FIXED", LW_JOINT_FIXED, false, false},
    {"CARDAN", LW_JOINT_UNIVERSAL, false, false},
};

static lw_status change_joint(const lwi_urdf *u, const lwi_document_value *joint,
                              const lwi_document_value *type)
{
    const char *name, *text;
    TRY(string_of(u, joint, "joint_name", &name));
    TRY(string_of(u, type, "joint_type", &text));
    const int j = lwi_names_find(&u->joint_names, name);
    if (j < 0) return fail_companion(u, joint, "joint_name: there is no joint '%.150s'", name);
    for (int i = 0; i < LWI_COUNT(changes); i++) {
        if (strcmp(changes[i].name, text) != 0) continue;
        u->joints[j].kind = changes[i];
        return LW_OK;
    }
    return fail_companion(u, type, "joint_type: '%.60s', expected SPHERICAL, FIXED or CARDAN",
                          text);
}

static lw_status report_unknown_keys(const lwi_urdf *u)
{
    static const char *const known[] = {"closed_loop", "type", "joint_name", "joint_type",
                                        "name_mot"};
    for (int i = 0; i < u->loops->count; i++) {
        bool found = false;
        for (int k = 0; k < LWI_COUNT(known); k++)
            found = found || strcmp(known[k], u->loops->key[i]) == 0;
        if (!found)
            TRY(lw_builder_warn(u->builder, (lw_place){0, 0}, "%.300s: '%.100s' is not read",
                                u->companion, u->loops->key[i]));
    }
    return LW_OK;
}

lw_status lwi_urdf_change_joints(lwi_urdf *u)
{
    const lwi_document_value *names, *kinds;
    if (!u->loops) return LW_OK;
    TRY(report_unknown_keys(u));
    TRY(list_of(u, "joint_name", &names));
    TRY(list_of(u, "joint_type", &kinds));
    if (!names && !kinds) return LW_OK;
    if (!names || !kinds)
        return fail_companion(u, names ? names : kinds,
                              "expected joint_name and joint_type together");
    TRY(check_counts(u, names, "joint_name", kinds, "joint_type"));
    for (int i = 0; i < names->count; i++) TRY(change_joint(u, names->item[i], kinds->item[i]));
    return LW_OK;
}

// ---- closed loops

// The link of a frame name: the child of the joint with this name, or the link.
static lw_status link_of(const lwi_urdf *u, const lwi_document_value *v, int *link)
{
    const char *name;
    TRY(string_of(u, v, "closed_loop", &name));
    const int joint = lwi_names_find(&u->joint_names, name);
    *link = joint >= 0 ? u->joints[joint].child : lwi_names_find(&u->link_names, name);
    if (*link >= 0) return LW_OK;
    return fail_companion(u, v, "closed_loop: there is no joint or link '%.150s'", name);
}

static lw_status add_closure(const lwi_urdf *u, const lwi_document_value *pair,
                             const lwi_document_value *type)
{
    int end[2];
    const char *text = "6d";
    if (pair->kind != LWI_DOCUMENT_LIST || pair->count != 2)
        return fail_companion(u, pair, "closed_loop: expected pairs of frames, [A, B]");
    for (int i = 0; i < 2; i++) TRY(link_of(u, pair->item[i], &end[i]));
    if (type) TRY(string_of(u, type, "type", &text));
    const lwi_joint_type *found = find_type(text);
    if (!found)
        return fail_companion(u, type, "type: '%.60s', expected 6d, 3d, %s", text, known_types);
    const char *name = lwi_urdf_new_name(u, pair->item[0]->text, pair->item[1]->text);
    if (!name) return no_memory(u->error);
    if (end[0] == end[1])
        return fail_companion(u, pair, "closed_loop: '%.100s' and '%.100s' are the same link",
                              pair->item[0]->text, pair->item[1]->text);
    const lw_joint_desc d = {.name = name,
                             .type = found->id,
                             .placement = LW_PLACED_FRAMES,
                             .body1 = u->links[end[0]].body,
                             .body2 = u->links[end[1]].body,
                             .cut = LW_CUT_PREFER,
                             .place = {u->xml->root->line, u->xml->root->column}};
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

static lw_status add_closures(const lwi_urdf *u)
{
    const lwi_document_value *loops, *kinds;
    TRY(list_of(u, "closed_loop", &loops));
    TRY(list_of(u, "type", &kinds));
    if (loops && kinds) TRY(check_counts(u, loops, "closed_loop", kinds, "type"));
    for (int i = 0; loops && i < loops->count; i++)
        TRY(add_closure(u, loops->item[i], kinds ? kinds->item[i] : NULL));
    return LW_OK;
}

lw_status lwi_urdf_add_loops(lwi_urdf *u)
{
    const lwi_xml_element *e = lwi_xml_child(u->xml->root, "loop_joint");
    for (; e; e = lwi_xml_next(e, "loop_joint")) TRY(add_element(u, e));
    return u->loops ? add_closures(u) : LW_OK;
}
