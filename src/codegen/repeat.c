// repeat.c -- segments of the same operations, their parameters and offsets, and what is printed of both.
#include "codegen/repeat.h"

#include "base/assert.h"
#include "codegen/sources.h"

#include <string.h>

// Of models that need not have it, plain statements are faster where they are few, for compilers keep most values in
// registers, and where segments read and write more than half as many numbers as they have statements.
enum { FEWEST = 2500, FEWEST_LARGE = 250, WORTH = 2 };

// An operand of a value in a segment: the position of another one there, or one of these.
enum { OF_LITERAL = -1, OF_OTHER = -2, IS_CHECK = -3 };

typedef struct segment {
    int first, n;    // values with an operation: live[first ...]
    int code, ncode; // the operations and kinds of operands
    int use, nuse;   // operands that are values of others, or inputs
    int number, nliteral;
    int check, ncheck;
    uint32_t hash;
    int shape, kind;
    int address; // of what others read
} segment;

// Segments with the same code.
typedef struct shape {
    int segment; // the first one
    int *place;  // [n] of a value among those that others read; -1: none does
    int nplace;
} shape;

// Segments of a shape that find what they read at the same distances from each other.
typedef struct kind {
    int segment, count; // the first one
    int *slot, *offset; // [nuse] which base, and how far from it
    int *lead;          // [nslot] the first use of each
    int nslot;
    int *column; // [nliteral] parameter; -1: a number
    int ncolumn;
} kind;

struct lwi_repeats {
    const lwi_codegen_graph *graph;
    lwi_arena *arena;
    segment *segment;
    int nsegment;
    int *of, *position; // [nvertex] segment of a value, and where it is there
    int *live, *code, *use, *number, *check;
    int nlive, ncode, nuse, nnumber, ncheck;
    shape *shape;
    int nshape;
    kind *kind;
    int nkind;
    int first[LWI_GRAPH_ARRAYS], count[LWI_GRAPH_ARRAYS]; // entries that are read
    int base[LWI_GRAPH_ARRAYS];
    int room; // numbers in the array of values
};

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
    segment *s = &r->segment[k];
    const lwi_vertex *v = &r->graph->vertex[i];
    int32_t operand[3];
    r->of[i] = k, r->position[i] = s->n++;
    r->live[r->nlive++] = i;
    r->code[r->ncode++] = (int)v->op;
    literals_first(r, v, operand);
    for (int j = 0; j < lwi_codegen_operands(v->op); j++) {
        const int o = operand[j];
        if (r->graph->vertex[o].op == LWI_OP_LITERAL) {
            r->code[r->ncode++] = OF_LITERAL;
            r->number[r->nnumber++] = o;
        } else if (r->of[o] == k) {
            r->code[r->ncode++] = r->position[o];
        } else {
            r->code[r->ncode++] = OF_OTHER;
            r->use[r->nuse++] = o;
        }
    }
}

// Checks follow their values.  false: one is of no operation.
static bool add_checks(lwi_repeats *r)
{
    const lwi_codegen_graph *g = r->graph;
    for (int i = 0; i < g->ncheck; i++)
        if (!lwi_codegen_is_operation(&g->vertex[g->check[i].value.index])) return false;
    for (int k = 0; k < r->nsegment; k++) {
        r->segment[k].check = r->ncheck;
        for (int i = 0; i < g->ncheck; i++)
            if (r->of[g->check[i].value.index] == k) r->check[r->ncheck++] = i;
        r->segment[k].ncheck = r->ncheck - r->segment[k].check;
    }
    return true;
}

static void begin_segment(lwi_repeats *r)
{
    r->segment[r->nsegment++] =
        (segment){.first = r->nlive, .code = r->ncode, .use = r->nuse, .number = r->nnumber};
}

static void end_segment(lwi_repeats *r)
{
    segment *s = &r->segment[r->nsegment - 1];
    s->ncode = r->ncode - s->code, s->nuse = r->nuse - s->use;
    s->nliteral = r->nnumber - s->number;
    s->hash = 2166136261u;
    for (int i = 0; i < s->ncode; i++)
        s->hash = (s->hash ^ (uint32_t)r->code[s->code + i]) * 16777619u;
    if (s->n == 0) r->nsegment--;
}

static void divide(lwi_repeats *r)
{
    const lwi_codegen_graph *g = r->graph;
    int note = 0;
    begin_segment(r);
    for (int i = 0; i < g->nvertex; i++) {
        const int before = note;
        while (note < g->nnote && g->note[note].before <= i) note++;
        if (note > before) {
            end_segment(r);
            begin_segment(r);
        }
        r->of[i] = -1;
        if (g->vertex[i].uses > 0 && lwi_codegen_is_operation(&g->vertex[i]))
            add_value(r, r->nsegment - 1, i);
    }
    end_segment(r);
}

static lw_status make_room(lwi_repeats *r)
{
    const size_t n = (size_t)r->graph->nvertex, notes = (size_t)r->graph->nnote + 2;
    r->segment = LWI_PUSH(r->arena, segment, notes);
    r->shape = LWI_PUSH(r->arena, shape, notes);
    r->kind = LWI_PUSH(r->arena, kind, notes);
    r->of = LWI_PUSH(r->arena, int, n);
    r->position = LWI_PUSH(r->arena, int, n);
    r->live = LWI_PUSH(r->arena, int, n);
    r->code = LWI_PUSH(r->arena, int, 4 * n);
    r->use = LWI_PUSH(r->arena, int, 3 * n);
    r->number = LWI_PUSH(r->arena, int, 3 * n);
    r->check = LWI_PUSH(r->arena, int, r->graph->ncheck + 1);
    return r->segment && r->shape && r->kind && r->of && r->position && r->live && r->code &&
                   r->use && r->number && r->check
               ? LW_OK
               : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------------ shapes

static bool same_code(const lwi_repeats *r, const segment *a, const segment *b)
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
    for (int k = 0; k < r->nsegment; k++) {
        segment *s = &r->segment[k];
        for (s->shape = 0; s->shape < r->nshape; s->shape++)
            if (same_code(r, s, &r->segment[r->shape[s->shape].segment])) break;
        if (s->shape < r->nshape) continue;
        shape *new = &r->shape[r->nshape++];
        *new = (shape){.segment = k, .place = LWI_PUSH(r->arena, int, s->n)};
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
        shape *s = &r->shape[k];
        for (int i = 0; i < r->segment[s->segment].n; i++)
            if (s->place[i] >= 0) s->place[i] = s->nplace++;
    }
    for (int k = 0; k < r->nsegment; k++) {
        r->segment[k].address = r->room;
        r->room += r->shape[r->segment[k].shape].nplace;
    }
}

// Where in the array of values it is.
static int address_of(const lwi_repeats *r, int value)
{
    const lwi_vertex *v = &r->graph->vertex[value];
    if (v->op == LWI_OP_INPUT) return r->base[v->a] + v->b - r->first[v->a];
    const segment *s = &r->segment[r->of[value]];
    const int place = r->shape[s->shape].place[r->position[value]];
    LWI_ASSERT(place >= 0);
    return s->address + place;
}

// ------------------------------------------------------------------------------------------- kinds

static int source_of(const lwi_repeats *r, int value)
{
    const lwi_vertex *v = &r->graph->vertex[value];
    return v->op == LWI_OP_INPUT ? -1 - v->a : r->of[value];
}

// Uses of one source have the base of the first of them.
static void find_slots(const lwi_repeats *r, const segment *s, kind *k)
{
    const int *use = r->use + s->use;
    for (int i = 0; i < s->nuse; i++) {
        int slot = 0;
        while (slot < k->nslot && source_of(r, use[k->lead[slot]]) != source_of(r, use[i])) slot++;
        if (slot == k->nslot) k->lead[k->nslot++] = i;
        k->slot[i] = slot;
        k->offset[i] = address_of(r, use[i]) - address_of(r, use[k->lead[slot]]);
    }
}

static bool has_slots(const lwi_repeats *r, const segment *s, const kind *k)
{
    const int *use = r->use + s->use;
    if (s->shape != r->segment[k->segment].shape) return false;
    for (int i = 0; i < s->nuse; i++)
        if (address_of(r, use[i]) - address_of(r, use[k->lead[k->slot[i]]]) != k->offset[i])
            return false;
    return true;
}

static lw_status find_kinds(lwi_repeats *r)
{
    for (int i = 0; i < r->nsegment; i++) {
        segment *s = &r->segment[i];
        for (s->kind = 0; s->kind < r->nkind; s->kind++)
            if (has_slots(r, s, &r->kind[s->kind])) break;
        if (s->kind == r->nkind) {
            kind *k = &r->kind[r->nkind++];
            *k = (kind){.segment = i,
                        .slot = LWI_PUSH(r->arena, int, s->nuse + 1),
                        .offset = LWI_PUSH(r->arena, int, s->nuse + 1),
                        .lead = LWI_PUSH(r->arena, int, s->nuse + 1),
                        .column = LWI_PUSH(r->arena, int, s->nliteral + 1)};
            if (!k->slot || !k->offset || !k->lead || !k->column) return LW_ERR_MEMORY;
            find_slots(r, s, k);
            for (int j = 0; j < s->nliteral; j++) k->column[j] = -1;
        }
        r->kind[s->kind].count++;
    }
    return LW_OK;
}

static double number_of(const lwi_repeats *r, const segment *s, int i)
{
    return r->graph->vertex[r->number[s->number + i]].literal;
}

// Do all segments of a kind have the same numbers in two columns?
static bool same_columns(const lwi_repeats *r, int which, int i, int j)
{
    for (int n = 0; n < r->nsegment; n++) {
        const segment *s = &r->segment[n];
        if (s->kind == which && number_of(r, s, i) != number_of(r, s, j)) return false;
    }
    return true;
}

// Literals that differ between the segments of a kind are parameters.
static void find_columns(lwi_repeats *r)
{
    for (int i = 0; i < r->nsegment; i++) {
        const segment *s = &r->segment[i];
        kind *k = &r->kind[s->kind];
        for (int j = 0; j < s->nliteral; j++)
            if (number_of(r, s, j) != number_of(r, &r->segment[k->segment], j)) k->column[j] = 0;
    }
    for (int w = 0; w < r->nkind; w++) {
        kind *k = &r->kind[w];
        for (int j = 0; j < r->segment[k->segment].nliteral; j++) {
            if (k->column[j] < 0) continue;
            int same = 0;
            while (same < j && (k->column[same] < 0 || !same_columns(r, w, same, j))) same++;
            k->column[j] = same < j ? k->column[same] : k->ncolumn++;
        }
    }
}

int lwi_repeats_statements(const lwi_repeats *r)
{
    int n = 0;
    for (int k = 0; k < r->nkind; k++) n += r->segment[r->kind[k].segment].n;
    return n;
}

// Uses with the same base and offset are one variable, the first of them.
static int variable_of(const kind *k, int use)
{
    for (int i = 0; i < use; i++)
        if (k->slot[i] == k->slot[use] && k->offset[i] == k->offset[use]) return i;
    return use;
}

// Is it shorter, and not much slower than plain statements?
static bool is_worth(const lwi_repeats *r, bool large)
{
    long moved = 0;
    for (int w = 0; w < r->nkind; w++) {
        const kind *k = &r->kind[w];
        const segment *s = &r->segment[k->segment];
        int n = r->shape[s->shape].nplace;
        for (int i = 0; i < s->nuse; i++) n += variable_of(k, i) == i;
        moved += (long)n * k->count;
    }
    return WORTH * lwi_repeats_statements(r) <= r->nlive && (large || 2 * moved <= r->nlive);
}

lw_status lwi_repeats_find(const lwi_codegen_graph *g, bool large, lwi_arena *arena,
                           lwi_repeats **out)
{
    *out = NULL;
    if (g->failed || lwi_codegen_graph_statements(g) < (large ? FEWEST_LARGE : FEWEST))
        return LW_OK;
    lwi_repeats *r = LWI_PUSH(arena, lwi_repeats, 1);
    if (!r) return LW_ERR_MEMORY;
    *r = (lwi_repeats){.graph = g, .arena = arena};
    TRY(make_room(r));
    divide(r);
    if (!add_checks(r)) return LW_OK;
    TRY(find_shapes(r));
    place_values(r);
    TRY(find_kinds(r));
    find_columns(r);
    if (is_worth(r, large)) *out = r;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ tables

static const char *type_of(int lanes)
{
    return lanes ? "real" : "double";
}

// Bases of what it reads, of what others read, and the numbers of its checks.
static void print_slots(const lwi_repeats *r, const segment *s, FILE *file)
{
    const kind *k = &r->kind[s->kind];
    fprintf(file, "    {%d", s->address);
    for (int i = 0; i < k->nslot; i++)
        fprintf(file, ", %d", address_of(r, r->use[s->use + k->lead[i]]));
    for (int i = 0; i < s->ncheck; i++)
        fprintf(file, ", %d", r->graph->check[r->check[s->check + i]].code);
    fputs("},\n", file);
}

static void print_parameters(const lwi_repeats *r, const segment *s, FILE *file)
{
    const kind *k = &r->kind[s->kind];
    int n = 0;
    char text[48];
    fputs("    {", file);
    for (int i = 0; i < s->nliteral; i++) {
        if (k->column[i] != n) continue;
        lwi_codegen_literal(number_of(r, s, i), "", text, sizeof text);
        fprintf(file, "%s%s", n++ ? ", " : "", text);
    }
    fputs("},\n", file);
}

static int width_of(const lwi_repeats *r, int which)
{
    const kind *k = &r->kind[which];
    return 1 + k->nslot + r->segment[k->segment].ncheck;
}

static void print_kind_tables(const lwi_repeats *r, const char *name, int which, FILE *file)
{
    const kind *k = &r->kind[which];
    fprintf(file, "static const int %s_slots%d[%d][%d] = {\n", name, which, k->count,
            width_of(r, which));
    for (int i = 0; i < r->nsegment; i++)
        if (r->segment[i].kind == which) print_slots(r, &r->segment[i], file);
    fputs("};\n", file);
    if (k->ncolumn == 0) return;
    fprintf(file, "static const double %s_numbers%d[%d][%d] = {\n", name, which, k->count,
            k->ncolumn);
    for (int i = 0; i < r->nsegment; i++)
        if (r->segment[i].kind == which) print_parameters(r, &r->segment[i], file);
    fputs("};\n", file);
}

static int count_runs(const lwi_repeats *r)
{
    int n = 0;
    for (int i = 0; i < r->nsegment; i++)
        n += i == 0 || r->segment[i].kind != r->segment[i - 1].kind;
    return n;
}

// In the order of the segments: which kind, and how many of it.
static void print_runs(const lwi_repeats *r, const char *name, FILE *file)
{
    fprintf(file, "static const int %s_runs[%d][2] = {\n", name, count_runs(r));
    for (int i = 0; i < r->nsegment;) {
        int n = 1;
        while (i + n < r->nsegment && r->segment[i + n].kind == r->segment[i].kind) n++;
        fprintf(file, "    {%d, %d},\n", r->segment[i].kind, n);
        i += n;
    }
    fputs("};\n", file);
}

static int outputs_of(const lwi_repeats *r, int array)
{
    int n = 0;
    for (int i = 0; i < r->graph->noutput; i++) {
        const lwi_output *o = &r->graph->output[i];
        n += o->array == array && r->graph->vertex[o->value.index].op != LWI_OP_LITERAL;
    }
    return n;
}

static void print_outputs(const lwi_repeats *r, const char *name, int array, FILE *file)
{
    const int n = outputs_of(r, array);
    if (n == 0) return;
    fprintf(file, "static const int %s_%s[%d][2] = {\n", name, r->graph->array[array], n);
    for (int i = 0; i < r->graph->noutput; i++) {
        const lwi_output *o = &r->graph->output[i];
        if (o->array == array && r->graph->vertex[o->value.index].op != LWI_OP_LITERAL)
            fprintf(file, "    {%d, %d},\n", o->entry, address_of(r, o->value.index));
    }
    fputs("};\n", file);
}

// --------------------------------------------------------------------------------------- functions

// Of a kind: the next operands to print.
typedef struct writing {
    const lwi_repeats *r;
    const kind *k;
    const segment *s;
    FILE *file;
    const int *code;
    int use, literal;
    bool lanes;
} writing;

static void put_operand(writing *w, bool of_call)
{
    const int from = *w->code++;
    char text[48];
    if (from >= 0) {
        fprintf(w->file, "t%d", from);
    } else if (from == OF_OTHER) {
        fprintf(w->file, "x%d", variable_of(w->k, w->use++));
    } else {
        const int column = w->k->column[w->literal];
        if (column >= 0)
            snprintf(text, sizeof text, "p[%d]", column);
        else
            lwi_codegen_literal(number_of(w->r, w->s, w->literal), "", text, sizeof text);
        w->literal++;
        fprintf(w->file, "%s(%s)", of_call && w->lanes ? "(real){0} + " : "", text);
    }
}

// What the next operation reads from elsewhere, if none before did: near its use, for compilers read all that is between.
static void put_reads(const writing *w, lwi_op op)
{
    int use = w->use;
    for (int i = 0; i < lwi_codegen_operands(op); i++) {
        if (w->code[i] != OF_OTHER) continue;
        if (variable_of(w->k, use) == use)
            fprintf(w->file, "    const %s x%d = w[s[%d] + %d];\n", type_of(w->lanes), use,
                    1 + w->k->slot[use], w->k->offset[use]);
        use++;
    }
}

static void put_value(writing *w, int i)
{
    const lwi_op op = (lwi_op)*w->code++;
    put_reads(w, op);
    static const char *const sign[] = {
        [LWI_OP_ADD] = "+", [LWI_OP_SUB] = "-", [LWI_OP_MUL] = "*", [LWI_OP_DIV] = "/"};
    fprintf(w->file, "    const %s t%d = ", type_of(w->lanes), i);
    if (op == LWI_OP_NEG) {
        fputc('-', w->file);
        put_operand(w, false);
    } else if (op >= LWI_OP_ADD && op <= LWI_OP_DIV) {
        put_operand(w, false);
        fprintf(w->file, " %s ", sign[op]);
        put_operand(w, false);
    } else {
        fprintf(w->file, "%s(", lwi_codegen_function_name(op));
        for (int k = 0; k < lwi_codegen_operands(op); k++) {
            if (k > 0) fputs(", ", w->file);
            put_operand(w, true);
        }
        fputc(')', w->file);
    }
    fputs(";\n", w->file);
}

static void put_checks(const writing *w, int position)
{
    char limit[48];
    for (int i = 0; i < w->s->ncheck; i++) {
        const lwi_check *c = &w->r->graph->check[w->r->check[w->s->check + i]];
        if (w->r->position[c->value.index] != position) continue;
        lwi_codegen_literal(c->limit, "", limit, sizeof limit);
        fprintf(w->file, "    CHECK(t%d, %s, s[%d]);\n", position, limit, 1 + w->k->nslot + i);
    }
}

// All is read before anything is written.
static void print_function(const lwi_repeats *r, const char *name, int which, int lanes, FILE *file)
{
    const kind *k = &r->kind[which];
    const segment *s = &r->segment[k->segment];
    const int *place = r->shape[s->shape].place;
    const bool fails = s->ncheck > 0, marks = fails && lanes;
    fprintf(file, "\nstatic %s %s_part%d(const double *p, const int *s, %s *w%s)\n{\n",
            fails && !lanes ? "int" : "void", name, which, type_of(lanes),
            marks ? ", mask *all" : "");
    fputs("    (void)p;\n", file);
    if (marks) fputs("    mask good = *all;\n", file);
    writing w = {.r = r, .k = k, .s = s, .file = file, .code = r->code + s->code, .lanes = lanes};
    for (int i = 0; i < s->n; i++) {
        put_value(&w, i);
        put_checks(&w, i);
    }
    for (int i = 0; i < s->n; i++)
        if (place[i] >= 0) fprintf(file, "    w[s[0] + %d] = t%d;\n", place[i], i);
    if (marks) fputs("    *all = good;\n", file);
    if (fails && !lanes) fputs("    return 0;\n", file);
    fputs("}\n", file);
}

void lwi_repeats_print_tables(const lwi_repeats *r, const char *name, int lanes, FILE *file)
{
    fputc('\n', file);
    for (int k = 0; k < r->nkind; k++) print_kind_tables(r, name, k, file);
    print_runs(r, name, file);
    for (int a = 0; a < r->graph->narray; a++) print_outputs(r, name, a, file);
    for (int k = 0; k < r->nkind; k++) print_function(r, name, k, lanes, file);
}

static void print_calls(const lwi_repeats *r, const char *name, int lanes, FILE *file)
{
    for (int k = 0; k < r->nkind; k++) {
        fprintf(file, "    const int *s%d = %s_slots%d[0];\n", k, name, k);
        if (r->kind[k].ncolumn)
            fprintf(file, "    const double *p%d = %s_numbers%d[0];\n", k, name, k);
    }
    fprintf(file,
            "    for (int r = 0; r < %d; r++) {\n"
            "        int n = %s_runs[r][1];\n"
            "        switch (%s_runs[r][0]) {\n",
            count_runs(r), name, name);
    for (int k = 0; k < r->nkind; k++) {
        const bool fails = r->segment[r->kind[k].segment].ncheck > 0;
        char numbers[32] = "0", next[48] = "";
        if (r->kind[k].ncolumn) {
            snprintf(numbers, sizeof numbers, "p%d", k);
            snprintf(next, sizeof next, ", p%d += %d", k, r->kind[k].ncolumn);
        }
        fprintf(file, "        case %d:\n            for (; n > 0; n--, s%d += %d%s)", k, k,
                width_of(r, k), next);
        if (fails && !lanes)
            fprintf(file,
                    " {\n                const int failed = %s_part%d(%s, s%d, w);\n"
                    "                if (failed) return failed;\n            }\n",
                    name, k, numbers, k);
        else
            fprintf(file, " %s_part%d(%s, s%d, w%s);\n", name, k, numbers, k,
                    fails ? ", &good" : "");
        fputs("            break;\n", file);
    }
    fputs("        }\n    }\n", file);
}

void lwi_repeats_print(const lwi_repeats *r, const char *name, int lanes, FILE *file)
{
    const lwi_codegen_graph *g = r->graph;
    const bool large = (lanes ? lanes : 1) * r->room > LWI_CODEGEN_ON_STACK;
    char text[48];
    fprintf(file, "    %s%s w[%d];\n", large ? "static _Thread_local " : "", type_of(lanes),
            r->room);
    for (int a = 0; a < g->narray; a++) {
        if (r->count[a] == 0)
            fprintf(file, "    (void)%s;\n", g->array[a]);
        else if (g->scalar[a] && !lanes)
            fprintf(file, "    w[%d] = %s;\n", r->base[a], g->array[a]);
        else
            fprintf(file, "    for (int i = 0; i < %d; i++) w[%d + i] = %s[%d + i];\n", r->count[a],
                    r->base[a], g->array[a], r->first[a]);
    }
    print_calls(r, name, lanes, file);
    for (int a = 0; a < g->narray; a++)
        if (outputs_of(r, a))
            fprintf(file, "    for (int i = 0; i < %d; i++) %s[%s_%s[i][0]] = w[%s_%s[i][1]];\n",
                    outputs_of(r, a), g->array[a], name, g->array[a], name, g->array[a]);
    for (int i = 0; i < g->noutput; i++) {
        const lwi_output *o = &g->output[i];
        if (g->vertex[o->value.index].op != LWI_OP_LITERAL) continue;
        lwi_codegen_literal(g->vertex[o->value.index].literal, "", text, sizeof text);
        fprintf(file, "    %s[%d] = %s%s;\n", g->array[o->array], o->entry,
                lanes ? "(real){0} + " : "", text);
    }
}
