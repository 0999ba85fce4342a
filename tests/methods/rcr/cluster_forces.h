// cluster_forces.h -- forces and couplings on mechanisms with loop clusters, and evaluations with
// them.
#ifndef LWT_CLUSTER_FORCES_H
#define LWT_CLUSTER_FORCES_H

#include "methods/rcr/cluster_cases.h"

static inline lw_body some_body(const site *s, uint64_t *seed)
{
    return (lw_body){(int)((draw(seed) + 1) / 2 * (s->nbody + 1))}; // 0: the ground
}

static inline lw_vec3 some_point(uint64_t *seed)
{
    const double x = draw(seed), y = draw(seed), z = draw(seed);
    return (lw_vec3){x, y, z};
}

static inline void add_spring(site *s, lw_body a, lw_body b, lw_signal force, uint64_t *seed)
{
    lw_error error;
    lwt_ok(lw_builder_add_spring(s->b,
                                 &(lw_spring_desc){.body1 = a,
                                                   .body2 = b,
                                                   .point1 = some_point(seed),
                                                   .point2 = some_point(seed),
                                                   .stiffness = 20,
                                                   .damping = 0.3,
                                                   .length = 1,
                                                   .force = force},
                                 &error),
           &error);
}

static inline void add_wrench(site *s, lw_body body, lw_signal scale, bool body_axes,
                              uint64_t *seed)
{
    lw_error error;
    lwt_ok(lw_builder_add_wrench(s->b,
                                 &(lw_wrench_desc){.body = body,
                                                   .point = some_point(seed),
                                                   .force = some_point(seed),
                                                   .torque = some_point(seed),
                                                   .body_axes = body_axes,
                                                   .scale = scale},
                                 &error),
           &error);
}

static inline void add_bushing(site *s, lw_body a, lw_body b, uint64_t *seed)
{
    lw_error error;
    lwt_ok(lw_builder_add_bushing(s->b,
                                  &(lw_bushing_desc){.body1 = a,
                                                     .body2 = b,
                                                     .at = some_point(seed),
                                                     .has_at = 1,
                                                     .stiffness = {5, 6, 7, 0.5, 0.6, 0.7},
                                                     .damping = {0.1, 0.2, 0.3, 0.1, 0.1, 0.2}},
                                  &error),
           &error);
}

// A sphere on the body, in the ground by half of its radius.
static inline void add_stop(site *s, lw_body body)
{
    lw_error error;
    lwt_ok(lw_builder_add_stop(s->b,
                               &(lw_stop_desc){.body1 = body,
                                               .radius = 10,
                                               .normal = rotated(s, 0, 1, 0),
                                               .stiffness = 2,
                                               .dissipation = 0.1},
                               &error),
           &error);
}

// All kinds of forces of a model, on random bodies and on one rigidly merged with another.
static inline void add_forces(site *s, uint64_t *seed)
{
    const lw_signal wave = lwt_function(
        s->b,
        &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 3, .omega = 2, .phase = 1});
    lw_signal input;
    lw_error error;
    lwt_ok(lw_builder_add_input(s->b, "push", &input, &error), &error);
    const lw_body first = {1};
    lw_body held[2];
    for (int i = 0; i < 2; i++) { // one with a mass, one without
        held[i] =
            i ? lwt_body(s->b, &(lw_body_desc){.pose = {.position = rotated(s, 0.2, 0.3, 0.1)}})
              : blob(s, 0.1, -0.2, 0.1, 0.4);
        lwt_add(s->b, &(lw_joint_desc){.type = LW_JOINT_FIXED, .body1 = first, .body2 = held[i]});
        add_spring(s, some_body(s, seed), held[i], wave, seed);
    }
    for (int i = 0; i < 3; i++) {
        const lw_body a = some_body(s, seed), b = {a.index % s->nbody + 1};
        add_spring(s, a, b, i ? (lw_signal){0} : input, seed);
        add_wrench(s, b, i ? wave : input, i == 1, seed);
    }
    add_bushing(s, lwt_ground, (lw_body){2}, seed);
    add_stop(s, (lw_body){s->nbody});
}

static inline void couple(site *s, lw_joint joint, lw_joint of, const double *law, int n)
{
    lw_error error;
    lwt_ok(lw_builder_add_coupling(
               s->b,
               &(lw_coupling_desc){.joint = joint, .of = of, .polynomial = law, .npolynomial = n},
               &error),
           &error);
}

static const double inputs[] = {2.5};

static inline void check(lw_model *model, const char *what, findings *worst)
{
    lwt_run r = drop(model, 1);
    for (int k = 0; k < 4; k++) {
        step_on(&r, 40, inputs);
        compare(&r, inputs, what, worst);
    }
    compare_gaps(&r, inputs, 1e-3, what);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

static inline void report(const char *what, const findings *worst)
{
    print_message("%s: by clusters %d of %d, off %.1e, off dense %.1e\n", what, worst->done,
                  worst->requested, worst->generic, worst->dense);
    if (2 * worst->done < worst->requested)
        fail_msg("%s: clusters did %d of %d", what, worst->done, worst->requested);
}

#endif
