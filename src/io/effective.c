// effective.c -- effective inertias by the articulated-body recursion (tree/articulated.h): the factors N of the mass
// matrix M = N N', with which J M^-1 J' = |N^-1 J'|^2.
#include "io/effective.h"

#include "base/assert.h"
#include "model/model.h"
#include "spatial/inertia.h"

#include <linkwork/dynamics.h>

#include <math.h>
#include <string.h>

static lw_status allocate(lwi_effective *e)
{
    const lw_model *m = e->model;
    TRY(lwi_tree_work_create(m, &e->arena, &e->work));
    e->node = LWI_PUSH(&e->arena, lwi_articulated, m->nnode);
    e->q = LWI_PUSH(&e->arena, double, m->tree_nq);
    e->v = LWI_PUSH(&e->arena, double, m->tree_nv);
    e->D = LWI_PUSH(&e->arena, double, m->tree_nv);
    e->e = LWI_PUSH(&e->arena, double, m->tree_nv);
    e->f = lwi_arena_push(&e->arena, (size_t)m->nnode, sizeof *e->f);
    return e->node && e->q && e->v && e->D && e->e && e->f ? LW_OK : LW_ERR_MEMORY;
}

lw_status lwi_effective_create(const lw_builder *builder, lwi_effective *e, lw_error *error)
{
    *e = (lwi_effective){.model = NULL};
    TRY(lw_model_create_open(builder, &e->model, error));
    lwi_arena_init(&e->arena, &builder->arena.allocator);
    if (allocate(e) != LW_OK) {
        lwi_effective_destroy(e);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the inertias of joints");
    }
    lw_model_tree_start(e->model, e->q, e->v);
    memset(e->v, 0, (size_t)e->model->tree_nv * sizeof *e->v);
    return LW_OK;
}

void lwi_effective_destroy(lwi_effective *e)
{
    if (!e->model) return;
    lwi_arena_free(&e->arena);
    lw_model_destroy(e->model);
    e->model = NULL;
}

void lwi_effective_factor(lwi_effective *e)
{
    const lw_model *m = e->model;
    lwi_tree_position(m, 0, e->q, e->work.link);
    for (int k = 0; k < m->nnode; k++)
        inertia_rigid(&e->node[k].M, m->node[k].mass, m->node[k].h, m->node[k].J);
    for (int k = m->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &m->node[k];
        const lwi_link *link = &e->work.link[k];
        const double *rotor = m->tree_rotor + node->iv;
        double Y[6][6];
        const lw_status status = lwi_articulated_factor(m, &e->work, e->node, k, 0, rotor, NULL);
        for (int i = 0; i < node->nv; i++)
            e->D[node->iv + i] =
                status == LW_OK ? v6_dot(link->S[i], e->node[k].U[i]) + rotor[i] : 0;
        if (status == LW_OK)
            lwi_articulated_give(m, &e->work, e->node, k, Y);
        else if (node->parent >= 0)
            inertia_add_from(&e->node[node->parent].M, link->R, link->r, &e->node[k].M);
    }
}

// 1 / |N^-1 t|^2 of the efforts t = J + sum S'f of the wrenches f.
static double inertia_of(const lwi_effective *e, const double *J)
{
    const lw_model *m = e->model;
    double sum = 0;
    for (int k = m->nnode - 1; k >= 0; k--) { // [anderson2003, (16)]
        const lwi_node *node = &m->node[k];
        const lwi_link *link = &e->work.link[k];
        if (node->nv == 0 || e->D[node->iv] > 0)
            lwi_articulated_inward(node, link, &e->node[k], J + node->iv, e->f[k], e->e + node->iv);
        for (int i = 0; i < node->nv; i++)
            if (e->D[node->iv] > 0) sum += e->e[node->iv + i] * e->e[node->iv + i];
        if (node->parent >= 0) force_add_from(e->f[node->parent], link->R, link->r, e->f[k]);
    }
    return sum > 0 ? 1 / sum : INFINITY;
}

double lwi_effective_inertia(const lwi_effective *e, const double *J)
{
    memset(e->f, 0, (size_t)e->model->nnode * sizeof *e->f);
    return inertia_of(e, J);
}

double lwi_effective_inertia_of_force(lwi_effective *e, int force)
{
    lw_model *m = e->model; // ours: until the loads are there it has this force alone
    lwi_force *all = m->force;
    const int n = m->nforce;
    LWI_ASSERT_INDEX(force, n);
    m->force = &all[force];
    m->nforce = 1;
    lwi_tree_evaluate(m, &e->work, 0, e->q, e->v, NULL);
    m->force = all;
    m->nforce = n;
    memcpy(e->f, e->work.wrench, (size_t)m->nnode * sizeof *e->f);
    return inertia_of(e, e->v);
}
