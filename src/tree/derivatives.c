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
#include "base/linear.h"

static bool same_element(const lwi_screws *s, int i, int j)
{
    return s->of_speed[i] == s->of_speed[j];
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

lw_status lwi_tree_derivatives_create(const lw_model *model, lwi_arena *arena,
                                      lwi_tree_derivatives *d, lw_error *error)
{
    TRY(lwi_screws_create(model, arena, &d->screws, error));
    d->subtree = LWI_PUSH(arena, lwi_subtree, model->nnode);
    d->column = LWI_PUSH(arena, lwi_column, model->tree_nv);
    if (!d->subtree || !d->column) return LW_ERR_MEMORY;
    for (int i = 0; i < model->tree_nv; i++) {
        lwi_column *c = &d->column[i];
        c->next = speed_before(&d->screws, i);
        c->shares = c->next >= 0 && same_element(&d->screws, i, c->next) &&
                    d->screws.screw[d->screws.of_speed[i]].follows;
    }
    for (int k = 0; k < model->nnode; k++) {
        int lower = last_speed(model, model->node[k].parent);
        for (int j = 0; j < model->node[k].nv; j++) {
            const int i = model->node[k].iv + j;
            LWI_ASSERT(lower < i);
            d->column[i].lower = lower;
            lower = i;
        }
    }
    return LW_OK;
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

// The lower half of B.
static void velocity_matrix(const lwi_subtree *s, const double V[6], double Ba[9])
{
    const double *w = V + 3;
    double J[9], l[3], W[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0}, JW[9], WJ[9];
    s3_full(J, s->J);
    s3_mul_v(l, s->J, w);
    m3_mul(JW, J, W);
    m3_mul(WJ, W, J);
    const double L[9] = {0, -l[2], l[1], l[2], 0, -l[0], -l[1], l[0], 0};
    const double hv = 2 * v3_dot(s->h, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            Ba[3 * i + j] = WJ[3 * i + j] - JW[3 * i + j] - L[3 * i + j] - 2 * V[i] * s->h[j] +
                            (i == j ? hv : 0);
}

// The body of a node alone; `last`: the element that carries it, NULL: the ground.
static void subtree_own(const lwi_node *node, const double R[9], const double r[3],
                        const lwi_screw *last, lwi_subtree *s)
{
    double rotated[3], f[6], P[6];
    lwi_inertia local, world = {{0}, {0}, {0}};
    *s = (lwi_subtree){.m = node->mass};
    m3_mul_v(rotated, R, node->h);
    v3_scale(s->h, node->mass, r);
    v3_add(s->h, s->h, rotated);
    inertia_rigid(&local, node->mass, node->h, node->J);
    inertia_add_from(&world, R, r, &local);
    memcpy(s->J, world.C, sizeof s->J);
    if (!last) return;
    subtree_apply(s, last->V, P);
    v3_copy(s->p, P);
    velocity_matrix(s, last->V, s->Ba);
    subtree_apply(s, last->A, s->f);
    force_cross(f, last->V, P);
    v6_add(s->f, s->f, f);
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
    }
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        if (parent >= 0) subtree_add(&d->subtree[parent], &d->subtree[k]);
    }
}

// ----------------------------------------------------------------------------------------- columns

static void fill_column(const lw_model *model, const lwi_screws *s, int i, lwi_column *c)
{
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    const double base[6] = {-model->gravity[0], -model->gravity[1], -model->gravity[2]};
    static const double rest[6];
    const double *V_before = e->before < 0 ? rest : s->screw[e->before].V;
    const double *A_before = e->before < 0 ? base : s->screw[e->before].A;
    const double *V = e->follows ? V_before : e->V, *A = e->follows ? A_before : e->A;
    double rotated[6];
    v6_copy(c->S, s->S[i]);
    motion_cross(c->rate, V, c->S);
    motion_cross(c->rate2, A, c->S);
    motion_cross(rotated, V, c->rate);
    v6_add(c->rate2, c->rate2, rotated);
    motion_cross(c->drift, V_before, c->S);
    motion_cross(rotated, e->V, c->S);
    v6_add(c->drift, c->drift, rotated);
}

// Column i against all rows inboard, and row i against all columns inboard.
static void fill_entries(const lwi_tree_derivatives *d, int i, int n, double *by_q, double *by_v,
                         double *M)
{
    const lwi_screws *s = &d->screws;
    const lwi_column *c = &d->column[i];
    const lwi_subtree *tree = &d->subtree[s->screw[s->of_speed[i]].node];
    double IS[6], Bt[3], q_shared[6], q_all[6], v_all[6], part[6];
    const size_t N = (size_t)n, row = (size_t)i * N;
    subtree_apply(tree, c->S, IS);
    velocity_apply_t(tree, c->S, Bt);
    subtree_apply(tree, c->rate2, q_shared);
    velocity_apply(tree, c->rate, part);
    v6_add(q_shared, q_shared, part);
    force_cross(q_all, c->S, tree->f);
    v6_add(q_all, q_all, q_shared);
    subtree_apply(tree, c->drift, v_all);
    velocity_apply(tree, c->S, part);
    v6_add(v_all, v_all, part);

    bool shared =
        s->screw[s->of_speed[i]].follows; // by the axes of row k: they rotate with column i too
    for (int k = i; k >= 0; k = d->column[k].next) {
        const lwi_column *inboard = &d->column[k];
        const size_t column = (size_t)k;
        by_q[column * N + (size_t)i] = v6_dot(inboard->S, shared ? q_shared : q_all);
        by_v[column * N + (size_t)i] = v6_dot(inboard->S, v_all);
        M[column * N + (size_t)i] = M[row + column] = v6_dot(inboard->S, IS);
        if (!inboard->shares) shared = false;
        if (k == i) continue;
        by_q[row + column] = v6_dot(inboard->rate2, IS) + v3_dot(inboard->rate + 3, Bt);
        by_v[row + column] = v6_dot(inboard->drift, IS) + v3_dot(inboard->S + 3, Bt);
    }
}

// Row i against a column k of the same element, if its axes do not follow: no row of it rotates with column k.
static void correct_fixed_axes(const lwi_tree_derivatives *d, int i, int n, double *by_q)
{
    const lwi_screws *s = &d->screws;
    const lwi_screw *e = &s->screw[s->of_speed[i]];
    const lwi_subtree *tree = &d->subtree[e->node];
    double rotated[6];
    for (int k = e->speed; !e->follows && k < i; k++) {
        force_cross(rotated, d->column[k].S, tree->f);
        by_q[(size_t)i * (size_t)n + (size_t)k] += v6_dot(d->column[i].S, rotated);
    }
}

void lwi_tree_inertial_derivatives(const lw_model *model, lwi_tree_derivatives *d,
                                   const lwi_tree_work *work, double t, const double *v,
                                   const double *vdot, double *by_q, double *by_v, double *M)
{
    const int n = model->tree_nv;
    const size_t size = (size_t)n * (size_t)n * sizeof *M;
    lwi_screws_evaluate(model, &d->screws, work, t, v, vdot);
    sum_subtrees(model, d, work);
    for (int i = 0; i < n; i++) fill_column(model, &d->screws, i, &d->column[i]);
    memset(by_q, 0, size);
    memset(by_v, 0, size);
    memset(M, 0, size);
    for (int i = n - 1; i >= 0; i--) {
        fill_entries(d, i, n, by_q, by_v, M);
        correct_fixed_axes(d, i, n, by_q);
        M[(size_t)i * (size_t)(n + 1)] += model->tree_rotor[i];
    }
}

// ------------------------------------------------------------------------------------- mass matrix

int lwi_tree_factor_mass(const lwi_tree_derivatives *d, int n, double *M)
{
    const size_t N = (size_t)n;
    for (int k = n - 1; k >= 0; k--) {
        double *row = M + (size_t)k * N;
        if (!(row[k] > 0)) return k;
        row[k] = sqrt(row[k]);
        for (int i = d->column[k].lower; i >= 0; i = d->column[i].lower) row[i] /= row[k];
        for (int i = d->column[k].lower; i >= 0; i = d->column[i].lower)
            for (int j = i; j >= 0; j = d->column[j].lower)
                M[(size_t)i * N + (size_t)j] -= row[i] * row[j];
    }
    return -1;
}

static void subtract(double *restrict a, double s, const double *restrict b, int n)
{
    for (int i = 0; i < n; i++) a[i] -= s * b[i];
}

static void scale(double *a, double s, int n)
{
    for (int i = 0; i < n; i++) a[i] *= s;
}

void lwi_tree_solve_mass(const lwi_tree_derivatives *d, int n, const double *L, double *X,
                         int columns)
{
    const size_t N = (size_t)n, C = (size_t)columns;
    for (int i = n - 1; i >= 0; i--) { // L'^-1
        const double *row = L + (size_t)i * N;
        double *x = X + (size_t)i * C;
        scale(x, 1 / row[i], columns);
        for (int j = d->column[i].lower; j >= 0; j = d->column[j].lower)
            subtract(X + (size_t)j * C, row[j], x, columns);
    }
    for (int i = 0; i < n; i++) { // L^-1
        const double *row = L + (size_t)i * N;
        double *x = X + (size_t)i * C;
        for (int j = d->column[i].lower; j >= 0; j = d->column[j].lower)
            subtract(x, row[j], X + (size_t)j * C, columns);
        scale(x, 1 / row[i], columns);
    }
}
