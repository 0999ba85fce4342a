// batch.h -- instances, the models they need, and the workers that move them.
#ifndef LWI_BATCH_BATCH_H
#define LWI_BATCH_BATCH_H

#include "base/threads.h"
#include "batch/vary.h"
#include "integrate/batch_stepper.h"
#include "simulate/simulation.h"

#include <linkwork/batch.h>

#include <stdatomic.h>

enum { LWI_FAILURE_SIZE = 400 };

/** Data of an instance between calls, except for its rows of the batch's arrays. */
typedef struct lwi_instance {
    int variant;
    double t, start;
    double next_break; ///< next time at which its model is not smooth; > t
    lwi_impact_time next_impact;
    double impact_stop; ///< time at which steps end before it
    bool due;           ///< the state is the one before it
    double struck;      ///< time of the last impact; NAN: none since the state was set
    lwi_pending pending;
    double kept_step[LWI_STEP_NUMBERS]; ///< of a state that was set
    lwi_step_control control;
    long restarts, projections;
    lwi_audit audit;
    lw_status status;
    char failure[LWI_FAILURE_SIZE]; ///< of status
    bool unexplained; ///< a step failed, for a reason to be found when all instances have moved
    bool stopped;     ///< by an event of the model: it makes no more steps until its state is set
    bool over;        ///< it was stopped before the last step: its last row has been written
    /** Its simulation has an observation of level b->ahead_level that was not requested yet */
    bool observed;
    lwi_audit observed_audit; ///< the audit with that observation
    bool known;               ///< its inputs are those of the callback at its state
} lwi_instance;

/** Instances with the same parameters: their model, and a simulation of it for starts, observations
 * and tolerances; NULL where it could not begin. */
typedef struct lwi_variant {
    const lw_model *model;
    lw_model *own; ///< the same, where the batch made it
    lw_sim *sim;
    int count; ///< instances
    struct {
        const lw_batch *batch;
        int number; ///< of the instance that the simulation is
    } call;
} lwi_variant;

/** The caller's function that may stop a step of the batch; `progress` is NULL outside of runs. */
typedef struct lwi_batch_cancel {
    lw_progress progress;
    void *user;
    double end;          ///< of the run
    double latest;       ///< time of an instance that the caller was given
    double called;       ///< clock at the last call [s]; of the caller's thread
    atomic_bool stopped; ///< seen by all workers
} lwi_batch_cancel;

typedef struct lwi_worker lwi_worker; // worker.c

struct lw_batch {
    lwi_arena arena; ///< all but models, simulations, threads and workers
    const lw_model *model;
    lw_options options;
    char notice[1200];
    const lwi_stepper_method *method;
    bool alone; ///< each instance has a separate simulation, which makes its steps; no lanes
    lw_batch_callback callback; ///< NULL: none
    void *callback_user;
    lw_batch_jacobian jacobian; ///< NULL: none
    bool keep;                  ///< instances that cannot begin have failed, and the others run
    int nvary;
    const char **vary;        ///< [nvary] names of what differs
    const int *number;        ///< [n] of the instances in a sweep; NULL: their index
    double *values;           ///< [n][nvary]
    int n, lanes, nx, ninput; ///< instances; nx the largest state of any variant
    int nvariant;
    lwi_variant *variant;    ///< [nvariant]
    lwi_instance *instance;  ///< [n]
    double *x, *slope;       ///< [n][nx] states and their slopes
    double *inputs;          ///< [n][ninput]
    size_t ndiscrete;        ///< the most bytes of any variant (lwi_work.discrete)
    unsigned char *discrete; ///< [n][ndiscrete]
    double (*impulse)[6];    ///< [n][njoint] of the last impacts; NULL before there can be any
    lwi_pool *pool;
    int nworker;
    lwi_worker **worker; ///< [threads]
    lwi_batch_cancel cancel;
    bool requested;         ///< an observation was requested
    lw_observe level;       ///< of the last request
    lw_observe ahead_level; ///< of the observations made ahead of their requests
    double to, wall;        ///< of the present step call; of all [s]
    lw_error error;
};

/** lw_batch_create of a complete description.
 *  @param number  [instances] in messages and files, the caller's while the batch exists; NULL: 0, 1, ...
 *  @param keep    an instance that cannot begin has failed, with its reason, and the others run */
lw_status lwi_batch_create(const lw_model *model, const lw_batch_desc *desc, const int *number,
                           bool keep, lw_batch **batch, lw_error *error);
/** Of the first instance that could begin; NULL: none. */
const lw_sim *lwi_batch_sim(const lw_batch *batch);
/** After a step: makes observations ahead of their requests, of the level of the last request, by all threads;
 *  lw_batch_observe then returns them.  Only of instances with parameters that no other has: others share a simulation, and
 *  are observed when that is requested. */
void lwi_batch_observe_ahead(lw_batch *batch);
/** One that could not begin has no simulation. */
bool lwi_batch_begun(const lw_batch *batch, int instance);

// ---- batch.c: errors and instances, for create.c

/** Sets the error: its message has the instance's number, and the text or, if that is "", the status.  @return status */
lw_status lwi_batch_fail(lw_batch *batch, int instance, lw_status status, const char *text);
/** Sets the error.  @return LW_ERR_MEMORY */
lw_status lwi_batch_no_memory(lw_batch *batch);
/** Copies the changes made in the simulation back to the instance. */
void lwi_batch_leave(lw_batch *batch, int instance);
/** Before the first impact of any instance.  @return LW_ERR_MEMORY */
lw_status lwi_batch_allocate_impulses(lw_batch *batch);

// ---- sweep.c

/** The group that exists: NULL between the groups. */
lw_batch *lwi_sweep_batch(const lw_sweep *sweep);
int lwi_sweep_group(const lw_sweep *sweep);    ///< its number
int lwi_sweep_capacity(const lw_sweep *sweep); ///< instances of the largest group
/** That of the caller: all instances and values. */
lw_batch_desc lwi_sweep_desc(const lw_sweep *sweep);
/** Where its messages are. */
lw_error *lwi_sweep_failure(lw_sweep *sweep);
/** The first name that varies and is a parameter of the model; NULL: all instances have one model. */
const char *lwi_sweep_parameter(const lw_sweep *sweep);
/** Calls `take` for the batch of the present group, and for those of later ones when they are created.  Its failure is that of
 *  the sweep. */
lw_status lwi_sweep_each_batch(lw_sweep *sweep, lw_status (*take)(lw_batch *, const void *user),
                               const void *user);
/** Unit of the values of column k of what varies; "": none. */
const char *lwi_sweep_unit(const lw_sweep *sweep, int k);

// ---- worker.c: one thread's share of the instances

lw_status lwi_worker_create(lw_batch *batch, const int *instances, int count,
                            const lw_allocator *allocator, lwi_worker **worker, lw_error *error);
void lwi_worker_destroy(lwi_worker *worker, const lw_allocator *allocator);
/** Calls `take` for the workspace of each of its evaluators, until one fails. */
lw_status lwi_worker_each_work(lwi_worker *worker, lw_status (*take)(lwi_work *, const void *user),
                               const void *user);
/** Moves its instances to batch->to, or less far if the caller stops the batch. */
void lwi_worker_step(lwi_worker *worker);

#endif
