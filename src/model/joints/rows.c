// rows.c -- building blocks of the closure rows of joints on the world motion of both frames.
//
// A row is a function phi of the poses of F1 and F2 with, in world axes and d = r2 - r1,
//     phidot  = J.V,          V = [v2 - v1 - w1 x d; w2 - w1]
//     phiddot = J.A + gamma,  A = [a2 - a1 - al1 x d; al2 - al1]
// J is a wrench on F2 about its origin.  Nothing changes when both frames move as one, so J on F2
// and its opposite on F1 are all there is: internal forces balance wherever the frames are. Axes
// follow their frame: da/dt = w x a, d2a/dt2 = dw/dt x a + w x (w x a).
#include "model/joints/shared.h"

#include "base/assert.h"

static void axis_of(double a[3], const double R[9], int i)
{
    LWI_ASSERT_INDEX(i, 3);
    v3_set(a, R[i], R[3 + i], R[6 + i]);
}

static void clear(lwi_rows *rows, int k)
{
    LWI_ASSERT_INDEX(k, 6);
    rows->b[k] = rows->gamma[k] = 0;
    v6_zero(rows->J[k]);
    v6_zero(rows->Jdot[k]);
}

// phi = a.d;  phidot = a.(v2 - v1) + (w1 x a).d = a.(v2 - v1 - w1 x d)
// phiddot: terms without accelerations 2 (w1 x a).(v2 - v1) + (w1 x (w1 x a)).d
void lwi_row_along(const lwi_rows_in *in, lwi_rows *rows, int k, int i)
{
    double a[3], d[3], dd[3], wa[3], wwa[3];
    axis_of(a, in->R1, i);
    v3_sub(d, in->r2, in->r1);
    clear(rows, k);
    rows->phi[k] = v3_dot(a, d);
    v3_copy(rows->J[k], a);
    if (!in->v1) return;
    v3_sub(dd, in->v2, in->v1);
    v3_cross(wa, in->w1, a);
    v3_cross(wwa, in->w1, wa);
    rows->gamma[k] = 2 * v3_dot(wa, dd) + v3_dot(wwa, d);
    v3_copy(rows->Jdot[k], wa);
}

// In axes of F1: along axes fixed in space the reaction would not balance about a common point when
// the points have drifted apart, and a floating mechanism would rotate by itself.
void lwi_row_points(const lwi_rows_in *in, lwi_rows *rows, int k)
{
    LWI_ASSERT_INDEX(k, 4);
    for (int i = 0; i < 3; i++) lwi_row_along(in, rows, k + i, i);
}

// An axis of a frame and, if wanted, its derivatives without those of w.
typedef struct axis {
    double a[3], wa[3], wwa[3];
} axis;

static inline void take_axis(const double R[9], int i, bool rates, const double *w, axis *x)
{
    *x = (axis){0};
    axis_of(x->a, R, i);
    if (!rates) return;
    v3_cross(x->wa, w, x->a);
    v3_cross(x->wwa, w, x->wa);
}

// A row that is a torque alone.
typedef struct torque {
    double phi, gamma, J[3], Jdot[3];
} torque;

// phi = a1.a2;  phidot = (w1 x a1).a2 + a1.(w2 x a2) = (w2 - w1).(a2 x a1)
// phiddot: terms without accelerations 2 (w1 x a1).(w2 x a2) + (w1 x (w1 x a1)).a2
//          + a1.(w2 x (w2 x a2))
static inline torque between(const axis *one, const axis *two, bool rates)
{
    torque row = {.phi = v3_dot(one->a, two->a)};
    v3_cross(row.J, two->a, one->a);
    if (!rates) return row;
    row.gamma = 2 * v3_dot(one->wa, two->wa) + v3_dot(one->wwa, two->a) + v3_dot(one->a, two->wwa);
    v3_cross(row.Jdot, two->wa, one->a);
    v3_cross_add(row.Jdot, two->a, one->wa);
    return row;
}

void lwi_row_axes(const lwi_rows_in *in, lwi_rows *rows, int k, int i, int j)
{
    const bool rates = in->v1;
    axis one, two;
    clear(rows, k);
    take_axis(in->R1, i, rates, in->w1, &one);
    take_axis(in->R2, j, rates, in->w2, &two);
    const torque row = between(&one, &two, rates);
    rows->phi[k] = row.phi;
    rows->gamma[k] = row.gamma;
    v3_copy(rows->J[k] + 3, row.J);
    v3_copy(rows->Jdot[k] + 3, row.Jdot);
}

// R2 (s unit_i + unit_i x e)
static void attitude_wrench(double n[3], const double R2[9], double s, const double e[3], int i)
{
    double unit[3] = {0, 0, 0};
    unit[i] = 1;
    v3_cross(n, unit, e);
    v3_axpy(n, s, unit);
    m3_mul_v(n, R2, n);
}

// Quaternion (s, e) of F2 in F1 and w = R2'(w2 - w1):  sdot = -e.w/2,  edot = (s w + e x w)/2.
// phi = 2 e;  phidot_i = (s w + e x w)_i = g.w with g = s unit_i + unit_i x e, J = R2 g
// wdot = R2'(dw2/dt - dw1/dt + w2 x w1), so phiddot: terms without accelerations
//          s c + e x c - |w|^2 e / 2 with c = R2'(w2 x w1), because
//          sdot w + edot x w = (-(e.w) w + (e x w) x w)/2 = -|w|^2 e / 2
void lwi_row_attitude(const lwi_rows_in *in, lwi_rows *rows, int k)
{
    LWI_ASSERT_INDEX(k, 4);
    double R[9], q[4], w[3], c[3], gamma[3], ed[3];
    m3_tmul(R, in->R1, in->R2);
    quat_from_matrix(q, R);
    static const double identity[4] = {1, 0, 0, 0};
    quat_continue(q, identity);
    const double s = q[0], *e = q + 1;
    for (int i = 0; i < 3; i++) {
        clear(rows, k + i);
        rows->phi[k + i] = 2 * e[i];
        attitude_wrench(rows->J[k + i] + 3, in->R2, s, e, i);
    }
    if (!in->v1) return;
    v3_sub(w, in->w2, in->w1);
    m3_tmul_v(w, in->R2, w);
    v3_cross(c, in->w2, in->w1);
    m3_tmul_v(c, in->R2, c);
    v3_cross(gamma, e, c);
    v3_axpy(gamma, s, c);
    v3_axpy(gamma, -0.5 * v3_dot(w, w), e);
    v3_cross(ed, e, w);
    v3_axpy(ed, s, w);
    v3_scale(ed, 0.5, ed);
    for (int i = 0; i < 3; i++) {
        rows->gamma[k + i] = gamma[i];
        attitude_wrench(rows->Jdot[k + i] + 3, in->R2, -0.5 * v3_dot(e, w), ed, i);
        v3_cross_add(rows->Jdot[k + i] + 3, in->w2, rows->J[k + i] + 3);
    }
}

// e x + f y
static inline torque combined(double e, const torque *x, double f, const torque *y, bool rates)
{
    torque row = {.phi = e * x->phi + f * y->phi};
    for (int i = 0; i < 3; i++) row.J[i] = e * x->J[i] + f * y->J[i];
    if (!rates) return row;
    row.gamma = e * x->gamma + f * y->gamma;
    for (int i = 0; i < 3; i++) row.Jdot[i] = e * x->Jdot[i] + f * y->Jdot[i];
    return row;
}

// phi = atan2(B, A)
//   phidot = a Bdot - b Adot,  a = A/n, b = B/n, n = A^2 + B^2
//   phiddot = a Bddot - b Addot - g phidot,  g = ndot/n = 2 (a Adot + b Bdot)
//   adot = Adot/n - a g, the same for b
static inline void put_arc(const lwi_rows_in *in, const torque *A, const torque *B, double near,
                           lwi_rows *rows, int k)
{
    const double n = A->phi * A->phi + B->phi * B->phi, a = A->phi / n, b = B->phi / n;
    torque arc = combined(a, B, -b, A, in->v1);
    if (in->v1) {
        double w[3];
        v3_sub(w, in->w2, in->w1);
        const double Ad = v3_dot(A->J, w), Bd = v3_dot(B->J, w), g = 2 * (a * Ad + b * Bd);
        arc.gamma -= g * (a * Bd - b * Ad);
        v3_axpy(arc.Jdot, Ad / n - a * g, B->J);
        v3_axpy(arc.Jdot, b * g - Bd / n, A->J);
    }
    clear(rows, k);
    rows->phi[k] = angle_continue(atan2(B->phi, A->phi), near);
    rows->gamma[k] = arc.gamma;
    v3_copy(rows->J[k] + 3, arc.J);
    v3_copy(rows->Jdot[k] + 3, arc.Jdot);
}

void lwi_row_arc(const lwi_rows_in *in, const int A[2], const int B[2], double near, lwi_rows *rows,
                 int k)
{
    const bool rates = in->v1;
    axis a1, a2, b1, b2;
    take_axis(in->R1, A[0], rates, in->w1, &a1);
    take_axis(in->R2, A[1], rates, in->w2, &a2);
    take_axis(in->R1, B[0], rates, in->w1, &b1);
    take_axis(in->R2, B[1], rates, in->w2, &b2);
    const torque a = between(&a1, &a2, rates), b = between(&b1, &b2, rates);
    put_arc(in, &a, &b, near, rows, k);
}

void lwi_row_angle(const lwi_rows_in *in, double near, lwi_rows *rows, int k)
{
    const bool rates = in->v1;
    axis x1, y1, x2, y2; // A = x1.x2 + y1.y2, B = y1.x2 - x1.y2
    take_axis(in->R1, 0, rates, in->w1, &x1);
    take_axis(in->R1, 1, rates, in->w1, &y1);
    take_axis(in->R2, 0, rates, in->w2, &x2);
    take_axis(in->R2, 1, rates, in->w2, &y2);
    const torque xx = between(&x1, &x2, rates), yy = between(&y1, &y2, rates);
    const torque yx = between(&y1, &x2, rates), xy = between(&x1, &y2, rates);
    const torque A = combined(1, &xx, 1, &yy, rates), B = combined(1, &yx, -1, &xy, rates);
    put_arc(in, &A, &B, near, rows, k);
}

// V = R2'[v2 - v1 - w1 x d; w2 - w1]
// dV/dt = R2'[a2 - a1 - al1 x d; al2 - al1] + bias
// bias = R2'[-w1 x (v2 - v1) - w2 x (v2 - v1 - w1 x d); w2 x w1]
void lwi_rows_relative(const lwi_rows_in *in, lwi_relative *relative)
{
    double *V = relative->V, *bias = relative->bias, d[3], dd[3], c[3];
    v3_sub(d, in->r2, in->r1);
    v3_sub(dd, in->v2, in->v1);
    v3_cross(c, in->w1, d);
    v3_sub(V, dd, c);
    v3_sub(V + 3, in->w2, in->w1);
    v3_cross(bias, dd, in->w1);
    v3_cross(c, V, in->w2);
    v3_add(bias, bias, c);
    v3_cross(bias + 3, in->w2, in->w1);
    for (int i = 0; i < 6; i += 3) {
        m3_tmul_v(V + i, in->R2, V + i);
        m3_tmul_v(bias + i, in->R2, bias + i);
    }
}

// J = R2 c;  d/dt (c.V) = c.dV/dt + cdot.V,  dJ/dt = R2 cdot + w2 x (R2 c), both halves
void lwi_row_component(const lwi_rows_in *in, const lwi_relative *relative, const double c[6],
                       const double cdot[6], lwi_rows *rows, int k)
{
    LWI_ASSERT_INDEX(k, 6);
    for (int i = 0; i < 6; i += 3) m3_mul_v(rows->J[k] + i, in->R2, c + i);
    if (!relative) return;
    rows->gamma[k] = v6_dot(c, relative->bias) + v6_dot(cdot, relative->V);
    for (int i = 0; i < 6; i += 3) {
        m3_mul_v(rows->Jdot[k] + i, in->R2, cdot + i);
        v3_cross_add(rows->Jdot[k] + i, in->w2, rows->J[k] + i);
    }
}
