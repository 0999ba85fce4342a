// test_clusters_loads.c -- forces on loop clusters in lanes, and loops between clusters with forwarded coordinates:
// against the elimination, absolute coordinates, and other widths.
#include "methods/rcr/cluster_forces.h"

// ------------------------------------------------------------------------------------- mechanisms

// Closes a loop of revolutes, with forces on the closing joint.
static void close_loop(site *s, lw_body a, lw_body b, const double at[3],
                       const lw_coordinate_desc *acts)
{
    lwt_add(s->b, &(lw_joint_desc){.name = "closing",
                                   .type = LW_JOINT_REVOLUTE,
                                   .body1 = a,
                                   .body2 = b,
                                   .at = rotated(s, at[0], at[1], at[2]),
                                   .axis = rotated(s, 0, 0, 1),
                                   .cut = LW_CUT_PREFER,
                                   .coordinate[0] = *acts});
}

/** As four_bar, with forces on the cut joint. */
static void four_bar_with(site *s, double x, double y, const lw_coordinate_desc *acts)
{
    const lw_body crank = blob(s, x + 0.05, y + 0.1, 0, 1),
                  coupler = blob(s, x + 0.5, y + 0.4, 0.1, 2);
    const lw_body rocker = blob(s, x + 0.8, y + 0.2, -0.1, 1.5);
    pin(s, LW_JOINT_REVOLUTE, lwt_ground, crank, AT(x, y, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, coupler, AT(x + 0.1, y + 0.25, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, lwt_ground, rocker, AT(x + 0.7, y - 0.1, 0), Z, LW_CUT_AUTO);
    close_loop(s, coupler, rocker, AT(x + 0.9, y + 0.5, 0), acts);
}

// ------------------------------------------------------------------------------------------ tests

// Springs, dampers, wrenches, bushings and stops at points of bodies, by inputs and functions: accelerations and power
// are those of the elimination, accelerations those of absolute coordinates, with the same bits in all widths.
static void forces_at_points_agree(void **state)
{
    static const struct {
        lwt_kind kind;
        int n;
        const char *name;
    } cases[] = {{FOUR_BARS, 9, "four-bars"}, {CRANK_SLIDERS, 3, "crank-sliders"},
                 {LADDER, 10, "ladder"},      {SARRUS, 2, "Sarrus linkages"},
                 {BALLS, 2, "balls"},         {TREE, 4, "tree of clusters"},
                 {MIXED, 2, "mixed"},         {DELTA, 1, "a Delta robot"},
                 {STEWART, 1, "a platform"},  {REVERSED, 1, "reversed balls"},
                 {PLANE, 2, "in a plane"},    {PLANE_HALVES, 1, "in a plane, halves"},
                 {CROSSES, 2, "crosses"},     {STEWART_FEET, 1, "a platform on crosses"}};
    (void)state;
    for (int c = 0; c < LWI_COUNT(cases); c++) {
        findings worst = {0};
        for (int i = 0; i < 3; i++) {
            uint64_t seed = 100 * (uint64_t)c + (uint64_t)i;
            site s = new_site(&seed, i == 0);
            populate(&s, cases[c].kind, cases[c].n);
            add_forces(&s, &seed);
            lw_model *model = lwt_model(s.b);
            assert_true(model->carries_work);
            check(model, cases[c].name, &worst);
        }
        report(cases[c].name, &worst);
    }
}

// Springs, stops and friction on cut joints, and motors that read them.
static void forces_on_cut_joints_agree(void **state)
{
    uint64_t seed = 5;
    findings worst = {0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        site s = new_site(&seed, i == 0);
        const lw_signal reads =
            lwt_function(s.b, &(lw_function_desc){.type = LW_FUNCTION_FORMULA,
                                                  .formula = "0.3*closing.q0 - 0.2*closing.qd0"});
        four_bar_with(
            &s, 0, 0,
            &(lw_coordinate_desc){.stiffness = 3,
                                  .at = 0.2,
                                  .damping = 0.1,
                                  .limits = {.upper = -0.1, .has_upper = 1, .stiffness = 5},
                                  .friction = {.coulomb = 0.2, .speed = 0.1}});
        const lw_body arm = blob(&s, -1, 0.5, 0, 1);
        lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                      .body1 = lwt_ground,
                                      .body2 = arm,
                                      .at = rotated(&s, -1, 0, 0),
                                      .axis = rotated(&s, 0, 0, 1),
                                      .coordinate[0] = {.force = reads}});
        ball_loop(&s, 2);
        lw_model *model = lwt_model(s.b);
        check(model, "forces on cut joints", &worst);
    }
    report("forces on cut joints", &worst);
    assert_int_equal(worst.done, worst.requested);
}

// Springs, dampers, friction and motors of tree joints as in the elimination, with their work.
static void efforts_agree(void **state)
{
    uint64_t seed = 7;
    findings worst = {0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        site s = new_site(&seed, i == 0);
        const lw_signal force = lwt_function(
            s.b,
            &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 3, .omega = 2, .phase = 1});
        const lw_body rocker = four_bar(&s, lwt_ground, 0, 0, 0), tip = blob(&s, 1, 1, 0, 1);
        crank_slider(&s, 2, 0);
        lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                      .body1 = rocker,
                                      .body2 = tip,
                                      .at = rotated(&s, 0.9, 0.7, 0),
                                      .axis = rotated(&s, 0, 1, 0.2),
                                      .coordinate[0] = {.stiffness = 4, .damping = 0.3}});
        const lw_body arm = blob(&s, -1, 0.5, 0, 1);
        lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                      .body1 = arm, // reversed
                                      .body2 = lwt_ground,
                                      .at = rotated(&s, -1, 0, 0),
                                      .axis = rotated(&s, 0, 0, 1),
                                      .coordinate[0] = {.damping = 0.5, .force = force}});
        lw_model *model = lwt_model(s.b);
        lwt_run r = drop(model, 1);
        assert_true(model->carries_work);
        for (int k = 0; k < 4; k++) {
            step_on(&r, 40, NULL);
            compare(&r, NULL, "efforts", &worst);
        }
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    assert_int_equal(worst.done, worst.requested);
    print_message("efforts: off %.1e, off dense %.1e\n", worst.generic, worst.dense);
}

static lw_body geared(site *s, lw_body a, lw_body b, double x, double y, double rotor)
{
    lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                   .body1 = a,
                                   .body2 = b,
                                   .at = rotated(s, x, y, 0),
                                   .axis = rotated(s, 0, 0, 1),
                                   .cut = LW_CUT_NEVER,
                                   .coordinate[0] = {.rotor = rotor}});
    return b;
}

// Rotors on known and dependent joints of loops, of a cluster on a cluster, and behind loops.
static void rotors_agree(void **state)
{
    findings worst = {0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint64_t seed = 80 + (uint64_t)i;
        site s = new_site(&seed, i == 0);
        lw_body base = lwt_ground;
        for (int k = 0; k < 3; k++) {
            const double x = 0.7 * k, y = 0.5 * k;
            const lw_body crank = blob(&s, x + 0.05, y + 0.1, 0, 1),
                          coupler = blob(&s, x + 0.5, y + 0.4, 0.1, 2),
                          rocker = blob(&s, x + 0.8, y + 0.2, -0.1, 1.5);
            geared(&s, base, crank, x, y, 0.3);
            geared(&s, crank, coupler, x + 0.1, y + 0.25, 0.2);
            geared(&s, base, rocker, x + 0.7, y - 0.1, k == 1 ? 0 : 0.5);
            pin(&s, LW_JOINT_REVOLUTE, coupler, rocker, AT(x + 0.9, y + 0.5, 0), Z, LW_CUT_ALWAYS);
            base = rocker;
        }
        geared(&s, base, blob(&s, 3, 2, 0, 1), 2.5, 2, 0.1);
        check(lwt_model(s.b), "rotors", &worst);
    }
    report("rotors", &worst);
    assert_int_equal(worst.done, worst.requested);
}

// Gears in a row, a cam of third order, a wheel on an arm, and one of them drives four-bars.
static void couplings_agree(void **state)
{
    static const double gear[] = {0.2, -1.5}, cam[] = {0.1, 0.8, 0.3, -0.05};
    findings worst = {0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint64_t seed = 90 + (uint64_t)i;
        site s = new_site(&seed, i == 0);
        lw_joint shaft[7];
        lw_body wheel[7];
        for (int k = 0; k < 7;
             k++) { // positions follow from the first: specified if polynomials hold
            static const double q[] = {0, 0.2, -0.1, 0.35, 0.1, 0.2, 0.1};
            wheel[k] = blob(&s, k + 0.1, -1, 0.1 * k, 1);
            shaft[k] =
                lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                              .body1 = k == 6 ? wheel[0] : lwt_ground,
                                              .body2 = wheel[k],
                                              .at = rotated(&s, k == 6 ? 0.3 : k, -1, 0),
                                              .axis = rotated(&s, k % 3 == 1 ? 0.3 : 0, 0, 1),
                                              .has_q = 1,
                                              .q = {q[k]}});
        }
        couple(&s, shaft[1], shaft[0], gear, 2);
        couple(&s, shaft[2], shaft[1], gear, 2);
        couple(&s, shaft[3], shaft[2], gear, 2);
        couple(&s, shaft[4], shaft[0], cam, 4);
        couple(&s, shaft[6], shaft[0], cam, 4);
        four_bar(&s, lwt_ground, 0, 0, 0);
        if (i > 1) crank_slider(&s, 2, 3);
        if (i > 2) add_forces(&s, &seed);
        check(lwt_model(s.b), "couplings", &worst);
    }
    report("couplings", &worst);
    assert_int_equal(worst.done, worst.requested);
}

// Loops between clusters that an earlier one moves, as in the legs of walking machines.
static void loops_between_clusters_agree(void **state)
{
    (void)state;
    for (int n = 1; n <= 5; n += 4) {
        findings worst = {0};
        for (int i = 0; i < 3; i++) {
            uint64_t seed = 50 + (uint64_t)i;
            site s = new_site(&seed, i == 0);
            const lw_body crank = blob(&s, 0, 0, 0, 1);
            pin(&s, LW_JOINT_REVOLUTE, lwt_ground, crank, AT(0, 0, 0), Z, LW_CUT_AUTO);
            for (int k = 0; k < n; k++) leg(&s, crank, 0.05 * k, k % 2 ? -1 : 1);
            if (i == 2) add_forces(&s, &seed);
            check(lwt_model(s.b), "legs", &worst);
        }
        report(n == 1 ? "a leg" : "five legs", &worst);
    }
}

// Lattices of n x m meshes, each mesh between two of the storey below it: coordinates come from distant clusters, and
// from some that have only what determines them.
static void lattices_agree(void **state)
{
    static const int sizes[][2] = {{2, 2}, {3, 3}, {5, 2}, {1, 4}};
    (void)state;
    for (int i = 0; i < LWI_COUNT(sizes); i++) {
        const int n = sizes[i][0], m = sizes[i][1];
        char what[32];
        findings worst = {0};
        uint64_t seed = 60 + (uint64_t)i;
        site s = new_site(&seed, true);
        lwt_add_mechanism(
            s.b, (lw_mechanism_desc){.mechanism = LW_MECHANISM_NET, .n = n, .m = m, .q = {0.3}});
        s.nbody = 2 * n * m + m;
        if (i % 2) add_forces(&s, &seed);
        snprintf(what, sizeof what, "%d x %d meshes", n, m);
        check(lwt_model(s.b), what, &worst);
        report(what, &worst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_at_points_agree), cmocka_unit_test(forces_on_cut_joints_agree),
        cmocka_unit_test(efforts_agree),          cmocka_unit_test(rotors_agree),
        cmocka_unit_test(couplings_agree),        cmocka_unit_test(loops_between_clusters_agree),
        cmocka_unit_test(lattices_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
