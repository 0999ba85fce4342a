// segments_base.inl -- the interface between a branch in segments and the body that carries it: one lane.
//
// The motion of the carrying body is known as for any branch.  It is rotated into the frame of the first
// hinge's screw, in which T starts; the output of the branch is rotated back.

// x on the ground in that frame.
static INLINE void VARIANT(on_the_ground)(const lwi_k_screw *k, int kl, const double x[3],
                                          real realigned[3])
{
    const real c = K(k->cphi), s = K(k->sphi);
    realigned[0] = c * x[0] + s * x[1];
    realigned[1] = c * x[1] - s * x[0];
    realigned[2] = x[2];
}

static void VARIANT(base_velocity)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                   const lwi_k_state *state)
{
    const lwi_k_step *step = &plan->step[stage->first];
    lwi_k_segment *segment = &state->segment[stage->segment];
    real w[3];
    VARIANT(parent_w)(state, step, -1, 0, w);
    if (step->realigned && step->parent >= 0)
        VARIANT(turn_vector)(&plan->screw[BLOCK(step->slot)], 0, w);
    for (int i = 0, l = 0; i < 3; i++) AT(segment->w_base[i]) = w[i];
}

static void VARIANT(base_acceleration)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                       const lwi_k_state *state)
{
    const lwi_k_step *step = &plan->step[stage->first];
    const lwi_k_screw *k = &plan->screw[BLOCK(step->slot)];
    lwi_k_segment *segment = &state->segment[stage->segment];
    real A[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    if (step->parent < 0) {
        const double *g = plan->gravity, up[3] = {-g[0], -g[1], -g[2]};
        VARIANT(on_the_ground)(k, 0, up, A);
    } else {
        const lwi_k_motion *from = &state->motion[BLOCK(step->parent)];
        for (int i = 0, l = step->parent % LWI_LANES; i < 6; i++) A[i] = AT(from->A[i]);
        if (step->realigned) VARIANT(turn_parent)(k, 0, A);
    }
    for (int i = 0, l = 0; i < 6; i++) AT(segment->A[i]) = A[i];
}

// V and gravity.
static void VARIANT(base_speed)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                const lwi_k_state *state)
{
    const lwi_k_step *step = &plan->step[stage->first];
    const lwi_k_screw *k = &plan->screw[BLOCK(step->slot)];
    lwi_k_segment *segment = &state->segment[stage->segment];
    real V[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO}, g[3];
    if (step->parent < 0) {
        VARIANT(on_the_ground)(k, 0, plan->gravity, g);
    } else {
        const int from = BLOCK(step->parent), l = step->parent % LWI_LANES;
        for (int i = 0; i < 6; i++) V[i] = AT(state->motion[from].A[i]);
        for (int i = 0; i < 3; i++) g[i] = AT(state->momentum[from].g[i]);
        if (step->realigned) {
            VARIANT(turn_parent)(k, 0, V);
            VARIANT(turn_vector)(k, 0, g);
        }
    }
    for (int i = 0, l = 0; i < 6; i++) AT(segment->A[i]) = V[i];
    for (int i = 0, l = 0; i < 3; i++) AT(segment->g[i]) = g[i];
}

// Articulated inertia of the branch at its base, in the first lane of `left`.
static void VARIANT(leave_segments)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                    const lwi_k_state *state, bool momenta)
{
    const lwi_k_step *step = &plan->step[stage->first];
    const lwi_k_art *left = &state->segment[stage->segment].left;
    ART M;
    if (step->park < 0) return;
    VARIANT(clear)(&M);
    VARIANT(fetch)(left, 0, &M);
    if (momenta) {
        real h[3];
        for (int i = 0, l = 0; i < 3; i++) h[i] = AT(left->h[i]);
        VARIANT(leave_momentum)(plan, state, step, 0, &M, h);
    } else {
        VARIANT(leave)(plan, state, step, 0, &M);
    }
}
