// test_evaluate.c -- rates of instances in lanes against the formulation alone, bit for bit.
#include "support/random_model.h"

#include "batch/evaluate.h"
#include "tree/batch_evaluator.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 8, MOST = 128 };

static void compare(const lw_model *model, const char *formulation, uint64_t seed)
{
    lw_sim *sim;
    lw_options o;
    lw_error error = {0};
    lw_options_default(&o);
    lw_options_set(&o, "formulation", formulation, NULL);
    const lw_sim_desc desc = {.options = &o};
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    const int nx = lw_sim_state_size(sim);
    assert_true(nx <= MOST);
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    lwi_evaluate *evaluate;
    assert_int_equal(lwi_evaluate_create(sim, true, LANES, false, &arena, &evaluate, &error),
                     LW_OK);

    static double x[MOST][LANES], xdot[MOST][LANES], one[MOST], expected[MOST];
    double t[LANES], inputs[LANES][8] = {{0}};
    const double *input[LANES];
    lw_status status[LANES] = {LW_OK};
    lw_error why[LANES];
    uint64_t state = seed;
    for (int l = 0; l < LANES; l++) {
        t[l] = lwt_random(&state, 0, 1);
        input[l] = inputs[l];
        inputs[l][0] = lwt_random(&state, -1, 1);
        for (int i = 0; i < nx; i++) x[i][l] = sim->x[i] + lwt_random(&state, -0.5, 0.5);
    }
    for (unsigned lanes = 0xff; lanes; lanes = lanes == 0xff ? 0x25 : 0) {
        memset(xdot, 0, sizeof xdot);
        lwi_evaluate_lanes(evaluate, LANES, t, x[0], input, xdot[0], lanes, status, why);
        for (int l = 0; l < LANES; l++) {
            if (!(lanes >> l & 1u)) continue;
            for (int i = 0; i < nx; i++) one[i] = x[i][l];
            assert_int_equal(status[l], LW_OK);
            assert_int_equal(
                sim->work->formulation->rates(sim->work, t[l], one, inputs[l], expected), LW_OK);
            for (int i = 0; i < nx; i++)
                if (memcmp(&expected[i], &xdot[i][l], sizeof *one) != 0)
                    fail_msg("seed %d, %s: lane %d, rate %d of %d: %.17g, alone %.17g", (int)seed,
                             formulation, l, i, nx, xdot[i][l], expected[i]);
        }
    }
    lwi_evaluate_destroy(evaluate);
    lwi_arena_free(&arena);
    lw_sim_destroy(sim);
}

// Whether the evaluator in lanes evaluates the state at the start, in all lanes.
static bool goes_in_lanes(const lw_model *model, const lwi_formulation *formulation)
{
    lwi_arena arena;
    lwi_work *work;
    lwi_tree_batch *batch;
    lwi_snapshot start;
    static double one[MOST], x[MOST][LANES], xdot[MOST][LANES];
    static const double zero[8], t[LANES];
    const double *const inputs[LANES] = {zero, zero, zero, zero, zero, zero, zero, zero};
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_work_create(model, formulation, NULL, &work, NULL), LW_OK);
    assert_int_equal(lwi_tree_batch_create(model, &arena, &batch), LW_OK);
    assert_int_equal(lwi_snapshot_create(model, &arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    assert_int_equal(formulation->enter(work, &start, one), LW_OK);
    assert_true(work->layout.nx <= MOST);
    for (int i = 0; i < work->layout.nx; i++)
        for (int l = 0; l < LANES; l++) x[i][l] = one[i];
    const bool all =
        batch && formulation->rates_in_lanes(batch, t, x[0], inputs, xdot[0], 0xff) == 0xff;
    lwi_work_destroy(work);
    lwi_arena_free(&arena);
    return all;
}

// Forces on bodies, driven coordinates and moving mounts do not keep the instances from their lanes.
static void prescribed_motions_and_forces_on_bodies_go_in_lanes(void **state)
{
    (void)state;
    int driven = 0, forced = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        lw_model *model;
        assert_int_equal(
            lwt_random_tree(seed, 2 + (int)seed % 8, LWT_MULTI | LWT_FORCES | LWT_DRIVES, &model),
            LW_OK);
        compare(model, "aba", seed);
        compare(model, "momenta", seed);
        if (goes_in_lanes(model, &lwi_formulation_aba) &&
            goes_in_lanes(model, &lwi_formulation_momenta)) {
            driven += model->driven;
            forced += (model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST)) != 0;
        }
        lw_model_destroy(model);
    }
    if (driven < 20 || forced < 20) fail_msg("%d driven, %d with forces on bodies", driven, forced);
}

static void lanes_are_what_they_are_alone(void **state)
{
    (void)state;
    static const unsigned kinds[] = {
        0,         LWT_MULTI,    LWT_QUASI,  LWT_FLOATING, LWT_QUASI | LWT_FLOATING | LWT_MULTI,
        LWT_FIXED, LWT_REVERSED, LWT_FORCES, LWT_DRIVES,   LWT_ALL};
    for (int k = 0; k < (int)(sizeof kinds / sizeof kinds[0]); k++)
        for (int nbody = 1; nbody <= 10; nbody++) {
            lw_model *model;
            const uint64_t seed = (uint64_t)(100 * k + nbody);
            assert_int_equal(lwt_random_tree(seed, nbody, kinds[k], &model), LW_OK);
            compare(model, "aba", seed);
            compare(model, "momenta", seed);
            lw_model_destroy(model);
        }
}

// A single evaluation divides a long chain into segments; the batch evaluator must do the same.
static void long_chains_keep_their_order(void **state)
{
    (void)state;
    static const int lengths[] = {31, 32, 33, 48};
    for (int i = 0; i < 4; i++) {
        lw_builder *b;
        lw_model *model;
        lw_body body = {0};
        assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
        for (int k = 0; k < lengths[i]; k++) {
            lw_body next;
            lw_joint joint;
            const lw_body_desc rod = {.mass = 1, .inertia = {0.1, 0.2, 0.2}, .pose.position.x = k};
            assert_int_equal(lw_builder_add_body(b, &rod, &next, NULL), LW_OK);
            const lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                                         .body1 = body,
                                         .body2 = next,
                                         .at = {k - 0.5, 0, 0},
                                         .axis = {0.1 * (k % 3), k % 2, (k + 1) % 2}};
            assert_int_equal(lw_builder_add_joint(b, &hinge, &joint, NULL), LW_OK);
            body = next;
        }
        assert_int_equal(lw_model_create(b, &model, NULL), LW_OK);
        lw_builder_destroy(b);
        compare(model, "aba", (uint64_t)lengths[i]);
        compare(model, "momenta", (uint64_t)lengths[i]);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_what_they_are_alone),
        cmocka_unit_test(long_chains_keep_their_order),
        cmocka_unit_test(prescribed_motions_and_forces_on_bodies_go_in_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
