// include_columns.c -- the formulas of measures: parameters have their values, and names of result columns in included
// files get the prefix of the file: joint.A.fx becomes 'joint.left.A.fx', A.q0 becomes 'left.A.q0', joint.A.fx@tip
// 'joint.left.A.fx@left.tip'.  Coordinates that a mirror negates are those of the file, (-'joint.left.A.q0').
// In formulas of events names of measures are their formulas.
#include "io/yaml/include.h"

#include "base/numbers.h"
#include "io/text.h"

#include "model/forces/item.h"
#include "model/model.h"
#include "model/signals/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_kind(const char *word, size_t n)
{
    static const char *const kinds[] = {"body", "joint", "marker", "measure", "signal"};
    for (int i = 0; i < LWI_COUNT(kinds); i++)
        if (strlen(kinds[i]) == n && !strncmp(kinds[i], word, n)) return true;
    for (int i = 0; i < LWI_FORCE_ITEMS; i++) {
        const char *name = lwi_force_items[i]->type->name;
        if (strlen(name) == n && !strncmp(name, word, n)) return true;
    }
    return false;
}

// Is it the short name of a joint coordinate, "A.q0", "A.qd1"?
static bool is_coordinate(const char *name, size_t n)
{
    size_t at = n;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') at--;
    if (at == n) return false;
    return (at > 2 && !strncmp(name + at - 2, ".q", 2)) ||
           (at > 3 && !strncmp(name + at - 3, ".qd", 3));
}

// Is it the name of a marker after "@"?  F1, F2, body1 and body2 are places of every joint.
static bool is_marker(const char *name)
{
    static const char *const places[] = {"F1", "F2", "body1", "body2"};
    for (int i = 0; i < LWI_COUNT(places); i++)
        if (!strcmp(name, places[i])) return false;
    return *name != 0;
}

/** Text that grows in memory that is large enough; NULL: its length is counted. */
typedef struct column_text {
    char *at;
    size_t n;
} column_text;

static void put_plain(column_text *to, const char *text, size_t n)
{
    if (to->at) memcpy(to->at + to->n, text, n);
    to->n += n;
}

// In quotes, a quote inside is doubled.
static void put_text(column_text *to, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'') to->at[to->n++] = '\'';
        to->at[to->n++] = text[i];
    }
}

// Is it the coordinate of a joint of the file that has the other sign where the file is mirrored: joint.A.q0, A.qd1?
static bool is_negated(lwi_yaml_reading *r, const char *name, size_t n)
{
    char joint[LWI_NAME_LENGTH + 1];
    const size_t from = n > 6 && !strncmp(name, "joint.", 6) ? 6 : 0;
    size_t at = n;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') at--;
    if (at == n || n - at > 3) return false;
    const size_t digits = at;
    while (at > from && name[at - 1] == 'd') at--;
    if (at < from + 3 || name[at - 1] != 'q' || name[at - 2] != '.' ||
        at - 2 - from >= sizeof joint)
        return false;
    memcpy(joint, name + from, at - 2 - from);
    joint[at - 2 - from] = 0;
    return lwi_yaml_is_negated(r, joint, atoi(name + digits), digits > at);
}

// The column `name`, without quotes; of an item of the file with the prefix, else as it is.
static void put_column(lwi_yaml_reading *r, column_text *to, const char *name, size_t n)
{
    const char *prefix = r->prefix;
    const char *dot = memchr(name, '.', n), *at = memchr(name, '@', n);
    const size_t kind = dot ? (size_t)(dot - name) : 0, end = at ? (size_t)(at - name) : n;
    const bool column = dot && is_kind(name, kind), coordinate = is_coordinate(name, n);
    const bool negated = is_negated(r, name, end);
    if (negated) put_plain(to, "(-", 2);
    to->at[to->n++] = '\'';
    if (column) put_text(to, name, kind + 1);
    if (column || coordinate) put_text(to, prefix, strlen(prefix));
    put_text(to, name + (column ? kind + 1 : 0), end - (column ? kind + 1 : 0));
    if (at) {
        put_text(to, "@", 1);
        char place[8] = "";
        if (n - end - 1 < sizeof place) memcpy(place, at + 1, n - end - 1);
        if (is_marker(*place ? place : "marker")) put_text(to, prefix, strlen(prefix));
        put_text(to, at + 1, n - end - 1);
    }
    to->at[to->n++] = '\'';
    if (negated) put_plain(to, ")", 1);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static size_t number_length(const char *text)
{
    const char *end = lwi_number_end(text);
    size_t n = 0;
    if (end) return (size_t)(end - text);
    while (in_word(text[n]) || text[n] == '.') n++;
    return n;
}

/** What is before a word: a unit follows a number, or a unit and '*', '/' or nothing. */
typedef enum unit_place { NO_UNIT, BEHIND_NUMBER, BEHIND_UNIT } unit_place;

// Behind a character of no word, number or name.
static unit_place behind(unit_place before, char c)
{
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return before;
    return before == BEHIND_UNIT && (c == '*' || c == '/') ? BEHIND_UNIT : NO_UNIT;
}

// Bytes of the unit that the word is at this place, with its power; 0: none.
static size_t unit_length(const char *text, size_t n, unit_place place)
{
    lwi_unit u;
    const char *next = text + n;
    while (*next == ' ') next++;
    if (place == NO_UNIT || *next == '(' || !lwi_unit_find(text, (int)n, &u)) return 0;
    if (text[n] != '^') return n;
    n += text[n + 1] == '-' ? 2 : 1;
    while (is_digit(text[n])) n++;
    return n;
}

// Bytes of a name in quotes at `text`; the name without them in `name` [n].
static size_t unquote(const char *text, char *name, size_t *n)
{
    size_t used = 1;
    for (*n = 0; text[used] && (text[used] != '\'' || text[used + 1] == '\''); used++) {
        if (text[used] == '\'') used++;
        name[(*n)++] = text[used];
    }
    return used + (text[used] == '\'');
}

// Bytes of a name of words, dots and parts in quotes, body.'left arm'.x; the name without quotes in `name` [n].
static size_t read_name(const char *text, char *name, size_t *n)
{
    size_t used = 0;
    *n = 0;
    while (true) {
        const char c = text[used], before = used ? text[used - 1] : '.';
        if (in_word(c) || c == '.' || c == '@') {
            name[(*n)++] = c, used++;
        } else if (c == '\'' && (before == '.' || before == '@')) {
            size_t part;
            used += unquote(text + used, name + *n, &part);
            *n += part;
        } else {
            return used;
        }
    }
}

// A value in SI with its unit, where the formula of a measure names a parameter.
static void put_value(column_text *to, const lwi_formula_symbol *symbol)
{
    char text[40], unit[128] = "", *from, *end;
    lwi_unit u;
    lwi_dimension_text(symbol->dimension, unit, sizeof unit); // "an angle [rad]"
    from = strchr(unit, '['), end = strrchr(unit, ']');
    const int n = from && end ? (int)(end - from - 1) : 0;
    const bool known = n > 0 && n < 60 && symbol->dimension.kind == LWI_DIMENSION_KNOWN &&
                       lwi_unit_read(from + 1, n, &u) && lwi_unit_value("1", 1, &u) == 1;
    put_plain(to, "(", 1);
    put_plain(to, text, (size_t)snprintf(text, sizeof text, "%.17g", symbol->value));
    if (known) put_plain(to, " ", 1), put_plain(to, from + 1, (size_t)n);
    put_plain(to, ")", 1);
}

// Is the word the name of a parameter, or a coordinate of a point?
static bool is_parameter(const lwi_yaml_reading *r, const char *text, size_t n,
                         lwi_formula_symbol *symbol)
{
    lw_error why;
    const char *next = text + n;
    while (*next == ' ') next++;
    if (*next == '(') return false;
    return r->scope.find && r->scope.find(r->scope.user, text, (int)n, symbol, &why) == LW_OK &&
           !symbol->signal;
}

static void put_word(lwi_yaml_reading *r, column_text *to, const char *text, size_t n)
{
    lwi_formula_symbol symbol = {.value = 0};
    if (is_parameter(r, text, n, &symbol))
        put_value(to, &symbol);
    else if (memchr(text, '.', n) && (*r->prefix || r->placement.moved))
        put_column(r, to, text, n);
    else
        put_plain(to, text, n);
}

// Room for a text in which each second character begins a name, which gets a prefix at two places, quotes and a sign, or
// is a parameter.
static size_t room_of(const lwi_yaml_reading *r, const char *text)
{
    enum { VALUE = 110 };
    return (2 * strlen(text) + 1) * 2 +
           (strlen(text) + 2) * (2 * strlen(r->prefix) + 6 + (r->scope.find ? VALUE : 0));
}

lw_status lwi_yaml_place_columns(lwi_yaml_reading *r, const char **formula)
{
    const char *text = *formula;
    column_text to = {.at = LWI_PUSH(&r->arena, char, room_of(r, text))};
    char *name = LWI_PUSH(&r->arena, char, strlen(text) + 1);
    unit_place place = NO_UNIT;
    if (!to.at || !name) return lwi_yaml_no_memory(r);
    while (*text) {
        size_t n = 0, used = in_word(*text) || *text == '\'' ? read_name(text, name, &n) : 0;
        if (used > n) { // with quotes
            if (*r->prefix || r->placement.moved)
                put_column(r, &to, name, n);
            else
                put_plain(&to, text, used);
            place = NO_UNIT;
        } else if (is_digit(*text)) {
            put_plain(&to, text, used = number_length(text));
            place = BEHIND_NUMBER;
        } else if (in_word(*text)) {
            const size_t unit = unit_length(text, used, place);
            place = unit > 0 ? BEHIND_UNIT : NO_UNIT;
            if (unit > 0)
                put_plain(&to, text, used = unit);
            else
                put_word(r, &to, text, used);
        } else {
            place = behind(place, *text);
            put_plain(&to, text, used = 1);
        }
        text += used;
    }
    to.at[to.n] = 0;
    if (strcmp(to.at, *formula)) r->stated = true;
    *formula = to.at;
    return LW_OK;
}

// The measure of that name, measure.NAME or NAME; -1: none.
static int find_measure(const lwi_yaml_reading *r, const char *name, size_t n)
{
    const lwi_description *d = &r->builder->desc;
    const bool whole = n > 8 && !strncmp(name, "measure.", 8);
    char word[LWI_NAME_LENGTH + 1];
    if (whole) name += 8, n -= 8;
    if (n >= sizeof word) return -1;
    memcpy(word, name, n);
    word[n] = 0;
    if (!whole && (lwi_formula_is_reserved(word) ||
                   (r->functions && lwi_document_find(r->functions, word) >= 0) ||
                   lwi_names_find(&r->inputs, word) >= 0 ||
                   (r->parameters && lwi_document_find(r->parameters, word) >= 0)))
        return -1;
    for (int i = d->nmeasure - 1; i >= 0; i--)
        if (strlen(d->measure[i].name) == n && !strncmp(d->measure[i].name, name, n)) return i;
    return -1;
}

// The name of a column as formulas have it: joint.'left.A'.q0, 'left.A'.q0, and of a signal its name alone.
static void put_item(column_text *to, const char *name, size_t n)
{
    const char *dot = memchr(name, '.', n);
    const size_t kind = dot ? (size_t)(dot - name) : 0;
    const bool column = dot && is_kind(name, kind);
    size_t end = n, from = column ? kind + 1 : 0;
    while (end > from && name[end - 1] != '.') end--;
    if (end <= from + 1) { // no item
        put_plain(to, name, n);
        return;
    }
    const bool signal = column && !strncmp(name, "signal.", 7);
    if (!signal) put_plain(to, name, from);
    put_plain(to, "'", 1);
    for (size_t i = from; i < end - 1; i++)
        put_plain(to, name[i] == '\'' ? "''" : name + i, 1 + (name[i] == '\''));
    put_plain(to, "'", 1);
    if (!signal) put_plain(to, name + end - 1, n - end + 1);
}

// The formula of a measure, of columns, as one of events.
static void put_formula(column_text *to, const char *text, char *name)
{
    put_plain(to, "(", 1);
    while (*text) {
        size_t n = 0, used = 1;
        if (*text == '\'') {
            used = unquote(text, name, &n);
        } else if (in_word(*text)) {
            while (in_word(text[used]) || text[used] == '.') used++;
            memcpy(name, text, used);
            n = *text >= '0' && *text <= '9' ? 0 : used;
        }
        if (n > 0 && memchr(name, '.', n) && strncmp(name, "measure.", 8))
            put_item(to, name, n);
        else
            put_plain(to, text, used);
        text += used;
    }
    put_plain(to, ")", 1);
}

// For messages.
static void keep_name(lwi_yaml_reading *r, const char *name)
{
    const size_t n = strlen(r->measures), room = sizeof r->measures - n;
    char quoted[48];
    snprintf(quoted, sizeof quoted, "'%.44s'", name);
    if (!strstr(r->measures, quoted) && strlen(quoted) + 2 < room)
        snprintf(r->measures + n, room, "%s%s", n ? ", " : "", quoted);
}

// Text with the formulas of measures in place of their names; the number of names.
static int expand(lwi_yaml_reading *r, const char *text, char *name, char *scratch, column_text *to)
{
    int found = 0;
    unit_place place = NO_UNIT;
    while (*text) {
        size_t n = 0, used = 1;
        if (*text == '\'') {
            used = unquote(text, name, &n);
            place = NO_UNIT;
        } else if (is_digit(*text)) {
            used = number_length(text);
            place = BEHIND_NUMBER;
        } else if (in_word(*text)) {
            while (in_word(text[used]) || text[used] == '.') used++;
            const size_t unit = unit_length(text, used, place);
            place = unit > 0 ? BEHIND_UNIT : NO_UNIT;
            if (unit > 0)
                used = unit;
            else
                memcpy(name, text, n = used);
        } else {
            place = behind(place, *text);
        }
        const bool member = text[used] == '.'; // of an item of this name
        const int k = n > 0 && !member ? find_measure(r, name, n) : -1;
        if (k >= 0 && to->at) keep_name(r, r->builder->desc.measure[k].name);
        if (k >= 0)
            put_formula(to, r->builder->desc.measure[k].formula, scratch);
        else
            put_plain(to, text, used);
        found += k >= 0;
        text += used;
    }
    return found;
}

static size_t longest_measure(const lwi_description *d)
{
    size_t n = 0;
    for (int i = 0; i < d->nmeasure; i++) {
        const size_t length = strlen(d->measure[i].formula);
        if (length > n) n = length;
    }
    return n;
}

lw_status lwi_yaml_expand_measures(lwi_yaml_reading *r, const char **formula)
{
    enum { LONGEST = 100000, DEPTH = 64 }; // of an expanded formula; measures that name measures
    const lwi_description *d = &r->builder->desc;
    r->measures[0] = 0;
    if (d->nmeasure == 0) return LW_OK;
    char *scratch = LWI_PUSH(&r->arena, char, longest_measure(d) + 1);
    for (int depth = 0; depth < DEPTH; depth++) {
        column_text size = {.at = NULL}, to = size;
        char *name = LWI_PUSH(&r->arena, char, strlen(*formula) + 1);
        if (!name || !scratch) return lwi_yaml_no_memory(r);
        if (expand(r, *formula, name, scratch, &size) == 0 || size.n > LONGEST) return LW_OK;
        to.at = LWI_PUSH(&r->arena, char, size.n + 1);
        if (!to.at) return lwi_yaml_no_memory(r);
        expand(r, *formula, name, scratch, &to);
        to.at[to.n] = 0;
        *formula = to.at;
    }
    return LW_OK;
}
