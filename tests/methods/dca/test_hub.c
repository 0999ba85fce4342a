// test_hub.c -- bodies with many joints, which dca and hdca split: the motion is that of other formulations,
// ranks and unique reactions are those of the whole body, work is proportional to the number of joints.
#include "system/system.h"
#include "kinematics/observe.h"
#include "support/mechanism.h"
#include "support/random_model.h"

// ------------------------------------------------------------------------------------------ hubs

typedef enum feet { FREE, GROUND, RING } feet;

static const lw_joint_type kinds[] = {LW_JOINT_REVOLUTE, LW_JOINT_SPHERICAL, LW_JOINT_UNIVERSAL,
                                      LW_JOINT_CYLINDRICAL};

static void join(lw_builder *b, uint64_t *seed, lw_joint_type type, lw_body one, lw_body two,
                 lw_vec3 at, bool planar)
{
    const double h = planar ? 0 : lwt_random(seed, 0.3, 2.8), t = lwt_random(seed, -3, 3);
    const lw_vec3 axis = {sin(h) * cos(t), sin(h) * sin(t), cos(h)}, axis2 = {-sin(t), cos(t), 0};
    lwt_add(b,
            &(lw_joint_desc){
                .type = type, .body1 = one, .body2 = two, .at = at, .axis = axis, .axis2 = axis2});
}

// A hub on the ground, or floating, with legs of two links.  Their ends are free, or on the ground or on the
// next leg, so that loops close through the hub; in `planar` ones all axes are parallel: three rows of each
// loop depend.  Other axes are random, because a start with some symmetry is singular.
static lw_model *hub(uint64_t *seed, int legs, feet ends, bool floats, bool planar)
{
    lw_builder *b = lwt_builder();
    lw_body outer[300], middle;
    lw_builder_gravity(b, (lw_vec3){1, -9, 2});
    middle = lwt_body(b, &(lw_body_desc){.mass = lwt_random(seed, 0.2, 5),
                                         .inertia = {0.3, 0.4, 0.5, 0.02, 0, 0.01},
                                         .angular_velocity = {0, 0, floats ? 0.7 : 0}});
    if (!floats)
        lwt_add(b, &(lw_joint_desc){.type = planar ? LW_JOINT_REVOLUTE : LW_JOINT_SPHERICAL,
                                    .body2 = middle,
                                    .axis = {0, 0, 1}});
    for (int i = 0; i < legs; i++) {
        const double turn = 6.283185307179586 * (i + lwt_random(seed, -0.2, 0.2)) / legs;
        const double c = cos(turn), s = sin(turn), up = planar ? 0 : lwt_random(seed, -0.3, 0.3);
        const lw_vec3 root = {c, s, up}, knee = {1.5 * c - 0.2 * s, 1.5 * s + 0.2 * c, up},
                      foot = {2 * c, 2 * s, -up};
        const lw_joint_type type = planar ? LW_JOINT_REVOLUTE : kinds[i % 4];
        const lw_body inner = lwt_body(b, &(lw_body_desc){.mass = lwt_random(seed, 0.2, 2),
                                                          .inertia = {0.02, 0.03, 0.04, 0, 0, 0},
                                                          .pose.position = {1.2 * c, 1.2 * s, up}});
        outer[i] = lwt_body(b, &(lw_body_desc){.mass = lwt_random(seed, 0.2, 2),
                                               .inertia = {0.02, 0.03, 0.04, 0, 0, 0},
                                               .pose.position = {1.8 * c, 1.8 * s, 0}});
        join(b, seed, type, middle, inner, root, planar);
        join(b, seed, planar ? LW_JOINT_REVOLUTE : kinds[(i / 2) % 4], inner, outer[i], knee,
             planar);
        if (ends == GROUND)
            join(b, seed, planar ? LW_JOINT_REVOLUTE : kinds[(i / 3) % 4], lwt_ground, outer[i],
                 foot, planar);
        if (ends == RING && i > 0)
            join(b, seed, LW_JOINT_SPHERICAL, outer[i - 1], outer[i], foot, planar);
    }
    return lwt_model(b);
}

static int parts_of(const lw_model *model)
{
    lwi_arena arena;
    lwi_system s;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_plan(model, LW_PLAN_AUTO, NULL, &arena, &s), LW_OK);
    const int parts = s.split.npart;
    lwi_arena_free(&arena);
    return parts;
}

// ---------------------------------------------------------------------------------- at an instant

static lwi_snapshot observed(const lw_model *model, const lwi_formulation *formulation,
                             const lw_options *options, lwi_arena *arena)
{
    lwi_work *work;
    lwi_snapshot start, m;
    lw_error error;
    lwt_ok(lwi_work_create_options(model, formulation, NULL, 0, options, &work, &error), &error);
    double *x = lwt_vector(work->layout.nx);
    assert_int_equal(lwi_snapshot_create(model, arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    lwt_ok(formulation->enter(work, &start, x), &work->error);
    lwt_observe(work, 0, x, NULL, arena, &m);
    free(x);
    lwi_work_destroy(work);
    return m;
}

static void near_all(const char *what, const double *a, const double *b, int n, double tolerance)
{
    double size = 1;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * size))
            fail_msg("%s %d: %.17g, expected %.17g", what, i, a[i], b[i]);
}

// Accelerations, reactions (of minimum norm if not unique), and which are unique.
static void same(const char *what, const lw_model *model, const lwi_snapshot *a,
                 const lwi_snapshot *b, double tolerance)
{
    char text[100];
    snprintf(text, sizeof text, "%s: acceleration", what);
    near_all(text, a->a[0], b->a[0], 3 * model->nbody, tolerance);
    snprintf(text, sizeof text, "%s: angular acceleration", what);
    near_all(text, a->al[0], b->al[0], 3 * model->nbody, tolerance);
    snprintf(text, sizeof text, "%s: reaction", what);
    near_all(text, a->reaction[0], b->reaction[0], 6 * model->njoint, tolerance);
    for (int j = 0; j < model->njoint; j++)
        if (a->unique[j] != b->unique[j])
            fail_msg("%s: joint %d unique: %d", what, j, a->unique[j]);
}

// ----------------------------------------------------------------------------------------- tests

// 250 arms: the elimination with 42 parts agrees with the articulated bodies of trees.
static void stars_move_as_trees_do(void **state)
{
    (void)state;
    static const lwi_formulation *const methods[] = {&lwi_formulation_dca, &lwi_formulation_hdca};
    for (int floats = 0; floats < 2; floats++) {
        uint64_t seed = 4;
        lwi_arena arena;
        lw_model *model = hub(&seed, 250, FREE, floats, false);
        lwi_arena_init(&arena, NULL);
        assert_true(parts_of(model) >= 40);
        const lwi_snapshot aba = observed(model, &lwi_formulation_aba, NULL, &arena);
        for (int i = 0; i < 2; i++) {
            const lwi_snapshot m = observed(model, methods[i], NULL, &arena);
            same(methods[i]->name, model, &m, &aba, 1e-10);
        }
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// Loops through the parts of a hub, redundant ones among them, agree with absolute coordinates.
static void loops_through_parts_agree_with_dense(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 16; i++) {
        uint64_t seed = 10 + i;
        char what[60];
        lwi_arena arena;
        lw_model *model = hub(&seed, 13 + (int)(i % 5), i & 1 ? GROUND : RING, i & 2, i & 4);
        snprintf(what, sizeof what, "hub %d", (int)i);
        lwi_arena_init(&arena, NULL);
        assert_true(parts_of(model) >= 2);
        const lwi_snapshot dense = observed(model, &lwi_formulation_dense, NULL, &arena);
        const lwi_snapshot dca = observed(model, &lwi_formulation_dca, NULL, &arena);
        const lwi_snapshot hdca = observed(model, &lwi_formulation_hdca, NULL, &arena);
        same(what, model, &dca, &dense, 1e-9);
        same(what, model, &hdca, &dense, 1e-9);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// Rows, ranks and flags are those of the bodies before the split.
static void parts_change_no_rank(void **state)
{
    (void)state;
    int redundant = 0;
    for (uint64_t i = 0; i < 16; i++) {
        uint64_t seed = 10 + i;
        lwi_arena arena;
        lwi_system whole, split;
        lw_model *model = hub(&seed, 13 + (int)(i % 5), i & 1 ? GROUND : RING, i & 2, i & 4);
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_system_create_rotors(model, LW_PLAN_AUTO, false, &arena, &whole),
                         LW_OK);
        assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &arena, &split), LW_OK);
        assert_int_equal(whole.split.npart, 0);
        assert_true(split.split.npart > 0);
        assert_int_equal(split.nrow, whole.nrow);
        assert_int_equal(split.start_rank, whole.start_rank);
        assert_int_equal(split.generic_rank, whole.generic_rank);
        assert_int_equal(lwi_system_prepare_reactions(&whole, &arena), LW_OK);
        assert_int_equal(lwi_system_prepare_reactions(&split, &arena), LW_OK);
        assert_memory_equal(split.undetermined, whole.undetermined, (size_t)model->njoint);
        redundant += whole.nrow - whole.start_rank;
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
    assert_true(redundant > 100);
}

// Multiplications of a factorisation with `legs` legs.
static double work_of(int legs, feet ends, lw_plan kind)
{
    uint64_t seed = 1;
    lwi_arena arena;
    lwi_system s;
    lw_model *model = hub(&seed, legs, ends, false, false);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_plan(model, kind, NULL, &arena, &s), LW_OK);
    assert_int_equal(lwi_elim_create(&s.plan, &arena, &s.elim), LW_OK);
    const lwi_elim_counts n = lwi_elim_count(s.elim);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    return n.plain + n.closing + n.large + n.laned;
}

// Twice as many legs, twice the work: of dense fronts it would be eight times.
static void work_is_linear_in_the_legs(void **state)
{
    (void)state;
    for (int e = FREE; e <= RING; e++)
        for (int kind = LW_PLAN_AUTO; kind <= LW_PLAN_MIXED; kind++) {
            const double small = work_of(60, (feet)e, (lw_plan)kind),
                         some = work_of(120, (feet)e, (lw_plan)kind),
                         many = work_of(240, (feet)e, (lw_plan)kind);
            if (!(some < 2.3 * small && many < 2.3 * some))
                fail_msg("ends %d, plan %d: %g, %g, %g multiplications", e, kind, small, some,
                         many);
        }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (int e = FREE; e <= GROUND; e++) {
        uint64_t seed = 7;
        lwi_arena arena;
        lw_options options;
        lw_model *model = hub(&seed, 60, (feet)e, true, e == GROUND);
        lwi_arena_init(&arena, NULL);
        lw_options_default(&options);
        lwi_snapshot m[3];
        for (int i = 0; i < 3; i++) {
            options.threads = 1 + i;
            m[i] = observed(model, &lwi_formulation_dca, &options, &arena);
            assert_memory_equal(m[i].a, m[0].a, (size_t)model->nbody * sizeof *m->a);
            assert_memory_equal(m[i].reaction, m[0].reaction,
                                (size_t)model->njoint * sizeof *m->reaction);
        }
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// Lanes of 1, 4, 8: isomorphic legs are side by side.
static void widths_change_no_bit(void **state)
{
    (void)state;
    static const int widths[] = {1, 4, 8};
    uint64_t seed = 7;
    lwi_arena arena;
    lwi_system s;
    lw_error error;
    lw_model *model = hub(&seed, 60, FREE, true, true);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &arena, &s), LW_OK);
    double(*first)[6] = lwi_arena_push(&arena, (size_t)s.nbody, sizeof *first);
    for (int i = 0; i < LWI_COUNT(widths); i++) {
        if (!lwi_elim_lanes(s.elim, widths[i])) continue;
        lwi_system_forces(&s, 0, NULL);
        lwt_ok(lwi_system_accelerations(&s, 0, &s.loads, &error), &error);
        if (i == 0) memcpy(first, s.x, (size_t)s.nbody * sizeof *first);
        assert_memory_equal(first, s.x, (size_t)s.nbody * sizeof *first);
    }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// Parts have the same motion, and the reports of a run are about the mechanism.
static void checks_count_the_mechanism(void **state)
{
    (void)state;
    uint64_t seed = 3;
    lw_check check;
    lw_error error;
    lw_model *model = hub(&seed, 20, GROUND, true, true);
    lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
    // in the plane: 41 bodies, 60 hinges, of each leg's loop with the first two rows and one depend
    assert_int_equal(check.rows, 300);
    assert_int_equal(check.dof, 6 * 41 - check.rank);
    assert_int_equal(check.dof, 3 * 41 - 2 * 60);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_move_as_trees_do),
        cmocka_unit_test(loops_through_parts_agree_with_dense),
        cmocka_unit_test(parts_change_no_rank),
        cmocka_unit_test(work_is_linear_in_the_legs),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(widths_change_no_bit),
        cmocka_unit_test(checks_count_the_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
