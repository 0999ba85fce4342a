// cut_reactions.c -- reactions of all joints from the multipliers of cut joints.
//
// Multipliers in the null space of J' change reactions but no motion.  Each null vector gives a field of reactions of
// all joints; the actual reactions without their part along these fields have minimum norm.  A component that no
// field has is unique.
#include "loops/cut_reactions.h"

#include "base/assert.h"
#include "loops/cut_state.h"

#include <string.h>

lw_status lwi_cut_reactions_create(const lwi_cut *cut, int nnull, lwi_arena *arena,
                                   lwi_cut_reactions *r)
{
    *r = (lwi_cut_reactions){.nnull = nnull,
                             .nfield = 6 * cut->model->njoint + cut->model->ncoupling};
    r->actual = LWI_PUSH(arena, double, r->nfield);
    r->null = LWI_PUSH(arena, double, (size_t)nnull *(size_t)cut->m);
    r->field = LWI_PUSH(arena, double, (size_t)nnull *(size_t)r->nfield);
    return r->actual && r->null && r->field ? LW_OK : LW_ERR_MEMORY;
}

// field [6 njoint + ncoupling] := reactions of all joints and multipliers of couplings, from the wrenches F of
// the nodes and the multipliers lambda [m].
static void list_reactions(const lwi_cut_reactions *r, lwi_cut *cut, lwi_tree_work *tree,
                           const double *lambda, double *field)
{
    const lw_model *model = cut->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    LWI_ASSERT(cut->count == model->nloop + model->ncoupling);
    memset(field, 0, (size_t)r->nfield * sizeof *field);
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].joint >= 0)
            lwi_tree_reaction(model, tree, k, field + 6 * model->node[k].joint);
    for (int i = 0; i < model->nloop; i++) {
        lwi_closure *rows = &cut->closure[i];
        const int all = rows->n;
        if (cut->nrotor)
            rows->n -= model->joint[model->loop[i]].nrotor; // these are efforts, no reactions
        lwi_joint_reaction(model, model->loop[i], &motion, rows, lambda + cut->first[i],
                           field + 6 * model->loop[i]);
        rows->n = all;
    }
    for (int i = 0; i < model->ncoupling; i++)
        field[6 * model->njoint + i] = lambda[cut->first[model->nloop + i]];
}

// field := the reactions of multipliers lambda [m] without effect on the motion: F without accelerations,
// forces and efforts.
static void null_field(const lwi_cut_reactions *r, lwi_cut *cut, lwi_tree_work *tree,
                       const double *lambda, double *field)
{
    const lw_model *model = cut->model;
    memset(tree->wrench, 0, (size_t)model->nnode * sizeof *tree->wrench);
    lwi_cut_wrenches(cut, tree, lambda, tree->wrench);
    for (int k = 0; k < model->nnode; k++)
        for (int i = 0; i < 6; i++) tree->F[k][i] = -tree->wrench[k][i];
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        const lwi_link *link = &tree->link[k];
        if (parent >= 0) force_add_from(tree->F[parent], link->R, link->r, tree->F[k]);
    }
    list_reactions(r, cut, tree, lambda, field);
}

// Smaller parts of null vectors on a joint are due to the position drift, which rotates rows.
#define UNIQUE_TOLERANCE 1e-6

static void find_null_fields(lwi_cut_reactions *r, lwi_cut *cut, lwi_tree_work *tree, lwi_cod *cod)
{
    const size_t m = (size_t)cut->m, nfield = (size_t)r->nfield;
    lwi_cod_null(cod, r->null);
    memset(tree->loads.effort, 0,
           (size_t)cut->model->nv * sizeof(double)); // not part of null fields
    for (int i = 0; i < r->nnull; i++) {
        double *null = r->null + (size_t)i * m;
        for (size_t k = 0; k < m; k++) null[k] /= cut->len[k];
        null_field(r, cut, tree, null, r->field + (size_t)i * nfield);
    }
    lwi_orthonormalize(r->nfield, r->nnull, r->field);
}

void lwi_cut_reactions_find(lwi_cut_reactions *r, lwi_cut *cut, lwi_tree_work *tree, lwi_cod *cod,
                            const double *lambda, lwi_snapshot *snapshot)
{
    const lw_model *model = cut->model;
    const size_t nfield = (size_t)r->nfield;
    LWI_ASSERT(r->nnull == cut->m - cod->rank);
    list_reactions(r, cut, tree, lambda, r->actual);
    find_null_fields(r, cut, tree, cod);
    lwi_reject(r->nfield, r->nnull, r->field, r->actual);
    for (int j = 0; j < model->njoint; j++) {
        if (model->joint[j].merged) continue;
        double square[6] = {0};
        unsigned axes = 0;
        for (int i = 0; i < r->nnull; i++) {
            double F[6];
            lwi_joint_to_axes(model, j, (const double(*)[9])snapshot->R,
                              r->field + (size_t)i * nfield + 6 * (size_t)j, F);
            for (int k = 0; k < 6; k++) square[k] += F[k] * F[k];
        }
        for (int k = 0; k < 6; k++)
            if (!(square[k] < UNIQUE_TOLERANCE * UNIQUE_TOLERANCE)) axes |= 1u << k;
        v6_copy(snapshot->reaction[j], r->actual + 6 * j);
        lwi_snapshot_set_undetermined(snapshot, j, axes);
    }
}
