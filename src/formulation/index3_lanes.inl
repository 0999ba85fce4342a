// index3_lanes.inl -- the texts of index3_lanes.h.  Included once per instruction set by
// index3_lanes_*.c.
//
// In:  ISA, its name; WIDEST, the lanes of its registers.  Out: lwi_index3_texts_<ISA>.
#include "formulation/index3_lanes.h"

#include <string.h>
#if WIDEST > 1
#include <immintrin.h>
#endif

// Is a fused multiply-add one instruction?
#if defined(__FMA__) || defined(__aarch64__)
#define LWI_FUSED 1
#else
#define LWI_FUSED 0
#endif

#define WIDTH WIDEST
#include "kernel/lane.inl"

#define MAD(a, b, c) NAME(fma)((a), (b), (c))              // a b + c
#define NMAD(a, b, c) NAME(fnma)((a), (b), (c))            // c - a b
#define MSUB(a, b, c) NAME(fms)((a), (b), (c))             // a b - c
#define SUM2(a, b, c, d) MAD(c, d, (a) * (b))              // a b + c d
#define SUM3(a, b, c, d, e, f) MAD(e, f, SUM2(a, b, c, d)) // a b + c d + e f
#define DIFF(a, b, c, d) NMAD(c, d, (a) * (b))             // a b - c d
#define INLINE static inline __attribute__((always_inline))
#define ZERO NAME(splat)(0)
#include "kernel/sincos.inl"
#include "kernel/transpose.inl"
#define C(x) NAME(splat)(x)

INLINE real root(real x)
{
#if WIDTH == 8
    return (real)_mm512_sqrt_pd((__m512d)x);
#elif WIDTH == 4
    return (real)_mm256_sqrt_pd((__m256d)x);
#else
    return __builtin_sqrt(x);
#endif
}

// ---------------------------------------------------------------------------------------- in, out

INLINE void load(real *to, const lwi_lanes *from, const int n, int l)
{
    for (int i = 0; i < n; i++) to[i] = AT(from[i]);
}

INLINE void store(lwi_lanes *to, const real *from, const int n, int l)
{
    for (int i = 0; i < n; i++) AT(to[i]) = from[i];
}

// n entries of other blocks
INLINE void fetch(real *to, const void *blocks, const lwi_i3_from *from, const int n, int l)
{
    const double *base = blocks;
    if (from->straight) {
        base += from->at[0];
        for (int i = 0; i < n; i++) to[i] = *(const stored *)(base + LWI_LANES * i + l);
        return;
    }
    for (int i = 0; i < n; i++, base += LWI_LANES) {
#if WIDTH == 8
        to[i] = (real)_mm512_i32gather_pd(_mm256_loadu_si256((const void *)from->at), base, 8);
#elif WIDTH == 4
        to[i] = (real)_mm256_i32gather_pd(base, _mm_loadu_si128((const void *)(from->at + l)), 8);
#else
        to[i] = base[from->at[l]];
#endif
    }
}

#if WIDTH == 1
#define LANE(x, i) (x)
#else
#define LANE(x, i) (x)[i]
#endif

// one number of every lane at to[lane][offset]; lanes that repeat the last one write it again
INLINE void scatter(real x, double *const *to, int offset, int l)
{
    for (int i = 0; i < WIDTH; i++) to[l + i][offset] = LANE(x, i);
}

// rows x columns of a block, `swap`: exchanged; `upper`: of a diagonal one that is enough
INLINE void put(double *const *to, const lwi_i3_place *p, const int rows, const int columns,
                real x[LWI_I3_MOST][LWI_I3_MOST], const bool swap, const bool upper, int l)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            const int i = swap ? c : r, k = swap ? r : c;
            if (upper && i > k) continue;
            if (p->straight) {
                *(stored *)(to[0] + i * p->down[0] + k * p->right + l) = x[r][c];
                continue;
            }
            for (int lane = 0; lane < WIDTH; lane++)
                to[l + lane][i * p->down[l + lane] + k * p->right] = LANE(x[r][c], lane);
        }
}

// onto what is there already, lanes that repeat the last one left out
INLINE void add(double *const *to, const lwi_i3_pair *p, const int rows, const int columns,
                real x[LWI_I3_MOST][LWI_I3_MOST], int l)
{
    const int lanes = p->lanes - l < WIDTH ? p->lanes - l : WIDTH;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            for (int i = 0; i < lanes; i++)
                to[l + i][r * p->place.down[l + i] + c * p->place.right] += LANE(x[r][c], i);
}

// ------------------------------------------------------------------------------------- 3 x 3, by 3

INLINE void cross(real c[3], const real a[3], const real b[3])
{
    const real x = DIFF(a[1], b[2], a[2], b[1]), y = DIFF(a[2], b[0], a[0], b[2]);
    c[2] = DIFF(a[0], b[1], a[1], b[0]);
    c[0] = x, c[1] = y;
}

INLINE void cross_add(real c[3], const real a[3], const real b[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = NMAD(a[k], b[j], MAD(a[j], b[k], c[i]));
    }
}

INLINE real dot(const real a[3], const real b[3])
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}

INLINE void times(real x[3], const real A[9], const real b[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = SUM3(A[3 * i], b[0], A[3 * i + 1], b[1], A[3 * i + 2], b[2]);
}

INLINE void transposed_times(real x[3], const real A[9], const real b[3])
{
    for (int i = 0; i < 3; i++) x[i] = SUM3(A[i], b[0], A[3 + i], b[1], A[6 + i], b[2]);
}

// K = R J R', J symmetric: xx yy zz xy xz yz; all nine entries
INLINE void rotate(real K[9], const real R[9], const real J[6])
{
    for (int i = 0; i < 3; i++) {
        const real a = R[3 * i], b = R[3 * i + 1], c = R[3 * i + 2];
        const real B[3] = {SUM3(a, J[0], b, J[3], c, J[4]), SUM3(a, J[3], b, J[1], c, J[5]),
                           SUM3(a, J[4], b, J[5], c, J[2])};
        for (int j = 0; j <= i; j++) K[3 * i + j] = K[3 * j + i] = dot(B, R + 3 * j);
    }
}

// ----------------------------------------------------------------------------------------- bodies

// Turns up to one radian: series in the square of the turn, which end where round-off begins; no root, no
// quotient, nothing that waits for another.
#define NEAR 1.0
static const double near_cosine[] = {1.0 / 2, 1.0 / 24, 1.0 / 720, 1.0 / 40320, 1.0 / 3628800,
                                     1.0 / 479001600, 1.0 / 87178291200}; // 1/(2k)!
static const double near_sine[] = {1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800,
                                   1.0 / 6227020800, 1.0 / 1307674368000}; // 1/(2k + 1)!
static const double near_factor[] = {
    1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600, 1.0 / 47900160, 691 / 1307674368000.0,
    1.0 / 74724249600, 3617 / 10670622842880000.0, 43867 / 5109094217170944000.0,
    174611 / 802857662698291200000.0}; // |B_2k|/(2k)!, Bernoulli's numbers

INLINE real series(const double *c, const int n, real x)
{
    real sum = C(c[n - 1]);
    for (int i = n - 2; i >= 0; i--) sum = MAD(sum, x, C(c[i]));
    return sum;
}

// The quaternion (c, u) of the turn, c of T^-1 = 1 + theta~/2 + c theta~^2.
INLINE void exponential(const real turn[3], real part[4], real *c_of_inverse)
{
    const real square = dot(turn, turn), y = C(-0.25) * square;
    const mask near = NAME(at_most)(square, C(NEAR));
    real cosine = MAD(y, series(near_cosine, LWI_COUNT(near_cosine), y), C(1));
    real k = C(0.5) * MAD(y, series(near_sine, LWI_COUNT(near_sine), y), C(1));
    real factor = series(near_factor, LWI_COUNT(near_factor), square);
    if (NAME(lanes_of)(near) != (1u << WIDTH) - 1) {
        const real angle = root(square);
        real s, c;
        NAME(sincos)(C(0.5) * angle, &s, &c);
        const real quotient = s / NAME(select)(near, C(1), angle);
        const real cotangent = c / NAME(select)(near, C(1), s);
        const real far =
            NMAD(C(0.5) * angle, cotangent, C(1)) / NAME(select)(near, C(1), square);
        cosine = NAME(select)(near, cosine, c);
        k = NAME(select)(near, k, quotient);
        factor = NAME(select)(near, factor, far);
    }
    part[0] = cosine;
    for (int i = 0; i < 3; i++) part[1 + i] = k * turn[i];
    *c_of_inverse = factor;
}

INLINE void move(const lwi_index3_lanes *s, lwi_i3_body *b, int l)
{
    const real one = C(2 / s->h);
    real q[4], turn[3], factor, R0[9], R[9], wn[3], w[3];
    load(turn, b->turn, 3, l);
    exponential(turn, q, &factor);
    AT(b->factor) = factor;
    for (int i = 0; i < 3; i++) wn[i] = MSUB(one, turn[i], AT(b->w0[i]));
    // rows of R0 turn by the inverse: x E = x + 2 c x cross u + 2 (x cross u) cross u
    load(R0, b->R0, 9, l);
    for (int i = 0; i < 9; i += 3) {
        real once[3], again[3];
        cross(once, R0 + i, q + 1);
        cross(again, once, q + 1);
        for (int k = 0; k < 3; k++)
            R[i + k] = MAD(C(2), MAD(q[0], once[k], again[k]), R0[i + k]);
    }
    times(w, R, wn);
    store(b->R, R, 9, l);
    store(b->w, w, 3, l);
}

// Accelerations by the trapezoidal rule; aln body axes.
INLINE void accelerations(const lwi_index3_lanes *s, const lwi_i3_body *b, real an[3], real aln[3],
                          int l)
{
    const real two = C(4 / (s->h * s->h));
    for (int i = 0; i < 3; i++) {
        an[i] = MSUB(two, AT(b->r[i]) - AT(b->r0[i]), AT(b->a0[i]));
        aln[i] = MSUB(two, AT(b->turn[i]), AT(b->al0[i]));
    }
}

// n numbers of every lane in x; of lanes without any those of `none`.
INLINE void read_rows(const double *x, const lwi_i3_row *row, const double *none, const int n,
                      real *to, int l)
{
    const double *from[WIDTH];
    for (int i = 0; i < WIDTH; i++) from[i] = row->at[l + i] < 0 ? none : x + row->at[l + i];
    from_rows(from, n, to);
}

// The same to x; of lanes without any nowhere.
INLINE void write_rows(const real *from, const int n, double *x, const lwi_i3_row *row, int l)
{
    double *to[WIDTH], nowhere[8];
    for (int i = 0; i < WIDTH; i++) to[i] = row->at[l + i] < 0 ? nowhere : x + row->at[l + i];
    to_rows(from, n, to);
}

// Of lanes without a body: pose, and from 4 on what is at rest.
static const double nobody[10] = {0, 0, 0, 1};

// At the predicted end of a step.
INLINE void begin(const lwi_index3_lanes *s, int block, int l)
{
    lwi_i3_body *b = &s->body[block];
    real pose[7], u[6], a[6];
    read_rows(s->state, &s->pose[block], nobody, 7, pose, l);
    read_rows(s->state, &s->speed[block], nobody + 4, 6, u, l);
    read_rows(s->state, &s->acceleration[block], nobody + 4, 6, a, l);
    const real w = pose[3], x = pose[4], y = pose[5], z = pose[6];
    const real half = C(0.5) * MAD(z, z, SUM3(w, w, x, x, y, y)), f = C(1) / half;
    AT(b->R0[0]) = NMAD(f, SUM2(y, y, z, z), C(1));
    AT(b->R0[4]) = NMAD(f, SUM2(x, x, z, z), C(1));
    AT(b->R0[8]) = NMAD(f, SUM2(x, x, y, y), C(1));
    AT(b->R0[1]) = f * DIFF(x, y, w, z), AT(b->R0[3]) = f * SUM2(x, y, w, z);
    AT(b->R0[2]) = f * SUM2(x, z, w, y), AT(b->R0[6]) = f * DIFF(x, z, w, y);
    AT(b->R0[5]) = f * DIFF(y, z, w, x), AT(b->R0[7]) = f * SUM2(y, z, w, x);
    const real h = C(s->h), h2 = C(0.5 * s->h), twice = C(4 / s->h);
    for (int i = 0; i < 3; i++) {
        AT(b->r[i]) = MAD(h, MAD(h2, a[i], u[i]), pose[i]);
        AT(b->turn[i]) = h * MAD(h2, a[3 + i], u[3 + i]);
        AT(b->a0[i]) = MAD(twice, u[i], a[i]), AT(b->al0[i]) = MAD(twice, u[3 + i], a[3 + i]);
    }
    store(b->r0, pose, 3, l);
    store(b->quat, pose + 3, 4, l);
    store(b->v0, u, 3, l);
    store(b->w0, u + 3, 3, l);
    move(s, b, l);
}

// What a joint does: force and moment.  F: multipliers, arm: as they stand in a side.
INLINE void wrench(real sum[6], const real F[3], const real arm[3])
{
    for (int k = 0; k < 3; k++) sum[k] += F[k];
    cross_add(sum + 3, arm, F);
}

// The same of rows of axes.
INLINE void torques(const lwi_index3_lanes *s, const lwi_i3_from *from, real n[3], int l)
{
    real f[LWI_I3_AXES], normal[3 * LWI_I3_AXES];
    fetch(f, s->edge[0].side[0].f, from, LWI_I3_AXES, l);
    fetch(normal, s->edge[0].side[0].normal, from, 3 * LWI_I3_AXES, l);
    for (int k = 0; k < LWI_I3_AXES; k++)
        for (int i = 0; i < 3; i++) n[i] = MAD(f[k], normal[3 * k + i], n[i]);
}

INLINE void pull(const lwi_index3_lanes *s, int block, real sum[6], int l)
{
    const lwi_i3_pulls *pulls = &s->pulls[block];
    for (int i = 0; i < pulls->n; i++) {
        const lwi_i3_from *from = &pulls->from[i];
        real F[3], arm[3];
        fetch(F, s->edge[0].side[0].F, from, 3, l);
        fetch(arm, s->edge[0].side[0].arm, from, 3, l);
        wrench(sum, F, arm);
        if (pulls->axes[i]) torques(s, from, sum + 3, l);
    }
}

// rr -= F s' - (s.F) 1
INLINE void carried(real rr[9], const real s[3], const real F[3])
{
    const real sF = dot(s, F);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) rr[3 * i + k] = NMAD(F[i], s[k], rr[3 * i + k]);
        rr[4 * i] += sF;
    }
}

// The same and stiffness: of forces at points, and of axes.
INLINE void pull_stiffly(const lwi_index3_lanes *s, int block, real sum[6], real rr[9], int l)
{
    const lwi_i3_pulls *pulls = &s->pulls[block];
    for (int i = 0; i < pulls->n; i++) {
        const lwi_i3_from *from = &pulls->from[i];
        const lwi_i3_side *side = s->edge[0].side;
        real F[3], arm[3], more[9];
        fetch(F, side->F, from, 3, l);
        fetch(arm, side->arm, from, 3, l);
        wrench(sum, F, arm);
        carried(rr, arm, F);
        if (!pulls->axes[i]) continue;
        torques(s, from, sum + 3, l);
        fetch(more, side->rr, from, 9, l);
        for (int k = 0; k < 9; k++) rr[k] += more[k];
    }
}

// [J + h/2 (w~ J - (J w)~)] T^-1, world axes
INLINE void gyroscopic(real A[9], const real J[9], const real w[3], const real L[3],
                       const real turn[3], real factor, real half)
{
    for (int j = 0; j < 3; j++) {
        const real column[3] = {J[j], J[3 + j], J[6 + j]};
        real c[3];
        cross(c, w, column);
        for (int i = 0; i < 3; i++) A[3 * i + j] = MAD(half, c[i], column[i]);
    }
    A[1] = MAD(half, L[2], A[1]), A[2] = NMAD(half, L[1], A[2]);
    A[3] = NMAD(half, L[2], A[3]), A[5] = MAD(half, L[0], A[5]);
    A[6] = MAD(half, L[1], A[6]), A[7] = NMAD(half, L[0], A[7]);
    for (int i = 0; i < 9; i += 3) { // a row times theta~ is the row cross theta
        real once[3], twice[3];
        cross(once, A + i, turn);
        cross(twice, once, turn);
        for (int k = 0; k < 3; k++)
            A[i + k] = MAD(factor, twice[k], MAD(C(0.5), once[k], A[i + k]));
    }
}

// K = A^-1; the lanes where the symmetric part of A is positive
INLINE mask invert(const real A[9], real K[9])
{
    const real xy = C(0.5) * (A[1] + A[3]), xz = C(0.5) * (A[2] + A[6]),
               yz = C(0.5) * (A[5] + A[7]);
    const real minor = DIFF(A[0], A[4], xy, xy);
    const real products = SUM2(A[0] * yz, yz, A[4] * xz, xz);
    const real least = MAD(C(2) * xy * xz, yz, MSUB(A[8], minor, products));
    const real c0 = DIFF(A[4], A[8], A[5], A[7]), c1 = DIFF(A[5], A[6], A[3], A[8]),
               c2 = DIFF(A[3], A[7], A[4], A[6]);
    const real f = C(1) / SUM3(A[0], c0, A[1], c1, A[2], c2);
    K[0] = c0 * f, K[3] = c1 * f, K[6] = c2 * f;
    K[1] = DIFF(A[2], A[7], A[1], A[8]) * f;
    K[4] = DIFF(A[0], A[8], A[2], A[6]) * f;
    K[7] = DIFF(A[1], A[6], A[0], A[7]) * f;
    K[2] = DIFF(A[1], A[5], A[2], A[4]) * f;
    K[5] = DIFF(A[2], A[3], A[0], A[5]) * f;
    K[8] = DIFF(A[0], A[4], A[1], A[3]) * f;
    return ~(NAME(at_most)(A[0], C(0)) | NAME(at_most)(minor, C(0)) | NAME(at_most)(least, C(0)));
}

// Newton's matrix of a body; A: its inertia, world axes; rr: stiffness
INLINE void leaf(const lwi_index3_lanes *s, lwi_i3_body *b, const real J[9], const real w[3],
                 const real L[3], const real rr[9], const real R[9], int l)
{
    const real eta = C(0.25 * s->h * s->h), keep = eta * AT(b->free);
    real A[9], K[9], turn[3], body[3];
    load(body, b->turn, 3, l);
    times(turn, R, body);
    if (s->level > 1)
        gyroscopic(A, J, w, L, turn, AT(b->factor), C(0.5 * s->h));
    else
        for (int i = 0; i < 9; i++) A[i] = J[i];
    for (int i = 0; i < 3 && s->level; i++)
        for (int j = 0; j < 3; j++) {
            const real mean = C(0.5) * (rr[3 * i + j] + rr[3 * j + i]);
            A[3 * i + j] = MAD(eta, s->level > 1 ? rr[3 * i + j] : mean, A[3 * i + j]);
        }
    const mask sure = invert(A, K);
    if (NAME(lanes_of)(sure) != (1u << WIDTH) - 1) { // compression that outweighs the inertia
        real mobility[6], M[9];
        load(mobility, b->mobility, 6, l);
        rotate(M, R, mobility);
        for (int i = 0; i < 9; i++) K[i] = NAME(select)(sure, K[i], M[i]);
    }
    for (int i = 0; i < 9; i++) AT(b->K[i]) = keep * K[i];
    AT(b->lin) = eta * AT(b->inverse_mass);
}

// x := K f
INLINE void apply(lwi_i3_body *b, const real f[6], int l)
{
    real K[9], x[3];
    load(K, b->K, 9, l);
    times(x, K, f + 3);
    for (int i = 0; i < 3; i++) AT(b->x[i]) = AT(b->lin) * f[i], AT(b->x[3 + i]) = x[i];
}

INLINE void balance(const lwi_index3_lanes *s, int block, int l)
{
    lwi_i3_body *b = &s->body[block];
    real R[9], J6[6], J[9], w[3], an[3], aln[3], al[3], L[3], rate[3], f[6], rr[9];
    load(R, b->R, 9, l);
    load(J6, b->J, 6, l);
    load(w, b->w, 3, l);
    accelerations(s, b, an, aln, l);
    rotate(J, R, J6);
    times(L, J, w);
    times(al, R, aln);
    times(rate, J, al);
    for (int i = 0; i < 3; i++) {
        f[i] = NMAD(AT(b->mass), an[i], AT(b->weight[i]));
        f[3 + i] = -rate[i];
    }
    cross_add(f + 3, L, w);
    for (int i = 0; i < 9; i++) rr[i] = C(0);
    pull_stiffly(s, block, f, rr, l);
    leaf(s, b, J, w, L, rr, R, l);
    apply(b, f, l);
}

// x += K J' lambda
INLINE void answer(const lwi_index3_lanes *s, int block, real x[6], int l)
{
    const lwi_i3_body *b = &s->body[block];
    real f[6], K[9];
    for (int i = 0; i < 6; i++) f[i] = C(0);
    pull(s, block, f, l);
    load(K, b->K, 9, l);
    for (int i = 0; i < 3; i++) {
        x[i] = MAD(AT(b->lin), f[i], AT(b->x[i]));
        x[3 + i] = AT(b->x[3 + i]);
        for (int k = 0; k < 3; k++) x[3 + i] = MAD(K[3 * i + k], f[3 + k], x[3 + i]);
    }
}

INLINE void take(const lwi_index3_lanes *s, int block, int l)
{
    lwi_i3_body *b = &s->body[block];
    real x[6], R[9], turn[3], u[3], once[3], twice[3];
    answer(s, block, x, l);
    store(b->x, x, 6, l);
    load(R, b->R, 9, l);
    load(turn, b->turn, 3, l);
    transposed_times(u, R, x + 3);
    cross(once, turn, u);
    cross(twice, turn, once);
    for (int i = 0; i < 3; i++) {
        AT(b->r[i]) += x[i];
        AT(b->turn[i]) =
            turn[i] + MAD(AT(b->factor), twice[i], MAD(C(0.5), once[i], u[i]));
    }
    AT(b->size) = AT(b->counts) * MAD(C(s->length * s->length), dot(u, u), dot(x, x));
    move(s, b, l);
}

INLINE void masses(const lwi_index3_lanes *s, lwi_i3_body *b, int l)
{
    const real one = C(2 / s->h);
    real R[9], mobility[6], K[9];
    load(R, b->R, 9, l);
    load(mobility, b->mobility, 6, l);
    rotate(K, R, mobility);
    for (int i = 0; i < 9; i++) AT(b->K[i]) = AT(b->free) * K[i];
    AT(b->lin) = AT(b->inverse_mass);
    for (int i = 0; i < 3; i++) {
        AT(b->x[i]) = MSUB(one, AT(b->r[i]) - AT(b->r0[i]), AT(b->v0[i]));
        AT(b->x[3 + i]) = AT(b->w[i]);
    }
}

INLINE void take_speeds(const lwi_index3_lanes *s, int block, int l)
{
    lwi_i3_body *b = &s->body[block];
    real x[6], R[9], an[3], aln[3], al[3];
    answer(s, block, x, l);
    store(b->v, x, 3, l);
    store(b->w, x + 3, 3, l);
    load(R, b->R, 9, l);
    accelerations(s, b, an, aln, l);
    times(al, R, aln);
    store(b->x, an, 3, l);
    store(b->x + 3, al, 3, l);
}

// The state at the end, to x; the quaternion continues in sign.
INLINE void finish(const lwi_index3_lanes *s, int block, int l)
{
    const lwi_i3_body *b = &s->body[block];
    real x[6], R[9], w[3], pose[7], u[6], a[6], turn[3], factor, p[4], q[4], n[4];
    answer(s, block, x, l);
    load(R, b->R, 9, l);
    load(w, b->w, 3, l);
    for (int i = 0; i < 3; i++) a[i] = x[i];
    transposed_times(a + 3, R, x + 3);
    load(u, b->v, 3, l);
    transposed_times(u + 3, R, w);
    load(pose, b->r, 3, l);
    load(p, b->quat, 4, l);
    load(turn, b->turn, 3, l);
    exponential(turn, q, &factor);
    n[0] = DIFF(p[0], q[0], p[1], q[1]) - SUM2(p[2], q[2], p[3], q[3]);
    n[1] = SUM2(p[0], q[1], p[1], q[0]) + DIFF(p[2], q[3], p[3], q[2]);
    n[2] = SUM2(p[0], q[2], p[2], q[0]) + DIFF(p[3], q[1], p[1], q[3]);
    n[3] = SUM2(p[0], q[3], p[3], q[0]) + DIFF(p[1], q[2], p[2], q[1]);
    const real square = MAD(n[3], n[3], dot(n, n)), along = MAD(n[3], p[3], dot(n, p));
    const real unit = C(1) / root(square);
    const real f = NAME(select)(NAME(at_most)(C(0), along), unit, -unit);
    for (int i = 0; i < 4; i++) pose[3 + i] = f * n[i];
    write_rows(pose, 7, s->state, &s->pose[block], l);
    write_rows(u, 6, s->state, &s->speed[block], l);
    write_rows(a, 6, s->state, &s->acceleration[block], l);
}

// ----------------------------------------------------------------------------------------- joints

// R, r of a body
enum { POSE = 12 };
#define BODY(first, from) fetch(first, s->body[0].from, &j->body[side], LWI_COUNT(first), l)

// `own`: body 1 is pushed at its own point (own_points of index3_step.c), else at body 2's.
INLINE void rows(const lwi_index3_lanes *s, int block, const int axes, const bool own, int l)
{
    const lwi_i3_joint *j = &s->joint[block];
    lwi_i3_edge *e = &s->edge[block];
    real pose[2][POSE], c[3], arm1[3], arm2[3], far[3];
    for (int side = 0; side < 2; side++) BODY(pose[side], R);
    load(c, e->r1, 3, l);
    times(arm1, pose[0], c);
    load(c, e->r2, 3, l);
    times(arm2, pose[1], c);
    for (int i = 0; i < 3; i++) {
        far[i] = pose[1][9 + i] + arm2[i] - pose[0][9 + i];
        AT(e->phi[i]) = far[i] - arm1[i];
    }
    if (!own) store(e->own, arm1, 3, l);
    store(e->side[0].arm, own ? arm1 : far, 3, l);
    store(e->side[1].arm, arm2, 3, l);
    for (int k = 0; k < axes; k++) {
        real a1[3], a2[3];
        load(c, e->axis1[k], 3, l);
        times(a1, pose[0], c);
        load(c, e->axis2[k], 3, l);
        times(a2, pose[1], c);
        AT(e->phi[3 + k]) = dot(a1, a2);
        cross(c, a2, a1);
        store(e->a1[k], a1, 3, l);
        store(e->a2[k], a2, 3, l);
        store(e->side[0].normal[k], c, 3, l);
        store(e->side[1].normal[k], c, 3, l);
    }
}

// Multipliers pull at both bodies.
INLINE void act(lwi_i3_edge *e, const real *lambda, const int axes, int l)
{
    for (int side = 0; side < 2; side++) {
        lwi_i3_side *at = &e->side[side];
        for (int i = 0; i < 3; i++) AT(at->F[i]) = side ? lambda[i] : -lambda[i];
        for (int k = 0; k < axes; k++) AT(at->f[k]) = side ? lambda[3 + k] : -lambda[3 + k];
    }
}

// Of the rows of axes: a force along one axis at the other.
INLINE void stiffness(lwi_i3_edge *e, const real *lambda, const int axes, int l)
{
    real rr[2][9];
    for (int i = 0; i < 9; i++) rr[0][i] = rr[1][i] = C(0);
    for (int k = 0; k < axes; k++) {
        real a1[3], a2[3], F1[3], F2[3];
        load(a1, e->a1[k], 3, l);
        load(a2, e->a2[k], 3, l);
        for (int i = 0; i < 3; i++) F1[i] = lambda[3 + k] * a2[i], F2[i] = lambda[3 + k] * a1[i];
        carried(rr[0], a1, F1);
        carried(rr[1], a2, F2);
    }
    for (int side = 0; side < 2; side++) store(e->side[side].rr, rr[side], 9, l);
}

INLINE void rows_forces(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    lwi_i3_edge *e = &s->edge[block];
    real lambda[LWI_I3_MOST];
    rows(s, block, axes, true, l);
    load(lambda, e->lambda, 3 + axes, l);
    act(e, lambda, axes, l);
    if (axes) stiffness(e, lambda, axes, l);
}

// A joint's rows at a body: the arm of its points, the torques of its normals.
typedef struct rows_at {
    real arm[3], normal[LWI_I3_AXES][3];
} rows_at;

// J_e K J_f' of a body, both with the sign of a second body
INLINE void product(const real K[9], real lin, const rows_at *e, const int ne, const rows_at *f,
                    const int nf, real S[LWI_I3_MOST][LWI_I3_MOST])
{
    real Y[9], c[3], x[3]; // K (arm_f)~
    for (int i = 0; i < 9; i += 3) cross(Y + i, K + i, f->arm);
    for (int k = 0; k < 3; k++) {
        const real column[3] = {Y[k], Y[3 + k], Y[6 + k]};
        cross(c, column, e->arm);
        c[k] += lin;
        for (int i = 0; i < 3; i++) S[i][k] = c[i];
        for (int i = 0; i < ne; i++) S[3 + i][k] = dot(e->normal[i], column);
    }
    for (int k = 0; k < nf; k++) {
        times(x, K, f->normal[k]);
        cross(c, x, e->arm);
        for (int i = 0; i < 3; i++) S[i][3 + k] = c[i];
        for (int i = 0; i < ne; i++) S[3 + i][3 + k] = dot(e->normal[i], x);
    }
}

INLINE void load_rows(rows_at *to, const lwi_i3_side *side, const int axes, int l)
{
    load(to->arm, side->arm, 3, l);
    for (int k = 0; k < axes; k++) load(to->normal[k], side->normal[k], 3, l);
}

enum { METRIC = 10 };

// S_ee + eps of a joint
INLINE void diagonal(const lwi_index3_lanes *s, int block, const int axes, const bool two, int l)
{
    const lwi_i3_joint *j = &s->joint[block];
    const int n = 3 + axes;
    real S[LWI_I3_MOST][LWI_I3_MOST], T[LWI_I3_MOST][LWI_I3_MOST], K[METRIC], trace;
    rows_at at;
    for (int side = 0; side < 2; side++) {
        BODY(K, K);
        load_rows(&at, &s->edge[block].side[side], axes, l);
        product(K, K[9], &at, axes, &at, axes, side ? T : S);
    }
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) S[r][c] += T[r][c];
    trace = S[0][0];
    for (int r = 1; r < n; r++) trace += S[r][r];
    const real eps = s->absolute > 0 ? C(s->absolute) : trace * AT(s->edge[block].relative);
    for (int r = 0; r < n; r++) S[r][r] += eps;
    put(j->place.R, &j->place, n, n, S, false, true, l);
    if (two) put(j->place.Q, &j->place, n, n, S, true, true, l);
}

// y = c - J x to the engine
INLINE void right(const lwi_index3_lanes *s, int block, const int axes, const real *c, int l)
{
    const lwi_i3_joint *j = &s->joint[block];
    const lwi_i3_edge *e = &s->edge[block];
    real x[2][6], y[LWI_I3_MOST], arm[3], turn[3];
    for (int side = 0; side < 2; side++) BODY(x[side], x);
    for (int i = 0; i < 3; i++) y[i] = c[i] - (x[1][i] - x[0][i]);
    load(arm, e->side[1].arm, 3, l);
    cross_add(y, arm, x[1] + 3); // less w x arm
    load(arm, e->side[0].arm, 3, l);
    cross_add(y, x[0] + 3, arm);
    for (int i = 0; i < 3; i++) turn[i] = x[1][3 + i] - x[0][3 + i];
    for (int k = 0; k < axes; k++) {
        real normal[3];
        load(normal, e->side[1].normal[k], 3, l);
        y[3 + k] = c[3 + k] - dot(normal, turn);
    }
    for (int r = 0; r < 3 + axes; r++)
        if (j->straight)
            *(stored *)(j->v[0] + r * j->step + l) = y[r];
        else
            scatter(y[r], j->v, r * j->step, l);
}

INLINE void newton(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real c[LWI_I3_MOST];
    diagonal(s, block, axes, s->level > 1, l);
    for (int r = 0; r < 3 + axes; r++) c[r] = -AT(s->edge[block].phi[r]);
    right(s, block, axes, c, l);
}

INLINE void speeds(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real c[LWI_I3_MOST];
    diagonal(s, block, axes, false, l);
    for (int r = 0; r < 3 + axes; r++) c[r] = C(0);
    right(s, block, axes, c, l);
}

// The engine's lambda acts; `more`: onto the multipliers.
INLINE void impulses(const lwi_index3_lanes *s, int block, const int axes, bool more, int l)
{
    const lwi_i3_joint *j = &s->joint[block];
    lwi_i3_edge *e = &s->edge[block];
    real lambda[LWI_I3_MOST];
    for (int r = 0; r < 3 + axes; r++) {
        if (j->straight) {
            lambda[r] = *(const stored *)(j->v[0] + r * j->step + l);
        } else {
            real one = C(0);
            for (int i = 0; i < WIDTH; i++) LANE(one, i) = j->v[l + i][r * j->step];
            lambda[r] = one;
        }
        if (more) AT(e->lambda[r]) += lambda[r];
    }
    act(e, lambda, axes, l);
}

INLINE void multipliers(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real lambda[LWI_I3_MOST];
    read_rows(s->state, &s->lambda[block], nobody, 3 + axes, lambda, l);
    store(s->edge[block].lambda, lambda, 3 + axes, l);
}

// Lanes that repeat a joint do it again.
INLINE void put_multipliers(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    real lambda[LWI_I3_MOST];
    load(lambda, s->edge[block].lambda, 3 + axes, l);
    write_rows(lambda, 3 + axes, s->state, &s->lambda[block], l);
}

// w x (w x a)
INLINE void centripetal(real c[3], const real w[3], const real a[3])
{
    real once[3];
    cross(once, w, a);
    cross(c, w, once);
}

INLINE void gammas(const lwi_index3_lanes *s, int block, const int axes, int l)
{
    const lwi_i3_joint *j = &s->joint[block];
    const lwi_i3_edge *e = &s->edge[block];
    real V[2][6], c[LWI_I3_MOST], arm1[3], arm2[3], d[3], dd[3], x[3], y[3], far[3];
    for (int side = 0; side < 2; side++) BODY(V[side], v);
    const real *w1 = V[0] + 3, *w2 = V[1] + 3;
    load(arm1, e->own, 3, l);
    load(arm2, e->side[1].arm, 3, l);
    load(d, e->phi, 3, l);
    for (int i = 0; i < 3; i++) dd[i] = V[1][i] - V[0][i], far[i] = d[i] - arm1[i];
    cross_add(dd, w2, arm2);
    cross_add(dd, arm1, w1);
    centripetal(x, w2, arm2);
    centripetal(y, w1, far); // w1 x (w1 x d) - w1 x (w1 x arm1)
    for (int i = 0; i < 3; i++) c[i] = -(x[i] + y[i]), dd[i] = C(2) * dd[i];
    cross_add(c, w1, dd);
    for (int k = 0; k < axes; k++) {
        real a1[3], a2[3];
        load(a1, e->a1[k], 3, l);
        load(a2, e->a2[k], 3, l);
        cross(x, w1, a1);
        cross(y, w2, a2);
        const real mixed = C(2) * dot(x, y);
        centripetal(x, w1, a1);
        centripetal(y, w2, a2);
        c[3 + k] = -(mixed + dot(x, a2) + dot(a1, y));
    }
    right(s, block, axes, c, l);
}

// ------------------------------------------------------------------------------------------ pairs

INLINE void pair(const lwi_index3_lanes *s, const lwi_i3_pair *p, const int ne, const int nf,
                 const bool two, int l)
{
    real S[LWI_I3_MOST][LWI_I3_MOST], K[METRIC], T[9], in[3 + 3 * LWI_I3_AXES];
    rows_at at[2];
    for (int i = 0; i < 2; i++) {
        const int n = i ? nf : ne;
        fetch(in, s->edge[0].side[0].arm, &p->side[i], 3 + 3 * n, l);
        for (int k = 0; k < 3; k++) at[i].arm[k] = in[k];
        for (int k = 0; k < 3 * n; k++) at[i].normal[k / 3][k % 3] = in[3 + k];
    }
    fetch(K, s->body[0].K, &p->body, METRIC, l);
    const real sign = AT(p->sign);
    for (int i = 0; i < METRIC; i++) K[i] = sign * K[i];
    product(K, K[9], &at[0], ne, &at[1], nf, S);
    if (p->add)
        add(p->place.R, p, 3 + ne, 3 + nf, S, l);
    else
        put(p->place.R, &p->place, 3 + ne, 3 + nf, S, false, false, l);
    if (!two) return;
    for (int i = 0; i < 9; i++) T[i] = K[3 * (i % 3) + i / 3];
    product(T, K[9], &at[0], ne, &at[1], nf, S);
    if (p->add)
        add(p->place.Q, p, 3 + ne, 3 + nf, S, l);
    else
        put(p->place.Q, &p->place, 3 + ne, 3 + nf, S, false, false, l);
}

// --------------------------------------------------------------------------------------- all of it

#define ALL for (int l = 0; l < LWI_LANES; l += WIDTH)
#define BODIES(name, text)                                                                         \
    static void name##_all(const lwi_index3_lanes *s, int first, int end)                          \
    {                                                                                              \
        for (int i = first; i < end; i++) ALL text;                                                \
    }
// with the number of axes a constant
#define JOINTS(name, text)                                                                         \
    static void name##_all(const lwi_index3_lanes *s, int first, int end)                          \
    {                                                                                              \
        for (int i = first; i < end; i++) {                                                        \
            if (s->joint[i].axes == 0) {                                                           \
                const int axes = 0;                                                                \
                ALL text;                                                                          \
            } else if (s->joint[i].axes == 1) {                                                    \
                const int axes = 1;                                                                \
                ALL text;                                                                          \
            } else {                                                                               \
                const int axes = 2;                                                                \
                ALL text;                                                                          \
            }                                                                                      \
        }                                                                                          \
    }
#define PAIRS(name, two)                                                                           \
    static void name##_all(const lwi_index3_lanes *s, int first, int end)                          \
    {                                                                                              \
        for (int i = first; i < end; i++) switch (3 * s->pair[i].axes[0] + s->pair[i].axes[1]) {   \
                PAIR(0, 0, two);                                                                   \
                PAIR(0, 1, two);                                                                   \
                PAIR(0, 2, two);                                                                   \
                PAIR(1, 0, two);                                                                   \
                PAIR(1, 1, two);                                                                   \
                PAIR(1, 2, two);                                                                   \
                PAIR(2, 0, two);                                                                   \
                PAIR(2, 1, two);                                                                   \
                PAIR(2, 2, two);                                                                   \
            }                                                                                      \
    }
#define PAIR(ne, nf, two)                                                                          \
    case 3 * ne + nf:                                                                              \
        ALL pair(s, &s->pair[i], ne, nf, two, l);                                                  \
        break

JOINTS(multipliers, multipliers(s, i, axes, l))
BODIES(begin, begin(s, i, l))
JOINTS(rows_forces, rows_forces(s, i, axes, l))
BODIES(balance, balance(s, i, l))
JOINTS(newton, newton(s, i, axes, l))
PAIRS(pairs_two, true)
PAIRS(pairs_one, false)
JOINTS(impulses, impulses(s, i, axes, false, l))
JOINTS(forces, impulses(s, i, axes, true, l))
BODIES(take, take(s, i, l))
JOINTS(rows, rows(s, i, axes, false, l))
BODIES(masses, masses(s, &s->body[i], l))
JOINTS(speeds, speeds(s, i, axes, l))
BODIES(take_speeds, take_speeds(s, i, l))
JOINTS(gammas, gammas(s, i, axes, l))
BODIES(finish, finish(s, i, l))
JOINTS(put, put_multipliers(s, i, axes, l))

#define TEXTS_2(isa) lwi_index3_texts_##isa
#define TEXTS_1(isa) TEXTS_2(isa)
extern const lwi_index3_texts TEXTS_1(ISA);
const lwi_index3_texts TEXTS_1(ISA) = {{[LWI_I3_MULTIPLIERS] = multipliers_all,
                                        [LWI_I3_BEGIN] = begin_all,
                                        [LWI_I3_ROWS_FORCES] = rows_forces_all,
                                        [LWI_I3_BALANCE] = balance_all,
                                        [LWI_I3_NEWTON] = newton_all,
                                        [LWI_I3_PAIRS] = pairs_two_all,
                                        [LWI_I3_IMPULSES] = impulses_all,
                                        [LWI_I3_FORCES] = forces_all,
                                        [LWI_I3_TAKE] = take_all,
                                        [LWI_I3_ROWS] = rows_all,
                                        [LWI_I3_MASSES] = masses_all,
                                        [LWI_I3_SPEEDS] = speeds_all,
                                        [LWI_I3_PAIRS_ONCE] = pairs_one_all,
                                        [LWI_I3_TAKE_SPEEDS] = take_speeds_all,
                                        [LWI_I3_GAMMAS] = gammas_all,
                                        [LWI_I3_FINISH] = finish_all,
                                        [LWI_I3_PUT] = put_all}};
