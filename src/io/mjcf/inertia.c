// inertia.c -- mass, centre of mass and inertia of the bodies of an MJCF file: from <inertial>, or
// from the geoms as solids.
#include "io/mjcf/mjcf.h"

#include "io/frames.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

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
    TRY(lwi_mjcf_pose(u, &part->at, s->R, s->r));
    TRY(lwi_mjcf_numbers(u, &part->at, "size", 0, 3, s->size, &nsize));
    // its type may not have the fromto of the defaults
    if (lwi_mjcf_get(u, &part->at, "fromto", NULL) &&
        !(s->type == SPHERE && !lwi_xml_get(part->at.e, "fromto"))) {
        TRY(read_ends(u, &part->at, s));
        nsize = nsize ? 3 : 0;
    }
    lwi_frame_mul(s->R, s->r, part->R, part->r, s->R, s->r);
    if (s->type == PLANE || types[s->type].nsize == 0 || lwi_mjcf_get(u, &part->at, "mesh", NULL))
        return LW_OK;
    for (int i = 0; i < types[s->type].nsize; i++)
        if (i >= nsize || !(s->size[i] > 0))
            return lwi_mjcf_fail(
                u, part->at.e, LW_ERR_MODEL, "<geom size>: a %s needs %d positive number%s",
                types[s->type].name, types[s->type].nsize, types[s->type].nsize > 1 ? "s" : "");
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- solids

// A cylinder with hemispheres at its ends, size: [r, half the length of the cylinder].
static void fill_capsule(solid *s)
{
    const double r = s->size[0], h = 2 * s->size[1];
    s->volume = PI * r * r * (h + 4 * r / 3);
    const double ball = 4 * r / (4 * r + 3 * h), rod = 1 - ball;
    const double along = rod * r * r / 2 + ball * 2 * r * r / 5;
    const double across =
        rod * (3 * r * r + h * h) / 12 + ball * (2 * r * r / 5 + h * h / 4 + 3 * h * r / 8);
    v3_set(s->unit, across, across, along);
}

// Volume, and inertia of one kilogram in the axes of the solid.
static void fill(solid *s)
{
    const double *a = s->size;
    switch (s->type) {
    case SPHERE:
        s->volume = 4 * PI / 3 * a[0] * a[0] * a[0];
        v3_set(s->unit, 0.4 * a[0] * a[0], 0.4 * a[0] * a[0], 0.4 * a[0] * a[0]);
        return;
    case CAPSULE:
        fill_capsule(s);
        return;
    case CYLINDER: {
        const double h = 2 * a[1], across = (3 * a[0] * a[0] + h * h) / 12;
        s->volume = PI * a[0] * a[0] * h;
        v3_set(s->unit, across, across, a[0] * a[0] / 2);
        return;
    }
    case ELLIPSOID:
    case BOX: {
        const double part = s->type == BOX ? 3 : 5; // factor of the squares of the half axes
        s->volume = (s->type == BOX ? 8 : 4 * PI / 3) * a[0] * a[1] * a[2];
        v3_set(s->unit, (a[1] * a[1] + a[2] * a[2]) / part, (a[0] * a[0] + a[2] * a[2]) / part,
               (a[0] * a[0] + a[1] * a[1]) / part);
        return;
    }
    default:
        s->volume = 0;
        return; // planes and height fields are static; meshes are not read
    }
}

static lw_status read_solid(const lwi_mjcf *u, const lwi_mjcf_part *part, solid *s, bool *counts)
{
    double density = 1000, group = 0; // the defaults of the format
    int present;
    *s = (solid){.mass = 0};
    TRY(read_geometry(u, part, s));
    TRY(lwi_mjcf_number(u, &part->at, "group", &group));
    TRY(lwi_mjcf_number(u, &part->at, "density", &density));
    TRY(lwi_mjcf_numbers(u, &part->at, "mass", 1, 1, &s->mass, &present));
    *counts = group >= u->group[0] && group <= u->group[1];
    if (lwi_mjcf_get(u, &part->at, "mesh", NULL)) s->type = MESH;
    fill(s);
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

// I += mass R diag(unit) R'
static void add_solid(double *I, const solid *s)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++)
            I[k] += s->mass * s->R[3 * row[k] + i] * s->unit[i] * s->R[3 * column[k] + i];
}

// Shapes for drawing: solids with the colour of the geom.
static lw_status take_shape(const lwi_mjcf *u, const lwi_mjcf_part *part, const solid *s,
                            lw_shape *shape)
{
    static const lw_shape_type drawn[] = {[PLANE] = LW_SHAPE_NONE,
                                          [HFIELD] = LW_SHAPE_NONE,
                                          [SPHERE] = LW_SHAPE_SPHERE,
                                          [CAPSULE] = LW_SHAPE_CAPSULE,
                                          [ELLIPSOID] = LW_SHAPE_ELLIPSOID,
                                          [CYLINDER] = LW_SHAPE_CYLINDER,
                                          [BOX] = LW_SHAPE_BOX,
                                          [MESH] = LW_SHAPE_NONE,
                                          [SDF] = LW_SHAPE_NONE};
    const lw_pose pose = lwi_frame_pose(s->R, s->r);
    int n;
    *shape = (lw_shape){.type = drawn[s->type],
                        .has_position = 1,
                        .position = pose.position,
                        .orientation = pose.orientation};
    memcpy(shape->size, s->size, sizeof shape->size);
    if (shape->type == LW_SHAPE_BOX) v3_scale(shape->size, 2, shape->size);
    if (shape->type == LW_SHAPE_CYLINDER || shape->type == LW_SHAPE_CAPSULE) shape->size[1] *= 2;
    TRY(lwi_mjcf_numbers(u, &part->at, "rgba", 4, 4, shape->color, &n));
    shape->has_color = n > 0;
    for (int i = 0; i < n; i++) shape->color[i] = fmin(fmax(shape->color[i], 0), 1);
    return LW_OK;
}

static lw_status read_shapes(const lwi_mjcf *u, const lwi_mjcf_body *b, lw_body_desc *d)
{
    int room = 0;
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) room += p->at.kind == LWI_MJCF_GEOM;
    lw_shape *shapes = LWI_PUSH(u->arena, lw_shape, room + 1);
    if (!shapes) return lwi_mjcf_no_memory(u);
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) {
        solid s;
        bool counts;
        if (p->at.kind != LWI_MJCF_GEOM) continue;
        TRY(read_solid(u, p, &s, &counts));
        TRY(take_shape(u, p, &s, &shapes[d->nshape]));
        d->nshape += shapes[d->nshape].type != LW_SHAPE_NONE;
    }
    d->shapes = shapes;
    return LW_OK;
}

// Two passes over the geoms: mass and its centre, then the inertia about it.
static lw_status from_geoms(const lwi_mjcf *u, const lwi_mjcf_body *b, lw_body_desc *d)
{
    double mass = 0, c[3] = {0}, I[6] = {0};
    solid s;
    bool counts;
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) {
        if (p->at.kind != LWI_MJCF_GEOM) continue;
        TRY(read_solid(u, p, &s, &counts));
        if (counts && s.type == MESH) {
            lwi_mjcf_begin_notes(u, p->at.e);
            lwi_notes_add(u->notes, p->at.e, b->name,
                          "meshes are not read and have no inertia, bodies without <inertial>");
        }
        if (!counts || s.type == MESH) continue;
        mass += s.mass;
        v3_axpy(c, s.mass, s.r);
    }
    if (!(mass > 0)) return LW_OK;
    v3_scale(c, 1 / mass, c);
    for (const lwi_mjcf_part *p = b->part; p; p = p->next) {
        if (p->at.kind != LWI_MJCF_GEOM) continue;
        TRY(read_solid(u, p, &s, &counts));
        if (!counts || s.type == MESH) continue;
        double offset[3];
        v3_sub(offset, s.r, c);
        add_solid(I, &s);
        add_point(I, s.mass, offset);
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
