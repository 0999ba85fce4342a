// row.c -- the numbers of a row, in the order of lwi_result_columns_of_model.
//
// Whoever reads rows may rely on: every number is finite, quaternions do not change sign from row
// to row without reason.
#include "io/result/columns.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

static void add(lwi_result_rows *c, const double *x, int n)
{
    memcpy(c->row + c->filled, x, (size_t)n * sizeof *x);
    c->filled += n;
}

// q and -q are the same attitude: the one nearer to the row before, which still stands where this
// one goes.  (Before the first row it is zero, and q stays as it is.)
static void add_quaternion(lwi_result_rows *c, const double q[4])
{
    double signed_q[4];
    memcpy(signed_q, q, sizeof signed_q);
    quat_continue(signed_q, c->row + c->filled);
    add(c, signed_q, 4);
}

static void add_body(lwi_result_rows *c, const lw_observation *o, int body)
{
    add(c, o->position[body], 3);
    add_quaternion(c, o->quaternion[body]);
    if (c->level >= LW_OBSERVE_TWIST) {
        add(c, o->velocity[body], 3);
        add(c, o->angular_velocity[body], 3);
    }
    if (c->level >= LW_OBSERVE_ACCELERATION) {
        add(c, o->acceleration[body], 3);
        add(c, o->angular_acceleration[body], 3);
    }
}

// A marker at d from the mass centre (body axes), its axes A in the body's:
//   r = r_body + R d,  v = v_body + R (w x d),  a = a_body + R (w' x d + w x (w x d)),
// w and w' in the marker's axes: A' w, A' w'.
static void add_marker(lwi_result_rows *c, const lw_observation *o, int marker)
{
    const lw_marker_desc *m = &c->model->desc.marker[marker];
    const int body = m->body.index;
    const double axes[4] = {m->pose.orientation.w, m->pose.orientation.x, m->pose.orientation.y,
                            m->pose.orientation.z};
    double d[3] = {m->pose.position.x, m->pose.position.y, m->pose.position.z};
    double R[9], A[9], q[4], r[3], x[3], y[3];
    v3_sub(d, d, c->model->body[body].com);
    quat_matrix(R, o->quaternion[body]);
    quat_matrix(A, axes);
    quat_mul(q, o->quaternion[body], axes);
    m3_mul_v(r, R, d);
    v3_add(r, r, o->position[body]);
    add(c, r, 3);
    add_quaternion(c, q);
    if (c->level < LW_OBSERVE_TWIST) return;
    const double *w = o->angular_velocity[body];
    v3_cross(x, w, d); // w x d
    m3_mul_v(r, R, x);
    v3_add(r, r, o->velocity[body]);
    add(c, r, 3);
    m3_tmul_v(r, A, w);
    add(c, r, 3);
    if (c->level < LW_OBSERVE_ACCELERATION) return;
    const double *wdot = o->angular_acceleration[body];
    v3_cross(y, w, x);
    v3_cross_add(y, wdot, d);
    m3_mul_v(r, R, y);
    v3_add(r, r, o->acceleration[body]);
    add(c, r, 3);
    m3_tmul_v(r, A, wdot);
    add(c, r, 3);
}

static void add_joint(lwi_result_rows *c, const lw_observation *o, int joint)
{
    const lwi_joint *j = &c->model->joint[joint];
    const bool rates = c->level >= LW_OBSERVE_TWIST;
    const bool accelerations = c->level >= LW_OBSERVE_ACCELERATION;
    const int nq = j->type->nq, nv = j->type->nv;
    if (j->type->id == LW_JOINT_SPHERICAL || j->type->id == LW_JOINT_FREE) {
        add(c, o->q + j->iq, nq - 4);
        add_quaternion(c, o->q + j->iq + nq - 4);
        if (rates) add(c, o->qd + j->iv, nv);
        if (accelerations) add(c, o->qdd + j->iv, nv);
        return;
    }
    for (int k = 0; k < (nq > nv ? nq : nv); k++) {
        if (k < nq) add(c, o->q + j->iq + k, 1);
        if (k < nv && rates) add(c, o->qd + j->iv + k, 1);
        if (k < nv && accelerations) add(c, o->qdd + j->iv + k, 1);
    }
}

static void add_system(lwi_result_rows *c, const lw_observation *o)
{
    const double energy[4] = {o->kinetic, o->potential, o->kinetic + o->potential, o->work};
    if (c->level < LW_OBSERVE_ENERGY) return;
    add(c, energy, 4);
    add(c, o->momentum, 3);
    add(c, o->angular_momentum, 3);
    add(c, o->residual, c->level >= LW_OBSERVE_REACTION ? 3 : 2);
}

static void fill_row(lwi_result_rows *c, const lw_observation *o)
{
    const lw_model *m = c->model;
    c->filled = 0;
    add(c, &o->time, 1);
    for (int i = 1; i < m->nbody; i++) add_body(c, o, i);
    for (int i = 0; i < m->njoint; i++) add_joint(c, o, i);
    for (int i = 0; i < m->njoint && c->level >= LW_OBSERVE_REACTION; i++)
        add(c, o->reaction[i], 6);
    for (int i = 0; i < m->desc.nmarker; i++) add_marker(c, o, i);
    add_system(c, o);
}

lw_status lwi_result_rows_fill(lwi_result_rows *rows, const lw_observation *observation)
{
    fill_row(rows, observation);
    for (int i = 0; i < rows->n; i++)
        if (!isfinite(rows->row[i])) return LW_ERR_NOT_FINITE;
    return LW_OK;
}

lw_status lwi_result_rows_create(const lw_model *model, lw_observe level, int ncolumn,
                                 lwi_arena *arena, lwi_result_rows *rows)
{
    *rows = (lwi_result_rows){.model = model, .level = level, .n = ncolumn};
    rows->row = LWI_PUSH(arena, double, ncolumn);
    return rows->row ? LW_OK : LW_ERR_MEMORY;
}

// ---------------------------------------------------------------------------------- the other way

typedef struct motion {
    double (*position)[3], (*quaternion)[4], (*velocity)[3], (*angular_velocity)[3], *q, *qd;
} motion;

static lw_status make_motion(const lw_model *model, lwi_arena *arena, motion *m)
{
    const size_t n = (size_t)model->nbody;
    m->position = lwi_arena_push(arena, n, sizeof *m->position);
    m->quaternion = lwi_arena_push(arena, n, sizeof *m->quaternion);
    m->velocity = lwi_arena_push(arena, n, sizeof *m->velocity);
    m->angular_velocity = lwi_arena_push(arena, n, sizeof *m->angular_velocity);
    m->q = LWI_PUSH(arena, double, model->nq);
    m->qd = LWI_PUSH(arena, double, model->nv);
    const bool all =
        m->position && m->quaternion && m->velocity && m->angular_velocity && m->q && m->qd;
    return all ? LW_OK : LW_ERR_MEMORY;
}

static const double *take(const double *from, double *x, int n)
{
    memcpy(x, from, (size_t)n * sizeof *x);
    return from + n;
}

static const double *take_joint(const lwi_joint *j, const double *row, motion *m)
{
    const int nq = j->type->nq, nv = j->type->nv;
    if (j->type->id == LW_JOINT_SPHERICAL || j->type->id == LW_JOINT_FREE)
        return take(take(row, m->q + j->iq, nq), m->qd + j->iv, nv);
    for (int k = 0; k < (nq > nv ? nq : nv); k++) {
        if (k < nq) row = take(row, m->q + j->iq + k, 1);
        if (k < nv) row = take(row, m->qd + j->iv + k, 1);
    }
    return row;
}

lw_status lwi_result_row_motion(const lw_model *model, const double *row, lwi_arena *arena,
                                lw_observation *o)
{
    motion m;
    TRY(make_motion(model, arena, &m));
    *o = (lw_observation){.time = *row++, .level = LW_OBSERVE_ENERGY};
    m.quaternion[0][0] = 1; // the ground
    for (int b = 1; b < model->nbody; b++) {
        row = take(take(row, m.position[b], 3), m.quaternion[b], 4);
        row = take(take(row, m.velocity[b], 3), m.angular_velocity[b], 3);
    }
    for (int j = 0; j < model->njoint; j++) row = take_joint(&model->joint[j], row, &m);
    row += 13 * model->desc.nmarker; // pose and twist, which follow from the bodies
    o->kinetic = row[0], o->potential = row[1], o->work = row[3];
    o->position = (const double(*)[3])m.position;
    o->quaternion = (const double(*)[4])m.quaternion;
    o->velocity = (const double(*)[3])m.velocity;
    o->angular_velocity = (const double(*)[3])m.angular_velocity;
    o->q = m.q, o->qd = m.qd;
    return LW_OK;
}
