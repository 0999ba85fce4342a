// decay.c -- power iteration on J = df/dx, without J.
//
//     w = (f(x + e v) - f(x)) / e,   r = v'w / v'v,   v := w
//
// converges to the eigenvalue of the largest modulus: |w|/|v| is the modulus and r its real part's
// share.  A real negative one has r = -|w|/|v|; of an oscillation r is far from it.
#include "simulate/decay.h"

#include <float.h>
#include <math.h>
#include <string.h>

// An eigenvalue ten times the next one is found to a per cent in a few rounds; otherwise the model is not stiff.
enum { ROUNDS = 16 };
// Smallest share of the modulus of a decay; critically damped oscillations have 0.7.
static const double MOSTLY = 0.9;

typedef struct walk {
    lwi_work *work;
    int n;
    double *x, *f, *v, *y, *w, *inputs;
} walk;

static double norm(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static bool rates(const walk *a, const double *x, double *f)
{
    return a->work->formulation->rates(a->work, 0, x, a->inputs, f) == LW_OK &&
           isfinite(norm(a->n, f));
}

// One round; false if results are not finite.  @param share  of the modulus, negative: decay
static bool next(const walk *a, double size, double *modulus, double *share)
{
    const int n = a->n;
    const double length = norm(n, a->v), e = sqrt(DBL_EPSILON) * size / length;
    double dot = 0;
    for (int i = 0; i < n; i++) a->y[i] = a->x[i] + e * a->v[i];
    if (!rates(a, a->y, a->w)) return false;
    for (int i = 0; i < n; i++) {
        a->w[i] = (a->w[i] - a->f[i]) / e;
        dot += a->v[i] * a->w[i];
    }
    const double after = norm(n, a->w);
    *modulus = after / length;
    if (!(after > 0) || !isfinite(after)) return false;
    *share = dot / (length * after);
    for (int i = 0; i < n; i++) a->v[i] = a->w[i] / after;
    return true;
}

static double find(walk *a)
{
    double modulus = 0, share = 0;
    const double size = 1 + norm(a->n, a->x);
    if (!rates(a, a->x, a->f)) return 0;
    // all components are nonzero and different
    for (int i = 0; i < a->n; i++) a->v[i] = 1 + 0.1 * sin(1 + i);
    for (int round = 0; round < ROUNDS; round++)
        if (!next(a, size, &modulus, &share)) return 0;
    return share < -MOSTLY ? modulus : 0;
}

static lw_status start(walk *a, lwi_arena *arena)
{
    const lw_model *model = a->work->model;
    lwi_snapshot snapshot;
    double **const array[] = {&a->x, &a->f, &a->v, &a->y, &a->w};
    for (int i = 0; i < LWI_COUNT(array); i++)
        if (!(*array[i] = LWI_PUSH(arena, double, a->n))) return LW_ERR_MEMORY;
    a->inputs = LWI_PUSH(arena, double, model->desc.ninput);
    if (!a->inputs || lwi_snapshot_create(model, arena, &snapshot) != LW_OK) return LW_ERR_MEMORY;
    lwi_snapshot_start(model, &snapshot);
    return a->work->formulation->enter(a->work, &snapshot, a->x);
}

lw_status lwi_decay_rate(lwi_work *work, const lw_allocator *allocator, double *rate)
{
    lwi_arena arena;
    walk a = {.work = work, .n = work->layout.nx};
    *rate = 0;
    lwi_arena_init(&arena, allocator);
    const lw_status status = start(&a, &arena);
    if (status == LW_OK && a.n > 0) *rate = find(&a);
    lwi_arena_free(&arena);
    return status == LW_ERR_MEMORY ? status : LW_OK; // a start that fails is reported by the caller
}
