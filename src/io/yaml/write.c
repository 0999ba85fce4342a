// write.c -- writes the native model file, in the order of the tables of keys.c.
//
// The file is a canonical form: bodies with poses in the world, joints with two frames.  Values that are
// bit for bit the default are omitted, numbers have the fewest digits that read back to the same bits.
// Functions without a name are written inline.
#include "base/numbers.h"
#include "io/yaml/function_names.h"
#include "io/yaml/write.h"
#include "io/yaml/statements.h"
#include "io/text.h"
#include "model/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct writing {
    FILE *file;
    const lwi_description *d;
    lw_error *error;
    lwi_arena arena;
    const char *const *function; // [nfunction] names, NULL: written inline
    lwi_yaml_statements stated;
    struct current *now; // item that is written
    bool flat;           // of a model of several files: numbers in place of expressions
} writing;

typedef struct current {
    lwi_yaml_item item;
    const void *base; // its description
} current;

static current begin_stated(const writing *w, int list, int index, const lwi_yaml_object *keys,
                            const void *base, const char *name)
{
    const current outer = *w->now;
    *w->now = (current){{list, index, keys, name}, base};
    return outer;
}

// What the file stated of a key by an expression; NULL: nothing.  `other`: it is of another key of the same field.
static const char *stated_text(const writing *w, const lwi_yaml_key *key, const void *source,
                               bool *other)
{
    *other = false;
    if (w->flat || !w->d->stated.n || w->now->item.index < 0 || key->kind == LWI_KEY_OBJECT ||
        key->kind == LWI_KEY_EACH)
        return NULL;
    const ptrdiff_t offset = (const char *)source + key->offset - (const char *)w->now->base;
    if (offset < 0) return NULL;
    const lwi_statement *s = lwi_yaml_statement(&w->stated, &w->now->item, (unsigned)offset);
    if (!s) return NULL;
    *other = s->key != key && strcmp(s->key->name, key->name) != 0;
    return *other ? NULL : w->d->stated.text + s->text;
}

static void write_object(const writing *w, const lwi_yaml_object *object, int type,
                         const void *source, const char *between);

// ------------------------------------------------------------------------------------------- names

// Strings that YAML readers interpret as another type.
static bool is_reserved(const char *name)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (int i = 0; i < LWI_COUNT(words); i++)
        if (strcasecmp(name, words[i]) == 0) return true;
    return false;
}

static bool is_plain(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char others[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-./";
    return strspn(name, letters) > 0 && name[strspn(name, others)] == 0 && !is_reserved(name);
}

// Code points that libyaml refuses or treats as line ends.
static bool is_printable(long code)
{
    return code >= 0x20 && code < 0xFFFE && code != 0xFEFF && code != 0x2028 && code != 0x2029;
}

static void put_quoted(const writing *w, const char *text)
{
    fputc('"', w->file);
    for (int bytes = 1; *text; text += bytes) {
        const long code = lwi_text_utf8_next(text, &bytes);
        if (code == '"' || code == '\\')
            fprintf(w->file, "\\%c", (char)code);
        else if (is_printable(code))
            fprintf(w->file, "%.*s", bytes, text);
        else
            fprintf(w->file, "\\U%08lX", (unsigned long)code);
    }
    fputc('"', w->file);
}

static void put_name(const writing *w, const char *name)
{
    if (is_plain(name))
        fputs(name, w->file);
    else
        put_quoted(w, name);
}

// ------------------------------------------------------------------------------------------ values

static void put_number(const writing *w, double x)
{
    lwi_number_print(w->file, x);
}

static void put_numbers(const writing *w, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "[", w->file);
        put_number(w, x[i]);
    }
    fputs("]", w->file);
}

static void put_rows(const writing *w, const double *x, int nrow, int ncolumn)
{
    for (int i = 0; i < nrow; i++) {
        fputs(i ? ", " : "[", w->file);
        put_numbers(w, x + (size_t)i * (size_t)ncolumn, ncolumn);
    }
    fputs("]", w->file);
}

static void put_body(const writing *w, lw_body body)
{
    put_name(w, w->d->body[body.index].name);
}

// How a constant function without a name can be written.
typedef enum constant_form {
    AS_NUMBER,     // as any number
    ZERO_IS_NONE,  // as a number unless it is 0, which means none
    NEVER_A_NUMBER // not as a number, which has another meaning
} constant_form;

static void put_function(const writing *w, const lw_function_desc *f)
{
    const lwi_yaml_function item = {
        .desc = *f, .nt = f->npoint, .ny = f->npoint, .nrow = f->npoint, .ncolumn = f->npoint2};
    const current outer = begin_stated(w, LWI_STATED_FUNCTION, (int)(f - w->d->function),
                                       &lwi_yaml_function_object, &item, NULL);
    fputs("{", w->file);
    write_object(w, &lwi_yaml_function_object, (int)f->type, &item, ", ");
    fputs("}", w->file);
    *w->now = outer;
}

static void put_signal(const writing *w, lw_signal signal, constant_form form)
{
    if (signal.index < 0) {
        put_name(w, w->d->input[-signal.index - 1]);
        return;
    }
    if (signal.index == 0) {
        fputs("0", w->file);
        return;
    }
    const lw_function_desc *f = &w->d->function[signal.index - 1];
    const char *name = w->function[signal.index - 1];
    const bool number = form == AS_NUMBER || (form == ZERO_IS_NONE && f->value != 0);
    if (name) {
        put_name(w, name);
    } else if (f->type == LW_FUNCTION_CONSTANT && number) {
        put_number(w, f->value);
    } else {
        put_function(w, f);
    }
}

// A formula without a name as its text.
static void put_formula(const writing *w, lw_signal signal)
{
    const lw_function_desc *f = signal.index > 0 ? &w->d->function[signal.index - 1] : NULL;
    if (!f || f->type != LW_FUNCTION_FORMULA || w->function[signal.index - 1]) {
        put_signal(w, signal, AS_NUMBER);
        return;
    }
    const lwi_yaml_function item = {.desc = *f};
    const current outer = begin_stated(w, LWI_STATED_FUNCTION, signal.index - 1,
                                       &lwi_yaml_function_object, &item, NULL);
    bool other;
    const char *text =
        stated_text(w, lwi_yaml_key_find(&lwi_yaml_function_object, "of"), &item, &other);
    if (text)
        fputs(text, w->file);
    else
        put_quoted(w, f->formula);
    *w->now = outer;
}

static void put_set(const writing *w, const lw_event_setting *set, int n)
{
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "{", w->file);
        put_name(w, w->function[set[i].target.index - 1]);
        fputs(": ", w->file);
        put_formula(w, set[i].value);
    }
    fputs("}", w->file);
}

static void put_signals(const writing *w, const lw_signal *signals, int n, constant_form form)
{
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "[", w->file);
        put_signal(w, signals[i], form);
    }
    fputs("]", w->file);
}

// ----------------------------------------------------------------------------- values other than the default

#define FIELD(type, offset) ((const type *)(const void *)((const char *)source + (offset)))

// Are all bits zero?  -0 is not.
static bool all_zero(const void *numbers, size_t bytes)
{
    const unsigned char *p = numbers;
    for (size_t i = 0; i < bytes; i++)
        if (p[i]) return false;
    return true;
}

static bool is_identity(const lw_quat *q)
{
    return q->w == 1 && all_zero(&q->x, 3 * sizeof q->x);
}

static bool is_given(const writing *w, const lwi_yaml_key *key, int type, const void *source);

static bool any_given(const writing *w, const lwi_yaml_object *object, const void *source)
{
    for (int i = 0; i < object->nkey; i++) // a key that is always written does not count
        if (!(object->key[i].required & 1u) && is_given(w, &object->key[i], 0, source)) return true;
    return false;
}

static const void *coordinate(const void *source, int k)
{
    return (const char *)source + (size_t)k * sizeof(lw_coordinate_desc);
}

// The spring `all` of a joint; `source` is the joint.
static bool all_given(const lwi_yaml_key *key, const void *source)
{
    const lwi_yaml_key *element = key->more;
    return element->more == &lwi_yaml_coordinate_object &&
           *FIELD(double, offsetof(lw_joint_desc, damping)) != 0;
}

static bool each_given(const writing *w, const lwi_yaml_key *key, int type, const void *source)
{
    for (int k = 0; k < lwi_yaml_joint_nv((lw_joint_type)type); k++)
        if (is_given(w, key->more, 0, coordinate(FIELD(char, key->offset), k))) return true;
    return all_given(key, source);
}

// Is the joint written by `at` and axes, or by points, because the file states them by expressions?
static bool at_stated(const writing *w, const lwi_yaml_object *object, int type, const void *source)
{
    bool other;
    for (int i = 0; i < object->nkey; i++)
        if ((object->key[i].form == LWI_FORM_AT || object->key[i].form == LWI_FORM_POINTS) &&
            lwi_yaml_key_belongs(&object->key[i], type) &&
            stated_text(w, &object->key[i], source, &other))
            return true;
    return false;
}

// Follows from the density that the file states?
static bool of_density(const writing *w, const lwi_yaml_key *key, const void *source)
{
    static const char *const names[] = {"mass", "inertia", "com", "inertia_axes"};
    bool other, is = false;
    for (int i = 0; i < LWI_COUNT(names); i++) is = is || strcmp(key->name, names[i]) == 0;
    return is && w->now->item.list == LWI_STATED_BODY && w->now->item.index >= 0 &&
           stated_text(w, lwi_yaml_key_find(&lwi_yaml_body_object, "density"), source, &other);
}

// Is it of a pose that the file states in the frame of another body?  Then what is not stated is the default.
static bool of_other_frame(const writing *w, const lwi_yaml_key *key, const void *source)
{
    bool other;
    return w->now->item.list == LWI_STATED_BODY && w->now->item.index >= 0 &&
           (strcmp(key->name, "position") == 0 || strcmp(key->name, "orientation") == 0) &&
           stated_text(w, lwi_yaml_key_find(&lwi_yaml_body_object, "in"), source, &other);
}

// Is it a frame of a force that the file states by `at`?
static bool of_force_at(const writing *w, const lwi_yaml_key *key, const void *source)
{
    bool other;
    if (w->now->item.list < LWI_STATED_FORCES || w->now->item.index < 0) return false;
    if (strcmp(key->name, "frame1") != 0 && strcmp(key->name, "frame2") != 0) return false;
    const lwi_yaml_key *at = lwi_yaml_key_find(w->now->item.keys, "at");
    return at && stated_text(w, at, source, &other);
}

static bool is_given(const writing *w, const lwi_yaml_key *key, int type, const void *source)
{
    bool other;
    if (!lwi_yaml_key_belongs(key, type)) return false;
    if (stated_text(w, key, source, &other)) return true;
    if (of_other_frame(w, key, source) || of_force_at(w, key, source)) return false;
    if (of_density(w, key, source)) return false;
    if (w->now->item.list == LWI_STATED_BODY && strcmp(key->name, "mass") == 0) return true;
    if (other || key->form == LWI_FORM_AT || key->form == LWI_FORM_POINTS) return false;
    if (key->form == LWI_FORM_FRAMES) return !at_stated(w, &lwi_yaml_joint_object, type, source);
    if (key->flag && key->kind != LWI_KEY_ROWS) return *FIELD(bool, key->flag);
    if (key->required >> type & 1u) return true;
    switch (key->kind) {
    case LWI_KEY_NUMBER:
        return !all_zero(FIELD(double, key->offset), sizeof(double));
    case LWI_KEY_NUMBERS:
        return !all_zero(FIELD(double, key->offset), (size_t)key->count * sizeof(double));
    case LWI_KEY_VECTOR:
    case LWI_KEY_DIRECTION:
        return !all_zero(FIELD(lw_vec3, key->offset), sizeof(lw_vec3));
    case LWI_KEY_QUATERNION:
        return !is_identity(FIELD(lw_quat, key->offset));
    case LWI_KEY_BODY:
        return FIELD(lw_body, key->offset)->index != 0;
    case LWI_KEY_INTEGER:
    case LWI_KEY_COORDINATE:
    case LWI_KEY_WORD:
        return !all_zero(FIELD(int, key->offset), sizeof(int));
    case LWI_KEY_SWITCH:
        return *FIELD(bool, key->offset);
    case LWI_KEY_SIGNAL:
    case LWI_KEY_FUNCTION:
    case LWI_KEY_FORMULA:
        return FIELD(lw_signal, key->offset)->index != 0;
    case LWI_KEY_SIGNALS:
        return !all_zero(FIELD(lw_signal, key->offset), (size_t)key->count * sizeof(lw_signal));
    case LWI_KEY_STRING:
        return *FIELD(char *, key->offset) != NULL;
    case LWI_KEY_LENGTH:
        return *FIELD(double, key->offset) != 0 || FIELD(lw_signal, key->size)->index != 0;
    case LWI_KEY_LIST:
    case LWI_KEY_SET:
    case LWI_KEY_SHAPES:
    case LWI_KEY_OBJECTS:
        return *FIELD(int, key->size) > 0;
    case LWI_KEY_OBJECT:
        return any_given(w, key->more, FIELD(char, key->offset));
    case LWI_KEY_EACH:
        return each_given(w, key, type, source);
    case LWI_KEY_FRAME:
        return false; // poses are in the world
    default:
        return true;
    }
}

// ----------------------------------------------------------------------------------------- objects

static void put_mesh(const writing *w, const lw_shape *s)
{
    const lw_mesh_desc *m = &w->d->mesh[s->mesh.index - 1];
    if (m->file) {
        put_quoted(w, m->file);
    } else {
        fputs("{vertices: [", w->file);
        for (int i = 0; i < 3 * m->nvertex; i++)
            fprintf(w->file, i ? ", %.9g" : "%.9g", (double)m->vertices[i]);
        fputs("]", w->file);
        for (int i = 0; i < 3 * m->ntriangle; i++)
            fprintf(w->file, i ? ", %d" : ", triangles: [%d", m->triangles[i]);
        fputs(m->ntriangle ? "]}" : "}", w->file);
    }
    if (s->size[0] == 1 && s->size[1] == 1 && s->size[2] == 1) return;
    fputs(", scale: ", w->file);
    put_numbers(w, s->size, 3);
}

static void put_shape(const writing *w, const lw_shape *s)
{
    fprintf(w->file, "{%s: ", lwi_yaml_shape_names[s->type]);
    if (s->type == LW_SHAPE_MESH)
        put_mesh(w, s);
    else if (lwi_yaml_shape_sizes[s->type] == 1)
        put_number(w, s->size[0]);
    else
        put_numbers(w, s->size, lwi_yaml_shape_sizes[s->type]);
    if (s->has_position) {
        fputs(", position: ", w->file);
        put_numbers(w, &s->position.x, 3);
    }
    if (!is_identity(&s->orientation)) {
        fputs(", orientation: ", w->file);
        put_numbers(w, &s->orientation.w, 4);
    }
    if (s->has_color) {
        fputs(", color: ", w->file);
        put_numbers(w, s->color, 4);
    }
    fputs("}", w->file);
}

static void put_shapes(const writing *w, const lw_shape *shapes, int count)
{
    if (count > 1) fputs("[", w->file);
    for (int i = 0; i < count; i++) {
        if (i) fputs(", ", w->file);
        put_shape(w, &shapes[i]);
    }
    if (count > 1) fputs("]", w->file);
}

static void put_key(const writing *w, const lwi_yaml_key *key, int type, const void *source);

static void put_each(const writing *w, const lwi_yaml_key *key, int type, const void *source)
{
    const char *between = "{";
    for (int k = 0; k < lwi_yaml_joint_nv((lw_joint_type)type); k++) {
        const void *element = coordinate(FIELD(char, key->offset), k);
        if (!is_given(w, key->more, 0, element)) continue;
        fprintf(w->file, "%sq%d: ", between, k);
        put_key(w, key->more, 0, element);
        between = ", ";
    }
    if (all_given(key, source)) {
        fprintf(w->file, "%sall: {", between);
        write_object(w, &lwi_yaml_isotropic_object, 0, source, ", ");
        fputs("}", w->file);
    }
    fputs("}", w->file);
}

// The text of an option, quoted where it is not a number.
static void put_option(const writing *w, const lw_options *options, const char *key)
{
    char text[LW_OPTION_STRING_SIZE] = "";
    lw_options_get(options, key, text, sizeof text);
    const char *stated = w->flat ? NULL : lwi_yaml_stated_option(w->d, key, text);
    if (stated)
        fputs(stated, w->file);
    else if (lwi_text_is_number(text))
        fputs(text, w->file);
    else
        put_name(w, text);
}

static void put_objects(const writing *w, const lwi_yaml_key *key, const void *items, int count)
{
    const current outer = *w->now;
    w->now->item.index = -1; // they are stated as a whole
    for (int i = 0; i < count; i++) {
        fputs(i ? ", {" : "[{", w->file);
        write_object(w, key->more, 0, (const char *)items + (size_t)i * (size_t)key->count, ", ");
        fputs("}", w->file);
    }
    fputs("]", w->file);
    *w->now = outer;
}

static void put_key(const writing *w, const lwi_yaml_key *key, int type, const void *source)
{
    bool other;
    const char *text = stated_text(w, key, source, &other);
    if (text) {
        fputs(text, w->file);
        return;
    }
    switch (key->kind) {
    case LWI_KEY_NUMBER:
        put_number(w, *FIELD(double, key->offset));
        return;
    case LWI_KEY_INTEGER:
        fprintf(w->file, "%d", *FIELD(int, key->offset));
        return;
    case LWI_KEY_SWITCH:
        fputs(((const char *const *)key->more)[*FIELD(bool, key->offset)], w->file);
        return;
    case LWI_KEY_NUMBERS:
        put_numbers(w, FIELD(double, key->offset), key->count);
        return;
    case LWI_KEY_LIST:
        put_numbers(w, *FIELD(double *, key->offset), *FIELD(int, key->size));
        return;
    case LWI_KEY_ROWS:
        put_rows(w, *FIELD(double *, key->offset), *FIELD(int, key->size), *FIELD(int, key->flag));
        return;
    case LWI_KEY_START:
        put_numbers(w, FIELD(double, key->offset),
                    key->count ? lwi_yaml_joint_nv((lw_joint_type)type)
                               : lwi_yaml_joint_nq((lw_joint_type)type));
        return;
    case LWI_KEY_VECTOR:
    case LWI_KEY_DIRECTION:
        put_numbers(w, FIELD(double, key->offset), 3);
        return;
    case LWI_KEY_QUATERNION:
        put_numbers(w, FIELD(double, key->offset), 4);
        return;
    case LWI_KEY_WORD: {
        int word;
        memcpy(&word, FIELD(char, key->offset), sizeof word);
        fputs(((const char *const *)key->more)[word], w->file);
        return;
    }
    case LWI_KEY_BODY:
        put_body(w, *FIELD(lw_body, key->offset));
        return;
    case LWI_KEY_PAIR:
        fputs("[", w->file);
        put_body(w, FIELD(lw_body, key->offset)[0]);
        fputs(", ", w->file);
        put_body(w, FIELD(lw_body, key->offset)[1]);
        fputs("]", w->file);
        return;
    case LWI_KEY_JOINT:
        put_name(w, w->d->joint[FIELD(lw_joint, key->offset)->index].name);
        return;
    case LWI_KEY_COORDINATE:
        fprintf(w->file, "q%d", *FIELD(int, key->offset));
        return;
    case LWI_KEY_SIGNAL:
        put_signal(w, *FIELD(lw_signal, key->offset), ZERO_IS_NONE);
        return;
    case LWI_KEY_SET:
        put_set(w, *FIELD(lw_event_setting *, key->offset), *FIELD(int, key->size));
        return;
    case LWI_KEY_FORMULA:
        put_formula(w, *FIELD(lw_signal, key->offset));
        return;
    case LWI_KEY_FUNCTION:
        put_signal(w, *FIELD(lw_signal, key->offset), AS_NUMBER);
        return;
    case LWI_KEY_SIGNALS:
        put_signals(w, FIELD(lw_signal, key->offset), key->count, ZERO_IS_NONE);
        return;
    case LWI_KEY_TERMS:
        put_signals(w, *FIELD(lw_signal *, key->offset), *FIELD(int, key->size), AS_NUMBER);
        return;
    case LWI_KEY_LENGTH:
        if (FIELD(lw_signal, key->size)->index)
            put_signal(w, *FIELD(lw_signal, key->size), NEVER_A_NUMBER);
        else
            put_number(w, *FIELD(double, key->offset));
        return;
    case LWI_KEY_STRING:
        put_quoted(w, *FIELD(char *, key->offset));
        return;
    case LWI_KEY_SHAPES:
        put_shapes(w, *FIELD(lw_shape *, key->offset), *FIELD(int, key->size));
        return;
    case LWI_KEY_OBJECT:
        fputs("{", w->file);
        write_object(w, key->more, 0, FIELD(char, key->offset), ", ");
        fputs("}", w->file);
        return;
    case LWI_KEY_OBJECTS:
        put_objects(w, key, *FIELD(void *, key->offset), *FIELD(int, key->size));
        return;
    case LWI_KEY_EACH:
        put_each(w, key, type, source);
        return;
    case LWI_KEY_OPTION:
    case LWI_KEY_OPTION_MAP:
    case LWI_KEY_OPTION_NUMBER:
    case LWI_KEY_OPTION_EITHER:
        put_option(w, source, key->name);
        return;
    case LWI_KEY_FRAME: // not written, and sections, which have no field
    case LWI_KEY_VERSION:
    case LWI_KEY_NAMES:
    case LWI_KEY_SETTINGS:
    case LWI_KEY_FILES:
    case LWI_KEY_POINTS:
    case LWI_KEY_ITEMS:
    case LWI_KEY_ITEM_LIST:
    case LWI_KEY_MECHANISMS:
    case LWI_KEY_FORCES:
        return;
    }
}

// Writes "key: value" for every key with a value other than the default, separated by `between`.
static void write_object(const writing *w, const lwi_yaml_object *object, int type,
                         const void *source, const char *between)
{
    const char *before = "";
    if (object->type) {
        fprintf(w->file, "type: %s", object->type[type]);
        before = between;
    }
    for (int i = 0; i < object->nkey; i++) {
        const lwi_yaml_key *key = &object->key[i];
        if (!is_given(w, key, type, source)) continue;
        fputs(before, w->file);
        fputs(key->name, w->file);
        fputs(": ", w->file);
        put_key(w, key, type, source);
        before = between;
    }
}

// ---------------------------------------------------------------------------------------- sections

static void begin_item(const writing *w, const char *name);

// A number, a quantity or an expression.
static void put_expression(const writing *w, const char *text)
{
    if (lwi_text_is_number(text))
        fputs(text, w->file);
    else
        put_quoted(w, text);
}

static void put_named(const writing *w, const char *key, const char *text, const char **before)
{
    if (!text) return;
    fprintf(w->file, "%s%s: ", *before, key);
    put_expression(w, text);
    *before = ", ";
}

static void write_parameters(const writing *w)
{
    const lwi_statements *s = &w->d->stated;
    if (w->flat) return;
    if (s->nparameter) fputs("parameters:\n", w->file);
    for (int i = 0; i < s->nparameter; i++) {
        const lwi_named_statement *p = &s->parameter[i];
        const char *before = "{";
        fprintf(w->file, "  %s: ", p->name);
        if (!p->unit_stated && !p->description && !p->minimum_text && !p->maximum_text) {
            put_expression(w, p->text);
        } else {
            put_named(w, "value", p->text, &before);
            if (p->unit_stated) put_named(w, "unit", p->unit, &before);
            if (p->description) {
                fputs(", description: ", w->file);
                put_quoted(w, p->description);
            }
            put_named(w, "min", p->minimum_text, &before);
            put_named(w, "max", p->maximum_text, &before);
            fputs("}", w->file);
        }
        fputs("\n", w->file);
    }
    if (s->npoint) fputs("points:\n", w->file);
    for (int i = 0; i < s->npoint; i++) {
        begin_item(w, s->point[i].name);
        fprintf(w->file, " %s\n", s->point[i].text);
    }
}

static void begin_item(const writing *w, const char *name)
{
    fputs("  ", w->file);
    put_name(w, name);
    fputs(":", w->file);
}

static void put_constant(const writing *w, const lw_function_desc *f, int index)
{
    bool other;
    const current outer =
        begin_stated(w, LWI_STATED_FUNCTION, index, &lwi_yaml_function_object, f, NULL);
    const char *text =
        stated_text(w, lwi_yaml_key_find(&lwi_yaml_function_object, "value"), f, &other);
    if (text)
        fputs(text, w->file);
    else
        put_number(w, f->value);
    *w->now = outer;
}

static void write_functions(const writing *w, bool recorded)
{
    bool any = false;
    for (int i = 0; i < w->d->nfunction; i++) {
        const lw_function_desc *f = &w->d->function[i];
        if (!w->function[i] || f->recorded != recorded) continue;
        if (!any) fputs(recorded ? "signals:\n" : "functions:\n", w->file);
        any = true;
        begin_item(w, w->function[i]);
        fputs(" ", w->file);
        if (f->type == LW_FUNCTION_CONSTANT) {
            put_constant(w, f, i);
        } else {
            put_function(w, f);
        }
        fputs("\n", w->file);
    }
}

static void write_inputs(const writing *w)
{
    for (int i = 0; i < w->d->ninput; i++) {
        fputs(i ? ", " : "inputs: [", w->file);
        put_name(w, w->d->input[i]);
    }
    if (w->d->ninput) fputs("]\n", w->file);
}

static void write_item(const writing *w, const lwi_yaml_object *object, int type, const char *name,
                       const void *source, int list, int index)
{
    static const char line[] = "\n    ";
    begin_stated(w, list, index, object, source, name);
    begin_item(w, name);
    fputs(line, w->file);
    write_object(w, object, type, source, line);
    fputs("\n", w->file);
}

static void write_forces(const writing *w, const lwi_description *d)
{
    bool any = false;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) {
        const lwi_force_item *item = lwi_force_items[k];
        for (int i = 0; i < d->force[k].n; i++) {
            const void *desc = lwi_force_desc(d, k, i);
            if (!any) fputs("forces:\n", w->file);
            any = true;
            write_item(w, item->keys, 0, lwi_force_item_name(item, desc), desc,
                       LWI_STATED_FORCES + k, i);
        }
    }
}

static void write_sections(const writing *w)
{
    const lwi_description *d = w->d;
    bool other;
    begin_stated(w, LWI_STATED_GRAVITY, 0, &lwi_yaml_file_object, d->gravity, NULL);
    const char *text =
        stated_text(w, lwi_yaml_key_find(&lwi_yaml_file_object, "gravity"), d->gravity, &other);
    fputs("gravity: ", w->file);
    if (text)
        fputs(text, w->file);
    else
        put_numbers(w, d->gravity, 3);
    fputs("\n", w->file);
    w->now->item.index = -1;
    write_functions(w, false);
    write_functions(w, true);
    write_inputs(w);
    fputs("bodies:\n", w->file);
    for (int i = 1; i < d->nbody; i++) {
        const lwi_yaml_body body = {.desc = d->body[i]};
        write_item(w, &lwi_yaml_body_object, 0, d->body[i].name, &body, LWI_STATED_BODY, i);
    }
    if (d->njoint) fputs("joints:\n", w->file);
    for (int i = 0; i < d->njoint; i++)
        write_item(w, &lwi_yaml_joint_object, (int)d->joint[i].type, d->joint[i].name, &d->joint[i],
                   LWI_STATED_JOINT, i);
    if (d->ncoupling) fputs("couplings:\n", w->file);
    for (int i = 0; i < d->ncoupling; i++) {
        fputs("  - {", w->file);
        begin_stated(w, LWI_STATED_COUPLING, i, &lwi_yaml_coupling_object, &d->coupling[i], NULL);
        write_object(w, &lwi_yaml_coupling_object, 0, &d->coupling[i], ", ");
        fputs("}\n", w->file);
    }
    write_forces(w, d);
    if (d->nmarker) fputs("markers:\n", w->file);
    for (int i = 0; i < d->nmarker; i++)
        write_item(w, &lwi_yaml_marker_object, 0, d->marker[i].name, &d->marker[i],
                   LWI_STATED_MARKER, i);
    if (d->nmeasure) fputs("measures:\n", w->file);
    for (int i = 0; i < d->nmeasure; i++)
        write_item(w, &lwi_yaml_measure_object, 0, d->measure[i].name, &d->measure[i],
                   LWI_STATED_MEASURE, i);
    if (d->nimpulse) fputs("impulses:\n", w->file);
    for (int i = 0; i < d->nimpulse; i++)
        write_item(w, &lwi_yaml_impulse_object, 0, d->impulse[i].name, &d->impulse[i],
                   LWI_STATED_IMPULSE, i);
    if (d->nevent) fputs("events:\n", w->file);
    for (int i = 0; i < d->nevent; i++)
        write_item(w, &lwi_yaml_event_object, 0, d->event[i].name, &d->event[i], LWI_STATED_EVENT,
                   i);
}

static void write_simulation(const writing *w, const lw_options *options)
{
    if (!options) return;
    w->now->item.index = -1;
    fputs("simulation:\n  ", w->file);
    write_object(w, &lwi_yaml_simulation_object, 0, options, "\n  ");
    fputs("\n", w->file);
}

// ----------------------------------------------------------------------------------------- checks

static lw_status check_name(const writing *w, const char *kind, const char *name)
{
    const char *problem = name ? lwi_text_name_problem(name) : NULL;
    if (!problem) return LW_OK;
    return lwi_fail(w->error, LW_ERR_UNSUPPORTED, "%s '%.80s' cannot be written: its name %s", kind,
                    name, problem);
}

// Refuses what a program can build and the file format cannot express.
static lw_status check_writable(const writing *w)
{
    const lwi_description *d = w->d;
    for (int i = 0; i < d->nfunction; i++) TRY(check_name(w, "function", d->function[i].name));
    for (int i = 0; i < d->ninput; i++) TRY(check_name(w, "input", d->input[i]));
    for (int i = 1; i < d->nbody; i++) TRY(check_name(w, "body", d->body[i].name));
    for (int i = 0; i < d->njoint; i++) {
        TRY(check_name(w, "joint", d->joint[i].name));
        if (d->joint[i].type == LW_JOINT_CUSTOM)
            return lwi_fail(w->error, LW_ERR_UNSUPPORTED,
                            "joint '%s' cannot be written: custom joints exist in programs only",
                            d->joint[i].name);
    }
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) {
        const lwi_force_item *item = lwi_force_items[k];
        for (int i = 0; i < d->force[k].n; i++)
            TRY(check_name(w, item->type->name,
                           lwi_force_item_name(item, lwi_force_desc(d, k, i))));
    }
    for (int i = 0; i < d->nmarker; i++) TRY(check_name(w, "marker", d->marker[i].name));
    for (int i = 0; i < d->nmeasure; i++) TRY(check_name(w, "measure", d->measure[i].name));
    for (int i = 0; i < d->nevent; i++) TRY(check_name(w, "event", d->event[i].name));
    for (int i = 0; i < d->nimpulse; i++) TRY(check_name(w, "impulse", d->impulse[i].name));
    return LW_OK;
}

static void write_file(const writing *w, const lw_options *options)
{
    fprintf(w->file, "linkwork: %d\n", (int)LWI_FORMAT_VERSION);
    write_parameters(w);
    if (w->d->stated.files && !w->flat)
        fputs(w->d->stated.files, w->file);
    else
        write_sections(w);
    write_simulation(w, options);
}

lw_status lwi_yaml_write(const lw_model *model, bool flat, const lw_options *options, FILE *file,
                         lw_error *error)
{
    lwi_numbers numbers;
    current now = {.item.index = -1};
    writing w = {.file = file, .d = &model->desc, .error = error, .now = &now, .flat = flat};
    lwi_arena_init(&w.arena, &model->arena.allocator);
    lw_status status = check_writable(&w);
    if (status == LW_OK && lwi_yaml_statements_sort(w.d, &w.arena, &w.stated) != LW_OK)
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory to write the model");
    if (status == LW_OK && !(w.function = lwi_yaml_function_names(w.d, &w.arena)))
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory to write the model");
    if (status == LW_OK && !lwi_numbers_begin(&numbers))
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory to write the model");
    if (status == LW_OK) {
        errno = 0;
        write_file(&w, options);
        lwi_numbers_end(&numbers);
        if (fflush(file) != 0 || ferror(file))
            status = lwi_fail(error, LW_ERR_IO, "the model cannot be written: %s",
                              errno ? strerror(errno) : "write error");
    }
    lwi_arena_free(&w.arena);
    return status;
}
