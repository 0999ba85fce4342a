// massless.c -- bodies without mass, without inertia about some axis, or with next to nothing, in a step: their
// displacement is an unknown of Newton's method, because no momentum determines it.
//
// With displacement dr and rotation vector theta of the step the equations of such a body are those of every other one
// (drift.c); where m = 0 and J = 0 they are those of forces in equilibrium:
//     h P^ = m dr,   h Pi^ = G(theta),      P^, Pi^ after the first kick                            (1)
// By the rows all of it follows from the motion of the neighbours.  So neighbours move as if one joint held them, that
// of all pieces between, and the step is the symplectic one of that mechanism: nothing is approximated.
//
// An iteration solves M x = J' dlambda + gap, J x = c for all bodies, gap what (1) lacks; M is singular, and inertia that
// joints transfer (system/transfer.h) makes it regular without a change of x.  Newton's own matrix is not symmetric,
// there these bodies have SHARE of what they would borrow: this changes the convergence, not what is found.
#include "methods/rattle/rattle.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"
#include "system/transfer.h"

#include <math.h>
#include <string.h>

#define SHARE 1e-6

// Bodies that borrow.
static bool is_massless(const lwi_system *s, int k)
{
    return s->transfer && s->transfer->of[k] >= 0 && s->transfer->body[s->transfer->of[k]].borrows;
}

static const lwi_body *body_of(const lwi_rattle *d, const lwi_rattle_massless *m)
{
    const lw_model *model = d->system.model;
    return &model->body[model->node[m->node].body];
}

lw_status lwi_rattle_list_massless(lwi_rattle *d, lwi_arena *arena)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) d->nmassless += is_massless(s, k);
    if (!d->nmassless) return LW_OK;
    d->massless = LWI_PUSH(arena, lwi_rattle_massless, d->nmassless);
    d->massless_of = LWI_PUSH(arena, int, s->model->nnode);
    d->massless_K = lwi_arena_push(arena, (size_t)s->transfer->nborrower, sizeof *d->massless_K);
    if (!d->massless || !d->massless_of || !d->massless_K) return LW_ERR_MEMORY;
    int n = 0;
    for (int k = 0; k < s->model->nnode; k++) {
        d->massless_of[k] = is_massless(s, k) ? n : -1;
        if (d->massless_of[k] >= 0) d->massless[n++].node = k;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- state

void lwi_rattle_load_massless(lwi_rattle *d, const double *x)
{
    for (int i = 0; i < d->nmassless; i++) {
        v3_copy(d->massless[i].v, x + 6 * i);
        v3_copy(d->massless[i].w, x + 6 * i + 3);
    }
}

void lwi_rattle_store_massless(const lwi_rattle *d, double *x)
{
    for (int i = 0; i < d->nmassless; i++) {
        v3_copy(x + 6 * i, d->massless[i].v);
        v3_copy(x + 6 * i + 3, d->massless[i].w);
    }
}

void lwi_rattle_take_velocities(lwi_rattle *d)
{
    const lwi_system *s = &d->system;
    for (int i = 0; i < d->nmassless; i++) {
        lwi_rattle_massless *m = &d->massless[i];
        v3_copy(m->v, s->x[m->node]);
        v3_copy(m->w, s->x[m->node] + 3);
    }
}

void lwi_rattle_clear_momenta(lwi_rattle *d)
{
    for (int i = 0; i < d->nmassless; i++) {
        const lwi_body *body = body_of(d, &d->massless[i]);
        lwi_rattle_body *p = &d->body[d->massless[i].node];
        if (!(body->mass > 0)) v3_set(p->P, 0, 0, 0), v3_set(p->eP, 0, 0, 0);
        if (!(body->inertia[0] + body->inertia[1] + body->inertia[2] > 0))
            v3_set(p->Pi, 0, 0, 0), v3_set(p->ePi, 0, 0, 0);
    }
}

// --------------------------------------------------------------------------------------- the drift

void lwi_rattle_guess_massless(lwi_rattle *d, double h)
{
    for (int i = 0; i < d->nmassless; i++) {
        lwi_rattle_massless *m = &d->massless[i];
        v3_scale(m->dr, h, m->v);
        m3_tmul_v(m->theta, d->body[m->node].R, m->w);
        v3_scale(m->theta, h, m->theta);
    }
}

// q of exp(theta~)
static void exponential(const double theta[3], double q[4])
{
    static const double one[4] = {1, 0, 0, 0};
    lwi_rattle_turn(one, theta, q);
    q[0] += 1;
}

// theta of q, |theta| at most pi
static void logarithm(const double q[4], double theta[3])
{
    const double sine = v3_norm(q + 1), w = q[0];
    const double k = sine > 1e-150 ? 2 * atan2(sine, fabs(w)) / sine : 2;
    v3_scale(theta, w < 0 ? -k : k, q + 1);
}

void lwi_rattle_move_massless(lwi_rattle *d, double h, double share)
{
    const double scale = 0.5 * h * h * share;
    for (int i = 0; i < d->nmassless; i++) {
        lwi_rattle_massless *m = &d->massless[i];
        const double *x = d->system.x[m->node];
        double more[3], q[4], q1[4], all[4];
        v3_axpy(m->dr, scale, x);
        m3_tmul_v(more, d->body[m->node].R1, x + 3);
        v3_scale(more, scale, more);
        exponential(m->theta, q), exponential(more, q1);
        quat_mul(all, q, q1);
        logarithm(all, m->theta);
    }
}

void lwi_rattle_drift_massless(lwi_rattle *d, int k, double h)
{
    lwi_rattle_massless *m = &d->massless[d->massless_of[k]];
    lwi_rattle_body *p = &d->body[k];
    const lwi_body *body = body_of(d, m);
    double y[3], z[3], G[3], torque[3];
    v3_copy(p->er1, p->er);
    for (int i = 0; i < 3; i++) {
        p->r1[i] = lwi_rattle_add(p->r[i], m->dr[i], &p->er1[i]);
        m->gap[i] = 2 / h * (p->P[i] + (p->eP[i] + p->kick[i]) - body->mass * m->dr[i] / h);
    }
    v3_copy(p->theta, m->theta);
    lwi_rattle_momentum(body->inertia, p->theta, G);
    s3_mul_v(y, body->inertia, p->theta);
    v3_cross(z, p->theta, y);
    for (int i = 0; i < 3; i++) {
        torque[i] = 2 / h * (p->Pi[i] + (p->ePi[i] + p->kick[3 + i]) - G[i] / h);
        p->dPi[i] = p->kick[3 + i] - z[i] / h;
        p->Pi1[i] = p->Pi[i] + (p->ePi[i] + p->dPi[i]);
    }
    m3_mul_v(m->gap + 3, p->R, torque);
    lwi_rattle_rotate(p);
}

// ---------------------------------------------------------------------------------------- solutions

void lwi_rattle_find_mobilities(lwi_rattle *d)
{
    const lwi_system *s = &d->system;
    if (!d->nmassless) return;
    for (int i = 0; i < s->transfer->nborrower; i++)
        lwi_transfer_mobility(s, i, SHARE, d->massless_K[i]);
}

const double *lwi_rattle_mobility(const lwi_rattle *d, int body)
{
    if (!d->nmassless || d->massless_of[lwi_system_node_of(&d->system, body)] < 0) return NULL;
    const lwi_transfer *f = d->system.transfer;
    LWI_ASSERT_INDEX(f->of[body], f->nborrower);
    return d->massless_K[f->of[body]];
}

void lwi_rattle_multiply(const double K[36], const double f[6], double x[6])
{
    for (int i = 0; i < 6; i++) x[i] = v6_dot(K + 6 * i, f);
}

void lwi_rattle_solve_massless(lwi_rattle *d)
{
    lwi_system *s = &d->system;
    const lwi_transfer *f = s->transfer;
    for (int i = 0; i < d->nmassless; i++) v6_copy(s->x[d->massless[i].node], d->massless[i].gap);
    if (!d->full) {
        lwi_rattle_solve_once(s);
        return;
    }
    lwi_system_share(s, true, s->x);
    for (int i = 0; i < f->nborrower; i++) {
        double *x = s->x[f->body[i].body], gap[6];
        if (!lwi_rattle_mobility(d, f->body[i].body)) continue;
        v6_copy(gap, x);
        lwi_rattle_multiply(d->massless_K[i], gap, x);
    }
    lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
}
