// chain.c -- builds the chain through the public API.
#include "cli/chain.h"

// unit quaternions that take z to x, y, z
static const lw_quat turn[3] = {{0.70710678118654752, 0, 0.70710678118654752, 0},
                                {0.70710678118654752, -0.70710678118654752, 0, 0},
                                {1, 0, 0, 0}};

static lw_status add_rod(lw_builder *builder, int i, lw_body *body, lw_error *error)
{
    const lw_body_desc rod = {
        .mass = 1,
        .inertia = {0.00125, 0.0839583333333333333, 0.0839583333333333333}, // solid cylinder
        .com = {0.5, 0, 0},
        .pose = {.position = {i, 0, 0}},
        .shape = LW_SHAPE_NONE,
    };
    const lw_body inboard = *body;
    lw_status status = lw_builder_add_body(builder, &rod, body, error);
    if (status != LW_OK) return status;
    const lw_joint_desc hinge = {
        .type = LW_JOINT_REVOLUTE,
        .body1 = inboard,
        .body2 = *body,
        .placement = LW_PLACED_FRAMES,
        .frame1 = {{i ? 1 : 0, 0, 0}, turn[i % 3]},
        .frame2 = {{0, 0, 0}, turn[i % 3]},
    };
    lw_joint joint;
    return lw_builder_add_joint(builder, &hinge, &joint, error);
}

lw_status chain_model(int n, lw_model **model, lw_error *error)
{
    lw_builder *builder;
    lw_body body = {0};
    lw_status status = lw_builder_create(NULL, &builder);
    if (status != LW_OK) return status;
    for (int i = 0; i < n && status == LW_OK; i++) status = add_rod(builder, i, &body, error);
    if (status == LW_OK) status = lw_model_create(builder, model, error);
    lw_builder_destroy(builder);
    return status;
}

// Knuth's 64-bit generator; its upper 53 bits make a double in [-1, 1)
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

void chain_state(int n, double *q, double *v, double *tau)
{
    uint64_t state = 1 * 7919 + 12345;
    for (int i = 0; i < n; i++) q[i] = draw(&state);
    for (int i = 0; i < n; i++) v[i] = draw(&state);
    for (int i = 0; i < n; i++) tau[i] = draw(&state);
}
