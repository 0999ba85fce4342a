// view.c -- a second right side for the same factors, on another thread at the same time.
//
// Vector sweeps read the factors and write only the vectors v of the fronts.  A view has fronts with their
// own v and shares everything else.
#include "elimination/lanes.h"

#include <string.h>

lw_status lwi_elim_view_create(const lwi_elim *elim, lwi_arena *arena, lwi_elim **out)
{
    lwi_elim *view = LWI_PUSH(arena, lwi_elim, 1);
    size_t size = 0;
    for (int k = 0; k < elim->nnode; k++) size += (size_t)elim->front[k].ld;
    lwi_elim_front *front = LWI_PUSH(arena, lwi_elim_front, elim->nnode);
    double *v = LWI_PUSH(arena, double, size);
    if (!view || !front || !v) return LW_ERR_MEMORY;
    memcpy(front, elim->front, (size_t)elim->nnode * sizeof *front);
    for (int k = 0; k < elim->nnode; k++) {
        front[k].v = v;
        v += front[k].ld;
    }
    *view = *elim;
    view->front = front;
    view->team = NULL;
    *out = view;
    return lwi_elim_batch_view(view, arena);
}

void lwi_elim_view_take(lwi_elim *view, lwi_elim *elim)
{
    LWI_ASSERT(view->plan == elim->plan && view->nbatch == elim->nbatch);
    lwi_elim_front *front = view->front;
    lwi_elim_task *task = view->task;
    lwi_elim_read_rows(elim); // here, not by several views concurrently
    *view = *elim;
    view->front = front;
    view->task = task;
    view->team = NULL;
    for (int u = 0; u < view->nbatch; u++) {
        task[u].batch->Q = elim->task[u].batch->Q;
        task[u].batch->V = elim->task[u].batch->V;
    }
}
