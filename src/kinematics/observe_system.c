// observe_system.c -- energies, momenta and constraint residuals of a mechanism from one snapshot.
//
// Residuals take the closure rows of the joint library and the motion of the bodies, so they show
// what a formulation did and not what it meant.
#include "kinematics/observe.h"

#include "base/assert.h"
#include "kinematics/closure.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

// --------------------------------------------------------------------------------- joint residuals

// J x of the first row, x = [linear in world axes; angular in body axes] of the bodies.
static double row_times(const lwi_snapshot *m, const lwi_closure *c, const double (*linear)[3],
                        const double (*angular)[3])
{
    double sum = 0;
    for (int i = 0; i < c->nbody; i++) {
        const int b = c->body[i];
        double turn[3];
        m3_mul_v(turn, m->R[b], angular[b]);
        sum += v3_dot(c->J[i][0], linear[b]) + v3_dot(c->J[i][0] + 3, turn);
    }
    return sum;
}

// The motion of a snapshot; w_world is filled for the bodies of one joint.
static lwi_motion motion_of(const lw_model *model, const lwi_snapshot *m, int joint)
{
    const int body[2] = {model->joint[joint].body1, model->joint[joint].body2};
    for (int i = 0; i < 2; i++) m3_mul_v(m->w_world[body[i]], m->R[body[i]], m->w[body[i]]);
    return (lwi_motion){.R = (const double(*)[9])m->R,
                        .r = (const double(*)[3])m->r,
                        .v = (const double(*)[3])m->v,
                        .w = (const double(*)[3])m->w_world,
                        .q = m->q};
}

int lwi_joint_residual(const lw_model *model, int joint, const lwi_snapshot *m,
                       double phi[LWI_CLOSURE_ROWS], double phidot[LWI_CLOSURE_ROWS],
                       double phiddot[LWI_CLOSURE_ROWS])
{
    LWI_ASSERT_INDEX(joint, model->njoint);
    const lwi_motion motion = motion_of(model, m, joint);
    const lwi_residuals to = {phi, phidot, phiddot};
    double A[2][6];
    for (int i = 0; phiddot && i < 2; i++) {
        const int b = i ? model->joint[joint].body2 : model->joint[joint].body1;
        v3_copy(A[i], m->a[b]);
        m3_mul_v(A[i] + 3, m->R[b], m->al[b]);
    }
    return lwi_joint_closure_residual(model, joint, m->t, &motion,
                                      phiddot ? (const double(*)[6])A : NULL, &to);
}

static void coupling_residual(const lw_model *model, int coupling, const lwi_snapshot *m,
                              double *phi, double *phidot, double *phiddot)
{
    LWI_ASSERT_INDEX(coupling, model->ncoupling);
    (void)motion_of(model, m, model->coupling[coupling].of);
    const lwi_motion motion = motion_of(model, m, model->coupling[coupling].joint);
    lwi_closure c;
    lwi_coupling_closure(model, coupling, m->t, &motion,
                         phiddot ? LWI_CLOSURE_RATES : LWI_CLOSURE_POSITION, &c);
    LWI_ASSERT(c.n == 1 && c.nbody <= LWI_CLOSURE_BODIES);
    *phi = c.phi[0];
    *phidot = row_times(m, &c, (const double(*)[3])m->v, (const double(*)[3])m->w) + c.b[0];
    if (!phiddot) return;
    *phiddot = row_times(m, &c, (const double(*)[3])m->a, (const double(*)[3])m->al) + c.gamma[0];
}

static void residuals(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                      double largest[3])
{
    const int levels = level >= LW_OBSERVE_REACTION ? 3 : 2;
    double e[3][LWI_CLOSURE_ROWS], *last = levels > 2 ? e[2] : NULL;
    v3_set(largest, 0, 0, 0);
    for (int j = 0; j < model->njoint; j++) {
        const int n = lwi_joint_residual(model, j, m, e[0], e[1], last);
        for (int d = 0; d < levels; d++)
            for (int k = 0; k < n; k++) largest[d] = fmax(largest[d], fabs(e[d][k]));
    }
    for (int c = 0; c < model->ncoupling; c++) {
        coupling_residual(model, c, m, e[0], e[1], last);
        for (int d = 0; d < levels; d++) largest[d] = fmax(largest[d], fabs(e[d][0]));
    }
}

// ------------------------------------------------------------------------------------------ system

void lwi_observe_system(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                        lwi_totals *system)
{
    lwi_observe_energies(model, level, m, system);
    if (level >= LW_OBSERVE_ENERGY) residuals(model, level, m, system->residual);
}

void lwi_observe_energies(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                          lwi_totals *system)
{
    *system = (lwi_totals){0};
    if (level < LW_OBSERVE_ENERGY) return;
    for (int b = 1; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        double p[3], L[3], angular[3];
        v3_scale(p, body->mass, m->v[b]);
        s3_mul_v(L, body->inertia, m->w[b]);
        m3_mul_v(angular, m->R[b], L);
        system->kinetic += 0.5 * (v3_dot(m->v[b], p) + v3_dot(m->w[b], L));
        v3_add(system->momentum, system->momentum, p);
        v3_add(system->angular_momentum, system->angular_momentum, angular);
        v3_cross_add(system->angular_momentum, m->r[b], p);
    }
    for (int j = 0; model->nrotor + model->driven > 0 && j < model->njoint; j++)
        for (int k = 0; k < model->joint[j].type->nv; k++) { // driven ones too
            const double qd = m->qd[model->joint[j].iv + k];
            system->kinetic += 0.5 * model->desc.joint[j].coordinate[k].rotor * qd * qd;
        }
    // potentials depend on poses and coordinates alone
    const lwi_kin kin = {.R = (const double(*)[9])m->R, .r = (const double(*)[3])m->r, .q = m->q};
    system->potential = lwi_forces_potential(model, &kin);
}
