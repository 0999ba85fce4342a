// rows.c -- building blocks of the closure rows of joints on the world motion of both frames.
//
// A row is phi(pose of F1, pose of F2) with
//     phidot  = J1 V1 + J2 V2,         V = [v of the frame's origin; w], world axes
//     phiddot = J1 A1 + J2 A2 + gamma, A = dV/dt
// Axes follow their frame: da/dt = w x a, d2a/dt2 = dw/dt x a + w x (w x a).
#include "model/joints/shared.h"

static void axis_of(double a[3], const double R[9], int i)
{
    v3_set(a, R[i], R[3 + i], R[6 + i]);
}

static void clear(lwi_rows *rows, int k)
{
    rows->phi[k] = rows->b[k] = rows->gamma[k] = 0;
    v6_zero(rows->J1[k]);
    v6_zero(rows->J2[k]);
}

void lwi_row_points(const lwi_rows_in *in, lwi_rows *rows, int k)
{
    for (int i = 0; i < 3; i++) {
        clear(rows, k + i);
        rows->phi[k + i] = in->r2[i] - in->r1[i];
        rows->J1[k + i][i] = -1;
        rows->J2[k + i][i] = 1;
    }
}

// phi = a.d;  phidot = a.(v2 - v1) + (w1 x a).d = a.(v2 - v1) + w1.(a x d)
// phiddot: terms without accelerations 2 (w1 x a).(v2 - v1) + (w1 x (w1 x a)).d
void lwi_row_along(const lwi_rows_in *in, lwi_rows *rows, int k, int i)
{
    double a[3], d[3], dd[3], wa[3], wwa[3];
    axis_of(a, in->R1, i);
    v3_sub(d, in->r2, in->r1);
    v3_sub(dd, in->v2, in->v1);
    v3_cross(wa, in->w1, a);
    v3_cross(wwa, in->w1, wa);

    clear(rows, k);
    rows->phi[k] = v3_dot(a, d);
    v3_copy(rows->J2[k], a);
    v3_scale(rows->J1[k], -1, a);
    v3_cross(rows->J1[k] + 3, a, d);
    rows->gamma[k] = 2 * v3_dot(wa, dd) + v3_dot(wwa, d);
}

// phi = a1.a2;  phidot = (w1 x a1).a2 + a1.(w2 x a2) = (w2 - w1).(a2 x a1)
// phiddot: terms without accelerations 2 (w1 x a1).(w2 x a2) + (w1 x (w1 x a1)).a2
//          + a1.(w2 x (w2 x a2))
void lwi_row_axes(const lwi_rows_in *in, lwi_rows *rows, int k, int i, int j)
{
    double a1[3], a2[3], wa1[3], wa2[3], wwa1[3], wwa2[3];
    axis_of(a1, in->R1, i);
    axis_of(a2, in->R2, j);
    v3_cross(wa1, in->w1, a1);
    v3_cross(wa2, in->w2, a2);
    v3_cross(wwa1, in->w1, wa1);
    v3_cross(wwa2, in->w2, wa2);

    clear(rows, k);
    rows->phi[k] = v3_dot(a1, a2);
    v3_cross(rows->J2[k] + 3, a2, a1);
    v3_cross(rows->J1[k] + 3, a1, a2);
    rows->gamma[k] = 2 * v3_dot(wa1, wa2) + v3_dot(wwa1, a2) + v3_dot(a1, wwa2);
}

// Quaternion (s, e) of F2 in F1 and w = R2'(w2 - w1):  sdot = -e.w/2,  edot = (s w + e x w)/2.
// phi = 2 e;  phidot = s w + e x w;  wdot = R2'(dw2/dt - dw1/dt + w2 x w1), so
// phiddot: terms without accelerations s c + e x c - |w|^2 e / 2 with c = R2'(w2 x w1), because
//          sdot w + edot x w = (-(e.w) w + (e x w) x w)/2 = -|w|^2 e / 2
void lwi_row_attitude(const lwi_rows_in *in, lwi_rows *rows, int k)
{
    double R[9], q[4], w[3], c[3], gamma[3];
    m3_tmul(R, in->R1, in->R2);
    quat_from_matrix(q, R);
    static const double identity[4] = {1, 0, 0, 0};
    quat_continue(q, identity);
    const double s = q[0], *e = q + 1;
    v3_sub(w, in->w2, in->w1);
    m3_tmul_v(w, in->R2, w);
    v3_cross(c, in->w2, in->w1);
    m3_tmul_v(c, in->R2, c);
    v3_cross(gamma, e, c);
    v3_axpy(gamma, s, c);
    v3_axpy(gamma, -0.5 * v3_dot(w, w), e);

    for (int i = 0; i < 3; i++) {
        double unit[3] = {0, 0, 0}, g[3]; // phidot_i = g.w with g = s unit_i + unit_i x e
        unit[i] = 1;
        v3_cross(g, unit, e);
        v3_axpy(g, s, unit);
        clear(rows, k + i);
        rows->phi[k + i] = 2 * e[i];
        m3_mul_v(rows->J2[k + i] + 3, in->R2, g);
        v3_scale(rows->J1[k + i] + 3, -1, rows->J2[k + i] + 3);
        rows->gamma[k + i] = gamma[i];
    }
}

double lwi_row_speed(const lwi_rows_in *in, const lwi_rows *rows, int k)
{
    const double *J1 = rows->J1[k], *J2 = rows->J2[k];
    return v3_dot(J1, in->v1) + v3_dot(J1 + 3, in->w1) + v3_dot(J2, in->v2) +
           v3_dot(J2 + 3, in->w2);
}
