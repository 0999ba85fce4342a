// closed_watch.c -- singular positions: how near a run came to one, and what is said about it.
#include "formulation/closed.h"

#include <math.h>
#include <stdio.h>

// ------------------------------------------------------------------------------------------- names

void lwi_closed_edge_name(const lwi_closed *s, int edge, char *text, size_t size)
{
    const lw_model *model = s->model;
    const int j = s->edge_joint[edge];
    if (j >= 0) {
        snprintf(text, size, "joint '%.100s'", model->joint[j].name);
        return;
    }
    if (edge >= s->nedge - s->nextra) {
        snprintf(text, size, "a spring");
        return;
    }
    const lwi_coupling *c = &model->coupling[-1 - j];
    snprintf(text, size, "the coupling of joints '%.60s' and '%.60s'", model->joint[c->joint].name,
             model->joint[c->of].name);
}

// ------------------------------------------------------------------------------------------- watch

// What is kept of the pivots: the first is what the others are compared with.
void lwi_closed_watch(lwi_closed *s, double t)
{
    const lwi_pivots pivots = lwi_dual_pivots(s->dual);
    lwi_watch *watch = &s->watch;
    const double small = pivots.least;
    if (!watch->begun) *watch = (lwi_watch){.begun = true, .first = small, .least = INFINITY};
    const double near = LWI_CLOSED_NEAR * watch->first;
    if (!watch->close && small < near && !watch->times++) watch->entry = t;
    watch->close = small < near || (watch->close && small < 10 * near);
    if (!(small < watch->least)) return;
    watch->least = small;
    watch->time = t;
    watch->edge = pivots.edge;
}

void lwi_closed_notice(const lwi_closed *s, char *text, size_t size)
{
    const lwi_watch *watch = &s->watch;
    char which[160];
    text[0] = 0;
    if (!watch->begun || !watch->times) return;
    lwi_closed_edge_name(s, watch->edge, which, sizeof which);
    snprintf(
        text, size,
        "passed close to a singular position at t = %.6g s (times in all: %d, closest at %.6g s): "
        "the "
        "constraints of %s almost depended on others there (pivot %.1e, %.1e at the start); what "
        "follows may be another branch of the motion",
        watch->entry, watch->times, watch->time, which, watch->least, watch->first);
}

// ---------------------------------------------------------------------------------------- failures

// "'a', 'b', ...": the joints of the rows that depend on each other, as far as they fit.
static void list_dependent(const lwi_closed *s, int edge, char *text, size_t size)
{
    const lw_model *model = s->model;
    const int j = s->edge_joint[edge];
    lw_joint joints[12];
    text[0] = 0;
    if (j < 0) return;
    for (int l = 0; l < model->nloop; l++) {
        const int n = lw_model_loop(model, l, joints, LWI_COUNT(joints));
        bool member = false;
        for (int i = 0; i < n && i < LWI_COUNT(joints); i++)
            member = member || joints[i].index == j;
        if (!member) continue;
        size_t used = 0;
        for (int i = 0; i < n && i < LWI_COUNT(joints) && used < size - 80; i++) {
            if (joints[i].index == j) continue;
            used += (size_t)snprintf(text + used, size - used, "%s'%.60s'",
                                     used ? ", " : " and those of ",
                                     model->joint[joints[i].index].name);
        }
        if (n > LWI_COUNT(joints)) snprintf(text + used, size - used, ", ...");
        return;
    }
}

lw_status lwi_closed_fails(const lwi_closed *s, double t, lw_status status, lw_error *error)
{
    const lwi_pivots pivots = lwi_dual_pivots(s->dual);
    char which[160], others[240];
    if (status != LW_ERR_SINGULAR)
        return lwi_fail(error, status, "t = %.9g s: constraints: %s", t, lw_status_text(status));
    lwi_closed_edge_name(s, pivots.edge, which, sizeof which);
    if (!s->plan.node[s->plan.closer[pivots.edge]].loop)
        return lwi_fail(error, status,
                        "%s, t = %.9g s: what it carries is so much heavier than the bodies it "
                        "joins that their "
                        "inertias drown in round-off (pivot %.1e); use %s",
                        which, t, pivots.least, s->model->nloop ? "`dense`" : "`aba` or `momenta`");
    list_dependent(s, pivots.edge, others, sizeof others);
    return lwi_fail(
        error, status,
        "singular position at t = %.9g s: the constraints of %s%s depend on each other here, but "
        "not nearby (pivot %.1e); how the motion goes on is not determined: end the run "
        "before, or start it a little off",
        t, which, others, pivots.least);
}
