// test_mobility.c -- degrees of freedom, redundant rows and what they leave open, by lw_model_check; plans of chains.
#include "tree/tree_cases.h"
#include "support/mechanism.h"

static void same_mobility(const lw_model *model, const lw_check *check, const lw_redundancy *joints,
                          const lw_check *check2, const lw_redundancy *joints2)
{
    for (int j = 0; j < model->njoint; j++) {
        assert_int_equal(joints[j].rows, joints2[j].rows);
        assert_int_equal(joints[j].dependent, joints2[j].dependent);
        assert_int_equal(joints[j].open, joints2[j].open);
        assert_int_equal(joints[j].axes, joints2[j].axes);
    }
    assert_int_equal(check->rank, check2->rank);
    assert_int_equal(check->dof_generic, check2->dof_generic);
    assert_int_equal(check->conflict_joint, check2->conflict_joint);
    assert_true(check->kept == check2->kept && check->dropped == check2->dropped &&
                check->conflict == check2->conflict);
}

// With the ranks that a simulation has found it is the same, and steps are as if it had not been asked.
static void same_by_simulation(const lw_model *model, const char *formulation,
                               const lw_check *check, const lw_redundancy *joints)
{
    enum { ASKED, NOT_ASKED };
    lw_redundancy known[16];
    lw_error error;
    lw_check found;
    lw_options options;
    const lw_observation *o[2];
    lw_sim *sim[2];
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", formulation, &error), &error);
    for (int i = 0; i < 2; i++) {
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim[i], &error), &error);
        lwt_ok(lw_sim_step(sim[i], 1e-3), lw_sim_error(sim[i]));
        if (i == ASKED) lwt_ok(lw_sim_mobility(sim[i], &found, known, &error), &error);
        lwt_ok(lw_sim_step(sim[i], 1e-2), lw_sim_error(sim[i]));
        lwt_ok(lw_sim_observe(sim[i], LW_OBSERVE_REACTION, &o[i]), lw_sim_error(sim[i]));
    }
    same_mobility(model, &found, known, check, joints);
    assert_memory_equal(o[ASKED]->qd, o[NOT_ASKED]->qd, (size_t)model->nv * sizeof(double));
    assert_memory_equal(o[ASKED]->reaction, o[NOT_ASKED]->reaction,
                        (size_t)model->njoint * sizeof *o[ASKED]->reaction);
    assert_int_equal(lw_sim_mobility(sim[ASKED], &found, NULL, &error), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_mobility(NULL, &found, known, &error), LW_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) lw_sim_destroy(sim[i]);
}

// One search for the ranks reports what two do, bit for bit.
static void same_by_one_search(const lw_model *model, const lw_check *check)
{
    lw_redundancy alone[16], joints[16];
    lw_error error;
    lw_check found;
    lwt_ok(lw_model_redundancy(model, alone, &error), &error);
    lwt_ok(lw_model_mobility(model, &found, joints, &error), &error);
    same_mobility(model, &found, joints, check, alone);
    assert_int_equal(lw_model_mobility(model, &found, NULL, &error), LW_ERR_ARGUMENT);
    if (check->dof > check->dof_generic) return; // a run from rest is refused
    same_by_simulation(model, "rcr", &found, joints);
    same_by_simulation(model, "hdca", &found, joints);
    same_by_simulation(model, "index3", &found, joints);
}

static void check_mobility(lw_model *model, int rows, int rank, int dof, int generic,
                           const int *expected)
{
    lw_check check;
    lw_error error;
    int dependent[16];
    assert_true(model->njoint <= 16);
    lwt_ok(lw_model_check(model, &check, dependent, &error), &error);
    assert_int_equal(check.rows, rows);
    assert_int_equal(check.rank, rank);
    assert_int_equal(check.dof, dof);
    assert_int_equal(check.dof_generic, generic);
    assert_int_equal(check.redundant, rows - rank);
    for (int j = 0; j < model->njoint; j++)
        assert_int_equal(dependent[j], expected ? expected[j] : 0);
    assert_true(check.residual[0] < 1e-12 && check.residual[1] < 1e-12);
    lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
    same_by_one_search(model, &check);
    lw_model_destroy(model);
}

// Four-bar of revolutes with ground pivots (0, 0), (d, 0); cranks are at an angle.
static lw_builder *four_bar(double d, double angle, lw_joint_type third, lw_joint_type last)
{
    const double x = cos(angle), y = sin(angle);
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, x, y, 1), B = lwt_rod(b, "B", x, y, x + d, y, 1);
    const lw_body C = lwt_rod(b, "C", d, 0, x + d, y, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, x, y);
    lwt_joint(b, third, "j3", B, C, x + d, y);
    lwt_joint(b, last, "j4", C, lwt_ground, d, 0);
    return b;
}

// Degrees of freedom, redundant rows and the joints they belong to are those counted by hand: in
// space a planar four-bar has 20 equations of which three are spare; a parallelogram that lies flat
// has one more degree of freedom than near that position.
static void mobility_of_known_mechanisms(void **state)
{
    (void)state;
    static const int third_of_four[] = {0, 0, 3, 0}, flat[] = {0, 0, 4, 0};
    check_mobility(lwt_model(four_bar(1.5, 0.9, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE)), 20, 17, 1,
                   1, third_of_four);
    check_mobility(lwt_model(four_bar(1.5, 0.9, LW_JOINT_SPHERICAL, LW_JOINT_CYLINDRICAL)), 17, 17,
                   1, 1, NULL);
    check_mobility(lwt_model(four_bar(1.5, 0, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE)), 20, 16, 2, 1,
                   flat);

    // a gear removes one degree of freedom of an open chain
    lw_builder *b = lwt_builder();
    const double ratio[] = {0, 2};
    const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1), B = lwt_rod(b, "B", 1, 0, 2, 0, 1);
    const lw_joint j1 = lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    const lw_joint j2 = lwt_joint(b, LW_JOINT_UNIVERSAL, "j2", A, B, 1, 0);
    lwt_coupling(b,
                 &(lw_coupling_desc){.joint = j2, .of = j1, .polynomial = ratio, .npolynomial = 2});
    check_mobility(lwt_model(b), 10, 10, 2, 2, NULL);

    // a driven crank leaves no degree of freedom; a massless body on a fixed joint adds none
    b = four_bar(1.5, 0.9, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE);
    const lw_body tip = lwt_body(b, &(lw_body_desc){.name = "tip", .pose.position = {2, 2, 0}});
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_FIXED, .body1 = {1}, .body2 = tip});
    const lw_body D = lwt_rod(b, "D", 5, 0, 6, 0, 1);
    lw_joint_desc crank = {
        .type = LW_JOINT_REVOLUTE, .body2 = D, .at = {5, 0, 0}, .axis = {0, 0, 1}};
    crank.coordinate[0].motion = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT});
    lwt_add(b, &crank);
    const int sixth[] = {0, 0, 3, 0, 0, 0};
    check_mobility(lwt_model(b), 26, 23, 1, 1, sixth);
}

// What redundancy leaves open is reported joint by joint and axis by axis: in a planar four-bar the force
// across the plane and the torques about axes in it, everywhere; nothing where the last two joints give
// way.  A row is charged to the joint that closes the loop.
static void open_reactions_of_known_mechanisms(void **state)
{
    (void)state;
    lw_redundancy joints[4];
    lw_error error;
    lw_joint loop[4];
    lw_check check;
    lw_model *model = lwt_model(four_bar(1.5, 0.9, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE));
    lwt_ok(lw_model_redundancy(model, joints, &error), &error);
    assert_int_equal(lw_model_loop(model, 0, loop, 4), 4);
    assert_int_equal(lw_model_loop(model, 1, loop, 4), 0);
    for (int j = 0; j < 4; j++) {
        assert_int_equal(joints[j].rows, 5);
        assert_int_equal(joints[j].dependent, j == loop[0].index ? 3 : 0);
        assert_int_equal(joints[j].open, 3);
        assert_int_equal(joints[j].axes, 1u << 2 | 1u << 3 | 1u << 4); // z force, x and y torque
    }
    lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
    assert_true(check.kept > 1e-2 && check.dropped < 1e-14 && check.conflict < 1e-14);
    lw_model_destroy(model);

    model = lwt_model(four_bar(1.5, 0.9, LW_JOINT_SPHERICAL, LW_JOINT_CYLINDRICAL));
    lwt_ok(lw_model_redundancy(model, joints, &error), &error);
    for (int j = 0; j < 4; j++) assert_int_equal(joints[j].dependent + joints[j].open, 0);
    lw_model_destroy(model);
}

// Two drives on a mechanism of one degree of freedom with different accelerations contradict each other.
static void drives_that_contradict_loops_are_found(void **state)
{
    (void)state;
    for (int fits = 0; fits < 2; fits++) {
        lw_builder *b = lwt_builder();
        const lw_body A = lwt_rod(b, "A", 0, 0, 0, 1, 1), B = lwt_rod(b, "B", 0, 1, 1, 1, 1);
        const lw_body C = lwt_rod(b, "C", 1, 0, 1, 1, 1);
        for (int side = 0; side < 2; side++) {
            const double square[3] = {0, 0, side && !fits ? 0.5 : 1};
            lw_joint_desc crank = {.type = LW_JOINT_REVOLUTE,
                                   .body2 = side ? C : A,
                                   .at = {side, 0, 0},
                                   .axis = {0, 0, 1}};
            crank.coordinate[0].motion = lwt_function(
                b, &(lw_function_desc){
                       .type = LW_FUNCTION_POLYNOMIAL, .coefficients = square, .ncoefficient = 3});
            lwt_add(b, &crank);
        }
        lwt_joint(b, LW_JOINT_REVOLUTE, "j3", A, B, 0, 1);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j4", B, C, 1, 1);
        lw_model *model = lwt_model(b);
        lw_check check;
        lw_error error;
        lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
        assert_int_equal(check.redundant, 4);
        assert_int_equal(check.dof, 0);
        assert_true(fits ? check.conflict < 1e-14 : check.conflict > 1e-2);
        lw_model_destroy(model);
    }
}

static lw_model *chain(int n, bool spring)
{
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground;
    for (int i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "rod %d", i);
        const lw_body next = lwt_rod(b, name, i, 0, i + 1, 0, 1);
        snprintf(name, sizeof name, "pin %d", i);
        lwt_joint(b, LW_JOINT_REVOLUTE, name, last, next, i, 0);
        last = next;
    }
    const lw_spring_desc desc = {
        .name = "spring", .body1 = lwt_ground, .body2 = last, .stiffness = 1};
    lw_error error;
    if (spring) lwt_ok(lw_builder_add_spring(b, &desc, &error), &error);
    return lwt_model(b);
}

// Plans of a chain of n bodies: a comb is as deep as it is long, halves are not; both have the same root.
static void plans_of_a_chain(void **state)
{
    (void)state;
    enum { BODIES = 64 };
    lw_model *model = chain(BODIES, false);
    lw_plan_info comb, balanced;
    lw_error error;
    lwt_ok(lw_model_plan(model, "comb", &comb, &error), &error);
    lwt_ok(lw_model_plan(model, "balanced", &balanced, &error), &error);
    assert_string_equal(comb.kind, "comb");
    assert_string_equal(balanced.kind, "balanced");
    assert_true(comb.depth >= BODIES - 2 && balanced.depth <= 8); // log2 of 64 is 6, the ground
    assert_true(balanced.critical < comb.critical / 4 && comb.work <= balanced.work);
    assert_int_equal(lw_model_plan(model, "heap", &comb, &error), LW_ERR_ARGUMENT);
    lw_model_destroy(model);
}

static lw_plan_info plan_of_chain(int n, bool spring)
{
    lw_model *model = chain(n, spring);
    lw_plan_info info;
    lw_error error;
    lwt_ok(lw_model_plan(model, "balanced", &info, &error), &error);
    lw_model_destroy(model);
    return info;
}

// Four times as long a chain has two more levels of joins, of at most 10 rows closed and 5 open on either side, and in
// each pass one more body for each further segment of 64; a recursion would have 3000 more.
static void evaluation_of_a_chain_grows_by_levels_and_segments(void **state)
{
    (void)state;
    enum { SHORT = 1000, LONG = 4000, JOIN = 5 * 10 * 10 + 3 * 25 * 6 * 2 };
    const lw_plan_info small = plan_of_chain(SHORT, false), large = plan_of_chain(LONG, false);
    assert_int_equal(small.pass, 128 + SHORT / 64); // a segment twice, and its borders
    assert_int_equal(large.pass, 128 + LONG / 64);
    assert_int_equal(large.depth, small.depth + 2);
    assert_true(large.critical - small.critical <= 2.0 * JOIN);
    assert_true(large.evaluation - small.evaluation <=
                2.0 * JOIN + 60 * ((LONG - SHORT) / 64 + 1.0));
    assert_true(large.evaluation > large.critical && large.evaluation < 1.4 * small.evaluation);
    assert_int_equal(plan_of_chain(200, false).pass, 200); // one segment: the recursion
    // one thread computes the forces
    const lw_plan_info pushed = plan_of_chain(SHORT, true);
    assert_int_equal(pushed.forces, small.forces + 1);
    assert_true(pushed.evaluation > small.evaluation);
    assert_int_equal(pushed.pass, small.pass);
}

// Trees have no redundant rows: dof is that of the tree for any contents.
static void trees_have_no_redundant_rows(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 30, LWT_ALL)
    {
        lw_check check;
        lw_error error;
        lwt_ok(lw_model_check(c.model, &check, NULL, &error), &error);
        assert_int_equal(check.redundant, 0);
        assert_int_equal(check.dof, lw_model_tree_dof(c.model));
        assert_int_equal(check.dof_generic, check.dof);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mobility_of_known_mechanisms),
        cmocka_unit_test(open_reactions_of_known_mechanisms),
        cmocka_unit_test(drives_that_contradict_loops_are_found),
        cmocka_unit_test(plans_of_a_chain),
        cmocka_unit_test(evaluation_of_a_chain_grows_by_levels_and_segments),
        cmocka_unit_test(trees_have_no_redundant_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
