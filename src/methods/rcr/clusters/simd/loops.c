// loops.c -- the rows of loops at a state: factors of W_y by reflectors, what each effort and each self-stress puts on the
// closing joint; a lane is a loop (methods/rcr/clusters/reactions.c has the equations).
//
// Rows: forces along the axes of the world, for a hinge torques about the axes x, y of F2, for a universal joint one about
// the normal of its axes.  Others are zero.
//
// Input: loops with equal numbers of rows, coordinates and steps, poses of nodes and bodies, S.  Output: lwi_loop_state.
// Cost: constant per loop of a shape.
//
// Compiled once per ISA build (base/cpu.h) with WIDTH = WIDEST.  Defines lwi_loop_kernels_<ISA>.
#include "methods/rcr/clusters/loops.h"

#include "base/simd/sums.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#define WIDTH WIDEST
#include "base/simd/lane.inl"
#define ZERO NAME(splat)(0)
#include "base/simd/transpose.inl"
#include "spatial/motion.h"
#if WIDEST > 1
#include "spatial/rows.inl"
#endif

enum { ROWS = LWI_LOOP_ROWS, NULLS = LWI_LOOP_NULLS };

_Static_assert(offsetof(lwi_joint, r2) - offsetof(lwi_joint, R2) == 9 * sizeof(double),
               "the frame F2 of a joint is consecutive");

static INLINE real dot3(const real *a, const real *b)
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}
static INLINE real dot_rows(const real *a, const real *b)
{
    real sum = dot3(a, b);
    MORE(sum, a[3], b[3]);
    MORE(sum, a[4], b[4]);
    return sum;
}
// c = a x b
static INLINE void cross3(real *c, const real *a, const real *b)
{
    const real x = DIFF(a[1], b[2], a[2], b[1]), y = DIFF(a[2], b[0], a[0], b[2]);
    c[2] = DIFF(a[0], b[1], a[1], b[0]);
    c[0] = x, c[1] = y;
}
// c = R a
static INLINE void turn3(real *c, const real *R, const real *a)
{
    const real x = dot3(R, a), y = dot3(R + 3, a), z = dot3(R + 6, a);
    c[0] = x, c[1] = y, c[2] = z;
}

/** The frame of the closing joint. */
typedef struct frame {
    real end[3], x[3], y[3];
} frame;

// z1 x x2 of universal joints, from the axes R of body 2 and F2.
static INLINE void load_normal(const lwi_loop_batch *b, const real *R, const real *F2, real *n)
{
    const double *body_R[WIDTH], *own[WIDTH];
    real R1[9], F1[9], z[3], x[3];
    for (int l = 0; l < WIDTH; l++) {
        const lwi_joint *joint = &b->model->joint[b->joint[l]];
        body_R[l] = b->tree->body_R[joint->body1];
        own[l] = joint->R1;
    }
    from_rows(body_R, 9, R1);
    from_rows(own, 9, F1);
    turn3(z, R1, (const real[3]){F1[2], F1[5], F1[8]});
    turn3(x, R, (const real[3]){F2[0], F2[3], F2[6]});
    cross3(n, z, x);
}

static INLINE void load_frame(const lwi_loop_batch *b, frame *f)
{
    const double *body_R[WIDTH], *body_r[WIDTH], *own[WIDTH];
    double *end[WIDTH];
    real R[9], r[3], F2[12];
    for (int l = 0; l < WIDTH; l++) {
        end[l] = b->state[l]->end;
        const lwi_joint *joint = &b->model->joint[b->joint[l]];
        body_R[l] = b->tree->body_R[joint->body2];
        body_r[l] = b->tree->body_r[joint->body2];
        own[l] = joint->R2; // r2 is behind it
    }
    from_rows(body_R, 9, R);
    from_rows(body_r, 3, r);
    from_rows(own, 12, F2);
    turn3(f->end, R, F2 + 9);
    for (int i = 0; i < 3; i++) {
        f->end[i] += r[i];
        f->x[i] = f->y[i] = ZERO;
    }
    to_rows(f->end, 3, end);
    if (b->rows == 3) return;
    if (b->rows == 4) {
        load_normal(b, R, F2, f->x);
        return;
    }
    const real x[3] = {F2[0], F2[3], F2[6]}, y[3] = {F2[1], F2[4], F2[7]};
    turn3(f->x, R, x);
    turn3(f->y, R, y);
}

/** Motion of a unit of a coordinate, world axes, about the origin r of its node. */
typedef struct motion {
    real v[3], turn[3], r[3], side;
} motion;

static INLINE void load_motion(const lwi_loop_batch *b, int i, motion *m)
{
    const double *from_R[WIDTH], *from_S[WIDTH], *from_r[WIDTH];
    double side[WIDTH];
    real R[9], S[6];
    for (int l = 0; l < WIDTH; l++) {
        const lwi_loop_coordinate *c = &b->coordinate[l][i];
        from_R[l] = b->tree->R[c->node];
        from_r[l] = b->tree->r[c->node];
        from_S[l] = b->tree->link[c->node].S[c->column];
        side[l] = (double)c->side;
    }
    from_rows(from_R, 9, R);
    from_rows(from_S, 6, S);
    from_rows(from_r, 3, m->r);
    turn3(m->v, R, S);
    turn3(m->turn, R, S + 3);
    memcpy(&m->side, side, sizeof side);
}

// Velocity of the body at a point.
static INLINE void velocity(const motion *m, const real *point, real *v)
{
    real arm[3];
    for (int i = 0; i < 3; i++) arm[i] = point[i] - m->r[i];
    cross3(v, m->turn, arm);
    for (int i = 0; i < 3; i++) v[i] += m->v[i];
}

static INLINE void column_of(const frame *f, const motion *m, real w[ROWS])
{
    velocity(m, f->end, w);
    w[3] = dot3(m->turn, f->x), w[4] = dot3(m->turn, f->y);
    for (int i = 0; i < ROWS; i++) w[i] *= m->side;
}

static INLINE void load_point(const lwi_loop_batch *b, const int *node, real *point)
{
    const double *from[WIDTH];
    for (int l = 0; l < WIDTH; l++) from[l] = b->point[node[l]];
    from_rows(from, 3, point);
}

// The effort of coordinate i in a reaction about the point of its joint.
static INLINE void put_effort(const lwi_loop_batch *b, int i, const motion *m)
{
    int node[WIDTH];
    double *to[WIDTH], sign[WIDTH];
    real point[3], effort[6], signs;
    for (int l = 0; l < WIDTH; l++) {
        node[l] = b->coordinate[l][i].node;
        sign[l] = (double)b->coordinate[l][i].sign;
        to[l] = b->state[l]->effort[i];
    }
    memcpy(&signs, sign, sizeof sign);
    load_point(b, node, point);
    velocity(m, point, effort);
    for (int k = 0; k < 3; k++) effort[k] *= signs, effort[3 + k] = signs * m->turn[k];
    to_rows(effort, 6, to);
}

/** W_y = Q R by reflectors I - b u u'. */
typedef struct factors {
    real u[ROWS][ROWS], b[ROWS];
    real R[ROWS][ROWS], inverse[ROWS]; ///< [column][row] above the diagonal; one by its diagonal
} factors;

// x -= b u u'x
static INLINE void reflect(const factors *f, int c, real *x)
{
    const real sum = dot_rows(f->u[c], x) * f->b[c];
    for (int i = 0; i < ROWS; i++) LESS(x[i], sum, f->u[c][i]);
}

// x := Q x
static INLINE void turn_back(const factors *f, int m, real *x)
{
    for (int c = m - 1; c >= 0; c--) reflect(f, c, x);
}

// From the columns in u.  Returns the lanes in which they are independent.
static INLINE mask factor(factors *f, int m)
{
    mask valid = NAME(at_most)(ZERO, ZERO);
    for (int c = 0; c < m; c++) {
        real *u = f->u[c];
        for (int i = 0; i < c; i++) f->R[c][i] = u[i], u[i] = ZERO;
        const real square = dot_rows(u, u), size = NAME(root)(square);
        valid &= ~NAME(at_most)(size, ZERO) & NAME(at_most)(size, NAME(splat)(DBL_MAX));
        const real own = NAME(select)(NAME(at_most)(u[c], ZERO), size, -size);
        f->inverse[c] = NAME(splat)(1) / own;
        f->b[c] = NAME(splat)(1) / NMAD(u[c], own, square);
        u[c] -= own;
        for (int k = c + 1; k < m; k++) reflect(f, c, f->u[k]);
    }
    return valid;
}

static INLINE void wrench_of(const frame *f, const real *x, real w[6])
{
    for (int i = 0; i < 3; i++) {
        w[i] = x[i];
        w[3 + i] = SUM2(x[3], f->x[i], x[4], f->y[i]);
    }
}

// Q R^-T of every unit effort.
static INLINE void put_wrenches(const lwi_loop_batch *b, const frame *f, const factors *by, int m)
{
    for (int i = 0; i < m; i++) {
        double *to[WIDTH];
        real x[ROWS], w[6];
        for (int k = 0; k < ROWS; k++) x[k] = ZERO;
        x[i] = by->inverse[i];
        for (int k = i + 1; k < m; k++) {
            for (int j = i; j < k; j++) LESS(x[k], by->R[k][j], x[j]);
            x[k] *= by->inverse[k];
        }
        turn_back(by, m, x);
        wrench_of(f, x, w);
        for (int l = 0; l < WIDTH; l++) to[l] = b->state[l]->wrench[i];
        to_rows(w, 6, to);
    }
}

// N, its torques about the points of the steps, products of both.
static INLINE void put_null(const lwi_loop_batch *b, const frame *f, const factors *by, int m)
{
    const int n = b->rows - m;
    double *to[WIDTH];
    real N[NULLS][6], product[NULLS * NULLS];
    for (int i = 0; i < NULLS * NULLS; i++) product[i] = ZERO;
    for (int i = 0; i < NULLS; i++) product[4 * i] = NAME(splat)(1); // N'N, or of no self-stress
    for (int i = 0; i < n; i++) {
        real x[ROWS];
        for (int k = 0; k < ROWS; k++) x[k] = ZERO;
        x[m + i] = NAME(splat)(1);
        turn_back(by, m, x);
        wrench_of(f, x, N[i]);
        for (int l = 0; l < WIDTH; l++) to[l] = b->state[l]->null[i];
        to_rows(N[i], 6, to);
    }
    for (int s = 0; s < b->steps; s++) {
        int node[WIDTH];
        real point[3], torque[NULLS][3], arm[3];
        for (int l = 0; l < WIDTH; l++) node[l] = b->step[l][s].node;
        load_point(b, node, point);
        for (int k = 0; k < 3; k++) arm[k] = f->end[k] - point[k];
        for (int i = 0; i < n; i++) {
            cross3(torque[i], arm, N[i]);
            for (int k = 0; k < 3; k++) torque[i][k] += N[i][3 + k];
            for (int l = 0; l < WIDTH; l++) to[l] = b->torque[l][s][i];
            to_rows(torque[i], 3, to);
            for (int k = 0; k <= i; k++)
                product[3 * i + k] += dot3(N[i], N[k]) + dot3(torque[i], torque[k]);
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) product[3 * k + i] = product[3 * i + k];
    for (int l = 0; l < WIDTH; l++) to[l] = b->state[l]->product;
    to_rows(product, NULLS * NULLS, to);
}

// Lanes in which the motions of all other coordinates are in the range of W_y.
static INLINE mask others_follow(const lwi_loop_batch *b, const frame *f, const factors *by, int m)
{
    mask valid = NAME(at_most)(ZERO, ZERO);
    for (int i = m; i < b->coordinates; i++) {
        motion of;
        real w[ROWS], outside = ZERO;
        load_motion(b, i, &of);
        column_of(f, &of, w);
        const real size = dot_rows(w, w);
        for (int c = 0; c < m; c++) reflect(by, c, w);
        for (int k = m; k < ROWS; k++) MORE(outside, w[k], w[k]);
        valid &= NAME(at_most)(outside, NAME(splat)(LWI_LOOP_OUTSIDE * LWI_LOOP_OUTSIDE) * size);
    }
    return valid;
}

// What takes the loops out of planes across the axes of the world: axes, motions of dependent coordinates.
static INLINE void add_across(lwi_loop_batch *b, const frame *f, const factors *by, int m)
{
    for (int axis = 0; axis < 3; axis++) {
        double lane[WIDTH];
        real sum = NAME(absolute)(f->x[axis]) + NAME(absolute)(f->y[axis]);
        for (int i = 0; i < m; i++)
            sum += NAME(absolute)(by->u[i][axis]) +
                   (NAME(absolute)(by->u[i][3]) + NAME(absolute)(by->u[i][4]));
        memcpy(lane, &sum, sizeof lane);
        for (int l = 0; l < WIDTH; l++) b->across[axis] += lane[l];
    }
}

// W_y in u, and efforts of its coordinates.
static INLINE void put_columns(const lwi_loop_batch *b, const frame *f, factors *by, int m)
{
    for (int i = 0; i < m; i++) {
        motion of;
        load_motion(b, i, &of);
        put_effort(b, i, &of);
        column_of(f, &of, by->u[i]);
    }
}

static INLINE bool solve_of(lwi_loop_batch *b, int m)
{
    enum { ALL = (1 << WIDTH) - 1 };
    frame f;
    factors by;
    load_frame(b, &f);
    put_columns(b, &f, &by, m);
    add_across(b, &f, &by, m);
    const mask valid = factor(&by, m);
    put_wrenches(b, &f, &by, m);
    if (b->null) {
        if (b->rows > m && NAME(lanes_of)(others_follow(b, &f, &by, m)) != ALL) b->follow = false;
        put_null(b, &f, &by, m);
    }
    return NAME(lanes_of)(valid) == ALL;
}

static bool solve(lwi_loop_batch *b)
{
    switch (b->dependent) { // frequent numbers as constants
    case 2:
        return solve_of(b, 2);
    case 3:
        return solve_of(b, 3);
    default:
        return solve_of(b, b->dependent);
    }
}

// ---------------------------------------------------------------------- one loop after the other

#if WIDEST > 1

static void close_loop(const lw_model *model, const lwi_loop_state *state,
                       const lwi_loop_coordinate *y, int n, const double (*reaction)[6],
                       double w[6])
{
    row lin = all(0), ang = all(0);
    for (int i = 0; i < n; i++) {
        const row effort = all(v6_dot(state->effort[i], reaction[model->node[y[i].node].joint]));
        lin += effort * load_four(state->wrench[i]);
        ang += effort * load_three(state->wrench[i] + 3);
    }
    store_four(w, lin);
    store_three(w + 3, ang);
}

static void pass_on(const lwi_loop_step *step, int n, const double w[6], const double end[3],
                    const double (*point)[3], double (*reaction)[6])
{
    const row lin = load_four(w), ang = load_three(w + 3), at = load_three(end);
    for (int s = 0; s < n; s++) {
        double *F = reaction[step[s].joint];
        const row share = all(step[s].share), arm = at - load_three(point[step[s].node]);
        const row torque = load_three(F + 3) + share * (ang + row_cross(arm, lin));
        store_four(F, load_four(F) + share * lin);
        store_three(F + 3, torque);
    }
}

static void stress(const lwi_loop_state *state, int n, const double *z, double w[6],
                   double closing[6])
{
    row lin = all(0), ang = all(0);
    for (int i = 0; i < n; i++) {
        lin += all(z[i]) * load_four(state->null[i]);
        ang += all(z[i]) * load_three(state->null[i] + 3);
    }
    const row sum = load_three(closing + 3) + ang;
    store_four(w, lin);
    store_three(w + 3, ang);
    store_four(closing, load_four(closing) + lin);
    store_three(closing + 3, sum);
}

static INLINE double total(row a)
{
    return a[0] + a[1] + a[2];
}

static void right_side(const lwi_loop_step *step, int steps, const lwi_loop_state *state,
                       const double (*torque)[NULLS][3], int n, const double closing[6],
                       const double (*reaction)[6], double *z)
{
    row sum[NULLS];
    for (int i = 0; i < n; i++)
        sum[i] = load_four(state->null[i]) * load_four(closing) +
                 load_three(state->null[i] + 3) * load_three(closing + 3);
    for (int s = 0; s < steps; s++) {
        const double *F = reaction[step[s].joint];
        const row share = all(step[s].share), lin = load_four(F), ang = load_three(F + 3);
        for (int i = 0; i < n; i++)
            sum[i] += share * (load_four(state->null[i]) * lin + load_three(torque[s][i]) * ang);
    }
    for (int i = 0; i < n; i++) z[i] = -total(sum[i]);
}

static void products(const lwi_loop_state *a, const double (*torque_a)[3], int na,
                     const lwi_loop_state *b, const double (*torque_b)[3], int nb, double sign,
                     double *to)
{
    for (int m = 0; m < na; m++)
        for (int n = 0; n < nb; n++)
            to[NULLS * m + n] += sign * total(load_four(a->null[m]) * load_four(b->null[n]) +
                                              load_three(torque_a[m]) * load_three(torque_b[n]));
}

static int remove_efforts(const lw_model *model, const lwi_tree_work *tree, int k, int end,
                          double (*reaction)[6])
{
    for (; k < end; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint < 0 || node->nv == 0) continue;
        const double *R = tree->R[k];
        double *to = reaction[node->joint] + 3;
        row torque = load_three(to);
        if (lwi_joint_is_hinge(node->type) && !node->reversed) {
            const row axis = {R[2], R[5], R[8], 0};
            torque -= all(total(axis * torque)) * axis;
        } else if (lwi_node_is_universal(node)) {
            const double s = tree->link[k].S[0][4], c = tree->link[k].S[0][5];
            row link[3], T[3];
            load_matrix(R, link);
            row_transpose(link, T);
            const row own = combine(link, torque);
            const double first = s * own[1] + c * own[2];
            torque += combine(T, (row){-own[0], -first * s, -first * c, 0});
        } else {
            return k;
        }
        store_three(to, torque);
    }
    return k;
}

#else

static int remove_efforts(const lw_model *model, const lwi_tree_work *tree, int k, int end,
                          double (*reaction)[6])
{
    (void)model, (void)tree, (void)end, (void)reaction;
    return k;
}

static void right_side(const lwi_loop_step *step, int steps, const lwi_loop_state *state,
                       const double (*torque)[NULLS][3], int n, const double closing[6],
                       const double (*reaction)[6], double *z)
{
    for (int i = 0; i < n; i++) {
        const double *N = state->null[i];
        double sum[3];
        for (int k = 0; k < 3; k++) {
            sum[k] = N[k] * closing[k] + N[3 + k] * closing[3 + k];
            for (int s = 0; s < steps; s++) {
                const double *F = reaction[step[s].joint];
                sum[k] += step[s].share * (N[k] * F[k] + torque[s][i][k] * F[3 + k]);
            }
        }
        z[i] = -(sum[0] + sum[1] + sum[2]);
    }
}

static void products(const lwi_loop_state *a, const double (*torque_a)[3], int na,
                     const lwi_loop_state *b, const double (*torque_b)[3], int nb, double sign,
                     double *to)
{
    for (int m = 0; m < na; m++)
        for (int n = 0; n < nb; n++) {
            double sum[3];
            for (int k = 0; k < 3; k++)
                sum[k] = a->null[m][k] * b->null[n][k] + torque_a[m][k] * torque_b[n][k];
            to[NULLS * m + n] += sign * (sum[0] + sum[1] + sum[2]);
        }
}

static void stress(const lwi_loop_state *state, int n, const double *z, double w[6],
                   double closing[6])
{
    v6_zero(w);
    for (int i = 0; i < n; i++) v6_axpy(w, z[i], state->null[i]);
    v6_add(closing, closing, w);
}

static void close_loop(const lw_model *model, const lwi_loop_state *state,
                       const lwi_loop_coordinate *y, int n, const double (*reaction)[6],
                       double w[6])
{
    v6_zero(w);
    for (int i = 0; i < n; i++)
        v6_axpy(w, v6_dot(state->effort[i], reaction[model->node[y[i].node].joint]),
                state->wrench[i]);
}

static void pass_on(const lwi_loop_step *step, int n, const double w[6], const double end[3],
                    const double (*point)[3], double (*reaction)[6])
{
    for (int s = 0; s < n; s++) {
        double *F = reaction[step[s].joint], arm[3], torque[3];
        v3_sub(arm, end, point[step[s].node]);
        v3_cross(torque, arm, w);
        v3_add(torque, torque, w + 3);
        v3_axpy(F, step[s].share, w);
        v3_axpy(F + 3, step[s].share, torque);
    }
}

#endif

#define TABLE_3(isa) lwi_loop_kernels_##isa
#define TABLE_2(isa) TABLE_3(isa)
extern const lwi_loop_kernels TABLE_2(ISA);
const lwi_loop_kernels TABLE_2(ISA) = {WIDTH,  solve,      close_loop, pass_on,
                                       stress, right_side, products,   remove_efforts};
