// tree.inl -- the recursions over a tree, body by body in sweep order.

// ----------------------------------------------------------------------------- outward: velocities

// w of the parent, which stays in registers when it is the body before this one.
static INLINE void TEXT(parent_w)(const lwi_k_state *state, const lwi_k_step *step, int last,
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

static INLINE void TEXT(spin)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                              const lwi_k_step *step, int half, real w[3])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const int ball = n - BLOCK(plan->first_ball);
    if (ball < 0) {
        const lwi_k_screw *k = &plan->screw[step->slot / LWI_LANES];
        const lwi_k_pose *pose = &state->pose[n];
        const TEXT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
        if (step->turned) TEXT(turn_vector)(k, kl, w);
#define SPIN(shape) TEXT(to_hinge)(k, kl, theta, shape, w);
        OF_AXIS(step->shape, SPIN)
#undef SPIN
        if (step->kind == LWI_K_HINGE)
            w[2] += AT(pose->v);
        else
            MORE(w[2], K(k->turn), AT(pose->v));
    } else {
        const lwi_k_ball_joint *joint = &state->ball_joint[ball];
        real v[3];
        TEXT(to_body)(&state->ball_pose[ball], l, w, v);
        for (int j = 0; j < 3; j++) w[j] = v[j] + AT(joint->v[3 + j]);
    }
    for (int j = 0; j < 3; j++) AT(state->bias[n].w[j]) = w[j];
}

#if SHARED
// Pose of every body; the lanes beyond doubt.  By itself, for a sine is a long row of operations
// that wait for each other: a processor has those of several bodies under way when nothing else is
// between.
static mask TEXT(poses)(const lwi_kernel_plan *plan, const lwi_k_state *state, int half)
{
    mask sure = ~NAME(bits)(ZERO);
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
        const int at = step->slot / LWI_LANES, ball = n - BLOCK(plan->first_ball);
        if (ball < 0)
            sure &= TEXT(pose_screw)(&plan->screw[at], kl, &state->joint[n], &state->pose[n],
                                     step->kind == LWI_K_HINGE, plan->forward, l);
        else
            sure &= TEXT(pose_ball)(&plan->ball[at - plan->nscrew], kl, &state->ball_joint[ball],
                                    &state->ball_pose[ball], l);
    }
    return sure;
}

// Angular velocity and bias of every body.
static void TEXT(velocities)(const lwi_kernel_plan *plan, const lwi_k_state *state, int half)
{
    real w[3] = {ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
        const int at = step->slot / LWI_LANES, ball = n - BLOCK(plan->first_ball);
        const bool hinge = step->kind == LWI_K_HINGE;
        lwi_k_bias *bias = &state->bias[n];
        TEXT(parent_w)(state, step, last, half, w);
        TEXT(spin)(plan, state, step, half, w);
        TEXT(bias_wrench)(&plan->body[at], kl, bias, l);
        if (ball < 0)
            TEXT(bias_screw)(&plan->screw[at], kl, &state->pose[n], hinge, bias, l);
        else if (step->kind == LWI_K_BALL)
            TEXT(bias_ball)
        (&state->ball_joint[ball], &state->ball_pose[ball], bias, l);
        last = step->slot;
    }
}
#elif WIDTH == 1
static void TEXT(turning)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first, int end,
                          int half)
{
    real w[3] = {ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = first; i < end; i++) {
        const lwi_k_step *step = &plan->step[i];
        TEXT(parent_w)(state, step, last, half, w);
        TEXT(spin)(plan, state, step, half, w);
        last = step->slot;
    }
}
#endif

// ------------------------------------------------------------------------------------------ inward

// From step i inward, a hinge that is not on the ground, as long as the inertia stays in registers;
// the step that was last.
static int TEXT(hinges_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int i,
                               int half, ART *all)
{
    ART M = *all;
    for (;; i--) {
        const lwi_k_step *step = &plan->step[i];
        TEXT(hinge_inward)(plan, state, step->slot, half, step->shape, &M);
        if (!step->on) break;
    }
    *all = M;
    return i;
}

// One step, or several if they are hinges; the one that was last.
static int TEXT(step_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int i, int half,
                             ART *M, mask *sure)
{
    const lwi_k_step *step = &plan->step[i];
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const int at = step->slot / LWI_LANES, ball = n - BLOCK(plan->first_ball);
    const lwi_k_bias *bias = &state->bias[n];
    if (step->leaf >= 0) {
        TEXT(tip_inward)(plan, state, step, half, M);
        return step->on ? TEXT(hinges_inward)(plan, state, i - 1, half, M) : i;
    }
    if (step->tip) TEXT(clear)(M);
    if (step->fetch >= 0) TEXT(fetch)(&state->art[BLOCK(step->fetch)], LANE(step->fetch), M);
    switch (step->kind) {
    case LWI_K_HINGE:
        if (step->parent < 0)
            TEXT(root_inward)(plan, state, step->slot, half, M);
        else
            i = TEXT(hinges_inward)(plan, state, i, half, M);
        break;
    case LWI_K_SCREW:
        TEXT(add_body)(&plan->body[at], kl, bias, l, M);
        TEXT(reduce_screw)
        (&plan->screw[at], kl, &state->pose[n], bias, &state->pivot[n], l, M);
        TEXT(pass_screw)(&plan->screw[at], kl, &state->pose[n], l, M);
        break;
    case LWI_K_BALL:
        TEXT(add_body)(&plan->body[at], kl, bias, l, M);
        TEXT(reduce_ball)
        (&state->ball_joint[ball], bias, &state->ball_pivot[ball], l, M);
        TEXT(pass_ball)(&state->ball_pose[ball], l, M);
        break;
    default:
        TEXT(add_body)(&plan->body[at], kl, bias, l, M);
        *sure &= TEXT(accelerate_base)(plan, &state->ball_joint[ball], &state->ball_pose[ball],
                                       &state->ball_pivot[ball], &state->motion[n], l, M);
    }
    return i;
}

// Turns what a limb leaves to the parent's axes.
static INLINE void TEXT(turn_limb)(const lwi_kernel_plan *plan, const lwi_k_step *step, int half,
                                   ART *M)
{
    (void)half;
    if (step->turned && step->parent >= 0) TEXT(pass_turned)
    (&plan->screw[step->slot / LWI_LANES], KLANE(step->slot), M);
}

#if SHARED || WIDTH == 1
// The same, and puts it where its other limbs find it.
static void TEXT(leave)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                        const lwi_k_step *step, int half, ART *M)
{
    TEXT(turn_limb)(plan, step, half, M);
    if (step->park >= 0)
        TEXT(park)(&state->art[BLOCK(step->park)], LANE(step->park), M, step->first);
}

// Steps first ... end - 1 of a recursion.
static mask TEXT(inward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first, int end,
                         int half)
{
    ART M;
    mask sure = ~NAME(bits)(ZERO);
    TEXT(clear)(&M);
    for (int i = end - 1; i >= first; i--) {
        i = TEXT(step_inward)(plan, state, i, half, &M, &sure);
        TEXT(leave)(plan, state, &plan->step[i], half, &M);
    }
    return sure;
}
#endif

// -------------------------------------------------------------------------- outward: accelerations

static INLINE void TEXT(outward_screws)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                        const lwi_k_step *step, int half, real A[6])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const lwi_k_screw *k = &plan->screw[step->slot / LWI_LANES];
    const lwi_k_pose *pose = &state->pose[n];
    const lwi_k_bias *bias = &state->bias[n];
    const lwi_k_pivot *pivot = &state->pivot[n];
    if (step->kind == LWI_K_HINGE && step->parent < 0) {
        TEXT(root_outward)(k, kl, pose, pivot, &state->motion[n], l, A);
        return;
    }
    if (step->turned) TEXT(turn_parent)(k, kl, A);
    if (step->kind == LWI_K_SCREW) {
        TEXT(screw_outward)(k, kl, pose, bias, pivot, &state->motion[n], l, A);
        return;
    }
#define OUTWARD(shape)                                                                             \
    TEXT(hinge_outward)                                                                            \
    (k, kl, pose, bias, pivot, &state->motion[n], l, AT(pivot->y), shape, A);
    OF_EVERY_SHAPE(step->shape, OUTWARD)
#undef OUTWARD
}

static INLINE void TEXT(step_outward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                      const lwi_k_step *step, int half, real A[6])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), ball = n - BLOCK(plan->first_ball);
    lwi_k_motion *motion = &state->motion[n];
    if (ball < 0)
        TEXT(outward_screws)(plan, state, step, half, A);
    else if (step->kind == LWI_K_BALL)
        TEXT(ball_outward)
    (&state->ball_pose[ball], &state->bias[n], &state->ball_pivot[ball], l, A);
    else for (int j = 0; j < 6; j++) A[j] = AT(motion->A[j]);
    if (step->fetch >= 0) // others than the next body will ask
        for (int j = 0; j < 6; j++) AT(motion->A[j]) = A[j];
}

#if SHARED || WIDTH == 1
static void TEXT(outward)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first, int end,
                          int half)
{
    real A[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = first; i < end; i++) {
        const lwi_k_step *step = &plan->step[i];
        if (step->parent < 0) {
            for (int j = 0; j < 3; j++) A[j] = NAME(splat)(-plan->gravity[j]), A[3 + j] = ZERO;
        } else if (step->parent != last) {
            const lwi_k_motion *from = &state->motion[BLOCK(step->parent)];
            const int o = LANE(step->parent);
            for (int j = 0; j < 6; j++) A[j] = AT_LANE(from->A[j], o);
        }
        TEXT(step_outward)(plan, state, step, half, A);
        last = step->slot;
    }
}
#endif
