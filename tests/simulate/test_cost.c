// test_cost.c -- what `auto` chooses for a model, and the reason that it gives.
#include "initial/assemble.h"
#include "methods/dca/net_cases.h"
#include "methods/rcr/rcr.h"
#include "simulate/cost.h"
#include "simulate/stiffness.h"
#include "simulate/simulation.h"
#include "support/mechanism.h"
#include "system/system.h"

static void set(lw_options *options, const char *key, const char *value)
{
    lw_error error;
    lwt_ok(lw_options_set(options, key, value, &error), &error);
}

// Formulation and text of a simulation with default options; destroys the model.
static void expect(lw_model *model, const char *formulation, const char *why)
{
    lw_sim *sim;
    lw_error error;
    lwt_ok(lw_sim_create(model, NULL, &sim, &error), &error);
    assert_string_equal(lw_sim_options(sim)->formulation, formulation);
    if (!strstr(lw_sim_notice(sim), why)) fail_msg("'%s' in: %s", why, lw_sim_notice(sim));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A closed chain in the plane, rod B of the given mass.
static lw_model *four_bar(double mass, bool pushed)
{
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 0.3, 1, 1), B = lwt_rod(b, "B", 0.3, 1, 1.5, 1.4, mass),
                  C = lwt_rod(b, "C", 1.2, 0, 1.5, 1.4, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, 0.3, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j3", B, C, 1.5, 1.4);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j4", lwt_ground, C, 1.2, 0);
    lw_error error;
    const lw_spring_desc spring = {
        .name = "push", .body2 = C, .point1 = {0, 3, 0}, .stiffness = 1, .length = 1};
    if (pushed) lwt_ok(lw_builder_add_spring(b, &spring, &error), &error);
    return lwt_model(b);
}

static void trees_go_by_aba(void **state)
{
    (void)state;
    expect(lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 7}), "aba",
           "formulation aba: the joints form a tree");
    expect(lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 200}), "aba",
           "tree");
    expect(lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_TREE, .n = 63}), "aba",
           "tree");
}

// The choice for a model, which is destroyed, with a state and a number of threads.
static lwi_cost_choice choice_for(lw_model *model, const char *state, int threads)
{
    lwi_cost_survey survey;
    lwi_cost_choice choice;
    lw_options options;
    lw_options_default(&options);
    options.threads = threads;
    set(&options, "state", state);
    assert_int_equal(lwi_cost_measure(model, &options, NULL, NULL, &survey), LW_OK);
    lwi_cost_choose(model, &survey, &choice);
    lwi_work_destroy(survey.work);
    lw_model_destroy(model);
    return choice;
}

static void expect_choice(lwi_cost_choice choice, const char *formulation, const char *why)
{
    assert_string_equal(choice.formulation, formulation);
    if (!strstr(choice.why, why)) fail_msg("'%s' in: %s", why, choice.why);
}

// Long paths go in segments where these are faster on one thread: balls, not square axes.  More threads change nothing.
static void long_paths_go_in_segments(void **state)
{
    (void)state;
    const lw_mechanism_desc square = {.mechanism = LW_MECHANISM_CHAIN, .n = 4096},
                            balls = {.mechanism = LW_MECHANISM_CHAIN, .n = 4096, .joint = 2},
                            shortest = {.mechanism = LW_MECHANISM_CHAIN, .n = 256, .joint = 2},
                            shorter = {.mechanism = LW_MECHANISM_CHAIN, .n = 255, .joint = 2};
    expect_choice(choice_for(lwt_generated(square), "speeds", 1), "aba",
                  "a long path; dca is not expected to be faster");
    expect_choice(choice_for(lwt_generated(square), "momenta", 1), "momenta",
                  "hdca is not expected");
    expect_choice(choice_for(lwt_generated(square), "speeds", 4), "aba",
                  "a long path; dca is not expected to be faster");
    expect_choice(choice_for(lwt_generated(balls), "speeds", 1), "dca", "than aba ");
    expect_choice(choice_for(lwt_generated(balls), "speeds", 8), "dca", "than aba ");
    expect_choice(choice_for(lwt_generated(balls), "momenta", 1), "hdca", "than momenta ");
    expect_choice(choice_for(lwt_generated(shortest), "speeds", 1), "dca", "than aba ");
    expect_choice(choice_for(lwt_generated(shorter), "speeds", 8), "aba", "the joints form a tree");
}

static lw_model *ring(void)
{
    lwt_net net = lwt_net_begin(1);
    lwt_net_ring(&net, false, 600);
    return lwt_model(net.builder);
}

static lw_model *branches(int n)
{
    lwt_net net = lwt_net_begin(1);
    const lw_vec3 origin = {0, 0, 0};
    lwt_net_branches(&net, lwt_net_hub(&net, lwt_ground, LW_JOINT_FREE, origin), origin, n, 2, 2);
    return lwt_model(net.builder);
}

/** So do several paths, unless the bodies between them cost more than that gains. */
static void several_long_paths_go_in_segments(void **state)
{
    (void)state;
    expect_choice(choice_for(branches(400), "speeds", 1), "dca", "a tree of long paths; ");
    expect_choice(choice_for(branches(60), "speeds", 1), "aba", "a tree of long paths; ");
}

static void predictions_of_long_paths_include_segments(void **state)
{
    (void)state;
    double seconds[16];
    lw_error error;
    lw_model *model =
        lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 4096, .joint = 2});
    lwt_ok(lw_model_costs(model, seconds, &error), &error);
    double of_aba = NAN, of_dca = NAN;
    for (int i = 0; i < lw_formulation_count(); i++) {
        if (!strcmp(lw_formulation_info(i).name, "aba")) of_aba = seconds[i];
        if (!strcmp(lw_formulation_info(i).name, "dca")) of_dca = seconds[i];
    }
    assert_true(of_dca < of_aba && of_dca > 0.25 * of_aba);
    lw_model_destroy(model);
}

// The elimination of a ring of 600 links takes 400 us by its table.
static void predictions_of_rings_include_segments(void **state)
{
    (void)state;
    double seconds[16];
    lw_error error;
    lw_model *model = ring();
    lwt_ok(lw_model_costs(model, seconds, &error), &error);
    for (int i = 0; i < lw_formulation_count(); i++) {
        const char *name = lw_formulation_info(i).name;
        if (!strcmp(name, "hdca") || !strcmp(name, "dca"))
            assert_true(seconds[i] > 20e-6 && seconds[i] < 50e-6);
    }
    lw_model_destroy(model);
}

// Loops in lanes report the number of loop clusters; a single loop is named by the joint that closes it.
static void loops_in_lanes_go_by_rcr(void **state)
{
    (void)state;
    expect(four_bar(1, false), "rcr",
           "closes a loop, 2 loop clusters in lanes; expected to be faster than ");
    expect(four_bar(1, true), "rcr",
           "closes a loop, 2 loop clusters in lanes; expected to be faster than ");
    expect(lwt_generated((lw_mechanism_desc){
               .mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 40, .q = {0.3}, .qd = {1}}),
           "rcr", "40 joints close loops, 41 loop clusters in lanes; expected to be faster than ");
    expect(lwt_generated((lw_mechanism_desc){
               .mechanism = LW_MECHANISM_LADDER, .n = 40, .q = {0.2, 0.3}, .qd = {0.5, 1}}),
           "rcr", "40 joints close loops, 41 loop clusters in lanes; expected to be faster than ");
}

// A loop of spherical joints is nothing for clusters; the reason does not speak of them.
static void other_loops_by_the_general_text(void **state)
{
    (void)state;
    expect(lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_LOOP, .n = 8, .joint = 2}),
           "rcr", "closes a loop; expected to be faster than ");
}

// Many loops that are open at once make large fronts.
static void lattices_go_by_hdca(void **state)
{
    (void)state;
    expect(lwt_generated(
               (lw_mechanism_desc){.mechanism = LW_MECHANISM_NET, .n = 6, .m = 6, .q = {0.3}}),
           "hdca", "36 joints close loops; expected to be faster than ");
}

// Balls: as long as everything moves in its plane momenta do, but rods that rotate about their axes have little inertia,
// and errors of momenta are large ones of speeds; where that costs more than a fifth velocities may drift.
static void momenta_of_small_inertia_cost_evaluations(void **state)
{
    (void)state;
    const lw_mechanism_desc plane = {
        .mechanism = LW_MECHANISM_NET, .n = 5, .m = 5, .joint = 2, .q = {0.3}};
    lw_mechanism_desc swung = plane;
    swung.qd[0] = 0.7, swung.qd[1] = 0.4, swung.qd[2] = 0.5;
    expect(lwt_generated(plane), "hdca", "25 joints close loops; expected to be faster than ");
    expect(lwt_generated(swung), "dca",
           "cheaper ones); nothing but the tolerance keeps its velocities on the loops");
}

// rcr evaluates by the cheaper of its rows in the table of costs.
static void rcr_goes_the_cheaper_way(void **state)
{
    (void)state;
    static const struct {
        lw_mechanism_desc desc;
        const char *way;
    } cases[] = {
        {{.mechanism = LW_MECHANISM_LADDER, .n = 4, .q = {0.2, 0.3}}, LWI_RCR_CLUSTERS},
        {{.mechanism = LW_MECHANISM_LOOP, .n = 8, .joint = 2}, LWI_RCR_DENSE_PATH},
        {{.mechanism = LW_MECHANISM_NET, .n = 4, .m = 4, .q = {0.3}}, LWI_RCR_DENSE_PATH},
        {{.mechanism = LW_MECHANISM_NET, .n = 5, .m = 5, .joint = 2, .q = {0.3}},
         LWI_RCR_DENSE_PATH},
        {{.mechanism = LW_MECHANISM_LOOP, .n = 64, .axes = "z"}, LWI_RCR_ELIMINATION},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = lwt_generated(cases[i].desc);
        lwi_cost_survey survey;
        assert_int_equal(lwi_cost_measure(model, NULL, NULL, NULL, &survey), LW_OK);
        const lwi_cost_features *f = &survey.features;
        assert_string_equal(survey.rcr_way, cases[i].way);
        const bool dense =
            lwi_cost_estimate(LWI_RCR_DENSE_PATH, f) < lwi_cost_estimate(LWI_RCR_ELIMINATION, f);
        if (i) assert_int_equal(dense, !strcmp(cases[i].way, LWI_RCR_DENSE_PATH));
        lwi_work_destroy(survey.work);
        lw_model_destroy(model);
    }
}

// Multiplications, counted by hand: a four-bar has four hinges of five rows; three rods are joined by two of them,
// the others close the loop, where three of the rows depend on others.
static void operations_are_counted(void **state)
{
    (void)state;
    lw_model *model = four_bar(1, false);
    lwi_cost_survey survey;
    assert_int_equal(lwi_cost_measure(model, NULL, NULL, NULL, &survey), LW_OK);
    const lwi_cost_features *f = &survey.features;
    assert_true(f->bodies == 3 && f->speeds == 3 && f->closures == 1 && f->rows == 20);
    assert_true(f->redundant == 3);
    // the cut is in the middle: a row of it acts on all three rods
    assert_true(f->paths == 15);
    // rank 2 of 3 x 5: 3 (3 4 + 2 3) for the columns, 4 (3 + 2) + 2^2 for a solution
    assert_true(f->reflections == 54 + 24);
    lwi_work_destroy(survey.work);
    lw_model_destroy(model);
}

// From the graph alone: at most twice as large systems as those of the elimination, never smaller ones by more than
// delayed speeds add.
static void rcr_is_predicted_from_the_graph(void **state)
{
    (void)state;
    static const lw_mechanism_desc cases[] = {
        {.mechanism = LW_MECHANISM_LOOP, .n = 8, .joint = 2},
        {.mechanism = LW_MECHANISM_LADDER, .n = 8, .q = {0.2, 0.3}},
        {.mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 20, .q = {0.3}, .qd = {1}},
        {.mechanism = LW_MECHANISM_NET, .n = 4, .m = 4, .q = {0.3}},
        {.mechanism = LW_MECHANISM_NET, .n = 5, .m = 5, .joint = 2, .q = {0.3}},
        {.mechanism = LW_MECHANISM_NET, .n = 2, .m = 6, .q = {0.3}},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = lwt_generated(cases[i]);
        lwi_cost_survey survey;
        lwi_cost_features predicted;
        double seconds;
        assert_int_equal(lwi_cost_measure(model, NULL, NULL, NULL, &survey), LW_OK);
        assert_int_equal(lwi_rcr_predict(model, INFINITY, NULL, &predicted, &seconds), LW_OK);
        const lwi_cost_features *f = &survey.features;
        assert_true(predicted.nodes + predicted.unconstrained == f->bodies);
        assert_true(predicted.paths == f->paths && predicted.reflections >= f->reflections);
        const double counted = lwi_cost_estimate(LWI_RCR_ELIMINATION, f),
                     dense = lwi_cost_estimate(LWI_RCR_DENSE_PATH, f),
                     other = lwi_cost_estimate(LWI_RCR_ELIMINATION, &predicted);
        if (!(other > 0.6 * counted && other < 8 * counted))
            fail_msg("case %d: predicted %g s, counted %g s", i, other, counted);
        assert_true(seconds <= other && seconds > 0.6 * fmin(counted, dense));
        lwi_work_destroy(survey.work);
        lw_model_destroy(model);
    }
}

// Where rcr is predicted to take more than twice as long as hdca, hdca is set up first.  rcr, of which the creation would
// take most of the set-up, is not set up at all: its prediction is not so far above its cost that it could be cheaper.
static void a_dear_one_waits(void **state)
{
    (void)state;
    static const struct {
        int n, joint;
        bool waits;
    } cases[] = {{5, 0, false}, {6, 0, true}, {8, 0, true}, {5, 2, false}, {7, 2, true}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        const int n = cases[i].n;
        lw_model *model = lwt_generated((lw_mechanism_desc){
            .mechanism = LW_MECHANISM_NET, .n = n, .m = n, .joint = cases[i].joint, .q = {0.3}});
        lwi_cost_survey survey;
        lw_options momenta;
        lw_options_default(&momenta);
        momenta.state = LW_STATE_MOMENTA;
        assert_int_equal(lwi_cost_measure(model, &momenta, NULL, NULL, &survey), LW_OK);
        assert_string_equal(survey.best, "hdca");
        assert_int_equal(survey.rcr_left_out > 0, cases[i].waits);
        assert_int_equal(survey.rcr_way == NULL, cases[i].waits);
        lwi_work_destroy(survey.work);
        if (cases[i].waits) { // it would not have been the cheaper one
            lwi_work *work;
            lwi_cost_features f = survey.features;
            lw_error error;
            lwt_ok(lwi_work_create(model, &lwi_formulation_rcr, NULL, &work, &error), &error);
            lwi_rcr_count(work->data, &f);
            const double hdca = lwi_cost_estimate("hdca", &survey.features) * survey.momenta_take,
                         rcr = lwi_cost_estimate(lwi_rcr_evaluation_name(work->data), &f);
            if (!(rcr > hdca)) fail_msg("net %d: rcr %g s, hdca %g s", n, rcr, hdca);
            lwi_work_destroy(work);
        }
        lw_model_destroy(model);
    }
}

// A net that is attached to one mesh: its loops are open at once, from one end to the other, along the tree, and rcr
// would cost the cube of their number.  It is not set up: the work that is kept is that of
// hdca.
static void what_is_too_dear_is_left_out(void **state)
{
    (void)state;
    const lw_mechanism_desc net = {.mechanism = LW_MECHANISM_NET, .n = 1, .m = 60, .q = {0.3}};
    lw_model *model = lwt_generated(net);
    lwi_cost_survey survey;
    assert_int_equal(lwi_cost_measure(model, NULL, NULL, NULL, &survey), LW_OK);
    assert_true(survey.rcr_left_out > 0);
    assert_null(survey.rcr_way);
    assert_ptr_equal(survey.work->formulation, &lwi_formulation_hdca);
    assert_true(survey.features.redundant == 3 * 60);
    lwi_work_destroy(survey.work);
    lw_model_destroy(model);
    expect(lwt_generated(net), "dca", "expected to be faster than rcr by far and hdca");
}

// Speeds that wait for better pivots enlarge systems beyond what the graph shows: a trial with a limit ends there.
static void a_trial_ends_at_its_limit(void **state)
{
    (void)state;
    lw_model *model = lwt_generated(
        (lw_mechanism_desc){.mechanism = LW_MECHANISM_NET, .n = 4, .m = 4, .q = {0.3}});
    lwi_cost_survey survey;
    lwi_work *work = NULL;
    lw_error error = {0};
    assert_int_equal(lwi_cost_measure(model, NULL, NULL, NULL, &survey), LW_OK);
    const double cost = lwi_cost_estimate(LWI_RCR_ELIMINATION, &survey.features);
    assert_int_equal(lwi_work_create_shared(model, &lwi_formulation_rcr, NULL, NULL, 0.1 * cost,
                                            NULL, &work, &error),
                     LW_ERR_UNSUPPORTED);
    lwt_ok(lwi_work_create_shared(model, &lwi_formulation_rcr, NULL, NULL, 10 * cost, NULL, &work,
                                  &error),
           &error);
    lwi_work_destroy(work);
    lwt_ok(lwi_work_create_shared(model, &lwi_formulation_rcr, NULL, NULL, 0, NULL, &work, &error),
           &error);
    lwi_work_destroy(work);
    lwi_work_destroy(survey.work);
    lw_model_destroy(model);
}

// A body with bars to n others: it is eliminated first, with all of them.
static lw_model *hub_of_bars(int n)
{
    lw_builder *b = lwt_builder();
    const lw_body_desc ball = {.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}};
    lw_body *body = calloc((size_t)n, sizeof *body);
    assert_non_null(body);
    for (int i = 0; i < n; i++) {
        lw_body_desc at = ball;
        at.pose.position = (lw_vec3){cos(i), sin(i), 0.01 * i + 1};
        body[i] = lwt_body(b, &at);
    }
    const lw_body hub = lwt_body(b, &ball);
    for (int i = 0; i < n; i++)
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_DISTANCE,
                                    .body1 = body[i],
                                    .body2 = hub,
                                    .placement = LW_PLACED_FRAMES});
    free(body);
    return lwt_model(b);
}

typedef struct meter {
    size_t largest;
} meter;

static void *take(void *user, size_t bytes)
{
    meter *m = user;
    m->largest = bytes > m->largest ? bytes : m->largest;
    return malloc(bytes);
}

static void give(void *user, void *block)
{
    (void)user;
    free(block);
}

// The rows of all bars meet in one system, of 46 MB: a trial that cannot pay for it ends before it, not after it.
static void a_trial_ends_before_the_system_that_is_too_dear(void **state)
{
    (void)state;
    enum { BARS = 400 };
    lw_model *model = hub_of_bars(BARS);
    meter m = {0};
    const lw_allocator metered = {take, give, &m};
    lwi_work *work = NULL;
    lw_error error = {0};
    assert_int_equal(lwi_work_create_shared(model, &lwi_formulation_rcr, &metered, NULL, 1e-3, NULL,
                                            &work, &error),
                     LW_ERR_UNSUPPORTED);
    if (m.largest > 6000000) fail_msg("a block of %zu bytes", m.largest);
    lw_model_destroy(model);
}

// One plan serves the choice of a formulation and the assembler: their graphs are the same.  Another kind, or another
// graph, has a separate plan.
static void equal_graphs_share_a_plan(void **state)
{
    (void)state;
    lw_model *model = four_bar(1, false),
             *chain = lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 3});
    lwi_shared shared;
    lwi_arena arena;
    lwi_system first, other;
    lwi_assembler assembler;
    lwi_shared_init(NULL, &shared);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_plan(model, LW_PLAN_AUTO, &shared, &arena, &first), LW_OK);
    assert_int_equal(lwi_assembler_create(model, 0, NULL, &shared, &arena, &assembler), LW_OK);
    assert_ptr_equal(assembler.plan.node, first.plan.node);
    assert_int_equal(lwi_system_plan(model, LW_PLAN_COMB, &shared, &arena, &other), LW_OK);
    assert_ptr_not_equal(other.plan.node, first.plan.node);
    assert_int_equal(lwi_system_plan(chain, LW_PLAN_AUTO, &shared, &arena, &other), LW_OK);
    assert_ptr_not_equal(other.plan.node, first.plan.node);
    assert_int_equal(other.plan.graph.nedge, 3);
    lwi_arena_free(&arena);
    lwi_shared_free(&shared);
    lw_model_destroy(chain);
    lw_model_destroy(model);
}

// The choice of a formulation enters the start; the run takes it over, bit for bit that of a run which names the
// formulation, with its discrete state.
static void the_start_is_entered_once(void **state)
{
    (void)state;
    const struct {
        lw_model *model;
        const char *formulation;
    } cases[] = {{four_bar(1, false), "rcr"},
                 {lwt_generated((lw_mechanism_desc){
                      .mechanism = LW_MECHANISM_NET, .n = 6, .m = 6, .q = {0.3}}),
                  "hdca"}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_options options;
        lw_sim *chosen, *named;
        lw_error error;
        lw_options_default(&options);
        lwt_ok(lw_sim_create(cases[i].model, NULL, &chosen, &error), &error);
        assert_string_equal(lw_sim_options(chosen)->formulation, cases[i].formulation);
        set(&options, "formulation", cases[i].formulation);
        lwt_ok(lw_sim_create(cases[i].model, &(lw_sim_desc){.options = &options}, &named, &error),
               &error);
        const lwi_work *work = chosen->work;
        assert_non_null(chosen->entered);
        assert_null(named->entered);
        assert_memory_equal(chosen->x, named->x, (size_t)work->layout.nx * sizeof(double));
        assert_int_equal(work->ndiscrete, named->work->ndiscrete);
        if (work->ndiscrete)
            assert_memory_equal(work->discrete, named->work->discrete, work->ndiscrete);
        lw_sim_destroy(chosen);
        lw_sim_destroy(named);
        lw_model_destroy(cases[i].model);
    }
}

// NAN where a formulation refuses the model, else a positive time; the cheapest one of a tree is aba, and what is cubic
// grows as the cube.
static void costs_of_all_are_predicted(void **state)
{
    (void)state;
    enum { MOST = 16 };
    double seconds[2][MOST], loop[MOST];
    assert_true(lw_formulation_count() <= MOST);
    for (int i = 0; i < 2; i++) {
        lw_model *model =
            lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = i ? 200 : 100});
        assert_int_equal(lw_model_costs(model, seconds[i], NULL), LW_OK);
        lw_model_destroy(model);
    }
    lw_model *model = four_bar(0, false);
    assert_int_equal(lw_model_costs(model, loop, NULL), LW_OK);
    assert_int_equal(lw_model_costs(model, NULL, NULL), LW_ERR_ARGUMENT);
    lw_model_destroy(model);
    for (int i = 0; i < lw_formulation_count(); i++) {
        const char *name = lw_formulation_info(i).name;
        const double growth = seconds[1][i] / seconds[0][i];
        const bool cubic = !strcmp(name, "dense"), tree = !strcmp(name, "aba");
        assert_true(cubic ? growth > 7 && growth < 9 : growth > 1.8 && growth < 2.2);
        for (int k = 0; tree && k < lw_formulation_count(); k++)
            assert_true(seconds[0][i] <= seconds[0][k] ||
                        !strcmp(lw_formulation_info(k).name, "momenta"));
        // the loop, with a rod without mass
        assert_int_equal(isnan(loop[i]), tree || !strcmp(name, "momenta"));
    }
}

// A ring without mass on a pin: hdca cannot, and reports which body.
static void what_cannot_begin_is_not_chosen(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 0.3, 1, 1), B = lwt_rod(b, "B", 0.3, 1, 1.5, 1.4, 1),
                  C = lwt_rod(b, "C", 1.2, 0, 1.5, 1.4, 1),
                  ring = lwt_body(b, &(lw_body_desc){.name = "ring", .pose.position = {0.3, 1, 0}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "inner", A, ring, 0.3, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "outer", ring, B, 0.3, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j3", B, C, 1.5, 1.4);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j4", lwt_ground, C, 1.2, 0);
    expect(lwt_model(b), "dense", "hdca refuses: body 'ring' has no mass and is free to move");
}

// Two wheels and a law between them.
static void couplings_count_as_loops(void **state)
{
    (void)state;
    static const double law[] = {0, -2};
    lw_builder *b = lwt_builder();
    lw_joint joint[2];
    for (int i = 0; i < 2; i++) {
        const lw_body rod = lwt_rod(b, NULL, 2 * i, 0, 2 * i, 1, 1);
        joint[i] =
            lwt_joint(b, LW_JOINT_REVOLUTE, i ? "follower" : "leader", lwt_ground, rod, 2 * i, 0);
    }
    lw_error error;
    const lw_coupling_desc desc = {
        .joint = joint[1], .of = joint[0], .polynomial = law, .npolynomial = 2};
    lwt_ok(lw_builder_add_coupling(b, &desc, &error), &error);
    expect(lwt_model(b), "rcr",
           "joint 'follower' is coupled to joint 'leader', 2 loop clusters in lanes; expected to "
           "be faster than ");
}

// Options set by the user are kept, without a notice.
static void choices_of_the_user_are_kept(void **state)
{
    (void)state;
    lw_model *model = four_bar(1, false);
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    set(&options, "formulation", "dca");
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    assert_string_equal(lw_sim_options(sim)->formulation, "dca");
    assert_null(strstr(lw_sim_notice(sim), "estimated"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Other options that only some formulations heed count.
static void other_options_count(void **state)
{
    (void)state;
    static const struct {
        bool tree;
        const char *key, *value, *formulation, *why;
    } cases[] = {
        {true, "state", "momenta", "momenta", "tree"},
        {true, "state", "speeds", "aba", "tree"},
        {false, "state", "momenta", "rcr",
         "closes a loop; expected to be faster"}, // loop clusters have speeds
        {false, "state", "speeds", "rcr", "hdca refuses: its state has momenta, not speeds"},
        {false, "plan", "comb", "hdca", "rcr refuses: it has no plan"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model =
            cases[i].tree
                ? lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 7})
                : four_bar(1, false);
        lw_options options;
        lw_error error;
        lw_sim *sim;
        lw_options_default(&options);
        set(&options, cases[i].key, cases[i].value);
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        assert_string_equal(lw_sim_options(sim)->formulation, cases[i].formulation);
        if (!strstr(lw_sim_notice(sim), cases[i].why))
            fail_msg("'%s' in: %s", cases[i].why, lw_sim_notice(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Runs of more than 10^4 periods without damping: those methods without drift that accept the model are named.
static void long_undamped_runs_name_what_keeps_the_energy(void **state)
{
    (void)state;
    static const char gauss[] = "--integrator gauss --order 6 --step H",
                      rattle[] = "--formulation rattle --step H";
    static const struct {
        const char *model, *duration;
        bool gauss, rattle;
    } cases[] = {
        {"double_pendulum", "3e4", true, true}, {"double_pendulum", "1e3", false, false},
        {"four_bar", "5e4", false, true},       {"heavy_top", "1e4", false, true},
        {"floating_loop", "1e6", false, true},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char path[512];
        lw_model *model;
        lw_options options;
        lw_error error;
        lw_sim *sim;
        snprintf(path, sizeof path, "%s/tests/models/structure/%s.yaml", LW_SOURCE_DIR,
                 cases[i].model);
        lwt_ok(lw_model_read(path, NULL, &model, NULL, &error), &error);
        lw_options_default(&options);
        set(&options, "duration", cases[i].duration);
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        const char *notice = lw_sim_notice(sim);
        if ((strstr(notice, gauss) != NULL) != cases[i].gauss ||
            (strstr(notice, rattle) != NULL) != cases[i].rattle)
            fail_msg("%s: %s", cases[i].model, notice);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A damped hinge: decay that is faster than the motion requires an implicit method; tight tolerances ask for a
// high order, but not where rows cut the steps; what has neither has the default.
static void integrators_follow_decay_and_tolerance(void **state)
{
    (void)state;
    static const struct {
        double damping;
        const char *tolerance, *sample, *integrator, *why;
    } cases[] = {
        {0, "1e-9", "0.01", "dopri5", "integrator dopri5: the default"},
        {100, "1e-9", "0.01", "dopri5", "integrator dopri5: the default"},
        {10000, "1e-9", "0.01", "bdf",
         "integrator bdf: stiff, the fastest motion has a rate of 3e+04/s and dies out"},
        {10000, "1e-12", "0.01", "bdf", "integrator bdf: stiff"},
        {0, "1e-12", "0.01", "verner87", "integrator verner87: tolerances of 1e-10 and less"},
        {0, "1e-12", "steps", "verner87", "integrator verner87"},
        {0, "1e-12", "0.001", "dopri5", "integrator dopri5: the default"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        // a rod of 1 m and 1 kg on a hinge at its end: inertia 1/3 kg m^2
        lw_builder *b = lwt_builder();
        const lw_body rod = lwt_rod(b, "rod", 0, 0, 1, 0, 1);
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .name = "hinge",
                                    .body2 = rod,
                                    .coordinate = {{.damping = cases[i].damping}}});
        lw_model *model = lwt_model(b);
        lw_options options;
        lw_error error;
        lw_sim *sim;
        lw_options_default(&options);
        set(&options, "rtol", cases[i].tolerance);
        set(&options, "atol", cases[i].tolerance);
        set(&options, "sample", cases[i].sample);
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        assert_string_equal(lw_sim_options(sim)->integrator, cases[i].integrator);
        if (!strstr(lw_sim_notice(sim), cases[i].why))
            fail_msg("'%s' in: %s", cases[i].why, lw_sim_notice(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A mass of 1 kg on a stiff spring swings at 3162 rad/s.  Where the oscillation dies out in a few periods bdf takes
// long steps afterwards; without damping it is the motion, which has to be followed.
static void integrators_follow_stiff_springs(void **state)
{
    (void)state;
    static const struct {
        double stiffness, damping_ratio;
        const char *integrator;
    } cases[] = {{1e7, 0.3, "bdf"},      {1e7, 0.05, "bdf"},   {1e7, 0, "dopri5"},
                 {1e7, 0.005, "dopri5"}, {1e4, 0.3, "dopri5"}, {1e7, 2, "bdf"}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_builder *b = lwt_builder();
        const lw_body mass = lwt_rod(b, "mass", 0, 0, 1, 0, 1);
        const double damping = 2 * cases[i].damping_ratio * sqrt(cases[i].stiffness);
        lwt_add(b, &(lw_joint_desc){
                       .type = LW_JOINT_PRISMATIC,
                       .name = "rail",
                       .body2 = mass,
                       .coordinate = {{.stiffness = cases[i].stiffness, .damping = damping}}});
        lw_model *model = lwt_model(b);
        lw_sim *sim;
        lw_error error;
        lwt_ok(lw_sim_create(model, NULL, &sim, &error), &error);
        if (strcmp(lw_sim_options(sim)->integrator, cases[i].integrator) != 0)
            fail_msg("%g N/m, damping ratio %g: %s", cases[i].stiffness, cases[i].damping_ratio,
                     lw_sim_notice(sim));
        lwt_ok(lw_sim_step(sim, 0.01), lw_sim_error(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A chain of rods with dampers in their hinges, which has no rates above 1000/s, that of the middle one apart; axes along,
// across, up in turn.
static lw_model *chain_with_damper(int n, double middle)
{
    lw_builder *b = lwt_builder();
    lw_body inner = {0};
    double at[512];
    lwi_cut_scatter(2 * n, 0, at);
    for (int i = 0; i < n; i++) {
        char name[64];
        snprintf(name, sizeof name, "rod%d", i);
        const lw_body rod = lwt_body(b, &(lw_body_desc){.name = name,
                                                        .mass = 1,
                                                        .inertia = {0.00125, 0.0833, 0.0833},
                                                        .pose = {.position = {i + 0.5, 0, 0}}});
        snprintf(name, sizeof name, "joint%d", i);
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .name = name,
                                    .body1 = inner,
                                    .body2 = rod,
                                    .at = {i, 0, 0},
                                    .axis = {i % 3 == 0, i % 3 == 1, i % 3 == 2},
                                    .has_q = true,
                                    .has_qd = true,
                                    .q = {2 * at[i]},
                                    .qd = {2 * at[n + i]},
                                    .coordinate = {{.damping = i == n / 2 ? middle : 1}}});
        inner = rod;
    }
    return lwt_model(b);
}

static lw_model *damped_chain(int n)
{
    return chain_with_damper(n, 1);
}

static int evaluations;

static lw_status counted_rates(lwi_work *work, double t, const double *x, const double *given,
                               double *xdot)
{
    evaluations++;
    return lwi_formulation_aba.rates(work, t, x, given, xdot);
}

// Rates far below those that matter end the search for the fastest; a single one that does is found among many.
static void the_search_for_stiffness_ends_where_nothing_is_stiff(void **state)
{
    (void)state;
    static const struct {
        double damping, lowest;
        int evaluations;
    } cases[] = {{1, 0, 19}, {1, 1e5, 7}, {1e6, 1e5, 19}};
    lwi_formulation counted = lwi_formulation_aba;
    counted.rates = counted_rates;
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = chain_with_damper(64, cases[i].damping);
        lwi_stiffness s;
        lwi_work *work;
        lw_error error;
        lwt_ok(lwi_work_create(model, &lwi_formulation_aba, NULL, &work, &error), &error);
        work->formulation = &counted;
        evaluations = 0;
        assert_int_equal(lwi_stiffness_find(work, &model->arena.allocator, cases[i].lowest, &s),
                         LW_OK);
        assert_int_equal(evaluations, cases[i].evaluations);
        assert_true((s.rate > 1e5) == (cases[i].damping > 1));
        work->formulation = &lwi_formulation_aba;
        lwi_work_destroy(work);
        lw_model_destroy(model);
    }
}

// In momenta, differences of the rates of a long chain have no digits: stiffness is that of the speeds.  Errors of its
// momenta are large errors of speeds, which the run says.
static void momenta_of_damped_chains_are_not_stiff(void **state)
{
    (void)state;
    static const struct {
        int n;
        const char *formulation;
        bool warned;
    } cases[] = {{64, "hdca", true}, {64, "momenta", true}, {64, "aba", false}, {4, "hdca", false}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = damped_chain(cases[i].n);
        lw_options options;
        lw_error error;
        lw_sim *sim;
        lw_options_default(&options);
        set(&options, "formulation", cases[i].formulation);
        set(&options, "duration", "0.01");
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        assert_string_equal(lw_sim_options(sim)->integrator, "dopri5");
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        if ((strstr(lw_sim_notice(sim), "a state of speeds (aba) needs fewer") != NULL) !=
            cases[i].warned)
            fail_msg("%d rods, %s: %s", cases[i].n, cases[i].formulation, lw_sim_notice(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Estimates are positive and grow with the mechanism; what is not in the table has none.
static void estimates_grow(void **state)
{
    (void)state;
    double last = 0;
    for (int n = 4; n <= 64; n *= 4) {
        lw_model *model = lwt_generated((lw_mechanism_desc){
            .mechanism = LW_MECHANISM_LADDER, .n = n, .q = {0.2, 0.3}, .qd = {0.5, 1}});
        lwi_cost_survey survey;
        assert_int_equal(lwi_cost_measure(model, NULL, NULL, NULL, &survey), LW_OK);
        const double rcr = lwi_cost_estimate(survey.rcr_way, &survey.features);
        assert_true(rcr > last);
        assert_true(lwi_cost_estimate("hdca", &survey.features) > rcr);
        assert_true(survey.features.clusters == n + 1 && survey.features.closures == n);
        assert_true(isnan(lwi_cost_estimate("nothing", &survey.features)));
        last = rcr;
        lwi_work_destroy(survey.work);
        lw_model_destroy(model);
    }
}

// What was set up for the choice is what runs, and the evaluation that it was measured by has left nothing in
// it: every bit is that of a run by the formulation's name.
static void evaluated_work_is_reused(void **state)
{
    static const char *const names[] = {"rcr", "hdca"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        lw_model *model =
            i ? lwt_generated(
                    (lw_mechanism_desc){.mechanism = LW_MECHANISM_NET, .n = 6, .m = 6, .q = {0.3}})
              : lwt_generated((lw_mechanism_desc){
                    .mechanism = LW_MECHANISM_LADDER, .n = 4, .q = {0.2, 0.3}, .qd = {0.5, 1}});
        lwi_cost_survey survey;
        assert_int_equal(lwi_cost_measure(model, NULL, NULL, NULL, &survey), LW_OK);
        assert_string_equal(survey.work->formulation->name, names[i]);
        lwi_work_destroy(survey.work);
        lw_options options;
        lw_error error;
        lw_sim *sim[2];
        lw_options_default(&options);
        for (int named = 0; named < 2; named++) {
            if (named) set(&options, "formulation", names[i]);
            lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim[named], &error),
                   &error);
            lwt_ok(lw_sim_step(sim[named], 0.02), lw_sim_error(sim[named]));
        }
        assert_string_equal(lw_sim_options(sim[0])->formulation, names[i]);
        const int n = sim[0]->work->layout.nx;
        assert_memory_equal(sim[0]->x, sim[1]->x, (size_t)n * sizeof *sim[0]->x);
        lw_sim_destroy(sim[0]);
        lw_sim_destroy(sim[1]);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_go_by_aba),
        cmocka_unit_test(long_paths_go_in_segments),
        cmocka_unit_test(several_long_paths_go_in_segments),
        cmocka_unit_test(predictions_of_long_paths_include_segments),
        cmocka_unit_test(predictions_of_rings_include_segments),
        cmocka_unit_test(loops_in_lanes_go_by_rcr),
        cmocka_unit_test(other_loops_by_the_general_text),
        cmocka_unit_test(lattices_go_by_hdca),
        cmocka_unit_test(momenta_of_small_inertia_cost_evaluations),
        cmocka_unit_test(rcr_goes_the_cheaper_way),
        cmocka_unit_test(operations_are_counted),
        cmocka_unit_test(rcr_is_predicted_from_the_graph),
        cmocka_unit_test(a_dear_one_waits),
        cmocka_unit_test(what_is_too_dear_is_left_out),
        cmocka_unit_test(a_trial_ends_at_its_limit),
        cmocka_unit_test(a_trial_ends_before_the_system_that_is_too_dear),
        cmocka_unit_test(equal_graphs_share_a_plan),
        cmocka_unit_test(the_start_is_entered_once),
        cmocka_unit_test(costs_of_all_are_predicted),
        cmocka_unit_test(what_cannot_begin_is_not_chosen),
        cmocka_unit_test(couplings_count_as_loops),
        cmocka_unit_test(choices_of_the_user_are_kept),
        cmocka_unit_test(other_options_count),
        cmocka_unit_test(long_undamped_runs_name_what_keeps_the_energy),
        cmocka_unit_test(integrators_follow_decay_and_tolerance),
        cmocka_unit_test(integrators_follow_stiff_springs),
        cmocka_unit_test(momenta_of_damped_chains_are_not_stiff),
        cmocka_unit_test(the_search_for_stiffness_ends_where_nothing_is_stiff),
        cmocka_unit_test(estimates_grow),
        cmocka_unit_test(evaluated_work_is_reused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
