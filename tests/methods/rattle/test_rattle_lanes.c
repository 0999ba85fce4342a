// test_rattle_lanes.c -- the kernels of rattle and gauss: the same bits in every width and for any number of threads, the
// results of the generic code; steps of equal length; joints far from the origin.
#include "methods/rattle/rattle_stepper.h"

#include "base/threads.h"
#include "integrate/integrator.h"
#include "support/given.h"

// Poses and momenta after some steps in lanes of a width.
static double *state_after(const lw_model *model, int width, double h, int steps, int *n)
{
    stepper s = stepper_begin(model, 2, width, "1");
    const lwi_rattle *d = s.work->data;
    *n = d->at_momentum + 6 * model->nnode;
    double *x = malloc((size_t)*n * sizeof *x);
    assert_non_null(x);
    stepper_advance(&s, h, steps);
    memcpy(x, s.x, (size_t)*n * sizeof *x);
    stepper_end(&s);
    return x;
}

static void check_widths(const lw_model *model, double h, int steps)
{
    static const int widths[] = {0, 4, 8, -1};
    int n;
    if (!lwi_rattle_kernels_of(1)) return; // no kernels on this processor
    double *one = state_after(model, 1, h, steps, &n);
    for (int i = 0; i < LWI_COUNT(widths); i++) {
        if (widths[i] >= 0 && !lwi_rattle_kernels_of(widths[i])) continue;
        double *other = state_after(model, widths[i], h, steps, &n);
        const double tolerance = widths[i] < 0 ? 1e-10 : 0;
        for (int k = 0; k < n; k++)
            if (!(fabs(one[k] - other[k]) <= tolerance * (1 + fabs(one[k]))))
                fail_msg("width %d, number %d: %.17g, expected %.17g", widths[i], k, other[k],
                         one[k]);
        free(other);
    }
    free(one);
}

static void widths_have_the_same_bits(void **state)
{
    (void)state;
    static const char *const models[] = {
        "linkwork: 1\ngenerate: {chain: {n: 21, seed: 3}}\n",
        "linkwork: 1\ngenerate: {chain: {n: 9, joint: spherical, qd: [0, 0, 40]}}\n",
        "linkwork: 1\ngenerate: {ladder: {n: 5, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}}\n"};
    for (int i = 0; i < LWI_COUNT(models); i++) {
        lw_model *model = lwt_yaml(models[i]);
        check_widths(model, i == 1 ? 0.01 : 1e-3, 20);
        lw_model_destroy(model);
    }
}

// The whole state, multipliers included, after some steps by 1, 2 and 8 threads.
static void check_threads(const char *text, double h, int steps)
{
    static const char *const threads[] = {"1", "2", "8"};
    lw_model *model = lwt_yaml(text);
    double *first = NULL;
    for (int i = 0; i < LWI_COUNT(threads); i++) {
        stepper s = stepper_begin(model, 2, 0, threads[i]);
        const lwi_rattle *d = s.work->data;
        const size_t bytes = (size_t)s.work->layout.nx * sizeof *s.x;
        assert_int_equal(d->system.pool != NULL, i > 0);
        stepper_advance(&s, h, steps);
        if (i > 0) assert_true(lwi_pool_rounds(d->system.pool) >= 8ul * (unsigned long)steps);
        if (i == 0) {
            first = malloc(bytes);
            assert_non_null(first);
            memcpy(first, s.x, bytes);
        }
        assert_memory_equal(s.x, first, bytes);
        stepper_end(&s);
    }
    free(first);
    lw_model_destroy(model);
}

static void threads_have_the_same_bits(void **state)
{
    (void)state;
    check_threads("linkwork: 1\ngenerate: {chain: {n: 900, seed: 1}}\n", 1e-4, 3);
    check_threads("linkwork: 1\ngenerate: {tree: {n: 1200, joint: universal, seed: 3}}\n", 1e-3, 3);
    check_threads("linkwork: 1\ngenerate: {ladder: {n: 300, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}}\n",
                  1e-3, 3);
    check_threads("linkwork: 1\ngenerate: {net: {n: 12, joint: revolute, qd: [0, 0, 1]}}\n", 1e-3,
                  3);
}

// -------------------------------------------------------------------------------------------- gauss

static lw_status rates(void *user, double t, const double *x, double *xdot)
{
    lwi_work *work = user;
    return work->formulation->rates(work, t, x, NULL, xdot);
}

// The state after some steps of gauss on momenta with kernels of a width.
static double *gauss_after(const lw_model *model, int lanes, double h, int steps, int *n)
{
    lwi_work *work;
    lw_error error;
    lwi_arena arena;
    lwi_snapshot start;
    lwi_integrator *gauss;
    double t = 0;
    lwt_ok(lwi_work_create_lanes(model, &lwi_formulation_momenta, NULL, lanes, &work, &error),
           &error);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    *n = work->layout.nx;
    double *x = calloc((size_t)*n, sizeof *x);
    assert_non_null(x);
    lwt_ok(work->formulation->enter(work, &start, x), &work->error);
    const lwi_problem problem = {
        .n = *n, .rates = rates, .user = work, .why = &work->error, .max_step = h, .order = 6};
    const lwi_integrator_type *type = lwi_integrator_find("gauss");
    lwt_ok(type->create(type, &problem, t, x, NULL, &gauss, &error), &error);
    lwt_ok(type->advance(gauss, &t, x, steps * h, steps * h, false, &error), &error);
    type->destroy(gauss);
    lwi_arena_free(&arena);
    lwi_work_destroy(work);
    return x;
}

static void gauss_has_the_same_bits_in_every_width(void **state)
{
    (void)state;
    static const char *const models[] = {
        "linkwork: 1\ngenerate: {chain: {n: 21, seed: 3}}\n",
        "linkwork: 1\ngenerate: {chain: {n: 9, joint: spherical, qd: [0, 0, 40]}}\n",
        "linkwork: 1\ngenerate: {tree: {n: 40, joint: universal, seed: 3}}\n"};
    for (int i = 0; i < LWI_COUNT(models) && lwi_rattle_kernels_of(1); i++) {
        lw_model *model = lwt_yaml(models[i]);
        int n;
        double *one = gauss_after(model, 1, 1e-3, 20, &n);
        for (int width = 4; width <= 8; width += 4) {
            if (!lwi_rattle_kernels_of(width)) continue;
            double *other = gauss_after(model, width, 1e-3, 20, &n);
            for (int k = 0; k < n; k++)
                if (one[k] != other[k])
                    fail_msg("model %d, width %d, number %d: %.17g, expected %.17g", i, width, k,
                             other[k], one[k]);
            free(other);
        }
        free(one);
        lw_model_destroy(model);
    }
}

// -------------------------------------------------------------------------------------------- steps

// Coefficients have another form for rotations by more than half a radian in a step.
static void rotations_solve_their_equation(void **state)
{
    (void)state;
    const lwi_rattle_kernels *kernels = lwi_rattle_kernels_of(0);
    const double h = 0.1;
    if (!kernels) return;
    for (int n = 0; n < 40; n++) {
        lwi_rattle_body body[LWI_LANES];
        double inverse[6] = {1 / 0.02, 1 / 0.05, 1 / 0.06, 0, 0, 0}, theta[LWI_LANES][3];
        for (int l = 0; l < LWI_LANES; l++) {
            const double size = 3.6 * (n * LWI_LANES + l + 1) / (40.0 * LWI_LANES);
            lwi_rattle_body *b = &body[l];
            *b = (lwi_rattle_body){.mass = 1, .J = {0.02, 0.05, 0.06}, .quat = {1}};
            v6_copy(b->mobility, inverse);
            m3_identity(b->R);
            for (int i = 0; i < 3; i++)
                b->Pi[i] = b->J[i] * size / h * (i == 0 ? 0.6 : i == 1 ? -0.64 : 0.48);
            double a[3];
            v3_scale(a, h, b->Pi);
            if (!lwi_rattle_rotation(b->J, inverse, a, theta[l])) theta[l][0] = NAN;
        }
        for (int l = 0; l < LWI_LANES; l += kernels->width) kernels->drift(&body[l], h, true);
        for (int l = 0; l < LWI_LANES; l++) {
            if (!isfinite(theta[l][0]) && !isfinite(body[l].theta[0])) continue; // more than pi
            double before[3], after[3];
            for (int i = 0; i < 3; i++) assert_true(fabs(theta[l][i] - body[l].theta[i]) < 1e-13);
            m3_mul_v(before, body[l].R, body[l].Pi);
            m3_mul_v(after, body[l].R1, body[l].Pi1);
            for (int i = 0; i < 3; i++) assert_true(fabs(after[i] - before[i]) < 1e-14);
        }
    }
}

// Steps are the same to the last bit, where rows are a multiple of them away.
static void steps_are_equal(void **state)
{
    (void)state;
    double count;
    for (int k = 1; k < 200000; k += 7) {
        assert_true(lwi_equal_step((k - 1) * 0.1, k * 0.1, 0.02, &count) == 0.02);
        assert_true(count == 5);
        const double h = lwi_equal_step((k - 1) * 0.05, k * 0.05, 0.02, &count);
        assert_true(count == 3 && fabs(h - 0.05 / 3) < 1e-11 * k);
    }
}

// A million metres from the origin, where a position rounds off 1e-10 m.
static void joints_far_away_are_closed(void **state)
{
    (void)state;
    lw_model *model;
    lw_error error;
    lwt_ok(lw_model_read(LW_SOURCE_DIR "/tests/models/structure/floating_loop.yaml", NULL, &model,
                         NULL, &error),
           &error);
    for (int width = -1; width <= 0; width++) {
        stepper s = stepper_begin(model, 2, width, "1");
        lwi_snapshot row;
        lwi_arena arena;
        double residual[3];
        for (int k = 0; k < model->nnode; k++)
            for (int i = 0; i < 3; i++) s.x[7 * k + i] += 1e6 / (i + 1);
        stepper_advance(&s, 0.05, 300);
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_snapshot_create(model, &arena, &row), LW_OK);
        lwt_ok(s.work->formulation->observe(s.work, 15, s.x, s.zeros, LW_OBSERVE_ENERGY, &row),
               &s.work->error);
        assert_true(s.work->formulation->residuals(s.work, LW_OBSERVE_ENERGY, residual));
        assert_true(residual[0] < 3e-15 && residual[1] < 3e-15);
        lwi_arena_free(&arena);
        stepper_end(&s);
    }
    lw_model_destroy(model);
}

// A four-bar on the ground, at X: positions of its joints round off more than its steps would.
static void loops_on_the_ground_far_away_converge(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "parameters: {X: 1}\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [X, 0.5, 0]}\n"
        "  b: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [X+1, 1.1, 0]}\n"
        "  c: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [X+2.1, 0.6, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, a], at: [X, 0, 0]}\n"
        "  B: {type: revolute, between: [a, b], at: [X, 1, 0]}\n"
        "  C: {type: revolute, between: [b, c], at: [X+2, 1.2, 0]}\n"
        "  D: {type: revolute, between: [ground, c], at: [X+2.2, 0, 0]}\n";
    const lw_options options = rattle_options(1e-3, 0.1, 0.1, 2);
    double near = 0;
    for (int far = 0; far < 2; far++) {
        lw_model *model;
        lw_error error;
        const char *const set[] = {far ? "X=131072" : "X=0"};
        const lw_read_desc desc = {.format = "yaml", .set = set, .nset = 1};
        lwt_ok(lw_model_parse(text, strlen(text), "far.yaml", &desc, &model, NULL, &error), &error);
        const track end = run(model, &options);
        if (far)
            assert_true(fabs(end.r[1][1] - near) < 1e-8);
        else
            near = end.r[1][1];
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_have_the_same_bits),
        cmocka_unit_test(threads_have_the_same_bits),
        cmocka_unit_test(gauss_has_the_same_bits_in_every_width),
        cmocka_unit_test(rotations_solve_their_equation),
        cmocka_unit_test(steps_are_equal),
        cmocka_unit_test(joints_far_away_are_closed),
        cmocka_unit_test(loops_on_the_ground_far_away_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
