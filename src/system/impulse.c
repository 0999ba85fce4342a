// impulse.c -- velocities after impulses, and the reaction impulses of all joints, by one elimination.
//
// Impulses act so shortly that nothing moves meanwhile: the equations of motion integrated over their time are
//
//     M (V+ - V-) = F + J' Lambda,   J V+ = -b(t+)
//
// with the impulses F on the bodies and Lambda of the joints, rates b of drives and mounts after the impact, which
// may have jumped.  They are those of the accelerations, with dV = V+ - V- for A and J V- + b for gamma, so the
// velocities jump through all loops by the same elimination, and Lambda is unique where reactions are; else the one
// of minimum norm is reported.  Joints that hold do no work; those of drives do  -Lambda . (b(t-) + b(t+)) / 2.
#include "system/system.h"

#include "base/assert.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// y := V- of all bodies of the elimination; rotors have the speeds of their coordinates.
static void gather_velocities(const lwi_system *s, double (*y)[6])
{
    const lw_model *model = s->model;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        v3_copy(y[k], s->v[b]);
        v3_copy(y[k] + 3, s->w[b]);
    }
    for (int i = 0; i < s->nrotor; i++) {
        const lwi_joint *joint = &model->joint[s->rotor[i].joint];
        double *u = y[model->nnode + i];
        v6_zero(u);
        for (int k = 0; k < 3 && s->rotor[i].first + k < joint->type->nv; k++)
            u[3 + k] = s->qd[joint->iv + s->rotor[i].first + k];
    }
    lwi_system_share(s, false, y);
}

// Writes velocities, speeds and reaction impulses to the snapshot.
static void put_result(lwi_system *s, double t, lwi_snapshot *m)
{
    const lw_model *model = s->model;
    double *lambda = s->row[0];
    lwi_system_move_merged(s);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        v3_copy(m->v[b], s->v[b]);
        m3_tmul_v(m->w[b], s->R[b], s->w[b]);
    }
    lwi_system_read_joints(s, t);
    if (model->nv) memcpy(m->qd, s->qd, (size_t)model->nv * sizeof *m->qd);
    if (s->nrow) memcpy(lambda, s->lambda, (size_t)s->nrow * sizeof *lambda);
    lwi_system_minimum_norm(s, lambda);
    lwi_system_put_reactions(s, lambda, s->undetermined, m);
}

lw_status lwi_system_impact(lwi_system *s, const lwi_snapshot *before, double t_before,
                            const lwi_loads *impulse, lwi_snapshot *after, double *work_of_drives,
                            lw_error *error)
{
    const lw_model *model = s->model;
    const double t = before->t;
    double *b_before = s->row[1];
    lwi_system_from_snapshot(s, before);
    lwi_system_rows(s, t_before);
    if (s->nrow) memcpy(b_before, s->b, (size_t)s->nrow * sizeof *b_before);
    lwi_system_rows(s, t);
    TRY(lwi_system_factor(s, t, error));
    lwi_system_gather(s, t, impulse);
    gather_velocities(s, s->y);
    lwi_system_rates_of(s, (const double(*)[6])s->y, s->row[0]);
    for (int i = 0; i < s->plan.nrow; i++) s->c[i] = i < s->nrow ? -(s->row[0][i] + s->b[i]) : 0;
    for (int k = 0; k < s->nbody; k++) v6_zero(s->x[k]);
    for (int k = 0; k < model->nnode; k++) v6_copy(s->x[k], s->wrench[model->node[k].body]);
    lwi_system_solve(s);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        for (int i = 0; i < 6; i++)
            if (!isfinite(s->x[k][i]))
                return lwi_fail(
                    error, LW_ERR_NOT_FINITE,
                    "body '%s', t = %.9g s: its velocity after the impulse is not a finite number",
                    model->body[b].name, t);
        v3_add(s->v[b], s->v[b], s->x[k]);
        v3_add(s->w[b], s->w[b], s->x[k] + 3);
    }
    *work_of_drives = 0;
    for (int i = 0; i < s->nrow; i++)
        *work_of_drives -= 0.5 * s->lambda[i] * (b_before[i] + s->b[i]);
    put_result(s, t, after);
    return LW_OK;
}
