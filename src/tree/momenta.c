// momenta.c -- forward dynamics of trees with joint momenta as state                   [naudet2003]
//
// Input: state x = (q, p, [w]), forces.  Output: xdot = (N(q) u, pdot, [power]); w is the work less the sum of
// P . sigma, see "work of prescribed motions".  Cost: O(n).
// Numbers (n) are those of [naudet2003]; docs/theory/equations.md is the index.  The paper's spatial velocity
// Omega is V here, its mass matrix M of a body is I, its joint matrix E_j is S, its Omega_t is sigma, its shift
// T^F is X' with the rotation (24).  Everything is in link frames about their origins, linear part first.
//
//   velocity               V  = X V_parent + S u + sigma                                 (13), (23)
//   momentum of a body     P  = I V                                                            (11)
//   momentum of a subtree  P* = I V + sum X' P*_child                                          (26)
//   joint momenta          p  = S' P* = dT/du                                      (19), (29)-(34)
//   wrench on a subtree    T* = T + sum X' T*_child                                            (27)
//   balance of a subtree   P*dot + V x* P* = T* + reaction                               (17), (28)
//   rates                  pdot = S' (T* - V x* P*) + Sdot' P* + Q                             (35)
//
// The speeds follow from the momenta by P* = M* V + D on every body (42).  With v = X V_parent + sigma:
//
//   inward    U = M* S    M_j = S' U    pi = p - S' D                                    (38), (46)
//             M' = M* - U M_j^-1 U'     D' = D + U M_j^-1 pi             (40), (41), (47), (48)
//             M*_parent += X' M' X      D_parent += X' (M' sigma + D')                   (43), (44)
//   outward   u = M_j^-1 (pi - U' v)    V = v + S u    P* = M' v + D'              (37), (39), (45)
//
// (35) assumes the Newton-Euler equations and ideal joints (S' reaction = Q) only, so it holds for any choice of
// speeds, also body-fixed angular velocities; p is then not canonical.
// Wrenches may depend on velocities: T* is summed in an inward sweep after V is known, where (35) is evaluated
// too.  The number of operations is that of the paper's two sweeps.
//
// A rotor of inertia I_r rotates at u and contributes to p only: p = S' P* + I_r u, M_j = S' U + I_r.  pdot is
// unchanged, since I_r udot appears on both sides.
//
// With M_j = L L' (Cholesky), Y = L^-1 U', z = L^-1 pi the updates M' = M* - Y' Y, D' = D + Y' z keep M' exactly
// symmetric.  A joint without free speeds (driven, fixed) has M' = M*.
#include "tree/momenta.h"

#include "base/assert.h"
#include "kinematics/formulation.h"
#include "tree/articulated.h"
#include "tree/batch_evaluator.h"
#include "tree/body_forces.h"
#include "tree/kernel.h"
#include "tree/lost_digits.h"
#include "spatial/motion.h"

lw_status lwi_momenta_create(const lw_model *model, lwi_arena *arena, lwi_momenta *momenta)
{
    const size_t n = (size_t)model->nnode;
    momenta->node = LWI_PUSH(arena, lwi_momenta_node, n);
    momenta->P = lwi_arena_push(arena, n, sizeof *momenta->P);
    momenta->T = lwi_arena_push(arena, n, sizeof *momenta->T);
    return momenta->node && momenta->P && momenta->T ? LW_OK : LW_ERR_MEMORY;
}

// ---------------------------------------------------------------------------- momenta from speeds

// P = I V (11), P* (26), p = S' P* (19), (30), (34)
void lwi_momenta_of_speeds(const lw_model *model, lwi_momenta *m, const lwi_tree_work *work,
                           const double *v, double *p)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *n = &model->node[k];
        inertia_mul(m->P[k], n->mass, n->h, n->J, work->V[k]);
    }
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *n = &model->node[k];
        const lwi_link *link = &work->link[k];
        for (int j = 0; j < n->nv; j++) { // (34)
            const int i = n->iv + j;
            p[i] = v6_dot(link->S[j], m->P[k]) + model->tree_rotor[i] * v[i];
        }
        if (n->parent < 0) continue;
        force_add_from(m->P[n->parent], link->R, link->r, m->P[k]); // (26)
    }
}

// ---------------------------------------------------------------------------- speeds from momenta

// Eliminates the joint of node k: M*, D become M', D'.                            (46), (47), (48)
static lw_status reduce(const lw_model *model, const lwi_tree_work *work, int k, double t,
                        const double *p, lwi_momenta_node *s, lw_error *error)
{
    const int nv = model->node[k].nv;
    const lwi_link *link = &work->link[k];
    LWI_ASSERT(nv >= 0 && nv <= 6);
    for (int j = 0; j < nv; j++) {
        inertia_apply(s->Y[j], &s->M, link->S[j]); // U, in place of Y
        s->z[j] = p[j] - v6_dot(link->S[j], s->D); // pi
    }
    TRY(lwi_tree_factor(model, work, k, t, &s->M, s->Y, model->tree_rotor + model->node[k].iv, s->L,
                        error));
    articulated_reduce(nv, s->L, s->Y, &s->M, s->Y); // Y = L^-1 U', M' = M* - Y'Y       (47)
    cholesky6_forward(s->L, nv, s->z);               // z = L^-1 pi
    for (int j = 0; j < nv; j++) v6_axpy(s->D, s->z[j], s->Y[j]); // (48)
    return LW_OK;
}

// Adds M' and D' of node k to its parent's M* and D.                                (43), (44)
static void pass_inward(const lwi_node *n, const lwi_link *link, const lwi_momenta_node *s,
                        lwi_momenta_node *parent)
{
    double D[6];
    inertia_add_from(&parent->M, link->R, link->r, &s->M);
    v6_copy(D, s->D);
    if (n->driven) {
        double P[6];
        inertia_apply(P, &s->M, link->sigma);
        v6_add(D, D, P);
    }
    force_add_from(parent->D, link->R, link->r, D);
}

// v = X V_parent + sigma: velocity without the joint's own speeds.       (13), (23), (36)
static void velocity_before(const lwi_node *n, const lwi_tree_work *work, int k, double v[6])
{
    const lwi_link *link = &work->link[k];
    if (n->parent < 0)
        v6_zero(v);
    else
        motion_to(v, link->R, link->r, work->V[n->parent]);
    if (n->driven) v6_add(v, v, link->sigma);
}

// u = L'^-1 (z - Y a): speeds for a = v, accelerations for a = X A_parent + c.      (37), (45)
static void joint_solution(int nv, lwi_momenta_node *s, const double z[6], const double a[6],
                           double *u)
{
    LWI_ASSERT(nv >= 0 && nv <= 6);
    for (int j = 0; j < nv; j++) u[j] = z[j] - v6_dot(s->Y[j], a);
    cholesky6_backward(s->L, nv, u);
}

typedef struct sweep {
    const lw_model *model;
    lwi_momenta *m;
    lwi_tree_work *work;
    double t;
    const double *p, *tau; // of speeds and of accelerations
    double *v, *vdot;
    bool alone; // one thread, which says why it fails
    lw_status status;
    lw_error *error;
} sweep;

static void start_nodes(void *user, int first, int end)
{
    const sweep *of = user;
    for (int k = first; k < end; k++) {
        const lwi_node *n = &of->model->node[k];
        lwi_momenta_node *s = &of->m->node[k];
        inertia_rigid(&s->M, n->mass, n->h, n->J);
        v6_zero(s->D);
    }
}

static void give_inward(void *user, int k)
{
    const sweep *of = user;
    const lwi_node *n = &of->model->node[k];
    if (n->parent < 0) return;
    pass_inward(n, &of->work->link[k], &of->m->node[k], &of->m->node[n->parent]);
}

static bool sweep_inward(void *user, int first, int end)
{
    sweep *of = user;
    for (int k = end - 1; k >= first; k--) {
        const lw_status status =
            reduce(of->model, of->work, k, of->t, of->p + of->model->node[k].iv, &of->m->node[k],
                   of->alone ? of->error : NULL);
        if (of->alone) of->status = status;
        if (status != LW_OK) return false;
        if (k > first) give_inward(of, k);
    }
    return true;
}

static void sweep_outward(void *user, int first, int end)
{
    const sweep *of = user;
    for (int k = first; k < end; k++) {
        const lwi_node *n = &of->model->node[k];
        const lwi_link *link = &of->work->link[k];
        lwi_momenta_node *s = &of->m->node[k];
        double before[6], *V = of->work->V[k], *P = of->m->P[k], *v = of->v + n->iv;
        LWI_ASSERT(n->parent < k); // its velocity is known
        velocity_before(n, of->work, k, before);
        joint_solution(n->nv, s, s->z, before, v);
        v6_copy(V, before);
        for (int j = 0; j < n->nv; j++) v6_axpy(V, v[j], link->S[j]);
        inertia_apply(P, &s->M, before); // P* = M' v + D'   (39)
        v6_add(P, P, s->D);
    }
}

// Speeds, V and P* = M* V + D from p: the function G2 of (9).           (36)-(39), (42)-(48)
lw_status lwi_momenta_speeds(const lw_model *model, lwi_momenta *m, lwi_tree_work *work, double t,
                             const double *p, double *v, lw_error *error)
{
    sweep of = {.model = model, .m = m, .work = work, .t = t, .p = p, .v = v, .error = error};
    const lwi_inward inward = {sweep_inward, give_inward};
    if (!lwi_subtrees_inward_from(work->subtrees, work->pool, model, start_nodes, inward, &of.alone,
                                  &of))
        return of.status;
    lwi_subtrees_outward(work->subtrees, model, sweep_outward, &of);
    return lwi_tree_finite(model, t, v, "speed", error);
}

// -------------------------------------------------------------------------------- rates of momenta

void lwi_momenta_own_wrench(const lw_model *model, lwi_momenta *m, const lwi_tree_work *work, int k)
{
    const lwi_node *n = &model->node[k];
    double *T = m->T[k];
    v6_copy(T, work->wrench[k]);
    v3_axpy(T, n->mass, work->g[k]);
    v3_cross_add(T + 3, n->h, work->g[k]);
}

void lwi_momenta_node_rates(const lw_model *model, const lwi_momenta *m, const lwi_tree_work *work,
                            int k, const double *tau, double *pdot)
{
    const lwi_node *n = &model->node[k];
    const lwi_link *link = &work->link[k];
    LWI_ASSERT(n->parent < k && n->iv + n->nv <= model->tree_nv);
    const bool still = n->type->constant_axis && !n->driven; // a moving mount may move the axis
    double balance[6];                                       // T* - V x* P*
    force_cross(balance, work->V[k], m->P[k]);
    for (int i = 0; i < 6; i++) balance[i] = m->T[k][i] - balance[i];
    for (int j = 0; j < n->nv; j++) { // (35)
        const int i = n->iv + j;
        pdot[i] = v6_dot(link->S[j], balance) + work->effort[i] + (tau ? tau[i] : 0);
        if (!still) pdot[i] += v6_dot(link->Sdot[j], m->P[k]);
    }
}

// pdot: the function G1 of (9).                                                    (27), (35)
void lwi_momenta_rates(const lw_model *model, lwi_momenta *m, lwi_tree_work *work,
                       const double *tau, double *pdot)
{
    lwi_tree_gravity(model, work);
    for (int k = 0; k < model->nnode; k++) lwi_momenta_own_wrench(model, m, work, k);
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        const lwi_link *link = &work->link[k];
        lwi_momenta_node_rates(model, m, work, k, tau, pdot);
        if (parent >= 0) force_add_from(m->T[parent], link->R, link->r, m->T[k]); // (27)
    }
}

// --------------------------------------------------------------------- work of prescribed motions
//
// A joint transmits F = Pdot + V x* P - T (28), so the power of its drives and mount is
//
//     F . sigma = d/dt (P . sigma) - P . sigma_dot + (V x* P - T) . sigma
//
// The state has the work less the sum of P . sigma.  It is the work against which the Hamiltonian is balanced:
// T + V - H is that sum.  Its rate has no acceleration of a body; of the prescribed motions it has the second
// derivatives, which change nothing but this work.

double lwi_momenta_prescribed(const lw_model *model, const lwi_momenta *m,
                              const lwi_tree_work *work)
{
    double sum = 0;
    for (int k = 0; model->driven && k < model->nnode; k++)
        if (model->node[k].driven) sum += v6_dot(m->P[k], work->link[k].sigma);
    return sum;
}

double lwi_momenta_prescribed_rate(const lw_model *model, const lwi_momenta *m,
                                   const lwi_tree_work *work)
{
    double power = 0;
    for (int k = 0; model->driven && k < model->nnode; k++) {
        double F[6]; // F - Pdot
        if (!model->node[k].driven) continue;
        force_cross(F, work->V[k], m->P[k]);
        v6_axpy(F, -1, m->T[k]);
        power += lwi_tree_drive_power(model, k, work, F) - v6_dot(m->P[k], work->link[k].sigma_dot);
    }
    return power;
}

// ------------------------------------------------------------------------------- accelerations
//
// Not in the paper.  The articulated inertias of velocities and accelerations are the same, so one vector pass
// with the factors of lwi_momenta_speeds gives the accelerations:
//
//   c = V x (S u + sigma) + Sdot u + sigma_dot
//   inward    b = V x* I V - T + sum X' (b' + M' c)       y = Q - S' b     b' = b + U M_j^-1 y
//   outward   a = X A_parent + c    udot = M_j^-1 (y - U' a)    A = a + S udot    F = M' a + b'
//
// F is the wrench that the joint transmits: M* A + b = F, S' F = Q.  Gravity is an acceleration -g of the ground.
// Second derivatives of drives and mounts enter in sigma_dot.

static void pass_bias_inward(const lwi_link *link, const lwi_momenta_node *s,
                             lwi_momenta_node *parent)
{
    double b[6];
    inertia_apply(b, &s->M, s->c);
    v6_add(b, b, s->b);
    force_add_from(parent->b, link->R, link->r, b);
}

// b and c of each body alone.
static void start_bias(void *user, int first, int end)
{
    const sweep *of = user;
    for (int k = first; k < end; k++) {
        const lwi_node *n = &of->model->node[k];
        const double *V = of->work->V[k];
        double P[6], *b = of->m->node[k].b;
        inertia_mul(P, n->mass, n->h, n->J, V);
        force_cross(b, V, P);
        v6_axpy(b, -1, of->work->wrench[k]);
        lwi_tree_bias(of->model, k, of->work, of->v, of->m->node[k].c);
    }
}

static void give_bias(void *user, int k)
{
    const sweep *of = user;
    const int parent = of->model->node[k].parent;
    if (parent >= 0) pass_bias_inward(&of->work->link[k], &of->m->node[k], &of->m->node[parent]);
}

static bool bias_inward(void *user, int first, int end)
{
    const sweep *of = user;
    for (int k = end - 1; k >= first; k--) {
        const lwi_node *n = &of->model->node[k];
        lwi_momenta_node *s = &of->m->node[k];
        for (int j = 0; j < n->nv; j++) {
            const int i = n->iv + j;
            s->y[j] = of->work->effort[i] + (of->tau ? of->tau[i] : 0) -
                      v6_dot(of->work->link[k].S[j], s->b);
        }
        cholesky6_forward(s->L, n->nv, s->y);
        for (int j = 0; j < n->nv; j++) v6_axpy(s->b, s->y[j], s->Y[j]);
        if (k > first) give_bias(user, k);
    }
    return true;
}

static void accelerations_outward(void *user, int first, int end)
{
    const sweep *of = user;
    const double *g = of->model->gravity;
    const double ground[6] = {-g[0], -g[1], -g[2], 0, 0, 0};
    for (int k = first; k < end; k++) {
        const lwi_node *n = &of->model->node[k];
        const lwi_link *link = &of->work->link[k];
        lwi_momenta_node *s = &of->m->node[k];
        double *A = of->work->A[k], *F = of->work->F[k], *vdot = of->vdot + n->iv;
        motion_to(A, link->R, link->r, n->parent < 0 ? ground : of->work->A[n->parent]);
        v6_add(A, A, s->c); // a
        joint_solution(n->nv, s, s->y, A, vdot);
        inertia_apply(F, &s->M, A);
        v6_add(F, F, s->b);
        for (int j = 0; j < n->nv; j++) v6_axpy(A, vdot[j], link->S[j]);
    }
}

void lwi_momenta_accelerations(const lw_model *model, lwi_momenta *m, lwi_tree_work *work,
                               const double *v, const double *tau, double *vdot)
{
    sweep of = {.model = model, .m = m, .work = work, .tau = tau, .v = (double *)v, .vdot = vdot};
    lwi_pool_for(work->pool, model->nnode, start_bias, &of);
    lwi_subtrees_inward(work->subtrees, model, (lwi_inward){bias_inward, give_bias}, &of);
    lwi_subtrees_outward(work->subtrees, model, accelerations_outward, &of);
}

// ------------------------------------------------------------------------------------------- scale

// The diagonal of M_j = L L'.
lw_status lwi_momenta_scale(const lw_model *model, lwi_momenta *m, lwi_tree_work *work, double t,
                            const double *p, double *v, double *inertia, lw_error *error)
{
    TRY(lwi_momenta_speeds(model, m, work, t, p, v, error));
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *n = &model->node[k];
        const lwi_momenta_node *s = &m->node[k];
        for (int j = 0; j < n->nv; j++) {
            LWI_ASSERT(s->L[j][j] > 0);
            double sum = 1 / (s->L[j][j] * s->L[j][j]);
            for (int i = 0; i < j; i++) sum += s->L[j][i] * s->L[j][i];
            inertia[n->iv + j] = sum;
        }
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------- formulation

typedef struct momenta_data {
    lwi_tree_work tree;
    lwi_momenta momenta;
    double *v, *vdot;             // [tree_nv]
    lwi_kernel *kernel;           // NULL: always the generic recursion above
    lwi_body_forces *body_forces; // NULL: all forces act along joints
    lwi_pool *pool;               // NULL: one thread
    lwi_lost_digits digits;
} momenta_data;

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    momenta_data *d = LWI_PUSH(&work->arena, momenta_data, 1);
    if (!d) return LW_ERR_MEMORY;
    d->v = LWI_PUSH(&work->arena, double, model->tree_nv);
    d->vdot = LWI_PUSH(&work->arena, double, model->tree_nv);
    if (!d->v || !d->vdot) return LW_ERR_MEMORY;
    TRY(lwi_tree_work_create(model, &work->arena, &d->tree));
    d->tree.mode = &work->mode;
    d->tree.states = &work->states;
    TRY(lwi_momenta_create(model, &work->arena, &d->momenta));
    if (work->lanes != LWI_NO_KERNEL)
        TRY(lwi_kernel_create_prescribed(model, work->lanes, &work->arena, &d->kernel));
    if (d->kernel) TRY(lwi_body_forces_create(model, &work->arena, &d->body_forces));
    const int threads = work->options ? (int)work->options->threads : 1;
    if (d->kernel)
        TRY(lwi_kernel_threads(d->kernel, threads, &work->arena, &d->pool, &work->error));
    work->threads = d->pool != NULL;
    d->tree.pool = d->pool;
    TRY(lwi_subtrees_create(model, d->pool, &work->arena, &d->tree.subtrees));
    TRY(lwi_force_shares_create(model, d->pool, &work->arena, &d->tree.shares));
    LWI_ASSERT(model->nloop == 0 && model->ncoupling == 0);
    work->data = d;
    TRY(lwi_tree_layout(model, &work->arena, LWI_MOMENTUM, &work->layout));
    lwi_states_layout(model, &work->layout);
    return lwi_lost_digits_create(work, &d->digits);
}

static void release(lwi_work *work)
{
    momenta_data *d = work->data;
    if (d) lwi_pool_destroy(d->pool);
}

static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    const lw_model *model = work->model;
    momenta_data *d = work->data;
    lwi_tree_enter(model, snapshot, x, d->v);
    lwi_states_enter(work, snapshot, x);
    lwi_tree_position(model, snapshot->t, x, d->tree.link);
    lwi_tree_velocity(model, d->tree.link, d->v, d->tree.V);
    lwi_momenta_of_speeds(model, &d->momenta, &d->tree, d->v, x + model->tree_nq);
    if (model->driven)
        x[model->tree_nq + model->tree_nv] -= lwi_momenta_prescribed(model, &d->momenta, &d->tree);
    return LW_OK;
}

// Links, speeds, velocities at (t, x).
static lw_status find_speeds(lwi_work *work, double t, const double *x)
{
    momenta_data *d = work->data;
    lwi_tree_place(work->model, &d->tree, t, x);
    return lwi_momenta_speeds(work->model, &d->momenta, &d->tree, t, x + work->model->tree_nq, d->v,
                              &work->error);
}

// Loads at the speeds that the kernel has found.
static void kernel_loads(momenta_data *d, const lw_model *model, double t, const double *q,
                         const double *inputs)
{
    lwi_kernel *kernel = d->kernel;
    lwi_tree_work *tree = &d->tree;
    if (model->nforce) lwi_kernel_driven_joints(kernel, tree->joint_q, tree->joint_qd);
    if (d->body_forces) lwi_body_forces_place(d->body_forces, q, d->v, kernel->drive, tree);
    lwi_tree_joint_loads(model, tree, t, q, d->v, inputs);
    if (d->body_forces) lwi_body_forces_efforts(d->body_forces, kernel->drive, tree);
}

// The rates by the kernel; false if the generic recursion has to decide.
static bool kernel_rates(lwi_work *work, double t, const double *x, const double *inputs,
                         double *xdot)
{
    const lw_model *model = work->model;
    momenta_data *d = work->data;
    double *pdot = xdot + model->tree_nq;
    lwi_kernel_prescribe(d->kernel, t);
    if (!lwi_kernel_momenta(d->kernel, x, x + model->tree_nq, d->v, pdot)) return false;
    kernel_loads(d, model, t, x, inputs);
    if (model->nforce > 0)
        for (int i = 0; i < model->tree_nv; i++) pdot[i] += d->tree.effort[i];
    lwi_tree_kinematics_shared(model, d->pool, x, d->v, xdot);
    if (model->carries_work)
        pdot[model->tree_nv] =
            d->tree.power + lwi_kernel_prescribed_rate(d->kernel, d->tree.loads.effort);
    return model->nforce == 0 || lwi_tree_finite(model, t, pdot, "rate of momentum", NULL) == LW_OK;
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    momenta_data *d = work->data;
    lwi_states_set(work, x, xdot);
    if (d->kernel && kernel_rates(work, t, x, inputs, xdot)) return LW_OK;
    TRY(find_speeds(work, t, x));
    lwi_tree_rates(model, t, d->v, d->tree.link);
    lwi_tree_loads(model, &d->tree, t, d->v, inputs);
    lwi_tree_kinematics(model, d->tree.link, d->v, xdot);
    lwi_momenta_rates(model, &d->momenta, &d->tree, NULL, xdot + model->tree_nq);
    if (model->carries_work)
        xdot[model->tree_nq + model->tree_nv] =
            d->tree.power + lwi_momenta_prescribed_rate(model, &d->momenta, &d->tree);
    return lwi_tree_finite(model, t, xdot + model->tree_nq, "rate of momentum", &work->error);
}

// Speeds by the kernel; false if the generic recursion has to decide.  In long chains and with very different masses its
// accelerations have more digits than the kernel's.
static bool kernel_speeds(lwi_work *work, double t, const double *x, lw_observe level)
{
    const lw_model *model = work->model;
    momenta_data *d = work->data;
    if (!d->kernel || model->driven) return false; // P of drives is asked for
    if (level >= LW_OBSERVE_ACCELERATION) return false;
    lwi_kernel_prescribe(d->kernel, t);
    return lwi_kernel_momenta(d->kernel, x, x + model->tree_nq, d->v, d->vdot);
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    const lw_model *model = work->model;
    momenta_data *d = work->data;
    lwi_states_observe(work, x, snapshot);
    if (kernel_speeds(work, t, x, level)) {
        lwi_tree_evaluate(model, &d->tree, t, x, d->v, inputs);
    } else {
        TRY(find_speeds(work, t, x));
        lwi_tree_evaluate_placed(model, &d->tree, t, d->v, inputs);
    }
    if (level >= LW_OBSERVE_ACCELERATION)
        lwi_momenta_accelerations(model, &d->momenta, &d->tree, d->v, NULL, d->vdot);
    lwi_tree_observe(model, &d->tree, t, d->v, d->vdot, level, snapshot);
    snapshot->work = model->carries_work ? x[model->tree_nq + model->tree_nv] +
                                               lwi_momenta_prescribed(model, &d->momenta, &d->tree)
                                         : 0;
    return LW_OK;
}

static lw_status scale(lwi_work *work, double t, const double *x, double *factor)
{
    const lw_model *model = work->model;
    momenta_data *d = work->data;
    lwi_tree_position(model, t, x, d->tree.link);
    for (int i = 0; i < model->tree_nq; i++) factor[i] = 1;
    TRY(lwi_momenta_scale(model, &d->momenta, &d->tree, t, x + model->tree_nq, d->v,
                          factor + model->tree_nq, &work->error));
    if (model->carries_work)
        factor[model->tree_nq + model->tree_nv] = lwi_tree_energy_scale(model, &d->tree);
    for (int i = work->layout.nx - model->nstate; i < work->layout.nx; i++) factor[i] = 1;
    return LW_OK;
}

// Errors of the speeds of `rates`, by the recursion with all inertias and momenta times three.
static double lost_digits(lwi_work *work, double t, const double *x, const double *inputs)
{
    const lw_model *model = work->model;
    momenta_data *d = work->data;
    const lwi_lost_digits *digits = &d->digits;
    if (!digits->tripled) return 0;
    if (rates(work, t, x, inputs, digits->xdot) != LW_OK) return 0;
    for (int i = 0; i < model->tree_nv; i++) digits->tripled_p[i] = 3 * x[model->tree_nq + i];
    lwi_tree_place(model, &d->tree, t, x);
    if (lwi_momenta_speeds(digits->tripled, &d->momenta, &d->tree, t, digits->tripled_p, digits->v,
                           NULL) != LW_OK)
        return 0;
    const double lost = lwi_motion_difference(model, d->tree.link, d->v, digits->v, 0, d->tree.V);
    return isfinite(lost) ? lost : 0;
}

const lwi_formulation lwi_formulation_momenta = {
    .name = "momenta",
    .summary = "joint momenta of open trees, recursive, linear in the number of bodies",
    .cite = "naudet2003",
    .flags = LWI_CAN_ROTORS | LWI_HAS_THREADS | LWI_HAS_MOMENTA,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .rates_in_lanes = lwi_tree_batch_momenta,
    .observe = observe,
    .scale = scale,
    .lost_digits = lost_digits,
    .release = release,
};
