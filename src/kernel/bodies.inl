// bodies.inl -- what the recursions do at one body.
//
// A body with everything beyond it answers to an acceleration (a, al) of its frame with the wrench
// M A + p.  A = X A_parent + (b, k) + S vdot and S'F = tau give with U = M S, D = S'U
//
//   inward    g = U/D,  y = (tau - S'p)/D,  M' = M - g U',  p' = p + U y + M' (b, k)
//             parent:  M += X'M'X,  p += X'p'
//   outward   vdot = y - g . (X A_parent + (b, k))
//
// Accelerations are those of points (classical), so that neither linear velocities nor the products
// of spatial velocities appear.

// ------------------------------------------------------------------------------------------
// outward

// w = R'w_parent
static INLINE void TEXT(to_body)(const lwi_k_pose *pose, int l, const real a[3], real out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = SUM3(AT(pose->R[i]), a[0], AT(pose->R[3 + i]), a[1], AT(pose->R[6 + i]), a[2]);
}

// A of a screw from A of its parent, by its row in the parent's frame: vdot = e - t . A.  For one
// recursion: the row is ready when A comes.
static INLINE void TEXT(screw_outward)(const lwi_k_pose *pose, const lwi_k_bias *bias,
                                       const lwi_k_row *row, lwi_k_motion *motion, int l, real turn,
                                       real slide, bool hinge, real A[6])
{
    const real r0 = AT(pose->r[0]), r1 = AT(pose->r[1]), r2 = AT(pose->r[2]);
    const real a0 = A[0] + DIFF(A[4], r2, A[5], r1), a1 = A[1] + DIFF(A[5], r0, A[3], r2),
               a2 = A[2] + DIFF(A[3], r1, A[4], r0);
    const real l0 = A[3], l1 = A[4], l2 = A[5];
    const real vdot = AT(row->e) - (SUM2(AT(row->t[0]), A[0], AT(row->t[1]), A[1]) +
                                    SUM2(AT(row->t[2]), A[2], AT(row->t[3]), l0) +
                                    SUM2(AT(row->t[4]), l1, AT(row->t[5]), l2));
    for (int i = 0; i < 3; i++) {
        const real R0 = AT(pose->R[i]), R1 = AT(pose->R[3 + i]), R2 = AT(pose->R[6 + i]);
        A[i] = SUM2(R0, a0, R1, a1) + MAD(R2, a2, AT(bias->b[i]));
        A[3 + i] = MAD(R2, l2, SUM2(R0, l0, R1, l1));
        if (i < 2) A[3 + i] += AT(bias->k[i]);
    }
    if (hinge) {
        A[5] += vdot;
    } else {
        MORE(A[2], slide, vdot);
        MORE(A[5], turn, vdot);
    }
    AT(motion->vdot) = vdot;
}

// al = y - Z a, a = R'(a_parent + al_parent x r) + b; vdot = al - R'al_parent - k
static inline void TEXT(ball_outward)(const lwi_k_pose *pose, const lwi_k_bias *bias,
                                      lwi_k_ball_pivot *pivot, int l, real A[6])
{
    const real r[3] = {AT(pose->r[0]), AT(pose->r[1]), AT(pose->r[2])};
    real c[3], a[3], al[3];
    CROSS(c, A + 3, r);
    for (int i = 0; i < 3; i++) c[i] += A[i];
    TEXT(to_body)(pose, l, c, a);
    TEXT(to_body)(pose, l, A + 3, al);
    for (int i = 0; i < 3; i++) A[i] = a[i] + AT(bias->b[i]);
    for (int i = 0; i < 3; i++) {
        A[3 + i] = AT(pivot->y[i]) - SUM3(AT(pivot->Z[3 * i]), A[0], AT(pivot->Z[3 * i + 1]), A[1],
                                          AT(pivot->Z[3 * i + 2]), A[2]);
        AT(pivot->vdot[3 + i]) = A[3 + i] - (al[i] + AT(bias->k[i]));
    }
}

// -------------------------------------------------------------------------------------------
// inward

static INLINE void TEXT(add_body)(const lwi_k_body *k, int kl, const lwi_k_bias *bias, int l,
                                  ART *M)
{
    const real h[3] = {K(k->h[0]), K(k->h[1]), K(k->h[2])};
    const real J[6] = {K(k->J[0]), K(k->J[1]), K(k->J[2]), K(k->J[3]), K(k->J[4]), K(k->J[5])};
    TEXT(add_rigid)(M, K(k->m), h, J);
    for (int i = 0; i < 6; i++) M->p[i] += AT(bias->p[i]);
}

// Takes the freedom S = [0; z] out of M: M' = M - U U'/D has no row and column n_z.  Leaves U (five
// entries; the sixth is D) and g in the pivot.
static INLINE void TEXT(eliminate_hinge)(const lwi_k_body *k, int kl, lwi_k_pivot *pivot, int l,
                                         ART *M, real U[5], real *inverse)
{
    const real u0 = M->B[2], u1 = M->B[5], u2 = M->B[8], u3 = M->C[4], u4 = M->C[5];
    const real Di = 1 / (M->C[2] + K(k->pad));
    const real g0 = u0 * Di, g1 = u1 * Di, g2 = u2 * Di, g3 = u3 * Di, g4 = u4 * Di;
    AT(pivot->felt) = (M->C[0] + M->C[1]) + M->C[2];
    AT(pivot->Di) = *inverse = Di;
    AT(pivot->g[0]) = g0, AT(pivot->g[1]) = g1, AT(pivot->g[2]) = g2;
    AT(pivot->g[3]) = g3, AT(pivot->g[4]) = g4;
    U[0] = u0, U[1] = u1, U[2] = u2, U[3] = u3, U[4] = u4;
    LESS(M->A[0], g0, u0);
    LESS(M->A[1], g1, u1);
    LESS(M->A[2], g2, u2);
    LESS(M->A[3], g0, u1);
    LESS(M->A[4], g0, u2);
    LESS(M->A[5], g1, u2);
    LESS(M->B[0], g0, u3);
    LESS(M->B[3], g1, u3);
    LESS(M->B[6], g2, u3);
    LESS(M->B[1], g0, u4);
    LESS(M->B[4], g1, u4);
    LESS(M->B[7], g2, u4);
    LESS(M->C[0], g3, u3);
    LESS(M->C[3], g3, u4);
    LESS(M->C[1], g4, u4);
}

// p' = p + U y + M' (b, k); along z the joint transmits tau.
static INLINE void TEXT(reduce_hinge)(const lwi_k_body *k, int kl, const lwi_k_pose *pose,
                                      const lwi_k_bias *bias, lwi_k_pivot *pivot, int l, ART *M)
{
    real U[5], Di;
    const real left = AT(pose->tau) - M->p[5];
    TEXT(eliminate_hinge)(k, kl, pivot, l, M, U, &Di);
    const real y = left * Di;
    AT(pivot->y) = y;
    const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]);
    const real k0 = AT(bias->k[0]), k1 = AT(bias->k[1]);
#define FELT(p, q, r, s, t) MAD(t, k1, SUM2(p, b0, q, b1) + SUM2(r, b2, s, k0))
    M->p[0] += MAD(U[0], y, FELT(M->A[0], M->A[3], M->A[4], M->B[0], M->B[1]));
    M->p[1] += MAD(U[1], y, FELT(M->A[3], M->A[1], M->A[5], M->B[3], M->B[4]));
    M->p[2] += MAD(U[2], y, FELT(M->A[4], M->A[5], M->A[2], M->B[6], M->B[7]));
    M->p[3] += MAD(U[3], y, FELT(M->B[0], M->B[3], M->B[6], M->C[0], M->C[3]));
    M->p[4] += MAD(U[4], y, FELT(M->B[1], M->B[4], M->B[7], M->C[3], M->C[1]));
    M->p[5] = AT(pose->tau);
}

static INLINE void TEXT(pass_hinge)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                    ART *M)
{
    const real c = AT(pose->c), s = AT(pose->s), cs = AT(pose->cs), ss = AT(pose->ss);
    TEXT(turn_z_hollow)(M, c, s, cs, ss, AT(pose->c2), AT(pose->s2));
    TEXT(shift_z_hollow)(M, AT(pose->d));
    TEXT(turn_x_hollow)(M, K(k->ca), K(k->sa), K(k->csa), K(k->ssa), K(k->c2a), K(k->s2a));
    TEXT(shift_x)(M, K(k->a));
}

// The same of S = [slide z; turn z]: nothing of M' need be zero.
static inline void TEXT(eliminate_screw)(const lwi_k_body *kb, const lwi_k_screw *k, int kl,
                                         lwi_k_pivot *pivot, int l, ART *M, real U[6],
                                         real *inverse)
{
    const real slide = K(k->slide), turn = K(k->turn);
    real g[6];
    U[0] = SUM2(slide, M->A[4], turn, M->B[2]);
    U[1] = SUM2(slide, M->A[5], turn, M->B[5]);
    U[2] = SUM2(slide, M->A[2], turn, M->B[8]);
    U[3] = SUM2(slide, M->B[6], turn, M->C[4]);
    U[4] = SUM2(slide, M->B[7], turn, M->C[5]);
    U[5] = SUM2(slide, M->B[8], turn, M->C[2]);
    const real Di = 1 / (SUM2(slide, U[2], turn, U[5]) + K(kb->pad));
    AT(pivot->Di) = *inverse = Di;
    AT(pivot->felt) = SUM2(slide * slide, (M->A[0] + M->A[1]) + M->A[2], turn * turn,
                           (M->C[0] + M->C[1]) + M->C[2]);
    for (int i = 0; i < 6; i++) AT(pivot->g[i]) = g[i] = U[i] * Di;
    LESS(M->A[0], g[0], U[0]);
    LESS(M->A[1], g[1], U[1]);
    LESS(M->A[2], g[2], U[2]);
    LESS(M->A[3], g[0], U[1]);
    LESS(M->A[4], g[0], U[2]);
    LESS(M->A[5], g[1], U[2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) LESS(M->B[3 * i + j], g[i], U[3 + j]);
    LESS(M->C[0], g[3], U[3]);
    LESS(M->C[1], g[4], U[4]);
    LESS(M->C[2], g[5], U[5]);
    LESS(M->C[3], g[3], U[4]);
    LESS(M->C[4], g[3], U[5]);
    LESS(M->C[5], g[4], U[5]);
}

static inline void TEXT(reduce_screw)(const lwi_k_body *kb, const lwi_k_screw *k, int kl,
                                      const lwi_k_pose *pose, const lwi_k_bias *bias,
                                      lwi_k_pivot *pivot, int l, ART *M)
{
    real U[6], Di;
    TEXT(eliminate_screw)(kb, k, kl, pivot, l, M, U, &Di);
    const real y = (AT(pose->tau) - SUM2(K(k->slide), M->p[2], K(k->turn), M->p[5])) * Di;
    AT(pivot->y) = y;
    const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]);
    const real k0 = AT(bias->k[0]), k1 = AT(bias->k[1]);
    M->p[0] += MAD(U[0], y, FELT(M->A[0], M->A[3], M->A[4], M->B[0], M->B[1]));
    M->p[1] += MAD(U[1], y, FELT(M->A[3], M->A[1], M->A[5], M->B[3], M->B[4]));
    M->p[2] += MAD(U[2], y, FELT(M->A[4], M->A[5], M->A[2], M->B[6], M->B[7]));
    M->p[3] += MAD(U[3], y, FELT(M->B[0], M->B[3], M->B[6], M->C[0], M->C[3]));
    M->p[4] += MAD(U[4], y, FELT(M->B[1], M->B[4], M->B[7], M->C[3], M->C[1]));
    M->p[5] += MAD(U[5], y, FELT(M->B[2], M->B[5], M->B[8], M->C[4], M->C[5]));
#undef FELT
}

static inline void TEXT(pass_screw)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                    ART *M)
{
    const real c = AT(pose->c), s = AT(pose->s), cs = AT(pose->cs), ss = AT(pose->ss);
    TEXT(turn_z)(M, c, s, cs, ss, AT(pose->c2), AT(pose->s2));
    TEXT(shift_z)(M, AT(pose->d));
    TEXT(turn_x)(M, K(k->ca), K(k->sa), K(k->csa), K(k->ssa), K(k->c2a), K(k->s2a));
    TEXT(shift_x)(M, K(k->a));
}

// turn_z(phi) shift(0, b, delta)
static inline void TEXT(pass_turned)(const lwi_k_screw *k, int kl, ART *M)
{
    const real c = K(k->cphi), s = K(k->sphi), cs = c * s, ss = s * s;
    TEXT(shift_y)(M, K(k->b));
    TEXT(shift_z)(M, K(k->delta));
    TEXT(turn_z)(M, c, s, cs, ss, 1 - (ss + ss), cs + cs);
}

// S = [0; 1]: nothing is left of B and C.  C = L diag(1/i) L', Z = L^-1 B'; gain = tau or p along
// S. p := p' but for M' (b, k).
static inline void TEXT(eliminate_ball)(const real gain[3], lwi_k_ball_pivot *pivot, int l, ART *M)
{
    const real *B = M->B, *C = M->C;
    AT(pivot->felt) = (C[0] + C[1]) + C[2];
    const real i0 = 1 / C[0], l10 = C[3] * i0, l20 = C[4] * i0;
    const real i1 = 1 / NMAD(l10, C[3], C[1]), l21 = NMAD(l20, C[3], C[5]) * i1;
    const real i2 = 1 / NMAD(l21, NMAD(l20, C[3], C[5]), NMAD(l20, C[4], C[2]));
    real Z[3][3], G[3][3], y[3];
    for (int i = 0; i < 3; i++) {
        Z[0][i] = B[3 * i];
        Z[1][i] = NMAD(l10, Z[0][i], B[3 * i + 1]);
        Z[2][i] = NMAD(l21, Z[1][i], NMAD(l20, Z[0][i], B[3 * i + 2]));
        G[0][i] = i0 * Z[0][i];
        G[1][i] = i1 * Z[1][i];
        G[2][i] = i2 * Z[2][i];
    }
    const real n0 = gain[0] - M->p[3], n1 = NMAD(l10, n0, gain[1] - M->p[4]);
    const real n2 = NMAD(l21, n1, NMAD(l20, n0, gain[2] - M->p[5]));
    y[0] = n0 * i0, y[1] = n1 * i1, y[2] = n2 * i2;
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int e = 0; e < 6; e++) {
        const int i = row[e], j = column[e];
        M->A[e] -= MAD(G[2][i], Z[2][j], SUM2(G[0][i], Z[0][j], G[1][i], Z[1][j]));
    }
    for (int i = 0; i < 3; i++) {
        M->p[i] += MAD(Z[2][i], y[2], SUM2(Z[0][i], y[0], Z[1][i], y[1]));
        M->p[3 + i] = gain[i];
        for (int j = 0; j < 3; j++) AT(pivot->Z[3 * j + i]) = G[j][i];
        AT(pivot->y[i]) = y[i];
    }
    AT(pivot->i[0]) = i0, AT(pivot->i[1]) = i1, AT(pivot->i[2]) = i2;
    AT(pivot->l[0]) = l10, AT(pivot->l[1]) = l20, AT(pivot->l[2]) = l21;
}

static inline void TEXT(reduce_ball)(const lwi_k_ball_joint *joint, const lwi_k_bias *bias,
                                     lwi_k_ball_pivot *pivot, int l, ART *M)
{
    const real tau[3] = {AT(joint->tau[3]), AT(joint->tau[4]), AT(joint->tau[5])};
    TEXT(eliminate_ball)(tau, pivot, l, M);
    const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]);
    M->p[0] += SUM3(M->A[0], b0, M->A[3], b1, M->A[4], b2);
    M->p[1] += SUM3(M->A[3], b0, M->A[1], b1, M->A[5], b2);
    M->p[2] += SUM3(M->A[4], b0, M->A[5], b1, M->A[2], b2);
}

// By a whole rotation: A := R A R', B = -A r~, C = -r~ A r~.
static inline void TEXT(pass_ball)(const lwi_k_pose *pose, int l, ART *M)
{
    real R[3][3], T[3][3], r[3], A[6], f[3], n[3], m[3];
    for (int i = 0; i < 3; i++) {
        const real a0 = AT(pose->R[3 * i]), a1 = AT(pose->R[3 * i + 1]),
                   a2 = AT(pose->R[3 * i + 2]);
        R[i][0] = a0, R[i][1] = a1, R[i][2] = a2;
        r[i] = AT(pose->r[i]);
        T[i][0] = SUM3(a0, M->A[0], a1, M->A[3], a2, M->A[4]);
        T[i][1] = SUM3(a0, M->A[3], a1, M->A[1], a2, M->A[5]);
        T[i][2] = SUM3(a0, M->A[4], a1, M->A[5], a2, M->A[2]);
        f[i] = SUM3(a0, M->p[0], a1, M->p[1], a2, M->p[2]);
        n[i] = SUM3(a0, M->p[3], a1, M->p[4], a2, M->p[5]);
    }
#define DOT(i, j) SUM3(T[i][0], R[j][0], T[i][1], R[j][1], T[i][2], R[j][2])
    A[0] = DOT(0, 0), A[1] = DOT(1, 1), A[2] = DOT(2, 2);
    A[3] = DOT(0, 1), A[4] = DOT(0, 2), A[5] = DOT(1, 2);
#undef DOT
    // row i of B is -(row i of A) r~ = r x (row i of A) read as a row
    const real rows[3][3] = {{A[0], A[3], A[4]}, {A[3], A[1], A[5]}, {A[4], A[5], A[2]}};
    real B[3][3];
    for (int i = 0; i < 3; i++) CROSS(B[i], r, rows[i]);
    // column j of C is r x (column j of B)
    M->C[0] = DIFF(r[1], B[2][0], r[2], B[1][0]);
    M->C[1] = DIFF(r[2], B[0][1], r[0], B[2][1]);
    M->C[2] = DIFF(r[0], B[1][2], r[1], B[0][2]);
    M->C[3] = DIFF(r[1], B[2][1], r[2], B[1][1]);
    M->C[4] = DIFF(r[1], B[2][2], r[2], B[1][2]);
    M->C[5] = DIFF(r[2], B[0][2], r[0], B[2][2]);
    CROSS(m, r, f);
    for (int i = 0; i < 6; i++) M->A[i] = A[i];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) M->B[3 * i + j] = B[i][j];
        M->p[i] = f[i];
        M->p[3 + i] = n[i] + m[i];
    }
}

// x := M^-1 x by L D L'; the lanes in which M is well posed.
static inline mask TEXT(solve_base)(const ART *M, real x[6])
{
    const real *A = M->A, *B = M->B, *C = M->C;
    real L[6][6] = {{A[0]},
                    {A[3], A[1]},
                    {A[4], A[5], A[2]},
                    {B[0], B[3], B[6], C[0]},
                    {B[1], B[4], B[7], C[3], C[1]},
                    {B[2], B[5], B[8], C[4], C[5], C[2]}};
    const real felt[2] = {(A[0] + A[1]) + A[2], (C[0] + C[1]) + C[2]};
    real inverse[6];
    mask sure = ~NAME(bits)(ZERO);
    for (int j = 0; j < 6; j++) {
        inverse[j] = 1 / L[j][j];
        sure &= TEXT(well_posed)(inverse[j], felt[j / 3]);
        for (int i = j + 1; i < 6; i++) {
            const real factor = L[i][j] * inverse[j];
            for (int e = i; e < 6; e++) LESS(L[e][i], L[e][j], factor);
            LESS(x[i], factor, x[j]);
        }
    }
    for (int j = 5; j >= 0; j--) {
        real sum = x[j];
        for (int i = j + 1; i < 6; i++) LESS(sum, L[i][j], x[i]);
        x[j] = sum * inverse[j];
    }
    return sure;
}

// M A = tau - p; vdot is the rate of the velocity's components, without the fall:
// vdot = a + R'g - w x v.
static inline mask TEXT(accelerate_base)(const lwi_plan *plan, const lwi_k_ball_joint *joint,
                                         const lwi_k_pose *pose, lwi_k_ball_pivot *pivot,
                                         lwi_k_motion *motion, int l, const ART *M)
{
    real x[6], v[3], w[3], c[3];
    for (int i = 0; i < 6; i++) x[i] = AT(joint->tau[i]) - M->p[i];
    const mask sure = TEXT(solve_base)(M, x);
    for (int i = 0; i < 3; i++) {
        v[i] = AT(joint->v[i]);
        w[i] = AT(joint->v[3 + i]);
    }
    CROSS(c, w, v);
    for (int i = 0; i < 6; i++) {
        AT(motion->A[i]) = x[i];
        if (i < 3)
            x[i] += (AT(pose->R[i]) * plan->gravity[0] + AT(pose->R[3 + i]) * plan->gravity[1] +
                     AT(pose->R[6 + i]) * plan->gravity[2]) -
                    c[i];
        AT(pivot->vdot[i]) = x[i];
    }
    return sure;
}

static INLINE void TEXT(hinge_inward)(const lwi_plan *plan, const lwi_k_state *state, int slot,
                                      int half, bool root, ART *M)
{
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot);
    const lwi_k_body *body = &plan->body[slot / LWI_LANES];
    (void)half;
    TEXT(add_body)(body, kl, &state->bias[n], l, M);
    TEXT(reduce_hinge)(body, kl, &state->pose[n], &state->bias[n], &state->pivot[n], l, M);
    if (!root) TEXT(pass_hinge)(&plan->screw[slot / LWI_LANES], kl, &state->pose[n], l, M);
}

static inline void TEXT(park)(lwi_k_art *art, int l, const ART *M, bool first)
{
#define PARK(entry, n)                                                                             \
    for (int i = 0; i < n; i++) {                                                                  \
        real sum = M->entry[i];                                                                    \
        if (!first) sum += AT(art->entry[i]);                                                      \
        AT(art->entry[i]) = sum;                                                                   \
    }
    PARK(A, 6)
    PARK(B, 9)
    PARK(C, 6)
    PARK(p, 6)
#undef PARK
}

static inline void TEXT(fetch)(const lwi_k_art *art, int l, ART *M)
{
    for (int i = 0; i < 6; i++) M->A[i] += AT(art->A[i]);
    for (int i = 0; i < 9; i++) M->B[i] += AT(art->B[i]);
    for (int i = 0; i < 6; i++) M->C[i] += AT(art->C[i]);
    for (int i = 0; i < 6; i++) M->p[i] += AT(art->p[i]);
}

static inline void TEXT(clear)(ART *M)
{
    for (int i = 0; i < 6; i++) M->A[i] = M->C[i] = M->p[i] = ZERO;
    for (int i = 0; i < 9; i++) M->B[i] = ZERO;
}
