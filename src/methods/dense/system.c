// system.c -- the constraint equations of a mechanism in absolute coordinates.
//
//   phi = 0,   phidot = J V + b = 0,   phiddot = J Vdot + gamma = 0
//
// Rows: those of each joint's type, its driven coordinates q_k - f(t) = 0, then couplings q_a - P(q_b) = 0,
// and at the end rotors, w = u: a rotor is a body with one speed w and an inertia.  A mount moves F1 on its
// body; its velocity is in b, its acceleration in gamma.
//
// Rows and motions are compared in a metric K = L L', one block per body: x' = L'x for motions, J' = J L'^-1
// for rows.
#include "methods/dense/dense.h"

#include "spatial/rotation.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- memory

// Rows of the type and one for each driven coordinate.
static int joint_row_count(const lwi_joint *joint)
{
    return joint->merged ? 0 : joint->type->nc + joint->ndriven;
}

static bool allocate(lwi_dense *s, lwi_arena *arena)
{
    const lw_model *model = s->model;
    const size_t entries = (size_t)s->m * (size_t)s->n;
    double *storage;
    int *pivot;
#define GET(field, count) ((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))
    const bool ok = GET(s->quat, model->nbody) && GET(s->r, model->nbody) &&
                    GET(s->v, model->nbody) && GET(s->w, model->nbody) && GET(s->R, model->nbody) &&
                    GET(s->q, model->nq) && GET(s->qd, model->nv) && GET(s->frame, model->njoint) &&
                    GET(s->speed, model->nv) && GET(s->quat1, model->njoint) &&
                    GET(s->quat2, model->njoint) && GET(s->sign, model->njoint) &&
                    GET(s->phi, s->m) && GET(s->rate, s->m) && GET(s->gamma, s->m) &&
                    GET(s->b, s->m) && GET(s->J, entries) && GET(s->J1, s->m) && GET(s->J2, s->m) &&
                    GET(s->len, s->m) && GET(s->weight, s->nbody) && GET(s->rotor, s->nrotor) &&
                    GET(s->rotor_speed, s->nrotor) && GET(s->rotor_weight, s->nrotor) &&
                    GET(storage, lwi_cod_doubles(s->n, s->m)) && GET(pivot, s->m);
#undef GET
    if (ok) lwi_cod_init(&s->cod, s->n, s->m, s->J, storage, pivot);
    return ok;
}

static void list_rotors(lwi_dense *s)
{
    int n = 0;
    for (int j = 0; j < s->model->njoint; j++) {
        const lwi_joint *joint = &s->model->joint[j];
        for (int k = 0; k < joint->type->nv; k++) {
            if (joint->rotor[k] == 0) continue;
            s->rotor[n] = j;
            s->rotor_speed[n++] = joint->iv + k;
        }
    }
    LWI_ASSERT(n == s->nrotor);
}

lw_status lwi_dense_create(const lw_model *model, lwi_arena *arena, lwi_dense *s)
{
    *s = (lwi_dense){.model = model};
    s->body = LWI_PUSH(arena, int, model->nbody);
    s->slot = LWI_PUSH(arena, int, model->nbody);
    s->first = LWI_PUSH(arena, int, model->njoint + 1);
    if (!s->body || !s->slot || !s->first) return LW_ERR_MEMORY;
    for (int i = 0; i < model->nbody; i++) {
        s->slot[i] = -1;
        if (i > 0 && model->body[i].carrier == i) s->slot[i] = s->nbody, s->body[s->nbody++] = i;
    }
    s->nrotor = model->nrotor;
    s->n = 6 * s->nbody + s->nrotor;
    for (int j = 0; j < model->njoint; j++) {
        s->first[j] = s->m;
        s->m += joint_row_count(&model->joint[j]);
    }
    s->first[model->njoint] = s->m;
    s->m += model->ncoupling + s->nrotor;
    s->length = model->length;
    if (!allocate(s, arena)) return LW_ERR_MEMORY;
    list_rotors(s);
    for (int j = 0; j < model->njoint; j++) {
        quat_from_matrix(s->quat1[j], model->joint[j].R1);
        quat_from_matrix(s->quat2[j], model->joint[j].R2);
        s->sign[j] = 1;
    }
    lwi_dense_geometric(s);
    lwi_dense_start(s);
    return LW_OK;
}

// ------------------------------------------------------------------------------------ kinematics

// F1 or F2 fixed on its body.
static void body_frame(const lwi_dense *s, int body, const double *R, const double *r,
                       lwi_dense_frame *f)
{
    m3_mul(f->R, s->R[body], R);
    m3_mul_v(f->arm, s->R[body], r);
    memset(f->prescribed, 0, sizeof f->prescribed);
    memset(f->a, 0, sizeof f->a);
}

// rho = arm:  p = r + rho, v = v_body + w_body x rho + prescribed, a = ... + w x (w x rho) + ...
static void finish_frame(const lwi_dense *s, int body, lwi_dense_frame *f)
{
    const double *w = s->w[body];
    double c[3];
    m3_transpose(&f->axis[0][0], f->R);
    v3_add(f->p, s->r[body], f->arm);
    v3_cross(c, w, f->arm);
    v3_add(f->v, s->v[body], c);
    v3_cross_add(f->a, w, c);
    v3_add(f->v, f->v, f->prescribed);
    v3_add(f->w, w, f->prescribed + 3);
}

// The mount rotates F1 by angle(t) about a fixed axis and shifts it by r(t), both in F1 axes:
//   velocity  prescribed = R1 [rdot; angledot about],  acceleration  2 w x prescribed_v + R1 rddot,
//                                                        w x prescribed_w + R1 about angleddot
static void mount_frame(const lwi_dense *s, const lwi_joint *joint, double t, lwi_dense_frame *f)
{
    const lwi_mount *mount = &joint->mount;
    const double *w = s->w[joint->body1];
    double shift[3][3], rotation[3], Rm[9], R[9], x[3];
    for (int k = 0; k < 3; k++) {
        double value[3];
        lwi_function_eval(s->model->function, mount->shift[k], t, value);
        for (int d = 0; d < 3; d++) shift[d][k] = value[d];
    }
    lwi_function_eval(s->model->function, mount->turn, t, rotation);

    m3_mul_v(x, f->R, shift[0]);
    v3_add(f->arm, f->arm, x);
    m3_mul_v(f->prescribed, f->R, shift[1]);
    v3_scale(x, rotation[1], mount->about);
    m3_mul_v(f->prescribed + 3, f->R, x);

    m3_mul_v(f->a, f->R, shift[2]);
    v3_cross(x, w, f->prescribed);
    v3_axpy(f->a, 2, x);
    v3_scale(x, rotation[2], mount->about);
    m3_mul_v(f->a + 3, f->R, x);
    v3_cross_add(f->a + 3, w, f->prescribed + 3);

    rot_axis(Rm, mount->about, rotation[0]);
    m3_mul(R, f->R, Rm);
    memcpy(f->R, R, sizeof R);
}

// Quaternion of F2 in F1 from those of the bodies, continuous in time like them.
static void joint_quaternion(const lwi_dense *s, int j, double t, double quat[4])
{
    const lwi_joint *joint = &s->model->joint[j];
    double q1[4], q2[4], m[4], a[4], rotation[3];
    quat_mul(q2, s->quat[joint->body2], s->quat2[j]);
    quat_mul(q1, s->quat[joint->body1], s->quat1[j]);
    if (joint->mount.present) {
        lwi_function_eval(s->model->function, joint->mount.turn, t, rotation);
        m[0] = cos(0.5 * rotation[0]);
        v3_scale(m + 1, sin(0.5 * rotation[0]), joint->mount.about);
        quat_mul(a, q1, m);
        memcpy(q1, a, sizeof q1);
    }
    quat_conjugate(q1, q1);
    quat_mul(a, q1, q2);
    quat_normalize(quat, a);
    for (int k = 0; k < 4; k++) quat[k] *= s->sign[j];
}

// Index of the quaternion among the joint's coordinates; -1: none.
static int quaternion_at(const lwi_joint *joint)
{
    return joint->type->quaternion;
}

// Rotation matrices of moving bodies, and the motion of merged bodies.
static void place_bodies(lwi_dense *s)
{
    const lw_model *model = s->model;
    for (int i = 0; i < model->nbody; i++)
        if (s->slot[i] >= 0) quat_matrix(s->R[i], s->quat[i]);
    m3_identity(s->R[0]);
    s->quat[0][0] = 1;
    for (int i = 1; i < model->nbody; i++) {
        if (s->slot[i] >= 0) continue;
        const lwi_body *body = &model->body[i];
        double arm[3], c[3];
        m3_mul(s->R[i], s->R[body->carrier], body->carrier_R);
        m3_mul_v(arm, s->R[body->carrier], body->carrier_r);
        v3_add(s->r[i], s->r[body->carrier], arm);
        v3_cross(c, s->w[body->carrier], arm);
        v3_add(s->v[i], s->v[body->carrier], c);
        v3_copy(s->w[i], s->w[body->carrier]);
    }
}

void lwi_dense_place(lwi_dense *s, double t)
{
    const lw_model *model = s->model;
    place_bodies(s);
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->merged) continue;
        lwi_dense_frame *f = s->frame[j];
        body_frame(s, joint->body1, joint->R1, joint->r1, &f[0]);
        if (joint->mount.present) mount_frame(s, joint, t, &f[0]);
        finish_frame(s, joint->body1, &f[0]);
        body_frame(s, joint->body2, joint->R2, joint->r2, &f[1]);
        finish_frame(s, joint->body2, &f[1]);
        const int quat = quaternion_at(joint);
        if (quat >= 0) joint_quaternion(s, j, t, s->q + joint->iq + quat);
        lwi_dense_joint_speeds(joint, &f[0], &f[1], s->q + joint->iq, s->speed + joint->iv);
        for (int k = 0; k < joint->type->nv; k++)
            s->qd[joint->iv + k] = s->speed[joint->iv + k].rate;
    }
}

void lwi_dense_match(lwi_dense *s, const double *q)
{
    const lw_model *model = s->model;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const int at = joint->merged ? -1 : quaternion_at(joint);
        if (at < 0) continue;
        double *quat = s->q + joint->iq + at, same = 0;
        for (int k = 0; k < 4; k++) same += quat[k] * q[joint->iq + at + k];
        if (same >= 0) continue;
        s->sign[j] = -s->sign[j];
        for (int k = 0; k < 4; k++) quat[k] = -quat[k];
    }
}

void lwi_dense_start(lwi_dense *s)
{
    const lw_model *model = s->model;
    for (int k = 0; k < s->nbody; k++) {
        const int i = s->body[k];
        const lwi_body *body = &model->body[i];
        memcpy(s->quat[i], body->quat0, sizeof body->quat0);
        v3_copy(s->r[i], body->r0);
        v3_copy(s->v[i], body->v0);
        quat_matrix(s->R[i], body->quat0);
        m3_mul_v(s->w[i], s->R[i], body->w0);
    }
    if (model->nq) memcpy(s->q, model->q0, (size_t)model->nq * sizeof *s->q);
    lwi_dense_place(s, 0);
    lwi_dense_match(s, model->q0);
}

void lwi_dense_move(lwi_dense *s, const double *x)
{
    for (int k = 0; k < s->nbody; k++, x += 6) {
        const int i = s->body[k];
        const double half = 0.5 * v3_norm(x + 3);
        double rotation[4] = {cos(half)}, quat[4];
        // sin(a)/a is 1 to round-off below 1e-8
        v3_scale(rotation + 1, half > 1e-8 ? 0.5 * sin(half) / half : 0.5, x + 3);
        quat_mul(quat, s->quat[i], rotation);
        quat_normalize(s->quat[i], quat);
        v3_add(s->r[i], s->r[i], x);
    }
}

// ------------------------------------------------------------------------------------------ rows

// J_row += k J of frame f on `body`:  V_f = [v + w x arm; w], w in body axes
static void add_to_body(const lwi_dense *s, double *row, int body, const lwi_dense_frame *f,
                        double k, const double J[6])
{
    if (s->slot[body] < 0) return;
    double *to = row + 6 * s->slot[body], n[3];
    v3_cross(n, f->arm, J);
    v3_add(n, n, J + 3);
    m3_tmul_v(n, s->R[body], n);
    v3_axpy(to, k, J);
    v3_axpy(to + 3, k, n);
}

// Row i += k times a function of joint j's frames.
static void add_scalar(lwi_dense *s, int i, int j, double k, const lwi_dense_scalar *f)
{
    LWI_ASSERT_INDEX(i, s->m);
    LWI_ASSERT_INDEX(j, s->model->njoint);
    const lwi_joint *joint = &s->model->joint[j];
    const lwi_dense_frame *f1 = &s->frame[j][0], *f2 = &s->frame[j][1];
    double *row = s->J + (size_t)i * (size_t)s->n;
    add_to_body(s, row, joint->body1, f1, k, f->J1);
    add_to_body(s, row, joint->body2, f2, k, f->J2);
    double prescribed = f->own, gamma = f->bias;
    for (int c = 0; c < 6; c++) {
        prescribed += f->J1[c] * f1->prescribed[c];
        gamma += f->J1[c] * f1->a[c] + f->J2[c] * f2->a[c];
    }
    s->rate[i] += k * f->rate;
    s->b[i] += k * prescribed;
    s->gamma[i] += k * gamma;
}

static void joint_equations(lwi_dense *s, int j, double t)
{
    const lwi_joint *joint = &s->model->joint[j];
    const lwi_function *functions = s->model->function;
    double f[3] = {joint->par.length, 0, 0};
    lwi_dense_scalar row[6 + LW_JOINT_MAX_NV];
    if (joint->length_of.index) lwi_function_eval(functions, joint->length_of, t, f);
    int n = lwi_dense_joint_rows(joint, &s->frame[j][0], &s->frame[j][1], s->q + joint->iq, f, row);
    for (int k = 0; k < joint->type->nv; k++) { // driven: q_k - f(t) = 0
        if (joint->motion[k].index <= 0) continue;
        lwi_function_eval(functions, joint->motion[k], t, f);
        row[n] = s->speed[joint->iv + k];
        row[n].value -= f[0];
        row[n].rate -= f[1];
        row[n].own -= f[1];
        row[n].bias -= f[2];
        n++;
    }
    for (int k = 0; k < n; k++) {
        const int i = s->first[j] + k;
        LWI_ASSERT(n == s->first[j + 1] - s->first[j]);
        s->phi[i] = row[k].value;
        memcpy(s->J1[i], row[k].J1, sizeof row[k].J1);
        memcpy(s->J2[i], row[k].J2, sizeof row[k].J2);
        add_scalar(s, i, j, 1, &row[k]);
    }
}

// q_a - P(q_b) = 0:  sddot = q_a'' - P' q_b'' - P'' q_b'^2
static void coupling_equation(lwi_dense *s, int i, const lwi_coupling *c)
{
    const lwi_joint *joints = s->model->joint;
    const lwi_dense_scalar *a = &s->speed[joints[c->joint].iv + c->coordinate];
    const lwi_dense_scalar *b = &s->speed[joints[c->of].iv + c->with];
    double P = 0, P1 = 0, P2 = 0;
    for (int k = c->n - 1; k >= 0; k--) {
        P2 = P2 * b->value + 2 * P1;
        P1 = P1 * b->value + P;
        P = P * b->value + c->c[k];
    }
    s->phi[i] = a->value - P;
    add_scalar(s, i, c->joint, 1, a);
    add_scalar(s, i, c->of, -P1, b);
    s->gamma[i] -= P2 * b->rate * b->rate;
}

// u - w = 0, w the speed of rotor i: no position residual, and w is u.
static void rotor_equation(lwi_dense *s, int i)
{
    const int row = s->m - s->nrotor + i;
    s->phi[row] = 0;
    add_scalar(s, row, s->rotor[i], 1, &s->speed[s->rotor_speed[i]]);
    s->J[(size_t)row * (size_t)s->n + (size_t)(6 * s->nbody + i)] = -1;
    s->rate[row] = 0;
}

void lwi_dense_equations(lwi_dense *s, double t)
{
    const lw_model *model = s->model;
    if (s->m == 0) return;
    const size_t bytes = (size_t)s->m * sizeof(double);
    memset(s->J, 0, bytes * (size_t)s->n);
    memset(s->rate, 0, bytes);
    memset(s->b, 0, bytes);
    memset(s->gamma, 0, bytes);
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].merged) joint_equations(s, j, t);
    for (int k = 0; k < model->ncoupling; k++)
        coupling_equation(s, s->first[model->njoint] + k, &model->coupling[k]);
    for (int i = 0; i < s->nrotor; i++) rotor_equation(s, i);
}

// ---------------------------------------------------------------------------------------- metric

// Rotors do not belong to the geometry: so light, in metres or radians, that they follow.
#define ROTOR_WEIGHT 1e-3

void lwi_dense_geometric(lwi_dense *s)
{
    LWI_ASSERT(s->length > 0);
    for (int i = 0; i < s->nrotor; i++) s->rotor_weight[i] = ROTOR_WEIGHT;
    for (int k = 0; k < s->nbody; k++) {
        lwi_dense_weight *weight = &s->weight[k];
        *weight = (lwi_dense_weight){.lin = 1};
        for (int i = 0; i < 9; i += 4) weight->ang[i] = s->length;
    }
}

void lwi_dense_to_metric(const lwi_dense *s, double *x)
{
    for (int k = 0; k < s->nbody; k++, x += 6) {
        v3_scale(x, 1 / s->weight[k].lin, x);
        lwi_lower_solve(3, s->weight[k].ang, x + 3);
    }
    for (int i = 0; i < s->nrotor; i++) x[i] /= s->rotor_weight[i];
}

void lwi_dense_from_metric(const lwi_dense *s, double *x)
{
    for (int k = 0; k < s->nbody; k++, x += 6) {
        v3_scale(x, 1 / s->weight[k].lin, x);
        lwi_lower_tsolve(3, s->weight[k].ang, x + 3);
    }
    for (int i = 0; i < s->nrotor; i++) x[i] /= s->rotor_weight[i];
}

void lwi_dense_scale(lwi_dense *s)
{
    for (int i = 0; i < s->m; i++) {
        double *row = s->J + (size_t)i * (size_t)s->n, square = 0;
        lwi_dense_to_metric(s, row);
        for (int k = 0; k < s->n; k++) square += row[k] * row[k];
        s->len[i] = square > 0 ? sqrt(square) : 1; // a row of zeros is never independent
        for (int k = 0; k < s->n; k++) row[k] /= s->len[i];
    }
}
