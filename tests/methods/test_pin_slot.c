// test_pin_slot.c -- the pin in a slot, in the tree and as a cut joint: every formulation does what absolute
// coordinates do, and a Scotch yoke moves by its equation.
#include "methods/loop_cases.h"
#include "methods/rcr/rcr_cases.h"
#include "support/given.h"

static const char *const names[] = {"momenta", "aba", "dense",    "dca",
                                    "hdca",    "rcr", "lagrange", "index3"};

// Calls `check` for each formulation that accepts the model, after accelerations at the start.
static int each(const lw_model *model, void (*check)(const lw_model *, const lwt_run *))
{
    int n = 0;
    for (int i = 0; i < LWI_COUNT(names); i++) {
        const lwi_formulation *f = lwi_formulation_find(names[i]);
        if (lwi_formulation_accepts(f, model, NULL) != LW_OK) continue;
        lwt_run run = lwt_run_start(model, f);
        lwt_run_observe(&run);
        check(model, &run);
        lwt_run_end(&run);
        n++;
    }
    return n;
}

// A pin at the radius r of a crank slides along z in a yoke that slides along x.  J: crank about its pivot,
// m: yoke, a: from z towards x;  (J + m r^2 cos^2 a) a'' = m r^2 sin a cos a a'^2
static void yoke_moves_by_its_equation(const lw_model *model, const lwt_run *run)
{
    const double J = 0.3, mrr = 2 * 0.25, s = 0.6, c = 0.8, rate = 1.5;
    const double turn = mrr * s * c * rate * rate / (J + mrr * c * c);
    const lwi_joint *pivot = &model->joint[0], *pin = &model->joint[2];
    lwt_near("crank", 0, run->now.qdd[pivot->iv], turn, 1e-12);
    // x1 of the slot is z: along it the pin moves as 0.5 cos a
    lwt_near("pin", 0, run->now.qd[pin->iv], -0.5 * s * rate, 1e-13);
    lwt_near("pin", 1, run->now.qdd[pin->iv], -0.5 * (c * rate * rate + s * turn), 1e-12);
}

static void scotch_yoke(void **state)
{
    (void)state;
    static const char *const cut[] = {"pivot", "guide", "pin"};
    for (int k = 0; k < LWI_COUNT(cut); k++) {
        char text[1200];
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  crank: {mass: 1, inertia: [0.3, 0.3, 0.3, 0, 0, 0]}\n"
                 "  yoke: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], position: [0.3, 0, 0.1]}\n"
                 "joints:\n"
                 "  pivot: {type: revolute, between: [ground, crank], at: [0, 0, 0], "
                 "axis: [0, 1, 0], qd: [1.5], cut: %s}\n"
                 "  guide: {type: prismatic, between: [ground, yoke], at: [0.3, 0, 0.1], "
                 "axis: [1, 0, 0], qd: [0.6], cut: %s}\n"
                 "  pin: {type: pin_slot, between: [yoke, crank], at: [0.3, 0, 0.4], "
                 "axis: [0, 1, 0], axis2: [0, 0, 1], qd: [-0.45, 1.5], cut: %s}\n",
                 k == 0 ? "always" : "auto", k == 1 ? "always" : "auto",
                 k == 2 ? "always" : "auto");
        lw_model *model = lwt_yaml(text);
        assert_string_equal(model->joint[model->loop[0]].name, cut[k]);
        const lw_joint_info info = lw_model_joint(model, (lw_joint){2});
        assert_int_equal(info.angles, 2); // q1
        assert_int_equal(info.quaternion, -1);
        assert_int_equal(each(model, yoke_moves_by_its_equation), 6);
        lw_model_destroy(model);
    }
}

static const lwt_run *reference;

static void as_dense(const lw_model *model, const lwt_run *run)
{
    lwt_near(run->work->formulation->name, 0,
             lwt_acceleration_error(model, &run->now, &reference->now), 0, 1e-9);
}

// With springs, limits, friction, a rotor, a drive, passed forwards and backwards by the tree.
static void trees_agree_with_dense(void **state)
{
    (void)state;
    static const char *const between[2] = {"[first, second]", "[second, first]"};
    static const char *const more[3] = {
        "",
        ", spring: {q0: {stiffness: 30, damping: 2}, q1: {stiffness: 1}}, "
        "limits: {q0: {lower: 0.1, stiffness: 50}}, friction: {q1: {viscous: 0.3}}, "
        "rotor: {q0: 0.4, q1: 0.02}",
        ", motion: {q1: swing}"};
    for (int i = 0; i < 6; i++) {
        char text[1500];
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "functions: {swing: {type: sine, amplitude: 0.4, omega: 3}}\n"
                 "bodies:\n"
                 "  first: {mass: 1.5, inertia: [0.2, 0.3, 0.4, 0, 0, 0], com: [0.1, 0.2, 0]}\n"
                 "  second: {mass: 2, inertia: [0.1, 0.2, 0.2, 0, 0, 0], com: [0.3, 0, 0.1], "
                 "position: [0.5, 0.2, 0.1]}\n"
                 "joints:\n"
                 "  root: {type: spherical, between: [ground, first], at: [0, 0, 0], "
                 "qd: [0.3, -1, 0.7]}\n"
                 "  slot: {type: pin_slot, between: %s, at: [0.5, 0.2, 0.1], axis: [0.2, 1, 0.3], "
                 "axis2: [1, -0.2, 0]%s%s}\n",
                 between[i % 2], i / 2 == 2 ? ", qd: [0.8, 1.2]" : ", qd: [0.8, -2]", more[i / 2]);
        lw_model *model = lwt_yaml(text);
        lwt_run dense = lwt_run_start(model, DENSE);
        lwt_run_observe(&dense);
        reference = &dense;
        assert_true(each(model, as_dense) >= 6);
        lwt_run_end(&dense);
        lw_model_destroy(model);
    }
}

static void direction_of_the_slot_is_needed(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_error error;
    const lw_body body = lwt_rod(b, "A", 0, 0, 1, 0, 1);
    const lw_joint_desc d = {.name = "j", .type = LW_JOINT_PIN_SLOT, .body2 = body};
    assert_int_equal(lw_builder_add_joint(b, &d, NULL, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "a pin_slot joint needs axis2, the direction of the slot"));
    lw_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scotch_yoke),
        cmocka_unit_test(trees_agree_with_dense),
        cmocka_unit_test(direction_of_the_slot_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
