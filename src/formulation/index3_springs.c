// index3_springs.c -- springs and dampers in Newton's equations.
//
// A spring or damper along phi(q), with force -k phi - c phidot, changes in an iteration by
//     dlambda = -(k + 2c/h) J x,     J = dphi/dq,     d phidot = 2/h d phi  (trapezoidal rule)
// that is,  J x = -dlambda / (k + 2c/h):  a row of the engine whose eps is a real compliance
// [malczyk2019].  The forces themselves stay in the residual, as the model has them; the rows only
// make Newton know how they change, so that any stiffness is solved in a few iterations.
#include "formulation/index3.h"

#include "spatial/motion.h"

#include <string.h>

// ------------------------------------------------------------------------------------------- edges

static bool acts(double stiffness, double damping)
{
    return stiffness > 0 || damping > 0;
}

// Number of the coordinate of a scalar joint that a force acts on, or -1.
static int coordinate_of(const lw_model *model, int iv, int *joint)
{
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *candidate = &model->joint[j];
        const int k = iv - candidate->iv;
        if (k < 0 || k >= candidate->type->nv || candidate->merged) continue;
        *joint = j;
        return k;
    }
    return -1;
}

int lwi_index3_springs(const lw_model *model, lwi_index3_spring *list)
{
    int n = 0;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        lwi_index3_spring s = {.joint = -1};
        if (f->type == &lwi_force_spring) {
            const lwi_spring_par *p = f->par;
            if (!acts(p->stiffness, p->damping)) continue;
            s.between = p;
            s.body[0] = model->body[p->body1].host, s.body[1] = model->body[p->body2].host;
            s.stiffness = p->stiffness, s.damping = p->damping;
        } else if (f->type == &lwi_force_joint_spring) {
            const lwi_joint_spring_par *p = f->par;
            if (!acts(p->stiffness, p->damping)) continue;
            s.coordinate = coordinate_of(model, p->iv, &s.joint);
            if (s.coordinate < 0) continue;
            s.body[0] = model->joint[s.joint].body1, s.body[1] = model->joint[s.joint].body2;
            s.stiffness = p->iq < 0 ? 0 : p->stiffness, s.damping = p->damping;
        }
        if (s.body[0] == s.body[1]) continue; // no spring, or within one body
        if (list) list[n] = s;
        n++;
    }
    return n;
}

// -------------------------------------------------------------------------------------------- rows

// Unit wrenches of a spring between two points on the hosts, pushing them apart.
static void between(const lwi_closed *s, const lwi_index3_spring *spring, double wrench[2][6])
{
    const lwi_spring_par *p = spring->between;
    double point[2][3], n[3], arm[3];
    m3_mul_v(point[0], s->R[p->body1], p->point1);
    m3_mul_v(point[1], s->R[p->body2], p->point2);
    v3_add(point[0], point[0], s->r[p->body1]);
    v3_add(point[1], point[1], s->r[p->body2]);
    v3_sub(n, point[1], point[0]);
    const double length = v3_norm(n);
    v3_scale(n, length > 0 ? 1 / length : 0, n);
    for (int side = 0; side < 2; side++) {
        v3_scale(wrench[side], side ? 1 : -1, n);
        v3_sub(arm, point[side], s->r[spring->body[side]]);
        v3_cross(wrench[side] + 3, arm, wrench[side]);
    }
}

// Of a unit effort on a joint's coordinate.
static void effort(const lwi_closed *s, const lwi_index3_spring *spring, double t,
                   double wrench[2][6])
{
    double tau[LW_JOINT_MAX_NV] = {0};
    tau[spring->coordinate] = 1;
    for (int side = 0; side < 2; side++) v6_zero(s->wrench[spring->body[side]]);
    lwi_joint_apply_effort(s->model, spring->joint, t, &s->motion, tau, s->wrench);
    for (int side = 0; side < 2; side++) v6_copy(wrench[side], s->wrench[spring->body[side]]);
}

void lwi_index3_spring_rows(lwi_index3 *d, double t, double h)
{
    lwi_closed *s = &d->closed;
    for (int i = 0; i < d->nspring; i++) {
        const lwi_index3_spring *spring = &d->spring[i];
        const int e = s->nedge - d->nspring + i, row = s->plan.row[e];
        const double rate = spring->stiffness + 2 / h * spring->damping;
        double wrench[2][6];
        if (spring->between)
            between(s, spring, wrench);
        else
            effort(s, spring, t, wrench);
        for (int k = 0, side = 0; side < 2; side++)
            if (spring->body[side])
                v6_copy(lwi_dual_J(s->dual)[6 * (s->plan.slot[e] + k++)], wrench[side]);
        s->phi[row] = 0;
        d->compliance[i] = 1 / rate;
    }
}

void lwi_index3_spring_none(lwi_index3 *d)
{
    lwi_closed *s = &d->closed;
    for (int i = 0; i < d->nspring; i++) {
        const int e = s->nedge - d->nspring + i, row = s->plan.row[e];
        for (int k = 0; k < s->plan.graph.edge[e].n; k++)
            v6_zero(lwi_dual_J(s->dual)[6 * (s->plan.slot[e] + k)]);
        s->phi[row] = s->b[row] = s->gamma[row] = 0;
        d->compliance[i] = 1; // rows of zeros have no multiplier
    }
}
