// test_in_plane.c -- pivots of the rows within a plane, and ranks that follow from it, compared with those of all rows.
#include "support/given.h"
#include "support/mechanism.h"
#include "support/run.h"

#include "spatial/rotation.h"
#include "spatial/vec3.h"
#include "system/in_plane.h"

#include <string.h>

// What the elimination of all rows has at the motion of the system.
static double full_pivot(lwi_system *s, int *edge)
{
    lwi_system_rows(s, 0);
    lwi_system_geometric(s);
    assert_int_equal(lwi_elim_check_pivots(s->elim), LW_OK);
    const lwi_elim_pivot_info all = lwi_elim_pivots(s->elim);
    *edge = all.edge;
    return all.min;
}

// Displaces all bodies across the normal, and rotates them about it.
static void move_in_plane(lwi_system *s, const double normal[3], int seed, double size)
{
    memset(s->x, 0, (size_t)s->nbody * sizeof *s->x);
    for (int k = 0; k < s->model->nnode; k++) {
        double any[3], shift[3];
        for (int i = 0; i < 3; i++) any[i] = size * lwi_system_pseudorandom(4 * k + i, seed);
        v3_cross(shift, normal, any);
        v3_copy(s->x[k], shift);
        v3_scale(s->x[k] + 3, size * lwi_system_pseudorandom(4 * k + 3, seed), normal);
    }
    lwi_system_move(s, (const double(*)[6])s->x);
}

// The normal of the plane at the start; false: the mechanism does not move in one.
static bool begin(const lw_model *model, lwi_arena *arena, lwi_system *s, lwi_in_plane *p,
                  double normal[3])
{
    assert_int_equal(lwi_system_create_common(model, NULL, arena, s), LW_OK);
    assert_int_equal(lwi_in_plane_create(s, arena, p), LW_OK);
    assert_int_equal(lwi_in_plane_find_ranks(p, s, NULL, arena), LW_OK);
    if (!p->elim) return false;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        double R[9];
        if (joint->type->id != LW_JOINT_REVOLUTE) continue;
        m3_mul(R, s->R[joint->body1], joint->R1);
        v3_set(normal, R[2], R[5], R[8]);
        return true;
    }
    fail_msg("no joint rotates");
    return false;
}

// At some motions in the plane, on the constraints or not.  Returns at how many the smallest pivot is one within the plane.
static int agree(lwi_system *s, lwi_in_plane *p, const double normal[3])
{
    int within = 0;
    for (int seed = 0; seed < 20; seed++) {
        double pivot;
        int edge, of_all;
        lwi_system_start(s);
        move_in_plane(s, normal, seed, 0.05 * (seed + 1) * s->length);
        const double all = full_pivot(s, &of_all);
        p->across = 0; // far from the last motion
        assert_true(lwi_in_plane_pivot(p, s, 0, &pivot, &edge));
        if (!(fabs(pivot - all) <= 1e-9 * all))
            fail_msg("pivot %.17g of the plane, %.17g of all rows", pivot, all);
        if (lwi_elim_pivots(p->elim).min < p->across) assert_int_equal(edge, of_all), within++;
    }
    return within;
}

// Of a plane that no axis is normal to.
static const double n[3] = {1. / 3, -2. / 3, 2. / 3}, u[3] = {2. / 3, 2. / 3, 1. / 3},
                    v[3] = {-2. / 3, 1. / 3, 2. / 3};

static lw_vec3 in_world(double a, double b, double c)
{
    return (lw_vec3){a * u[0] + b * v[0] + c * n[0], a * u[1] + b * v[1] + c * n[1],
                     a * u[2] + b * v[2] + c * n[2]};
}

static lw_body add_body(lw_builder *b, double x, double y, double off)
{
    return lwt_body(b, &(lw_body_desc){.mass = 1,
                                       .inertia = {1, 1, 1},
                                       .pose = {.position = in_world(x, y, 0.5 + off)}});
}

// Axes of frames are in any direction of the plane, those of hinges to both sides of it.
static void add_joint(lw_builder *b, lw_joint_type type, lw_body body1, lw_body body2, double x,
                      double y, double angle, lw_signal motion)
{
    const lw_vec3 along = in_world(cos(angle), sin(angle), 0),
                  normal = in_world(0, 0, angle > 3 ? -1 : 1);
    const bool slides = type == LW_JOINT_PRISMATIC;
    lwt_add(b, &(lw_joint_desc){.type = type,
                                .body1 = body1,
                                .body2 = body2,
                                .at = in_world(x, y, 0.5),
                                .axis = slides ? along : normal,
                                .axis2 = slides ? normal : along,
                                .coordinate = {{.motion = motion}}});
}

static const lw_signal free_of_drives = {0};

// A row of uprights of any length with bars between them; the last one ends at a slider with `slides`.  The first one follows a
// drive with `driven`, and its mass centre is off the plane.
static lw_model *linkage(int loops, int seed, bool slides, bool driven, double off)
{
    lw_builder *b = lwt_builder();
    int k = 0;
    const lw_body ground = {0};
    lw_body last = ground;
    double at[2] = {0, 0};
#define ANY() lwi_system_pseudorandom(k++, seed)
    for (int i = 0; i <= loops; i++) {
        const bool slider = slides && i == loops;
        const double x = i + 0.4 * ANY(), y = 0.3 * ANY(),
                     top[2] = {x + 0.8 * ANY(), 1 + 0.6 * ANY()};
        const lw_body upright = add_body(b, 0.5 * (x + top[0]), 0.5 + 0.3 * ANY(), i ? 0 : off);
        lw_signal motion = free_of_drives;
        if (driven && i == 0)
            motion = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_RAMP, .rate = 1});
        add_joint(b, slider ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE, ground, upright, x, y,
                  3 + 6 * ANY(), motion);
        if (i > 0) {
            const lw_body bar = add_body(b, 0.5 * (at[0] + top[0]), at[1] + 0.1 * ANY(), 0);
            add_joint(b, LW_JOINT_REVOLUTE, last, bar, at[0], at[1], 3 + 6 * ANY(), free_of_drives);
            add_joint(b, LW_JOINT_REVOLUTE, bar, upright, top[0], top[1], 3 + 6 * ANY(),
                      free_of_drives);
        }
        last = upright;
        memcpy(at, top, sizeof at);
    }
#undef ANY
    return lwt_model(b);
}

// How many motions of a planar model have their pivot from the rows within the plane; the model is destroyed.
static int count_agreeing(lw_model *model)
{
    lwi_arena arena;
    lwi_system s;
    lwi_in_plane p;
    double normal[3];
    lwi_arena_init(&arena, NULL);
    assert_true(begin(model, &arena, &s, &p, normal));
    assert_true(p.plan.nrow < s.nrow / 2);
    const int within = agree(&s, &p, normal);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    return within;
}

static void pivots_of_planar_loops_are_those_of_all_rows(void **state)
{
    (void)state;
    int within = 0;
    for (int seed = 0; seed < 60; seed++)
        within += count_agreeing(linkage(1 + seed % 5, seed, seed % 3 == 0, seed % 4 == 0, 0));
    assert_true(within > 900);
}

// Compares the ranks of the nodes of the model's plan by all rows with those from the plane alone, and destroys the model.
// False: at its start the rows within are nearly dependent, so that all rows have been ranked.
static bool has_same_ranks(lw_model *model)
{
    lwi_arena arena;
    lwi_system s, all;
    lwi_in_plane p;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &arena, &all), LW_OK);
    assert_int_equal(lwi_system_create_common(model, NULL, &arena, &s), LW_OK);
    assert_int_equal(lwi_in_plane_create(&s, &arena, &p), LW_OK);
    assert_non_null(p.elim);
    assert_int_equal(lwi_in_plane_find_ranks(&p, &s, NULL, &arena), LW_OK);
    const int count = s.plan.nnode;
    int *rank = LWI_PUSH(&arena, int, count), *expected = LWI_PUSH(&arena, int, count);
    lwi_elim_get_ranks(s.elim, rank);
    lwi_elim_get_ranks(all.elim, expected);
    for (int k = 0; k < count; k++) assert_int_equal(rank[k], expected[k]);
    assert_int_equal(s.start_rank, all.start_rank);
    assert_int_equal(s.generic_rank, all.generic_rank);
    const bool from_plane = !s.generic_R; // no configuration was searched for
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    return from_plane;
}

static lw_model *mechanism(lw_mechanism kind, int count, int m, double q0)
{
    return lwt_generated((lw_mechanism_desc){.mechanism = kind, .n = count, .m = m, .q = {q0}});
}

// The smallest pivot is one within the plane in long rows, and where few loops are nearly flat.
static void rows_of_four_bars_and_nets_agree(void **state)
{
    (void)state;
    static const struct {
        lw_mechanism kind;
        int n, m;
        double q;
        int within; // at least
    } cases[] = {{LW_MECHANISM_N_FOUR_BAR, 1, 0, 0.3, 0},
                 {LW_MECHANISM_N_FOUR_BAR, 1, 0, 1.4, 15},
                 {LW_MECHANISM_N_FOUR_BAR, 60, 0, 0.3, 15},
                 {LW_MECHANISM_NET, 5, 5, 0.3, 0},
                 {LW_MECHANISM_NET, 5, 5, 1.4, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int within =
            count_agreeing(mechanism(cases[i].kind, cases[i].n, cases[i].m, cases[i].q));
        assert_true(within >= cases[i].within);
    }
}

static void ranks_of_nodes_are_those_of_all_rows(void **state)
{
    (void)state;
    int from_plane = 0;
    for (int seed = 0; seed < 60; seed++)
        from_plane += has_same_ranks(linkage(1 + seed % 9, seed, seed % 3 == 0, seed % 4 == 0, 0));
    assert_true(from_plane > 50);
    assert_true(has_same_ranks(mechanism(LW_MECHANISM_N_FOUR_BAR, 40, 0, 0.3)));
    assert_true(has_same_ranks(mechanism(LW_MECHANISM_NET, 5, 5, 1.1)));
    assert_false(has_same_ranks(mechanism(LW_MECHANISM_N_FOUR_BAR, 1, 0, 1.57)));
}

// Three cranks of one length under a bar.
static lw_model *cranks(void)
{
    lw_builder *b = lwt_builder();
    const lw_body ground = {0}, bar = add_body(b, 1, 1, 0);
    for (int i = 0; i < 3; i++) {
        const lw_body crank = add_body(b, i + 0.25, 0.5, 0);
        add_joint(b, LW_JOINT_REVOLUTE, ground, crank, i, 0, i, free_of_drives);
        add_joint(b, LW_JOINT_REVOLUTE, crank, bar, i + 0.5, 1, 0, free_of_drives);
    }
    return lwt_model(b);
}

// In space; with a mass centre off the plane, so that rows within it meet those across; with a crank too many.
static void others_have_none(void **state)
{
    (void)state;
    lw_model *const models[] = {mechanism(LW_MECHANISM_LADDER, 4, 0, 0.3),
                                linkage(3, 1, false, false, 1e-3), cranks()};
    for (int i = 0; i < 3; i++) {
        lwi_arena arena;
        lwi_system s;
        lwi_in_plane p;
        double normal[3], pivot;
        int edge;
        lwi_arena_init(&arena, NULL);
        assert_false(begin(models[i], &arena, &s, &p, normal));
        assert_false(lwi_in_plane_pivot(&p, &s, 0, &pivot, &edge));
        lwi_arena_free(&arena);
        lw_model_destroy(models[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pivots_of_planar_loops_are_those_of_all_rows),
        cmocka_unit_test(rows_of_four_bars_and_nets_agree),
        cmocka_unit_test(ranks_of_nodes_are_those_of_all_rows),
        cmocka_unit_test(others_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
