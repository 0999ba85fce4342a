// derived.c -- formulas of columns, as further columns of the table that a picture shows.
#include "plot/derived.h"

#include "io/result/measures.h"
#include "io/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct deriving {
    lwi_plot_table *table;
    lw_column_info *info; ///< of the table
    lwi_arena *arena;
    lwi_plot_derived *all, *derived; ///< [items]; the one that is built
    const char *text;
    lw_error *error;
} deriving;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for formulas of a picture");
}

// ------------------------------------------------------------------------------------------- lists

int lwi_plot_next_item(const char **at, const char **item)
{
    int depth = 0;
    bool quoted = false;
    const char *end = *at + strspn(*at, " ");
    *item = end;
    for (; *end && (quoted || depth > 0 || *end != ','); end++) {
        if (*end == '\'') quoted = !quoted;
        if (!quoted) depth += (*end == '(') - (*end == ')');
    }
    *at = end + (*end == ',');
    while (end > *item && end[-1] == ' ') end--;
    return (int)(end - *item);
}

// ------------------------------------------------------------------------------------------- names

static int find(const lwi_plot_table *t, const char *name)
{
    for (int i = 0; i < t->stored; i++)
        if (!strcmp(t->info[i].name, name)) return i;
    return -1;
}

static bool matches(const lwi_plot_table *t, const char *pattern)
{
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->info[i].name, pattern) || lwi_text_glob(pattern, t->info[i].name))
            return true;
    return false;
}

static lw_status add_variable(deriving *d, int column, int *index)
{
    lwi_plot_derived *made = d->derived;
    for (*index = 0; *index < made->n; ++*index)
        if (made->column[*index] == column) return LW_OK;
    if (made->n == LWI_FORMULA_NAMES)
        return lwi_fail(d->error, LW_ERR_ARGUMENT, "'%.60s' reads more than %d columns", d->text,
                        LWI_FORMULA_NAMES);
    made->column[made->n] = column;
    made->factor[made->n++] = lwi_column_factor(d->table->info[column].unit);
    return LW_OK;
}

// A column by its name; those of joints by "JOINT.q0" too.
static lw_status find_name(void *user, const char *text, int length, lwi_formula_symbol *symbol,
                           lw_error *error)
{
    deriving *d = user;
    char whole[2 * LWI_NAME_LENGTH + 60] = "joint.", *const name = whole + strlen(whole);
    if (!lwi_column_unquote(name, sizeof whole - 6, text, length)) return LW_ERR_ARGUMENT;
    int k = find(d->table, name);
    if (k < 0) k = find(d->table, whole);
    if (k < 0 && symbol && strchr(name, '.')) {
        const char **names = LWI_PUSH(d->arena, const char *, d->table->stored);
        if (!names) return no_memory(error);
        for (int i = 0; i < d->table->stored; i++) names[i] = d->table->info[i].name;
        const char *near = lwi_nearest(name, names, d->table->stored);
        return lwi_formula_fail(d->text, (int)(text - d->text), length, error,
                                "there is no column '%.80s'%s%.80s%s", name,
                                near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (k < 0 || !symbol) return k < 0 ? LW_ERR_ARGUMENT : LW_OK;
    *symbol = (lwi_formula_symbol){.variable = true,
                                   .dimension = lwi_column_dimension(d->table->info[k].unit)};
    return add_variable(d, k, &symbol->index);
}

// ---------------------------------------------------------------------------------------- formulas

static lw_status build(deriving *d, const char **unit)
{
    lwi_plot_derived *made = d->derived;
    const lwi_formula_scope scope = {.user = d, .find = find_name};
    made->column = LWI_PUSH(d->arena, int, LWI_FORMULA_NAMES);
    made->factor = LWI_PUSH(d->arena, double, LWI_FORMULA_NAMES);
    if (!made->column || !made->factor) return no_memory(d->error);
    made->time = find(d->table, "time");
    const lw_status status = lwi_formula_build(d->text, &scope, d->arena, &made->formula, d->error);
    if (status == LW_ERR_MEMORY) return status;
    if (status != LW_OK) return d->error ? d->error->status = LW_ERR_ARGUMENT : LW_ERR_ARGUMENT;
    if (made->formula.nname > 0)
        return lwi_fail(d->error, LW_ERR_ARGUMENT, "'%.80s': there is no column of joint '%.80s'",
                        d->text, made->formula.name[0].joint);
    for (int i = 0; i < made->n; i++) { // an energy is in J, as its parts are
        *unit = d->table->info[made->column[i]].unit;
        if (made->factor[i] == 1 &&
            lwi_dimension_same(lwi_column_dimension(*unit), made->formula.dimension))
            return LW_OK;
    }
    *unit = lwi_dimension_unit(d->arena, made->formula.dimension);
    return *unit ? LW_OK : no_memory(d->error);
}

// In a pattern `*` is next to a dot or at an end, "joint.*.q0"; in a formula two operands.
static bool is_formula(const char *text)
{
    if (strpbrk(text, "+-/^()<>= ")) return true;
    for (const char *star = strchr(text, '*'); star; star = strchr(star + 1, '*'))
        if (star > text && star[-1] != '.' && star[1] && star[1] != '.') return true;
    return false;
}

static lw_status add(deriving *d, const char *item, int length)
{
    lwi_plot_table *t = d->table;
    char *text = lwi_arena_chars(d->arena, (size_t)length + 1);
    if (!text) return no_memory(d->error);
    memcpy(text, item, (size_t)length);
    text[length] = 0;
    if (matches(t, text) || !is_formula(text)) return LW_OK;
    const char *unit;
    d->text = text;
    d->derived = &d->all[t->n - t->stored];
    TRY(build(d, &unit));
    d->info[t->n++] = (lw_column_info){.name = text, .unit = unit, .frame = ""};
    return LW_OK;
}

static int items(const char *list)
{
    int n = 1;
    for (; *list; list++) n += *list == ',';
    return n;
}

lw_status lwi_plot_derive(lwi_plot_table *t, const lw_plot_options *options, lwi_arena *arena,
                          lw_error *error)
{
    deriving d = {.table = t, .arena = arena, .error = error};
    const char *const alone[] = {options->x, options->by, options->z};
    int room = LWI_COUNT(alone);
    t->stored = t->n;
    for (int i = 0; i < options->ny; i++) room += items(options->y[i]);
    lw_column_info *info = LWI_PUSH(arena, lw_column_info, t->n + room);
    t->derived = d.all = LWI_PUSH(arena, lwi_plot_derived, room);
    if (!info || !d.all) return no_memory(error);
    if (t->n) memcpy(info, t->info, (size_t)t->n * sizeof *info);
    t->info = d.info = info;
    for (int i = 0; i < LWI_COUNT(alone); i++)
        if (alone[i]) TRY(add(&d, alone[i], (int)strlen(alone[i])));
    for (int i = 0; i < options->ny; i++) {
        if (find(t, options->y[i]) >= 0) continue; // a name may contain commas
        for (const char *at = options->y[i], *item; *at;) {
            const int length = lwi_plot_next_item(&at, &item);
            if (length) TRY(add(&d, item, length));
        }
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ values

lw_status lwi_plot_derived_values(const lwi_plot_derived *d, lwi_plot_read *read, void *user,
                                  long n, double *values, lw_error *error)
{
    const int columns = d->n + 1; // the last one is the time
    double *all = calloc((size_t)columns * (size_t)n + 1, sizeof *all);
    double now[LWI_FORMULA_NAMES + 1];
    lw_status status = all ? LW_OK : no_memory(error);
    for (int i = 0; i < d->n && status == LW_OK; i++)
        status = read(user, d->column[i], all + i * n);
    if (d->time >= 0 && status == LW_OK) status = read(user, d->time, all + d->n * n);
    for (long k = 0; k < n && status == LW_OK; k++) {
        for (int i = 0; i < d->n; i++) now[i] = d->factor[i] * all[i * n + k];
        const lwi_now at = {.t = d->time >= 0 ? all[d->n * n + k] : NAN, .variables = now};
        values[k] = lwi_formula_value(&d->formula, &at);
    }
    free(all);
    return status;
}
