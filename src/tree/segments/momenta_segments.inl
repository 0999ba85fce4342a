// momenta_segments.inl -- speeds and rates of momenta of one long branch in segments; equations: segments.inl.
//
// Input: joint momenta p, poses.  Output: speeds, pdot without efforts.  Cost: as segments.inl.
// The sweeps are those of the accelerations without bias.  The wrench f at a cut is then the momentum P* of
// all bodies beyond it.  The rates therefore do not need M' of the whole chain, which a segment does not
// have: once all V are known, P* is summed inward from f,
//
//   P* := X'P* + I V,  n_z of it is p;  pdot = (h x g)_z - (V x* P*)_z
//
// h, mass times center of mass of the bodies beyond, is rotated by the prefix only, like gravity.

// Positions j = from ... to, inward: segment_inward without bias.
static void VARIANT(segment_momenta)(segment_positions of, int half, int from, int to)
{
    ART M;
    real h[3];
    VARIANT(clear)(&M);
    VARIANT(fetch)(&of.segment->art, half, &M);
    for (int i = 0, l = half; i < 3; i++) h[i] = AT(of.segment->art.h[i]);
    segment_positions at = at_position(of, from + 1, half);
    for (int j = from; j >= to; j--) {
        previous_position(&at);
        const int l = 0, kl = 0;
        const lwi_k_screw *k = at.screw;
        const lwi_k_pose *pose = at.pose;
        real diff[4];
        VARIANT(add_still)(at.body, kl, &M, h);
        VARIANT(reduce_momentum)(pose, at.pivot, l, &M);
        VARIANT(differences)(&M, diff);
#define PASS(shape)                                                                                \
    VARIANT(pass_hinge)(k, kl, pose, l, shape, diff, &M);                                          \
    VARIANT(pass_first_moment)(k, kl, pose, l, shape, h);
        OF_SHAPE(*at.shape, PASS)
#undef PASS
    }
    VARIANT(park)(&of.segment->art, half, &M, true);
    for (int i = 0, l = half; i < 3; i++) AT(of.segment->art.h[i]) = h[i];
}

static void VARIANT(momenta_elimination)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                         const lwi_k_state *state)
{
    const segment_positions of = positions_of(plan, stage, state);
    for (int h = 0; h < stage->segments; h += WIDTH) VARIANT(segment_clear)(of.segment, h);
    const int count = VARIANT(bodies_at_a_time)(of);
    for (int from = of.length - 1; from >= 0; from -= count) {
        const int to = from - count + 1 < 0 ? 0 : from - count + 1;
        for (int h = 0; h < stage->segments; h += WIDTH) {
            VARIANT(segment_momenta)(of, h, from, to);
            for (int i = 0; i < 6; i += VARIANT(COLUMNS))
                VARIANT(columns)(of, h, i, from, to, false);
            VARIANT(compliance)(of, h, from, to);
        }
    }
}

// V and gravity of every body, and its speed.
static mask VARIANT(segment_speeds)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                    const lwi_k_state *state, int half)
{
    segment_positions of = positions_of(plan, stage, state), at = at_position(of, 0, half);
    real V[6], f[6], g[3];
    mask valid = ~NAME(bits)(ZERO);
    for (int i = 0, l = half; i < 6; i++) {
        V[i] = AT(of.segment->A[i]);
        f[i] = AT(of.segment->f[i]);
    }
    for (int i = 0, l = half; i < 3; i++) g[i] = AT(of.segment->g[i]);
    for (int j = 0; j < of.length; j++, next_position(&at)) {
        const int l = 0, kl = 0;
        const lwi_k_screw *k = at.screw;
        const lwi_k_pivot *pivot = at.pivot;
        lwi_k_motion *motion = at.motion;
        valid &= VARIANT(well_posed)(AT(pivot->Di), AT(pivot->diagonal));
        const real y = VARIANT(less_tip)(pivot, at.row, l, f);
#define SPEED(shape) VARIANT(hinge_speed)(k, kl, at.pose, pivot, motion, l, y, shape, V, g);
        OF_SHAPE(*at.shape, SPEED)
#undef SPEED
        for (int i = 0; i < 6; i++) AT(motion->A[i]) = V[i];
        for (int i = 0; i < 3; i++) AT(at.momentum->g[i]) = g[i];
    }
    return valid;
}

// Adds I V to x, except n_z.
static INLINE void VARIANT(add_momentum)(const lwi_k_body *k, int kl, const real V[6], real x[6])
{
    const real m = K(k->m), h0 = K(k->h[0]), h1 = K(k->h[1]), h2 = K(k->h[2]);
    x[0] += MAD(m, V[0], DIFF(V[4], h2, V[5], h1));
    x[1] += MAD(m, V[1], DIFF(V[5], h0, V[3], h2));
    x[2] += MAD(m, V[2], DIFF(V[3], h1, V[4], h0));
    x[3] += SUM3(K(k->J[0]), V[3], K(k->J[3]), V[4], K(k->J[4]), V[5]) + DIFF(h1, V[2], h2, V[1]);
    x[4] += SUM3(K(k->J[3]), V[3], K(k->J[1]), V[4], K(k->J[5]), V[5]) + DIFF(h2, V[0], h0, V[2]);
}

static void VARIANT(segment_rates)(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                                   const lwi_k_state *state, int half)
{
    const segment_positions of = positions_of(plan, stage, state);
    segment_positions at = at_position(of, of.length, half);
    real x[6], h[3];
    for (int i = 0, l = half; i < 6; i++) x[i] = AT(of.segment->f[i]);
    for (int i = 0, l = half; i < 3; i++) h[i] = AT(of.segment->h[i]);
    for (int j = of.length - 1; j >= 0; j--) {
        previous_position(&at);
        const int l = 0, kl = 0;
        const lwi_k_body *body = at.body;
        const lwi_k_screw *k = at.screw;
        const lwi_k_pose *pose = at.pose;
        lwi_k_momentum *keep = at.momentum;
        real V[6];
        for (int i = 0; i < 6; i++) V[i] = AT(at.motion->A[i]);
        for (int i = 0; i < 3; i++) h[i] += K(body->first_moment[i]);
        VARIANT(add_momentum)(body, kl, V, x);
        x[5] = AT(pose->v);
        AT(keep->pdot[0]) = DIFF(h[0], AT(keep->g[1]), h[1], AT(keep->g[0])) -
                            (DIFF(V[3], x[4], V[4], x[3]) + DIFF(V[0], x[1], V[1], x[0]));
#define PASS(shape)                                                                                \
    VARIANT(pass_wrench)(k, kl, pose, l, K(k->shift), shape, x);                                   \
    VARIANT(pass_first_moment)(k, kl, pose, l, shape, h);
        OF_SHAPE(*at.shape, PASS)
#undef PASS
    }
}
