// read.c -- reads MJCF: a tree of bodies with any number of joints each; equalities close loops.
//
// Several joints of a body are in series, the first next to the parent, with massless bodies
// BODY::JOINT between them that have the frame of the body.  A coordinate is `ref` at the poses of the
// file, so F1 is rotated or translated by -ref: coordinates are those of the format.
// What is not read is counted (notes.c) and reported once per kind.
#include "base/assert.h"
#include "io/mjcf/mjcf.h"

#include "io/frames.h"
#include "io/readers.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- settings

static lw_status read_word(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                           const char *const *words, int count, int *value)
{
    const char *text = lwi_xml_get(e, attribute);
    if (!text) return LW_OK;
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0) {
            *value = i;
            return LW_OK;
        }
    return lwi_mjcf_fail(u, e, LW_ERR_PARSE, "<%.40s %.40s>: '%.60s', expected %s or %s", e->name,
                         attribute, text, words[0], words[count - 1]);
}

static lw_status read_euler(lwi_mjcf *u, const lwi_xml_element *e)
{
    const char *text = lwi_xml_get(e, "eulerseq");
    if (!text) return LW_OK;
    if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
        return lwi_mjcf_fail(u, e, LW_ERR_PARSE,
                             "<compiler eulerseq>: '%.60s', expected three of xyzXYZ", text);
    memcpy(u->euler, text, 4);
    return LW_OK;
}

static lw_status read_mesh_settings(lwi_mjcf *u, const lwi_xml_element *e)
{
    static const char *const flags[] = {"false", "true"};
    int strip = u->strip_path, exact = u->exact_meshes, fit = u->fit_boxes;
    const char *all = lwi_xml_get(e, "assetdir"), *folder = lwi_xml_get(e, "meshdir");
    TRY(read_word(u, e, "strippath", flags, 2, &strip));
    TRY(read_word(u, e, "exactmeshinertia", flags, 2, &exact)); // of older versions of the format
    TRY(read_word(u, e, "fitaabb", flags, 2, &fit));
    u->strip_path = strip, u->exact_meshes = exact, u->fit_boxes = fit;
    if (folder || all) u->mesh_folder = folder ? folder : all;
    return LW_OK;
}

static lw_status read_compiler(lwi_mjcf *u, const lwi_xml_element *e)
{
    static const char *const angles[] = {"degree", "radian"}, *const flags[] = {"false", "true"},
                             *const places[] = {"local", "global"};
    const lwi_mjcf_at at = {e, LWI_MJCF_PLAIN, -1};
    int radian = u->unit == 1, global = 0, from_geom = -1, limits = u->auto_limits;
    TRY(read_word(u, e, "angle", angles, 2, &radian));
    TRY(read_word(u, e, "coordinate", places, 2, &global));
    TRY(read_word(u, e, "autolimits", flags, 2, &limits));
    TRY(lwi_mjcf_flag(u, &at, "inertiafromgeom", &from_geom));
    TRY(read_euler(u, e));
    TRY(lwi_mjcf_number(u, &at, "boundmass", &u->min_mass));
    TRY(lwi_mjcf_number(u, &at, "settotalmass", &u->total_mass));
    TRY(lwi_mjcf_numbers(u, &at, "inertiagrouprange", 2, 2, u->group, NULL));
    TRY(read_mesh_settings(u, e));
    u->unit = radian ? 1 : acos(-1) / 180;
    u->auto_limits = limits;
    if (from_geom >= 0)
        u->from_geom = from_geom == LWI_MJCF_FLAG_FALSE  ? LWI_MJCF_NEVER
                       : from_geom == LWI_MJCF_FLAG_TRUE ? LWI_MJCF_ALWAYS
                                                         : LWI_MJCF_AUTO;
    if (!global) return LW_OK;
    return lwi_mjcf_fail(u, e, LW_ERR_UNSUPPORTED,
                         "<compiler coordinate>: global coordinates are not supported; the "
                         "format has removed them");
}

static lw_status read_settings(lwi_mjcf *u)
{
    double g[3] = {0, 0, -9.81}; // the default of the format
    for (const lwi_xml_element *e = lwi_xml_child(u->xml.root, "compiler"); e;
         e = lwi_xml_next(e, "compiler"))
        TRY(read_compiler(u, e));
    for (const lwi_xml_element *e = lwi_xml_child(u->xml.root, "option"); e;
         e = lwi_xml_next(e, "option")) {
        const lwi_mjcf_at at = {e, LWI_MJCF_PLAIN, -1};
        TRY(lwi_mjcf_numbers(u, &at, "gravity", 3, 3, g, NULL));
        const lwi_xml_element *flag = lwi_xml_child(e, "flag");
        const char *gravity = flag ? lwi_xml_get(flag, "gravity") : NULL;
        if (gravity && strcmp(gravity, "disable") == 0) v3_set(g, 0, 0, 0);
    }
    v3_copy(u->gravity, g);
    lw_builder_gravity(u->builder, (lw_vec3){g[0], g[1], g[2]});
    return LW_OK;
}

// ---------------------------------------------------------------------------------- tree of bodies

typedef struct tree_count {
    int body, joint, site;
} tree_count;

// Upper bounds of counts, for arrays.
static void count_below(const lwi_xml_element *parent, tree_count *n)
{
    for (const lwi_xml_element *e = parent->first; e; e = e->next) {
        n->body += strcmp(e->name, "body") == 0;
        n->joint += strcmp(e->name, "joint") == 0 || strcmp(e->name, "freejoint") == 0;
        n->site += strcmp(e->name, "site") == 0;
        count_below(e, n);
    }
}

/** Context of the elements in a body: body, enclosing frame, class. */
typedef struct here {
    int body, of_class;
    double R[9], r[3];
} here;

static lw_status take_child(lwi_mjcf *u, const lwi_xml_element *e, const here *at,
                            lwi_mjcf_part ***end);

static lw_status take_children(lwi_mjcf *u, const lwi_xml_element *parent, const here *at,
                               lwi_mjcf_part ***end)
{
    for (const lwi_xml_element *e = parent->first; e; e = e->next) TRY(take_child(u, e, at, end));
    return LW_OK;
}

static lw_status take_frame(lwi_mjcf *u, const lwi_xml_element *e, const here *at,
                            lwi_mjcf_part ***end)
{
    const lwi_mjcf_at self = {e, LWI_MJCF_PLAIN, -1};
    here inside = *at;
    double R[9], r[3];
    TRY(lwi_mjcf_pose(u, &self, R, r));
    TRY(lwi_mjcf_find_class(u, e, "childclass", &inside.of_class));
    lwi_frame_mul(inside.R, inside.r, at->R, at->r, R, r);
    return take_children(u, e, &inside, end);
}

// Adds a body; the arrays have room for all that were counted.
static lw_status take_body(lwi_mjcf *u, const lwi_xml_element *e, const here *at)
{
    const lwi_mjcf_at self = {e, LWI_MJCF_PLAIN, -1};
    const int index = u->nbody++;
    LWI_ASSERT_INDEX(at->body, index); // parents first
    lwi_mjcf_body *b = &u->body[index];
    const lwi_mjcf_body *parent = &u->body[at->body];
    here inside = {.body = index, .of_class = at->of_class};
    m3_identity(inside.R);
    *b = (lwi_mjcf_body){.name = lwi_xml_get(e, "name"), .e = e, .parent = at->body};
    TRY(lwi_mjcf_number(u, &self, "gravcomp", &b->compensation));
    TRY(lwi_mjcf_pose(u, &self, b->R, b->r));
    lwi_frame_mul(b->R, b->r, at->R, at->r, b->R, b->r);
    lwi_frame_mul(b->W, b->w, parent->W, parent->w, b->R, b->r);
    TRY(lwi_mjcf_find_class(u, e, "childclass", &inside.of_class));
    lwi_mjcf_part **end = &b->part;
    return take_children(u, e, &inside, &end);
}

static lwi_mjcf_kind kind_of(const char *name)
{
    if (strcmp(name, "joint") == 0) return LWI_MJCF_JOINT;
    if (strcmp(name, "geom") == 0) return LWI_MJCF_GEOM;
    return strcmp(name, "site") == 0 ? LWI_MJCF_SITE : LWI_MJCF_PLAIN;
}

static lw_status take_child(lwi_mjcf *u, const lwi_xml_element *e, const here *at,
                            lwi_mjcf_part ***end)
{
    if (strcmp(e->name, "body") == 0) return take_body(u, e, at);
    if (strcmp(e->name, "frame") == 0) return take_frame(u, e, at, end);
    const lwi_mjcf_kind kind = kind_of(e->name);
    const bool free_joint = strcmp(e->name, "freejoint") == 0;
    if (kind == LWI_MJCF_PLAIN && !free_joint) return LW_OK;
    lwi_mjcf_part *part = LWI_PUSH(u->arena, lwi_mjcf_part, 1);
    if (!part) return lwi_mjcf_no_memory(u);
    *part = (lwi_mjcf_part){.at = {e, kind, at->of_class}};
    if (!free_joint) TRY(lwi_mjcf_find_class(u, e, "class", &part->at.of_class));
    memcpy(part->R, at->R, sizeof part->R);
    v3_copy(part->r, at->r);
    **end = part;
    *end = &part->next;
    return LW_OK;
}

static lw_status collect(lwi_mjcf *u)
{
    tree_count n = {1, 0, 0};
    count_below(u->xml.root, &n);
    u->body = LWI_PUSH(u->arena, lwi_mjcf_body, n.body);
    u->joint = LWI_PUSH(u->arena, lwi_mjcf_joint, n.joint + 1);
    u->site = LWI_PUSH(u->arena, lwi_mjcf_site, n.site + 1);
    if (!u->body || !u->joint || !u->site) return lwi_mjcf_no_memory(u);
    here world = {.body = 0, .of_class = u->main_class};
    m3_identity(world.R);
    u->body[0] = (lwi_mjcf_body){.name = "world"};
    m3_identity(u->body[0].W);
    u->nbody = 1;
    lwi_mjcf_part **end = &u->body[0].part;
    for (const lwi_xml_element *e = lwi_xml_child(u->xml.root, "worldbody"); e;
         e = lwi_xml_next(e, "worldbody"))
        TRY(take_children(u, e, &world, &end));
    if (u->nbody > 1) return LW_OK;
    return lwi_mjcf_fail(u, u->xml.root, LW_ERR_MODEL, "there is no <body>");
}

// ------------------------------------------------------------------------------------------ bodies

static void scale_masses(lwi_mjcf *u)
{
    double total = 0;
    for (int i = 1; i < u->nbody; i++) total += u->body[i].desc.mass;
    if (!(u->total_mass > 0) || !(total > 0)) return;
    for (int i = 1; i < u->nbody; i++) {
        lw_body_desc *d = &u->body[i].desc;
        d->mass *= u->total_mass / total;
        for (int k = 0; k < 6; k++) d->inertia[k] *= u->total_mass / total;
    }
}

static lw_status add_bodies(lwi_mjcf *u)
{
    for (int i = 1; i < u->nbody; i++) {
        lwi_mjcf_body *b = &u->body[i];
        lwi_mjcf_begin_notes(u, b->e);
        b->desc = (lw_body_desc){.name = b->desc.name,
                                 .inertia_axes = {1, 0, 0, 0},
                                 .pose = lwi_frame_pose(b->R, b->r),
                                 .inertia_check = LW_INERTIA_WARN, // as the format does
                                 .place = lwi_mjcf_place(u, b->e)};
        TRY(lwi_mjcf_inertia(u, b));
        for (const lwi_mjcf_part *p = b->part; p; p = p->next) {
            if (p->at.kind != LWI_MJCF_GEOM) continue;
            lwi_mjcf_begin_notes(u, p->at.e);
            lwi_notes_add(u->notes, p->at.e, NULL,
                          "contacts are not modelled, there is none between geoms");
        }
    }
    scale_masses(u);
    for (int i = 1; i < u->nbody; i++) {
        lwi_mjcf_body *b = &u->body[i];
        b->desc.in = u->body[b->parent].body;
        TRY(lw_builder_add_body(u->builder, &b->desc, &b->body, u->error));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ joints

static lw_status read_joint_type(const lwi_mjcf *u, const lwi_mjcf_at *at, lw_joint_type *type)
{
    const lwi_xml_element *from;
    *type = LW_JOINT_REVOLUTE;
    if (strcmp(at->e->name, "freejoint") == 0) {
        *type = LW_JOINT_FREE;
        return LW_OK;
    }
    const char *text = lwi_mjcf_get(u, at, "type", &from);
    if (!text) return LW_OK;
    const char *name;
    const lwi_joint_type *found = lwi_joint_named(LWI_NAMES_MJCF, text, &name);
    if (found) {
        *type = found->id;
        return LW_OK;
    }
    return lwi_mjcf_fail(u, from, LW_ERR_PARSE,
                         "<joint>: unknown type '%.60s', expected hinge, slide, ball or free",
                         text);
}

static bool in_effect(const lwi_mjcf *u, int present, int limited)
{
    return present &&
           (limited == LWI_MJCF_FLAG_TRUE || (limited == LWI_MJCF_FLAG_AUTO && u->auto_limits));
}

static lw_status read_limits(const lwi_mjcf *u, const lwi_mjcf_at *at, double unit,
                             lwi_mjcf_joint *j)
{
    lw_limits_desc *limits = &j->desc.coordinate[0].limits;
    int n, limited = LWI_MJCF_FLAG_AUTO;
    TRY(lwi_mjcf_numbers(u, at, "range", 2, 2, j->range, &n));
    TRY(lwi_mjcf_flag(u, at, "limited", &limited));
    for (int k = 0; k < 2; k++) j->range[k] *= unit;
    if (!in_effect(u, n, limited)) return LW_OK;
    const bool enforced = u->desc->limits.stiffness > 0 || u->desc->limits_time > 0;
    if (!enforced)
        lwi_notes_add(u->notes, at->e, lwi_xml_get(at->e, "name"),
                      "limits are not enforced, joints");
    if (!enforced && !(j->range[0] < j->range[1])) return LW_OK; // only a range is of use
    *limits = u->desc->limits;
    limits->has_lower = limits->has_upper = 1;
    limits->lower = j->range[0];
    limits->upper = j->range[1];
    return LW_OK;
}

static lw_status read_effort_range(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_joint *j)
{
    int n, limited = LWI_MJCF_FLAG_AUTO;
    TRY(lwi_mjcf_numbers(u, at, "actuatorfrcrange", 2, 2, j->effort_range, &n));
    TRY(lwi_mjcf_flag(u, at, "actuatorfrclimited", &limited));
    j->has_effort_range = in_effect(u, n, limited);
    if (!j->has_effort_range || j->effort_range[0] <= j->effort_range[1]) return LW_OK;
    return lwi_mjcf_fail(u, at->e, LW_ERR_MODEL,
                         "<joint actuatorfrcrange>: [%g, %g], expected lower <= upper",
                         j->effort_range[0], j->effort_range[1]);
}

// Quadratic and cubic parts of a spring and a damper, a formula: -(b x^2 + c x^3) - (e v |v| + f v^3).
static lw_status add_polynomials(const lwi_mjcf *u, lwi_mjcf_joint *j, const double *spring,
                                 const double *damper)
{
    char name[2 * 256 + 4], text[8 * sizeof name];
    lw_coordinate_desc *c = &j->desc.coordinate[0];
    if (spring[1] == 0 && spring[2] == 0 && damper[1] == 0 && damper[2] == 0) return LW_OK;
    lwi_mjcf_quote(name, sizeof name, j->desc.name);
    snprintf(text, sizeof text,
             "-(%.17g)*(%s.q0 - (%.17g))^2 - (%.17g)*(%s.q0 - (%.17g))^3 - "
             "(%.17g)*%s.qd0*abs(%s.qd0) - (%.17g)*%s.qd0^3",
             spring[1], name, j->spring_at, spring[2], name, j->spring_at, damper[1], name, name,
             damper[2], name);
    const lw_function_desc d = {
        .type = LW_FUNCTION_FORMULA, .formula = text, .place = j->desc.place};
    return lw_builder_add_function(u->builder, &d, &c->force, u->error);
}

static lw_status check_losses(const lwi_mjcf *u, const lwi_mjcf_at *at, double damping, double loss)
{
    if (damping >= 0 && loss >= 0) return LW_OK;
    return lwi_mjcf_fail(u, at->e, LW_ERR_MODEL, "<joint>: %s is %g, expected a number >= 0",
                         damping < 0 ? "damping" : "frictionloss", damping < 0 ? damping : loss);
}

// Spring, damper, armature and limits of a hinge or slide.
static lw_status read_coordinate(const lwi_mjcf *u, const lwi_mjcf_at *at, double unit,
                                 lwi_mjcf_joint *j)
{
    lw_coordinate_desc *c = &j->desc.coordinate[0];
    double loss = 0, spring[3] = {0}, damper[3] = {0};
    TRY(lwi_mjcf_numbers(u, at, "damping", 1, 3, damper, NULL));
    TRY(lwi_mjcf_numbers(u, at, "stiffness", 1, 3, spring, NULL));
    TRY(lwi_mjcf_number(u, at, "springref", &j->spring_at));
    TRY(lwi_mjcf_number(u, at, "frictionloss", &loss));
    TRY(lwi_mjcf_number(u, at, "armature", &c->rotor));
    j->spring_at *= unit;
    TRY(lwi_mjcf_read_springdamper(u, at, j));
    if (j->spring_time > 0) damper[0] = spring[0] = 0; // replaced
    c->damping = damper[0];
    c->stiffness = spring[0];
    c->at = c->stiffness != 0 ? j->spring_at : 0;
    TRY(check_losses(u, at, c->damping, loss));
    lwi_notes_friction(u->notes, at->e, lwi_xml_get(at->e, "name"), loss, &c->friction);
    TRY(add_polynomials(u, j, spring, damper));
    TRY(read_effort_range(u, at, j));
    return read_limits(u, at, unit, j);
}

// A free joint's armature is a body without weight that moves along: its kinetic energy is that of the armature,
// (|v|^2 + |w|^2) armature / 2.
static lw_status add_armature(const lwi_mjcf *u, const lwi_mjcf_joint *j, double armature)
{
    const lwi_mjcf_body *b = &u->body[j->body];
    char name[128]; // as BODY::JOINT, add_between
    lw_body body;
    snprintf(name, sizeof name, "%.100s::armature", b->desc.name);
    const lw_body_desc d = {.name = name,
                            .mass = armature,
                            .inertia = {armature, armature, armature},
                            .in = b->body,
                            .place = j->desc.place};
    TRY(lw_builder_add_body(u->builder, &d, &body, u->error));
    const lw_joint_desc fixed = {.name = lwi_mjcf_joint_name(u, j->body, "armature", 1),
                                 .type = LW_JOINT_FIXED,
                                 .placement = LW_PLACED_FRAMES,
                                 .body1 = b->body,
                                 .body2 = body,
                                 .place = j->desc.place};
    if (!fixed.name) return lwi_mjcf_no_memory(u);
    TRY(lw_builder_add_joint(u->builder, &fixed, NULL, u->error));
    const double *g = u->gravity;
    const lw_wrench_desc up = {.name = name,
                               .body = body,
                               .force = {-armature * g[0], -armature * g[1], -armature * g[2]},
                               .place = j->desc.place};
    return lw_builder_add_wrench(u->builder, &up, u->error);
}

// Ball and free joints: isotropic damping and spring, friction of each speed.
static lw_status read_isotropic(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_joint *j)
{
    double armature = 0, loss = 0, spring[3] = {0}, damper[3] = {0}, range[2] = {0};
    const char *name = lwi_xml_get(at->e, "name");
    const bool is_free = j->desc.type == LW_JOINT_FREE;
    int n, limited = LWI_MJCF_FLAG_AUTO;
    TRY(lwi_mjcf_numbers(u, at, "damping", 1, 3, damper, NULL));
    TRY(lwi_mjcf_numbers(u, at, "stiffness", 1, 3, spring, NULL));
    TRY(lwi_mjcf_number(u, at, "armature", &armature));
    TRY(lwi_mjcf_number(u, at, "frictionloss", &loss));
    TRY(lwi_mjcf_numbers(u, at, "range", 1, 2, range, &n));
    TRY(lwi_mjcf_flag(u, at, "limited", &limited));
    TRY(check_losses(u, at, damper[0], loss));
    TRY(lwi_mjcf_read_springdamper(u, at, j));
    j->desc.damping = damper[0];
    j->stiffness = spring[0];
    if (spring[1] != 0 || spring[2] != 0 || damper[1] != 0 || damper[2] != 0)
        lwi_notes_add(u->notes, at->e, name,
                      "quadratic and cubic springs and dampers of ball and free joints are not "
                      "used, joints");
    lwi_notes_friction(u->notes, at->e, name, loss, &j->desc.coordinate[0].friction);
    for (int k = 1; k < (is_free ? 6 : 3); k++)
        j->desc.coordinate[k].friction = j->desc.coordinate[0].friction;
    if (!is_free && in_effect(u, n, limited))
        lwi_notes_add(u->notes, at->e, name, "limits of ball joints are not enforced, joints");
    if (armature == 0 || (is_free && u->desc->base == LW_BASE_FIXED)) return LW_OK;
    if (is_free) return add_armature(u, j, armature);
    lwi_notes_add(u->notes, at->e, name, "armature of ball joints is not used, joints");
    return LW_OK;
}

// Joint frame in the body: z along the axis, through the anchor.
static lw_status read_frame(const lwi_mjcf *u, const lwi_mjcf_part *part, lw_joint_type type,
                            double *A, double *p)
{
    double axis[3] = {0, 0, 1};
    v3_set(p, 0, 0, 0);
    TRY(lwi_mjcf_numbers(u, &part->at, "pos", 3, 3, p, NULL));
    TRY(lwi_mjcf_numbers(u, &part->at, "axis", 3, 3, axis, NULL));
    m3_identity(A);
    if (type == LW_JOINT_FREE) {
        v3_set(p, 0, 0, 0);
        return LW_OK;
    }
    if (type != LW_JOINT_SPHERICAL && !lwi_frame_to_axis(A, axis))
        return lwi_mjcf_fail(u, part->at.e, LW_ERR_MODEL, "<joint axis>: the zero vector");
    lwi_frame_mul(A, p, part->R, part->r, A, p);
    return LW_OK;
}

// Rotates or translates F1 by -ref: at coordinate `ref` the poses are those of the file.
static void apply_ref(lw_joint_type type, double ref, double *A, double *p)
{
    double turn[9], shift[3] = {0, 0, 0};
    m3_identity(turn);
    if (type == LW_JOINT_REVOLUTE) rot_z(turn, cos(ref), -sin(ref));
    if (type == LW_JOINT_PRISMATIC) shift[2] = -ref;
    lwi_frame_mul(A, p, A, p, turn, shift);
}

/** State of adding the joints of a body in series: the next starts at `before`, (R, r) is the pose of the body in
 *  it. */
typedef struct chain {
    lw_body before;
    double R[9], r[3];
} chain;

static lw_status place_joint(const lwi_mjcf *u, const lwi_mjcf_part *part, lwi_mjcf_joint *j,
                             const chain *c)
{
    const bool scalar = j->desc.type == LW_JOINT_REVOLUTE || j->desc.type == LW_JOINT_PRISMATIC;
    const double unit = j->desc.type == LW_JOINT_REVOLUTE ? u->unit : 1;
    int compensated = LWI_MJCF_FLAG_FALSE;
    double A[9], p[3];
    TRY(lwi_mjcf_flag(u, &part->at, "actuatorgravcomp", &compensated));
    j->compensated = compensated == LWI_MJCF_FLAG_TRUE;
    TRY(read_frame(u, part, j->desc.type, A, p));
    j->desc.frame2 = lwi_frame_pose(A, p);
    if (scalar) {
        TRY(lwi_mjcf_number(u, &part->at, "ref", &j->ref));
        j->ref *= unit;
        TRY(read_coordinate(u, &part->at, unit, j));
        j->desc.has_q = 1;
        j->desc.q[0] = j->ref;
        apply_ref(j->desc.type, j->ref, A, p);
    } else if (strcmp(part->at.e->name, "joint") == 0) {
        TRY(read_isotropic(u, &part->at, j));
    }
    if (j->desc.type == LW_JOINT_FREE) { // from the world: its coordinates are the pose of the body
        m3_identity(A);
        v3_set(p, 0, 0, 0);
    } else {
        lwi_frame_mul(A, p, c->R, c->r, A, p);
    }
    j->desc.frame1 = lwi_frame_pose(A, p);
    return LW_OK;
}

static lw_status check_free(const lwi_mjcf *u, const lwi_mjcf_body *b, const lwi_mjcf_part *part,
                            int njoint)
{
    if (b->parent)
        return lwi_mjcf_fail(u, part->at.e, LW_ERR_MODEL,
                             "body '%.100s': a free joint is allowed in bodies of the world only",
                             b->name ? b->name : "");
    if (njoint > 1)
        return lwi_mjcf_fail(u, part->at.e, LW_ERR_MODEL,
                             "body '%.100s': a free joint cannot be combined with another joint",
                             b->name ? b->name : "");
    return LW_OK;
}

// Adds a massless body between two joints of a body, with its pose.
static lw_status add_between(const lwi_mjcf *u, const lwi_mjcf_body *b, const lwi_mjcf_joint *j,
                             int number, lw_body *between)
{
    char name[2 * 100 + 32];
    if (j->name)
        snprintf(name, sizeof name, "%.100s::%.100s", b->desc.name, j->name);
    else
        snprintf(name, sizeof name, "%.100s::%d", b->desc.name, number);
    const lw_body_desc d = {
        .name = name, .pose = b->desc.pose, .in = b->desc.in, .place = j->desc.place};
    return lw_builder_add_body(u->builder, &d, between, u->error);
}

static int count_joints(const lwi_mjcf_body *b)
{
    int count = 0;
    for (const lwi_mjcf_part *p = b->part; p; p = p->next)
        count += p->at.kind == LWI_MJCF_JOINT || strcmp(p->at.e->name, "freejoint") == 0;
    return count;
}

static lw_status add_chain(lwi_mjcf *u, int body)
{
    const lwi_mjcf_body *b = &u->body[body];
    chain c = {.before = b->desc.in};
    int left = count_joints(b), number = 0;
    memcpy(c.R, b->R, sizeof c.R);
    v3_copy(c.r, b->r);
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) {
        if (p->at.kind != LWI_MJCF_JOINT && strcmp(p->at.e->name, "freejoint") != 0) continue;
        LWI_ASSERT(left > 0);
        lwi_mjcf_joint *j = &u->joint[u->njoint++];
        *j = (lwi_mjcf_joint){.name = lwi_xml_get(p->at.e, "name"), .e = p->at.e, .body = body};
        const bool is_free = strcmp(p->at.e->name, "freejoint") == 0;
        const char *joint =
            j->name ? j->name
                    : lwi_mjcf_joint_name(u, body, is_free ? "free" : "joint", number + 1);
        if (!joint) return lwi_mjcf_no_memory(u);
        j->desc = (lw_joint_desc){.name = joint,
                                  .placement = LW_PLACED_FRAMES,
                                  .body1 = c.before,
                                  .body2 = b->body,
                                  .place = lwi_mjcf_place(u, p->at.e)};
        lwi_mjcf_begin_notes(u, p->at.e);
        TRY(read_joint_type(u, &p->at, &j->desc.type));
        if (j->desc.type == LW_JOINT_FREE) TRY(check_free(u, b, p, count_joints(b)));
        TRY(place_joint(u, p, j, &c));
        if (j->desc.type == LW_JOINT_FREE && u->desc->base == LW_BASE_FIXED)
            j->desc = (lw_joint_desc){.name = joint,
                                      .type = LW_JOINT_FIXED,
                                      .body2 = b->body,
                                      .placement = LW_PLACED_FRAMES,
                                      .frame1 = b->desc.pose,
                                      .place = j->desc.place};
        if (--left > 0) {
            TRY(add_between(u, b, j, ++number, &j->desc.body2));
            c.before = j->desc.body2;
            m3_identity(c.R);
            v3_set(c.r, 0, 0, 0);
        }
    }
    return LW_OK;
}

static lw_status fix_to_parent(const lwi_mjcf *u, int body)
{
    const lwi_mjcf_body *b = &u->body[body];
    const char *mocap = lwi_xml_get(b->e, "mocap");
    if (mocap && strcmp(mocap, "true") == 0) {
        lwi_mjcf_begin_notes(u, b->e);
        lwi_notes_add(u->notes, b->e, b->name, "bodies moved by motion capture are fixed");
    }
    const char *name = lwi_mjcf_joint_name(u, body, "fixed", 1);
    if (!name) return lwi_mjcf_no_memory(u);
    const lw_joint_desc d = {.name = name,
                             .type = LW_JOINT_FIXED,
                             .placement = LW_PLACED_FRAMES,
                             .body1 = b->desc.in,
                             .body2 = b->body,
                             .frame1 = b->desc.pose,
                             .place = lwi_mjcf_place(u, b->e)};
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

// ------------------------------------------------------------------------------------ sites, names

static lw_status gather_names(lwi_mjcf *u)
{
    if (lwi_names_create(u->nbody, u->arena, &u->body_names) != LW_OK ||
        lwi_names_create(u->njoint, u->arena, &u->joint_names) != LW_OK ||
        lwi_names_create(u->nsite, u->arena, &u->site_names) != LW_OK)
        return lwi_mjcf_no_memory(u);
    for (int i = 0; i < u->nbody; i++) lwi_names_add(&u->body_names, u->body[i].name, i);
    for (int i = 0; i < u->njoint; i++) lwi_names_add(&u->joint_names, u->joint[i].name, i);
    for (int i = 0; i < u->nsite; i++) lwi_names_add(&u->site_names, u->site[i].name, i);
    lwi_names_sort(&u->body_names);
    lwi_names_sort(&u->joint_names);
    lwi_names_sort(&u->site_names);
    return LW_OK;
}

static lw_status read_sites(lwi_mjcf *u)
{
    double length; // for drawing
    for (int i = 0; i < u->nbody; i++)
        for (const lwi_mjcf_part *p = u->body[i].part; p; p = p->next) {
            if (p->at.kind != LWI_MJCF_SITE) continue;
            lwi_mjcf_site *s = &u->site[u->nsite++];
            *s = (lwi_mjcf_site){.name = lwi_xml_get(p->at.e, "name"), .e = p->at.e, .body = i};
            TRY(lwi_mjcf_pose(u, &p->at, s->R, s->r));
            TRY(lwi_mjcf_ends(u, &p->at, s->R, s->r, &length));
            lwi_frame_mul(s->R, s->r, p->R, p->r, s->R, s->r);
            if (!s->name) continue;
            const lw_marker_desc d = {.name = s->name,
                                      .body = u->body[i].body,
                                      .pose = lwi_frame_pose(s->R, s->r),
                                      .place = lwi_mjcf_place(u, s->e)};
            TRY(lw_builder_add_marker(u->builder, &d, u->error));
        }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ forces

bool lwi_mjcf_compensating(const lwi_mjcf *u, const lwi_mjcf_body *b, double f[3])
{
    v3_scale(f, -b->compensation * b->desc.mass, u->gravity);
    return v3_norm(f) > 0;
}

static lw_status add_compensation(const lwi_mjcf *u, const lwi_mjcf_body *b)
{
    double f[3];
    if (!lwi_mjcf_compensating(u, b, f)) return LW_OK;
    const lw_wrench_desc w = {.name = lwi_mjcf_force_name(u, b->desc.name, "gravcomp"),
                              .body = b->body,
                              .point = b->desc.com,
                              .force = {f[0], f[1], f[2]},
                              .place = lwi_mjcf_place(u, b->e)};
    if (!w.name) return lwi_mjcf_no_memory(u);
    return lw_builder_add_wrench(u->builder, &w, u->error);
}

// The spring of a ball or free joint, at rest as placed by the file.
static lw_status add_spring(const lwi_mjcf *u, const lwi_mjcf_joint *j)
{
    const double k = j->stiffness, along = j->desc.type == LW_JOINT_FREE ? k : 0;
    const lw_bushing_desc d = {.name = lwi_mjcf_force_name(u, j->desc.name, "spring"),
                               .body1 = j->desc.body1,
                               .body2 = j->desc.body2,
                               .frame1 = along != 0 ? u->body[j->body].desc.pose : j->desc.frame1,
                               .frame2 = j->desc.frame2,
                               .stiffness = {along, along, along, k, k, k},
                               .place = j->desc.place};
    if (!d.name) return lwi_mjcf_no_memory(u);
    return lw_builder_add_bushing(u->builder, &d, u->error);
}

static lw_status add_body_forces(const lwi_mjcf *u)
{
    for (int i = 1; i < u->nbody; i++) TRY(add_compensation(u, &u->body[i]));
    for (int i = 0; i < u->njoint; i++)
        if (u->joint[i].stiffness != 0 && u->joint[i].desc.type != LW_JOINT_FIXED)
            TRY(add_spring(u, &u->joint[i]));
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- file

static lw_status add_joints(lwi_mjcf *u)
{
    for (int i = 1; i < u->nbody; i++) {
        if (count_joints(&u->body[i]))
            TRY(add_chain(u, i));
        else
            TRY(fix_to_parent(u, i));
    }
    for (const lwi_mjcf_part *p = u->body[0].part; p; p = p->next)
        if (p->at.kind == LWI_MJCF_JOINT || strcmp(p->at.e->name, "freejoint") == 0)
            return lwi_mjcf_fail(u, p->at.e, LW_ERR_MODEL, "the world has no joints");
    return LW_OK;
}

static lw_status read_model(lwi_mjcf *u)
{
    if (strcmp(u->xml.root->name, "mujoco") != 0)
        return lwi_mjcf_fail(u, u->xml.root, LW_ERR_PARSE,
                             "the file starts with <%.80s>, expected <mujoco>", u->xml.root->name);
    TRY(lwi_mjcf_include(u));
    TRY(lwi_mjcf_survey(u));
    TRY(read_settings(u));
    TRY(lwi_mjcf_read_classes(u));
    TRY(lwi_mjcf_read_meshes(u));
    TRY(collect(u));
    TRY(lwi_mjcf_find_groups(u));
    TRY(lwi_mjcf_make_names(u));
    TRY(add_bodies(u));
    TRY(add_joints(u));
    TRY(read_sites(u));
    TRY(gather_names(u));
    TRY(lwi_mjcf_read_actuators(u));
    TRY(lwi_mjcf_add_equalities(u));
    TRY(lwi_mjcf_add_actuators(u));
    TRY(lwi_mjcf_set_springdampers(u));
    TRY(add_body_forces(u));
    return lwi_notes_report(u->notes, u->builder);
}

lw_status lwi_read_mjcf(const char *text, size_t length, const char *name, const lw_read_desc *desc,
                        lw_builder *builder, lw_options *options, lw_error *error)
{
    (void)options; // the settings of the file are for MuJoCo
    lwi_mjcf u = {.builder = builder,
                  .error = error,
                  .desc = desc,
                  .unit = acos(-1) / 180,
                  .euler = "xyz",
                  .auto_limits = true,
                  .mesh_folder = "",
                  .group = {0, 5}};
    TRY(lwi_xml_parse(&u.xml, text, length, name, desc->allocator, error));
    u.arena = &u.xml.arena;
    u.notes = LWI_PUSH(u.arena, lwi_notes, 1);
    const lw_status status = u.notes ? read_model(&u) : lwi_mjcf_no_memory(&u);
    for (int i = u.nincluded - 1; i >= 0; i--) lwi_xml_free(&u.included[i]);
    lwi_xml_free(&u.xml);
    return status;
}
