// rattle.h -- formulation `rattle`: a symplectic step of poses and momenta of all bodies, with constraints held at
// position and velocity level [mclachlan1995, reich1996, hante2021].
//
// State x = (r and quaternion of every body; P = m v in world axes and Pi = J w in body axes of every body; auxiliary
// states; [work, power]; remainders of these; lambda; mu; lambda of the two steps before).  From the remainders on it is memory:
// what the additions so far have rounded off, and the multipliers of the last steps, from which the next one starts.
//
//     rattle.c   state, start, observation       step.c    one step of length h, compositions
//     drift.c    the free body                   newton.c  multipliers of a step
//     kick.c     the second kick, damping        massless.c  bodies without mass
//     lanes.c    what the kernels do             simd/     drift and joints in lanes
#ifndef LWI_METHODS_RATTLE_RATTLE_H
#define LWI_METHODS_RATTLE_RATTLE_H

#include "base/assert.h"
#include "base/simd/lanes.h"
#include "kinematics/auxiliary.h"
#include "kinematics/signal_steps.h"
#include "system/system.h"

/** A body in the current step.  World axes, those of rotation in body axes.  The order is that of the kernels, which read
 *  and write the groups as rows of numbers. */
typedef struct lwi_rattle_body {
    // given: constants, the state at the beginning, what acts on the body
    double mass, J[6],
        mobility[6]; ///< inertia about the mass centre and its inverse, xx yy zz xy xz yz
    double r[3], quat[4], P[3], Pi[3];
    double er[3], eq[4], eP[3], ePi[3]; ///< what additions to these have rounded off
    double R[9];
    double f[6];      ///< loads: force, torque in body axes
    double wrench[6]; ///< J' lambda of its joints
    double origin[3]; ///< subtracted from positions in rows
    // of the drift
    double kick[6];         ///< impulses of this step so far: force, torque in body axes
    double theta[3];        ///< rotation vector of the step, R1 = R exp(theta~)
    double r1[3], quat1[4]; ///< after the drift
    double er1[3], eq1[4];
    double dPi[3], Pi1[3]; ///< Pi1 = Pi + dPi before the second kick
    double R1[9];
    double local[3]; ///< position from the origin, with the remainder
    double off[6];   ///< what local and R1 leave out: a displacement and a rotation in world axes
    // of the second kick
    double f1[6]; ///< loads at the end
} lwi_rattle_body;

/** A body without inertia in some direction, or with next to nothing: its displacement in a step is an unknown
 *  (massless.c). */
typedef struct lwi_rattle_massless {
    int node;
    double v[3], w[3];      ///< velocity, world axes
    double dr[3], theta[3]; ///< of the step: displacement, rotation vector
    double gap[6];          ///< what its equations lack: force, torque, world axes
} lwi_rattle_massless;

/** Numbers of these groups, and of R1, local, off. */
enum {
    LWI_RATTLE_GIVEN = 13 + 13 + 13 + 9 + 6 + 6 + 3,
    LWI_RATTLE_DRIFT = 6 + 3 + 7 + 7 + 6 + 18,
    LWI_RATTLE_POSE = 18
};

/** Rows on one body of the elimination: J of edges, in their order. */
typedef struct lwi_rattle_slot {
    int slot, row, rows;
} lwi_rattle_slot;

typedef struct lwi_rattle_counts {
    long steps, iterations, full; ///< full: matrices of Newton factored
    long stiff;                   ///< second kicks with stiff damping
} lwi_rattle_counts;

typedef struct lwi_rattle {
    lwi_system system;
    lwi_rattle_body
        *body; ///< [nnode], then those that fill the last block of lanes, then the ground
    const struct lwi_rattle_kernels *kernels; ///< NULL: the generic code
    struct lwi_rattle_joint
        *joint; ///< [njoint] in lanes, blocks of one type filled with the last of it
    int njoint;
    int *edge, nedge;      ///< the other edges
    int *first;            ///< [nnode + nrotor + 1] of `slot`
    lwi_rattle_slot *slot; ///< of every body
    int *
        root; ///< [nnode] a node of the same component without joint to the ground; -1: there is one
    double *lambda, *mu;  ///< [nrow] of the two kicks
    double *before;       ///< [2 nrow] lambda of the last step and of the one before
    double *inputs;       ///< [ninput] zeros, for the start
    double *speed;        ///< [model nv] of rotors after the kick
    double (*J0)[6];      ///< [6 slots] rows at the beginning, while `full`
    bool full;            ///< Newton's own matrix in this step, not that of the beginning
    bool *dropped;        ///< [plan.nrow] rows that depend on others
    double *eps;          ///< [plan.nrow] of the full matrix
    double *b0;           ///< [nrow] prescribed rates at the beginning
    double (*impulse)[6]; ///< [nnode] of the second kick: force, torque in body axes
    // of the second kick where some force dissipates: [6 nnode] each, and nkrylov + 1 vectors of this size
    double *loads, *gap, *change, *trial, *answer, *krylov;
    int nkrylov;
    lwi_rattle_massless *massless; ///< [nmassless]
    int nmassless, *massless_of;   ///< [nnode] in `massless`, or -1; NULL without
    double (*massless_K)[36];      ///< [transfer nborrower] in Newton's own matrix
    double *at;                    ///< [7 nnode] poses of the current rows and factors
    double at_time;
    bool factored;                         ///< these are valid
    bool has_rows;                         ///< rows are those of the last observation
    bool coordinates;                      ///< rows or forces depend on coordinates of joints
    bool dissipates;                       ///< some force is no function of the position alone
    int order;                             ///< of the composition
    int at_momentum, at_work;              ///< indices in x; at_work < 0: none
    int at_memory, at_lambda, at_massless; ///< likewise
    lwi_auxiliary auxiliary;
    lwi_signal_steps signals;
    lwi_rattle_counts counts;
} lwi_rattle;

/** Numbers of memory for each body: remainders of r, quaternion, P and Pi. */
enum { LWI_RATTLE_REMAINDERS = 13 };

/** y + (change + *left); *left := what this addition rounds off. */
static inline double lwi_rattle_add(double y, double change, double *left)
{
    const double whole = change + *left, sum = y + whole;
    *left = whole - (sum - y);
    return sum;
}

// ---- the free body (drift.c)

/** theta with G(theta) = a, the rotation vector of a free body with a = h Pi, inertia J about axes of the body
 *  (xx yy zz xy xz yz), inverse its inverse.  False: none below pi was found. */
bool lwi_rattle_rotation(const double J[6], const double inverse[6], const double a[3],
                         double theta[3]);
/** G(theta) = h Pi of a free body. */
void lwi_rattle_momentum(const double J[6], const double theta[3], double G[3]);
/** D := T(theta) G'(theta)^-1, rotation of the end in body axes by a. */
bool lwi_rattle_tangent(const double J[6], const double theta[3], double D[9]);
/** dq := q o exp(theta / 2) - q, without cancellation. */
void lwi_rattle_turn(const double q[4], const double theta[3], double dq[4]);

// ---- multipliers (newton.c)

/** Bodies after the first kick with the multipliers d->lambda, and after the drift; `first` in this step. */
void lwi_rattle_drift(lwi_rattle *d, double h, bool first);
/** `local` at the beginning or the end of the step, and the displacement of `off`.  Far from the origin of the world the
 *  remainder is as large as what joints round off there. */
void lwi_rattle_put_local(lwi_rattle_body *body, bool end);
/** The end of the step from theta: quaternion, R1, local, off. */
void lwi_rattle_rotate(lwi_rattle_body *body);
/** The rotation of `off`. */
void lwi_rattle_put_rotation(lwi_rattle_body *body, bool end);
/** Chooses the kernels of a width (0: the widest), and lists what they do; a width of -1, or without kernels: nothing, the
 *  generic code does all. */
void lwi_rattle_choose_kernels(lwi_rattle *d, int width);
/** Finds d->lambda, so that positions are on the constraints at t + h. */
lw_status lwi_rattle_newton(lwi_rattle *d, double t, double h, lw_error *error);
/** W [6] := J' lambda of body k of the elimination, J at the beginning of the step. */
void lwi_rattle_wrench(const lwi_rattle *d, int k, const double *lambda, double W[6]);

// ---- bodies without mass (massless.c)

/** Fills massless, massless_of and massless_K; nmassless stays 0 if every body has mass and inertia.
 *  @return LW_ERR_MEMORY */
lw_status lwi_rattle_list_massless(lwi_rattle *d, lwi_arena *arena);
/** Their velocities from and to x [6 nmassless], the memory of the state. */
void lwi_rattle_load_massless(lwi_rattle *d, const double *x);
void lwi_rattle_store_massless(const lwi_rattle *d, double *x);
/** Their velocities from the solution of the system. */
void lwi_rattle_take_velocities(lwi_rattle *d);
/** Sets momenta to exactly zero where there is no mass or inertia: sums leave round-off there. */
void lwi_rattle_clear_momenta(lwi_rattle *d);
/** Displacements with which the iterations of a step of length h begin. */
void lwi_rattle_guess_massless(lwi_rattle *d, double h);
/** Adds to them the share of the increments in system.x. */
void lwi_rattle_move_massless(lwi_rattle *d, double h, double share);
/** End of the step and `gap` of node k, after the first kick. */
void lwi_rattle_drift_massless(lwi_rattle *d, int k, double h);
/** Increments of multipliers and displacements, in lambda and x of the system, for J x = c. */
void lwi_rattle_solve_massless(lwi_rattle *d);
/** Blocks of Newton's own matrix, at the beginning of a step. */
void lwi_rattle_find_mobilities(lwi_rattle *d);
/** That of a body of the elimination [6][6]; NULL: it has mass and inertia. */
const double *lwi_rattle_mobility(const lwi_rattle *d, int body);
/** x := K f */
void lwi_rattle_multiply(const double K[36], const double f[6], double x[6]);

// ---- the second kick (kick.c)

enum { LWI_RATTLE_KRYLOV = 60 };
/** M x = f + J'lambda, J x = c without refinement: f in x, c in the system; x and lambda out. */
void lwi_rattle_solve_once(lwi_system *system);
/** Momenta on the rows at the end of the step, t + h, with loads at the velocities there, in f1 and d->impulse.
 *  @param power  out: of forces that are not conservative      @return LW_ERR_INTEGRATOR: no such loads were found */
lw_status lwi_rattle_end_kick(lwi_work *work, double t, double h, const double *inputs,
                              double *power);

// ---- steps (step.c)

/** f of every body, or f1 at the `end`, at the motion of the system: force, torque in body axes.  Returns the power of
 *  forces that are not conservative. */
double lwi_rattle_forces(lwi_rattle *d, double t, const double *inputs, bool end);
/** Velocities of body k in the motion of the system from its momenta. */
void lwi_rattle_put_velocity(lwi_rattle *d, int k, const double P[3], const double Pi[3]);

lw_status lwi_rattle_step(lwi_work *work, double t, double h, double *x, const double *inputs);
/** d->body from x, and the motion of the system: positions less d->origin, velocities. */
void lwi_rattle_load(lwi_rattle *d, double t, const double *x);
/** Positions of the system with (`local`), or without, d->origin subtracted. */
void lwi_rattle_place(lwi_rattle *d, bool local);
/** Rows, metric and factors at the poses of d->body, where they are not current. */
lw_status lwi_rattle_factor(lwi_rattle *d, double t, lw_error *error);

#endif
