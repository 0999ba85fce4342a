// test_begin.c -- runs begin with the velocities of their model, or not at all: next to a singular position
// velocities of no motion fit the joints as well, and what formulations make of them is something else.
#include "support/given.h"

#include "base/base.h"

#include <math.h>

static const struct {
    const char *formulation, *state;
} formulations[] = {{"dense", "auto"}, {"lagrange", "auto"}, {"rcr", "speeds"}, {"rcr", "momenta"}};

// Closer to the line than 1e-9 the formulations refuse by themselves; at 1e-6 the model is refused.
static const double tilts[] = {1e-9, 1e-8, 1e-7};

// A parallelogram of cranks of 1 m under a coupler of 2 m, nearly in a line: cranks rotated by `tilt` from it; their
// speeds are `left` and `right`, and the coupler's follows from those of its ends.
static lw_model *line(double tilt, double left, double right)
{
    char text[2000];
    const double turn = (right - left) / 2, x = cos(tilt), y = sin(tilt);
    snprintf(text, sizeof text,
             "linkwork: 1\n"
             "gravity: [0, -9.81, 0]\n"
             "bodies:\n"
             "  A: {mass: 1, inertia: [0.01, 0.1, 0.1, 0, 0, 0], position: [%.17g, %.17g, 0],\n"
             "      orientation: [%.17g, 0, 0, %.17g], velocity: [0, %g, 0],\n"
             "      angular_velocity: [0, 0, %g]}\n"
             "  B: {mass: 1, inertia: [0.01, 0.3, 0.3, 0, 0, 0], position: [%.17g, %.17g, 0],\n"
             "      velocity: [0, %g, 0], angular_velocity: [0, 0, %g]}\n"
             "  C: {mass: 1, inertia: [0.01, 0.1, 0.1, 0, 0, 0], position: [%.17g, %.17g, 0],\n"
             "      orientation: [%.17g, 0, 0, %.17g], velocity: [0, %g, 0],\n"
             "      angular_velocity: [0, 0, %g]}\n"
             "joints:\n"
             "  j1: {type: revolute, between: [ground, A], at: [0, 0, 0]}\n"
             "  j2: {type: revolute, between: [A, B], at: [%.17g, %.17g, 0]}\n"
             "  j3: {type: revolute, between: [B, C], at: [%.17g, %.17g, 0]}\n"
             "  j4: {type: revolute, between: [ground, C], at: [2, 0, 0]}\n",
             x / 2, y / 2, cos(tilt / 2), sin(tilt / 2), left / 2, left, x + 1, y,
             (left + right) / 2, turn, 2 + x / 2, y / 2, cos(tilt / 2), sin(tilt / 2), right / 2,
             right, x, y, 2 + x, y);
    return lwt_yaml(text);
}

static lw_status begin(const lw_model *model, int f, lw_sim **sim, lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    lwt_set(&options, "formulation", formulations[f].formulation);
    lwt_set(&options, "state", formulations[f].state);
    return lw_sim_create(model, &(lw_sim_desc){.options = &options}, sim, error);
}

// In line any two speeds fit to first order; the motions that lead on have the ratios 1 and -3.
static void velocities_of_no_motion_are_refused(void **state)
{
    (void)state;
    static const double right[] = {2, 0.5, -1};
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tilts); k++)
            for (int i = 0; i < LWI_COUNT(right); i++) {
                lw_model *model = line(tilts[k], 1, right[i]);
                lw_sim *sim;
                lw_error error;
                const lw_status status = begin(model, f, &sim, &error);
                if (status == LW_OK) {
                    lw_sim_destroy(sim);
                    fail_msg("%s begins at %g with %g", formulations[f].formulation, tilts[k],
                             right[i]);
                }
                assert_int_equal(status, LW_ERR_SINGULAR);
                assert_non_null(strstr(error.text, "singular position at t = 0 s"));
                assert_non_null(strstr(error.text, " and those of 'j"));
                assert_non_null(strstr(error.text, "no motion leads on with the velocities given"));
                lw_model_destroy(model);
            }
}

// Those of both motions are kept, to the millionth by which a model may miss its joints: that which leads through `tilt`
// has equal speeds; the other one leads through the line, where the model is within this limit.
static void velocities_of_a_motion_are_kept(void **state)
{
    (void)state;
    static const double speeds[][2] = {{-1, -1}, {0, 0}, {1, 1}, {1, -3}, {-1, 3}};
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tilts); k++)
            for (int i = 0; i < LWI_COUNT(speeds); i++) {
                const double left = speeds[i][0], right = speeds[i][1];
                lw_model *model = line(tilts[k], left, right);
                const lw_observation *o;
                lw_sim *sim;
                lw_error error;
                if (begin(model, f, &sim, &error) != LW_OK) fail_msg("%s", error.text);
                assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), LW_OK);
                assert_true(fabs(o->angular_velocity[1][2] - left) < 1e-6);
                assert_true(fabs(o->angular_velocity[2][2] - (right - left) / 2) < 1e-6);
                assert_true(fabs(o->angular_velocity[3][2] - right) < 1e-6);
                lw_sim_destroy(sim);
                lw_model_destroy(model);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_of_no_motion_are_refused),
        cmocka_unit_test(velocities_of_a_motion_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
