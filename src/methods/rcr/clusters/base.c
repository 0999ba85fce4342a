// base.c -- floating bases of loop clusters: their motion, and the 6 x 6 system of base and clusters.
//
// M: inertia of the base and its clusters at the present configuration, reduced by the coordinates of the clusters;
// h: the force at A = 0, likewise.  The base accelerates by  A = S v.,  S'(M S v. + h) = Q.
// [anderson2003, (60)-(66)] at the base of loops, with the terms that a moving base needs (docs/theory/rcr.md).
#include "methods/rcr/clusters/plan.h"

#include "base/assert.h"
#include "spatial/inertia.h"
#include "spatial/rotation.h"

// ------------------------------------------------------------------------------------------ create

// z along the axis of the first joint on the base, with the sign that clusters use (place.c).
static void set_axes(const lwi_k_parts *parts, lwi_cluster_base *base)
{
    m3_identity(base->axes);
    for (int p = 0; p < parts->n; p++) {
        const lwi_k_part *part = &parts->part[p];
        if (part->parent != base->part) continue;
        memcpy(base->axes, part->in.R, sizeof base->axes);
        for (int i = 0; part->sign < 0 && i < 9; i++)
            if (i % 3) base->axes[i] = -base->axes[i];
        return;
    }
}

static void set_base(const lw_model *model, const lwi_k_parts *parts, int part,
                     lwi_cluster_base *base)
{
    *base = (lwi_cluster_base){.part = part, .gravity = model->gravity};
    const lwi_k_part *body = &parts->part[part];
    double back[9];
    while (parts->part_of[base->node] != part)
        base->node++; // the node of the joint is the first one
    LWI_ASSERT_INDEX(base->node, model->nnode);
    const lwi_node *node = &model->node[base->node];
    base->iq = node->iq;
    base->iv = node->iv;
    base->nv = node->nv;
    LWI_ASSERT(base->nv > 0 && base->nv <= 6);
    set_axes(parts, base);
    m3_transpose(back, base->axes);
    base->m = body->m;
    m3_mul_v(base->h, back, body->h);
    s3_rotate(base->J, back, body->J);
    for (int i = 0; i < base->nv; i++) base->rotor[i] = model->tree_rotor[base->iv + i];
}

lw_status lwi_clusters_create_bases(lwi_clusters *c, const lw_model *model, lwi_arena *arena)
{
    const lwi_k_parts *parts = &c->parts;
    c->model = model;
    c->base_of = LWI_PUSH(arena, int, parts->n);
    for (int p = 0; p < parts->n; p++) c->nbase += parts->part[p].floats;
    c->base = LWI_PUSH(arena, lwi_cluster_base, c->nbase);
    c->base_motion = LWI_PUSH(arena, lwi_cluster_base_motion, c->nbase);
    if (!c->base_of || !c->base || !c->base_motion) return LW_ERR_MEMORY;
    for (int p = 0, n = 0; p < parts->n; p++) {
        const int parent = parts->part[p].parent;
        LWI_ASSERT(parent < p);
        c->base_of[p] = parent < 0 ? -1 : c->base_of[parent];
        if (!parts->part[p].floats) continue;
        c->base_of[p] = n;
        LWI_ASSERT_INDEX(n, c->nbase);
        set_base(model, parts, p, &c->base[n++]);
    }
    return LW_OK;
}

// -------------------------------------------------------------------------------------- evaluation

void lwi_clusters_place_bases(const lwi_clusters *c, double t, const double *q)
{
    for (int i = 0; i < c->nbase; i++) {
        lwi_cluster_base *base = &c->base[i];
        lwi_link_position(c->model, base->node, t, q + base->iq, &base->link);
        m3_mul(base->R, base->link.R, base->axes);
        v3_copy(base->r, base->link.r);
        for (int j = 0; j < base->nv; j++) {
            m3_tmul_v(base->S[j], base->axes, base->link.S[j]);
            m3_tmul_v(base->S[j] + 3, base->axes, base->link.S[j] + 3);
        }
    }
}

void lwi_clusters_move_bases(const lwi_clusters *c, double t, const double *v)
{
    for (int i = 0; i < c->nbase; i++) {
        lwi_cluster_base *base = &c->base[i];
        lwi_cluster_base_motion *motion = &c->base_motion[i];
        const double *u = v + base->iv;
        double V[6] = {0}, bias[6] = {0}, g[3], turn[3], *h = base->total + LWI_CLUSTER_SPATIAL;
        lwi_link_rates(c->model, base->node, t, u, &base->link);
        for (int j = 0; j < base->nv; j++) {
            v6_axpy(V, u[j], base->S[j]);
            v6_axpy(bias, u[j], base->link.Sdot[j]);
        }
        v3_copy(base->v, V);
        v3_copy(motion->w, V + 3);
        v3_copy(base->w, V + 3);
        m3_tmul_v(motion->a, base->axes, bias);
        m3_tmul_v(motion->al, base->axes, bias + 3);
        v3_cross_add(
            motion->a, motion->w,
            base->v); // acceleration of a body-fixed point from the rate of the velocity's components
        m3_tmul_v(g, base->R, base->gravity);
        v3_sub(motion->a, motion->a, g);
        // the base alone
        memset(base->E, 0, sizeof base->E);
        memset(base->e, 0, sizeof base->e);
        memset(base->cluster_load, 0, sizeof base->cluster_load);
        base->lanes = 0;
        memset(base->Q, 0, sizeof base->Q);
        base->total[0] = base->m;
        v3_copy(base->total + 1, base->h);
        memcpy(base->total + 4, base->J, sizeof base->J);
        v3_scale(h, base->m, motion->a);
        v3_cross_add(h, motion->al, base->h);
        v3_cross(turn, motion->w, base->h);
        v3_cross_add(h, motion->w, turn);
        s3_mul_v(h + 3, base->J, motion->al);
        v3_cross_add(h + 3, base->h, motion->a);
        s3_mul_v(turn, base->J, motion->w);
        v3_cross_add(h + 3, motion->w, turn);
    }
}

void lwi_clusters_load_bases(const lwi_clusters *c, const double *tau)
{
    for (int i = 0; i < c->nbase; i++)
        memcpy(c->base[i].Q, tau + c->base[i].iv, (size_t)c->base[i].nv * sizeof *tau);
}

// M += E; reads the lower triangle.
static void add_symmetric(lwi_inertia *M, const double (*E)[LWI_LANES])
{
    static const int8_t at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 0}, {2, 0}, {2, 1}};
    for (int i = 0; i < 6; i++) {
        M->A[i] += E[at[i][0]][at[i][1]];
        M->C[i] += E[3 + at[i][0]][3 + at[i][1]];
    }
    for (int i = 0; i < 9; i++) M->B[i] += E[3 + i % 3][i / 3];
}

// Accelerations y [nv] of a base with nv speeds.  Most have six, as a constant: loops over them are unrolled.
static inline bool solve_base(lwi_cluster_base *base, int nv, double *y)
{
    double D[6][6], *s = base->total, *h = s + LWI_CLUSTER_SPATIAL;
    lwi_inertia M;
    const int lanes =
        base->lanes < LWI_LANES ? base->lanes + 1 : LWI_LANES; // one with zeros: no sum is -0
    for (int k = 0; k < LWI_CLUSTER_BASE_LOAD; k++)
        for (int l = 0; l < lanes; l++) s[k] += base->cluster_load[k][l];
    v6_add(h, h, base->e);
    inertia_rigid(&M, s[0], s + 1, s + 4);
    add_symmetric(&M, (const double(*)[LWI_LANES])base->E);
    for (int j = 0; j < nv; j++) {
        double U[6];
        inertia_apply(U, &M, base->S[j]);
        for (int i = j; i < nv; i++) D[i][j] = v6_dot(base->S[i], U);
        D[j][j] += base->rotor[j];
        y[j] = base->Q[j] - v6_dot(base->S[j], h);
    }
    memset(base->A, 0, sizeof base->A);
    if (cholesky6(D, nv, 0) >= 0) return false;
    cholesky6_forward(D, nv, y);
    cholesky6_backward(D, nv, y);
    for (int j = 0; j < nv; j++) v6_axpy(base->A, y[j], base->S[j]);
    return true;
}

bool lwi_clusters_solve_bases(const lwi_clusters *c, double *vdot)
{
    for (int n = 0; n < c->nbase; n++) {
        lwi_cluster_base *base = &c->base[n];
        LWI_ASSERT(base->iv + base->nv <= c->nfree);
        if (!(base->nv == 6 ? solve_base(base, 6, vdot + base->iv)
                            : solve_base(base, base->nv, vdot + base->iv)))
            return false;
    }
    return true;
}
