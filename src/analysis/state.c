// state.c -- a state of a mechanism in independent coordinates, and differences along the manifold.
#include "analysis/state.h"

#include "base/differences.h"

#include <math.h>
#include <string.h>

// The largest displacement of a coordinate by a step of the differences [rad, lengths of the mechanism]: the error of
// order six is then well below the round-off, some 1e-13 of the function's size divided by the step.
#define STEP 3e-3
// Near a singular position loops do not close that far away, or functions change quickly: steps are divided by ten, at
// most so often, until differences of order four and six agree to a part of the largest.  A tenth costs a digit.
#define AGREE 1e-7
#define ROUND_OFF 1e-11 // of the function's size; its differences are no more accurate
enum { SHORTER = 3 };

static lw_status allocate(lwi_analysis_state *s, lwi_arena *arena, lw_error *error)
{
    const size_t n = (size_t)s->manifold.n, f = (size_t)s->manifold.f,
                 nq = (size_t)s->manifold.model->tree_nq;
    s->q = LWI_PUSH(arena, double, nq);
    s->v = LWI_PUSH(arena, double, n);
    s->z = LWI_PUSH(arena, double, f);
    s->B = LWI_PUSH(arena, double, f *n);
    s->M = LWI_PUSH(arena, double, f *f);
    s->force = LWI_PUSH(arena, double, f);
    s->near_q = LWI_PUSH(arena, double, nq);
    s->near_v = LWI_PUSH(arena, double, n);
    s->near_z = LWI_PUSH(arena, double, f);
    s->increment = LWI_PUSH(arena, double, n);
    if (s->q && s->v && s->z && s->B && s->M && s->force && s->near_q && s->near_v && s->near_z &&
        s->increment)
        return LW_OK;
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for an analysis");
}

lw_status lwi_analysis_state_take(lwi_analysis_state *s, lw_error *error)
{
    lwi_manifold *m = &s->manifold;
    const size_t n = (size_t)m->n, f = (size_t)m->f;
    memcpy(s->q, s->near_q, (size_t)m->model->tree_nq * sizeof *s->q);
    memcpy(s->z, s->near_z, f * sizeof *s->z);
    TRY(lwi_manifold_close(m, s->q, error));
    TRY(lwi_manifold_tangent(m, s->q, error));
    lwi_manifold_speeds(m, s->q, s->z, s->v);
    memcpy(s->B, m->B, f * n * sizeof *s->B);
    TRY(lwi_manifold_force(m, s->q, s->v, s->force, error));
    memcpy(s->M, m->reduced, f * f * sizeof *s->M);
    return LW_OK;
}

static lw_status begin(lwi_analysis_state *s, const double *q, const double *v, lwi_arena *arena,
                       lw_error *error)
{
    const lw_model *model = s->manifold.model;
    TRY(allocate(s, arena, error));
    memcpy(s->near_q, q ? q : model->tree_q0, (size_t)model->tree_nq * sizeof *q);
    for (int k = 0; k < s->manifold.f; k++) s->near_z[k] = v ? v[s->manifold.independent[k]] : 0;
    return lwi_analysis_state_take(s, error);
}

lw_status lwi_analysis_state_create(const lw_model *model, double t, const double *q,
                                    const double *v, const double *inputs, const char *independent,
                                    lwi_arena *arena, lwi_analysis_state *s, lw_error *error)
{
    *s = (lwi_analysis_state){0};
    TRY(lwi_manifold_create(model, t, q ? q : model->tree_q0, independent, arena, &s->manifold,
                            error));
    s->manifold.inputs = inputs;
    const lw_status status = begin(s, q, v, arena, error);
    if (status != LW_OK) lwi_analysis_state_destroy(s);
    return status;
}

int lwi_analysis_signals(const lw_model *model, int *index)
{
    int n = 0, functions = 0;
    for (int k = 0; k < model->desc.nfunction; k++) {
        const lwi_function *f = &model->function[k];
        functions += f->nstate;
        for (int i = 0; i < f->nstate && lwi_function_is_integrated(f); i++)
            index[n++] = f->state + i;
    }
    for (int i = functions; i < model->nstate; i++) index[n++] = i; // lags of servos
    return n;
}

void lwi_analysis_state_destroy(lwi_analysis_state *s)
{
    lwi_manifold_destroy(&s->manifold);
}

void lwi_analysis_increment(const lwi_analysis_state *s, const double *y)
{
    const lwi_manifold *m = &s->manifold;
    const size_t n = (size_t)m->n;
    memset(s->increment, 0, n * sizeof *s->increment);
    if (m->f == m->n) { // B is a permutation
        for (int k = 0; k < m->f; k++) s->increment[m->independent[k]] = y[k];
        return;
    }
    for (int k = 0; k < m->f; k++)
        for (size_t i = 0; i < n; i++) s->increment[i] += y[k] * s->B[(size_t)k * n + i];
}

lw_status lwi_analysis_neighbour(lwi_analysis_state *s, const double *y, const double *z,
                                 lw_error *error)
{
    lwi_manifold *m = &s->manifold;
    lwi_analysis_increment(s, y);
    memcpy(s->near_q, s->q, (size_t)m->model->tree_nq * sizeof *s->q);
    lwi_manifold_move(m, s->near_q, s->increment);
    TRY(lwi_manifold_close(m, s->near_q, error));
    TRY(lwi_manifold_tangent(m, s->near_q, error));
    lwi_manifold_speeds(m, s->near_q, z, s->near_v);
    return LW_OK;
}

lw_status lwi_analysis_near(lwi_analysis_state *s, const double *y, const double *z, bool forces,
                            double *out, lw_error *error)
{
    lwi_manifold *m = &s->manifold;
    TRY(lwi_analysis_neighbour(s, y, z, error));
    TRY(lwi_manifold_force(m, s->near_q, s->near_v, out, error));
    if (forces) return LW_OK;
    TRY(lwi_manifold_factor_mass(m, error));
    lwi_manifold_accelerations(m, out);
    return LW_OK;
}

// The derivative by differences of order six, and by how much of the largest those of order four differ.
static lw_status difference(lwi_analysis_function function, void *user, lwi_analysis_vary what,
                            int k, double step, int count, double *scratch, double *out,
                            double *differ, lw_error *error)
{
    double *const plus = scratch, *const minus = scratch + count, *const fourth = minus + count;
    double maximum = 0, size = 0, values = 0;
    memset(out, 0, (size_t)count * sizeof *out);
    memset(fourth, 0, (size_t)count * sizeof *fourth);
    for (int far = 1; far <= LWI_DIFFERENCE_SIDES; far++) {
        TRY(function(user, what, k, far * step, plus, error));
        TRY(function(user, what, k, -far * step, minus, error));
        for (int i = 0; i < count; i++)
            out[i] += lwi_difference_weight[far - 1] / step * (plus[i] - minus[i]);
        for (int i = 0; i < count; i++)
            fourth[i] += lwi_difference_fourth[far - 1] / step * (plus[i] - minus[i]);
        for (int i = 0; i < count; i++) values = fmax(values, fmax(fabs(plus[i]), fabs(minus[i])));
    }
    for (int i = 0; i < count; i++) {
        maximum = fmax(maximum, fabs(out[i] - fourth[i]));
        size = fmax(size, fabs(out[i]));
    }
    *differ = maximum <= AGREE * size + ROUND_OFF * values / step ? 0 : maximum / size;
    return LW_OK;
}

lw_status lwi_analysis_difference(lwi_analysis_function function, void *user,
                                  lwi_analysis_vary what, int k, double step, int count,
                                  double *scratch, double *out, lw_error *error)
{
    double best = INFINITY, differ, *const next = scratch + 3 * (size_t)count;
    for (int i = 0; best > 0 && i <= SHORTER; i++, step /= 10) {
        const lw_status status =
            difference(function, user, what, k, step, count, scratch, next, &differ, error);
        if (status != LW_OK && (status != LW_ERR_SINGULAR || (i == SHORTER && isinf(best))))
            return status;
        if (status != LW_OK || !(differ < best)) continue;
        best = differ;
        memcpy(out, next, (size_t)count * sizeof *out);
    }
    return LW_OK;
}

double lwi_analysis_step(const lwi_analysis_state *s, int k)
{
    const lwi_manifold *m = &s->manifold;
    const double *B = s->B + (size_t)k * (size_t)m->n;
    double maximum = 0;
    for (int i = 0; i < m->n; i++) maximum = fmax(maximum, fabs(B[i]) / lwi_manifold_unit(m, i));
    return STEP / maximum;
}

double lwi_analysis_weight(const lw_model *model)
{
    const double *g = model->gravity;
    double mass = 0;
    for (int k = 0; k < model->nnode; k++) mass += model->node[k].mass;
    return mass * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * model->length;
}

double lwi_analysis_noise(int f, const double *K, const double *y, const double *unit,
                          double weight)
{
    double terms = 0, size = 0, stiffest = 0;
    for (int k = 0; k < f; k++) {
        stiffest = fmax(stiffest, fabs(K[(size_t)k * (size_t)f + (size_t)k]) * unit[k] * unit[k]);
        for (int l = 0; l < f; l++)
            terms += fabs(y[k] * K[(size_t)k * (size_t)f + (size_t)l] * y[l]);
        size += y[k] * y[k] / (unit[k] * unit[k]);
    }
    return 1e-9 * terms + (1e-10 * weight + 1e-12 * stiffest) * size;
}
