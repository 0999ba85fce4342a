// row_derivatives.c -- constraint rows as functions of the pose of F2 in F1, by the chain rule to the third order.
//
// With c column j of R (an axis of F2) and d the origin of F2,
//     c' = w x c,        c'' = wdot x c + w x c'
//     d' = v + w x d,    d'' = vdot + wdot x d + w x d'
// at a velocity U = [v; w].  Of a function f of entries x_i,
//     J = f_i J_i,   K = f_i K_i + f_ij J_i J_j'
//     phiddot = f_i x_i'' + f_ij x_i' x_j'
// and the derivative of phiddot by eta has terms f_i, f_ij and f_ijk.
#include "kinematics/row_derivatives.h"

#include "base/assert.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

enum { MAX_ENTRIES = 3 };

/** Values and derivatives of a function of `n` entries. */
typedef struct function {
    int n;
    double f, f1[MAX_ENTRIES], f2[MAX_ENTRIES][MAX_ENTRIES],
        f3[MAX_ENTRIES][MAX_ENTRIES][MAX_ENTRIES];
} function;

static void add_first(double f1, const lwi_row_derivatives *x, lwi_row_derivatives *out)
{
    out->rate += f1 * x->rate;
    out->second += f1 * x->second;
    v6_axpy(out->J, f1, x->J);
    for (int a = 0; a < 6; a++) v6_axpy(out->K[a], f1, x->K[a]);
    v6_axpy(out->rate_by_pose, f1, x->rate_by_pose);
    v6_axpy(out->second_by_pose, f1, x->second_by_pose);
    v6_axpy(out->second_by_rate, f1, x->second_by_rate);
}

static void add_second(double f2, const lwi_row_derivatives *x, const lwi_row_derivatives *y,
                       lwi_row_derivatives *out)
{
    out->second += f2 * x->rate * y->rate;
    for (int a = 0; a < 6; a++) v6_axpy(out->K[a], f2 * x->J[a], y->J);
    v6_axpy(out->rate_by_pose, f2 * x->rate, y->J);
    v6_axpy(out->second_by_pose, f2 * x->second, y->J);
    v6_axpy(out->second_by_pose, 2 * f2 * x->rate, y->rate_by_pose);
    v6_axpy(out->second_by_rate, 2 * f2 * x->rate, y->J);
}

static void compose(const function *f, const lwi_row_derivatives *x, lwi_row_derivatives *out)
{
    *out = (lwi_row_derivatives){.phi = f->f};
    for (int i = 0; i < f->n; i++) {
        if (f->f1[i] != 0) add_first(f->f1[i], &x[i], out);
        for (int j = 0; j < f->n; j++) {
            if (f->f2[i][j] != 0) add_second(f->f2[i][j], &x[i], &x[j], out);
            for (int k = 0; k < f->n; k++)
                if (f->f3[i][j][k] != 0)
                    v6_axpy(out->second_by_pose, f->f3[i][j][k] * x[i].rate * x[j].rate, x[k].J);
        }
    }
}

void lwi_row_derivatives_of(const double f[4], const lwi_row_derivatives *phi,
                            lwi_row_derivatives *out)
{
    const function of = {1, f[0], {f[1]}, {{f[2]}}, {{{f[3]}}}};
    compose(&of, phi, out);
}

// ----------------------------------------------------------------------------------------- entries

// The component along axis i of a vector x fixed in F2: d with `point`, else an axis.
static void component(const lwi_relative_motion *m, const double x[3], bool point, int i,
                      lwi_row_derivatives *out)
{
    const double *w = m->U + 3;
    double rate[3], second[3], part[3];
    v3_cross(rate, w, x);
    if (point) v3_add(rate, rate, m->U);
    v3_cross(second, m->Udot + 3, x);
    v3_cross_add(second, w, rate);
    if (point) v3_add(second, second, m->Udot);
    *out = (lwi_row_derivatives){.phi = x[i], .rate = rate[i], .second = second[i]};
    for (int b = point ? 0 : 3; b < 6; b++) {
        double unit[3] = {0}, moved[3], rotated[3];
        unit[b % 3] = 1;
        if (b < 3)
            v3_copy(moved, unit); // of x by eta_b
        else
            v3_cross(moved, unit, x);
        out->J[b] = moved[i];
        for (int a = 3; a < 6; a++) {
            double axis[3] = {0};
            axis[a - 3] = 1;
            v3_cross(part, axis, moved);
            out->K[a][b] = part[i];
        }
        v3_cross(rotated, w, moved);
        out->rate_by_pose[b] = rotated[i];
        v3_cross(part, m->Udot + 3, moved);
        v3_cross_add(part, w, rotated);
        out->second_by_pose[b] = part[i];
        v3_copy(part, rotated); // of w x (U_v + U_w x x) by U_b
        if (b >= 3) v3_cross_add(part, unit, rate);
        out->second_by_rate[b] = part[i];
    }
}

static void along(const lwi_relative_motion *m, int i, lwi_row_derivatives *out)
{
    component(m, m->d, true, i, out);
}

// Axis i of F1 . axis j of F2.
static void axes(const lwi_relative_motion *m, int i, int j, lwi_row_derivatives *out)
{
    const double c[3] = {m->R[j], m->R[3 + j], m->R[6 + j]};
    component(m, c, false, i, out);
}

static void combine(double a, const lwi_row_derivatives *x, double b, const lwi_row_derivatives *y,
                    lwi_row_derivatives *out)
{
    *out = (lwi_row_derivatives){.phi = a * x->phi + b * y->phi};
    add_first(a, x, out);
    add_first(b, y, out);
}

// atan2(B, A): the imaginary part of log(A + i B), with derivatives 1/z, -1/z^2, 2/z^3 by A, times i for each B.
static void arc(const lwi_row_derivatives *B, const lwi_row_derivatives *A,
                lwi_row_derivatives *out)
{
    const lwi_row_derivatives x[2] = {*A, *B};
    const double n = A->phi * A->phi + B->phi * B->phi, re = A->phi / n, im = -B->phi / n;
    const double re2 = re * re - im * im, im2 = 2 * re * im;
    const double re3 = re2 * re - im2 * im, im3 = re2 * im + im2 * re;
    const double one[2] = {im, re}, two[3] = {-im2, -re2, im2},
                 three[4] = {2 * im3, 2 * re3, -2 * im3, -2 * re3}; // index: how often by B
    function f = {.n = 2, .f = atan2(B->phi, A->phi), .f1 = {one[0], one[1]}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            f.f2[i][j] = two[i + j];
            for (int k = 0; k < 2; k++) f.f3[i][j][k] = three[i + j + k];
        }
    compose(&f, x, out);
}

// The angle about z: atan2(R10 - R01, R00 + R11).
static void turn(const lwi_relative_motion *m, lwi_row_derivatives *out)
{
    lwi_row_derivatives x, y, A, B;
    axes(m, 0, 0, &x);
    axes(m, 1, 1, &y);
    combine(1, &x, 1, &y, &A);
    axes(m, 1, 0, &x);
    axes(m, 0, 1, &y);
    combine(1, &x, -1, &y, &B);
    arc(&B, &A, out);
}

// 2 e_i = (R_kj - R_jk) (1 + trace R)^(-1/2), i, j, k cyclic.
static void attitude(const lwi_relative_motion *m, int i, lwi_row_derivatives *out)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    lwi_row_derivatives x, y, z, in[2];
    axes(m, k, j, &x);
    axes(m, j, k, &y);
    combine(1, &x, -1, &y, &in[0]);
    axes(m, 0, 0, &x);
    axes(m, 1, 1, &y);
    combine(1, &x, 1, &y, &z);
    axes(m, 2, 2, &x);
    combine(1, &z, 1, &x, &in[1]);
    const double N = in[0].phi, s = 1 / (1 + in[1].phi), g = sqrt(s), g1 = -0.5 * g * s,
                 g2 = -1.5 * g1 * s, g3 = -2.5 * g2 * s;
    const function f = {2,
                        N * g,
                        {g, N * g1},
                        {{0, g1}, {g1, N * g2}},
                        {{{0, 0}, {0, g2}}, {{0, g2}, {g2, N * g3}}}};
    compose(&f, in, out);
}

// -------------------------------------------------------------------------------------------- rows

// h(t) d.d - l(t)/2,  h = 1/(2 l).
static void distance(const lwi_relative_motion *m, const double length[3], lwi_row_derivatives *out)
{
    const double l = length[0], h = 1 / (2 * l), h1 = -2 * h * h * length[1],
                 h2 = -2 * h * h * length[2] + 8 * h * h * h * length[1] * length[1];
    lwi_row_derivatives x[3], s;
    function f = {.n = 3};
    for (int i = 0; i < 3; i++) {
        along(m, i, &x[i]);
        f.f += m->d[i] * m->d[i];
        f.f1[i] = 2 * m->d[i];
        f.f2[i][i] = 2;
    }
    compose(&f, x, &s);
    *out = (lwi_row_derivatives){.phi = h * s.phi - l / 2};
    add_first(h, &s, out);
    out->second += 2 * h1 * s.rate + h2 * s.phi - length[2] / 2;
    out->rate += h1 * s.phi - length[1] / 2;
    v6_axpy(out->rate_by_pose, h1, s.J);
    v6_axpy(out->second_by_pose, 2 * h1, s.rate_by_pose);
    v6_axpy(out->second_by_pose, h2, s.J);
    v6_axpy(out->second_by_rate, 2 * h1, s.J);
}

static void thread(const lwi_joint *joint, const lwi_relative_motion *m, lwi_row_derivatives *out)
{
    lwi_row_derivatives z, angle;
    along(m, LWI_Z, &z);
    turn(m, &angle);
    combine(1, &z, -joint->par.pitch, &angle, out);
}

bool lwi_joint_rows_known(const lwi_joint *joint)
{
    const lwi_joint_type *type = joint->type;
    for (int k = 0; k < type->nc; k++)
        if (type->row[k].kind == LWI_ROW_CALLBACK) return false;
    for (int k = 0; k < type->nv; k++)
        if ((joint->motion[k].index > 0 || joint->rotor[k] > 0) && !type->coordinate[k].kind)
            return false;
    return true;
}

int lwi_joint_row_derivatives(const lwi_joint *joint, const lwi_relative_motion *m,
                              const double length[3], lwi_row_derivatives row[6])
{
    for (int k = 0; k < joint->type->nc; k++) {
        const lwi_row_form *form = &joint->type->row[k];
        switch (form->kind) {
        case LWI_ROW_POINT:
        case LWI_ROW_ALONG:
            along(m, form->i, &row[k]);
            break;
        case LWI_ROW_AXES:
            axes(m, form->i, form->j, &row[k]);
            break;
        case LWI_ROW_ATTITUDE:
            attitude(m, form->i, &row[k]);
            break;
        case LWI_ROW_THREAD:
            thread(joint, m, &row[k]);
            break;
        case LWI_ROW_LENGTH:
            distance(m, length, &row[k]);
            break;
        case LWI_ROW_CALLBACK:
            LWI_ASSERT(false); // lwi_joint_rows_known
        }
    }
    return joint->type->nc;
}

void lwi_coordinate_derivatives(const lwi_joint_type *type, int k, const lwi_relative_motion *m,
                                lwi_row_derivatives *row)
{
    const lwi_coordinate_form *form = &type->coordinate[k];
    lwi_row_derivatives A, B;
    switch (form->kind) {
    case LWI_COORDINATE_LENGTH:
        along(m, form->i, row);
        break;
    case LWI_COORDINATE_TURN:
        turn(m, row);
        break;
    case LWI_COORDINATE_ARC:
        axes(m, form->i, form->j, &A);
        axes(m, form->k, form->l, &B);
        arc(&B, &A, row);
        break;
    }
}
