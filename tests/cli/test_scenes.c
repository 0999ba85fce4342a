// test_scenes.c -- the mechanisms that `linkwork bench` times, against published accelerations.
//
// Two independent codes agree on these to nine digits (scene_published).
#include "cli/scene_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const int chain_sizes[] = {7, 16, 32, 64, 128, 256, 1024};
enum { NCHAIN = sizeof chain_sizes / sizeof chain_sizes[0] };

typedef struct scene {
    int nbody, nq, nv;
    scene_body *body;
    lw_model *model;
    lw_dynamics *dynamics;
    double *q, *v, *tau, *p, *out; ///< [nq], others [nv], in tree order
} scene;

static double *vector(int n)
{
    double *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    return x;
}

static scene scene_create(scene_kind kind, int n)
{
    scene s = {.nbody = scene_size(kind, n)};
    lw_error error = {0};
    s.body = calloc((size_t)s.nbody, sizeof *s.body);
    assert_non_null(s.body);
    scene_fill(kind, n, s.body);
    if (scene_model(kind, n, &s.model, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(lw_dynamics_create(s.model, NULL, &s.dynamics, &error), LW_OK);
    s.nq = lw_model_tree_nq(s.model), s.nv = lw_model_tree_nv(s.model);
    assert_int_equal(s.nv, scene_dof(s.body, s.nbody));
    s.q = vector(s.nq), s.v = vector(s.nv), s.tau = vector(s.nv);
    s.p = vector(s.nv), s.out = vector(s.nv);
    double *drawn = vector(3 * s.nv);
    scene_state(kind, s.body, s.nbody, drawn, drawn + s.nv, drawn + 2 * s.nv);
    assert_int_equal(scene_place(s.model, s.body, s.nbody, drawn, drawn + s.nv, drawn + 2 * s.nv,
                                 s.q, s.v, s.tau),
                     LW_OK);
    free(drawn);
    return s;
}

static void scene_destroy(scene *s)
{
    double *blocks[] = {s->q, s->v, s->tau, s->p, s->out};
    for (int i = 0; i < 5; i++) free(blocks[i]);
    lw_dynamics_destroy(s->dynamics);
    lw_model_destroy(s->model);
    free(s->body);
}

// Accelerations in the order of the scene's joints, without those of a free base.
static int accelerations(scene *s, double *a)
{
    int n = 0;
    assert_int_equal(lw_forward_dynamics(s->dynamics, 0, s->q, s->v, s->tau, NULL, s->out), LW_OK);
    for (int i = 0; i < s->nbody; i++) {
        int q, nq, v, nv;
        assert_int_equal(lw_model_joint_tree(s->model, (lw_joint){i}, &q, &nq, &v, &nv), LW_OK);
        for (int k = 0; k < nv && s->body[i].joint != SCENE_FREE; k++) a[n++] = s->out[v + k];
    }
    return n;
}

static void assert_published(scene_kind kind, int n)
{
    scene s = scene_create(kind, n);
    double *a = vector(s.nv);
    const scene_digest found = scene_digest_of(a, accelerations(&s, a));
    const scene_digest *published = scene_published(kind, n);
    assert_non_null(published);
    // half a unit of the ninth digit, and as much for the codes that printed them
    if (!(scene_ninth_digit(&found, published) <= 1))
        fail_msg("scene %d, %d bodies: %.12g %.12g %.12g %.12g", (int)kind, s.nbody, found.sum,
                 found.max, found.first, found.last);
    free(a);
    scene_destroy(&s);
}

static void accelerations_of_long_chains_are_the_published_ones(void **state)
{
    (void)state;
    for (int i = 0; i < NCHAIN; i++) assert_published(SCENE_CHAIN, chain_sizes[i]);
}

static void accelerations_of_the_humanoid_are_the_published_ones(void **state)
{
    (void)state;
    assert_published(SCENE_HUMANOID, 0);
}

static void accelerations_of_rows_of_loops_are_the_published_ones(void **state)
{
    static const int sizes[] = {1, 10, 40, 100};
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_published(SCENE_FOUR_BARS, sizes[i]);
        assert_published(SCENE_LADDER, sizes[i]);
    }
}

static void accelerations_of_ur5_and_delta_are_those_of_others(void **state)
{
    (void)state;
    assert_published(SCENE_UR5, 0);
    assert_published(SCENE_DELTA, 0);
}

static void a_straight_spherical_chain_starts_in_its_plane(void **state)
{
    // At rest and straight nothing twists and nothing leaves the vertical plane: accelerations
    // are about y alone.
    (void)state;
    scene s = scene_create(SCENE_SPHERICAL, 16);
    double *a = vector(s.nv);
    for (int i = 0; i < s.nv; i++) s.v[i] = 0;
    assert_int_equal(accelerations(&s, a), s.nv);
    for (int i = 0; i < s.nv; i += 3) {
        assert_true(fabs(a[i]) <= 1e-9 && fabs(a[i + 2]) <= 1e-9);
        assert_true(fabs(a[i + 1]) > 0);
    }
    free(a);
    scene_destroy(&s);
}

static void speeds_come_back_from_momenta_as_far_as_the_chain_is_conditioned(void **state)
{
    // p is stored in doubles: on slender chains u(p) loses digits as the condition of the mass
    // matrix grows, with any recursion.  An independent code lost 1e-10, 3e-9, 3e-7
    // (1024); allowed is ten times that.
    static const struct {
        int n;
        double loss;
    } cases[] = {{7, 1e-13}, {64, 1e-9}, {128, 3e-8}, {1024, 3e-6}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        scene s = scene_create(SCENE_CHAIN, cases[k].n);
        double *qdot = vector(s.nq), *pdot = vector(s.nv);
        double largest = 0, error = 0;
        assert_int_equal(lw_momenta(s.dynamics, 0, s.q, s.v, s.p), LW_OK);
        assert_int_equal(lw_momenta_rates(s.dynamics, 0, s.q, s.p, s.tau, NULL, s.out, qdot, pdot),
                         LW_OK);
        for (int i = 0; i < s.nv; i++) {
            largest = fmax(largest, fabs(s.v[i]));
            error = fmax(error, fabs(s.out[i] - s.v[i]));
        }
        if (error > cases[k].loss * largest)
            fail_msg("chain %d: speeds differ by %.3g of %.3g", cases[k].n, error, largest);
        free(qdot);
        free(pdot);
        scene_destroy(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_of_long_chains_are_the_published_ones),
        cmocka_unit_test(accelerations_of_the_humanoid_are_the_published_ones),
        cmocka_unit_test(accelerations_of_rows_of_loops_are_the_published_ones),
        cmocka_unit_test(accelerations_of_ur5_and_delta_are_those_of_others),
        cmocka_unit_test(a_straight_spherical_chain_starts_in_its_plane),
        cmocka_unit_test(speeds_come_back_from_momenta_as_far_as_the_chain_is_conditioned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
