// graph.h -- the arithmetic of one generated function as a graph of values.
//
// A value is a literal, an input (`q[3]`) or an operation on previous values.  Creating a value
// folds constants: literals are computed, terms with 0 and factors 1 are dropped, signs move
// outward until a sum absorbs them, equal operations are one value.  Values that no output needs
// are not printed.  So an algorithm is written once, in full, and the structure of a model (zeros,
// right angles, the ground at rest) simplifies it.
#ifndef LWI_CODEGEN_GRAPH_H
#define LWI_CODEGEN_GRAPH_H

#include "base/base.h"

#include <stdio.h>

typedef struct lwi_codegen_value {
    int32_t index;
} lwi_codegen_value;

/** Functions: how they are called in C, and how many operands they have.  `choose(x, a, b)` is a where x < 0, else b; all
 *  three are evaluated. */
#define LWI_OP_FUNCTION_LIST(X)                                                                    \
    X(SIN, "sin", 1)                                                                               \
    X(COS, "cos", 1)                                                                               \
    X(SQRT, "sqrt", 1)                                                                             \
    X(TAN, "tan", 1)                                                                               \
    X(ASIN, "asin", 1)                                                                             \
    X(ACOS, "acos", 1)                                                                             \
    X(ATAN, "atan", 1)                                                                             \
    X(SINH, "sinh", 1)                                                                             \
    X(COSH, "cosh", 1)                                                                             \
    X(TANH, "tanh", 1)                                                                             \
    X(EXP, "exp", 1)                                                                               \
    X(LOG, "log", 1)                                                                               \
    X(FLOOR, "floor", 1)                                                                           \
    X(POW, "pow", 2)                                                                               \
    X(ATAN2, "atan2", 2)                                                                           \
    X(SELECT, "choose", 3)

typedef enum lwi_op {
    LWI_OP_LITERAL,
    LWI_OP_INPUT,
    LWI_OP_ADD,
    LWI_OP_SUB,
    LWI_OP_MUL,
    LWI_OP_DIV,
    LWI_OP_NEG,
#define X(op, name, operands) LWI_OP_##op,
    LWI_OP_FUNCTION_LIST(X)
#undef X
} lwi_op;

typedef struct lwi_vertex {
    lwi_op op;
    int32_t a, b, c; ///< operands; INPUT: array, entry
    double literal;
    int32_t next; ///< in the list of its hash
    int32_t uses; ///< by live values and outputs: lwi_codegen_graph_live
} lwi_vertex;

enum { LWI_GRAPH_ARRAYS = 16 };

typedef struct lwi_output {
    int32_t array, entry;
    lwi_codegen_value value;
} lwi_output;

/** The function returns `code` unless value >= limit. */
typedef struct lwi_check {
    lwi_codegen_value value;
    double limit;
    int code;
} lwi_check;

/** A comment before all values created after it. */
typedef struct lwi_note {
    int32_t before;
    char text[120];
} lwi_note;

typedef struct lwi_codegen_graph {
    const lw_allocator *allocator;
    lwi_vertex *vertex;
    int32_t *hash; ///< [room] first value of a hash, -1: none; room is a power of 2
    lwi_output *output;
    lwi_check *check;
    lwi_note *note;
    int nvertex, room, noutput, output_room, ncheck, check_room, nnote, note_room;
    const char *array[LWI_GRAPH_ARRAYS]; ///< names of inputs and outputs
    bool scalar[LWI_GRAPH_ARRAYS];       ///< a number: an array for vectors alone
    bool result[LWI_GRAPH_ARRAYS];       ///< an output, perhaps an input, too
    int narray;
    /** Keep the parts between notes as alike as possible, so that more of them repeat: a literal keeps its sign, and operations are
     *  not simplified across parts.  This costs some operations. */
    bool alike;
    int32_t part; ///< with `alike`: the first value of the part that is being built; else 0
    int lanes; ///< so many sines and cosines of angles that are inputs are evaluated together; 0: each alone
    bool failed; ///< an allocation failed; later values are invalid
} lwi_codegen_graph;

/** Number of operations executed. */
typedef struct lwi_operations {
    int multiplications, additions, divisions, signs, sines; ///< divisions: and square roots
    int functions, selections;                               ///< others of libm
} lwi_operations;

void lwi_codegen_graph_init(lwi_codegen_graph *graph, const lw_allocator *allocator);
void lwi_codegen_graph_free(lwi_codegen_graph *graph);

/** A name of an array, as the generated function's parameter is called; not copied. */
int lwi_codegen_graph_array(lwi_codegen_graph *graph, const char *name);
/** The same of outputs. */
int lwi_codegen_graph_result(lwi_codegen_graph *graph, const char *name);
/** An input that becomes an output, too. */
void lwi_codegen_graph_make_result(lwi_codegen_graph *graph, int array);
/** The same for a parameter that is a number, and an array of one entry where values are vectors. */
int lwi_codegen_graph_scalar(lwi_codegen_graph *graph, const char *name);
lwi_codegen_value lwi_codegen_graph_literal(lwi_codegen_graph *graph, double x);
lwi_codegen_value lwi_codegen_graph_input(lwi_codegen_graph *graph, int array, int entry);
/** How many operands an operation has. */
int lwi_codegen_operands(lwi_op op);
/** An operation on one or two values; `b` is ignored if there is only one operand. */
lwi_codegen_value lwi_codegen_graph_op(lwi_codegen_graph *graph, lwi_op op, lwi_codegen_value a,
                                       lwi_codegen_value b);
/** a where x < 0, else b: exactly, also of differences x of two values. */
lwi_codegen_value lwi_codegen_graph_select(lwi_codegen_graph *graph, lwi_codegen_value x,
                                           lwi_codegen_value a, lwi_codegen_value b);
/** Is it neither literal nor input? */
static inline bool lwi_codegen_is_operation(const lwi_vertex *v)
{
    return v->op != LWI_OP_LITERAL && v->op != LWI_OP_INPUT;
}
/** How many live values are operations.  After lwi_codegen_graph_live. */
int lwi_codegen_graph_statements(const lwi_codegen_graph *graph);
/** Some live value is of this operation.  After lwi_codegen_graph_live. */
bool lwi_codegen_graph_has(const lwi_codegen_graph *graph, lwi_op op);
/** a where x is not 0, else b. */
lwi_codegen_value lwi_codegen_graph_where(lwi_codegen_graph *graph, lwi_codegen_value x,
                                          lwi_codegen_value a, lwi_codegen_value b);
void lwi_codegen_graph_output(lwi_codegen_graph *graph, int array, int entry,
                              lwi_codegen_value value);
/** From here on the function returns `code` (not 0) unless value >= limit; outputs are written after all checks. */
void lwi_codegen_graph_check(lwi_codegen_graph *graph, lwi_codegen_value value, double limit,
                             int code);
void lwi_codegen_graph_note(lwi_codegen_graph *graph, const char *format, ...) LW_PRINTF(2, 3);
/** The same without a comment: values before and after belong to different parts of the mechanism (repeat.h). */
void lwi_codegen_graph_mark(lwi_codegen_graph *graph);
/** Is it a literal, and which? */
bool lwi_codegen_graph_known(const lwi_codegen_graph *graph, lwi_codegen_value value, double *x);

/** The numbers of all values.
 *  @param input  [narray] arrays of the inputs, NULL where none is read
 *  @param value  [nvertex] out */
void lwi_codegen_graph_evaluate(const lwi_codegen_graph *graph, const double *const *input,
                                double *value);

/** Counts the uses of all values that outputs need. */
void lwi_codegen_graph_live(lwi_codegen_graph *graph);
lwi_operations
lwi_codegen_graph_operations(const lwi_codegen_graph *graph); ///< after lwi_codegen_graph_live
/** The statements of the function's body, one value or a short expression of single-use values
 *  each; all inputs are read before the first output is written.  After lwi_codegen_graph_live.
 *  @param type  of the values: "double", "float", or "real", a vector of doubles */
void lwi_codegen_graph_print(lwi_codegen_graph *graph, const char *type, FILE *file);
/** Will some be evaluated together, by the functions of lwi_codegen_pack_types?  After lwi_codegen_graph_live. */
bool lwi_codegen_graph_packs(const lwi_codegen_graph *graph);
/** The macro of checks. */
void lwi_codegen_print_check(FILE *file);
/** Prints the function that LWI_OP_SELECT calls.  @param type  with specifiers: "static inline double" */
void lwi_codegen_print_choose(const char *type, FILE *file);
/** A number in C.  @param suffix  of floats "f", else "" */
void lwi_codegen_literal(double x, const char *suffix, char *text, size_t size);
/** The name of a function in C. */
const char *lwi_codegen_function_name(lwi_op op);
/** A name in a C string or a comment: characters that could end one are replaced. */
void lwi_codegen_print_name(FILE *file, const char *name);

#endif
