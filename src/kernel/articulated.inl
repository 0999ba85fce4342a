// articulated.inl -- articulated inertias of 21 numbers with their bias wrench, and how they move.
//
//     [f]   [A  B] [a]   [p_f]       a: acceleration of the origin, al: of the angular velocity
//     [n] = [B' C] [al] + [p_n]      A, C symmetric: xx yy zz xy xz yz; B full, row by row
//
// A screw along an axis turns one pair of coordinates: with cs = cos sin, ss = sin^2, s2 = 2 cs and
// c2 = 1 - 2 ss a symmetric 2 x 2 block takes 4 multiplications, a general one 4 as well.  A shift
// by r gives B = Bbar - A r~ and C = Cbar + sym(r~ (Bbar + B)), a bar for what was before.

typedef struct TEXT(art) {
    real A[6], B[9], C[6], p[6];
} TEXT(art);
#define ART TEXT(art)

// (x, y) := R (x, y), R = [c -s; s c]
#define TURN_VECTOR(x, y)                                                                          \
    do {                                                                                           \
        const real tx_ = (x);                                                                      \
        (x) = DIFF(c, tx_, s, y);                                                                  \
        (y) = SUM2(s, tx_, c, y);                                                                  \
    } while (0)
// [a b; b d] := R [a b; b d] R'
#define TURN_SYMMETRIC(a, b, d)                                                                    \
    do {                                                                                           \
        const real t_ = (a) - (d), y_ = SUM2(ss, t_, s2, b);                                       \
        (b) = SUM2(cs, t_, c2, b);                                                                 \
        (a) -= y_;                                                                                 \
        (d) += y_;                                                                                 \
    } while (0)
// [a b; e d] := R [a b; e d] R'
#define TURN_GENERAL(a, b, e, d)                                                                   \
    do {                                                                                           \
        const real t_ = (a) - (d), w_ = (b) + (e);                                                 \
        const real y_ = SUM2(ss, t_, cs, w_), x_ = DIFF(cs, t_, ss, w_);                           \
        (a) -= y_;                                                                                 \
        (b) += x_;                                                                                 \
        (e) += x_;                                                                                 \
        (d) += y_;                                                                                 \
    } while (0)

// ---- shifts: what is felt at a point -d from the origin along an axis

static inline void TEXT(shift_x)(ART *M, real d)
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
static inline void TEXT(shift_y)(ART *M, real d)
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
// but for the z columns of B and C, which a hollow inertia does not have
static inline void TEXT(shift_z_hollow)(ART *M, real d)
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
static inline void TEXT(shift_z)(ART *M, real d)
{
    LESS(M->C[4], d, M->B[5]);
    MORE(M->C[5], d, M->B[2]);
    TEXT(shift_z_hollow)(M, d);
}

// ---- turns

static inline void TEXT(turn_z_hollow)(ART *M, real c, real s, real cs, real ss, real c2, real s2)
{
    TURN_SYMMETRIC(M->A[0], M->A[3], M->A[1]);
    TURN_VECTOR(M->A[4], M->A[5]);
    TURN_GENERAL(M->B[0], M->B[1], M->B[3], M->B[4]);
    TURN_VECTOR(M->B[6], M->B[7]);
    TURN_SYMMETRIC(M->C[0], M->C[3], M->C[1]);
    TURN_VECTOR(M->p[0], M->p[1]);
    TURN_VECTOR(M->p[3], M->p[4]);
}
static inline void TEXT(turn_z)(ART *M, real c, real s, real cs, real ss, real c2, real s2)
{
    TURN_VECTOR(M->B[2], M->B[5]);
    TURN_VECTOR(M->C[4], M->C[5]);
    TEXT(turn_z_hollow)(M, c, s, cs, ss, c2, s2);
}
static inline void TEXT(turn_x)(ART *M, real c, real s, real cs, real ss, real c2, real s2)
{
    TURN_SYMMETRIC(M->A[1], M->A[5], M->A[2]);
    TURN_VECTOR(M->A[3], M->A[4]);
    TURN_VECTOR(M->B[1], M->B[2]);
    TURN_VECTOR(M->B[3], M->B[6]);
    TURN_GENERAL(M->B[4], M->B[5], M->B[7], M->B[8]);
    TURN_SYMMETRIC(M->C[1], M->C[5], M->C[2]);
    TURN_VECTOR(M->C[3], M->C[4]);
    TURN_VECTOR(M->p[1], M->p[2]);
    TURN_VECTOR(M->p[4], M->p[5]);
}
// the same of a hollow inertia: its z columns fill up
static inline void TEXT(turn_x_hollow)(ART *M, real c, real s, real cs, real ss, real c2, real s2)
{
    TURN_SYMMETRIC(M->A[1], M->A[5], M->A[2]);
    TURN_VECTOR(M->A[3], M->A[4]);
    M->B[2] = s * M->B[1];
    M->B[1] = c * M->B[1];
    TURN_VECTOR(M->B[3], M->B[6]);
    const real x = DIFF(cs, M->B[4], ss, M->B[7]), y = SUM2(ss, M->B[4], cs, M->B[7]);
    M->B[4] -= y;
    M->B[5] = x;
    M->B[7] += x;
    M->B[8] = y;
    M->C[4] = s * M->C[3];
    M->C[3] = c * M->C[3];
    M->C[2] = ss * M->C[1];
    M->C[5] = cs * M->C[1];
    M->C[1] -= M->C[2];
    TURN_VECTOR(M->p[1], M->p[2]);
    TURN_VECTOR(M->p[4], M->p[5]);
}

// ---- sums

static inline void TEXT(add_rigid)(ART *M, real m, const real h[3], const real J[6])
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
