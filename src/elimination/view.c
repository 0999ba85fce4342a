// view.c -- a second right side for the factors of an engine, at the same time.
//
// Sweeps over vectors read the factors and write the fronts' v, nothing else.  A view has fronts
// with a v of its own and everything else in common.
#include "elimination/lanes.h"

#include <string.h>

lw_status lwi_elim_view_create(const lwi_elim *dual, lwi_arena *arena, lwi_elim **out)
{
    lwi_elim *view = LWI_PUSH(arena, lwi_elim, 1);
    size_t size = 0;
    for (int k = 0; k < dual->nnode; k++) size += (size_t)dual->front[k].ld;
    lwi_elim_front *front = LWI_PUSH(arena, lwi_elim_front, dual->nnode);
    double *v = LWI_PUSH(arena, double, size);
    if (!view || !front || !v) return LW_ERR_MEMORY;
    memcpy(front, dual->front, (size_t)dual->nnode * sizeof *front);
    for (int k = 0; k < dual->nnode; k++) {
        front[k].v = v;
        v += front[k].ld;
    }
    *view = *dual;
    view->front = front;
    view->crew = NULL;
    *out = view;
    return lwi_elim_batch_view(view, arena);
}

void lwi_elim_view_take(lwi_elim *view, lwi_elim *dual)
{
    lwi_elim_front *front = view->front;
    lwi_elim_unit *unit = view->unit;
    lwi_elim_read_rows(dual); // not by several views at a time
    *view = *dual;
    view->front = front;
    view->unit = unit;
    view->crew = NULL;
    for (int u = 0; u < view->ngroup; u++) {
        unit[u].group->Q = dual->unit[u].group->Q;
        unit[u].group->V = dual->unit[u].group->V;
    }
}
