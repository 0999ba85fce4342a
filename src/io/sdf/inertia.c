// inertia.c -- mass, mass centre and inertia of the links of an SDF file: from <inertial>, or from the collisions.
#include "io/sdf/sdf.h"

#include "io/frames.h"
#include "io/solids.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// Defaults of the format: moments of inertia 1, products of inertia 0.
static lw_status read_inertia(const lwi_sdf *u, const lwi_sdf_item *link,
                              const lwi_xml_element *inertial, lw_body_desc *d)
{
    static const char *const keys[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const lwi_xml_element *inertia = inertial ? lwi_xml_child(inertial, "inertia") : NULL;
    for (int k = 0; k < 6; k++) {
        d->inertia[k] = k < 3;
        if (inertia) TRY(lwi_sdf_number(u, link, inertia, keys[k], &d->inertia[k]));
    }
    if (!inertia)
        lwi_notes_add(
            u->notes, link->e, link->name,
            "links without <inertia> have 1 kg m^2 about every axis, the default of SDF:");
    return LW_OK;
}

// ---------------------------------------------------------------------------- from the collisions

/** Sums over the collisions: mass, mass times centre, inertia about the origin of the link. */
typedef struct sums {
    double mass, first[3], inertia[6];
    long solids;
} sums;

static lw_status add_collision(const lwi_sdf *u, const lwi_sdf_item *link, const lwi_xml_element *e,
                               double density, sums *s)
{
    const lwi_xml_element *geometry = lwi_xml_child(e, "geometry");
    const lwi_xml_element *mesh = geometry ? lwi_xml_child(geometry, "mesh") : NULL;
    lw_shape shape = {.type = LW_SHAPE_NONE};
    lwi_mesh_solid solid = {.volume = 0};
    double R[9], r[3], J[6], unit[3];
    bool known = true;
    TRY(lwi_sdf_number(u, link, e, "density", &density));
    TRY(lwi_sdf_pose(u, link->file, e, R, r));
    if (geometry) TRY(lwi_sdf_geometry(u, link, geometry, &shape));
    if (mesh) {
        TRY(lwi_sdf_solid_of_mesh(u, link, mesh, &solid, &known));
    } else {
        lwi_solid_of_shape(shape.type, shape.size, &solid.volume, unit);
        for (int k = 0; k < 3; k++) solid.inertia[k] = solid.volume * unit[k];
    }
    if (!known) return LW_OK;
    if (!(density >= 0) || !isfinite(density))
        return lwi_sdf_fail(u, link, e, LW_ERR_MODEL, "<density> is %g, expected a number >= 0",
                            density);
    if (!(solid.volume > 0)) {
        lwi_notes_add(u->notes, e, link->name,
                      "collisions without a volume add nothing to <inertial auto>, in the links");
        return LW_OK;
    }
    m3_mul_v(unit, R, solid.com);
    v3_add(r, r, unit);
    s3_rotate(J, R, solid.inertia);
    s->mass += density * solid.volume;
    s->solids++;
    v3_axpy(s->first, density * solid.volume, r);
    for (int k = 0; k < 6; k++) s->inertia[k] += density * J[k];
    s3_add_point(s->inertia, density * solid.volume, r);
    return LW_OK;
}

// <inertial auto="true">: the collisions are filled with <density>, their own, or that of <inertial>, by default water.
// A <mass> scales the result.
static lw_status read_auto(const lwi_sdf *u, const lwi_sdf_item *link,
                           const lwi_xml_element *inertial, lw_body_desc *d)
{
    double density = 1000, mass = 0; // the default of the format
    sums s = {.mass = 0};
    TRY(lwi_sdf_number(u, link, inertial, "density", &density));
    TRY(lwi_sdf_number(u, link, inertial, "mass", &mass));
    for (const lwi_xml_element *e = lwi_xml_child(link->e, "collision"); e;
         e = lwi_xml_next(e, "collision"))
        TRY(add_collision(u, link, e, density, &s));
    if (!(s.mass > 0)) {
        lwi_notes_add(u->notes, inertial, link->name,
                      "links with <inertial auto> have no collision with mass, massless");
        return LW_OK;
    }
    const double scale = mass > 0 ? mass / s.mass : 1;
    const double c[3] = {s.first[0] / s.mass, s.first[1] / s.mass, s.first[2] / s.mass};
    s3_add_point(s.inertia, -s.mass, c);
    for (int k = 0; k < 6; k++) d->inertia[k] = scale * s.inertia[k];
    d->mass = scale * s.mass;
    d->com = (lw_vec3){c[0], c[1], c[2]};
    return LW_OK;
}

lw_status lwi_sdf_inertia(const lwi_sdf *u, const lwi_sdf_item *link, lw_body_desc *d)
{
    const lwi_xml_element *inertial = lwi_xml_child(link->e, "inertial");
    const char *calculated = inertial ? lwi_xml_get(inertial, "auto") : NULL;
    double R[9], r[3];
    if (calculated && (strcmp(calculated, "true") == 0 || strcmp(calculated, "1") == 0))
        return read_auto(u, link, inertial, d);
    d->mass = 1;
    TRY(read_inertia(u, link, inertial, d));
    if (!inertial || !lwi_xml_child(inertial, "mass"))
        lwi_notes_add(u->notes, link->e, link->name,
                      "links without <mass> have 1 kg, the default of SDF:");
    if (!inertial) return LW_OK;
    TRY(lwi_sdf_number(u, link, inertial, "mass", &d->mass));
    TRY(lwi_sdf_pose(u, link->file, inertial, R, r));
    const lw_pose pose = lwi_frame_pose(R, r);
    d->com = pose.position;
    d->inertia_axes = pose.orientation;
    return LW_OK;
}
