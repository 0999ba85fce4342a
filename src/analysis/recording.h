// recording.h -- a run by Runge-Kutta steps that are kept for their derivatives, and its results.
//
// The run has verner87, speeds of the tree, its own tolerances; no step passes a time where a function is not smooth, or
// a row.  Of long runs a part of the steps is stored (recorded_steps.c).  A model with events, impacts or modes of forces is run by a
// simulation, and its steps and jumps are recorded (recording_jumps.c).
#ifndef LWI_ANALYSIS_RECORDING_H
#define LWI_ANALYSIS_RECORDING_H

#include "analysis/adjoint.h"
#include "analysis/slope_groups.h"
#include "analysis/wanted.h"
#include "dynamics/loop_derivatives.h"
#include "integrate/integrator.h"

#include <linkwork/dynamics.h>

struct lwi_adjoint {
    lwi_arena arena;
    int columns, nby; // columns: results, one for each column and statistic
    double rtol, atol;
    lwi_probe_run run;
    lwi_wanted_list wanted;
    double *value, *gradient;         // [columns], [columns][nby]
    long rows;                        // of lwi_adjoint_create_rows; 0: a statistic
    double *row_value, *row_gradient; // [rows][columns], [rows][columns][nby]
    char warning[LWI_ADJOINT_WARNING];
};

/** Steps of the run: step i goes from (t[i], x[i]) by h[i]; the end is (t[count], x[count]). */
typedef struct lwi_recorded_steps {
    long count, capacity;
    double *t, *h;
    unsigned char *mode; // [model nmode] of forces during each step
    double *x;           // [stored][nx] of steps 0, stride, 2 stride, ...
    long stored, room, stride;
    double *last; // [nx] at the end
    double *
        K; // [rate_room][stages][nx] rates of the stages of each step; NULL: they are computed again
    long rate_room;
    bool rates; // they are stored so far
    // steps that were computed again, from `first` on; -1: none
    long first, piece_room;
    double *piece_x, *piece_K;
} lwi_recorded_steps;

typedef enum lwi_jump_kind {
    LWI_JUMP_EVENTS, ///< events and relays: switches are set, the run ends
    LWI_JUMP_MODE,   ///< the mode of a force changes
    LWI_JUMP_IMPACT  ///< impulses, rates of drives that jump
} lwi_jump_kind;
/** What happens between two steps. */
typedef struct lwi_recorded_jump {
    lwi_jump_kind kind;
    long step; ///< that begins after it
    double t;
    double *x, *start;           ///< [nx] before; at the beginning of the step
    unsigned char *mode, *after; ///< [nmode] before and after
    /** EVENTS: those that have an effect in their order, relays from nevent on; the first `ncause` were due by themselves, the
     *  others follow from these.  MODE: the force.  IMPACT: its number in the run. */
    int *item, nitem, ncause;
    int guard;    ///< MODE: number of the guard
    bool timed;   ///< at a given time
    bool follows; ///< its time is that of the jump before
    bool stops;   ///< the run ends
} lwi_recorded_jump;

/** What a run passes, the worst for its derivatives last. */
enum {
    LWI_DERIVATIVES_RIGHT,
    LWI_DERIVATIVES_FEWER_DIGITS,
    LWI_DERIVATIVES_CORNER,
    LWI_DERIVATIVES_JUMP
};

/** What the sweeps need. */
typedef struct lwi_recording {
    const lw_model *model;
    const lw_sensitivity_desc *desc;
    lwi_arena arena;
    const lwi_tableau *tableau;
    double rtol, atol, duration, sample;
    int n, nq, nx, m;
    int columns, shown;       // results; columns of the run that show them
    const lwi_wanted *wanted; // [columns]
    const char *patterns;     // of the columns
    int nz, nt;               // states of signals; displacements of the state, 2 n + nz
    long rows;
    long *row_number; // [rows] in intervals of `sample`, of weight 1; NULL: all, of a statistic
    lw_dynamics *dynamics;
    lwi_state_derivatives d;
    lwi_cut cut; // rows of the model, for jumps
    lwi_loop_derivatives loops;
    lwi_tree_work tree;
    lwi_probe_run *run;
    lwi_slope *slope; // [nby]
    int nslope;       // created
    lwi_model_numbers numbers;
    double *by_numbers; // [columns][numbers] gradient
    bool open;          // a tree with exact products: no matrices are needed
    bool reduced;  // loops: degrees of freedom are few, their mass matrix costs less than the rows
    size_t memory; // for rates of steps [bytes]
    lwi_recorded_steps path;
    lw_sim *sim; // of a model with jumps; else NULL
    lwi_recorded_jump *jump;
    long njump, jump_room;
    double end;                // time of the last row
    unsigned char *mode_here;  // [nmode] of the step that is evaluated
    const unsigned char *mode; // mode_here; NULL: there are none, or by the state
    long *at;                  // [rows] step that begins at each row
    double *values;            // [rows][columns]
    const double *result;      // [columns] the statistics
    long *extreme;             // [columns] row of the smallest or largest value
    double *K, *X;             // [stages][nx]
    double *x, *next;          // [nx]
    int npiece, nforce_piece;  // forces with corners and kinked functions; forces alone
    int *piece, *other;        // [npiece] of the state that a step begins with, of another one
    char *corner;              // the adjoint's warning
    int worst;                 // of what it names
    double *inputs;
    lwi_states states; // of signals at the state that is evaluated; their rates
    double *zdot;      // [nz]
    // derivatives at one stage
    double *by_q, *by_v, *lambda;
    double *kbar, *Xbar; // [columns][nt], [stages][columns][nt]
    double *bar;         // [columns][nt]
    double *u, *nu, *w;  // [columns][n], [columns][m], [columns][nz]
    double *factors;     // [2 m + n] of projections
    double (*way)[6];    // [columns][nnode]
    double *tau, *out, *scratch, *slopes, *increment;
} lwi_recording;

/** Warns of formulas of time with a corner or a jump that a parameter moves. */
lw_status lwi_recording_find_moved_corners(lwi_recording *s);
/** "line 4: function 'push'", or the formula where it has no name. */
void lwi_recording_name_function(const lw_model *model, int i, char *text, size_t size);
/** The run from the start, its rows. */
lw_status lwi_recording_run(lwi_recording *s, lw_error *error);
/** The same by a simulation, with jumps. */
lw_status lwi_recording_run_jumps(lwi_recording *s, lw_error *error);
/** Has the model events, impacts or modes of forces? */
bool lwi_recording_has_jumps(const lw_model *model);
/** A simulation of the model with the tolerances of the run, and the speeds of the tree as state. */
lw_status lwi_recording_simulation(const lwi_recording *s, const lw_model *model, lw_sim **sim,
                                   lw_error *error);
/** Time of a row. */
double lwi_recording_row_time(const lwi_recording *s, long row);
/** Derivative of the statistic of a column by the value at a row. */
double lwi_recording_weight(const lwi_recording *s, long row, int column);
/** The same by the time of the last row, with the values of the rows as constants. */
double lwi_recording_by_end(const lwi_recording *s, int column);
/** s->values of a row, at s->x. */
lw_status lwi_recording_read_row(lwi_recording *s, long row, double t, lw_error *error);
/** A step from (t, x) by h, with s->mode_here, becomes the last one. */
lw_status lwi_recording_append(lwi_recording *s, double t, double h, const double *x,
                               lw_error *error);
/** s->next := the end of a step from (t, x) by h, with its stages. */
lw_status lwi_recording_step(lwi_recording *s, double t, double h, const double *x,
                             lw_error *error);
/** Notes corners of forces and functions that a step from (t, x) by h passes. */
lw_status lwi_recording_find_corners(lwi_recording *s, double t, double h, const double *x,
                                     lw_error *error);
/** Name of the item of the model's file that a force is a part of; "": none. */
const char *lwi_recording_item(const lw_model *model, const lwi_force *force);
/** Finds extreme rows, after all rows. */
void lwi_recording_finish(lwi_recording *s);
/** k [nx] := rates at (t, x). */
lw_status lwi_recording_rates(lwi_recording *s, double t, const double *x, double *k,
                              lw_error *error);
/** Forces have the modes of a step. */
void lwi_recording_take_modes(lwi_recording *s, long step);
/** The statistic of a column; straight lines between rows. */
double lwi_recording_result(const lwi_recording *s, int column);
/** Forces evaluated next read the states of signals in x [nx]. */
void lwi_recording_hold(lwi_recording *s, const double *x);
/** *x [nx]: the state at the beginning of a step, or at the end of the run; until the next call. */
lw_status lwi_recording_state(lwi_recording *s, long step, const double **x, lw_error *error);
/** s->X: the states of the stages of a step, and *K: their rates, until the next call.  Forces have its modes. */
lw_status lwi_recording_place_stages(lwi_recording *s, long step, const double **K,
                                     lw_error *error);
void lwi_recording_release(lwi_recording *s);
/** s->X: state of stage i of a step from x by h, by the rates K of the stages before it. */
void lwi_recording_place_stage(const lwi_recording *s, size_t i, double h, const double *x,
                               const double *K);
/** The state (t, x) with its accelerations, where the derivatives s->d are. */
lwi_slope_state lwi_recording_slope_state(const lwi_recording *s, double t, const double *x,
                                          const double *vdot);
lwi_number_state lwi_recording_number_state(const lwi_recording *s, const lwi_slope_state *at);
/** s->bar += derivatives of the results by the state at a row, gradient [columns][nby] += explicit ones by parameters. */
lw_status lwi_recording_add_row(lwi_recording *s, int nby, long row, double *gradient,
                                lw_error *error);

#endif
