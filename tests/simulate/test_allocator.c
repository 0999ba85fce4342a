// test_allocator.c -- what a simulation takes of its allocator, and what libraries take in addition.
#include "support/counted_malloc.h"

#include <linkwork/linkwork.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct meter {
    long live, fail_at, calls;
} meter;

static void *take(void *user, size_t bytes)
{
    meter *m = user;
    if (++m->calls == m->fail_at) return NULL;
    void *block = uncounted_malloc(bytes);
    m->live += block != NULL;
    return block;
}
static void give_back(void *user, void *block)
{
    ((meter *)user)->live--;
    free(block);
}

static lw_model *generated(const char *what)
{
    char text[256];
    const lw_read_desc desc = {.format = "yaml"};
    lw_model *model = NULL;
    snprintf(text, sizeof text, "linkwork: 1\ngravity: [0, -9.81, 0]\ngenerate: {%s}\n", what);
    assert_int_equal(lw_model_parse(text, strlen(text), what, &desc, &model, NULL, NULL), LW_OK);
    return model;
}

static lw_model *chain(int n)
{
    char what[64];
    snprintf(what, sizeof what, "chain: {n: %d}", n);
    return generated(what);
}

static lw_options options_of(const char *integrator)
{
    lw_options options;
    lw_options_default(&options);
    assert_int_equal(lw_options_set(&options, "integrator", integrator, NULL), LW_OK);
    if (!strcmp(integrator, "rk4"))
        assert_int_equal(lw_options_set(&options, "step", "0.01", NULL), LW_OK);
    if (!strcmp(integrator, "index3") || !strcmp(integrator, "rattle")) {
        assert_int_equal(lw_options_set(&options, "formulation", integrator, NULL), LW_OK);
        assert_int_equal(lw_options_set(&options, "step", "0.01", NULL), LW_OK);
    }
    return options;
}

typedef struct outside {
    long calls;
    size_t bytes;
} outside;

// What is allocated without the allocator from lw_sim_create to lw_sim_destroy.
static outside taken_outside(const char *integrator, int n)
{
    meter m = {0};
    const lw_allocator allocator = {take, give_back, &m};
    const lw_options options = options_of(integrator);
    const lw_sim_desc desc = {.options = &options, .allocator = &allocator};
    lw_model *model = chain(n);
    lw_sim *sim = NULL;
    lw_error error = {0};
    counted_allocations = 0;
    counted_bytes = 0;
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK)
        fail_msg("%s: %s", integrator, error.text);
    if (lw_sim_step(sim, 0.02) != LW_OK) fail_msg("%s: %s", integrator, lw_sim_error(sim)->text);
    lw_sim_destroy(sim);
    const outside o = {counted_allocations, counted_bytes};
    assert_int_equal(m.live, 0);
    lw_model_destroy(model);
    return o;
}

static const char *const own[] = {"dopri54", "rk4", "index3", "rattle"};
static const char *const of_sundials[] = {"dopri5", "bs3", "verner87", "fehlberg8", "adams", "bdf"};
enum { OWN = sizeof own / sizeof *own, OF_SUNDIALS = sizeof of_sundials / sizeof *of_sundials };

// Nothing by integrators without SUNDIALS.
static void allocator_gives_all(void **state)
{
    (void)state;
    if (!COUNTS_ALLOCATIONS) skip();
    for (int i = 0; i < OWN; i++) {
        const outside o = taken_outside(own[i], 8);
        if (o.calls) fail_msg("%s: %ld allocations, %zu bytes", own[i], o.calls, o.bytes);
    }
}

// SUNDIALS takes its context and its solver by malloc, as much for a small model as for a large one.
static void sundials_takes_a_fixed_amount(void **state)
{
    (void)state;
    if (!COUNTS_ALLOCATIONS) skip();
    for (int i = 0; i < OF_SUNDIALS; i++) {
        const outside small = taken_outside(of_sundials[i], 4),
                      large = taken_outside(of_sundials[i], 64);
        printf("%s: %ld allocations, %zu bytes outside of the allocator\n", of_sundials[i],
               small.calls, small.bytes);
        assert_int_equal(small.calls, large.calls);
        assert_int_equal(small.bytes, large.bytes);
        assert_true(small.bytes < 32768);
    }
}

static lw_status take_row(void *user, const lw_observation *o)
{
    (void)user, (void)o;
    return LW_OK;
}

// Steps of loops, also those that search for singular positions and go across them, take nothing.
static void steps_across_positions_take_nothing(void **state)
{
    static const char *const formulations[] = {"rcr", "dca", "hdca", "dense"};
    (void)state;
    lw_model *model = generated("n_four_bar: {n: 8, q: [0.3, 0, 0], qd: [1, 0, 0]}");
    for (size_t i = 0; i < sizeof formulations / sizeof *formulations; i++) {
        meter m = {0};
        const lw_allocator allocator = {take, give_back, &m};
        lw_options options = options_of("dopri54");
        const lw_sim_desc desc = {.options = &options, .allocator = &allocator};
        lw_sim *sim = NULL;
        lw_error error = {0};
        assert_int_equal(lw_options_set(&options, "formulation", formulations[i], NULL), LW_OK);
        assert_int_equal(lw_options_set(&options, "duration", "2", NULL), LW_OK);
        if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
        const long calls = m.calls;
        if (lw_sim_run(sim, LW_OBSERVE_POSE, take_row, NULL, NULL, NULL) != LW_OK)
            fail_msg("%s", lw_sim_error(sim)->text);
        assert_non_null(strstr(lw_sim_notice(sim), "singular position"));
        if (m.calls != calls) fail_msg("%s: %ld allocations", formulations[i], m.calls - calls);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Each allocation of a simulation fails once: refused with a message, and nothing is left behind.
static void each_allocation_may_fail(void **state)
{
    (void)state;
    lw_model *model = chain(3);
    for (int i = 0; i < OWN + OF_SUNDIALS; i++) {
        const char *integrator = i < OWN ? own[i] : of_sundials[i - OWN];
        const lw_options options = options_of(integrator);
        lw_status status = LW_ERR_MEMORY;
        for (long n = 1; status != LW_OK; n++) {
            meter m = {.fail_at = n};
            const lw_allocator allocator = {take, give_back, &m};
            const lw_sim_desc desc = {.options = &options, .allocator = &allocator};
            lw_sim *sim = NULL;
            lw_error error = {0};
            status = lw_sim_create(model, &desc, &sim, &error);
            if (status == LW_OK) assert_true(m.calls < n);
            if (status == LW_OK) assert_int_equal(lw_sim_step(sim, 0.02), LW_OK);
            if (status != LW_OK && (status != LW_ERR_MEMORY || !*error.text))
                fail_msg("%s, allocation %ld: %d, %s", integrator, n, status, error.text);
            lw_sim_destroy(sim);
            assert_int_equal(m.live, 0);
        }
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocator_gives_all),
        cmocka_unit_test(sundials_takes_a_fixed_amount),
        cmocka_unit_test(steps_across_positions_take_nothing),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
