// equality.c -- the equalities of an MJCF file that close loops, connect, weld and joint, as exact joints
// and couplings.
//
// A connect is a spherical joint; two between the same bodies are a revolute joint through both points.
// A weld is a fixed joint.  A joint equality is a coupling
//     q1 - ref1 = a0 + a1 (q2 - ref2) + a2 (q2 - ref2)^2 + ...
// or, without a second joint, a coordinate with a constant value.
#include "io/mjcf/mjcf.h"

#include "io/frames.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

enum { MAX_TIES = 20000 }; // the search for pairs is quadratic

/** One equality between points or frames of two bodies. */
typedef struct tie {
    const lwi_xml_element *e;
    bool weld;
    int body[2];
    double R[2][9], r[2][3]; ///< frames in the bodies
    int pair;                ///< the connect that makes a revolute joint with this one; -1: none
    bool done;
} tie;

static bool active(const lwi_mjcf *u, const lwi_xml_element *e)
{
    lwi_mjcf_at at = {e, LWI_MJCF_EQUALITY, u->main_class};
    const char *named = lwi_xml_get(e, "class");
    if (named && lwi_mjcf_find_class(u, e, "class", &at.of_class) != LW_OK) return true;
    const char *text = lwi_mjcf_get(u, &at, "active", NULL);
    return !text || strcmp(text, "false") != 0;
}

// ------------------------------------------------------------------------------------------- ties

static lw_status ends_by_sites(const lwi_mjcf *u, tie *t)
{
    static const char *const names[2] = {"site1", "site2"};
    for (int i = 0; i < 2; i++) {
        int site;
        TRY(lwi_mjcf_find(u, t->e, names[i], &u->site_names, "site", &site));
        const lwi_mjcf_site *s = &u->site[site];
        t->body[i] = s->body;
        memcpy(t->R[i], s->R, sizeof t->R[i]);
        v3_copy(t->r[i], s->r);
    }
    return LW_OK;
}

static lw_status ends_by_bodies(const lwi_mjcf *u, tie *t)
{
    TRY(lwi_mjcf_find(u, t->e, "body1", &u->body_names, "body", &t->body[0]));
    t->body[1] = 0;
    if (lwi_xml_get(t->e, "body2"))
        TRY(lwi_mjcf_find(u, t->e, "body2", &u->body_names, "body", &t->body[1]));
    return LW_OK;
}

// Pose (R, r) of one body in the other, as placed by the file.
static void seen_from(const lwi_mjcf *u, int from, int to, const double *R, const double *r,
                      double *S, double *s)
{
    double W[9], w[3];
    lwi_frame_mul(W, w, u->body[from].W, u->body[from].w, R, r);
    lwi_frame_between(S, s, u->body[to].W, u->body[to].w, W, w);
}

static lw_status read_connect(const lwi_mjcf *u, tie *t)
{
    const lwi_mjcf_at at = {t->e, LWI_MJCF_PLAIN, -1};
    int n;
    if (!lwi_xml_get(t->e, "body1") || (lwi_xml_get(t->e, "site1") && !lwi_xml_get(t->e, "anchor")))
        return ends_by_sites(u, t);
    TRY(ends_by_bodies(u, t));
    m3_identity(t->R[0]);
    TRY(lwi_mjcf_numbers(u, &at, "anchor", 3, 3, t->r[0], &n));
    if (!n) return lwi_mjcf_fail(u, t->e, LW_ERR_PARSE, "<connect> has no anchor");
    seen_from(u, t->body[0], t->body[1], t->R[0], t->r[0], t->R[1], t->r[1]);
    return LW_OK;
}

// The anchor, a point of body 2, coincides with the point `pos` of relpose in body 1, with the orientation of relpose;
// if its quaternion is zero, the default, both are as placed by the file.
static lw_status read_weld(const lwi_mjcf *u, tie *t)
{
    const lwi_mjcf_at at = {t->e, LWI_MJCF_PLAIN, -1};
    double pose[7] = {0};
    int n;
    if (!lwi_xml_get(t->e, "body1")) return ends_by_sites(u, t);
    TRY(ends_by_bodies(u, t));
    TRY(lwi_mjcf_numbers(u, &at, "relpose", 7, 7, pose, &n));
    TRY(lwi_mjcf_numbers(u, &at, "anchor", 3, 3, t->r[1], &n));
    m3_identity(t->R[1]);
    if (quat_norm2(pose + 3) == 0) {
        seen_from(u, t->body[1], t->body[0], t->R[1], t->r[1], t->R[0], t->r[0]);
        return LW_OK;
    }
    quat_normalize(pose + 3, pose + 3);
    quat_matrix(t->R[0], pose + 3);
    v3_copy(t->r[0], pose);
    return LW_OK;
}

static lw_body body_of(const lwi_mjcf *u, int body)
{
    return u->body[body].body;
}

// The second of two connects between the same bodies, at another point.
static int partner_of(const tie *ties, int count, int first)
{
    const tie *t = &ties[first];
    for (int i = first + 1; i < count; i++) {
        const tie *o = &ties[i];
        if (o->weld || o->done) continue;
        const bool same = o->body[0] == t->body[0] && o->body[1] == t->body[1];
        const bool swapped = o->body[0] == t->body[1] && o->body[1] == t->body[0];
        if (same || swapped) return i;
    }
    return -1;
}

// A revolute joint through two points: z along the line between them, in both bodies.  If the distances
// differ between the bodies the points cannot coincide; the model reports by how much.
static bool hinge_of(const tie *a, const tie *b, lw_pose frame[2])
{
    for (int i = 0; i < 2; i++) {
        const int k = a->body[0] == b->body[0] ? i : 1 - i;
        double line[3], R[9];
        v3_sub(line, b->r[k], a->r[i]);
        // closer points are the same point twice
        if (v3_norm(line) < 1e-6 || !lwi_frame_to_axis(R, line)) return false;
        frame[i] = lwi_frame_pose(R, a->r[i]);
    }
    return true;
}

static lw_status add_tie(const lwi_mjcf *u, tie *ties, int count, int index)
{
    tie *t = &ties[index];
    const int pair = t->weld ? -1 : partner_of(ties, count, index);
    lw_joint_desc d = {.name = lwi_mjcf_equality_name(u, t->e, t->body[0], index + 1),
                       .type = t->weld ? LW_JOINT_FIXED : LW_JOINT_SPHERICAL,
                       .placement = LW_PLACED_FRAMES,
                       .body1 = body_of(u, t->body[0]),
                       .body2 = body_of(u, t->body[1]),
                       .place = lwi_mjcf_place(u, t->e),
                       .cut = LW_CUT_PREFER};
    lw_pose frame[2];
    if (!d.name) return lwi_mjcf_no_memory(u);
    if (t->body[0] == t->body[1])
        return lwi_mjcf_fail(u, t->e, LW_ERR_MODEL, "<%.40s>: both ends are on one body",
                             t->e->name);
    if (pair >= 0 && hinge_of(t, &ties[pair], frame)) {
        ties[pair].done = true;
        d.type = LW_JOINT_REVOLUTE;
        lwi_mjcf_begin_notes(u, t->e);
        lwi_notes_add(u->notes, t->e, d.name,
                      "note: two connects of the same bodies are one revolute joint");
    } else {
        for (int i = 0; i < 2; i++) frame[i] = lwi_frame_pose(t->R[i], t->r[i]);
    }
    d.frame1 = frame[0];
    d.frame2 = frame[1];
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

// --------------------------------------------------------------------------------------- couplings

// Coefficients in q2 of a polynomial in q2 - x0, plus y0.
static void shift_polynomial(double *c, int n, double x0, double y0)
{
    for (int first = 0; first < n - 1; first++) // Horner's scheme at -x0
        for (int i = n - 2; i >= first; i--) c[i] -= x0 * c[i + 1];
    c[0] += y0;
}

static lw_status scalar_joint(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                              int *index)
{
    TRY(lwi_mjcf_find(u, e, attribute, &u->joint_names, "joint", index));
    const lw_joint_type type = u->joint[*index].desc.type;
    if (type == LW_JOINT_REVOLUTE || type == LW_JOINT_PRISMATIC) return LW_OK;
    return lwi_mjcf_fail(u, e, LW_ERR_MODEL, "<joint %s>: '%.100s' is not a hinge or slide",
                         attribute, lwi_xml_get(e, attribute));
}

// Before the joints are added: sets the motion of constant coordinates, and dependent initial coordinates.
static lw_status prepare_coupling(lwi_mjcf *u, const lwi_xml_element *e)
{
    const lwi_mjcf_at at = {e, LWI_MJCF_PLAIN, -1};
    double c[5] = {0, 1, 0, 0, 0}; // the default of the format
    int follower, leader;
    TRY(scalar_joint(u, e, "joint1", &follower));
    TRY(lwi_mjcf_numbers(u, &at, "polycoef", 1, 5, c, NULL));
    lwi_mjcf_joint *j = &u->joint[follower];
    j->desc.q[0] = j->ref + c[0];
    if (lwi_xml_get(e, "joint2")) return scalar_joint(u, e, "joint2", &leader);
    j->desc.coordinate[0].limits = (lw_limits_desc){0}; // it is held
    const lw_function_desc held = {
        .type = LW_FUNCTION_CONSTANT, .value = j->ref + c[0], .place = lwi_mjcf_place(u, e)};
    return lw_builder_add_function(u->builder, &held, &j->desc.coordinate[0].motion, u->error);
}

static lw_status add_coupling(const lwi_mjcf *u, const lwi_xml_element *e)
{
    const lwi_mjcf_at at = {e, LWI_MJCF_PLAIN, -1};
    double c[5] = {0, 1, 0, 0, 0};
    int follower, leader, n = 5;
    if (!lwi_xml_get(e, "joint2")) return LW_OK;
    TRY(scalar_joint(u, e, "joint1", &follower));
    TRY(scalar_joint(u, e, "joint2", &leader));
    TRY(lwi_mjcf_numbers(u, &at, "polycoef", 1, 5, c, NULL));
    while (n > 1 && c[n - 1] == 0) n--;
    shift_polynomial(c, n, u->joint[leader].ref, u->joint[follower].ref);
    const lw_coupling_desc d = {.joint = u->joint[follower].joint,
                                .of = u->joint[leader].joint,
                                .polynomial = c,
                                .npolynomial = n,
                                .place = lwi_mjcf_place(u, e)};
    return lw_builder_add_coupling(u->builder, &d, u->error);
}

// -------------------------------------------------------------------------------------------- all

static lw_status each_joint_equality(lwi_mjcf *u, bool add)
{
    for (const lwi_xml_element *e = lwi_xml_child(u->xml.root, "equality"); e;
         e = lwi_xml_next(e, "equality"))
        for (const lwi_xml_element *j = lwi_xml_child(e, "joint"); j;
             j = lwi_xml_next(j, "joint")) {
            if (!active(u, j)) continue;
            TRY(add ? add_coupling(u, j) : prepare_coupling(u, j));
        }
    return LW_OK;
}

static lw_status read_ties(lwi_mjcf *u, tie *ties, int *count)
{
    for (const lwi_xml_element *e = lwi_xml_child(u->xml.root, "equality"); e;
         e = lwi_xml_next(e, "equality"))
        for (const lwi_xml_element *t = e->first; t; t = t->next) {
            const bool weld = strcmp(t->name, "weld") == 0;
            if (!weld && strcmp(t->name, "connect") != 0) continue;
            if (!active(u, t)) {
                lwi_mjcf_begin_notes(u, t);
                lwi_notes_add(u->notes, t, lwi_xml_get(t, "name"),
                              "inactive equalities are not read");
                continue;
            }
            tie *one = &ties[(*count)++];
            *one = (tie){.e = t, .weld = weld};
            TRY(weld ? read_weld(u, one) : read_connect(u, one));
        }
    return LW_OK;
}

lw_status lwi_mjcf_add_equalities(lwi_mjcf *u)
{
    int room = 1, count = 0;
    for (const lwi_xml_element *e = lwi_xml_child(u->xml.root, "equality"); e;
         e = lwi_xml_next(e, "equality"))
        for (const lwi_xml_element *t = e->first; t; t = t->next) room++;
    tie *ties = LWI_PUSH(u->arena, tie, room);
    if (!ties) return lwi_mjcf_no_memory(u);
    if (room > MAX_TIES)
        return lwi_mjcf_fail(u, u->xml.root, LW_ERR_PARSE, "more than %d equalities", MAX_TIES);
    TRY(each_joint_equality(u, false));
    TRY(lwi_mjcf_apply_keyframe(u));
    for (int i = 0; i < u->njoint; i++)
        TRY(lw_builder_add_joint(u->builder, &u->joint[i].desc, &u->joint[i].joint, u->error));
    TRY(read_ties(u, ties, &count));
    for (int i = 0; i < count; i++)
        if (!ties[i].done) TRY(add_tie(u, ties, count, i));
    return each_joint_equality(u, true);
}
