// batch.h -- many instances of one model at once: other starts, other inputs, other parameters.
//
// Instances share the model's bodies and joints and differ in the quantities named at creation.  Each has its own
// steps; several share the SIMD lanes of a processor, and threads share the instances.  Results do not depend on other
// instances, lanes or threads: they are those of a simulation (simulate.h) of the instance alone with the same
// integrator, bit for bit.
#ifndef LINKWORK_BATCH_H
#define LINKWORK_BATCH_H

#include <linkwork/result.h>
#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_batch lw_batch; ///< used by one thread at a time; it owns its worker threads

/** Motion of several instances, each at its own time: row k of every array is that of instance[k], in the units and axes
 *  of lw_observation.  Valid during the call. */
typedef struct lw_batch_states {
    int count; ///< rows
    /** [count] numbers, in a sweep those among all its instances (lw_batch_number) */
    const int *instance;
    const double *time;                  ///< [count] s
    int nq, nv, nbody, nstate;           ///< of the model: sizes of a row, ground is body 0
    const double *q;                     ///< [count][nq] joint coordinates, m and rad
    const double *qd;                    ///< [count][nv] joint speeds, m/s and rad/s
    const double *states;                ///< [count][nstate] of signals
    const double (*position)[3];         ///< [count][nbody] of mass centres, world axes, m
    const double (*quaternion)[4];       ///< [count][nbody] body to world, scalar first
    const double (*velocity)[3];         ///< [count][nbody] of mass centres, world axes, m/s
    const double (*angular_velocity)[3]; ///< [count][nbody] body axes, rad/s
} lw_batch_states;

/** User forces and signals of many instances in one call: the inputs as functions of the states, as lw_input_callback
 *  of a simulation.  The values of an instance must depend on its own row only, for any
 *  position of that row and any other rows: which instances share a call is not fixed.
 *  @param states  of all instances that a thread moves, where they are in lanes (lw_batch_desc.options); else of one
 *  @param inputs  [count][model inputs] in: their present values; out
 *  @return as lw_input_callback, for all instances of the call; values that are not finite concern their instance only
 *  @thread  called by the threads of the batch, at the same time for different instances: with `threads` 1 only by the
 *           caller's */
typedef lw_status (*lw_batch_callback)(void *user, const lw_batch_states *states, double *inputs);
/** Its Jacobian, as lw_input_jacobian: arrays of `slopes` have one more dimension before the others, [count].
 *  It is called for one instance at a time, for only steps of separate simulations (lw_batch_desc.options) read it. */
typedef lw_status (*lw_batch_jacobian)(void *user, const lw_batch_states *states,
                                       const lw_input_slopes *slopes);

/** What can vary, by name.  The initial state: `joint.NAME.q0`, `joint.NAME.qd0`, ... as in results
 *  (spherical and free joints `qw` ... `wz`), of tree joints and coordinates that do not follow a
 *  function; `body.NAME.x` ... `wz` of floating bases.  Inputs: `input.NAME`.  Parameters of the
 *  model: `gravity.x`, `body.NAME.mass` and others (lw_vary_info); instances with the same
 *  parameters share a model, and only those are put side by side in lanes.  Options of the run: `option.rtol`. */
typedef struct lw_batch_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    /** NULL: defaults.  The integrators `dopri54` (auto) and `rk4` compute in lanes; with others, with formulations that
     *  have own steps and with `singular: stop` each instance has a separate simulation */
    const lw_options *options;
    int instances; ///< at least 1
    int threads;   ///< 0: as many as there are processors
    int lanes;     ///< instances side by side: 1, 4, 8; 0: 8
    int nvary;
    const char *const *vary;       ///< [nvary] names
    const double *values;          ///< [instances][nvary]
    const lw_allocator *allocator; ///< several threads may call it at a time
    /** Inputs of the instances as functions of their states; NULL: they keep their values.  Where instances compute in
     *  lanes, all those of a thread then take their steps at the same time, so that one call serves them */
    lw_batch_callback callback;
    void *callback_user;
    size_t
        memory; ///< of lw_sweep: bytes of the instances that exist at the same time, about; 0: 64 MiB
    lw_batch_jacobian jacobian; ///< of the callback, as lw_sim_set_jacobian; NULL: it is not known
    /** Of lw_sweep: it does not matter which instances have their rows at the same time, as for statistics.  Where each has
     *  its own model, a small number exists at the same time then, which takes less time: it is in the processor's cache */
    bool unordered;
} lw_batch_desc;

/** Creates the instances at their start, t = 0.
 *  @return LW_ERR_ARGUMENT and LW_ERR_MODEL name the column and the instance ("instance 3: ...") */
LW_API lw_status lw_batch_create(const lw_model *model, const lw_batch_desc *desc, lw_batch **batch,
                                 lw_error *error);
LW_API void lw_batch_destroy(lw_batch *batch);

LW_API int lw_batch_instances(const lw_batch *batch);
/** Number of an instance in the sweep that the batch is a part of; else, and out of range, `instance`. */
LW_API int lw_batch_number(const lw_batch *batch, int instance);
LW_API int lw_batch_threads(const lw_batch *batch);
/** Resolved: no `auto` left. */
LW_API const lw_options *lw_batch_options(const lw_batch *batch);
LW_API const char *lw_batch_notice(const lw_batch *batch);
/** The model of an instance: that of the batch, or one with its parameters.  Owned by the batch. */
LW_API const lw_model *lw_batch_model(const lw_batch *batch, int instance);

// -------------------------------------------------------------------------------- state and inputs

/** As those of a simulation.  Setting a state or joints brings a failed instance back. */
LW_API int lw_batch_state_size(const lw_batch *batch, int instance);
LW_API double lw_batch_time(const lw_batch *batch, int instance);
/** @param time, x  out; may be NULL */
LW_API lw_status lw_batch_get_state(const lw_batch *batch, int instance, double *time, double *x);
LW_API lw_status lw_batch_set_state(lw_batch *batch, int instance, double time, const double *x);
LW_API lw_status lw_batch_set_joints(lw_batch *batch, int instance, double time, const double *q,
                                     const double *v);
LW_API lw_status lw_batch_set_input(lw_batch *batch, int instance, int input, double value);
/** As lw_sim_apply_impulse, on one instance.
 *  @param impact  owned by the batch, valid until the next call on it; may be NULL
 *  @return LW_ERR_ARGUMENT also for an instance that has failed; its state is unchanged on any error */
LW_API lw_status lw_batch_apply_impulse(lw_batch *batch, int instance, int count,
                                        const lw_impulse_desc *impulse, const lw_impact **impact);

// ---------------------------------------------------------------------------- steps and observations

/** Integrates every instance to `time` exactly, except those that are at or beyond it and those that have failed.  An
 *  instance that fails keeps its last accepted state; the others continue to `time`.
 *  @return LW_OK, or the status of the first instance (by number) that failed in this call, its
 *          number in the error's text */
LW_API lw_status lw_batch_step(lw_batch *batch, double time);
/** Called when all instances have reached the time of a row; a negative status ends the run with it. */
typedef lw_status (*lw_batch_row)(void *user, lw_batch *batch, double time);
/** Runs from t = 0 over `duration` of the options with the rows by `sample` of a simulation.
 *  Instances may fail on the way; it ends early when all have.
 *  @return LW_ERR_UNSUPPORTED for `sample: steps`; LW_ERR_INTERRUPTED; LW_OK also where instances have failed */
LW_API lw_status lw_batch_run(lw_batch *batch, lw_batch_row row, void *row_user,
                              lw_progress progress, void *progress_user);
/** Of one instance: LW_OK, or why it has failed. */
LW_API lw_status lw_batch_status(const lw_batch *batch, int instance);
/** In words; "" for an instance that has not failed. */
LW_API const char *lw_batch_failure(const lw_batch *batch, int instance);
LW_API int lw_batch_failed(const lw_batch *batch); ///< how many
/** @param observation  owned by the batch, valid until the next call on it */
LW_API lw_status lw_batch_observe(lw_batch *batch, int instance, lw_observe level,
                                  const lw_observation **observation);
/** Of one instance; `wall` is the time of all step calls of the batch. */
LW_API void lw_batch_summary(const lw_batch *batch, int instance, lw_summary *summary);
LW_API const lw_error *lw_batch_error(const lw_batch *batch); ///< of the last failed call

// -------------------------------------------------------------------------------------- sweeps

/** Whole runs of any number of instances.  They are divided into groups, those with the same parameters side by side;
 *  a group is a batch that is created when its runs begin and destroyed when they have ended.  Memory grows with
 *  `threads` and with the size of the model; of an instance that does not exist a summary of some 150 bytes is kept. */
typedef struct lw_sweep lw_sweep; ///< used by one thread at a time

/** Checks all values and parameters, and creates the first group.  An instance with values for which there is no model, or that
 *  cannot begin, has failed; the others run.
 *  @param desc  as of lw_batch_create; `vary` and `values` must outlive the sweep
 *  @return as lw_batch_create; if no instance can run, the reason of the first */
LW_API lw_status lw_sweep_create(const lw_model *model, const lw_batch_desc *desc, lw_sweep **sweep,
                                 lw_error *error);
LW_API void lw_sweep_destroy(lw_sweep *sweep);
/** Runs all groups, one after the other, each as lw_batch_run does.  At most once.
 *  @param row       gets the group's batch: lw_batch_number has the numbers of its instances in the sweep
 *  @param progress  its time grows from 0 to `duration` over all groups
 *  @return as lw_batch_run.  Groups that have ended before a stop are complete */
LW_API lw_status lw_sweep_run(lw_sweep *sweep, lw_batch_row row, void *row_user,
                              lw_progress progress, void *progress_user);
LW_API int lw_sweep_instances(const lw_sweep *sweep);
LW_API int lw_sweep_threads(const lw_sweep *sweep); ///< of the first group, the largest one
LW_API const lw_options *lw_sweep_options(const lw_sweep *sweep); ///< resolved
LW_API const char *lw_sweep_notice(const lw_sweep *sweep);
/** Of one instance, as those of a batch.  An instance that has not begun is LW_OK, its summary zero except for `wall`. */
LW_API lw_status lw_sweep_status(const lw_sweep *sweep, int instance);
LW_API const char *lw_sweep_failure(const lw_sweep *sweep, int instance);
LW_API void lw_sweep_summary(const lw_sweep *sweep, int instance, lw_summary *summary);
LW_API int lw_sweep_failed(const lw_sweep *sweep);            ///< how many
LW_API const lw_error *lw_sweep_error(const lw_sweep *sweep); ///< of the last failed call

// -------------------------------------------------------------------------------- what can vary

typedef struct lw_vary_info {
    const char *name; ///< "body.NAME.mass"
    const char *unit; ///< "kg"
    const char *help;
} lw_vary_info;
LW_API int lw_vary_count(void);
LW_API lw_vary_info lw_vary_at(int index);
/** Can `name` vary in this model?
 *  @return LW_ERR_ARGUMENT with what is wrong and the nearest name */
LW_API lw_status lw_vary_check(const lw_model *model, const char *name, lw_error *error);

// ------------------------------------------------------------------------------------------- files

/** A table of varied quantities, or of a study: named columns of numbers, and at most one of strings. */
typedef struct lw_table lw_table;

/** Reads a table: CSV with a header line (docs/batch.md), or HDF5 with a one-dimensional dataset
 *  per column in its root, recognised by the content.  Columns `time` and `instance` are left out.
 *  @return LW_ERR_IO, LW_ERR_PARSE with file, line and column */
LW_API lw_status lw_table_read(const char *path, lw_table **table, lw_error *error);
/** The same with all columns; an empty field is NAN, and the column `failure` is one of strings. */
LW_API lw_status lw_table_read_study(const char *path, lw_table **table, lw_error *error);
/** Writes .csv or .h5, by the ending: numbers with 17 digits, those that are not known as empty fields, strings in quotes;
 *  in HDF5 a dataset per column with the attribute `unit`.  The file replaces one of the same name when it is complete.
 *  @return LW_ERR_ARGUMENT: another ending; LW_ERR_IO */
LW_API lw_status lw_table_write(const lw_table *table, const char *path, lw_error *error);
LW_API void lw_table_free(lw_table *table);
LW_API int lw_table_rows(const lw_table *table);
LW_API int lw_table_columns(const lw_table *table);
LW_API const char *const *lw_table_names(const lw_table *table);     ///< [columns]
LW_API const char *lw_table_unit(const lw_table *table, int column); ///< "" if not known
LW_API const double *lw_table_values(const lw_table *table); ///< [rows][columns]; NAN: not known
LW_API const char *
lw_table_string_name(const lw_table *table); ///< "failure"; "": there are no strings
LW_API const char *lw_table_string(const lw_table *table, int row);

// ----------------------------------------------------------------------------------------- designs

/** The variants of a study: points of a space of quantities. */
typedef struct lw_design_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    /** "grid" (or NULL): every combination, the last quantity changes fastest; "lhs:N": Latin hypercube; "sobol:N":
     *  Sobol sequence; "random:N": independent points */
    const char *design;
    uint64_t
        seed; ///< of lhs, sobol (0: not scrambled), random: the same seed gives the same points
    int nvary;
    /** [nvary] NAME=A,B,..., NAME=FROM:TO:COUNT, in designs that sample also NAME=FROM:TO (uniform), NAME=log:FROM:TO,
     *  NAME=normal:MEAN:DEVIATION.  Values with a unit, or in that of the parameter in its file, else SI */
    const char *const *vary;
    const lw_table *rows; ///< each is combined with all points; NULL: none
} lw_design_desc;
/** One column for each quantity, one row for each variant.
 *  @return LW_ERR_ARGUMENT: a name, value, unit or design that is not possible; LW_ERR_UNSUPPORTED: too many dimensions */
LW_API lw_status lw_design_create(const lw_model *model, const lw_design_desc *desc,
                                  lw_table **table, lw_error *error);

// ----------------------------------------------------------------------------------------- studies

/** A sweep that ends in a table: statistics (lw_statistics) of columns over the run of each instance. */
typedef struct lw_study lw_study;

/** Before the run of the sweep.
 *  @param sweep    must outlive the study
 *  @param columns  patterns as of the option `columns`; NULL: the measures of the model, if it has any
 *  @return LW_ERR_ARGUMENT: a pattern without a column */
LW_API lw_status lw_study_create(lw_sweep *sweep, const char *columns, lw_study **study,
                                 lw_error *error);
LW_API void lw_study_destroy(lw_study *study);
/** Counts the present row of every instance that has not failed; to be called by the row function of lw_sweep_run, or in
 *  its place: it is an lw_batch_row with the study as `user`. */
LW_API lw_status lw_study_row(void *study, lw_batch *batch, double time);
LW_API const lw_error *lw_study_error(const lw_study *study); ///< of the last failed call
LW_API int lw_study_columns(const lw_study *study);
LW_API lw_column_info lw_study_column(const lw_study *study, int index);
/** Of the rows so far; all zero for an index out of range. */
LW_API lw_statistics lw_study_statistics(const lw_study *study, int instance, int column);
/** The table, after the run: a row for each instance with its number `instance`, the varied quantities, of each column
 *  NAME.min, .max, .range, .mean, .rms, .last, .time_of_min, .time_of_max, .integral, then end [s], steps, evaluations,
 *  energy_error [J] and the text `failure`, empty for a run that was completed. */
LW_API lw_status lw_study_table(const lw_study *study, lw_table **table, lw_error *error);

/** Writes what a batch does into one file (.h5, .csv): the columns of a result (result.h), after
 *  `time` the number of the instance, `instance`, and the varied quantities, each as `vary.NAME`. */
typedef struct lw_batch_writer lw_batch_writer; ///< one thread at a time

/** @param path   NULL: no file, only the last rows are kept
 *  @param batch  must outlive the writer */
LW_API lw_status lw_batch_writer_create(const char *path, lw_batch *batch, lw_observe level,
                                        lw_batch_writer **writer, lw_error *error);
/** The same file of a sweep, before its run; rows are those of the present group.  They are written as they come: group
 *  after group, those of a group in order of time.
 *  @param sweep  must outlive the writer */
LW_API lw_status lw_sweep_writer_create(const char *path, lw_sweep *sweep, lw_observe level,
                                        lw_batch_writer **writer, lw_error *error);
/** One row, of the present state, for every instance that has not failed.  @return LW_ERR_IO and others */
LW_API lw_status lw_batch_writer_rows(lw_batch_writer *writer);
/** Sets the function that can stop its first row; NULL: none. */
LW_API lw_status lw_batch_writer_set_interrupt(lw_batch_writer *writer, lw_interrupt interrupt,
                                               void *user);
/** The row of an instance, of a sweep an instance of the present group, as last written: values of the columns; NULL
 *  before there is one. */
LW_API const double *lw_batch_writer_last(const lw_batch_writer *writer, int instance);
LW_API int lw_batch_writer_columns(const lw_batch_writer *writer);
LW_API lw_column_info lw_batch_writer_column(const lw_batch_writer *writer, int index);
/** Flushes and closes; NULL is allowed.  @return the first failure of a row, or now */
LW_API lw_status lw_batch_writer_close(lw_batch_writer *writer, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
