// cut_momenta.c -- joint momenta of a tree with impulses at its cut joints: rates, axes, scale.  Equations:
// cut_momenta.h.  Cost: O(n + m) per evaluation.
#include "loops/cut_momenta.h"

#include "loops/cut.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

lw_status lwi_cut_momenta_create(const lw_model *model, lwi_tree_work *tree,
                                 lwi_tree_passes *passes, lwi_gauge gauge, double length,
                                 lwi_arena *arena, lwi_cut_momenta *m)
{
    *m = (lwi_cut_momenta){
        .model = model, .tree = tree, .passes = passes, .gauge = gauge, .length = length};
    m->load = lwi_arena_push(arena, (size_t)model->nbody, sizeof *m->load);
    m->cut = LWI_PUSH(arena, lwi_cut_impulse, model->nloop + model->ncoupling);
    if (!m->load || !m->cut) return LW_ERR_MEMORY;
    return lwi_momenta_create(model, arena, &m->momenta);
}

// ---------------------------------------------------------------------------- momenta of free
// bodies

static bool is_free(const lwi_node *node)
{
    return node->parent < 0 && lwi_joint_is_free(node->type) && !node->reversed && !node->driven;
}

void lwi_cut_momenta_to_links(const lwi_cut_momenta *m, const double *state, double *p)
{
    const lw_model *model = m->model;
    memcpy(p, state, (size_t)model->tree_nv * sizeof *p);
    for (int k = 0; k < model->nnode; k++) {
        const int i = model->node[k].iv;
        LWI_ASSERT(i + model->node[k].nv <= model->tree_nv);
        if (!is_free(&model->node[k])) continue;
        m3_tmul_v(p + i, m->tree->R[k], state + i);
        m3_tmul_v(p + i + 3, m->tree->R[k], state + i + 3);
    }
}

void lwi_cut_momenta_from_links(const lwi_cut_momenta *m, double *p)
{
    for (int k = 0; k < m->model->nnode; k++) {
        double *own = p + m->model->node[k].iv;
        if (!is_free(&m->model->node[k])) continue;
        m3_mul_v(own, m->tree->R[k], own);
        m3_mul_v(own + 3, m->tree->R[k], own + 3);
    }
}

// p_link = R' p_world,  so that  pdot_link = R' pdot_world - w x p_link.
void lwi_cut_momenta_rates_to_links(const lwi_cut_momenta *m, const double *p, const double *v,
                                    double *pdot)
{
    for (int k = 0; k < m->model->nnode; k++) {
        const lwi_node *node = &m->model->node[k];
        if (!is_free(node)) continue;
        double w[3] = {0};
        for (int j = 0; j < node->nv; j++) v3_axpy(w, v[node->iv + j], m->tree->link[k].S[j] + 3);
        for (int part = 0; part < 6; part += 3) {
            double *own = pdot + node->iv + part, turn[3];
            m3_tmul_v(own, m->tree->R[k], own);
            v3_cross(turn, w, p + node->iv + part);
            v3_sub(own, own, turn);
        }
    }
}

// fdot = T_f,  ndot = T_n - v x f, world axes.
static void free_rates(const lwi_cut_momenta *m, int k)
{
    const lwi_node *node = &m->model->node[k];
    const double *T = m->momenta.T[k], *R = m->tree->R[k], *p = m->state + node->iv;
    double *out = m->pdot + node->iv, v[3], turn[3];
    for (int i = 0; i < 6; i++) out[i] = T[i] + m->tree->effort[node->iv + i];
    m3_mul_v(out, R, out);
    m3_mul_v(out + 3, R, out + 3);
    m3_mul_v(v, R, m->tree->V[k]);
    v3_cross(turn, v, p);
    v3_sub(out + 3, out + 3, turn);
}

// ------------------------------------------------------------------------------- impulses of cuts

// The rotor of a cut joint applies the impulse -I u J' to its bodies, which is added to P of the
// joints.
static void add_rotors(lwi_cut_momenta *m, double t, const lwi_motion *motion, double *p)
{
    const lw_model *model = m->model;
    double(*P)[6] = m->momenta.P;
    lwi_closure closure, *rows = &closure;
    for (int k = 0; k < model->nnode; k++) v6_zero(P[k]);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        rows->n = rows->nbody = 0;
        lwi_joint_rotor_rows(model, model->loop[i], t, motion, LWI_CLOSURE_POSITION, rows);
        for (int k = 0, r = 0; k < joint->type->nv; k++) {
            if (joint->rotor[k] == 0) continue;
            const double impulse = joint->rotor[k] * m->tree->joint_qd[joint->iv + k];
            for (int b = 0; b < rows->nbody; b++) {
                const int at = model->body_node[rows->body[b]];
                lwi_cut_add_wrench(m->model, m->tree, at, impulse, rows->J[b][r], P[at]);
            }
            r++;
        }
    }
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *n = &model->node[k];
        const lwi_link *link = &m->tree->link[k];
        for (int j = 0; j < n->nv; j++) p[n->iv + j] += v6_dot(link->S[j], P[k]);
        if (n->parent >= 0) force_add_from(P[n->parent], link->R, link->r, P[k]);
    }
}

void lwi_cut_momenta_of_speeds(lwi_cut_momenta *m, double t, const lwi_motion *motion,
                               const double *v, double *p)
{
    lwi_momenta_of_speeds(m->model, &m->momenta, m->tree, v, p);
    if (m->model->nrotor > 0) add_rotors(m, t, motion, p);
    lwi_cut_momenta_from_links(m, p);
}

// sigma bdot - l b of the rows of one cut.  bdot = gamma - d/dt(J) V, about the moving mass centres, whereas Jdot is
// about points fixed in space (closure.h).
static void add_prescribed(const lwi_closure *rows, const lwi_motion *motion, const double *sigma,
                           const double *leak, lwi_cut_impulse *cut)
{
    for (int r = 0; r < rows->n; r++) {
        double bdot = rows->gamma[r];
        for (int b = 0; b < rows->nbody; b++) {
            const double *v = motion->v[rows->body[b]], *w = motion->w[rows->body[b]];
            double shifted[3];
            v3_cross(shifted, v, rows->J[b][r]);
            bdot -=
                v3_dot(rows->Jdot[b][r], v) + v3_dot(rows->Jdot[b][r] + 3, w) - v3_dot(shifted, w);
        }
        cut->prescribed -= sigma[r] * rows->b[r];
        cut->prescribed_rate += sigma[r] * bdot - leak[r] * rows->b[r];
    }
}

double lwi_cut_momenta_prescribed(const lwi_cut_momenta *m)
{
    return m->prescribed + lwi_momenta_prescribed(m->model, &m->momenta, m->tree);
}

double lwi_cut_momenta_prescribed_rate(const lwi_cut_momenta *m)
{
    return m->prescribed_rate + lwi_momenta_prescribed_rate(m->model, &m->momenta, m->tree);
}

// P = -J' sigma, load = L_c; -L_c holds the term Phidot' sigma of             [naudet2003, (8)]
// The impulse J_c' sigma_c of a cut: its articulated momentum has no active part, p_c = 0 [chadaj2017, (62)].
void lwi_cut_momenta_add(lwi_cut_momenta *m, int i, double t, const lwi_motion *motion,
                         const double *sigma)
{
    const lw_model *model = m->model;
    lwi_closure closure, *rows = &closure;
    double leak[LWI_CLOSURE_ROWS];
    LWI_ASSERT_INDEX(i, model->nloop + model->ncoupling);
    const int joint = i < model->nloop ? model->loop[i] : model->nloop - 1 - i;
    lwi_cut_impulse *cut = &m->cut[i];
    cut->nbody = 0;
    cut->prescribed = cut->prescribed_rate = 0;
    if (!sigma) return;
    if (joint >= 0)
        lwi_joint_closure(model, joint, t, motion, LWI_CLOSURE_RATES, rows);
    else
        lwi_coupling_closure(model, -1 - joint, t, motion, LWI_CLOSURE_RATES, rows);
    LWI_ASSERT(rows->n <= LWI_CLOSURE_ROWS && rows->nbody <= LWI_CLOSURE_BODIES);
    lwi_gauge_leak(model, motion, m->length, &m->gauge, joint, rows, sigma, leak);
    if (joint >= 0 && model->joint[joint].nrotor > 0) { // impulses of rotors are not gauge-free
        for (int r = rows->n; r < LWI_CLOSURE_ROWS; r++) leak[r] = 0;
        lwi_joint_rotor_rows(model, joint, t, motion, LWI_CLOSURE_RATES, rows);
    }
    if (model->driven) add_prescribed(rows, motion, sigma, leak, cut);
    cut->nbody = rows->nbody;
    for (int b = 0; b < rows->nbody; b++) {
        const int body = cut->body[b] = rows->body[b], k = model->body_node[body];
        LWI_ASSERT_INDEX(k, model->nnode); // a moving body
        double impulse[6] = {0};
        v6_zero(cut->load[b]);
        v6_zero(cut->P[b]);
        for (int r = 0; r < rows->n; r++) {
            v6_axpy(impulse, sigma[r], rows->J[b][r]);
            v6_axpy(cut->load[b], -sigma[r], rows->Jdot[b][r]);
            v6_axpy(cut->load[b], leak[r], rows->J[b][r]);
        }
        lwi_cut_add_wrench(m->model, m->tree, k, -1, impulse, cut->P[b]);
    }
}

// Sums over the subtrees of F [nnode][6].
static void sum_subtrees(lwi_cut_momenta *m, double (*F)[6])
{
    const lwi_link *link = m->tree->link;
    if (m->passes) {
        lwi_tree_pass_sum(m->passes, link, F);
        return;
    }
    for (int k = m->model->nnode - 1; k >= 0; k--) {
        const int parent = m->model->node[k].parent;
        LWI_ASSERT(parent < k);
        if (parent >= 0) force_add_from(F[parent], link[k].R, link[k].r, F[k]);
    }
}

static lwi_pool *threads(const lwi_cut_momenta *m)
{
    return m->passes ? m->passes->pool : NULL;
}

static void start_momenta(void *user, int first, int end)
{
    lwi_cut_momenta *m = user;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &m->model->node[k];
        inertia_mul(m->momenta.P[k], node->mass, node->h, node->J, m->tree->V[k]);
    }
}

// Accumulated momenta of all outboard bodies minus the impulses of the cuts: what the tree joints transmit
// [chadaj2017, (58), (63)].  The cuts are added in their order on one thread: a few sums each.
void lwi_cut_momenta_transmit(lwi_cut_momenta *m)
{
    const lw_model *model = m->model;
    lwi_pool_for(threads(m), model->nnode, start_momenta, m);
    memset(m->load, 0, (size_t)model->nbody * sizeof *m->load);
    m->prescribed = m->prescribed_rate = 0;
    for (int i = 0; i < model->nloop + model->ncoupling; i++) {
        const lwi_cut_impulse *cut = &m->cut[i];
        for (int b = 0; b < cut->nbody; b++) {
            double *P = m->momenta.P[model->body_node[cut->body[b]]];
            v6_add(P, P, cut->P[b]);
            v6_add(m->load[cut->body[b]], m->load[cut->body[b]], cut->load[b]);
        }
        m->prescribed += cut->prescribed;
        m->prescribed_rate += cut->prescribed_rate;
    }
    sum_subtrees(m, m->momenta.P);
}

void lwi_cut_momenta_load_cuts(lwi_cut_momenta *m)
{
    const lw_model *model = m->model;
    m->prescribed = m->prescribed_rate = 0;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        v6_zero(m->load[joint->body1]);
        v6_zero(m->load[joint->body2]);
    }
    for (int i = 0; i < model->nloop; i++) {
        const lwi_cut_impulse *cut = &m->cut[i];
        for (int b = 0; b < cut->nbody; b++)
            v6_add(m->load[cut->body[b]], m->load[cut->body[b]], cut->load[b]);
        m->prescribed += cut->prescribed;
        m->prescribed_rate += cut->prescribed_rate;
    }
}

static void start_wrenches(void *user, int first, int end)
{
    lwi_cut_momenta *m = user;
    const lw_model *model = m->model;
    const bool loads = model->nloop + model->ncoupling > 0;
    for (int k = first; k < end; k++) {
        if (m->passes) m3_tmul_v(m->tree->g[k], m->tree->R[k], model->gravity);
        if (loads)
            lwi_cut_add_wrench(model, m->tree, k, 1, m->load[model->node[k].body],
                               m->tree->wrench[k]);
        lwi_momenta_own_wrench(model, &m->momenta, m->tree, k);
    }
}

static void find_rates(void *user, int first, int end)
{
    lwi_cut_momenta *m = user;
    for (int k = first; k < end; k++) {
        if (is_free(&m->model->node[k]))
            free_rates(m, k);
        else
            lwi_momenta_node_rates(m->model, &m->momenta, m->tree, k, NULL, m->pdot);
    }
}

// Loads and the terms of the cuts, accumulated over the outboard bodies [chadaj2017, (70)-(76)], and the rates
// of the joint momenta [chadaj2017, (47), (69), (77)].
void lwi_cut_momenta_rates(lwi_cut_momenta *m, const double *state, double *pdot)
{
    m->state = state;
    m->pdot = pdot;
    if (!m->passes) lwi_tree_gravity(m->model, m->tree);
    lwi_pool_for(threads(m), m->model->nnode, start_wrenches, m);
    sum_subtrees(m, m->momenta.T);
    lwi_pool_for(threads(m), m->model->nnode, find_rates, m);
}

// ------------------------------------------------------------------------------------------- scale

// Inertia along each joint with all outboard joints locked, for trees in which massless links make the articulated
// inertia singular.  A joint without any inertia gets the largest one.
static void locked_inertia(lwi_cut_momenta *m, double *inertia)
{
    const lw_model *model = m->model;
    lwi_momenta_node *at = m->momenta.node;
    double max = 0;
    for (int k = 0; k < model->nnode; k++)
        inertia_rigid(&at[k].M, model->node[k].mass, model->node[k].h, model->node[k].J);
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &model->node[k];
        const lwi_link *link = &m->tree->link[k];
        if (node->parent >= 0) inertia_add_from(&at[node->parent].M, link->R, link->r, &at[k].M);
        for (int j = 0; j < node->nv; j++) {
            double F[6];
            inertia_apply(F, &at[k].M, link->S[j]);
            inertia[node->iv + j] = v6_dot(link->S[j], F);
            max = fmax(max, inertia[node->iv + j]);
        }
    }
    for (int i = 0; i < model->tree_nv; i++)
        if (!(inertia[i] > 0)) inertia[i] = max > 0 ? max : 1;
}

lw_status lwi_cut_momenta_scale(lwi_cut_momenta *m, double t, const double *p, double *v,
                                double *inertia, lw_error *error)
{
    const lw_status status =
        lwi_momenta_scale(m->model, &m->momenta, m->tree, t, p, v, inertia, error);
    if (status == LW_ERR_SINGULAR)
        locked_inertia(m, inertia);
    else if (status != LW_OK)
        return status;
    for (int k = 0; k < m->model->nnode; k++) {
        if (!is_free(&m->model->node[k])) continue;
        for (double *own = inertia + m->model->node[k].iv, *end = own + 6; own < end; own += 3)
            own[0] = own[1] = own[2] = fmax(own[0], fmax(own[1], own[2]));
    }
    return LW_OK;
}
