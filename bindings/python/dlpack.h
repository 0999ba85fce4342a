// dlpack.h -- arrays of devices as capsules of DLPack, and back.
#ifndef LWPY_DLPACK_H
#define LWPY_DLPACK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/** Functions of the module in workspace.c: dlpack_new, dlpack_read. */
extern PyMethodDef lwpy_dlpack_methods[];

#endif
