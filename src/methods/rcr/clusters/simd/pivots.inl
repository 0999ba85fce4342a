// pivots.inl -- the smallest pivot that W_y'W_y of a block has in any order, at an evaluation or at other positions.
//
// With W_y'W_y = L D L' its diagonal is N_i = D_i + sum_j L_ij^2 D_j, and that of its inverse, 1 / D of the order that has i
// last, is sum_k M_ki^2 / D_k with L M = 1.
//
// Input: L and 1 / D (rows.inl).  Cost: ny^3 / 6 products per block, fewer where loops have own coordinates.

// x - sum_j L_kj M_j of the rows j from `start` to before `end`.
static INLINE real NAME(less_rows)(const lwi_cluster_block *b, int k, int start, int end, real x,
                                   const real *M, int l)
{
    const lwi_lanes *row = b->factor + k * (k - 1) / 2;
    const int first = b->shape->first[k], from = start > first ? start : first;
    UNROLL
    for (int j = from; j < end; j++) LESS(x, AT(row[j]), M[j]);
    return x;
}

// Row k of column i of M, which has rows below `end` and from `shared` on.  Adds to N_i^-1.
static INLINE void NAME(inverse_row)(const lwi_cluster_block *b, int i, int k, int end, int shared,
                                     real *M, real *sum, int l)
{
    const int ny = b->shape->ny;
    const lwi_lanes *Di = b->factor + ny * (ny - 1) / 2;
    real x = NAME(splat)(0);
    if (b->shape->first[k] <= i) x = -AT(b->factor[k * (k - 1) / 2 + i]);
    x = NAME(less_rows)(b, k, i + 1, k < end ? k : end, x, M, l);
    M[k] = NAME(less_rows)(b, k, shared, k, x, M, l);
    MORE(*sum, M[k] * M[k], AT(Di[k]));
}

// Column i of M adds to N_i^-1: that of a coordinate of one loop alone has rows of that loop and shared ones.
static INLINE real NAME(inverse_diagonal)(const lwi_cluster_block *b, int i, int l)
{
    const int ny = b->shape->ny, separate = b->shape->separate;
    const int end = i < separate ? b->shape->end[i] : i + 1, shared = i < separate ? separate : end;
    real M[LWI_CLUSTER_DEPENDENT], sum = AT(b->factor[ny * (ny - 1) / 2 + i]);
    UNROLL
    for (int k = i + 1; k < end; k++) NAME(inverse_row)(b, i, k, end, shared, M, &sum, l);
    UNROLL
    for (int k = shared; k < ny; k++) NAME(inverse_row)(b, i, k, end, shared, M, &sum, l);
    return sum;
}

// Relative to the larger of the diagonal and the squared size of the motion of the coordinate.
static INLINE real NAME(block_pivot)(const lwi_cluster_block *b, int l)
{
    const int ny = b->shape->ny;
    const lwi_lanes *row = b->factor, *Di = b->factor + ny * (ny - 1) / 2;
    const lwi_lanes *size = b->size + b->shape->nx;
    const real one = NAME(splat)(1);
    real D[LWI_CLUSTER_DEPENDENT], lowest = one;
    UNROLL
    for (int i = 0; i < ny; row += i, i++) {
        real N = D[i] = one / AT(Di[i]);
        UNROLL
        for (int j = b->shape->first[i]; j < i; j++) MORE(N, AT(row[j]) * AT(row[j]), D[j]);
        const real own = AT(size[i]), whole = NAME(select)(NAME(at_most)(N, own), own, N);
        const real part = one / (NAME(inverse_diagonal)(b, i, l) * whole);
        lowest = NAME(select)(NAME(at_most)(lowest, part), lowest, part);
    }
    return lowest;
}

// The smallest one of the lanes, at least 0.
static INLINE double NAME(lowest_lane)(real pivot)
{
    double lane[WIDTH], lowest = 1;
    memcpy(lane, &pivot, sizeof lane);
    for (int i = 0; i < WIDTH; i++) lowest = lane[i] < lowest ? lane[i] : lowest;
    return lowest > 0 ? lowest : 0;
}

// N := W_y'W_y, B := W_y'W_x.  Returns the lanes with angles that are not too large.
static INLINE mask NAME(block_rows)(const lwi_cluster_block *b, const double *q,
                                    real (*N)[LWI_CLUSTER_DEPENDENT], real (*B)[CLUSTER_COLUMNS],
                                    real unit, int l)
{
    const lwi_cluster_shape *s = b->shape;
    real axis[LWI_CLUSTER_STEPS][3];
    if (s->planar) {
        const mask valid = NAME(planar_poses)(b, q, l);
        NAME(planar_levers)(b, l);
        NAME(cluster_normal)(b, N, B, unit, true, l);
        return valid;
    }
    const mask valid = NAME(cluster_poses)(b, q, l);
    for (int n = 0; n < s->nstep; n++) NAME(cluster_axis)(axis[n], b, n, l);
    for (int g = 0; g < s->nclosing; g++) NAME(cluster_levers)(b, g, axis, l);
    NAME(cluster_normal)(b, N, B, unit, false, l);
    return valid;
}
