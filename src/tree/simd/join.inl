// join.inl -- joins the segments of a long chain (segments.inl), one after the other, with rows in lanes.
//
// Problem: a segment maps the wrench f at its tip and the acceleration A of its base to
//
//     A_tip  = T'A + e - L f,     wrench at the base = I A + p + T f
//
// With the articulated inertia (I_t, p_t) of the descendants of the tip, f = I_t A_tip + p_t gives
//
//     Q = (1 + I_t L)^-1 I_t,   q = Q (e - L p_t) + p_t,   f = Q T'A + q
//     I += T Q T',   p += T q
//
// Input: T, L, e, I, p of all segments.  Output: A at all bases, f at all tips, and (I, p) of the
// branch.  Cost: O(1) per segment, some 6^3 multiplications.

// w of every base: segment->w becomes the angular velocity at the base of each segment.
static void join_velocities(const lwi_k_stage *stage, lwi_k_segment *segment)
{
    double w[3] = {segment->w_base[0][0], segment->w_base[1][0], segment->w_base[2][0]};
    for (int r = 0; r < stage->segments; r++) {
        double tip[3];
        for (int i = 0; i < 3; i++)
            tip[i] =
                segment->w[i][r] + (segment->C[3 * i][r] * w[0] + segment->C[3 * i + 1][r] * w[1] +
                                    segment->C[3 * i + 2][r] * w[2]);
        for (int i = 0; i < 3; i++) {
            segment->w[i][r] = w[i];
            w[i] = tip[i];
        }
    }
}

// A matrix by rows of six numbers in eight places, with a row in one register, in two, or number by number.  The last two
// places are zero.
typedef double join_matrix[6][LWI_LANES] __attribute__((aligned(64)));
typedef double join_vector[LWI_LANES] __attribute__((aligned(64)));
enum { ROW = WIDTH == 1 ? 6 : LWI_LANES / WIDTH };
#define ROW_OF(x, e) (*(stored *)&(x)[(e)*WIDTH])

// What a segment brings to its joins: I, p; the columns of T as rows; L = sum of l l' / d.  The entries of l before place j
// are zero in row j, and entry j is d.  Pivots of L within the rounding error of their diagonal are dropped: l = 0, d = 1.
typedef struct join_part {
    join_matrix I, T, l;
    join_vector p, d;
} join_part;

// x += a y
static INLINE void add_row(real x[ROW], double a, const real y[ROW])
{
    for (int e = 0; e < ROW; e++) MORE(x[e], NAME(splat)(a), y[e]);
}
static INLINE void load_row(real x[ROW], const double *from)
{
    for (int e = 0; e < ROW; e++) x[e] = ROW_OF(from, e);
}
static INLINE void store_row(double *to, const real x[ROW])
{
    for (int e = 0; e < ROW; e++) ROW_OF(to, e) = x[e];
}

// a . x, in the order of registers of four
static INLINE double dot_row(const join_vector a, const real x[ROW])
{
    real m[ROW];
    for (int e = 0; e < ROW; e++) m[e] = ROW_OF(a, e) * x[e];
#if WIDTH == 1
    double sum = 0;
    ROW_OF(&sum, 0) = ((m[0] + m[4]) + m[2]) + ((m[1] + m[5]) + m[3]);
    return sum;
#else
#if WIDTH == 4
    const four sum = m[0] + m[1];
#else
    const four sum = __builtin_shufflevector(m[0], m[0], 0, 1, 2, 3) +
                     __builtin_shufflevector(m[0], m[0], 4, 5, 6, 7);
#endif
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
#endif
}

// Entries 0 ... 5 of every segment become a row of its part.
#define READ_ROW(stage, part, row, entry)                                                          \
    do {                                                                                           \
        const double *const entries[6] = {entry(0), entry(1), entry(2),                            \
                                          entry(3), entry(4), entry(5)};                           \
        read_row(stage, entries, (part)->row);                                                     \
    } while (0)
static INLINE void read_row(const lwi_k_stage *stage, const double *const entry[6], double *to)
{
    enum { NEXT = sizeof(join_part) / sizeof(double) };
#if WIDEST > 1
    for (int r = 0; r < stage->segments; r += 4, to += 4 * NEXT) {
        four x[4],
            y[4] = {*(const loose_four *)(entry[4] + r), *(const loose_four *)(entry[5] + r)};
        for (int i = 0; i < 4; i++) x[i] = *(const loose_four *)(entry[i] + r);
        transpose_four(x);
        transpose_four(y);
        for (int i = 0; i < 4; i++) {
            *(loose_four *)(to + i * NEXT) = x[i];
            *(loose_four *)(to + i * NEXT + 4) = y[i];
        }
    }
#else
    for (int r = 0; r < stage->segments; r++, to += NEXT)
        for (int i = 0; i < 6; i++) to[i] = entry[i][r];
#endif
}

static const int place_of[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};

// L = sum of l l' / d (Cholesky) of WIDTH segments from lane `l` on; row j of l in lanes.
static INLINE void factor(const lwi_k_segment *segment, int l, lwi_lanes column[6][6],
                          lwi_lanes pivot[6])
{
    const real zero = NAME(splat)(0);
    real L[6][6];
    for (int i = 0, e = 0; i < 6; i++)
        for (int j = 0; j <= i; j++, e++) L[i][j] = AT(segment->L[e]);
    for (int j = 0; j < 6; j++) {
        const real d = L[j][j], min_pivot = 64 * DBL_EPSILON * AT(segment->L[j * (j + 3) / 2]);
        const mask dropped = NAME(at_most)(d, min_pivot);
        const real inverse = NAME(select)(dropped, zero, 1 / d);
        AT(pivot[j]) = NAME(select)(dropped, NAME(splat)(1), d);
        for (int i = j; i < 6; i++) AT(column[j][i]) = NAME(select)(dropped, zero, L[i][j]);
        for (int i = j + 1; i < 6; i++) {
            const real ratio = L[i][j] * inverse;
            for (int k = j + 1; k <= i; k++) LESS(L[i][k], ratio, L[k][j]);
        }
    }
}

static void read_parts(const lwi_k_stage *stage, const lwi_k_segment *segment, join_part *part)
{
    static const lwi_lanes zero = {0};
    const lwi_k_art *art = &segment->art;
    lwi_lanes column[6][6] __attribute__((aligned(64))), pivot[6] __attribute__((aligned(64)));
    for (int r = 0; r < stage->segments; r += WIDTH) factor(segment, r, column, pivot);
    for (int j = 0; j < 6; j++) {
#define OF_T(i) segment->T[6 * (i) + j]
#define OF_L(i) ((i) < j ? zero : column[j][i])
        READ_ROW(stage, part, T[j], OF_T);
        READ_ROW(stage, part, l[j], OF_L);
    }
    for (int i = 0; i < 3; i++) {
#define UPPER(j) ((j) < 3 ? art->A[place_of[i][(j) % 3]] : art->B[3 * i + (j) % 3])
#define LOWER(j) ((j) < 3 ? art->B[3 * ((j) % 3) + i] : art->C[place_of[i][(j) % 3]])
        READ_ROW(stage, part, I[i], UPPER);
        READ_ROW(stage, part, I[3 + i], LOWER);
    }
#define OF_P(i) art->p[i]
#define OF_D(i) pivot[i]
    READ_ROW(stage, part, p, OF_P);
    READ_ROW(stage, part, d, OF_D);
#undef OF_T
#undef OF_L
#undef UPPER
#undef LOWER
#undef OF_P
#undef OF_D
}

static void read_art(const lwi_k_art *art, int r, join_matrix I, join_vector p)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            I[i][j] = art->A[place_of[i][j]][r];
            I[i][3 + j] = I[3 + j][i] = art->B[3 * i + j][r];
            I[3 + i][3 + j] = art->C[place_of[i][j]][r];
        }
    for (int i = 0; i < 6; i++) p[i] = art->p[i][r];
}

static void write_art(join_matrix I, const join_vector p, lwi_k_art *art)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            art->A[place_of[i][j]][0] = I[i][j];
            art->B[3 * i + j][0] = I[i][3 + j];
            art->C[place_of[i][j]][0] = I[3 + i][3 + j];
        }
    for (int i = 0; i < 6; i++) art->p[i][0] = p[i];
}

// Q := (1 + I L)^-1 I = (I^-1 + L)^-1, computed without an inverse because I and L may be singular.  Each term of L subtracts
// Q l (Q l)' / (d + l'Q l).  On entry Q holds I.
static INLINE void soften(const join_part *part, real Q[6][ROW])
{
    for (int j = 0; j < 6; j++) {
        real Ql[ROW], second[ROW];
        join_vector at;
        for (int e = 0; e < ROW; e++) {
            Ql[e] = NAME(splat)(part->l[j][j]) * Q[j][e];
            second[e] = j < 5 ? NAME(splat)(part->l[j][j + 1]) * Q[j + 1][e] : NAME(splat)(0);
        }
        for (int k = j + 2; k < 6; k++) add_row((k - j) % 2 ? second : Ql, part->l[j][k], Q[k]);
        for (int e = 0; e < ROW && j < 5; e++) Ql[e] += second[e];
        const double s = 1 / (part->d[j] + dot_row(part->l[j], Ql));
        store_row(at, Ql);
        for (int e = 0; e < ROW; e++) Ql[e] *= NAME(splat)(s);
        for (int i = 0; i < 6; i++)
            for (int e = 0; e < ROW; e++) LESS(Q[i][e], NAME(splat)(at[i]), Ql[e]);
    }
}

// x = e - L p
static void free_tip(const lwi_k_segment *segment, int r, const join_vector p, double x[6])
{
    for (int i = 0; i < 6; i++) {
        x[i] = segment->e[i][r];
        for (int j = 0; j < 6; j++) {
            const int e = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
            x[i] -= segment->L[e][r] * p[j];
        }
    }
}

// (I, p) := those of the segment + (T Q T', T q); row i of T Q T' = sum of (T Q)_ik T'_k
static INLINE void add_beyond(const join_part *part, const real Q[6][ROW], const join_vector q,
                              join_matrix I, join_vector p)
{
    real columns[6][ROW], x[ROW];
    load_row(x, part->p);
    for (int j = 0; j < 6; j++) {
        load_row(columns[j], part->T[j]);
        add_row(x, q[j], columns[j]);
    }
    store_row(p, x);
    for (int i = 0; i < 6; i++) {
        join_vector TQ;
        for (int e = 0; e < ROW; e++) x[e] = NAME(splat)(part->T[0][i]) * Q[0][e];
        for (int k = 1; k < 6; k++) add_row(x, part->T[k][i], Q[k]);
        store_row(TQ, x);
        load_row(x, part->I[i]);
        for (int k = 0; k < 6; k++) add_row(x, TQ[k], columns[k]);
        store_row(I[i], x);
    }
}

// (I, p) at the tip of segment r becomes (I, p) at its base if `on`.
static void join_inward(lwi_k_segment *segment, int r, const join_part *part, bool on,
                        join_matrix I, join_vector p)
{
    lwi_k_join *at = &segment->join[r];
    real Q[6][ROW], q[ROW];
    double x[6];
    free_tip(segment, r, p, x);
    for (int i = 0; i < 6; i++) load_row(Q[i], I[i]);
    soften(part, Q);
    load_row(q, p); // q = Q (e - L p) + p
    for (int j = 0; j < 6; j++) {
        add_row(q, x[j], Q[j]);
        store_row(at->Q[j], Q[j]);
    }
    store_row(at->q, q);
    if (on) add_beyond(part, Q, at->q, I, p);
}

// A of the base of segment r becomes that of the next base; computes the wrench f between them.
static void join_outward(lwi_k_segment *segment, int r, double A[6])
{
    const lwi_k_join *at = &segment->join[r];
    double x[6], f[6];
    for (int i = 0; i < 6; i++) {
        x[i] = 0;
        for (int j = 0; j < 6; j++) x[i] += segment->T[6 * j + i][r] * A[j];
    }
    for (int i = 0; i < 6; i++) {
        f[i] = at->q[i];
        for (int j = 0; j < 6; j++) f[i] += at->Q[i][j] * x[j];
        segment->f[i][r] = f[i];
    }
    for (int i = 0; i < 6; i++) {
        A[i] = x[i] + segment->e[i][r];
        for (int j = 0; j < 6; j++) {
            const int e = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
            A[i] -= segment->L[e][r] * f[j];
        }
    }
}

// Articulated inertia of the bodies attached to the last body of the branch; NULL: none.
static const lwi_k_art *beyond(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                               const lwi_k_state *state, int *lane)
{
    const int place = plan->step[stage->end - 1].fetch;
    *lane = place < 0 ? 0 : place % LWI_LANES;
    return place < 0 ? NULL : &state->art[place / LWI_LANES];
}

// Articulated inertia of the branch from that of the bodies attached to its last body; on the ground it is not needed.
static void join_inertias(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                          const lwi_k_state *state)
{
    lwi_k_segment *segment = &state->segment[stage->segment];
    const bool needed = plan->step[stage->first].park >= 0;
    join_part part[LWI_LANES];
    join_matrix I = {{0}};
    join_vector p = {0};
    int lane, r = stage->segments - 1;
    const lwi_k_art *art = beyond(plan, stage, state, &lane);
    read_parts(stage, segment, part);
    if (art) {
        read_art(art, lane, I, p);
    } else {
        memcpy(I, part[r].I, sizeof I);
        memcpy(p, part[r--].p, sizeof p);
    }
    for (; r >= 0; r--) join_inward(segment, r, &part[r], r > 0 || needed, I, p);
    if (needed) write_art(I, p, &segment->left);
}

// A of all bases from A of the first one, and the wrenches between the segments.
static void join_motions(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                         lwi_k_segment *segment)
{
    const int last = plan->step[stage->end - 1].fetch < 0 ? stage->segments - 1 : stage->segments;
    double A[6];
    for (int i = 0; i < 6; i++) A[i] = segment->A[i][0];
    for (int r = 0; r < stage->segments; r++) {
        for (int i = 0; i < 6; i++) segment->A[i][r] = A[i], segment->f[i][r] = 0;
        if (r < last) join_outward(segment, r, A);
    }
}

static void join_gravity(const lwi_k_stage *stage, lwi_k_segment *segment)
{
    double g[3] = {segment->g[0][0], segment->g[1][0], segment->g[2][0]};
    for (int r = 0; r < stage->segments; r++) {
        const double x = g[0], y = g[1], z = g[2];
        for (int i = 0; i < 3; i++) {
            segment->g[i][r] = g[i];
            g[i] = segment->C[3 * i][r] * x + segment->C[3 * i + 1][r] * y +
                   segment->C[3 * i + 2][r] * z;
        }
    }
}

// First moments of mass: h at a base is that of the segment plus C' times h at its tip.
static void join_first_moments(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                               const lwi_k_state *state)
{
    lwi_k_segment *segment = &state->segment[stage->segment];
    int lane;
    const lwi_k_art *art = beyond(plan, stage, state, &lane);
    double h[3] = {0, 0, 0};
    for (int i = 0; i < 3 && art; i++) h[i] = art->h[i][lane];
    for (int r = stage->segments - 1; r >= 0; r--) {
        const double x = h[0], y = h[1], z = h[2];
        for (int i = 0; i < 3; i++) {
            segment->h[i][r] = h[i];
            h[i] = segment->art.h[i][r] +
                   (segment->C[i][r] * x + segment->C[3 + i][r] * y + segment->C[6 + i][r] * z);
        }
    }
    for (int i = 0; i < 3; i++) segment->left.h[i][0] = h[i];
}

// ------------------------------------------------------------------------- inverse dynamics, rnea_segments.inl

static void turn_by_prefix(const lwi_k_segment *segment, int r, const double x[3], double tip[3])
{
    for (int i = 0; i < 3; i++)
        tip[i] = segment->C[3 * i][r] * x[0] + segment->C[3 * i + 1][r] * x[1] +
                 segment->C[3 * i + 2][r] * x[2];
}

static void turn_back_by_prefix(const lwi_k_segment *segment, int r, const double x[3],
                                double base[3])
{
    for (int i = 0; i < 3; i++)
        base[i] =
            segment->C[i][r] * x[0] + segment->C[3 + i][r] * x[1] + segment->C[6 + i][r] * x[2];
}

static void cross3(double c[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = a[j] * b[k] - a[k] * b[j];
    }
}

// Accelerations A of the bases from that of the first one.
static void join_moves(const lwi_k_stage *stage, lwi_k_segment *segment)
{
    double A[6], a[3], al[3], c[3];
    for (int i = 0; i < 6; i++) A[i] = segment->A[i][0];
    for (int r = 0; r < stage->segments; r++) {
        const double p[3] = {segment->L[0][r], segment->L[1][r], segment->L[2][r]};
        turn_by_prefix(segment, r, A, a);
        turn_by_prefix(segment, r, A + 3, al);
        cross3(c, al, p);
        for (int i = 0; i < 6; i++) segment->A[i][r] = A[i];
        for (int i = 0; i < 3; i++) {
            A[i] = segment->e[i][r] + (a[i] + c[i]);
            A[3 + i] = segment->e[3 + i][r] + al[i];
        }
    }
}

// Wrenches f at the tips from those of the bodies of each segment at its base, and from the bodies beyond.
static void join_wrenches(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                          const lwi_k_state *state)
{
    lwi_k_segment *segment = &state->segment[stage->segment];
    const int fetch = plan->step[stage->end - 1].fetch;
    double f[6] = {0}, base[6], n[3];
    for (int i = 0; i < 6 && fetch >= 0; i++)
        f[i] = state->art[lwi_k_block(fetch)].A[i][lwi_k_lane(fetch)];
    for (int r = stage->segments - 1; r >= 0; r--) {
        const double p[3] = {segment->L[0][r], segment->L[1][r], segment->L[2][r]};
        cross3(n, p, f);
        for (int i = 0; i < 3; i++) n[i] = f[3 + i] + n[i];
        turn_back_by_prefix(segment, r, f, base);
        turn_back_by_prefix(segment, r, n, base + 3);
        for (int i = 0; i < 6; i++) {
            base[i] = segment->f[i][r] + base[i];
            segment->f[i][r] = f[i];
            f[i] = base[i];
        }
    }
    for (int i = 0; i < 6; i++) segment->left.A[i][0] = f[i];
}
