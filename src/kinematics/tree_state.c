// tree_state.c -- evaluation of a tree with its forces, and snapshots from tree coordinates.
#include "kinematics/tree_state.h"

#include "base/assert.h"
#include "base/simd/lanes.h"

#include "kinematics/kernels.h"
#include "spatial/rotation.h"

// ---------------------------------------------------------------------------------------- creation

lw_status lwi_tree_work_create(const lw_model *model, lwi_arena *arena, lwi_tree_work *work)
{
    *work = (lwi_tree_work){0};
    const size_t nnode = (size_t)model->nnode, nbody = (size_t)model->nbody;
    work->link = LWI_PUSH(arena, lwi_link, nnode);
    work->V = lwi_arena_push(arena, nnode, sizeof *work->V);
    work->g = lwi_arena_push(arena, nnode, sizeof *work->g);
    work->A = lwi_arena_push(arena, nnode, sizeof *work->A);
    work->F = lwi_arena_push(arena, nnode, sizeof *work->F);
    work->wrench = lwi_arena_push(arena, nnode, sizeof *work->wrench);
    work->effort = LWI_PUSH(arena, double, model->tree_nv);
    work->R = lwi_arena_push(arena, nnode, sizeof *work->R);
    work->r = lwi_arena_push(arena, nnode, sizeof *work->r);
    work->body_R = lwi_arena_push(arena, nbody, sizeof *work->body_R);
    work->body_r = lwi_arena_push(arena, nbody, sizeof *work->body_r);
    work->body_v = lwi_arena_push(arena, nbody, sizeof *work->body_v);
    work->body_w = lwi_arena_push(arena, nbody, sizeof *work->body_w);
    work->joint_q = LWI_PUSH(arena, double, model->nq);
    work->joint_qd = LWI_PUSH(arena, double, model->nv);
    work->loads.wrench = lwi_arena_push(arena, nbody, sizeof *work->loads.wrench);
    work->loads.effort = LWI_PUSH(arena, double, model->nv);
    work->size = lwi_arena_push(arena, nnode, sizeof *work->size);
    work->passes_on = lwi_arena_push(arena, nnode, sizeof *work->passes_on);
    work->child = LWI_PUSH(arena, int, nnode);
    work->sibling = LWI_PUSH(arena, int, nnode);
    if (!work->link || !work->V || !work->g || !work->A || !work->F || !work->wrench ||
        !work->effort || !work->R || !work->r || !work->body_R || !work->body_r || !work->body_v ||
        !work->body_w || !work->joint_q || !work->joint_qd || !work->loads.wrench ||
        !work->loads.effort || !work->size || !work->passes_on || !work->child || !work->sibling)
        return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++) work->child[k] = work->sibling[k] = -1;
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        if (parent < 0) continue;
        work->sibling[k] = work->child[parent];
        work->child[parent] = k;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- loads

typedef struct tree_job {
    const lw_model *model;
    lwi_tree_work *work;
    const double *q, *v;
} tree_job;

// Calls range for all nodes, on the threads of the loads.
static void for_nodes(tree_job of, void (*range)(void *user, int first, int end))
{
    lwi_pool_for(of.work->shares ? of.work->shares->pool : NULL, of.model->nnode, range, &of);
}

// Forces on bodies, world axes about the mass centre, become wrenches on nodes.
static void wrenches_to_links(void *user, int first, int end)
{
    const tree_job *of = user;
    const lw_model *model = of->model;
    lwi_tree_work *work = of->work;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        const double *load = work->loads.wrench[node->body];
        double *wrench = work->wrench[k];
        m3_tmul_v(wrench, work->R[k], load);
        m3_tmul_v(wrench + 3, work->R[k], load + 3);
        v3_cross_add(wrench + 3, node->c_r, wrench);
    }
}

static void efforts_of_nodes(void *user, int first, int end)
{
    const tree_job *of = user;
    const lw_model *model = of->model;
    lwi_tree_work *work = of->work;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        const double *own =
            node->joint < 0 ? NULL : work->loads.effort + model->joint[node->joint].iv;
        for (int j = 0; j < node->nv; j++) {
            const int i = node->iv + j;
            work->effort[i] = (own ? own[node->column[j]] : 0) + (work->added ? work->added[i] : 0);
        }
    }
}

// The same where no force acts: the loads are zero.
static void take_added(const lw_model *model, lwi_tree_work *work)
{
    if (!work->added) return;
    for (int i = 0; i < model->tree_nv; i++) work->effort[i] = 0 + work->added[i]; // never -0
}

static void efforts_to_speeds(const lw_model *model, lwi_tree_work *work)
{
    for_nodes((tree_job){.model = model, .work = work}, efforts_of_nodes);
}

lwi_kin lwi_tree_kin(const lwi_tree_work *work)
{
    return (lwi_kin){.R = (const double(*)[9])work->body_R,
                     .r = (const double(*)[3])work->body_r,
                     .v = (const double(*)[3])work->body_v,
                     .w = (const double(*)[3])work->body_w,
                     .q = work->joint_q,
                     .qd = work->joint_qd,
                     .mode = work->mode ? *work->mode : NULL,
                     .tangent = work->tangent,
                     .states = work->states};
}

static void motion_of_joints(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_tree_work *work = of->work;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        if (node->joint < 0) continue;
        const lwi_joint *joint = &of->model->joint[node->joint];
        for (int i = 0; i < node->nq; i++)
            work->joint_q[joint->iq + (joint->ndriven ? node->column[i] : i)] = of->q[node->iq + i];
        for (int i = 0; i < node->nv; i++)
            work->joint_qd[joint->iv + node->column[i]] = of->v[node->iv + i];
    }
}

void lwi_tree_joint_motion(const lw_model *model, lwi_tree_work *work, const double *q,
                           const double *v)
{
    for_nodes((tree_job){model, work, q, v}, motion_of_joints);
}

void lwi_tree_apply(const lw_model *model, lwi_tree_work *work, double t, const double *inputs)
{
    const lwi_kin kin = lwi_tree_kin(work);
    if (work->shares) {
        lwi_force_shares_apply(work->shares, &kin, t, inputs, &work->loads);
    } else {
        lwi_forces_apply(model, &kin, t, inputs, &work->loads);
        if (model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST))
            lwi_loads_to_carriers(model, &kin, &work->loads);
    }
    work->power = work->loads.power;
    efforts_to_speeds(model, work);
}

void lwi_tree_joint_loads(const lw_model *model, lwi_tree_work *work, double t, const double *q,
                          const double *v, const double *inputs)
{
    work->power = 0;
    if (model->nforce == 0) { // the loads stay at zero
        take_added(model, work);
        return;
    }
    lwi_tree_joint_motion(model, work, q, v);
    lwi_tree_apply(model, work, t, inputs);
}

static bool acts_at_points(const lw_model *model)
{
    return (model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST)) != 0;
}

void lwi_tree_loads_placed(const lw_model *model, lwi_tree_work *work, double t,
                           const double *inputs)
{
    work->power = 0;
    if (model->nforce == 0) { // the loads stay at zero
        take_added(model, work);
        return;
    }
    lwi_tree_apply(model, work, t, inputs);
    if (acts_at_points(model))
        for_nodes((tree_job){.model = model, .work = work}, wrenches_to_links);
}

static void world_of_nodes(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_tree_world_of(of->model, of->work->link, first, end, of->work->R, of->work->r);
}

static void find_world(const lw_model *model, lwi_tree_work *work)
{
    tree_job of = {.model = model, .work = work};
    if (work->passes)
        lwi_tree_pass_world(work->passes, work->link, work->R, work->r);
    else
        lwi_subtrees_outward(work->subtrees, model, world_of_nodes, &of);
}

static void velocities_of_nodes(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_tree_velocity_of(of->model, of->work->link, first, end, of->v, of->work->V);
}

typedef struct rotation {
    const double (*R)[9], (*world)[6];
    double (*own)[6];
} rotation;

static void motions_to_links(void *user, int first, int end)
{
    const rotation *of = user;
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    if (kernels && kernels->links.to_links) {
        kernels->links.to_links(first, end, of->R, of->world, of->own);
        return;
    }
    for (int k = first; k < end; k++) {
        m3_tmul_v(of->own[k], of->R[k], of->world[k]);
        m3_tmul_v(of->own[k] + 3, of->R[k], of->world[k] + 3);
    }
}

static void to_links(const lw_model *model, const lwi_tree_work *work, double (*world)[6],
                     double (*own)[6])
{
    rotation of = {(const double(*)[9])work->R, (const double(*)[6])world, own};
    lwi_pool_for(work->pool, model->nnode, motions_to_links, &of);
}

void lwi_tree_sum_motions(const lw_model *model, lwi_tree_work *work, double (*X)[6],
                          double (*scratch)[6])
{
    lwi_tree_pass_motion(work->passes, (const double(*)[9])work->R, (const double(*)[3])work->r,
                         (const double(*)[6])X, scratch);
    to_links(model, work, scratch, X);
}

// By passes after the world frames.
static void find_velocities(const lw_model *model, lwi_tree_work *work, const double *v)
{
    tree_job of = {.model = model, .work = work, .v = v};
    if (!work->passes) {
        lwi_subtrees_outward(work->subtrees, model, velocities_of_nodes, &of);
        return;
    }
    lwi_tree_pass_velocity(work->passes, work->link, (const double(*)[9])work->R,
                           (const double(*)[3])work->r, v, work->A);
    to_links(model, work, work->A, work->V);
}

static void place_bodies(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_tree_work *work = of->work;
    for (int k = first; k < end; k++)
        lwi_tree_place_body(of->model, k, work->R[k], work->r[k], work->body_R, work->body_r);
    lwi_tree_body_velocities_of(of->model, (const double(*)[9])work->R, (const double(*)[6])work->V,
                                first, end, work->body_v, work->body_w);
}

static void place_joints(void *user, int first, int end)
{
    const tree_job *of = user;
    lwi_tree_work *work = of->work;
    lwi_tree_joints_of(of->model, work->link, first, end, of->v, work->joint_q, work->joint_qd);
}

static void place_bodies_and_joints(const lw_model *model, lwi_tree_work *work, const double *v)
{
    tree_job of = {.model = model, .work = work, .v = v};
    if (model->nforce > 0 && acts_at_points(model)) {
        if (!work->passes) find_world(model, work);
        lwi_pool_for(work->pool, model->nnode, place_bodies, &of);
        lwi_tree_other_bodies(model, (const double(*)[9])work->R, (const double(*)[6])work->V,
                              work->body_R, work->body_r, work->body_v, work->body_w);
    }
    if (model->nforce > 0) lwi_pool_for(work->pool, model->nnode, place_joints, &of);
}

void lwi_tree_motion(const lw_model *model, lwi_tree_work *work, double t, const double *q,
                     const double *v)
{
    lwi_tree_position(model, t, q, work->link);
    lwi_tree_rates(model, t, v, work->link);
    if (work->passes) find_world(model, work);
    find_velocities(model, work, v);
    place_bodies_and_joints(model, work, v);
}

void lwi_tree_loads(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                    const double *inputs)
{
    place_bodies_and_joints(model, work, v);
    lwi_tree_loads_placed(model, work, t, inputs);
}

typedef struct placing {
    const lw_model *model;
    lwi_link *link;
    double t;
    const double *q, *v;
} placing;

static void place_nodes(void *user, int first, int end)
{
    const placing *of = user;
    if (of->q)
        lwi_tree_links_of(of->model, of->t, first, end, of->q, of->v, of->link);
    else
        for (int k = first; k < end; k++)
            lwi_link_rates(of->model, k, of->t, of->v + of->model->node[k].iv, &of->link[k]);
}

void lwi_tree_place(const lw_model *model, lwi_tree_work *work, double t, const double *q)
{
    placing of = {model, work->link, t, q, NULL};
    lwi_pool_for(work->pool, model->nnode, place_nodes, &of);
}

static void move_and_load(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                          const double *inputs)
{
    if (work->passes) find_world(model, work);
    find_velocities(model, work, v);
    lwi_tree_loads(model, work, t, v, inputs);
}

void lwi_tree_evaluate_placed(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                              const double *inputs)
{
    placing of = {model, work->link, t, NULL, v};
    lwi_pool_for(work->pool, model->nnode, place_nodes, &of);
    move_and_load(model, work, t, v, inputs);
}

void lwi_tree_evaluate(const lw_model *model, lwi_tree_work *work, double t, const double *q,
                       const double *v, const double *inputs)
{
    placing of = {model, work->link, t, q, v};
    lwi_pool_for(work->pool, model->nnode, place_nodes, &of);
    move_and_load(model, work, t, v, inputs);
}

void lwi_tree_gravity(const lw_model *model, lwi_tree_work *work)
{
    for (int k = 0; k < model->nnode; k++) {
        const int parent = model->node[k].parent;
        m3_tmul_v(work->g[k], work->link[k].R, parent < 0 ? model->gravity : work->g[parent]);
    }
}

// ---------------------------------------------------------------------------------------- failures

static const char *node_name(const lw_model *model, int k)
{
    LWI_ASSERT_INDEX(k, model->nnode);
    const lwi_node *node = &model->node[k];
    return node->joint < 0 ? model->body[node->body].name : model->joint[node->joint].name;
}

static const char *node_kind(const lw_model *model, int k)
{
    return model->node[k].joint < 0 ? "floating body" : "joint";
}

// A bound of S'MS from the diagonal of the positive semidefinite M.
static double inertia_bound(const lwi_inertia *M, const double *S)
{
    return (M->A[0] + M->A[1] + M->A[2]) * v3_dot(S, S) +
           (M->C[0] + M->C[1] + M->C[2]) * v3_dot(S + 3, S + 3);
}

double lwi_tree_terms(const double diagonal[6], const double S[6])
{
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += fabs(S[i]) * sqrt(fmax(0, diagonal[i]));
    return sum * sum;
}

double lwi_tree_own_inertia(const lwi_node *node, const double S[6], double rotor)
{
    double P[6];
    inertia_mul(P, node->mass, node->h, node->J, S);
    return v6_dot(S, P) + rotor;
}

static const double *size_of(const lwi_tree_work *work, int k);

// Terms of S'MS that the children of node k contribute.  The release of their joints subtracts most of what these
// carry, and leaves its round-off.
static double terms_of_children(const lwi_tree_work *work, int k, const double S[6])
{
    double sum = 0;
    for (int c = work->child[k]; c >= 0; c = work->sibling[c]) {
        double T[6];
        motion_to(T, work->link[c].R, work->link[c].r, S);
        sum += lwi_tree_terms(size_of(work, c), T);
    }
    return sum;
}

// Notes the diagonal of M; without a joint to release, round-off from beyond is passed on, where it is asked for.
static void note_size(const lw_model *model, const lwi_tree_work *work, int k, const lwi_inertia *M)
{
    double *size = work->size[k];
    for (int i = 0; i < 3; i++) size[i] = M->A[i], size[3 + i] = M->C[i];
    work->passes_on[k] = model->node[k].nv == 0;
}

static const double *size_of(const lwi_tree_work *work, int k)
{
    double *size = work->size[k];
    for (int i = 0; i < 6 && work->passes_on[k]; i++) {
        double unit[6] = {0};
        unit[i] = 1;
        size[i] += terms_of_children(work, k, unit);
    }
    work->passes_on[k] = false;
    return size;
}

// Whether more than round-off is left of the pivot S'MS.  The bound by all of M is enough in most cases, but what a
// long chain or a load beyond adds to M in other directions is no part of S'MS.  A pivot is never below the inertia
// of the body itself.
static bool is_known(const lw_model *model, const lwi_tree_work *work, int k, const lwi_inertia *M,
                     const double S[6], double rotor, double pivot)
{
    if (pivot > LWI_PIVOT_UNKNOWN * inertia_bound(M, S)) return true;
    const double terms = lwi_tree_terms(size_of(work, k), S) + terms_of_children(work, k, S);
    const double own = lwi_tree_own_inertia(&model->node[k], S, rotor);
    return pivot > LWI_PIVOT_UNKNOWN * terms && own > LWI_PIVOT_UNKNOWN * terms;
}

lw_status lwi_tree_factor(const lw_model *model, const lwi_tree_work *work, int k, double t,
                          const lwi_inertia *M, double (*U)[6], const double *rotor, double (*L)[6],
                          lw_error *error)
{
    LWI_ASSERT_INDEX(k, model->nnode);
    const int n = model->node[k].nv;
    const double(*S)[6] = (const double(*)[6])work->link[k].S;
    int bad = -1;
    note_size(model, work, k, M);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) L[i][j] = v6_dot(S[i], U[j]);
        L[i][i] += rotor[i];
        if (!isfinite(L[i][i]))
            return lwi_fail(error, LW_ERR_NOT_FINITE,
                            "%s '%s': its position is not finite at t = %.9g s",
                            node_kind(model, k), node_name(model, k), t);
        if (bad < 0 && !is_known(model, work, k, M, S[i], rotor[i], L[i][i])) bad = i;
    }
    if (bad < 0) bad = cholesky6(L, n, LWI_PIVOT_UNKNOWN);
    if (bad < 0) return LW_OK;
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "%s '%s': nothing resists its speed %d at t = %.9g s: the bodies beyond it "
                    "have no inertia there",
                    node_kind(model, k), node_name(model, k), bad, t);
}

lw_status lwi_tree_finite(const lw_model *model, double t, const double *v, const char *what,
                          lw_error *error)
{
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    if (kernels && kernels->finite(v, model->tree_nv)) return LW_OK;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int j = 0; j < node->nv; j++)
            if (!isfinite(v[node->iv + j]))
                return lwi_fail(
                    error, LW_ERR_NOT_FINITE,
                    "%s '%s': component %d of its %s is not a finite number at t = %.9g s",
                    node_kind(model, k), node_name(model, k), node->column[j], what, t);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- state

static lwi_block_kind coordinate_kind(const lwi_node *node, int i)
{
    const int first = node->type->quaternion;
    return first >= 0 && i >= first && i < first + 4 ? LWI_QUATERNION : LWI_COORDINATE;
}

// Adds n components of a kind; neighbours of one kind form one block, except quaternions.
static void add_block(lwi_layout *layout, lwi_block_kind kind, int n)
{
    if (n == 0) return;
    lwi_block *last = layout->nblock > 0 ? &layout->block[layout->nblock - 1] : NULL;
    if (last && last->kind == kind && kind != LWI_QUATERNION)
        last->n += n;
    else
        layout->block[layout->nblock++] = (lwi_block){.kind = kind, .first = layout->nx, .n = n};
    layout->nx += n;
}

lw_status lwi_tree_layout(const lw_model *model, lwi_arena *arena, lwi_block_kind second,
                          lwi_layout *layout)
{
    LWI_ASSERT(second == LWI_SPEED || second == LWI_MOMENTUM);
    // at most two blocks of coordinates for a node, one of speeds, one of work, one of the caller's, one of
    // signals
    layout->block = LWI_PUSH(arena, lwi_block, 2 * model->nnode + 4);
    if (!layout->block) return LW_ERR_MEMORY;
    layout->nx = layout->nblock = 0;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        int plain = 0;
        while (plain < node->nq && coordinate_kind(node, plain) == LWI_COORDINATE) plain++;
        add_block(layout, LWI_COORDINATE, plain);
        add_block(layout, LWI_QUATERNION, node->nq - plain);
    }
    add_block(layout, second, model->tree_nv);
    if (model->carries_work) add_block(layout, LWI_WORK, 1);
    LWI_ASSERT(layout->nblock <= 2 * model->nnode + 2);
    return LW_OK;
}

void lwi_tree_kinematics(const lw_model *model, const lwi_link *link, const double *v, double *qdot)
{
    for (int k = 0; k < model->nnode; k++)
        lwi_link_kinematics(model, k, &link[k], v + model->node[k].iv, qdot + model->node[k].iq);
}

typedef struct kinematics {
    const lw_model *model;
    const double *q, *v;
    double *qdot;
} kinematics;

static void kinematics_of_nodes(void *user, int first, int end)
{
    const kinematics *of = user;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        const double *v = of->v + node->iv;
        double *qdot = of->qdot + node->iq;
        if (node->type->scalar)
            for (int i = 0; i < node->nq; i++) qdot[i] = v[i];
        else
            node->type->kinematics(node->par, of->q + node->iq, v, qdot);
    }
}

void lwi_tree_kinematics_free(const lw_model *model, const double *q, const double *v, double *qdot)
{
    lwi_tree_kinematics_shared(model, NULL, q, v, qdot);
}

void lwi_tree_kinematics_shared(const lw_model *model, lwi_pool *pool, const double *q,
                                const double *v, double *qdot)
{
    kinematics of = {model, q, v, qdot};
    lwi_pool_for(pool, model->nnode, kinematics_of_nodes, &of);
}

void lwi_tree_enter(const lw_model *model, const lwi_snapshot *snapshot, double *x, double *v)
{
    lwi_tree_gather(model, snapshot->q, snapshot->qd, (const double(*)[3])snapshot->r,
                    (const double(*)[4])snapshot->quat, (const double(*)[3])snapshot->v,
                    (const double(*)[3])snapshot->w, x, v);
    if (model->carries_work) x[model->tree_nq + model->tree_nv] = snapshot->work;
}

double lwi_tree_energy_scale(const lw_model *model, const lwi_tree_work *work)
{
    double mass = 0, kinetic = 0, P[6];
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        inertia_mul(P, node->mass, node->h, node->J, work->V[k]);
        kinetic += 0.5 * v6_dot(P, work->V[k]);
        mass += node->mass;
    }
    // one metre, and one metre per second: the units that the tolerances of q and u are given in
    const double unit = fmax(mass * v3_norm(model->gravity), mass);
    const double scale = fmax(kinetic, unit);
    return scale > 0 ? scale : 1;
}

// ----------------------------------------------------------------------------------------- observe

static void observe_twists(const lw_model *model, const lwi_tree_work *work, lwi_snapshot *snapshot)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        m3_tmul_v(snapshot->w[node->body], node->c_R, work->V[k] + 3);
    }
}

// a = g + R (A + al x c + w x (v + w x c)) of the mass centre c: A is the derivative of the
// components of V, in the falling frame.
static void observe_accelerations(const lw_model *model, const lwi_tree_work *work,
                                  lwi_snapshot *snapshot)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const double *A = work->A[k], *V = work->V[k];
        double a[3], vc[3];
        v3_cross(vc, V + 3, node->c_r);
        v3_add(vc, vc, V);
        v3_cross(a, A + 3, node->c_r);
        v3_cross_add(a, V + 3, vc);
        v3_add(a, a, A);
        m3_mul_v(a, work->R[k], a);
        v3_add(snapshot->a[node->body], a, model->gravity);
        m3_tmul_v(snapshot->al[node->body], node->c_R, A + 3);
    }
}

typedef struct observation {
    const lw_model *model;
    lwi_tree_work *work;
    const double *v, *vdot;
    const lwi_observe_kernels *kernels;
    bool accelerations, wrenches;
    lwi_snapshot *snapshot;
} observation;

static void observe_joint(const observation *of, int k)
{
    const lw_model *model = of->model;
    const lwi_node *node = &model->node[k];
    const lwi_joint *joint = &model->joint[node->joint];
    lwi_tree_joints_of(model, of->work->link, k, k + 1, of->v, of->snapshot->q, of->snapshot->qd);
    if (!of->accelerations) return;
    double *qdd = of->snapshot->qdd + joint->iv;
    if (joint->ndriven > 0)
        for (int i = 0; i < node->type->nv; i++) qdd[i] = of->work->link[k].drive[i][2];
    for (int j = 0; j < node->nv; j++) qdd[node->column[j]] = of->vdot[node->iv + j];
}

static void observe_joints(void *user, int first, int end)
{
    const observation *of = user;
    const lw_model *model = of->model;
    const lwi_link *link = of->work->link;
    const double *v = of->v, *vdot = of->accelerations ? of->vdot : NULL;
    double *q = of->snapshot->q, *qd = of->snapshot->qd, *qdd = of->snapshot->qdd;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        const int nv = node->nv;
        if (node->joint < 0) continue;
        if (node->nq != nv || nv == 0 || nv > 2 || node->driven) {
            observe_joint(of, k);
            continue;
        }
        const lwi_joint *joint = &model->joint[node->joint];
        const int iq = joint->iq, iv = joint->iv, own = node->iv;
        for (int i = 0; i < nv; i++) {
            q[iq + i] = link[k].q[i];
            qd[iv + i] = v[own + i];
            if (vdot) qdd[iv + i] = vdot[own + i];
        }
    }
}

// What the joint's own springs, dampers and signals transmit: sum of T_j effort_j, on F2 in its
// axes.
static void own_efforts(const lw_model *model, const lwi_tree_work *work, int k, double wrench[6])
{
    const lwi_node *node = &model->node[k];
    const double *effort = work->loads.effort + model->joint[node->joint].iv;
    double T[LW_JOINT_MAX_NV][6];
    v6_zero(wrench);
    if ((model->nforce == 0 && model->nrotor == 0) || node->type->nv == 0) return;
    node->type->effort(node->par, work->link[k].q, T);
    for (int i = 0; i < node->type->nv; i++) v6_axpy(wrench, effort[i], T[i]);
}

void lwi_tree_reaction(const lw_model *model, const lwi_tree_work *work, int k, double out[6])
{
    LWI_ASSERT_INDEX(k, model->nnode);
    LWI_ASSERT_INDEX(model->node[k].joint, model->njoint);
    const lwi_node *node = &model->node[k];
    double R2[9], own[6], F[6];
    own_efforts(model, work, k, own);
    if (!node->reversed) { // the node is body 2 and its link frame is F2
        for (int i = 0; i < 6; i++) F[i] = work->F[k][i] - own[i];
        m3_mul_v(out, work->R[k], F);
        m3_mul_v(out + 3, work->R[k], F + 3);
        return;
    }
    // F2 is on the parent, which gets the opposite wrench: from the link frame to the parent's,
    // from there to F2
    double on_parent[6];
    force_from(on_parent, work->link[k].R, work->link[k].r, work->F[k]);
    force_to(F, node->X_R, node->X_r, on_parent);
    for (int i = 0; i < 6; i++) F[i] = -F[i] - own[i];
    if (node->parent < 0)
        memcpy(R2, node->X_R, sizeof R2);
    else
        m3_mul(R2, work->R[node->parent], node->X_R);
    m3_mul_v(out, R2, F);
    m3_mul_v(out + 3, R2, F + 3);
}

// Rotors are efforts -I q'' of their joints, as springs are.
static void rotor_efforts(const lw_model *model, lwi_tree_work *work, const double *vdot)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint < 0) continue;
        double *effort = work->loads.effort + model->joint[node->joint].iv;
        for (int j = 0; j < node->nv; j++) {
            double *e = &effort[node->column[j]];
            const int i = node->iv + j;
            *e = (model->nforce ? *e : 0) - model->tree_rotor[i] * vdot[i];
        }
    }
}

// Nodes with reversed joints wait for the lanes.
typedef struct waiting_nodes {
    int n, node[LWI_LANES];
} waiting_nodes;

static void take_reaction(const observation *of, int k)
{
    lwi_tree_reaction(of->model, of->work, k, of->snapshot->reaction[of->model->node[k].joint]);
}

static void take_waiting(const observation *of, waiting_nodes *waiting)
{
    if (waiting->n == of->kernels->width)
        of->kernels->reversed_reactions(of->model, of->work, waiting->node, of->snapshot);
    else
        for (int i = 0; i < waiting->n; i++) take_reaction(of, waiting->node[i]);
    waiting->n = 0;
}

// Without efforts.
static void take_plain_reactions(const observation *of, int first, int end)
{
    const lwi_link_kernels *rows = &of->kernels->links;
    waiting_nodes waiting = {0};
    for (int k = first; k < end; k++) {
        if (rows->reactions) {
            k = rows->reactions(of->model, of->work, k, end, of->snapshot->reaction);
            if (k >= end) break;
        }
        const lwi_node *node = &of->model->node[k];
        if (node->joint < 0) continue;
        if (!node->reversed || node->parent < 0) {
            take_reaction(of, k);
            continue;
        }
        waiting.node[waiting.n++] = k;
        if (waiting.n == of->kernels->width) take_waiting(of, &waiting);
    }
    take_waiting(of, &waiting);
}

static void take_reactions(void *user, int first, int end)
{
    const observation *of = user;
    const lw_model *model = of->model;
    if (of->kernels && model->nforce + model->nrotor == 0) {
        take_plain_reactions(of, first, end);
        return;
    }
    for (int k = first; k < end; k++)
        if (model->node[k].joint >= 0) take_reaction(of, k);
}

// Reactions of trees are unique; flags of joints that close loops are set by the caller.
static void set_unique(const lw_model *model, lwi_snapshot *snapshot)
{
    if (model->nloop == 0 && model->nmerged == 0) {
        memset(snapshot->undetermined, 0, (size_t)model->njoint);
        memset(snapshot->unique, 1, (size_t)model->njoint);
        return;
    }
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].joint >= 0)
            lwi_snapshot_set_undetermined(snapshot, model->node[k].joint, 0);
}

void lwi_tree_take_reactions(const lw_model *model, lwi_tree_work *work, const double *vdot,
                             lwi_snapshot *snapshot)
{
    observation of = {
        .model = model, .work = work, .kernels = lwi_observe_kernels_of(0), .snapshot = snapshot};
    if (model->nrotor > 0) rotor_efforts(model, work, vdot);
    set_unique(model, snapshot);
    lwi_pool_for(work->pool, model->nnode, take_reactions, &of);
}

// Motion of bodies in lanes; lanes without a node repeat the first one.
static void observe_in_lanes(void *user, int first, int end)
{
    const observation *of = user;
    const int width = of->kernels->width, nnode = of->model->nnode;
    for (int k = first * width; k < end * width && k < nnode; k += width) {
        int node[LWI_LANES];
        for (int l = 0; l < width; l++) node[l] = k + l < nnode ? k + l : k;
        of->kernels->bodies(of->model, of->work, node, of->accelerations, of->wrenches,
                            of->snapshot);
    }
}

static void observe_one_by_one(const lw_model *model, lwi_tree_work *work, bool accelerations,
                               lwi_snapshot *snapshot)
{
    lwi_tree_bodies(model, (const double(*)[9])work->R, (const double(*)[3])work->r,
                    (const double(*)[6])work->V, snapshot->R, snapshot->r, snapshot->v, NULL);
    for (int b = 0; b < model->nbody; b++) quat_from_matrix(snapshot->quat[b], snapshot->R[b]);
    observe_twists(model, work, snapshot);
    if (accelerations) observe_accelerations(model, work, snapshot);
}

static void observe_ground(lwi_snapshot *snapshot)
{
    static const double one[4] = {1, 0, 0, 0};
    m3_identity(snapshot->R[0]);
    memcpy(snapshot->quat[0], one, sizeof one);
    v3_set(snapshot->r[0], 0, 0, 0);
    v3_set(snapshot->v[0], 0, 0, 0);
    v3_set(snapshot->w[0], 0, 0, 0);
    v3_set(snapshot->a[0], 0, 0, 0);
    v3_set(snapshot->al[0], 0, 0, 0);
}

// Everything but the reactions, and F for them.
static void observe(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                    const double *vdot, lw_observe level, lwi_snapshot *snapshot)
{
    LWI_ASSERT(level < LW_OBSERVE_ACCELERATION || vdot || model->tree_nv == 0);
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    const bool accelerations = level >= LW_OBSERVE_ACCELERATION;
    const bool reactions = level >= LW_OBSERVE_REACTION;
    snapshot->t = t;
    observation of = {model,   work, v, vdot, kernels, accelerations, reactions && !work->has_A,
                      snapshot};
    if (!work->has_world && !work->passes) find_world(model, work);
    lwi_pool_for(work->pool, model->nnode, observe_joints, &of);
    if (accelerations && !work->has_A && !work->found_A)
        lwi_tree_accelerations(model, work, v, vdot);
    if (kernels && model->nnode > 0)
        lwi_pool_for(work->pool, (model->nnode + kernels->width - 1) / kernels->width,
                     observe_in_lanes, &of);
    else
        observe_one_by_one(model, work, accelerations, snapshot);
    observe_ground(snapshot);
    if (!accelerations) return;
    if (!reactions) return;
    if (kernels && !work->has_A)
        lwi_tree_sum_wrenches(model, work);
    else
        lwi_tree_wrenches(model, work);
}

void lwi_tree_observe(const lw_model *model, lwi_tree_work *work, double t, const double *v,
                      const double *vdot, lw_observe level, lwi_snapshot *snapshot)
{
    observe(model, work, t, v, vdot, level, snapshot);
    if (level >= LW_OBSERVE_REACTION) lwi_tree_take_reactions(model, work, vdot, snapshot);
}

void lwi_tree_observe_wrenches(const lw_model *model, lwi_tree_work *work, double t,
                               const double *v, const double *vdot, lwi_snapshot *snapshot)
{
    observe(model, work, t, v, vdot, LW_OBSERVE_REACTION, snapshot);
}
