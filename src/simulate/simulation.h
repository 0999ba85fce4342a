// simulation.h -- one simulation: a model, a formulation, an integrator and the present state.
#ifndef LWI_SIMULATE_SIMULATION_H
#define LWI_SIMULATE_SIMULATION_H

#include "base/times.h"
#include "initial/assemble.h"
#include "kinematics/auxiliary.h"
#include "kinematics/formulation.h"
#include "kinematics/input_slopes.h"
#include "integrate/integrator.h"
#include "model/impulses.h"
#include "kinematics/observe.h"
#include "simulate/gauss.h"
#include "simulate/momenta.h"
#include "simulate/singularity_monitor.h"
#include "system/system.h"

/** Changes since the last step, of which the integrator must be notified before the next one. */
typedef enum lwi_pending { LWI_NOTHING, LWI_NEW_RATES, LWI_NEW_STATE } lwi_pending;

/** Largest errors over the observed rows. */
typedef struct lwi_audit {
    bool begun;
    double closed;    ///< position residual of that row
    double size;      ///< largest T + |V| + |Wnc| of the rows [J]
    double reference; ///< E - Wnc of the first row since the start or the last jump of the state
    double energy_error, energy_scale, residual[3];
    double low, high; ///< range of E - Wnc - reference [J]
    double sum[10];   ///< of E - Wnc - reference over the rows of each tenth of the run
    long rows[10];
    double last_low, last_high; ///< its range in the last of them
    double last,
        balanced; ///< times of the last row, and of the last one with E - Wnc off by less than half of size
    bool diverged;       ///< momenta with equal steps: a row was off by more than that
    double since[2];     ///< times of the last row before the first such row, and of that one
    long impulses;       ///< impacts
    double impulse_work; ///< of these [J]
    double work_beside;  ///< their work, where the state has none [J]
} lwi_audit;

/** Impulses and other jumps of velocities (impulse.c). */
typedef struct lwi_impacts {
    bool prepared;
    lwi_system *system; ///< NULL: `dense` solves
    lwi_work *dense;
    lwi_snapshot before, after;
    lwi_loads loads;
    double (*wrench)[6];  ///< [nbody] scratch
    lwi_impact_time next; ///< of the model
    double stop;          ///< time at which steps end before it
    bool due;             ///< the state is that before `next`
    bool struck;          ///< the state is that after `result`
    lw_impact result;
} lwi_impacts;

/** Modes of forces and the step in which the end of a mode is searched for (events.c). */
typedef struct lwi_events {
    bool active, begun;
    unsigned char *mode;      ///< [model nmode]
    double t0, *x0;           ///< start of the step
    double guard0;            ///< the smallest guard there
    double guard;             ///< the same at the end of the last step
    lwi_gap *gap0, *gap;      ///< [model nmode] at both ends
    bool complete0, complete; ///< with accelerations
    bool close;               ///< a gap of the last step was so short that they were needed
    double (*al)[3];          ///< [nbody] scratch: angular accelerations, world axes
    int repeats;              ///< consecutive events without time between them
    long count;
} lwi_events;

/** Events of the model and the step in which they are searched for (triggers.c). */
typedef struct lwi_triggers {
    bool active;
    bool begun;         ///< sides and times are those of a state of this run
    bool fresh;         ///< no time but round-off has passed since then
    double begun_at;    ///< the time then
    bool resumed;       ///< what happens at the present time has happened before
    int n;              ///< events, then relays
    signed char *side;  ///< [n] sign of the condition; 0: it was 0 since the start
    double *guard;      ///< [n] conditions at the present state
    double *low, *high; ///< [n] the same at both ends of the interval that is searched
    double *time;       ///< [nevent] next of the given times
    double next;        ///< the earliest of them
    bool *due;          ///< [n] it happens at the present time
    int ndue;
    bool changed;  ///< a switch or relay has changed since the conditions were evaluated
    double *value; ///< [most switches of an event] scratch
    long *count;   ///< [nevent]
    long total;
    /** [logged] those since the last row of a run, or of the last step call; room for `room` */
    lw_occurrence *log;
    int logged, room;
    int stopped;        ///< event that ended the run; -1: none
    int repeats;        ///< of events in succession without time between them
    double last;        ///< time of the last one
    double t0, *x0;     ///< start of the step
    void *discrete0;    ///< [ndiscrete of the work]
    lwi_events events0; ///< modes of forces there, with their own lists
} lwi_triggers;

/** Projection of positions onto loops and couplings (project.c). */
typedef struct lwi_projection {
    bool active;
    double limit; ///< residual of positions above which they are projected [m, rad]
    double floor; ///< the smallest such limit next to a singular position; NAN: not known yet
    long count;
    lwi_assembler assembler;
    lwi_snapshot snapshot;
    double *
        closed; ///< [nx] scratch; NULL: the formulation does not close loops, or a component floats
    bool observed; ///< the snapshot is that of the last state checked
    bool poses;    ///< it has no velocities yet
} lwi_projection;

/** The caller's function that may stop a step that takes long; `progress` is NULL outside of runs. */
typedef struct lwi_cancel {
    lw_progress progress;
    void *user;
    double end;    ///< of the run
    double called; ///< clock at the last call [s]
    int rates;     ///< evaluations since the clock was read
} lwi_cancel;

/** The caller's function of the inputs (callback.c). */
typedef struct lwi_callback {
    lw_input_callback function; ///< NULL: inputs are constant
    void *user;
    double *value; ///< [ninput] scratch; NULL before the first function
    lwi_snapshot snapshot;
    bool failed;                ///< in the last call: observations use the inputs before
    lw_status status;           ///< what the last call returned
    bool known;                 ///< the inputs are those of the present state (of batches)
    lw_input_jacobian jacobian; ///< NULL: not known
    lwi_input_slopes slopes;    ///< without memory before the first Jacobian
    bool linear; ///< inputs are those of `slopes`, to first order (lwi_sim_linear_inputs)
} lwi_callback;

enum { LWI_PASSAGE_NODES = 6 };

/** Accelerations and reactions close to singular positions (passage.c). */
typedef struct lwi_passage {
    bool active;
    double band;        ///< sine, relative to the largest one, within which they are not solved for
    lwi_gauss gauss;    ///< leads to the states outside
    bool accelerations; ///< these too
    int nvalue;
    double *value; ///< [nodes][nvalue]; NULL before the first row within the band
    lwi_sine last; ///< row with a known sine
    long count;    ///< rows within the band
    double entry;  ///< time of the first one
} lwi_passage;

/** A Gauss step of six stages: its collocation polynomial. */
typedef struct lwi_crossing_piece {
    double t, h;
    double *x0, *rate; ///< [nx], [stages][nx] of the Gauss steps' work
} lwi_crossing_piece;

/** One or two steps to the other side of a singular position. */
typedef struct lwi_crossing_path {
    int npiece;
    lwi_crossing_piece piece[2];
    double *x1;                       ///< [nx] at the end
    double estimate, node;            ///< error; smallest sine at a node
    double sine_at[LWI_GAUSS_STAGES]; ///< at the nodes
    double position, sine;            ///< time of the position, sine there
    double gap;     ///< residual of the positions there, in lengths of the mechanism
    int npassed;    ///< positions on the path
    double *passed; ///< their times
    double *depth;  ///< pivots there, relative to those next to them
    bool shifted;   ///< the last piece is on rows that are shifted by the gap
    double *shift;  ///< [nrow of the assembler]
    int edge;
} lwi_crossing_path;

/** A singular position near a motion. */
typedef struct lwi_crossing_ahead {
    int group; ///< of loops, 0 where there is only one
    double after,
        window; ///< time to it, negative if it is past; half the width of the window around it
} lwi_crossing_ahead;

/** A minimum of the pivot of a group of loops on a piece of a path. */
typedef struct lwi_crossing_minimum {
    int group;
    double at, pivot; ///< part of the piece; smallest pivot next to it
    double depth;     ///< that, relative to pivots farther away
    double slope;     ///< of the sine next to it, per piece
    bool reverses;    ///< the group reverses there, and passes no position
} lwi_crossing_minimum;

/** Steps across singular positions (crossing.c; crossing.h for what its parts share). */
typedef struct lwi_crossing {
    bool active;
    lwi_sine last; ///< of an accepted state
    int ngroup;    ///< groups of loops that share no joint, at least 1
    double slope;  ///< largest decrease of sines per radian or length of the mechanism
    bool *wanted;  ///< [ngroup] groups with positions to be estimated
    bool *regular; ///< [ngroup] groups of which the sine falls to a minimum that is no position
    bool *small, *reversing;   ///< [ngroup] scratch: on a piece
    int nahead, room;          ///< positions found; at most
    lwi_crossing_ahead *ahead; ///< in the order of time
    int nminimum;
    lwi_crossing_minimum *minimum; ///< scratch
    double *pivot, *sample; ///< [9 ngroup], [LWI_CROSSING_PIECES + 1][ngroup] scratch: pivots
    double *at_pivot, *last_pivot; ///< [ngroup] pivots at the end of a step; of `last`
    double due;                    ///< no step that ends before is examined
    double known, latest; ///< the step that begins at `known` ends at `latest`, if not before
    double
        estimated; ///< time of the state from which `position` was estimated; NAN: of another one
    double margin, margin_time; ///< at the last accepted state; 0: unknown
    bool margin_wanted;         ///< that at the present state, where the next step begins
    double sampled_margin, highest_margin; ///< at `last`, 0: unknown; largest since then
    bool skipped;                          ///< states since then were not: margins are large
    double outside; ///< time of the last state known to be outside of windows
    bool near;      ///< it is the step across the position at time `position`
    double position;
    bool failed; ///< the window around the position cannot be stepped across from here
    double failed_sine;
    int tried, converged;         ///< steps across several positions, from here
    int steps_near;               ///< ordinary steps next to it
    double again;                 ///< time of the next attempt, nearer to the position
    int retreats;                 ///< repetitions of one step
    double begin, end;            ///< of the path that the state follows; else -INFINITY
    double stop;                  ///< time of a position on it before which the run ends
    lwi_snapshot at, from;        ///< scratch: end and beginning of a step
    lwi_crossing_path best, path; ///< that of the run; scratch
    double *y, *end_x;            ///< [nx of the Gauss steps], [nx of the run]
    double *speed;                ///< [model nv] scratch: speeds of joints
    double *between;              ///< [2][nx of the run] scratch: state and rates
    long count;                   ///< positions passed
    double entry, estimate, gap;  ///< time of the first, largest error estimate and gap
    int edge;                     ///< of the first
    lwi_snapshot start;           ///< singular; without memory before the first one
    lwi_snapshot direction;       ///< the same with velocities along the branch
    bool from_rest;               ///< these are accelerations
    bool started;                 ///< the run began at `start`, and its first path too
    const lwi_snapshot *first;    ///< the motion at which paths begin; NULL: `at`
    int start_edge;               ///< with the smallest pivot
    double start_pivot;           ///< that
    bool begins, aside; ///< some loops start at a position; the state there is a little later
    double found;       ///< a position away from the middle of an attempt; -INFINITY: none
} lwi_crossing;

/** Times of the rows of a run, so that a run that continues has the same ones. */
typedef struct lwi_run_grid {
    bool continued;     ///< the next run continues this one
    bool at_row;        ///< a row at which a run can continue is being written
    double t0, end;     ///< of the run [s]
    double first, rows; ///< number of the row at t0, -1: t0 is none; rows between t0 and the end
    double k;           ///< the last row, counted from t0
} lwi_run_grid;

struct lw_sim {
    lwi_arena arena; ///< all other memory
    lwi_shared shared;
    lwi_ranks ranks; ///< shared.ranks, if there are several
    const lw_model *model;
    lw_options options; ///< resolved: no `auto`
    char notice[1536];  ///< lines, separated by '\n'
    size_t chosen;      ///< length of the part written at creation; warnings of runs follow
    lwi_work *work;
    const double
        *entered; ///< [nx] the model's start, if the choice of the formulation has entered it, and
    const void *entered_discrete; ///< [ndiscrete] its discrete state; at creation only
    lwi_integrator *integrator;
    double t, start;  ///< now; creation or the last jump of the state
    double *x;        ///< [nx]
    double *scratch;  ///< [nx]
    double *rates[2]; ///< [nx] for lwi_momentum_errors; NULL without momenta
    void *spare;      ///< [ndiscrete of the work]
    double *atol;     ///< [nx] as specified
    /** [nx] the same, but not below the round-off of momenta: lwi_raise_tolerances.  NULL: atol */
    double *attainable;
    bool raised;       ///< some of these are larger than atol, since the state was set
    double *inputs;    ///< [ninput]
    double *output;    ///< [model noutput_value] of the observation
    double next_break; ///< next time at which the model is not smooth; > t
    lwi_pending pending;
    /** [lwi_sim_step_numbers] of a state that was set; zero once the integrator has them */
    double *kept_step;
    lwi_events events;
    lwi_triggers triggers;
    bool unexplained; ///< the last rates are not finite, and no function is the reason
    int recorded;     ///< 1 + the event of which the next observation is the row; 0: none
    lwi_impacts impacts;
    lwi_projection projection;
    lwi_monitor monitor; ///< of singular positions
    lwi_passage passage;
    lwi_crossing crossing;
    bool takes_singular; ///< states at singular positions are left to ordinary steps
    lwi_snapshot snapshot;
    bool placed; ///< the state was made from the joints in `snapshot`, and its bodies from them
    lwi_auxiliary
        turns; ///< coordinates of cut joints in the state, where they determine the revolutions of all; else n = -1
    lwi_observed_momenta momenta; ///< created by the first observation that has them
    lwi_loads loads;
    lw_observation observation;
    lwi_audit audit;
    double wall;     ///< [s] in step calls
    lwi_times times; ///< of step calls
    long slow;       ///< of them longer than what they simulated
    long late;       ///< steps that ended after their wall-clock time (run.c)
    double behind;   ///< largest delay [s]
    lwi_cancel cancel;
    lwi_run_grid grid;
    lw_summary
        earlier; ///< of the simulations that this one continues; its start counts if `continues`
    bool continues;
    lwi_callback callback;
    lw_error error;
};

/** Goes to `to`, or one step towards it, or to a break before it.  With limit > to a step may pass
 *  `to` and the state is interpolated, where the options allow it. */
lw_status lwi_sim_advance(lw_sim *sim, double to, double limit, bool one_step);

/** sim->inputs := those of the caller's function at (t, x); the message of a failure is in work->error. */
lw_status lwi_sim_call_back(lw_sim *sim, double t, const double *x);
/** Values [ninput] of a callback at t.  @return LW_ERR_NOT_FINITE; the message names the input, its value and the time */
lw_status lwi_callback_check(const lw_model *model, const double *value, double t, lw_error *error);
/** The message of a callback that has failed.  @return the status */
lw_status lwi_callback_fail(lw_status status, double t, lw_error *error);
/** What a callback may read of a snapshot. */
lw_observation lwi_callback_observation(const lwi_snapshot *motion);
/** Slopes of a Jacobian at s->motion and s->inputs. */
lw_status lwi_callback_slopes(lw_input_jacobian jacobian, void *user, lwi_input_slopes *s,
                              lw_error *error);
/** Compares slopes with differences of the callback at s->motion.
 *  @param tolerance, largest  of lw_sim_check_jacobian      @return LW_ERR_ARGUMENT; the status of the callback */
lw_status lwi_callback_compare(lw_input_callback function, void *user, lwi_input_slopes *s,
                               double tolerance, double *largest, lw_error *error);
/** `begin`: until the next call inputs follow from the Jacobian at (t, x), to first order, without calls of the callback:
 *  for differences of the rates.  Nothing where there is none. */
lw_status lwi_sim_linear_inputs(lw_sim *sim, bool begin, double t, const double *x);
/** A step by the formulation's `step`, with the inputs of the caller's function. */
lw_status lwi_sim_own_step(lw_sim *sim, double t, double h, double *x);
/** Before the first step after a change: computes again what the state keeps of forces (lwi_formulation.refresh), where
 *  there is a callback, or inputs were set and tolerances control the steps.  In equal steps without a callback an input
 *  that jumps rises over the step instead (docs/real-time.md). */
lw_status lwi_sim_refresh(lw_sim *sim);
/** lwi_sim_call_back at the present state, if the inputs are not those of it already; the message is in sim->error. */
lw_status lwi_sim_call_back_here(lw_sim *sim, const char *when);

/** Finds these coordinates of the state, at creation.  @return LW_ERR_MEMORY */
lw_status lwi_sim_find_turns(lw_sim *sim);

/** The next time at which the model is not smooth; none where every step must cost the same. */
void lwi_sim_find_break(lw_sim *sim);

/** Memory for impacts, where the model has them.  @return LW_ERR_UNSUPPORTED if steps cannot end at them */
lw_status lwi_sim_prepare_impacts(lw_sim *sim);
void lwi_sim_release_impacts(lw_sim *sim);
/** The next impact of the model, and the end of steps before it; after the next break is known. */
void lwi_sim_find_impact(lw_sim *sim);
/** After a step: the state may be at a break; then the next one is found, or an impact is due. */
void lwi_sim_reach_break(lw_sim *sim);
/** Replaces the state by the one after the impact that is due. */
lw_status lwi_sim_strike(lw_sim *sim);

/** Memory for events, where the model has forces with modes and the integrator chooses its steps. */
lw_status lwi_sim_prepare_events(lw_sim *sim, bool adaptive);
/** One step towards `stop`, or to the first event before it. */
lw_status lwi_sim_advance_events(lw_sim *sim, double stop);

/** Memory for events of the model.  @return LW_ERR_UNSUPPORTED if steps cannot end at them */
lw_status lwi_sim_prepare_triggers(lw_sim *sim);
/** As lwi_sim_advance, where the model has events: ends at the first one, which is due then. */
lw_status lwi_sim_advance_triggers(lw_sim *sim, double to, bool one_step);
/** The state was set: events begin again. */
void lwi_sim_restart_triggers(lw_sim *sim);
/** Before the first step: those that happen at the start are due. */
lw_status lwi_sim_begin_triggers(lw_sim *sim);
/** The first event that is due, in the order of the model, relays (from nevent on) last; -1: none. */
int lwi_sim_due_event(const lw_sim *sim);
/** The events that are due are listed, before the first of their rows; relays are not. */
lw_status lwi_sim_log_due(lw_sim *sim);
/** It happens: all but its row. */
lw_status lwi_sim_fire(lw_sim *sim, int event);
/** After all that were due; others may be due then. */
lw_status lwi_sim_end_firing(lw_sim *sim);
/** Events with conditions that have crossed by a jump of inputs or velocities are due. */
lw_status lwi_sim_take_jump(lw_sim *sim);
/** Events that are due happen, without rows. */
lw_status lwi_sim_fire_all(lw_sim *sim);

/** One step, or more, without events of the model (simulation.c). */
lw_status lwi_sim_advance_plain(lw_sim *sim, double to, double limit, bool one_step);

/** Memory and limit, where the options and the model ask for it; before the first step.  *p is zero on entry. */
lw_status lwi_projection_create(const lwi_work *work, const lw_options *options, lwi_arena *arena,
                                lwi_projection *p);
/** Corrects the state x at t where the residual of its positions is above `limit`; changed: it was. */
lw_status lwi_projection_apply(lwi_projection *p, lwi_work *work, double limit, double t, double *x,
                               const double *inputs, bool *changed);
/** The limit of the projection: a smaller one next to singular positions. */
double lwi_sim_projection_limit(lw_sim *sim);

/** The motion of a snapshot to the assembler, and back. */
void lwi_sim_take_motion(lwi_assembler *assembler, const lwi_snapshot *snapshot);
void lwi_sim_give_motion(const lwi_assembler *assembler, lwi_snapshot *snapshot);

/** Memory, where there is a monitor; after lwi_sim_prepare_monitor. */
lw_status lwi_sim_prepare_passage(lw_sim *sim);
void lwi_sim_release_passage(lw_sim *sim);
/** Replaces the accelerations and reactions of an observed state close to a singular position by those that states
 *  outside lead to; true: it did. */
bool lwi_sim_continue_values(lw_sim *sim, lw_observe level, lwi_snapshot *snapshot);

/** Those of a start at a singular position, from states on the path away from it. */
bool lwi_sim_continue_start(lw_sim *sim, lw_observe level, lwi_snapshot *snapshot);
/** Which reactions are unique, where they could not be solved for: as at the last of these states. */
void lwi_sim_take_uniqueness(lw_sim *sim);

/** Memory, where the integrator can end steps early; after lwi_sim_prepare_passage. */
lw_status lwi_sim_prepare_crossing(lw_sim *sim);
/** Before a sample for the monitor: samples before accepted states without one do not count. */
void lwi_sim_end_skipping(lw_sim *sim);
/** Positions of the last path that are ahead of the present time are not counted: the path is left, or computed again. */
void lwi_sim_count_back(lw_sim *sim);
/** Discards what is known of the motion ahead: the state has changed. */
void lwi_sim_leave_crossing(lw_sim *sim);
/** Examines a step from (t0, x0) to (t1, x1).  False: it comes too near to a singular position, and is repeated with an
 *  end at the latest at *end; *end <= t0: a step across begins at t0. */
bool lwi_sim_accept(lw_sim *sim, double t0, const double *x0, double t1, const double *x1,
                    double *end);
/** Notes the margin of the rates at (t, x), if that is the present state. */
void lwi_sim_note_margin(lw_sim *sim, double t, const double *x);
/** Latest end of a step from t; t: a step across begins there. */
double lwi_sim_bound(const lw_sim *sim, double t);
/** Computes the step across from the present state; sim->crossing.end is its end.  -INFINITY: not possible, ordinary
 *  steps continue.
 *  @param limit  inputs are constant until then
 *  @return LW_ERR_SINGULAR: the options ask the run to end before the position */
lw_status lwi_sim_cross(lw_sim *sim, double limit);
/** Shifts the rows onto which Gauss steps project by the gap of the path that the state follows, or not any more. */
void lwi_sim_shift_rows(lw_sim *sim, bool on);
/** Goes to time `to`, or to the end, of the path across. */
lw_status lwi_sim_follow_crossing(lw_sim *sim, double to);
/** sim->x := the state of the path at time t, on the constraints; "near": or a little later, since speeds cannot be
 *  determined at the position itself. */
bool lwi_sim_place_on_path(lw_sim *sim, double t);
bool lwi_sim_place_near(lw_sim *sim, double t);

/** Is sim->snapshot a singular position, or next to one, and do its velocities lead on?  Then crossing.started, and the
 *  state is that of the step away from it (singular_start.c).  @return LW_ERR_SINGULAR: they do not lead on */
lw_status lwi_sim_leave_singular(lw_sim *sim);
/** The same with other inputs, before the first step; false: the state is no such start. */
bool lwi_sim_leave_singular_again(lw_sim *sim);
/** sim->snapshot := the start, where the state is at one and has not left; false otherwise, and where its accelerations
 *  or reactions are not known.  Next to one the state itself is observed. */
bool lwi_sim_observe_singular_start(lw_sim *sim, lw_observe level);
/** "starts at a singular position, ...", or "". */
void lwi_singular_start_message(const lw_sim *sim, char *text, size_t size);

/** "passed 3 singular positions straight on, ...", or "". */
void lwi_crossing_message(const lw_sim *sim, char *text, size_t size);

/** Numbers of an integrator that a state has after x and the formulation's. */
int lwi_sim_step_numbers(const lw_sim *sim);
/** kept_step := 0. */
void lwi_sim_clear_steps(lw_sim *sim);

/** Sets the state to sim->snapshot: its poses, velocities, work and time. */
lw_status lwi_sim_begin(lw_sim *sim);
/** Sets the state to the joint coordinates and speeds, floating bases, work and time of sim->snapshot. */
lw_status lwi_sim_place(lw_sim *sim);

/** Adds the functions that are not finite at (t, x), and what they read, to the message in work->error; one that nothing
 *  uses may be among them.
 *  @param snapshot  scratch
 *  @return false: none is there */
bool lwi_name_functions(lwi_work *work, double t, const double *x, const double *inputs,
                        lwi_snapshot *snapshot);

/** The snapshot at a level, and what `totals` has of it; the rest is NULL or zero. */
void lwi_sim_fill(lw_observation *observation, lw_observe level, const lwi_snapshot *snapshot,
                  const lwi_totals *totals);
/** A failure of the formulation, with its text, in sim->error: "observation at t = 1: ...". */
lw_status lwi_sim_fail_work(lw_sim *sim, lw_status status, const char *when);
/** "state component 3 is not finite (nan)" in sim->error. */
lw_status lwi_sim_check_finite(lw_sim *sim, const char *what, const double *x, int n);
/** Is `time` one to step to? */
lw_status lwi_sim_check_step(lw_sim *sim, double time);
/** Does the option `step` move a time that near to `end`?  Otherwise LW_ERR_ARGUMENT. */
lw_status lwi_sim_check_resolution(lw_sim *sim, double end);

/** Rows of a run from t = 0 that lie before its end, and the time of the k-th (run.c). */
double lwi_run_inner_rows(double duration, double sample);
double lwi_run_row_time(double sample, double k);
/** The rows of a run that begins at t0. */
lwi_run_grid lwi_run_plan(const lw_options *options, double t0);
/** Whether a run with these options is at a row of this number at this time. */
bool lwi_run_fits(const lw_options *options, const lwi_run_grid *grid, double time);

/** Memory of the monitor, if the model can have singular positions and steps may have different costs. */
lw_status lwi_sim_prepare_monitor(lw_sim *sim);
/** Has the formulation started with other velocities than the model's?  Then these are inconsistent with almost
 *  dependent constraints: LW_ERR_SINGULAR.  Before the first step. */
lw_status lwi_sim_check_begin(lw_sim *sim);
/** Observes the state x at t by the formulation.  @return false: that is not possible, the state is skipped */
bool lwi_sim_observe_motion(lw_sim *sim, double t, const double *x, lw_observe level,
                            lwi_snapshot *snapshot);
/** Samples the state x at t after a step if needed; after lwi_projection_apply if that is active. */
void lwi_sim_monitor(lw_sim *sim, double t, const double *x);
/** The motion with velocities at t, if that was the monitor's first sample; else NULL. */
const lwi_snapshot *lwi_sim_sampled_motion(lw_sim *sim, double t);
/** LW_ERR_SINGULAR if the options ask the run to end and a singular position has been passed. */
lw_status lwi_sim_check_passed(lw_sim *sim);
/** Can the run end before singular positions, if the options ask for it?  Otherwise LW_ERR_ARGUMENT. */
lw_status lwi_sim_check_stop(lw_sim *sim);
/** The reason for the end of a run, in sim->error: if no step is small enough and the state is close to a singular
 *  position, this is the reason, with the names of drives at a dead point.  @return its status */
lw_status lwi_sim_explain(lw_sim *sim, lw_status status);
/** The same where nothing else is known to be the reason, and the integrator was not the simulation's. */
lw_status lwi_sim_find_reason(lw_sim *sim, lw_status status);
/** Ends the monitoring at the present state. */
void lwi_sim_end_monitor(lw_sim *sim);

/** `end`, or the time of the last row with its energy, where steps have no error control and the last rows have
 *  not. */
double lwi_audit_valid_until(const lwi_audit *audit, const char *integrator, double end);
/** The errors of speeds that follow from errors of all momenta within their tolerances at the present state, in
 *  tolerances of speeds, root mean square; 0: no momenta, or unknown.  Steps must resolve them: they are shorter than
 *  with speeds as state by about the fifth root.  @cost two evaluations */
double lwi_momentum_errors(lw_sim *sim);
/** The change of a speed of a joint, as a part of the largest one, where each momentum and coordinate changes by half a
 *  unit in its last place: no evaluation has these digits.  With drives also as a part of the largest speed that the
 *  momenta give without them.  0: no momenta, or unknown.  @cost two evaluations, four with drives */
double lwi_momentum_rounding(lw_sim *sim);
/** May momenta have a round-off above their tolerances, because masses differ very much? */
bool lwi_momenta_may_be_inexact(const lw_sim *sim);
/** Memory for lwi_raise_tolerances; after atol.  @return LW_ERR_MEMORY */
lw_status lwi_prepare_raising(lw_sim *sim);
/** `raise_tolerances` of the problem with these momenta.  @cost an observation */
bool lwi_raise_tolerances(void *user, double amplified, double t, const double *x);
/** The formulation with speeds as state to be named in messages. */
const char *lwi_state_of_speeds(const lw_model *model);
/** Adds a line to sim->notice after the first row that shows that momenta diverge. */
void lwi_sim_warn_of_divergence(lw_sim *sim);
/** Adds warnings about the run so far to sim->notice: singular positions, energy, residuals. */
void lwi_sim_add_warnings(lw_sim *sim);

/** Fills the options that are `auto` and sim->notice (resolve.c). */
lw_status lwi_sim_resolve(lw_sim *sim, lw_error *error);

#endif
