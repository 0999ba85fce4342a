// phases.inl -- computations per body without recursion: pose, bias, pivots, momentum rates.
//
// Problem: the terms of the recursions (bodies.inl, momenta.inl) that depend on one body only; each
// function states its equation.
// Input and output: blocks of the state, WIDTH lanes from lane `l` on; constants from lane `kl` on,
// or of lane kl for all lanes (SHARED).  Cost: constant per body.

// -------------------------------------------------------------------------------------------- pose

// theta and d of a screw; returns the lanes with a valid angle.
static inline mask VARIANT(pose_screw)(const lwi_k_screw *k, int kl, const lwi_k_joint *joint,
                                       lwi_k_pose *pose, bool hinge, bool forward, int l)
{
    const real sign = K(k->sign);
    real q = AT(joint->q), v = AT(joint->v), tau = AT(joint->tau), c, s;
    if (!forward) q *= sign, v *= sign, tau *= sign;
    real theta = K(k->angle), d = K(k->shift);
    if (hinge) {
        theta += q;
    } else {
        MORE(theta, K(k->turn), q);
        MORE(d, K(k->slide), q);
    }
    NAME(sincos)(theta, &s, &c);
    const real cs = c * s, ss = s * s;
    AT(pose->c) = c;
    AT(pose->s) = s;
    AT(pose->cs) = cs;
    AT(pose->ss) = ss;
    AT(pose->c2) = 1 - (ss + ss);
    AT(pose->s2) = cs + cs;
    AT(pose->d) = d;
    AT(pose->v) = v;
    AT(pose->tau) = tau;
    return NAME(at_most)(NAME(absolute)(theta), NAME(splat)(LWI_K_LARGEST_ANGLE));
}

// R = R_F1 R(quaternion) of a ball or base.  The quaternion's length is arbitrary; returns the lanes in
// which it is large enough.
static inline mask VARIANT(pose_ball)(const lwi_k_ball *k, int kl, const lwi_k_ball_joint *joint,
                                      lwi_k_ball_pose *pose, int l)
{
    const real w = AT(joint->q[0]), x = AT(joint->q[1]), y = AT(joint->q[2]), z = AT(joint->q[3]);
    const real n = SUM2(w, w, x, x) + SUM2(y, y, z, z), f = 2 / n;
    const real Q[9] = {1 - f * (y * y + z * z), f * (x * y - w * z),     f * (x * z + w * y),
                       f * (x * y + w * z),     1 - f * (x * x + z * z), f * (y * z - w * x),
                       f * (x * z - w * y),     f * (y * z + w * x),     1 - f * (x * x + y * y)};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            AT(pose->R[3 * i + j]) = SUM3(K(k->R[3 * i]), Q[j], K(k->R[3 * i + 1]), Q[3 + j],
                                          K(k->R[3 * i + 2]), Q[6 + j]);
        AT(pose->r[i]) = K(k->r[i]);
    }
    return NAME(at_most)(NAME(splat)(LWI_K_MIN_NORM), n);
}

// -------------------------------------------------------------------------------------------- bias

// c = a x b
#define CROSS(c, a, b)                                                                             \
    ((c)[0] = DIFF((a)[1], (b)[2], (a)[2], (b)[1]), (c)[1] = DIFF((a)[2], (b)[0], (a)[0], (b)[2]), \
     (c)[2] = DIFF((a)[0], (b)[1], (a)[1], (b)[0]))

// Bias wrench of the body: p = [w x (w x h); w x J w].
static inline void VARIANT(bias_wrench)(const lwi_k_body *k, int kl, lwi_k_bias *bias, int l)
{
    const real w[3] = {AT(bias->w[0]), AT(bias->w[1]), AT(bias->w[2])};
    const real h[3] = {K(k->h[0]), K(k->h[1]), K(k->h[2])};
    real t[3], f[3], L[3], n[3];
    CROSS(t, w, h);
    CROSS(f, w, t);
    L[0] = SUM3(K(k->J[0]), w[0], K(k->J[3]), w[1], K(k->J[4]), w[2]);
    L[1] = SUM3(K(k->J[3]), w[0], K(k->J[1]), w[1], K(k->J[5]), w[2]);
    L[2] = SUM3(K(k->J[4]), w[0], K(k->J[5]), w[1], K(k->J[2]), w[2]);
    CROSS(n, w, L);
    for (int i = 0; i < 3; i++) {
        AT(bias->p[i]) = f[i];
        AT(bias->p[3 + i]) = n[i];
    }
}

// Bias accelerations of a screw.  With w' = w - z thetadot and r the vector from the parent's origin
// to the body's, both in body axes:
//   b = w' x (w' x r) + 2 w' x z ddot,   k = w' x z thetadot
static inline void VARIANT(bias_screw)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                       bool hinge, lwi_k_bias *bias, int l)
{
    real turning = AT(pose->v);
    if (!hinge) turning *= K(k->turn);
    const real w[3] = {AT(bias->w[0]), AT(bias->w[1]), AT(bias->w[2]) - turning};
    const real r0 = K(k->reach[0]), r1 = K(k->reach[1]), c = AT(pose->c), s = AT(pose->s);
    const real r[3] = {SUM2(c, r0, s, r1), DIFF(c, r1, s, r0), K(k->reach[2]) + AT(pose->d)};
    real t[3], b[3];
    CROSS(t, w, r);
    CROSS(b, w, t);
    if (!hinge) {
        const real sliding = K(k->slide) * AT(pose->v), twice = sliding + sliding;
        b[0] = MAD(twice, w[1], b[0]);
        b[1] = NMAD(twice, w[0], b[1]);
    }
    for (int i = 0; i < 3; i++) AT(bias->b[i]) = b[i];
    AT(bias->k[0]) = turning * w[1];
    AT(bias->k[1]) = -(turning * w[0]);
}

// The same for a ball with the relative angular velocity u: k = w' x u = w x u.
static inline void VARIANT(bias_ball)(const lwi_k_ball_joint *joint, const lwi_k_ball_pose *pose,
                                      lwi_k_bias *bias, int l)
{
    const real u[3] = {AT(joint->v[3]), AT(joint->v[4]), AT(joint->v[5])};
    const real w[3] = {AT(bias->w[0]) - u[0], AT(bias->w[1]) - u[1], AT(bias->w[2]) - u[2]};
    real r[3], t[3], b[3], c[3];
    for (int i = 0; i < 3; i++)
        r[i] = SUM3(AT(pose->R[i]), AT(pose->r[0]), AT(pose->R[3 + i]), AT(pose->r[1]),
                    AT(pose->R[6 + i]), AT(pose->r[2]));
    CROSS(t, w, r);
    CROSS(b, w, t);
    CROSS(c, w, u);
    for (int i = 0; i < 3; i++) {
        AT(bias->b[i]) = b[i];
        AT(bias->k[i]) = c[i];
    }
}

// -------------------------------------------------------------------------------------------- rows

// Whether a pivot D = 1/inverse is well conditioned.  D carries the rounding error of the inertia it is
// computed from; `diagonal` bounds that inertia along the pivot's direction, so D must be at least
// 64 epsilon diagonal.  Otherwise the generic evaluation decides (tree_state.c has the same threshold).
static inline mask VARIANT(well_posed)(real inverse, real diagonal)
{
    return NAME(at_most)(inverse * diagonal, NAME(splat)(1 / (64 * DBL_EPSILON))) &
           NAME(at_most)(NAME(splat)(0), inverse);
}

static inline mask VARIANT(pivot)(const lwi_k_pivot *pivot, int l)
{
    return VARIANT(well_posed)(AT(pivot->Di), AT(pivot->diagonal));
}

// Completes the elimination of a ball: Z := C^-1 B', y := C^-1 (tau - p_n), from Z and y scaled by i.
static inline mask VARIANT(row_ball)(lwi_k_ball_pivot *pivot, int l)
{
    const real l10 = AT(pivot->l[0]), l20 = AT(pivot->l[1]), l21 = AT(pivot->l[2]);
    for (int i = 0; i < 3; i++) {
        const real z = NMAD(l21, AT(pivot->Z[6 + i]), AT(pivot->Z[3 + i]));
        AT(pivot->Z[3 + i]) = z;
        AT(pivot->Z[i]) = NMAD(l20, AT(pivot->Z[6 + i]), NMAD(l10, z, AT(pivot->Z[i])));
    }
    const real y = NMAD(l21, AT(pivot->y[2]), AT(pivot->y[1]));
    AT(pivot->y[1]) = y;
    AT(pivot->y[0]) = NMAD(l20, AT(pivot->y[2]), NMAD(l10, y, AT(pivot->y[0])));
    return VARIANT(well_posed)(AT(pivot->i[0]), AT(pivot->diagonal)) &
           VARIANT(well_posed)(AT(pivot->i[1]), AT(pivot->diagonal)) &
           VARIANT(well_posed)(AT(pivot->i[2]), AT(pivot->diagonal));
}

// -------------------------------------------------------------------------------- rates of momenta

// pdot of a hinge.  (V x* P*)_z is invariant under rotation about z and shift along z, so it is the
// derivative of V'M'V / 2 + D'V with respect to an angle by which V is rotated.  The differences
// xx - yy etc. of A, B, C are those of the rotation of M' (keep_differences).
static inline void VARIANT(momenta_hinge)(const lwi_k_motion *motion, lwi_k_momentum *keep, int l)
{
    const real x = AT(motion->A[0]), y = AT(motion->A[1]), z = AT(motion->A[2]);
    const real wx = AT(motion->A[3]), wy = AT(motion->A[4]);
    const real linear =
        SUM2(MAD(AT(keep->A[5]), z, AT(keep->D[1])), x, MAD(AT(keep->B[7]), z, AT(keep->D[4])),
             wx) -
        SUM2(MAD(AT(keep->A[4]), z, AT(keep->D[0])), y, MAD(AT(keep->B[6]), z, AT(keep->D[3])), wy);
    // sums of squares: xx - yy and xy of v, w and both
    const real A = DIFF(DIFF(x, x, y, y), AT(keep->A[3]), AT(keep->A[0]), x * y);
    const real B = DIFF(DIFF(x, wx, y, wy), AT(keep->B[1]), AT(keep->B[0]), SUM2(x, wy, y, wx));
    const real C = DIFF(DIFF(wx, wx, wy, wy), AT(keep->C[3]), AT(keep->C[0]), wx * wy);
    const real weight = DIFF(AT(keep->h[0]), AT(keep->g[1]), AT(keep->h[1]), AT(keep->g[0]));
    AT(keep->pdot[0]) = weight - ((linear + A) + (B + C));
}

// Correction for a rotor: the part M'_z v_z of P* = M'v + D', M'_z = rotor g, which momenta_hinge
// omits.
static inline void VARIANT(momenta_rotor)(const lwi_k_screw *k, int kl, const lwi_k_pivot *pivot,
                                          const lwi_k_motion *motion, lwi_k_momentum *keep, int l)
{
    const real z = AT(motion->A[5]) - AT(motion->vdot);
    const real crossed =
        DIFF(AT(motion->A[3]), AT(pivot->g[4]), AT(motion->A[4]), AT(pivot->g[3])) +
        DIFF(AT(motion->A[0]), AT(pivot->g[1]), AT(motion->A[1]), AT(pivot->g[0]));
    AT(keep->pdot[0]) = NMAD(K(k->rotor) * z, crossed, AT(keep->pdot[0]));
}

// pdot of a screw: [f; n] = [m g; h x g] - V x* P* along z; only the components of P* normal to z
// enter.  With a rotor P* = M'v + D', v = V - S u.
static inline void VARIANT(momenta_screw)(const lwi_k_body *kb, const lwi_k_screw *k, int kl,
                                          const lwi_k_motion *motion, lwi_k_momentum *keep,
                                          bool rotors, int l)
{
    real V[6];
    for (int i = 0; i < 6; i++) V[i] = AT(motion->A[i]);
    if (rotors) { // or prescribed motions: M'S is not zero
        LESS(V[2], K(k->slide), AT(motion->vdot));
        LESS(V[5], K(k->turn), AT(motion->vdot));
    }
    const real fx = (SUM2(AT(keep->A[0]), V[0], AT(keep->A[3]), V[1]) +
                     SUM2(AT(keep->A[4]), V[2], AT(keep->B[0]), V[3])) +
                    (SUM2(AT(keep->B[1]), V[4], AT(keep->B[2]), V[5]) + AT(keep->D[0]));
    const real fy = (SUM2(AT(keep->A[3]), V[0], AT(keep->A[1]), V[1]) +
                     SUM2(AT(keep->A[5]), V[2], AT(keep->B[3]), V[3])) +
                    (SUM2(AT(keep->B[4]), V[4], AT(keep->B[5]), V[5]) + AT(keep->D[1]));
    const real nx = (SUM2(AT(keep->B[0]), V[0], AT(keep->B[3]), V[1]) +
                     SUM2(AT(keep->B[6]), V[2], AT(keep->C[0]), V[3])) +
                    (SUM2(AT(keep->C[3]), V[4], AT(keep->C[4]), V[5]) + AT(keep->D[3]));
    const real ny = (SUM2(AT(keep->B[1]), V[0], AT(keep->B[4]), V[1]) +
                     SUM2(AT(keep->B[7]), V[2], AT(keep->C[3]), V[3])) +
                    (SUM2(AT(keep->C[1]), V[4], AT(keep->C[5]), V[5]) + AT(keep->D[4]));
    const real f = MAD(K(kb->beyond), AT(keep->g[2]), DIFF(V[4], fx, V[3], fy));
    const real n = DIFF(AT(keep->h[0]), AT(keep->g[1]), AT(keep->h[1]), AT(keep->g[0])) -
                   (DIFF(V[3], ny, V[4], nx) + DIFF(V[0], fy, V[1], fx));
    AT(keep->pdot[0]) = SUM2(K(k->slide), f, K(k->turn), n);
}

// pdot of a ball, where n of P* is the joint momentum, and of a base, where all of P* is.
static inline void VARIANT(momenta_ball)(const lwi_k_body *kb, int kl,
                                         const lwi_k_ball_joint *joint, const lwi_k_motion *motion,
                                         lwi_k_momentum *keep, bool base, int l)
{
    real V[6], f[3], n[3], h[3], g[3], a[3], b[3], c[3];
    for (int i = 0; i < 6; i++) V[i] = AT(motion->A[i]);
    for (int i = 0; i < 3; i++) {
        f[i] = AT(joint->v[i]);
        n[i] = AT(joint->v[3 + i]);
        h[i] = AT(keep->h[i]);
        g[i] = AT(keep->g[i]);
    }
    if (!base) {
        f[0] = SUM2(AT(keep->A[0]), V[0], AT(keep->A[3]), V[1]) +
               MAD(AT(keep->A[4]), V[2], AT(keep->D[0]));
        f[1] = SUM2(AT(keep->A[3]), V[0], AT(keep->A[1]), V[1]) +
               MAD(AT(keep->A[5]), V[2], AT(keep->D[1]));
        f[2] = SUM2(AT(keep->A[4]), V[0], AT(keep->A[5]), V[1]) +
               MAD(AT(keep->A[2]), V[2], AT(keep->D[2]));
    }
    CROSS(a, V + 3, n);
    CROSS(b, V, f);
    CROSS(c, h, g);
    for (int i = 0; i < 3; i++) AT(keep->pdot[3 + i]) = c[i] - (a[i] + b[i]);
    CROSS(a, f, V + 3);
    for (int i = 0; i < 3; i++) AT(keep->pdot[i]) = MAD(K(kb->beyond), g[i], a[i]);
}
