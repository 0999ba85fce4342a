// design.c -- the variants of a study: what varies and how, as text, becomes a table of values.
//
//   NAME=A,B,...                 these values
//   NAME=FROM:TO:COUNT           evenly spaced, both ends among them
//   NAME=FROM:TO                 uniform; with a design that samples
//   NAME=log:FROM:TO[:COUNT]     the same of the logarithm
//   NAME=normal:MEAN:DEVIATION   normal distribution; with a design that samples
//
// A value is a number with or without a unit; the unit of the last value is that of all before it without one.
#include "base/assert.h"
#include "base/numbers.h"
#include "batch/sample.h"
#include "batch/table.h"
#include "batch/vary.h"
#include "model/signals/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUMBERS                                                                                    \
    "NAME=FROM:TO:COUNT or NAME=A,B,... with numbers, and a unit behind the last value or each"

enum { MAX_VARIANTS = 10000000, PIECE = 64 };

typedef enum factor_kind { VALUES, UNIFORM, LOGARITHMIC, NORMAL } factor_kind;

typedef struct factor {
    const char *text; // "NAME=..."
    char *name;
    const char *unit;    // in which its values are
    const char *allowed; // units of the same quantity, with " or " between them; NULL: any
    factor_kind kind;
    double a, b; // ends, or mean and deviation
    int n;       // values; 0: a distribution
    double *value;
} factor;

typedef struct design {
    const lw_model *model;
    const lw_design_desc *desc;
    lwi_arena arena; // scratch
    bool grid;
    lwi_sampling sampling;
    int points; // of the design
    int nfactor, columns, table_columns;
    double table_rows;
    factor *factor;
    lw_error *error;
} design;

// ------------------------------------------------------------------------------------------- values

static lw_status wrong(const design *d, const factor *f, const char *expected)
{
    return lwi_fail(d->error, LW_ERR_ARGUMENT, "vary %.160s: expected %s", f->text, expected);
}

// Does a unit fit one of "m or rad"?
static bool is_allowed(const factor *f, const lwi_unit *unit)
{
    const char *at = f->allowed;
    while (at) {
        const char *end = strstr(at, " or ");
        const int length = end ? (int)(end - at) : (int)strlen(at);
        lwi_unit one;
        if (!lwi_unit_read(at, length, &one)) return true; // "of the input"
        if (lwi_dimension_same(one.dimension, unit->dimension)) return true;
        at = end ? end + 4 : NULL;
    }
    return !f->allowed;
}

// The value of a number in `unit` (NULL: none) in the unit of the factor.
static lw_status convert(const design *d, const factor *f, const char *number, const char *unit,
                         double *value)
{
    lwi_unit given, own;
    if (!unit) return lwi_number_read(number, value) ? LW_OK : wrong(d, f, "a number");
    if (!lwi_unit_read(unit, (int)strlen(unit), &given))
        return lwi_fail(d->error, LW_ERR_ARGUMENT, "vary %.160s: '%.40s' is no unit", f->text,
                        unit);
    if (!*f->unit || !is_allowed(f, &given))
        return lwi_fail(d->error, LW_ERR_ARGUMENT, "vary %.160s: a value in %.40s, expected %.80s",
                        f->text, unit, *f->unit ? f->unit : "a number without a unit");
    if (lwi_unit_read(f->unit, (int)strlen(f->unit), &own)) lwi_unit_multiply(&given, &own, -1);
    *value = lwi_unit_value(number, (int)strlen(number), &given);
    return isfinite(*value) ? LW_OK : wrong(d, f, "a finite number");
}

// "12.5 mm" becomes a number and a unit, NULL if there is none.
static bool split_value(char *piece, char *number, const char **unit)
{
    while (*piece == ' ') piece++;
    const char *unsigned_text = piece + (*piece == '+' || *piece == '-');
    size_t n = strspn(unsigned_text, "0123456789.");
    const char *mark = unsigned_text + n;
    if (n > 0 && (*mark == 'e' || *mark == 'E')) { // an exponent, if digits follow
        const size_t sign = mark[1] == '+' || mark[1] == '-';
        const size_t digits = strspn(mark + 1 + sign, "0123456789");
        if (digits) n += 1 + sign + digits;
    }
    const size_t all = n + (size_t)(unsigned_text - piece);
    double value;
    if (all >= PIECE) return false;
    memcpy(number, piece, all);
    number[all] = 0;
    char *rest = piece + all;
    while (*rest == ' ') rest++;
    for (size_t end = strlen(rest); end > 0 && rest[end - 1] == ' ';) rest[--end] = 0;
    *unit = *rest ? rest : NULL;
    return lwi_number_read(number, &value);
}

// The values of pieces; the unit of the last one counts for those without.
static lw_status read_values(const design *d, const factor *f, char *const *piece, int n,
                             double *value)
{
    char number[PIECE];
    const char *last, *unit;
    if (n == 0 || !split_value(piece[n - 1], number, &last)) return wrong(d, f, NUMBERS);
    for (int i = n - 1; i >= 0; i--) {
        if (!split_value(piece[i], number, &unit)) return wrong(d, f, NUMBERS);
        if (unit && !last) return wrong(d, f, NUMBERS);
        TRY(convert(d, f, number, unit ? unit : last, &value[i]));
    }
    return LW_OK;
}

// Cuts a text at a separator; pieces are in the scratch memory.
static lw_status cut(design *d, const char *text, char separator, char ***piece, int *n)
{
    *n = 1;
    for (const char *c = text; *c; c++) *n += *c == separator;
    char *copy = (char *)lwi_arena_text(&d->arena, text);
    *piece = LWI_PUSH(&d->arena, char *, *n);
    if (!copy || !*piece) return lwi_fail(d->error, LW_ERR_MEMORY, "no memory for a design");
    for (int i = 0; i < *n; i++) {
        (*piece)[i] = copy;
        copy = strchr(copy, separator);
        if (copy) *copy++ = 0;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ factors

static lw_status read_list(design *d, factor *f, const char *text)
{
    char **piece;
    TRY(cut(d, text, ',', &piece, &f->n));
    f->value = LWI_PUSH(&d->arena, double, f->n);
    if (!f->value) return lwi_fail(d->error, LW_ERR_MEMORY, "no memory for a design");
    return read_values(d, f, piece, f->n, f->value);
}

static lw_status space_evenly(design *d, factor *f, const char *count)
{
    double n;
    const bool logarithmic = f->kind == LOGARITHMIC;
    if (!lwi_number_read(count, &n) || n != floor(n) || n < 1 || n > MAX_VARIANTS)
        return wrong(d, f, "NAME=FROM:TO:COUNT with a whole COUNT from 1 to 10000000");
    f->n = (int)n;
    f->kind = VALUES;
    f->value = LWI_PUSH(&d->arena, double, f->n);
    if (!f->value) return lwi_fail(d->error, LW_ERR_MEMORY, "no memory for a design");
    for (int i = 0; i < f->n; i++) {
        const double steps = f->n > 1 ? f->n - 1 : 1;
        f->value[i] = i == f->n - 1 && i ? f->b
                      : logarithmic      ? f->a * pow(f->b / f->a, i / steps)
                                         : f->a + (f->b - f->a) * i / steps;
    }
    return LW_OK;
}

static lw_status read_range(design *d, factor *f, const char *text)
{
    char **piece;
    int n;
    double ends[2];
    TRY(cut(d, text, ':', &piece, &n));
    const bool normal = !strcmp(piece[0], "normal"), logarithmic = !strcmp(piece[0], "log");
    if (normal || logarithmic) piece++, n--;
    if (n < 2 || n > 3 || (normal && n > 2))
        return wrong(d, f,
                     "NAME=FROM:TO:COUNT, NAME=A,B,..., or with --design NAME=FROM:TO, "
                     "NAME=log:FROM:TO, NAME=normal:MEAN:DEVIATION");
    TRY(read_values(d, f, piece, 2, ends));
    f->kind = normal ? NORMAL : logarithmic ? LOGARITHMIC : UNIFORM;
    f->a = ends[0], f->b = ends[1];
    if (logarithmic && !(f->a > 0 && f->b > 0)) return wrong(d, f, "positive values");
    if (normal && !(f->b > 0)) return wrong(d, f, "a positive deviation");
    if (n == 3) return space_evenly(d, f, piece[2]);
    if (d->grid)
        return wrong(d, f,
                     "NAME=FROM:TO:COUNT or NAME=A,B,... for a grid (--design lhs:N, sobol:N and "
                     "random:N sample)");
    return LW_OK;
}

static lw_status read_factor(design *d, factor *f, const char *text)
{
    lwi_vary vary;
    const char *equals = strrchr(text, '=');
    f->text = text;
    if (!equals || equals == text) return wrong(d, f, "NAME=FROM:TO:COUNT or NAME=A,B,...");
    f->name = (char *)lwi_arena_text(&d->arena, text);
    if (!f->name) return lwi_fail(d->error, LW_ERR_MEMORY, "no memory for a design");
    f->name[equals - text] = 0;
    lw_error reason = {0};
    const lw_status status = lwi_vary_resolve(d->model, f->name, &vary, &reason);
    if (status != LW_OK) return lwi_fail(d->error, status, "vary %.160s: %s", text, reason.text);
    f->unit = lwi_vary_unit(d->model, &vary);
    f->allowed = *f->unit ? f->unit : NULL;
    return strchr(equals + 1, ':') ? read_range(d, f, equals + 1) : read_list(d, f, equals + 1);
}

// ------------------------------------------------------------------------------------------- points

static double sample(const factor *f, double u)
{
    if (f->n) return f->value[(int)(u * f->n)];
    switch (f->kind) {
    case LOGARITHMIC:
        return f->a * pow(f->b / f->a, u);
    case NORMAL:
        return f->a + f->b * lwi_normal_quantile(fmin(fmax(u, 0x1p-33), 1 - 0x1p-33));
    default:
        return f->a + (f->b - f->a) * u;
    }
}

// [points][nfactor]
static lw_status make_points(design *d, double **points)
{
    const size_t n = (size_t)d->points * (size_t)d->nfactor;
    double *p = *points = LWI_PUSH(&d->arena, double, n);
    if (!p) return lwi_fail(d->error, LW_ERR_MEMORY, "no memory for %d variants", d->points);
    if (!d->grid) {
        if (lwi_sample_fill(d->sampling, d->desc->seed, d->points, d->nfactor, p, &d->arena) !=
            LW_OK)
            return lwi_fail(d->error, LW_ERR_MEMORY, "no memory for %d variants", d->points);
        for (size_t i = 0; i < n; i++) p[i] = sample(&d->factor[i % (size_t)d->nfactor], p[i]);
        return LW_OK;
    }
    for (int i = 0; i < d->points; i++) { // the last one changes fastest
        int rest = i;
        for (int k = d->nfactor - 1; k >= 0; k--) {
            p[(size_t)i * (size_t)d->nfactor + (size_t)k] =
                d->factor[k].value[rest % d->factor[k].n];
            rest /= d->factor[k].n;
        }
    }
    return LW_OK;
}

// Rows of the table outermost.
static lw_status combine(design *d, lw_table **table)
{
    double *points;
    lw_table *t;
    const lw_table *given = d->desc->rows;
    const int rows = (int)d->table_rows;
    TRY(make_points(d, &points));
    TRY(lwi_table_create(rows * d->points, d->columns, &t, d->error));
    lw_status status = LW_OK;
    for (int k = 0; k < d->columns && status == LW_OK; k++) {
        const factor *f = &d->factor[k - d->table_columns];
        status = k < d->table_columns ? lwi_table_name(t, k, given->name[k], given->unit[k])
                                      : lwi_table_name(t, k, f->name, f->unit);
    }
    for (int i = 0; i < t->rows; i++) {
        double *row = lwi_table_row(t, i);
        for (int k = 0; k < d->columns; k++)
            row[k] = k < d->table_columns ? lwi_table_row(given, i / d->points)[k]
                                          : points[(size_t)(i % d->points) * (size_t)d->nfactor +
                                                   (size_t)(k - d->table_columns)];
    }
    if (status == LW_OK)
        *table = t;
    else
        lw_table_free(t);
    return status == LW_OK ? LW_OK : lwi_fail(d->error, status, "no memory for a design");
}

// ------------------------------------------------------------------------------------------- kinds

static lw_status read_kind(design *d)
{
    static const struct {
        const char *name;
        lwi_sampling sampling;
    } kinds[] = {
        {"random", LWI_SAMPLE_RANDOM}, {"lhs", LWI_SAMPLE_LATIN}, {"sobol", LWI_SAMPLE_SOBOL}};
    const char *text = d->desc->design ? d->desc->design : "grid";
    const char *colon = strchr(text, ':');
    double n = 0;
    d->grid = !strcmp(text, "grid");
    if (d->grid) return LW_OK;
    for (int i = 0; colon && i < LWI_COUNT(kinds); i++) {
        if (strlen(kinds[i].name) != (size_t)(colon - text) ||
            strncmp(text, kinds[i].name, (size_t)(colon - text)) != 0)
            continue;
        if (!lwi_number_read(colon + 1, &n) || n != floor(n) || n < 1 || n > MAX_VARIANTS) break;
        d->sampling = kinds[i].sampling;
        d->points = (int)n;
        return LW_OK;
    }
    return lwi_fail(d->error, LW_ERR_ARGUMENT,
                    "design %.60s: expected grid, lhs:N, sobol:N or random:N with 1 to %d variants",
                    text, MAX_VARIANTS);
}

static lw_status check_names(const design *d)
{
    for (int k = 0; k < d->nfactor; k++) {
        for (int j = 0; j < k; j++)
            if (!strcmp(d->factor[j].name, d->factor[k].name))
                return lwi_fail(d->error, LW_ERR_ARGUMENT, "vary: '%.120s' is there twice",
                                d->factor[k].name);
        for (int j = 0; j < d->table_columns; j++)
            if (!strcmp(d->desc->rows->name[j], d->factor[k].name))
                return lwi_fail(d->error, LW_ERR_ARGUMENT,
                                "vary: '%.120s' is a column of the table, too", d->factor[k].name);
    }
    return LW_OK;
}

static lw_status count(design *d)
{
    double n = 1;
    for (int k = 0; d->grid && k < d->nfactor; k++) n *= d->factor[k].n;
    if (!d->grid) n = d->points;
    if (n * d->table_rows > MAX_VARIANTS)
        return lwi_fail(d->error, LW_ERR_ARGUMENT, "%.0f cases are too many, expected at most %d",
                        n * d->table_rows, MAX_VARIANTS);
    d->points = (int)n;
    if (!d->grid && !d->nfactor)
        return lwi_fail(d->error, LW_ERR_ARGUMENT, "design %.60s: nothing varies", d->desc->design);
    if (!d->grid && d->sampling == LWI_SAMPLE_SOBOL && d->nfactor > LWI_SOBOL_DIMENSIONS)
        return lwi_fail(d->error, LW_ERR_UNSUPPORTED,
                        "design %.60s: %d quantities vary, expected at most %d", d->desc->design,
                        d->nfactor, LWI_SOBOL_DIMENSIONS);
    return LW_OK;
}

static lw_status make(design *d, lw_table **table)
{
    const lw_design_desc *desc = d->desc;
    if (desc->nvary < 0 || (desc->nvary && !desc->vary))
        return lwi_fail(d->error, LW_ERR_ARGUMENT, "what varies is missing");
    TRY(read_kind(d));
    d->nfactor = desc->nvary;
    d->factor = LWI_PUSH(&d->arena, factor, d->nfactor);
    if (!d->factor) return lwi_fail(d->error, LW_ERR_MEMORY, "no memory for a design");
    for (int k = 0; k < d->nfactor; k++) {
        if (!desc->vary[k]) return lwi_fail(d->error, LW_ERR_ARGUMENT, "what varies is missing");
        TRY(read_factor(d, &d->factor[k], desc->vary[k]));
    }
    d->table_columns = desc->rows ? desc->rows->columns : 0;
    d->table_rows = desc->rows ? desc->rows->rows : 1;
    d->columns = d->table_columns + d->nfactor;
    TRY(check_names(d));
    TRY(count(d));
    return combine(d, table);
}

lw_status lw_design_create(const lw_model *model, const lw_design_desc *desc, lw_table **table,
                           lw_error *error)
{
    LWI_DESC(lw_design_desc, desc, error);
    if (!model || !table)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, description or result is missing");
    design d = {.model = model, .desc = desc, .error = error};
    lwi_arena_init(&d.arena, NULL);
    const lw_status status = make(&d, table);
    lwi_arena_free(&d.arena);
    return status;
}
