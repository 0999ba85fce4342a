// options.c -- the options of a run: defaults, values from text, checks.  One list, LW_OPTION_LIST.
#include "simulate/options.h"

#include "base/numbers.h"
#include "base/threads.h"
#include "methods/index3/index3.h"
#include "integrate/integrator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { WORD, TEXT, REAL } kind;

typedef struct option {
    const char *key;
    kind kind;
    size_t offset, size;
    double fallback; ///< REAL
} option;

// The default of a WORD or TEXT is not a number and is not needed in the table.
#define FALLBACK_WORD(text) 0
#define FALLBACK_TEXT(text) 0
#define FALLBACK_REAL(number) (number)
static const option all[] = {
#define X(key, kind, fallback, value, help)                                                        \
    {#key, kind, offsetof(lw_options, key), sizeof((lw_options *)0)->key,                          \
     FALLBACK_##kind(fallback)},
    LW_OPTION_LIST(X)
#undef X
};

void lw_options_default(lw_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
#define SET_WORD(key, fallback) lwi_copy_text(options->key, sizeof options->key, fallback);
#define SET_TEXT(key, fallback) SET_WORD(key, fallback)
#define SET_REAL(key, fallback) options->key = fallback;
#define X(key, kind, fallback, value, help) SET_##kind(key, fallback)
    LW_OPTION_LIST(X)
#undef X
}

// ----------------------------------------------------------------------------------------- numbers

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
    else if (!strcmp(o->key, "threads") && (value != floor(value) || value > LWI_MOST_THREADS))
        expected = "a whole number of threads up to 256";
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
    double interval, rate;
    if (!strcmp(key, "formulation"))
        return check_part(key, word, lw_formulation_count(), lw_formulation_info, error);
    if (!strcmp(key, "integrator"))
        return check_part(key, word, lw_integrator_count(), lw_integrator_info, error);
    if (!strcmp(key, "sample") && strcmp(word, "steps") &&
        !(lwi_number_read(word, &interval) && interval > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "sample: '%s' is not a positive number of seconds, nor `steps`", word);
    if (!strcmp(key, "state") && strcmp(word, "auto") && strcmp(word, "speeds") &&
        strcmp(word, "momenta"))
        return lwi_fail(error, LW_ERR_ARGUMENT, "state: '%s' is neither auto, speeds nor momenta",
                        word);
    if (!strcmp(key, "kappa") && strcmp(word, "auto") && strcmp(word, "none") &&
        !(lwi_number_read(word, &rate) && rate > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "kappa: '%s' is not a positive rate in 1/s, nor auto, nor none", word);
    if (!strcmp(key, "sample_mode") && strcmp(word, "stop") && strcmp(word, "interpolate"))
        return lwi_fail(error, LW_ERR_ARGUMENT, "sample_mode: '%s' is neither stop nor interpolate",
                        word);
    if (!strcmp(key, "plan") && strcmp(word, "auto") && strcmp(word, "comb") &&
        strcmp(word, "balanced") && strcmp(word, "mixed"))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "plan: '%s' is none of auto, comb, balanced and mixed", word);
    if (!strcmp(key, "project") && strcmp(word, "auto") && strcmp(word, "never") &&
        strcmp(word, "always"))
        return lwi_fail(error, LW_ERR_ARGUMENT, "project: '%s' is neither auto, never nor always",
                        word);
    lwi_index3_method method;
    if (!strcmp(key, "index3")) return lwi_index3_method_read(word, &method, error);
    double gain[2];
    if (!strcmp(key, "baumgarte") &&
        !(lwi_numbers_read(word, gain, 2) && gain[0] >= 0 && gain[1] >= 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "baumgarte: '%s' is not two gains >= 0, such as 10,10", word);
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
    if (o->kind != REAL) {
        const size_t size = o->size;
        if (strlen(value) >= size)
            return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%.20s...' is longer than %d letters",
                            o->key, value, (int)size - 1);
        TRY(check_word(o->key, value, error));
        memset(place, 0, size);
        memcpy(place, value, strlen(value));
        return LW_OK;
    }
    double number;
    if (!lwi_number_read(value, &number))
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
        if (all[i].kind != REAL) {
            if (!memchr(place, 0, all[i].size))
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
    lwi_number_read(options->sample, &interval);
    return interval;
}

bool lwi_options_interpolate(const lw_options *options)
{
    return !strcmp(options->sample_mode, "interpolate");
}
