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

static lwi_json_token token(const lwi_json_scan *s, lwi_json_kind kind)
{
    return (lwi_json_token){.kind = kind, .place = {s->number, (int)(s->at - s->line) + 1}};
}

static lwi_json_token other(void)
{
    return (lwi_json_token){.kind = LWI_JSON_OTHER};
}

// A string of printable ASCII characters, without escapes.
static lwi_json_token take_string(lwi_json_scan *s)
{
    lwi_json_token t = token(s, LWI_JSON_SCALAR);
    const char *p = s->at + 1;
    while (p < s->end && *p >= ' ' && *p <= '~' && *p != '"' && *p != '\\') p++;
    if (p == s->end || *p != '"') return other();
    t.quoted = true;
    t.text = s->at + 1, t.length = (size_t)(p - t.text);
    s->at = p + 1;
    return t;
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
static lwi_json_token take_plain(lwi_json_scan *s)
{
    lwi_json_token t = token(s, LWI_JSON_SCALAR);
    const char *end = lwi_number_end(s->at);
    if (!end) end = word_end(s->at);
    if (!end || !strchr(",]} \n", *end)) return other();
    t.text = s->at, t.length = (size_t)(end - s->at);
    s->at = end;
    return t;
}

static lwi_json_token open(lwi_json_scan *s, bool map)
{
    const lwi_json_token t = token(s, map ? LWI_JSON_MAP : LWI_JSON_LIST);
    const uint64_t bit = (uint64_t)1 << s->depth;
    if (s->depth == DEPTH - 1) return other();
    s->maps = map ? s->maps | bit : s->maps & ~bit;
    s->depth++;
    s->first = true, s->complete = false;
    s->at++;
    return t;
}

static lwi_json_token close(lwi_json_scan *s, bool map)
{
    const lwi_json_token t = token(s, LWI_JSON_CLOSE);
    if (*s->at != (map ? '}' : ']')) return other();
    s->at++;
    s->depth--;
    s->first = false, s->complete = true;
    return t;
}

static lwi_json_token take_key(lwi_json_scan *s)
{
    const lwi_json_token t = *s->at == '"' ? take_string(s) : other();
    if (t.kind != LWI_JSON_SCALAR || t.length > LONGEST_KEY || *s->at != ':') return other();
    s->at++;
    s->value = true;
    return t;
}

lwi_json_token lwi_json_next(lwi_json_scan *s)
{
    const bool map = s->depth > 0 && s->maps >> (s->depth - 1) & 1;
    if (s->at == s->end) return s->complete && s->depth == 0 ? token(s, LWI_JSON_END) : other();
    skip_blanks(s);
    if (s->complete) {
        if (s->depth == 0) return other();
        if (*s->at != ',') return close(s, map);
        s->at++;
        skip_blanks(s);
    } else if (s->first && (*s->at == '}' || *s->at == ']')) {
        return close(s, map);
    }
    s->first = s->complete = false;
    if (map && !s->value) return take_key(s);
    s->value = false;
    if (*s->at == '{' || *s->at == '[') return open(s, *s->at == '{');
    if (s->depth == 0) return other(); // a scalar alone
    const lwi_json_token t = *s->at == '"' ? take_string(s) : take_plain(s);
    s->complete = true;
    return t;
}
