// springs.c -- springs and dampers of joints by time constant and damping ratio.
//
// `springdamper` states T and z of the joint alone: with m = n / sum (M^-1)_ii over its n speeds, M the mass matrix of
// the tree at the placement of the bodies, the damping is 2 m / T and the stiffness m / (T z)^2, as in MuJoCo's compiler.
#include "io/mjcf/mjcf.h"

#include "io/effective.h"

#include <linkwork/dynamics.h>

#include <math.h>
#include <string.h>

lw_status lwi_mjcf_read_springdamper(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_joint *j)
{
    double x[2] = {0};
    TRY(lwi_mjcf_numbers(u, at, "springdamper", 2, 2, x, NULL));
    if ((x[0] != 0 || x[1] != 0) && !(x[0] > 0 && x[1] > 0))
        return lwi_mjcf_fail(u, at->e, LW_ERR_MODEL,
                             "<joint springdamper>: [%g, %g], expected a time constant [s] and a "
                             "damping ratio, both > 0",
                             x[0], x[1]);
    j->spring_time = x[0], j->spring_ratio = x[1];
    return LW_OK;
}

void lwi_mjcf_factor(const lwi_mjcf *u, lwi_effective *e)
{
    for (int i = 0; i < u->njoint; i++) {
        int q, nq, v, nv;
        if (lwi_mjcf_is_scalar(&u->joint[i]) &&
            lw_model_joint_tree(e->model, u->joint[i].joint, &q, &nq, &v, &nv) == LW_OK && nq == 1)
            e->q[q] = u->joint[i].ref;
    }
    lwi_effective_factor(e);
}

// n / sum (M^-1)_ii; INFINITY: the joint is fixed.
static double mean_inertia(const lwi_effective *e, lw_joint joint, double *J)
{
    int q, nq, v, nv;
    double sum = 0;
    if (lw_model_joint_tree(e->model, joint, &q, &nq, &v, &nv) != LW_OK) return INFINITY;
    for (int i = 0; i < nv; i++) {
        memset(J, 0, (size_t)e->model->tree_nv * sizeof *J);
        J[v + i] = 1;
        sum += 1 / lwi_effective_inertia(e, J);
    }
    return sum > 0 ? nv / sum : INFINITY;
}

static void set_spring(const lwi_mjcf *u, lwi_mjcf_joint *j, double inertia)
{
    lw_joint_desc *d = &u->builder->desc.joint[j->joint.index];
    const double reach = j->spring_time * j->spring_ratio;
    const double stiffness = inertia / (reach * reach), damping = 2 * inertia / j->spring_time;
    if (!lwi_mjcf_is_scalar(j)) {
        j->stiffness = stiffness;
        d->damping = damping;
        return;
    }
    d->coordinate[0].stiffness = stiffness;
    d->coordinate[0].damping += damping; // that of its actuators stays
    d->coordinate[0].at = j->spring_at;
}

static lw_status set_all(const lwi_mjcf *u, const lwi_effective *e)
{
    double *J = LWI_PUSH(u->arena, double, e->model->tree_nv);
    if (!J) return lwi_mjcf_no_memory(u);
    for (int i = 0; i < u->njoint; i++) {
        lwi_mjcf_joint *j = &u->joint[i];
        if (!(j->spring_time > 0) || j->desc.type == LW_JOINT_FIXED) continue;
        const double inertia = mean_inertia(e, j->joint, J);
        if (isfinite(inertia))
            set_spring(u, j, inertia);
        else
            lwi_notes_add(u->notes, j->e, j->name,
                          "springdamper of joints without inertia is not used");
    }
    return LW_OK;
}

lw_status lwi_mjcf_set_springdampers(lwi_mjcf *u)
{
    lwi_effective e;
    bool any = false;
    for (int i = 0; i < u->njoint; i++) any = any || u->joint[i].spring_time > 0;
    if (!any) return LW_OK;
    TRY(lwi_effective_create(u->builder, &e, u->error));
    lwi_mjcf_factor(u, &e);
    const lw_status status = set_all(u, &e);
    lwi_effective_destroy(&e);
    return status;
}
