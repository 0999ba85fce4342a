// rows.inl -- copies LWI_LANES states to the blocks of a batch, and its results back.
//
// A row is one entry of LWI_LANES states.  States [LWI_LANES][n] become rows [n][LWI_LANES] by
// transposing WIDTH x WIDTH squares.  Nothing is computed.  Loads have the size and alignment of the
// preceding stores, because a processor does not forward parts of several stores to one load.
//
// Input and output: states, rows, blocks.  Cost: O(n) loads and stores.

#if WIDEST > 1
// The same as `stored` without alignment.
typedef double loose __attribute__((vector_size(8 * WIDTH), may_alias, aligned(8)));
#define ROW(rows, i, half) (*(loose *)&(rows)[(i)*LWI_LANES + (half)])
#define ROW_OF(rows, i, half) (*(const loose *)&(rows)[(i)*LWI_LANES + (half)])

// Loads `count` numbers; the other lanes are zero.
static INLINE real some(const double *from, int count)
{
#if WIDTH == 8
    return (real)_mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), from);
#else
    const __m256i set = _mm256_setr_epi64x(-1, -(count > 1), -(count > 2), -(count > 3));
    return (real)_mm256_maskload_pd(from, set);
#endif
}
static INLINE void put_some(double *to, int count, real x)
{
#if WIDTH == 8
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), (__m512d)x);
#else
    const __m256i set = _mm256_setr_epi64x(-1, -(count > 1), -(count > 2), -(count > 3));
    _mm256_maskstore_pd(to, set, (__m256d)x);
#endif
}

// x[i] lane j := x[j] lane i
static INLINE void transpose(real x[WIDTH])
{
#define PICK __builtin_shufflevector
#if WIDTH == 8
    real t[8], u[8];
    for (int r = 0; r < 8; r += 2) { // pairs of states: even and odd entries
        t[r] = PICK(x[r], x[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[r + 1] = PICK(x[r], x[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int r = 0; r < 8; r += 4) // four states: entries 0 and 4, 1 and 5, 2 and 6, 3 and 7
        for (int parity = 0; parity < 2; parity++) {
            u[r + parity] = PICK(t[r + parity], t[r + 2 + parity], 0, 1, 8, 9, 4, 5, 12, 13);
            u[r + 2 + parity] = PICK(t[r + parity], t[r + 2 + parity], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int e = 0; e < 4; e++) {
        x[e] = PICK(u[e], u[4 + e], 0, 1, 2, 3, 8, 9, 10, 11);
        x[4 + e] = PICK(u[e], u[4 + e], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#else
    real t[4];
    for (int r = 0; r < 4; r += 2) {
        t[r] = PICK(x[r], x[r + 1], 0, 4, 2, 6);
        t[r + 1] = PICK(x[r], x[r + 1], 1, 5, 3, 7);
    }
    for (int e = 0; e < 2; e++) {
        x[e] = PICK(t[e], t[2 + e], 0, 1, 4, 5);
        x[2 + e] = PICK(t[e], t[2 + e], 2, 3, 6, 7);
    }
#endif
#undef PICK
}

static void to_rows(const double *states, int n, double *rows)
{
    for (int half = 0; half < LWI_LANES; half += WIDTH)
        for (int i = 0; i < n; i += WIDTH) {
            const int count = n - i < WIDTH ? n - i : WIDTH;
            const double *from = states + half * n + i;
            real x[WIDTH];
            for (int r = 0; r < WIDTH; r++) x[r] = some(from + r * n, count);
            transpose(x);
            for (int e = 0; e < count; e++) ROW(rows, i + e, half) = x[e];
        }
}

static void from_rows(const double *rows, int n, double *states)
{
    for (int half = 0; half < LWI_LANES; half += WIDTH)
        for (int i = 0; i < n; i += WIDTH) {
            const int count = n - i < WIDTH ? n - i : WIDTH;
            double *to = states + half * n + i;
            real x[WIDTH];
            for (int e = 0; e < WIDTH; e++) x[e] = ROW_OF(rows, i + (e < count ? e : 0), half);
            transpose(x);
            for (int r = 0; r < WIDTH; r++) put_some(to + r * n, count, x[r]);
        }
}
#else
#define ROW(rows, i, half) ((rows)[(i)*LWI_LANES + (half)])
#define ROW_OF ROW
static void to_rows(const double *states, int n, double *rows)
{
    for (int l = 0; l < LWI_LANES; l++)
        for (int i = 0; i < n; i++) rows[i * LWI_LANES + l] = states[l * n + i];
}
static void from_rows(const double *rows, int n, double *states)
{
    for (int l = 0; l < LWI_LANES; l++)
        for (int i = 0; i < n; i++) states[l * n + i] = rows[i * LWI_LANES + l];
}
#endif

// Copies rows of tree q, tree v and efforts (NULL: unchanged) to the blocks; those of drives are left as they are.
static void rows_in(const lwi_kernel_plan *plan, const lwi_k_state *state, const double *q,
                    const double *v, const double *tau)
{
#define TAKE(entry, rows, i)                                                                       \
    for (int l = 0; l < LWI_LANES; l += WIDTH) AT(entry) = ROW_OF(rows, i, l)
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        if (step->driven) continue;
        if (step->slot < plan->first_ball) {
            lwi_k_joint *joint = &state->joint[step->slot];
            TAKE(joint->q, q, step->iq);
            TAKE(joint->v, v, step->iv);
            if (tau) TAKE(joint->tau, tau, step->iv);
            continue;
        }
        lwi_k_ball_joint *joint = &state->ball_joint[step->slot - plan->first_ball];
        const int n = step->kind == LWI_K_BALL ? 3 : 6;
        for (int k = 0; k < 4; k++) TAKE(joint->q[k], q, step->iq + k);
        for (int k = 0; k < n; k++) {
            TAKE(joint->v[6 - n + k], v, step->iv + k);
            if (tau) TAKE(joint->tau[6 - n + k], tau, step->iv + k);
        }
    }
#undef TAKE
}

// Copies the results of screws, with their signs, and of balls and bases to rows; returns the lanes in
// which all are finite.
static unsigned rows_out(const lwi_kernel_plan *plan, const lwi_k_state *state, bool momenta,
                         double *rows)
{
    unsigned finite = 0;
    for (int l = 0; l < LWI_LANES; l += WIDTH) {
        real zero = NAME(splat)(0); // remains zero if all are finite
        for (int i = 0; i < plan->nstep; i++) {
            const lwi_k_step *step = &plan->step[i];
            const int slot = step->slot, ball = slot - plan->first_ball;
            const lwi_k_momentum *keep = &state->momentum[slot];
            if (step->driven) continue;
            if (ball < 0) {
                const double sign = plan->screw[slot / LWI_LANES].sign[slot % LWI_LANES];
                const real x = NAME(splat)(sign) *
                               (momenta ? AT(keep->pdot[0]) : AT(state->motion[slot].vdot));
                ROW(rows, step->iv, l) = x;
                zero += 0 * x;
                continue;
            }
            const lwi_lanes *from = momenta ? keep->pdot : state->ball_pivot[ball].vdot;
            const int n = step->kind == LWI_K_BALL ? 3 : 6;
            for (int j = 0; j < n; j++) {
                const real x = AT(from[6 - n + j]);
                ROW(rows, step->iv + j, l) = x;
                zero += 0 * x;
            }
        }
        finite |= NAME(lanes_of)(NAME(at_most)(zero, NAME(splat)(0))) << l;
    }
    return finite;
}
#undef ROW
#undef ROW_OF
