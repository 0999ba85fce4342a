// rcr_cells.c -- between the state of `rcr` and its cells.
#include "formulation/rcr_cells.h"

#include "formulation/rcr.h"
#include "kernel/kernels.h"

#include <math.h>
#include <string.h>

struct lwi_rcr_cells {
    const lwi_kernels *text;
    lwi_cells *cells;
    unsigned char *other; // [tree_nv] scratch: a partition
};

// ------------------------------------------------------------------------------------------ create

// The speed a force acts on, in the joint arrays; -1: it acts on more than that.
static int speed_of(const lwi_force *force)
{
    if (force->type == &lwi_force_joint_spring)
        return ((const lwi_joint_spring_par *)force->par)->iv;
    if (force->type == &lwi_force_joint_stop) return ((const lwi_joint_stop_par *)force->par)->iv;
    if (force->type == &lwi_force_joint_friction)
        return ((const lwi_joint_friction_par *)force->par)->iv;
    return -1;
}

static bool acts_on_tree(const lw_model *model, const lwi_force *force)
{
    const int iv = speed_of(force);
    if (iv < 0) return false;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        if (iv >= joint->iv && iv < joint->iv + joint->type->nv) return false;
    }
    return true;
}

lw_status lwi_rcr_cells_create(lwi_work *work, lwi_rcr_cells **out)
{
    const lw_model *model = work->model;
    const lwi_rcr_work *d = work->data;
    const lwi_kernels *text = work->lanes == LWI_NO_KERNEL ? NULL : lwi_kernels_of(work->lanes);
    *out = NULL;
    if (!text || model->nrotor > 0) return LW_OK;
    for (int i = 0; i < model->nforce; i++)
        if (!acts_on_tree(model, &model->force[i])) return LW_OK;
    lwi_rcr_cells *cells = LWI_PUSH(&work->arena, lwi_rcr_cells, 1);
    int *carried = LWI_PUSH(&work->arena, int, model->nloop);
    if (cells) cells->other = LWI_PUSH(&work->arena, unsigned char, model->tree_nv);
    if (!cells || !carried || !cells->other) return LW_ERR_MEMORY;
    for (int i = 0; i < model->nloop; i++) {
        carried[i] = -1;
        for (int k = 0; k < d->carried.n; k++)
            if (d->carried.item[k].joint == model->loop[i]) carried[i] = d->carried.at + k;
    }
    cells->text = text;
    TRY(lwi_cells_create(model, d->e.length, d->e.scale, carried, &work->arena, &cells->cells));
    if (cells->cells) *out = cells;
    return LW_OK;
}

// -------------------------------------------------------------------------------------- partition

// A unit of speed iv at the joint that closes the loop, through its rows.
static void column(const void *user, int loop, int side, int iv, double w[6])
{
    const lwi_rcr_work *d = user;
    const lwi_rcr *e = &d->e;
    const lw_model *model = e->model;
    const lwi_joint *joint = &model->joint[model->loop[loop]];
    const lwi_closure *c = &d->cut.closure[loop];
    const int body = side > 0 ? joint->body2 : joint->body1;
    int k = 0, at = 0;
    while (iv >= model->node[k].iv + model->node[k].nv) k++;
    while (at < c->nbody - 1 && c->body[at] != body) at++;
    const double *S = e->S[iv];
    double arm[3], v[6];
    v3_sub(arm, d->tree.body_r[body], d->tree.r[k]);
    v3_scale(v, e->length, S);
    v3_copy(v + 3, S + 3);
    v3_cross_add(v, S + 3, arm);
    v6_zero(w);
    for (int r = 0; r < c->n; r++)
        w[r] = v6_dot(c->J[at][r], v) / (d->cut.len[d->cut.first[loop] + r] * e->length);
}

// Smallest pivot of a partition; 0 where there is none.
static double least_of(lwi_rcr_work *d, double t, unsigned char *dependent)
{
    lw_error error;
    d->e.dependent = dependent;
    return lwi_rcr_factor(&d->e, t, &error) == LW_OK ? d->e.least : 0;
}

void lwi_rcr_cells_prefer(lwi_work *work, double t, unsigned char *dependent)
{
    lwi_rcr_work *d = work->data;
    unsigned char *const before = d->e.dependent, *other = d->cells->other;
    const size_t n = (size_t)work->model->tree_nv;
    for (int anew = 0; anew < 2; anew++) {
        memcpy(other, dependent, n);
        if (!lwi_cells_prefer(d->cells->cells, column, d, anew, other)) {
            if (anew == 0) break; // nothing is to be changed
            continue;
        }
        // far from the next change, or as far as the other is but for rounding
        const double enough = fmin(0.5 * (d->theta + d->keep), 0.99 * least_of(d, t, dependent));
        if (!(least_of(d, t, other) > enough)) continue;
        memcpy(dependent, other, n);
        break;
    }
    d->e.dependent = before;
}

// -------------------------------------------------------------------------------------- evaluation

static bool all_finite(int n, const double *x)
{
    lwi_lanes nothing = {0}; // x - x is no number where x is none or not finite
    double sum = 0;
    for (; n >= LWI_LANES; n -= LWI_LANES, x += LWI_LANES)
        for (int l = 0; l < LWI_LANES; l++) nothing[l] += x[l] - x[l];
    for (int l = 0; l < n; l++) sum += x[l] - x[l];
    for (int l = 0; l < LWI_LANES; l++) sum += nothing[l];
    return sum == 0;
}

// Rates of everything beside q and u.
static void other_rates(const lwi_rcr_work *d, const lwi_cells *c, double *xdot)
{
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cell_block *b = &c->block[i];
        if (b->carried[0] < 0) continue;
        for (int l = 0; l < LWI_LANES; l++) xdot[b->carried[l]] = b->rate[0][l];
    }
    if (d->carried.at_work >= 0) xdot[d->carried.at_work] = d->tree.power;
}

int lwi_rcr_cells_count(const lwi_rcr_cells *cells)
{
    return cells->cells->made && cells->cells->fits ? cells->cells->ncell : 0;
}

double lwi_rcr_cells_pivot(const lwi_work *work, const double *x, const unsigned char *dependent)
{
    const lwi_rcr_work *d = work->data;
    const lwi_kernels *text = d->cells->text;
    double steepest;
    if (!lwi_cells_plan(d->cells->cells, dependent)) return 0;
    return text->cells_place(d->cells->cells, x, &steepest) ? 1 / sqrt(1 + steepest) : 0;
}

bool lwi_rcr_cells_rates(lwi_work *work, double t, const double *x, const double *inputs,
                         double *xdot, double *least)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    const lwi_kernels *text = d->cells->text;
    const lwi_rcr_choice *choice = work->discrete;
    lwi_cells *c = d->cells->cells;
    const int n = model->tree_nv;
    double steepest, *v = xdot, *vdot = xdot + n; // scalar joints: qdot = u
    if (!lwi_cells_plan(c, choice->dependent)) return false;
    if (!text->cells_place(c, x, &steepest)) return false;
    *least = 1 / sqrt(1 + steepest);
    if (!(*least > LWI_RCR_DELAY)) return false;
    memcpy(v, x + n, (size_t)n * sizeof *v);
    text->cells_speeds(c, v);
    if (model->nforce) lwi_tree_joint_loads(model, &d->tree, t, x, v, inputs);
    text->cells_force(c, v, model->nforce ? d->tree.effort : NULL);
    if (!text->cells_solve(c, vdot) || !all_finite(2 * n, xdot)) return false;
    other_rates(d, c, xdot);
    return true;
}
