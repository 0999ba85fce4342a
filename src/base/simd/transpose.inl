// transpose.inl -- rows of numbers, one for each lane, into lanes and back.  Included once, after lane.inl.
//
// In:  WIDTH, INLINE, ZERO.
#if WIDTH == 1
typedef double stored_unaligned;

static INLINE void from_rows(const double *const *from, int n, real *to)
{
    for (int i = 0; i < n; i++) to[i] = from[0][i];
}
static INLINE void to_rows(const real *from, int n, double *const *to)
{
    for (int i = 0; i < n; i++) to[0][i] = from[i];
}
#else
typedef double stored_unaligned __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

// the first n < WIDTH numbers
static INLINE real some(const double *from, int n)
{
#if WIDTH == 8
    return (real)_mm512_maskz_loadu_pd((__mmask8)((1 << n) - 1), from);
#else
    const __m256i all = _mm256_setr_epi64x(1, 2, 3, 4);
    const __m256i which = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n + 1), all);
    return (real)_mm256_maskload_pd(from, which);
#endif
}
static INLINE void put_some(real x, double *to, int n)
{
#if WIDTH == 8
    _mm512_mask_storeu_pd(to, (__mmask8)((1 << n) - 1), (__m512d)x);
#else
    // by parts: masked stores take some thirty cycles on some processors
    const __m128d low = _mm256_castpd256_pd128((__m256d)x);
    if (n >= WIDTH)
        *(stored_unaligned *)to = x;
    else if (n > 1)
        _mm_storeu_pd(to, low);
    else if (n > 0)
        _mm_store_sd(to, low);
    if (n == 3) _mm_store_sd(to + 2, _mm256_extractf128_pd((__m256d)x, 1));
#endif
}

#define MIX(to, a, b, ...) const real to = __builtin_shufflevector(a, b, __VA_ARGS__)

// rows become columns
static INLINE void transpose(real r[WIDTH])
{
#if WIDTH == 4
    MIX(t0, r[0], r[1], 0, 4, 2, 6);
    MIX(t1, r[0], r[1], 1, 5, 3, 7);
    MIX(t2, r[2], r[3], 0, 4, 2, 6);
    MIX(t3, r[2], r[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(t0, t2, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(t1, t3, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(t0, t2, 2, 3, 6, 7);
    r[3] = __builtin_shufflevector(t1, t3, 2, 3, 6, 7);
#else
    real t[8], u[8];
    for (int i = 0; i < 8; i += 2) { // pairs of rows, then of pairs, then halves
        t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            u[i + k] = __builtin_shufflevector(t[i + k], t[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            u[i + k + 2] =
                __builtin_shufflevector(t[i + k], t[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int k = 0; k < 4; k++) {
        r[k] = __builtin_shufflevector(u[k], u[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        r[k + 4] = __builtin_shufflevector(u[k], u[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#endif
}

// n numbers of every lane; n is a constant where it matters
static INLINE void from_rows(const double *const *from, int n, real *to)
{
    for (int i = 0; i < n; i += WIDTH) {
        real r[WIDTH];
        const int left = n - i;
        for (int l = 0; l < WIDTH; l++)
            if (left >= WIDTH)
                r[l] = *(const stored_unaligned *)(from[l] + i);
            else
                r[l] = some(from[l] + i, left);
        transpose(r);
        for (int k = 0; k < WIDTH && k < left; k++) to[i + k] = r[k];
    }
}
static INLINE void to_rows(const real *from, int n, double *const *to)
{
    for (int i = 0; i < n; i += WIDTH) {
        real r[WIDTH];
        const int left = n - i;
        for (int k = 0; k < WIDTH; k++) r[k] = k < left ? from[i + k] : ZERO;
        transpose(r);
        for (int l = 0; l < WIDTH; l++) {
            if (left >= WIDTH)
                *(stored_unaligned *)(to[l] + i) = r[l];
            else
                put_some(r[l], to[l] + i, left);
        }
    }
}
#endif
