// evaluate.c -- between the state of `rcr` and its cells.
#include "methods/rcr/clusters/evaluate.h"

#include "base/cpu.h"
#include "methods/rcr/rcr.h"
#include "methods/rcr/clusters/loads.h"
#include "methods/rcr/clusters/kernels.h"
#include "model/signals/functions.h"

#include <math.h>
#include <string.h>

struct lwi_rcr_clusters {
    const lwi_cluster_kernels *text;
    lwi_clusters *cells;
    lwi_rcr_loads loads;
    unsigned char *other; // [tree_nv] scratch: a partition
    // where something is driven: of the tree, then of the drives
    double *q, *v, *vdot;
    double *effort; // [ndrive] of forces on what is driven
};

LWI_ISA_BUILDS(lwi_cluster_kernels, lwi_cluster_kernels);

const lwi_cluster_kernels *lwi_cluster_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

// ------------------------------------------------------------------------------------------ create

lw_status lwi_rcr_clusters_create(lwi_work *work, lwi_rcr_clusters **out)
{
    const lw_model *model = work->model;
    const lwi_rcr_work *d = work->data;
    const lwi_cluster_kernels *text =
        work->lanes == LWI_NO_KERNEL ? NULL : lwi_cluster_kernels_of(work->lanes);
    *out = NULL;
    if (!text) return LW_OK;
    for (int i = 0; i < model->nloop; i++)
        if (model->joint[model->loop[i]].nrotor > 0) return LW_OK;
    bool known;
    lwi_rcr_clusters *cells = LWI_PUSH(&work->arena, lwi_rcr_clusters, 1);
    int *carried = LWI_PUSH(&work->arena, int, model->nloop);
    bool *asked = LWI_PUSH(&work->arena, bool, model->nnode);
    if (cells) cells->other = LWI_PUSH(&work->arena, unsigned char, model->tree_nv);
    if (!cells || !carried || !asked || !cells->other) return LW_ERR_MEMORY;
    TRY(lwi_rcr_loads_create(model, &work->arena, &cells->loads, asked, &known));
    if (!known) return LW_OK;
    for (int i = 0; i < model->nloop; i++) {
        carried[i] = -1;
        for (int k = 0; k < d->carried.n; k++)
            if (d->carried.item[k].joint == model->loop[i]) carried[i] = d->carried.at + k;
    }
    cells->text = text;
    TRY(lwi_clusters_create(model, d->e.length, d->e.scale, carried, asked, &work->arena,
                            &cells->cells));
    if (!cells->cells) return LW_OK;
    const int ndrive = cells->cells->parts.ndrive, n = model->tree_nq + ndrive; // nq >= nv
    if (ndrive || cells->cells->nbase) {
        cells->q = LWI_PUSH(&work->arena, double, n);
        cells->v = LWI_PUSH(&work->arena, double, n);
        cells->vdot = LWI_PUSH(&work->arena, double, n);
        cells->effort = LWI_PUSH(&work->arena, double, ndrive);
        if (!cells->q || !cells->v || !cells->vdot || !cells->effort) return LW_ERR_MEMORY;
    }
    *out = cells;
    return LW_OK;
}

// -------------------------------------------------------------------------------------- partition

// A unit of speed iv at the joint that closes the loop, through its rows.
static void column(const void *user, int loop, int side, int iv, double w[6])
{
    const lwi_rcr_work *d = user;
    const lwi_rcr *e = &d->e;
    const lw_model *model = e->model;
    v6_zero(w);
    if (loop >= model->nloop) { // body 2 of a coupling is what it tells
        const lwi_coupling *coupling = &model->coupling[loop - model->nloop];
        const lwi_cluster_law *law = &d->cells->cells->law[loop - model->nloop];
        double p[2];
        lwi_clusters_law(law, d->tree.joint_q[model->joint[coupling->of].iq + coupling->with], p);
        w[0] = side > 0 ? 1 : -p[0];
        return;
    }
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

void lwi_rcr_clusters_prefer(lwi_work *work, double t, const double *x, unsigned char *dependent)
{
    lwi_rcr_work *d = work->data;
    unsigned char *const before = d->e.dependent, *other = d->cells->other;
    const size_t n = (size_t)work->model->tree_nv;
    for (int anew = 0; anew < 2; anew++) {
        memcpy(other, dependent, n);
        if (!lwi_clusters_prefer(d->cells->cells, column, d, anew, other)) {
            if (anew == 0) break; // nothing is to be changed
            continue;
        }
        // far from the next change, or as far as the other is but for rounding
        const double far = 0.5 * (d->theta + d->keep);
        const double enough = fmin(far, 0.99 * least_of(d, t, dependent));
        const double least = least_of(d, t, other);
        // rows of loops on what floats see that body too: there cells tell how far
        const bool on_floating = d->cells->cells->nbase > 0 && least > 0;
        if (!(least > enough) && !(on_floating && lwi_rcr_clusters_pivot(work, t, x, other) > far))
            continue;
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
static void other_rates(const lwi_rcr_work *d, const lwi_clusters *c, double drives, double *xdot)
{
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cluster_block *b = &c->block[i];
        if (b->carried[0] < 0) continue;
        for (int l = 0; l < LWI_LANES; l++) xdot[b->carried[l]] = b->rate[0][l];
    }
    if (d->carried.at_work >= 0) xdot[d->carried.at_work] = d->tree.power + drives;
}

int lwi_rcr_clusters_count(const lwi_rcr_clusters *cells)
{
    return cells->cells->made && cells->cells->fits ? cells->cells->ncell : 0;
}

// Coordinates of tree and drives at (t, x), and how these move.
static const double *drive(const lw_model *model, lwi_rcr_clusters *cells, double t,
                           const double *x)
{
    const lwi_clusters *c = cells->cells;
    const int n = model->tree_nq;
    if (!c->parts.ndrive) return x;
    memcpy(cells->q, x, (size_t)n * sizeof *x);
    for (int i = 0; i < c->parts.ndrive; i++) {
        const lwi_k_drive *of = &c->parts.drive[i];
        double f[3];
        lwi_function_eval(model->function, model->joint[of->joint].motion[of->coordinate], t, f);
        cells->q[n + i] = f[0];
        cells->v[model->tree_nv + i] = f[1];
        cells->vdot[model->tree_nv + i] = c->drive[i] = f[2];
    }
    return cells->q;
}

// What forces read of driven coordinates.
static void tell_drives(const lw_model *model, const lwi_rcr_clusters *cells, lwi_tree_work *tree)
{
    const lwi_k_parts *parts = &cells->cells->parts;
    for (int i = 0; i < parts->ndrive; i++) {
        const lwi_joint *joint = &model->joint[parts->drive[i].joint];
        tree->joint_q[joint->iq + parts->drive[i].coordinate] = cells->q[model->tree_nq + i];
        tree->joint_qd[joint->iv + parts->drive[i].coordinate] = cells->v[model->tree_nv + i];
    }
}

static double drive_power(const lw_model *model, const lwi_rcr_clusters *cells,
                          const lwi_tree_work *tree)
{
    const lwi_k_parts *parts = &cells->cells->parts;
    if (!parts->ndrive) return 0;
    for (int i = 0; i < parts->ndrive; i++) {
        const lwi_k_drive *of = &parts->drive[i];
        cells->effort[i] = tree->loads.effort[model->joint[of->joint].iv + of->coordinate];
    }
    return lwi_clusters_drive_power(cells->cells, cells->v, cells->vdot, cells->effort);
}

// Everything that depends on positions.
static bool place(const lwi_rcr_clusters *cells, const double *q, double *steepest)
{
    const double laws = lwi_clusters_laws(cells->cells, q);
    if (!cells->text->place(cells->cells, q, steepest)) return false;
    *steepest = fmax(*steepest, laws);
    lwi_clusters_rotors(cells->cells);
    return true;
}

double lwi_rcr_clusters_pivot(const lwi_work *work, double t, const double *x,
                              const unsigned char *dependent)
{
    const lwi_rcr_work *d = work->data;
    double steepest;
    if (!lwi_clusters_plan(d->cells->cells, dependent)) return 0;
    const double *q = drive(work->model, d->cells, t, x);
    return place(d->cells, q, &steepest) ? 1 / sqrt(1 + steepest) : 0;
}

double lwi_rcr_clusters_gap(const lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    const lwi_rcr_choice *choice = work->discrete;
    lwi_clusters *c = d->cells->cells;
    double loops2;
    if (!choice->made || !lwi_clusters_plan(c, choice->dependent)) return INFINITY;
    const double *q = drive(work->model, d->cells, t, x);
    if (!d->cells->text->gap2(c, q, &loops2)) return INFINITY;
    return fmax(sqrt(loops2), lwi_clusters_law_gap(c, q));
}

// qdot: speeds, but for quaternions of bodies that float and where these are.
static void coordinate_rates(const lw_model *model, const lwi_clusters *c, const double *v,
                             double *qdot)
{
    int iq = 0, iv = 0;
    for (int i = 0; i <= c->nbase; i++) {
        const lwi_cluster_base *base = i < c->nbase ? &c->base[i] : NULL;
        const int n = (base ? base->iv : model->tree_nv) - iv;
        memcpy(qdot + iq, v + iv, (size_t)n * sizeof *v);
        if (!base) return;
        lwi_link_kinematics(model, base->node, &base->link, v + base->iv, qdot + base->iq);
        iq = base->iq + model->node[base->node].nq;
        iv = base->iv + base->nv;
    }
}

bool lwi_rcr_clusters_rates(lwi_work *work, double t, const double *x, const double *inputs,
                            double *xdot, double *least)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    const lwi_cluster_kernels *text = d->cells->text;
    const lwi_rcr_choice *choice = work->discrete;
    lwi_clusters *c = d->cells->cells;
    const int nq = model->tree_nq, nv = model->tree_nv;
    const bool driven = c->parts.ndrive > 0, other = driven || c->nbase > 0;
    double steepest, *v = other ? d->cells->v : xdot; // scalar joints: qdot = u
    double *vdot = other ? d->cells->vdot : xdot + nq;
    if (!lwi_clusters_plan(c, choice->dependent)) return false;
    const double *q = drive(model, d->cells, t, x);
    if (!place(d->cells, q, &steepest)) return false;
    *least = 1 / sqrt(1 + steepest);
    if (!(*least > LWI_RCR_DELAY)) return false;
    memcpy(v, x + nq, (size_t)nv * sizeof *v);
    text->speeds(c, v);
    lwi_clusters_place_bases(c, t, q);
    lwi_clusters_move_bases(c, t, v);
    const bool loaded = model->nforce || d->tree.added;
    if (loaded && driven) tell_drives(model, d->cells, &d->tree);
    if (loaded) lwi_rcr_loads_apply(work, &d->cells->loads, c, t, x, v, inputs);
    lwi_clusters_law_forces(c, q, v);
    text->force(c, v, loaded ? d->tree.effort : NULL);
    if (loaded) lwi_clusters_push_bases(c, d->tree.effort);
    if (loaded) lwi_rcr_loads_pass(work, &d->cells->loads, c);
    lwi_clusters_rotor_forces(c);
    if (!text->solve(c, vdot)) return false;
    if (other) {
        coordinate_rates(model, c, v, xdot);
        memcpy(xdot + nq, vdot, (size_t)nv * sizeof *xdot);
    }
    if (!all_finite(nq + nv, xdot)) return false;
    other_rates(d, c, drive_power(model, d->cells, &d->tree), xdot);
    return true;
}
