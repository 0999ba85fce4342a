// columns.c -- the columns of a result: names and what they mean.
//
// A name is KIND.ITEM.PART ("joint.hinge.q0"; "sys.E" has no item).  Kind and part determine the
// quantity, and with it unit and frame.
#include "base/assert.h"
#include "base/numbers.h"
#include "io/result/columns.h"
#include "io/result/measures.h"
#include "io/text.h"
#include "model/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- names

typedef struct meaning {
    const lwi_quantity *quantity; ///< NULL: unknown
    int part;                     ///< numbered: the number
    const char *item;             ///< in the name; NULL: none
    int item_length;
    const char *at; ///< of a reaction elsewhere: where; NULL: none
} meaning;

// "qd12" of "qd": 12; -1 where it is something else.
static int number_after(const char *what, const char *letters)
{
    const size_t n = strlen(letters);
    const char *digits = what + n;
    if (strncmp(what, letters, n) != 0 || strspn(digits, "0123456789") != strlen(digits)) return -1;
    if (!*digits || strlen(digits) > 3 || (digits[0] == '0' && digits[1])) return -1;
    return atoi(digits);
}

// Index of the part of that name, or -1.
static int find_part(const lwi_quantity *q, const char *name)
{
    if (q->numbered) return number_after(name, q->part[0]);
    for (int k = lwi_quantity_part_count(q); k-- > 0;)
        if (!strcmp(q->part[k], name)) return k;
    return -1;
}

static meaning find_quantity(const char *prefix, size_t length, const char *part)
{
    const lwi_quantity *q;
    for (int i = 0; length > 0 && (q = lwi_result_quantity_at(i)); i++) {
        const char *own = lwi_result_column_prefix(q);
        if (strlen(own) != length || strncmp(own, prefix, length) != 0) continue;
        const int k = find_part(q, part);
        if (k >= 0) return (meaning){.quantity = q, .part = k};
    }
    return (meaning){0};
}

// The name up to `length`.
static meaning read_part(const char *name, size_t length)
{
    char part[LWI_QUANTITY_NAME];
    const char *first = memchr(name, '.', length), *last = name + length;
    if (!first) return (meaning){0};
    while (*--last != '.') continue;
    const size_t n = length - (size_t)(last + 1 - name);
    if (n >= sizeof part) return (meaning){0};
    memcpy(part, last + 1, n);
    part[n] = 0;
    meaning m = find_quantity(name, (size_t)(first - name), part);
    const bool system = m.quantity && m.quantity->subject == LWI_RESULT_SYSTEM;
    if (!m.quantity || system != (first == last)) return (meaning){0};
    if (system) return m;
    m.item = first + 1;
    m.item_length = (int)(last - first) - 1;
    return m.item_length > 0 ? m : (meaning){0};
}

// Behind an @ is where a reaction is wanted: F1, ..., or a marker of any name.
static meaning read_name(const char *name)
{
    const lwi_quantity *measure = lwi_result_measure_quantity();
    const char *kind = lwi_result_column_prefix(measure);
    const size_t n = strlen(kind);
    if (!strncmp(name, kind, n) && name[n] == '.' && name[n + 1])
        return (meaning){
            .quantity = measure, .item = name + n + 1, .item_length = (int)strlen(name + n + 1)};
    meaning m = read_part(name, strlen(name));
    for (const char *at = name; !m.quantity && (at = strchr(at, '@')); at++) {
        m = read_part(name, (size_t)(at - name));
        if (m.quantity && m.quantity->subject != LWI_RESULT_REACTION) m = (meaning){0};
        if (m.quantity) m.at = at + 1;
    }
    return m;
}

const lwi_quantity *lwi_result_column_quantity(const char *name)
{
    const lwi_quantity *time = lwi_result_quantity_at(0);
    return !strcmp(name, time->part[0]) ? time : read_name(name).quantity;
}

lw_status lwi_result_pose_columns(const lw_result *result, const char *body, int column[7],
                                  lw_error *error)
{
    int n = 0;
    const lwi_quantity *q;
    for (int i = 0; (q = lwi_result_quantity_at(i)); i++) {
        if (q->subject != LWI_RESULT_BODY || q->level != LW_OBSERVE_POSE) continue;
        for (int k = 0; k < lwi_quantity_part_count(q); k++) {
            char name[LWI_NAME_LENGTH + 16];
            LWI_ASSERT_INDEX(n, 7);
            snprintf(name, sizeof name, "%s.%s.%s", lwi_result_column_prefix(q), body, q->part[k]);
            const lw_status status = lw_result_find_column(result, name, &column[n++], NULL);
            if (status != LW_OK)
                return lwi_fail(
                    error, status,
                    "the result has no column '%s': it belongs to another model, or has no poses",
                    name);
        }
    }
    LWI_ASSERT(n == 7);
    return LW_OK;
}

void lwi_result_column_meaning(const char *name, const char **unit, const char **frame)
{
    const meaning m = read_name(name);
    const lwi_quantity *q = lwi_result_column_quantity(name);
    *unit = q ? lwi_result_part_unit(q, m.part) : "";
    *frame = q ? q->frame : "";
    static const char *const places[] = {"F1", "F2", "body1", "body2"};
    if (m.at) *frame = "marker";
    for (int i = 0; m.at && i < LWI_COUNT(places); i++)
        if (!strcmp(m.at, places[i])) *frame = places[i];
}

// ----------------------------------------------------------------------------- columns of a model

// A single joint coordinate is a length or an angle.
static const char *unit_of(const lwi_result_columns *c, const lw_model *model,
                           const lwi_result_entry *e, int part)
{
    const lwi_quantity *q = e->quantity;
    if (q->subject == LWI_RESULT_MEASURE) return lwi_measure_unit(c->measures, e->item);
    if (q->subject == LWI_RESULT_FORCE)
        return lwi_output_unit(model, &model->output[e->item], q, part);
    if (!q->numbered) return lwi_result_part_unit(q, part);
    const lwi_joint_type *type = model->joint[e->item].type;
    return q->unit[!type->scalar ? 0 : type->angles & (1u << part) ? 2 : 1];
}

// What the names of an entry begin with, "body.rod.": the same for entries side by side.
typedef struct stem {
    char *text;
    size_t room, length;
    const lwi_quantity *of;
    int item;
} stem;

// Whether an entry has the stem that was made last.
static inline bool has_stem(const stem *s, const lwi_result_entry *e)
{
    const lwi_quantity *q = e->quantity;
    return s->of && s->item == e->item && s->of->subject == q->subject && s->of->kind == q->kind;
}

// Makes the stem of an entry.
static lw_status make_stem(stem *s, lwi_arena *arena, const lw_model *model,
                           const lwi_result_entry *e)
{
    const char *prefix = lwi_result_column_prefix(e->quantity);
    const char *item = lwi_result_item_name(model, e);
    const size_t before = strlen(prefix), length = strlen(item), need = before + length + 3;
    if (need > s->room) {
        const size_t room = (2 * need + LWI_STEM_PIECE - 1) / LWI_STEM_PIECE * LWI_STEM_PIECE;
        s->text = lwi_arena_chars(arena, room);
        if (!s->text) return LW_ERR_MEMORY;
        s->room = room;
    }
    s->of = e->quantity, s->item = e->item;
    char *end = s->text;
    memcpy(end, prefix, before), end += before;
    if (before) *end++ = '.';
    memcpy(end, item, length), end += length;
    if (length && *e->quantity->part[0]) *end++ = '.';
    *end = 0;
    s->length = (size_t)(end - s->text);
    return LW_OK;
}

// Ends of the names of reactions elsewhere: "fx@F1".
static lw_status put_place(lwi_arena *arena, const char *place, lwi_result_names *names)
{
    names->elsewhere = true;
    for (int k = 0; k < names->n; k++) {
        const size_t part = strlen(names->end[k]), length = strlen(place);
        char *end = lwi_arena_chars(arena, part + length + 2);
        if (!end) return LW_ERR_MEMORY;
        memcpy(end, names->end[k], part);
        end[part] = '@';
        memcpy(end + part + 1, place, length + 1);
        names->end[k] = end;
    }
    return LW_OK;
}

// Ends of the names of an entry.
static lw_status put_ends(const lwi_result_columns *c, const lwi_result_entry *e, lwi_arena *arena,
                          lwi_result_names *names)
{
    const lwi_quantity *q = e->quantity;
    LWI_ASSERT(e->n >= 1 && e->n <= (q->numbered ? 1 : LWI_QUANTITY_PARTS));
    names->n = e->n;
    names->elsewhere = false;
    if (q->numbered) {
        char *to = names->numbered;
        for (const char *p = q->part[0]; *p; p++) *to++ = *p;
        LWI_ASSERT(to < names->numbered + LWI_QUANTITY_NAME);
        *lwi_integer_put(to, e->part) = 0;
        names->end[0] = names->numbered;
    } else {
        for (int k = 0; k < e->n; k++) names->end[k] = q->part[e->part + k];
    }
    return e->view ? put_place(arena, c->view[e->view - 1].name, names) : LW_OK;
}

lw_status lwi_result_columns_visit(const lwi_result_columns *c, const lw_model *model,
                                   void (*visit)(void *user, const lwi_result_names *names),
                                   void *user)
{
    lwi_arena scratch;
    lwi_result_names names;
    stem s = {0};
    lw_status status = LW_OK;
    lwi_arena_init(&scratch, NULL);
    for (int i = 0; i < c->nentry && status == LW_OK; i++) {
        names.same = has_stem(&s, &c->entry[i]);
        if (!names.same) status = make_stem(&s, &scratch, model, &c->entry[i]);
        if (status == LW_OK) status = put_ends(c, &c->entry[i], &scratch, &names);
        names.stem = s.text, names.length = s.length;
        if (status == LW_OK) visit(user, &names);
    }
    lwi_arena_free(&scratch);
    return status;
}

// The names of an entry, one behind the other.
static char *join_names(lwi_arena *arena, const lwi_result_names *names)
{
    size_t room = 0;
    for (int k = 0; k < names->n; k++) room += names->length + strlen(names->end[k]) + 1;
    char *joined = lwi_arena_chars(arena, room), *to = joined;
    for (int k = 0; k < names->n && joined; k++) {
        const size_t n = strlen(names->end[k]) + 1;
        memcpy(to, names->stem, names->length);
        memcpy(to + names->length, names->end[k], n);
        to += names->length + n;
    }
    return joined;
}

static const char *frame_of(const lwi_result_columns *c, const lwi_result_entry *e)
{
    if (!e->view) return e->quantity->frame;
    const lwi_result_view *view = &c->view[e->view - 1];
    return view->kind == LWI_VIEW_MARKER ? "marker" : view->name;
}

typedef struct naming {
    lwi_result_columns *columns;
    const lw_model *model;
    const lwi_result_entry *entry; // the next one
    lwi_result_column *column;     // likewise
    bool failed;
} naming;

static void name_entry(void *user, const lwi_result_names *names)
{
    naming *n = user;
    lwi_result_columns *c = n->columns;
    const lwi_result_entry *e = n->entry++;
    const bool reaction = e->quantity->subject == LWI_RESULT_REACTION;
    const char *name = join_names(&c->arena, names), *frame = frame_of(c, e);
    const int before = (int)strlen(lwi_result_column_prefix(e->quantity));
    const int item = (int)strlen(lwi_result_item_name(n->model, e));
    if (!name) n->failed = true;
    for (int k = e->part; k < e->part + e->n && name; k++, name += strlen(name) + 1) {
        LWI_ASSERT(n->column < c->column + c->n);
        LWI_ASSERT(item == 0 || name[before] == '.');
        *n->column++ = (lwi_result_column){.name = name,
                                           .unit = unit_of(c, n->model, e, k),
                                           .frame = frame,
                                           .quantity = e->quantity,
                                           .joint = reaction && !e->view ? e->item : -1,
                                           .item = item ? before + 1 : 0,
                                           .item_length = item};
    }
}

lw_status lwi_result_columns_name(lwi_result_columns *c, const lw_model *model)
{
    c->n = 0;
    for (int i = 0; i < c->nentry; i++) c->n += c->entry[i].n;
    c->column = LWI_PUSH(&c->arena, lwi_result_column, c->n);
    if (!c->column) return LW_ERR_MEMORY;
    naming n = {.columns = c, .model = model, .entry = c->entry, .column = c->column};
    TRY(lwi_result_columns_visit(c, model, name_entry, &n));
    return n.failed ? LW_ERR_MEMORY : LW_OK;
}

lw_status lwi_result_columns_of_model(const lw_model *model, lw_observe level,
                                      lwi_result_columns *columns)
{
    *columns = (lwi_result_columns){0};
    lwi_arena_init(&columns->arena, NULL);
    lw_status status =
        lwi_result_entries(model, level, &columns->arena, &columns->entry, &columns->nentry);
    columns->level = level;
    if (status == LW_OK) status = lwi_result_columns_name(columns, model);
    if (status != LW_OK) lwi_result_columns_free(columns);
    return status;
}

// ------------------------------------------------------------------------------- columns of names

static lw_status name_columns(lwi_result_columns *c, const char *const *names, int n)
{
    c->column = LWI_PUSH(&c->arena, lwi_result_column, n);
    if (!c->column) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        lwi_result_column *column = &c->column[i];
        column->name = lwi_arena_text(&c->arena, names[i]);
        if (!column->name) return LW_ERR_MEMORY;
        lwi_result_column_meaning(column->name, &column->unit, &column->frame);
        column->quantity = lwi_result_column_quantity(column->name);
        column->joint = -1;
        const meaning m = read_name(column->name);
        if (m.item)
            column->item = (int)(m.item - column->name), column->item_length = m.item_length;
    }
    c->n = n;
    return LW_OK;
}

lw_status lwi_result_columns_of_names(const char *const *names, int n, lwi_result_columns *columns)
{
    *columns = (lwi_result_columns){0};
    lwi_arena_init(&columns->arena, NULL);
    const lw_status status = name_columns(columns, names, n);
    if (status != LW_OK) lwi_result_columns_free(columns);
    return status;
}

void lwi_result_columns_free(lwi_result_columns *columns)
{
    lwi_measures_free(columns->measures);
    lwi_arena_free(&columns->arena);
    *columns = (lwi_result_columns){0};
}
