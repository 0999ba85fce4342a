// checkpoint.h -- long runs that continue after any end of their process.
//
// A checkpoint is a run at one of its rows: the model, the options, the state, inputs, sums and statistics so far.  A run
// that is to be continued exactly takes checkpoints at times or steps that are known beforehand, and after each of them
// begins again from it, with a new simulation: the history of an integrator, a formulation or a monitor is lost in the run
// that goes through as in one that was killed, and both have the same bits (docs/results.md).
#ifndef LINKWORK_CHECKPOINT_H
#define LINKWORK_CHECKPOINT_H

#include <linkwork/result.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_checkpoint lw_checkpoint; ///< one thread at a time

typedef struct lw_checkpoint_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const lw_sim *sim;
    int nfile;
    const char *const *file; ///< [nfile] results that the run writes
    lw_observe level;        ///< of their rows
    double every;            ///< [s] between checkpoints; 0: by steps
    long every_steps;        ///< 0: by time
} lw_checkpoint_desc;

/** Room for the checkpoints of a run.   @return LW_ERR_UNSUPPORTED: the model has custom joints */
LW_API lw_status lw_checkpoint_create(const lw_checkpoint_desc *desc, lw_checkpoint **checkpoint,
                                      lw_error *error);
LW_API void lw_checkpoint_destroy(lw_checkpoint *checkpoint);
/** The run as it is now; within the row function of lw_sim_run, after the row has been written.
 *  @param measures  of the run; may be NULL     @param rows  written so far, this one included
 *  @return LW_ERR_UNSUPPORTED: not at a row at which a run can continue (impacts, the last row of a run that is ended) */
LW_API lw_status lw_checkpoint_take(lw_checkpoint *checkpoint, const lw_sim *sim,
                                    const lw_measures *measures, long rows);
/** Writes the checkpoint taken last; the file takes the place of an older one when it is complete and on the disk. */
LW_API lw_status lw_checkpoint_write(const lw_checkpoint *checkpoint, const char *path,
                                     lw_error *error);
/** @return LW_ERR_IO; LW_ERR_PARSE: no checkpoint, or damaged */
LW_API lw_status lw_checkpoint_read(const char *path, lw_checkpoint **checkpoint, lw_error *error);

typedef struct lw_checkpoint_info {
    double time;             ///< [s]
    double end;              ///< of the run [s]
    long rows, steps;        ///< so far
    int nfile;               ///< results
    const char *const *file; ///< [nfile]; owned by the checkpoint
    lw_observe level;
    double every;
    long every_steps;
    const lw_options *options; ///< resolved; owned by the checkpoint
} lw_checkpoint_info;
/** All zero for NULL. */
LW_API lw_checkpoint_info lw_checkpoint_about(const lw_checkpoint *checkpoint);
/** The model of a checkpoint. */
LW_API lw_status lw_checkpoint_model(const lw_checkpoint *checkpoint, lw_model **model,
                                     lw_error *error);
/** Sets a simulation of the checkpoint's model and options, just created, to the checkpoint; its next lw_sim_run
 *  continues the run: without a row of its start, to the end of the run that was interrupted.
 *  @param measures  may be NULL      @return LW_ERR_ARGUMENT: another model or options */
LW_API lw_status lw_checkpoint_restore(const lw_checkpoint *checkpoint, lw_sim *sim,
                                       lw_measures *measures, lw_error *error);

/** Does the state contain all that the next step depends on, so that any row, not only those of checkpoints that the run
 *  begins again from, continues with the same bits?  Integrators rk4, dopri54, rattle, gauss, index3 with equal steps; no stops,
 *  singular positions are not monitored or have ordinary steps (turn), rows are not interpolated. */
LW_API bool lw_sim_is_exact(const lw_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
