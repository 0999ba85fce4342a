// hdf5_module.c -- what the library finds in the module of HDF5.
#include "base/module.h"
#include "io/result/hdf5_module.h"

extern LW_API const lwi_hdf5_functions lwi_functions; // the name is LWI_MODULE_SYMBOL
const lwi_hdf5_functions lwi_functions = {.version = LWI_VERSION,
#define OPEN(name, parameters, arguments) .name = lwi_hdf5_##name,
#define OTHER(type, name, parameters, arguments) .name = lwi_hdf5_##name,
                                          LWI_HDF5_MODULE_LIST(OPEN, OTHER)
#undef OPEN
#undef OTHER
};
