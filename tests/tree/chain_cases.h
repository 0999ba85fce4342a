// chain_cases.h -- chains of hinges of any length, with a state, for the tests of the kernels.
#ifndef LWT_CHAIN_CASES_H
#define LWT_CHAIN_CASES_H

#include "tree/tree_cases.h"

/** LWT_CHAIN_ACROSS: axes y, z, x, ... of rods along x; PARALLEL: all along y, so that the compliance of a segment is
 *  singular; MIXED: random frames. */
typedef enum lwt_chain_shape {
    LWT_CHAIN_ACROSS,
    LWT_CHAIN_PARALLEL,
    LWT_CHAIN_MIXED
} lwt_chain_shape;
enum { LWT_CHAIN_SHAPES = 3 };

typedef struct lwt_chain {
    lw_model *model;
    double *x; ///< [2 n + 1] angles, speeds, room for work
} lwt_chain;

static inline const char *lwt_chain_name(lwt_chain_shape shape)
{
    static const char *const names[] = {"axes across", "axes parallel", "random frames"};
    return names[shape];
}

// Unit quaternion of the rotation by `angle` about the unit vector (x, y, z).
static inline lw_quat lwt_axis_angle(double angle, double x, double y, double z)
{
    const double s = sin(angle / 2);
    return (lw_quat){cos(angle / 2), s * x, s * y, s * z};
}

/** Joint i is at the end of the rod of its inboard body, rotated by on[i], and at the origin of its outboard body,
 *  rotated by in[i].  The first `empty` bodies have neither mass nor length. */
static inline lwt_chain lwt_chain_build(int n, const lw_quat *on, const lw_quat *in, int empty,
                                        double stiffness)
{
    lwt_chain c = {.x = lwt_reals(2 * n + 1)};
    lw_builder *builder;
    lw_error error;
    lw_body body = {0};
    uint64_t seed = (uint64_t)n;
    assert_int_equal(lw_builder_create(NULL, &builder), LW_OK);
    for (int i = 0; i < n; i++) {
        const double m = i < empty ? 0 : 1;
        const lw_body_desc rod = {
            .mass = m, .inertia = {0.02 * m, 0.09 * m, 0.09 * m}, .com = {0.5 * m, 0, 0}};
        lw_joint_desc hinge = {
            .type = LW_JOINT_REVOLUTE,
            .body1 = body,
            .placement = LW_PLACED_FRAMES,
            .frame1 = {{i > empty ? 1 : 0, 0, 0}, on[i]},
            .frame2 = {{0, 0, 0}, in[i]},
            .has_q = 1,
            .coordinate[0] = {.stiffness = stiffness, .damping = 0.1 * stiffness}};
        lw_joint joint;
        assert_int_equal(lw_builder_add_body(builder, &rod, &body, &error), LW_OK);
        hinge.body2 = body;
        hinge.q[0] = c.x[i] = lwt_random(&seed, -1, 1);
        c.x[n + i] = lwt_random(&seed, -1, 1);
        assert_int_equal(lw_builder_add_joint(builder, &hinge, &joint, &error), LW_OK);
    }
    if (lw_model_create(builder, &c.model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(builder);
    return c;
}

static inline lwt_chain lwt_chain_sprung(int n, lwt_chain_shape shape, double stiffness)
{
    const double quarter = acos(0);
    const lw_quat axis[3] = {lwt_axis_angle(-quarter, 1, 0, 0), lwt_axis_angle(0, 0, 0, 1),
                             lwt_axis_angle(quarter, 0, 1, 0)};
    lw_quat *on = lwt_zeros((size_t)n, sizeof *on), *in = lwt_zeros((size_t)n, sizeof *in);
    uint64_t seed = 7;
    for (int i = 0; i < n; i++) {
        on[i] = in[i] = axis[shape == LWT_CHAIN_ACROSS ? i % 3 : 0];
        if (shape != LWT_CHAIN_MIXED) continue;
        on[i] = lwt_axis_angle(lwt_random(&seed, 0.5, 2.5), 0.6, 0, 0.8);
        in[i] = lwt_axis_angle(lwt_random(&seed, 0.5, 2.5), 0, 1, 0);
    }
    const lwt_chain c = lwt_chain_build(n, on, in, 0, stiffness);
    free(on);
    free(in);
    return c;
}
static inline lwt_chain lwt_chain_create(int n, lwt_chain_shape shape)
{
    return lwt_chain_sprung(n, shape, 0);
}

/** Axes along y, each `tilt` radians off the one before. */
static inline lwt_chain lwt_chain_tilted(int n, double tilt)
{
    lw_quat *on = lwt_zeros((size_t)n, sizeof *on), *in = lwt_zeros((size_t)n, sizeof *in);
    for (int i = 0; i < n; i++) {
        on[i] = lwt_axis_angle(-acos(0) + tilt, 1, 0, 0);
        in[i] = lwt_axis_angle(-acos(0), 1, 0, 0);
    }
    const lwt_chain c = lwt_chain_build(n, on, in, 0, 0);
    free(on);
    free(in);
    return c;
}

/** Three hinges in one point with two empty bodies between: singular if the outer axes are parallel, at q = 0 of the
 *  middle one. */
static inline lwt_chain lwt_chain_gimbal(double middle)
{
    const lw_quat y = lwt_axis_angle(-acos(0), 1, 0, 0), z = lwt_axis_angle(0, 0, 0, 1);
    const lw_quat axis[3] = {y, z, y};
    const lwt_chain c = lwt_chain_build(3, axis, axis, 2, 0);
    c.x[1] = middle;
    return c;
}

/** Links of Denavit and Hartenberg with every pair of alpha 0, a right angle, neither; a and d zero
 * or not: 12 n hinges after the first. */
static inline lwt_chain lwt_chain_links(int n)
{
    static const double alpha[3] = {0, 1.5707963267948966, 0.8};
    const int count = 12 * n + 1;
    lwt_chain c = {.x = lwt_reals(2 * count + 1)};
    lw_builder *builder;
    lw_error error;
    lw_body body = {0};
    uint64_t seed = 5;
    assert_int_equal(lw_builder_create(NULL, &builder), LW_OK);
    for (int i = 0; i < count; i++) {
        const lw_body_desc rod = {.mass = lwt_random(&seed, 1, 2),
                                  .inertia = {0.2, 0.25, 0.3, 0.02, 0.01, -0.03},
                                  .com = {0.3, lwt_random(&seed, -0.2, 0.2), 0.1}};
        const double turn = alpha[i % 3], a = i / 3 % 2 ? 0.4 : 0, d = i / 6 % 2 ? 0.2 : 0;
        lw_joint_desc hinge = {
            .type = LW_JOINT_REVOLUTE,
            .body1 = body,
            .placement = LW_PLACED_FRAMES,
            .frame1 = {{a, -d * sin(turn), d * cos(turn)}, lwt_axis_angle(turn, 1, 0, 0)},
            .has_q = 1};
        lw_joint joint;
        assert_int_equal(lw_builder_add_body(builder, &rod, &body, &error), LW_OK);
        hinge.body2 = body;
        hinge.q[0] = c.x[i] = lwt_random(&seed, -1, 1);
        c.x[count + i] = lwt_random(&seed, -1, 1);
        assert_int_equal(lw_builder_add_joint(builder, &hinge, &joint, &error), LW_OK);
    }
    if (lw_model_create(builder, &c.model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(builder);
    return c;
}

static inline void lwt_chain_destroy(lwt_chain *c)
{
    lw_model_destroy(c->model);
    free(c->x);
}

#endif
