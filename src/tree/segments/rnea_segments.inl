// rnea_segments.inl -- inverse dynamics of one long branch, with its segments in lanes.
//
// With the angular velocities known from the prefix, motions of bodies are affine in that of the base of their segment,
// and wrenches in that at its tip (C, w of segments.inl; p: from base to tip, in axes of the tip):
//
//     a_tip = C (a + al x p') + a_own,   al_tip = C al + al_own,   p = C p'
//     F_base = [C'f; C'(n + p x f)] + F_own
//
// Two sweeps outward, of the own part and, after the joins, of the motions, and two inward.  Sums over segments depend on
// the topology only.  Input, output: as rnea.inl.  Cost: O(n / lanes), a join of some 40 multiplications for each segment.

#define CONSTANTS_AND_POSE                                                                         \
    const int l = 0, kl = 0;                                                                       \
    const lwi_k_screw *k = at.screw;                                                               \
    const lwi_k_pose *pose = at.pose

// next_position and previous_position without their branch.  These sweeps do little at a body, and are faster so; those of
// `aba` are slower.
static INLINE void VARIANT(next_body)(segment_positions *of)
{
    const int leaves = of->lane + of->segments >= LWI_LANES; // the block
    of->shape++;
    displace_position(of, leaves, of->segments - (LWI_LANES & -leaves));
}
static INLINE void VARIANT(previous_body)(segment_positions *of)
{
    const int leaves = of->lane < of->segments;
    of->shape--;
    displace_position(of, -leaves, (LWI_LANES & -leaves) - of->segments);
}

// Without the realignment of the first body, which is part of the base.
static INLINE void VARIANT(segment_hinge)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                          int l, int shape, struct VARIANT(moving) * at)
{
    const real r[3] = {K(k->a), ZERO, K(k->shift)};
    VARIANT(lean_moving)(k, kl, shape, at);
    VARIANT(displace)(at, r, shape & LWI_K_APART, false, shape & LWI_K_ALONG);
    VARIANT(rotate_moving)(pose, l, at);
}

// The motion of the tip where the base has no acceleration, into e; p into L.
static void VARIANT(segment_own_motion)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                        const lwi_k_state *state, int half)
{
    const segment_positions of = positions_of(plan, stage, state);
    struct VARIANT(moving) body;
    real p[3] = {ZERO, ZERO, ZERO};
    for (int i = 0, l = half; i < 3; i++) {
        body.w[i] = AT(of.segment->w[i]);
        body.A[i] = body.A[3 + i] = ZERO;
    }
    segment_positions at = at_position(of, 0, half);
    for (int j = 0; j < of.length; j++, VARIANT(next_body)(&at)) {
        CONSTANTS_AND_POSE;
        const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
#define OWN(shape)                                                                                 \
    VARIANT(segment_hinge)(k, kl, pose, l, shape, &body);                                          \
    VARIANT(to_hinge)(k, kl, theta, shape, p);                                                     \
    if ((shape)&LWI_K_APART) {                                                                     \
        MORE(p[0], K(k->a), theta.c);                                                              \
        LESS(p[1], K(k->a), theta.s);                                                              \
    }                                                                                              \
    if ((shape)&LWI_K_ALONG) p[2] += K(k->shift);
        OF_SHAPE(*at.shape, OWN)
#undef OWN
    }
    for (int i = 0, l = half; i < 6; i++) AT(of.segment->e[i]) = body.A[i];
    for (int i = 0, l = half; i < 3; i++) AT(of.segment->L[i]) = p[i];
}

static void VARIANT(segment_motion)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                    const lwi_k_state *state, int half)
{
    const segment_positions of = positions_of(plan, stage, state);
    struct VARIANT(moving) body;
    for (int i = 0, l = half; i < 3; i++) body.w[i] = AT(of.segment->w[i]);
    for (int i = 0, l = half; i < 6; i++) body.A[i] = AT(of.segment->A[i]);
    segment_positions at = at_position(of, 0, half);
    for (int j = 0; j < of.length; j++, VARIANT(next_body)(&at)) {
        CONSTANTS_AND_POSE;
#define MOVES(shape) VARIANT(segment_hinge)(k, kl, pose, l, shape, &body);
        OF_SHAPE(*at.shape, MOVES)
#undef MOVES
        for (int i = 0; i < 3; i++) AT(at.bias->w[i]) = body.w[i];
        for (int i = 0; i < 6; i++) AT(at.motion->A[i]) = body.A[i];
    }
}

// F of the bodies of a segment, from the wrench f at its tip; `efforts`: those of the joints are left in vdot.
static INLINE void VARIANT(segment_sum)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                        const lwi_k_state *state, int half, bool efforts, real F[6])
{
    const segment_positions of = positions_of(plan, stage, state);
    segment_positions at = at_position(of, of.length, half);
    for (int j = of.length - 1; j >= 0; j--) {
        VARIANT(previous_body)(&at);
        CONSTANTS_AND_POSE;
        for (int i = 0; i < 6; i++) F[i] += AT(at.bias->p[i]);
        if (efforts) AT(at.motion->vdot) = F[5];
        if (efforts && j == 0) return;
#define PASS(shape) VARIANT(pass_wrench)(k, kl, pose, l, K(k->shift), shape, F);
        OF_SHAPE(*at.shape, PASS)
#undef PASS
    }
}

static void VARIANT(segment_own_wrench)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                        const lwi_k_state *state, int half)
{
    const segment_positions of = positions_of(plan, stage, state);
    real F[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    VARIANT(segment_sum)(plan, stage, state, half, false, F);
    for (int i = 0, l = half; i < 6; i++) AT(of.segment->f[i]) = F[i];
}

static void VARIANT(segment_efforts)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                     const lwi_k_state *state, int half)
{
    const segment_positions of = positions_of(plan, stage, state);
    real F[6];
    for (int i = 0, l = half; i < 6; i++) F[i] = AT(of.segment->f[i]);
    VARIANT(segment_sum)(plan, stage, state, half, true, F);
}
#undef CONSTANTS_AND_POSE
