// hdca.c -- the Hamiltonian formulation of mechanisms with loops                     [chadaj2017]
//
// State: joint momenta p of a spanning tree.  Joints outside the tree ("cuts") and couplings have
// none. All in world axes about mass centres in the first part, link frames in the second.
//
// Speeds.  A tree joint transmits the momentum  W_k + J_k' sigma_k  from its parent, with S' W_k =
// p_k: since S' J_k' = 0, any W_k with that property will do; its joint's rows make up the rest.  A
// cut transmits J_c' sigma_c.  Momenta of the bodies and all constraints,
//
//     M V = b + J' sigma,  b = sum of +W_k on the node and -W_k on its parent,      J V = -b_row,
//
// give the velocities to round-off and the impulses of all rows by one elimination [chadaj2017,
// (15)-(36)].
//
// Rates.  What joint k transmits is the momentum of everything outboard less what came in by the
// cuts:
//
//     P_k = sum over outboard bodies M V  -  sum over outboard bodies J_c' sigma_c
//
// Newton and Euler for the first sum bring the unknown reactions J_c' lambda_c of the cuts in.  The
// impulse of a cut is ours to choose as a function of time, for every sigma_c(t) there is a p(t)
// with the same motion; with  sigmadot_c = lambda_c - l_c(sigma_c)  they drop out again:
//
//     Pdot_k = T_k + F_k + sum over outboard bodies L_c,    L_c = -Jdot_c' sigma_c + J_c' l_c
//
// (rates about points fixed in space).  hdca_gauge.c chooses l_c.  So cuts act like forces L_c on
// their bodies, and the projection on the joint is that of open trees [naudet2003, (35)]:  pdot =
// S'(T* - V x* P_k) + Sdot' P_k + Q.
//
// Floating bases and free joints on the ground have their momenta in world axes about the link's
// origin: without loads the force part stands still and the moment part loses r x f, step by step
// and exactly.
#include "formulation/hdca.h"

#include "formulation/carried.h"
#include "formulation/momenta.h"
#include "spatial/rotation.h"

#include <string.h>

typedef struct hdca {
    lwi_tree_work tree; // body_R, body_r, body_v, body_w, joint_q, joint_qd are those of `closed`
    lwi_momenta momenta;
    lwi_closed closed;
    int ncut, *cut;   // edges without momentum: joints outside the tree, couplings
    lwi_closure rows; // of one of them
    lwi_carried carried;
    double (*load)[6]; // [nbody] what the cuts put on their bodies: world axes, mass centres
    double *p, *u;     // [tree_nv] momenta in link axes, speeds
    lwi_pool *pool;    // NULL: one thread
    lwi_gauge gauge;
} hdca;

// ----------------------------------------------------------------------------------------- prepare

// Joints outside the tree and couplings that have rows.
static lw_status list_cuts(const lw_model *model, lwi_arena *arena, hdca *d)
{
    d->cut = LWI_PUSH(arena, int, model->nloop + model->ncoupling);
    if (!d->cut) return LW_ERR_MEMORY;
    for (int e = 0; e < d->closed.nedge; e++) {
        const int j = d->closed.edge_joint[e];
        if (j < 0 || model->joint[j].node < 0) d->cut[d->ncut++] = e;
    }
    return LW_OK;
}

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    hdca *d = LWI_PUSH(arena, hdca, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    d->load = lwi_arena_push(arena, (size_t)model->nbody, sizeof *d->load);
    d->p = LWI_PUSH(arena, double, model->tree_nv);
    d->u = LWI_PUSH(arena, double, model->tree_nv);
    if (!d->load || !d->p || !d->u) return LW_ERR_MEMORY;
    TRY(lwi_tree_work_create(model, arena, &d->tree));
    d->tree.mode = &work->mode;
    TRY(lwi_momenta_create(model, arena, &d->momenta));
    const int plan = work->options ? lwi_plan_kind_find(work->options->plan) : LWI_PLAN_AUTO;
    lwi_closed *closed = &d->closed;
    TRY(lwi_closed_create(model, plan >= 0 ? (lwi_plan_kind)plan : LWI_PLAN_AUTO, arena, closed));
    closed->mode = &work->mode;
    d->tree.body_R = closed->R, d->tree.body_r = closed->r;
    d->tree.body_v = closed->v, d->tree.body_w = closed->w;
    d->tree.joint_q = closed->q, d->tree.joint_qd = closed->qd;
    TRY(list_cuts(model, arena, d));
    TRY(lwi_carried_create(model, LWI_MOMENTUM, arena, &d->carried, &work->layout));
    d->gauge = lwi_gauge_choose(model, work->options);
    const int threads = work->options ? (int)work->options->threads : 1;
    if (threads <= 1) return LW_OK;
    TRY(lwi_pool_create(threads, &arena->allocator, &d->pool, &work->error));
    return lwi_closed_threads(closed, d->pool, arena);
}

static void release(lwi_work *work)
{
    hdca *d = work->data;
    if (d) lwi_pool_destroy(d->pool);
}

// -------------------------------------------------------------------------------------- kinematics

// Links, bodies and coordinates; those of cut joints are what their readings continue from.
static void place(hdca *d, double t, const double *x)
{
    lwi_tree_work *tree = &d->tree;
    lwi_tree_position(d->closed.model, t, x, tree->link);
    lwi_closed_from_tree(&d->closed, tree->link, NULL, tree->R, tree->r, NULL);
    lwi_carried_load(d->closed.model, &d->carried, x, d->closed.q);
}

// Velocities of the bodies from those of the links; coordinates and speeds of all joints.
static void move(hdca *d, double t)
{
    lwi_tree_work *tree = &d->tree;
    lwi_closed_from_tree(&d->closed, tree->link, (const double(*)[6])tree->V, tree->R, tree->r,
                         d->u);
    lwi_closed_read_loops(&d->closed, t, false);
}

// From the mass centre in world axes to the link's origin in its axes: a wrench, added to
// `on_link`.
static void add_to_link(const lw_model *model, const lwi_tree_work *tree, int k, double sign,
                        const double wrench[6], double on_link[6])
{
    double w[6];
    m3_tmul_v(w, tree->R[k], wrench);
    m3_tmul_v(w + 3, tree->R[k], wrench + 3);
    v3_cross_add(w + 3, model->node[k].c_r, w);
    v6_axpy(on_link, sign, w);
}

// ---------------------------------------------------------------------------- momenta of free
// bodies

static bool is_free(const lwi_node *node)
{
    return node->parent < 0 && node->type->id == LW_JOINT_FREE && !node->reversed && !node->driven;
}

// From world axes, as the state has them, to link axes, and back.
static void to_links(const lw_model *model, const lwi_tree_work *tree, const double *state,
                     double *p)
{
    memcpy(p, state, (size_t)model->tree_nv * sizeof *p);
    for (int k = 0; k < model->nnode; k++) {
        const int i = model->node[k].iv;
        if (!is_free(&model->node[k])) continue;
        m3_tmul_v(p + i, tree->R[k], state + i);
        m3_tmul_v(p + i + 3, tree->R[k], state + i + 3);
    }
}

static void from_links(const lw_model *model, const lwi_tree_work *tree, double *p)
{
    for (int k = 0; k < model->nnode; k++) {
        double *own = p + model->node[k].iv;
        if (!is_free(&model->node[k])) continue;
        m3_mul_v(own, tree->R[k], own);
        m3_mul_v(own + 3, tree->R[k], own + 3);
    }
}

// fdot = T_f,  ndot = T_n - v x f, world axes
static void free_rates(const lw_model *model, const hdca *d, const double *state, double *pdot)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const double *T = d->momenta.node[k].T, *R = d->tree.R[k], *p = state + node->iv;
        double *out = pdot + node->iv, v[3], turn[3];
        if (!is_free(node)) continue;
        for (int i = 0; i < 6; i++) out[i] = T[i] + d->tree.effort[node->iv + i];
        m3_mul_v(out, R, out);
        m3_mul_v(out + 3, R, out + 3);
        m3_mul_v(v, R, d->tree.V[k]);
        v3_cross(turn, v, p);
        v3_sub(out + 3, out + 3, turn);
    }
}

// ------------------------------------------------------------------------- first part: the speeds

// a = (S'S)^-1 b
static void joint_metric_solve(int nv, double (*S)[6], double *b)
{
    double L[6][6];
    if (nv == 1) {
        b[0] /= v6_dot(S[0], S[0]);
        return;
    }
    for (int i = 0; i < nv; i++)
        for (int j = 0; j <= i; j++) L[i][j] = v6_dot(S[i], S[j]);
    cholesky6(L, nv, 0); // columns of S are independent whatever the coordinates
    cholesky6_forward(L, nv, b);
    cholesky6_backward(L, nv, b);
}

// +W of the joint's momenta on the node, -W on its parent, W = S (S'S)^-1 p.
static void put_momenta(const lw_model *model, hdca *d, const double *p)
{
    double(*x)[6] = d->closed.x;
    const lwi_tree_work *tree = &d->tree;
    memset(x, 0, (size_t)model->nnode * sizeof *x);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double a[6], W[6] = {0}, f[3], n[3], arm[3], moment[3];
        if (node->nv == 0) continue;
        memcpy(a, p + node->iv, (size_t)node->nv * sizeof *a);
        joint_metric_solve(node->nv, d->tree.link[k].S, a);
        for (int j = 0; j < node->nv; j++) v6_axpy(W, a[j], tree->link[k].S[j]);
        m3_mul_v(f, tree->R[k], W);
        m3_mul_v(n, tree->R[k], W + 3);
        for (int side = 0; side < 2; side++) { // node, parent
            const int to = side ? node->parent : k;
            const double sign = side ? -1 : 1;
            if (to < 0) continue;
            v3_sub(arm, tree->r[k], d->closed.r[model->node[to].body]);
            v3_cross(moment, arm, f);
            v3_add(moment, moment, n);
            v3_axpy(x[to], sign, f);
            v3_axpy(x[to] + 3, sign, moment);
        }
    }
}

// Joint speeds that follow the bodies' velocities, and the links' velocities by these speeds: in
// them the tree's joints hold exactly.
static void follow_bodies(const lw_model *model, hdca *d)
{
    lwi_tree_work *tree = &d->tree;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const lwi_link *link = &tree->link[k];
        const double *x = d->closed.x[k];
        double *V = tree->V[k], own[6], c[3], *u = d->u + node->iv;
        m3_tmul_v(own, tree->R[k], x);
        m3_tmul_v(own + 3, tree->R[k], x + 3);
        v3_cross(c, node->c_r, own + 3); // v of the link's origin = v_C + c x w
        v3_add(own, own, c);
        if (node->parent < 0)
            v6_zero(V);
        else
            motion_to(V, link->R, link->r, tree->V[node->parent]);
        if (node->driven) v6_add(V, V, link->sigma);
        for (int i = 0; i < 6; i++) own[i] -= V[i];
        for (int j = 0; j < node->nv; j++) u[j] = v6_dot(link->S[j], own);
        joint_metric_solve(node->nv, tree->link[k].S, u);
        for (int j = 0; j < node->nv; j++) v6_axpy(V, u[j], link->S[j]);
    }
}

// Everything up to the velocities: links, bodies, V, u, impulses.
static lw_status find_speeds(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    lwi_closed *closed = &d->closed;
    place(d, t, x);
    lwi_closed_rows(closed, t);
    TRY(lwi_closed_factor(closed, t, &work->error));
    to_links(model, &d->tree, x + model->tree_nq, d->p);
    put_momenta(model, d, d->p);
    for (int i = 0; i < closed->nrow; i++) closed->c[i] = -closed->b[i];
    lwi_closed_solve(closed);
    follow_bodies(model, d);
    TRY(lwi_tree_finite(model, t, d->u, "speed", &work->error));
    move(d, t);
    return LW_OK;
}

// -------------------------------------------------------------------------- second part: the rates

// What the impulses of the last solution are and do, for the bodies of every cut:
// P := -J' sigma summed by body, load := L.
static void cut_impulses(const lw_model *model, hdca *d, double t)
{
    lwi_closed *closed = &d->closed;
    memset(d->load, 0, (size_t)model->nbody * sizeof *d->load);
    for (int k = 0; k < model->nnode; k++) v6_zero(d->momenta.node[k].P);
    for (int i = 0; i < d->ncut; i++) {
        const int e = d->cut[i], j = closed->edge_joint[e];
        const double *sigma = closed->lambda + closed->plan.row[e];
        lwi_closure *rows = &d->rows;
        double leak[LWI_CLOSURE_ROWS];
        if (j >= 0)
            lwi_joint_closure(model, j, t, &closed->motion, LWI_CLOSURE_RATES, rows);
        else
            lwi_coupling_closure(model, -1 - j, t, &closed->motion, LWI_CLOSURE_RATES, rows);
        lwi_gauge_leak(closed, &d->gauge, e, rows, sigma, leak);
        for (int b = 0; b < rows->nbody; b++) {
            const int body = rows->body[b], k = model->body_node[body];
            double impulse[6] = {0};
            for (int r = 0; r < rows->n; r++) {
                v6_axpy(impulse, sigma[r], rows->J[b][r]);
                v6_axpy(d->load[body], -sigma[r], rows->Jdot[b][r]);
                v6_axpy(d->load[body], leak[r], rows->J[b][r]);
            }
            add_to_link(model, &d->tree, k, -1, impulse, d->momenta.node[k].P);
        }
    }
}

// P_k: momenta of the bodies added to what cut_impulses left, summed inward.
static void transmitted_momenta(const lw_model *model, hdca *d)
{
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &model->node[k];
        const lwi_link *link = &d->tree.link[k];
        double own[6], *P = d->momenta.node[k].P, up[6];
        inertia_mul(own, node->mass, node->h, node->J, d->tree.V[k]);
        v6_add(P, P, own);
        if (node->parent < 0) continue;
        force_from(up, link->R, link->r, P);
        v6_add(d->momenta.node[node->parent].P, d->momenta.node[node->parent].P, up);
    }
}

// Loads of the model; those on coordinates of the cuts' joints become wrenches in `load`.
static void apply_loads(lwi_work *work, double t, const double *inputs)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    lwi_tree_work *tree = &d->tree;
    memset(tree->wrench, 0, (size_t)model->nnode * sizeof *tree->wrench);
    lwi_tree_loads(model, tree, t, d->u, inputs);
    if (model->nforce == 0) return;
    for (int i = 0; i < model->nloop; i++) {
        const int j = model->loop[i];
        lwi_joint_apply_effort(model, j, t, &d->closed.motion,
                               tree->loads.effort + model->joint[j].iv, d->load);
    }
}

static lw_status power(lwi_work *work, double t, double *watts)
{
    hdca *d = work->data;
    *watts = d->tree.power;
    if (!work->model->driven) return LW_OK;
    TRY(lwi_closed_accelerations(&d->closed, t, &d->tree.loads, &work->error));
    *watts += lwi_closed_drive_power(&d->closed, t);
    return LW_OK;
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    double *pdot = xdot + model->tree_nq;
    TRY(find_speeds(work, t, x));
    lwi_tree_kinematics(model, d->tree.link, d->u, xdot);
    lwi_tree_rates(model, t, d->u, d->tree.link);
    cut_impulses(model, d, t);
    transmitted_momenta(model, d);
    apply_loads(work, t, inputs);
    for (int k = 0; k < model->nnode; k++)
        add_to_link(model, &d->tree, k, 1, d->load[model->node[k].body], d->tree.wrench[k]);
    lwi_momenta_rates(model, &d->momenta, &d->tree, NULL, pdot);
    free_rates(model, d, x + model->tree_nq, pdot);
    lwi_carried_rates(model, &d->carried, d->closed.q, d->closed.qd, xdot);
    if (model->carries_work) TRY(power(work, t, &pdot[model->tree_nv]));
    return lwi_tree_finite(model, t, pdot, "rate of momentum", &work->error);
}

// ------------------------------------------------------------------------------------------- state

lw_status lwi_hdca_reset(lwi_work *work, double t, double *x)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    TRY(find_speeds(work, t, x));
    lwi_momenta_of_speeds(model, &d->momenta, &d->tree, x + model->tree_nq);
    from_links(model, &d->tree, x + model->tree_nq);
    return LW_OK;
}

double lwi_hdca_kappa(const lwi_work *work)
{
    return ((const hdca *)work->data)->gauge.kappa;
}

const lwi_closed *lwi_hdca_closed(const lwi_work *work)
{
    return &((const hdca *)work->data)->closed;
}

// p of velocities that miss the loops makes those nearest to them in kinetic energy that do not:
// the momenta kept are of these.
static lw_status enter(lwi_work *work, const lwi_moment *moment, double *x)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    if (!work->goes_on) d->closed.watch.begun = false;
    lwi_tree_enter(model, moment, x, d->u);
    memcpy(d->closed.q, moment->q, (size_t)model->nq * sizeof *moment->q);
    lwi_carried_store(model, &d->carried, moment->q, x);
    place(d, moment->t, x);
    lwi_tree_velocity(model, d->tree.link, d->u, d->tree.V);
    lwi_momenta_of_speeds(model, &d->momenta, &d->tree, x + model->tree_nq);
    from_links(model, &d->tree, x + model->tree_nq);
    return d->closed.nrow ? lwi_hdca_reset(work, moment->t, x) : LW_OK;
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_moment *moment)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    TRY(find_speeds(work, t, x));
    moment->work = model->carries_work ? x[model->tree_nq + model->tree_nv] : 0;
    if (level >= LW_OBSERVE_ACCELERATION) {
        lwi_closed_forces(&d->closed, t, inputs);
        TRY(lwi_closed_accelerations(&d->closed, t, &d->closed.loads, &work->error));
    }
    lwi_closed_observe(&d->closed, t, level, moment);
    return LW_OK;
}

// Momenta are measured as those of the open tree, by the inertia that their joint feels; about
// world axes by the largest of the three.
static lw_status scale(lwi_work *work, double t, const double *x, double *factor)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    double *inertia = factor + model->tree_nq;
    for (int i = 0; i < work->layout.nx; i++) factor[i] = 1;
    TRY(find_speeds(work, t, x));
    if (model->carries_work) inertia[model->tree_nv] = lwi_tree_energy_scale(model, &d->tree);
    TRY(lwi_momenta_scale(model, &d->momenta, &d->tree, t, d->p, d->u, inertia, &work->error));
    for (int k = 0; k < model->nnode; k++) {
        if (!is_free(&model->node[k])) continue;
        for (double *own = inertia + model->node[k].iv, *end = own + 6; own < end; own += 3)
            own[0] = own[1] = own[2] = fmax(own[0], fmax(own[1], own[2]));
    }
    return LW_OK;
}

static void about(const lwi_work *work, char *text, size_t size)
{
    const hdca *d = work->data;
    text[0] = 0;
    if (d->ncut) lwi_gauge_about(&d->gauge, text, size);
}

static void notice(const lwi_work *work, char *text, size_t size)
{
    lwi_closed_notice(&((const hdca *)work->data)->closed, text, size);
}

const lwi_formulation lwi_formulation_hdca = {
    .name = "hdca",
    .summary =
        "joint momenta of a spanning tree, velocities and impulses by assembly; linear in the "
        "number of bodies; trees, loops, couplings, redundant constraints",
    .cite = "chadaj2017",
    .can = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_HAS_PLAN,
    .accepts = lwi_closed_accepts,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .observe = observe,
    .scale = scale,
    .about = about,
    .notice = notice,
    .release = release,
};
