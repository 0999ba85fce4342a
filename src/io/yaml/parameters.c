// parameters.c -- parameters, points, and numbers that are expressions of them.
//
// A parameter may depend on others, also on later ones.  A number without a unit that overrides a parameter
// (lw_read_desc.set) is in the unit in which the file states the parameter.
#include "io/yaml/values.h"

#include "base/assert.h"
#include "io/text.h"
#include "model/description.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 }; // parameters that wait for later ones of the file

// -------------------------------------------------------------------------------- units of the keys

// The units in brackets of a help text, "stiffness [N/m, N m/rad]": at most two alternatives.
static int read_bracket(const char *from, const char *to, lwi_dimension *dimension)
{
    int n = 0;
    while (from < to) {
        const char *comma = memchr(from, ',', (size_t)(to - from));
        const char *end = comma ? comma : to;
        lwi_unit unit;
        while (from < end && *from == ' ') from++;
        if (n == 2 || !lwi_unit_read(from, (int)(end - from), &unit)) return 0;
        dimension[n++] = unit.dimension;
        from = end + 1;
    }
    return n;
}

int lwi_yaml_key_dimensions(const lwi_yaml_key *key, lwi_dimension dimension[2])
{
    const char *at = key->help;
    while (at && (at = strchr(at, '['))) {
        const char *end = strchr(at, ']');
        if (!end) return 0;
        const int n = read_bracket(at + 1, end, dimension);
        if (n) return n;
        at = end;
    }
    return 0;
}

static lw_status wrong_dimension(lwi_yaml_reading *r, const lwi_document_value *v,
                                 lwi_dimension found, const lwi_dimension *expected, int n)
{
    char is[128], one[128], other[128] = "";
    lwi_dimension_text(found, is, sizeof is);
    lwi_dimension_text(expected[0], one, sizeof one);
    if (n > 1) lwi_dimension_text(expected[1], other, sizeof other);
    return lwi_yaml_fail(r, LW_ERR_MODEL, v->place, "'%.48s' is %s, expected %s%s%s", v->text, is,
                         one, n > 1 ? " or " : "", other);
}

static lw_status check_dimension(lwi_yaml_reading *r, const lwi_document_value *v,
                                 const lwi_formula_result *result)
{
    if (!r->key || result->dimension.kind != LWI_DIMENSION_KNOWN) return LW_OK;
    if (r->dimension_key != r->key) {
        r->dimension_key = r->key;
        r->ndimension = lwi_yaml_key_dimensions(r->key, r->dimension);
    }
    const lwi_dimension *expected = r->dimension;
    int n = r->ndimension;
    if (n == 2 && r->alternative >= 0) expected += r->alternative, n = 1;
    if (n == 0) return LW_OK;
    for (int i = 0; i < n; i++) {
        if (!lwi_dimension_fits(result->dimension, expected[i])) continue;
        // 50 Hz are not 50 rad/s
        const bool cycles = result->cycles && lwi_dimension_is_frequency(result->dimension);
        if (!(result->literal || cycles) || expected[i].power[LWI_BASE_ANGLE] <= 0 ||
            result->dimension.power[LWI_BASE_ANGLE] > 0)
            return LW_OK;
    }
    return wrong_dimension(r, v, result->dimension, expected, n);
}

// -------------------------------------------------------------------------------------- expressions

static const double TURN = 6.283185307179586; // [rad]

// Is it a pitch, of which the key has metres per turn, by its angle: 5 mm/rev, 0.8 mm/rad?
static bool is_per_angle(const lwi_yaml_key *key, lwi_dimension dimension)
{
    static const lwi_dimension per_angle = {LWI_DIMENSION_KNOWN,
                                            {LWI_POWER, [LWI_BASE_ANGLE] = -LWI_POWER}};
    return key && strcmp(key->name, "pitch") == 0 && dimension.kind == LWI_DIMENSION_KNOWN &&
           lwi_dimension_same(dimension, per_angle);
}

lw_status lwi_yaml_formula_failed(lwi_yaml_reading *r, lw_status status, lw_place place,
                                  const lw_error *why)
{
    if (why->file[0]) { // of a parameter that the expression names
        if (r->error) *r->error = *why;
        return status;
    }
    return lwi_yaml_fail(r, status, place, "%s", why->text);
}

lw_status lwi_yaml_expression(lwi_yaml_reading *r, const lwi_document_value *v, double *x)
{
    lwi_formula_result result = {0};
    lw_error why = {0};
    const lw_status status = lwi_formula_number(v->text, &r->scope, &result, &why);
    if (status == LW_ERR_MODEL && !why.file[0])
        return lwi_yaml_formula_failed(r, LW_ERR_PARSE, v->place, &why);
    if (status != LW_OK) return lwi_yaml_formula_failed(r, status, v->place, &why);
    TRY(check_dimension(r, v, &result));
    r->stated = true;
    *x = result.value * (is_per_angle(r->key, result.dimension) ? TURN : 1);
    return LW_OK;
}

bool lwi_yaml_is_expression(const lwi_yaml_reading *r, const lwi_document_value *v)
{
    return !v->number && r->scope.find && v->kind == LWI_DOCUMENT_SCALAR && *v->text &&
           !strchr("+.", *v->text);
}

// --------------------------------------------------------------------------------------- parameters

static const lwi_document_value *entry(const lwi_document_value *map, const char *key)
{
    const int k = map->kind == LWI_DOCUMENT_MAP ? lwi_document_find(map, key) : -1;
    return k < 0 ? NULL : map->item[k];
}

// A number without a unit in a sum with a quantity: `d + 5` of a parameter in mm, where 5 could be mm or m.
static lw_status check_mixture(lwi_yaml_reading *r, const lwi_yaml_parameter *p, const char *text,
                               lw_place place, const lwi_formula_result *result)
{
    const bool si = p->unit.ten == 0 && p->unit.times == p->unit.per;
    const bool angle = p->unit.dimension.power[LWI_BASE_ANGLE] != 0;
    if (si || !(result->mixed || (angle && result->mixed_angle))) return LW_OK;
    return lwi_yaml_fail(r, LW_ERR_MODEL, place,
                         "'%.48s' combines a quantity and a number without a unit, expected a unit "
                         "for each, like `5 %s`; `unit: 1` for a parameter that is a pure number",
                         text, p->unit_text);
}

// Value of an expression: numbers without a unit are in the parameter's.
static lw_status in_unit(lwi_yaml_reading *r, const lwi_yaml_parameter *p, const char *text,
                         lw_place place, const lwi_formula_result *result, double *value,
                         lwi_dimension *dimension)
{
    *value = result->value;
    *dimension = result->dimension;
    if (!p->has_unit) return LW_OK;
    TRY(check_mixture(r, p, text, place, result));
    if (result->dimension.kind == LWI_DIMENSION_KNOWN) return LW_OK;
    *value = lwi_text_is_number(text)
                 ? lwi_unit_value(text, (int)strlen(text), &p->unit)
                 : result->value * pow(10, p->unit.ten) * p->unit.times / p->unit.per;
    *dimension = p->unit.dimension;
    return LW_OK;
}

// Value of a text: numbers without a unit are in the parameter's.
static lw_status quantity(lwi_yaml_reading *r, const lwi_yaml_parameter *p, const char *text,
                          lw_place place, double *value, lwi_dimension *dimension, bool *cycles)
{
    lwi_formula_result result = {0};
    lw_error why = {0};
    char is[128], expected[128];
    const lw_status status = lwi_formula_number(text, &r->scope, &result, &why);
    if (status != LW_OK) return lwi_yaml_formula_failed(r, status, place, &why);
    TRY(in_unit(r, p, text, place, &result, value, dimension));
    *cycles = result.cycles || (p->has_unit && result.dimension.kind != LWI_DIMENSION_KNOWN &&
                                lwi_dimension_is_frequency(p->unit.dimension));
    if (!p->has_unit || lwi_dimension_fits(*dimension, p->unit.dimension)) return LW_OK;
    return lwi_yaml_fail(r, LW_ERR_MODEL, place, "'%.48s' is %s, expected %s", text,
                         lwi_dimension_text(result.dimension, is, sizeof is),
                         lwi_dimension_text(p->unit.dimension, expected, sizeof expected));
}

// The unit of numbers without one: `unit`, or the one behind a number: 5 mm.
static lw_status read_unit(lwi_yaml_reading *r, const lwi_document_value *unit, const char *text,
                           lwi_yaml_parameter *p)
{
    if (unit) {
        const char *name = "";
        const size_t mark = lwi_yaml_enter(r, "unit");
        TRY(lwi_yaml_read_text(r, unit, "a unit, like mm or N/m", &name));
        if (!lwi_unit_read(name, (int)strlen(name), &p->unit)) {
            char hint[128];
            int n;
            const char *const *names = lwi_unit_names(&n);
            return lwi_yaml_fail(r, LW_ERR_PARSE, unit->place, "unknown unit '%.48s'%s", name,
                                 *lwi_yaml_hint(hint, sizeof hint, name, names, n)
                                     ? hint
                                     : ", expected one such as mm, deg, N/mm, kg m^2");
        }
        lwi_yaml_leave(r, mark);
        p->unit_text = name;
        p->has_unit = true;
        return LW_OK;
    }
    const char *end = lwi_number_end(text);
    if (!end) return LW_OK;
    end += strspn(end, " ");
    p->has_unit = lwi_unit_read(end, (int)strlen(end), &p->unit);
    if (p->has_unit) p->unit_text = end;
    return LW_OK;
}

// A bound of the range; `value` is unchanged if there is none.
static lw_status read_bound(lwi_yaml_reading *r, const lwi_document_value *map, const char *key,
                            const lwi_yaml_parameter *p, double *value, const char **text)
{
    const lwi_document_value *v = entry(map, key);
    lwi_dimension dimension;
    bool cycles;
    if (!v) return LW_OK;
    const size_t mark = lwi_yaml_enter(r, key);
    TRY(lwi_yaml_read_text(r, v, "a number or an expression", text));
    TRY(quantity(r, p, *text, v->place, value, &dimension, &cycles));
    lwi_yaml_leave(r, mark);
    return LW_OK;
}

static lw_status check_bounds(lwi_yaml_reading *r, const lwi_yaml_parameter *p, lw_place place)
{
    if (p->value >= p->minimum && p->value <= p->maximum) return LW_OK;
    const double x = p->value, scale = p->has_unit ? lwi_unit_value("1", 1, &p->unit) : 1;
    const char *unit = p->has_unit ? p->unit_text : "";
    const bool below = x < p->minimum;
    return lwi_yaml_fail(r, LW_ERR_MODEL, place, "is %.9g%s%s, expected %s %.9g%s%s", x / scale,
                         *unit ? " " : "", unit, below ? "at least" : "at most",
                         (below ? p->minimum : p->maximum) / scale, *unit ? " " : "", unit);
}

// A value that the file that includes this one gives.
static lw_status take_assigned(lwi_yaml_reading *r, lwi_yaml_parameter *p, lw_place place)
{
    char is[128], expected[128];
    TRY(in_unit(r, p, p->assigned, place, &p->given, &p->value, &p->dimension));
    p->cycles = p->given.cycles || (p->given.dimension.kind != LWI_DIMENSION_KNOWN &&
                                    lwi_dimension_is_frequency(p->unit.dimension));
    if (!p->has_unit || lwi_dimension_fits(p->dimension, p->unit.dimension)) return LW_OK;
    return lwi_yaml_fail(r, LW_ERR_MODEL, place, "is set to %s, expected %s",
                         lwi_dimension_text(p->dimension, is, sizeof is),
                         lwi_dimension_text(p->unit.dimension, expected, sizeof expected));
}

static lw_status evaluate_now(lwi_yaml_reading *r, int k)
{
    lwi_yaml_parameter *p = &r->parameter[k];
    const lwi_document_value *v = r->parameters->item[k];
    const lw_place place = r->parameters->key_place[k];
    const lwi_document_value *value = v;
    if (v->kind == LWI_DOCUMENT_MAP) {
        TRY(lwi_yaml_check_keys(r, &lwi_yaml_parameter_object, 0, v, place));
        value = entry(v, "value");
    }
    p->minimum = -INFINITY, p->maximum = INFINITY;
    const char *text = "", *description = "";
    TRY(lwi_yaml_read_text(r, value, "a number, an expression, or a map with `value`", &text));
    TRY(read_unit(r, entry(v, "unit"), text, p));
    if (entry(v, "description"))
        TRY(lwi_yaml_read_text(r, entry(v, "description"), "a text", &description));
    p->description = *description ? description : NULL;
    if (p->set) text = p->set;
    p->text = text;
    if (p->assigned)
        TRY(take_assigned(r, p, value->place));
    else
        TRY(quantity(r, p, text, value->place, &p->value, &p->dimension, &p->cycles));
    if (p->dimension.kind == LWI_DIMENSION_NONE) p->dimension.kind = LWI_DIMENSION_UNKNOWN;
    TRY(read_bound(r, v, "min", p, &p->minimum, &p->minimum_text));
    TRY(read_bound(r, v, "max", p, &p->maximum, &p->maximum_text));
    return check_bounds(r, p, value->place);
}

// "a -> b -> a"
static lw_status refuse_cycle(lwi_yaml_reading *r, int k, lw_place place)
{
    char chain[300] = "";
    bool on = false;
    for (int i = 0; i < r->nopen; i++) {
        on = on || r->open[i] == k;
        const size_t n = strlen(chain);
        if (on) snprintf(chain + n, sizeof chain - n, "%.40s -> ", r->parameters->key[r->open[i]]);
    }
    return lwi_yaml_fail(r, LW_ERR_MODEL, place, "depends on itself: %s%.40s", chain,
                         r->parameters->key[k]);
}

static lw_status evaluate(lwi_yaml_reading *r, int k)
{
    char item[sizeof r->item], path[sizeof r->path];
    lwi_yaml_parameter *p = &r->parameter[k];
    const lw_place place = r->parameters->key_place[k];
    if (p->known) return LW_OK;
    memcpy(item, r->item, sizeof item);
    memcpy(path, r->path, sizeof path);
    lwi_yaml_set_item(r, "parameter", r->parameters->key[k]);
    for (int i = 0; i < r->nopen; i++)
        if (r->open[i] == k) return refuse_cycle(r, k, place);
    if (r->nopen == DEEPEST)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place,
                             "more than %d parameters refer to later ones, expected those first "
                             "that others depend on",
                             (int)DEEPEST);
    r->open[r->nopen++] = k;
    TRY(evaluate_now(r, k));
    r->nopen--;
    p->known = true;
    memcpy(r->item, item, sizeof item);
    memcpy(r->path, path, sizeof path);
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- points

static bool is_position(const lwi_yaml_key *key)
{
    lwi_dimension d[2] = {{LWI_DIMENSION_NONE}};
    const lwi_dimension length = {LWI_DIMENSION_KNOWN, {LWI_POWER}};
    return key && lwi_yaml_key_dimensions(key, d) > 0 && lwi_dimension_same(d[0], length);
}

static lw_status find_point(lwi_yaml_reading *r, int k)
{
    char item[sizeof r->item], path[sizeof r->path];
    lwi_yaml_point *p = &r->point[k];
    if (p->known) return LW_OK;
    memcpy(item, r->item, sizeof item);
    memcpy(path, r->path, sizeof path);
    lwi_yaml_set_item(r, "point", r->points->key[k]);
    if (p->open)
        return lwi_yaml_fail(r, LW_ERR_MODEL, r->points->key_place[k], "depends on itself");
    if (r->npoint_open++ == DEEPEST)
        return lwi_yaml_fail(r, LW_ERR_MODEL, r->points->key_place[k],
                             "more than %d points refer to later ones", (int)DEEPEST);
    p->open = true;
    const lwi_yaml_key *key = r->key;
    r->key = &lwi_yaml_point_key;
    TRY(lwi_yaml_read_numbers(r, r->points->item[k], 3, p->r));
    r->key = key;
    p->open = false, p->known = true;
    r->npoint_open--;
    memcpy(r->item, item, sizeof item);
    memcpy(r->path, path, sizeof path);
    return LW_OK;
}

lw_status lwi_yaml_read_point(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x,
                              bool *found)
{
    const int k =
        r->points && v->kind == LWI_DOCUMENT_SCALAR ? lwi_document_find(r->points, v->text) : -1;
    *found = k >= 0;
    if (k < 0 && v->kind == LWI_DOCUMENT_SCALAR && *v->text && !v->number && is_position(r->key)) {
        char hint[128] = "";
        if (r->points) lwi_yaml_hint(hint, sizeof hint, v->text, r->points->key, r->points->count);
        return lwi_yaml_fail(r, LW_ERR_MODEL, v->place, "there is no point '%.60s'%s%s", v->text,
                             hint,
                             *hint ? "" : ", expected a list of 3 numbers or the name of a point");
    }
    if (k < 0) return LW_OK;
    TRY(find_point(r, k));
    *x = (lw_vec3){r->point[k].r[0], r->point[k].r[1], r->point[k].r[2]};
    r->stated = true;
    return LW_OK;
}

// Is the key a place in the world?  Others are in the frame of a body.
static bool is_world(const lwi_yaml_reading *r)
{
    static const char *const world[] = {"at", "from", "to"};
    for (int i = 0; i < LWI_COUNT(world); i++)
        if (strcmp(r->path, world[i]) == 0) return true;
    return r->in_world && strcmp(r->path, "position") == 0;
}

lw_status lwi_yaml_place_point(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x)
{
    const size_t top = strcspn(r->path, ".");
    int side = top && strchr("12", r->path[top - 1]) ? r->path[top - 1] - '0' : 0;
    if (strcmp(r->key->name, "side") == 0 || strcmp(r->key->name, "slider_point") == 0) side = 2;
    if (!is_position(r->key))
        return lwi_yaml_fail(r, LW_ERR_MODEL, v->place,
                             "'%.60s' is a point, expected a list of 3 numbers, which is no place",
                             v->text);
    if (is_world(r)) return LW_OK;
    if (r->nplaced == LWI_YAML_PLACED)
        return lwi_yaml_fail(r, LW_ERR_MODEL, v->place, "more than %d points by name in one item",
                             (int)LWI_YAML_PLACED);
    r->placed[r->nplaced++] = (lwi_yaml_placed){x, side};
    return LW_OK;
}

void lwi_yaml_into_body(const lw_pose *body, lw_vec3 *x)
{
    const double r[3] = {x->x, x->y, x->z}, q[4] = {1, 0, 0, 0};
    *x = lwi_pose_in_body(body, r, q).position;
}

// Bodies of an item or a part of one: of the key `between`, or of one or two keys of bodies; the second one is the first
// where it is not stated.
static int bodies_of(const lwi_yaml_object *keys, const void *desc, lw_body pair[2])
{
    int n = 0;
    pair[0].index = pair[1].index = 0;
    for (int k = 0; k < keys->nkey; k++) {
        const lwi_yaml_key *key = &keys->key[k];
        const char *at = (const char *)desc + key->offset;
        bool stated = true;
        if (key->kind == LWI_KEY_PAIR) memcpy(pair, at, 2 * sizeof *pair), n = 2;
        if (key->kind != LWI_KEY_BODY || n == 2) continue;
        if (key->flag) memcpy(&stated, (const char *)desc + key->flag, sizeof stated);
        memcpy(&pair[n], stated ? at : (const char *)pair, sizeof *pair);
        n++;
    }
    return n;
}

static void place_points(lwi_yaml_reading *r, int first, const lw_body pair[2])
{
    for (int i = first; i < r->nplaced; i++) {
        const int32_t body = pair[r->placed[i].side == 2].index;
        if (body == r->ground.index || body == 0) continue; // the world of the file
        const lw_pose pose = lwi_yaml_place_back(&r->placement, r->builder->desc.body[body].pose);
        lwi_yaml_into_body(r->placement.moved ? &pose : &r->builder->desc.body[body].pose,
                           r->placed[i].x);
    }
    r->nplaced = first;
}

void lwi_yaml_place_points(lwi_yaml_reading *r, const lwi_yaml_object *keys, const void *desc)
{
    lw_body pair[2];
    if (!r->nplaced) return;
    bodies_of(keys, desc, pair);
    place_points(r, 0, pair);
}

void lwi_yaml_place_points_of_part(lwi_yaml_reading *r, int first, const lwi_yaml_object *keys,
                                   const void *part)
{
    lw_body pair[2];
    if (r->nplaced == first || bodies_of(keys, part, pair) == 0) return;
    place_points(r, first, pair);
}

// ----------------------------------------------------------------------------------- names in general

// "front left" of 'front left'.x and x of it; false: no such form, or too long.
static bool split_component(const char *name, int length, char *point, size_t size, int *component)
{
    if (length < 3 || name[length - 2] != '.') return false;
    *component = name[length - 1] - 'x';
    if (*component < 0 || *component > 2 || (size_t)length > size) return false;
    int from = 0, to = length - 2, n = 0;
    const bool quoted = name[0] == '\'';
    if (quoted) from++, to--;
    for (int i = from; i < to; i++) {
        point[n++] = name[i];
        if (quoted && name[i] == '\'') i++;
    }
    point[n] = 0;
    return true;
}

int lwi_yaml_find_inner_signal(const lwi_yaml_reading *r, const char *name)
{
    const lwi_description *d = &r->builder->desc;
    if (!r->child) return 0;
    for (int i = 0; i < d->nfunction; i++)
        if (d->function[i].name && strcmp(d->function[i].name, name) == 0) return i + 1;
    for (int i = 0; i < d->ninput; i++)
        if (strcmp(d->input[i], name) == 0) return -i - 1;
    return 0;
}

static lw_status find_name(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                           lw_error *error)
{
    lwi_yaml_reading *r = user;
    char word[LWI_NAME_LENGTH + 8];
    int component;
    lw_error *outer = r->error;
    lw_status status = LW_OK;
    if ((size_t)length >= sizeof word) return LW_ERR_ARGUMENT;
    memcpy(word, name, (size_t)length);
    word[length] = 0;
    int k = r->parameters ? lwi_document_find(r->parameters, word) : -1;
    if (k >= 0) {
        if (!symbol) return LW_OK;
        r->error = error;
        status = evaluate(r, k);
        r->error = outer;
        *symbol = (lwi_formula_symbol){.value = r->parameter[k].value,
                                       .dimension = r->parameter[k].dimension,
                                       .cycles = r->parameter[k].cycles};
        return status;
    }
    if (!r->points || !split_component(name, length, word, sizeof word, &component))
        return LW_ERR_ARGUMENT;
    k = lwi_document_find(r->points, word);
    if (k < 0) return LW_ERR_ARGUMENT;
    if (!symbol) return LW_OK;
    r->error = error;
    status = find_point(r, k);
    r->error = outer;
    *symbol = (lwi_formula_symbol){.value = r->point[k].r[component],
                                   .dimension = {LWI_DIMENSION_KNOWN, {LWI_POWER}}}; // a length
    return status;
}

lw_status lwi_yaml_find_signal(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                               lw_error *error)
{
    lwi_yaml_reading *r = user;
    char word[LWI_NAME_LENGTH + 1];
    const lw_status status = find_name(user, name, length, symbol, error);
    if (status != LW_ERR_ARGUMENT) return status;
    if (!lwi_formula_plain_name(name, length, word, sizeof word)) return LW_ERR_ARGUMENT;
    const int k = r->functions ? lwi_document_find(r->functions, word) : -1;
    const bool input = k < 0 && lwi_names_find(&r->inputs, word) >= 0;
    if (k < 0 && !input && !lwi_yaml_find_inner_signal(r, word)) return LW_ERR_ARGUMENT;
    if (symbol) *symbol = (lwi_formula_symbol){.signal = true};
    if (!symbol || k < 0 || !r->wanted || k + 1 == r->self) return LW_OK;
    for (int i = 0; i < r->wanted->n; i++)
        if (r->wanted->function[i] == k) return LW_OK;
    if (r->wanted->n < LWI_FORMULA_NAMES) r->wanted->function[r->wanted->n++] = k;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ overrides

static lw_status no_parameter(lwi_yaml_reading *r, const char *name)
{
    char hint[128] = "";
    if (r->parameters)
        lwi_yaml_hint(hint, sizeof hint, name, r->parameters->key, r->parameters->count);
    lwi_yaml_set_item(r, "", "");
    return lwi_fail_at(r->error, LW_ERR_ARGUMENT, r->file, 0, 0,
                       "there is no parameter '%.80s'%s%s", name, hint,
                       r->parameters && r->parameters->count ? "" : "; the file has no parameters");
}

static lw_status apply_sets(lwi_yaml_reading *r)
{
    char name[LWI_NAME_LENGTH + 1];
    for (int i = 0; i < r->nset; i++) {
        const char *equals = strchr(r->set[i], '=');
        if (!equals || equals == r->set[i] || (size_t)(equals - r->set[i]) >= sizeof name)
            return lwi_fail_at(r->error, LW_ERR_ARGUMENT, r->file, 0, 0,
                               "'%.80s': expected NAME=VALUE of a parameter", r->set[i]);
        snprintf(name, sizeof name, "%.*s", (int)(equals - r->set[i]), r->set[i]);
        const int k = r->parameters ? lwi_document_find(r->parameters, name) : -1;
        if (k < 0) return no_parameter(r, name);
        r->parameter[k].set = equals + 1;
    }
    return LW_OK;
}

// ---- values given by the file that includes this one

static lw_status assign(lwi_yaml_reading *r, const char *name, const lwi_document_value *v,
                        lw_place place)
{
    lwi_yaml_reading *outer = r->parent;
    lwi_formula_result result = {0};
    lw_error why = {0};
    char hint[128] = "";
    const int k = r->parameters ? lwi_document_find(r->parameters, name) : -1;
    if (k < 0) {
        if (r->parameters)
            lwi_yaml_hint(hint, sizeof hint, name, r->parameters->key, r->parameters->count);
        return lwi_yaml_fail(outer, LW_ERR_MODEL, place, "%.80s has no parameter '%.60s'%s",
                             r->file, name, hint);
    }
    const char *text = "";
    TRY(lwi_yaml_read_text(outer, v, "a number or an expression", &text));
    lwi_yaml_parameter *p = &r->parameter[k];
    const lw_status status = lwi_formula_number(text, &outer->scope, &result, &why);
    if (status != LW_OK) return lwi_yaml_formula_failed(outer, status, v->place, &why);
    if (result.literal) { // in the unit of the parameter, if it has none
        p->set = text;
        return LW_OK;
    }
    p->assigned = text;
    p->given = result;
    return LW_OK;
}

lw_status lwi_yaml_assign_parameters(lwi_yaml_reading *r)
{
    const lwi_document_value *map = r->settings;
    for (int i = 0; map && i < map->count; i++) {
        const size_t mark = lwi_yaml_enter(r->parent, map->key[i]);
        TRY(assign(r, map->key[i], map->item[i], map->key_place[i]));
        lwi_yaml_leave(r->parent, mark);
    }
    return LW_OK;
}

// --------------------------------------------------------------------------------------- the sections

static lw_status check_parameter_name(lwi_yaml_reading *r, int k)
{
    const char *name = r->parameters->key[k];
    const lw_place place = r->parameters->key_place[k];
    lwi_yaml_set_item(r, "", "");
    if (!lwi_formula_is_word(name) || strlen(name) > LWI_NAME_LENGTH)
        return lwi_yaml_fail(
            r, LW_ERR_PARSE, place,
            "parameter '%.60s': expected a name of letters, digits and _, a letter "
            "first",
            name);
    if (lwi_formula_is_reserved(name))
        return lwi_yaml_fail(r, LW_ERR_PARSE, place,
                             "parameter '%.60s': formulas use this name (t is the time), expected "
                             "another",
                             name);
    if (r->functions && lwi_document_find(r->functions, name) >= 0)
        return lwi_yaml_fail(r, LW_ERR_MODEL, place,
                             "parameter '%.60s': this is the name of a function; names are unique",
                             name);
    return LW_OK;
}

// The statements for writing the file again.
static lw_status keep_parameters(lwi_yaml_reading *r)
{
    lwi_statements *s = &r->builder->desc.stated;
    lwi_arena *arena = &r->builder->arena;
    const int n = r->parameters ? r->parameters->count : 0, np = r->points ? r->points->count : 0;
    s->parameter = LWI_PUSH(arena, lwi_named_statement, n);
    s->point = LWI_PUSH(arena, lwi_named_statement, np);
    if (!s->parameter || !s->point) return lwi_yaml_no_memory(r);
    for (int k = 0; k < n; k++) {
        const lwi_yaml_parameter *p = &r->parameter[k];
        const bool own = p->set && lwi_text_is_number(p->set) && p->unit_text &&
                         r->parameters->item[k]->kind == LWI_DOCUMENT_SCALAR;
        const char *text = own ? lwi_yaml_joined(r, p->text, " ", p->unit_text) : p->text;
        const bool map = r->parameters->item[k]->kind == LWI_DOCUMENT_MAP;
        const bool named = map && entry(r->parameters->item[k], "unit");
        s->parameter[k] =
            (lwi_named_statement){.name = r->parameters->key[k],
                                  .text = text,
                                  .unit = p->unit_text,
                                  .unit_stated = named,
                                  .description = p->description,
                                  .unit_value = p->has_unit ? lwi_unit_value("1", 1, &p->unit) : 1,
                                  .value = p->value,
                                  .minimum = p->minimum,
                                  .maximum = p->maximum,
                                  .minimum_text = p->minimum_text,
                                  .maximum_text = p->maximum_text};
        if (!text) return lwi_yaml_no_memory(r);
    }
    for (int k = 0; k < np; k++) {
        const char *text = lwi_yaml_flow(r, r->points->item[k]);
        if (!text) return lwi_yaml_no_memory(r);
        s->point[k] = (lwi_named_statement){.name = r->points->key[k], .text = text};
    }
    s->nparameter = n, s->npoint = np;
    return lwi_statements_own(s, arena) ? LW_OK : lwi_yaml_no_memory(r);
}

lw_status lwi_yaml_begin_parameters(lwi_yaml_reading *r)
{
    const int n = r->parameters ? r->parameters->count : 0, np = r->points ? r->points->count : 0;
    r->parameter = LWI_PUSH(&r->arena, lwi_yaml_parameter, n);
    r->point = LWI_PUSH(&r->arena, lwi_yaml_point, np);
    if (!r->parameter || !r->point) return lwi_yaml_no_memory(r);
    r->scope = (lwi_formula_scope){.user = r,
                                   .find = find_name,
                                   .constant = true,
                                   .names = n ? r->parameters->key : NULL,
                                   .nname = n};
    for (int k = 0; k < n; k++) TRY(check_parameter_name(r, k));
    TRY(apply_sets(r));
    if (r->parent) TRY(lwi_yaml_assign_parameters(r));
    for (int k = 0; k < n; k++) TRY(evaluate(r, k));
    for (int k = 0; k < np; k++) TRY(find_point(r, k));
    lwi_yaml_set_item(r, "", "");
    r->stated = false;
    return r->parent ? LW_OK : keep_parameters(r);
}
