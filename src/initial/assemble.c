// assemble.c -- positions by damped Newton steps, velocities by projection, both by elimination.
#include "initial/assemble.h"

#include "base/assert.h"
#include "base/components.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// Regularisation in units of a row's own size J K J'.  Rows that hold lose nine digits of the
// residual in a step, 1e-9 being well above what rounding leaves of redundant rows and well below
// every angle of a mechanism that works; holds give way to them by a factor of a thousand, which
// lets a step of 0.2 along a curved path pass.
#define JOINT_COMPLIANCE 1e-9
#define HOLD_COMPLIANCE 1e-6
// Bound of the motion in one step [lengths of the mechanism, rad]: short enough to follow the
// mechanism on its way, so that it stays in the assembly it was drawn in.
#define LONGEST_STEP 0.2
enum { MAX_STEPS = 300, MAX_HALVINGS = 12, MAX_SWEEPS = 50 };

// -------------------------------------------------------------------------------------------
// create

static void add_body(const lw_model *model, lwi_plan_edge *edge, int body)
{
    const int node = model->body_node[body];
    if (node < 0) {
        edge->ground = true;
        return;
    }
    for (int i = 0; i < edge->n; i++)
        if (edge->body[i] == node) return;
    edge->body[edge->n++] = node;
}

static void add_joint(const lw_model *model, lwi_plan_edge *edge, int joint)
{
    add_body(model, edge, model->joint[joint].body1);
    add_body(model, edge, model->joint[joint].body2);
}

static bool holds_coordinates(const lwi_joint_type *type)
{
    return type->scalar || type->quaternion >= 0;
}

static void describe_edge(const lwi_assembler *a, const lwi_assembler_edge *e, lwi_plan_edge *edge)
{
    const lw_model *model = a->model;
    *edge = (lwi_plan_edge){0};
    if (e->joint >= 0) {
        add_joint(model, edge, e->joint);
        edge->rows = lwi_joint_row_count(model, e->joint);
    } else if (e->coupling >= 0) {
        add_joint(model, edge, model->coupling[e->coupling].joint);
        add_joint(model, edge, model->coupling[e->coupling].of);
        edge->rows = 1;
    } else if (a->hold[e->hold].body > 0) {
        add_body(model, edge, a->hold[e->hold].body);
        edge->ground = true;
        edge->rows = 6;
    } else {
        const lwi_joint *joint = &model->joint[a->hold[e->hold].joint];
        add_joint(model, edge, a->hold[e->hold].joint);
        edge->rows = holds_coordinates(joint->type) ? joint->type->nv : 0;
    }
}

static void list_edges(lwi_assembler *a, int nhold)
{
    const lw_model *model = a->model;
    int n = 0;
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].merged)
            a->edge[n++] = (lwi_assembler_edge){.joint = j, .coupling = -1, .hold = -1};
    for (int i = 0; i < model->ncoupling; i++)
        a->edge[n++] = (lwi_assembler_edge){.joint = -1, .coupling = i, .hold = -1};
    a->first_hold = n;
    for (int i = 0; i < nhold; i++)
        a->edge[n++] = (lwi_assembler_edge){.joint = -1, .coupling = -1, .hold = i};
    a->nedge = n;
}

// The node of a body of the plan, which may be a part of it.
static int node_of(const lwi_assembler *a, int body)
{
    const int n = a->model->nnode;
    LWI_ASSERT_INDEX(body, n + a->split.npart);
    return body < n ? body : a->split.part[body - n].body;
}

// Nodes that rows connect: each gets the lowest node of its component, or -1 where the ground is in
// it.
static void find_components(lwi_assembler *a)
{
    const lwi_plan_graph *graph = &a->plan.graph;
    const int n = a->model->nnode;
    int *c = a->component;
    for (int k = 0; k < n; k++) c[k] = k;
    for (int e = 0; e < a->first_hold; e++) {
        const lwi_plan_edge *edge = &graph->edge[e];
        for (int i = 1; i < edge->n && edge->rows; i++) {
            const int p = lwi_component_of(c, node_of(a, edge->body[0])),
                      q = lwi_component_of(c, node_of(a, edge->body[i]));
            c[p > q ? p : q] = p > q ? q : p;
        }
    }
    for (int k = 0; k < n; k++) c[k] = lwi_component_of(c, k);
    for (int e = 0; e < a->first_hold; e++) { // roots are marked first, then the others
        const lwi_plan_edge *edge = &graph->edge[e];
        const int k = node_of(a, edge->body[0]);
        if (edge->ground && edge->rows && c[k] >= 0) c[c[k]] = -1;
    }
    for (int k = 0; k < n; k++)
        if (c[k] >= 0 && c[c[k]] < 0) c[k] = -1;
}

// Rows x_before = x_part of the links: constant.
static void link_parts(lwi_assembler *a)
{
    for (int e = a->nedge; e < a->plan.graph.nedge; e++)
        for (int i = 0; i < 2; i++)
            for (int r = 0; r < 6; r++)
                lwi_elim_J(a->elim)[6 * (a->plan.slot[e] + i) + r][r] = i ? -1 : 1;
}

lw_status lwi_assembler_create(const lw_model *model, int nhold, const lwi_hold *hold,
                               lwi_shared *shared, lwi_arena *arena, lwi_assembler *a)
{
    const int room = model->njoint + model->ncoupling + nhold;
    *a = (lwi_assembler){.model = model, .length = model->length, .held = true};
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    lwi_plan_edge *edge;
    GET(edge, room);
    GET(a->edge, room);
    GET(a->hold, nhold);
    if (nhold) memcpy(a->hold, hold, (size_t)nhold * sizeof *hold);
    list_edges(a, nhold);
    for (int i = 0; i < a->nedge; i++) describe_edge(a, &a->edge[i], &edge[i]);
    const lwi_plan_graph graph = {.nbody = model->nnode, .nedge = a->nedge, .edge = edge};
    TRY(lwi_split_create(&graph, arena, &a->split));
    TRY(lwi_shared_plan(shared, &a->split.graph, LW_PLAN_AUTO, arena, &a->plan));
    TRY(lwi_shared_elim(shared, &a->plan, arena, &a->elim));
    link_parts(a);
    a->nrow = a->plan.nrow;
    GET(a->metric, model->nnode);
    GET(a->component, model->nnode);
    GET(a->momenta, model->nnode);
    GET(a->R, model->nbody);
    GET(a->r, model->nbody);
    GET(a->v, model->nbody);
    GET(a->w, model->nbody);
    GET(a->q, model->nq);
    GET(a->qd, model->nv);
    GET(a->old_R, model->nbody);
    GET(a->old_r, model->nbody);
    GET(a->old_q, model->nq);
    GET(a->drawn, model->nq);
    GET(a->given, model->njoint);
    GET(a->moves, model->njoint);
    GET(a->residual, a->nrow);
    GET(a->prescribed, a->nrow);
    GET(a->given_up, a->nrow);
    GET(a->size, a->nrow);
    GET(a->eps, a->nrow);
    GET(a->c, a->nrow);
    GET(a->lambda, a->nrow);
    GET(a->x, model->nnode + a->split.npart);
    GET(a->unit, model->nbody);
#undef GET
    find_components(a);
    for (int b = 0; b < model->nbody; b++) m3_identity(a->R[b]);
    a->motion = (lwi_motion){.R = (const double(*)[9])a->R,
                             .r = (const double(*)[3])a->r,
                             .v = (const double(*)[3])a->v,
                             .w = (const double(*)[3])a->w,
                             .q = a->q};
    return LW_OK;
}

// ---------------------------------------------------------------------------------------------
// rows

// Row r of edge e on a body; NULL for the ground.
static double *row_of(lwi_assembler *a, int e, int body, int r)
{
    const lwi_plan_edge *edge = &a->plan.graph.edge[e];
    const int node = a->model->body_node[body];
    for (int i = 0; i < edge->n; i++)
        if (node_of(a, edge->body[i]) == node)
            return lwi_elim_J(a->elim)[(a->plan.slot[e] + i) * 6 + r];
    return NULL;
}

// J V of one row with the coefficients set last.
static double rate_of(lwi_assembler *a, int e, int r)
{
    const lwi_plan_edge *edge = &a->plan.graph.edge[e];
    double sum = 0;
    for (int i = 0; i < edge->n; i++) {
        const double *J = lwi_elim_J(a->elim)[(a->plan.slot[e] + i) * 6 + r];
        const int b = a->model->node[node_of(a, edge->body[i])].body;
        sum += v3_dot(J, a->v[b]) + v3_dot(J + 3, a->w[b]);
    }
    return sum;
}

static void closure_of(lwi_assembler *a, int e, lwi_closure_level level)
{
    const lwi_assembler_edge *what = &a->edge[e];
    if (what->joint >= 0)
        lwi_joint_closure(a->model, what->joint, a->t, &a->motion, level, &a->closure);
    else
        lwi_coupling_closure(a->model, what->coupling, a->t, &a->motion, level, &a->closure);
}

// Residual of a row of the closure, for positions.
static double gap_of(const lwi_assembler *a, int e, int r)
{
    return a->closure.phi[r] - (a->shift ? a->shift[a->plan.row[e] + r] : 0);
}

static void closure_rows(lwi_assembler *a, int e, bool velocity)
{
    const lwi_closure *c = &a->closure;
    closure_of(a, e, LWI_CLOSURE_POSITION);
    LWI_ASSERT(c->n == a->plan.graph.edge[e].rows);
    for (int s = 0; s < c->nbody; s++)
        for (int r = 0; r < c->n; r++)
            memcpy(row_of(a, e, c->body[s], r), c->J[s][r], sizeof c->J[s][r]);
    for (int r = 0; r < c->n; r++) {
        const int row = a->plan.row[e] + r;
        if (velocity) a->prescribed[row] = c->b[r];
        a->residual[row] = velocity ? c->b[r] + rate_of(a, e, r) : gap_of(a, e, r);
    }
}

// Small rotation vector of R relative to `from`, in the axes of `from`.
static void turn_between(const double from[4], const double to[4], double turn[3])
{
    double back[4], q[4];
    quat_conjugate(back, from);
    quat_mul(q, back, to);
    const double sine = v3_norm(q + 1), angle = 2 * atan2(sine, fabs(q[0]));
    // 2 q/|q| below, where the sine is the angle to round-off
    const double scale = sine > 1e-8 ? angle / sine : 2;
    v3_scale(turn, q[0] < 0 ? -scale : scale, q + 1);
}

// How far coordinates q of a joint are from those wanted, along its speeds.
static void coordinate_error(const lwi_joint *joint, const double *q, const double *want,
                             double *error)
{
    const lwi_joint_type *type = joint->type;
    if (lwi_joint_is_ball(type)) {
        turn_between(want, q, error);
    } else if (lwi_joint_is_free(type)) {
        double R[9], d[3];
        v3_sub(d, q, want);
        quat_matrix(R, q + 3);
        m3_tmul_v(error, R, d); // speeds are in F2
        turn_between(want + 3, q + 3, error + 3);
    } else {
        for (int k = 0; k < joint->type->nv; k++) error[k] = q[k] - want[k];
    }
}

// The joint's speeds as rows: a unit effort does the work u, so its wrenches are the row.
static void joint_hold_rows(lwi_assembler *a, int e, bool velocity)
{
    LWI_ASSERT(e >= a->first_hold && e < a->nedge);
    const lwi_hold *hold = &a->hold[a->edge[e].hold];
    const lwi_joint *joint = &a->model->joint[hold->joint];
    const int body[2] = {joint->body1, joint->body2}, nv = joint->type->nv;
    double q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], error[LW_JOINT_MAX_NV];
    lwi_joint_read_motion(a->model, hold->joint, a->t, &a->motion, q, u);
    if (!velocity) coordinate_error(joint, q, hold->value, error);
    for (int k = 0; k < nv; k++) {
        double tau[LW_JOINT_MAX_NV] = {0};
        tau[k] = 1;
        for (int s = 0; s < 2; s++) v6_zero(a->unit[body[s]]);
        lwi_joint_apply_effort(a->model, hold->joint, a->t, &a->motion, tau, a->unit);
        for (int s = 0; s < 2; s++) {
            double *row = row_of(a, e, body[s], k);
            if (row) v6_copy(row, a->unit[body[s]]);
        }
        const int at = a->plan.row[e] + k;
        a->residual[at] = velocity ? u[k] - hold->value[k] - a->given_up[at] : error[k];
    }
}

static void body_hold_rows(lwi_assembler *a, int e, bool velocity)
{
    const lwi_hold *hold = &a->hold[a->edge[e].hold];
    const int b = hold->body;
    double *residual = a->residual + a->plan.row[e];
    for (int k = 0; k < 6; k++) {
        double *row = row_of(a, e, b, k);
        v6_zero(row);
        row[k] = 1;
    }
    if (velocity) {
        v3_sub(residual, a->v[b], hold->value);
        v3_sub(residual + 3, a->w[b], hold->value + 3);
        for (int k = 0; k < 6; k++) residual[k] -= a->given_up[a->plan.row[e] + k];
        return;
    }
    double quat[4], turn[3], R[9];
    v3_sub(residual, a->r[b], hold->value);
    quat_from_matrix(quat, a->R[b]);
    turn_between(hold->value + 3, quat, turn);
    quat_matrix(R, hold->value + 3);
    m3_mul_v(residual + 3, R, turn);
}

// Rows that do not take part: none of them says anything.
static void clear_rows(lwi_assembler *a, int e)
{
    const lwi_plan_edge *edge = &a->plan.graph.edge[e];
    for (int i = 0; i < edge->n; i++)
        memset(lwi_elim_J(a->elim)[(a->plan.slot[e] + i) * 6], 0, 6 * sizeof *lwi_elim_J(a->elim));
    for (int r = a->plan.row[e]; r < a->plan.row[e + 1]; r++) a->residual[r] = 0;
}

static void hold_rows(lwi_assembler *a, int e, bool velocity)
{
    if (a->hold[a->edge[e].hold].body > 0)
        body_hold_rows(a, e, velocity);
    else
        joint_hold_rows(a, e, velocity);
}

static void rows(lwi_assembler *a, bool velocity)
{
    for (int e = 0; e < a->nedge; e++) {
        if (a->plan.graph.edge[e].rows == 0) continue;
        if (e < a->first_hold)
            closure_rows(a, e, velocity);
        else if (!a->held)
            clear_rows(a, e);
        else
            hold_rows(a, e, velocity);
    }
}

// The residuals of positions without what bodies have to do with them.
static void gaps(lwi_assembler *a)
{
    for (int e = 0; e < a->first_hold; e++) {
        if (a->plan.graph.edge[e].rows == 0) continue;
        closure_of(a, e, LWI_CLOSURE_PHI);
        LWI_ASSERT(a->plan.row[e] + a->closure.n <= a->nrow);
        for (int r = 0; r < a->closure.n; r++) a->residual[a->plan.row[e] + r] = gap_of(a, e, r);
    }
}

// The same residuals as those of `rows` at the same velocity or not, where only positions, or only velocities, have changed
// since: of positions no row is needed, of velocities the rows are those of before.
static void residuals_again(lwi_assembler *a, bool velocity)
{
    if (!velocity) gaps(a);
    for (int e = 0; e < a->nedge; e++) {
        const int n = a->plan.graph.edge[e].rows;
        if (n == 0 || (e >= a->first_hold && !a->held)) continue; // cleared, and 0
        if (e >= a->first_hold)
            hold_rows(a, e, velocity);
        else if (velocity)
            for (int r = 0; r < n; r++)
                a->residual[a->plan.row[e] + r] =
                    a->prescribed[a->plan.row[e] + r] + rate_of(a, e, r);
    }
}

static double edge_residual(const lwi_assembler *a, int e)
{
    LWI_ASSERT_INDEX(e, a->nedge);
    double largest = 0;
    for (int r = a->plan.row[e]; r < a->plan.row[e + 1]; r++)
        largest = fmax(largest, fabs(a->residual[r]));
    return largest;
}

double lwi_assembler_edge_residual(const lwi_assembler *a, int edge)
{
    return edge_residual(a, edge);
}

double lwi_assembler_residual(lwi_assembler *a, bool velocity, int *edge)
{
    double largest = 0;
    if (velocity)
        rows(a, true);
    else
        gaps(a);
    if (edge) *edge = -1;
    for (int e = 0; e < a->first_hold; e++) {
        const double here = edge_residual(a, e);
        if (!(here > largest)) continue;
        largest = here;
        if (edge) *edge = e;
    }
    return largest;
}

double lwi_assembler_hold_residual(lwi_assembler *a, int hold, bool velocity)
{
    const int e = a->first_hold + hold;
    LWI_ASSERT_INDEX(e, a->nedge);
    if (a->plan.graph.edge[e].rows == 0) return 0;
    if (a->hold[hold].body > 0)
        body_hold_rows(a, e, velocity);
    else
        joint_hold_rows(a, e, velocity);
    return edge_residual(a, e);
}

// ------------------------------------------------------------------------------------- one
// projection

// G = J K and the size of each row, (J K J')_rr; a row of zeros gets the size 1 and does nothing.
static void weigh_rows(lwi_assembler *a)
{
    double(*J)[6] = lwi_elim_J(a->elim), (*G)[6] = lwi_elim_G(a->elim);
    for (int e = 0; e < a->plan.graph.nedge; e++) {
        const lwi_plan_edge *edge = &a->plan.graph.edge[e];
        const bool hold = e >= a->first_hold && e < a->nedge;
        const double stiff = a->compliance > 0 ? a->compliance : JOINT_COMPLIANCE;
        const double compliance = hold ? HOLD_COMPLIANCE : stiff;
        for (int r = 0; r < edge->rows; r++) {
            double size = 0;
            for (int i = 0; i < edge->n; i++) {
                const int at = (a->plan.slot[e] + i) * 6 + r;
                const int node = node_of(a, edge->body[i]);
                const lwi_assembler_metric *K = &a->metric[node];
                v3_scale(G[at], K->lin, J[at]);
                s3_mul_v(G[at] + 3, K->ang, J[at] + 3);
                if (a->split.count[node] > 1) // each of n parts has n times the mobility
                    for (int k = 0; k < 6; k++) G[at][k] *= a->split.count[node];
                size += v6_dot(J[at], G[at]);
            }
            a->size[a->plan.row[e] + r] = size > 0 ? size : 1;
            a->eps[a->plan.row[e] + r] = compliance * a->size[a->plan.row[e] + r];
        }
    }
}

// x that takes the residuals away, as far as its rows let it.
static void solve(lwi_assembler *a)
{
    memset(a->x, 0, (size_t)(a->model->nnode + a->split.npart) * sizeof *a->x);
    for (int r = 0; r < a->nrow; r++) a->c[r] = -a->residual[r];
    lwi_elim_solve(a->elim, a->x, a->c, a->lambda, 0);
}

// What a regularised step makes smaller.
static double merit(const lwi_assembler *a)
{
    double sum = 0;
    for (int r = 0; r < a->nrow; r++) sum += a->residual[r] * a->residual[r] / a->eps[r];
    return sum;
}

// The same where all residuals are of this size.
static double merit_of(const lwi_assembler *a, double residual)
{
    double sum = 0;
    for (int r = 0; r < a->nrow; r++) sum += residual * residual / a->eps[r];
    return sum;
}

// ----------------------------------------------------------------------------------------
// positions

void lwi_assembler_geometric(lwi_assembler *a)
{
    const double turn = 1 / (a->length * a->length);
    for (int k = 0; k < a->model->nnode; k++)
        a->metric[k] = (lwi_assembler_metric){.lin = 1, .ang = {turn, turn, turn}};
}

void lwi_assembler_read(lwi_assembler *a)
{
    for (int j = 0; j < a->model->njoint; j++) {
        const lwi_joint *joint = &a->model->joint[j];
        double q[LW_JOINT_MAX_NQ];
        if (joint->merged || joint->type->nq == 0) continue;
        lwi_joint_read_motion(a->model, j, a->t, &a->motion, q, a->qd + joint->iv);
        memcpy(a->q + joint->iq, q, (size_t)joint->type->nq * sizeof *q);
    }
}

// The bodies from where they were by `part` of x.
static void displace(lwi_assembler *a, double part)
{
    for (int k = 0; k < a->model->nnode; k++) {
        const int b = a->model->node[k].body;
        const double *turn = a->x[k] + 3;
        double R[9], axis[3];
        const double angle = v3_norm(turn);
        v3_copy(a->r[b], a->old_r[b]);
        v3_axpy(a->r[b], part, a->x[k]);
        memcpy(a->R[b], a->old_R[b], sizeof a->R[b]);
        if (angle == 0) continue;
        v3_scale(axis, 1 / angle, turn);
        rot_axis(R, axis, part * angle);
        m3_mul(a->R[b], R, a->old_R[b]);
    }
    if (a->model->nq) memcpy(a->q, a->old_q, (size_t)a->model->nq * sizeof *a->q);
    lwi_assembler_read(a);
}

static void remember(lwi_assembler *a)
{
    const size_t n = (size_t)a->model->nbody;
    memcpy(a->old_R, a->R, n * sizeof *a->R);
    memcpy(a->old_r, a->r, n * sizeof *a->r);
    if (a->model->nq) memcpy(a->old_q, a->q, (size_t)a->model->nq * sizeof *a->q);
}

double lwi_assembler_step_size(const lwi_assembler *a)
{
    double largest = 0;
    for (int k = 0; k < a->model->nnode; k++)
        largest = fmax(largest, fmax(v3_norm(a->x[k]) / a->length, v3_norm(a->x[k] + 3)));
    return largest;
}

// Rounding errors of products of rotations: attitudes back to rotations.
static void straighten(lwi_assembler *a)
{
    for (int k = 0; k < a->model->nnode; k++) {
        const int b = a->model->node[k].body;
        double quat[4];
        quat_from_matrix(quat, a->R[b]);
        quat_normalize(quat, quat);
        quat_matrix(a->R[b], quat);
    }
}

// After a step below this [lengths of the mechanism, rad] what is left is round-off.
#define SMALLEST_STEP 1e-12

bool lwi_assembler_step(lwi_assembler *a)
{
    rows(a, false);
    weigh_rows(a);
    const double before = merit(a);
    if (lwi_elim_factor_regular(a->elim, a->eps) != LW_OK) return false;
    solve(a);
    const double whole = lwi_assembler_step_size(a);
    double part = whole > LONGEST_STEP ? LONGEST_STEP / whole : 1;
    remember(a);
    for (int i = 0; i < MAX_HALVINGS; i++, part /= 2) {
        displace(a, part);
        residuals_again(a, false); // eps stays that of the step's start
        if (!(merit(a) < before)) continue;
        straighten(a);
        return part * whole > SMALLEST_STEP;
    }
    displace(a, 0);
    return false;
}

// Steps with more damping than this are along the gradient.
#define MAX_DAMPING 1e3
// Bound of a damped step [lengths of the mechanism, rad].
#define LONGEST_DAMPED 0.5
// A damped step that gains less than this share is the last one.
#define MIN_GAIN 1e-7

bool lwi_assembler_damped_step(lwi_assembler *a, double *damping)
{
    rows(a, false);
    weigh_rows(a);
    remember(a);
    for (;; *damping *= 4) {
        if (*damping > MAX_DAMPING) return false;
        for (int r = 0; r < a->nrow; r++) a->eps[r] *= *damping / JOINT_COMPLIANCE;
        const double before = merit(a);
        bool less = lwi_elim_factor(a->elim, a->eps) == LW_OK;
        if (less) solve(a);
        less = less && lwi_assembler_step_size(a) <= LONGEST_DAMPED;
        if (less) {
            displace(a, 1);
            rows(a, false);
            less = merit(a) < (1 - MIN_GAIN) * before;
        }
        if (less) break;
        displace(a, 0);
        rows(a, false);
        weigh_rows(a);
    }
    straighten(a);
    *damping = fmax(*damping / 8, JOINT_COMPLIANCE);
    return true;
}

int lwi_assembler_close(lwi_assembler *a)
{
    int n = 0;
    lwi_assembler_geometric(a);
    while (n < MAX_STEPS && lwi_assembler_step(a)) n++;
    a->held = false; // what could not be met gives way altogether
    for (int i = 0; i < MAX_STEPS && lwi_assembler_step(a); i++) n++;
    a->held = true;
    return n;
}

// ----------------------------------------------------------------------------------------
// velocities

// Inverse of a symmetric matrix; false where it is not positive definite, to round-off.
static bool invert(const double J[6], double inverse[6])
{
    // rows of the adjoint are products of the other two
    const double x[3] = {J[0], J[3], J[4]}, y[3] = {J[3], J[1], J[5]}, z[3] = {J[4], J[5], J[2]};
    const double trace = J[0] + J[1] + J[2];
    double yz[3], zx[3], xy[3];
    v3_cross(yz, y, z);
    v3_cross(zx, z, x);
    v3_cross(xy, x, y);
    const double det = v3_dot(x, yz);
    // principal inertias below a millionth of the largest are those of lines and points
    if (!(det > 1e-12 * trace * trace * trace)) return false;
    const double adjoint[6] = {yz[0], zx[1], xy[2], yz[1], yz[2], zx[2]};
    for (int i = 0; i < 6; i++) inverse[i] = adjoint[i] / det;
    return true;
}

void lwi_assembler_weigh(lwi_assembler *a)
{
    const lw_model *model = a->model;
    double total = 0;
    for (int b = 1; b < model->nbody; b++) total += model->body[b].mass;
    const double min_mass = 1e-3 * (total > 0 ? total / model->nnode : 1);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        const lwi_body *body = &model->body[b];
        double J[6], K[6];
        memcpy(J, body->inertia, sizeof J);
        if (!invert(J, K)) {
            for (int i = 0; i < 3; i++)
                J[i] += 1e-3 * (J[0] + J[1] + J[2]) + min_mass * a->length * a->length;
            invert(J, K);
        }
        a->metric[k].lin = 1 / fmax(body->mass, min_mass);
        s3_rotate(a->metric[k].ang, a->R[b], K);
    }
}

static void add_velocities(lwi_assembler *a)
{
    for (int k = 0; k < a->model->nnode; k++) {
        const int b = a->model->node[k].body;
        v3_add(a->v[b], a->v[b], a->x[k]);
        v3_add(a->w[b], a->w[b], a->x[k] + 3);
    }
}

// Repeated projection: what rows lose to their regularisation is won back, holds that contradict
// each other end at the minimum sum of squares.
void lwi_assembler_project(lwi_assembler *a, double enough)
{
    double before = INFINITY;
    rows(a, true);
    weigh_rows(a);
    const double small = enough > 0 ? merit_of(a, enough * lwi_assembler_speed(a)) : 0;
    if (lwi_elim_factor_regular(a->elim, a->eps) != LW_OK) return;
    for (int i = 0; i < MAX_SWEEPS; i++) {
        const double now = merit(a);
        if (!(now < before) || (i > 0 && now < small)) break;
        before = now;
        solve(a);
        add_velocities(a);
        residuals_again(a, true);
    }
}

// Largest residual of all rows that take part.
static double largest_residual(lwi_assembler *a, bool velocity)
{
    double largest = 0;
    rows(a, velocity);
    for (int e = 0; e < a->nedge; e++) largest = fmax(largest, edge_residual(a, e));
    return largest;
}

double lwi_assembler_speed(const lwi_assembler *a)
{
    double largest = 0;
    for (int b = 1; b < a->model->nbody; b++)
        largest = fmax(largest, fmax(v3_norm(a->v[b]), v3_norm(a->w[b])));
    return largest;
}

// Projection on rows and holds, then on rows alone.
static void project_both(lwi_assembler *a)
{
    lwi_assembler_project(a, 0);
    a->held = false;
    lwi_assembler_project(a, 0);
    a->held = true;
}

// Residuals above this share of the speeds are not round-off, and those of holds that contradict each other are larger than
// this one.
#define UNSOLVED 1e-12
#define CONTRADICTION 1e-9
// Another metric is better if it leaves less than this share of the residual.
#define BETTER 0.1

// Speeds of minimum kinetic energy.
static void find_minimum_energy(lwi_assembler *a)
{
    const size_t n = (size_t)a->model->nbody;
    memset(a->v, 0, n * sizeof *a->v);
    memset(a->w, 0, n * sizeof *a->w);
    lwi_assembler_weigh(a);
    project_both(a);
}

static void project_geometric(lwi_assembler *a)
{
    lwi_assembler_geometric(a);
    project_both(a);
}

// The residuals of holds, after largest_residual.
static void give_up_residuals(lwi_assembler *a)
{
    for (int r = a->plan.row[a->first_hold]; r < a->plan.row[a->nedge]; r++)
        a->given_up[r] = a->residual[r];
}

// In the metric of masses a heavy body has so little compliance against holds that its regularised rows give way to it,
// however many the repetitions.  Velocities do not depend on masses where rows and holds determine them: what is
// missing is found in the geometric metric.  Where holds contradict each other they give way in that metric, too.
static void finish_speeds(lwi_assembler *a)
{
    const size_t n = (size_t)a->model->nbody;
    const double before = largest_residual(a, true), speed = lwi_assembler_speed(a);
    if (before <= UNSOLVED * speed) return;
    memcpy(a->old_r, a->v, n * sizeof *a->v);
    for (size_t b = 0; b < n; b++) v3_copy(a->old_R[b], a->w[b]);
    project_geometric(a);
    if (largest_residual(a, true) <= BETTER * before) return;
    if (before <= CONTRADICTION * speed) {
        memcpy(a->v, a->old_r, n * sizeof *a->v);
        for (size_t b = 0; b < n; b++) v3_copy(a->w[b], a->old_R[b]);
        return;
    }
    give_up_residuals(a);
    find_minimum_energy(a);
    project_geometric(a);
    memset(a->given_up, 0, (size_t)a->nrow * sizeof *a->given_up);
}

void lwi_assembler_speeds(lwi_assembler *a)
{
    find_minimum_energy(a);
    finish_speeds(a);
    lwi_assembler_read(a);
}
