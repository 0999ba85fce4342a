// test_dca.c -- divide and conquer against absolute coordinates, which share only the model, the forces and
// the vector algebra with it: accelerations, reactions, redundancy, work; plans, threads, numbering, cuts and
// axes change nothing; singular positions and bodies without inertia are reported.
#include "methods/loop_cases.h"
#include "tree/tree_cases.h"

#include "system/system.h"
#include "support/random_loops.h"
#include "support/given.h"

#define DENSE (&lwi_formulation_dense)
#define DCA (&lwi_formulation_dca)

// A mechanism with its workspace, and its observations.
typedef struct run {
    const lw_model *model;
    lwi_work *work;
    lwi_arena arena;
    double *x, *xdot, *input, t;
    lwi_snapshot now;
} run;

static run run_begin(const lw_model *model, const lwi_formulation *formulation,
                     const lw_options *options)
{
    run r = {.model = model};
    lw_error error;
    lwt_ok(lwi_work_create_options(model, formulation, NULL, 0, options, &r.work, &error), &error);
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_reals(r.work->layout.nx);
    r.xdot = lwt_reals(r.work->layout.nx);
    r.input = lwt_reals(model->desc.ninput);
    for (int i = 0; i < model->desc.ninput; i++) r.input[i] = 0.3 * (i + 1);
    return r;
}

static void run_enter(run *r, const lwi_snapshot *snapshot)
{
    r->t = snapshot->t;
    lwt_ok(r->work->formulation->enter(r->work, snapshot, r->x), &r->work->error);
}

static void run_start(run *r)
{
    lwi_snapshot start;
    assert_int_equal(lwi_snapshot_create(r->model, &r->arena, &start), LW_OK);
    lwi_snapshot_start(r->model, &start);
    run_enter(r, &start);
}

static void observe_run(run *r)
{
    lwt_observe(r->work, r->t, r->x, r->input, &r->arena, &r->now);
    lwt_ok(r->work->formulation->rates(r->work, r->t, r->x, r->input, r->xdot), &r->work->error);
}

static void run_end(run *r)
{
    free(r->x);
    free(r->xdot);
    free(r->input);
    lwi_work_destroy(r->work);
    lwi_arena_free(&r->arena);
}

static double power(const run *r)
{
    return r->work->model->carries_work ? r->xdot[lwt_work_index(r->work)] : 0;
}

// Largest of |a|, at least 1: what a tolerance is relative to.
static double size_of(const double *a, int n)
{
    double largest = 1;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i]));
    return largest;
}

static void near_all(const char *what, const char *quantity, const double *a, const double *b,
                     int n, double tol)
{
    const double size = size_of(b, n);
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tol * size))
            fail_msg("%s: %s %d: %.17g, expected %.17g (%.2e of %.3g)", what, quantity, i, a[i],
                     b[i], fabs(a[i] - b[i]) / size, size);
}

// Everything except quaternions' signs, of bodies and joints that are not merged.
static void same_snapshot(const lw_model *m, const char *what, const lwi_snapshot *a,
                          const lwi_snapshot *b, double tol)
{
    near_all(what, "position", a->r[0], b->r[0], 3 * m->nbody, tol);
    near_all(what, "velocity", a->v[0], b->v[0], 3 * m->nbody, tol);
    near_all(what, "angular velocity", a->w[0], b->w[0], 3 * m->nbody, tol);
    near_all(what, "acceleration", a->a[0], b->a[0], 3 * m->nbody, tol);
    near_all(what, "angular acceleration", a->al[0], b->al[0], 3 * m->nbody, tol);
    near_all(what, "joint speed", a->qd, b->qd, m->nv, tol);
    near_all(what, "joint acceleration", a->qdd, b->qdd, m->nv, tol);
    near_all(what, "reaction", a->reaction[0], b->reaction[0], 6 * m->njoint, tol);
    for (int j = 0; j < m->njoint; j++)
        if (a->unique[j] != b->unique[j])
            fail_msg("%s: joint '%s': reaction unique: %d, expected %d", what, m->joint[j].name,
                     a->unique[j], b->unique[j]);
}

// dca at its current state and dense at the same motion.
static void agrees_with_dense(run *dca, const char *what, double tol)
{
    const lw_model *m = dca->model;
    run dense = run_begin(m, DENSE, NULL);
    observe_run(dca);
    run_enter(&dense, &dca->now);
    observe_run(&dense);
    same_snapshot(m, what, &dca->now, &dense.now, tol);
    for (int i = 0; i < m->nq; i++) // quaternions of loop joints may have the other sign
        if (fabs(fabs(dca->now.q[i]) - fabs(dense.now.q[i])) > tol)
            fail_msg("%s: coordinate %d: %.17g, expected %.17g", what, i, dca->now.q[i],
                     dense.now.q[i]);
    const double watts[2] = {power(dca), power(&dense)};
    near_all(what, "power", watts, watts + 1, 1,
             tol * size_of(dca->now.reaction[0], 6 * m->njoint));
    run_end(&dense);
}

// On random trees of every joint type, reversed, floating, driven, mounted, merged, with forces.
static void trees_agree(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 80, LWT_ALL)
    {
        char what[40];
        lw_error why;
        snprintf(what, sizeof what, "seed %d", (int)c.seed);
        if (lwi_formulation_accepts(DCA, c.model, &why) != LW_OK) continue;
        run r = run_begin(c.model, DCA, NULL);
        r.t = c.t;
        memcpy(r.x, c.q, (size_t)c.model->tree_nq * sizeof *r.x);
        memcpy(r.x + c.model->tree_nq, c.v, (size_t)c.model->tree_nv * sizeof *r.x);
        // round-off of up to 72 unknowns times the condition of light bodies behind heavy ones, 1e3
        agrees_with_dense(&r, what, 1e-11);
        run_end(&r);
    }
}

static const char *const golden[] = {"P4b_four_bar_regular", "P5_single_loop_4",
                                     "P10_spatial_slider_crank", "P13_rheonomic_four_bar"};

// At the start and on the way; redundant, driven, mounted, coupled, with links of variable length.
static void loops_agree(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS + LWI_COUNT(golden); kind++) {
        lw_model *model = kind < LWT_LOOPS ? lwt_loop(kind) : lwt_golden(golden[kind - LWT_LOOPS]);
        run r = run_begin(model, DCA, NULL);
        char what[60];
        run_start(&r);
        for (int i = 0; i < 3; i++) {
            snprintf(what, sizeof what, "mechanism %d, t = %g", kind, r.t);
            // drift of positions, 1e-12 of Runge-Kutta steps of 1e-4 s, tilts redundant rows and is
            // multiplied by angular velocities of up to 40 rad/s
            agrees_with_dense(&r, what, 1e-9);
            lwt_integrate(r.work, &r.t, r.x, r.input, 1e-4, 300);
        }
        run_end(&r);
        lw_model_destroy(model);
    }
}

// On random mechanisms with coupled and nested loops of every joint type, redundant ones too: the rank is the
// one they were built with, and both agree at the start and during the motion.
static void random_loops_agree(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 80, LWT_LOOP_ALL)
    {
        char what[60];
        run r = run_begin(c.model, DCA, NULL);
        lwi_system system;
        assert_int_equal(lwi_system_create(c.model, LW_PLAN_AUTO, &r.arena, &system), LW_OK);
        if (system.nrow != c.nrow || system.start_rank != c.rank || system.generic_rank != c.rank)
            fail_msg("seed %d: %d rows of rank %d, %d near, expected %d of rank %d", (int)seed_,
                     system.nrow, system.start_rank, system.generic_rank, c.nrow, c.rank);
        run_start(&r);
        for (int i = 0; i < 2; i++) {
            snprintf(what, sizeof what, "seed %d, t = %g", (int)seed_, r.t);
            // as on trees, times the lever arms between loops; with drift during the motion
            agrees_with_dense(&r, what, i ? 1e-8 : 1e-10);
            lwt_integrate(r.work, &r.t, r.x, r.input, 1e-4, 50);
        }
        run_end(&r);
    }
}

// Newton's and Euler's equations of every body close from what is observed.
static void bodies_are_balanced(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        if (kind == LWT_COUPLED) continue; // a coupling's efforts are part of no joint's reaction
        lw_model *model = lwt_loop(kind);
        run r = run_begin(model, DCA, NULL);
        run_start(&r);
        lwt_integrate(r.work, &r.t, r.x, r.input, 2.5e-4, 1000);
        observe_run(&r);
        if (lwt_imbalance(model, r.input, &r.now) > 1e-10)
            fail_msg("mechanism %d: balance is off by %.3g", kind,
                     lwt_imbalance(model, r.input, &r.now));
        run_end(&r);
        lw_model_destroy(model);
    }
}

// E - Wnc stays, and positions and velocities leave the loops with the integration error only.
static void energy_and_closure_are_kept(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        run r = run_begin(model, DCA, NULL);
        lwi_totals first, last;
        run_start(&r);
        observe_run(&r);
        lwi_observe_system(model, LW_OBSERVE_REACTION, &r.now, &first);
        lwt_integrate(r.work, &r.t, r.x, r.input, 5e-4, 2000);
        observe_run(&r);
        lwi_observe_system(model, LW_OBSERVE_REACTION, &r.now, &last);
        const double error =
            last.kinetic + last.potential - r.now.work - first.kinetic - first.potential;
        // speeds of some 20 rad/s: 20 (20 h)^4 = 2e-7 per second at h = 5e-4
        if (!(fabs(error) < 2e-7) || !(last.residual[0] < 2e-7) || !(last.residual[1] < 2e-7) ||
            !(last.residual[2] < 1e-10))
            fail_msg("mechanism %d: energy %.2e, residuals %.2e %.2e %.2e", kind, error,
                     last.residual[0], last.residual[1], last.residual[2]);
        run_end(&r);
        lw_model_destroy(model);
    }
}

// ---------------------------------------------------------------------------- plans and threads

// A rod like lwt_rod, and a vector, in a world rotated by the quaternion `turn`.
static lw_vec3 rotated(const double *turn, double x, double y, double z)
{
    const double v[3] = {x, y, z};
    double R[9], w[3];
    quat_matrix(R, turn);
    m3_mul_v(w, R, v);
    return (lw_vec3){w[0], w[1], w[2]};
}

static lw_body rotated_rod(lw_builder *b, const double *turn, const char *name, double x1,
                           double y1, double x2, double y2, double mass)
{
    const double l2 = (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1);
    const double half = 0.5 * atan2(y2 - y1, x2 - x1), own[4] = {cos(half), 0, 0, sin(half)};
    double q[4];
    quat_mul(q, turn, own);
    return lwt_body(
        b, &(lw_body_desc){.name = name,
                           .mass = mass,
                           .inertia = {0.002 * mass, mass * l2 / 12, mass * l2 / 12},
                           .pose = {.position = rotated(turn, (x1 + x2) / 2, (y1 + y2) / 2, 0),
                                    .orientation = {q[0], q[1], q[2], q[3]}}});
}

enum { MAX_CELLS = 8 };

// Ladder of n loops in a plane: rungs between two rails; every loop is redundant.
static lw_model *ladder(int n, bool backwards, const double *turn)
{
    lw_builder *b = lwt_builder();
    lw_body left = lwt_ground, right = lwt_ground;
    lw_joint_desc pin[4 * MAX_CELLS];
    char name[4 * MAX_CELLS][16];
    int npin = 0;
    lw_builder_gravity(b, rotated(turn, 1, -8, -3));
    for (int i = 0; i < n; i++) {
        const double y = -i, shift = 0.3 * i;
        char text[3][32];
        for (int k = 0; k < 3; k++) snprintf(text[k], sizeof *text, "body %d.%d", i, k);
        const lw_body l = rotated_rod(b, turn, text[0], shift, y, shift + 0.3, y - 1, 1);
        const lw_body r = rotated_rod(b, turn, text[1], shift + 1, y, shift + 1.3, y - 1, 1.5);
        const lw_body rung =
            rotated_rod(b, turn, text[2], shift + 0.3, y - 1, shift + 1.3, y - 1, 0.7);
        const lw_body side[4][2] = {{left, l}, {right, r}, {l, rung}, {rung, r}};
        const double at[4][2] = {
            {shift, y}, {shift + 1, y}, {shift + 0.3, y - 1}, {shift + 1.3, y - 1}};
        for (int k = 0; k < 4; k++, npin++) {
            snprintf(name[npin], sizeof *name, "pin %d", npin);
            pin[npin] = (lw_joint_desc){.name = name[npin],
                                        .type = LW_JOINT_REVOLUTE,
                                        .body1 = side[k][0],
                                        .body2 = side[k][1],
                                        .at = rotated(turn, at[k][0], at[k][1], 0),
                                        .axis = rotated(turn, 0, 0, 1)};
        }
        left = right = rung;
    }
    for (int i = 0; i < npin; i++) lwt_add(b, &pin[backwards ? npin - 1 - i : i]);
    return lwt_model(b);
}

static const double straight[4] = {1, 0, 0, 0};

// All plans give the same motion to round-off; a plan gives the same bits on any number of threads.
static void check_plans(const lw_model *model, double tol)
{
    static const char *const plan[] = {"auto", "comb", "balanced", "mixed"};
    static const int threads[] = {1, 2, 3, 4, 8};
    run first = run_begin(model, DCA, NULL);
    const size_t bytes = (size_t)first.work->layout.nx * sizeof(double);
    run_start(&first);
    lwt_integrate(first.work, &first.t, first.x, first.input, 1e-4, 50);
    observe_run(&first);
    double *bits = lwt_reals(first.work->layout.nx);
    for (int p = 0; p < LWI_COUNT(plan); p++)
        for (int k = 0; k < LWI_COUNT(threads); k++) {
            lw_options options;
            lw_options_default(&options);
            options.plan = (lw_plan)p;
            options.threads = threads[k];
            run r = run_begin(model, DCA, &options);
            r.t = first.t;
            memcpy(r.x, first.x, bytes);
            observe_run(&r);
            same_snapshot(model, plan[p], &r.now, &first.now, tol);
            if (k == 0) memcpy(bits, r.xdot, bytes);
            assert_memory_equal(bits, r.xdot, bytes);
            run_end(&r);
        }
    free(bits);
    run_end(&first);
}

static void plans_and_threads_change_nothing(void **state)
{
    (void)state;
    lw_model *model = ladder(8, false, straight);
    check_plans(model, 1e-11);
    lw_model_destroy(model);
    // round-off as against dense; what drift tilts of redundant rows is dropped elsewhere
    LWT_FOR_LOOPS(c, 12, LWT_LOOP_ALL) check_plans(c.model, 1e-9);
}

// Joints in another order: another tree, other cuts, the same motion of the bodies.
static void numbering_and_cuts_change_nothing(void **state)
{
    (void)state;
    lw_model *model[2] = {ladder(4, false, straight), ladder(4, true, straight)};
    run r[2];
    for (int i = 0; i < 2; i++) {
        r[i] = run_begin(model[i], DCA, NULL);
        run_start(&r[i]);
        lwt_integrate(r[i].work, &r[i].t, r[i].x, r[i].input, 1e-3, 200);
        observe_run(&r[i]);
    }
    assert_true(model[0]->loop[0] != model[1]->njoint - 1 - model[1]->loop[0]);
    // Runge-Kutta steps of 1e-3 s at some 5 rad/s: (5e-3)^5 per step and 200 steps, in coordinates
    // of two different trees
    near_all("cuts", "position", r[1].now.r[0], r[0].now.r[0], 3 * model[0]->nbody, 1e-9);
    near_all("cuts", "velocity", r[1].now.v[0], r[0].now.v[0], 3 * model[0]->nbody, 1e-8);
    near_all("cuts", "acceleration", r[1].now.a[0], r[0].now.a[0], 3 * model[0]->nbody, 1e-7);
    for (int j = 0; j < model[0]->njoint; j++)
        near_all("cuts", "reaction", r[1].now.reaction[model[0]->njoint - 1 - j],
                 r[0].now.reaction[j], 6, 1e-6);
    for (int i = 0; i < 2; i++) run_end(&r[i]), lw_model_destroy(model[i]);
}

// Rotating the world rotates the motion.
static void a_rotated_world_rotates_the_motion(void **state)
{
    (void)state;
    const double turn[4] = {0.5, 0.1, -0.7, 0.5};
    double unit[4], R[9];
    quat_normalize(unit, turn);
    quat_matrix(R, unit);
    lw_model *model[2] = {ladder(3, false, straight), ladder(3, false, unit)};
    run r[2];
    for (int i = 0; i < 2; i++) {
        r[i] = run_begin(model[i], DCA, NULL);
        run_start(&r[i]);
        lwt_integrate(r[i].work, &r[i].t, r[i].x, r[i].input, 1e-3, 200);
        observe_run(&r[i]);
    }
    for (int b = 1; b < model[0]->nbody; b++) {
        double a[2][3];
        m3_mul_v(a[0], R, r[0].now.r[b]);
        m3_mul_v(a[1], R, r[0].now.a[b]);
        near_all("rotated", "position", r[1].now.r[b], a[0], 3, 1e-12);
        near_all("rotated", "acceleration", r[1].now.a[b], a[1], 3, 1e-11);
    }
    for (int j = 0; j < model[0]->njoint; j++)
        for (int k = 0; k < 6; k += 3) {
            double f[3];
            m3_mul_v(f, R, r[0].now.reaction[j] + k);
            near_all("rotated", "reaction", r[1].now.reaction[j] + k, f, 3, 1e-11);
        }
    for (int i = 0; i < 2; i++) run_end(&r[i]), lw_model_destroy(model[i]);
}

// ------------------------------------------------------------------------------- what is refused

static lw_model *flat_rhombus(double height)
{
    lw_builder *b = lwt_builder();
    const double x = sqrt(1 - height * height);
    const lw_body A = lwt_rod(b, "A", 0, 0, x, height, 1);
    const lw_body B = lwt_rod(b, "B", x, height, 1 + x, height, 1);
    const lw_body C = lwt_rod(b, "C", 1, 0, 1 + x, height, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, x, height);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j3", B, C, 1 + x, height);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j4", C, lwt_ground, 1, 0);
    return lwt_model(b);
}

// A rhombus that starts folded flat has one more degree of freedom there than in its neighbourhood: a run
// refuses it.
static void singular_start_is_refused(void **state)
{
    (void)state;
    lw_model *model = flat_rhombus(0);
    run r = run_begin(model, DCA, NULL);
    lwi_system system;
    assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &r.arena, &system), LW_OK);
    assert_int_equal(system.start_rank, 16);
    assert_int_equal(system.generic_rank, 17);
    run_start(&r);
    assert_int_equal(DCA->rates(r.work, 0, r.x, NULL, r.xdot), LW_ERR_SINGULAR);
    assert_non_null(strstr(r.work->error.text, "singular position at t = 0 s"));
    for (int j = 0; j < 4; j++) assert_non_null(strstr(r.work->error.text, model->joint[j].name));
    run_end(&r);
    lw_model_destroy(model);
}

// A body without mass, or without inertia about some axis, is reported with advice.
// A leaf without mass is no body of a mechanism, one between rods is: thin, or without any inertia.
static void light_bodies_between_rods_are_accepted(void **state)
{
    (void)state;
    for (int massless = 0; massless < 2; massless++) {
        lw_builder *b = lwt_builder();
        const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1);
        const lw_body middle =
            lwt_body(b, &(lw_body_desc){.name = "thin",
                                        .mass = massless ? 0 : 1,
                                        .inertia = {0, massless ? 0 : 1, massless ? 0 : 1},
                                        .pose.position = {1.5, 0, 0}});
        lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, middle, 1, 0);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j3", middle, lwt_rod(b, "C", 2, 0, 3, 0, 1), 2, 0);
        lw_model *model = lwt_model(b);
        lw_error why;
        lwt_ok(lwi_formulation_accepts(DCA, model, &why), &why);
        lw_model_destroy(model);
    }
}

// The state determines everything: the same bits from a used workspace and from another one.
static void rates_depend_on_the_state_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        run a = run_begin(model, DCA, NULL), b = run_begin(model, DCA, NULL);
        const size_t bytes = (size_t)a.work->layout.nx * sizeof(double);
        run_start(&a);
        lwt_integrate(a.work, &a.t, a.x, a.input, 5e-3, 40);
        memcpy(b.x, a.x, bytes);
        b.t = a.t;
        observe_run(&a);
        observe_run(&b);
        assert_memory_equal(a.xdot, b.xdot, bytes);
        run_end(&a), run_end(&b);
        lw_model_destroy(model);
    }
}

// Matrix passes since the last call; the system is the first member of the formulation's data.
static long passes_of(const run *r, long *before)
{
    const lwi_system *system = r->work->data;
    const long now = lwi_elim_matrix_passes(system->elim), count = now - *before;
    *before = now;
    return count;
}

static void evaluate_run(run *r, double *xdot)
{
    lwt_ok(DCA->rates(r->work, r->t, r->x, r->input, xdot), &r->work->error);
}

// A row and the evaluation at its state, before or after it, have one matrix pass together, and the same bits as alone;
// calls of one kind do all that they do, and so do those with other inputs.
static void rows_and_evaluations_share_a_matrix_pass(void **state)
{
    (void)state;
    int with_inputs = 0;
    LWT_FOR_LOOPS(c, 24, LWT_LOOP_ALL)
    {
        run r = run_begin(c.model, DCA, NULL), alone = run_begin(c.model, DCA, NULL);
        const size_t nx = (size_t)r.work->layout.nx;
        long passes = 0;
        run_start(&r), run_start(&alone);
        lwt_observe(alone.work, alone.t, alone.x, alone.input, &alone.arena, &alone.now);
        evaluate_run(&r, alone.xdot);
        assert_true(passes_of(&r, &passes) > 0);
        lwt_observe(r.work, r.t, r.x, r.input, &r.arena, &r.now);
        assert_int_equal(passes_of(&r, &passes), 0);
        assert_memory_equal(r.now.a, alone.now.a, (size_t)c.model->nbody * sizeof *r.now.a);
        assert_memory_equal(r.now.reaction, alone.now.reaction,
                            (size_t)c.model->njoint * sizeof *r.now.reaction);
        for (int row = 0; row < 2; row++) {
            lwt_observe(r.work, r.t, r.x, r.input, &r.arena, &r.now);
            assert_true(passes_of(&r, &passes) > 0);
        }
        evaluate_run(&r, r.xdot);
        assert_int_equal(passes_of(&r, &passes), 0);
        assert_memory_equal(r.xdot, alone.xdot, nx * sizeof *r.xdot);
        evaluate_run(&r, r.xdot);
        assert_true(passes_of(&r, &passes) > 0);
        if (c.model->desc.ninput) {
            for (int row = 0; row < 2; row++) // the first takes the evaluation
                lwt_observe(r.work, r.t, r.x, r.input, &r.arena, &r.now);
            passes_of(&r, &passes);
            r.input[0] += 1;
            evaluate_run(&r, r.xdot);
            assert_true(passes_of(&r, &passes) > 0);
            with_inputs++;
        }
        run_end(&r), run_end(&alone);
    }
    assert_true(with_inputs > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_agree),
        cmocka_unit_test(loops_agree),
        cmocka_unit_test(random_loops_agree),
        cmocka_unit_test(bodies_are_balanced),
        cmocka_unit_test(energy_and_closure_are_kept),
        cmocka_unit_test(plans_and_threads_change_nothing),
        cmocka_unit_test(numbering_and_cuts_change_nothing),
        cmocka_unit_test(a_rotated_world_rotates_the_motion),
        cmocka_unit_test(singular_start_is_refused),
        cmocka_unit_test(light_bodies_between_rods_are_accepted),
        cmocka_unit_test(rates_depend_on_the_state_alone),
        cmocka_unit_test(rows_and_evaluations_share_a_matrix_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
