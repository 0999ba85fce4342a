// companion.c -- a file next to a URDF robot with what its tree of <joint>s cannot express.  Two dialects:
//
//   closed_loop: [[A, B], ...]         frames A and B (names of joints or links) coincide
//   type: [6d, ...]                    how: 6d fixed, 3d in a point (spherical), or a joint type about z of A and B
//   joint_name: [J, ...]               joints of another type than in the URDF file
//   joint_type: [SPHERICAL, ...]       SPHERICAL; FIXED; UJOINT_AB: universal, about axis A of the joint's frame,
//                                      then about B, letters X, Y, Z; CARDAN: UJOINT_XY
//                                      (example-parallel-robots)
//
//   closures:                          a revolute joint between two links; point and axis in the frame of the
//     - {link_a, link_b, point, axis}  root link with all coordinates zero                    (scikit-robot)
//   pin_loops, ball_loops:             revolute and spherical joints, the joint point in both links;
//     - {name, parent, child, parent_xyz, child_xyz, axis}    the axis in both
//   ball_upgrades: [J, ...]            joints of the file that are spherical
//
// The file is ROBOT.yaml for ROBOT.urdf; else loop_closures.yaml; else robot.yaml, where there is no robot.urdf.
#include "io/urdf/urdf.h"

#include "io/frames.h"
#include "io/readers.h"
#include "io/text.h"
#include "spatial/rotation.h"

#include <stdio.h>
#include <string.h>

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "out of memory");
}

static lw_status fail(const lwi_urdf *u, const lwi_document_value *v, const char *format, ...)
    LW_PRINTF(3, 4);
static lw_status fail(const lwi_urdf *u, const lwi_document_value *v, const char *format, ...)
{
    char text[sizeof u->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_fail_at(u->error, LW_ERR_MODEL, u->companion, v->place.line, v->place.column, "%s",
                       text);
}

// A name that does not exist, with the nearest that does.
static lw_status no_such(const lwi_urdf *u, const lwi_document_value *v, const char *key,
                         const char *what, const char *near)
{
    return fail(u, v, "%s: there is no %s '%.150s'%s%.150s%s", key, what, v->text,
                near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

// ---------------------------------------------------------------------------- the file

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

static bool has(const lwi_document_value *map, const char *key)
{
    return lwi_document_find(map, key) >= 0;
}

// A file with this name may be of another kind: a converted model, settings of other programs.
static const char *const loop_keys[] = {"closed_loop", "joint_type", "closures",
                                        "pin_loops",   "ball_loops", "ball_upgrades"};
static bool is_of_loops(const lwi_document_value *root)
{
    if (root->kind != LWI_DOCUMENT_MAP) return false;
    for (int i = 0; i < LWI_COUNT(loop_keys); i++)
        if (has(root, loop_keys[i])) return true;
    return false;
}

// Does the file contain the word?  It may be binary.
static bool contains(const char *text, size_t length, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (memcmp(text + i, word, n) == 0) return true;
    return false;
}

// Reads one file: u->loops stays NULL where it is not of loops.
static lw_status read_file(lwi_urdf *u, const char *name)
{
    char *text = NULL;
    size_t length = 0;
    lw_error why = {0};
    const lwi_document_value *root = NULL;
    TRY(lwi_reader_file(u->companion, &u->xml->arena.allocator, &text, &length, u->error));
    bool about_loops = false;
    for (int i = 0; i < LWI_COUNT(loop_keys); i++)
        about_loops = about_loops || contains(text, length, loop_keys[i]);
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
    else if (status != LW_OK || root->kind != LWI_DOCUMENT_MAP || !has(root, "linkwork"))
        return lw_builder_warn(u->builder, (lw_place){0, 0},
                               "%.200s is not read: it has none of the keys of loops%s%.100s", name,
                               status == LW_OK ? "" : ", ", status == LW_OK ? "" : why.text);
    return LW_OK;
}

lw_status lwi_urdf_read_beside(lwi_urdf *u, const char *robot, const char *folder)
{
    if (!folder) return LW_OK;
    const char *const name[] = {name_beside(u, robot), "loop_closures.yaml", "robot.yaml"};
    if (!name[0]) return no_memory(u->error);
    for (int i = 0; i < LWI_COUNT(name) && !u->loops; i++) {
        if (i == 2 && lwi_reader_path_inside(folder, "robot.urdf", &u->xml->arena)) return LW_OK;
        u->companion = lwi_reader_path_inside(folder, name[i], &u->xml->arena);
        if (u->companion) TRY(read_file(u, name[i]));
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------- values

// A list of the map, or NULL.
static lw_status list_of(const lwi_urdf *u, const char *key, const lwi_document_value **list)
{
    const int k = lwi_document_find(u->loops, key);
    *list = k < 0 ? NULL : u->loops->item[k];
    if (k < 0 || (*list)->kind == LWI_DOCUMENT_LIST) return LW_OK;
    return fail(u, *list, "%s: expected a list", key);
}

static lw_status string_of(const lwi_urdf *u, const lwi_document_value *v, const char *what,
                           const char **text)
{
    *text = v->text;
    if (v->kind == LWI_DOCUMENT_SCALAR) return LW_OK;
    return fail(u, v, "%s: expected a string", what);
}

static lw_status check_counts(const lwi_urdf *u, const lwi_document_value *a, const char *a_name,
                              const lwi_document_value *b, const char *b_name)
{
    if (a->count == b->count) return LW_OK;
    return fail(u, b, "%s has %d entries and %s %d, expected equal numbers", b_name, b->count,
                a_name, a->count);
}

// The value of a key of an entry, which must be there.
static lw_status entry_of(const lwi_urdf *u, const lwi_document_value *entry, const char *list,
                          const char *key, const lwi_document_value **value)
{
    const int k = entry->kind == LWI_DOCUMENT_MAP ? lwi_document_find(entry, key) : -1;
    if (k < 0) return fail(u, entry, "%s: expected an entry with `%s`", list, key);
    *value = entry->item[k];
    return LW_OK;
}

static lw_status vector_of(const lwi_urdf *u, const lwi_document_value *entry, const char *list,
                           const char *key, double x[3])
{
    const lwi_document_value *v = NULL;
    TRY(entry_of(u, entry, list, key, &v));
    if (v->kind != LWI_DOCUMENT_LIST || v->count != 3)
        return fail(u, v, "%s: %s is not a list of three numbers", list, key);
    for (int i = 0; i < 3; i++) {
        const lwi_document_value *c = v->item[i];
        if (c->kind != LWI_DOCUMENT_SCALAR || !lwi_number_read(c->text, &x[i]))
            return fail(u, c, "%s: %s has a component that is not a finite number", list, key);
    }
    return LW_OK;
}

static lw_status axis_of(const lwi_urdf *u, const lwi_document_value *entry, const char *list,
                         double A[9])
{
    double axis[3];
    TRY(vector_of(u, entry, list, "axis", axis));
    return lwi_frame_to_axis(A, axis) ? LW_OK : fail(u, entry, "%s: axis is the zero vector", list);
}

static lw_status link_of(const lwi_urdf *u, const lwi_document_value *entry, const char *list,
                         const char *key, int *link)
{
    const lwi_document_value *v = NULL;
    const char *name;
    TRY(entry_of(u, entry, list, key, &v));
    TRY(string_of(u, v, key, &name));
    *link = lwi_names_find(&u->link_names, name);
    return *link >= 0 ? LW_OK : no_such(u, v, key, "link", lwi_names_near(&u->link_names, name));
}

static lw_status joint_of(const lwi_urdf *u, const lwi_document_value *v, const char *key,
                          int *joint)
{
    const char *name;
    TRY(string_of(u, v, key, &name));
    *joint = lwi_names_find(&u->joint_names, name);
    return *joint >= 0 ? LW_OK : no_such(u, v, key, "joint", lwi_names_near(&u->joint_names, name));
}

// ---------------------------------------------------------------------------- types of joints

static const lwi_urdf_kind spherical = {.name = "SPHERICAL", .type = LW_JOINT_SPHERICAL};

// UJOINT_AB, letters of two different axes.
static bool is_universal(const char *text, const char **axes)
{
    static const char prefix[] = "UJOINT_", letters[] = "XYZ";
    *axes = strcmp(text, "CARDAN") == 0 ? "XY" : text + strlen(prefix);
    if (strcmp(text, "CARDAN") == 0) return true;
    return strncmp(text, prefix, strlen(prefix)) == 0 && strlen(*axes) == 2 &&
           strchr(letters, (*axes)[0]) && strchr(letters, (*axes)[1]) && (*axes)[0] != (*axes)[1];
}

static lw_status change_joint(const lwi_urdf *u, const lwi_document_value *joint,
                              const lwi_document_value *type)
{
    const char *text, *axes;
    int j;
    TRY(joint_of(u, joint, "joint_name", &j));
    TRY(string_of(u, type, "joint_type", &text));
    lwi_urdf_kind *kind = &u->joints[j].kind;
    if (strcmp(text, "SPHERICAL") == 0)
        *kind = spherical;
    else if (strcmp(text, "FIXED") == 0)
        *kind = (lwi_urdf_kind){.name = "FIXED", .type = LW_JOINT_FIXED};
    else if (is_universal(text, &axes))
        *kind = (lwi_urdf_kind){.name = text, .type = LW_JOINT_UNIVERSAL, .axes = axes};
    else
        return fail(u, type,
                    "joint_type: '%.60s', expected SPHERICAL, FIXED, CARDAN, or UJOINT_AB with two "
                    "different letters of X, Y, Z",
                    text);
    return LW_OK;
}

static lw_status report_unknown_keys(const lwi_urdf *u)
{
    static const char *const known[] = {
        "closed_loop", "type",       "joint_name",    "joint_type",     // example-parallel-robots
        "name_mot",    "closures",   "dependent",     "independent",    // motors; scikit-robot
        "pin_loops",   "ball_loops", "ball_upgrades", "ball_limit_deg", // limits are not enforced
    };
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

static lw_status change_to_balls(const lwi_urdf *u)
{
    const lwi_document_value *names;
    TRY(list_of(u, "ball_upgrades", &names));
    for (int i = 0; names && i < names->count; i++) {
        int j;
        TRY(joint_of(u, names->item[i], "ball_upgrades", &j));
        u->joints[j].kind = spherical;
    }
    return LW_OK;
}

lw_status lwi_urdf_change_joints(lwi_urdf *u)
{
    const lwi_document_value *names, *kinds;
    if (!u->loops) return LW_OK;
    TRY(report_unknown_keys(u));
    TRY(change_to_balls(u));
    TRY(list_of(u, "joint_name", &names));
    TRY(list_of(u, "joint_type", &kinds));
    if (!names && !kinds) return LW_OK;
    if (!names || !kinds)
        return fail(u, names ? names : kinds, "expected joint_name and joint_type together");
    TRY(check_counts(u, names, "joint_name", kinds, "joint_type"));
    for (int i = 0; i < names->count; i++) TRY(change_joint(u, names->item[i], kinds->item[i]));
    return LW_OK;
}

// ---------------------------------------------------------------------------- closed loops

// A joint between two links, in frames of both.
static lw_status add_loop(const lwi_urdf *u, const char *name, lw_joint_type type, const int end[2],
                          const lw_pose frame[2])
{
    if (!name) return no_memory(u->error);
    const lw_joint_desc d = {.name = name,
                             .type = type,
                             .placement = LW_PLACED_FRAMES,
                             .body1 = u->links[end[0]].body,
                             .body2 = u->links[end[1]].body,
                             .frame1 = frame[0],
                             .frame2 = frame[1],
                             .cut = LW_CUT_PREFER,
                             .place = {u->xml->root->line, u->xml->root->column}};
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

static lw_status check_ends(const lwi_urdf *u, const lwi_document_value *v, const char *key,
                            const int end[2])
{
    if (end[0] != end[1]) return LW_OK;
    return fail(u, v, "%s: both frames are of link '%.150s'", key, u->links[end[0]].name);
}

// The link of a frame name: the child of the joint with this name, or the link.
static lw_status frame_of(const lwi_urdf *u, const lwi_document_value *v, int *link)
{
    const char *name;
    TRY(string_of(u, v, "closed_loop", &name));
    const int joint = lwi_names_find(&u->joint_names, name);
    *link = joint >= 0 ? u->joints[joint].child : lwi_names_find(&u->link_names, name);
    if (*link >= 0) return LW_OK;
    const char *const near[] = {lwi_names_near(&u->joint_names, name),
                                lwi_names_near(&u->link_names, name)};
    return no_such(u, v, "closed_loop", "joint or link", lwi_nearest(name, near, 2));
}

// [A, B] of closed_loop: a joint type, 6d or 3d.
static lw_status add_pair(const lwi_urdf *u, const lwi_document_value *pair,
                          const lwi_document_value *type)
{
    int end[2];
    const char *text = "6d";
    if (pair->kind != LWI_DOCUMENT_LIST || pair->count != 2)
        return fail(u, pair, "closed_loop: expected pairs of frames, [A, B]");
    for (int i = 0; i < 2; i++) TRY(frame_of(u, pair->item[i], &end[i]));
    if (type) TRY(string_of(u, type, "type", &text));
    const lwi_joint_type *found = lwi_urdf_loop_type(text);
    if (!found)
        return fail(u, type, "type: '%.60s', expected 6d, 3d, %s", text, lwi_urdf_loop_types);
    TRY(check_ends(u, pair, "closed_loop", end));
    return add_loop(u, lwi_urdf_new_name(u, pair->item[0]->text, pair->item[1]->text), found->id,
                    end, (lw_pose[2]){0});
}

// An entry of closures.
static lw_status add_hinge(const lwi_urdf *u, const lwi_document_value *entry)
{
    static const char list[] = "closures";
    int end[2];
    double A[9], point[3];
    lw_pose frame[2];
    TRY(link_of(u, entry, list, "link_a", &end[0]));
    TRY(link_of(u, entry, list, "link_b", &end[1]));
    TRY(vector_of(u, entry, list, "point", point));
    TRY(axis_of(u, entry, list, A));
    TRY(check_ends(u, entry, list, end));
    for (int i = 0; i < 2; i++) {
        const lwi_urdf_link *l = &u->links[end[i]];
        double F[9], d[3], r[3];
        m3_tmul(F, l->R, A);
        v3_sub(d, point, l->r);
        m3_tmul_v(r, l->R, d);
        frame[i] = lwi_frame_pose(F, r);
    }
    return add_loop(u, lwi_urdf_new_name(u, u->links[end[0]].name, u->links[end[1]].name),
                    LW_JOINT_REVOLUTE, end, frame);
}

// An entry of pin_loops or ball_loops.
static lw_status add_points(const lwi_urdf *u, const lwi_document_value *entry, const char *list,
                            lw_joint_type type)
{
    static const char *const ends[2] = {"parent", "child"},
                             *points[2] = {"parent_xyz", "child_xyz"};
    int end[2];
    double A[9], r[3];
    lw_pose frame[2];
    const lwi_document_value *v = NULL;
    const char *name;
    TRY(entry_of(u, entry, list, "name", &v));
    TRY(string_of(u, v, "name", &name));
    m3_identity(A);
    if (type == LW_JOINT_REVOLUTE) TRY(axis_of(u, entry, list, A));
    for (int i = 0; i < 2; i++) {
        TRY(link_of(u, entry, list, ends[i], &end[i]));
        TRY(vector_of(u, entry, list, points[i], r));
        frame[i] = lwi_frame_pose(A, r);
    }
    TRY(check_ends(u, entry, list, end));
    return add_loop(u, lwi_urdf_new_name(u, name, NULL), type, end, frame);
}

static lw_status add_pairs(const lwi_urdf *u)
{
    const lwi_document_value *loops, *kinds;
    TRY(list_of(u, "closed_loop", &loops));
    TRY(list_of(u, "type", &kinds));
    if (loops && kinds) TRY(check_counts(u, loops, "closed_loop", kinds, "type"));
    for (int i = 0; loops && i < loops->count; i++)
        TRY(add_pair(u, loops->item[i], kinds ? kinds->item[i] : NULL));
    return LW_OK;
}

lw_status lwi_urdf_add_beside(lwi_urdf *u)
{
    const lwi_document_value *hinges, *pins, *balls;
    if (!u->loops) return LW_OK;
    TRY(add_pairs(u));
    TRY(list_of(u, "closures", &hinges));
    TRY(list_of(u, "pin_loops", &pins));
    TRY(list_of(u, "ball_loops", &balls));
    for (int i = 0; hinges && i < hinges->count; i++) TRY(add_hinge(u, hinges->item[i]));
    for (int i = 0; pins && i < pins->count; i++)
        TRY(add_points(u, pins->item[i], "pin_loops", LW_JOINT_REVOLUTE));
    for (int i = 0; balls && i < balls->count; i++)
        TRY(add_points(u, balls->item[i], "ball_loops", LW_JOINT_SPHERICAL));
    return LW_OK;
}
