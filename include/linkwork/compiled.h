// compiled.h -- a model's dynamics as machine code: generated C (codegen.h), compiled by the system's compiler and
// loaded into this program.
//
// What was compiled is kept in a folder and found again by its content: the generated text, the compiler's version, the
// flags, the processor.  docs/compiled.md.
#ifndef LINKWORK_COMPILED_H
#define LINKWORK_COMPILED_H

#include <linkwork/batch.h>
#include <linkwork/model.h>
#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_compiled lw_compiled; ///< constant: any number of threads at a time may use it

typedef struct lw_compiled_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *
        compiler; ///< command, words at blanks; NULL: $CC, else the first of cc, gcc, clang that is there
    /** Folder of what was compiled: created with mode 0700; refused if others own it or can write in it.  Where it cannot be
     *  written, what is compiled is not kept.  NULL: $XDG_CACHE_HOME/linkwork, else $HOME/.cache/linkwork */
    const char *cache;
    int lanes; ///< states side by side: 1, 4, 8; 0: the processor's width
    bool
        rates_only; ///< lw_compiled_rates and lw_compiled_project alone, for runs, unless `derivatives`: it takes less time to compile
    /** The functions below, too, generate, compile and load another partition of the speeds of closed loops where a pivot
     *  of the first one is small; the model must then outlive the object.  Simulations and batches do so by their models. */
    bool on_demand;
    /** Asked while a compiler runs, NULL: none; by each thread that waits for one.  Not 0: the compiler is ended, and
     *  lw_compiled_create returns LW_ERR_INTERRUPTED; a partition on demand is compiled when it is needed again. */
    int (*interrupt)(void *user);
    void *interrupt_user;
    const lw_allocator *allocator;
    /** Also the derivatives of forward and inverse dynamics, which take longer to compile than all other functions together.
     *  Refused for models with more than LW_CODEGEN_MAX_SPEEDS speeds. */
    bool derivatives;
} lw_compiled_desc;

typedef struct lw_compiled_info {
    int nq, nv; ///< coordinates and speeds of the tree
    int nstate; ///< states of signals
    int ninput;
    int lanes;          ///< states side by side
    bool found;         ///< it was compiled before
    double generating;  ///< [s] of generating the text, or of finding its shared object without it
    double compiling;   ///< [s] of the compiler, or what it would take; 0: it was compiled before
    size_t letters;     ///< length of the generated text
    char compiler[128]; ///< first line of its version
    const char *flags;
    int partitions; ///< of closed loops that are loaded so far; 0: the model has none
    /** Why a further partition could not be compiled, the first reason; NULL: there is none.  Valid as long as the object. */
    const char *refused;
} lw_compiled_info;

/** Generates, compiles and loads the dynamics of a model, which is not used afterwards (see on_demand).
 *  @param desc  may be NULL
 *  @return LW_ERR_UNSUPPORTED: of what no code is generated, with its name; there is no compiler, or it fails, with its first
 *          message; LW_ERR_IO: the folder is refused; LW_ERR_INTERRUPTED; LW_ERR_MEMORY */
LW_API lw_status lw_compiled_create(const lw_model *model, const lw_compiled_desc *desc,
                                    lw_compiled **compiled, lw_error *error);
/** What lw_compiled_create would find or do, without compiling; `compiling` is an estimate from the length of the text.
 *  @return as lw_compiled_create, except for failures of the compiler */
LW_API lw_status lw_compiled_predict(const lw_model *model, const lw_compiled_desc *desc,
                                     lw_compiled_info *info, lw_error *error);
/** Whether the folder's index has the model: quicker than lw_compiled_predict, for the text is not generated.  `found` is false also
 *  where there is no index (docs/compiled.md); `compiling` is 0.
 *  @return as lw_compiled_predict, but does not know of what no code is generated */
LW_API lw_status lw_compiled_search(const lw_model *model, const lw_compiled_desc *desc,
                                    lw_compiled_info *info, lw_error *error);
/** Simulations that use it must have ended. */
LW_API void lw_compiled_destroy(lw_compiled *compiled);
/** Of NULL: all 0. */
LW_API lw_compiled_info lw_compiled_about(const lw_compiled *compiled);

// Below, a function returns LW_ERR_SINGULAR where a dependent speed does not follow from the independent ones of the
// first partition (docs/codegen.md, "Closed loops"), with on_demand: nor from those of one that is chosen there, or it cannot
// be compiled.  Functions of many states mark such ones in `failed` [count] (may be NULL) and leave their results undefined;
// each state has the bits of a single call.  Without on_demand calls allocate nothing.

/** Accelerations vdot [tree nv] from efforts tau [tree nv], NULL: zero, as lw_forward_dynamics; with loops q and v must
 *  satisfy them.      @return LW_ERR_SINGULAR; LW_ERR_UNSUPPORTED: rates_only, or a model with
 *          prescribed motions, signals or inputs */
LW_API lw_status lw_compiled_forward_dynamics(const lw_compiled *compiled, const double *q,
                                              const double *v, const double *tau, double *vdot);
/** @param q  [count][tree nq];  @param v, tau, vdot  [count][tree nv]
 *  @return LW_ERR_SINGULAR: one of the states failed */
LW_API lw_status lw_compiled_forward_dynamics_many(const lw_compiled *compiled, int count,
                                                   const double *q, const double *v,
                                                   const double *tau, double *vdot,
                                                   unsigned char *failed);
/** Rates of coordinates, speeds and states of signals.  With loops dependent speeds are those that follow from the
 *  independent ones in v.
 *  @param x, xdot  [nstate], may be NULL if there are none;  @param inputs  [ninput], NULL: zero */
LW_API lw_status lw_compiled_rates(const lw_compiled *compiled, double t, const double *q,
                                   const double *v, const double *x, const double *inputs,
                                   double *qdot, double *vdot, double *xdot);
/** @param t  [count];  @param inputs  [count][ninput] or NULL */
LW_API lw_status lw_compiled_rates_many(const lw_compiled *compiled, int count, const double *t,
                                        const double *q, const double *v, const double *x,
                                        const double *inputs, double *qdot, double *vdot,
                                        double *xdot, unsigned char *failed);
/** Closes the loops: dependent coordinates in q by Newton's method, then dependent speeds in v.
 *  @return LW_ERR_SINGULAR: also no convergence; q and v are then unchanged */
LW_API lw_status lw_compiled_project(const lw_compiled *compiled, double t, double *q, double *v);
LW_API lw_status lw_compiled_project_many(const lw_compiled *compiled, int count, const double *t,
                                          double *q, double *v, unsigned char *failed);

// Derivatives, with desc.derivatives, as lw_forward_dynamics_derivatives and lw_inverse_dynamics_derivatives (dynamics.h) have
// them, with the same units: matrices [tree nv][tree nv], row by row; row: acceleration or effort, column: displacement along a
// speed, speed, effort or acceleration.  They are taken at fixed t, x and inputs.  Forces are differentiated exactly, piece by
// piece: at a corner of a force (a stop, a limit) the derivative is that of one side.
//   t [s];  x [nstate], may be NULL if there are none;  inputs [ninput], NULL: zero;  tau [tree nv] added efforts, NULL: zero
// LW_ERR_UNSUPPORTED: without desc.derivatives.  Where a call fails its results are undefined.

/** Accelerations and their derivatives.  With loops q and v must satisfy them, and by_q dq + by_v dv is the change of vdot for
 *  every change (dq, dv) of the state that keeps them closed.
 *  @param vdot  [tree nv] out;  @param by_q, by_v, by_tau  out
 *  @return LW_ERR_SINGULAR: as above, or the mass matrix is not positive definite */
LW_API lw_status lw_compiled_forward_dynamics_derivatives(const lw_compiled *compiled, double t,
                                                          const double *q, const double *v,
                                                          const double *x, const double *tau,
                                                          const double *inputs, double *vdot,
                                                          double *by_q, double *by_v,
                                                          double *by_tau);
/** The same of many states, which are the rows of all arrays: t [count], by_q [count][tree nv][tree nv]. */
LW_API lw_status lw_compiled_forward_dynamics_derivatives_many(
    const lw_compiled *compiled, int count, const double *t, const double *q, const double *v,
    const double *x, const double *tau, const double *inputs, double *vdot, double *by_q,
    double *by_v, double *by_tau, unsigned char *failed);
/** Derivatives of the efforts that the accelerations vdot need.
 *  @param vdot  [tree nv];  @param by_q, by_v  out;  @param M  out: the mass matrix, dtau/dvdot
 *  @return LW_ERR_UNSUPPORTED: also with loops, where efforts are not unique */
LW_API lw_status lw_compiled_inverse_dynamics_derivatives(const lw_compiled *compiled, double t,
                                                          const double *q, const double *v,
                                                          const double *x, const double *vdot,
                                                          const double *inputs, double *by_q,
                                                          double *by_v, double *M);
/** The same of many states, as above. */
LW_API lw_status lw_compiled_inverse_dynamics_derivatives_many(
    const lw_compiled *compiled, int count, const double *t, const double *q, const double *v,
    const double *x, const double *vdot, const double *inputs, double *by_q, double *by_v,
    double *M, unsigned char *failed);

/** The rates of a simulation's steps by compiled code; all else stays as it was.  Between steps, where a pivot of the partition
 *  of closed loops has become small, another one is compiled and loaded; where there is none, and where a state has no finite
 *  rates, the simulation's formulation evaluates.  Results agree within the tolerances of the steps, not in each bit.
 *  `compiled` must outlive the simulation; its model must be that of the simulation, or have the same description.
 *  @return LW_ERR_UNSUPPORTED, with the reason in lw_sim_error: the formulation has another state than coordinates and speeds of
 *          the tree (LW_FORMULATION_COMPILED), or momenta */
LW_API lw_status lw_sim_use_compiled(lw_sim *sim, const lw_compiled *compiled);
/** The same of the instances of a batch, several in lanes; they have the bits of single simulations.
 *  @return LW_ERR_UNSUPPORTED, with the reason in lw_batch_error: also instances with different parameters of the model */
LW_API lw_status lw_batch_use_compiled(lw_batch *batch, const lw_compiled *compiled);
/** The same of all runs of a sweep, before lw_sweep_run: one compiled model for all of them.
 *  @return LW_ERR_UNSUPPORTED, with the reason in lw_sweep_error: also a parameter of the model varies, with its name */
LW_API lw_status lw_sweep_use_compiled(lw_sweep *sweep, const lw_compiled *compiled);

#ifdef __cplusplus
}
#endif
#endif
