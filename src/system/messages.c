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

// Errors of solutions that are worth a warning.
#define WORTH 1e-9

void lwi_system_notice(const lwi_system *s, char *text, size_t size)
{
    const bool tree = s->model->nloop == 0 && s->model->ncoupling == 0;
    char which[160] = "";
    text[0] = 0;
    if (s->extended_count) lwi_system_edge_name(s, s->min_pivot_edge, which, sizeof which);
    if (s->lost > WORTH)
        snprintf(text, size,
                 "inertias differ so much that accelerations or velocities have a relative error "
                 "of %.0e: %s",
                 s->lost, tree ? "use `aba` or `momenta`" : "compare with `dense` or `rcr`");
    else if (s->extended_count)
        snprintf(
            text, size,
            "%s: what it carries has so much more inertia than the bodies that it joins (a "
            "compliance of %.0e of "
            "theirs) that the elimination needed twice the digits, which is slow (times: %d)%s",
            which, s->min_pivot, s->extended_count, tree ? "; `aba` and `momenta` do not" : "");
}

lw_status lwi_system_fails(const lwi_system *s, double t, lw_status status, lw_error *error)
{
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(s->elim);
    char which[160];
    if (status != LW_ERR_SINGULAR)
        return lwi_fail(error, status, "t = %.9g s: constraints: %s", t, lw_status_text(status));
    lwi_system_edge_name(s, pivots.edge, which, sizeof which);
    if (!s->plan.node[s->plan.closer[pivots.edge]].loop)
        return lwi_fail(
            error, status,
            "%s, t = %.9g s: what it carries has so much more inertia than the bodies it "
            "joins that nothing of theirs is left in round-off (a share of %.1e); use %s",
            which, t, pivots.min, s->model->nloop ? "`dense`" : "`aba` or `momenta`");
    return lwi_singular_fail(s->model, s->edge_joint[pivots.edge], t, pivots.min, error);
}
