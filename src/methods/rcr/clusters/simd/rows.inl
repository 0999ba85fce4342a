// rows.inl -- rows W of the joints that close a cluster at a state: velocities of their points and rotations for a unit of
// each coordinate, the factor of W_y'W_y, and K = -(W_y'W_y)^-1 W_y'W_x.
//
// Input: poses of the steps.  Output: levers, closing points and axes, factor, K.  Equations and cost: those of clusters.c.

// A direction of body 1 or 2 of loop g.
static INLINE void NAME(cluster_direction)(const lwi_cluster_block *b, int g, int side,
                                           const lwi_lanes *own, real *x, int l)
{
    const int n = b->shape->closing[g].close[side];
    real R[9], of[3];
    NAME(cluster_load)(of, own, 3, l);
    for (int i = 0; i < 3; i++) x[i] = of[i];
    if (n < 0) return;
    NAME(cluster_load)(R, b->pose[n].R, 9, l);
    NAME(cluster_rotate)(x, R, of);
}

// Closing point P and axis z of body 1 or 2 of loop g.
// along  the axis is the z axis of the body's frame
static INLINE void NAME(cluster_end)(const lwi_cluster_block *b, int g, int side, bool along,
                                     real *P, real *z, int l)
{
    const int n = b->shape->closing[g].close[side];
    real R[9], x[3];
    NAME(cluster_load)(P, b->ends[g].P[side], 3, l);
    NAME(cluster_load)(z, b->ends[g].z[side], 3, l);
    if (n < 0) return;
    NAME(cluster_load)(R, b->pose[n].R, 9, l);
    NAME(cluster_rotate)(x, R, P);
    for (int i = 0; i < 3; i++) P[i] = AT(b->pose[n].r[i]) + x[i];
    if (along) {
        for (int i = 0; i < 3; i++) x[i] = R[3 * i + 2] * z[2];
    } else {
        NAME(cluster_rotate)(x, R, z);
    }
    for (int i = 0; i < 3; i++) z[i] = x[i];
}

// Axes of a universal joint, z of body 1 and x of body 2, and their normal, about which its bodies cannot rotate against
// each other.
static INLINE void NAME(cluster_universal)(const lwi_cluster_block *b, int g, real (*axis)[3],
                                           real *normal, int l)
{
    NAME(cluster_direction)(b, g, 0, b->ends[g].z[0], axis[0], l);
    NAME(cluster_direction)(b, g, 1, b->ends[g].x[1], axis[1], l);
    NAME(cluster_cross)(normal, axis[0], axis[1]);
}

// Axis t of an oblique step of a branch (side) as it is in the rows of loop g: of a hinge without its component along z, of a
// universal joint only that along the normal z.
static INLINE void NAME(cluster_oblique)(real *t, const lwi_cluster_block *b, int g,
                                         const real *axis, const real *z, int side)
{
    const int kind = b->shape->closing[g].kind;
    const real part = NAME(cluster_dot)(z, axis);
    for (int i = 0; i < 3; i++) {
        real x = axis[i];
        if (kind == LWI_CLUSTER_HINGE) x = NMAD(part, z[i], axis[i]);
        if (kind == LWI_CLUSTER_UNIVERSAL) x = part * z[i];
        t[i] = side > 0 ? x : -x;
    }
}

// Closing points, and their velocities and rotations for a unit of each coordinate: columns of W.  axis: of the steps.
static INLINE void NAME(cluster_levers)(const lwi_cluster_block *b, int g, real (*axis)[3], int l)
{
    const lwi_cluster_closing *closing = &b->shape->closing[g];
    const bool at_rest = closing->at_rest;
    real P[2][3], z[3];
    if (at_rest) NAME(cluster_end)(b, g, 0, false, P[0], z, l);
    NAME(cluster_end)(b, g, 1, closing->along, P[1], z, l);
    for (int i = 0; i < 3 && !at_rest; i++) P[0][i] = P[1][i];
    if (closing->kind == LWI_CLUSTER_UNIVERSAL) {
        real axes[2][3];
        NAME(cluster_universal)(b, g, axes, z, l);
        NAME(cluster_store)(b->closed[g].axis[0], axes[0], 6, l);
    }
    NAME(cluster_store)(b->closed[g].P[0], P[0], 6, l);
    NAME(cluster_store)(b->closed[g].z, z, 3, l);
    UNROLL
    for (int k = 0; k < closing->n; k++) {
        const int n = closing->path[k];
        const lwi_cluster_step *step = &b->shape->step[n];
        const bool second = step->side[g] > 0;
        const real *end = P[second];
        lwi_lanes *to = b->lever[closing->first + k];
        real lever[3], p[3] = {NAME(splat)(0), NAME(splat)(0), NAME(splat)(0)};
        if (step->turn) {
            for (int i = 0; i < 3; i++) lever[i] = end[i] - AT(b->pose[n].r[i]);
            NAME(cluster_cross)(p, axis[n], lever);
        }
        if (step->slide) NAME(cluster_axpy)(p, AT(b->link[n].slide), axis[n]);
        if (second)
            NAME(cluster_store)(to, p, 3, l);
        else
            for (int i = 0; i < 3; i++) AT(to[i]) = -p[i];
        if (!(closing->oblique >> k & 1)) continue;
        NAME(cluster_oblique)(p, b, g, axis[n], z, step->side[g]);
        NAME(cluster_store)(b->turn[closing->first + k], p, 3, l);
    }
}

// The product of the columns [p; t] and m of W of loop g.  oblique: both have rotations.
static INLINE real NAME(cluster_product)(const lwi_cluster_block *b, const real *p, const real *t,
                                         int m, bool oblique, real unit, bool planar, int l)
{
    const lwi_lanes *with = b->lever[m], *other = b->turn[m];
    real product = SUM2(p[0], AT(with[0]), p[1], AT(with[1]));
    if (!planar) MORE(product, p[2], AT(with[2]));
    product *= unit;
    if (planar || !oblique) return product;
    return product + SUM3(t[0], AT(other[0]), t[1], AT(other[1]), t[2], AT(other[2]));
}

// Adds the products of the rows of loop g to N [ny][ny] and B [ny][nx]; `only`: it is the only one, and sets them.  `turns`:
// rows have rotations.
static INLINE void NAME(cluster_products)(const lwi_cluster_block *b, int g, bool only, bool turns,
                                          real (*N)[LWI_CLUSTER_DEPENDENT],
                                          real (*B)[CLUSTER_COLUMNS], real unit, bool planar, int l)
{
    const lwi_cluster_closing *closing = &b->shape->closing[g];
    const int nx = b->shape->nx, first = closing->first, n = closing->n, ny = closing->ny;
    UNROLL
    for (int k = 0; k < ny; k++) {
        const unsigned with = turns && closing->oblique >> k & 1 ? closing->oblique : 0;
        real p[3], t[3], *to = N[closing->at[k] - nx] - nx;
        NAME(cluster_load)(p, b->lever[first + k], planar ? 2 : 3, l);
        if (turns) NAME(cluster_load)(t, b->turn[first + k], 3, l);
        UNROLL
        for (int m = 0; m <= k; m++) {
            const bool oblique = turns && with >> m & 1;
            const real sum = NAME(cluster_product)(b, p, t, first + m, oblique, unit, planar, l);
            real *at = &to[closing->at[m]];
            *at = only ? sum : *at + sum;
        }
        to = B[closing->at[k] - nx];
        UNROLL
        for (int m = ny; m < n; m++) {
            const bool oblique = turns && with >> m & 1;
            const real sum = NAME(cluster_product)(b, p, t, first + m, oblique, unit, planar, l);
            real *at = &to[closing->at[m]];
            *at = only ? sum : *at + sum;
        }
    }
}

// N [ny][ny] := W_y'W_y, B [ny][nx] := W_y'W_x.
static INLINE void NAME(cluster_normal)(const lwi_cluster_block *b,
                                        real (*N)[LWI_CLUSTER_DEPENDENT],
                                        real (*B)[CLUSTER_COLUMNS], real unit, bool planar, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const bool only = s->nclosing == 1;
    UNROLL
    for (int i = 0; i < s->ny; i++) {
        UNROLL
        for (int j = s->first[i]; j <= i && !only; j++) N[i][j] = NAME(splat)(0);
        for (int j = 0; j < (WIDTH == 1 ? CLUSTER_COLUMNS : s->nx); j++) B[i][j] = NAME(splat)(0);
    }
    UNROLL
    for (int g = 0; g < s->nclosing; g++) {
        if (!planar && s->closing[g].oblique)
            NAME(cluster_products)(b, g, only, true, N, B, unit, false, l);
        else
            NAME(cluster_products)(b, g, only, false, N, B, unit, planar, l);
    }
}

// Factors N = L D L'.  @return lanes with pivots that are large enough
static INLINE mask NAME(cluster_factor)(const lwi_cluster_block *b,
                                        real (*N)[LWI_CLUSTER_DEPENDENT], int l)
{
    const lwi_cluster_shape *s = b->shape;
    const int ny = s->ny;
    const double pivot = s->nclosing > 1 ? LWI_CLUSTER_COUPLED_PIVOT : LWI_CLUSTER_PIVOT;
    lwi_lanes *L = b->factor, *Di = b->factor + ny * (ny - 1) / 2;
    mask valid = ~NAME(bits)(NAME(splat)(0));
    UNROLL
    for (int i = 0; i < ny; i++) { // N becomes L D below the diagonal
        real d = N[i][i], *own = N[i];
        lwi_lanes *row = L + i * (i - 1) / 2;
        const int own_start = s->first[i];
        const lwi_lanes *other = L + own_start * (own_start - 1) / 2;
        UNROLL
        for (int j = own_start; j < i; other += j, j++) {
            const int start = own_start > s->first[j] ? own_start : s->first[j];
            real x = own[j];
            UNROLL
            for (int k = start; k < j; k++) LESS(x, own[k], AT(other[k]));
            const real f = x * AT(Di[j]);
            own[j] = x;
            AT(row[j]) = f;
            LESS(d, f, x);
        }
        valid &= NAME(at_most)(NAME(splat)(pivot) * N[i][i], d);
        AT(Di[i]) = 1 / d;
    }
    return valid;
}

// Whether loops are coupled and have rows of rotations, as robots with halves of bodies: small bodies between joints.
static INLINE bool NAME(cluster_refines)(const lwi_cluster_shape *s)
{
    bool turns = false;
    for (int g = 0; g < s->nclosing; g++) turns = turns || s->closing[g].kind != LWI_CLUSTER_BALL;
    return turns && s->nclosing > 1;
}
