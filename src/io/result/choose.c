// choose.c -- the columns of a result that patterns choose: "joint.*.f*, spring.strut.*, joint.A.fx@F1".
//
// A pattern chooses among the columns of the level of the rows; one that matches none of them among those of all levels.
// Text behind an @ is the place where a reaction is wanted (view.h): such columns are new ones, after all others.
#include "base/assert.h"
#include "io/result/columns.h"
#include "io/result/measures.h"
#include "io/text.h"

#include <stdio.h>
#include <string.h>

typedef struct choosing {
    const lw_model *model;
    lw_observe level;
    const lwi_result_columns *all; ///< of all levels
    bool *chosen;                  ///< [all->n]
    lwi_result_columns *out;
    lw_error *error;
    int room;     ///< of out->view
    bool exactly; ///< names, not patterns
} choosing;

// ---------------------------------------------------------------------------------------- matching

static lw_observe level_of(const lwi_result_columns *c, const lwi_result_entry *e, int part)
{
    const lwi_quantity *q = e->quantity;
    if (q->subject == LWI_RESULT_MEASURE) return lwi_measure_level(c->measures, e->item);
    const bool last = !q->numbered && part == lwi_quantity_part_count(q) - 1;
    return last && q->last_part ? q->last_part : q->level;
}

lw_observe lwi_result_column_level(const lwi_result_columns *columns, int column)
{
    const lwi_result_entry *e = columns->entry;
    while (column >= e->n) column -= (e++)->n;
    return level_of(columns, e, e->part + column);
}

// Marks what matches below or at a level; returns how many columns.
static int mark(choosing *c, const char *pattern, lw_observe level)
{
    int n = 0, k = 0;
    for (int i = 0; i < c->all->nentry; i++) {
        const lwi_result_entry *e = &c->all->entry[i];
        for (int part = e->part; part < e->part + e->n; part++, k++) {
            const char *name = c->all->column[k].name;
            const bool measure = e->quantity->subject == LWI_RESULT_MEASURE; // of any level
            if (level_of(c->all, e, part) > level && !measure) continue;
            if (c->exactly ? strcmp(pattern, name) != 0 : !lwi_text_glob(pattern, name)) continue;
            c->chosen[k] = true;
            n++;
        }
    }
    return n;
}

static lw_status no_match(const choosing *c, const char *pattern)
{
    enum { MOST = 2000 }; // a distance costs microseconds
    const char *names[MOST];
    int n = 0;
    for (; n < MOST && n < c->all->n; n++) names[n] = c->all->column[n].name;
    const char *near = lwi_nearest(pattern, names, n);
    static const char measure[] = "measure.";
    const char *bare[MOST];
    int nbare = 0;
    for (int i = 0; i < n; i++) // the name of a measure alone
        if (!strncmp(names[i], measure, sizeof measure - 1))
            bare[nbare++] = names[i] + sizeof measure - 1;
    const char *alone = near && strchr(pattern, '.') ? NULL : lwi_nearest(pattern, bare, nbare);
    if (alone) near = alone - (sizeof measure - 1);
    return lwi_fail(c->error, LW_ERR_ARGUMENT, "columns: no column matches '%s'%s%s%s", pattern,
                    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// ----------------------------------------------------------------------------- reactions elsewhere

static lw_status grow_views(choosing *c)
{
    lwi_result_columns *out = c->out;
    if (out->nview < c->room) return LW_OK;
    const int room = c->room ? 2 * c->room : 16;
    lwi_result_view *view = LWI_PUSH(&out->arena, lwi_result_view, room);
    if (!view) return lwi_fail(c->error, LW_ERR_MEMORY, "no memory for the columns");
    if (out->nview) memcpy(view, out->view, (size_t)out->nview * sizeof *view);
    out->view = view, c->room = room;
    return LW_OK;
}

// The views at a place that there are already, by joint: 1 + index, 0: none.
static int *views_at(const choosing *c, const lwi_result_view *place)
{
    int *of = LWI_PUSH(&c->out->arena, int, c->model->njoint);
    for (int i = 0; of && i < c->out->nview; i++) {
        const lwi_result_view *view = &c->out->view[i];
        if (view->kind == place->kind && view->marker == place->marker) of[view->joint] = i + 1;
    }
    return of;
}

// One component, 0 to 5 of fx ... tz, of a joint's reaction.
static lw_status add_view(choosing *c, const lwi_result_view *place, int joint, unsigned part,
                          int *of)
{
    lwi_result_columns *out = c->out;
    if (!of[joint]) {
        TRY(grow_views(c));
        out->view[out->nview] = *place;
        out->view[out->nview].joint = joint;
        of[joint] = ++out->nview;
    }
    out->view[of[joint] - 1].parts |= 1u << part;
    return LW_OK;
}

static lw_status add_views(choosing *c, const char *pattern, const lwi_result_view *place)
{
    int n = 0, k = 0, *of = views_at(c, place);
    if (!of) return lwi_fail(c->error, LW_ERR_MEMORY, "no memory for the columns");
    for (int i = 0; i < c->all->nentry; k += c->all->entry[i++].n) {
        const lwi_result_entry *e = &c->all->entry[i];
        if (!lwi_result_is_reaction(e->quantity)) continue;
        const unsigned first = e->quantity == lwi_result_reaction_quantity(true) ? 3 : 0;
        for (int part = 0; part < e->n; part++) {
            const char *name = c->all->column[k + part].name;
            if (c->exactly ? strcmp(pattern, name) != 0 : !lwi_text_glob(pattern, name)) continue;
            TRY(add_view(c, place, e->item, first + (unsigned)part, of));
            n++;
        }
    }
    return n ? LW_OK : no_match(c, pattern);
}

static lw_status choose_pattern(choosing *c, char *pattern)
{
    char *at = strrchr(pattern, '@');
    lwi_result_view place;
    if (mark(c, pattern, c->level)) return LW_OK;
    if (at && lwi_result_view_find(c->model, at + 1, &place)) {
        *at = 0;
        return add_views(c, pattern, &place);
    }
    if (mark(c, pattern, LW_OBSERVE_MOMENTUM)) return LW_OK;
    if (!at) return no_match(c, pattern);
    return lwi_fail(c->error, LW_ERR_ARGUMENT,
                    "columns: '%s': expected F1, F2, body1, body2 or the name of a marker after @",
                    pattern);
}

static lw_status choose_all(choosing *c, char *patterns)
{
    for (char *pattern; (pattern = lwi_text_next_pattern(&patterns));)
        TRY(choose_pattern(c, pattern));
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- columns

// Entries of what is chosen: sequences of parts.  With `entry` NULL they are counted.
typedef struct listed {
    const lwi_result_columns *all;
    lwi_result_entry *entry;
    int nentry, n;
    lw_observe level;
} listed;

static void list_part(listed *l, const lwi_result_entry *e, int part, int n)
{
    if (l->entry) {
        l->entry[l->nentry] = *e;
        l->entry[l->nentry].first = e->first + part - e->part;
        l->entry[l->nentry].part = part;
        l->entry[l->nentry].n = n;
    }
    for (int k = part; k < part + n; k++)
        if (level_of(l->all, e, k) > l->level) l->level = level_of(l->all, e, k);
    l->nentry++, l->n += n;
}

static void list_entry(listed *l, const lwi_result_entry *e, bool *chosen)
{
    const int end = e->part + e->n;
    // the four numbers of a quaternion are together: their sign is that of the row before
    const int whole = e->quantity->quaternion && e->n >= 4 ? end - 4 : end;
    for (int part = whole; part < end; part++)
        if (chosen[part - e->part])
            for (int k = whole; k < end; k++) chosen[k - e->part] = true;
    for (int part = e->part; part < end;) {
        int next = part;
        while (next < (part < whole ? whole : end) && chosen[next - e->part]) next++;
        if (next > part) list_part(l, e, part, next - part);
        part = next > part ? next : part + 1;
    }
}

static void list_chosen(const choosing *c, listed *l)
{
    l->nentry = l->n = 0;
    int k = 0;
    for (int i = 0; i < c->all->nentry; k += c->all->entry[i++].n)
        list_entry(l, &c->all->entry[i], c->chosen + k);
    for (int v = 0; v < c->out->nview; v++)
        for (int part = 0; part < 6; part++) {
            const lwi_quantity *q = lwi_result_reaction_quantity(part >= 3);
            const lwi_result_entry e = {.quantity = q,
                                        .item = c->out->view[v].joint,
                                        .first = 6 * v + part,
                                        .part = part % 3,
                                        .n = 1,
                                        .view = v + 1};
            if (c->out->view[v].parts >> part & 1) list_part(l, &e, part % 3, 1);
        }
}

// Makes the columns of what is chosen.
static lw_status finish(choosing *c)
{
    lwi_result_columns *out = c->out;
    listed l = {.all = c->all};
    list_chosen(c, &l);
    l.entry = LWI_PUSH(&out->arena, lwi_result_entry, l.nentry);
    if (!l.entry) return lwi_fail(c->error, LW_ERR_MEMORY, "no memory for the columns");
    list_chosen(c, &l);
    out->entry = l.entry, out->nentry = l.nentry, out->level = l.level;
    if (lwi_result_columns_name(out, c->model) == LW_OK) return LW_OK;
    return lwi_fail(c->error, LW_ERR_MEMORY, "no memory for the columns");
}

static lw_status begin(choosing *c)
{
    *c->out = (lwi_result_columns){0};
    lwi_arena_init(&c->out->arena, NULL);
    c->chosen = LWI_PUSH(&c->out->arena, bool, c->all->n);
    if (!c->chosen) return lwi_fail(c->error, LW_ERR_MEMORY, "no memory for the columns");
    c->chosen[0] = true; // the time
    for (int i = 0, k = 0; !c->exactly && i < c->all->nentry; k += c->all->entry[i++].n)
        if (c->all->entry[i].quantity == lwi_result_event_quantity()) c->chosen[k] = true;
    return LW_OK;
}

lw_status lwi_result_columns_exactly(const lw_model *model, const char *const *names, int n,
                                     lwi_result_columns *columns, lw_error *error)
{
    lwi_result_columns all;
    if (lwi_result_columns_of_model(model, LW_OBSERVE_MOMENTUM, &all) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    choosing c = {.model = model,
                  .level = LW_OBSERVE_MOMENTUM,
                  .all = &all,
                  .out = columns,
                  .error = error,
                  .exactly = true};
    lw_status status = begin(&c);
    for (int i = 0; i < n && status == LW_OK; i++) {
        char *copy = lwi_arena_text(&all.arena, names[i]);
        status = copy ? choose_pattern(&c, copy)
                      : lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    }
    if (status == LW_OK) status = finish(&c);
    lwi_result_columns_free(&all);
    if (status != LW_OK) lwi_result_columns_free(columns);
    return status;
}

// All columns of a level, and after them the measures of the model with what they need.
static lw_status of_model(const lw_model *model, lw_observe level, lwi_result_columns *c,
                          lw_error *error)
{
    const int n = model->desc.nmeasure;
    if (lwi_result_columns_of_model(model, level, c) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    if (n == 0) return LW_OK;
    lw_status status = lwi_measures_create(model, &c->measures, error);
    lwi_result_entry *entry = LWI_PUSH(&c->arena, lwi_result_entry, c->nentry + n);
    if (status == LW_OK && entry) {
        memcpy(entry, c->entry, (size_t)c->nentry * sizeof *entry);
        for (int i = 0; i < n; i++) {
            entry[c->nentry++] = (lwi_result_entry){
                .quantity = lwi_result_measure_quantity(), .item = i, .first = i, .n = 1};
            const lw_observe needs = lwi_measure_level(c->measures, i);
            if (needs > c->level) c->level = needs;
        }
        c->entry = entry;
        status = lwi_result_columns_name(c, model);
    }
    if (status == LW_OK && !entry) status = LW_ERR_MEMORY;
    if (status == LW_ERR_MEMORY) lwi_fail(error, status, "no memory for the columns");
    if (status != LW_OK) lwi_result_columns_free(c);
    return status;
}

static bool takes_all(const char *patterns)
{
    return !patterns || !*patterns || !strcmp(patterns, "auto");
}

lw_status lwi_result_columns_unnamed(const lw_model *model, lw_observe level, const char *patterns,
                                     lwi_result_columns *c, lw_error *error)
{
    if (!takes_all(patterns) || model->desc.nmeasure)
        return lwi_result_columns_choose(model, level, patterns, c, error);
    *c = (lwi_result_columns){.level = level};
    lwi_arena_init(&c->arena, NULL);
    if (lwi_result_entries(model, level, &c->arena, &c->entry, &c->nentry) != LW_OK) {
        lwi_result_columns_free(c);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    }
    for (int i = 0; i < c->nentry; i++) c->n += c->entry[i].n;
    return LW_OK;
}

lw_status lwi_result_columns_choose(const lw_model *model, lw_observe level, const char *patterns,
                                    lwi_result_columns *columns, lw_error *error)
{
    lwi_result_columns all;
    if (takes_all(patterns)) return of_model(model, level, columns, error);
    TRY(of_model(model, LW_OBSERVE_MOMENTUM, &all, error));
    choosing c = {.model = model, .level = level, .all = &all, .out = columns, .error = error};
    lw_status status = begin(&c);
    char *copy = lwi_arena_text(&all.arena, patterns);
    if (status == LW_OK)
        status = copy ? choose_all(&c, copy)
                      : lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    columns->measures = all.measures; // they name units, and go with the columns
    if (status == LW_OK) status = finish(&c);
    bool measured = false;
    for (int i = 0; status == LW_OK && i < columns->nentry; i++)
        measured |= columns->entry[i].quantity->subject == LWI_RESULT_MEASURE;
    if (measured || status != LW_OK)
        all.measures = NULL;
    else
        columns->measures = NULL;
    lwi_result_columns_free(&all);
    if (status != LW_OK) lwi_result_columns_free(columns);
    return status;
}
