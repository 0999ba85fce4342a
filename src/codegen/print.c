// print.c -- the statements of a generated function.
//
// Every live value used more than once gets a name, in the order of creation; a value used once
// is printed inside its only user while that is short.  All inputs are read into locals first, so
// that the caller's arrays may be the same; outputs are written as soon as they are computed, so
// that compilers need not store them.
#include "codegen/graph.h"

#include "base/assert.h"
#include "base/numbers.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 100, SHORT = 8 }; // columns; operands of one expression

typedef struct printer {
    const lwi_codegen_graph *graph;
    const char *type, *suffix; // of literals
    FILE *file;
    int *size;                     // operands of a value's expression; 1 when it has a name
    int *first;                    // first output of a value, -1: none
    int *next;                     // next output of the same value
    int *first_check, *next_check; // the same of checks
    bool *known;                   // it is printed before the others
    int column;
    bool failed; // of memory
} printer;

// ------------------------------------------------------------------------------------------- words

/** A word that grows: most of a text are short ones, for which formats take long. */
typedef struct word {
    char text[96];
    size_t n;
} word;

static void add_text(word *w, const char *text)
{
    for (; *text && w->n + 1 < sizeof w->text; text++) w->text[w->n++] = *text;
    w->text[w->n] = 0;
}

static void add_number(word *w, int i)
{
    char digits[12], *at = digits + sizeof digits - 1;
    LWI_ASSERT(i >= 0);
    *at = 0;
    do *--at = (char)('0' + i % 10);
    while ((i /= 10) > 0);
    add_text(w, at);
}

static word word_of(const char *first, const char *second, const char *third)
{
    word w = {.n = 0};
    add_text(&w, first);
    add_text(&w, second);
    add_text(&w, third);
    return w;
}

// One word of an expression; lines break before it.
static void put(printer *p, const char *text, bool space)
{
    const int length = (int)strlen(text);
    if (space && p->column + length + 2 > WIDTH) {
        fputs("\n       ", p->file);
        p->column = 7;
    }
    if (space) fputc(' ', p->file);
    fputs(text, p->file);
    p->column += length + space;
}

static void put_value(printer *p, int32_t i, const char *before, bool inside, bool space);

static bool is_vector(const printer *p)
{
    return !strcmp(p->type, "real");
}

const char *lwi_codegen_function_name(lwi_op op)
{
    static const char *const name[] = {
#define X(op, name, operands) [LWI_OP_##op] = name,
        LWI_OP_FUNCTION_LIST(X)
#undef X
    };
    return name[op];
}

static const char *sign_of(lwi_op op)
{
    return op == LWI_OP_ADD ? "+" : op == LWI_OP_SUB ? "-" : op == LWI_OP_MUL ? "*" : "/";
}

// The name of a named value or an input, behind other letters.
static word name_of(const lwi_codegen_graph *g, int32_t i, const char *before)
{
    const lwi_vertex *v = &g->vertex[i];
    const bool input = v->op == LWI_OP_INPUT, scalar = input && g->scalar[v->a];
    word w = word_of(before, input ? g->array[v->a] : "t", scalar ? "_" : "");
    if (!scalar) add_number(&w, input ? v->b : i);
    return w;
}

// Binds weaker than a factor.
static bool is_sum(const lwi_vertex *v)
{
    return v->op == LWI_OP_ADD || v->op == LWI_OP_SUB || v->op == LWI_OP_NEG;
}

// Is printed as a product.
static bool is_product(const printer *p, int32_t i)
{
    const lwi_op op = p->graph->vertex[i].op;
    return (op == LWI_OP_MUL || op == LWI_OP_DIV) && p->size[i] != 1;
}

static void put_operation(printer *p, int32_t i, const char *before, bool bracket, bool space)
{
    const lwi_vertex *v = &p->graph->vertex[i];
    const word head = word_of(before, bracket ? "(" : "", "");
    const bool factors = v->op == LWI_OP_MUL || v->op == LWI_OP_DIV;
    // sums associate to the left: a second operand that is a sum needs brackets
    put_value(p, v->a, head.text, factors, space);
    put(p, sign_of(v->op), true);
    if (factors &&
        is_product(p, v->b)) { // a / (b * c), and a * (b * c), which rounds as the graph does
        put_value(p, v->b, "(", false, true);
        put(p, ")", false);
    } else {
        put_value(p, v->b, "", true, true);
    }
    if (bracket) put(p, ")", false);
}

// A function of its operands.
static void put_call(printer *p, const lwi_vertex *v, const char *before, bool space)
{
    const int32_t operand[3] = {v->a, v->b, v->c};
    for (int k = 0; k < lwi_codegen_operands(v->op); k++) {
        const bool spread = is_vector(p) && p->graph->vertex[operand[k]].op == LWI_OP_LITERAL;
        word head = {.n = 0};
        if (k == 0) head = word_of(before, lwi_codegen_function_name(v->op), "(");
        if (spread) add_text(&head, "(real){0} + ");
        if (k > 0) put(p, ",", false);
        put_value(p, operand[k], head.text, false, k > 0 || space);
    }
    put(p, ")", false);
}

// The expression of value i.  `inside`: a sum needs brackets.
static void put_expression(printer *p, int32_t i, const char *before, bool inside, bool space)
{
    const lwi_vertex *v = &p->graph->vertex[i];
    switch (v->op) {
    case LWI_OP_NEG:
        put_value(p, v->a, word_of(before, inside ? "(" : "", "-").text, true, space);
        if (inside) put(p, ")", false);
        return;
    case LWI_OP_DIV:
        put_operation(p, i, before, inside, space);
        return;
    case LWI_OP_ADD:
    case LWI_OP_SUB:
    case LWI_OP_MUL:
        put_operation(p, i, before, inside && is_sum(v), space);
        return;
    default:
        put_call(p, v, before, space);
    }
}

void lwi_codegen_literal(double x, const char *suffix, char *text, size_t size)
{
    if (!isfinite(x)) {
        snprintf(text, size, "%s", isnan(x) ? "NAN" : x > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    const bool none = suffix[0] && fabs(x) < (double)FLT_MIN; // zero as a float
    char room[LWI_NUMBER_ROOM];
    int n = none ? 0 : lwi_number_digits(x, room);
    if (n == 0) n = snprintf(room, sizeof room, "%.17g", none ? 0 : x);
    room[n] = 0;
    const bool plain = strspn(room, "-0123456789") == (size_t)n; // an integer's text
    LWI_ASSERT((size_t)n + 4 <= size);
    strcpy(text, room);
    strcat(text, plain ? ".0" : "");
    strcat(text, suffix);
}

// A literal, a name, or a whole expression if the value has no name.
static void put_value(printer *p, int32_t i, const char *before, bool inside, bool space)
{
    const lwi_vertex *v = &p->graph->vertex[i];
    if (v->op == LWI_OP_LITERAL) {
        char text[48];
        lwi_codegen_literal(v->literal, p->suffix, text, sizeof text);
        const bool bracket = v->literal < 0 && inside;
        word w = word_of(before, bracket ? "(" : "", text);
        if (bracket) add_text(&w, ")");
        put(p, w.text, space);
    } else if (v->op == LWI_OP_INPUT || p->size[i] == 1) {
        put(p, name_of(p->graph, i, before).text, space);
    } else {
        put_expression(p, i, before, inside, space);
    }
}

// -------------------------------------------------------------------------------------- statements

// const type name = value;
static void statement(printer *p, const char *type, int32_t i)
{
    const word name = name_of(p->graph, i, "");
    p->column = 0;
    put(p, "    const ", false);
    put(p, type, false);
    put(p, name.text, true);
    put(p, " =", false);
    put_expression(p, i, "", false, true);
    fputs(";\n", p->file);
}

// Which values get a name: size 1.
static void choose_names(printer *p)
{
    const lwi_codegen_graph *g = p->graph;
    for (int i = 0; i < g->nvertex; i++) {
        const lwi_vertex *v = &g->vertex[i];
        p->size[i] = 1;
        if (v->uses == 0 || !lwi_codegen_is_operation(v)) continue;
        const bool two = v->op >= LWI_OP_ADD && v->op <= LWI_OP_DIV;
        const int size = p->size[v->a] + (two ? p->size[v->b] : 1);
        const bool named =
            v->uses > 1 || v->op >= LWI_OP_SIN || v->op == LWI_OP_DIV || size > SHORT;
        if (!named) p->size[i] = size;
    }
}

// Unused parameters.
static void print_unused(const printer *p)
{
    const lwi_codegen_graph *g = p->graph;
    bool used[LWI_GRAPH_ARRAYS] = {false};
    for (int i = 0; i < g->nvertex; i++)
        if (g->vertex[i].op == LWI_OP_INPUT && g->vertex[i].uses > 0) used[g->vertex[i].a] = true;
    for (int i = 0; i < g->noutput; i++) used[g->output[i].array] = true;
    for (int a = 0; a < g->narray; a++)
        if (!used[a]) fprintf(p->file, "    (void)%s;\n", g->array[a]);
}

static void print_inputs(printer *p)
{
    const lwi_codegen_graph *g = p->graph;
    char line[120];
    for (int a = 0; a < g->narray; a++) {
        p->column = 0;
        for (int i = 0; i < g->nvertex; i++) {
            const lwi_vertex *v = &g->vertex[i];
            if (v->op != LWI_OP_INPUT || v->a != a || v->uses == 0) continue;
            const word name = name_of(g, i, "");
            if (g->scalar[a] && !is_vector(p))
                snprintf(line, sizeof line, "%s = %s", name.text, g->array[a]);
            else
                snprintf(line, sizeof line, "%s = %s[%d]", name.text, g->array[a], (int)v->b);
            if (p->column > 0) {
                fputc(',', p->file);
                put(p, line, true);
            } else {
                p->column = fprintf(p->file, "    const %s %s", p->type, line);
            }
        }
        if (p->column > 0) fputs(";\n", p->file);
    }
}

// ------------------------------------------------------------------------------- sines and cosines

// An angle, and the values of which it is the operand; -1: there is none.
typedef struct circle {
    int32_t angle, sine, cosine;
} circle;

static bool is_simple(const lwi_codegen_graph *g, int32_t i)
{
    return g->vertex[i].op == LWI_OP_INPUT || g->vertex[i].op == LWI_OP_LITERAL;
}

// An input, or an operation on inputs and literals: it is known before all other values.
static bool is_early(const lwi_codegen_graph *g, int32_t i)
{
    const lwi_vertex *v = &g->vertex[i];
    return v->op == LWI_OP_INPUT ||
           (v->op >= LWI_OP_ADD && v->op <= LWI_OP_NEG && is_simple(g, v->a) && is_simple(g, v->b));
}

static bool is_circle(const lwi_vertex *v)
{
    return v->uses > 0 && (v->op == LWI_OP_SIN || v->op == LWI_OP_COS);
}

// In the order of the first sine or cosine of each angle.
static int list_circles(const lwi_codegen_graph *g, circle *list)
{
    int n = 0;
    for (int i = 0; i < g->nvertex; i++) {
        const lwi_vertex *v = &g->vertex[i];
        if (!is_circle(v) || !is_early(g, v->a)) continue;
        int k = n - 1;
        while (k >= 0 && list[k].angle != v->a) k--;
        if (k < 0) list[k = n++] = (circle){v->a, -1, -1};
        if (v->op == LWI_OP_SIN)
            list[k].sine = i;
        else
            list[k].cosine = i;
    }
    return n;
}

static int count_circles(const lwi_codegen_graph *g)
{
    int n = 0;
    for (int i = 0; i < g->nvertex; i++)
        n += is_circle(&g->vertex[i]) && is_early(g, g->vertex[i].a);
    return n;
}

bool lwi_codegen_graph_packs(const lwi_codegen_graph *g)
{
    return g->lanes > 0 && count_circles(g) > 2;
}

static void print_lanes(const printer *p, const circle *c, int width, int number, bool sine)
{
    bool any = false;
    for (int i = 0; i < width; i++) any |= (sine ? c[i].sine : c[i].cosine) >= 0;
    if (!any) return;
    fprintf(p->file, "    const pack%d %s%d = pack%d_%s(angle%d);\n", width,
            sine ? "sine" : "cosine", number, width, sine ? "sin" : "cos", number);
    for (int i = 0; i < width; i++) {
        const int32_t value = sine ? c[i].sine : c[i].cosine;
        if (value < 0) continue;
        p->known[value] = true;
        fprintf(p->file, "    const double t%d = %s%d[%d];\n", (int)value, sine ? "sine" : "cosine",
                number, i);
    }
}

// Angles that are no inputs have names here.
static void print_angles(printer *p, const circle *c, int width, int number)
{
    for (int i = 0; i < width; i++) {
        const int32_t a = c[i].angle;
        if (p->graph->vertex[a].op == LWI_OP_INPUT || p->known[a]) continue;
        p->size[a] = 1;
        p->known[a] = true;
        statement(p, "double", a);
    }
    fprintf(p->file, "    const pack%d angle%d = {", width, number);
    for (int i = 0; i < width; i++) {
        fprintf(p->file, "%s%s", i ? ", " : "", name_of(p->graph, c[i].angle, "").text);
    }
    fputs("};\n", p->file);
}

// In packs of lanes, half of them, ... 2; the last of an uneven number stays where it is.
static void print_circles(printer *p)
{
    const lwi_codegen_graph *g = p->graph;
    if (strcmp(p->type, "double") != 0 || !lwi_codegen_graph_packs(g)) return;
    const int count = count_circles(g);
    circle *list = lwi_allocate(g->allocator, (size_t)count * sizeof *list);
    if (!list) {
        p->failed = true;
        return;
    }
    int n = list_circles(g, list), number = 0;
    const circle *next = list;
    for (int width = g->lanes; width >= 2; width /= 2)
        for (; n >= width; n -= width, next += width) {
            print_angles(p, next, width, number);
            print_lanes(p, next, width, number, true);
            print_lanes(p, next, width, number, false);
            number++;
        }
    lwi_release(g->allocator, list);
}

// `array[entry] = value;` for all outputs of value i
static void print_outputs(printer *p, int32_t i)
{
    const lwi_codegen_graph *g = p->graph;
    for (int k = p->first[i]; k >= 0; k = p->next[k]) {
        const lwi_output *o = &g->output[k];
        const bool spread = is_vector(p) && g->vertex[i].op == LWI_OP_LITERAL;
        p->column = fprintf(p->file, "    %s[%d] =", g->array[o->array], (int)o->entry);
        put_value(p, i, spread ? "(real){0} + " : "", false, true);
        fputs(";\n", p->file);
    }
}

// `CHECK(value, limit, code);` for all checks of value i
static void print_checks(printer *p, int32_t i)
{
    const lwi_codegen_graph *g = p->graph;
    for (int k = p->first_check[i]; k >= 0; k = p->next_check[k]) {
        p->column = fprintf(p->file, "    CHECK(");
        put_value(p, i, "", false, false);
        char limit[48];
        lwi_codegen_literal(g->check[k].limit, p->suffix, limit, sizeof limit);
        fprintf(p->file, ", %s, %d);\n", limit, g->check[k].code);
    }
}

void lwi_codegen_print_name(FILE *file, const char *name)
{
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        fputc(c < ' ' || c == '"' || c == '\\' || c == '/' || c == '*' || c == '?' ? '_' : c, file);
    }
}

static void print_values(printer *p)
{
    const lwi_codegen_graph *g = p->graph;
    int note = 0;
    for (int i = 0; i < g->nvertex; i++) {
        const lwi_vertex *v = &g->vertex[i];
        const bool named = lwi_codegen_is_operation(v) && p->size[i] == 1;
        if (v->uses == 0 || (!named && p->first[i] < 0 && p->first_check[i] < 0)) continue;
        const int before = note;
        while (note < g->nnote && g->note[note].before <= i) note++;
        if (note > before && g->note[note - 1].text[0]) {
            fputs("\n    // ", p->file);
            lwi_codegen_print_name(p->file, g->note[note - 1].text);
            fputc('\n', p->file);
        }
        if (named && !p->known[i]) statement(p, p->type, i);
        print_checks(p, i);
        print_outputs(p, i);
    }
}

// The outputs and checks of each value, as lists.
static void list_outputs(printer *p)
{
    const lwi_codegen_graph *g = p->graph;
    for (int i = 0; i < g->nvertex; i++) p->first[i] = -1;
    for (int k = g->noutput - 1; k >= 0; k--) {
        int *first = &p->first[g->output[k].value.index];
        p->next[k] = *first;
        *first = k;
    }
    for (int i = 0; i < g->nvertex; i++) p->first_check[i] = -1;
    for (int k = g->ncheck - 1; k >= 0; k--) {
        int *first = &p->first_check[g->check[k].value.index];
        p->next_check[k] = *first;
        *first = k;
    }
}

void lwi_codegen_print_check(FILE *file)
{
    fputs("\n// Ends the function where a pivot is too small.\n"
          "#define CHECK(pivot, limit, code)               \\\n"
          "    do {                                        \\\n"
          "        if (!((pivot) >= (limit))) return code; \\\n"
          "    } while (0)\n",
          file);
}

void lwi_codegen_print_choose(const char *type, FILE *file)
{
    const char *number = strrchr(type, ' ') + 1;
    fprintf(file,
            "\n// a where x < 0, else b.\n"
            "%s choose(%s x, %s a, %s b)\n"
            "{\n"
            "    return x < 0 ? a : b;\n"
            "}\n",
            type, number, number, number);
}

void lwi_codegen_graph_print(lwi_codegen_graph *g, const char *type, FILE *file)
{
    printer p = {.graph = g, .file = file, .type = type};
    p.suffix = !strcmp(type, "float") ? "f" : "";
    if (g->failed) return;
    const size_t n = (size_t)g->nvertex;
    p.size =
        lwi_allocate(g->allocator, (3 * n + (size_t)(g->noutput + g->ncheck)) * sizeof *p.size);
    p.known = p.size ? lwi_allocate(g->allocator, n * sizeof *p.known) : NULL;
    if (!p.known) {
        lwi_release(g->allocator, p.size);
        g->failed = true;
        return;
    }
    memset(p.known, 0, n * sizeof *p.known);
    p.first = p.size + n;
    p.first_check = p.first + n;
    p.next = p.first_check + n;
    p.next_check = p.next + g->noutput;
    choose_names(&p);
    list_outputs(&p);
    print_unused(&p);
    print_inputs(&p);
    print_circles(&p);
    print_values(&p);
    if (p.failed) g->failed = true;
    lwi_release(g->allocator, p.known);
    lwi_release(g->allocator, p.size);
}
