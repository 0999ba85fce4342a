// test_batch_alone.c -- integrators and options that lanes do not have: instances with separate simulations have the
// bits of single runs, for any number of threads; starts that do not close are failures of their instances.
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

static void ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s: %s", lw_status_text(status), error ? error->text : "");
}

// A four-bar with an input and a stop; `high` opens its loop.
static const char four_bar[] =
    "linkwork: 1\n"
    "inputs: [push]\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {high: 0, c: 0.1}\n"
    "bodies:\n"
    "  l1: {mass: 1, inertia: [0.0208, 0.0208, 0.0208, 0, 0, 0], position: [0.15, 0.2, 0]}\n"
    "  l2: {mass: 1, inertia: [0.0169, 0.0169, 0.0169, 0, 0, 0], position: [0.5, 0.45, 0]}\n"
    "  l3: {mass: 1, inertia: [0.0208, 0.0208, 0.0208, 0, 0, 0], position: [0.8, 0.25, 0]}\n"
    "joints:\n"
    "  j1: {type: revolute, between: [ground, l1], at: [0, 0, 0], axis: [0, 0, 1], qd: [2],\n"
    "       effort: {q0: push}, spring: {q0: {damping: c}}}\n"
    "  j2: {type: revolute, between: [l1, l2], at: [0.3, 0.4, 0], axis: [0, 0, 1]}\n"
    "  j3: {type: revolute, between: [l2, l3], at: [0.7, 0.5, 0], axis: [0, 0, 1]}\n"
    "  j4: {type: revolute, between: [ground, l3], frame1: {position: [0.9, high, 0]},\n"
    "       frame2: {position: [0.1, -0.25, 0]}, cut: prefer}\n"
    "forces:\n"
    "  floor: {type: stop, between: [l2, ground], radius: 0.1, normal: [0, 1, 0], to: [0, 0.3, "
    "0],\n"
    "          stiffness: 1e4, dissipation: 0.3}\n";

static lw_model *parse(void)
{
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    ok(lw_model_parse(four_bar, strlen(four_bar), "text", &desc, &model, NULL, &error), &error);
    return model;
}

static const struct {
    const char *formulation, *integrator, *singular;
    double step;
} methods[] = {
    {"auto", "bdf", "pass", 0},          {"auto", "adams", "pass", 0},
    {"auto", "dopri5", "pass", 0},       {"dca", "verner87", "pass", 0},
    {"index3", "index3", "pass", 0.002}, {"rcr", "dopri54", "stop", 0},
};
enum { METHODS = sizeof methods / sizeof methods[0], INSTANCES = 5, ROWS = 8 };
#define ROW 0.02

static lw_options options_of(int method)
{
    lw_options o;
    lw_options_default(&o);
    snprintf(o.formulation, sizeof o.formulation, "%s", methods[method].formulation);
    snprintf(o.integrator, sizeof o.integrator, "%s", methods[method].integrator);
    lw_options_set(&o, "singular", methods[method].singular, NULL);
    o.step = methods[method].step;
    o.rtol = o.atol = 1e-6;
    o.duration = ROW * ROWS;
    o.sample = ROW;
    return o;
}

// What differs: mass, input, tolerance; and the start is set, if only to what it is.
enum { VARY = 4 };
static const char *const vary[VARY] = {"body.l1.mass", "input.push", "joint.j1.q0", "option.rtol"};
static const double values[INSTANCES][VARY] = {
    {1, 0, 0, 1e-6}, {2, 0.5, 0, 1e-6}, {1, -0.5, 0, 1e-7}, {3, 0, 0, 1e-5}, {1, 0, 0, 1e-8}};

typedef struct rows {
    double x[ROWS + 1];
    int n;
} rows;

static lw_status keep(void *user, const lw_observation *o)
{
    rows *r = user;
    r->x[r->n++] = o->position[2][0];
    return LW_OK;
}

// Instance alone, by the calls of single runs.
static void run_alone(const lw_model *model, int method, int instance, rows *r, lw_summary *summary)
{
    lw_options o = options_of(method);
    lw_sim *sim;
    lw_error error = {0};
    double q[8], v[8];
    o.rtol = values[instance][3];
    ok(lw_sim_create(model, &(lw_sim_desc){.options = &o}, &sim, &error), &error);
    const lw_observation *start;
    ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &start), lw_sim_error(sim));
    memcpy(q, start->q, (size_t)lw_model_nq(model) * sizeof *q);
    memcpy(v, start->qd, (size_t)lw_model_nv(model) * sizeof *v);
    q[0] = values[instance][2];
    ok(lw_sim_set_joints(sim, 0, q, v), lw_sim_error(sim));
    ok(lw_sim_set_input(sim, 0, values[instance][1]), lw_sim_error(sim));
    r->n = 0;
    ok(lw_sim_run(sim, LW_OBSERVE_REACTION, keep, r, NULL, NULL), lw_sim_error(sim));
    lw_sim_summary(sim, summary);
    lw_sim_destroy(sim);
}

typedef struct collected {
    rows of[INSTANCES];
} collected;

static lw_status collect(void *user, lw_batch *batch, double time)
{
    collected *c = user;
    (void)time;
    for (int i = 0; i < lw_batch_instances(batch); i++) {
        const lw_observation *o;
        ok(lw_batch_observe(batch, i, LW_OBSERVE_REACTION, &o), lw_batch_error(batch));
        keep(&c->of[i], o);
    }
    return LW_OK;
}

static void compare(const lw_model *model, int method, int threads)
{
    const lw_options o = options_of(method);
    const lw_batch_desc desc = {.options = &o,
                                .instances = INSTANCES,
                                .threads = threads,
                                .nvary = VARY,
                                .vary = vary,
                                .values = values[0]};
    lw_batch *batch;
    lw_error error = {0};
    collected c = {0};
    ok(lw_batch_create(model, &desc, &batch, &error), &error);
    ok(lw_batch_run(batch, collect, &c, NULL, NULL), lw_batch_error(batch));
    for (int i = 0; i < INSTANCES; i++) {
        rows single;
        lw_summary alone, mine;
        run_alone(lw_batch_model(batch, i), method, i, &single, &alone);
        lw_batch_summary(batch, i, &mine);
        assert_int_equal(c.of[i].n, ROWS + 1);
        if (memcmp(c.of[i].x, single.x, sizeof single.x) != 0)
            fail_msg("%s, %s: instance %d has other numbers than alone",
                     methods[method].formulation, methods[method].integrator, i);
        assert_int_equal(mine.steps, alone.steps);
        assert_int_equal(mine.events, alone.events);
        assert_true(mine.energy_error == alone.energy_error);
        assert_true(mine.end == ROW * ROWS);
    }
    lw_batch_destroy(batch);
}

static void instances_have_the_bits_of_single_runs(void **state)
{
    (void)state;
    lw_model *model = parse();
    for (int m = 0; m < METHODS; m++)
        for (int threads = 1; threads <= 3; threads += 2) compare(model, m, threads);
    lw_model_destroy(model);
}

static void a_failed_instance_can_be_set_again(void **state)
{
    (void)state;
    lw_model *model = parse();
    lw_options o = options_of(0);
    lw_batch *batch;
    lw_error error = {0};
    static const char *const steps[] = {"option.max_steps"};
    static const double limits[] = {0, 5};
    double x[64], t;
    const lw_batch_desc desc = {
        .options = &o, .instances = 2, .nvary = 1, .vary = steps, .values = limits};
    ok(lw_batch_create(model, &desc, &batch, &error), &error);
    assert_true(lw_batch_state_size(batch, 1) <= 64);
    assert_int_not_equal(lw_batch_step(batch, 0.1), LW_OK);
    assert_non_null(strstr(lw_batch_error(batch)->text, "instance 1: "));
    assert_int_equal(lw_batch_failed(batch), 1);
    const lw_observation *observation;
    ok(lw_batch_observe(batch, 1, LW_OBSERVE_POSE, &observation), lw_batch_error(batch));
    assert_int_equal(lw_batch_failed(batch), 1); // an observation does not mend it
    ok(lw_batch_get_state(batch, 0, &t, x), lw_batch_error(batch));
    assert_true(t == 0.1);
    ok(lw_batch_set_state(batch, 1, t, x), lw_batch_error(batch));
    assert_int_equal(lw_batch_failed(batch), 0);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ starts

static lw_status count_rows(void *user, lw_batch *batch, double time)
{
    (void)batch, (void)time;
    ++*(int *)user;
    return LW_OK;
}

static void a_start_that_does_not_close_is_a_failure(void **state)
{
    (void)state;
    lw_model *model = parse();
    static const char *const names[] = {"high"};
    static const double high[] = {0.2, 0, -0.3, 0};
    for (int m = -1; m < METHODS; m++) { // -1: in lanes
        lw_options o = options_of(m < 0 ? 0 : m);
        if (m < 0) snprintf(o.integrator, sizeof o.integrator, "dopri54");
        const lw_batch_desc desc = {
            .options = &o, .instances = 4, .nvary = 1, .vary = names, .values = high};
        lw_sweep *sweep;
        lw_batch *batch = NULL;
        lw_error error = {0};
        int seen = 0;
        ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
        ok(lw_sweep_run(sweep, count_rows, &seen, NULL, NULL), lw_sweep_error(sweep));
        assert_int_equal(seen, ROWS + 1);
        assert_int_equal(lw_sweep_failed(sweep), 2);
        for (int i = 0; i < 4; i++) {
            lw_summary summary;
            lw_sweep_summary(sweep, i, &summary);
            assert_true(summary.end == (i % 2 ? ROW * ROWS : 0));
            assert_int_equal(lw_sweep_status(sweep, i) == LW_OK, i % 2);
            assert_int_equal(strstr(lw_sweep_failure(sweep, i), "does not close") != NULL,
                             i % 2 == 0);
        }
        lw_sweep_destroy(sweep);
        // a batch is refused whole, and so is a sweep of which none runs
        assert_int_not_equal(lw_batch_create(model, &desc, &batch, &error), LW_OK);
        assert_null(batch);
        const lw_batch_desc none = {
            .options = &o, .instances = 1, .nvary = 1, .vary = names, .values = high};
        sweep = NULL;
        assert_int_not_equal(lw_sweep_create(model, &none, &sweep, &error), LW_OK);
        assert_non_null(strstr(error.text, "instance 0: "));
        assert_null(sweep);
    }
    lw_model_destroy(model);
}

// Groups that cannot begin do not end the sweep.
static void later_groups_run_where_the_first_cannot(void **state)
{
    (void)state;
    enum { N = 60 };
    lw_model *model = parse();
    static const char *const names[] = {"high", "c"};
    static double high[N][2];
    for (int i = 0; i < N; i++) {
        high[i][0] = i < 40 ? 0.1 + 0.01 * i : 0;
        high[i][1] = 0.01 * (i + 1);
    }
    lw_options o = options_of(0);
    o.duration = ROW;
    const lw_batch_desc desc = {.options = &o,
                                .instances = N,
                                .threads = 2,
                                .nvary = 2,
                                .vary = names,
                                .values = high[0],
                                .memory = 1000000};
    lw_sweep *sweep;
    lw_error error = {0};
    int seen = 0;
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    ok(lw_sweep_run(sweep, count_rows, &seen, NULL, NULL), lw_sweep_error(sweep));
    assert_int_equal(lw_sweep_failed(sweep), 40);
    assert_true(seen > 2);
    for (int i = 0; i < N; i++) assert_int_equal(lw_sweep_status(sweep, i) == LW_OK, i >= 40);
    lw_sweep_destroy(sweep);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------- callbacks

// A force that depends on the state and on the instance.
static double push_of(int instance, double t, const double *q, const double *qd)
{
    return -(1 + instance) * qd[0] + sin(3 * q[0]) + t;
}

typedef struct calls {
    long count, rows;
    int largest; // rows of a call
    int fails;   // this instance fails; -1: none
} calls;

static lw_status push(void *user, const lw_batch_states *s, double *inputs)
{
    calls *c = user;
    if (c) c->count++, c->rows += s->count;
    for (int k = 0; k < s->count; k++) {
        if (c && s->count > c->largest) c->largest = s->count;
        inputs[k] = push_of(s->instance[k], s->time[k], s->q + k * s->nq, s->qd + k * s->nv);
        if (c && c->fails == s->instance[k] && s->time[k] > 0.05) inputs[k] = NAN;
    }
    return LW_OK;
}

static lw_status give_up(void *user, const lw_batch_states *s, double *inputs)
{
    (void)user, (void)inputs;
    return s->time[0] > 0.05 ? LW_ERR_UNSUPPORTED : LW_OK;
}

static lw_status push_single(void *user, const lw_observation *state, double *inputs)
{
    inputs[0] = push_of(*(const int *)user, state->time, state->q, state->qd);
    return LW_OK;
}

// Without the stop, at which steps in lanes do not end.
static lw_model *parse_smooth(void)
{
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    const size_t length = (size_t)(strstr(four_bar, "forces:") - four_bar);
    ok(lw_model_parse(four_bar, length, "text", &desc, &model, NULL, &error), &error);
    return model;
}

enum { CALLED = 11, NX = 64 };

static lw_options called_options(const char *integrator)
{
    lw_options o;
    lw_options_default(&o);
    snprintf(o.integrator, sizeof o.integrator, "%s", integrator);
    o.singular = LW_SINGULAR_TURN;
    // by rcr the speeds of the first callback differ by round-off (docs/batch.md)
    snprintf(o.formulation, sizeof o.formulation, "dca");
    if (strcmp(integrator, "rk4") == 0) o.step = 0.004;
    return o;
}

// The state and an acceleration of instance i alone.
static void called_alone(const lw_model *model, const lw_options *o, int i, double *x,
                         double *acceleration)
{
    lw_sim *sim;
    lw_error error = {0};
    const lw_observation *seen;
    ok(lw_sim_create(model, &(lw_sim_desc){.options = o}, &sim, &error), &error);
    ok(lw_sim_set_callback(sim, push_single, &i), lw_sim_error(sim));
    ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
    ok(lw_sim_step(sim, 0.2), lw_sim_error(sim));
    assert_in_range(lw_sim_state_size(sim), 1, NX);
    lw_sim_get_state(sim, NULL, x);
    ok(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &seen), lw_sim_error(sim));
    *acceleration = seen->qdd[0];
    lw_sim_destroy(sim);
}

static void compare_called(const lw_model *model, const char *integrator, int threads, int lanes)
{
    static const char *const names[] = {"body.l1.mass"};
    double given[CALLED];
    for (int i = 0; i < CALLED; i++) given[i] = i < 2 ? 1.5 : 1;
    const lw_options options = called_options(integrator);
    lw_batch *batch;
    lw_error error = {0};
    calls seen = {.fails = -1};
    const lw_batch_desc desc = {.options = &options,
                                .instances = CALLED,
                                .threads = threads,
                                .lanes = lanes,
                                .nvary = 1,
                                .vary = names,
                                .values = given,
                                .callback = push,
                                .callback_user = threads > 1 ? NULL : &seen};
    ok(lw_batch_create(model, &desc, &batch, &error), &error);
    ok(lw_batch_step(batch, 0.1), lw_batch_error(batch));
    ok(lw_batch_step(batch, 0.2), lw_batch_error(batch));
    const long before = seen.count;
    for (int i = 0; i < CALLED; i++) {
        double x[NX], y[NX], acceleration;
        const lw_observation *o;
        ok(lw_batch_observe(batch, i, LW_OBSERVE_ACCELERATION, &o), lw_batch_error(batch));
        called_alone(lw_batch_model(batch, i), &options, i, x, &acceleration);
        ok(lw_batch_get_state(batch, i, NULL, y), &error);
        const int nx = lw_batch_state_size(batch, i);
        for (int k = 0; k < nx; k++)
            if (x[k] != y[k]) fail_msg("%s: instance %d, state %d", integrator, i, k);
        assert_true(o->qdd[0] == acceleration);
    }
    if (threads == 1 && strcmp(integrator, "bdf") != 0) {
        assert_int_equal(seen.largest, CALLED); // all of them in one call
        assert_int_equal(seen.count, before);   // rows have the inputs of their states already
        assert_true(seen.rows > 5 * seen.count);
    }
    lw_batch_destroy(batch);
}

static void instances_with_a_callback_have_the_bits_of_single_runs(void **state)
{
    (void)state;
    lw_model *model = parse_smooth();
    static const char *const integrators[] = {"dopri54", "rk4", "bdf"};
    for (int m = 0; m < 3; m++)
        for (int threads = 1; threads <= 3; threads += 2)
            for (int lanes = 1; lanes <= 8; lanes += 7)
                compare_called(model, integrators[m], threads, lanes);
    lw_model_destroy(model);
}

// times: the latest one, the calls, those between rows
static int progress_grows(void *user, double time, double end)
{
    double *times = user;
    if (!(time >= times[0] && time <= end))
        fail_msg("%.17g after %.17g of %g", time, times[0], end);
    times[0] = time, times[1]++;
    if (fabs(remainder(time, 0.1)) > 1e-9) times[2]++;
    return 0;
}

// Instances run one after the other; the time of progress does not go back.
static void progress_does_not_go_back(void **state)
{
    (void)state;
    lw_model *model = parse_smooth();
    static const char *const names[] = {"body.l1.mass"};
    const double masses[] = {1, 1.5, 2};
    lw_options options = called_options("dopri5");
    options.duration = 0.2, options.sample = 0.1, options.step = 1e-4; // 1000 steps between rows
    const lw_batch_desc desc = {.options = &options,
                                .instances = 3,
                                .threads = 1,
                                .nvary = 1,
                                .vary = names,
                                .values = masses};
    lw_error error = {0};
    double times[3] = {0};
    lw_sweep *sweep;
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    ok(lw_sweep_run(sweep, NULL, NULL, progress_grows, times), lw_sweep_error(sweep));
    assert_true(times[0] == options.duration && times[2] > 4);
    lw_sweep_destroy(sweep);
    lw_batch *batch;
    times[0] = times[1] = times[2] = 0;
    ok(lw_batch_create(model, &desc, &batch, &error), &error);
    ok(lw_batch_run(batch, NULL, NULL, progress_grows, times), lw_batch_error(batch));
    assert_true(times[0] == options.duration && times[2] > 4);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

static void values_that_are_not_finite_end_their_instance(void **state)
{
    (void)state;
    lw_batch *batch;
    lw_error error = {0};
    lw_model *model = parse_smooth();
    calls seen = {.fails = 2};
    const lw_batch_desc desc = {
        .instances = 4, .threads = 1, .callback = push, .callback_user = &seen};
    ok(lw_batch_create(model, &desc, &batch, &error), &error);
    assert_int_equal(lw_batch_step(batch, 0.1), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(lw_batch_failure(batch, 2), "input 'push': the callback gives nan"));
    assert_int_equal(lw_batch_failed(batch), 1);
    assert_true(lw_batch_time(batch, 3) == 0.1 && lw_batch_time(batch, 2) <= 0.0501);
    // and the instance can be set again
    double x[NX];
    seen.fails = -1;
    ok(lw_batch_get_state(batch, 2, NULL, x), &error);
    ok(lw_batch_set_state(batch, 2, 0.05, x), lw_batch_error(batch));
    ok(lw_batch_step(batch, 0.1), lw_batch_error(batch));
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

static void a_callback_that_fails_ends_the_instances_of_its_call(void **state)
{
    (void)state;
    static const char *const integrators[] = {"dopri54", "bdf"};
    lw_model *model = parse_smooth();
    for (int m = 0; m < 2; m++) {
        lw_batch *batch;
        lw_error error = {0};
        const lw_options options = called_options(integrators[m]);
        const lw_batch_desc desc = {
            .options = &options, .instances = 4, .threads = 1, .callback = give_up};
        ok(lw_batch_create(model, &desc, &batch, &error), &error);
        assert_int_equal(lw_batch_step(batch, 0.1), LW_ERR_UNSUPPORTED);
        assert_non_null(strstr(lw_batch_error(batch)->text, "instance 0: "));
        assert_int_equal(lw_batch_failed(batch), 4);
        for (int i = 0; i < 4; i++) {
            assert_non_null(strstr(lw_batch_failure(batch, i), "the callback of inputs failed"));
            assert_true(lw_batch_time(batch, i) < 0.06);
        }
        lw_batch_destroy(batch);
    }
    lw_model_destroy(model);
}

static lw_status push_or_not(void *user, const lw_batch_states *s, double *inputs)
{
    (void)user;
    for (int k = 0; k < s->count; k++) inputs[k] = s->instance[k] == 2 ? NAN : 1;
    return LW_OK;
}

static lw_status observing_row(void *user, lw_batch *batch, double time)
{
    (void)time;
    for (int i = 0; i < lw_batch_instances(batch); i++) {
        const lw_observation *o;
        if (lw_batch_status(batch, i) != LW_OK) continue;
        const lw_status status = lw_batch_observe(batch, i, LW_OBSERVE_REACTION, &o);
        if (status != LW_OK) return status;
        ++*(int *)user;
    }
    return LW_OK;
}

// Instances 1 and 2 cannot begin, for a tolerance and for want of an input; with more threads than instances that can.
static void instances_without_values_at_the_start_fail_alone(void **state)
{
    (void)state;
    static const char *const integrators[] = {"dopri54", "bdf"};
    static const char *const rtol[] = {"option.rtol"};
    static const double tolerance[] = {1e-6, -1, 1e-6, 1e-7};
    lw_model *model = parse_smooth();
    for (int m = 0; m < 2; m++)
        for (int threads = 1; threads <= 4; threads++) {
            lw_sweep *sweep;
            lw_error error = {0};
            const lw_options options = called_options(integrators[m]);
            const lw_batch_desc desc = {.options = &options,
                                        .instances = 4,
                                        .threads = threads,
                                        .nvary = 1,
                                        .vary = rtol,
                                        .values = tolerance,
                                        .callback = push_or_not};
            int observed = 0;
            ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
            ok(lw_sweep_run(sweep, observing_row, &observed, NULL, NULL), lw_sweep_error(sweep));
            assert_int_equal(lw_sweep_failed(sweep), 2);
            assert_non_null(
                strstr(lw_sweep_failure(sweep, 2), "input 'push': the callback gives nan"));
            assert_true(observed >= 4 && observed % 2 == 0);
            lw_sweep_destroy(sweep);
        }
    lw_model_destroy(model);
}

static void a_model_without_inputs_is_refused(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies: {a: {mass: 1}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}\n";
    lw_sweep *sweep;
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    static const char *const mass[] = {"body.a.mass"};
    static const double kg[] = {1, 2};
    const lw_batch_desc two = {
        .instances = 2, .nvary = 1, .vary = mass, .values = kg, .callback = push_or_not};
    ok(lw_model_parse(text, strlen(text), "text", &desc, &model, NULL, &error), &error);
    assert_int_equal(lw_sweep_create(model, &two, &sweep, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "the model has no inputs that a callback could set"));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_have_the_bits_of_single_runs),
        cmocka_unit_test(a_failed_instance_can_be_set_again),
        cmocka_unit_test(a_start_that_does_not_close_is_a_failure),
        cmocka_unit_test(later_groups_run_where_the_first_cannot),
        cmocka_unit_test(instances_with_a_callback_have_the_bits_of_single_runs),
        cmocka_unit_test(progress_does_not_go_back),
        cmocka_unit_test(values_that_are_not_finite_end_their_instance),
        cmocka_unit_test(a_callback_that_fails_ends_the_instances_of_its_call),
        cmocka_unit_test(instances_without_values_at_the_start_fail_alone),
        cmocka_unit_test(a_model_without_inputs_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
