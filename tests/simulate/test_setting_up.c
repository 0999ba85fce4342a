// test_setting_up.c -- what it takes to begin a run: eliminations, and bytes for each body.
#include "support/counted_malloc.h"

#include "methods/dca/hdca.h"
#include "methods/rcr/rcr.h"
#include "simulate/simulation.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Bytes from an allocator, now and at most.
typedef struct meter {
    size_t live, peak;
} meter;

static void *take(void *user, size_t bytes)
{
    meter *m = user;
    size_t *block = malloc(sizeof(max_align_t) + bytes);
    if (!block) return NULL;
    *block = bytes;
    m->live += bytes;
    if (m->live > m->peak) m->peak = m->live;
    return (char *)block + sizeof(max_align_t);
}

static void give_back(void *user, void *block)
{
    size_t *head = (size_t *)((char *)block - sizeof(max_align_t));
    ((meter *)user)->live -= *head;
    free(head);
}

static lw_model *generated(const char *kind, int n, const char *start)
{
    char text[256];
    const lw_read_desc desc = {.format = "yaml"};
    lw_model *model = NULL;
    lw_error error = {0};
    snprintf(text, sizeof text, "linkwork: 1\ngravity: [0, -9.81, 0]\ngenerate: {%s: {n: %d%s}}\n",
             kind, n, start);
    if (lw_model_parse(text, strlen(text), kind, &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%s: %s", kind, error.text);
    return model;
}

static lw_sim *begin(const lw_model *model, const lw_allocator *allocator)
{
    lw_sim *sim = NULL;
    lw_error error = {0};
    const lw_observation *o;
    if (lw_sim_create(model, &(lw_sim_desc){.allocator = allocator}, &sim, &error) != LW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), LW_OK);
    return sim;
}

// Ranks at the start, which those of planar loops are anywhere, with the partition that they leave: clusters find the speeds
// of the start, and its row.  The monitor has the ranks of its rows and the pivot of the start from the rows within the plane.
static void a_row_of_four_bars_begins_with_two_passes(void **state)
{
    (void)state;
    lw_model *model = generated("n_four_bar", 40, ", q: [0.3, 0, 0], qd: [1, 0, 0]");
    lw_sim *sim = begin(model, NULL);
    assert_string_equal(lw_sim_options(sim)->formulation, "rcr");
    assert_int_equal(((const lwi_rcr_work *)sim->work->data)->e.passes, 1);
    assert_int_equal(lwi_elim_matrix_passes(sim->monitor.system.elim), 0);
    assert_int_equal(lwi_elim_matrix_passes(sim->monitor.in_plane.elim), 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Where redundant rows are those of single loops, and as many at the start as at a configuration near it, its ranks are the
// generic ones: no second elimination is needed there.
static void a_ladder_begins_with_one_pass(void **state)
{
    (void)state;
    lw_model *model = generated("ladder", 40, ", q: [0.2, 0.3, 0], qd: [0.5, 1, 0]");
    lw_sim *sim = begin(model, NULL);
    assert_string_equal(lw_sim_options(sim)->formulation, "rcr");
    const lwi_rcr *e = &((const lwi_rcr_work *)sim->work->data)->e;
    assert_int_equal(e->passes, 1);
    assert_non_null(e->at_start);
    assert_int_equal(sim->shared.redundant, 2 * 40); // of each loop
    assert_int_equal(sim->shared.start_redundant, sim->shared.redundant);
    assert_true(sim->shared.q[0] != model->q0[0]); // it is that configuration
    // ranks of the monitor follow from the loops: its pass is that of the start's pivot
    assert_int_equal(lwi_elim_matrix_passes(sim->monitor.system.elim), 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static lw_sim *begin_with(const lw_model *model, const char *formulation,
                          const lw_allocator *allocator)
{
    lw_sim *sim = NULL;
    lw_error error = {0};
    lw_options options;
    const lw_observation *o;
    lw_options_default(&options);
    assert_int_equal(lw_options_set(&options, "formulation", formulation, NULL), LW_OK);
    const lw_sim_desc desc = {.options = &options, .allocator = allocator};
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), LW_OK);
    return sim;
}

// Ranks at the start; reference pivots, which show the digits of the tree
// as well; the momenta of the start and its row.
static void momenta_of_four_bars_begin_with_bounded_work(void **state)
{
    (void)state;
    lw_model *model = generated("n_four_bar", 40, ", q: [0.3, 0, 0], qd: [1, 0, 0]");
    meter m = {0};
    const lw_allocator allocator = {take, give_back, &m};
    lw_sim *sim = begin_with(model, "hdca", &allocator);
    assert_int_equal(lwi_elim_matrix_passes(lwi_hdca_system(sim->work)->elim), 3);
    // the elimination for reactions of minimum norm serves the rows near singular positions, too
    const double bytes = (double)m.peak / (lw_model_body_count(model) - 1);
    printf("hdca, four-bars: %.0f bytes for a body\n", bytes);
    assert_true(bytes < 40000);
    // what errors of momenta are as errors of speeds needs other momenta at the same coordinates: the factors of the row
    assert_true(lwi_momentum_errors(sim) > 0);
    assert_int_equal(lwi_elim_matrix_passes(lwi_hdca_system(sim->work)->elim), 3);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The pivot of the start is found once: a row there and the end of a run without a step take it, although the state has
// other round-off than the model's poses.
static void the_pivot_of_the_start_is_found_once(void **state)
{
    (void)state;
    lw_model *model = generated("loop", 400, "");
    lw_sim *sim = begin_with(model, "dca", NULL);
    const long passes = lwi_elim_matrix_passes(sim->monitor.system.elim);
    const lw_observation *o;
    assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), LW_OK);
    lwi_sim_end_monitor(sim);
    assert_int_equal(lwi_elim_matrix_passes(sim->monitor.system.elim), passes);
    assert_int_equal(passes, 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Scales of momenta follow from the poses: a state elsewhere needs no factors for them.
static void scales_of_momenta_need_no_factors(void **state)
{
    (void)state;
    lw_model *model = generated("n_four_bar", 10, ", q: [0.3, 0, 0], qd: [1, 0, 0]");
    lw_sim *sim = begin_with(model, "hdca", NULL);
    lwi_work *work = sim->work;
    double *scale = calloc(2 * (size_t)work->layout.nx, sizeof *scale),
           *again = scale + work->layout.nx;
    assert_non_null(scale);
    sim->x[0] += 1e-3;
    const long passes = lwi_elim_matrix_passes(lwi_hdca_system(work)->elim);
    assert_int_equal(work->formulation->scale(work, 0, sim->x, scale), LW_OK);
    assert_int_equal(lwi_elim_matrix_passes(lwi_hdca_system(work)->elim), passes);
    // with factors of this state the same
    assert_int_equal(
        work->formulation->observe(work, 0, sim->x, sim->inputs, LW_OBSERVE_TWIST, &sim->snapshot),
        LW_OK);
    assert_int_equal(work->formulation->scale(work, 0, sim->x, again), LW_OK);
    assert_memory_equal(scale, again, (size_t)work->layout.nx * sizeof *scale);
    free(scale);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The state that estimates take is the one of a run's start up to round-off; at a singular start there is none.
static void the_start_is_estimated_without_factors(void **state)
{
    (void)state;
    static const char *const starts[] = {", q: [0.3, 0, 0], qd: [1, 0, 0]",
                                         ", q: [1.5707963267948966, 0, 0]"};
    for (int i = 0; i < 2; i++) {
        lw_model *model = generated("n_four_bar", 10, starts[i]);
        lwi_work *work = NULL;
        lwi_snapshot start;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_work_create(model, &lwi_formulation_hdca, NULL, &work, NULL), LW_OK);
        assert_int_equal(lwi_snapshot_create(model, &arena, &start), LW_OK);
        lwi_snapshot_start(model, &start);
        const size_t nx = (size_t)work->layout.nx;
        double *x = calloc(2 * nx, sizeof *x), *exact = x + nx;
        assert_non_null(x);
        const long passes = lwi_elim_matrix_passes(lwi_hdca_system(work)->elim);
        assert_true(lwi_hdca_estimate_start(work, &start, x) == (i == 0));
        assert_int_equal(lwi_elim_matrix_passes(lwi_hdca_system(work)->elim), passes);
        if (i == 0) {
            assert_int_equal(work->formulation->enter(work, &start, exact), LW_OK);
            for (size_t k = 0; k < nx; k++) assert_true(fabs(x[k] - exact[k]) <= 1e-11);
        }
        free(x);
        lwi_arena_free(&arena);
        lwi_work_destroy(work);
        lw_model_destroy(model);
    }
}

// Four bars with orientations of which the quaternions have a negative first number; those of a state have a positive one.
static lw_model *rotated(void)
{
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "bodies:\n"
        "  A: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0.5, 0], orientation: [-0.6, 0, "
        "0, 0.8]}\n"
        "  B: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.5, 1, 0], orientation: [-1, 0, "
        "0, 0]}\n"
        "  C: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0.4, 0], orientation: [-0.6, 0, "
        "0, 0.8]}\n"
        "joints:\n"
        "  a: {type: revolute, between: [ground, A], at: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  b: {type: revolute, between: [A, B], at: [0, 1, 0], axis: [0, 0, 1]}\n"
        "  c: {type: revolute, between: [B, C], at: [1, 1, 0], axis: [0, 0, 1]}\n"
        "  d: {type: revolute, between: [ground, C], at: [1, -0.2, 0], axis: [0, 0, 1]}\n";
    lw_model *model = NULL;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    if (lw_model_parse(text, strlen(text), "rotated", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    return model;
}

// The pivot at the start is known to the first step, with quaternions of either sign.
static void the_first_step_has_the_pivot_of_the_start(void **state)
{
    static const char *const formulations[] = {"rcr", "hdca", "dca", "index3"};
    (void)state;
    for (size_t i = 0; i < sizeof formulations / sizeof *formulations; i++) {
        lw_model *model = rotated();
        lw_sim *sim = begin_with(model, formulations[i], NULL);
        const long passes = lwi_elim_matrix_passes(sim->monitor.system.elim);
        assert_int_equal(lw_sim_step(sim, 1e-6), LW_OK);
        assert_int_equal(sim->monitor.count, 1);
        assert_int_equal(lwi_elim_matrix_passes(sim->monitor.system.elim), passes);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// What a simulation takes for a body, small and large; nothing is left when it is destroyed.
static void memory_is_linear_in_bodies(void **state)
{
    static const struct {
        const char *kind, *start;
        double bytes; ///< for a body, upper bound: some percent more than now
    } cases[] = {
        {"chain", "", 5700},
        {"tree", "", 6100},
        {"loop", "", 25000},
        {"n_four_bar", ", q: [0.3, 0, 0], qd: [1, 0, 0]", 35500},
        {"ladder", ", q: [0.2, 0.3, 0], qd: [0.5, 1, 0]", 35000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 100; n <= 800; n *= 8) {
            meter m = {0};
            const lw_allocator allocator = {take, give_back, &m};
            lw_model *model = generated(cases[i].kind, n, cases[i].start);
            const int bodies = lw_model_body_count(model) - 1;
            lw_sim *sim = begin(model, &allocator);
            const double bytes = (double)m.peak / bodies;
            printf("%s of %d bodies: %.0f bytes for a body\n", cases[i].kind, bodies, bytes);
            if (bytes > cases[i].bytes)
                fail_msg("%s of %d bodies: %.0f bytes for a body, expected at most %.0f",
                         cases[i].kind, bodies, bytes, cases[i].bytes);
            lw_sim_destroy(sim);
            assert_int_equal(m.live, 0);
            lw_model_destroy(model);
        }
}

// Pivots of a large net are small everywhere, so at rest it may be next to a singular position: one small motion shows that
// it is not, instead of the four that find a branch.
static void a_net_at_rest_begins_with_one_small_motion(void **state)
{
    (void)state;
    lw_model *model = generated("net", 14, ", m: 14, q: [0.3, 0, 0]");
    lw_sim *sim = begin(model, NULL);
    assert_true(sim->crossing.start_pivot < 1e-4); // else there is no small motion
    assert_false(sim->crossing.started);
    const long passes = lwi_elim_matrix_passes(sim->passage.gauss.assembler->elim);
    print_message("net at rest: %ld passes of the assembler\n", passes);
    assert_in_range(passes, 1, 10);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The updates of a net's nodes, which are many times as large as its factors, use the same memory again.
static void memory_of_a_net(void **state)
{
    (void)state;
    meter m = {0};
    const lw_allocator allocator = {take, give_back, &m};
    lw_model *model = generated("net", 14, ", m: 14, q: [0.3, 0, 0], qd: [0, 0, 1]");
    lw_sim *sim = begin(model, &allocator);
    const double bytes = (double)m.peak / (lw_model_body_count(model) - 1);
    printf("net: %.0f bytes for a body\n", bytes);
    assert_true(bytes < 71000);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Names of columns take more memory and time than all else of a row: those of CSV are not kept, and a model without
// measures has none for them.
static void names_of_columns_are_not_kept(void **state)
{
    (void)state;
    if (!COUNTS_ALLOCATIONS) skip();
    lw_model *model = generated("chain", 2000, "");
    lw_sim *sim = begin(model, NULL);
    lw_measures *measures;
    lw_csv *csv;
    lw_error error = {0};
    counted_bytes = 0;
    assert_int_equal(LW_OK, lw_measures_create(model, &measures, &error));
    assert_true(counted_bytes < 100000); // a chunk of memory; names would take 3 MB
    counted_bytes = 0;
    assert_int_equal(LW_OK, lw_csv_create(model, LW_OBSERVE_FORCE, "/dev/null", &csv, &error));
    const double columns = 28.0 * 2000;
    printf("CSV: %.1f bytes for a column\n", (double)counted_bytes / columns);
    assert_true((double)counted_bytes < 70 * columns);
    assert_int_equal(LW_OK, lw_csv_close(csv));
    lw_measures_destroy(measures);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_four_bars_begins_with_two_passes),
        cmocka_unit_test(momenta_of_four_bars_begin_with_bounded_work),
        cmocka_unit_test(the_pivot_of_the_start_is_found_once),
        cmocka_unit_test(scales_of_momenta_need_no_factors),
        cmocka_unit_test(the_start_is_estimated_without_factors),
        cmocka_unit_test(a_ladder_begins_with_one_pass),
        cmocka_unit_test(the_first_step_has_the_pivot_of_the_start),
        cmocka_unit_test(memory_is_linear_in_bodies),
        cmocka_unit_test(a_net_at_rest_begins_with_one_small_motion),
        cmocka_unit_test(memory_of_a_net),
        cmocka_unit_test(names_of_columns_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
