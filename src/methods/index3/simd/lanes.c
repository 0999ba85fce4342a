// lanes.c -- kernels of lanes.h.  Compiled once for each instruction set.
//
// Problem: Newton's iterations and projections of an index3 step, for blocks of bodies and joints in lanes.
// Equations: lanes.h; step.c, tangent.c and project.c [malczyk2019].
// Input: state, rows and multipliers.  Output: blocks of the elimination, state at the end of the step.
// Cost: O(bodies + joints) per iteration, constant per body and joint.
//
// Macros in:  ISA, name of the instruction set; WIDEST, lanes of its registers.
// Output: lwi_index3_kernels_<ISA>.
#include "methods/index3/lanes.h"

#include "base/simd/sums.h"

#include <string.h>

#define WIDTH WIDEST
#include "base/simd/lane.inl"

#define ZERO NAME(splat)(0)
#include "base/simd/sincos.inl"
#include "base/simd/transpose.inl"
#define C(x) NAME(splat)(x)

// ---------------------------------------------------------------------------------------- in, out

static INLINE void load(real *to, const lwi_lanes *from, const int n, int l)
{
    for (int i = 0; i < n; i++) to[i] = AT(from[i]);
}

static INLINE void store(lwi_lanes *to, const real *from, const int n, int l)
{
    for (int i = 0; i < n; i++) AT(to[i]) = from[i];
}

// reads n entries of other blocks
static INLINE void fetch(real *to, const void *blocks, const lwi_index3_lane_source *from,
                         const int n, int l)
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

// one number of every lane to to[lane][offset]; repeated lanes write it again
static INLINE void scatter(real x, double *const *to, int offset, int l)
{
    for (int i = 0; i < WIDTH; i++) to[l + i][offset] = LANE(x, i);
}

// writes rows x columns of a block; `swap`: exchanged; `upper`: only the upper triangle of a diagonal block
static INLINE void put(double *const *to, const lwi_index3_lane_target *p, const int rows,
                       const int columns, real x[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS],
                       const bool swap, const bool upper, int l)
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

// adds to existing entries, repeated lanes omitted
static INLINE void add(double *const *to, const lwi_index3_lane_pair *p, const int rows,
                       const int columns, real x[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS], int l)
{
    const int lanes = p->lanes - l < WIDTH ? p->lanes - l : WIDTH;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            for (int i = 0; i < lanes; i++)
                to[l + i][r * p->place.down[l + i] + c * p->place.right] += LANE(x[r][c], i);
}

// ------------------------------------------------------------------------------------- 3 x 3, by 3

static INLINE void cross(real c[3], const real a[3], const real b[3])
{
    const real x = DIFF(a[1], b[2], a[2], b[1]), y = DIFF(a[2], b[0], a[0], b[2]);
    c[2] = DIFF(a[0], b[1], a[1], b[0]);
    c[0] = x, c[1] = y;
}

static INLINE void cross_add(real c[3], const real a[3], const real b[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = NMAD(a[k], b[j], MAD(a[j], b[k], c[i]));
    }
}

static INLINE real dot(const real a[3], const real b[3])
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}

static INLINE void times(real x[3], const real A[9], const real b[3])
{
    for (int i = 0; i < 3; i++) x[i] = SUM3(A[3 * i], b[0], A[3 * i + 1], b[1], A[3 * i + 2], b[2]);
}

static INLINE void transposed_times(real x[3], const real A[9], const real b[3])
{
    for (int i = 0; i < 3; i++) x[i] = SUM3(A[i], b[0], A[3 + i], b[1], A[6 + i], b[2]);
}

// K = R J R', J symmetric: xx yy zz xy xz yz; all nine entries
static INLINE void rotate(real K[9], const real R[9], const real J[6])
{
    for (int i = 0; i < 3; i++) {
        const real a = R[3 * i], b = R[3 * i + 1], c = R[3 * i + 2];
        const real B[3] = {SUM3(a, J[0], b, J[3], c, J[4]), SUM3(a, J[3], b, J[1], c, J[5]),
                           SUM3(a, J[4], b, J[5], c, J[2])};
        for (int j = 0; j <= i; j++) K[3 * i + j] = K[3 * j + i] = dot(B, R + 3 * j);
    }
}

#include "methods/index3/simd/bodies.inl"
#include "methods/index3/simd/joints.inl"
#include "methods/index3/simd/mixed.inl"

// ------------------------------------------------------------------------------------------ pairs

static INLINE void pair(const lwi_index3_lanes *s, const lwi_index3_lane_pair *p, const int ne,
                        const int nf, const bool two, int l)
{
    real S[LWI_INDEX3_MAX_ROWS][LWI_INDEX3_MAX_ROWS], K[METRIC], T[9], in[3 + 3 * LWI_INDEX3_AXES];
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
#define MIXED(call)                                                                                \
    if (s->joint[i].mixed) {                                                                       \
        ALL call;                                                                                  \
        continue;                                                                                  \
    }
#define BODIES(name, call)                                                                         \
    static void name##_all(const lwi_index3_lanes *s, int first, int end)                          \
    {                                                                                              \
        for (int i = first; i < end; i++) ALL call;                                                \
    }
// with the number of axes constant
#define JOINTS(name, call, mixed_call)                                                             \
    static void name##_all(const lwi_index3_lanes *s, int first, int end)                          \
    {                                                                                              \
        for (int i = first; i < end; i++) {                                                        \
            MIXED(mixed_call)                                                                      \
            if (s->joint[i].axes == 0) {                                                           \
                const int axes = 0;                                                                \
                ALL call;                                                                          \
            } else if (s->joint[i].axes == 1) {                                                    \
                const int axes = 1;                                                                \
                ALL call;                                                                          \
            } else {                                                                               \
                const int axes = 2;                                                                \
                ALL call;                                                                          \
            }                                                                                      \
        }                                                                                          \
    }
#define PAIRS(name, two)                                                                           \
    static void name##_all(const lwi_index3_lanes *s, int first, int end)                          \
    {                                                                                              \
        for (int i = first; i < end; i++) {                                                        \
            if (s->pair[i].mixed) {                                                                \
                ALL mixed_pair(s, &s->pair[i], two, l);                                            \
                continue;                                                                          \
            }                                                                                      \
            switch (3 * s->pair[i].axes[0] + s->pair[i].axes[1]) {                                 \
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
        }                                                                                          \
    }
#define PAIR(ne, nf, two)                                                                          \
    case 3 * ne + nf:                                                                              \
        ALL pair(s, &s->pair[i], ne, nf, two, l);                                                  \
        break

JOINTS(multipliers, multipliers(s, i, axes, l), mixed_multipliers(s, i, l))
BODIES(begin, begin(s, i, l))
JOINTS(rows_forces, rows_forces(s, i, axes, l), mixed_rows_forces(s, i, l))
BODIES(balance, balance(s, i, l))
JOINTS(newton, newton(s, i, axes, l), mixed_newton(s, i, l))
PAIRS(pairs_two, true)
PAIRS(pairs_one, false)
JOINTS(impulses, impulses(s, i, axes, false, l), mixed_impulses(s, i, false, l))
JOINTS(forces, impulses(s, i, axes, true, l), mixed_impulses(s, i, true, l))
BODIES(take, take(s, i, l))
JOINTS(rows, rows_alone(s, i, axes, l), mixed_rows(s, i, false, l))
BODIES(masses, masses(s, &s->body[i], l))
JOINTS(speeds, speeds(s, i, axes, l), mixed_speeds(s, i, l))
BODIES(take_speeds, take_speeds(s, i, l))
JOINTS(gammas, gammas(s, i, axes, l), mixed_gammas(s, i, l))
BODIES(finish, finish(s, i, l))
JOINTS(put, put_multipliers(s, i, axes, l), mixed_put(s, i, l))

#define KERNELS_2(isa) lwi_index3_kernels_##isa
#define KERNELS_1(isa) KERNELS_2(isa)
extern const lwi_index3_kernels KERNELS_1(ISA);
const lwi_index3_kernels KERNELS_1(ISA) = {{[LWI_INDEX3_MULTIPLIERS] = multipliers_all,
                                            [LWI_INDEX3_BEGIN] = begin_all,
                                            [LWI_INDEX3_ROWS_FORCES] = rows_forces_all,
                                            [LWI_INDEX3_BALANCE] = balance_all,
                                            [LWI_INDEX3_NEWTON] = newton_all,
                                            [LWI_INDEX3_PAIRS] = pairs_two_all,
                                            [LWI_INDEX3_IMPULSES] = impulses_all,
                                            [LWI_INDEX3_FORCES] = forces_all,
                                            [LWI_INDEX3_TAKE] = take_all,
                                            [LWI_INDEX3_ROWS] = rows_all,
                                            [LWI_INDEX3_MASSES] = masses_all,
                                            [LWI_INDEX3_SPEEDS] = speeds_all,
                                            [LWI_INDEX3_PAIRS_ONCE] = pairs_one_all,
                                            [LWI_INDEX3_TAKE_SPEEDS] = take_speeds_all,
                                            [LWI_INDEX3_GAMMAS] = gammas_all,
                                            [LWI_INDEX3_FINISH] = finish_all,
                                            [LWI_INDEX3_PUT] = put_all}};
