// loads.c -- forces on clusters: the attached bodies and cut joints that they need, the motions of these, and the
// wrenches on them.
#include "methods/rcr/clusters/loads.h"

#include "base/assert.h"
#include "methods/rcr/rcr.h"
#include "model/signals/functions.h"

// ------------------------------------------------------------------------------------------ create

// The speeds [nv] of cut joints.
static bool *mark_cut(const lw_model *model, lwi_arena *arena)
{
    bool *cut = LWI_PUSH(arena, bool, model->nv);
    for (int i = 0; i < model->nloop && cut; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        for (int k = 0; k < joint->type->nv; k++) cut[joint->iv + k] = true;
    }
    return cut;
}

static void mark_needed(const lw_model *model, int body, bool *needed)
{
    const int carrier = model->body[body].carrier;
    if (carrier > 0) needed[model->body_node[carrier]] = true;
}

// The bodies that formulas read.
static bool mark_read(const lw_model *model, lwi_arena *arena, bool *needed, bool *any)
{
    bool *read = LWI_PUSH(arena, bool, model->nbody);
    if (!read) return false;
    lwi_mark_bodies_read(model, read);
    for (int b = 0; b < model->nbody; b++)
        if (read[b]) mark_needed(model, b, needed), *any = true;
    return true;
}

lw_status lwi_rcr_loads_create(const lw_model *model, lwi_arena *arena, lwi_rcr_loads *loads,
                               bool *needed, bool *known)
{
    *loads = (lwi_rcr_loads){.cuts = model->nforce && lwi_reads_state(model)};
    const bool *cut = mark_cut(model, arena);
    if (!cut || !mark_read(model, arena, needed, &loads->at_bodies)) return LW_ERR_MEMORY;
    *known = true;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force_place place = lwi_force_acts_on(&model->force[i]);
        if (place.iv < 0 && place.n == 0) *known = false;
        loads->cuts = loads->cuts || (place.iv >= 0 && cut[place.iv]);
        for (int k = 0; k < place.n; k++) mark_needed(model, place.body[k], needed);
        loads->at_bodies = loads->at_bodies || place.n > 0;
    }
    for (int i = 0; i < model->nloop && loads->cuts; i++) {
        mark_needed(model, model->joint[model->loop[i]].body1, needed);
        mark_needed(model, model->joint[model->loop[i]].body2, needed);
    }
    loads->at_bodies = loads->at_bodies || loads->cuts;
    loads->merged = LWI_PUSH(arena, int, model->nbody);
    if (!loads->merged) return LW_ERR_MEMORY;
    for (int b = 1; b < model->nbody; b++) {
        const int carrier = model->body[b].carrier;
        if (carrier != b && (carrier == 0 || needed[model->body_node[carrier]]))
            loads->merged[loads->nmerged++] = b;
        LWI_ASSERT(loads->nmerged <= model->nbody);
    }
    return LW_OK;
}

// -------------------------------------------------------------------------------------- evaluation

static void move_bodies(const lw_model *model, const lwi_rcr_loads *loads,
                        const lwi_clusters *clusters, const double *v, lwi_tree_work *tree)
{
    m3_identity(tree->body_R[0]);
    for (int s = 0; s < clusters->nattached; s++) {
        const int b = clusters->attached[s].body;
        lwi_clusters_read_attached(clusters, s, v, tree->body_R[b], tree->body_r[b],
                                   tree->body_v[b], tree->body_w[b]);
    }
    for (int i = 0; i < loads->nmerged; i++) {
        const int b = loads->merged[i];
        v3_copy(tree->body_w[b], tree->body_w[model->body[b].carrier]);
        lwi_tree_ride(model, b, tree->body_w[b], tree->body_R, tree->body_r, tree->body_v);
    }
}

// Efforts of cut joints as wrenches on their bodies.
static void cut_efforts(const lw_model *model, double t, lwi_tree_work *tree)
{
    const lwi_motion motion = lwi_cut_motion(tree);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const double *effort = tree->loads.effort + joint->iv;
        bool acts = false;
        for (int k = 0; k < joint->type->nv; k++) acts = acts || effort[k] != 0;
        if (acts)
            lwi_joint_apply_effort(model, model->loop[i], t, &motion, effort, tree->loads.wrench);
    }
}

void lwi_rcr_loads_apply(const lwi_work *work, const lwi_rcr_loads *loads,
                         const lwi_clusters *clusters, double t, const double *x, const double *v,
                         const double *inputs)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_tree_work *tree = &d->tree;
    if (!loads->at_bodies) {
        lwi_tree_joint_loads(model, tree, t, x, v, inputs);
        return;
    }
    move_bodies(model, loads, clusters, v, tree);
    lwi_tree_joint_motion(model, tree, x, v);
    if (loads->cuts) {
        lwi_auxiliary_load(model, &d->auxiliary, x, tree->joint_q);
        lwi_cut_read(&d->cut, tree, t, false);
    }
    lwi_tree_apply(model, tree, t, inputs);
    if (loads->cuts) cut_efforts(model, t, tree);
}

void lwi_rcr_loads_pass(const lwi_work *work, const lwi_rcr_loads *loads,
                        const lwi_clusters *clusters)
{
    const lwi_rcr_work *d = work->data;
    if (!loads->at_bodies) return;
    for (int s = 0; s < clusters->nattached; s++)
        lwi_clusters_load_attached(clusters, s, d->tree.loads.wrench[clusters->attached[s].body]);
}
