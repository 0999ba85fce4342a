// project.c -- projections of velocities and accelerations at the end of a step.  Numbers (n) are those of
// [malczyk2019].
//
// The trapezoidal rule satisfies phi = 0 and not its derivatives (2)-(3); without projections it is unstable.
//     dv = K J' kappa,   J (v + dv) + b = 0;      da = K J' kappa,   J (a + da) + gamma = 0
// with K = M^-1, so that the kinetic energy of the change is minimal, or K of the last iteration, as in
// (40)-(41), (55)-(56).  The multipliers sigma, kappa are those of the elimination with eps = 1/alpha
// (52)-(53), (65)-(66).  kappa belongs to the reactions: with M a = Q + J' lambda before, M (a + da) = Q + J'
// (lambda + kappa) after; lambda + kappa is of second order in h, lambda alone of first.
#include "methods/index3/index3.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

double lwi_index3_projection_unit(const lwi_index3 *d, double h)
{
    return d->method.projection == LW_INDEX3_PROJECTION_MASS ? 1 : 0.25 * h * h;
}

// With the factors of the last iteration: c := J x of applied forces and rotors, so that they change with the change of
// x alone.
static void hold_forces(const lwi_index3 *d, const double (*x)[6], double *c)
{
    const lwi_system *s = &d->system;
    const double(*J)[6] = (const double(*)[6])lwi_elim_J(s->elim);
    for (int e = s->nedge - d->ncoupler; e < s->nedge && d->keeps; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        for (int k = 0; k < edge->rows; k++) {
            double sum = 0;
            for (int i = 0; i < edge->n; i++)
                sum += v6_dot(J[6 * (s->plan.slot[e] + i) + k], x[edge->body[i]]);
            c[s->plan.row[e] + k] = sum;
        }
    }
}

// Velocities of the rule are the bias terms of the bodies (45); right side -b (2).
static void load_velocities(lwi_index3 *d, double h)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        v3_copy(d->velocity[k], s->v[b]);
        v3_copy(d->velocity[k] + 3, s->w[b]);
    }
    for (int i = 0; i < s->nrow; i++) d->speed[i] = -s->b[i];
    lwi_system_share(s, false, d->velocity);
    if (d->euler) lwi_index3_euler_load(d, h, d->velocity, false);
    hold_forces(d, (const double(*)[6])d->velocity, d->speed);
}

// Velocities of the bodies after the projection (43)-(44).
static void take_velocities(lwi_index3 *d)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        v3_copy(s->v[b], d->velocity[k]);
        v3_copy(s->w[b], d->velocity[k] + 3);
    }
    if (d->euler) lwi_index3_euler_take(d, d->velocity, false);
    lwi_system_place_merged(s);
}

// Accelerations of the rule are the bias terms of the bodies (58)-(60); right side -gamma (3).
static void load_accelerations(lwi_index3 *d, double h)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        v3_copy(s->x[k], d->body[k].an);
        m3_mul_v(s->x[k] + 3, s->R[s->model->node[k].body], d->body[k].aln);
    }
    for (int i = 0; i < s->nrow; i++) s->c[i] = -s->gamma[i], s->lambda[i] = 0;
    lwi_system_share(s, false, s->x);
    if (d->euler) lwi_index3_euler_load(d, h, s->x, true);
    hold_forces(d, (const double(*)[6])s->x, s->c);
    if (d->method.projection) lwi_index3_follow(d, lwi_index3_projection_unit(d, h));
}

// Velocities: (40)-(41) between the rows of compounds (46)-(51), multipliers (52)-(53), bias (54).  Then
// accelerations: (55)-(56), (61)-(64), (67)-(68), multipliers (65)-(66), bias (69).
static void solve(lwi_index3 *d, double t, double h)
{
    lwi_system *s = &d->system;
    const double began = lwi_clock();
    const double unit = 1 / lwi_index3_projection_unit(d, h);
    load_velocities(d, h);
    lwi_index3_borrow_motion(d, unit, d->speed, d->velocity);
    if (s->nrow) lwi_elim_solve(s->elim, d->velocity, d->speed, d->impulse, 0);
    take_velocities(d);
    const double halfway = lwi_clock();
    lwi_system_gammas(s, t); // at the new velocities
    load_accelerations(d, h);
    lwi_index3_borrow_motion(d, unit, s->c, s->x);
    if (s->nrow) lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
    lwi_index3_return_motion(d, unit, (const double(*)[6])s->x, s->lambda);
    d->times.velocity += halfway - began;
    d->times.acceleration += lwi_clock() - halfway;
}

// A coordinate that friction has stopped is held by the projections, with other factors than Newton's.
static bool sticks(const lwi_index3 *d)
{
    for (int i = 0; i < d->ncoupler; i++)
        if (d->coupler[i].dry && d->coupler[i].slip.known && d->coupler[i].slip.sticks) return true;
    return false;
}

// Rows, metric and factors.  Rows of applied forces and rotors are part of the metric of the last iteration.
static lw_status prepare(lwi_index3 *d, double t, double h, lw_error *error)
{
    const bool mass = d->method.projection == LW_INDEX3_PROJECTION_MASS;
    const double unit = lwi_index3_projection_unit(d, h);
    lwi_index3_no_force_rows(d);
    lwi_index3_friction_rows(d, t, h, unit);
    lwi_index3_rotor_projections(d, t, unit);
    if (mass) lwi_index3_mass_leaves(d, h);
    if (!d->method.projection) return LW_OK;
    return lwi_index3_factor(d, t, mass ? 0.25 * h * h : 1, mass || d->method.tangent < 2, error);
}

lw_status lwi_index3_project(lwi_index3 *d, double t, double h, lw_error *error)
{
    lwi_system *s = &d->system;
    const double unit = lwi_index3_projection_unit(d, h);
    d->keeps = d->method.projection == LW_INDEX3_PROJECTION_TANGENT && !sticks(d);
    if (d->coordinates) lwi_system_read_joints(s, t);
    lwi_system_rows(s, t);
    if (d->euler) lwi_index3_euler_rows(d);
    if (!d->keeps) TRY(prepare(d, t, h, error));
    if (d->method.projection)
        solve(d, t, h);
    else
        load_accelerations(d, h);
    if (d->euler) lwi_index3_euler_take(d, s->x, true);
    if (!d->keeps) lwi_index3_rotors_projected(d);
    lwi_index3_multipliers_from_world(d, d->lambda, d->row);
    for (int i = 0; i < s->nrow; i++) s->lambda[i] = d->row[i] + unit * s->lambda[i];
    return LW_OK;
}
