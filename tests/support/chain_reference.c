// chain_reference.c -- open chains in long double (chain_reference.h).
//
// World axes.  Of body k: velocity V = [v; w], v of the mass centre c; joint k, at the point O_k, exerts the wrench
// F = [f; n] about O_k on it, and -F on body k - 1.  With d = O_k - c_k and e = O_k+1 - c_k
//
//     m v' = f_k - f_k+1 + m g                                                                          (1)
//     J w' = n_k + d x f_k - n_k+1 - e x f_k+1 - w x J w                                                (2)
//     v'_k + w'_k x d_k + w_k x (w_k x d_k) = v'_k-1 + w'_k-1 x e_k-1 + w_k-1 x (w_k-1 x e_k-1)         (3)
//     hinge: b (w'_k - w'_k-1 - (w_k-1 x a) u) = 0 for two directions b across the axis a,  a n = 0     (4)
//     ball:  n = 0                                                                                      (5)
//
// are twelve rows and unknowns for each body, F_k before V'_k: a band with eleven entries on either side of the diagonal.
// It is eliminated with exchange of rows.  Momenta give the velocities by the same matrix, [P; V] in place of [F; V'],
// with a n = p, R'n = p in (4), (5) and nothing else on the right.
#include "support/chain_reference.h"

#include "model/joints/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 11, BLOCK = 12, WIDE = 2 * SIDE + 1, WRENCH = 0, MOTION = 6 };

typedef lwt_real real;

typedef struct body {
    real R[3][3], L[3][3];    // body axes; axes of the outer joint frame, columns
    real J[3][3], m;          // about the mass centre
    real d[3], e[3], b[2][3]; // (2), (4)
    real w[3], v[3], relative[3];
    bool ball;
    int iv;
} body;

struct lwt_chain_reference {
    const lw_model *model;
    int n;
    body *body;          // [n]
    real (*upper)[WIDE]; // [12 n] rows of the eliminated matrix, from the diagonal on
    real *x, *right;     // [12 n]
    real residual;
};

// ------------------------------------------------------------------------------------------ vectors

static real dot(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
// component i of a x b
static real crossed(const real *a, const real *b, int i)
{
    return a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}
static void cross(real *c, const real *a, const real *b)
{
    for (int i = 0; i < 3; i++) c[i] = crossed(a, b, i);
}
static void times(real *y, const real A[3][3], const real *x)
{
    for (int i = 0; i < 3; i++) y[i] = dot(A[i], x);
}
static void multiply(real C[3][3], const real A[3][3], const real B[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}
static void transpose(real T[3][3], const real A[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) T[i][j] = A[j][i];
}
static void axis(real *a, const real A[3][3], int column)
{
    for (int i = 0; i < 3; i++) a[i] = A[i][column];
}

// R [9] of doubles is orthogonal to their round-off only, which would add up along the chain: Gram-Schmidt by columns.
static void orthogonal(real T[3][3], const double *R)
{
    real column[3][3];
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++) column[c][i] = R[3 * i + c];
        for (int k = 0; k < c; k++) {
            const real s = dot(column[c], column[k]);
            for (int i = 0; i < 3; i++) column[c][i] -= s * column[k][i];
        }
        const real size = sqrtl(dot(column[c], column[c]));
        for (int i = 0; i < 3; i++) T[i][c] = column[c][i] /= size;
    }
}

static void about_z(real T[3][3], real angle)
{
    const real c = cosl(angle), s = sinl(angle), R[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
    memcpy(T, R, sizeof R);
}

static void quaternion(real T[3][3], const real *q)
{
    const real s = 2 / (q[0] * q[0] + dot(q + 1, q + 1));
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const real *v = q + 1;
        T[i][i] = 1 - s * (v[j] * v[j] + v[k] * v[k]);
        T[i][j] = s * (v[i] * v[j] - q[0] * v[k]);
        T[i][k] = s * (v[i] * v[k] + q[0] * v[j]);
    }
}

// ------------------------------------------------------------------------------------------ create

static bool is_chain(const lw_model *model)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const bool known =
            node->type == &lwi_joint_type_REVOLUTE || node->type == &lwi_joint_type_SPHERICAL;
        if (!known || node->parent != k - 1 || node->joint < 0 || node->reversed || node->driven)
            return false;
    }
    return model->nforce == 0 && model->nloop == 0;
}

// Two directions across the axis a.
static void across(real b[2][3], const real *a)
{
    int smallest = 0;
    for (int i = 1; i < 3; i++)
        if (fabsl(a[i]) < fabsl(a[smallest])) smallest = i;
    const real unit[3] = {smallest == 0, smallest == 1, smallest == 2};
    cross(b[0], a, unit);
    const real size = sqrtl(dot(b[0], b[0]));
    for (int i = 0; i < 3; i++) b[0][i] /= size;
    cross(b[1], a, b[0]);
}

// Pose of body k from that of the one before it.
static void place(lwt_chain_reference *chain, int k, const real *q)
{
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    static const real one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const lwi_node *node = &chain->model->node[k];
    const lwi_joint *joint = &chain->model->joint[node->joint];
    const lwi_body *from = &chain->model->body[node->body];
    body *b = &chain->body[k], *before = k ? b - 1 : NULL;
    real F1[3][3], F2[3][3], turn[3][3], A[3][3], r[3];
    orthogonal(F1, joint->R1);
    orthogonal(F2, joint->R2);
    b->ball = node->type == &lwi_joint_type_SPHERICAL;
    b->iv = node->iv;
    b->m = from->mass;
    if (b->ball)
        quaternion(turn, q + node->iq);
    else
        about_z(turn, q[node->iq]);
    multiply(A, before ? before->R : one, F1);
    multiply(b->L, A, turn);
    transpose(A, F2);
    multiply(b->R, b->L, A);
    for (int i = 0; i < 3; i++) r[i] = joint->r2[i];
    times(b->d, b->R, r);
    for (int i = 0; i < 3; i++) r[i] = joint->r1[i];
    if (before) times(before->e, before->R, r);
    real own[3][3], T[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) own[i][j] = from->inertia[at[i][j]];
    multiply(A, b->R, own);
    transpose(T, b->R);
    multiply(b->J, A, T);
    axis(r, b->L, 2);
    across(b->b, r);
}

lwt_chain_reference *lwt_chain_reference_create(const lw_model *model, const lwt_real *q)
{
    const size_t n = (size_t)model->nnode, rows = BLOCK * n;
    lwt_chain_reference *chain = is_chain(model) ? calloc(1, sizeof *chain) : NULL;
    if (!chain) return NULL;
    chain->model = model;
    chain->n = model->nnode;
    chain->body = calloc(n, sizeof *chain->body);
    chain->upper = calloc(rows, sizeof *chain->upper);
    chain->x = calloc(2 * rows, sizeof *chain->x);
    if (!chain->body || !chain->upper || !chain->x) {
        lwt_chain_reference_destroy(chain);
        return NULL;
    }
    chain->right = chain->x + rows;
    for (int k = 0; k < chain->n; k++) place(chain, k, q);
    return chain;
}

void lwt_chain_reference_destroy(lwt_chain_reference *chain)
{
    if (!chain) return;
    free(chain->body);
    free(chain->upper);
    free(chain->x);
    free(chain);
}

// -------------------------------------------------------------------------------------------- rows
//
// A row has its entries relative to its block's first unknown, from -SIDE on.

// row[at ..] += s (component i of x -> x), and of x -> r x x
static void add_unit(real *row, int at, int i, real s)
{
    row[SIDE + at + i] += s;
}
static void add_crossed(real *row, int at, const real *r, int i, real s)
{
    row[SIDE + at + (i + 2) % 3] += s * r[(i + 1) % 3];
    row[SIDE + at + (i + 1) % 3] -= s * r[(i + 2) % 3];
}

// Rows (3)-(5) of joint k, i < 6.
static void joint_row(const lwt_chain_reference *chain, int k, int i, real *row)
{
    const body *b = &chain->body[k], *before = k ? b - 1 : NULL;
    if (i < 3) { // w x d = -d x w
        add_unit(row, MOTION, i, 1);
        add_crossed(row, MOTION + 3, b->d, i, -1);
        if (!before) return;
        add_unit(row, MOTION - BLOCK, i, -1);
        add_crossed(row, MOTION - BLOCK + 3, before->e, i, 1);
    } else if (b->ball) {
        for (int c = 0; c < 3; c++) add_unit(row, WRENCH + 3, c, b->L[c][i - 3]);
    } else if (i < 5) {
        for (int c = 0; c < 3; c++) add_unit(row, MOTION + 3, c, b->b[i - 3][c]);
        for (int c = 0; before && c < 3; c++) add_unit(row, MOTION - BLOCK + 3, c, -b->b[i - 3][c]);
    } else {
        for (int c = 0; c < 3; c++) add_unit(row, WRENCH + 3, c, b->L[c][2]);
    }
}

// Rows (1), (2) of body k, i < 6, by its mass or trace of inertia.
static void body_row(const lwt_chain_reference *chain, int k, int i, real *row)
{
    const body *b = &chain->body[k];
    const bool last = k == chain->n - 1;
    if (i < 3) {
        add_unit(row, MOTION, i, b->m);
        add_unit(row, WRENCH, i, -1);
        if (!last) add_unit(row, WRENCH + BLOCK, i, 1);
        return;
    }
    i -= 3;
    for (int c = 0; c < 3; c++) add_unit(row, MOTION + 3, c, b->J[i][c]);
    add_unit(row, WRENCH + 3, i, -1);
    add_crossed(row, WRENCH, b->d, i, -1);
    if (last) return;
    add_unit(row, WRENCH + BLOCK + 3, i, 1);
    add_crossed(row, WRENCH + BLOCK, b->e, i, 1);
}

// Row r of the whole, its entries from -SIDE of the diagonal on; returns its right side.
static real matrix_row(const lwt_chain_reference *chain, int r, real *band)
{
    const int k = r / BLOCK, i = r % BLOCK;
    real row[SIDE + 2 * BLOCK + SIDE] = {0};
    if (i < 6)
        joint_row(chain, k, i, row);
    else
        body_row(chain, k, i - 6, row);
    memcpy(band, row + i, WIDE * sizeof *band);
    return chain->right[r];
}

// ----------------------------------------------------------------------------------------- solution

// The rows that have entries at the diagonal, of which the first is next; entries from the diagonal on.
typedef struct window {
    real row[SIDE + 1][WIDE], right[SIDE + 1], scale[SIDE + 1];
} window;

static void take(const lwt_chain_reference *chain, window *w, int at, int r, int column)
{
    real band[WIDE] = {0};
    const int skip = SIDE + column - r; // entries before the column are zero
    w->right[at] = w->scale[at] = 0;
    memset(w->row[at], 0, sizeof w->row[at]);
    if (r >= BLOCK * chain->n) return;
    w->right[at] = matrix_row(chain, r, band);
    memcpy(w->row[at], band + skip, (size_t)(WIDE - skip) * sizeof *band);
    for (int i = 0; i < WIDE; i++) w->scale[at] = fmaxl(w->scale[at], fabsl(band[i]));
}

// The row with the largest entry at the diagonal, by its own largest entry, becomes the first.
static void exchange(window *w)
{
    int best = 0;
    for (int i = 1; i <= SIDE; i++)
        if (fabsl(w->row[i][0]) * w->scale[best] > fabsl(w->row[best][0]) * w->scale[i]) best = i;
    if (best == 0) return;
    real row[WIDE];
    memcpy(row, w->row[0], sizeof row);
    memcpy(w->row[0], w->row[best], sizeof row);
    memcpy(w->row[best], row, sizeof row);
    const real right = w->right[0], scale = w->scale[0];
    w->right[0] = w->right[best], w->scale[0] = w->scale[best];
    w->right[best] = right, w->scale[best] = scale;
}

// Subtracts the first row, of which `first` is a copy, from the others and removes it; they then begin at the next column.
static void eliminate(window *w, const real *first)
{
    const real right = w->right[0];
    for (int i = 1; i <= SIDE; i++) {
        const real *row = w->row[i], f = row[0] / first[0];
        real *to = w->row[i - 1];
        for (int c = 1; c < WIDE; c++) to[c - 1] = f == 0 ? row[c] : row[c] - f * first[c];
        to[WIDE - 1] = 0;
        w->right[i - 1] = w->right[i] - f * right;
        w->scale[i - 1] = w->scale[i];
    }
}

// Of row r of the solution, by its largest term.
static real residual(const lwt_chain_reference *chain, int r)
{
    real band[WIDE] = {0}, sum = -matrix_row(chain, r, band), largest = fabsl(sum);
    for (int i = 0; i < WIDE; i++) {
        if (band[i] == 0) continue; // beyond the ends too
        const real term = band[i] * chain->x[r - SIDE + i];
        sum += term;
        largest = fmaxl(largest, fabsl(term));
    }
    return largest > 0 ? fabsl(sum) / largest : fabsl(sum);
}

static void solve(lwt_chain_reference *chain)
{
    const int rows = BLOCK * chain->n;
    real *x = chain->x;
    window w;
    for (int i = 0; i <= SIDE; i++) take(chain, &w, i, i, 0);
    for (int c = 0; c < rows; c++) {
        exchange(&w);
        memcpy(chain->upper[c], w.row[0], sizeof w.row[0]);
        x[c] = w.right[0];
        eliminate(&w, chain->upper[c]);
        take(chain, &w, SIDE, c + 1 + SIDE, c + 1);
    }
    for (int c = rows - 1; c >= 0; c--) {
        for (int i = 1; i < WIDE && c + i < rows; i++) x[c] -= chain->upper[c][i] * x[c + i];
        x[c] /= chain->upper[c][0];
    }
    chain->residual = 0;
    for (int r = 0; r < rows; r++) chain->residual = fmaxl(chain->residual, residual(chain, r));
}

// ----------------------------------------------------------------------------------- right sides, results

static const real *motion_of(const lwt_chain_reference *chain, int k)
{
    return chain->x + BLOCK * k + MOTION;
}

static real *right_of(lwt_chain_reference *chain, int k)
{
    return chain->right + BLOCK * k;
}

// Velocities of all bodies at the joint speeds u.
static void move(lwt_chain_reference *chain, const real *u)
{
    static const real zero[3] = {0};
    for (int k = 0; k < chain->n; k++) {
        body *b = &chain->body[k], *before = k ? b - 1 : NULL;
        const real *w = before ? before->w : zero;
        for (int i = 0; i < 3; i++)
            b->relative[i] = b->ball ? dot(b->L[i], u + b->iv) : b->L[i][2] * u[b->iv];
        for (int i = 0; i < 3; i++) b->w[i] = w[i] + b->relative[i];
        for (int i = 0; i < 3; i++)
            b->v[i] =
                (before ? before->v[i] + crossed(w, before->e, i) : 0) - crossed(b->w, b->d, i);
    }
}

// Speeds, or their rates, of joint k from motions x relative to the body before it.
static void joint_speeds(const body *b, const real *x, real *u)
{
    for (int j = 0; j < (b->ball ? 3 : 1); j++) {
        real a[3];
        axis(a, b->L, b->ball ? j : 2);
        u[b->iv + j] = dot(a, x);
    }
}

// w'_k - w'_k-1, or w_k - w_k-1, of the solution
static void relative_turning(const lwt_chain_reference *chain, int k, real *x)
{
    for (int i = 0; i < 3; i++) {
        x[i] = motion_of(chain, k)[3 + i];
        if (k) x[i] -= motion_of(chain, k - 1)[3 + i];
    }
}

// Momentum of the bodies from k on, [f; n] about O_k; weights h, m of the same.
typedef struct beyond {
    real f[3], n[3], h[3], m;
} beyond;

static void add_body(beyond *sum, const body *b)
{
    real arm[3];
    for (int i = 0; i < 3; i++) arm[i] = b->e[i] - b->d[i]; // O_k+1 - O_k
    for (int i = 0; i < 3; i++) {
        sum->n[i] += crossed(arm, sum->f, i) + dot(b->J[i], b->w) - b->m * crossed(b->d, b->v, i);
        sum->h[i] += sum->m * arm[i] - b->m * b->d[i];
    }
    for (int i = 0; i < 3; i++) sum->f[i] += b->m * b->v[i];
    sum->m += b->m;
}

void lwt_chain_reference_momenta(lwt_chain_reference *chain, const lwt_real *u, lwt_real *p)
{
    beyond sum = {0};
    move(chain, u);
    for (int k = chain->n - 1; k >= 0; k--) {
        add_body(&sum, &chain->body[k]);
        joint_speeds(&chain->body[k], sum.n, p);
    }
}

// p = a n:  a' = w x a,  n' = h x g - v_O x f,  v_O of the joint's point.
static void momentum_rates(const lwt_chain_reference *chain, real *pdot)
{
    beyond sum = {0};
    real g[3], v[3], x[3];
    for (int i = 0; i < 3; i++) g[i] = chain->model->gravity[i];
    for (int k = chain->n - 1; k >= 0; k--) {
        const body *b = &chain->body[k];
        add_body(&sum, b);
        for (int i = 0; i < 3; i++) v[i] = b->v[i] + crossed(b->w, b->d, i);
        for (int i = 0; i < 3; i++)
            x[i] = crossed(sum.n, b->w, i) + crossed(sum.f, v, i) + crossed(sum.h, g, i);
        joint_speeds(b, x, pdot);
    }
}

void lwt_chain_reference_speeds(lwt_chain_reference *chain, const lwt_real *p, lwt_real *u,
                                lwt_real *pdot)
{
    memset(chain->right, 0, (size_t)(BLOCK * chain->n) * sizeof *chain->right);
    for (int k = 0; k < chain->n; k++) {
        const body *b = &chain->body[k];
        if (b->ball)
            memcpy(right_of(chain, k) + 3, p + b->iv, 3 * sizeof *p);
        else
            right_of(chain, k)[5] = p[b->iv];
    }
    solve(chain);
    for (int k = 0; k < chain->n; k++) {
        body *b = &chain->body[k];
        real x[3];
        memcpy(b->v, motion_of(chain, k), sizeof b->v);
        memcpy(b->w, motion_of(chain, k) + 3, sizeof b->w);
        relative_turning(chain, k, x);
        joint_speeds(b, x, u);
    }
    if (pdot) momentum_rates(chain, pdot);
}

// w x (w x r)
static void centripetal(real *x, const real *w, const real *r)
{
    real y[3];
    cross(y, w, r);
    cross(x, w, y);
}

// Right sides of (1)-(5).
static void load(lwt_chain_reference *chain, int k)
{
    const body *b = &chain->body[k], *before = k ? b - 1 : NULL;
    real *to = right_of(chain, k), x[3], y[3] = {0}, Jw[3];
    centripetal(x, b->w, b->d);
    if (before) centripetal(y, before->w, before->e);
    for (int i = 0; i < 3; i++) to[i] = y[i] - x[i];
    if (before) cross(x, before->w, b->relative);
    for (int i = 0; i < 2; i++) to[3 + i] = b->ball || !before ? 0 : dot(b->b[i], x);
    to[5] = 0;
    times(Jw, b->J, b->w);
    for (int i = 0; i < 3; i++) {
        to[6 + i] = b->m * chain->model->gravity[i];
        to[9 + i] = -crossed(b->w, Jw, i);
    }
}

void lwt_chain_reference_accelerations(lwt_chain_reference *chain, const lwt_real *u,
                                       lwt_real *udot, lwt_real (*force)[3])
{
    move(chain, u);
    for (int k = 0; k < chain->n; k++) load(chain, k);
    solve(chain);
    for (int k = 0; k < chain->n; k++) {
        const body *b = &chain->body[k];
        real x[3];
        relative_turning(chain, k, x);
        if (b->ball) // the axes are those of the outer body
            for (int i = 0; i < 3; i++) x[i] -= crossed(b->w, b->relative, i);
        joint_speeds(b, x, udot);
        if (force) memcpy(force[k], chain->x + BLOCK * k + WRENCH, sizeof force[k]);
    }
}

lwt_real lwt_chain_reference_residual(const lwt_chain_reference *chain)
{
    return chain->residual;
}
