// system.c -- a mechanism as a graph for the elimination: creation, rows, metric.
#include "system/system.h"

#include "base/assert.h"

#include "base/double_double.h"
#include "base/linear.h"
#include "system/transfer.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- accepts

// A pivot of an inertia matrix above this share of its trace is valid; below are the round-off of rotated
// axes and of decimal files.
#define INERTIA_PIVOT 1e-12

// L with J = L L' of a symmetric matrix, xx yy zz xy xz yz; false: it is not positive definite.
static bool factor(const double J[6], double L[9])
{
    const double trace = J[0] + J[1] + J[2];
    s3_full(L, J);
    return trace > 0 && lwi_cholesky(3, L, INERTIA_PIVOT * trace) < 0;
}

// Its inverse.
static bool invert(const double J[6], double inverse[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double L[9], X[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (!factor(J, L)) return false;
    for (int k = 0; k < 3; k++) lwi_lower_solve(3, L, X[k]); // columns of L^-1
    for (int i = 0; i < 6; i++) inverse[i] = v3_dot(X[row[i]], X[column[i]]);
    return true;
}

// A body that moves and has no mass, or no inertia about some axis.
static bool any_without_inertia(const lw_model *model)
{
    for (int b = 1; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        double L[9];
        if (body->carrier == b && !(body->mass > 0 && factor(body->inertia, L))) return true;
    }
    return false;
}

lw_status lwi_system_accepts(const lw_model *model, lw_error *why)
{
    lwi_system s;
    lwi_arena scratch;
    if (!any_without_inertia(model)) return LW_OK;
    lwi_arena_init(&scratch, NULL);
    lw_status status = lwi_system_create_extra(model, LW_PLAN_AUTO, 0, NULL, false, &scratch, &s);
    if (status == LW_OK && s.transfer && s.transfer->loose >= 0)
        status = lwi_transfer_fails(&s, 0, LW_ERR_UNSUPPORTED, why);
    else if (status != LW_OK)
        lwi_fail(why, status, "no memory for the bodies without mass");
    lwi_arena_free(&scratch);
    return status;
}

// ---------------------------------------------------------------------------------------- creation

#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY

// Whether the joint has a rotor on coordinate first, first + 1 or first + 2.
static bool has_rotor(const lwi_joint *joint, int first)
{
    bool any = false;
    for (int k = first; k < first + 3; k++) any = any || joint->rotor[k] > 0;
    return any;
}

static lw_status list_rotors(lwi_system *s, lwi_arena *arena)
{
    const lw_model *model = s->model;
    GET(s->rotor, model->nrotor);
    GET(s->joint_rotor, model->njoint + 1);
    for (int j = 0; j < model->njoint; j++) {
        s->joint_rotor[j] = s->nrotor;
        for (int first = 0; first < LW_JOINT_MAX_NV; first += 3)
            if (has_rotor(&model->joint[j], first))
                s->rotor[s->nrotor++] = (lwi_system_rotor){j, first};
    }
    s->joint_rotor[model->njoint] = s->nrotor;
    LWI_ASSERT(s->nrotor <= model->nrotor);
    return LW_OK;
}

static void invert_inertias(const lw_model *model, double (*mobility)[6])
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_body *body = &model->body[model->node[k].body];
        if (!invert(body->inertia, mobility[k])) memset(mobility[k], 0, sizeof *mobility);
    }
}

// Those of the simulation, which the first system finds.
static lw_status make_mobility(lwi_system *s, lwi_shared *shared, lwi_arena *arena)
{
    const lw_model *model = s->model;
    double(*mobility)[6] = shared ? shared->mobility : NULL;
    if (!mobility) {
        mobility =
            lwi_arena_push(shared ? &shared->arena : arena, (size_t)model->nnode, sizeof *mobility);
        if (!mobility) return LW_ERR_MEMORY;
        invert_inertias(model, mobility);
        if (shared) shared->mobility = mobility;
    }
    s->mobility = (const double(*)[6])mobility;
    return LW_OK;
}

static lw_status make_motion(lwi_system *s, lwi_arena *arena)
{
    const lw_model *model = s->model;
    GET(s->R, model->nbody);
    GET(s->r, model->nbody);
    GET(s->v, model->nbody);
    GET(s->w, model->nbody);
    GET(s->q, model->nq);
    GET(s->qd, model->nv);
    GET(s->loads.wrench, model->nbody);
    GET(s->loads.effort, model->nv);
    GET(s->wrench, model->nbody);
    GET(s->a, model->nbody);
    GET(s->al, model->nbody);
    GET(s->undetermined, model->njoint);
    s->motion = (lwi_motion){.R = (const double(*)[9])s->R,
                             .r = (const double(*)[3])s->r,
                             .v = (const double(*)[3])s->v,
                             .w = (const double(*)[3])s->w,
                             .q = s->q};
    return LW_OK;
}

// Bodies and number of rows of an edge that the caller fills.
static void extra_closure(const lwi_system *s, int e, lwi_closure *closure)
{
    const lwi_system_extra *extra = &s->extra[e - (s->nedge - s->nextra)];
    LWI_ASSERT(extra->rows >= 0 && extra->rows <= LWI_EDGE_ROWS);
    *closure = (lwi_closure){.n = extra->rows};
    for (int i = 0; i < extra->n; i++) closure->body[closure->nbody++] = extra->body[i];
}

// The rows of edge e at the current motion.
static void closure_of(const lwi_system *s, int e, double t, lwi_closure_level level,
                       lwi_closure *closure)
{
    const int j = s->edge_joint[e];
    if (e >= s->nedge - s->nextra)
        extra_closure(s, e, closure);
    else if (j >= 0)
        lwi_joint_closure(s->model, j, t, &s->motion, level, closure);
    else
        lwi_coupling_closure(s->model, -1 - j, t, &s->motion, level, closure);
    if (j >= 0 && s->nrotor) lwi_joint_rotor_rows(s->model, j, t, &s->motion, level, closure);
}

// Number of rotor bodies of edge e, which come after its other bodies.
static int rotor_count(const lwi_system *s, int e)
{
    LWI_ASSERT(e >= 0);
    const int j = s->edge_joint[e];
    return s->nrotor && j >= 0 ? s->joint_rotor[j + 1] - s->joint_rotor[j] : 0;
}

// Edges: joints with rows in the order of the model, then couplings.  The bodies of an edge are in the order
// of its closure.
static lw_status make_graph(lwi_system *s, lwi_arena *arena, lwi_plan_graph *graph)
{
    const lw_model *model = s->model;
    lwi_plan_edge *edge;
    GET(s->joint_edge, model->njoint);
    const int capacity = model->njoint + model->ncoupling + s->nextra;
    GET(s->edge_joint, capacity);
    GET(edge, capacity);
    for (int j = 0; j < model->njoint; j++) {
        s->joint_edge[j] = -1;
        const int rotors = s->nrotor ? model->joint[j].nrotor : 0;
        if (model->joint[j].merged || lwi_joint_row_count(model, j) + rotors == 0) continue;
        s->edge_joint[s->nedge] = j;
        s->joint_edge[j] = s->nedge++;
    }
    for (int c = 0; c < model->ncoupling + s->nextra; c++) s->edge_joint[s->nedge++] = -1 - c;
    for (int e = 0; e < s->nedge; e++) {
        const int j = s->edge_joint[e];
        lwi_closure closure;
        if (j >= 0 && !s->nrotor)
            lwi_joint_closure_shape(model, j, &closure);
        else
            closure_of(s, e, 0, LWI_CLOSURE_POSITION, &closure);
        LWI_ASSERT(closure.n >= 0 && closure.n <= LWI_EDGE_ROWS && closure.nbody >= 1);
        edge[e] = (lwi_plan_edge){.rows = closure.n, .n = closure.nbody};
        for (int i = 0; i < closure.nbody; i++) edge[e].body[i] = model->body_node[closure.body[i]];
        const bool coupling = j < 0 && e < s->nedge - s->nextra;
        for (int i = 0; s->extensions && !coupling && i < closure.nbody; i++)
            edge[e].body[edge[e].n++] = model->nnode + edge[e].body[i];
        for (int i = 0; i < rotor_count(s, e); i++)
            edge[e].body[edge[e].n++] = model->nnode + s->joint_rotor[j] + i;
        LWI_ASSERT(edge[e].n <= LWI_EDGE_BODIES);
        if (e >= s->nedge - s->nextra) {
            edge[e].ground = s->extra[e - (s->nedge - s->nextra)].ground;
        } else if (j >= 0) {
            edge[e].ground = !model->joint[j].body1 || !model->joint[j].body2;
        } else {
            const lwi_coupling *c = &model->coupling[-1 - j];
            const lwi_joint *a = &model->joint[c->joint], *b = &model->joint[c->of];
            edge[e].ground = !a->body1 || !a->body2 || !b->body1 || !b->body2;
        }
    }
    *graph = (lwi_plan_graph){.nbody = s->nbody, .nedge = s->nedge, .edge = edge};
    return LW_OK;
}

// Splits bodies with many joints; an edge for each link.
static lw_status split(lwi_system *s, lwi_arena *arena, lwi_plan_graph *graph)
{
    int *edge_joint;
    TRY(lwi_split_create(graph, arena, &s->split));
    *graph = s->split.graph;
    s->nbody = graph->nbody;
    GET(edge_joint, graph->nedge);
    for (int e = 0; e < s->nedge; e++) edge_joint[e] = s->edge_joint[e];
    for (int i = 0; i < s->split.npart; i++)
        edge_joint[s->nedge + i] = s->edge_joint[s->split.part[i].edge];
    s->edge_joint = edge_joint;
    return LW_OK;
}

static lw_status make_rows(lwi_system *s, lwi_arena *arena)
{
    const int rows = s->plan.nrow;
    GET(s->phi, rows);
    GET(s->b, rows);
    GET(s->gamma, rows);
    GET(s->c, rows);
    GET(s->lambda, rows);
    for (int i = 0; i < LWI_COUNT(s->row); i++) GET(s->row[i], rows);
    return LW_OK;
}

// Elimination, the common one or its own; the rows of links are constant.
static lw_status create_elimination(lwi_system *s, lwi_shared *shared, bool common,
                                    lwi_arena *arena)
{
    TRY(make_rows(s, arena));
    TRY((common ? lwi_shared_elim : lwi_shared_own_elim)(shared, &s->plan, arena, &s->elim));
    for (int e = s->nedge; e < s->plan.graph.nedge; e++)
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 6; k++)
                lwi_elim_J(s->elim)[6 * (s->plan.slot[e] + i) + k][k] = i ? -1 : 1;
    return lwi_transfer_create(s, arena);
}

static lw_status make_plan(const lw_model *model, lw_plan kind, int nextra,
                           const lwi_system_extra *extra, bool extensions, bool rotors, bool splits,
                           lwi_shared *shared, lwi_arena *arena, lwi_system *s)
{
    lwi_plan_graph graph;
    *s = (lwi_system){.model = model,
                      .nextra = nextra,
                      .extra = extra,
                      .extensions = extensions,
                      .length = model->length};
    if (rotors) TRY(list_rotors(s, arena));
    s->nbody = (1 + s->extensions) * model->nnode + s->nrotor;
    TRY(make_motion(s, arena));
    TRY(make_mobility(s, shared, arena));
    lwi_system_start(s);
    TRY(make_graph(s, arena, &graph));
    if (splits) TRY(split(s, arena, &graph));
    GET(s->metric, s->nbody);
    GET(s->x, s->nbody);
    GET(s->y, s->nbody);
    TRY(lwi_shared_plan(shared, &graph, kind, arena, &s->plan));
    s->nrow = s->plan.row[s->nedge];
    LWI_ASSERT(s->plan.graph.nedge == s->nedge + s->split.npart && s->plan.nrow >= s->nrow);
    return LW_OK;
#undef GET
}

lw_status lwi_system_plan(const lw_model *model, lw_plan kind, lwi_shared *shared, lwi_arena *arena,
                          lwi_system *s)
{
    return make_plan(model, kind, 0, NULL, false, false, true, shared, arena, s);
}

lw_status lwi_system_create_extra(const lw_model *model, lw_plan kind, int nextra,
                                  const lwi_system_extra *extra, bool extensions, lwi_arena *arena,
                                  lwi_system *s)
{
    TRY(make_plan(model, kind, nextra, extra, extensions, false, !extensions, NULL, arena, s));
    return create_elimination(s, NULL, false, arena);
}

static lw_status create(const lw_model *model, lw_plan kind, bool rotors, bool splits,
                        lwi_shared *shared, lwi_arena *arena, lwi_system *s)
{
    TRY(make_plan(model, kind, 0, NULL, false, rotors, splits, shared, arena, s));
    TRY(create_elimination(s, shared, false, arena));
    return lwi_system_find_ranks(s, shared, arena);
}

lw_status lwi_system_create(const lw_model *model, lw_plan kind, lwi_arena *arena, lwi_system *s)
{
    return create(model, kind, false, true, NULL, arena, s);
}

lw_status lwi_system_create_rotors(const lw_model *model, lw_plan kind, bool splits,
                                   lwi_arena *arena, lwi_system *s)
{
    return create(model, kind, true, splits, NULL, arena, s);
}

lw_status lwi_system_create_shared(const lw_model *model, lw_plan kind, bool rotors,
                                   lwi_shared *shared, lwi_arena *arena, lwi_system *s)
{
    return create(model, kind, rotors, true, shared, arena, s);
}

lw_status lwi_system_create_common(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                                   lwi_system *s)
{
    TRY(make_plan(model, LW_PLAN_AUTO, 0, NULL, false, false, true, shared, arena, s));
    return create_elimination(s, shared, true, arena);
}

// Multiplications per body of poses, rows and rates.
#define PER_BODY 400.0

static bool worth_threads(const lwi_system *s)
{
    return lwi_elim_worth_threads_with(s->elim, PER_BODY * s->model->nnode);
}

lw_status lwi_system_threads(lwi_system *s, lwi_pool *pool, lwi_arena *arena)
{
    if (!worth_threads(s)) return LW_OK;
    s->pool = pool;
    TRY(lwi_force_shares_create(s->model, pool, arena, &s->shares));
    return lwi_elim_threads(s->elim, pool, LWI_ELIM_BY_SUBTREE,
                            arena); // by subtree: the fewest barriers
}

// Smaller pivots than these, with several digits less than the rows, are checked, and may need more digits.
#define SMALL_PIVOT 1e-6
#define TINY_PIVOT 1e-9

// Pivots of a chain of n bodies that is straightened are 1/n^3, also if they are larger at the start.
enum { LONG_CHAIN = 300, VERY_LONG_CHAIN = 8000 };

static int longest_path(const lw_model *model, int *depth)
{
    int longest = 0;
    for (int k = 0; k < model->nnode; k++) {
        const int parent = model->node[k].parent;
        depth[k] = parent < 0 ? 1 : depth[parent] + 1;
        if (longest < depth[k]) longest = depth[k];
    }
    return longest;
}

// Ratios of masses and of inertias above which G' lambda may cancel in the motion of the smaller bodies.
#define MASS_RATIO 1e5
#define INERTIA_RATIO 1e8

static bool very_different(lwi_system *s)
{
    double smallest[2] = {INFINITY, INFINITY}, largest[2] = {0};
    lwi_system_masses(s);
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_system_metric *K = &s->metric[k];
        if (K->full) continue;
        const double size[2] = {K->lin, K->ang[0] + K->ang[1] + K->ang[2]};
        for (int i = 0; i < 2; i++) {
            smallest[i] = fmin(smallest[i], size[i]);
            largest[i] = fmax(largest[i], size[i]);
        }
    }
    return largest[0] > MASS_RATIO * smallest[0] || largest[1] > INERTIA_RATIO * smallest[1];
}

// The smallest pivot of the tree in the metric of masses: at the reference, or else at the start; false: not finite.
static bool find_tree_pivot(lwi_system *s, double *pivot)
{
    *pivot = s->tree_pivot;
    if (s->tree_pivot > 0) return true;
    lwi_system_start(s);
    lwi_system_rows(s, 0);
    lwi_system_masses(s);
    if (lwi_elim_factor(s->elim, NULL) == LW_ERR_NOT_FINITE) return false;
    *pivot = lwi_elim_tree_pivot(s->elim);
    return true;
}

// The same, or that of an elimination with the same plan and ranks; the system is at the start then.
static bool take_tree_pivot(lwi_system *s, double *pivot)
{
    lwi_shared *shared = s->common;
    if (!shared) {
        if (!find_tree_pivot(s, pivot)) return false;
    } else {
        if (isnan(shared->tree_pivot) && !find_tree_pivot(s, &shared->tree_pivot)) return false;
        *pivot = shared->tree_pivot;
    }
    lwi_system_start(s);
    return true;
}

lw_status lwi_system_choose_digits(lwi_system *s, lwi_arena *arena)
{
    double pivot;
    if (s->nrow == 0) return LW_OK;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    int *depth = LWI_PUSH(&scratch, int, s->model->nnode);
    const int longest = depth ? longest_path(s->model, depth) : 0;
    lwi_arena_free(&scratch);
    if (!depth) return LW_ERR_MEMORY;
    if (!take_tree_pivot(s, &pivot)) return LW_OK;
    s->careful = pivot < SMALL_PIVOT || longest > LONG_CHAIN || very_different(s);
    if (!s->careful) return LW_OK;
    s->x0 = lwi_arena_push(arena, (size_t)s->nbody, sizeof *s->x0);
    s->before = LWI_PUSH(arena, double, 6 * s->nbody + s->plan.nrow);
    if (!s->x0 || !s->before) return LW_ERR_MEMORY;
    TRY(lwi_elim_extend(s->elim, arena));
    const bool more = pivot < TINY_PIVOT || longest > VERY_LONG_CHAIN;
    return more ? lwi_elim_extend_factors(s->elim, arena) : LW_OK;
}

lw_status lwi_system_prepare(lwi_work *work, lwi_system *s)
{
    const lw_plan plan = work->options ? work->options->plan : LW_PLAN_AUTO;
    const int threads = work->options ? (int)work->options->threads : 1;
    lwi_pool *pool = NULL;
    TRY(lwi_system_create_shared(work->model, plan, true, work->shared, &work->arena, s));
    TRY(lwi_system_find_reference(s));
    TRY(lwi_system_choose_digits(s, &work->arena));
    s->mode = &work->mode;
    s->states = &work->states;
    if (threads > 1 && worth_threads(s)) {
        TRY(lwi_pool_create(threads, &work->arena.allocator, &pool, &work->error));
        work->threads = pool != NULL;
        TRY(lwi_system_threads(s, pool, &work->arena));
    }
    return lwi_system_prepare_reactions(s, &work->arena);
}

// ------------------------------------------------------------------------------------ parts of work

typedef struct items {
    void (*item)(void *user, int i);
    void *user;
} items;

static void run_items(void *user, int first, int end)
{
    const items *all = user;
    for (int i = first; i < end; i++) all->item(all->user, i);
}

void lwi_system_for(lwi_system *s, int count, void (*item)(void *user, int i), void *user)
{
    items all = {item, user};
    lwi_pool_for(s->pool, count, run_items, &all);
}

typedef struct edge_task {
    lwi_system *s;
    double t;
    void (*edge)(lwi_system *s, int e, double t);
} edge_task;

static void run_edge(void *user, int e)
{
    const edge_task *work = user;
    work->edge(work->s, e, work->t);
}

static void for_edges(lwi_system *s, int count, double t,
                      void (*edge)(lwi_system *s, int e, double t))
{
    edge_task work = {.s = s, .t = t, .edge = edge};
    lwi_system_for(s, count, run_edge, &work);
}

// -------------------------------------------------------------------------------------------- rows

// Rotor rows u - w = 0, w on the rotor body; they are the last of the n rows of the edge.
static void place_rotors(lwi_system *s, int e, int nbody, int n)
{
    const int j = s->edge_joint[e];
    const lwi_joint *joint = &s->model->joint[j];
    for (int i = 0; i < rotor_count(s, e); i++) {
        const int at = 6 * (s->plan.slot[e] + nbody + i),
                  first = s->rotor[s->joint_rotor[j] + i].first;
        memset(lwi_elim_J(s->elim) + at, 0, (size_t)n * sizeof(double[6]));
        for (int k = 0, row = n - joint->nrotor; k < joint->type->nv; k++) {
            if (joint->rotor[k] == 0) continue;
            if (k >= first && k < first + 3) lwi_elim_J(s->elim)[at + row][3 + k - first] = -1;
            row++;
        }
    }
}

// Copies the rows of an edge to J, phi, b (gamma).  The rows on both bodies make their wrenches opposite
// [chadaj2017, (25)].
static void place_rows(lwi_system *s, int e, double t, lwi_closure_level level)
{
    lwi_closure closure;
    closure_of(s, e, t, level, &closure);
    const size_t bytes = (size_t)closure.n * sizeof(double);
    LWI_ASSERT_INDEX(e, s->nedge);
    LWI_ASSERT(closure.n == s->plan.graph.edge[e].rows);
    const int row = s->plan.row[e], slot = s->plan.slot[e];
    memcpy(s->phi + row, closure.phi, bytes);
    memcpy(s->b + row, closure.b, bytes);
    if (level >= LWI_CLOSURE_GAMMA) memcpy(s->gamma + row, closure.gamma, bytes);
    for (int i = 0; i < closure.nbody; i++)
        memcpy(lwi_elim_J(s->elim) + 6 * (slot + i), closure.J[i], 6 * bytes);
    if (s->nrotor) place_rotors(s, e, closure.nbody, closure.n);
}

void lwi_system_edge_rows(lwi_system *s, int e, double t)
{
    place_rows(s, e, t, LWI_CLOSURE_POSITION);
}

static void place_rates(lwi_system *s, int e, double t)
{
    place_rows(s, e, t, LWI_CLOSURE_GAMMA);
}

void lwi_system_edge_gamma(lwi_system *s, int e, double t)
{
    lwi_closure closure;
    const int j = s->edge_joint[e];
    if (e >= s->nedge - s->nextra) return;
    if (j >= 0 && rotor_count(s, e) == 0) {
        lwi_joint_closure_gamma(s->model, j, t, &s->motion, s->gamma + s->plan.row[e]);
        return;
    }
    closure_of(s, e, t, LWI_CLOSURE_GAMMA, &closure);
    memcpy(s->gamma + s->plan.row[e], closure.gamma, (size_t)closure.n * sizeof(double));
}

void lwi_system_gammas(lwi_system *s, double t)
{
    for_edges(s, s->nedge, t, lwi_system_edge_gamma);
}

void lwi_system_rows(lwi_system *s, double t)
{
    for_edges(s, s->nedge, t, lwi_system_edge_rows);
}

void lwi_system_rates(lwi_system *s, double t)
{
    for_edges(s, s->nedge, t, place_rates);
}

// ------------------------------------------------------------------------------------------ metric

static void multiply(const lwi_system_metric *K, const double f[6], double x[6])
{
    if (K->full) {
        double in[6];
        v6_copy(in, f); // may be x
        for (int i = 0; i < 6; i++) x[i] = v6_dot(K->full + 6 * i, in);
        return;
    }
    v3_scale(x, K->lin, f);
    if (K->round)
        v3_scale(x + 3, K->ang[0], f + 3);
    else
        s3_mul_v(x + 3, K->ang, f + 3);
}

// G = J K of one edge: J M^-1, the blocks xi of single bodies in rows [chadaj2017, (15)-(16)].
static void multiply_rows(lwi_system *s, int e, double t)
{
    (void)t;
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    for (int i = 0; i < edge->n; i++) {
        const lwi_system_metric *K = &s->metric[edge->body[i]];
        const int first = 6 * (s->plan.slot[e] + i);
        const double(*J)[6] = (const double(*)[6])lwi_elim_J(s->elim) + first;
        double(*G)[6] = lwi_elim_G(s->elim) + first;
        for (int k = 0; k < edge->rows; k++) multiply(K, J[k], G[k]);
    }
}

// The same of one row, with a full matrix.
static void multiply_low(const double *K, const double J[6], const double G[6], double low[6])
{
    for (int i = 0; i < 6; i++) {
        lwi_dd sum = {-G[i], 0};
        for (int k = 0; k < 6; k++) sum = lwi_dd_add_scaled(sum, J[k], (lwi_dd){K[6 * i + k], 0});
        low[i] = sum.high;
    }
}

// What G in doubles lacks: J K in double-double arithmetic, less G.
static void multiply_rows_low(lwi_system *s, int e, double t)
{
    (void)t;
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}; // of xx yy zz xy xz yz
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    for (int i = 0; i < edge->n; i++) {
        const lwi_system_metric *K = &s->metric[edge->body[i]];
        const int first = 6 * (s->plan.slot[e] + i);
        for (int k = first; k < first + edge->rows; k++) {
            const double *J = lwi_elim_J(s->elim)[k], *G = lwi_elim_G(s->elim)[k];
            double *low = lwi_elim_G_low(s->elim)[k];
            if (K->full) multiply_low(K->full, J, G, low);
            for (int c = 0; c < 3 && !K->full; c++) {
                lwi_dd sum = {-G[3 + c], 0};
                for (int j = 0; j < 3; j++)
                    sum = lwi_dd_add_scaled(sum, J[3 + j], (lwi_dd){K->ang[at[c][j]], 0});
                low[c] = fma(K->lin, J[c], -G[c]);
                low[3 + c] = sum.high;
            }
        }
    }
}

// The metric of the parts of split bodies.  divided: they share the mass of their body, so each of n parts has n times its
// mobility.  The geometry has no masses: pivots of rows at lighter parts would be smaller by as much.
static void put_parts(lwi_system *s, bool divided)
{
    const lwi_split *split = &s->split;
    for (int i = 0; i < split->npart; i++) {
        const lwi_split_part *part = &split->part[i];
        lwi_system_metric *K = &s->metric[part->body];
        LWI_ASSERT_INDEX(part->body, s->nbody - split->npart);
        if (divided && part->before == part->body) { // the body itself is the first part
            const double n = split->count[part->body];
            K->lin *= n;
            for (int k = 0; k < 6; k++) K->ang[k] *= n;
        }
        s->metric[s->nbody - split->npart + i] = *K;
    }
}

// G, after the metric of all bodies.
static void multiply_all_rows(lwi_system *s)
{
    for_edges(s, s->plan.graph.nedge, 0, multiply_rows);
}

void lwi_system_multiply_low(lwi_system *s)
{
    for_edges(s, s->plan.graph.nedge, 0, multiply_rows_low);
}

// Bodies that borrow inertia, and those that lend it.
static void put_transfer(lwi_system *s)
{
    lwi_transfer_find(s);
    lwi_transfer_invert(s);
    for (int i = 0; i < s->transfer->nbody; i++)
        s->metric[s->transfer->body[i].body].full = s->transfer->body[i].K;
}

void lwi_system_share(const lwi_system *s, bool divided, double (*x)[6])
{
    const lwi_split *split = &s->split;
    for (int i = 0; i < split->npart; i++) {
        const lwi_split_part *part = &split->part[i];
        double *own = x[part->body];
        if (divided && part->before == part->body)
            for (int k = 0; k < 6; k++) own[k] /= split->count[part->body];
        v6_copy(x[s->nbody - split->npart + i], own);
    }
}

void lwi_system_gather_parts(const lwi_system *s, double (*x)[6])
{
    const lwi_split *split = &s->split;
    for (int i = 0; i < split->npart; i++) {
        double *own = x[split->part[i].body];
        v6_add(own, own, x[s->nbody - split->npart + i]);
    }
}

int lwi_system_node_of(const lwi_system *s, int body)
{
    const int part = body - (s->nbody - s->split.npart);
    LWI_ASSERT_INDEX(body, s->nbody);
    return part < 0 ? body : s->split.part[part].body;
}

int lwi_system_parts_of(const lwi_system *s, int node)
{
    return s->split.npart ? s->split.count[node] : 1;
}

// K = M^-1 of every body, the inverse of the mass matrix of [chadaj2017, (9)] at the mass centre, world axes.
static void put_masses(void *user, int first, int end)
{
    lwi_system *s = user;
    for (int k = first; k < end; k++) {
        const int b = s->model->node[k].body;
        s->metric[k].lin = 1 / s->model->body[b].mass;
        s->metric[k].round = false;
        s->metric[k].full = NULL;
        s3_rotate(s->metric[k].ang, s->R[b], s->mobility[k]);
    }
}

void lwi_system_masses(lwi_system *s)
{
    lwi_pool_for(s->pool, s->model->nnode, put_masses, s);
    for (int i = 0; i < s->nrotor; i++) {
        const double *rotor = s->model->joint[s->rotor[i].joint].rotor + s->rotor[i].first;
        s->metric[s->model->nnode + i] = (lwi_system_metric){.lin = 0};
        for (int k = 0; k < 3; k++)
            s->metric[s->model->nnode + i].ang[k] = rotor[k] > 0 ? 1 / rotor[k] : 0;
    }
    put_parts(s, true);
    if (s->transfer) put_transfer(s);
    multiply_all_rows(s);
}

// Rotors do not belong to the geometry: their mobility is so large, in metres or radians, that they follow.
#define ROTOR_METRIC 1e6

void lwi_system_geometric(lwi_system *s)
{
    LWI_ASSERT(s->length > 0);
    const double ang = 1 / (s->length * s->length);
    for (int k = 0; k < s->model->nnode; k++)
        s->metric[k] = (lwi_system_metric){.lin = 1, .ang = {ang, ang, ang}, .round = true};
    for (int i = 0; i < s->nrotor; i++)
        s->metric[s->model->nnode + i] =
            (lwi_system_metric){.ang = {ROTOR_METRIC, ROTOR_METRIC, ROTOR_METRIC}};
    put_parts(s, false);
    multiply_all_rows(s);
}

typedef struct product {
    const lwi_system *s;
    double (*x)[6];
} product;

static void multiply_bodies(void *user, int first, int end)
{
    const product *of = user;
    for (int k = first; k < end; k++) multiply(&of->s->metric[k], of->x[k], of->x[k]);
}

void lwi_system_apply_metric(const lwi_system *s, double (*x)[6])
{
    product of = {s, x};
    lwi_pool_for(s->pool, s->model->nnode + s->nrotor + s->split.npart, multiply_bodies, &of);
}

// ---------------------------------------------------------------------------------------- products

void lwi_system_add_wrenches(const lwi_system *s, double sign, const double *lambda, double (*x)[6])
{
    for (int e = 0; e < s->plan.graph.nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        for (int i = 0; i < edge->n; i++) {
            const double(*J)[6] =
                (const double(*)[6])lwi_elim_J(s->elim) + 6 * (s->plan.slot[e] + i);
            for (int k = 0; k < edge->rows; k++)
                v6_axpy(x[edge->body[i]], sign * lambda[s->plan.row[e] + k], J[k]);
        }
    }
}

void lwi_system_rates_of(const lwi_system *s, const double (*x)[6], double *rate)
{
    for (int e = 0; e < s->plan.graph.nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        double *to = rate + s->plan.row[e];
        for (int k = 0; k < edge->rows; k++) to[k] = 0;
        for (int i = 0; i < edge->n; i++) {
            const double(*J)[6] =
                (const double(*)[6])lwi_elim_J(s->elim) + 6 * (s->plan.slot[e] + i);
            for (int k = 0; k < edge->rows; k++) to[k] += v6_dot(J[k], x[edge->body[i]]);
        }
    }
}
