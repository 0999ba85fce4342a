// residuals.c -- constraint residuals of a mechanism from one snapshot: those of positions, velocities, accelerations.
//
// They take the closure rows of the joint library and the motion of the bodies, so they show what a formulation did and
// not what it meant.
//
// Most rows are components, along an axis a1 of F1, of a vector x: of d = P2 - P1, or of an axis a2 of F2.  With the
// angular velocity w1 and acceleration al1 of F1 their residuals are
//
//     a1.x,   a1.x',   a1.x'',     x'  = xdot - w1 x x
//                                  x'' = xddot - al1 x x - w1 x (xdot + x')
//
// where  d2dot = w2 x d2, d2ddot = al2 x d2 + w2 x (w2 x d2) for what body 2 carries.  No row needs its J then.  Joints
// of one type are evaluated in lanes (simd/residuals.inl).  Other rows, and those of mounts and drives, are evaluated by
// closure.c.
#include "kinematics/observe.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "base/simd/lanes.h"
#include "kinematics/closure.h"
#include "kinematics/kernels.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

// ------------------------------------------------------------------------------------ rows in general

// J x of the first row, x = [linear in world axes; angular in body axes] of the bodies.
static double row_times(const lwi_snapshot *m, const lwi_closure *c, const double (*linear)[3],
                        const double (*angular)[3])
{
    double sum = 0;
    for (int i = 0; i < c->nbody; i++) {
        const int b = c->body[i];
        double turn[3];
        m3_mul_v(turn, m->R[b], angular[b]);
        sum += v3_dot(c->J[i][0], linear[b]) + v3_dot(c->J[i][0] + 3, turn);
    }
    return sum;
}

// The motion of a snapshot; w_world is filled for the bodies of one joint.
static lwi_motion motion_of(const lw_model *model, const lwi_snapshot *m, int joint)
{
    const int body[2] = {model->joint[joint].body1, model->joint[joint].body2};
    for (int i = 0; i < 2; i++) m3_mul_v(m->w_world[body[i]], m->R[body[i]], m->w[body[i]]);
    return (lwi_motion){.R = (const double(*)[9])m->R,
                        .r = (const double(*)[3])m->r,
                        .v = (const double(*)[3])m->v,
                        .w = (const double(*)[3])m->w_world,
                        .q = m->q};
}

int lwi_joint_residual(const lw_model *model, int joint, const lwi_snapshot *m,
                       double phi[LWI_CLOSURE_ROWS], double phidot[LWI_CLOSURE_ROWS],
                       double phiddot[LWI_CLOSURE_ROWS])
{
    LWI_ASSERT_INDEX(joint, model->njoint);
    const lwi_motion motion = motion_of(model, m, joint);
    const lwi_residuals to = {phi, phidot, phiddot};
    double A[2][6];
    for (int i = 0; phiddot && i < 2; i++) {
        const int b = i ? model->joint[joint].body2 : model->joint[joint].body1;
        v3_copy(A[i], m->a[b]);
        m3_mul_v(A[i] + 3, m->R[b], m->al[b]);
    }
    return lwi_joint_closure_residual(model, joint, m->t, &motion,
                                      phiddot ? (const double(*)[6])A : NULL, &to);
}

static void coupling_residual(const lw_model *model, int coupling, const lwi_snapshot *m,
                              double *phi, double *phidot, double *phiddot)
{
    LWI_ASSERT_INDEX(coupling, model->ncoupling);
    (void)motion_of(model, m, model->coupling[coupling].of);
    const lwi_motion motion = motion_of(model, m, model->coupling[coupling].joint);
    lwi_closure c;
    lwi_coupling_closure(model, coupling, m->t, &motion,
                         phiddot ? LWI_CLOSURE_RATES : LWI_CLOSURE_POSITION, &c);
    LWI_ASSERT(c.n == 1 && c.nbody <= LWI_CLOSURE_BODIES);
    *phi = c.phi[0];
    *phidot = row_times(m, &c, (const double(*)[3])m->v, (const double(*)[3])m->w) + c.b[0];
    if (!phiddot) return;
    *phiddot = row_times(m, &c, (const double(*)[3])m->a, (const double(*)[3])m->al) + c.gamma[0];
}

// -------------------------------------------------------------------------- rows along axes of F1

static void take_larger(double *largest, double residual)
{
    const double size = fabs(residual);
    *largest = size > *largest ? size : *largest; // not a number: not larger, as fmax
}

LWI_ISA_BUILDS(lwi_observe_kernels, lwi_observe_kernels);

const lwi_observe_kernels *lwi_observe_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

enum { QUEUES = 4 }; // types that wait at once

/** Joints of one type that wait for the lanes. */
typedef struct queue {
    const lwi_joint_type *type; ///< NULL: none
    bool simple;                ///< its rows are for the lanes; else none waits
    int n, joint[LWI_LANES];
} queue;

typedef struct queues {
    const lw_model *model;
    const lwi_snapshot *m;
    const lwi_observe_kernels *kernels; ///< NULL: the processor has none
    int levels, last;                   ///< the last one in use
    double *largest;
    queue of[QUEUES];
} queues;

// Lanes without a joint repeat the first one.
static void flush(queues *all, queue *waiting)
{
    if (waiting->n == 0) return;
    for (int l = waiting->n; l < all->kernels->width; l++) waiting->joint[l] = waiting->joint[0];
    all->kernels->residuals(all->model, all->m, waiting->joint, all->levels, all->largest);
    waiting->n = 0;
}

// The queue of a type; that of another one makes place.
static queue *queue_of(queues *all, const lwi_joint_type *type)
{
    for (int i = 0; i < QUEUES; i++)
        if (all->of[i].type == type) return &all->of[all->last = i];
    for (int i = 0; i < QUEUES; i++)
        if (!all->of[i].type) all->last = i;
    queue *to = &all->of[all->last];
    flush(all, to);
    to->type = type;
    to->simple = all->kernels && lwi_joint_has_simple_rows(type);
    return to;
}

// --------------------------------------------------------------------------------------- mechanism

void lwi_observe_residuals(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                           double largest[3])
{
    const int levels = level >= LW_OBSERVE_REACTION ? 3 : 2;
    double e[3][LWI_CLOSURE_ROWS], *last = levels > 2 ? e[2] : NULL;
    queues all = {model, m, lwi_observe_kernels_of(0), levels, 0, largest, {{0}}};
    queue *waiting = &all.of[0];
    const bool moved = model->driven,
               merged = model->nmerged > 0; // joints are large: few parts are read
    v3_set(largest, 0, 0, 0);
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (merged && joint->merged) continue;
        if (joint->type != waiting->type) waiting = queue_of(&all, joint->type);
        if (waiting->simple && !(moved && (joint->mount.present || joint->ndriven > 0))) {
            waiting->joint[waiting->n++] = j;
            if (waiting->n == all.kernels->width) flush(&all, waiting);
            continue;
        }
        const int n = lwi_joint_residual(model, j, m, e[0], e[1], last);
        for (int d = 0; d < levels; d++)
            for (int k = 0; k < n; k++) take_larger(&largest[d], e[d][k]);
    }
    for (int i = 0; i < QUEUES; i++) flush(&all, &all.of[i]);
    for (int c = 0; c < model->ncoupling; c++) {
        coupling_residual(model, c, m, e[0], e[1], last);
        for (int d = 0; d < levels; d++) take_larger(&largest[d], e[d][0]);
    }
}
