// compiled.h -- a loaded model.
#ifndef LWI_COMPILED_COMPILED_H
#define LWI_COMPILED_COMPILED_H

#include "base/base.h"
#include "compiled/calls.h"

#include <linkwork/compiled.h>

#include <pthread.h>

struct lwi_partition;

/** Loaded code, with one partition of the speeds of closed loops. */
typedef struct lwi_loaded {
    void *library;          ///< of dlopen
    const lwi_calls *calls; ///< NULL: it cannot be compiled
    int n, *code;           ///< the partition as numbers (codegen/sources.h); of the first one none
} lwi_loaded;

enum { LWI_LOADED_PARTS = 1000 }; ///< more are not loaded

/** The parts so far.  They stay until the end; one that is known may be used without the lock. */
typedef struct lwi_loaded_parts {
    pthread_mutex_t lock;
    int n;
    double compiling;
    lwi_loaded part[LWI_LOADED_PARTS];
} lwi_loaded_parts;

struct lw_compiled {
    lw_allocator allocator;
    lw_compiled_desc how;   ///< of further parts, with copies of its strings
    const lw_model *model;  ///< of calls that may take another partition; NULL: they do not
    const lwi_calls *calls; ///< of the first part
    lw_compiled_info info;
    lwi_loaded_parts *parts;
};

/** The number of the part with a partition, which is generated, compiled and loaded if it is not there yet; by several threads
 *  at a time.  -1: not possible, and not tried again. */
int lwi_compiled_load(const lw_compiled *compiled, const lw_model *model,
                      const struct lwi_partition *partition);

/** C that is compiled with the generated functions: those of many states in arrays, and the table of all (calls.h). */
extern const char lwi_calls_source[];

#endif
