// packs.c -- segments of one kind that do not depend on each other, in lanes: joints, bodies of equal branches, loops of a row.
//
// What others read of a pack is side by side in the array of values: entry i of lane l at i * stride + l.  Each lane has the bits
// that the segment has alone.
#include "codegen/segments.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 3 }; // packs of a layout that are not worth a function

// ---------------------------------------------------------------------------------------- schedule

// Segments are ready when their sources are evaluated.  As many of a kind as there are lanes become a pack.  Where no kind has so many,
// the next is a kind of which all segments that are left are ready, else the segment that the longest sequence of others waits for,
// with what is ready of its kind.
typedef struct schedule {
    lwi_repeats *r;
    int lanes;
    int *height;           // [nsegment] longest sequence of segments that wait for it
    int *missing;          // [nsegment] uses of values that are not evaluated
    int *reader, *first;   // readers of segment k: reader[first[k] ... first[k + 1]]
    int *ready, *count;    // of kind k: ready[member ... member + count[k]]
    int *heap, nheap;      // of ready segments; also those that are evaluated already
    int *full, nfull;      // kinds with enough for a pack
    int *waiting;          // [nkind] segments that are not ready yet
    int *whole, nwhole;    // kinds without such
    bool *lanes_of, *done; // [nkind] its operations exist for vectors; [nsegment]
} schedule;

// Vectors have no other functions.
static bool has_lanes(const lwi_repeats *r, const lwi_segment *s)
{
    for (int i = 0; i < s->n; i++) {
        const lwi_op op = r->graph->vertex[r->live[s->first + i]].op;
        if (op > LWI_OP_SQRT && op != LWI_OP_SELECT) return false;
    }
    return true;
}

static int source_of(const lwi_repeats *r, int use)
{
    return r->of[r->use[use]];
}

static lw_status create_schedule(schedule *s)
{
    lwi_repeats *r = s->r;
    const int n = r->nsegment;
    s->height = LWI_PUSH(r->arena, int, n);
    s->missing = LWI_PUSH(r->arena, int, n);
    s->reader = LWI_PUSH(r->arena, int, r->nuse + 1);
    s->first = LWI_PUSH(r->arena, int, n + 2);
    s->ready = LWI_PUSH(r->arena, int, n);
    s->count = LWI_PUSH(r->arena, int, r->nkind);
    s->heap = LWI_PUSH(r->arena, int, n);
    s->full = LWI_PUSH(r->arena, int, n);
    s->waiting = LWI_PUSH(r->arena, int, r->nkind);
    s->whole = LWI_PUSH(r->arena, int, r->nkind);
    s->lanes_of = LWI_PUSH(r->arena, bool, r->nkind);
    s->done = LWI_PUSH(r->arena, bool, n);
    r->pack = LWI_PUSH(r->arena, lwi_pack, n);
    r->packed = LWI_PUSH(r->arena, int, n);
    if (!s->height || !s->missing || !s->reader || !s->first || !s->ready || !s->count ||
        !s->heap || !s->full || !s->waiting || !s->whole || !s->lanes_of || !s->done || !r->pack ||
        !r->packed)
        return LW_ERR_MEMORY;
    memset(s->height, 0, (size_t)n * sizeof *s->height);
    memset(s->missing, 0, (size_t)n * sizeof *s->missing);
    memset(s->first, 0, (size_t)(n + 2) * sizeof *s->first);
    memset(s->count, 0, (size_t)r->nkind * sizeof *s->count);
    memset(s->done, 0, (size_t)n * sizeof *s->done);
    for (int k = 0; k < r->nkind; k++) s->waiting[k] = r->kind[k].count;
    return LW_OK;
}

// Sources have lower indices than their readers.
static void find_readers(schedule *s)
{
    const lwi_repeats *r = s->r;
    for (int k = r->nsegment - 1; k >= 0; k--) {
        const lwi_segment *it = &r->segment[k];
        for (int i = it->use; i < it->use + it->nuse; i++) {
            const int from = source_of(r, i);
            if (from < 0) continue;
            s->first[from + 2]++;
            s->missing[k]++;
            if (s->height[from] <= s->height[k]) s->height[from] = s->height[k] + 1;
        }
    }
    for (int k = 0; k < r->nsegment; k++) s->first[k + 2] += s->first[k + 1];
    for (int k = 0; k < r->nsegment; k++) { // first[k + 1] becomes the end of k
        const lwi_segment *it = &r->segment[k];
        for (int i = it->use; i < it->use + it->nuse; i++) {
            const int from = source_of(r, i);
            if (from >= 0) s->reader[s->first[from + 1]++] = k;
        }
    }
}

// Is a before b?
static bool is_urgent(const schedule *s, int a, int b)
{
    return s->height[a] != s->height[b] ? s->height[a] > s->height[b] : a < b;
}

static void push(schedule *s, int k)
{
    int i = s->nheap++;
    for (; i > 0 && is_urgent(s, k, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = k;
}

static int pop(schedule *s)
{
    const int top = s->heap[0], last = s->heap[--s->nheap];
    int i = 0;
    for (int child = 1; child < s->nheap; child = 2 * i + 1) {
        if (child + 1 < s->nheap && is_urgent(s, s->heap[child + 1], s->heap[child])) child++;
        if (!is_urgent(s, s->heap[child], last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

static void add_ready(schedule *s, int k)
{
    const int kind = s->r->segment[k].kind;
    s->ready[s->r->kind[kind].member + s->count[kind]++] = k;
    if (s->lanes_of[kind] && s->count[kind] == s->lanes) s->full[s->nfull++] = kind;
    if (--s->waiting[kind] == 0) s->whole[s->nwhole++] = kind;
    push(s, k);
}

static int *ready_of(const schedule *s, int kind)
{
    return s->ready + s->r->kind[kind].member;
}

static int compare_segments(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

// The first `width` of a kind that are ready, or the most urgent ones where that is not a full pack, in the order of their
// indices.
static void evaluate(schedule *s, int kind, int width)
{
    lwi_repeats *r = s->r;
    int *list = ready_of(s, kind), chosen[LWI_PACK_WIDEST] = {0};
    for (int i = 0; i < width; i++) {
        int best = i;
        for (int j = i + 1; j < s->count[kind] && width < s->lanes; j++)
            if (is_urgent(s, list[j], list[best])) best = j;
        const int k = list[best];
        list[best] = list[i];
        list[i] = chosen[i] = k;
    }
    s->count[kind] -= width;
    memmove(list, list + width, (size_t)s->count[kind] * sizeof *list);
    qsort(chosen, (size_t)width, sizeof *chosen, compare_segments);
    lwi_pack *p = &r->pack[r->npack];
    *p = (lwi_pack){.member = r->npack ? p[-1].member + p[-1].width : 0, .width = width};
    for (int i = 0; i < width; i++) {
        const int k = chosen[i];
        s->done[k] = true;
        r->packed[p->member + i] = k;
        r->segment[k].pack = width > 1 ? r->npack : -1;
    }
    r->npack++;
    for (int i = 0; i < width; i++)
        for (int j = s->first[chosen[i]]; j < s->first[chosen[i] + 1]; j++)
            if (--s->missing[s->reader[j]] == 0) add_ready(s, s->reader[j]);
}

static int width_for(const schedule *s, int kind)
{
    int width = 1;
    while (s->lanes_of[kind] && 2 * width <= s->count[kind] && 2 * width <= s->lanes) width *= 2;
    return width;
}

// Packs, also of one segment, in an order in which they can be evaluated.
static lw_status find_packs(lwi_repeats *r, int lanes)
{
    schedule s = {.r = r, .lanes = lanes};
    LWI_ASSERT(lanes <= LWI_PACK_WIDEST);
    TRY(create_schedule(&s));
    for (int k = 0; k < r->nkind; k++)
        s.lanes_of[k] = has_lanes(r, &r->segment[r->kind[k].segment]);
    find_readers(&s);
    r->npack = 0;
    for (int k = 0; k < r->nsegment; k++)
        if (s.missing[k] == 0) add_ready(&s, k);
    for (;;) {
        while (s.nfull > 0) {
            const int kind = s.full[--s.nfull];
            while (s.count[kind] >= lanes) evaluate(&s, kind, lanes);
        }
        while (s.nwhole > 0 && s.count[s.whole[s.nwhole - 1]] == 0) s.nwhole--;
        if (s.nwhole > 0) {
            const int kind = s.whole[s.nwhole - 1];
            evaluate(&s, kind, width_for(&s, kind));
            continue;
        }
        while (s.nheap > 0 && s.done[s.heap[0]]) pop(&s);
        if (s.nheap == 0) break;
        const int kind = r->segment[s.heap[0]].kind;
        evaluate(&s, kind, width_for(&s, kind));
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- addresses

// As many lanes as there are segments of a shape, at most those of packs.
static int stride_for(int n, int lanes)
{
    int stride = 1;
    while (2 * stride <= n && 2 * stride <= lanes) stride *= 2;
    return stride;
}

// Side by side in the order of evaluation: wide packs first, so that none lies across the end of a row.
static void place_shape(lwi_repeats *r, lwi_shape *shape, const int *segment, int n, int lanes)
{
    int lane = 0;
    shape->stride = stride_for(n, lanes);
    for (int width = lanes; width >= 1; width /= 2)
        for (int i = 0; i < n; i++) {
            lwi_segment *s = &r->segment[segment[i]];
            if ((s->pack < 0 ? 1 : r->pack[s->pack].width) != width) continue;
            s->address = r->room + lane;
            if (++lane < shape->stride) continue;
            r->room += shape->nplace * shape->stride;
            lane = 0;
        }
    if (lane > 0) r->room += shape->nplace * shape->stride;
}

static lw_status place_values(lwi_repeats *r, int lanes)
{
    int *list = LWI_PUSH(r->arena, int, r->nsegment), *end = LWI_PUSH(r->arena, int, r->nshape + 1);
    if (!list || !end) return LW_ERR_MEMORY;
    memset(end, 0, (size_t)(r->nshape + 1) * sizeof *end);
    for (int k = 0; k < r->nsegment; k++) end[r->segment[k].shape + 1]++;
    for (int i = 0; i < r->nshape; i++) end[i + 1] += end[i];
    for (int i = 0; i < r->nsegment; i++) // end[i] from the beginning of shape i to its end
        list[end[r->segment[r->packed[i]].shape]++] = r->packed[i];
    r->room = 0;
    for (int a = 0; a < r->graph->narray; a++) r->room += r->count[a];
    for (int i = 0; i < r->nshape; i++) {
        const int begin = i > 0 ? end[i - 1] : 0;
        place_shape(r, &r->shape[i], list + begin, end[i] - begin, lanes);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- order

// A segment, or a pack by its first member, and the use that is visited next.
typedef struct visit {
    int segment, member, use;
} visit;

static int width_of(const lwi_repeats *r, int segment)
{
    const int pack = r->segment[segment].pack;
    return pack < 0 ? 1 : r->pack[pack].width;
}

static int first_of(const lwi_repeats *r, int segment)
{
    const int pack = r->segment[segment].pack;
    return pack < 0 ? segment : r->packed[r->pack[pack].member];
}

static int member_of(const lwi_repeats *r, int segment, int i)
{
    const int pack = r->segment[segment].pack;
    return pack < 0 ? segment : r->packed[r->pack[pack].member + i];
}

// A source of the unit on top that is not yet in the order; -1: there is none.
static int next_source(const lwi_repeats *r, visit *top, const bool *begun)
{
    for (; top->member < width_of(r, top->segment); top->member++, top->use = 0) {
        const lwi_segment *s = &r->segment[member_of(r, top->segment, top->member)];
        while (top->use < s->nuse) {
            const int from = r->of[r->use[s->use + top->use++]];
            if (from >= 0 && !begun[first_of(r, from)]) return first_of(r, from);
        }
    }
    return -1;
}

// What a segment reads is evaluated shortly before it, and is still near then: first the sources, then the segment.
static lw_status find_order(lwi_repeats *r)
{
    bool *begun = LWI_PUSH(r->arena, bool, r->nsegment),
         *is_read = LWI_PUSH(r->arena, bool, r->nsegment);
    visit *stack = LWI_PUSH(r->arena, visit, r->nsegment);
    int n = 0;
    if (!begun || !is_read || !stack) return LW_ERR_MEMORY;
    memset(begun, 0, (size_t)r->nsegment * sizeof *begun);
    memset(is_read, 0, (size_t)r->nsegment * sizeof *is_read);
    for (int i = 0; i < r->nuse; i++)
        if (r->of[r->use[i]] >= 0) is_read[r->of[r->use[i]]] = true;
    for (int k = 0; k < r->nsegment; k++) {
        const int root = first_of(r, k);
        int depth = 0;
        if (is_read[k] || begun[root]) continue;
        stack[depth++] = (visit){.segment = root};
        begun[root] = true;
        while (depth > 0) {
            const int source = next_source(r, &stack[depth - 1], begun);
            if (source >= 0) {
                stack[depth++] = (visit){.segment = source};
                begun[source] = true;
                continue;
            }
            const int it = stack[--depth].segment;
            for (int i = 0; i < width_of(r, it); i++) r->order[n++] = member_of(r, it, i);
        }
    }
    LWI_ASSERT(n == r->nsegment);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- layouts

static lwi_spread spread_of(const lwi_repeats *r, const lwi_pack *p, const lwi_kind *k, int slot)
{
    bool row = true, same = true;
    int first = 0;
    for (int i = 0; i < p->width; i++) {
        const lwi_segment *s = &r->segment[r->packed[p->member + i]];
        const int at = lwi_repeats_address(r, r->use[s->use + k->lead[slot]]);
        if (i == 0) first = at;
        row = row && at == first + i;
        same = same && at == first;
    }
    return row ? LWI_SPREAD_ROW : same ? LWI_SPREAD_SAME : LWI_SPREAD_ANY;
}

// The layout of these spreads, which is new if there is none.
static int layout_of(lwi_repeats *r, int pack, lwi_spread *spread)
{
    const lwi_pack *p = &r->pack[pack];
    const int its = r->segment[r->packed[p->member]].kind, n = r->kind[its].nslot;
    for (int i = 0; i < r->nlayout; i++) {
        const lwi_pack_layout *l = &r->layout[i];
        if (l->kind == its && l->width == p->width &&
            !memcmp(l->spread, spread, (size_t)n * sizeof *spread))
            return i;
    }
    r->layout[r->nlayout] =
        (lwi_pack_layout){.pack = pack, .kind = its, .width = p->width, .spread = spread};
    return r->nlayout++;
}

static lw_status find_layout(lwi_repeats *r, int pack, bool any)
{
    lwi_pack *p = &r->pack[pack];
    const lwi_kind *k = &r->kind[r->segment[r->packed[p->member]].kind];
    lwi_spread *spread = LWI_PUSH(r->arena, lwi_spread, k->nslot + 1);
    if (!spread) return LW_ERR_MEMORY;
    for (int i = 0; i < k->nslot; i++) spread[i] = any ? LWI_SPREAD_ANY : spread_of(r, p, k, i);
    p->layout = layout_of(r, pack, spread);
    r->layout[p->layout].count++;
    return LW_OK;
}

// How many layouts of the kind and width occur.
static int count_layouts(const lwi_repeats *r, const lwi_pack_layout *its)
{
    int n = 0;
    for (int i = 0; i < r->nlayout; i++)
        n += r->layout[i].kind == its->kind && r->layout[i].width == its->width;
    return n;
}

static bool is_pack(const lwi_repeats *r, int i)
{
    return r->segment[r->packed[r->pack[i].member]].pack >= 0;
}

// Layouts that are rare become one, or the code would grow with the number of segments.
static lw_status find_layouts(lwi_repeats *r)
{
    r->layout = LWI_PUSH(r->arena, lwi_pack_layout, 2 * r->npack);
    if (!r->layout) return LW_ERR_MEMORY;
    for (int i = 0; i < r->npack; i++)
        if (is_pack(r, i)) TRY(find_layout(r, i, false));
    const int n = r->nlayout;
    for (int i = 0; i < r->npack; i++) {
        if (!is_pack(r, i)) continue;
        lwi_pack_layout *l = &r->layout[r->pack[i].layout];
        if (r->pack[i].layout >= n || l->count >= FEW || count_layouts(r, l) <= 2) continue;
        l->count--;
        TRY(find_layout(r, i, true));
    }
    return LW_OK;
}

// With other addresses the members may be of different kinds.
static bool is_whole(const lwi_repeats *r, const lwi_pack *p)
{
    for (int i = 1; i < p->width; i++)
        if (r->segment[r->packed[p->member + i]].kind != r->segment[r->packed[p->member]].kind)
            return false;
    return true;
}

lw_status lwi_repeats_pack(lwi_repeats *r, int lanes)
{
    TRY(find_packs(r, lanes));
    if (r->npack == r->nsegment) return LW_OK; // no two are evaluated together
    TRY(place_values(r, lanes));
    TRY(lwi_repeats_kinds(r));
    for (int i = 0; i < r->npack; i++) {
        if (is_whole(r, &r->pack[i])) continue;
        for (int j = 0; j < r->pack[i].width; j++)
            r->segment[r->packed[r->pack[i].member + j]].pack = -1;
    }
    TRY(find_order(r));
    return find_layouts(r);
}
