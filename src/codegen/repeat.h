// repeat.h -- a function with statements that repeat, as one static function for each shape and tables of its calls.
//
// Notes divide the values of a graph into segments: a body inward, the rows of a loop.  Segments of the same operations
// are calls of one function: their literals are parameters, values of other segments are read from an array at offsets.
// The length of the code then grows with shapes, that of the tables with segments.  Equal segments that do not depend on each
// other are evaluated in lanes (packs.c).
#ifndef LWI_CODEGEN_REPEAT_H
#define LWI_CODEGEN_REPEAT_H

#include "codegen/graph.h"

typedef struct lwi_repeats lwi_repeats;

/** Upper bounds for the statements of a function. */
typedef struct lwi_repeats_limits {
    int plain; ///< of the whole function
    int once;  ///< of the functions that it is divided into, of parts that occur once
} lwi_repeats_limits;

/** Finds repetitions, after lwi_codegen_graph_live.
 *  @param large    the model has too many speeds for plain statements
 *  @param lanes    most segments that are evaluated together; 0: each alone
 *  @param repeats  out, in the arena; NULL: plain statements are better
 *  @return LW_ERR_MEMORY */
lw_status lwi_repeats_find(const lwi_codegen_graph *graph, bool large, lwi_repeats_limits limits,
                           int lanes, lwi_arena *arena, lwi_repeats **repeats);
/** Statements that are left, of all functions. */
int lwi_repeats_statements(const lwi_repeats *repeats);
/** About how long a compiler takes for a function of n statements, and for all of these [s]. */
double lwi_compiler_seconds(int n);
double lwi_repeats_seconds(const lwi_repeats *repeats);
/** Some segments are evaluated together, by functions of vectors. */
bool lwi_repeats_packed(const lwi_repeats *repeats);
/** The static functions and tables, which come before the function `name`.
 *  @param lanes  of states, of type `real`; 0: one state, doubles and the vectors of lwi_codegen_pack_types */
void lwi_repeats_print_tables(const lwi_repeats *repeats, const char *name, int lanes, FILE *file);
/** The body, as lwi_codegen_graph_print. */
void lwi_repeats_print(const lwi_repeats *repeats, const char *name, int lanes, FILE *file);

#endif
