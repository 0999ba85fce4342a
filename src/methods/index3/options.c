// options.c -- the option `index3`: key=value,... of how a step is done.
#include "methods/index3/index3.h"

#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// eps relative to the rows [malczyk2019], in loops: 1e-10 to 1e-6 give the same motion; with redundant rows
// smaller values let round-off into the multipliers, larger ones need more iterations.
#define REGULARISATION 1e-8
// Newton converges quadratically: three iterations are typical.
enum { ITERATIONS = 6, REAL_TIME_ITERATIONS = 3, MAX_ITERATIONS = 1000 };
#define TOLERANCE 1e-10 // [m]

typedef lwi_index3_key entry;
#define REAL LWI_INDEX3_REAL
#define WHOLE LWI_INDEX3_WHOLE
#define CHOICE LWI_INDEX3_CHOICE

#define X(name, text) text,
static const char *const newton[] = {LW_INDEX3_NEWTON_LIST(X) NULL};
static const char *const projection[] = {LW_INDEX3_PROJECTION_LIST(X) NULL};
static const char *const control[] = {LW_INDEX3_CONTROL_LIST(X) NULL};
static const char *const mode[] = {LW_INDEX3_MODE_LIST(X) NULL};
static const char *const stop[] = {LW_INDEX3_STOP_LIST(X) NULL};
static const char *const output[] = {LW_INDEX3_OUTPUT_LIST(X) NULL};
#undef X

// clang-format off
#define AT(field) #field, offsetof(lw_index3_options, field)
static const entry entries[] = {
    {AT(regularisation), REAL, 1e-14, 1e-2, NULL, "a number from 1e-14 to 1e-2"},
    {AT(iterations), WHOLE, 1, MAX_ITERATIONS, NULL, "a whole number from 1 to 1000"},
    {AT(tolerance), REAL, 0, 1, NULL, "a length from 0 to 1 m; 0: all iterations"},
    {AT(coordinates), WHOLE, 6, 7, NULL, "6 or 7"},
    {AT(penalty), REAL, 0, 1e15, NULL, "a number up to 1e15; 0: none"},
    {AT(normalisation), REAL, 0, 1e15, NULL, "a number up to 1e15; 0: the penalty"},
    {AT(tangent), WHOLE, 0, 2, NULL, "0, 1 or 2"},
    {AT(newton), CHOICE, 0, LW_INDEX3_NEWTON_COUNT - 1, newton, "full or modified"},
    {AT(projection), CHOICE, 0, LW_INDEX3_PROJECTION_COUNT - 1, projection, "mass, tangent or none"},
    {AT(control), CHOICE, 0, LW_INDEX3_CONTROL_COUNT - 1, control,
     "equal, error, or auto: equal where a step is given"},
    {AT(mode), CHOICE, 0, LW_INDEX3_MODE_COUNT - 1, mode, "offline or real-time"},
    {AT(stop), CHOICE, 0, LW_INDEX3_STOP_COUNT - 1, stop, "q or q+lambda"},
    {AT(output), CHOICE, 0, LW_INDEX3_OUTPUT_COUNT - 1, output, "motion, step or newton"},
};
// clang-format on

const lwi_index3_key *lwi_index3_keys(int *count)
{
    *count = LWI_COUNT(entries);
    return entries;
}

static const lw_index3_options defaults = {.regularisation = REGULARISATION,
                                           .tolerance = TOLERANCE,
                                           .coordinates = 6,
                                           .tangent = 2,
                                           .projection = LW_INDEX3_PROJECTION_MASS};

// ----------------------------------------------------------------------------------------- fields

static double get(const entry *e, const lw_index3_options *options)
{
    const char *field = (const char *)options + e->offset;
    double number;
    int whole; // an enum is as large as an int
    if (e->type == REAL) {
        memcpy(&number, field, sizeof number);
        return number;
    }
    memcpy(&whole, field, sizeof whole);
    return whole;
}

static void put(const entry *e, double number, lw_index3_options *options)
{
    char *field = (char *)options + e->offset;
    const int whole = e->type == REAL ? 0 : (int)number;
    if (e->type == REAL)
        memcpy(field, &number, sizeof number);
    else
        memcpy(field, &whole, sizeof whole);
}

static bool in_range(const entry *e, double number)
{
    return number >= e->min && number <= e->max && (e->type == REAL || number == floor(number));
}

// ------------------------------------------------------------------------------------------- text

static bool take(const entry *e, const char *value, lw_index3_options *options)
{
    double number = NAN;
    for (int i = 0; e->word && e->word[i]; i++)
        if (!strcmp(value, e->word[i])) number = i;
    if (e->type != CHOICE && !lwi_number_read(value, &number)) return false;
    if (!in_range(e, number)) return false;
    put(e, number, options);
    return true;
}

// seen: bit i: entry i has been given
static lw_status read_one(char *text, lw_index3_options *options, unsigned *seen, lw_error *error)
{
    const char *names[LWI_COUNT(entries)];
    char *value = strchr(text, '=');
    if (!value) return lwi_fail(error, LW_ERR_ARGUMENT, "index3: '%s' is not KEY=VALUE", text);
    *value++ = 0;
    for (int i = 0; i < LWI_COUNT(entries); i++) {
        names[i] = entries[i].name;
        if (strcmp(text, entries[i].name) != 0) continue;
        if (*seen & 1u << i)
            return lwi_fail(error, LW_ERR_ARGUMENT, "index3: %s is given twice", text);
        *seen |= 1u << i;
        if (take(&entries[i], value, options)) return LW_OK;
        return lwi_fail(error, LW_ERR_ARGUMENT, "index3: %s: '%s' is not %s", text, value,
                        entries[i].expected);
    }
    const char *nearest = lwi_nearest(text, names, LWI_COUNT(names));
    return lwi_fail(
        error, LW_ERR_ARGUMENT,
        "index3: there is no '%s'%s%s%s; there are regularisation, "
        "iterations, tolerance, coordinates, penalty, normalisation, tangent, newton, projection, "
        "control, mode, stop, output",
        text, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static lw_status check_pair(const lw_index3_options *options, lw_error *error)
{
    if (options->mode == LW_INDEX3_MODE_REAL_TIME && options->control == LW_INDEX3_CONTROL_ERROR)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "index3: control: 'error' is not equal or auto, as mode=real-time requires");
    return LW_OK;
}

lw_status lwi_index3_options_read(const char *text, lw_index3_options *options, lw_error *error)
{
    char copy[LW_OPTION_STRING_SIZE];
    unsigned seen = 0;
    *options = defaults;
    if (!strcmp(text, "auto")) return LW_OK;
    if (strlen(text) >= sizeof copy)
        return lwi_fail(error, LW_ERR_ARGUMENT, "index3: '%.20s...' is longer than %d letters",
                        text, (int)sizeof copy - 1);
    lwi_copy_text(copy, sizeof copy, text);
    for (char *word = copy, *next; word; word = next) {
        next = strchr(word, ',');
        if (next) *next++ = 0;
        TRY(read_one(word, options, &seen, error));
    }
    return check_pair(options, error);
}

void lwi_index3_options_write(const lw_index3_options *options, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < LWI_COUNT(entries) && used < size; i++) {
        const entry *e = &entries[i];
        const double number = get(e, options);
        char value[32];
        if (number == get(e, &defaults)) continue;
        if (e->type == CHOICE)
            lwi_copy_text(value, sizeof value, e->word[(int)number]);
        else
            lwi_number_write(number, value, sizeof value);
        const int more =
            snprintf(text + used, size - used, "%s%s=%s", used ? "," : "", e->name, value);
        used += more > 0 ? (size_t)more : 0;
    }
    if (!used) lwi_copy_text(text, size, "auto");
}

lw_status lwi_index3_options_check(const lw_index3_options *options, lw_error *error)
{
    for (int i = 0; i < LWI_COUNT(entries); i++) {
        const double number = get(&entries[i], options);
        if (in_range(&entries[i], number) || number == get(&entries[i], &defaults)) continue;
        return lwi_fail(error, LW_ERR_ARGUMENT, "index3: %s: %g is not %s", entries[i].name, number,
                        entries[i].expected);
    }
    return check_pair(options, error);
}

lwi_index3_method lwi_index3_options_resolve(const lw_index3_options *options)
{
    lwi_index3_method method = options ? *options : defaults;
    const bool real_time = method.mode == LW_INDEX3_MODE_REAL_TIME;
    if (method.iterations == 0) method.iterations = real_time ? REAL_TIME_ITERATIONS : ITERATIONS;
    if (real_time) method.tolerance = 0;
    return method;
}
