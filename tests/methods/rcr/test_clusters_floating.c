// test_clusters_floating.c -- loops on floating bodies or on a spherical joint, by loop clusters in lanes: against the
// elimination, absolute coordinates, and other widths.
#include "methods/rcr/cluster_forces.h"

static const char *const names[NBASE] = {"the ground", "a floating body", "a free joint", "a ball"};

// Every kind of loop: accelerations, also those of the body, speeds, rates of quaternions and of cut joints.
static void clusters_agree(void **state)
{
    static const struct {
        lwt_kind kind;
        int n;
        const char *name;
    } cases[] = {{FOUR_BARS, 1, "a four-bar"},
                 {FOUR_BARS, 6, "four-bars"},
                 {CRANK_SLIDERS, 3, "crank-sliders"},
                 {LADDER, 4, "a ladder"},
                 {SARRUS, 2, "Sarrus linkages"},
                 {SEVEN_HINGES, 2, "seven hinges"},
                 {BALLS, 2, "balls"},
                 {TREE, 3, "a tree"},
                 {MIXED, 1, "mixed shapes"},
                 {DELTA, 1, "a Delta robot"},
                 {REVERSED, 1, "platforms on reversed balls"},
                 {PLANE, 2, "platforms in a plane"},
                 {CROSSES, 2, "universal joints"},
                 {DELTA_CROSSES, 1, "a Delta robot on universal joints"},
                 {STEWART_FEET, 1, "a platform on universal joints"}};
    (void)state;
    for (int base = FLOATING; base < NBASE; base++)
        for (int c = 0; c < LWI_COUNT(cases); c++) {
            char what[64];
            findings worst = {0};
            snprintf(what, sizeof what, "%s on %s", cases[c].name, names[base]);
            for (int i = 0; i < 2; i++) {
                uint64_t seed = 500 * (uint64_t)base + 10 * (uint64_t)c + (uint64_t)i;
                check(build_on((lwt_base)base, cases[c].kind, cases[c].n, i == 0, &seed), what,
                      &worst);
            }
            report(what, &worst);
        }
}

// Legs on a crank on a floating body, with all kinds of forces, on that body too.
static void walkers_agree(void **state)
{
    (void)state;
    for (int base = FLOATING; base < NBASE; base++) {
        findings worst = {0};
        for (int i = 0; i < 3; i++) {
            uint64_t seed = 700 + 10 * (uint64_t)base + (uint64_t)i;
            site s = new_site(&seed, i == 0);
            place_on(&s, (lwt_base)base, &seed);
            const lw_body crank = blob(&s, 0, 0, 0, 1);
            pin(&s, LW_JOINT_REVOLUTE, s.base, crank, AT(0, 0, 0), Z, LW_CUT_AUTO);
            for (int k = 0; k < 2; k++) leg(&s, crank, 0.05 * k, k % 2 ? -1 : 1);
            if (i > 0) {
                add_forces(&s, &seed);
                add_spring(&s, s.base, lwt_ground, (lw_signal){0}, &seed);
                add_wrench(&s, s.base, (lw_signal){0}, true, &seed);
            }
            check(lwt_model(s.b), names[base], &worst);
        }
        report(names[base], &worst);
    }
}

// Several machines in one model, on different bodies and on the ground, some in one block of lanes; and a floating body
// that carries nothing.
static void machines_agree(void **state)
{
    findings worst = {0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint64_t seed = 900 + (uint64_t)i;
        site s = new_site(&seed, i == 0);
        for (int k = 0; k < 5; k++) {
            place_on(&s, k < NBASE ? (lwt_base)k : FLOATING, &seed);
            if (k == 4) break;
            const lw_body rocker = four_bar(&s, s.base, 0, 0, k);
            four_bar(&s, rocker, 0.7, 0.3, k + 0.1);
            branch(&s, s.base, -1, -1, 2);
        }
        if (i > 1) add_forces(&s, &seed);
        check(lwt_model(s.b), "machines", &worst);
    }
    report("machines", &worst);
    assert_int_equal(worst.done, worst.requested);
}

// Rotors and gears on floating bodies.
static void rotors_and_gears_agree(void **state)
{
    static const double gear[] = {0.2, -1.5};
    findings worst = {0};
    (void)state;
    for (int i = 0; i < 2 * NBASE; i++) {
        uint64_t seed = 950 + (uint64_t)i;
        site s = new_site(&seed, i == 0);
        lw_joint shaft[2];
        lw_body wheel[2];
        place_on(&s, (lwt_base)(i % NBASE), &seed);
        for (int k = 0; k < 2; k++) {
            wheel[k] = blob(&s, k + 0.1, -1, 0.1 * k, 1);
            shaft[k] = lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                                     .body1 = s.base,
                                                     .body2 = wheel[k],
                                                     .at = rotated(&s, k, -1, 0),
                                                     .axis = rotated(&s, 0.3 * k, 0, 1),
                                                     .has_q = 1,
                                                     .q = {0.2 * k},
                                                     .coordinate[0] = {.rotor = 0.4}});
        }
        couple(&s, shaft[1], shaft[0], gear, 2);
        four_bar(&s, wheel[0], 0, 0, 0);
        if (i >= NBASE) add_forces(&s, &seed);
        check(lwt_model(s.b), "rotors and gears", &worst);
    }
    report("rotors and gears", &worst);
    assert_int_equal(worst.done, worst.requested);
}

// Loops that contain the floating body have no cluster: one closed by the ground.  A body between two balls, which rotates
// about its axis without effect, has rows that determine no cluster: its evaluations are the elimination's.
static void others_have_no_clusters(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint64_t seed = 3;
        site s = new_site(&seed, true);
        const lw_body base = blob(&s, 0, 0.3, 0, 3), rocker = four_bar(&s, base, 0, 0, 0);
        const lw_body other = i == 2 ? blob(&s, 1, 1, 0, 1) : lwt_ground;
        if (i) {
            pin(&s, LW_JOINT_SPHERICAL, base, other, AT(0, 0.6, 0.5), Z, LW_CUT_NEVER);
            pin(&s, LW_JOINT_SPHERICAL, rocker, other, AT(0.9, 0.6, 0.5), Z, LW_CUT_ALWAYS);
        }
        lw_model *model = lwt_model(s.b);
        lwi_work *work = work_of(model, 1);
        assert_int_equal(lwt_rcr(&(lwt_run){.work = work})->clusters != NULL, i != 1);
        lwi_work_destroy(work);
        if (i == 2) {
            lwt_run r = drop(model, 1);
            double *general = lwt_vector(r.work->layout.nx), *now = lwt_vector(r.work->layout.nx);
            by_elimination(&r, NULL, general);
            lwt_ok(RCR->rates(r.work, 0, r.x, NULL, now), &r.work->error);
            lwt_near("two balls", 0, difference(r.work->layout.nx, general, now), 0, TOLERANCE);
            free(general);
            free(now);
            lwt_run_end(&r);
        }
        lw_model_destroy(model);
    }
}

// A floating machine without gravity and supports, by clusters: momentum, angular momentum about
// the origin, energy.
static void conserved(lwt_run *r, double sum[7])
{
    memset(sum, 0, 7 * sizeof *sum);
    lwt_run_observe(r);
    for (int b = 1; b < r->model->nbody; b++) {
        const lwi_body *body = &r->model->body[b];
        double L[3], R[9], p[3], l[3];
        quat_matrix(R, r->now.quat[b]);
        s3_mul_v(L, body->inertia, r->now.w[b]);
        sum[6] += 0.5 * (body->mass * v3_dot(r->now.v[b], r->now.v[b]) + v3_dot(r->now.w[b], L));
        m3_mul_v(l, R, L);
        v3_scale(p, body->mass, r->now.v[b]);
        v3_cross_add(l, r->now.r[b], p);
        v3_add(sum, sum, p);
        v3_add(sum + 3, sum + 3, l);
    }
}

static void segments_conserve(void **state)
{
    uint64_t seed = 12;
    double before[7], after[7];
    (void)state;
    site s = new_site(&seed, false);
    lw_builder_gravity(s.b, (lw_vec3){0, 0, 0});
    place_on(&s, FLOATING, &seed);
    const lw_body crank = blob(&s, 0, 0, 0, 1);
    lwt_add(s.b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                  .body1 = s.base,
                                  .body2 = crank,
                                  .axis = rotated(&s, 0, 0, 1),
                                  .has_qd = 1,
                                  .qd = {3}});
    leg(&s, crank, 0, 1);
    leg(&s, crank, 0.05, -1);
    lw_model *model = lwt_model(s.b);
    lwt_run a = drop(model, 0), b = drop(model, LWI_NO_KERNEL);
    memcpy(b.work->discrete, a.work->discrete, a.work->ndiscrete);
    conserved(&a, before);
    step_on(&a, 300, NULL);
    step_on(&b, 300, NULL);
    assert_true(lwi_rcr_clusters_count(lwt_rcr(&a)->clusters) > 0);
    conserved(&a, after);
    // h^4 of Runge and Kutta with h = 1e-3 and motions of some 10/s: 1e-8 of tens
    for (int i = 0; i < 7; i++) lwt_near("conserved", i, after[i], before[i], 1e-6);
    lwt_near("state", 0, difference(a.work->layout.nx, a.x, b.x), 0, 1e-11);
    lwt_run_end(&a);
    lwt_run_end(&b);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_agree),          cmocka_unit_test(walkers_agree),
        cmocka_unit_test(machines_agree),          cmocka_unit_test(rotors_and_gears_agree),
        cmocka_unit_test(others_have_no_clusters), cmocka_unit_test(segments_conserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
