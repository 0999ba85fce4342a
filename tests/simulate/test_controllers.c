// test_controllers.c -- signals with states: integrals, lags, transfer functions, controllers, against closed forms, and
// the same motion by every formulation.
#include "simulate/controller_cases.h"

// ------------------------------------------------------------------------------------ linear systems

// A controller without limits on a cart is a linear system: q, v, integral, filtered error, 1.
static void pid_is_the_linear_system(void **state)
{
    (void)state;
    const double m = 2, kp = 40, ki = 30, kd = 12, T = 0.05, r = 0.3;
    const double w = kp + kd / T; // of the error
    double A[N][N] = {
        {0, 1},
        {-w / m, 0, 1 / m, -kd / T / m, w * r / m},
        {-ki, 0, 0, 0, ki * r},
        {-1 / T, 0, 0, -1 / T, r / T},
    };
    lw_model *model = cart_with("  force: {type: pid, reference: 0.3, measured: rail.q0, kp: 40, "
                                "ki: 30, kd: 12, filter: 50 ms, initial: -1.5}\n");
    static const char *const integrators[] = {"dopri54", "verner87", "adams", "bdf"};
    for (int k = 0; k < LWI_COUNT(integrators); k++) {
        lw_sim *sim = create(model, "auto", integrators[k], 1e-11);
        for (double t = 0.4; t < 2; t += 0.4) {
            double y[N] = {0.1, -0.2, -1.5, r - 0.1, 1};
            propagate(5, A, t, y);
            const lw_observation *o = at(sim, t);
            assert_near(o->q[0], y[0], 1e-8);
            assert_near(o->qd[0], y[1], 1e-8);
            assert_near(signal_of(model, o, "force"), w * (r - y[0]) + y[2] - kd / T * y[3], 2e-6);
        }
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The rate of what is measured in place of a filter: kd v of the reference less that of the cart.
static void known_rates_need_no_filter(void **state)
{
    (void)state;
    double A[N][N] = {{0, 1}, {-20, -6, 0.5, 0, 6}, {-30, 0, 0, 0, 9}};
    lw_model *model = cart_with(
        "  force: {type: pid, reference: 0.3, measured: rail.q0, measured_rate: rail.qd0, kp: 40, "
        "ki: 30, kd: 12}\n");
    assert_int_equal(model->nstate, 1);
    lw_sim *sim = create(model, "auto", "auto", 1e-12);
    double y[N] = {0.1, -0.2, 0, 0, 1};
    propagate(5, A, 1.5, y);
    assert_near(at(sim, 1.5)->q[0], y[0], 1e-10);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------- single signals

static void lags_and_integrals_are_exponentials(void **state)
{
    (void)state;
    lw_model *m = cart_with("  force: 0\n"
                            "  behind: {type: lag, of: 3, time: 0.25, initial: 1}\n"
                            "  still: {type: lag, of: 7, time: 0.25}\n"
                            "  decay: {type: integral, of: -2*decay, initial: 1}\n"
                            "  grown: {type: integral, of: t^2}\n"
                            "  place: {type: integral, of: rail.qd0, initial: 0.1}\n");
    lw_sim *sim = create(m, "auto", "auto", 1e-12);
    for (double t = 0.1; t < 1; t += 0.3) {
        const lw_observation *o = at(sim, t);
        assert_near(signal_of(m, o, "behind"), 3 - 2 * exp(-t / 0.25), 1e-10);
        assert_near(signal_of(m, o, "still"), 7, 0);
        assert_near(signal_of(m, o, "decay"), exp(-2 * t), 1e-10);
        assert_near(signal_of(m, o, "grown"), t * t * t / 3, 1e-10);
        assert_near(signal_of(m, o, "place"), o->q[0], 1e-12);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// (s + 3) / (s^2 + 2 s + 5) of a unit step from rest: 3/5 + e^-t (-3/5 cos 2t + 1/5 sin 2t).  From the steady state at
// the start nothing moves.  s / (s + 4), a high pass, begins with the step.
static void transfer_functions_have_their_step_response(void **state)
{
    (void)state;
    lw_model *m = cart_with(
        "  force: 0\n"
        "  second: {type: transfer, of: 1, numerator: [2, 6], denominator: [2, 4, 10], initial: "
        "0}\n"
        "  still: {type: transfer, of: 1, numerator: [2, 6], denominator: [2, 4, 10]}\n"
        "  high: {type: transfer, of: 1, numerator: [1, 0], denominator: [1, 4], initial: 0}\n"
        "  twice: {type: transfer, of: 1, numerator: [1], denominator: [1, 0, 0]}\n");
    lw_sim *sim = create(m, "auto", "auto", 1e-12);
    assert_near(signal_of(m, at(sim, 0), "high"), 1, 0);
    for (double t = 0.2; t < 3; t += 0.7) {
        const lw_observation *o = at(sim, t);
        assert_near(signal_of(m, o, "second"),
                    0.6 + exp(-t) * (0.2 * sin(2 * t) - 0.6 * cos(2 * t)), 1e-10);
        assert_near(signal_of(m, o, "still"), 0.6, 1e-14);
        assert_near(signal_of(m, o, "high"), exp(-4 * t), 1e-10);
        assert_near(signal_of(m, o, "twice"), 0.5 * t * t, 1e-10);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// A ramp of slope 5 passed at rate 2 until the lag of 10 ms decides; a step of 1 takes half a second.
static void rates_are_limited(void **state)
{
    (void)state;
    lw_model *m =
        cart_with("  force: 0\n"
                  "  slow: {type: rate_limit, of: 1, rate: 2, time: 10 ms, initial: 0}\n");
    lw_sim *sim = create(m, "auto", "auto", 1e-10);
    assert_near(signal_of(m, at(sim, 0.2), "slow"), 0.4, 1e-12);
    assert_near(signal_of(m, at(sim, 0.45), "slow"), 0.9, 1e-12);
    // the limit ends at 1 - 2 * 0.01 at t = 0.49
    assert_near(signal_of(m, at(sim, 0.52), "slow"), 1 - 0.02 * exp(-0.03 / 0.01), 1e-8);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// An event at a value of a signal with a state: 1 - e^(-t/T) = 0.75 at t = T log 4.
static void events_follow_states(void **state)
{
    (void)state;
    lw_model *m = parse("linkwork: 1\n"
                        "parameters: {level: 0.75}\n"
                        "signals:\n"
                        "  x: {type: lag, of: 1, time: 0.3, initial: 0}\n"
                        "bodies:\n"
                        "  cart: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}\n"
                        "joints:\n"
                        "  rail: {type: prismatic, between: [ground, cart], at: [0, 0, 0]}\n"
                        "events:\n"
                        "  there: {when: x > level, stop: true}\n");
    lw_sim *sim = create(m, "auto", "auto", 1e-12);
    lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
    assert_near(lw_sim_time(sim), 0.3 * log(4), 1e-10);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------------------ windup

// sin(t) integrated within [0, 1]: 1 - cos t until pi/2, held at 1 until pi, then 1 + (-1 - cos t) = -cos t ... to 0.
static void integrals_stay_within_their_range(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    lw_model *m = cart_with("  force: 0\n  held: {type: integral, of: sin(t), range: [0, 1]}\n");
    lw_sim *sim = create(m, "auto", "dopri54", 1e-12);
    assert_near(signal_of(m, at(sim, 1), "held"), 1 - cos(1), 1e-9);
    assert_near(signal_of(m, at(sim, 2.5), "held"), 1, 1e-9);
    assert_near(signal_of(m, at(sim, pi + 1), "held"), cos(1), 1e-8);
    assert_near(signal_of(m, at(sim, 2 * pi - 0.5), "held"), 0, 1e-8);
    assert_near(signal_of(m, at(sim, 2 * pi + 1), "held"), 1 - cos(1), 1e-8);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
    m = cart_with("  force: 0\n  u: {type: integral, of: -held, range: [2, 5]}\n"
                  "  held: {type: integral, of: -1, range: [1, 2], initial: 7}\n");
    sim = create(m, "auto", "dopri54", 1e-12); // both begin at the end of the range that is near
    const lw_observation *o;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    assert_true(o->states[0] == 2 && o->states[1] == 2);
    assert_near(signal_of(m, at(sim, 0.5), "held"), 1.5, 1e-12);
    assert_near(signal_of(m, at(sim, 0.5), "u"), 2, 1e-12);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// While the value is at its limit the integral goes to that at which it would leave it, w = limit, with the time
// `tracking`: z' = ki e + (u - w)/T with e constant is a lag towards  limit - kp e + ki e T.
static void integrals_of_controllers_do_not_wind_up(void **state)
{
    (void)state;
    const double e = 2, kp = 3, ki = 4, limit = 5, T = 0.1;
    lw_model *m =
        cart_with("  force: 0\n"
                  "  u: {type: pid, reference: 2, measured: 0, kp: 3, ki: 4, range: [-5, 5], "
                  "tracking: 0.1}\n"
                  "  v: {type: pid, reference: 2, measured: 0, kp: 3, ki: 4, range: [-5, 5]}\n"
                  "  w: {type: pid, reference: 2, measured: 0, kp: 3, ki: 4, kd: 9, range: [-5, "
                  "5], filter: 0.1}\n");
    lw_sim *sim = create(m, "auto", "auto", 1e-11);
    const double t = 0.35, to = limit - kp * e + ki * e * T;
    const lw_observation *o = at(sim, t);
    assert_near(signal_of(m, o, "u"), limit, 0);
    assert_near(sim->snapshot.states[0], to * (1 - exp(-t / T)), 1e-9);
    const double ti = kp / ki, to_v = limit - kp * e + ki * e * ti; // default: kp/ki
    assert_near(sim->snapshot.states[1], to_v * (1 - exp(-t / ti)), 1e-9);
    const double td = sqrt(9 / ki), to_w = limit - kp * e + ki * e * td; // sqrt(kd/ki)
    assert_near(sim->snapshot.states[2], to_w * (1 - exp(-t / td)), 1e-9);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------------------ motors

// A motor at its limit: gear 5, 2 N m at rest, none at 30 rad/s of the motor; inertia 0.5 + 25 * 0.01.  The speed of the
// wheel is  w (1 - e^(-t/T)),  w = 30/5,  T = 0.75 w/(5 * 2).
static void motors_accelerate_along_their_line(void **state)
{
    (void)state;
    lw_model *m = parse("linkwork: 1\n"
                        "bodies:\n"
                        "  wheel: {mass: 5, inertia: [0.5, 0.5, 0.5, 0, 0, 0]}\n"
                        "joints:\n"
                        "  A: {type: revolute, between: [ground, wheel], at: [0, 0, 0]}\n"
                        "forces:\n"
                        "  motor: {type: servo, joint: A, gear: 5, rate: 1000, kd: 7, stall: 2, "
                        "no_load: 30, rotor: 0.01}\n");
    static const char *const names[] = {"aba", "hdca", "dense", "index3"};
    for (int i = 0; i < LWI_COUNT(names); i++) {
        const bool steps = !strcmp(names[i], "index3");
        lw_sim *sim = create(m, names[i], "auto", steps ? 1e-8 : 1e-11);
        for (double t = 0.2; t < 2; t += 0.6) {
            const double w = 6, T = 0.75 * w / 10;
            const lw_observation *o = at(sim, t);
            assert_near(o->qd[0], w * (1 - exp(-t / T)), steps ? 5e-5 : 1e-9);
            assert_near(o->kinetic, 0.5 * 0.75 * o->qd[0] * o->qd[0], 1e-12); // with the rotor
            assert_near(o->work, o->kinetic, steps ? 5e-4 : 1e-8);
        }
        lw_sim_destroy(sim);
    }
    lw_model_destroy(m);
}

// Braking, the motor has its whole effort; beyond the speed without load none that drives.
static void motors_brake_with_all_they_have(void **state)
{
    (void)state;
    static const double cases[][3] = {// speed, wanted, effort
                                      {0, 9, 2},   {15, 9, 1},    {15, -9, -2},  {40, 9, 0},
                                      {-15, 9, 2}, {-15, -9, -1}, {15, 0.5, 0.5}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "bodies:\n"
                 "  wheel: {mass: 5, inertia: [0.5, 0.5, 0.5, 0, 0, 0]}\n"
                 "joints:\n"
                 "  A: {type: revolute, between: [ground, wheel], at: [0, 0, 0], qd: [%g]}\n"
                 "forces:\n"
                 "  motor: {type: servo, joint: A, target: %g, gain: [1, 0, 0], stall: 2, no_load: "
                 "30}\n",
                 cases[i][0], cases[i][1]);
        lw_model *m = parse(text);
        lw_sim *sim = create(m, "auto", "auto", 1e-6);
        const lw_observation *o;
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_FORCE, &o), lw_sim_error(sim));
        assert_near(o->qdd[0], cases[i][2] / 0.5, 1e-13);
        lw_sim_destroy(sim);
        lw_model_destroy(m);
    }
}

// The effort behind a lag, y = 3 (1 - e^(-t/T)), and no faster than its rate.
static void efforts_of_servos_lag(void **state)
{
    (void)state;
    lw_model *m = parse("linkwork: 1\n"
                        "bodies:\n"
                        "  wheel: {mass: 5, inertia: [0.5, 0.5, 0.5, 0, 0, 0]}\n"
                        "  disk: {mass: 5, inertia: [0.5, 0.5, 0.5, 0, 0, 0]}\n"
                        "joints:\n"
                        "  A: {type: revolute, between: [ground, wheel], at: [0, 0, 0]}\n"
                        "  B: {type: revolute, between: [ground, disk], at: [0, 0, 0]}\n"
                        "forces:\n"
                        "  a: {type: servo, joint: A, target: 3, gain: [1, 0, 0], lag: 0.1}\n"
                        "  b: {type: servo, joint: B, target: 3, gain: [1, 0, 0], lag: 0.1, "
                        "effort_rate: 5}\n");
    lw_sim *sim = create(m, "auto", "auto", 1e-11);
    const double t = 0.25, T = 0.1;
    const lw_observation *o = at(sim, t);
    assert_near(o->qd[0], 3 * (t - T * (1 - exp(-t / T))) / 0.5, 1e-9);
    assert_near(o->qd[1], 0.5 * 5 * t * t / 0.5, 1e-9); // 5 N m/s until 2.5 N m
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// --------------------------------------------------------------------------------------- linearise

// c[n] ... c[0] of det(s - A), by Faddeev and LeVerrier.
static void characteristic(int n, const double *A, double *c)
{
    double M[N][N] = {{0}}, next[N][N];
    c[n] = 1;
    for (int k = 1; k <= n; k++) {
        double trace = 0;
        for (int i = 0; i < n; i++) M[i][i] += c[n - k + 1];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                next[i][j] = 0;
                for (int l = 0; l < n; l++) next[i][j] += A[i * n + l] * M[l][j];
            }
        memcpy(M, next, sizeof M);
        for (int i = 0; i < n; i++) trace += M[i][i];
        c[n - k] = -trace / k;
    }
}

// m T s^4 + m s^3 + (kp T + kd) s^2 + (kp + ki T) s + ki = 0 are the poles of the controlled cart.
static void linearisation_has_the_poles_of_the_controller(void **state)
{
    (void)state;
    const double m = 2, kp = 40, ki = 30, kd = 12, T = 0.05, w = kp + kd / T;
    const double expected[5] = {ki / m / T, (kp + ki * T) / m / T, (kp * T + kd) / m / T, 1 / T, 1};
    const double A[16] = {0,   1, 0, 0, -w / m, 0, 1 / m, -kd / T / m,
                          -ki, 0, 0, 0, -1 / T, 0, 0,     -1 / T};
    const double C[4] = {-w, 0, 1, -kd / T};
    lw_model *model = cart_with("  force: {type: pid, reference: 0.3, measured: rail.q0, kp: 40, "
                                "ki: 30, kd: 12, filter: 50 ms}\n");
    lw_linear *linear;
    lw_error error = {0};
    double c[N + 1];
    const lw_linear_desc desc = {.outputs = "signal.force.value"};
    lwt_ok(lw_linearize(model, &desc, &linear, &error), &error);
    assert_int_equal(lw_linear_states(linear), 4);
    assert_int_equal(lw_linear_dof(linear), 1);
    assert_string_equal(lw_linear_state_name(linear, 3), "signal.force.state1");
    for (int i = 0; i < 16; i++) assert_near(lw_linear_A(linear)[i], A[i], 1e-8);
    for (int i = 0; i < 4; i++) assert_near(lw_linear_C(linear)[i], C[i], 1e-7);
    characteristic(4, lw_linear_A(linear), c);
    for (int i = 0; i < 5; i++) assert_near(c[i], expected[i], 1e-9 * (1 + expected[i]));
    lw_modes *modes;
    lwt_ok(lw_modes_create(linear, &modes, &error), &error);
    for (int i = 0; i < lw_modes_count(modes); i++) assert_true(lw_modes_at(modes, i).re < 0);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// --------------------------------------------------------------------------------------- callbacks

static const char pendulum[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "inputs: [torque, push]\n"
    "bodies:\n"
    "  arm: {mass: 1.5, inertia: [0.01, 0.02, 0.03, 0, 0, 0], com: [0.4, 0, 0]}\n"
    "  hand: {mass: 0.7, inertia: [0.01, 0.02, 0.03, 0, 0, 0], com: [0.2, 0, 0], position: [0.8, "
    "0, "
    "0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], effort: {q0: %s}}\n"
    "  B: {type: revolute, between: [arm, hand], at: [0.8, 0, 0]}\n"
    "forces:\n"
    "  push: {type: wrench, body: hand, force_of: [%s, 0, 0]}\n";

static lw_model *pendulum_with(const char *torque, const char *push)
{
    char text[4000];
    snprintf(text, sizeof text, pendulum, torque, push);
    return parse(text);
}

typedef struct caller {
    long calls;
    lw_status status;
    double until, value;
} caller;

// The feedback of the formulas below.
static lw_status feedback(void *user, const lw_observation *o, double *inputs)
{
    caller *c = user;
    c->calls++;
    if (o->time > c->until && c->status != LW_OK) return c->status;
    inputs[0] = o->time > c->until ? c->value : 40 * (0.3 - o->q[0]) - 5 * o->qd[0];
    inputs[1] = -2 * o->velocity[2][0] + o->position[2][1];
    return LW_OK;
}

// Feedback by a function of the caller and by formulas of the file is the same motion, with the same effort in results.
static void callbacks_are_feedback(void **state)
{
    (void)state;
    lw_model *a = pendulum_with("40*(0.3 - A.q0) - 5*A.qd0", "-2*body.hand.vx + body.hand.y");
    lw_model *b = pendulum_with("torque", "push");
    for (int i = 0; *lw_formulation_info(i).name; i++) {
        const char *name = lw_formulation_info(i).name;
        const lwi_formulation *f = lwi_formulation_find(name);
        if (f->step || lwi_formulation_accepts(f, a, NULL) != LW_OK) continue;
        for (int stiff = 0; stiff < 2; stiff++) {
            caller c = {.until = INFINITY};
            const char *integrator = stiff ? "bdf" : "verner87";
            lw_sim *by_file = create(a, name, integrator, 1e-11);
            lw_sim *by_call = create(b, name, integrator, 1e-11);
            lwt_ok(lw_sim_set_callback(by_call, feedback, &c), lw_sim_error(by_call));
            const lw_observation *x = at(by_file, 0.7), *y = at(by_call, 0.7);
            for (int k = 0; k < 2; k++) {
                assert_near(y->q[k], x->q[k], stiff ? 1e-7 : 1e-10);
                assert_near(y->qdd[k], x->qdd[k], stiff ? 1e-5 : 1e-8);
            }
            assert_true(c.calls > 10);
            lw_sim_destroy(by_file), lw_sim_destroy(by_call);
        }
    }
    lw_model_destroy(a), lw_model_destroy(b);
}

// The pendulum in equal steps, with feedback by formulas of the file and by the caller.
static void create_stepped(const char *formulation, const char *more, double step, lw_sim *of[2],
                           lw_model *models[2], caller *c)
{
    lw_options o;
    lw_error wrong;
    lw_options_default(&o);
    lwt_ok(lw_options_set(&o, "formulation", formulation, &wrong), &wrong);
    if (more) lwt_ok(lw_options_set(&o, "index3", more, &wrong), &wrong);
    o.step = step;
    models[0] = pendulum_with("40*(0.3 - A.q0) - 5*A.qd0", "-2*body.hand.vx + body.hand.y");
    models[1] = pendulum_with("torque", "push");
    for (int i = 0; i < 2; i++) {
        lw_error error;
        lwt_ok(lw_sim_create(models[i], &(lw_sim_desc){.options = &o}, &of[i], &error), &error);
    }
    *c = (caller){.until = INFINITY};
    lwt_ok(lw_sim_set_callback(of[1], feedback, c), lw_sim_error(of[1]));
}

static void destroy_stepped(lw_sim *of[2], lw_model *models[2])
{
    for (int i = 0; i < 2; i++) lw_sim_destroy(of[i]), lw_model_destroy(models[i]);
}

// Steps of index3 and rattle find the inputs at the motion that they end with: those of the file, from the first step on,
// and with the order of the method.  Steps of index3 differ by Newton's last increments, and these add up over 120 and
// 240 steps: differences are 5e-9 with its default tolerance, 7e-12 with 1e-13.
static void callbacks_are_in_the_steps(void **state)
{
    (void)state;
    static const struct {
        const char *formulation, *more;
        double tolerance;
    } cases[] = {{"index3", NULL, 1e-8},
                 {"index3", "tolerance=1e-13", 2e-11},
                 {"index3", "coordinates=7,tolerance=1e-13", 2e-11},
                 {"index3", "newton=modified,tolerance=1e-13", 2e-11},
                 {"rattle", NULL, 1e-14}};
    lw_sim *of[2];
    lw_model *models[2];
    caller c;
    lw_model *exact_model =
        pendulum_with("40*(0.3 - A.q0) - 5*A.qd0", "-2*body.hand.vx + body.hand.y");
    lw_sim *reference = create(exact_model, "aba", "verner87", 1e-12);
    const double exact = at(reference, 0.6)->q[0];
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        double off[2];
        for (int half = 0; half < 2; half++) {
            create_stepped(cases[k].formulation, cases[k].more, half ? 0.0025 : 0.005, of, models,
                           &c);
            const lw_observation *x = at(of[0], 0.6), *y = at(of[1], 0.6);
            for (int i = 0; i < 2; i++) {
                assert_near(y->q[i], x->q[i], cases[k].tolerance);
                assert_near(y->qd[i], x->qd[i], 100 * cases[k].tolerance);
            }
            off[half] = y->q[0] - exact;
            destroy_stepped(of, models);
        }
        assert_near(off[0] / off[1], 4, 0.3);
    }
    lw_sim_destroy(reference);
    lw_model_destroy(exact_model);
}

// In long steps inputs converge too, in more iterations than Newton's alone.
static void callbacks_converge_in_long_steps(void **state)
{
    (void)state;
    lw_sim *of[2];
    lw_model *models[2];
    caller c;
    create_stepped("index3", "tolerance=1e-13", 0.05, of, models, &c);
    const lw_observation *x = at(of[0], 0.6), *y = at(of[1], 0.6);
    for (int i = 0; i < 2; i++) {
        assert_near(y->q[i], x->q[i], 2e-11);
        assert_near(y->qd[i], x->qd[i], 2e-9);
    }
    destroy_stepped(of, models);
}

// As in other formulations, with the state of the last step.
static void callbacks_that_fail_end_steps(void **state)
{
    (void)state;
    static const char *const names[] = {"index3", "rattle"};
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lw_sim *of[2];
        lw_model *models[2];
        caller c;
        create_stepped(names[i], NULL, 0.01, of, models, &c);
        c.until = 0.25, c.status = LW_ERR_IO;
        assert_int_equal(lw_sim_step(of[1], 1), LW_ERR_IO);
        assert_non_null(strstr(lw_sim_error(of[1])->text, "callback of inputs failed at t = 0.2"));
        assert_near(lw_sim_time(of[1]), 0.25, 0.01);
        const double place = at(of[0], lw_sim_time(of[1]))->q[0];
        const lw_observation *o = NULL;
        lwt_ok(lw_sim_observe(of[1], LW_OBSERVE_TWIST, &o), lw_sim_error(of[1]));
        assert_near(o->q[0], place, 1e-6);
        c.status = LW_OK, c.value = NAN;
        assert_int_equal(lw_sim_step(of[1], 1), LW_ERR_NOT_FINITE);
        assert_non_null(strstr(lw_sim_error(of[1])->text, "input 'torque': the callback gives"));
        c.value = 1;
        lwt_ok(lw_sim_step(of[1], 0.5), lw_sim_error(of[1]));
        destroy_stepped(of, models);
    }
}

static lw_status count_rows(void *user, const lw_observation *o)
{
    double *last = user;
    last[0]++;
    last[1] = o->time;
    return LW_OK;
}

// A failure ends the run with a message, after a row of the last accepted state; the next call continues.
static void callbacks_that_fail_end_the_run(void **state)
{
    (void)state;
    lw_model *m = pendulum_with("torque", "push");
    lw_sim *sim = create(m, "aba", "dopri54", 1e-8);
    caller c = {.until = 0.25, .status = LW_ERR_IO};
    double rows[2] = {0};
    lwt_ok(lw_sim_set_callback(sim, feedback, &c), lw_sim_error(sim));
    lw_sim_set_duration(sim, 1);
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_FORCE, count_rows, rows, NULL, NULL), LW_ERR_IO);
    assert_non_null(strstr(lw_sim_error(sim)->text, "callback of inputs failed at t = 0.2"));
    assert_true(rows[0] > 20 && rows[1] > 0.2 && rows[1] <= 0.25);
    c.status = LW_OK, c.value = NAN; // no numbers: shorter steps, then an error with the name
    assert_int_equal(lw_sim_step(sim, 1), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(lw_sim_error(sim)->text, "input 'torque': the callback gives"));
    c.value = 1;
    lwt_ok(lw_sim_step(sim, 0.5), lw_sim_error(sim));
    const long calls = c.calls;
    lwt_ok(lw_sim_set_callback(sim, NULL, NULL), lw_sim_error(sim));
    lwt_ok(lw_sim_step(sim, 0.6), lw_sim_error(sim));
    assert_int_equal(c.calls, calls);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
    m = cart_with("  force: 0\n");
    sim = create(m, "aba", "auto", 1e-6);
    assert_int_equal(lw_sim_set_callback(sim, feedback, &c), LW_ERR_ARGUMENT);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------------- formulations

static const char arm[] =
    "linkwork: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "signals:\n"
    "  goal: 0.4*sin(3*t)\n"
    "  a: {type: pid, reference: goal, measured: A.q0, kp: 60, ki: 50, kd: 9, filter: 10 ms, "
    "range: "
    "[-30, 30]}\n"
    "  b: {type: pid, reference: -goal, measured: B.q0, measured_rate: B.qd0, kp: 40, ki: 20, kd: "
    "5}\n"
    "  c: {type: lag, of: 0.5 - 8*C.q0 - C.qd0 + 0.3*body.hand.x, time: 20 ms}\n"
    "bodies:\n"
    "  upper: {mass: 2, inertia: [0.02, 0.1, 0.1, 0, 0, 0], position: [0.3, 0, 0]}\n"
    "  lower: {mass: 1.5, inertia: [0.01, 0.06, 0.06, 0, 0, 0], position: [0.9, 0, 0]}\n"
    "  hand: {mass: 0.5, inertia: [0.004, 0.005, 0.006, 0, 0, 0], position: [1.3, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, upper], at: [0, 0, 0], axis: [0, 1, 0], effort: {q0: "
    "a}}\n"
    "  B: {type: revolute, between: [upper, lower], at: [0.6, 0, 0], axis: [0, 1, 0.2], effort: "
    "{q0: b}}\n"
    "  C: {type: revolute, between: [lower, hand], at: [1.2, 0, 0], axis: [1, 0, 0], effort: {q0: "
    "c}}\n";

// A parallelogram with a controlled crank; the coupler has a spring that follows a signal of the other crank.
static const char loop[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "signals:\n"
    "  goal: {type: lag, of: \"0.5 + 0.3*step(t, 0.1, 0.2)\", time: 50 ms}\n"
    "  drive: {type: pid, reference: goal, measured: A.q0, kp: 80, ki: 60, kd: 12, filter: 10 ms}\n"
    "  bend: {type: integral, of: 0.2*D.qd0 - bend}\n"
    "bodies:\n"
    "  left: {mass: 0.5, inertia: [0.001, 0.01, 0.01, 0, 0, 0], position: [0, 0.25, 0], "
    "orientation: [0.7071067811865476, 0, 0, 0.7071067811865476]}\n"
    "  top: {mass: 1.2, inertia: [0.002, 0.14, 0.14, 0, 0, 0], position: [0.5, 0.5, 0]}\n"
    "  right: {mass: 0.6, inertia: [0.002, 0.02, 0.02, 0, 0, 0], position: [1.05, 0.3, 0], "
    "orientation: [0.7071067811865476, 0, 0, 0.7071067811865476]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, left], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: "
    "drive}}\n"
    "  B: {type: revolute, between: [left, top], at: [0, 0.5, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [top, right], at: [1, 0.5, 0], axis: [0, 0, 1], effort: {q0: "
    "bend}}\n"
    "  D: {type: revolute, between: [ground, right], at: [1.1, 0.1, 0], axis: [0, 0, 1]}\n";

static void same_by_all(const char *text)
{
    lw_model *m = parse(text);
    const double t = 0.6;
    lw_sim *first = create(m, "dense", "verner87", 1e-11);
    const lw_observation *a = at(first, t);
    int n = 0;
    for (int i = 0; *lw_formulation_info(i).name; i++) {
        const char *name = lw_formulation_info(i).name;
        const lwi_formulation *f = lwi_formulation_find(name);
        if (lwi_formulation_accepts(f, m, NULL) != LW_OK || f->step) continue;
        for (int stiff = 0; stiff < 2; stiff++) {
            lw_sim *sim = create(m, name, stiff ? "bdf" : "verner87", 1e-11);
            const lw_observation *b = at(sim, t);
            const double tolerance = stiff ? 1e-6 : 1e-7;
            for (int k = 0; k < m->nq; k++) assert_near(b->q[k], a->q[k], tolerance);
            for (int k = 0; k < m->nv; k++) assert_near(b->qd[k], a->qd[k], 10 * tolerance);
            for (int k = 0; k < m->nstate; k++)
                assert_near(sim->snapshot.states[k], first->snapshot.states[k], 10 * tolerance);
            for (int k = 0; k < m->njoint; k++) // the efforts are those of the observation
                for (int c = 0; c < 6; c++)
                    if (a->reaction_unique[k])
                        assert_near(b->reaction[k][c], a->reaction[k][c], 1e3 * tolerance);
            lw_sim_destroy(sim);
            n++;
        }
    }
    assert_true(n >= 8);
    lw_sim_destroy(first);
    lw_model_destroy(m);
}

static void controllers_move_an_arm_alike_by_all_formulations(void **state)
{
    (void)state;
    same_by_all(arm);
}

static void controllers_move_a_loop_alike_by_all_formulations(void **state)
{
    (void)state;
    same_by_all(loop);
}

// ------------------------------------------------------------------------------- restart and batches

// A state that is read and set again continues with the same bits.
static void states_restart(void **state)
{
    (void)state;
    lw_model *m = parse(arm);
    lw_sim *a = create(m, "aba", "dopri54", 1e-8), *b = create(m, "aba", "dopri54", 1e-8);
    const int n = lw_sim_state_size(a);
    double *x = lwt_vector(n), *y = lwt_vector(n), t;
    at(a, 0.3);
    lw_sim_get_state(a, &t, x);
    lwt_ok(lw_sim_set_state(b, t, x), lw_sim_error(b));
    at(a, 0.5), at(b, 0.5);
    lw_sim_get_state(a, NULL, x), lw_sim_get_state(b, NULL, y);
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
    free(x), free(y);
    lw_sim_destroy(a), lw_sim_destroy(b);
    lw_model_destroy(m);
}

// The lanes of a batch have the bits of one simulation.
static void batches_have_the_bits_of_a_simulation(void **state)
{
    (void)state;
    static const char *const formulations[] = {"aba", "momenta"};
    lw_model *m = parse(arm);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int lanes = 1; lanes <= 8; lanes += 7) {
            enum { INSTANCES = 5 };
            lw_options o;
            lw_error error = {0};
            lw_batch *batch;
            lw_options_default(&o);
            snprintf(o.formulation, sizeof o.formulation, "%s", formulations[f]);
            snprintf(o.integrator, sizeof o.integrator, "dopri54");
            o.rtol = o.atol = 1e-8;
            const lw_batch_desc desc = {
                .options = &o, .instances = INSTANCES, .threads = 2, .lanes = lanes};
            lwt_ok(lw_batch_create(m, &desc, &batch, &error), &error);
            lwt_ok(lw_batch_step(batch, 0.4), lw_batch_error(batch));
            lw_sim *sim = create(m, formulations[f], "dopri54", 1e-8);
            lwt_ok(lw_sim_step(sim, 0.4), lw_sim_error(sim));
            const int n = sim->work->layout.nx;
            double *x = lwt_vector(lw_sim_state_size(sim));
            double *y = lwt_vector(lw_sim_state_size(sim));
            lw_sim_get_state(sim, NULL, x);
            for (int i = 0; i < INSTANCES; i++) {
                lwt_ok(lw_batch_get_state(batch, i, NULL, y), lw_batch_error(batch));
                assert_memory_equal(x, y, (size_t)n * sizeof *x);
            }
            free(x), free(y);
            lw_sim_destroy(sim);
            lw_batch_destroy(batch);
        }
    lw_model_destroy(m);
}

// ---------------------------------------------------------------------------------------- messages

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *signals, *message;
    } cases[] = {
        {"{type: lag, of: 1, time: 0}", "time is 0, expected a number > 0"},
        {"{type: lag, of: 1}", "key 'time' is missing"},
        {"{type: integral, of: 1, range: [2, 1]}", "range is [2, 1], expected lower < upper"},
        {"{type: pid, reference: 1, measured: rail.q0, kp: 1, kd: 1}", "neither filter"},
        {"{type: pid, reference: 1, measured: rail.q0, kp: -1}",
         "kp is -1, expected a number >= 0"},
        {"{type: pid, reference: 1, measured: rail.q0, ki: 1, range: [0, 1]}",
         "tracking, the time constant of the anti-windup, is missing"},
        {"{type: pid, reference: 1, measured: other.q0, kp: 1}", "there is no joint 'other'"},
        {"{type: pid, reference: 1, kp: 1}", "key 'measured' is missing"},
        {"{type: transfer, of: 1, numerator: [1, 2, 3], denominator: [1, 2]}",
         "expected no more in the numerator"},
        {"{type: transfer, of: 1, numerator: [1], denominator: [0, 2]}",
         "the factor of the highest power of s, is 0"},
        {"{type: transfer, of: 1, numerator: [1], denominator: [2]}",
         "has 1 numbers in denominator, expected at least 2"},
        {"{type: lag, of: force, time: 1}", "depends on itself"},
        {"{type: rate_limit, of: 1, rate: 0, time: 1}", "rate is 0, expected a number > 0"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[4000], line[400];
        lw_model *m = NULL;
        lw_error error = {0};
        snprintf(line, sizeof line, "  force: %s\n", cases[i].signals);
        snprintf(text, sizeof text, cart, line);
        const lw_status status =
            lw_model_parse(text, strlen(text), "test", &native, &m, NULL, &error);
        if (status == LW_OK || !strstr(error.text, cases[i].message))
            fail_msg("%s: '%s', expected '%s'", cases[i].signals, error.text, cases[i].message);
        assert_true(error.line == 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pid_is_the_linear_system),
        cmocka_unit_test(known_rates_need_no_filter),
        cmocka_unit_test(lags_and_integrals_are_exponentials),
        cmocka_unit_test(transfer_functions_have_their_step_response),
        cmocka_unit_test(rates_are_limited),
        cmocka_unit_test(events_follow_states),
        cmocka_unit_test(integrals_stay_within_their_range),
        cmocka_unit_test(integrals_of_controllers_do_not_wind_up),
        cmocka_unit_test(motors_accelerate_along_their_line),
        cmocka_unit_test(motors_brake_with_all_they_have),
        cmocka_unit_test(efforts_of_servos_lag),
        cmocka_unit_test(linearisation_has_the_poles_of_the_controller),
        cmocka_unit_test(callbacks_are_feedback),
        cmocka_unit_test(callbacks_are_in_the_steps),
        cmocka_unit_test(callbacks_converge_in_long_steps),
        cmocka_unit_test(callbacks_that_fail_end_steps),
        cmocka_unit_test(callbacks_that_fail_end_the_run),
        cmocka_unit_test(controllers_move_an_arm_alike_by_all_formulations),
        cmocka_unit_test(controllers_move_a_loop_alike_by_all_formulations),
        cmocka_unit_test(states_restart),
        cmocka_unit_test(batches_have_the_bits_of_a_simulation),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
