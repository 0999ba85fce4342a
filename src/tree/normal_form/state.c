// state.c -- memory of the blocks of one state or of a batch (plan.h), and assertions on the plan.
#include "tree/normal_form/plan.h"

#include "base/assert.h"

static void prepare_tip(const lwi_kernel_plan *plan, const lwi_k_step *step,
                        const lwi_k_state *state, int n, int l)
{
    const lwi_k_tip *tip = &plan->tip[step->leaf / LWI_LANES];
    const int at = step->leaf % LWI_LANES;
    const lwi_k_body *body = &plan->body[step->slot / LWI_LANES];
    lwi_k_pivot *pivot = &state->pivot[n];
    lwi_k_momentum *keep = &state->momentum[n];
    for (int i = 0; i < 5; i++) pivot->g[i][l] = tip->g[i][at];
    for (int i = 0; i < 2; i++) keep->h[i][l] = body->first_moment[i][step->slot % LWI_LANES];
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

// Sets the entries that no kernel writes: quaternions of padding, the elimination of tips.
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

// Asserts that the indices of a step are inside the blocks of the plan; the kernels do not check them.
static void assert_step(const lwi_kernel_plan *plan, const lwi_k_step *step)
{
    LWI_ASSERT_INDEX(step->slot, plan->nblock * LWI_LANES);
    LWI_ASSERT(step->parent >= -1 && step->parent < plan->nblock * LWI_LANES);
    LWI_ASSERT(step->parent != step->slot);
    LWI_ASSERT(step->iq >= 0 && step->iv >= 0);
    LWI_ASSERT(step->park >= -1 && step->park < plan->nart * LWI_LANES);
    LWI_ASSERT(step->fetch >= -1 && step->fetch < plan->nart * LWI_LANES);
    LWI_ASSERT(step->leaf >= -1 && step->leaf < plan->ntip * LWI_LANES);
    LWI_ASSERT(step->leaf < 0 || step->kind == LWI_K_HINGE);
    LWI_ASSERT(!step->driven || step->slot < plan->first_ball);
    LWI_ASSERT(!step->driven || step->drives);
    LWI_ASSERT(step->leaf < 0 || !step->drives);
    switch ((lwi_k_kind)step->kind) {
    case LWI_K_HINGE:
        LWI_ASSERT(step->slot < plan->nhinge * LWI_LANES);
        break;
    case LWI_K_SCREW:
        LWI_ASSERT(step->slot < plan->first_ball);
        LWI_ASSERT(step->slot >= plan->nhinge * LWI_LANES);
        break;
    case LWI_K_BALL:
        LWI_ASSERT(step->slot >= plan->first_ball);
        LWI_ASSERT(step->slot < plan->first_ball + plan->nball * LWI_LANES);
        break;
    case LWI_K_BASE:
        LWI_ASSERT(step->slot >= plan->first_ball + plan->nball * LWI_LANES);
        break;
    }
}

static void assert_plan(const lwi_kernel_plan *plan)
{
    LWI_ASSERT(plan->nhinge <= plan->nscrew && plan->nsegment <= plan->nhinge);
    LWI_ASSERT(plan->nblock == plan->nscrew + plan->nball + plan->nbase);
    LWI_ASSERT(plan->first_ball == plan->nscrew * LWI_LANES);
    for (int i = 0; i < plan->nstep; i++) assert_step(plan, &plan->step[i]);
    int end = 0, segments = 0;
    for (int i = 0; i < plan->nstage; i++) {
        const lwi_k_stage *stage = &plan->stage[i];
        LWI_ASSERT(stage->first == end && stage->end >= stage->first);
        LWI_ASSERT(stage->lanes == 0 || stage->lanes == 4 || stage->lanes == LWI_LANES);
        LWI_ASSERT(stage->segments == 0 || stage->segments == 4 || stage->segments == 8);
        LWI_ASSERT(!stage->lanes || stage->branches <= stage->lanes);
        end = stage->end;
        if (!stage->segments) continue;
        LWI_ASSERT(stage->slot % LWI_LANES == 0);
        LWI_ASSERT(stage->slot + stage->segments * stage->length <= plan->nsegment * LWI_LANES);
        segments++;
    }
    LWI_ASSERT(end == plan->nstep && segments == plan->segments);
}

static void assert_aligned(const void *blocks)
{
    LWI_ASSERT((uintptr_t)blocks % sizeof(lwi_lanes) == 0);
}

lw_status lwi_k_state_create(const lwi_kernel_plan *plan, bool batch, lwi_arena *arena,
                             lwi_k_state *state)
{
    const int scale = batch ? LWI_LANES : 1;
    const int nscrew = scale * plan->nscrew, nball = scale * (plan->nball + plan->nbase);
    const int nblock = nscrew + nball;
    assert_plan(plan);
    state->joint = LWI_PUSH(arena, lwi_k_joint, nscrew);
    state->ball_joint = LWI_PUSH(arena, lwi_k_ball_joint, nball);
    state->pose = LWI_PUSH(arena, lwi_k_pose, nscrew);
    state->ball_pose = LWI_PUSH(arena, lwi_k_ball_pose, nball);
    state->bias = LWI_PUSH(arena, lwi_k_bias, nblock);
    state->pivot = LWI_PUSH(arena, lwi_k_pivot, nscrew);
    state->ball_pivot = LWI_PUSH(arena, lwi_k_ball_pivot, nball);
    state->row = LWI_PUSH(arena, lwi_k_row, plan->nsegment);
    state->motion = LWI_PUSH(arena, lwi_k_motion, nblock);
    state->art = LWI_PUSH(arena, lwi_k_art, scale * plan->nart + plan->nsection);
    state->segment = LWI_PUSH(arena, lwi_k_segment, plan->segments);
    state->momentum = LWI_PUSH(arena, lwi_k_momentum, nblock);
    state->driven = LWI_PUSH(arena, lwi_k_driven, plan->ndrive ? nscrew : 0);
    if (!state->joint || !state->ball_joint || !state->pose || !state->ball_pose || !state->bias ||
        !state->pivot || !state->ball_pivot || !state->row || !state->motion || !state->art ||
        !state->segment || !state->momentum || !state->driven)
        return LW_ERR_MEMORY;
    assert_aligned(state->joint);
    assert_aligned(state->pivot);
    assert_aligned(state->ball_pivot);
    assert_aligned(state->motion);
    assert_aligned(state->momentum);
    prepare_state(plan, batch, state);
    return LW_OK;
}
