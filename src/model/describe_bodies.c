// describe_bodies.c -- the builder takes functions, inputs, meshes, bodies, markers and measures.
#include "model/description.h"
#include "spatial/rotation.h"

#include <stdio.h>
#include <string.h>

lw_status lw_builder_add_function(lw_builder *b, const lw_function_desc *desc, lw_signal *function,
                                  lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    LWI_DESC(lw_function_desc, desc, error);
    lw_error why = {0};
    lwi_function built;
    LWI_GROW(b, LWI_LIST_FUNCTIONS, function, nfunction);
    const lwi_signal_names names = lwi_names_of(&b->desc);
    lw_status status = lwi_function_check(desc, &names, &why);
    if (status == LW_OK) {
        if (lwi_function_build(desc, &names, &b->arena, &built) != LW_OK)
            return lwi_builder_no_memory(error);
        status = lwi_function_check_sum(b->desc.function, &built.desc, &why);
    }
    if (status != LW_OK)
        return lwi_model_fail(&b->desc, desc->place, error, "function%s%s%s: %s",
                              desc->name ? " '" : "", desc->name ? desc->name : "",
                              desc->name ? "'" : "", why.text);
    b->desc.function[b->desc.nfunction++] = built.desc;
    if (function) function->index = b->desc.nfunction;
    return LW_OK;
}

lw_status lw_builder_add_input(lw_builder *b, const char *name, lw_signal *input, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    LWI_GROW(b, LWI_LIST_INPUTS, input, ninput);
    const char *copy = lwi_builder_name(b, name, "input", b->desc.ninput);
    if (!copy) return lwi_builder_no_memory(error);
    b->desc.input[b->desc.ninput++] = copy;
    if (input) input->index = -b->desc.ninput;
    return LW_OK;
}

lw_pose lwi_pose_in_world(const lw_pose *body, lw_pose frame)
{
    const double qb[4] = {body->orientation.w, body->orientation.x, body->orientation.y,
                          body->orientation.z};
    const double qf[4] = {frame.orientation.w, frame.orientation.x, frame.orientation.y,
                          frame.orientation.z};
    const double rf[3] = {frame.position.x, frame.position.y, frame.position.z};
    double R[9], r[3], q[4];
    quat_matrix(R, qb);
    m3_mul_v(r, R, rf);
    quat_mul(q, qb, qf);
    quat_normalize(q, q);
    return (lw_pose){{r[0] + body->position.x, r[1] + body->position.y, r[2] + body->position.z},
                     {q[0], q[1], q[2], q[3]}};
}

static lw_status check_mesh(const lwi_item *it, const lw_mesh_desc *d)
{
    if (d->file) return LW_OK;
    if (d->nvertex < 1 || !d->vertices || d->ntriangle < 0 || (d->ntriangle && !d->triangles))
        return lwi_item_fail(it, "%d vertices and %d triangles, expected a file or vertices",
                             d->nvertex, d->ntriangle);
    for (size_t i = 0; i < 3 * (size_t)d->nvertex; i++)
        if (!isfinite(d->vertices[i])) return lwi_item_fail(it, "vertex %zu is not finite", i / 3);
    for (size_t i = 0; i < 3 * (size_t)d->ntriangle; i++)
        if (d->triangles[i] < 0 || d->triangles[i] >= d->nvertex)
            return lwi_item_fail(it, "triangle %zu has vertex %d, expected 0 to %d", i / 3,
                                 d->triangles[i], d->nvertex - 1);
    return LW_OK;
}

bool lwi_mesh_desc_copy(lwi_arena *arena, lw_mesh_desc *d)
{
    if (d->file) {
        d->file = lwi_arena_text(arena, d->file);
        d->vertices = NULL, d->triangles = NULL, d->nvertex = d->ntriangle = 0;
    } else {
        const size_t nv = (size_t)d->nvertex, nt = (size_t)d->ntriangle;
        float *vertices = lwi_arena_push(arena, nv, 3 * sizeof *vertices);
        int *triangles = lwi_arena_push(arena, nt, 3 * sizeof *triangles);
        if (!vertices || !triangles) return false;
        memcpy(vertices, d->vertices, nv * 3 * sizeof *vertices);
        if (nt) memcpy(triangles, d->triangles, nt * 3 * sizeof *triangles);
        d->vertices = vertices, d->triangles = triangles;
    }
    if (d->uri) d->uri = lwi_arena_text(arena, d->uri);
    return d->file || d->vertices;
}

lw_status lw_builder_add_mesh(lw_builder *b, const lw_mesh_desc *desc, lw_mesh *mesh,
                              lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_mesh_desc d;
    char name[16];
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_mesh_desc", error));
    snprintf(name, sizeof name, "%d", b->desc.nmesh + 1);
    const lwi_item item = {b, "mesh", d.file ? d.file : name, d.place, error}, *it = &item;
    TRY(check_mesh(it, &d));
    LWI_GROW(b, LWI_LIST_MESHES, mesh, nmesh);
    if (!lwi_mesh_desc_copy(&b->arena, &d)) return lwi_builder_no_memory(error);
    b->desc.mesh[b->desc.nmesh++] = d;
    if (mesh) mesh->index = b->desc.nmesh;
    return LW_OK;
}

// All zero stands for no scale.
static lw_status check_scale(const lwi_item *it, lw_shape *s)
{
    double *x = s->size;
    if (s->mesh.index < 1 || s->mesh.index > it->builder->desc.nmesh)
        return lwi_item_fail(it, "shape has mesh %d, the model has %d", (int)s->mesh.index,
                             it->builder->desc.nmesh);
    if (x[0] == 0 && x[1] == 0 && x[2] == 0) x[0] = x[1] = x[2] = 1;
    if (!finite_n(x, 3) || x[0] == 0 || x[1] == 0 || x[2] == 0)
        return lwi_item_fail(it, "mesh has scales %g, %g, %g, expected numbers other than zero",
                             x[0], x[1], x[2]);
    return LW_OK;
}

static lw_status check_shape(const lwi_item *it, lw_shape *s)
{
    const double *x = s->size, *c = s->color;
    if ((int)s->type <= 0 || s->type >= LW_SHAPE_COUNT)
        return lwi_item_fail(it, "unknown shape %d", (int)s->type);
    if (s->type == LW_SHAPE_MESH)
        TRY(check_scale(it, s));
    else if (!finite_n(x, 3) || x[0] < 0 || x[1] < 0 || x[2] < 0)
        return lwi_item_fail(it, "shape has sizes %g, %g, %g, expected numbers >= 0 [m]", x[0],
                             x[1], x[2]);
    if (!finite3(s->position)) return lwi_item_fail(it, "the position of a shape is not finite");
    for (int i = 0; i < 4 && s->has_color; i++)
        if (!(c[i] >= 0 && c[i] <= 1))
            return lwi_item_fail(it, "shape has color %g, %g, %g, %g, expected numbers from 0 to 1",
                                 c[0], c[1], c[2], c[3]);
    return lwi_item_unit(it, "orientation of a shape", &s->orientation);
}

static lw_status copy_shapes(const lwi_item *it, lw_body_desc *d)
{
    if (d->nshape <= 0 || !d->shapes) {
        d->shapes = NULL, d->nshape = 0;
        return LW_OK;
    }
    lw_shape *copy = LWI_PUSH(&it->builder->arena, lw_shape, d->nshape);
    if (!copy) return lwi_builder_no_memory(it->error);
    memcpy(copy, d->shapes, (size_t)d->nshape * sizeof *copy);
    for (int i = 0; i < d->nshape; i++) {
        TRY(check_shape(it, &copy[i]));
        if (!copy[i].has_position) copy[i].position = d->com;
    }
    d->shapes = copy;
    return LW_OK;
}

lw_status lw_builder_add_body(lw_builder *b, const lw_body_desc *desc, lw_body *body,
                              lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_body_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_body_desc", error));
    d.name = lwi_builder_name(b, desc->name, "body", b->desc.nbody);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "body", d.name, d.place, error}, *it = &item;
    if (!isfinite(d.mass) || d.mass < 0)
        return lwi_item_fail(it, "mass is %g, expected a number >= 0 [kg]", d.mass);
    if (!finite_n(d.inertia, 6)) return lwi_item_fail(it, "inertia is not six finite numbers");
    if (!finite3(d.com) || !finite3(d.pose.position) || !finite3(d.velocity) ||
        !finite3(d.angular_velocity))
        return lwi_item_fail(it, "com, position or velocity is not finite");
    TRY(lwi_item_unit(it, "inertia_axes", &d.inertia_axes));
    TRY(lwi_item_unit(it, "orientation", &d.pose.orientation));
    TRY(lwi_item_body(it, "`in`", d.in));
    if (d.in.index) d.pose = lwi_pose_in_world(&b->desc.body[d.in.index].pose, d.pose);
    d.in.index = 0;
    TRY(copy_shapes(it, &d));
    LWI_GROW(b, LWI_LIST_BODIES, body, nbody);
    b->desc.body[b->desc.nbody] = d;
    if (body) body->index = b->desc.nbody;
    b->desc.nbody++;
    return LW_OK;
}

lw_status lw_builder_add_marker(lw_builder *b, const lw_marker_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_marker_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_marker_desc", error));
    d.name = lwi_builder_name(b, desc->name, "marker", b->desc.nmarker);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "marker", d.name, d.place, error}, *it = &item;
    TRY(lwi_item_body(it, "body", d.body));
    if (!finite3(d.pose.position)) return lwi_item_fail(it, "position is not finite");
    TRY(lwi_item_unit(it, "orientation", &d.pose.orientation));
    LWI_GROW(b, LWI_LIST_MARKERS, marker, nmarker);
    b->desc.marker[b->desc.nmarker++] = d;
    return LW_OK;
}

lw_status lw_builder_add_measure(lw_builder *b, const lw_measure_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_measure_desc d;
    lwi_unit unit;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_measure_desc", error));
    d.name = lwi_builder_name(b, desc->name, "measure", b->desc.nmeasure);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "measure", d.name, d.place, error}, *it = &item;
    if (!d.formula || !*d.formula) return lwi_item_fail(it, "the formula is missing");
    if (d.unit && !lwi_unit_read(d.unit, (int)strlen(d.unit), &unit))
        return lwi_item_fail(it, "unknown unit '%.40s', expected one such as mm, deg, kN, N m",
                             d.unit);
    d.formula = lwi_arena_text(&b->arena, d.formula);
    if (d.unit) d.unit = lwi_arena_text(&b->arena, d.unit);
    if (!d.formula || (desc->unit && !d.unit)) return lwi_builder_no_memory(error);
    LWI_GROW(b, LWI_LIST_MEASURES, measure, nmeasure);
    b->desc.measure[b->desc.nmeasure++] = d;
    return LW_OK;
}
