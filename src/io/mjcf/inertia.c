// inertia.c -- mass, centre of mass and inertia of the bodies of an MJCF file: from <inertial>, or
// from the geoms as solids.
#include "io/mjcf/mjcf.h"

#include "io/frames.h"
#include "io/solids.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

typedef enum geom_type {
    PLANE,
    HFIELD,
    SPHERE,
    CAPSULE,
    ELLIPSOID,
    CYLINDER,
    BOX,
    MESH,
    SDF
} geom_type;

/** A solid: its frame in the body, half sizes, volume, and the inertia of one kilogram in its axes. */
typedef struct solid {
    geom_type type;
    double R[9], r[3], size[3];
    double volume, unit[3];
    double mass;
    lwi_mjcf_mesh *mesh; ///< its own, or what it is fitted to; NULL: none
} solid;

static const struct {
    const char *name;
    int nsize; ///< number of sizes; with fromto the length is the distance of its points
} types[] = {{"plane", 3},    {"hfield", 0}, {"sphere", 1}, {"capsule", 2}, {"ellipsoid", 3},
             {"cylinder", 2}, {"box", 3},    {"mesh", 0},   {"sdf", 0}};

// --------------------------------------------------------------------------------------- geometry

static lw_status read_type(const lwi_mjcf *u, const lwi_mjcf_at *at, geom_type *type)
{
    const lwi_xml_element *from;
    const char *text = lwi_mjcf_get(u, at, "type", &from);
    *type = SPHERE;
    if (!text) return LW_OK;
    for (int i = 0; i < LWI_COUNT(types); i++)
        if (strcmp(types[i].name, text) == 0) {
            *type = (geom_type)i;
            return LW_OK;
        }
    return lwi_mjcf_fail(u, from, LW_ERR_PARSE,
                         "<geom>: unknown type '%.60s', expected plane, hfield, sphere, capsule, "
                         "ellipsoid, cylinder, box, mesh or sdf",
                         text);
}

// fromto: half the distance of its points is the last size.
static lw_status read_ends(const lwi_mjcf *u, const lwi_mjcf_at *at, solid *s)
{
    double length;
    if (s->type != CAPSULE && s->type != CYLINDER && s->type != BOX && s->type != ELLIPSOID)
        return lwi_mjcf_fail(u, at->e, LW_ERR_PARSE, "<geom fromto>: a %s has no ends",
                             types[s->type].name);
    TRY(lwi_mjcf_ends(u, at, s->R, s->r, &length));
    s->size[1] = s->type == BOX || s->type == ELLIPSOID ? s->size[0] : length / 2;
    s->size[2] = length / 2;
    return LW_OK;
}

static lw_status read_geometry(const lwi_mjcf *u, const lwi_mjcf_part *part, solid *s)
{
    int nsize;
    TRY(read_type(u, &part->at, &s->type));
    TRY(lwi_mjcf_mesh_of(u, &part->at, &s->mesh));
    if (s->type == MESH && !s->mesh)
        return lwi_mjcf_fail(u, part->at.e, LW_ERR_PARSE,
                             "<geom>: a geom of type mesh has no mesh");
    TRY(lwi_mjcf_pose(u, &part->at, s->R, s->r));
    TRY(lwi_mjcf_numbers(u, &part->at, "size", 0, 3, s->size, &nsize));
    // its type may not have the fromto of the defaults
    if (lwi_mjcf_get(u, &part->at, "fromto", NULL) &&
        !(s->type == SPHERE && !lwi_xml_get(part->at.e, "fromto"))) {
        TRY(read_ends(u, &part->at, s));
        nsize = nsize ? 3 : 0;
    }
    lwi_frame_mul(s->R, s->r, part->R, part->r, s->R, s->r);
    if (s->type == PLANE || types[s->type].nsize == 0 || s->mesh) return LW_OK;
    for (int i = 0; i < types[s->type].nsize; i++)
        if (i >= nsize || !(s->size[i] > 0))
            return lwi_mjcf_fail(
                u, part->at.e, LW_ERR_MODEL, "<geom size>: a %s needs %d positive number%s",
                types[s->type].name, types[s->type].nsize, types[s->type].nsize > 1 ? "s" : "");
    return LW_OK;
}

lw_status lwi_mjcf_round_geom(const lwi_mjcf *u, const lwi_mjcf_part *geom, double R[9],
                              double r[3], double *radius, bool *cylinder)
{
    solid s = {.mass = 0};
    TRY(read_geometry(u, geom, &s));
    *cylinder = s.type == CYLINDER;
    *radius = !s.mesh && (s.type == SPHERE || s.type == CYLINDER) ? s.size[0] : 0;
    memcpy(R, s.R, sizeof s.R);
    v3_copy(r, s.r);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- solids

/** What a type is drawn as. */
static const lw_shape_type drawn_as[] = {
    [PLANE] = LW_SHAPE_NONE,      [HFIELD] = LW_SHAPE_NONE,         [SPHERE] = LW_SHAPE_SPHERE,
    [CAPSULE] = LW_SHAPE_CAPSULE, [ELLIPSOID] = LW_SHAPE_ELLIPSOID, [CYLINDER] = LW_SHAPE_CYLINDER,
    [BOX] = LW_SHAPE_BOX,         [MESH] = LW_SHAPE_NONE,           [SDF] = LW_SHAPE_NONE};

// Sizes of the format are half lengths.
static void sizes_of_shape(const solid *s, double *size)
{
    v3_copy(size, s->size);
    if (s->type == BOX) v3_scale(size, 2, size);
    if (s->type == CYLINDER || s->type == CAPSULE) size[1] *= 2;
}

// Volume, and inertia of one kilogram in the axes of the solid; planes and height fields are static.
static void fill(solid *s)
{
    double size[3];
    sizes_of_shape(s, size);
    lwi_solid_of_shape(drawn_as[s->type], size, &s->volume, s->unit);
}

// Sizes of a solid with the inertia of a mesh, or its extent, and its frame, the principal axes of the mesh.
static lw_status fit(const lwi_mjcf *u, const lwi_mjcf_part *part, solid *s)
{
    const lwi_mjcf_mesh *m = s->mesh;
    double *a = s->size, box[3], centre[3], scale = 1;
    TRY(lwi_mjcf_number(u, &part->at, "fitscale", &scale));
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double square =
            6 * (m->principal[i] + m->principal[j] - m->principal[k]) / m->solid.volume;
        box[k] = u->fit_boxes ? (m->high[k] - m->low[k]) / 2 : sqrt(fmax(square, 0)) / 2;
        centre[k] = u->fit_boxes ? (m->high[k] + m->low[k]) / 2 : 0;
    }
    const bool fits = u->fit_boxes;
    v3_copy(a, box);
    if (s->type == SPHERE)
        a[0] = fits ? fmax(fmax(box[0], box[1]), box[2]) : (box[0] + box[1] + box[2]) / 3;
    if (s->type == CAPSULE || s->type == CYLINDER) {
        a[0] = fits ? fmax(box[0], box[1]) : (box[0] + box[1]) / 2;
        a[1] = s->type == CYLINDER ? box[2] : fits ? box[2] - a[0] : fmax(0, box[2] - a[0] / 2);
    }
    v3_scale(a, scale, a);
    m3_mul_v(centre, m->axes, centre);
    v3_add(centre, centre, m->solid.com);
    lwi_frame_mul(s->R, s->r, s->R, s->r, m->axes, centre);
    return LW_OK;
}

static lw_status read_solid(const lwi_mjcf *u, const lwi_mjcf_body *b, const lwi_mjcf_part *part,
                            solid *s, bool *counts)
{
    double density = 1000, group = 0; // the defaults of the format
    int present;
    *s = (solid){.mass = 0};
    TRY(read_geometry(u, part, s));
    TRY(lwi_mjcf_number(u, &part->at, "group", &group));
    TRY(lwi_mjcf_number(u, &part->at, "density", &density));
    TRY(lwi_mjcf_numbers(u, &part->at, "mass", 1, 1, &s->mass, &present));
    *counts = group >= u->group[0] && group <= u->group[1];
    // a mesh that adds no mass is not opened
    if (s->mesh && (!*counts || (present ? s->mass : density) == 0)) *counts = false;
    if (!*counts) return LW_OK;
    if (s->mesh) {
        TRY(lwi_mjcf_solid_of_mesh(u, s->mesh, counts));
        if (!*counts) return lwi_mjcf_mesh_missing(u, b, &part->at, s->mesh);
        if (s->type == MESH || s->type == SDF) {
            double com[3];
            m3_mul_v(com, s->R, s->mesh->solid.com);
            v3_add(s->r, s->r, com);
            s->volume = s->mesh->solid.volume;
        } else {
            TRY(fit(u, part, s));
        }
    }
    if (!s->mesh || (s->type != MESH && s->type != SDF)) fill(s);
    if (!present) s->mass = density * s->volume;
    if (s->mass >= 0 && isfinite(s->mass)) return LW_OK;
    return lwi_mjcf_fail(u, part->at.e, LW_ERR_MODEL, "<geom>: its mass is %g kg", s->mass);
}

// I (xx yy zz xy xz yz) += mass (|d|^2 1 - d d')
static void add_point(double *I, double mass, const double *d)
{
    I[0] += mass * (d[1] * d[1] + d[2] * d[2]);
    I[1] += mass * (d[0] * d[0] + d[2] * d[2]);
    I[2] += mass * (d[0] * d[0] + d[1] * d[1]);
    I[3] -= mass * d[0] * d[1];
    I[4] -= mass * d[0] * d[2];
    I[5] -= mass * d[1] * d[2];
}

// I += mass R J R', with the inertia J of one kilogram of a mesh
static void add_mesh(double *I, const solid *s)
{
    double J[6], K[6];
    for (int k = 0; k < 6; k++) J[k] = s->mesh->solid.inertia[k] / s->volume * s->mass;
    s3_rotate(K, s->R, J);
    for (int k = 0; k < 6; k++) I[k] += K[k];
}

// I += mass R diag(unit) R'
static void add_solid(double *I, const solid *s)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    if (s->mesh && (s->type == MESH || s->type == SDF)) {
        add_mesh(I, s);
        return;
    }
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++)
            I[k] += s->mass * s->R[3 * row[k] + i] * s->unit[i] * s->R[3 * column[k] + i];
}

// ----------------------------------------------------------------------------------------- drawing

// The colour of the geom, or of its material if it has none.
static lw_status read_color(const lwi_mjcf *u, const lwi_mjcf_part *part, lw_shape *shape)
{
    int n;
    TRY(lwi_mjcf_numbers(u, &part->at, "rgba", 4, 4, shape->color, &n));
    const lwi_xml_element *from;
    const char *name = n ? NULL : lwi_mjcf_get(u, &part->at, "material", &from);
    const int i = name ? lwi_names_find(&u->material_names, name) : -1;
    if (i >= 0) TRY(lwi_mjcf_numbers(u, &u->material[i], "rgba", 4, 4, shape->color, &n));
    shape->has_color = n > 0;
    for (int k = 0; k < n; k++) shape->color[k] = fmin(fmax(shape->color[k], 0), 1);
    return LW_OK;
}

// Shapes for drawing: solids with the colour of the geom.  A solid that is fitted to a mesh is drawn as the mesh.
static lw_status take_shape(const lwi_mjcf *u, const lwi_mjcf_part *part, lw_shape *shape)
{
    solid s = {.mass = 0};
    double group = 0;
    TRY(read_geometry(u, part, &s));
    TRY(lwi_mjcf_number(u, &part->at, "group", &group));
    *shape = (lw_shape){.type = LW_SHAPE_NONE, .has_position = 1};
    if (group > u->last_drawn) return LW_OK;
    TRY(read_color(u, part, shape));
    if (s.mesh) return lwi_mjcf_draw_mesh(u, part->at.e, s.mesh, s.R, s.r, shape);
    const lw_pose pose = lwi_frame_pose(s.R, s.r);
    shape->type = drawn_as[s.type];
    shape->position = pose.position;
    shape->orientation = pose.orientation;
    sizes_of_shape(&s, shape->size);
    return LW_OK;
}

static lw_status read_shapes(const lwi_mjcf *u, const lwi_mjcf_body *b, lw_body_desc *d)
{
    int room = 0;
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) room += p->at.kind == LWI_MJCF_GEOM;
    lw_shape *shapes = LWI_PUSH(u->arena, lw_shape, room + 1);
    if (!shapes) return lwi_mjcf_no_memory(u);
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) {
        if (p->at.kind != LWI_MJCF_GEOM) continue;
        TRY(take_shape(u, p, &shapes[d->nshape]));
        d->nshape += shapes[d->nshape].type != LW_SHAPE_NONE;
    }
    d->shapes = shapes;
    return LW_OK;
}

// The groups that MuJoCo's viewer shows at first, 0 to 2; all, if no geom is in them.
lw_status lwi_mjcf_find_groups(lwi_mjcf *u)
{
    enum { SHOWN = 2 };
    u->last_drawn = INFINITY;
    for (int i = 0; i < u->nbody; i++)
        for (const lwi_mjcf_part *p = u->body[i].part; p; p = p->next) {
            double group = 0;
            if (p->at.kind != LWI_MJCF_GEOM) continue;
            TRY(lwi_mjcf_number(u, &p->at, "group", &group));
            if (group <= SHOWN) u->last_drawn = SHOWN;
        }
    return LW_OK;
}

// ------------------------------------------------------------------------------------- from solids

// The solids of the body that add mass.
static lw_status collect_solids(const lwi_mjcf *u, const lwi_mjcf_body *b, solid **list, int *n)
{
    int room = 0;
    bool counts;
    *n = 0;
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) room += p->at.kind == LWI_MJCF_GEOM;
    *list = LWI_PUSH(u->arena, solid, room);
    if (!*list) return lwi_mjcf_no_memory(u);
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) {
        if (p->at.kind != LWI_MJCF_GEOM) continue;
        TRY(read_solid(u, b, p, &(*list)[*n], &counts));
        *n += counts;
    }
    return LW_OK;
}

// Mass and its centre, then the inertia about it.
static lw_status from_geoms(const lwi_mjcf *u, const lwi_mjcf_body *b, lw_body_desc *d)
{
    double mass = 0, c[3] = {0}, I[6] = {0};
    solid *list;
    int n;
    TRY(collect_solids(u, b, &list, &n));
    for (int i = 0; i < n; i++) {
        mass += list[i].mass;
        v3_axpy(c, list[i].mass, list[i].r);
    }
    if (!(mass > 0)) return LW_OK;
    v3_scale(c, 1 / mass, c);
    for (int i = 0; i < n; i++) {
        double offset[3];
        v3_sub(offset, list[i].r, c);
        add_solid(I, &list[i]);
        add_point(I, list[i].mass, offset);
    }
    d->mass = mass;
    d->com = (lw_vec3){c[0], c[1], c[2]};
    memcpy(d->inertia, I, sizeof I);
    return LW_OK;
}

// -------------------------------------------------------------------------------------- <inertial>

static lw_status from_inertial(const lwi_mjcf *u, const lwi_xml_element *e, lw_body_desc *d)
{
    const lwi_mjcf_at at = {e, LWI_MJCF_PLAIN, -1};
    const char *ignored;
    double R[9], r[3];
    int full, diagonal;
    TRY(lwi_xml_need(&u->xml, e, "mass", &ignored, u->error));
    TRY(lwi_xml_need(&u->xml, e, "pos", &ignored, u->error));
    TRY(lwi_mjcf_number(u, &at, "mass", &d->mass));
    TRY(lwi_mjcf_pose(u, &at, R, r));
    TRY(lwi_mjcf_numbers(u, &at, "diaginertia", 3, 3, d->inertia, &diagonal));
    TRY(lwi_mjcf_numbers(u, &at, "fullinertia", 6, 6, d->inertia, &full));
    if (!full == !diagonal)
        return lwi_mjcf_fail(u, e, LW_ERR_PARSE,
                             "<inertial>: expected one of diaginertia and fullinertia");
    const lw_pose pose = lwi_frame_pose(R, r);
    d->com = pose.position;
    d->inertia_axes = pose.orientation;
    return LW_OK;
}

lw_status lwi_mjcf_inertia(const lwi_mjcf *u, lwi_mjcf_body *b)
{
    const lwi_xml_element *inertial = lwi_xml_child(b->e, "inertial");
    TRY(read_shapes(u, b, &b->desc));
    if (inertial && u->from_geom != LWI_MJCF_ALWAYS)
        TRY(from_inertial(u, inertial, &b->desc));
    else if (u->from_geom != LWI_MJCF_NEVER)
        TRY(from_geoms(u, b, &b->desc));
    b->desc.mass = fmax(b->desc.mass, b->parent || b->part ? u->min_mass : 0);
    return LW_OK;
}
