// test_crossing.c -- steps across singular positions: every formulation stays on its branch at every tolerance.
#include "kinematics/observe.h"
#include "simulate/crossing.h"
#include "simulate/simulation.h"
#include "support/singular.h"
#include "support/given.h"

#include <float.h>

static const char *const formulations[] = {"rcr", "dca", "hdca", "dense", "lagrange"};

// Angles may be off by so many tolerances at the end.
#define TOLERANCES 1000

// ---------------------------------------------------------------------------------------- mechanisms

// The level rods stay level, so the others are a pendulum:  ((N + 1) / 3 + N) q'' = -g ((N + 1) / 2 + N) cos q.
enum { N = 2 };

// Angle of the upright rods by Runge and Kutta's steps of 0.1 ms: exact to 1e-12.
static double pendulum(double until)
{
    const double inertia = (N + 1) / 3.0 + N, weight = 9.81 * ((N + 1) / 2.0 + N);
    const int n = (int)ceil(until / 1e-4);
    const double h = until / n;
    double q = acos(-1) / 2, w = -1;
    for (int i = 0; i < n; i++) {
        double dq[4], dw[4], at = q, speed = w;
        for (int k = 0; k < 4; k++) {
            dq[k] = speed, dw[k] = -weight / inertia * cos(at);
            const double part = k < 2 ? h / 2 : h;
            at = q + part * dq[k], speed = w + part * dw[k];
        }
        q += h / 6 * (dq[0] + 2 * dq[1] + 2 * dq[2] + dq[3]);
        w += h / 6 * (dw[0] + 2 * dw[1] + 2 * dw[2] + dw[3]);
    }
    return q;
}

// A crank of 1 m on a coupler of 2.5 m and a rocker of 2 m with its pivot at a distance of `ground`.  At 1.5 m all are in a line
// where the crank's angle is zero, and the branch of the motion is curved there.
static void place_tip(double crank, double ground, double tip[2])
{
    const double x = cos(crank), y = sin(crank), away = hypot(ground - x, y);
    const double along = (2.5 * 2.5 - 4 + away * away) / (2 * away);
    const double across = sqrt(fmax(0, 2.5 * 2.5 - along * along));
    tip[0] = x + (along * (ground - x) + across * y) / away;
    tip[1] = y + (-along * y + across * (ground - x)) / away;
}

static lw_model *change_point_on(lw_builder *b, lw_body base, double ground)
{
    const double angle = 1.2, x = cos(angle), y = sin(angle);
    double tip[2];
    place_tip(angle, ground, tip);
    const lw_body A = lwt_rod(b, "crank", 0, 0, x, y, 1),
                  B = lwt_rod(b, "coupler", x, y, tip[0], tip[1], 1),
                  C = lwt_rod(b, "rocker", ground, 0, tip[0], tip[1], 1);
    lwt_revolute(b, "drive", base, A, 0, 0, -5);
    lwt_joint(b, LW_JOINT_REVOLUTE, "elbow", A, B, x, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "knee", B, C, tip[0], tip[1]);
    lwt_joint(b, LW_JOINT_REVOLUTE, "heel", base, C, ground, 0);
    return lwt_model(b);
}

static lw_model *change_point(double ground)
{
    return change_point_on(lwt_builder(), lwt_ground, ground);
}

// The same on a body that floats and is rotated by an angle.
static lw_model *floating_change_point(double angle)
{
    lw_builder *b = lwt_builder();
    const lw_body base =
        lwt_body(b, &(lw_body_desc){.mass = 8,
                                    .inertia = {2, 3, 4},
                                    .pose = {.position = {0.3, 0.2, 0},
                                             .orientation = {cos(angle / 2), 0, 0, sin(angle / 2)}},
                                    .has_velocity = true,
                                    .angular_velocity = {0, 0, 0}});
    return change_point_on(b, base, 1.5);
}

// ---------------------------------------------------------------------------------------------- runs

static lw_sim *simulation(const lw_model *model, const char *formulation, const char *integrator,
                          const char *tolerance)
{
    return lwt_simulate(model, LWT_SETTINGS("formulation", formulation, "integrator", integrator,
                                            "rtol", tolerance, "atol", tolerance));
}

// Rotation of a body about z between its quaternion and an angle.
static double off(const double *quat, double angle)
{
    return fabs(remainder(2 * atan2(quat[3], quat[0]) - angle, 2 * acos(-1)));
}

static double error_of_four_bars(lw_sim *sim)
{
    const lw_observation *o;
    const double q = pendulum(lw_sim_time(sim));
    double largest = 0;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    for (int i = 0; i <= N; i++) largest = fmax(largest, off(o->quaternion[1 + i], q));
    for (int i = 0; i < N; i++) largest = fmax(largest, off(o->quaternion[2 + N + i], 0));
    return largest;
}

// ---------------------------------------------------------------------------------------------- tests

static void loops_in_a_line_go_straight_on(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-4", "1e-6", "1e-9", "1e-12"};
    static const char *const integrators[] = {"dopri5", "verner87"};
    lw_model *model = lwt_four_bars(N);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tolerance); k++) {
            const char *integrator = integrators[strtod(tolerance[k], NULL) < 1e-8];
            lw_sim *sim = simulation(model, formulations[f], integrator, tolerance[k]);
            lwt_ok(lw_sim_step(sim, 3), lw_sim_error(sim));
            const double wrong = error_of_four_bars(sim), limit = TOLERANCES * atof(tolerance[k]);
            lw_summary summary;
            lw_sim_summary(sim, &summary);
            print_message("%s %s: %.1e rad, %ld steps\n", formulations[f], tolerance[k], wrong,
                          summary.steps);
            if (!(wrong < limit))
                fail_msg("%s, %s: angles off by %g", formulations[f], tolerance[k], wrong);
            assert_true(summary.steps < 2000);
            lwi_sim_add_warnings(sim);
            if (!strstr(lw_sim_notice(sim), "passed 3 singular positions straight on, first at"))
                fail_msg("%s, %s: %s", formulations[f], tolerance[k], lw_sim_notice(sim));
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

// Multistep methods restart behind the position; fixed steps are shortened in front of it.
// A crank and a rod of 0.5 m lie on each other where the crank is across the slide.  Two pivots are nearly equal there, and
// round-off chooses between them: the sine has steps, and positions are predicted all the same.
static lw_model *slider_crank(double speed)
{
    const double x = 0.5 * cos(0.6), y = 0.5 * sin(0.6);
    lw_builder *b = lwt_builder();
    const lw_body_desc body = {.mass = 1, .inertia = {0.1, 0.2, 0.25}};
    lw_body_desc at[3] = {body, body, body};
    at[0].pose.position = (lw_vec3){x / 2, y / 2, 0};
    at[1].pose.position = (lw_vec3){(x + 2 * x) / 2, y / 2, 0};
    at[2].pose.position = (lw_vec3){2 * x, 0, 0};
    const lw_body crank = lwt_body(b, &at[0]), rod = lwt_body(b, &at[1]),
                  slider = lwt_body(b, &at[2]);
    lwt_revolute(b, "g", lwt_ground, crank, 0, 0, speed);
    lwt_joint(b, LW_JOINT_REVOLUTE, "a", crank, rod, x, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "b", rod, slider, 2 * x, 0);
    lwt_add(b, &(lw_joint_desc){.name = "s",
                                .type = LW_JOINT_PRISMATIC,
                                .body1 = slider,
                                .at = {2 * x, 0, 0},
                                .axis = {1, 0, 0}});
    return lwt_model(b);
}

static void steps_of_the_sine_are_no_minimum(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-6", "1e-10"};
    lw_model *model = slider_crank(8);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tolerance); k++) {
            if (!strcmp(formulations[f], "dense")) continue; // as lagrange, for longer
            lw_sim *sim = simulation(model, formulations[f], "dopri5", tolerance[k]);
            const lw_observation *o;
            for (int row = 1; row <= 420; row++)
                lwt_ok(lw_sim_step(sim, row / 100.0), lw_sim_error(sim));
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), lw_sim_error(sim));
            if (sim->crossing.count != 10 || sim->monitor.times != 0)
                fail_msg("%s %s: %ld steps across, expected 10, and %ld passages by other steps",
                         formulations[f], tolerance[k], (long)sim->crossing.count,
                         (long)sim->monitor.times);
            const double across = 2 * sin(2 * atan2(o->quaternion[2][3], o->quaternion[2][0])) +
                                  2 * sin(2 * atan2(o->quaternion[1][3], o->quaternion[1][0]));
            assert_true(fabs(across) < 1e-6 && o->position[3][0] != 0); // not on each other
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

// Margins replace the sine where they are not small (crossing.c), so they are small wherever the sine is; and where
// they are large few states are examined.
static void margins_are_small_where_the_sine_is(void **state)
{
    (void)state;
    lw_model *const models[] = {slider_crank(8), change_point(1.5), lwt_four_bars(2)};
    int close = 0, skipped = 0;
    for (int m = 0; m < LWI_COUNT(models); m++) {
        lw_sim *sim = simulation(models[m], "rcr", "dopri5", "1e-6");
        for (int row = 1; row <= 600; row++) {
            lwt_ok(lw_sim_step(sim, row / 400.0), lw_sim_error(sim));
            const lwi_crossing *c = &sim->crossing;
            skipped += c->skipped;
            if (!(sim->t >= c->end) || c->margin_time != sim->t) continue;
            sim->snapshot.t = sim->t;
            lwt_ok(sim->work->formulation->observe(sim->work, sim->t, sim->x, NULL,
                                                   LW_OBSERVE_TWIST, &sim->snapshot),
                   &sim->work->error);
            const double sine = lwi_sine_at(&sim->monitor, &sim->snapshot);
            const double typical = sqrt(sim->monitor.largest);
            if (!(sine < 0.14 * typical)) continue; // steps across begin at 0.15
            close++;
            if (!(c->margin < 0.6))
                fail_msg("model %d, t = %g: margin %g, sine %g of %g", m, sim->t, c->margin, sine,
                         typical);
        }
        lw_sim_destroy(sim);
        lw_model_destroy(models[m]);
    }
    if (close < 5 || skipped < 100) fail_msg("%d states close, %d skipped", close, skipped);
}

// Two cranks of 2 m on one axis, which rotate against each other, and rods of 1 m between their tips: where the cranks meet all are
// in a line.  Next to it the angle between the rods changes four times as fast as any joint.
static lw_model *scissors(double angle)
{
    const double x = 2 * cos(angle), y = 2 * sin(angle), tip = x - sqrt(1 - y * y);
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    for (int i = 0; i < 2; i++) {
        const double side = i ? -1 : 1;
        const lw_body crank = lwt_rod(b, i ? "crank2" : "crank1", 0, 0, x, side * y, 100);
        const lw_body rod = lwt_rod(b, i ? "rod2" : "rod1", x, side * y, tip, 0, 1);
        lwt_revolute(b, i ? "axis2" : "axis1", lwt_ground, crank, 0, 0, -side);
        lwt_joint(b, LW_JOINT_REVOLUTE, i ? "elbow2" : "elbow1", crank, rod, x, side * y);
        if (i) lwt_joint(b, LW_JOINT_REVOLUTE, "tip", (lw_body){rod.index - 2}, rod, tip, 0);
    }
    return lwt_model(b);
}

// Margins are as large before a long step as after it, with a position between.
static void positions_within_long_steps_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        lw_model *model = scissors(0.2 + 0.005 * i);
        lw_sim *sim = simulation(model, "rcr", "dopri54", "1e-2");
        lwt_ok(lw_sim_step(sim, 0.6), lw_sim_error(sim));
        assert_int_equal(sim->crossing.count, 1);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// One prediction is wrong by a third, and the longest attempt fails: a shorter one shows where the position is.
static void positions_off_the_middle_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *formulation;
        double speed;
    } cases[] = {{"dca", 8.6}, {"lagrange", 7.7}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = slider_crank(cases[i].speed);
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("formulation", cases[i].formulation, "rtol", "1e-6",
                                             "atol", "1e-6", "duration", "16.8", "sample", "0.01"));
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        if (sim->monitor.times)
            fail_msg("%s %g: ordinary steps passed one at %g", cases[i].formulation, cases[i].speed,
                     sim->monitor.time);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

static void every_integrator_goes_straight_on(void **state)
{
    (void)state;
    static const char *const integrators[] = {"bs3", "fehlberg8", "adams", "bdf", "dopri54", "rk4"};
    lw_model *model = lwt_four_bars(N);
    for (int i = 0; i < LWI_COUNT(integrators); i++) {
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "integrator", integrators[i],
                                             "rtol", "1e-6", "atol", "1e-6", "step", "0.01"));
        lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
        const double wrong = error_of_four_bars(sim);
        if (!(wrong < TOLERANCES * 1e-6)) fail_msg("%s: off by %g", integrators[i], wrong);
        lwi_sim_add_warnings(sim);
        if (!strstr(lw_sim_notice(sim), "passed 1 singular position straight on"))
            fail_msg("%s: %s", integrators[i], lw_sim_notice(sim));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// So fast that no step is short enough to be searched for positions, as where equal steps diverge: no shorter one is asked for, and the
// run continues, or ends with the reason of its state.
static void motions_beyond_any_step_are_no_internal_error(void **state)
{
    (void)state;
    static const char *const integrators[] = {"rk4", "dopri54", "dopri5"};
    static const double speeds[] = {1e12, 1e16, 1e20, 1e40, 1e150};
    lw_model *model = lwt_four_bars(N);
    for (int i = 0; i < LWI_COUNT(integrators); i++)
        for (int k = 0; k < LWI_COUNT(speeds); k++) {
            double q[16], v[16];
            lw_sim *sim =
                lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "integrator", integrators[i],
                                                 "step", "1e-3", "max_steps", "50"));
            assert_true(lw_model_tree_nq(model) <= LWI_COUNT(q));
            lwt_ok(lw_sim_get_tree(sim, q, v), lw_sim_error(sim));
            for (int j = 0; j < lw_model_tree_nv(model); j++) v[j] *= speeds[k];
            lwt_ok(lw_sim_set_tree(sim, 1, q, v), lw_sim_error(sim));
            if (lw_sim_step(sim, 1.002) == LW_ERR_INTERNAL)
                fail_msg("%s, %g rad/s: %s", integrators[i], speeds[k], lw_sim_error(sim)->text);
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

// Largest angle of a level rod.
static double angle_of_level_rods(lw_sim *sim)
{
    const lw_observation *o;
    double largest = 0;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), lw_sim_error(sim));
    for (int i = 0; i < N; i++) largest = fmax(largest, off(o->quaternion[2 + N + i], 0));
    return largest;
}

// With tolerances of centimetres too: drift is removed in time.  index3 needs no step across, in real time neither.
static void coarse_runs_stay_on_the_branch(void **state)
{
    (void)state;
    static const char *const settings[][8] = {
        {"formulation", "dense", "rtol", "1e-2", "atol", "1e-2"},
        {"formulation", "dense", "rtol", "1e-3", "atol", "1e-3"},
        {"formulation", "dca", "rtol", "1e-2", "atol", "1e-2"},
        {"formulation", "hdca", "integrator", "rk4", "step", "0.05"},
        {"formulation", "dense", "integrator", "rk4", "step", "0.02"},
        {"formulation", "index3", "step", "0.02", "index3", "mode=real-time"},
    };
    lw_model *model = lwt_four_bars(N);
    for (int i = 0; i < LWI_COUNT(settings); i++) {
        lw_sim *sim = lwt_simulate(model, settings[i]);
        for (int k = 1; k <= 100; k++) {
            lwt_ok(lw_sim_step(sim, 0.1 * k), lw_sim_error(sim));
            const double angle = angle_of_level_rods(sim);
            if (!(angle < 0.05)) fail_msg("run %d, t = %g: off by %g rad", i, 0.1 * k, angle);
        }
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The run ends in front of the position, by name; or takes ordinary steps.
static void a_run_stops_or_turns_if_asked(void **state)
{
    (void)state;
    lw_model *model = lwt_four_bars(N);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("formulation", formulations[f], "singular", "stop"));
        assert_int_equal(lw_sim_step(sim, 1), LW_ERR_SINGULAR);
        const char *text = lw_sim_error(sim)->text;
        if (!strstr(text, "singular position at t = 0.71435") || !strstr(text, "joint 'b0'") ||
            !strstr(text, "ends before it"))
            fail_msg("%s: %s", formulations[f], text);
        assert_true(lw_sim_time(sim) > 0.6 && lw_sim_time(sim) < 0.714);
        lw_sim_destroy(sim);
    }
    lw_sim *sim = lwt_simulate(
        model, LWT_SETTINGS("formulation", "index3", "step", "0.01", "singular", "stop"));
    assert_int_equal(lw_sim_step(sim, 1), LW_ERR_SINGULAR);
    if (!strstr(lw_sim_error(sim)->text, "ends behind it")) fail_msg("%s", lw_sim_error(sim)->text);
    lw_sim_destroy(sim);
    sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "singular", "turn"));
    lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
    lwi_sim_add_warnings(sim);
    assert_null(strstr(lw_sim_notice(sim), "straight on"));
    assert_non_null(strstr(lw_sim_notice(sim), "passed close to a singular position"));
    lw_sim_destroy(sim);
    // a mechanism without such positions runs to the end
    lw_model *regular = change_point(1.2);
    sim = lwt_simulate(regular, LWT_SETTINGS("formulation", "rcr", "singular", "stop"));
    lwt_ok(lw_sim_step(sim, 2), lw_sim_error(sim));
    lw_sim_destroy(sim);
    lw_model_destroy(regular);
    lw_model_destroy(model);
}

// The rocker's angle is that of the branch: tip on the circles of coupler and rocker, on a curve of period 4 pi.
static double rocker_of(double crank)
{
    const double E = 6 - 4 * cos(crank), F = -4 * sin(crank), G = 1 - 3 * cos(crank);
    const double R = sin(crank / 2) * sqrt(6 * (17 + 3 * cos(crank)));
    return atan2(F, E) + atan2(R, -G);
}

static void curved_branches_are_followed(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-4", "1e-6", "1e-10"};
    lw_model *model = change_point(1.5);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tolerance); k++) {
            lw_sim *sim = simulation(model, formulations[f], "dopri5", tolerance[k]);
            const lw_observation *o;
            lwt_ok(lw_sim_step(sim, 0.6), lw_sim_error(sim)); // in a line at 0.214 s
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
            const double crank = 1.2 + o->q[0];
            assert_true(crank < -0.5); // behind the position
            const double wrong = off(o->quaternion[3], rocker_of(crank));
            if (!(wrong < TOLERANCES * atof(tolerance[k])) || sim->crossing.count != 1)
                fail_msg("%s, %s: off the branch by %g, %ld passed", formulations[f], tolerance[k],
                         wrong, sim->crossing.count);
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

// Four-bars that come into a line, with a spherical joint at both ends of the coupler.
static lw_model *four_bar_on_spheres(const double length[4], double angle, double side,
                                     double speed, const double mass[3], lw_vec3 gravity)
{
    const double a = length[0], d = length[3], x = a * cos(angle), y = a * sin(angle);
    const double away = hypot(d - x, y), part = (d - x) / away, up = -y / away;
    const double along = (length[1] * length[1] - length[2] * length[2] + away * away) / (2 * away);
    const double across = side * sqrt(length[1] * length[1] - along * along);
    const double tx = x + along * part - across * up, ty = y + along * up + across * part;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, gravity);
    const lw_body A = lwt_rod(b, "crank", 0, 0, x, y, mass[0]),
                  B = lwt_rod(b, "coupler", x, y, tx, ty, mass[1]),
                  C = lwt_rod(b, "rocker", d, 0, tx, ty, mass[2]);
    lwt_revolute(b, "drive", lwt_ground, A, 0, 0, speed);
    lwt_joint(b, LW_JOINT_SPHERICAL, "elbow", A, B, x, y);
    lwt_joint(b, LW_JOINT_SPHERICAL, "knee", B, C, tx, ty);
    lwt_joint(b, LW_JOINT_REVOLUTE, "heel", lwt_ground, C, d, 0);
    return lwt_model(b);
}

// From large sines on windows are as far away as their rate allows.
static void check_slope(const lw_model *model)
{
    enum { ROWS = 1000 };
    static double sine[ROWS], way[ROWS];
    lw_sim *sim = simulation(model, "rcr", "dopri5", "1e-8");
    const lwi_system *s = &sim->monitor.system;
    lwi_sine last;
    double largest = 0;
    int windows = 0;
    assert_int_equal(lwi_sine_create(model, &sim->arena, &last), LW_OK);
    for (int k = 0; k < ROWS; k++) {
        const lw_observation *o;
        lwt_ok(lw_sim_step(sim, 0.002 * (k + 1)), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
        sine[k] = lwi_sine_at(&sim->monitor, &sim->snapshot);
        way[k] = k ? way[k - 1] + lwi_sine_motion(s, &last, &sim->snapshot, 0) : 0;
        lwi_sine_take(s, &sim->snapshot, sine[k], &last);
        largest = fmax(largest, sine[k]);
    }
    const double window = LWI_CROSSING_WINDOW * largest;
    for (int k = 1; k < ROWS; k++) {
        if (!(sine[k] < window && sine[k - 1] >= window)) continue;
        windows++;
        for (int i = 0; i < k; i++)
            if (!(sine[i] - window <= sim->crossing.slope * (way[k] - way[i])) &&
                sine[i] > 2 * window)
                fail_msg("the sine falls from %g to %g within %g rad", sine[i], sine[k],
                         way[k] - way[i]);
    }
    assert_true(windows > 0);
    lw_sim_destroy(sim);
}

static void sines_decrease_no_faster_along_couplers_on_spheres(void **state)
{
    (void)state;
    static const struct {
        double length[4], angle, side, speed, mass[3];
        lw_vec3 gravity;
    } cases[] = {{{0.88432, 1.100545, 1.473814, 1.690039},
                  -2.7628,
                  1,
                  6.511,
                  {0.744, 0.597, 0.51},
                  {6.77, -0.35, 0}},
                 {{0.814017, 1.397463, 1.302453, 0.909027},
                  1.6167,
                  -1,
                  -1.123,
                  {1.425, 0.555, 1.998},
                  {2.89, -4.68, 0}},
                 {{0.413552, 0.825122, 0.579168, 0.659506},
                  1.151835,
                  1,
                  -6.989,
                  {1.644, 1.504, 0.747},
                  {0, 0, 0}}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = four_bar_on_spheres(cases[i].length, cases[i].angle, cases[i].side,
                                              cases[i].speed, cases[i].mass, cases[i].gravity);
        check_slope(model);
        lw_model_destroy(model);
    }
}

// Rows within the step across, and calls that end there, have its accuracy, and the rest of the run is the same.
// Rates of quaternions and of their opposites are not mixed: their sign changes as bodies rotate on.
static void floating_mechanisms_keep_their_energy(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        lw_model *model = floating_change_point(k * acos(-1) / 4);
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            lw_sim *sim = simulation(model, formulations[f], "dopri5", "1e-9");
            const double before = lwt_energy(sim);
            lwt_ok(lw_sim_step(sim, 1.5), lw_sim_error(sim));
            const double off_by = fabs(lwt_energy(sim) - before);
            if (!(off_by < 1e-5))
                fail_msg("%s, rotated by %d pi/4: off by %g J", formulations[f], k, off_by);
            lwi_sim_add_warnings(sim);
            assert_non_null(strstr(lw_sim_notice(sim), "passed 1 singular position straight on"));
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
    }
}

static void rows_within_are_as_accurate(void **state)
{
    (void)state;
    lw_model *model = lwt_four_bars(N);
    for (int f = 0; f < 3; f++) {
        lw_sim *sim = simulation(model, formulations[f], "verner87", "1e-9");
        double largest = 0;
        for (int i = 0; i <= 60; i++) {
            lwt_ok(lw_sim_step(sim, 0.68 + 0.001 * i), lw_sim_error(sim));
            largest = fmax(largest, error_of_four_bars(sim));
        }
        print_message("%s: %.1e rad\n", formulations[f], largest);
        if (!(largest < 1e-7)) fail_msg("%s: a row is off by %g", formulations[f], largest);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Up to a hundred-millionth of the length a gap is passed as if there were none, with it in the report; with a
// tenth of a micrometre the coupler rotates.
static void small_gaps_are_passed(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-6", "1e-9", "1e-11"};
    lw_model *small = lwt_rhombus(2e-9), *large = lwt_rhombus(1e-7);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tolerance); k++) {
            const lw_observation *o;
            lw_sim *sim = simulation(small, formulations[f], "verner87", tolerance[k]);
            lwt_ok(lw_sim_step(sim, 1.4), lw_sim_error(sim));
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), lw_sim_error(sim));
            const double angle = off(o->quaternion[2], 0);
            lwi_sim_add_warnings(sim);
            const char *gap = strstr(lw_sim_notice(sim), ", gap ");
            const double reported = gap ? strtod(gap + strlen(", gap "), NULL) : 0;
            if (!(angle < TOLERANCES * atof(tolerance[k])) || !(reported > 1e-9 && reported < 5e-9))
                fail_msg("%s, %s: off by %g rad; %s", formulations[f], tolerance[k], angle,
                         lw_sim_notice(sim));
            lw_sim_destroy(sim);
            sim = simulation(large, formulations[f], "verner87", tolerance[k]);
            if (lw_sim_step(sim, 1.4) == LW_OK) {
                lwi_sim_add_warnings(sim);
                if (strstr(lw_sim_notice(sim), "straight on"))
                    fail_msg("%s, %s: %s", formulations[f], tolerance[k], lw_sim_notice(sim));
            }
            lw_sim_destroy(sim);
        }
    lw_model_destroy(small);
    lw_model_destroy(large);
}

// Links that miss the exact lengths by more than round-off have no crossing: nothing is passed straight on.
static void gaps_are_not_passed(void **state)
{
    (void)state;
    lw_model *model = change_point(1.5 + 1e-5);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_sim *sim = simulation(model, formulations[f], "dopri5", "1e-8");
        const lw_status status = lw_sim_step(sim, 0.4);
        if (status != LW_OK) assert_int_equal(status, LW_ERR_SINGULAR);
        lwi_sim_add_warnings(sim);
        assert_null(strstr(lw_sim_notice(sim), "straight on"));
        if (status == LW_OK) assert_non_null(strstr(lw_sim_notice(sim), "singular position"));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A step of order 12 over 0.1 s, from the state in x0, after one by the rule `before`, if there is one: its end.
static void gauss_step(lw_sim *sim, const double *x0, const lwi_gauss_rule *before, double *x1)
{
    lwi_gauss *g = &sim->passage.gauss;
    const size_t bytes = (size_t)g->work->layout.nx * sizeof *g->x;
    const lwi_gauss_guess guess = before ? LWI_GUESS_STEP : LWI_GUESS_MOTION;
    memcpy(g->x, x0, bytes);
    if (before)
        assert_true(
            lwi_gauss_step(g, before, LWI_GUESS_MOTION, &sim->snapshot, 0, 0.1, sim->inputs));
    memcpy(g->x, x0, bytes);
    assert_true(lwi_gauss_step(g, &g->rule6, guess, &sim->snapshot, 0, 0.1, sim->inputs));
    memcpy(x1, g->x, bytes);
}

// The first guess of the stages changes nothing, and neither positions nor velocities keep more than round-off off the
// constraints.
static void steps_do_not_depend_on_their_guess(void **state)
{
    enum { MOST = 64 };
    double x0[MOST], x1[MOST], x2[MOST];
    const lw_observation *o;
    (void)state;
    lw_model *model = lwt_four_bars(N);
    lw_sim *sim = simulation(model, "rcr", "dopri5", "1e-8");
    lwi_gauss *g = &sim->passage.gauss;
    lwt_ok(lw_sim_step(sim, 0.5), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    assert_in_range(g->work->layout.nx, 1, MOST);
    lwi_gauss_keep(g);
    assert_true(lwi_gauss_enter(g, &sim->snapshot, 0, x0));
    gauss_step(sim, x0, NULL, x1);
    gauss_step(sim, x0, &g->rule4, x2);
    for (int i = 0; i < g->work->layout.nx; i++) assert_float_equal(x1[i], x2[i], 1e-13);
    lwi_gauss_move(g, &sim->snapshot, 0.01);
    lwi_gauss_restore(g);
    lwi_assembler *a = g->assembler;
    assert_true(lwi_assembler_residual(a, false, NULL) <= 8 * DBL_EPSILON * a->length);
    assert_true(lwi_assembler_residual(a, true, NULL) <= 8 * DBL_EPSILON * lwi_assembler_speed(a));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// When the sine is smallest, by a run of ordinary steps.
static double time_of_smallest_sine(const lw_model *model, double until)
{
    enum { ROWS = 4000 };
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "singular", "turn", "rtol",
                                                   "1e-11", "atol", "1e-11"));
    const lw_observation *o;
    double at = 0, smallest = INFINITY;
    for (int i = 1; i <= ROWS; i++) {
        lwt_ok(lw_sim_step(sim, until * i / ROWS), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
        const double sine = lwi_sine_at(&sim->monitor, &sim->snapshot);
        if (sine < smallest) smallest = sine, at = until * i / ROWS;
    }
    lw_sim_destroy(sim);
    return at;
}

static double energy_at(lw_sim *sim, double t, const double *x)
{
    lwi_gauss *g = &sim->passage.gauss;
    lwi_totals totals;
    g->node.t = t;
    assert_int_equal(LW_OK, g->work->formulation->observe(g->work, t, x, sim->inputs,
                                                          LW_OBSERVE_ENERGY, &g->node));
    lwi_observe_energies(sim->model, LW_OBSERVE_ENERGY, &g->node, &totals);
    return totals.kinetic + totals.potential;
}

// The path from `distance` before the middle of a bend: 2 if two steps are accepted, which keep the energy.
static int steps_across(const lw_model *model, double middle, double distance)
{
    lw_sim *sim = simulation(model, "rcr", "dopri5", "1e-9");
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    int steps = 0;
    lwt_ok(lw_sim_step(sim, middle - distance), lw_sim_error(sim));
    c->at.t = sim->t;
    assert_int_equal(LW_OK, sim->work->formulation->observe(sim->work, sim->t, sim->x, sim->inputs,
                                                            LW_OBSERVE_TWIST, &c->at));
    lwi_gauss_keep(g);
    const double energy = energy_at(sim, sim->t, sim->x);
    c->best.estimate = INFINITY;
    if (lwi_crossing_single(sim, distance)) {
        steps = c->best.npiece;
        const double more = energy_at(sim, middle, c->best.x1) - energy;
        if (!(fabs(more) < 100 * lwi_crossing_accepted(&sim->options) * energy))
            fail_msg("%g s before: %g J more, error estimate %g", distance, more, c->best.estimate);
    }
    lwi_gauss_restore(g);
    lw_sim_destroy(sim);
    return steps;
}

// Links that come close to a line have a bend there.  From some distances a short step over it is exact, and the long one
// before it is not.
static void both_steps_of_a_path_are_accurate(void **state)
{
    static const double gap[] = {0.003, 0.01, 0.03, 0.1}, distance[] = {0.005, 0.01, 0.02};
    int accepted = 0;
    (void)state;
    for (int i = 0; i < LWI_COUNT(gap); i++) {
        lw_model *model = change_point(1.5 + gap[i]);
        const double middle = time_of_smallest_sine(model, 0.3);
        for (int k = 0; k < LWI_COUNT(distance); k++)
            accepted += steps_across(model, middle, distance[k]) == 2;
        lw_model_destroy(model);
    }
    assert_in_range(accepted, 1, 11); // others are refused
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_in_a_line_go_straight_on),
        cmocka_unit_test(steps_of_the_sine_are_no_minimum),
        cmocka_unit_test(margins_are_small_where_the_sine_is),
        cmocka_unit_test(positions_within_long_steps_are_found),
        cmocka_unit_test(positions_off_the_middle_are_found),
        cmocka_unit_test(every_integrator_goes_straight_on),
        cmocka_unit_test(motions_beyond_any_step_are_no_internal_error),
        cmocka_unit_test(coarse_runs_stay_on_the_branch),
        cmocka_unit_test(a_run_stops_or_turns_if_asked),
        cmocka_unit_test(curved_branches_are_followed),
        cmocka_unit_test(sines_decrease_no_faster_along_couplers_on_spheres),
        cmocka_unit_test(floating_mechanisms_keep_their_energy),
        cmocka_unit_test(rows_within_are_as_accurate),
        cmocka_unit_test(small_gaps_are_passed),
        cmocka_unit_test(gaps_are_not_passed),
        cmocka_unit_test(steps_do_not_depend_on_their_guess),
        cmocka_unit_test(both_steps_of_a_path_are_accurate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
