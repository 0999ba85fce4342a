// hdca.c -- formulation `hdca`: Hamiltonian divide and conquer for mechanisms with loops.  Numbers (n) are
// those of [chadaj2017]; docs/theory/hdca.md derives the equations, several of which are not printed in its
// digital copies.
//
// State: joint momenta p of a spanning tree.  Joints outside the tree ("cuts") and couplings have none.  The
// first part is in world axes about mass centres, the second in link frames.
//
// Velocities, the first set of Hamilton's equations (1), (3), (7).  A tree joint transmits the momentum  W_k
// + J_k' sigma_k from its parent, with S' W_k = p_k (10): because S' J_k' = 0 (11), any W_k with this
// property can be used, the rows of the joint supply the rest.  A cut transmits J_c' sigma_c (62).  Momenta
// of the bodies (9), (12)-(13) and all constraints (23),
//
//     M V = b + J' sigma,  b = sum of +W_k on the node and -W_k on its parent,      J V = -b_row,
//
// give the velocities to round-off and the impulses of all rows by one elimination, (15)-(36).  No velocity
// is integrated.  A rotor on a coordinate is a body (system.h): the row that makes its speed equal to u has
// the impulse -I_r u, so that p = S' P + I_r u holds without a further term; that of a cut is transmitted
// like the impulses of its other rows.
//
// Momentum rates, the second set (2), (77): what joints transmit, loops/cut_momenta.h.
//
// Cost: O(n) for chains and bounded loops.  Errors: LW_ERR_SINGULAR, LW_ERR_NOT_FINITE.
#include "methods/dca/hdca.h"

#include "base/assert.h"

#include "kinematics/auxiliary.h"
#include "loops/cut_momenta.h"
#include "methods/dca/coordinates.h"
#include "methods/dca/ranks.h"
#include "methods/dca/segments/divide.h"
#include "methods/dca/segments/net.h"
#include "methods/dca/segments/path.h"
#include "methods/dca/segments/reactions.h"
#include "tree/body_forces.h"
#include "spatial/rotation.h"

#include <string.h>

// What the speeds of a state are needed for.  An output row is at the state of the evaluation that ends the step
// before it or begins the one after it, and a run begins with momenta, scales, velocities and the row of one state:
// each takes what another has found, or at other momenta its factors.  None takes its own, so that calls repeated at
// one state cost and test all that they do, unless the caller permits it (same_coordinates), and FOR_NONE takes nothing.
typedef enum purpose { FOR_NONE, FOR_START, FOR_RATES, FOR_SCALE, FOR_VELOCITIES, FOR_ROW } purpose;

typedef struct hdca {
    lwi_tree_work tree; // body_R, body_r, body_v, body_w, joint_q, joint_qd are those of `system`
    lwi_cut_momenta momenta;
    lwi_system system;
    lwi_tree_passes passes;
    int ncut;      // cut joints and couplings, in the order of lwi_cut_momenta
    int *cut_edge; // [ncut] their edge of the elimination; -1: no rows
    lwi_auxiliary auxiliary;
    double *p, *u; // [tree_nv] momenta in link axes, speeds
    double *sigma; // [system.nrow] impulses of the rows
    purpose found; // the last one
    bool factored; // the factors are those of the positions of `at` at the time t,
    bool solved;   // and all of these those of the state `at`
    double t, *at; // [nx]
    lwi_coordinates coordinates;
    lwi_path *path;               // NULL: the model is not a long path
    lwi_net *net;                 // NULL: nor does it consist of such paths between few bodies
    lwi_body_forces *body_forces; // of a path; NULL: all forces act along joints
    double *effort;               // [tree_nv] of paths, forces on bodies included
    double *udot;                 // [tree_nv] of the last observation
    bool has_rows;                // the rows of `system` are those of the last observation
    bool rows_in_segments;
    lwi_segment_rows rows; // then
} hdca;

// ----------------------------------------------------------------------------------------- prepare

static lw_status list_cuts(const lw_model *model, lwi_arena *arena, hdca *d)
{
    d->ncut = model->nloop + model->ncoupling;
    d->cut_edge = LWI_PUSH(arena, int, d->ncut);
    if (!d->cut_edge) return LW_ERR_MEMORY;
    for (int i = 0; i < d->ncut; i++)
        d->cut_edge[i] = i < model->nloop ? d->system.joint_edge[model->loop[i]] : -1;
    for (int e = 0; e < d->system.nedge; e++) {
        const int j = d->system.edge_joint[e];
        if (j >= 0) continue;
        LWI_ASSERT_INDEX(model->nloop - 1 - j, d->ncut);
        d->cut_edge[model->nloop - 1 - j] = e;
    }
    return LW_OK;
}

static lw_status prepare_rows(const lw_model *model, lwi_arena *arena, hdca *d)
{
    d->rows_in_segments = lwi_segment_rows_fit(model, &d->system, d->path, d->net);
    if (!d->rows_in_segments) return LW_OK;
    d->effort = LWI_PUSH(arena, double, model->tree_nv);
    if (!d->effort) return LW_ERR_MEMORY;
    TRY(lwi_segment_rows_create(model, &d->system, &d->tree, &d->passes, d->path, d->net, arena,
                                &d->rows));
    return d->path ? lwi_body_forces_create(model, arena, &d->body_forces) : LW_OK;
}

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    hdca *d = LWI_PUSH(arena, hdca, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    d->p = LWI_PUSH(arena, double, model->tree_nv);
    d->u = LWI_PUSH(arena, double, model->tree_nv);
    d->udot = LWI_PUSH(arena, double, model->tree_nv);
    if (!d->p || !d->u || !d->udot) return LW_ERR_MEMORY;
    TRY(lwi_tree_work_create(model, arena, &d->tree));
    d->tree.mode = &work->mode;
    d->tree.states = &work->states;
    lwi_system *system = &d->system;
    TRY(lwi_system_prepare(work, system));
    d->tree.body_R = system->R, d->tree.body_r = system->r;
    d->tree.body_v = system->v, d->tree.body_w = system->w;
    d->tree.joint_q = system->q, d->tree.joint_qd = system->qd;
    d->tree.shares = system->shares;
    d->tree.pool = system->pool;
    TRY(list_cuts(model, arena, d));
    TRY(lwi_coordinates_create(model, arena, &d->coordinates));
    TRY(lwi_tree_passes_create(model, arena, &d->passes));
    d->passes.pool = system->pool;
    lwi_path_plan *path = NULL;
    lwi_net_plan *net = NULL;
    if (work->lanes != LWI_NO_KERNEL) TRY(lwi_divide(model, work->shared, arena, &path, &net));
    if (path) TRY(lwi_path_create(model, path, work->lanes, system->pool, arena, &d->path));
    if (net) TRY(lwi_net_create(net, work->lanes, system->pool, &d->tree, system, arena, &d->net));
    work->segments = d->path || d->net;
    TRY(prepare_rows(model, arena, d));
    TRY(lwi_dca_share_ranks(work, system, d->path, d->net));
    TRY(lwi_auxiliary_create(model, LWI_MOMENTUM, arena, &d->auxiliary, &work->layout));
    d->sigma = LWI_PUSH(arena, double, system->nrow);
    d->at = LWI_PUSH(arena, double, work->layout.nx);
    if (!d->sigma || !d->at) return LW_ERR_MEMORY;
    // as after lwi_system_begin: workspaces of threads of a batch are not entered
    if (system->nrow) lwi_elim_allow_inactive(system->elim, true);
    return lwi_cut_momenta_create(model, &d->tree, &d->passes,
                                  lwi_gauge_choose(model, work->options), system->length, arena,
                                  &d->momenta);
}

static void release(lwi_work *work)
{
    hdca *d = work->data;
    if (d) lwi_pool_destroy(d->system.pool);
}

// -------------------------------------------------------------------------------------- kinematics

// Poses of links and bodies, coordinates; those of cut joints are the values that readings continue from.
static void place(hdca *d, double t, const double *x)
{
    lwi_tree_work *tree = &d->tree;
    d->factored = d->solved = false;
    lwi_system_place_tree(&d->system, &d->passes, t, x, tree);
    lwi_auxiliary_load(d->system.model, &d->auxiliary, x, d->system.q);
}

// Velocities of links and bodies at the speeds u; speeds of all joints.
static void move(hdca *d, double t)
{
    lwi_tree_work *tree = &d->tree;
    lwi_system_move_tree(&d->system, &d->passes, d->u, tree);
    lwi_system_read_loops(&d->system, t, false);
}

// Parts of an evaluation node by node, on the threads of the system.
typedef struct job {
    hdca *d;
    double t;
} job;

// ------------------------------------------------------------------------- first part: the speeds

// Right side b = M xi_0 of every body: +W of the joint's momenta on the node, -W on its parent, W = S
// (S'S)^-1 p: the active part H p of the articulated momentum (10), moved to the mass centres by the shift
// matrices (14), as in the integral equations of motion (12)-(13) and their coefficients xi10, xi20
// (15)-(16).  Here that of the node in x, of the parent in y.
static void put_momenta(void *user, int first, int end)
{
    hdca *d = user;
    const lw_model *model = d->system.model;
    const lwi_tree_work *tree = &d->tree;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        double a[6], W[6] = {0}, f[3], n[3], arm[3], *x = d->system.x[k], *y = d->system.y[k];
        v6_zero(x);
        v6_zero(y);
        if (node->nv == 0) continue;
        memcpy(a, d->p + node->iv, (size_t)node->nv * sizeof *a);
        lwi_joint_metric_solve(node->nv, d->tree.link[k].S, a);
        for (int j = 0; j < node->nv; j++) v6_axpy(W, a[j], tree->link[k].S[j]);
        m3_mul_v(f, tree->R[k], W);
        m3_mul_v(n, tree->R[k], W + 3);
        for (int side = 0; side < 2; side++) { // node, parent
            const int to = side ? node->parent : k;
            double *on = side ? y : x;
            if (to < 0) continue;
            LWI_ASSERT(to <= k); // parents come first
            v3_sub(arm, tree->r[k], d->system.r[model->node[to].body]);
            v3_copy(on, f);
            v3_cross(on + 3, arm, f);
            v3_add(on + 3, on + 3, n);
        }
    }
}

// The parts of the children, in their order.
static void gather_momenta(void *user, int first, int end)
{
    hdca *d = user;
    for (int k = first; k < end; k++)
        for (int c = d->tree.child[k]; c >= 0; c = d->tree.sibling[c])
            v6_axpy(d->system.x[k], -1, d->system.y[c]);
}

static void find_right_side(hdca *d)
{
    lwi_system *system = &d->system;
    const int n = system->model->nnode;
    for (int k = n; k < system->nbody; k++) v6_zero(system->x[k]); // rotors, parts
    lwi_pool_for(system->pool, n, put_momenta, d);
    lwi_pool_for(system->pool, n, gather_momenta, d);
    for (int i = 0; i < system->nrow; i++) system->c[i] = -system->b[i];
}

// Velocities of bodies and links from the solution.
static void take_velocities(void *user, int first, int end)
{
    hdca *d = user;
    lwi_system *system = &d->system;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &system->model->node[k];
        const double *x = system->x[k], *R = d->tree.R[k];
        double *V = d->tree.V[k], c[3];
        v3_copy(system->v[node->body], x);
        v3_copy(system->w[node->body], x + 3);
        m3_tmul_v(V, R, x);
        m3_tmul_v(V + 3, R, x + 3);
        v3_cross(c, node->c_r, V + 3); // v of the link's origin = v_C + c x w
        v3_add(V, V, c);
    }
}

// Joint speeds qdot = H' (V_B - V_A) (23), (40), (46).
static void take_speeds(void *user, int first, int end)
{
    hdca *d = user;
    const lw_model *model = d->system.model;
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        lwi_link *link = &d->tree.link[k];
        double own[6], parent[6] = {0}, *u = d->u + node->iv;
        if (node->parent >= 0) motion_to(parent, link->R, link->r, d->tree.V[node->parent]);
        if (node->driven) v6_add(parent, parent, link->sigma);
        for (int i = 0; i < 6; i++) own[i] = d->tree.V[k][i] - parent[i];
        for (int j = 0; j < node->nv; j++) u[j] = v6_dot(link->S[j], own);
        lwi_joint_metric_solve(node->nv, link->S, u);
        lwi_tree_speeds(model, k, link, d->u, d->system.qd);
    }
}

static bool has_factors(const hdca *d, double t, const double *x)
{
    const size_t nq = (size_t)d->system.model->tree_nq, n = (size_t)d->auxiliary.n;
    const double *at = d->at + d->auxiliary.at;
    return d->factored && t == d->t && memcmp(x, d->at, nq * sizeof *x) == 0 &&
           memcmp(x + d->auxiliary.at, at, n * sizeof *x) == 0 && lwi_system_is_regular(&d->system);
}

static void keep_state(const lwi_work *work, double t, const double *x)
{
    hdca *d = work->data;
    memcpy(d->at, x, (size_t)work->layout.nx * sizeof *x);
    d->t = t;
    d->factored = true;
}

// Poses, rows, factors.
static lw_status find_factors(lwi_work *work, double t, const double *x)
{
    hdca *d = work->data;
    place(d, t, x);
    lwi_system_rows(&d->system, t);
    return lwi_system_factor(&d->system, t, &work->error);
}

// First set of Hamilton's equations (1): M V - J' sigma = b, J V = -b_row, (6)-(7), (3): poses, rows,
// factors, then V, u and the impulses sigma.  The elimination does the assembly (17)-(36), the connection to
// the base (37)-(45) and the disassembly (29).
static lw_status find_speeds(lwi_work *work, double t, const double *x, purpose what)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    lwi_system *system = &d->system;
    const size_t nx = (size_t)work->layout.nx * sizeof *x;
    const size_t rows = (size_t)system->nrow * sizeof *d->sigma;
    const bool takes = what != FOR_NONE && (what != d->found || work->same_coordinates);
    d->found = what;
    if (takes && d->solved && t == d->t && memcmp(x, d->at, nx) == 0) {
        if (system->nrow) memcpy(system->lambda, d->sigma, rows);
        return LW_OK;
    }
    if (!takes || !has_factors(d, t, x)) TRY(find_factors(work, t, x));
    d->factored = d->solved = false;
    lwi_cut_momenta_to_links(&d->momenta, x + model->tree_nq, d->p);
    find_right_side(d);
    lwi_system_solve(system);
    lwi_pool_for(system->pool, model->nnode, take_velocities, d);
    lwi_pool_for(system->pool, model->nnode, take_speeds, d);
    TRY(lwi_tree_finite(model, t, d->u, "speed", &work->error));
    lwi_system_move_merged(system);
    lwi_system_read_loops(system, t, false);
    if (system->nrow) memcpy(d->sigma, system->lambda, rows);
    keep_state(work, t, x);
    d->solved = true;
    return LW_OK;
}

// -------------------------------------------------------------------------- second part: the rates

// Impulses of the cuts (62).
static void add_cuts(void *user, int first, int end)
{
    const job *of = user;
    lwi_system *system = &of->d->system;
    for (int i = first; i < end; i++) {
        const int e = of->d->cut_edge[i];
        if (e < 0) continue;
        lwi_cut_momenta_add(&of->d->momenta, i, of->t, &system->motion,
                            of->d->sigma + system->plan.row[e]);
    }
}

// These, and the momenta that the tree joints transmit (63).
static void cut_impulses(hdca *d, double t)
{
    job of = {.d = d, .t = t};
    lwi_pool_for(d->system.pool, d->ncut, add_cuts, &of);
    lwi_cut_momenta_transmit(&d->momenta);
}

// Efforts on coordinates of cut joints become wrenches on their bodies in `load`.
static void apply_cut_efforts(hdca *d, double t)
{
    const lw_model *model = d->system.model;
    if (model->nforce == 0) return;
    for (int i = 0; i < model->nloop; i++) {
        const int j = model->loop[i];
        lwi_joint_apply_effort(model, j, t, &d->system.motion,
                               d->tree.loads.effort + model->joint[j].iv, d->momenta.load);
    }
}

// Loads of the model.
static void apply_loads(lwi_work *work, double t, const double *inputs)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    lwi_tree_work *tree = &d->tree;
    memset(tree->wrench, 0, (size_t)model->nnode * sizeof *tree->wrench);
    lwi_tree_loads_placed(model, tree, t, inputs);
    apply_cut_efforts(d, t);
}

// Rate of the work w: power of forces, of efforts on mounts of cut joints, and of drives and mounts less the rate
// of their share in the momenta.  No acceleration is needed [naudet2003].
static double work_rate(hdca *d, double t, double prescribed_rate)
{
    const lw_model *model = d->system.model;
    double watts = d->tree.power;
    if (!model->driven) return watts;
    for (int i = 0; model->nforce > 0 && i < model->nloop; i++)
        watts += lwi_system_mount_power(&d->system, model->loop[i], t, d->tree.loads.effort);
    return watts + prescribed_rate;
}

// The work [J] at x, after find_speeds.
static double work_at(hdca *d, double t, const double *x)
{
    const lw_model *model = d->system.model;
    if (!model->carries_work) return 0;
    const double w = x[model->tree_nq + model->tree_nv];
    if (!model->driven) return w;
    cut_impulses(d, t);
    return w + lwi_cut_momenta_prescribed(&d->momenta);
}

// Efforts of all loads of a path at the speeds u, in tree.effort.
static void path_efforts(hdca *d, double t, const double *x, const double *inputs)
{
    const lw_model *model = d->system.model;
    if (d->body_forces) lwi_body_forces_place(d->body_forces, x, d->u, NULL, &d->tree);
    lwi_tree_joint_loads(model, &d->tree, t, x, d->u, inputs);
    if (d->body_forces) lwi_body_forces_efforts(d->body_forces, NULL, &d->tree);
}

// The same for a long path, in segments; false if the elimination has to decide.
static bool path_rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    double *pdot = xdot + model->tree_nq;
    d->factored = d->solved = false;
    if (!lwi_path_rates(d->path, x, x + model->tree_nq, d->u, pdot)) return false;
    path_efforts(d, t, x, inputs);
    if (model->nforce > 0) lwi_path_add_efforts(d->path, d->tree.effort, pdot);
    lwi_coordinates_rates(&d->coordinates, d->system.pool, x, d->u, xdot);
    if (model->carries_work) pdot[model->tree_nv] = d->tree.power;
    return model->nforce == 0 || lwi_tree_finite(model, t, pdot, "rate of momentum", NULL) == LW_OK;
}

// The same for long paths between few bodies.
static bool net_rates(lwi_work *work, double t, const double *x, const double *inputs, double *xdot)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    lwi_system *system = &d->system;
    double *pdot = xdot + model->tree_nq;
    d->factored = d->solved = false;
    if (!lwi_net_speeds(d->net, t, x, x + model->tree_nq, d->u)) return false;
    lwi_auxiliary_load(model, &d->auxiliary, x, system->q);
    lwi_system_read_loops(system, t, false);
    lwi_net_zero_loads(d->net, d->momenta.load);
    for (int i = 0; i < model->nloop; i++)
        lwi_cut_momenta_add(&d->momenta, i, t, &system->motion, lwi_net_multipliers(d->net, i));
    lwi_cut_momenta_load_cuts(&d->momenta);
    lwi_tree_joint_loads(model, &d->tree, t, x, d->u, inputs);
    lwi_net_add_loads(d->net, d->momenta.load);
    apply_cut_efforts(d, t);
    if (!lwi_net_rates(d->net, t, x + model->tree_nq, d->u, (const double(*)[6])d->momenta.load,
                       pdot))
        return false;
    if (model->nforce > 0) lwi_net_add_efforts(d->net, d->tree.effort, pdot);
    lwi_coordinates_rates(&d->coordinates, d->system.pool, x, d->u, xdot);
    lwi_auxiliary_rates(model, &d->auxiliary, system->q, system->qd, xdot);
    if (model->carries_work)
        pdot[model->tree_nv] =
            work_rate(d, t, d->momenta.prescribed_rate + lwi_net_prescribed_rate(d->net));
    return model->nforce == 0 || lwi_tree_finite(model, t, pdot, "rate of momentum", NULL) == LW_OK;
}

// First and second set of Hamilton's equations (1)-(2): speeds, then momentum rates (8), (77).
static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    double *pdot = xdot + model->tree_nq;
    lwi_states_set(work, x, xdot);
    if (d->path && path_rates(work, t, x, inputs, xdot)) return LW_OK;
    if (d->net && net_rates(work, t, x, inputs, xdot)) return LW_OK;
    TRY(find_speeds(work, t, x, FOR_RATES));
    if (lwi_dca_on_ranks(work)) d->factored = d->solved = false;
    lwi_node_rates of = {model, d->tree.link, t, d->u, xdot};
    lwi_pool_for(d->system.pool, model->nnode, lwi_node_rates_part, &of);
    cut_impulses(d, t);
    apply_loads(work, t, inputs);
    lwi_cut_momenta_rates(&d->momenta, x + model->tree_nq, pdot);
    lwi_auxiliary_rates(model, &d->auxiliary, d->system.q, d->system.qd, xdot);
    if (model->carries_work)
        pdot[model->tree_nv] = work_rate(d, t, lwi_cut_momenta_prescribed_rate(&d->momenta));
    return lwi_tree_finite(model, t, pdot, "rate of momentum", &work->error);
}

// ------------------------------------------------------------------------------------------- state

// p := momenta of the velocities at x.
static lw_status without_impulses(lwi_work *work, double t, purpose what, double *x)
{
    hdca *d = work->data;
    TRY(find_speeds(work, t, x, what));
    d->solved = false; // the momenta of x change
    lwi_cut_momenta_of_speeds(&d->momenta, t, &d->system.motion, d->u, x + work->model->tree_nq);
    return LW_OK;
}

// Sets w such that the work at x is `joules`.
static lw_status set_work(lwi_work *work, double t, double joules, double *x)
{
    const lw_model *model = work->model;
    if (!model->driven) return LW_OK;
    double *w = x + model->tree_nq + model->tree_nv;
    *w = 0;
    TRY(find_speeds(work, t, x, FOR_NONE));
    *w = joules - work_at(work->data, t, x);
    return LW_OK;
}

lw_status lwi_hdca_reset(lwi_work *work, double t, double *x)
{
    double joules = 0;
    if (work->model->driven) {
        TRY(find_speeds(work, t, x, FOR_NONE));
        joules = work_at(work->data, t, x);
    }
    TRY(without_impulses(work, t, FOR_NONE, x));
    return set_work(work, t, joules, x);
}

// State x at (t, q) with the second part `second` in link axes; the poses are those of x.
static void place_links(lwi_work *work, double t, const double *q, const double *second, double *x)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    memcpy(x, q, (size_t)model->tree_nq * sizeof *q);
    memcpy(x + model->tree_nq, second, (size_t)model->tree_nv * sizeof *second);
    place(d, t, x);
    lwi_system_read_loops(&d->system, t, true);
    lwi_auxiliary_store(model, &d->auxiliary, d->system.q, x);
}

void lwi_hdca_link_momenta(lwi_work *work, double t, const double *q, const double *v, double *x,
                           double *p)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    place_links(work, t, q, v, x);
    memcpy(d->u, v, (size_t)model->tree_nv * sizeof *v);
    lwi_tree_velocity(model, d->tree.link, d->u, d->tree.V);
    if (model->nrotor > 0) move(d, t);
    double *state = x + model->tree_nq;
    lwi_cut_momenta_of_speeds(&d->momenta, t, &d->system.motion, d->u, state);
    lwi_cut_momenta_to_links(&d->momenta, state, p);
}

lw_status lwi_hdca_link_rates(lwi_work *work, double t, const double *q, const double *p,
                              const double *inputs, double *x, double *v, double *xdot)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    place_links(work, t, q, p, x);
    lwi_cut_momenta_from_links(&d->momenta, x + model->tree_nq);
    TRY(rates(work, t, x, inputs, xdot));
    memcpy(v, d->u, (size_t)model->tree_nv * sizeof *v);
    lwi_cut_momenta_rates_to_links(&d->momenta, p, v, xdot + model->tree_nq);
    return LW_OK;
}

double lwi_hdca_kappa(const lwi_work *work)
{
    return ((const hdca *)work->data)->momenta.gauge.kappa;
}

const lwi_system *lwi_hdca_system(const lwi_work *work)
{
    return &((const hdca *)work->data)->system;
}

// Poses and speeds of a snapshot.
static void enter_motion(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    lwi_tree_enter(model, snapshot, x, d->u);
    memcpy(d->system.q, snapshot->q, (size_t)model->nq * sizeof *snapshot->q);
    lwi_auxiliary_store(model, &d->auxiliary, snapshot->q, x);
    lwi_states_enter(work, snapshot, x);
    place(d, snapshot->t, x);
    d->found = FOR_NONE;
}

// p := momenta of these speeds.
static void enter_momenta(lwi_work *work, double t, double *x)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    lwi_tree_velocity(model, d->tree.link, d->u, d->tree.V);
    if (model->nrotor > 0) move(d, t); // speeds of cut joints
    lwi_cut_momenta_of_speeds(&d->momenta, t, &d->system.motion, d->u, x + model->tree_nq);
}

// State of a snapshot.  sigma = 0 at the start (6): p is the momentum of the velocities.  Velocities that do
// not satisfy the loops give the momenta of the nearest ones, in kinetic energy, that do.
static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    hdca *d = work->data;
    enter_motion(work, snapshot, x);
    if (!work->resumed) TRY(lwi_system_begin(&d->system, snapshot->t, &work->error));
    const bool started = !work->resumed && lwi_system_is_far(&d->system);
    enter_momenta(work, snapshot->t, x);
    if (started) keep_state(work, snapshot->t, x);
    if (d->system.nrow) TRY(without_impulses(work, snapshot->t, FOR_START, x));
    return set_work(work, snapshot->t, snapshot->work, x);
}

// Whether the generic ranks are those of the model's start itself, which is closed; leaves the motion there.
static bool is_ranked_at_start(lwi_system *s)
{
    const size_t nbody = (size_t)s->model->nbody, nq = (size_t)s->model->nq;
    if (!s->generic_R || s->start_rank != s->generic_rank || s->generic_t != 0) return false;
    lwi_system_start(s);
    return !memcmp(s->R, s->generic_R, nbody * sizeof *s->R) &&
           !memcmp(s->r, s->generic_r, nbody * sizeof *s->r) &&
           (!nq || !memcmp(s->q, s->generic_q, nq * sizeof *s->q));
}

bool lwi_hdca_estimate_start(lwi_work *work, const lwi_snapshot *start, double *x)
{
    hdca *d = work->data;
    if (work->model->driven || !is_ranked_at_start(&d->system)) return false;
    enter_motion(work, start, x);
    enter_momenta(work, start->t, x);
    return true;
}

// Accelerations of a path or net at the speeds u, with the factors of these.
static bool path_accelerations(hdca *d, double t, const double *x)
{
    if (d->path) return lwi_path_accelerations(d->path, x, d->u, d->effort, true, d->udot);
    return lwi_net_move(d->net, t, x, d->u, true) &&
           lwi_net_accelerations(d->net, t, d->effort, (const double(*)[6])d->momenta.load,
                                 d->udot);
}

// Motion of the joints that close loops, and the impulses of their rows; after lwi_net_speeds.
static void read_cuts(hdca *d, double t, const double *x)
{
    const lw_model *model = d->system.model;
    lwi_system *system = &d->system;
    if (model->nloop == 0) return;
    lwi_auxiliary_load(model, &d->auxiliary, x, system->q);
    lwi_system_read_loops(system, t, false);
    for (int i = 0; i < model->nloop; i++) {
        const double *lambda = lwi_net_multipliers(d->net, i);
        const size_t rows = (size_t)lwi_joint_row_count(model, model->loop[i]);
        if (d->cut_edge[i] >= 0 && lambda)
            memcpy(d->sigma + system->plan.row[d->cut_edge[i]], lambda, rows * sizeof *lambda);
    }
}

// A row in segments; false if the elimination has to decide.
static bool segment_observe(lwi_work *work, double t, const double *x, const double *inputs,
                            lw_observe level, lwi_snapshot *snapshot)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    const bool accelerates = level >= LW_OBSERVE_ACCELERATION;
    const double *p = x + model->tree_nq;
    if (level < LW_OBSERVE_TWIST || (model->nloop && !accelerates)) return false;
    d->factored = d->solved = false;
    if (!(d->path ? lwi_path_rates(d->path, x, p, d->u, NULL)
                  : lwi_net_speeds(d->net, t, x, p, d->u)))
        return false;
    const double prescribed = d->net ? lwi_net_prescribed(d->net) : 0;
    read_cuts(d, t, x);
    if (accelerates && d->path) {
        path_efforts(d, t, x, inputs);
        memcpy(d->effort, d->tree.effort, (size_t)model->tree_nv * sizeof *d->effort);
    }
    lwi_tree_evaluate(model, &d->tree, t, x, d->u, inputs);
    if (accelerates && d->net) {
        memcpy(d->effort, d->tree.effort, (size_t)model->tree_nv * sizeof *d->effort);
        memset(d->momenta.load, 0, (size_t)model->nbody * sizeof *d->momenta.load);
        lwi_net_add_loads(d->net, d->momenta.load);
        apply_cut_efforts(d, t);
    }
    if (accelerates && !path_accelerations(d, t, x)) return false;
    lwi_segment_rows_keep(&d->rows);
    if (!lwi_segment_rows_observe(&d->rows, model, t, x, d->u, d->udot, level, snapshot))
        return false;
    snapshot->work = model->carries_work ? x[model->tree_nq + model->tree_nv] + prescribed : 0;
    return true;
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    hdca *d = work->data;
    d->has_rows = false;
    lwi_states_observe(work, x, snapshot);
    if (d->rows_in_segments && segment_observe(work, t, x, inputs, level, snapshot)) return LW_OK;
    if (level < LW_OBSERVE_TWIST) { // poses need no elimination
        place(d, t, x);
        lwi_system_read_loops(&d->system, t, true);
    } else {
        TRY(find_speeds(work, t, x, level < LW_OBSERVE_ACCELERATION ? FOR_VELOCITIES : FOR_ROW));
        d->has_rows = true;
        snapshot->work = work_at(d, t, x);
    }
    if (level >= LW_OBSERVE_ACCELERATION) {
        lwi_system_forces(&d->system, t, inputs);
        lwi_tree_rates(work->model, t, d->u, d->tree.link);
        TRY(lwi_system_accelerations_factored(&d->system, t, &d->system.loads, &d->tree, d->u,
                                              &work->error));
        lwi_system_speed_rates(&d->system, &d->tree, d->udot);
    }
    lwi_system_observe_tree(&d->system, t, level, &d->tree, d->udot, snapshot);
    return LW_OK;
}

// Those that the last observation solved for.
static bool impulses(const lwi_work *work, int i, int n, double *sigma)
{
    const hdca *d = work->data;
    LWI_ASSERT_INDEX(i, d->ncut);
    const int e = d->cut_edge[i];
    if (e >= 0) memcpy(sigma, d->sigma + d->system.plan.row[e], (size_t)n * sizeof *sigma);
    return e >= 0;
}

// Those of the last observation, by the rows of its velocities.
static bool residuals(const lwi_work *work, lw_observe level, double largest[3])
{
    const hdca *d = work->data;
    if (!d->has_rows) return false;
    lwi_system_residuals(&d->system, level, largest);
    return true;
}

static lw_status scale(lwi_work *work, double t, const double *x, double *factor)
{
    const lw_model *model = work->model;
    hdca *d = work->data;
    double *inertia = factor + model->tree_nq;
    for (int i = 0; i < work->layout.nx; i++) factor[i] = 1;
    if (model->carries_work) {
        TRY(find_speeds(work, t, x, FOR_SCALE));
        inertia[model->tree_nv] = lwi_tree_energy_scale(model, &d->tree);
    } else if (!has_factors(d, t, x)) { // inertias follow from the poses alone
        place(d, t, x);
    }
    d->found = FOR_SCALE;
    d->solved = false; // the scales change the speeds
    lwi_cut_momenta_to_links(&d->momenta, x + model->tree_nq, d->p);
    return lwi_cut_momenta_scale(&d->momenta, t, d->p, d->u, inertia, &work->error);
}

static void about(const lwi_work *work, char *text, size_t size)
{
    const hdca *d = work->data;
    text[0] = 0;
    if (d->ncut) lwi_gauge_about(&d->momenta.gauge, text, size);
}

static void notice(const lwi_work *work, char *text, size_t size)
{
    lwi_system_notice(&((const hdca *)work->data)->system, text, size);
}

const lwi_formulation lwi_formulation_hdca = {
    .name = "hdca",
    .summary =
        "joint momenta of a spanning tree, velocities and impulses by assembly; linear in the "
        "number of bodies; trees, loops, couplings, redundant constraints",
    .cite = "chadaj2017",
    .flags = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_ROTORS | LWI_HAS_MOMENTA | LWI_HAS_KAPPA |
             LWI_HAS_PLAN | LWI_HAS_THREADS | LWI_HAS_RANKS | LWI_POSES_FIRST,
    .accepts = lwi_system_accepts,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .observe = observe,
    .impulses = impulses,
    .residuals = residuals,
    .scale = scale,
    .about = about,
    .notice = notice,
    .release = release,
};
