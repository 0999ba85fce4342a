// test_tendon.c -- tendons: lengths round obstacles against closed forms and against the shortest one, the force as the
// gradient of the energy in every formulation, work, slider-cranks, what a file may not say.
#include "methods/rcr/rcr_cases.h"
#include "model/forces/path.h"
#include "support/given.h"

#include <linkwork/simulate.h>

#include <math.h>

// ------------------------------------------------------------------------------------------- paths

static const double I9[1][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}, O3[1][3];
static const lwi_kin at_rest = {.R = I9, .r = O3};

#define POINT(...)                                                                                 \
    {                                                                                              \
        .point = {__VA_ARGS__}, .side = -1                                                         \
    }
#define ROUND(r, tube)                                                                             \
    {                                                                                              \
        .radius = (r), .cylinder = (tube), .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .side = -1            \
    }

static double length(const lwi_path_part *part, int n)
{
    return lwi_path_walk(part, n, &at_rest, NULL, NULL);
}

// Round a circle from (-2, 1/2) to (3, 1/2): two tangents and an arc.
static double round_length(double r, bool other_side)
{
    const double p = hypot(2, 0.5), q = hypot(3, 0.5), pi = acos(-1);
    double between = atan2(0.5, -2) - atan2(0.5, 3);
    if (other_side) between = 2 * pi - between;
    return sqrt(p * p - r * r) + sqrt(q * q - r * r) + r * (between - acos(r / p) - acos(r / q));
}

static void obstacles_are_passed_on_tangents(void **state)
{
    (void)state;
    lwi_path_part path[3] = {POINT(-2, 0.5, 0), ROUND(1, false), POINT(3, 0.5, 0)};
    lwt_near("sphere", 0, length(path, 3), round_length(1, false), 1e-14);
    path[1].radius = 0.4; // the line passes above it
    lwt_near("sphere", 1, length(path, 3), 5, 1e-15);
    path[1].side = 0, path[1].side_point[1] = -9; // but it must pass below
    lwt_near("sphere", 2, length(path, 3), round_length(0.4, true), 1e-14);
    path[1].side_point[1] = 0, path[1].side_point[0] = 9; // next to both: straight again
    lwt_near("sphere", 5, length(path, 3), 5, 1e-15);
    path[1].side_point[0] = 0;
    path[1].radius = 1, path[1].side_point[1] = 9;
    lwt_near("sphere", 3, length(path, 3), round_length(1, false), 1e-14);
    path[0].point[1] = 0.05, path[0].point[0] = 0; // a point inside: no contact
    lwt_near("sphere", 4, length(path, 3), hypot(3, 0.45), 1e-15);
}

static void heights_grow_along_a_cylinder(void **state)
{
    (void)state;
    const lwi_path_part path[3] = {POINT(-2, 0.5, -1), ROUND(1, true), POINT(3, 0.5, 2)};
    lwt_near("cylinder", 0, length(path, 3), hypot(round_length(1, false), 3), 1e-14);
}

// Opposite points: through the centre, either side is as long.
static void opposite_points_have_a_length(void **state)
{
    (void)state;
    const lwi_path_part path[3] = {POINT(0, -2, 0), ROUND(1, false), POINT(0, 2, 0)};
    const double expected = 2 * sqrt(3) + acos(-1) - 2 * acos(0.5);
    lwt_near("sphere", 0, length(path, 3), expected, 1e-14);
}

// Within an opening: the shortest way that reaches its edge.
static void within_an_opening_the_path_is_shortest(void **state)
{
    (void)state;
    const double p[2] = {0.3, 3}, q[2] = {2, 0.7}, r = 0.5;
    lwi_path_part path[3] = {POINT(0.3, 3, 0), ROUND(r, false), POINT(2, 0.7, 0)};
    path[1].side = 0, path[1].side_point[0] = 0.1;
    double shortest = INFINITY;
    for (int i = 0; i < 100000; i++) {
        const double a = 1.6 * i / 100000, x = r * cos(a), y = r * sin(a);
        shortest = fmin(shortest, hypot(p[0] - x, p[1] - y) + hypot(q[0] - x, q[1] - y));
    }
    lwt_near("inside", 0, length(path, 3), shortest, 1e-9);
    assert_true(length(path, 3) <= shortest);
}

// ---- drawings

typedef struct drawing {
    double at[3], length,
        off;      ///< end of the last piece, sum of lengths, largest gap between pieces
    double on[2]; ///< largest error of a curve's distance: from the axis z, from the centre
    double radius;
    int n;
} drawing;

static void draw_piece(void *user, const double a[3], const double b[3])
{
    drawing *d = user;
    if (d->n)
        d->off = fmax(d->off, hypot(hypot(a[0] - d->at[0], a[1] - d->at[1]), a[2] - d->at[2]));
    d->length += hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
    if (d->n > 0 && d->n <= LWI_PATH_CHORDS + 1) {
        d->on[0] = fmax(d->on[0], fabs(hypot(a[0], a[1]) - d->radius));
        d->on[1] = fmax(d->on[1], fabs(hypot(hypot(a[0], a[1]), a[2]) - d->radius));
    }
    memcpy(d->at, b, sizeof d->at);
    d->n++;
}

static double number(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

// Pieces are joined, lie on the obstacle, and are as long as the path except what chords cut off.
static void drawn_pieces_are_the_path(void **state)
{
    (void)state;
    unsigned seed = 5;
    int touching = 0, far = 0;
    for (int i = 0; i < 2000; i++) {
        const bool tube = i % 2;
        lwi_path_part path[3] = {POINT(0), ROUND(0.7, tube), POINT(0)};
        for (int k = 0; k < 3; k++) {
            path[0].point[k] = 2 * number(&seed);
            path[2].point[k] = 2 * number(&seed);
            path[1].side_point[k] = i % 5 == 4 ? 0.2 * number(&seed) : 2 * number(&seed);
        }
        if (i % 3) path[1].side = 0;
        double first[3], last[3];
        const double whole = length(path, 3),
                     curve = lwi_path_wind(&path[1], &at_rest, path[0].point, path[2].point, first,
                                           last);
        drawing d = {.radius = 0.7};
        assert_int_equal(LWI_PATH_CHORDS + 2, lwi_path_draw(path, 3, &at_rest, draw_piece, &d));
        assert_int_equal(LWI_PATH_CHORDS + 2, d.n);
        for (int k = 0; k < 3; k++) lwt_near("end", i, d.at[k], path[2].point[k], 1e-15);
        lwt_near("joined", i, d.off, 0, 1e-13);
        lwt_near("length", i, d.length, whole, curve < 0 ? 1e-13 : 1e-13 + 0.03 * curve);
        if (curve < 0) continue;
        lwt_near("on the obstacle", i, d.on[!tube], 0, 1e-13);
        touching++;
        far += curve > 0.7 * acos(-1);
    }
    assert_true(touching > 500 && far > 20);
}

// Lengths of a part after a pulley count by its divisor; there is no line across it.
static void pulleys_divide(void **state)
{
    (void)state;
    const lwi_path_part path[5] = {
        POINT(0, 0, 0), POINT(0, 0, 2), {.divisor = 4, .side = -1}, POINT(7, 0, 0), POINT(7, 0, 1)};
    lwt_near("pulley", 0, length(path, 5), 2 + 0.25, 1e-15);
}

// ------------------------------------------------------------------------------------------ forces

#define ARM ARM_WITH("", "")
#define ARM_WITH(bodies, joints)                                                                   \
    "linkwork: 1\n"                                                                                \
    "bodies:\n"                                                                                    \
    "  a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"                   \
    "  b: {mass: 2, com: [0.1, 0.2, 0], inertia: [0.1, 0.2, 0.1, 0, 0, 0], position: [1.5, 0, "    \
    "0]}\n" bodies "joints:\n"                                                                     \
    "  j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [1]}\n"       \
    "  k: {type: cylindrical, between: [a, b], at: [1, 0, 0], axis: [0, 1, 0.2], qd: [2, "         \
    "-1]}\n" joints
#define MORE_BODIES "  c: {mass: 0.5, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1.6, 0.1, 0]}\n"
#define FIXED "  f: {type: fixed, between: [b, c], at: [1.5, 0, 0]}\n"
#define PATH                                                                                       \
    "path: [{point: [0, 0, 1]}, {body: a, point: [0.1, 0, 0], radius: 0.3}, "                      \
    "{body: a, point: [0, 0, 0.35]}, "                                                             \
    "{body: a, point: [0.5, 0, 0], radius: 0.15, axis: [0, 1, 0.1]}, "                             \
    "{body: b, point: [0.3, 0, 0.1]}, {pulley: 2}, {body: b, point: [-0.3, 0, 0.2]}, "             \
    "{point: [1, 0.2, 1], radius: 0.2}, {point: [2, 1, 2]}]"
// With sides, which the path loses in larger motions.
#define SIDES                                                                                      \
    "path: [{point: [0, 0, 1]}, {body: a, point: [0.1, 0, 0], radius: 0.3, side: [0, 0, 2], "      \
    "side_body: ground}, {body: a, point: [0, 0, -0.35]}, {body: a, radius: 0.2, axis: [0, 1, "    \
    "0], side: [0, 0, 0.1]}, {body: b, point: [0.3, 0, 0.1]}]"
#define CRANK                                                                                      \
    "slider_crank: {crank: b, crank_point: [0.1, 0.1, 0.2], slider: a, slider_point: [-0.2, 0, "   \
    "0], axis: [1, 0.1, 0.2], rod: 3}"
#define SPRING ", stiffness: 60, length: 1.2, slack: 0.1"
#define ROD_SPRING ", stiffness: 60, length: -1.7, slack: 0.1"
#define MORE                                                                                       \
    ", damping: 2, coulomb: 0.5, speed: 0.3, gear: 2, kp: 5, target: 0.7, bias: [1, 0, -0.2]"

static lw_model *arm(const char *along, const char *law)
{
    char text[4096];
    snprintf(text, sizeof text, ARM "forces: {rope: {type: tendon, %s%s}}\n", along, law);
    return lwt_yaml(text);
}

static void every_formulation_has_its_force(void **state)
{
    (void)state;
    static const char *const names[] = {"aba", "dense",   "dca",     "hdca",
                                        "rcr", "momenta", "lagrange"};
    static const char *const along[] = {PATH, SIDES, CRANK};
    for (int i = 0; i < LWI_COUNT(along); i++) {
        lw_model *model = arm(along[i], SPRING MORE);
        lwt_run dense = lwt_run_start(model, DENSE);
        lwt_run_observe(&dense);
        for (int k = 0; k < LWI_COUNT(names); k++) {
            lwt_run r = lwt_run_start(model, lwi_formulation_find(names[k]));
            lwt_run_observe(&r);
            lwt_near(names[k], i, lwt_acceleration_error(model, &r.now, &dense.now), 0, 1e-11);
            lwt_run_end(&r);
        }
        lwt_run_end(&dense);
        lw_model_destroy(model);
    }
}

typedef struct outcome {
    double energy_error, x, z; ///< position of body b at the end
} outcome;

static outcome run_of(const lw_model *model, const char *formulation, const char *step)
{
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", formulation, "duration", "1",
                                                   "sample", "0.1", step ? "step" : "rtol",
                                                   step ? step : "1e-12", "atol", "1e-12"));
    lw_summary summary;
    const lw_observation *o;
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    lw_sim_summary(sim, &summary);
    assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), LW_OK);
    const outcome out = {summary.energy_error, o->position[2][0], o->position[2][2]};
    lw_sim_destroy(sim);
    return out;
}

// The force is the gradient of the energy of the spring, and its other parts do the work that is counted: forces along
// dL/dq and the rate dL/dt agree with the length.
static void energy_and_work_balance(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {PATH, SPRING}, {PATH, SPRING MORE}, {CRANK, ROD_SPRING}, {CRANK, ROD_SPRING MORE}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = arm(cases[i][0], cases[i][1]);
        const outcome tree = run_of(model, "aba", NULL);
        lwt_near("energy", i, tree.energy_error, 0, 2e-7);
        lw_model_destroy(model);
    }
}

// The same motion, with errors of order two.
static void check_index3(const lw_model *model, int i)
{
    const outcome tree = run_of(model, "aba", NULL), coarse = run_of(model, "index3", "1e-3"),
                  fine = run_of(model, "index3", "5e-4");
    lwt_near("x", i, coarse.x, tree.x, 3e-4);
    lwt_near("z", i, coarse.z, tree.z, 3e-4);
    const double before = hypot(coarse.x - tree.x, coarse.z - tree.z),
                 after = hypot(fine.x - tree.x, fine.z - tree.z);
    assert_true(before > 1e-8 && before > 3.5 * after && before < 4.5 * after);
}

// A path that does not change sides.
static void index3_takes_tendons(void **state)
{
    (void)state;
    static const char *const along[] = {
        "path: [{point: [0, 0, 1]}, {body: a}, {body: b, point: [0.3, 0, 0.1]}, {pulley: 2}, "
        "{body: b, point: [-0.3, 0, 0.2]}, {point: [2, 1, 2]}]",
        CRANK};
    for (int i = 0; i < LWI_COUNT(along); i++) {
        lw_model *model = arm(along[i], i ? ROD_SPRING MORE : SPRING MORE);
        check_index3(model, i);
        lw_model_destroy(model);
    }
}

// Servos on several coordinates act on any body, too.
static void index3_takes_servos_on_sums(void **state)
{
    (void)state;
    lw_model *model =
        lwt_yaml(ARM "forces: {s: {type: servo, of: [{joint: j, factor: 0.3}, {joint: k, "
                     "factor: -1}], kp: 40, target: 0.1}}\n");
    check_index3(model, 0);
    lw_model_destroy(model);
}

// Mean number of iterations of 30 steps.
static double iterations_of(const lw_model *model)
{
    char text[512];
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "index3", "duration", "0.03",
                                                   "sample", "0.03", "step", "0.001"));
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    lw_sim_report(sim, text, sizeof text);
    const char *end = strstr(text, " iterations per step");
    if (!end) fail_msg("%s", text);
    while (end > text && end[-1] != ' ' && end[-1] != '\n') end--;
    const double found = strtod(end, NULL);
    lw_sim_destroy(sim);
    return found;
}

// Forces along lengths are rows of Newton's matrix, also over bodies that are fixed to others: any stiffness takes few
// iterations.  Without the rows these need all six of each step, and do not converge.
static void index3_converges_with_stiff_lengths(void **state)
{
    (void)state;
    static const char *const stiff[] = {
        "type: tendon, stiffness: 1e7, damping: 100, path: [{point: [0, 0, 1]}, {body: a}, "
        "{body: b, point: [0.3, 0, 0.1]}, {pulley: 2}, {body: c, point: [-0.3, 0, 0.2]}, "
        "{point: [2, 1, 2]}]",
        "type: tendon, stiffness: 1e7, damping: 100, " CRANK,
        "type: servo, kp: 1e7, kd: 10, of: [{joint: j, factor: 0.3}, {joint: k, factor: -1}]"};
    for (int i = 0; i < LWI_COUNT(stiff); i++) {
        char text[4096];
        snprintf(text, sizeof text, ARM_WITH(MORE_BODIES, FIXED) "forces: {rope: {%s}}\n",
                 stiff[i]);
        lw_model *model = lwt_yaml(text);
        const double found = iterations_of(model);
        print_message("%d: %.2f iterations\n", i, found);
        assert_true(found > 1 && found < 4.5);
        lw_model_destroy(model);
    }
}

// Without a length the spring is at rest where the bodies are placed; a file says so in numbers.
static void the_length_at_assembly_is_the_default(void **state)
{
    (void)state;
    lw_model *model =
        arm("path: [{point: [0, 0, 1]}, {body: b, point: [0.5, 0, 1]}]", ", stiffness: 1");
    const lw_tendon_desc *d = lwi_force_desc(&model->desc, LWI_ITEM_tendon, 0);
    lwt_near("length", 0, d->length, 2, 1e-15);
    lw_model_destroy(model);
    model = arm("slider_crank: {crank: b, crank_point: [0.5, 0, 3], axis: [1, 0, 0], rod: 5}",
                ", stiffness: 1");
    d = lwi_force_desc(&model->desc, LWI_ITEM_tendon, 0);
    lwt_near("length", 1, d->length, 2 - 4, 1e-15);
    lw_model_destroy(model);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"stiffness: 1", "tendon 's': path: the list is missing"},
        {"path: [{point: [0, 0, 0]}]", "path: expected two points or more"},
        {"path: [{body: a}, {pulley: 2}, {body: b}]", "path: expected two points or more"},
        {"path: [{body: a, radius: 1}, {body: b}, {body: a}]",
         "path[0]: an obstacle, expected one between two points"},
        {"path: [{body: a}, {body: a, radius: 1}, {pulley: 2}, {body: b}]",
         "path[1]: an obstacle, expected one between two points"},
        {"path: [{body: a}, {body: b, axis: [1, 0, 0]}]", "path[1]: axis or side of a point"},
        {"path: [{body: a}, {body: b}, {body: b, pulley: 2, radius: 1}, {body: b}]",
         "path[2]: a pulley with other keys"},
        {"path: [{body: a}, {body: z}]", "there is no body 'z'"},
        {"path: [{body: a}, {body: b, radius: -1}, {body: a}]", "radius is -1"},
        {"path: [{body: a}, {body: b}], slack: -1", "slack is -1"},
        {"path: [{body: a}, {body: b}], effort_range: [1, 0]", "effort_range is [1, 0]"},
        {"path: [{body: a}, {body: b}], slider_crank: {crank: a, axis: [1, 0, 0], rod: 1}",
         "both path and slider_crank"},
        {"slider_crank: {crank: a, axis: [0, 0, 0], rod: 1}", "axis"},
        {"slider_crank: {crank: a, axis: [1, 0, 0], rod: 0}", "rod is 0"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text, ARM "forces: {s: {type: tendon, %s}}\n", cases[i][0]);
        lw_model *model = NULL;
        lw_error error = {0};
        const lw_read_desc desc = {.format = "yaml"};
        assert_int_not_equal(
            lw_model_parse(text, strlen(text), "t.yaml", &desc, &model, NULL, &error), LW_OK);
        if (!strstr(error.text, cases[i][1])) fail_msg("%s: %s", cases[i][0], error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obstacles_are_passed_on_tangents),
        cmocka_unit_test(heights_grow_along_a_cylinder),
        cmocka_unit_test(opposite_points_have_a_length),
        cmocka_unit_test(within_an_opening_the_path_is_shortest),
        cmocka_unit_test(drawn_pieces_are_the_path),
        cmocka_unit_test(pulleys_divide),
        cmocka_unit_test(every_formulation_has_its_force),
        cmocka_unit_test(energy_and_work_balance),
        cmocka_unit_test(index3_takes_tendons),
        cmocka_unit_test(index3_takes_servos_on_sums),
        cmocka_unit_test(index3_converges_with_stiff_lengths),
        cmocka_unit_test(the_length_at_assembly_is_the_default),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
