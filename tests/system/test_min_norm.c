// test_min_norm.c -- reactions of minimum norm of redundant mechanisms, and which of them are unique, against
// the singular values of `dense`.
#include "support/run.h"

#include "methods/dca/hdca.h"
#include "methods/rcr/rcr.h"
#include "system/min_norm.h"
#include "system/system.h"

#define DENSE (&lwi_formulation_dense)

// ----------------------------------------------------------------------------------------- models

static lw_model *mechanism(lw_mechanism kind, int n, double q, lw_vec3 gravity)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, gravity);
    lwt_add_mechanism(b, (lw_mechanism_desc){.mechanism = kind,
                                             .n = n,
                                             .q = {q, kind == LW_MECHANISM_LADDER ? 0.2 : 0}});
    return lwt_model(b);
}

static lw_body between(lw_builder *b, const double p[3], const double q[3], double mass)
{
    return lwt_body(b, &(lw_body_desc){.mass = mass,
                                       .inertia = {0.1 * mass, 0.2 * mass, 0.25 * mass},
                                       .pose = {.position = {(p[0] + q[0]) / 2, (p[1] + q[1]) / 2,
                                                             (p[2] + q[2]) / 2}}});
}

static void hinge(lw_builder *b, lw_body body1, lw_body body2, const double at[3],
                  const double axis[3])
{
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                .body1 = body1,
                                .body2 = body2,
                                .at = {at[0], at[1], at[2]},
                                .axis = {axis[0], axis[1], axis[2]}});
}

// Links from a body to another with n hinges at the points.
static void ring(lw_builder *b, int n, const double point[][3], const double axis[][3],
                 lw_body before, lw_body end)
{
    for (int i = 0; i < n; i++) {
        const lw_body next = i < n - 1 ? between(b, point[i], point[i + 1], 1 + 0.3 * i) : end;
        hinge(b, before, next, point[i], axis[i]);
        before = next;
    }
}

// Six links along edges of a cube, axes across their neighbours [Bricard's trihedral linkage].
static lw_model *bricard(void)
{
    static const double point[6][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0},
                                       {1, 1, 1}, {0, 1, 1}, {0, 0, 1}};
    static const double axis[6][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0},
                                      {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){1, -2, -9});
    ring(b, 6, point, axis, lwt_ground, lwt_ground);
    return lwt_model(b);
}

// Platforms on each other, each on two chains of three parallel hinges at right angles: they move up and down.
static lw_model *sarrus(int high)
{
    lw_builder *b = lwt_builder();
    lw_body below = lwt_ground;
    lw_builder_gravity(b, (lw_vec3){3, -2, -9});
    for (int k = 0; k < high; k++) {
        const double x[3][3] = {{0, -1, k}, {0, -1.4, k + 0.5}, {0, -1, k + 1}};
        const double y[3][3] = {{-1, 0, k}, {-1.4, 0, k + 0.5}, {-1, 0, k + 1}};
        static const double along_x[3][3] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
        static const double along_y[3][3] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}};
        const lw_body platform =
            between(b, (const double[3]){-0.5, -0.5, k + 1}, (const double[3]){0.7, 0.5, k + 1}, 2);
        ring(b, 3, x, along_x, below, platform);
        ring(b, 3, y, along_y, below, platform);
        below = platform;
    }
    return lwt_model(b);
}

// Opposite links are equal, a / sin(alpha) = b / sin(beta): the axes are skew and it moves all the same.
static lw_model *bennett(void)
{
    const double theta[4] = {1, 2.771126414, -1, 3.512058893}, a[2] = {0.5, 0.8};
    const double alpha[2] = {0.6, asin(0.8 * sin(0.6) / 0.5)};
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, point[4][3] = {{0}}, axis[4][3], p[3] = {0};
    for (int i = 0; i < 4; i++) {
        const double c = cos(theta[i]), s = sin(theta[i]);
        const double ca = cos(alpha[i % 2]), sa = sin(alpha[i % 2]);
        const double A[9] = {c, -s * ca, s * sa, s, c * ca, -c * sa, 0, sa, ca};
        const double step[3] = {a[i % 2] * c, a[i % 2] * s, 0};
        double d[3], B[9];
        v3_copy(point[i], p);
        for (int k = 0; k < 3; k++) axis[i][k] = R[3 * k + 2];
        m3_mul_v(d, R, step);
        v3_add(p, p, d);
        m3_mul(B, R, A);
        memcpy(R, B, sizeof B);
    }
    assert_true(v3_norm(p) < 1e-8); // it closes
    lw_builder *b = lwt_builder();
    ring(b, 4, (const double(*)[3])point, (const double(*)[3])axis, lwt_ground, lwt_ground);
    return lwt_model(b);
}

// A plate on n rods with hinges on the ground: one body with many hinges.
static lw_model *table(int n)
{
    lw_builder *b = lwt_builder();
    const lw_body plate = between(b, (const double[3]){0, 1, 0}, (const double[3]){n, 1, 0}, 3);
    for (int i = 0; i < n; i++) {
        const double foot[3] = {i, 0, 0.1 * (i % 3)}, tip[3] = {i + 0.3, 1, 0.1 * (i % 3)};
        const lw_body rod = between(b, foot, tip, 1 + 0.1 * i);
        hinge(b, lwt_ground, rod, foot, (const double[3]){0, 0, 1});
        hinge(b, rod, plate, tip, (const double[3]){0, 0, 1});
    }
    return lwt_model(b);
}

// Two four-bars in a row that move in the plane of the directions x, y; rods of different lengths.
static lw_model *plane_linkage(const double x[3], const double y[3], const double gravity[3])
{
    static const double foot[3][2] = {{0, 0}, {1.2, 0.1}, {2.3, 0}};
    static const double tip[3][2] = {{0.3, 1}, {1.5, 1.1}, {2.6, 0.9}};
    double at[3][2][3], axis[3];
    lw_body rod[3];
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){gravity[0], gravity[1], gravity[2]});
    v3_cross(axis, x, y);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            at[i][0][k] = foot[i][0] * x[k] + foot[i][1] * y[k];
            at[i][1][k] = tip[i][0] * x[k] + tip[i][1] * y[k];
        }
        rod[i] = between(b, at[i][0], at[i][1], 1 + 0.1 * i);
        hinge(b, lwt_ground, rod[i], at[i][0], axis);
    }
    for (int i = 1; i < 3; i++) {
        const lw_body bar = between(b, at[i - 1][1], at[i][1], 2 + i);
        hinge(b, rod[i - 1], bar, at[i - 1][1], axis);
        hinge(b, bar, rod[i], at[i][1], axis);
    }
    return lwt_model(b);
}

// ------------------------------------------------------------------------------------------ tests

// `dense` finds the components at the present position, the others at one without symmetries nearby.
static void same_reactions(const char *what, const lw_model *model, const lwi_snapshot *a,
                           const lwi_snapshot *b)
{
    double size = 0;
    for (int j = 0; j < model->njoint; j++)
        for (int i = 0; i < 6; i++) size = fmax(size, fabs(b->reaction[j][i]));
    for (int j = 0; j < model->njoint; j++) {
        if ((b->undetermined[j] & ~a->undetermined[j]) || a->unique[j] != b->unique[j])
            fail_msg("%s, joint %d: undetermined components %x, expected %x", what, j,
                     a->undetermined[j], b->undetermined[j]);
        for (int i = 0; i < 6; i++)
            if (!(fabs(a->reaction[j][i] - b->reaction[j][i]) <= 1e-10 * size))
                fail_msg("%s, joint %d, component %d: %.15g, expected %.15g (largest %.3g)", what,
                         j, i, a->reaction[j][i], b->reaction[j][i], size);
    }
}

// All formulations that can have redundant rows; destroys the model.
static void agrees_with_dense(const char *what, lw_model *model, int redundant)
{
    static const lwi_formulation *const other[] = {&lwi_formulation_dca, &lwi_formulation_hdca,
                                                   &lwi_formulation_rcr, &lwi_formulation_index3};
    lw_check check;
    lw_error error;
    lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
    if (check.redundant != redundant)
        fail_msg("%s: %d redundant rows, expected %d", what, check.redundant, redundant);
    lwt_run dense = lwt_run_start(model, DENSE);
    lwt_run_observe(&dense);
    for (int i = 0; i < LWI_COUNT(other); i++) {
        char text[80];
        lwt_run run = lwt_run_start(model, other[i]);
        lwt_run_observe(&run);
        snprintf(text, sizeof text, "%s, %s", what, other[i]->name);
        same_reactions(text, model, &run.now, &dense.now);
        lwt_run_end(&run);
    }
    lwt_run_end(&dense);
    lw_model_destroy(model);
}

static void nets_and_ladders_agree(void **state)
{
    static const lw_vec3 gravity[] = {{0, -9.81, 0}, {0, 0, -9.81}};
    (void)state;
    for (int g = 0; g < LWI_COUNT(gravity); g++) {
        agrees_with_dense("net 1", mechanism(LW_MECHANISM_NET, 1, 0.3, gravity[g]), 3);
        agrees_with_dense("net 2", mechanism(LW_MECHANISM_NET, 2, 0.3, gravity[g]), 12);
        agrees_with_dense("net 4", mechanism(LW_MECHANISM_NET, 4, 0.3, gravity[g]), 48);
        agrees_with_dense("ladder", mechanism(LW_MECHANISM_LADDER, 8, 0.3, gravity[g]), 16);
        agrees_with_dense("four-bars", mechanism(LW_MECHANISM_N_FOUR_BAR, 8, 0.3, gravity[g]), 24);
    }
}

static const double plane[][2][3] = {{{1, 0, 0}, {0, 1, 0}},
                                     {{0, 0, 1}, {1, 0, 0}},
                                     {{0, 1, 0}, {0, 0, 1}},
                                     {{0.6, 0.8, 0}, {0, 0, 1}}};
static const int axis_across[] = {2, 1, 0, -1};

// Across an axis of the world the matrix is two; across another direction it is not.  Forces in the plane alone, and any.
static void mechanisms_in_planes_agree(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(plane); i++) {
        const double *x = plane[i][0], *y = plane[i][1];
        const double in[3] = {x[0] - 9 * y[0], x[1] - 9 * y[1], x[2] - 9 * y[2]};
        char text[80];
        snprintf(text, sizeof text, "linkage in plane %d", i);
        agrees_with_dense(text, plane_linkage(x, y, in), 6);
        agrees_with_dense(text, plane_linkage(x, y, (const double[3]){3, -2, -9}), 6);
    }
}

// Which axis is found, and so whether blocks are of 3 x 3: results do not show it.
static int axis_of(lw_model *model)
{
    lwt_run run = lwt_run_start(model, &lwi_formulation_hdca);
    lwt_run_observe(&run);
    const int axis = lwi_min_norm_axis(lwi_hdca_system(run.work)->min_norm);
    lwt_run_end(&run);
    lw_model_destroy(model);
    return axis;
}

static void planes_across_axes_are_found(void **state)
{
    (void)state;
    const lw_vec3 gravity = {0.1, 0.2, -9.81};
    for (int i = 0; i < LWI_COUNT(plane); i++)
        assert_int_equal(axis_of(plane_linkage(plane[i][0], plane[i][1], plane[i][0])),
                         axis_across[i]);
    assert_int_equal(axis_of(mechanism(LW_MECHANISM_NET, 2, 0.3, gravity)), 2);
    assert_int_equal(axis_of(sarrus(1)), -1);
}

static void overconstrained_linkages_agree(void **state)
{
    (void)state;
    agrees_with_dense("Bricard", bricard(), 1);
    for (int high = 1; high <= 4; high++) agrees_with_dense("Sarrus", sarrus(high), high);
    agrees_with_dense("Bennett", bennett(), 3);
}

// A body with more hinges than parts of split bodies have.
static void bodies_with_many_joints_agree(void **state)
{
    (void)state;
    agrees_with_dense("table of 5", table(5), 15);
    agrees_with_dense("table of 20", table(20), 75);
}

// In a plane four-bar the force along the axes and the torques across them can be any.
static void components_are_those_of_the_axes(void **state)
{
    (void)state;
    lw_model *model = mechanism(LW_MECHANISM_N_FOUR_BAR, 1, 0.4, (lw_vec3){0, -9.81, 0});
    lwt_run run = lwt_run_start(model, &lwi_formulation_dca);
    lwt_run_observe(&run);
    for (int j = 0; j < model->njoint; j++) assert_int_equal(run.now.undetermined[j], 4 + 8 + 16);
    lwt_run_end(&run);
    lw_model_destroy(model);
}

// Largest change of a reaction, of the largest one, if the coordinates of the tree are off.
static double change(const lw_model *model, double off)
{
    lwt_run closed = lwt_run_start(model, &lwi_formulation_dca), open = closed;
    double size = 0, largest = 0;
    lwt_run_observe(&closed);
    open.x = lwt_vector(closed.work->layout.nx);
    memcpy(open.x, closed.x, (size_t)closed.work->layout.nx * sizeof *open.x);
    for (int i = 0; i < model->tree_nq; i++) open.x[i] += off * cos(3 * i + 1);
    lwi_arena_init(&open.arena, NULL);
    lwt_run_observe(&open);
    for (int j = 0; j < model->njoint; j++)
        for (int i = 0; i < 6; i++) {
            const double now = closed.now.reaction[j][i];
            size = fmax(size, fabs(now));
            largest = fmax(largest, fabs(now - open.now.reaction[j][i]));
        }
    lwi_arena_free(&open.arena);
    free(open.x);
    lwt_run_end(&closed);
    return largest / size;
}

// Drift of positions tilts redundant rows.  Up to 1e-6 reactions change in proportion to it: none of the tilt is taken
// for an independent row (at a = 1e-11 the Sarrus linkage changes 24 times as much as at 1e-7).
static void drift_changes_reactions_in_proportion(void **state)
{
    (void)state;
    lw_model *const model[] = {sarrus(1), bennett(), bricard(),
                               mechanism(LW_MECHANISM_LADDER, 4, 0.3, (lw_vec3){0.1, 0.2, -9.81})};
    for (int i = 0; i < LWI_COUNT(model); i++) {
        const double little = change(model[i], 1e-7), more = change(model[i], 1e-6);
        if (!(little < 1e-6 && fabs(more - 10 * little) < 0.01 * more))
            fail_msg("mechanism %d: reactions change by %g and %g", i, little, more);
        lw_model_destroy(model[i]);
    }
}

// The factorisation costs less than that of an evaluation, at every size.
static void costs_less_than_an_evaluation(void **state)
{
    (void)state;
    for (int n = 8; n <= 32; n *= 2) {
        lwi_arena arena;
        lwi_system s;
        lwi_min_norm *solver;
        lw_model *model = mechanism(LW_MECHANISM_NET, n, 0.3, (lw_vec3){0});
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_system_plan(model, LW_PLAN_AUTO, NULL, &arena, &s), LW_OK);
        assert_int_equal(lwi_min_norm_create(&s.plan.graph, true, &arena, &solver), LW_OK);
        if (!(lwi_min_norm_work(solver) < s.plan.work))
            fail_msg("net %d: %g multiplications, an evaluation %g", n, lwi_min_norm_work(solver),
                     s.plan.work);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// `rcr` runs on one thread: its solver is not divided for several, and takes fewer multiplications.  Rows of loops that
// clusters do not evaluate have the same reactions.
static void undivided_ones_cost_less(void **state)
{
    (void)state;
    lwi_arena arena;
    lwi_system s;
    lwi_min_norm *one, *several;
    lw_model *model = mechanism(LW_MECHANISM_LADDER, 520, 0.2, (lw_vec3){0.1, 0.2, -9.81});
    assert_true(model->nnode > LWI_MIN_NORM_SHARED);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_plan(model, LW_PLAN_AUTO, NULL, &arena, &s), LW_OK);
    assert_int_equal(lwi_min_norm_create(&s.plan.graph, false, &arena, &one), LW_OK);
    assert_int_equal(lwi_min_norm_create(&s.plan.graph, true, &arena, &several), LW_OK);
    if (!(lwi_min_norm_work(one) < 0.8 * lwi_min_norm_work(several)))
        fail_msg("%g multiplications, divided %g", lwi_min_norm_work(one),
                 lwi_min_norm_work(several));
    lwt_run by_rcr = lwt_run_start(model, &lwi_formulation_rcr);
    lwt_run by_dca = lwt_run_start(model, &lwi_formulation_dca);
    lwi_rcr_work *d = by_rcr.work->data;
    assert_non_null(d->reactions);
    d->clusters = NULL;
    lwt_run_observe(&by_rcr);
    lwt_run_observe(&by_dca);
    same_reactions("ladder", model, &by_rcr.now, &by_dca.now);
    lwt_run_end(&by_rcr);
    lwt_run_end(&by_dca);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// Changed or round-off; what is neither requires another vector.
static void components_between_are_unclear(void **state)
{
    (void)state;
    const double F[6] = {1e-7, -3, 0, 1e-11, -2e-8, 1e-16}, unclear[6] = {1, 0, 0, 0, 0, -1e-9};
    unsigned char undetermined = 0;
    assert_false(lwi_min_norm_mark(F, &undetermined));
    assert_int_equal(undetermined, 1 | 2 | 16);
    assert_true(lwi_min_norm_mark(unclear, &undetermined));
    assert_int_equal(undetermined, 1 | 2 | 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_between_are_unclear),
        cmocka_unit_test(nets_and_ladders_agree),
        cmocka_unit_test(mechanisms_in_planes_agree),
        cmocka_unit_test(planes_across_axes_are_found),
        cmocka_unit_test(overconstrained_linkages_agree),
        cmocka_unit_test(bodies_with_many_joints_agree),
        cmocka_unit_test(components_are_those_of_the_axes),
        cmocka_unit_test(drift_changes_reactions_in_proportion),
        cmocka_unit_test(costs_less_than_an_evaluation),
        cmocka_unit_test(undivided_ones_cost_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
