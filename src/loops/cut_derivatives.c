// cut_derivatives.c -- derivatives of the constraint rows of cut joints and couplings.
//
// J'lambda in the coordinates of the tree is eta_k.W, W = sum lambda J in axes of F1.  By q_j
//
//     eta_k.(K eta_j) + d eta_k.W,     K = sum lambda K,   d eta_k = c (e_j eta_j) x eta_k
//
// with c = 1 where speed j moves the axis k (k is outboard of j on the same way), -1 more where it moves F1.
#include "loops/cut_derivatives.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- parts

static lw_status check(const lwi_joint *joint, lw_error *error)
{
    if (lwi_joint_rows_known(joint)) return LW_OK;
    return lwi_fail(
        error, LW_ERR_UNSUPPORTED,
        "derivatives: joint '%s' is defined by functions of the caller; expected joints "
        "of the library",
        joint->name);
}

// Speeds between the bodies of a joint; NULL lists: how many.
static int columns_of(const lw_model *model, const lwi_joint *joint, int *speed, signed char *sign)
{
    const int body[2] = {joint->body1, joint->body2};
    int at[2], n = 0;
    for (int side = 0; side < 2; side++) at[side] = body[side] ? model->body_node[body[side]] : -1;
    while (at[0] != at[1]) { // nodes have higher numbers than their parents
        const int side = at[1] > at[0], k = at[side];
        for (int j = 0; j < model->node[k].nv; j++, n++) {
            if (!speed) continue;
            speed[n] = model->node[k].iv + j;
            sign[n] = side ? 1 : -1;
        }
        at[side] = model->node[k].parent;
    }
    return n;
}

static lw_status append(const lw_model *model, lwi_cut_derivatives *d, lwi_row_part part,
                        lw_error *error)
{
    const lwi_joint *joint = &model->joint[part.joint];
    TRY(check(joint, error));
    const lwi_row_part *last = d->npart ? &d->part[d->npart - 1] : NULL;
    part.column = last ? last->column + last->count : 0;
    part.count = columns_of(model, joint, NULL, NULL);
    d->part[d->npart++] = part;
    return LW_OK;
}

static lw_status append_parts(const lw_model *model, const lwi_cut *cut, lwi_cut_derivatives *d,
                              lw_error *error)
{
    for (int i = 0; i < model->nloop; i++) {
        const int joint = model->loop[i], first = cut->first[i];
        TRY(append(
            model, d,
            (lwi_row_part){joint, -1, .first = first, .nrow = lwi_joint_row_count(model, joint)},
            error));
        const int nrotor = model->joint[joint].nrotor;
        if (nrotor == 0) continue;
        TRY(append(model, d,
                   (lwi_row_part){joint, -1, .rotors = true, .first = d->nrotor, .nrow = nrotor},
                   error));
        d->nrotor += nrotor;
    }
    for (int i = 0; i < model->ncoupling; i++)
        for (int of = 0; of < 2; of++) {
            const lwi_coupling *c = &model->coupling[i];
            const int joint = of ? c->of : c->joint, k = of ? c->with : c->coordinate;
            if (!model->joint[joint].type->coordinate[k].kind)
                return lwi_fail(error, LW_ERR_UNSUPPORTED,
                                "derivatives: the coupling of joint '%s' has a coordinate without "
                                "a formula; expected joints of the library",
                                model->joint[joint].name);
            TRY(append(model, d,
                       (lwi_row_part){joint, i, .of = of, .first = cut->first[model->nloop + i],
                                      .nrow = 1},
                       error));
        }
    return LW_OK;
}

static void fill_inertias(const lw_model *model, lwi_cut_derivatives *d)
{
    for (int i = 0; i < d->npart; i++) {
        const lwi_joint *joint = &model->joint[d->part[i].joint];
        for (int k = 0, r = d->part[i].first; d->part[i].rotors && k < joint->type->nv; k++)
            if (joint->rotor[k] > 0) d->inertia[r++] = joint->rotor[k];
    }
}

lw_status lwi_cut_derivatives_create(const lw_model *model, const lwi_cut *cut, lwi_arena *arena,
                                     lwi_cut_derivatives *d, lw_error *error)
{
    const int max = 2 * (model->nloop + model->ncoupling);
    *d = (lwi_cut_derivatives){.m = cut->first[cut->count], .n = model->tree_nv};
    d->part = LWI_PUSH(arena, lwi_row_part, max);
    if (!d->part) return LW_ERR_MEMORY;
    TRY(append_parts(model, cut, d, error));
    const lwi_row_part *last = d->npart ? &d->part[d->npart - 1] : NULL;
    const size_t columns = last ? (size_t)(last->column + last->count) : 0;
    const size_t entries = (size_t)(d->m + d->nrotor) * (size_t)d->n;
    d->speed = LWI_PUSH(arena, int, columns);
    d->sign = LWI_PUSH(arena, signed char, columns);
    d->eta = lwi_arena_push(arena, columns, sizeof *d->eta);
    d->row = lwi_arena_push(arena, (size_t)d->npart, sizeof *d->row);
    double **const matrix[] = {&d->J, &d->rate_by_q, &d->second_by_q, &d->second_by_v};
    for (int i = 0; i < LWI_COUNT(matrix); i++)
        if (!(*matrix[i] = LWI_PUSH(arena, double, entries))) return LW_ERR_MEMORY;
    d->length = LWI_PUSH(arena, double, d->m);
    d->rotor_rate = LWI_PUSH(arena, double, d->nrotor);
    d->inertia = LWI_PUSH(arena, double, d->nrotor);
    if (!d->speed || !d->sign || !d->eta || !d->row || !d->length || !d->rotor_rate || !d->inertia)
        return LW_ERR_MEMORY;
    for (int i = 0; i < d->npart; i++)
        columns_of(model, &model->joint[d->part[i].joint], d->speed + d->part[i].column,
                   d->sign + d->part[i].column);
    fill_inertias(model, d);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- motion

static void place_frame(const lwi_tree_work *work, int body, const double R[9], const double r[3],
                        double out_R[9], double out_p[3])
{
    m3_mul(out_R, (const double *)work->body_R[body], R);
    m3_mul_v(out_p, work->body_R[body], r);
    v3_add(out_p, out_p, work->body_r[body]);
}

// Of the body; of the ground the acceleration -g, as in the tree.
static void motion_of(const lw_model *model, const lwi_screws *s, int body, double V[6],
                      double A[6])
{
    const int last = body ? s->last[model->body_node[body]] : -1;
    v6_zero(V);
    v6_zero(A);
    if (last >= 0) {
        v6_copy(V, s->screw[last].V);
        v6_copy(A, s->screw[last].A);
    } else {
        for (int i = 0; i < 3; i++) A[i] = -model->gravity[i];
    }
}

// Moves F1 by its mount.
static void move_frame(const lw_model *model, const lwi_mount *mount, double t, lwi_row_sides *s,
                       double A1[6])
{
    double Rm[9], rm[3], Vm[6], Am[6], R[9], x[3], nu[6], alpha[6], rotated[6];
    lwi_mount_eval(model, mount, t, Rm, rm, Vm, Am);
    m3_mul_v(x, s->R, rm);
    v3_add(s->p, s->p, x);
    m3_mul(R, s->R, Rm);
    memcpy(s->R, R, sizeof R);
    motion_from(nu, s->R, s->p, Vm);
    motion_from(alpha, s->R, s->p, Am);
    motion_cross(rotated, s->V1, nu);
    v6_add(A1, A1, rotated);
    v6_add(A1, A1, alpha);
    v6_add(s->V1, s->V1, nu);
}

void lwi_row_sides_place(const lw_model *model, const lwi_screws *screws, const lwi_tree_work *work,
                         const lwi_joint *joint, double t, lwi_row_sides *s)
{
    double A1[6], R2[9], p2[3], D[6], Y[6], rotated[6];
    place_frame(work, joint->body1, joint->R1, joint->r1, s->R, s->p);
    place_frame(work, joint->body2, joint->R2, joint->r2, R2, p2);
    motion_of(model, screws, joint->body1, s->V1, A1);
    motion_of(model, screws, joint->body2, s->V2, s->A2);
    if (joint->mount.present) move_frame(model, &joint->mount, t, s, A1);
    lwi_relative_motion *m = &s->relative;
    m3_tmul(m->R, s->R, R2);
    v3_sub(p2, p2, s->p);
    m3_tmul_v(m->d, s->R, p2);
    motion_cross(rotated, s->V1, s->V2);
    for (int i = 0; i < 6; i++) D[i] = s->V2[i] - s->V1[i];
    for (int i = 0; i < 6; i++) Y[i] = s->A2[i] - A1[i] - rotated[i];
    motion_to(m->U, s->R, s->p, D);
    motion_to(m->Udot, s->R, s->p, Y);
}

// -------------------------------------------------------------------------------------------- rows

// The factor and its derivatives by which the coordinate of a coupling's second joint enters, -P(q).
static void polynomial(const lwi_coupling *c, double x, double f[4])
{
    double P[4] = {0};
    for (int k = c->n - 1; k >= 0; k--) {
        P[3] = P[3] * x + 3 * P[2];
        P[2] = P[2] * x + 2 * P[1];
        P[1] = P[1] * x + P[0];
        P[0] = P[0] * x + c->c[k];
    }
    for (int i = 0; i < 4; i++) f[i] = -P[i];
}

static void coupling_row(const lw_model *model, const lwi_row_part *part, const lwi_row_sides *s,
                         const lwi_tree_work *work, lwi_row_derivatives *row)
{
    const lwi_coupling *c = &model->coupling[part->coupling];
    const lwi_joint *joint = &model->joint[part->joint];
    if (!part->of) {
        lwi_coordinate_derivatives(joint->type, c->coordinate, &s->relative, row);
        return;
    }
    lwi_row_derivatives q;
    double f[4];
    lwi_coordinate_derivatives(joint->type, c->with, &s->relative, &q);
    polynomial(c, work->joint_q[joint->iq + c->with], f);
    lwi_row_derivatives_of(f, &q, row);
}

static void rows_of(const lw_model *model, const lwi_row_part *part, const lwi_row_sides *s,
                    const lwi_tree_work *work, double t, lwi_row_derivatives row[6])
{
    const lwi_joint *joint = &model->joint[part->joint];
    double length[3] = {joint->par.length, 0, 0};
    int n = 0;
    if (part->coupling >= 0) {
        coupling_row(model, part, s, work, row);
        return;
    }
    if (!part->rotors) {
        if (joint->length_of.index) lwi_function_eval(model->function, joint->length_of, t, length);
        n = lwi_joint_row_derivatives(joint, &s->relative, length, row);
    }
    for (int k = 0; k < joint->type->nv; k++)
        if (part->rotors ? joint->rotor[k] > 0 : joint->motion[k].index > 0)
            lwi_coordinate_derivatives(joint->type, k, &s->relative, &row[n++]);
    LWI_ASSERT(n == part->nrow);
}

/** How a speed changes the relative motion, axes of F1. */
typedef struct variation {
    int speed;
    double eta[6];
    double U_by_q[6], Udot_by_q[6], Udot_by_v[6];
} variation;

static void vary(const lwi_tree_derivatives *tree, const lwi_row_sides *s, int speed, int sign,
                 variation *v)
{
    const double *S = tree->screws.S[speed];
    double psi[6], psi2[6], drift[6], U[6], Udot[6], by_v[6], term[6];
    v->speed = speed;
    for (int c = 0; c < 6; c++) {
        psi[c] = tree->rate[speed][c];
        psi2[c] = tree->arrays.rate2[c][speed];
        drift[c] = tree->arrays.drift[c][speed];
    }
    motion_cross(U, S, s->V2);
    v6_add(by_v, U, drift);
    v6_add(U, U, psi);
    motion_cross(Udot, S, s->A2);
    v6_add(Udot, Udot, psi2);
    motion_cross(term, psi, s->V2);
    v6_add(Udot, Udot, term);
    motion_cross(term, s->V1, U);
    v6_axpy(Udot, -1, term);
    motion_cross(term, s->V1, S);
    v6_axpy(by_v, -1, term);
    motion_to(v->eta, s->R, s->p, S);
    motion_to(v->U_by_q, s->R, s->p, U);
    motion_to(v->Udot_by_q, s->R, s->p, Udot);
    motion_to(v->Udot_by_v, s->R, s->p, by_v);
    if (sign > 0) return;
    for (int i = 0; i < 6; i++) {
        v->eta[i] = -v->eta[i];
        v->U_by_q[i] = -v->U_by_q[i];
        v->Udot_by_q[i] = -v->Udot_by_q[i];
        v->Udot_by_v[i] = -v->Udot_by_v[i];
    }
}

static void add_entries(lwi_cut_derivatives *d, int i, const lwi_row_derivatives *row,
                        const variation *v)
{
    const size_t at = (size_t)i * (size_t)d->n + (size_t)v->speed;
    const double rate = v6_dot(row->J, v->eta);
    d->J[at] += rate;
    d->rate_by_q[at] += v6_dot(row->rate_by_pose, v->eta) + v6_dot(row->J, v->U_by_q);
    d->second_by_q[at] += v6_dot(row->second_by_pose, v->eta) +
                          v6_dot(row->second_by_rate, v->U_by_q) + v6_dot(row->J, v->Udot_by_q);
    d->second_by_v[at] += v6_dot(row->second_by_rate, v->eta) + v6_dot(row->J, v->Udot_by_v);
}

// Squares of the wrenches on F2 about its origin.
static void add_lengths(const lw_model *model, lwi_cut_derivatives *d, const lwi_row_part *part,
                        const lwi_row_derivatives *row, const double point[3])
{
    for (int r = 0; r < part->nrow; r++) {
        double torque[3];
        v3_cross(torque, row[r].J, point);
        v3_add(torque, torque, row[r].J + 3);
        d->length[part->first + r] +=
            v3_dot(row[r].J, row[r].J) + v3_dot(torque, torque) / (model->length * model->length);
    }
}

void lwi_cut_derivatives_evaluate(const lw_model *model, lwi_cut_derivatives *d,
                                  const lwi_tree_derivatives *tree, const lwi_tree_work *work,
                                  double t)
{
    const size_t bytes = (size_t)(d->m + d->nrotor) * (size_t)d->n * sizeof *d->J;
    double *const matrix[] = {d->J, d->rate_by_q, d->second_by_q, d->second_by_v};
    for (int i = 0; i < LWI_COUNT(matrix); i++) memset(matrix[i], 0, bytes);
    memset(d->length, 0, (size_t)d->m * sizeof *d->length);
    for (int i = 0; i < d->npart; i++) {
        const lwi_row_part *part = &d->part[i];
        const int first = part->first + (part->rotors ? d->m : 0);
        lwi_row_sides s;
        lwi_row_sides_place(model, &tree->screws, work, &model->joint[part->joint], t, &s);
        rows_of(model, part, &s, work, t, d->row[i]);
        if (!part->rotors) add_lengths(model, d, part, d->row[i], s.relative.d);
        for (int c = part->column; c < part->column + part->count; c++) {
            variation v;
            vary(tree, &s, d->speed[c], d->sign[c], &v);
            v6_copy(d->eta[c], v.eta);
            for (int r = 0; r < part->nrow; r++) add_entries(d, first + r, &d->row[i][r], &v);
        }
        for (int r = 0; part->rotors && r < part->nrow; r++)
            d->rotor_rate[part->first + r] = d->row[i][r].second;
    }
    for (int i = 0; i < d->m; i++) d->length[i] = d->length[i] > 0 ? sqrt(d->length[i]) : 1;
}

// ------------------------------------------------------------------------------------- multipliers

// Does a displacement of speed j rotate the screw of speed k, of the same way?
static bool carries(const lwi_screws *s, int j, int k)
{
    const int a = s->of_speed[j], b = s->of_speed[k];
    return b > a || (b == a && s->screw[a].follows);
}

// @param lambda  [nrow] multipliers of this part
static void add_part(const lwi_cut_derivatives *d, const lwi_tree_derivatives *tree, int i,
                     double scale, const double *lambda, double *by_q)
{
    const lwi_row_part *part = &d->part[i];
    const size_t n = (size_t)d->n;
    double W[6] = {0}, K[6][6] = {{0}};
    for (int r = 0; r < part->nrow; r++) {
        const double l = scale * lambda[r];
        v6_axpy(W, l, d->row[i][r].J);
        for (int a = 0; a < 6; a++) v6_axpy(K[a], l, d->row[i][r].K[a]);
    }
    const int *speed = d->speed + part->column;
    const signed char *sign = d->sign + part->column;
    for (int j = 0; j < part->count; j++) {
        const double *eta = d->eta[part->column + j];
        double change[6], rotated[6];
        for (int a = 0; a < 6; a++) change[a] = v6_dot(K[a], eta);
        force_cross(rotated, eta, W); // (eta_j x eta_k).W = -eta_k.(eta_j x* W)
        for (int k = 0; k < part->count; k++) {
            const bool rotates = sign[j] == sign[k] && carries(&tree->screws, speed[j], speed[k]);
            const int c = (rotates - (sign[j] < 0)) * sign[j];
            const double *of = d->eta[part->column + k];
            by_q[(size_t)speed[k] * n + (size_t)speed[j]] +=
                v6_dot(of, change) - c * v6_dot(of, rotated);
        }
    }
}

void lwi_cut_derivatives_multipliers(const lwi_cut_derivatives *d, const lwi_tree_derivatives *tree,
                                     double scale, const double *lambda, double *by_q)
{
    for (int i = 0; i < d->npart; i++)
        if (!d->part[i].rotors) add_part(d, tree, i, scale, lambda + d->part[i].first, by_q);
}

// I s s' and I s (du/dt)' of one rotor.
static void add_rotor(const lwi_cut_derivatives *d, int rotor, double *by_q, double *by_v,
                      double *M)
{
    const size_t n = (size_t)d->n, row = (size_t)(d->m + rotor) * n;
    const double *s = d->J + row;
    for (size_t k = 0; k < n; k++) {
        const double I = d->inertia[rotor] * s[k];
        for (size_t j = 0; I != 0 && j < n; j++) {
            by_q[k * n + j] += I * d->second_by_q[row + j];
            by_v[k * n + j] += I * d->second_by_v[row + j];
            M[k * n + j] += I * s[j];
        }
    }
}

void lwi_cut_derivatives_rotors(const lwi_cut_derivatives *d, const lwi_tree_derivatives *tree,
                                double *by_q, double *by_v, double *M, double *effort)
{
    const size_t n = (size_t)d->n;
    for (int i = 0; i < d->npart; i++) {
        const lwi_row_part *part = &d->part[i];
        double torque[LW_JOINT_MAX_NV];
        for (int r = 0; part->rotors && r < part->nrow; r++) {
            const int rotor = part->first + r;
            torque[r] = d->inertia[rotor] * d->rotor_rate[rotor];
            for (size_t k = 0; k < n; k++)
                effort[k] += torque[r] * d->J[(size_t)(d->m + rotor) * n + k];
            add_rotor(d, rotor, by_q, by_v, M);
        }
        if (part->rotors) add_part(d, tree, i, 1, torque, by_q);
    }
}
