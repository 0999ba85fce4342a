// select.c -- selects the columns of each panel, and their names in the key.
//
// A column is "kind.NAME.what" ("body.load.x"; NAME may contain dots) or "sys.what".
#include "plot/select.h"

#include "base/assert.h"
#include "io/text.h"
#include "plot/derived.h"
#include "plot/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PHASES = 16 }; // panels of a phase picture

typedef struct selecting {
    const lwi_plot_table *table;
    const lw_plot_options *options;
    lwi_arena *arena;
    lwi_plot_selection *out;
    int x; // column
    lw_error *error;
    int *by_name; // [columns] sorted by name, equal names in order
    bool *taken;  // [columns] are in the panel that is being filled
} selecting;

// ------------------------------------------------------------------------------------------ tables

static const char *name_of(const selecting *s, int column)
{
    return s->table->info[column].name;
}
static const char *unit_of(const selecting *s, int column)
{
    return s->table->info[column].unit;
}

// The first column of that name; -1: none.
static int find(const selecting *s, const char *name)
{
    int low = 0, high = s->table->n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (strcmp(name_of(s, s->by_name[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < s->table->n && !strcmp(name_of(s, s->by_name[low]), name);
    return found ? s->by_name[low] : -1;
}

static lw_status no_memory(const selecting *s)
{
    return lwi_fail(s->error, LW_ERR_MEMORY, "no memory for the panels of a picture");
}

typedef struct named {
    const char *name;
    int column;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->column - y->column;
}

static lw_status sort_names(selecting *s)
{
    const int n = s->table->n;
    named *list = LWI_PUSH(s->arena, named, n);
    s->by_name = LWI_PUSH(s->arena, int, n);
    s->taken = LWI_PUSH(s->arena, bool, n);
    if (!list || !s->by_name || !s->taken) return no_memory(s);
    for (int i = 0; i < n; i++) list[i] = (named){name_of(s, i), i};
    qsort(list, (size_t)n, sizeof *list, by_name);
    for (int i = 0; i < n; i++) s->by_name[i] = list[i].column;
    return LW_OK;
}

static lw_status unknown_column(const selecting *s, const char *name)
{
    const char **names = LWI_PUSH(s->arena, const char *, s->table->n);
    if (!names) return no_memory(s);
    for (int i = 0; i < s->table->n; i++) names[i] = name_of(s, i);
    const char *nearest = lwi_nearest(name, names, s->table->n);
    if (strpbrk(name, "*?"))
        return lwi_fail(s->error, LW_ERR_ARGUMENT, "no column matches '%s'%s%s", name,
                        s->table->n > 1 ? "; the columns are called like " : "",
                        s->table->n > 1 ? name_of(s, 1) : "");
    return lwi_fail(s->error, LW_ERR_ARGUMENT, "no column is called '%s'%s%s", name,
                    nearest ? ", did you mean " : "", nearest ? nearest : "");
}

// "kind.NAME.what": NAME and what, if the column is of this kind.
static bool split(const char *column, const char *kind, const char **name, int *length,
                  const char **what)
{
    const size_t n = strlen(kind);
    if (strncmp(column, kind, n) != 0 || column[n] != '.') return false;
    const char *dot = strrchr(column, '.');
    if (dot <= column + n) return false;
    *name = column + n + 1, *length = (int)(dot - *name), *what = dot + 1;
    return true;
}

static const char *copy_text(const selecting *s, const char *text, int length)
{
    char *copy = LWI_PUSH(s->arena, char, length + 1);
    if (copy) memcpy(copy, text, (size_t)length);
    return copy;
}

// ------------------------------------------------------------------------------------------ panels

// A new panel, with memory for `room` curves.
static lwi_plot_choice *add_panel(selecting *s, const char *title, const char *unit, int room)
{
    lwi_plot_choice *p = &s->out->panel[s->out->npanel];
    *p = (lwi_plot_choice){.title = title,
                           .unit = unit,
                           .x = s->x,
                           .log = s->options->log,
                           .room = room,
                           .quantity = LWI_PUSH(s->arena, lwi_plot_quantity, room)};
    if (!p->quantity) return NULL;
    s->out->npanel++;
    return p;
}

static void add_quantity(lwi_plot_choice *p, const char *name, lwi_plot_measure measure, int a,
                         int b, int c)
{
    LWI_ASSERT_INDEX(p->nquantity, p->room);
    p->quantity[p->nquantity++] = (lwi_plot_quantity){name, measure, {a, b, c}};
}

static void drop_empty(selecting *s)
{
    int kept = 0;
    for (int i = 0; i < s->out->npanel; i++)
        if (s->out->panel[i].nquantity) s->out->panel[kept++] = s->out->panel[i];
    s->out->npanel = kept;
}

// ------------------------------------------------------------------------------------- lists of y

// Lengths of the common beginning and the common end of all names, whole parts between dots.
static void shared_parts(const selecting *s, const lwi_plot_choice *p, size_t *front, size_t *back)
{
    const char *first = name_of(s, p->quantity[0].column[0]);
    const size_t length = strlen(first);
    size_t a = length, b = length;
    for (int i = 1; i < p->nquantity; i++) {
        const char *other = name_of(s, p->quantity[i].column[0]);
        const size_t n = strlen(other);
        size_t k = 0;
        while (k < a && k < n && first[k] == other[k]) k++;
        a = k;
        for (k = 0; k < b && k < n && first[length - 1 - k] == other[n - 1 - k];) k++;
        b = k;
    }
    while (a > 0 && first[a - 1] != '.') a--;
    while (b > 0 && first[length - b] != '.') b--;
    for (int i = 0; i < p->nquantity; i++) // "a.a" and "a.b.a": the parts may not overlap
        while (a + b >= strlen(name_of(s, p->quantity[i].column[0])) && b > 0) b = 0;
    *front = a, *back = b;
}

// body.load.x, body.trolley.x: title "body.*.x", key "load", "trolley".
static lw_status name_panel(selecting *s, lwi_plot_choice *p)
{
    const char *first = name_of(s, p->quantity[0].column[0]);
    size_t front, back;
    if (p->nquantity == 1) {
        p->title = first, p->quantity[0].name = "";
        return LW_OK;
    }
    shared_parts(s, p, &front, &back);
    char *title = LWI_PUSH(s->arena, char, front + back + 16);
    if (!title) return no_memory(s);
    sprintf(title, "%.*s%s%s", (int)front, first, front || back ? "*" : "",
            first + strlen(first) - back);
    p->title = title;
    for (int i = 0; i < p->nquantity; i++) {
        const char *name = name_of(s, p->quantity[i].column[0]);
        p->quantity[i].name = copy_text(s, name + front, (int)(strlen(name) - front - back));
        if (!p->quantity[i].name) return no_memory(s);
    }
    return LW_OK;
}

// The units of the panel's columns, each once: "m, m/s".
static lw_status unite_units(selecting *s, lwi_plot_choice *p)
{
    char *units = LWI_PUSH(s->arena, char, 256);
    if (!units) return no_memory(s);
    for (int i = 0; i < p->nquantity; i++) {
        const char *unit = unit_of(s, p->quantity[i].column[0]);
        bool known = !*unit;
        for (int k = 0; k < i && !known; k++)
            known = !strcmp(unit_of(s, p->quantity[k].column[0]), unit);
        const size_t used = strlen(units);
        if (!known) snprintf(units + used, 256 - used, "%s%s", used ? ", " : "", unit);
    }
    p->unit = units;
    return LW_OK;
}

static lw_status add_matching(selecting *s, lwi_plot_choice *p, const char *pattern)
{
    const int exact = find(s, pattern);
    bool matched = exact >= 0;
    for (int i = 0; i < s->table->n; i++) {
        if (exact >= 0 ? i != exact : i == s->x || !lwi_text_glob(pattern, name_of(s, i))) continue;
        matched = true;
        if (!s->taken[i]) add_quantity(p, name_of(s, i), LWI_PLOT_VALUE, i, -1, -1);
        s->taken[i] = true;
    }
    return matched ? LW_OK : unknown_column(s, pattern);
}

static lw_status add_list(selecting *s, const char *list)
{
    lwi_plot_choice *p = add_panel(s, "", "", s->table->n);
    if (!p) return no_memory(s);
    memset(s->taken, 0, (size_t)s->table->n * sizeof *s->taken);
    if (find(s, list) >= 0) { // a name may contain commas
        TRY(add_matching(s, p, list));
    } else {
        for (const char *at = list, *item; *at;) {
            const int length = lwi_plot_next_item(&at, &item);
            const char *pattern = copy_text(s, item, length);
            if (!pattern) return no_memory(s);
            if (length) TRY(add_matching(s, p, pattern));
        }
    }
    if (!p->nquantity) return unknown_column(s, list);
    TRY(name_panel(s, p));
    return unite_units(s, p);
}

// ----------------------------------------------------------------------------------------- presets

static bool is_coordinate(const char *what)
{
    return what[0] == 'q' && what[1] >= '0' && what[1] <= '9';
}

// Is the column joint.NAME.<letters><number>?
static bool is_joint_series(const selecting *s, int column, const char *letters, const char **name,
                            int *length, const char **what)
{
    const size_t n = strlen(letters);
    return split(name_of(s, column), "joint", name, length, what) && !strncmp(*what, letters, n) &&
           (*what)[n] >= '0' && (*what)[n] <= '9';
}

// "hinge", or "hinge.q0" where the joint has more than one of them.
static const char *series_key(const selecting *s, const char *name, int length, const char *letters,
                              const char *what)
{
    const size_t size = (size_t)length + strlen(what) + 24;
    char *key = lwi_arena_push(s->arena, size, 1);
    if (!key) return NULL;
    snprintf(key, size, "joint.%.*s.%s1", length, name, letters);
    const bool several = find(s, key) >= 0;
    snprintf(key, size, "%.*s%s%s", length, name, several ? "." : "", several ? what : "");
    return key;
}

// CSV results have the unit "m or rad": a few such coordinates have a panel each.
static bool apart(const selecting *s, const char *letters)
{
    enum { FEW = 4 };
    const char *name, *what;
    int length, n = 0;
    for (int i = 0; i < s->table->n; i++)
        n += is_joint_series(s, i, letters, &name, &length, &what) && strstr(unit_of(s, i), " or ");
    return n > 0 && n <= FEW;
}

// Columns joint.NAME.<letters><number>, in one panel per unit.
static lw_status add_joint_series(selecting *s, const char *letters, const char *title)
{
    const int first = s->out->npanel;
    const bool alone = apart(s, letters);
    for (int i = 0; i < s->table->n; i++) {
        const char *name, *what;
        int length;
        if (!is_joint_series(s, i, letters, &name, &length, &what)) continue;
        lwi_plot_choice *p = NULL;
        for (int k = first; k < s->out->npanel && !p && !alone; k++)
            if (!strcmp(s->out->panel[k].unit, unit_of(s, i))) p = &s->out->panel[k];
        if (!p) p = add_panel(s, title, unit_of(s, i), s->table->n);
        const char *key = series_key(s, name, length, letters, what);
        if (!p || !key) return no_memory(s);
        add_quantity(p, key, LWI_PLOT_VALUE, i, -1, -1);
    }
    return LW_OK;
}

static lw_status select_joints(selecting *s)
{
    TRY(add_joint_series(s, "q", "joint coordinates"));
    return add_joint_series(s, "qd", "joint rates");
}

static lw_status select_positions(selecting *s)
{
    static const char *const axes[] = {"x", "y", "z"};
    static const char *const titles[] = {"x of mass centres", "y of mass centres",
                                         "z of mass centres"};
    for (int k = 0; k < 3; k++) {
        lwi_plot_choice *p = add_panel(s, titles[k], "m", s->table->n);
        if (!p) return no_memory(s);
        for (int i = 0; i < s->table->n; i++) {
            const char *name, *what;
            int length;
            if (!split(name_of(s, i), "body", &name, &length, &what) || strcmp(what, axes[k]) != 0)
                continue;
            const char *key = copy_text(s, name, length);
            if (!key) return no_memory(s);
            add_quantity(p, key, LWI_PLOT_VALUE, i, -1, -1);
        }
    }
    return LW_OK;
}

// Potential and total energy relative to the first row: only changes are meaningful.
static lw_status select_energies(selecting *s, bool drift)
{
    const int T = find(s, "sys.T"), V = find(s, "sys.V");
    const int E = find(s, "sys.E"), W = find(s, "sys.Wnc");
    lwi_plot_choice *p = add_panel(s, "energy", "J", 3);
    if (!p) return no_memory(s);
    if (T >= 0) add_quantity(p, "kinetic T", LWI_PLOT_VALUE, T, -1, -1);
    if (V >= 0) add_quantity(p, "potential V \u2212 V\u2080", LWI_PLOT_CHANGE, V, -1, -1);
    if (E >= 0) add_quantity(p, "total E \u2212 E\u2080", LWI_PLOT_CHANGE, E, -1, -1);
    if (!drift || E < 0 || W < 0) return LW_OK;
    p = add_panel(s, "drift of E \u2212 Wnc", "J", 1);
    if (!p) return no_memory(s);
    add_quantity(p, "", LWI_PLOT_BALANCE, E, W, -1);
    return LW_OK;
}

// A panel per level: their units differ.
static lw_status select_residuals(selecting *s)
{
    static const char *const columns[] = {"sys.cpos", "sys.cvel", "sys.cacc"};
    static const char *const titles[] = {"largest residual of the constraints: positions",
                                         "velocities", "accelerations"};
    for (int i = 0; i < LWI_COUNT(columns); i++) {
        const int column = find(s, columns[i]);
        if (column < 0) continue;
        lwi_plot_choice *p = add_panel(s, titles[i], unit_of(s, column), 1);
        if (!p) return no_memory(s);
        add_quantity(p, "", LWI_PLOT_VALUE, column, -1, -1);
        p->log = true;
    }
    return LW_OK;
}

static lw_status select_reactions(selecting *s)
{
    static const struct {
        const char *title, *unit, *what[3];
    } panels[] = {{"size of joint forces", "N", {"fx", "fy", "fz"}},
                  {"size of joint torques", "N m", {"tx", "ty", "tz"}}};
    for (int k = 0; k < LWI_COUNT(panels); k++) {
        lwi_plot_choice *p = add_panel(s, panels[k].title, panels[k].unit, s->table->n);
        if (!p) return no_memory(s);
        for (int i = 0; i + 2 < s->table->n; i++) { // the three components are adjacent
            const char *name, *what, *name1, *what1, *name2, *what2;
            int length, length1, length2;
            if (!split(name_of(s, i), "joint", &name, &length, &what) ||
                !split(name_of(s, i + 1), "joint", &name1, &length1, &what1) ||
                !split(name_of(s, i + 2), "joint", &name2, &length2, &what2))
                continue;
            if (strcmp(what, panels[k].what[0]) != 0 || strcmp(what1, panels[k].what[1]) != 0 ||
                strcmp(what2, panels[k].what[2]) != 0)
                continue;
            const char *key = copy_text(s, name, length);
            if (!key) return no_memory(s);
            add_quantity(p, key, LWI_PLOT_SIZE, i, i + 1, i + 2);
        }
    }
    return LW_OK;
}

// One panel per pair qK, qdK.
static lw_status select_phases(selecting *s)
{
    int left_out = 0;
    for (int i = 0; i < s->table->n; i++) {
        const char *name, *what;
        int length;
        if (!split(name_of(s, i), "joint", &name, &length, &what) || !is_coordinate(what)) continue;
        char *rate = LWI_PUSH(s->arena, char, length + 32);
        char *title = LWI_PUSH(s->arena, char, length + 32);
        if (!rate || !title) return no_memory(s);
        snprintf(rate, (size_t)length + 32, "joint.%.*s.qd%s", length, name, what + 1);
        const int column = find(s, rate);
        if (column < 0) continue;
        if (s->out->npanel == MAX_PHASES) {
            left_out++;
            continue;
        }
        snprintf(title, (size_t)length + 32, "%.*s.qd%s", length, name, what + 1);
        lwi_plot_choice *p = add_panel(s, title, unit_of(s, column), 1);
        if (!p) return no_memory(s);
        char *x_title = LWI_PUSH(s->arena, char, length + 32);
        if (!x_title) return no_memory(s);
        snprintf(x_title, (size_t)length + 32, "%.*s.%s", length, name, what);
        p->x = i, p->x_title = x_title;
        add_quantity(p, "", LWI_PLOT_VALUE, column, -1, -1);
    }
    const int n = s->out->npanel;
    s->out->shared_x = false;
    while (s->out->columns * s->out->columns < n) s->out->columns++;
    if (n == 2) s->out->columns = 2;
    if (!left_out) return LW_OK;
    char *note = LWI_PUSH(s->arena, char, 96);
    if (!note) return no_memory(s);
    snprintf(note, 96, "%d of %d coordinates; others by --x and --y", n, n + left_out);
    s->out->note = note;
    return LW_OK;
}

static lw_status select_overview(selecting *s)
{
    TRY(add_joint_series(s, "q", "joint coordinates"));
    if (!s->out->npanel) TRY(select_positions(s));
    return select_energies(s, false);
}

static lw_status select_preset(selecting *s)
{
    switch (s->options->preset) {
    case LW_PLOT_JOINTS:
        return select_joints(s);
    case LW_PLOT_POSITIONS:
        return select_positions(s);
    case LW_PLOT_ENERGY:
        return select_energies(s, true);
    case LW_PLOT_RESIDUALS:
        return select_residuals(s);
    case LW_PLOT_REACTIONS:
        return select_reactions(s);
    case LW_PLOT_PHASE:
        return select_phases(s);
    default:
        return select_overview(s);
    }
}

// -------------------------------------------------------------------------------------------- all

static lw_status select_x(selecting *s)
{
    const char *name = s->options->x ? s->options->x : "time";
    s->x = find(s, name);
    return s->x < 0 ? unknown_column(s, name) : LW_OK;
}

lw_status lwi_plot_select(const lwi_plot_table *table, const lw_plot_options *options,
                          lwi_arena *arena, lwi_plot_selection *selection, lw_error *error)
{
    *selection = (lwi_plot_selection){.columns = 1, .shared_x = true};
    selecting s = {
        .table = table, .options = options, .arena = arena, .out = selection, .error = error};
    selection->panel = LWI_PUSH(arena, lwi_plot_choice, table->n + LW_PLOT_MAX_PANELS + 8);
    if (!selection->panel) return no_memory(&s);
    TRY(sort_names(&s));
    TRY(select_x(&s));
    if (options->ny && options->has_preset)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "columns (y) and preset %s are both given; expected one of them",
                        lwi_plot_preset_name(options->preset));
    if (options->x && options->preset == LW_PLOT_PHASE)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "preset phase sets x itself; expected x together with y");
    for (int i = 0; i < options->ny; i++) TRY(add_list(&s, options->y[i]));
    if (!options->ny) TRY(select_preset(&s));
    drop_empty(&s);
    if (selection->npanel) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "preset %s: the result has none of its columns; expected one with %s",
                    lwi_plot_preset_name(options->preset),
                    options->preset == LW_PLOT_PHASE || options->preset == LW_PLOT_JOINTS
                        ? "joint coordinates that are single numbers"
                    : options->preset == LW_PLOT_REACTIONS ? "joint reactions"
                    : options->preset == LW_PLOT_POSITIONS ? "bodies"
                                                           : "system columns (sys.E, sys.cpos)");
}
