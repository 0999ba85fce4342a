// read.c -- reads SDFormat: worlds and models with joints that form any graph.
//
// A link is a body with the frame of the link.  Names in nested and included models have the names of the
// models as prefix, "arm::hand", except for a single model in a file.  Every joint is an edge; the file does
// not specify which ones close loops.  Models without a joint to the world float, static ones are fixed.
// What is not read is counted (notes.c) and reported once per kind.
#include "io/sdf/sdf.h"

#include "base/components.h"
#include "io/frames.h"
#include "io/readers.h"
#include "spatial/rotation.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ bodies

// `ground` is the fixed world; a link with this name is renamed.
static const char *body_name(const lwi_sdf *u, const lwi_sdf_item *link)
{
    if (strcmp(link->name, "ground") != 0) return link->name;
    const char *name = lwi_names_distinct(&u->names[LWI_SDF_LINK], "ground_link", NULL, u->arena);
    if (!name) return NULL;
    lwi_notes_add(u->notes, link->e, name, "link 'ground' is renamed:");
    return name;
}

static lw_status add_link(lwi_sdf *u, lwi_sdf_item *link)
{
    lwi_sdf_begin_notes(u, link->file);
    lw_body_desc d = {
        .name = body_name(u, link),
        .inertia_axes = {1, 0, 0, 0},
        .pose = lwi_frame_pose(link->R, link->r),
        .inertia_check = LW_INERTIA_WARN, // no such key in the format; files of real robots need it
        .place = link->place};
    if (!d.name) return lwi_sdf_no_memory(u);
    TRY(lwi_sdf_inertia(u, link, &d));
    TRY(lwi_sdf_shapes(u, link, &d));
    const lwi_xml_element *gravity = lwi_xml_child(link->e, "gravity");
    if (gravity && !lwi_sdf_true(link->e, "gravity"))
        lwi_notes_add(u->notes, gravity, link->name, "gravity acts on all links, also on");
    return lw_builder_add_body(u->builder, &d, &link->body, u->error);
}

// ------------------------------------------------------------------------------------------ ground

static lw_status fix_to_ground(const lwi_sdf *u, const lwi_sdf_item *link)
{
    const char *name =
        lwi_names_distinct(&u->names[LWI_SDF_JOINT], link->name, "to_ground", u->arena);
    if (!name) return lwi_sdf_no_memory(u);
    const lw_joint_desc d = {.name = name,
                             .type = LW_JOINT_FIXED,
                             .placement = LW_PLACED_FRAMES,
                             .body2 = link->body,
                             .frame1 = lwi_frame_pose(link->R, link->r),
                             .place = link->place};
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

// Links of static models are fixed; with --base fixed also the first link of every group of links
// that is not connected to the world.
static lw_status hold(const lwi_sdf *u)
{
    int *group = LWI_PUSH(u->arena, int, u->nitem);
    if (!group) return lwi_sdf_no_memory(u);
    for (int i = 0; i < u->nitem; i++) {
        const lwi_sdf_item *item = &u->item[i];
        const bool fixed = item->kind == LWI_SDF_LINK && u->item[item->model].fixed;
        group[i] = fixed ? 0 : i;
        if (fixed) TRY(fix_to_ground(u, item));
    }
    if (u->desc->base != LW_BASE_FIXED) return LW_OK;
    for (int k = 0; k < u->names[LWI_SDF_JOINT].count; k++) {
        const lwi_sdf_item *j = &u->item[u->names[LWI_SDF_JOINT].item[k]];
        const int a = lwi_component_of(group, j->parent), b = lwi_component_of(group, j->child);
        if (!j->type.gear) group[a > b ? a : b] = a > b ? b : a; // the smallest index is the root
    }
    for (int i = 1; i < u->nitem; i++)
        if (u->item[i].kind == LWI_SDF_LINK && lwi_component_of(group, i) == i)
            TRY(fix_to_ground(u, &u->item[i]));
    return LW_OK;
}

static lw_status read_gravity(const lwi_sdf *u)
{
    const lwi_sdf_file *file = u->file[0];
    const lwi_xml_element *world = lwi_xml_child(file->xml.root, "world");
    if (!world) return LW_OK;   // a model without a world has no gravity setting
    double g[3] = {0, 0, -9.8}; // the default of the format
    const lwi_xml_element *e = lwi_xml_child(world, "gravity");
    if (e) TRY(lwi_xml_text_numbers(&file->xml, e, 3, g, u->error));
    lw_builder_gravity(u->builder, (lw_vec3){g[0], g[1], g[2]});
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- file

static lw_status check_names(const lwi_sdf *u)
{
    for (int i = 1; i < u->nitem; i++) {
        const lwi_sdf_item *item = &u->item[i];
        const char *problem = lwi_text_name_problem(item->name);
        if (problem)
            return lwi_sdf_fail(u, item, item->e, LW_ERR_MODEL, "%s '%.60s': its name %s",
                                item->e->name, item->name, problem);
    }
    if (u->names[LWI_SDF_LINK].count) return LW_OK;
    return lwi_sdf_fail(u, &u->item[0], u->item[0].e, LW_ERR_MODEL, "there is no link");
}

static lw_status read_world(lwi_sdf *u)
{
    u->file[0]->version = lwi_sdf_version(lwi_xml_get(u->file[0]->xml.root, "version"));
    TRY(lwi_sdf_collect(u));
    TRY(check_names(u));
    TRY(read_gravity(u));
    for (int i = 1; i < u->nitem; i++)
        if (u->item[i].kind == LWI_SDF_LINK) TRY(add_link(u, &u->item[i]));
    TRY(lwi_sdf_add_joints(u));
    TRY(hold(u));
    return lwi_notes_report(u->notes, u->builder);
}

lw_status lwi_read_sdf(const char *text, size_t length, const char *name, const lw_read_desc *desc,
                       lw_builder *builder, lw_options *options, lw_error *error)
{
    (void)options; // the settings of the file are for other programs
    lwi_sdf_file first = {.part = NULL};
    TRY(lwi_xml_parse(&first.xml, text, length, name, desc->allocator, error));
    lwi_sdf u = {.arena = &first.xml.arena,
                 .builder = builder,
                 .error = error,
                 .desc = desc,
                 .file = {&first},
                 .nfile = 1};
    u.meshes.arena = u.arena;
    u.notes = LWI_PUSH(u.arena, lwi_notes, 1);
    const lw_status status = u.notes ? read_world(&u) : lwi_sdf_no_memory(&u);
    for (int i = u.nfile - 1; i >= 0; i--) lwi_xml_free(&u.file[i]->xml); // file 0 owns the others
    return status;
}
