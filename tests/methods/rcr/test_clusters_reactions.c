// test_clusters_reactions.c -- reactions found loop by loop: of minimum norm, against those of one factorisation over all
// bodies (system/min_norm.h) at the same accelerations; these, and unique ones, against absolute coordinates.
#include "methods/rcr/cluster_forces.h"
#include "support/failing.h"

// Of the largest reaction; found are at most 9e-14.
#define TOLERANCE_OF_REACTIONS 1e-12
// Of platforms: they follow from accelerations, which lose up to four digits by the clusters' normal equations.
#define TOLERANCE_OF_PLATFORMS 1e-10

// Largest difference of the reactions of two snapshots, of the largest reaction; joints that hold merged bodies are not
// those of the formulation.
static double off(const lw_model *model, const lwi_snapshot *a, const lwi_snapshot *b)
{
    double size = 0, largest = 0;
    for (int j = 0; j < model->njoint; j++)
        for (int i = 0; i < 6 && !model->joint[j].merged; i++) {
            size = fmax(size, fabs(b->reaction[j][i]));
            largest = fmax(largest, fabs(a->reaction[j][i] - b->reaction[j][i]));
        }
    return largest / size;
}

static bool are_by_loops(const lwt_run *r)
{
    const lwi_rcr_work *d = lwt_rcr(r);
    const lwi_rcr_choice *choice = r->work->discrete;
    return d->clusters && lwi_rcr_clusters_fit_reactions(d->clusters, choice->dependent);
}

// From the reactions of the same motion by another formulation.
static double off_other(lwt_run *r, const lwi_formulation *other)
{
    lwt_run d = lwt_run_from(r->model, other, &r->now);
    lwt_observe(d.work, d.t, d.x, inputs, &d.arena, &d.now);
    const double found = off(r->model, &r->now, &d.now);
    for (int j = 0; j < r->model->njoint; j++)
        assert_int_equal(r->now.undetermined[j] & d.now.undetermined[j], d.now.undetermined[j]);
    lwt_run_end(&d);
    return found;
}

// In absolute coordinates.
static double off_dense(lwt_run *r)
{
    return off_other(r, DENSE);
}

// Destroys the model.
static void agree(const char *what, lw_model *model)
{
    lwt_run r = drop(model, 0);
    lwi_snapshot together;
    step_on(&r, 20, inputs);
    lwt_observe(r.work, r.t, r.x, inputs, &r.arena, &r.now);
    const lwi_rcr_work *d = lwt_rcr(&r);
    if (!d->reactions || !are_by_loops(&r)) fail_msg("%s: not loop by loop", what);
    assert_int_equal(lwi_snapshot_create(model, &r.arena, &together), LW_OK);
    assert_int_equal(lwi_rcr_reactions_observe(model, d->reactions, &d->tree, r.t, &together),
                     LW_OK);
    const double error = off(model, &r.now, &together), dense = off_dense(&r);
    for (int j = 0; j < model->njoint; j++)
        assert_int_equal(r.now.undetermined[j], together.undetermined[j]);
    if (!(error < TOLERANCE_OF_REACTIONS && dense < TOLERANCE_OF_REACTIONS))
        fail_msg("%s: %g off those of one factorisation, %g off those of dense", what, error,
                 dense);
    printf("%-24s %.1e of one factorisation, %.1e of dense\n", what, error, dense);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

static void all_loops_agree(void **state)
{
    static const struct {
        lwt_kind kind;
        int n;
        const char *name;
    } cases[] = {{FOUR_BARS, 1, "a four-bar"},   {FOUR_BARS, 7, "four-bars"},
                 {CRANK_SLIDERS, 3, "sliders"},  {LADDER, 5, "a ladder"},
                 {SARRUS, 2, "Sarrus linkages"}, {TREE, 4, "a tree"},
                 {MIXED, 1, "mixed shapes"},     {CROSSES, 2, "universal joints"}};
    (void)state;
    for (int base = GROUND; base < NBASE; base++)
        for (int c = 0; c < LWI_COUNT(cases); c++) {
            char what[64];
            uint64_t seed = 40 * (uint64_t)base + (uint64_t)c;
            snprintf(what, sizeof what, "%s, base %d", cases[c].name, base);
            agree(what, build_on((lwt_base)base, cases[c].kind, cases[c].n, c % 2, &seed));
        }
}

// Where no rows are redundant loops have no self-stresses, and their rows need no elimination.  Loops that determine their
// speeds together are left to it.
static void unique_reactions_agree(void **state)
{
    static const struct {
        lwt_kind kind;
        bool coupled; // its loops may be
    } cases[] = {{BALLS, false}, {STEWART, false}, {STEWART_FEET, true}};
    (void)state;
    int left = 0;
    for (int i = 0; i < 2 * NBASE * LWI_COUNT(cases); i++) {
        const int base = i / 2 % NBASE, c = i / 2 / NBASE;
        uint64_t seed = 90 + (uint64_t)i;
        site s = new_site(&seed, false);
        place_on(&s, (lwt_base)base, &seed);
        populate(&s, cases[c].kind, 2);
        if (i & 1) add_forces(&s, &seed);
        lw_model *model = lwt_model(s.b);
        lwt_run r = drop(model, 0);
        step_on(&r, 20, inputs);
        const lwi_rcr_work *d = lwt_rcr(&r);
        const long before = d->e.passes;
        lwt_observe(r.work, r.t, r.x, inputs, &r.arena, &r.now);
        const bool by_loops = are_by_loops(&r);
        assert_null(d->reactions);
        assert_true(by_loops || cases[c].coupled);
        assert_true(by_loops == (d->e.passes == before));
        left += !by_loops;
        const double error = off_dense(&r);
        if (!(error < TOLERANCE_OF_PLATFORMS))
            fail_msg("case %d, base %d: %g off those of dense", c, base, error);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    assert_true(left > 0);
}

// The factorisation of all reactions is allocated by the first row that needs it.  A row that gets no memory says so, and the next
// one has the same numbers as if nothing had happened.
static void memory_that_is_missing_is_asked_for_again(void **state)
{
    (void)state;
    uint64_t seed = 3;
    lw_model *model = build(LADDER, 30, false, &seed);
    lwt_run r = drop(model, 0);
    const lwi_rcr_work *d = lwt_rcr(&r);
    lwi_snapshot m;
    step_on(&r, 2, inputs);
    lwt_observe(r.work, r.t, r.x, inputs, &r.arena, &r.now);
    assert_int_equal(lwi_snapshot_create(model, &r.arena, &m), LW_OK);
    assert_non_null(d->reactions);
    lwt_failing f = {0};
    const lw_allocator own = r.work->arena.allocator;
    lw_status status = LW_ERR_MEMORY;
    long failures = -1;
    while (status == LW_ERR_MEMORY) {
        f.left = ++failures;
        r.work->arena.allocator = lwt_failing_allocator(&f);
        status = lwi_rcr_reactions_observe(model, d->reactions, &d->tree, r.t, &m);
        r.work->arena.allocator = own;
    }
    assert_int_equal(status, LW_OK);
    assert_true(failures > 2);
    assert_true(off(model, &r.now, &m) < TOLERANCE_OF_REACTIONS);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Legs of walking machines: loops between loops, n on each crank.
static lw_model *walkers(int cranks, int n, bool forces, uint64_t seed)
{
    site s = new_site(&seed, !forces);
    for (int i = 0; i < cranks; i++) {
        const lw_body crank = blob(&s, 0, 0, i, 1);
        pin(&s, LW_JOINT_REVOLUTE, s.base, crank, AT(0, 0, i), Z, LW_CUT_AUTO);
        for (int k = 0; k < n; k++) leg(&s, crank, i + 0.05 * k, k % 2 ? -1 : 1);
    }
    if (forces) add_forces(&s, &seed);
    return lwt_model(s.b);
}

static lw_model *walker(int n, bool forces, uint64_t seed)
{
    return walkers(1, n, forces, seed);
}

static void legs_and_forces_agree(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++)
        for (int forces = 0; forces < 2; forces++) {
            char what[64];
            snprintf(what, sizeof what, "%d legs%s", n, forces ? " with forces" : "");
            agree(what, walker(n, forces, 70 + (uint64_t)n));
        }
}

// Two four-bars with a post in common, of which the first one locks a coordinate at the foot.
static lw_model *locked(lw_joint_type foot, uint64_t seed)
{
    site s = new_site(&seed, false);
    lw_body post[3];
    for (int k = 0; k < 3; k++) {
        post[k] = blob(&s, k, 0.5, 0.1 * k, 1);
        lwt_add(s.b, &(lw_joint_desc){.type = k == 1 ? foot : LW_JOINT_REVOLUTE,
                                      .body1 = s.base,
                                      .body2 = post[k],
                                      .at = rotated(&s, k, 0, 0),
                                      .axis = rotated(&s, 0, 0, 1),
                                      .axis2 = rotated(&s, 1, 0, 0)});
    }
    for (int k = 0; k < 2; k++) {
        const lw_body coupler = blob(&s, k + 0.5, 1.1, 0, 1);
        pin(&s, LW_JOINT_REVOLUTE, post[1], coupler, AT(1, 1, 0.2), Z, LW_CUT_NEVER);
        pin(&s, LW_JOINT_REVOLUTE, post[2 * k], coupler, AT(2 * k, 1.3, 0.1), Z, LW_CUT_PREFER);
    }
    return lwt_model(s.b);
}

// No loop alone has the self-stresses that both have there.
static void self_stresses_of_several_loops_agree(void **state)
{
    (void)state;
    agree("a revolute foot", locked(LW_JOINT_REVOLUTE, 11));
    agree("a universal foot", locked(LW_JOINT_UNIVERSAL, 12));
    agree("a cylindrical foot", locked(LW_JOINT_CYLINDRICAL, 13));
}

// Many loops at one joint are few columns in addition to the blocks of the others.
static void hubs_agree(void **state)
{
    (void)state;
    agree("10 legs", walker(10, false, 3));
    agree("10 legs with forces", walker(10, true, 5));
    agree("2 cranks of 5 legs", walkers(2, 5, true, 8));
}

// Of many such joints the columns would be many: reactions are found together, as those of drives are.
static void many_hubs_are_left_to_one_factorisation(void **state)
{
    (void)state;
    lw_model *model = walkers(5, 5, false, 3);
    lwt_run r = drop(model, 0);
    lwt_run_observe(&r);
    assert_true(lwt_rcr(&r)->reactions && lwt_rcr(&r)->clusters && !are_by_loops(&r));
    assert_true(off_other(&r, lwi_formulation_find("dca")) < TOLERANCE_OF_REACTIONS);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// In a plane across an axis of the world forces in it leave no reaction across it, not even round-off.
static void planes_have_no_reactions_across(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){1, -9, 0});
    lwt_add_mechanism(
        b, (lw_mechanism_desc){.mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 9, .q = {0.3}});
    lw_model *model = lwt_model(b);
    lwt_run r = drop(model, 0);
    step_on(&r, 5, NULL);
    lwt_run_observe(&r);
    assert_true(are_by_loops(&r));
    for (int j = 0; j < model->njoint; j++)
        for (int i = 2; i < 6; i++) assert_true(r.now.reaction[j][i] == 0); // of hinges in z, all
    assert_true(off_dense(&r) < TOLERANCE_OF_REACTIONS);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// A force across the plane by an input: rows with it and without it, in turn, each at another state.
static void forces_leave_the_plane_and_come_back(void **state)
{
    (void)state;
    lw_error error;
    lw_signal input;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){1, -9, 0});
    lwt_add_mechanism(
        b, (lw_mechanism_desc){.mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 3, .q = {0.3}});
    lwt_ok(lw_builder_add_input(b, "across", &input, &error), &error);
    const lw_wrench_desc across = {
        .body = {2}, .force = {0, 0, 1}, .torque = {1, 0, 0}, .scale = input};
    lwt_ok(lw_builder_add_wrench(b, &across, &error), &error);
    lw_model *model = lwt_model(b);
    lwt_run r = drop(model, 0);
    for (int n = 0; n < 5; n++) {
        const double push = n & 1 ? 3 : 0;
        lwi_snapshot dense;
        double largest = 0;
        step_on(&r, 5, &push);
        lwt_observe(r.work, r.t, r.x, &push, &r.arena, &r.now);
        assert_true(are_by_loops(&r));
        lwt_run d = lwt_run_from(model, DENSE, &r.now);
        lwt_observe(d.work, d.t, d.x, &push, &d.arena, &dense);
        for (int j = 0; j < model->njoint; j++) largest = fmax(largest, fabs(r.now.reaction[j][2]));
        assert_true(push > 0 ? largest > 1 : largest == 0);
        assert_true(off(model, &r.now, &dense) < TOLERANCE_OF_REACTIONS);
        lwt_run_end(&d);
    }
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Change of the reactions where the coordinates of the tree are off by so much.
static double change(const lw_model *model, double by)
{
    lwt_run closed = drop(model, 0), open = drop(model, 0);
    lwt_run_observe(&closed);
    for (int i = 0; i < model->tree_nq; i++) open.x[i] += by * cos(3 * i + 1);
    lwt_run_observe(&open);
    assert_true(are_by_loops(&open));
    const double found = off(model, &open.now, &closed.now);
    lwt_run_end(&open);
    lwt_run_end(&closed);
    return found;
}

// Positions that have drifted change reactions in proportion: self-stresses of tilted rows are not taken for independent.
static void drift_changes_reactions_in_proportion(void **state)
{
    static const lwt_kind kinds[] = {FOUR_BARS, LADDER, SARRUS, TREE};
    (void)state;
    for (int i = 0; i < LWI_COUNT(kinds); i++) {
        uint64_t seed = 5 + (uint64_t)i;
        lw_model *model = build(kinds[i], 3, false, &seed);
        const double little = change(model, 1e-7), more = change(model, 1e-6);
        if (!(little < 1e-4 && fabs(more - 10 * little) < 0.05 * more))
            fail_msg("mechanism %d: reactions change by %g and %g", i, little, more);
        lw_model_destroy(model);
    }
}

static void same_row(const lw_model *model, const lwi_snapshot *a, const lwi_snapshot *b)
{
    assert_memory_equal(a->v, b->v, (size_t)model->nbody * sizeof *a->v);
    assert_memory_equal(a->a, b->a, (size_t)model->nbody * sizeof *a->a);
    assert_memory_equal(a->qdd, b->qdd, (size_t)model->nv * sizeof *a->qdd);
    assert_memory_equal(a->reaction, b->reaction, (size_t)model->njoint * sizeof *a->reaction);
}

// Velocities at another state, as between the rates of a step and the row at its end.
static void observe_elsewhere(lwt_run *r, const double *in, lwi_snapshot *m)
{
    double *x = lwt_vector(r->work->layout.nx);
    memcpy(x, r->x, (size_t)r->work->layout.nx * sizeof *x);
    for (int i = 0; i < r->model->tree_nv; i++) x[r->model->tree_nq + i] += 1;
    lwt_ok(RCR->observe(r->work, r->t, x, in, LW_OBSERVE_TWIST, m), &r->work->error);
    free(x);
}

// A row and the rates at its state take what the other has found: both have the bits that they have alone, at the next
// state, with other inputs, and after velocities at another state, too.
static void rows_and_rates_share_evaluations(void **state)
{
    static const lwt_kind kinds[] = {FOUR_BARS, LADDER, SARRUS, MIXED, STEWART};
    (void)state;
    for (int i = 0; i < 2 * LWI_COUNT(kinds) * NBASE; i++) {
        uint64_t seed = 5 + (uint64_t)i;
        site s = new_site(&seed, false);
        place_on(&s, (lwt_base)(i / 2 % NBASE), &seed);
        populate(&s, kinds[i / 2 / NBASE], 3);
        if (i & 1) add_forces(&s, &seed);
        lw_model *model = lwt_model(s.b);
        enum { RATES, ROWS, BOTH, NRUN };
        double in[8] = {0}, *xdot[NRUN];
        lwt_run r[NRUN];
        assert_true(model->desc.ninput <= LWI_COUNT(in));
        for (int k = 0; k < NRUN; k++) {
            r[k] = drop(model, 0);
            xdot[k] = lwt_vector(r[k].work->layout.nx);
            step_on(&r[k], 2, in);
        }
        for (int n = 0; n < 6; n++) {
            lwi_snapshot m[NRUN];
            for (int k = 0; k < NRUN; k++) {
                const bool before = k == BOTH && (n & 1);
                lwi_snapshot velocities;
                assert_int_equal(lwi_snapshot_create(model, &r[k].arena, &velocities), LW_OK);
                if (k == RATES || before)
                    lwt_ok(RCR->rates(r[k].work, r[k].t, r[k].x, in, xdot[k]), &r[k].work->error);
                if (before) observe_elsewhere(&r[k], in, &velocities);
                if (k != RATES) lwt_observe(r[k].work, r[k].t, r[k].x, in, &r[k].arena, &m[k]);
                if (k == BOTH && !before) observe_elsewhere(&r[k], in, &velocities);
                if (k == BOTH)
                    lwt_ok(RCR->rates(r[k].work, r[k].t, r[k].x, in, xdot[k]), &r[k].work->error);
            }
            assert_memory_equal(xdot[BOTH], xdot[RATES],
                                (size_t)r[0].work->layout.nx * sizeof(double));
            same_row(model, &m[BOTH], &m[ROWS]);
            if (n == 3)
                for (int k = 0; k < LWI_COUNT(in); k++) in[k] = 0.5;
            else
                for (int k = 0; k < NRUN; k++) r[k].x[model->tree_nq + n % model->tree_nv] += 0.1;
        }
        for (int k = 0; k < NRUN; k++) lwt_run_end(&r[k]), free(xdot[k]);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_loops_agree),
        cmocka_unit_test(unique_reactions_agree),
        cmocka_unit_test(memory_that_is_missing_is_asked_for_again),
        cmocka_unit_test(legs_and_forces_agree),
        cmocka_unit_test(self_stresses_of_several_loops_agree),
        cmocka_unit_test(hubs_agree),
        cmocka_unit_test(many_hubs_are_left_to_one_factorisation),
        cmocka_unit_test(planes_have_no_reactions_across),
        cmocka_unit_test(forces_leave_the_plane_and_come_back),
        cmocka_unit_test(drift_changes_reactions_in_proportion),
        cmocka_unit_test(rows_and_rates_share_evaluations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
