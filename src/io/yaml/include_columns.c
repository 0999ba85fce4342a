// include_columns.c -- names of result columns in the measures of included files get the prefix of the file:
// joint.A.fx becomes 'joint.left.A.fx', A.q0 becomes 'left.A.q0', joint.A.fx@tip 'joint.left.A.fx@left.tip'.
#include "io/yaml/include.h"

#include "model/forces/item.h"

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

/** Text that grows in memory that is large enough. */
typedef struct column_text {
    char *at;
    size_t n;
} column_text;

// In quotes, a quote inside is doubled.
static void put_text(column_text *to, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'') to->at[to->n++] = '\'';
        to->at[to->n++] = text[i];
    }
}

// The column `name`, without quotes; of an item of the file with the prefix, else as it is.
static void put_column(column_text *to, const char *prefix, const char *name, size_t n)
{
    const char *dot = memchr(name, '.', n), *at = memchr(name, '@', n);
    const size_t kind = dot ? (size_t)(dot - name) : 0, end = at ? (size_t)(at - name) : n;
    const bool column = dot && is_kind(name, kind), coordinate = is_coordinate(name, n);
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
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

lw_status lwi_yaml_prefix_columns(lwi_yaml_reading *r, const char **formula)
{
    const char *text = *formula;
    if (!*r->prefix) return LW_OK;
    // at most every second character begins a name, which gets a prefix at two places and quotes
    const size_t room =
        (2 * strlen(text) + 1) * 2 + (strlen(text) + 2) * (2 * strlen(r->prefix) + 2);
    column_text to = {.at = LWI_PUSH(&r->arena, char, room)};
    char *name = LWI_PUSH(&r->arena, char, strlen(text) + 1);
    if (!to.at || !name) return lwi_yaml_no_memory(r);
    while (*text) {
        size_t n = 0, used = 0;
        if (*text == '\'') {
            for (used = 1; text[used] && (text[used] != '\'' || text[used + 1] == '\''); used++) {
                if (text[used] == '\'') used++;
                name[n++] = text[used];
            }
            used += text[used] == '\'';
            put_column(&to, r->prefix, name, n);
        } else if (*text >= '0' && *text <= '9') { // a number and its exponent
            while (in_word(text[used]) || text[used] == '.') used++;
            memcpy(to.at + to.n, text, used);
            to.n += used;
        } else if (in_word(*text)) {
            while (in_word(text[used]) || text[used] == '.' || text[used] == '@') used++;
            if (memchr(text, '.', used)) {
                put_column(&to, r->prefix, text, used);
            } else {
                memcpy(to.at + to.n, text, used);
                to.n += used;
            }
        } else {
            to.at[to.n++] = *text;
            used = 1;
        }
        text += used;
    }
    to.at[to.n] = 0;
    *formula = to.at;
    return LW_OK;
}
