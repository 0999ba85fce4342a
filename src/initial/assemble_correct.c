// assemble_correct.c -- a motion that has drifted, back on its joints.
//
// In the metric of the masses displacements and changes of velocity are those of internal impulses:
// the mass centre and the momentum of every floating component stay.  Its angular momentum about the
// mass centre would change with the shape, by the displacement times the speed; a rigid rotation,
// which changes no joint of a floating component, removes that change.
#include "initial/assemble.h"

#include "base/linear.h"
#include "spatial/motion.h"

typedef struct component {
    double mass, r[3], v[3]; // of the mass centre
    double L[3], I[6];       // about it, world axes
} component;

static component sum_up(const lwi_assembler *a, int first)
{
    const lw_model *model = a->model;
    component c = {0};
    for (int k = first; k < model->nnode; k++) {
        if (a->component[k] != first) continue;
        const int b = model->node[k].body;
        c.mass += model->body[b].mass;
        v3_axpy(c.r, model->body[b].mass, a->r[b]);
        v3_axpy(c.v, model->body[b].mass, a->v[b]);
    }
    if (!(c.mass > 0)) return c;
    v3_scale(c.r, 1 / c.mass, c.r);
    v3_scale(c.v, 1 / c.mass, c.v);
    for (int k = first; k < model->nnode; k++) {
        if (a->component[k] != first) continue;
        const int b = model->node[k].body;
        const lwi_body *body = &model->body[b];
        double I[6], arm[3], p[3], own[3];
        s3_rotate(I, a->R[b], body->inertia);
        s3_mul_v(own, I, a->w[b]);
        v3_sub(arm, a->r[b], c.r);
        v3_sub(p, a->v[b], c.v);
        v3_scale(p, body->mass, p);
        v3_add(c.L, c.L, own);
        v3_cross_add(c.L, arm, p);
        s3_add_point(I, body->mass, arm);
        for (int i = 0; i < 6; i++) c.I[i] += I[i];
    }
    return c;
}

// Moves a component as a whole so that speed and angular momentum are those of `momenta`.
static void restore_momenta(lwi_assembler *a, int first, const double momenta[6])
{
    const lw_model *model = a->model;
    const component c = sum_up(a, first);
    double I[9], turn[3], shift[3];
    s3_full(I, c.I);
    v3_sub(shift, momenta, c.v);
    v3_sub(turn, momenta + 3, c.L);
    // a line of point masses: no rotation about it, and no correction there
    if (lwi_cholesky(3, I, 1e-12 * (c.I[0] + c.I[1] + c.I[2])) >= 0) return;
    lwi_lower_solve(3, I, turn);
    lwi_lower_tsolve(3, I, turn);
    for (int k = first; k < model->nnode; k++) {
        if (a->component[k] != first) continue;
        const int b = model->node[k].body;
        double arm[3];
        v3_sub(arm, a->r[b], c.r);
        v3_add(a->v[b], a->v[b], shift);
        v3_cross_add(a->v[b], turn, arm);
        v3_add(a->w[b], a->w[b], turn);
    }
}

// Residuals above this, relative to the length of the mechanism or the speeds, are not closed.  Regularised rows give
// way to bodies that are much heavier than others; the metric without masses then closes the gap.
#define OPEN 1e-9
// Ratio of inverse inertias above which rows give way.
#define UNEVEN 1e5

static bool masses_are_uneven(const lwi_assembler *a)
{
    double smallest = INFINITY, largest = 0;
    for (int k = 0; k < a->model->nnode; k++) {
        const double *K = a->metric[k].ang;
        smallest = fmin(smallest, K[0] + K[1] + K[2]);
        largest = fmax(largest, K[0] + K[1] + K[2]);
    }
    return largest > UNEVEN * smallest;
}

// The square of such a step is round-off, also where rows depend on each other nearly.
#define LAST_STEP 1e-9

// True if the masses are uneven.
static bool close_positions(lwi_assembler *a, double enough)
{
    const double last = enough > 0 ? LAST_STEP : 0;
    // one step takes the drift of an integration to its square, one more to round-off
    enum { FEW = 4 };
    lwi_assembler_weigh(a);
    const bool uneven = masses_are_uneven(a);
    for (int i = 0; i < FEW && lwi_assembler_step(a); i++)
        if (lwi_assembler_step_size(a) < last) break;
    if (uneven && !(lwi_assembler_residual(a, false, NULL) <= OPEN * (1 + a->length))) {
        lwi_assembler_geometric(a);
        for (int i = 0; i < FEW && lwi_assembler_step(a); i++) continue;
    }
    return uneven;
}

void lwi_assembler_correct_positions(lwi_assembler *a, double enough)
{
    a->held = false;
    close_positions(a, enough);
    a->held = true;
    lwi_assembler_read(a);
}

void lwi_assembler_correct(lwi_assembler *a, double enough)
{
    const int nnode = a->model->nnode;
    for (int k = 0; k < nnode; k++)
        if (a->component[k] == k) {
            const component c = sum_up(a, k);
            v3_copy(a->momenta[k], c.v);
            v3_copy(a->momenta[k] + 3, c.L);
        }
    a->held = false;
    const bool uneven = close_positions(a, enough);
    lwi_assembler_weigh(a);
    lwi_assembler_project(a, enough);
    if (uneven && !(lwi_assembler_residual(a, true, NULL) <= OPEN * (1 + lwi_assembler_speed(a)))) {
        lwi_assembler_geometric(a);
        lwi_assembler_project(a, enough);
    }
    a->held = true;
    for (int k = 0; k < nnode; k++)
        if (a->component[k] == k) restore_momenta(a, k, a->momenta[k]);
    lwi_assembler_read(a);
}
