// json_scan.c -- the values of a plain JSON text                                                [rfc8259]
#include "io/json_scan.h"

#include "base/numbers.h"

#include <string.h>

enum { DEPTH = 64 };         // bits of `maps`
enum { LONGEST_KEY = 1000 }; // libyaml has none of more than 1024 characters

// Without blanks at the end the last character is a bracket: there every search ends, except that of a quote.
lwi_json_scan lwi_json_begin(const char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\n')) length--;
    const bool ends = length > 0 && (text[length - 1] == '}' || text[length - 1] == ']');
    return (lwi_json_scan){
        .at = text, .end = ends ? text + length : text, .line = text, .number = 1};
}

static void skip_blanks(lwi_json_scan *s)
{
    for (;; s->at++) {
        if (*s->at == '\n')
            s->number++, s->line = s->at + 1;
        else if (*s->at != ' ')
            return;
    }
}

static void begin(const lwi_json_scan *s, lwi_json_kind kind, lwi_json_token *t)
{
    t->kind = kind;
    t->quoted = t->number = false;
    t->place = (lw_place){s->number, (int)(s->at - s->line) + 1};
}

static void take_other(lwi_json_token *t)
{
    t->kind = LWI_JSON_OTHER;
}

// A string of printable ASCII characters, without escapes.
static void take_string(lwi_json_scan *s, lwi_json_token *t)
{
    begin(s, LWI_JSON_SCALAR, t);
    const char *p = s->at + 1;
    while (p < s->end && *p >= ' ' && *p <= '~' && *p != '"' && *p != '\\') p++;
    if (p == s->end || *p != '"') {
        take_other(t);
        return;
    }
    t->quoted = true;
    t->text = s->at + 1, t->length = (size_t)(p - t->text);
    s->at = p + 1;
}

static const char *word_end(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(words[i]);
        if (!strncmp(at, words[i], n)) return at + n;
    }
    return NULL;
}

// A number, true, false or null.
static void take_plain(lwi_json_scan *s, lwi_json_token *t)
{
    begin(s, LWI_JSON_SCALAR, t);
    const char *end = lwi_number_end(s->at);
    t->number = end != NULL;
    if (!end) end = word_end(s->at);
    if (!end || !(*end == ',' || *end == ']' || *end == '}' || *end == ' ' || *end == '\n')) {
        take_other(t);
        return;
    }
    t->text = s->at, t->length = (size_t)(end - s->at);
    s->at = end;
}

static void open(lwi_json_scan *s, bool map, lwi_json_token *t)
{
    const uint64_t bit = (uint64_t)1 << s->depth;
    begin(s, s->depth == DEPTH - 1 ? LWI_JSON_OTHER : map ? LWI_JSON_MAP : LWI_JSON_LIST, t);
    if (t->kind == LWI_JSON_OTHER) return;
    s->maps = map ? s->maps | bit : s->maps & ~bit;
    s->depth++;
    s->first = true, s->complete = false;
    s->at++;
}

static void close(lwi_json_scan *s, bool map, lwi_json_token *t)
{
    begin(s, *s->at == (map ? '}' : ']') ? LWI_JSON_CLOSE : LWI_JSON_OTHER, t);
    if (t->kind == LWI_JSON_OTHER) return;
    s->at++;
    s->depth--;
    s->first = false, s->complete = true;
}

static void take_key(lwi_json_scan *s, lwi_json_token *t)
{
    take_other(t);
    if (*s->at == '"') take_string(s, t);
    if (t->kind == LWI_JSON_SCALAR && (t->length > LONGEST_KEY || *s->at != ':')) take_other(t);
    if (t->kind == LWI_JSON_OTHER) return;
    s->at++;
    s->value = true;
}

void lwi_json_next(lwi_json_scan *s, lwi_json_token *t)
{
    const bool map = s->depth > 0 && s->maps >> (s->depth - 1) & 1;
    if (s->at == s->end) {
        begin(s, s->complete && s->depth == 0 ? LWI_JSON_END : LWI_JSON_OTHER, t);
        return;
    }
    skip_blanks(s);
    if (s->complete) {
        if (s->depth == 0 || *s->at != ',') {
            if (s->depth == 0)
                take_other(t);
            else
                close(s, map, t);
            return;
        }
        s->at++;
        skip_blanks(s);
    } else if (s->first && (*s->at == '}' || *s->at == ']')) {
        close(s, map, t);
        return;
    }
    s->first = s->complete = false;
    if (map && !s->value) {
        take_key(s, t);
        return;
    }
    s->value = false;
    if (*s->at == '{' || *s->at == '[') {
        open(s, *s->at == '{', t);
        return;
    }
    if (s->depth == 0) { // a scalar alone
        take_other(t);
        return;
    }
    if (*s->at == '"')
        take_string(s, t);
    else
        take_plain(s, t);
    s->complete = true;
}
