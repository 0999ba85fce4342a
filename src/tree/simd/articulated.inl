// articulated.inl -- articulated inertia (21 numbers) and bias wrench: rotation, shift, sum.
//
// Problem: express the articulated inertia and the bias wrench of a body in its parent's frame.
//
//     [f]   [A  B] [a]   [p_f]       a: acceleration of the origin, al: of the angular velocity
//     [n] = [B' C] [al] + [p_n]      A, C symmetric: xx yy zz xy xz yz; B full, row by row
//
// A rotation about a coordinate axis mixes one pair of coordinates.  With cs = cos sin, ss = sin^2,
// s2 = 2 cs and c2 = 1 - 2 ss, a 2 x 2 block takes 4 multiplications, symmetric or not.  A shift
// by r gives B = Bbar - A r~ and C = Cbar + sym(r~ (Bbar + B)); the bar marks values before it.
//
// Input and output: an `art` in registers, changed in place, one mechanism or body per lane.
// Cost: a rotation about x or z 36 multiplications, a shift along an axis 13.

typedef struct VARIANT(art) {
    real A[6], B[9], C[6], p[6];
} VARIANT(art);
#define ART VARIANT(art)

/** Rotation by theta: cos, sin, cos sin, sin^2, cos 2 theta, sin 2 theta. */
typedef struct VARIANT(turn) {
    real c, s, cs, ss, c2, s2;
} VARIANT(turn);

static INLINE VARIANT(turn) VARIANT(theta)(const lwi_k_pose *pose, int l)
{
    return (VARIANT(turn)){AT(pose->c),  AT(pose->s),  AT(pose->cs),
                           AT(pose->ss), AT(pose->c2), AT(pose->s2)};
}
static INLINE VARIANT(turn) VARIANT(alpha)(const lwi_k_screw *k, int kl)
{
    return (VARIANT(turn)){K(k->ca), K(k->sa), K(k->csa), K(k->ssa), K(k->c2a), K(k->s2a)};
}

// (x, y) := R (x, y), R = [c -s; s c]
#define TURN_VECTOR(t, x, y)                                                                       \
    do {                                                                                           \
        const real tx_ = (x);                                                                      \
        (x) = DIFF((t).c, tx_, (t).s, y);                                                          \
        (y) = SUM2((t).s, tx_, (t).c, y);                                                          \
    } while (0)
// (x, y) := R'(x, y); _X if x is computed last, _Y if y is: only one operation then depends on the
// late operand
#define TURN_BACK_X(t, x, y)                                                                       \
    do {                                                                                           \
        const real tx_ = (x);                                                                      \
        (x) = SUM2((t).s, y, (t).c, tx_);                                                          \
        (y) = DIFF((t).c, y, (t).s, tx_);                                                          \
    } while (0)
#define TURN_BACK_Y(t, x, y)                                                                       \
    do {                                                                                           \
        const real tx_ = (x);                                                                      \
        (x) = SUM2((t).c, tx_, (t).s, y);                                                          \
        (y) = MSUB((t).c, y, (t).s * tx_);                                                         \
    } while (0)
// (x, y) := R'(x, y) + (more_x, more_y)
#define TURN_BACK_MORE(t, x, y, more_x, more_y)                                                    \
    do {                                                                                           \
        const real tx_ = (x);                                                                      \
        (x) = MAD((t).s, y, MAD((t).c, tx_, more_x));                                              \
        (y) = MAD((t).c, y, NMAD((t).s, tx_, more_y));                                             \
    } while (0)
// [a b; b d] := R [a b; b d] R', diff = a - d
#define TURN_SYMMETRIC(t, a, b, d, diff)                                                           \
    do {                                                                                           \
        const real t_ = (diff), y_ = SUM2((t).ss, t_, (t).s2, b);                                  \
        (b) = SUM2((t).cs, t_, (t).c2, b);                                                         \
        (a) -= y_;                                                                                 \
        (d) += y_;                                                                                 \
    } while (0)
// [a b; e d] := R [a b; e d] R', diff = a - d, sum = b + e
#define TURN_GENERAL(t, a, b, e, d, diff, sum)                                                     \
    do {                                                                                           \
        const real t_ = (diff), w_ = (sum);                                                        \
        const real y_ = SUM2((t).ss, t_, (t).cs, w_), x_ = DIFF((t).cs, t_, (t).ss, w_);           \
        (a) -= y_;                                                                                 \
        (b) += x_;                                                                                 \
        (e) += x_;                                                                                 \
        (d) += y_;                                                                                 \
    } while (0)
// rotation by a right angle: (x, y) := (-y, x)
#define TURN_RIGHT(x, y)                                                                           \
    do {                                                                                           \
        const real tx_ = (x);                                                                      \
        (x) = -(y);                                                                                \
        (y) = tx_;                                                                                 \
    } while (0)

// ---- shifts: the reference point moves by -d along an axis

static inline void VARIANT(shift_x)(ART *M, real d)
{
    const real b12 = M->B[5], b21 = M->B[7], b22 = M->B[8];
    LESS(M->B[1], d, M->A[4]);
    LESS(M->B[4], d, M->A[5]);
    LESS(M->B[7], d, M->A[2]);
    MORE(M->B[2], d, M->A[3]);
    MORE(M->B[5], d, M->A[1]);
    MORE(M->B[8], d, M->A[5]);
    LESS(M->C[1], d, b21 + M->B[7]);
    MORE(M->C[2], d, b12 + M->B[5]);
    MORE(M->C[5], d, M->B[4] - b22);
    LESS(M->C[3], d, M->B[6]);
    MORE(M->C[4], d, M->B[3]);
    LESS(M->p[4], d, M->p[2]);
    MORE(M->p[5], d, M->p[1]);
}
// the same; the z columns of B and C are zero before the shift
static inline void VARIANT(shift_x_z)(ART *M, real d)
{
    const real b21 = M->B[7];
    LESS(M->B[1], d, M->A[4]);
    LESS(M->B[4], d, M->A[5]);
    LESS(M->B[7], d, M->A[2]);
    M->B[2] = d * M->A[3];
    M->B[5] = d * M->A[1];
    M->B[8] = d * M->A[5];
    LESS(M->C[1], d, b21 + M->B[7]);
    M->C[2] = d * M->B[5];
    M->C[5] = d * M->B[4];
    LESS(M->C[3], d, M->B[6]);
    M->C[4] = d * M->B[3];
    LESS(M->p[4], d, M->p[2]);
    MORE(M->p[5], d, M->p[1]);
}
// the same; the y columns of B and C are zero before the shift
static inline void VARIANT(shift_x_y)(ART *M, real d)
{
    const real b12 = M->B[5], b22 = M->B[8];
    M->B[1] = -(d * M->A[4]);
    M->B[4] = -(d * M->A[5]);
    M->B[7] = -(d * M->A[2]);
    MORE(M->B[2], d, M->A[3]);
    MORE(M->B[5], d, M->A[1]);
    MORE(M->B[8], d, M->A[5]);
    M->C[1] = -(d * M->B[7]);
    MORE(M->C[2], d, b12 + M->B[5]);
    M->C[5] = d * (M->B[4] - b22);
    M->C[3] = -(d * M->B[6]);
    MORE(M->C[4], d, M->B[3]);
    LESS(M->p[4], d, M->p[2]);
    MORE(M->p[5], d, M->p[1]);
}
static inline void VARIANT(shift_y)(ART *M, real d)
{
    const real b00 = M->B[0], b02 = M->B[2], b20 = M->B[6];
    MORE(M->B[0], d, M->A[4]);
    MORE(M->B[3], d, M->A[5]);
    MORE(M->B[6], d, M->A[2]);
    LESS(M->B[2], d, M->A[0]);
    LESS(M->B[5], d, M->A[3]);
    LESS(M->B[8], d, M->A[4]);
    MORE(M->C[0], d, b20 + M->B[6]);
    LESS(M->C[2], d, b02 + M->B[2]);
    MORE(M->C[4], d, M->B[8] - b00);
    MORE(M->C[3], d, M->B[7]);
    LESS(M->C[5], d, M->B[1]);
    MORE(M->p[3], d, M->p[2]);
    LESS(M->p[5], d, M->p[0]);
}
// the same; the z columns of B and C are zero and stay so (a hollow inertia)
static inline void VARIANT(shift_z_hollow)(ART *M, real d)
{
    const real b01 = M->B[1], b10 = M->B[3], b11 = M->B[4];
    LESS(M->B[0], d, M->A[3]);
    LESS(M->B[3], d, M->A[1]);
    LESS(M->B[6], d, M->A[5]);
    MORE(M->B[1], d, M->A[0]);
    MORE(M->B[4], d, M->A[3]);
    MORE(M->B[7], d, M->A[4]);
    LESS(M->C[0], d, b10 + M->B[3]);
    MORE(M->C[1], d, b01 + M->B[1]);
    MORE(M->C[3], d, M->B[0] - b11);
    LESS(M->p[3], d, M->p[1]);
    MORE(M->p[4], d, M->p[0]);
}
static inline void VARIANT(shift_z)(ART *M, real d)
{
    LESS(M->C[4], d, M->B[5]);
    MORE(M->C[5], d, M->B[2]);
    VARIANT(shift_z_hollow)(M, d);
}

// ---- rotations

/** xx - yy of A, xx - yy of B, xy + yx of B, xx - yy of C: the terms of a rotation about z. */
static INLINE void VARIANT(differences)(const ART *M, real diff[4])
{
    diff[0] = M->A[0] - M->A[1];
    diff[1] = M->B[0] - M->B[4];
    diff[2] = M->B[1] + M->B[3];
    diff[3] = M->C[0] - M->C[1];
}
// rotates the z columns of B and C
#define TURN_Z_COLUMNS(t)                                                                          \
    do {                                                                                           \
        TURN_VECTOR(t, M->B[2], M->B[5]);                                                          \
        TURN_VECTOR(t, M->C[4], M->C[5]);                                                          \
    } while (0)
static INLINE void VARIANT(turn_z_hollow)(ART *M, VARIANT(turn) t, const real diff[4])
{
    TURN_SYMMETRIC(t, M->A[0], M->A[3], M->A[1], diff[0]);
    TURN_VECTOR(t, M->A[4], M->A[5]);
    TURN_GENERAL(t, M->B[0], M->B[1], M->B[3], M->B[4], diff[1], diff[2]);
    TURN_VECTOR(t, M->B[6], M->B[7]);
    TURN_SYMMETRIC(t, M->C[0], M->C[3], M->C[1], diff[3]);
    TURN_VECTOR(t, M->p[0], M->p[1]);
    TURN_VECTOR(t, M->p[3], M->p[4]);
}
static inline void VARIANT(turn_z)(ART *M, VARIANT(turn) t)
{
    real diff[4];
    VARIANT(differences)(M, diff);
    TURN_Z_COLUMNS(t);
    VARIANT(turn_z_hollow)(M, t, diff);
}
static inline void VARIANT(turn_x)(ART *M, VARIANT(turn) t)
{
    TURN_SYMMETRIC(t, M->A[1], M->A[5], M->A[2], M->A[1] - M->A[2]);
    TURN_VECTOR(t, M->A[3], M->A[4]);
    TURN_VECTOR(t, M->B[1], M->B[2]);
    TURN_VECTOR(t, M->B[3], M->B[6]);
    TURN_GENERAL(t, M->B[4], M->B[5], M->B[7], M->B[8], M->B[4] - M->B[8], M->B[5] + M->B[7]);
    TURN_SYMMETRIC(t, M->C[1], M->C[5], M->C[2], M->C[1] - M->C[2]);
    TURN_VECTOR(t, M->C[3], M->C[4]);
    TURN_VECTOR(t, M->p[1], M->p[2]);
    TURN_VECTOR(t, M->p[4], M->p[5]);
}
// the same for a hollow inertia; its z columns become nonzero
static inline void VARIANT(turn_x_hollow)(ART *M, VARIANT(turn) t)
{
    TURN_SYMMETRIC(t, M->A[1], M->A[5], M->A[2], M->A[1] - M->A[2]);
    TURN_VECTOR(t, M->A[3], M->A[4]);
    M->B[2] = t.s * M->B[1];
    M->B[1] = t.c * M->B[1];
    TURN_VECTOR(t, M->B[3], M->B[6]);
    const real x = DIFF(t.cs, M->B[4], t.ss, M->B[7]), y = SUM2(t.ss, M->B[4], t.cs, M->B[7]);
    M->B[4] -= y;
    M->B[5] = x;
    M->B[7] += x;
    M->B[8] = y;
    M->C[4] = t.s * M->C[3];
    M->C[3] = t.c * M->C[3];
    M->C[2] = t.ss * M->C[1];
    M->C[5] = t.cs * M->C[1];
    M->C[1] -= M->C[2];
    TURN_VECTOR(t, M->p[1], M->p[2]);
    TURN_VECTOR(t, M->p[4], M->p[5]);
}
// rotation about x by a right angle
static inline void VARIANT(turn_x_square)(ART *M)
{
    const real A1 = M->A[1], B4 = M->B[4], B5 = M->B[5], C1 = M->C[1];
    M->A[1] = M->A[2];
    M->A[2] = A1;
    M->A[5] = -M->A[5];
    TURN_RIGHT(M->A[3], M->A[4]);
    TURN_RIGHT(M->B[1], M->B[2]);
    TURN_RIGHT(M->B[3], M->B[6]);
    M->B[4] = M->B[8];
    M->B[8] = B4;
    M->B[5] = -M->B[7];
    M->B[7] = -B5;
    M->C[1] = M->C[2];
    M->C[2] = C1;
    M->C[5] = -M->C[5];
    TURN_RIGHT(M->C[3], M->C[4]);
    TURN_RIGHT(M->p[1], M->p[2]);
    TURN_RIGHT(M->p[4], M->p[5]);
}
// the same for a hollow inertia: afterwards the y columns are zero
static inline void VARIANT(turn_x_right)(ART *M)
{
    const real A1 = M->A[1];
    M->A[1] = M->A[2];
    M->A[2] = A1;
    M->A[5] = -M->A[5];
    TURN_RIGHT(M->A[3], M->A[4]);
    M->B[2] = M->B[1];
    TURN_RIGHT(M->B[3], M->B[6]);
    M->B[5] = -M->B[7];
    M->B[8] = M->B[4];
    M->B[1] = M->B[4] = M->B[7] = ZERO;
    M->C[2] = M->C[1];
    M->C[4] = M->C[3];
    M->C[1] = M->C[3] = M->C[5] = ZERO;
    TURN_RIGHT(M->p[1], M->p[2]);
    TURN_RIGHT(M->p[4], M->p[5]);
}
static inline void VARIANT(clear_z)(ART *M)
{
    M->B[2] = M->B[5] = M->B[8] = M->C[2] = M->C[4] = M->C[5] = ZERO;
}

// ---- sums

static INLINE void VARIANT(add_rigid)(ART *M, real m, const real h[3], const real J[6])
{
    M->A[0] += m;
    M->A[1] += m;
    M->A[2] += m;
    M->B[1] += h[2]; // B = -(h x)
    M->B[2] -= h[1];
    M->B[3] -= h[2];
    M->B[5] += h[0];
    M->B[6] += h[1];
    M->B[7] -= h[0];
    for (int i = 0; i < 6; i++) M->C[i] += J[i];
}
