// reactions.c -- rows of results of a tree that is evaluated in segments (reactions.h).
#include "methods/dca/segments/reactions.h"

#include "tree/aba.h"

lw_status lwi_segment_rows_create(const lw_model *model, lwi_tree_work *tree,
                                  lwi_tree_passes *passes, lwi_path *path, lwi_net *net,
                                  lwi_arena *arena, lwi_segment_rows *rows)
{
    const size_t nnode = (size_t)model->nnode;
    *rows = (lwi_segment_rows){.tree = tree, .path = path, .net = net};
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
        double *A = of->rows->A[k];
        v6_zero(A);
        for (int j = 0; j < node->nv; j++) {
            const int i = node->iv + j;
            v6_axpy(A, of->rows->du[i], of->rows->tree->link[k].S[j]);
            of->rows->udot[i] += of->rows->du[i];
        }
    }
}

static void wrenches_of_bodies(void *user, int first, int end)
{
    const job *of = user;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        inertia_mul(of->rows->F[k], node->mass, node->h, node->J, of->rows->A[k]);
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
                   : !lwi_net_response(rows->net, t, q, rows->r, rows->du))
        return false;
    lwi_pool_for(tree->pool, model->nnode, relative_motions, &of);
    lwi_tree_sum_motions(model, tree, rows->A, rows->F);
    lwi_pool_for(tree->pool, model->nnode, wrenches_of_bodies, &of);
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
        return true;
    }
    lwi_tree_observe_wrenches(model, tree, t, u, udot, snapshot);
    if (rows->articulated) {
        if (lwi_aba(model, tree, rows->articulated, t, u, NULL, rows->udot, NULL) != LW_OK)
            return false;
        lwi_tree_newton_euler(model, tree, u, rows->udot);
    } else {
        memcpy(rows->udot, udot, (size_t)model->tree_nv * sizeof *udot);
        if (!correct(rows, model, t, q)) return false;
    }
    lwi_tree_take_reactions(model, tree, rows->udot, snapshot);
    return true;
}
