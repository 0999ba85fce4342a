// shared.c -- memory of what the parts of a simulation have in common.
#include "system/shared.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

void lwi_shared_init(const lw_allocator *allocator, lwi_shared *shared)
{
    *shared = (lwi_shared){.tree_pivot = NAN};
    lwi_arena_init(&shared->arena, allocator);
    lwi_arena_init(&shared->segments, allocator);
}

void lwi_shared_free(lwi_shared *shared)
{
    lwi_arena_free(&shared->segments);
    lwi_arena_free(&shared->arena);
}

static bool same_edge(const lwi_plan_edge *a, const lwi_plan_edge *b)
{
    return a->rows == b->rows && a->n == b->n && a->ground == b->ground &&
           !memcmp(lwi_plan_bodies(a), lwi_plan_bodies(b), (size_t)a->n * sizeof *a->body);
}

static bool same_graph(const lwi_plan_graph *a, const lwi_plan_graph *b)
{
    bool same = a->nbody == b->nbody && a->nedge == b->nedge;
    for (int e = 0; e < a->nedge && same; e++) same = same_edge(&a->edge[e], &b->edge[e]);
    return same;
}

lw_status lwi_shared_plan(lwi_shared *shared, const lwi_plan_graph *graph, lw_plan kind,
                          lwi_arena *arena, lwi_plan *plan)
{
    if (shared && !shared->planned) {
        TRY(lwi_plan_create(graph, kind, &shared->arena, &shared->plan));
        shared->planned = true, shared->kind = kind;
    }
    if (!shared || shared->kind != kind || !same_graph(graph, &shared->plan.graph))
        return lwi_plan_create(graph, kind, arena, plan);
    *plan = shared->plan;
    return LW_OK;
}

bool lwi_shared_has(const lwi_shared *shared, const lwi_plan *plan)
{
    return shared && shared->planned && plan->nnode > 0 && plan->node == shared->plan.node;
}

lw_status lwi_shared_elim(lwi_shared *shared, const lwi_plan *plan, lwi_arena *arena,
                          lwi_elim **elim)
{
    if (!lwi_shared_has(shared, plan)) return lwi_elim_create(plan, arena, elim);
    if (!shared->elim)
        TRY(lwi_shared_own_elim(shared, &shared->plan, &shared->arena, &shared->elim));
    *elim = shared->elim;
    return LW_OK;
}

lw_status lwi_shared_own_elim(lwi_shared *shared, const lwi_plan *plan, lwi_arena *arena,
                              lwi_elim **elim)
{
    lwi_elim_updates *updates = lwi_shared_has(shared, plan) ? &shared->updates : NULL;
    if (updates) updates->arena = &shared->arena;
    return lwi_elim_create_with(plan, updates, arena, elim);
}

lw_status lwi_shared_keep_ranks(lwi_shared *shared, const lw_model *model, int start_redundant,
                                int redundant, const lwi_motion *motion)
{
    LWI_ASSERT(redundant >= 0 && redundant <= start_redundant);
    if (shared->ranked) return LW_OK;
    const size_t nbody = (size_t)model->nbody;
    shared->R = lwi_arena_push(&shared->arena, nbody, sizeof *shared->R);
    shared->r = lwi_arena_push(&shared->arena, nbody, sizeof *shared->r);
    shared->q = LWI_PUSH(&shared->arena, double, model->nq);
    if (!shared->R || !shared->r || !shared->q) return LW_ERR_MEMORY;
    memcpy(shared->R, motion->R, nbody * sizeof *shared->R);
    memcpy(shared->r, motion->r, nbody * sizeof *shared->r);
    if (model->nq) memcpy(shared->q, motion->q, (size_t)model->nq * sizeof *shared->q);
    shared->start_redundant = start_redundant;
    shared->redundant = redundant;
    shared->ranked = true;
    return LW_OK;
}
