// hinge.c -- coordinates of revolute joints, the most common ones with springs and drives.
//
// With the axes x, y of both frames,  A = x1.x2 + y1.y2,  B = y1.x2 - x1.y2,  q = atan2(B, A):  the result of
// lwi_row_angle for joints of any kind, in a tenth of the operations.  For a relative rotation dt
//     dA = n_A . dt,  n_A = x2 x x1 + y2 x y1,    dB = n_B . dt,  n_B = x2 x y1 - y2 x x1
//     dq = (A n_B - B n_A) . dt / (A^2 + B^2)
#include "methods/index3/fallback.h"

#include "model/signals/functions.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>

double lwi_index3_hinge_angle(const lwi_system *s, const lwi_joint *joint, double near, double n[3])
{
    double x1[3], y1[3], x2[3], y2[3], F1[9], F2[9], nA[3] = {0}, nB[3] = {0}, back[3];
    m3_mul(F1, s->R[joint->body1], joint->R1);
    m3_mul(F2, s->R[joint->body2], joint->R2);
    for (int i = 0; i < 3; i++) {
        x1[i] = F1[3 * i], y1[i] = F1[3 * i + 1];
        x2[i] = F2[3 * i], y2[i] = F2[3 * i + 1];
    }
    const double A = v3_dot(x1, x2) + v3_dot(y1, y2), B = v3_dot(y1, x2) - v3_dot(x1, y2);
    v3_cross_add(nA, x2, x1);
    v3_cross_add(nA, y2, y1);
    v3_scale(back, -1, x1);
    v3_cross_add(nB, x2, y1);
    v3_cross_add(nB, y2, back);
    const double square = A * A + B * B;
    for (int i = 0; i < 3; i++) n[i] = (A * nB[i] - B * nA[i]) / square;
    return angle_continue(atan2(B, A), near);
}

bool lwi_index3_read_hinge(lwi_system *s, int j)
{
    const lwi_joint *joint = &s->model->joint[j];
    double n[3], w[3];
    if (!lwi_joint_is_hinge(joint->type) || joint->merged || joint->mount.present) return false;
    s->q[joint->iq] = lwi_index3_hinge_angle(s, joint, s->q[joint->iq], n);
    v3_sub(w, s->w[joint->body2], s->w[joint->body1]);
    s->qd[joint->iv] = v3_dot(n, w);
    return true;
}

bool lwi_index3_hinge_drive(lwi_system *s, const lwi_index3_fallback_edge *g, double t)
{
    enum { DRIVE = 5 };
    const int row = s->plan.row[g->edge] + DRIVE;
    if (g->known != DRIVE || s->edge_joint[g->edge] < 0) return false;
    const lwi_joint *joint = &s->model->joint[s->edge_joint[g->edge]];
    double n[3], f[3];
    lwi_function_eval(s->model->function, joint->motion[0], t, f);
    s->phi[row] = lwi_index3_hinge_angle(s, joint, s->q[joint->iq], n) - f[0];
    s->b[row] = -f[1];
    for (int side = 0; side < 2; side++) {
        if (g->slot[side] < 0) continue;
        double *J = lwi_elim_J(s->elim)[6 * g->slot[side] + DRIVE];
        v6_zero(J);
        v3_scale(J + 3, side ? 1 : -1, n);
    }
    return true;
}
