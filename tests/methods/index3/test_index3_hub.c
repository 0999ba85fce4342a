// test_index3_hub.c -- bodies with many joints, which the elimination splits into parts: the step is that of whole
// bodies, in lanes and without; its work is proportional to the number of joints.
#include "methods/index3/index3_lanes_cases.h"

#include "support/random_model.h"

// ------------------------------------------------------------------------------------------ hubs

typedef enum legs { ARMS, BALLS, MIXED, PLANAR } legs;

static lw_joint_desc joint(lw_joint_type type, lw_body one, lw_body two, double x, double y,
                           double z, lw_vec3 axis)
{
    const lw_vec3 axis2 = {-axis.y, axis.x, 0}; // normal to axis
    return (lw_joint_desc){
        .type = type, .body1 = one, .body2 = two, .at = {x, y, z}, .axis = axis, .axis2 = axis2};
}

// A disc and n legs.  ARMS: links on balls attached to it, the disc on a hinge; BALLS: links on balls between
// disc and ground; MIXED: legs of two links, the knee a slide in every third, a spring at the foot of every fourth;
// PLANAR: legs of two links, all hinges parallel: three of their five rows depend.
static lw_model *hub(legs kind, int n)
{
    static const lw_joint_type knees[] = {LW_JOINT_UNIVERSAL, LW_JOINT_REVOLUTE,
                                          LW_JOINT_PRISMATIC};
    lw_builder *b = lwt_builder();
    uint64_t seed = 5;
    const lw_body disc =
        lwt_body(b, &(lw_body_desc){.mass = 3, .inertia = {0.7, 0.8, 1.2, 0.02, 0, 0.01}});
    lw_builder_gravity(b, (lw_vec3){1, kind == PLANAR ? -9 : 2, kind == PLANAR ? 0 : -9});
    if (kind == ARMS) lwt_joint(b, LW_JOINT_REVOLUTE, NULL, lwt_ground, disc, 0, 0);
    for (int i = 0; i < n; i++) {
        const double turn = 6.283185307179586 * (i + lwt_random(&seed, -0.2, 0.2)) / n;
        const double c = cos(turn), s = sin(turn), z = kind == PLANAR ? 0 : -0.5;
        const lw_vec3 up = {0, 0, 1};
        const lw_vec3 across = {-s + lwt_random(&seed, -0.3, 0.3), c, lwt_random(&seed, 0.2, 0.5)},
                      along = {c, s + lwt_random(&seed, -0.3, 0.3), lwt_random(&seed, -3, -1)};
        const double kx = 1.2 * c - 0.3 * s, ky = 1.2 * s + 0.3 * c;
        const lw_body upper = lwt_body(
            b, &(lw_body_desc){.mass = lwt_random(&seed, 0.2, 2),
                               .inertia = {0.02, 0.03, 0.04, 0, 0, 0},
                               .pose.position = {1.1 * c - 0.15 * s, 1.1 * s + 0.15 * c, z / 2}});
        const lw_joint_type hip = kind == PLANAR  ? LW_JOINT_REVOLUTE
                                  : kind != MIXED ? LW_JOINT_SPHERICAL
                                  : i % 2         ? LW_JOINT_UNIVERSAL
                                                  : LW_JOINT_SPHERICAL;
        lw_joint_desc at_hip = joint(hip, disc, upper, c, s, 0, kind == PLANAR ? up : across);
        lwt_add(b, &at_hip);
        if (kind == ARMS) continue;
        if (kind == BALLS) {
            lw_joint_desc foot = joint(LW_JOINT_SPHERICAL, upper, lwt_ground, kx, ky,
                                       z + lwt_random(&seed, -0.3, 0.3), up);
            if (i % 6 == 0) lwt_add(b, &foot);
            continue;
        }
        const lw_body lower =
            lwt_body(b, &(lw_body_desc){.mass = lwt_random(&seed, 0.2, 2),
                                        .inertia = {0.02, 0.03, 0.04, 0, 0, 0},
                                        .pose.position = {1.3 * c, 1.3 * s, 1.5 * z}});
        lw_joint_desc knee = joint(kind == PLANAR ? LW_JOINT_REVOLUTE : knees[i % 3], upper, lower,
                                   kx, ky, z, kind == PLANAR ? up : along);
        lw_joint_desc foot = joint(kind == PLANAR ? LW_JOINT_REVOLUTE : LW_JOINT_SPHERICAL, lower,
                                   lwt_ground, 1.4 * c, 1.4 * s, 2 * z, up);
        lwt_add(b, &knee);
        if (kind == PLANAR || i % 3 == 0) lwt_add(b, &foot);
    }
    return lwt_model(b);
}

static const struct {
    const char *name;
    legs kind;
    int n;
} hubs[] = {{"arms", ARMS, 40}, {"balls", BALLS, 23}, {"mixed", MIXED, 19}, {"planar", PLANAR, 14}};

// ------------------------------------------------------------------------------------------ tests

static void lanes_do_the_general_step(void **state)
{
    (void)state;
    static const char *const method[] = {"iterations=4", "tangent=1", "tangent=0", "penalty=1e9"};
    for (int i = 0; i < LWI_COUNT(hubs); i++)
        for (int k = 0; k < LWI_COUNT(method) - (hubs[i].kind == MIXED); k++) {
            lw_model *model = hub(hubs[i].kind, hubs[i].n);
            pair p = pair_of(model, 0.002, method[k]);
            assert_true(p.d->system.split.npart >= 2);
            free(p.general), free(p.lanes);
            lw_sim_destroy(p.sim);
            compare(hubs[i].name, model, 0.002, 25, method[k]);
        }
}

static void any_width_has_the_same_bits(void **state)
{
    (void)state;
    static const int width[3] = {1, 4, 8};
    for (int i = 0; i < LWI_COUNT(hubs); i++) {
        lw_model *model = hub(hubs[i].kind, hubs[i].n);
        pair p = pair_of(model, 0.002, "mode=real-time");
        for (int w = 0; w < 3; w++) {
            if (!lwi_index3_lanes_width(p.d->lanes, width[w])) continue; // not on this machine
            some_steps(&p, w ? p.lanes : p.general, 0.002, 20);
            if (w) assert_memory_equal(p.lanes, p.general, (size_t)p.n * sizeof *p.lanes);
        }
        done(&p, model);
    }
}

// Against the exact motion: order two, with all methods that the general code has.
static void motions_are_of_order_two(void **state)
{
    (void)state;
    static const char *const method[] = {"iterations=6", "newton=modified", "projection=tangent"};
    for (int i = 0; i < LWI_COUNT(hubs); i++) {
        lw_model *model = hub(hubs[i].kind, hubs[i].n);
        track exact = run_exact(model, 0.08, "0.04");
        for (int k = 0; k < LWI_COUNT(method); k++) {
            double error[2];
            for (int fine = 0; fine < 2; fine++) {
                lw_options o = index3(fine ? 0.002 : 0.004, 0.08, "0.04");
                lwt_set(&o, "index3", method[k]);
                track now = run(model, &o);
                error[fine] = between(&now, &exact).r;
                assert_int_equal(now.summary.rejected, 0);
                drop(&now);
            }
            if (!(error[0] > 3.5 * error[1] && error[0] < 4.5 * error[1] && error[0] < 1e-3))
                fail_msg("%s, %s: errors %.2e, %.2e", hubs[i].name, method[k], error[0], error[1]);
        }
        drop(&exact);
        lw_model_destroy(model);
    }
}

// Multiplications of a matrix pass.
static double work_of(legs kind, int n)
{
    lw_model *model = hub(kind, n);
    lw_options o = index3(0.01, 1, "1");
    lw_sim *sim = lwt_sim(model, &o);
    const lwi_index3 *d = sim->work->data;
    const double work = lwi_elim_assembled_work(d->system.elim);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return work;
}

// Twice as many legs, twice the work: of dense fronts it would be eight times.
static void work_is_linear_in_the_joints(void **state)
{
    (void)state;
    for (legs kind = ARMS; kind <= PLANAR; kind++) {
        const double first = work_of(kind, 60), some = work_of(kind, 120),
                     many = work_of(kind, 240);
        if (!(some < 2.3 * first && many < 2.3 * some))
            fail_msg("kind %d: %g, %g, %g multiplications", (int)kind, first, some, many);
    }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    same_bits_of_threads(hub(ARMS, 300), "balanced", 0.002, 5);
    same_bits_of_threads(hub(PLANAR, 60), "balanced", 0.002, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_do_the_general_step), cmocka_unit_test(any_width_has_the_same_bits),
        cmocka_unit_test(motions_are_of_order_two),  cmocka_unit_test(work_is_linear_in_the_joints),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
