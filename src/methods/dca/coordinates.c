// coordinates.c -- rates of the coordinates of the tree (coordinates.h).
#include "methods/dca/coordinates.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <string.h>

// Does node k continue a run of ball joints?
static bool continues(const lw_model *model, const struct lwi_coordinates_run *run, int k)
{
    const lwi_node *first = &model->node[run->node], *node = &model->node[k];
    return run->balls > 0 && lwi_joint_is_ball(node->type) &&
           node->iq == first->iq + 4 * run->balls && node->iv == first->iv + 3 * run->balls;
}

lw_status lwi_coordinates_create(const lw_model *model, lwi_arena *arena, lwi_coordinates *c)
{
    *c = (lwi_coordinates){.model = model,
                           .run = lwi_arena_push(arena, (size_t)model->nnode, sizeof *c->run)};
    if (!c->run) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_joint_type *type = model->node[k].type;
        if (type->scalar) continue;
        if (c->nrun > 0 && continues(model, &c->run[c->nrun - 1], k))
            c->run[c->nrun - 1].balls++;
        else
            c->run[c->nrun++] = (struct lwi_coordinates_run){k, lwi_joint_is_ball(type)};
    }
    return LW_OK;
}

/** Balls of a run that are worth waking the threads (some ten microseconds). */
enum { WORTH = 1024 };

// A run of balls: its first coordinates and speeds.
typedef struct balls {
    const double *q, *u;
    double *qdot;
} balls;

static void rates_of_balls(void *user, int first, int end)
{
    const balls *of = user;
    for (int b = first; b < end; b++) quat_rate(of->qdot + 4 * b, of->q + 4 * b, of->u + 3 * b);
}

// Between those nodes coordinates and speeds are the same numbers, one after the other.
void lwi_coordinates_rates(const lwi_coordinates *c, lwi_pool *pool, const double *q,
                           const double *u, double *qdot)
{
    const lw_model *model = c->model;
    int iq = 0, iv = 0; // the first that are left
    for (int i = 0; i < c->nrun; i++) {
        const int count = c->run[i].balls;
        const lwi_node *node = &model->node[c->run[i].node];
        LWI_ASSERT(node->iq - iq == node->iv - iv);
        if (node->iq > iq) memcpy(qdot + iq, u + iv, (size_t)(node->iq - iq) * sizeof *qdot);
        iq = node->iq, iv = node->iv;
        if (count) {
            balls of = {q + iq, u + iv, qdot + iq};
            lwi_pool_for(count < WORTH ? NULL : pool, count, rates_of_balls, &of);
            iq += 4 * count, iv += 3 * count;
            continue;
        }
        node->type->kinematics(node->par, q + iq, u + iv, qdot + iq);
        iq += node->nq, iv += node->nv;
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
