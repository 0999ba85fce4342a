// test_rcr_loops.c -- coordinate reduction of several loops: sharing a base, nested, coupled, in
// rows, redundant, over-constrained, near singular positions; the numbers of the specification.
#include "methods/rcr/rcr_cases.h"

#include "methods/dca/net_cases.h"

// From the start with other speeds of the first n joints; the last joints of loops follow.
static lwt_run run_with_speeds(const lw_model *model, const double *qd, int n)
{
    lwt_run r = {.model = model, .work = lwt_work(model, RCR)};
    lwi_rcr_work *d = r.work->data;
    lwi_snapshot start;
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_vector(r.work->layout.nx);
    assert_int_equal(lwi_snapshot_create(model, &r.arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    for (int i = 0; i < n; i++) start.qd[i] = qd[i];
    d->theta = 1e-3;
    lwt_ok(r.work->formulation->enter(r.work, &start, r.x), &r.work->error);
    return r;
}

// The same motion in absolute coordinates has the same accelerations, reactions and uniqueness.
static double agrees_with_dense(lwt_run *r, double tol)
{
    lwt_run_observe(r);
    lwt_run d = lwt_run_from(r->model, DENSE, &r->now);
    lwt_run_observe(&d);
    const double error = lwt_acceleration_error(r->model, &r->now, &d.now);
    lwt_near("accelerations of dense", 0, error, 0, tol);
    lwt_near("balance", 0, lwt_imbalance(r->model, NULL, &r->now), 0, 1e-9);
    for (int j = 0; j < r->model->njoint; j++) assert_int_equal(r->now.unique[j], d.now.unique[j]);
    for (int j = 0; j < r->model->njoint; j++)
        for (int i = 0; i < 6; i++)
            lwt_near("reaction", 10 * j + i, r->now.reaction[j][i], d.now.reaction[j][i],
                     1e3 * tol * (1 + fabs(d.now.reaction[j][i])));
    lwt_run_end(&d);
    return error;
}

// ------------------------------------------------------------------------------------ common base

// A five-bar with one closing leg, and with two of which one is redundant as a support.
static void legs_of_a_five_bar(void **state)
{
    static const double ud[2][2] = {{12.677362421, -29.808086372}, {12.776300401, -30.513230637}};
    static const double later[2][2] = {{2.363035, -2.151649}, {2.346690, -2.094690}};
    static const double u[2] = {0.5, -0.3};
    (void)state;
    for (int legs = 1; legs <= 2; legs++) {
        lw_model *model = lwt_five_bar(legs);
        lwt_run r = run_with_speeds(model, u, 2);
        lwt_run_observe(&r);
        assert_int_equal(lwt_rcr(&r)->e.ndependent, 2 * legs);
        const char *what[2][2] = {{"one leg: accelerations", "one leg: q at 0.25 s"},
                                  {"two legs: accelerations", "two legs: q at 0.25 s"}};
        lwt_numbers("13.4", what[legs - 1][0], 2, ud[legs - 1], r.now.qdd, 2e-7);
        agrees_with_dense(&r, 1e-11);
        lwt_integrate(r.work, &r.t, r.x, NULL, 0.0025, 100);
        lwt_run_observe(&r);
        lwt_numbers("13.4", what[legs - 1][1], 2, later[legs - 1], r.now.q, 2e-6);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

// A ladder of any length is the same pendulum; its loops share the ground.  Rank 4 of the 5 rows of each loop's
// revolute; the front does not grow.
static void ladders_are_one_pendulum(void **state)
{
    static const int clusters[] = {1, 2, 4, 8, 200};
    static const double ud[2] = {-4.148533911, 6.026640690};
    static const double q5[2] = {0.096497763, 0.606157956}, u5[2] = {-1.647889670, -0.891272498};
    (void)state;
    for (int i = 0; i < LWI_COUNT(clusters); i++) {
        lw_model *model = lwt_ladder(clusters[i]);
        lwt_run r = lwt_run_start(model, RCR);
        assert_int_equal(lwt_rcr(&r)->e.ndependent, model->tree_nv - 2);
        for (int k = 0; k < model->nnode; k++) assert_in_range(lwt_rcr(&r)->e.node[k].nbody, 0, 1);
        lwt_run_observe(&r);
        char what[60];
        snprintf(what, sizeof what, "ladder of %d: accelerations", clusters[i]);
        lwt_numbers("13.5", what, 2, ud, r.now.qdd, 1e-9 * (1 + clusters[i]));
        lwt_run_end(&r);
        if (clusters[i] < 100) {
            r = lwt_run_start(model, RCR);
            lwt_integrate(r.work, &r.t, r.x, NULL, 0.01, 500);
            lwt_run_observe(&r);
            double closure = 0;
            for (int k = 0; k < lwt_rcr(&r)->cut.m; k++)
                closure = fmax(closure, fabs(lwt_rcr(&r)->cut.phi[k]));
            snprintf(what, sizeof what, "ladder of %d: q at 5 s", clusters[i]);
            lwt_numbers("13.5", what, 2, q5, r.now.q, 2e-9);
            snprintf(what, sizeof what, "ladder of %d: u at 5 s", clusters[i]);
            lwt_numbers("13.5", what, 2, u5, r.now.qd, 2e-9);
            snprintf(what, sizeof what, "ladder of %d: closure at 5 s [m]", clusters[i]);
            lwt_error("13.5", what, 4e-15, closure, 25);
            lwt_run_end(&r);
        }
        lw_model_destroy(model);
    }
}

// -------------------------------------------------------------------------- nested, coupled, in
// rows

// A four-bar carried by the coupler of another.
static void loop_in_a_side_branch(void **state)
{
    static const double ud[8] = {-28.707079, 37.848066, -12.808143, 3.667156,
                                 -3.448489,  8.533979,  0.291546,   -5.377035};
    static const double u[8] = {4, 0, 0, 0, -3};
    (void)state;
    lw_builder *b = lwt_builder();
    lwt_four_bar outer = lwt_standard_bars();
    memset(outer.u, 0, sizeof outer.u);
    lwt_add_four_bar(b, lwt_ground, 0, 0, &outer);
    lwt_four_bar inner = {.l = {0.15, 0.4, 0.3, 0.35},
                          .m = {0.3, 0.5, 0.4},
                          .q = {0.8, -0.3651059251033287, -2.407306387701803, 1.9724123128051316}};
    lwt_add_four_bar(b, outer.bar[1], 0.2, 0.05, &inner);
    lw_model *model = lwt_model(b);
    lwt_run r = run_with_speeds(model, u, 8);
    lwt_run_observe(&r);
    assert_int_equal(lwt_rcr(&r)->e.ndependent, 4);
    double mine[8];
    for (int i = 0; i < 8; i += 4) lwt_rotated(4, r.now.qdd + i, mine + i);
    lwt_numbers("13.8b", "accelerations", 8, ud, mine, 1e-6);
    agrees_with_dense(&r, 1e-11);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Two loops with different bases and a common joint: not covered by the paper's method.
static void six_bar_with_coupled_loops(void **state)
{
    static const double u[7] = {2,           -2.029786003, -0.996546418, 1.026332422,
                                1.800064372, 0.215553728,  -1.019071682};
    static const double ud[7] = {-16.209476888, 19.548684974, 7.702791836, -11.041999922,
                                 -15.877737534, -0.396253804, 8.571199501};
    (void)state;
    lw_model *model = lwt_six_bar();
    lwt_run r = run_with_speeds(model, u, 1);
    lwt_run_observe(&r);
    assert_int_equal(lwt_rcr(&r)->e.ndependent, 4);
    double mine[7];
    lwt_rotated(4, r.now.qd, mine);
    lwt_rotated(3, r.now.qd + 4, mine + 4);
    lwt_numbers("13.8", "speeds", 7, u, mine, 2e-8);
    lwt_rotated(4, r.now.qdd, mine);
    lwt_rotated(3, r.now.qdd + 4, mine + 4);
    lwt_numbers("13.8", "accelerations", 7, ud, mine, 2e-7);
    agrees_with_dense(&r, 1e-11);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// A row of quadrilaterals, each on the top bar of the one before, pinned or floating.
static lw_model *row_of_clusters(int clusters, bool pinned)
{
    lw_builder *b = lwt_builder();
    lw_body base = lwt_ground;
    if (!pinned) base = lwt_bar(b, NULL, 0.5, 2);
    for (int i = 0; i < clusters; i++) {
        lwt_four_bar f = {
            .l = {0.4, 0.45, 0.5, 0.5}, .m = {1, 1.5, 0.7}, .q = {1.3 + 0.05 * (i % 3), 0, 0, 0}};
        // the open branch: the end of the rocker is on both circles
        const double x = 0.4 * cos(f.q[0]), y = 0.4 * sin(f.q[0]), dx = 0.5 - x, dy = -y;
        const double D = hypot(dx, dy), a = (0.45 * 0.45 - 0.25 + D * D) / (2 * D);
        const double h = sqrt(0.45 * 0.45 - a * a), ex = x + (a * dx - h * dy) / D,
                     ey = y + (a * dy + h * dx) / D;
        f.q[1] = atan2(ey - y, ex - x) - f.q[0];
        f.q[2] = atan2(-ey, 0.5 - ex) - f.q[0] - f.q[1];
        f.q[3] = -(f.q[0] + f.q[1] + f.q[2]);
        lwt_add_four_bar(b, base, 0, 0, &f);
        base = f.bar[1];
    }
    return lwt_model(b);
}

static void rows_of_clusters_without_a_common_base(void **state)
{
    double worst = 0;
    int widest = 0;
    (void)state;
    for (int clusters = 1; clusters <= 12; clusters += clusters < 4 ? 1 : 4)
        for (int pinned = 0; pinned < 2; pinned++) {
            lw_model *model = row_of_clusters(clusters, pinned);
            double u[64] = {0};
            for (int i = 0; i < clusters; i++) u[4 * i + (pinned ? 0 : 0)] = 0.3 + 0.1 * (i % 4);
            lwt_run r = run_with_speeds(model, u, 4 * clusters);
            assert_int_equal(lwt_rcr(&r)->e.ndependent, 2 * clusters);
            // a node's own speed and twelve of bodies at most
            for (int k = 0; k < model->nnode; k++) {
                assert_in_range(lwt_rcr(&r)->e.node[k].nbody, 0, 2);
                const lwi_rcr_front *front = &lwt_rcr(&r)->e.front[k];
                if (front->ny + 6 * lwt_rcr(&r)->e.node[k].nbody > widest)
                    widest = front->ny + 6 * lwt_rcr(&r)->e.node[k].nbody;
            }
            worst = fmax(worst, agrees_with_dense(&r, 1e-10));
            lwt_run_end(&r);
            lw_model_destroy(model);
        }
    char text[16];
    snprintf(text, sizeof text, "%d", widest);
    lwt_report("13.9", "rows of loops: largest front", "13", text);
    lwt_error("13.9", "rows of loops: accelerations off dense", 3e-13, worst, 300);
}

// ----------------------------------------------------------------------- redundant rows, singular

// Four revolutes with skew axes, in proportions that allow them to rotate: rank 3 of 6 rows.
static lw_model *bennett(void)
{
    const double theta[4] = {1, 2.771126414, -1, 3.512058893},
                 u[4] = {3, -1.290775632, -3, 1.290775632};
    const double a[2] = {0.5, 0.8}, alpha[2] = {0.6, asin(0.8 * sin(0.6) / 0.5)};
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    for (int i = 0; i < 4; i++) {
        const lw_body next = i < 3 ? lwt_bar(b, NULL, a[i % 2], 1 + 0.2 * i) : lwt_ground;
        const int link = (i + 3) % 4 % 2; // the transform before joint i, on the body before
        const double half = alpha[link] / 2;
        const bool first = i == 0;
        lwt_add(b,
                &(lw_joint_desc){
                    .type = LW_JOINT_REVOLUTE,
                    .body1 = before,
                    .body2 = next,
                    .placement = LW_PLACED_FRAMES,
                    .frame1 = {.position = {first ? 0 : a[link], 0, 0},
                               .orientation = {first ? 1 : cos(half), first ? 0 : sin(half), 0, 0}},
                    // the last: its frame on the ground, before the transform to the first axis
                    .frame2 = i < 3 ? (lw_pose){.position = {0}}
                                    : (lw_pose){.position = {-0.8, 0, 0},
                                                .orientation = {cos(alpha[1] / 2),
                                                                -sin(alpha[1] / 2), 0, 0}},
                    .has_q = 1,
                    .q = {lwt_wrapped(theta[i])},
                    .has_qd = 1,
                    .qd = {u[i]},
                    .cut = i < 3 ? LW_CUT_NEVER : LW_CUT_PREFER});
        before = next;
    }
    return lwt_model(b);
}

// The rank of an over-constrained loop is kept if positions are slightly off: a new rank decision there finds a fourth
// direction and stops the mechanism.
static void bennett_keeps_its_rank(void **state)
{
    static const double u[4] = {3, -1.290775632, -3, 1.290775632}, off[3] = {0.3, -0.5, 0.7};
    (void)state;
    lw_model *model = bennett();
    lwt_run r = lwt_run_start(model, RCR);
    assert_int_equal(lwt_rcr(&r)->e.ndependent, 2);
    double *xdot = lwt_vector(r.work->layout.nx);
    for (int k = 0; k < 3; k++) {
        const double epsilon = k ? pow(10, -6 - 2 * k) : 0;
        for (int i = 0; i < 3; i++) r.x[i] = model->tree_q0[i] + epsilon * off[i];
        lwt_ok(r.work->formulation->rates(r.work, 0, r.x, NULL, xdot), &r.work->error);
        const char *what[3] = {"speeds on the loop", "speeds 1e-8 off it", "speeds 1e-10 off it"};
        lwt_numbers("13.11", what[k], 3, u, xdot, 2e-8 + 20 * epsilon);
        assert_int_equal(lwt_rcr(&r)->e.ndependent, 2);
    }
    for (int i = 0; i < 3; i++) r.x[i] = model->tree_q0[i];
    agrees_with_dense(&r, 1e-9); // the start closes to nine decimals
    free(xdot);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

static lw_model *parallelogram(double theta)
{
    lw_builder *b = lwt_builder();
    lwt_four_bar f = {.l = {0.4, 0.8, 0.4, 0.8},
                      .m = {1, 2, 1},
                      .q = {theta, -theta, theta - 3.141592653589793, 3.141592653589793 - theta}};
    lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
    return lwt_model(b);
}

// Close to its flat position a parallelogram has a partition with a pivot of order one, while the last two joints have
// 6e-13; in the flat position the error reports it as singular.
static void flat_parallelogram(void **state)
{
    static const double u[3] = {1, 1, 1};
    (void)state;
    lw_model *model = parallelogram(1e-6);
    lwt_run r = lwt_run_start(model, RCR);
    assert_int_equal(lwt_rcr(&r)->e.ndependent, 2);
    const double pivot = lwt_rcr(&r)->e.min_pivot;
    // printed 0.348, or 0.71 as a column's part; here in another unit of length
    lwt_numbers("13.7", "pivot 1e-6 rad from flat", 1, (const double[]){0.348}, &pivot, 0.36);
    assert_true(pivot > 0.3);
    memcpy(r.x + 3, u, sizeof u); // not all of them are consistent
    lwt_run_observe(&r);
    lwt_near("velocity of rows", 0, lwt_rows_rate(&r), 0, 1e-15);
    lwt_report("13.7", "velocity closure there", "rounding", "below 1e-15");
    lwt_run_end(&r);
    lw_model_destroy(model);

    model = parallelogram(0);
    lwi_snapshot start;
    lwt_run flat = {.work = lwt_work(model, RCR)};
    lwi_arena_init(&flat.arena, NULL);
    flat.x = lwt_vector(flat.work->layout.nx);
    assert_int_equal(lwi_snapshot_create(model, &flat.arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    assert_int_equal(flat.work->formulation->enter(flat.work, &start, flat.x), LW_ERR_SINGULAR);
    assert_non_null(strstr(flat.work->error.text, "joint 'joint"));
    lwt_report("13.7", "flat", "rank 2, two speeds", "refused as singular, joints named");
    lwt_run_end(&flat);
    lw_model_destroy(model);
}

// In a long closed chain a speed with a pivot of half a unit may be far from the joint that closes it.  A
// smaller one nearby is taken before fronts grow: by three speeds for each body they would reach 43.
static void long_closed_chains_have_narrow_fronts(void **state)
{
    (void)state;
    lw_model *model =
        lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_LOOP, .n = 32, .joint = 2});
    lwt_run r = lwt_run_start(model, RCR);
    int widest = 0;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_rcr_front *f = &lwt_rcr(&r)->e.front[k];
        const int width = f->ny + 6 * lwt_rcr(&r)->e.node[k].nbody;
        if (width > widest) widest = width;
    }
    assert_in_range(widest, 15, 12 + LWI_RCR_WIDE + 6);
    assert_true(lwt_rcr(&r)->e.min_pivot >= LWI_RCR_KEEP);
    agrees_with_dense(&r, 1e-10);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Memory of the elimination of a ring of n rods with hinges in all directions; accelerations are those of `dca`.
static double memory_of_ring(int n)
{
    lwt_net net = lwt_net_begin(1);
    lwt_net_ring(&net, false, n);
    lw_model *model = lwt_model(net.builder);
    lwt_run r = lwt_run_start(model, RCR);
    lwt_run_observe(&r);
    lwt_run d = lwt_run_from(model, &lwi_formulation_dca, &r.now);
    lwt_run_observe(&d);
    lwt_near("accelerations of dca", n, lwt_acceleration_error(model, &r.now, &d.now), 0, 1e-8);
    const double room = (double)lwt_rcr(&r)->e.room;
    lwt_run_end(&d);
    lwt_run_end(&r);
    lw_model_destroy(model);
    return room;
}

// Near the joint that closes a long ring all pivots are small compared with the ring.  If speeds waited for larger
// ones, fronts would grow with every rod, and memory with the cube of their number.
static void memory_of_rings_grows_linearly(void **state)
{
    (void)state;
    const double small = memory_of_ring(100), large = memory_of_ring(800);
    assert_true(large < 1.2 * 8 * small);
}

// A platform on n legs of a universal joint, a slide and a ball.
static lw_model *platform(int n)
{
    lw_builder *b = lwt_builder();
    const lw_body top = lwt_body(
        b, &(lw_body_desc){.mass = 10, .inertia = {1, 1, 2, 0, 0, 0}, .pose.position = {0, 0, 1}});
    for (int i = 0; i < n; i++) {
        const double turn = 6.283185307179586 * i / n, c = cos(turn), s = sin(turn);
        lw_body rod[2];
        for (int k = 0; k < 2; k++)
            rod[k] = lwt_body(
                b, &(lw_body_desc){.mass = 1,
                                   .inertia = {0.03, 0.03, 0.02, 0, 0, 0},
                                   .pose.position = {(1.375 - 0.25 * k) * c, (1.375 - 0.25 * k) * s,
                                                     0.25 + 0.5 * k}});
        const lw_joint_desc joint[] = {
            {.type = LW_JOINT_UNIVERSAL,
             .body2 = rod[0],
             .at = {1.5 * c, 1.5 * s, 0},
             .axis = {-s, c, 0},
             .axis2 = {2 * c, 2 * s, 1}},
            {.type = LW_JOINT_PRISMATIC,
             .body1 = rod[0],
             .body2 = rod[1],
             .at = {1.25 * c, 1.25 * s, 0.5},
             .axis = {-0.5 * c, -0.5 * s, 1}},
            {.type = LW_JOINT_SPHERICAL, .body1 = rod[1], .body2 = top, .at = {c, s, 1}}};
        for (int k = 0; k < 3; k++) lwt_add(b, &joint[k]);
    }
    return lwt_model(b);
}

// Memory of the elimination of a platform on n legs; accelerations are those of `dca`.
static double memory_of_platform(int n)
{
    lw_model *model = platform(n);
    lwt_run r = lwt_run_start(model, RCR);
    lwt_run_observe(&r);
    lwt_run d = lwt_run_from(model, &lwi_formulation_dca, &r.now);
    lwt_run_observe(&d);
    lwt_near("accelerations of dca", n, lwt_acceleration_error(model, &r.now, &d.now), 0, 1e-9);
    const double room = (double)lwt_rcr(&r)->e.room;
    lwt_run_end(&d);
    lwt_run_end(&r);
    lw_model_destroy(model);
    return room;
}

// Each leg by itself has pivots below a half.  If all legs sent their speeds on to the platform, its system would have
// three for each leg, and memory would grow with the square, time with the cube of the number of legs.
static void memory_of_platforms_grows_linearly(void **state)
{
    (void)state;
    const double small = memory_of_platform(50), large = memory_of_platform(400);
    if (!(large < 1.2 * 8 * small)) fail_msg("50 legs: %g, 400 legs: %g numbers", small, large);
}

// Rows of which a node picks none have zero multipliers; `pick` is then undefined.  Two equal rows get half of the
// multiplier of the picked one each.
static void rows_left_away_share(void **state)
{
    (void)state;
    enum { N = 3 };
    const int nothing[N] = {1 << 30, -(1 << 30), 7};
    double b[N] = {1, 2, 3}, null[N * N], scratch[2 * N];
    lwi_rcr_minimum_norm(N, 0, NULL, NULL, nothing, b, null, scratch);
    for (int i = 0; i < N; i++) assert_true(b[i] == 0);

    double G[2][2] = {{0.6, 0.8}, {0.6, 0.8}}, mix[2] = {0}, norm[2], mu[2] = {5, 0};
    int pick[2];
    assert_int_equal(lwi_rcr_orthonormal(2, 2, 2, &G[0][0], 1, 0, mix, norm, pick, scratch), 1);
    lwi_rcr_mix_t(2, 1, mix, norm, pick, mu, scratch);
    lwi_rcr_minimum_norm(2, 1, mix, norm, pick, mu, null, scratch);
    for (int i = 0; i < 2; i++) assert_true(fabs(mu[i] - 2.5) < 1e-14); // a few roundings of 2.5
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legs_of_a_five_bar),
        cmocka_unit_test(ladders_are_one_pendulum),
        cmocka_unit_test(loop_in_a_side_branch),
        cmocka_unit_test(six_bar_with_coupled_loops),
        cmocka_unit_test(rows_of_clusters_without_a_common_base),
        cmocka_unit_test(bennett_keeps_its_rank),
        cmocka_unit_test(flat_parallelogram),
        cmocka_unit_test(long_closed_chains_have_narrow_fronts),
        cmocka_unit_test(memory_of_rings_grows_linearly),
        cmocka_unit_test(memory_of_platforms_grows_linearly),
        cmocka_unit_test(rows_left_away_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
