// inverse_rows.c -- inverse dynamics of the rows of a motion.
#include "analysis/inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// [rad, lengths of the mechanism] of an independent coordinate, on the way to a row
#define STRIDE 0.1
// The same of a coordinate of the motion and that of the loops.
#define GAP 1e-4

// How many steps lead to the row, so that loops stay on their branch.
static int strides(const lw_inverse *s)
{
    double largest = 0;
    for (int k = 0; k < s->f; k++) {
        const int speed = s->at.manifold.independent[k];
        int node = 0;
        while (speed >= s->model->node[node].iv + s->model->node[node].nv) node++;
        const lwi_node *at = &s->model->node[node];
        if (!at->type->scalar) continue;
        const int i = at->iq + speed - at->iv;
        largest =
            fmax(largest, fabs(s->near_q[i] - s->q[i]) / lwi_manifold_unit(&s->at.manifold, speed));
    }
    return largest < 1000 * STRIDE ? 1 + (int)(largest / STRIDE) : 1000;
}

// Part of the way of the independent scalar coordinates from s->q to s->near_q, the dependent ones closed.
static lw_status stride(lw_inverse *s, double t, double part, lw_error *error)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *at = &s->model->node[k];
        for (int i = 0; at->type->scalar && i < at->nv; i++)
            if (lwi_track_has(&s->track, at->iv + i))
                s->q[at->iq + i] += part * (s->near_q[at->iq + i] - s->q[at->iq + i]);
    }
    memset(s->still, 0, (size_t)s->n * sizeof *s->still);
    memset(s->vdot, 0, (size_t)s->n * sizeof *s->vdot);
    return lw_inverse_complete(s, t, s->q, s->still, s->vdot, error);
}

long lw_inverse_rows(const lw_inverse *inverse)
{
    return inverse ? inverse->track.rows : 0;
}

// Compares coordinates that the row has with those that the loops give, s->q.
static void compare_row(lw_inverse *s, double t)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *at = &s->model->node[k];
        for (int i = 0; at->type->scalar && i < at->nv; i++) {
            const int speed = at->iv + i;
            const double given = s->near_q[at->iq + i], found = s->q[at->iq + i],
                         gap = fabs(given - found) / lwi_manifold_unit(&s->at.manifold, speed);
            if (!lwi_track_has(&s->track, speed) || !(gap > fmax(GAP, s->gap))) continue;
            s->gap = gap;
            snprintf(s->warning, sizeof s->warning,
                     "motion: at t = %.9g s joint.%.100s.q%d = %.9g does not satisfy the loops: "
                     "they give %.9g, from the independent coordinates of the motion, and these "
                     "efforts are for it",
                     t, s->model->joint[at->joint].name, at->column[i], given, found);
        }
    }
}

static lw_status solve_row(lw_inverse *s, long row, double t, lw_error *error)
{
    memcpy(s->near_q, s->q, (size_t)s->model->tree_nq * sizeof *s->q);
    lwi_track_row(&s->track, row, s->near_q, s->v, s->vdot);
    const int n = strides(s);
    for (int i = 1; i < n; i++) TRY(stride(s, t, 1.0 / (n - i + 1), error));
    lwi_track_row(&s->track, row, s->q, s->v, s->vdot);
    TRY(lw_inverse_complete(s, t, s->q, s->v, s->vdot, error));
    compare_row(s, t);
    return LW_OK;
}

lw_status lw_inverse_row(lw_inverse *s, long row, const lw_inverse_solution **solution,
                         lw_error *error)
{
    if (!s || row < 0 || row >= s->track.rows)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_inverse_row: there is no row %ld", row);
    const double t = s->track.time[row];
    lw_error reason = {0};
    const lw_status status = solve_row(s, row, t, &reason);
    if (status != LW_OK)
        return lwi_fail_at(error, status, reason.file, reason.line, reason.column,
                           "motion: row %ld, t = %.9g s: %.400s", row, t, reason.text);
    return lw_inverse_solve(s, t, s->q, s->v, s->vdot, solution, error);
}

const char *lw_inverse_warning(const lw_inverse *inverse)
{
    return inverse ? inverse->warning : "";
}

void lw_inverse_state(const lw_inverse *inverse, const double **q, const double **v,
                      const double **vdot)
{
    if (!inverse) return;
    if (q) *q = inverse->q;
    if (v) *v = inverse->v;
    if (vdot) *vdot = inverse->vdot;
}
