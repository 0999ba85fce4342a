// test_clusters.c -- evaluations of `rcr` by loop clusters in lanes against its elimination, absolute coordinates, and
// clusters in other widths.
#include "methods/rcr/cluster_cases.h"

static void check_kind(lwt_kind kind, int n, const char *what, int falls)
{
    findings worst = {0};
    for (int i = 0; i < falls; i++) {
        uint64_t seed = 1000 * (uint64_t)kind + (uint64_t)i;
        lw_model *model = build(kind, n, i == 0, &seed);
        lwt_run r = drop(model, 1);
        for (int k = 0; k < 4; k++) {
            step_on(&r, 40, NULL);
            compare(&r, NULL, what, &worst);
        }
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    print_message(
        "%s, %d: by clusters %d of %d, off %.1e, off dense %.1e, rows %.1e, pivots %.2f\n", what, n,
        worst.done, worst.requested, worst.generic, worst.dense, worst.rows, worst.ratio);
    // nearly all states are far from singular positions
    if (2 * worst.done < worst.requested)
        fail_msg("%s: clusters did %d of %d", what, worst.done, worst.requested);
}

// The accelerations, the speeds and the rates of cut joints are those of the general elimination
// and of absolute coordinates, in any attitude; all widths have the same bits.
static void clusters_agree(void **state)
{
    (void)state;
    check_kind(FOUR_BARS, 1, "one four-bar", 3);
    check_kind(FOUR_BARS, 9, "four-bars", 3);
    check_kind(FOUR_BARS, 20, "four-bars", 2);
    check_kind(CRANK_SLIDERS, 5, "crank-sliders", 3);
    check_kind(LADDER, 1, "ladder", 3);
    check_kind(LADDER, 10, "ladder", 3);
    check_kind(SARRUS, 3, "Sarrus linkages", 3);
    check_kind(SEVEN_HINGES, 3, "seven hinges", 3);
    check_kind(BALLS, 3, "loops closed by balls", 3);
    check_kind(HALVES, 1, "loops closed by fixed joints", 3);
    check_kind(HALVES, 3, "loops closed by fixed joints", 3);
    check_kind(CROSSES, 1, "loops closed by universal joints", 3);
    check_kind(CROSSES, 4, "loops closed by universal joints", 3);
    check_kind(TREE, 4, "tree of clusters", 3);
    check_kind(MIXED, 3, "mixed shapes", 3);
}

// The same where loops determine their speeds together: platforms on several legs.
static void coupled_loops_agree(void **state)
{
    (void)state;
    check_kind(DELTA, 1, "a Delta robot", 3);
    check_kind(DELTA, 3, "Delta robots", 2);
    check_kind(STEWART, 1, "a Stewart platform", 3);
    check_kind(STEWART, 2, "Stewart platforms", 2);
    check_kind(DELTA_CROSSES, 2, "Delta robots closed by universal joints", 3);
    check_kind(DELTA_FEET, 1, "a Delta robot closed by universal joints at its arms", 3);
    check_kind(STEWART_FEET, 1, "a Stewart platform closed by universal joints", 3);
    check_kind(STEWART_FEET, 2, "Stewart platforms closed by universal joints", 2);
    check_kind(REVERSED, 1, "platforms on reversed balls", 3);
    check_kind(CRANKS, 1, "a platform on eight cranks", 3);
    check_kind(PLANE, 1, "a platform in a plane", 3);
    check_kind(PLANE, 2, "platforms in a plane", 3);
    check_kind(PLANE_HALVES, 1, "a platform in a plane, halves", 3);
    check_kind(PLANE_HALVES, 3, "platforms in a plane, halves", 2);
}

// Of hinges and sliders, which are in the tree however the loops are closed: coordinates, speeds and accelerations.
static int rates_of_sliders(const lwt_run *r, double (*to)[3])
{
    const lw_model *model = r->model;
    double *xdot = lwt_vector(r->work->layout.nx), min;
    int n = 0;
    assert_true(by_clusters(r, 1, NULL, xdot, &min));
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->type->nv != 1) continue;
        const lwi_node *node = &model->node[joint->node];
        to[n][0] = r->x[node->iq];
        to[n][1] = xdot[node->iq];
        to[n++][2] = xdot[model->tree_nq + node->iv];
    }
    free(xdot);
    return n;
}

// The same motion, whichever joints close the loops, and with the bodies of universal joints exchanged.
static void cuts_do_not_matter(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        double one[8][3], other[8][3];
        lwi_snapshot now;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        for (int at = 0; at < NCROSSES; at++) {
            uint64_t seed = 31 + (uint64_t)kind;
            site s = new_site(&seed, false);
            if (kind)
                stewart_closed(&s, 0, false, (lwt_crosses)at);
            else
                delta_on_crosses(&s, 0, (lwt_crosses)at);
            lw_model *model = lwt_model(s.b);
            lwt_run r = at ? lwt_run_from(model, RCR, &now) : drop(model, 1);
            if (at == 0) {
                step_on(&r, 60, NULL);
                lwt_observe(r.work, r.t, r.x, NULL, &arena, &now);
            }
            const int n = rates_of_sliders(&r, at ? other : one);
            assert_int_equal(n, kind ? 6 : 3);
            const double off = at ? difference(3 * n, one[0], other[0]) : 0;
            print_message("robot %d closed at %d: %.1e\n", kind, at, off);
            assert_true(off < TOLERANCE);
            lwt_run_end(&r);
            lw_model_destroy(model);
        }
        lwi_arena_free(&arena);
    }
}

// The largest speed across the closing joints where independent speeds are one, one after the other.
static double speeds_left(lwt_run *r)
{
    const lw_model *model = r->model;
    const lwi_rcr_choice *choice = r->work->discrete;
    double largest = 0, *v = r->x + model->tree_nq;
    for (int j = 0; j < model->tree_nv; j++) {
        if (choice->dependent[j]) continue;
        memset(v, 0, (size_t)model->tree_nv * sizeof *v);
        v[j] = 1;
        lwt_run_observe(r);
        const lwi_motion motion = {
            .R = (const double(*)[9])r->now.R, .r = (const double(*)[3])r->now.r, .q = r->now.q};
        for (int i = 0; i < model->nloop; i++) {
            lwi_closure c;
            lwi_joint_closure(model, model->loop[i], r->t, &motion, LWI_CLOSURE_POSITION, &c);
            for (int k = 0; k < c.n; k++) {
                double sum = 0;
                for (int s = 0; s < c.nbody; s++)
                    sum += v3_dot(c.J[s][k], r->now.v[c.body[s]]) +
                           v3_dot(c.J[s][k] + 3, r->now.w[c.body[s]]);
                largest = fmax(largest, fabs(sum));
            }
        }
    }
    return largest;
}

// Another partition at random, of which both loops of the platform together determine the dependent speeds.
static bool choose_coupled(const lwt_run *r, uint64_t *seed)
{
    lwi_rcr_choice *choice = r->work->discrete;
    const lwi_rcr_work *d = lwt_rcr(r);
    const int n = r->model->tree_nv;
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)(0.5 * (1 + draw(seed)) * (i + 1));
        const unsigned char keep = choice->dependent[i];
        choice->dependent[i] = choice->dependent[k], choice->dependent[k] = keep;
    }
    return lwi_rcr_clusters_fit(d->clusters, choice->dependent) &&
           lwi_rcr_clusters_count(d->clusters) == 1;
}

// Normal equations of coupled loops lose digits; those of rotations are corrected by what is left of the rows.
static void rows_of_coupled_loops_are_corrected(void **state)
{
    double sum = 0;
    int count = 0;
    (void)state;
    for (int i = 0; i < 10; i++) { // a small platform: columns enclose small angles
        uint64_t seed = 40 + (uint64_t)i;
        site s = new_site(&seed, false);
        plane_platform(&s, 0, LW_JOINT_FIXED, 0.03);
        lw_model *model = lwt_model(s.b);
        lwt_run r = drop(model, 1);
        double *xdot = lwt_vector(r.work->layout.nx), min;
        step_size = 1e-4;
        step_on(&r, 10, NULL);
        for (int k = 0; k < 50; k++) {
            if (!choose_coupled(&r, &seed) || !by_clusters(&r, 1, NULL, xdot, &min)) continue;
            sum += speeds_left(&r) * min; // relative to the largest speed
            count++;
        }
        free(xdot);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    print_message("rows of %d partitions: speeds left %.1e in the mean\n", count, sum / count);
    assert_true(count > 20);
    assert_true(sum / count < 1.5 * DBL_EPSILON);
}

// A loop in which a small body is between a rod and the joint that closes it.
static lw_model *loop_at_small_body(lw_joint_type type, uint64_t seed)
{
    site s = new_site(&seed, false);
    const lw_body a = blob(&s, 0.1, 0.3, 0.1, 1), b = blob(&s, 0.6, 0.6, 0, 1);
    const lw_body c = blob(&s, 1, 0.2, 0.1, 1), small = blob(&s, 1, 0.5, 0.1, 1e-6);
    const double *end = AT(1, 0.5, 0.1);
    pin(&s, LW_JOINT_REVOLUTE, s.base, a, AT(0, 0, 0), AT(0.1, 0.2, 1), LW_CUT_NEVER);
    universal(&s, a, b, AT(0.2, 0.5, 0), Z, Y, false, LW_CUT_NEVER);
    pin(&s, LW_JOINT_REVOLUTE, b, small, end, AT(0.5, 1, 0.3), LW_CUT_NEVER);
    pin(&s, LW_JOINT_REVOLUTE, s.base, c, AT(1, 0, 0), AT(0.3, 0, 1), LW_CUT_NEVER);
    if (type == LW_JOINT_UNIVERSAL)
        universal(&s, small, c, end, X, Z, false, LW_CUT_ALWAYS);
    else
        pin(&s, type, small, c, end, Z, LW_CUT_ALWAYS);
    return lwt_model(s.b);
}

// Where points are a distance d apart within a step, the force f of their joint acts on each body at its own point, and the
// small body is not accelerated by d f / I, but as far as the mechanism's motion is another one.
static void small_bodies_have_no_couple(void **state)
{
    static const lw_joint_type types[] = {LW_JOINT_SPHERICAL, LW_JOINT_UNIVERSAL};
    const double off = 1e-6;
    (void)state;
    for (int i = 0; i < 2 * LWI_COUNT(types); i++) {
        lw_model *model = loop_at_small_body(types[i / 2], 50 + (uint64_t)i);
        lwt_run r = drop(model, 1);
        const int nq = model->tree_nq, nv = model->tree_nv;
        double *closed = lwt_vector(r.work->layout.nx), *open = lwt_vector(r.work->layout.nx), min;
        step_on(&r, 40, NULL);
        assert_true(by_clusters(&r, 1, NULL, closed, &min));
        for (int k = 0; k < nq; k++) r.x[k] += off * cos(3 * k + 1);
        assert_true(by_clusters(&r, 1, NULL, open, &min));
        const double change = difference(nv, closed + nq, open + nq);
        print_message("joint %d: %.1e\n", i, change);
        assert_true(change < 100 * off);
        free(closed);
        free(open);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

// ---------------------------------------------------------------------------------------- limits

// A row is made by clusters; else to the last bit by the elimination.
static void check_flat_row(const lwt_run *r, bool clusters)
{
    lwi_arena arena;
    lwi_snapshot general, row;
    lwi_arena_init(&arena, NULL);
    assert_false(observe_by(r, LWI_NO_KERNEL, NULL, &arena, &general));
    assert_int_equal(observe_by(r, 1, NULL, &arena, &row), clusters);
    if (!clusters) assert_true(row_difference(r->model, &general, &row) == 0);
    lwi_arena_free(&arena);
}

// The columns of a parallelogram enclose the angle between rod and coupler: 0.02 rad from the flat position their
// squared sine is LWI_CLUSTER_PIVOT.  Closer to it the evaluation is the elimination's, to the last bit; farther
// away the clusters', and close to the elimination's.
static void flat_clusters_are_left_to_the_elimination(void **state)
{
    static const double off[] = {0.3, 0.05, 0.03, 0.01, 0.001};
    (void)state;
    for (int i = 0; i < LWI_COUNT(off); i++) {
        lw_model *model = lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_N_FOUR_BAR,
                                                            .n = 3,
                                                            .q = {1.5707963267948966 - off[i]},
                                                            .qd = {1}});
        lwt_run r = drop(model, 1);
        const int n = r.work->layout.nx;
        double *general = lwt_vector(n), *now = lwt_vector(n), *clusters = lwt_vector(n), min;
        by_elimination(&r, NULL, general);
        lwt_ok(RCR->rates(r.work, 0, r.x, NULL, now), &r.work->error);
        assert_int_equal(by_clusters(&r, 1, NULL, clusters, &min), off[i] > 0.02);
        if (off[i] > 0.02)
            assert_memory_equal(now, clusters, (size_t)n * sizeof *now);
        else
            assert_memory_equal(now, general, (size_t)n * sizeof *now);
        check_flat_row(&r, off[i] > 0.02);
        // both lose the digits that the position costs, once and twice
        lwt_near("flat", i, difference(n, general, now), 0, 64 * DBL_EPSILON / (off[i] * off[i]));
        free(general);
        free(now);
        free(clusters);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

// A start that clusters continue from has no reduced inertias; an elimination that is asked for accelerations there finds
// them, to the last bit those of one that had them.
static void inertias_are_reduced_on_demand(void **state)
{
    (void)state;
    const lwt_kind kinds[] = {FOUR_BARS, LADDER, SARRUS};
    for (int i = 0; i < LWI_COUNT(kinds); i++) {
        uint64_t seed = (uint64_t)i;
        lwi_arena arena;
        lwi_snapshot late, general;
        lw_model *model = build(kinds[i], 3, true, &seed);
        lwt_run r = lwt_run_start(model, RCR);
        lwi_rcr_work *d = r.work->data;
        lwi_arena_init(&arena, NULL);
        assert_non_null(d->clusters);
        assert_false(d->e.reduced);
        const long passes = d->e.passes;
        d->clusters = NULL, d->dense = NULL;
        lwt_observe(r.work, r.t, r.x, NULL, &arena, &late);
        assert_true(d->e.reduced);
        assert_int_equal(d->e.passes, passes + 1); // the speeds are taken
        assert_false(observe_by(&r, LWI_NO_KERNEL, NULL, &arena, &general));
        assert_true(row_difference(model, &general, &late) == 0);
        lwi_arena_free(&arena);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

// A run by clusters conserves the energy as one by the elimination, and remains close to it.
static void segments_conserve_energy(void **state)
{
    static const struct {
        lwt_kind kind;
        int steps;
    } cases[] = {{LADDER, 400}, {FOUR_BARS, 400}, {DELTA, 200},         {STEWART, 100},
                 {PLANE, 100},  {CROSSES, 200},   {DELTA_CROSSES, 200}, {STEWART_FEET, 50}};
    (void)state;
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        uint64_t seed = 11;
        lw_model *model = build(cases[k].kind, 3, false, &seed);
        lwt_run a = drop(model, 0), b = drop(model, LWI_NO_KERNEL);
        const double start = energy_of(&a);
        memcpy(b.work->discrete, a.work->discrete, a.work->ndiscrete);
        step_on(&a, cases[k].steps, NULL);
        step_on(&b, cases[k].steps, NULL);
        // h^4 of Runge and Kutta with h = 1e-3 and motions of some 10/s: 1e-8 of energies of 100 J
        const double lost = energy_of(&a) - start, other = energy_of(&b) - start;
        lwt_near("energy", k, lost, 0, 1e-6);
        lwt_near("energy by the general text", k, lost, other, 1e-9);
        lwt_near("state", k, difference(a.work->layout.nx, a.x, b.x), 0, 1e-9);
        lwt_run_end(&a);
        lwt_run_end(&b);
        lw_model_destroy(model);
    }
}

// Position error of the loops, by clusters and by rows.
static void gaps_are_reported(void **state)
{
    static const double off[] = {0, 1e-6, 1e-2};
    (void)state;
    for (int kind = 0; kind < NKIND; kind++) {
        for (int i = 0; i < LWI_COUNT(off); i++) {
            char what[64];
            uint64_t seed = 20 + (uint64_t)kind;
            lw_model *model = build((lwt_kind)kind, 5, i == 0, &seed);
            lwt_run r = drop(model, 1);
            snprintf(what, sizeof what, "kind %d, off by %g", kind, off[i]);
            compare_gaps(&r, NULL, off[i], what);
            lwt_run_end(&r);
            lw_model_destroy(model);
        }
    }
}

// Models that clusters do not cover are left to the elimination: spherical joints of the tree.
static void others_have_no_clusters(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t seed = 3;
        site s = new_site(&seed, true);
        const lw_body rocker = four_bar(&s, lwt_ground, 0, 0, 0);
        if (i == 1) {
            const lw_body link = blob(&s, 0.5, 0.5, 0.5, 1);
            pin(&s, LW_JOINT_SPHERICAL, lwt_ground, link, AT(0, 0.5, 0.5), Z, LW_CUT_AUTO);
            pin(&s, LW_JOINT_SPHERICAL, rocker, link, AT(0.9, 0.6, 0.5), Z, LW_CUT_PREFER);
        }
        lw_model *model = lwt_model(s.b);
        lwi_work *work = work_of(model, 1);
        assert_int_equal(lwt_rcr(&(lwt_run){.work = work})->clusters != NULL, i == 0);
        lwi_work_destroy(work);
        lw_model_destroy(model);
    }
}

// Three loops of four to seven hinges and sliders, in a plane or in space, between bodies at random, closed by fixed joints:
// loops that share coordinates, of which some can be clusters only together with others.
static lw_model *random_loops(uint64_t *seed)
{
    enum { LOOPS = 3, MOST = 7 };
    site s = new_site(seed, false);
    lw_body bodies[LOOPS * MOST + 1] = {lwt_ground};
    int nbody = 1;
    for (int l = 0; l < LOOPS; l++) {
        const int count = 4 + (int)(2 + 2 * draw(seed)), first = count / 2;
        const bool planar = draw(seed) < 0.2;
        lw_body end[2];
        for (int i = 0; i < 2; i++) end[i] = bodies[(int)(0.5 * (1 + draw(seed)) * (nbody - 0.01))];
        for (int i = 0; i < count; i++) {
            const int side = i >= first;
            const bool slides = draw(seed) > 0.7;
            const double at[3] = {draw(seed), draw(seed), draw(seed)},
                         in_space[3] = {draw(seed), draw(seed), draw(seed)},
                         across[3] = {in_space[0], in_space[1], 0},
                         *axis = !planar  ? in_space
                                 : slides ? across
                                          : Z;
            const lw_body next =
                blob(&s, at[0] + draw(seed), at[1] + draw(seed), at[2] + draw(seed), 1);
            pin(&s, slides ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE, end[side], next, at, axis,
                LW_CUT_AUTO);
            bodies[nbody++] = end[side] = next;
        }
        pin(&s, LW_JOINT_FIXED, end[0], end[1], AT(draw(seed), draw(seed), draw(seed)), Z,
            LW_CUT_PREFER);
    }
    return lwt_model(s.b);
}

enum { CASES_OF_ALL_LOOPS = 240 };

// Seven kinds of loops in rows of one to five, then loops at random.
static lw_model *case_of_all_loops(int i)
{
    static const lwt_kind kinds[] = {FOUR_BARS,    CRANK_SLIDERS, LADDER, SARRUS,
                                     SEVEN_HINGES, BALLS,         TREE};
    uint64_t seed = (uint64_t)i;
    return i < 20 * LWI_COUNT(kinds) ? build(kinds[i / 20], 1 + i % 5, i % 2, &seed)
                                     : random_loops(&seed);
}

// The partition that ranks leave at the start is the one that is chosen there, to the last speed.
static void ranks_choose_as_choices(void **state)
{
    (void)state;
    int known = 0;
    for (int i = 0; i < CASES_OF_ALL_LOOPS; i++) {
        lw_model *model = case_of_all_loops(i);
        lwt_run r = lwt_run_start(model, RCR);
        lwi_rcr_work *d = r.work->data;
        if (d->e.at_start) {
            known++;
            lwt_ok(lwi_rcr_choose(&d->e, d->theta, 0, &r.work->error), &r.work->error);
            if (memcmp(d->e.fresh, d->e.at_start, (size_t)model->tree_nv))
                fail_msg("case %d: the choice is another one", i);
        }
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    assert_true(known > 100);
}

// Components that the self-stresses of single loops change are those that one factorisation over all bodies finds.
static void loops_have_all_self_stresses(void **state)
{
    (void)state;
    int found = 0, left = 0;
    for (int i = 0; i < CASES_OF_ALL_LOOPS; i++) {
        lw_model *model = case_of_all_loops(i);
        lwt_run r = lwt_run_start(model, RCR);
        lwi_rcr_work *d = r.work->data;
        const int redundant = d->cut.m - lwi_rcr_rank(&d->e);
        unsigned char *loops = calloc((size_t)model->njoint, 1);
        int *dependent = LWI_PUSH(&r.arena, int, model->nloop);
        lwi_rcr_reactions *all;
        lwi_snapshot now;
        lwi_cut_rows(&d->cut, &d->tree, 0, LWI_CLOSURE_POSITION);
        lwi_rcr_place(&d->e, &d->tree, 0);
        const bool single =
            loops && lwi_rcr_self_stresses(&d->e, &d->tree, redundant, loops, dependent);
        assert_int_equal(lwi_rcr_reactions_create(model, &d->tree, NULL, &r.arena, &all), LW_OK);
        assert_int_equal(lwi_snapshot_create(model, &r.arena, &now), LW_OK);
        lwi_rcr_reactions_mark(model, all, &now);
        for (int j = 0; j < model->njoint && single && redundant > 0; j++)
            if (!model->joint[j].merged && loops[j] != now.undetermined[j])
                fail_msg("case %d, joint %d: components %x, expected %x", i, j, loops[j],
                         now.undetermined[j]);
        found += single && redundant > 0, left += !single;
        free(loops);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    printf("self-stresses of single loops: %d models, not: %d\n", found, left);
    assert_true(found > 60);
}

// A motion away from the model's start is entered by clusters, without an elimination: speeds are those of the elimination,
// and state and partition, to the last bit, those of a new workspace, independent of what was entered or evaluated before.
static void check_entering(lwt_kind kind, int n)
{
    uint64_t seed = 5 + (uint64_t)kind;
    lw_model *model = build(kind, n, true, &seed);
    lwt_run r = drop(model, 1);
    const int nx = r.work->layout.nx;
    double *x = lwt_vector(nx), *again = lwt_vector(nx), *other = lwt_vector(nx);
    step_on(&r, 20, NULL);
    lwt_run_observe(&r);
    r.now.t = 0;
    for (int i = 0; i < 3; i++) { // also at the time of the start
        lwi_work *fresh = work_of(model, 1), *general = work_of(model, LWI_NO_KERNEL);
        lwt_ok(RCR->enter(fresh, &r.now, x), &fresh->error);
        const long passes = ((lwi_rcr_work *)fresh->data)->e.passes;
        lwt_ok(RCR->enter(fresh, &r.now, again), &fresh->error);
        assert_true(((lwi_rcr_work *)fresh->data)->e.passes == passes);
        lwt_ok(RCR->enter(r.work, &r.now, other), &r.work->error);
        assert_memory_equal(x, again, (size_t)nx * sizeof *x);
        assert_memory_equal(x, other, (size_t)nx * sizeof *x);
        assert_memory_equal(fresh->discrete, r.work->discrete, r.work->ndiscrete);
        lwt_ok(RCR->enter(general, &r.now, other), &general->error);
        for (int k = 0; k < nx; k++) lwt_near("entered", k, x[k], other[k], 1e-9);
        lwi_work_destroy(fresh);
        lwi_work_destroy(general);
        memcpy(r.x, x, (size_t)nx * sizeof *x);
        r.t = r.now.t;
        step_on(&r, 5, NULL);
        lwt_run_observe(&r);
    }
    free(x);
    free(again);
    free(other);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

static void states_are_entered_by_clusters(void **state)
{
    (void)state;
    check_entering(FOUR_BARS, 1);
    check_entering(FOUR_BARS, 9);
    check_entering(LADDER, 3);
    check_entering(BALLS, 3);
    check_entering(DELTA, 1);
}

// A partition that is taken in place of the one with the largest pivots is one that clusters evaluate.
static void preferred_partitions_fit(void **state)
{
    (void)state;
    int taken = 0;
    for (uint64_t i = 0; i < 150; i++) {
        uint64_t seed = i;
        lw_model *model = random_loops(&seed);
        lwt_run r = lwt_run_start(model, RCR);
        lwi_rcr_work *d = r.work->data;
        const size_t n = (size_t)model->tree_nv;
        unsigned char *chosen = calloc(n, 1);
        if (d->clusters && chosen) {
            lwt_ok(lwi_rcr_choose(&d->e, d->theta, 0, &r.work->error), &r.work->error);
            memcpy(chosen, d->e.fresh, n);
            lwi_rcr_clusters_prefer(r.work, 0, r.x, chosen);
            if (memcmp(chosen, d->e.fresh, n)) {
                taken++;
                if (!lwi_rcr_clusters_fit(d->clusters, chosen))
                    fail_msg("seed %d: clusters do not have the partition", (int)i);
            }
        }
        free(chosen);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
    assert_true(taken > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_agree),
        cmocka_unit_test(coupled_loops_agree),
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(rows_of_coupled_loops_are_corrected),
        cmocka_unit_test(small_bodies_have_no_couple),
        cmocka_unit_test(flat_clusters_are_left_to_the_elimination),
        cmocka_unit_test(inertias_are_reduced_on_demand),
        cmocka_unit_test(ranks_choose_as_choices),
        cmocka_unit_test(segments_conserve_energy),
        cmocka_unit_test(gaps_are_reported),
        cmocka_unit_test(others_have_no_clusters),
        cmocka_unit_test(states_are_entered_by_clusters),
        cmocka_unit_test(preferred_partitions_fit),
        cmocka_unit_test(loops_have_all_self_stresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
