// net.c -- evaluation of paths between hubs (net.h).
//
// An evaluation of speeds and momentum rates, with the numbers (n) of docs/theory/segments.md:
//
//     inward   poses, (2) of every segment; joins (5)-(7); hubs (17): first solution V0, f0 at all cuts
//     again    z and e about V0, f0 (8), joins, hubs: corrections V, f
//     speeds   (3)
//     loads    of hubs, summed towards the ground
//     rates    (4)
#include "methods/dca/segments/net.h"

#include "base/assert.h"
#include "methods/dca/segments/hubs_steps.h"
#include "spatial/rotation.h"

struct lwi_net {
    const lwi_net_plan *plan;
    lwi_net_paths paths;
    lwi_hubs hubs;
    bool factored; // lwi_net_move kept the factors, those of the hubs too
};

// The elimination of the hubs' rows and its generic rank, at the configuration in which the mechanism has its own.
//  @param found  out; false: it has another one
static lw_status find_rank(lwi_net *net, const lw_model *model, lwi_system *system, lwi_pool *pool,
                           lwi_arena *arena, bool *found)
{
    const int nullity = system->nrow - system->generic_rank;
    double *q = LWI_PUSH(arena, double, model->tree_nq + model->tree_nv);
    double(*quat)[4] = lwi_arena_push(arena, (size_t)model->nbody, sizeof *quat);
    if (!q || !quat) return LW_ERR_MEMORY;
    const bool start = !system->generic_q;
    for (int b = 0; b < model->nbody; b++)
        quat_from_matrix(quat[b], start ? system->R[b] : system->generic_R[b]);
    lwi_tree_gather(model, start ? system->q : system->generic_q, system->qd,
                    (const double(*)[3])(start ? system->r : system->generic_r),
                    (const double(*)[4])quat, (const double(*)[3])system->v,
                    (const double(*)[3])system->w, q, q + model->tree_nq);
    lwi_net_paths *paths = &net->paths;
    paths->q = q;
    paths->in = paths->u = paths->zeros;
    *found = lwi_net_paths_run(paths, LWI_NET_NOTHING, LWI_PATH_INWARD, LWI_PATH_MOMENTA);
    if (!*found) return LW_OK;
    lwi_hubs_place(&net->hubs, 0, q);
    TRY(lwi_hubs_connect(&net->hubs, 0, pool, arena, found));
    *found = *found && lwi_hubs_find_ranks(&net->hubs, 0) == nullity;
    lwi_system_start(system);
    return LW_OK;
}

// Does a joint of the tree leave the directions free in which redundant rows transmit impulses?  The rates of momenta
// would depend on how these are distributed.
static bool moves_in_space(const lw_model *model)
{
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].type->quaternion >= 0) return true;
    return false;
}

lw_status lwi_net_create(const lwi_net_plan *plan, int width, lwi_pool *pool, lwi_tree_work *tree,
                         lwi_system *system, lwi_arena *arena, lwi_net **out)
{
    const lw_model *model = system->model;
    const lwi_path_kernels *kernels = lwi_path_kernels_of(width);
    *out = NULL;
    if (!kernels) return LW_OK;
    lwi_net *net = LWI_PUSH(arena, lwi_net, 1);
    if (!net) return LW_ERR_MEMORY;
    net->plan = plan;
    TRY(lwi_net_paths_create(plan, kernels, model->tree_nv, pool, arena, &net->paths));
    TRY(lwi_hubs_create(&net->paths, tree, system, arena, &net->hubs));
    if (system->generic_rank < system->nrow && moves_in_space(model)) return LW_OK;
    bool found = true;
    if (model->nloop) TRY(find_rank(net, model, system, pool, arena, &found));
    if (found) *out = net;
    return LW_OK;
}

lw_status lwi_net_ranks(lwi_net *net, lwi_ranks *ranks, lwi_arena *arena)
{
    return lwi_net_paths_ranks(&net->paths, ranks, arena);
}

const lwi_net_plan *lwi_net_plan_of(const lwi_net *net)
{
    return net->plan;
}
const lwi_net_paths *lwi_net_paths_of(const lwi_net *net)
{
    return &net->paths;
}
const double *lwi_net_multipliers(const lwi_net *net, int loop)
{
    return lwi_hubs_multipliers(&net->hubs, loop);
}

bool lwi_net_speeds(lwi_net *net, double t, const double *q, const double *p, double *u)
{
    lwi_net_paths *paths = &net->paths;
    lwi_hubs *hubs = &net->hubs;
    paths->q = q, paths->in = p, paths->u = paths->zeros;
    paths->out = u, paths->rate = NULL;
    lwi_hubs_tip_loads(hubs, NULL);
    if (!lwi_net_paths_run(paths, LWI_NET_NOTHING, LWI_PATH_INWARD, LWI_PATH_MOMENTA)) return false;
    lwi_hubs_place(hubs, t, q);
    if (!lwi_hubs_factor(hubs, t, false)) return false;
    lwi_hubs_solve(hubs, p);
    lwi_net_paths_run(paths, LWI_PATH_MOMENTA, LWI_PATH_AGAIN, LWI_PATH_CORRECTION);
    lwi_hubs_again(hubs);
    if (!lwi_net_paths_run(paths, LWI_PATH_CORRECTION, LWI_PATH_SPEEDS, LWI_NET_NOTHING))
        return false;
    lwi_net_paths_correct(paths);
    lwi_hubs_move_ties(hubs);
    return lwi_hubs_speeds(hubs, u);
}

bool lwi_net_rates(lwi_net *net, double t, const double *p, const double *u,
                   const double (*load)[6], double *pdot)
{
    lwi_net_paths *paths = &net->paths;
    paths->rate = pdot;
    lwi_hubs_loads(&net->hubs, load);
    if (!lwi_net_paths_run(paths, LWI_PATH_LOADS, LWI_PATH_RATES, LWI_NET_NOTHING)) return false;
    return lwi_hubs_rates(&net->hubs, t, p, u, pdot);
}

bool lwi_net_move(lwi_net *net, double t, const double *q, const double *u, bool factored)
{
    lwi_net_paths *paths = &net->paths;
    const int up = factored ? LWI_PATH_VELOCITIES : LWI_PATH_FACTORS;
    net->factored = factored;
    paths->q = q, paths->in = paths->zeros, paths->u = u;
    if (!lwi_net_paths_run(paths, LWI_NET_NOTHING, factored ? LWI_PATH_VELOCITY : LWI_PATH_FACTOR,
                           up))
        return false;
    if (!factored) lwi_hubs_place(&net->hubs, t, q);
    lwi_hubs_move(&net->hubs, u);
    return true;
}

bool lwi_net_accelerations(lwi_net *net, double t, const double *effort, const double (*load)[6],
                           double *udot)
{
    lwi_net_paths *paths = &net->paths;
    lwi_hubs *hubs = &net->hubs;
    paths->in = effort, paths->out = udot, paths->rate = NULL;
    lwi_hubs_tip_loads(hubs, load);
    lwi_net_paths_run(paths, LWI_PATH_VELOCITIES, LWI_PATH_BIAS, LWI_PATH_VECTORS);
    if (net->factored)
        lwi_hubs_gammas(hubs, t);
    else if (!lwi_hubs_factor(hubs, t, true))
        return false;
    lwi_hubs_accelerate(hubs, effort, load);
    lwi_net_paths_run(paths, LWI_PATH_VECTORS, LWI_PATH_AGAIN_BIAS, LWI_PATH_CORRECTION);
    lwi_hubs_accelerate_again(hubs);
    if (!lwi_net_paths_run(paths, LWI_PATH_CORRECTION, LWI_PATH_ACCELERATE, LWI_NET_NOTHING))
        return false;
    lwi_net_paths_correct(paths);
    return lwi_hubs_accelerations(hubs, t, udot);
}

// By a solution and its correction, as the speeds: the first alone has errors of reactions of 5e-11 of the largest one with
// masses of 1 : 10^6, of 2e-12 in a ring of 4000 links.
bool lwi_net_response(lwi_net *net, const double *q, const double *effort, double *du)
{
    lwi_net_paths *paths = &net->paths;
    lwi_hubs *hubs = &net->hubs;
    LWI_ASSERT(!hubs->model->driven);
    paths->q = q, paths->in = effort, paths->u = paths->zeros;
    paths->out = du, paths->rate = NULL;
    lwi_hubs_tip_loads(hubs, NULL);
    lwi_net_paths_run(paths, LWI_NET_NOTHING, LWI_PATH_RESPONSE, LWI_PATH_VECTORS);
    lwi_hubs_respond(hubs, effort);
    lwi_net_paths_run(paths, LWI_PATH_VECTORS, LWI_PATH_AGAIN, LWI_PATH_CORRECTION);
    lwi_hubs_again(hubs);
    if (!lwi_net_paths_run(paths, LWI_PATH_CORRECTION, LWI_PATH_ACCELERATE, LWI_NET_NOTHING))
        return false;
    lwi_net_paths_correct(paths);
    return lwi_hubs_speeds(hubs, du);
}

void lwi_net_add_efforts(const lwi_net *net, const double *effort, double *pdot)
{
    const lwi_net_plan *plan = net->plan;
    for (int k = 0; k < plan->nhinge; k++) pdot[plan->iv[k]] += effort[plan->iv[k]];
    lwi_hubs_efforts(&net->hubs, effort, pdot);
}

static int body_of_hub(const lwi_net *net, int h)
{
    return net->hubs.model->node[net->plan->hub[h].node].body;
}

void lwi_net_zero_loads(const lwi_net *net, double (*load)[6])
{
    for (int h = 0; h < net->plan->nhub; h++) v6_zero(load[body_of_hub(net, h)]);
}

void lwi_net_add_loads(const lwi_net *net, double (*load)[6])
{
    if (!(net->hubs.model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST))) return;
    for (int h = 0; h < net->plan->nhub; h++) {
        const int b = body_of_hub(net, h);
        v6_add(load[b], load[b], net->hubs.tree->loads.wrench[b]);
    }
}

double lwi_net_drive_power(const lwi_net *net)
{
    return net->hubs.model->driven ? lwi_hubs_drive_power(&net->hubs) : 0;
}

double lwi_net_prescribed(const lwi_net *net)
{
    return net->hubs.prescribed;
}
double lwi_net_prescribed_rate(const lwi_net *net)
{
    return net->hubs.prescribed_rate;
}
