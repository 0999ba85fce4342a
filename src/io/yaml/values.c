// values.c -- numbers, words and names from scalars and short lists of the document.
#include "base/assert.h"
#include "base/numbers.h"
#include "io/yaml/include.h"
#include "io/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 32 }; // of an object

// ------------------------------------------------------------------------------------------ errors

lw_status lwi_yaml_fail(lwi_yaml_reading *r, lw_status status, lw_place place, const char *format,
                        ...)
{
    char text[sizeof r->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_fail_at(r->error, status, r->file, place.line, place.column, "%s%s%s%s%s", r->item,
                       *r->item ? ": " : "", r->path, *r->path ? ": " : "", text);
}

lw_status lwi_yaml_no_memory(lwi_yaml_reading *r)
{
    return lwi_fail(r->error, LW_ERR_MEMORY, "no memory to read the model");
}

lw_status lwi_yaml_expected(lwi_yaml_reading *r, const lwi_document_value *found,
                            const char *expected)
{
    char what[80];
    if (found->kind == LWI_DOCUMENT_LIST)
        snprintf(what, sizeof what, "a list of %d", found->count);
    else if (found->kind == LWI_DOCUMENT_MAP)
        snprintf(what, sizeof what, "a map of %d keys", found->count);
    else if (!*found->text && !found->quoted)
        snprintf(what, sizeof what, "nothing");
    else
        snprintf(what, sizeof what, "%s'%.48s'", found->quoted ? "the string " : "", found->text);
    return lwi_yaml_fail(r, LW_ERR_PARSE, found->place, "expected %s, found %s", expected, what);
}

// Appends at most `limit` characters to the text in to [size], which it cuts; every key of a file comes here, and
// snprintf takes five times as long.
static void append(char *to, size_t size, const char *text, size_t limit)
{
    const size_t length = strlen(to), room = size - 1 - length;
    const size_t n = strnlen(text, limit < room ? limit : room);
    memcpy(to + length, text, n);
    to[length + n] = 0;
}

void lwi_yaml_set_item(lwi_yaml_reading *r, const char *kind, const char *name)
{
    r->item[0] = r->path[0] = 0;
    if (!*kind) return;
    append(r->item, sizeof r->item, kind, sizeof r->item);
    append(r->item, sizeof r->item, " '", 2);
    append(r->item, sizeof r->item, name, 150);
    append(r->item, sizeof r->item, "'", 1);
}

size_t lwi_yaml_enter(lwi_yaml_reading *r, const char *key)
{
    const size_t length = strlen(r->path);
    if (length) append(r->path, sizeof r->path, ".", 1);
    append(r->path, sizeof r->path, key, 60);
    return length;
}

void lwi_yaml_leave(lwi_yaml_reading *r, size_t length)
{
    LWI_ASSERT(length <= strlen(r->path));
    r->path[length] = 0;
}

// Words of other programs for keys and types of ours.
static const struct {
    const char *theirs, *ours[3];
} synonyms[] = {
    {"hinge", {"revolute"}},
    {"pin", {"revolute", "pin_slot"}},
    {"rotational", {"revolute"}},
    {"continuous", {"revolute"}},
    {"slide", {"prismatic"}},
    {"slider", {"prismatic"}},
    {"translational", {"prismatic"}},
    {"ball", {"spherical"}},
    {"cardan", {"universal"}},
    {"hooke", {"universal"}},
    {"weld", {"fixed"}},
    {"rigid", {"fixed"}},
    {"floating", {"free"}},
    {"freejoint", {"free"}},
    {"helical", {"screw"}},
    {"rod", {"distance"}},
    {"parent", {"between", "in"}},
    {"child", {"between"}},
    {"body1", {"between"}},
    {"body2", {"between"}},
    {"world", {"ground"}},
    {"fixed_world", {"ground"}},
    {"actuator", {"forces", "effort", "servo"}},
    {"actuators", {"forces"}},
    {"motor", {"effort", "servo"}},
    {"armature", {"rotor"}},
    {"frictionloss", {"friction"}},
    {"range", {"limits"}},
    {"limit", {"limits"}},
    {"links", {"bodies"}},
    {"link", {"bodies"}},
    {"constraints", {"joints"}},
    {"sites", {"markers"}},
    {"site", {"markers"}},
    {"variables", {"parameters"}},
    {"hardpoints", {"points"}},
    {"options", {"simulation"}},
    {"option", {"simulation"}},
    {"solver", {"simulation", "integrator"}},
    {"geom", {"shape"}},
    {"visual", {"shape"}},
    {"geometry", {"shape"}},
    {"pos", {"position", "at"}},
    {"at", {"position"}}, // of a body, a marker
    {"origin", {"position", "at"}},
    {"quat", {"orientation"}},
    {"rotation", {"orientation"}},
    {"anchor", {"at"}},
    {"location", {"at", "position"}},
    {"direction", {"axis"}},
    {"lead", {"pitch"}},
    {"cog", {"com"}},
    {"center_of_mass", {"com"}},
    {"moi", {"inertia"}},
    {"torque", {"effort", "torque"}},
    {"velocity", {"qd", "velocity"}},
    {"initial", {"q"}},
    {"stiffness", {"spring"}}, // of a joint
    {"damping", {"spring"}},
    {"k", {"stiffness"}},
    {"c", {"damping"}},
    {"rest_length", {"length"}},
    {"free_length", {"length"}},
    {"contact", {"stop"}},
    {"plane", {"stop"}},
    {"tendon", {"spring", "servo"}},
    {"damper", {"spring"}},
    {"force", {"wrench", "force"}},
    {"gear", {"couplings", "gear"}},
    {"ratio", {"gear", "factor"}},
    {"inertia", {"rotor"}}, // of a servo
    {"time_constant", {"lag", "time"}},
    {"saturation", {"effort_range", "range"}},
    {"limits", {"effort_range", "range"}},
    {"max_effort", {"effort_range"}},
    {"max_force", {"effort_range"}},
    {"max_torque", {"effort_range"}},
    {"rate_limit", {"effort_rate"}},
    {"setpoint", {"target", "reference"}},
    {"springs", {"forces"}},
    {"dampers", {"forces"}},
    {"motors", {"forces"}},
    {"contacts", {"forces"}},
    {"tendons", {"forces"}},
    {"controllers", {"signals"}},
    {"sensors", {"measures"}},
    {"outputs", {"measures"}},
    {"mimic", {"couplings"}},
    {"equality", {"couplings", "joints"}},
    {"expression", {"formula", "of"}},
    {"spline", {"table"}},
    {"cubic", {"spline", "table"}},
    {"harmonic", {"sine"}},
    {"const", {"constant"}},
};

// Our word for one of other programs, if it is among the names.
static const char *translated(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < LWI_COUNT(synonyms); i++) {
        if (strcmp(synonyms[i].theirs, name) != 0) continue;
        for (int k = 0; k < LWI_COUNT(synonyms[i].ours) && synonyms[i].ours[k]; k++)
            for (int n = 0; n < count; n++)
                if (names[n] && strcmp(names[n], synonyms[i].ours[k]) == 0) return names[n];
    }
    return NULL;
}

const char *lwi_yaml_hint(char *text, size_t size, const char *name, const char *const *names,
                          int count)
{
    enum { MAX_ITEMS = 10000 }; // an edit distance costs microseconds
    const char *near = names && count < MAX_KEYS ? translated(name, names, count) : NULL;
    if (!near && names) near = lwi_nearest(name, names, count < MAX_ITEMS ? count : MAX_ITEMS);
    text[0] = 0;
    if (near) snprintf(text, size, ", did you mean '%.80s'?", near);
    return text;
}

// ----------------------------------------------------------------------------------------- numbers

lw_status lwi_yaml_read_number(lwi_yaml_reading *r, const lwi_document_value *v, double *x)
{
    if (lwi_yaml_is_expression(r, v)) return lwi_yaml_expression(r, v, x);
    if (v->kind != LWI_DOCUMENT_SCALAR || v->quoted || !v->number)
        return lwi_yaml_expected(r, v, "a number, written as in JSON (-1, 0.5, 1e-3)");
    const double value = lwi_number_value(v->text);
    if (!isfinite(value)) return lwi_yaml_expected(r, v, "a number below 1.8e308");
    if (lwi_number_underflows(v->text, value))
        return lwi_yaml_expected(r, v, "0 or a number of at least 4.9e-324");
    *x = value;
    return LW_OK;
}

lw_status lwi_yaml_read_integer(lwi_yaml_reading *r, const lwi_document_value *v, int *x)
{
    double value = 0; // for gcc, which warns at -O3
    TRY(lwi_yaml_read_number(r, v, &value));
    if (value != floor(value) || fabs(value) > INT_MAX)
        return lwi_yaml_expected(r, v, "a whole number");
    *x = (int)value;
    return LW_OK;
}

lw_status lwi_yaml_check_range(lwi_yaml_reading *r, const lwi_yaml_key *key,
                               const lwi_document_value *v, double x)
{
    static const char *const expected[] = {"", ">= 0", "> 0", ">= 1", "that is not 0"};
    char path[sizeof r->path];
    switch (key->range) {
    case LWI_RANGE_NOT_NEGATIVE:
        if (x >= 0) return LW_OK;
        break;
    case LWI_RANGE_POSITIVE:
        if (x > 0) return LW_OK;
        break;
    case LWI_RANGE_FROM_ONE:
        if (x >= 1) return LW_OK;
        break;
    case LWI_RANGE_NOT_ZERO:
        if (x != 0) return LW_OK;
        break;
    case LWI_RANGE_ANY:
        return LW_OK;
    }
    lwi_copy_text(path, sizeof path, r->path);
    lwi_yaml_leave(r, 0); // the message names the key
    return lwi_yaml_fail(r, LW_ERR_MODEL, v->place, "%s is %g, expected a number %s", path, x,
                         expected[key->range]);
}

lw_status lwi_yaml_read_numbers(lwi_yaml_reading *r, const lwi_document_value *v, int count,
                                double *x)
{
    if (v->kind != LWI_DOCUMENT_LIST || v->count != count) {
        char expected[48];
        snprintf(expected, sizeof expected, "a list of %d number%s", count, count == 1 ? "" : "s");
        return lwi_yaml_expected(r, v, expected);
    }
    const int alternative = r->alternative;
    for (int i = 0; i < count; i++) {
        if (count == 6) r->alternative = i / 3; // displacements, then rotations
        TRY(lwi_yaml_read_number(r, v->item[i], &x[i]));
    }
    r->alternative = alternative;
    return LW_OK;
}

lw_status lwi_yaml_read_list(lwi_yaml_reading *r, const lwi_document_value *v, const double **list,
                             int *count)
{
    if (v->kind != LWI_DOCUMENT_LIST || v->count == 0)
        return lwi_yaml_expected(r, v, "a list of one or more numbers");
    double *x = LWI_PUSH(&r->arena, double, v->count);
    if (!x) return lwi_yaml_no_memory(r);
    TRY(lwi_yaml_read_numbers(r, v, v->count, x));
    *list = x;
    *count = v->count;
    return LW_OK;
}

lw_status lwi_yaml_read_rows(lwi_yaml_reading *r, const lwi_document_value *v, const double **list,
                             int *nrow, int *ncolumn)
{
    static const char what[] = "a list of lists of numbers";
    if (v->kind != LWI_DOCUMENT_LIST || v->count == 0) return lwi_yaml_expected(r, v, what);
    const int n = v->item[0]->count;
    size_t all = 0;
    for (int i = 0; i < v->count; i++) {
        const lwi_document_value *row = v->item[i];
        if (row->kind != LWI_DOCUMENT_LIST || row->count == 0)
            return lwi_yaml_expected(r, row, what);
        if (row->count != n)
            return lwi_yaml_fail(r, LW_ERR_PARSE, row->place,
                                 "row %d has %d numbers and the first one %d, expected as many",
                                 i + 1, row->count, n);
        all += (size_t)n;
    }
    double *x = lwi_arena_push(&r->arena, all, sizeof *x);
    if (!x) return lwi_yaml_no_memory(r);
    for (int i = 0; i < v->count; i++)
        TRY(lwi_yaml_read_numbers(r, v->item[i], n, x + (size_t)i * (size_t)n));
    *list = x, *nrow = v->count, *ncolumn = n;
    return LW_OK;
}

lw_status lwi_yaml_read_vector(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x)
{
    double a[3];
    bool found = false;
    TRY(lwi_yaml_read_point(r, v, x, &found));
    if (found) return lwi_yaml_place_point(r, v, x);
    TRY(lwi_yaml_read_numbers(r, v, 3, a));
    *x = (lw_vec3){a[0], a[1], a[2]};
    return LW_OK;
}

// In a description the zero vector is the default; in a file it is an error.
lw_status lwi_yaml_read_direction(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x)
{
    TRY(lwi_yaml_read_vector(r, v, x));
    if (x->x == 0 && x->y == 0 && x->z == 0)
        return lwi_yaml_fail(r, LW_ERR_MODEL, v->place, "is the zero vector, expected a direction");
    return LW_OK;
}

// The same for quaternions; the builder checks that their length is 1.
lw_status lwi_yaml_read_quaternion(lwi_yaml_reading *r, const lwi_document_value *v, lw_quat *x)
{
    double a[4];
    TRY(lwi_yaml_read_numbers(r, v, 4, a));
    *x = (lw_quat){a[0], a[1], a[2], a[3]};
    if (a[0] == 0 && a[1] == 0 && a[2] == 0 && a[3] == 0)
        return lwi_yaml_fail(r, LW_ERR_MODEL, v->place,
                             "is zero, expected a unit quaternion [w, x, y, z]");
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- words

lw_status lwi_yaml_read_text(lwi_yaml_reading *r, const lwi_document_value *v, const char *expected,
                             const char **text)
{
    if (v->kind != LWI_DOCUMENT_SCALAR || !*v->text) return lwi_yaml_expected(r, v, expected);
    *text = v->text;
    return LW_OK;
}

// "a, b, c"
static const char *join(char *text, size_t size, const char *const *words, int count)
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < count && length < size; i++)
        if (words[i])
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                       words[i]);
    return text;
}

lw_status lwi_yaml_read_word(lwi_yaml_reading *r, const lwi_document_value *v,
                             const char *const *words, int count, int *word)
{
    const char *text = "";
    char expected[256] = "one of ", hint[128];
    for (int i = 0; i < count && v->kind == LWI_DOCUMENT_SCALAR; i++)
        if (words[i] && !strcmp(v->text, words[i])) {
            *word = i;
            return LW_OK;
        }
    join(expected + strlen(expected), sizeof expected - strlen(expected), words, count);
    TRY(lwi_yaml_read_text(r, v, expected, &text));
    return lwi_yaml_fail(r, LW_ERR_PARSE, v->place, "unknown word '%.48s'%s expected %s", text,
                         *lwi_yaml_hint(hint, sizeof hint, text, words, count) ? hint : ",",
                         expected);
}

int lwi_yaml_coordinate_number(const char *text)
{
    return text[0] == 'q' && text[1] >= '0' && text[1] <= '9' && text[2] == 0 ? text[1] - '0' : -1;
}

lw_status lwi_yaml_read_coordinate(lwi_yaml_reading *r, const lwi_document_value *v,
                                   int *coordinate)
{
    const char *text = "";
    TRY(lwi_yaml_read_text(r, v, "a coordinate (q0, q1, ...)", &text));
    const int k = lwi_yaml_coordinate_number(text);
    if (k < 0) return lwi_yaml_expected(r, v, "a coordinate (q0, q1, ...)");
    *coordinate = k;
    return LW_OK;
}

static lw_status read_shape_size(lwi_yaml_reading *r, const lwi_document_value *v, int type,
                                 lw_shape *shape)
{
    shape->type = (lw_shape_type)type;
    if (type == LW_SHAPE_MESH) return lwi_yaml_read_mesh(r, v, &shape->mesh);
    r->key = &lwi_yaml_size_key;
    if (lwi_yaml_shape_sizes[type] == 1 && v->kind == LWI_DOCUMENT_SCALAR)
        return lwi_yaml_read_number(r, v, shape->size);
    return lwi_yaml_read_numbers(r, v, lwi_yaml_shape_sizes[type], shape->size);
}

// Reads one key of a shape: type with sizes, pose, or colour.
static lw_status read_shape_key(lwi_yaml_reading *r, const char *key, const lwi_document_value *v,
                                lw_place place, lw_shape *shape)
{
    static const char *const others[] = {"position", "orientation", "color", "scale"};
    const char *names[LW_SHAPE_COUNT + LWI_COUNT(others)];
    int n = 0, s = 1; // shape 0: none
    while (s < LW_SHAPE_COUNT && strcmp(lwi_yaml_shape_names[s], key) != 0) s++;
    if (s < LW_SHAPE_COUNT && shape->type)
        return lwi_yaml_fail(r, LW_ERR_PARSE, place, "both %s and %s, expected one shape in a map",
                             lwi_yaml_shape_names[shape->type], key);
    if (s < LW_SHAPE_COUNT) return read_shape_size(r, v, s, shape);
    r->key = &lwi_yaml_point_key;
    if (strcmp(key, "position") == 0) {
        shape->has_position = 1;
        return lwi_yaml_read_vector(r, v, &shape->position);
    }
    r->key = NULL;
    if (strcmp(key, "orientation") == 0) return lwi_yaml_read_quaternion(r, v, &shape->orientation);
    if (strcmp(key, "color") == 0) {
        shape->has_color = 1;
        shape->color[3] = 1;
        return lwi_yaml_read_numbers(r, v, v->kind == LWI_DOCUMENT_LIST && v->count == 4 ? 4 : 3,
                                     shape->color);
    }
    if (strcmp(key, "scale") == 0) {
        if (shape->type != LW_SHAPE_MESH)
            return lwi_yaml_fail(r, LW_ERR_PARSE, place, "scale, expected after a mesh");
        return lwi_yaml_read_numbers(r, v, 3, shape->size);
    }
    char list[160], hint[128];
    for (int i = 1; i < LW_SHAPE_COUNT; i++) names[n++] = lwi_yaml_shape_names[i];
    for (int i = 0; i < LWI_COUNT(others); i++) names[n++] = others[i];
    lwi_yaml_hint(hint, sizeof hint, key, names, n);
    return lwi_yaml_fail(r, LW_ERR_PARSE, place, "unknown shape '%.48s'%s known: %s", key,
                         *hint ? hint : ",", join(list, sizeof list, names, n));
}

static lw_status read_one_shape(lwi_yaml_reading *r, const lwi_document_value *v, lw_shape *shape)
{
    static const char expected[] = "a map of one shape to its sizes, like {box: [1, 2, 3]}";
    *shape = (lw_shape){0};
    if (v->kind != LWI_DOCUMENT_MAP || v->count == 0) return lwi_yaml_expected(r, v, expected);
    for (int i = 0; i < v->count; i++) {
        const size_t mark = lwi_yaml_enter(r, v->key[i]);
        TRY(read_shape_key(r, v->key[i], v->item[i], v->key_place[i], shape));
        lwi_yaml_leave(r, mark);
    }
    return shape->type ? LW_OK : lwi_yaml_expected(r, v, expected);
}

lw_status lwi_yaml_read_shapes(lwi_yaml_reading *r, const lwi_document_value *v,
                               const lw_shape **shapes, int *count)
{
    const bool list = v->kind == LWI_DOCUMENT_LIST;
    const int n = list ? v->count : 1;
    if (n == 0) return lwi_yaml_expected(r, v, "a shape, or a list of one or more");
    lw_shape *shape = LWI_PUSH(&r->arena, lw_shape, n);
    if (!shape) return lwi_yaml_no_memory(r);
    for (int i = 0; i < n; i++) TRY(read_one_shape(r, list ? v->item[i] : v, &shape[i]));
    *shapes = shape;
    *count = n;
    return LW_OK;
}

// -------------------------------------------------------------------------------------- references

lw_status lwi_yaml_read_reference(lwi_yaml_reading *r, const lwi_document_value *v,
                                  const char *kind, const lwi_document_value *map, int *index)
{
    char expected[48] = "the name of a ", hint[128];
    const char *name = "";
    append(expected, sizeof expected, kind, sizeof expected);
    TRY(lwi_yaml_read_text(r, v, expected, &name));
    const int k = map ? lwi_document_find(map, name) : -1;
    if (k < 0 && strcmp(kind, "body") == 0 && strcmp(name, "world") == 0)
        return lwi_yaml_fail(r, LW_ERR_MODEL, v->place,
                             "there is no body 'world', did you mean 'ground'?");
    if (k < 0)
        return lwi_yaml_fail(
            r, LW_ERR_MODEL, v->place, "there is no %s '%.80s'%s", kind, name,
            lwi_yaml_hint(hint, sizeof hint, name, map ? map->key : NULL, map ? map->count : 0));
    *index = k;
    return LW_OK;
}

lw_status lwi_yaml_read_body(lwi_yaml_reading *r, const lwi_document_value *v, int32_t *index)
{
    if (v->kind == LWI_DOCUMENT_SCALAR && strcmp(v->text, "ground") == 0) {
        *index = r->ground.index;
        return LW_OK;
    }
    int k = r->child && v->kind == LWI_DOCUMENT_SCALAR ? lwi_yaml_find_body(r, v->text) : 0;
    if (k > 0) {
        *index = k;
        return LW_OK;
    }
    TRY(lwi_yaml_read_reference(r, v, "body", r->bodies, &k));
    LWI_ASSERT(r->body[k] > 0); // bodies are added before they are referred to
    *index = r->body[k];
    return LW_OK;
}

lw_status lwi_yaml_read_pair(lwi_yaml_reading *r, const lwi_document_value *v, lw_body pair[2])
{
    if (v->kind != LWI_DOCUMENT_LIST || v->count != 2)
        return lwi_yaml_expected(r, v, "a list of two bodies: [body1, body2]");
    for (int i = 0; i < 2; i++) TRY(lwi_yaml_read_body(r, v->item[i], &pair[i].index));
    return LW_OK;
}

lw_status lwi_yaml_read_joint(lwi_yaml_reading *r, const lwi_document_value *v, int32_t *index)
{
    int k = r->child && v->kind == LWI_DOCUMENT_SCALAR ? lwi_yaml_find_joint(r, v->text) : -1;
    if (k >= 0) {
        *index = k;
        return LW_OK;
    }
    TRY(lwi_yaml_read_reference(r, v, "joint", r->joints, &k));
    *index = r->joint[k];
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- keys

// Lists the keys that belong to type t, `type` included.
static int known_keys(const lwi_yaml_object *object, int type, const char **names)
{
    int n = 0;
    if (object->type) names[n++] = "type";
    for (int i = 0; i < object->nkey && n < MAX_KEYS; i++)
        if (lwi_yaml_key_belongs(&object->key[i], type)) names[n++] = object->key[i].name;
    return n;
}

static lw_status unknown_key(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                             const char *key, lw_place place)
{
    const char *names[MAX_KEYS];
    char list[320], hint[128];
    const int n = known_keys(object, type, names);
    join(list, sizeof list, names, n);
    const char *const *types =
        object == &lwi_yaml_mechanism_object ? lwi_yaml_mechanism_names : object->type;
    if (lwi_yaml_key_find(object, key))
        return lwi_yaml_fail(r, LW_ERR_PARSE, place, "'%s' does not belong to a %s %s, allowed: %s",
                             key, types ? types[type] : "", object->title, list);
    return lwi_yaml_fail(r, LW_ERR_PARSE, place, "unknown key '%.48s'%s allowed: %s", key,
                         *lwi_yaml_hint(hint, sizeof hint, key, names, n) ? hint : ",", list);
}

lw_status lwi_yaml_check_keys(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                              const lwi_document_value *map, lw_place place)
{
    for (int i = 0; i < map->count; i++) {
        if (object->type && *map->key[i] == 't' && strcmp(map->key[i], "type") == 0) continue;
        const lwi_yaml_key *key = lwi_yaml_key_find(object, map->key[i]);
        if (!key || !lwi_yaml_key_belongs(key, type))
            return unknown_key(r, object, type, map->key[i], map->key_place[i]);
    }
    for (int i = 0; i < object->nkey; i++) {
        const lwi_yaml_key *key = &object->key[i];
        if ((key->required >> type & 1u) && lwi_document_find(map, key->name) < 0)
            return lwi_yaml_fail(r, LW_ERR_PARSE, place, "key '%s' is missing: %s", key->name,
                                 key->help);
    }
    return LW_OK;
}
