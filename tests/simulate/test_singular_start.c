// test_singular_start.c -- runs that begin at a singular position: the velocities select the branch.
#include "simulate/simulation.h"
#include "support/given.h"
#include "support/mechanism.h"

#include "base/base.h"

#include <math.h>

static const struct {
    const char *formulation, *state;
} formulations[] = {{"dense", "auto"}, {"lagrange", "auto"}, {"dca", "auto"},
                    {"hdca", "auto"},  {"rcr", "speeds"},    {"rcr", "momenta"}};

// ---------------------------------------------------------------------------------------- mechanisms

static lw_body rod(lw_builder *b, const char *name, double x0, double x1)
{
    return lwt_rod(b, name, x0, 0, x1, 0, 1);
}

static void turns_with(lw_builder *b, const char *name, lw_body a, lw_body c, double x,
                       double speed, lw_signal torque)
{
    lwt_add(b, &(lw_joint_desc){.name = name,
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = a,
                                .body2 = c,
                                .at = {x, 0, 0},
                                .axis = {0, 0, 1},
                                .has_qd = 1,
                                .qd = {speed},
                                .coordinate[0].effort = torque});
}

static void turns(lw_builder *b, const char *name, lw_body a, lw_body c, double x, double speed)
{
    turns_with(b, name, a, c, x, speed, (lw_signal){0});
}

// A parallelogram in a line: cranks of 1 m under a coupler of 2 m.  The speeds of the branch on which it stays a
// parallelogram have the ratio 1; 1 and -3 are those of the other one.
static lw_model *parallelogram_of(double left, double right, double mass, bool input)
{
    const double turn = (right - left) / 2;
    lw_builder *b = lwt_builder();
    lw_signal torque = {0};
    lw_error error;
    if (input) lwt_ok(lw_builder_add_input(b, "torque", &torque, &error), &error);
    const lw_body A = rod(b, "A", 0, 1), B = rod(b, "B", 1, 3),
                  C = lwt_rod(b, "C", 2, 0, 3, 0, mass);
    turns_with(b, "j1", lwt_ground, A, 0, left, torque);
    turns(b, "j2", A, B, 1, turn - left);
    turns(b, "j3", B, C, 3, right - turn);
    turns(b, "j4", lwt_ground, C, 2, right);
    return lwt_model(b);
}

static lw_model *parallelogram(double left, double right)
{
    return parallelogram_of(left, right, 1, false);
}

// Angle of its cranks:  (2/3 + 1) q'' = torque - g (1 + 1) cos q,  by Runge and Kutta's steps of 0.1 ms.
static double crank_of_parallelogram(double until, double w, double torque)
{
    const int n = (int)lround(until / 1e-4);
    const double h = until / n;
    double q = 0;
    for (int i = 0; i < n; i++) {
        double dq[4], dw[4], at = q, speed = w;
        for (int k = 0; k < 4; k++) {
            dq[k] = speed, dw[k] = (torque - 9.81 * 2 * cos(at)) / (5.0 / 3);
            const double part = k < 2 ? h / 2 : h;
            at = q + part * dq[k], speed = w + part * dw[k];
        }
        q += h / 6 * (dq[0] + 2 * dq[1] + 2 * dq[2] + dq[3]);
        w += h / 6 * (dw[0] + 2 * dw[1] + 2 * dw[2] + dw[3]);
    }
    return q;
}

// A crank of 1 m, a coupler of 2.5 m and a rocker of 2 m in a line: both branches are curved.
static lw_model *change_point(double speed)
{
    const double coupler = 0.190890230020664377 * speed, rocker = 0.738612787525830567 * speed;
    lw_builder *b = lwt_builder();
    const lw_body A = rod(b, "crank", 0, 1), B = rod(b, "coupler", 1, 3.5),
                  C = rod(b, "rocker", 1.5, 3.5);
    turns(b, "drive", lwt_ground, A, 0, speed);
    turns(b, "elbow", A, B, 1, coupler - speed);
    turns(b, "knee", B, C, 3.5, rocker - coupler);
    turns(b, "heel", lwt_ground, C, 1.5, rocker);
    return lwt_model(b);
}

// Angle of the rocker on this branch.
static double rocker_angle(double crank)
{
    const double E = 6 - 4 * cos(crank), F = -4 * sin(crank), G = 1 - 3 * cos(crank);
    return atan2(F, E) + atan2(sin(crank / 2) * sqrt(6 * (17 + 3 * cos(crank))), -G);
}

static double angle_of(const lw_observation *o, int body)
{
    return 2 * atan2(o->quaternion[body][3], o->quaternion[body][0]);
}

static lw_sim *begin(const lw_model *model, int f, const char *tolerance)
{
    return lwt_simulate(model,
                        LWT_SETTINGS("formulation", formulations[f].formulation, "state",
                                     formulations[f].state, "rtol", tolerance, "atol", tolerance));
}

// Rows of n four-bars of equal bars in a line: n loops lose a row each.  The first crank has the motion `drive`.
static lw_model *row_in_line(int n, double speed, const lw_function_desc *drive)
{
    lw_builder *b = lwt_builder();
    lw_body crank[16];
    char name[16];
    for (int i = 0; i <= n; i++) {
        snprintf(name, sizeof name, "v%d", i);
        crank[i] = rod(b, name, i, i + 1);
        snprintf(name, sizeof name, "g%d", i);
        lw_joint_desc pivot = {.name = name,
                               .type = LW_JOINT_REVOLUTE,
                               .body1 = lwt_ground,
                               .body2 = crank[i],
                               .at = {i, 0, 0},
                               .axis = {0, 0, 1}};
        if (drive && i == 0)
            pivot.coordinate[0].motion = lwt_function(b, drive);
        else
            pivot.has_qd = 1, pivot.qd[0] = speed;
        lwt_add(b, &pivot);
    }
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "h%d", i);
        const lw_body coupler = rod(b, name, i + 1, i + 2);
        snprintf(name, sizeof name, "a%d", i);
        turns(b, name, crank[i], coupler, i + 1, -speed);
        snprintf(name, sizeof name, "b%d", i);
        turns(b, name, coupler, crank[i + 1], i + 2, speed);
    }
    return lwt_model(b);
}

// Angle of its cranks:  I q'' = -W cos q, by the same steps.
static double crank_of_row(int n, double until, double w)
{
    const double inertia = (n + 1) / 3.0 + n, weight = 9.81 * ((n + 1) / 2.0 + n), h = 1e-4;
    double q = 0;
    for (int i = 0; i < (int)lround(until / h); i++) {
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

// ---------------------------------------------------------------------------------------------- tests

#define UNTIL 0.5

static void a_parallelogram_stays_one(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-6", "1e-9"};
    static const double speed[] = {1, -2, 1e-2, -1e-9, 0};
    for (int i = 0; i < LWI_COUNT(speed); i++) {
        lw_model *model = parallelogram(speed[i], speed[i]);
        const double q = crank_of_parallelogram(UNTIL, speed[i], 0);
        for (int f = 0; f < LWI_COUNT(formulations); f++)
            for (int k = 0; k < LWI_COUNT(tolerance); k++) {
                const lw_observation *o;
                lw_sim *sim = begin(model, f, tolerance[k]);
                lwt_ok(lw_sim_step(sim, UNTIL), lw_sim_error(sim));
                lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
                const double off = fmax(fabs(remainder(angle_of(o, 1) - q, 2 * acos(-1))),
                                        fabs(remainder(angle_of(o, 2), 2 * acos(-1))));
                print_message("%s %s, %g rad/s, %s: off by %.1e\n", formulations[f].formulation,
                              formulations[f].state, speed[i], tolerance[k], off);
                assert_true(off < 1000 * atof(tolerance[k]));
                lw_sim_destroy(sim);
            }
        lw_model_destroy(model);
    }
}

// The first row is the start itself, with accelerations and reactions of the branch.
static void the_first_row_is_exact(void **state)
{
    (void)state;
    lw_model *model = parallelogram(1, 1);
    const double rate = -9.81 * 2 / (5.0 / 3);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_observation *o;
        lw_sim *sim = begin(model, f, "1e-9");
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), lw_sim_error(sim));
        assert_true(o->time == 0);
        assert_true(o->position[2][0] == 2 && o->position[2][1] == 0);
        assert_true(o->angular_velocity[1][2] == 1 && o->angular_velocity[2][2] == 0);
        assert_true(fabs(o->angular_acceleration[1][2] - rate) < 1e-6);
        assert_true(fabs(o->angular_acceleration[2][2]) < 1e-6);
        // the coupler's ends carry half its weight and its acceleration each
        const double end = 0.5 * (9.81 + rate);
        assert_true(fabs(fabs(o->reaction[1][1]) - fabs(end)) < 1e-4);
        assert_true(fabs(fabs(o->reaction[1][0]) - 0.5) < 1e-4); // 1 kg, 1 m/s^2 towards the pivots
        assert_true(o->reactions_continued);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The same at a position and as near to it as makes no difference, also where the mechanism reverses at once, against
// 5/3 a angle'' = 2 (gy cos(angle) - gx sin(angle)).
static void accelerations_of_the_first_row_are_exact(void **state)
{
    (void)state;
    static const double angle[] = {0, 1e-12, -1e-9, 1e-7, -9e-7};
    static const double speed[] = {0, 1e-9, 1e-6, 1e-3, 1, -1, 10};
    const double gx = 3, gy = -9, crank = 0.6, ground = 1.1;
    for (int i = 0; i < LWI_COUNT(angle) * LWI_COUNT(speed); i++) {
        const double q = angle[i % LWI_COUNT(angle)], w = speed[i / LWI_COUNT(angle)];
        const double x = crank * cos(q), y = crank * sin(q);
        lw_builder *b = lwt_builder();
        lw_builder_gravity(b, (lw_vec3){gx, gy, 0});
        const lw_body A = lwt_rod(b, "A", 0, 0, x, y, 1),
                      B = lwt_rod(b, "B", x, y, x + ground, y, 1),
                      C = lwt_rod(b, "C", ground, 0, x + ground, y, 1);
        lwt_revolute(b, "j1", lwt_ground, A, 0, 0, w);
        lwt_revolute(b, "j2", A, B, x, y, -w);
        lwt_revolute(b, "j3", B, C, x + ground, y, w);
        lwt_revolute(b, "j4", lwt_ground, C, ground, 0, w);
        lw_model *model = lwt_model(b);
        const double exact = 1.2 / crank * (gy * cos(q) - gx * sin(q));
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            const lw_observation *o;
            lw_sim *sim = begin(model, f, "1e-8");
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
            const double off = fmax(fabs(o->angular_acceleration[1][2] - exact),
                                    fmax(fabs(o->angular_acceleration[2][2]),
                                         fabs(o->angular_acceleration[3][2] - exact)));
            if (!(off < 1e-5)) // of 18
                fail_msg("%s %s, at %g rad with %g rad/s: off by %.1e", formulations[f].formulation,
                         formulations[f].state, q, w, off);
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
    }
}

static void a_curved_branch_is_followed(void **state)
{
    (void)state;
    static const double speed[] = {3, -3};
    for (int i = 0; i < LWI_COUNT(speed); i++) {
        lw_model *model = change_point(speed[i]);
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            const lw_observation *o;
            lw_sim *sim = begin(model, f, "1e-8");
            for (int k = 1; k <= 5; k++) {
                lwt_ok(lw_sim_step(sim, 0.03 * k), lw_sim_error(sim));
                lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
                const double off = angle_of(o, 3) - rocker_angle(angle_of(o, 1));
                assert_true(fabs(off) < 1e-6);
            }
            lw_summary summary;
            lw_sim_summary(sim, &summary);
            print_message("%s: %ld steps, energy %.1e J\n", formulations[f].formulation,
                          summary.steps, summary.energy_error);
            assert_true(summary.energy_error < 1e-5);
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
    }
}

// On the branch rocker'' = f'(crank) crank'' + f''(crank) crank'^2 and joints do no work.
static void accelerations_are_those_of_a_curved_branch(void **state)
{
    (void)state;
    static const double speed[] = {3, -3, 0.2, -1e-3};
    const double h = 0.01, up = rocker_angle(h), down = rocker_angle(-h), up2 = rocker_angle(2 * h),
                 down2 = rocker_angle(-2 * h);
    const double first = (8 * (up - down) - (up2 - down2)) / (12 * h);
    const double second = (16 * (up + down) - (up2 + down2) - 30 * rocker_angle(0)) / (12 * h * h);
    for (int i = 0; i < LWI_COUNT(speed); i++) {
        lw_model *model = change_point(speed[i]);
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            const lw_observation *o;
            lw_sim *sim = begin(model, f, "1e-8");
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o), lw_sim_error(sim));
            const double crank = o->angular_acceleration[1][2],
                         rocker = o->angular_acceleration[3][2];
            double power = 0;
            for (int b = 1; b <= 3; b++) {
                const double l = b == 1 ? 1 : b == 2 ? 2.5 : 2; // of 1 kg
                power += l * l / 12 * o->angular_velocity[b][2] * o->angular_acceleration[b][2];
                for (int k = 0; k < 2; k++)
                    power += o->velocity[b][k] * (o->acceleration[b][k] + (k ? 9.81 : 0));
            }
            const double off = rocker - first * crank - second * speed[i] * speed[i];
            if (!(fabs(off) < 1e-4 && fabs(power) < 1e-5 * fabs(speed[i]))) // of 10
                fail_msg("%s %s, %g rad/s: off by %.1e, power %.1e W", formulations[f].formulation,
                         formulations[f].state, speed[i], off, power);
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
    }
}

static void velocities_of_no_branch_are_refused(void **state)
{
    (void)state;
    static const double right[] = {2, 0.5, -1};
    for (int i = 0; i < LWI_COUNT(right); i++) {
        lw_model *model = parallelogram(1, right[i]);
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            lw_sim *sim;
            lw_error error;
            lw_options options;
            lw_options_default(&options);
            lwt_set(&options, "formulation", formulations[f].formulation);
            const lw_status status =
                lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error);
            assert_int_equal(status, LW_ERR_SINGULAR);
            assert_non_null(strstr(error.text, "no motion leads on with the velocities given"));
        }
        lw_model_destroy(model);
    }
}

// The other branch: cranks rotate against each other, with speeds 1 and -3.
static void both_branches_can_be_chosen(void **state)
{
    (void)state;
    lw_model *model = parallelogram(1, -3);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_observation *o;
        lw_sim *sim = begin(model, f, "1e-8");
        lwt_ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
        assert_true(angle_of(o, 1) > 0.03 && angle_of(o, 3) < -0.2);
        lwi_sim_add_warnings(sim);
        assert_non_null(strstr(lw_sim_notice(sim), "starts at a singular position"));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Loads that accelerate both cranks alike single out the branch (above); those of unlike cranks do not.
static void rest_without_a_single_motion_is_refused(void **state)
{
    (void)state;
    lw_model *model = parallelogram_of(0, 0, 5, false);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_sim *sim;
        lw_error error;
        lw_options options;
        lw_options_default(&options);
        lwt_set(&options, "formulation", formulations[f].formulation);
        const lw_status status =
            lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error);
        assert_int_equal(status, LW_ERR_SINGULAR);
        assert_non_null(strstr(error.text, "from rest the loads do not single out one motion"));
    }
    lw_model_destroy(model);
    model = parallelogram_of(1e-6, 1e-6, 5, false); // small velocities do
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_observation *o;
        lw_sim *sim = begin(model, f, "1e-8");
        lwt_ok(lw_sim_step(sim, 0.3), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
        assert_true(fabs(angle_of(o, 2)) < 1e-6 && fabs(angle_of(o, 1)) > 0.3);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Inputs that are set before the first step act from the start on.
static void inputs_of_the_start_count(void **state)
{
    (void)state;
    lw_model *model = parallelogram_of(1, 1, 1, true);
    const double q = crank_of_parallelogram(UNTIL, 1, 30);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_observation *o;
        lw_sim *sim = begin(model, f, "1e-8");
        lwt_ok(lw_sim_set_input(sim, 0, 30), lw_sim_error(sim));
        lwt_ok(lw_sim_step(sim, 0.01), lw_sim_error(sim)); // ends within the first step
        lwt_ok(lw_sim_step(sim, UNTIL), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
        print_message("%s: off by %.1e\n", formulations[f].formulation, fabs(angle_of(o, 1) - q));
        assert_true(fabs(angle_of(o, 1) - q) < 1e-6 && fabs(angle_of(o, 2)) < 1e-6);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// With an input of which rates overflow no path leads away: the state is the start as it was.
static void a_start_without_a_path_is_kept(void **state)
{
    enum { MOST = 64 };
    (void)state;
    lw_model *model = parallelogram_of(1, 1, 1, true);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        double before[MOST];
        lw_sim *sim = begin(model, f, "1e-8");
        assert_in_range(sim->work->layout.nx, 1, MOST);
        const size_t bytes = (size_t)sim->work->layout.nx * sizeof *sim->x;
        memcpy(before, sim->x, bytes);
        lwt_ok(lw_sim_set_input(sim, 0, 1e300), lw_sim_error(sim));
        assert_false(lwi_sim_leave_singular_again(sim));
        assert_memory_equal(sim->x, before, bytes);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A state that is set at the time of the start, before the first step, is observed, not the start.
static void another_state_takes_its_place(void **state)
{
    (void)state;
    lw_model *model = parallelogram(1, 1);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_observation *o, *set;
        lw_sim *sim = begin(model, f, "1e-8"), *other = begin(model, f, "1e-8");
        lwt_ok(lw_sim_step(other, 0.2), lw_sim_error(other));
        lwt_ok(lw_sim_observe(other, LW_OBSERVE_REACTION, &o), lw_sim_error(other));
        lw_observation motion = *o;
        motion.time = 0;
        lwt_ok(lw_sim_set_motion(sim, &motion), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &set), lw_sim_error(sim));
        for (int b = 1; b <= 3; b++)
            for (int i = 0; i < 3; i++) {
                assert_true(fabs(set->position[b][i] - o->position[b][i]) < 1e-9);
                assert_true(fabs(set->acceleration[b][i] - o->acceleration[b][i]) < 1e-4);
            }
        lw_sim_destroy(sim);
        lw_sim_destroy(other);
    }
    lw_model_destroy(model);
}

// Many rows are lost at once; index3 follows the velocities by its own steps.
static void rows_of_four_bars_begin_in_a_line(void **state)
{
    (void)state;
    static const int count[] = {1, 2, 3, 10};
    for (int i = 0; i < LWI_COUNT(count); i++) {
        lw_model *model = row_in_line(count[i], 2, NULL);
        const double q = crank_of_row(count[i], 0.2, 2);
        for (int f = 0; f <= LWI_COUNT(formulations); f++) {
            const bool index3 = f == LWI_COUNT(formulations);
            const lw_observation *o;
            lw_sim *sim =
                index3 ? lwt_simulate(model, LWT_SETTINGS("formulation", "index3", "step", "0.001"))
                       : begin(model, f, "1e-9");
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
            lwt_ok(lw_sim_step(sim, 0.2), lw_sim_error(sim));
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
            const double off = fabs(angle_of(o, 1) - q);
            print_message("%d, %s: off by %.1e\n", count[i],
                          index3 ? "index3" : formulations[f].formulation, off);
            assert_true(off < (index3 ? 1e-5 : 1e-7));
            for (int k = 1; k <= count[i];
                 k++) // cranks are listed in turn with couplers behind them
                assert_true(fabs(angle_of(o, count[i] + 1 + k)) < (index3 ? 1e-5 : 1e-7));
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
    }
}

// A drive that moves on with the velocity of a branch: at its time 0 it holds more rows than shortly after.  rcr has no
// independent coordinate there and refuses; a drive from rest is refused by all.
static void drives_move_out_of_the_line(void **state)
{
    (void)state;
    static const double line[] = {0, 1.5};
    static const lw_function_desc moving = {.type = LW_FUNCTION_POLYNOMIAL,
                                            .coefficients = line,
                                            .ncoefficient = 2},
                                  from_rest = {.type = LW_FUNCTION_SINE,
                                               .offset = 0.5,
                                               .amplitude = 0.5,
                                               .omega = 2,
                                               .phase = -1.5707963267948966};
    for (int n = 1; n <= 2; n++) {
        lw_model *model = row_in_line(n, 1.5, &moving);
        for (int f = 0; f < LWI_COUNT(formulations) - 2; f++) {
            const lw_observation *o;
            lw_sim *sim = begin(model, f, "1e-9");
            lwt_ok(lw_sim_step(sim, 0.4), lw_sim_error(sim));
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
            assert_true(fabs(angle_of(o, n + 1) - 0.6) < 1e-8);
            // the work of the drive lifts the bars
            const double weight = 9.81 * ((n + 1) / 2.0 + n);
            assert_true(fabs(o->work - weight * sin(0.6)) < 1e-6);
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
        static const char *const all[] = {"dense", "lagrange", "dca", "hdca", "rcr", "index3"};
        model = row_in_line(n, 0, &from_rest);
        for (int f = 0; f < LWI_COUNT(all); f++) {
            lw_options options;
            lw_sim *sim = NULL;
            lw_error error;
            const lw_observation *o;
            lw_options_default(&options);
            lwt_set(&options, "formulation", all[f]);
            lw_status status =
                lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error);
            if (status == LW_OK) {
                status = lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o);
                error = *lw_sim_error(sim);
            }
            assert_int_equal(status, LW_ERR_SINGULAR);
            assert_non_null(strstr(error.text, "singular position at t = 0 s: the constraints of"));
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
    }
}

// The steps of index3 are separate; what is refused is the same.
static void index3_refuses_the_same(void **state)
{
    (void)state;
    static const char *const text[] = {"no motion leads on with the velocities given",
                                       "from rest the loads do not single out one motion"};
    for (int i = 0; i < 2; i++) {
        lw_model *model = i ? parallelogram_of(0, 0, 5, false) : parallelogram(1, 2);
        lw_options options;
        lw_sim *sim;
        lw_error error;
        lw_options_default(&options);
        lwt_set(&options, "formulation", "index3");
        assert_int_equal(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error),
                         LW_ERR_SINGULAR);
        assert_non_null(strstr(error.text, text[i]));
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parallelogram_stays_one),
        cmocka_unit_test(the_first_row_is_exact),
        cmocka_unit_test(accelerations_of_the_first_row_are_exact),
        cmocka_unit_test(a_curved_branch_is_followed),
        cmocka_unit_test(accelerations_are_those_of_a_curved_branch),
        cmocka_unit_test(velocities_of_no_branch_are_refused),
        cmocka_unit_test(both_branches_can_be_chosen),
        cmocka_unit_test(rest_without_a_single_motion_is_refused),
        cmocka_unit_test(inputs_of_the_start_count),
        cmocka_unit_test(a_start_without_a_path_is_kept),
        cmocka_unit_test(another_state_takes_its_place),
        cmocka_unit_test(rows_of_four_bars_begin_in_a_line),
        cmocka_unit_test(drives_move_out_of_the_line),
        cmocka_unit_test(index3_refuses_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
