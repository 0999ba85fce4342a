// tree_motion.c -- accelerations of a mechanism with a spanning tree, from and to the links.
//
// A = (classical acceleration of the mass centre, angular acceleration) in world axes; link axes: components of
// dV/dt.  Rows gamma of a tree joint: with the parent's link at rest in acceleration and no rates of speeds, the
// node has A = c in link axes (kinematics/tree_state.h, lwi_tree_bias), and J A + gamma = 0 holds.  Both bodies
// then have
//
//     a = w x v + R (c_lin + c_ang x c_r),   al = R c_ang,     c = 0 for the parent
//
// which takes a third of the operations of the general rows, and no sum over the path to the ground.
// Rates of speeds: udot = (S'S)^-1 S' (A - X A_parent - c).
#include "system/system.h"

#include "base/assert.h"
#include "elimination/dense_blocks.h"
#include "spatial/motion.h"

#include <string.h>

// Node of body number i of the edge; -1: a rotor.
static int node_of(const lwi_system *s, const lwi_plan_edge *edge, int i)
{
    const int body = edge->body[i], parts = s->nbody - s->split.npart;
    if (body < s->model->nnode) return body;
    return body < parts ? -1 : s->split.part[body - parts].body;
}

// ------------------------------------------------------------------------------------ to the bodies

typedef struct job {
    lwi_system *s;
    lwi_tree_work *tree;
    double t;
    const double *u;
    double *udot;
} job;

static void tree_gamma(void *user, int k)
{
    const job *of = user;
    lwi_system *s = of->s;
    const lwi_node *node = &s->model->node[k];
    double a[2][6] = {{0}}, lin[3], offset[3], *c = of->tree->A[k]; // parent, node
    lwi_tree_bias(s->model, k, of->tree, of->u, c);
    const int e = node->joint < 0 ? -1 : s->joint_edge[node->joint];
    if (e < 0) return;
    if (node->parent >= 0) {
        const int b = s->model->node[node->parent].body;
        v3_cross(a[0], s->w[b], s->v[b]);
    }
    v3_cross(lin, c + 3, node->c_r);
    v3_add(lin, lin, c);
    m3_mul_v(offset, of->tree->R[k], lin);
    v3_cross(a[1], s->w[node->body], s->v[node->body]);
    v3_add(a[1], a[1], offset);
    m3_mul_v(a[1] + 3, of->tree->R[k], c + 3);
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    double *gamma = s->gamma + s->plan.row[e];
    for (int r = 0; r < edge->rows; r++) gamma[r] = 0;
    for (int i = 0; i < edge->n; i++) {
        const int at = node_of(s, edge, i);
        const double(*J)[6] = lwi_elim_rows(s->elim) + 6 * (s->plan.slot[e] + i);
        LWI_ASSERT(at == k || at == node->parent || at < 0);
        if (at == k)
            for (int r = 0; r < edge->rows; r++) gamma[r] -= lwi_dot6(J[r], a[1]);
        else if (at >= 0)
            for (int r = 0; r < edge->rows; r++) gamma[r] -= v3_dot(J[r], a[0]);
    }
}

static void other_gamma(void *user, int e)
{
    const job *of = user;
    const int j = of->s->edge_joint[e];
    if (j < 0 || of->s->model->joint[j].node < 0) lwi_system_edge_gamma(of->s, e, of->t);
}

void lwi_system_tree_gammas(lwi_system *s, double t, lwi_tree_work *tree, const double *u)
{
    job all = {.s = s, .tree = tree, .t = t, .u = u};
    lwi_system_for(s, s->model->nnode, tree_gamma, &all);
    lwi_system_for(s, s->nedge, other_gamma, &all);
}

// ---------------------------------------------------------------------------------- from the bodies

// dV/dt of node k in link axes: R'(a_O - w x v_O) and R'al, a_O = a_C - al x c - w x (w x c).
static void link_acceleration(void *user, int k)
{
    const job *of = user;
    const lwi_system *s = of->s;
    const lwi_tree_work *tree = of->tree;
    const lwi_node *node = &s->model->node[k];
    double a[3], turning[3], *A = tree->F[k];
    v3_cross(turning, s->w[node->body], s->v[node->body]);
    v3_sub(a, s->a[node->body], turning); // a_C - w x v_C
    m3_tmul_v(A, tree->R[k], a);
    m3_tmul_v(A + 3, tree->R[k], s->al[node->body]);
    v3_cross(turning, A + 3, node->c_r);
    v3_sub(A, A, turning);
}

static void speed_rates(void *user, int k)
{
    const job *of = user;
    const lwi_node *node = &of->s->model->node[k];
    lwi_link *link = &of->tree->link[k];
    double own[6], *udot = of->udot + node->iv;
    if (node->nv == 0) return;
    for (int i = 0; i < 6; i++) own[i] = of->tree->F[k][i] - of->tree->A[k][i]; // less c
    if (node->parent >= 0) {
        double parent[6];
        motion_to(parent, link->R, link->r, of->tree->F[node->parent]);
        v6_axpy(own, -1, parent);
    }
    for (int j = 0; j < node->nv; j++) udot[j] = v6_dot(link->S[j], own);
    lwi_joint_metric_solve(node->nv, link->S, udot);
}

void lwi_system_speed_rates(lwi_system *s, lwi_tree_work *tree, double *udot)
{
    job all = {.s = s, .tree = tree, .udot = udot};
    lwi_system_for(s, s->model->nnode, link_acceleration, &all);
    lwi_system_for(s, s->model->nnode, speed_rates, &all);
}

void lwi_system_tree_qdd(const lwi_system *s, const lwi_tree_work *tree, const double *udot,
                         double *qdd)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *node = &s->model->node[k];
        if (node->joint < 0) continue;
        const lwi_joint *joint = &s->model->joint[node->joint];
        for (int i = 0; joint->ndriven > 0 && i < node->type->nv; i++)
            qdd[joint->iv + i] = tree->link[k].drive[i][2];
        for (int j = 0; j < node->nv; j++) qdd[joint->iv + node->column[j]] = udot[node->iv + j];
    }
}

// ----------------------------------------------------------------------------------------- residuals

// sum [rows] += J x of one body.
static void add_rates(int rows, const double (*J)[6], const double lin[3], const double ang[3],
                      double *sum)
{
    const lwi_pair a = {lin[0], lin[1]}, b = {lin[2], ang[0]}, c = {ang[1], ang[2]};
    for (int r = 0; r < rows; r++) {
        const lwi_pair x =
            a * lwi_pair_load(J[r]) + b * lwi_pair_load(J[r] + 2) + c * lwi_pair_load(J[r] + 4);
        sum[r] += x[0] + x[1];
    }
}

static void include(int rows, const double *value, double *largest)
{
    for (int r = 0; r < rows; r++)
        if (fabs(value[r]) > *largest) *largest = fabs(value[r]);
}

void lwi_system_residuals(const lwi_system *s, lw_observe level, double largest[3])
{
    const bool accelerations = level >= LW_OBSERVE_REACTION;
    v3_set(largest, 0, 0, 0);
    for (int e = 0; e < s->nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        const int first = s->plan.row[e], j = s->edge_joint[e];
        const int rows = j < 0 ? edge->rows : lwi_joint_row_count(s->model, j); // without rotors
        double residual[2][LWI_CLOSURE_ROWS];
        LWI_ASSERT(rows <= LWI_CLOSURE_ROWS);
        memcpy(residual[0], s->b + first, (size_t)rows * sizeof(double));
        memcpy(residual[1], s->gamma + first, (size_t)rows * sizeof(double));
        for (int i = 0; i < edge->n; i++) {
            const int k = node_of(s, edge, i);
            if (k < 0) continue;
            const int b = s->model->node[k].body;
            const double(*J)[6] = lwi_elim_rows(s->elim) + 6 * (s->plan.slot[e] + i);
            add_rates(rows, J, s->v[b], s->w[b], residual[0]);
            if (accelerations) add_rates(rows, J, s->a[b], s->al[b], residual[1]);
        }
        include(rows, s->phi + first, &largest[0]);
        include(rows, residual[0], &largest[1]);
        if (accelerations) include(rows, residual[1], &largest[2]);
    }
}

void lwi_system_reaction(const lwi_system *s, int j, const double *lambda, double F[6])
{
    const lwi_joint *joint = &s->model->joint[j];
    const int e = s->joint_edge[j], body = joint->body2 ? joint->body2 : joint->body1;
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    const int rows = lwi_joint_row_count(s->model, j); // without rotors
    const double sign = joint->body2 ? 1 : -1;
    double p[3], arm[3];
    v6_zero(F);
    for (int i = 0; i < edge->n; i++) {
        const int k = node_of(s, edge, i);
        const double(*J)[6] = lwi_elim_rows(s->elim) + 6 * (s->plan.slot[e] + i);
        if (k < 0 || s->model->node[k].body != body) continue;
        lwi_pair a = lwi_pair_load(F), b = lwi_pair_load(F + 2), c = lwi_pair_load(F + 4);
        for (int r = 0; r < rows; r++) {
            const double f = sign * lambda[s->plan.row[e] + r];
            a += f * lwi_pair_load(J[r]);
            b += f * lwi_pair_load(J[r] + 2);
            c += f * lwi_pair_load(J[r] + 4);
        }
        lwi_pair_store(F, a), lwi_pair_store(F + 2, b), lwi_pair_store(F + 4, c);
    }
    m3_mul_v(p, s->R[joint->body2], joint->r2);
    v3_add(p, p, s->r[joint->body2]);
    v3_sub(arm, s->r[body], p); // moment about P2 = moment about C + (C - P2) x f
    v3_cross_add(F + 3, arm, F);
}
