// sources.h -- generated code in memory, for those that compile and load it themselves.
#ifndef LWI_CODEGEN_SOURCES_H
#define LWI_CODEGEN_SOURCES_H

#include "base/base.h"

#include <linkwork/codegen.h>

#include <stdio.h>

/** The name of the model in these sources. */
#define LWI_CODEGEN_SOURCE "generated"

enum { LWI_CODEGEN_SOURCES = 4 };

/** The contents of generated.h, generated.c and, with lanes, generated_lanes.h, generated_lanes.c; NULL: there is none. */
typedef struct lwi_codegen_sources {
    char *text[LWI_CODEGEN_SOURCES];
    size_t size[LWI_CODEGEN_SOURCES];
    int margins;  ///< numbers of the function `margins`
    bool timed;   ///< positions depend on time: functions of positions have it as first parameter
    bool signals; ///< forward_dynamics has parameters for what forces read besides q, v and tau
    bool closed;  ///< there are rows of loops: functions return numbers, and projections exist
} lwi_codegen_sources;

/** @param functions  which: bits 1u << LW_CODEGEN_forward_dynamics, ...
 *  @param lanes      0: none, 4 or 8
 *  @return as lw_codegen_write; all are then NULL */
lw_status lwi_codegen_print_sources(const lw_model *model, unsigned functions, int lanes,
                                    const lw_allocator *allocator, lwi_codegen_sources *sources,
                                    lw_error *error);
/** Prints generated.cu, with doubles or floats: as lw_codegen_desc.cuda. */
lw_status lwi_codegen_print_kernels(const lw_model *model, bool single,
                                    const lw_allocator *allocator, FILE *file, lw_error *error);
void lwi_codegen_free_sources(lwi_codegen_sources *sources);

#endif
