// repeat.c -- finds segments of the same operations, and their parameters and offsets.
//
// A part that occurs once has its numbers and places as literals.  Such parts in turn are one function, of bounded length:
// compilers take time that grows with more than the length of a function.
#include "codegen/segments.h"

#include "base/assert.h"

#include <string.h>

// Of models that need not have it, plain statements are faster where they are few, for compilers keep most values in
// registers, and where segments read and write more than half as many numbers as they have statements.
enum { FEWEST = 2500, FEWEST_LARGE = 250, WORTH = 2 };
// Kinds with fewer segments are merged with other such kinds of their shape.
enum { RARE = 8 };

// ---------------------------------------------------------------------------------------- segments

static void operands_of(const lwi_vertex *v, int32_t operand[3])
{
    operand[0] = v->a, operand[1] = v->b, operand[2] = v->c;
    const bool commutes = v->op == LWI_OP_ADD || v->op == LWI_OP_MUL;
    if (commutes && v->a > v->b) operand[0] = v->b, operand[1] = v->a;
}

// The order of operands that are literals is that of their creation: here they come first.
static void literals_first(const lwi_repeats *r, const lwi_vertex *v, int32_t operand[3])
{
    operands_of(v, operand);
    const bool commutes = v->op == LWI_OP_ADD || v->op == LWI_OP_MUL;
    if (!commutes || r->graph->vertex[operand[1]].op != LWI_OP_LITERAL) return;
    const int32_t x = operand[0];
    operand[0] = operand[1], operand[1] = x;
}

static void add_value(lwi_repeats *r, int k, int i)
{
    lwi_segment *s = &r->segment[k];
    const lwi_vertex *v = &r->graph->vertex[i];
    int32_t operand[3];
    r->of[i] = k, r->position[i] = s->n++;
    r->live[r->nlive++] = i;
    r->code[r->ncode++] = (int)v->op;
    literals_first(r, v, operand);
    for (int j = 0; j < lwi_codegen_operands(v->op); j++) {
        const int o = operand[j];
        if (r->graph->vertex[o].op == LWI_OP_LITERAL) {
            r->code[r->ncode++] = LWI_OF_LITERAL;
            r->number[r->nnumber++] = o;
        } else if (r->of[o] == k) {
            r->code[r->ncode++] = r->position[o];
        } else {
            r->code[r->ncode++] = LWI_OF_OTHER;
            r->use[r->nuse++] = o;
        }
    }
}

// Is each check of an operation?
static bool checks_operations(const lwi_codegen_graph *g)
{
    for (int i = 0; i < g->ncheck; i++)
        if (!lwi_codegen_is_operation(&g->vertex[g->check[i].value.index])) return false;
    return true;
}

// Checks follow their values.
static void add_checks(lwi_repeats *r)
{
    const lwi_codegen_graph *g = r->graph;
    for (int k = 0; k < r->nsegment; k++) {
        r->segment[k].check = r->ncheck;
        for (int i = 0; i < g->ncheck; i++)
            if (r->of[g->check[i].value.index] == k) r->check[r->ncheck++] = i;
        r->segment[k].ncheck = r->ncheck - r->segment[k].check;
    }
}

static void begin_segment(lwi_repeats *r, int vertex)
{
    r->segment[r->nsegment++] = (lwi_segment){.first = r->nlive,
                                              .vertex = vertex,
                                              .pack = -1,
                                              .code = r->ncode,
                                              .use = r->nuse,
                                              .number = r->nnumber};
}

static void end_segment(lwi_repeats *r)
{
    lwi_segment *s = &r->segment[r->nsegment - 1];
    s->ncode = r->ncode - s->code, s->nuse = r->nuse - s->use;
    s->nliteral = r->nnumber - s->number;
    s->hash = 2166136261u;
    for (int i = 0; i < s->ncode; i++)
        s->hash = (s->hash ^ (uint32_t)r->code[s->code + i]) * 16777619u;
    if (s->n == 0) r->nsegment--;
}

static bool is_statement(const lwi_codegen_graph *g, int i)
{
    return g->vertex[i].uses > 0 && lwi_codegen_is_operation(&g->vertex[i]);
}

// Segments begin at notes, and where the one before is long enough.
static int find_beginnings(lwi_repeats *r)
{
    const lwi_codegen_graph *g = r->graph;
    int note = 0, length = 0, count = 1;
    for (int i = 0; i < g->nvertex; i++) {
        const int before = note;
        while (note < g->nnote && g->note[note].before <= i) note++;
        r->begins[i] = i == 0 || note > before || length == r->limits.once;
        if (r->begins[i]) length = 0;
        count += r->begins[i];
        length += is_statement(g, i);
    }
    return count;
}

static void divide(lwi_repeats *r)
{
    const lwi_codegen_graph *g = r->graph;
    r->nsegment = r->nlive = r->ncode = r->nuse = r->nnumber = r->ncheck = 0;
    for (int i = 0; i < g->nvertex; i++) {
        if (r->begins[i]) {
            if (i > 0) end_segment(r);
            begin_segment(r, i);
        }
        r->of[i] = -1;
        if (is_statement(g, i)) add_value(r, r->nsegment - 1, i);
    }
    if (g->nvertex > 0) end_segment(r);
}

static lw_status make_room(lwi_repeats *r)
{
    const size_t n = (size_t)r->graph->nvertex;
    r->begins = LWI_PUSH(r->arena, bool, n + 1);
    if (!r->begins) return LW_ERR_MEMORY;
    const int count = find_beginnings(r);
    r->segment = LWI_PUSH(r->arena, lwi_segment, count);
    r->shape = LWI_PUSH(r->arena, lwi_shape, count);
    r->kind = LWI_PUSH(r->arena, lwi_kind, count);
    r->member = LWI_PUSH(r->arena, int, count);
    r->order = LWI_PUSH(r->arena, int, count);
    r->of = LWI_PUSH(r->arena, int, n);
    r->position = LWI_PUSH(r->arena, int, n);
    r->seen = LWI_PUSH(r->arena, int, n);
    r->live = LWI_PUSH(r->arena, int, n);
    r->code = LWI_PUSH(r->arena, int, 4 * n);
    r->use = LWI_PUSH(r->arena, int, 3 * n);
    r->number = LWI_PUSH(r->arena, int, 3 * n);
    r->check = LWI_PUSH(r->arena, int, r->graph->ncheck + 1);
    return r->segment && r->shape && r->kind && r->member && r->order && r->of && r->position &&
                   r->seen && r->live && r->code && r->use && r->number && r->check
               ? LW_OK
               : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------------ shapes

static bool same_code(const lwi_repeats *r, const lwi_segment *a, const lwi_segment *b)
{
    if (a->hash != b->hash || a->n != b->n || a->ncode != b->ncode || a->ncheck != b->ncheck)
        return false;
    if (memcmp(r->code + a->code, r->code + b->code, (size_t)a->ncode * sizeof *r->code) != 0)
        return false;
    for (int i = 0; i < a->ncheck; i++) {
        const lwi_check *x = &r->graph->check[r->check[a->check + i]],
                        *y = &r->graph->check[r->check[b->check + i]];
        if (r->position[x->value.index] != r->position[y->value.index] || x->limit != y->limit)
            return false;
    }
    return true;
}

static lw_status find_shapes(lwi_repeats *r)
{
    r->nshape = 0;
    for (int k = 0; k < r->nsegment; k++) {
        lwi_segment *s = &r->segment[k];
        for (s->shape = 0; s->shape < r->nshape; s->shape++)
            if (same_code(r, s, &r->segment[r->shape[s->shape].segment])) break;
        if (s->shape < r->nshape) continue;
        lwi_shape *new = &r->shape[r->nshape++];
        *new = (lwi_shape){.segment = k, .stride = 1, .place = LWI_PUSH(r->arena, int, s->n)};
        if (!new->place) return LW_ERR_MEMORY;
        for (int i = 0; i < s->n; i++) new->place[i] = -1;
    }
    return LW_OK;
}

static void mark_read(lwi_repeats *r, int value)
{
    if (r->of[value] >= 0) r->shape[r->segment[r->of[value]].shape].place[r->position[value]] = 0;
}

static void read_inputs(lwi_repeats *r)
{
    const lwi_codegen_graph *g = r->graph;
    int last[LWI_GRAPH_ARRAYS];
    r->room = 0;
    for (int a = 0; a < g->narray; a++) r->first[a] = 0, last[a] = -1;
    for (int i = 0; i < g->nvertex; i++) {
        const lwi_vertex *v = &g->vertex[i];
        if (v->op != LWI_OP_INPUT || v->uses == 0) continue;
        if (last[v->a] < 0 || v->b < r->first[v->a]) r->first[v->a] = v->b;
        if (v->b > last[v->a]) last[v->a] = v->b;
    }
    for (int a = 0; a < g->narray; a++) {
        r->count[a] = last[a] < 0 ? 0 : last[a] + 1 - r->first[a];
        r->base[a] = r->room;
        r->room += r->count[a];
    }
}

// Places of all values that another segment or an output reads.
static void place_values(lwi_repeats *r)
{
    const lwi_codegen_graph *g = r->graph;
    read_inputs(r);
    for (int i = 0; i < r->nuse; i++) mark_read(r, r->use[i]);
    for (int i = 0; i < g->noutput; i++) mark_read(r, g->output[i].value.index);
    for (int k = 0; k < r->nshape; k++) {
        lwi_shape *s = &r->shape[k];
        for (int i = 0; i < r->segment[s->segment].n; i++)
            if (s->place[i] >= 0) s->place[i] = s->nplace++;
    }
    for (int k = 0; k < r->nsegment; k++) {
        r->segment[k].address = r->room;
        r->room += r->shape[r->segment[k].shape].nplace;
    }
}

// Where in the array of values it is.
int lwi_repeats_address(const lwi_repeats *r, int value)
{
    const lwi_vertex *v = &r->graph->vertex[value];
    if (v->op == LWI_OP_INPUT) return r->base[v->a] + v->b - r->first[v->a];
    const lwi_segment *s = &r->segment[r->of[value]];
    const int place = r->shape[s->shape].place[r->position[value]];
    LWI_ASSERT(place >= 0);
    return s->address + place * r->shape[s->shape].stride;
}

// ------------------------------------------------------------------------------------------- kinds

static int source_of(const lwi_repeats *r, int value)
{
    const lwi_vertex *v = &r->graph->vertex[value];
    return v->op == LWI_OP_INPUT ? -1 - v->a : r->of[value];
}

// Uses of one source share the base of the first of them; in segments that are `apart` only uses of one value do.
static void find_slots(const lwi_repeats *r, const lwi_segment *s, lwi_kind *k)
{
    const int *use = r->use + s->use;
    for (int i = 0; i < s->nuse; i++) {
        int slot = 0;
        while (slot < k->nslot &&
               !(s->apart ? use[k->lead[slot]] == use[i]
                          : source_of(r, use[k->lead[slot]]) == source_of(r, use[i])))
            slot++;
        if (slot == k->nslot) k->lead[k->nslot++] = i;
        k->slot[i] = slot;
        k->offset[i] = lwi_repeats_address(r, use[i]) - lwi_repeats_address(r, use[k->lead[slot]]);
    }
}

static bool has_slots(const lwi_repeats *r, const lwi_segment *s, const lwi_kind *k)
{
    const int *use = r->use + s->use;
    if (s->shape != r->segment[k->segment].shape || s->apart != r->segment[k->segment].apart)
        return false;
    for (int i = 0; i < s->nuse; i++)
        if (lwi_repeats_address(r, use[i]) - lwi_repeats_address(r, use[k->lead[k->slot[i]]]) !=
            k->offset[i])
            return false;
    return true;
}

// Uses of one value are one variable.
static void find_variables(lwi_repeats *r, const lwi_segment *s, lwi_kind *k)
{
    const int *use = r->use + s->use;
    for (int i = 0; i < s->nuse; i++) r->seen[use[i]] = -1;
    for (int i = 0; i < s->nuse; i++) {
        if (r->seen[use[i]] < 0) r->seen[use[i]] = i;
        k->variable[i] = r->seen[use[i]];
    }
}

static lw_status create_kind(lwi_repeats *r, int i)
{
    const lwi_segment *s = &r->segment[i];
    lwi_kind *k = &r->kind[r->nkind++];
    *k = (lwi_kind){.segment = i,
                    .slot = LWI_PUSH(r->arena, int, s->nuse + 1),
                    .offset = LWI_PUSH(r->arena, int, s->nuse + 1),
                    .variable = LWI_PUSH(r->arena, int, s->nuse + 1),
                    .lead = LWI_PUSH(r->arena, int, s->nuse + 1),
                    .column = LWI_PUSH(r->arena, int, s->nliteral + 1)};
    if (!k->slot || !k->offset || !k->variable || !k->lead || !k->column) return LW_ERR_MEMORY;
    find_slots(r, s, k);
    find_variables(r, s, k);
    for (int j = 0; j < s->nliteral; j++) k->column[j] = -1;
    return LW_OK;
}

// Of each kind the segments in the order of their evaluation.
static void list_members(lwi_repeats *r)
{
    for (int k = 0, n = 0; k < r->nkind; k++) {
        r->kind[k].member = n;
        n += r->kind[k].count;
        r->kind[k].count = 0;
    }
    for (int i = 0; i < r->nsegment; i++) {
        lwi_kind *k = &r->kind[r->segment[r->order[i]].kind];
        r->member[k->member + k->count++] = r->order[i];
    }
}

static lw_status sort_kinds(lwi_repeats *r)
{
    r->nkind = 0;
    for (int i = 0; i < r->nsegment; i++) {
        lwi_segment *s = &r->segment[i];
        for (s->kind = 0; s->kind < r->nkind; s->kind++)
            if (has_slots(r, s, &r->kind[s->kind])) break;
        if (s->kind == r->nkind) TRY(create_kind(r, i));
        r->kind[s->kind].count++;
    }
    return LW_OK;
}

// Marks the segments of rare kinds as `apart` where their shape has several rare kinds.
static lw_status set_apart(lwi_repeats *r)
{
    int *rare = LWI_PUSH(r->arena, int, r->nshape + 1);
    if (!rare) return LW_ERR_MEMORY;
    memset(rare, 0, (size_t)(r->nshape + 1) * sizeof *rare);
    for (int k = 0; k < r->nkind; k++)
        rare[r->segment[r->kind[k].segment].shape] += r->kind[k].count < RARE;
    for (int i = 0; i < r->nsegment; i++) {
        lwi_segment *s = &r->segment[i];
        s->apart = rare[s->shape] > 1 && r->kind[s->kind].count < RARE;
    }
    return LW_OK;
}

lw_status lwi_repeats_kinds(lwi_repeats *r)
{
    for (int i = 0; i < r->nsegment; i++) r->segment[i].apart = false;
    TRY(sort_kinds(r));
    TRY(set_apart(r));
    return sort_kinds(r);
}

static double number_of(const lwi_repeats *r, const lwi_segment *s, int i)
{
    return r->graph->vertex[r->number[s->number + i]].literal;
}

const lwi_segment *lwi_repeats_member(const lwi_repeats *r, const lwi_kind *k, int i)
{
    LWI_ASSERT_INDEX(i, k->count);
    return &r->segment[r->member[k->member + i]];
}

// Do all segments of a kind have the same numbers in two columns?
static bool same_columns(const lwi_repeats *r, const lwi_kind *k, int i, int j)
{
    for (int n = 0; n < k->count; n++) {
        const lwi_segment *s = lwi_repeats_member(r, k, n);
        if (number_of(r, s, i) != number_of(r, s, j)) return false;
    }
    return true;
}

// Literals that differ between the segments of a kind are parameters.
static void find_columns(lwi_repeats *r)
{
    for (int i = 0; i < r->nsegment; i++) {
        const lwi_segment *s = &r->segment[i];
        lwi_kind *k = &r->kind[s->kind];
        for (int j = 0; j < s->nliteral; j++)
            if (number_of(r, s, j) != number_of(r, &r->segment[k->segment], j)) k->column[j] = 0;
    }
    for (int w = 0; w < r->nkind; w++) {
        lwi_kind *k = &r->kind[w];
        for (int j = 0; j < r->segment[k->segment].nliteral; j++) {
            if (k->column[j] < 0) continue;
            int same = 0;
            while (same < j && (k->column[same] < 0 || !same_columns(r, k, same, j))) same++;
            k->column[j] = same < j ? k->column[same] : k->ncolumn++;
        }
    }
}

bool lwi_repeats_packed(const lwi_repeats *r)
{
    return r->nlayout > 0;
}

int lwi_repeats_statements(const lwi_repeats *r)
{
    int n = 0;
    for (int k = 0; k < r->nkind; k++) n += r->segment[r->kind[k].segment].n;
    for (int i = 0; i < r->nlayout; i++)
        if (r->layout[i].count > 0) n += r->segment[r->kind[r->layout[i].kind].segment].n;
    return n;
}

// Of GCC 12, for functions of 400 to 8000 statements; longer ones take more for each.
double lwi_compiler_seconds(int n)
{
    return n * (5e-4 + 2.25e-11 * n * n);
}

double lwi_repeats_seconds(const lwi_repeats *r)
{
    double sum = 0;
    for (int k = 0; k < r->nkind; k++)
        sum += lwi_compiler_seconds(r->segment[r->kind[k].segment].n);
    for (int i = 0; i < r->nlayout; i++)
        if (r->layout[i].count > 0)
            sum += lwi_compiler_seconds(r->segment[r->kind[r->layout[i].kind].segment].n);
    return sum;
}

// Is it shorter, and not much slower than plain statements?  A pack takes the time of one segment.
static bool is_worth(const lwi_repeats *r, bool large)
{
    double work = 0;
    int statements = 0;
    for (int k = 0; k < r->nkind; k++) statements += r->segment[r->kind[k].segment].n;
    for (int i = 0; i < r->nsegment; i++) {
        const lwi_segment *s = &r->segment[i];
        const lwi_kind *k = &r->kind[s->kind];
        int n = s->n + r->shape[s->shape].nplace;
        for (int j = 0; j < s->nuse; j++) n += k->variable[j] == j;
        work += n / (double)(s->pack < 0 ? 1 : r->pack[s->pack].width);
    }
    if (r->nlive > r->limits.plain) return true;
    return WORTH * statements <= r->nlive && (large || 2 * work <= 3 * r->nlive);
}

static lw_status classify(lwi_repeats *r)
{
    divide(r);
    add_checks(r);
    TRY(find_shapes(r));
    place_values(r);
    for (int k = 0; k < r->nsegment; k++) r->order[k] = k;
    return lwi_repeats_kinds(r);
}

static bool is_single(const lwi_repeats *r, const lwi_segment *s)
{
    return r->kind[s->kind].count == 1;
}

// Neighbours that occur once become one segment: their values stay in registers.  false: there are none.
static bool join(lwi_repeats *r)
{
    bool any = false;
    int length = 0;
    memset(r->begins, 0, (size_t)r->graph->nvertex * sizeof *r->begins);
    for (int k = 0; k < r->nsegment; k++) {
        const lwi_segment *s = &r->segment[k];
        const bool joins =
            k > 0 && is_single(r, s) && is_single(r, s - 1) && length + s->n <= r->limits.once;
        length = joins ? length + s->n : s->n;
        r->begins[s->vertex] = !joins;
        any |= joins;
    }
    r->begins[0] = true;
    return any;
}

lw_status lwi_repeats_find(const lwi_codegen_graph *g, bool large, lwi_repeats_limits limits,
                           int lanes, lwi_arena *arena, lwi_repeats **out)
{
    *out = NULL;
    if (g->failed || lwi_codegen_graph_statements(g) < (large ? FEWEST_LARGE : FEWEST))
        return LW_OK;
    lwi_repeats *r = LWI_PUSH(arena, lwi_repeats, 1);
    if (!r) return LW_ERR_MEMORY;
    *r = (lwi_repeats){.graph = g, .arena = arena, .limits = limits};
    TRY(make_room(r));
    if (!checks_operations(g)) return LW_OK;
    TRY(classify(r));
    if (join(r)) TRY(classify(r));
    list_members(r);
    if (lanes > 0) TRY(lwi_repeats_pack(r, lanes));
    list_members(r);
    find_columns(r);
    if (is_worth(r, large)) *out = r;
    return LW_OK;
}
