// sources.h -- generated code in memory, for those that compile and load it themselves.
#ifndef LWI_CODEGEN_SOURCES_H
#define LWI_CODEGEN_SOURCES_H

#include "base/base.h"

#include <linkwork/codegen.h>

#include <stdio.h>

/** The name of the model in these sources. */
#define LWI_CODEGEN_SOURCE "generated"

/** With these it has the same bits with and without fused multiply-add, and in lanes: GCC 12 fuses products with alternating
 *  sums and differences, vfmaddsub, also with -ffp-contract=off, where it packs statements in vectors. */
#define LWI_CODEGEN_FLAGS "-ffp-contract=off -fno-tree-slp-vectorize -fno-math-errno"

enum { LWI_CODEGEN_SOURCES = 4 };
/** Arrays of more numbers are a thread's, not on the stack of the caller. */
enum { LWI_CODEGEN_ON_STACK = 1 << 14 };

/** A partition of the speeds of closed loops into independent and dependent ones, as numbers: of each block of rows how many
 *  there are and which, how many dependent speeds it has and which.  The same numbers generate the same code. */
typedef struct lwi_partition {
    int n, *code; ///< [n]
} lwi_partition;

/** The contents of generated.h, generated.c and, with lanes, generated_lanes.h, generated_lanes.c; NULL: there is none. */
typedef struct lwi_codegen_sources {
    char *text[LWI_CODEGEN_SOURCES];
    size_t size[LWI_CODEGEN_SOURCES];
    double seconds; ///< that a compiler may take
    int margins;    ///< numbers of the function `margins`
    bool timed;     ///< positions depend on time: functions of positions have it as first parameter
    bool signals;   ///< forward_dynamics has parameters for what forces read besides q, v and tau
    bool
        works; ///< `rates` has the power after xdot; then come the results of closed loops (lwi_generate_run_rates)
    int dependent; ///< speeds of loops that follow from others
    bool closed;   ///< there are rows of loops: functions return numbers, and projections exist
} lwi_codegen_sources;

/** @param functions  which: bits 1u << LW_CODEGEN_forward_dynamics, ...
 *  @param partition  NULL: the one that is chosen at the start
 *  @param lanes      of states; 0: none, 4 or 8
 *  @param packs      lanes of equal parts of one state; 0: none
 *  @return as lw_codegen_write; all are then NULL */
lw_status lwi_codegen_print_sources(const lw_model *model, unsigned functions, int lanes, int packs,
                                    const lwi_partition *partition, const lw_allocator *allocator,
                                    lwi_codegen_sources *sources, lw_error *error);
/** Prints generated.cu, with doubles or floats: as lw_codegen_desc.cuda. */
lw_status lwi_codegen_print_kernels(const lw_model *model, bool single,
                                    const lw_allocator *allocator, FILE *file, lw_error *error);
/** Chooses a partition at the coordinates q of the tree at time t, where the loops are closed.
 *  @param partition  out, in the arena
 *  @param margin     out: the smallest number of the function `margins` there
 *  @return LW_ERR_UNSUPPORTED: some rows depend on each other there more than elsewhere; LW_ERR_MEMORY */
lw_status lwi_codegen_partition_at(const lw_model *model, double t, const double *q,
                                   lwi_arena *arena, lwi_partition *partition, double *margin,
                                   lw_error *error);
void lwi_codegen_free_sources(lwi_codegen_sources *sources);

#endif
