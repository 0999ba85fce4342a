// test_rcr.c -- coordinate reduction: the numbers of its specification, loops on moving bases,
// redundant, coupled and nested loops, drift.
#include "methods/loop_cases.h"
#include "methods/rcr/rcr_cases.h"

#include "kinematics/observe.h"
#include "methods/rcr/clusters/evaluate.h"

// ------------------------------------------------------------------------------- four-bar
// mechanism

// Speeds and accelerations of the four-bar, its energies, and the multipliers of the cut pivot.
static void four_bar_has_the_numbers(void **state)
{
    static const double u[4] = {4, -4.472068354, 1.993092836, -1.521024482};
    static const double ud[4] = {-27.212089701, 36.176642375, -12.063230341, 3.098677667};
    (void)state;
    lw_model *model = lwt_standard_four_bar();
    lwt_run r = lwt_run_start(model, RCR);
    lwt_run_observe(&r);
    double mine[4];
    lwt_rotated(4, r.now.qd, mine);
    lwt_numbers("13.1", "speeds", 4, u, mine, 5e-9); // the start is given to nine decimals
    lwt_rotated(4, r.now.qdd, mine);
    lwt_numbers("13.1", "accelerations", 4, ud, mine, 1e-7);
    lwi_totals s;
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &r.now, &s);
    const double energies[2] = {s.kinetic, s.potential};
    lwt_numbers("13.1", "T, V", 2, (const double[]){1.561210601, 13.438750033}, energies, 1e-8);
    // the rocker pivot, reaction on the rocker in its axes
    double f[3];
    m3_tmul_v(f, r.now.R[3], r.now.reaction[3]);
    const double pivot[2] = {-fabs(f[0]), -fabs(f[1])};
    lwt_numbers("13.1", "multipliers of the rocker's pivot", 2,
                (const double[]){-20.109561997, -1.962203681}, pivot, 1e-7);
    lwt_near("balance", 0, lwt_imbalance(model, NULL, &r.now), 0, 1e-12);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

static double closing_error(lwt_run *r)
{
    lwi_rcr_work *d = r->work->data;
    const double *phi = d->cut.phi;
    lwt_run_observe(r);
    lwi_cut_rows(&d->cut, &d->tree, r->t, LWI_CLOSURE_POSITION); // clusters need none
    return hypot(phi[0], phi[1]);
}

// Velocities satisfy the rows to rounding; positions drift in proportion to time and to the fourth power of the step:
// the published errors of the closing point.
static void four_bar_drifts_linearly(void **state)
{
    static const double at[4] = {5, 10, 20, 40}, off[4] = {2.6e-6, 5.2e-6, 1.04e-5, 2.14e-5};
    (void)state;
    lw_model *model = lwt_standard_four_bar();
    lwt_run r = lwt_run_start(model, RCR);
    lwt_run_last_dependent(&r);
    assert_int_equal(lwt_rcr(&r)->e.ndependent, 2);
    assert_false(lwt_rcr(&r)->e.dependent[0]);
    double max = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    double drift[4], rate = 0;
    int n = 0, next = 0;
    for (int step = 1; step <= 4000; step++) {
        lwt_integrate(r.work, &r.t, r.x, NULL, 0.01, 1);
        if (step % 50) continue;
        const double error = closing_error(&r);
        rate = fmax(rate, lwt_rows_rate(&r));
        max = fmax(max, error);
        if (next < 4 && fabs(r.t - at[next]) < 1e-6) {
            drift[next] = error;
            lwt_near("drift at", (int)at[next], error, off[next],
                     0.03 * off[next]); // two published digits
            next++;
        }
        if (r.t < 2) continue;
        sx += log(r.t), sy += log(max), sxx += log(r.t) * log(r.t), sxy += log(r.t) * log(max), n++;
    }
    assert_int_equal(next, 4);
    for (int i = 0; i < 4; i++) {
        char what[40];
        snprintf(what, sizeof what, "position error at %g s [m]", at[i]);
        lwt_error("13.1", what, off[i], drift[i], 1.03);
    }
    const double exponent = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    lwt_numbers("13.1", "exponent of the drift", 1, (const double[]){0.96}, &exponent, 0.05);
    // a few units in the last place of terms of order ten
    lwt_error("13.1", "velocity closure, at most", 6e-16, rate, 17);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// The standard four-bar with efforts on its dependent joints, on all joints if `all`, and a coupler of length
// 0.8 + 0.05 sin 3t: the rocker's joint is shifted along it.
static lw_model *pulsating_four_bar(bool floating, bool all)
{
    const lwt_four_bar f = lwt_standard_bars();
    lw_builder *b = lwt_builder();
    const lw_body base = floating ? lwt_add_floating_base(b) : lwt_ground;
    lw_body before = base;
    for (int i = 0; i < 4; i++) {
        const bool last = i == 3;
        const lw_body bar = last ? before : lwt_bar(b, NULL, f.l[i], f.m[i]);
        lw_joint_desc d = {.type = LW_JOINT_REVOLUTE,
                           .body1 = last ? base : before,
                           .body2 = bar,
                           .placement = LW_PLACED_FRAMES,
                           .has_q = 1,
                           .q = {last ? -f.q[3] : f.q[i]},
                           .has_qd = i == 0,
                           .qd = {f.u[0]},
                           .cut = last ? LW_CUT_PREFER : LW_CUT_NEVER};
        if (i) d.frame1.position.x = f.l[i - 1];
        if (last) d.frame1.position.x = 0.7, d.frame2.position.x = f.l[2];
        if (i == 2)
            d.mount_shift[0] = lwt_function(
                b, &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 0.05, .omega = 3});
        if (all || i == 1 || i == 2) {
            d.coordinate[0].stiffness = 7 + i;
            d.coordinate[0].damping = 0.4;
            d.coordinate[0].force =
                lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT, .value = 2 - i});
        }
        lwt_add(b, &d);
        before = bar;
    }
    return lwt_model(b);
}

// Efforts on dependent joints and a prescribed length within a loop: accelerations are those of
// absolute coordinates, and the loop closes to the fourth order.
static void joint_forces_and_a_prescribed_length(void **state)
{
    static const double off[3] = {2.0e-7, 1.2e-8, 7.4e-10};
    (void)state;
    for (int floating = 0; floating < 2; floating++) {
        lw_model *model = pulsating_four_bar(floating, floating);
        lwt_run r = lwt_run_start(model, RCR);
        lwt_run_last_dependent(&r);
        lwt_run_observe(&r);
        lwt_run d = lwt_run_from(model, DENSE, &r.now);
        lwt_run_observe(&d);
        const double error = lwt_acceleration_error(model, &r.now, &d.now);
        lwt_error("13.2",
                  floating ? "accelerations off dense, moving base" : "accelerations off dense",
                  floating ? 2e-12 : 1e-13, error, 1);
        lwt_run_end(&r);
        lwt_run_end(&d);
        lw_model_destroy(model);
    }
    lw_model *model = pulsating_four_bar(false, false);
    for (int i = 0; i < 3; i++) {
        lwt_run r = lwt_run_start(model, RCR);
        lwt_run_last_dependent(&r);
        lwt_integrate(r.work, &r.t, r.x, NULL, 0.01 / (1 << i), 100 << i);
        const double error = closing_error(&r);
        char what[48];
        snprintf(what, sizeof what, "closure after 1 s [m], step %g s", 0.01 / (1 << i));
        lwt_error("13.2", what, off[i], error, 2);
        lwt_run_end(&r);
    }
    lw_model_destroy(model);
}

// A four-bar on a floating body: a moving base transports the loop as a rigid body.
static void loop_on_a_moving_base(void **state)
{
    // base [linear; angular], crank, coupler, rocker, last
    static const double ud[10] = {0.817543776,  -8.268030297, -0.142626423, 0.616533367,
                                  0.012819783,  -1.490954197, -4.739164335, 11.051527789,
                                  -0.865573702, -5.446789751};
    (void)state;
    lw_model *model = lwt_floating_four_bar((lw_vec3){0, -9.81, 0});
    lwt_run r = lwt_run_start(model, RCR);
    lwt_run_last_dependent(&r);
    lwt_run_observe(&r);
    assert_int_equal(lwt_rcr(&r)->e.ndependent, 2);
    double mine[10];
    lwt_rotated(10, r.now.qdd, mine);
    lwt_numbers("13.3", "accelerations", 10, ud, mine, 2e-8);
    // energy in two seconds by RK4
    lwi_totals s0, s1;
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &r.now, &s0);
    lwt_integrate(r.work, &r.t, r.x, NULL, 0.005, 400);
    lwt_run_observe(&r);
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &r.now, &s1);
    lwt_near("energy", 0, s0.kinetic + s0.potential, 14.456, 1e-3);
    lwt_error("13.3", "energy change in 2 s [J]", 8.5e-7,
              fabs(s1.kinetic + s1.potential - s0.kinetic - s0.potential), 1.4);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Drives, mounts, lengths, couplings, springs and dampers on what closes loops: the motion and the
// work are those of absolute coordinates, to the integration error of both.
static void motions_are_those_of_absolute_coordinates(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        lwt_run r = lwt_run_start(model, RCR), d = lwt_run_start(model, DENSE);
        lwt_integrate(d.work, &d.t, d.x, NULL, 5e-4, 1000);
        lwt_integrate(r.work, &r.t, r.x, NULL, 5e-4, 1000);
        lwt_run_observe(&d);
        lwt_run_observe(&r);
        for (int b = 1; b < model->nbody; b++)
            for (int i = 0; i < 3; i++) {
                lwt_near("position", 10 * kind + b, r.now.r[b][i], d.now.r[b][i], 1e-7);
                lwt_near("velocity", 10 * kind + b, r.now.v[b][i], d.now.v[b][i], 1e-6);
            }
        for (int i = 0; i < model->nq; i++)
            lwt_near("q", 10 * kind + i, r.now.q[i], d.now.q[i], 1e-7);
        lwt_near("work", kind, r.now.work, d.now.work, 1e-7);
        lwt_run_end(&r);
        lwt_run_end(&d);
        lw_model_destroy(model);
    }
}

// Scales, velocities and rows of one state share the factors and speeds of the elimination, with the same bits as alone;
// none takes its own, and nothing is taken from another state, time or partition, or after calls that use the same
// memory: rates by clusters use it for forces and drives only, velocities by clusters always.
static void calls_at_one_state_share_factors(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        lwt_run r = lwt_run_start(model, RCR), alone = lwt_run_start(model, RCR);
        lwi_rcr_work *d = r.work->data;
        const int nx = r.work->layout.nx;
        double *f = lwt_vector(nx), *g = lwt_vector(nx);
        lwi_snapshot *m = &r.now;
        d->dense = ((lwi_rcr_work *)alone.work->data)->dense = NULL;
        if (d->reactions) // else clusters make the rows
            d->clusters = ((lwi_rcr_work *)alone.work->data)->clusters = NULL;
        lwt_run_observe(&r);
        lwt_run_observe(&alone);
        enum { ALONE, SCALED, AFTER_TWISTS, LATER, MOVED, RATED, CASES };
        for (int i = 0; i < CASES; i++) {
            if (i == AFTER_TWISTS)
                lwt_ok(RCR->observe(r.work, r.t, r.x, NULL, LW_OBSERVE_TWIST, m), &r.work->error);
            else if (i != ALONE)
                lwt_ok(RCR->scale(r.work, r.t, r.x, f), &r.work->error);
            r.t = alone.t = i >= LATER ? 1e-9 : 0;
            r.x[0] = alone.x[0] += i == MOVED ? 1e-9 : 0;
            if (i == RATED) lwt_ok(RCR->rates(r.work, r.t, r.x, NULL, g), &r.work->error);
            const bool clusters = d->clusters && lwi_rcr_clusters_count(d->clusters);
            const bool apart = clusters && !model->nforce && !model->driven;
            const bool takes =
                i == SCALED || (i == AFTER_TWISTS && !clusters) || (i == RATED && apart);
            d->e.min_pivot = 7; // until it is found
            lwt_ok(RCR->observe(r.work, r.t, r.x, NULL, LW_OBSERVE_REACTION, m), &r.work->error);
            if ((d->e.min_pivot == 7) != takes) fail_msg("kind %d, case %d", kind, i);
            lwt_run_observe(&alone);
            const size_t speeds = (size_t)model->nv * sizeof(double);
            assert_memory_equal(m->qd, alone.now.qd, speeds);
            assert_memory_equal(m->qdd, alone.now.qdd, speeds);
            assert_memory_equal(m->reaction, alone.now.reaction,
                                (size_t)model->njoint * sizeof *m->reaction);
        }
        lwt_ok(RCR->scale(r.work, r.t, r.x, f), &r.work->error);
        lwt_ok(RCR->scale(alone.work, alone.t, alone.x, g), &alone.work->error);
        assert_memory_equal(f, g, (size_t)nx * sizeof *f);
        d->last.dependent[0] ^= 1;
        d->e.min_pivot = 7;
        lwt_ok(RCR->observe(r.work, r.t, r.x, NULL, LW_OBSERVE_REACTION, m), &r.work->error);
        assert_true(d->e.min_pivot != 7);
        free(f), free(g);
        lwt_run_end(&r);
        lwt_run_end(&alone);
        lw_model_destroy(model);
    }
}

// A link without mass or inertia moves with the bodies attached to it, dependent or not; without any, the error names
// the joint.
static void links_without_mass(void **state)
{
    (void)state;
    for (int link = 1; link < 3; link++) {
        lw_builder *b = lwt_builder();
        lwt_four_bar f = lwt_standard_bars();
        f.m[link] = 0;
        lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
        lw_model *model = lwt_model(b);
        lwt_run r = lwt_run_start(model, RCR), d;
        lwt_run_observe(&r);
        d = lwt_run_from(model, DENSE, &r.now);
        lwt_run_observe(&d);
        lwt_near("acceleration", link, lwt_acceleration_error(model, &r.now, &d.now), 0, 1e-11);
        lwt_run_end(&r);
        lwt_run_end(&d);
        lw_model_destroy(model);
    }
    lw_builder *b = lwt_builder();
    lwt_four_bar f = lwt_standard_bars();
    memset(f.m, 0, sizeof f.m);
    lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
    lw_model *model = lwt_model(b);
    lwi_snapshot start;
    lwt_run r = {.model = model, .work = lwt_work(model, RCR)};
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_vector(r.work->layout.nx);
    assert_int_equal(lwi_snapshot_create(model, &r.arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    assert_int_equal(RCR->enter(r.work, &start, r.x), LW_ERR_SINGULAR);
    assert_non_null(strstr(r.work->error.text, "nothing resists its speed"));
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Rates depend on time, state and partition, not on earlier evaluations.
static void evaluation_has_no_memory(void **state)
{
    (void)state;
    lw_model *model = lwt_standard_four_bar();
    lwt_run r = lwt_run_start(model, RCR);
    const int n = r.work->layout.nx;
    double *first = lwt_vector(n), *again = lwt_vector(n), *other = lwt_vector(n);
    lwt_ok(r.work->formulation->rates(r.work, 0, r.x, NULL, first), &r.work->error);
    for (int i = 0; i < n; i++) other[i] = r.x[i] + 0.1 * (i + 1);
    lwt_ok(r.work->formulation->rates(r.work, 1, other, NULL, again), &r.work->error);
    lwt_ok(r.work->formulation->rates(r.work, 0, r.x, NULL, again), &r.work->error);
    assert_memory_equal(first, again, (size_t)n * sizeof *first);
    other[1] = NAN;
    assert_int_equal(r.work->formulation->rates(r.work, 0, other, NULL, again), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(r.work->error.text, "joint '"));
    free(first);
    free(again);
    free(other);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

typedef struct meter {
    int left, taken;
} meter;

static void *metered(void *user, size_t bytes)
{
    meter *m = user;
    m->taken++;
    return m->left-- > 0 ? malloc(bytes) : NULL;
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

// Every allocation may fail: creation returns an error and releases everything; nothing allocates
// after it.
static void memory_is_taken_at_creation(void **state)
{
    (void)state;
    lw_model *model = lwt_loop(LWT_MOUNTED_LOOP);
    lw_status status = LW_ERR_MEMORY;
    for (int n = 0; status != LW_OK; n++) {
        meter m = {.left = n};
        const lw_allocator allocator = {metered, release, &m};
        lwt_run r = {.model = model};
        lw_error error;
        status = lwi_work_create(model, RCR, &allocator, &r.work, &error);
        assert_true(status == LW_OK || (status == LW_ERR_MEMORY && error.status == LW_ERR_MEMORY));
        assert_true(n < 2000);
        if (status != LW_OK) continue;
        lwi_snapshot start;
        lwi_arena_init(&r.arena, NULL);
        r.x = lwt_vector(r.work->layout.nx);
        assert_int_equal(lwi_snapshot_create(model, &r.arena, &start), LW_OK);
        lwi_snapshot_start(model, &start);
        m.taken = 0;
        bool changed;
        lwt_ok(RCR->enter(r.work, &start, r.x), &r.work->error);
        lwt_integrate(r.work, &r.t, r.x, NULL, 1e-3, 10);
        lwt_ok(RCR->pre_step(r.work, r.t, r.x, &changed), &r.work->error);
        lwt_run_observe(&r);
        assert_int_equal(m.taken, 0);
        lwt_run_end(&r);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_bar_has_the_numbers),
        cmocka_unit_test(four_bar_drifts_linearly),
        cmocka_unit_test(joint_forces_and_a_prescribed_length),
        cmocka_unit_test(loop_on_a_moving_base),
        cmocka_unit_test(motions_are_those_of_absolute_coordinates),
        cmocka_unit_test(calls_at_one_state_share_factors),
        cmocka_unit_test(links_without_mass),
        cmocka_unit_test(evaluation_has_no_memory),
        cmocka_unit_test(memory_is_taken_at_creation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
