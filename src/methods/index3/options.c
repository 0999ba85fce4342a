// options.c -- the option `index3`: key=value,... of how a step is done.
#include "methods/index3/index3.h"

#include "base/numbers.h"

#include <math.h>
#include <string.h>

// eps relative to the rows [malczyk2019], in loops: 1e-10 to 1e-6 give the same motion; with redundant rows
// smaller ones let round-off into the multipliers, larger ones need more iterations.
#define REGULARISATION 1e-8
// Iterations of Newton and where they end [m]: quadratic, three are usual.
enum { ITERATIONS = 6, REAL_TIME_ITERATIONS = 3, MAX_ITERATIONS = 1000 };
#define TOLERANCE 1e-10

// A value is a number from `least` to `most`, or one of words, whose number it then is.
typedef struct entry {
    const char *key;
    size_t offset;
    bool integer;
    double min, max;
    const char *words[4];
    const char *expected;
} entry;

#define AT(field) offsetof(lwi_index3_method, field)
static const entry entries[] = {
    {"regularisation", AT(regularisation), false, 1e-14, 1e-2, {0}, "a number from 1e-14 to 1e-2"},
    {"iterations", AT(iterations), true, 1, MAX_ITERATIONS, {0}, "a whole number from 1 to 1000"},
    {"tolerance", AT(tolerance), false, 0, 1, {0}, "a length from 0 to 1 m; 0: all iterations"},
    {"coordinates", AT(coordinates), true, 6, 7, {0}, "6 or 7"},
    {"penalty", AT(penalty), false, 0, 1e15, {0}, "a number up to 1e15; 0: none"},
    {"normalisation",
     AT(normalisation),
     false,
     0,
     1e15,
     {0},
     "a number up to 1e15; 0: the penalty"},
    {"tangent", AT(tangent), true, 0, 2, {0}, "0, 1 or 2"},
    {"newton", AT(newton), true, 0, -1, {"full", "modified"}, "full or modified"},
    {"projection",
     AT(projection),
     true,
     0,
     -1,
     {"none", "mass", "tangent"},
     "mass, tangent or none"},
    {"order", AT(order), true, 0, -1, {"sequential", "independent"}, "sequential or independent"},
    {"control",
     AT(control),
     true,
     0,
     -1,
     {"auto", "equal", "error"},
     "equal, error, or auto: equal where a step is given"},
    {"mode", AT(mode), true, 0, -1, {"offline", "real-time"}, "offline or real-time"},
    {"stop", AT(stop), true, 0, -1, {"q", "q+lambda"}, "q or q+lambda"},
};

void lwi_index3_defaults(lwi_index3_method *method)
{
    *method = (lwi_index3_method){.regularisation = REGULARISATION,
                                  .iterations = ITERATIONS,
                                  .tolerance = TOLERANCE,
                                  .coordinates = 6,
                                  .tangent = 2,
                                  .projection = LWI_INDEX3_PROJECT_MASS};
}

static bool take(const entry *e, const char *value, lwi_index3_method *method)
{
    double number = NAN;
    for (int i = 0; i < LWI_COUNT(e->words) && e->words[i]; i++)
        if (!strcmp(value, e->words[i])) number = i;
    if (!e->words[0] && (!lwi_number_read(value, &number) || !(number >= e->min) ||
                         !(number <= e->max) || (e->integer && number != floor(number))))
        return false;
    if (isnan(number)) return false;
    char *place = (char *)method + e->offset;
    const int integer = e->integer ? (int)number : 0;
    if (e->integer)
        memcpy(place, &integer, sizeof integer);
    else
        memcpy(place, &number, sizeof number);
    return true;
}

// seen: bit i, entry i was given before
static lw_status read_one(char *text, lwi_index3_method *method, unsigned *seen, lw_error *error)
{
    const char *names[LWI_COUNT(entries)];
    char *value = strchr(text, '=');
    if (!value) return lwi_fail(error, LW_ERR_ARGUMENT, "index3: '%s' is not KEY=VALUE", text);
    *value++ = 0;
    for (int i = 0; i < LWI_COUNT(entries); i++) {
        names[i] = entries[i].key;
        if (strcmp(text, entries[i].key) != 0) continue;
        if (*seen & 1u << i)
            return lwi_fail(error, LW_ERR_ARGUMENT, "index3: %s is given twice", text);
        *seen |= 1u << i;
        if (take(&entries[i], value, method)) return LW_OK;
        return lwi_fail(error, LW_ERR_ARGUMENT, "index3: %s: '%s' is not %s", text, value,
                        entries[i].expected);
    }
    const char *nearest = lwi_nearest(text, names, LWI_COUNT(names));
    return lwi_fail(
        error, LW_ERR_ARGUMENT,
        "index3: there is no '%s'%s%s%s; there are regularisation, "
        "iterations, tolerance, coordinates, penalty, normalisation, tangent, newton, projection, "
        "order, control, mode, stop",
        text, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

lw_status lwi_index3_method_read(const char *text, lwi_index3_method *method, lw_error *error)
{
    char copy[sizeof((lw_options *)0)->index3];
    unsigned seen = 0;
    lwi_index3_defaults(method);
    if (!strcmp(text, "auto")) return LW_OK;
    lwi_copy_text(copy, sizeof copy, text);
    for (char *word = copy, *next; word; word = next) {
        next = strchr(word, ',');
        if (next) *next++ = 0;
        TRY(read_one(word, method, &seen, error));
    }
    if (!method->mode) return LW_OK;
    if (method->control == 2)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "index3: control: 'error' is not equal or auto, as mode=real-time asks for");
    method->tolerance = 0;
    if (!strstr(text, "iterations=")) method->iterations = REAL_TIME_ITERATIONS;
    return LW_OK;
}
