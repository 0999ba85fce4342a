// test_linearize.c -- reduced equations and their derivatives along the constraint manifold.
#include "analysis/analysis_cases.h"
#include "analysis/reduced.h"
#include "base/eigen.h"
#include "support/given.h"
#include "support/random_loops.h"

#include <linkwork/io.h>

#include <hdf5.h>

static void same_dataset(hid_t file, const char *name, int rows, int columns, const double *value)
{
    hsize_t size[2];
    double read[64] = {0};
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_ndims(space), 2);
    H5Sget_simple_extent_dims(space, size, NULL);
    assert_int_equal(size[0], rows);
    assert_int_equal(size[1], columns);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
    for (int i = 0; i < rows * columns; i++) lwt_near(read[i], value[i], 0);
    H5Sclose(space);
    H5Dclose(set);
}

// The file has the matrices, also those without columns, and the names.
static void check_hdf5(const lw_linear *linear, const char *last_output)
{
    static const char path[] = "test_linearize.h5";
    lw_error error;
    char names[8][64] = {{0}};
    const int n = lw_linear_states(linear), p = lw_linear_inputs(linear),
              r = lw_linear_outputs(linear);
    lwt_ok(lw_linear_write_hdf5(linear, path, &error), &error);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    same_dataset(file, "A", n, n, lw_linear_A(linear));
    same_dataset(file, "B", n, p, lw_linear_B(linear));
    same_dataset(file, "C", r, n, lw_linear_C(linear));
    same_dataset(file, "D", r, p, lw_linear_D(linear));
    same_dataset(file, "mass_matrix", n / 2, n / 2, lw_linear_mass(linear));
    same_dataset(file, "accelerations", n / 2, 1, lw_linear_accelerations(linear));
    const hid_t set = H5Dopen2(file, "outputs", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, sizeof names[0]);
    H5Tset_cset(type, H5T_CSET_UTF8);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, names) >= 0);
    assert_string_equal(names[r - 1], last_output);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
    remove(path);
    assert_int_equal(lw_linear_write_hdf5(linear, "no/folder.h5", &error), LW_ERR_IO);
    assert_non_null(strstr(error.file, "no/folder.h5"));
    assert_int_equal(lw_linear_write_hdf5(NULL, path, &error), LW_ERR_ARGUMENT);
}

// Computed in minimal coordinates with complex numbers, by another program.
static void test_four_bar(void **state)
{
    (void)state;
    lw_model *model = lwt_sprung_four_bar(0.9, 2);
    lw_linear *linear = lwt_linearize(model, NULL);
    assert_int_equal(lw_linear_states(linear), 2);
    assert_string_equal(lw_linear_state_name(linear, 0), "joint.A.q0");
    assert_string_equal(lw_linear_state_name(linear, 1), "joint.A.qd0");
    const double *A = lw_linear_A(linear);
    check_hdf5(linear, "joint.A.qd0");
    lwt_near(A[0], 0, 0);
    lwt_near(A[1], 1, 0);
    lwt_near(A[2], -157.20531783365666, 2e-10);
    lwt_near(A[3], -3.1012125537962136, 1e-11);
    lwt_near(lw_linear_accelerations(linear)[0], 4.781832445984627, 1e-11);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// Accelerations of neighbours of random states are those of lw_forward_dynamics, which reduces coordinates in another
// way, and neighbours satisfy the constraints.
static void test_neighbours(void **state)
{
    (void)state;
    uint64_t seed = 5;
    LWT_FOR_LOOPS(c, 40, LWT_LOOP_ALL & ~LWT_CUSTOM)
    {
        lwi_analysis_state s;
        lwi_arena arena;
        lw_error error;
        lw_dynamics *dynamics;
        lwi_arena_init(&arena, NULL);
        lwt_ok(lw_dynamics_create(c.model, NULL, &dynamics, &error), &error);
        lwt_ok(lwi_analysis_state_create(c.model, 0, NULL, c.model->tree_v0, NULL, NULL, &arena, &s,
                                         &error),
               &error);
        const int f = s.manifold.f;
        assert_int_equal(f, c.dof);
        double *y = lwt_vector(f), *z = lwt_vector(f), *zdot = lwt_vector(f),
               *vdot = lwt_vector(s.manifold.n);
        for (int k = 0; k < f; k++) {
            y[k] = lwt_random(&seed, -1, 1) * lwi_analysis_step(&s, k);
            z[k] = s.z[k] + lwt_random(&seed, -0.1, 0.1);
        }
        lwt_ok(lwi_analysis_near(&s, y, z, false, zdot, &error), &error);
        const double gap = lw_dynamics_gap(dynamics, 0, s.near_q);
        assert_true(gap <= 1e-9 || isinf(gap));
        lwt_ok(lw_forward_dynamics(dynamics, 0, s.near_q, s.near_v, NULL, NULL, vdot),
               lw_dynamics_error(dynamics));
        double size = 1;
        for (int i = 0; i < s.manifold.n; i++) size = fmax(size, fabs(vdot[i]));
        for (int k = 0; k < f; k++) lwt_near(zdot[k], vdot[s.manifold.independent[k]], 1e-9 * size);
        free(y), free(z), free(zdot), free(vdot);
        lwi_analysis_state_destroy(&s);
        lw_dynamics_destroy(dynamics);
        lwi_arena_free(&arena);
    }
}

static lw_status zdot_near(void *user, lwi_analysis_vary what, int k, double by, double *out,
                           lw_error *error)
{
    lwi_analysis_state *s = user;
    double *y = lwt_vector(s->manifold.f), *z = lwt_vector(s->manifold.f);
    memcpy(z, s->z, (size_t)s->manifold.f * sizeof *z);
    (what == LWI_VARY_POSITION ? y : z)[k] += by;
    const lw_status status = lwi_analysis_near(s, y, z, false, out, error);
    free(y), free(z);
    return status;
}

// Derivatives of the reduced equations against differences along the constraint manifold.
static void test_reduced_derivatives(void **state)
{
    (void)state;
    double worst = 0;
    LWT_FOR_LOOPS(c, 30, LWT_LOOP_ALL & ~LWT_CUSTOM)
    {
        lwi_analysis_state s;
        lwi_reduced r;
        lwi_arena arena;
        lw_error error;
        lwi_arena_init(&arena, NULL);
        lwt_ok(lwi_analysis_state_create(c.model, 0, NULL, c.model->tree_v0, NULL, NULL, &arena, &s,
                                         &error),
               &error);
        lwt_ok(lwi_reduced_create(&s, &arena, &r, &error), &error);
        const int f = s.manifold.f;
        double *zdot = lwt_vector(f), *by[2] = {lwt_vector(f * f), lwt_vector(f * f)},
               *scratch = lwt_vector(4 * f), *expected = lwt_vector(f), *column = lwt_vector(f);
        lwt_ok(zdot_near(&s, LWI_VARY_POSITION, 0, 0, zdot, &error), &error);
        lwt_ok(lwi_reduced_derivatives(&r, zdot, by[0], by[1], NULL, &error), &error);
        for (int k = 0; k < 2 * f; k++) {
            const lwi_analysis_vary what = k < f ? LWI_VARY_POSITION : LWI_VARY_SPEED;
            lwt_ok(lwi_analysis_difference(zdot_near, &s, what, k % f,
                                           0.1 * lwi_analysis_step(&s, k % f), f, scratch, expected,
                                           &error),
                   &error);
            lwt_ok(lwi_manifold_tangent(&s.manifold, s.q, &error), &error);
            lwt_ok(lwi_manifold_force(&s.manifold, s.q, s.v, scratch, &error), &error);
            for (int i = 0; i < f; i++) column[i] = by[k / f][i * f + k % f];
            lwt_ok(lwi_manifold_factor_mass(&s.manifold, &error), &error);
            lwi_manifold_accelerations(&s.manifold, column);
            double size = 1e-3;
            for (int i = 0; i < f; i++) size = fmax(size, fabs(expected[i]) + fabs(zdot[i]));
            for (int i = 0; i < f; i++) {
                lwt_near(column[i], expected[i], 1e-8 * size);
                worst = fmax(worst, fabs(column[i] - expected[i]) / size);
            }
        }
        free(zdot), free(by[0]), free(by[1]), free(scratch), free(expected), free(column);
        lwi_analysis_state_destroy(&s);
        lwi_arena_free(&arena);
    }
    print_message("largest difference %.3g\n", worst);
}

// The frequency does not depend on the choice of the independent coordinate.
static void test_choice_of_coordinates(void **state)
{
    (void)state;
    lw_equilibrium report;
    lw_model *model = lwt_sprung_four_bar(0.9, 0), *balanced = lwt_balance(model, false, &report);
    static const char *const names[] = {"A", "B", "C", "D"};
    int chosen = 0;
    for (int i = 0; i < 4; i++) {
        const lw_linear_desc desc = {.independent = names[i]};
        lw_linear *linear;
        lw_error error;
        const lw_status status = lw_linearize(balanced, &desc, &linear, &error);
        if (balanced->joint[i].node < 0) {
            assert_int_equal(status, LW_ERR_ARGUMENT);
            assert_non_null(strstr(error.text, "closes a loop"));
            continue;
        }
        lwt_ok(status, &error);
        char expected[20];
        snprintf(expected, sizeof expected, "joint.%s.q0", names[i]);
        assert_string_equal(lw_linear_state_name(linear, 0), expected);
        lwt_near(sqrt(-lw_linear_A(linear)[2]) / (2 * LWT_PI), 1.852850039113, 1e-10);
        lw_linear_destroy(linear);
        chosen++;
    }
    assert_int_equal(chosen, 3);
    lw_model_destroy(balanced);
    lw_model_destroy(model);
}

// A rotating body in space, its attitude a quaternion: increments are in axes of the body.  In these a symmetric top
// nutates with 1 - Ja/Jt of its angular velocity, and directions fixed in space rotate with all of it.
static void test_top(void **state)
{
    (void)state;
    const double Jt = 0.3, Ja = 0.2, rate = 7;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    lwt_body(b, &(lw_body_desc){.name = "top",
                                .mass = 2,
                                .inertia = {Jt, Jt, Ja, 0, 0, 0},
                                .has_velocity = true,
                                .angular_velocity = {0, 0, rate}});
    lw_model *model = lwt_model(b);
    lw_linear *linear = lwt_linearize(model, NULL);
    assert_int_equal(lw_linear_states(linear), 12);
    assert_string_equal(lw_linear_state_name(linear, 0), "body.top.d0");
    double A[144], re[12], im[12], scratch[12];
    memcpy(A, lw_linear_A(linear), sizeof A);
    assert_true(lwi_eigen_values(12, A, re, im, scratch));
    bool nutates = false, turns = false;
    for (int i = 0; i < 12; i++) { // double eigenvalues are less accurate
        const bool own = fabs(fabs(im[i]) - rate * (1 - Ja / Jt)) <= 1e-8,
                   still = fabs(fabs(im[i]) - rate) <= 1e-4;
        assert_true(fabs(re[i]) <= 1e-4);
        assert_true(fabs(im[i]) <= 1e-4 || own || still);
        nutates |= own, turns |= still;
    }
    assert_true(nutates && turns);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// Outputs and inputs of a pendulum with a torque: closed forms.
static void test_outputs(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_signal torque;
    lw_error error;
    lwt_ok(lw_builder_add_input(b, "torque", &torque, &error), &error);
    const lw_body bob =
        lwt_body(b, &(lw_body_desc){.name = "bob", .mass = 2, .pose.position = {0.6, -0.8, 0}});
    lwt_add(b, &(lw_joint_desc){.name = "hinge",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = bob,
                                .axis = {0, 0, 1},
                                .coordinate[0].effort = torque});
    lw_model *model = lwt_model(b);
    const double inputs[1] = {3};
    const lw_linear_desc desc = {.inputs = inputs,
                                 .outputs = "body.bob.x, body.bob.vy,joint.hinge.fy,sys.V"};
    lw_linear *linear = lwt_linearize(model, &desc);
    const double *A = lw_linear_A(linear), *B = lw_linear_B(linear), *C = lw_linear_C(linear),
                 *D = lw_linear_D(linear);
    assert_int_equal(lw_linear_outputs(linear), 4);
    assert_string_equal(lw_linear_output_name(linear, 1), "body.bob.vy");
    assert_string_equal(lw_linear_input_name(linear, 0), "torque");
    // m l^2 = 2: qdd = torque / 2 - g x, x = 0.6
    lwt_near(lw_linear_accelerations(linear)[0], 1.5 - 9.81 * 0.6, 1e-12);
    lwt_near(A[2], 9.81 * -0.8, 1e-9);
    lwt_near(B[0], 0, 0);
    lwt_near(B[1], 0.5, 1e-12);
    lwt_near(C[0], 0.8, 1e-10);           // dx/dq = -y
    lwt_near(C[3], 0.6, 1e-10);           // vy = x qd
    lwt_near(C[6], 2 * 9.81 * 0.6, 1e-9); // V = m g y
    lwt_near(D[2], 2 * 0.6 * 0.5, 1e-10); // fy = m (g + x qdd + ...)
    check_hdf5(linear, "sys.V");
    lw_linear_destroy(linear);

    lw_linear *none = NULL;
    const lw_linear_desc wrong = {.outputs = "body.bob.xx"};
    assert_int_equal(lw_linearize(model, &wrong, &none, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "no column 'body.bob.xx', did you mean 'body.bob.x'?"));
    assert_null(none);
    lw_model_destroy(model);
}

typedef struct neighbour {
    lwi_analysis_state *state;
    lw_dynamics *dynamics;
    double *y, *zdot, *vdot;
} neighbour;

static lw_status by_forward_dynamics(void *user, lwi_analysis_vary what, int k, double by,
                                     double *out, lw_error *error)
{
    const neighbour *w = user;
    const lwi_manifold *m = &w->state->manifold;
    assert_int_equal(what, LWI_VARY_POSITION);
    w->y[k] = by;
    const lw_status status = lwi_analysis_near(w->state, w->y, w->state->z, false, w->zdot, error);
    w->y[k] = 0;
    if (status != LW_OK) return status;
    lwt_ok(lw_forward_dynamics(w->dynamics, 0, w->state->near_q, w->state->near_v, NULL, NULL,
                               w->vdot),
           lw_dynamics_error(w->dynamics));
    for (int i = 0; i < m->f; i++) out[i] = w->vdot[m->independent[i]];
    return LW_OK;
}

// Cassie held at the pelvis: the plantar rods are so close to a line with their cranks (pivot 9e-6) that loops do not
// close a usual step away.  Derivatives by shorter steps are those of lw_forward_dynamics at other neighbours.
static void test_nearly_singular(void **state)
{
    (void)state;
    lw_error error;
    lw_model *model;
    const lw_read_desc fixed = {.base = LW_BASE_FIXED};
    lwt_ok(lw_model_read(LW_SOURCE_DIR "/tests/models/cassie_v2.sdf", &fixed, &model, NULL, &error),
           &error);
    lw_linear *linear = lwt_linearize(model, NULL);
    lwi_analysis_state s;
    lwi_arena arena;
    neighbour w = {.state = &s};
    lwi_arena_init(&arena, NULL);
    lwt_ok(lw_dynamics_create(model, NULL, &w.dynamics, &error), &error);
    lwt_ok(lwi_analysis_state_create(model, 0, NULL, NULL, NULL, NULL, &arena, &s, &error), &error);
    const int f = s.manifold.f;
    assert_int_equal(lw_linear_states(linear), 2 * f);
    w.y = lwt_vector(f), w.zdot = lwt_vector(f), w.vdot = lwt_vector(s.manifold.n);
    double *scratch = lwt_vector(4 * f), *column = lwt_vector(f);
    for (int k = 0; k < f; k++) {
        const double *A = lw_linear_A(linear) + (size_t)(2 * f * f + k),
                     step = lwi_analysis_step(&s, k) / 30;
        double size = 1;
        lwt_ok(lwi_analysis_difference(by_forward_dynamics, &w, LWI_VARY_POSITION, k, step, f,
                                       scratch, column, &error),
               &error);
        for (int i = 0; i < f; i++) size = fmax(size, fabs(column[i]));
        for (int i = 0; i < f; i++) lwt_near(A[2 * f * i], column[i], 1e-6 * size);
    }
    free(w.y), free(w.zdot), free(w.vdot), free(scratch), free(column);
    lwi_analysis_state_destroy(&s);
    lwi_arena_free(&arena);
    lw_dynamics_destroy(w.dynamics);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// A hinge of a four-bar by two ball joints with points that differ by 1e-8 m between its bodies, as rounded in files: no
// position satisfies both, and the nearest one is as good.  Derivatives are those of the exact points within that.
static void test_redundant_points_are_rounded(void **state)
{
    (void)state;
    lw_linear *linear[2];
    for (int i = 0; i < 2; i++) {
        char text[1500];
        snprintf(
            text, sizeof text,
            "linkwork: 1\nbodies:\n"
            "  crank: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"
            "  coupler: {mass: 1, inertia: [0.2, 0.3, 0.2, 0, 0, 0], position: [2, 0, 1]}\n"
            "  rocker: {mass: 2, inertia: [0.2, 0.3, 0.2, 0, 0, 0], position: [3, 0, 1]}\n"
            "joints:\n"
            "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}\n"
            "  B: {type: revolute, between: [crank, coupler], at: [1, 0, 0], axis: [0, 1, 0]}\n"
            "  D: {type: revolute, between: [ground, rocker], at: [3, 0, -0.5], axis: [0, 1, 0]}\n"
            "  C1: {type: spherical, between: [coupler, rocker], frame1: {position: [1, 0.1, 1]}, "
            "frame2: {position: [0, 0.1, 1]}}\n"
            "  C2: {type: spherical, between: [coupler, rocker], frame1: {position: [1, -0.1, "
            "1]}, frame2: {position: [0, %.17g, 1]}}\n",
            i ? -0.1 - 1e-8 : -0.1);
        lw_model *model = lwt_yaml(text);
        linear[i] = lwt_linearize(model, NULL);
        assert_int_equal(lw_linear_states(linear[i]), 2);
        lw_model_destroy(model);
    }
    for (int k = 0; k < 4; k++) {
        const double exact = lw_linear_A(linear[0])[k];
        lwt_near(lw_linear_A(linear[1])[k], exact, 1e-6 * fmax(1, fabs(exact)));
    }
    for (int i = 0; i < 2; i++) lw_linear_destroy(linear[i]);
}

// Refusals of independent coordinates name the file, the joint with its line, what is wrong and what is expected.
static void test_refused_coordinates(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0.5, 0]}\n"
        "  b: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 1, 0]}\n"
        "  c: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 0.4, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  B: {type: revolute, between: [a, b], at: [0, 1, 0], axis: [0, 0, 1]}\n"
        "  C: {type: revolute, between: [b, c], at: [1, 1, 0], axis: [0, 0, 1], cut: always}\n"
        "  D: {type: revolute, between: [ground, c], at: [1, 0, 0], axis: [0, 0, 1]}\n";
    static const struct {
        const char *names;
        int line;
        const char *text;
    } refused[] = {
        {"A,D", 10,
         "joint.A.q0, joint.D.q0 depend on each other, or do not move the mechanism at "
         "this position; expected at most 1"},
        {"A.q1", 7, "joint 'A' has no coordinate q1 that is free; it has 1, numbered from q0"},
        {"C", 9, "joint 'C' closes a loop and has no coordinates in the tree; expected another"},
        {"E", 0, "there is no joint 'E'; expected JOINT or JOINT.q0"},
    };
    lw_error error;
    lw_options options;
    lw_model *model = NULL;
    lwt_ok(lw_model_parse(text, strlen(text), "four.yaml", &(lw_read_desc){.format = "yaml"},
                          &model, &options, &error),
           &error);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const lw_linear_desc desc = {.independent = refused[i].names};
        lw_linear *linear = NULL;
        error = (lw_error){0};
        assert_int_equal(lw_linearize(model, &desc, &linear, &error), LW_ERR_ARGUMENT);
        if (!strstr(error.text, refused[i].text)) fail_msg("%s: %s", refused[i].names, error.text);
        assert_string_equal(error.file, "four.yaml");
        assert_int_equal(error.line, refused[i].line);
    }
    lw_model_destroy(model);
}

static void *allocate_small(void *user, size_t bytes)
{
    const size_t *largest = user;
    return bytes <= *largest ? malloc(bytes) : NULL;
}

static void release_small(void *user, void *block)
{
    (void)user;
    free(block);
}

// Analyses are dense: the message has the sizes.
static void test_large_mechanism(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\ngenerate: {n_four_bar: {n: 200, q: [0.3, 0, 0]}}\n";
    size_t largest = SIZE_MAX;
    const lw_allocator small = {allocate_small, release_small, &largest};
    const lw_read_desc desc = {.format = "yaml", .allocator = &small};
    lw_error error = {0};
    lw_model *model = NULL;
    lw_linear *linear = NULL;
    if (lw_model_parse(text, strlen(text), "rows.yaml", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    largest = (size_t)1 << 20;
    assert_int_equal(lw_linearize(model, NULL, &linear, &error), LW_ERR_MEMORY);
    assert_string_equal(error.text,
                        "no memory for an analysis: its matrices are dense, those of "
                        "401 speeds and 1000 equations of loops take at least 0.00642 GB");
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused_coordinates),
                                       cmocka_unit_test(test_four_bar),
                                       cmocka_unit_test(test_neighbours),
                                       cmocka_unit_test(test_reduced_derivatives),
                                       cmocka_unit_test(test_choice_of_coordinates),
                                       cmocka_unit_test(test_top),
                                       cmocka_unit_test(test_outputs),
                                       cmocka_unit_test(test_nearly_singular),
                                       cmocka_unit_test(test_redundant_points_are_rounded),
                                       cmocka_unit_test(test_large_mechanism)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
