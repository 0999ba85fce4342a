// measures.c -- the measures of a model: expressions of columns, and statistics of their values.
//
// The columns that the expressions name are the variables of their formulas; a row of these columns alone is filled
// from the observation, as rows of results are.  A measure may name those before it, as measure.NAME.
#include "io/result/measures.h"

#include "base/assert.h"
#include "io/result/columns.h"
#include "io/text.h"
#include "model/forces/item.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct one_measure {
    lwi_formula formula;
    const char *unit;
    double factor; ///< its values are those in SI times this
    lw_observe level;
} one_measure;

struct lwi_measures {
    lwi_arena arena;
    int n;
    one_measure *measure;
    const char **name; ///< [nname] of the columns that the formulas name
    int *at, nname;    ///< [nname] their places in `columns`
    lwi_result_columns columns;
    lwi_result_rows rows;
    double *variable; ///< [columns.n + n] columns, then measures in SI
};

enum { MEASURE = 1 << 28 }; // index of a variable: from here on measures

typedef struct indexed_name {
    const char *name;
    int column;
} indexed_name;

/** The columns that the formulas name. */
typedef struct naming {
    const lw_model *model;
    lwi_measures *m;
    const char *text; ///< of the formula that is read
    const lwi_result_columns *all;
    indexed_name *sorted; ///< [all->n]
    const char **name;    ///< [n] of the variables
    int n, room, defined;
} naming;

// ------------------------------------------------------------------------------------------- names

static int by_name(const void *a, const void *b)
{
    return strcmp(((const indexed_name *)a)->name, ((const indexed_name *)b)->name);
}

static int find_column(const naming *n, const char *name)
{
    const indexed_name key = {name, 0};
    const indexed_name *found =
        bsearch(&key, n->sorted, (size_t)n->all->n, sizeof *n->sorted, by_name);
    return found ? found->column : -1;
}

bool lwi_column_unquote(char *to, size_t size, const char *name, int length)
{
    size_t n = 0;
    bool quoted = false;
    for (int i = 0; i < length; i++) {
        const bool two = quoted && name[i] == '\'' && i + 1 < length && name[i + 1] == '\'';
        if (name[i] == '\'' && !two) {
            quoted = !quoted;
            continue;
        }
        if (n + 1 >= size) return false;
        to[n++] = name[i];
        i += two;
    }
    to[n] = 0;
    return true;
}

// The column that is meant, or -1; a reaction elsewhere: that of the reaction.
static int find_meant(const naming *n, const char *name, char *whole, size_t size)
{
    snprintf(whole, size, "%s", name);
    int k = find_column(n, whole);
    if (k < 0) { // JOINT.q0
        snprintf(whole, size, "joint.%s", name);
        k = find_column(n, whole);
    }
    const char *at = strrchr(name, '@');
    if (k >= 0 || !at) return k;
    snprintf(whole, size, "%.*s", (int)(at - name), name);
    k = find_column(n, whole);
    snprintf(whole, size, "%s", name);
    lwi_result_view view;
    return k >= 0 && lwi_result_is_reaction(n->all->column[k].quantity) &&
                   lwi_result_view_find(n->model, at + 1, &view)
               ? k
               : -1;
}

static lw_status add_variable(naming *n, const char *name, int *index)
{
    for (*index = 0; *index < n->n; ++*index)
        if (!strcmp(n->name[*index], name)) return LW_OK;
    if (n->n == n->room) {
        const int room = n->room ? 2 * n->room : 16;
        const char **larger = LWI_PUSH(&n->m->arena, const char *, room);
        if (!larger) return LW_ERR_MEMORY;
        if (n->n) memcpy(larger, n->name, (size_t)n->n * sizeof *larger);
        n->name = larger, n->room = room;
    }
    n->name[n->n] = lwi_arena_text(&n->m->arena, name);
    return n->name[n->n++] ? LW_OK : LW_ERR_MEMORY;
}

lwi_dimension lwi_column_dimension(const char *unit)
{
    lwi_unit u = {.times = 1, .per = 1};
    if (*unit && lwi_unit_read(unit, (int)strlen(unit), &u)) return u.dimension;
    return (lwi_dimension){.kind = LWI_DIMENSION_UNKNOWN};
}

double lwi_column_factor(const char *unit)
{
    lwi_unit u = {.times = 1, .per = 1};
    return *unit && lwi_unit_read(unit, (int)strlen(unit), &u) ? lwi_unit_value("1", 1, &u) : 1;
}

// A name that begins as columns do is none of t, functions and joints.
static lw_status unknown(const naming *n, const char *name, const char *at, int length,
                         lw_error *error)
{
    enum { MOST = 2000 }; // a distance costs microseconds
    const char *names[MOST], *dot = strchr(name, '.');
    static const char *const kinds[] = {"body", "joint", "marker", "sys", "measure", "signal"};
    char signal[LWI_NAME_LENGTH * 2 + 60];
    bool kind = false;
    int count = 0;
    snprintf(signal, sizeof signal, "signal.%s.value", name);
    if (find_column(n, signal) >= 0)
        return lwi_formula_fail(n->text, (int)(at - n->text), length, error,
                                "'%.80s' is a signal, its column is '%.100s'", name, signal);
    for (int i = 0; dot && i < LWI_COUNT(kinds); i++)
        kind |= !strncmp(name, kinds[i], (size_t)(dot - name)) && kinds[i][dot - name] == 0;
    for (int i = 0; dot && i < LWI_FORCE_ITEMS; i++) {
        const char *type = lwi_force_items[i]->type->name;
        kind |= !strncmp(name, type, (size_t)(dot - name)) && type[dot - name] == 0;
    }
    if (!kind) return LW_ERR_ARGUMENT;
    for (; count < MOST && count < n->all->n; count++) names[count] = n->all->column[count].name;
    const char *near = lwi_nearest(name, names, count);
    return lwi_formula_fail(n->text, (int)(at - n->text), length, error,
                            "there is no column '%.80s'%s%.80s%s", name,
                            near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static lw_status find_measure(const naming *n, const char *name, lwi_formula_symbol *symbol)
{
    for (int i = 0; i < n->defined; i++)
        if (!strcmp(n->model->desc.measure[i].name, name)) {
            if (symbol)
                *symbol = (lwi_formula_symbol){.variable = true,
                                               .index = MEASURE + i,
                                               .dimension = n->m->measure[i].formula.dimension};
            return LW_OK;
        }
    return LW_ERR_ARGUMENT;
}

static lw_status find_name(void *user, const char *text, int length, lwi_formula_symbol *symbol,
                           lw_error *error)
{
    naming *n = user;
    char name[LWI_NAME_LENGTH * 2 + 40], whole[sizeof name + 8];
    if (!lwi_column_unquote(name, sizeof name, text, length)) return LW_ERR_ARGUMENT;
    if (!strncmp(name, "measure.", 8) && find_measure(n, name + 8, symbol) == LW_OK) return LW_OK;
    const int k = find_meant(n, name, whole, sizeof whole);
    if (k < 0) return symbol ? unknown(n, name, text, length, error) : LW_ERR_ARGUMENT;
    if (!symbol) return LW_OK;
    *symbol = (lwi_formula_symbol){.variable = true,
                                   .dimension = lwi_column_dimension(n->all->column[k].unit)};
    if (add_variable(n, whole, &symbol->index) == LW_OK) return LW_OK;
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
}

// ---------------------------------------------------------------------------------------- creation

// The unit in brackets of "a force [N]".
const char *lwi_dimension_unit(lwi_arena *arena, lwi_dimension dimension)
{
    char text[128];
    if (dimension.kind == LWI_DIMENSION_UNKNOWN) return "";
    lwi_dimension_text(dimension, text, sizeof text);
    if (*text == '[') { // without a name: a torque times an angular speed is a power
        dimension.power[LWI_BASE_ANGLE] = 0;
        char plain[sizeof text];
        if (*lwi_dimension_text(dimension, plain, sizeof plain) != '[')
            memcpy(text, plain, sizeof text);
    }
    char *from = strchr(text, '['), *to = strrchr(text, ']');
    if (!from || !to) return dimension.kind == LWI_DIMENSION_NONE ? "" : "1";
    *to = 0;
    return lwi_arena_text(arena, from + 1);
}

static lw_status set_unit(naming *n, const lw_measure_desc *d, one_measure *one, lw_error *error)
{
    one->factor = 1;
    if (!d->unit) {
        one->unit = lwi_dimension_unit(&n->m->arena, one->formula.dimension);
        return one->unit ? LW_OK : lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
    }
    lwi_unit u = {.times = 1, .per = 1};
    char text[128];
    lwi_unit_read(d->unit, (int)strlen(d->unit), &u); // the builder has checked it
    if (!lwi_dimension_fits(u.dimension, one->formula.dimension))
        return lwi_fail(error, LW_ERR_MODEL, "its value is %s, not in %s",
                        lwi_dimension_text(one->formula.dimension, text, sizeof text), d->unit);
    one->factor = 1 / lwi_unit_value("1", 1, &u);
    one->unit = lwi_arena_text(&n->m->arena, d->unit);
    return one->unit ? LW_OK : lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
}

static lw_status read_measure(naming *n, int i, lw_error *error)
{
    const lw_measure_desc *d = &n->model->desc.measure[i];
    const lwi_formula_scope scope = {.user = n, .find = find_name};
    one_measure *one = &n->m->measure[i];
    lw_error why = {0};
    n->text = d->formula;
    lw_status status = lwi_formula_build(d->formula, &scope, &n->m->arena, &one->formula, &why);
    if (status == LW_OK && one->formula.nname > 0)
        status =
            lwi_fail(&why, LW_ERR_MODEL, "there is no joint '%.80s'", one->formula.name[0].joint);
    if (status == LW_OK) status = set_unit(n, d, one, &why);
    n->defined = i + 1;
    if (status == LW_OK || status == LW_ERR_MEMORY) return status;
    return lwi_model_fail(&n->model->desc, d->place, error, "measure '%s': %s", d->name, why.text);
}

// Variables become places in the row of the columns.
static void place_variables(const lwi_measures *m, lwi_formula *formula)
{
    for (int k = 0; k < formula->ncode; k++) {
        lwi_instruction *code = &formula->code[k];
        if (code->operation != LWI_FORMULA_VARIABLE) continue;
        code->index =
            code->index >= MEASURE ? m->columns.n + code->index - MEASURE : m->at[code->index];
    }
}

// The level of a measure is that of its highest column.
static void find_level(lwi_measures *m, one_measure *one)
{
    for (int k = 0; k < one->formula.ncode; k++) {
        const lwi_instruction *code = &one->formula.code[k];
        if (code->operation != LWI_FORMULA_VARIABLE) continue;
        const lw_observe needs = code->index >= MEASURE
                                     ? m->measure[code->index - MEASURE].level
                                     : lwi_result_column_level(&m->columns, m->at[code->index]);
        if (needs > one->level) one->level = needs;
    }
}

static lw_status make_columns(naming *n, lw_error *error)
{
    lwi_measures *m = n->m;
    TRY(lwi_result_columns_exactly(n->model, n->name, n->n, &m->columns, error));
    TRY(lwi_result_rows_create(n->model, &m->columns, &m->arena, &m->rows));
    m->name = n->name, m->nname = n->n;
    m->at = LWI_PUSH(&m->arena, int, n->n);
    m->variable = LWI_PUSH(&m->arena, double, m->columns.n + m->n);
    if (!m->at || !m->variable) return LW_ERR_MEMORY;
    for (int i = 0; i < n->n; i++)
        for (int k = 0; k < m->columns.n; k++)
            if (!strcmp(m->columns.column[k].name, n->name[i])) m->at[i] = k;
    for (int i = 0; i < m->n; i++) {
        find_level(m, &m->measure[i]);
        place_variables(m, &m->measure[i].formula);
    }
    return LW_OK;
}

static lw_status fill(naming *n, lw_error *error)
{
    lwi_measures *m = n->m;
    m->measure = LWI_PUSH(&m->arena, one_measure, m->n);
    n->sorted = LWI_PUSH(&m->arena, indexed_name, n->all->n);
    if (!m->measure || !n->sorted) return LW_ERR_MEMORY;
    for (int i = 0; i < n->all->n; i++) n->sorted[i] = (indexed_name){n->all->column[i].name, i};
    qsort(n->sorted, (size_t)n->all->n, sizeof *n->sorted, by_name);
    for (int i = 0; i < m->n; i++) TRY(read_measure(n, i, error));
    return make_columns(n, error);
}

lw_status lwi_measures_create(const lw_model *model, lwi_measures **measures, lw_error *error)
{
    lwi_result_columns all;
    lwi_measures *m = lwi_allocate(NULL, sizeof *m);
    if (!m) return lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
    *m = (lwi_measures){.n = model->desc.nmeasure};
    lwi_arena_init(&m->arena, NULL);
    if (m->n == 0) { // no columns are needed
        *measures = m;
        return LW_OK;
    }
    if (lwi_result_columns_of_model(model, LW_OBSERVE_MOMENTUM, &all) != LW_OK) {
        lwi_measures_free(m);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
    }
    naming n = {.model = model, .m = m, .all = &all};
    const lw_status status = fill(&n, error);
    lwi_result_columns_free(&all);
    if (status == LW_OK) {
        *measures = m;
        return LW_OK;
    }
    lwi_measures_free(m);
    return status == LW_ERR_MEMORY ? lwi_fail(error, status, "no memory for measures") : status;
}

void lwi_measures_free(lwi_measures *m)
{
    if (!m) return;
    lwi_result_columns_free(&m->columns);
    lwi_arena_free(&m->arena);
    lwi_release(NULL, m);
}

const char *lwi_measure_unit(const lwi_measures *m, int i)
{
    LWI_ASSERT_INDEX(i, m->n);
    return m->measure[i].unit;
}

lw_observe lwi_measure_level(const lwi_measures *m, int i)
{
    LWI_ASSERT_INDEX(i, m->n);
    return m->measure[i].level;
}

// ---------------------------------------------------------------------------------------- variants

// Columns and measures that a variant's formula names: they are those of the formulas of the measures.
typedef struct variant_naming {
    const lwi_measures *m;
    const lw_model *model;
    int defined;
} variant_naming;

static int find_variable(const lwi_measures *m, const char *name)
{
    for (int i = 0; i < m->nname; i++)
        if (!strcmp(m->name[i], name)) return i;
    return -1;
}

static lw_status find_same(void *user, const char *text, int length, lwi_formula_symbol *symbol,
                           lw_error *error)
{
    const variant_naming *n = user;
    char name[LWI_NAME_LENGTH * 2 + 40], whole[sizeof name + 8];
    (void)error;
    if (!lwi_column_unquote(name, sizeof name, text, length)) return LW_ERR_ARGUMENT;
    for (int i = 0; i < n->defined && !strncmp(name, "measure.", 8); i++) {
        if (strcmp(n->model->desc.measure[i].name, name + 8) != 0) continue;
        if (symbol)
            *symbol = (lwi_formula_symbol){.variable = true,
                                           .index = MEASURE + i,
                                           .dimension = n->m->measure[i].formula.dimension};
        return LW_OK;
    }
    snprintf(whole, sizeof whole, "joint.%s", name);
    int k = find_variable(n->m, name);
    if (k < 0) k = find_variable(n->m, whole); // JOINT.q0
    if (k < 0) return LW_ERR_ARGUMENT;
    if (symbol)
        *symbol = (lwi_formula_symbol){
            .variable = true,
            .index = k,
            .dimension = lwi_column_dimension(n->m->columns.column[n->m->at[k]].unit)};
    return LW_OK;
}

static bool have_formulas_of(const lwi_measures *m, const lw_model *variant)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->measure[i].formula.text, variant->desc.measure[i].formula) != 0) return false;
    return true;
}

lw_status lwi_measures_of_variant(const lwi_measures *m, const lw_model *variant, lwi_arena *arena,
                                  const lwi_formula **formulas, lw_error *error)
{
    variant_naming n = {.m = m, .model = variant};
    const lwi_formula_scope scope = {.user = &n, .find = find_same};
    *formulas = NULL;
    LWI_ASSERT(variant->desc.nmeasure == m->n);
    if (have_formulas_of(m, variant)) return LW_OK;
    lwi_formula *own = LWI_PUSH(arena, lwi_formula, m->n);
    if (!own) return lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
    for (; n.defined < m->n; n.defined++) {
        const lw_measure_desc *d = &variant->desc.measure[n.defined];
        lw_error why = {0};
        const lw_status status =
            lwi_formula_build(d->formula, &scope, arena, &own[n.defined], &why);
        if (status == LW_ERR_MEMORY) return lwi_fail(error, status, "no memory for measures");
        if (status != LW_OK)
            return lwi_model_fail(&variant->desc, d->place, error, "measure '%s': %s", d->name,
                                  why.text);
        place_variables(m, &own[n.defined]);
    }
    *formulas = own;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ values

lw_status lwi_measures_evaluate(lwi_measures *m, const lw_model *model, const lwi_formula *formulas,
                                const lw_observation *o, double *value)
{
    const int n = m->columns.n;
    const lwi_now now = {.t = o->time, .variables = m->variable};
    if (m->n == 0) return LW_OK;
    m->rows.model = model;
    TRY(lwi_result_rows_fill(&m->rows, o));
    memcpy(m->variable, m->rows.row, (size_t)n * sizeof *m->variable);
    for (int i = 0; i < m->n; i++) {
        const double x = lwi_formula_value(formulas ? &formulas[i] : &m->measure[i].formula, &now);
        m->variable[n + i] = x;
        value[i] = m->measure[i].factor * x;
    }
    return LW_OK; // a row with a value that is not finite is refused as a whole
}

// -------------------------------------------------------------------------------------- statistics

void lw_running_add(lw_running *r, double time, double value)
{
    if (!r) return;
    if (r->rows++ == 0) {
        *r = (lw_running){1, time, time, value, value, value, time, time, 0, 0};
        return;
    }
    const double h = time - r->last;
    r->integral += 0.5 * h * (r->value + value);
    // of a straight line between the rows
    r->squares += h * (r->value * r->value + r->value * value + value * value) / 3;
    if (value < r->min) r->min = value, r->time_of_min = time;
    if (value > r->max) r->max = value, r->time_of_max = time;
    r->last = time, r->value = value;
}

lw_statistics lw_running_statistics(const lw_running *r)
{
    if (!r || r->rows == 0) return (lw_statistics){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const double T = r->last - r->first;
    return (lw_statistics){.rows = r->rows,
                           .min = r->min,
                           .max = r->max,
                           .range = r->max - r->min,
                           .mean = T > 0 ? r->integral / T : r->value,
                           .rms = T > 0 ? sqrt(fmax(r->squares, 0) / T) : fabs(r->value),
                           .last = r->value,
                           .time_of_min = r->time_of_min,
                           .time_of_max = r->time_of_max,
                           .integral = r->integral};
}

lw_status lw_result_statistics(lw_result *result, int column, lw_statistics *statistics,
                               lw_error *error)
{
    enum { BLOCK = 4096 };
    double time[BLOCK], value[BLOCK];
    lw_running s = {0};
    if (!result || !statistics)
        return lwi_fail(error, LW_ERR_ARGUMENT, "result and statistics must be given");
    const long rows = lw_result_row_count(result);
    if (rows == 0) return lwi_fail(error, LW_ERR_ARGUMENT, "the result has no rows");
    for (long first = 0; first < rows; first += BLOCK) {
        const long count = rows - first < BLOCK ? rows - first : BLOCK;
        TRY(lw_result_read(result, 0, first, count, time, error));
        TRY(lw_result_read(result, column, first, count, value, error));
        for (long i = 0; i < count; i++) lw_running_add(&s, time[i], value[i]);
    }
    *statistics = lw_running_statistics(&s);
    return LW_OK;
}

struct lw_measures {
    lwi_measures *inside;
    lw_running *statistics; ///< [n]
    double *value;          ///< [n]
    const lw_model *model;
    lwi_arena arena;
};

lw_status lw_measures_create(const lw_model *model, lw_measures **measures, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!model || !measures)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model and measures must be given");
    lw_measures *m = lwi_allocate(NULL, sizeof *m);
    if (!m) return lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
    *m = (lw_measures){.model = model};
    lwi_arena_init(&m->arena, NULL);
    m->statistics = LWI_PUSH(&m->arena, lw_running, model->desc.nmeasure);
    m->value = LWI_PUSH(&m->arena, double, model->desc.nmeasure);
    const lw_status status = m->statistics && m->value
                                 ? lwi_measures_create(model, &m->inside, error)
                                 : lwi_fail(error, LW_ERR_MEMORY, "no memory for measures");
    if (status == LW_OK)
        *measures = m;
    else
        lw_measures_destroy(m);
    return status;
}

void lw_measures_destroy(lw_measures *m)
{
    if (!m) return;
    lwi_measures_free(m->inside);
    lwi_arena_free(&m->arena);
    lwi_release(NULL, m);
}

lw_running *lwi_measures_running(const lw_measures *m, int *n)
{
    *n = m->model->desc.nmeasure;
    return m->statistics;
}

lw_observe lw_measures_level(const lw_measures *m)
{
    lw_observe level = LW_OBSERVE_POSE;
    for (int i = 0; m && i < m->model->desc.nmeasure; i++)
        if (lwi_measure_level(m->inside, i) > level) level = lwi_measure_level(m->inside, i);
    return level;
}

const char *lw_measures_unit(const lw_measures *m, int i)
{
    return m && i >= 0 && i < m->model->desc.nmeasure ? lwi_measure_unit(m->inside, i) : "";
}

lw_status lw_measures_row(lw_measures *m, const lw_observation *o)
{
    if (!m || !o || o->level < lw_measures_level(m)) return LW_ERR_ARGUMENT;
    TRY(lwi_measures_evaluate(m->inside, m->model, NULL, o, m->value));
    for (int i = 0; i < m->model->desc.nmeasure; i++) {
        if (!isfinite(m->value[i])) return LW_ERR_NOT_FINITE;
        lw_running_add(&m->statistics[i], o->time, m->value[i]);
    }
    return LW_OK;
}

lw_statistics lw_measures_statistics(const lw_measures *m, int i)
{
    if (!m || i < 0 || i >= m->model->desc.nmeasure) return (lw_statistics){0};
    return lw_running_statistics(&m->statistics[i]);
}
