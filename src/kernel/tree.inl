// tree.inl -- the recursions over a tree, body by body in sweep order.

// ----------------------------------------------------------------------------- outward: velocities

// w of the parent, which stays in registers when it is the body before this one.
static INLINE void TEXT(parent_w)(const lwi_k_state *state, const lwi_k_step *step, int last,
                                  int half, real w[3])
{
    (void)half;
    if (step->parent < 0) {
        w[0] = w[1] = w[2] = ZERO;
    } else if (step->parent != last) {
        const lwi_k_bias *from = &state->bias[BLOCK(step->parent)];
        const int o = LANE(step->parent);
        for (int j = 0; j < 3; j++) w[j] = AT_LANE(from->w[j], o);
    }
}

static INLINE void TEXT(turn)(const lwi_plan *plan, const lwi_k_state *state,
                              const lwi_k_step *step, int n, int l, real w[3])
{
    real v[3];
    TEXT(to_body)(&state->pose[n], l, w, v);
    if (step->kind == LWI_K_HINGE) {
        w[0] = v[0], w[1] = v[1], w[2] = v[2] + AT(state->pose[n].v);
    } else if (step->kind == LWI_K_SCREW) {
        const lwi_k_screw *k = &plan->screw[step->slot / LWI_LANES];
        const int kl = KLANE(step->slot);
        w[0] = v[0], w[1] = v[1], w[2] = v[2] + K(k->turn) * AT(state->pose[n].v);
    } else {
        const lwi_k_ball_joint *joint = &state->ball_joint[n - BLOCK(plan->first_ball)];
        for (int j = 0; j < 3; j++) w[j] = v[j] + AT(joint->v[3 + j]);
    }
    for (int j = 0; j < 3; j++) AT(state->bias[n].w[j]) = w[j];
}

#if SHARED
// Pose, angular velocity and bias of every body; the lanes beyond doubt.
static mask TEXT(velocities)(const lwi_plan *plan, const lwi_k_state *state, int half)
{
    mask sure = ~NAME(bits)(ZERO);
    real w[3] = {ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
        const int at = step->slot / LWI_LANES, ball = n - BLOCK(plan->first_ball);
        lwi_k_pose *pose = &state->pose[n];
        lwi_k_bias *bias = &state->bias[n];
        if (ball < 0)
            sure &= TEXT(pose_screw)(&plan->screw[at], kl, &state->joint[n], pose, l);
        else
            sure &= TEXT(pose_ball)(&plan->ball[at - plan->nscrew], kl, &state->ball_joint[ball],
                                    pose, l);
        TEXT(parent_w)(state, step, last, half, w);
        TEXT(turn)(plan, state, step, n, l, w);
        TEXT(bias_wrench)(&plan->body[at], kl, bias, l);
        if (ball < 0)
            TEXT(bias_screw)(&plan->screw[at], kl, pose, bias, l);
        else if (step->kind == LWI_K_BALL)
            TEXT(bias_ball)(&state->ball_joint[ball], pose, bias, l);
        last = step->slot;
    }
    return sure;
}
#else
static void TEXT(turning)(const lwi_plan *plan, const lwi_k_state *state)
{
    real w[3] = {ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        TEXT(parent_w)(state, step, last, 0, w);
        TEXT(turn)(plan, state, step, BLOCK(step->slot), LANE(step->slot), w);
        last = step->slot;
    }
}
#endif

// -------------------------------------------------------------------------------------------
// inward

// From step i inward as long as they are plain hinges; the inertia stays in registers.
static int TEXT(plain_inward)(const lwi_plan *plan, const lwi_k_state *state, int i, int half,
                              ART *all)
{
    ART M = *all;
    do TEXT(hinge_inward)(plan, state, plan->step[i].slot, half, false, &M);
    while (--i >= 0 && plan->step[i].plain);
    *all = M;
    return i;
}

static void TEXT(step_inward)(const lwi_plan *plan, const lwi_k_state *state,
                              const lwi_k_step *step, int half, ART *M, mask *sure)
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const int at = step->slot / LWI_LANES, ball = n - BLOCK(plan->first_ball);
    const lwi_k_body *body = &plan->body[at];
    const lwi_k_pose *pose = &state->pose[n];
    const lwi_k_bias *bias = &state->bias[n];
    if (step->tip) TEXT(clear)(M);
    if (step->fetch >= 0) TEXT(fetch)(&state->art[step->fetch], ART_LANE, M);
    switch (step->kind) {
    case LWI_K_HINGE:
        TEXT(hinge_inward)(plan, state, step->slot, half, step->parent < 0, M);
        break;
    case LWI_K_SCREW:
        TEXT(add_body)(body, kl, bias, l, M);
        TEXT(reduce_screw)(body, &plan->screw[at], kl, pose, bias, &state->pivot[n], l, M);
        TEXT(pass_screw)(&plan->screw[at], kl, pose, l, M);
        break;
    case LWI_K_BALL:
        TEXT(add_body)(body, kl, bias, l, M);
        TEXT(reduce_ball)(&state->ball_joint[ball], bias, &state->ball_pivot[ball], l, M);
        TEXT(pass_ball)(pose, l, M);
        break;
    default:
        TEXT(add_body)(body, kl, bias, l, M);
        *sure &= TEXT(accelerate_base)(plan, &state->ball_joint[ball], pose,
                                       &state->ball_pivot[ball], &state->motion[n], l, M);
    }
    if (step->turned) TEXT(pass_turned)(&plan->screw[at], kl, M);
    if (step->park >= 0) TEXT(park)(&state->art[step->park], ART_LANE, M, step->first);
}

static mask TEXT(inward)(const lwi_plan *plan, const lwi_k_state *state, int half)
{
    ART M;
    mask sure = ~NAME(bits)(ZERO);
    TEXT(clear)(&M);
    for (int i = plan->nstep - 1; i >= 0;) {
        if (plan->step[i].plain) {
            i = TEXT(plain_inward)(plan, state, i, half, &M);
        } else {
            TEXT(step_inward)(plan, state, &plan->step[i], half, &M, &sure);
            i--;
        }
    }
    return sure;
}

// -------------------------------------------------------------------------- outward: accelerations

static mask TEXT(outward)(const lwi_plan *plan, const lwi_k_state *state, int half)
{
    real A[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    mask sure = ~NAME(bits)(ZERO);
    int last = -1;
    (void)half;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int n = BLOCK(step->slot), l = LANE(step->slot), ball = n - BLOCK(plan->first_ball);
        const lwi_k_pose *pose = &state->pose[n];
        const lwi_k_bias *bias = &state->bias[n];
        lwi_k_motion *motion = &state->motion[n];
        if (step->parent < 0) {
            for (int j = 0; j < 3; j++) A[j] = NAME(splat)(-plan->gravity[j]), A[3 + j] = ZERO;
        } else if (step->parent != last) {
            const lwi_k_motion *from = &state->motion[BLOCK(step->parent)];
            const int o = LANE(step->parent);
            for (int j = 0; j < 6; j++) A[j] = AT_LANE(from->A[j], o);
        }
        if (ball < 0) {
            const lwi_k_screw *k = &plan->screw[step->slot / LWI_LANES];
            const lwi_k_row *row = &state->row[n];
            const int kl = KLANE(step->slot);
#if SHARED // one instance is as wide as the others: nothing is gained by a phase of its own
            sure &= TEXT(row)(pose, bias, &state->pivot[n], &state->row[n], l);
#endif
            if (step->kind == LWI_K_HINGE)
                TEXT(screw_outward)(pose, bias, row, motion, l, ZERO, ZERO, true, A);
            else
                TEXT(screw_outward)(pose, bias, row, motion, l, K(k->turn), K(k->slide), false, A);
        } else if (step->kind == LWI_K_BALL) {
#if SHARED
            sure &= TEXT(row_ball)(&state->ball_pivot[ball], l);
#endif
            TEXT(ball_outward)(pose, bias, &state->ball_pivot[ball], l, A);
        } else {
            for (int j = 0; j < 6; j++) A[j] = AT(motion->A[j]);
        }
        if (step->fetch >= 0) // others than the next body will ask
            for (int j = 0; j < 6; j++) AT(motion->A[j]) = A[j];
        last = step->slot;
    }
    return sure;
}
