// vectors.inl -- three-vectors, symmetric matrices and rows of the lanes.  Included once per width.
#undef ZERO
#undef ONE
#define ZERO NAME(splat)(0)
#define ONE NAME(splat)(1)

static INLINE void NAME(load)(real *x, const lwi_lanes *from, int n, int l)
{
    for (int i = 0; i < n; i++) x[i] = AT(from[i]);
}
static INLINE void NAME(store)(lwi_lanes *to, const real *x, int n, int l)
{
    for (int i = 0; i < n; i++) AT(to[i]) = x[i];
}

// number j of the rows of the lanes
static INLINE real NAME(read)(const double *const *row, int j, int l)
{
#if WIDTH == 1
    return row[l][j];
#elif WIDTH == 4
    return (real){row[l][j], row[l + 1][j], row[l + 2][j], row[l + 3][j]};
#else
    row += l;
    return (real){row[0][j], row[1][j], row[2][j], row[3][j],
                  row[4][j], row[5][j], row[6][j], row[7][j]};
#endif
}
static INLINE void NAME(write)(double *const *row, int j, int l, real x)
{
#if WIDTH == 1
    row[l][j] = x;
#else
    for (int i = 0; i < WIDTH; i++) row[l + i][j] = x[i];
#endif
}

static INLINE real NAME(dot)(const real *a, const real *b)
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}
// c = a x b
static INLINE void NAME(cross)(real *c, const real *a, const real *b)
{
    c[0] = DIFF(a[1], b[2], a[2], b[1]);
    c[1] = DIFF(a[2], b[0], a[0], b[2]);
    c[2] = DIFF(a[0], b[1], a[1], b[0]);
}
// c += a x b; c is neither
static INLINE void NAME(add_cross)(real *c, const real *a, const real *b)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        MORE(c[i], a[j], b[k]);
        LESS(c[i], a[k], b[j]);
    }
}
// y = S x
static INLINE void NAME(symmetric_times)(real *y, const real *S, const real *x)
{
    y[0] = SUM3(S[0], x[0], S[3], x[1], S[4], x[2]);
    y[1] = SUM3(S[3], x[0], S[1], x[1], S[5], x[2]);
    y[2] = SUM3(S[4], x[0], S[5], x[1], S[2], x[2]);
}

// Whether a pivot is above its rounding error, which is relative to the sum it is computed from: as
// lwi_tree_factor decides.
static INLINE mask NAME(well_posed)(real inverse, real sum)
{
    return NAME(at_most)(inverse * sum, NAME(splat)(1 / (64 * DBL_EPSILON))) &
           NAME(at_most)(ZERO, inverse);
}
