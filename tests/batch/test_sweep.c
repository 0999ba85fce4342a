// test_sweep.c -- a sweep is the batch of its instances, in groups: the same rows, the same ends; memory of a group,
// refusals before the first run, what remains after a stop.
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

static const char pendulum[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  rod: {mass: 2, inertia: [0.1, 0.1, 0.06, 0, 0, 0], position: [0, 0, -1]}\n"
    "  bob: {mass: 1, inertia: [0.02, 0.02, 0.02, 0, 0, 0], position: [0, 0, -2]}\n"
    "functions:\n"
    "  push: {type: formula, of: \"0.01*sqrt(2 - hinge.q0)\"}\n" // not finite beyond 2 rad
    "joints:\n"
    "  hinge:\n"
    "    {type: revolute, between: [ground, rod], at: [0, 0, 0],\n"
    "     axis: [0, 1, 0], spring: {q0: {force: push}}}\n"
    "  ball: {type: spherical, between: [rod, bob], at: [0, 0, -1.5]}\n";

static lw_model *parse(void)
{
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    ok(lw_model_parse(pendulum, strlen(pendulum), "text", &desc, &model, NULL, &error), &error);
    return model;
}

// Bytes that are held, and their maximum.
typedef struct meter {
    size_t live, peak;
    long allowed; // calls
} meter;

static void *take(void *user, size_t bytes)
{
    meter *m = user;
    if (m->allowed-- <= 0) return NULL;
    size_t *block = malloc(bytes + 64);
    if (!block) return NULL;
    *block = bytes;
    m->live += bytes;
    if (m->live > m->peak) m->peak = m->live;
    return (char *)block + 64;
}

static void give(void *user, void *block)
{
    size_t *start = (size_t *)((char *)block - 64);
    ((meter *)user)->live -= *start;
    free(start);
}

// Masses and starts, so that instances with the same mass do not follow each other; some run into the failing force.
enum { MASSES = 9, STARTS = 7, N = MASSES * STARTS, COLUMNS = 2 };
static const char *const names[COLUMNS] = {"joint.hinge.qd0", "body.rod.mass"};

static lw_batch_desc study(const lw_options *options, double values[N][COLUMNS])
{
    for (int i = 0; i < N; i++) {
        values[i][0] = (double)(i / MASSES) * 1.5; // 7.5 and 9 rad/s go over 2 rad
        values[i][1] = 1 + i % MASSES;
    }
    return (lw_batch_desc){
        .options = options, .instances = N, .nvary = COLUMNS, .vary = names, .values = values[0]};
}

static lw_options short_run(void)
{
    lw_options o;
    lw_options_default(&o);
    o.duration = 0.5;
    o.sample = 0.1;
    o.rtol = o.atol = 1e-6;
    return o;
}

static char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

static void same_bytes(const char *a, const char *b)
{
    size_t na, nb;
    char *one = contents(a, &na), *other = contents(b, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(one, other, na);
    free(one);
    free(other);
}

static int columns; // of the rows that are compared

// By time, then by instance.
static int in_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Rows in order of time and instance, to be freed.
static double *rows_of(const char *path, long *n)
{
    lw_result *result;
    lw_error error = {0};
    ok(lw_result_open(path, &result, &error), &error);
    *n = lw_result_row_count(result);
    columns = lw_result_column_count(result);
    double *rows = malloc((size_t)*n * (size_t)columns * sizeof *rows);
    double *column = malloc((size_t)*n * sizeof *column);
    assert_non_null(rows);
    assert_non_null(column);
    for (int c = 0; c < columns; c++) {
        ok(lw_result_read(result, c, 0, *n, column, &error), &error);
        for (long r = 0; r < *n; r++) rows[r * columns + c] = column[r];
    }
    free(column);
    lw_result_close(result);
    qsort(rows, (size_t)*n, (size_t)columns * sizeof *rows, in_order);
    return rows;
}

static void same_rows(const char *a, const char *b)
{
    long na, nb;
    double *one = rows_of(a, &na), *other = rows_of(b, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(one, other, (size_t)na * (size_t)columns * sizeof *one);
    free(one);
    free(other);
}

static lw_status batch_rows(void *user, lw_batch *batch, double time)
{
    (void)batch, (void)time;
    return lw_batch_writer_rows(user);
}

// -------------------------------------------------------------------------- the batch in groups

static lw_batch *run_batch(const lw_model *model, const lw_batch_desc *desc, const char *path)
{
    lw_batch *batch;
    lw_batch_writer *writer;
    lw_error error = {0};
    ok(lw_batch_create(model, desc, &batch, &error), &error);
    ok(lw_batch_writer_create(path, batch, LW_OBSERVE_REACTION, &writer, &error), &error);
    ok(lw_batch_run(batch, batch_rows, writer, NULL, NULL), lw_batch_error(batch));
    ok(lw_batch_writer_close(writer, &error), &error);
    return batch;
}

static void same_ends(const lw_sweep *sweep, const lw_batch *batch)
{
    assert_int_equal(lw_sweep_instances(sweep), N);
    assert_true(lw_sweep_failed(sweep) > 0 && lw_sweep_failed(sweep) < N);
    assert_int_equal(lw_sweep_failed(sweep), lw_batch_failed(batch));
    for (int i = 0; i < N; i++) {
        lw_summary a, b;
        lw_sweep_summary(sweep, i, &a);
        lw_batch_summary(batch, i, &b);
        a.wall = b.wall = 0;
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(lw_sweep_status(sweep, i), lw_batch_status(batch, i));
        assert_string_equal(lw_sweep_failure(sweep, i), lw_batch_failure(batch, i));
    }
}

typedef struct count {
    lw_batch_writer *writer;
    int largest; // instances of a batch
    int groups;
    size_t written; // bytes of the file when the last group began
} count;

static lw_status count_rows(void *user, lw_batch *batch, double time)
{
    count *c = user;
    if (time == 0) c->groups++;
    if (lw_batch_instances(batch) > c->largest) c->largest = lw_batch_instances(batch);
    assert_int_equal(lw_batch_number(batch, -1), -1);
    return lw_batch_writer_rows(c->writer);
}

static void a_sweep_is_its_batch(void **state)
{
    (void)state;
    static const char *const files[][2] = {{"sweep_batch.csv", "sweep_groups.csv"},
                                           {"sweep_batch.h5", "sweep_groups.h5"}};
    static const struct {
        size_t memory; // 1: as little as there can be
        int threads, lanes;
    } ways[] = {{0, 1, 8}, {1, 1, 8}, {1, 2, 8}, {1, 3, 1}, {400000, 2, 4}};
    double values[N][COLUMNS];
    lw_model *model = parse();
    const lw_options o = short_run();
    lw_batch_desc desc = study(&o, values);
    for (int f = 0; f < 2; f++) {
        desc.memory = 0, desc.threads = 1, desc.lanes = 8;
        lw_batch *batch = run_batch(model, &desc, files[f][0]);
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
            lw_sweep *sweep;
            lw_error error = {0};
            count c = {0};
            desc.memory = ways[w].memory, desc.threads = ways[w].threads,
            desc.lanes = ways[w].lanes;
            ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
            ok(lw_sweep_writer_create(files[f][1], sweep, LW_OBSERVE_REACTION, &c.writer, &error),
               &error);
            ok(lw_sweep_run(sweep, count_rows, &c, NULL, NULL), lw_sweep_error(sweep));
            ok(lw_batch_writer_close(c.writer, &error), &error);
            same_ends(sweep, batch);
            same_rows(files[f][0], files[f][1]);
            if (ways[w].memory == 0) {
                assert_int_equal(c.groups, 1);
                same_bytes(files[f][0], files[f][1]);
            }
            if (ways[w].memory == 1) assert_true(c.groups > 1 && c.largest < N);
            assert_int_equal(lw_sweep_run(sweep, NULL, NULL, NULL, NULL), LW_ERR_ARGUMENT);
            lw_sweep_destroy(sweep);
        }
        lw_batch_destroy(batch);
    }
    lw_model_destroy(model);
}

static lw_status count_instances(void *user, lw_batch *batch, double time)
{
    int *largest = user;
    (void)time;
    if (lw_batch_instances(batch) > *largest) *largest = lw_batch_instances(batch);
    return LW_OK;
}

// Separate models exist in small numbers where rows need no order, with the same results; those that share one do not.
static void unordered_rows_limit_the_number_of_instances(void **state)
{
    (void)state;
    enum { VARIANTS = 100 };
    double values[VARIANTS], same[VARIANTS];
    lw_model *model = parse();
    const lw_options o = short_run();
    lw_sweep *sweep[3];
    int largest[3] = {0};
    for (int i = 0; i < VARIANTS; i++) values[i] = 1 + 0.01 * i, same[i] = 2;
    for (int k = 0; k < 3; k++) {
        lw_error error = {0};
        const lw_batch_desc desc = {.options = &o,
                                    .instances = VARIANTS,
                                    .threads = 1,
                                    .nvary = 1,
                                    .vary = names + 1,
                                    .values = k < 2 ? values : same,
                                    .unordered = k > 0};
        ok(lw_sweep_create(model, &desc, &sweep[k], &error), &error);
        ok(lw_sweep_run(sweep[k], count_instances, &largest[k], NULL, NULL),
           lw_sweep_error(sweep[k]));
    }
    assert_int_equal(largest[0], VARIANTS);
    assert_in_range(largest[1], 2, VARIANTS / 2);
    assert_int_equal(largest[2], VARIANTS);
    for (int i = 0; i < VARIANTS; i++) {
        lw_summary a, b;
        lw_sweep_summary(sweep[0], i, &a);
        lw_sweep_summary(sweep[1], i, &b);
        a.wall = b.wall = 0;
        assert_memory_equal(&a, &b, sizeof a);
    }
    for (int k = 0; k < 3; k++) lw_sweep_destroy(sweep[k]);
    lw_model_destroy(model);
}

// -------------------------------------------------------- observations that threads make before a row

enum { OWN = 7, NUMBERS = 5, RECORDS = 4 * OWN * 16 };

typedef struct record {
    int rows, n;
    double number[RECORDS][NUMBERS];
} record;

// Not every instance in every row, not always the same level, and other calls between.
static lw_status irregular_row(void *user, lw_batch *batch, double time)
{
    record *r = user;
    (void)time;
    for (int i = 0; i < lw_batch_instances(batch); i++) {
        if ((i + r->rows) % 3 == 0) continue;
        const lw_observe level = r->rows % 4 == 3 ? LW_OBSERVE_ENERGY : LW_OBSERVE_REACTION;
        const lw_observation *o;
        double x[64], t;
        lw_summary summary;
        assert_true(lw_batch_state_size(batch, i) <= 64 && r->n < RECORDS);
        if ((i + r->rows) % 5 == 0) ok(lw_batch_get_state(batch, i, &t, x), NULL);
        if ((i + r->rows) % 7 == 0)
            ok(lw_batch_set_input(batch, i, 0, 0.1 * i), lw_batch_error(batch));
        for (int again = 0; again <= (i + r->rows) % 2; again++)
            ok(lw_batch_observe(batch, i, level, &o), lw_batch_error(batch));
        lw_batch_summary(batch, i, &summary);
        double *to = r->number[r->n++];
        to[0] = o->time, to[1] = o->kinetic, to[2] = summary.energy_error,
        to[3] = summary.residual[0];
        to[4] = level >= LW_OBSERVE_REACTION ? o->reaction[0][2] : 0;
    }
    r->rows++;
    return LW_OK;
}

static const char pushed[] =
    "linkwork: 1\n"
    "inputs: [push]\n"
    "bodies:\n"
    "  rod: {mass: 2, inertia: [0.1, 0.1, 0.06, 0, 0, 0], position: [0, 0, -1]}\n"
    "  bob: {mass: 1, inertia: [0.02, 0.02, 0.02, 0, 0, 0], position: [0, 0, -2]}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], qd: [1], "
    "effort: {q0: push}}\n"
    "  knee: {type: revolute, between: [rod, bob], at: [0, 0, -1.5], axis: [0, 1, 0], spring: {q0: "
    "{damping: 0.01}}}\n";

static void threads_do_not_change_what_a_row_observes(void **state)
{
    (void)state;
    static const char *const mass[] = {"body.bob.mass"};
    static const char *const integrators[] = {"dopri54", "bdf"}; // in lanes; separate simulations
    double values[OWN];
    for (int i = 0; i < OWN; i++) values[i] = 1 + 0.5 * i;
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    ok(lw_model_parse(pushed, strlen(pushed), "text", &desc, &model, NULL, &error), &error);
    for (int k = 0; k < 2; k++) {
        static record one, other;
        for (int threads = 1; threads <= 3; threads += 2) {
            record *r = threads == 1 ? &one : &other;
            lw_options o = short_run();
            o.sample = 0.05;
            snprintf(o.integrator, sizeof o.integrator, "%s", integrators[k]);
            const lw_batch_desc all = {.options = &o,
                                       .instances = OWN,
                                       .threads = threads,
                                       .nvary = 1,
                                       .vary = mass,
                                       .values = values};
            lw_sweep *sweep;
            memset(r, 0, sizeof *r);
            ok(lw_sweep_create(model, &all, &sweep, &error), &error);
            assert_int_equal(lw_sweep_threads(sweep), threads);
            ok(lw_sweep_run(sweep, irregular_row, r, NULL, NULL), lw_sweep_error(sweep));
            lw_sweep_destroy(sweep);
        }
        assert_int_equal(one.rows, 11);
        assert_memory_equal(&one, &other, sizeof one);
    }
    lw_model_destroy(model);
}

static const char damped[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  rod: {mass: 2, inertia: [0.1, 0.1, 0.06, 0, 0, 0], position: [0, 0, -1]}\n"
    "  bob: {mass: 1, inertia: [0.02, 0.02, 0.02, 0, 0, 0], position: [0, 0, -2]}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], qd: [1]}\n"
    "  knee: {type: revolute, between: [rod, bob], at: [0, 0, -1.5], axis: [0, 1, 0], spring: {q0: "
    "{damping: 0.01}}}\n";

// Steps of an instance that `--singular stop` gives a separate simulation.
static long steps_of(const lw_model *model, const double *damping, int n, int instance,
                     size_t memory, lw_options *o)
{
    static const char *const vary[] = {"joint.knee.damping0"};
    const lw_batch_desc desc = {.options = o,
                                .instances = n,
                                .threads = 1,
                                .nvary = 1,
                                .vary = vary,
                                .values = damping,
                                .memory = memory};
    lw_sweep *sweep;
    lw_summary summary;
    lw_error error = {0};
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    assert_int_equal(lw_sweep_options(sweep)->singular, o->singular);
    ok(lw_sweep_run(sweep, NULL, NULL, NULL, NULL), lw_sweep_error(sweep));
    lw_sweep_summary(sweep, instance, &summary);
    *o = *lw_sweep_options(sweep);
    lw_sweep_destroy(sweep);
    return summary.steps;
}

// The first variant chooses what is `auto`, also where the second one is in another group and would choose otherwise; what is
// given as an option remains as it was given.
static void auto_is_resolved_once(void **state)
{
    (void)state;
    static const double damping[] = {0.01, 0.01, 0.01, 1e4, 1e4};
    enum { ALL = sizeof damping / sizeof damping[0] };
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    ok(lw_model_parse(damped, strlen(damped), "text", &desc, &model, NULL, &error), &error);
    lw_options o = short_run(), own = o, soft = o;
    assert_int_equal(steps_of(model, damping, 3, 2, 1, &soft),
                     steps_of(model, damping, 3, 2, 0, &o));
    assert_string_equal(o.integrator, "dopri54"); // lanes have no `auto`
    o = short_run();
    lw_options_set(&o, "singular", "stop", NULL);
    snprintf(o.integrator, sizeof o.integrator, "auto");
    own = soft = o;
    const long grouped = steps_of(model, damping, ALL, 4, 1, &o);
    steps_of(model, damping + 4, 1, 0, 0, &own);
    assert_string_not_equal(own.integrator, o.integrator);
    snprintf(soft.integrator, sizeof soft.integrator, "%s", o.integrator);
    assert_int_equal(grouped, steps_of(model, damping + 4, 1, 0, 0, &soft));
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ memory

// The largest number of bytes that a sweep over so many masses holds.
static size_t bytes_of(const lw_model *model, int n)
{
    meter m = {.allowed = 1000000000};
    const lw_allocator allocator = {take, give, &m};
    lw_options o = short_run();
    o.duration = o.sample = 0.01;
    double *values = calloc((size_t)n, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < n; i++) values[i] = 1 + 0.01 * i;
    const lw_batch_desc desc = {.options = &o,
                                .instances = n,
                                .threads = 1,
                                .nvary = 1,
                                .vary = &names[1],
                                .values = values,
                                .memory = 1,
                                .allocator = &allocator};
    lw_sweep *sweep;
    lw_error error = {0};
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    ok(lw_sweep_run(sweep, NULL, NULL, NULL, NULL), lw_sweep_error(sweep));
    lw_sweep_destroy(sweep);
    free(values);
    assert_int_equal(m.live, 0);
    return m.peak;
}

static void memory_is_that_of_a_group(void **state)
{
    (void)state;
    enum { SMALL = 20, MANY = 220, KEPT = 256 }; // bytes of an instance that does not exist
    lw_model *model = parse();
    const size_t small = bytes_of(model, SMALL), many = bytes_of(model, MANY);
    print_message("bytes held: %zu of %d variants, %zu of %d\n", small, SMALL, many, MANY);
    assert_true(small > 2 * 10000); // models and work of two variants at least
    assert_true(many < small + (MANY - SMALL) * KEPT);
    lw_model_destroy(model);
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    double values[N][COLUMNS];
    lw_model *model = parse();
    lw_options o = short_run();
    o.duration = o.sample = 0.01;
    lw_batch_desc desc = study(&o, values);
    desc.instances = 5, desc.threads = 1, desc.memory = 1;
    lw_status status = LW_ERR_MEMORY;
    for (long allowed = 0; status == LW_ERR_MEMORY; allowed++) {
        meter m = {.allowed = allowed};
        const lw_allocator allocator = {take, give, &m};
        lw_sweep *sweep = NULL;
        lw_error error = {0};
        desc.allocator = &allocator;
        status = lw_sweep_create(model, &desc, &sweep, &error);
        if (status == LW_OK) status = lw_sweep_run(sweep, NULL, NULL, NULL, NULL);
        lw_sweep_destroy(sweep);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(status, LW_OK);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------ refusals and stops

static void refused_before_a_run(const lw_model *model, const lw_batch_desc *desc,
                                 lw_status expected, const char *part)
{
    lw_sweep *sweep = NULL;
    lw_error error = {0};
    assert_int_equal(lw_sweep_create(model, desc, &sweep, &error), expected);
    if (!strstr(error.text, part)) fail_msg("%s, expected '%s'", error.text, part);
    assert_null(sweep);
}

static void what_is_wrong_is_reported_before_a_run(void **state)
{
    (void)state;
    double values[N][COLUMNS];
    lw_model *model = parse();
    const lw_options o = short_run();
    lw_batch_desc desc = study(&o, values);
    desc.memory = 1, desc.threads = 1;
    for (int i = 0; i < N; i++) values[i][1] = -1;
    refused_before_a_run(model, &desc, LW_ERR_MODEL, "instance 0: body.rod.mass is -1");
    for (int i = 0; i < N; i++) values[i][1] = 1;
    values[N - 1][1] = NAN;
    refused_before_a_run(model, &desc, LW_ERR_NOT_FINITE, "instance 62: body.rod.mass");
    values[N - 1][1] = 1;
    desc.instances = 0;
    refused_before_a_run(model, &desc, LW_ERR_ARGUMENT, "at least 1");
    desc.instances = N, desc.values = NULL;
    refused_before_a_run(model, &desc, LW_ERR_ARGUMENT, "missing");
    refused_before_a_run(NULL, &desc, LW_ERR_ARGUMENT, "missing");
    lw_model_destroy(model);
}

static lw_status read_last(void *user, lw_batch *batch, double time)
{
    double *last = user;
    (void)time;
    for (int i = 0; i < lw_batch_instances(batch); i++) {
        const lw_observation *seen;
        assert_int_equal(lw_batch_observe(batch, i, LW_OBSERVE_POSE, &seen), LW_OK);
        last[lw_batch_number(batch, i)] = seen->q[0];
    }
    return LW_OK;
}

static const char rod[] =
    "linkwork: 1\n"
    "parameters:\n"
    "  d: {value: 20, unit: mm, min: 5, max: 60}\n"
    "  l: 0.8 m\n"
    "bodies:\n"
    "  rod: {mass: 7850 kg/m^3*d^2*l, com: [l/2, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], qd: [l/1 "
    "s/1 m]}\n";

// All runs of a sweep have the same options: those that the file makes of what varies are named.
static void options_do_not_follow_what_varies(void **state)
{
    (void)state;
    static const char *const vary[] = {"l"};
    static const double values[] = {0.8, 0.5};
    char text[sizeof rod + 80];
    lw_model *model;
    lw_error error = {0};
    lw_options o;
    const lw_read_desc yaml = {.format = "yaml"};
    snprintf(text, sizeof text, "%ssimulation: {duration: l/(4 m/s), sample: 0.1}\n", rod);
    lw_options_default(&o);
    ok(lw_model_parse(text, strlen(text), "rod.yaml", &yaml, &model, &o, &error), &error);
    for (int given = 0; given < 2; given++) {
        if (given) o.duration = 0.3;
        const lw_batch_desc desc = {
            .options = &o, .instances = 2, .nvary = 1, .vary = vary, .values = values};
        lw_sweep *sweep;
        ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
        const bool said = strstr(lw_sweep_notice(sweep), "duration depends on what varies");
        assert_int_equal(!given, said);
        lw_sweep_destroy(sweep);
    }
    lw_model_destroy(model);
}

// A parameter of the file varies geometry, mass and start: each instance is the run of the file with its values.  One that
// cannot be built does not run and has its reason.
static void parameters_of_the_file_vary(void **state)
{
    (void)state;
    static const char *const vary[] = {"d", "l", "body.rod.Iyy"};
    static const double values[][3] = {{20, 0.8, 1},   {30, 0.5, 2}, {70, 0.5, 2},
                                       {10, 0.9, 0.5}, {20, 0.8, 2}, {3, 1, 1}};
    enum { RUNS = sizeof values / sizeof values[0] };
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc yaml = {.format = "yaml"};
    ok(lw_model_parse(rod, strlen(rod), "rod.yaml", &yaml, &model, NULL, &error), &error);
    const lw_options o = short_run();
    for (int memory = 0; memory < 2; memory++) {
        const lw_batch_desc desc = {.options = &o,
                                    .instances = RUNS,
                                    .nvary = 3,
                                    .vary = vary,
                                    .values = values[0],
                                    .memory = (size_t)memory,
                                    .threads = 1};
        double last[RUNS] = {0};
        lw_sweep *sweep;
        ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
        ok(lw_sweep_run(sweep, read_last, last, NULL, NULL), lw_sweep_error(sweep));
        assert_int_equal(lw_sweep_failed(sweep), 2);
        assert_string_equal(lw_sweep_failure(sweep, 2),
                            "parameter 'd': is 70 mm, expected at most 60 mm");
        assert_string_equal(lw_sweep_failure(sweep, 5),
                            "parameter 'd': is 3 mm, expected at least 5 mm");
        assert_int_equal(lw_sweep_status(sweep, 2), LW_ERR_MODEL);
        lw_sweep_destroy(sweep);
        for (int i = 0; i < RUNS; i++) {
            char d[32], l[32];
            const char *const set[] = {d, l};
            double alone = 0;
            lw_model *own;
            lw_batch *batch;
            if (i == 2 || i == 5) continue;
            snprintf(d, sizeof d, "d=%g", values[i][0]);
            snprintf(l, sizeof l, "l=%g", values[i][1]);
            ok(lw_model_remake(model, set, 2, NULL, &own, &error), &error);
            const lw_batch_desc one = {.options = &o,
                                       .instances = 1,
                                       .nvary = 1,
                                       .vary = vary + 2,
                                       .values = &values[i][2],
                                       .threads = 1};
            ok(lw_batch_create(own, &one, &batch, &error), &error);
            ok(lw_batch_run(batch, read_last, &alone, NULL, NULL), lw_batch_error(batch));
            assert_true(alone != 0 && alone == last[i]);
            lw_batch_destroy(batch);
            lw_model_destroy(own);
        }
    }
    assert_int_equal(lw_vary_check(model, "dd", &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "there is no parameter 'dd', did you mean 'd'?"));
    lw_model_destroy(model);
}

// Measures have the parameters of each instance, in every group.
static void measures_have_the_parameters_of_an_instance(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {target: 300 mm}\n"
        "bodies: {rod: {mass: 1, inertia: [0, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}}\n"
        "joints: {A: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
        "measures: {z: body.rod.z, miss: (body.rod.z - target)^2, twice: measure.miss*2}\n";
    static const char *const vary[] = {"target"};
    static const double values[] = {300, 100, -200, 100, 0, 700};
    enum { RUNS = sizeof values / sizeof values[0] };
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc yaml = {.format = "yaml"};
    ok(lw_model_parse(text, strlen(text), "rod.yaml", &yaml, &model, NULL, &error), &error);
    const lw_options o = short_run();
    for (int memory = 0; memory < 2; memory++) {
        const lw_batch_desc desc = {.options = &o,
                                    .instances = RUNS,
                                    .nvary = 1,
                                    .vary = vary,
                                    .values = values,
                                    .memory = (size_t)memory,
                                    .threads = 1};
        lw_sweep *sweep;
        lw_study *study;
        ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
        ok(lw_study_create(sweep, NULL, &study, &error), &error);
        ok(lw_sweep_run(sweep, lw_study_row, study, NULL, NULL), lw_sweep_error(sweep));
        for (int i = 0; i < RUNS; i++) {
            const double z = lw_study_statistics(study, i, 0).last,
                         miss = (z - 1e-3 * values[i]) * (z - 1e-3 * values[i]);
            assert_true(z != 0);
            assert_true(fabs(lw_study_statistics(study, i, 1).last - miss) < 1e-14 * miss);
            assert_true(fabs(lw_study_statistics(study, i, 2).last - 2 * miss) < 1e-14 * miss);
        }
        lw_study_destroy(study);
        lw_sweep_destroy(sweep);
    }
    lw_model_destroy(model);
}

// Stops in the second half; times grow.
static int stop_late(void *user, double time, double end)
{
    double *last = user;
    assert_true(time >= *last && time <= end);
    *last = time;
    return time > 0.6 * end;
}

// The file has the rows of a group when the next one begins, so that a sweep that is killed leaves them.
static lw_status rows_do_not_wait(void *user, lw_batch *batch, double time)
{
    count *c = user;
    if (time == 0 && c->groups > 0) {
        size_t size;
        free(contents("sweep_live.csv", &size));
        assert_true(size > c->written);
        c->written = size;
    }
    return count_rows(user, batch, time);
}

static void rows_are_written_as_they_come(void **state)
{
    (void)state;
    double values[N][COLUMNS];
    lw_model *model = parse();
    const lw_options o = short_run();
    lw_batch_desc desc = study(&o, values);
    desc.memory = 1, desc.threads = 1;
    lw_sweep *sweep;
    lw_error error = {0};
    count c = {0};
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    ok(lw_sweep_writer_create("sweep_live.csv", sweep, LW_OBSERVE_REACTION, &c.writer, &error),
       &error);
    ok(lw_sweep_run(sweep, rows_do_not_wait, &c, NULL, NULL), lw_sweep_error(sweep));
    assert_true(c.groups > 2 && c.written > 0);
    ok(lw_batch_writer_close(c.writer, &error), &error);
    lw_sweep_destroy(sweep);
    lw_model_destroy(model);
}

static void a_stop_keeps_what_has_ended(void **state)
{
    (void)state;
    double values[N][COLUMNS], last = 0;
    lw_model *model = parse();
    const lw_options o = short_run();
    lw_batch_desc desc = study(&o, values);
    desc.memory = 1, desc.threads = 1;
    lw_sweep *sweep;
    lw_error error = {0};
    count c = {0};
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    ok(lw_sweep_writer_create("sweep_stop.csv", sweep, LW_OBSERVE_POSE, &c.writer, &error), &error);
    assert_int_equal(lw_sweep_run(sweep, count_rows, &c, stop_late, &last), LW_ERR_INTERRUPTED);
    ok(lw_batch_writer_close(c.writer, &error), &error);
    lw_sweep_destroy(sweep);

    // of the runs that had ended all rows are there, and they are those of the whole sweep
    lw_batch *batch = run_batch(model, &desc, "sweep_batch.csv");
    lw_batch_destroy(batch);
    lw_result *part;
    ok(lw_result_open("sweep_stop.csv", &part, &error), &error);
    const long rows = lw_result_row_count(part);
    const int n = lw_result_column_count(part);
    const double *value = lw_result_values(part);
    int whole = 0, groups = 0;
    for (long r = 0; r < rows; r++) {
        whole += value[r * n] == o.duration;
        groups += value[r * n] == 0 && (!r || value[(r - 1) * n] > 0);
        const bool of_group = r && value[r * n] != 0;
        if (of_group) assert_true(value[r * n] >= value[(r - 1) * n]); // in order of time
    }
    assert_true(whole > N / 4 && whole < N);
    assert_int_equal(groups, c.groups); // one after the other
    lw_result_close(part);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_is_its_batch),
        cmocka_unit_test(unordered_rows_limit_the_number_of_instances),
        cmocka_unit_test(threads_do_not_change_what_a_row_observes),
        cmocka_unit_test(auto_is_resolved_once),
        cmocka_unit_test(memory_is_that_of_a_group),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(what_is_wrong_is_reported_before_a_run),
        cmocka_unit_test(parameters_of_the_file_vary),
        cmocka_unit_test(measures_have_the_parameters_of_an_instance),
        cmocka_unit_test(options_do_not_follow_what_varies),
        cmocka_unit_test(rows_are_written_as_they_come),
        cmocka_unit_test(a_stop_keeps_what_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
