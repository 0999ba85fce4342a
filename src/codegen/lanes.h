// lanes.h -- a second source for generated code: its functions for several states at once, in vectors.
#ifndef LWI_CODEGEN_LANES_H
#define LWI_CODEGEN_LANES_H

#include "codegen/writer.h"

/** Sine and cosine with the bits of those of the lanes, as macros in place of libm's. */
void lwi_codegen_scalar_circular(FILE *file);
/** Vectors and their functions for what is evaluated together of one state, if there is any; before lwi_codegen_scalar_circular. */
void lwi_codegen_pack_types(FILE *file, const lwi_codegen_writer *writer);
void lwi_codegen_lanes_header(FILE *file, const lwi_codegen_writer *writer);
void lwi_codegen_lanes_source(FILE *file, lwi_codegen_writer *writer);

#endif
