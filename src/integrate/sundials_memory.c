// sundials_memory.c -- vectors, matrices and factors for SUNDIALS, in memory of a caller's allocator.
#include "integrate/sundials_memory.h"

#include "integrate/sundials_vectors.h"

#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <string.h>

// Each begins with the struct of SUNDIALS.
typedef struct vector {
    struct _generic_N_Vector head;
    struct _N_VectorContent_Serial content;
    lwi_sundials_memory *memory;
    double data[]; // [n], or none
} vector;

typedef struct matrix {
    struct _generic_SUNMatrix head;
    struct _SUNMatrixContent_Dense content;
    lwi_sundials_memory *memory;
    double **column; // [n]
    double data[];   // [n][n], the columns behind it
} matrix;

typedef struct factors {
    struct _generic_SUNLinearSolver head;
    struct _SUNLinearSolverContent_Dense content;
    sunindextype pivots[]; // [n]
} factors;

// ------------------------------------------------------------------------------------------ blocks

struct lwi_sundials_block {
    struct lwi_sundials_block *next;
    void *unused; // what follows is aligned for 16 bytes
};

// Filled with zero; NULL: no memory.
static void *take(lwi_sundials_memory *memory, size_t bytes)
{
    struct lwi_sundials_block *block = lwi_allocate(&memory->allocator, sizeof *block + bytes);
    if (!block) return NULL;
    memset(block, 0, sizeof *block + bytes);
    block->next = memory->blocks;
    memory->blocks = block;
    return block + 1;
}

// ----------------------------------------------------------------------------------------- vectors

N_Vector lwi_sundials_vector(lwi_sundials_memory *memory, double *data)
{
    const size_t own = data ? 0 : (size_t)memory->n * sizeof *data;
    vector *v = take(memory, sizeof *v + own);
    if (!v) return NULL;
    v->head.content = &v->content;
    v->head.ops = &memory->vector_operations;
    v->head.sunctx = memory->context;
    v->content.length = memory->n;
    v->content.data = data ? data : v->data;
    v->memory = memory;
    return &v->head;
}

static N_Vector copy_vector(N_Vector like)
{
    lwi_sundials_memory *memory = ((vector *)like)->memory;
    N_Vector copy = lwi_sundials_vector(memory, NULL);
    if (copy) return copy;
    memory->exhausted = true;
    return memory->spare;
}

static void keep_vector(N_Vector v)
{
    (void)v;
}

// The operations of serial vectors.
static bool borrow_vector_operations(lwi_sundials_memory *memory)
{
    N_Vector serial = N_VNewEmpty_Serial(1, memory->context);
    if (!serial) return false;
    memory->vector_operations = *serial->ops;
    N_VDestroy(serial);
    lwi_sundials_set_vectors(&memory->vector_operations);
    memory->vector_operations.nvclone = copy_vector;
    memory->vector_operations.nvcloneempty = copy_vector;
    memory->vector_operations.nvdestroy = keep_vector;
    return true;
}

// ---------------------------------------------------------------------------------------- matrices

static SUNMatrix new_matrix(lwi_sundials_memory *memory)
{
    const size_t n = (size_t)memory->n;
    matrix *m = take(memory, sizeof *m + n * n * sizeof *m->data + n * sizeof *m->column);
    if (!m) return NULL;
    m->head.content = &m->content;
    m->head.ops = &memory->matrix_operations;
    m->head.sunctx = memory->context;
    m->column = (double **)(m->data + n * n);
    for (size_t j = 0; j < n; j++) m->column[j] = m->data + j * n;
    m->content = (struct _SUNMatrixContent_Dense){.M = memory->n,
                                                  .N = memory->n,
                                                  .data = m->data,
                                                  .ldata = (sunindextype)(n * n),
                                                  .cols = m->column};
    m->memory = memory;
    return &m->head;
}

// CVODE takes one, for the Jacobian that it keeps.
static SUNMatrix copy_matrix(SUNMatrix like)
{
    lwi_sundials_memory *memory = ((matrix *)like)->memory;
    SUNMatrix copy = new_matrix(memory);
    if (copy) return copy;
    memory->exhausted = true;
    return memory->spare_matrix;
}

static void keep_matrix(SUNMatrix m)
{
    (void)m;
}

// The spare one is the first: where no copy can be made, nothing is computed with either.
SUNMatrix lwi_sundials_matrix(lwi_sundials_memory *memory)
{
    SUNMatrix dense = SUNDenseMatrix(1, 1, memory->context);
    if (!dense) return NULL;
    memory->matrix_operations = *dense->ops;
    SUNMatDestroy(dense);
    memory->matrix_operations.clone = copy_matrix;
    memory->matrix_operations.destroy = keep_matrix;
    return memory->spare_matrix = new_matrix(memory);
}

// ----------------------------------------------------------------------------------------- factors

static int keep_factors(SUNLinearSolver solver)
{
    (void)solver;
    return 0;
}

// The operations of dense solvers, from one of one unknown.
static bool borrow_solver_operations(lwi_sundials_memory *memory)
{
    N_Vector y = N_VNew_Serial(1, memory->context);
    SUNMatrix m = y ? SUNDenseMatrix(1, 1, memory->context) : NULL;
    SUNLinearSolver dense = m ? SUNLinSol_Dense(y, m, memory->context) : NULL;
    if (dense) {
        memory->solver_operations = *dense->ops;
        memory->solver_operations.free = keep_factors;
        SUNLinSolFree(dense);
    }
    if (m) SUNMatDestroy(m);
    if (y) N_VDestroy(y);
    return dense != NULL;
}

SUNLinearSolver lwi_sundials_solver(lwi_sundials_memory *memory)
{
    const size_t n = (size_t)memory->n;
    if (!borrow_solver_operations(memory)) return NULL;
    factors *f = take(memory, sizeof *f + n * sizeof *f->pivots);
    if (!f) return NULL;
    f->head.content = &f->content;
    f->head.ops = &memory->solver_operations;
    f->head.sunctx = memory->context;
    f->content.N = memory->n;
    f->content.pivots = f->pivots;
    return &f->head;
}

// -------------------------------------------------------------------------------------------- all

bool lwi_sundials_memory_create(lwi_sundials_memory *memory, int n, const lw_allocator *allocator,
                                SUNContext context)
{
    memory->n = n;
    memory->context = context;
    if (allocator) memory->allocator = *allocator;
    return borrow_vector_operations(memory) && (memory->spare = lwi_sundials_vector(memory, NULL));
}

void lwi_sundials_memory_destroy(lwi_sundials_memory *memory)
{
    for (struct lwi_sundials_block *block = memory->blocks, *next; block; block = next) {
        next = block->next;
        lwi_release(&memory->allocator, block);
    }
    memory->blocks = NULL;
}
