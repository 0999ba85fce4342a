// columns.c -- depth-first order of the bodies of a plan (columns.h).
#include "tree/normal_form/columns.h"

static int columns_of(const lwi_k_step *step)
{
    return step->driven ? 0 : step->kind == LWI_K_BALL ? 3 : step->kind == LWI_K_BASE ? 6 : 1;
}

typedef struct subtree {
    int parent, bodies, columns; // step; of the subtree
    int at, first;               // in depth-first order
    int next, next_first;        // of the next child
} subtree;

// Steps have their parents before them.
static void count(const lwi_kernel_plan *plan, const int *step_of, subtree *tree)
{
    for (int i = 0; i < plan->nstep; i++) {
        const int slot = plan->step[i].parent;
        tree[i] = (subtree){.parent = slot < 0 ? -1 : step_of[slot],
                            .bodies = 1,
                            .columns = columns_of(&plan->step[i])};
    }
    for (int i = plan->nstep - 1; i >= 0; i--) {
        if (tree[i].parent < 0) continue;
        tree[tree[i].parent].bodies += tree[i].bodies;
        tree[tree[i].parent].columns += tree[i].columns;
    }
}

static void place(const lwi_kernel_plan *plan, subtree *tree, lwi_k_columns *to)
{
    subtree ground = {0};
    for (int i = 0; i < plan->nstep; i++) {
        const int own = columns_of(&plan->step[i]);
        subtree *t = &tree[i], *parent = t->parent < 0 ? &ground : &tree[t->parent];
        t->at = parent->next;
        t->first = parent->next_first;
        parent->next += t->bodies;
        parent->next_first += t->columns;
        t->next = t->at + 1;
        t->next_first = t->first + own;
        to->body[t->at] = (lwi_k_column_body){i, t->parent < 0 ? -1 : tree[t->parent].at, t->first,
                                              own, t->first + t->columns};
    }
}

static void name_columns(const lwi_kernel_plan *plan, lwi_k_columns *to)
{
    for (int i = 0; i < to->n; i++) {
        const lwi_k_column_body *body = &to->body[i];
        const lwi_k_step *step = &plan->step[body->step];
        const bool screw = step->slot < plan->first_ball;
        for (int j = 0; j < body->count; j++) {
            to->speed[body->first + j] = step->iv + j;
            to->sign[body->first + j] =
                screw ? plan->screw[lwi_k_block(step->slot)].sign[lwi_k_lane(step->slot)] : 1;
        }
    }
}

static lw_status fill(const lwi_kernel_plan *plan, lwi_arena *scratch, lwi_k_columns *to)
{
    int *step_of = LWI_PUSH(scratch, int, plan->nblock *LWI_LANES);
    subtree *tree = LWI_PUSH(scratch, subtree, plan->nstep);
    if (!step_of || !tree) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->nstep; i++) step_of[plan->step[i].slot] = i;
    count(plan, step_of, tree);
    place(plan, tree, to);
    name_columns(plan, to);
    return LW_OK;
}

lw_status lwi_k_columns_create(const lwi_kernel_plan *plan, int nv, lwi_arena *arena,
                               lwi_k_columns *columns)
{
    *columns = (lwi_k_columns){.n = plan->nstep};
    for (int i = 0; i < plan->nstep; i++) columns->count += columns_of(&plan->step[i]);
    columns->body = LWI_PUSH(arena, lwi_k_column_body, plan->nstep);
    columns->speed = LWI_PUSH(arena, int32_t, columns->count);
    columns->sign = LWI_PUSH(arena, double, columns->count);
    columns->composite = LWI_PUSH(arena, lwi_k_composite, plan->nstep);
    columns->along = LWI_PUSH(arena, double, columns->count);
    columns->still = LWI_PUSH(arena, double, nv);
    for (int i = 0; i < 6; i++)
        if (!(columns->F[i] = LWI_PUSH(arena, double, columns->count + LWI_LANES)))
            return LW_ERR_MEMORY;
    if (!columns->body || !columns->speed || !columns->sign || !columns->composite ||
        !columns->along || !columns->still)
        return LW_ERR_MEMORY;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = fill(plan, &scratch, columns);
    lwi_arena_free(&scratch);
    return status;
}
