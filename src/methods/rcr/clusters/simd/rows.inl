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

// Closing points, and their velocities for a unit of each coordinate: columns of W.
static INLINE void NAME(cluster_levers)(const lwi_cluster_block *b, int g, int l)
{
    const lwi_cluster_closing *closing = &b->shape->closing[g];
    const bool at_rest = closing->at_rest;
    real P[2][3], z[3];
    if (at_rest) NAME(cluster_end)(b, g, 0, false, P[0], z, l);
    NAME(cluster_end)(b, g, 1, closing->along, P[1], z, l);
    for (int i = 0; i < 3 && !at_rest; i++) P[0][i] = P[1][i];
    if (closing->kind == LWI_CLUSTER_UNIVERSAL) {
        real axis[2][3];
        NAME(cluster_universal)(b, g, axis, z, l);
        NAME(cluster_store)(b->closed[g].axis[0], axis[0], 6, l);
    }
    NAME(cluster_store)(b->closed[g].P[0], P[0], 6, l);
    NAME(cluster_store)(b->closed[g].z, z, 3, l);
    UNROLL
    for (int k = 0; k < closing->n; k++) {
        const int n = closing->path[k];
        const lwi_cluster_step *step = &b->shape->step[n];
        const int side = step->side[g];
        lwi_lanes *to = b->lever[closing->first + k];
        real axis[3], lever[3], p[3] = {NAME(splat)(0), NAME(splat)(0), NAME(splat)(0)};
        NAME(cluster_axis)(axis, b, n, l);
        if (step->turn) {
            for (int i = 0; i < 3; i++) lever[i] = P[side > 0][i] - AT(b->pose[n].r[i]);
            NAME(cluster_cross)(p, axis, lever);
        }
        if (step->slide) NAME(cluster_axpy)(p, AT(b->link[n].slide), axis);
        for (int i = 0; i < 3; i++) AT(to[i]) = side > 0 ? p[i] : -p[i];
    }
}

// Axis t of an oblique step in loop g, signed by branch, in a loop closed by a hinge without its component along z, by a
// universal joint only that along the normal.
static INLINE bool NAME(cluster_oblique)(real *t, const lwi_cluster_block *b, int g, int n, int l)
{
    const lwi_cluster_step *step = &b->shape->step[n];
    const int side = step->side[g];
    real z[3];
    for (int i = 0; i < 3; i++) t[i] = NAME(splat)(0);
    if (!(step->oblique >> g & 1)) return false;
    NAME(cluster_axis)(t, b, n, l);
    if (b->shape->closing[g].kind == LWI_CLUSTER_FIXED) {
        for (int i = 0; i < 3 && side < 0; i++) t[i] = -t[i];
        return true;
    }
    NAME(cluster_load)(z, b->closed[g].z, 3, l);
    const real part = NAME(cluster_dot)(z, t);
    const bool normal = b->shape->closing[g].kind == LWI_CLUSTER_UNIVERSAL;
    for (int i = 0; i < 3; i++) {
        const real x = normal ? part * z[i] : NMAD(part, z[i], t[i]);
        t[i] = side > 0 ? x : -x;
    }
    return true;
}

// Product of the columns n, given as [p; t], and m, [with; other], of W.  NULL: the axis of a step that is not oblique.
static INLINE real NAME(cluster_product)(const real *p, const real *t, const lwi_lanes *with,
                                         const real *other, real unit, bool planar, int l)
{
    real product = SUM2(p[0], AT(with[0]), p[1], AT(with[1]));
    if (!planar) MORE(product, p[2], AT(with[2]));
    product *= unit;
    if (!t || !other) return product;
    return product + NAME(cluster_dot)(t, other);
}

// x [ny] := (W_y'W_y)^-1 x, by L D L'.                               [anderson2003, (45)]
static INLINE void NAME(cluster_solve)(const lwi_cluster_block *b, real *x, int l)
{
    const int ny = b->shape->ny;
    const uint8_t *first = b->shape->first;
    const lwi_lanes *factor = b->factor, *Di = factor + ny * (ny - 1) / 2;
    for (int i = 1; i < ny; i++)
        for (int j = first[i]; j < i; j++) LESS(x[i], AT(factor[i * (i - 1) / 2 + j]), x[j]);
    for (int i = 0; i < ny; i++) x[i] *= AT(Di[i]);
    for (int i = ny - 2; i >= 0; i--) {
        const int separate = b->shape->separate, shared = i < separate ? separate : i + 1;
        for (int j = i + 1; i < separate && j < b->shape->end[i]; j++)
            LESS(x[i], AT(factor[j * (j - 1) / 2 + i]), x[j]);
        for (int j = shared; j < ny; j++) LESS(x[i], AT(factor[j * (j - 1) / 2 + i]), x[j]);
    }
}

// Adds the products of the rows of loop g to N [ny][ny] and B [ny][nx]; `only`: it is the only one, and sets them.
static INLINE void NAME(cluster_products)(const lwi_cluster_block *b, int g, bool only,
                                          real (*N)[LWI_CLUSTER_DEPENDENT],
                                          real (*B)[LWI_CLUSTER_KNOWN], real unit, bool planar,
                                          int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_cluster_closing *closing = &s->closing[g];
    const lwi_lanes(*lever)[3] = (const lwi_lanes(*)[3])b->lever + closing->first;
    const bool turns = !planar && closing->kind != LWI_CLUSTER_BALL;
    real axis[LWI_CLUSTER_LOOP][3];
    const real *t[LWI_CLUSTER_LOOP];
    UNROLL
    for (int k = 0; k < closing->n; k++)
        t[k] = turns && NAME(cluster_oblique)(axis[k], b, g, closing->path[k], l) ? axis[k] : NULL;
    UNROLL
    for (int k = 0; k < closing->ny; k++) {
        const int i = s->step[closing->path[k]].at - s->nx;
        real p[3];
        NAME(cluster_load)(p, lever[k], 3, l);
        UNROLL
        for (int m = 0; m < closing->n; m++) {
            const int j = s->step[closing->path[m]].at;
            if (m > k && m < closing->ny) continue;
            real *to = m <= k ? &N[i][j - s->nx] : &B[i][j];
            const real sum = NAME(cluster_product)(p, t[k], lever[m], t[m], unit, planar, l);
            *to = only ? sum : *to + sum;
        }
    }
}

// Whether loops are coupled and have rows of rotations, as robots with halves of bodies: small bodies between joints.
static INLINE bool NAME(cluster_refines)(const lwi_cluster_shape *s)
{
    bool turns = false;
    for (int g = 0; g < s->nclosing; g++) turns = turns || s->closing[g].kind != LWI_CLUSTER_BALL;
    return turns && s->nclosing > 1;
}

// x [ny] -= (W_y'W_y)^-1 W_y'r with the rows r = [displacement; rotation] + W_y x + W_x e of each loop, e a unit of x_j or
// zero (-1): what normal equations have lost.  Errors of K are efforts: they disturb the accelerations of light bodies.
static INLINE void NAME(cluster_refine)(const lwi_cluster_block *b, real (*row)[6], int j,
                                        real unit, real *x, int l)
{
    const lwi_cluster_shape *s = b->shape;
    real more[LWI_CLUSTER_DEPENDENT];
    for (int i = 0; i < s->ny; i++) more[i] = NAME(splat)(0);
    for (int g = 0; g < s->nclosing; g++) {
        const lwi_cluster_closing *closing = &s->closing[g];
        const lwi_lanes(*lever)[3] = (const lwi_lanes(*)[3])b->lever + closing->first;
        const bool turns = closing->kind != LWI_CLUSTER_BALL;
        real t[LWI_CLUSTER_LOOP][3], *r = row[g];
        UNROLL
        for (int k = 0; k < closing->n; k++) {
            const int at = s->step[closing->path[k]].at;
            if (turns) NAME(cluster_oblique)(t[k], b, g, closing->path[k], l);
            if (at < s->nx && at != j) continue;
            const real z = at < s->nx ? NAME(splat)(1) : x[at - s->nx];
            for (int i = 0; i < 3; i++) MORE(r[i], z, AT(lever[k][i]));
            if (turns) NAME(cluster_axpy)(r + 3, z, t[k]);
        }
        UNROLL
        for (int k = 0; k < closing->ny; k++) {
            real p[3], *to = &more[s->step[closing->path[k]].at - s->nx];
            NAME(cluster_load)(p, lever[k], 3, l);
            MORE(*to, unit, NAME(cluster_dot)(p, r));
            if (turns) *to += NAME(cluster_dot)(t[k], r + 3);
        }
    }
    NAME(cluster_solve)(b, more, l);
    for (int i = 0; i < s->ny; i++) x[i] -= more[i];
}

// N [ny][ny] := W_y'W_y, B [ny][nx] := W_y'W_x.
static INLINE void NAME(cluster_normal)(const lwi_cluster_block *b,
                                        real (*N)[LWI_CLUSTER_DEPENDENT],
                                        real (*B)[LWI_CLUSTER_KNOWN], real unit, bool planar, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const bool only = s->nclosing == 1;
    for (int i = 0; i < s->ny; i++) {
        for (int j = s->first[i]; j <= i && !only; j++) N[i][j] = NAME(splat)(0);
        for (int j = 0; j < s->nx; j++) B[i][j] = NAME(splat)(0);
    }
    UNROLL
    for (int g = 0; g < s->nclosing; g++) NAME(cluster_products)(b, g, only, N, B, unit, planar, l);
}

// Adds the squared motions of the dependent coordinates of a unit of x_j, loop by loop.
static INLINE void NAME(cluster_ratios)(const lwi_cluster_block *b, int j, real *ratio2, int l)
{
    const lwi_cluster_shape *s = b->shape;
    for (int g = 0; g < s->nclosing; g++) {
        const lwi_cluster_closing *closing = &s->closing[g];
        real square = NAME(splat)(0);
        UNROLL
        for (int k = 0; k < closing->ny; k++) {
            const int i = s->step[closing->path[k]].at - s->nx;
            const real x = AT(b->K[i * s->nx + j]);
            MORE(square, x * x, AT(b->size[s->nx + i]));
        }
        MORE(ratio2[g], square, AT(b->inverse[j]));
    }
}

// K = -(W_y'W_y)^-1 W_y'W_x [anderson2003, (47)].  ratio2 := the largest squared ratio of the dependent motions of a loop
// to a known motion.
static INLINE mask NAME(cluster_closure)(const lwi_cluster_block *b, real unit, real *ratio2,
                                         bool planar, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const int nx = s->nx, ny = s->ny;
    const double pivot = s->nclosing > 1 ? LWI_CLUSTER_COUPLED_PIVOT : LWI_CLUSTER_PIVOT;
    lwi_lanes *L = b->factor, *Di = b->factor + ny * (ny - 1) / 2;
    real N[LWI_CLUSTER_DEPENDENT][LWI_CLUSTER_DEPENDENT],
        B[LWI_CLUSTER_DEPENDENT][LWI_CLUSTER_KNOWN];
    mask valid = ~NAME(bits)(NAME(splat)(0));
    NAME(cluster_normal)(b, N, B, unit, planar, l);
    UNROLL
    for (int i = 0; i < ny; i++) { // N becomes L D below the diagonal
        real d = N[i][i];
        lwi_lanes *row = L + i * (i - 1) / 2;
        for (int j = s->first[i]; j < i; j++) {
            const int start = s->first[i] > s->first[j] ? s->first[i] : s->first[j];
            for (int k = start; k < j; k++) LESS(N[i][j], N[i][k], AT(L[j * (j - 1) / 2 + k]));
            const real f = N[i][j] * AT(Di[j]);
            AT(row[j]) = f;
            LESS(d, f, N[i][j]);
        }
        valid &= NAME(at_most)(NAME(splat)(pivot) * N[i][i], d);
        AT(Di[i]) = 1 / d;
    }
    real sum[LWI_CLUSTER_CLOSINGS];
    for (int g = 0; g < s->nclosing; g++) sum[g] = NAME(splat)(0);
    UNROLL
    for (int j = 0; j < nx; j++) {
        real x[LWI_CLUSTER_DEPENDENT];
        for (int i = 0; i < ny; i++) x[i] = -B[i][j];
        NAME(cluster_solve)(b, x, l);
        if (NAME(cluster_refines)(s)) {
            real row[LWI_CLUSTER_CLOSINGS][6];
            for (int i = 0; i < 6 * s->nclosing; i++) row[i / 6][i % 6] = NAME(splat)(0);
            NAME(cluster_refine)(b, row, j, unit, x, l);
        }
        for (int i = 0; i < ny; i++) AT(b->K[i * nx + j]) = x[i];
        NAME(cluster_ratios)(b, j, sum, l);
    }
    for (int g = 0; g < s->nclosing; g++)
        *ratio2 = NAME(select)(NAME(at_most)(sum[g], *ratio2), *ratio2, sum[g]);
    return valid;
}
