// test_project.c -- the option `project`: drift is corrected, seldom, by every formulation that
// drifts, and the motion stays what it is.
#include "methods/loop_cases.h"
#include "model/joint_cases.h"

typedef struct outcome {
    lw_summary summary;
    double q, qd; // of the first joint at the end
} outcome;

static outcome run(const lw_model *model, const char *formulation, const char *integrator,
                   const char *project, const char *tolerance, const char *duration)
{
    const char *const setting[][2] = {{"formulation", formulation},
                                      {"integrator", integrator},
                                      {"project", project},
                                      {"rtol", tolerance},
                                      {"atol", tolerance},
                                      {"duration", duration},
                                      {"sample", "0.1"}};
    lw_options options;
    lw_sim *sim;
    lw_error error;
    outcome o;
    lw_options_default(&options);
    for (int i = 0; i < LWI_COUNT(setting); i++)
        lwt_ok(lw_options_set(&options, setting[i][0], setting[i][1], &error), &error);
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    const lw_observation *last;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &last), lw_sim_error(sim));
    o.q = last->q[0], o.qd = last->qd[0];
    lw_sim_summary(sim, &o.summary);
    lw_sim_destroy(sim);
    return o;
}

// Tolerances at which each goes astray by more than ten of them in 20 s; hdca keeps velocities
// closed, so its positions drift less.
static const struct {
    const char *formulation, *tolerance;
} drifting[] = {{"lagrange", "1e-6"}, {"dca", "1e-6"}, {"hdca", "1e-4"}};

// Ten tolerances hold positions except the drift of one step; without corrections they drift further.  Both
// runs come to the same place, as far as the tolerance goes; at 1e-4 round-off grows by 1e8 in these 20 s, and a run
// that is a radian off after them may be further off with corrections.
static void drift_is_put_back(void **state)
{
    (void)state;
    lw_model *model = lwt_loop(LWT_REVOLUTES);
    const outcome exact = run(model, "hdca", "fehlberg8", "never", "1e-12", "20");
    for (int i = 0; i < LWI_COUNT(drifting); i++) {
        const char *name = drifting[i].formulation, *text = drifting[i].tolerance;
        const outcome left = run(model, name, "dopri5", "never", text, "20");
        const outcome kept = run(model, name, "dopri5", "auto", text, "20");
        const double bound = 10 * atof(text) * (1 + 0.56); // L: half of the longest bar
        assert_int_equal(left.summary.projections, 0);
        assert_true(left.summary.residual[0] > bound);
        assert_true(kept.summary.projections > 0);
        assert_true(kept.summary.projections < kept.summary.steps / 20);
        assert_true(kept.summary.residual[0] < 1.2 * bound);
        assert_true(kept.summary.energy_error < left.summary.energy_error);
        const double off = fabs(left.q - exact.q);
        assert_true(off > 1 || fabs(kept.q - exact.q) < fmax(off, bound));
    }
    lw_model_destroy(model);
}

// `always` leaves the drift of a single step.
static void always_leaves_one_step(void **state)
{
    (void)state;
    static const char *const names[] = {"dense", "lagrange", "dca", "hdca"};
    lw_model *model = lwt_loop(LWT_REVOLUTES);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        const outcome o = run(model, names[i], "dopri5", "always", "1e-6", "2");
        // the start, and what a step leaves by chance, may be closed to the last bit
        assert_true(o.summary.projections > o.summary.steps * 9 / 10);
        assert_true(o.summary.projections <= o.summary.steps);
        assert_true(o.summary.residual[0] < 2e-6);
        assert_int_equal(o.summary.restarts, 0); // one-step methods continue
    }
    lw_model_destroy(model);
}

// Drives, mounts, lengths, couplings, springs and their work: energy is kept as well as without.
static void work_and_drives_survive(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        const outcome o = run(model, "lagrange", "dopri5", "always", "1e-8", "2");
        assert_true(o.summary.projections > 0);
        assert_true(o.summary.energy_error < 1e-5 * o.summary.energy_scale);
        assert_true(o.summary.residual[0] < 1e-7);
        lw_model_destroy(model);
    }
}

// What floats keeps its momentum and angular momentum through every correction, to the round-off of
// all.
static void momenta_of_what_floats_stay(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body A = lwt_rod(b, "A", 0, 0, 0.3, 0.4, 0.5),
                  B = lwt_rod(b, "B", 0.3, 0.4, 1.4, 0.6, 1);
    const lw_body C = lwt_rod(b, "C", 1.3, -0.2, 1.4, 0.6, 1),
                  D = lwt_rod(b, "D", 0, 0, 1.3, -0.2, 2);
    lwt_joint(b, LW_JOINT_SPHERICAL, "j1", D, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, 0.3, 0.4);
    lwt_joint(b, LW_JOINT_SPHERICAL, "j3", B, C, 1.4, 0.6);
    lwt_add(b, &(lw_joint_desc){.name = "j4",
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = D,
                                .body2 = C,
                                .at = {1.3, -0.2, 0},
                                .axis = {0, 0, 1},
                                .has_qd = 1,
                                .qd = {3}});
    lw_model *model = lwt_model(b);
    lw_options options;
    lw_error error;
    lw_sim *sim;
    double first[6];
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", "hdca", &error), &error);
    lwt_ok(lw_options_set(&options, "project", "always", &error), &error);
    options.rtol = options.atol = 1e-4;
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    for (int row = 0; row <= 10; row++) {
        const lw_observation *o;
        lwt_ok(lw_sim_step(sim, row), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        for (int i = 0; i < 3; i++) {
            if (row == 0) first[i] = o->momentum[i], first[3 + i] = o->angular_momentum[i];
            // 25 N m s about a point tens of metres away; uncorrected it would be off by 1e-3
            assert_near("momentum", i, o->momentum[i], first[i], 1e-12);
            assert_near("angular momentum", i, o->angular_momentum[i], first[3 + i], 2e-10);
        }
    }
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    assert_true(summary.projections > 50);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Multistep methods lose their history: every projection is a restart, and is counted.
static void multistep_methods_are_restarted(void **state)
{
    (void)state;
    lw_model *model = lwt_loop(LWT_REVOLUTES);
    const outcome left = run(model, "dense", "adams", "never", "1e-5", "5");
    const outcome kept = run(model, "dense", "adams", "auto", "1e-5", "5");
    assert_true(kept.summary.projections > 0);
    assert_int_equal(kept.summary.restarts, left.summary.restarts + kept.summary.projections);
    assert_true(kept.summary.residual[0] < left.summary.residual[0]);
    lw_model_destroy(model);
}

// A tree has no constraints to restore: the same bits for any value of the option.
static void trees_are_left_alone(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j", lwt_ground, A, 0, 0);
    lw_model *model = lwt_model(b);
    const outcome never = run(model, "aba", "dopri5", "never", "1e-4", "2");
    const outcome always = run(model, "aba", "dopri5", "always", "1e-4", "2");
    assert_int_equal(always.summary.projections, 0);
    assert_true(never.q == always.q && never.qd == always.qd);
    lw_model_destroy(model);
}

// Joints that contradict each other by more than the tolerance cannot be restored, and are not
// tried at every step: two equal links side by side with pivots that are 2e-7 m off.
static void what_cannot_close_is_not_tried_for_ever(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 0, -1, 1), B = lwt_rod(b, "B", 0, -1, 1, -1, 1);
    const lw_body C = lwt_rod(b, "C", 1, 0, 1, -1, 1), D = lwt_rod(b, "D", 0.5, 0, 0.5, -1, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "a", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "b", A, B, 0, -1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "c", B, C, 1, -1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "d", lwt_ground, C, 1, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "e", lwt_ground, D, 0.5, 0);
    lwt_add(b, &(lw_joint_desc){.name = "f",
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = B,
                                .body2 = D,
                                .placement = LW_PLACED_FRAMES,
                                .frame2 = {.position = {0.5, 0, 2e-7}}});
    lw_model *model = lwt_model(b);
    const outcome o = run(model, "lagrange", "dopri5", "auto", "1e-9", "2");
    assert_true(o.summary.residual[0] > 5e-8); // it does not close
    assert_true(o.summary.projections < o.summary.steps / 20);
    lw_model_destroy(model);
}

static void words_are_checked(void **state)
{
    (void)state;
    lw_options options;
    lw_error error;
    lw_options_default(&options);
    assert_int_equal(options.project, LW_PROJECT_AUTO);
    assert_int_equal(lw_options_set(&options, "project", "often", &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "never"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_is_put_back),
        cmocka_unit_test(always_leaves_one_step),
        cmocka_unit_test(work_and_drives_survive),
        cmocka_unit_test(momenta_of_what_floats_stay),
        cmocka_unit_test(multistep_methods_are_restarted),
        cmocka_unit_test(trees_are_left_alone),
        cmocka_unit_test(what_cannot_close_is_not_tried_for_ever),
        cmocka_unit_test(words_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
