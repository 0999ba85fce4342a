// space.inl -- clusters in space: the closure, projected inertia and force of the clusters of a block, from lane l on.
//
// Included once per ISA build by clusters.c for any shape and by shapes.c for constant ones, which defines UNROLL for loops over
// a shape.  Rows of closing joints: rows.inl; the same in a plane: planar.inl.
// Equations, input, output and cost: those of clusters.c.

#include "base/simd/sincos.inl"

// Sines and cosines of n angles; of one lane, four at a time.  @return all bits where the angles are not too large
#if WIDTH == 1 && defined __AVX2__
static INLINE mask cluster_sincos_w1(const double *angle, int n, double *sine, double *cosine)
{
    mask_w4 valid = ~(mask_w4){0};
    UNROLL
    for (int i = 0; i < n; i += 4) {
        real_w4 x = {0}, s, c;
        for (int k = 0; k < 4 && i + k < n; k++) x[k] = angle[i + k];
        sincos_w4(x, &s, &c);
        for (int k = 0; k < 4 && i + k < n; k++) sine[i + k] = s[k], cosine[i + k] = c[k];
        valid &= at_most_w4(absolute_w4(x), splat_w4(LWI_K_LARGEST_ANGLE));
    }
    return -(mask)(lanes_of_w4(valid) == 15);
}
#else
static INLINE mask NAME(cluster_sincos)(const real *angle, int n, real *sine, real *cosine)
{
    mask valid = ~NAME(bits)(NAME(splat)(0));
    UNROLL
    for (int i = 0; i < n; i++) {
        NAME(sincos)(angle[i], &sine[i], &cosine[i]);
        valid &= NAME(at_most)(NAME(absolute)(angle[i]), NAME(splat)(LWI_K_LARGEST_ANGLE));
    }
    return valid;
}
#endif

static INLINE void NAME(cluster_load)(real *x, const lwi_lanes *from, int n, int l)
{
    for (int i = 0; i < n; i++) x[i] = AT(from[i]);
}
static INLINE void NAME(cluster_store)(lwi_lanes *to, const real *x, int n, int l)
{
    for (int i = 0; i < n; i++) AT(to[i]) = x[i];
}
// from[at] for the lanes
static INLINE real NAME(cluster_gather)(const double *from, const int32_t *at, int l)
{
#if WIDTH == 8
    return (real)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)(at + l)), from, 8);
#elif WIDTH == 4
    return (real)_mm256_i32gather_pd(from, _mm_loadu_si128((const __m128i *)(at + l)), 8);
#else
    return from[at[l]];
#endif
}
static INLINE real NAME(cluster_dot)(const real *a, const real *b)
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}
static INLINE void NAME(cluster_cross)(real *c, const real *a, const real *b)
{
    c[0] = DIFF(a[1], b[2], a[2], b[1]);
    c[1] = DIFF(a[2], b[0], a[0], b[2]);
    c[2] = DIFF(a[0], b[1], a[1], b[0]);
}
static INLINE void NAME(cluster_cross_add)(real *c, const real *a, const real *b)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        MORE(c[i], a[j], b[k]);
        LESS(c[i], a[k], b[j]);
    }
}
static INLINE void NAME(cluster_axpy)(real *y, real s, const real *x)
{
    for (int i = 0; i < 3; i++) MORE(y[i], s, x[i]);
}
// y = R x, y = R'x
static INLINE void NAME(cluster_rotate)(real *y, const real *R, const real *x)
{
    for (int i = 0; i < 3; i++) y[i] = NAME(cluster_dot)(R + 3 * i, x);
}
static INLINE void NAME(cluster_rotate_back)(real *y, const real *R, const real *x)
{
    for (int i = 0; i < 3; i++) y[i] = SUM3(R[i], x[0], R[3 + i], x[1], R[6 + i], x[2]);
}
// y = J x, xx yy zz xy xz yz
static INLINE void NAME(cluster_symmetric)(real *y, const lwi_lanes *J, int l, const real *x)
{
    y[0] = SUM3(AT(J[0]), x[0], AT(J[3]), x[1], AT(J[4]), x[2]);
    y[1] = SUM3(AT(J[3]), x[0], AT(J[1]), x[1], AT(J[5]), x[2]);
    y[2] = SUM3(AT(J[4]), x[0], AT(J[5]), x[1], AT(J[2]), x[2]);
}
// Axis of the motion of step n: z of its frame; of a ball one of the body's axes, or of its parent's, backwards.
static INLINE void NAME(cluster_axis)(real *z, const lwi_cluster_block *b, int n, int l)
{
    const lwi_cluster_step *step = &b->shape->step[n];
    const int ball = step->ball, column = ball ? (ball < 0 ? -ball : ball) - 1 : 2;
    const lwi_cluster_pose *pose = &b->pose[ball == -3 ? step->parent : n];
    for (int i = 0; i < 3; i++) z[i] = AT(pose->R[3 * i + column]);
    for (int i = 0; i < 3 && ball < 0; i++) z[i] = -z[i];
}
// ------------------------------------------------------------------------------------------- poses

// Axes R before the step's own rotation.
static INLINE void NAME(cluster_axes)(real *R, const lwi_cluster_step *step,
                                      const lwi_cluster_link *link, const lwi_cluster_pose *parent,
                                      int l)
{
    real A[9], X[9];
    for (int i = 0; i < 9; i++) A[i] = NAME(splat)(i % 4 == 0);
    if (parent) NAME(cluster_load)(A, parent->R, 9, l);
    if (step->axes == LWI_CLUSTER_ANY) {
        NAME(cluster_load)(X, link->X, 9, l);
        for (int i = 0; i < 9; i++)
            R[i] = parent ? SUM3(A[i / 3 * 3], X[i % 3], A[i / 3 * 3 + 1], X[3 + i % 3],
                                 A[i / 3 * 3 + 2], X[6 + i % 3])
                          : X[i];
        return;
    }
    for (int i = 0; i < 9; i += 3) {
        R[i] = A[i];
        R[i + 1] = step->axes == LWI_CLUSTER_SQUARE ? A[i + 2] : A[i + 1];
        R[i + 2] = step->axes == LWI_CLUSTER_SQUARE ? -A[i + 1] : A[i + 2];
    }
}

// Rotation of a ball by its quaternion in q, or back.
static INLINE void NAME(cluster_ball)(real *Q, const double *q, const int32_t *at, bool back, int l)
{
    const real w = NAME(cluster_gather)(q, at, l), x = NAME(cluster_gather)(q + 1, at, l);
    const real y = NAME(cluster_gather)(q + 2, at, l), z = NAME(cluster_gather)(q + 3, at, l);
    const real s = 2 / (SUM2(w, w, x, x) + SUM2(y, y, z, z)), v = back ? -w : w;
    const real xs = s * x, ys = s * y, zs = s * z;
    Q[0] = 1 - SUM2(ys, y, zs, z), Q[1] = DIFF(xs, y, zs, v), Q[2] = SUM2(xs, z, ys, v);
    Q[3] = SUM2(xs, y, zs, v), Q[4] = 1 - SUM2(xs, x, zs, z), Q[5] = DIFF(ys, z, xs, v);
    Q[6] = DIFF(xs, z, ys, v), Q[7] = SUM2(ys, z, xs, v), Q[8] = 1 - SUM2(xs, x, ys, y);
}

// ball: its rotation, or NULL.
static INLINE void NAME(cluster_pose)(const lwi_cluster_step *step, const lwi_cluster_link *link,
                                      const lwi_cluster_pose *parent, lwi_cluster_pose *pose,
                                      real q, real sine, real cosine, const real *ball, int l)
{
    real R[9], c[3], d[3] = {NAME(splat)(0), NAME(splat)(0), NAME(splat)(0)};
    NAME(cluster_axes)(R, step, link, parent, l);
    if (step->has_offset) {
        real r[3], Rp[9];
        NAME(cluster_load)(r, link->r, 3, l);
        if (parent) {
            NAME(cluster_load)(Rp, parent->R, 9, l);
            NAME(cluster_rotate)(d, Rp, r);
        } else {
            for (int i = 0; i < 3; i++) d[i] = r[i];
        }
        if (step->slide) {
            const real along = AT(link->slide) * q;
            for (int i = 0; i < 3; i++) MORE(d[i], along, R[3 * i + 2]);
        }
        NAME(cluster_store)(pose->d, d, 3, l);
    }
    for (int i = 0; i < 3; i++) {
        if (parent) d[i] += AT(parent->r[i]);
        AT(pose->r[i]) = d[i];
    }
    for (int i = 0; i < 9 && ball; i += 3) {
        const real x = R[i], y = R[i + 1], z = R[i + 2];
        for (int j = 0; j < 3; j++) R[i + j] = SUM3(x, ball[j], y, ball[3 + j], z, ball[6 + j]);
    }
    if (step->turn && !step->ball) {
        for (int i = 0; i < 9; i += 3) {
            const real x = R[i], y = R[i + 1];
            R[i] = SUM2(x, cosine, y, sine);
            R[i + 1] = DIFF(y, cosine, x, sine);
        }
    }
    NAME(cluster_store)(pose->R, R, 9, l);
    if (step->body < 0) return;
    NAME(cluster_load)(c, link->c, 3, l);
    NAME(cluster_rotate)(d, R, c);
    NAME(cluster_store)(pose->c, d, 3, l);
}

static INLINE mask NAME(cluster_poses)(const lwi_cluster_block *b, const double *q, int l)
{
    const lwi_cluster_shape *s = b->shape;
    real x[LWI_CLUSTER_STEPS], angle[LWI_CLUSTER_STEPS], sine[LWI_CLUSTER_STEPS],
        cosine[LWI_CLUSTER_STEPS];
    UNROLL
    for (int n = 0; n < s->nstep; n++) {
        const lwi_cluster_step *step = &s->step[n];
        x[n] = angle[n] = NAME(splat)(0);
        if (!step->ball) x[n] = NAME(cluster_gather)(q, b->iq[step->at], l);
        if (!step->ball && step->turn) angle[n] = x[n] + AT(b->link[n].angle);
    }
    const mask valid = NAME(cluster_sincos)(angle, s->nstep, sine, cosine);
    UNROLL
    for (int n = 0; n < s->nstep; n++) {
        const lwi_cluster_step *step = &s->step[n];
        const lwi_cluster_pose *parent = step->parent < 0 ? NULL : &b->pose[step->parent];
        const bool turns = step->ball == 1 || step->ball == -3; // the first step, or the last one
        real ball[9];
        if (turns) NAME(cluster_ball)(ball, q, b->iq[step->at], step->ball < 0, l);
        NAME(cluster_pose)
        (step, &b->link[n], parent, &b->pose[n], x[n], sine[n], cosine[n], turns ? ball : NULL, l);
    }
    return valid;
}

// Known coordinates, with room for whole vectors.
enum { CLUSTER_COLUMNS = (LWI_CLUSTER_KNOWN + 3) / 4 * 4 };

#include "methods/rcr/clusters/simd/rows.inl"

// ------------------------------------------------------------------------------------------ inertia

// C += mass, first and second moments of inertia of a body at r about the base's origin.
static INLINE void NAME(cluster_spatial)(const lwi_cluster_link *link, const real *R, const real *r,
                                         real *C, int l)
{
    const real m = AT(link->m);
    real J[9], h[3];
    for (int i = 0; i < 9; i += 3)
        NAME(cluster_symmetric)(J + i, link->J, l, R + i); // R J, row by row
    for (int i = 0; i < 3; i++) h[i] = m * r[i];
    C[0] += m;
    for (int i = 0; i < 3; i++) C[1 + i] += h[i];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        C[4 + i] += NAME(cluster_dot)(J + 3 * i, R + 3 * i) + SUM2(h[j], r[j], h[k], r[k]);
    }
    C[7] += NMAD(h[0], r[1], NAME(cluster_dot)(J, R + 3));
    C[8] += NMAD(h[0], r[2], NAME(cluster_dot)(J, R + 6));
    C[9] += NMAD(h[1], r[2], NAME(cluster_dot)(J + 3, R + 6));
}

#define COLUMNS 1
#include "methods/rcr/clusters/simd/columns.inl"
#if WIDTH == 1 && defined __AVX2__
#define COLUMNS 4
#include "methods/rcr/clusters/simd/columns.inl"
// From two known coordinates on.
#define BY_COLUMNS(nx, f, ...) ((nx) > 1 ? f##_c4(__VA_ARGS__) : f##_c1(__VA_ARGS__))
#else
#define BY_COLUMNS(nx, f, ...) f##_c1(__VA_ARGS__)
#endif

// K and the factor of W_y'W_y.
static INLINE mask NAME(cluster_closure)(const lwi_cluster_block *b, real unit, real *ratio2,
                                         bool planar, int l)
{
    real N[LWI_CLUSTER_DEPENDENT][LWI_CLUSTER_DEPENDENT], B[LWI_CLUSTER_DEPENDENT][CLUSTER_COLUMNS];
    NAME(cluster_normal)(b, N, B, unit, planar, l);
    const mask valid = NAME(cluster_factor)(b, N, l);
    BY_COLUMNS(b->shape->nx, cluster_dependence, b, B, unit, ratio2, l);
    return valid;
}

static INLINE mask NAME(cluster_place)(const lwi_cluster_block *b, const double *q, real unit,
                                       real *ratio2, int l)
{
    const lwi_cluster_shape *s = b->shape;
    real axis[LWI_CLUSTER_STEPS][3];
    mask valid = NAME(cluster_poses)(b, q, l);
    UNROLL
    for (int n = 0; n < s->nstep; n++) NAME(cluster_axis)(axis[n], b, n, l);
    UNROLL
    for (int g = 0; g < s->nclosing; g++) NAME(cluster_levers)(b, g, axis, l);
    if (s->nclosing && s->ny) valid &= NAME(cluster_closure)(b, unit, ratio2, false, l);
    BY_COLUMNS(s->nx, cluster_inertia, b, axis, l);
    return valid;
}

// -------------------------------------------------------------------------------------- velocities

/** Motion of a step: angular velocity, and accelerations at zero x.., y.. and A; minus gravity if
 *  the base floats. */
typedef struct NAME(cluster_motion) {
    real w[3], al[3], a[3];
} NAME(cluster_motion);

// Motion of the floating bases of the lanes.
static INLINE void NAME(cluster_base_motion)(const lwi_cluster_block *b,
                                             NAME(cluster_motion) * motion, int l)
{
    for (int i = 0; i < 3; i++) {
        motion->w[i] = NAME(cluster_gather)(b->base_motion + i, b->at_base_motion, l);
        motion->al[i] = NAME(cluster_gather)(b->base_motion + 3 + i, b->at_base_motion, l);
        motion->a[i] = NAME(cluster_gather)(b->base_motion + 6 + i, b->at_base_motion, l);
    }
}

static INLINE void NAME(cluster_move)(const lwi_cluster_block *b, int n, const double *v,
                                      const NAME(cluster_motion) * base,
                                      NAME(cluster_motion) * motion, int l)
{
    const lwi_cluster_step *step = &b->shape->step[n];
    const lwi_cluster_pose *pose = &b->pose[n];
    NAME(cluster_motion) *own = &motion[n];
    const real rate = NAME(cluster_gather)(v, b->iv[step->at], l);
    real axis[3], d[3], turn[3];
    NAME(cluster_axis)(axis, b, n, l);
    if (step->parent < 0 && !base) {
        for (int i = 0; i < 3; i++) {
            own->w[i] = step->turn ? rate * axis[i] : NAME(splat)(0);
            own->al[i] = own->a[i] = NAME(splat)(0);
        }
        return;
    }
    *own = step->parent < 0 ? *base : motion[step->parent];
    if (step->has_offset) {
        NAME(cluster_load)(d, pose->d, 3, l);
        NAME(cluster_cross)(turn, own->w, d);
        NAME(cluster_cross_add)(own->a, own->al, d);
        NAME(cluster_cross_add)(own->a, own->w, turn);
    }
    if (step->ball) { // its axes move as the parent does, apart from their own rotation
        const int in = b->shape->step[n + 1 - (step->ball < 0 ? -step->ball : step->ball)].parent;
        const NAME(cluster_motion) *inboard = in < 0 ? base : &motion[in];
        for (int i = 0; i < 3; i++) turn[i] = NAME(splat)(0);
        if (inboard) NAME(cluster_cross)(turn, inboard->w, axis);
    } else {
        NAME(cluster_cross)(turn, own->w, axis);
    }
    if (step->slide) NAME(cluster_axpy)(own->a, 2 * rate * AT(b->link[n].slide), turn);
    if (!step->turn) return;
    NAME(cluster_axpy)(own->al, rate, turn);
    NAME(cluster_axpy)(own->w, rate, axis);
}

// a := acceleration of a closing point P as a point of step n; -1: of the base.
static INLINE void NAME(cluster_at_closure)(const lwi_cluster_block *b, const lwi_lanes *P, int n,
                                            const NAME(cluster_motion) * motion, real *a, int l)
{
    real lever[3], turn[3];
    for (int i = 0; i < 3; i++) {
        lever[i] = AT(P[i]);
        if (n >= 0) lever[i] -= AT(b->pose[n].r[i]);
        a[i] = motion->a[i];
    }
    NAME(cluster_cross_add)(a, motion->al, lever);
    NAME(cluster_cross)(turn, motion->w, lever);
    NAME(cluster_cross_add)(a, motion->w, turn);
}

// Of a universal joint with the relative angular velocity h: its speeds, about z1 and x2, and the second derivative of
// - z1.x2 along the normal, from that of the angular velocity al.
static INLINE void NAME(cluster_universal_bias)(const lwi_cluster_block *b, int g, const real *n,
                                                const real *h, real (*w)[3], real *al, int l)
{
    lwi_lanes *rate = b->rate + b->shape->closing[g].rate;
    real axis[2][3], turn[2][3], more[3], two = NAME(splat)(2);
    NAME(cluster_load)(axis[0], b->closed[g].axis[0], 6, l);
    for (int side = 0; side < 2; side++) {
        AT(rate[side]) = NAME(cluster_dot)(axis[side], h);
        NAME(cluster_cross)(turn[side], w[side], axis[side]);
    }
    real sum = NAME(cluster_dot)(n, al);
    LESS(sum, two, NAME(cluster_dot)(turn[0], turn[1]));
    for (int side = 0; side < 2; side++) {
        NAME(cluster_cross)(more, w[side], turn[side]);
        sum -= NAME(cluster_dot)(more, axis[1 - side]);
    }
    for (int i = 0; i < 3; i++) al[i] = sum * n[i];
}

// Of a hinge.  With W qdot = 0 the angular velocity of body 2 relative to 1 is s z, so the part s w_2 x z of its derivative
// al is due to the motion of z.
static INLINE void NAME(cluster_hinge_bias)(const lwi_cluster_block *b, int g, const real *z,
                                            real *h, const real *w, real *al, int l)
{
    const real rate = NAME(cluster_dot)(z, h);
    AT(b->rate[b->shape->closing[g].rate]) = rate;
    NAME(cluster_cross)(h, w, z);
    for (int i = 0; i < 3; i++) LESS(al[i], rate, h[i]);
}

// Subtracts W_y'a from x, or sets x if the loop is the only one: rows g and their accelerations at zero x.., y..
// [anderson2003, (55)]; and the joint's speeds.
static INLINE void NAME(cluster_bias_of)(const lwi_cluster_block *b, int g,
                                         const NAME(cluster_motion) * base,
                                         const NAME(cluster_motion) * motion, real unit, real *x,
                                         real *row, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_cluster_closing *closing = &s->closing[g];
    real a[3], h[3], al[3], w[2][3], z[3];
    for (int i = 0; i < 3; i++) a[i] = al[i] = w[0][i] = w[1][i] = NAME(splat)(0);
    for (int side = 0; side < 2; side++) {
        const int n = closing->close[side];
        if (n < 0 && !base) continue;
        const NAME(cluster_motion) *end = n < 0 ? base : &motion[n];
        NAME(cluster_at_closure)(b, b->closed[g].P[side], n, end, h, l);
        for (int i = 0; i < 3; i++) {
            a[i] = side ? a[i] + h[i] : a[i] - h[i];
            al[i] = side ? al[i] + end->al[i] : al[i] - end->al[i];
            w[side][i] = end->w[i];
        }
    }
    NAME(cluster_load)(z, b->closed[g].z, 3, l);
    for (int i = 0; i < 3; i++) h[i] = w[1][i] - w[0][i];
    if (closing->kind == LWI_CLUSTER_HINGE) NAME(cluster_hinge_bias)(b, g, z, h, w[1], al, l);
    if (closing->kind == LWI_CLUSTER_UNIVERSAL) NAME(cluster_universal_bias)(b, g, z, h, w, al, l);
    for (int i = 0; i < 3; i++) {
        row[i] = a[i], row[3 + i] = al[i];
        a[i] *= unit;
    }
    UNROLL
    for (int k = 0; k < closing->ny; k++) {
        const lwi_lanes *p = b->lever[closing->first + k], *t = b->turn[closing->first + k];
        const int i = closing->at[k] - s->nx;
        real sum = -SUM3(a[0], AT(p[0]), a[1], AT(p[1]), a[2], AT(p[2]));
        if (closing->oblique >> k & 1)
            sum -= SUM3(AT(t[0]), al[0], AT(t[1]), al[1], AT(t[2]), al[2]);
        x[i] = s->nclosing == 1 ? sum : x[i] + sum;
    }
}

// k = -(W_y'W_y)^-1 W_y'g.
static INLINE void NAME(cluster_bias)(const lwi_cluster_block *b, const NAME(cluster_motion) * base,
                                      const NAME(cluster_motion) * motion, real unit, int l)
{
    real x[LWI_CLUSTER_DEPENDENT], row[LWI_CLUSTER_CLOSINGS][6];
    for (int i = 0; i < b->shape->ny; i++) x[i] = NAME(splat)(0);
    UNROLL
    for (int g = 0; g < b->shape->nclosing; g++)
        NAME(cluster_bias_of)(b, g, base, motion, unit, x, row[g], l);
    cluster_solve_c1(b, x, l);
    if (NAME(cluster_refines)(b->shape)) cluster_refine_c1(b, row, -1, unit, x, l);
    NAME(cluster_store)(b->k, x, b->shape->ny, l);
}

// Accelerations of step n due to the dependent accelerations k; v, w: of earlier steps.
static INLINE void NAME(cluster_follow)(const lwi_cluster_block *b, int n, real (*v)[3],
                                        real (*w)[3], int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_cluster_step *step = &s->step[n];
    const int p = step->parent;
    real axis[3], d[3];
    const bool there = p >= 0 && s->step[p].has_dependent;
    for (int i = 0; i < 3; i++) {
        v[n][i] = there ? v[p][i] : NAME(splat)(0);
        w[n][i] = there ? w[p][i] : NAME(splat)(0);
    }
    if (there && step->has_offset) {
        NAME(cluster_load)(d, b->pose[n].d, 3, l);
        NAME(cluster_cross_add)(v[n], w[n], d);
    }
    if (step->at < s->nx) return;
    const real rate = AT(b->k[step->at - s->nx]);
    NAME(cluster_axis)(axis, b, n, l);
    if (step->turn) NAME(cluster_axpy)(w[n], rate, axis);
    if (step->slide) NAME(cluster_axpy)(v[n], rate * AT(b->link[n].slide), axis);
}

// f += the body's force and torque projected on all x that move it; h += on the base.
static INLINE void NAME(cluster_body)(const lwi_cluster_block *b, int n,
                                      const NAME(cluster_motion) * own, const real *v,
                                      const real *al_more, real *f, real *h, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const lwi_cluster_step *step = &s->step[n];
    const lwi_cluster_link *link = &b->link[n];
    real c[3], r[3], R[9], a[3], al[3], turn[3], wb[3], H[3], T[3];
    NAME(cluster_load)(c, b->pose[n].c, 3, l);
    NAME(cluster_load)(R, b->pose[n].R, 9, l);
    for (int i = 0; i < 3; i++) {
        al[i] = al_more ? own->al[i] + al_more[i] : own->al[i];
        a[i] = AT(b->constants->minus_gravity[i]) + own->a[i];
        if (v) a[i] += v[i];
        r[i] = AT(b->pose[n].r[i]) + c[i];
    }
    NAME(cluster_cross_add)(a, al, c);
    NAME(cluster_cross)(turn, own->w, c);
    NAME(cluster_cross_add)(a, own->w, turn);
    for (int i = 0; i < 3; i++) a[i] *= AT(link->m);
    NAME(cluster_rotate_back)(wb, R, own->w);
    NAME(cluster_rotate_back)(turn, R, al);
    NAME(cluster_symmetric)(H, link->J, l, wb);
    NAME(cluster_symmetric)(T, link->J, l, turn);
    NAME(cluster_cross_add)(T, wb, H);
    if (h) cluster_couple_c1(R, r, a, T, h);
    UNROLL
    for (int j = 0; j < s->nx; j++) {
        if (!(step->moved_by >> j & 1)) continue;
        const lwi_cluster_column *column = &b->column[step->body * s->nx + j];
        NAME(cluster_load)(c, column->v, 3, l);
        f[j] += NAME(cluster_dot)(a, c);
        NAME(cluster_load)(c, column->w, 3, l);
        f[j] += NAME(cluster_dot)(T, c);
    }
}

// f -= efforts on the coordinates that the cluster introduces, over x.
static INLINE void NAME(cluster_efforts)(const lwi_cluster_block *b, const double *tau, real *f,
                                         int l)
{
    const lwi_cluster_shape *s = b->shape;
    for (int j = s->na; tau && j < s->nx; j++) f[j] -= NAME(cluster_gather)(tau, b->iv[j], l);
    for (int i = 0; tau && i < s->ny; i++) {
        const real effort = NAME(cluster_gather)(tau, b->iv[s->nx + i], l);
        for (int j = 0; j < s->nx; j++) LESS(f[j], AT(b->K[i * s->nx + j]), effort);
    }
}

// f: force at x.. = 0, so that M x.. + f = 0.                       [anderson2003, (12), (60)]
static INLINE void NAME(cluster_force)(const lwi_cluster_block *b, const double *qd,
                                       const double *tau, real unit, int l)
{
    const lwi_cluster_shape *s = b->shape;
    const int nx = s->nx;
    NAME(cluster_motion)
    motion[LWI_CLUSTER_STEPS], base_motion, *const base = s->floats ? &base_motion : NULL;
    real v[LWI_CLUSTER_STEPS][3], w[LWI_CLUSTER_STEPS][3], f[LWI_CLUSTER_KNOWN], h[6];
    if (s->floats) NAME(cluster_base_motion)(b, &base_motion, l);
    UNROLL
    for (int n = 0; n < s->nstep; n++) NAME(cluster_move)(b, n, qd, base, motion, l);
    if (s->nclosing) NAME(cluster_bias)(b, base, motion, unit, l);
    for (int j = 0; j < nx; j++) f[j] = NAME(splat)(0);
    for (int j = 0; j < 6; j++) h[j] = NAME(splat)(0);
    UNROLL
    for (int n = 0; n < s->nstep; n++) {
        const lwi_cluster_step *step = &s->step[n];
        if (step->has_dependent) NAME(cluster_follow)(b, n, v, w, l);
        const real *more = step->has_dependent ? v[n] : NULL,
                   *al_more = step->has_dependent ? w[n] : NULL;
        if (step->body < 0) continue;
        NAME(cluster_body)(b, n, &motion[n], more, al_more, f, s->floats ? h : NULL, l);
    }
    NAME(cluster_efforts)(b, tau, f, l);
    NAME(cluster_store)(b->f, f, nx, l);
    if (s->floats) NAME(cluster_store)(b->h, h, 6, l);
}

#include "methods/rcr/clusters/simd/planar.inl"

// Whether all lanes are valid.  *max_ratio2 becomes the largest of itself and of the lanes.
static INLINE bool NAME(cluster_reduce)(mask valid, real ratio2, double *max_ratio2)
{
    double lane[WIDTH];
    memcpy(lane, &ratio2, sizeof lane);
    for (int i = 0; i < WIDTH; i++) *max_ratio2 = lane[i] > *max_ratio2 ? lane[i] : *max_ratio2;
    return NAME(lanes_of)(valid) == (1 << WIDTH) - 1;
}
