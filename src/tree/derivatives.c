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

static void subtree_apply(const lwi_subtree *s, const double x[6], double out[6])
{
    inertia_mul(out, s->m, s->h, s->J, x);
}

// B x and B'x.
static void velocity_apply(const lwi_subtree *s, const double x[6], double out[6])
{
    v3_cross(out, x + 3, s->p);
    v3_scale(out, 2, out);
    m3_mul_v(out + 3, s->Ba, x + 3);
}

static void velocity_apply_t(const lwi_subtree *s, const double x[6], double w[3])
{
    double rotated[3];
    m3_tmul_v(w, s->Ba, x + 3);
    v3_cross(rotated, s->p, x);
    v3_axpy(w, 2, rotated);
}

// The lower half of B: W~ J - J W~ is symmetric.
static void velocity_matrix(const lwi_subtree *s, const double V[6], double Ba[9])
{
    const double *w = V + 3, *J = s->J, *h = s->h;
    const double xy = w[1] * J[5] - w[2] * J[1] + w[2] * J[0] - w[0] * J[4],
                 xz = w[1] * J[2] - w[2] * J[5] + w[0] * J[3] - w[1] * J[0],
                 yz = w[2] * J[4] - w[0] * J[2] + w[0] * J[1] - w[1] * J[3];
    double l[3];
    s3_mul_v(l, J, w);
    Ba[0] = 2 * (w[1] * J[4] - w[2] * J[3] + h[1] * V[1] + h[2] * V[2]);
    Ba[4] = 2 * (w[2] * J[3] - w[0] * J[5] + h[0] * V[0] + h[2] * V[2]);
    Ba[8] = 2 * (w[0] * J[5] - w[1] * J[4] + h[0] * V[0] + h[1] * V[1]);
    Ba[1] = xy + l[2] - 2 * V[0] * h[1], Ba[3] = xy - l[2] - 2 * V[1] * h[0];
    Ba[2] = xz - l[1] - 2 * V[0] * h[2], Ba[6] = xz + l[1] - 2 * V[2] * h[0];
    Ba[5] = yz + l[0] - 2 * V[1] * h[2], Ba[7] = yz - l[0] - 2 * V[2] * h[1];
}

// The body of a node alone; `last`: the element that carries it, NULL: the ground.
static void subtree_own(const lwi_node *node, const double R[9], const double r[3],
                        const lwi_screw *last, lwi_subtree *s)
{
    double rotated[3], f[6], P[6];
    *s = (lwi_subtree){.m = node->mass};
    m3_mul_v(rotated, R, node->h);
    s3_rotate(s->J, R, node->J);
    s3_shift(s->J, node->mass, rotated, r);
    v3_scale(s->h, node->mass, r);
    v3_add(s->h, s->h, rotated);
    if (!last) return;
    subtree_apply(s, last->V, P);
    v3_copy(s->p, P);
    velocity_matrix(s, last->V, s->Ba);
    subtree_apply(s, last->A, s->f);
    force_cross(f, last->V, P);
    v6_add(s->f, s->f, f);
}

void lwi_tree_inertial_wrench(const double inertia[10], const double R[9], const double r[3],
                              const lwi_screw *last, double f[6])
{
    lwi_node node = {.mass = inertia[0]};
    lwi_subtree s;
    for (int i = 0; i < 3; i++) node.h[i] = inertia[1 + i];
    for (int i = 0; i < 6; i++) node.J[i] = inertia[4 + i];
    subtree_own(&node, R, r, last, &s);
    v6_copy(f, s.f);
}

static void subtree_add(lwi_subtree *a, const lwi_subtree *b)
{
    a->m += b->m;
    v3_add(a->h, a->h, b->h);
    v3_add(a->p, a->p, b->p);
    for (int i = 0; i < 6; i++) a->J[i] += b->J[i];
    for (int i = 0; i < 9; i++) a->Ba[i] += b->Ba[i];
    v6_add(a->f, a->f, b->f);
}

static void sum_subtrees(const lw_model *model, lwi_tree_derivatives *d, const lwi_tree_work *work)
{
    for (int k = 0; k < model->nnode; k++) {
        const int last = d->screws.last[k];
        subtree_own(&model->node[k], work->R[k], work->r[k],
                    last < 0 ? NULL : &d->screws.screw[last], &d->subtree[k]);
        const lwi_subtree *own = &d->subtree[k];
        if (d->inertia) inertia_rigid(&d->inertia[k], own->m, own->h, own->J);
    }
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        if (parent >= 0) subtree_add(&d->subtree[parent], &d->subtree[k]);
    }
}

// ------------------------------------------------------------------------------------------ speeds

// psi, psi2 and drift of speed i.
static void fill_speed(const lw_model *model, lwi_tree_derivatives *d, int i)
{
    const lwi_screws *s = &d->screws;
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    const double base[6] = {-model->gravity[0], -model->gravity[1], -model->gravity[2]};
    static const double still[6];
    const double *V_before = e->before < 0 ? still : s->screw[e->before].V;
    const double *A_before = e->before < 0 ? base : s->screw[e->before].A;
    const double *V = e->follows ? V_before : e->V, *A = e->follows ? A_before : e->A;
    const double *S = s->S[i];
    double *rate = d->rate[i], rate2[6], drift[6], term[6];
    motion_cross(rate, V, S);
    motion_cross(rate2, A, S);
    motion_cross(term, V, rate);
    v6_add(rate2, rate2, term);
    if (e->nspeed == 1) { // V_before x S is V_after x S
        v6_add(drift, rate, rate);
    } else {
        motion_cross(drift, V_before, S);
        motion_cross(term, e->V, S);
        v6_add(drift, drift, term);
    }
    for (int c = 0; c < 6; c++) {
        d->arrays.S[c][i] = S[c];
        d->arrays.rate2[c][i] = rate2[c];
        d->arrays.drift[c][i] = drift[c];
    }
    for (int c = 0; c < 3; c++) d->arrays.rate_w[c][i] = rate[3 + c];
}

static void take(double *const *array, int i, double out[6])
{
    for (int c = 0; c < 6; c++) out[c] = array[c][i];
}

// @param tilt  S x* f of the subtree
static void terms_of(const lwi_tree_derivatives *d, int i, lwi_speed_terms *to, double tilt[6])
{
    const lwi_screws *s = &d->screws;
    const lwi_subtree *tree = &d->subtree[s->screw[s->of_speed[i]].node];
    double rate2[6], drift[6], part[6];
    take(d->arrays.rate2, i, rate2);
    take(d->arrays.drift, i, drift);
    subtree_apply(tree, s->S[i], to->IS);
    velocity_apply_t(tree, s->S[i], to->Bt);
    subtree_apply(tree, rate2, to->q);
    velocity_apply(tree, d->rate[i], part);
    v6_add(to->q, to->q, part);
    force_cross(tilt, s->S[i], tree->f);
    v6_add(to->q, to->q, tilt);
    subtree_apply(tree, drift, to->v);
    velocity_apply(tree, s->S[i], part);
    v6_add(to->v, to->v, part);
}

// Within one element of several speeds: axes that follow rotate with each column, so that S x* f drops out in the rows
// inboard too; axes that do not are no outboard rows of each other.
static void correct_element(lwi_tree_derivatives *d, int i, const double tilt[6], double *row_q,
                            double *column_q)
{
    const lwi_screws *s = &d->screws;
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    for (int k = e->speed; k < i; k++) {
        if (e->follows)
            column_q[k] -= v6_dot(s->S[k], tilt);
        else
            row_q[k] -= v6_dot(s->S[k], tilt); // S_i . (S_k x* f) = -S_k . (S_i x* f)
    }
}

// to[k][i] := from[i][k] for the speeds k on the way from speed i to the ground; in blocks of speeds that follow each
// other, because columns of large matrices share lines of the cache.
static void mirror(const lwi_tree_derivatives *d, int n, const double *from, double *to)
{
    enum { BLOCK = 8 };
    const size_t N = (size_t)n;
    for (int first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && end < first + BLOCK && d->next[end] == end - 1) end++;
        for (int last = d->next[first]; last >= 0; last = d->next[d->next_run[last]])
            for (int k = d->next_run[last]; k <= last; k++)
                for (int i = first; i < end; i++)
                    to[(size_t)k * N + (size_t)i] = from[(size_t)i * N + (size_t)k];
        for (int i = first + 1; i < end; i++)
            for (int k = first; k < i; k++)
                to[(size_t)k * N + (size_t)i] = from[(size_t)i * N + (size_t)k];
    }
}

static void fill(const lw_model *model, lwi_tree_derivatives *d, const lwi_tree_work *work,
                 double t, const double *v, const double *vdot)
{
    lwi_screws_evaluate(model, &d->screws, work, t, v, vdot);
    sum_subtrees(model, d, work);
    for (int i = 0; i < model->tree_nv; i++) fill_speed(model, d, i);
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
    for (int i = 0; i < n; i++) {
        const size_t row = (size_t)i * N;
        const lwi_speed_entries to = {by_q + row, by_v + row, M ? M + row : NULL, d->column_q + row,
                                      d->column_v + row};
        lwi_speed_terms terms;
        double tilt[6];
        terms_of(d, i, &terms, tilt);
        for (int k = i; k >= 0; k = d->next[d->next_run[k]])
            kernels->entries(&d->arrays, &terms, d->next_run[k], k - d->next_run[k] + 1, to);
        correct_element(d, i, tilt, to.row_q, to.column_q);
        if (M) to.M[i] += model->tree_rotor[i];
    }
    mirror(d, n, d->column_q, by_q);
    mirror(d, n, d->column_v, by_v);
    if (M) mirror(d, n, M, M);
}

// ---------------------------------------------------------------------------------------- products

void lwi_tree_inertial_begin(const lw_model *model, lwi_tree_derivatives *d,
                             const lwi_tree_work *work, double t, const double *v,
                             const double *vdot)
{
    double tilt[6];
    fill(model, d, work, t, v, vdot);
    for (int i = 0; i < model->tree_nv; i++) terms_of(d, i, &d->terms[i], tilt);
}

// As correct_element, times u: of the speeds of an element before i.
static void correct_product(lwi_tree_derivatives *d, int i, const double *u, double *by_q)
{
    const lwi_screws *s = &d->screws;
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    double tilt[6];
    if (i == e->speed) return;
    force_cross(tilt, s->S[i], d->subtree[e->node].f);
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
