// momenta.inl -- speeds and rates of joint momenta over a tree                      [naudet2003]
//
// The momentum of a body with everything beyond it is P* = M V + D; p = S'P* are the joint momenta.
// Numbers (n) are the paper's, symbols those of src/formulation/momenta.c.
//
//   inward    U = M S,  y = (p - S'D)/(S'U),  M' = M - U U'/(S'U),  D' = D + U y     (46)-(48)
//             parent:  M += X'M'X,  D += X'D'                                        (43), (44)
//   outward   u = y - g . X V_parent,  V = X V_parent + S u                              (45)
//   rates     P* = M'V + D',  pdot = S'(T* - V x* P*)                              (42), (35)
//
// The inward sweep is that of accelerations without bias, the outward one as well, and M'V = M'v
// because M'S = 0.  T* is gravity alone (joint efforts are the caller's to add): a subtree of mass
// m and first moment h feels [m g; h x g], so that h, summed on the way in, is all that is needed.
// The rates have no recursion in them.

// h := R h + m r of a screw
static INLINE void TEXT(pass_moment)(const lwi_k_pose *pose, int l, real m, real h[3])
{
    const real x = h[0], y = h[1], z = h[2];
    for (int i = 0; i < 3; i++)
        h[i] = SUM2(AT(pose->R[3 * i]), x, AT(pose->R[3 * i + 1]), y) +
               SUM2(AT(pose->R[3 * i + 2]), z, m, AT(pose->r[i]));
}

static INLINE void TEXT(add_still)(const lwi_k_body *k, int kl, ART *M, real h[3])
{
    const real own[3] = {K(k->h[0]), K(k->h[1]), K(k->h[2])};
    const real J[6] = {K(k->J[0]), K(k->J[1]), K(k->J[2]), K(k->J[3]), K(k->J[4]), K(k->J[5])};
    TEXT(add_rigid)(M, K(k->m), own, J);
    for (int i = 0; i < 3; i++) h[i] += own[i];
}

static INLINE void TEXT(keep_moment)(lwi_k_momentum *keep, int l, const ART *M, const real h[3])
{
    for (int i = 0; i < 5; i++) AT(keep->D[i]) = M->p[i];
    for (int i = 0; i < 3; i++) AT(keep->h[i]) = h[i];
}

static INLINE void TEXT(hinge_momentum)(const lwi_plan *plan, const lwi_k_state *state, int slot,
                                        int half, bool root, ART *M, real h[3])
{
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = slot / LWI_LANES;
    const lwi_k_pose *pose = &state->pose[n];
    lwi_k_momentum *keep = &state->momentum[n];
    real U[5], Di;
    (void)half;
    TEXT(add_still)(&plan->body[at], kl, M, h);
    const real p = AT(pose->v), left = p - M->p[5];
    TEXT(eliminate_hinge)(&plan->body[at], kl, &state->pivot[n], l, M, U, &Di);
    const real y = left * Di;
    AT(state->pivot[n].y) = y;
    for (int i = 0; i < 5; i++) MORE(M->p[i], U[i], y);
    M->p[5] = p;
    TEXT(keep_moment)(keep, l, M, h);
    for (int i = 0; i < 6; i++) AT(keep->A[i]) = M->A[i]; // its z columns of B and C stay zero
    AT(keep->B[0]) = M->B[0], AT(keep->B[1]) = M->B[1];
    AT(keep->B[3]) = M->B[3], AT(keep->B[4]) = M->B[4];
    AT(keep->B[6]) = M->B[6], AT(keep->B[7]) = M->B[7];
    AT(keep->C[0]) = M->C[0], AT(keep->C[1]) = M->C[1], AT(keep->C[3]) = M->C[3];
    if (root) return;
    TEXT(pass_hinge)(&plan->screw[at], kl, pose, l, M);
    TEXT(pass_moment)(pose, l, K(plan->body[at].beyond), h);
}

static inline void TEXT(screw_momentum)(const lwi_plan *plan, const lwi_k_state *state, int slot,
                                        int half, ART *M, real h[3])
{
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = slot / LWI_LANES;
    const lwi_k_screw *k = &plan->screw[at];
    const lwi_k_pose *pose = &state->pose[n];
    lwi_k_momentum *keep = &state->momentum[n];
    real U[6], Di;
    (void)half;
    TEXT(add_still)(&plan->body[at], kl, M, h);
    TEXT(eliminate_screw)(&plan->body[at], k, kl, &state->pivot[n], l, M, U, &Di);
    const real y = (AT(pose->v) - SUM2(K(k->slide), M->p[2], K(k->turn), M->p[5])) * Di;
    AT(state->pivot[n].y) = y;
    for (int i = 0; i < 6; i++) MORE(M->p[i], U[i], y);
    TEXT(keep_moment)(keep, l, M, h);
    for (int i = 0; i < 6; i++) AT(keep->A[i]) = M->A[i];
    for (int i = 0; i < 9; i++) AT(keep->B[i]) = M->B[i];
    for (int i = 0; i < 6; i++) AT(keep->C[i]) = M->C[i];
    TEXT(pass_screw)(k, kl, pose, l, M);
    TEXT(pass_moment)(pose, l, K(plan->body[at].beyond), h);
}

static inline void TEXT(ball_momentum)(const lwi_plan *plan, const lwi_k_state *state, int slot,
                                       int half, ART *M, real h[3])
{
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = slot / LWI_LANES;
    const int ball = n - BLOCK(plan->first_ball);
    const lwi_k_ball_joint *joint = &state->ball_joint[ball];
    lwi_k_momentum *keep = &state->momentum[n];
    const real p[3] = {AT(joint->v[3]), AT(joint->v[4]), AT(joint->v[5])};
    (void)half;
    TEXT(add_still)(&plan->body[at], kl, M, h);
    TEXT(eliminate_ball)(p, &state->ball_pivot[ball], l, M);
    TEXT(keep_moment)(keep, l, M, h);
    for (int i = 0; i < 6; i++) AT(keep->A[i]) = M->A[i];
    TEXT(pass_ball)(&state->pose[n], l, M);
    TEXT(pass_moment)(&state->pose[n], l, K(plan->body[at].beyond), h);
}

// P* = p is given, V = M^-1 (p - D).
static inline mask TEXT(base_momentum)(const lwi_plan *plan, const lwi_k_state *state, int slot,
                                       int half, ART *M, real h[3])
{
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = slot / LWI_LANES;
    const lwi_k_ball_joint *joint = &state->ball_joint[n - BLOCK(plan->first_ball)];
    real x[6];
    (void)half;
    TEXT(add_still)(&plan->body[at], kl, M, h);
    for (int i = 0; i < 6; i++) x[i] = AT(joint->v[i]) - M->p[i];
    const mask sure = TEXT(solve_base)(M, x);
    TEXT(keep_moment)(&state->momentum[n], l, M, h);
    for (int i = 0; i < 6; i++) AT(state->motion[n].A[i]) = x[i];
    return sure;
}

static int TEXT(plain_momentum)(const lwi_plan *plan, const lwi_k_state *state, int i, int half,
                                ART *all, real sum[3])
{
    ART M = *all;
    real h[3] = {sum[0], sum[1], sum[2]};
    do TEXT(hinge_momentum)(plan, state, plan->step[i].slot, half, false, &M, h);
    while (--i >= 0 && plan->step[i].plain);
    *all = M;
    for (int j = 0; j < 3; j++) sum[j] = h[j];
    return i;
}

static mask TEXT(step_momentum)(const lwi_plan *plan, const lwi_k_state *state,
                                const lwi_k_step *step, int half, ART *M, real h[3])
{
    mask sure = ~NAME(bits)(ZERO);
    if (step->tip) {
        TEXT(clear)(M);
        h[0] = h[1] = h[2] = ZERO;
    }
    if (step->fetch >= 0) {
        lwi_k_art *art = &state->art[step->fetch];
        TEXT(fetch)(art, ART_LANE, M);
        for (int i = 0; i < 3; i++) h[i] += AT_LANE(art->h[i], ART_LANE);
    }
    if (step->kind == LWI_K_HINGE)
        TEXT(hinge_momentum)(plan, state, step->slot, half, step->parent < 0, M, h);
    else if (step->kind == LWI_K_SCREW)
        TEXT(screw_momentum)(plan, state, step->slot, half, M, h);
    else if (step->kind == LWI_K_BALL)
        TEXT(ball_momentum)(plan, state, step->slot, half, M, h);
    else
        sure = TEXT(base_momentum)(plan, state, step->slot, half, M, h);
    if (step->turned) TEXT(pass_turned)(&plan->screw[step->slot / LWI_LANES], KLANE(step->slot), M);
    if (step->park >= 0) {
        const int l = ART_LANE;
        lwi_k_art *art = &state->art[step->park];
        TEXT(park)(art, l, M, step->first);
        for (int i = 0; i < 3; i++) {
            real total = h[i];
            if (!step->first) total += AT(art->h[i]);
            AT(art->h[i]) = total;
        }
    }
    return sure;
}

static mask TEXT(momenta_inward)(const lwi_plan *plan, const lwi_k_state *state, int half)
{
    ART M;
    real h[3] = {ZERO, ZERO, ZERO};
    mask sure = ~NAME(bits)(ZERO);
    TEXT(clear)(&M);
    for (int i = plan->nstep - 1; i >= 0;) {
        if (plan->step[i].plain) {
            i = TEXT(plain_momentum)(plan, state, i, half, &M, h);
        } else {
            sure &= TEXT(step_momentum)(plan, state, &plan->step[i], half, &M, h);
            i--;
        }
    }
    return sure;
}

// V and gravity of every body, the speeds of screws in motion.vdot, of balls in ball_pivot.vdot.
static void TEXT(momenta_outward)(const lwi_plan *plan, const lwi_k_state *state, int half)
{
    real V[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO}, g[3] = {ZERO, ZERO, ZERO}, x[6], c[3];
    int last = -1;
    (void)half;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int n = BLOCK(step->slot), l = LANE(step->slot), kl = KLANE(step->slot);
        const int at = step->slot / LWI_LANES, ball = n - BLOCK(plan->first_ball);
        const lwi_k_pose *pose = &state->pose[n];
        lwi_k_motion *motion = &state->motion[n];
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
        real u = ZERO;
        if (ball < 0) {
            const lwi_k_row *row = &state->row[n];
            u = AT(row->e) - (SUM2(AT(row->t[0]), V[0], AT(row->t[1]), V[1]) +
                              SUM2(AT(row->t[2]), V[2], AT(row->t[3]), V[3]) +
                              SUM2(AT(row->t[4]), V[4], AT(row->t[5]), V[5]));
            AT(motion->vdot) = u;
        }
        const real r[3] = {AT(pose->r[0]), AT(pose->r[1]), AT(pose->r[2])};
        CROSS(c, V + 3, r);
        for (int j = 0; j < 3; j++) c[j] += V[j];
        TEXT(to_body)(pose, l, c, x);
        TEXT(to_body)(pose, l, V + 3, x + 3);
        TEXT(to_body)(pose, l, g, c);
        for (int j = 0; j < 3; j++) g[j] = c[j];
        if (step->kind == LWI_K_HINGE) {
            x[5] += u;
        } else if (step->kind == LWI_K_SCREW) {
            MORE(x[2], K(plan->screw[at].slide), u);
            MORE(x[5], K(plan->screw[at].turn), u);
        } else if (step->kind == LWI_K_BALL) {
            lwi_k_ball_pivot *pivot = &state->ball_pivot[ball];
            for (int j = 0; j < 3; j++) { // w = y - Z v
                const real w =
                    AT(pivot->y[j]) - SUM3(AT(pivot->Z[3 * j]), x[0], AT(pivot->Z[3 * j + 1]), x[1],
                                           AT(pivot->Z[3 * j + 2]), x[2]);
                AT(pivot->vdot[3 + j]) = w - x[3 + j];
                x[3 + j] = w;
            }
        } else {
            for (int j = 0; j < 6; j++) {
                x[j] = AT(motion->A[j]);
                AT(state->ball_pivot[ball].vdot[j]) = x[j];
            }
        }
        for (int j = 0; j < 6; j++) AT(motion->A[j]) = V[j] = x[j];
        for (int j = 0; j < 3; j++) AT(state->momentum[n].g[j]) = g[j];
        last = step->slot;
    }
}
