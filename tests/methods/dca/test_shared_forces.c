// test_shared_forces.c -- forces of a model on several threads: each has its part, the bits are those of one.
#include "methods/dca/hdca_cases.h"

#include "model/forces/shares.h"

enum { BODIES = 1280, MERGED = 100, GROUND = 10, PUSHED = 7 };

// A rod of 1 m on the joint, with a spring, damper, friction and an actuator on its coordinate.
static lw_body add_rod(lw_builder *b, int i, lw_body parent, double x, lw_signal sine)
{
    char name[24];
    snprintf(name, sizeof name, "rod%d", i);
    const lw_body rod = lwt_body(b, &(lw_body_desc){.name = name,
                                                    .mass = 1 + 0.1 * (i % 3),
                                                    .inertia = {0.01, 0.08, 0.07, 0, 0, 0},
                                                    .pose = {.position = {x + 0.5, 0, 0}}});
    snprintf(name, sizeof name, "hinge%d", i);
    lwt_add(b, &(lw_joint_desc){.name = name,
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = parent,
                                .body2 = rod,
                                .at = {x, 0, 0},
                                .axis = {0, i % 2 ? 0.3 : 0, 1},
                                .coordinate[0] = {.stiffness = 10,
                                                  .damping = 0.1,
                                                  .at = 0.01 * (i % 5),
                                                  .force = i % 3 ? (lw_signal){0} : sine,
                                                  .friction = {.viscous = 0.02 * (i % 2)}}});
    return rod;
}

// Springs to the body before, some to the ground, wrenches, and bodies merged with others that are pushed.
static void add_forces(lw_builder *b, int i, lw_body parent, lw_body rod, double x, lw_signal sine)
{
    const lw_vec3 above = {0, 0.1, 0}, push = {0.3, -1, 0.2};
    if (parent.index)
        lwt_spring(b, &(lw_spring_desc){.body1 = parent,
                                        .body2 = rod,
                                        .point1 = above,
                                        .point2 = above,
                                        .stiffness = 20,
                                        .damping = 0.2,
                                        .length = 0.98});
    if (i % GROUND == 0)
        lwt_spring(
            b, &(lw_spring_desc){
                   .body2 = rod, .point1 = {x, 1, 0.1 * (i % 4)}, .stiffness = 5, .damping = 0.1});
    if (i % PUSHED == 0)
        lwt_wrench(b, &(lw_wrench_desc){.body = rod, .point = above, .force = push, .scale = sine});
    if (i % MERGED) return;
    char name[24];
    snprintf(name, sizeof name, "load%d", i);
    const lw_body load = lwt_body(b, &(lw_body_desc){.name = name,
                                                     .mass = 0.1,
                                                     .inertia = {0.01, 0.01, 0.01, 0, 0, 0},
                                                     .pose = {.position = {x + 0.7, 0.1, 0}}});
    snprintf(name, sizeof name, "rigid%d", i);
    lwt_add(b, &(lw_joint_desc){.name = name,
                                .type = LW_JOINT_FIXED,
                                .body1 = rod,
                                .body2 = load,
                                .at = {x + 0.7, 0.1, 0}});
    lwt_wrench(b, &(lw_wrench_desc){.body = load, .force = push});
}

// `branches` chains of rods, all on the first rod; springs: also forces between bodies.
static lw_model *rods(int bodies, int branches, bool springs)
{
    lw_builder *b = lwt_builder();
    const lw_signal sine = lwt_function(
        b,
        &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 0.5, .omega = 3, .phase = 0.4});
    lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
    const lw_body trunk = add_rod(b, 0, lwt_ground, 0, sine);
    for (int k = 0, i = 1; k < branches; k++) {
        lw_body last = trunk;
        for (int n = 0; n < (bodies - 1) / branches; n++, i++) {
            const lw_body rod = add_rod(b, i, last, n + 1, sine);
            if (springs) add_forces(b, i, last, rod, n + 1, sine);
            last = rod;
        }
    }
    return lwt_model(b);
}

// Rates of formulations, or the state after their own step, a little away from the start.
static double *result(const lw_model *model, const lwi_formulation *formulation, int lanes,
                      int threads, int *n)
{
    lw_options options;
    lw_error error;
    lwi_work *work;
    lw_options_default(&options);
    options.threads = threads;
    lwt_ok(lwi_work_create_options(model, formulation, NULL, lanes, &options, &work, &error),
           &error);
    double *x = lwt_start(work), *xdot = lwt_vector(work->layout.nx);
    if (formulation->step) {
        lwt_ok(formulation->step(work, 0, 1e-3, x, NULL), &work->error);
        memcpy(xdot, x, (size_t)work->layout.nx * sizeof *x);
    } else {
        for (int i = 0; i < work->layout.nx; i++) x[i] += 1e-3 * (i % 7);
        lwt_ok(formulation->rates(work, 0.1, x, NULL, xdot), &work->error);
    }
    *n = work->layout.nx;
    lwi_work_destroy(work);
    free(x);
    return xdot;
}

static void check_bits(const lw_model *model, const lwi_formulation *formulation, int lanes)
{
    static const int threads[] = {2, 8};
    int n;
    double *one = result(model, formulation, lanes, 1, &n);
    for (int i = 0; i < LWI_COUNT(threads); i++) {
        double *all = result(model, formulation, lanes, threads[i], &n);
        for (int k = 0; k < n; k++)
            if (memcmp(&one[k], &all[k], sizeof *one))
                fail_msg("%s, lanes %d, %d threads: component %d is %.17g, with one thread %.17g",
                         formulation->name, lanes, threads[i], k, all[k], one[k]);
        free(all);
    }
    free(one);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (int springs = 0; springs < 2; springs++) {
        lw_model *chain = rods(BODIES, 1, springs), *tree = rods(BODIES, 8, springs);
        check_bits(chain, HDCA, 0);
        check_bits(chain, &lwi_formulation_dca, 0);
        check_bits(tree, HDCA, LWI_NO_KERNEL);
        check_bits(tree, &lwi_formulation_dca, LWI_NO_KERNEL);
        check_bits(tree, &lwi_formulation_aba, 0);
        check_bits(tree, &lwi_formulation_momenta, 0);
        check_bits(chain, &lwi_formulation_index3, 0);
        lw_model_destroy(chain);
        lw_model_destroy(tree);
    }
}

// Each force is counted once; no thread has much more than its part of them.
static void each_thread_has_its_part(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 8};
    lw_model *model = rods(BODIES, 8, true);
    for (int i = 0; i < LWI_COUNT(threads); i++) {
        lwi_force_shares *s;
        lwi_pool *pool;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_pool_create(threads[i], NULL, &pool, NULL), LW_OK);
        assert_int_equal(lwi_force_shares_create(model, pool, &arena, &s), LW_OK);
        assert_non_null(s);
        int counted = 0;
        for (int p = 0; p < threads[i]; p++) {
            const int own = s->first_force[p + 1] - s->first_force[p];
            assert_true(own > 0 && own <= model->nforce / threads[i] + 20);
            for (int k = s->first_force[p]; k < s->first_force[p + 1]; k++) counted += s->counts[k];
        }
        assert_int_equal(counted, model->nforce);
        lwi_pool_destroy(pool);
        lwi_arena_free(&arena);
    }
    lw_model_destroy(model);
}

static void small_models_wake_no_thread(void **state)
{
    (void)state;
    lw_model *model = rods(60, 1, true);
    lwi_force_shares *s;
    lwi_pool *pool;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_pool_create(4, NULL, &pool, NULL), LW_OK);
    assert_int_equal(lwi_force_shares_create(model, pool, &arena, &s), LW_OK);
    assert_null(s);
    lwi_pool_destroy(pool);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_its_part),
        cmocka_unit_test(small_models_wake_no_thread),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
