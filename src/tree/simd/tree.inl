// tree.inl -- the recursions over a tree, body by body in sweep order.
//
// Problem: angular velocities outward, articulated inertias inward, accelerations outward; the
// equations are those of bodies.inl.
// Input: joint or pose.  Output: bias, pivot, motion.  Cost: O(n).

// ------------------------------------------------------------------------------------------- runs
//
// Hinges of a run follow each other in steps and in slots, so that their blocks are found by adding.

/** The blocks of a hinge, with the lane of its state and that of its constants. */
typedef struct VARIANT(hinge) {
    const lwi_k_body *body;
    const lwi_k_screw *k;
    lwi_k_pose *pose;
    lwi_k_bias *bias;
    lwi_k_pivot *pivot;
    lwi_k_motion *motion;
    lwi_k_momentum *momentum;
    ptrdiff_t l, kl;
} VARIANT(hinge);

static INLINE VARIANT(hinge)
    VARIANT(hinge_at)(const lwi_kernel_plan *plan, const lwi_k_state *state, int slot, int half)
{
    const int n = BLOCK(slot), at = lwi_k_block(slot);
    (void)half;
    return (VARIANT(hinge)){&plan->body[at],     &plan->screw[at], &state->pose[n],
                            &state->bias[n],     &state->pivot[n], &state->motion[n],
                            &state->momentum[n], LANE(slot),       KLANE(slot)};
}

// Moves by `stride` slots, at most a block, in direction 1 outward, -1 inward.
static INLINE void VARIANT(move)(VARIANT(hinge) * of, int stride, int direction)
{
    of->kl += direction * stride;
    const bool leaves = direction > 0 ? of->kl >= LWI_LANES : of->kl < 0;
    if (leaves) {
        of->kl -= direction * LWI_LANES;
        of->body += direction;
        of->k += direction;
    }
    if (!SHARED) of->l = of->kl;
    if (!SHARED && !leaves) return;
    const int blocks = SHARED ? direction * stride : direction;
    of->pose += blocks;
    of->bias += blocks;
    of->pivot += blocks;
    of->motion += blocks;
    of->momentum += blocks;
}

// ----------------------------------------------------------------------------- outward: velocities

// w of the parent; it is already in registers if the parent is the preceding body.
static INLINE void VARIANT(parent_w)(const lwi_k_state *state, const lwi_k_step *step, int last,
                                     int half, real w[3])
{
    if (step->parent < 0) {
        w[0] = w[1] = w[2] = ZERO;
    } else if (step->parent != last) {
        const lwi_k_bias *from = &state->bias[BLOCK(step->parent)];
        const int o = LANE(step->parent);
        for (int j = 0; j < 3; j++) w[j] = AT_LANE(from->w[j], o);
    }
}

// w of a hinge, which stores it.
static INLINE void VARIANT(hinge_w)(const lwi_k_screw *k, ptrdiff_t kl, const lwi_k_pose *pose,
                                    lwi_k_bias *bias, ptrdiff_t l, int shape, real w[3])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
#define TURN(shape) VARIANT(to_hinge)(k, (int)kl, theta, shape, w);
    OF_AXIS(shape, TURN)
#undef TURN
    w[2] += AT(pose->v);
    for (int j = 0; j < 3; j++) AT(bias->w[j]) = w[j];
}

static INLINE void VARIANT(body_w)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                   const lwi_k_step *step, int half, real w[3])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const int ball = n - BLOCK(plan->first_ball);
    if (ball < 0) {
        const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
        const lwi_k_pose *pose = &state->pose[n];
        const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
        if (step->realigned) VARIANT(turn_vector)(k, kl, w);
        if (step->kind == LWI_K_HINGE) {
            VARIANT(hinge_w)(k, kl, pose, &state->bias[n], l, step->shape, w);
            return;
        }
#define TURN(shape) VARIANT(to_hinge)(k, kl, theta, shape, w);
        OF_AXIS(step->shape, TURN)
#undef TURN
        MORE(w[2], K(k->turn), AT(pose->v));
    } else {
        const lwi_k_ball_joint *joint = &state->ball_joint[ball];
        real v[3];
        VARIANT(to_body)(&state->ball_pose[ball], l, w, v);
        for (int j = 0; j < 3; j++) w[j] = v[j] + AT(joint->v[3 + j]);
    }
    for (int j = 0; j < 3; j++) AT(state->bias[n].w[j]) = w[j];
}

#if SHARED
// Pose of every body; returns the lanes with valid angles and quaternions.  A separate loop: a sine is
// a long dependency chain, and the processor overlaps the chains of several bodies.
static mask VARIANT(poses)(const lwi_kernel_plan *plan, const lwi_k_state *state, int half)
{
    mask valid = ~NAME(bits)(ZERO);
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
        const int at = lwi_k_block(step->slot), ball = n - BLOCK(plan->first_ball);
        if (ball < 0)
            valid &= VARIANT(pose_screw)(&plan->screw[at], kl, &state->joint[n], &state->pose[n],
                                         step->kind == LWI_K_HINGE, plan->forward, l);
        else
            valid &= VARIANT(pose_ball)(&plan->ball[at - plan->nscrew], kl,
                                        &state->ball_joint[ball], &state->ball_pose[ball], l);
    }
    return valid;
}

// Angular velocity and bias of every body.
static void VARIANT(velocities)(const lwi_kernel_plan *plan, const lwi_k_state *state, int half)
{
    real w[3] = {ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
        const int at = lwi_k_block(step->slot), ball = n - BLOCK(plan->first_ball);
        const bool hinge = step->kind == LWI_K_HINGE;
        lwi_k_bias *bias = &state->bias[n];
        VARIANT(parent_w)(state, step, last, half, w);
        VARIANT(body_w)(plan, state, step, half, w);
        VARIANT(bias_wrench)(&plan->body[at], kl, bias, l);
        if (ball < 0)
            VARIANT(bias_screw)(&plan->screw[at], kl, &state->pose[n], hinge, bias, l);
        else if (step->kind == LWI_K_BALL)
            VARIANT(bias_ball)
        (&state->ball_joint[ball], &state->ball_pose[ball], bias, l);
        last = step->slot;
    }
}
#else
// Steps i ... end - 1 as long as they continue the run of step i - 1, from its w; returns the first other one.
static INLINE int VARIANT(hinges_turning)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                          int i, int end, int half, real w[3])
{
    const lwi_k_step *step = &plan->step[i], *stop = &plan->step[end];
    if (step == stop || !step->stride) return i;
    VARIANT(hinge) of = VARIANT(hinge_at)(plan, state, step[-1].slot, half);
    for (; step < stop && step->stride; step++) {
        VARIANT(move)(&of, step->stride, 1);
        VARIANT(hinge_w)(of.k, of.kl, of.pose, of.bias, of.l, step->shape, w);
    }
    return (int)(step - plan->step);
}

#if WIDTH == 1
static void VARIANT(turning)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first,
                             int end, int half)
{
    real w[3] = {ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = first; i < end;) {
        const lwi_k_step *step = &plan->step[i];
        VARIANT(parent_w)(state, step, last, half, w);
        VARIANT(body_w)(plan, state, step, half, w);
        i = VARIANT(hinges_turning)(plan, state, i + 1, end, half, w);
        last = plan->step[i - 1].slot;
    }
}
#endif
#endif

// ------------------------------------------------------------------------------------------ inward

// Steps inward from i, a hinge that is not on the ground, while the inertia stays in registers; returns
// the last step done.
static int VARIANT(hinges_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int i,
                                  int half, ART *all)
{
    ART M = *all;
    const lwi_k_step *step = &plan->step[i];
    VARIANT(hinge) of = VARIANT(hinge_at)(plan, state, step->slot, half);
    for (;; step--) {
        VARIANT(hinge_inward)
        (of.body, of.k, (int)of.kl, of.pose, of.bias, of.pivot, (int)of.l, step->shape, &M);
        if (!step->on) break;
        VARIANT(move)(&of, step->stride, -1);
    }
    *all = M;
    return (int)(step - plan->step);
}

// One step, or several if they are hinges; returns the last step done.
static int VARIANT(step_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int i,
                                int half, ART *M, mask *valid)
{
    const lwi_k_step *step = &plan->step[i];
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const int at = lwi_k_block(step->slot), ball = n - BLOCK(plan->first_ball);
    const lwi_k_bias *bias = &state->bias[n];
    if (step->leaf >= 0) {
        VARIANT(tip_inward)(plan, state, step, half, M);
        return step->on ? VARIANT(hinges_inward)(plan, state, i - 1, half, M) : i;
    }
    if (step->tip) VARIANT(clear)(M);
    if (step->fetch >= 0) VARIANT(fetch)(&state->art[BLOCK(step->fetch)], LANE(step->fetch), M);
    switch (step->kind) {
    case LWI_K_HINGE:
        if (step->parent < 0)
            VARIANT(root_inward)(plan, state, step, half, M);
        else if (step->drives)
            VARIANT(driven_inward)(plan, state, step, half, M);
        else
            i = VARIANT(hinges_inward)(plan, state, i, half, M);
        break;
    case LWI_K_SCREW:
        VARIANT(add_body)(&plan->body[at], kl, bias, l, M);
        if (step->drives) VARIANT(keep_driven)(&plan->screw[at], kl, &state->driven[n], l, M);
        VARIANT(reduce_screw)
        (&plan->screw[at], kl, &state->pose[n], bias, &state->pivot[n], l, M);
        VARIANT(pass_screw)(&plan->screw[at], kl, &state->pose[n], l, M);
        break;
    case LWI_K_BALL:
        VARIANT(add_body)(&plan->body[at], kl, bias, l, M);
        VARIANT(reduce_ball)
        (&state->ball_joint[ball], bias, &state->ball_pivot[ball], l, M);
        VARIANT(pass_ball)(&state->ball_pose[ball], l, M);
        break;
    default:
        VARIANT(add_body)(&plan->body[at], kl, bias, l, M);
        *valid &= VARIANT(accelerate_base)(plan, &state->ball_joint[ball], &state->ball_pose[ball],
                                           &state->ball_pivot[ball], &state->motion[n], l, M);
    }
    return i;
}

// Transforms the inertia and wrench of a branch to the parent's axes.
static INLINE void VARIANT(turn_branch)(const lwi_kernel_plan *plan, const lwi_k_step *step,
                                        int half, ART *M)
{
    (void)half;
    if (step->realigned && step->parent >= 0) VARIANT(pass_realigned)
    (&plan->screw[lwi_k_block(step->slot)], KLANE(step->slot), M);
}

#if SHARED || WIDTH == 1
// The same, then adds them to the sum over the branches of the parent.
static void VARIANT(leave)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                           const lwi_k_step *step, int half, ART *M)
{
    VARIANT(turn_branch)(plan, step, half, M);
    if (step->park >= 0)
        VARIANT(park)(&state->art[BLOCK(step->park)], LANE(step->park), M, step->first);
}

// Adds the inertias of subtrees to those of the bodies of the trunk that carry them.
static void VARIANT(take_subtrees)(const lwi_kernel_plan *plan, const lwi_k_state *state, int half,
                                   bool momenta)
{
    for (int i = 0; i < plan->nsubtree; i++) {
        const lwi_k_subtree *subtree = &plan->subtree[i];
        const lwi_k_art *from = &state->art[BLOCK(subtree->from)];
        lwi_k_art *to = &state->art[BLOCK(subtree->to)];
        const int l = LANE(subtree->to);
        ART M;
        VARIANT(clear)(&M);
        VARIANT(fetch)(from, LANE(subtree->from), &M);
        VARIANT(park)(to, l, &M, subtree->first);
        for (int j = 0; momenta && j < 3; j++) {
            real sum = AT_LANE(from->h[j], LANE(subtree->from));
            if (!subtree->first) sum += AT(to->h[j]);
            AT(to->h[j]) = sum;
        }
    }
}

// Steps first ... end - 1 of a recursion.
static mask VARIANT(inward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first,
                            int end, int half)
{
    ART M;
    mask valid = ~NAME(bits)(ZERO);
    VARIANT(clear)(&M);
    for (int i = end - 1; i >= first; i--) {
        i = VARIANT(step_inward)(plan, state, i, half, &M, &valid);
        VARIANT(leave)(plan, state, &plan->step[i], half, &M);
    }
    return valid;
}
#endif

// -------------------------------------------------------------------------- outward: accelerations

static INLINE void VARIANT(hinge_A)(const VARIANT(hinge) * of, int shape, real A[6])
{
    const int l = (int)of->l;
#define OUTWARD(shape)                                                                             \
    VARIANT(hinge_outward)                                                                         \
    (of->k, (int)of->kl, of->pose, of->bias, of->pivot, of->motion, l, AT(of->pivot->y), shape, A);
    OF_EVERY_SHAPE(shape, OUTWARD)
#undef OUTWARD
}

static INLINE void VARIANT(outward_screws)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                           const lwi_k_step *step, int half, real A[6])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
    const lwi_k_pose *pose = &state->pose[n];
    const lwi_k_bias *bias = &state->bias[n];
    const lwi_k_pivot *pivot = &state->pivot[n];
    if (step->kind == LWI_K_HINGE && step->parent < 0) {
        VARIANT(root_outward)(k, kl, pose, pivot, &state->motion[n], l, A);
        return;
    }
    if (step->realigned) VARIANT(turn_parent)(k, kl, A);
    if (step->kind == LWI_K_SCREW) {
        VARIANT(screw_outward)(k, kl, pose, bias, pivot, &state->motion[n], l, A);
        return;
    }
    const VARIANT(hinge) of = VARIANT(hinge_at)(plan, state, step->slot, half);
    VARIANT(hinge_A)(&of, step->shape, A);
}

static INLINE void VARIANT(step_outward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                         const lwi_k_step *step, int half, real A[6])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), ball = n - BLOCK(plan->first_ball);
    lwi_k_motion *motion = &state->motion[n];
    if (ball < 0)
        VARIANT(outward_screws)(plan, state, step, half, A);
    else if (step->kind == LWI_K_BALL)
        VARIANT(ball_outward)
    (&state->ball_pose[ball], &state->bias[n], &state->ball_pivot[ball], l, A);
    else for (int j = 0; j < 6; j++) A[j] = AT(motion->A[j]);
    if (step->fetch >= 0 || step->drives) // bodies other than the next one read it
        for (int j = 0; j < 6; j++) AT(motion->A[j]) = A[j];
}

// Steps i ... end - 1 as long as they continue the run of step i - 1, from its A; returns the first other one.
static INLINE int VARIANT(hinges_outward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                          int i, int end, int half, real A[6])
{
    const lwi_k_step *step = &plan->step[i], *stop = &plan->step[end];
    if (step == stop || !step->stride) return i;
    VARIANT(hinge) of = VARIANT(hinge_at)(plan, state, step[-1].slot, half);
    for (; step < stop && step->stride; step++) {
        VARIANT(move)(&of, step->stride, 1);
        VARIANT(hinge_A)(&of, step->shape, A);
        if (step->fetch < 0) continue; // others than the next body read it
        const int l = (int)of.l;
        for (int j = 0; j < 6; j++) AT(of.motion->A[j]) = A[j];
    }
    return (int)(step - plan->step);
}

#if SHARED || WIDTH == 1
// A of the parent; it is already in registers if the parent is the preceding body.
static INLINE void VARIANT(parent_A)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                     const lwi_k_step *step, int last, int half, real A[6])
{
    if (step->parent < 0) {
        for (int j = 0; j < 3; j++) A[j] = NAME(splat)(-plan->gravity[j]), A[3 + j] = ZERO;
    } else if (step->parent != last) {
        const lwi_k_motion *from = &state->motion[BLOCK(step->parent)];
        const int o = LANE(step->parent);
        for (int j = 0; j < 6; j++) A[j] = AT_LANE(from->A[j], o);
    }
}

static void VARIANT(outward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first,
                             int end, int half)
{
    real A[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = first; i < end;) {
        const lwi_k_step *step = &plan->step[i];
        VARIANT(parent_A)(plan, state, step, last, half, A);
        VARIANT(step_outward)(plan, state, step, half, A);
        i = VARIANT(hinges_outward)(plan, state, i + 1, end, half, A);
        last = plan->step[i - 1].slot;
    }
}
#endif
