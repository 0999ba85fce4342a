// lost_digits.c -- digits that an evaluation of `rcr` loses where bodies differ very much in mass.
//
// Input: a state.  Output: the relative error of its accelerations, of speeds where momenta are the state.
//
// The inertia that a node passes on to its parent, K - K S (S'K S)^-1 S'K, is zero along the motions S of its joint, except
// for round-off.  If the node is heavy and its parent light, this round-off is large compared with the inertia of the parent.
// The elimination is repeated with all inertias and forces times three.  That leaves the motion as it is and rounds
// everything differently, so that the difference of the two solutions is about their error.  Only models with very different
// bodies are examined.
// Cost: two evaluations.
#include "methods/rcr/dense_path.h"
#include "methods/rcr/state.h"
#include "tree/lost_digits.h"

#include <math.h>
#include <string.h>

lw_status lwi_rcr_digits_create(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    if (!lwi_bodies_differ(model)) return LW_OK;
    d->digits.xdot = LWI_PUSH(&work->arena, double, work->layout.nx);
    d->digits.rotor = LWI_PUSH(&work->arena, double, model->tree_nv + 6 * d->e.nloop_rotor);
    d->digits.choice = lwi_arena_push(&work->arena, 1, work->ndiscrete);
    return d->digits.xdot && d->digits.rotor && d->digits.choice ? LW_OK : LW_ERR_MEMORY;
}

// Stores the inertias of the rotors in `kept`: evaluations do not set them again.
static void keep_rotors(const lwi_rcr *e, double *kept)
{
    if (e->model->tree_nv) memcpy(kept, e->rotor, (size_t)e->model->tree_nv * sizeof *kept);
    for (int i = 0; i < e->nloop_rotor; i++)
        v6_copy(kept + e->model->tree_nv + 6 * i, e->loop_rotor[i].inertia);
}

static void restore_rotors(lwi_rcr *e, const double *kept)
{
    if (e->model->tree_nv) memcpy(e->rotor, kept, (size_t)e->model->tree_nv * sizeof *kept);
    for (int i = 0; i < e->nloop_rotor; i++)
        v6_copy(e->loop_rotor[i].inertia, kept + e->model->tree_nv + 6 * i);
}

static void triple(double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] *= 3;
}

// Repeats the last solution with all inertias and forces times three.
static bool solve_differently(lwi_rcr *e, double t, double *kept)
{
    lw_error error;
    keep_rotors(e, kept);
    triple(e->rotor, e->model->tree_nv);
    for (int i = 0; i < e->nloop_rotor; i++) triple(e->loop_rotor[i].inertia, 6);
    for (int k = 0; k < e->model->nnode; k++) triple(e->I[k], 36), triple(e->F[k], 6);
    triple(e->Q, e->model->tree_nv);
    const bool solved = lwi_rcr_factor(e, LWI_RCR_FIXED, t, &error) == LW_OK;
    if (solved) lwi_rcr_solve(e);
    restore_rotors(e, kept);
    e->reduced = false;
    return solved;
}

// Largest translation of a link's origin or mass centre by the motions of the nodes, or rotation.
static double largest_motion(const lwi_rcr *e, bool rotation)
{
    double largest = 0;
    for (int k = 0; k < e->model->nnode; k++) {
        double centre[3];
        v3_copy(centre, e->x[k]);
        v3_cross_add(centre, e->x[k] + 3, e->c[k]);
        if (rotation)
            largest = fmax(largest, v3_norm(e->x[k] + 3));
        else
            largest = fmax(largest, fmax(v3_norm(e->x[k]), v3_norm(centre)));
    }
    return largest;
}

// The largest difference of the motions of bodies by the speeds or rates `found` [tree_nv] from those of the last solution,
// relative to the largest motion, or to `minimum` [m/s, m/s^2] if that is larger.
static double distance(lwi_rcr *e, const double *found, double minimum)
{
    double size[2];
    for (int i = 0; i < 2; i++) size[i] = largest_motion(e, i);
    size[0] = fmax(size[0], minimum / e->length);
    const int rotation = size[0] == 0; // nothing translates: flywheels
    for (int i = 0; i < e->model->tree_nv; i++) e->y[i] -= found[i] * e->scale[i];
    lwi_rcr_move_nodes(e);
    return size[rotation] > 0 ? largest_motion(e, rotation) / size[rotation] : 0;
}

// The accelerations at a state again, rounded differently: rates of speeds in e->y, motions of nodes in e->x.  Those of
// clusters are repeated by the elimination.
static bool accelerate(lwi_work *work, double t, const double *x, const double *inputs)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_rcr *e = &d->e;
    lw_error error;
    if (d->in_clusters) d->by_dense = false; // that of an earlier state
    if (d->by_dense) {                       // poses, velocities and loads are those of the rates
        lwi_rcr_place(e, &d->tree, t);
        if (!lwi_rcr_dense_tripled(d->dense, d, t, d->digits.rotor)) return false;
        for (int i = 0; i < model->tree_nv; i++) e->y[i] = d->vdot[i] * e->scale[i];
        lwi_rcr_move_nodes(e);
        return true;
    }
    lwi_rcr_place_state(work, t, x);
    if (lwi_rcr_factor(e, LWI_RCR_FIXED, t, &error) != LW_OK) return false;
    lwi_rcr_complete_speeds(work, x + model->tree_nq);
    lwi_rcr_move(work, t, LWI_RCR_READ_ALL);
    lwi_cut_loads(&d->cut, &d->tree, t, d->v, inputs);
    lwi_rcr_accelerations(d, t);
    return solve_differently(e, t, d->digits.rotor);
}

double lwi_rcr_lost_digits(lwi_work *work, double t, const double *x, const double *inputs)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    double *found = d->digits.xdot, lost = NAN;
    if (!found) return 0;
    memcpy(d->digits.choice, work->discrete, work->ndiscrete);
    bool solved = work->formulation->rates(work, t, x, inputs, found) == LW_OK;
    if (d->momenta) { // the factors and forces are those of its speeds
        memcpy(found, d->v, (size_t)model->tree_nv * sizeof *found);
        solved = solved && solve_differently(&d->e, t, d->digits.rotor);
    } else {
        found += model->tree_nq;
        solved = solved && accelerate(work, t, x, inputs);
    }
    if (solved)
        lost = distance(&d->e, found, d->momenta ? 0 : lwi_acceleration_scale(model, d->tree.V));
    d->last.solved = d->by_dense = false;
    memcpy(work->discrete, d->digits.choice, work->ndiscrete);
    return isfinite(lost) ? lost : 0;
}
