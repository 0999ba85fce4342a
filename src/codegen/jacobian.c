// jacobian.c -- derivatives of a generated function: forward differentiation of its graph, an input entry at a time.
// Folding drops what does not depend on the entry.
#include "codegen/jacobian.h"

#include <string.h>

static const char *const arrays[] = {"jac_0", "jac_1", "jac_2"};

typedef struct tangent {
    lwi_codegen_graph *graph;
    lwi_codegen_value *of; // [vertices of the function] derivatives
} tangent;

static lwi_codegen_value op(const tangent *t, lwi_op kind, lwi_codegen_value a, lwi_codegen_value b)
{
    return lwi_codegen_graph_op(t->graph, kind, a, b);
}

// The derivative of vertex i by the input entry, from those of its operands.
static lwi_codegen_value derivative(const tangent *t, int32_t i, int array, int entry)
{
    const lwi_vertex v = t->graph->vertex[i]; // a copy: the list may move
    const lwi_codegen_value self = {i}, a = {v.a}, b = {v.b};
    switch (v.op) {
    case LWI_OP_LITERAL:
        return lwi_codegen_graph_literal(t->graph, 0);
    case LWI_OP_INPUT:
        return lwi_codegen_graph_literal(t->graph, v.a == array && v.b == entry);
    case LWI_OP_ADD:
    case LWI_OP_SUB:
        return op(t, v.op, t->of[v.a], t->of[v.b]);
    case LWI_OP_MUL:
        return op(t, LWI_OP_ADD, op(t, LWI_OP_MUL, t->of[v.a], b),
                  op(t, LWI_OP_MUL, a, t->of[v.b]));
    case LWI_OP_DIV:
        return op(t, LWI_OP_DIV, op(t, LWI_OP_SUB, t->of[v.a], op(t, LWI_OP_MUL, self, t->of[v.b])),
                  b);
    case LWI_OP_NEG:
        return op(t, LWI_OP_NEG, t->of[v.a], a);
    case LWI_OP_SIN:
        return op(t, LWI_OP_MUL, op(t, LWI_OP_COS, a, a), t->of[v.a]);
    case LWI_OP_SQRT:
        return op(t, LWI_OP_DIV, t->of[v.a], op(t, LWI_OP_ADD, self, self));
    case LWI_OP_COS:
        return op(t, LWI_OP_NEG, op(t, LWI_OP_MUL, op(t, LWI_OP_SIN, a, a), t->of[v.a]), a);
    }
    return self;
}

lw_status lwi_codegen_differentiate(lwi_codegen_graph *g, int ninput, const int *size, int noutput)
{
    const int vertices = g->nvertex, outputs = g->noutput;
    tangent t = {.graph = g, .of = lwi_allocate(g->allocator, (size_t)vertices * sizeof *t.of)};
    lwi_output *before = lwi_allocate(g->allocator, (size_t)outputs * sizeof *before);
    if (t.of && before && !g->failed) {
        memcpy(before, g->output, (size_t)outputs * sizeof *before);
        g->noutput = 0;
        g->array[ninput] = arrays[0]; // in place of the function's output
        for (int k = 0; k < ninput; k++) {
            const int made = k ? lwi_codegen_graph_array(g, arrays[k]) : ninput;
            for (int entry = 0; entry < size[k] && !g->failed; entry++) {
                for (int32_t i = 0; i < vertices && !g->failed; i++)
                    t.of[i] = derivative(&t, i, k, entry);
                for (int i = 0; i < outputs && !g->failed; i++)
                    lwi_codegen_graph_output(g, made, entry * noutput + before[i].entry,
                                             t.of[before[i].value.index]);
            }
        }
    }
    const bool memory = t.of && before && !g->failed;
    lwi_release(g->allocator, t.of);
    lwi_release(g->allocator, before);
    return memory ? LW_OK : LW_ERR_MEMORY;
}
