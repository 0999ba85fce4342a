// test_massless.c -- bodies without mass between joints: a ball joint in three hinges is a ball joint, with forces, drives
// and stops on the pieces every formulation does the same, and a body that can move without mass is refused by name.
#include "methods/light_chain.h"
#include "methods/rcr/rcr_cases.h"
#include "support/given.h"
#include "support/run.h"
#include "system/transfer.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[] = {"aba", "momenta", "rcr",    "dense", "lagrange",
                                    "dca", "hdca",    "index3", "rattle"};

// Formulations with their own steps.
static bool takes_steps(const char *name)
{
    return strcmp(name, "index3") == 0 || strcmp(name, "rattle") == 0;
}

// With this tolerance or, of a formulation with its own steps, this step.
static lw_sim *start(const lw_model *model, const char *name, const char *tolerance,
                     const char *step)
{
    if (strcmp(name, "rattle") == 0)
        return lwt_simulate(model, LWT_SETTINGS("formulation", name, "step", step));
    return lwt_simulate(model, LWT_SETTINGS("formulation", name, "rtol", tolerance, "atol",
                                            tolerance, "step", takes_steps(name) ? step : "0"));
}

// -------------------------------------------------------------------------------- balls in pieces

static const char *const ball = "  ball: {type: spherical, between: [A, B], at: [0.4, 0.1, 0]}\n";
static const char *const hinges =
    "  first: {type: revolute, between: [A, one], at: [0.4, 0.1, 0], axis: [1, 0.2, 0]}\n"
    "  second: {type: revolute, between: [one, two], at: [0.4, 0.1, 0], axis: [0, 1, 0.1]}\n"
    "  third: {type: revolute, between: [two, B], at: [0.4, 0.1, 0], axis: [0.3, 0, 1]}\n";

// A crank, a coupler and a rocker, open or closed by a ball at the end of the rocker.
static lw_model *crank_and_rocker(const char *joint, const char *pieces, bool closed)
{
    char text[2400];
    snprintf(
        text, sizeof text,
        "linkwork: 1\n"
        "gravity: [0, -9.81, 1]\n"
        "functions: {swing: {type: sine, offset: 0.2, amplitude: 0.2, omega: 3, "
        "phase: -1.5707963267948966}}\n"
        "bodies:\n"
        "  A: {mass: 1.5, inertia: [0.02, 0.03, 0.04, 0, 0, 0], position: [0.2, 0.05, 0]}\n"
        "%s"
        "  B: {mass: 2, inertia: [0.1, 0.12, 0.07, 0, 0, 0], position: [0.7, 0.3, 0.2]}\n"
        "  C: {mass: 1, inertia: [0.05, 0.04, 0.03, 0, 0, 0], position: [1, 0.25, 0.4]}\n"
        "joints:\n"
        "  crank: {type: revolute, between: [ground, A], at: [0, 0, 0], axis: [0, 0, 1]}\n"
        "%s"
        "  knee: {type: spherical, between: [B, C], at: [1, 0.5, 0.4]}\n"
        "%s",
        pieces, joint,
        closed
            ? "  rocker: {type: revolute, between: [ground, C], at: [1, 0, 0.4], axis: [1, 0, 0]}\n"
            : "");
    return lwt_yaml(text);
}

static const char *const cross = "  one: {mass: 0, position: [0.4, 0.1, 0]}\n"
                                 "  two: {mass: 0, position: [0.45, 0.1, 0.1]}\n";

// The motion after 0.3 s of the bodies in both, which are the last to be listed.
static void same_motion(const char *name, const lw_model *whole, const lw_model *pieces)
{
    static const char *const body[] = {"A", "B", "C"};
    const lw_model *model[2] = {whole, pieces};
    const lw_observation *m[2];
    lw_sim *sim[2];
    for (int i = 0; i < 2; i++) {
        sim[i] = start(model[i], name, "1e-11", "0.005");
        lwt_ok(lw_sim_step(sim[i], 0.3), lw_sim_error(sim[i]));
        lwt_ok(lw_sim_observe(sim[i], LW_OBSERVE_REACTION, &m[i]), lw_sim_error(sim[i]));
    }
    for (int k = 0; k < LWI_COUNT(body); k++) {
        lw_body b[2];
        for (int i = 0; i < 2; i++)
            assert_int_equal(lw_model_find_body(model[i], body[k], &b[i]), LW_OK);
        for (int i = 0; i < 3; i++) {
            lwt_near(name, k, m[1]->position[b[1].index][i], m[0]->position[b[0].index][i], 1e-9);
            lwt_near(name, k, m[1]->velocity[b[1].index][i], m[0]->velocity[b[0].index][i], 1e-8);
            lwt_near(name, k, m[1]->acceleration[b[1].index][i], m[0]->acceleration[b[0].index][i],
                     1e-6);
        }
    }
    // the last hinge and the ball transmit the same force to B
    lw_joint joint[2];
    assert_int_equal(lw_model_find_joint(whole, "ball", &joint[0]), LW_OK);
    assert_int_equal(lw_model_find_joint(pieces, "third", &joint[1]), LW_OK);
    for (int i = 0; i < 3; i++)
        lwt_near(name, 10 + i, m[1]->reaction[joint[1].index][i], m[0]->reaction[joint[0].index][i],
                 1e-5);
    for (int i = 0; i < 3; i++)
        lwt_near(name, 13 + i, m[1]->reaction[joint[1].index][3 + i], 0, 1e-6);
    lw_sim_destroy(sim[0]), lw_sim_destroy(sim[1]);
}

static void three_hinges_are_a_ball(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        lw_model *whole = crank_and_rocker(ball, "", closed),
                 *pieces = crank_and_rocker(hinges, cross, closed);
        for (int i = closed ? 2 : 0; i < LWI_COUNT(names); i++)
            same_motion(names[i], whole, pieces);
        lw_model_destroy(whole), lw_model_destroy(pieces);
    }
}

// ------------------------------------------------------------------------- what acts on the pieces

// Speeds, accelerations and reactions of every formulation against those of dense, after 0.05 s.
static void agrees(const lw_model *model, const char *name, const lw_observation *m,
                   const lw_observation *dense, double tolerance)
{
    for (int k = 0; k < model->nv; k++) {
        lwt_near(name, k, m->qd[k], dense->qd[k], tolerance);
        lwt_near(name, 100 + k, m->qdd[k], dense->qdd[k], 100 * tolerance);
    }
    for (int b = 1; b < model->nbody; b++)
        for (int k = 0; k < 3; k++) {
            lwt_near(name, 200 + b, m->position[b][k], dense->position[b][k], tolerance);
            lwt_near(name, 300 + b, m->angular_velocity[b][k], dense->angular_velocity[b][k],
                     tolerance);
        }
    for (int j = 0; j < model->njoint; j++)
        for (int k = 0; k < 6; k++)
            lwt_near(name, 400 + j, m->reaction[j][k], dense->reaction[j][k], 100 * tolerance);
}

static lw_sim *moved(const lw_model *model, const char *name, const lw_observation **m)
{
    lw_sim *sim = start(model, name, "1e-10", "0.0005");
    lwt_ok(lw_sim_step(sim, 0.05), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, m), lw_sim_error(sim));
    return sim;
}

static void agree(const lw_model *model, bool without_tree)
{
    const lw_observation *dense, *m;
    lw_sim *reference = moved(model, "dense", &dense);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        const lwi_formulation *f = lwi_formulation_find(names[i]);
        if (lwi_formulation_accepts(f, model, NULL) != LW_OK) continue;
        if (without_tree && strcmp(names[i], "lagrange") == 0) continue;
        lw_sim *sim = moved(model, names[i], &m);
        agrees(model, names[i], m, dense, takes_steps(names[i]) ? 1e-4 : 1e-7);
        lw_sim_destroy(sim);
    }
    lw_sim_destroy(reference);
}

static void all_agree(const lw_model *model)
{
    agree(model, false);
}

static void forces_act_on_the_pieces(void **state)
{
    (void)state;
    static const char *const on_first[] = {
        ", spring: {q0: {stiffness: 30, damping: 2}}", ", friction: {q0: {viscous: 0.3}}",
        ", limits: {q0: {lower: 0.001, stiffness: 200, damping: 1}}", ", rotor: {q0: 0.02}",
        ", motion: {q0: swing}"};
    for (int i = 0; i < LWI_COUNT(on_first); i++)
        for (int closed = 0; closed < 2; closed++) {
            char joint[900];
            snprintf(joint, sizeof joint,
                     "  first: {type: revolute, between: [A, one], at: [0.4, 0.1, 0], "
                     "axis: [1, 0.2, 0]%s}\n"
                     "  second: {type: revolute, between: [one, two], at: [0.4, 0.1, 0], "
                     "axis: [0, 1, 0.1], spring: {q0: {stiffness: 3}}}\n"
                     "  third: {type: revolute, between: [two, B], at: [0.4, 0.1, 0], "
                     "axis: [0.3, 0, 1]}\n",
                     on_first[i]);
            lw_model *model = crank_and_rocker(joint, cross, closed);
            all_agree(model);
            lw_model_destroy(model);
        }
}

// ------------------------------------------------------------------------------------- other bodies

// Accelerations and reactions at the start, of formulations that need a mass and of aba.
static void light_bodies_are_exact(void **state)
{
    (void)state;
    static const char *const frail[] = {
        "mass: 0",   "mass: 1e-9, inertia: [1e-14, 2e-14, 2e-14, 0, 0, 0]", "mass: 1e-9",
        "mass: 0.3", "mass: 0.3, inertia: [0, 0.01, 0.01, 0, 0, 0]",        "mass: 1e-14"};
    for (int i = 0; i < LWI_COUNT(frail); i++) {
        lw_model *model = lwt_light_chain(
            frail[i], "", "  joint: {type: fixed, between: [B, tip], at: [2.2, 0.3, 0.1]}\n");
        lwt_run reference = lwt_run_start(model, &lwi_formulation_aba);
        lwt_run_observe(&reference);
        static const char *const tried[] = {"dca", "hdca", "index3", "rattle"};
        for (int k = 0; k < LWI_COUNT(tried); k++) {
            lwt_run run = lwt_run_start(model, lwi_formulation_find(tried[k]));
            lwt_run_observe(&run);
            lwt_near(tried[k], i, lwt_acceleration_error(model, &run.now, &reference.now), 0,
                     1e-10);
            for (int j = 0; j < model->njoint; j++)
                for (int c = 0; c < 6; c++)
                    lwt_near(tried[k], 10 * i + c, run.now.reaction[j][c],
                             reference.now.reaction[j][c], 1e-9);
            lwt_run_end(&run);
        }
        lwt_run_end(&reference);
        lw_model_destroy(model);
    }
}

// A plate without mass that carries n rods by ball joints is split into parts.
static lw_model *plate(int n)
{
    lw_builder *b = lwt_builder();
    char name[24];
    lw_builder_gravity(b, (lw_vec3){1, -9.81, 2});
    const lw_body hub = lwt_body(b, &(lw_body_desc){.name = "plate"});
    lwt_add(b, &(lw_joint_desc){
                   .name = "post", .type = LW_JOINT_REVOLUTE, .body2 = hub, .axis = {0, 0, 1}});
    for (int i = 0; i < n; i++) {
        const double angle = 6.2831853 * i / n;
        snprintf(name, sizeof name, "rod%d", i);
        const lw_body rod =
            lwt_body(b, &(lw_body_desc){.name = name,
                                        .mass = 1 + 0.1 * i,
                                        .inertia = {0.1, 0.2, 0.3},
                                        .pose.position = {2 * cos(angle), 2 * sin(angle), 1}});
        snprintf(name, sizeof name, "ball%d", i);
        lwt_add(b, &(lw_joint_desc){.name = name,
                                    .type = LW_JOINT_SPHERICAL,
                                    .body1 = hub,
                                    .body2 = rod,
                                    .at = {cos(angle), sin(angle), 0},
                                    .has_qd = 7,
                                    .qd = {0.3 * i, 1, -0.4 * i}});
    }
    return lwt_model(b);
}

static void a_plate_without_mass_is_split(void **state)
{
    (void)state;
    lw_model *model = plate(24);
    lwt_run reference = lwt_run_start(model, &lwi_formulation_aba);
    lwt_run_observe(&reference);
    static const char *const tried[] = {"dca", "hdca", "index3", "rattle"};
    for (int k = 0; k < LWI_COUNT(tried); k++) {
        lwt_run run = lwt_run_start(model, lwi_formulation_find(tried[k]));
        lwt_run_observe(&run);
        lwt_near(tried[k], 0, lwt_acceleration_error(model, &run.now, &reference.now), 0, 1e-9);
        lwt_run_end(&run);
    }
    lwt_run_end(&reference);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------- growth and threads

// A chain of n rods on universal joints in pieces.
static lw_model *chain_of_crosses(int n)
{
    lw_builder *b = lwt_builder();
    char name[24];
    lw_body last = lwt_ground;
    lw_builder_gravity(b, (lw_vec3){0, -9.81, 0.5});
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "cross%d", i);
        const lw_body piece =
            lwt_body(b, &(lw_body_desc){.name = name, .pose.position = {i, 0, 0}});
        snprintf(name, sizeof name, "rod%d", i);
        const lw_body rod = lwt_body(b, &(lw_body_desc){.name = name,
                                                        .mass = 1,
                                                        .inertia = {0.01, 0.08, 0.08},
                                                        .pose.position = {i + 0.5, 0, 0}});
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%s%d", k ? "second" : "first", i);
            lwt_add(b, &(lw_joint_desc){.name = name,
                                        .type = LW_JOINT_REVOLUTE,
                                        .body1 = k ? piece : last,
                                        .body2 = k ? rod : piece,
                                        .at = {i, 0, 0},
                                        .axis = {0, !k, k},
                                        .has_qd = 1,
                                        .qd = {(k ? 0.3 : -0.2) / n}});
        }
        last = rod;
    }
    return lwt_model(b);
}

// Twice the joints, twice the transfers; the same accelerations as by the recursion.
static void transfers_grow_linearly(void **state)
{
    (void)state;
    for (int n = 4; n <= 256; n *= 4) {
        lw_model *model = chain_of_crosses(n);
        lwi_arena arena;
        lwi_system s;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &arena, &s), LW_OK);
        assert_int_equal(s.transfer->nstep, 2 * n);
        assert_int_equal(s.transfer->ncomponent, n);
        lwi_arena_free(&arena);
        lwt_run reference = lwt_run_start(model, &lwi_formulation_aba);
        lwt_run run = lwt_run_start(model, &lwi_formulation_dca);
        lwt_run_observe(&reference);
        lwt_run_observe(&run);
        lwt_near("dca", n, lwt_acceleration_error(model, &run.now, &reference.now), 0, 1e-9 * n);
        lwt_run_end(&reference), lwt_run_end(&run);
        lw_model_destroy(model);
    }
}

static void threads_have_the_same_bits(void **state)
{
    (void)state;
    static const char *const tried[] = {"dca", "hdca", "index3", "rattle"};
    lw_model *model = chain_of_crosses(300);
    for (int k = 0; k < LWI_COUNT(tried); k++) {
        double *x[3];
        int n = 0;
        for (int i = 0; i < 3; i++) {
            const char *const count[] = {"1", "2", "5"};
            lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", tried[k], "threads",
                                                           count[i], "step", "0.001", "integrator",
                                                           k >= 2 ? "auto" : "rk4"));
            double t;
            lwt_ok(lw_sim_step(sim, 0.004), lw_sim_error(sim));
            n = lw_sim_state_size(sim);
            x[i] = lwt_vector(n);
            lw_sim_get_state(sim, &t, x[i]);
            lw_sim_destroy(sim);
        }
        for (int i = 1; i < 3; i++) assert_memory_equal(x[i], x[0], (size_t)n * sizeof **x);
        for (int i = 0; i < 3; i++) free(x[i]);
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ refusal

// A body between hinges on the same axis rotates freely, in a loop too.
static void what_moves_without_mass_is_named(void **state)
{
    (void)state;
    static const char *const tried[] = {"dca", "hdca", "index3", "rattle"};
    static const char *const coaxial =
        "  first: {type: revolute, between: [A, one], at: [0.4, 0.1, 0], axis: [1, 0, 0]}\n"
        "  second: {type: revolute, between: [one, B], at: [0.5, 0.1, 0], axis: [1, 0, 0]}\n";
    static const char *const place[] = {"0.4, 0.1, 0", "0.5, 0.2, 0.1"};
    for (int k = 0; k < 2 * LWI_COUNT(tried); k++) {
        char one[80];
        lw_error why;
        snprintf(one, sizeof one, "  one: {mass: 0, position: [%s]}\n", place[k % 2]);
        lw_model *model = crank_and_rocker(coaxial, one, true);
        assert_int_equal(lwi_formulation_accepts(lwi_formulation_find(tried[k / 2]), model, &why),
                         LW_ERR_UNSUPPORTED);
        assert_non_null(strstr(why.text, "body 'one' has no mass and is free to move"));
        assert_non_null(strstr(why.text, "(joints 'first', 'second')"));
        lw_model_destroy(model);
    }
}

// A finger without mass that follows another body by a coupling, or that a rotor drives.
static lw_model *finger(bool rotor, const char *of)
{
    char text[1200], coupling[120] = "";
    if (!rotor)
        snprintf(coupling, sizeof coupling,
                 "couplings: [{joint: tip, coordinate: q0, of: %s, with: q0, "
                 "polynomial: [0, 2]}]\n",
                 of);
    snprintf(text, sizeof text,
             "linkwork: 1\n"
             "gravity: [1, -9.81, 0]\n"
             "bodies:\n"
             "  A: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"
             "  B: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 1, 0]}\n"
             "  finger: {mass: 0, position: [1, 0, 0]}\n"
             "joints:\n"
             "  base: {type: revolute, between: [ground, A], at: [0, 0, 0], axis: [0, 0, 1]}\n"
             "  other: {type: revolute, between: [A, B], at: [0.5, 0.5, 0], axis: [0, 0, 1]}\n"
             "  tip: {type: revolute, between: [A, finger], at: [1, 0, 0], axis: [0, 0, 1], "
             "spring: {q0: {stiffness: 5, at: 0.3}}%s}\n"
             "%s",
             rotor ? ", rotor: {q0: 0.1}" : "", coupling);
    return lwt_yaml(text);
}

// A coupling between two bodies transfers inertia; one between three, and a rotor, do not: other formulations can.
static void what_a_coupling_holds_is_named(void **state)
{
    (void)state;
    static const char *const tried[] = {"dca", "hdca", "index3", "rattle"};
    lw_model *two = finger(false, "base");
    agree(two, true); // the tree has a leaf without inertia
    for (int k = 0; k < LWI_COUNT(tried); k++)
        assert_int_equal(lwi_formulation_accepts(lwi_formulation_find(tried[k]), two, NULL), LW_OK);
    lw_model_destroy(two);
    for (int rotor = 0; rotor < 2; rotor++) {
        lw_error why;
        lw_model *model = finger(rotor, "other");
        for (int k = 0; k < LWI_COUNT(tried); k++) {
            assert_int_equal(lwi_formulation_accepts(lwi_formulation_find(tried[k]), model, &why),
                             LW_ERR_UNSUPPORTED);
            assert_non_null(strstr(why.text, "body 'finger' has no mass"));
            assert_non_null(strstr(why.text, "only a coupling or a rotor holds it (joint 'tip')"));
        }
        agree(model, true);
        lw_model_destroy(model);
    }
}

// The axes of a cross come into a line on the way: the run ends there and names the body.
static void axes_in_a_line_end_the_run(void **state)
{
    (void)state;
    static const char *const tried[] = {"dca", "hdca"};
    lw_model *model =
        lwt_yaml("linkwork: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "functions: {swivel: {type: polynomial, coefficients: [0, 1.5707963267948966]}}\n"
                 "bodies:\n"
                 "  A: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"
                 "  one: {mass: 0, position: [1, 0, 0]}\n"
                 "  two: {mass: 0, position: [1, 0, 0]}\n"
                 "  B: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1.5, 0, 0]}\n"
                 "joints:\n"
                 "  base: {type: revolute, between: [ground, A], at: [0, 0, 0], axis: [0, 0, 1]}\n"
                 "  first: {type: revolute, between: [A, one], at: [1, 0, 0], axis: [1, 0, 0]}\n"
                 "  second: {type: revolute, between: [one, two], at: [1, 0, 0], axis: [0, 1, 0], "
                 "motion: {q0: swivel}}\n"
                 "  third: {type: revolute, between: [two, B], at: [1, 0, 0], axis: [0, 0, 1]}\n");
    for (int k = 0; k < LWI_COUNT(tried); k++) {
        lw_sim *sim = lwt_simulate(
            model, LWT_SETTINGS("formulation", tried[k], "step", "0.125", "integrator", "rk4"));
        lw_status status = LW_OK;
        for (int i = 1; i <= 16 && status == LW_OK; i++) status = lw_sim_step(sim, 0.125 * i);
        assert_int_equal(status, LW_ERR_SINGULAR);
        assert_non_null(strstr(lw_sim_error(sim)->text, "t = 1 s, has no mass"));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_hinges_are_a_ball),
        cmocka_unit_test(forces_act_on_the_pieces),
        cmocka_unit_test(light_bodies_are_exact),
        cmocka_unit_test(a_plate_without_mass_is_split),
        cmocka_unit_test(transfers_grow_linearly),
        cmocka_unit_test(threads_have_the_same_bits),
        cmocka_unit_test(what_moves_without_mass_is_named),
        cmocka_unit_test(what_a_coupling_holds_is_named),
        cmocka_unit_test(axes_in_a_line_end_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
