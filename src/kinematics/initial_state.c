// initial_state.c -- the state at t = 0: joint coordinates from the assembly configuration or as given,
// poses by forward kinematics, speeds as given or from the bodies' velocities; every closure is
// checked.
#include "model/model.h"
#include "base/assert.h"
#include "kinematics/tree_state.h"
#include "spatial/inertia.h"
#include "spatial/rotation.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Scratch of this file, world axes unless said otherwise.
typedef struct start {
    double (*R)[9], (*r)[3], (*v)[3], (*w)[3]; // bodies [nbody]
    double (*quat)[4];
    double (*node_R)[9], (*node_r)[3], (*V)[6]; // nodes; V in link frames
    lwi_link *link;
    lwi_unclosed *unclosed;
    lwi_arena *scratch;
} start;

// A start that does not close is noted, the first thing of each kind; other failures end the
// compilation.  `found` is the error of the check.
static lw_status note(const start *s, bool velocity, lw_status status, const lw_error *found,
                      lw_error *error)
{
    if (status == LW_OK) return LW_OK;
    if (status != LW_ERR_MODEL) {
        if (error) *error = *found;
        return status;
    }
    lw_error *first = velocity ? &s->unclosed->velocity : &s->unclosed->position;
    if (first->status == LW_OK) *first = *found;
    return LW_OK;
}

static lw_status make_scratch(lw_model *m, lwi_arena *scratch, start *s, lw_error *error)
{
    *s = (start){.R = lwi_arena_push(scratch, (size_t)m->nbody, sizeof *s->R),
                 .r = lwi_arena_push(scratch, (size_t)m->nbody, sizeof *s->r),
                 .v = lwi_arena_push(scratch, (size_t)m->nbody, sizeof *s->v),
                 .w = lwi_arena_push(scratch, (size_t)m->nbody, sizeof *s->w),
                 .quat = lwi_arena_push(scratch, (size_t)m->nbody, sizeof *s->quat),
                 .node_R = lwi_arena_push(scratch, (size_t)m->nnode, sizeof *s->node_R),
                 .node_r = lwi_arena_push(scratch, (size_t)m->nnode, sizeof *s->node_r),
                 .V = lwi_arena_push(scratch, (size_t)m->nnode, sizeof *s->V),
                 .link = LWI_PUSH(scratch, lwi_link, m->nnode)};
    m->q0 = LWI_PUSH(&m->arena, double, m->nq);
    m->v0 = LWI_PUSH(&m->arena, double, m->nv);
    m->tree_q0 = LWI_PUSH(&m->arena, double, m->tree_nq);
    m->tree_v0 = LWI_PUSH(&m->arena, double, m->tree_nv);
    if (!s->R || !s->r || !s->v || !s->w || !s->quat || !s->node_R || !s->node_r || !s->V ||
        !s->link || !m->q0 || !m->v0 || !m->tree_q0 || !m->tree_v0)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the initial state");
    return LW_OK;
}

// Bodies as placed in the description.
static void assembly_poses(const lw_model *m, start *s)
{
    for (int i = 0; i < m->nbody; i++) {
        const lw_pose *p = &m->desc.body[i].pose;
        const double q[4] = {p->orientation.w, p->orientation.x, p->orientation.y,
                             p->orientation.z};
        memcpy(s->quat[i], q, sizeof q);
        quat_matrix(s->R[i], q);
        m3_mul_v(s->r[i], s->R[i], m->body[i].com);
        s->r[i][0] += p->position.x, s->r[i][1] += p->position.y, s->r[i][2] += p->position.z;
    }
}

// How far the pose at coordinates q is from (R, r): distance of the points and angle of the frames.
static void mismatch(const lwi_joint *j, const double *q, const double R[9], const double r[3],
                     double *distance, double *angle)
{
    double Rq[9], rq[3], E[9];
    j->type->pose(&j->par, q, Rq, rq);
    v3_sub(rq, rq, r);
    *distance = v3_norm(rq);
    m3_tmul(E, Rq, R);
    const double sine[3] = {E[7] - E[5], E[2] - E[6], E[3] - E[1]};
    *angle = atan2(v3_norm(sine), E[0] + E[4] + E[8] - 1);
}

static lw_status check_closure(const lw_model *m, int index, const double *q, const double R[9],
                               const double r[3], const char *when, lw_error *error)
{
    LWI_ASSERT_INDEX(index, m->njoint);
    const lwi_joint *j = &m->joint[index];
    const lw_joint_desc *d = &m->desc.joint[index];
    double distance, angle;
    mismatch(j, q, R, r, &distance, &angle);
    if (distance <= LWI_CLOSURE_TOLERANCE * (1 + v3_norm(r)) && angle <= LWI_CLOSURE_TOLERANCE)
        return LW_OK;
    return lwi_model_fail(
        &m->desc, d->place, error,
        "joint '%s' (%s, '%s' to '%s') does not close %s: its points are %.6g m off "
        "where the joint does not move, its frames %.6g deg; expected the bodies to be "
        "placed where the joint holds them (`linkwork assemble` finds such places)",
        j->name, j->type->name, m->desc.body[d->body1.index].name,
        m->desc.body[d->body2.index].name, when, distance, angle * 57.295779513082321);
}

// Coordinates and speeds given for driven ones must be those of their functions.
static lw_status check_given(const lw_model *m, int index, lw_error *error)
{
    LWI_ASSERT_INDEX(index, m->njoint);
    const lwi_joint *j = &m->joint[index];
    const lw_joint_desc *d = &m->desc.joint[index];
    for (int k = 0; k < j->type->nv; k++) {
        if (!j->motion[k].index) continue;
        double f[3];
        lwi_function_eval(m->function, j->motion[k], 0, f);
        const bool q = d->has_q && fabs(d->q[k] - f[0]) > LWI_CLOSURE_TOLERANCE * (1 + fabs(f[0]));
        const bool qd =
            d->has_qd && fabs(d->qd[k] - f[1]) > LWI_CLOSURE_TOLERANCE * (1 + fabs(f[1]));
        if (q || qd)
            return lwi_model_fail(&m->desc, d->place, error,
                                  "joint '%s': %s%d is given as %.9g, its motion starts at %.9g",
                                  j->name, q ? "q" : "qd", k, q ? d->q[k] : d->qd[k],
                                  q ? f[0] : f[1]);
    }
    return LW_OK;
}

// Coordinates of one joint: as given, or of the pose the bodies have.
static lw_status joint_coordinates(lw_model *m, int index, const start *s, const char *when,
                                   lw_error *error)
{
    LWI_ASSERT_INDEX(index, m->njoint);
    const lwi_joint *j = &m->joint[index];
    const lw_joint_desc *d = &m->desc.joint[index];
    const bool in_tree = j->node >= 0;
    double *q = m->q0 + j->iq, near[LW_JOINT_MAX_NQ], R[9], r[3];
    lw_error found;
    j->type->neutral(&j->par, near);
    if (d->has_q) memcpy(near, d->q, (size_t)j->type->nq * sizeof *near);
    TRY(check_given(m, index, error));
    lwi_joint_relative(m, index, 0, s->R, s->r, NULL, NULL, R, r, NULL);
    if (j->type->has_pitch && j->par.pitch != 0 && !d->has_q)
        near[0] = r[2] / j->par.pitch; // the displacement determines the revolution
    if (in_tree && d->has_q)
        memcpy(q, d->q, (size_t)j->type->nq * sizeof *q);
    else
        j->type->read(&j->par, R, r, near, q);
    if (in_tree && (d->has_q || j->ndriven || j->mount.present)) return LW_OK; // it moves there
    TRY(note(s, false, check_closure(m, index, q, R, r, when, &found), &found, error));
    for (int k = 0; d->has_q && !in_tree && k < j->type->nv; k++) {
        if (fabs(q[k] - d->q[k]) <= LWI_CLOSURE_TOLERANCE * (1 + fabs(q[k]))) continue;
        if (j->type->quaternion >= 0) continue;
        lwi_model_fail(&m->desc, d->place, &found,
                       "joint '%s' closes a loop at q%d = %.9g, given is %.9g; expected the bodies "
                       "to be placed where it has it (`linkwork assemble` finds such places)",
                       j->name, k, q[k], d->q[k]);
        TRY(note(s, false, LW_ERR_MODEL, &found, error));
    }
    for (int k = 0; k < j->type->nv; k++) {
        if (!j->motion[k].index) continue;
        double f[3];
        lwi_function_eval(m->function, j->motion[k], 0, f);
        if (fabs(q[k] - f[0]) <= LWI_CLOSURE_TOLERANCE * (1 + fabs(f[0]))) continue;
        lwi_model_fail(&m->desc, d->place, &found,
                       "joint '%s' closes a loop at q%d = %.9g, its motion starts at %.9g", j->name,
                       k, q[k], f[0]);
        TRY(note(s, false, LW_ERR_MODEL, &found, error));
    }
    return LW_OK;
}

static lw_status check_distance(const lw_model *m, int index, const start *s, lw_error *error)
{
    LWI_ASSERT_INDEX(index, m->njoint);
    const lwi_joint *j = &m->joint[index];
    double R[9], r[3], f[3];
    lwi_joint_relative(m, index, 0, s->R, s->r, NULL, NULL, R, r, NULL);
    lwi_function_eval(m->function, j->length_of, 0, f);
    const double length = j->length_of.index ? f[0] : j->par.length;
    if (fabs(v3_norm(r) - length) <= LWI_CLOSURE_TOLERANCE * (1 + length)) return LW_OK;
    return lwi_model_fail(&m->desc, m->desc.joint[index].place, error,
                          "joint '%s': its points are %.9g m apart at the start, length is %.9g",
                          j->name, v3_norm(r), length);
}

// The pose of a merged body follows from its carrier and must agree with the description.
static lw_status check_merged(const lw_model *m, const start *s, lw_error *error)
{
    for (int i = 1; i < m->nbody; i++) {
        const lwi_body *b = &m->body[i];
        if (b->carrier == i) continue;
        double r[3], R[9], E[9];
        m3_mul_v(r, s->R[b->carrier], b->carrier_r);
        v3_add(r, r, s->r[b->carrier]);
        v3_sub(r, r, s->r[i]);
        m3_mul(R, s->R[b->carrier], b->carrier_R);
        m3_tmul(E, R, s->R[i]);
        const double angle = v3_norm((double[3]){E[7] - E[5], E[2] - E[6], E[3] - E[1]}) / 2;
        if (v3_norm(r) > LWI_CLOSURE_TOLERANCE * (1 + v3_norm(s->r[i])) ||
            angle > LWI_CLOSURE_TOLERANCE)
            return lwi_model_fail(
                &m->desc, m->desc.body[i].place, error,
                "body '%s' is fixed to '%s' but placed %.6g m and %.6g deg off where its "
                "fixed joint holds it",
                b->name, m->body[b->carrier].name, v3_norm(r),
                asin(fmin(1, angle)) * 57.295779513082321);
    }
    return LW_OK;
}

// Velocity of a body given in the description, in its node's link frame.
static void given_velocity(const lw_model *m, const start *s, int k, double V[6])
{
    LWI_ASSERT_INDEX(k, m->nnode);
    const lwi_node *n = &m->node[k];
    const lw_body_desc *d = &m->desc.body[n->body];
    const double v[3] = {d->velocity.x, d->velocity.y, d->velocity.z};
    const double w[3] = {d->angular_velocity.x, d->angular_velocity.y, d->angular_velocity.z};
    double turn[3];
    m3_tmul_v(V, s->node_R[k], v); // of the mass centre
    m3_mul_v(V + 3, n->c_R, w);
    v3_cross(turn, n->c_r, V + 3); // origin = mass centre - c_r: v - w x c
    v3_add(V, V, turn);
}

// u that brings S u nearest to d: normal equations, S of full column rank.
static void least_squares(const double (*S)[6], int n, const double d[6], double *u)
{
    double A[6][6], b[6];
    for (int i = 0; i < n; i++) {
        b[i] = v6_dot(S[i], d);
        for (int j = 0; j < n; j++) A[i][j] = v6_dot(S[i], S[j]);
    }
    for (int k = 0; k < n; k++) // Gauss without pivoting: positive definite
        for (int i = k + 1; i < n; i++) {
            const double f = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    for (int k = n - 1; k >= 0; k--) {
        u[k] = b[k];
        for (int j = k + 1; j < n; j++) u[k] -= A[k][j] * u[j];
        u[k] /= A[k][k];
    }
}

static lw_status check_velocity(const lw_model *m, int k, const double given[6], const double V[6],
                                lw_error *error)
{
    LWI_ASSERT_INDEX(k, m->nnode);
    const lw_body_desc *d = &m->desc.body[m->node[k].body];
    double e[6], size = 1;
    for (int i = 0; i < 6; i++) {
        e[i] = given[i] - V[i];
        size = fmax(size, fabs(given[i]));
    }
    if (v3_norm(e) <= LWI_CLOSURE_TOLERANCE * size &&
        v3_norm(e + 3) <= LWI_CLOSURE_TOLERANCE * size)
        return LW_OK;
    return lwi_model_fail(
        &m->desc, d->place, error,
        "body '%s': its velocity breaks joint '%s' by %.6g m/s and %.6g rad/s; expected "
        "a velocity that the joint, its drives and `qd` allow",
        d->name, m->joint[m->node[k].joint].name, v3_norm(e), v3_norm(e + 3));
}

// Speeds of the tree, outwards: qd where given, else from the bodies' velocities, else zero.
static lw_status tree_speeds(lw_model *m, start *s, lw_error *error)
{
    lw_error found;
    for (int k = 0; k < m->nnode; k++) {
        const lwi_node *n = &m->node[k];
        const lwi_link *link = &s->link[k];
        const lw_joint_desc *d = n->joint < 0 ? NULL : &m->desc.joint[n->joint];
        const bool given = m->desc.body[n->body].has_velocity;
        double *u = m->tree_v0 + n->iv, V[6] = {0}, want[6] = {0};
        if (n->parent >= 0) motion_to(V, link->R, link->r, s->V[n->parent]);
        v6_add(V, V, link->sigma);
        if (given) given_velocity(m, s, k, want);
        if (d && d->has_qd) {
            for (int i = 0; i < n->nv; i++) u[i] = d->qd[n->column[i]];
        } else if (given) {
            double rest[6];
            for (int i = 0; i < 6; i++) rest[i] = want[i] - V[i];
            least_squares(link->S, n->nv, rest, u);
        }
        for (int i = 0; i < n->nv; i++) v6_axpy(V, u[i], link->S[i]);
        if (given && d) TRY(note(s, true, check_velocity(m, k, want, V, &found), &found, error));
        v6_copy(s->V[k], V);
    }
    return LW_OK;
}

// Are there speeds in the description, of joints or bodies, that are no drive's?
static bool speeds_given(const lw_model *m)
{
    for (int j = 0; j < m->desc.njoint; j++)
        if (m->desc.joint[j].has_qd) return true;
    for (int b = 0; b < m->desc.nbody; b++)
        if (m->desc.body[b].has_velocity) return true;
    return false;
}

int lwi_moving_drive(const lw_model *m, int *coordinate, double *speed)
{
    for (int j = 0; j < m->njoint; j++)
        for (int k = 0; k < m->joint[j].type->nv && m->joint[j].ndriven; k++) {
            double f[3];
            if (!m->joint[j].motion[k].index) continue;
            lwi_function_eval(m->function, m->joint[j].motion[k], 0, f);
            if (f[1] == 0) continue;
            *coordinate = k, *speed = f[1];
            return j;
        }
    return -1;
}

// The first drive that starts with a speed, as the probable reason why velocities contradict each other; "": none does.
static const char *moving_drive(const lw_model *m, char *text, size_t size)
{
    int k;
    double speed;
    const int j = lwi_moving_drive(m, &k, &speed);
    text[0] = 0;
    if (j >= 0)
        snprintf(text, size, "; the motion of joint '%.60s' starts with qd%d = %.9g%s",
                 m->joint[j].name, k, speed,
                 speeds_given(m) ? ": leave out the speeds of the others, which follow "
                                   "from it, or start it at rest"
                                 : ", which the others cannot follow: start it at rest, or "
                                   "free a joint");
    return text;
}

// The speeds given for a joint outside the tree are those at which its loop moves it: else the loop
// is to follow them.
static lw_status check_given_speeds(const lw_model *m, int index, const double *u, double speed,
                                    lw_error *error)
{
    char drive[240];
    LWI_ASSERT_INDEX(index, m->njoint);
    const lw_joint_desc *d = &m->desc.joint[index];
    const lwi_joint *j = &m->joint[index];
    for (int i = 0; d->has_qd && i < j->type->nv; i++)
        if (fabs(u[i] - d->qd[i]) > LWI_CLOSURE_TOLERANCE * (speed + fabs(d->qd[i])))
            return lwi_model_fail(&m->desc, d->place, error,
                                  "joint '%s' closes a loop that moves it at qd%d = %.9g, given "
                                  "is %.9g%s",
                                  j->name, i, u[i], d->qd[i], moving_drive(m, drive, sizeof drive));
    return LW_OK;
}

// Speeds of a joint outside the tree, and whether the bodies' velocities keep it closed.
static lw_status loop_speeds(lw_model *m, int index, const start *s, lw_error *error)
{
    LWI_ASSERT_INDEX(index, m->njoint);
    const lwi_joint *j = &m->joint[index];
    double R[9], r[3], V[6], S[6][6], *u = m->v0 + j->iv;
    lwi_joint_relative(m, index, 0, s->R, s->r, s->v, s->w, R, r, V);
    const double speed = v3_norm(V) + v3_norm(V + 3) + 1;
    if (j->type->has_length) {
        double f[3];
        lwi_function_eval(m->function, j->length_of, 0, f);
        double v[3];
        m3_mul_v(v, R, V);
        const double stretch = v3_dot(v, r) / v3_norm(r) - f[1];
        if (fabs(stretch) <= LWI_CLOSURE_TOLERANCE * speed) return LW_OK;
        return lwi_model_fail(&m->desc, m->desc.joint[index].place, error,
                              "joint '%s': the initial velocities stretch it by %.6g m/s", j->name,
                              stretch);
    }
    j->type->subspace(&j->par, m->q0 + j->iq, S);
    least_squares(S, j->type->nv, V, u);
    for (int i = 0; i < j->type->nv; i++) v6_axpy(V, -u[i], S[i]);
    for (int i = 0; i < j->type->nv; i++) {
        double f[3];
        if (!j->motion[i].index) continue;
        lwi_function_eval(m->function, j->motion[i], 0, f);
        if (fabs(u[i] - f[1]) > LWI_CLOSURE_TOLERANCE * speed)
            return lwi_model_fail(
                &m->desc, m->desc.joint[index].place, error,
                "joint '%s' closes a loop at qd%d = %.9g, its motion starts at %.9g", j->name, i,
                u[i], f[1]);
    }
    TRY(check_given_speeds(m, index, u, speed, error));
    if (v3_norm(V) <= LWI_CLOSURE_TOLERANCE * speed &&
        v3_norm(V + 3) <= LWI_CLOSURE_TOLERANCE * speed)
        return LW_OK;
    char drive[240];
    return lwi_model_fail(
        &m->desc, m->desc.joint[index].place, error,
        "joint '%s' closes a loop that the initial velocities break by %.6g m/s and "
        "%.6g rad/s; expected velocities that keep every loop closed%s",
        j->name, v3_norm(V), v3_norm(V + 3), moving_drive(m, drive, sizeof drive));
}

// q_a = c0 + c1 q_b + ... and its rate must hold at the start.
static lw_status check_couplings(const lw_model *m, const start *s, lw_error *error)
{
    lw_error found;
    for (int i = 0; i < m->ncoupling; i++) {
        const lwi_coupling *c = &m->coupling[i];
        const lwi_joint *a = &m->joint[c->joint], *b = &m->joint[c->of];
        const double q = m->q0[b->iq + c->with];
        double want = 0, slope = 0;
        for (int k = c->n - 1; k >= 0; k--) slope = slope * q + want, want = want * q + c->c[k];
        const double have = m->q0[a->iq + c->coordinate];
        const double rate = m->v0[a->iv + c->coordinate],
                     rate_want = slope * m->v0[b->iv + c->with];
        if (!(fabs(have - want) <= LWI_CLOSURE_TOLERANCE * (1 + fabs(want)))) {
            lwi_model_fail(&m->desc, m->desc.coupling[i].place, &found,
                           "coupling of joint '%s': q%d starts at %.9g, joint '%s' requires %.9g; "
                           "give joint '%s' this q",
                           a->name, c->coordinate, have, b->name, want, a->name);
            TRY(note(s, false, LW_ERR_MODEL, &found, error));
        }
        if (!(fabs(rate - rate_want) <= LWI_CLOSURE_TOLERANCE * (1 + fabs(rate_want)))) {
            lwi_model_fail(&m->desc, m->desc.coupling[i].place, &found,
                           "coupling of joint '%s': its speed qd%d starts at %.9g, joint '%s' "
                           "requires %.9g; give joint '%s' this qd",
                           a->name, c->coordinate, rate, b->name, rate_want, a->name);
            TRY(note(s, true, LW_ERR_MODEL, &found, error));
        }
    }
    return LW_OK;
}

// ----------------------------------------------------------------------- inertia behind joints

// Below this part of what it is summed from a pivot is round-off.
#define PIVOT_TOLERANCE 1e-13

// Pivots of one joint.
typedef struct release {
    double share; ///< the smallest, by what it is summed from: at 1e-16 no digit of it is left
    bool zero;    ///< the body has no inertia in its direction
} release;

// Takes the directions of node k's joint out of M, one after the other: M <- M - U U'/(s.U + rotor) with U = M s.
// False when the inertia against one of them is zero or round-off.  A pivot that is small against all of M, as in a
// long chain or below a load, is compared with what was summed to it: terms [nv] of the children, and M's diagonal at
// the start; the body itself must have inertia there.
static bool release_joint(const lw_model *m, int k, const start *s, const double *terms,
                          lwi_inertia *M, release *out)
{
    const lwi_node *node = &m->node[k];
    const double(*S)[6] = (const double(*)[6])s->link[k].S, *rotor = m->tree_rotor + node->iv;
    const double diagonal[6] = {M->A[0], M->A[1], M->A[2], M->C[0], M->C[1], M->C[2]};
    double mass = 0, inertia = 0; // the largest, in their own units
    for (int i = 0; i < 3; i++) mass = fmax(mass, M->A[i]), inertia = fmax(inertia, M->C[i]);
    *out = (release){.share = 1};
    for (int j = 0; j < node->nv; j++) {
        double U[6];
        inertia_apply(U, M, S[j]);
        const double pivot = v6_dot(S[j], U) + rotor[j];
        const double bound = mass * v3_dot(S[j], S[j]) + inertia * v3_dot(S[j] + 3, S[j] + 3);
        const double sum = terms[j] + lwi_tree_terms(diagonal, S[j]);
        const double own = lwi_tree_own_inertia(node, S[j], rotor[j]);
        const double limit = PIVOT_TOLERANCE * sum;
        if (pivot < out->share * sum) out->share = pivot / sum;
        if (!(pivot > PIVOT_TOLERANCE * bound) && !(pivot > limit && own > limit)) {
            *out = (release){pivot / sum, !(own > 0)};
            return false;
        }
        inertia_reduce(M, 1 / pivot, U);
    }
    return true;
}

// Adds what the inertia of node k, with the diagonal of before its joint was released, contributes to the pivots of
// its parent's joint.
static void add_terms(const lw_model *m, int k, const start *s, const double diagonal[6],
                      double *terms)
{
    const lwi_node *parent = &m->node[m->node[k].parent];
    for (int j = 0; j < parent->nv; j++) {
        double T[6];
        motion_to(T, s->link[k].R, s->link[k].r, s->link[m->node[k].parent].S[j]);
        terms[parent->iv + j] += lwi_tree_terms(diagonal, T);
    }
}

static lw_status fail_without_inertia(const lw_model *m, int k, const release *found,
                                      lw_error *error)
{
    const lwi_node *n = &m->node[k];
    const char *body = m->body[n->body].name;
    if (n->joint < 0)
        return lwi_model_fail(&m->desc, m->desc.body[n->body].place, error,
                              "body '%s' floats and has no mass or no inertia about some axis; "
                              "give it both, or join it to something",
                              body);
    if (!found->zero && found->share > 0)
        return lwi_model_fail(
            &m->desc, m->desc.joint[n->joint].place, error,
            "joint '%s': against a motion of this joint body '%s' and all it carries have %.0e of "
            "the inertia that they have against its other motions, which is round-off; give the "
            "body more, or use a joint without this motion",
            m->joint[n->joint].name, body, found->share);
    return lwi_model_fail(&m->desc, m->desc.joint[n->joint].place, error,
                          "joint '%s': body '%s' and all it carries have no inertia against a "
                          "motion of this joint; give them mass and inertia or use a fixed joint",
                          m->joint[n->joint].name, body);
}

// Accelerations with fewer than eight digits are worth a warning.
#define FEW_DIGITS 2e-8

static lw_status warn_of_digits(lw_model *m, int k, const release *found)
{
    const lwi_node *n = &m->node[k];
    if (n->joint < 0) return LW_OK;
    return lwi_model_warn(
        m, m->desc.joint[n->joint].place,
        "joint '%s': against one of its motions body '%s' and all it carries have %.0e of the "
        "inertia that they have against others: its acceleration there has %d digits",
        m->joint[n->joint].name, m->body[n->body].name, found->share,
        (int)fmax(0, log10(found->share / DBL_EPSILON)));
}

static lw_status check_inertia(lw_model *m, const start *s, lw_error *error)
{
    lwi_inertia *M = LWI_PUSH(s->scratch, lwi_inertia, m->nnode);
    double *terms = LWI_PUSH(s->scratch, double, m->tree_nv);
    release worst = {.share = 1};
    int worst_at = -1;
    if (!M || !terms) return lwi_fail(error, LW_ERR_MEMORY, "no memory for inertias");
    for (int k = 0; k < m->nnode; k++)
        inertia_rigid(&M[k], m->node[k].mass, m->node[k].h, m->node[k].J);
    for (int k = m->nnode - 1; k >= 0; k--) {
        const lwi_node *n = &m->node[k];
        const double before[6] = {M[k].A[0], M[k].A[1], M[k].A[2], M[k].C[0], M[k].C[1], M[k].C[2]};
        release found;
        if (n->parent >= 0) add_terms(m, k, s, before, terms);
        if (!release_joint(m, k, s, terms + n->iv, &M[k], &found))
            return fail_without_inertia(m, k, &found, error);
        if (found.share < worst.share) worst = found, worst_at = k;
        if (n->parent >= 0) inertia_add_from(&M[n->parent], s->link[k].R, s->link[k].r, &M[k]);
    }
    if (!(worst.share < FEW_DIGITS)) return LW_OK;
    return warn_of_digits(m, worst_at, &worst) == LW_OK
               ? LW_OK
               : lwi_fail(error, LW_ERR_MEMORY, "no memory for warnings");
}

// ------------------------------------------------------------------------------------------- start

static void store_bodies(lw_model *m, const start *s)
{
    for (int i = 0; i < m->nbody; i++) {
        lwi_body *b = &m->body[i];
        v3_copy(b->r0, s->r[i]);
        v3_copy(b->v0, s->v[i]);
        m3_tmul_v(b->w0, s->R[i], s->w[i]);
        quat_from_matrix(b->quat0, s->R[i]);
        quat_continue(b->quat0, s->quat[i]);
    }
}

static lw_status compile_start(lw_model *m, start *s, lw_error *error)
{
    lw_error found;
    assembly_poses(m, s);
    TRY(note(s, false, check_merged(m, s, &found), &found, error));
    for (int k = 0; k < m->nnode; k++)
        if (m->node[k].joint >= 0)
            TRY(joint_coordinates(m, m->node[k].joint, s, "at the assembly configuration", error));
    lwi_tree_gather(m, m->q0, m->v0, s->r, s->quat, s->v, s->w, m->tree_q0, m->tree_v0);
    lwi_tree_position(m, 0, m->tree_q0, s->link);
    lwi_tree_world(m, s->link, s->node_R, s->node_r);
    TRY(tree_speeds(m, s, error));
    lwi_tree_bodies(m, s->node_R, s->node_r, s->V, s->R, s->r, s->v, s->w);
    lwi_tree_joints(m, s->link, m->tree_v0, m->q0, m->v0);
    for (int i = 0; i < m->nloop; i++) {
        const int j = m->loop[i];
        if (m->joint[j].type->has_length)
            TRY(note(s, false, check_distance(m, j, s, &found), &found, error));
        else
            TRY(joint_coordinates(m, j, s, "its loop", error));
        TRY(note(s, true, loop_speeds(m, j, s, &found), &found, error));
    }
    TRY(check_couplings(m, s, error));
    store_bodies(m, s);
    // closures and couplings may hold what the tree alone does not
    return m->nloop || m->ncoupling ? LW_OK : check_inertia(m, s, error);
}

lw_status lwi_compile_start(lw_model *m, lwi_unclosed *unclosed, lw_error *error)
{
    lwi_arena scratch;
    start s;
    *unclosed = (lwi_unclosed){0};
    lwi_arena_init(&scratch, &m->arena.allocator);
    lw_status status = make_scratch(m, &scratch, &s, error);
    s.unclosed = unclosed;
    s.scratch = &scratch;
    if (status == LW_OK) status = compile_start(m, &s, error);
    lwi_arena_free(&scratch);
    return status;
}
