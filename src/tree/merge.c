// merge.c -- bodies on fixed joints become parts of their carriers.
#include "tree/merge.h"

#include "spatial/vec3.h"

#include <string.h>

/** Where a node of the model is: on which merged node, -1: the ground, and its link there. */
typedef struct place {
    int node;
    double R[9], r[3];
} place;

static bool is_fixed(const lwi_node *node)
{
    return node->joint >= 0 && node->type->nv == 0 && !node->driven;
}

bool lwi_tree_merges(const lw_model *model)
{
    for (int k = 0; k < model->nnode; k++)
        if (is_fixed(&model->node[k])) return true;
    return false;
}

// The inboard joint frame of a node on the merged node that carries its parent.
static place inboard(const lwi_node *node, const place *of)
{
    place p = {.node = -1};
    memcpy(p.R, node->X_R, sizeof p.R);
    v3_copy(p.r, node->X_r);
    if (node->parent < 0) return p;
    const place *parent = &of[node->parent];
    m3_mul(p.R, parent->R, node->X_R);
    m3_mul_v(p.r, parent->R, node->X_r);
    v3_add(p.r, p.r, parent->r);
    p.node = parent->node;
    return p;
}

// Adds a body at a place, about the origin of the carrier's link.
static void add_body(lwi_node *to, const lwi_node *body, const place *at)
{
    double h[3], J[6];
    m3_mul_v(h, at->R, body->h);
    s3_rotate(J, at->R, body->J);
    s3_shift(J, body->mass, h, at->r);
    to->mass += body->mass;
    v3_add(to->h, to->h, h);
    v3_axpy(to->h, body->mass, at->r);
    for (int i = 0; i < 6; i++) to->J[i] += J[i];
}

lw_status lwi_tree_merge(const lw_model *model, lwi_arena *arena, lw_model *merged)
{
    place *of = LWI_PUSH(arena, place, model->nnode);
    lwi_node *node = LWI_PUSH(arena, lwi_node, model->nnode);
    lwi_joint *joint = LWI_PUSH(arena, lwi_joint, model->njoint);
    int n = 0;
    if (!of || !node || !joint) return LW_ERR_MEMORY;
    for (int j = 0; j < model->njoint; j++) joint[j] = model->joint[j], joint[j].node = -1;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *own = &model->node[k];
        of[k] = inboard(own, of);
        if (is_fixed(own)) {
            if (of[k].node >= 0) add_body(&node[of[k].node], own, &of[k]);
            continue;
        }
        node[n] = *own;
        node[n].parent = of[k].node;
        memcpy(node[n].X_R, of[k].R, sizeof node[n].X_R);
        v3_copy(node[n].X_r, of[k].r);
        if (own->joint >= 0) joint[own->joint].node = n;
        of[k] = (place){.node = n++, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    }
    *merged = *model;
    merged->joint = joint;
    merged->node = node;
    merged->nnode = n;
    return LW_OK;
}
