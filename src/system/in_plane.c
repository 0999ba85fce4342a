// in_plane.c -- ranks and the smallest pivot of a mechanism that moves in a plane, from the rows within it.
//
// Where bodies have their mass centres in the plane of their joints, rows within it and rows across it are not coupled:
// pivots are those of two problems, each with about half of the rows (kinematics/planar_rows.c).
//
// Rows across depend on each other as the edges of a graph do, three at a time, in every configuration: their ranks at the
// nodes follow from the graph.  Bodies that edges connect move across the plane as one rigid body, so the pivots follow from
// numbers of bodies, centres and second moments, without an elimination; none of them is ever zero.
//
// A mechanism is in a singular position where the rows within depend on each other.  They are eliminated by the same plan as
// all rows: nodes close the same edges, and choose pivots where an elimination of all rows does.
#include "system/in_plane.h"

#include "base/assert.h"
#include "kinematics/planar_rows.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// Pivots of rows across vary little with the motion: a pivot within that is below this part of the smallest one across, as
// it was found last, is the smallest of all.
#define SMALLER 0.8
// If all pivots within are larger than this at the start, the rows within are independent there.
#define FAR_FROM_SINGULAR 1e-4
// Largest distance of a mass centre from the plane of its joints, in lengths of the mechanism: round-off.
#define FLAT 1e-11
// Rows of a joint across the plane: a displacement, two rotations.
enum { ACROSS = 3 };

// Whether the wrenches of these rows are forces at P2 along axes of F1.
static bool has_forces_alone(const lwi_joint *joint, unsigned rows)
{
    if (joint->mount.present || joint->ndriven || joint->body1 == joint->body2 ||
        !lwi_joint_has_simple_rows(joint->type))
        return false;
    for (int k = 0; k < joint->type->nc; k++)
        if (rows >> k & 1 && joint->type->row[k].kind == LWI_ROW_AXES) return false;
    return true;
}

// Whether the rows exert no torques about axes in the plane; if at one motion in it, then at all.
static bool is_flat(const lwi_system *s, int j, int axis, unsigned rows)
{
    const lwi_joint *joint = &s->model->joint[j];
    lwi_closure c;
    double R[9];
    m3_mul(R, s->R[joint->body1], joint->R1);
    const double n[3] = {R[axis], R[3 + axis], R[6 + axis]};
    lwi_joint_closure_of_rows(s->model, j, 0, &s->motion, rows, &c);
    for (int i = 0; i < c.nbody; i++)
        for (int k = 0; k < c.n; k++) {
            double across[3];
            v3_cross(across, n, c.J[i][k] + 3);
            if (!(v3_norm(across) <= FLAT * s->length)) return false;
        }
    return true;
}

// The same for rows that are forces within the plane at P2: mass centres and P2 are in one plane.
static bool is_flat_joint(const lwi_system *s, const lwi_joint *joint, int axis)
{
    const double limit = FLAT * s->length;
    double n[3], P2[3], arm[3];
    m3_mul_v(n, s->R[joint->body1],
             (const double[3]){joint->R1[axis], joint->R1[3 + axis], joint->R1[6 + axis]});
    m3_mul_v(P2, s->R[joint->body2], joint->r2);
    if (joint->body2 && !(fabs(v3_dot(n, P2)) <= limit)) return false;
    v3_add(P2, P2, s->r[joint->body2]);
    v3_sub(arm, P2, s->r[joint->body1]);
    return !joint->body1 || fabs(v3_dot(n, arm)) <= limit;
}

// Which rows of each edge are within the plane, and how many.  false: an edge has none, or they are coupled to those across.
static bool split_rows(const lwi_system *s, const signed char *axis, lwi_in_plane *p, int *count)
{
    for (int e = 0; e < s->nedge; e++) {
        const int j = s->edge_joint[e];
        const lwi_joint *joint = &s->model->joint[j];
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        count[e] = 0;
        for (int k = 0; k < edge->rows; k++)
            if (!lwi_planar_is_across(joint, k, axis[j])) p->rows[e] |= 1u << k, count[e]++;
        if (count[e] == 0 || edge->rows - count[e] != ACROSS) return false;
        if (edge->n != (edge->ground ? 1 : 2)) return false;
        p->forces[e] = has_forces_alone(joint, p->rows[e]);
        if (!(p->forces[e] ? is_flat_joint(s, joint, axis[j]) : is_flat(s, j, axis[j], p->rows[e])))
            return false;
    }
    return true;
}

/** Bodies that the edges closed so far connect: across the plane they move as one rigid body. */
typedef struct lwi_in_plane_compound {
    int root;         // another body of it (union-find); itself: it represents the compound
    double n, at[2];  // number of bodies; their centre in the plane
    double second[3]; // sums of xx, xy, yy from there
} compound;

/** A row across the plane. */
typedef struct lwi_in_plane_row {
    int edge, of[2];     // compounds on which it acts; -1: the ground
    double w[2][3];      // wrench on each: force, torques about x and y at its centre
    double motion[2][3]; // of each under this wrench
    bool eliminated;
} row;

static int root_of(compound *of, int body)
{
    while (of[body].root != body) body = of[body].root = of[of[body].root].root;
    return body;
}

// Ranks of the nodes if all rows within are independent.  Of the rows across, those of edges between bodies that are not
// connected yet are independent.
static void count_ranks(const lwi_system *s, const lwi_plan *within, compound *of, int *rank)
{
    for (int b = 0; b <= s->nbody; b++) of[b].root = b;
    for (int k = 0; k < within->nnode; k++) {
        const lwi_plan_span closed = within->node[k].closed;
        rank[k] = within->node[k].closed_rows;
        for (int i = 0; i < closed.n; i++) {
            const lwi_plan_edge *edge = &within->graph.edge[within->item[closed.first + i]];
            const int a = root_of(of, edge->body[0]),
                      b = root_of(of, edge->n > 1 ? edge->body[1] : s->nbody);
            if (a == b) continue;
            of[a].root = b;
            rank[k] += ACROSS;
        }
    }
}

static lw_status create_scratch(const lwi_system *s, lwi_arena *arena, lwi_in_plane *p)
{
    size_t largest = 0;
    for (int k = 0; k < s->plan.nnode; k++)
        if ((size_t)s->plan.node[k].closed.n > largest) largest = (size_t)s->plan.node[k].closed.n;
    p->compound = lwi_arena_push(arena, (size_t)s->nbody + 1, sizeof *p->compound);
    const size_t rows = ACROSS * largest;
    p->row = lwi_arena_push(arena, rows, sizeof *p->row);
    p->S = lwi_arena_push(arena, rows * rows, sizeof *p->S);
    return p->compound && p->row && p->S ? LW_OK : LW_ERR_MEMORY;
}

static lw_status create(const lwi_system *s, const signed char *axis, lwi_arena *scratch,
                        lwi_arena *arena, lwi_in_plane *p)
{
    lwi_elim *elim;
    int *count = LWI_PUSH(scratch, int, s->nedge);
    p->rows = LWI_PUSH(arena, unsigned, s->nedge);
    p->forces = LWI_PUSH(arena, bool, s->nedge);
    p->rank = LWI_PUSH(arena, int, s->plan.nnode);
    p->pivots = LWI_PUSH(arena, bool, s->plan.nnode);
    if (!count || !p->rows || !p->forces || !p->rank || !p->pivots) return LW_ERR_MEMORY;
    if (!split_rows(s, axis, p, count)) return LW_OK;
    p->joint = s->edge_joint[0], p->axis = axis[p->joint];
    TRY(create_scratch(s, arena, p));
    TRY(lwi_plan_with_rows(&s->plan, count, arena, &p->plan));
    TRY(lwi_elim_create(&p->plan, arena, &elim));
    count_ranks(s, &p->plan, p->compound, p->rank);
    for (int k = 0; k < p->plan.nnode; k++) p->pivots[k] = p->rank[k] < s->plan.node[k].closed_rows;
    lwi_elim_pivot_at(elim, p->pivots);
    p->elim = elim;
    return LW_OK;
}

lw_status lwi_in_plane_create(const lwi_system *s, lwi_arena *arena, lwi_in_plane *p)
{
    const lw_model *model = s->model;
    *p = (lwi_in_plane){.elim = NULL};
    if (model->ncoupling || s->nrotor || s->split.npart || s->nrow == 0) return LW_OK;
    lwi_arena scratch;
    bool planar = false;
    lwi_arena_init(&scratch, &arena->allocator);
    signed char *axis = LWI_PUSH(&scratch, signed char, model->njoint);
    lw_status status = axis ? LW_OK : LW_ERR_MEMORY;
    if (status == LW_OK) status = lwi_planar_axes(model, &arena->allocator, axis, &planar);
    if (status == LW_OK && planar) status = create(s, axis, &scratch, arena, p);
    lwi_arena_free(&scratch);
    return status;
}

// The rank of all rows if those within are independent.
static int rank_of_all(const lwi_in_plane *p)
{
    int rank = 0;
    for (int k = 0; k < p->plan.nnode; k++) rank += p->rank[k];
    return rank;
}

lw_status lwi_in_plane_find_ranks(lwi_in_plane *p, lwi_system *s, lwi_shared *shared,
                                  lwi_arena *arena)
{
    double pivot;
    int edge;
    if (!p->elim) return lwi_system_find_ranks(s, shared, arena);
    if (lwi_in_plane_pivot(p, s, 0, &pivot, &edge) &&
        lwi_elim_pivots(p->elim).min > FAR_FROM_SINGULAR) {
        lwi_elim_put_ranks(s->elim, p->rank);
        s->start_rank = s->generic_rank = rank_of_all(p);
        return LW_OK;
    }
    TRY(lwi_system_find_ranks(s, shared, arena));
    if (s->generic_rank != rank_of_all(p)) p->elim = NULL;
    return LW_OK;
}

// ------------------------------------------------------------------------------------ rows across

// Axes x, y of the plane, which have the axis of the joint as their normal.
static void plane_axes(const lwi_in_plane *p, const lwi_system *s, double axes[3][3])
{
    const lwi_joint *joint = &s->model->joint[p->joint];
    const int i = p->axis;
    double *x = axes[0], *y = axes[1], *n = axes[2];
    m3_mul_v(n, s->R[joint->body1],
             (const double[3]){joint->R1[i], joint->R1[3 + i], joint->R1[6 + i]});
    const bool steep = fabs(n[0]) > 0.6; // then across the second axis of the world
    v3_cross(x, n, (const double[3]){!steep, steep, 0});
    v3_scale(x, 1 / v3_norm(x), x);
    v3_cross(y, n, x);
}

static void begin_compounds(const lwi_system *s, const double axes[3][3], compound *of)
{
    for (int b = 0; b < s->nbody; b++) {
        const double *r = s->r[s->model->node[b].body];
        of[b] = (compound){.root = b, .n = 1, .at = {v3_dot(axes[0], r), v3_dot(axes[1], r)}};
    }
    of[s->nbody] = (compound){.root = s->nbody};
}

static void join(const lwi_system *s, compound *of, int a, int b)
{
    if (a == b) return;
    if (a == s->nbody) a = b, b = s->nbody; // the ground stays the root
    of[a].root = b;
    if (b == s->nbody) return;
    const double n = of[a].n + of[b].n, each = of[a].n * of[b].n / n;
    const double x = of[a].at[0] - of[b].at[0], y = of[a].at[1] - of[b].at[1];
    const double more[3] = {each * x * x, each * x * y, each * y * y};
    for (int i = 0; i < 3; i++) of[b].second[i] += of[a].second[i] + more[i];
    of[b].at[0] += of[a].n / n * x, of[b].at[1] += of[a].n / n * y;
    of[b].n = n;
}

// Adds force and torque at the mass centre of body number i of the edge to a row.
static void put_wrench(const lwi_in_plane *p, const lwi_system *s, const lwi_plan_edge *edge, int i,
                       const double axes[3][3], const double J[6], row *to)
{
    const double *r = s->r[s->model->node[edge->body[i]].body];
    const int root = root_of(p->compound, edge->body[i]);
    if (root == s->nbody) return;
    const double *at = p->compound[root].at, force = v3_dot(axes[2], J);
    to->of[i] = root;
    to->w[i][0] = force;
    to->w[i][1] = v3_dot(axes[0], J + 3) + (v3_dot(axes[1], r) - at[1]) * force;
    to->w[i][2] = v3_dot(axes[1], J + 3) - (v3_dot(axes[0], r) - at[0]) * force;
}

// The torque of a row of a hinge that keeps two axes at right angles, in the axes of the plane.
static void hinge_torque(const lwi_joint *joint, const lwi_motion *m, const lwi_row_form *form,
                         const double axes[3][3], double torque[2])
{
    const double *R1 = joint->R1 + form->i, *R2 = joint->R2 + form->j;
    double a1[3], a2[3], w[3];
    m3_mul_v(a1, m->R[joint->body1], (const double[3]){R1[0], R1[3], R1[6]});
    m3_mul_v(a2, m->R[joint->body2], (const double[3]){R2[0], R2[3], R2[6]});
    v3_cross(w, a1, a2);
    torque[0] = v3_dot(axes[0], w), torque[1] = v3_dot(axes[1], w);
}

// The rows across of a hinge between two compounds, up to their signs: a force along the normal at P2, and torques.
// size: their squared norms before compounds are formed.
static void put_hinge(const lwi_in_plane *p, const lwi_system *s, int e, const double axes[3][3],
                      row *to, double size[ACROSS])
{
    const lwi_joint *joint = &s->model->joint[s->edge_joint[e]];
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    const double ang = 1 / (s->length * s->length);
    double P2[3], at[2], far = 0;
    int root[2] = {-1, -1};
    m3_mul_v(P2, s->R[joint->body2], joint->r2);
    v3_add(P2, s->r[joint->body2], P2);
    at[0] = v3_dot(axes[0], P2), at[1] = v3_dot(axes[1], P2);
    for (int i = 0; i < edge->n; i++) {
        double arm[3];
        v3_sub(arm, P2, s->r[s->model->node[edge->body[i]].body]);
        far += v3_dot(arm, arm);
        root[i] = root_of(p->compound, edge->body[i]);
        if (root[i] == s->nbody) root[i] = -1;
    }
    for (int k = 0; k < edge->rows; k++) {
        if (p->rows[e] >> k & 1) continue;
        const lwi_row_form *form = &joint->type->row[k];
        double torque[2] = {0, 0};
        const bool turns = form->kind == LWI_ROW_AXES;
        if (turns) hinge_torque(joint, &s->motion, form, axes, torque);
        *to = (row){.edge = e, .of = {root[0], root[1]}};
        *size++ = turns ? edge->n * ang * (torque[0] * torque[0] + torque[1] * torque[1])
                        : edge->n + ang * far;
        for (int i = 0; i < edge->n; i++) {
            if (root[i] < 0) continue;
            const double sign = i ? -1 : 1, force = turns ? 0 : sign;
            const double *centre = p->compound[root[i]].at;
            to->w[i][0] = force;
            to->w[i][1] = sign * torque[0] + (at[1] - centre[1]) * force;
            to->w[i][2] = sign * torque[1] - (at[0] - centre[0]) * force;
        }
        to++;
    }
}

// The same of any other joint.
static void put_closure(const lwi_in_plane *p, const lwi_system *s, int e, double t,
                        const double axes[3][3], row *to, double size[ACROSS])
{
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    const double ang = 1 / (s->length * s->length);
    lwi_closure c;
    lwi_joint_closure_of_rows(s->model, s->edge_joint[e], t, &s->motion,
                              ~p->rows[e] & ((1u << edge->rows) - 1), &c);
    LWI_ASSERT(c.n == ACROSS && c.nbody == edge->n);
    for (int k = 0; k < ACROSS; k++) {
        to[k] = (row){.edge = e, .of = {-1, -1}};
        size[k] = 0;
        for (int i = 0; i < c.nbody; i++) {
            const double *J = c.J[i][k];
            size[k] += v3_dot(J, J) + ang * v3_dot(J + 3, J + 3);
            put_wrench(p, s, edge, i, axes, J, &to[k]);
        }
    }
}

// The motion of the compound under a wrench.
static void move_compound(const compound *c, double length, const double w[3], double motion[3])
{
    const double J = c->n * length * length, xx = J + c->second[2], xy = -c->second[1],
                 yy = J + c->second[0], inverse = 1 / (xx * yy - xy * xy);
    motion[0] = w[0] / c->n;
    motion[1] = inverse * (yy * w[1] - xy * w[2]);
    motion[2] = inverse * (xx * w[2] - xy * w[1]);
}

// Scales a row to norm one on the bodies at its joint, and finds the motions of the compounds under it.
static void finish_row(const lwi_in_plane *p, double length, double size, row *r)
{
    const double scale = 1 / sqrt(size);
    for (int i = 0; i < 2; i++) {
        if (r->of[i] < 0) continue;
        v3_scale(r->w[i], scale, r->w[i]);
        move_compound(&p->compound[r->of[i]], length, r->w[i], r->motion[i]);
    }
}

static double product(const row *a, const row *b)
{
    double sum = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (a->of[i] >= 0 && a->of[i] == b->of[k]) sum += v3_dot(a->motion[i], b->w[k]);
    return sum;
}

// Eliminates `rank` of n rows, with `pivots` the largest pivot first, else in their order.  A pivot smaller than p->across
// replaces it.
static void eliminate_across(lwi_in_plane *p, int n, int rank, bool pivots)
{
    double *S = p->S;
    for (int k = 0; k < rank; k++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (!p->row[i].eliminated &&
                (best < 0 || (pivots && S[i * (n + 1)] > S[best * (n + 1)])))
                best = i;
        const double *taken = S + best * n, pivot = taken[best];
        p->row[best].eliminated = true;
        if (pivot < p->across) p->across = pivot, p->across_edge = p->row[best].edge;
        for (int i = 0; i < n && k + 1 < rank; i++) {
            if (p->row[i].eliminated) continue;
            const double share = taken[i] / pivot;
            for (int j = 0; j < n; j++) S[i * n + j] -= share * taken[j];
        }
    }
}

static void eliminate_node(lwi_in_plane *p, const lwi_system *s, int k, double t,
                           const double axes[3][3])
{
    const lwi_plan_span closed = p->plan.node[k].closed;
    double size[ACROSS];
    int n = 0;
    for (int i = 0; i < closed.n; i++) {
        const int e = p->plan.item[closed.first + i];
        const lwi_plan_edge *edge = &p->plan.graph.edge[e];
        const int a = root_of(p->compound, edge->body[0]),
                  b = root_of(p->compound, edge->n > 1 ? edge->body[1] : s->nbody);
        if (a == b) continue;
        if (p->forces[e] && lwi_joint_is_hinge(s->model->joint[s->edge_joint[e]].type))
            put_hinge(p, s, e, axes, p->row + n, size);
        else
            put_closure(p, s, e, t, axes, p->row + n, size);
        for (int r = 0; r < ACROSS; r++) finish_row(p, s->length, size[r], &p->row[n++]);
    }
    for (int r = 0; r < n; r++)
        for (int c = 0; c <= r; c++)
            p->S[r * n + c] = p->S[c * n + r] = product(&p->row[r], &p->row[c]);
    eliminate_across(p, n, p->rank[k] - p->plan.node[k].closed_rows, p->pivots[k]);
}

static void find_across(lwi_in_plane *p, const lwi_system *s, double t)
{
    double axes[3][3];
    plane_axes(p, s, axes);
    begin_compounds(s, (const double(*)[3])axes, p->compound);
    p->across = 1;
    p->across_edge = 0;
    for (int k = 0; k < p->plan.nnode; k++) {
        const lwi_plan_span closed = p->plan.node[k].closed;
        if (p->rank[k] > p->plan.node[k].closed_rows)
            eliminate_node(p, s, k, t, (const double(*)[3])axes);
        for (int i = 0; i < closed.n; i++) {
            const lwi_plan_edge *edge = &p->plan.graph.edge[p->plan.item[closed.first + i]];
            join(s, p->compound, root_of(p->compound, edge->body[0]),
                 root_of(p->compound, edge->n > 1 ? edge->body[1] : s->nbody));
        }
    }
}

// ------------------------------------------------------------------------------------ rows within

// J and G of one row on one body: the force f at `arm` from its mass centre.
static inline void put_force(const double f[3], const double arm[3], double ang, double J[6],
                             double G[6])
{
    double n[3];
    v3_cross(n, arm, f);
    for (int i = 0; i < 3; i++) J[i] = G[i] = f[i], J[3 + i] = n[i], G[3 + i] = ang * n[i];
}

// J and G of an edge with forces alone: those of lwi_joint_closure_of_rows.
static void place_forces(const lwi_system *s, const lwi_joint *joint, unsigned rows, double ang,
                         double (*J)[6], double (*G)[6])
{
    const lwi_motion *m = &s->motion;
    const int body1 = joint->body1, body2 = joint->body2, second = body1 ? 6 : 0;
    double arm1[3], arm2[3], P2[3];
    m3_mul_v(P2, m->R[body2], joint->r2);
    v3_add(P2, m->r[body2], P2);
    v3_sub(arm1, P2, m->r[body1]);
    v3_sub(arm2, P2, m->r[body2]);
    for (int k = 0; rows; k++, rows >>= 1) {
        if (!(rows & 1)) continue;
        const double *own = joint->R1 + joint->type->row[k].i;
        double f[3], back[3];
        m3_mul_v(f, m->R[body1], (const double[3]){own[0], own[3], own[6]});
        v3_scale(back, -1, f);
        if (body1) put_force(back, arm1, ang, *J, *G);
        if (body2) put_force(f, arm2, ang, J[second], G[second]);
        J++, G++;
    }
}

// J and G of an edge.
static void place_edge(const lwi_in_plane *p, const lwi_system *s, int e, double t)
{
    const double ang = 1 / (s->length * s->length);
    double(*J)[6] = lwi_elim_J(p->elim) + 6 * p->plan.slot[e];
    double(*G)[6] = lwi_elim_G(p->elim) + 6 * p->plan.slot[e];
    if (p->forces[e]) {
        place_forces(s, &s->model->joint[s->edge_joint[e]], p->rows[e], ang, J, G);
        return;
    }
    lwi_closure c;
    lwi_joint_closure_of_rows(s->model, s->edge_joint[e], t, &s->motion, p->rows[e], &c);
    for (int i = 0; i < c.nbody; i++, J += 6, G += 6)
        for (int k = 0; k < c.n; k++) {
            v6_copy(J[k], c.J[i][k]);
            v3_copy(G[k], c.J[i][k]);
            v3_scale(G[k] + 3, ang, c.J[i][k] + 3);
        }
}

bool lwi_in_plane_pivot(lwi_in_plane *p, const lwi_system *s, double t, double *pivot, int *edge)
{
    if (!p->elim) return false;
    for (int e = 0; e < s->nedge; e++) place_edge(p, s, e, t);
    const lw_status status = lwi_elim_check_pivots(p->elim);
    if (status != LW_OK && status != LW_ERR_SINGULAR) return false;
    const lwi_elim_pivot_info within = lwi_elim_pivots(p->elim);
    p->pivot = fmax(0, within.min), p->edge = within.edge;
    if (!(p->pivot < SMALLER * p->across)) find_across(p, s, t);
    if (p->across < p->pivot) p->pivot = p->across, p->edge = p->across_edge;
    *pivot = p->pivot, *edge = p->edge;
    return true;
}
