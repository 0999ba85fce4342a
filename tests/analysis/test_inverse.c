// test_inverse.c -- inverse dynamics: against forward dynamics of other formulations, drives and closed forms.
#include "analysis/analysis_cases.h"
#include "analysis/state.h"
#include "support/random_loops.h"

static lw_inverse *inverse_of(const lw_model *model, const lw_inverse_desc *desc)
{
    lw_inverse *inverse;
    lw_error error;
    lwt_ok(lw_inverse_create(model, desc, &inverse, &error), &error);
    return inverse;
}

// A random acceleration at the model's start.
typedef struct motion {
    double *q, *v, *vdot;
} motion;

static motion random_motion(lw_inverse *inverse, uint64_t *seed)
{
    const lw_model *model = lw_inverse_model(inverse);
    motion m = {lwt_vector(model->tree_nq), lwt_vector(model->tree_nv), lwt_vector(model->tree_nv)};
    lw_error error;
    lw_model_tree_start(model, m.q, m.v);
    for (int i = 0; i < model->tree_nv; i++) m.vdot[i] = lwt_random(seed, -2, 2);
    lwt_ok(lw_inverse_complete(inverse, 0, m.q, m.v, m.vdot, &error), &error);
    return m;
}

static void free_motion(motion m)
{
    free(m.q), free(m.v), free(m.vdot);
}

static const lw_inverse_solution *solved(lw_inverse *inverse, motion m)
{
    const lw_inverse_solution *solution;
    lw_error error;
    lwt_ok(lw_inverse_solve(inverse, 0, m.q, m.v, m.vdot, &solution, &error), &error);
    return solution;
}

// The simulation of `formulation` at the state, with the efforts as inputs.
static lw_sim *simulation_at(const lw_inverse *inverse, const lw_inverse_solution *solution,
                             motion m, const char *formulation)
{
    const lw_model *model = lw_inverse_model(inverse);
    lw_options options;
    lw_sim *sim;
    lw_error error;
    lw_options_default(&options);
    lwi_copy_text(options.formulation, sizeof options.formulation, formulation);
    const lw_sim_desc desc = {.options = &options};
    lwt_ok(lw_sim_create(model, &desc, &sim, &error), &error);
    lwt_ok(lw_sim_set_tree(sim, 0, m.q, m.v), lw_sim_error(sim));
    for (int k = 0; k < solution->actuators; k++)
        lwt_ok(lw_sim_set_input(sim, lw_inverse_actuator_input(inverse, k), solution->effort[k]),
               lw_sim_error(sim));
    return sim;
}

// `dense`, which has no tree and no independent coordinates, moves as was required, with the same reactions.
static void check_against_dense(const lw_inverse *inverse, const lw_inverse_solution *solution,
                                motion m)
{
    const lw_model *model = lw_inverse_model(inverse);
    lw_sim *sim = simulation_at(inverse, solution, m, "dense");
    const lw_observation *o;
    double size = 1;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
    for (int j = 0; j < model->njoint; j++)
        for (int i = 0; i < 6; i++) size = fmax(size, fabs(o->reaction[j][i]));
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int i = 0; node->joint >= 0 && i < node->nv; i++)
            lwt_near(o->qdd[model->joint[node->joint].iv + node->column[i]], m.vdot[node->iv + i],
                     1e-8 * size);
    }
    for (int j = 0; j < model->njoint; j++) {
        assert_int_equal(o->reaction_undetermined[j], solution->reaction_undetermined[j]);
        for (int i = 0; i < 6; i++)
            lwt_near(solution->reaction[j][i], o->reaction[j][i], 1e-7 * size);
    }
    lw_sim_destroy(sim);
}

// The names of independent coordinates of a model.
static void independent_names(const lw_model *model, char *text, size_t size)
{
    lwi_analysis_state at;
    lwi_arena arena;
    lw_error error;
    size_t used = 0;
    lwi_arena_init(&arena, NULL);
    lwt_ok(lwi_analysis_state_create(model, 0, NULL, NULL, NULL, NULL, &arena, &at, &error),
           &error);
    text[0] = 0;
    for (int k = 0; k < at.manifold.f; k++) {
        char name[LW_COORDINATE_NAME_SIZE];
        lwi_manifold_name(&at.manifold, k, false, name, sizeof name);
        used += (size_t)snprintf(text + used, size - used, "%s%s", k ? "," : "", name);
    }
    lwi_analysis_state_destroy(&at);
    lwi_arena_free(&arena);
}

static bool has_floating_base(const lw_model *model)
{
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].joint < 0) return true;
    return false;
}

// Random mechanisms with loops, couplings, drives and rotors: efforts on the independent coordinates are unique, and
// `dense` with them has the acceleration and the reactions.
static void test_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 11;
    int checked = 0;
    LWT_FOR_LOOPS(c, 24, LWT_LOOP_ALL & ~LWT_CUSTOM)
    {
        if (c.dof == 0 || has_floating_base(c.model)) continue;
        char names[2000];
        independent_names(c.model, names, sizeof names);
        const lw_inverse_desc desc = {.keep_drives = true, .actuators = names};
        lw_inverse *inverse;
        lw_error error;
        const lw_status status = lw_inverse_create(c.model, &desc, &inverse, &error);
        if (status != LW_OK &&
            (strstr(error.text, "follow functions") || strstr(error.text, "named twice")))
            continue; // a coordinate has two functions, or two have one input
        lwt_ok(status, &error);
        assert_int_equal(lw_inverse_dof(inverse), c.dof);
        const motion m = random_motion(inverse, &seed);
        const lw_inverse_solution *solution = solved(inverse, m);
        assert_int_equal(solution->kind, LW_INVERSE_UNIQUE);
        assert_int_equal(solution->rank, c.dof);
        check_against_dense(inverse, solution, m);
        free_motion(m);
        lw_inverse_destroy(inverse);
        checked++;
    }
    assert_true(checked >= 10);
}

// A five-bar with two degrees of freedom: cranks A and E, couplers, joined at the point C.
static lw_model *five_bar(const double *drive_a, const double *drive_e)
{
    lw_builder *b = lwt_builder();
    lw_joint_desc A = {.name = "A", .type = LW_JOINT_REVOLUTE, .axis = {0, 0, 1}}, E = A;
    const lw_body left = lwt_rod(b, "left", 0, 0, -0.1, 0.5, 1),
                  coupler = lwt_rod(b, "coupler", -0.1, 0.5, 0.4, 1, 0.7),
                  other = lwt_rod(b, "other", 0.4, 1, 0.9, 0.4, 0.8),
                  right = lwt_rod(b, "right", 0.8, 0, 0.9, 0.4, 1.2);
    if (drive_a)
        A.coordinate[0].motion = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                                     .coefficients = drive_a,
                                                                     .ncoefficient = 3});
    if (drive_e)
        E.coordinate[0].motion = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                                     .coefficients = drive_e,
                                                                     .ncoefficient = 3});
    A.body2 = left;
    lwt_add(b, &A);
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", left, coupler, -0.1, 0.5);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", coupler, other, 0.4, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "D", other, right, 0.9, 0.4);
    E.name = "E", E.body2 = right, E.at = (lw_vec3){0.8, 0, 0};
    lwt_add(b, &E);
    return lwt_model(b);
}

// Efforts of a motion for the drives alone, and with weights for these and the joints named.
typedef struct drives_and_more {
    lw_inverse *drives, *more;
    int rows;
} drives_and_more;

static lw_status compare_with_drives(void *user, const lw_observation *o)
{
    drives_and_more *const t = user;
    const lw_inverse_solution *s;
    lw_error error;
    double required[2];
    lwt_ok(lw_inverse_motion(t->drives, o, &s, &error), &error);
    assert_int_equal(s->kind, LW_INVERSE_UNIQUE);
    lwt_near(s->effort[0], o->reaction[0][5], 1e-9); // the torque of a drive is its reaction
    lwt_near(s->effort[1], o->reaction[4][5], 1e-9);
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 6; i++) {
            const bool drive = (j == 0 || j == 4) && i == 5;
            lwt_near(s->reaction[j][i], drive ? 0 : o->reaction[j][i], 1e-8);
        }
    memcpy(required, s->required, sizeof required);
    lwt_ok(lw_inverse_motion(t->more, o, &s, &error), &error);
    assert_int_equal(s->kind, LW_INVERSE_MINIMUM_NORM);
    assert_int_equal(s->rank, 2);
    lwt_near(s->residual, 0, 1e-12);
    for (int k = 0; k < 3; k++) assert_true(s->redundant[k]);
    lwt_near(s->required[0], required[0], 1e-10 * (1 + fabs(required[0])));
    t->rows++;
    return LW_OK;
}

// Drives of both cranks, and the same motion by these and a motor at the elbow.
static void test_five_bar(void **state)
{
    (void)state;
    const double a[] = {0, 0.7, 0.4}, e[] = {0, -0.5, 0.9};
    lw_model *driven = five_bar(a, e), *open = five_bar(NULL, NULL);
    const double weights[] = {1, 2, 0.5};
    drives_and_more t = {.drives = inverse_of(driven, NULL),
                         .more = inverse_of(driven, &(lw_inverse_desc){.actuators = "A,B,E"})};
    assert_int_equal(lw_inverse_actuators(t.drives), 2);
    assert_string_equal(lw_inverse_actuator_name(t.drives, 0), "joint.A.actuator0");
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    options.duration = 0.3, options.sample = 0.1;
    lwt_ok(lw_sim_create(driven, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    lwt_ok(lw_sim_kinematics(sim, LW_OBSERVE_REACTION, compare_with_drives, &t, NULL, NULL),
           lw_sim_error(sim));
    assert_int_equal(t.rows, 4);

    // minimum norm: efforts of A, B and E for which no change along the null vector is smaller
    uint64_t seed = 3;
    lw_inverse *two = inverse_of(open, &(lw_inverse_desc){.actuators = "A.q0, joint.E.q0"}),
               *three = inverse_of(open, &(lw_inverse_desc){.actuators = "A,B,E"}),
               *one = inverse_of(open, &(lw_inverse_desc){.actuators = "A"});
    lwt_ok(lw_inverse_set_weight(three, "B", weights[1], &error), &error);
    lwt_ok(lw_inverse_set_weight(three, "joint.E.actuator0", weights[2], &error), &error);
    const motion m = random_motion(two, &seed);
    const double unique[] = {solved(two, m)->effort[0], solved(two, m)->effort[1]};
    const lw_inverse_solution *s = solved(three, m);
    double best = 0, effort[3];
    for (int k = 0; k < 3; k++) {
        effort[k] = s->effort[k];
        best += weights[k] * weights[k] * effort[k] * effort[k];
    }
    assert_true(best < weights[0] * weights[0] * unique[0] * unique[0] +
                           weights[2] * weights[2] * unique[1] * unique[1]);
    double sum = 0; // the difference of two solutions is a null vector, to which w^2 u is normal
    sum += weights[0] * weights[0] * effort[0] * (effort[0] - unique[0]);
    sum += weights[1] * weights[1] * effort[1] * effort[1];
    sum += weights[2] * weights[2] * effort[2] * (effort[2] - unique[1]);
    lwt_near(sum, 0, 1e-9 * best);
    check_against_dense(three, s, m);

    // one motor for two degrees of freedom: what is missing, added to the effort, gives the motion again
    s = solved(one, m);
    assert_int_equal(s->kind, LW_INVERSE_INFEASIBLE);
    assert_int_equal(s->rank, 1);
    assert_true(s->residual > 1e-3);
    assert_non_null(strstr(s->coordinate, "joint."));
    free_motion(m);
    lw_inverse_destroy(one), lw_inverse_destroy(two), lw_inverse_destroy(three);
    lw_inverse_destroy(t.drives), lw_inverse_destroy(t.more);
    lw_sim_destroy(sim);
    lw_model_destroy(driven), lw_model_destroy(open);
}

// A Stewart platform: six legs of two tubes with a universal joint below, a slider, a ball above.
static lw_model *stewart(bool redundant)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, -9.81});
    const lw_body top = lwt_body(b, &(lw_body_desc){.name = "top",
                                                    .mass = 40,
                                                    .inertia = {2, 2.2, 4, 0.1, 0, 0},
                                                    .pose.position = {0.02, 0.01, 1}});
    for (int i = 0; i < 6 + redundant; i++) {
        const double below = LWT_PI / 3 * (i / 2 * 2 + (i % 2 ? 0.3 : -0.3)),
                     above = LWT_PI / 3 * (i / 2 * 2 + (i % 2 ? 0.8 : -0.8));
        const lw_vec3 P = {0.8 * cos(below), 0.8 * sin(below), 0},
                      Q = i < 6 ? (lw_vec3){0.5 * cos(above), 0.5 * sin(above), 1}
                                : (lw_vec3){0, 0, 1},
                      d = {Q.x - P.x, Q.y - P.y, Q.z - P.z};
        char name[3][20];
        for (int k = 0; k < 3; k++) snprintf(name[k], sizeof name[k], "%c%d", "ulb"[k], i);
        char tube[2][20];
        for (int k = 0; k < 2; k++)
            snprintf(tube[k], sizeof tube[k], "%s%d", k ? "rod" : "tube", i);
        lw_body part[2];
        for (int k = 0; k < 2; k++) {
            const double at = k ? 0.75 : 0.25;
            part[k] = lwt_body(b, &(lw_body_desc){.name = tube[k],
                                                  .mass = 3 - k,
                                                  .inertia = {0.1, 0.12, 0.11, 0, 0, 0},
                                                  .pose.position = {P.x + at * d.x, P.y + at * d.y,
                                                                    P.z + at * d.z}});
        }
        lwt_add(b, &(lw_joint_desc){.name = name[0],
                                    .type = LW_JOINT_UNIVERSAL,
                                    .body2 = part[0],
                                    .at = P,
                                    .axis = {-d.y, d.x, 0},
                                    .axis2 = {d.x * d.z, d.y * d.z, -d.x * d.x - d.y * d.y}});
        lwt_add(b, &(lw_joint_desc){.name = name[1],
                                    .type = LW_JOINT_PRISMATIC,
                                    .body1 = part[0],
                                    .body2 = part[1],
                                    .at = P,
                                    .axis = d});
        lwt_add(b, &(lw_joint_desc){.name = name[2],
                                    .type = LW_JOINT_SPHERICAL,
                                    .body1 = part[1],
                                    .body2 = top,
                                    .at = Q});
    }
    return lwt_model(b);
}

static void test_stewart(void **state)
{
    (void)state;
    uint64_t seed = 21;
    lw_model *model = stewart(false);
    lw_inverse *legs = inverse_of(model, &(lw_inverse_desc){.actuators = "l0,l1,l2,l3,l4,l5"}),
               *five = inverse_of(model, &(lw_inverse_desc){.actuators = "l0,l1,l2,l3,l4"});
    assert_int_equal(lw_inverse_dof(legs), 6);
    const motion m = random_motion(legs, &seed);
    const lw_inverse_solution *s = solved(legs, m);
    assert_int_equal(s->kind, LW_INVERSE_UNIQUE);
    check_against_dense(legs, s, m);
    assert_int_equal(solved(five, m)->kind, LW_INVERSE_INFEASIBLE);
    free_motion(m);

    // one leg more, below the middle: efforts of minimum norm
    lw_model *more = stewart(true);
    lw_inverse *all = inverse_of(more, &(lw_inverse_desc){.actuators = "l0,l1,l2,l3,l4,l5,l6"});
    const motion n = random_motion(all, &seed);
    s = solved(all, n);
    assert_int_equal(s->kind, LW_INVERSE_MINIMUM_NORM);
    assert_int_equal(s->rank, 6);
    check_against_dense(all, s, n);
    free_motion(n);
    lw_inverse_destroy(all);
    lw_model_destroy(more);

    // at rest the ground carries the whole weight
    double weight = 0;
    motion rest = random_motion(legs, &seed);
    memset(rest.v, 0, (size_t)lw_inverse_model(legs)->tree_nv * sizeof *rest.v);
    memset(rest.vdot, 0, (size_t)lw_inverse_model(legs)->tree_nv * sizeof *rest.vdot);
    s = solved(legs, rest);
    for (int i = 0; i < 6; i++) weight += s->reaction[3 * i][2];
    lwt_near(weight, 9.81 * (40 + 6 * 5.0), 1e-9);
    free_motion(rest);
    lw_inverse_destroy(legs), lw_inverse_destroy(five);
    lw_model_destroy(model);
}

// Trees: all coordinates actuated give what lw_inverse_dynamics gives.
static void test_tree(void **state)
{
    (void)state;
    uint64_t seed = 31;
    const double angle[] = {0.3, 0.9, -0.4};
    lw_model *model = lwt_pendulum(3, angle);
    lw_inverse *inverse = inverse_of(model, &(lw_inverse_desc){.actuators = "j1,j2,j3"});
    const motion m = random_motion(inverse, &seed);
    lw_dynamics *dynamics;
    lw_error error;
    double tau[3];
    lwt_ok(lw_dynamics_create(model, NULL, &dynamics, &error), &error);
    lwt_ok(lw_inverse_dynamics(dynamics, 0, m.q, m.v, m.vdot, NULL, tau),
           lw_dynamics_error(dynamics));
    const lw_inverse_solution *s = solved(inverse, m);
    for (int k = 0; k < 3; k++) lwt_near(s->effort[k], tau[k], 1e-12 * 30);
    lw_dynamics_destroy(dynamics);
    free_motion(m);
    lw_inverse_destroy(inverse);
    lw_model_destroy(model);
}

// Inputs that are not efforts of coordinates: a spring between points pushes with an input.
static void test_force_between_points(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_signal push;
    lw_error error;
    lwt_ok(lw_builder_add_input(b, "push", &push, &error), &error);
    const lw_body bar = lwt_rod(b, "bar", 0, 0, 1, 0, 2);
    lwt_joint(b, LW_JOINT_REVOLUTE, "hinge", lwt_ground, bar, 0, 0);
    lwt_spring(b, &(lw_spring_desc){.name = "cylinder",
                                    .body2 = bar,
                                    .world1 = true,
                                    .point1 = {1, -1, 0},
                                    .world2 = true,
                                    .point2 = {1, 0, 0},
                                    .length = 1,
                                    .force = push});
    lw_model *model = lwt_model(b);
    lw_inverse *inverse = inverse_of(model, NULL);
    assert_int_equal(lw_inverse_actuators(inverse), 1);
    double q = 0, v = 0, a = 0;
    const lw_inverse_solution *s;
    lwt_ok(lw_inverse_solve(inverse, 0, &q, &v, &a, &s, &error), &error);
    lwt_near(s->effort[0], 2 * 9.81 / 2, 1e-11); // half of the weight at the end
    assert_int_equal(s->kind, LW_INVERSE_UNIQUE);
    lw_inverse_destroy(inverse);
    lw_model_destroy(model);
}

// Inertia reflected to a joint that closes the loop: an effort on both bodies, no reaction.
static void test_rotor_on_a_cut_joint(void **state)
{
    (void)state;
    uint64_t seed = 9;
    lw_builder *b = lwt_builder();
    const lw_body crank = lwt_rod(b, "crank", 0, 0, 0.1, 0.4, 1),
                  coupler = lwt_rod(b, "coupler", 0.1, 0.4, 1.2, 0.8, 2),
                  rocker = lwt_rod(b, "rocker", 1, 0, 1.2, 0.8, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "A", lwt_ground, crank, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", crank, coupler, 0.1, 0.4);
    lwt_joint(b, LW_JOINT_REVOLUTE, "D", lwt_ground, rocker, 1, 0);
    lwt_add(b, &(lw_joint_desc){.name = "C",
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = coupler,
                                .body2 = rocker,
                                .at = {1.2, 0.8, 0},
                                .axis = {0, 0, 1},
                                .cut = LW_CUT_ALWAYS,
                                .coordinate[0].rotor = 0.4});
    lw_model *model = lwt_model(b);
    lw_inverse *inverse = inverse_of(model, &(lw_inverse_desc){.actuators = "A"});
    const motion m = random_motion(inverse, &seed);
    check_against_dense(inverse, solved(inverse, m), m);
    free_motion(m);
    lw_inverse_destroy(inverse);
    lw_model_destroy(model);
}

static void test_refusals(void **state)
{
    (void)state;
    lw_model *model = five_bar(NULL, NULL);
    lw_inverse *none = NULL, *inverse = inverse_of(model, &(lw_inverse_desc){.actuators = "A,E"});
    lw_error error;
    lwt_refused(lw_inverse_create(model, &(lw_inverse_desc){.actuators = "A,F"}, &none, &error),
                LW_ERR_ARGUMENT, &error, "actuators: there is no joint 'F'");
    lwt_refused(lw_inverse_create(model, &(lw_inverse_desc){.actuators = "A,A.q0"}, &none, &error),
                LW_ERR_ARGUMENT, &error, "'joint.A.actuator0' is named twice");
    lwt_refused(lw_inverse_create(model, &(lw_inverse_desc){.actuators = "A,,E"}, &none, &error),
                LW_ERR_ARGUMENT, &error, "a name is missing");
    lwt_refused(lw_inverse_create(model, NULL, &none, &error), LW_ERR_ARGUMENT, &error,
                "actuators: none");
    lwt_refused(lw_inverse_set_weight(inverse, "A", 0, &error), LW_ERR_ARGUMENT, &error,
                "weight of 'A' is 0, expected > 0");
    lwt_refused(lw_inverse_set_weight(inverse, "B", 1, &error), LW_ERR_ARGUMENT, &error,
                "weights: 'B' is no actuator");
    assert_null(none);
    double q[5], v[5], a[5] = {0};
    lw_model_tree_start(lw_inverse_model(inverse), q, v);
    v[0] = 1;
    lwt_refused(lw_inverse_solve(inverse, 0, q, v, a, NULL, &error), LW_ERR_ARGUMENT, &error,
                "speeds do not satisfy joint");
    v[0] = 0, q[0] += 0.1;
    lwt_refused(lw_inverse_solve(inverse, 0, q, v, a, NULL, &error), LW_ERR_ARGUMENT, &error,
                "coordinates do not satisfy joint");
    a[0] = NAN;
    lwt_refused(lw_inverse_solve(inverse, 0, q, v, a, NULL, &error), LW_ERR_NOT_FINITE, &error,
                "not finite");
    lw_inverse_destroy(inverse);
    lw_model_destroy(model);
}

// Four motors for one degree of freedom, and a parallelogram in a line.
static void test_dependent_actuators_and_singular_positions(void **state)
{
    (void)state;
    lw_error error;
    lw_inverse *none = NULL;
    lw_model *model = lwt_sprung_four_bar(0.9, 0);
    lw_inverse *all = inverse_of(model, &(lw_inverse_desc){.actuators = "A,B,C,D"});
    uint64_t seed = 5;
    const motion m = random_motion(all, &seed);
    const lw_inverse_solution *s = solved(all, m);
    assert_int_equal(s->rank, 1); // four motors, one degree of freedom
    assert_int_equal(s->kind, LW_INVERSE_MINIMUM_NORM);
    for (int k = 0; k < 4; k++) assert_true(s->redundant[k]);
    check_against_dense(all, s, m);
    free_motion(m);
    lw_inverse_destroy(all);
    lw_model_destroy(model);

    lw_builder *b = lwt_builder(); // a parallelogram with all bars along x
    const lw_body crank = lwt_rod(b, "crank", 0, 0, 0.5, 0, 1),
                  coupler = lwt_rod(b, "coupler", 0.5, 0, 1.5, 0, 1),
                  rocker = lwt_rod(b, "rocker", 1, 0, 1.5, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "A", lwt_ground, crank, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", crank, coupler, 0.5, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", coupler, rocker, 1.5, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "D", lwt_ground, rocker, 1, 0);
    model = lwt_model(b);
    lwt_refused(lw_inverse_create(model, &(lw_inverse_desc){.actuators = "A"}, &none, &error),
                LW_ERR_SINGULAR, &error, "2 degrees of freedom here, 1 nearby");
    assert_null(none);
    lw_model_destroy(model);
}

static lw_inverse_solution with_rocker(double crank, double *effort)
{
    lw_model *model = lwt_sprung_four_bar(crank, 0);
    lw_inverse *inverse = inverse_of(model, &(lw_inverse_desc){.actuators = "D"});
    uint64_t seed = 5;
    const motion m = random_motion(inverse, &seed);
    const lw_inverse_solution s = *solved(inverse, m);
    *effort = s.effort[0];
    free_motion(m);
    lw_inverse_destroy(inverse);
    lw_model_destroy(model);
    return s;
}

// A motor on the rocker, crank and coupler in line: alone, it has no other pivot to be compared with.
static void test_one_actuator_at_a_dead_point(void **state)
{
    (void)state;
    const double dead = acos(2.32 / 2.8);
    double far, close;
    const lw_inverse_solution a = with_rocker(dead + 1e-2, &far),
                              b = with_rocker(dead + 1e-4, &close);
    assert_true(a.condition < 1e-1 && a.condition > 1e-3);
    lwt_near(b.condition / a.condition, 1e-2, 1e-3);
    lwt_near(far / close, 1e-2, 1e-3);
    assert_int_equal(b.kind, LW_INVERSE_UNIQUE);
    const lw_inverse_solution none = with_rocker(dead, &close);
    assert_int_equal(none.kind, LW_INVERSE_INFEASIBLE);
    assert_int_equal(none.rank, 0);
    lwt_near(close, 0, 0);
}

// A measure of a drive's effort is that of the actuator in its place; that of a drive that was removed is zero.
static void measures_of_drives_follow_the_actuators(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\ngravity: [0, 0, 0]\n"
                               "functions: {f: {type: polynomial, coefficients: [0, 0, 1]}}\n"
                               "bodies: {a: {mass: 3}}\n"
                               "joints: {x: {type: prismatic, between: [ground, a], axis: [1, 0, "
                               "0], at: [0, 0, 0], motion: "
                               "{q0: f}}}\n"
                               "measures: {force: 2*joint.x.drive0 + 0.5*joint.x.drive0}\n";
    lw_model *model, *actuated;
    lw_error error = {0};
    lwt_ok(lw_model_parse(text, strlen(text), "m.yaml", &(lw_read_desc){.format = "yaml"}, &model,
                          NULL, &error),
           &error);
    lwt_ok(lw_model_actuate(model, "x", true, &actuated, &error), &error);
    assert_string_equal("2*joint.x.actuator0 + 0.5*joint.x.actuator0",
                        actuated->desc.measure[0].formula);
    lw_measures *measures;
    lwt_ok(lw_measures_create(actuated, &measures, &error), &error);
    lw_measures_destroy(measures);
    lw_model_destroy(actuated);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_five_bar),
        cmocka_unit_test(test_stewart),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_force_between_points),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_rotor_on_a_cut_joint),
        cmocka_unit_test(test_dependent_actuators_and_singular_positions),
        cmocka_unit_test(test_one_actuator_at_a_dead_point),
        cmocka_unit_test(measures_of_drives_follow_the_actuators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
