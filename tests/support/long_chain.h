// long_chain.h -- long open chains with a state, and their errors: what tests and bench/accuracy/chains.c share.
#ifndef LWT_LONG_CHAIN_H
#define LWT_LONG_CHAIN_H

#include "support/chain_reference.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdint.h>

/** Axes of hinges at random; at right angles, x, y, z in turn; at random with a ball in the place of every third. */
typedef enum lwt_long_chain_kind {
    LWT_CHAIN_RANDOM,
    LWT_CHAIN_SQUARE,
    LWT_CHAIN_BALLS
} lwt_long_chain_kind;

/** In [-1, 1): upper bits of Knuth's 64-bit generator. */
static inline double lwt_draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static inline lw_quat lwt_rotated(double angle, double x, double y, double z)
{
    const double s = sin(angle / 2);
    return (lw_quat){cos(angle / 2), s * x, s * y, s * z};
}

/** Joint i of a chain, between bodies of 1 m, at a configuration at random. */
static inline lw_joint_desc lwt_long_chain_joint(lwt_long_chain_kind kind, int i, uint64_t *state)
{
    const double right = acos(0);
    const lw_quat axes[] = {
        {1, 0, 0, 0}, lwt_rotated(right, 0, 1, 0), lwt_rotated(-right, 1, 0, 0)};
    const double angle = 3 * lwt_draw(state), q = 3 * lwt_draw(state);
    const lw_quat on = kind == LWT_CHAIN_SQUARE ? axes[i % 3] : lwt_rotated(angle, 0.6, 0, 0.8);
    lw_joint_desc joint = {.type = LW_JOINT_REVOLUTE,
                           .placement = LW_PLACED_FRAMES,
                           .frame1 = {{i > 0, 0, 0}, on},
                           .frame2 = {{0, 0, 0}, on},
                           .has_q = 1,
                           .q = {q}};
    if (kind == LWT_CHAIN_BALLS && i % 3 == 2) {
        const lw_quat rotated = lwt_rotated(q, 0, 0.6, 0.8);
        joint.type = LW_JOINT_SPHERICAL;
        joint.q[0] = rotated.w, joint.q[1] = rotated.x, joint.q[2] = rotated.y,
        joint.q[3] = rotated.z;
    }
    return joint;
}

/** A chain of n rods between 0.5 and 1.5 kg.  @return NULL: `error` */
static inline lw_model *lwt_long_chain(lwt_long_chain_kind kind, int n, lw_error *error)
{
    lw_builder *builder;
    lw_model *model = NULL;
    lw_body body = {0};
    uint64_t state = 1 + (uint64_t)kind;
    if (lw_builder_create(NULL, &builder) != LW_OK) return NULL;
    lw_builder_gravity(builder, (lw_vec3){1, -7, 6});
    lw_status status = LW_OK;
    for (int i = 0; i < n && status == LW_OK; i++) {
        lw_joint_desc joint = lwt_long_chain_joint(kind, i, &state);
        const double m = 1 + 0.5 * lwt_draw(&state);
        const lw_body_desc rod = {
            .mass = m, .inertia = {0.05 * m, 0.09 * m, 0.12 * m}, .com = {0.5, 0.1, 0}};
        lw_joint added;
        joint.body1 = body;
        status = lw_builder_add_body(builder, &rod, &body, error);
        joint.body2 = body;
        if (status == LW_OK) status = lw_builder_add_joint(builder, &joint, &added, error);
    }
    if (status == LW_OK) lw_model_create(builder, &model, error);
    lw_builder_destroy(builder);
    return model;
}

/** to := from, each changed by up to half a unit in the last place of doubles, at random. */
static inline void lwt_last_bits(const lwt_real *from, int n, uint64_t *state, lwt_real *to)
{
    for (int i = 0; i < n; i++) to[i] = from[i] * (1 + 0x1p-53L * (lwt_real)lwt_draw(state));
}

/** Largest difference by the largest value of b. */
static inline double lwt_off(const lwt_real *a, const lwt_real *b, int n)
{
    lwt_real off = 0, size = 0;
    for (int i = 0; i < n; i++) {
        if (!(fabsl(a[i] - b[i]) <= off)) off = fabsl(a[i] - b[i]); // also if not a number
        size = fmaxl(size, fabsl(b[i]));
    }
    return (double)(off / size);
}

/** The same of doubles a. */
static inline double lwt_off_double(const double *a, const lwt_real *b, int n)
{
    lwt_real off = 0, size = 0;
    for (int i = 0; i < n; i++) {
        if (!(fabsl(a[i] - b[i]) <= off)) off = fabsl(a[i] - b[i]);
        size = fmaxl(size, fabsl(b[i]));
    }
    return (double)(off / size);
}

#endif
