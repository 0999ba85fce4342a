// lanes_order.c -- order of the items of a pass of index3 in lanes, and their distribution over threads.
//
// An item's time is the latest time of its predecessors, a joint's its number: an item is processed as soon as
// its data exist.  An item belongs to the part of its predecessors if these are all in one part.
#include "methods/index3/lanes_maker.h"

#include <string.h>

// Rule for an item's time or part from those of its predecessors.
typedef void rule(int *item, int before);

static void later(int *time, int t)
{
    if (*time < t) *time = t;
}

// Parts 0 ... of threads; ABOVE: depends on several, processed after them; NONE: depends on none, processed
// before them.
enum { ABOVE = -1, NONE = -2 };

static void within(int *part, int p)
{
    if (p != NONE) *part = *part == NONE || *part == p ? p : ABOVE;
}

// A body's from those of its joints, a joint's from those of its bodies.
static void bodies_after(const lwi_index3_lane_maker *m, rule *apply, const int *joint, int *body)
{
    const lwi_index3_lanes *s = m->s;
    for (int b = 0; b < s->nedge; b++)
        for (int l = 0; l < s->joint[b].sides * s->joint[b].lanes; l++) {
            const int k = lwi_index3_lane_node(
                &m->d->system, s->joint[b].edge[l / s->joint[b].sides], l % s->joint[b].sides);
            if (k >= 0) apply(&body[s->body_at[k] / LWI_LANES], joint[b]);
        }
}

static void joints_after(const lwi_index3_lane_maker *m, rule *apply, const int *body,
                         const int *own, int *joint)
{
    const lwi_index3_lanes *s = m->s;
    for (int b = 0; b < s->nedge; b++) {
        apply(&joint[b], own[b]);
        for (int l = 0; l < s->joint[b].sides * s->joint[b].lanes; l++) {
            const int k = lwi_index3_lane_node(
                &m->d->system, s->joint[b].edge[l / s->joint[b].sides], l % s->joint[b].sides);
            if (k >= 0) apply(&joint[b], body[s->body_at[k] / LWI_LANES]);
        }
    }
}

// Applies the rule to all items, starting from the joints.  `last` is for blocks that are added to others.
static void apply_to_all(const lwi_index3_lane_maker *m, rule *apply, int last,
                         int *of[LWI_INDEX3_KINDS])
{
    const lwi_index3_lanes *s = m->s;
    bodies_after(m, apply, of[LWI_INDEX3_JOINT], of[LWI_INDEX3_BODY]);
    joints_after(m, apply, of[LWI_INDEX3_BODY], of[LWI_INDEX3_JOINT], of[LWI_INDEX3_AFTER]);
    bodies_after(m, apply, of[LWI_INDEX3_AFTER], of[LWI_INDEX3_BODY_AGAIN]);
    joints_after(m, apply, of[LWI_INDEX3_BODY_AGAIN], of[LWI_INDEX3_AFTER], of[LWI_INDEX3_LAST]);
    for (int i = 0; i < s->npair; i++) {
        const size_t bytes =
            s->pair[i].full ? sizeof(lwi_index3_lane_full) : sizeof(lwi_index3_lane_body);
        for (int l = 0; l < LWI_LANES; l++)
            apply(&of[LWI_INDEX3_PAIR][i],
                  s->pair[i].add ? last
                                 : of[LWI_INDEX3_BODY_AGAIN]
                                     [s->pair[i].body.at[l] / (int)(bytes / sizeof(double))]);
    }
    for (int i = 0; i < m->nedge; i++)
        apply(&of[LWI_INDEX3_TASK][m->edge[i].task],
              of[LWI_INDEX3_LAST][s->edge_at[m->edge[i].edge] / LWI_LANES]);
    for (int i = 0; i < m->nblock; i++)
        if (m->pair_of[i] >= 0)
            apply(&of[LWI_INDEX3_TASK][m->block[i].task], of[LWI_INDEX3_PAIR][m->pair_of[i]]);
}

// A joint's time is its number.  Blocks added to others come last; tasks come in their order.
static void find_times(const lwi_index3_lane_maker *m, int *time[LWI_INDEX3_KINDS], int ntask)
{
    for (int b = 0; b < m->s->nedge; b++) time[LWI_INDEX3_JOINT][b] = b;
    apply_to_all(m, later, m->s->nedge, time);
    for (int u = 1; u < ntask; u++) later(&time[LWI_INDEX3_TASK][u], time[LWI_INDEX3_TASK][u - 1]);
}

// Multiplications of the matrix pass per thread below which threads lose more by exchanging data than they
// gain (chains of 512 links: neither).
#define GRAIN 15000.0

// A joint's part is that of the task that closes it, NONE if that belongs to no part; `subtree`: part of a
// task by the tree alone.
static lw_status find_parts(const lwi_index3_lane_maker *m, int *part[LWI_INDEX3_KINDS],
                            const int *count, int *subtree, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const int threads = m->threads;
    const double max_parts = lwi_elim_assembled_work(s->elim) / GRAIN;
    s->parts = max_parts < 2 ? 1 : threads < max_parts ? threads : (int)max_parts;
    if (s->parts == 1) return LW_OK;
    TRY(lwi_elim_assembled_parts(s->elim, s->parts, subtree, arena));
    bool shared = false;
    for (int u = 0; u < count[LWI_INDEX3_TASK]; u++) shared |= subtree[u] > 0;
    if (!shared) { // sequential order
        s->parts = 1;
        return LW_OK;
    }
    for (int kind = 0; kind < LWI_INDEX3_TASK; kind++)
        for (int i = 0; i < count[kind]; i++) part[kind][i] = NONE;
    memcpy(part[LWI_INDEX3_TASK], subtree, (size_t)count[LWI_INDEX3_TASK] * sizeof *subtree);
    for (int i = 0; i < m->nedge; i++)
        within(&part[LWI_INDEX3_JOINT][s->edge_at[m->edge[i].edge] / LWI_LANES],
               subtree[m->edge[i].task]);
    for (int b = 0; b < s->nedge; b++) // depends on nothing
        if (part[LWI_INDEX3_JOINT][b] == ABOVE) part[LWI_INDEX3_JOINT][b] = NONE;
    apply_to_all(m, within, ABOVE, part);
    lwi_elim_assembled_above(s->elim, part[LWI_INDEX3_TASK]);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ rounds

// Items of a kind for each thread that are worth a separate round (some microseconds).
enum { WIDE = 2 };

// Stages and parts of the tasks above several parts; the part of each other task by the tree alone.
typedef struct above {
    int *subtree, *stage, *part, count;
    bool *together;
} above;

static int add_round(lwi_index3_lanes *s, int places, unsigned kinds)
{
    const int first = s->round[s->nround];
    s->kinds[s->nround++] = kinds;
    s->round[s->nround] = first + places;
    return first;
}

// Whether an item has the part `which`; `add`: of the blocks that are added to others, or of all other items.
static bool fits(const lwi_index3_lanes *s, int kind, int i, int part, int which, bool add)
{
    return part == which && (kind == LWI_INDEX3_PAIR && s->pair[i].add) == add;
}

// Items of the part ABOVE or NONE.  Those of a kind do not depend on each other: many run on all threads, few on one,
// with those of other kinds.  Blocks that are added to others are last, in their order.
static void rounds_of_kinds(lwi_index3_lanes *s, int which, int *const part[LWI_INDEX3_KINDS],
                            const int *count, int *place[LWI_INDEX3_KINDS])
{
    int open = -1; // place of one thread
    for (int pass = 0; pass <= LWI_INDEX3_TASK; pass++) {
        const bool add = pass == LWI_INDEX3_TASK;
        const int kind = add ? LWI_INDEX3_PAIR : pass;
        int n = 0, rank = 0;
        for (int i = 0; i < count[kind]; i++) n += fits(s, kind, i, part[kind][i], which, add);
        const bool shared = !add && n >= WIDE * s->parts;
        if (n == 0) continue;
        if (shared || open < 0) open = add_round(s, shared ? s->parts : 1, 0);
        s->kinds[s->nround - 1] |= 1u << kind;
        for (int i = 0; i < count[kind]; i++) {
            if (!fits(s, kind, i, part[kind][i], which, add)) continue;
            place[kind][i] = open + (shared ? (int)((long)rank++ * s->parts / n) : 0);
        }
        if (shared) open = -1;
    }
}

static void rounds_of_tasks(lwi_index3_lanes *s, const above *a, const int *part, int n, int *place)
{
    const int first = add_round(s, s->parts, 1u << LWI_INDEX3_TASK);
    for (int u = 0; u < n; u++)
        if (part[u] == ABOVE && a->subtree[u] >= 0) place[u] = first + a->subtree[u];
    for (int stage = 0; stage < a->count; stage++) {
        bool shared = false;
        for (int u = 0; u < n; u++) {
            if (a->subtree[u] >= 0 || a->stage[u] != stage) continue;
            shared |= a->part[u] > 0;
            s->together[s->nround] |= a->together[u];
        }
        const int at = add_round(s, shared ? s->parts : 1, 1u << LWI_INDEX3_TASK);
        for (int u = 0; u < n; u++)
            if (a->subtree[u] < 0 && a->stage[u] == stage) place[u] = at + a->part[u];
    }
}

// Places of all items: see lwi_index3_lanes.
static lw_status find_places(lwi_index3_lane_maker *m, const int *count, above *a,
                             int *part[LWI_INDEX3_KINDS], int *place[LWI_INDEX3_KINDS],
                             lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const int ntask = count[LWI_INDEX3_TASK];
    TRY(find_parts(m, part, count, a->subtree, arena));
    if (s->parts > 1)
        TRY(lwi_elim_assembled_stages(s->elim, s->parts, a->subtree, a->stage, a->part, a->together,
                                      &a->count, &m->arena));
    const int rounds = 2 * (LWI_INDEX3_TASK + 1) + 2 + a->count; // at most
    s->round = LWI_PUSH(arena, int, rounds + 1);
    s->kinds = LWI_PUSH(arena, unsigned, rounds);
    s->together = LWI_PUSH(arena, bool, rounds);
    if (!s->round || !s->kinds || !s->together) return LW_ERR_MEMORY;
    if (s->parts > 1) rounds_of_kinds(s, NONE, part, count, place);
    const int own = add_round(s, s->parts, (1u << LWI_INDEX3_KINDS) - 1);
    for (int kind = 0; kind < LWI_INDEX3_KINDS; kind++)
        for (int i = 0; i < count[kind]; i++)
            if (part[kind][i] >= 0) place[kind][i] = own + part[kind][i];
    if (s->parts == 1) return LW_OK;
    rounds_of_kinds(s, ABOVE, part, count, place);
    rounds_of_tasks(s, a, part[LWI_INDEX3_TASK], ntask, place[LWI_INDEX3_TASK]);
    LWI_ASSERT(s->nround <= rounds);
    return LW_OK;
}

typedef int *const keys_of_kinds[LWI_INDEX3_KINDS];

// Sorts n items by key: stable, in linear time.  at: [keys + 1] zeros; on return the ends of each key.
static void sort_by(const lwi_index3_lane_item *from, int n, keys_of_kinds key, int keys, int *at,
                    lwi_index3_lane_item *to)
{
    for (int i = 0; i < n; i++) at[key[from[i].kind][from[i].block] + 1]++;
    for (int k = 0; k < keys; k++) at[k + 1] += at[k];
    for (int i = 0; i < n; i++) to[at[key[from[i].kind][from[i].block]]++] = from[i];
}

// Sorts the items by place, within a place by their times, then by kind.
static lw_status sort_items(lwi_index3_lane_maker *m, const int *count, keys_of_kinds place,
                            keys_of_kinds time, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const int times = s->nedge + 1, places = s->round[s->nround];
    lwi_index3_lane_item *by_time = LWI_PUSH(&m->arena, lwi_index3_lane_item, s->nitem);
    int *at = LWI_PUSH(&m->arena, int, times + 1);
    s->item = LWI_PUSH(arena, lwi_index3_lane_item, s->nitem);
    s->task = LWI_PUSH(arena, int, count[LWI_INDEX3_TASK]);
    s->first = LWI_PUSH(arena, int, places + 1);
    s->first_task = LWI_PUSH(arena, int, places + 1);
    s->largest = lwi_arena_push(arena, (size_t)places, sizeof *s->largest);
    if (!at || !by_time || !s->largest || !s->item || !s->task || !s->first || !s->first_task)
        return LW_ERR_MEMORY;
    for (int kind = 0, n = 0; kind < LWI_INDEX3_KINDS; kind++)
        for (int i = 0; i < count[kind]; i++) s->item[n++] = (lwi_index3_lane_item){kind, i};
    sort_by(s->item, s->nitem, time, times, at, by_time);
    sort_by(by_time, s->nitem, place, places, s->first, s->item);
    for (int p = places; p > 0; p--) s->first[p] = s->first[p - 1];
    s->first[0] = 0;
    for (int p = 0, n = 0; p < places; p++) {
        for (int i = s->first[p]; i < s->first[p + 1]; i++)
            if (s->item[i].kind == LWI_INDEX3_TASK) s->task[n++] = s->item[i].block;
        s->first_task[p + 1] = n;
    }
    return LW_OK;
}

lw_status lwi_index3_lane_order(lwi_index3_lane_maker *m, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const int ntask = lwi_elim_assembled_tasks(s->elim);
    const int count[LWI_INDEX3_KINDS] = {s->nedge, s->nbody, s->nedge, s->nbody,
                                         s->nedge, s->npair, ntask};
    int *time[LWI_INDEX3_KINDS], *part[LWI_INDEX3_KINDS], *place[LWI_INDEX3_KINDS];
    above a = {.subtree = LWI_PUSH(&m->arena, int, ntask),
               .stage = LWI_PUSH(&m->arena, int, ntask),
               .part = LWI_PUSH(&m->arena, int, ntask),
               .together = LWI_PUSH(&m->arena, bool, ntask)};
    if (!a.subtree || !a.stage || !a.part || !a.together) return LW_ERR_MEMORY;
    for (int kind = 0; kind < LWI_INDEX3_KINDS; kind++) {
        time[kind] = LWI_PUSH(&m->arena, int, count[kind]);
        part[kind] = LWI_PUSH(&m->arena, int, count[kind]);
        place[kind] = LWI_PUSH(&m->arena, int, count[kind]);
        if (!time[kind] || !part[kind] || !place[kind]) return LW_ERR_MEMORY;
        s->nitem += count[kind];
    }
    find_times(m, time, ntask);
    TRY(find_places(m, count, &a, part, place, arena));
    return sort_items(m, count, place, time, arena);
}
