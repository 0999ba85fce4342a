// test_index3_fallback.c -- steps of index3 in lanes with rows of the scalar fallback: equal to those of the
// scalar code alone, as in test_index3_lanes.c.
#include "methods/index3/index3_lanes_cases.h"

#include "support/random_loops.h"

// ---------------------------------------------------------------------------------------- mechanisms

// Type of every n-th joint of a chain; the others are revolute.
typedef enum item {
    DAMPED,
    SPRUNG,
    PUSHED,
    DRIVEN,
    RUBBING,
    STOPPED,
    SLIDE,
    SPRUNG_SLIDE,
    SLEEVE,
    SCREW,
    PLANE,
    CARDAN,
    BALL,
    BUSHED,
    ITEMS
} item;

static const char *const name_of[ITEMS] = {"damped",  "sprung", "pushed",       "driven", "rubbing",
                                           "stopped", "slide",  "sprung slide", "sleeve", "screw",
                                           "plane",   "cardan", "ball",         "bushed"};

static void set_item(lw_builder *b, item what, lw_joint_desc *joint)
{
    static const lw_joint_type type[ITEMS] = {
        [SLIDE] = LW_JOINT_PRISMATIC,    [SPRUNG_SLIDE] = LW_JOINT_PRISMATIC,
        [SLEEVE] = LW_JOINT_CYLINDRICAL, [SCREW] = LW_JOINT_SCREW,
        [PLANE] = LW_JOINT_PLANAR,       [CARDAN] = LW_JOINT_UNIVERSAL,
        [BALL] = LW_JOINT_SPHERICAL};
    lw_coordinate_desc *c = joint->coordinate;
    const lw_function_desc sine = {
        .type = LW_FUNCTION_SINE, .amplitude = 0.3, .omega = 5, .phase = 0.4};
    if (type[what]) joint->type = type[what];
    if (what == SCREW) joint->pitch = 0.2;
    if (what == DAMPED || what == SLEEVE || what == PLANE || what == CARDAN) c[0].damping = 0.8;
    if (what == SPRUNG || what == SPRUNG_SLIDE) c[0].stiffness = 300, c[0].damping = 2;
    if (what == PUSHED) c[0].force = lwt_function(b, &sine);
    if (what == DRIVEN) {
        c[0].motion = lwt_function(b, &sine);
        joint->has_q = joint->has_qd = 0;
    }
    if (what == RUBBING)
        c[0].friction = (lw_friction_desc){.coulomb = 2, .viscous = 0.3, .speed = 0.05};
    if (what == STOPPED)
        c[0].limits =
            (lw_limits_desc){.has_upper = 1, .upper = -0.01, .stiffness = 400, .damping = 4};
    if (what == BALL) joint->damping = 0.5;
}

// n links in random directions; every n-th joint `what`, or a bushing parallel to a revolute joint.
static lw_model *items(int n, int every, item what)
{
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    double at[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        const double a = 0.9 * i, c = 0.7 * sin(1.3 * i);
        const double u[3] = {cos(a) * cos(c), sin(c), sin(a) * cos(c)};
        const lw_body link =
            lwt_body(b, &(lw_body_desc){.mass = 1 + 0.1 * (i % 3),
                                        .inertia = {.3, .45, .36, .03, -.06, .015},
                                        .pose.position = {at[0] + u[0] / 2, at[1] + u[1] / 2,
                                                          at[2] + u[2] / 2}});
        lw_joint_desc joint = {.type = LW_JOINT_REVOLUTE,
                               .body1 = before,
                               .body2 = link,
                               .at = {at[0], at[1], at[2]},
                               .axis = {sin(2.1 * i), cos(2.1 * i), 0.3}};
        if (i % every == every - 1) {
            set_item(b, what, &joint);
            if (what == CARDAN) joint.axis2 = (lw_vec3){cos(2.1 * i), -sin(2.1 * i), 0};
            if (what == BALL) joint.axis = (lw_vec3){0, 0, 0};
            if (what == BUSHED)
                lwt_bushing(b, &(lw_bushing_desc){.body1 = before,
                                                  .body2 = link,
                                                  .at = {at[0] + 0.1, at[1], at[2]},
                                                  .stiffness = {300, 200, 100, 20, 10, 30},
                                                  .damping = {3, 2, 1, 0.2, 0.1, 0.3}});
        }
        lwt_add(b, &joint);
        v3_add(at, at, u);
        before = link;
    }
    return lwt_model(b);
}

static lw_body bar(lw_builder *b, double x1, double y1, double x2, double y2)
{
    return lwt_body(b, &(lw_body_desc){.mass = 1,
                                       .inertia = {.02, .1, .1, 0, 0, 0},
                                       .pose.position = {(x1 + x2) / 2, (y1 + y2) / 2, 0}});
}

static lw_joint turning(lw_builder *b, lw_body body1, lw_body body2, double x, double y)
{
    return lwt_add(b,
                   &(lw_joint_desc){
                       .type = LW_JOINT_REVOLUTE, .body1 = body1, .body2 = body2, .at = {x, y, 0}});
}

// A row of slider-cranks; `geared`: each crank is coupled with the one before.
static lw_model *cranks(int n, bool geared)
{
    lw_builder *b = lwt_builder();
    lw_joint last = {0};
    for (int i = 0; i < n; i++) {
        const double x = 3 * i, t = 0.6 + 0.1 * i, cx = x + 0.3 * cos(t), cy = 0.3 * sin(t),
                     sx = cx + sqrt(0.64 - cy * cy);
        const lw_body crank = bar(b, x, 0, cx, cy), rod = bar(b, cx, cy, sx, 0),
                      slider = bar(b, sx, 0, sx, 0);
        const lw_joint pivot = turning(b, lwt_ground, crank, x, 0);
        turning(b, crank, rod, cx, cy);
        turning(b, rod, slider, sx, 0);
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_PRISMATIC,
                                    .body1 = lwt_ground,
                                    .body2 = slider,
                                    .at = {sx, 0, 0},
                                    .axis = {1, 0, 0}});
        if (i && geared)
            lwt_coupling(b, &(lw_coupling_desc){.joint = pivot,
                                                .of = last,
                                                .polynomial = (const double[]){0, -1.5, 0.2},
                                                .npolynomial = 3});
        last = pivot;
    }
    return lwt_model(b);
}

// Four-bars side by side, the first one driven.
static lw_model *bars(int n)
{
    lw_builder *b = lwt_builder();
    const double c = cos(1.0), s = sin(1.0);
    lw_body before = bar(b, 0, 0, c, s);
    lw_joint_desc drive = {.type = LW_JOINT_REVOLUTE, .body1 = lwt_ground, .body2 = before};
    drive.coordinate[0].motion = lwt_function(
        b, &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 0.4, .omega = 3});
    lwt_add(b, &drive);
    for (int i = 0; i < n; i++) {
        const lw_body next = bar(b, i + 1, 0, i + 1 + c, s), rod = bar(b, i + c, s, i + 1 + c, s);
        turning(b, lwt_ground, next, i + 1, 0);
        turning(b, before, rod, i + c, s);
        turning(b, rod, next, i + 1 + c, s);
        before = next;
    }
    return lwt_model(b);
}

// --------------------------------------------------------------------------------------------- tests

static void one_among_hinges(void **state)
{
    (void)state;
    for (int k = 0; k < ITEMS; k++)
        compare(name_of[k], items(24, 8, (item)k), 0.002, 40, "iterations=4");
}

static void every_joint(void **state)
{
    (void)state;
    for (int k = 0; k <= DRIVEN; k++)
        compare(name_of[k], items(20, 1, (item)k), 0.001, 20, "iterations=4");
}

static void every_tangent(void **state)
{
    (void)state;
    static const char *const method[] = {"tangent=0", "tangent=1", "penalty=1e9",
                                         "newton=modified,iterations=60,tolerance=1e-15"};
    static const item some[] = {DAMPED, DRIVEN, RUBBING, SPRUNG_SLIDE, BUSHED};
    for (int i = 0; i < LWI_COUNT(method); i++)
        for (int k = 0; k < LWI_COUNT(some); k++)
            compare(method[i], items(10, 5, some[k]), 0.001, 20, method[i]);
}

// Applied forces are part of the metric of the projections; those of dry friction are not for lanes.
static void projections_on_the_last_factors(void **state)
{
    (void)state;
    static const item some[] = {DAMPED, DRIVEN, SPRUNG_SLIDE, BUSHED};
    for (int k = 0; k < LWI_COUNT(some); k++) {
        compare(name_of[some[k]], items(10, 5, some[k]), 0.001, 20,
                "iterations=5,projection=tangent");
        compare(name_of[some[k]], items(10, 5, some[k]), 0.001, 20,
                "iterations=5,projection=tangent,tangent=1");
    }
    lw_model *model = items(10, 5, RUBBING);
    pair p = pair_of(model, 0.001, "projection=tangent");
    assert_null(p.d->lanes);
    done(&p, model);
}

static void loops(void **state)
{
    (void)state;
    compare("cranks", cranks(6, false), 0.002, 40, "iterations=4");
    compare("geared cranks", cranks(4, true), 0.002, 40, "iterations=4");
    compare("four-bars", bars(5), 0.002, 40, "iterations=4");
}

// Joints, drives, couplings and forces of all kinds; mounts are not for lanes.
static void anything(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        char name[40];
        lw_model *model = NULL;
        lw_error why;
        snprintf(name, sizeof name, "loops, seed %u", seed);
        compare(name,
                lwt_loops_create(seed, 4 + (int)seed, LWT_LOOP_ALL & ~(unsigned)LWT_MOUNTS).model,
                0.002, 5, "iterations=4");
        snprintf(name, sizeof name, "tree, seed %u", seed);
        assert_int_equal(
            lwt_random_tree(seed, 3 + (int)seed, LWT_ALL & ~(unsigned)LWT_MOUNTS, &model), LW_OK);
        lwt_ok(lwi_system_accepts(model, &why), &why);
        compare(name, model, 0.002, 5, "iterations=4");
    }
}

static void the_same_bits_for_any_width(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * ITEMS; k++) {
        lw_model *model = items(k < ITEMS ? 24 : 37, k < ITEMS ? 8 : 3, (item)(k % ITEMS));
        pair p = pair_of(model, 0.002, "mode=real-time");
        for (int width = 1; width <= 8; width *= width == 1 ? 4 : 2) {
            double *x = width > 1 ? p.lanes : p.general;
            if (!lwi_index3_lanes_width(p.d->lanes, width)) continue; // not on this machine
            some_steps(&p, x, 0.002, 5);
            assert_memory_equal(x, p.general, (size_t)p.n * sizeof *x);
        }
        done(&p, model);
    }
}

// In one pass with the next phase, and in two (test_index3_lanes.c).
static void the_same_bits_in_one_pass(void **state)
{
    (void)state;
    static const item some[] = {SPRUNG, DRIVEN, SPRUNG_SLIDE};
    for (int k = 0; k < LWI_COUNT(some); k++) {
        lw_model *model = items(21, 2, some[k]);
        pair p = pair_of(model, 0.002, "mode=real-time");
        some_steps(&p, p.lanes, 0.002, 20);
        p.d->method.tolerance = 1e-300; // below any increment
        some_steps(&p, p.general, 0.002, 20);
        assert_memory_equal(p.lanes, p.general, (size_t)p.n * sizeof *p.lanes);
        done(&p, model);
    }
}

static void the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    same_bits_of_threads(items(1700, 8, SPRUNG), "balanced", 0.002, 2);
}

// The inertia at a driven coordinate is a load that no motion changes.
static void a_rotor_on_a_drive(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body link = bar(b, 0, 0, 1, 0);
    lw_joint_desc joint = {.type = LW_JOINT_REVOLUTE, .body1 = lwt_ground, .body2 = link};
    joint.coordinate[0].rotor = 0.5;
    joint.coordinate[0].motion = lwt_function(
        b, &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 0.4, .omega = 3});
    lwt_add(b, &joint);
    compare("rotor on a drive", lwt_model(b), 0.002, 20, "iterations=4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_among_hinges),
        cmocka_unit_test(every_joint),
        cmocka_unit_test(every_tangent),
        cmocka_unit_test(projections_on_the_last_factors),
        cmocka_unit_test(loops),
        cmocka_unit_test(anything),
        cmocka_unit_test(the_same_bits_for_any_width),
        cmocka_unit_test(the_same_bits_in_one_pass),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(a_rotor_on_a_drive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
