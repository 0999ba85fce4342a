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

// A matrix by rows of six numbers in eight places, with a row in one register, in two, or number by number.
typedef double join_matrix[6][LWI_LANES] __attribute__((aligned(64)));
typedef double join_vector[LWI_LANES] __attribute__((aligned(64)));
enum { ROW = WIDTH == 1 ? 6 : LWI_LANES / WIDTH };
#define ROW_OF(x, e) (*(stored *)&(x)[(e)*WIDTH])

// x += a y, not fused
static INLINE void add_row(real x[ROW], double a, const real y[ROW])
{
    for (int e = 0; e < ROW; e++) x[e] += NAME(splat)(a) * y[e];
}
static INLINE void load_row(real x[ROW], const double *from)
{
    for (int e = 0; e < ROW; e++) x[e] = ROW_OF(from, e);
}
static INLINE void store_row(double *to, const real x[ROW])
{
    for (int e = 0; e < ROW; e++) ROW_OF(to, e) = x[e];
}

#if WIDTH > 1
// all bits of places 0 ... i
static const int64_t up_to[6][LWI_LANES] __attribute__((aligned(64))) = {
    {-1}, {-1, -1}, {-1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1, -1}, {-1, -1, -1, -1, -1, -1}};
#endif

static const int place_of[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};

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

// Q -= s x x', at: the entries of x.  An entry and its mirror image are the same product, s x_i x_k with i >= k.
static INLINE void subtract_square(real Q[6][ROW], const join_vector at, const real x[ROW],
                                   double s)
{
    real sx[ROW];
    for (int e = 0; e < ROW; e++) sx[e] = NAME(splat)(s) * x[e];
    for (int i = 0; i < 6; i++)
        for (int e = 0; e < ROW; e++) {
            const real below = NAME(splat)(s * at[i]) * x[e], above = sx[e] * NAME(splat)(at[i]);
#if WIDTH == 1
            Q[i][e] -= e <= i ? below : above;
#else
            Q[i][e] -= NAME(select)(*(const mask *)&up_to[i][e * WIDTH], below, above);
#endif
        }
}

// Q := (1 + I L)^-1 I = (I^-1 + L)^-1, computed without an inverse because I and L may be singular.
// L = sum of d l l' (Cholesky); each term subtracts Q l (Q l)' d / (1 + d l'Q l), with a denominator
// >= 1.  Pivots of L within the rounding error of their diagonal are dropped.  On entry Q holds I.
static void soften(const lwi_k_segment *segment, int r, real Q[6][ROW])
{
    double L[6][6];
    for (int i = 0, e = 0; i < 6; i++)
        for (int j = 0; j <= i; j++, e++) L[i][j] = segment->L[e][r];
    for (int j = 0; j < 6; j++) {
        const double min_pivot = 64 * DBL_EPSILON * segment->L[j * (j + 3) / 2][r], d = L[j][j];
        if (!(d > min_pivot)) continue;
        real Ql[ROW];
        join_vector at;
        for (int e = 0; e < ROW; e++) Ql[e] = Q[j][e] * NAME(splat)(d);
        for (int k = j + 1; k < 6; k++) add_row(Ql, L[k][j], Q[k]);
        store_row(at, Ql);
        double lQl = at[j] * d;
        for (int k = j + 1; k < 6; k++) lQl += at[k] * L[k][j];
        const double s = 1 / (d + lQl), inverse = 1 / d; // both l and Ql are d times too large
        subtract_square(Q, at, Ql, s);
        for (int i = j + 1; i < 6; i++) {
            const double factor = L[i][j] * inverse;
            for (int k = j + 1; k <= i; k++) L[i][k] -= factor * L[k][j];
        }
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

// I += T Q T', p += T q, columns of T as rows; row i of T Q T' = sum of (T Q)_ik T'_k
static void add_beyond(const lwi_k_segment *segment, int r, const real Q[6][ROW],
                       const join_vector q, join_matrix I, join_vector p)
{
    real columns[6][ROW], x[ROW];
    join_matrix T = {{0}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) T[j][i] = segment->T[6 * i + j][r];
    load_row(x, p);
    for (int j = 0; j < 6; j++) {
        load_row(columns[j], T[j]);
        add_row(x, q[j], columns[j]);
    }
    store_row(p, x);
    for (int i = 0; i < 6; i++) {
        join_vector TQ;
        for (int e = 0; e < ROW; e++) x[e] = NAME(splat)(0);
        for (int k = 0; k < 6; k++) add_row(x, T[k][i], Q[k]);
        store_row(TQ, x);
        load_row(x, I[i]);
        for (int k = 0; k < 6; k++) add_row(x, TQ[k], columns[k]);
        store_row(I[i], x);
    }
    for (int i = 1; i < 6; i++)
        for (int j = 0; j < i; j++) I[j][i] = I[i][j];
}

// (I, p) at the tip of segment r becomes (I, p) at its base.
static void join_inward(lwi_k_segment *segment, int r, join_matrix I, join_vector p)
{
    lwi_k_join *at = &segment->join[r];
    real Q[6][ROW], q[ROW];
    double x[6];
    for (int i = 0; i < 6; i++) load_row(Q[i], I[i]);
    soften(segment, r, Q);
    free_tip(segment, r, p, x);
    load_row(q, p); // q = Q (e - L p) + p
    for (int j = 0; j < 6; j++) {
        add_row(q, x[j], Q[j]);
        store_row(at->Q[j], Q[j]);
    }
    store_row(at->q, q);
    read_art(&segment->art, r, I, p);
    add_beyond(segment, r, Q, at->q, I, p);
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

// Articulated inertia of the branch from that of the bodies attached to its last body.
static void join_inertias(const lwi_kernel_plan *plan, const lwi_k_stage *stage,
                          const lwi_k_state *state)
{
    lwi_k_segment *segment = &state->segment[stage->segment];
    join_matrix I = {{0}};
    join_vector p = {0};
    int lane, r = stage->segments - 1;
    const lwi_k_art *art = beyond(plan, stage, state, &lane);
    if (art)
        read_art(art, lane, I, p);
    else
        read_art(&segment->art, r--, I, p);
    for (; r >= 0; r--) join_inward(segment, r, I, p);
    write_art(I, p, &segment->left);
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
