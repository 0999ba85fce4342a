// messages.c -- names of edges, and the error of a failed factorisation.
#include "system/system.h"

#include "base/assert.h"
#include "system/singular.h"

#include <stdio.h>

void lwi_system_edge_name(const lwi_system *s, int edge, char *text, size_t size)
{
    LWI_ASSERT_INDEX(edge, s->plan.graph.nedge);
    if (edge >= s->nedge - s->nextra && edge < s->nedge)
        snprintf(text, size, "a spring");
    else
        lwi_singular_owner(s->model, s->edge_joint[edge], text, size);
}

lw_status lwi_system_fails(const lwi_system *s, double t, lw_status status, lw_error *error)
{
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(s->elim);
    char which[160];
    if (status != LW_ERR_SINGULAR)
        return lwi_fail(error, status, "t = %.9g s: constraints: %s", t, lw_status_text(status));
    lwi_system_edge_name(s, pivots.edge, which, sizeof which);
    if (!s->plan.node[s->plan.closer[pivots.edge]].loop)
        return lwi_fail(error, status,
                        "%s, t = %.9g s: what it carries is so much heavier than the bodies it "
                        "joins that their inertias drown in round-off (pivot %.1e); use %s",
                        which, t, pivots.min, s->model->nloop ? "`dense`" : "`aba` or `momenta`");
    return lwi_singular_fail(s->model, s->edge_joint[pivots.edge], t, pivots.min, error);
}
