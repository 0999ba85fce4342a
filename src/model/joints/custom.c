// custom.c -- joint types of the caller's, from pose, motion subspace and its rate alone.
//
// Everything else follows from S by orthogonal decomposition: with the columns S_j in A = Q R,
// Q = [Q1 Q2] orthogonal,
//     D = Q2             constrained directions: orthonormal, D'S = 0
//     T = Q1 R^-T        efforts: T'S = 1, no part along D; T'V are the least-squares speeds of V
// S must have full rank where the joint is used.
#include "model/joints/shared.h"

#include "base/assert.h"

typedef struct split {
    double S[6][6], T[6][6], D[6][6]; ///< [nv], [nv], [6 - nv] vectors
    int nv;
} split;

// e -= v (2 v.e / v.v), a reflection; v has zeros before `first`
static void reflect(double e[6], const double v[6], double vv)
{
    if (vv > 0) v6_axpy(e, -2 * v6_dot(v, e) / vv, v);
}

// Householder's decomposition of s->S, then T and D.
static void decompose(split *s)
{
    LWI_ASSERT(s->nv >= 1 && s->nv <= LW_JOINT_MAX_NV);
    double A[6][6], v[6][6], vv[6]; // A[j]: column j, becomes column j of R
    memcpy(A, s->S, sizeof A);
    for (int k = 0; k < s->nv; k++) {
        double norm = 0;
        for (int i = k; i < 6; i++) norm += A[k][i] * A[k][i];
        norm = A[k][k] > 0 ? -sqrt(norm) : sqrt(norm); // away from cancellation
        v6_zero(v[k]);
        for (int i = k; i < 6; i++) v[k][i] = A[k][i];
        v[k][k] -= norm;
        vv[k] = v6_dot(v[k], v[k]);
        for (int j = k; j < s->nv; j++) reflect(A[j], v[k], vv[k]);
    }
    double Q[6][6]; // Q[j]: column j of the product of the reflections
    for (int j = 0; j < 6; j++) {
        v6_unit(Q[j], j);
        for (int k = s->nv - 1; k >= 0; k--) reflect(Q[j], v[k], vv[k]);
    }
    // R T' = Q1' from the last row up; R_kj = A[j][k]
    for (int k = s->nv - 1; k >= 0; k--) {
        v6_copy(s->T[k], Q[k]);
        for (int j = k + 1; j < s->nv; j++) v6_axpy(s->T[k], -A[j][k], s->T[j]);
        for (int i = 0; i < 6; i++) s->T[k][i] /= A[k][k];
    }
    for (int j = s->nv; j < 6; j++) v6_copy(s->D[j - s->nv], Q[j]);
}

static void split_at(const lwi_joint_par *par, const double *q, split *s)
{
    s->nv = par->custom.nv;
    memset(s->S, 0, sizeof s->S);
    par->custom.subspace(par->custom.user, q, s->S);
    decompose(s);
}

// ---- the callbacks

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    par->custom.pose(par->custom.user, q, R, r);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    par->custom.subspace(par->custom.user, q, S);
}

static void subspace_rate(const lwi_joint_par *par, const double *q, const double *u,
                          double Sdot[][6])
{
    par->custom.subspace_rate(par->custom.user, q, u, Sdot);
}

static void kinematics(const lwi_joint_par *par, const double *q, const double *u, double *qdot)
{
    if (par->custom.kinematics)
        par->custom.kinematics(par->custom.user, q, u, qdot);
    else
        memcpy(qdot, u, (size_t)par->custom.nv * sizeof *qdot);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    double from[LW_JOINT_MAX_NQ]; // near and q may be the same array
    memcpy(from, near, (size_t)par->custom.nq * sizeof *from);
    par->custom.read(par->custom.user, R, r, from, q);
}

// Zeros; where they need not be coordinates (parameters of a rotation), the identity's.
static void neutral(const lwi_joint_par *par, double *q)
{
    const double zero[LW_JOINT_MAX_NQ] = {0}, r[3] = {0};
    memset(q, 0, (size_t)par->custom.nq * sizeof *q);
    if (par->custom.nq == par->custom.nv) return;
    double R[9];
    m3_identity(R);
    par->custom.read(par->custom.user, R, r, zero, q);
}

// ---- what follows from S

static void effort(const lwi_joint_par *par, const double *q, double T[][6])
{
    split s;
    split_at(par, q, &s);
    memcpy(T, s.T, (size_t)s.nv * sizeof *T);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    split s;
    split_at(par, q, &s);
    memcpy(D, s.D, (size_t)(6 - s.nv) * sizeof *D);
}

// Pose of F2 against the joint's pose (Rq, rq) at q: displacement and twice the vector part of the
// rotation's quaternion, both in F2-components.
static void pose_error(const lwi_joint_par *par, const double *q, const double R[9],
                       const double r[3], double e[6])
{
    double Rq[9], rq[3], turn[9], quat[4];
    static const double identity[4] = {1, 0, 0, 0};
    pose(par, q, Rq, rq);
    v3_sub(rq, r, rq);
    m3_tmul_v(e, R, rq);
    m3_tmul(turn, Rq, R);
    quat_from_matrix(quat, turn);
    quat_continue(quat, identity);
    v3_scale(e + 3, 2, quat + 1);
}

// Ddot := -sum_j T_j (Sdot_j.D): the derivative of D'S = 0 holds, since T_j.S_i = (i == j).  The
// rotation of D within its span is unknown and left out: it would only recombine the rows.
static void complement_rate(const split *s, const double Sdot[][6], const double D[6],
                            double Ddot[6])
{
    v6_zero(Ddot);
    for (int j = 0; j < s->nv; j++) v6_axpy(Ddot, -v6_dot(Sdot[j], D), s->T[j]);
}

// phi = D'(pose error at q = read(pose)).  On the joint phidot = D'V and, where also V = S u,
// phiddot = D'Vdot + Ddot'V with u = T'V.
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    double R[9], r[3], q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV];
    double e[6], Ddot[6] = {0}, Sdot[6][6];
    const bool moving = in->v1 != NULL;
    lwi_relative relative;
    split s;
    m3_tmul(R, in->R1, in->R2);
    v3_sub(r, in->r2, in->r1);
    m3_tmul_v(r, in->R1, r);
    read(par, R, r, in->q, q);
    split_at(par, q, &s);
    pose_error(par, q, R, r, e);
    if (moving) {
        lwi_rows_relative(in, &relative);
        for (int i = 0; i < s.nv; i++) u[i] = v6_dot(s.T[i], relative.V);
        subspace_rate(par, q, u, Sdot);
    }
    for (int k = 0; k < 6 - s.nv; k++) {
        out->phi[k] = v6_dot(s.D[k], e);
        out->b[k] = 0;
        if (moving) complement_rate(&s, (const double(*)[6])Sdot, s.D[k], Ddot);
        lwi_row_component(in, moving ? &relative : NULL, s.D[k], Ddot, out, k);
    }
}

// nq, nv, nc and scalar are the caller's (lwi_joint_custom_type).
const lwi_joint_type lwi_joint_type_CUSTOM = {
    .id = LW_JOINT_CUSTOM,
    .name = "custom",
    .callbacks = true,
    LWI_JOINT_FACTS(LWI_MOTION_UNKNOWN, LWI_NO_QUATERNION, LWI_ROWS({LWI_ROW_CALLBACK, 0, 0}),
                    LWI_NO_COORDINATES, LWI_CUT_COST(LWI_POINTS_SLIDE),
                    LWI_SIGN(DIAMOND, false, LWI_NO_AXIS), LWI_NO_NAMES),
    .neutral = neutral,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = subspace_rate,
    .kinematics = kinematics,
    .read = read,
    .effort = effort,
    .complement = complement,
    .rows = rows,
};

void lwi_joint_custom_type(const lw_custom_joint *custom, lwi_joint_type *type)
{
    LWI_ASSERT(custom->nq >= 1 && custom->nq <= LW_JOINT_MAX_NQ);
    LWI_ASSERT(custom->nv >= 1 && custom->nv <= LW_JOINT_MAX_NV);
    *type = lwi_joint_type_CUSTOM;
    if (custom->name) type->name = custom->name;
    type->nq = custom->nq;
    type->nv = custom->nv;
    type->nc = 6 - custom->nv;
    type->scalar = custom->nq == custom->nv && !custom->kinematics;
}
