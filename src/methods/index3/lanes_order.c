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

// Place of an item in the list: see lwi_index3_lanes.
static int place_of(const lwi_index3_lanes *s, int kind, int part, int subtree)
{
    LWI_ASSERT(part >= NONE && part < s->parts);
    if (part != ABOVE) return part == NONE ? 0 : 1 + part;
    if (kind != LWI_INDEX3_TASK) return s->parts + 1;
    return subtree >= 0 ? s->parts + 2 + subtree : 2 * s->parts + 2;
}

// Items are sorted by place, within a place by their times, then by kind.
lw_status lwi_index3_lane_order(lwi_index3_lane_maker *m, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const int ntask = lwi_elim_assembled_tasks(s->elim), times = s->nedge + 1;
    const int count[LWI_INDEX3_KINDS] = {s->nedge, s->nbody, s->nedge, s->nbody,
                                         s->nedge, s->npair, ntask};
    int *time[LWI_INDEX3_KINDS], *part[LWI_INDEX3_KINDS],
        *subtree = LWI_PUSH(&m->arena, int, ntask);
    for (int kind = 0; kind < LWI_INDEX3_KINDS; kind++) {
        time[kind] = LWI_PUSH(&m->arena, int, count[kind]);
        part[kind] = LWI_PUSH(&m->arena, int, count[kind]);
        if (!time[kind] || !part[kind]) return LW_ERR_MEMORY;
        s->nitem += count[kind];
    }
    if (!subtree) return LW_ERR_MEMORY;
    find_times(m, time, ntask);
    TRY(find_parts(m, part, count, subtree, arena));
    const int places = 2 * s->parts + 3;
    int *at = LWI_PUSH(&m->arena, int, times *places + 1);
    s->item = LWI_PUSH(arena, lwi_index3_lane_item, s->nitem);
    s->task = LWI_PUSH(arena, int, ntask);
    s->first = LWI_PUSH(arena, int, places + 1);
    s->first_task = LWI_PUSH(arena, int, places + 1);
    s->largest = lwi_arena_push(arena, (size_t)places, sizeof *s->largest);
    if (!at || !s->largest || !s->item || !s->task || !s->first || !s->first_task)
        return LW_ERR_MEMORY;
#define SLOT(kind, i)                                                                              \
    (times * place_of(s, kind, part[kind][i], (kind) == LWI_INDEX3_TASK ? subtree[i] : ABOVE) +    \
     time[kind][i])
    for (int kind = 0; kind < LWI_INDEX3_KINDS; kind++)
        for (int i = 0; i < count[kind]; i++) at[SLOT(kind, i) + 1]++;
    for (int t = 0; t < times * places; t++) at[t + 1] += at[t];
    LWI_ASSERT(at[times * places] == s->nitem);
    for (int p = 0; p <= places; p++) s->first[p] = at[times * p];
    for (int kind = 0; kind < LWI_INDEX3_KINDS; kind++)
        for (int i = 0; i < count[kind]; i++) {
            lwi_index3_lane_item *item = &s->item[at[SLOT(kind, i)]++];
            item->kind = kind, item->block = i;
        }
#undef SLOT
    for (int p = 0, n = 0; p < places; p++) {
        for (int i = s->first[p]; i < s->first[p + 1]; i++)
            if (s->item[i].kind == LWI_INDEX3_TASK) s->task[n++] = s->item[i].block;
        s->first_task[p + 1] = n;
    }
    return LW_OK;
}
