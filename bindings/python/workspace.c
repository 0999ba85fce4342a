// workspace.c -- evaluations at one state in one call from Python, on the memory of its arrays.
//
// A second module in the extension of make_native.py: where all arguments are arrays of double of the right length it
// evaluates without an object of cffi for each.  What it does not take, and every error, is left to the methods in
// _data.py and _kinematics.py, which check and explain: each function returns False then.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dlpack.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <string.h>

// In the limited API from 3.11 on; the same in the versions before.
#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030b0000
typedef struct Py_buffer {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *, Py_buffer *, int);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *);
enum { PyBUF_WRITABLE = 0x1, PyBUF_FORMAT = 0x4, PyBUF_C_CONTIGUOUS = 0x38 };
#endif
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

// Up to so many speeds the interpreter's lock is kept, which costs more to release than such an evaluation; the second for
// loops where a mechanism is placed, with dense matrices.
enum { MAX_SPEEDS = 256, MAX_DENSE = 32 };

typedef struct workspace {
    PyObject_HEAD PyTypeObject *array; // numpy.ndarray, without subclasses
    lw_dynamics *dynamics;             // of the Data that owns this; NULL: none yet
    lw_kinematics *kinematics;         // of the Kinematics that owns this
    int nq, nv, dof, busy;
    double limit; // gap of the loops above which q is examined
} workspace;

// ------------------------------------------------------------------------------------------ arrays

enum { MAX_ARRAYS = 7 };

typedef struct arrays {
    const workspace *w;
    Py_buffer buffer[MAX_ARRAYS];
    int count;
} arrays;

// Memory of an array [n], or [n][m] with m > 0; NULL: it is none.
static double *take(arrays *a, PyObject *object, int n, int m, int flags)
{
    Py_buffer *b = &a->buffer[a->count];
    if (Py_TYPE(object) != a->w->array) return NULL;
    if (PyObject_GetBuffer(object, b, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) < 0) {
        PyErr_Clear();
        return NULL;
    }
    a->count++;
    const int ndim = m ? 2 : 1;
    if (b->ndim != ndim || b->shape[0] != n || (m && b->shape[1] != m)) return NULL;
    return b->format && strcmp(b->format, "d") == 0 ? b->buf : NULL;
}

static void release(arrays *a)
{
    for (int i = 0; i < a->count; i++) PyBuffer_Release(&a->buffer[i]);
}

static bool is_ready(const workspace *w, Py_ssize_t given, Py_ssize_t expected)
{
    return given == expected && w->dynamics && !w->busy && w->nv <= MAX_SPEEDS;
}

// A number; NAN, which is left to Python too: it is none.
static double number_of(PyObject *object)
{
    const double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return Py_NAN;
    }
    return number;
}

// -------------------------------------------------------------------------------------- evaluations

static PyObject *forward_dynamics(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_ready(w, count, 5)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    const double *q = take(&a, given[0], w->nq, 0, 0), *v = take(&a, given[1], w->nv, 0, 0);
    const double *tau = given[2] == Py_None ? NULL : take(&a, given[2], w->nv, 0, 0);
    const double t = number_of(given[3]);
    double *vdot = q && v ? take(&a, given[4], w->nv, 0, PyBUF_WRITABLE) : NULL;
    const bool done = t == t && vdot && (tau || given[2] == Py_None) &&
                      lw_dynamics_gap(w->dynamics, t, q) <= w->limit &&
                      lw_forward_dynamics(w->dynamics, t, q, v, tau, NULL, vdot) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

static PyObject *inverse_dynamics(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_ready(w, count, 5)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    const double *q = take(&a, given[0], w->nq, 0, 0), *v = take(&a, given[1], w->nv, 0, 0);
    const double *vdot = take(&a, given[2], w->nv, 0, 0);
    const double t = number_of(given[3]);
    double *tau = q && v && vdot ? take(&a, given[4], w->nv, 0, PyBUF_WRITABLE) : NULL;
    const bool done =
        t == t && tau && lw_inverse_dynamics(w->dynamics, t, q, v, vdot, NULL, tau) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

static PyObject *mass_matrix(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_ready(w, count, 3)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    const double *q = take(&a, given[0], w->nq, 0, 0);
    const double t = number_of(given[1]);
    double *M = q && w->nv ? take(&a, given[2], w->nv, w->nv, PyBUF_WRITABLE) : NULL;
    const bool done = t == t && M && lw_mass_matrix(w->dynamics, t, q, M) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

static PyObject *momenta(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_ready(w, count, 4)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    const double *q = take(&a, given[0], w->nq, 0, 0), *v = take(&a, given[1], w->nv, 0, 0);
    const double t = number_of(given[2]);
    double *p = q && v ? take(&a, given[3], w->nv, 0, PyBUF_WRITABLE) : NULL;
    const bool done = t == t && p && lw_momenta(w->dynamics, t, q, v, p) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

// Takes three matrices [nv][nv] of results.
static bool take_matrices(arrays *a, PyObject *const *given, double *matrix[3])
{
    const int n = a->w->nv;
    for (int i = 0; i < 3; i++)
        if (n == 0 || !(matrix[i] = take(a, given[i], n, n, PyBUF_WRITABLE))) return false;
    return true;
}

static PyObject *inverse_derivatives(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_ready(w, count, 7)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    double *by[3];
    const double *q = take(&a, given[0], w->nq, 0, 0), *v = take(&a, given[1], w->nv, 0, 0);
    const double *vdot = take(&a, given[2], w->nv, 0, 0);
    const double t = number_of(given[3]);
    const bool done = t == t && q && v && vdot && take_matrices(&a, given + 4, by) &&
                      lw_inverse_dynamics_derivatives(w->dynamics, t, q, v, vdot, NULL, by[0],
                                                      by[1], by[2]) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

static PyObject *forward_derivatives(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_ready(w, count, 8)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    double *by[3];
    const double *q = take(&a, given[0], w->nq, 0, 0), *v = take(&a, given[1], w->nv, 0, 0);
    const double *tau = given[2] == Py_None ? NULL : take(&a, given[2], w->nv, 0, 0);
    const double t = number_of(given[3]);
    double *vdot = q && v ? take(&a, given[4], w->nv, 0, PyBUF_WRITABLE) : NULL;
    const bool done = t == t && vdot && (tau || given[2] == Py_None) &&
                      take_matrices(&a, given + 5, by) &&
                      lw_forward_dynamics_derivatives(w->dynamics, t, q, v, tau, NULL, vdot, by[0],
                                                      by[1], by[2]) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

// --------------------------------------------------------------------------------------- kinematics

static bool is_placeable(const workspace *w, Py_ssize_t given, Py_ssize_t expected)
{
    return given == expected && w->kinematics && !w->busy &&
           w->nv <= (w->dof < w->nv ? MAX_DENSE : MAX_SPEEDS);
}

static bool body_of(PyObject *object, lw_body *body)
{
    if (!PyLong_CheckExact(object)) return false;
    const long index = PyLong_AsLong(object);
    if (index == -1 && PyErr_Occurred()) PyErr_Clear();
    *body = (lw_body){(int32_t)index};
    return index >= 0 && index <= INT32_MAX;
}

// An array, a tuple or a list of three floats or integers.
static bool point_of(arrays *a, PyObject *object, lw_vec3 *point)
{
    double own[3];
    const double *x = own;
    if (Py_TYPE(object) == a->w->array) {
        x = take(a, object, 3, 0, 0);
        if (!x) return false;
    } else {
        const bool tuple = PyTuple_CheckExact(object);
        if (!tuple && !PyList_CheckExact(object)) return false;
        if ((tuple ? PyTuple_Size(object) : PyList_Size(object)) != 3) return false;
        for (int i = 0; i < 3; i++) {
            PyObject *number = tuple ? PyTuple_GetItem(object, i) : PyList_GetItem(object, i);
            if (!PyFloat_CheckExact(number) && !PyLong_CheckExact(number)) return false;
            own[i] = number_of(number);
        }
    }
    *point = (lw_vec3){x[0], x[1], x[2]};
    return true;
}

static bool axes_of(PyObject *object, lw_axes *axes)
{
    if (!PyUnicode_Check(object)) return false;
    *axes = PyUnicode_CompareWithASCIIString(object, "body") == 0 ? LW_AXES_BODY : LW_AXES_WORLD;
    return *axes == LW_AXES_BODY || PyUnicode_CompareWithASCIIString(object, "world") == 0;
}

// place(q, v or None, time)
static PyObject *place(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_placeable(w, count, 3)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    const double *q = take(&a, given[0], w->nq, 0, 0);
    const double *v = given[1] == Py_None ? NULL : take(&a, given[1], w->nv, 0, 0);
    const double t = number_of(given[2]);
    const bool done = t == t && q && (v || given[1] == Py_None) &&
                      lw_kinematics_set(w->kinematics, t, q, v, NULL) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

// point(number of the body, point, room for the numbers of a lw_point_motion)
static PyObject *point(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    enum { NUMBERS = sizeof(lw_point_motion) / sizeof(double) };
    const workspace *w = (const workspace *)self;
    if (!is_placeable(w, count, 3)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    lw_body body;
    lw_vec3 at;
    lw_point_motion motion;
    double *to = body_of(given[0], &body) && point_of(&a, given[1], &at)
                     ? take(&a, given[2], NUMBERS, 0, PyBUF_WRITABLE)
                     : NULL;
    const bool done = to && lw_kinematics_point(w->kinematics, body, at, &motion) == LW_OK;
    if (done) memcpy(to, &motion, sizeof motion);
    release(&a);
    return PyBool_FromLong(done);
}

// jacobian(number of the body, point, "world" or "body", by the speeds of the tree?, room for J)
static PyObject *jacobian(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_placeable(w, count, 5)) Py_RETURN_FALSE;
    arrays a = {.w = w};
    lw_body body;
    lw_vec3 at;
    lw_axes axes;
    const bool tree = given[3] == Py_True, known = tree || given[3] == Py_False;
    const int n = tree ? w->nv : w->dof;
    double *J = known && n && body_of(given[0], &body) && point_of(&a, given[1], &at) &&
                        axes_of(given[2], &axes)
                    ? take(&a, given[4], 6, n, PyBUF_WRITABLE)
                    : NULL;
    const bool done = J && (tree ? lw_kinematics_tree_jacobian : lw_kinematics_jacobian)(
                               w->kinematics, body, at, axes, J) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

// tangent(room for B)
static PyObject *tangent(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const workspace *w = (const workspace *)self;
    if (!is_placeable(w, count, 1) || !w->dof) Py_RETURN_FALSE;
    arrays a = {.w = w};
    double *B = take(&a, given[0], w->nv, w->dof, PyBUF_WRITABLE);
    const bool done = B && lw_kinematics_tangent(w->kinematics, B) == LW_OK;
    release(&a);
    return PyBool_FromLong(done);
}

// ----------------------------------------------------------------------------------------- one user

static PyObject *acquire(PyObject *self, PyObject *unused)
{
    workspace *w = (workspace *)self;
    (void)unused;
    if (w->busy) Py_RETURN_FALSE;
    w->busy = 1;
    Py_RETURN_TRUE;
}

static PyObject *end_use(PyObject *self, PyObject *unused)
{
    (void)unused;
    ((workspace *)self)->busy = 0;
    Py_RETURN_NONE;
}

// bind(address of the lw_dynamics, numbers of coordinates and speeds, limit of the gap)
static PyObject *bind(PyObject *self, PyObject *given)
{
    workspace *w = (workspace *)self;
    PyObject *address;
    if (!PyArg_ParseTuple(given, "Oiid", &address, &w->nq, &w->nv, &w->limit)) return NULL;
    w->dynamics = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

// bind_kinematics(address of the lw_kinematics, numbers of coordinates, speeds, independent speeds)
static PyObject *bind_kinematics(PyObject *self, PyObject *given)
{
    workspace *w = (workspace *)self;
    PyObject *address;
    if (!PyArg_ParseTuple(given, "Oiii", &address, &w->nq, &w->nv, &w->dof)) return NULL;
    w->kinematics = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

// -------------------------------------------------------------------------------------------- module

// Workspace(numpy.ndarray)
static PyObject *create(PyTypeObject *type, PyObject *given, PyObject *names)
{
    PyObject *array;
    (void)names;
    if (!PyArg_ParseTuple(given, "O!", &PyType_Type, &array)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    workspace *w = (workspace *)allocate(type, 0);
    if (!w) return NULL;
    Py_INCREF(array);
    w->array = (PyTypeObject *)array;
    return (PyObject *)w;
}

static void destroy(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((workspace *)self)->array);
    freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_it(self);
    Py_DECREF(type);
}

#define FAST(function) (PyCFunction)(void (*)(void)) function
static PyMethodDef methods[] = {
    {"forward_dynamics", FAST(forward_dynamics), METH_FASTCALL, NULL},
    {"inverse_dynamics", FAST(inverse_dynamics), METH_FASTCALL, NULL},
    {"mass_matrix", FAST(mass_matrix), METH_FASTCALL, NULL},
    {"momenta", FAST(momenta), METH_FASTCALL, NULL},
    {"inverse_derivatives", FAST(inverse_derivatives), METH_FASTCALL, NULL},
    {"forward_derivatives", FAST(forward_derivatives), METH_FASTCALL, NULL},
    {"place", FAST(place), METH_FASTCALL, NULL},
    {"point", FAST(point), METH_FASTCALL, NULL},
    {"jacobian", FAST(jacobian), METH_FASTCALL, NULL},
    {"tangent", FAST(tangent), METH_FASTCALL, NULL},
    {"acquire", acquire, METH_NOARGS, NULL},
    {"release", end_use, METH_NOARGS, NULL},
    {"bind", bind, METH_VARARGS, NULL},
    {"bind_kinematics", bind_kinematics, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, create},
    {Py_tp_dealloc, destroy},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {.name = "linkwork._workspace.Workspace",
                           .basicsize = sizeof(workspace),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

static int fill(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    if (!type) return -1;
    if (PyModule_AddObject(module, "Workspace", type) == 0) return 0;
    Py_DECREF(type);
    return -1;
}

static PyModuleDef_Slot steps[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "linkwork._workspace",
                                        .m_methods = lwpy_dlpack_methods,
                                        .m_slots = steps};

PyMODINIT_FUNC PyInit__workspace(void)
{
    return PyModuleDef_Init(&definition);
}
