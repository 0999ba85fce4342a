// compiled.h -- a loaded model.
#ifndef LWI_COMPILED_COMPILED_H
#define LWI_COMPILED_COMPILED_H

#include "base/base.h"
#include "compiled/calls.h"

#include <linkwork/compiled.h>

struct lw_compiled {
    lw_allocator allocator;
    void *library; ///< of dlopen
    const lwi_calls *calls;
    lw_compiled_info info;
};

/** C that is compiled with the generated functions: those of many states in arrays, and the table of all (calls.h). */
extern const char lwi_calls_source[];

#endif
