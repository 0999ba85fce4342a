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
// where  d2dot = w2 x d2, d2ddot = al2 x d2 + w2 x (w2 x d2) for what body 2 carries.  No row needs its J then.  Other
// rows, and those of mounts and drives, are evaluated by closure.c.
#include "kinematics/observe.h"

#include "base/assert.h"
#include "kinematics/closure.h"
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

static bool has_simple_rows(const lwi_joint *joint)
{
    if (joint->mount.present || joint->ndriven > 0) return false;
    for (int k = 0; k < joint->type->nc; k++) {
        const lwi_row_kind kind = joint->type->row[k].kind;
        if (kind != LWI_ROW_POINT && kind != LWI_ROW_ALONG && kind != LWI_ROW_AXES) return false;
    }
    return true;
}

static inline void take_larger(double *largest, double residual)
{
    const double size = fabs(residual);
    *largest = size > *largest ? size : *largest; // not a number: not larger, as fmax
}

// x and its derivatives in world axes become those seen from F1.
static inline void see_from(const double w1[3], const double al1[3], bool accelerations,
                            double x[3][3])
{
    double c[3], twice[3];
    v3_copy(twice, x[1]);
    v3_cross(c, w1, x[0]);
    v3_sub(x[1], x[1], c);
    if (!accelerations) return;
    v3_add(twice, twice, x[1]);
    v3_cross(c, w1, twice);
    v3_sub(x[2], x[2], c);
    v3_cross(c, al1, x[0]);
    v3_sub(x[2], x[2], c);
}

// sign times a point of body b, at `at` in its axes, its velocity and acceleration are added to x.
static inline void add_point(const lwi_snapshot *m, int b, const double at[3], double sign,
                             bool accelerations, double x[3][3])
{
    double arm[3], c[3], cc[3];
    m3_mul_v(arm, m->R[b], at);
    v3_cross(c, m->w_world[b], arm);
    for (int i = 0; i < 3; i++) {
        x[0][i] += sign * (m->r[b][i] + arm[i]);
        x[1][i] += sign * (m->v[b][i] + c[i]);
    }
    if (!accelerations) return;
    v3_cross(cc, m->w_world[b], c);
    v3_cross_add(cc, m->al_world[b], arm);
    for (int i = 0; i < 3; i++) x[2][i] += sign * (m->a[b][i] + cc[i]);
}

// Axis j of F2.
static inline void set_axis(const lwi_snapshot *m, const lwi_joint *joint, int j,
                            bool accelerations, double x[3][3])
{
    const int b = joint->body2;
    const double own[3] = {joint->R2[j], joint->R2[3 + j], joint->R2[6 + j]};
    m3_mul_v(x[0], m->R[b], own);
    v3_cross(x[1], m->w_world[b], x[0]);
    if (!accelerations) return;
    v3_cross(x[2], m->w_world[b], x[1]);
    v3_cross_add(x[2], m->al_world[b], x[0]);
}

// Residuals of rows that has_simple_rows allows; after the angular motion in world axes.
static void simple_residuals(const lwi_joint *joint, const lwi_snapshot *m, int levels,
                             double largest[3])
{
    const lwi_joint_type *type = joint->type;
    const int b = joint->body1;
    const bool accelerations = levels > 2;
    double R1[9], d[3][3] = {{0}}, axis[3][3];
    int present = -1; // axis of F2 that `axis` has
    bool placed = false;
    m3_mul(R1, m->R[b], joint->R1);
    for (int k = 0; k < type->nc; k++) {
        const lwi_row_form *row = &type->row[k];
        const double(*x)[3] = (const double(*)[3])(row->kind == LWI_ROW_AXES ? axis : d);
        if (row->kind == LWI_ROW_AXES && row->j != present) {
            set_axis(m, joint, present = row->j, accelerations, axis);
            see_from(m->w_world[b], m->al_world[b], accelerations, axis);
        } else if (row->kind != LWI_ROW_AXES && !placed) {
            placed = true;
            add_point(m, joint->body2, joint->r2, 1, accelerations, d);
            add_point(m, b, joint->r1, -1, accelerations, d);
            see_from(m->w_world[b], m->al_world[b], accelerations, d);
        }
        for (int i = 0; i < levels; i++)
            take_larger(&largest[i],
                        R1[row->i] * x[i][0] + R1[3 + row->i] * x[i][1] + R1[6 + row->i] * x[i][2]);
    }
}

// --------------------------------------------------------------------------------------- mechanism

void lwi_observe_residuals(const lw_model *model, lw_observe level, const lwi_snapshot *m,
                           double largest[3])
{
    const int levels = level >= LW_OBSERVE_REACTION ? 3 : 2;
    double e[3][LWI_CLOSURE_ROWS], *last = levels > 2 ? e[2] : NULL;
    v3_set(largest, 0, 0, 0);
    for (int b = 0; b < model->nbody; b++) {
        m3_mul_v(m->w_world[b], m->R[b], m->w[b]);
        if (last) m3_mul_v(m->al_world[b], m->R[b], m->al[b]);
    }
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->merged) continue;
        if (has_simple_rows(joint)) {
            simple_residuals(joint, m, levels, largest);
            continue;
        }
        const int n = lwi_joint_residual(model, j, m, e[0], e[1], last);
        for (int d = 0; d < levels; d++)
            for (int k = 0; k < n; k++) take_larger(&largest[d], e[d][k]);
    }
    for (int c = 0; c < model->ncoupling; c++) {
        coupling_residual(model, c, m, e[0], e[1], last);
        for (int d = 0; d < levels; d++) take_larger(&largest[d], e[d][0]);
    }
}
