// rotors.c -- rotors on joints that close loops (not in the paper).
//
// The speed of a rotor of inertia I on a coordinate outside the tree is u = J V + b, a row like those of the joint
// [closure.h].  Its kinetic energy adds I (J x + a)^2 / 2 to Gauss' function:
//
//     H += I J'J where the joint's rows enter,    F -= I J' (J A + gamma)
//
// with A the accelerations that are known before the sweep.  On the joint's bodies it acts as the effort -I du/dt.
#include "methods/rcr/system.h"

#include "base/assert.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ create

static int entry_of(const lw_model *model, const lwi_joint *joint)
{
    const int a = joint->body1 ? model->body_node[joint->body1] : -1;
    const int b = joint->body2 ? model->body_node[joint->body2] : -1;
    return a > b ? a : b;
}

lw_status lwi_rcr_rotors_create(lwi_rcr *e, lwi_arena *arena)
{
    const lw_model *model = e->model;
    for (int i = 0; i < model->nloop; i++)
        e->nloop_rotor += model->joint[model->loop[i]].nrotor > 0;
    e->loop_rotor = LWI_PUSH(arena, lwi_rcr_rotor, e->nloop_rotor);
    if (!e->loop_rotor) return LW_ERR_MEMORY;
    e->nloop_rotor = 0;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        if (joint->nrotor == 0) continue;
        lwi_rcr_rotor *rotor = &e->loop_rotor[e->nloop_rotor++];
        rotor->loop = i;
        rotor->entry = entry_of(model, joint);
        LWI_ASSERT_INDEX(rotor->entry, model->nnode);
        int n = 0;
        for (int k = 0; k < joint->type->nv; k++)
            if (joint->rotor[k] > 0)
                rotor->coordinate[n] = k, rotor->inertia[n++] = joint->rotor[k];
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------- at an instant

void lwi_rcr_rotors_rows(lwi_rcr *e, const lwi_tree_work *tree, double t, lwi_closure_level level)
{
    const lwi_motion motion = lwi_cut_motion(tree);
    for (int i = 0; i < e->nloop_rotor; i++) {
        lwi_closure *rows = &e->loop_rotor[i].rows;
        rows->n = rows->nbody = 0;
        LWI_ASSERT_INDEX(e->loop_rotor[i].loop, e->model->nloop);
        lwi_joint_rotor_rows(e->model, e->model->loop[e->loop_rotor[i].loop], t, &motion, level,
                             rows);
    }
}

// Row r for body s of the closure, in units of the sweep, about the link's origin.
static void row_of(const lwi_rcr *e, const lwi_closure *c, int s, int r, double J[6])
{
    v3_copy(J, c->J[s][r]);
    v3_scale(J + 3, 1 / e->length, c->J[s][r] + 3);
    v3_cross_add(J + 3, e->c[e->model->body_node[c->body[s]]], J);
}

bool lwi_rcr_rotors_at(const lwi_rcr *e, int k)
{
    for (int i = 0; i < e->nloop_rotor; i++)
        if (e->loop_rotor[i].entry == k) return true;
    return false;
}

void lwi_rcr_rotors_inertia(const lwi_rcr *e, int k, double K[36])
{
    for (int i = 0; i < e->nloop_rotor; i++) {
        const lwi_closure *c = &e->loop_rotor[i].rows;
        if (e->loop_rotor[i].entry != k) continue;
        for (int r = 0; r < c->n; r++) {
            double J[6];
            row_of(e, c, 0, r, J);
            for (int a = 0; a < 6; a++) v6_axpy(K + 6 * a, e->loop_rotor[i].inertia[r] * J[a], J);
        }
    }
}

void lwi_rcr_rotors_fill(const lwi_rcr *e, lwi_rcr_system *s)
{
    const int own = s->node->nbody;
    for (int i = 0; i < e->nloop_rotor; i++) {
        const lwi_closure *c = &e->loop_rotor[i].rows;
        int slot[LWI_CLOSURE_BODIES];
        if (e->loop_rotor[i].entry != s->k) continue;
        for (int b = 0; b < c->nbody; b++) {
            const int other = e->model->body_node[c->body[b]];
            for (slot[b] = 0; slot[b] < own && s->node->body[slot[b]] != other;) slot[b]++;
            LWI_ASSERT(slot[b] < own || other == s->k);
        }
        for (int r = 0; r < c->n; r++)
            for (int a = 0; a < c->nbody; a++)
                for (int b = 0; b < c->nbody; b++) {
                    double Ja[6], Jb[6];
                    // rows of x_k in K, of others the upper triangle in H
                    if (slot[a] != own && (slot[b] == own || slot[a] > slot[b])) continue;
                    row_of(e, c, a, r, Ja);
                    row_of(e, c, b, r, Jb);
                    double *to = slot[a] == own ? s->K : s->H + (s->ny + 6 * slot[a]) * s->nc;
                    const int stride = slot[a] == own ? s->n : s->nc;
                    for (int j = 0; j < 6; j++)
                        v6_axpy(to + j * stride + s->ny + 6 * slot[b],
                                e->loop_rotor[i].inertia[r] * Ja[j], Jb);
                }
    }
}

// ------------------------------------------------------------------------------------------ forces

// J times the velocities or accelerations v, w of the bodies, world axes, mass centres.
static double along(const lwi_closure *c, int r, const double (*v)[3], const double (*w)[3])
{
    double sum = 0;
    for (int s = 0; s < c->nbody; s++)
        sum += v3_dot(c->J[s][r], v[c->body[s]]) + v3_dot(c->J[s][r] + 3, w[c->body[s]]);
    return sum;
}

void lwi_rcr_rotors_force(lwi_rcr *e, const double (*v)[3], const double (*w)[3],
                          bool accelerations)
{
    const double unit = 1 / e->length;
    for (int i = 0; i < e->nloop_rotor; i++) {
        lwi_rcr_rotor *rotor = &e->loop_rotor[i];
        const lwi_closure *c = &rotor->rows;
        for (int r = 0; r < c->n; r++) {
            LWI_ASSERT_INDEX(r, 6);
            rotor->known[r] = along(c, r, v, w) + (accelerations ? c->gamma[r] : c->b[r]);
            for (int s = 0; s < c->nbody; s++) {
                double J[6];
                row_of(e, c, s, r, J);
                v6_axpy(e->F[e->model->body_node[c->body[s]]],
                        -unit * rotor->inertia[r] * rotor->known[r], J);
            }
        }
    }
}

double lwi_rcr_rotors_efforts(lwi_rcr *e, const lwi_tree_work *tree, double (*wrench)[6])
{
    double power = 0;
    for (int i = 0; i < e->nloop_rotor; i++) {
        const lwi_rcr_rotor *rotor = &e->loop_rotor[i];
        const lwi_closure *c = &rotor->rows;
        for (int r = 0; r < c->n; r++) {
            double rate = rotor->known[r], J[6];
            for (int s = 0; s < c->nbody; s++) {
                row_of(e, c, s, r, J);
                rate += e->length * v6_dot(J, e->x[e->model->body_node[c->body[s]]]);
            }
            const double effort = -rotor->inertia[r] * rate;
            power -= effort * c->b[r];
            for (int s = 0; s < c->nbody; s++) {
                const int k = e->model->body_node[c->body[s]];
                lwi_cut_add_wrench(e->model, tree, k, effort, c->J[s][r], wrench[k]);
            }
        }
    }
    return power;
}

void lwi_rcr_rotors_impulses(const lwi_rcr *e, int loop, const double *qd, double *sigma)
{
    for (int i = 0; i < e->nloop_rotor; i++) {
        const lwi_rcr_rotor *rotor = &e->loop_rotor[i];
        if (rotor->loop != loop) continue;
        const lwi_joint *joint = &e->model->joint[e->model->loop[loop]];
        LWI_ASSERT(rotor->rows.n == joint->nrotor);
        for (int r = 0; r < rotor->rows.n; r++)
            sigma[r] = -rotor->inertia[r] * qd[joint->iv + rotor->coordinate[r]];
    }
}
