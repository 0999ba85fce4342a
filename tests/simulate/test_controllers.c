// test_controllers.c -- signals with states: integrals, lags, transfer functions, controllers, against closed forms, and
// the same motion by every formulation.
#include "model/model.h"
#include "simulate/simulation.h"
#include "support/mechanism.h"

static const char cart[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "signals:\n%s"
    "bodies:\n"
    "  cart: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}\n"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, cart], at: [0, 0, 0], axis: "
    "[1, 0, 0], q: [0.1], qd: [-0.2], effort: {q0: force}}\n";

static const lw_read_desc native = {.format = "yaml"};

static lw_model *parse(const char *text)
{
    lw_model *m;
    lw_error error = {0};
    lwt_ok(lw_model_parse(text, strlen(text), "test", &native, &m, NULL, &error), &error);
    return m;
}

// The cart with these signals, of which one is `force`.
static lw_model *cart_with(const char *signals)
{
    char text[4000];
    snprintf(text, sizeof text, cart, signals);
    return parse(text);
}

static lw_status try_create(const lw_model *m, const char *formulation, const char *integrator,
                            double tolerance, lw_sim **sim, lw_error *error)
{
    lw_options o;
    lw_options_default(&o);
    snprintf(o.formulation, sizeof o.formulation, "%s", formulation);
    snprintf(o.integrator, sizeof o.integrator, "%s", integrator);
    o.rtol = o.atol = tolerance;
    o.duration = 100;
    return lw_sim_create(m, &(lw_sim_desc){.options = &o}, sim, error);
}

static lw_sim *create(const lw_model *m, const char *formulation, const char *integrator,
                      double tolerance)
{
    lw_sim *sim;
    lw_error error = {0};
    lwt_ok(try_create(m, formulation, integrator, tolerance, &sim, &error), &error);
    return sim;
}

static const lw_observation *at(lw_sim *sim, double t)
{
    const lw_observation *o;
    lwt_ok(lw_sim_step(sim, t), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_FORCE, &o), lw_sim_error(sim));
    return o;
}

static double signal_of(const lw_model *m, const lw_observation *o, const char *name)
{
    for (int i = 0; i < lw_model_output_count(m); i++) {
        const lw_output_info info = lw_model_output(m, i);
        if (!strcmp(info.kind, "signal") && !strcmp(info.item, name)) return o->output[i];
    }
    fail_msg("no signal %s", name);
    return NAN;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", value, expected, tolerance);
}

// ------------------------------------------------------------------------------------ linear systems

enum { N = 6 };

// y := exp(A t) y, by the series of exp(A t / 2^k).
static void propagate(int n, double A[N][N], double t, double y[N])
{
    enum { STEPS = 1024, TERMS = 24 };
    for (int s = 0; s < STEPS; s++) {
        double term[N], next[N];
        memcpy(term, y, sizeof term);
        for (int k = 1; k <= TERMS; k++) {
            for (int i = 0; i < n; i++) {
                next[i] = 0;
                for (int j = 0; j < n; j++) next[i] += A[i][j] * term[j] * t / STEPS / k;
            }
            memcpy(term, next, sizeof term);
            for (int i = 0; i < n; i++) y[i] += term[i];
        }
    }
}

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
        if (lwi_formulation_accepts(f, m, NULL) != LW_OK) continue;
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

// Formulations with own steps name the signal.
static void own_steps_refuse_states(void **state)
{
    (void)state;
    lw_model *m = parse(arm);
    static const char *const names[] = {"index3", "rattle"};
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lw_sim *sim = NULL;
        lw_error error = {0};
        assert_int_equal(try_create(m, names[i], "auto", 1e-6, &sim, &error), LW_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.text, "signal 'a' has states"));
    }
    lw_model_destroy(m);
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
        {"{type: lag, of: 1}", "time"},
        {"{type: integral, of: 1, range: [2, 1]}", "range is [2, 1], expected lower < upper"},
        {"{type: pid, reference: 1, measured: rail.q0, kp: 1, kd: 1}", "neither filter"},
        {"{type: pid, reference: 1, measured: rail.q0, kp: -1}", "kp"},
        {"{type: pid, reference: 1, measured: rail.q0, ki: 1, range: [0, 1]}", "tracking"},
        {"{type: pid, reference: 1, measured: other.q0, kp: 1}", "there is no joint 'other'"},
        {"{type: pid, reference: 1, kp: 1}", "measured"},
        {"{type: transfer, of: 1, numerator: [1, 2, 3], denominator: [1, 2]}",
         "expected no more in the numerator"},
        {"{type: transfer, of: 1, numerator: [1], denominator: [0, 2]}",
         "the factor of the highest power of s, is 0"},
        {"{type: transfer, of: 1, numerator: [1], denominator: [2]}", "denominator"},
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
        cmocka_unit_test(controllers_move_an_arm_alike_by_all_formulations),
        cmocka_unit_test(controllers_move_a_loop_alike_by_all_formulations),
        cmocka_unit_test(own_steps_refuse_states),
        cmocka_unit_test(states_restart),
        cmocka_unit_test(batches_have_the_bits_of_a_simulation),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
