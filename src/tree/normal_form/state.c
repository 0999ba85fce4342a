// state.c -- the blocks of a state.
#include "tree/normal_form/plan.h"

static void prepare_tip(const lwi_kernel_plan *plan, const lwi_k_step *step,
                        const lwi_k_state *state, int n, int l)
{
    const lwi_k_tip *tip = &plan->tip[step->leaf / LWI_LANES];
    const int at = step->leaf % LWI_LANES;
    const lwi_k_body *body = &plan->body[step->slot / LWI_LANES];
    lwi_k_pivot *pivot = &state->pivot[n];
    lwi_k_momentum *keep = &state->momentum[n];
    for (int i = 0; i < 5; i++) pivot->g[i][l] = tip->g[i][at];
    for (int i = 0; i < 2; i++) keep->h[i][l] = body->moment[i][step->slot % LWI_LANES];
    pivot->Di[l] = tip->Di[at];
    pivot->diagonal[l] = tip->diagonal[at];
    keep->A[0][l] = tip->A[0][at] - tip->A[1][at];
    for (int i = 3; i < 6; i++) keep->A[i][l] = tip->A[i][at];
    keep->B[0][l] = tip->B[0][at] - tip->B[4][at];
    keep->B[1][l] = tip->B[1][at] + tip->B[3][at];
    keep->B[6][l] = tip->B[6][at], keep->B[7][l] = tip->B[7][at];
    keep->C[0][l] = tip->C[0][at] - tip->C[1][at];
    keep->C[3][l] = tip->C[3][at];
}

// What no kernel writes: quaternions of padding, the elimination of tips.
static void prepare_state(const lwi_kernel_plan *plan, bool batch, const lwi_k_state *state)
{
    const int nball = (plan->nball + plan->nbase) * (batch ? LWI_LANES : 1);
    for (int i = 0; i < nball; i++)
        for (int l = 0; l < LWI_LANES; l++) state->ball_joint[i].q[0][l] = 1;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        if (step->leaf < 0) continue;
        for (int l = 0; l < LWI_LANES; l++)
            if (batch || l == step->slot % LWI_LANES)
                prepare_tip(plan, step, state, batch ? step->slot : step->slot / LWI_LANES, l);
    }
}

lw_status lwi_k_state_create(const lwi_kernel_plan *plan, bool batch, lwi_arena *arena,
                             lwi_k_state *state)
{
    const int scale = batch ? LWI_LANES : 1;
    const int nscrew = scale * plan->nscrew, nball = scale * (plan->nball + plan->nbase);
    const int nblock = nscrew + nball;
    state->joint = LWI_PUSH(arena, lwi_k_joint, nscrew);
    state->ball_joint = LWI_PUSH(arena, lwi_k_ball_joint, nball);
    state->pose = LWI_PUSH(arena, lwi_k_pose, nscrew);
    state->ball_pose = LWI_PUSH(arena, lwi_k_ball_pose, nball);
    state->bias = LWI_PUSH(arena, lwi_k_bias, nblock);
    state->pivot = LWI_PUSH(arena, lwi_k_pivot, nscrew);
    state->ball_pivot = LWI_PUSH(arena, lwi_k_ball_pivot, nball);
    state->row = LWI_PUSH(arena, lwi_k_row, plan->nsegment);
    state->motion = LWI_PUSH(arena, lwi_k_motion, nblock);
    state->art = LWI_PUSH(arena, lwi_k_art, scale * plan->nart + 1);
    state->segment = LWI_PUSH(arena, lwi_k_segment, plan->segments);
    state->momentum = LWI_PUSH(arena, lwi_k_momentum, nblock);
    if (!state->joint || !state->ball_joint || !state->pose || !state->ball_pose || !state->bias ||
        !state->pivot || !state->ball_pivot || !state->row || !state->motion || !state->art ||
        !state->segment || !state->momentum)
        return LW_ERR_MEMORY;
    prepare_state(plan, batch, state);
    return LW_OK;
}
