// geometric_stiffness.c -- derivatives of constraint forces that do not come from points and axes: distances,
// couplings of coordinates, custom joints.  The terms Phi_qq' lambda of section 4.4 of [malczyk2019], omitted
// there.
//
//     distance   F = lambda d / l on body 2: relative displacement of the points times lambda / l.  A rope
//                in tension is a spring across its line; rows like those of applied forces (forces.c)
//     coupling   lambda (J_a - P' J_b): efforts lambda and - lambda P' on two coordinates, that rotate
//                with their joints, and - lambda P'' J_b' J_b: a row
//     custom     second derivatives are unknown, but the rates of the rows at any motion are available
//                (closure.h): at unit velocities of one body they are the own-body derivative
// Rows with negative stiffness, of rods in compression, are omitted, like those of springs.
#include "methods/index3/index3.h"

#include "spatial/motion.h"

#include <math.h>
#include <string.h>

int lwi_index3_geometric(const lw_model *model, lwi_index3_coupler *list)
{
    int n = 0;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (!joint->type->has_length || joint->merged || joint->body1 == joint->body2) continue;
        if (list)
            list[n] = (lwi_index3_coupler){
                .joint = -1, .distance = 1 + j, .body = {joint->body1, joint->body2}, .rows = 3};
        n++;
    }
    for (int k = 0; k < model->ncoupling; k++) {
        const lwi_coupling *pair = &model->coupling[k];
        const lwi_joint *of = &model->joint[pair->of];
        if (pair->n < 3 || of->merged || of->body1 == of->body2) continue;
        if (list)
            list[n] = (lwi_index3_coupler){.joint = pair->of,
                                           .coordinate = pair->with,
                                           .iv = of->iv + pair->with,
                                           .coupling = 1 + k,
                                           .body = {of->body1, of->body2},
                                           .rows = 1};
        n++;
    }
    return n;
}

double lwi_index3_tension(const lwi_index3 *d, int j, const double *lambda)
{
    const lwi_system *s = &d->system;
    const lwi_joint *joint = &s->model->joint[j];
    const int e = s->joint_edge[j];
    LWI_ASSERT_INDEX(e, s->nedge);
    double w[6], point1[3], point2[3];
    lwi_index3_row_wrench(d, e, 0, w); // d / l
    m3_mul_v(point1, s->R[joint->body1], joint->r1);
    m3_mul_v(point2, s->R[joint->body2], joint->r2);
    for (int i = 0; i < 3; i++)
        point2[i] += s->r[joint->body2][i] - s->r[joint->body1][i] - point1[i];
    const double size = v3_norm(point2);
    return size > 0 ? -lambda[s->plan.row[e]] * v3_norm(w) / size : 0;
}

// First and second derivative of a coupling's polynomial.
static void slopes(const lwi_system *s, const lwi_coupling *pair, double *P1, double *P2)
{
    const double q = s->q[s->model->joint[pair->of].iq + pair->with];
    double P = 0;
    *P1 = *P2 = 0;
    for (int k = pair->n - 1; k >= 0; k--) {
        *P2 = *P2 * q + 2 * *P1;
        *P1 = *P1 * q + P;
        P = P * q + pair->c[k];
    }
}

static double coupling_lambda(const lwi_index3 *d, int k, const double *lambda)
{
    LWI_ASSERT_INDEX(k, d->system.model->ncoupling);
    const lwi_system *s = &d->system;
    return lambda[s->plan.row[s->nedge - d->ncoupler - s->model->ncoupling + k]];
}

double lwi_index3_curvature(const lwi_index3 *d, int k, const double *lambda)
{
    double P1, P2;
    slopes(&d->system, &d->system.model->coupling[k], &P1, &P2);
    return coupling_lambda(d, k, lambda) * P2;
}

void lwi_index3_coupling_efforts(const lwi_index3 *d, int k, const double *lambda, double effort[2])
{
    double P1, P2;
    slopes(&d->system, &d->system.model->coupling[k], &P1, &P2);
    effort[0] = coupling_lambda(d, k, lambda);
    effort[1] = -effort[0] * P1;
}

// Column i of the stiffness of one body at its velocity (v, w), one of them a unit vector.
static void column(lwi_index3_stiffness *K, int i, const double J[6], const double Jdot[6],
                   const double v[3], const double w[3])
{
    double n[3], rotated[3];
    v3_cross(n, v, J); // of the moving mass centre, then of rotating axes
    v3_sub(n, Jdot + 3, n);
    v3_cross(rotated, w, J + 3);
    v3_sub(n, n, rotated);
    double *force = i < 3 ? K->tt : K->tr, *torque = i < 3 ? K->rt : K->rr;
    for (int k = 0; k < 3; k++) {
        force[3 * k + i % 3] -= Jdot[k];
        torque[3 * k + i % 3] -= n[k];
    }
}

void lwi_index3_custom(lwi_index3 *d, int j, double t, const double *lambda,
                       lwi_index3_stiffness *K1, lwi_index3_stiffness *K2)
{
    lwi_system *s = &d->system;
    const lwi_joint *joint = &s->model->joint[j];
    const int body[2] = {joint->body1, joint->body2}, first = s->plan.row[s->joint_edge[j]];
    lwi_index3_stiffness *K[2] = {K1, K2};
    double kept[2][2][3];
    for (int side = 0; side < 2; side++) {
        v3_copy(kept[side][0], s->v[body[side]]), v3_copy(kept[side][1], s->w[body[side]]);
        for (int i = 0; i < 3; i++) s->v[body[side]][i] = s->w[body[side]][i] = 0;
    }
    for (int side = 0; side < 2; side++) {
        if (!K[side]) continue;
        double *v = s->v[body[side]], *w = s->w[body[side]];
        for (int i = 0; i < 6; i++) {
            lwi_closure closure;
            double J[6] = {0}, Jdot[6] = {0};
            (i < 3 ? v : w)[i % 3] = 1;
            lwi_joint_closure(s->model, j, t, &s->motion, LWI_CLOSURE_RATES, &closure);
            const int at = closure.body[0] == body[side] ? 0 : 1;
            for (int k = 0; k < closure.n; k++) {
                v6_axpy(J, lambda[first + k], closure.J[at][k]);
                v6_axpy(Jdot, lambda[first + k], closure.Jdot[at][k]);
            }
            column(K[side], i, J, Jdot, v, w);
            (i < 3 ? v : w)[i % 3] = 0;
        }
        K[side]->coupled = true;
    }
    for (int side = 0; side < 2; side++) {
        v3_copy(s->v[body[side]], kept[side][0]), v3_copy(s->w[body[side]], kept[side][1]);
    }
}
