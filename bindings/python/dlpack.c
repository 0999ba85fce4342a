// dlpack.c -- capsules of DLPack, with and without a version.
//
// The structs are those of dlpack.h of DLPack 1.0 (Apache License 2.0), which the standard of Python array libraries names.
#include "dlpack.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct tensor {
    void *data;
    int32_t kind, number; // of the device
    int32_t ndim;
    uint8_t code, bits; // 0: integers, 2: floating point
    uint16_t lanes;
    int64_t *shape, *strides; // strides NULL: C order
    uint64_t offset;          // [bytes]
} tensor;

typedef struct managed {
    tensor t;
    void *context;
    void (*delete)(struct managed *);
} managed;

typedef struct versioned {
    uint32_t major, minor;
    void *context;
    void (*delete)(struct versioned *);
    uint64_t flags;
    tensor t;
} versioned;

// One block of memory for either, and what it keeps.
typedef struct kept {
    union {
        managed old;
        versioned new;
    } as;
    int64_t shape[2];
    PyObject *owner;
} kept;

enum { READ_ONLY = 1 }; // a flag

static const char OLD[] = "dltensor", NEW[] = "dltensor_versioned";

// Consumers call it in any thread, with or without the interpreter's lock.
static void let_go(kept *k)
{
    if (!Py_IsInitialized()) return; // the interpreter has ended: its memory is not released
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(k->owner);
    PyGILState_Release(state);
    free(k);
}

static void delete_old(managed *m)
{
    let_go(m->context);
}

static void delete_new(versioned *v)
{
    let_go(v->context);
}

// A capsule that nobody has consumed has its first name.
static void destroy(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, OLD)) delete_old(PyCapsule_GetPointer(capsule, OLD));
    if (PyCapsule_IsValid(capsule, NEW)) delete_new(PyCapsule_GetPointer(capsule, NEW));
}

// dlpack_new(address, rows, instances, code, bits, kind, number, versioned, owner) -> capsule
static PyObject *new_capsule(PyObject *self, PyObject *arguments)
{
    unsigned long long address;
    long long rows, instances;
    int code, bits, kind, number, is_new;
    PyObject *owner;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "KLLiiiipO", &address, &rows, &instances, &code, &bits, &kind, &number, &is_new,
                          &owner))
        return NULL;
    kept *k = calloc(1, sizeof *k);
    if (!k) return PyErr_NoMemory();
    k->shape[0] = rows, k->shape[1] = instances;
    const tensor t = {.data = (void *)(uintptr_t)address,
                      .kind = kind,
                      .number = number,
                      .ndim = 2,
                      .code = (uint8_t)code,
                      .bits = (uint8_t)bits,
                      .lanes = 1,
                      .shape = k->shape};
    if (is_new)
        k->as.new = (versioned){.major = 1, .context = k, .delete = delete_new, .t = t};
    else
        k->as.old = (managed){.t = t, .context = k, .delete = delete_old};
    PyObject *capsule = PyCapsule_New(&k->as, is_new ? NEW : OLD, destroy);
    if (!capsule) {
        free(k);
        return NULL;
    }
    Py_INCREF(owner);
    k->owner = owner;
    return capsule;
}

static PyObject *numbers(const int64_t *x, int n)
{
    PyObject *list = PyTuple_New(n);
    for (int i = 0; list && i < n; i++) {
        PyObject *number = PyLong_FromLongLong(x[i]);
        if (!number || PyTuple_SetItem(list, i, number) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

// dlpack_read(capsule) -> (address, shape, strides or None, code, bits, lanes, kind, number, read only); it remains the capsule's
static PyObject *read_capsule(PyObject *self, PyObject *capsule)
{
    const tensor *t = NULL;
    bool read_only = false;
    (void)self;
    if (PyCapsule_IsValid(capsule, OLD)) t = &((managed *)PyCapsule_GetPointer(capsule, OLD))->t;
    if (PyCapsule_IsValid(capsule, NEW)) {
        const versioned *v = PyCapsule_GetPointer(capsule, NEW);
        t = &v->t;
        read_only = v->flags & READ_ONLY;
    }
    if (!t) {
        PyErr_SetString(PyExc_TypeError, "expected a capsule of DLPack that was not consumed");
        return NULL;
    }
    PyObject *shape = numbers(t->shape, t->ndim);
    PyObject *strides = t->strides ? numbers(t->strides, t->ndim) : (Py_INCREF(Py_None), Py_None);
    if (!shape || !strides) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return NULL;
    }
    return Py_BuildValue("KNNiiiiii", (unsigned long long)((uintptr_t)t->data + t->offset), shape, strides, t->code,
                         t->bits, t->lanes, t->kind, t->number, (int)read_only);
}

PyMethodDef lwpy_dlpack_methods[] = {
    {"dlpack_new", new_capsule, METH_VARARGS, NULL},
    {"dlpack_read", read_capsule, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
