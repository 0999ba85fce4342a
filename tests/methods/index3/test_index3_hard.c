// test_index3_hard.c -- index3 where it is hard: stiff spring-dampers, thin rods, mass ratios, nets
// of loops, friction and stops; steps by error; reactions without history; two projections at a
// time.
#include "methods/index3/index3_cases.h"

#include "methods/index3/index3.h"
#include "simulate/simulation.h"
#include "support/run.h"

// ---------------------------------------------------------------------------------- stiff forces

// A governor: two arms of 5 kg on a freely rotating shaft, their middles connected to a slider by stiff
// spring-dampers in place of rods.
static lw_model *governor(void)
{
    lw_builder *b = lwt_builder();
    lw_error error;
    const double angle = PI / 6, c = cos(angle), s = sin(angle), w = 2 * PI;
    const lw_body shaft = lwt_body(b, &(lw_body_desc){.name = "shaft",
                                                      .mass = 1,
                                                      .inertia = {0.1, 0.05, 0.1, 0, 0, 0},
                                                      .has_velocity = 1,
                                                      .angular_velocity = {0, w, 0}});
    const lw_body slider = lwt_body(b, &(lw_body_desc){.name = "slider",
                                                       .mass = 1,
                                                       .inertia = {0.01, 0.01, 0.01, 0, 0, 0},
                                                       .pose.position = {0, 1 - c, 0},
                                                       .has_velocity = 1,
                                                       .angular_velocity = {0, w, 0}});
    lwt_add(b, &(lw_joint_desc){
                   .name = "axle", .type = LW_JOINT_REVOLUTE, .body2 = shaft, .axis = {0, 1, 0}});
    lwt_add(b, &(lw_joint_desc){.name = "slides",
                                .type = LW_JOINT_PRISMATIC,
                                .body1 = shaft,
                                .body2 = slider,
                                .at = {0, 1 - c, 0},
                                .axis = {0, 1, 0}});
    for (int side = -1; side <= 1; side += 2) {
        const lw_vec3 ball = {side * s, 1 - c, 0};
        const lw_body arm = lwt_body(b, &(lw_body_desc){.mass = 5,
                                                        .inertia = {0.1, 0.1, 0.1, 0, 0, 0},
                                                        .pose.position = ball,
                                                        .has_velocity = 1,
                                                        .velocity = {0, 0, -w * ball.x},
                                                        .angular_velocity = {0, w, 0}});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .body1 = shaft,
                                    .body2 = arm,
                                    .at = {0, 1, 0},
                                    .axis = {0, 0, 1}});
        const lw_spring_desc rod = {.body1 = slider,
                                    .body2 = arm,
                                    .point2 = {side * s / 2, 1 - c / 2, 0},
                                    .world2 = 1,
                                    .stiffness = 8e5,
                                    .damping = 4e4,
                                    .length = 0.5};
        lwt_ok(lw_builder_add_spring(b, &rod, &error), &error);
    }
    return lwt_model(b);
}

// 8e5 N/m and 4e4 N s/m between bodies of 1 and 5 kg: rates of 5e4 1/s, steps 500 times as long.
static void a_governor_with_stiff_rods_converges(void **state)
{
    (void)state;
    lw_model *model = governor();
    track exact = run_exact(model, 1, "0.05");
    track coarse = run_index3(model, 0.01, 1, "0.05"), fine = run_index3(model, 0.005, 1, "0.05");
    assert_null(strstr(coarse.notice, "ended before"));
    assert_int_equal(coarse.summary.rejected, 0);
    const errors a = between(&coarse, &exact), b = between(&fine, &exact);
    if (!(a.norm < 2e-2 && a.norm / b.norm > 3.3))
        fail_msg("positions are off by %.3e and %.3e", a.norm, b.norm);
    drop(&exact), drop(&coarse), drop(&fine);
    lw_model_destroy(model);
}

// A block on a rail with dry friction that comes to rest: it slides through the friction's `speed`
// in a third of a step.  And one against a stiff, damped stop at the rail's end: equal steps of
// 0.01 s would be thrown back by the kink in the middle of a step, those by error find it.
static void friction_and_stops_hold(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        lw_builder *b = lwt_builder();
        const lw_body block =
            lwt_body(b, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}});
        lw_joint_desc rail = {
            .type = LW_JOINT_PRISMATIC, .body2 = block, .axis = {1, 0, 0}, .has_qd = 1, .qd = {1}};
        lw_coordinate_desc *c = &rail.coordinate[0];
        if (kind)
            c->limits =
                (lw_limits_desc){.has_upper = 1, .upper = 0.3, .stiffness = 1e7, .damping = 2e4};
        else
            c->friction = (lw_friction_desc){.coulomb = 3, .speed = 1e-2};
        lwt_add(b, &rail);
        lw_model *model = lwt_model(b);
        lw_options o = index3(kind ? 0 : 0.01, 1, "0.01");
        o.rtol = o.atol = 1e-6;
        track k = run(model, &o);
        if (!kind && strstr(k.notice, "ended before")) fail_msg("%s", k.notice);
        track exact = run_exact(model, 1, "0.01");
        near(kind ? "stop" : "friction", between(&k, &exact).r, 0, 2e-3);
        drop(&exact), drop(&k);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------------------------ ropes

// A light body between two ropes that carry 50 kg: the ropes' tension is a spring of 500 N/m
// across them, which at 0.01 kg is faster than the step.  Iterations do not depend on it; without
// its term in Newton's matrix they were 6.5, 25 and 25, and every second step was done in halves.
static void light_bodies_on_taut_ropes(void **state)
{
    (void)state;
    static const double small[] = {1, 0.05, 0.01};
    for (int k = 0; k < LWI_COUNT(small); k++) {
        const double m[3] = {1, small[k], 50};
        lw_builder *b = lwt_builder();
        lw_body before = lwt_ground;
        for (int i = 0; i < 3; i++) {
            const double J = 0.1 * m[i];
            const lw_body body = lwt_body(
                b, &(lw_body_desc){.mass = m[i],
                                   .inertia = {J, J, J, 0, 0, 0},
                                   .pose.position = {0.6 * (i + 1), -0.8 * (i + 1), 0.1 * i}});
            lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_DISTANCE,
                                        .body1 = before,
                                        .body2 = body,
                                        .placement = LW_PLACED_FRAMES,
                                        .length = sqrt(i ? 1.01 : 1)});
            before = body;
        }
        lw_model *model = lwt_model(b);
        lw_options o = index3(0.01, 2, "0.1");
        lwt_set(&o, "index3", "iterations=30,tolerance=1e-11");
        lw_sim *sim = lwt_sim(model, &o);
        lw_summary summary;
        char text[512];
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        lw_sim_summary(sim, &summary);
        lw_sim_report(sim, text, sizeof text);
        assert_int_equal(summary.rejected, 0);
        if (!(strtod(text, NULL) < 4.5)) fail_msg("%g kg: %s", small[k], text);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------------------ long, uneven

// Links of 1 m and 1 kg with inertia J in all directions, each in another direction.
static lw_model *curl(int n, double J, double heavy)
{
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    double at[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        const double a = 0.9 * i, c = 0.7 * sin(1.3 * i), m = i % 2 ? heavy : 1;
        const double u[3] = {cos(a) * cos(c), sin(c), sin(a) * cos(c)};
        const lw_body link =
            lwt_body(b, &(lw_body_desc){.mass = m,
                                        .inertia = {m * J, m * J, m * J, 0, 0, 0},
                                        .pose.position = {at[0] + u[0] / 2, at[1] + u[1] / 2,
                                                          at[2] + u[2] / 2}});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_SPHERICAL,
                                    .body1 = before,
                                    .body2 = link,
                                    .at = {at[0], at[1], at[2]}});
        v3_add(at, at, u);
        before = link;
    }
    return lwt_model(b);
}

// 64 thin rods from a curled start: the whip of their end is too fast for the step, and the run continues;
// three iterations suffice.
static void thin_rods_survive_a_step_that_is_too_long(void **state)
{
    (void)state;
    static const char *const method[] = {"iterations=6", "mode=real-time"};
    lw_model *model = curl(64, 0.02, 1);
    for (int i = 0; i < LWI_COUNT(method); i++) {
        lw_options o = index3(0.01, 10, "0.1");
        lwt_set(&o, "index3", method[i]);
        track k = run(model, &o);
        assert_true(k.energy_min < 0 && k.energy_min > -64 * 9.81 * 64);
        assert_true(k.energy_end < 0); // nothing is gained
        // one step in twenty is not done after six iterations; rows may be among them
        assert_true(k.summary.residual[0] < (i ? 1e-3 : 1e-6));
        drop(&k);
    }
    lw_model_destroy(model);
}

// Every other link a million times as heavy as its neighbours, and as light.
static void mass_ratios_of_a_million(void **state)
{
    (void)state;
    for (int small = 0; small < 2; small++) {
        lw_model *model = curl(6, 0.1, small ? 1e-6 : 1e6);
        track exact = run_exact(model, 0.5, "0.05");
        track coarse = run_index3(model, 0.0025, 0.5, "0.05"),
              fine = run_index3(model, 0.00125, 0.5, "0.05");
        assert_int_equal(coarse.summary.rejected, 0);
        const errors a = between(&coarse, &exact), b = between(&fine, &exact);
        if (!(a.norm < 1e-2 && a.norm / b.norm > 3.5))
            fail_msg("%s: positions are off by %.3e and %.3e", small ? "light" : "heavy", a.norm,
                     b.norm);
        drop(&exact), drop(&coarse), drop(&fine);
        lw_model_destroy(model);
    }
}

// A net of meshes: every mesh a loop, three redundant rows each.
static void a_net_of_loops_is_of_order_two(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){1, -9.81, 0});
    lwt_add_mechanism(
        b, (lw_mechanism_desc){.mechanism = LW_MECHANISM_NET, .n = 4, .m = 3, .q = {0.3}});
    lw_model *model = lwt_model(b);
    track exact = run_exact(model, 0.4, "0.05");
    track coarse = run_index3(model, 0.005, 0.4, "0.05"),
          fine = run_index3(model, 0.0025, 0.4, "0.05");
    const errors a = between(&coarse, &exact), c = between(&fine, &exact);
    if (!(a.norm < 1e-2 && a.norm / c.norm > 3.5 && a.norm / c.norm < 4.6))
        fail_msg("positions are off by %.3e and %.3e", a.norm, c.norm);
    drop(&exact), drop(&coarse), drop(&fine);
    lw_model_destroy(model);
}

// --------------------------------------------------------------------------------- steps by error

// A thousandth of the tolerance: ten times the steps, a hundredth of the error.
static void steps_by_error_are_of_order_two(void **state)
{
    (void)state;
    for (int euler = 0; euler < 2; euler++) {
        lw_model *model = double_pendulum();
        track exact = run_exact(model, 3, "0.1");
        double error[2], steps[2];
        for (int i = 0; i < 2; i++) {
            lw_options o = index3(0, 3, "0.1");
            lwt_set(&o, "index3", euler ? "coordinates=7,control=error" : "control=error");
            o.rtol = o.atol = i ? 1e-8 : 1e-5;
            track k = run(model, &o);
            error[i] = between(&k, &exact).norm;
            steps[i] = (double)k.summary.steps;
            drop(&k);
        }
        const double order = log(error[0] / error[1]) / log(steps[1] / steps[0]);
        near("steps", steps[1] / steps[0], 10, 1.5);
        near("order", order, 2, 0.15);
        drop(&exact);
        lw_model_destroy(model);
    }
}

// Where no step is given, tolerances choose; where the motion is slow, steps are long.
static void the_step_follows_the_motion(void **state)
{
    (void)state;
    lw_model *model = curl(8, 0.02, 1);
    track exact = run_exact(model, 2, "0.1");
    lw_options o = index3(0, 2, "0.1");
    o.rtol = o.atol = 1e-6;
    track free = run(model, &o);
    const double h = 2 / (double)free.summary.steps;
    track equal = run_index3(model, h, 2, "0.1");
    const errors a = between(&free, &exact), b = between(&equal, &exact);
    if (!(a.norm < 0.5 * b.norm))
        fail_msg("%ld steps by error are off by %.3e, equal ones by %.3e", free.summary.steps,
                 a.norm, b.norm);
    drop(&exact), drop(&free), drop(&equal);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------- reactions

// The same motion reached by other steps: multipliers in the state differ, reported reactions do not.
static void reactions_do_not_depend_on_history(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        lw_model *model = which ? rhombus(PI / 4, 0) : lwt_loop(LWT_TILTED);
        const size_t n = 6 * (size_t)model->njoint;
        lw_options o = index3(0.01, 1, "1");
        lw_sim *first = lwt_sim(model, &o);
        o.step = 0.0037;
        lw_sim *second = lwt_sim(model, &o);
        double *f = lwt_vector((int)n), size = 0;
        const lw_observation *seen;
        lwt_ok(lw_sim_step(first, 0.5), lw_sim_error(first));
        lwt_ok(lw_sim_step(second, 0.37), lw_sim_error(second));
        lwt_ok(lw_sim_observe(first, LW_OBSERVE_REACTION, &seen), lw_sim_error(first));
        memcpy(f, seen->reaction, n * sizeof *f);
        for (size_t i = 0; i < n; i++) size = fmax(size, fabs(f[i]));
        lwt_ok(lw_sim_set_motion(second, seen), lw_sim_error(second));
        lwt_ok(lw_sim_observe(second, LW_OBSERVE_REACTION, &seen), lw_sim_error(second));
        near("reactions", largest(f, &seen->reaction[0][0], n) / size, 0, 1e-9);
        free(f);
        lw_sim_destroy(first);
        lw_sim_destroy(second);
        lw_model_destroy(model);
    }
}

// A rhombus with dampers comes to rest in its singular position.  Increments of round-off there may be larger than
// those before; this is no divergence, which ended the run after 7.2 s.
static void a_linkage_may_come_to_rest_in_line(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\ngravity: [0, -9.81, 0]\nbodies:\n"
        "  A: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.35355339059327379, "
        "-0.35355339059327373, 0]}\n"
        "  B: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.70710678118654757, "
        "-1.2071067811865475, 0]}\n"
        "  C: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.35355339059327379, "
        "-1.3535533905932737, 0]}\njoints:\n"
        "  j1: {type: revolute, spring: {q0: {stiffness: 0, damping: 4}}, between: [ground, A], "
        "at: "
        "[0, 0, 0], axis: [0, 0, 1]}\n"
        "  j2: {type: revolute, between: [A, B], at: [0.70710678118654757, -0.70710678118654746, "
        "0], "
        "axis: [0, 0, 1]}\n"
        "  j3: {type: revolute, between: [B, C], at: [0.70710678118654757, -1.7071067811865475, "
        "0], "
        "axis: [0, 0, 1]}\n"
        "  j4: {type: revolute, spring: {q0: {stiffness: 0, damping: 4}}, between: [ground, C], "
        "at: "
        "[0, -1, 0], axis: [0, 0, 1]}\n";
    lw_model *model;
    lw_error error;
    const lw_observation *seen;
    lwt_ok(lw_model_parse(text, strlen(text), "text", &(lw_read_desc){.format = "yaml"}, &model,
                          NULL, &error),
           &error);
    lw_options o = index3(0.01, 8, "8");
    lw_sim *sim = lwt_sim(model, &o);
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &seen), lw_sim_error(sim));
    near("A", seen->position[1][0], 0, 1e-4);
    near("B", seen->position[2][1], -1.5,
         1e-5); // also if the coupler rotates by some mrad, on another branch
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------- couplings

// A hinge, and a hinge or slide at its end with a coordinate that is a polynomial of the first one's.
static lw_model *geared(lw_joint_type type, double square)
{
    lw_builder *b = lwt_builder();
    lw_error error;
    const lw_body arm = lwt_rod(b, "arm", 0, 0, 1, 0.3, 2),
                  end = lwt_rod(b, "end", 1, 0.3, 2, 0, 1);
    const double polynomial[3] = {0, -1.5, square};
    const bool slides = type == LW_JOINT_PRISMATIC;
    lw_coupling_desc coupling = {.polynomial = polynomial, .npolynomial = 3};
    const lw_joint_desc first = {
        .name = "first", .type = LW_JOINT_REVOLUTE, .body2 = arm, .axis = {0, 0, 1}};
    const lw_joint_desc second = {.name = "second",
                                  .type = type,
                                  .body1 = arm,
                                  .body2 = end,
                                  .at = {1, 0.3, 0},
                                  .axis = {slides, 0, !slides}};
    lwt_ok(lw_builder_add_joint(b, &first, &coupling.of, &error), &error);
    lwt_ok(lw_builder_add_joint(b, &second, &coupling.joint, &error), &error);
    lwt_ok(lw_builder_add_coupling(b, &coupling, &error), &error);
    return lwt_model(b);
}

// Of order two in both sets of coordinates, and Newton ends in time.
static void couplings_in_both_sets_of_coordinates(void **state)
{
    (void)state;
    static const char *const method[] = {"tolerance=1e-11",
                                         "coordinates=7,penalty=1e9,tolerance=1e-11"};
    for (int which = 0; which < 4; which++) {
        lw_model *model = which == 0   ? lwt_loop(LWT_COUPLED)
                          : which == 1 ? geared(LW_JOINT_PRISMATIC, 0)
                                       : geared(LW_JOINT_REVOLUTE, which == 3 ? 0.7 : 0);
        track exact = run_exact(model, 1, "0.05");
        for (int i = 0; i < LWI_COUNT(method); i++) {
            double off[2];
            for (int fine = 0; fine < 2; fine++) {
                lw_options o = index3(fine ? 0.0025 : 0.005, 1, "0.05");
                lwt_set(&o, "index3", method[i]);
                track k = run(model, &o);
                if (strstr(k.notice, "ended before")) fail_msg("%s: %s", method[i], k.notice);
                assert_true(k.summary.residual[0] < 1e-11);
                off[fine] = between(&k, &exact).r;
                drop(&k);
            }
            if (!(off[0] < 5e-3 && off[0] / off[1] > 3.5 && off[0] / off[1] < 4.6))
                fail_msg("%d, %s: off by %.3e and %.3e", which, method[i], off[0], off[1]);
        }
        drop(&exact);
        lw_model_destroy(model);
    }
}

// --------------------------------------------------------------------------------------- failures

// Divergence is reported with body and joint, and advice.
static void failures_name_body_joint_and_remedy(void **state)
{
    (void)state;
    lw_model *model = curl(64, 0.02, 1);
    lw_options o = index3(0.5, 10, "0.5");
    lwt_set(&o, "index3", "projection=none,iterations=2");
    lw_sim *sim = lwt_sim(model, &o);
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), LW_ERR_INTEGRATOR);
    const char *text = lw_sim_error(sim)->text;
    if (!strstr(text, "body 'body") || !strstr(text, "joint 'joint") || !strstr(text, "step") ||
        !strstr(text, "iterations") || !strstr(text, "projection"))
        fail_msg("%s", text);
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    assert_true(summary.rejected > 10); // halves before giving up
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void refuses(const char *value, const char *text)
{
    lw_options o;
    lw_error error = {0};
    lw_options_default(&o);
    assert_int_equal(lw_options_set(&o, "index3", value, &error), LW_ERR_ARGUMENT);
    if (!strstr(error.text, text)) fail_msg("'%s' does not say '%s'", error.text, text);
}

static void every_key_refuses_what_is_out_of_range(void **state)
{
    (void)state;
    refuses("coordinates=8", "coordinates: '8' is not 6 or 7");
    refuses("coordinates=6.5", "6 or 7");
    refuses("penalty=-1", "up to 1e15");
    refuses("penalty=much", "up to 1e15");
    refuses("normalisation=1e16", "up to 1e15");
    refuses("tangent=3", "0, 1 or 2");
    refuses("iterations=0", "1 to 1000");
    refuses("tolerance=2", "0 to 1 m");
    refuses("regularisation=1", "1e-14 to 1e-2");
    refuses("projection=both", "mass, tangent or none");
    refuses("control=maybe", "equal, error");
    refuses("stop=r", "q or q+lambda");
    refuses("mode=fast", "offline or real-time");
    refuses("tangent=1,newton=full,tangent=2", "tangent is given twice");
}

// Six light rods with a heavy load at the end, on a stiff spring: three iterations are not enough when they are
// thrown up.  Steps that do not converge are counted, one that diverges fails.
static void real_time_reports_divergence(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    for (int i = 0; i < 7; i++) {
        const bool load = i == 6;
        const double along = load ? 1 : 1e-5, across = load ? 1 : 2e-4;
        const lw_body link =
            lwt_body(b, &(lw_body_desc){.mass = load ? 100 : 0.01,
                                        .inertia = {along, across, across, 0, 0, 0},
                                        .pose.position = {load ? 3.2 : 0.5 * i + 0.25, 0, 0}});
        lwt_joint(b, LW_JOINT_SPHERICAL, NULL, before, link, 0.5 * i, 0);
        before = link;
    }
    lwt_spring(b, &(lw_spring_desc){.body1 = lwt_ground,
                                    .body2 = before,
                                    .point1 = {0, 5, 0},
                                    .stiffness = 1e7,
                                    .damping = 10,
                                    .length = 5.936});
    lw_model *model = lwt_model(b);
    lw_options o = index3(0.01, 3, "0.01");
    lwt_set(&o, "index3", "mode=real-time");
    lw_sim *sim = lwt_sim(model, &o);
    int k = 0;
    lw_status status = LW_OK;
    while (k < 300 && status == LW_OK) status = lw_sim_step(sim, ++k / 100.0);
    assert_int_equal(status, LW_ERR_INTEGRATOR);
    assert_true(k > 100); // before, it converges
    assert_non_null(strstr(lw_sim_error(sim)->text, "diverges"));
    char text[600];
    const lwi_index3 *d = sim->work->data;
    assert_true(d->counts.unconverged > 0 && d->counts.unconverged < 10);
    sim->work->formulation->notice(sim->work, text, sizeof text);
    assert_non_null(strstr(text, "did not converge in their 3 iterations"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Springs far too stiff for the step: increments overflow within the iterations, and the step fails as one that diverges.
static void increments_that_overflow_diverge(void **state)
{
    (void)state;
    for (int power = 9; power <= 300; power *= 5) {
        lw_builder *b = lwt_builder();
        lw_body before = lwt_ground;
        for (int i = 0; i < 20; i++) {
            const lw_body rod = lwt_body(b, &(lw_body_desc){.mass = 1,
                                                            .inertia = {0.01, 0.08, 0.08, 0, 0, 0},
                                                            .pose.position = {i + 0.5, 0, 0}});
            lwt_joint(b, i % 2 ? LW_JOINT_SPHERICAL : LW_JOINT_UNIVERSAL, NULL, before, rod, i, 0);
            lwt_spring(b, &(lw_spring_desc){.body2 = rod,
                                            .point1 = {i, 2 + i % 3, 1},
                                            .point2 = {0, 0, 0.2},
                                            .stiffness = pow(10, power),
                                            .length = 0.5});
            before = rod;
        }
        lw_model *model = lwt_model(b);
        lwt_run r = lwt_run_start(model, &lwi_formulation_index3);
        const lw_status status = r.work->formulation->step(r.work, 0, 1e-3, r.x, NULL);
        assert_true(status == LW_ERR_INTEGRATOR || status == LW_ERR_NOT_FINITE);
        if (!strstr(r.work->error.text, "diverges"))
            fail_msg("1e%d N/m: '%s'", power, r.work->error.text);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

// A slider that is driven farther than its crank and rod reach, by equal steps: the last state is up to a step before the
// position, and steps that fail beyond it are not the reason.
static void equal_steps_name_the_dead_point_that_ends_them(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "functions:\n"
        "  push: {type: polynomial, coefficients: [0, 0.5]}\n"
        "bodies:\n"
        "  crank: {mass: 1, inertia: [0.01, 0.03, 0.03, 0, 0, 0], position: [0.3, 0.4, 0]}\n"
        "  rod: {mass: 1, inertia: [0.01, 0.08, 0.08, 0, 0, 0], position: [1.2, 0.4, 0]}\n"
        "  slider: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [1.8, 0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0]}\n"
        "  B: {type: revolute, between: [crank, rod], at: [0.6, 0.8, 0]}\n"
        "  C: {type: revolute, between: [rod, slider], at: [1.8, 0, 0]}\n"
        "  D: {type: prismatic, between: [ground, slider], at: [1.8, 0, 0], axis: [1, 0, 0], "
        "motion: {q0: push}}\n";
    static const char *const step[] = {"0.02", "0.003", "0.001"};
    const double dead = (1 + sqrt(1.2 * 1.2 + 0.8 * 0.8) - 1.8) / 0.5;
    for (int i = 0; i < LWI_COUNT(step); i++) {
        lw_model *model = lwt_yaml(text);
        lw_sim *sim = lwt_simulate(
            model, LWT_SETTINGS("formulation", "index3", "step", step[i], "duration", "3"));
        double time;
        assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), LW_ERR_SINGULAR);
        const char *why = lw_sim_error(sim)->text, *at = strstr(why, "singular position at t = ");
        if (!at || !strstr(why, "the drive of joint 'D' is at a dead point")) fail_msg("%s", why);
        assert_int_equal(sscanf(at, "singular position at t = %lf", &time), 1);
        if (!(fabs(time - dead) < 0.1 * strtod(step[i], NULL))) fail_msg("%.9g: %s", dead, why);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linkage_may_come_to_rest_in_line),
        cmocka_unit_test(real_time_reports_divergence),
        cmocka_unit_test(increments_that_overflow_diverge),
        cmocka_unit_test(a_governor_with_stiff_rods_converges),
        cmocka_unit_test(friction_and_stops_hold),
        cmocka_unit_test(light_bodies_on_taut_ropes),
        cmocka_unit_test(thin_rods_survive_a_step_that_is_too_long),
        cmocka_unit_test(mass_ratios_of_a_million),
        cmocka_unit_test(a_net_of_loops_is_of_order_two),
        cmocka_unit_test(steps_by_error_are_of_order_two),
        cmocka_unit_test(the_step_follows_the_motion),
        cmocka_unit_test(reactions_do_not_depend_on_history),
        cmocka_unit_test(couplings_in_both_sets_of_coordinates),
        cmocka_unit_test(equal_steps_name_the_dead_point_that_ends_them),
        cmocka_unit_test(failures_name_body_joint_and_remedy),
        cmocka_unit_test(every_key_refuses_what_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
