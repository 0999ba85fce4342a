// text.c -- words and numbers of mesh files that are text.
#include "io/mesh/bytes.h"

#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

// How many bytes the end of the line takes at a position that has one.
static int line_end(const lwi_mesh_text *t, const char *at)
{
    return *at == '\r' && t->end - at > 1 && at[1] == '\n' ? 2 : 1;
}

// A backslash, then the end of the line: how many bytes.
static int continuation(const lwi_mesh_text *t)
{
    if (*t->at != '\\' || t->end - t->at < 2 || !is_line_end(t->at[1])) return 0;
    return 1 + line_end(t, t->at + 1);
}

lwi_mesh_text lwi_mesh_text_of(const char *bytes, size_t length, const char *name, lw_error *error)
{
    const size_t mark = length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    return (lwi_mesh_text){
        .at = bytes + mark, .end = bytes + length, .name = name, .line = 1, .error = error};
}

const char *lwi_mesh_word(lwi_mesh_text *t, size_t *length)
{
    for (int n; t->at < t->end; t->at += n) {
        n = is_space(*t->at) ? 1 : continuation(t);
        if (n > 1) t->line++;
        if (n == 0) break;
    }
    const char *word = t->at;
    while (t->at < t->end && !is_space(*t->at) && !is_line_end(*t->at) && !continuation(t)) t->at++;
    *length = (size_t)(t->at - word);
    return *length ? word : NULL;
}

bool lwi_mesh_next_line(lwi_mesh_text *t)
{
    while (t->at < t->end && !is_line_end(*t->at)) t->at++;
    if (t->at < t->end) t->at += line_end(t, t->at);
    t->line += t->at < t->end;
    return t->at < t->end;
}

lw_status lwi_mesh_text_fail(const lwi_mesh_text *t, const char *format, ...)
{
    char text[sizeof t->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_fail_at(t->error, LW_ERR_PARSE, t->name, t->line, 0, "%s", text);
}

bool lwi_mesh_is(const char *word, size_t length, const char *text)
{
    return word && strlen(text) == length && strncasecmp(word, text, length) == 0;
}

// Up to 15 digits and powers of ten up to 22 are exact in double precision; the quotient or product is then rounded
// once.  Other numbers are left to `lwi_number_read`.
static bool short_number(const char *word, size_t length, double *x)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *end = word + length;
    const bool negative = *word == '-';
    double digits = 0;
    int n = 0, after = -1, exponent = 0;
    if (*word == '-' || *word == '+') word++;
    for (; word < end && n <= 15; word++) {
        if (*word == '.' && after < 0)
            after = 0;
        else if (*word >= '0' && *word <= '9')
            digits = 10 * digits + (*word - '0'), n++, after += after >= 0;
        else
            break;
    }
    if (word < end && (*word == 'e' || *word == 'E')) {
        const bool down = ++word < end && *word == '-';
        const char *first = word += word < end && (*word == '-' || *word == '+');
        for (; word < end && *word >= '0' && *word <= '9' && exponent < 100; word++)
            exponent = 10 * exponent + (*word - '0');
        if (word == first) return false;
        if (down) exponent = -exponent;
    }
    if (after > 0) exponent -= after;
    if (word != end || n == 0 || n > 15 || exponent < -22 || exponent > 22) return false;
    *x = exponent < 0 ? digits / power[-exponent] : digits * power[exponent];
    if (negative) *x = -*x;
    return true;
}

static bool number_of(const char *word, size_t length, double *x)
{
    char text[64];
    if (short_number(word, length, x)) return true;
    if (length >= sizeof text) return false;
    memcpy(text, word, length);
    text[length] = 0;
    return lwi_number_read(text, x);
}

lw_status lwi_mesh_numbers(lwi_mesh_text *t, const char *what, int n, float *x)
{
    for (int i = 0; i < n; i++) {
        size_t length;
        double value;
        const char *word = lwi_mesh_word(t, &length);
        if (!word) return lwi_mesh_text_fail(t, "%s: %d numbers, expected %d", what, i, n);
        if (!number_of(word, length, &value) || !isfinite((float)value))
            return lwi_mesh_text_fail(t, "%s: '%.*s' is not a finite number", what,
                                      (int)(length < 40 ? length : 40), word);
        x[i] = (float)value;
    }
    return LW_OK;
}
