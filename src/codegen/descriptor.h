// descriptor.h -- what a loader of generated code reads: sizes, the start, rates and projection, by one symbol.
#ifndef LWI_CODEGEN_DESCRIPTOR_H
#define LWI_CODEGEN_DESCRIPTOR_H

#include "codegen/writer.h"

/** Where `rates` has more results (lwi_codegen_writer.shapes), the projection alone.
 *  @param kind  between the name of the model and those of functions: "", "lanes_" */
void lwi_codegen_descriptor_header(FILE *file, const lwi_codegen_writer *writer, const char *kind);
void lwi_codegen_descriptor_source(FILE *file, const lwi_codegen_writer *writer, const char *kind);

#endif
