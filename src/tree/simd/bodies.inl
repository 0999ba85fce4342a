// bodies.inl -- the steps of the articulated-body recursions at one body.
//
// Problem: eliminate the joint of a body on the way inward, compute its acceleration on the way
// outward.  M and p are the articulated inertia and bias wrench of the body and its descendants:
// an acceleration A = (a, al) of the body frame requires the wrench F = M A + p.
// A = X A_parent + (b, k) + S vdot and S'F = tau give, with U = M S and D = S'U,
//
//   inward    g = U/D,  y = (tau - S'p)/D,  M' = M - g U',  p' = p + U y + M' (b, k)
//             parent:  M += X'M'X,  p += X'p'
//   outward   vdot = y - g . (X A_parent + (b, k))
//
// A rotor of inertia I on the joint adds I to D only.  Without a rotor M'S = 0, so a hinge leaves
// zeros in the last row and column of M'.  With a rotor the last row and column of M' are I/D times
// those of M, and the joint transmits tau - I vdot0 along z, vdot0 = y - g . (b, k).
//
// Where the motion is prescribed 1/D is 0, so that M' = M and g = 0, and y is the prescribed acceleration, which tau
// holds.  A hinge then is like one with a rotor without bounds, I/D = 1: `rotor` and pivot.Di are 1, and pivot.diagonal
// is 0, so that the pivot counts as well conditioned.  U and S'p are kept (lwi_k_driven).
//
// Accelerations are classical accelerations of points, so linear velocities and products of spatial
// velocities do not appear.
//
// Input: plan constants, pose, bias, tau.  Output: pivot (g, y, 1/D) and motion (A, vdot).
// Cost: constant per body.

// ----------------------------------------------------------------------------------------- outward

// Dispatch on the hinge shape: one specialized kernel per frequent shape.  OF_SHAPE omits the shapes
// with rotors.
#define OF_SHAPE(shape, STRING_OF)                                                                 \
    switch (shape) {                                                                               \
        SHAPES(STRING_OF)                                                                          \
    default:                                                                                       \
        STRING_OF(LWI_K_ANY)                                                                       \
    }
#define OF_EVERY_SHAPE(shape, STRING_OF)                                                           \
    switch (shape) {                                                                               \
        SHAPES(STRING_OF)                                                                          \
        ROTOR_SHAPES(STRING_OF)                                                                    \
    default:                                                                                       \
        STRING_OF(LWI_K_ANY)                                                                       \
    }
#define OF_ROTOR_SHAPE(shape, STRING_OF)                                                           \
    switch (shape) {                                                                               \
        ROTOR_SHAPES(STRING_OF)                                                                    \
    }
#define ROTOR_SHAPES(STRING_OF)                                                                    \
    case LWI_K_PARALLEL | LWI_K_APART | LWI_K_ROTOR:                                               \
        STRING_OF(LWI_K_PARALLEL | LWI_K_APART | LWI_K_ROTOR) break;                               \
    case LWI_K_SQUARE | LWI_K_APART | LWI_K_ALONG | LWI_K_ROTOR:                                   \
        STRING_OF(LWI_K_SQUARE | LWI_K_APART | LWI_K_ALONG | LWI_K_ROTOR) break;                   \
    case LWI_K_ANY | LWI_K_ROTOR:                                                                  \
        STRING_OF(LWI_K_ANY | LWI_K_ROTOR) break;
#define SHAPES(STRING_OF)                                                                          \
    case LWI_K_PARALLEL:                                                                           \
        STRING_OF(LWI_K_PARALLEL) break;                                                           \
    case LWI_K_PARALLEL | LWI_K_APART:                                                             \
        STRING_OF(LWI_K_PARALLEL | LWI_K_APART) break;                                             \
    case LWI_K_SQUARE:                                                                             \
        STRING_OF(LWI_K_SQUARE) break;                                                             \
    case LWI_K_SQUARE | LWI_K_APART:                                                               \
        STRING_OF(LWI_K_SQUARE | LWI_K_APART) break;                                               \
    case LWI_K_SQUARE | LWI_K_ALONG:                                                               \
        STRING_OF(LWI_K_SQUARE | LWI_K_ALONG) break;                                               \
    case LWI_K_SQUARE | LWI_K_APART | LWI_K_ALONG:                                                 \
        STRING_OF(LWI_K_SQUARE | LWI_K_APART | LWI_K_ALONG) break;

#define OF_AXIS(shape, STRING_OF)                                                                  \
    switch ((shape)&LWI_K_AXIS) {                                                                  \
    case LWI_K_PARALLEL:                                                                           \
        STRING_OF(LWI_K_PARALLEL) break;                                                           \
    case LWI_K_SQUARE:                                                                             \
        STRING_OF(LWI_K_SQUARE) break;                                                             \
    default:                                                                                       \
        STRING_OF(LWI_K_OBLIQUE)                                                                   \
    }

// Transforms x from the parent's axes to those of a hinge rotated by theta.
static INLINE void VARIANT(to_hinge)(const lwi_k_screw *k, int kl, VARIANT(turn) theta, int shape,
                                     real x[3])
{
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE) {
        const VARIANT(turn) alpha = {.c = K(k->ca), .s = K(k->sa)};
        TURN_BACK_Y(alpha, x[1], x[2]);
    } else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) {
        const real y = x[1];
        x[1] = x[2];
        x[2] = -y;
    }
    TURN_BACK_Y(theta, x[0], x[1]);
}

// A = (a, al) of the parent's frame becomes the acceleration of the parent at the joint's origin, at
// distance d along its axis, in the joint's axes before the rotation by theta.
static INLINE void VARIANT(carry)(const lwi_k_screw *k, int kl, real d, int shape, real A[6])
{
    if (shape & LWI_K_APART) {
        const real a = K(k->a);
        MORE(A[1], a, A[5]);
        LESS(A[2], a, A[4]);
    }
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE) {
        const VARIANT(turn) alpha = {.c = K(k->ca), .s = K(k->sa)};
        TURN_BACK_X(alpha, A[1], A[2]);
        TURN_BACK_Y(alpha, A[4], A[5]);
    } else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) {
        const real y = A[1], ny = A[4];
        A[1] = A[2], A[2] = -y;
        A[4] = A[5], A[5] = -ny;
    }
    if (shape & LWI_K_ALONG) {
        MORE(A[0], d, A[4]);
        LESS(A[1], d, A[3]);
    }
}

// turn_z(phi) shift(0, b, delta): from the parent's frame to the frame the child is placed in.
static INLINE void VARIANT(turn_vector)(const lwi_k_screw *k, int kl, real x[3])
{
    const VARIANT(turn) phi = {.c = K(k->cphi), .s = K(k->sphi)};
    TURN_BACK_Y(phi, x[0], x[1]);
}
static inline void VARIANT(turn_parent)(const lwi_k_screw *k, int kl, real A[6])
{
    const real b = K(k->b), delta = K(k->delta);
    VARIANT(turn_vector)(k, kl, A);
    VARIANT(turn_vector)(k, kl, A + 3);
    A[0] += DIFF(delta, A[4], b, A[5]);
    LESS(A[1], delta, A[3]);
    MORE(A[2], b, A[3]);
}

// y - g . A without the entry of the joint's own degree of freedom.  The last entry of the parent's A
// is available last, so entries that depend on it are summed last.
static INLINE real VARIANT(along_hinge)(const lwi_k_pivot *pivot, int l, real y, int shape,
                                        const real A[6])
{
    static const int order[2][5] = {{0, 1, 2, 3, 4}, {2, 3, 4, 0, 1}};
    const int *of = order[(shape & LWI_K_ALONG) != 0];
    for (int i = 0; i < 5; i++) LESS(y, AT(pivot->g[of[i]]), A[of[i]]);
    return y;
}

// A of a hinge from A of its parent: al_z = y - g . A, and vdot = al_z minus the parent's angular
// acceleration along z.  With a rotor g_z = 1 - rotor/D.  A is stored where the motion may be prescribed.
static INLINE void VARIANT(hinge_outward)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                          const lwi_k_bias *bias, const lwi_k_pivot *pivot,
                                          lwi_k_motion *motion, int l, real y, int shape, real A[6])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    VARIANT(carry)(k, kl, K(k->shift), shape, A);
    const real z = A[5];
    if (shape & LWI_K_ROTOR) MORE(y, K(k->rotor) * AT(pivot->Di), z);
    TURN_BACK_MORE(theta, A[0], A[1], AT(bias->b[0]), AT(bias->b[1]));
    TURN_BACK_MORE(theta, A[3], A[4], AT(bias->k[0]), AT(bias->k[1]));
    A[2] += AT(bias->b[2]);
    A[5] = VARIANT(along_hinge)(pivot, l, y, shape, A);
    AT(motion->vdot) = A[5] - z;
    for (int i = 0; i < 6 && (shape & LWI_K_ROTOR); i++) AT(motion->A[i]) = A[i];
}

// The same for a hinge on the ground, which does not rotate.
static inline void VARIANT(root_outward)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                         const lwi_k_pivot *pivot, lwi_k_motion *motion, int l,
                                         real A[6])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    real y = AT(pivot->y);
    for (int i = 0; i < 3; i++) A[i] = -K(k->minus_gravity[i]);
    TURN_BACK_Y(theta, A[0], A[1]);
    for (int i = 0; i < 3; i++) LESS(y, AT(pivot->g[i]), A[i]);
    A[3] = A[4] = ZERO;
    AT(motion->vdot) = A[5] = y;
}

static INLINE real VARIANT(along_screw)(const lwi_k_pivot *pivot, int l, const real A[6])
{
    real u = AT(pivot->y);
    for (int i = 0; i < 6; i++) LESS(u, AT(pivot->g[i]), A[i]);
    return u;
}

static inline void VARIANT(screw_outward)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                          const lwi_k_bias *bias, const lwi_k_pivot *pivot,
                                          lwi_k_motion *motion, int l, real A[6])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    VARIANT(carry)(k, kl, AT(pose->d), LWI_K_ANY, A);
    TURN_BACK_MORE(theta, A[0], A[1], AT(bias->b[0]), AT(bias->b[1]));
    TURN_BACK_MORE(theta, A[3], A[4], AT(bias->k[0]), AT(bias->k[1]));
    A[2] += AT(bias->b[2]);
    const real vdot = VARIANT(along_screw)(pivot, l, A);
    MORE(A[2], K(k->slide), vdot);
    MORE(A[5], K(k->turn), vdot);
    AT(motion->vdot) = vdot;
}

// w = R'w_parent
static INLINE void VARIANT(to_body)(const lwi_k_ball_pose *pose, int l, const real a[3],
                                    real out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = SUM3(AT(pose->R[i]), a[0], AT(pose->R[3 + i]), a[1], AT(pose->R[6 + i]), a[2]);
}

// al = y - Z a, a = R'(a_parent + al_parent x r) + b; vdot = al - R'al_parent - k
static inline void VARIANT(ball_outward)(const lwi_k_ball_pose *pose, const lwi_k_bias *bias,
                                         lwi_k_ball_pivot *pivot, int l, real A[6])
{
    const real r[3] = {AT(pose->r[0]), AT(pose->r[1]), AT(pose->r[2])};
    real c[3], a[3], al[3];
    CROSS(c, A + 3, r);
    for (int i = 0; i < 3; i++) c[i] += A[i];
    VARIANT(to_body)(pose, l, c, a);
    VARIANT(to_body)(pose, l, A + 3, al);
    for (int i = 0; i < 3; i++) A[i] = a[i] + AT(bias->b[i]);
    for (int i = 0; i < 3; i++) {
        A[3 + i] = AT(pivot->y[i]) - SUM3(AT(pivot->Z[3 * i]), A[0], AT(pivot->Z[3 * i + 1]), A[1],
                                          AT(pivot->Z[3 * i + 2]), A[2]);
        AT(pivot->vdot[3 + i]) = A[3 + i] - (al[i] + AT(bias->k[i]));
    }
}

// ------------------------------------------------------------------------------------------ inward

static INLINE void VARIANT(add_body)(const lwi_k_body *k, int kl, const lwi_k_bias *bias, int l,
                                     ART *M)
{
    const real h[3] = {K(k->h[0]), K(k->h[1]), K(k->h[2])};
    const real J[6] = {K(k->J[0]), K(k->J[1]), K(k->pivot), K(k->J[3]), K(k->J[4]), K(k->J[5])};
    VARIANT(add_rigid)(M, K(k->m), h, J);
    for (int i = 0; i < 6; i++) M->p[i] += AT(bias->p[i]);
}

// Eliminates the degree of freedom S = [0; z] from M: M' = M - U U'/D; row and column n_z are not
// written.  Stores g and 1/D in the pivot.  Outputs the first five entries of U (the sixth is D, or
// D - I with a rotor).
static INLINE void VARIANT(eliminate_hinge)(lwi_k_pivot *pivot, int l, real Di, ART *M, real U[5])
{
    const real u0 = M->B[2], u1 = M->B[5], u2 = M->B[8], u3 = M->C[4], u4 = M->C[5];
    const real g0 = u0 * Di, g1 = u1 * Di, g2 = u2 * Di, g3 = u3 * Di, g4 = u4 * Di;
    AT(pivot->diagonal) = M->C[0] + M->C[1];
    AT(pivot->Di) = Di;
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

// Replaces row and column n_z, which still hold M, by those of M'.
static INLINE void VARIANT(keep_rotor)(real rotor, real Di, ART *M)
{
    const real left = rotor * Di;
    M->B[2] *= left, M->B[5] *= left, M->B[8] *= left;
    M->C[2] *= left, M->C[4] *= left, M->C[5] *= left;
}

// A hinge on the ground with the articulated inertia M: only its pivot is needed.
static INLINE void VARIANT(root_pivot)(const lwi_k_body *k, const lwi_k_screw *screw, int kl,
                                       lwi_k_pivot *pivot, int l, const ART *M, real left)
{
    const real Di = 1 / (M->C[2] + (K(k->pivot) + K(screw->rotor)));
    AT(pivot->diagonal) = M->C[0] + M->C[1];
    AT(pivot->Di) = Di;
    AT(pivot->y) = left * Di;
}

// p' = p + U y + M' (b, k); along z the joint transmits tau.
#define DIAGONAL(p, q, r, s, t) MAD(t, k1, SUM2(p, b0, q, b1) + SUM2(r, b2, s, k0))
static INLINE void VARIANT(reduce_wrench)(const lwi_k_bias *bias, int l, const real U[5], real y,
                                          real tau, ART *M)
{
    const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]);
    const real k0 = AT(bias->k[0]), k1 = AT(bias->k[1]);
    M->p[0] += MAD(U[0], y, DIAGONAL(M->A[0], M->A[3], M->A[4], M->B[0], M->B[1]));
    M->p[1] += MAD(U[1], y, DIAGONAL(M->A[3], M->A[1], M->A[5], M->B[3], M->B[4]));
    M->p[2] += MAD(U[2], y, DIAGONAL(M->A[4], M->A[5], M->A[2], M->B[6], M->B[7]));
    M->p[3] += MAD(U[3], y, DIAGONAL(M->B[0], M->B[3], M->B[6], M->C[0], M->C[3]));
    M->p[4] += MAD(U[4], y, DIAGONAL(M->B[1], M->B[4], M->B[7], M->C[3], M->C[1]));
    M->p[5] = tau;
}

static INLINE void VARIANT(reduce_hinge)(const lwi_k_pose *pose, const lwi_k_bias *bias,
                                         lwi_k_pivot *pivot, int l, ART *M)
{
    real U[5];
    const real tau = AT(pose->tau), left = tau - M->p[5], Di = 1 / M->C[2];
    VARIANT(eliminate_hinge)(pivot, l, Di, M, U);
    const real y = left * Di;
    AT(pivot->y) = y;
    VARIANT(reduce_wrench)(bias, l, U, y, tau, M);
}

// U . (b, k)
static INLINE real VARIANT(along_bias)(const lwi_k_bias *bias, int l, const real U[5])
{
    const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]);
    const real k0 = AT(bias->k[0]), k1 = AT(bias->k[1]);
    return DIAGONAL(U[0], U[1], U[2], U[3], U[4]);
}

// tau - I vdot0
static INLINE real VARIANT(past_rotor)(const lwi_k_bias *bias, int l, const real U[5], real rotor,
                                       real Di, real y, real tau)
{
    return NMAD(rotor, NMAD(Di, VARIANT(along_bias)(bias, l, U), y), tau);
}

// The same with a rotor.
static INLINE void VARIANT(reduce_rotor)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                         const lwi_k_bias *bias, lwi_k_pivot *pivot, int l, ART *M)
{
    real U[5];
    const real rotor = K(k->rotor), tau = AT(pose->tau), left = tau - M->p[5];
    const real Di = 1 / (M->C[2] + rotor);
    VARIANT(eliminate_hinge)(pivot, l, Di, M, U);
    const real y = left * Di;
    AT(pivot->y) = y;
    VARIANT(reduce_wrench)(bias, l, U, y, VARIANT(past_rotor)(bias, l, U, rotor, Di, y, tau), M);
    VARIANT(keep_rotor)(rotor, Di, M);
}

// Keeps what the force along a screw with prescribed motion follows from: U . A + S'p.
static inline void VARIANT(keep_driven)(const lwi_k_screw *k, int kl, lwi_k_driven *driven, int l,
                                        const ART *M)
{
    const real slide = K(k->slide), turn = K(k->turn);
    AT(driven->U[0]) = SUM2(slide, M->A[4], turn, M->B[2]);
    AT(driven->U[1]) = SUM2(slide, M->A[5], turn, M->B[5]);
    AT(driven->U[2]) = SUM2(slide, M->A[2], turn, M->B[8]);
    AT(driven->U[3]) = SUM2(slide, M->B[6], turn, M->C[4]);
    AT(driven->U[4]) = SUM2(slide, M->B[7], turn, M->C[5]);
    AT(driven->U[5]) = SUM2(slide, M->B[8], turn, M->C[2]);
    AT(driven->along) = SUM2(slide, M->p[2], turn, M->p[5]);
}

// The same for a hinge.
static INLINE void VARIANT(keep_driven_hinge)(lwi_k_driven *driven, int l, const ART *M)
{
    AT(driven->U[0]) = M->B[2], AT(driven->U[1]) = M->B[5], AT(driven->U[2]) = M->B[8];
    AT(driven->U[3]) = M->C[4], AT(driven->U[4]) = M->C[5], AT(driven->U[5]) = M->C[2];
    AT(driven->along) = M->p[5];
}

// Eliminates a hinge as eliminate_hinge and keep_rotor do, where the motion of some lanes is prescribed: their M stays.
// Returns y; gain: tau or p, or what is prescribed.
static INLINE real VARIANT(eliminate_driven)(const lwi_k_screw *k, int kl, lwi_k_pivot *pivot,
                                             int l, real gain, ART *M, real U[5], real *inverse)
{
    const real driven = K(k->driven), free = 1 - driven, rotor = K(k->rotor);
    const real Di = free / (M->C[2] + rotor), y = MAD(driven, gain, (gain - M->p[5]) * Di);
    VARIANT(eliminate_hinge)(pivot, l, Di, M, U);
    VARIANT(keep_rotor)(rotor, Di + driven, M);
    AT(pivot->Di) = Di + driven;
    AT(pivot->diagonal) *= free;
    AT(pivot->y) = y;
    *inverse = Di;
    return y;
}

// The same as reduce_rotor, where the motion of some lanes is prescribed.
static INLINE void VARIANT(reduce_driven)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                          const lwi_k_bias *bias, lwi_k_pivot *pivot,
                                          lwi_k_driven *keep, int l, ART *M)
{
    real U[5], Di;
    VARIANT(keep_driven_hinge)(keep, l, M);
    const real tau = AT(pose->tau), p = M->p[5], D = M->C[2];
    const real y = VARIANT(eliminate_driven)(k, kl, pivot, l, tau, M, U, &Di);
    const real driven = K(k->driven), free = 1 - driven;
    const real past = VARIANT(past_rotor)(bias, l, U, free * K(k->rotor), Di, y, free * tau) +
                      driven * (MAD(D, y, p) + VARIANT(along_bias)(bias, l, U));
    VARIANT(reduce_wrench)(bias, l, U, y, past, M);
}

// The pivot of a hinge on the ground, where the motion of some lanes is prescribed, from the one without.
static INLINE void VARIANT(root_driven)(const lwi_k_screw *k, int kl, lwi_k_pivot *pivot, int l,
                                        real gain)
{
    const real driven = K(k->driven), free = 1 - driven;
    AT(pivot->y) = MAD(driven, gain, free * AT(pivot->y));
    AT(pivot->Di) = MAD(free, AT(pivot->Di), driven);
    AT(pivot->diagonal) *= free;
}

// Transforms a full M' (with a rotor) to the parent's frame.
static INLINE void VARIANT(pass_rotor)(const lwi_k_screw *k, int kl, VARIANT(turn) theta, int shape,
                                       const real diff[4], ART *M)
{
    TURN_Z_COLUMNS(theta);
    VARIANT(turn_z_hollow)(M, theta, diff);
    if (shape & LWI_K_ALONG) VARIANT(shift_z)(M, K(k->shift));
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE)
        VARIANT(turn_x)(M, VARIANT(alpha)(k, kl));
    else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE)
        VARIANT(turn_x_square)(M);
    if (shape & LWI_K_APART) VARIANT(shift_x)(M, K(k->a));
}

static INLINE void VARIANT(pass_hinge)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                       int shape, const real diff[4], ART *M)
{
    if (shape & LWI_K_ROTOR) {
        VARIANT(pass_rotor)(k, kl, VARIANT(theta)(pose, l), shape, diff, M);
        return;
    }
    VARIANT(turn_z_hollow)(M, VARIANT(theta)(pose, l), diff);
    if (shape & LWI_K_ALONG) VARIANT(shift_z_hollow)(M, K(k->shift));
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE) {
        VARIANT(turn_x_hollow)(M, VARIANT(alpha)(k, kl));
        if (shape & LWI_K_APART) VARIANT(shift_x)(M, K(k->a));
    } else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) {
        VARIANT(turn_x_right)(M);
        if (shape & LWI_K_APART) VARIANT(shift_x_y)(M, K(k->a));
    } else if (shape & LWI_K_APART) {
        VARIANT(shift_x_z)(M, K(k->a));
    } else {
        VARIANT(clear_z)(M);
    }
}

// The same if the parent is a hinge on the ground.  Only p_z and M_zz are computed, and in C_0 and
// C_1 the terms that bound its rounding error.
static inline void VARIANT(pass_axis)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                      const real diff[4], ART *M)
{
    const VARIANT(turn) t = VARIANT(theta)(pose, l), alpha = VARIANT(alpha)(k, kl);
    const real a = K(k->a), d = K(k->shift), C3 = M->C[3], B6 = M->B[6], p3 = M->p[3];
    TURN_SYMMETRIC(t, M->A[0], M->A[3], M->A[1], diff[0]);
    TURN_VECTOR(t, M->A[4], M->A[5]);
    TURN_VECTOR(t, M->p[0], M->p[1]);
    const real diagonal = M->C[0] + M->C[1];
    const real b01 = M->B[1] + DIFF(t.cs, diff[1], t.ss, diff[2]), shifted = MAD(d, M->A[0], b01);
    const real yy = M->B[4] + SUM2(t.ss, diff[1], t.cs, diff[2]), B4 = MAD(d, M->A[3], yy);
    const real B7 = MAD(d, M->A[4], SUM2(t.s, B6, t.c, M->B[7]));
    const real C1 = MAD(d, b01 + shifted, M->C[1] + SUM2(t.ss, diff[3], t.s2, C3));
    const real p4 = MAD(d, M->p[0], SUM2(t.s, p3, t.c, M->p[4]));
    // screw along x
    const real A1 = M->A[1] - SUM2(alpha.ss, M->A[1] - M->A[2], alpha.s2, M->A[5]);
    const real B5 = DIFF(alpha.cs, B4, alpha.ss, B7);
    M->C[2] = MAD(a, B5 + MAD(a, A1, B5), alpha.ss * C1);
    M->p[5] = MAD(a, DIFF(alpha.c, M->p[1], alpha.s, M->p[2]), SUM2(alpha.s, p4, alpha.c, M->p[5]));
    M->C[0] = diagonal;
    M->C[1] = MAD(a * a, A1, C1);
}

// The same for `S = [slide z; turn z]`: M' is full.  Where the motion is prescribed 1/D is 0, so M' = M, and y is
// the prescribed acceleration, which is the gain there.
static inline void VARIANT(eliminate_screw)(const lwi_k_screw *k, int kl, lwi_k_pivot *pivot, int l,
                                            ART *M, real U[6], real *inverse)
{
    const real slide = K(k->slide), turn = K(k->turn);
    real g[6];
    U[0] = SUM2(slide, M->A[4], turn, M->B[2]);
    U[1] = SUM2(slide, M->A[5], turn, M->B[5]);
    U[2] = SUM2(slide, M->A[2], turn, M->B[8]);
    U[3] = SUM2(slide, M->B[6], turn, M->C[4]);
    U[4] = SUM2(slide, M->B[7], turn, M->C[5]);
    U[5] = SUM2(slide, M->B[8], turn, M->C[2]);
    const real Di = (1 - K(k->driven)) / (SUM2(slide, U[2], turn, U[5]) + K(k->rotor));
    AT(pivot->Di) = *inverse = Di;
    AT(pivot->diagonal) = SUM2(slide * slide, (M->A[0] + M->A[1]) + M->A[2], turn * turn,
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

static inline void VARIANT(reduce_screw)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose,
                                         const lwi_k_bias *bias, lwi_k_pivot *pivot, int l, ART *M)
{
    real U[6], Di;
    VARIANT(eliminate_screw)(k, kl, pivot, l, M, U, &Di);
    const real tau = AT(pose->tau);
    const real y =
        MAD(K(k->driven), tau, (tau - SUM2(K(k->slide), M->p[2], K(k->turn), M->p[5])) * Di);
    AT(pivot->y) = y;
    const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]);
    const real k0 = AT(bias->k[0]), k1 = AT(bias->k[1]);
    M->p[0] += MAD(U[0], y, DIAGONAL(M->A[0], M->A[3], M->A[4], M->B[0], M->B[1]));
    M->p[1] += MAD(U[1], y, DIAGONAL(M->A[3], M->A[1], M->A[5], M->B[3], M->B[4]));
    M->p[2] += MAD(U[2], y, DIAGONAL(M->A[4], M->A[5], M->A[2], M->B[6], M->B[7]));
    M->p[3] += MAD(U[3], y, DIAGONAL(M->B[0], M->B[3], M->B[6], M->C[0], M->C[3]));
    M->p[4] += MAD(U[4], y, DIAGONAL(M->B[1], M->B[4], M->B[7], M->C[3], M->C[1]));
    M->p[5] += MAD(U[5], y, DIAGONAL(M->B[2], M->B[5], M->B[8], M->C[4], M->C[5]));
}

// F := X'F, from a hinge or screw with displacement d to its parent.
static INLINE void VARIANT(pass_wrench)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                        real d, int shape, real F[6])
{
    const VARIANT(turn) theta = {.c = AT(pose->c), .s = AT(pose->s)};
    TURN_VECTOR(theta, F[0], F[1]);
    TURN_VECTOR(theta, F[3], F[4]);
    if (shape & LWI_K_ALONG) {
        LESS(F[3], d, F[1]);
        MORE(F[4], d, F[0]);
    }
    if ((shape & LWI_K_AXIS) == LWI_K_OBLIQUE) {
        const VARIANT(turn) alpha = {.c = K(k->ca), .s = K(k->sa)};
        TURN_VECTOR(alpha, F[1], F[2]);
        TURN_VECTOR(alpha, F[4], F[5]);
    } else if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) {
        TURN_RIGHT(F[1], F[2]);
        TURN_RIGHT(F[4], F[5]);
    }
    if (shape & LWI_K_APART) {
        const real a = K(k->a);
        LESS(F[4], a, F[2]);
        MORE(F[5], a, F[1]);
    }
}

static inline void VARIANT(pass_screw)(const lwi_k_screw *k, int kl, const lwi_k_pose *pose, int l,
                                       ART *M)
{
    VARIANT(turn_z)(M, VARIANT(theta)(pose, l));
    VARIANT(shift_z)(M, AT(pose->d));
    VARIANT(turn_x)(M, VARIANT(alpha)(k, kl));
    VARIANT(shift_x)(M, K(k->a));
}

// turn_z(phi) shift(0, b, delta)
static inline void VARIANT(pass_realigned)(const lwi_k_screw *k, int kl, ART *M)
{
    const real c = K(k->cphi), s = K(k->sphi), cs = c * s, ss = s * s;
    VARIANT(shift_y)(M, K(k->b));
    VARIANT(shift_z)(M, K(k->delta));
    VARIANT(turn_z)(M, (VARIANT(turn)){c, s, cs, ss, 1 - (ss + ss), cs + cs});
}

// S = [0; 1]: B and C of M' are zero.  C = L diag(1/i) L', Z = L^-1 B'; gain = tau or p along S.
// p := p' without the term M' (b, k).
static inline void VARIANT(eliminate_ball)(const real gain[3], lwi_k_ball_pivot *pivot, int l,
                                           ART *M)
{
    const real *B = M->B, *C = M->C;
    AT(pivot->diagonal) = (C[0] + C[1]) + C[2];
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

static inline void VARIANT(reduce_ball)(const lwi_k_ball_joint *joint, const lwi_k_bias *bias,
                                        lwi_k_ball_pivot *pivot, int l, ART *M)
{
    const real tau[3] = {AT(joint->tau[3]), AT(joint->tau[4]), AT(joint->tau[5])};
    VARIANT(eliminate_ball)(tau, pivot, l, M);
    const real b0 = AT(bias->b[0]), b1 = AT(bias->b[1]), b2 = AT(bias->b[2]);
    M->p[0] += SUM3(M->A[0], b0, M->A[3], b1, M->A[4], b2);
    M->p[1] += SUM3(M->A[3], b0, M->A[1], b1, M->A[5], b2);
    M->p[2] += SUM3(M->A[4], b0, M->A[5], b1, M->A[2], b2);
}

// Rotation by a full matrix R: A := R A R', B = -A r~, C = -r~ A r~.
static inline void VARIANT(pass_ball)(const lwi_k_ball_pose *pose, int l, ART *M)
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
    // row i of B is -(row i of A) r~ = r x (row i of A)
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

// x := M^-1 x by L D L'; returns the lanes in which M is well conditioned.
static inline mask VARIANT(solve_base)(const ART *M, real x[6])
{
    const real *A = M->A, *B = M->B, *C = M->C;
    real L[6][6] = {{A[0]},
                    {A[3], A[1]},
                    {A[4], A[5], A[2]},
                    {B[0], B[3], B[6], C[0]},
                    {B[1], B[4], B[7], C[3], C[1]},
                    {B[2], B[5], B[8], C[4], C[5], C[2]}};
    const real diagonal[2] = {(A[0] + A[1]) + A[2], (C[0] + C[1]) + C[2]};
    real inverse[6];
    mask valid = ~NAME(bits)(ZERO);
    for (int j = 0; j < 6; j++) {
        inverse[j] = 1 / L[j][j];
        valid &= VARIANT(well_posed)(inverse[j], diagonal[j / 3]);
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
    return valid;
}

// Solves M A = tau - p.  A contains minus gravity; vdot is the rate of the velocity components:
// vdot = a + R'g - w x v for the linear part.
static inline mask VARIANT(accelerate_base)(const lwi_kernel_plan *plan,
                                            const lwi_k_ball_joint *joint,
                                            const lwi_k_ball_pose *pose, lwi_k_ball_pivot *pivot,
                                            lwi_k_motion *motion, int l, const ART *M)
{
    real x[6], v[3], w[3], c[3];
    for (int i = 0; i < 6; i++) x[i] = AT(joint->tau[i]) - M->p[i];
    const mask valid = VARIANT(solve_base)(M, x);
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
    return valid;
}

static INLINE void VARIANT(tip_constants)(const lwi_k_tip *tip, int kl, ART *M, real U[5], real *Di)
{
    for (int i = 0; i < 6; i++) M->A[i] = K(tip->A[i]);
    for (int i = 0; i < 9; i++) M->B[i] = K(tip->B[i]);
    for (int i = 0; i < 6; i++) M->C[i] = K(tip->C[i]);
    for (int i = 0; i < 5; i++) U[i] = K(tip->U[i]);
    *Di = K(tip->Di);
}

// A hinge of a leaf body: M' is constant, only p is computed.
static inline void VARIANT(tip_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                       const lwi_k_step *step, int half, ART *M)
{
    const int slot = step->slot;
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = lwi_k_block(slot);
    const lwi_k_tip *tip = &plan->tip[step->leaf / LWI_LANES];
    const lwi_k_screw *k = &plan->screw[at];
    const lwi_k_bias *bias = &state->bias[n];
    real U[5], diff[4], Di;
    VARIANT(tip_constants)(tip, KLANE(step->leaf), M, U, &Di);
    for (int i = 0; i < 6; i++) M->p[i] = AT(bias->p[i]);
    const real tau = AT(state->pose[n].tau), y = (tau - M->p[5]) * Di;
    AT(state->pivot[n].y) = y;
    VARIANT(reduce_wrench)(bias, l, U, y, tau, M);
    if (step->shape & LWI_K_ROTOR)
        M->p[5] = VARIANT(past_rotor)(bias, l, U, K(k->rotor), Di, y, tau);
    VARIANT(differences)(M, diff);
#define PASS(shape) VARIANT(pass_hinge)(k, kl, &state->pose[n], l, shape, diff, M);
    OF_EVERY_SHAPE(step->shape, PASS)
#undef PASS
}

static INLINE void VARIANT(hinge_inward)(const lwi_k_body *body, const lwi_k_screw *k, int kl,
                                         const lwi_k_pose *pose, const lwi_k_bias *bias,
                                         lwi_k_pivot *pivot, int l, int shape, ART *M)
{
    real diff[4];
    VARIANT(add_body)(body, kl, bias, l, M);
    if (shape & LWI_K_ROTOR)
        VARIANT(reduce_rotor)(k, kl, pose, bias, pivot, l, M);
    else
        VARIANT(reduce_hinge)(pose, bias, pivot, l, M);
    VARIANT(differences)(M, diff);
#define PASS(shape) VARIANT(pass_hinge)(k, kl, pose, l, shape, diff, M);
    OF_EVERY_SHAPE(shape, PASS)
#undef PASS
}

// The same where the motion of some lanes is prescribed.
static inline void VARIANT(driven_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                          const lwi_k_step *step, int half, ART *all)
{
    const int slot = step->slot;
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot), at = lwi_k_block(slot);
    const lwi_k_screw *k = &plan->screw[at];
    const lwi_k_pose *pose = &state->pose[n];
    ART M = *all;
    real diff[4];
    VARIANT(add_body)(&plan->body[at], kl, &state->bias[n], l, &M);
    VARIANT(reduce_driven)
    (k, kl, pose, &state->bias[n], &state->pivot[n], &state->driven[n], l, &M);
    VARIANT(differences)(&M, diff);
#define PASS(shape) VARIANT(pass_rotor)(k, kl, VARIANT(theta)(pose, l), shape, diff, &M);
    OF_ROTOR_SHAPE(step->shape, PASS)
#undef PASS
    *all = M;
}

// A hinge on the ground: y, and the entries of g that act on gravity.
static inline void VARIANT(root_inward)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                        const lwi_k_step *step, int half, const ART *M)
{
    const int slot = step->slot;
    const int n = BLOCK(slot), l = LANE(slot), kl = KLANE(slot);
    const lwi_k_body *body = &plan->body[lwi_k_block(slot)];
    lwi_k_pivot *pivot = &state->pivot[n];
    VARIANT(root_pivot)
    (body, &plan->screw[lwi_k_block(slot)], kl, pivot, l, M,
     AT(state->pose[n].tau) - (M->p[5] + AT(state->bias[n].p[5])));
    const real Di = AT(pivot->Di);
    AT(pivot->g[0]) = (M->B[2] - K(body->h[1])) * Di;
    AT(pivot->g[1]) = (M->B[5] + K(body->h[0])) * Di;
    AT(pivot->g[2]) = M->B[8] * Di;
    if (!step->drives) return;
    const lwi_k_screw *k = &plan->screw[lwi_k_block(slot)];
    ART own = *M;
    VARIANT(add_body)(body, kl, &state->bias[n], l, &own);
    VARIANT(keep_driven_hinge)(&state->driven[n], l, &own);
    VARIANT(root_driven)(k, kl, pivot, l, AT(state->pose[n].tau));
    for (int i = 0; i < 3; i++) AT(pivot->g[i]) *= 1 - K(k->driven);
}

static inline void VARIANT(park)(lwi_k_art *art, int l, const ART *M, bool first)
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

static inline void VARIANT(fetch)(const lwi_k_art *art, int l, ART *M)
{
    for (int i = 0; i < 6; i++) M->A[i] += AT(art->A[i]);
    for (int i = 0; i < 9; i++) M->B[i] += AT(art->B[i]);
    for (int i = 0; i < 6; i++) M->C[i] += AT(art->C[i]);
    for (int i = 0; i < 6; i++) M->p[i] += AT(art->p[i]);
}

// Zero in the lanes with all bits set in `begins`, which hold padding so far.
static INLINE real VARIANT(kept)(real x, const int64_t *begins)
{
    mask gone;
    memcpy(&gone, begins, sizeof gone);
    return NAME(of_bits)(NAME(bits)(x) & ~gone);
}
static inline void VARIANT(begin)(const int64_t *begins, ART *M)
{
    for (int i = 0; i < 6; i++) {
        M->A[i] = VARIANT(kept)(M->A[i], begins);
        M->C[i] = VARIANT(kept)(M->C[i], begins);
        M->p[i] = VARIANT(kept)(M->p[i], begins);
    }
    for (int i = 0; i < 9; i++) M->B[i] = VARIANT(kept)(M->B[i], begins);
}

static inline void VARIANT(clear)(ART *M)
{
    for (int i = 0; i < 6; i++) M->A[i] = M->C[i] = M->p[i] = ZERO;
    for (int i = 0; i < 9; i++) M->B[i] = ZERO;
}
