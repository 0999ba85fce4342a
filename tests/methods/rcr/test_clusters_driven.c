// test_clusters_driven.c -- mechanisms with driven joints, by loop clusters in lanes: accelerations and the power
// of the drives against the elimination, absolute coordinates, and other widths.
#include "methods/rcr/cluster_forces.h"

// A motion that begins where the joint was drawn.
static lw_signal swing(site *s, double amplitude, double omega)
{
    return lwt_function(
        s->b,
        &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = amplitude, .omega = omega});
}

static lw_signal steady(site *s, double rate)
{
    const double c[] = {0, rate};
    return lwt_function(
        s->b,
        &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL, .coefficients = c, .ncoefficient = 2});
}

static lw_joint drive(site *s, lw_joint_type type, lw_body a, lw_body b, const double at[3],
                      const double axis[3], lw_signal motion)
{
    return lwt_add(s->b, &(lw_joint_desc){.type = type,
                                          .body1 = a,
                                          .body2 = b,
                                          .at = rotated(s, at[0], at[1], at[2]),
                                          .axis = rotated(s, axis[0], axis[1], axis[2]),
                                          .coordinate[0].motion = motion});
}

// As four_bar, with a driven crank and forces on its joint.
static lw_body driven_four_bar(site *s, lw_body base, double x, double y, lw_signal motion)
{
    const lw_body crank = blob(s, x + 0.05, y + 0.1, 0, 1),
                  coupler = blob(s, x + 0.5, y + 0.4, 0.1, 2);
    const lw_body rocker = blob(s, x + 0.8, y + 0.2, -0.1, 1.5);
    lwt_add(s->b,
            &(lw_joint_desc){
                .type = LW_JOINT_REVOLUTE,
                .body1 = base,
                .body2 = crank,
                .at = rotated(s, x, y, 0),
                .axis = rotated(s, 0, 0, 1),
                .coordinate[0] = {.motion = motion, .stiffness = 3, .damping = 0.4, .rotor = 0.2}});
    pin(s, LW_JOINT_REVOLUTE, crank, coupler, AT(x + 0.1, y + 0.25, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, base, rocker, AT(x + 0.7, y - 0.1, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, coupler, rocker, AT(x + 0.9, y + 0.5, 0), Z, LW_CUT_PREFER);
    return rocker;
}

// Four-bars, each on the rocker of the one before, the first one driven: no degree of freedom.
static void nothing_is_free(site *s)
{
    lw_body rocker = driven_four_bar(s, s->base, 0, 0, steady(s, 1.3));
    (void)rocker;
    driven_four_bar(s, s->base, 2, 0, swing(s, 0.3, 5));
}

// A driven four-bar with a free one on its rocker, and a branch with a driven elbow.
static void on_driven(site *s)
{
    const lw_body rocker = driven_four_bar(s, s->base, 0, 0, swing(s, 0.4, 4));
    four_bar(s, rocker, 0.7, 0.3, 0.1);
    const lw_body upper = blob(s, 2, 1, 0, 1), lower = blob(s, 2.3, 1, 0, 1);
    pin(s, LW_JOINT_REVOLUTE, rocker, upper, AT(1.8, 1, 0), Y, LW_CUT_AUTO);
    drive(s, LW_JOINT_REVOLUTE, upper, lower, AT(2.1, 1, 0), X, swing(s, 1, 3));
}

// A driven crank on a free arm, which its loop accelerates.
static void carries_driven(site *s)
{
    const lw_body arm = blob(s, -0.2, 0.3, 0, 3);
    pin(s, LW_JOINT_REVOLUTE, s->base, arm, AT(-0.5, 0, 0), AT(0.1, 0.2, 1), LW_CUT_AUTO);
    driven_four_bar(s, arm, 0, 0, steady(s, -2));
    const lw_body wheel = blob(s, -0.3, 0.5, 0.2, 0.6);
    drive(s, LW_JOINT_REVOLUTE, arm, wheel, AT(-0.3, 0.4, 0.2), X, steady(s, 7));
}

// A driven slider that moves crank and rod; a ladder with one post of prescribed inclination.
static void slides_and_posts(site *s)
{
    const lw_body crank = blob(s, 0, 0.1, 0, 1), rod = blob(s, 0.4, 0.2, 0.05, 0.7);
    const lw_body slider = blob(s, 0.9, 0, 0, 2), post = blob(s, 5, 0.4, 1, 1);
    pin(s, LW_JOINT_REVOLUTE, s->base, crank, AT(0, 0, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, crank, rod, AT(0.05, 0.25, 0), Z, LW_CUT_AUTO);
    drive(s, LW_JOINT_PRISMATIC, s->base, slider, AT(0.9, 0, 0), AT(1, 0.2, 0), swing(s, 0.05, 6));
    pin(s, LW_JOINT_REVOLUTE, slider, rod, AT(0.85, 0, 0), Z, LW_CUT_PREFER);
    ladder(s, 2, 4);
    lwt_add(s->b,
            &(lw_joint_desc){.type = LW_JOINT_CYLINDRICAL, // driven displacement, free rotation
                             .body1 = s->base,
                             .body2 = post,
                             .at = rotated(s, 5, 0, 1),
                             .axis = rotated(s, 0, 0.3, 1),
                             .coordinate[0].motion = swing(s, 0.1, 5)});
    four_bar(s, post, 5, 1, 1);
}

// A driven shaft with gears, one of them on the crank of a four-bar.
static void gears(site *s)
{
    static const double gear[] = {0, -1.5};
    lw_joint shaft[3];
    lw_body wheel[3];
    for (int k = 0; k < 3; k++) {
        wheel[k] = blob(s, k + 0.1, -1, 0.1 * k, 1);
        shaft[k] = drive(s, LW_JOINT_REVOLUTE, s->base, wheel[k], AT(k, -1, 0), Z,
                         k ? (lw_signal){0} : swing(s, 0.5, 3));
    }
    couple(s, shaft[1], shaft[0], gear, 2);
    couple(s, shaft[2], shaft[1], gear, 2);
    const lw_body rod = blob(s, 2.5, -0.5, 0, 1), rocker = blob(s, 3, -0.6, 0, 1);
    pin(s, LW_JOINT_REVOLUTE, wheel[2], rod, AT(2.1, -0.7, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, s->base, rocker, AT(3, -1, 0), Z, LW_CUT_AUTO);
    pin(s, LW_JOINT_REVOLUTE, rod, rocker, AT(3.1, -0.2, 0), Z, LW_CUT_PREFER);
}

// Legs on a driven crank, with loops in which not all clusters have its coordinate.
static void legs(site *s)
{
    const lw_body crank = blob(s, 0, 0, 0, 1);
    drive(s, LW_JOINT_REVOLUTE, s->base, crank, AT(0, 0, 0), Z, steady(s, 1));
    for (int k = 0; k < 3; k++) leg(s, crank, 0.05 * k, k % 2 ? -1 : 1);
}

typedef void populate_driven(site *s);

static void driven_joints_agree(void **state)
{
    static const struct {
        const char *name;
        populate_driven *populate;
    } cases[] = {{"nothing free", nothing_is_free},
                 {"on what is driven", on_driven},
                 {"carries what is driven", carries_driven},
                 {"slides and posts", slides_and_posts},
                 {"gears", gears},
                 {"legs", legs}};
    (void)state;
    for (int c = 0; c < LWI_COUNT(cases); c++) {
        findings worst = {0};
        for (int i = 0; i < 3 + NBASE; i++) {
            uint64_t seed = 300 + (uint64_t)i;
            site s = new_site(&seed, i == 0);
            place_on(&s, i < 3 ? GROUND : (lwt_base)(i - 3), &seed);
            cases[c].populate(&s);
            if (i >= 2) add_forces(&s, &seed);
            lw_model *model = lwt_model(s.b);
            assert_true(model->carries_work);
            check(model, cases[c].name, &worst);
        }
        report(cases[c].name, &worst);
        assert_int_equal(worst.done, worst.requested);
    }
}

// Rates contain the power of the drives: the energy changes by their work.
static void drives_do_work(void **state)
{
    uint64_t seed = 4;
    site s = new_site(&seed, false);
    (void)state;
    const lw_body crank = blob(&s, 0.05, 0.1, 0, 1), coupler = blob(&s, 0.5, 0.4, 0.1, 2);
    const lw_body rocker = blob(&s, 0.8, 0.2, -0.1, 1.5);
    drive(&s, LW_JOINT_REVOLUTE, lwt_ground, crank, AT(0, 0, 0), Z, steady(&s, 6));
    pin(&s, LW_JOINT_REVOLUTE, crank, coupler, AT(0.1, 0.25, 0), Z, LW_CUT_AUTO);
    pin(&s, LW_JOINT_REVOLUTE, lwt_ground, rocker, AT(0.7, -0.1, 0), Z, LW_CUT_AUTO);
    pin(&s, LW_JOINT_REVOLUTE, coupler, rocker, AT(0.9, 0.5, 0), Z, LW_CUT_PREFER);
    four_bar(&s, rocker, 0.7, 0.3, 0.1);
    lw_model *model = lwt_model(s.b);
    lwt_run a = drop(model, 0), b = drop(model, LWI_NO_KERNEL);
    const int at = lwt_rcr(&a)->auxiliary.at_work;
    const double work = a.x[at], before = energy_of(&a) - work;
    step_on(&a, 300, NULL);
    step_on(&b, 300, NULL);
    assert_true(fabs(a.x[at] - work) > 1);
    // h^4 of Runge and Kutta with h = 1e-3 and motions of some 10/s: 1e-8 of energies of 100 J
    lwt_near("energy", 0, energy_of(&a) - a.x[at], before, 1e-6);
    lwt_near("state", 0, difference(a.work->layout.nx, a.x, b.x), 0, 1e-12);
    lwt_run_end(&a);
    lwt_run_end(&b);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(driven_joints_agree),
                                       cmocka_unit_test(drives_do_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
