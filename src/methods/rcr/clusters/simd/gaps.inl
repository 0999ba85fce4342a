// gaps.inl -- position errors of closing joints: the largest one, and the changes of y that close them to first order.
//
// Input: poses of the steps; for changes levers and the factor of W_y'W_y (rows.inl).  Output: gap2; k.  Cost: constant per
// block of a shape.

// The rotation `turn` that takes body 1 of a fixed joint to body 2, small ones to first order; the sum of the squared
// distances of their unit vectors z and x, at least the square of 2 sin(angle / 2), by which its rows measure it.
static INLINE real NAME(cluster_attitude)(const lwi_cluster_block *b, int g, real (*z)[3],
                                          real *turn, int l)
{
    real x[2][3], y[2][3], more[3], far = NAME(splat)(0);
    for (int side = 0; side < 2; side++) {
        NAME(cluster_direction)(b, g, side, b->ends[g].x[side], x[side], l);
        NAME(cluster_cross)(y[side], z[side], x[side]);
    }
    NAME(cluster_cross)(turn, x[0], x[1]);
    NAME(cluster_cross)(more, y[0], y[1]);
    NAME(cluster_cross_add)(more, z[0], z[1]);
    for (int i = 0; i < 3; i++) {
        const real dx = x[1][i] - x[0][i], dz = z[1][i] - z[0][i];
        turn[i] = 0.5 * (turn[i] + more[i]);
        MORE(far, dx, dx);
        MORE(far, dz, dz);
    }
    return far;
}

// Squared position error of loop g, by points or sines of angles between axes.
static real NAME(closing_gap)(const lwi_cluster_block *b, int g, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_cluster_closing *closing = &s->closing[g];
    real P[2][3], z[2][3], x[3];
    for (int side = 0; side < 2; side++) {
        if (s->planar)
            NAME(planar_end)(b, side, P[side], l);
        else
            NAME(cluster_end)(b, g, side, false, P[side], z[side], l);
    }
    if (s->planar) P[0][2] = P[1][2] = NAME(splat)(0);
    for (int i = 0; i < 3; i++) x[i] = P[1][i] - P[0][i];
    real gap2 = NAME(cluster_dot)(x, x);
    if (closing->kind == LWI_CLUSTER_FIXED) {
        const real turn2 = NAME(cluster_attitude)(b, g, z, x, l);
        gap2 = NAME(select)(NAME(at_most)(turn2, gap2), gap2, turn2);
    }
    real sine2 = NAME(splat)(0);
    if (!s->planar && closing->kind == LWI_CLUSTER_HINGE) {
        NAME(cluster_cross)(x, z[0], z[1]);
        sine2 = NAME(cluster_dot)(x, x);
    }
    if (closing->kind == LWI_CLUSTER_UNIVERSAL) {
        NAME(cluster_universal)(b, g, z, x, l);
        sine2 = NAME(cluster_dot)(z[0], z[1]);
        sine2 *= sine2;
    }
    return NAME(select)(NAME(at_most)(sine2, gap2), gap2, sine2);
}

// gap2: the largest one of the loops of a block.
static mask NAME(block_gap)(const lwi_cluster_block *b, const double *q, real *gap2, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const mask valid = s->planar ? NAME(planar_poses)(b, q, l) : NAME(cluster_poses)(b, q, l);
    for (int g = 0; g < s->nclosing; g++) {
        const real here = NAME(closing_gap)(b, g, l);
        *gap2 = g ? NAME(select)(NAME(at_most)(here, *gap2), *gap2, here) : here;
    }
    return valid;
}

static bool clusters_gap2(const lwi_clusters *c, const double *q, double *gap2)
{
    enum { ALL = (1 << WIDTH) - 1 };
    mask valid = ~NAME(bits)(NAME(splat)(0));
    real max = NAME(splat)(0), here;
    for (int i = 0; i < c->nblock; i++) {
        if (!c->block[i].shape->nclosing) continue;
        for (int l = 0; l < c->block[i].count; l += WIDTH) {
            valid &= NAME(block_gap)(&c->block[i], q, &here, l);
            max = NAME(select)(NAME(at_most)(here, max), max, here);
        }
    }
    double lane[WIDTH];
    memcpy(lane, &max, sizeof lane);
    *gap2 = 0;
    for (int i = 0; i < WIDTH; i++) *gap2 = lane[i] > *gap2 ? lane[i] : *gap2;
    return NAME(lanes_of)(valid) == ALL;
}

// Subtracts W_y'phi of loop g from x, or sets x if it is the only one, with phi the distance of the closing points and the
// rotation between the closing axes, which may be opposite, between the bodies of a fixed joint, or about the normal of
// the axes of a universal joint.
static void NAME(closing_offset)(const lwi_cluster_block *b, int g, double unit, real *x, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_cluster_closing *closing = &s->closing[g];
    const real scale = NAME(splat)(unit);
    real P[2][3], z[2][3], d[3], turn[3];
    for (int side = 0; side < 2; side++) {
        if (s->planar)
            NAME(planar_end)(b, side, P[side], l);
        else
            NAME(cluster_end)(b, g, side, false, P[side], z[side], l);
    }
    if (s->planar) P[0][2] = P[1][2] = NAME(splat)(0);
    for (int i = 0; i < 3; i++) d[i] = scale * (P[1][i] - P[0][i]), turn[i] = NAME(splat)(0);
    if (!s->planar && closing->kind == LWI_CLUSTER_HINGE) {
        const real side = NAME(cluster_dot)(z[0], z[1]);
        NAME(cluster_cross)(turn, z[0], z[1]);
        for (int i = 0; i < 3; i++) turn[i] *= side;
    }
    if (closing->kind == LWI_CLUSTER_FIXED) NAME(cluster_attitude)(b, g, z, turn, l);
    if (closing->kind == LWI_CLUSTER_UNIVERSAL) {
        NAME(cluster_universal)(b, g, z, turn, l);
        const real sine = NAME(cluster_dot)(z[0], z[1]);
        for (int i = 0; i < 3; i++) turn[i] *= -sine;
    }
    for (int k = 0; k < closing->ny; k++) {
        const lwi_lanes *p = b->lever[closing->first + k], *t = b->turn[closing->first + k];
        const int i = closing->at[k] - s->nx;
        real sum = -SUM2(d[0], AT(p[0]), d[1], AT(p[1]));
        if (!s->planar) LESS(sum, d[2], AT(p[2]));
        if (closing->oblique >> k & 1)
            sum -= SUM3(AT(t[0]), turn[0], AT(t[1]), turn[1], AT(t[2]), turn[2]);
        x[i] = s->nclosing == 1 ? sum : x[i] + sum;
    }
}

// k = -(W_y'W_y)^-1 W_y'phi.
static void NAME(block_offset)(const lwi_cluster_block *b, double unit, int l)
{
    real x[LWI_CLUSTER_DEPENDENT];
    for (int i = 0; i < b->shape->ny; i++) x[i] = NAME(splat)(0);
    for (int g = 0; g < b->shape->nclosing; g++) NAME(closing_offset)(b, g, unit, x, l);
    cluster_solve_c1(b, x, l);
    NAME(cluster_store)(b->k, x, b->shape->ny, l);
}

static void clusters_offsets(const lwi_clusters *c)
{
    for (int i = 0; i < c->nblock; i++)
        for (int l = 0; l < c->block[i].count && c->block[i].shape->nclosing; l += WIDTH)
            if (c->block[i].shape->ny) NAME(block_offset)(&c->block[i], c->per_length2, l);
}
