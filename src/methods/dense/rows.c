// rows.c -- constraint equations and coordinates of one joint between two frames in space.
//
// All are composed of three functions of the two frames, with first and second time derivatives that are
// exact whether or not the joint is closed:
//
//   along     e1.d             displacement d = p2 - p1 along a direction of F1
//   cosine    e1.e2            between directions of F1 and F2
//   distance  |d|
//
// and of angles atan2(s, c) of two cosines, so that a row's velocity is the derivative of its position and
// its acceleration the derivative of its velocity, to round-off.
#include "methods/dense/dense.h"

#include "spatial/rotation.h"

#include <string.h>

enum { X, Y, Z };

// ------------------------------------------------------------------------------- three functions

static void finish(lwi_dense_scalar *s, const lwi_dense_frame *f1, const lwi_dense_frame *f2)
{
    s->own = 0;
    s->rate = v3_dot(s->J1, f1->v) + v3_dot(s->J1 + 3, f1->w) + v3_dot(s->J2, f2->v) +
              v3_dot(s->J2 + 3, f2->w);
}

// s = e1.d:  sdot = e1.(v2 - v1) + w1.(e1 x d)
//            sddot = e1.(a2 - a1) + al1.(e1 x d) + 2 (w1 x e1).(v2 - v1) + (w1 x (w1 x e1)).d
static void along(lwi_dense_scalar *s, const lwi_dense_frame *f1, const lwi_dense_frame *f2,
                  const double *e1)
{
    double d[3], dd[3], e1d[3], e1dd[3];
    v3_sub(d, f2->p, f1->p);
    v3_sub(dd, f2->v, f1->v);
    v3_cross(e1d, f1->w, e1);
    v3_cross(e1dd, f1->w, e1d);
    s->value = v3_dot(e1, d);
    v3_scale(s->J1, -1, e1);
    v3_cross(s->J1 + 3, e1, d);
    v3_copy(s->J2, e1);
    v3_set(s->J2 + 3, 0, 0, 0);
    s->bias = 2 * v3_dot(e1d, dd) + v3_dot(e1dd, d);
    finish(s, f1, f2);
}

// s = e1.e2:  sdot = (w2 - w1).g,  g = e2 x e1
//   sddot = (al2 - al1).g + (w1 x (w1 x e1)).e2 + 2 (w1 x e1).(w2 x e2) + e1.(w2 x (w2 x e2))
static void cosine(lwi_dense_scalar *s, const lwi_dense_frame *f1, const lwi_dense_frame *f2,
                   int i1, int i2)
{
    const double *e1 = f1->axis[i1], *e2 = f2->axis[i2];
    double e1d[3], e1dd[3], e2d[3], e2dd[3];
    v3_cross(e1d, f1->w, e1);
    v3_cross(e1dd, f1->w, e1d);
    v3_cross(e2d, f2->w, e2);
    v3_cross(e2dd, f2->w, e2d);
    memset(s, 0, sizeof *s);
    s->value = v3_dot(e1, e2);
    v3_cross(s->J2 + 3, e2, e1);
    v3_cross(s->J1 + 3, e1, e2);
    s->bias = v3_dot(e1dd, e2) + 2 * v3_dot(e1d, e2d) + v3_dot(e1, e2dd);
    finish(s, f1, f2);
}

// s = |d|, u = d/|d|:  sdot = u.ddot,  sddot = u.dddot + (ddot.ddot - (u.ddot)^2)/|d|
static void distance(lwi_dense_scalar *s, const lwi_dense_frame *f1, const lwi_dense_frame *f2)
{
    double d[3], dd[3];
    memset(s, 0, sizeof *s);
    v3_sub(d, f2->p, f1->p);
    v3_sub(dd, f2->v, f1->v);
    s->value = v3_norm(d);
    v3_scale(s->J2, 1 / s->value, d);
    v3_scale(s->J1, -1, s->J2);
    finish(s, f1, f2);
    s->bias = (v3_dot(dd, dd) - s->rate * s->rate) / s->value;
}

// s += k a
static void add(lwi_dense_scalar *s, double k, const lwi_dense_scalar *a)
{
    s->value += k * a->value;
    s->rate += k * a->rate;
    s->own += k * a->own;
    s->bias += k * a->bias;
    for (int i = 0; i < 6; i++) s->J1[i] += k * a->J1[i], s->J2[i] += k * a->J2[i];
}

// s = atan2(y, x), continued from `near`.  With N = x^2 + y^2:
//   sdot = (x ydot - y xdot)/N,  sddot = (x yddot - y xddot)/N - sdot Ndot/N
static void angle(lwi_dense_scalar *s, const lwi_dense_scalar *x, const lwi_dense_scalar *y,
                  double near)
{
    const double N = x->value * x->value + y->value * y->value;
    memset(s, 0, sizeof *s);
    add(s, x->value / N, y);
    add(s, -y->value / N, x);
    s->value = angle_continue(atan2(y->value, x->value), near);
    s->bias -= s->rate * 2 * (x->value * x->rate + y->value * y->rate) / N;
}

// The angle about z1 from x1 to x2.
static void rotation_angle(lwi_dense_scalar *s, const lwi_dense_frame *f1,
                           const lwi_dense_frame *f2, double near)
{
    lwi_dense_scalar x, y;
    cosine(&x, f1, f2, X, X);
    cosine(&y, f1, f2, Y, X);
    angle(s, &x, &y, near);
}

// ------------------------------------------------------------------------------ standard types

// The descriptor of the type says what each row keeps zero (joint.h); the equations are this file's.
static void standard_row(const lwi_joint *joint, const lwi_row_form *form,
                         const lwi_dense_frame *f1, const lwi_dense_frame *f2, const double *q,
                         const double length[3], lwi_dense_scalar *row)
{
    lwi_dense_scalar s;
    switch (form->kind) {
    case LWI_ROW_POINT: // along axes of F1, not of the world: so the reactions balance also where the
    case LWI_ROW_ALONG: // points have drifted apart, and what floats keeps its angular momentum
        along(row, f1, f2, f1->axis[form->i]);
        break;
    case LWI_ROW_AXES:
        cosine(row, f1, f2, form->i, form->j);
        break;
    case LWI_ROW_ATTITUDE:
        cosine(row, f1, f2, (form->i + 1) % 3, (form->i + 2) % 3);
        break;
    case LWI_ROW_THREAD:
        along(row, f1, f2, f1->axis[form->i]);
        rotation_angle(&s, f1, f2, q[0]);
        add(row, -joint->par.pitch, &s);
        break;
    case LWI_ROW_LENGTH:
        distance(row, f1, f2);
        row->value -= length[0];
        row->own = -length[1];
        row->rate += row->own;
        row->bias -= length[2];
        break;
    case LWI_ROW_CALLBACK:
        break;
    }
}

// Types of callbacks: the rows of the library.
static int library_rows(const lwi_joint *joint, const lwi_dense_frame *f1,
                        const lwi_dense_frame *f2, const double *q, lwi_dense_scalar *row)
{
    const lwi_rows_in in = {.R1 = f1->R,
                            .r1 = f1->p,
                            .R2 = f2->R,
                            .r2 = f2->p,
                            .v1 = f1->v,
                            .w1 = f1->w,
                            .v2 = f2->v,
                            .w2 = f2->w,
                            .q = q};
    lwi_rows rows;
    double d[3];
    lwi_joint_rows(joint->type, &joint->par, &in, &rows);
    v3_sub(d, f2->p, f1->p);
    for (int k = 0; k < joint->type->nc; k++) {
        lwi_dense_scalar *s = &row[k];
        memcpy(s->J2, rows.J[k], sizeof s->J2);
        v3_scale(s->J1, -1, s->J2); // opposite wrench, about the origin of F1
        v3_cross(s->J1 + 3, s->J2, d);
        v3_sub(s->J1 + 3, s->J1 + 3, s->J2 + 3);
        finish(s, f1, f2);
        s->value = rows.phi[k];
        s->own = rows.b[k];
        s->rate += s->own;
        s->bias = rows.gamma[k];
    }
    return joint->type->nc;
}

int lwi_dense_joint_rows(const lwi_joint *joint, const lwi_dense_frame *f1,
                         const lwi_dense_frame *f2, const double *q, const double length[3],
                         lwi_dense_scalar *row)
{
    const lwi_joint_type *type = joint->type;
    if (type->callbacks) return library_rows(joint, f1, f2, q, row);
    for (int k = 0; k < type->nc; k++)
        standard_row(joint, &type->row[k], f1, f2, q, length, row + k);
    return type->nc;
}

// ------------------------------------------------------------------- coordinates and speeds

// T.V of the velocity of F2 relative to F1 in F2-components, V = R2'[v2 - v1 - w1 x d; w2 - w1]:
// with [f; g] = R2 T,  s = f.(v2 - v1 - w1 x d) + g.(w2 - w1).  In the derivative of V,
//   bias = R2'[-w1 x (v2 - v1) - w2 x (v2 - v1 - w1 x d); w2 x w1]
static void relative(lwi_dense_scalar *s, const lwi_dense_frame *f1, const lwi_dense_frame *f2,
                     const double T[6])
{
    double d[3], dd[3], slip[3], c[3], bias[6];
    double *f = s->J2, *g = s->J2 + 3;
    v3_sub(d, f2->p, f1->p);
    v3_sub(dd, f2->v, f1->v);
    v3_cross(c, f1->w, d);
    v3_sub(slip, dd, c);
    m3_mul_v(f, f2->R, T);
    m3_mul_v(g, f2->R, T + 3);
    v3_scale(s->J1, -1, f);
    v3_cross(s->J1 + 3, f, d); // -f.(w1 x d) = w1.(f x d)
    v3_sub(s->J1 + 3, s->J1 + 3, g);
    v3_cross(bias, dd, f1->w);
    v3_cross_add(bias, slip, f2->w);
    v3_cross(bias + 3, f2->w, f1->w);
    s->bias = v3_dot(f, bias) + v3_dot(g, bias + 3);
    s->value = 0;
    finish(s, f1, f2);
}

static void relative_unit(lwi_dense_scalar *s, const lwi_dense_frame *f1, const lwi_dense_frame *f2,
                          int k)
{
    double T[6] = {0};
    T[k] = 1;
    relative(s, f1, f2, T);
}

// Other types: coordinates as the library reads them, speeds u = T'V with
// T'S = 1; on the joint V = S u, so that Tdot'V = -T'Sdot u.
static void library_speeds(const lwi_joint *joint, const lwi_dense_frame *f1,
                           const lwi_dense_frame *f2, double *q, lwi_dense_scalar *speed)
{
    const lwi_joint_type *type = joint->type;
    double R[9], r[3], d[3], T[6][6], Sdot[6][6], u[LW_JOINT_MAX_NV];
    m3_tmul(R, f1->R, f2->R);
    v3_sub(d, f2->p, f1->p);
    m3_tmul_v(r, f1->R, d);
    type->read(&joint->par, R, r, q, q);
    type->effort(&joint->par, q, T);
    for (int k = 0; k < type->nv; k++) {
        relative(&speed[k], f1, f2, T[k]);
        u[k] = speed[k].rate;
        if (type->scalar) speed[k].value = q[k];
    }
    type->subspace_rate(&joint->par, q, u, Sdot);
    for (int k = 0; k < type->nv; k++)
        for (int j = 0; j < type->nv; j++)
            for (int i = 0; i < 6; i++) speed[k].bias -= T[k][i] * Sdot[j][i] * u[j];
}

static void standard_speed(const lwi_coordinate_form *form, const lwi_dense_frame *f1,
                           const lwi_dense_frame *f2, double near, lwi_dense_scalar *speed)
{
    lwi_dense_scalar x, y;
    switch (form->kind) {
    case LWI_COORDINATE_LENGTH:
        along(speed, f1, f2, f1->axis[form->i]);
        break;
    case LWI_COORDINATE_TURN:
        rotation_angle(speed, f1, f2, near);
        break;
    case LWI_COORDINATE_ARC:
        cosine(&x, f1, f2, form->i, form->j);
        cosine(&y, f1, f2, form->k, form->l);
        angle(speed, &x, &y, near);
        break;
    }
}

// Positions along the axes of F1; velocities, linear or angular, along those of F2.
static void vector_speeds(const lwi_joint_factor *factor, const lwi_dense_frame *f1,
                          const lwi_dense_frame *f2, double *q, lwi_dense_scalar *speed)
{
    const bool place = factor->kind == LWI_FACTOR_PLACE;
    lwi_dense_scalar x;
    for (int k = 0; k < 3; k++) {
        relative_unit(speed + k, f1, f2, place ? k : 3 + k);
        if (!place) continue;
        along(&x, f1, f2, f1->axis[k]);
        q[factor->coordinate + k] = x.value;
    }
}

void lwi_dense_joint_speeds(const lwi_joint *joint, const lwi_dense_frame *f1,
                            const lwi_dense_frame *f2, double *q, lwi_dense_scalar *speed)
{
    const lwi_joint_type *type = joint->type;
    if (lwi_joint_is_ball(type) || lwi_joint_is_free(type)) {
        for (int i = 0; i < type->nfactor; i++)
            vector_speeds(&type->factor[i], f1, f2, q, speed + 3 * i);
        return;
    }
    if (type->nv > 0 && !type->coordinate[0].kind) {
        library_speeds(joint, f1, f2, q, speed);
        return;
    }
    for (int k = 0; k < type->nv; k++)
        standard_speed(&type->coordinate[k], f1, f2, q[k], speed + k);
    for (int k = 0; k < type->nv; k++) q[k] = speed[k].value;
}
