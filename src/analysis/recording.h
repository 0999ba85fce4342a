// recording.h -- a run by Runge-Kutta steps that are kept for their derivatives, and its results.
//
// The run has verner87, speeds of the tree, its own tolerances; no step passes a time where a function is not smooth, or
// a row.  Rates of the stages are stored while they are few.
#ifndef LWI_ANALYSIS_RECORDING_H
#define LWI_ANALYSIS_RECORDING_H

#include "analysis/adjoint.h"
#include "analysis/slope_groups.h"
#include "dynamics/loop_derivatives.h"
#include "integrate/integrator.h"

#include <linkwork/dynamics.h>

struct lwi_adjoint {
    lwi_arena arena;
    int columns, nby;
    double rtol, atol;
    lwi_probe_run run;
    double *value, *gradient; // [columns], [columns][nby]
    char warning[LWI_ADJOINT_WARNING];
};

/** Steps of the run: step i goes from (t[i], x[i]) by h[i]; the end is (t[count], x[count]). */
typedef struct lwi_recorded_steps {
    long count, capacity;
    double *t, *h, *x;
    double *K; // rates of the stages of each step; NULL: they are computed again
} lwi_recorded_steps;

/** What the sweeps need. */
typedef struct lwi_recording {
    const lw_model *model;
    const lw_sensitivity_desc *desc;
    lwi_arena arena;
    const lwi_tableau *tableau;
    double rtol, atol, duration, sample;
    int n, nq, nx, m, columns;
    int nz, nt; // states of signals; displacements of the state, 2 n + nz
    long rows;
    lw_dynamics *dynamics;
    lwi_state_derivatives d;
    lwi_loop_derivatives loops;
    lwi_tree_work tree;
    lwi_probe_run *run;
    lwi_slope *slope; // [nby]
    int nslope;       // created
    lwi_model_numbers numbers;
    double *by_numbers; // [columns][numbers] gradient
    bool open;          // a tree, with springs and dampers of joints alone: no matrices are needed
    bool reduced; // loops: degrees of freedom are few, their mass matrix costs less than the rows
    lwi_recorded_steps path;
    long *at;             // [rows] step that begins at each row
    double *values;       // [rows][columns]
    const double *result; // [columns] the statistics
    long *extreme;        // [columns] row of the smallest or largest value
    double *K, *X;        // [stages][nx]
    double *x, *next;     // [nx]
    int npiece;           // forces with corners
    int *piece, *other;   // [npiece] of the state that a step begins with, of another one
    char *corner;         // the adjoint's warning
    double *inputs;
    lwi_states states; // of signals at the state that is evaluated; their rates
    double *zdot;      // [nz]
    // derivatives at one stage
    double *by_q, *by_v, *lambda;
    double *kbar, *Xbar; // [columns][nt], [stages][columns][nt]
    double *bar;         // [columns][nt]
    double *u, *nu, *w;  // [columns][n], [columns][m], [columns][nz]
    double (*way)[6];    // [columns][nnode]
    double *tau, *out, *scratch, *slopes, *increment;
} lwi_recording;

/** The run from the start, its rows. */
lw_status lwi_recording_run(lwi_recording *s, lw_error *error);
/** The statistic of a column; straight lines between rows. */
double lwi_recording_result(const lwi_recording *s, int column);
/** Forces evaluated next read the states of signals in x [nx]. */
void lwi_recording_hold(lwi_recording *s, const double *x);
/** [nx] at the beginning of a step. */
double *lwi_recording_state(const lwi_recording *s, long step);
/** s->X: state of stage i of a step from x by h, by the rates K of the stages before it. */
void lwi_recording_place_stage(const lwi_recording *s, size_t i, double h, const double *x,
                               const double *K);
/** The stages of a step from (t, x) by h: s->X, s->K. */
lw_status lwi_recording_stages(lwi_recording *s, double t, double h, const double *x,
                               lw_error *error);
/** s->bar += derivatives of the results by the state at a row, a->gradient += explicit ones by parameters. */
lw_status lwi_recording_add_row(lwi_recording *s, lwi_adjoint *a, long row, lw_error *error);

#endif
