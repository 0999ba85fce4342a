// observe_system.c -- energies and momenta of a mechanism from one snapshot.
#include "kinematics/kernels.h"
#include "kinematics/observe.h"

#include "spatial/vec3.h"

// ------------------------------------------------------------------------------------------ system

void lwi_observe_system(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                        lwi_totals *system)
{
    lwi_observe_energies(model, level, m, system);
    if (level >= LW_OBSERVE_ENERGY) lwi_observe_residuals(model, level, m, system->residual);
}

static void sum_bodies(const lw_model *model, const lwi_snapshot *m, lwi_body_sums *sums)
{
    for (int b = 1; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        double p[3], L[3], angular[3];
        v3_scale(p, body->mass, m->v[b]);
        s3_mul_v(L, body->inertia, m->w[b]);
        m3_mul_v(angular, m->R[b], L);
        sums->kinetic += 0.5 * (v3_dot(m->v[b], p) + v3_dot(m->w[b], L));
        v3_add(sums->momentum, sums->momentum, p);
        v3_add(sums->angular_momentum, sums->angular_momentum, angular);
        v3_cross_add(sums->angular_momentum, m->r[b], p);
    }
}

void lwi_observe_energies(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                          lwi_totals *system)
{
    *system = (lwi_totals){0};
    if (level < LW_OBSERVE_ENERGY) return;
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    lwi_body_sums sums = {0};
    if (kernels)
        for (int b = 1; b < model->nbody; b += kernels->width)
            kernels->energies(model, m, b, model->nbody - b, &sums);
    else
        sum_bodies(model, m, &sums);
    system->kinetic = sums.kinetic;
    v3_copy(system->momentum, sums.momentum);
    v3_copy(system->angular_momentum, sums.angular_momentum);
    for (int j = 0; model->nrotor + model->driven > 0 && j < model->njoint; j++)
        for (int k = 0; k < model->joint[j].type->nv; k++) { // driven ones too
            const lwi_joint *joint = &model->joint[j];
            const double qd = m->qd[joint->iv + k],
                         I = joint->motion[k].index ? model->desc.joint[j].coordinate[k].rotor
                                                    : joint->rotor[k];
            system->kinetic += 0.5 * I * qd * qd;
        }
    // potentials depend on poses and coordinates alone
    const lwi_kin kin = {.R = (const double(*)[9])m->R, .r = (const double(*)[3])m->r, .q = m->q};
    system->potential = lwi_forces_potential(model, &kin);
}
