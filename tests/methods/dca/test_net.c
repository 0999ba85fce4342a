// test_net.c -- long paths between few bodies in segments, branches and loops: agree with the general elimination.
#include "methods/dca/net_checks.h"

#include "support/run.h"

// Errors were 1e-13 at most, of states and rates of size one in mechanisms of 300 bodies.
#define TOLERANCE 1e-11

static void check_tree(lwt_net *net)
{
    lw_model *model = lwt_model(net->builder);
    assert_true(lwt_has_net(model));
    lwt_net_check_rates(model, "hdca", "hdca", 0, true, true, TOLERANCE);
    lwt_net_check_rates(model, "dca", "dca", 0, true, true, TOLERANCE);
    lwt_net_check_rates(model, "dca", "aba", 0, true, true, TOLERANCE);
    if (model->tree_nq == model->tree_nv) // of free bodies hdca has the momenta in other axes
        lwt_net_check_rates(model, "hdca", "momenta", 0, true, true, TOLERANCE);
    lwt_net_check_observations(model, "hdca", 0, true, 1e-10);
    lwt_net_check_observations(model, "dca", 0, true, 1e-10);
    lw_model_destroy(model);
}

static bool has_redundant_rows(const lw_model *model)
{
    lwi_arena arena;
    lwi_system system;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &arena, &system), LW_OK);
    const bool redundant = system.generic_rank < system.nrow;
    lwi_arena_free(&arena);
    return redundant;
}

// At the start, which closes.
static void check_loops(lwt_net *net, bool segments)
{
    lw_model *model = lwt_model(net->builder);
    assert_true(lwt_has_net(model));
    lwt_net_check_rates(model, "hdca", "hdca", 0, false, segments, TOLERANCE);
    lwt_net_check_rates(model, "dca", "dca", 0, false, segments, TOLERANCE);
    const bool redundant = has_redundant_rows(model);
    const bool rows[2] = {lwt_net_check_observations(model, "hdca", 0, false, 1e-10),
                          lwt_net_check_observations(model, "dca", 0, false, 1e-10)};
    for (int i = 0; i < 2; i++) assert_int_equal(rows[i], !redundant); // in segments, too
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------- branches

static void branches_agree_with_the_elimination(void **state)
{
    (void)state;
    static const lw_joint_type base[] = {LW_JOINT_FREE, LW_JOINT_SPHERICAL, LW_JOINT_REVOLUTE,
                                         LW_JOINT_PRISMATIC, LW_JOINT_UNIVERSAL};
    const lw_vec3 origin = {1, 2, 3};
    for (int i = 0; i < LWI_COUNT(base); i++) {
        lwt_net net = lwt_net_begin((uint64_t)i);
        net.stiffness = i == 2 ? 3 : 0;
        net.rotor = i == 3 ? 0.4 : 0;
        const lw_body hub = lwt_net_hub(&net, lwt_ground, base[i], origin);
        lwt_net_branches(&net, hub, origin, 40 + i, 2, 3);
        check_tree(&net);
    }
}

/** With masses of 1 : 10^6 too: the second pass keeps digits (8). */
static void light_and_heavy_links(void **state)
{
    (void)state;
    const lw_vec3 origin = {0, 0, 0};
    lwt_net net = lwt_net_begin(9);
    net.ratio = 1e6;
    const lw_body hub = lwt_net_hub(&net, lwt_ground, LW_JOINT_REVOLUTE, origin);
    lwt_net_branches(&net, hub, origin, 50, 2, 3);
    lw_model *model = lwt_model(net.builder);
    assert_true(lwt_has_net(model));
    lwt_net_check_rates(model, "hdca", "momenta", 0, true, true, 1e-9);
    lwt_net_check_rates(model, "dca", "aba", 0, true, true, 1e-9);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------- loops

static void pinned_paths_agree_with_the_elimination(void **state)
{
    (void)state;
    static const lw_joint_type type[] = {LW_JOINT_SPHERICAL, LW_JOINT_REVOLUTE, LW_JOINT_UNIVERSAL};
    for (int i = 0; i < LWI_COUNT(type); i++) {
        const lw_vec3 end = {100, 3, 2};
        lwt_net net = lwt_net_begin((uint64_t)i);
        net.stiffness = i == 1 ? 2 : 0;
        const lw_body last = lwt_net_bar(&net, lwt_ground, 300, (lw_vec3){0, 0, 0}, end);
        lwt_net_close(&net, type[i], lwt_ground, last, end);
        check_loops(&net, true);
    }
}

// Largest torque of a reaction about the axis of its hinge, which has no spring; of the largest reaction.
static double torque_about_hinges(const lw_model *model, const lwi_snapshot *m)
{
    double size = 0, largest = 0;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const double *F2 = joint->R2, *F = m->reaction[j];
        double axis[3];
        for (int i = 0; i < 6; i++) size = fmax(size, fabs(F[i]));
        if (!lwi_joint_is_hinge(joint->type)) continue;
        m3_mul_v(axis, m->R[joint->body2], (const double[3]){F2[2], F2[5], F2[8]});
        largest = fmax(largest, fabs(v3_dot(axis, F + 3)));
    }
    return largest / size;
}

/** Masses of ratio 1e6: the round-off of the accelerations, 1e-9 of them, is corrected in reactions, with what it changes in
 *  the joints that close loops.  Hinges transmit no torque about their axes. */
static void reactions_of_heavy_and_light_links(void **state)
{
    (void)state;
    static const char *const formulation[] = {"hdca", "dca"};
    for (int i = 0; i < 6; i++) {
        const lw_vec3 end = {100, 3, 2};
        lwt_net net = lwt_net_begin((uint64_t)i);
        net.ratio = 1e6;
        if (i & 2) {
            lwt_net_ring(&net, false, 270);
        } else {
            const lw_body last = lwt_net_bar(&net, lwt_ground, 300, (lw_vec3){0, 0, 0}, end);
            lwt_net_close(&net, i & 4 ? LW_JOINT_REVOLUTE : LW_JOINT_SPHERICAL, lwt_ground, last,
                          end);
        }
        lw_model *model = lwt_model(net.builder);
        lwi_work *work = lwt_net_work(model, formulation[i & 1], 0, 1);
        double *x = lwt_net_state(model, work->layout.nx, false);
        lwi_snapshot m;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_false(has_redundant_rows(model)); // in segments
        lwt_observe(work, 0, x, NULL, &arena, &m);
        const double torque = torque_about_hinges(model, &m);
        if (!(torque < 1e-13)) fail_msg("mechanism %d: a torque of %g", i, torque);
        free(x);
        lwi_work_destroy(work);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

static void rings_agree_with_the_elimination(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        lwt_net net = lwt_net_begin((uint64_t)i);
        net.planar = i & 1;
        lwt_net_ring(&net, i & 2, 270);
        // impulses of the redundant rows of a plane ring that is free in space are those of the elimination
        check_loops(&net, !(net.planar && (i & 2)));
    }
}

/** In a row all poses are those of the tree, of hubs and of the last bodies of paths too. */
static void poses_of_rows_fit_those_of_neighbours(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        static const char *const formulation[] = {"hdca", "dca"};
        lwt_net net = lwt_net_begin(3);
        lwt_net_ring(&net, i, 270);
        lw_model *model = lwt_model(net.builder);
        lwi_snapshot m[2];
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        for (int f = 0; f < 2; f++) {
            lwi_work *work = lwt_net_work(model, formulation[f], 0, 1);
            double *x = lwt_net_state(model, work->layout.nx, false);
            lwt_observe(work, 0, x, NULL, &arena, &m[f]);
            free(x);
            lwi_work_destroy(work);
        }
        assert_memory_equal(m[0].r, m[1].r, (size_t)model->nbody * sizeof *m[0].r);
        assert_memory_equal(m[0].R, m[1].R, (size_t)model->nbody * sizeof *m[0].R);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

/** A hinge that closes a loop at the tips of paths takes no hubs: the ring has its first link, the mesh its knots. */
static void halves_of_cut_bars_have_no_hubs(void **state)
{
    (void)state;
    const lw_vec3 from = {0, 0, 0}, to = {100, 3, 2};
    for (int i = 0; i < 3; i++) {
        static const int nhub[] = {0, 1, 1}, npath[] = {2, 2, 2}, ntie[] = {1, 1, 1};
        lwt_net net = lwt_net_begin(2);
        if (i == 0)
            lwt_net_close(&net, LW_JOINT_REVOLUTE, lwt_ground,
                          lwt_net_bar(&net, lwt_ground, 300, from, to), to);
        else
            lwt_net_ring(&net, i == 2, 300);
        lw_model *model = lwt_model(net.builder);
        lwi_arena arena;
        lwi_net_plan *plan;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_net_plan_create(model, (lwi_net_choice){0}, &arena, &plan), LW_OK);
        assert_non_null(plan);
        assert_int_equal(plan->nhub, nhub[i]);
        assert_int_equal(plan->npath, npath[i]);
        assert_int_equal(plan->ntie, ntie[i]);
        for (int k = 0; k < plan->npath; k++) assert_int_equal(plan->path[k].tie, 0);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

/** A ring is cut at any joint: near the ground, in the middle, next to where it would be cut. */
static long cost_with(const lw_model *model, int length)
{
    lwi_net_plan *plan;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lwi_net_choice choice = {.length = length};
    assert_int_equal(lwi_net_plan_create(model, choice, &arena, &plan), LW_OK);
    assert_non_null(plan);
    const long cost = LWI_LANES * plan->body_at[plan->ngroup] + 12 * (plan->nsegment - plan->npath);
    lwi_arena_free(&arena);
    return cost;
}

/** No other length of segments near the common one leaves fewer places in groups and joins. */
static void lengths_of_segments_have_the_smallest_cost(void **state)
{
    (void)state;
    static const int bar[] = {45, 63, 70};
    for (int i = 0; i < LWI_COUNT(bar); i++) {
        lwt_net net = lwt_net_begin(5);
        lwt_net_meshes(&net, 2, 3, bar[i]);
        lw_model *model = lwt_model(net.builder);
        const long smallest = cost_with(model, 0);
        for (int length = 24; length <= 40; length++)
            assert_true(smallest <= cost_with(model, length));
        assert_true(smallest < cost_with(model, 24));
        lw_model_destroy(model);
    }
}

static void any_joint_may_close_a_ring(void **state)
{
    (void)state;
    static const int cut[] = {1, 2, 17, 40, 149, 150, 151, 200, 299, 300};
    for (int i = 0; i < LWI_COUNT(cut); i++) {
        lwt_net net = lwt_net_begin(4);
        net.cut = cut[i];
        net.stiffness = i & 1;
        lwt_net_ring(&net, false, 300);
        check_loops(&net, true);
    }
}

static void meshes_agree_with_the_elimination(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        lwt_net net = lwt_net_begin(3);
        net.stiffness = i;
        lwt_net_meshes(&net, 2, 2, 40 + 7 * i);
        check_loops(&net, true);
    }
}

// -------------------------------------------------------------------------------------------- bits

/** Bars with a ball at one end, or at both, between two bodies or a body and the ground. */
static void bars_on_balls_agree_with_the_elimination(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++)
        for (int ground = 0; ground < 2; ground++) {
            lwt_net net = lwt_net_begin(11);
            const lw_vec3 left = {0, 0, 0}, right = {40, 0, 0}, above = {40, 1, 0};
            const lw_body a = lwt_net_hub(&net, lwt_ground, LW_JOINT_UNIVERSAL, left);
            const lw_body b =
                ground ? lwt_ground : lwt_net_hub(&net, lwt_ground, LW_JOINT_UNIVERSAL, right);
            for (int i = 0; i < 4; i++) {
                const lw_vec3 from = {0, i, 0}, to = {40, i, 1};
                const lw_body first = both ? lwt_net_hub(&net, a, LW_JOINT_SPHERICAL, from) : a;
                lwt_net_close(&net, LW_JOINT_SPHERICAL, lwt_net_bar(&net, first, 70, from, to), b,
                              to);
            }
            lwt_net_bar(&net, a, 20, above, right);
            check_loops(&net, true);
        }
}

static void bits_are_those_of_any_lanes_and_threads(void **state)
{
    (void)state;
    static const int width[] = {1, 4, 8}, threads[] = {1, 2, 8};
    lwt_net net = lwt_net_begin(3);
    lwt_net_meshes(&net, 2, 3, 80);
    lw_model *model = lwt_model(net.builder);
    double *first = NULL, *out = NULL;
    for (int w = 0; w < LWI_COUNT(width); w++)
        for (int t = 0; t < LWI_COUNT(threads) && lwi_path_kernels_of(width[w]); t++) {
            lwi_work *work = lwt_net_work(model, "hdca", width[w], threads[t]);
            const int nx = work->layout.nx;
            double *x = lwt_net_state(model, nx, false);
            out = lwt_reals(nx);
            for (int i = 0; i < 2; i++)
                lwt_ok(work->formulation->rates(work, 0, x, NULL, out), &work->error);
            if (first && memcmp(first, out, (size_t)nx * sizeof *out) != 0)
                fail_msg("other bits with %d lanes and %d threads", width[w], threads[t]);
            if (!first)
                first = out;
            else
                free(out);
            free(x);
            lwi_work_destroy(work);
        }
    free(first);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------------- rows

// Rates at x, the last of: rates, a row, rates.
static void rates_around_row(lwi_work *work, const double *x, bool before, double *xdot)
{
    lwi_snapshot m;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    if (before) lwt_ok(work->formulation->rates(work, 0, x, NULL, xdot), &work->error);
    lwt_observe(work, 0, x, NULL, &arena, &m);
    lwt_ok(work->formulation->rates(work, 0, x, NULL, xdot), &work->error);
    lwi_arena_free(&arena);
}

/** An output row and the rates at its state take what the other has found: rates have the bits that they have without
 *  rows, also at the next state. */
static void rows_do_not_change_rates(void **state)
{
    (void)state;
    static const char *const formulation[] = {"hdca", "dca"};
    for (int i = 0; i < 8; i++) {
        const lw_vec3 end = {100, 3, 2};
        lwt_net net = lwt_net_begin((uint64_t)i);
        net.stiffness = i & 2;
        net.rotor = 0.1 * (i & 2);
        if (i & 4)
            lwt_net_bar(&net, lwt_ground, 300, (lw_vec3){0, 0, 0}, end);
        else
            lwt_net_ring(&net, false, 270);
        lw_model *model = lwt_model(net.builder);
        lwi_work *work[2];
        for (int k = 0; k < 2; k++) work[k] = lwt_net_work(model, formulation[i & 1], 0, 1);
        const int nx = work[0]->layout.nx;
        double *x = lwt_net_state(model, nx, false), *out[2] = {lwt_reals(nx), lwt_reals(nx)};
        for (int n = 0; n < 4; n++) {
            lwt_ok(work[0]->formulation->rates(work[0], 0, x, NULL, out[0]), &work[0]->error);
            rates_around_row(work[1], x, n & 1, out[1]);
            assert_memory_equal(out[0], out[1], (size_t)nx * sizeof *x);
            x[model->tree_nq + 7 * n] += 0.3; // the same coordinates
            if (n == 2) x[5] += 1e-3;
        }
        for (int k = 0; k < 2; k++) lwi_work_destroy(work[k]), free(out[k]);
        free(x);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------------------------- limits

/** An evaluation that segments decline has the general elimination's result or error. */
static void declined_states_are_decided_by_the_elimination(void **state)
{
    (void)state;
    static const double angle[] = {1e7, NAN, INFINITY};
    static const char *const formulation[] = {"hdca", "dca"};
    lwt_net net = lwt_net_begin(1);
    lwt_net_ring(&net, false, 260);
    lw_model *model = lwt_model(net.builder);
    assert_true(lwt_has_net(model));
    for (int f = 0; f < LWI_COUNT(formulation); f++)
        for (int i = 0; i < LWI_COUNT(angle); i++) {
            lwi_work *w[2];
            double *out[2];
            lw_status status[2];
            for (int k = 0; k < 2; k++) {
                w[k] = lwt_net_work(model, formulation[f], k ? LWI_NO_KERNEL : 0, 1);
                double *x = lwt_net_state(model, w[k]->layout.nx, false);
                out[k] = lwt_reals(w[k]->layout.nx);
                x[30] = angle[i];
                status[k] = w[k]->formulation->rates(w[k], 0, x, NULL, out[k]);
                free(x);
            }
            assert_int_equal(status[0], status[1]);
            assert_int_equal(status[0] == LW_OK, isfinite(angle[i]));
            assert_string_equal(w[0]->error.text, w[1]->error.text);
            if (status[0] == LW_OK)
                assert_memory_equal(out[0], out[1], (size_t)w[0]->layout.nx * sizeof(double));
            for (int k = 0; k < 2; k++) lwi_work_destroy(w[k]), free(out[k]);
        }
    lw_model_destroy(model);
}

/** Models with too few links in long paths have the general elimination. */
static void other_models_are_left_alone(void **state)
{
    (void)state;
    const lw_vec3 origin = {0, 0, 0};
    lwt_net net = lwt_net_begin(1);
    const lw_body hub = lwt_net_hub(&net, lwt_ground, LW_JOINT_FREE, origin);
    lwt_net_branches(&net, hub, origin, 12, 3, 3); // 39 branches of 12 to 14 links
    lw_model *model = lwt_model(net.builder);
    assert_true(model->nnode > 2 * LWI_PATH_MINIMUM - 64);
    assert_false(lwt_has_net(model));
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------------- runs

/** Energy is kept, also with impulses of loops in the momenta, and loops stay closed.  Of rk4 the error of steps of
 *  h is h^5. */
static void check_run(lwt_net *net, double h, double tolerance)
{
    lw_model *model = lwt_model(net->builder);
    assert_true(lwt_has_net(model));
    lwi_work *work = lwt_net_work(model, "hdca", 0, 1);
    lwt_run run = lwt_run_work(work, NULL);
    const int nx = work->layout.nx;
    double *k[4], *at = lwt_reals(nx), before, after;
    for (int s = 0; s < 4; s++) k[s] = lwt_reals(nx);
    uint64_t seed = 1;
    for (int i = 0; i < model->tree_nv; i++)
        run.x[model->tree_nq + i] += lwt_random(&seed, -0.1, 0.1);
    lwt_run_observe(&run);
    before = lwt_net_energy(model, &run.now);
    for (int i = 0; i < 40; i++) lwt_net_step(work, 0, h, run.x, k, at);
    lwt_run_observe(&run);
    after = lwt_net_energy(model, &run.now);
    double moved = 0, kinetic = 0;
    for (int b = 1; b < model->nbody; b++) {
        kinetic += 0.5 * model->body[b].mass * v3_dot(run.now.v[b], run.now.v[b]);
        for (int i = 0; i < 3; i++)
            moved = fmax(moved, fabs(run.now.r[b][i] - model->body[b].r0[i]));
    }
    if (getenv("LW_SHOW"))
        printf("energy %.9g -> %.9g, kinetic %.3g, moved %.2g m\n", before, after, kinetic, moved);
    if (!(fabs(after - before) <= tolerance * kinetic))
        fail_msg("energy %.12g -> %.12g, kinetic %.3g", before, after, kinetic);
    for (int s = 0; s < 4; s++) free(k[s]);
    free(at);
    lwt_run_end(&run);
    lw_model_destroy(model);
}

static void runs_keep_energy(void **state)
{
    (void)state;
    lwt_net net = lwt_net_begin(1);
    lwt_net_ring(&net, false, 260);
    check_run(&net, 2e-4, 1e-7);
    net = lwt_net_begin(2);
    lwt_net_ring(&net, true, 260);
    check_run(&net, 2e-4, 1e-7);
    net = lwt_net_begin(3);
    lwt_net_meshes(&net, 2, 1, 60);
    check_run(&net, 2e-4, 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_agree_with_the_elimination),
        cmocka_unit_test(light_and_heavy_links),
        cmocka_unit_test(pinned_paths_agree_with_the_elimination),
        cmocka_unit_test(rings_agree_with_the_elimination),
        cmocka_unit_test(reactions_of_heavy_and_light_links),
        cmocka_unit_test(poses_of_rows_fit_those_of_neighbours),
        cmocka_unit_test(halves_of_cut_bars_have_no_hubs),
        cmocka_unit_test(lengths_of_segments_have_the_smallest_cost),
        cmocka_unit_test(any_joint_may_close_a_ring),
        cmocka_unit_test(meshes_agree_with_the_elimination),
        cmocka_unit_test(bars_on_balls_agree_with_the_elimination),
        cmocka_unit_test(bits_are_those_of_any_lanes_and_threads),
        cmocka_unit_test(rows_do_not_change_rates),
        cmocka_unit_test(declined_states_are_decided_by_the_elimination),
        cmocka_unit_test(other_models_are_left_alone),
        cmocka_unit_test(runs_keep_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
