// test_chain.c -- the chain that `linkwork bench` times, against published accelerations.
//
// Two independent codes agree on these to nine digits.  sum = sum of a_i (1 + i mod 7).
#include "cli/chain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct chain {
    int n;
    lw_model *model;
    lw_dynamics *dynamics;
    double *q, *v, *tau, *out, *p; ///< [n], in tree order
    int *at;                       ///< [n] place of a hinge in the tree's arrays
} chain;

static double *vector(int n)
{
    double *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    return x;
}

static chain chain_create(int n)
{
    chain c = {.n = n, .q = vector(n), .v = vector(n), .tau = vector(n)};
    double *q = vector(n), *v = vector(n), *tau = vector(n);
    lw_error error = {0};
    c.out = vector(n);
    c.p = vector(n);
    c.at = calloc((size_t)n, sizeof *c.at);
    assert_non_null(c.at);
    if (chain_model(n, &c.model, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(lw_dynamics_create(c.model, NULL, &c.dynamics, &error), LW_OK);
    assert_int_equal(lw_model_tree_nv(c.model), n);
    chain_state(n, q, v, tau);
    for (int i = 0; i < n; i++) {
        int iq, nq, nv;
        const lw_joint hinge = {i};
        assert_int_equal(lw_model_joint_tree(c.model, hinge, &iq, &nq, &c.at[i], &nv), LW_OK);
        assert_int_equal(nq, 1);
        assert_int_equal(nv, 1);
        c.q[iq] = q[i];
        c.v[c.at[i]] = v[i];
        c.tau[c.at[i]] = tau[i];
    }
    free(q);
    free(v);
    free(tau);
    return c;
}

static void chain_destroy(chain *c)
{
    lw_dynamics_destroy(c->dynamics);
    lw_model_destroy(c->model);
    double *blocks[] = {c->q, c->v, c->tau, c->out, c->p};
    for (int i = 0; i < 5; i++) free(blocks[i]);
    free(c->at);
}

// nine printed digits: half a unit of the ninth, and as much for the codes that printed them
static void assert_nine_digits(int n, const char *what, double value, double expected)
{
    const double unit = pow(10, floor(log10(fabs(expected))) - 8);
    if (fabs(value - expected) > unit)
        fail_msg("chain %d, %s: %.12g, expected %.9g", n, what, value, expected);
}

static void accelerations_of_long_chains_are_the_published_ones(void **state)
{
    static const struct {
        int n;
        double sum, most, first, last;
    } cases[] = {
        {7, -3369.36005, 485.819347, 16.1831586, -485.819347},
        {16, 569.540535, 270.323984, 27.5523786, 270.323984},
        {32, 48.1568292, 86.7176954, 31.5641985, -3.34216124},
        {64, 59.7884453, 313.161444, 26.5239735, 313.161444},
        {128, 8363.89605, 1100.44574, 31.294926, -161.258461},
        {256, 14405.3469, 1746.82661, 20.624701, 14.377366},
        {1024, 394271.048, 14514.1386, 38.471004, -238.903145},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const int n = cases[k].n;
        chain c = chain_create(n);
        assert_int_equal(lw_forward_dynamics(c.dynamics, 0, c.q, c.v, c.tau, NULL, c.out), LW_OK);
        double sum = 0, most = 0;
        for (int i = 0; i < n; i++) {
            const double a = c.out[c.at[i]];
            sum += a * (1 + i % 7);
            most = fmax(most, fabs(a));
        }
        assert_nine_digits(n, "sum", sum, cases[k].sum);
        assert_nine_digits(n, "max", most, cases[k].most);
        assert_nine_digits(n, "first", c.out[c.at[0]], cases[k].first);
        assert_nine_digits(n, "last", c.out[c.at[n - 1]], cases[k].last);
        chain_destroy(&c);
    }
}

static void speeds_come_back_from_momenta_as_far_as_the_chain_is_conditioned(void **state)
{
    // p is stored in doubles: on slender chains u(p) loses digits as the condition of the mass
    // matrix grows, whatever recursion computes it.  An independent code lost 1e-10, 3e-9, 3e-7
    // (1024); allowed is ten times that.
    static const struct {
        int n;
        double loss;
    } cases[] = {{7, 1e-13}, {64, 1e-9}, {128, 3e-8}, {1024, 3e-6}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const int n = cases[k].n;
        chain c = chain_create(n);
        double *qdot = vector(n), *pdot = vector(n);
        double largest = 0, error = 0;
        assert_int_equal(lw_momenta(c.dynamics, 0, c.q, c.v, c.p), LW_OK);
        assert_int_equal(
            lw_momenta_rates(c.dynamics, 0, c.q, c.p, c.tau, NULL, c.out, qdot, pdot), LW_OK);
        for (int i = 0; i < n; i++) {
            largest = fmax(largest, fabs(c.v[i]));
            error = fmax(error, fabs(c.out[i] - c.v[i]));
        }
        if (error > cases[k].loss * largest)
            fail_msg("chain %d: speeds differ by %.3g of %.3g", n, error, largest);
        free(qdot);
        free(pdot);
        chain_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_of_long_chains_are_the_published_ones),
        cmocka_unit_test(speeds_come_back_from_momenta_as_far_as_the_chain_is_conditioned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
