// stiffness.c -- Arnoldi's iteration on J = df/dx, without J.                              [golub2013, 10.5]
//
//     J v ~ (f(x + e v) - f(x)) / e,    J V_m = V_m H + (a vector along v_m+1)
//
// The eigenvalues of the Hessenberg matrix H [m][m] of the largest modulus are those of J after a few rounds; of
// oscillations they are complex, with the damping ratio -re / |lambda|.
#include "simulate/stiffness.h"

#include "base/eigen.h"
#include "base/linear.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Eigenvalues ten times the others are found to a per cent in a few rounds; otherwise the model is not stiff.
enum { ROUNDS = 18 };
// After these rounds a rate that is so much faster than the others would be seen within a factor of ten.
enum { FEW = 6 };
static const double FAR = 0.1;
// Motions near the fastest one have this part of its rate; slower ones are not found exactly.
static const double NEAR = 0.3;

typedef struct walk {
    lwi_work *work;
    int n, m; // states; rounds
    double *x, *f, *y, *inputs;
    double *v; // [m + 1][n] orthonormal
    double H[ROUNDS * ROUNDS];
} walk;

static double norm(int n, const double *x)
{
    return sqrt(lwi_dot(n, x, x));
}

static bool rates(const walk *a, const double *x, double *f)
{
    return a->work->formulation->rates(a->work, 0, x, a->inputs, f) == LW_OK &&
           isfinite(norm(a->n, f));
}

static double *vector(const walk *a, int k)
{
    return a->v + (size_t)k * (size_t)a->n;
}

// w := J v_k, by a difference of the size of x.
static bool apply(const walk *a, int k, double size, double *w)
{
    const double e = sqrt(DBL_EPSILON) * size, *v = vector(a, k);
    for (int i = 0; i < a->n; i++) a->y[i] = a->x[i] + e * v[i];
    if (!rates(a, a->y, w)) return false;
    for (int i = 0; i < a->n; i++) w[i] = (w[i] - a->f[i]) / e;
    return true;
}

// Column k of H, and v_k+1.  *after: the norm that remains; 0: the space is invariant.
static bool next(walk *a, int k, double size, double *after)
{
    double *w = vector(a, k + 1);
    if (!apply(a, k, size, w)) return false;
    for (int twice = 0; twice < 2; twice++) // orthogonal to rounding
        for (int j = 0; j <= k; j++) {
            const double h = lwi_dot(a->n, vector(a, j), w);
            a->H[j * ROUNDS + k] += h;
            for (int i = 0; i < a->n; i++) w[i] -= h * vector(a, j)[i];
        }
    *after = norm(a->n, w);
    if (!isfinite(*after)) return false;
    if (k + 1 < a->m) a->H[(k + 1) * ROUNDS + k] = *after;
    if (*after > 0)
        for (int i = 0; i < a->n; i++) w[i] /= *after;
    return true;
}

// The eigenvalues of the first m rows and columns of H.
static void read_eigenvalues(const walk *a, int m, lwi_stiffness *s)
{
    double H[ROUNDS * ROUNDS], re[ROUNDS], im[ROUNDS], scratch[ROUNDS];
    s->rate = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) H[i * m + j] = a->H[i * ROUNDS + j];
    if (!lwi_eigen_values(m, H, re, im, scratch)) return;
    for (int i = 0; i < m; i++) s->rate = fmax(s->rate, hypot(re[i], im[i]));
    s->damping = 1;
    for (int i = 0; i < m; i++) {
        const double modulus = hypot(re[i], im[i]);
        if (modulus > NEAR * s->rate) s->damping = fmin(s->damping, -re[i] / modulus);
    }
}

static void find(walk *a, double lowest, lwi_stiffness *s)
{
    double after = 1;
    const double size = 1 + norm(a->n, a->x);
    if (!rates(a, a->x, a->f)) return;
    // all components are nonzero and different
    for (int i = 0; i < a->n; i++) a->v[i] = 1 + 0.1 * sin(1 + i);
    const double length = norm(a->n, a->v);
    for (int i = 0; i < a->n; i++) a->v[i] /= length;
    int m = 0;
    lwi_stiffness found = {0};
    while (m < a->m && after > 0) {
        if (!next(a, m++, size, &after)) return;
        if (m != FEW) continue;
        read_eigenvalues(a, m, &found);
        if (found.rate > 0 && found.rate < FAR * lowest) break;
    }
    read_eigenvalues(a, m, &found);
    *s = found;
}

static lw_status start(walk *a, lwi_arena *arena)
{
    const lw_model *model = a->work->model;
    lwi_snapshot snapshot;
    double **const array[] = {&a->x, &a->f, &a->y};
    for (int i = 0; i < LWI_COUNT(array); i++)
        if (!(*array[i] = LWI_PUSH(arena, double, a->n))) return LW_ERR_MEMORY;
    a->m = a->n < ROUNDS ? a->n : ROUNDS;
    a->v = LWI_PUSH(arena, double, (size_t)(a->m + 1) * (size_t)a->n);
    a->inputs = LWI_PUSH(arena, double, model->desc.ninput);
    if (!a->v || !a->inputs || lwi_snapshot_create(model, arena, &snapshot) != LW_OK)
        return LW_ERR_MEMORY;
    lwi_snapshot_start(model, &snapshot);
    return a->work->formulation->enter(a->work, &snapshot, a->x);
}

// A work with speeds as state.  In momenta differences are useless: those of a long chain are 10^6 times as large as
// its coordinates, and a change of their last digits is a speed of its lightest rods.
static lw_status create_speeds(const lwi_work *work, const lw_allocator *allocator,
                               lwi_work **speeds)
{
    const lwi_formulation *f = &lwi_formulation_aba;
    *speeds = NULL;
    if (!lwi_layout_has(&work->layout, LWI_MOMENTUM)) return LW_OK;
    if (lwi_formulation_accepts(f, work->model, NULL) != LW_OK) f = &lwi_formulation_dca;
    if (lwi_formulation_accepts(f, work->model, NULL) != LW_OK) return LW_OK;
    const lw_status status =
        lwi_work_create_shared(work->model, f, allocator, NULL, 0, work->shared, speeds, NULL);
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

lw_status lwi_stiffness_find(lwi_work *work, const lw_allocator *allocator, double lowest,
                             lwi_stiffness *stiffness)
{
    lwi_arena arena;
    lwi_work *speeds = NULL;
    *stiffness = (lwi_stiffness){0};
    TRY(create_speeds(work, allocator, &speeds));
    walk a = {.work = speeds ? speeds : work};
    a.n = a.work->layout.nx;
    lwi_arena_init(&arena, allocator);
    const lw_status status = start(&a, &arena);
    if (status == LW_OK && a.n > 0) find(&a, lowest, stiffness);
    lwi_arena_free(&arena);
    lwi_work_destroy(speeds);
    return status == LW_ERR_MEMORY ? status : LW_OK; // a start that fails is reported by the caller
}
