// choose.c -- the columns of a result that patterns choose: "joint.*.f*, spring.strut.*, joint.A.fx@F1".
//
// A pattern chooses among the columns of the level of the rows; one that matches none of them among those of all levels.
// Text behind an @ is the place where a reaction is wanted (view.h): such columns are new ones, after all others.
#include "base/assert.h"
#include "io/result/columns.h"
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
    int room; ///< of out->view
} choosing;

// ---------------------------------------------------------------------------------------- matching

static lw_observe level_of(const lwi_result_entry *e, int part)
{
    const lwi_quantity *q = e->quantity;
    const bool last = !q->numbered && part == lwi_quantity_part_count(q) - 1;
    return last && q->last_part ? q->last_part : q->level;
}

// Marks what matches below or at a level; returns how many columns.
static int mark(choosing *c, const char *pattern, lw_observe level)
{
    int n = 0, k = 0;
    for (int i = 0; i < c->all->nentry; i++) {
        const lwi_result_entry *e = &c->all->entry[i];
        for (int part = e->part; part < e->part + e->n; part++, k++) {
            if (level_of(e, part) > level || !lwi_text_glob(pattern, c->all->column[k].name))
                continue;
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
    return lwi_fail(c->error, LW_ERR_ARGUMENT, "columns: no column matches '%s'%s%s%s", pattern,
                    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// ----------------------------------------------------------------------------- reactions elsewhere

static bool find_place(const lw_model *m, const char *text, lwi_result_view *view)
{
    static const char *const places[] = {[LWI_VIEW_F1] = "F1",
                                         [LWI_VIEW_F2] = "F2",
                                         [LWI_VIEW_BODY1] = "body1",
                                         [LWI_VIEW_BODY2] = "body2"};
    for (int i = 0; i < LWI_COUNT(places); i++)
        if (!strcmp(text, places[i])) {
            *view = (lwi_result_view){.kind = (lwi_view_kind)i, .name = places[i]};
            return true;
        }
    for (int i = 0; i < m->desc.nmarker; i++)
        if (!strcmp(text, m->desc.marker[i].name)) {
            *view = (lwi_result_view){
                .kind = LWI_VIEW_MARKER, .marker = i, .name = m->desc.marker[i].name};
            return true;
        }
    return false;
}

// Is an entry a reaction, of which the force or torque can be wanted elsewhere?
static bool is_reaction(const lwi_result_entry *e)
{
    return e->quantity->subject == LWI_RESULT_REACTION &&
           e->quantity->level == LW_OBSERVE_REACTION && !e->quantity->impacts;
}

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
        if (!is_reaction(e)) continue;
        const unsigned first = e->quantity == lwi_result_reaction_quantity(true) ? 3 : 0;
        for (int part = 0; part < e->n; part++) {
            if (!lwi_text_glob(pattern, c->all->column[k + part].name)) continue;
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
    if (at && find_place(c->model, at + 1, &place)) {
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
    for (char *pattern = patterns, *next; pattern; pattern = next) {
        next = strchr(pattern, ',');
        if (next) *next++ = 0;
        while (*pattern == ' ') pattern++;
        char *end = pattern + strlen(pattern);
        while (end > pattern && end[-1] == ' ') *--end = 0;
        if (*pattern) TRY(choose_pattern(c, pattern));
    }
    c->chosen[0] = true; // the time
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- columns

// Entries of what is chosen: sequences of parts.  With `entry` NULL they are counted.
typedef struct listed {
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
        if (level_of(e, k) > l->level) l->level = level_of(e, k);
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

lw_status lwi_result_columns_choose(const lw_model *model, lw_observe level, const char *patterns,
                                    lwi_result_columns *columns, lw_error *error)
{
    lwi_result_columns all;
    if (!patterns || !*patterns || !strcmp(patterns, "auto")) {
        if (lwi_result_columns_of_model(model, level, columns) == LW_OK) return LW_OK;
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    }
    *columns = (lwi_result_columns){0};
    if (lwi_result_columns_of_model(model, LW_OBSERVE_MOMENTUM, &all) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    lwi_arena_init(&columns->arena, NULL);
    choosing c = {.model = model, .level = level, .all = &all, .out = columns, .error = error};
    listed l = {0};
    c.chosen = LWI_PUSH(&all.arena, bool, all.n);
    char *copy = lwi_arena_text(&all.arena, patterns);
    lw_status status = c.chosen && copy
                           ? choose_all(&c, copy)
                           : lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    if (status == LW_OK) {
        list_chosen(&c, &l);
        l.entry = LWI_PUSH(&columns->arena, lwi_result_entry, l.nentry);
        if (l.entry) list_chosen(&c, &l);
        columns->entry = l.entry, columns->nentry = l.nentry;
        if (!l.entry || lwi_result_columns_name(columns, model) != LW_OK)
            status = lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
        columns->level = l.level;
    }
    lwi_result_columns_free(&all);
    if (status != LW_OK) lwi_result_columns_free(columns);
    return status;
}
