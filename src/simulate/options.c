// options.c -- the options of a run: defaults, values from text, checks.  One list, LW_OPTION_LIST.
#include "simulate/options.h"

#include "integrate/integrator.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { WORD, REAL } kind;

typedef struct option {
    const char *key;
    kind kind;
    size_t offset;
    double fallback; ///< REAL
} option;

// The default of a WORD is not a number and is not needed in the table.
#define FALLBACK_WORD(text) 0
#define FALLBACK_REAL(number) (number)
static const option all[] = {
#define X(key, kind, fallback, value, help)                                                        \
    {#key, kind, offsetof(lw_options, key), FALLBACK_##kind(fallback)},
    LW_OPTION_LIST(X)
#undef X
};

void lw_options_default(lw_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
#define SET_WORD(key, fallback) lwi_copy_text(options->key, sizeof options->key, fallback);
#define SET_REAL(key, fallback) options->key = fallback;
#define X(key, kind, fallback, value, help) SET_##kind(key, fallback)
    LW_OPTION_LIST(X)
#undef X
}

// ----------------------------------------------------------------------------------------- numbers

// A decimal number and nothing else, whatever the locale; *value stays finite.
static bool read_number(const char *text, double *value)
{
    if (!*text || text[strspn(text, "0123456789+-.eE")]) return false;
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain) return false;
    const locale_t before = uselocale(plain);
    char *end;
    const double number = strtod(text, &end);
    uselocale(before);
    freelocale(plain);
    if (*end || !isfinite(number)) return false;
    *value = number;
    return true;
}

// 0 is allowed where it is the default and stands for `none`, and as a duration: one row.
static lw_status check_number(const option *o, double value, lw_error *error)
{
    const char *expected = NULL;
    const bool zero = o->fallback == 0 || !strcmp(o->key, "duration");
    if (!isfinite(value) || value < 0 || (value == 0 && !zero))
        expected = zero ? "zero or a positive number" : "a positive number";
    else if (!strcmp(o->key, "rtol") && value >= 1)
        expected = "a number below 1";
    else if (!strcmp(o->key, "max_steps") && (value != floor(value) || value > 1e15)) // fits a long
        expected = "a whole number up to 1e15";
    if (!expected) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: %g is not %s", o->key, value, expected);
}

// ------------------------------------------------------------------------------------------- words

enum { MOST_NAMES = 24 };

typedef lw_part_info (*part_info)(int);

// `auto` or the name of a part; else an error with the nearest name and all of them.
static lw_status check_part(const char *key, const char *name, int count, part_info info,
                            lw_error *error)
{
    const char *names[MOST_NAMES] = {"auto"};
    char list[sizeof error->text / 2] = "auto";
    int n = 1;
    for (int i = 0; i < count && n < MOST_NAMES; i++) names[n++] = info(i).name;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return LW_OK;
    for (int i = 1; i < n; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, ", %s", names[i]);
    }
    const char *nearest = lwi_nearest(name, names, n);
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: there is no '%s'%s%s%s; there are %s", key, name,
                    nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                    list);
}

static lw_status check_word(const char *key, const char *word, lw_error *error)
{
    double interval;
    if (!strcmp(key, "formulation"))
        return check_part(key, word, lw_formulation_count(), lw_formulation_info, error);
    if (!strcmp(key, "integrator"))
        return check_part(key, word, lw_integrator_count(), lw_integrator_info, error);
    if (!strcmp(key, "sample") && strcmp(word, "steps") &&
        !(read_number(word, &interval) && interval > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "sample: '%s' is not a positive number of seconds, nor `steps`", word);
    if (!strcmp(key, "sample_mode") && strcmp(word, "stop") && strcmp(word, "interpolate"))
        return lwi_fail(error, LW_ERR_ARGUMENT, "sample_mode: '%s' is neither stop nor interpolate",
                        word);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ public

static const option *find(const char *key)
{
    char plain[32]; // the longest key has 11 letters
    lwi_copy_text(plain, sizeof plain, key);
    for (char *c = plain; *c; c++)
        if (*c == '-') *c = '_';
    for (int i = 0; i < LWI_COUNT(all); i++)
        if (!strcmp(all[i].key, plain) && strlen(plain) == strlen(key)) return &all[i];
    return NULL;
}

static lw_status unknown(const char *key, lw_error *error)
{
    const char *names[LWI_COUNT(all)];
    for (int i = 0; i < LWI_COUNT(all); i++) names[i] = all[i].key;
    const char *nearest = lwi_nearest(key, names, LWI_COUNT(all));
    if (nearest)
        return lwi_fail(error, LW_ERR_ARGUMENT, "there is no option '%s', did you mean '%s'?", key,
                        nearest);
    return lwi_fail(error, LW_ERR_ARGUMENT, "there is no option '%s'", key);
}

lw_status lw_options_set(lw_options *options, const char *key, const char *value, lw_error *error)
{
    if (!options || !key || !value)
        return lwi_fail(error, LW_ERR_ARGUMENT, "options, key or value is missing");
    const option *o = find(key);
    if (!o) return unknown(key, error);
    char *place = (char *)options + o->offset;
    if (o->kind == WORD) {
        const size_t size = sizeof options->sample;
        if (strlen(value) >= size)
            return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%.20s...' is longer than %d letters",
                            o->key, value, (int)size - 1);
        TRY(check_word(o->key, value, error));
        memset(place, 0, size);
        memcpy(place, value, strlen(value));
        return LW_OK;
    }
    double number;
    if (!read_number(value, &number))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%.60s' is not a finite number", o->key,
                        value);
    TRY(check_number(o, number, error));
    memcpy(place, &number, sizeof number);
    return LW_OK;
}

lw_status lwi_options_check(const lw_options *options, lw_error *error)
{
    for (int i = 0; i < LWI_COUNT(all); i++) {
        const char *place = (const char *)options + all[i].offset;
        double number;
        if (all[i].kind == WORD) {
            if (!memchr(place, 0, sizeof options->sample))
                return lwi_fail(error, LW_ERR_ARGUMENT, "%s: the text does not end", all[i].key);
            TRY(check_word(all[i].key, place, error));
        } else {
            memcpy(&number, place, sizeof number);
            TRY(check_number(&all[i], number, error));
        }
    }
    return LW_OK;
}

double lwi_options_sample(const lw_options *options)
{
    double interval = 0;
    read_number(options->sample, &interval);
    return interval;
}

bool lwi_options_interpolate(const lw_options *options)
{
    return !strcmp(options->sample_mode, "interpolate");
}
