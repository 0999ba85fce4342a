// independent_loops.c -- loops that share no joint.
//
// Each joint outside of the tree closes a loop with the tree's path between its bodies.  All joints of a loop are in one
// component, so loops that share a joint are too.  A path is climbed from both ends to where they meet, and a stretch that
// is known to be in one component is skipped: almost linear in the number of joints.
#include "simulate/independent_loops.h"

#include "base/assert.h"
#include "base/components.h"

typedef struct search {
    const lw_model *model;
    int *component; ///< [njoint + ncoupling]
    int *
        top; ///< [nnode] components again: stretches of joints in one component, named by the uppermost node
    int *depth; ///< [nnode]
} search;

static void join(const search *s, int a, int b)
{
    s->component[lwi_component_of(s->component, a)] = lwi_component_of(s->component, b);
}

static int depth_of(const search *s, int node)
{
    return node < 0 ? -1 : s->depth[node];
}

// Joint `item` closes a loop with the tree's path between nodes a and b; -1: ground.
static void join_path(const search *s, int item, int a, int b)
{
    const lwi_node *node = s->model->node;
    int last[2] = {-1, -1}; // the stretch climbed last from either end
    int at[2] = {a, b};
    while (at[0] != at[1]) {
        const int side = depth_of(s, at[0]) < depth_of(s, at[1]);
        const int k = lwi_component_of(s->top, at[side]);
        if (node[k].joint >= 0) join(s, node[k].joint, item);
        if (last[side] >= 0 && node[k].joint >= 0 && node[last[side]].joint >= 0)
            s->top[last[side]] = k;
        last[side] = k;
        at[side] = node[k].parent;
    }
}

static bool prepare(search *s, lwi_arena *arena)
{
    const lw_model *model = s->model;
    s->top = LWI_PUSH(arena, int, model->nnode);
    s->depth = LWI_PUSH(arena, int, model->nnode);
    s->component = LWI_PUSH(arena, int, model->njoint + model->ncoupling);
    if (!s->top || !s->depth || !s->component) return false;
    for (int k = 0; k < model->nnode; k++) {
        const int parent = model->node[k].parent;
        LWI_ASSERT(parent < k);
        s->top[k] = k, s->depth[k] = parent < 0 ? 0 : s->depth[parent] + 1;
    }
    for (int i = 0; i < model->njoint + model->ncoupling; i++) s->component[i] = i;
    return true;
}

static void join_loops(const search *s)
{
    const lw_model *model = s->model;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        join_path(s, model->loop[i], model->body_node[joint->body1],
                  model->body_node[joint->body2]);
    }
    for (int c = 0; c < model->ncoupling; c++) {
        join(s, model->njoint + c, model->coupling[c].joint);
        join(s, model->coupling[c].joint, model->coupling[c].of);
    }
}

lw_status lwi_independent_loops(const lw_model *model, const lw_allocator *allocator, int *group,
                                int *count)
{
    lwi_arena arena;
    search s = {.model = model};
    *count = 0;
    lwi_arena_init(&arena, allocator);
    if (!prepare(&s, &arena)) {
        lwi_arena_free(&arena);
        return LW_ERR_MEMORY;
    }
    join_loops(&s);
    const int n = model->njoint + model->ncoupling;
    int *of = s.component;
    for (int i = 0; i < n; i++) of[i] = lwi_component_of(of, i);
    for (int i = 0; i < n; i++) group[i] = -1;
    // a group has the joint of a loop or a coupling; group[of[i]] is the number of the component meanwhile
    for (int i = 0; i < model->nloop + model->ncoupling; i++) {
        const int item = i < model->nloop ? model->loop[i] : model->njoint + i - model->nloop;
        if (group[of[item]] < 0) group[of[item]] = (*count)++;
    }
    for (int i = 0; i < n; i++)
        if (of[i] != i) group[i] = group[of[i]];
    lwi_arena_free(&arena);
    return LW_OK;
}
