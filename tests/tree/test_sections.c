// test_sections.c -- large trees in sections (sections.c): subtrees side by side, on one thread or several, the trunk alone.
#include "tree/kernel_cases.h"

#include "base/threads.h"
#include "support/mechanism.h"

#include <float.h>

typedef struct growth {
    lw_builder *builder;
    uint64_t seed;
    int count;
} growth;

// A body on `parent`, at a random place, on a joint across that of the one before.
static lw_body grow(growth *g, lw_body parent, lw_joint_type type)
{
    lw_error error;
    lw_body body;
    const double half = g->count % 2 ? 0.5 : -0.4, out = lwt_random(&g->seed, 0.1, 0.2);
    const lw_quat axis = {cos(half), 0.6 * sin(half), 0.8 * sin(half), 0};
    const lw_body_desc desc = {.mass = lwt_random(&g->seed, 1, 2),
                               .inertia = {0.2, 0.25, 0.3, 0.02, 0.01, -0.03},
                               .com = {0.1, lwt_random(&g->seed, 0, 0.1), 0},
                               .pose = {.position = {out, 0, 0}},
                               .in = parent};
    assert_int_equal(lw_builder_add_body(g->builder, &desc, &body, &error), LW_OK);
    const lw_joint_desc joint = {.type = type,
                                 .body1 = parent,
                                 .body2 = body,
                                 .placement = LW_PLACED_FRAMES,
                                 .frame1 = {{out, 0, 0}, axis},
                                 .frame2 = {{0, 0, 0}, axis}};
    if (lw_builder_add_joint(g->builder, &joint, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    g->count++;
    return body;
}

static lw_body grow_chain(growth *g, lw_body parent, int length)
{
    for (int i = 0; i < length; i++) parent = grow(g, parent, LW_JOINT_REVOLUTE);
    return parent;
}

// On a trunk of six bodies: `arms` with fingers, each second one with another joint, `tails` of any lengths from
// `longest` down.
static lw_model *animal(lw_joint_type root, int arms, int tails, int longest)
{
    growth g = {.seed = 5};
    lw_error error;
    lw_model *model;
    assert_int_equal(lw_builder_create(NULL, &g.builder), LW_OK);
    lw_body trunk[6];
    for (int i = 0; i < LWI_COUNT(trunk); i++)
        trunk[i] = grow(&g, i ? trunk[i - 1] : (lw_body){0}, i ? LW_JOINT_REVOLUTE : root);
    for (int i = 0; i < arms; i++) {
        lw_body hand = grow_chain(&g, trunk[i % 3 + 1], 10);
        if (i % 2) hand = grow(&g, hand, i % 4 == 1 ? LW_JOINT_SPHERICAL : LW_JOINT_PRISMATIC);
        for (int k = 0; k < 5; k++) grow_chain(&g, hand, 3);
    }
    for (int i = 0; i < tails; i++) grow_chain(&g, trunk[5 - i % 3], longest - i);
    if (lw_model_create(g.builder, &model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(g.builder);
    return model;
}

static double *state_of(const lw_model *model, double size)
{
    uint64_t seed = 9;
    double *x = lwt_reals(model->tree_nq + model->tree_nv + 1);
    for (int i = 0; i < model->tree_nq + model->tree_nv; i++) x[i] = lwt_random(&seed, -size, size);
    for (int k = 0; k < model->nnode; k++) { // the length of a quaternion has no effect
        const lwi_node *node = &model->node[k];
        if (node->nq > node->nv) x[node->iq + node->nq - 4] = 1;
    }
    return x;
}

static lwi_kernel *kernel_of(const lw_model *model, int width, lwi_arena *arena)
{
    lwi_kernel *kernel;
    assert_int_equal(lwi_kernel_create(model, width, arena, &kernel), LW_OK);
    assert_non_null(kernel);
    return kernel;
}

// Steps and blocks are in one section each; a body and its parent are in one section, or the parent is in the trunk.
static void check_sections(const lwi_kernel_plan *plan)
{
    int *section = malloc((size_t)(plan->nblock * LWI_LANES) * sizeof *section), at = 0;
    for (int s = 0; s < plan->nsection; s++) {
        assert_int_equal(plan->section[s].first, at);
        at = plan->section[s].end;
        for (int k = plan->section[s].first; k < at; k++) {
            const lwi_k_step *step = &plan->step[k];
            const int block = step->slot / LWI_LANES;
            assert_true(block < plan->nsegment ||
                        (block >= plan->section[s].first_block[step->kind] &&
                         block < plan->section[s].end_block[step->kind]));
            section[step->slot] = s;
            if (step->parent >= 0)
                assert_true(section[step->parent] == 0 || section[step->parent] == s);
        }
    }
    assert_int_equal(at, plan->nstep);
    free(section);
}

static void small_trees_and_chains_are_one_section(void **state)
{
    (void)state;
    lw_model *const models[] = {animal(LW_JOINT_REVOLUTE, 20, 4, 20),
                                animal(LW_JOINT_REVOLUTE, 0, 1, 1500)};
    for (int i = 0; i < LWI_COUNT(models); i++) {
        lwi_arena arena;
        lwi_pool *pool;
        lw_error error;
        lwi_arena_init(&arena, NULL);
        lwi_kernel *kernel = kernel_of(models[i], 0, &arena);
        assert_int_equal(kernel->plan->nsection, 1);
        lwt_ok(lwi_kernel_threads(kernel, 8, &arena, &pool, &error), &error);
        assert_null(pool); // no thread is started
        lwi_arena_free(&arena);
        lw_model_destroy(models[i]);
    }
}

// Joints of all kinds; two tails are cut into segments.
static void subtrees_agree_with_the_generic_recursion_in_every_width(void **state)
{
    (void)state;
    static const lw_joint_type roots[] = {LW_JOINT_FREE, LW_JOINT_REVOLUTE, LW_JOINT_FIXED};
    for (int i = 0; i < LWI_COUNT(roots); i++) {
        lw_model *model = i == 1 ? animal(roots[i], 40, 2, 560) : animal(roots[i], 40, 10, 30);
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        const lwi_kernel_plan *plan = kernel_of(model, 0, &arena)->plan;
        assert_true(plan->nsection > 4 && (plan->segments > 0) == (i == 1));
        check_sections(plan);
        double *x = state_of(model, 0.2);
        check_model(model, 0, x, NULL, 1e-9, "root", (unsigned long long)i);
        free(x);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// Trees on the ground only: there is no trunk.
static void trees_on_the_ground_need_no_trunk(void **state)
{
    (void)state;
    growth g = {.seed = 5};
    lw_error error;
    lw_model *model;
    lwi_arena arena;
    assert_int_equal(lw_builder_create(NULL, &g.builder), LW_OK);
    for (int i = 0; i < 220; i++) grow_chain(&g, (lw_body){0}, 8);
    lwt_ok(lw_model_create(g.builder, &model, &error), &error);
    lw_builder_destroy(g.builder);
    lwi_arena_init(&arena, NULL);
    const lwi_kernel_plan *plan = kernel_of(model, 0, &arena)->plan;
    assert_true(plan->nsection > 1 && plan->section[0].first == plan->section[0].end);
    check_sections(plan);
    double *x = state_of(model, 0.2);
    check_model(model, 0, x, NULL, 1e-9, "ground", 0);
    free(x);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

static void instances_have_the_bits_of_single_trees(void **state)
{
    (void)state;
    lw_model *model = animal(LW_JOINT_REVOLUTE, 40, 10, 30);
    double *x = state_of(model, 0.2);
    for (int w = 0; w < LWI_COUNT(widths); w++)
        if (lwi_kernels_of(widths[w])) check_batch(model, x, 3, widths[w]);
    free(x);
    lw_model_destroy(model);
}

// Every thread has subtrees, none more than its share: if one did not work, its subtrees would have no rates.
static void all_threads_work(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 8};
    lw_model *model = animal(LW_JOINT_FREE, 60, 60, 40);
    const int nq = model->tree_nq, nv = model->tree_nv;
    double *x = state_of(model, 0.2), *alone = lwt_reals(3 * nv);
    for (int i = -1; i < LWI_COUNT(threads); i++) {
        lwi_arena arena;
        lwi_pool *pool;
        lw_error error;
        lwi_arena_init(&arena, NULL);
        lwi_kernel *kernel = kernel_of(model, 0, &arena);
        double *out = lwt_reals(3 * nv);
        const int parts = i < 0 ? 1 : threads[i];
        lwt_ok(lwi_kernel_threads(kernel, parts, &arena, &pool, &error), &error);
        for (int k = 0; k < 2; k++) {
            assert_true(lwi_kernel_aba(kernel, x, x + nq, NULL, out));
            assert_true(lwi_kernel_momenta(kernel, x, x + nq, out + nv, out + 2 * nv));
        }
        if (i < 0) {
            memcpy(alone, out, (size_t)(3 * nv) * sizeof *out);
        } else {
            assert_int_equal(lwi_pool_rounds(pool), 4);
            assert_int_equal(kernel->team->parts, parts);
            for (int part = 0; part < parts; part++) {
                assert_true(kernel->team->first[part + 1] > kernel->team->first[part]);
                assert_true(kernel->team->bodies[part] <=
                            kernel->plan->nstep / parts + kernel->plan->nstep / 16);
            }
            assert_memory_equal(out, alone, (size_t)(3 * nv) * sizeof *out);
        }
        lwi_pool_destroy(pool);
        lwi_arena_free(&arena);
        free(out);
    }
    free(x);
    free(alone);
    lw_model_destroy(model);
}

// The option `threads`: springs and dampers on some joints, rates of quaternions.
static void rates_have_the_same_bits_with_any_number_of_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 8};
    lw_model *model = animal(LW_JOINT_FREE, 40, 20, 30);
    double *x = state_of(model, 0.2);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        double *first = lwt_reals(model->tree_nq + model->tree_nv + 1);
        for (int i = 0; i < LWI_COUNT(threads); i++) {
            lwi_work *work;
            lw_error error;
            lw_options options;
            double *xdot = lwt_reals(model->tree_nq + model->tree_nv + 1);
            lw_options_default(&options);
            options.threads = threads[i];
            lwt_ok(
                lwi_work_create_options(model, formulations[f], NULL, 0, &options, &work, &error),
                &error);
            lwt_ok(formulations[f]->rates(work, 0, x, NULL, xdot), &work->error);
            if (i == 0) memcpy(first, xdot, (size_t)work->layout.nx * sizeof *xdot);
            assert_memory_equal(xdot, first, (size_t)work->layout.nx * sizeof *xdot);
            lwi_work_destroy(work);
            free(xdot);
        }
        free(first);
    }
    free(x);
    lw_model_destroy(model);
}

// What one thread cannot evaluate in its kernels is evaluated, and named, by the recursion.
static void a_pivot_of_zero_on_any_thread_is_reported(void **state)
{
    (void)state;
    lw_model *model = animal(LW_JOINT_REVOLUTE, 60, 60, 40);
    double *x = state_of(model, 0.2);
    lwi_work *work;
    lw_error error;
    lw_options options;
    double *xdot = lwt_reals(model->tree_nq + model->tree_nv + 1);
    lw_options_default(&options);
    options.threads = 3;
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lwt_ok(lwi_work_create_options(model, formulations[f], NULL, 0, &options, &work, &error),
               &error);
        for (int i = 6; i < model->tree_nq; i += model->tree_nq / 5) {
            const double before = x[i];
            x[i] = NAN;
            assert_int_equal(formulations[f]->rates(work, 0, x, NULL, xdot), LW_ERR_NOT_FINITE);
            x[i] = before;
            lwt_ok(formulations[f]->rates(work, 0, x, NULL, xdot), &work->error);
        }
        lwi_work_destroy(work);
    }
    free(x);
    free(xdot);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_trees_and_chains_are_one_section),
        cmocka_unit_test(subtrees_agree_with_the_generic_recursion_in_every_width),
        cmocka_unit_test(trees_on_the_ground_need_no_trunk),
        cmocka_unit_test(instances_have_the_bits_of_single_trees),
        cmocka_unit_test(all_threads_work),
        cmocka_unit_test(rates_have_the_same_bits_with_any_number_of_threads),
        cmocka_unit_test(a_pivot_of_zero_on_any_thread_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
