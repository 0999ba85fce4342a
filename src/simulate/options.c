// options.c -- the options of a run: defaults, text to value and back, checks.  One list, LW_OPTION_LIST.
#include "simulate/options.h"

#include "base/assert.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "integrate/integrator.h"
#include "methods/index3/index3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct option option;

/** How the text of an option becomes its value, and back.  `field` is the option's place in lw_options. */
typedef struct option_type {
    lw_status (*read)(const option *o, const char *text, void *field, lw_error *error);
    void (*write)(const void *field, char *text, size_t size);
    /** Is the value allowed?  For fields that a caller has set. */
    lw_status (*check)(const option *o, const void *field, lw_error *error);
} option_type;

struct option {
    const char *key, *fallback, *value, *help;
    const option_type *type;
    size_t offset;
    bool expert, is_real, is_integer;
};

// ------------------------------------------------------------------------------------------- names

enum { MAX_NAMES = 24 };

typedef lw_part_info (*part_info)(int);

// `auto` or the name of a part; else an error with the nearest name and all of them.
static lw_status check_part(const char *key, const char *name, int count, part_info info,
                            lw_error *error)
{
    const char *names[MAX_NAMES] = {"auto"};
    char list[sizeof error->text / 2] = "auto";
    int n = 1;
    for (int i = 0; i < count && n < MAX_NAMES; i++) names[n++] = info(i).name;
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

enum { NAME_SIZE = sizeof((lw_options *)0)->formulation };

static lw_status check_name(const option *o, const void *field, lw_error *error)
{
    if (!memchr(field, 0, NAME_SIZE))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: the text does not end", o->key);
    if (!strcmp(o->key, "formulation"))
        return check_part(o->key, field, lw_formulation_count(), lw_formulation_info, error);
    return check_part(o->key, field, lw_integrator_count(), lw_integrator_info, error);
}

static lw_status read_name(const option *o, const char *text, void *field, lw_error *error)
{
    char name[NAME_SIZE] = "";
    if (strlen(text) >= NAME_SIZE)
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%.20s...' is longer than %d letters", o->key,
                        text, NAME_SIZE - 1);
    strcpy(name, text);
    TRY(check_name(o, name, error));
    memcpy(field, name, NAME_SIZE);
    return LW_OK;
}

static void write_name(const void *field, char *text, size_t size)
{
    lwi_copy_text(text, size, field);
}

// Names of joints, which the formulation compares with the model.
static lw_status check_joints(const option *o, const void *field, lw_error *error)
{
    const char *text = field;
    if (!memchr(text, 0, LW_OPTION_STRING_SIZE))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: the text does not end", o->key);
    if (*text) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: expected auto, or names of joints with commas",
                    o->key);
}

static lw_status read_joints(const option *o, const char *text, void *field, lw_error *error)
{
    if (strlen(text) >= LW_OPTION_STRING_SIZE)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "%s: the names have %zu letters together ('%.20s...'), expected at most %d: "
            "shorten the names of these joints",
            o->key, strlen(text), text, LW_OPTION_STRING_SIZE - 1);
    TRY(check_joints(o, text, error));
    memset(field, 0, LW_OPTION_STRING_SIZE);
    strcpy(field, text);
    return LW_OK;
}

static void write_joints(const void *field, char *text, size_t size)
{
    lwi_copy_text(text, size, field);
}

// Patterns of columns, which writers of results compare with the model.
static lw_status check_columns(const option *o, const void *field, lw_error *error)
{
    const char *text = field;
    if (!memchr(text, 0, LW_OPTION_STRING_SIZE))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: the text does not end", o->key);
    if (*text) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "%s: expected auto, or names of columns with commas, 'joint.*.f*'", o->key);
}

static lw_status read_columns(const option *o, const char *text, void *field, lw_error *error)
{
    if (strlen(text) >= LW_OPTION_STRING_SIZE)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "%s: the patterns have %zu letters together ('%.20s...'), expected at most "
                        "%d: use * for several columns",
                        o->key, strlen(text), text, LW_OPTION_STRING_SIZE - 1);
    TRY(check_columns(o, text, error));
    memset(field, 0, LW_OPTION_STRING_SIZE);
    strcpy(field, text);
    return LW_OK;
}

static void write_columns(const void *field, char *text, size_t size)
{
    lwi_copy_text(text, size, field);
}

// ----------------------------------------------------------------------------------------- numbers

#define MIN_RTOL 1e-14  // below, round-off forbids any step
#define MIN_ATOL 1e-100 // the square of its inverse is finite

// 0 is allowed where it is the default and stands for `none`, and as a duration: one row.
static lw_status check_number(const option *o, double value, lw_error *error)
{
    const char *expected = NULL;
    const bool zero = !strcmp(o->fallback, "0") || !strcmp(o->key, "duration");
    if (!isfinite(value) || value < 0 || (value == 0 && !zero))
        expected = zero ? "zero or a positive number" : "a positive number";
    else if (!strcmp(o->key, "rtol") && (value >= 1 || value < MIN_RTOL))
        expected = "at least 1e-14, the round-off of a step, and below 1";
    else if (!strncmp(o->key, "atol", 4) && value < MIN_ATOL && value > 0)
        expected = zero ? "zero or at least 1e-100" : "at least 1e-100";
    else if (!strcmp(o->key, "max_steps") && (value != floor(value) || value > 1e15))
        expected = "a whole number up to 1e15";
    else if (!strcmp(o->key, "threads") && (value != floor(value) || value > LWI_MAX_THREADS))
        expected = "a whole number of threads up to 256";
    else if (!strcmp(o->key, "order") && (value > 8 || fmod(value, 2) != 0))
        expected = "0, 2, 4, 6 or 8";
    if (!expected) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: %g is not %s", o->key, value, expected);
}

static lw_status read_number(const option *o, const char *text, double *value, lw_error *error)
{
    if (!lwi_number_read(text, value))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%.60s' is not a finite number", o->key, text);
    return check_number(o, *value, error);
}

static lw_status check_real(const option *o, const void *field, lw_error *error)
{
    return check_number(o, *(const double *)field, error);
}

static lw_status read_real(const option *o, const char *text, void *field, lw_error *error)
{
    double value;
    TRY(read_number(o, text, &value, error));
    *(double *)field = value;
    return LW_OK;
}

static void write_real(const void *field, char *text, size_t size)
{
    lwi_number_write(*(const double *)field, text, size);
}

static lw_status check_integer(const option *o, const void *field, lw_error *error)
{
    return check_number(o, (double)*(const int64_t *)field, error);
}

static lw_status read_integer(const option *o, const char *text, void *field, lw_error *error)
{
    double value;
    TRY(read_number(o, text, &value, error));
    *(int64_t *)field = (int64_t)value;
    return LW_OK;
}

static void write_integer(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%lld", (long long)*(const int64_t *)field);
}

// ------------------------------------------------------------------- numbers with names for some values

static lw_status check_kappa(const option *o, const void *field, lw_error *error)
{
    const double rate = *(const double *)field;
    if (rate == LW_KAPPA_AUTO || rate == LW_KAPPA_NONE || (isfinite(rate) && rate > 0))
        return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "%s: %g is not a positive rate in 1/s, LW_KAPPA_AUTO or LW_KAPPA_NONE", o->key,
                    rate);
}

static lw_status read_kappa(const option *o, const char *text, void *field, lw_error *error)
{
    double rate = LW_KAPPA_AUTO;
    if (!strcmp(text, "none"))
        rate = LW_KAPPA_NONE;
    else if (strcmp(text, "auto") != 0 && !(lwi_number_read(text, &rate) && rate > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "%s: '%s' is not a positive rate in 1/s, nor auto, nor none", o->key, text);
    *(double *)field = rate;
    return LW_OK;
}

static void write_kappa(const void *field, char *text, size_t size)
{
    const double rate = *(const double *)field;
    if (rate > 0)
        lwi_number_write(rate, text, size);
    else
        lwi_copy_text(text, size, rate == LW_KAPPA_NONE ? "none" : "auto");
}

static lw_status check_sample(const option *o, const void *field, lw_error *error)
{
    const double interval = *(const double *)field;
    if (interval == LW_SAMPLE_STEPS || (isfinite(interval) && interval > 0)) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "%s: %g is not a positive number of seconds, nor LW_SAMPLE_STEPS", o->key,
                    interval);
}

static lw_status read_sample(const option *o, const char *text, void *field, lw_error *error)
{
    double interval = LW_SAMPLE_STEPS;
    if (strcmp(text, "steps") != 0 && !(lwi_number_read(text, &interval) && interval > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "%s: '%s' is not a positive number of seconds, nor `steps`", o->key, text);
    *(double *)field = interval;
    return LW_OK;
}

static void write_sample(const void *field, char *text, size_t size)
{
    if (*(const double *)field == LW_SAMPLE_STEPS)
        lwi_copy_text(text, size, "steps");
    else
        write_real(field, text, size);
}

static lw_status check_gains(const option *o, const void *field, lw_error *error)
{
    const double *gain = field;
    if (isfinite(gain[0]) && isfinite(gain[1]) && gain[0] >= 0 && gain[1] >= 0) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: %g, %g are not two gains >= 0", o->key, gain[0],
                    gain[1]);
}

static lw_status read_gains(const option *o, const char *text, void *field, lw_error *error)
{
    double gain[2];
    if (!(lwi_numbers_read(text, gain, 2) && gain[0] >= 0 && gain[1] >= 0))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%s' is not two gains >= 0, such as 10,10",
                        o->key, text);
    memcpy(field, gain, sizeof gain);
    return LW_OK;
}

static void write_gains(const void *field, char *text, size_t size)
{
    const double *gain = field;
    char a[32], b[32];
    lwi_number_write(gain[0], a, sizeof a);
    lwi_number_write(gain[1], b, sizeof b);
    snprintf(text, size, "%s,%s", a, b);
}

// ----------------------------------------------------------------------------------------- choices

static lw_status check_choice(const option *o, int choice, int count, lw_error *error)
{
    if (choice >= 0 && choice < count) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: %d is none of its %d choices", o->key, choice,
                    count);
}

static lw_status read_choice(const option *o, const char *text, const char *const *words, int count,
                             int *choice, lw_error *error)
{
    char list[128] = "";
    for (int i = 0; i < count; i++)
        if (!strcmp(text, words[i])) {
            *choice = i;
            return LW_OK;
        }
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    const char *nearest = lwi_nearest(text, words, count);
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%s' is none of %s%s%s%s", o->key, text, list,
                    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

// CHOICE(state, lw_state_kind, LW_STATE_LIST): check_state, read_state, write_state.
#define X(name, text) text,
#define CHOICE(what, type, LIST)                                                                   \
    static const char *const what##_words[] = {LIST(X)};                                           \
    static lw_status check_##what(const option *o, const void *field, lw_error *error)             \
    {                                                                                              \
        return check_choice(o, (int)*(const type *)field, LWI_COUNT(what##_words), error);         \
    }                                                                                              \
    static lw_status read_##what(const option *o, const char *text, void *field, lw_error *error)  \
    {                                                                                              \
        int choice = 0;                                                                            \
        TRY(read_choice(o, text, what##_words, LWI_COUNT(what##_words), &choice, error));          \
        *(type *)field = (type)choice;                                                             \
        return LW_OK;                                                                              \
    }                                                                                              \
    static void write_##what(const void *field, char *text, size_t size)                           \
    {                                                                                              \
        lwi_copy_text(text, size, what##_words[*(const type *)field]);                             \
    }
CHOICE(state, lw_state_kind, LW_STATE_LIST)
CHOICE(sample_mode, lw_sample_mode, LW_SAMPLE_MODE_LIST)
CHOICE(project, lw_project, LW_PROJECT_LIST)
CHOICE(singular, lw_singular, LW_SINGULAR_LIST)
CHOICE(plan, lw_plan, LW_PLAN_LIST)
CHOICE(compiled, lw_compiled_use, LW_COMPILED_LIST)
#undef CHOICE
#undef X

// ------------------------------------------------------------------------------------------ index3

static lw_status check_index3(const option *o, const void *field, lw_error *error)
{
    (void)o;
    return lwi_index3_options_check(field, error);
}

static lw_status read_index3(const option *o, const char *text, void *field, lw_error *error)
{
    (void)o;
    lw_index3_options index3;
    TRY(lwi_index3_options_read(text, &index3, error));
    *(lw_index3_options *)field = index3;
    return LW_OK;
}

static void write_index3(const void *field, char *text, size_t size)
{
    lwi_index3_options_write(field, text, size);
}

// ------------------------------------------------------------------------------------------- table

#define TYPE(NAME, name)                                                                           \
    static const option_type type_##NAME = {read_##name, write_##name, check_##name};
TYPE(NAME, name)
TYPE(REAL, real)
TYPE(INTEGER, integer)
TYPE(STATE, state)
TYPE(KAPPA, kappa)
TYPE(JOINTS, joints)
TYPE(COLUMNS, columns)
TYPE(SAMPLE, sample)
TYPE(SAMPLE_MODE, sample_mode)
TYPE(GAINS, gains)
TYPE(PROJECT, project)
TYPE(SINGULAR, singular)
TYPE(PLAN, plan)
TYPE(INDEX3, index3)
TYPE(COMPILED, compiled)
#undef TYPE

enum { BASIC, EXPERT };

static const option all[] = {
#define X(name, kind, preset, tier, operand, text)                                                 \
    {.key = #name,                                                                                 \
     .fallback = preset,                                                                           \
     .value = operand,                                                                             \
     .help = text,                                                                                 \
     .type = &type_##kind,                                                                         \
     .offset = offsetof(lw_options, name),                                                         \
     .expert = tier == EXPERT,                                                                     \
     .is_real = &type_##kind == &type_REAL,                                                        \
     .is_integer = &type_##kind == &type_INTEGER},
    LW_OPTION_LIST(X)
#undef X
};

void lw_options_default(lw_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
    for (int i = 0; i < LWI_COUNT(all); i++) {
        const lw_status status =
            all[i].type->read(&all[i], all[i].fallback, (char *)options + all[i].offset, NULL);
        LWI_ASSERT(status == LW_OK);
        (void)status;
    }
}

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
    return o->type->read(o, value, (char *)options + o->offset, error);
}

lw_status lw_options_get(const lw_options *options, const char *key, char *text, size_t size)
{
    const option *o = options && key && text && size > 0 ? find(key) : NULL;
    if (!o) return LW_ERR_ARGUMENT;
    o->type->write((const char *)options + o->offset, text, size);
    return LW_OK;
}

int lw_option_count(void)
{
    return LWI_COUNT(all);
}

lw_option_info lw_option_at(int index)
{
    if (index < 0 || index >= LWI_COUNT(all)) return (lw_option_info){0};
    const option *o = &all[index];
    return (lw_option_info){.key = o->key,
                            .value = o->value,
                            .help = o->help,
                            .fallback = o->fallback,
                            .is_real = o->is_real,
                            .is_integer = o->is_integer,
                            .expert = o->expert};
}

// -------------------------------------------------------------------------------------- inside use

lw_status lwi_options_check(const lw_options *options, lw_error *error)
{
    for (int i = 0; i < LWI_COUNT(all); i++)
        TRY(all[i].type->check(&all[i], (const char *)options + all[i].offset, error));
    return LW_OK;
}

bool lwi_options_differ(const lw_options *options, const char *key)
{
    char text[LW_OPTION_STRING_SIZE], plain[LW_OPTION_STRING_SIZE];
    lw_options defaults;
    lw_options_default(&defaults);
    if (lw_options_get(options, key, text, sizeof text) != LW_OK) return false;
    lw_options_get(&defaults, key, plain, sizeof plain);
    return strcmp(text, plain) != 0;
}

bool lwi_options_interpolate(const lw_options *options)
{
    return options->sample_mode == LW_SAMPLE_INTERPOLATE;
}
