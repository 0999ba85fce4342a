// rnea.inl -- recursive Newton-Euler: efforts from given accelerations.
//
// Problem: outward the accelerations of points, inward the wrenches F that joints transmit:
//
//     a, al of the child's origin = X (a + al x r + w x (w x r), al) + (0, w' x S u) + S vdot
//     F = [m a + al x h + w x (w x h); h x a + J al + w x J w] + sum over children X'F
//     tau = S'F + rotor vdot
//
// r is constant in the axes before the rotation of the joint, where the term is a product with the matrix of al and w
// (displace).  vdot is the input `tau` of the joints.
// Output: bias.w; motion.A; F of the body alone in bias.p; efforts in motion.vdot of screws (before `sign` is applied)
// and in ball_pivot.vdot.  Sums at branch points are in A of lwi_k_art.  Cost: O(n).

// ----------------------------------------------------------------------------------------- outward

/** Motion of a frame: angular velocity, and as in lwi_k_motion A. */
typedef struct VARIANT(moving) {
    real w[3], A[6];
} VARIANT(moving);
#define MOVING VARIANT(moving)

// a += (al x) r + w x (w x r).  r1: has a component along y.
static INLINE void VARIANT(displace)(MOVING *at, const real r[3], bool r0, bool r1, bool r2)
{
    const real *w = at->w, *al = at->A + 3;
    real *a = at->A;
    if (r0) {
        LESS(a[0], r[0], SUM2(w[1], w[1], w[2], w[2]));
        MORE(a[1], r[0], MAD(w[0], w[1], al[2]));
        MORE(a[2], r[0], MSUB(w[0], w[2], al[1]));
    }
    if (r1) {
        MORE(a[0], r[1], MSUB(w[0], w[1], al[2]));
        LESS(a[1], r[1], SUM2(w[0], w[0], w[2], w[2]));
        MORE(a[2], r[1], MAD(w[1], w[2], al[0]));
    }
    if (r2) {
        MORE(a[0], r[2], MAD(w[0], w[2], al[1]));
        MORE(a[1], r[2], MSUB(w[1], w[2], al[0]));
        LESS(a[2], r[2], SUM2(w[0], w[0], w[1], w[1]));
    }
}

// Rotates by alpha.
static INLINE void VARIANT(lean_moving)(const lwi_k_screw *k, int kl, int shape, MOVING *at)
{
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE) {
        const VARIANT(turn) alpha = {.c = K(k->ca), .s = K(k->sa)};
        TURN_BACK_Y(alpha, at->w[1], at->w[2]);
        TURN_BACK_Y(alpha, at->A[1], at->A[2]);
        TURN_BACK_Y(alpha, at->A[4], at->A[5]);
    } else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) {
        const real w = at->w[1], a = at->A[1], al = at->A[4];
        at->w[1] = at->w[2], at->w[2] = -w;
        at->A[1] = at->A[2], at->A[2] = -a;
        at->A[4] = at->A[5], at->A[5] = -al;
    }
}

// From the parent's frame to the axes before the rotation by theta, at the origin of the screw at distance d.
static INLINE void VARIANT(carry_moving)(const lwi_k_screw *k, int kl, real d, int shape,
                                         bool realigned, MOVING *at)
{
    if (realigned) {
        VARIANT(turn_vector)(k, kl, at->w);
        VARIANT(turn_vector)(k, kl, at->A);
        VARIANT(turn_vector)(k, kl, at->A + 3);
    }
    VARIANT(lean_moving)(k, kl, shape, at);
    const real r[3] = {K(k->reach[0]), K(k->reach[1]), K(k->reach[2]) + d};
    VARIANT(displace)(at, r, shape & LWI_K_APART, realigned, realigned || shape & LWI_K_ALONG);
}

static INLINE void VARIANT(turn_moving)(const lwi_k_pose *pose, int l, MOVING *at)
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    TURN_BACK_Y(theta, at->w[0], at->w[1]);
    TURN_BACK_Y(theta, at->A[0], at->A[1]);
    TURN_BACK_Y(theta, at->A[3], at->A[4]);
}

// Rotates by theta, with the joint's velocity and acceleration.
static INLINE void VARIANT(rotate_moving)(const lwi_k_pose *pose, int l, MOVING *at)
{
    const real v = AT(pose->v);
    VARIANT(turn_moving)(pose, l, at);
    MORE(at->A[3], v, at->w[1]);
    LESS(at->A[4], v, at->w[0]);
    at->A[5] += AT(pose->tau);
    at->w[2] += v;
}

static INLINE void VARIANT(hinge_moves)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                        int shape, bool realigned, MOVING *at)
{
    VARIANT(carry_moving)(k, kl, K(k->shift), shape, realigned, at);
    VARIANT(rotate_moving)(pose, l, at);
}

static inline void VARIANT(root_moves)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                       MOVING *at)
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    for (int i = 0; i < 3; i++) at->A[i] = -K(k->minus_gravity[i]);
    TURN_BACK_Y(theta, at->A[0], at->A[1]);
    at->w[0] = at->w[1] = at->A[3] = at->A[4] = ZERO;
    at->w[2] = AT(pose->v);
    at->A[5] = AT(pose->tau);
}

static inline void VARIANT(screw_moves)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                        bool realigned, MOVING *at)
{
    const real turning = K(k->turn) * AT(pose->v), sliding = K(k->slide) * AT(pose->v);
    if (realigned)
        VARIANT(carry_moving)(k, kl, AT(pose->d), LWI_K_ANY, true, at);
    else
        VARIANT(carry_moving)(k, kl, AT(pose->d), LWI_K_ANY, false, at);
    VARIANT(turn_moving)(pose, l, at);
    MORE(at->A[0], sliding + sliding, at->w[1]);
    LESS(at->A[1], sliding + sliding, at->w[0]);
    MORE(at->A[2], K(k->slide), AT(pose->tau));
    MORE(at->A[3], turning, at->w[1]);
    LESS(at->A[4], turning, at->w[0]);
    MORE(at->A[5], K(k->turn), AT(pose->tau));
    at->w[2] += turning;
}

static inline void VARIANT(ball_moves)(const lwi_k_ball_joint *joint, const lwi_k_ball_pose *pose,
                                       int l, MOVING *at)
{
    const real r[3] = {AT(pose->r[0]), AT(pose->r[1]), AT(pose->r[2])};
    const real u[3] = {AT(joint->v[3]), AT(joint->v[4]), AT(joint->v[5])};
    real k[3];
    MOVING of;
    VARIANT(displace)(at, r, true, true, true);
    VARIANT(to_body)(pose, l, at->w, of.w);
    VARIANT(to_body)(pose, l, at->A, of.A);
    VARIANT(to_body)(pose, l, at->A + 3, of.A + 3);
    CROSS(k, of.w, u);
    for (int i = 0; i < 3; i++) {
        of.A[3 + i] += k[i] + AT(joint->tau[3 + i]);
        of.w[i] += u[i];
    }
    *at = of;
}

// A contains minus gravity: a = vdot - R'g + w x v.
static inline void VARIANT(base_moves)(const lwi_kernel_plan *plan, const lwi_k_ball_joint *joint,
                                       const lwi_k_ball_pose *pose, int l, MOVING *at)
{
    real v[3], c[3];
    for (int i = 0; i < 3; i++) {
        v[i] = AT(joint->v[i]);
        at->w[i] = AT(joint->v[3 + i]);
    }
    CROSS(c, at->w, v);
    for (int i = 0; i < 3; i++) {
        at->A[i] = (AT(joint->tau[i]) + c[i]) -
                   (AT(pose->R[i]) * plan->gravity[0] + AT(pose->R[3 + i]) * plan->gravity[1] +
                    AT(pose->R[6 + i]) * plan->gravity[2]);
        at->A[3 + i] = AT(joint->tau[3 + i]);
    }
}

static INLINE void VARIANT(step_moves)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                       const lwi_k_step *step, int half, MOVING *at)
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const int ball = n - BLOCK(plan->first_ball);
    const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
    const lwi_k_pose *pose = &state->pose[n];
    if (step->kind == LWI_K_HINGE) {
#define MOVES(shape) VARIANT(hinge_moves)(k, kl, pose, l, shape, false, at);
        if (step->parent < 0)
            VARIANT(root_moves)(k, kl, pose, l, at);
        else if (step->realigned)
            VARIANT(hinge_moves)(k, kl, pose, l, LWI_K_ANY, true, at);
        else
            OF_SHAPE(step->shape & LWI_K_FORM, MOVES)
#undef MOVES
    } else if (ball < 0) {
        VARIANT(screw_moves)(k, kl, pose, l, step->realigned, at);
    } else if (step->kind == LWI_K_BALL) {
        VARIANT(ball_moves)(&state->ball_joint[ball], &state->ball_pose[ball], l, at);
    } else {
        VARIANT(base_moves)(plan, &state->ball_joint[ball], &state->ball_pose[ball], l, at);
    }
    for (int j = 0; j < 3; j++) AT(state->bias[n].w[j]) = at->w[j];
    for (int j = 0; j < 6; j++) AT(state->motion[n].A[j]) = at->A[j];
}

// ------------------------------------------------------------------------------------------ bodies

static inline void VARIANT(body_wrench)(const lwi_k_body *k, int kl, const lwi_k_motion *motion,
                                        lwi_k_bias *bias, int l)
{
    const real a[3] = {AT(motion->A[0]), AT(motion->A[1]), AT(motion->A[2])};
    const real al[3] = {AT(motion->A[3]), AT(motion->A[4]), AT(motion->A[5])};
    const real w[3] = {AT(bias->w[0]), AT(bias->w[1]), AT(bias->w[2])};
    const real h[3] = {K(k->h[0]), K(k->h[1]), K(k->h[2])}, m = K(k->m);
    const real J0 = K(k->J[0]), J1 = K(k->J[1]), J2 = K(k->J[2]);
    const real J3 = K(k->J[3]), J4 = K(k->J[4]), J5 = K(k->J[5]);
    const real t[3] = {DIFF(w[1], h[2], w[2], h[1]), DIFF(w[2], h[0], w[0], h[2]),
                       DIFF(w[0], h[1], w[1], h[0])};
    const real L[3] = {SUM3(J0, w[0], J3, w[1], J4, w[2]), SUM3(J3, w[0], J1, w[1], J5, w[2]),
                       SUM3(J4, w[0], J5, w[1], J2, w[2])};
    const real n[3] = {SUM3(J0, al[0], J3, al[1], J4, al[2]), SUM3(J3, al[0], J1, al[1], J5, al[2]),
                       SUM3(J4, al[0], J5, al[1], J2, al[2])};
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, o = (i + 2) % 3;
        AT(bias->p[i]) =
            NMAD(al[o], h[j], MAD(al[j], h[o], NMAD(w[o], t[j], SUM2(m, a[i], w[j], t[o]))));
        AT(bias->p[3 + i]) =
            NMAD(h[o], a[j], MAD(h[j], a[o], NMAD(w[o], L[j], MAD(w[j], L[o], n[i]))));
    }
}

// ------------------------------------------------------------------------------------------ inward

// turn_z(phi) shift(0, b, delta)
static inline void VARIANT(pass_realigned_wrench)(const lwi_k_screw *k, int kl, real F[6])
{
    const VARIANT(turn) phi = {.c = K(k->cphi), .s = K(k->sphi)};
    const real b = K(k->b), delta = K(k->delta);
    F[3] += DIFF(b, F[2], delta, F[1]);
    MORE(F[4], delta, F[0]);
    LESS(F[5], b, F[0]);
    TURN_VECTOR(phi, F[0], F[1]);
    TURN_VECTOR(phi, F[3], F[4]);
}

static inline void VARIANT(pass_ball_wrench)(const lwi_k_ball_pose *pose, int l, real F[6])
{
    real r[3], f[3], n[3], c[3];
    for (int i = 0; i < 3; i++) {
        const real a = AT(pose->R[3 * i]), b = AT(pose->R[3 * i + 1]), d = AT(pose->R[3 * i + 2]);
        r[i] = AT(pose->r[i]);
        f[i] = SUM3(a, F[0], b, F[1], d, F[2]);
        n[i] = SUM3(a, F[3], b, F[4], d, F[5]);
    }
    CROSS(c, r, f);
    for (int i = 0; i < 3; i++) {
        F[i] = f[i];
        F[3 + i] = n[i] + c[i];
    }
}

// The effort of a joint from F of the bodies outboard of it, in its parent's frame; F := the same in the parent's frame.
static INLINE void VARIANT(step_effort)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                        const lwi_k_step *step, int half, real F[6])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const int ball = n - BLOCK(plan->first_ball);
    const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
    if (step->fetch >= 0) {
        const lwi_k_art *art = &state->art[BLOCK(step->fetch)];
        for (int j = 0; j < 6; j++) F[j] += AT_LANE(art->A[j], LANE(step->fetch));
    }
    for (int j = 0; j < 6; j++) F[j] += AT(state->bias[n].p[j]);
    if (ball >= 0) {
        for (int j = 0; j < 6; j++) AT(state->ball_pivot[ball].vdot[j]) = F[j];
        if (step->kind == LWI_K_BALL) VARIANT(pass_ball_wrench)(&state->ball_pose[ball], l, F);
        return;
    }
    const lwi_k_pose *pose = &state->pose[n];
    const real along = step->kind == LWI_K_HINGE ? F[5] : SUM2(K(k->slide), F[2], K(k->turn), F[5]);
    AT(state->motion[n].vdot) = MAD(K(k->rotor), AT(pose->tau), along);
    if (step->parent < 0) return;
#define PASS(shape) VARIANT(pass_wrench)(k, kl, pose, l, K(k->shift), shape, F);
    if (step->kind == LWI_K_SCREW)
        VARIANT(pass_wrench)(k, kl, pose, l, AT(pose->d), LWI_K_ANY, F);
    else
        OF_SHAPE(step->shape & LWI_K_FORM, PASS)
#undef PASS
    if (step->realigned) VARIANT(pass_realigned_wrench)(k, kl, F);
}

// ---------------------------------------------------------------------------------------- the tree

#if WIDTH == 1
static void VARIANT(moves)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first,
                           int end, int half)
{
    MOVING at;
    for (int j = 0; j < 3; j++) at.w[j] = at.A[j] = at.A[3 + j] = ZERO;
    int last = -1;
    for (int i = first; i < end; i++) {
        const lwi_k_step *step = &plan->step[i];
        VARIANT(parent_w)(state, step, last, half, at.w);
        VARIANT(parent_A)(plan, state, step, last, half, at.A);
        VARIANT(step_moves)(plan, state, step, half, &at);
        last = step->slot;
    }
}

static void VARIANT(efforts)(const lwi_kernel_plan *plan, const lwi_k_state *state, int first,
                             int end, int half)
{
    real F[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    for (int i = end - 1; i >= first; i--) {
        const lwi_k_step *step = &plan->step[i];
        if (step->tip)
            for (int j = 0; j < 6; j++) F[j] = ZERO;
        VARIANT(step_effort)(plan, state, step, half, F);
        if (step->park < 0) continue;
        lwi_k_art *art = &state->art[BLOCK(step->park)];
        for (int j = 0, l = LANE(step->park); j < 6; j++)
            AT(art->A[j]) = step->first ? F[j] : F[j] + AT(art->A[j]);
    }
}

// The motion of the body that carries a branch in segments, in the frame in which the first hinge's screw starts: as
// base_velocity and base_acceleration, with the terms of the velocity.
static void VARIANT(carrier_moves)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                   const lwi_k_state *state)
{
    const lwi_k_step *step = &plan->step[stage->first];
    const lwi_k_screw *k = &plan->screw[BLOCK(step->slot)];
    lwi_k_segment *segment = &state->segment[stage->segment];
    const int l = 0, kl = 0;
    MOVING at;
    for (int i = 0; i < 3; i++) at.w[i] = at.A[i] = at.A[3 + i] = ZERO;
    if (step->parent < 0) {
        const double *g = plan->gravity, up[3] = {-g[0], -g[1], -g[2]};
        VARIANT(on_the_ground)(k, kl, up, at.A);
    } else {
        VARIANT(parent_w)(state, step, -1, 0, at.w);
        VARIANT(parent_A)(plan, state, step, -1, 0, at.A);
        if (step->realigned) {
            const real r[3] = {ZERO, K(k->b), K(k->delta)};
            VARIANT(turn_vector)(k, kl, at.w);
            VARIANT(turn_vector)(k, kl, at.A);
            VARIANT(turn_vector)(k, kl, at.A + 3);
            VARIANT(displace)(&at, r, false, true, true);
        }
    }
    for (int i = 0; i < 3; i++) AT(segment->w_base[i]) = at.w[i];
    for (int i = 0; i < 6; i++) AT(segment->A[i]) = at.A[i];
}

// The wrench of a branch in segments on the body that carries it, in the first lane of `left`.
static void VARIANT(leave_wrench)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                  const lwi_k_state *state)
{
    const lwi_k_step *step = &plan->step[stage->first];
    const lwi_k_screw *k = &plan->screw[BLOCK(step->slot)];
    const lwi_k_art *left = &state->segment[stage->segment].left;
    real F[6];
    if (step->park < 0) return;
    for (int j = 0, l = 0; j < 6; j++) F[j] = AT(left->A[j]);
    if (step->realigned) VARIANT(pass_realigned_wrench)(k, 0, F);
    lwi_k_art *art = &state->art[lwi_k_block(step->park)];
    for (int j = 0, l = lwi_k_lane(step->park); j < 6; j++)
        AT(art->A[j]) = step->first ? F[j] : F[j] + AT(art->A[j]);
}

// Adds the wrenches of subtrees to those of the bodies of the trunk that carry them.
static void VARIANT(take_wrenches)(const lwi_kernel_plan *plan, const lwi_k_state *state, int half)
{
    for (int i = 0; i < plan->nsubtree; i++) {
        const lwi_k_subtree *subtree = &plan->subtree[i];
        const lwi_k_art *from = &state->art[BLOCK(subtree->from)];
        lwi_k_art *to = &state->art[BLOCK(subtree->to)];
        for (int j = 0, l = LANE(subtree->to); j < 6; j++) {
            const real F = AT_LANE(from->A[j], LANE(subtree->from));
            AT(to->A[j]) = subtree->first ? F : F + AT(to->A[j]);
        }
    }
}
#else
static void VARIANT(branches_moves)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                    const lwi_k_stage *stage, int half)
{
    MOVING at;
    VARIANT(carriers_w)(plan, state, stage, half, at.w);
    VARIANT(carriers_A)(plan, state, stage, half, at.A);
    for (int j = 0; j < stage->length; j++)
        VARIANT(step_moves)(plan, state, &plan->step[stage->first + j], half, &at);
}

static void VARIANT(branches_efforts)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                      const lwi_k_stage *stage, int half)
{
    real F[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    lwi_k_art *room = &state->art[plan->nart + stage->section];
    for (int i = stage->first + stage->length - 1; i >= stage->first; i--) {
        for (int j = 0; j < 6; j++) F[j] = VARIANT(kept)(F[j], &plan->begin[i][half]);
        VARIANT(step_effort)(plan, state, &plan->step[i], half, F);
    }
    for (int j = 0, l = half; j < 6; j++) AT(room->A[j]) = F[j];
    park_branches(plan, state, stage, half, WIDTH, ART_OF_WRENCH);
}
#endif
#undef MOVING
