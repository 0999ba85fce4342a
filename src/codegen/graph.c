// graph.c -- values of a graph: folding, sharing, liveness.
#include "codegen/graph.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ memory

void lwi_codegen_graph_init(lwi_codegen_graph *g, const lw_allocator *allocator)
{
    *g = (lwi_codegen_graph){.allocator = allocator};
}

void lwi_codegen_graph_free(lwi_codegen_graph *g)
{
    lwi_release(g->allocator, g->vertex);
    lwi_release(g->allocator, g->hash);
    lwi_release(g->allocator, g->output);
    lwi_release(g->allocator, g->check);
    lwi_release(g->allocator, g->note);
    lwi_codegen_graph_init(g, g->allocator);
}

// A larger copy of a list of `count` items; NULL and `failed` without memory.
static void *larger(lwi_codegen_graph *g, void *list, int count, int room, size_t size)
{
    void *copy = lwi_allocate(g->allocator, (size_t)room * size);
    if (!copy) {
        g->failed = true;
        return NULL;
    }
    if (count > 0) memcpy(copy, list, (size_t)count * size);
    lwi_release(g->allocator, list);
    return copy;
}

static uint32_t mix(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

static uint32_t hash_of(const lwi_vertex *v)
{
    uint64_t bits;
    memcpy(&bits, &v->literal, sizeof bits);
    const uint64_t operands = (uint64_t)(uint32_t)v->a << 32 | (uint32_t)v->b;
    return mix(bits ^ mix(operands) ^ (uint64_t)(uint32_t)v->c << 24 ^ (uint64_t)v->op << 17);
}

static void enter(lwi_codegen_graph *g, int32_t i)
{
    LWI_ASSERT_INDEX(i, g->room);
    int32_t *first = &g->hash[hash_of(&g->vertex[i]) & (uint32_t)(g->room - 1)];
    g->vertex[i].next = *first;
    *first = i;
}

static bool grow(lwi_codegen_graph *g)
{
    const int room = g->room ? 2 * g->room : 1024;
    LWI_ASSERT((room & (room - 1)) == 0);
    int32_t *hash = lwi_allocate(g->allocator, (size_t)room * sizeof *hash);
    lwi_vertex *vertex = hash ? larger(g, g->vertex, g->nvertex, room, sizeof *vertex) : NULL;
    if (!vertex) {
        lwi_release(g->allocator, hash);
        g->failed = true;
        return false;
    }
    lwi_release(g->allocator, g->hash);
    g->vertex = vertex;
    g->hash = hash;
    g->room = room;
    for (int i = 0; i < room; i++) hash[i] = -1;
    for (int i = 0; i < g->nvertex; i++) enter(g, i);
    return true;
}

static bool same(const lwi_vertex *a, const lwi_vertex *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c &&
           memcmp(&a->literal, &b->literal, sizeof a->literal) == 0;
}

static int32_t find(const lwi_codegen_graph *g, const lwi_vertex *v)
{
    if (g->room == 0) return -1;
    int32_t i = g->hash[hash_of(v) & (uint32_t)(g->room - 1)];
    while (i >= 0 && !same(&g->vertex[i], v)) i = g->vertex[i].next;
    return i;
}

static lwi_codegen_value make(lwi_codegen_graph *g, lwi_vertex v)
{
    int32_t i = find(g, &v);
    if (i >= 0) return (lwi_codegen_value){i};
    if (g->failed || (g->nvertex == g->room && !grow(g))) return (lwi_codegen_value){0};
    i = g->nvertex++;
    g->vertex[i] = v;
    enter(g, i);
    return (lwi_codegen_value){i};
}

// ----------------------------------------------------------------------------- literals and inputs

int lwi_codegen_graph_array(lwi_codegen_graph *g, const char *name)
{
    LWI_ASSERT_INDEX(g->narray, LWI_GRAPH_ARRAYS);
    g->array[g->narray] = name;
    g->scalar[g->narray] = g->result[g->narray] = false;
    return g->narray++;
}

void lwi_codegen_graph_make_result(lwi_codegen_graph *g, int array)
{
    LWI_ASSERT_INDEX(array, g->narray);
    g->result[array] = true;
}

int lwi_codegen_graph_result(lwi_codegen_graph *g, const char *name)
{
    const int array = lwi_codegen_graph_array(g, name);
    g->result[array] = true;
    return array;
}

int lwi_codegen_graph_scalar(lwi_codegen_graph *g, const char *name)
{
    const int array = lwi_codegen_graph_array(g, name);
    g->scalar[array] = true;
    return array;
}

lwi_codegen_value lwi_codegen_graph_literal(lwi_codegen_graph *g, double x)
{
    return make(g, (lwi_vertex){.op = LWI_OP_LITERAL, .literal = x == 0 ? 0 : x});
}

lwi_codegen_value lwi_codegen_graph_input(lwi_codegen_graph *g, int array, int entry)
{
    LWI_ASSERT_INDEX(array, g->narray);
    LWI_ASSERT(entry >= 0);
    return make(g, (lwi_vertex){.op = LWI_OP_INPUT, .a = array, .b = entry});
}

bool lwi_codegen_graph_known(const lwi_codegen_graph *g, lwi_codegen_value value, double *x)
{
    if (g->failed || g->vertex[value.index].op != LWI_OP_LITERAL) return false;
    *x = g->vertex[value.index].literal;
    return true;
}

// ------------------------------------------------------------------------------------------ values

int lwi_codegen_operands(lwi_op op)
{
    static const int count[] = {
        [LWI_OP_LITERAL] = 0,   [LWI_OP_INPUT] = 0, [LWI_OP_ADD] = 2, [LWI_OP_SUB] = 2,
        [LWI_OP_MUL] = 2,       [LWI_OP_DIV] = 2,   [LWI_OP_NEG] = 1,
#define X(op, name, operands) [LWI_OP_##op] = operands,
        LWI_OP_FUNCTION_LIST(X)
#undef X
    };
    return count[op];
}

// The value of an operation on operands.
static double operate(lwi_op op, double a, double b, double c)
{
    switch (op) {
    case LWI_OP_ADD:
        return a + b;
    case LWI_OP_SUB:
        return a - b;
    case LWI_OP_MUL:
        return a * b;
    case LWI_OP_DIV:
        return a / b;
    case LWI_OP_NEG:
        return -a;
    case LWI_OP_SIN:
        return sin(a);
    case LWI_OP_COS:
        return cos(a);
    case LWI_OP_SQRT:
        return sqrt(a);
    case LWI_OP_TAN:
        return tan(a);
    case LWI_OP_ASIN:
        return asin(a);
    case LWI_OP_ACOS:
        return acos(a);
    case LWI_OP_ATAN:
        return atan(a);
    case LWI_OP_SINH:
        return sinh(a);
    case LWI_OP_COSH:
        return cosh(a);
    case LWI_OP_TANH:
        return tanh(a);
    case LWI_OP_EXP:
        return exp(a);
    case LWI_OP_LOG:
        return log(a);
    case LWI_OP_FLOOR:
        return floor(a);
    case LWI_OP_POW:
        return pow(a, b);
    case LWI_OP_ATAN2:
        return atan2(a, b);
    case LWI_OP_SELECT:
        return a < 0 ? b : c;
    case LWI_OP_LITERAL:
    case LWI_OP_INPUT:
        break;
    }
    return 0;
}

// ----------------------------------------------------------------------------------------- folding

static lwi_codegen_value add(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b);
static lwi_codegen_value subtract(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b);
static lwi_codegen_value multiply(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b);

static const lwi_vertex *at(const lwi_codegen_graph *g, lwi_codegen_value value)
{
    LWI_ASSERT_INDEX(value.index, g->nvertex);
    return &g->vertex[value.index];
}
static bool is(const lwi_codegen_graph *g, lwi_codegen_value value, lwi_op op)
{
    return at(g, value)->op == op && value.index >= g->part;
}
static lwi_codegen_value first(const lwi_codegen_graph *g, lwi_codegen_value value)
{
    return (lwi_codegen_value){at(g, value)->a};
}
static lwi_codegen_value second(const lwi_codegen_graph *g, lwi_codegen_value value)
{
    return (lwi_codegen_value){at(g, value)->b};
}
static bool equal(lwi_codegen_value a, lwi_codegen_value b)
{
    return a.index == b.index;
}

static lwi_codegen_value binary(lwi_codegen_graph *g, lwi_op op, lwi_codegen_value a,
                                lwi_codegen_value b)
{
    LWI_ASSERT_INDEX(a.index, g->nvertex);
    LWI_ASSERT_INDEX(b.index, g->nvertex);
    const bool commutes = op == LWI_OP_ADD || op == LWI_OP_MUL;
    const bool exchange = commutes && a.index > b.index;
    return make(g, (lwi_vertex){.op = op,
                                .a = exchange ? b.index : a.index,
                                .b = exchange ? a.index : b.index});
}

static lwi_codegen_value negate(lwi_codegen_graph *g, lwi_codegen_value a)
{
    double x = 0;
    if (lwi_codegen_graph_known(g, a, &x)) return lwi_codegen_graph_literal(g, -x);
    if (is(g, a, LWI_OP_NEG)) return first(g, a);
    return make(g, (lwi_vertex){.op = LWI_OP_NEG, .a = a.index, .b = a.index});
}

// A value as factor times base.
static lwi_codegen_value base_of(const lwi_codegen_graph *g, lwi_codegen_value a, double *factor)
{
    *factor = 1;
    if (is(g, a, LWI_OP_MUL)) {
        if (lwi_codegen_graph_known(g, first(g, a), factor)) return second(g, a);
        if (lwi_codegen_graph_known(g, second(g, a), factor)) return first(g, a);
    }
    return a;
}

// a + sign b where both are multiples of the same value; x + x stays a sum.
static bool merge(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b, double sign,
                  lwi_codegen_value *sum)
{
    double x = 0, y = 0;
    const lwi_codegen_value base = base_of(g, a, &x);
    if (!equal(base, base_of(g, b, &y)) || (x == 1 && y == 1 && sign > 0)) return false;
    *sum = multiply(g, lwi_codegen_graph_literal(g, x + sign * y), base);
    return true;
}

static lwi_codegen_value add(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    double x = 0, y = 0;
    const bool known_a = lwi_codegen_graph_known(g, a, &x),
               known_b = lwi_codegen_graph_known(g, b, &y);
    lwi_codegen_value sum;
    if (known_a && known_b) return lwi_codegen_graph_literal(g, x + y);
    if (known_a && x == 0) return b;
    if (known_b && y == 0) return a;
    if (known_a && x < 0 && !g->alike) return subtract(g, b, lwi_codegen_graph_literal(g, -x));
    if (known_b && y < 0 && !g->alike) return subtract(g, a, lwi_codegen_graph_literal(g, -y));
    if (is(g, b, LWI_OP_NEG)) return subtract(g, a, first(g, b));
    if (is(g, a, LWI_OP_NEG)) return subtract(g, b, first(g, a));
    if (is(g, b, LWI_OP_SUB) && equal(second(g, b), a)) return first(g, b);
    if (is(g, a, LWI_OP_SUB) && equal(second(g, a), b)) return first(g, a);
    if (merge(g, a, b, 1, &sum)) return sum;
    return binary(g, LWI_OP_ADD, a, b);
}

// x - (x - y) = y and similar: simplifies rotated blocks with right angles.
static bool cancels(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b,
                    lwi_codegen_value *rest)
{
    if (is(g, b, LWI_OP_SUB) && equal(first(g, b), a))
        *rest = second(g, b);
    else if (is(g, a, LWI_OP_ADD) && equal(first(g, a), b))
        *rest = second(g, a);
    else if (is(g, a, LWI_OP_ADD) && equal(second(g, a), b))
        *rest = first(g, a);
    else if (is(g, a, LWI_OP_SUB) && equal(first(g, a), b))
        *rest = negate(g, second(g, a));
    else if (is(g, b, LWI_OP_ADD) && equal(first(g, b), a))
        *rest = negate(g, second(g, b));
    else if (is(g, b, LWI_OP_ADD) && equal(second(g, b), a))
        *rest = negate(g, first(g, b));
    else
        return false;
    return true;
}

static lwi_codegen_value subtract(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    double x = 0, y = 0;
    const bool known_a = lwi_codegen_graph_known(g, a, &x),
               known_b = lwi_codegen_graph_known(g, b, &y);
    lwi_codegen_value rest;
    if (equal(a, b)) return lwi_codegen_graph_literal(g, 0);
    if (known_a && known_b) return lwi_codegen_graph_literal(g, x - y);
    if (known_a && x == 0) return negate(g, b);
    if (known_b && y == 0) return a;
    if (known_b && y < 0 && !g->alike) return add(g, a, lwi_codegen_graph_literal(g, -y));
    if (is(g, b, LWI_OP_NEG)) return add(g, a, first(g, b));
    if (is(g, a, LWI_OP_NEG)) return negate(g, add(g, first(g, a), b));
    if (cancels(g, a, b, &rest)) return rest;
    if (merge(g, a, b, -1, &rest)) return rest;
    const lwi_vertex reversed = {.op = LWI_OP_SUB, .a = b.index, .b = a.index};
    const int32_t opposite = find(g, &reversed); // b - a exists: the sign will be absorbed by a sum
    if (opposite >= 0) return make(g, (lwi_vertex){.op = LWI_OP_NEG, .a = opposite, .b = opposite});
    return binary(g, LWI_OP_SUB, a, b);
}

// Has the graph the product of b and the literal x already?
static bool has_product(const lwi_codegen_graph *g, double x, lwi_codegen_value b)
{
    const lwi_vertex number = {.op = LWI_OP_LITERAL, .literal = x};
    const int32_t literal = find(g, &number);
    if (literal < 0) return false;
    const lwi_vertex product = {.op = LWI_OP_MUL,
                                .a = literal < b.index ? literal : b.index,
                                .b = literal < b.index ? b.index : literal};
    return find(g, &product) >= 0;
}

// Is x b written as -(-x b)?  With `alike` only where that reuses a product.
static bool moves_out(const lwi_codegen_graph *g, double x, lwi_codegen_value b)
{
    if (!g->alike || x == -1) return x < 0;
    return !has_product(g, x, b) && has_product(g, -x, b);
}

static lwi_codegen_value multiply(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    double x = 0, y = 0;
    const bool known_b = lwi_codegen_graph_known(g, b, &y);
    if (known_b && !lwi_codegen_graph_known(g, a, &x)) return multiply(g, b, a);
    if (lwi_codegen_graph_known(g, a, &x)) { // a literal comes first, and is positive
        if (known_b) return lwi_codegen_graph_literal(g, x * y);
        if (x == 0) return lwi_codegen_graph_literal(g, 0);
        if (x == 1) return b;
        if (moves_out(g, x, b)) return negate(g, multiply(g, lwi_codegen_graph_literal(g, -x), b));
        const lwi_codegen_value base = base_of(g, b, &y);
        if (!equal(base, b)) return multiply(g, lwi_codegen_graph_literal(g, x * y), base);
    }
    if (is(g, a, LWI_OP_NEG)) return negate(g, multiply(g, first(g, a), b));
    if (is(g, b, LWI_OP_NEG)) return negate(g, multiply(g, a, first(g, b)));
    return binary(g, LWI_OP_MUL, a, b);
}

static lwi_codegen_value divide(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    double x = 0, y = 0;
    if (lwi_codegen_graph_known(g, b, &y)) {
        if (lwi_codegen_graph_known(g, a, &x)) return lwi_codegen_graph_literal(g, x / y);
        return multiply(g, lwi_codegen_graph_literal(g, 1 / y), a);
    }
    if (is(g, b, LWI_OP_NEG)) return negate(g, divide(g, a, first(g, b)));
    return binary(g, LWI_OP_DIV, a, b);
}

static lwi_codegen_value circular(lwi_codegen_graph *g, lwi_op op, lwi_codegen_value a)
{
    if (is(g, a, LWI_OP_NEG)) {
        const lwi_codegen_value f = lwi_codegen_graph_op(g, op, first(g, a), a);
        return op == LWI_OP_SIN ? negate(g, f) : f;
    }
    return make(g, (lwi_vertex){.op = op, .a = a.index, .b = a.index});
}

static lwi_codegen_value call(lwi_codegen_graph *g, lwi_op op, lwi_codegen_value a,
                              lwi_codegen_value b);

// x^y: products for the small whole numbers that formulas have.
static lwi_codegen_value power(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    double y = 0;
    const bool known = lwi_codegen_graph_known(g, b, &y);
    if (known && y == 0) return lwi_codegen_graph_literal(g, 1);
    if (known && y == 1) return a;
    if (known && y == 2) return multiply(g, a, a);
    if (known && y == 0.5) return call(g, LWI_OP_SQRT, a, a);
    if (known && y == 1.5) return multiply(g, a, call(g, LWI_OP_SQRT, a, a));
    if (known && y == 3) return multiply(g, multiply(g, a, a), a);
    if (known && y == -1) return divide(g, lwi_codegen_graph_literal(g, 1), a);
    return make(g, (lwi_vertex){.op = LWI_OP_POW, .a = a.index, .b = b.index});
}

// A function of literals.
static bool fold(lwi_codegen_graph *g, lwi_op op, lwi_codegen_value a, lwi_codegen_value b,
                 lwi_codegen_value *folded)
{
    double x[2] = {0};
    if (!lwi_codegen_graph_known(g, a, &x[0])) return false;
    if (lwi_codegen_operands(op) > 1 && !lwi_codegen_graph_known(g, b, &x[1])) return false;
    const double y = operate(op, x[0], x[1], 0);
    if (!isfinite(y)) return false;
    *folded = lwi_codegen_graph_literal(g, y);
    return true;
}

static lwi_codegen_value call(lwi_codegen_graph *g, lwi_op op, lwi_codegen_value a,
                              lwi_codegen_value b)
{
    lwi_codegen_value folded;
    if (fold(g, op, a, b, &folded)) return folded;
    if (op == LWI_OP_SIN || op == LWI_OP_COS) return circular(g, op, a);
    if (op == LWI_OP_POW) return power(g, a, b);
    const int32_t second = lwi_codegen_operands(op) > 1 ? b.index : a.index;
    return make(g, (lwi_vertex){.op = op, .a = a.index, .b = second});
}

lwi_codegen_value lwi_codegen_graph_op(lwi_codegen_graph *g, lwi_op op, lwi_codegen_value a,
                                       lwi_codegen_value b)
{
    if (g->failed) return (lwi_codegen_value){0};
    switch (op) {
    case LWI_OP_ADD:
        return add(g, a, b);
    case LWI_OP_SUB:
        return subtract(g, a, b);
    case LWI_OP_MUL:
        return multiply(g, a, b);
    case LWI_OP_DIV:
        return divide(g, a, b);
    case LWI_OP_NEG:
        return negate(g, a);
    case LWI_OP_LITERAL:
    case LWI_OP_INPUT:
    case LWI_OP_SELECT:
        return a;
    default:
        return call(g, op, a, b);
    }
}

lwi_codegen_value lwi_codegen_graph_select(lwi_codegen_graph *g, lwi_codegen_value x,
                                           lwi_codegen_value a, lwi_codegen_value b)
{
    double number = 0;
    if (g->failed) return (lwi_codegen_value){0};
    if (lwi_codegen_graph_known(g, x, &number)) return number < 0 ? a : b;
    if (equal(a, b)) return a;
    return make(g, (lwi_vertex){.op = LWI_OP_SELECT, .a = x.index, .b = a.index, .c = b.index});
}

lwi_codegen_value lwi_codegen_graph_where(lwi_codegen_graph *g, lwi_codegen_value x,
                                          lwi_codegen_value a, lwi_codegen_value b)
{
    double yes = 0, no = 0;
    if (g->failed) return (lwi_codegen_value){0};
    if (lwi_codegen_graph_known(g, x, &yes)) return yes != 0 ? a : b;
    const lwi_vertex v = *at(g, x);
    if (v.op == LWI_OP_SELECT && lwi_codegen_graph_known(g, (lwi_codegen_value){v.b}, &yes) &&
        lwi_codegen_graph_known(g, (lwi_codegen_value){v.c}, &no)) // a comparison
        return lwi_codegen_graph_select(g, (lwi_codegen_value){v.a}, yes != 0 ? a : b,
                                        no != 0 ? a : b);
    return lwi_codegen_graph_select(g, x, a, lwi_codegen_graph_select(g, negate(g, x), a, b));
}

// ----------------------------------------------------------------------------- outputs, liveness

void lwi_codegen_graph_output(lwi_codegen_graph *g, int array, int entry, lwi_codegen_value value)
{
    LWI_ASSERT_INDEX(array, g->narray);
    LWI_ASSERT(g->failed || (value.index >= 0 && value.index < g->nvertex));
    if (g->noutput == g->output_room) {
        const int room = g->output_room ? 2 * g->output_room : 64;
        lwi_output *output = larger(g, g->output, g->noutput, room, sizeof *output);
        if (!output) return;
        g->output = output;
        g->output_room = room;
    }
    g->output[g->noutput++] = (lwi_output){array, entry, value};
}

void lwi_codegen_graph_check(lwi_codegen_graph *g, lwi_codegen_value value, double limit, int code)
{
    double x;
    LWI_ASSERT(code != 0);
    if (lwi_codegen_graph_known(g, value, &x) && x >= limit) return;
    for (int i = 0; i < g->ncheck; i++) {
        const lwi_check *c = &g->check[i];
        if (c->value.index == value.index && c->limit == limit && c->code == code) return;
    }
    if (g->ncheck == g->check_room) {
        const int room = g->check_room ? 2 * g->check_room : 16;
        lwi_check *check = larger(g, g->check, g->ncheck, room, sizeof *check);
        if (!check) return;
        g->check = check;
        g->check_room = room;
    }
    g->check[g->ncheck++] = (lwi_check){value, limit, code};
}

void lwi_codegen_graph_note(lwi_codegen_graph *g, const char *format, ...)
{
    if (g->nnote == g->note_room) {
        const int room = g->note_room ? 2 * g->note_room : 64;
        lwi_note *note = larger(g, g->note, g->nnote, room, sizeof *note);
        if (!note) return;
        g->note = note;
        g->note_room = room;
    }
    lwi_note *note = &g->note[g->nnote++];
    va_list arguments;
    va_start(arguments, format);
    note->before = g->nvertex;
    if (g->alike) g->part = g->nvertex;
    vsnprintf(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
}

void lwi_codegen_graph_mark(lwi_codegen_graph *g)
{
    lwi_codegen_graph_note(g, "%s", "");
}

void lwi_codegen_graph_evaluate(const lwi_codegen_graph *g, const double *const *input,
                                double *value)
{
    for (int i = 0; i < g->nvertex; i++) {
        const lwi_vertex *v = &g->vertex[i];
        if (v->op == LWI_OP_LITERAL)
            value[i] = v->literal;
        else if (v->op == LWI_OP_INPUT)
            value[i] = input[v->a][v->b];
        else
            value[i] = operate(v->op, value[v->a], value[v->b], value[v->c]);
    }
}

void lwi_codegen_graph_live(lwi_codegen_graph *g)
{
    if (g->failed) return;
    for (int i = 0; i < g->nvertex; i++) g->vertex[i].uses = 0;
    for (int i = 0; i < g->noutput; i++) g->vertex[g->output[i].value.index].uses++;
    for (int i = 0; i < g->ncheck; i++) g->vertex[g->check[i].value.index].uses++;
    for (int i = g->nvertex - 1; i >= 0; i--) {
        const lwi_vertex *v = &g->vertex[i];
        if (v->uses == 0) continue;
        const int32_t operand[3] = {v->a, v->b, v->c};
        for (int k = 0; k < lwi_codegen_operands(v->op); k++) {
            LWI_ASSERT_INDEX(operand[k], i);
            g->vertex[operand[k]].uses++;
        }
    }
}

lwi_operations lwi_codegen_graph_operations(const lwi_codegen_graph *g)
{
    lwi_operations n = {0};
    for (int i = 0; i < g->nvertex; i++) {
        if (g->vertex[i].uses == 0) continue;
        switch (g->vertex[i].op) {
        case LWI_OP_ADD:
        case LWI_OP_SUB:
            n.additions++;
            break;
        case LWI_OP_MUL:
            n.multiplications++;
            break;
        case LWI_OP_DIV:
        case LWI_OP_SQRT:
            n.divisions++;
            break;
        case LWI_OP_NEG:
            n.signs++;
            break;
        case LWI_OP_SIN:
        case LWI_OP_COS:
            n.sines++;
            break;
        case LWI_OP_SELECT:
            n.selections++;
            break;
        case LWI_OP_LITERAL:
        case LWI_OP_INPUT:
            break;
        default:
            n.functions++;
            break;
        }
    }
    return n;
}

int lwi_codegen_graph_statements(const lwi_codegen_graph *g)
{
    int n = 0;
    for (int i = 0; i < g->nvertex; i++)
        n += g->vertex[i].uses > 0 && lwi_codegen_is_operation(&g->vertex[i]);
    return n;
}

bool lwi_codegen_graph_has(const lwi_codegen_graph *g, lwi_op op)
{
    for (int i = 0; i < g->nvertex; i++)
        if (g->vertex[i].uses > 0 && g->vertex[i].op == op) return true;
    return false;
}
