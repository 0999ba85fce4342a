// formulation.h -- the interface of formulations of the equations of motion, and the state and snapshot they share.
//
// To add one: a file with an lwi_formulation, and its name in LWI_FORMULATION_LIST.
#ifndef LWI_KINEMATICS_FORMULATION_H
#define LWI_KINEMATICS_FORMULATION_H

#include "model/model.h"

#include <linkwork/simulate.h>

typedef enum lwi_block_kind {
    LWI_COORDINATE, ///< m, rad
    LWI_QUATERNION, ///< four components, |q| is a gauge
    LWI_SPEED,      ///< m/s, rad/s
    LWI_MOMENTUM,   ///< kg m/s, kg m^2/s
    LWI_ANGLE,      ///< winding angle of a joint, an auxiliary state
    LWI_WORK,       ///< J
    LWI_SIGNAL,     ///< states of signals, the last components
    LWI_MEMORY      ///< start values of the next step; not integrated
} lwi_block_kind;

/** Consecutive state components of one kind. */
typedef struct lwi_block {
    lwi_block_kind kind;
    int first, n;
} lwi_block;

/** Layout of the state x [nx] of integrators; constant during a run. */
typedef struct lwi_layout {
    int nx, nblock;
    lwi_block *block;
} lwi_layout;

/** Adds n numbers of a kind at the end of x, to a layout with room for the block; returns the first index. */
static inline int lwi_layout_add(lwi_layout *layout, lwi_block_kind kind, int n)
{
    const int first = layout->nx;
    if (n > 0) layout->block[layout->nblock++] = (lwi_block){.kind = kind, .first = first, .n = n};
    layout->nx += n;
    return first;
}

/** Is there a block of this kind? */
static inline bool lwi_layout_has(const lwi_layout *layout, lwi_block_kind kind)
{
    for (int i = 0; i < layout->nblock; i++)
        if (layout->block[i].kind == kind) return true;
    return false;
}

/** Motion of a mechanism at one time: what formulations exchange.
 *  Arrays as in lw_observation, [nbody] with the ground at 0 and [model nq], [model nv]. */
typedef struct lwi_snapshot {
    double t;
    double (*r)[3], (*quat)[4], (*R)[9]; ///< mass centre, body -> world (quat unit, R = R(quat))
    double (*v)[3], (*w)[3];             ///< world; BODY axes
    double (*a)[3], (*al)[3];            ///< world; body axes
    double (*w_world)[3];                ///< scratch of observers: angular velocities, WORLD axes
    double *q, *qd, *qdd;                ///< all joints
    double (*reaction)[6];               ///< [njoint] on body2 about P2, world: constraint + drive
    unsigned char *unique;               ///< [njoint] 1: `undetermined` is 0
    unsigned char
        *undetermined; ///< [njoint] components of the reaction that are not unique: bits 0 to 2 of
                       ///< the force along x, y, z of F1, 3 to 5 of the torque
    double work;
    double *states; ///< [model nstate] of signals
} lwi_snapshot;

lw_status lwi_snapshot_create(const lw_model *model, lwi_arena *arena, lwi_snapshot *snapshot);
/** The motion as forces read it, without modes, accelerations and states.  Fills w_world. */
lwi_kin lwi_snapshot_kin(const lw_model *model, lwi_snapshot *snapshot);
/** The model's initial state (level TWIST). */
void lwi_snapshot_start(const lw_model *model, lwi_snapshot *snapshot);
/** The motion of a snapshot: poses, velocities, coordinates, speeds, time, work and states of signals. */
void lwi_snapshot_copy(const lw_model *model, const lwi_snapshot *snapshot, lwi_snapshot *to);

/** Sets `undetermined` and `unique` of a joint. */
static inline void lwi_snapshot_set_undetermined(lwi_snapshot *snapshot, int joint, unsigned axes)
{
    snapshot->undetermined[joint] = (unsigned char)axes;
    snapshot->unique[joint] = axes == 0;
}

/** Tree joints at coordinates q and speeds qd of the snapshot, floating bases at the pose and
 *  twist of their body in it; fills poses, twists and the driven coordinates of tree joints. */
void lwi_snapshot_from_joints(const lw_model *model, double t, lwi_snapshot *snapshot);

typedef struct lwi_formulation lwi_formulation;

/** Inputs that follow from the motion within a step of a formulation with `step`: set wherever it evaluates forces. */
typedef struct lwi_feedback {
    lw_status (*apply)(void *user); ///< sets the inputs from `motion`; NULL: inputs are constant
    void *user;
    lwi_snapshot *motion; ///< the present motion at the level TWIST, without merged bodies
    lw_status status; ///< of the first call that failed; no other follows until it is LW_OK again
    /** Fills `slopes` at the motion and inputs of the last `apply`; NULL: their derivatives are not known. */
    lw_status (*differentiate)(void *user);
    struct lwi_input_slopes *slopes;
} lwi_feedback;

typedef struct lwi_work lwi_work;

/** Rates by other code than the formulation's, in the same state (compiled/run.c). */
typedef struct lwi_rates_source {
    /** xdot at (t, x); false: the formulation has to evaluate this state. */
    bool (*rates)(void *user, lwi_work *, double t, const double *x, const double *inputs,
                  double *xdot);
    /** The same of the states in `lanes`, x[i * stride + lane], each with its inputs.  @return the lanes that are done.
     *  NULL: one by one */
    unsigned (*rates_in_lanes)(void *user, lwi_work *, int stride, const double *t, const double *x,
                               const double *const *inputs, double *xdot, unsigned lanes,
                               void *const *discrete);
    /** As lwi_formulation.pre_step, before that one: may choose by which code the next rates are.  NULL: nothing to choose. */
    lw_status (*pre_step)(void *user, lwi_work *, double t, double *x, bool *changed);
    /** As lwi_formulation.margin, at the state x; negative: the formulation evaluates, and has it. */
    double (*margin)(void *user, const lwi_work *, double t, const double *x);
    /** As lwi_formulation.notice; NULL: that one. */
    void (*notice)(const lwi_work *, char *text, size_t size);
    void *user;
} lwi_rates_source;

/** Bytes at the end of a discrete state that are the source's. */
enum { LWI_SOURCE_CHOICE = 64 };

/** Workspace of one formulation for one model.  Only its creation allocates. */
struct lwi_work {
    const lw_model *model;
    const lwi_formulation *formulation;
    lwi_layout layout;
    lwi_arena arena;
    int lanes;                 ///< width of kernels: 0 the machine's, 1, 4, 8; LWI_NO_KERNEL
    const lw_options *options; ///< of the run, resolved and checked; NULL: defaults
    struct lwi_shared *shared; ///< of the simulation (system/shared.h); NULL: none
    double
        limit; ///< [s] `prepare` may fail if an evaluation takes longer, by the table of costs; 0: none
    void *data; ///< of the formulation
    /** Discrete state, [ndiscrete] bytes, chosen by `pre_step`; all zero: not chosen yet, the next evaluation
     *  chooses.  A batch has one for each instance. */
    void *discrete;
    size_t
        ndiscrete; ///< of formulations with LWI_TREE_STATE: 0, or with LWI_SOURCE_CHOICE more at the end
    int nkept; ///< numbers that `keep` of the formulation writes
    const unsigned char *
        mode; ///< [model nmode] of forces, set by the caller of steps; NULL: they follow from the state
    lwi_states states;     ///< of signals, in the state of the present evaluation (lwi_states_set)
    lwi_feedback feedback; ///< of the present step
    bool fixed_cost;       ///< every step costs the same: none is split or repeated
    bool fixed_step;       ///< steps are equal: none is divided, tolerances do not apply
    bool own_output; ///< `observe` has the accelerations and reactions of the steps themselves
    bool controls;   ///< steps are chosen by `error` of the formulation
    bool multistep;  ///< the integrator is one (lwi_integrator_type)
    bool threads;    ///< several threads share an evaluation
    bool on_ranks;   ///< the processes of the simulation do
    bool segments;   ///< rates are those of long paths in segments, without the option `plan`
    bool
        same_coordinates; ///< as the rates before, of which these may take the factors: set by the caller
    /** [s] start of the first step that was kept though Newton did not converge; INFINITY: none */
    double valid_until;
    lwi_rates_source source; ///< of steps (lwi_work_rates); `rates` NULL: the formulation alone
    bool resumed;   ///< `enter` corrects the state of a run: discrete state and ranks are kept
    lw_error error; ///< of the last failed call
};

enum { LWI_NO_KERNEL = -1 }; ///< scalar code without kernels

/** What a formulation supports, has and reads.  Code outside of a formulation's file tests a flag, or whether a
 *  member is NULL, never a name. */
enum {
    LWI_CAN_LOOPS = 1 << 0,     ///< joints outside the spanning tree
    LWI_CAN_COUPLINGS = 1 << 1, ///< couplings of joint coordinates
    LWI_CAN_ROTORS = 1 << 3,    ///< rotor inertia on free coordinates
    LWI_HAS_SPEEDS = 1 << 4,    ///< the state may consist of coordinates and speeds
    LWI_HAS_MOMENTA = 1 << 5,   ///< the state may consist of coordinates and joint momenta
    LWI_HAS_PLAN = 1 << 6,      ///< joins bodies along a plan: option `plan`
    LWI_HAS_KAPPA = 1 << 7,     ///< sums impulses of loops if the state has momenta: option `kappa`
    LWI_HAS_BAUMGARTE = 1 << 8, ///< positions of loops drift against gains: options `baumgarte`
    LWI_HAS_INDEX3 = 1 << 9,    ///< the options `index3`
    LWI_PROJECTS =
        1 << 10, ///< restores positions and velocities in each step; else option `project`
    LWI_POSES_FIRST = 1 << 11, ///< observes poses at less cost than velocities
    LWI_CUBIC = 1 << 12,       ///< factors one dense matrix, O(n^3) (LW_FORMULATION_CUBIC)
    LWI_HAS_THREADS = 1 << 13, ///< option `threads`
    LWI_HAS_RANKS = 1 << 14,   ///< several processes share an evaluation (lw_sim_desc.ranks)
    /** Without momenta the state is that of compiled rates: coordinates and speeds of the tree, the work, angles of joints
     *  that close loops (lwi_auxiliary_create), states of signals. */
    LWI_TREE_STATE = 1 << 15
};

/** Evaluator of eight states side by side (tree/batch_evaluator.h). */
typedef struct lwi_tree_batch lwi_tree_batch;

struct lwi_formulation {
    const char *name, *summary, *cite;
    unsigned flags; ///< LWI_CAN_..., LWI_HAS_...
    /** Rejects models beyond what the flags exclude, with the name of the joint; NULL: accepts all others. */
    lw_status (*accepts)(const lw_model *, lw_error *why);
    /** Fills work->layout and work->data from work->arena. */
    lw_status (*prepare)(lwi_work *);
    /** State x [nx] from a snapshot with valid poses, twists, q, qd and work. */
    lw_status (*enter)(lwi_work *, const lwi_snapshot *, double *x);
    /** xdot at (t, x); no allocation, no printing. inputs [ninput]. */
    lw_status (*rates)(lwi_work *, double t, const double *x, const double *inputs, double *xdot);
    /** `rates` of the states in `lanes` by one kernel, in rows of LWI_LANES (tree/batch_evaluator.h), bit for bit
     *  the same.  @return the lanes that are done.  NULL: states are evaluated one by one. */
    unsigned (*rates_in_lanes)(lwi_tree_batch *, const double *t, const double *x,
                               const double *const *inputs, double *xdot, unsigned lanes);
    /** Instead of `rates`: a whole step from (t, x) to t + h; x becomes the state at t + h.  On failure x is
     *  unchanged.  NULL: the formulation has rates. */
    lw_status (*step)(lwi_work *, double t, double h, double *x, const double *inputs);
    const char *integrator; ///< with `step`: the integrator that calls it
    /** With `step`: memory for derivatives of inputs that follow from the motion (lwi_feedback.differentiate), once.  NULL:
     *  steps do not read them. */
    lw_status (*take_slopes)(lwi_work *);
    /** With `step`: computes again what x keeps of the forces, as accelerations and multipliers, for the inputs at (t, x).
     *  NULL: steps do not begin with anything of that. */
    lw_status (*refresh)(lwi_work *, double t, double *x, const double *inputs);
    /** Local error of a step of length h from `before` to `after`, relative to rtol and atol;
     *  `last` [nx] is the state at the start of the previous step, of length last_h (0: none).  NULL: unknown. */
    double (*error)(lwi_work *, double h, const double *before, const double *after, double last_h,
                    const double *last, double rtol, double atol);
    /** Pre-step, before a step from (t, x), never within one: may choose the discrete state again and change x to
     *  match it.  Rates at (t, x) change by round-off only.  NULL: no discrete state. */
    lw_status (*pre_step)(lwi_work *, double t, double *x, bool *changed);
    /** The discrete state as numbers [nkept] that a result can store; NULL: none. */
    void (*keep)(const lwi_work *, double *kept);
    /** Sets the discrete state that `keep` wrote at (t, x).  LW_ERR_ARGUMENT, with a message: it is none of this
     *  mechanism there.  The numbers may be any. */
    lw_status (*recall)(lwi_work *, double t, const double *x, const double *kept);
    /** Fills the snapshot up to `level` (ENERGY counts as TWIST): all bodies and joints that are not
     *  merged. */
    lw_status (*observe)(lwi_work *, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *);
    /** Largest residuals of the rows of all joints and couplings at the motion of the last `observe`: those of
     *  positions, velocities and, at level REACTION, accelerations.  NULL, or false: to be computed from the
     *  snapshot (observe.h). */
    bool (*residuals)(const lwi_work *, lw_observe level, double largest[3]);
    /** Impulses sigma [n] of the rows of cut i, a cut joint or i - nloop a coupling, that the momenta of the state at
     *  the last `observe` (level TWIST or more) contain.  NULL, or false: they contain none. */
    bool (*impulses)(const lwi_work *, int i, int n, double *sigma);
    /** Upper bound of the position residuals of loops and couplings at (t, x) [m, rad], cheaper than poses;
     *  infinite: unknown.  NULL: always unknown. */
    double (*gap)(lwi_work *, double t, const double *x);
    /** Moves the dependent coordinates of the state x at t until loops and couplings are closed up to about the residual
     *  `gap` [m, rad], or with 0 to round-off, at less than the cost of a few evaluations.  Speeds of x stay, and so do
     *  auxiliary coordinates without `angles`: rates do not need those that depend on others.  false: it cannot; x is
     *  undefined.  NULL: it never can. */
    bool (*close)(lwi_work *, double t, double *x, double gap, bool angles);
    /** At the last `rates`: the smallest part of a dependent motion of a loop, in the rows that close it, that is
     *  independent of the others, relative to its size; at most 1.  While
     *  it is not small all rows are independent.  Costs a small part of an evaluation.  0: unknown.  NULL: always. */
    double (*margin)(const lwi_work *);
    /** The same at (t, x), without rates, which were last computed near x.  Negative: they are needed.  NULL: always. */
    double (*margin_at)(lwi_work *, double t, const double *x);
    /** Factors [nx] of the absolute tolerance atol at the state (t, x); NULL: 1. */
    lw_status (*scale)(lwi_work *, double t, const double *x, double *scale);
    /** One line about the choices of `prepare`, or ""; NULL: none. */
    void (*about)(const lwi_work *, char *text, size_t size);
    /** Lines about the work done so far, or ""; NULL: none. */
    void (*report)(const lwi_work *, char *text, size_t size);
    /** One line of warning about the states so far, or ""; NULL: none. */
    void (*notice)(const lwi_work *, char *text, size_t size);
    /** Relative error by round-off of the accelerations of `rates` at (t, x), or of the speeds where the state has momenta;
     *  0: too small to be estimated.  Costs some evaluations; x and the discrete state do not change.  NULL: unknown. */
    double (*lost_digits)(lwi_work *, double t, const double *x, const double *inputs);
    /** Releases what is not in the arena (threads), also after a failure of `prepare`
     *  (work->data may be NULL); NULL: nothing. */
    void (*release)(lwi_work *);
};

/** Rates of a step. */
static inline lw_status lwi_work_rates(lwi_work *work, double t, const double *x,
                                       const double *inputs, double *xdot)
{
    const lwi_rates_source *s = &work->source;
    if (s->rates && s->rates(s->user, work, t, x, inputs, xdot)) return LW_OK;
    return work->formulation->rates(work, t, x, inputs, xdot);
}

/** Pre-step of what evaluates the rates of steps. */
static inline lw_status lwi_work_pre_step(lwi_work *work, double t, double *x, bool *changed)
{
    const lwi_rates_source *s = &work->source;
    bool by_source = false;
    *changed = false;
    if (s->rates && s->pre_step) {
        const lw_status status = s->pre_step(s->user, work, t, x, &by_source);
        if (status != LW_OK) return status;
    }
    const lw_status status =
        work->formulation->pre_step ? work->formulation->pre_step(work, t, x, changed) : LW_OK;
    *changed = *changed || by_source;
    return status;
}

/** As lwi_formulation.margin, at the state (t, x) of the last rates. */
static inline double lwi_work_margin(lwi_work *work, double t, const double *x)
{
    const lwi_rates_source *s = &work->source;
    const double margin = s->rates ? s->margin(s->user, work, t, x) : -1;
    if (margin >= 0) return margin;
    return work->formulation->margin ? work->formulation->margin(work) : 0;
}

/** As lwi_formulation.margin_at. */
static inline double lwi_work_margin_at(lwi_work *work, double t, const double *x)
{
    const lwi_rates_source *s = &work->source;
    const double margin = s->rates ? s->margin(s->user, work, t, x) : -1;
    if (margin >= 0) return margin;
    return work->formulation->margin_at ? work->formulation->margin_at(work, t, x) : -1;
}

lw_status lwi_work_create(const lw_model *model, const lwi_formulation *formulation,
                          const lw_allocator *allocator, lwi_work **work, lw_error *error);
/** The same with kernels of the given width (lwi_work.lanes). */
lw_status lwi_work_create_lanes(const lw_model *model, const lwi_formulation *formulation,
                                const lw_allocator *allocator, int lanes, lwi_work **work,
                                lw_error *error);
/** The same for a run with these options, which must outlive it; NULL: defaults. */
lw_status lwi_work_create_options(const lw_model *model, const lwi_formulation *formulation,
                                  const lw_allocator *allocator, int lanes,
                                  const lw_options *options, lwi_work **work, lw_error *error);
/** The same, as a part of a simulation or a trial: a formulation with an evaluation that takes longer than `limit`
 *  [s], by the table of costs, need not be set up.  @return LW_ERR_UNSUPPORTED then; 0: no limit
 *  @param shared  must outlive the work; NULL: it shares nothing */
lw_status lwi_work_create_shared(const lw_model *model, const lwi_formulation *formulation,
                                 const lw_allocator *allocator, const lw_options *options,
                                 double limit, struct lwi_shared *shared, lwi_work **work,
                                 lw_error *error);
void lwi_work_destroy(lwi_work *work);

#define LWI_FORMULATION_LIST(X)                                                                    \
    X(momenta) X(aba) X(dense) X(dca) X(hdca) X(lagrange) X(rcr) X(index3) X(rattle)
#define X(name) extern const lwi_formulation lwi_formulation_##name;
LWI_FORMULATION_LIST(X)
#undef X

/** NULL when there is none of that name. */
const lwi_formulation *lwi_formulation_find(const char *name);
/** Rejects loops, couplings and rotors that the flags exclude, then calls `accepts`; *why has the
 *  joint or body and a remedy. */
lw_status lwi_formulation_accepts(const lwi_formulation *formulation, const lw_model *model,
                                  lw_error *why);

// ---- states of signals, the last components of the state (signal_states.c)

/** Their block, after all others; the array of blocks has room for it. */
void lwi_states_layout(const lw_model *model, lwi_layout *layout);
/** x from a snapshot. */
void lwi_states_enter(const lwi_work *work, const lwi_snapshot *snapshot, double *x);
/** Forces evaluated next read the states in x and write their rates to xdot; NULL: no rates. */
static inline void lwi_states_set(lwi_work *work, const double *x, double *xdot)
{
    const int n = work->model->nstate, at = work->layout.nx - n;
    if (n == 0) return;
    work->states = (lwi_states){.value = x + at, .rate = xdot ? xdot + at : NULL};
}
/** lwi_states_set without rates, and the snapshot's states from x. */
void lwi_states_observe(lwi_work *work, const double *x, lwi_snapshot *snapshot);
/** Name of state i: "signal.NAME.state0", "servo.NAME.state". */
void lwi_state_name(const lw_model *model, int i, char *text, size_t size);
/** Before a step: integrals that have passed an end of their range in the last one begin at the end.  Values and rates
 *  do not change.  @return whether x has changed */
bool lwi_states_limit(const lwi_work *work, double *x);

// ---- shared by the tree formulations (tree_state.c): x = (tree q, tree u or p, [work])

/** Layout of a tree formulation; `second` is LWI_SPEED or LWI_MOMENTUM. */
lw_status lwi_tree_layout(const lw_model *model, lwi_arena *arena, lwi_block_kind second,
                          lwi_layout *layout);

#endif
