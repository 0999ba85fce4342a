// hinge.c -- coordinates of revolute joints, the most common ones with springs and drives.
//
// Angle and derivative by the frames alone (lwi_system_hinge_angle).
#include "methods/index3/fallback.h"

#include "model/signals/functions.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

bool lwi_index3_read_hinge(lwi_system *s, int j)
{
    const lwi_joint *joint = &s->model->joint[j];
    double n[3], w[3];
    if (!lwi_joint_is_hinge(joint->type) || joint->merged || joint->mount.present) return false;
    s->q[joint->iq] = lwi_system_hinge_angle(s, joint, s->q[joint->iq], n);
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
    s->phi[row] = lwi_system_hinge_angle(s, joint, s->q[joint->iq], n) - f[0];
    s->b[row] = -f[1];
    for (int side = 0; side < 2; side++) {
        if (g->slot[side] < 0) continue;
        double *J = lwi_elim_J(s->elim)[6 * g->slot[side] + DRIVE];
        v6_zero(J);
        v3_scale(J + 3, side ? 1 : -1, n);
    }
    return true;
}
