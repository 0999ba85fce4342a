// test_tableaux.c -- coefficients of the explicit Runge-Kutta pairs: order conditions of all rooted trees, and those of SUNDIALS.
#include "integrate/integrator.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arkode/arkode_erkstep.h>

enum { MAX_NODES = 8, MAX_STAGES = 16 };

// A rooted tree as its level sequence: level[i] is the depth of node i in preorder.
typedef struct tree {
    int n, level[MAX_NODES];
} tree;

// The next tree with the same number of nodes, in the order of Beyer and Hedetniemi; false after
// the last.
static bool next_tree(tree *t)
{
    int p = t->n - 1;
    while (p > 0 && t->level[p] <= 1) p--;
    if (p == 0) return false;
    int q = p - 1;
    while (t->level[q] != t->level[p] - 1) q--;
    for (int i = p; i < t->n; i++) t->level[i] = t->level[i - (p - q)];
    return true;
}

// gamma(tree), and for every stage the inner product Phi_i = prod over children (sum_j a_ij Phi_j).
// Starts at node `root` and returns the first node after its subtree.
static int weigh(const tree *t, const lwi_tableau *b, int root, long double phi[MAX_STAGES],
                 long double *gamma)
{
    for (int i = 0; i < b->stages; i++) phi[i] = 1;
    int node = root + 1;
    long double product = 1;
    while (node < t->n && t->level[node] > t->level[root]) {
        long double child[MAX_STAGES], factor;
        node = weigh(t, b, node, child, &factor);
        product *= factor;
        for (int i = 0; i < b->stages; i++) {
            long double sum = 0;
            for (int j = 0; j < i; j++) sum += (long double)b->A[b->stages * i + j] * child[j];
            phi[i] *= sum;
        }
    }
    *gamma = product * (node - root);
    return node;
}

// Largest defect of the order conditions for trees with n nodes, sum_i w_i Phi_i = 1 / gamma.
static long double defect(const lwi_tableau *b, const double *weights, int n, int *trees)
{
    long double max = 0;
    tree t = {.n = n};
    for (int i = 0; i < n; i++) t.level[i] = i;
    *trees = 0;
    do {
        long double phi[MAX_STAGES], gamma, sum = 0;
        weigh(&t, b, 0, phi, &gamma);
        for (int i = 0; i < b->stages; i++) sum += (long double)weights[i] * phi[i];
        max = fmaxl(max, fabsl(sum - 1 / gamma));
        ++*trees;
    } while (next_tree(&t));
    return max;
}

// The coefficients satisfy every order condition up to the orders of the weights b and d, to the
// round-off of coefficients of magnitude up to 118. The conditions of d one order higher are
// violated by much more.
static void meets_order_conditions(const lwi_tableau *b)
{
    static const int count[] = {0, 1, 1, 2, 4, 9, 20, 48, 115}; // rooted trees with n nodes
    const long double round_off = 2e4L * (long double)DBL_EPSILON;
    int trees;
    for (int i = 0; i < b->stages; i++) {
        long double sum = 0;
        for (int j = 0; j < b->stages; j++) {
            sum += (long double)b->A[b->stages * i + j];
            if (j >= i) assert_true(b->A[b->stages * i + j] == 0);
        }
        assert_true(fabsl(sum - (long double)b->c[i]) < round_off);
    }
    for (int n = 1; n <= b->order; n++) {
        const long double d = defect(b, b->b, n, &trees);
        assert_int_equal(trees, count[n]);
        if (d > round_off) fail_msg("order %d of b: defect %Lg", n, d);
    }
    for (int n = 1; n <= b->embedded; n++) {
        const long double d = defect(b, b->d, n, &trees);
        if (d > round_off) fail_msg("order %d of d: defect %Lg", n, d);
    }
    assert_true(defect(b, b->d, b->embedded + 1, &trees) > 1e-7L);
}

static void tableaux_meet_order_conditions(void **state)
{
    (void)state;
    meets_order_conditions(&lwi_tableau_verner87);
    meets_order_conditions(&lwi_tableau_dopri5);
    meets_order_conditions(&lwi_tableau_bs3);
    meets_order_conditions(&lwi_tableau_fehlberg8);
}

static void tableaux_are_those_of_sundials(void **state)
{
    (void)state;
    static const struct {
        const lwi_tableau *own;
        ARKODE_ERKTableID table;
    } pair[] = {{&lwi_tableau_dopri5, ARKODE_DORMAND_PRINCE_7_4_5},
                {&lwi_tableau_bs3, ARKODE_BOGACKI_SHAMPINE_4_2_3},
                {&lwi_tableau_fehlberg8, ARKODE_FEHLBERG_13_7_8}};
    for (int k = 0; k < 3; k++) {
        const lwi_tableau *own = pair[k].own;
        ARKodeButcherTable theirs = ARKodeButcherTable_LoadERK(pair[k].table);
        const size_t size = (size_t)own->stages * sizeof(double);
        assert_non_null(theirs);
        assert_int_equal(theirs->stages, own->stages);
        assert_int_equal(theirs->q, own->order);
        assert_int_equal(theirs->p, own->embedded);
        for (int i = 0; i < own->stages; i++)
            assert_memory_equal(theirs->A[i], own->A + own->stages * i, size);
        assert_memory_equal(theirs->b, own->b, size);
        assert_memory_equal(theirs->d, own->d, size);
        assert_memory_equal(theirs->c, own->c, size);
        ARKodeButcherTable_Free(theirs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tableaux_meet_order_conditions),
        cmocka_unit_test(tableaux_are_those_of_sundials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
