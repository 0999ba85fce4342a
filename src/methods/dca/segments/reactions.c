// reactions.c -- rows of results of a mechanism that is evaluated in segments (reactions.h).
#include "methods/dca/segments/reactions.h"

#include "base/assert.h"
#include "kinematics/kernels.h"
#include "loops/cut.h"
#include "tree/aba.h"

#include <string.h>

bool lwi_segment_rows_fit(const lw_model *model, const lwi_system *system, const lwi_path *path,
                          const lwi_net *net)
{
    if (path || !net || model->nloop == 0) return path || net;
    return !model->driven && !system->min_norm && system->generic_rank == system->nrow;
}

static lw_status prepare_loops(lwi_segment_rows *rows, const lw_model *model, lwi_system *system,
                               lwi_arena *arena)
{
    const size_t nend = 2 * (size_t)model->nloop;
    bool *listed = LWI_PUSH(arena, bool, model->nbody);
    rows->system = system;
    rows->lambda = LWI_PUSH(arena, double, model->nloop *LWI_CLOSURE_ROWS);
    rows->load = lwi_arena_push(arena, (size_t)model->nbody, sizeof *rows->load);
    rows->before = lwi_arena_push(arena, nend, sizeof *rows->before);
    rows->end = lwi_arena_push(arena, nend, sizeof *rows->end);
    if (!listed || !rows->lambda || !rows->load || !rows->before || !rows->end)
        return LW_ERR_MEMORY;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const int body[2] = {joint->body1, joint->body2};
        for (int s = 0; s < 2; s++) {
            if (body[s] == 0 || listed[body[s]]) continue;
            listed[body[s]] = true;
            rows->end[rows->nend++] = body[s];
        }
    }
    return LW_OK;
}

lw_status lwi_segment_rows_create(const lw_model *model, lwi_system *system, lwi_tree_work *tree,
                                  lwi_tree_passes *passes, lwi_path *path, lwi_net *net,
                                  lwi_arena *arena, lwi_segment_rows *rows)
{
    const size_t nnode = (size_t)model->nnode;
    *rows = (lwi_segment_rows){.tree = tree, .path = path, .net = net};
    if (model->nloop) TRY(prepare_loops(rows, model, system, arena));
    if (model->driven) { // solved by recursion
        rows->articulated = LWI_PUSH(arena, lwi_articulated, nnode);
        if (!rows->articulated) return LW_ERR_MEMORY;
        TRY(lwi_subtrees_create(model, tree->pool, arena, &tree->subtrees));
    } else {
        tree->passes = passes;
    }
    rows->udot = LWI_PUSH(arena, double, model->tree_nv);
    rows->r = LWI_PUSH(arena, double, model->tree_nv);
    rows->du = LWI_PUSH(arena, double, model->tree_nv);
    rows->A = lwi_arena_push(arena, nnode, sizeof *rows->A);
    rows->F = lwi_arena_push(arena, nnode, sizeof *rows->F);
    return rows->udot && rows->r && rows->du && rows->A && rows->F ? LW_OK : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------------- loops

void lwi_segment_rows_keep(lwi_segment_rows *rows)
{
    if (!rows->system) return;
    const lw_model *model = rows->system->model;
    memset(rows->lambda, 0, (size_t)(model->nloop * LWI_CLOSURE_ROWS) * sizeof *rows->lambda);
    for (int i = 0; i < model->nloop; i++) {
        const double *lambda = lwi_net_multipliers(rows->net, i);
        const size_t n = (size_t)lwi_joint_row_count(model, model->loop[i]);
        if (lambda) memcpy(rows->lambda + LWI_CLOSURE_ROWS * i, lambda, n * sizeof *lambda);
    }
}

static void close_joint(const lwi_segment_rows *rows, int loop, double t, lwi_closure *closure)
{
    const lwi_system *s = rows->system;
    lwi_joint_closure(s->model, s->model->loop[loop], t, &s->motion, LWI_CLOSURE_POSITION, closure);
}

// load := J' lambda.
static void load_ends(lwi_segment_rows *rows, double t, int loop, const double *lambda)
{
    lwi_closure c;
    close_joint(rows, loop, t, &c);
    LWI_ASSERT(c.n <= LWI_CLOSURE_ROWS);
    for (int i = 0; i < c.nbody; i++)
        for (int r = 0; r < c.n; r++) v6_axpy(rows->load[c.body[i]], lambda[r], c.J[i][r]);
}

static void clear_ends(lwi_segment_rows *rows)
{
    for (int i = 0; i < rows->nend; i++) v6_zero(rows->load[rows->end[i]]);
}

static int node_of_end(const lwi_segment_rows *rows, int i)
{
    return rows->system->model->body_node[rows->end[i]];
}

// Multipliers and efforts of the joints that close loops become loads of the tree.
static void load_tree(lwi_segment_rows *rows, double t)
{
    if (!rows->system) return;
    const lw_model *model = rows->system->model;
    lwi_tree_work *tree = rows->tree;
    clear_ends(rows);
    for (int i = 0; i < model->nloop; i++) {
        const int j = model->loop[i];
        load_ends(rows, t, i, rows->lambda + LWI_CLOSURE_ROWS * i);
        if (model->nforce > 0)
            lwi_joint_apply_effort(model, j, t, &rows->system->motion,
                                   tree->loads.effort + model->joint[j].iv, rows->load);
    }
    for (int i = 0; i < rows->nend; i++) {
        const int k = node_of_end(rows, i);
        v6_copy(rows->before[i], tree->wrench[k]);
        lwi_cut_add_wrench(model, tree, k, 1, rows->load[rows->end[i]], tree->wrench[k]);
    }
}

static void unload_tree(lwi_segment_rows *rows)
{
    for (int i = 0; i < rows->nend; i++)
        v6_copy(rows->tree->wrench[node_of_end(rows, i)], rows->before[i]);
}

// What the multipliers that come with du add to F of the bodies' own, and to lambda.
static void correct_multipliers(lwi_segment_rows *rows, double t)
{
    if (!rows->system) return;
    const lw_model *model = rows->system->model;
    clear_ends(rows);
    for (int i = 0; i < model->nloop; i++) {
        const double *lambda = lwi_net_multipliers(rows->net, i);
        if (!lambda) continue;
        load_ends(rows, t, i, lambda);
        for (int r = 0; r < lwi_joint_row_count(model, model->loop[i]); r++)
            rows->lambda[LWI_CLOSURE_ROWS * i + r] += lambda[r];
    }
    for (int i = 0; i < rows->nend; i++)
        lwi_cut_add_wrench(model, rows->tree, node_of_end(rows, i), -1, rows->load[rows->end[i]],
                           rows->F[node_of_end(rows, i)]);
}

// Motion of the joints that close loops; before du overwrites that of the hubs.
static void observe_loops(lwi_segment_rows *rows, double t, lwi_snapshot *snapshot)
{
    lwi_system *s = rows->system;
    if (!s) return;
    const lw_model *model = s->model;
    for (int i = 0; i < rows->nend; i++) {
        const int b = rows->end[i];
        v3_copy(s->a[b], snapshot->a[b]);
        m3_mul_v(s->al[b], snapshot->R[b], snapshot->al[b]);
    }
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        if (joint->type->nq)
            memcpy(snapshot->q + joint->iq, s->q + joint->iq,
                   (size_t)joint->type->nq * sizeof *s->q);
        if (joint->type->nv == 0) continue;
        memcpy(snapshot->qd + joint->iv, s->qd + joint->iv,
               (size_t)joint->type->nv * sizeof *s->qd);
        lwi_joint_read_acceleration(model, model->loop[i], t, &s->motion, (const double(*)[3])s->a,
                                    (const double(*)[3])s->al, snapshot->qdd + joint->iv);
    }
}

static void take_loop_reactions(const lwi_segment_rows *rows, double t, lwi_snapshot *snapshot)
{
    if (!rows->system) return;
    const lw_model *model = rows->system->model;
    for (int i = 0; i < model->nloop; i++) {
        lwi_closure c;
        close_joint(rows, i, t, &c);
        lwi_joint_reaction(model, model->loop[i], &rows->system->motion, &c,
                           rows->lambda + LWI_CLOSURE_ROWS * i, snapshot->reaction[model->loop[i]]);
        lwi_snapshot_set_undetermined(snapshot, model->loop[i], 0);
    }
}

// -------------------------------------------------------------------------------------------- tree

typedef struct job {
    lwi_segment_rows *rows;
    const lw_model *model;
} job;

// r = tau - S'F - I_r udot
static void missing_efforts(void *user, int first, int end)
{
    const job *of = user;
    const lwi_tree_work *tree = of->rows->tree;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        for (int j = 0; j < node->nv; j++) {
            const int i = node->iv + j;
            of->rows->r[i] = tree->effort[i] - v6_dot(tree->link[k].S[j], tree->F[k]) -
                             of->model->tree_rotor[i] * of->rows->udot[i];
        }
    }
}

// Motions of nodes relative to their parents.
static void relative_motions(void *user, int first, int end)
{
    const job *of = user;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        const double *du = of->rows->du + node->iv;
        double A[6] = {0}, *udot = of->rows->udot + node->iv;
        for (int j = 0; j < node->nv; j++) {
            v6_axpy(A, du[j], of->rows->tree->link[k].S[j]);
            udot[j] += du[j];
        }
        v6_copy(of->rows->A[k], A);
    }
}

static void wrenches_of_bodies(void *user, int first, int end)
{
    const job *of = user;
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    const lwi_segment_rows *rows = of->rows;
    if (kernels && kernels->links.momenta) {
        kernels->links.momenta(of->model, first, end, (const double(*)[6])rows->A, rows->F);
        return;
    }
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        inertia_mul(rows->F[k], node->mass, node->h, node->J, rows->A[k]);
    }
}

static void add_wrenches(void *user, int first, int end)
{
    const job *of = user;
    for (int k = first; k < end; k++)
        v6_add(of->rows->tree->F[k], of->rows->tree->F[k], of->rows->F[k]);
}

// F of the tree: those of udot less what its round-off adds.
static bool correct(lwi_segment_rows *rows, const lw_model *model, double t, const double *q)
{
    lwi_tree_work *tree = rows->tree;
    job of = {rows, model};
    lwi_pool_for(tree->pool, model->nnode, missing_efforts, &of);
    if (rows->path ? !lwi_path_response(rows->path, q, rows->r, rows->du)
                   : !lwi_net_response(rows->net, q, rows->r, rows->du))
        return false;
    lwi_pool_for(tree->pool, model->nnode, relative_motions, &of);
    lwi_tree_sum_motions(model, tree, rows->A, rows->F);
    lwi_pool_for(tree->pool, model->nnode, wrenches_of_bodies, &of);
    correct_multipliers(rows, t);
    lwi_tree_pass_sum(tree->passes, tree->link, rows->F);
    lwi_pool_for(tree->pool, model->nnode, add_wrenches, &of);
    return true;
}

bool lwi_segment_rows_observe(lwi_segment_rows *rows, const lw_model *model, double t,
                              const double *q, const double *u, const double *udot,
                              lw_observe level, lwi_snapshot *snapshot)
{
    lwi_tree_work *tree = rows->tree;
    if (level < LW_OBSERVE_REACTION) {
        lwi_tree_observe(model, tree, t, u, udot, level, snapshot);
        if (level >= LW_OBSERVE_ACCELERATION) observe_loops(rows, t, snapshot);
        return true;
    }
    load_tree(rows, t);
    lwi_tree_observe_wrenches(model, tree, t, u, udot, snapshot);
    unload_tree(rows);
    observe_loops(rows, t, snapshot);
    if (rows->articulated) {
        if (lwi_aba(model, tree, rows->articulated, t, u, NULL, rows->udot, NULL) != LW_OK)
            return false;
        lwi_tree_newton_euler(model, tree, u, rows->udot);
    } else {
        memcpy(rows->udot, udot, (size_t)model->tree_nv * sizeof *udot);
        if (!correct(rows, model, t, q)) return false;
    }
    lwi_tree_take_reactions(model, tree, rows->udot, snapshot);
    take_loop_reactions(rows, t, snapshot);
    return true;
}
