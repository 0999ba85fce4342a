// test_rattle_massless.c -- rattle with bodies without mass or without inertia about some axis: the step is that of the
// mechanism with whole joints, of order two and reversible, with joints at round-off, through a singular position.
#include "methods/rattle/rattle_stepper.h"

#include "methods/light_chain.h"
#include "support/given.h"

// A crank, a frail piece between two hinges, a rod, and another piece at its end between hinges, with a rod.
static lw_model *frail_chain(const char *frail)
{
    return lwt_light_chain(
        frail, "  C: {mass: 1, inertia: [0.02, 0.1, 0.1, 0, 0, 0], position: [2.7, 0.3, 0.1]}\n",
        "  s: {type: revolute, between: [B, tip], at: [2.2, 0.3, 0.1], axis: [1, 0.2, 0], "
        "qd: [3]}\n"
        "  t: {type: revolute, between: [tip, C], at: [2.2, 0.3, 0.1], axis: [0, 1, 0], "
        "spring: {q0: {stiffness: 20}}}\n");
}

// Without mass, a point, a thin rod, next to nothing.
static const char *const frail[] = {"mass: 0", "mass: 0.3",
                                    "mass: 0.3, inertia: [0, 0.01, 0.01, 0, 0, 0]", "mass: 1e-14"};

static void steps_with_frail_bodies_are_of_order_two(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(frail); i++) {
        lw_model *model = frail_chain(frail[i]);
        lw_options o;
        lw_options_default(&o);
        lwt_set(&o, "formulation", "aba");
        lwt_set(&o, "integrator", "verner87");
        o.duration = o.sample = 0.5, o.rtol = o.atol = 1e-12;
        const track exact = run(model, &o);
        const track a = run_rattle(model, 0.01, 0.5, 0.5, 2);
        const track b = run_rattle(model, 0.005, 0.5, 0.5, 2);
        const double e[2] = {distance(&a, &exact), distance(&b, &exact)};
        const double v[2] = {speed_distance(&a, &exact), speed_distance(&b, &exact)};
        if (!(fabs(e[0] / e[1] - 4) < 0.3 && fabs(v[0] / v[1] - 4) < 0.4))
            fail_msg("%s: positions off by %.2e, %.2e, velocities by %.2e, %.2e", frail[i], e[0],
                     e[1], v[0], v[1]);
        for (int k = 0; k < 2; k++) assert_true(b.summary.residual[k] < 1e-13);
        assert_true(b.summary.energy_error < 0.3 * a.summary.energy_error);
        lw_model_destroy(model);
    }
}

// The parallelogram of tests/models/structure, with a universal joint between A and B, whole or as two hinges with a
// piece between.  Both have the same steps.
static lw_model *rhombus(bool pieces)
{
    char text[1800];
    snprintf(text, sizeof text,
             "linkwork: 1\n"
             "gravity: [0, -9.81, 0]\n"
             "bodies:\n"
             "  A: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.3535533905932738, "
             "-0.35355339059327373, 0]}\n"
             "  B: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.7071067811865476, "
             "-1.2071067811865475, 0]}\n"
             "  C: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.3535533905932738, "
             "-1.3535533905932737, 0]}\n"
             "%s"
             "joints:\n"
             "  j1: {type: revolute, between: [ground, A], at: [0, 0, 0], axis: [0, 0, 1]}\n"
             "  j3: {type: revolute, between: [ground, C], at: [0, -1.0, 0], axis: [0, 0, 1]}\n"
             "%s"
             "  j4: {type: revolute, between: [C, B], at: [0.7071067811865476, "
             "-1.7071067811865475, 0], axis: [0, 0, 1]}\n",
             pieces ? "  cross: {mass: 0, position: [0.7071067811865476, -0.7071067811865475, 0]}\n"
                    : "",
             pieces ? "  j2: {type: revolute, between: [A, cross], at: [0.7071067811865476, "
                      "-0.7071067811865475, 0], axis: [0, 0, 1]}\n"
                      "  j5: {type: revolute, between: [cross, B], at: [0.7071067811865476, "
                      "-0.7071067811865475, 0], axis: [1, 0, 0]}\n"
                    : "  j2: {type: universal, between: [A, B], at: [0.7071067811865476, "
                      "-0.7071067811865475, 0], axis: [0, 0, 1], axis2: [1, 0, 0]}\n");
    return lwt_yaml(text);
}

static void pieces_pass_a_singular_position(void **state)
{
    (void)state;
    lw_model *whole = rhombus(false), *pieces = rhombus(true);
    const track a = run_rattle(whole, 0.01, 4, 0.02, 2), b = run_rattle(pieces, 0.01, 4, 0.02, 2);
    static const char *const body[] = {"A", "B", "C"};
    assert_true(b.summary.energy_error < 8.5e-4);
    assert_true(b.summary.residual[0] < 1e-13 && b.summary.residual[1] < 1e-12);
    for (int k = 0; k < LWI_COUNT(body); k++) {
        lw_body of[2];
        assert_int_equal(lw_model_find_body(whole, body[k], &of[0]), LW_OK);
        assert_int_equal(lw_model_find_body(pieces, body[k], &of[1]), LW_OK);
        for (int i = 0; i < 3; i++)
            if (!(fabs(a.r[of[0].index][i] - b.r[of[1].index][i]) < 1e-9))
                fail_msg("body %s: %.15g in pieces, %.15g whole", body[k], b.r[of[1].index][i],
                         a.r[of[0].index][i]);
    }
    lw_model_destroy(whole), lw_model_destroy(pieces);
}

static void widths_have_the_same_bits(void **state)
{
    (void)state;
    static const int widths[] = {0, 4, 8};
    if (!lwi_rattle_kernels_of(1)) return; // no kernels on this processor
    for (int i = 0; i < LWI_COUNT(frail); i++) {
        lw_model *model = frail_chain(frail[i]);
        stepper one = stepper_begin(model, 4, 1, "1");
        stepper_advance(&one, 0.01, 5);
        for (int k = 0; k < LWI_COUNT(widths); k++) {
            if (!lwi_rattle_kernels_of(widths[k])) continue;
            stepper other = stepper_begin(model, 4, widths[k], "1");
            stepper_advance(&other, 0.01, 5);
            assert_memory_equal(one.x, other.x, (size_t)one.work->layout.nx * sizeof *one.x);
            stepper_end(&other);
        }
        stepper_end(&one);
        lw_model_destroy(model);
    }
}

// Steps that go back end where they began, velocities of the pieces included.
static void motion_reverses(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(frail); i++) {
        lw_model *model = frail_chain(frail[i]);
        const lw_options o = rattle_options(0.01, 2, 0.01, 2);
        lw_sim *sim = lwt_sim(model, &o);
        const lw_observation *end;
        double start[MAX_BODIES][3];
        const int n = lw_model_body_count(model);
        assert_true(n <= MAX_BODIES);
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &end), lw_sim_error(sim));
        memcpy(start, end->position, (size_t)n * sizeof *start);
        lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
        reverse(sim);
        lwt_ok(lw_sim_step(sim, 2), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &end), lw_sim_error(sim));
        const double off = largest(n, end->position, (const double(*)[3])start);
        if (!(off < 1e-10)) fail_msg("%s: off by %.2e", frail[i], off);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_with_frail_bodies_are_of_order_two),
        cmocka_unit_test(pieces_pass_a_singular_position),
        cmocka_unit_test(widths_have_the_same_bits),
        cmocka_unit_test(motion_reverses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
