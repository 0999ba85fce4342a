// repeat_print.c -- the functions of the kinds and packs of segments, the tables of their calls, and the calls.
//
// With lanes of states each segment is evaluated alone.
#include "codegen/segments.h"

#include "codegen/sources.h"

#include <string.h>

// In the table of calls: segments that occur once, in turn.
enum { ONCE = -1 };
// A run is calls of one function that follow each other, or segments in turn that occur once.  Up to MAX_UNROLLED_RUNS runs
// are statements with literal rows of the tables of places, a loop for a run of several calls; more are a loop over a table of
// runs, for compilers take long for long functions.  Likewise the entries of an output.
enum { MAX_UNROLLED_RUNS = 400, MAX_UNROLLED_OUTPUTS = 128 };

typedef struct printer {
    const lwi_repeats *r;
    const char *name; // of the function
    FILE *file;
    int lanes;     // of states; 0: one state
    bool unrolled; // calls are statements
} printer;

static const char *type_of(const printer *p)
{
    return p->lanes ? "real" : "double";
}

static bool is_single(const lwi_kind *k)
{
    return k->count == 1;
}

static const lwi_segment *first_of(const lwi_repeats *r, const lwi_kind *k)
{
    return &r->segment[k->segment];
}

// Is it evaluated with others?
static bool is_packed(const printer *p, const lwi_segment *s)
{
    return s->pack >= 0 && !p->lanes;
}

// Is some segment of the kind evaluated alone?
static bool is_called(const printer *p, const lwi_kind *k)
{
    for (int i = 0; i < k->count; i++)
        if (!is_packed(p, lwi_repeats_member(p->r, k, i))) return true;
    return false;
}

static int layouts_of(const printer *p)
{
    return p->lanes ? 0 : p->r->nlayout;
}

static const lwi_segment *packed(const lwi_repeats *r, const lwi_pack *pack, int i)
{
    return &r->segment[r->packed[pack->member + i]];
}

static double number_of(const lwi_repeats *r, const lwi_segment *s, int i)
{
    return r->graph->vertex[r->number[s->number + i]].literal;
}

static int address_of_slot(const lwi_repeats *r, const lwi_segment *s, const lwi_kind *k, int slot)
{
    return lwi_repeats_address(r, r->use[s->use + k->lead[slot]]);
}

// ------------------------------------------------------------------------------------------ tables

// Numbers of a row: the base of what it writes, of what it reads, and the numbers of its checks.
static int width_of(const lwi_repeats *r, const lwi_kind *k)
{
    return 1 + k->nslot + first_of(r, k)->ncheck;
}

static int code_of(const lwi_repeats *r, const lwi_segment *s, int check)
{
    return r->graph->check[r->check[s->check + check]].code;
}

static void print_slots(const printer *p, const lwi_kind *k, const lwi_segment *s)
{
    fprintf(p->file, "    {%d", s->address);
    for (int i = 0; i < k->nslot; i++) fprintf(p->file, ", %d", address_of_slot(p->r, s, k, i));
    for (int i = 0; i < s->ncheck; i++) fprintf(p->file, ", %d", code_of(p->r, s, i));
    fputs("},\n", p->file);
}

// The literal of a parameter.
static int literal_of(const lwi_repeats *r, const lwi_kind *k, int column)
{
    int i = 0;
    while (i < first_of(r, k)->nliteral && k->column[i] != column) i++;
    return i;
}

static void print_number(const printer *p, double x, bool first)
{
    char text[48];
    lwi_codegen_literal(x, "", text, sizeof text);
    fprintf(p->file, "%s%s", first ? "" : ", ", text);
}

static void print_kind_tables(const printer *p, int which)
{
    const lwi_repeats *r = p->r;
    const lwi_kind *k = &r->kind[which];
    if (is_single(k) || !is_called(p, k)) return;
    fprintf(p->file, "static const int %s_slots%d[][%d] = {\n", p->name, which, width_of(r, k));
    for (int i = 0; i < k->count; i++) {
        const lwi_segment *s = lwi_repeats_member(r, k, i);
        if (!is_packed(p, s)) print_slots(p, k, s);
    }
    fputs("};\n", p->file);
    if (k->ncolumn == 0) return;
    fprintf(p->file, "static const double %s_numbers%d[][%d] = {\n", p->name, which, k->ncolumn);
    for (int i = 0; i < k->count; i++) {
        const lwi_segment *s = lwi_repeats_member(r, k, i);
        if (is_packed(p, s)) continue;
        fputs("    {", p->file);
        for (int j = 0; j < k->ncolumn; j++)
            print_number(p, number_of(r, s, literal_of(r, k, j)), j == 0);
        fputs("},\n", p->file);
    }
    fputs("};\n", p->file);
}

// Bases of a slot in the table of a pack: one, or that of each lane.
static int bases_of(const lwi_pack_layout *l, int slot)
{
    return l->spread[slot] == LWI_SPREAD_ANY ? l->width : 1;
}

// Where the bases of a slot are in the row of a pack.
static int column_of_slot(const lwi_pack_layout *l, int slot)
{
    int n = 1;
    for (int i = 0; i < slot; i++) n += bases_of(l, i);
    return n;
}

static int width_of_layout(const lwi_repeats *r, const lwi_pack_layout *l)
{
    const lwi_kind *k = &r->kind[l->kind];
    return column_of_slot(l, k->nslot) + l->width * first_of(r, k)->ncheck;
}

static void print_pack_slots(const printer *p, const lwi_pack_layout *l, const lwi_pack *pack)
{
    const lwi_repeats *r = p->r;
    const lwi_kind *k = &r->kind[l->kind];
    fprintf(p->file, "    {%d", packed(r, pack, 0)->address);
    for (int i = 0; i < k->nslot; i++)
        for (int j = 0; j < bases_of(l, i); j++)
            fprintf(p->file, ", %d", address_of_slot(r, packed(r, pack, j), k, i));
    for (int i = 0; i < first_of(r, k)->ncheck; i++)
        for (int j = 0; j < l->width; j++)
            fprintf(p->file, ", %d", code_of(r, packed(r, pack, j), i));
    fputs("},\n", p->file);
}

static void print_pack_numbers(const printer *p, const lwi_pack_layout *l, const lwi_pack *pack)
{
    const lwi_repeats *r = p->r;
    const lwi_kind *k = &r->kind[l->kind];
    fputs("    {", p->file);
    for (int j = 0; j < k->ncolumn; j++)
        for (int i = 0; i < l->width; i++)
            print_number(p, number_of(r, packed(r, pack, i), literal_of(r, k, j)), i + j == 0);
    fputs("},\n", p->file);
}

// The first segment of each pack of a layout, in the order of evaluation.
static const lwi_pack *pack_at(const lwi_repeats *r, int i, int layout)
{
    const int segment = r->order[i], pack = r->segment[segment].pack;
    if (pack < 0 || r->pack[pack].layout != layout) return NULL;
    return r->packed[r->pack[pack].member] == segment ? &r->pack[pack] : NULL;
}

static void print_layout_tables(const printer *p, int which)
{
    const lwi_repeats *r = p->r;
    const lwi_pack_layout *l = &r->layout[which];
    const int columns = r->kind[l->kind].ncolumn;
    if (l->count == 0) return;
    fprintf(p->file, "static const int %s_packs%d[][%d] = {\n", p->name, which,
            width_of_layout(r, l));
    for (int i = 0; i < r->nsegment; i++) {
        const lwi_pack *pack = pack_at(r, i, which);
        if (pack) print_pack_slots(p, l, pack);
    }
    fputs("};\n", p->file);
    if (columns == 0) return;
    fprintf(p->file, "static const double %s_pack_numbers%d[][%d] = {\n", p->name, which,
            columns * l->width);
    for (int i = 0; i < r->nsegment; i++) {
        const lwi_pack *pack = pack_at(r, i, which);
        if (pack) print_pack_numbers(p, l, pack);
    }
    fputs("};\n", p->file);
}

// ------------------------------------------------------------------------------------------- calls

// What is called for segment i of the order: a kind, a layout after the kinds, ONCE.
static int call_of(const printer *p, int i)
{
    const lwi_segment *s = &p->r->segment[p->r->order[i]];
    if (is_packed(p, s)) return p->r->nkind + p->r->pack[s->pack].layout;
    return is_single(&p->r->kind[s->kind]) ? ONCE : s->kind;
}

// How many segments one call evaluates.
static int segments_of(const printer *p, int call)
{
    return call < p->r->nkind ? 1 : p->r->layout[call - p->r->nkind].width;
}

// Prints the runs unless the file is NULL, and returns how many there are.
static int list_runs(const printer *p, FILE *file)
{
    const lwi_repeats *r = p->r;
    int count = 0;
    for (int i = 0; i < r->nsegment; count++) {
        const int call = call_of(p, i), each = segments_of(p, call);
        int n = 1;
        while (i + n * each < r->nsegment && call_of(p, i + n * each) == call) n++;
        if (file) fprintf(file, "    {%d, %d},\n", call, n);
        i += n * each;
    }
    return count;
}

static printer printer_of(const lwi_repeats *r, const char *name, int lanes, FILE *file)
{
    printer p = {.r = r, .name = name, .file = file, .lanes = lanes};
    p.unrolled = list_runs(&p, NULL) <= MAX_UNROLLED_RUNS;
    return p;
}

// Functions that are called by their names stay functions.
static const char *apart(const printer *p)
{
    return p->unrolled ? "__attribute__((noinline)) " : "";
}

static void print_runs(const printer *p)
{
    if (p->unrolled) return;
    fprintf(p->file, "static const int %s_runs[][2] = {\n", p->name);
    list_runs(p, p->file);
    fputs("};\n", p->file);
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

static void print_outputs(const printer *p, int array)
{
    const lwi_repeats *r = p->r;
    const int n = outputs_of(r, array);
    if (n <= MAX_UNROLLED_OUTPUTS) return;
    fprintf(p->file, "static const int %s_%s[%d][2] = {\n", p->name, r->graph->array[array], n);
    for (int i = 0; i < r->graph->noutput; i++) {
        const lwi_output *o = &r->graph->output[i];
        if (o->array == array && r->graph->vertex[o->value.index].op != LWI_OP_LITERAL)
            fprintf(p->file, "    {%d, %d},\n", o->entry, lwi_repeats_address(r, o->value.index));
    }
    fputs("};\n", p->file);
}

// --------------------------------------------------------------------------------------- functions

// Of a kind: the next operands to print.
typedef struct writing {
    const printer *p;
    const lwi_repeats *r;
    const lwi_kind *k;
    const lwi_segment *s;
    const lwi_pack_layout *layout; // NULL: of one segment
    FILE *file;
    const int *code;
    int use, literal;
    char type[16];
} writing;

static bool is_vector(const writing *w)
{
    return w->layout || w->p->lanes;
}

static void put_operand(writing *w, bool of_call)
{
    const int from = *w->code++;
    char text[48];
    if (from >= 0) {
        fprintf(w->file, "t%d", from);
    } else if (from == LWI_OF_OTHER) {
        fprintf(w->file, "x%d", w->k->variable[w->use++]);
    } else {
        const int column = w->k->column[w->literal];
        const bool spread = of_call && is_vector(w) && !(column >= 0 && w->layout);
        if (column >= 0)
            snprintf(text, sizeof text, "p[%d]", column);
        else
            lwi_codegen_literal(number_of(w->r, w->s, w->literal), "", text, sizeof text);
        w->literal++;
        if (spread)
            fprintf(w->file, "(%s){0} + (%s)", w->type, text);
        else
            fprintf(w->file, "(%s)", text);
    }
}

// A value of other segments, of all lanes.
static void put_packed_read(const writing *w, int use)
{
    const lwi_pack_layout *l = w->layout;
    const int slot = w->k->slot[use], offset = w->k->offset[use], at = column_of_slot(l, slot);
    if (l->spread[slot] == LWI_SPREAD_ROW) {
        fprintf(w->file, "*(const %s *)&w[s[%d] + %d];\n", w->type, at, offset);
        return;
    }
    fprintf(w->file, "(%s){", w->type);
    for (int i = 0; i < l->width; i++)
        fprintf(w->file, "%sw[s[%d] + %d]", i ? ", " : "",
                l->spread[slot] == LWI_SPREAD_SAME ? at : at + i, offset);
    fputs("};\n", w->file);
}

// What the next operation reads from elsewhere, if none before did: near its use, for compilers read all that is between.
static void put_reads(const writing *w, lwi_op op)
{
    int use = w->use;
    for (int i = 0; i < lwi_codegen_operands(op); i++) {
        if (w->code[i] != LWI_OF_OTHER) continue;
        const int its = use++;
        if (w->k->variable[its] != its) continue;
        fprintf(w->file, "    const %s x%d = ", w->type, its);
        if (w->layout)
            put_packed_read(w, its);
        else if (is_single(w->k))
            fprintf(w->file, "w[%d];\n", lwi_repeats_address(w->r, w->r->use[w->s->use + its]));
        else
            fprintf(w->file, "w[s[%d] + %d];\n", 1 + w->k->slot[its], w->k->offset[its]);
    }
}

static void put_value(writing *w, int i)
{
    const lwi_op op = (lwi_op)*w->code++;
    put_reads(w, op);
    static const char *const sign[] = {
        [LWI_OP_ADD] = "+", [LWI_OP_SUB] = "-", [LWI_OP_MUL] = "*", [LWI_OP_DIV] = "/"};
    fprintf(w->file, "    const %s t%d = ", w->type, i);
    if (op == LWI_OP_NEG) {
        fputc('-', w->file);
        put_operand(w, false);
    } else if (op >= LWI_OP_ADD && op <= LWI_OP_DIV) {
        put_operand(w, false);
        fprintf(w->file, " %s ", sign[op]);
        put_operand(w, false);
    } else {
        if (w->layout) fprintf(w->file, "%s_", w->type);
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
        if (w->layout)
            fprintf(w->file,
                    "    for (int l = 0; l < %d; l++)\n"
                    "        if (!(t%d[l] >= %s)) return s[%d + l];\n",
                    w->layout->width, position, limit,
                    column_of_slot(w->layout, w->k->nslot) + i * w->layout->width);
        else if (is_single(w->k))
            fprintf(w->file, "    CHECK(t%d, %s, %d);\n", position, limit, c->code);
        else
            fprintf(w->file, "    CHECK(t%d, %s, s[%d]);\n", position, limit, 1 + w->k->nslot + i);
    }
}

static void put_write(const writing *w, int i)
{
    const lwi_shape *shape = &w->r->shape[w->s->shape];
    const int at = shape->place[i] * shape->stride;
    if (shape->place[i] < 0) return;
    if (w->layout)
        fprintf(w->file, "    *(%s *)&w[s[0] + %d] = t%d;\n", w->type, at, i);
    else if (is_single(w->k))
        fprintf(w->file, "    w[%d] = t%d;\n", w->s->address + at, i);
    else
        fprintf(w->file, "    w[s[0] + %d] = t%d;\n", at, i);
}

// All is read before anything is written.
static void print_body(const printer *p, const lwi_kind *k, const lwi_pack_layout *layout)
{
    const lwi_repeats *r = p->r;
    const lwi_segment *s = first_of(r, k);
    writing w = {.p = p,
                 .r = r,
                 .k = k,
                 .s = s,
                 .layout = layout,
                 .file = p->file,
                 .code = r->code + s->code};
    if (layout)
        snprintf(w.type, sizeof w.type, "pack%d", layout->width);
    else
        snprintf(w.type, sizeof w.type, "%s", type_of(p));
    for (int i = 0; i < s->n; i++) {
        put_value(&w, i);
        put_checks(&w, i);
    }
    for (int i = 0; i < s->n; i++) put_write(&w, i);
}

// Those that occur once have the same parameters, for they are called by their addresses.
static void print_function(const printer *p, int which)
{
    const lwi_kind *k = &p->r->kind[which];
    const bool once = is_single(k), fails = first_of(p->r, k)->ncheck > 0;
    if (!is_called(p, k)) return;
    fprintf(p->file, "\nstatic %s%s %s_part%d(%s%s *w%s)\n{\n", apart(p),
            (once || fails) && !p->lanes ? "int" : "void", p->name, which,
            once ? "" : "const double *p, const int *s, ", type_of(p),
            (once || fails) && p->lanes ? ", mask *all" : "");
    if (!once) fputs("    (void)p;\n", p->file);
    if (once && !fails && p->lanes) fputs("    (void)all;\n", p->file);
    if (fails && p->lanes) fputs("    mask good = *all;\n", p->file);
    print_body(p, k, NULL);
    if (fails && p->lanes) fputs("    *all = good;\n", p->file);
    if ((once || fails) && !p->lanes) fputs("    return 0;\n", p->file);
    fputs("}\n", p->file);
}

static void print_pack_function(const printer *p, int which)
{
    const lwi_pack_layout *l = &p->r->layout[which];
    const lwi_kind *k = &p->r->kind[l->kind];
    const bool fails = first_of(p->r, k)->ncheck > 0;
    if (l->count == 0) return;
    fprintf(p->file, "\nstatic %s%s %s_pack%d(const pack%d *p, const int *s, double *w)\n{\n",
            apart(p), fails ? "int" : "void", p->name, which, l->width);
    fputs("    (void)p;\n", p->file);
    print_body(p, k, l);
    if (fails) fputs("    return 0;\n", p->file);
    fputs("}\n", p->file);
}

static bool any_single(const lwi_repeats *r)
{
    for (int k = 0; k < r->nkind; k++)
        if (is_single(&r->kind[k])) return true;
    return false;
}

// The functions of segments that occur once, in the order of their evaluation.
static void print_singles(const printer *p)
{
    const lwi_repeats *r = p->r;
    if (!any_single(r) || p->unrolled) return;
    if (p->lanes)
        fprintf(p->file, "\nstatic void (*const %s_once[])(real *, mask *) = {\n", p->name);
    else
        fprintf(p->file, "\nstatic int (*const %s_once[])(double *) = {\n", p->name);
    for (int i = 0; i < r->nsegment; i++)
        if (call_of(p, i) == ONCE)
            fprintf(p->file, "    %s_part%d,\n", p->name, r->segment[r->order[i]].kind);
    fputs("};\n", p->file);
}

void lwi_repeats_print_tables(const lwi_repeats *r, const char *name, int lanes, FILE *file)
{
    const printer p = printer_of(r, name, lanes, file);
    fputc('\n', file);
    for (int k = 0; k < r->nkind; k++) print_kind_tables(&p, k);
    for (int i = 0; i < layouts_of(&p); i++) print_layout_tables(&p, i);
    print_runs(&p);
    for (int a = 0; a < r->graph->narray; a++) print_outputs(&p, a);
    for (int k = 0; k < r->nkind; k++) print_function(&p, k);
    for (int i = 0; i < layouts_of(&p); i++) print_pack_function(&p, i);
    print_singles(&p);
}

// ------------------------------------------------------------------------------------------- body

// A loop over calls of one function: what it is called with, and how that advances.
static void print_case(const printer *p, int call, bool fails, const char *with, const char *next)
{
    fprintf(p->file, "        case %d:\n            for (; n > 0; n--%s)", call, next);
    if (fails && !p->lanes)
        fprintf(p->file,
                " {\n                const int failed = %s_%s;\n"
                "                if (failed) return failed;\n            }\n",
                p->name, with);
    else
        fprintf(p->file, " %s_%s;\n", p->name, with);
    fputs("            break;\n", p->file);
}

static void print_kind_case(const printer *p, int which)
{
    const lwi_kind *k = &p->r->kind[which];
    const bool fails = first_of(p->r, k)->ncheck > 0;
    char with[96], next[96], numbers[24] = "0";
    if (is_single(k) || !is_called(p, k)) return;
    const int n = snprintf(next, sizeof next, ", s%d += %d", which, width_of(p->r, k));
    if (k->ncolumn) {
        snprintf(next + n, sizeof next - (size_t)n, ", p%d += %d", which, k->ncolumn);
        snprintf(numbers, sizeof numbers, "p%d", which);
    }
    snprintf(with, sizeof with, "part%d(%s, s%d, w%s)", which, numbers, which,
             fails && p->lanes ? ", &good" : "");
    print_case(p, which, fails, with, next);
}

static void print_pack_case(const printer *p, int which)
{
    const lwi_pack_layout *l = &p->r->layout[which];
    const lwi_kind *k = &p->r->kind[l->kind];
    char with[96], next[96], numbers[24] = "0";
    if (l->count == 0) return;
    const int n = snprintf(next, sizeof next, ", S%d += %d", which, width_of_layout(p->r, l));
    if (k->ncolumn) {
        snprintf(next + n, sizeof next - (size_t)n, ", P%d += %d", which, k->ncolumn);
        snprintf(numbers, sizeof numbers, "P%d", which);
    }
    snprintf(with, sizeof with, "pack%d(%s, S%d, w)", which, numbers, which);
    print_case(p, p->r->nkind + which, first_of(p->r, k)->ncheck > 0, with, next);
}

// The tables from their beginnings.
static void print_pointers(const printer *p)
{
    const lwi_repeats *r = p->r;
    if (any_single(r)) fputs("    int once = 0;\n", p->file);
    for (int k = 0; k < r->nkind; k++) {
        if (is_single(&r->kind[k]) || !is_called(p, &r->kind[k])) continue;
        fprintf(p->file, "    const int *s%d = %s_slots%d[0];\n", k, p->name, k);
        if (r->kind[k].ncolumn)
            fprintf(p->file, "    const double *p%d = %s_numbers%d[0];\n", k, p->name, k);
    }
    for (int i = 0; i < layouts_of(p); i++) {
        const lwi_pack_layout *l = &r->layout[i];
        if (l->count == 0) continue;
        fprintf(p->file, "    const int *S%d = %s_packs%d[0];\n", i, p->name, i);
        if (r->kind[l->kind].ncolumn)
            fprintf(p->file, "    const pack%d *P%d = (const pack%d *)%s_pack_numbers%d;\n",
                    l->width, i, l->width, p->name, i);
    }
}

static const lwi_kind *kind_at(const lwi_repeats *r, int i)
{
    return &r->kind[r->segment[r->order[i]].kind];
}

// The row of the call's table for segment i of the order.
static int row_of(const printer *p, int i, int call)
{
    int n = 0;
    for (int j = 0; j < i; j++) n += call_of(p, j) == call;
    return n / segments_of(p, call);
}

// Numbers and places: row `row` of the tables `numbers` and `places` with this number; what they have depends on the kind.
static void put_rows(const printer *p, const lwi_kind *k, const char *type, const char *numbers,
                     const char *places, int which, const char *row)
{
    if (k->ncolumn)
        fprintf(p->file, "%s%s_%s%d[%s]", type, p->name, numbers, which, row);
    else
        fputs("0", p->file);
    fprintf(p->file, ", %s_%s%d[%s], w", p->name, places, which, row);
}

// The call for segment i of the order.
static void put_call(const printer *p, int i, int call, const char *row)
{
    const lwi_repeats *r = p->r;
    const lwi_kind *k = kind_at(r, i);
    char type[24];
    if (call >= r->nkind) {
        const int which = call - r->nkind;
        snprintf(type, sizeof type, "(const pack%d *)", r->layout[which].width);
        fprintf(p->file, "%s_pack%d(", p->name, which);
        put_rows(p, k, type, "pack_numbers", "packs", which, row);
    } else if (call >= 0) {
        fprintf(p->file, "%s_part%d(", p->name, call);
        put_rows(p, k, "", "numbers", "slots", call, row);
    } else {
        fprintf(p->file, "%s_part%d(w", p->name, (int)(k - r->kind));
    }
    if (p->lanes)
        fputs(first_of(r, k)->ncheck > 0 ? ", &good" : call == ONCE ? ", 0" : "", p->file);
    fputc(')', p->file);
}

// n calls from segment i of the order on.
static void put_run(const printer *p, int i, int call, int n)
{
    const bool fails = !p->lanes && first_of(p->r, kind_at(p->r, i))->ncheck > 0;
    const int from = call == ONCE ? 0 : row_of(p, i, call);
    char row[16] = "i";
    if (n > 1)
        fprintf(p->file, "    for (int i = %d; i < %d; i++)\n    ", from, from + n);
    else
        snprintf(row, sizeof row, "%d", from);
    fputs(fails ? "    if ((failed = " : "    ", p->file);
    put_call(p, i, call, row);
    fputs(fails ? ")) return failed;\n" : ";\n", p->file);
}

static void print_unrolled_calls(const printer *p)
{
    const lwi_repeats *r = p->r;
    if (r->graph->ncheck > 0 && !p->lanes) fputs("    int failed;\n", p->file);
    for (int i = 0; i < r->nsegment;) {
        const int call = call_of(p, i), each = segments_of(p, call);
        int n = 1;
        while (call != ONCE && i + n * each < r->nsegment && call_of(p, i + n * each) == call) n++;
        put_run(p, i, call, n);
        i += n * each;
    }
}

static void print_calls(const printer *p)
{
    const lwi_repeats *r = p->r;
    const bool fails = r->graph->ncheck > 0;
    if (p->unrolled) {
        print_unrolled_calls(p);
        return;
    }
    print_pointers(p);
    fprintf(p->file,
            "    for (int r = 0; r < %d; r++) {\n"
            "        int n = %s_runs[r][1];\n"
            "        switch (%s_runs[r][0]) {\n",
            list_runs(p, NULL), p->name, p->name);
    if (any_single(r))
        print_case(p, ONCE, fails,
                   !p->lanes ? "once[once++](w)"
                   : fails   ? "once[once++](w, &good)"
                             : "once[once++](w, 0)",
                   "");
    for (int k = 0; k < r->nkind; k++) print_kind_case(p, k);
    for (int i = 0; i < layouts_of(p); i++) print_pack_case(p, i);
    fputs("        }\n    }\n", p->file);
}

static void print_inputs(const printer *p)
{
    const lwi_repeats *r = p->r;
    const lwi_codegen_graph *g = r->graph;
    for (int a = 0; a < g->narray; a++) {
        if (r->count[a] == 0)
            fprintf(p->file, "    (void)%s;\n", g->array[a]);
        else if (g->scalar[a] && !p->lanes)
            fprintf(p->file, "    w[%d] = %s;\n", r->base[a], g->array[a]);
        else
            fprintf(p->file, "    for (int i = 0; i < %d; i++) w[%d + i] = %s[%d + i];\n",
                    r->count[a], r->base[a], g->array[a], r->first[a]);
    }
}

void lwi_repeats_print(const lwi_repeats *r, const char *name, int lanes, FILE *file)
{
    const printer p = printer_of(r, name, lanes, file);
    const lwi_codegen_graph *g = r->graph;
    const bool large = (lanes ? lanes : 1) * r->room > LWI_CODEGEN_ON_STACK;
    int count[LWI_GRAPH_ARRAYS];
    char text[48];
    fprintf(file, "    %s%s w[%d];\n", large ? "static _Thread_local " : "", type_of(&p), r->room);
    print_inputs(&p);
    print_calls(&p);
    for (int a = 0; a < g->narray; a++) {
        count[a] = outputs_of(r, a);
        if (count[a] > MAX_UNROLLED_OUTPUTS)
            fprintf(file, "    for (int i = 0; i < %d; i++) %s[%s_%s[i][0]] = w[%s_%s[i][1]];\n",
                    count[a], g->array[a], name, g->array[a], name, g->array[a]);
    }
    for (int i = 0; i < g->noutput; i++) {
        const lwi_output *o = &g->output[i];
        if (g->vertex[o->value.index].op != LWI_OP_LITERAL) {
            if (count[o->array] <= MAX_UNROLLED_OUTPUTS)
                fprintf(file, "    %s[%d] = w[%d];\n", g->array[o->array], o->entry,
                        lwi_repeats_address(r, o->value.index));
            continue;
        }
        lwi_codegen_literal(g->vertex[o->value.index].literal, "", text, sizeof text);
        fprintf(file, "    %s[%d] = %s%s;\n", g->array[o->array], o->entry,
                lanes ? "(real){0} + " : "", text);
    }
}
