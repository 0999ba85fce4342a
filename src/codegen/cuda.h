// cuda.h -- a source for many instances at once: CUDA, and C for the processor.
#ifndef LWI_CODEGEN_CUDA_H
#define LWI_CODEGEN_CUDA_H

#include "codegen/writer.h"

/** The argument of its kernels, NAME_run of the source, which describes the entries; pointers to doubles or floats are
 *  void here. */
typedef struct lwi_cuda_run {
    int instances, intervals, steps, max_steps, ncolumn, nposition, fresh;
    double time, interval, rtol, atol;
    const void *u, *tau;
    void *state;
    double *end;
    int *status, *count;
    void *length, *trajectory;
    const int *column;
    void *measure;
} lwi_cuda_run;

void lwi_codegen_cuda_source(FILE *file, lwi_codegen_writer *writer);

#endif
