// compiled.h -- a loaded model.
#ifndef LWI_COMPILED_COMPILED_H
#define LWI_COMPILED_COMPILED_H

#include "base/base.h"
#include "compiled/calls.h"

#include <linkwork/compiled.h>

#include <pthread.h>

struct lwi_partition;

typedef enum lwi_loaded_state {
    LWI_LOADED_WANTED, ///< nothing was tried, or a compiler was interrupted
    LWI_LOADED_BUILDING,
    LWI_LOADED_READY,
    LWI_LOADED_REFUSED ///< it cannot be compiled, and is not tried again
} lwi_loaded_state;

/** Loaded code, with one partition of the speeds of closed loops. */
typedef struct lwi_loaded {
    void *handle;           ///< of dlopen
    const lwi_calls *calls; ///< set where it is ready
    int n, *code;           ///< the partition as numbers (codegen/sources.h); of the first one none
    lwi_loaded_state state;
} lwi_loaded;

enum { LWI_LOADED_PARTS = 1000 }; ///< more are not loaded

/** The parts so far.  They stay until the end; one that is ready may be used without the lock, which is not held while a
 *  compiler runs. */
typedef struct lwi_loaded_parts {
    pthread_mutex_t lock;
    pthread_cond_t built; ///< a part is no longer LWI_LOADED_BUILDING
    int n;
    double compiling;
    char refused[sizeof((lw_error *)0)->text]; ///< the first reason, which then stays; "": none
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

enum { LWI_PART_NONE = -1, LWI_PART_REFUSED = -2 };

/** The number of the part with a partition, which is generated, compiled and loaded if it is not there yet; by several threads
 *  at a time, of which those that need the same one wait for the first.
 *  @return LWI_PART_REFUSED: it cannot be compiled, parts->refused has a reason; LWI_PART_NONE: no memory, too many, or the
 *          compiler was interrupted */
int lwi_compiled_load(const lw_compiled *compiled, const lw_model *model,
                      const struct lwi_partition *partition);

/** C that is compiled with the generated functions: those of many states in arrays, and the table of all (calls.h). */
extern const char lwi_calls_source[];
/** C that is compiled for one state and again for several in lanes, where derivatives are requested. */
extern const char lwi_derivatives_source[];

#endif
