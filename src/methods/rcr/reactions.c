// reactions.c -- reactions of minimum norm, if redundant rows leave them undetermined (not in the paper).
//
// Reactions lambda of all joints balance the remaining forces f on the bodies, J' lambda = f.  Those of minimum
// norm over the rows of all joints and couplings, and which components are unique: system/min_norm.h.
#include "base/assert.h"
#include "methods/rcr/rcr.h"
#include "system/min_norm.h"
#include "system/system.h"

#include <string.h>

struct lwi_rcr_reactions {
    int nrow;
    int *first; // [joints + couplings + 1] first row of each
    lwi_arena *arena;
    lwi_min_norm *min_norm;      // NULL: not made yet (lwi_rcr_reactions_prepare)
    double *lambda;              // [rows]
    double (*f)[6];              // [nnode] about mass centres, world axes
    double (*wrench)[6];         // [nbody]
    unsigned char *undetermined; // [njoint] as in lwi_snapshot
};

// ------------------------------------------------------------------------------------------ create

static int count_of(const lw_model *model)
{
    return model->njoint + model->ncoupling;
}

static bool has_rows(const lwi_rcr_reactions *r, int i)
{
    return r->first[i + 1] > r->first[i];
}

// Rows of joint i, or of coupling i - njoint.  Those of all would take most of the memory of a mechanism.
static void closure_of(const lw_model *model, int i, double t, const lwi_motion *motion,
                       lwi_closure *closure)
{
    if (i < model->njoint)
        lwi_joint_closure(model, i, t, motion, LWI_CLOSURE_POSITION, closure);
    else
        lwi_coupling_closure(model, i - model->njoint, t, motion, LWI_CLOSURE_POSITION, closure);
}

// Joints that are not merged, then couplings, between the nodes of their bodies.
static void make_graph(const lw_model *model, const lwi_rcr_reactions *r, const lwi_motion *motion,
                       lwi_plan_edge *edge)
{
    for (int i = 0; i < count_of(model); i++) {
        lwi_closure c;
        edge[i] = (lwi_plan_edge){.rows = r->first[i + 1] - r->first[i], .n = 1};
        if (!edge[i].rows) continue; // the body does not matter
        if (i < model->njoint)
            lwi_joint_closure_shape(model, i, &c);
        else
            closure_of(model, i, 0, motion, &c);
        LWI_ASSERT(c.n == edge[i].rows && c.nbody >= 1 && c.nbody <= LWI_EDGE_BODIES);
        edge[i].n = c.nbody;
        for (int k = 0; k < c.nbody; k++) edge[i].body[k] = model->body_node[c.body[k]];
    }
}

static bool factor(const lw_model *model, lwi_rcr_reactions *r, double t, const lwi_motion *motion)
{
    for (int i = 0; i < count_of(model); i++) {
        lwi_closure c;
        if (!has_rows(r, i)) continue;
        closure_of(model, i, t, motion, &c);
        for (int k = 0; k < c.nbody; k++)
            lwi_min_norm_put(r->min_norm, i, k, (const double(*)[6])c.J[k]);
    }
    return lwi_min_norm_factor(r->min_norm);
}

// The reaction of a joint with rows, from the J that were factored.
static void take_reaction(const lw_model *model, const lwi_rcr_reactions *r, int j,
                          const lwi_motion *motion, double F[6])
{
    const lwi_joint *joint = &model->joint[j];
    const bool second = joint->body1 && joint->body2 && joint->body1 != joint->body2;
    lwi_min_norm_wrench(r->min_norm, j, second, r->lambda + r->first[j], F);
    for (int i = 0; i < 6 && !joint->body2; i++) F[i] = -F[i];
    lwi_joint_reaction_at_point(model, j, motion, F);
}

static void find_undetermined(const lw_model *model, lwi_rcr_reactions *r, const lwi_motion *motion)
{
    bool unclear = true;
    for (int probe = 0; probe < LWI_MIN_NORM_PROBES && unclear; probe++) {
        for (int i = 0; i < r->nrow; i++) r->lambda[i] = 2 * lwi_system_pseudorandom(i, probe);
        lwi_min_norm_null(r->min_norm, r->lambda);
        unclear = false;
        for (int j = 0; j < model->njoint; j++) {
            double world[6], F[6];
            if (!has_rows(r, j)) continue;
            take_reaction(model, r, j, motion, world);
            lwi_joint_to_axes(model, j, motion->R, world, F);
            unclear |= lwi_min_norm_mark(F, &r->undetermined[j]);
        }
    }
}

lw_status lwi_rcr_reactions_create(const lw_model *model, const lwi_tree_work *tree,
                                   const unsigned char *undetermined, lwi_arena *arena,
                                   lwi_rcr_reactions **out)
{
    const int count = count_of(model);
    const lwi_motion motion = lwi_cut_motion(tree);
    lwi_rcr_reactions *r = LWI_PUSH(arena, lwi_rcr_reactions, 1);
    if (!r) return LW_ERR_MEMORY;
    r->arena = arena;
#define GET(field, n)                                                                              \
    if (!((field) = lwi_arena_push(arena, (size_t)(n), sizeof *(field)))) return LW_ERR_MEMORY
    GET(r->first, count + 1);
    GET(r->f, model->nnode);
    GET(r->wrench, model->nbody);
    GET(r->undetermined, model->njoint);
    for (int i = 0; i < count; i++) {
        const bool joint = i < model->njoint;
        const int rows = !joint ? 1 : model->joint[i].merged ? 0 : lwi_joint_row_count(model, i);
        r->first[i + 1] = r->first[i] + rows;
    }
    r->nrow = r->first[count];
    GET(r->lambda, r->nrow);
#undef GET
    *out = r;
    if (undetermined) {
        memcpy(r->undetermined, undetermined, (size_t)model->njoint);
        return LW_OK;
    }
    TRY(lwi_rcr_reactions_prepare(model, r, tree));
    if (factor(model, r, 0, &motion)) find_undetermined(model, r, &motion);
    return LW_OK;
}

lw_status lwi_rcr_reactions_prepare(const lw_model *model, lwi_rcr_reactions *r,
                                    const lwi_tree_work *tree)
{
    const int count = count_of(model);
    const lwi_motion motion = lwi_cut_motion(tree);
    lwi_arena scratch;
    lw_status status = LW_ERR_MEMORY;
    if (r->min_norm) return LW_OK;
    lwi_arena_init(&scratch, &r->arena->allocator);
    lwi_plan_edge *edge = LWI_PUSH(&scratch, lwi_plan_edge, count);
    if (edge) {
        make_graph(model, r, &motion, edge);
        const lwi_plan_graph graph = {.nbody = model->nnode, .nedge = count, .edge = edge};
        lwi_min_norm *min_norm;
        status = lwi_min_norm_create(&graph, false, r->arena, &min_norm);
        if (status == LW_OK) r->min_norm = min_norm;
    }
    lwi_arena_free(&scratch);
    return status;
}

// ----------------------------------------------------------------------------------------- observe

// f := what reactions must balance: M A + V x* M V - loads - efforts of tree joints.  After lwi_tree_newton_euler,
// with the wrench [nnode] of the loads.
static void collect(const lw_model *model, lwi_rcr_reactions *r, const lwi_tree_work *tree,
                    double t, const lwi_motion *motion)
{
    memset(r->wrench, 0, (size_t)model->nbody * sizeof *r->wrench);
    for (int j = 0; j < model->njoint && model->nforce + model->nrotor; j++)
        if (model->joint[j].node >= 0)
            lwi_joint_apply_effort(model, j, t, motion, tree->loads.effort + model->joint[j].iv,
                                   r->wrench);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double F[6], P[6], c[6], *f = r->f[k], arm[3];
        inertia_mul(F, node->mass, node->h, node->J, tree->A[k]);
        inertia_mul(P, node->mass, node->h, node->J, tree->V[k]);
        force_cross(c, tree->V[k], P);
        for (int i = 0; i < 6; i++) F[i] += c[i] - tree->wrench[k][i];
        v3_scale(arm, -1, node->c_r);
        v3_cross_add(F + 3, arm, F); // about the mass centre
        m3_mul_v(f, tree->R[k], F);
        m3_mul_v(f + 3, tree->R[k], F + 3);
        for (int i = 0; i < 6; i++) f[i] -= r->wrench[node->body][i];
    }
}

void lwi_rcr_reactions_mark(const lw_model *model, const lwi_rcr_reactions *r,
                            lwi_snapshot *snapshot)
{
    const size_t n = (size_t)model->njoint;
    if (model->nmerged == 0) {
        memcpy(snapshot->undetermined, r->undetermined, n);
        for (size_t j = 0; j < n; j++) snapshot->unique[j] = r->undetermined[j] == 0;
        return;
    }
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].merged) lwi_snapshot_set_undetermined(snapshot, j, r->undetermined[j]);
}

lw_status lwi_rcr_reactions_observe(const lw_model *model, lwi_rcr_reactions *r,
                                    const lwi_tree_work *tree, double t, lwi_snapshot *snapshot)
{
    const lwi_motion motion = lwi_cut_motion(tree);
    TRY(lwi_rcr_reactions_prepare(model, r, tree));
    if (!factor(model, r, t, &motion)) return LW_ERR_NOT_FINITE;
    collect(model, r, tree, t, &motion);
    lwi_min_norm_solve(r->min_norm, (const double(*)[6])r->f, r->lambda);
    for (int j = 0; j < model->njoint; j++) {
        if (model->joint[j].merged) continue;
        v6_zero(snapshot->reaction[j]);
        if (has_rows(r, j)) take_reaction(model, r, j, &motion, snapshot->reaction[j]);
    }
    lwi_rcr_reactions_mark(model, r, snapshot);
    return LW_OK;
}
