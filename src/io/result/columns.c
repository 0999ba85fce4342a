// columns.c -- the columns of a result, and their HDF5 datasets.
//
// A name is PREFIX.ITEM.PART ("joint.hinge.q0"; "sys.E" has no item).  Prefix and part determine the
// quantity, and with it dataset, unit and frame; the columns of one quantity of one item make a dataset.
#include "base/assert.h"
#include "io/result/columns.h"
#include "io/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- names

typedef struct meaning {
    const lwi_result_quantity *quantity; ///< NULL: unknown
    int part;                            ///< numbered: the number
    const char *item;                    ///< in the name; NULL: none
    int item_length;
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
static int find_part(const lwi_result_quantity *q, const char *name)
{
    if (q->numbered) return number_after(name, q->part[0]);
    for (int k = lwi_result_part_count(q); k-- > 0;)
        if (!strcmp(q->part[k], name)) return k;
    return -1;
}

static meaning find_quantity(const char *prefix, size_t length, const char *part)
{
    for (int i = 0; i < lwi_result_nquantity && length > 0; i++) {
        const lwi_result_quantity *q = &lwi_result_quantities[i];
        const char *own = lwi_result_column_prefix(q);
        if (strlen(own) != length || strncmp(own, prefix, length) != 0) continue;
        const int k = find_part(q, part);
        if (k >= 0) return (meaning){.quantity = q, .part = k};
    }
    return (meaning){0};
}

static meaning read_name(const char *name)
{
    const char *first = strchr(name, '.'), *last = strrchr(name, '.');
    if (!first) return (meaning){0};
    meaning m = find_quantity(name, (size_t)(first - name), last + 1);
    const bool system = m.quantity && m.quantity->subject == LWI_RESULT_SYSTEM;
    if (!m.quantity || system != (first == last)) return (meaning){0};
    if (system) return m;
    m.item = first + 1;
    m.item_length = (int)(last - first) - 1;
    return m.item_length > 0 ? m : (meaning){0};
}

const lwi_result_quantity *lwi_result_column_quantity(const char *name)
{
    const bool time = !strcmp(name, lwi_result_quantities[0].part[0]);
    return time ? &lwi_result_quantities[0] : read_name(name).quantity;
}

lw_status lwi_result_pose_columns(const lw_result *result, const char *body, int column[7],
                                  lw_error *error)
{
    int n = 0;
    for (int i = 0; i < lwi_result_nquantity; i++) {
        const lwi_result_quantity *q = &lwi_result_quantities[i];
        if (q->subject != LWI_RESULT_BODY || q->level != LW_OBSERVE_POSE) continue;
        for (int k = 0; k < lwi_result_part_count(q); k++) {
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
    const lwi_result_quantity *q = lwi_result_column_quantity(name);
    *unit = q ? lwi_result_part_unit(q, m.part) : "";
    *frame = q ? q->frame : "";
}

void lwi_result_link_name(const char *name, char *link)
{
    const bool dot = !strcmp(name, ".");
    for (; *name; name++) {
        if (*name == '%' || *name == '/' || dot)
            link += sprintf(link, "%%%02X", (unsigned char)*name);
        else
            *link++ = *name;
    }
    *link = 0;
}

// ---------------------------------------------------------------------------------------- datasets

// A dataset that is being put together, found by its path.
typedef struct group {
    const char *path;
    const lwi_result_quantity *quantity; ///< NULL: a single column
    unsigned long long parts;            ///< bit set of the parts found, the first 64
    int n;
} group;

typedef struct builder {
    lwi_result_columns *columns;
    group *group; // [2 n] at most two for each column
    int *slot;    // [nslot] hash table of groups, -1: free
    unsigned nslot;
    int *part; // [n] part of each column, from its name; -1: alone
} builder;

static unsigned hash(const char *text)
{
    unsigned h = 2166136261u; // FNV-1a
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static int find_group(builder *b, const char *path, const lwi_result_quantity *q)
{
    unsigned at = hash(path) & (b->nslot - 1);
    for (; b->slot[at] >= 0; at = (at + 1) & (b->nslot - 1))
        if (!strcmp(b->group[b->slot[at]].path, path)) return b->slot[at];
    LWI_ASSERT_INDEX(b->columns->ndataset, 2 * b->columns->n);
    b->slot[at] = b->columns->ndataset;
    b->group[b->columns->ndataset] = (group){.path = path, .quantity = q};
    return b->columns->ndataset++;
}

// "/joint/a%2Fb/q", "/system/energy", "/column/a b".
static const char *path_of(lwi_arena *arena, const char *name, const meaning *m)
{
    const size_t room = 3 * strlen(name) + 64;
    char *path = LWI_PUSH(arena, char, room), *item = LWI_PUSH(arena, char, strlen(name) + 1);
    if (!path || !item) return NULL;
    if (!m->quantity) {
        strcpy(path, "/column/");
        lwi_result_link_name(name, path + strlen(path));
        return path;
    }
    sprintf(path, "/%s/", lwi_result_group(m->quantity));
    if (m->item) {
        memcpy(item, m->item, (size_t)m->item_length);
        lwi_result_link_name(item, path + strlen(path));
        strcat(path, "/");
    }
    snprintf(path + strlen(path), room - strlen(path), "%s", m->quantity->dataset);
    return path;
}

static lw_status put_alone(builder *b, int i)
{
    static const meaning nothing = {0};
    const char *name = b->columns->column[i].name;
    const char *path = i == 0 ? "/time" : path_of(&b->columns->arena, name, &nothing);
    if (!path) return LW_ERR_MEMORY;
    const int g = find_group(b, path, NULL);
    b->group[g].n = 1;
    b->columns->column[i].dataset = g;
    b->part[i] = -1;
    return LW_OK;
}

static lw_status put_in_group(builder *b, int i)
{
    const meaning m = read_name(b->columns->column[i].name);
    if (i == 0 || !m.quantity || m.part > 63) return put_alone(b, i);
    const char *path = path_of(&b->columns->arena, b->columns->column[i].name, &m);
    if (!path) return LW_ERR_MEMORY;
    const int g = find_group(b, path, m.quantity);
    if (b->group[g].quantity != m.quantity) return put_alone(b, i); // "q0" with "qw"
    b->group[g].parts |= 1ULL << m.part;
    b->group[g].n++;
    b->columns->column[i].dataset = g;
    b->part[i] = m.part;
    return LW_OK;
}

// First part where the parts make up the whole quantity; -1 where some are missing.
static int first_part(const group *g)
{
    const lwi_result_quantity *q = g->quantity;
    const int n = lwi_result_part_count(q);
    const unsigned long long all = (1ULL << n) - 1, without_first_3 = all & ~7ULL;
    if (q->numbered) return (g->parts & (g->parts + 1)) == 0 ? 0 : -1; // without a gap
    if (g->parts == all || (q->last_part && g->parts == all >> 1)) return 0;
    return q->subject == LWI_RESULT_JOINT && g->parts == without_first_3 ? 3 : -1;
}

static lw_status begin(builder *b, lwi_result_columns *columns)
{
    const int n = columns->n;
    *b = (builder){.columns = columns, .nslot = 4};
    while (b->nslot < 4u * (unsigned)n) b->nslot *= 2; // each column has at most two paths
    b->group = LWI_PUSH(&columns->arena, group, 2 * n);
    b->slot = LWI_PUSH(&columns->arena, int, b->nslot);
    b->part = LWI_PUSH(&columns->arena, int, n);
    if (!b->group || !b->slot || !b->part) return LW_ERR_MEMORY;
    for (unsigned i = 0; i < b->nslot; i++) b->slot[i] = -1;
    return LW_OK;
}

// Numbers the groups in use.
static lw_status number_datasets(builder *b)
{
    lwi_result_columns *c = b->columns;
    int *number = LWI_PUSH(&c->arena, int, c->ndataset);
    c->dataset = LWI_PUSH(&c->arena, lwi_result_dataset, c->ndataset);
    if (!number || !c->dataset) return LW_ERR_MEMORY;
    int n = 0;
    for (int g = 0; g < c->ndataset; g++) {
        const group *from = &b->group[g];
        if (!from->n) continue;
        const bool series = !from->quantity || from->quantity->subject == LWI_RESULT_SYSTEM;
        LWI_ASSERT_INDEX(n, c->ndataset);
        number[g] = n;
        c->dataset[n++] = (lwi_result_dataset){.path = from->path,
                                               .frame = from->quantity ? from->quantity->frame : "",
                                               .width = series && from->n == 1 ? 0 : from->n,
                                               .joint = -1};
    }
    for (int i = 0; i < c->n; i++) c->column[i].dataset = number[c->column[i].dataset];
    c->ndataset = n;
    return LW_OK;
}

// One unit where all components have the same, otherwise all of them.
static lw_status put_units(lwi_result_columns *c)
{
    for (int d = 0; d < c->ndataset; d++) {
        lwi_result_dataset *set = &c->dataset[d];
        char *text = LWI_PUSH(&c->arena, char, (set->width + 1) * 24);
        if (!text) return LW_ERR_MEMORY;
        set->unit = text;
    }
    const char **unit = LWI_PUSH(&c->arena, const char *, c->n); // [dataset][component]
    int *start = LWI_PUSH(&c->arena, int, c->ndataset + 1);
    if (!unit || !start) return LW_ERR_MEMORY;
    for (int d = 0; d < c->ndataset; d++)
        start[d + 1] = start[d] + (c->dataset[d].width ? c->dataset[d].width : 1);
    for (int i = 0; i < c->n; i++) {
        unit[start[c->column[i].dataset] + c->column[i].component] = c->column[i].unit;
        c->dataset[c->column[i].dataset].joint = c->column[i].joint;
    }
    for (int d = 0; d < c->ndataset; d++) {
        char *text = (char *)c->dataset[d].unit;
        bool same = true;
        for (int k = start[d] + 1; k < start[d + 1]; k++) same &= !strcmp(unit[k], unit[start[d]]);
        for (int k = start[d]; k < (same ? start[d] + 1 : start[d + 1]); k++)
            sprintf(text + strlen(text), "%s%s", k > start[d] ? ", " : "", unit[k]);
    }
    return LW_OK;
}

// Assigns the columns, which have names, to datasets.
static lw_status assign_datasets(lwi_result_columns *columns)
{
    builder b;
    TRY(begin(&b, columns));
    LWI_ASSERT(columns->n > 0);
    for (int i = 0; i < columns->n; i++) TRY(put_in_group(&b, i));
    const int ngroup = columns->ndataset;
    for (int g = 0; g < ngroup; g++)
        if (b.group[g].quantity && first_part(&b.group[g]) < 0) b.group[g].n = 0;
    for (int i = 0; i < columns->n; i++)
        if (!b.group[columns->column[i].dataset].n) TRY(put_alone(&b, i));
    for (int i = 0; i < columns->n; i++) {
        const group *g = &b.group[columns->column[i].dataset];
        LWI_ASSERT(g->n > 0 && (!g->quantity || b.part[i] >= first_part(g)));
        columns->column[i].component = g->quantity ? b.part[i] - first_part(g) : 0;
    }
    TRY(number_datasets(&b));
    return put_units(columns);
}

// ----------------------------------------------------------------------------- columns of a model

// A single joint coordinate is a length or an angle.
static const char *unit_of(const lw_model *model, const lwi_result_entry *e, int part)
{
    const lwi_result_quantity *q = e->quantity;
    if (!q->numbered) return lwi_result_part_unit(q, part);
    const lwi_joint_type *type = model->joint[e->item].type;
    return q->unit[!type->scalar ? 0 : type->angles & (1u << part) ? 2 : 1];
}

static char *column_name(lwi_arena *arena, const lw_model *model, const lwi_result_entry *e,
                         int part)
{
    const lwi_result_quantity *q = e->quantity;
    const char *prefix = lwi_result_column_prefix(q), *item = lwi_result_item_name(model, e);
    const char *last = q->part[q->numbered ? 0 : part];
    const size_t room = strlen(prefix) + strlen(item) + strlen(last) + 16;
    char *name = LWI_PUSH(arena, char, room);
    if (!name) return NULL;
    snprintf(name, room, "%s%s%s%s%s", prefix, *prefix ? "." : "", item, *item ? "." : "", last);
    if (q->numbered) sprintf(name + strlen(name), "%d", part);
    return name;
}

static lw_status put_columns(lwi_result_columns *c, const lw_model *model)
{
    for (int i = 0; i < c->nentry; i++) c->n += c->entry[i].n;
    c->column = LWI_PUSH(&c->arena, lwi_result_column, c->n);
    if (!c->column) return LW_ERR_MEMORY;
    lwi_result_column *column = c->column;
    for (int i = 0; i < c->nentry; i++) {
        const lwi_result_entry *e = &c->entry[i];
        const bool reaction = e->quantity->subject == LWI_RESULT_REACTION;
        for (int k = e->part; k < e->part + e->n; k++) {
            char *name = column_name(&c->arena, model, e, k);
            if (!name) return LW_ERR_MEMORY;
            LWI_ASSERT(column < c->column + c->n);
            *column++ = (lwi_result_column){.name = name,
                                            .unit = unit_of(model, e, k),
                                            .frame = e->quantity->frame,
                                            .joint = reaction ? e->item : -1};
        }
    }
    return LW_OK;
}

lw_status lwi_result_columns_of_model(const lw_model *model, lw_observe level,
                                      lwi_result_columns *columns)
{
    *columns = (lwi_result_columns){0};
    lwi_arena_init(&columns->arena, NULL);
    lw_status status =
        lwi_result_entries(model, level, &columns->arena, &columns->entry, &columns->nentry);
    if (status == LW_OK) status = put_columns(columns, model);
    if (status == LW_OK) status = assign_datasets(columns);
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
        column->joint = -1;
    }
    c->n = n;
    return LW_OK;
}

lw_status lwi_result_columns_of_names(const char *const *names, int n, lwi_result_columns *columns)
{
    *columns = (lwi_result_columns){0};
    lwi_arena_init(&columns->arena, NULL);
    lw_status status = name_columns(columns, names, n);
    if (status == LW_OK) status = assign_datasets(columns);
    if (status != LW_OK) lwi_result_columns_free(columns);
    return status;
}

void lwi_result_columns_free(lwi_result_columns *columns)
{
    lwi_arena_free(&columns->arena);
    *columns = (lwi_result_columns){0};
}
