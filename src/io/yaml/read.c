// read.c -- objects of the native model file, by the tables of keys.c, and functions, which their keys may contain.
#include "base/assert.h"
#include "io/text.h"
#include "io/yaml/read.h"
#include "model/description.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static lw_status read_signal(lwi_yaml_reading *r, const lwi_document_value *v, lw_signal *signal);
static lw_status read_key(lwi_yaml_reading *r, const lwi_yaml_key *key, int type,
                          const lwi_document_value *v, void *target);

lw_status lwi_yaml_added(lwi_yaml_reading *r, lw_status status, lw_place place)
{
    if (status != LW_OK && r->error && r->error->line == 0) {
        lwi_copy_text(r->error->file, sizeof r->error->file, r->file);
        r->error->line = place.line;
        r->error->column = place.column;
    }
    return status;
}

lw_place lwi_yaml_item_place(const lwi_yaml_reading *r, lw_place place)
{
    return r->parent ? (lw_place){0, 0} : place;
}

lwi_yaml_outer lwi_yaml_begin_item(lwi_yaml_reading *r, const void *desc)
{
    const lwi_yaml_outer outer = {r->base, r->key, r->kept_from, r->alternative, r->stated};
    r->base = r->parent ? NULL : desc; // of other files nothing is kept
    r->kept_from = r->nkept;
    r->key = NULL;
    r->alternative = -1;
    r->stated = false;
    return outer;
}

lw_status lwi_yaml_end_item(lwi_yaml_reading *r, const lwi_yaml_outer *outer, int list, int index,
                            const lwi_yaml_object *keys, const char *name)
{
    TRY(lwi_yaml_commit(r, list, index, keys, name));
    r->base = outer->base;
    r->key = outer->key;
    r->kept_from = outer->kept_from;
    r->alternative = outer->alternative;
    r->stated = outer->stated;
    return LW_OK;
}

lw_status lwi_yaml_read_type(lwi_yaml_reading *r, const lwi_yaml_object *object,
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
                              bool recorded, lw_signal *signal)
{
    const lw_function_desc desc = {.name = name,
                                   .type = LW_FUNCTION_CONSTANT,
                                   .value = value,
                                   .recorded = recorded,
                                   .place = lwi_yaml_item_place(r, place)};
    return lwi_yaml_added(r, lw_builder_add_function(r->builder, &desc, signal, r->error), place);
}

// Numbers of points that belong together.
static lw_status check_counts(lwi_yaml_reading *r, const lwi_yaml_function *item, lw_place place)
{
    const bool map = item->desc.type == LW_FUNCTION_MAP,
               table = item->desc.type == LW_FUNCTION_TABLE;
    if (!map && item->nt != item->ny)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place, "%s has %d numbers and y %d, expected as many",
                             table ? "t" : "x", item->nt, item->ny);
    if (map && (item->nrow != item->nt || item->ncolumn != item->desc.npoint2))
        return lwi_yaml_fail(
            r, LW_ERR_MODEL, place,
            "x has %d numbers and x2 %d, expected %d rows of %d numbers, found %d of %d", item->nt,
            item->desc.npoint2, item->nt, item->desc.npoint2, item->nrow, item->ncolumn);
    return LW_OK;
}

static lw_status add_function(lwi_yaml_reading *r, const char *name, lw_place place,
                              const lwi_document_value *map, bool recorded, lw_signal *signal)
{
    lwi_yaml_function item = {
        .desc = {.name = name, .place = lwi_yaml_item_place(r, place), .recorded = recorded}};
    int type;
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &item);
    TRY(lwi_yaml_read_type(r, &lwi_yaml_function_object, map, place, &type));
    item.desc.type = (lw_function_type)type;
    const int self = r->self;
    if (!name || type != LW_FUNCTION_INTEGRAL) r->self = 0;
    TRY(lwi_yaml_read_object(r, &lwi_yaml_function_object, type, map, place, &item));
    r->self = self;
    TRY(check_counts(r, &item, place));
    item.desc.npoint = item.nt;
    if (item.formula_place.line) place = item.formula_place;
    item.desc.place = lwi_yaml_item_place(r, place);
    const lw_status status = lw_builder_add_function(r->builder, &item.desc, signal, r->error);
    if (status == LW_ERR_MODEL && !name &&
        r->error) { // a function without a name: name the item that has it
        char text[sizeof r->error->text];
        memcpy(text, r->error->text, sizeof text);
        return lwi_yaml_fail(r, status, place, "%s", text);
    }
    TRY(lwi_yaml_added(r, status, place));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_FUNCTION, signal->index - 1,
                             &lwi_yaml_function_object, NULL);
}

// A number in the place of a function.
static lw_status add_number(lwi_yaml_reading *r, const char *name, lw_place place,
                            const lwi_document_value *v, bool recorded, lw_signal *signal)
{
    double value = 0;
    TRY(lwi_yaml_read_number(r, v, &value));
    return add_constant(r, name, place, value, recorded, signal);
}

// A named function that is a number, which may be an expression.
static lw_status add_named_number(lwi_yaml_reading *r, const char *name, lw_place place,
                                  const lwi_document_value *v, bool recorded, lw_signal *signal)
{
    const lw_function_desc desc = {.size = 0};
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &desc);
    TRY(add_number(r, name, place, v, recorded, signal));
    const lwi_yaml_key *key = lwi_yaml_key_find(&lwi_yaml_function_object, "value");
    if (r->stated && r->base) TRY(lwi_yaml_keep(r, key, &desc.value, v));
    return lwi_yaml_end_item(r, &outer, LWI_STATED_FUNCTION, signal->index - 1,
                             &lwi_yaml_function_object, NULL);
}

// A message on a formula without a name names its item, and the measures with formulas in it.
static lw_status explain(const lwi_yaml_reading *r, lw_status status)
{
    static const char nameless[] = "function: "; // of the builder
    char text[2 * sizeof r->error->text];
    if (!r->error) return status;
    const char *from = r->error->text;
    const bool unnamed = r->item[0] && !strncmp(from, nameless, sizeof nameless - 1);
    if (unnamed) from += sizeof nameless - 1;
    const int first = (int)strcspn(from, "\n");
    snprintf(text, sizeof text, "%s%s%s%s%.*s%s%s%s", unnamed ? r->item : "", unnamed ? ": " : "",
             unnamed && r->path[0] ? r->path : "", unnamed && r->path[0] ? ": " : "", first, from,
             r->measures[0] ? ", with the formula of measure " : "", r->measures, from + first);
    lwi_copy_text(r->error->text, sizeof r->error->text, text);
    return status;
}

// A text in the section `signals`.
static lw_status add_formula(lwi_yaml_reading *r, const char *name, const lwi_document_value *v,
                             lw_signal *signal)
{
    lwi_yaml_function item = {
        .desc = {.name = name, .type = LW_FUNCTION_FORMULA, .recorded = name != NULL}};
    const lwi_yaml_key *key = lwi_yaml_key_find(&lwi_yaml_function_object, "of");
    const lwi_yaml_outer outer = lwi_yaml_begin_item(r, &item);
    item.desc.place = lwi_yaml_item_place(r, v->place);
    r->measures[0] = 0;
    lw_status status = read_key(r, key, LW_FUNCTION_FORMULA, v, &item);
    if (status == LW_OK)
        status = lwi_yaml_added(
            r, lw_builder_add_function(r->builder, &item.desc, signal, r->error), v->place);
    if (status != LW_OK) return explain(r, status);
    return lwi_yaml_end_item(r, &outer, LWI_STATED_FUNCTION, signal->index - 1,
                             &lwi_yaml_function_object, NULL);
}

// Function k depends on itself: names those between.
static lw_status cycle(lwi_yaml_reading *r, int k, lw_place asked)
{
    char chain[160] = "";
    size_t n = 0;
    for (int depth = r->function_open[k]; depth <= r->function_depth; depth++)
        for (int i = 0; i < r->functions->count; i++)
            if (r->function_open[i] == depth && n < sizeof chain)
                n += (size_t)snprintf(chain + n, sizeof chain - n, "'%.40s' -> ",
                                      r->functions->key[i]);
    return lwi_yaml_fail(r, LW_ERR_MODEL, asked, "function '%.80s' depends on itself: %s'%.40s'",
                         r->functions->key[k], chain, r->functions->key[k]);
}

// Reads function k of the section, possibly on behalf of another function that refers to it.
lw_status lwi_yaml_named_function(lwi_yaml_reading *r, int k, lw_place asked, lw_signal *signal)
{
    const char *name = r->functions->key[k];
    const lwi_document_value *v = r->functions->item[k];
    const lw_place place = r->functions->key_place[k];
    if (r->function_open[k]) return cycle(r, k, asked);
    if (r->function_depth == LWI_DOCUMENT_DEPTH)
        return lwi_yaml_fail(r, LW_ERR_MODEL, asked, "more than %d functions refer to each other",
                             (int)LWI_DOCUMENT_DEPTH);
    if (r->function[k].index == 0) {
        char item[sizeof r->item], path[sizeof r->path];
        memcpy(item, r->item, sizeof item);
        memcpy(path, r->path, sizeof path);
        const char *full = lwi_yaml_full_name(r, name);
        if (!full) return lwi_yaml_no_memory(r);
        lwi_yaml_set_item(r, k < r->nplain_function ? "function" : "signal", name);
        r->function_open[k] = (char)++r->function_depth;
        const int self = r->self;
        r->self = v->kind == LWI_DOCUMENT_MAP ? k + 1 : 0;
        if (v->kind == LWI_DOCUMENT_SCALAR && *v->text && k >= r->nplain_function &&
            (v->quoted || !v->number)) {
            TRY(add_formula(r, full, v, &r->function[k]));
        } else if (v->kind == LWI_DOCUMENT_MAP) {
            TRY(add_function(r, full, place, v, k >= r->nplain_function, &r->function[k]));
        } else if ((v->kind == LWI_DOCUMENT_SCALAR && !v->quoted && v->number) ||
                   lwi_yaml_is_expression(r, v)) {
            TRY(add_named_number(r, full, place, v, k >= r->nplain_function, &r->function[k]));
        } else {
            return lwi_yaml_expected(r, v,
                                     k < r->nplain_function ? "a number or a map with a type"
                                                            : "a formula or a map with a type");
        }
        r->self = self;
        r->function_depth--;
        r->function_open[k] = 0;
        memcpy(r->item, item, sizeof item);
        memcpy(r->path, path, sizeof path);
    }
    *signal = r->function[k];
    return LW_OK;
}

// Is the text a formula that varies, not an expression of constants?  One with a mistake is none.
static bool is_formula(const lwi_yaml_reading *r, const lwi_document_value *v)
{
    lwi_formula_scope scope = r->scope;
    lwi_formula_result result;
    scope.find = lwi_yaml_find_signal;
    scope.constant = false;
    if (lwi_formula_is_word(v->text) ||
        lwi_formula_number(v->text, &r->scope, &result, NULL) == LW_OK)
        return false;
    return lwi_formula_check_in(v->text, &scope, NULL, NULL, NULL) == LW_OK;
}

static lw_status read_signal_name(lwi_yaml_reading *r, const lwi_document_value *v,
                                  lw_signal *signal)
{
    char hint[128];
    const int k = r->functions ? lwi_document_find(r->functions, v->text) : -1;
    if (k >= 0) return lwi_yaml_named_function(r, k, v->place, signal);
    const int input = lwi_names_find(&r->inputs, v->text);
    if (input >= 0) {
        signal->index = -(r->first_input + input) - 1;
        return LW_OK;
    }
    signal->index = lwi_yaml_find_inner_signal(r, v->text);
    if (signal->index) return LW_OK;
    if (lwi_yaml_is_expression(r, v) && is_formula(r, v)) return add_formula(r, NULL, v, signal);
    if (lwi_yaml_is_expression(r, v) &&
        (!lwi_formula_is_word(v->text) ||
         (r->parameters && lwi_document_find(r->parameters, v->text) >= 0)))
        return add_number(r, NULL, v->place, v, false, signal);
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
    if (v->kind == LWI_DOCUMENT_MAP) return add_function(r, NULL, v->place, v, false, signal);
    if (v->kind != LWI_DOCUMENT_SCALAR || !*v->text)
        return lwi_yaml_expected(r, v, "a number, the name of a function or input, or a function");
    if (v->quoted || !v->number) return read_signal_name(r, v, signal);
    return add_number(r, NULL, v->place, v, false, signal);
}

// A formula, which need not be in a map, the name of a signal, or a number.
static lw_status read_formula(lwi_yaml_reading *r, const lwi_document_value *v, lw_signal *signal)
{
    if (v->kind != LWI_DOCUMENT_SCALAR || !*v->text)
        return v->kind == LWI_DOCUMENT_MAP
                   ? read_signal(r, v, signal)
                   : lwi_yaml_expected(r, v, "a formula, or the name of a signal");
    const bool number = !v->quoted && v->number;
    const bool named = (r->functions && lwi_document_find(r->functions, v->text) >= 0) ||
                       lwi_names_find(&r->inputs, v->text) >= 0 ||
                       lwi_yaml_find_inner_signal(r, v->text) != 0;
    return number || named ? read_signal(r, v, signal) : add_formula(r, NULL, v, signal);
}

// {SWITCH: formula, ...}
static lw_status read_set(lwi_yaml_reading *r, const lwi_document_value *v,
                          const lw_event_setting **set, int *count)
{
    if (v->kind != LWI_DOCUMENT_MAP || v->count == 0)
        return lwi_yaml_expected(r, v, "a map of switches, like {heater: 1}");
    lw_event_setting *list = LWI_PUSH(&r->arena, lw_event_setting, v->count);
    if (!list) return lwi_yaml_no_memory(r);
    for (int i = 0; i < v->count; i++) {
        const size_t mark = lwi_yaml_enter(r, v->key[i]);
        const int k = r->functions ? lwi_document_find(r->functions, v->key[i]) : -1;
        if (k >= 0)
            TRY(lwi_yaml_named_function(r, k, v->key_place[i], &list[i].target));
        else
            list[i].target.index = lwi_yaml_find_inner_signal(r, v->key[i]);
        if (list[i].target.index <= 0) {
            char hint[128];
            lwi_yaml_hint(hint, sizeof hint, v->key[i], r->functions ? r->functions->key : NULL,
                          r->functions ? r->functions->count : 0);
            return lwi_yaml_fail(r, LW_ERR_MODEL, v->key_place[i], "there is no switch '%.80s'%s",
                                 v->key[i], hint);
        }
        TRY(read_formula(r, v->item[i], &list[i].value));
        lwi_yaml_leave(r, mark);
    }
    *set = list;
    *count = v->count;
    return LW_OK;
}

// For keys where 0 is the same as none, 0 is none.
static lw_status read_signal_or_none(lwi_yaml_reading *r, const lwi_document_value *v,
                                     lw_signal *signal)
{
    double value = 1;
    if (v->kind == LWI_DOCUMENT_SCALAR && !v->quoted && v->number)
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
    const bool number = v->kind == LWI_DOCUMENT_SCALAR && !v->quoted && v->number;
    const bool signal = v->kind == LWI_DOCUMENT_SCALAR &&
                        ((r->functions && lwi_document_find(r->functions, v->text) >= 0) ||
                         lwi_names_find(&r->inputs, v->text) >= 0);
    if (!number && (signal || !lwi_yaml_is_expression(r, v))) return read_signal(r, v, length_of);
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

// A name that is no parameter: a word in place of a number.
static bool is_word(const lwi_yaml_reading *r, const lwi_document_value *v)
{
    return v->kind == LWI_DOCUMENT_SCALAR && isalpha((unsigned char)*v->text) &&
           v->text[strspn(v->text, "abcdefghijklmnopqrstuvwxyz_")] == 0 &&
           !(r->parameters && lwi_document_find(r->parameters, v->text) >= 0);
}

static lw_status read_option(lwi_yaml_reading *r, const lwi_yaml_key *key,
                             const lwi_document_value *v)
{
    lw_error why = {0};
    double x;
    const char *text = "";
    char pairs[LW_OPTION_STRING_SIZE] = "";
    char number[40];
    const bool is_number = key->kind == LWI_KEY_OPTION_NUMBER ||
                           (key->kind == LWI_KEY_OPTION_EITHER && !is_word(r, v));
    if (is_number) TRY(lwi_yaml_read_number(r, v, &x));
    if (key->kind == LWI_KEY_OPTION_MAP && v->kind == LWI_DOCUMENT_MAP) {
        TRY(read_pairs(r, key, v, pairs, sizeof pairs));
        text = pairs;
    } else {
        TRY(lwi_yaml_read_text(r, v, "a word or a number", &text));
    }
    if (is_number && !lwi_text_is_number(text)) {
        snprintf(number, sizeof number, "%.17g", x);
        text = number;
    }
    if (lw_options_set(r->options, key->name, text, &why) == LW_OK) {
        if (text != number || !r->parameters || r->parent) return LW_OK;
        lw_options_get(r->options, key->name, pairs, sizeof pairs);
        return lwi_yaml_keep_option(r, key->name, pairs, v);
    }
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

static lw_status read_part(lwi_yaml_reading *r, const lwi_yaml_object *keys,
                           const lwi_document_value *v, void *part)
{
    const int first = r->nplaced;
    TRY(lwi_yaml_read_object(r, keys, 0, v, v->place, part));
    lwi_yaml_place_points_of_part(r, first, keys, part);
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
    const void *base = r->base;
    r->base = NULL; // the list is kept as a whole
    for (int i = 0; i < v->count; i++) {
        snprintf(path, sizeof path, "%d", i);
        const size_t mark = lwi_yaml_enter(r, path);
        TRY(read_part(r, key->more, v->item[i], list + (size_t)i * (size_t)key->count));
        lwi_yaml_leave(r, mark);
    }
    r->base = base;
    *items = list;
    *count = v->count;
    return LW_OK;
}

static bool holds_formula(const lwi_yaml_key *key)
{
    static const char *const names[] = {
        "of", "of2", "reference", "measured", "reference_rate", "measured_rate"};
    for (int i = 0; i < LWI_COUNT(names); i++)
        if (!strcmp(key->name, names[i])) return true;
    return false;
}

// A formula with the values of its parameters; one with a mistake is left to the builder.
static lw_status rewrite_formula(lwi_yaml_reading *r, const lwi_document_value *v,
                                 const char **formula)
{
    lwi_formula_scope scope = r->scope;
    lw_error why = {0};
    const char *rewritten = "";
    const bool values = r->parameters || r->points || r->parent;
    const char *const given = *formula;
    TRY(lwi_yaml_expand_measures(r, formula));
    r->stated |= *formula != given;
    if (!values && !r->functions && !r->inputs.count && !r->child) return LW_OK;
    enum { SUGGESTED = 100 };
    const char *known[SUGGESTED];
    const lwi_document_value *const maps[] = {r->parameters, r->functions};
    lwi_yaml_wanted wanted = {.n = 0}, *outer = r->wanted;
    scope.names = known, scope.nname = 0;
    for (int m = 0; m < LWI_COUNT(maps); m++)
        for (int i = 0; maps[m] && i < maps[m]->count && scope.nname < SUGGESTED; i++)
            known[scope.nname++] = maps[m]->key[i];
    scope.find = lwi_yaml_find_signal;
    scope.constant = false;
    scope.prefix = r->prefix;
    scope.negated = r->placement.moved ? lwi_yaml_is_negated : NULL;
    r->wanted = &wanted;
    const lw_status status = lwi_formula_rewrite(*formula, &scope, &r->arena, &rewritten, &why);
    r->wanted = outer;
    if (status != LW_OK && !values) { // as the builder states it, with the names of all functions
        char *last = strrchr(r->path, '.');
        *(last ? last : r->path) = 0;
    }
    for (int i = 0; i < wanted.n && status == LW_OK; i++) {
        lw_signal signal;
        TRY(lwi_yaml_named_function(r, wanted.function[i], v->place, &signal));
    }
    if (status != LW_OK) return lwi_yaml_formula_failed(r, status, v->place, &why);
    r->stated = strcmp(rewritten, given) != 0;
    *formula = rewritten;
    return LW_OK;
}

static lw_status read_value(lwi_yaml_reading *r, const lwi_yaml_key *key, int type,
                            const lwi_document_value *v, void *target)
{
    // clang-format off
    switch (key->kind) {
    case LWI_KEY_NUMBER: return read_number(r, key, v, FIELD(double, key->offset));
    case LWI_KEY_INTEGER: return read_integer(r, key, v, FIELD(int, key->offset));
    case LWI_KEY_NUMBERS: return read_numbers(r, key, v, FIELD(double, key->offset));
    case LWI_KEY_LIST:
        return lwi_yaml_read_list(r, v, FIELD(const double *, key->offset), FIELD(int, key->size));
    case LWI_KEY_ROWS:
        return lwi_yaml_read_rows(r, v, FIELD(const double *, key->offset), FIELD(int, key->size),
                                  FIELD(int, key->flag));
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
    case LWI_KEY_SET:
        return read_set(r, v, FIELD(const lw_event_setting *, key->offset), FIELD(int, key->size));
    case LWI_KEY_FORMULA:
        return read_formula(r, v, FIELD(lw_signal, key->offset));
    case LWI_KEY_SIGNALS:
        return read_signals(r, v, key->count, FIELD(lw_signal, key->offset));
    case LWI_KEY_TERMS:
        return read_terms(r, v, FIELD(const lw_signal *, key->offset), FIELD(int, key->size));
    case LWI_KEY_LENGTH:
        return read_length(r, v, FIELD(double, key->offset), FIELD(lw_signal, key->size));
    case LWI_KEY_STRING:
        *FIELD(lw_place, key->size) = v->place;
        TRY(lwi_yaml_read_text(r, v, "a text", FIELD(const char *, key->offset)));
        return holds_formula(key) ? rewrite_formula(r, v, FIELD(const char *, key->offset)) : LW_OK;
    case LWI_KEY_SHAPES:
        return lwi_yaml_read_shapes(r, v, FIELD(const lw_shape *, key->offset),
                                    FIELD(int, key->size));
    case LWI_KEY_OBJECT:
        return read_part(r, key->more, v, FIELD(void, key->offset));
    case LWI_KEY_OBJECTS:
        return read_objects(r, key, v, FIELD(const void *, key->offset), FIELD(int, key->size));
    case LWI_KEY_EACH:
        return read_each(r, key->more, type, v, target, FIELD(void, key->offset));
    case LWI_KEY_OPTION:
    case LWI_KEY_OPTION_MAP:
    case LWI_KEY_OPTION_NUMBER:
    case LWI_KEY_OPTION_EITHER:
        return read_option(r, key, v);
    case LWI_KEY_FRAME: // resolved before the bodies are read
    case LWI_KEY_VERSION:
    case LWI_KEY_NAMES:
    case LWI_KEY_SETTINGS:
    case LWI_KEY_FILES:
    case LWI_KEY_POINTS:
    case LWI_KEY_ITEMS:
    case LWI_KEY_ITEM_LIST:
    case LWI_KEY_MECHANISMS:
    case LWI_KEY_FORCES:
        break;
    }
    return LW_OK;
}

// Are the source strings of expressions kept for this kind of value?
static bool is_kept(const lwi_yaml_key *key, const lwi_document_value *v)
{
    switch (key->kind) {
    case LWI_KEY_NUMBER:
    case LWI_KEY_INTEGER:
    case LWI_KEY_NUMBERS:
    case LWI_KEY_LIST:
    case LWI_KEY_ROWS:
    case LWI_KEY_START:
    case LWI_KEY_VECTOR:
    case LWI_KEY_DIRECTION:
    case LWI_KEY_QUATERNION:
    case LWI_KEY_SHAPES:
    case LWI_KEY_STRING:
    case LWI_KEY_OBJECTS:
        return true;
    case LWI_KEY_LENGTH:
    case LWI_KEY_SIGNAL:
    case LWI_KEY_FUNCTION:
    case LWI_KEY_FORMULA:
        return v->kind == LWI_DOCUMENT_SCALAR;
    case LWI_KEY_SIGNALS:
        for (int i = 0; i < v->count; i++)
            if (v->item[i]->kind != LWI_DOCUMENT_SCALAR) return false;
        return true;
    default:
        return false;
    }
}

static lw_status read_key(lwi_yaml_reading *r, const lwi_yaml_key *key, int type,
                          const lwi_document_value *v, void *target)
{
    const lwi_yaml_key *outer = r->key;
    const bool stated = r->stated;
    r->key = key;
    r->stated = false;
    TRY(read_value(r, key, type, v, target));
    if (r->stated && r->base && is_kept(key, v))
        TRY(lwi_yaml_keep(r, key, FIELD(char, key->offset), v));
    r->key = outer;
    r->stated = stated || (!r->base && r->stated); // a part of what is kept as a whole
    return LW_OK;
}

lw_status lwi_yaml_read_object(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                               const lwi_document_value *map, lw_place place, void *target)
{
    if (map->kind != LWI_DOCUMENT_MAP) {
        char expected[64];
        snprintf(expected, sizeof expected, "a map with the keys of a %s", object->title);
        return lwi_yaml_expected(r, map, expected);
    }
    TRY(lwi_yaml_check_keys(r, object, type, map, place));
    for (int i = 0; i < map->count; i++) {
        const lwi_yaml_key *key = lwi_yaml_key_find(object, map->key[i]);
        if (!key) continue; // `type`
        const size_t mark = lwi_yaml_enter(r, key->name);
        TRY(read_key(r, key, type, map->item[i], target));
        lwi_yaml_leave(r, mark);
        if (key->flag && key->kind != LWI_KEY_ROWS) *FIELD(bool, key->flag) = true;
    }
    return LW_OK;
}

// Which of two units a coordinate has: of a displacement or of an angle.
static int unit_of_coordinate(lw_joint_type type, int k)
{
    const lwi_joint_type *t = lwi_joint_type_of(type);
    return t->nq == t->nv ? (int)(t->angles >> k & 1u) : k < 3 && t->nv == 6 ? 0 : 1;
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
            TRY(lwi_yaml_read_object(r, &lwi_yaml_isotropic_object, 0, v->item[i],
                                     v->item[i]->place, joint));
        } else if (k < 0 || k >= nv) {
            return lwi_yaml_fail(r, LW_ERR_PARSE, v->key_place[i],
                                 "unknown coordinate, those of a %s joint are q0%.*s%s",
                                 lwi_yaml_joint_object.type[joint_type], 4 * (nv - 1),
                                 ", q1, q2, q3, q4, q5", all ? " (or `all`)" : "");
        } else {
            const int alternative = r->alternative;
            r->alternative = unit_of_coordinate((lw_joint_type)joint_type, k);
            TRY(read_key(r, element, 0, v->item[i],
                         (char *)target + (size_t)k * sizeof(lw_coordinate_desc)));
            r->alternative = alternative;
        }
        lwi_yaml_leave(r, mark);
    }
    return LW_OK;
}
