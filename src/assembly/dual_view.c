// dual_view.c -- a second right side for the factors of an engine, at the same time.
//
// Sweeps over vectors read the factors and write the fronts' v, nothing else.  A view has fronts
// with a v of its own and everything else in common.
#include "assembly/dual_lanes.h"

#include <string.h>

lw_status lwi_dual_view_create(const lwi_dual *dual, lwi_arena *arena, lwi_dual **out)
{
    lwi_dual *view = LWI_PUSH(arena, lwi_dual, 1);
    size_t size = 0;
    for (int k = 0; k < dual->nnode; k++) size += (size_t)dual->front[k].ld;
    lwi_dual_front *front = LWI_PUSH(arena, lwi_dual_front, dual->nnode);
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
    return lwi_dual_group_view(view, arena);
}

void lwi_dual_view_take(lwi_dual *view, lwi_dual *dual)
{
    lwi_dual_front *front = view->front;
    lwi_dual_unit *unit = view->unit;
    lwi_dual_read_rows(dual); // not by several views at a time
    *view = *dual;
    view->front = front;
    view->unit = unit;
    view->crew = NULL;
    for (int u = 0; u < view->ngroup; u++) {
        unit[u].group->Q = dual->unit[u].group->Q;
        unit[u].group->V = dual->unit[u].group->V;
    }
}
