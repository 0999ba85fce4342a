// test_deep_derivatives.c -- derivatives of forward dynamics of deep trees, which are found by articulated inertias.
//
// M by_tau = 1, M by_q = -dID/dq and M by_v = -dID/dv with the mass matrix and derivatives of inverse dynamics, which
// test_state_derivatives.c compares with differences.
#include "tree/tree_cases.h"

#include "base/cpu.h"
#include "support/rotors.h"
#include "tree/derivatives.h"

enum { NTREES = 10, NBODY = 40, MIN_DEPTH = 12 };

// Speeds on the longest way to the ground, and whether a body carries several that move.
static int depth_of(const lwi_tree_derivatives *d, int n, bool *branched)
{
    int deepest = 0;
    *branched = false;
    for (int i = 0; i < n; i++) {
        int depth = 0;
        for (int k = i; k >= 0; k = d->lower[k]) depth++;
        deepest = depth > deepest ? depth : deepest;
        *branched = *branched || d->articulated.branches[i];
    }
    return deepest;
}

static double largest(const double *x, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

// M X = sign B, relative to the largest terms of the sums.
static void check_product(const lwt_tree *c, const char *what, int n, const double *M,
                          const double *X, double sign, const double *B)
{
    const double size = largest(M, n * n) * largest(X, n * n) + largest(B, n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += M[i * n + k] * X[k * n + j];
            lwt_close(c, what, i * n + j, sum / size, sign * B[i * n + j] / size, 1e-12);
        }
}

/** Matrices of one tree. */
typedef struct matrices {
    double *vdot, *tau, *by_q, *by_v, *by_tau, *inverse_q, *inverse_v, *M, *one;
} matrices;

static matrices matrices_create(int n)
{
    matrices m = {.vdot = lwt_reals(n), .tau = lwt_reals(n)};
    double **const square[] = {&m.by_q,      &m.by_v, &m.by_tau, &m.inverse_q,
                               &m.inverse_v, &m.M,    &m.one};
    for (int i = 0; i < LWI_COUNT(square); i++) *square[i] = lwt_reals(n * n);
    for (int i = 0; i < n; i++) m.one[i * (n + 1)] = 1;
    return m;
}

static void matrices_destroy(matrices *m)
{
    double *const all[] = {m->vdot,      m->tau,       m->by_q, m->by_v, m->by_tau,
                           m->inverse_q, m->inverse_v, m->M,    m->one};
    for (int i = 0; i < LWI_COUNT(all); i++) free(all[i]);
}

static void check_tree(lwt_tree *c, lw_dynamics *d)
{
    const int n = c->model->tree_nv;
    matrices m = matrices_create(n);
    for (int i = 0; i < n; i++) m.tau[i] = lwt_random(&c->state, -3, 3);
    assert_int_equal(lw_forward_dynamics_derivatives(d, c->t, c->q, c->v, m.tau, c->input, m.vdot,
                                                     m.by_q, m.by_v, m.by_tau),
                     LW_OK);
    assert_int_equal(lw_inverse_dynamics_derivatives(d, c->t, c->q, c->v, m.vdot, c->input,
                                                     m.inverse_q, m.inverse_v, m.M),
                     LW_OK);
    check_product(c, "by tau", n, m.M, m.by_tau, 1, m.one);
    check_product(c, "by q", n, m.M, m.by_q, -1, m.inverse_q);
    check_product(c, "by v", n, m.M, m.by_v, -1, m.inverse_v);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) assert_true(m.by_tau[i * n + j] == m.by_tau[j * n + i]);
    matrices_destroy(&m);
}

static lwt_tree with_rotors(uint64_t seed)
{
    lwt_tree c = lwt_tree_create(seed, NBODY, LWT_ALL - LWT_CUSTOM);
    lw_model *with = lwt_with_rotors(c.model, seed);
    lw_model_destroy(c.model);
    c.model = with;
    return c;
}

/** A deep tree that branches, its derivatives and whether it floats. */
typedef struct deep_tree {
    lwt_tree tree;
    lwi_arena arena;
    lwi_tree_derivatives d;
    bool floating;
} deep_tree;

static void deep_tree_destroy(deep_tree *c)
{
    lwi_arena_free(&c->arena);
    lwt_tree_destroy(&c->tree);
}

// The next random tree that is deep, from *seed on.
static deep_tree deep_tree_create(uint64_t *seed)
{
    for (;; (*seed)++) {
        deep_tree c = {.tree = with_rotors(*seed)};
        const lw_model *m = c.tree.model;
        lw_error error;
        bool branched;
        lwi_arena_init(&c.arena, NULL);
        assert_int_equal(lwi_tree_derivatives_create(m, &c.arena, &c.d, &error), LW_OK);
        for (int k = 0; k < m->nnode; k++) c.floating = c.floating || m->node[k].joint < 0;
        const bool deep = !lwi_tree_factors_mass(&c.d) &&
                          depth_of(&c.d, m->tree_nv, &branched) >= MIN_DEPTH && branched;
        if (deep && (c.floating || *seed % 2)) return c;
        deep_tree_destroy(&c);
        assert_true(*seed < 1000);
    }
}

// All joint types, floating bases, drives, mounts, forces, rotors.
static void deep_trees(void **state)
{
    uint64_t seed = 1;
    int floating = 0;
    (void)state;
    for (int i = 0; i < NTREES; i++, seed++) {
        deep_tree c = deep_tree_create(&seed);
        lw_dynamics *dynamics;
        lw_error error;
        floating += c.floating;
        assert_int_equal(lw_dynamics_create(c.tree.model, NULL, &dynamics, &error), LW_OK);
        check_tree(&c.tree, dynamics);
        lw_dynamics_destroy(dynamics);
        deep_tree_destroy(&c);
    }
    assert_true(floating > 1 && floating < NTREES);
}

enum { SQUARES = 7 };

// What kernels of one build make of M and of two matrices, [SQUARES][n][n].
static void solve_by(const lwi_derivative_kernels *kernels, const lwi_tree_derivatives *d, int n,
                     const double *M, const double *X, double *out)
{
    const size_t size = (size_t)n * (size_t)n;
    double *L = out, *solved = out + size, *inverse = out + 3 * size, *other = out + 4 * size;
    double *block = lwt_reals(n * LWI_DERIVATIVE_STRIDE(n));
    memcpy(L, M, size * sizeof *M);
    memcpy(solved, X, size * sizeof *X);
    memcpy(solved + size, M, size * sizeof *M);
    memcpy(other, X, size * sizeof *X);
    assert_int_equal(kernels->factor(n, d->lower, d->run, L), -1);
    kernels->solve(n, d->lower, L, (double *const[]){solved, solved + size}, inverse, block);
    kernels->solve_articulated(&d->articulated, -1, other);
    kernels->inverse_articulated(&d->articulated, other + size);
    memset(other + 2 * size, 0, size * sizeof *out);
    kernels->multiply(n, n, n, M, X, other + 2 * size);
    free(block);
}

// -M^-1 M = -1, both ways agree, and M X is a product.
static void compare_ways(const deep_tree *c, int n, const double *M, const double *X,
                         const double *out)
{
    const int squares = n * n;
    const double *solved = out + squares, *one = solved + squares, *inverse = one + squares,
                 *other = inverse + squares;
    const double size = largest(solved, squares), size_inverse = largest(inverse, squares);
    for (int i = 0; i < squares; i++) {
        lwt_close(&c->tree, "solved", i, other[i] / size, solved[i] / size, 1e-10);
        lwt_close(&c->tree, "inverse", i, other[squares + i] / size_inverse,
                  inverse[i] / size_inverse, 1e-10);
        lwt_close(&c->tree, "one", i, one[i], i % (n + 1) ? 0 : -1, 1e-8);
    }
    check_product(&c->tree, "product", n, M, X, 1, other + 2 * squares);
}

// At the state of the tree, with accelerations of zero.
static void evaluate(deep_tree *c, lwi_tree_work *work, double *by_q, double *by_v, double *M)
{
    const lw_model *m = c->tree.model;
    double *vdot = lwt_reals(m->tree_nv);
    assert_int_equal(lwi_tree_work_create(m, &c->arena, work), LW_OK);
    lwi_tree_position(m, c->tree.t, c->tree.q, work->link);
    lwi_tree_rates(m, c->tree.t, c->tree.v, work->link);
    lwi_tree_world(m, work->link, work->R, work->r);
    lwi_tree_inertial_derivatives(m, &c->d, work, c->tree.t, c->tree.v, vdot, by_q, by_v, M);
    assert_int_equal(lwi_tree_factor_mass(m, &c->d, NULL), -1);
    free(vdot);
}

/** What kernels of one build make of bodies and speeds. */
typedef struct contributions {
    lwi_subtree *subtree;
    lwi_speed_terms *terms;
    double (*rate)[6], *entries; // [5][n][n]
} contributions;

static contributions contributions_by(const lwi_derivative_kernels *kernels, const deep_tree *c,
                                      const lwi_tree_work *work, double *mirrored)
{
    const lw_model *m = c->tree.model;
    const int n = m->tree_nv, squares = n * n;
    contributions to = {calloc((size_t)m->nnode, sizeof *to.subtree),
                        calloc((size_t)n, sizeof *to.terms), calloc((size_t)n, sizeof *to.rate),
                        lwt_reals(5 * squares)};
    double *e = to.entries;
    kernels->find_subtrees(m, &c->d.screws, work->R, work->r, to.subtree);
    kernels->sum_subtrees(m, to.subtree);
    kernels->fill_speeds(m, &c->d.screws, &c->d.arrays, to.rate);
    kernels->fill_terms(m, &c->d.screws, to.subtree, &c->d.arrays, to.rate, to.terms);
    kernels->entries(
        n, c->d.next, c->d.next_run, &c->d.arrays, to.terms,
        &(lwi_speed_entries){e, e + squares, e + 2 * squares, e + 3 * squares, e + 4 * squares});
    kernels->mirror(n, c->d.next, c->d.next_run, e, mirrored);
    return to;
}

static void free_contributions(contributions *c)
{
    free(c->subtree), free(c->terms), free(c->rate), free(c->entries);
}

static void check_contributions(const deep_tree *c, const lwi_tree_work *work)
{
    const lw_model *m = c->tree.model;
    const size_t n = (size_t)m->tree_nv;
    double *mirrored = lwt_reals((int)(n * n)), *again = lwt_reals((int)(n * n));
    contributions one =
        contributions_by(lwi_derivative_kernels_of(LWI_ISA_SCALAR), c, work, mirrored);
    for (int isa = LWI_ISA_SCALAR + 1; isa <= lwi_isa_of(0); isa++) {
        if (!lwi_derivative_kernels_of(isa)) continue;
        contributions to = contributions_by(lwi_derivative_kernels_of(isa), c, work, again);
        assert_memory_equal(one.subtree, to.subtree, (size_t)m->nnode * sizeof *one.subtree);
        assert_memory_equal(one.terms, to.terms, n * sizeof *one.terms);
        assert_memory_equal(one.rate, to.rate, n * sizeof *one.rate);
        assert_memory_equal(one.entries, to.entries, 5 * n * n * sizeof(double));
        assert_memory_equal(mirrored, again, n * n * sizeof *again);
        free_contributions(&to);
    }
    free_contributions(&one);
    free(mirrored), free(again);
}

static void check_widths(deep_tree *c)
{
    const int widest = lwi_isa_of(0); // the processor has those before it
    const int n = c->tree.model->tree_nv, squares = n * n;
    double *by_q = lwt_reals(squares), *by_v = lwt_reals(squares), *M = lwt_reals(squares),
           *out = lwt_reals(SQUARES * squares), *other = lwt_reals(SQUARES * squares);
    lwi_tree_work work;
    evaluate(c, &work, by_q, by_v, M);
    check_contributions(c, &work);
    solve_by(lwi_derivative_kernels_of(LWI_ISA_SCALAR), &c->d, n, M, by_q, out);
    for (int isa = LWI_ISA_SCALAR + 1; isa <= widest; isa++) {
        if (!lwi_derivative_kernels_of(isa)) continue;
        solve_by(lwi_derivative_kernels_of(isa), &c->d, n, M, by_q, other);
        assert_memory_equal(out, other, (size_t)(SQUARES * squares) * sizeof *out);
    }
    compare_ways(c, n, M, by_q, out);
    double *const all[] = {by_q, by_v, M, out, other};
    for (int i = 0; i < LWI_COUNT(all); i++) free(all[i]);
}

// Registers of every width give the same bits, and both ways of solving the same numbers.
static void lane_widths(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < NTREES / 2; i++, seed++) {
        deep_tree c = deep_tree_create(&seed);
        check_widths(&c);
        deep_tree_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(deep_trees), cmocka_unit_test(lane_widths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
