// jacobian.c -- derivatives of a generated function: forward differentiation of its graph, an input entry at a time.
// Folding drops what does not depend on the entry.
#include "codegen/jacobian.h"

#include <string.h>

static const char *const arrays[] = {"jac_0", "jac_1", "jac_2"};

static lwi_codegen_value op(lwi_codegen_graph *g, lwi_op kind, lwi_codegen_value a,
                            lwi_codegen_value b)
{
    return lwi_codegen_graph_op(g, kind, a, b);
}
static lwi_codegen_value number(lwi_codegen_graph *g, double x)
{
    return lwi_codegen_graph_literal(g, x);
}
static lwi_codegen_value product(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    return lwi_codegen_graph_op(g, LWI_OP_MUL, a, b);
}
static lwi_codegen_value over(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    return lwi_codegen_graph_op(g, LWI_OP_DIV, a, b);
}
// 1 - x^2 with sign 1, 1 + x^2 with -1
static lwi_codegen_value one_less_square(lwi_codegen_graph *g, double sign, lwi_codegen_value x)
{
    const lwi_codegen_value square = product(g, x, x);
    return op(g, sign > 0 ? LWI_OP_SUB : LWI_OP_ADD, number(g, 1), square);
}

// f' of a function f of one value a, from both.
static lwi_codegen_value slope(lwi_codegen_graph *g, lwi_op kind, lwi_codegen_value f,
                               lwi_codegen_value a)
{
    const lwi_codegen_value one = number(g, 1);
    switch (kind) {
    case LWI_OP_SIN:
        return op(g, LWI_OP_COS, a, a);
    case LWI_OP_COS:
        return op(g, LWI_OP_NEG, op(g, LWI_OP_SIN, a, a), a);
    case LWI_OP_SQRT:
        return over(g, one, op(g, LWI_OP_ADD, f, f));
    case LWI_OP_TAN:
        return one_less_square(g, -1, f);
    case LWI_OP_ASIN:
        return over(g, one, op(g, LWI_OP_SQRT, one_less_square(g, 1, a), a));
    case LWI_OP_ACOS:
        return over(g, number(g, -1), op(g, LWI_OP_SQRT, one_less_square(g, 1, a), a));
    case LWI_OP_ATAN:
        return over(g, one, one_less_square(g, -1, a));
    case LWI_OP_SINH:
        return op(g, LWI_OP_COSH, a, a);
    case LWI_OP_COSH:
        return op(g, LWI_OP_SINH, a, a);
    case LWI_OP_TANH:
        return one_less_square(g, 1, f);
    case LWI_OP_EXP:
        return f;
    case LWI_OP_LOG:
        return over(g, one, a);
    default:
        return number(g, 0); // FLOOR
    }
}

// a^b: b a^(b - 1) a' where b does not change, else a^b (b log a)'
static lwi_codegen_value power_tangent(lwi_codegen_graph *g, lwi_codegen_value f,
                                       lwi_codegen_value a, lwi_codegen_value b,
                                       lwi_codegen_value da, lwi_codegen_value db)
{
    double zero;
    if (lwi_codegen_graph_known(g, db, &zero) && zero == 0) {
        const lwi_codegen_value less = op(g, LWI_OP_SUB, b, number(g, 1));
        return product(g, product(g, b, op(g, LWI_OP_POW, a, less)), da);
    }
    const lwi_codegen_value grow = product(g, db, op(g, LWI_OP_LOG, a, a));
    return product(g, f, op(g, LWI_OP_ADD, grow, product(g, b, over(g, da, a))));
}

// The derivative of vertex i, from those of its operands.
static lwi_codegen_value derivative(lwi_codegen_graph *g, const lwi_codegen_value *of, int32_t i,
                                    int array, int entry)
{
    const lwi_vertex v = g->vertex[i]; // a copy: the list may move
    const lwi_codegen_value self = {i}, a = {v.a}, b = {v.b};
    double zero;
    switch (v.op) {
    case LWI_OP_LITERAL:
        return number(g, 0);
    case LWI_OP_INPUT:
        return number(g, v.a == array && v.b == entry);
    case LWI_OP_ADD:
    case LWI_OP_SUB:
        return op(g, v.op, of[v.a], of[v.b]);
    case LWI_OP_MUL:
        return op(g, LWI_OP_ADD, product(g, of[v.a], b), product(g, a, of[v.b]));
    case LWI_OP_DIV:
        return over(g, op(g, LWI_OP_SUB, of[v.a], product(g, self, of[v.b])), b);
    case LWI_OP_NEG:
        return op(g, LWI_OP_NEG, of[v.a], a);
    case LWI_OP_SQRT: // in one division
        return over(g, of[v.a], op(g, LWI_OP_ADD, self, self));
    case LWI_OP_POW:
        return power_tangent(g, self, a, b, of[v.a], of[v.b]);
    case LWI_OP_ATAN2: {
        const lwi_codegen_value square = op(g, LWI_OP_ADD, product(g, a, a), product(g, b, b));
        const lwi_codegen_value turn =
            op(g, LWI_OP_SUB, product(g, b, of[v.a]), product(g, a, of[v.b]));
        return over(g, turn, square);
    }
    case LWI_OP_SELECT:
        return lwi_codegen_graph_select(g, a, of[v.b], of[v.c]);
    default:
        if (lwi_codegen_graph_known(g, of[v.a], &zero) && zero == 0) return of[v.a];
        return product(g, slope(g, v.op, self, a), of[v.a]);
    }
}

lwi_codegen_value lwi_codegen_partial(lwi_codegen_graph *g, lwi_codegen_value f, int k)
{
    const lwi_vertex v = g->vertex[f.index]; // a copy: the list may move
    const lwi_codegen_value a = {v.a}, b = {v.b}, one = number(g, 1), none = number(g, 0);
    switch (v.op) {
    case LWI_OP_ADD:
        return one;
    case LWI_OP_SUB:
        return k == 0 ? one : number(g, -1);
    case LWI_OP_MUL:
        return k == 0 ? b : a;
    case LWI_OP_DIV:
        return k == 0 ? over(g, one, b) : op(g, LWI_OP_NEG, over(g, f, b), b);
    case LWI_OP_NEG:
        return number(g, -1);
    case LWI_OP_POW:
        return power_tangent(g, f, a, b, k == 0 ? one : none, k == 0 ? none : one);
    case LWI_OP_ATAN2: {
        const lwi_codegen_value square = op(g, LWI_OP_ADD, product(g, a, a), product(g, b, b));
        return over(g, k == 0 ? b : op(g, LWI_OP_NEG, a, a), square);
    }
    case LWI_OP_SELECT: // of the condition none
        return lwi_codegen_graph_select(g, a, k == 1 ? one : none, k == 2 ? one : none);
    default:
        return slope(g, v.op, f, a);
    }
}

static void differentiate(lwi_codegen_graph *g, int vertices, int array, int entry,
                          lwi_codegen_value *of)
{
    for (int32_t i = 0; i < vertices && !g->failed; i++) of[i] = derivative(g, of, i, array, entry);
}

lwi_codegen_value lwi_codegen_derivative(lwi_codegen_graph *g, lwi_codegen_value f, int array,
                                         int entry)
{
    if (g->failed) return f;
    const int vertices = f.index + 1;
    lwi_codegen_value *of = lwi_allocate(g->allocator, (size_t)vertices * sizeof *of), slope = f;
    if (!of) {
        g->failed = true;
        return f;
    }
    differentiate(g, vertices, array, entry, of);
    if (!g->failed) slope = of[f.index];
    lwi_release(g->allocator, of);
    return slope;
}

lw_status lwi_codegen_differentiate(lwi_codegen_graph *g, int ninput, const int *size, int noutput)
{
    const int vertices = g->nvertex, outputs = g->noutput;
    lwi_codegen_value *of = lwi_allocate(g->allocator, (size_t)vertices * sizeof *of);
    lwi_output *before = lwi_allocate(g->allocator, (size_t)outputs * sizeof *before);
    if (of && before && !g->failed) {
        memcpy(before, g->output, (size_t)outputs * sizeof *before);
        g->noutput = 0;
        g->array[ninput] = arrays[0]; // in place of the function's output
        for (int k = 0; k < ninput; k++) {
            const int made = k ? lwi_codegen_graph_array(g, arrays[k]) : ninput;
            for (int entry = 0; entry < size[k] && !g->failed; entry++) {
                differentiate(g, vertices, k, entry, of);
                for (int i = 0; i < outputs && !g->failed; i++)
                    lwi_codegen_graph_output(g, made, entry * noutput + before[i].entry,
                                             of[before[i].value.index]);
            }
        }
    }
    const bool memory = of && before && !g->failed;
    lwi_release(g->allocator, of);
    lwi_release(g->allocator, before);
    return memory ? LW_OK : LW_ERR_MEMORY;
}
