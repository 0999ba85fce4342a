// rows.inl -- vectors of three and matrices of 3 x 3 by rows, each in a register of four numbers; the last one is ignored.
//
// The operations are those of vec3.h and motion.h, one by one and none fused: the same bits.  Included once, after
// base/simd/sums.h, where WIDEST > 1.
typedef double row __attribute__((vector_size(32)));
typedef double stored_row __attribute__((vector_size(32), aligned(8), may_alias));

// Three numbers; load_four reads one more.
static INLINE row load_three(const double *x)
{
    return (row)_mm256_maskload_pd(x, _mm256_setr_epi64x(-1, -1, -1, 0));
}
static INLINE row load_four(const double *x)
{
    return (row) * (const stored_row *)x;
}
// By parts: a masked store takes some thirty cycles on some processors.
static INLINE void store_three(double *x, row a)
{
    _mm_storeu_pd(x, _mm256_castpd256_pd128((__m256d)a));
    _mm_store_sd(x + 2, _mm256_extractf128_pd((__m256d)a, 1));
}
static INLINE void store_four(double *x, row a)
{
    *(stored_row *)x = (stored_row)a;
}
static INLINE row all(double x)
{
    return (row){x, x, x, x};
}
#define PICK(a, i, j, k) __builtin_shufflevector(a, a, i, j, k, k)
#define EACH(a, i) __builtin_shufflevector(a, a, i, i, i, i)

// a x b
static INLINE row row_cross(row a, row b)
{
    return PICK(a, 1, 2, 0) * PICK(b, 2, 0, 1) - PICK(a, 2, 0, 1) * PICK(b, 1, 2, 0);
}
// The sum of a_i times row i of M: M'a.
static INLINE row combine(const row M[3], row a)
{
    return M[0] * EACH(a, 0) + M[1] * EACH(a, 1) + M[2] * EACH(a, 2);
}
// Row i of the product of R [9] and M.
static INLINE row product(const double *R, int i, const row M[3])
{
    return M[0] * all(R[3 * i]) + M[1] * all(R[3 * i + 1]) + M[2] * all(R[3 * i + 2]);
}
static INLINE void row_transpose(const row M[3], row T[3])
{
    const row low = __builtin_shufflevector(M[0], M[1], 0, 4, 2, 6);
    const row high = __builtin_shufflevector(M[0], M[1], 1, 5, 3, 7);
    const row second = PICK(M[2], 1, 1, 1), last = M[2];
    T[0] = __builtin_shufflevector(low, last, 0, 1, 4, 5);
    T[1] = __builtin_shufflevector(high, second, 0, 1, 4, 5);
    T[2] = __builtin_shufflevector(low, last, 2, 3, 6, 7);
}
// The rows of a matrix [9] with a number behind it.
static INLINE void load_rows(const double *R, row M[3])
{
    for (int i = 0; i < 3; i++) M[i] = load_four(R + 3 * i);
}
// The same with nothing behind it.
static INLINE void load_matrix(const double *R, row M[3])
{
    M[0] = load_four(R), M[1] = load_four(R + 3), M[2] = load_three(R + 6);
}
static INLINE void store_rows(double *R, const row M[3])
{
    store_four(R, M[0]), store_four(R + 3, M[1]), store_three(R + 6, M[2]);
}
// Motion of a frame, in the components of one that has the pose (R, r) in it: lin = R'(lin + ang x r), ang = R' ang.
static INLINE void row_motion_to(const row R[3], row r, row *lin, row *ang)
{
    *lin = combine(R, row_cross(*ang, r) + *lin);
    *ang = combine(R, *ang);
}
// The rows of a symmetric matrix [6].
static INLINE void load_symmetric(const double *J, row M[3])
{
    const row a = load_four(J), b = load_four(J + 2);
    M[0] = __builtin_shufflevector(a, b, 0, 3, 6, 6);
    M[1] = __builtin_shufflevector(b, a, 1, 5, 3, 3);
    M[2] = PICK(b, 2, 3, 0);
}
