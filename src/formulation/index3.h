// index3.h -- positions as unknowns: the trapezoidal rule, Newton on the engine, projections.
//
// State x = (r, quaternion of every body; v, w in body axes; coordinates of joints that poses
// cannot tell; [work, power]; accelerations a, dw/dt in body axes; multipliers).  The last three
// are memory: they are what the next step begins with.  index3.c holds the state and what is
// observed, index3_step.c one step.
#ifndef LWI_INDEX3_H
#define LWI_INDEX3_H

#include "formulation/carried.h"
#include "formulation/closed.h"

/** How a step is done (option `index3`); the defaults are those of lwi_index3_defaults. */
typedef struct lwi_index3_method {
    double regularisation; ///< eps of a row relative to the mean diagonal of its joint's block
    int iterations;        ///< of Newton, at most
    double tolerance;      ///< of a position increment [m]; 0: all iterations are done
    int tangent;           ///< 0: inertia only, 1: and geometric stiffness
    int newton;            ///< 1: factors of the first iteration for all
    int projection;        ///< lwi_index3_projection
    int order;             ///< 1: the accelerations' projection knows nothing of the velocities'
    int stop;              ///< 1: increments of multipliers count too, times eta over the mass
    int mode;              ///< 1, real-time: the same work in every step, whatever comes of it
} lwi_index3_method;

/** The metric in which velocities and accelerations go the shortest way onto the joints. */
typedef enum lwi_index3_projection {
    LWI_PROJECT_NONE,
    LWI_PROJECT_MASS,   ///< least kinetic energy of the change
    LWI_PROJECT_TANGENT ///< that of the last iteration
} lwi_index3_projection;

/** A body in the step at hand: where it began, and how far it has turned. */
typedef struct lwi_index3_body {
    double r[3], v[3], a[3];  ///< at the beginning, world axes
    double R[9], w[3], al[3]; ///< at the beginning; body axes
    double turn[3];           ///< rotation vector of the step: R = R0 exp(turn~), body axes
    double vn[3], an[3], wn[3],
        aln[3]; ///< at the end, as the trapezoidal rule has them; wn, aln body axes
} lwi_index3_body;

/** A spring or damper that Newton knows: between points (`between`) or on a joint's coordinate. */
typedef struct lwi_index3_spring {
    const lwi_spring_par *between;
    int joint, coordinate;
    int body[2]; ///< hosts
    double stiffness, damping;
} lwi_index3_spring;

typedef struct lwi_index3_counts {
    long steps, iterations, unconverged; ///< unconverged: steps that ended above the tolerance
    double size, t;                      ///< largest increment they ended with [m], and when
    int body, edge; ///< node and edge of the largest increment and residual then
} lwi_index3_counts;

enum { LWI_INDEX3_BINS = 400 };

/** Wall time of steps [s]. */
typedef struct lwi_index3_times {
    double total, solve, projection, worst;
    long bin[LWI_INDEX3_BINS]; ///< how many steps took so long (index3_times.c)
} lwi_index3_times;

typedef struct lwi_index3 {
    lwi_closed closed;      ///< of the step: springs are its last edges
    lwi_closed own, *plain; ///< without springs: what is observed; `closed` where there are none
    lwi_index3_method method;
    lwi_index3_body *body; ///< [nnode]
    double (
        *stiffness)[6]; ///< [nnode] -d n / d turn of the joints' wrenches, symmetric, world axes
    double *lambda;     ///< [nrow] held: forces of point rows in world axes (index3_step.c)
    double *eps, *row;  ///< [nrow]
    double (*force)[6]; ///< [nnode]
    int nspring;
    lwi_index3_spring *spring;
    int (*ends)[2];     ///< [nspring] their hosts
    double *compliance; ///< [nspring] 1 / (k + 2c/h)
    bool *points;       ///< [nedge] rows 0 to 2 make two points meet
    double mass;        ///< of the lightest body [kg]
    bool coordinates;   ///< rows or forces ask for coordinates of joints: read in each iteration
    int at_speed, at_work, at_acceleration,
        at_lambda;       ///< in x; at_work < 0: none
    lwi_carried carried; ///< of all joints
    lwi_pool *pool;
    double *inputs; ///< [ninput] zeros, of the start
    lwi_index3_counts counts;
    lwi_index3_times times;
} lwi_index3;

/** The method of an empty option, and that of a text KEY=VALUE,... or `auto`. */
void lwi_index3_defaults(lwi_index3_method *method);
lw_status lwi_index3_method_read(const char *text, lwi_index3_method *method, lw_error *error);
/** Bodies' poses, velocities, carried coordinates of x into the motion of `closed` or `plain`; the
 * other coordinates are for lwi_closed_read_joints. */
void lwi_index3_read(const lwi_index3 *d, lwi_closed *closed, const double *x);
/** Springs and dampers of a model (index3_springs.c); list may be NULL.  Returns how many. */
int lwi_index3_springs(const lw_model *model, lwi_index3_spring *list);
/** Their rows J and compliances in a step h at the motion at hand; and rows of zeros. */
void lwi_index3_spring_rows(lwi_index3 *d, double t, double h);
void lwi_index3_spring_none(lwi_index3 *d);
/** Solves accelerations and multipliers at the motion at hand, regularised: never singular.
 *  closed->a, al, x, lambda. */
lw_status lwi_index3_accelerations(lwi_index3 *d, double t, const double *inputs, lw_error *error);
/** eps of every row from J and G at hand, compliances of springs. */
void lwi_index3_regularise(lwi_index3 *d);
/** Between multipliers of rows and those that are held. */
void lwi_index3_hold(lwi_index3 *d, const double *rows, double *held);
void lwi_index3_release(lwi_index3 *d, const double *held, double *rows);
/** Where Newton is far from its end: node of the largest increment, edge of the largest residual
 * (-1: no rows). */
void lwi_index3_worst(const lwi_index3 *d, int *node, int *edge);
/** "body 'a' moves most, the constraints of joint 'b' are off most (1e-3)" */
void lwi_index3_tell(const lwi_index3 *d, int node, int edge, char *text, size_t size);
double lwi_index3_clock(void);
void lwi_index3_timed(lwi_index3_times *times, double seconds);
/** lwi_formulation.report */
void lwi_index3_report(const lwi_work *work, char *text, size_t size);
/** One step; x and t are those of its beginning, x of its end on return. */
lw_status lwi_index3_step(lwi_work *work, double t, double h, double *x, const double *inputs);

#endif
