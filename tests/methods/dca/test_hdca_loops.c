// test_hdca_loops.c -- redundant and singular loops, plans and threads, inconsistent velocities, automatic
// choices.
#include "methods/dca/hdca_cases.h"
#include "methods/loop_cases.h"
#include "simulate/simulation.h"
#include "support/given.h"

// The motion after a number of small steps from the start.
typedef struct motion {
    lw_model *model;
    lwi_work *work;
    lwi_arena arena;
    double *x;
    lwi_snapshot now;
} motion;

static motion move(lw_model *model, const lw_options *options, double h, int steps)
{
    motion m = {.model = model};
    lw_error error;
    double t = 0;
    lwt_ok(lwi_work_create_options(model, HDCA, NULL, 0, options, &m.work, &error), &error);
    lwi_arena_init(&m.arena, NULL);
    m.x = lwt_start(m.work);
    lwt_integrate(m.work, &t, m.x, NULL, h, steps);
    lwt_observe(m.work, t, m.x, NULL, &m.arena, &m.now);
    return m;
}

static void end(motion *m)
{
    free(m->x);
    lwi_work_destroy(m->work);
    lwi_arena_free(&m->arena);
    lw_model_destroy(m->model);
}

// ----------------------------------------------------------------------------------- redundancy

static void same_bodies(const motion *a, const motion *b, double tolerance)
{
    for (int i = 1; i < a->model->nbody; i++)
        for (int k = 0; k < 3; k++) {
            lwt_near("position of body", i, a->now.r[i][k], b->now.r[i][k], tolerance);
            lwt_near("velocity of body", i, a->now.v[i][k], b->now.v[i][k], tolerance);
            lwt_near("rotation of body", i, a->now.w[i][k], b->now.w[i][k], tolerance);
            lwt_near("acceleration of body", i, a->now.a[i][k], b->now.a[i][k],
                     10 * tolerance * (1 + v3_norm(b->now.a[i])));
        }
}

// Four revolute joints, three redundant rows, and with a spherical and a cylindrical joint in place of two of
// them, none: the same motion.
static void four_bar_moves_as_one_without_redundancy(void **state)
{
    (void)state;
    motion a = move(lwt_loop(LWT_REVOLUTES), NULL, 2.5e-4, 4000);
    motion b = move(lwt_loop(LWT_SPATIAL), NULL, 2.5e-4, 4000);
    const lwi_system *system = lwi_hdca_system(a.work), *other = lwi_hdca_system(b.work);
    assert_int_equal(system->nrow, 20);
    assert_int_equal(system->generic_rank, 17);
    assert_int_equal(other->nrow, 17);
    assert_int_equal(other->generic_rank, 17);
    same_bodies(&a, &b, 1e-9);
    end(&a);
    end(&b);
}

static void link_to(double T[3][4], double turn, double length, double twist)
{
    const double c = cos(turn), s = sin(turn), ca = cos(twist), sa = sin(twist);
    const double A[3][4] = {
        {c, -s * ca, s * sa, length * c}, {s, c * ca, -c * sa, length * s}, {0, sa, ca, 0}};
    double B[3][4];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            B[i][j] = j == 3 ? T[i][3] : 0;
            for (int k = 0; k < 3; k++) B[i][j] += T[i][k] * A[k][j];
        }
    memcpy(T, B, sizeof B);
}

// Bennett's linkage: opposite links are equal, a / sin(alpha) = b / sin(beta), and the four
// revolutes move although twenty rows on three bodies say they do not; the rank is 17 on the motion
// only.
static lw_model *bennett(bool other)
{
    const double alpha = 0.5, beta = 1.1, a = 1, b = a * sin(beta) / sin(alpha), first = 0.9;
    const double second =
        2 * atan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(first / 2));
    const double turn[3] = {first, second, -first}, length[3] = {a, b, a},
                 twist[3] = {alpha, beta, alpha};
    double T[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    lw_builder *builder = lwt_builder();
    lw_builder_gravity(builder, (lw_vec3){3, -7, -5});
    lw_body before = lwt_ground;
    for (int i = 0; i < 3; i++) {
        const double at[3] = {T[0][3], T[1][3], T[2][3]}, z[3] = {T[0][2], T[1][2], T[2][2]};
        link_to(T, turn[i], length[i], twist[i]);
        const lw_body link = lwt_body(
            builder, &(lw_body_desc){.mass = 1 + i,
                                     .inertia = {0.2, 0.3, 0.4, 0, 0, 0},
                                     .pose.position = {(at[0] + T[0][3]) / 2, (at[1] + T[1][3]) / 2,
                                                       (at[2] + T[2][3]) / 2}});
        lwt_add(builder,
                &(lw_joint_desc){.type = other && i == 2 ? LW_JOINT_SPHERICAL : LW_JOINT_REVOLUTE,
                                 .body1 = before,
                                 .body2 = link,
                                 .at = {at[0], at[1], at[2]},
                                 .axis = {z[0], z[1], z[2]},
                                 .cut = LW_CUT_NEVER});
        before = link;
    }
    lwt_add(builder, &(lw_joint_desc){.type = other ? LW_JOINT_CYLINDRICAL : LW_JOINT_REVOLUTE,
                                      .body1 = before,
                                      .at = {T[0][3], T[1][3], T[2][3]},
                                      .axis = {T[0][2], T[1][2], T[2][2]},
                                      .cut = LW_CUT_PREFER});
    return lwt_model(builder);
}

static void bennett_moves_as_one_without_redundancy(void **state)
{
    (void)state;
    motion a = move(bennett(false), NULL, 2.5e-4, 4000),
           b = move(bennett(true), NULL, 2.5e-4, 4000);
    assert_int_equal(lwi_hdca_system(a.work)->nrow, 20);
    assert_int_equal(lwi_hdca_system(a.work)->generic_rank, 17);
    assert_int_equal(lwi_hdca_system(b.work)->generic_rank, 17);
    if (!(v3_norm(a.now.v[1]) > 0.5)) fail_msg("it does not move");
    same_bodies(&a, &b, 1e-9);
    end(&a);
    end(&b);
}

// Planar loops in space have redundant rows; in a random attitude they are so to round-off only.
static void planar_loops_move_the_same_in_any_attitude(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int which = 1; which <= 3; which++) {
        motion plane = move(lwt_case(which), NULL, 1e-3, 500);
        for (int copy = 0; copy < 3; copy++) {
            double Q[4] = {0};
            for (int i = 0; i < 4; i++) Q[i] = lwt_random(&seed, -1, 1);
            quat_normalize(Q, Q);
            motion rotated = move(lwt_case_rotated(which, Q), NULL, 1e-3, 500);
            for (int i = 0; i < plane.model->nv; i++) {
                lwt_near("coordinate", i, rotated.now.q[i], plane.now.q[i], 1e-9);
                lwt_near("speed", i, rotated.now.qd[i], plane.now.qd[i], 1e-9);
                lwt_near("acceleration", i, rotated.now.qdd[i], plane.now.qdd[i], 1e-8);
            }
            end(&rotated);
        }
        end(&plane);
    }
}

// ------------------------------------------------------------------------------ plans and threads

static void every_plan_has_the_same_motion_and_threads_the_same_bits(void **state)
{
    (void)state;
    static const char *const plan[] = {"comb", "balanced", "mixed"};
    for (int which = 1; which <= 3; which++) {
        motion one = move(lwt_case(which), NULL, 1e-3, 100);
        for (int k = 0; k < LWI_COUNT(plan); k++) {
            lw_options options;
            lw_options_default(&options);
            lwt_set(&options, "plan", plan[k]);
            motion alone = move(lwt_case(which), &options, 1e-3, 100);
            lwt_same(one.model, &alone.now, &one.now, 1e-11);
            for (int threads = 2; threads <= 5; threads += 3) {
                options.threads = threads;
                motion shared = move(lwt_case(which), &options, 1e-3, 100);
                assert_memory_equal(shared.x, alone.x,
                                    (size_t)alone.work->layout.nx * sizeof *alone.x);
                for (int i = 0; i < alone.model->nbody; i++)
                    assert_memory_equal(shared.now.a[i], alone.now.a[i], sizeof alone.now.a[i]);
                end(&shared);
            }
            end(&alone);
        }
        end(&one);
    }
}

// -------------------------------------------------------------------------- velocities that do not
// fit

static double kinetic_energy(const lw_model *model, double (*v)[3], double (*w)[3])
{
    double T = 0;
    for (int b = 1; b < model->nbody; b++) {
        double L[3];
        s3_mul_v(L, model->body[b].inertia, w[b]);
        T += 0.5 * (model->body[b].mass * v3_dot(v[b], v[b]) + v3_dot(L, w[b]));
    }
    return T;
}

// Consistent velocities are the nearest ones in kinetic energy: the removed and the remaining part are
// orthogonal in energy.  Momenta with impulses are not kept: p is that of the motion.
static void velocities_that_miss_a_loop_become_the_nearest_that_do_not(void **state)
{
    (void)state;
    lw_model *model = lwt_model_s(true);
    lwi_work *work = lwt_work(model, HDCA);
    lwi_arena arena;
    lwi_snapshot given, kept;
    lwi_totals system;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &given), LW_OK);
    lwi_snapshot_start(model, &given);
    uint64_t seed = 4;
    for (int i = 0; i < model->nv; i++) given.qd[i] = lwt_random(&seed, -1, 1);
    lwi_snapshot_from_joints(model, 0, &given); // those of the tree; the cut does not hold them
    double *x = lwt_vector(work->layout.nx);
    lwt_ok(HDCA->enter(work, &given, x), &work->error);
    lwt_observe(work, 0, x, NULL, &arena, &kept);
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &kept, &system);
    lwt_near("residual", 0, system.residual[1], 0, 1e-14);
    double v[4][3], w[4][3];
    for (int b = 1; b < 4; b++) {
        v3_sub(v[b], given.v[b], kept.v[b]);
        v3_sub(w[b], given.w[b], kept.w[b]);
    }
    const double all = kinetic_energy(model, given.v, given.w);
    const double away = kinetic_energy(model, v, w), stays = kinetic_energy(model, kept.v, kept.w);
    if (!(away > 0.01 * all)) fail_msg("the velocities did fit");
    lwt_near("energy", 0, away + stays, all, 1e-13 * all);
    double impulse[6], *xdot = lwt_vector(work->layout.nx);
    lwt_ok(HDCA->rates(work, 0, x, NULL, xdot), &work->error);
    lwt_impulse(work, 0, "cut", impulse);
    lwt_near("impulse", 0, v3_norm(impulse), 0, 1e-13);
    lwi_arena_free(&arena);
    lwi_work_destroy(work);
    lw_model_destroy(model);
    free(x);
    free(xdot);
}

// -------------------------------------------------------------------------------------------
// choices

static void a_coupler_without_mass_is_accepted(void **state)
{
    (void)state;
    for (int massless = 0; massless < 2; massless++) {
        lw_builder *b = lwt_builder();
        const lw_body A = lwt_rod(b, "A", 0, 0, 0, 1, 1),
                      B = lwt_rod(b, "B", 0, 1, 1, 1, massless ? 0 : 1),
                      C = lwt_rod(b, "C", 1, 0, 1, 1, 1);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, 0, 1);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j3", B, C, 1, 1);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j4", lwt_ground, C, 1, 0);
        lw_model *model = lwt_model(b);
        lw_options options;
        lw_error error;
        lw_sim *sim = NULL;
        lw_options_default(&options);
        lwt_set(&options, "formulation", "hdca");
        const lw_status status =
            lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error);
        lwt_ok(status, &error);
        assert_non_null(strstr(lw_sim_notice(sim), "kappa 1."));
        lwt_ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Along a row of loops the round-off of redundant directions must not grow: a hundred four-bars in
// positions that lost their pivots after seventeen, against coordinate reduction, which has none.
static void round_off_does_not_grow_along_a_row_of_loops(void **state)
{
    (void)state;
    static const char *const ways[3][2] = {{"rcr", "auto"}, {"hdca", "comb"}, {"dca", "comb"}};
    for (int sample = 0; sample < 3; sample++) {
        double qdd[3][2];
        for (int way = 0; way < 3; way++) {
            lw_model *model = lwt_generated((lw_mechanism_desc){
                .mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 100, .q = {0.2 * sample + 0.1}});
            lw_error error = {0};
            lw_options options;
            lw_sim *sim = NULL;
            const lw_observation *o = NULL;
            lw_options_default(&options);
            lwt_set(&options, "formulation", ways[way][0]);
            if (way) lwt_set(&options, "plan", ways[way][1]);
            lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o), &error);
            qdd[way][0] = o->qdd[0];
            qdd[way][1] = o->qdd[lw_model_nv(model) - 1];
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
        for (int way = 1; way < 3; way++)
            for (int k = 0; k < 2; k++) // 300 bodies, each some units in the last place
                lwt_near(ways[way][0], k, qdd[way][k], qdd[0][k], 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_bar_moves_as_one_without_redundancy),
        cmocka_unit_test(bennett_moves_as_one_without_redundancy),
        cmocka_unit_test(planar_loops_move_the_same_in_any_attitude),
        cmocka_unit_test(every_plan_has_the_same_motion_and_threads_the_same_bits),
        cmocka_unit_test(velocities_that_miss_a_loop_become_the_nearest_that_do_not),
        cmocka_unit_test(round_off_does_not_grow_along_a_row_of_loops),
        cmocka_unit_test(a_coupler_without_mass_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
