// rows.inl -- operations of steppers on whole states, row by row: a row is one component in all
// lanes.
//
// In: WIDTH, 1 or 8.  Lanes that are not in the set `on` are unchanged.  Arrays are
// those of the stepper, h and sums have an entry per lane; all are aligned to 64 bytes where WIDTH
// is 8.
#define NAME_3(f, width) f##_w##width
#define NAME_2(f, width) NAME_3(f, width)
#define NAME(f) NAME_2(f, WIDTH)
#define real NAME(row_real)
#define mask NAME(row_mask)
#define stored NAME(row_stored)

#if WIDTH == 1
typedef double real;
typedef double stored;
typedef int64_t mask;
#else
typedef double real __attribute__((vector_size(8 * WIDTH)));
typedef double stored __attribute__((vector_size(8 * WIDTH), may_alias)); // the same in an array
typedef int64_t mask __attribute__((vector_size(8 * WIDTH)));
#endif

#define ROW(array, i) (((stored *)(array))[i])
#define OF_LANES(array) (*(const stored *)(array))

// Converts numbers to their bits and back.  A macro: vectors of optional instruction sets cannot be
// passed between functions.
#if WIDTH == 1
static inline mask NAME(row_bits)(real x)
{
    mask bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline real NAME(row_number)(mask bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define BITS(x) NAME(row_bits)(x)
#define NUMBER(bits) NAME(row_number)(bits)
#define ABOVE(a, b) (-(mask)((a) > (b)))
#else
#define BITS(x) ((mask)(x))
#define NUMBER(bits) ((real)(bits))
#define ABOVE(a, b) ((mask)((a) > (b)))
#endif
#define SET_OF(on) BITS(OF_LANES(on))
/** a where all bits of the set are set, else b */
#define CHOOSE(set, a, b) NUMBER((BITS(a) & (set)) | (BITS(b) & ~(set)))
#define SIZE_OF(x) NUMBER(BITS(x) & INT64_MAX)

// y := x + h sum_j a_j k_j over the given number of stages; y := x in other lanes.
static inline void NAME(row_stage)(const lwi_stepper *m, const double *on, const double *by,
                                   const double *a, int stages)
{
    double *restrict y = m->y;
    const double *x = m->x, *k0 = m->k[0], *k1 = m->k[1], *k2 = m->k[2], *k3 = m->k[3],
                 *k4 = m->k[4], *k5 = m->k[5];
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], a5 = a[5];
    const real h = OF_LANES(by);
    const mask set = SET_OF(on);
    const int n = m->rows;
#define STAND(count, sum)                                                                          \
    case count:                                                                                    \
        for (int i = 0; i < n; i++) {                                                              \
            const real here = ROW(x, i);                                                           \
            const real moved = here + h * (sum);                                                   \
            ROW(y, i) = CHOOSE(set, moved, here);                                                  \
        }                                                                                          \
        return
#define TERM(j) a##j *ROW(k##j, i)
    switch (stages) {
        STAND(1, TERM(0));
        STAND(2, TERM(0) + TERM(1));
        STAND(3, TERM(0) + TERM(1) + TERM(2));
        STAND(4, TERM(0) + TERM(1) + TERM(2) + TERM(3));
        STAND(5, TERM(0) + TERM(1) + TERM(2) + TERM(3) + TERM(4));
        STAND(6, TERM(0) + TERM(2) + TERM(3) + TERM(4) + TERM(5)); // a1 = 0
    }
#undef STAND
#undef TERM
}

// to := from in the set.
static inline void NAME(row_take)(int n, const double *on, double *to, const double *from)
{
    const mask set = SET_OF(on);
    for (int i = 0; i < n; i++) ROW(to, i) = CHOOSE(set, ROW(from, i), ROW(to, i));
}

// to := to + by from in the set.
static inline void NAME(row_add)(int n, const double *on, const double *by, double *to,
                                 const double *from)
{
    const mask set = SET_OF(on);
    const real h = OF_LANES(by);
    for (int i = 0; i < n; i++) {
        const real here = ROW(to, i), moved = here + h * ROW(from, i);
        ROW(to, i) = CHOOSE(set, moved, here);
    }
}

// to := a + by b, everywhere.
static inline void NAME(row_sum)(int n, double *to, const double *a, double by, const double *b)
{
    for (int i = 0; i < n; i++) ROW(to, i) = ROW(a, i) + by * ROW(b, i);
}

// 0 in lanes with finite x, else NaN.
static inline void NAME(row_finite)(int n, const double *x, double *zero)
{
    real sum = {0};
    for (int i = 0; i < n; i++) sum += 0 * ROW(x, i);
    *(stored *)zero = sum;
}

// Sums of squares of v / (atol + rtol |x|).
static inline void NAME(row_weigh)(const lwi_stepper *m, const double *v, double *squares)
{
    real sum = {0};
    for (int i = 0; i < m->n; i++) {
        const real x = ROW(m->x, i), size = ROW(m->atol, i) + m->rtol * SIZE_OF(x);
        const real scaled = ROW(v, i) / size;
        sum += scaled * scaled;
    }
    *(stored *)squares = sum;
}

// Sums of squares of the error h sum_j E_j k_j, scaled by the larger of x and the solution y.
static inline void NAME(row_error)(const lwi_stepper *m, const double *by, double *squares)
{
    const real h = OF_LANES(by);
    real sum = {0};
    for (int i = 0; i < m->n; i++) {
        const real e = E[0] * ROW(m->k[0], i) + E[2] * ROW(m->k[2], i) + E[3] * ROW(m->k[3], i) +
                       E[4] * ROW(m->k[4], i) + E[5] * ROW(m->k[5], i) + E[6] * ROW(m->k[6], i);
        const real x = ROW(m->x, i), y = ROW(m->y, i);
        const real a = SIZE_OF(x), b = SIZE_OF(y), larger = CHOOSE(ABOVE(a, b), a, b);
        const real scaled = h * e / (ROW(m->atol, i) + m->rtol * larger);
        sum += scaled * scaled;
    }
    *(stored *)squares = sum;
}

#undef real
#undef mask
#undef stored
#undef ROW
#undef OF_LANES
#undef BITS
#undef NUMBER
#undef ABOVE
#undef SET_OF
#undef CHOOSE
#undef SIZE_OF
#undef NAME
#undef NAME_2
#undef NAME_3
