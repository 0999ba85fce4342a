// derivatives.c -- derivatives of recursive Newton-Euler                 [carpentier2018, singh2022]
//
// World axes, about the world's origin.  A displacement of speed j moves all that is outboard by the screw S_j; with
// V, A of the element before j (of the element itself, if j is fixed in the frame before it),
//
//     psi = V x S,   psi2 = A x S + V x psi,   drift = V_before x S + V_after x S
//
// a body outboard of j has
//
//     dV = S x V_i + psi,     dA = S x A_i + psi x V_i + psi2                           by q
//     dV = S,                 dA = S x V_i + drift                                      by v
//
// and its wrench f = I A + V x* I V changes by
//
//     df = S x* f + I psi2 + B psi                                                      by q
//     df = I drift + B S                                                                by v
//
// where B x = I (x x V) + x x* (I V) + V x* (I x) acts on the angular part w of x alone:
//
//     B x = [2 w x p;  B_a w],   B_a = -J W~ - (J W)~ + W~ J + 2 ((h.v) 1 - v h')       (V = [v; W], p = m v + W x h)
//
// I, B, f of a subtree are sums.  The row S_k of a speed inboard of j (or j) changes by S_k.df of j's subtree; an outboard
// row rotates by S x, so that the term S x* f drops out.
#include "tree/derivatives.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "spatial/inertia.h"

#include <math.h>

LWI_ISA_BUILDS(lwi_derivative_kernels, lwi_derivative_kernels);

const lwi_derivative_kernels *lwi_derivative_kernels_of(int isa)
{
    return builds[isa];
}

static const lwi_derivative_kernels *kernels_of(void)
{
    const int isa = lwi_isa_of(0);
    return builds[isa < 0 ? LWI_ISA_SCALAR : isa];
}

void lwi_derivative_multiply(int rows, int inner, int n, const double *A, const double *X,
                             double *Y)
{
    kernels_of()->multiply(rows, inner, n, A, X, Y);
}

static int speed_before(const lwi_screws *s, int i)
{
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    if (i > e->speed) return i - 1;
    for (int k = e->before; k >= 0; k = s->screw[k].before)
        if (s->screw[k].speed >= 0) return s->screw[k].speed + s->screw[k].nspeed - 1;
    return -1;
}

// The last speed of node k, or of the next one before it that has speeds.
static int last_speed(const lw_model *model, int k)
{
    while (k >= 0 && model->node[k].nv == 0) k = model->node[k].parent;
    return k < 0 ? -1 : model->node[k].iv + model->node[k].nv - 1;
}

// The first speed of each run of a list of speeds before.
static void find_runs(int n, const int *before, int *run)
{
    for (int i = 0; i < n; i++) run[i] = i > 0 && before[i] == i - 1 ? run[i - 1] : i;
}

static void order(const lw_model *model, lwi_tree_derivatives *d)
{
    for (int i = 0; i < model->tree_nv; i++) d->next[i] = speed_before(&d->screws, i);
    for (int k = 0; k < model->nnode; k++) {
        int lower = last_speed(model, model->node[k].parent);
        for (int j = 0; j < model->node[k].nv; j++) {
            const int i = model->node[k].iv + j;
            LWI_ASSERT(lower < i);
            d->lower[i] = lower;
            lower = i;
        }
    }
    find_runs(model->tree_nv, d->next, d->next_run);
    find_runs(model->tree_nv, d->lower, d->run);
}

static lw_status create_arrays(lwi_speed_arrays *a, size_t n, lwi_arena *arena)
{
    const size_t size = n + LWI_DERIVATIVE_BLOCK; // blocks are read beyond the last speed
    double *next = LWI_PUSH(arena, double, LWI_DERIVATIVE_ARRAYS *size);
    if (!next) return LW_ERR_MEMORY;
    for (int i = 0; i < 6; i++, next += 3 * size) {
        a->S[i] = next;
        a->rate2[i] = next + size;
        a->drift[i] = next + 2 * size;
    }
    for (int i = 0; i < 3; i++, next += size) a->rate_w[i] = next;
    return LW_OK;
}

// Columns of M^-1 by its factor cost two products for each speed on the way of each speed, by articulated inertias 24
// for each speed.
static bool is_deep(const lwi_tree_derivatives *d, int n)
{
    size_t ways = 0;
    for (int i = 0; i < n; i++)
        for (int k = i; k >= 0; k = d->lower[k]) ways++;
    return ways > (size_t)n * 12;
}

static lw_status create_solver(const lw_model *model, lwi_arena *arena, lwi_tree_derivatives *d)
{
    const size_t n = (size_t)model->tree_nv;
    const bool deep = is_deep(d, model->tree_nv);
    const size_t columns = deep ? LWI_DERIVATIVE_COLUMNS : LWI_DERIVATIVE_STRIDE(n);
    d->inertia = NULL;
    d->block = LWI_PUSH(arena, double, n *columns);
    if (!d->block) return LW_ERR_MEMORY;
    if (!deep) return LW_OK;
    lwi_articulated_tree *t = &d->articulated;
    d->inertia = LWI_PUSH(arena, lwi_inertia, model->nnode);
    *t = (lwi_articulated_tree){
        .n = model->tree_nv,
        .lower = d->lower,
        .speed = LWI_PUSH(arena, lwi_articulated_speed, n),
        .branches = LWI_PUSH(arena, unsigned char, n),
        .block = d->block,
        .load = LWI_PUSH(arena, double, 6 * LWI_DERIVATIVE_COLUMNS * n),
    };
    if (!d->inertia || !t->speed || !t->branches || !t->load) return LW_ERR_MEMORY;
    memset(t->branches, 0, n);
    for (int i = 0; i < t->n; i++)
        if (t->lower[i] >= 0 && t->lower[i] != i - 1) t->branches[t->lower[i]] = 1;
    return LW_OK;
}

lw_status lwi_tree_derivatives_create(const lw_model *model, lwi_arena *arena,
                                      lwi_tree_derivatives *d, lw_error *error)
{
    const size_t n = (size_t)model->tree_nv;
    TRY(lwi_screws_create(model, arena, &d->screws, error));
    TRY(create_arrays(&d->arrays, n, arena));
    d->subtree = LWI_PUSH(arena, lwi_subtree, model->nnode);
    d->rate = lwi_arena_push(arena, n, sizeof *d->rate);
    d->next = LWI_PUSH(arena, int, n);
    d->next_run = LWI_PUSH(arena, int, n);
    d->lower = LWI_PUSH(arena, int, n);
    d->run = LWI_PUSH(arena, int, n);
    d->column_q = LWI_PUSH(arena, double, n *n);
    d->column_v = LWI_PUSH(arena, double, n *n);
    d->terms = LWI_PUSH(arena, lwi_speed_terms, n);
    d->way = lwi_arena_push(arena, (size_t)d->screws.n, sizeof *d->way);
    d->load = lwi_arena_push(arena, (size_t)d->screws.n, sizeof *d->load);
    if (!d->terms || !d->way || !d->load) return LW_ERR_MEMORY;
    if (!d->subtree || !d->rate || !d->next || !d->next_run || !d->lower || !d->run ||
        !d->column_q || !d->column_v)
        return LW_ERR_MEMORY;
    order(model, d);
    return create_solver(model, arena, d);
}

// ---------------------------------------------------------------------------------------- subtrees

void lwi_tree_inertial_wrench(const double inertia[10], const double R[9], const double r[3],
                              const lwi_screw *last, double f[6])
{
    double h[3], J[6], P[6], gyro[6];
    v6_zero(f);
    if (!last) return;
    m3_mul_v(h, R, inertia + 1);
    s3_rotate(J, R, inertia + 4);
    s3_shift(J, inertia[0], h, r);
    v3_axpy(h, inertia[0], r);
    inertia_mul(P, inertia[0], h, J, last->V);
    inertia_mul(f, inertia[0], h, J, last->A);
    force_cross(gyro, last->V, P);
    v6_add(f, f, gyro);
}

static void sum_subtrees(const lw_model *model, lwi_tree_derivatives *d, const lwi_tree_work *work)
{
    const lwi_derivative_kernels *kernels = kernels_of();
    kernels->find_subtrees(model, &d->screws, work->R, work->r, d->subtree);
    for (int k = 0; d->inertia && k < model->nnode; k++) {
        const lwi_subtree *own = &d->subtree[k];
        inertia_rigid(&d->inertia[k], own->m, own->h, own->J);
    }
    kernels->sum_subtrees(model, d->subtree);
}

// ------------------------------------------------------------------------------------------ speeds

static void take(double *const *array, int i, double out[6])
{
    for (int c = 0; c < 6; c++) out[c] = array[c][i];
}

// Within one element of several speeds: axes that follow rotate with each column, so that S x* f drops out in the rows
// inboard too; axes that do not are no outboard rows of each other.
static void correct_element(lwi_tree_derivatives *d, int i, double *row_q, double *column_q)
{
    const lwi_screws *s = &d->screws;
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    const double *tilt = d->terms[i].tilt;
    for (int k = e->speed; k < i; k++) {
        if (e->follows)
            column_q[k] -= v6_dot(s->S[k], tilt);
        else
            row_q[k] -= v6_dot(s->S[k], tilt); // S_i . (S_k x* f) = -S_k . (S_i x* f)
    }
}

static void fill(const lw_model *model, lwi_tree_derivatives *d, const lwi_tree_work *work,
                 double t, const double *v, const double *vdot)
{
    lwi_screws_evaluate(model, &d->screws, work, t, v, vdot);
    sum_subtrees(model, d, work);
    kernels_of()->fill_speeds(model, &d->screws, &d->arrays, d->rate);
    kernels_of()->fill_terms(model, &d->screws, d->subtree, &d->arrays, d->rate, d->terms);
}

void lwi_tree_inertial_derivatives(const lw_model *model, lwi_tree_derivatives *d,
                                   const lwi_tree_work *work, double t, const double *v,
                                   const double *vdot, double *by_q, double *by_v, double *M)
{
    const int n = model->tree_nv;
    const size_t N = (size_t)n;
    const lwi_derivative_kernels *kernels = kernels_of();
    fill(model, d, work, t, v, vdot);
    memset(by_q, 0, N * N * sizeof *by_q);
    memset(by_v, 0, N * N * sizeof *by_v);
    if (M) memset(M, 0, N * N * sizeof *M);
    kernels->entries(n, d->next, d->next_run, &d->arrays, d->terms,
                     &(lwi_speed_entries){by_q, by_v, M, d->column_q, d->column_v});
    for (size_t i = 0; i < N; i++) {
        correct_element(d, (int)i, by_q + i * N, d->column_q + i * N);
        if (M) M[i * N + i] += model->tree_rotor[i];
    }
    kernels->mirror(n, d->next, d->next_run, d->column_q, by_q);
    kernels->mirror(n, d->next, d->next_run, d->column_v, by_v);
    if (M) kernels->mirror(n, d->next, d->next_run, M, M);
}

// ---------------------------------------------------------------------------------------- products

void lwi_tree_inertial_begin(const lw_model *model, lwi_tree_derivatives *d,
                             const lwi_tree_work *work, double t, const double *v,
                             const double *vdot)
{
    fill(model, d, work, t, v, vdot);
}

// As correct_element, times u: of the speeds of an element before i.
static void correct_product(lwi_tree_derivatives *d, int i, const double *u, double *by_q)
{
    const lwi_screws *s = &d->screws;
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    const double *tilt = d->terms[i].tilt;
    for (int k = e->speed; k < i; k++) {
        if (e->follows)
            by_q[i] -= u[k] * v6_dot(s->S[k], tilt);
        else
            by_q[k] -= u[i] * v6_dot(s->S[k], tilt);
    }
}

// Column i of the matrices times u of the speeds on the way to the ground: outward sums x = sum u S.
static void add_columns(lwi_tree_derivatives *d, const double *u, double *by_q, double *by_v)
{
    const lwi_screws *s = &d->screws;
    for (int n = 0; n < s->n; n++) {
        const lwi_screw *e = &s->screw[n];
        double *x = d->way[n];
        if (e->before < 0)
            v6_zero(x);
        else
            v6_copy(x, d->way[e->before]);
        for (int i = e->speed; e->speed >= 0 && i < e->speed + e->nspeed; i++) {
            by_q[i] += v6_dot(x, d->terms[i].q);
            by_v[i] += v6_dot(x, d->terms[i].v);
            correct_product(d, i, u, by_q);
            v6_axpy(x, u[i], s->S[i]);
        }
    }
}

// Rows of the speeds outboard of k: inward sums of u IS and u Bt.
static void add_rows(lwi_tree_derivatives *d, const double *u, double *by_q, double *by_v)
{
    const lwi_screws *s = &d->screws;
    memset(d->load, 0, (size_t)s->n * sizeof *d->load);
    for (int n = s->n - 1; n >= 0; n--) {
        const lwi_screw *e = &s->screw[n];
        double *y = d->load[n], *z = y + 6, part[6];
        for (int k = e->speed + e->nspeed - 1; e->speed >= 0 && k >= e->speed; k--) {
            v6_axpy(y, u[k], d->terms[k].IS);
            v3_axpy(z, u[k], d->terms[k].Bt);
            take(d->arrays.rate2, k, part);
            by_q[k] += v6_dot(part, y) + v3_dot(d->rate[k] + 3, z);
            take(d->arrays.drift, k, part);
            by_v[k] += v6_dot(part, y) + v3_dot(s->S[k] + 3, z);
        }
        for (int i = 0; e->before >= 0 && i < 9; i++) d->load[e->before][i] += y[i];
    }
}

void lwi_tree_inertial_products(const lw_model *model, lwi_tree_derivatives *d, const double *u,
                                double *by_q, double *by_v)
{
    memset(by_q, 0, (size_t)model->tree_nv * sizeof *by_q);
    memset(by_v, 0, (size_t)model->tree_nv * sizeof *by_v);
    add_columns(d, u, by_q, by_v);
    add_rows(d, u, by_q, by_v);
}

// ------------------------------------------------------------------------------------- mass matrix

static void add_inertia(lwi_inertia *to, const lwi_inertia *from)
{
    for (int i = 0; i < 6; i++) to->A[i] += from->A[i], to->C[i] += from->C[i];
    for (int i = 0; i < 9; i++) to->B[i] += from->B[i];
}

// Own inertias become articulated ones, from the last node inward.
static int articulate(const lw_model *model, lwi_tree_derivatives *d)
{
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &model->node[k];
        lwi_inertia *own = &d->inertia[k];
        for (int i = node->iv + node->nv - 1; i >= node->iv; i--) {
            lwi_articulated_speed *s = &d->articulated.speed[i];
            double U[6];
            v6_copy(s->S, d->screws.S[i]);
            inertia_apply(U, own, s->S);
            const double pivot = v6_dot(s->S, U) + model->tree_rotor[i];
            if (!(pivot > 0)) return i;
            s->r = 1 / sqrt(pivot);
            for (int c = 0; c < 6; c++) s->Y[c] = s->r * U[c];
            inertia_reduce(own, 1, s->Y);
        }
        if (node->parent >= 0) add_inertia(&d->inertia[node->parent], own);
    }
    return -1;
}

int lwi_tree_factor_mass(const lw_model *model, lwi_tree_derivatives *d, double *M)
{
    if (d->inertia) return articulate(model, d);
    return kernels_of()->factor(model->tree_nv, d->lower, d->run, M);
}

void lwi_tree_solve_mass(lwi_tree_derivatives *d, int n, const double *L, double *by_q,
                         double *by_v, double *inverse)
{
    const lwi_derivative_kernels *kernels = kernels_of();
    double *const X[2] = {by_q, by_v};
    if (!d->inertia) {
        kernels->solve(n, d->lower, L, X, inverse, d->block);
        return;
    }
    kernels->solve_articulated(&d->articulated, -1, by_q);
    kernels->solve_articulated(&d->articulated, -1, by_v);
    kernels->inverse_articulated(&d->articulated, inverse);
}
