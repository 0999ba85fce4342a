// momenta.inl -- speeds and rates of joint momenta over a tree                      [naudet2003]
//
// Problem: speeds u and momentum rates pdot from q and the joint momenta p.  The momentum of a body
// and its descendants is P* = M V + D; p = S'P*.
// Numbers (n) are the paper's, symbols those of src/tree/momenta.c.
//
//   inward    U = M S,  y = (p - S'D)/(S'U),  M' = M - U U'/(S'U),  D' = D + U y     (46)-(48)
//             parent:  M += X'M'X,  D += X'D'                                        (43), (44)
//   outward   u = y - g . X V_parent,  V = X V_parent + S u                              (45)
//   rates     P* = M'V + D',  pdot = S'(T* - V x* P*)                              (42), (35)
//
// Both sweeps are those of the accelerations without bias.  M'V = M'v because M'S = 0.  T* contains
// gravity only; the caller adds joint efforts.  Gravity acts on a subtree of mass m and first moment
// of mass h with [m g; h x g], so the inward sweep sums h.  The rates need no recursion.
//
// A rotor of inertia I adds I u to p, and I to S'U.  Then M'S is not zero, and P* = M'v + D' with
// v = X V_parent; n_z of D' is p - I y.
//
// Input: plan constants, pose with p in v.  Output: speeds in motion.vdot, pdot in momentum.
// Cost: O(n).

// First moment of mass of a subtree: h := first_moment + R h.  `first_moment` is constant: it contains the
// masses of the descendants, placed at the joint, so only the rotation remains.
static INLINE void VARIANT(pass_first_moment)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                              int l, int shape, real h[3])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    TURN_VECTOR(theta, h[0], h[1]);
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE) {
        const VARIANT(turn) alpha = {.c = K(k->ca), .s = K(k->sa)};
        TURN_VECTOR(alpha, h[1], h[2]);
    } else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) {
        TURN_RIGHT(h[1], h[2]);
    }
}
static inline void VARIANT(ball_first_moment)(const lwi_k_ball_pose *pose, int l, real h[3])
{
    const real x = h[0], y = h[1], z = h[2];
    for (int i = 0; i < 3; i++)
        h[i] = SUM3(AT(pose->R[3 * i]), x, AT(pose->R[3 * i + 1]), y, AT(pose->R[3 * i + 2]), z);
}

static INLINE void VARIANT(add_still)(const lwi_k_body *k, int kl, ART *M, real h[3])
{
    const real own[3] = {K(k->h[0]), K(k->h[1]), K(k->h[2])};
    const real J[6] = {K(k->J[0]), K(k->J[1]), K(k->pivot), K(k->J[3]), K(k->J[4]), K(k->J[5])};
    VARIANT(add_rigid)(M, K(k->m), own, J);
    for (int i = 0; i < 3; i++) h[i] += K(k->first_moment[i]);
}

static INLINE void VARIANT(keep_first_moment)(lwi_k_momentum *keep, int l, const ART *M,
                                              const real h[3])
{
    for (int i = 0; i < 5; i++) AT(keep->D[i]) = M->p[i];
    for (int i = 0; i < 3; i++) AT(keep->h[i]) = h[i];
}

// Stores the input of momenta_hinge.
static INLINE void VARIANT(keep_differences)(lwi_k_momentum *keep, int l, const ART *M,
                                             const real diff[4], const real h[3])
{
    AT(keep->A[0]) = diff[0], AT(keep->A[3]) = M->A[3];
    AT(keep->A[4]) = M->A[4], AT(keep->A[5]) = M->A[5];
    AT(keep->B[0]) = diff[1], AT(keep->B[1]) = diff[2];
    AT(keep->B[6]) = M->B[6], AT(keep->B[7]) = M->B[7];
    AT(keep->C[0]) = diff[3], AT(keep->C[3]) = M->C[3];
    AT(keep->D[0]) = M->p[0], AT(keep->D[1]) = M->p[1];
    AT(keep->D[3]) = M->p[3], AT(keep->D[4]) = M->p[4];
    AT(keep->h[0]) = h[0], AT(keep->h[1]) = h[1];
}

// Transforms M', D' and h of a hinge to the parent's frame.
static INLINE void VARIANT(pass_momentum)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                          int l, const lwi_k_step *step, const real diff[4], ART *M,
                                          real h[3])
{
    if (step->last) {
        const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
        VARIANT(pass_axis)(k, kl, pose, l, diff, M);
        TURN_VECTOR(theta, h[0], h[1]);
        h[1] = DIFF(K(k->ca), h[1], K(k->sa), h[2]);
        return;
    }
#define PASS(shape)                                                                                \
    VARIANT(pass_hinge)(k, kl, pose, l, shape, diff, M);                                           \
    VARIANT(pass_first_moment)(k, kl, pose, l, shape, h);
    OF_EVERY_SHAPE(step->shape, PASS)
#undef PASS
}

static INLINE void VARIANT(reduce_momentum)(const lwi_k_pose *pose, lwi_k_pivot *pivot, int l,
                                            ART *M)
{
    real U[5];
    const real p = AT(pose->v), left = p - M->p[5], Di = 1 / M->C[2];
    VARIANT(eliminate_hinge)(pivot, l, Di, M, U);
    const real y = left * Di;
    AT(pivot->y) = y;
    for (int i = 0; i < 5; i++) MORE(M->p[i], U[i], y);
    M->p[5] = p;
}

// The same with a rotor.
static INLINE void VARIANT(reduce_momentum_rotor)(const lwi_k_screw *k, int kl,
                                                  const lwi_k_pose *pose, lwi_k_pivot *pivot, int l,
                                                  ART *M)
{
    real U[5];
    const real rotor = K(k->rotor), p = AT(pose->v), left = p - M->p[5];
    const real Di = 1 / (M->C[2] + rotor);
    VARIANT(eliminate_hinge)(pivot, l, Di, M, U);
    const real y = left * Di;
    AT(pivot->y) = y;
    for (int i = 0; i < 5; i++) MORE(M->p[i], U[i], y);
    M->p[5] = NMAD(rotor, y, p);
    VARIANT(keep_rotor)(rotor, Di, M);
}

// The same where the motion of some lanes is prescribed (bodies.inl): p is the speed there.
static INLINE void VARIANT(reduce_momentum_driven)(const lwi_k_screw *k, int kl,
                                                   const lwi_k_pose *pose, lwi_k_pivot *pivot,
                                                   lwi_k_driven *keep, int l, ART *M)
{
    real U[5], Di;
    VARIANT(keep_driven_hinge)(keep, l, M);
    const real p = AT(pose->v), D = M->C[2], p5 = M->p[5];
    const real y = VARIANT(eliminate_driven)(k, kl, pivot, l, p, M, U, &Di);
    const real driven = K(k->driven), free = 1 - driven;
    for (int i = 0; i < 5; i++) MORE(M->p[i], U[i], y);
    M->p[5] = NMAD(free * K(k->rotor), y, free * p) + driven * MAD(D, y, p5);
}

static INLINE void VARIANT(hinge_momentum)(const VARIANT(hinge) * of, const lwi_k_step *step,
                                           ART *M, real h[3])
{
    const int l = (int)of->l, kl = (int)of->kl;
    real diff[4];
    VARIANT(add_still)(of->body, kl, M, h);
    if (step->shape & LWI_K_ROTOR)
        VARIANT(reduce_momentum_rotor)(of->k, kl, of->pose, of->pivot, l, M);
    else
        VARIANT(reduce_momentum)(of->pose, of->pivot, l, M);
    VARIANT(differences)(M, diff);
    VARIANT(keep_differences)(of->momentum, l, M, diff, h);
    VARIANT(pass_momentum)(of->k, kl, of->pose, l, step, diff, M, h);
}

// The same where the motion of some lanes is prescribed.
static inline void VARIANT(driven_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                            const lwi_k_step *step, int half, ART *all, real h[3])
{
    const int slot = step->slot;
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = lwi_k_block(slot);
    const lwi_k_screw *k = &plan->screw[at];
    const lwi_k_pose *pose = &state->pose[n];
    ART M = *all;
    real diff[4];
    VARIANT(add_still)(&plan->body[at], kl, &M, h);
    VARIANT(reduce_momentum_driven)(k, kl, pose, &state->pivot[n], &state->driven[n], l, &M);
    VARIANT(differences)(&M, diff);
    VARIANT(keep_differences)(&state->momentum[n], l, &M, diff, h);
#define PASS(shape)                                                                                \
    VARIANT(pass_rotor)(k, kl, VARIANT(theta)(pose, l), shape, diff, &M);                          \
    VARIANT(pass_first_moment)(k, kl, pose, l, shape, h);
    OF_ROTOR_SHAPE(step->shape, PASS)
#undef PASS
    *all = M;
}

// A hinge of a leaf body: M' is constant, only D is computed.
static inline void VARIANT(tip_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                         const lwi_k_step *step, int half, ART *M, real h[3])
{
    const int slot = step->slot;
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = lwi_k_block(slot);
    const lwi_k_tip *tip = &plan->tip[step->leaf / LWI_LANES];
    const lwi_k_body *body = &plan->body[at];
    lwi_k_momentum *keep = &state->momentum[n];
    real U[5], Di;
    VARIANT(tip_constants)(tip, KLANE(step->leaf), M, U, &Di);
    for (int i = 0; i < 3; i++) h[i] = K(body->first_moment[i]);
    const real p = AT(state->pose[n].v), y = p * Di;
    AT(state->pivot[n].y) = y;
    for (int i = 0; i < 5; i++) M->p[i] = i == 2 ? ZERO : U[i] * y;
    M->p[5] = p;
    if (step->shape & LWI_K_ROTOR) LESS(M->p[5], K(plan->screw[at].rotor), y);
    AT(keep->D[0]) = M->p[0], AT(keep->D[1]) = M->p[1];
    AT(keep->D[3]) = M->p[3], AT(keep->D[4]) = M->p[4];
    const real diff[4] = {AT(keep->A[0]), AT(keep->B[0]), AT(keep->B[1]), AT(keep->C[0])};
    VARIANT(pass_momentum)
    (&plan->screw[at], kl, &state->pose[n], l, step, diff, M, h);
}

// A hinge on the ground: V = S u and M'S = 0, so pdot is due to gravity only.
static inline void VARIANT(root_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                          const lwi_k_step *step, int half, const ART *M,
                                          const real h[3])
{
    const int slot = step->slot;
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot);
    const lwi_k_body *body = &plan->body[lwi_k_block(slot)];
    lwi_k_momentum *keep = &state->momentum[n];
    VARIANT(root_pivot)
    (body, &plan->screw[lwi_k_block(slot)], kl, &state->pivot[n], l, M,
     AT(state->pose[n].v) - M->p[5]);
    AT(keep->h[0]) = h[0] + K(body->first_moment[0]);
    AT(keep->h[1]) = h[1] + K(body->first_moment[1]);
    if (!step->drives) return;
    const lwi_k_screw *k = &plan->screw[lwi_k_block(slot)];
    ART own = *M; // only zz of C and n_z are needed, and may be known: V is along the axis
    own.C[2] += K(body->pivot);
    VARIANT(keep_driven_hinge)(&state->driven[n], l, &own);
    VARIANT(root_driven)(k, kl, &state->pivot[n], l, AT(state->pose[n].v));
}

static inline void VARIANT(screw_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                           const lwi_k_step *step, int half, ART *M, real h[3])
{
    const int slot = step->slot;
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = lwi_k_block(slot);
    const lwi_k_screw *k = &plan->screw[at];
    const lwi_k_pose *pose = &state->pose[n];
    lwi_k_momentum *keep = &state->momentum[n];
    real U[6], Di;
    VARIANT(add_still)(&plan->body[at], kl, M, h);
    if (step->drives) VARIANT(keep_driven)(k, kl, &state->driven[n], l, M);
    VARIANT(eliminate_screw)(k, kl, &state->pivot[n], l, M, U, &Di);
    const real p = AT(pose->v); // or the prescribed speed
    const real y = MAD(K(k->driven), p, (p - SUM2(K(k->slide), M->p[2], K(k->turn), M->p[5])) * Di);
    AT(state->pivot[n].y) = y;
    for (int i = 0; i < 6; i++) MORE(M->p[i], U[i], y);
    VARIANT(keep_first_moment)(keep, l, M, h);
    for (int i = 0; i < 6; i++) AT(keep->A[i]) = M->A[i];
    for (int i = 0; i < 9; i++) AT(keep->B[i]) = M->B[i];
    for (int i = 0; i < 6; i++) AT(keep->C[i]) = M->C[i];
    VARIANT(pass_screw)(k, kl, pose, l, M);
    MORE(h[2], K(plan->body[at].beyond),
         AT(pose->d) - K(k->shift)); // the variable part of d
    VARIANT(pass_first_moment)(k, kl, pose, l, LWI_K_ANY, h);
}

static inline void VARIANT(ball_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                          int slot, int half, ART *M, real h[3])
{
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = lwi_k_block(slot);
    const int ball = n - BLOCK(plan->first_ball);
    const lwi_k_ball_joint *joint = &state->ball_joint[ball];
    lwi_k_momentum *keep = &state->momentum[n];
    const real p[3] = {AT(joint->v[3]), AT(joint->v[4]), AT(joint->v[5])};
    VARIANT(add_still)(&plan->body[at], kl, M, h);
    VARIANT(eliminate_ball)(p, &state->ball_pivot[ball], l, M);
    VARIANT(keep_first_moment)(keep, l, M, h);
    for (int i = 0; i < 6; i++) AT(keep->A[i]) = M->A[i];
    VARIANT(pass_ball)(&state->ball_pose[ball], l, M);
    VARIANT(ball_first_moment)(&state->ball_pose[ball], l, h);
}

// Floating base: P* = p, V = M^-1 (p - D).
static inline mask VARIANT(base_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                          int slot, int half, ART *M, real h[3])
{
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = lwi_k_block(slot);
    const lwi_k_ball_joint *joint = &state->ball_joint[n - BLOCK(plan->first_ball)];
    real x[6];
    VARIANT(add_still)(&plan->body[at], kl, M, h);
    for (int i = 0; i < 6; i++) x[i] = AT(joint->v[i]) - M->p[i];
    const mask valid = VARIANT(solve_base)(M, x);
    VARIANT(keep_first_moment)(&state->momentum[n], l, M, h);
    for (int i = 0; i < 6; i++) AT(state->motion[n].A[i]) = x[i];
    return valid;
}

static int VARIANT(hinges_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state, int i,
                                    int half, ART *all, real sum[3])
{
    ART M = *all;
    real h[3] = {sum[0], sum[1], sum[2]};
    const lwi_k_step *step = &plan->step[i];
    VARIANT(hinge) of = VARIANT(hinge_at)(plan, state, step->slot, half);
    for (;; step--) {
        VARIANT(hinge_momentum)(&of, step, &M, h);
        if (!step->on) break;
        VARIANT(move)(&of, step->stride, -1);
    }
    *all = M;
    for (int j = 0; j < 3; j++) sum[j] = h[j];
    return (int)(step - plan->step);
}

static int VARIANT(step_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state, int i,
                                  int half, ART *M, real h[3], mask *valid)
{
    const lwi_k_step *step = &plan->step[i];
    if (step->leaf >= 0) {
        VARIANT(tip_momentum)(plan, state, step, half, M, h);
        return step->on ? VARIANT(hinges_momentum)(plan, state, i - 1, half, M, h) : i;
    }
    if (step->tip) {
        VARIANT(clear)(M);
        h[0] = h[1] = h[2] = ZERO;
    }
    if (step->fetch >= 0) {
        const lwi_k_art *art = &state->art[BLOCK(step->fetch)];
        const int o = LANE(step->fetch);
        VARIANT(fetch)(art, o, M);
        for (int j = 0; j < 3; j++) h[j] += AT_LANE(art->h[j], o);
    }
    if (step->kind == LWI_K_SCREW)
        VARIANT(screw_momentum)(plan, state, step, half, M, h);
    else if (step->kind == LWI_K_BALL)
        VARIANT(ball_momentum)(plan, state, step->slot, half, M, h);
    else if (step->kind == LWI_K_BASE)
        *valid &= VARIANT(base_momentum)(plan, state, step->slot, half, M, h);
    else if (step->parent < 0)
        VARIANT(root_momentum)(plan, state, step, half, M, h);
    else if (step->drives)
        VARIANT(driven_momentum)(plan, state, step, half, M, h);
    else
        i = VARIANT(hinges_momentum)(plan, state, i, half, M, h);
    return i;
}

static INLINE void VARIANT(turn_momentum)(const lwi_kernel_plan *plan, const lwi_k_step *step,
                                          int half, ART *M, real h[3])
{
    VARIANT(turn_branch)(plan, step, half, M);
    if (step->realigned && step->parent >= 0) {
        const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
        const int kl = KLANE(step->slot);
        const VARIANT(turn) phi = {.c = K(k->cphi), .s = K(k->sphi)};
        TURN_VECTOR(phi, h[0], h[1]);
    }
}

#if SHARED || WIDTH == 1
static void VARIANT(leave_momentum)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                    const lwi_k_step *step, int half, ART *M, real h[3])
{
    VARIANT(turn_momentum)(plan, step, half, M, h);
    if (step->park < 0) return;
    const int l = LANE(step->park);
    lwi_k_art *art = &state->art[BLOCK(step->park)];
    VARIANT(park)(art, l, M, step->first);
    for (int j = 0; j < 3; j++) {
        real total = h[j];
        if (!step->first) total += AT(art->h[j]);
        AT(art->h[j]) = total;
    }
}

static mask VARIANT(momenta_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                    int first, int end, int half)
{
    ART M;
    real h[3] = {ZERO, ZERO, ZERO};
    mask valid = ~NAME(bits)(ZERO);
    VARIANT(clear)(&M);
    for (int i = end - 1; i >= first; i--) {
        i = VARIANT(step_momentum)(plan, state, i, half, &M, h, &valid);
        VARIANT(leave_momentum)(plan, state, &plan->step[i], half, &M, h);
    }
    return valid;
}
#endif

// V and gravity of a hinge from those of its parent: V_z = y - g . V, and u = V_z minus the parent's.
static INLINE void VARIANT(hinge_speed)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                        const lwi_k_pivot *pivot, lwi_k_motion *motion, int l,
                                        real y, int shape, real V[6], real g[3])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    VARIANT(carry)(k, kl, K(k->shift), shape, V);
    VARIANT(to_hinge)(k, kl, theta, shape, g);
    const real z = V[5];
    if (shape & LWI_K_ROTOR) MORE(y, K(k->rotor) * AT(pivot->Di), z);
    TURN_BACK_Y(theta, V[0], V[1]);
    TURN_BACK_Y(theta, V[3], V[4]);
    V[5] = VARIANT(along_hinge)(pivot, l, y, shape, V);
    AT(motion->vdot) = V[5] - z;
}

static INLINE void VARIANT(speed_of_screws)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                            const lwi_k_step *step, int half, real V[6], real g[3])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
    const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
    const lwi_k_pose *pose = &state->pose[n];
    const lwi_k_pivot *pivot = &state->pivot[n];
    lwi_k_motion *motion = &state->motion[n];
    if (step->kind == LWI_K_HINGE && step->parent < 0) {
        const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
        for (int j = 0; j < 3; j++) g[j] = K(k->minus_gravity[j]);
        TURN_BACK_Y(theta, g[0], g[1]);
        AT(motion->vdot) = V[5] = AT(pivot->y);
        return;
    }
    if (step->realigned) {
        VARIANT(turn_parent)(k, kl, V);
        VARIANT(turn_vector)(k, kl, g);
    }
    if (step->kind == LWI_K_SCREW) {
        const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
        VARIANT(carry)(k, kl, AT(pose->d), LWI_K_ANY, V);
        TURN_BACK_Y(theta, V[0], V[1]);
        TURN_BACK_Y(theta, V[3], V[4]);
        VARIANT(to_hinge)(k, kl, theta, LWI_K_ANY, g);
        const real u = VARIANT(along_screw)(pivot, l, V);
        MORE(V[2], K(k->slide), u);
        MORE(V[5], K(k->turn), u);
        AT(motion->vdot) = u;
    } else {
#define SPEED(shape) VARIANT(hinge_speed)(k, kl, pose, pivot, motion, l, AT(pivot->y), shape, V, g);
        OF_EVERY_SHAPE(step->shape, SPEED)
#undef SPEED
    }
}

static inline void VARIANT(speed_of_balls)(const lwi_k_state *state, const lwi_k_step *step,
                                           int ball, int n, int l, real V[6], real g[3])
{
    const lwi_k_ball_pose *pose = &state->ball_pose[ball];
    lwi_k_ball_pivot *pivot = &state->ball_pivot[ball];
    const real r[3] = {AT(pose->r[0]), AT(pose->r[1]), AT(pose->r[2])};
    real x[6], c[3];
    VARIANT(to_body)(pose, l, g, c);
    for (int j = 0; j < 3; j++) g[j] = c[j];
    if (step->kind == LWI_K_BASE) {
        for (int j = 0; j < 6; j++) V[j] = AT(pivot->vdot[j]) = AT(state->motion[n].A[j]);
        return;
    }
    CROSS(c, V + 3, r);
    for (int j = 0; j < 3; j++) c[j] += V[j];
    VARIANT(to_body)(pose, l, c, x);
    VARIANT(to_body)(pose, l, V + 3, x + 3);
    for (int j = 0; j < 3; j++) { // w = y - Z v
        V[j] = x[j];
        V[3 + j] = AT(pivot->y[j]) - SUM3(AT(pivot->Z[3 * j]), x[0], AT(pivot->Z[3 * j + 1]), x[1],
                                          AT(pivot->Z[3 * j + 2]), x[2]);
        AT(pivot->vdot[3 + j]) = V[3 + j] - x[3 + j];
    }
}

static INLINE void VARIANT(keep_speed)(lwi_k_motion *motion, lwi_k_momentum *momentum, ptrdiff_t l,
                                       const real V[6], const real g[3])
{
    for (int j = 0; j < 6; j++) AT(motion->A[j]) = V[j];
    for (int j = 0; j < 3; j++) AT(momentum->g[j]) = g[j];
}

// V and gravity of a body; the speeds of screws go to motion.vdot, those of balls to ball_pivot.vdot.
static INLINE void VARIANT(step_speed)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                       const lwi_k_step *step, int half, real V[6], real g[3])
{
    const int n = BLOCK(step->slot), l = LANE(step->slot), ball = n - BLOCK(plan->first_ball);
    if (ball < 0)
        VARIANT(speed_of_screws)(plan, state, step, half, V, g);
    else
        VARIANT(speed_of_balls)(state, step, ball, n, l, V, g);
    VARIANT(keep_speed)(&state->motion[n], &state->momentum[n], l, V, g);
}

// Steps i ... end - 1 as long as they continue the run of step i - 1, from its V and gravity; returns the first other one.
static INLINE int VARIANT(hinges_speed)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                        int i, int end, int half, real V[6], real g[3])
{
    const lwi_k_step *step = &plan->step[i], *stop = &plan->step[end];
    if (step == stop || !step->stride) return i;
    VARIANT(hinge) of = VARIANT(hinge_at)(plan, state, step[-1].slot, half);
    for (; step < stop && step->stride; step++) {
        VARIANT(move)(&of, step->stride, 1);
        const int l = (int)of.l;
#define SPEED(shape)                                                                               \
    VARIANT(hinge_speed)                                                                           \
    (of.k, (int)of.kl, of.pose, of.pivot, of.motion, l, AT(of.pivot->y), shape, V, g);
        OF_EVERY_SHAPE(step->shape, SPEED)
#undef SPEED
        VARIANT(keep_speed)(of.motion, of.momentum, l, V, g);
    }
    return (int)(step - plan->step);
}

#if SHARED || WIDTH == 1
static void VARIANT(momenta_outward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                     int first, int end, int half)
{
    real V[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO}, g[3] = {ZERO, ZERO, ZERO};
    int last = -1;
    for (int i = first; i < end;) {
        const lwi_k_step *step = &plan->step[i];
        if (step->parent < 0) {
            for (int j = 0; j < 3; j++) {
                V[j] = V[3 + j] = ZERO;
                g[j] = NAME(splat)(plan->gravity[j]);
            }
        } else if (step->parent != last) {
            const int b = BLOCK(step->parent), o = LANE(step->parent);
            for (int j = 0; j < 6; j++) V[j] = AT_LANE(state->motion[b].A[j], o);
            for (int j = 0; j < 3; j++) g[j] = AT_LANE(state->momentum[b].g[j], o);
        }
        VARIANT(step_speed)(plan, state, step, half, V, g);
        i = VARIANT(hinges_speed)(plan, state, i + 1, end, half, V, g);
        last = plan->step[i - 1].slot;
    }
}
#endif
