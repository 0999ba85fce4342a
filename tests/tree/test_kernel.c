// test_kernel.c -- the kernels against the generic recursion, and against themselves in other widths: all widths
// compute the same bits from the same bits.
#include "tree/chain_cases.h"
#include "tree/kernel_cases.h"
#include "support/rotors.h"
#include "tree/segments/cut.h"

enum {
    NTREES = 300,
    TREES =
        LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING // covered by the kernels
};

// ------------------------------------------------------------------------------------ evaluations

static bool has_kernel(const lw_model *model)
{
    lwi_arena arena;
    lwi_kernel_plan *plan;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_kernel_plan_create(model, &arena, &plan), LW_OK);
    const bool has = plan != NULL;
    lwi_arena_free(&arena);
    return has;
}

static double *state_of(const lwt_tree *c)
{
    double *x = lwt_reals(c->model->tree_nq + c->model->tree_nv + 1);
    memcpy(x, c->q, (size_t)c->model->tree_nq * sizeof *x);
    memcpy(x + c->model->tree_nq, c->v, (size_t)c->model->tree_nv * sizeof *x);
    return x;
}

// ------------------------------------------------------------------------------------------ trees

// Differences are rounding times the condition of small trees: 2e-14 have been observed.
static void trees_agree_with_the_generic_recursion_in_every_width(void **state)
{
    (void)state;
    int kernels = 0;
    LWT_FOR_TREES(c, NTREES, TREES)
    {
        if (!has_kernel(c.model)) continue; // a free joint inside, a reversed spherical one
        double *x = state_of(&c);
        kernels++;
        check_model(c.model, c.t, x, c.input, 1e-12, "seed", c.seed);
        free(x);
    }
    assert_true(kernels > NTREES / 4);
}

static void springs_and_dampers_on_joints_keep_the_kernel(void **state)
{
    (void)state;
    for (int n = 5; n < 50; n += 30) {
        lwt_chain c = lwt_chain_sprung(n, LWT_CHAIN_MIXED, 20);
        assert_true(c.model->nforce == n && has_kernel(c.model));
        check_model(c.model, 0, c.x, NULL, 1e-12, "sprung chain", (unsigned long long)n);
        lwt_chain_destroy(&c);
    }
}

static void rotors_keep_the_kernel(void **state)
{
    (void)state;
    int geared = 0;
    LWT_FOR_TREES(c, NTREES / 2, TREES)
    {
        if (!has_kernel(c.model)) continue;
        lw_model *model = lwt_with_rotors(c.model, c.seed);
        double *x = state_of(&c);
        assert_true(has_kernel(model));
        geared += model->nrotor > 0;
        check_model(model, c.t, x, c.input, 1e-12, "with rotors, seed", c.seed);
        for (int w = 0; w < LWI_COUNT(widths) && c.seed % 4 == 0; w++)
            if (lwi_kernels_of(widths[w])) check_batch(model, c.q, c.seed, widths[w]);
        free(x);
        lw_model_destroy(model);
    }
    assert_true(geared > NTREES / 8);
}

static void check_heavy(lwt_chain c, int k)
{
    lwi_description *desc = &c.model->desc;
    for (int j = 0; j < desc->njoint; j++)
        desc->joint[j].coordinate[0].rotor = (j % 2 ? 3 : 1) * pow(10, k);
    lw_model *model = lwt_with_rotors_of(c.model, desc);
    assert_true(has_kernel(model));
    check_model(model, 0, c.x, NULL, 1e-12, "rotors, power of ten", (unsigned long long)(k + 6));
    lw_model_destroy(model);
    lwt_chain_destroy(&c);
}

// Behind a high gear ratio a rotor is far heavier than the bodies it drives, and all bodies may be empty: three hinges
// that would be singular without rotors.
static void heavy_rotors_cost_no_digits(void **state)
{
    (void)state;
    for (int k = -6; k <= 9; k += 3) {
        check_heavy(lwt_chain_create(9, LWT_CHAIN_MIXED), k);
        check_heavy(lwt_chain_create(9, LWT_CHAIN_ACROSS), k);
        if (k >= 0) check_heavy(lwt_chain_gimbal(0), k);
    }
}

// Number of prescribed coordinates; -1: no kernel.
static int prescribed(const lw_model *model)
{
    lwi_arena arena;
    lwi_kernel *kernel;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_kernel_create_prescribed(model, 0, &arena, &kernel), LW_OK);
    const int count = kernel ? kernel->plan->ndrive : -1;
    lwi_arena_free(&arena);
    return count;
}

// Driven coordinates, moving mounts, springs between points and wrenches: rates and power.
static void prescribed_motions_and_forces_on_bodies_keep_the_kernel(void **state)
{
    (void)state;
    int driven = 0, forced = 0;
    LWT_FOR_TREES(c, NTREES, LWT_ALL & ~(unsigned)LWT_CUSTOM)
    {
        const int count = prescribed(c.model);
        if (count < 0) continue;
        double *x = state_of(&c);
        driven += count > 0;
        forced += (c.model->force_needs & LWI_NEEDS_POSE) != 0;
        check_model(c.model, c.t, x, c.input, 1e-11, "seed", c.seed);
        free(x);
    }
    if (driven < 40 || forced < 40) fail_msg("%d driven, %d with forces on bodies", driven, forced);
}

static void drives_mounts_and_custom_joints_have_none(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_DRIVES | LWT_MOUNTS | LWT_CUSTOM)
    {
        bool custom = false;
        for (int k = 0; k < c.model->nnode; k++)
            custom = custom || c.model->node[k].type->id == LW_JOINT_CUSTOM;
        if (custom || c.model->driven) assert_false(has_kernel(c.model));
    }
}

// ------------------------------------------------------------------------------------------ chains

// Relative differences grow with the condition of the mass matrix, which is up to 1e6 at 100 links of these chains and
// grows on; the generic recursion and the kernels have differed by 3e-12 at most (segments of 600 links).
static void long_chains_in_segments_agree_with_the_generic_recursion(void **state)
{
    enum { MIN = LWI_K_MIN_FOR_SEGMENTS };
    enum { EIGHT = LWI_MIN_FOR_EIGHT_SEGMENTS };
    static const int sizes[] = {31,        MIN - 1, MIN,       MIN + 1, MIN + 3,
                                EIGHT - 1, EIGHT,   EIGHT + 3, 600};
    (void)state;
    for (int i = 0; i < LWI_COUNT(sizes); i++)
        for (int shape = 0; shape < LWT_CHAIN_SHAPES; shape++) {
            lwt_chain c = lwt_chain_create(sizes[i], (lwt_chain_shape)shape);
            assert_true(has_kernel(c.model));
            check_model(c.model, 0, c.x, NULL, 1e-10, lwt_chain_name((lwt_chain_shape)shape),
                        (unsigned long long)sizes[i]);
            lwt_chain_destroy(&c);
        }
}

// Perpendicular, parallel and concurrent hinges have separate kernel variants: all of them are run, in one
// recursion and in segments.
static void every_shape_of_hinge_agrees_with_the_generic_recursion(void **state)
{
    (void)state;
    enum { MAX = (LWI_K_MIN_FOR_SEGMENTS + 11) / 12 };
    for (int n = 1; n <= MAX; n += MAX - 1) {
        lwi_arena arena;
        lwi_kernel_plan *plan;
        bool seen[(LWI_K_AXIS | LWI_K_ANY) + 1] = {false};
        lwt_chain c = lwt_chain_links(n);
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_kernel_plan_create(c.model, &arena, &plan), LW_OK);
        assert_int_equal(plan->segments, n > 1);
        for (int i = 0; i < plan->nstep; i++) seen[plan->step[i].shape] = true;
        assert_true(seen[LWI_K_PARALLEL] && seen[LWI_K_PARALLEL | LWI_K_APART] && seen[LWI_K_ANY]);
        for (int rest = 0; rest <= (LWI_K_APART | LWI_K_ALONG); rest += LWI_K_APART)
            assert_true(seen[LWI_K_SQUARE | rest]);
        check_model(c.model, 0, c.x, NULL, 1e-10, "links", (unsigned long long)n);
        lwi_arena_free(&arena);
        lwt_chain_destroy(&c);
    }
}

// Hinges with rotors are not cut into segments; the chains between them are.
static void rotors_beside_segments_agree(void **state)
{
    enum { N = LWI_K_MIN_FOR_SEGMENTS + 40 };
    (void)state;
    for (int shape = 0; shape < LWT_CHAIN_SHAPES; shape++) {
        lwt_chain c = lwt_chain_create(N, (lwt_chain_shape)shape);
        lwi_arena arena;
        lwi_kernel_plan *plan;
        const int driven[] = {0, 1, 5, N - 2, N - 1};
        for (int i = 0; i < LWI_COUNT(driven); i++)
            c.model->desc.joint[driven[i]].coordinate[0].rotor = 0.3;
        lw_model *model = lwt_with_rotors_of(c.model, &c.model->desc);
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_kernel_plan_create(model, &arena, &plan), LW_OK);
        assert_int_equal(plan->segments, 1);
        check_model(model, 0, c.x, NULL, 1e-10, "rotors and runs", (unsigned long long)shape);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
        lwt_chain_destroy(&c);
    }
}

// Segments of any length, some of padding alone: accelerations, speeds and rates of momenta.
static void short_segments_agree_with_one_recursion(void **state)
{
    (void)state;
    for (int n = 2; n <= 23; n += 3)
        for (int shape = 0; shape < LWT_CHAIN_SHAPES; shape++) {
            lwt_chain c = lwt_chain_create(n, (lwt_chain_shape)shape);
            double *out = lwt_reals(6 * n), max[3] = {0}, off[3] = {0};
            for (int segments = 0; segments <= LWI_LANES; segments += 4) {
                lwi_arena arena;
                lwi_kernel *kernel;
                double *a = segments ? out + 3 * n : out;
                lwi_arena_init(&arena, NULL);
                assert_int_equal(lwi_kernel_create_chosen(c.model, 0,
                                                          (lwi_k_choice){segments, 0, false, 0},
                                                          &arena, &kernel),
                                 LW_OK);
                assert_int_equal(kernel->plan->stage[0].segments, segments);
                assert_true(lwi_kernel_aba(kernel, c.x, c.x + n, NULL, a));
                assert_true(lwi_kernel_momenta(kernel, c.x, c.x + n, a + n, a + 2 * n));
                for (int i = 0; i < 3 * n; i++) {
                    max[i / n] = fmax(max[i / n], fabs(out[i]));
                    off[i / n] = fmax(off[i / n], fabs(a[i] - out[i]));
                }
                lwi_arena_free(&arena);
            }
            for (int k = 0; k < 3; k++)
                if (!(off[k] <= 1e-11 * (1 + max[k])))
                    fail_msg("%d hinges: runs are %.3g off", n, off[k] / (1 + max[k]));
            free(out);
            lwt_chain_destroy(&c);
        }
}

// Axes 1e-6 rad apart have a common normal a million links away.
static void nearly_parallel_axes_cost_no_digits(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        lwt_chain c = lwt_chain_tilted(12, pow(10, -k));
        assert_true(has_kernel(c.model));
        check_model(c.model, 0, c.x, NULL, 1e-12, "tilt 1e-", (unsigned long long)k);
        lwt_chain_destroy(&c);
    }
}

// ------------------------------------------------------------------------------------------- batch

static void instances_in_lanes_have_the_bits_of_single_ones(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, TREES)
    {
        if (!has_kernel(c.model)) continue;
        for (int w = 0; w < LWI_COUNT(widths); w++) {
            if (!lwi_kernels_of(widths[w])) continue;
            check_batch(c.model, c.q, c.seed, widths[w]);
        }
    }
}

// ------------------------------------------------------------------------------------------- rejected lanes

// If a kernel finds a badly conditioned pivot the generic recursion decides, with its bits and its
// messages.
static void check_fallback(const lw_model *model, const double *x)
{
    const int n = model->tree_nq + model->tree_nv + 1;
    double *a = lwt_reals(n), *b = lwt_reals(n);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_error expected, error;
        const lw_status status =
            try_rates(model, formulations[f], LWI_NO_KERNEL, 0, x, NULL, a, &expected);
        assert_int_equal(try_rates(model, formulations[f], 0, 0, x, NULL, b, &error), status);
        if (status == LW_OK)
            assert_memory_equal(a, b, (size_t)n * sizeof *a);
        else
            assert_string_equal(error.text, expected.text);
    }
    free(a);
    free(b);
}

static void the_generic_recursion_decides_near_singular_pivots(void **state)
{
    (void)state;
    const double extreme[] = {2e6, -1e15, NAN, INFINITY, -INFINITY, 1e300};
    lwt_chain c = lwt_chain_create(9, LWT_CHAIN_MIXED);
    for (int k = 0; k < LWI_COUNT(extreme); k++)
        for (int i = 0; i < 18; i += 5) {
            const double before = c.x[i];
            c.x[i] = extreme[k];
            if (i < 9 || !(fabs(extreme[k]) < 1e100)) check_fallback(c.model, c.x);
            c.x[i] = before;
        }
    lwt_chain_destroy(&c);
    for (double middle = 0; middle < 1e-9; middle = 10 * middle + 1e-12) { // singular to rounding
        c = lwt_chain_gimbal(middle);
        assert_true(has_kernel(c.model));
        check_fallback(c.model, c.x);
        lwt_chain_destroy(&c);
    }
}

// ------------------------------------------------------------------------------------------ sincos

// Error in units in the last place of the exact value.
static double ulps(double value, long double exact)
{
    int exponent;
    frexpl(exact, &exponent);
    if (exponent < -1021) exponent = -1021;
    return (double)(fabsl((long double)value - exact) / ldexpl(1, exponent - 53));
}

static void sine_and_cosine_are_within_one_unit(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double worst = 0;
    for (int i = 0; i < 60000; i++) {
        _Alignas(64) lwi_lanes angle, sine, cosine;
        for (int l = 0; l < LWI_LANES; l++) {
            const double size = pow(10, lwt_random(&seed, -9, 6));
            const double turns = floor(lwt_random(&seed, -6e5, 6e5));
            angle[l] = l % 2 ? size * lwt_random(&seed, -1, 1) // near and far
                             : turns * 1.57079632679489661923; // where one of them nearly vanishes
        }
        lwi_kernels_of(1)->sincos(angle, sine, cosine);
        for (int l = 0; l < LWI_LANES; l++) {
            worst = fmax(worst, ulps(sine[l], sinl(angle[l])));
            worst = fmax(worst, ulps(cosine[l], cosl(angle[l])));
        }
        for (int w = 1; w < LWI_COUNT(widths); w++) {
            _Alignas(64) lwi_lanes s, c;
            if (!lwi_kernels_of(widths[w])) continue;
            lwi_kernels_of(widths[w])->sincos(angle, s, c);
            assert_memory_equal(s, sine, sizeof s);
            assert_memory_equal(c, cosine, sizeof c);
        }
    }
    if (worst > 1) fail_msg("%.3f units in the last place off", worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_agree_with_the_generic_recursion_in_every_width),
        cmocka_unit_test(springs_and_dampers_on_joints_keep_the_kernel),
        cmocka_unit_test(rotors_keep_the_kernel),
        cmocka_unit_test(heavy_rotors_cost_no_digits),
        cmocka_unit_test(rotors_beside_segments_agree),
        cmocka_unit_test(prescribed_motions_and_forces_on_bodies_keep_the_kernel),
        cmocka_unit_test(drives_mounts_and_custom_joints_have_none),
        cmocka_unit_test(long_chains_in_segments_agree_with_the_generic_recursion),
        cmocka_unit_test(every_shape_of_hinge_agrees_with_the_generic_recursion),
        cmocka_unit_test(short_segments_agree_with_one_recursion),
        cmocka_unit_test(nearly_parallel_axes_cost_no_digits),
        cmocka_unit_test(instances_in_lanes_have_the_bits_of_single_ones),
        cmocka_unit_test(the_generic_recursion_decides_near_singular_pivots),
        cmocka_unit_test(sine_and_cosine_are_within_one_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
