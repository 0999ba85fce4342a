// items.c -- items of the native model file: inputs, functions, bodies, joints, forces and others.
//
// Sections are read in this order, independent of their order in the file.  A function or a body may refer to a later one
// of its section.
#include "base/assert.h"
#include "io/text.h"
#include "io/yaml/density.h"
#include "io/yaml/read.h"
#include "model/description.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- items

static lw_status check_name(lwi_yaml_reading *r, const char *kind, const char *name, lw_place place)
{
    const char *problem = lwi_text_name_problem(name);
    lwi_yaml_set_item(r, "", "");
    if (problem) return lwi_yaml_fail(r, LW_ERR_PARSE, place, "the name of a %s %s", kind, problem);
    lwi_yaml_set_item(r, kind, name);
    return LW_OK;
}

// Of functions, signals and inputs: what formulas read as something else.
static lw_status check_signal_name(lwi_yaml_reading *r, const char *kind, const char *name,
                                   lw_place place)
{
    const char *meaning = lwi_names_constant(name);
    TRY(check_name(r, kind, name, place));
    if (!meaning) return LW_OK;
    return lwi_yaml_fail(r, LW_ERR_PARSE, place, "formulas use this name for %s, expected another",
                         meaning);
}

lw_status lwi_yaml_section(lwi_yaml_reading *r, const lwi_document_value *root, const char *name,
                           lwi_document_kind kind, const lwi_document_value **v)
{
    const int k = lwi_document_find(root, name);
    *v = k < 0 ? NULL : root->item[k];
    if (k < 0 || (*v)->kind == kind) return LW_OK;
    lwi_yaml_set_item(r, "", "");
    lwi_yaml_enter(r, name);
    return lwi_yaml_expected(r, *v, kind == LWI_DOCUMENT_MAP ? "a map of names" : "a list");
}

lw_status lwi_yaml_read_inputs(lwi_yaml_reading *r)
{
    const lwi_document_value *list;
    TRY(lwi_yaml_section(r, r->root, "inputs", LWI_DOCUMENT_LIST, &list));
    const int n = list ? list->count : 0;
    if (lwi_names_create(n, &r->arena, &r->inputs) != LW_OK) return lwi_yaml_no_memory(r);
    r->first_input = r->builder->desc.ninput;
    lwi_yaml_set_item(r, "", "");
    lwi_yaml_enter(r, "inputs");
    for (int i = 0; i < n; i++) {
        const char *name = "";
        TRY(lwi_yaml_read_text(r, list->item[i], "the name of an input", &name));
        TRY(check_signal_name(r, "input", name, list->item[i]->place));
        if (r->functions && lwi_document_find(r->functions, name) >= 0)
            return lwi_yaml_fail(r, LW_ERR_MODEL, list->item[i]->place,
                                 "this is the name of a function; names are unique");
        if (r->parameters && lwi_document_find(r->parameters, name) >= 0)
            return lwi_yaml_fail(r, LW_ERR_MODEL, list->item[i]->place,
                                 "this is the name of a parameter; names are unique");
        lw_signal input;
        const char *full = lwi_yaml_full_name(r, name);
        if (!full) return lwi_yaml_no_memory(r);
        TRY(lwi_yaml_added(r, lw_builder_add_input(r->builder, full, &input, r->error),
                           list->item[i]->place));
        lwi_names_add(&r->inputs, name, i);
    }
    lwi_names_sort(&r->inputs);
    const int k = lwi_names_repeated(&r->inputs);
    if (!k) return LW_OK;
    const int first = r->inputs.order[k - 1], second = r->inputs.order[k];
    lwi_yaml_set_item(r, "input", r->inputs.name[second]);
    return lwi_yaml_fail(r, LW_ERR_MODEL, list->item[second]->place,
                         "this name is used already (line %d); names are unique",
                         list->item[first]->place.line);
}

lw_status lwi_yaml_read_functions(lwi_yaml_reading *r)
{
    const int n = r->functions ? r->functions->count : 0;
    r->function = LWI_PUSH(&r->arena, lw_signal, n);
    r->function_open = LWI_PUSH(&r->arena, char, n);
    if (!r->function || !r->function_open) return lwi_yaml_no_memory(r);
    for (int k = 0; k < n; k++) {
        lw_signal signal;
        TRY(check_signal_name(r, k < r->nplain_function ? "function" : "signal",
                              r->functions->key[k], r->functions->key_place[k]));
        TRY(lwi_yaml_named_function(r, k, r->functions->key_place[k], &signal));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ bodies

// Does the pose of a body follow from expressions?  Places in the world are then no constants in its frame.
static bool moves(const lwi_yaml_reading *r, lw_body body)
{
    const int k = body.index - r->first_body;
    return body.index > 0 && k >= 0 && r->bodies && k < r->bodies->count && r->moves[k];
}

static bool any_kept(const lwi_yaml_reading *r, const char *const *names, int n)
{
    bool any = false;
    for (int i = r->kept_from; i < r->nkept; i++)
        for (int k = 0; k < n; k++) any = any || strcmp(r->kept[i].key->name, names[k]) == 0;
    return any;
}

// Keeps the keys of a group as they are.
static lw_status keep_all(lwi_yaml_reading *r, const lwi_yaml_object *object,
                          const char *const *names, int n, const lwi_document_value *map,
                          const void *desc)
{
    const int before = r->nkept;
    for (int k = 0; k < n && r->base; k++) {
        const lwi_yaml_key *key = lwi_yaml_key_find(object, names[k]);
        const int at = lwi_document_find(map, names[k]);
        bool kept = !key || at < 0;
        for (int i = r->kept_from; i < before; i++) kept = kept || r->kept[i].key == key;
        if (!kept) TRY(lwi_yaml_keep(r, key, (const char *)desc + key->offset, map->item[at]));
    }
    return LW_OK;
}

// The same if one of them is kept: they count together.
static lw_status keep_group(lwi_yaml_reading *r, const lwi_yaml_object *object,
                            const char *const *names, int n, const lwi_document_value *map,
                            const void *desc)
{
    return any_kept(r, names, n) ? keep_all(r, object, names, n, map, desc) : LW_OK;
}

// Keeps the places and directions in the world of an item on a body that moves with parameters.
static lw_status keep_places(lwi_yaml_reading *r, const lwi_yaml_object *object,
                             const lwi_document_value *map, const void *desc)
{
    static const char *const names[] = {"at", "axis", "axis2", "from", "to", "normal"};
    for (int k = 0; k < object->nkey; k++) {
        const lwi_yaml_key *key = &object->key[k];
        lw_body body[2] = {{0}, {0}};
        if (key->kind != LWI_KEY_PAIR && key->kind != LWI_KEY_BODY) continue;
        memcpy(body, (const char *)desc + key->offset,
               (key->kind == LWI_KEY_PAIR ? 2 : 1) * sizeof *body);
        if (moves(r, body[0]) || moves(r, body[1]))
            return keep_all(r, object, names, LWI_COUNT(names), map, desc);
    }
    return LW_OK;
}

// A pose in another body is written in the world, unless it is kept with this body.
static lw_status keep_pose(lwi_yaml_reading *r, const lwi_document_value *map,
                           const lw_body_desc *desc)
{
    static const char *const names[] = {"position", "orientation", "in"};
    const bool follows = moves(r, desc->in);
    const int k = r->builder->desc.nbody - r->first_body; // of this body, which is added next
    r->moves[k] = follows || any_kept(r, names, LWI_COUNT(names));
    if (!desc->in.index || !r->moves[k]) return LW_OK;
    return keep_all(r, &lwi_yaml_body_object, names, LWI_COUNT(names), map, desc);
}

// Points by name in keys of the body's frame, and of the frame that its position is in.
static void place_points_of_body(lwi_yaml_reading *r, lw_body_desc *desc)
{
    if (!r->nplaced) return;
    const lw_pose reference =
        lwi_yaml_place_back(&r->placement, r->builder->desc.body[desc->in.index].pose);
    const lw_pose *in =
        r->placement.moved ? &reference : &r->builder->desc.body[desc->in.index].pose;
    for (int i = 0; i < r->nplaced; i++)
        if (r->placed[i].x == &desc->pose.position) lwi_yaml_into_body(in, r->placed[i].x);
    lw_pose pose = desc->pose;
    if (pose.orientation.w == 0 && pose.orientation.x == 0 && pose.orientation.y == 0 &&
        pose.orientation.z == 0)
        pose.orientation.w = 1;
    if (desc->in.index) pose = lwi_pose_in_world(in, pose);
    for (int i = 0; i < r->nplaced; i++)
        if (r->placed[i].x != &desc->pose.position) lwi_yaml_into_body(&pose, r->placed[i].x);
    r->nplaced = 0;
}

// What the file states of the mass; its source is kept, because the numbers follow from it.
static lw_status check_mass(lwi_yaml_reading *r, const lwi_document_value *map, lwi_yaml_body *body,
                            lw_place place)
{
    static const char *const names[] = {"density", "mass", "shape"};
    bool *const given[] = {&body->has_com, &body->has_inertia, &body->has_axes};
    static const char *const others[] = {"com", "inertia", "inertia_axes"};
    body->has_density = lwi_document_find(map, "density") >= 0;
    body->has_mass = lwi_document_find(map, "mass") >= 0;
    for (int i = 0; i < 3; i++) *given[i] = lwi_document_find(map, others[i]) >= 0;
    if (!body->has_mass && !body->has_density)
        return lwi_yaml_fail(r, LW_ERR_PARSE, place,
                             "key 'mass' is missing: mass [kg], >= 0; or `density`");
    if (!body->has_density) return LW_OK;
    for (int i = 0; i < LWI_COUNT(names) && r->base; i++) {
        const lwi_yaml_key *key = lwi_yaml_key_find(&lwi_yaml_body_object, names[i]);
        const int at = lwi_document_find(map, names[i]);
        bool kept = at < 0;
        for (int k = r->kept_from; k < r->nkept; k++) kept = kept || r->kept[k].key == key;
        if (!kept) TRY(lwi_yaml_keep(r, key, (const char *)body + key->offset, map->item[at]));
    }
    return LW_OK;
}

static lw_status read_body(lwi_yaml_reading *r, int k, lw_body in)
{
    const lw_place place = r->bodies->key_place[k];
    lwi_yaml_body item = {.desc = {.name = lwi_yaml_full_name(r, r->bodies->key[k]),
                                   .place = lwi_yaml_item_place(r, place),
                                   .in = in}};
    lw_body_desc *const d = &item.desc;
    lw_body body;
    if (!d->name) return lwi_yaml_no_memory(r);
    TRY(check_name(r, "body", d->name, place));
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &item);
    r->in_world = in.index == 0;
    TRY(lwi_yaml_read_object(r, &lwi_yaml_body_object, 0, r->bodies->item[k], place, &item));
    TRY(check_mass(r, r->bodies->item[k], &item, place));
    r->in_world = false;
    TRY(keep_pose(r, r->bodies->item[k], d));
    place_points_of_body(r, d);
    TRY(lwi_yaml_mass_of_shapes(r, &item, place));
    TRY(lwi_yaml_place_shapes(r, d));
    lwi_yaml_place_body(&r->placement, d);
    TRY(lwi_yaml_added(r, lw_builder_add_body(r->builder, d, &body, r->error), place));
    r->body[k] = body.index;
    return lwi_yaml_end_item(r, &outer, LWI_STATED_BODY, body.index, &lwi_yaml_body_object, NULL);
}

// Body of the section that is the frame of reference of body k; -1: world.
static lw_status reference_of(lwi_yaml_reading *r, int k, int *other)
{
    const lwi_document_value *map = r->bodies->item[k];
    *other = -1;
    if (map->kind != LWI_DOCUMENT_MAP) return LW_OK; // an error of read_body
    const int i = lwi_document_find(map, "in");
    if (i < 0) return LW_OK;
    const lwi_document_value *v = map->item[i];
    lwi_yaml_set_item(r, "body", r->bodies->key[k]);
    lwi_yaml_enter(r, "in");
    if (v->kind == LWI_DOCUMENT_SCALAR && strcmp(v->text, "ground") == 0) return LW_OK;
    if (v->kind == LWI_DOCUMENT_SCALAR && strcmp(v->text, "world") == 0) {
        if (lwi_document_find(r->bodies, "world") < 0) return LW_OK;
        return lwi_yaml_fail(r, LW_ERR_MODEL, v->place,
                             "there is a body 'world'; write `ground` for the fixed world");
    }
    return lwi_yaml_read_reference(r, v, "body", r->bodies, other);
}

// Follows `in` from body k to a body that is placed, then adds the bodies on the path in reverse.
static lw_status read_body_chain(lwi_yaml_reading *r, int k, int *way)
{
    enum { ON_THE_WAY = -1 };
    int n = 0;
    lw_body in = {0};
    while (k >= 0 && r->body[k] == 0) {
        r->body[k] = ON_THE_WAY;
        way[n++] = k;
        TRY(reference_of(r, k, &k));
    }
    if (k >= 0 && r->body[k] == ON_THE_WAY) {
        const lwi_document_value *map = r->bodies->item[way[n - 1]];
        return lwi_yaml_fail(r, LW_ERR_MODEL, map->item[lwi_document_find(map, "in")]->place,
                             "body '%.80s' is placed in itself", r->bodies->key[k]);
    }
    if (k >= 0) in.index = r->body[k];
    while (n > 0) {
        TRY(read_body(r, way[--n], in));
        in.index = r->body[way[n]];
    }
    return LW_OK;
}

lw_status lwi_yaml_read_bodies(lwi_yaml_reading *r)
{
    const int n = r->bodies ? r->bodies->count : 0;
    int *way = LWI_PUSH(&r->arena, int, n);
    r->body = LWI_PUSH(&r->arena, int, n);
    r->moves = LWI_PUSH(&r->arena, bool, n);
    r->first_body = r->builder->desc.nbody;
    if (!r->body || !way || !r->moves) return lwi_yaml_no_memory(r);
    if (r->bodies && n == 0) {
        lwi_yaml_set_item(r, "", "");
        return lwi_yaml_fail(r, LW_ERR_MODEL, r->bodies->place,
                             "the model has no bodies, expected at least one");
    }
    for (int k = 0; k < n; k++) TRY(read_body_chain(r, k, way));
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ joints

// Checks the form that places a joint: `at` with axes, two frames, or two points.
static lw_status check_form(lwi_yaml_reading *r, const lwi_document_value *map, lw_place place,
                            int type, lwi_yaml_form *form)
{
    const lwi_yaml_key *first = NULL;
    for (int i = 0; i < map->count; i++) {
        const lwi_yaml_key *key = lwi_yaml_key_find(&lwi_yaml_joint_object, map->key[i]);
        if (!key || key->form == LWI_FORM_ANY) continue;
        if (first && first->form != key->form)
            return lwi_yaml_fail(
                r, LW_ERR_PARSE, map->key_place[i],
                "'%s' and '%s' are two ways to place a joint, expected one: `at` with "
                "`axis`, `frame1` with `frame2`, or `point1` with `point2` (distance)",
                first->name, key->name);
        first = key;
    }
    if (!first)
        return lwi_yaml_fail(r, LW_ERR_PARSE, place, "its place is missing, expected %s",
                             type == LW_JOINT_DISTANCE
                                 ? "`point1` and `point2`"
                                 : "`at` (and `axis`), or `frame1` and `frame2`");
    for (int i = 0; i < 2; i++)
        if (lwi_document_find(map, lwi_yaml_form_keys[first->form][i]) < 0)
            return lwi_yaml_fail(r, LW_ERR_PARSE, place, "key '%s' is missing, required by '%s'",
                                 lwi_yaml_form_keys[first->form][i], first->name);
    *form = first->form;
    return LW_OK;
}

static lw_status read_joint(lwi_yaml_reading *r, int k)
{
    const lw_place place = r->joints->key_place[k];
    const char *name = lwi_yaml_full_name(r, r->joints->key[k]);
    const lwi_document_value *map = r->joints->item[k];
    static const char *const axes[] = {"at", "axis", "axis2"}, *const points[] = {"point1",
                                                                                  "point2"};
    lw_joint_desc desc = {.name = name, .place = lwi_yaml_item_place(r, place)};
    lwi_yaml_form form = LWI_FORM_ANY;
    int type;
    lw_joint joint;
    if (!name) return lwi_yaml_no_memory(r);
    TRY(check_name(r, "joint", desc.name, place));
    if (map->kind != LWI_DOCUMENT_MAP)
        return lwi_yaml_expected(r, map, "a map with the keys of a joint");
    TRY(lwi_yaml_read_type(r, &lwi_yaml_joint_object, map, place, &type));
    desc.type = (lw_joint_type)type;
    TRY(lwi_yaml_check_keys(r, &lwi_yaml_joint_object, type, map, place));
    TRY(check_form(r, map, place, type, &form));
    desc.placement = form == LWI_FORM_AT ? LW_PLACED_AT : LW_PLACED_FRAMES;
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    TRY(lwi_yaml_read_object(r, &lwi_yaml_joint_object, type, map, place, &desc));
    TRY(keep_places(r, &lwi_yaml_joint_object, map, &desc));
    TRY(keep_group(r, &lwi_yaml_joint_object, axes, LWI_COUNT(axes), map, &desc));
    TRY(keep_group(r, &lwi_yaml_joint_object, points, LWI_COUNT(points), map, &desc));
    lwi_yaml_place_points(r, &lwi_yaml_joint_object, &desc);
    TRY(lwi_yaml_place_joint(r, &desc));
    TRY(lwi_yaml_added(r, lw_builder_add_joint(r->builder, &desc, &joint, r->error), place));
    r->joint[k] = joint.index;
    return lwi_yaml_end_item(r, &outer, LWI_STATED_JOINT, joint.index, &lwi_yaml_joint_object,
                             NULL);
}

// --------------------------------------------------------------------------------- forces and more

// Checks that a point of a force has one key: in the world, or in the frame of its body.
static lw_status check_points(lwi_yaml_reading *r, const lwi_document_value *map)
{
    static const char *const pair[][2] = {
        {"from", "point1"}, {"to", "point2"},      {"at", "point"},       {"at", "frame1"},
        {"at", "frame2"},   {"normal", "normal2"}, {"normal", "radius2"}, {"normal2", "radius2"},
        {"joint", "of"},    {"coordinate", "of"}};
    for (int i = 0; i < LWI_COUNT(pair); i++) {
        const int second = lwi_document_find(map, pair[i][1]);
        if (second >= 0 && lwi_document_find(map, pair[i][0]) >= 0)
            return lwi_yaml_fail(r, LW_ERR_PARSE, map->key_place[second],
                                 "'%s' and '%s' are alternatives, expected one of them", pair[i][0],
                                 pair[i][1]);
    }
    return LW_OK;
}

static lw_status read_force(lwi_yaml_reading *r, const char *name, lw_place place,
                            const lwi_document_value *map)
{
    const char *types[LWI_FORCE_ITEMS];
    const lwi_yaml_object any = {.title = "force", .type = types, .ntype = LWI_FORCE_ITEMS};
    union {
        max_align_t align;
        char bytes[1024];
    } desc = {.bytes = {0}};
    int type;
    for (int i = 0; i < LWI_FORCE_ITEMS; i++) types[i] = lwi_force_items[i]->keys->title;
    TRY(check_name(r, "force", name, place));
    if (map->kind != LWI_DOCUMENT_MAP)
        return lwi_yaml_expected(r, map, "a map with the keys of a force");
    TRY(lwi_yaml_read_type(r, &any, map, place, &type));
    lwi_yaml_set_item(r, types[type], name);
    TRY(check_points(r, map));
    const lwi_force_item *item = lwi_force_items[type];
    LWI_ASSERT(item->desc_size <= sizeof desc);
    const lw_place shown = lwi_yaml_item_place(r, place);
    memcpy(desc.bytes + item->name_at, &name, sizeof name);
    memcpy(desc.bytes + item->place_at, &shown, sizeof shown);
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    TRY(lwi_yaml_read_object(r, item->keys, 0, map, place, &desc));
    TRY(keep_places(r, item->keys, map, &desc));
    lwi_yaml_place_points(r, item->keys, &desc);
    TRY(lwi_yaml_place_force(r, type, &desc));
    TRY(lwi_yaml_added(r, item->add(r->builder, &desc, r->error), place));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_FORCES + type,
                             r->builder->desc.force[type].n - 1, item->keys, NULL);
}

static lw_status read_marker(lwi_yaml_reading *r, const char *name, lw_place place,
                             const lwi_document_value *map)
{
    lw_marker_desc desc = {.name = name, .place = lwi_yaml_item_place(r, place)};
    TRY(check_name(r, "marker", name, place));
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    TRY(lwi_yaml_read_object(r, &lwi_yaml_marker_object, 0, map, place, &desc));
    lwi_yaml_place_points(r, &lwi_yaml_marker_object, &desc);
    lwi_yaml_place_marker(r, &desc);
    TRY(lwi_yaml_added(r, lw_builder_add_marker(r->builder, &desc, r->error), place));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_MARKER, r->builder->desc.nmarker - 1,
                             &lwi_yaml_marker_object, NULL);
}

// An expression, or a map with one.
static lw_status read_measure(lwi_yaml_reading *r, const char *name, lw_place place,
                              const lwi_document_value *v)
{
    lw_measure_desc desc = {.name = name};
    const lwi_document_value *of = v, *unit = NULL;
    TRY(check_name(r, "measure", name, place));
    if (v->kind != LWI_DOCUMENT_SCALAR && v->kind != LWI_DOCUMENT_MAP)
        return lwi_yaml_expected(r, v, "an expression, or a map with one");
    if (v->kind == LWI_DOCUMENT_MAP) {
        TRY(lwi_yaml_check_keys(r, &lwi_yaml_measure_object, 0, v, place));
        for (int i = 0; i < v->count; i++) *(strcmp(v->key[i], "of") ? &unit : &of) = v->item[i];
    }
    desc.place = lwi_yaml_item_place(r, of->place);
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    const lwi_yaml_key *key = lwi_yaml_key_find(&lwi_yaml_measure_object, "of");
    TRY(lwi_yaml_read_text(r, of, "an expression", &desc.formula));
    TRY(lwi_yaml_place_columns(r, &desc.formula));
    if (r->stated && r->base) TRY(lwi_yaml_keep(r, key, &desc.formula, of));
    if (unit) TRY(lwi_yaml_read_text(r, unit, "a unit", &desc.unit));
    TRY(lwi_yaml_added(r, lw_builder_add_measure(r->builder, &desc, r->error), place));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_MEASURE, r->builder->desc.nmeasure - 1,
                             &lwi_yaml_measure_object, NULL);
}

static lw_status read_impulse(lwi_yaml_reading *r, const char *name, lw_place place,
                              const lwi_document_value *map)
{
    lw_impulse_desc desc = {.name = name, .place = lwi_yaml_item_place(r, place)};
    TRY(check_name(r, "impulse", name, place));
    TRY(check_points(r, map));
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    TRY(lwi_yaml_read_object(r, &lwi_yaml_impulse_object, 0, map, place, &desc));
    TRY(keep_places(r, &lwi_yaml_impulse_object, map, &desc));
    lwi_yaml_place_points(r, &lwi_yaml_impulse_object, &desc);
    if (!desc.body.index && !desc.on_joint && lwi_document_find(map, "body") < 0)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place,
                             "on what it acts is missing, expected `body` or `joint`");
    lwi_yaml_place_impulse(r, &desc);
    TRY(lwi_yaml_added(r, lw_builder_add_impulse(r->builder, &desc, r->error), place));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_IMPULSE, r->builder->desc.nimpulse - 1,
                             &lwi_yaml_impulse_object, name);
}

static lw_status read_event(lwi_yaml_reading *r, const char *name, lw_place place,
                            const lwi_document_value *map)
{
    lw_event_desc desc = {.name = name, .place = lwi_yaml_item_place(r, place)};
    TRY(check_name(r, "event", name, place));
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    TRY(lwi_yaml_read_object(r, &lwi_yaml_event_object, 0, map, place, &desc));
    TRY(lwi_yaml_added(r, lw_builder_add_event(r->builder, &desc, r->error), place));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_EVENT, r->builder->desc.nevent - 1,
                             &lwi_yaml_event_object, NULL);
}

static lw_status read_coupling(lwi_yaml_reading *r, int k, const lwi_document_value *map)
{
    lw_coupling_desc desc = {.place = lwi_yaml_item_place(r, map->place)};
    lwi_yaml_set_item(r, "", "");
    snprintf(r->item, sizeof r->item, "couplings[%d]", k);
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    TRY(lwi_yaml_read_object(r, &lwi_yaml_coupling_object, 0, map, map->place, &desc));
    TRY(lwi_yaml_place_coupling(r, &desc));
    TRY(lwi_yaml_added(r, lw_builder_add_coupling(r->builder, &desc, r->error), map->place));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_COUPLING, r->builder->desc.ncoupling - 1,
                             &lwi_yaml_coupling_object, NULL);
}

static lw_status read_mechanism(lwi_yaml_reading *r, const char *name, lw_place place,
                                const lwi_document_value *map)
{
    lw_mechanism_desc desc = {0};
    int kind = 0;
    while (kind < LW_MECHANISM_COUNT && strcmp(name, lwi_yaml_mechanism_names[kind]) != 0) kind++;
    lwi_yaml_set_item(r, "", "");
    if (kind == LW_MECHANISM_COUNT) {
        char hint[128];
#define X(name, text) " " text
        return lwi_yaml_fail(
            r, LW_ERR_PARSE, place,
            "generate: unknown mechanism '%.80s'%s; known are" LW_MECHANISM_LIST(X), name,
            lwi_yaml_hint(hint, sizeof hint, name, lwi_yaml_mechanism_names, LW_MECHANISM_COUNT));
#undef X
    }
    lwi_yaml_set_item(r, "mechanism", name);
    r->base = NULL;
    TRY(lwi_yaml_read_object(r, &lwi_yaml_mechanism_object, kind, map, place, &desc));
    desc.mechanism = (lw_mechanism)kind;
    desc.place = place;
    return lwi_yaml_added(r, lw_builder_add_mechanism(r->builder, &desc, r->error), place);
}

// ------------------------------------------------------------------------------------ all of a kind

lw_status lwi_yaml_read_joints(lwi_yaml_reading *r)
{
    const int n = r->joints ? r->joints->count : 0;
    r->joint = LWI_PUSH(&r->arena, int, n);
    if (!r->joint) return lwi_yaml_no_memory(r);
    for (int k = 0; k < n; k++) TRY(read_joint(r, k));
    return LW_OK;
}

static lw_status read_section(lwi_yaml_reading *r, const char *key,
                              lw_status (*read)(lwi_yaml_reading *, const char *, lw_place,
                                                const lwi_document_value *))
{
    const lwi_document_value *map;
    TRY(lwi_yaml_section(r, r->root, key, LWI_DOCUMENT_MAP, &map));
    for (int k = 0; map && k < map->count; k++) {
        const char *name =
            read == read_mechanism ? map->key[k] : lwi_yaml_full_name(r, map->key[k]);
        if (!name) return lwi_yaml_no_memory(r);
        TRY(read(r, name, map->key_place[k], map->item[k]));
    }
    return LW_OK;
}

lw_status lwi_yaml_read_others(lwi_yaml_reading *r)
{
    const lwi_document_value *couplings;
    TRY(read_section(r, "generate", read_mechanism));
    TRY(lwi_yaml_section(r, r->root, "couplings", LWI_DOCUMENT_LIST, &couplings));
    for (int k = 0; couplings && k < couplings->count; k++)
        TRY(read_coupling(r, k, couplings->item[k]));
    TRY(read_section(r, "forces", read_force));
    TRY(read_section(r, "markers", read_marker));
    return read_section(r, "impulses", read_impulse);
}

lw_status lwi_yaml_read_measures(lwi_yaml_reading *r)
{
    return read_section(r, "measures", read_measure);
}

lw_status lwi_yaml_read_events(lwi_yaml_reading *r)
{
    return read_section(r, "events", read_event);
}
