// test_event_table.c -- events of a model in results: what happened, when, and at which row; in memory, in HDF5, of sweeps,
// in a file that its writer has not closed, in damaged files.
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

// A mass on a spring without damping: x = cos(2 t).
static const char mass_text[] =
    "linkwork: 1\ngravity: [0, 0, 0]\n"
    "bodies: {cart: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
    "joints: {s: {type: prismatic, between: [ground, cart], frame1: {}, frame2: {}, q: [1], "
    "spring: "
    "{q0: {stiffness: 4}}}}\n"
    "signals: {n: {type: switch, value: 0}}\n"
    "events:\n"
    "  tick: {every: 0.001, from: 0.001, set: {n: n + 1}}\n"
    "  zero, down: {when: s.q0, crossing: falling, record: true}\n"
    "  end: {when: n > 2499.5, record: true, stop: true}\n"
    "simulation: {duration: 5, sample: 0.5, rtol: 1e-10, atol: 1e-10}\n";

static void ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s: %s", lw_status_text(status), error ? error->text : "");
}

static lw_model *parse(lw_options *options)
{
    lw_model *model;
    lw_error error = {0};
    lw_options_default(options);
    const lw_read_desc desc = {.format = "yaml"};
    ok(lw_model_parse(mass_text, strlen(mass_text), "m.yaml", &desc, &model, options, &error),
       &error);
    return model;
}

typedef struct writers {
    lw_writer *memory, *file;
    long rows, stop;
} writers;

static lw_status write_row(void *user, const lw_observation *o)
{
    writers *w = user;
    if (w->stop && w->rows == w->stop) return LW_ERR_INTERRUPTED;
    w->rows++;
    assert_int_equal(lw_writer_row(w->memory, o), LW_OK);
    return lw_writer_row(w->file, o);
}

static void begin(lw_sim *sim, const char *path, writers *w)
{
    lw_error error = {0};
    const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_TWIST};
    ok(lw_writer_create(NULL, &desc, &w->memory, &error), &error);
    ok(lw_writer_create(path, &desc, &w->file, &error), &error);
}

enum { MAX_ROWS = 64 };

static void column(lw_result *r, const char *name, double value[MAX_ROWS])
{
    int k;
    lw_error error = {0};
    assert_in_range(lw_result_row_count(r), 1, MAX_ROWS);
    ok(lw_result_find_column(r, name, &k, &error), &error);
    ok(lw_result_read(r, k, 0, lw_result_row_count(r), value, &error), &error);
}

// Ticks by their number, the crossing at pi/4 by the closed form; rows are those at or after each event.
static void check(lw_result *r, double until, int instance)
{
    const lw_result_event *event;
    long n, tick = 0, crossings = 0, ends = 0;
    double time[MAX_ROWS], recorded[MAX_ROWS];
    lw_error error = {0};
    column(r, "time", time);
    column(r, "sys.event", recorded);
    ok(lw_result_events(r, &event, &n, &error), &error);
    for (long i = 0; i < n; i++) {
        const lw_result_event *e = &event[i];
        assert_in_range(e->row, 0, lw_result_row_count(r) - 1);
        assert_true(time[e->row] >= e->time);
        assert_true(e->row == 0 || time[e->row - 1] < e->time || recorded[e->row - 1] > 0);
        assert_int_equal(e->instance, instance);
        if (!strcmp(e->name, "tick")) {
            assert_true(fabs(e->time - (double)++tick / 1000) < 1e-12);
            assert_string_equal(e->action, "set n");
        } else if (!strcmp(e->name, "zero, down")) {
            assert_true(fabs(e->time - acos(0) / 2 - 2 * acos(0) * (double)crossings++) < 1e-8);
            assert_string_equal(e->action, "record");
        } else {
            assert_string_equal(e->name, "end");
            assert_string_equal(e->action, "record, stop");
            ends++;
        }
    }
    assert_int_equal(tick, lrint(until * 1000));
    assert_int_equal(crossings, until > 0.79);
    assert_int_equal(ends, until == 2.5);
}

static void all_events_are_in_results(void **state)
{
    (void)state;
    lw_options options;
    lw_sim *sim;
    lw_result *memory, *file, *copy;
    lw_error error = {0};
    writers w = {0};
    lw_model *model = parse(&options);
    ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    begin(sim, "event_table.h5", &w);
    ok(lw_sim_run(sim, LW_OBSERVE_TWIST, write_row, &w, NULL, NULL), lw_sim_error(sim));
    ok(lw_writer_close(w.file, &error), &error);
    ok(lw_writer_finish(w.memory, &memory, &error), &error);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    check(memory, 2.5, 0); // 500 ticks between two rows, 2500 in all
    ok(lw_result_open("event_table.h5", &file, &error), &error);
    check(file, 2.5, 0);
    ok(lw_result_convert(file, "event_copy.h5", &error), &error);
    ok(lw_result_open("event_copy.h5", &copy, &error), &error);
    check(copy, 2.5, 0);
    lw_result_close(copy);
    ok(lw_result_convert(memory, "event_copy.h5", &error), &error);
    ok(lw_result_open("event_copy.h5", &copy, &error), &error);
    check(copy, 2.5, 0);
    lw_result_close(copy);
    lw_result_close(file);
    lw_result_close(memory);
    remove("event_copy.h5");
}

// As if the process had been killed: the events of the rows that were flushed, and no others.
static void files_that_are_not_closed_have_those_of_their_rows(void **state)
{
    (void)state;
    lw_options options;
    lw_sim *sim;
    lw_result *file;
    lw_error error = {0};
    writers w = {.stop = 3};
    lw_model *model = parse(&options);
    ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    begin(sim, "event_open.h5", &w);
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_TWIST, write_row, &w, NULL, NULL),
                     LW_ERR_INTERRUPTED);
    assert_int_equal(lw_writer_flush(w.file), LW_OK);
    ok(lw_result_open("event_open.h5", &file, &error), &error);
    assert_int_equal(lw_result_row_count(file), 3); // 0, 0.5, pi/4
    assert_false(lw_result_closed(file));
    const lw_result_event *event;
    long n;
    ok(lw_result_events(file, &event, &n, &error), &error);
    assert_int_equal(n, 785 + 1);
    lw_result_close(file);
    lw_writer_close(w.file, NULL);
    lw_writer_close(w.memory, NULL);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    remove("event_open.h5");
}

static lw_status write_rows(void *user, lw_batch *batch, double time)
{
    (void)batch, (void)time;
    return lw_batch_writer_rows(user);
}

static void sweeps_have_those_of_each_instance(void **state)
{
    (void)state;
    lw_options options;
    lw_sweep *sweep;
    lw_batch_writer *writer;
    lw_result *file;
    lw_error error = {0};
    static const char *const vary[] = {"joint.s.q0"};
    static const double values[] = {1, 2, 3};
    lw_model *model = parse(&options);
    options.duration = 1.5;
    const lw_batch_desc desc = {.options = &options,
                                .instances = 3,
                                .threads = 2,
                                .nvary = 1,
                                .vary = vary,
                                .values = values};
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    ok(lw_sweep_writer_create("event_sweep.h5", sweep, LW_OBSERVE_TWIST, &writer, &error), &error);
    ok(lw_sweep_run(sweep, write_rows, writer, NULL, NULL), lw_sweep_error(sweep));
    ok(lw_batch_writer_close(writer, &error), &error);
    lw_sweep_destroy(sweep);
    lw_model_destroy(model);
    ok(lw_result_open("event_sweep.h5", &file, &error), &error);
    const lw_result_event *event;
    long n;
    ok(lw_result_events(file, &event, &n, &error), &error);
    assert_int_equal(n, 3 * (1500 + 1));
    for (int i = 0; i < 3; i++) {
        ok(lw_result_select_instance(file, i, &error), &error);
        check(file, 1.5, i);
    }
    lw_result_close(file);
    remove("event_sweep.h5");
}

// A byte of the table, its description included, has another value: refused, or the same events.
static void damaged_tables_do_no_harm(void **state)
{
    (void)state;
    static char bytes[1 << 19];
    FILE *f = fopen("event_table.h5", "rb");
    assert_non_null(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(size < sizeof bytes);
    long refused = 0, wanted;
    lw_result *whole;
    const lw_result_event *right;
    lw_error none = {0};
    ok(lw_result_open("event_table.h5", &whole, &none), &none);
    ok(lw_result_events(whole, &right, &wanted, &none), &none);
    for (size_t k = 0; k < 60; k++) {
        const size_t at = k * 7919 * 37 % size;
        lw_result *r = NULL;
        const lw_result_event *event;
        long n;
        lw_error error = {0};
        bytes[at] ^= (char)(1u << k % 8);
        f = fopen("event_damaged.h5", "wb");
        assert_int_equal(fwrite(bytes, 1, size, f), size);
        fclose(f);
        bytes[at] ^= (char)(1u << k % 8);
        lw_status status = lw_result_open("event_damaged.h5", &r, &error);
        if (status == LW_OK) status = lw_result_events(r, &event, &n, &error);
        for (long i = 0; status == LW_OK && n && i < wanted; i++) {
            assert_int_equal(n, wanted);
            assert_string_equal(event[i].name, right[i].name);
            assert_true(event[i].time == right[i].time && event[i].row == right[i].row);
        }
        refused += status != LW_OK;
        if (status != LW_OK) assert_true(error.text[0]);
        lw_result_close(r);
    }
    lw_result_close(whole);
    assert_true(refused > 0);
    remove("event_damaged.h5");
    remove("event_table.h5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_events_are_in_results),
        cmocka_unit_test(files_that_are_not_closed_have_those_of_their_rows),
        cmocka_unit_test(sweeps_have_those_of_each_instance),
        cmocka_unit_test(damaged_tables_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
