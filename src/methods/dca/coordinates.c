// coordinates.c -- rates of the coordinates of the tree (coordinates.h).
#include "methods/dca/coordinates.h"

#include "base/assert.h"

#include <string.h>

lw_status lwi_coordinates_create(const lw_model *model, lwi_arena *arena, lwi_coordinates *c)
{
    *c = (lwi_coordinates){.model = model, .own = LWI_PUSH(arena, int, model->nnode)};
    if (!c->own) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++)
        if (!model->node[k].type->scalar) c->own[c->nown++] = k;
    return LW_OK;
}

// Between those nodes coordinates and speeds are the same numbers, one after the other.
void lwi_coordinates_rates(const lwi_coordinates *c, const double *q, const double *u, double *qdot)
{
    const lw_model *model = c->model;
    int iq = 0, iv = 0; // the first that are left
    for (int i = 0; i < c->nown; i++) {
        const lwi_node *node = &model->node[c->own[i]];
        LWI_ASSERT(node->iq - iq == node->iv - iv);
        if (node->iq > iq) memcpy(qdot + iq, u + iv, (size_t)(node->iq - iq) * sizeof *qdot);
        node->type->kinematics(node->par, q + node->iq, u + node->iv, qdot + node->iq);
        iq = node->iq + node->nq;
        iv = node->iv + node->nv;
    }
    if (model->tree_nq > iq)
        memcpy(qdot + iq, u + iv, (size_t)(model->tree_nq - iq) * sizeof *qdot);
}

void lwi_node_rates_part(void *node_rates, int first, int end)
{
    const lwi_node_rates *of = node_rates;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        const double *u = of->u + node->iv;
        if (of->qdot) lwi_link_kinematics(of->model, k, &of->link[k], u, of->qdot + node->iq);
        lwi_link_rates(of->model, k, of->t, u, &of->link[k]);
    }
}
