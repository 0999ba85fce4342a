// test_singularity_monitor.c -- singular positions that a run passes, or steps over, are reported with time and
// joints, for every formulation and tolerance; regular motions are not.
#include "methods/dca/hdca.h"
#include "simulate/simulation.h"

#include "support/mechanism.h"
#include "support/singular.h"
#include "support/given.h"

static const char *const formulations[] = {"dense", "dca", "hdca", "lagrange", "rcr", "index3"};

// ---------------------------------------------------------------------------------------- mechanisms

// Cranks of length 1 on the ground, `ground` apart, under a coupler of length `coupler`; the left
// one is upright and rotates at 3 rad/s.  Without weight.
static lw_model *four_bar(double ground, double coupler)
{
    // the right crank's upper end (x, y): at a distance of 1 from (ground, 0), of `coupler` from (0, 1)
    const double d = hypot(ground, 1), a = (coupler * coupler + d * d - 1) / (2 * d),
                 h = sqrt(coupler * coupler - a * a);
    const double x = (a * ground + h) / d, y = 1 + (-a + h * ground) / d;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body A = lwt_rod(b, "A", 0, 0, 0, 1, 1), B = lwt_rod(b, "B", 0, 1, x, y, 1),
                  C = lwt_rod(b, "C", ground, 0, x, y, 1);
    lwt_add(b, &(lw_joint_desc){.name = "left",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = A,
                                .axis = {0, 0, 1},
                                .has_qd = 1,
                                .qd = {-3}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "top left", A, B, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "top right", B, C, x, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "right", lwt_ground, C, ground, 0);
    return lwt_model(b);
}

// ---------------------------------------------------------------------------------------------- runs

typedef struct outcome {
    lw_status status;
    char reported[1024], why[512];
} outcome;

static outcome run(const lw_model *model, const char *formulation, const char *tolerance,
                   const char *project)
{
    const bool own = !strcmp(formulation, "index3");
    outcome result = {0};
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    lwt_set(&options, "formulation", formulation);
    lwt_set(&options, own ? "step" : "rtol", tolerance);
    if (!own) lwt_set(&options, "atol", tolerance);
    if (!own) lwt_set(&options, "project", project);
    lwt_set(&options, "duration", "2");
    lwt_set(&options, "sample", "2"); // no step ends on a row but the last
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    result.status = lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL);
    snprintf(result.reported, sizeof result.reported, "%s", lw_sim_notice(sim));
    snprintf(result.why, sizeof result.why, "%s", lw_sim_error(sim)->text);
    lw_sim_destroy(sim);
    return result;
}

// ---------------------------------------------------------------------------------------------- tests

// The report of a step across, or that of ordinary steps: the text in front of the time of the first position.
static const char *const reports[] = {"straight on, first at t = ",
                                      "passed close to a singular position at t = "};

static const char *time_of_first(const char *notice)
{
    for (int i = 0; i < LWI_COUNT(reports); i++) {
        const char *at = strstr(notice, reports[i]);
        if (at) return at + strlen(reports[i]);
    }
    return NULL;
}

// All links of a parallelogram are in a line when the crank has rotated by pi/2, near 0.5 s.
static void singular_positions_are_reported(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-2", "1e-3", "1e-5", "1e-8"};
    static const char *const step[] = {"0.1", "0.03", "0.01", "0.003"};
    const double want = 1.5707963267948966 / 3; // the speed stays: no weight, one inertia
    lw_model *model = four_bar(2, 2);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tolerance); k++)
            for (int p = 0; p < 2; p++) {
                const bool own = !strcmp(formulations[f], "index3");
                const outcome r =
                    run(model, formulations[f], own ? step[k] : tolerance[k], p ? "auto" : "never");
                if (r.status != LW_OK) { // it may stop there
                    assert_int_equal(r.status, LW_ERR_SINGULAR);
                    assert_non_null(strstr(r.why, "singular position at t = "));
                    assert_non_null(strstr(r.why, " and those of "));
                    continue;
                }
                const char *reported = time_of_first(r.reported);
                if (!reported)
                    fail_msg("%s %s: nothing is reported", formulations[f], tolerance[k]);
                const double t = strtod(reported, NULL);
                assert_true(fabs(t - want) < 0.02);
                assert_non_null(strstr(reported, "joint '"));
                assert_non_null(strstr(reported, "'left'"));
            }
    lw_model_destroy(model);
}

// index3 by its error control.
static void steps_by_error_are_monitored(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-3", "1e-5", "1e-7"};
    lw_model *model = four_bar(2, 2);
    for (int k = 0; k < LWI_COUNT(tolerance); k++) {
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("formulation", "index3", "rtol", tolerance[k], "atol",
                                             tolerance[k], "duration", "2", "sample", "2"));
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        const char *reported = time_of_first(lw_sim_notice(sim));
        if (!reported) fail_msg("%s: nothing is reported", tolerance[k]);
        assert_true(fabs(strtod(reported, NULL) - 1.5707963267948966 / 3) < 0.02);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// With a coupler two per cent shorter than the ground nothing is ever in a line.
static void regular_motions_are_not(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-2", "1e-5", "1e-8"};
    static const char *const step[] = {"0.03", "0.01", "0.003"};
    lw_model *model = four_bar(2, 1.9);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tolerance); k++) {
            const bool own = !strcmp(formulations[f], "index3");
            const outcome r = run(model, formulations[f], own ? step[k] : tolerance[k], "auto");
            if (r.status != LW_OK) fail_msg("%s %s: %s", formulations[f], tolerance[k], r.why);
            if (time_of_first(r.reported))
                fail_msg("%s %s: %s", formulations[f], tolerance[k], r.reported);
        }
    lw_model_destroy(model);
}

// No state is sampled before bodies can have moved far enough.
static void samples_wait_for_motion(void **state)
{
    (void)state;
    enum { STEPS = 2000 };
    lw_model *model = four_bar(2, 1.9);
    lw_options options;
    lw_error error;
    lw_sim *sim;
    int early = 0, samples = 0;
    lw_options_default(&options);
    lwt_set(&options, "formulation", "rcr");
    lwt_set(&options, "integrator", "rk4");
    lwt_set(&options, "step", "0.001");
    lwt_set(&options, "singular", "turn"); // steps across have separate samples
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    for (int i = 1; i <= STEPS; i++) {
        const lwi_monitor *monitor = &sim->monitor;
        const double last = monitor->count ? monitor->sample[monitor->count - 1].t : -1;
        early += lwi_monitor_is_early(monitor, sim->t);
        lwt_ok(lw_sim_step(sim, 0.001 * i), lw_sim_error(sim));
        samples += monitor->sample[monitor->count - 1].t > last;
    }
    // 6 rad, a sample at every 0.1 to 0.75 rad; the interval of checks between them doubles
    print_message("%d of %d steps are early, %d samples\n", early, STEPS, samples);
    assert_true(early > STEPS / 2);
    assert_in_range(samples, 6 / 0.75, 6 / 0.1 + 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The ranks of the monitor are those that a formulation has found, and those found alone.  Destroys the model.
static void share_ranks(lw_model *model, int redundant, bool in_plane)
{
    static const char *const sharing[] = {"auto", "dca", "hdca", "rcr"};
    lwi_arena arena;
    lwi_system alone;
    lw_error error;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &arena, &alone), LW_OK);
    assert_int_equal(alone.nrow - alone.generic_rank, redundant);
    for (int i = 0; i < LWI_COUNT(sharing); i++) {
        lw_sim *sim;
        lw_options options;
        lw_options_default(&options);
        lwt_set(&options, "formulation", sharing[i]);
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        const lwi_system *system = &sim->monitor.system;
        assert_true(sim->shared.planned && sim->shared.ranked);
        assert_ptr_equal(system->plan.node, sim->shared.plan.node);
        const bool at_start = in_plane || sim->shared.loop_dependent;
        assert_ptr_equal(system->generic_q, at_start ? NULL : sim->shared.q);
        assert_int_equal(system->generic_rank, alone.generic_rank);
        assert_int_equal(system->start_rank, alone.start_rank);
        lw_sim_destroy(sim);
    }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// The monitor takes plan, generic ranks and their configuration over from the formulation, and they are those that it
// finds alone; in a plane, and where they follow from single loops, it needs no configuration.
static void ranks_are_searched_once(void **state)
{
    (void)state;
    share_ranks(four_bar(2, 2.2), 3, true);
    share_ranks(lwt_generated((lw_mechanism_desc){
                    .mechanism = LW_MECHANISM_LADDER, .n = 3, .q = {0.2, 0.3}, .qd = {0.5, 1}}),
                6, false);
}

// The start and its row have one pivot, found once, and a run without a step takes no sample; at another position or time
// the pivot is found again.
static void a_pivot_is_found_once(void **state)
{
    (void)state;
    static const char *const takes[] = {"hdca", "rcr"};
    lw_model *model = four_bar(2, 2.2);
    for (int i = 0; i < LWI_COUNT(takes); i++) {
        lw_options options;
        lw_error error;
        lw_sim *sim;
        int edge;
        lw_options_default(&options);
        lwt_set(&options, "formulation", takes[i]);
        lwt_set(&options, "duration", "0");
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        lwi_monitor *monitor = &sim->monitor;
        const lwi_elim *elim = monitor->in_plane.elim;
        const long before = lwi_elim_matrix_passes(elim);
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        assert_int_equal(lwi_elim_matrix_passes(elim), before);
        assert_true(monitor->count == 0 && monitor->times == 0);
        lwi_snapshot *m = &sim->snapshot;
        const double start = monitor->seen.pivot, pivot = lwi_monitor_pivot(monitor, m, &edge);
        assert_true(pivot > 0 && pivot == start);
        assert_int_equal(lwi_elim_matrix_passes(elim), before);
        m->t += 1e-3;
        assert_true(fabs(lwi_monitor_pivot(monitor, m, &edge) - pivot) < 1e-14);
        assert_int_equal(lwi_elim_matrix_passes(elim), before + 1);
        m->r[1][0] += 1e-3;
        lwi_monitor_pivot(monitor, m, &edge);
        assert_int_equal(lwi_elim_matrix_passes(elim), before + 2);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Two separate four-bars, of different shapes.
static lw_model *two_four_bars(void)
{
    lw_builder *b = lwt_builder();
    for (int i = 0; i < 2; i++) {
        const double x = 10 * i, h = 1 + 0.5 * i;
        const lw_body A = lwt_rod(b, i ? "A2" : "A1", x, 0, x, h, 1),
                      B = lwt_rod(b, i ? "B2" : "B1", x, h, x + 2, 1.5, 1),
                      C = lwt_rod(b, i ? "C2" : "C1", x + 2.5, 0, x + 2, 1.5, 1);
        lwt_joint(b, LW_JOINT_REVOLUTE, i ? "left2" : "left1", lwt_ground, A, x, 0);
        lwt_joint(b, LW_JOINT_REVOLUTE, i ? "top2" : "top1", A, B, x, h);
        lwt_joint(b, LW_JOINT_REVOLUTE, i ? "tip2" : "tip1", B, C, x + 2, 1.5);
        lwt_joint(b, LW_JOINT_REVOLUTE, i ? "right2" : "right1", lwt_ground, C, x + 2.5, 0);
    }
    return lwt_model(b);
}

// Where the ranks are found at the start, its pivot is that of their matrix pass, also of each group of loops.
static void ranks_leave_the_pivot_at_the_start(void **state)
{
    (void)state;
    lw_model *model = two_four_bars();
    lw_options options;
    lw_error error;
    lw_sim *sim;
    int edge, other;
    double here[2];
    lw_options_default(&options);
    lwt_set(&options, "formulation", "rcr");
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    lwi_monitor *monitor = &sim->monitor;
    const lwi_elim *elim = monitor->system.elim;
    assert_true(monitor->system.ranked_there);
    assert_int_equal(lwi_elim_matrix_passes(elim), 1); // that of ranks
    assert_int_equal(monitor->ngroup, 2);
    const double pivot = lwi_monitor_pivot(monitor, &sim->snapshot, &edge);
    memcpy(here, monitor->here, sizeof here);
    assert_int_equal(lwi_elim_matrix_passes(elim), 1);
    sim->snapshot.t += 1e-3; // found again
    assert_true(fabs(lwi_monitor_pivot(monitor, &sim->snapshot, &other) - pivot) < 1e-14);
    assert_int_equal(lwi_elim_matrix_passes(elim), 2);
    assert_int_equal(edge, other);
    for (int g = 0; g < 2; g++) assert_true(fabs(monitor->here[g] - here[g]) < 1e-14);
    assert_true(fabs(here[0] - here[1]) > 1e-3);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A platform on legs of two bodies each: universal, prismatic, spherical.
static lw_model *platform(int legs)
{
    lw_builder *b = lwt_builder();
    const lw_body top =
        lwt_body(b, &(lw_body_desc){.mass = 10, .inertia = {1, 1, 2}, .pose.position = {0, 0, 1}});
    for (int i = 0; i < legs; i++) {
        const double angle = 6.283185307179586 * i / legs, c = cos(angle), s = sin(angle);
        const lw_vec3 foot = {1.5 * c, 1.5 * s, 0}, end = {c, s, 1}, side = {-s, c, 0},
                      along = {-0.5 * c, -0.5 * s, 1}, across = {c, s, 0.5};
        lw_body rod[2];
        for (int k = 0; k < 2; k++) {
            const double at = k ? 0.75 : 0.25;
            rod[k] = lwt_body(b, &(lw_body_desc){.mass = 1,
                                                 .inertia = {0.1, 0.1, 0.1},
                                                 .pose.position = {(1.5 - 0.5 * at) * c,
                                                                   (1.5 - 0.5 * at) * s, at}});
        }
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                    .body2 = rod[0],
                                    .at = foot,
                                    .axis = side,
                                    .axis2 = across});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_PRISMATIC,
                                    .body1 = rod[0],
                                    .body2 = rod[1],
                                    .at = foot,
                                    .axis = along});
        lwt_add(b, &(lw_joint_desc){
                       .type = LW_JOINT_SPHERICAL, .body1 = rod[1], .body2 = top, .at = end});
    }
    return lwt_model(b);
}

// A body with many joints is split into parts, of which rows keep their angles: with more legs a start is not nearer to a
// singular position, which would have to be left: the pivot has a limit, and is found as often.
static void many_legs_are_not_near_a_singular_position(void **state)
{
    (void)state;
    static const int legs[] = {30, 1600};
    double pivot[2];
    long passes[2];
    for (int i = 0; i < 2; i++) {
        lw_model *model = platform(legs[i]);
        const lw_observation *row;
        lw_error error;
        lw_sim *sim;
        int edge;
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){0}, &sim, &error), &error);
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &row), lw_sim_error(sim));
        passes[i] = lwi_elim_matrix_passes(sim->monitor.system.elim);
        pivot[i] = lwi_monitor_pivot(&sim->monitor, &sim->snapshot, &edge);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
    assert_true(pivot[1] > 0.5 * pivot[0]);
    assert_int_equal(passes[1], passes[0]);
}

// While margins are large at both ends of a step, and between those of a long one, nothing is examined, from the first step
// on: a pivot is found for a state that is set, and again only near a singular position.
static void large_margins_spare_pivots(void **state)
{
    (void)state;
    static const char *const settings[][5] = {{"integrator", "rk4", "step", "0.1"},
                                              {"integrator", "dopri5", "rtol", "1e-3"},
                                              {"integrator", "verner87", "rtol", "1e-6"}};
    lw_model *model = lwt_four_bars(2);
    for (int i = 0; i < LWI_COUNT(settings); i++) {
        lw_sim *sim = lwt_simulate(model, settings[i]);
        const lwi_elim *elim = sim->monitor.system.elim;
        double q[8], v[8];
        lw_sim_get_tree(sim, q, v);
        for (int run = 0; run < 2; run++) { // one leaves nothing to the next
            const double largest = sim->monitor.largest;
            lwt_ok(lw_sim_set_tree(sim, 0, q, v), lw_sim_error(sim));
            const long before = lwi_elim_matrix_passes(elim);
            lwt_ok(lw_sim_step(sim, 0.4), lw_sim_error(sim));
            assert_int_equal(lwi_elim_matrix_passes(elim), before);
            assert_true(sim->monitor.largest >= largest);
            lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
            assert_true(lwi_elim_matrix_passes(elim) > before);
            assert_int_equal(sim->crossing.count, run + 1);
        }
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Ranks of the nodes, reference pivots, digits and the components of reactions that are not unique, found by the first
// formulation, serve the second one with the same plan: the same numbers as those that it finds alone.  A formulation
// without the plan shares none of them.
static void findings_of_a_plan_are_shared(void **state)
{
    (void)state;
    lw_model *model = four_bar(2, 2.2);
    const size_t njoint = (size_t)lw_model_joint_count(model);
    lwi_shared shared;
    lw_error error;
    lwi_work *work[3]; // the first one, a second one, one alone
    lw_options sequential;
    lwi_shared_init(NULL, &shared);
    lw_options_default(&sequential);
    sequential.plan = LW_PLAN_COMB;
    for (int i = 0; i < LWI_COUNT(work); i++)
        lwt_ok(lwi_work_create_shared(model, &lwi_formulation_hdca, NULL, NULL, 0,
                                      i < 2 ? &shared : NULL, &work[i], &error),
               &error);
    const lwi_system *first = lwi_hdca_system(work[0]), *second = lwi_hdca_system(work[1]),
                     *alone = lwi_hdca_system(work[2]);
    assert_ptr_equal(first->common, &shared);
    assert_ptr_equal(second->common, &shared);
    assert_null(alone->common);
    const int n = alone->plan.nnode;
    int rank[3][16];
    double pivot[3][16];
    assert_in_range(n, 1, 16);
    for (int i = 0; i < 3; i++) {
        lwi_elim_get_ranks(lwi_hdca_system(work[i])->elim, rank[i]);
        lwi_elim_get_reference(lwi_hdca_system(work[i])->elim, pivot[i]);
    }
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(rank[i], rank[2], (size_t)n * sizeof **rank);
        assert_memory_equal(pivot[i], pivot[2], (size_t)n * sizeof **pivot);
        assert_memory_equal(lwi_hdca_system(work[i])->undetermined, alone->undetermined, njoint);
    }
    assert_true(pivot[2][n - 1] > 0);
    assert_true(shared.tree_pivot > 0 && second->careful == alone->careful);
    int open = 0;
    for (size_t j = 0; j < njoint; j++) open += second->undetermined[j] != 0;
    assert_int_equal(open, 4);
    lwi_work *other;
    lwt_ok(lwi_work_create_shared(model, &lwi_formulation_hdca, NULL, &sequential, 0, &shared,
                                  &other, &error),
           &error);
    assert_null(lwi_hdca_system(other)->common);
    lwi_work_destroy(other);
    for (int i = 0; i < LWI_COUNT(work); i++) lwi_work_destroy(work[i]);
    lwi_shared_free(&shared);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singular_positions_are_reported),
        cmocka_unit_test(steps_by_error_are_monitored),
        cmocka_unit_test(regular_motions_are_not),
        cmocka_unit_test(samples_wait_for_motion),
        cmocka_unit_test(ranks_are_searched_once),
        cmocka_unit_test(a_pivot_is_found_once),
        cmocka_unit_test(ranks_leave_the_pivot_at_the_start),
        cmocka_unit_test(many_legs_are_not_near_a_singular_position),
        cmocka_unit_test(large_margins_spare_pivots),
        cmocka_unit_test(findings_of_a_plan_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
