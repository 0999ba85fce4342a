// rotors.c -- rotors on joint coordinates in Newton's equations and in the projections.
//
// A rotor of inertia I on a coordinate q with the row J, q'' = J a + gamma, has the effort -I q''.  It is an
// edge of the step like a stiff force, with the stiffness of an inertia in the trapezoidal rule,
//     J x = -dlambda / k,   k = 4/h^2 I
// in Newton's iterations, for every tangent: it is inertia, no stiffness.  Its current effort is in the
// residual.  The projections, with K of `unit` times a mobility, include it in their metric,
//     J (x - before) = -unit kappa / I
// so that the kinetic energy of the change is minimal, and the effort changes with the acceleration.
#include "methods/index3/index3.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

int lwi_index3_rotors(const lw_model *model, lwi_index3_coupler *list)
{
    int n = 0;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        for (int k = 0; k < joint->type->nv; k++) {
            if (joint->rotor[k] == 0) continue;
            if (list)
                list[n] = (lwi_index3_coupler){.joint = j,
                                               .coordinate = k,
                                               .iv = joint->iv + k,
                                               .body = {joint->body1, joint->body2},
                                               .rows = 1,
                                               .rotor = joint->rotor[k]};
            n++;
        }
    }
    return n;
}

// Writes the row of coupler i and its compliance; returns its number.
static int put_row(lwi_index3 *d, int i, double t, double compliance, double wrench[2][6])
{
    lwi_system *s = &d->system;
    const lwi_index3_coupler *c = &d->coupler[i];
    const int e = s->nedge - d->ncoupler + i, row = s->plan.row[e];
    LWI_ASSERT(c->rotor > 0 && compliance > 0 && row >= d->first_compliance);
    lwi_index3_unit_effort(d, c, t, wrench);
    for (int side = 0, slot = s->plan.slot[e]; side < 2; side++)
        if (c->body[side]) v6_copy(lwi_elim_J(s->elim)[6 * slot++], wrench[side]);
    d->compliance[row - d->first_compliance] = compliance;
    s->phi[row] = s->b[row] = s->gamma[row] = 0;
    return row;
}

// J x: the row's wrenches times the motion of both bodies.
static double along(const lwi_index3_coupler *c, double wrench[2][6], const double (*linear)[3],
                    const double (*angular)[3])
{
    double sum = 0;
    for (int side = 0; side < 2; side++)
        if (c->body[side])
            sum += v3_dot(wrench[side], linear[c->body[side]]) +
                   v3_dot(wrench[side] + 3, angular[c->body[side]]);
    return sum;
}

// Accelerations of the trapezoidal rule in world axes.
static void place_accelerations(lwi_index3 *d)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        v3_copy(s->a[b], d->body[k].an);
        m3_mul_v(s->al[b], s->R[b], d->body[k].aln);
    }
}

static double acceleration(lwi_index3 *d, const lwi_index3_coupler *c, double t)
{
    lwi_system *s = &d->system;
    double qdd[LW_JOINT_MAX_NV];
    lwi_joint_read_acceleration(s->model, c->joint, t, &s->motion, (const double(*)[3])s->a,
                                (const double(*)[3])s->al, qdd);
    return qdd[c->coordinate];
}

void lwi_index3_rotor_residual(lwi_index3 *d, double t)
{
    if (d->nrotor) place_accelerations(d);
    for (int i = d->ncoupler - d->nrotor; i < d->ncoupler; i++) {
        const lwi_index3_coupler *c = &d->coupler[i];
        double wrench[2][6];
        lwi_index3_unit_effort(d, c, t, wrench);
        lwi_index3_add_effort(d, c, wrench, -c->rotor * acceleration(d, c, t));
    }
}

void lwi_index3_rotor_rows(lwi_index3 *d, double t, double h)
{
    double wrench[2][6];
    for (int i = d->ncoupler - d->nrotor; i < d->ncoupler; i++)
        put_row(d, i, t, 0.25 * h * h / d->coupler[i].rotor, wrench);
}

void lwi_index3_rotor_projections(lwi_index3 *d, double t, double unit)
{
    lwi_system *s = &d->system;
    if (d->nrotor) place_accelerations(d);
    for (int i = d->ncoupler - d->nrotor; i < d->ncoupler; i++) {
        const lwi_index3_coupler *c = &d->coupler[i];
        double wrench[2][6];
        const int row = put_row(d, i, t, unit / c->rotor, wrench);
        s->b[row] = -along(c, wrench, (const double(*)[3])s->v, (const double(*)[3])s->w);
        s->gamma[row] = -along(c, wrench, (const double(*)[3])s->a, (const double(*)[3])s->al);
    }
}

void lwi_index3_rotors_projected(lwi_index3 *d)
{
    lwi_system *s = &d->system;
    for (int i = d->ncoupler - d->nrotor; i < d->ncoupler; i++) {
        const int row = s->plan.row[s->nedge - d->ncoupler + i];
        s->b[row] = s->gamma[row] = 0; // no velocity is prescribed there
    }
}

void lwi_index3_rotor_start(lwi_index3 *d, double t)
{
    lwi_system *s = &d->system;
    double wrench[2][6];
    memset(s->a, 0, (size_t)s->model->nbody * sizeof *s->a);
    memset(s->al, 0, (size_t)s->model->nbody * sizeof *s->al);
    for (int i = d->ncoupler - d->nrotor; i < d->ncoupler; i++) {
        const lwi_index3_coupler *c = &d->coupler[i];
        const int row = put_row(d, i, t, 1 / c->rotor, wrench);
        s->gamma[row] = acceleration(d, c, t);
    }
}

void lwi_index3_rotor_targets(lwi_index3 *d, const double *found)
{
    lwi_system *s = &d->system;
    for (int i = d->ncoupler - d->nrotor; i < d->ncoupler; i++) {
        const int row = s->plan.row[s->nedge - d->ncoupler + i];
        s->c[row] = -s->gamma[row] - found[row] / d->coupler[i].rotor;
    }
}

void lwi_index3_rotor_loads(lwi_index3 *d, double t)
{
    lwi_system *s = &d->system;
    for (int k = 0; d->nrotor && k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        v3_copy(s->a[b], s->x[k]);
        v3_copy(s->al[b], s->x[k] + 3);
    }
    for (int i = d->ncoupler - d->nrotor; i < d->ncoupler; i++) {
        const lwi_index3_coupler *c = &d->coupler[i];
        s->loads.effort[c->iv] -= c->rotor * acceleration(d, c, t);
    }
}
