// test_index3_lanes.c -- steps of index3 in lanes against those of the scalar code.
//
// Both do every step of a run from the same state.  They are the same Newton steps up to the order of sums,
// so their results differ by round-off: of the state, and of the second differences 4/h^2 (r - r0).
#include "methods/index3/index3_lanes_cases.h"
#include "methods/index3/index3_row_cases.h"

#include "base/flush.h"
#include "elimination/assembled.h"
#include "elimination/lanes.h"
#include "support/given.h"
#include "support/run.h"

// n links of 1 m in random directions, with inertia in random axes.
static lw_model *curl(int n, lw_joint_type type, double J)
{
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    double at[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        const double a = 0.9 * i, c = 0.7 * sin(1.3 * i);
        const double u[3] = {cos(a) * cos(c), sin(c), sin(a) * cos(c)};
        const lw_body link = lwt_body(
            b, &(lw_body_desc){
                   .mass = 1 + 0.1 * (i % 3),
                   .inertia = {J, 1.5 * J, 1.2 * J, 0.1 * J, -0.2 * J, 0.05 * J},
                   .pose.position = {at[0] + u[0] / 2, at[1] + u[1] / 2, at[2] + u[2] / 2}});
        lw_joint_desc joint = {
            .type = type, .body1 = before, .body2 = link, .at = {at[0], at[1], at[2]}};
        if (type != LW_JOINT_SPHERICAL) joint.axis = (lw_vec3){sin(2.1 * i), cos(2.1 * i), 0.3};
        if (type == LW_JOINT_UNIVERSAL) joint.axis2 = (lw_vec3){cos(2.1 * i), -sin(2.1 * i), 0};
        lwt_add(b, &joint);
        v3_add(at, at, u);
        before = link;
    }
    return lwt_model(b);
}

// A body with its mass centre at (x, y, 0), in axes that are not principal.
static lw_body part(lw_builder *b, double x, double y)
{
    return lwt_body(b, &(lw_body_desc){.mass = 1.5,
                                       .inertia = {0.3, 0.4, 0.5, 0.02, -0.05, 0.03},
                                       .pose.position = {x, y, 0}});
}

static void chains(void **state)
{
    (void)state;
    compare("spherical", curl(37, LW_JOINT_SPHERICAL, 0.3), 0.005, 100, "iterations=4");
    compare("revolute", curl(70, LW_JOINT_REVOLUTE, 0.3), 0.005, 100, "iterations=4");
    compare("universal", curl(20, LW_JOINT_UNIVERSAL, 0.3), 0.005, 100, "iterations=4");
}

// Thin links rotate by more than a radian a step, and Newton does not converge.
static void steps_that_are_too_long(void **state)
{
    (void)state;
    compare("thin", curl(64, LW_JOINT_SPHERICAL, 0.02), 0.01, 250, "mode=real-time");
}

static void every_tangent(void **state)
{
    (void)state;
    static const char *const method[] = {"tangent=0", "tangent=1", "penalty=1e9"};
    for (int i = 0; i < LWI_COUNT(method); i++) {
        compare(method[i], curl(16, LW_JOINT_REVOLUTE, 0.3), 0.005, 50, method[i]);
        compare(method[i], curl(16, LW_JOINT_SPHERICAL, 0.3), 0.005, 50, method[i]);
    }
}

// Projections on the factors of the last iteration, and iterations on those of the first.  The scalar code has the rows
// of the factors where lanes have the current ones: the same after convergence.
static void factors_that_are_kept(void **state)
{
    (void)state;
    static const char *const method[] = {
        "iterations=5,projection=tangent", "iterations=5,projection=tangent,tangent=1",
        "newton=modified,iterations=40,tolerance=1e-14",
        "newton=modified,iterations=40,tolerance=1e-14,projection=tangent,tangent=1"};
    for (int i = 0; i < LWI_COUNT(method); i++) {
        compare(method[i], curl(19, LW_JOINT_REVOLUTE, 0.3), 0.005, 30, method[i]);
        compare(method[i], curl(37, LW_JOINT_SPHERICAL, 0.3), 0.005, 30, method[i]);
        compare(method[i], rhombus(0.6, 2), 0.005, 60, method[i]);
    }
}

// Redundant rows, blocks of two bodies that add up, the ground as second body.
static void loops(void **state)
{
    (void)state;
    compare("rhombus", rhombus(0.6, 2), 0.01, 200, "iterations=4");
    lw_builder *b = lwt_builder();
    const lw_body one = part(b, 0.5, 0), two = part(b, 1, -0.5);
    lwt_joint(b, LW_JOINT_UNIVERSAL, "a", one, lwt_ground, 0, 0);
    lwt_joint(b, LW_JOINT_SPHERICAL, "b", one, two, 1, 0);
    lwt_joint(b, LW_JOINT_SPHERICAL, "c", two, one, 1, -0.5);
    compare("two joints between two bodies", lwt_model(b), 0.01, 100, "iterations=4");
    compare("long row", row_of("ladder", 80), 0.01, 20, "iterations=4");
}

// All three types at one body, branches of a tree, a body without joints.
static void trees(void **state)
{
    (void)state;
    static const lw_joint_type type[] = {LW_JOINT_SPHERICAL, LW_JOINT_REVOLUTE, LW_JOINT_UNIVERSAL};
    lw_builder *b = lwt_builder();
    lw_body body[20];
    for (int i = 0; i < 20; i++) {
        body[i] = part(b, i, 0.3 * i);
        if (i != 7)
            lwt_joint(b, type[i % 3], NULL, i ? body[(i - 1) / 2] : lwt_ground, body[i], i, 0.1);
    }
    compare("tree", lwt_model(b), 0.005, 100, "iterations=4");
}

static void the_same_bits_for_any_width(void **state)
{
    (void)state;
    static const int length[] = {37, 70, 24, 20, 17, 12}; // the last ones leave most lanes empty
    for (int kind = 0; kind < LWI_COUNT(length); kind++) {
        const lw_joint_type type = kind ? LW_JOINT_REVOLUTE : LW_JOINT_SPHERICAL;
        lw_model *model = curl(length[kind], type, kind ? 0.3 : 0.02);
        pair p = pair_of(model, 0.01, "mode=real-time");
        const size_t bytes = (size_t)p.n * sizeof *p.lanes;
        static const int width[3] = {1, 4, 8};
        for (int w = 0; w < 3; w++) {
            double *x = w ? p.lanes : p.general;
            if (!lwi_index3_lanes_width(p.d->lanes, width[w])) continue; // not on this machine
            memcpy(x, p.sim->x, bytes);
            for (int i = 0; i < 50; i++) {
                const double t = 0.01 * i;
                lwt_ok(lwi_index3_step(p.sim->work, t, 0.01, x, NULL), &p.sim->work->error);
                assert_true(p.d->in_lanes);
            }
            assert_memory_equal(x, p.general, bytes);
        }
        done(&p, model);
    }
}

// In real time the end of an iteration and the beginning of the next are one pass; with an unreachable
// tolerance they are two.  Joins of segments, branches, blocks that are added to others.
static void the_same_bits_in_one_pass(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        lw_model *model = kind == 0   ? curl(67, LW_JOINT_REVOLUTE, 0.3)
                          : kind == 1 ? curl(70, LW_JOINT_SPHERICAL, 0.02)
                          : kind == 2 ? curl(40, LW_JOINT_UNIVERSAL, 0.3)
                                      : rhombus(0.6, 2);
        pair one = pair_of(model, 0.01, "mode=real-time");
        pair two = pair_of(model, 0.01, "mode=real-time");
        assert_true(one.d->method.tolerance == 0);
        two.d->method.tolerance = 1e-300;
        some_steps(&one, one.lanes, 0.01, 30);
        some_steps(&two, one.general, 0.01, 30);
        assert_memory_equal(one.lanes, one.general, (size_t)one.n * sizeof *one.lanes);
        free(two.general), free(two.lanes);
        lw_sim_destroy(two.sim);
        done(&one, model);
    }
}

static lw_model *generated(const char *what)
{
    char text[256];
    lw_model *model;
    lw_error error;
    snprintf(text, sizeof text, "linkwork: 1\ngenerate:\n  %s\n", what);
    lwt_ok(lw_model_parse(text, strlen(text), "generated", &(lw_read_desc){.format = "yaml"},
                          &model, NULL, &error),
           &error);
    return model;
}

// Enough links for several threads: chains, branches, loops in a row, a net of coupled loops.
static void the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    same_bits_of_threads(curl(1700, LW_JOINT_REVOLUTE, 0.3), "auto", 0.01, 3);
    same_bits_of_threads(generated("tree: {n: 3000, joint: universal, seed: 3}"), "auto", 0.002, 3);
    same_bits_of_threads(generated("n_four_bar: {n: 800, q: [0.3, 0, 0], qd: [1, 0, 0]}"),
                         "balanced", 0.002, 3);
    same_bits_of_threads(generated("ladder: {n: 500, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}"),
                         "balanced", 0.002, 3);
    same_bits_of_threads(generated("net: {n: 16, joint: revolute, qd: [0, 0, 1]}"), "auto", 0.002,
                         3);
}

// Each of eight threads has its share of the blocks, also of those that depend on several parts of the elimination.
static void no_thread_has_much_more_than_the_others(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    lw_model *model = generated("ladder: {n: 2000, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}");
    lw_options o = index3(0.002, 1, "1");
    lwt_set(&o, "index3", "mode=real-time");
    lwt_set(&o, "threads", "8");
    lwt_set(&o, "plan", "balanced");
    lw_sim *sim = lwt_sim(model, &o);
    const lwi_index3_lanes *s = ((const lwi_index3 *)sim->work->data)->lanes;
    int busiest = 0;
    assert_int_equal(s->parts, THREADS);
    for (int r = 0; r < s->nround; r++) {
        int largest = 0;
        for (int p = s->round[r]; p < s->round[r + 1]; p++)
            if (s->first[p + 1] - s->first[p] > largest) largest = s->first[p + 1] - s->first[p];
        busiest += largest;
    }
    assert_int_equal(s->first[s->round[s->nround]], s->nitem);
    assert_true(busiest <= s->nitem * (1.0 / THREADS + 0.06));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A net has elimination tasks that are too large for one thread, a ladder none; their bits are tested above.
static void all_threads_eliminate_large_tasks(void **state)
{
    (void)state;
    static const char *const what[] = {"net: {n: 16, joint: revolute, qd: [0, 0, 1]}",
                                       "ladder: {n: 500, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}"};
    for (int i = 0; i < LWI_COUNT(what); i++) {
        lw_model *model = generated(what[i]);
        lw_options o = index3(0.002, 1, "1");
        lwt_set(&o, "index3", "mode=real-time");
        lwt_set(&o, "threads", "3");
        lw_sim *sim = lwt_sim(model, &o);
        const lwi_index3_lanes *s = ((const lwi_index3 *)sim->work->data)->lanes;
        int together = 0;
        for (int r = 0; r < s->nround; r++) together += s->together[r];
        assert_int_equal(together > 0, i == 0);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Steps too short to be shared: threads are not even started.
static void no_threads_for_small_models(void **state)
{
    (void)state;
    static const char *const method[] = {"mode=real-time",
                                         "mode=real-time,coordinates=7,penalty=1e9"};
    lw_model *model = curl(128, LW_JOINT_SPHERICAL, 0.3);
    for (int i = 0; i < 2; i++) {
        lw_options o = index3(0.01, 1, "1");
        lwt_set(&o, "index3", method[i]);
        lwt_set(&o, "threads", "4");
        lw_sim *sim = lwt_sim(model, &o);
        const lwi_index3 *d = sim->work->data;
        assert_null(d->pool);
        lwt_ok(lw_sim_step(sim, 0.01), lw_sim_error(sim));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Motions that decay along a straight chain of 1024 links that begins to fall would end in subnormal numbers,
// which are slow.
static void numbers_that_are_too_small(void **state)
{
    (void)state;
    const uint64_t mode = lwi_flush_get(); // with flags of what has happened
    lw_model *model = chain(1024);
    pair p = pair_of(model, 0.01, "mode=real-time");
    some_steps(&p, p.general, 0.01, 3);
    for (int i = 0; i < p.n && LWI_FLUSH_MODE; i++)
        assert_int_not_equal(fpclassify(p.general[i]), FP_SUBNORMAL);
    assert_int_equal(lwi_flush_get() & LWI_FLUSH_MODE, mode & LWI_FLUSH_MODE);
    for (int width = 1; width <= 8; width *= 2) {
        if (!lwi_index3_lanes_width(p.d->lanes, width)) continue;
        some_steps(&p, p.lanes, 0.01, 3);
        assert_memory_equal(p.lanes, p.general, (size_t)p.n * sizeof *p.lanes);
    }
    done(&p, model);
}

static void what_is_not_for_lanes(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_joint_desc joint = {.type = LW_JOINT_REVOLUTE, .body2 = part(b, 1, 0)};
    joint.coordinate[0].rotor = 0.2;
    lwt_add(b, &joint);
    lw_model *model = lwt_model(b);
    pair p = pair_of(model, 0.01, "iterations=4");
    assert_null(p.d->lanes);
    done(&p, model);
    model = curl(16, LW_JOINT_SPHERICAL, 0.3);
    static const char *const method[] = {"projection=none", "coordinates=7", "stop=q+lambda"};
    for (int i = 0; i < LWI_COUNT(method); i++) {
        p = pair_of(model, 0.01, method[i]);
        assert_null(p.d->lanes);
        if (i + 1 < LWI_COUNT(method)) lw_sim_destroy(p.sim), free(p.general), free(p.lanes);
    }
    done(&p, model);
}

// Pivots that are not finite: the scalar code reports the error.
static void the_general_text_decides(void **state)
{
    (void)state;
    lw_model *model = curl(16, LW_JOINT_SPHERICAL, 0.3);
    pair p = pair_of(model, 0.01, "iterations=4");
    memcpy(p.general, p.sim->x, (size_t)p.n * sizeof *p.general);
    p.general[3] = NAN;
    assert_int_not_equal(lwi_index3_step(p.sim->work, 0, 0.01, p.general, NULL), LW_OK);
    assert_false(p.d->in_lanes);
    done(&p, model);
}

// What the busiest of several threads does of a matrix pass, as a multiple of an equal share.
static double busiest(lwi_elim *elim, int threads)
{
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const int n = lwi_elim_assembled_tasks(elim);
    int *part = LWI_PUSH(&arena, int, n), *stage = LWI_PUSH(&arena, int, n), count;
    int *at = LWI_PUSH(&arena, int, n);
    bool *together = LWI_PUSH(&arena, bool, n);
    double load[16] = {0}, largest = 0;
    assert_true(part && stage && at && together && threads <= LWI_COUNT(load));
    assert_int_equal(lwi_elim_assembled_parts(elim, threads, part, &arena), LW_OK);
    assert_int_equal(
        lwi_elim_assembled_stages(elim, threads, part, stage, at, together, &count, &arena), LW_OK);
    for (int u = 0; u < n; u++) {
        const double work = lwi_elim_task_work(elim, u, false);
        const bool shared = part[u] < 0 && together[u];
        for (int p = 0; p < threads && shared; p++) load[p] += work / threads;
        if (!shared) load[part[u] < 0 ? at[u] : part[u]] += work;
    }
    for (int p = 0; p < threads; p++) largest = fmax(largest, load[p]);
    lwi_arena_free(&arena);
    return largest * threads / lwi_elim_assembled_work(elim);
}

// Subtrees of a net are unequal: the first half of its bodies has much more than half of the work.
static void threads_have_equal_shares_of_nets(void **state)
{
    (void)state;
    lw_model *model =
        lwt_yaml("linkwork: 1\ngenerate: {net: {n: 24, m: 24, q: [0.3, 0, 0], qd: [0, 0, 1]}}\n");
    lwt_run r = lwt_run_start(model, &lwi_formulation_index3);
    const lwi_index3 *d = r.work->data;
    for (int threads = 2; threads <= 8; threads *= 2) {
        const double share = busiest(d->system.elim, threads);
        if (!(share >= 1 && share < 1.15))
            fail_msg("the busiest of %d threads has %.3f of its share", threads, share);
    }
    lwt_run_end(&r);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_equal_shares_of_nets),
        cmocka_unit_test(chains),
        cmocka_unit_test(steps_that_are_too_long),
        cmocka_unit_test(every_tangent),
        cmocka_unit_test(factors_that_are_kept),
        cmocka_unit_test(loops),
        cmocka_unit_test(trees),
        cmocka_unit_test(the_same_bits_for_any_width),
        cmocka_unit_test(the_same_bits_in_one_pass),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(no_thread_has_much_more_than_the_others),
        cmocka_unit_test(all_threads_eliminate_large_tasks),
        cmocka_unit_test(no_threads_for_small_models),
        cmocka_unit_test(numbers_that_are_too_small),
        cmocka_unit_test(what_is_not_for_lanes),
        cmocka_unit_test(the_general_text_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
