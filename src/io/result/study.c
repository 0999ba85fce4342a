// study.c -- statistics of columns over the runs of a sweep, and the table that they make.
#include "base/assert.h"
#include "batch/batch.h"
#include "batch/table.h"
#include "io/result/result.h"

#include <stdio.h>
#include <string.h>

struct lw_study {
    lwi_arena arena;
    lw_sweep *sweep;
    lw_batch_writer *writer; // of no file; NULL: no columns
    int first, n;            // of columns in a row
    lw_running *running;     // [instances][n]
    lw_error error;
};

static lw_running *running_of(const lw_study *s, int instance, int k)
{
    return &s->running[(size_t)instance * (size_t)s->n + (size_t)k];
}

// ---------------------------------------------------------------------------------------- creation

static lw_status choose(lw_study *s, const char *columns)
{
    const int instances = lw_sweep_instances(s->sweep);
    TRY(lwi_batch_writer_choose(s->sweep, columns, &s->writer, &s->error));
    s->first = 2 + lwi_sweep_batch(s->sweep)->nvary; // behind time, instance and what varies
    s->n = lw_batch_writer_columns(s->writer) - s->first;
    s->running = LWI_PUSH(&s->arena, lw_running, (size_t)instances * (size_t)s->n);
    if (s->running) return LW_OK;
    return lwi_fail(&s->error, LW_ERR_MEMORY, "no memory for statistics of %d instances",
                    instances);
}

lw_status lw_study_create(lw_sweep *sweep, const char *columns, lw_study **study, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!sweep || !study || !lwi_sweep_batch(sweep))
        return lwi_fail(error, LW_ERR_ARGUMENT, "sweep before its run and study must be given");
    lw_study *s = lwi_allocate(NULL, sizeof *s);
    if (!s) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a study");
    *s = (lw_study){.sweep = sweep};
    lwi_arena_init(&s->arena, NULL);
    if (!columns && lw_model_measure_count(lwi_sweep_batch(sweep)->model)) columns = "measure.*";
    const lw_status status = columns ? choose(s, columns) : LW_OK;
    if (status == LW_OK) {
        *study = s;
        return LW_OK;
    }
    if (error) *error = s->error;
    lw_study_destroy(s);
    return status;
}

void lw_study_destroy(lw_study *s)
{
    if (!s) return;
    lw_batch_writer_close(s->writer, NULL);
    lwi_arena_free(&s->arena);
    lwi_release(NULL, s);
}

// -------------------------------------------------------------------------------------------- rows

lw_status lw_study_row(void *study, lw_batch *group, double time)
{
    lw_study *s = study;
    (void)time; // of each instance, in its row
    if (!s || !group) return LW_ERR_ARGUMENT;
    if (!s->writer) return LW_OK;
    const lw_status status = lw_batch_writer_rows(s->writer);
    if (status < LW_OK) {
        s->error = *lwi_batch_writer_error(s->writer);
        return status;
    }
    for (int i = 0; i < lw_batch_instances(group); i++) {
        const double *row = lw_batch_writer_last(s->writer, i);
        if (!row || lw_batch_status(group, i) != LW_OK) continue; // its last row is an old one
        for (int k = 0; k < s->n; k++)
            lw_running_add(running_of(s, lw_batch_number(group, i), k), row[0], row[s->first + k]);
    }
    return LW_OK;
}

const lw_error *lw_study_error(const lw_study *s)
{
    if (!s) return NULL;
    return &s->error;
}

int lw_study_columns(const lw_study *s)
{
    if (!s) return 0;
    return s->n;
}

lw_column_info lw_study_column(const lw_study *s, int index)
{
    if (!s || index < 0 || index >= s->n) return (lw_column_info){"", "", "", 0};
    return lw_batch_writer_column(s->writer, s->first + index);
}

lw_statistics lw_study_statistics(const lw_study *s, int instance, int column)
{
    if (!s || column < 0 || column >= s->n || instance < 0 ||
        instance >= lw_sweep_instances(s->sweep))
        return (lw_statistics){0};
    return lw_running_statistics(running_of(s, instance, column));
}

// ------------------------------------------------------------------------------------------- table

enum { STATISTICS = 9 };

static const char *const statistics[STATISTICS] = {
    "min", "max", "range", "mean", "rms", "last", "time_of_min", "time_of_max", "integral"};
enum { TIMES = 6, INTEGRAL = 8 }; // from this one on; one in another unit

// "W s"; of a number without a unit "s".
static const char *statistic_unit(int i, const char *unit, char *room, size_t size)
{
    if (i < TIMES) return unit;
    const bool product = i == INTEGRAL && *unit && strcmp(unit, "1") != 0;
    if (i == INTEGRAL && !*unit) return ""; // not known
    snprintf(room, size, "%s%ss", product ? unit : "", product ? " " : "");
    return room;
}

static const char *const ends[][2] = {
    {"end", "s"}, {"steps", "1"}, {"evaluations", "1"}, {"energy_error", "J"}};

static lw_status name_columns(const lw_study *s, const lw_batch_desc *desc, lw_table *t)
{
    int at = 0;
    TRY(lwi_table_name(t, at++, "instance", "1"));
    for (int k = 0; k < desc->nvary; k++)
        TRY(lwi_table_name(t, at++, desc->vary[k], lwi_sweep_unit(s->sweep, k)));
    for (int k = 0; k < s->n; k++) {
        const lw_column_info column = lw_study_column(s, k);
        for (int i = 0; i < STATISTICS; i++) {
            char name[700], room[120];
            snprintf(name, sizeof name, "%s.%s", column.name, statistics[i]);
            TRY(lwi_table_name(t, at++, name, statistic_unit(i, column.unit, room, sizeof room)));
        }
    }
    for (int i = 0; i < LWI_COUNT(ends); i++) TRY(lwi_table_name(t, at++, ends[i][0], ends[i][1]));
    LWI_ASSERT(at == t->columns);
    return lwi_table_add_strings(t, LWI_STRING_COLUMN);
}

static lw_status fill_row(const lw_study *s, const lw_batch_desc *desc, lw_table *t, int i)
{
    double *row = lwi_table_row(t, i);
    lw_summary summary;
    lw_sweep_summary(s->sweep, i, &summary);
    *row++ = i;
    for (int k = 0; k < desc->nvary; k++)
        *row++ = desc->values[(size_t)i * (size_t)desc->nvary + (size_t)k];
    for (int k = 0; k < s->n; k++) {
        const lw_statistics of = lw_study_statistics(s, i, k);
        const double values[STATISTICS] = {of.min,         of.max,         of.range,
                                           of.mean,        of.rms,         of.last,
                                           of.time_of_min, of.time_of_max, of.integral};
        memcpy(row, values, sizeof values);
        row += STATISTICS;
    }
    *row++ = summary.end;
    *row++ = (double)summary.steps;
    *row++ = (double)summary.evaluations;
    *row++ = summary.energy_error;
    const bool failed = lw_sweep_status(s->sweep, i) != LW_OK;
    const bool stopped = summary.end < lw_sweep_options(s->sweep)->duration;
    t->text[i] = failed    ? lwi_arena_text(&t->arena, lw_sweep_failure(s->sweep, i))
                 : stopped ? "stopped"
                           : "";
    return t->text[i] ? LW_OK : LW_ERR_MEMORY;
}

lw_status lw_study_table(const lw_study *s, lw_table **table, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!s || !table) return lwi_fail(error, LW_ERR_ARGUMENT, "study and table must be given");
    const lw_batch_desc desc = lwi_sweep_desc(s->sweep);
    lw_table *t;
    TRY(lwi_table_create(lw_sweep_instances(s->sweep),
                         1 + desc.nvary + STATISTICS * s->n + LWI_COUNT(ends), &t, error));
    lw_status status = name_columns(s, &desc, t);
    for (int i = 0; i < t->rows && status == LW_OK; i++) status = fill_row(s, &desc, t, i);
    if (status == LW_OK)
        *table = t;
    else
        lw_table_free(t);
    return status == LW_OK ? LW_OK : lwi_fail(error, status, "no memory for a table");
}
