// pivots.inl -- the smallest pivot that W_y'W_y of a block has in any order, at an evaluation or at other positions.
//
// With W_y'W_y = L D L' its diagonal is N_i = D_i + sum_j L_ij^2 D_j, and that of its inverse, 1 / D of the order that has i
// last, is sum_k M_ki^2 / D_k with L M = 1.
//
// Input: L and 1 / D (rows.inl).  Cost: ny^3 / 6 products per block, fewer where loops have own coordinates.

// Column i of M adds to N_i^-1.
static INLINE real NAME(inverse_diagonal)(const lwi_cluster_block *b, int i, int l)
{
    const int ny = b->shape->ny;
    const uint8_t *first = b->shape->first;
    const lwi_lanes *L = b->factor, *Di = b->factor + ny * (ny - 1) / 2;
    real M[LWI_CLUSTER_DEPENDENT], sum = AT(Di[i]);
    for (int k = i + 1; k < ny; k++) {
        const lwi_lanes *row = L + k * (k - 1) / 2;
        const int start = first[k] > i + 1 ? first[k] : i + 1;
        M[k] = NAME(splat)(0);
        if (first[k] <= i) M[k] = -AT(row[i]);
        for (int j = start; j < k; j++) LESS(M[k], AT(row[j]), M[j]);
        MORE(sum, M[k] * M[k], AT(Di[k]));
    }
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
    for (int i = 0; i < ny; row += i++) {
        real N = D[i] = one / AT(Di[i]);
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

static double pivot(const lwi_cluster_block *b, int l)
{
    return NAME(lowest_lane)(NAME(block_pivot)(b, l));
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

static double pivot_at(const lwi_cluster_block *b, const double *q, double per_length2, int l)
{
    enum { ALL = (1 << WIDTH) - 1 };
    real N[LWI_CLUSTER_DEPENDENT][LWI_CLUSTER_DEPENDENT], B[LWI_CLUSTER_DEPENDENT][CLUSTER_COLUMNS];
    mask valid = NAME(block_rows)(b, q, N, B, NAME(splat)(per_length2), l);
    valid &= NAME(cluster_factor)(b, N, l);
    return NAME(lanes_of)(valid) == ALL ? pivot(b, l) : 0;
}
