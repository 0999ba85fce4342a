// transfer.c -- inertia transferred across joints (transfer.h).
#include "system/transfer.h"

#include "base/assert.h"
#include "base/components.h"
#include "base/linear.h"
#include "spatial/motion.h"

#include <stdio.h>
#include <string.h>

// A body with less than this share of a neighbour's mass borrows too, if it can borrow in all directions: its rows
// would lose half of the digits.
#define TINY 1e-8
// What a borrower lacks, as a share of what it has, so that it can be inverted.
#define LACKING 1e-12
// Shares of the inertia of a body along a direction below which the start searches for more, and above which it counts.
#define FIRM 1e-3
#define COUNTS 1e-8
// The smallest at which the inertia of a body is inverted: above the round-off of LACKING.
#define SMALLEST 1e-11
// Rows of an edge with smaller pivots, as shares of their diagonals, are not independent; those of bodies that borrow
// are as much smaller as such a body may lack.
#define DEPENDENT 1e-10
#define DEPENDENT_OF_BORROWERS 1e-14

// ------------------------------------------------------------------------------- matrices of bodies

// Body 6 x 6 of the elimination: of one of n parts a share.
static void inertia_of(const lwi_system *s, int body, double M[36])
{
    const int k = lwi_system_node_of(s, body), b = s->model->node[k].body;
    const double share = 1.0 / lwi_system_parts_of(s, k);
    double J[6], full[9];
    s3_rotate(J, s->R[b], s->model->body[b].inertia);
    s3_full(full, J);
    memset(M, 0, 36 * sizeof *M);
    for (int i = 0; i < 3; i++) {
        M[7 * i] = share * s->model->body[b].mass;
        for (int j = 0; j < 3; j++) M[6 * (3 + i) + 3 + j] = share * full[3 * i + j];
    }
}

// Units of translations and rotations, in which entries of M can be compared.
static void units_of(const lwi_system *s, const double M[36], double unit[2])
{
    const double length = s->length;
    unit[0] = (M[0] + M[7] + M[14]) / 3;
    unit[1] = (M[21] + M[28] + M[35]) / 3;
    if (!(unit[1] > 0)) unit[1] = unit[0] * length * length;
    if (!(unit[0] > 0)) unit[0] = unit[1] / (length * length);
}

// A := L, A = L L', of a matrix scaled to a diagonal of ones by `scale` [n]; false: a pivot is below `smallest`.
static bool factor(int n, double *A, double *scale, double smallest)
{
    for (int i = 0; i < n; i++) {
        if (!(A[i * n + i] > 0)) return false;
        scale[i] = 1 / sqrt(A[i * n + i]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] *= scale[i] * scale[j];
    return lwi_cholesky(n, A, smallest) < 0;
}

// inverse := A^-1, symmetric; A is destroyed.
static bool invert(int n, double *A, double smallest, double *inverse)
{
    double scale[6], X[6][6]; // L^-1, rows i
    if (!factor(n, A, scale, smallest)) return false;
    for (int i = 0; i < n; i++) {
        const double *L = A + i * n, pivot = 1 / L[i];
        for (int k = 0; k < i; k++) {
            double sum = 0;
            for (int j = k; j < i; j++) sum += L[j] * X[j][k];
            X[i][k] = -pivot * sum;
        }
        X[i][i] = pivot;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = 0;
            for (int j = i; j < n; j++) sum += X[j][i] * X[j][k];
            inverse[i * n + k] = inverse[k * n + i] = sum * scale[i] * scale[k];
        }
    return true;
}

// A := M in these units; false: it is zero.
static bool in_units(const lwi_system *s, const double M[36], double A[36])
{
    double unit[2];
    units_of(s, M, unit);
    const bool any = unit[0] > 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            A[6 * i + j] = any ? M[6 * i + j] / sqrt(unit[i / 3] * unit[j / 3]) : 0;
    return any;
}

// Directions in which M has more than `share` of its mean: pivots of Cholesky with exchanges.
static int count_directions(const lwi_system *s, const double M[36], double share)
{
    double A[36], unit[2];
    units_of(s, M, unit);
    if (!(unit[0] > 0)) return 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) A[6 * i + j] = M[6 * i + j] / sqrt(unit[i / 3] * unit[j / 3]);
    for (int count = 0; count < 6; count++) {
        int p = 0;
        for (int i = 1; i < 6; i++)
            if (A[7 * i] > A[7 * p]) p = i;
        if (!(A[7 * p] > share)) return count;
        const double inverse = 1 / A[7 * p];
        double row[6];
        memcpy(row, A + 6 * p, sizeof row);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) A[6 * i + j] -= row[i] * row[j] * inverse;
        for (int i = 0; i < 6; i++) A[6 * p + i] = A[6 * i + p] = 0;
    }
    return 6;
}

// Where N lacks inertia it gets a little, so that it can be inverted.
static void fill(const lwi_system *s, double N[36])
{
    double unit[2];
    units_of(s, N, unit);
    for (int i = 0; i < 6; i++) N[7 * i] += LACKING * unit[i / 3];
}

// W := (J Y')^-1, Y = J N^-1; false: rows are not independent.
static bool weigh(int n, const double (*J)[6], const double (*Y)[6], double dependent, double *W)
{
    double S[36];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) S[i * n + j] = S[j * n + i] = v6_dot(J[i], Y[j]);
    return invert(n, S, dependent, W);
}

// Y := J N^-1; false: there is nothing to give.  N is destroyed.
static bool divide(int n, const double (*J)[6], double N[36], double (*Y)[6])
{
    double K[36];
    if (!invert(6, N, 0, K)) return false;
    for (int r = 0; r < n; r++)
        for (int i = 0; i < 6; i++) Y[r][i] = v6_dot(K + 6 * i, J[r]);
    return true;
}

// The same for a body with its own inertia.
static void divide_own(const lwi_system *s, int body, int n, const double (*J)[6], double (*Y)[6])
{
    const int k = lwi_system_node_of(s, body), b = s->model->node[k].body;
    const double parts = lwi_system_parts_of(s, k), lin = parts / s->model->body[b].mass;
    double ang[6];
    s3_rotate(ang, s->R[b], s->mobility[k]);
    for (int i = 0; i < 6; i++) ang[i] *= parts;
    for (int r = 0; r < n; r++) {
        v3_scale(Y[r], lin, J[r]);
        s3_mul_v(Y[r] + 3, ang, J[r] + 3);
    }
}

// M += sign J' W J
static void add_weight(int n, const double (*J)[6], const double *W, double sign, double M[36])
{
    double WJ[6][6] = {{0}};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) v6_axpy(WJ[i], sign * W[i * n + k], J[k]);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double sum = 0;
            for (int r = 0; r < n; r++) sum += J[r][i] * WJ[r][j];
            M[6 * i + j] += sum;
        }
}

// ------------------------------------------------------------------------------------ transfers

static const double (*rows_at(const lwi_system *s, const lwi_transfer_edge *e, int i))[6]
{
    return lwi_elim_rows(s->elim) + 6 * (s->plan.slot[e->edge] + i);
}

static lwi_transfer_body *body_at(const lwi_system *s, const lwi_transfer_edge *e, int i)
{
    return &s->transfer->body[s->transfer->of[s->plan.graph.edge[e->edge].body[i]]];
}

// What the ground gives, at the mass centre of a body: a mean body.
static void divide_mean(const lwi_transfer *f, int n, const double (*J)[6], double (*Y)[6])
{
    for (int r = 0; r < n; r++)
        for (int i = 0; i < 6; i++) Y[r][i] = J[r][i] / f->mean[i / 3];
}

// W of a step; false: it gives nothing.
static bool weight_of(const lwi_system *s, const lwi_transfer_edge *e, bool back, double *W)
{
    const int from = back ? e->to : e->from;
    const double(*J)[6] = rows_at(s, e, from < 0 ? e->to : from);
    const lwi_transfer_body *giver = from < 0 ? NULL : body_at(s, e, from);
    double N[36], Y[6][6], part = 1, dependent = DEPENDENT;
    if (!giver) {
        divide_mean(s->transfer, e->rows, J, Y);
    } else if (giver->borrows) {
        memcpy(N, giver->M, sizeof N);
        fill(s, N);
        if (!divide(e->rows, J, N, Y)) return false;
        part = 0.5;
        dependent = DEPENDENT_OF_BORROWERS;
    } else {
        divide_own(s, giver->body, e->rows, J, Y);
        part = 1.0 / (giver->gives + 1);
    }
    if (!weigh(e->rows, J, (const double(*)[6])Y, dependent, W)) return false;
    for (int i = 0; i < e->rows * e->rows; i++) W[i] *= part;
    return true;
}

// A step of a component: the inertia of bodies that borrow changes.
static void transfer(lwi_system *s, const lwi_transfer_step *step)
{
    lwi_transfer_edge *e = &s->transfer->edge[step->edge];
    const double sign = step->back ? -1 : 1;
    double W[36];
    if (!weight_of(s, e, step->back, W)) return;
    for (int i = 0; i < e->rows * e->rows; i++) e->W[i] += sign * W[i];
    add_weight(e->rows, rows_at(s, e, e->to), W, sign, body_at(s, e, e->to)->M);
    if (e->from < 0) return;
    lwi_transfer_body *other = body_at(s, e, e->from);
    if (other->borrows) add_weight(e->rows, rows_at(s, e, e->from), W, -sign, other->M);
}

static void transfer_components(void *user, int first, int end)
{
    lwi_system *s = user;
    const lwi_transfer *f = s->transfer;
    for (int i = f->first[first]; i < f->first[end]; i++) transfer(s, &f->step[i]);
}

static void take_inertia(void *user, int first, int end)
{
    lwi_system *s = user;
    for (int i = first; i < end; i++)
        inertia_of(s, s->transfer->body[i].body, s->transfer->body[i].M);
}

static void clear_weights(void *user, int first, int end)
{
    const lwi_system *s = user;
    for (int i = first; i < end; i++)
        memset(s->transfer->edge[i].W, 0, sizeof s->transfer->edge[i].W);
}

// What bodies with inertia have given.
static void pay(void *user, int first, int end)
{
    lwi_system *s = user;
    const lwi_transfer *f = s->transfer;
    for (int i = f->nborrower + first; i < f->nborrower + end; i++)
        for (int g = f->body[i].first; g < f->body[i].end; g++) {
            const lwi_transfer_edge *e = &f->edge[f->give[g]];
            add_weight(e->rows, rows_at(s, e, e->from), e->W, -1, f->body[i].M);
        }
}

void lwi_transfer_find(lwi_system *s)
{
    const lwi_transfer *f = s->transfer;
    lwi_pool_for(s->pool, f->nedge, clear_weights, s);
    lwi_pool_for(s->pool, f->nbody, take_inertia, s);
    lwi_pool_for(s->pool, f->ncomponent, transfer_components, s);
    lwi_pool_for(s->pool, f->nbody - f->nborrower, pay, s);
}

// Whether a body has inertia in all directions.
static bool is_sound(const lwi_system *s, const double M[36])
{
    double A[36];
    in_units(s, M, A);
    return lwi_cholesky(6, A, SMALLEST) < 0;
}

static void invert_bodies(void *user, int first, int end)
{
    const lwi_system *s = user;
    for (int i = first; i < end; i++) {
        lwi_transfer_body *body = &s->transfer->body[i];
        double M[36];
        memcpy(M, body->M, sizeof M);
        const bool sound = !body->borrows || is_sound(s, M);
        if (!sound || !invert(6, M, 0, body->K)) memset(body->K, 0, sizeof body->K);
    }
}

void lwi_transfer_invert(lwi_system *s)
{
    lwi_transfer *f = s->transfer;
    lwi_pool_for(s->pool, f->nbody, invert_bodies, s);
    f->loose = -1;
    for (int i = 0; i < f->nbody && f->loose < 0; i++)
        if (f->body[i].K[0] == 0) f->loose = f->body[i].body;
}

void lwi_transfer_mobility(const lwi_system *s, int i, double share, double K[36])
{
    const lwi_transfer_body *body = &s->transfer->body[i];
    double M[36];
    inertia_of(s, body->body, M);
    for (int k = 0; k < 36; k++) M[k] += share * (body->M[k] - M[k]);
    if (!invert(6, M, 0, K)) memset(K, 0, 36 * sizeof *K);
}

// ------------------------------------------------------------------------------------- right sides

// rest [rows] := c - J base
static void rest_of(const lwi_system *s, const lwi_transfer_edge *e, const double (*base)[6],
                    const double *c, double *rest)
{
    const lwi_plan_edge *edge = &s->plan.graph.edge[e->edge];
    for (int r = 0; r < e->rows; r++) rest[r] = c[s->plan.row[e->edge] + r];
    for (int side = 0; side < 2 && base; side++) {
        const int i = side ? e->from : e->to;
        if (i < 0) continue;
        for (int r = 0; r < e->rows; r++)
            rest[r] -= v6_dot(rows_at(s, e, i)[r], base[edge->body[i]]);
    }
}

void lwi_transfer_load(const lwi_system *s, double scale, const double (*base)[6], const double *c,
                       double (*f)[6])
{
    double rest[6];
    for (int i = 0; i < s->transfer->nedge; i++) {
        const lwi_transfer_edge *e = &s->transfer->edge[i];
        double *on = f[s->plan.graph.edge[e->edge].body[e->to]];
        rest_of(s, e, base, c, rest);
        for (int r = 0; r < e->rows; r++)
            for (int k = 0; k < e->rows; k++)
                v6_axpy(on, scale * e->W[r * e->rows + k] * rest[k], rows_at(s, e, e->to)[r]);
    }
}

void lwi_transfer_multipliers(const lwi_system *s, double scale, const double (*base)[6],
                              const double (*x)[6], double *lambda)
{
    for (int i = 0; i < s->transfer->nedge; i++) {
        const lwi_transfer_edge *e = &s->transfer->edge[i];
        double *to = lambda + s->plan.row[e->edge], motion[6], rate[6];
        if (e->from < 0) continue;
        const int body = s->plan.graph.edge[e->edge].body[e->from];
        v6_copy(motion, x[body]);
        if (base) v6_axpy(motion, -1, base[body]);
        for (int k = 0; k < e->rows; k++) rate[k] = v6_dot(rows_at(s, e, e->from)[k], motion);
        for (int r = 0; r < e->rows; r++)
            for (int k = 0; k < e->rows; k++) to[r] += scale * e->W[r * e->rows + k] * rate[k];
    }
}

// --------------------------------------------------------------------------------------- creation

// The edges that can transfer, and those at each body.
typedef struct maker {
    lwi_system *s;
    lwi_transfer *f;
    lwi_arena *scratch;
    bool *borrows;   ///< [bodies of the elimination]
    bool *keeps;     ///< [nodes] those with inertia that do not borrow
    int *at, *first; ///< first [bodies + 1] in `at`: edges of f at each body
    int *queue, begin, end, room;
    bool *waits; ///< [bodies]
    int *root;   ///< [borrowers] of components
} maker;

static bool is_rotor(const lwi_system *s, int body)
{
    return body >= s->model->nnode && body < s->nbody - s->split.npart;
}

static double mass_of(const lwi_system *s, int body)
{
    return s->model->body[s->model->node[lwi_system_node_of(s, body)].body].mass;
}

static bool has_inertia(const lwi_system *s, int node)
{
    const double *K = s->mobility[node];
    return s->model->body[s->model->node[node].body].mass > 0 && K[0] + K[1] + K[2] > 0;
}

// Bodies of edge e without rotors; 0: it cannot transfer.
static int bodies_of(const lwi_system *s, int e, int *rows)
{
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    const int joint = e < s->nedge ? s->edge_joint[e] : -1;
    int n = 0;
    if (e < s->nedge && e >= s->nedge - s->nextra) return 0;
    while (n < edge->n && !is_rotor(s, lwi_plan_bodies(edge)[n])) n++;
    *rows = edge->rows - (s->nrotor && joint >= 0 ? s->model->joint[joint].nrotor : 0);
    return *rows > 0 && n <= 2 ? n : 0;
}

// Bodies that have no inertia, or very little by a neighbour's.
static void find_borrowers(maker *m)
{
    const lwi_system *s = m->s;
    int rows;
    for (int k = 0; k < s->model->nnode; k++) m->borrows[k] = !has_inertia(s, k);
    for (int e = 0; e < s->nedge; e++) {
        const int *body = s->plan.graph.edge[e].body;
        if (bodies_of(s, e, &rows) != 2) continue;
        const int a = lwi_system_node_of(s, body[0]), b = lwi_system_node_of(s, body[1]);
        const double of_a = mass_of(s, a), of_b = mass_of(s, b);
        if (of_a < TINY * of_b) m->borrows[a] = true;
        if (of_b < TINY * of_a) m->borrows[b] = true;
    }
    for (int k = 0; k < s->model->nnode; k++) m->borrows[k] &= !m->keeps[k];
    for (int b = s->nbody - s->split.npart; b < s->nbody; b++)
        m->borrows[b] = m->borrows[lwi_system_node_of(s, b)];
}

// Edges of borrowers; `to` is one.
static lw_status find_edges(maker *m, lwi_arena *arena)
{
    const lwi_system *s = m->s;
    lwi_transfer *f = m->f;
    for (int pass = 0; pass < 2; pass++) {
        int count = 0, rows;
        for (int e = 0; e < s->plan.graph.nedge; e++) {
            const int n = bodies_of(s, e, &rows), *body = s->plan.graph.edge[e].body;
            const int to = n > 0 && m->borrows[body[0]] ? 0 : 1;
            if (n == 0 || to >= n || !m->borrows[body[to]]) continue;
            if (pass)
                f->edge[count] = (lwi_transfer_edge){
                    .edge = e, .rows = rows, .to = to, .from = n > 1 ? 1 - to : -1};
            count++;
        }
        if (pass) break;
        f->nedge = count;
        f->edge = LWI_PUSH(arena, lwi_transfer_edge, count);
        f->step = LWI_PUSH(arena, lwi_transfer_step, 14 * count);
        if (!f->edge || !f->step) return LW_ERR_MEMORY;
    }
    return LW_OK;
}

static int end_of(const lwi_system *s, const lwi_transfer_edge *e, int side)
{
    const int i = side ? e->from : e->to;
    return i < 0 ? -1 : s->plan.graph.edge[e->edge].body[i];
}

// Lists the edges at each body.
static lw_status list_edges(maker *m)
{
    const lwi_system *s = m->s;
    const lwi_transfer *f = m->f;
    m->first = LWI_PUSH(m->scratch, int, s->nbody + 1);
    m->at = LWI_PUSH(m->scratch, int, 2 * f->nedge);
    if (!m->first || !m->at) return LW_ERR_MEMORY;
    for (int i = 0; i < 2 * f->nedge; i++) {
        const int body = end_of(s, &f->edge[i / 2], i % 2);
        if (body >= 0) m->first[body + 1]++;
    }
    for (int b = 0; b < s->nbody; b++) m->first[b + 1] += m->first[b];
    for (int i = 2 * f->nedge - 1; i >= 0; i--) {
        const int body = end_of(s, &f->edge[i / 2], i % 2);
        if (body >= 0) m->at[--m->first[body + 1]] = i / 2;
    }
    for (int b = 0; b < s->nbody; b++) m->first[b] = m->first[b + 1];
    m->first[s->nbody] = 0;
    for (int i = 0; i < 2 * f->nedge; i++)
        m->first[s->nbody] += end_of(s, &f->edge[i / 2], i % 2) >= 0;
    return LW_OK;
}

// Numbers the bodies: those that borrow, then those that give.
static lw_status number_bodies(maker *m, lwi_arena *arena)
{
    lwi_system *s = m->s;
    lwi_transfer *f = m->f;
    f->of = LWI_PUSH(arena, int, s->nbody);
    f->body = LWI_PUSH(arena, lwi_transfer_body, s->nbody);
    f->give = LWI_PUSH(arena, int, f->nedge);
    if (!f->of || !f->body || !f->give) return LW_ERR_MEMORY;
    int given = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int b = 0; b < s->nbody; b++) {
            if (pass == 0) f->of[b] = -1;
            if (is_rotor(s, b) || m->borrows[b] != (pass == 0)) continue;
            if (pass && m->first[b] == m->first[b + 1]) continue;
            f->of[b] = f->nbody;
            lwi_transfer_body *body = &f->body[f->nbody++];
            *body = (lwi_transfer_body){.body = b, .borrows = pass == 0, .first = given};
            for (int i = m->first[b]; i < m->first[b + 1] && pass; i++) f->give[given++] = m->at[i];
            body->end = given;
            body->gives = given - body->first;
        }
        if (pass == 0) f->nborrower = f->nbody;
    }
    return LW_OK;
}

static void add_step(maker *m, int edge, bool back)
{
    LWI_ASSERT(m->f->nstep < 14 * m->f->nedge);
    m->f->step[m->f->nstep++] = (lwi_transfer_step){edge, back};
}

// First what borrowers get from bodies with inertia and from the ground.
static void borrow_from_others(maker *m)
{
    lwi_system *s = m->s;
    const lwi_transfer *f = m->f;
    for (int i = 0; i < f->nedge; i++) {
        const lwi_transfer_edge *e = &f->edge[i];
        if (e->from >= 0 && body_at(s, e, e->from)->borrows) continue;
        add_step(m, i, false);
        transfer(s, &f->step[f->nstep - 1]);
    }
}

static void wait(maker *m, int borrower)
{
    if (m->waits[borrower]) return;
    m->waits[borrower] = true;
    m->queue[m->end] = borrower;
    m->end = (m->end + 1) % m->room;
}

// What a borrower gives to others, as long as they gain directions.
static void pass_on(maker *m, int giver, double share)
{
    lwi_system *s = m->s;
    lwi_transfer *f = m->f;
    const int body = f->body[giver].body;
    for (int i = m->first[body]; i < m->first[body + 1]; i++) {
        lwi_transfer_edge *e = &f->edge[m->at[i]];
        const bool back = end_of(s, e, 0) == body;
        const int to = back ? e->from : e->to;
        lwi_transfer_body *other = to < 0 ? NULL : body_at(s, e, to);
        double more[36], W[36];
        if (!other || !other->borrows) continue;
        const int before = count_directions(s, other->M, share);
        if (before == 6 || !weight_of(s, e, back, W)) continue;
        memcpy(more, other->M, sizeof more);
        add_weight(e->rows, rows_at(s, e, to), W, 1, more);
        if (count_directions(s, more, share) <= before || f->nstep == 14 * f->nedge) continue;
        add_step(m, m->at[i], back);
        transfer(s, &f->step[f->nstep - 1]);
        const int a = lwi_component_of(m->root, giver),
                  b = lwi_component_of(m->root, f->of[other->body]);
        m->root[a > b ? a : b] = a < b ? a : b;
        wait(m, f->of[other->body]);
    }
}

static lw_status borrow(maker *m)
{
    const lwi_transfer *f = m->f;
    static const double shares[] = {FIRM, COUNTS};
    m->room = f->nborrower + 1;
    m->queue = LWI_PUSH(m->scratch, int, m->room);
    m->waits = LWI_PUSH(m->scratch, bool, f->nborrower);
    m->root = LWI_PUSH(m->scratch, int, f->nborrower);
    if (!m->queue || !m->waits || !m->root) return LW_ERR_MEMORY;
    for (int i = 0; i < f->nborrower; i++) m->root[i] = i;
    for (int i = 0; i < f->nbody; i++) inertia_of(m->s, f->body[i].body, f->body[i].M);
    borrow_from_others(m);
    for (int k = 0; k < LWI_COUNT(shares); k++) {
        for (int i = 0; i < f->nborrower; i++) wait(m, i);
        while (m->begin != m->end) {
            const int giver = m->queue[m->begin];
            m->begin = (m->begin + 1) % m->room;
            m->waits[giver] = false;
            pass_on(m, giver, shares[k]);
        }
    }
    return LW_OK;
}

static int component_of(maker *m, const lwi_transfer_step *step)
{
    const lwi_transfer_edge *e = &m->f->edge[step->edge];
    return lwi_component_of(m->root, m->f->of[end_of(m->s, e, 0)]);
}

// Sorts the steps by components, which share no borrower.
static lw_status sort_steps(maker *m, lwi_arena *arena)
{
    lwi_transfer *f = m->f;
    lwi_transfer_step *sorted = LWI_PUSH(arena, lwi_transfer_step, f->nstep);
    int *number = LWI_PUSH(m->scratch, int, f->nborrower);
    f->first = LWI_PUSH(arena, int, f->nborrower + 1);
    if (!sorted || !number || !f->first) return LW_ERR_MEMORY;
    for (int i = 0; i < f->nborrower; i++)
        number[i] = lwi_component_of(m->root, i) == i ? f->ncomponent++ : -1;
    for (int i = 0; i < f->nstep; i++) f->first[number[component_of(m, &f->step[i])] + 1]++;
    for (int g = 0; g < f->ncomponent; g++) f->first[g + 1] += f->first[g];
    for (int i = f->nstep - 1; i >= 0; i--) {
        const int g = number[component_of(m, &f->step[i])];
        sorted[--f->first[g + 1]] = f->step[i];
    }
    for (int g = 0; g < f->ncomponent; g++) f->first[g] = f->first[g + 1];
    f->first[f->ncomponent] = f->nstep;
    f->step = sorted;
    return LW_OK;
}

// What the ground gives.
static void find_mean(const lwi_system *s, lwi_transfer *f)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_body *body = &s->model->body[s->model->node[k].body];
        f->mean[0] += body->mass / s->model->nnode;
        for (int i = 0; i < 3; i++) f->mean[1] += body->inertia[i] / (3 * s->model->nnode);
    }
    if (!(f->mean[0] > 0)) f->mean[0] = 1;
    if (!(f->mean[1] > 0)) f->mean[1] = f->mean[0] * s->length * s->length;
}

// Those that have inertia and do not get much more in all directions keep their own; returns whether there are any.
static bool release_light(maker *m)
{
    const lwi_system *s = m->s;
    bool any = false;
    for (int i = 0; i < m->f->nborrower; i++) {
        const lwi_transfer_body *body = &m->f->body[i];
        const int k = lwi_system_node_of(s, body->body);
        if (!has_inertia(s, k) || count_directions(s, body->M, FIRM) == 6) continue;
        m->keeps[k] = any = true;
    }
    return any;
}

// Borrowers, their edges and steps; s->transfer is NULL without.
static lw_status find_steps(maker *m, lwi_arena *arena)
{
    lwi_system *s = m->s;
    bool any = false;
    find_borrowers(m);
    for (int b = 0; b < s->nbody; b++) any |= m->borrows[b];
    s->transfer = NULL;
    if (!any) return LW_OK;
    lwi_system_rows(s, 0);
    m->f = s->transfer = LWI_PUSH(arena, lwi_transfer, 1);
    if (!m->f) return LW_ERR_MEMORY;
    m->begin = m->end = 0;
    find_mean(s, m->f);
    TRY(find_edges(m, arena));
    TRY(list_edges(m));
    TRY(number_bodies(m, arena));
    return borrow(m);
}

static lw_status make(maker *m, lwi_arena *arena)
{
    lwi_system *s = m->s;
    m->borrows = LWI_PUSH(m->scratch, bool, s->nbody);
    m->keeps = LWI_PUSH(m->scratch, bool, s->model->nnode);
    if (!m->borrows || !m->keeps) return LW_ERR_MEMORY;
    do {
        TRY(find_steps(m, arena));
    } while (s->transfer && release_light(m));
    if (!s->transfer) return LW_OK;
    TRY(sort_steps(m, arena));
    lwi_transfer_find(s);
    lwi_transfer_invert(s);
    return LW_OK;
}

lw_status lwi_transfer_create(lwi_system *s, lwi_arena *arena)
{
    lwi_arena scratch;
    if (s->extensions) return LW_OK;
    lwi_arena_init(&scratch, &arena->allocator);
    maker m = {.s = s, .scratch = &scratch};
    const lw_status status = make(&m, arena);
    lwi_arena_free(&scratch);
    return status;
}

// --------------------------------------------------------------------------------------- messages

// "joint 'a'", "joints 'a', 'b'" of a body, as far as they fit.
static void joints_of(const lw_model *model, int body, char *text, size_t size)
{
    int count = 0;
    for (int j = 0; j < model->njoint; j++)
        count += !model->joint[j].merged &&
                 (model->joint[j].body1 == body || model->joint[j].body2 == body);
    size_t used = (size_t)snprintf(text, size, "%s ",
                                   count == 0  ? "no joint"
                                   : count > 1 ? "joints"
                                               : "joint");
    const size_t head = used;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->merged || (joint->body1 != body && joint->body2 != body)) continue;
        const int more =
            snprintf(text + used, size - used, "%s'%.60s'", used > head ? ", " : "", joint->name);
        if (more < 0 || (size_t)more >= size - used) {
            text[used] = 0;
            return;
        }
        used += (size_t)more;
    }
}

// Is a joint of the body coupled to another, or has it a rotor?
static bool is_coupled(const lw_model *model, int body)
{
    bool any = false;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->merged || (joint->body1 != body && joint->body2 != body)) continue;
        any = any || joint->nrotor > 0;
        for (int c = 0; c < model->ncoupling; c++)
            any = any || model->coupling[c].joint == j || model->coupling[c].of == j;
    }
    return any;
}

lw_status lwi_transfer_fails(const lwi_system *s, double t, lw_status status, lw_error *error)
{
    const int b = s->model->node[lwi_system_node_of(s, s->transfer->loose)].body;
    const lwi_body *body = &s->model->body[b];
    char joints[300], when[40] = "";
    joints_of(s->model, b, joints, sizeof joints);
    if (t > 0) snprintf(when, sizeof when, ", t = %.9g s,", t);
    if (is_coupled(s->model, b))
        return lwi_fail(
            error, status,
            "body '%s'%s has no %s, and in some direction only a coupling or a rotor "
            "holds it (%s), which dca, hdca, index3 and rattle do not support; use `rcr` or "
            "`dense`",
            body->name, when, body->mass > 0 ? "inertia about some axis" : "mass", joints);
    return lwi_fail(error, status,
                    "body '%s'%s has no %s and is free to move without any (%s): nothing that "
                    "has some moves with it in all directions; give it some, or fix a joint",
                    body->name, when, body->mass > 0 ? "inertia about some axis" : "mass", joints);
}
