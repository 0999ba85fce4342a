// module.h -- separate parts of the library, loaded when they are first used.
//
// HDF5 and cairo need some fifty shared libraries, more to load than a small model takes to run.  What calls them is a
// module, linked with them; the library is not.  An archive, the Python extension and the tests contain these parts
// instead.
#ifndef LWI_BASE_MODULE_H
#define LWI_BASE_MODULE_H

#include "base/base.h"

#include <pthread.h>

/** The symbol of a module: its functions, after the version of Linkwork. */
#define LWI_MODULE_SYMBOL "lwi_functions"

typedef struct lwi_module {
    const char *name, *what; ///< of its file; for messages: "HDF5 files"
    const void *functions;   ///< NULL: not loaded
    char reason[256];        ///< why not
} lwi_module;

/** Loads linkwork/NAME.so from the folder of this library.  By one thread at a time: use pthread_once.  The module stays
 *  loaded until the program ends. */
void lwi_module_load(lwi_module *module);
/** @return LW_ERR_UNSUPPORTED: it could not be loaded */
lw_status lwi_module_check(const lwi_module *module, lw_error *error);

#endif
