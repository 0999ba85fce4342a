// test_robots.c -- the dynamics of shipped robots are those of an independent code.
//
// tests/golden/robots/NAME.txt: joint, q, v, a, effort, row of the mass matrix (Pinocchio; reproduced
// by tools/make_robot_golden).  Reader, model and recursions are tested together.
#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ITEMS = 32 };

#define OK(call) assert_int_equal(LW_OK, (call))
// Two codes with different recursions: some hundred roundings of numbers up to `scale`.
#define NEAR(a, b, scale) assert_true(fabs((a) - (b)) <= 1e-13 * (scale))

typedef struct expected {
    int n;
    char name[MAX_ITEMS][64];
    double q[MAX_ITEMS], v[MAX_ITEMS], a[MAX_ITEMS], tau[MAX_ITEMS], M[MAX_ITEMS][MAX_ITEMS];
} expected;

static void read_expected(const char *robot, expected *x)
{
    char path[500], line[2000];
    snprintf(path, sizeof path, LW_SOURCE_DIR "/tests/golden/robots/%s.txt", robot);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (x->n = 0; fgets(line, sizeof line, file); x->n++) {
        const int i = x->n;
        int used;
        assert_true(i < MAX_ITEMS);
        assert_int_equal(5, sscanf(line, "%63s %lf %lf %lf %lf%n", x->name[i], &x->q[i], &x->v[i],
                                   &x->a[i], &x->tau[i], &used));
        char *rest = line + used;
        for (int k = 0; k < MAX_ITEMS; k++) x->M[i][k] = strtod(rest, &rest);
    }
    fclose(file);
}

static void check_robot(const char *robot)
{
    static expected x; // too large for the stack
    char path[500];
    lw_model *model;
    lw_dynamics *dynamics;
    lw_error error = {0};
    const lw_read_desc desc = {.base = LW_BASE_FIXED};
    read_expected(robot, &x);
    snprintf(path, sizeof path, LW_SOURCE_DIR "/examples/models/%s.urdf", robot);
    OK(lw_model_read(path, &desc, &model, NULL, &error));
    OK(lw_dynamics_create(model, NULL, &dynamics, &error));
    assert_int_equal(x.n, lw_model_tree_nv(model));
    assert_int_equal(x.n, lw_model_tree_nq(model));

    double q[MAX_ITEMS], v[MAX_ITEMS], a[MAX_ITEMS], tau[MAX_ITEMS], vdot[MAX_ITEMS],
        M[MAX_ITEMS * MAX_ITEMS];
    int at[MAX_ITEMS]; // row of the file -> index in the tree
    for (int i = 0; i < x.n; i++) {
        lw_joint joint;
        int iq, nq, nv;
        OK(lw_model_find_joint(model, x.name[i], &joint));
        OK(lw_model_joint_tree(model, joint, &iq, &nq, &at[i], &nv));
        q[iq] = x.q[i], v[at[i]] = x.v[i], a[at[i]] = x.a[i];
    }
    double scale = 0, mass = 0;
    for (int i = 0; i < x.n; i++) {
        scale = fmax(scale, fabs(x.tau[i]));
        mass = fmax(mass, x.M[i][i]);
    }
    OK(lw_inverse_dynamics(dynamics, 0, q, v, a, NULL, tau));
    OK(lw_mass_matrix(dynamics, 0, q, M));
    for (int i = 0; i < x.n; i++) {
        NEAR(tau[at[i]], x.tau[i], scale);
        for (int k = 0; k < x.n; k++) NEAR(M[at[i] * x.n + at[k]], x.M[i][k], mass);
    }
    OK(lw_forward_dynamics(dynamics, 0, q, v, tau, NULL, vdot)); // inverse, by another recursion
    // errors of efforts, at most 1e-13 of their scale, over the smallest inertia
    double smallest = mass;
    for (int i = 0; i < x.n; i++) smallest = fmin(smallest, x.M[i][i]);
    for (int i = 0; i < x.n; i++) NEAR(vdot[at[i]], x.a[i], 1 + scale / smallest);
    lw_dynamics_destroy(dynamics);
    lw_model_destroy(model);
}

static void ur5_has_the_efforts_of_an_independent_code(void **state)
{
    (void)state;
    check_robot("ur5");
}

static void anymal_c_has_the_efforts_of_an_independent_code(void **state)
{
    (void)state;
    check_robot("anymal_c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ur5_has_the_efforts_of_an_independent_code),
        cmocka_unit_test(anymal_c_has_the_efforts_of_an_independent_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
