// observe_system.c -- energies and momenta of a mechanism from one snapshot.
#include "kinematics/observe.h"

#include "spatial/vec3.h"

// ------------------------------------------------------------------------------------------ system

void lwi_observe_system(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                        lwi_totals *system)
{
    lwi_observe_energies(model, level, m, system);
    if (level >= LW_OBSERVE_ENERGY) lwi_observe_residuals(model, level, m, system->residual);
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
