// sim_cases.h -- small mechanisms moved through the public API, and the rows a run hands out.
#ifndef LWT_SIM_CASES_H
#define LWT_SIM_CASES_H

#include "simulate/simulation.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ------------------------------------------------------------------------------------------ models

#define MASS 2.0
#define ARM 0.5
#define INERTIA 0.05
#define GRAVITY 9.81
#define ANGLE 2.0 // [rad] of the pendulum at the start

// Formulation and integrator of one name, which go with each other only.
static inline bool own_step(const char *name)
{
    return !strcmp(name, "index3") || !strcmp(name, "rattle") || !strcmp(name, "gauss");
}

static inline void ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s: %s", lw_status_text(status), error ? error->text : "");
}

static inline lw_builder *begin(double gravity)
{
    lw_builder *b = NULL;
    assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
    lw_builder_gravity(b, (lw_vec3){0, 0, -gravity});
    return b;
}

static inline lw_body add_body(lw_builder *b, const char *name, lw_vec3 at)
{
    lw_body body;
    lw_error error = {0};
    const lw_body_desc desc = {
        .name = name, .mass = MASS, .inertia = {INERTIA, INERTIA, INERTIA}, .pose.position = at};
    ok(lw_builder_add_body(b, &desc, &body, &error), &error);
    return body;
}

static inline lw_joint add_hinge(lw_builder *b, const lw_joint_desc *given)
{
    lw_joint joint;
    lw_error error = {0};
    lw_joint_desc desc = *given;
    desc.type = LW_JOINT_REVOLUTE;
    desc.axis = (lw_vec3){0, 1, 0};
    ok(lw_builder_add_joint(b, &desc, &joint, &error), &error);
    return joint;
}

static inline lw_model *finish(lw_builder *b)
{
    lw_model *model = NULL;
    lw_error error = {0};
    ok(lw_model_create(b, &model, &error), &error);
    lw_builder_destroy(b);
    return model;
}

// One body on a hinge at the origin, its mass centre ARM below at q = 0.
static inline lw_model *pendulum(double angle, double damping)
{
    lw_builder *b = begin(GRAVITY);
    const lw_body body = add_body(b, "bob", (lw_vec3){0, 0, -ARM});
    add_hinge(b, &(lw_joint_desc){.name = "pivot",
                                  .body2 = body,
                                  .has_q = 1,
                                  .q = {angle},
                                  .coordinate[0].damping = damping});
    return finish(b);
}

// A rotor about a vertical-free axis: J qdd = torque, with an input and a function as torque.
static inline lw_model *rotor(const lw_function_desc *function)
{
    lw_builder *b = begin(0);
    lw_signal input, torque = {0};
    lw_error error = {0};
    const lw_body body = add_body(b, "rotor", (lw_vec3){0, 0, 0});
    ok(lw_builder_add_input(b, "torque", &input, &error), &error);
    if (function) ok(lw_builder_add_function(b, function, &torque, &error), &error);
    add_hinge(b, &(lw_joint_desc){.name = "axle",
                                  .body2 = body,
                                  .coordinate[0] = {.effort = input, .force = torque}});
    return finish(b);
}

// Four bars of a parallelogram: hinges at (0,0,0), (0,0,1), (1,0,1), (1,0,0).
static inline lw_model *four_bar(void)
{
    lw_builder *b = begin(GRAVITY);
    const lw_body crank = add_body(b, "crank", (lw_vec3){0, 0, 0.5});
    const lw_body coupler = add_body(b, "coupler", (lw_vec3){0.5, 0, 1});
    const lw_body rocker = add_body(b, "rocker", (lw_vec3){1, 0, 0.5});
    add_hinge(b, &(lw_joint_desc){.name = "A", .body2 = crank});
    add_hinge(b, &(lw_joint_desc){.name = "B", .body1 = crank, .body2 = coupler, .at = {0, 0, 1}});
    add_hinge(b, &(lw_joint_desc){.name = "C", .body1 = coupler, .body2 = rocker, .at = {1, 0, 1}});
    add_hinge(b, &(lw_joint_desc){.name = "D", .body2 = rocker, .at = {1, 0, 0}});
    return finish(b);
}

// ----------------------------------------------------------------------------------------- helpers

static inline void set(lw_options *o, const char *key, const char *value)
{
    lw_error error = {0};
    ok(lw_options_set(o, key, value, &error), &error);
}

// Options from pairs "key", "value", ..., NULL.
static inline lw_sim *simulate(const lw_model *model, const char *const *pairs)
{
    lw_options options;
    lw_options_default(&options);
    for (int i = 0; pairs && pairs[i]; i += 2) set(&options, pairs[i], pairs[i + 1]);
    lw_sim *sim = NULL;
    lw_error error = {0};
    ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    return sim;
}
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline const lw_observation *observe(lw_sim *sim, lw_observe level)
{
    const lw_observation *o = NULL;
    ok(lw_sim_observe(sim, level, &o), lw_sim_error(sim));
    return o;
}

static inline void step(lw_sim *sim, double time)
{
    ok(lw_sim_step(sim, time), lw_sim_error(sim));
}

static inline lw_summary summary_of(const lw_sim *sim)
{
    lw_summary s;
    lw_sim_summary(sim, &s);
    return s;
}

// Rows as they come.
enum { MAX_ROWS = 4096 };
typedef struct rows {
    double time[MAX_ROWS], q[MAX_ROWS];
    int n, refuse_at, stop_after;
} rows;

static inline lw_status keep(void *user, const lw_observation *o)
{
    rows *r = user;
    assert_true(r->n < MAX_ROWS);
    if (r->refuse_at && r->n == r->refuse_at) return LW_ERR_IO;
    r->time[r->n] = o->time;
    r->q[r->n++] = o->q ? o->q[0] : 0;
    return LW_OK;
}

static inline int stop_late(void *user, double time, double end)
{
    const rows *r = user;
    assert_true(time <= end);
    return r->stop_after && r->n >= r->stop_after;
}

static inline rows *run(lw_sim *sim, lw_status expected)
{
    static rows r;
    r = (rows){0};
    const lw_status status = lw_sim_run(sim, LW_OBSERVE_REACTION, keep, &r, NULL, NULL);
    if (status != expected) fail_msg("%d: %s", status, lw_sim_error(sim)->text);
    return &r;
}

#endif
