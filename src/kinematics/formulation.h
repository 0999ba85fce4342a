// formulation.h -- what a formulation is: equations of motion behind one interface.
//
// Adding one: a new file with an lwi_formulation, and its name in LWI_FORMULATION_LIST.
#ifndef LWI_KINEMATICS_FORMULATION_H
#define LWI_KINEMATICS_FORMULATION_H

#include "model/model.h"

#include <linkwork/simulate.h>

typedef enum lwi_block_kind {
    LWI_COORDINATE, ///< m, rad
    LWI_QUATERNION, ///< four components, |q| is a gauge
    LWI_SPEED,      ///< m/s, rad/s
    LWI_MOMENTUM,   ///< kg m/s, kg m^2/s
    LWI_ANGLE,      ///< angle of a joint that is carried, not integrated for its own sake
    LWI_WORK,       ///< J
    LWI_MEMORY      ///< what the next step begins with; not integrated
} lwi_block_kind;

/** A run of state components of one kind. */
typedef struct lwi_block {
    lwi_block_kind kind;
    int first, n;
} lwi_block;

/** State x [nx] that integrators see; the same size during a whole run. */
typedef struct lwi_layout {
    int nx, nblock;
    lwi_block *block;
} lwi_layout;

/** Everything about a mechanism at one moment: the common currency between formulations.
 *  Arrays as in lw_observation, [nbody] with the ground at 0 and [model nq], [model nv]. */
typedef struct lwi_snapshot {
    double t;
    double (*r)[3], (*quat)[4], (*R)[9]; ///< mass centre, body -> world (quat unit, R = R(quat))
    double (*v)[3], (*w)[3];             ///< world; BODY axes
    double (*a)[3], (*al)[3];            ///< world; body axes
    double (*w_world)[3];                ///< scratch of observers: angular velocities, WORLD axes
    double *q, *qd, *qdd;                ///< all joints
    double (*reaction)[6];               ///< [njoint] on body2 about P2, world: constraint + drive
    unsigned char *unique;               ///< [njoint]
    double work;
} lwi_snapshot;

lw_status lwi_snapshot_create(const lw_model *model, lwi_arena *arena, lwi_snapshot *moment);
/** The model's initial state (level TWIST). */
void lwi_snapshot_start(const lw_model *model, lwi_snapshot *moment);

/** Tree joints at coordinates q and speeds qd of m's joint arrays, floating bases at their body's
 *  pose and twist in m; fills poses, twists and the tree joints' driven coordinates of m. */
void lwi_snapshot_from_joints(const lw_model *model, double t, lwi_snapshot *moment);

typedef struct lwi_formulation lwi_formulation;

/** One formulation at work on one model.  Allocated once; nothing allocates after create. */
typedef struct lwi_work {
    const lw_model *model;
    const lwi_formulation *formulation;
    lwi_layout layout;
    lwi_arena arena;
    int lanes;                 ///< width of kernels: 0 the machine's, 1, 4, 8; LWI_NO_KERNEL
    const lw_options *options; ///< of the run, resolved and checked; NULL: defaults
    void *data;                ///< the formulation's own
    /** What is discrete beside x, [ndiscrete] bytes that `pre_step` chooses; all zero: nothing is chosen yet
     *  (the next evaluation does).  A batch holds one for each instance. */
    void *discrete;
    size_t ndiscrete;
    const unsigned char *mode; ///< [model nmode] of forces, by who steps; NULL: by the state
    bool fixed_cost; ///< the same work in every step is asked for: none is split or tried again
    bool controls;   ///< steps are chosen by `error` of the formulation
    bool resumed;    ///< `enter` corrects a run that goes on: what was learnt on the way stays
    lw_error error;  ///< of the last failed call
} lwi_work;

enum { LWI_NO_KERNEL = -1 }; ///< the generic text only

enum {
    LWI_CAN_LOOPS = 1, ///< joints outside the spanning tree
    LWI_CAN_COUPLINGS = 2,
    LWI_CAN_MASSLESS = 4, ///< massless moving bodies
    LWI_CAN_ROTORS = 16,  ///< rotor inertia on free coordinates
    LWI_POSES_FIRST = 32, ///< poses are observed at less cost than velocities
    LWI_HAS_PLAN = 8      ///< joins bodies along a plan: takes the options `plan` and `threads`
};

struct lwi_formulation {
    const char *name, *summary, *cite;
    unsigned can;
    /** Refuses what `can` does not say, naming the joint; NULL: accepts all. */
    lw_status (*accepts)(const lw_model *, lw_error *why);
    /** Fills work->layout and work->data from work->arena. */
    lw_status (*prepare)(lwi_work *);
    /** State from a moment (poses, twists, q, qd, work of it are valid). */
    lw_status (*enter)(lwi_work *, const lwi_snapshot *, double *x);
    /** xdot at (t, x); no allocation, no printing. inputs [ninput]. */
    lw_status (*rates)(lwi_work *, double t, const double *x, const double *inputs, double *xdot);
    /** In place of rates: a whole step of its own from (t, x) to t + h; x is that of the end.  On failure x
     *  is untouched.  NULL: the formulation has rates. */
    lw_status (*step)(lwi_work *, double t, double h, double *x, const double *inputs);
    /** Local error of a step of length h from `before` to `after`, in units of what rtol and atol allow;
     *  `last` is where the step before began, of length last_h (0: none).  NULL: not known. */
    double (*error)(lwi_work *, double h, const double *before, const double *after, double last_h,
                    const double *last, double rtol, double atol);
    /** Before a step from (t, x): may choose anew what is discrete beside x, and make x fit it, such that
     *  rates there stay what they are but for round-off.  Never within a step.  NULL: nothing is. */
    lw_status (*pre_step)(lwi_work *, double t, double *x, bool *changed);
    /** Fills the moment up to `level` (ENERGY counts as TWIST): all bodies that are not merged, all
     *  joints that are not merged. */
    lw_status (*observe)(lwi_work *, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *);
    /** At the state (t, x): no less than the largest row of positions of loops and couplings [m, rad], at less
     *  cost than poses; infinite where it is not told.  NULL: it never is. */
    double (*gap)(lwi_work *, double t, const double *x);
    /** Absolute tolerance factors [nx]: multiplies atol (1 where NULL).  At the state (t, x). */
    lw_status (*scale)(lwi_work *, double t, const double *x, double *scale);
    /** One line about what `prepare` has chosen by itself, or ""; NULL: it chooses nothing. */
    void (*about)(const lwi_work *, char *text, size_t size);
    /** Lines about the work done so far, or ""; NULL: nothing to tell. */
    void (*report)(const lwi_work *, char *text, size_t size);
    /** One line about doubtful states met so far, or ""; NULL: never has doubts. */
    void (*notice)(const lwi_work *, char *text, size_t size);
    /** Gives back what is not in the arena (threads), also after `prepare` has failed half way
     *  (work->data may be NULL); NULL: there is nothing. */
    void (*release)(lwi_work *);
};

lw_status lwi_work_create(const lw_model *model, const lwi_formulation *formulation,
                          const lw_allocator *allocator, lwi_work **work, lw_error *error);
/** The same with kernels of the given width (lwi_work.lanes). */
lw_status lwi_work_create_lanes(const lw_model *model, const lwi_formulation *formulation,
                                const lw_allocator *allocator, int lanes, lwi_work **work,
                                lw_error *error);
/** The same for a run with these options, which must live as long; NULL: defaults. */
lw_status lwi_work_create_options(const lw_model *model, const lwi_formulation *formulation,
                                  const lw_allocator *allocator, int lanes,
                                  const lw_options *options, lwi_work **work, lw_error *error);
void lwi_work_destroy(lwi_work *work);

#define LWI_FORMULATION_LIST(X)                                                                    \
    X(momenta) X(aba) X(dense) X(dca) X(hdca) X(lagrange) X(rcr) X(index3)
#define X(name) extern const lwi_formulation lwi_formulation_##name;
LWI_FORMULATION_LIST(X)
#undef X

/** NULL when there is none of that name. */
const lwi_formulation *lwi_formulation_find(const char *name);
/** The shared refusal: loops, couplings that `can` does not cover, naming joint and remedy. */
lw_status lwi_formulation_accepts(const lwi_formulation *formulation, const lw_model *model,
                                  lw_error *why);

// ---- shared by the tree formulations (tree_state.c): x = (tree q, tree u or p, [work])

/** Layout of a tree formulation; `second` is LWI_SPEED or LWI_MOMENTUM. */
lw_status lwi_tree_layout(const lw_model *model, lwi_arena *arena, lwi_block_kind second,
                          lwi_layout *layout);

#endif
