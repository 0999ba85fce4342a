// columns.c -- the columns of a result, and the datasets they lie in.
//
// A name is KIND.ITEM.WHAT ("joint.hinge.q0"; "sys.E" has no item).  Kind and what tell the
// quantity, and with it dataset, unit and frame; columns of one quantity and one item make a
// dataset.
#include "io/result/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 7 };

typedef struct quantity {
    const char *kind, *dataset;
    const char *parts[MOST_PARTS]; ///< what, in the order of the components
    const char *unit[MOST_PARTS];  ///< one for all, or one each
    const char *frame;
    lw_observe level;
} quantity;

// clang-format off
#define XYZ(p) {p "x", p "y", p "z"}
#define MOTION(kind)                                                                               \
    {kind, "position", XYZ(""), {"m"}, "world", LW_OBSERVE_POSE},                                  \
    {kind, "quaternion", {"qw", "qx", "qy", "qz"}, {"1"}, "world", LW_OBSERVE_POSE},               \
    {kind, "velocity", XYZ("v"), {"m/s"}, "world", LW_OBSERVE_TWIST},                              \
    {kind, "angular_velocity", XYZ("w"), {"rad/s"}, kind, LW_OBSERVE_TWIST},                       \
    {kind, "acceleration", XYZ("a"), {"m/s^2"}, "world", LW_OBSERVE_ACCELERATION},                 \
    {kind, "angular_acceleration", XYZ("al"), {"rad/s^2"}, kind, LW_OBSERVE_ACCELERATION}

static const quantity quantities[] = {
    MOTION("body"),
    MOTION("marker"),
    // spherical joints have the second part of these, free ones all; the others are numbered
    {"joint", "q", {"x", "y", "z", "qw", "qx", "qy", "qz"},
     {"m", "m", "m", "1", "1", "1", "1"}, "F1", LW_OBSERVE_POSE},
    {"joint", "qd", {"vx", "vy", "vz", "wx", "wy", "wz"},
     {"m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"}, "F2", LW_OBSERVE_TWIST},
    {"joint", "qdd", {"ax", "ay", "az", "alx", "aly", "alz"},
     {"m/s^2", "m/s^2", "m/s^2", "rad/s^2", "rad/s^2", "rad/s^2"}, "F2", LW_OBSERVE_ACCELERATION},
    {"joint", "force", XYZ("f"), {"N"}, "world", LW_OBSERVE_REACTION},
    {"joint", "torque", XYZ("t"), {"N m"}, "world", LW_OBSERVE_REACTION},
    {"sys", "kinetic", {"T"}, {"J"}, "", LW_OBSERVE_ENERGY},
    {"sys", "potential", {"V"}, {"J"}, "", LW_OBSERVE_ENERGY},
    {"sys", "energy", {"E"}, {"J"}, "", LW_OBSERVE_ENERGY},
    {"sys", "work", {"Wnc"}, {"J"}, "", LW_OBSERVE_ENERGY},
    {"sys", "momentum", XYZ("p"), {"kg m/s"}, "world", LW_OBSERVE_ENERGY},
    {"sys", "angular_momentum", XYZ("l"), {"kg m^2/s"}, "world", LW_OBSERVE_ENERGY},
    {"sys", "residual", {"cpos", "cvel", "cacc"},
     {"m or rad", "m/s or rad/s", "m/s^2 or rad/s^2"}, "", LW_OBSERVE_ENERGY},
};
// clang-format on

// Coordinates by number: q0, qd0, qdd0.
static const quantity numbered[] = {
    {"joint", "q", {"q"}, {"m or rad"}, "joint", LW_OBSERVE_POSE},
    {"joint", "qd", {"qd"}, {"m/s or rad/s"}, "joint", LW_OBSERVE_TWIST},
    {"joint", "qdd", {"qdd"}, {"m/s^2 or rad/s^2"}, "joint", LW_OBSERVE_ACCELERATION},
};
static const char *const shift_units[] = {"m", "m/s", "m/s^2"};
static const char *const angle_units[] = {"rad", "rad/s", "rad/s^2"};

static int part_count(const quantity *q)
{
    int n = 0;
    while (n < MOST_PARTS && q->parts[n]) n++;
    return n;
}

static const char *part_unit(const quantity *q, int part)
{
    return q->unit[q->unit[1] ? part : 0];
}

// ------------------------------------------------------------------------------------------- names

typedef struct meaning {
    const quantity *quantity; ///< NULL: not one of ours
    int part;
    const char *item; ///< in the name
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

static meaning find_quantity(const char *kind, size_t length, const char *what)
{
    for (int i = 0; i < LWI_COUNT(quantities); i++) {
        const quantity *q = &quantities[i];
        if (strlen(q->kind) != length || strncmp(q->kind, kind, length) != 0) continue;
        for (int k = 0; k < part_count(q); k++)
            if (!strcmp(q->parts[k], what)) return (meaning){.quantity = q, .part = k};
    }
    for (int i = 0; i < LWI_COUNT(numbered) && length == 5 && !strncmp(kind, "joint", 5); i++) {
        const int k = number_after(what, numbered[i].parts[0]);
        if (k >= 0) return (meaning){.quantity = &numbered[i], .part = k};
    }
    return (meaning){0};
}

static meaning read_name(const char *name)
{
    const char *first = strchr(name, '.'), *last = strrchr(name, '.');
    if (!first) return (meaning){0};
    meaning m = find_quantity(name, (size_t)(first - name), last + 1);
    const bool system = m.quantity && !strcmp(m.quantity->kind, "sys");
    if (!m.quantity || system != (first == last)) return (meaning){0};
    if (system) return m;
    m.item = first + 1;
    m.item_length = (int)(last - first) - 1;
    return m.item_length > 0 ? m : (meaning){0};
}

static const char *unit_of(const meaning *m)
{
    const bool is_numbered =
        m->quantity >= numbered && m->quantity < numbered + LWI_COUNT(numbered);
    return is_numbered ? m->quantity->unit[0] : part_unit(m->quantity, m->part);
}

void lwi_result_column_meaning(const char *name, const char **unit, const char **frame)
{
    const meaning m = read_name(name);
    *unit = m.quantity ? unit_of(&m) : !strcmp(name, "time") ? "s" : "";
    *frame = m.quantity ? m.quantity->frame : "";
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

// A dataset in the making; found again by its path.
typedef struct group {
    const char *path;
    const quantity *quantity; ///< NULL: a column alone
    unsigned long long parts; ///< bits of those that are there, the first 64
    int n;
} group;

typedef struct builder {
    lwi_result_columns *columns;
    group *group; // [n] at most one for each column
    int *slot;    // [nslot] hash table of groups, -1: free
    unsigned nslot;
    int *part; // [n] of each column, as its name tells
} builder;

static unsigned hash(const char *text)
{
    unsigned h = 2166136261u; // FNV-1a
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static int find_group(builder *b, const char *path, const quantity *q)
{
    unsigned at = hash(path) & (b->nslot - 1);
    for (; b->slot[at] >= 0; at = (at + 1) & (b->nslot - 1))
        if (!strcmp(b->group[b->slot[at]].path, path)) return b->slot[at];
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
    if (!m->item) {
        snprintf(path, room, "/system/%s", m->quantity->dataset);
        return path;
    }
    memcpy(item, m->item, (size_t)m->item_length);
    sprintf(path, "/%s/", m->quantity->kind);
    lwi_result_link_name(item, path + strlen(path));
    snprintf(path + strlen(path), room - strlen(path), "/%s", m->quantity->dataset);
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
    if (b->group[g].quantity != m.quantity) return put_alone(b, i); // "q0" beside "qw"
    b->group[g].parts |= 1ULL << m.part;
    b->group[g].n++;
    b->columns->column[i].dataset = g;
    b->part[i] = m.part;
    return LW_OK;
}

// First part where the parts make the whole quantity; -1 where some are missing.
static int first_part(const group *g)
{
    const quantity *q = g->quantity;
    const int n = part_count(q);
    const unsigned long long all = (1ULL << n) - 1, second = all & ~7ULL;
    if (q >= numbered && q < numbered + LWI_COUNT(numbered)) // without a gap
        return (g->parts & (g->parts + 1)) == 0 ? 0 : -1;
    if (g->parts == all) return 0;
    if (n > 3 && g->parts == second && !strcmp(q->kind, "joint")) return 3;
    return !strcmp(q->dataset, "residual") && g->parts == 3 ? 0 : -1;
}

static lw_status begin(builder *b, lwi_result_columns *columns)
{
    const int n = columns->n;
    *b = (builder){.columns = columns, .nslot = 4};
    while (b->nslot < 4u * (unsigned)n) b->nslot *= 2; // each column leads to two paths at most
    b->group = LWI_PUSH(&columns->arena, group, 2 * n);
    b->slot = LWI_PUSH(&columns->arena, int, b->nslot);
    b->part = LWI_PUSH(&columns->arena, int, n);
    if (!b->group || !b->slot || !b->part) return LW_ERR_MEMORY;
    for (unsigned i = 0; i < b->nslot; i++) b->slot[i] = -1;
    return LW_OK;
}

// Groups that are in use become datasets.
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
        const bool series = !from->quantity || !strcmp(from->quantity->kind, "sys");
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

// One unit where all components have the same, else all of them.
static lw_status tell_units(lwi_result_columns *c)
{
    for (int d = 0; d < c->ndataset; d++) {
        lwi_result_dataset *set = &c->dataset[d];
        char *text = LWI_PUSH(&c->arena, char, (set->width + 1) * 24);
        if (!text) return LW_ERR_MEMORY;
        set->unit = text;
    }
    const char **unit = LWI_PUSH(&c->arena, const char *, c->n); // by dataset and component
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

// Columns with their names become datasets.
static lw_status group_columns(lwi_result_columns *columns)
{
    builder b;
    TRY(begin(&b, columns));
    for (int i = 0; i < columns->n; i++) TRY(put_in_group(&b, i));
    const int ngroup = columns->ndataset;
    for (int g = 0; g < ngroup; g++)
        if (b.group[g].quantity && first_part(&b.group[g]) < 0) b.group[g].n = 0;
    for (int i = 0; i < columns->n; i++)
        if (!b.group[columns->column[i].dataset].n) TRY(put_alone(&b, i));
    for (int i = 0; i < columns->n; i++) {
        const group *g = &b.group[columns->column[i].dataset];
        columns->column[i].component = g->quantity ? b.part[i] - first_part(g) : 0;
    }
    TRY(number_datasets(&b));
    return tell_units(columns);
}

// -------------------------------------------------------------------------------- columns of a
// model

// Counts when there is no room yet, then fills.
static lw_status emit(lwi_result_columns *c, const char *kind, const char *item, const char *what,
                      const char *unit, const char *frame, int joint)
{
    const int i = c->n++;
    if (!c->column) return LW_OK;
    const size_t room = strlen(kind) + strlen(item) + strlen(what) + 3;
    char *name = LWI_PUSH(&c->arena, char, room);
    if (!name) return LW_ERR_MEMORY;
    snprintf(name, room, "%s.%s%s%s", kind, item, *item ? "." : "", what);
    c->column[i] = (lwi_result_column){.name = name, .unit = unit, .frame = frame, .joint = joint};
    return LW_OK;
}

// Parts first ... end-1 of a quantity.
static lw_status emit_parts(lwi_result_columns *c, const quantity *q, int first, int end,
                            const char *item, int joint)
{
    for (int k = first; k < end; k++)
        TRY(emit(c, q->kind, item, q->parts[k], part_unit(q, k), q->frame, joint));
    return LW_OK;
}

// All quantities of a kind that `level` contains.
static lw_status emit_item(lwi_result_columns *c, lw_observe level, const char *kind,
                           const char *item)
{
    for (int i = 0; i < LWI_COUNT(quantities); i++) {
        const quantity *q = &quantities[i];
        int n = part_count(q);
        if (strcmp(q->kind, kind) != 0 || level < q->level) continue;
        if (!strcmp(q->dataset, "residual") && level < LW_OBSERVE_REACTION)
            n = 2; // no accelerations
        TRY(emit_parts(c, q, 0, n, item, -1));
    }
    return LW_OK;
}

static lw_status emit_numbered(lwi_result_columns *c, lw_observe level, const lwi_joint *j)
{
    const lwi_joint_type *type = j->type;
    for (int k = 0; k < (type->nq > type->nv ? type->nq : type->nv); k++)
        for (int d = 0; d < LWI_COUNT(numbered); d++) {
            char what[16];
            if (level < numbered[d].level || k >= (d ? type->nv : type->nq)) continue;
            snprintf(what, sizeof what, "%s%d", numbered[d].parts[0], k);
            const char *unit = !type->scalar              ? numbered[d].unit[0]
                               : type->angles & (1u << k) ? angle_units[d]
                                                          : shift_units[d];
            TRY(emit(c, "joint", j->name, what, unit, numbered[d].frame, -1));
        }
    return LW_OK;
}

static lw_status emit_coordinates(lwi_result_columns *c, lw_observe level, const lwi_joint *j)
{
    const lw_joint_type id = j->type->id;
    if (id != LW_JOINT_SPHERICAL && id != LW_JOINT_FREE) return emit_numbered(c, level, j);
    for (int i = 0; i < LWI_COUNT(quantities); i++) {
        const quantity *q = &quantities[i];
        if (strcmp(q->kind, "joint") != 0 || level < q->level) continue;
        if (q->level == LW_OBSERVE_REACTION) continue;
        TRY(emit_parts(c, q, id == LW_JOINT_FREE ? 0 : 3, part_count(q), j->name, -1));
    }
    return LW_OK;
}

static lw_status emit_reactions(lwi_result_columns *c, const lwi_joint *j, int joint)
{
    for (int i = 0; i < LWI_COUNT(quantities); i++)
        if (quantities[i].level == LW_OBSERVE_REACTION)
            TRY(emit_parts(c, &quantities[i], 0, 3, j->name, joint));
    return LW_OK;
}

static lw_status emit_all(lwi_result_columns *c, const lw_model *m, lw_observe level)
{
    c->n = 0;
    if (c->column)
        c->column[0] = (lwi_result_column){.name = "time", .unit = "s", .frame = "", .joint = -1};
    c->n++;
    for (int i = 1; i < m->nbody; i++) TRY(emit_item(c, level, "body", m->body[i].name));
    for (int i = 0; i < m->njoint; i++) TRY(emit_coordinates(c, level, &m->joint[i]));
    for (int i = 0; i < m->njoint && level >= LW_OBSERVE_REACTION; i++)
        TRY(emit_reactions(c, &m->joint[i], i));
    for (int i = 0; i < m->desc.nmarker; i++)
        TRY(emit_item(c, level, "marker", m->desc.marker[i].name));
    return emit_item(c, level, "sys", "");
}

lw_status lwi_result_columns_of_model(const lw_model *model, lw_observe level,
                                      lwi_result_columns *columns)
{
    *columns = (lwi_result_columns){0};
    lwi_arena_init(&columns->arena, NULL);
    lw_status status = emit_all(columns, model, level);
    if (status == LW_OK) {
        columns->column = LWI_PUSH(&columns->arena, lwi_result_column, columns->n);
        status = columns->column ? emit_all(columns, model, level) : LW_ERR_MEMORY;
    }
    if (status == LW_OK) status = group_columns(columns);
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
    if (status == LW_OK) status = group_columns(columns);
    if (status != LW_OK) lwi_result_columns_free(columns);
    return status;
}

void lwi_result_columns_free(lwi_result_columns *columns)
{
    lwi_arena_free(&columns->arena);
    *columns = (lwi_result_columns){0};
}
