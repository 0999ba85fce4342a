// read.c -- reads the native model file, by the tables of keys.c.
//
// Sections are read in the order functions, inputs, bodies, joints, ..., independent of their order in
// the file.  A function or a body may refer to a later one of its section.
#include "base/assert.h"
#include "io/readers.h"
#include "io/text.h"
#include "io/yaml/values.h"

#include <stdio.h>
#include <string.h>

static lw_status read_signal(lwi_yaml_reading *r, const lwi_document_value *v, lw_signal *signal);
static lw_status read_object(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                             const lwi_document_value *map, lw_place place, void *target);

// Adds the place of the item to errors of the builder without a place.
static lw_status added(lwi_yaml_reading *r, lw_status status, lw_place place)
{
    if (status != LW_OK && r->error && r->error->line == 0) {
        lwi_copy_text(r->error->file, sizeof r->error->file, r->file);
        r->error->line = place.line;
        r->error->column = place.column;
    }
    return status;
}

// Type of an object by its key `type`; 0 for objects without types.
static lw_status read_type(lwi_yaml_reading *r, const lwi_yaml_object *object,
                           const lwi_document_value *map, lw_place place, int *type)
{
    *type = 0;
    if (!object->type) return LW_OK;
    const int k = lwi_document_find(map, "type");
    if (k < 0)
        return lwi_yaml_fail(r, LW_ERR_PARSE, place, "key 'type' is missing: type of the %s",
                             object->title);
    const lwi_document_value *v = map->item[k];
    const char *const *later = object->later_type;
    for (; v->kind == LWI_DOCUMENT_SCALAR && later && *later; later++)
        if (strcmp(*later, v->text) == 0)
            return lwi_yaml_fail(r, LW_ERR_UNSUPPORTED, v->place, "type '%s' is not supported yet",
                                 v->text);
    const size_t mark = lwi_yaml_enter(r, "type");
    TRY(lwi_yaml_read_word(r, v, object->type, object->ntype, type));
    lwi_yaml_leave(r, mark);
    return LW_OK;
}

// --------------------------------------------------------------------------------------- functions

static lw_status add_constant(lwi_yaml_reading *r, const char *name, lw_place place, double value,
                              lw_signal *signal)
{
    const lw_function_desc desc = {
        .name = name, .type = LW_FUNCTION_CONSTANT, .value = value, .place = place};
    return added(r, lw_builder_add_function(r->builder, &desc, signal, r->error), place);
}

static lw_status add_function(lwi_yaml_reading *r, const char *name, lw_place place,
                              const lwi_document_value *map, lw_signal *signal)
{
    lwi_yaml_function item = {.desc = {.name = name, .place = place}};
    int type;
    TRY(read_type(r, &lwi_yaml_function_object, map, place, &type));
    item.desc.type = (lw_function_type)type;
    TRY(read_object(r, &lwi_yaml_function_object, type, map, place, &item));
    if (item.nt != item.ny)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place, "t has %d numbers and y %d, expected as many",
                             item.nt, item.ny);
    item.desc.npoint = item.nt;
    if (item.formula_place.line) place = item.desc.place = item.formula_place;
    const lw_status status = lw_builder_add_function(r->builder, &item.desc, signal, r->error);
    if (status == LW_ERR_MODEL && !name &&
        r->error) { // a function without a name: name the item that has it
        char text[sizeof r->error->text];
        memcpy(text, r->error->text, sizeof text);
        return lwi_yaml_fail(r, status, place, "%s", text);
    }
    return added(r, status, place);
}

// Reads function k of the section, possibly on behalf of another function that refers to it.
static lw_status read_named_function(lwi_yaml_reading *r, int k, lw_place asked, lw_signal *signal)
{
    const char *name = r->functions->key[k];
    const lwi_document_value *v = r->functions->item[k];
    const lw_place place = r->functions->key_place[k];
    if (r->function_open[k])
        return lwi_yaml_fail(r, LW_ERR_MODEL, asked, "function '%.80s' is a sum of itself", name);
    if (r->function_depth == LWI_DOCUMENT_DEPTH)
        return lwi_yaml_fail(r, LW_ERR_MODEL, asked, "more than %d functions refer to each other",
                             (int)LWI_DOCUMENT_DEPTH);
    if (r->function[k].index == 0) {
        char item[sizeof r->item], path[sizeof r->path];
        memcpy(item, r->item, sizeof item);
        memcpy(path, r->path, sizeof path);
        lwi_yaml_set_item(r, "function", name);
        r->function_open[k] = 1;
        r->function_depth++;
        double value;
        if (v->kind == LWI_DOCUMENT_MAP) {
            TRY(add_function(r, name, place, v, &r->function[k]));
        } else if (v->kind == LWI_DOCUMENT_SCALAR && !v->quoted && lwi_text_is_number(v->text)) {
            TRY(lwi_yaml_read_number(r, v, &value));
            TRY(add_constant(r, name, place, value, &r->function[k]));
        } else {
            return lwi_yaml_expected(r, v, "a number or a map with a type");
        }
        r->function_depth--;
        r->function_open[k] = 0;
        memcpy(r->item, item, sizeof item);
        memcpy(r->path, path, sizeof path);
    }
    *signal = r->function[k];
    return LW_OK;
}

static lw_status read_signal_name(lwi_yaml_reading *r, const lwi_document_value *v,
                                  lw_signal *signal)
{
    char hint[128];
    const int k = r->functions ? lwi_document_find(r->functions, v->text) : -1;
    if (k >= 0) return read_named_function(r, k, v->place, signal);
    const int input = lwi_names_find(&r->inputs, v->text);
    if (input >= 0) {
        signal->index = -input - 1;
        return LW_OK;
    }
    if (!v->quoted && strchr("+-.0123456789", v->text[0]))
        return lwi_yaml_expected(r, v, "a number as in JSON, a function or an input");
    lwi_yaml_hint(hint, sizeof hint, v->text, r->functions ? r->functions->key : NULL,
                  r->functions ? r->functions->count : 0);
    if (!*hint) lwi_yaml_hint(hint, sizeof hint, v->text, r->inputs.name, r->inputs.count);
    return lwi_yaml_fail(r, LW_ERR_MODEL, v->place, "there is no function or input '%.80s'%s",
                         v->text, hint);
}

static lw_status read_signal(lwi_yaml_reading *r, const lwi_document_value *v, lw_signal *signal)
{
    double value;
    if (v->kind == LWI_DOCUMENT_MAP) return add_function(r, NULL, v->place, v, signal);
    if (v->kind != LWI_DOCUMENT_SCALAR || !*v->text)
        return lwi_yaml_expected(r, v, "a number, the name of a function or input, or a function");
    if (v->quoted || !lwi_text_is_number(v->text)) return read_signal_name(r, v, signal);
    TRY(lwi_yaml_read_number(r, v, &value));
    return add_constant(r, NULL, v->place, value, signal);
}

// For keys where 0 is the same as none, 0 is none.
static lw_status read_signal_or_none(lwi_yaml_reading *r, const lwi_document_value *v,
                                     lw_signal *signal)
{
    double value = 1;
    if (v->kind == LWI_DOCUMENT_SCALAR && !v->quoted && lwi_text_is_number(v->text))
        TRY(lwi_yaml_read_number(r, v, &value));
    if (value != 0) return read_signal(r, v, signal);
    signal->index = 0;
    return LW_OK;
}

static lw_status read_signals(lwi_yaml_reading *r, const lwi_document_value *v, int count,
                              lw_signal *signals)
{
    if (v->kind != LWI_DOCUMENT_LIST || v->count != count)
        return lwi_yaml_expected(r, v, "a list of three numbers or functions");
    for (int i = 0; i < count; i++) TRY(read_signal_or_none(r, v->item[i], &signals[i]));
    return LW_OK;
}

static lw_status read_terms(lwi_yaml_reading *r, const lwi_document_value *v,
                            const lw_signal **terms, int *count)
{
    if (v->kind != LWI_DOCUMENT_LIST || v->count == 0)
        return lwi_yaml_expected(r, v, "a list of one or more functions");
    lw_signal *list = LWI_PUSH(&r->arena, lw_signal, v->count);
    if (!list) return lwi_yaml_no_memory(r);
    for (int i = 0; i < v->count; i++) TRY(read_signal(r, v->item[i], &list[i]));
    *terms = list;
    *count = v->count;
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- objects

// Fields are accessed by offset; structs and arrays of doubles are written in place.
#define FIELD(type, offset) ((type *)(void *)((char *)target + (offset)))

static lw_status read_length(lwi_yaml_reading *r, const lwi_document_value *v, double *length,
                             lw_signal *length_of)
{
    if (v->kind != LWI_DOCUMENT_SCALAR || v->quoted || !lwi_text_is_number(v->text))
        return read_signal(r, v, length_of);
    TRY(lwi_yaml_read_number(r, v, length));
    if (*length > 0) return LW_OK;
    return lwi_yaml_fail(r, LW_ERR_MODEL, v->place,
                         "is %g, expected a number > 0 [m] or a function", *length);
}

static lw_status read_each(lwi_yaml_reading *r, const lwi_yaml_key *element, int joint_type,
                           const lwi_document_value *v, lw_joint_desc *joint, void *target);

// {coordinates: 7, tangent: 0} as "coordinates=7,tangent=0".  Each pair is checked, so that errors have its
// place.
static lw_status read_pairs(lwi_yaml_reading *r, const lwi_yaml_key *key,
                            const lwi_document_value *v, char *pairs, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < v->count; i++) {
        const size_t mark = lwi_yaml_enter(r, v->key[i]);
        const char *text = "", *pair = pairs + at + (i > 0);
        lw_options tried = *r->options;
        lw_error why = {0};
        TRY(lwi_yaml_read_text(r, v->item[i], "a word or a number", &text));
        if (v->item[i]->quoted && lwi_text_is_number(text))
            return lwi_yaml_expected(r, v->item[i], "a word or a number");
        if (strpbrk(v->key[i], "=,") || strpbrk(text, "=,"))
            return lwi_yaml_fail(r, LW_ERR_PARSE, v->item[i]->place,
                                 "'=' and ',' separate pairs, not allowed in a value");
        at += (size_t)snprintf(pairs + at, size - at, "%s%s=%s", i ? "," : "", v->key[i], text);
        if (at >= size) return lwi_yaml_fail(r, LW_ERR_PARSE, v->place, "is too long");
        lwi_yaml_leave(r, mark);
        if (lw_options_set(&tried, key->name, pair, &why) == LW_OK) continue;
        lwi_yaml_leave(r, strlen(r->path) - strlen(key->name) - 1); // the message names the key
        return lwi_yaml_fail(r, LW_ERR_PARSE, v->item[i]->place, "%s", why.text);
    }
    return LW_OK;
}

static lw_status read_option(lwi_yaml_reading *r, const lwi_yaml_key *key,
                             const lwi_document_value *v)
{
    lw_error why = {0};
    double x;
    const char *text = "";
    char pairs[LW_OPTION_STRING_SIZE] = "";
    if (key->kind == LWI_KEY_OPTION_NUMBER) TRY(lwi_yaml_read_number(r, v, &x));
    if (key->kind == LWI_KEY_OPTION_MAP && v->kind == LWI_DOCUMENT_MAP) {
        TRY(read_pairs(r, key, v, pairs, sizeof pairs));
        text = pairs;
    } else {
        TRY(lwi_yaml_read_text(r, v, "a word or a number", &text));
    }
    if (lw_options_set(r->options, key->name, text, &why) == LW_OK) return LW_OK;
    lwi_yaml_leave(r, strlen(r->path) - strlen(key->name) - 1); // the message names the key
    return lwi_yaml_fail(r, LW_ERR_PARSE, v->place, "%s", why.text);
}

static lw_status read_number(lwi_yaml_reading *r, const lwi_yaml_key *key,
                             const lwi_document_value *v, double *x)
{
    TRY(lwi_yaml_read_number(r, v, x));
    return lwi_yaml_check_range(r, key, v, *x);
}

static lw_status read_integer(lwi_yaml_reading *r, const lwi_yaml_key *key,
                              const lwi_document_value *v, int *x)
{
    TRY(lwi_yaml_read_integer(r, v, x));
    return lwi_yaml_check_range(r, key, v, *x);
}

static lw_status read_numbers(lwi_yaml_reading *r, const lwi_yaml_key *key,
                              const lwi_document_value *v, double *x)
{
    TRY(lwi_yaml_read_numbers(r, v, key->count, x));
    for (int i = 0; i < key->count; i++) TRY(lwi_yaml_check_range(r, key, v->item[i], x[i]));
    return LW_OK;
}

static lw_status read_objects(lwi_yaml_reading *r, const lwi_yaml_key *key,
                              const lwi_document_value *v, const void **items, int *count)
{
    char path[32];
    if (v->kind != LWI_DOCUMENT_LIST || v->count == 0)
        return lwi_yaml_expected(r, v, "a list of one or more maps");
    char *list = lwi_arena_push(&r->arena, (size_t)v->count, (size_t)key->count);
    if (!list) return lwi_yaml_no_memory(r);
    for (int i = 0; i < v->count; i++) {
        snprintf(path, sizeof path, "%d", i);
        const size_t mark = lwi_yaml_enter(r, path);
        TRY(read_object(r, key->more, 0, v->item[i], v->item[i]->place,
                        list + (size_t)i * (size_t)key->count));
        lwi_yaml_leave(r, mark);
    }
    *items = list;
    *count = v->count;
    return LW_OK;
}

static lw_status read_key(lwi_yaml_reading *r, const lwi_yaml_key *key, int type,
                          const lwi_document_value *v, void *target)
{
    // clang-format off
    switch (key->kind) {
    case LWI_KEY_NUMBER: return read_number(r, key, v, FIELD(double, key->offset));
    case LWI_KEY_INTEGER: return read_integer(r, key, v, FIELD(int, key->offset));
    case LWI_KEY_NUMBERS: return read_numbers(r, key, v, FIELD(double, key->offset));
    case LWI_KEY_LIST:
        return lwi_yaml_read_list(r, v, FIELD(const double *, key->offset), FIELD(int, key->size));
    case LWI_KEY_START:
        return lwi_yaml_read_numbers(r, v, key->count ? lwi_yaml_joint_nv((lw_joint_type)type)
                                                 : lwi_yaml_joint_nq((lw_joint_type)type),
                                FIELD(double, key->offset));
    case LWI_KEY_VECTOR: return lwi_yaml_read_vector(r, v, FIELD(lw_vec3, key->offset));
    case LWI_KEY_DIRECTION: return lwi_yaml_read_direction(r, v, FIELD(lw_vec3, key->offset));
    case LWI_KEY_QUATERNION: return lwi_yaml_read_quaternion(r, v, FIELD(lw_quat, key->offset));
    case LWI_KEY_SWITCH: {
        int word = 0;
        TRY(lwi_yaml_read_word(r, v, key->more, key->count, &word));
        *FIELD(bool, key->offset) = word != 0;
        return LW_OK;
    }
    case LWI_KEY_WORD: {
        int word = 0; // an enum is as large as an int
        TRY(lwi_yaml_read_word(r, v, key->more, key->count, &word));
        memcpy(FIELD(char, key->offset), &word, sizeof word);
        return LW_OK;
    }
    // clang-format on
    case LWI_KEY_BODY:
        return lwi_yaml_read_body(r, v, FIELD(int32_t, key->offset));
    case LWI_KEY_PAIR:
        return lwi_yaml_read_pair(r, v, FIELD(lw_body, key->offset));
    case LWI_KEY_JOINT:
        return lwi_yaml_read_joint(r, v, FIELD(int32_t, key->offset));
    case LWI_KEY_COORDINATE:
        return lwi_yaml_read_coordinate(r, v, FIELD(int, key->offset));
    case LWI_KEY_SIGNAL:
        return read_signal_or_none(r, v, FIELD(lw_signal, key->offset));
    case LWI_KEY_FUNCTION:
        return read_signal(r, v, FIELD(lw_signal, key->offset));
    case LWI_KEY_SIGNALS:
        return read_signals(r, v, key->count, FIELD(lw_signal, key->offset));
    case LWI_KEY_TERMS:
        return read_terms(r, v, FIELD(const lw_signal *, key->offset), FIELD(int, key->size));
    case LWI_KEY_LENGTH:
        return read_length(r, v, FIELD(double, key->offset), FIELD(lw_signal, key->size));
    case LWI_KEY_STRING:
        *FIELD(lw_place, key->size) = v->place;
        return lwi_yaml_read_text(r, v, "a text", FIELD(const char *, key->offset));
    case LWI_KEY_SHAPES:
        return lwi_yaml_read_shapes(r, v, FIELD(const lw_shape *, key->offset),
                                    FIELD(int, key->size));
    case LWI_KEY_OBJECT:
        return read_object(r, key->more, 0, v, v->place, FIELD(void, key->offset));
    case LWI_KEY_OBJECTS:
        return read_objects(r, key, v, FIELD(const void *, key->offset), FIELD(int, key->size));
    case LWI_KEY_EACH:
        return read_each(r, key->more, type, v, target, FIELD(void, key->offset));
    case LWI_KEY_OPTION:
    case LWI_KEY_OPTION_MAP:
    case LWI_KEY_OPTION_NUMBER:
        return read_option(r, key, v);
    case LWI_KEY_FRAME: // resolved before the bodies are read
    case LWI_KEY_VERSION:
    case LWI_KEY_NAMES:
    case LWI_KEY_ITEMS:
    case LWI_KEY_ITEM_LIST:
    case LWI_KEY_MECHANISMS:
    case LWI_KEY_FORCES:
        break;
    }
    return LW_OK;
}

// Reads the values of a map into the struct of an object.
static lw_status read_object(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                             const lwi_document_value *map, lw_place place, void *target)
{
    char expected[64];
    snprintf(expected, sizeof expected, "a map with the keys of a %s", object->title);
    if (map->kind != LWI_DOCUMENT_MAP) return lwi_yaml_expected(r, map, expected);
    TRY(lwi_yaml_check_keys(r, object, type, map, place));
    for (int i = 0; i < map->count; i++) {
        const lwi_yaml_key *key = lwi_yaml_key_find(object, map->key[i]);
        if (!key) continue; // `type`
        const size_t mark = lwi_yaml_enter(r, key->name);
        TRY(read_key(r, key, type, map->item[i], target));
        lwi_yaml_leave(r, mark);
        if (key->flag) *FIELD(bool, key->flag) = true;
    }
    return LW_OK;
}

// {q0: ..., q1: ...}; `all` in a spring is the damper of spherical and free joints.
static lw_status read_each(lwi_yaml_reading *r, const lwi_yaml_key *element, int joint_type,
                           const lwi_document_value *v, lw_joint_desc *joint, void *target)
{
    const int nv = lwi_yaml_joint_nv((lw_joint_type)joint_type);
    const bool all = element->more == &lwi_yaml_coordinate_object; // springs
    if (v->kind != LWI_DOCUMENT_MAP)
        return lwi_yaml_expected(r, v, "a map of coordinates, like {q0: ...}");
    for (int i = 0; i < v->count; i++) {
        const size_t mark = lwi_yaml_enter(r, v->key[i]);
        const int k = lwi_yaml_coordinate_number(v->key[i]);
        if (all && strcmp(v->key[i], "all") == 0) {
            TRY(read_object(r, &lwi_yaml_isotropic_object, 0, v->item[i], v->item[i]->place,
                            joint));
        } else if (k < 0 || k >= nv) {
            return lwi_yaml_fail(r, LW_ERR_PARSE, v->key_place[i],
                                 "unknown coordinate, those of a %s joint are q0%.*s%s",
                                 lwi_yaml_joint_object.type[joint_type], 4 * (nv - 1),
                                 ", q1, q2, q3, q4, q5", all ? " (or `all`)" : "");
        } else {
            TRY(read_key(r, element, 0, v->item[i],
                         (char *)target + (size_t)k * sizeof(lw_coordinate_desc)));
        }
        lwi_yaml_leave(r, mark);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- items

static lw_status check_name(lwi_yaml_reading *r, const char *kind, const char *name, lw_place place)
{
    const char *problem = lwi_text_name_problem(name);
    lwi_yaml_set_item(r, "", "");
    if (problem) return lwi_yaml_fail(r, LW_ERR_PARSE, place, "the name of a %s %s", kind, problem);
    lwi_yaml_set_item(r, kind, name);
    return LW_OK;
}

// The section of the file, NULL if there is none.
static lw_status section(lwi_yaml_reading *r, const lwi_document_value *root, const char *name,
                         lwi_document_kind kind, const lwi_document_value **v)
{
    const int k = lwi_document_find(root, name);
    *v = k < 0 ? NULL : root->item[k];
    if (k < 0 || (*v)->kind == kind) return LW_OK;
    lwi_yaml_set_item(r, "", "");
    lwi_yaml_enter(r, name);
    return lwi_yaml_expected(r, *v, kind == LWI_DOCUMENT_MAP ? "a map of names" : "a list");
}

static lw_status read_inputs(lwi_yaml_reading *r, const lwi_document_value *root)
{
    const lwi_document_value *list;
    TRY(section(r, root, "inputs", LWI_DOCUMENT_LIST, &list));
    const int n = list ? list->count : 0;
    if (lwi_names_create(n, &r->arena, &r->inputs) != LW_OK) return lwi_yaml_no_memory(r);
    lwi_yaml_set_item(r, "", "");
    lwi_yaml_enter(r, "inputs");
    for (int i = 0; i < n; i++) {
        const char *name = "";
        TRY(lwi_yaml_read_text(r, list->item[i], "the name of an input", &name));
        TRY(check_name(r, "input", name, list->item[i]->place));
        if (r->functions && lwi_document_find(r->functions, name) >= 0)
            return lwi_yaml_fail(r, LW_ERR_MODEL, list->item[i]->place,
                                 "this is the name of a function; names are unique");
        lw_signal input;
        TRY(added(r, lw_builder_add_input(r->builder, name, &input, r->error),
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

static lw_status read_functions(lwi_yaml_reading *r)
{
    const int n = r->functions ? r->functions->count : 0;
    r->function = LWI_PUSH(&r->arena, lw_signal, n);
    r->function_open = LWI_PUSH(&r->arena, char, n);
    if (!r->function || !r->function_open) return lwi_yaml_no_memory(r);
    for (int k = 0; k < n; k++) {
        lw_signal signal;
        TRY(check_name(r, "function", r->functions->key[k], r->functions->key_place[k]));
        TRY(read_named_function(r, k, r->functions->key_place[k], &signal));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ bodies

static lw_status read_body(lwi_yaml_reading *r, int k, lw_body in)
{
    const lw_place place = r->bodies->key_place[k];
    lw_body_desc desc = {.name = r->bodies->key[k], .place = place, .in = in};
    lw_body body;
    TRY(check_name(r, "body", desc.name, place));
    TRY(read_object(r, &lwi_yaml_body_object, 0, r->bodies->item[k], place, &desc));
    TRY(added(r, lw_builder_add_body(r->builder, &desc, &body, r->error), place));
    r->body[k] = body.index;
    return LW_OK;
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

static lw_status read_bodies(lwi_yaml_reading *r)
{
    const int n = r->bodies ? r->bodies->count : 0;
    int *way = LWI_PUSH(&r->arena, int, n);
    r->body = LWI_PUSH(&r->arena, int, n);
    if (!r->body || !way) return lwi_yaml_no_memory(r);
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
    const lwi_document_value *map = r->joints->item[k];
    lw_joint_desc desc = {.name = r->joints->key[k], .place = place};
    lwi_yaml_form form = LWI_FORM_ANY;
    int type;
    lw_joint joint;
    TRY(check_name(r, "joint", desc.name, place));
    if (map->kind != LWI_DOCUMENT_MAP)
        return lwi_yaml_expected(r, map, "a map with the keys of a joint");
    TRY(read_type(r, &lwi_yaml_joint_object, map, place, &type));
    desc.type = (lw_joint_type)type;
    TRY(lwi_yaml_check_keys(r, &lwi_yaml_joint_object, type, map, place));
    TRY(check_form(r, map, place, type, &form));
    desc.placement = form == LWI_FORM_AT ? LW_PLACED_AT : LW_PLACED_FRAMES;
    TRY(read_object(r, &lwi_yaml_joint_object, type, map, place, &desc));
    return added(r, lw_builder_add_joint(r->builder, &desc, &joint, r->error), place);
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
    TRY(read_type(r, &any, map, place, &type));
    lwi_yaml_set_item(r, types[type], name);
    TRY(check_points(r, map));
    const lwi_force_item *item = lwi_force_items[type];
    LWI_ASSERT(item->desc_size <= sizeof desc);
    memcpy(desc.bytes + item->name_at, &name, sizeof name);
    memcpy(desc.bytes + item->place_at, &place, sizeof place);
    TRY(read_object(r, item->keys, 0, map, place, &desc));
    return added(r, item->add(r->builder, &desc, r->error), place);
}

static lw_status read_marker(lwi_yaml_reading *r, const char *name, lw_place place,
                             const lwi_document_value *map)
{
    lw_marker_desc desc = {.name = name, .place = place};
    TRY(check_name(r, "marker", name, place));
    TRY(read_object(r, &lwi_yaml_marker_object, 0, map, place, &desc));
    return added(r, lw_builder_add_marker(r->builder, &desc, r->error), place);
}

static lw_status read_impulse(lwi_yaml_reading *r, const char *name, lw_place place,
                              const lwi_document_value *map)
{
    lw_impulse_desc desc = {.name = name, .place = place};
    TRY(check_name(r, "impulse", name, place));
    TRY(check_points(r, map));
    TRY(read_object(r, &lwi_yaml_impulse_object, 0, map, place, &desc));
    if (!desc.body.index && !desc.on_joint && lwi_document_find(map, "body") < 0)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place,
                             "on what it acts is missing, expected `body` or `joint`");
    return added(r, lw_builder_add_impulse(r->builder, &desc, r->error), place);
}

static lw_status read_coupling(lwi_yaml_reading *r, int k, const lwi_document_value *map)
{
    lw_coupling_desc desc = {.place = map->place};
    lwi_yaml_set_item(r, "", "");
    snprintf(r->item, sizeof r->item, "couplings[%d]", k);
    TRY(read_object(r, &lwi_yaml_coupling_object, 0, map, map->place, &desc));
    return added(r, lw_builder_add_coupling(r->builder, &desc, r->error), map->place);
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
    TRY(read_object(r, &lwi_yaml_mechanism_object, kind, map, place, &desc));
    desc.mechanism = (lw_mechanism)kind;
    desc.place = place;
    return added(r, lw_builder_add_mechanism(r->builder, &desc, r->error), place);
}

static lw_status read_settings(lwi_yaml_reading *r, const lwi_document_value *root)
{
    lw_vec3 gravity;
    const int g = lwi_document_find(root, "gravity"), s = lwi_document_find(root, "simulation");
    lwi_yaml_set_item(r, "", "");
    if (g >= 0) {
        const size_t mark = lwi_yaml_enter(r, "gravity");
        TRY(lwi_yaml_read_vector(r, root->item[g], &gravity));
        lw_builder_gravity(r->builder, gravity);
        lwi_yaml_leave(r, mark);
    }
    if (s < 0) return LW_OK;
    lwi_yaml_enter(r, "simulation");
    const lwi_document_value *map = root->item[s];
    TRY(read_object(r, &lwi_yaml_simulation_object, 0, map, root->key_place[s], r->options));
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

static lw_status read_file(lwi_yaml_reading *r, const lwi_document_value *root)
{
    const lwi_document_value *forces, *markers, *impulses, *couplings, *generate;
    TRY(check_header(r, root));
    TRY(read_settings(r, root));
    TRY(section(r, root, "functions", LWI_DOCUMENT_MAP, &r->functions));
    TRY(section(r, root, "bodies", LWI_DOCUMENT_MAP, &r->bodies));
    TRY(section(r, root, "joints", LWI_DOCUMENT_MAP, &r->joints));
    TRY(section(r, root, "forces", LWI_DOCUMENT_MAP, &forces));
    TRY(section(r, root, "markers", LWI_DOCUMENT_MAP, &markers));
    TRY(section(r, root, "impulses", LWI_DOCUMENT_MAP, &impulses));
    TRY(section(r, root, "couplings", LWI_DOCUMENT_LIST, &couplings));
    TRY(section(r, root, "generate", LWI_DOCUMENT_MAP, &generate));
    if (!r->bodies && !generate)
        return lwi_yaml_fail(r, LW_ERR_PARSE, (lw_place){1, 1},
                             "key 'bodies' is missing: bodies by name");
    TRY(read_inputs(r, root));
    TRY(read_functions(r));
    TRY(read_bodies(r));
    for (int k = 0; r->joints && k < r->joints->count; k++) TRY(read_joint(r, k));
    for (int k = 0; generate && k < generate->count; k++)
        TRY(read_mechanism(r, generate->key[k], generate->key_place[k], generate->item[k]));
    for (int k = 0; couplings && k < couplings->count; k++)
        TRY(read_coupling(r, k, couplings->item[k]));
    for (int k = 0; forces && k < forces->count; k++)
        TRY(read_force(r, forces->key[k], forces->key_place[k], forces->item[k]));
    for (int k = 0; markers && k < markers->count; k++)
        TRY(read_marker(r, markers->key[k], markers->key_place[k], markers->item[k]));
    for (int k = 0; impulses && k < impulses->count; k++)
        TRY(read_impulse(r, impulses->key[k], impulses->key_place[k], impulses->item[k]));
    return LW_OK;
}

lw_status lwi_read_yaml(const char *text, size_t length, const char *name, const lw_read_desc *desc,
                        lw_builder *builder, lw_options *options, lw_error *error)
{
    lwi_yaml_reading reading = {.file = name,
                                .builder = builder,
                                .options = options,
                                .error = error,
                                .places = {desc->folder, desc->package_path}};
    const lwi_document_value *root = NULL;
    lwi_arena_init(&reading.arena, desc->allocator);
    reading.meshes.arena = &reading.arena;
    lw_status status = lwi_document_parse(text, length, name, &reading.arena, &root, error);
    if (status == LW_OK) status = read_file(&reading, root);
    lwi_arena_free(&reading.arena);
    return status;
}
