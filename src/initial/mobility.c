// mobility.c -- constraint equations, their rank and the degrees of freedom of a mechanism; where
// it is redundant; what the plans of its elimination cost.
//
// Rows and ranks are those of the elimination (system/system.h) in a metric without masses, so
// bodies without mass count like the others; residuals are those of the joint library.
#include "base/assert.h"
#include "initial/mobility.h"
#include "kinematics/observe.h"
#include "kinematics/passes.h"
#include "methods/dca/segments/divide.h"
#include "system/dependent_rows.h"
#include "spatial/motion.h"

#include <linkwork/simulate.h>

#include <string.h>

typedef struct mobility {
    lwi_shared *shared; // of a simulation, which has the plan and the generic ranks; NULL: none
    lwi_arena arena;
    lwi_snapshot snapshot;
    lwi_system system;
    double *null; // [rows of the elimination]
} mobility;

// The elimination with the factors at the start.
static lw_status place_at_start(const lw_model *model, mobility *my, int *rank)
{
    lwi_system *s = &my->system;
    TRY(lwi_system_create_shared(model, LW_PLAN_AUTO, false, my->shared, &my->arena, s));
    s->common = NULL; // what follows leaves the factors of others alone
    my->null = LWI_PUSH(&my->arena, double, s->plan.nrow);
    if (!my->null) return LW_ERR_MEMORY;
    *rank = 0;
    if (s->nrow == 0) return LW_OK;
    *rank = lwi_system_start_rank(s);
    return *rank < 0 ? LW_ERR_NOT_FINITE : LW_OK;
}

// --------------------------------------------------------------------------------- dependent rows

// [njoint]; couplings' go nowhere.  After place_at_start.
static lw_status dependent_rows(mobility *my, int rank, int *dependent)
{
    lwi_system *s = &my->system;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &my->arena.allocator);
    int *of_edge = LWI_PUSH(&scratch, int, s->nedge);
    const lw_status status =
        of_edge ? lwi_dependent_rows(s, s->nrow - rank, &scratch, of_edge) : LW_ERR_MEMORY;
    for (int j = 0; j < s->model->njoint && status == LW_OK; j++)
        dependent[j] = s->joint_edge[j] < 0 ? 0 : of_edge[s->joint_edge[j]];
    lwi_arena_free(&scratch);
    return status;
}

// ---------------------------------------------------------------------------- what is undetermined

// A part of a null vector below this is round-off.
#define NULL_PART 1e-6

// Takes out of v what `basis` [count] spans; adds what is left, made a unit vector, where it is
// more than round-off of a vector that began with length one.  Returns whether there is more.
static bool add_direction(double (*basis)[6], int *count, double *v)
{
    const double before = sqrt(v6_dot(v, v));
    if (*count == 6 || !(before > NULL_PART)) return false;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < *count; i++) v6_axpy(v, -v6_dot(basis[i], v), basis[i]);
    const double size = sqrt(v6_dot(v, v));
    if (!(size > NULL_PART * before)) return false;
    for (int i = 0; i < 6; i++) basis[*count][i] = v[i] / size;
    (*count)++;
    return true;
}

// The wrench of joint j's rows of the null vector, in axes of F1, torques by the mechanism's
// length.
static void null_wrench(const mobility *my, int j, double F[6])
{
    const lwi_system *s = &my->system;
    double world[6];
    lwi_system_reaction(s, j, my->null, world);
    lwi_joint_to_axes(s->model, j, s->motion.R, world, F);
    v3_scale(F + 3, 1 / s->length, F + 3);
}

// Rows in which a null vector with parts along all has less than this are in none: only the others are projected again.
#define NO_PART 1e-9

// Six null vectors with parts along all span what redundancy can do to any one joint; where one adds no direction at any
// joint, those before it do.
static lw_status find_open(mobility *my, lw_redundancy *joints)
{
    lwi_system *s = &my->system;
    double(*basis)[6][6] = lwi_arena_push(&my->arena, (size_t)s->model->njoint, sizeof *basis);
    bool *unique = LWI_PUSH(&my->arena, bool, s->nrow);
    if (!basis || !unique) return LW_ERR_MEMORY;
    TRY(lwi_system_prepare_min_norm(s, &my->arena));
    if (!lwi_system_factor_null(s)) return LW_OK;
    bool more = true;
    for (int seed = 0; seed < 6 && more; seed++) {
        for (int i = 0; i < s->nrow; i++)
            my->null[i] = unique[i] ? 0 : 2 * lwi_system_pseudorandom(i, seed);
        lwi_system_null(s, my->null);
        for (int i = 0; seed == 0 && i < s->nrow; i++) unique[i] = fabs(my->null[i]) < NO_PART;
        more = false;
        for (int e = 0; e < s->nedge; e++) {
            const int j = s->edge_joint[e];
            double F[6];
            if (j < 0) continue;
            null_wrench(my, j, F);
            more |= add_direction(basis[j], &joints[j].open, F);
        }
    }
    for (int j = 0; j < s->model->njoint; j++)
        for (int axis = 0; axis < 6; axis++) {
            double square = 0; // of the unit vector's part in the span: one where it lies in it
            for (int i = 0; i < joints[j].open; i++)
                square += basis[j][i][axis] * basis[j][i][axis];
            if (square > 1 - NULL_PART) joints[j].axes |= 1u << axis;
        }
    return LW_OK;
}

static void count_rows(const lw_model *model, lw_redundancy *joints)
{
    for (int j = 0; j < model->njoint; j++)
        joints[j] = (lw_redundancy){.rows = lwi_joint_row_count(model, j)};
}

// Of rows that are placed and have been counted.
static lw_status charge_joints(const lw_model *model, mobility *my, int rank, lw_redundancy *joints)
{
    int *dependent = LWI_PUSH(&my->arena, int, model->njoint);
    if (!dependent) return LW_ERR_MEMORY;
    TRY(dependent_rows(my, rank, dependent));
    for (int j = 0; j < model->njoint; j++) joints[j].dependent = dependent[j];
    return find_open(my, joints);
}

static lw_status redundancy(const lw_model *model, mobility *my, lw_redundancy *joints)
{
    int rank;
    count_rows(model, joints);
    if (model->nloop == 0 && model->ncoupling == 0) return LW_OK; // a tree has none to spare
    TRY(place_at_start(model, my, &rank));
    return rank == my->system.nrow ? LW_OK : charge_joints(model, my, rank, joints);
}

static lw_status confirm_redundancy(const lw_model *model, const lw_redundancy *joints,
                                    lw_error *error)
{
    for (int j = 0; j < model->njoint; j++) {
        LWI_INVARIANT(joints[j].dependent >= 0 && joints[j].dependent <= joints[j].rows, error);
        LWI_INVARIANT(joints[j].open >= 0 && joints[j].open <= 6, error);
    }
    return LW_OK;
}

lw_status lw_model_redundancy(const lw_model *model, lw_redundancy *joints, lw_error *error)
{
    if (!model || !joints)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_model_redundancy: model and joints must be given");
    mobility my = {0};
    lwi_arena_init(&my.arena, &model->arena.allocator);
    const lw_status status = redundancy(model, &my, joints);
    lwi_arena_free(&my.arena);
    if (status != LW_OK)
        return lwi_fail(error, status, "the rank of the constraints: %s", lw_status_text(status));
    return confirm_redundancy(model, joints, error);
}

// ------------------------------------------------------------------------------------------- check

static void closure_residuals(const lw_model *model, mobility *my, double residual[2])
{
    lwi_totals system;
    lwi_snapshot_start(model, &my->snapshot);
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &my->snapshot, &system);
    residual[0] = system.residual[0];
    residual[1] = system.residual[1];
}

// J A = -gamma in the sense of least squares: what stays can be met by no motion.
static void find_conflict(mobility *my, lw_check *check)
{
    lwi_system *s = &my->system;
    double demand = 0, largest = 0;
    check->conflict_joint = -1;
    if (check->redundant == 0) return;
    lwi_system_rates(s, 0);
    memset(s->x, 0, (size_t)s->nbody * sizeof *s->x);
    for (int i = 0; i < s->nrow; i++) {
        s->c[i] = -s->gamma[i];
        demand = fmax(demand, fabs(s->gamma[i]));
    }
    if (demand == 0) return; // at rest
    lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 1);
    lwi_system_rates_of(s, (const double(*)[6])s->x, my->null);
    for (int e = 0; e < s->nedge; e++)
        for (int i = s->plan.row[e]; i < s->plan.row[e + 1]; i++) {
            if (!(fabs(my->null[i] - s->c[i]) > largest)) continue;
            largest = fabs(my->null[i] - s->c[i]);
            check->conflict_joint = s->edge_joint[e] < 0 ? -1 : s->edge_joint[e];
        }
    check->conflict = largest / (1 + demand);
}

static lw_status run_check(const lw_model *model, mobility *my, lw_check *check, int *dependent)
{
    const lwi_system *s = &my->system;
    for (int j = 0; dependent && j < model->njoint; j++) dependent[j] = 0;
    TRY(lwi_snapshot_create(model, &my->arena, &my->snapshot));
    check->followed = model->nfollowed;
    check->drive_joint = lwi_moving_drive(model, &check->drive_coordinate, &check->drive_speed);
    closure_residuals(model, my, check->residual);
    TRY(place_at_start(model, my, &check->rank));
    const lwi_elim_pivot_info pivots =
        s->nrow ? lwi_elim_pivots(s->elim) : (lwi_elim_pivot_info){.min = 1};
    check->kept = pivots.min;
    const int kept = s->nrow && pivots.edge >= 0 ? s->edge_joint[pivots.edge] : -1;
    check->kept_joint = kept < 0 ? -1 : kept;
    check->dropped = pivots.dropped;
    check->rows = s->nrow;
    check->redundant = check->rows - check->rank;
    check->dof = 6 * model->nnode - check->rank;
    check->dof_generic = 6 * model->nnode - s->generic_rank;
    find_conflict(my, check);
    return dependent && check->redundant ? dependent_rows(my, check->rank, dependent) : LW_OK;
}

static lw_status confirm_check(const lw_model *model, const lw_check *check, lw_error *error)
{
    LWI_INVARIANT(check->rank >= 0 && check->rank <= check->rows, error);
    LWI_INVARIANT(check->dof >= 0 && check->dof <= 6 * model->nnode, error);
    LWI_INVARIANT(check->conflict_joint >= -1 && check->conflict_joint < model->njoint, error);
    return LW_OK;
}

lw_status lw_model_check(const lw_model *model, lw_check *check, int *dependent, lw_error *error)
{
    if (!model || !check)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_model_check: model and check must be given");
    mobility my = {0};
    lwi_arena_init(&my.arena, &model->arena.allocator);
    *check = (lw_check){0};
    const lw_status status = run_check(model, &my, check, dependent);
    lwi_arena_free(&my.arena);
    if (status != LW_OK)
        return lwi_fail(error, status, "the rank of the constraints: %s", lw_status_text(status));
    TRY(confirm_check(model, check, error));
    int charged = 0;
    for (int j = 0; dependent && j < model->njoint; j++) charged += dependent[j];
    LWI_INVARIANT(charged <= check->redundant, error);
    return LW_OK;
}

lw_status lw_model_mobility(const lw_model *model, lw_check *check, lw_redundancy *joints,
                            lw_error *error)
{
    if (!model || !check || !joints)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_model_mobility: model, check and joints must be given");
    return lwi_mobility(model, NULL, check, joints, error);
}

lw_status lwi_mobility(const lw_model *model, lwi_shared *shared, lw_check *check,
                       lw_redundancy *joints, lw_error *error)
{
    mobility my = {.shared = shared};
    lwi_arena_init(&my.arena, &model->arena.allocator);
    *check = (lw_check){0};
    count_rows(model, joints);
    lw_status status = run_check(model, &my, check, NULL);
    if (status == LW_OK && check->redundant && (model->nloop || model->ncoupling))
        status = charge_joints(model, &my, check->rank, joints);
    lwi_arena_free(&my.arena);
    if (status != LW_OK)
        return lwi_fail(error, status, "the rank of the constraints: %s", lw_status_text(status));
    TRY(confirm_check(model, check, error));
    return confirm_redundancy(model, joints, error);
}

// -------------------------------------------------------------------------------------------- plan

// Segments of several long paths.
static void describe_net(const lwi_net_plan *plan, lw_plan_info *info)
{
    info->segments = plan->nsegment;
    info->segment_length = plan->longest;
    info->segment_groups = plan->ngroup;
    info->segment_joins = plan->nlevel;
    info->segment_hubs = plan->nhub;
}

// Segments of a long path.
static void describe_path(const lwi_path_plan *plan, lw_plan_info *info)
{
    info->segments = LWI_LANES * plan->groups;
    info->segment_length = plan->largest;
    info->segment_groups = plan->groups;
    for (int n = 1; n < info->segments; n *= 2) info->segment_joins++;
}

static lw_status find_segments(const lw_model *model, lwi_arena *arena, lw_plan_info *info)
{
    lwi_path_plan *path;
    lwi_net_plan *net;
    TRY(lwi_divide(model, NULL, arena, &path, &net));
    if (path) describe_path(path, info);
    if (net) describe_net(net, info);
    return LW_OK;
}

// What an evaluation by dca or hdca does one after the other with any number of threads.  Passes along the tree: poses,
// and velocities (dca) or rates of momenta (hdca); all else of a body or joint depends on its neighbours only.
static lw_status find_longest_path(const lw_model *model, lwi_arena *arena, lw_plan_info *info)
{
    // Multiplications: R R and R r of a pose; two R r and a cross product of a velocity or a wrench; all of a spring
    // between points with a damper, which stands for every force.
    enum { POSE = 36, MOTION = 24, FORCE = 67 };
    lwi_tree_passes passes;
    double longest, all;
    TRY(lwi_tree_passes_create(model, arena, &passes));
    lwi_tree_pass_depth(&passes, &longest, &all);
    info->pass = (int)longest;
    info->forces = model->nforce;
    info->evaluation = info->critical + (POSE + MOTION) * longest + (double)FORCE * model->nforce;
    return LW_OK;
}

lw_status lw_model_plan(const lw_model *model, const char *kind, lw_plan_info *info,
                        lw_error *error)
{
    const int which = kind ? lwi_plan_kind_find(kind) : -1;
    if (!model || !info || which < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_model_plan: model, one of auto, comb, balanced and mixed, and info "
                        "must be given");
    lwi_arena arena;
    lwi_system system;
    lwi_arena_init(&arena, &model->arena.allocator);
    lw_status status = lwi_system_plan(model, (lw_plan)which, NULL, &arena, &system);
    const lwi_plan *plan = &system.plan;
    if (status == LW_OK) {
        *info = (lw_plan_info){.kind = lwi_plan_kind_name(plan->kind),
                               .nodes = plan->nnode,
                               .depth = plan->nlevel,
                               .width = plan->width,
                               .open = plan->max_open,
                               .work = plan->work,
                               .critical = plan->critical};
        status = find_longest_path(model, &arena, info);
        if (status == LW_OK) status = find_segments(model, &arena, info);
    }
    lwi_arena_free(&arena);
    if (status != LW_OK) return lwi_fail(error, status, "plan: %s", lw_status_text(status));
    LWI_INVARIANT(info->kind && info->depth <= info->nodes, error);
    LWI_INVARIANT(info->work >= info->critical && info->critical >= 0, error);
    LWI_INVARIANT(info->evaluation >= info->critical, error);
    return LW_OK;
}
