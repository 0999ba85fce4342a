// hdf5_loaded.c -- the functions of HDF5 in a library that loads their module.
#include "base/module.h"
#include "io/result/hdf5_module.h"

static lwi_module module = {.name = "hdf5", .what = "HDF5 files"};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    lwi_module_load(&module);
}

static const lwi_hdf5_functions *functions(void)
{
    return module.functions;
}

#define OPEN(name, parameters, arguments)                                                          \
    lw_status lwi_hdf5_##name parameters                                                           \
    {                                                                                              \
        pthread_once(&once, load);                                                                 \
        TRY(lwi_module_check(&module, error));                                                     \
        return functions()->name arguments;                                                        \
    }
#define OTHER(type, name, parameters, arguments)                                                   \
    type lwi_hdf5_##name parameters                                                                \
    {                                                                                              \
        return functions()->name arguments;                                                        \
    }
LWI_HDF5_MODULE_LIST(OPEN, OTHER)
