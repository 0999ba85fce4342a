// kernels.c -- all kernel variants of one ISA build: included by scalar.c, fma.c, avx2.c, avx512.c.
//
// Problem: accelerations and momentum rates of a tree, for one state (bodies, branches or segments in
// lanes) or for a batch (instances in lanes).  Equations: bodies.inl (accelerations), momenta.inl.
//
// Macros in:  ISA, name of the instruction set; WIDEST, lanes of its registers.
// Output: lwi_kernels_<ISA>, the table of kernels.h.  Cost: O(n) per state.
#include "tree/simd/kernels.h"

#include "base/simd/sums.h"

#include <float.h>
#include <string.h>

// Minimum squared length of a valid quaternion.
#define LWI_K_MIN_NORM 1e-100

#if WIDEST > 1
// Adds the inertias and wrenches of branches half ... half + width - 1 of a stage, in the last blocks
// of art (one for each section), to those of the bodies they are attached to, the last branch first.
enum { ART_OF_WRENCH = 6, ART_OF_ABA = 6 + 9 + 6 + 6, ART_OF_MOMENTA = ART_OF_ABA + 3 }; // entries
static void park_branches(const lwi_kernel_plan *plan, const lwi_k_state *state,
                          const lwi_k_stage *stage, int half, int width, int entries)
{
    const double *left = state->art[plan->nart + stage->section].A[0];
    const int end = half + width < stage->branches ? half + width : stage->branches;
    for (int r = end - 1, next; r >= half; r = next) {
        const int park = plan->step[stage->branch[r]].park;
        const bool first = plan->step[stage->branch[r]].first;
        for (next = r - 1; next >= half && plan->step[stage->branch[next]].park == park;) next--;
        if (park < 0) continue;
        double *place = &state->art[lwi_k_block(park)].A[0][lwi_k_lane(park)];
        if (first && next == r - 2) { // most often
            for (int e = 0; e < entries * LWI_LANES; e += LWI_LANES)
                place[e] = left[e + r] + left[e + r - 1];
            continue;
        }
        for (int e = 0; e < entries * LWI_LANES; e += LWI_LANES) {
            double sum = left[e + r];
            if (!first) sum += place[e];
            for (int i = r - 1; i > next; i--) sum += left[e + i];
            place[e] = sum;
        }
    }
}
#endif

#include "tree/segments/positions.inl"

#define WIDTH 1
#define SEGMENTS (WIDEST == 1)
#define SHARED 0
#include "base/simd/lane.inl"
#include "base/simd/sincos.inl"
#include "tree/simd/variants.inl"
#undef SHARED
#undef SEGMENTS
#define SEGMENTS 0
#if WIDEST == 1
#define SHARED 1
#include "tree/simd/variants.inl"
#undef SHARED
#endif

#if WIDEST == 8 // four branches or segments fill half a register
#undef WIDTH
#define WIDTH 4
#undef SEGMENTS
#define SEGMENTS 1
#define SHARED 0
#include "base/simd/lane.inl"
#include "base/simd/sincos.inl"
#include "tree/simd/variants.inl"
#undef SHARED
#endif

#if WIDEST > 1
#undef WIDTH
#define WIDTH WIDEST
#undef SEGMENTS
#define SEGMENTS 1
#define SHARED 0
#include "base/simd/lane.inl"
#include "base/simd/sincos.inl"
#include "tree/simd/variants.inl"
#undef SHARED
#undef SEGMENTS
#define SEGMENTS 0
#define SHARED 1
#include "tree/simd/variants.inl"
#undef SHARED
#endif

#ifndef __cplusplus
#include "tree/segments/segment_rows.inl"
#include "tree/simd/rows.inl"
#endif

// ----------------------------------------------------------------------------- phases over blocks
//
// for all bodies of a section except those of branches cut into segments, which have separate phases.

// Blocks i of a kind, and their lanes in use.
#define EVERY_BLOCK(section, kind)                                                                 \
    for (int i = (section)->first_block[kind], end = (section)->end_block[kind]; i < end; i++)     \
        for (int l = 0; l < (i + 1 < end ? LWI_LANES : (section)->tail[kind]); l += WIDTH)

static mask pose(const lwi_kernel_plan *plan, const lwi_k_state *state, const lwi_k_section *of)
{
    const int n = plan->nscrew;
    mask valid = ~NAME(bits)(NAME(splat)(0));
    for (int kind = LWI_K_HINGE; kind <= LWI_K_SCREW; kind++) EVERY_BLOCK(of, kind)
    valid &= NAME(pose_screw)(&plan->screw[i], l, &state->joint[i], &state->pose[i],
                              kind == LWI_K_HINGE, plan->forward, l);
    for (int kind = LWI_K_BALL; kind <= LWI_K_BASE; kind++) EVERY_BLOCK(of, kind)
    valid &= NAME(pose_ball)(&plan->ball[i - n], l, &state->ball_joint[i - n],
                             &state->ball_pose[i - n], l);
    return valid;
}

static void bias(const lwi_kernel_plan *plan, const lwi_k_state *state, const lwi_k_section *of)
{
    const int n = plan->nscrew;
    for (int kind = LWI_K_HINGE; kind <= LWI_K_BASE; kind++) EVERY_BLOCK(of, kind)
        {
            lwi_k_bias *block = &state->bias[i];
            NAME(bias_wrench)(&plan->body[i], l, block, l);
            if (i < n) NAME(bias_screw)
            (&plan->screw[i], l, &state->pose[i], kind == LWI_K_HINGE, block, l);
            else if (kind == LWI_K_BALL)
                NAME(bias_ball)(&state->ball_joint[i - n], &state->ball_pose[i - n], block, l);
        }
}

// Completes the pivots of the balls; returns the lanes in which all pivots are well conditioned.
static mask pivots(const lwi_kernel_plan *plan, const lwi_k_state *state, const lwi_k_section *of)
{
    mask valid = ~NAME(bits)(NAME(splat)(0));
    for (int kind = LWI_K_HINGE; kind <= LWI_K_SCREW; kind++)
        EVERY_BLOCK(of, kind) valid &= NAME(pivot)(&state->pivot[i], l);
    EVERY_BLOCK(of, LWI_K_BALL) valid &= NAME(row_ball)(&state->ball_pivot[i - plan->nscrew], l);
    return valid;
}

#include "tree/simd/join.inl"

#include "tree/segments/segment_stages.inl"

// ------------------------------------------------------------------------------------------ sweeps

#if WIDEST == 1
#define SWEEP_BRANCHES(sweep, stage)                                                               \
    sweep##_w1(plan, state, (stage)->first, (stage)->end, 0) // one lane: sequential
#elif WIDEST == 8
#define SWEEP_BRANCHES(sweep, stage)                                                               \
    ((stage)->lanes == 4 ? branches_##sweep##_w4(plan, state, stage, 0)                            \
                         : branches_##sweep##_w8(plan, state, stage, 0))
#else
#define SWEEP_BRANCHES(sweep, stage)                                                               \
    do                                                                                             \
        for (int half = (stage)->lanes - 4; half >= 0; half -= 4)                                  \
            branches_##sweep##_w4(plan, state, stage, half);                                       \
    while (0)
#endif
// Outward and inward sweeps over the stages of a section; return 0 if a pivot is not well conditioned.
#define OUTWARD_SWEEP(sweep)                                                                       \
    static unsigned sweep(const lwi_kernel_plan *plan, const lwi_k_state *state,                   \
                          const lwi_k_section *of)                                                 \
    {                                                                                              \
        unsigned solved = 1;                                                                       \
        for (int i = of->first_stage; i < of->end_stage; i++) {                                    \
            const lwi_k_stage *stage = &plan->stage[i];                                            \
            if (stage->segments)                                                                   \
                solved &= SEGMENTS_OF(sweep, stage);                                               \
            else if (stage->lanes == 0)                                                            \
                sweep##_w1(plan, state, stage->first, stage->end, 0);                              \
            else                                                                                   \
                SWEEP_BRANCHES(sweep, stage);                                                      \
        }                                                                                          \
        return solved;                                                                             \
    }
#define INWARD_SWEEP(sweep)                                                                        \
    static unsigned sweep(const lwi_kernel_plan *plan, const lwi_k_state *state,                   \
                          const lwi_k_section *of)                                                 \
    {                                                                                              \
        unsigned solved = 1;                                                                       \
        for (int i = of->end_stage - 1; i >= of->first_stage; i--) {                               \
            const lwi_k_stage *stage = &plan->stage[i];                                            \
            if (stage->segments)                                                                   \
                solved &= SEGMENTS_OF(sweep, stage);                                               \
            else if (stage->lanes == 0)                                                            \
                solved &= lanes_of_w1(sweep##_w1(plan, state, stage->first, stage->end, 0));       \
            else                                                                                   \
                SWEEP_BRANCHES(sweep, stage);                                                      \
        }                                                                                          \
        return solved;                                                                             \
    }
OUTWARD_SWEEP(turning)
INWARD_SWEEP(inward)
OUTWARD_SWEEP(outward)
INWARD_SWEEP(momenta_inward)
OUTWARD_SWEEP(momenta_outward)

static bool all_valid(mask valid)
{
    enum { ALL = (1 << WIDTH) - 1 };
    return NAME(lanes_of)(valid) == ALL;
}

static bool poses(const lwi_kernel_plan *plan, const lwi_k_state *state, const lwi_k_section *of)
{
    unsigned valid = 1;
    for (int i = of->first_stage; i < of->end_stage && plan->segments; i++)
        if (plan->stage[i].segments) valid &= SEGMENTS_OF(pose, &plan->stage[i]);
    return all_valid(pose(plan, state, of)) && valid;
}

static bool velocities(const lwi_kernel_plan *plan, const lwi_k_state *state, int section)
{
    const lwi_k_section *of = &plan->section[section];
    const bool valid = poses(plan, state, of);
    turning(plan, state, of);
    bias(plan, state, of);
    return valid;
}

static bool inertias(const lwi_kernel_plan *plan, const lwi_k_state *state, int section)
{
    const lwi_k_section *of = &plan->section[section];
    if (section == 0) take_subtrees_w1(plan, state, 0, false);
    const unsigned solved = inward(plan, state, of);
    return all_valid(pivots(plan, state, of)) && solved;
}

static bool accelerations(const lwi_kernel_plan *plan, const lwi_k_state *state, int section)
{
    return outward(plan, state, &plan->section[section]) != 0;
}

static bool momenta(const lwi_kernel_plan *plan, const lwi_k_state *state, int section)
{
    const lwi_k_section *of = &plan->section[section];
    const bool valid = poses(plan, state, of);
    if (section == 0) take_subtrees_w1(plan, state, 0, true);
    const unsigned solved = momenta_inward(plan, state, of);
    return all_valid(pivots(plan, state, of)) && valid && solved;
}

// ------------------------------------------------------------------------------------------- efforts

// The segments of a section, of which the blocks are not those of EVERY_BLOCK.
#define EVERY_SEGMENT_BLOCK(section)                                                               \
    for (int s = (section)->first_stage; s < (section)->end_stage && plan->segments; s++)          \
        for (int i = plan->stage[s].slot / LWI_LANES,                                              \
                 end = i + (plan->stage[s].segments * plan->stage[s].length + LWI_LANES - 1) /     \
                               LWI_LANES;                                                          \
             plan->stage[s].segments && i < end; i++)                                              \
            for (int l = 0; l < LWI_LANES; l += WIDTH)

static mask all_poses(const lwi_kernel_plan *plan, const lwi_k_state *state,
                      const lwi_k_section *of)
{
    mask valid = pose(plan, state, of);
    EVERY_SEGMENT_BLOCK(of)
    valid &= NAME(pose_screw)(&plan->screw[i], l, &state->joint[i], &state->pose[i], true,
                              plan->forward, l);
    return valid;
}

static void body_wrenches(const lwi_kernel_plan *plan, const lwi_k_state *state,
                          const lwi_k_section *of)
{
    EVERY_SEGMENT_BLOCK(of)
    NAME(body_wrench)(&plan->body[i], l, &state->motion[i], &state->bias[i], l);
    for (int kind = LWI_K_HINGE; kind <= LWI_K_BASE; kind++) EVERY_BLOCK(of, kind)
    NAME(body_wrench)(&plan->body[i], l, &state->motion[i], &state->bias[i], l);
}

static void moves(const lwi_kernel_plan *plan, const lwi_k_state *state, const lwi_k_section *of)
{
    for (int i = of->first_stage; i < of->end_stage; i++) {
        const lwi_k_stage *stage = &plan->stage[i];
        if (stage->segments)
            SEGMENTS_OF(moves, stage);
        else if (stage->lanes == 0)
            moves_w1(plan, state, stage->first, stage->end, 0);
        else
            SWEEP_BRANCHES(moves, stage);
    }
}

static void efforts(const lwi_kernel_plan *plan, const lwi_k_state *state, const lwi_k_section *of)
{
    for (int i = of->end_stage - 1; i >= of->first_stage; i--) {
        const lwi_k_stage *stage = &plan->stage[i];
        if (stage->segments)
            SEGMENTS_OF(efforts, stage);
        else if (stage->lanes == 0)
            efforts_w1(plan, state, stage->first, stage->end, 0);
        else
            SWEEP_BRANCHES(efforts, stage);
    }
}

static bool rnea(const lwi_kernel_plan *plan, const lwi_k_state *state)
{
    bool valid = true;
    for (int s = 0; s < plan->nsection; s++) {
        valid &= poses(plan, state, &plan->section[s]);
        moves(plan, state, &plan->section[s]);
        body_wrenches(plan, state, &plan->section[s]);
    }
    for (int s = plan->nsection - 1; s >= 0; s--) {
        if (s == 0) take_wrenches_w1(plan, state, 0);
        efforts(plan, state, &plan->section[s]);
    }
    return valid;
}

#ifndef __cplusplus
// M [tree nv][tree nv]
static bool crba(const lwi_kernel_plan *plan, const lwi_k_state *state,
                 const lwi_k_columns *columns, double *M)
{
    mask valid = ~NAME(bits)(NAME(splat)(0));
    for (int s = 0; s < plan->nsection; s++) valid &= all_poses(plan, state, &plan->section[s]);
    composites_w1(plan, state, columns);
    memset(M, 0, (size_t)columns->count * (size_t)columns->count * sizeof *M);
    for (int i = columns->n - 1; i >= 0; i--) {
        const lwi_k_column_body *body = &columns->body[i];
        const lwi_k_step *step = &plan->step[body->step];
        if (body->count) crba_rows(plan, step, body, columns, M);
        if (body->parent < 0) continue;
        if (step->slot >= plan->first_ball) {
            const int ball = lwi_k_block(step->slot) - plan->nscrew;
            crba_pass_ball(&state->ball_pose[ball], lwi_k_lane(step->slot), columns->F, body->first,
                           body->end);
        } else {
            const crba_passage p = crba_passage_of(plan, state, step);
            crba_pass(&p, columns->F, body->first, body->end);
        }
    }
    return all_valid(valid);
}
#endif

static void rates_of_blocks(const lwi_kernel_plan *plan, const lwi_k_state *state,
                            const lwi_k_section *of)
{
    const int n = plan->nscrew;
    const lwi_k_body *body = plan->body;
    const lwi_k_ball_joint *joint = state->ball_joint;
    const lwi_k_motion *motion = state->motion;
    lwi_k_momentum *keep = state->momentum;
    EVERY_BLOCK(of, LWI_K_HINGE) NAME(momenta_hinge)(&motion[i], &keep[i], l);
    if (plan->rotors) EVERY_BLOCK(of, LWI_K_HINGE)
    NAME(momenta_rotor)(&plan->screw[i], l, &state->pivot[i], &motion[i], &keep[i], l);
    EVERY_BLOCK(of, LWI_K_SCREW)
    NAME(momenta_screw)
    (&body[i], &plan->screw[i], l, &motion[i], &keep[i], plan->rotors || plan->ndrive > 0, l);
    for (int kind = LWI_K_BALL; kind <= LWI_K_BASE; kind++) EVERY_BLOCK(of, kind)
    NAME(momenta_ball)
    (&body[i], l, &joint[i - n], &motion[i], &keep[i], kind == LWI_K_BASE, l);
}

static bool momenta_rates(const lwi_kernel_plan *plan, const lwi_k_state *state, int section)
{
    const lwi_k_section *of = &plan->section[section];
    const unsigned solved = momenta_outward(plan, state, of);
    rates_of_blocks(plan, state, of);
    return solved != 0;
}

// ------------------------------------------------------------------------------------------- batch

static mask batch_pivots(const lwi_kernel_plan *plan, const lwi_k_state *state, int half)
{
    mask valid = ~NAME(bits)(NAME(splat)(0));
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int slot = step->slot;
        if (slot < plan->first_ball)
            valid &= NAME(pivot_shared)(&state->pivot[slot], half);
        else if (step->kind == LWI_K_BALL)
            valid &= NAME(row_ball_shared)(&state->ball_pivot[slot - plan->first_ball], half);
    }
    return valid;
}

static unsigned aba_batch(const lwi_kernel_plan *plan, const lwi_k_state *state)
{
    const int trunk = plan->section[0].end;
    unsigned valid = 0;
    for (int half = 0; half < LWI_LANES; half += WIDTH) {
        mask m = NAME(poses_shared)(plan, state, half);
        NAME(velocities_shared)(plan, state, half);
        m &= NAME(inward_shared)(plan, state, trunk, plan->nstep, half);
        NAME(take_subtrees_shared)(plan, state, half, false);
        m &= NAME(inward_shared)(plan, state, 0, trunk, half);
        m &= batch_pivots(plan, state, half);
        NAME(outward_shared)(plan, state, 0, plan->nstep, half);
        valid |= NAME(lanes_of)(m) << half;
    }
    return ~valid & ((1u << LWI_LANES) - 1);
}

static void batch_momenta_rates(const lwi_kernel_plan *plan, const lwi_k_state *state, int half)
{
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int slot = step->slot, at = slot / LWI_LANES, kl = slot % LWI_LANES;
        const int ball = slot - plan->first_ball;
        const lwi_k_body *body = &plan->body[at];
        const lwi_k_motion *motion = &state->motion[slot];
        lwi_k_momentum *keep = &state->momentum[slot];
        const bool base = step->kind == LWI_K_BASE;
        if (step->kind == LWI_K_HINGE) {
            NAME(momenta_hinge_shared)(motion, keep, half);
            if (plan->rotors) NAME(momenta_rotor_shared)
            (&plan->screw[at], kl, &state->pivot[slot], motion, keep, half);
        } else if (ball < 0)
            NAME(momenta_screw_shared)
        (body, &plan->screw[at], kl, motion, keep, plan->rotors || plan->ndrive > 0, half);
        else NAME(momenta_ball_shared)(body, kl, &state->ball_joint[ball], motion, keep, base,
                                       half);
    }
}

static unsigned momenta_batch(const lwi_kernel_plan *plan, const lwi_k_state *state)
{
    const int trunk = plan->section[0].end;
    unsigned valid = 0;
    for (int half = 0; half < LWI_LANES; half += WIDTH) {
        mask m = NAME(poses_shared)(plan, state, half);
        m &= NAME(momenta_inward_shared)(plan, state, trunk, plan->nstep, half);
        NAME(take_subtrees_shared)(plan, state, half, true);
        m &= NAME(momenta_inward_shared)(plan, state, 0, trunk, half);
        m &= batch_pivots(plan, state, half);
        NAME(momenta_outward_shared)(plan, state, 0, plan->nstep, half);
        batch_momenta_rates(plan, state, half);
        valid |= NAME(lanes_of)(m) << half;
    }
    return ~valid & ((1u << LWI_LANES) - 1);
}

static void sincos_block(const lwi_lanes angle, lwi_lanes sine, lwi_lanes cosine)
{
    for (int l = 0; l < LWI_LANES; l += WIDTH) {
        real s, c;
        NAME(sincos)(*(const stored *)&angle[l], &s, &c);
        AT(sine) = s;
        AT(cosine) = c;
    }
}

#define TABLE_2(isa) lwi_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
#define STRING_OF_2(isa) #isa
#define STRING_OF(isa) STRING_OF_2(isa)
extern const lwi_kernels TABLE(ISA);
const lwi_kernels TABLE(ISA) = {
    .name = STRING_OF(ISA),
    .width = WIDEST,
    .velocities = velocities,
    .inertias = inertias,
    .accelerations = accelerations,
    .momenta = momenta,
    .momenta_rates = momenta_rates,
    .rnea = rnea,
    .aba_batch = aba_batch,
    .momenta_batch = momenta_batch,
#ifndef __cplusplus
    .crba = crba,
    .to_rows = to_rows,
    .from_rows = from_rows,
    .rows_in = rows_in,
    .rows_out = rows_out,
    .segments_in = segments_in,
    .segments_out = segments_out,
#endif
    .sincos = sincos_block,
};
