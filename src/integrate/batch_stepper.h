// batch_stepper.h -- one-step methods that integrate up to eight states at once, each with its own time and step.
//
// A stepper has lanes; component i of the state in lane l is x[i * stride + l].  An `attempt`
// tries one step in every busy lane.  It has parts, each up to the next evaluation of rates, so that several steppers
// can be evaluated together.  The stages of all lanes are evaluated together; time, step size, error,
// acceptance and failure are separate for each lane.  No operation mixes lanes, so the results of a state are
// bit for bit the same for any width, lane and neighbour.
//
// Two methods: `dopri54` (adaptive) and `rk4` (fixed step).  methods.inl is the implementation;
// batch_stepper.c builds the integrators of single states from it, stepper.c the wider ones.
#ifndef LWI_INTEGRATE_BATCH_STEPPER_H
#define LWI_INTEGRATE_BATCH_STEPPER_H

#include "integrate/integrator.h"

enum { LWI_STEPPER_LANES = 8, LWI_STEPPER_STAGES = 7 };

typedef double lwi_stepper_row[LWI_STEPPER_LANES];

/** Step control of one state, kept from step to step in addition to t, x and the last slope. */
typedef struct lwi_step_control {
    double h;      ///< step proposed; 0: find one
    double error;  ///< error of the last accepted step, for the control
    bool rejected; ///< the last attempt was rejected
    bool slope;    ///< k[0] is the slope at (t, x)
    bool arrived, failed;
    bool unfinite;   ///< rates were not finite in one of the last short steps
    int short_steps; ///< in succession: LWI_SHORT_STEPS
    long steps, evaluations, rejections;
} lwi_step_control;

/** Where an attempt continues. */
typedef enum lwi_stepper_phase {
    LWI_STEPPER_BEGIN,
    LWI_STEPPER_SLOPES, ///< with the rates at the beginning of the step
    LWI_STEPPER_FIRST,  ///< with those after a step that shows how long the first one may be
    LWI_STEPPER_STAGE   ///< with those of a stage
} lwi_stepper_phase;

/** The rates xdot at (t, x) that an attempt needs, of the lanes in the set. */
typedef struct lwi_stepper_request {
    unsigned lanes;
    lwi_stepper_row t;
    const double *x;
    double *xdot;
} lwi_stepper_request;

typedef struct lwi_stepper {
    // the problem
    int n;      ///< components; may be 0
    int stride; ///< 1 or LWI_STEPPER_LANES
    int rows; ///< n, or of one lane more, with zeros: operations on whole vectors have no remainder
    /** xdot at (t, x) of the lanes in the set; t [lane], x and xdot as those of the stepper.  Its
     *  output in other lanes is ignored.  Sets status[lane] of lanes that fail, and may set the message
     *  why[lane]. */
    void (*rates)(void *user, const double *t, const double *x, double *xdot, unsigned lanes,
                  lw_status *status);
    void *user;
    const lw_error *why[LWI_STEPPER_LANES]; ///< messages of failed rates; may be NULL
    double rtol;
    double max_step; ///< as of lwi_problem
    long max_steps;
    // the lanes
    double *atol;                  ///< [n][lane]
    double *x;                     ///< [n][lane] the state at t
    double *k[LWI_STEPPER_STAGES]; ///< [n][lane] slopes; k[0] at (t, x)
    double *y;                     ///< [n][lane] state of a stage
    lwi_stepper_row t, stop;
    lwi_stepper_row h, last_error; ///< of the step controls
    lwi_step_control control[LWI_STEPPER_LANES];
    unsigned busy; ///< lanes before their stop; an attempt removes lanes that reach it or fail
    lw_status status[LWI_STEPPER_LANES]; ///< of failed lanes
    lw_error error[LWI_STEPPER_LANES];   ///< of failed lanes: "integration stops at t = ..."
    // the attempt
    lwi_stepper_phase phase;
    lwi_stepper_request request;
    int stage;
    unsigned tried, last; ///< lanes of the attempt; those in which the step ends on the stop
    double *tried_step;   ///< [lane]
    void *block;          ///< memory of the arrays
} lwi_stepper;

/** The next part of an attempt in every busy lane, by width.  true: rates are asked for, and the next part has to
 *  find them, with the status of lanes that fail; false: the attempt has ended. */
typedef bool (*lwi_stepper_part)(lwi_stepper *stepper);
/** A whole attempt, with the stepper's rates. */
void lwi_stepper_attempt(lwi_stepper *stepper, lwi_stepper_part part);

typedef struct lwi_stepper_method {
    const char *name; ///< of the integrator
    bool adaptive;
} lwi_stepper_method;

/** NULL if the integrator of that name has no batch stepper. */
const lwi_stepper_method *lwi_stepper_find(const char *integrator);
/** Its parts for width 1 (stride 1), 4 or 8 (stride 8), in the instructions of this processor. */
lwi_stepper_part lwi_stepper_part_of(const lwi_stepper_method *method, int width);

/** The parts in the order of the methods; compiled once per instruction set (stepper.c). */
typedef struct lwi_stepper_lanes {
    lwi_stepper_part width1[2], width4[2], width8[2];
} lwi_stepper_lanes;

/** Step controls store errors as at least this. */
#define LWI_STEPPER_MIN_REMEMBERED 1e-4

/** Memory for n components; fill the problem afterwards.  Everything else is zero. */
lw_status lwi_stepper_create(int n, int stride, const lw_allocator *allocator,
                             lwi_stepper *stepper);
void lwi_stepper_destroy(lwi_stepper *stepper, const lw_allocator *allocator);

/** The step control as numbers [LWI_STEP_NUMBERS] (lwi_integrator_type.keep). */
void lwi_step_control_keep(const lwi_step_control *control, double *kept);
/** Sets those of a control that was reset; any number but a step that is positive and an error that is not negative:
 *  none. */
void lwi_step_control_recall(lwi_step_control *control, const double *kept);

/** A new step control for a state without history; counters stay. */
void lwi_step_control_reset(lwi_step_control *control);

// ---- shared by the widths (batch_stepper.c)

/** Sets a lane's failure; its time and step are put before the message. */
void lwi_stepper_fail(lwi_stepper *stepper, int lane, lw_status status, double step,
                      const char *format, ...) LW_PRINTF(5, 6);
/** Status and message of a lane with failed or not finite rates. */
void lwi_stepper_unwell(lwi_stepper *stepper, int lane, const double *xdot);

#endif
