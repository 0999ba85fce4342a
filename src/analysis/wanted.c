// wanted.c -- columns of results and their statistics.
#include "analysis/wanted.h"

#include "base/base.h"
#include "io/names.h"
#include "io/result/columns.h"
#include "io/text.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const char measure[] = "measure.";
static const char *const statistics[LW_STATISTIC_COUNT] = {"last", "mean", "rms", "min", "max"};

const char *lw_statistic_name(lw_statistic statistic)
{
    return (int)statistic >= 0 && statistic < LW_STATISTIC_COUNT ? statistics[statistic] : "";
}

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for columns");
}

// The statistic that a pattern ends in; -1: none.
static int statistic_of(const char *pattern)
{
    const char *dot = strrchr(pattern, '.');
    for (int i = 0; dot && dot > pattern && i < LW_STATISTIC_COUNT; i++)
        if (!strcmp(dot + 1, statistics[i])) return i;
    return -1;
}

static bool is_measure(const lw_model *model, const char *name)
{
    for (int i = 0; i < lw_model_measure_count(model); i++)
        if (!strcmp(lw_model_measure_name(model, i), name)) return true;
    return false;
}

// Refuses MEASURE.WORD where the word is no statistic.
static lw_status check_statistic(const lw_model *model, const char *text, lw_error *error)
{
    char name[128];
    const char *dot = strrchr(text, '.');
    const size_t skip = strncmp(text, measure, sizeof measure - 1) ? 0 : sizeof measure - 1;
    if (!dot || dot < text + skip || (size_t)(dot - text) >= sizeof name) return LW_OK;
    snprintf(name, sizeof name, "%.*s", (int)(dot - text - (long)skip), text + skip);
    if (is_measure(model, text + skip) || !is_measure(model, name) || statistic_of(text) >= 0)
        return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "'%.200s': '%.100s' is no statistic of measure '%s'; expected last, mean, rms, "
                    "min or max",
                    text, dot + 1, name);
}

// Has a pattern a statistic, or is it a measure without "measure."?  @param copy  of the patterns, is changed
static lw_status find_statistics(const lw_model *model, char *copy, bool *found, lw_error *error)
{
    *found = false;
    for (char *one; (one = lwi_text_next_pattern(&copy));) {
        TRY(check_statistic(model, one, error));
        *found |= statistic_of(one) >= 0 || is_measure(model, one);
    }
    return LW_OK;
}

static lw_status choose(const lw_model *model, const char *patterns, lwi_result_columns *columns,
                        lw_error *error)
{
    return lwi_result_columns_choose(model, LW_OBSERVE_REACTION, patterns, columns, error);
}

// "*.max" has a statistic of all columns, "measure.max" may be the name of one.
static bool is_column(const lw_model *model, const char *pattern)
{
    lwi_result_columns columns;
    if (strpbrk(pattern, "*?") || choose(model, pattern, &columns, NULL) != LW_OK) return false;
    lwi_result_columns_free(&columns);
    return true;
}

lw_status lwi_wanted_parse(const lw_model *model, const char *text, lwi_arena *arena,
                           const char **column, int *statistic, lw_error *error)
{
    TRY(check_statistic(model, text, error));
    const size_t room = strlen(text) + sizeof measure;
    char *one = lwi_arena_text(arena, text), *pattern = lwi_arena_chars(arena, room);
    if (!one || !pattern) return no_memory(error);
    int which = statistic_of(one);
    if (which >= 0 && (is_measure(model, one) || is_column(model, one))) which = -1;
    if (which >= 0) *strrchr(one, '.') = 0;
    snprintf(pattern, room, "%s%s", is_measure(model, one) ? measure : "", one);
    *column = pattern;
    *statistic = which;
    return LW_OK;
}

static lw_status join(lwi_arena *arena, lwi_wanted_list *list, lw_error *error)
{
    size_t room = 1;
    for (int k = 0; k < list->npattern; k++) room += strlen(list->pattern[k]) + 1;
    char *all = LWI_PUSH(arena, char, room), *to = all;
    if (!all) return no_memory(error);
    *all = 0;
    for (int k = 0; k < list->npattern; k++)
        to += snprintf(to, room - (size_t)(to - all), "%s%s", k ? "," : "", list->pattern[k]);
    list->patterns = all;
    return LW_OK;
}

lw_status lwi_wanted_read(const lw_model *model, const char *patterns, lw_statistic other,
                          lwi_arena *arena, lwi_wanted_list *list, lw_error *error)
{
    *list = (lwi_wanted_list){.patterns = patterns, .other = other};
    if (!patterns) return LW_OK;
    char *copy = lwi_arena_text(arena, patterns), *scratch = lwi_arena_text(arena, patterns);
    if (!copy || !scratch) return no_memory(error);
    bool found;
    TRY(find_statistics(model, scratch, &found, error));
    if (!found) return LW_OK;
    int n = 1;
    for (const char *c = patterns; *c; c++) n += *c == ',';
    list->pattern = LWI_PUSH(arena, const char *, n);
    list->statistic = LWI_PUSH(arena, int, n);
    if (!list->pattern || !list->statistic) return no_memory(error);
    list->npattern = n;
    int k = 0;
    for (char *one; (one = lwi_text_next_pattern(&copy)); k++)
        TRY(lwi_wanted_parse(model, one, arena, &list->pattern[k], &list->statistic[k], error));
    list->npattern = k;
    return join(arena, list, error);
}

// ----------------------------------------------------------------------------------------- columns

typedef struct requests {
    unsigned *with; // [columns] bits of the statistics that patterns name
    bool *without;  // [columns] a pattern without one
    lwi_names names;
} requests;

static void mark(const lwi_result_columns *chosen, int statistic, const requests *w)
{
    for (int i = 1; i < chosen->n; i++) {
        const int c = lwi_names_find(&w->names, chosen->column[i].name);
        if (c < 0) continue; // a study has fewer
        if (statistic >= 0)
            w->with[c] |= 1u << statistic;
        else
            w->without[c] = true;
    }
}

static lw_status add(const requests *w, int column, int statistic, bool plain, lwi_arena *arena,
                     lwi_wanted_list *list, lw_error *error)
{
    const char *name = w->names.name[column];
    const size_t room = strlen(name) + 8;
    char *text = LWI_PUSH(arena, char, room);
    if (!text) return no_memory(error);
    snprintf(text, room, "%s%s%s", name, plain ? "" : ".", plain ? "" : statistics[statistic]);
    list->at[list->n++] =
        (lwi_wanted){.column = column, .statistic = (lw_statistic)statistic, .name = text};
    return LW_OK;
}

static lw_status add_all(const requests *w, lwi_arena *arena, lwi_wanted_list *list,
                         lw_error *error)
{
    for (int c = 0; c < w->names.count; c++)
        for (int which = 0; which < LW_STATISTIC_COUNT; which++) {
            if (w->without[c] && which == (int)list->other)
                TRY(add(w, c, which, true, arena, list, error));
            if (w->with[c] >> which & 1) TRY(add(w, c, which, false, arena, list, error));
        }
    return LW_OK;
}

lw_status lwi_wanted_choose(const lw_model *model, int columns,
                            const char *(*name)(const void *user, int i), const void *user,
                            lwi_arena *arena, lwi_wanted_list *list, lw_error *error)
{
    enum { MOST = LW_STATISTIC_COUNT + 1 }; // of a column: each, and one without a name
    requests w = {.with = LWI_PUSH(arena, unsigned, columns),
                  .without = LWI_PUSH(arena, bool, columns)};
    list->at = LWI_PUSH(arena, lwi_wanted, (size_t)columns * MOST);
    if (!w.with || !w.without || !list->at || lwi_names_create(columns, arena, &w.names) != LW_OK)
        return no_memory(error);
    for (int c = 0; c < columns; c++) {
        const char *own = lwi_arena_text(arena, name(user, c));
        if (!own) return no_memory(error);
        w.without[c] = list->npattern == 0;
        lwi_names_add(&w.names, own, c);
    }
    lwi_names_sort(&w.names);
    for (int k = 0; k < list->npattern; k++) {
        lwi_result_columns chosen;
        TRY(choose(model, list->pattern[k], &chosen, error));
        const bool time = chosen.n == 1 && list->statistic[k] >= 0;
        mark(&chosen, list->statistic[k], &w);
        lwi_result_columns_free(&chosen);
        if (time)
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "'%.200s.%s' is a statistic of the time alone; expected columns of "
                            "results or measures",
                            list->pattern[k], statistics[list->statistic[k]]);
    }
    return add_all(&w, arena, list, error);
}
