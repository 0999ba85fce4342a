// file.c -- the native model file as a whole, with the files that it includes.
//
// Bodies of all files are read before their joints, so that joints may join bodies of different files.
#include "io/readers.h"
#include "io/yaml/read.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static lw_status read_settings(lwi_yaml_reading *r, const lwi_document_value *root)
{
    lw_vec3 gravity;
    const int g = lwi_document_find(root, "gravity"), s = lwi_document_find(root, "simulation");
    lwi_yaml_set_item(r, "", "");
    if (g >= 0) {
        const size_t mark = lwi_yaml_enter(r, "gravity");
        const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &gravity);
        r->key = lwi_yaml_key_find(&lwi_yaml_file_object, "gravity");
        TRY(lwi_yaml_read_vector(r, root->item[g], &gravity));
        if (r->stated) TRY(lwi_yaml_keep(r, r->key, &gravity, root->item[g]));
        lw_builder_gravity(r->builder, gravity);
        TRY(lwi_yaml_end_item(r, &outer, LWI_STATED_GRAVITY, 0, &lwi_yaml_file_object, NULL));
        lwi_yaml_leave(r, mark);
    }
    if (s < 0) return LW_OK;
    lwi_yaml_enter(r, "simulation");
    const lwi_document_value *map = root->item[s];
    TRY(lwi_yaml_read_object(r, &lwi_yaml_simulation_object, 0, map, root->key_place[s],
                             r->options));
    for (int i = 0; i < map->count; i++) // both `sample-mode` and `sample_mode`; all keys are valid
        for (int k = 0; k < i; k++)
            if (lwi_yaml_key_find(&lwi_yaml_simulation_object, map->key[i]) ==
                lwi_yaml_key_find(&lwi_yaml_simulation_object, map->key[k]))
                return lwi_yaml_fail(r, LW_ERR_PARSE, map->key_place[i],
                                     "'%s' and '%s' are the same key", map->key[k], map->key[i]);
    lwi_yaml_leave(r, 0);
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- file

static lw_status check_header(lwi_yaml_reading *r, const lwi_document_value *root)
{
    const lw_place top = {1, 1};
    if (root->kind != LWI_DOCUMENT_MAP)
        return lwi_yaml_expected(r, root, "a model: a map that begins with `linkwork: 1`");
    const int k = lwi_document_find(root, "linkwork");
    if (k < 0)
        return lwi_yaml_fail(r, LW_ERR_PARSE, top,
                             "the key `linkwork: 1` is missing, so this is not a model file");
    const lwi_document_value *v = root->item[k];
    double version = 0;
    lwi_yaml_enter(r, "linkwork");
    TRY(lwi_yaml_read_number(r, v, &version));
    if (version != LWI_FORMAT_VERSION)
        return lwi_yaml_fail(r, LW_ERR_PARSE, v->place,
                             "version %.40s of the format is not supported, expected %d", v->text,
                             (int)LWI_FORMAT_VERSION);
    lwi_yaml_set_item(r, "", "");
    return lwi_yaml_check_keys(r, &lwi_yaml_file_object, 0, root, top);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// One map of the entries of both; they differ in their numbers only.
static lw_status join_maps(lwi_yaml_reading *r, const lwi_document_value *a,
                           const lwi_document_value *b, const lwi_document_value **out)
{
    const int n = a->count + b->count;
    lwi_document_value *v = LWI_PUSH(&r->arena, lwi_document_value, 1);
    typedef struct keyed {
        const char *key;
        int index;
    } keyed;
    keyed *sorted = LWI_PUSH(&r->arena, keyed, n);
    if (!v || !sorted) return lwi_yaml_no_memory(r);
    *v = *a;
    v->count = n;
    v->item = LWI_PUSH(&r->arena, const lwi_document_value *, n);
    v->key = LWI_PUSH(&r->arena, const char *, n);
    v->key_place = LWI_PUSH(&r->arena, lw_place, n);
    v->order = LWI_PUSH(&r->arena, int, n);
    if (!v->item || !v->key || !v->key_place || !v->order) return lwi_yaml_no_memory(r);
    for (int i = 0; i < n; i++) {
        const lwi_document_value *from = i < a->count ? a : b;
        const int k = i < a->count ? i : i - a->count;
        v->item[i] = from->item[k], v->key[i] = from->key[k], v->key_place[i] = from->key_place[k];
        sorted[i] = (keyed){v->key[i], i};
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_key);
    for (int i = 0; i < n; i++) v->order[i] = sorted[i].index;
    *out = v;
    return LW_OK;
}

// The sections `functions` and `signals`: one list, because both are named where a signal is expected.
static lw_status read_sections_of_functions(lwi_yaml_reading *r, const lwi_document_value *root)
{
    const lwi_document_value *signals;
    TRY(lwi_yaml_section(r, root, "functions", LWI_DOCUMENT_MAP, &r->functions));
    TRY(lwi_yaml_section(r, root, "signals", LWI_DOCUMENT_MAP, &signals));
    r->nplain_function = r->functions ? r->functions->count : 0;
    if (!signals) return LW_OK;
    if (!r->functions) {
        r->functions = signals;
        return LW_OK;
    }
    for (int k = 0; k < signals->count; k++) {
        const int same = lwi_document_find(r->functions, signals->key[k]);
        if (same < 0) continue;
        lwi_yaml_set_item(r, "signal", signals->key[k]);
        return lwi_yaml_fail(r, LW_ERR_MODEL, signals->key_place[k],
                             "this is the name of a function (line %d); names are unique",
                             r->functions->key_place[same].line);
    }
    return join_maps(r, r->functions, signals, &r->functions);
}

// Finds the sections of a file, evaluates its parameters, opens the files that it includes.
static lw_status open_file(lwi_yaml_reading *r, const lwi_document_value *root)
{
    const lwi_document_value *include, *generate;
    r->root = root;
    TRY(check_header(r, root));
    TRY(read_sections_of_functions(r, root));
    TRY(lwi_yaml_section(r, root, "parameters", LWI_DOCUMENT_MAP, &r->parameters));
    TRY(lwi_yaml_section(r, root, "points", LWI_DOCUMENT_MAP, &r->points));
    TRY(lwi_yaml_section(r, root, "include", LWI_DOCUMENT_MAP, &include));
    TRY(lwi_yaml_begin_parameters(r));
    if (!r->parent) TRY(read_settings(r, root));
    TRY(lwi_yaml_section(r, root, "bodies", LWI_DOCUMENT_MAP, &r->bodies));
    TRY(lwi_yaml_section(r, root, "joints", LWI_DOCUMENT_MAP, &r->joints));
    TRY(lwi_yaml_section(r, root, "generate", LWI_DOCUMENT_MAP, &generate));
    if (r->parent && generate)
        return lwi_yaml_fail(r, LW_ERR_UNSUPPORTED, generate->place,
                             "generate: not in a file that is included; `convert` it first");
    if (!r->bodies && !generate && !include)
        return lwi_yaml_fail(r, LW_ERR_PARSE, (lw_place){1, 1},
                             "key 'bodies' is missing: bodies by name");
    return lwi_yaml_open_includes(r, include, open_file);
}

// The same step for a file and those that it includes.
static lw_status each_file(lwi_yaml_reading *r, lw_status (*step)(lwi_yaml_reading *))
{
    TRY(step(r));
    for (lwi_yaml_reading *c = r->child; c; c = c->next) TRY(each_file(c, step));
    return LW_OK;
}

// The same with included files first: formulas of a file may name their functions and measures.
static lw_status inner_first(lwi_yaml_reading *r, lw_status (*step)(lwi_yaml_reading *))
{
    for (lwi_yaml_reading *c = r->child; c; c = c->next) TRY(inner_first(c, step));
    return step(r);
}

// The body that the ground of an included file is; before its bodies and joints.
static lw_status find_ground(lwi_yaml_reading *r)
{
    if (!r->parent) return LW_OK;
    r->ground = r->parent->ground;
    if (!r->ground_name || strcmp(r->ground_name, "ground") == 0) return LW_OK;
    const lwi_document_value v = {.text = r->ground_name, .place = r->ground_place};
    lwi_yaml_set_item(r->parent, "include", r->entry);
    lwi_yaml_enter(r->parent, "ground");
    if (lwi_yaml_find_body(r->parent, r->ground_name) == 0)
        return lwi_yaml_fail(r->parent, LW_ERR_MODEL, r->ground_place, "body '%.80s' is of %s",
                             r->ground_name,
                             strncmp(r->ground_name, r->own_prefix, strlen(r->own_prefix)) == 0
                                 ? "the included file itself"
                                 : "a file included later");
    return lwi_yaml_read_body(r->parent, &v, &r->ground.index);
}

static lw_status read_bodies(lwi_yaml_reading *r)
{
    TRY(find_ground(r));
    return lwi_yaml_read_bodies(r);
}

// Of a model of several files the files are kept as a whole, and of the expressions of its values those of options of a run.
static lw_status keep_files(lwi_yaml_reading *r)
{
    lwi_statements *s = &r->builder->desc.stated;
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (s->entry[i].list == LWI_STATED_OPTION) s->entry[n++] = s->entry[i];
    s->n = n;
    s->npoint = 0;
    return lwi_yaml_keep_files(r);
}

static lw_status read_file(lwi_yaml_reading *r, const lwi_document_value *root)
{
    static lw_status (*const step[])(lwi_yaml_reading *) = {
        lwi_yaml_read_inputs, lwi_yaml_read_functions, read_bodies,         lwi_yaml_read_joints,
        lwi_yaml_read_others, lwi_yaml_read_measures,  lwi_yaml_read_events};
    TRY(open_file(r, root));
    for (int i = 0; i < LWI_COUNT(step); i++) {
        const bool inner = step[i] == lwi_yaml_read_functions || step[i] == lwi_yaml_read_measures;
        TRY(inner ? inner_first(r, step[i]) : each_file(r, step[i]));
    }
    return r->child ? keep_files(r) : LW_OK;
}

lw_status lwi_read_yaml(const char *text, size_t length, const char *name, const lw_read_desc *desc,
                        lw_builder *builder, lw_options *options, lw_error *error)
{
    int total = 0;
    lwi_yaml_reading reading = {.file = name,
                                .builder = builder,
                                .options = options,
                                .error = error,
                                .alternative = -1,
                                .set = desc->set,
                                .nset = desc->nset,
                                .prefix = "",
                                .folder = desc->folder,
                                .total = &total,
                                .places = {desc->folder, desc->package_path}};
    const lwi_document_value *root = builder->document;
    lwi_yaml_place_none(&reading.placement);
    lwi_arena_init(&reading.arena, desc->allocator);
    reading.meshes.arena = &reading.arena;
    lw_status status = LW_OK;
    if (!root) status = lwi_document_parse(text, length, name, &reading.arena, &root, error);
    if (status == LW_OK) status = read_file(&reading, root);
    lwi_yaml_close_includes(&reading);
    lwi_arena_free(&reading.arena);
    return status;
}
