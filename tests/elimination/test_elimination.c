// test_elimination.c -- block elimination along every plan agrees with dense linear algebra on the whole,
// and with the handle form of the divide-and-conquer papers.
#include "elimination/problem.h"
#include "elimination/parts.h" // to see which pivots were chosen
#include "base/double_double.h"
#include "base/linear.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};

// A problem with its elimination, and memory for one solution of each route.
typedef struct bench {
    problem p;
    lwi_arena arena;
    lwi_plan plan;
    lwi_elim *elim;
    double (*x)[6], (*dense)[6], *lambda, *dense_lambda, *S;
    double small; ///< of the dense decomposition: 1 / condition of K^1/2 J', scaled
    int rank;
} bench;

static void setup(bench *b, lw_plan kind)
{
    lwi_arena_init(&b->arena, NULL);
    const size_t n = (size_t)b->p.graph.nbody, m = (size_t)b->p.nrow;
    assert_int_equal(lwi_plan_create(&b->p.graph, kind, &b->arena, &b->plan), LW_OK);
    assert_int_equal(lwi_elim_create(&b->plan, &b->arena, &b->elim), LW_OK);
    b->x = (double(*)[6])LWI_PUSH(&b->arena, double, 6 * n);
    b->dense = (double(*)[6])LWI_PUSH(&b->arena, double, 6 * n);
    b->lambda = LWI_PUSH(&b->arena, double, m);
    b->dense_lambda = LWI_PUSH(&b->arena, double, m);
    b->S = LWI_PUSH(&b->arena, double, m);
    problem_load(&b->p, b->elim);
    b->small = problem_dense(&b->p, b->dense, b->dense_lambda, &b->rank);
    problem_diagonal(&b->p, b->S);
    for (size_t r = 0; r < m; r++)
        if (b->S[r] <= 0) b->S[r] = 1; // a row of zeros
}

static void solve(bench *b, int refine)
{
    memcpy(b->x, b->p.x0, (size_t)b->p.graph.nbody * sizeof *b->x);
    lwi_elim_solve(b->elim, b->x, b->p.c, b->lambda, refine);
}

static double largest(const double *a, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(a[i]));
    return max;
}

static double distance(const double *a, const double *b, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= max)) max = fabs(a[i] - b[i]);
    return max / (largest(b, n) + 1);
}

// The elimination works on S = A'A: its error grows with the square of the condition of A.
static double tolerance(const bench *b)
{
    return 100 * DBL_EPSILON / (b->small * b->small);
}

static void agrees(bench *b, bool unique)
{
    solve(b, 1);
    const double allowed = tolerance(b);
    assert_true(allowed < 1e-6); // else the case proves nothing
    assert_true(problem_residual(&b->p, b->x, NULL, NULL) <= 100 * DBL_EPSILON);
    assert_true(distance(*b->x, *b->dense, 6 * b->p.graph.nbody) <= allowed);
    if (unique) assert_true(distance(b->lambda, b->dense_lambda, b->p.nrow) <= allowed);
}

// The same with the passes in double-double arithmetic, and with the refinement.
static void extended_agrees(bench *b, bool unique)
{
    assert_int_equal(lwi_elim_extend(b->elim, &b->arena), LW_OK);
    for (int e = 0; e < b->p.graph.nedge; e++) // G_low = J K - G
        for (int i = 0; i < b->p.edge[e].n; i++)
            for (int r = 6 * (b->p.slot[e] + i); r < 6 * (b->p.slot[e] + i) + b->p.edge[e].rows;
                 r++)
                for (int c = 0; c < 6; c++) {
                    lwi_dd sum = {-b->p.G[r][c], 0};
                    for (int k = 0; k < 6; k++)
                        sum = lwi_dd_add_scaled(sum, b->p.J[r][k],
                                                (lwi_dd){b->p.K[b->p.edge[e].body[i]][k][c], 0});
                    lwi_elim_G_low(b->elim)[r][c] = sum.high;
                }
    solve(b, 0);
    for (int i = 0; i < 3; i++)
        lwi_elim_refine_extended(b->elim, (const double(*)[6])b->p.x0, b->x, b->p.c, b->lambda,
                                 i == 0);
    assert_true(problem_residual(&b->p, b->x, NULL, NULL) <= 10 * DBL_EPSILON);
    assert_true(distance(*b->x, *b->dense, 6 * b->p.graph.nbody) <= tolerance(b));
    assert_int_equal(lwi_elim_extend_factors(b->elim, &b->arena), LW_OK);
    assert_int_equal(lwi_elim_factor_extended(b->elim), LW_OK);
    assert_true(lwi_elim_is_extended(b->elim) && !lwi_elim_lost(b->elim));
    agrees(b, unique);
}

// Independent rows: the same x and lambda, with or without known ranks.
static void independent(problem p)
{
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        bench b = {.p = p};
        setup(&b, kinds[k]);
        assert_int_equal(b.rank, p.nrow);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        agrees(&b, true);
        int rank;
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &rank), LW_OK);
        assert_int_equal(rank, p.nrow);
        assert_int_equal(lwi_elim_null_count(b.elim), 0);
        agrees(&b, true);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        agrees(&b, true);
        extended_agrees(&b, true);
        lwi_arena_free(&b.arena);
    }
    problem_free(&p);
}

static void chains_and_trees(void **state)
{
    (void)state;
    problem p;
    for (int rows = 1; rows <= 5; rows++)
        for (int n = 1; n <= 20; n += rows == 5 ? 1 : 5) {
            problem_chain(&p, n, rows);
            problem_numbers(&p);
            independent(p);
        }
    for (int i = 0; i < 12; i++) {
        problem_seed((unsigned)i);
        problem_tree(&p, 2 + 2 * i);
        problem_numbers(&p);
        independent(p);
    }
}

static void loops_and_edges_of_several_bodies(void **state)
{
    (void)state;
    problem p;
    for (int i = 0; i < 16; i++) {
        problem_seed(100u + (unsigned)i);
        problem_loops(&p, 3 + i, 2 + i);
        problem_numbers(&p);
        independent(p);
    }
    problem_ladder(&p, 8, 2), problem_numbers(&p), independent(p);
    problem_grid(&p, 5, 4, 2), problem_numbers(&p), independent(p);
    problem_star(&p, 5, 3, 3), problem_numbers(&p), independent(p);
}

// ------------------------------------------------------------------------------------- redundancy

// All properties of null vectors and of the solution of minimum norm.
static void null_vectors(bench *b)
{
    const problem *p = &b->p;
    const int count = lwi_elim_null_count(b->elim), m = p->nrow;
    assert_int_equal(count, m - b->rank);
    double *n = LWI_PUSH(&b->arena, double, count *m);
    for (int i = 0; i < count; i++) {
        double *v = n + i * m, length = 0, along = 0, size = 0;
        lwi_elim_null(b->elim, i, v);
        for (int r = 0; r < m; r++) length += b->S[r] * v[r] * v[r];
        assert_true(fabs(length - 1) < 1e-12);
        assert_true(problem_null_error(p, v) <= tolerance(b));
        // minimum norm: at the node of the null vector lambda is orthogonal to it
        int top = -1;
        for (int e = 0; e < p->graph.nedge; e++)
            for (int r = p->row[e]; r < p->row[e + 1]; r++)
                if (v[r] != 0 && b->plan.closer[e] > top) top = b->plan.closer[e];
        for (int e = 0; e < p->graph.nedge; e++)
            for (int r = p->row[e]; r < p->row[e + 1] && b->plan.closer[e] == top; r++) {
                along += b->S[r] * v[r] * b->lambda[r];
                size += b->S[r] * fabs(v[r] * b->lambda[r]);
            }
        assert_true(fabs(along) <= 1e-12 * size + DBL_EPSILON);
    }
    // they are independent
    lwi_cod cod;
    double *storage = LWI_PUSH(&b->arena, double, lwi_cod_doubles(m, count));
    int *pivot = LWI_PUSH(&b->arena, int, count);
    for (int i = 0; i < count; i++)
        for (int r = 0; r < m; r++) n[i * m + r] *= sqrt(b->S[r]);
    lwi_cod_init(&cod, m, count, n, storage, pivot);
    lwi_cod_factor(&cod, -1, 1e-6);
    assert_int_equal(cod.rank, count);
}

// Node by node they are the same vectors, up to their length and what is negligible.
static void local_null_vectors(bench *b)
{
    const problem *p = &b->p;
    double *whole = LWI_PUSH(&b->arena, double, p->nrow),
           *own = LWI_PUSH(&b->arena, double, p->nrow);
    int *edge = LWI_PUSH(&b->arena, int, p->graph.nedge),
        *stack = LWI_PUSH(&b->arena, int, b->plan.nnode);
    int i = 0;
    for (int k = lwi_elim_null_next(b->elim, 0); k < b->plan.nnode;
         k = lwi_elim_null_next(b->elim, k + 1))
        for (int q = 0;; q++) {
            memset(own, 0, (size_t)p->nrow * sizeof *own);
            const int n = lwi_elim_null_local(b->elim, k, q, own, edge, stack);
            if (n == 0) break;
            lwi_elim_null(b->elim, i++, whole);
            double product = 0, square = 0;
            for (int r = 0; r < p->nrow; r++)
                product += own[r] * whole[r], square += own[r] * own[r];
            for (int r = 0; r < p->nrow; r++) whole[r] *= square / product;
            assert_true(distance(own, whole, p->nrow) < 1e-10);
            for (int j = 0; j < n; j++)
                for (int r = p->row[edge[j]]; r < p->row[edge[j] + 1]; r++) own[r] = 0;
            assert_true(largest(own, p->nrow) == 0); // nothing but the edges listed
        }
    assert_int_equal(i, lwi_elim_null_count(b->elim));
}

static void dependent_rows(bench *b)
{
    const problem *p = &b->p;
    int *dependent = LWI_PUSH(&b->arena, int, p->graph.nedge), sum = 0;
    double *n = LWI_PUSH(&b->arena, double, p->nrow);
    bool *touched = LWI_PUSH(&b->arena, bool, p->graph.nedge);
    lwi_elim_dependent(b->elim, dependent);
    for (int i = 0; i < lwi_elim_null_count(b->elim); i++) {
        lwi_elim_null(b->elim, i, n);
        for (int e = 0; e < p->graph.nedge; e++)
            for (int r = p->row[e]; r < p->row[e + 1]; r++)
                touched[e] |= sqrt(b->S[r]) * fabs(n[r]) > 1e-9;
    }
    for (int e = 0; e < p->graph.nedge; e++) {
        sum += dependent[e];
        assert_true(dependent[e] <= p->edge[e].rows);
        assert_true(!dependent[e] || touched[e]);
    }
    assert_int_equal(sum, p->nrow - b->rank);
}

static void redundant_bench(bench *b)
{
    assert_true(b->rank < b->p.nrow);
    int rank;
    assert_int_equal(lwi_elim_find_ranks(b->elim, LWI_ELIM_RANK, &rank), LW_OK);
    assert_int_equal(rank, b->rank);
    agrees(b, false);
    assert_int_equal(lwi_elim_rank(b->elim), b->rank);
    assert_int_equal(lwi_elim_factor(b->elim, NULL), LW_OK);
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(b->elim);
    assert_true(pivots.min > LWI_ELIM_RANK);
    assert_true(pivots.dropped < 1e-12);
    assert_int_equal(lwi_elim_check_pivots(b->elim), LW_OK);
    const lwi_elim_pivot_info checked = lwi_elim_pivots(b->elim);
    assert_true(checked.min == pivots.min && checked.dropped == pivots.dropped);
    assert_int_equal(checked.edge, pivots.edge);
    assert_int_equal(lwi_elim_factor(b->elim, NULL), LW_OK);
    agrees(b, false);
    null_vectors(b);
    local_null_vectors(b);
    dependent_rows(b);
    extended_agrees(b, false);
    null_vectors(b);
    dependent_rows(b);
    lwi_elim_clear_ranks(b->elim);
    assert_int_equal(lwi_elim_rank(b->elim), b->p.nrow);
    assert_int_equal(lwi_elim_factor(b->elim, NULL), LW_ERR_SINGULAR);
    assert_true(lwi_elim_pivots(b->elim).min < 1e-12);
}

static void redundant(problem p)
{
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        bench b = {.p = p};
        setup(&b, kinds[k]);
        redundant_bench(&b);
        lwi_arena_free(&b.arena);
    }
    problem_free(&p);
}

// In a row of four-bars null vectors decay: they reach a few bars, however many there are.
static void null_vectors_are_local(void **state)
{
    (void)state;
    enum { POSTS = 400, FEW = 300 };
    problem p;
    problem_four_bars(&p, POSTS, 0.7);
    bench b = {.p = p};
    lwi_arena_init(&b.arena, NULL); // without the dense solution
    assert_int_equal(lwi_plan_create(&p.graph, LW_PLAN_COMB, &b.arena, &b.plan), LW_OK);
    assert_int_equal(lwi_elim_create(&b.plan, &b.arena, &b.elim), LW_OK);
    problem_load(&p, b.elim);
    double *n = LWI_PUSH(&b.arena, double, p.nrow);
    int *edge = LWI_PUSH(&b.arena, int, p.graph.nedge),
        *stack = LWI_PUSH(&b.arena, int, b.plan.nnode);
    assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &b.rank), LW_OK);
    int count = 0, widest = 0;
    for (int k = lwi_elim_null_next(b.elim, 0); k < b.plan.nnode;
         k = lwi_elim_null_next(b.elim, k + 1))
        for (int q = 0, edges = 1; edges > 0; q++) {
            edges = lwi_elim_null_local(b.elim, k, q, n, edge, stack);
            if (edges > widest) widest = edges;
            count += edges > 0;
        }
    assert_true(widest <= FEW);
    assert_int_equal(count, p.nrow - b.rank);
    lwi_arena_free(&b.arena);
    problem_free(&p);
}

// Row r of edge e becomes a combination of the rows of another edge between the same bodies.
static void combine(problem *p, int e, int r, int other)
{
    double factor[LWI_EDGE_ROWS];
    for (int k = 0; k < p->edge[other].rows; k++) factor[k] = problem_uniform();
    for (int i = 0; i < p->edge[e].n; i++)
        for (int l = 0; l < 6; l++) {
            double sum = 0;
            for (int k = 0; k < p->edge[other].rows; k++)
                sum += factor[k] * p->J[6 * (p->slot[other] + i) + k][l];
            p->J[6 * (p->slot[e] + i) + r][l] = sum;
        }
}

static void redundant_rows(void **state)
{
    (void)state;
    problem p;
    problem_seed(7);
    for (int posts = 2; posts <= 6; posts++) {
        problem_four_bars(&p, posts, 0.7);
        redundant(p);
    }
    for (int i = 0; i < 10; i++) { // second edges between the bodies of a tree's edges
        problem_seed(200u + (unsigned)i);
        const int n = 4 + i;
        problem_loops(&p, n, i / 2);
        for (int b = 0; b < n; b += 2) {
            const lwi_plan_edge e = p.edge[b];
            problem_edge(&p, 2, e.ground, e.n, e.body);
        }
        problem_numbers(&p);
        for (int b = 0, e = n + i / 2; b < n; b += 2, e++) {
            combine(&p, e, 0, b);
            if (b % 4) combine(&p, e, 1, b);
        }
        problem_right_side(&p);
        redundant(p);
    }
}

// How many ranked nodes go in blocks, with at most half of their rows kept, or with more.
static void count_large(const bench *b, int count[2])
{
    for (int k = 0; k < b->elim->nnode; k++) {
        const lwi_elim_front *N = &b->elim->front[k];
        const lwi_elim_state *s = &b->elim->state[k];
        if (N->nc + N->no >= LWI_ELIM_LARGE && s->ranked && s->kept < N->nc)
            count[2 * s->kept > N->nc]++;
    }
}

// Nodes with many rows: a grid of which every edge has `times` others with rows that are combinations of those of the edge.
static void redundant_rows_of_large_nodes(void **state)
{
    (void)state;
    int count[2] = {0};
    for (int times = 1; times <= 2; times++) {
        problem p;
        problem_seed(300u + (unsigned)times);
        problem_grid(&p, 9, 8, 2);
        const int edges = p.graph.nedge;
        for (int e = 0; e < times * edges; e++) {
            const lwi_plan_edge of = p.edge[e % edges];
            problem_edge(&p, times, of.ground, of.n, lwi_plan_bodies(&of));
        }
        problem_numbers(&p);
        for (int e = 0; e < times * edges; e++)
            for (int r = 0; r < times; r++) combine(&p, edges + e, r, e % edges);
        problem_right_side(&p);
        bench b = {.p = p};
        setup(&b, LW_PLAN_BALANCED);
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, NULL), LW_OK);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        count_large(&b, count);
        redundant_bench(&b);
        lwi_arena_free(&b.arena);
        problem_free(&p);
    }
    if (!(count[0] > 0 && count[1] > 0)) fail_msg("%d and %d", count[0], count[1]);
    assert_true(count[0] > 0 && count[1] > 0); // both kinds of factors
}

// A row of zeros is no equation, at any place.
static void rows_of_zeros(void **state)
{
    (void)state;
    problem p;
    problem_seed(3);
    problem_chain(&p, 6, 4);
    problem_edge(&p, 0, false, 2, (const int[]){0, 3}); // and an edge without rows
    problem_edge(&p, 0, true, 1, (const int[]){5});
    problem_numbers(&p);
    for (int i = 0; i < 2; i++) memset(p.J[6 * (p.slot[3] + i) + 2], 0, sizeof p.J[0]);
    problem_right_side(&p);
    redundant(p);
}

// A chain with second edges of rows that are combinations of the first ones', at J = cos(s) A +
// sin(s) B.
static void turning_problem(problem *p, double s)
{
    problem_seed(11); // the same numbers every time
    problem_chain(p, 5, 3);
    for (int b = 1; b < 5; b++) problem_edge(p, 3, false, 2, (const int[]){b - 1, b});
    problem_numbers(p);
    for (int i = 0; i < 36 * p->nslot; i++)
        p->J[i / 6][i % 6] = cos(s) * p->J[i / 6][i % 6] + sin(s) * problem_uniform();
    for (int e = 1; e < 5; e++) combine(p, 4 + e, 0, e), combine(p, 4 + e, 2, e);
    problem_right_side(p);
}

// Along a motion the multipliers of redundant rows change smoothly although pivots change: in a step of 1e-3
// by a share of some 1e-3, where another choice would change them by as much as their size.
static void multipliers_are_smooth(void **state)
{
    (void)state;
    enum { ROWS = 27, STEPS = 1500 };
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        double before[ROWS];
        int chosen[ROWS], switches = 0;
        for (int i = 0; i < STEPS; i++) {
            bench b = {.plan = {.nnode = 0}};
            turning_problem(&b.p, 2e-3 * i);
            setup(&b, kinds[k]);
            int rank, now[ROWS] = {0}, n = 0;
            assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &rank), LW_OK);
            assert_int_equal(rank, ROWS - 8);
            solve(&b, 1);
            for (int node = 0; node < b.plan.nnode; node++)
                for (int r = 0; b.plan.node[node].loop && r < b.elim->state[node].kept; r++)
                    now[n++] = b.elim->swap[node][r];
            if (i) {
                switches += memcmp(chosen, now, sizeof now) != 0;
                assert_true(distance(b.lambda, before, ROWS) < 0.1);
            }
            memcpy(before, b.lambda, sizeof before);
            memcpy(chosen, now, sizeof now);
            lwi_arena_free(&b.arena);
            problem_free(&b.p);
        }
        assert_true(switches > 10);
    }
}

// --------------------------------------------------------------------------------- regularisation

// eps > 0: x and lambda of the dense system J K J' + eps, also with redundant rows.
static void regularised(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < LWI_COUNT(kinds); k++) {
            problem p;
            problem_seed(300u + (unsigned)i);
            if (i % 2) {
                problem_four_bars(&p, 3, 0.4);
            } else {
                problem_loops(&p, 8, 6);
                problem_numbers(&p);
            }
            bench b = {.p = p};
            setup(&b, kinds[k]);
            const int m = p.nrow;
            double *eps = LWI_PUSH(&b.arena, double, m), *A = LWI_PUSH(&b.arena, double, m *m);
            double *right = LWI_PUSH(&b.arena, double, m);
            for (int r = 0; r < m; r++) eps[r] = 1e-4 * (2 + problem_uniform()) * b.S[r];
            for (int e = 0; e < p.graph.nedge; e++)
                for (int r = 0; r < p.edge[e].rows; r++) {
                    const int row = p.row[e] + r;
                    right[row] = p.c[row];
                    A[row * m + row] = eps[row];
                    for (int s = p.slot[e]; s < p.slot[e + 1]; s++) {
                        const int body = p.edge[e].body[s - p.slot[e]];
                        for (int l = 0; l < 6; l++) right[row] -= p.J[6 * s + r][l] * p.x0[body][l];
                        for (int f = 0; f < p.graph.nedge; f++)
                            for (int t = p.slot[f]; t < p.slot[f + 1]; t++)
                                for (int q = 0; q < p.edge[f].rows; q++)
                                    for (int l = 0; l < 6; l++)
                                        if (p.edge[f].body[t - p.slot[f]] == body)
                                            A[row * m + p.row[f] + q] +=
                                                p.J[6 * s + r][l] * p.G[6 * t + q][l];
                    }
                }
            assert_int_equal(lwi_cholesky(m, A, 0), -1);
            lwi_lower_solve(m, A, right);
            lwi_lower_tsolve(m, A, right);
            int rank;
            assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &rank), LW_OK);
            assert_int_equal(lwi_elim_factor(b.elim, eps), LW_OK);
            assert_int_equal(lwi_elim_null_count(b.elim), 0);
            solve(&b, 1);
            // condition of S + eps: 1e4 and what the number of rows adds
            assert_true(distance(b.lambda, right, m) < 1e-10);
            assert_true(problem_residual(&p, b.x, eps, b.lambda) <= 200 * DBL_EPSILON);
            lwi_arena_free(&b.arena);
            problem_free(&p);
        }
}

// ------------------------------------------------------------------------------------- refinement

// Bodies a million times lighter than their neighbours: one refinement removes the error of one pass.
static void refinement(void **state)
{
    (void)state;
    double first = 0, second = 0;
    for (int i = 0; i < 10; i++) {
        problem p;
        problem_seed(400u + (unsigned)i);
        problem_loops(&p, 12, 6);
        problem_numbers(&p);
        for (int b = 0; b < 12; b += 3)
            for (int j = 0; j < 36; j++) p.K[b][j / 6][j % 6] *= 1e6;
        problem_right_side(&p);
        bench b = {.p = p};
        setup(&b, kinds[i % 3]);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        solve(&b, 0);
        first = fmax(first, problem_residual(&p, b.x, NULL, NULL));
        solve(&b, 1);
        second = fmax(second, problem_residual(&p, b.x, NULL, NULL));
        lwi_arena_free(&b.arena);
        problem_free(&p);
    }
    assert_true(first > 1e-12); // there is an error to remove
    assert_true(second <= 200 * DBL_EPSILON);
}

// ----------------------------------------------------------------------------------------- errors

static void what_fails_is_named(void **state)
{
    (void)state;
    problem p;
    problem_seed(5);
    problem_chain(&p, 9, 4);
    problem_numbers(&p);
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        bench b = {.p = p};
        setup(&b, kinds[k]);
        double(*J)[6] = lwi_elim_J(b.elim), (*G)[6] = lwi_elim_G(b.elim);
        for (int i = 0; i < 2; i++) { // row 3 of edge 5 is twice its row 1
            const int s = 6 * (p.slot[5] + i);
            for (int l = 0; l < 6; l++)
                J[s + 3][l] = 2 * J[s + 1][l], G[s + 3][l] = 2 * G[s + 1][l];
        }
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_ERR_SINGULAR);
        const lwi_elim_pivot_info pivots = lwi_elim_pivots(b.elim);
        assert_true(pivots.min < 1e-14);
        assert_int_equal(pivots.edge, 5);
        assert_int_equal(pivots.row, 3);
        int rank;
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &rank), LW_OK);
        assert_int_equal(rank, p.nrow - 1);
        J[6 * p.slot[2] + 1][4] = NAN;
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_ERR_NOT_FINITE);
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &rank), LW_ERR_NOT_FINITE);
        problem_load(&p, b.elim);
        G[6 * p.slot[7] + 6 + 2][0] = INFINITY;
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_ERR_NOT_FINITE);
        problem_load(&p, b.elim); // no effect remains
        memcpy(b.x, p.x0, (size_t)p.graph.nbody * sizeof *b.x);
        b.x[4][2] = NAN;
        lwi_elim_solve(b.elim, b.x, p.c, b.lambda, 1);
        lwi_elim_clear_ranks(b.elim);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        agrees(&b, true);
        lwi_arena_free(&b.arena);
    }
    problem_free(&p);
}

// The generic rank is kept: a direction lost on the way is a singular position, one that drift adds is not
// used.
static void ranks_are_kept(void **state)
{
    (void)state;
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        problem p, flat;
        problem_seed(6);
        problem_four_bars(&p, 2, 0.7);
        problem_seed(6);
        problem_four_bars(&flat, 2, 0);
        bench b = {.p = flat};
        setup(&b, kinds[k]);
        int low, high;
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &low), LW_OK);
        assert_int_equal(low, b.rank);
        problem_load(&p, b.elim);
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &high), LW_OK);
        assert_int_equal(high, low + 1);
        problem_load(&flat, b.elim);
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &low), LW_OK);
        assert_int_equal(low, high - 1);
        assert_int_equal(lwi_elim_rank(b.elim), high); // the larger one is kept
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_ERR_SINGULAR);
        assert_true(lwi_elim_pivots(b.elim).min < 1e-12);
        problem_load(&p, b.elim);
        lwi_elim_J(b.elim)[3][0] += 1e-4; // drift tilts a redundant row by 1e-4
        for (int r = 0; r < 5; r++)
            for (int l = 0; l < 6; l++) {
                double *to = &lwi_elim_G(b.elim)[r][l];
                *to = 0;
                for (int i = 0; i < 6; i++) *to += lwi_elim_J(b.elim)[r][i] * p.K[0][i][l];
            }
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        assert_int_equal(lwi_elim_null_count(b.elim), p.nrow - high);
        assert_true(lwi_elim_pivots(b.elim).dropped > 1e-11);
        assert_true(lwi_elim_pivots(b.elim).dropped < 1e-7);
        lwi_arena_free(&b.arena);
        problem_free(&p), problem_free(&flat);
    }
}

// If inactive rows are allowed, the singular position has its own rank and solution; the inactive row is
// reported, and the component along its null vector is not met.
static void rows_rest(void **state)
{
    (void)state;
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        problem p, flat;
        problem_seed(6);
        problem_four_bars(&p, 2, 0.7);
        problem_seed(6);
        problem_four_bars(&flat, 2, 0);
        bench b = {.p = flat};
        setup(&b, kinds[k]);
        problem_load(&p, b.elim);
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, NULL), LW_OK);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        lwi_elim_set_reference(b.elim);
        lwi_elim_allow_inactive(b.elim, true);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        assert_int_equal(lwi_elim_inactive_count(b.elim), 0);
        problem_load(&flat, b.elim);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        assert_int_equal(lwi_elim_inactive_count(b.elim), 1);
        assert_true(lwi_elim_pivots(b.elim).dropped < 1e-12);
        assert_true(lwi_elim_pivots(b.elim).dropped_edge >= 0);
        double *n = calloc((size_t)flat.nrow, sizeof *n), *c = calloc((size_t)flat.nrow, sizeof *c);
        assert_true(n && c && lwi_elim_unmet(b.elim, flat.c, n) < 1e-10); // consistent
        for (int i = 0; i < flat.nrow; i++) c[i] = 1;
        assert_true(lwi_elim_unmet(b.elim, c, n) > 1e-2);
        agrees(&b, false);
        lwi_elim_allow_inactive(b.elim, false);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_ERR_SINGULAR);
        free(n), free(c);
        lwi_arena_free(&b.arena);
        problem_free(&p), problem_free(&flat);
    }
}

// ------------------------------------------------------------------------------------- handle form

// Coefficients of a segment of a chain at its two handles: V_i = sum_j xi_ij T_j + xi_i0.
typedef struct handles {
    double xi[2][2][6][6], free[2][6];
} handles;

typedef struct chain_link { // a body: shifts of its handles; the joint before it
    double S[2][6][6], D[6][5];
} chain_link;

typedef struct route {
    const problem *p;
    chain_link *link;
    handles *node; ///< of a segment, by its first body and size in the recursion
    double (*x)[6], *lambda;
} route;

// W = X' K Y
static void sandwich(double X[6][6], double K[6][6], double Y[6][6], double W[6][6])
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            W[i][j] = 0;
            for (int k = 0; k < 6; k++)
                for (int l = 0; l < 6; l++) W[i][j] += X[k][i] * K[k][l] * Y[l][j];
        }
}

static handles leaf(const route *r, int b)
{
    handles h;
    chain_link *link = &r->link[b];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) sandwich(link->S[i], r->p->K[b], link->S[j], h.xi[i][j]);
        for (int k = 0; k < 6; k++) {
            h.free[i][k] = 0;
            for (int l = 0; l < 6; l++) h.free[i][k] += link->S[i][l][k] * r->p->x0[b][l];
        }
    }
    return h;
}

// sigma = E^-1 D'(...) for the joint before body b: E = D' Xi D.
static void joint_solve(const route *r, int b, double Xi[6][6], double *right)
{
    double E[25];
    double(*D)[5] = r->link[b].D;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            E[5 * i + j] = 0;
            for (int k = 0; k < 6; k++)
                for (int l = 0; l < 6; l++) E[5 * i + j] += D[k][i] * Xi[k][l] * D[l][j];
        }
    assert_int_equal(lwi_cholesky(5, E, 0), -1);
    lwi_lower_solve(5, E, right);
    lwi_lower_tsolve(5, E, right);
}

// sigma of the joint between A and B (its second body is b) under wrenches T1 on A's first handle,
// T2 on B's second one; `free`: with the free velocities and c.
static void transmitted(const route *r, int b, handles *A, handles *B, const double *T1,
                        const double *T2, bool free, double sigma[5])
{
    double Xi[6][6];
    for (int i = 0; i < 36; i++)
        Xi[i / 6][i % 6] = A->xi[1][1][i / 6][i % 6] + B->xi[0][0][i / 6][i % 6];
    for (int i = 0; i < 5; i++) {
        sigma[i] = free ? r->p->c[r->p->row[b] + i] : 0;
        for (int k = 0; k < 6; k++) {
            double jump = free ? A->free[1][k] - B->free[0][k] : 0;
            for (int l = 0; l < 6; l++)
                jump += A->xi[1][0][k][l] * T1[l] - B->xi[0][1][k][l] * T2[l];
            sigma[i] += r->link[b].D[k][i] * jump;
        }
    }
    joint_solve(r, b, Xi, sigma);
}

// Coefficients of the compound, column by column: responses to unit wrenches [chadaj2017, (34)-(36)].
static handles assemble(const route *r, int b, handles *A, handles *B)
{
    handles C;
    for (int column = 0; column <= 12; column++) {
        double T[2][6] = {{0}}, sigma[5], W[6] = {0};
        if (column < 12) T[column / 6][column % 6] = 1;
        transmitted(r, b, A, B, T[0], T[1], column == 12, sigma);
        for (int k = 0; k < 6; k++)
            for (int i = 0; i < 5; i++) W[k] += r->link[b].D[k][i] * sigma[i];
        for (int k = 0; k < 6; k++) {
            double V[2] = {0, 0};
            for (int l = 0; l < 6; l++) {
                V[0] += A->xi[0][0][k][l] * T[0][l] - A->xi[0][1][k][l] * W[l];
                V[1] += B->xi[1][1][k][l] * T[1][l] + B->xi[1][0][k][l] * W[l];
            }
            for (int i = 0; i < 2; i++) {
                if (column < 12)
                    C.xi[i][column / 6][k][column % 6] = V[i];
                else
                    C.free[i][k] = V[i] + (i ? B : A)->free[i][k];
            }
        }
    }
    return C;
}

static handles build(route *r, int first, int n)
{
    if (n == 1) return leaf(r, first);
    handles A = build(r, first, n / 2), B = build(r, first + n / 2, n - n / 2);
    return assemble(r, first + n / 2, &A, &B);
}

static void distribute(route *r, int first, int n, const double *T1, const double *T2)
{
    if (n == 1) {
        for (int k = 0; k < 6; k++) {
            double f[6] = {0};
            for (int i = 0; i < 6; i++)
                for (int l = 0; l < 6; l++)
                    f[i] += r->link[first].S[0][i][l] * T1[l] + r->link[first].S[1][i][l] * T2[l];
            r->x[first][k] = r->p->x0[first][k];
            for (int l = 0; l < 6; l++) r->x[first][k] += r->p->K[first][k][l] * f[l];
        }
        return;
    }
    const int middle = first + n / 2;
    handles A = build(r, first, n / 2), B = build(r, middle, n - n / 2);
    double sigma[5], W[6] = {0}, minus[6];
    transmitted(r, middle, &A, &B, T1, T2, true, sigma);
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 5; i++) W[k] += r->link[middle].D[k][i] * sigma[i];
        minus[k] = -W[k];
    }
    memcpy(r->lambda + r->p->row[middle], sigma, sizeof sigma);
    distribute(r, first, n / 2, T1, minus);
    distribute(r, middle, n - n / 2, W, T2);
}

// J of edge b: -D'S_2' of body b-1, +D'S_1' of body b.
static void chain_rows(problem *p, const chain_link *link)
{
    for (int e = 0; e < p->graph.nedge; e++)
        for (int i = 0; i < p->edge[e].n; i++) {
            const int b = p->edge[e].body[i];
            const int handle = b == e ? 0 : 1;
            for (int r = 0; r < 5; r++)
                for (int k = 0; k < 6; k++) {
                    double sum = 0;
                    for (int l = 0; l < 6; l++) sum += link[e].D[l][r] * link[b].S[handle][k][l];
                    p->J[6 * (p->slot[e] + i) + r][k] = handle ? -sum : sum;
                }
        }
}

static void handle_form(void **state)
{
    (void)state;
    for (int n = 1; n <= 12; n++) {
        problem p;
        problem_seed(500u + (unsigned)n);
        problem_chain(&p, n, 5);
        problem_numbers(&p);
        chain_link link[12];
        for (int b = 0; b < n; b++) {
            for (int i = 0; i < 72; i++)
                link[b].S[i / 36][i / 6 % 6][i % 6] =
                    0.4 * problem_uniform() + (i / 6 % 6 == i % 6);
            for (int i = 0; i < 30; i++) link[b].D[i / 5][i % 5] = problem_uniform();
        }
        chain_rows(&p, link);
        problem_right_side(&p);
        double x[12][6], lambda[60], T[6] = {0}, base[5];
        route r = {.p = &p, .link = link, .x = x, .lambda = lambda};
        handles all = build(&r, 0, n);
        for (int i = 0; i < 5; i++) { // joint of the base: D'V_1 = c
            base[i] = p.c[i];
            for (int k = 0; k < 6; k++) base[i] -= link[0].D[k][i] * all.free[0][k];
        }
        joint_solve(&r, 0, all.xi[0][0], base);
        memcpy(lambda, base, sizeof base);
        for (int k = 0; k < 6; k++)
            for (int i = 0; i < 5; i++) T[k] += link[0].D[k][i] * base[i];
        distribute(&r, 0, n, T, (const double[6]){0});
        for (int k = 0; k < LWI_COUNT(kinds); k++) {
            bench b = {.p = p};
            setup(&b, kinds[k]);
            assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
            solve(&b, 1);
            assert_true(distance(*b.x, *x, 6 * n) <= 10 * tolerance(&b));
            assert_true(distance(b.lambda, lambda, 5 * n) <= 10 * tolerance(&b));
            lwi_arena_free(&b.arena);
        }
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_and_trees),
        cmocka_unit_test(loops_and_edges_of_several_bodies),
        cmocka_unit_test(redundant_rows),
        cmocka_unit_test(redundant_rows_of_large_nodes),
        cmocka_unit_test(null_vectors_are_local),
        cmocka_unit_test(rows_of_zeros),
        cmocka_unit_test(multipliers_are_smooth),
        cmocka_unit_test(regularised),
        cmocka_unit_test(refinement),
        cmocka_unit_test(what_fails_is_named),
        cmocka_unit_test(ranks_are_kept),
        cmocka_unit_test(rows_rest),
        cmocka_unit_test(handle_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
