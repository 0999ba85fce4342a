// partition.c -- generic ranks of the rows at every node, and the choice of the dependent speeds.
//
// Ranks are determined once, at the start and at a few configurations near it, all closed to rounding.  In a closed
// chain with redundant rows a position drift of 1e-8 separates these rows by 1e-8; counting them as independent
// would stop the mechanism.  The partition is chosen at a state with pivots above a threshold, and kept.
// The paper takes the first speeds of every loop as independent [anderson2003, section 4.4 names the limits].
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "kinematics/displacement.h"
#include "kinematics/planar_rows.h"
#include "spatial/rotation.h"
#include "system/system.h"

#include <string.h>

// ----------------------------------------------------------------------------------------- memory

// Numbers of each node to begin with; rows of four-bars need 250.
enum { ROOM = 256 };

static lw_status make_room(lwi_rcr *e, const lw_allocator *allocator, size_t room, lw_error *error)
{
    lwi_release(allocator, e->pool);
    e->pool = lwi_allocate(allocator, room * sizeof *e->pool);
    e->room = e->pool ? room : 0;
    return e->pool ? LW_OK : lwi_fail(error, LW_ERR_MEMORY, "no memory for the elimination");
}

// An elimination with memory that grows until it is sufficient; at creation only.
static lw_status eliminate_growing(lwi_rcr *e, const lw_allocator *allocator, lwi_rcr_mode mode,
                                   double pivot, double rank, lw_error *error)
{
    if (!e->pool) TRY(make_room(e, allocator, ROOM * (1 + (size_t)e->model->nnode), error));
    for (;;) {
        const lw_status status = lwi_rcr_eliminate(e, mode, pivot, rank, 0, error);
        if (status != LW_ERR_MEMORY) return status;
        LWI_ASSERT(e->need > e->room);
        TRY(make_room(e, allocator, 2 * e->need, error));
    }
}

// ------------------------------------------------------------------------------------------ ranks

enum { NEARBY = 2 };

typedef struct rank_search {
    lwi_rcr *e;
    lwi_cut *cut;
    lwi_tree_work *tree;
    const lw_allocator *allocator;
    double *q, *du, *still;      // [tree_nq], [tree_nv] each
    double *nearby;              // [NEARBY][tree_nq] configurations near the start
    double *closed;              // [tree_nq] the last configuration that was closed
    int *max_rank;               // [nnode] the largest rank found
    unsigned char *chosen;       // [tree_nv] the partition at the start
    unsigned char *undetermined; // [njoint] where rows of single loops alone depend
    int *dependent;              // [nloop] how many of each
    bool in_loops;               // found by these, at the configuration in `closed`
    bool poses_alone;            // rows do not need coordinates of the cut joints
    double t;                    // of the configuration
    lw_error *error;
} rank_search;

// Whether the rows follow from the poses alone.
static bool needs_poses_alone(const lw_model *model)
{
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        if (joint->mount.present || joint->ndriven || joint->nrotor ||
            !lwi_joint_has_simple_rows(joint->type))
            return false;
    }
    return model->ncoupling == 0;
}

static void place(rank_search *l, const double *q)
{
    lwi_cut_place_tree(l->cut->model, l->tree, l->t, q, l->still);
    if (!l->poses_alone) lwi_cut_read(l->cut, l->tree, l->t, false);
    lwi_cut_rows(l->cut, l->tree, l->t, LWI_CLOSURE_POSITION);
    lwi_rcr_place(l->e, l->tree, l->t);
}

// After place.
static lw_status rank_here(rank_search *l, double threshold)
{
    return eliminate_growing(l->e, l->allocator, LWI_RCR_FIND_RANKS, LWI_RCR_THETA, threshold,
                             l->error);
}

// Returns whether a rank is above those so far.
static bool keep_largest_ranks(rank_search *l)
{
    bool larger = false;
    for (int k = 0; k < l->e->model->nnode; k++) {
        if (l->e->node[k].rank <= l->max_rank[k]) continue;
        l->max_rank[k] = l->e->node[k].rank;
        larger = true;
    }
    return larger;
}

// Moves q by a step of the given size in an admissible direction, selected by `seed`; after rank_here.
static void step_along_motions(rank_search *l, int seed, double size, double *q)
{
    lwi_rcr *e = l->e;
    const int nv = e->model->tree_nv;
    lwi_cut_scatter(nv, seed, e->y);
    lwi_rcr_velocities(e, false);
    double max = 0;
    for (int k = 0; k < e->model->nnode; k++)
        max = fmax(max, fmax(v3_norm(e->x[k]), v3_norm(e->x[k] + 3)));
    for (int i = 0; i < nv; i++) l->du[i] = max > 0 ? e->y[i] * size / (max * e->scale[i]) : 0;
    lwi_displace(e->model, q, l->du);
}

// Whether so many rows depend on others in single loops alone as `lost` rows do at the start; after place, at a closed
// configuration near the start.  No part of the mechanism has a larger rank then than at the start: rows of its loops depend
// on others here, and at the start these are all that do.
static bool lost_in_loops(rank_search *l, int lost)
{
    l->in_loops =
        lost > 0 && lwi_rcr_self_stresses(l->e, l->tree, lost, l->undetermined, l->dependent);
    return l->in_loops;
}

// Newton iteration to the constraint manifold with the independent coordinates fixed.  A step of size h violates the
// constraints by h^2 and rotates redundant rows by as much; rows that become independent there have angles of
// order h.  `threshold` separates the two.
// @param lost  rows at the start that depend on others, if they may confirm its ranks (in_loops): those here are not found
//              then; or 0
static bool close_positions(rank_search *l, double threshold, int lost)
{
    lwi_rcr *e = l->e;
    const lwi_cut *cut = l->cut;
    const int max = 20; // converges quadratically, in six iterations as a rule
    const double enough = 1e-11 * (1 + e->length); // far below the angles that decide the rank
    for (int i = 0; i < max; i++) {
        double off = 0;
        place(l, l->q);
        for (int r = 0; r < cut->m; r++) off = fmax(off, fabs(cut->phi[r]));
        if (off < enough && lost_in_loops(l, lost)) return true;
        if (rank_here(l, threshold) != LW_OK) return false;
        if (off < enough) return true;
        for (int r = 0; r < cut->m; r++) e->a[r] = cut->phi[r] / (cut->len[r] * e->length);
        memset(e->y, 0, (size_t)e->model->tree_nv * sizeof *e->y);
        lwi_rcr_velocities(e, true);
        for (int v = 0; v < e->model->tree_nv; v++) l->du[v] = e->y[v] / e->scale[v];
        lwi_displace(e->model, l->q, l->du);
    }
    return false;
}

// Coordinates of the tree at the configuration of the generic ranks that `s` has found.
static lw_status take_generic(const lwi_system *s, lwi_arena *scratch, double *q)
{
    const lw_model *model = s->model;
    lwi_snapshot m;
    double *x = LWI_PUSH(scratch, double, model->tree_nq + model->tree_nv + 1),
           *v = LWI_PUSH(scratch, double, model->tree_nv);
    TRY(lwi_snapshot_create(model, scratch, &m));
    if (!x || !v) return LW_ERR_MEMORY;
    lwi_snapshot_start(model, &m);
    for (int b = 1; b < model->nbody; b++) {
        v3_copy(m.r[b], s->generic_r[b]);
        memcpy(m.R[b], s->generic_R[b], sizeof m.R[b]);
        quat_from_matrix(m.quat[b], m.R[b]);
    }
    if (model->nq) memcpy(m.q, s->generic_q, (size_t)model->nq * sizeof *m.q);
    lwi_tree_enter(model, &m, x, v);
    memcpy(q, x, (size_t)model->tree_nq * sizeof *q);
    return LW_OK;
}

// Ranks at l->q, of which the sum is known: sines that are lost at the start may be small there.
static void take_ranks(rank_search *l, int sum)
{
    static const double threshold[] = {LWI_CUT_RANK, 1e-6, 1e-7}; // redundant rows have 1e-11
    for (int i = 0; i < LWI_COUNT(threshold); i++) {
        place(l, l->q);
        if (rank_here(l, threshold[i]) != LW_OK || lwi_rcr_rank(l->e) > sum) return;
        keep_largest_ranks(l);
        memcpy(l->closed, l->q, (size_t)l->e->model->tree_nq * sizeof(double));
        if (lwi_rcr_rank(l->e) == sum) return;
    }
}

// Where many rows are lost at once, as at the start of a row of four-bars in a line, Newton's iteration with the
// independent coordinates of the start does not converge.  Then the configuration is that of the other formulations
// (system/rank.c), which close on the shortest way and move drives; their ranks are those of `shared`.
static lw_status search_as_others(rank_search *l, int start_rank, lwi_shared *shared)
{
    lwi_system s;
    lwi_arena scratch;
    lwi_arena_init(&scratch, l->allocator);
    lw_status status =
        lwi_system_create_shared(l->e->model, LW_PLAN_AUTO, true, shared, &scratch, &s);
    if (status == LW_OK && s.generic_R) status = take_generic(&s, &scratch, l->q);
    const int sum = l->cut->m - (s.nrow - s.generic_rank);
    if (status == LW_OK && s.generic_R && (s.generic_rank > s.start_rank || sum > start_rank)) {
        l->t = s.generic_t;
        take_ranks(l, sum);
        l->t = 0;
    }
    lwi_arena_free(&scratch);
    return status;
}

// Sines at the start above which no row nearly depends on others there.
#define FAR_FROM_SINGULAR 1e-2

// Whether the ranks just found at the start are those of all configurations near it.
static lw_status know_generic(const rank_search *l, bool *known)
{
    int planar = 0;
    const int lost = l->cut->m - lwi_rcr_rank(l->e);
    *known = false;
    if (!(fmin(l->e->min_row, l->e->min_pivot) > FAR_FROM_SINGULAR)) return LW_OK;
    if (lost > 0) TRY(lwi_planar_rows(l->e->model, l->allocator, &planar, l->undetermined));
    *known = lost == planar;
    return LW_OK;
}

// known: out, whether the dependent rows are those of loops in planes alone; the tree is at the start then.
static lw_status find_ranks(rank_search *l, lwi_shared *shared, int *start_rank, bool *known)
{
    // [rad], or lengths of the mechanism: large enough to leave a singular position, where pivots grow with the
    // step; small enough for h^2 to be well below h
    static const double sizes[NEARBY] = {0.02, 0.03};
    const lw_model *model = l->e->model;
    const size_t nq = (size_t)model->tree_nq;
    memcpy(l->tree->joint_q, model->q0, (size_t)model->nq * sizeof(double));
    place(l, model->tree_q0);
    l->e->as_chosen = true;
    const lw_status status = rank_here(l, LWI_CUT_RANK);
    l->e->as_chosen = false;
    TRY(status);
    keep_largest_ranks(l);
    if (model->tree_nv) memcpy(l->chosen, l->e->fresh, (size_t)model->tree_nv);
    *start_rank = lwi_rcr_rank(l->e);
    memcpy(l->closed, model->tree_q0, nq * sizeof(double));
    TRY(know_generic(l, known));
    const int nearby = l->cut->m && !*known ? NEARBY : 0;
    for (int i = 0; i < nearby; i++) {
        memcpy(l->nearby + (size_t)i * nq, model->tree_q0, nq * sizeof(double));
        step_along_motions(l, i, sizes[i], l->nearby + (size_t)i * nq);
    }
    bool confirmed = *known; // the ranks at the start are those of a configuration nearby
    bool any = confirmed, largest_at_start = true;
    for (int i = 0; i < nearby && !confirmed; i++) {
        memcpy(l->q, l->nearby + (size_t)i * nq, nq * sizeof(double));
        // drives may be at a singular position: others are searched then
        const int lost = i == 0 && !model->driven ? l->cut->m - *start_rank : 0;
        // 0.2: between h and 1
        if (!close_positions(l, 0.2 * sizes[i], lost)) continue;
        // where no row is between the two thresholds, the ranks are found already
        if (!l->in_loops && l->e->max_dropped > LWI_CUT_RANK && rank_here(l, LWI_CUT_RANK) != LW_OK)
            continue;
        any = true;
        const bool larger = !l->in_loops && keep_largest_ranks(l);
        largest_at_start = largest_at_start && !larger;
        confirmed = !larger && i == 0;
        memcpy(l->closed, l->q, nq * sizeof(double));
    }
    if ((!any || model->driven) && !*known && *start_rank < l->cut->m) {
        TRY(search_as_others(l, *start_rank, shared));
        largest_at_start = false;
    }
    // named coordinates are not chosen
    if (largest_at_start && !l->e->independent) l->e->at_start = l->chosen;
    for (int k = 0; k < model->nnode; k++) l->e->node[k].rank = l->max_rank[k];
    LWI_ASSERT(lwi_rcr_rank(l->e) >= 0 && lwi_rcr_rank(l->e) <= l->cut->m);
    if (!confirmed) place(l, l->closed);
    return LW_OK;
}

// Numbers that are reserved for later partitions with more delayed speeds, for each that a choice at the start needs: twice
// those of one with the largest pivots, which needs up to 2.2 times as many.  Nothing but addresses is used of what a run
// does not need, so mechanisms with small systems need no trial.
enum { RESERVE = 5, RESERVE_WITHOUT_TRIAL = 1 << 23 };

// Memory for choices at the start: the larger the pivots, the more speeds are delayed.  A singular start is reported on
// entry.  A choice that takes longer than the limit is not reserved for.
static lw_status try_choices(rank_search *l, bool placed, size_t *reserve)
{
    static const double pivots[] = {0.9, LWI_RCR_THETA, 1e-3};
    lw_status status = LW_ERR_SINGULAR;
    *reserve = RESERVE * l->e->need;
    if (l->e->at_start && *reserve < RESERVE_WITHOUT_TRIAL) return LW_OK;
    if (!placed) place(l, l->e->model->tree_q0);
    for (int i = 0; i < LWI_COUNT(pivots) && status != LW_OK && status != LW_ERR_MEMORY; i++)
        status = eliminate_growing(l->e, l->allocator, LWI_RCR_CHOOSE, pivots[i], 0, l->error);
    *reserve = 2 * l->e->need;
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

// For the other parts of the simulation, unless they have found ranks before.
static lw_status keep_ranks(const rank_search *l, int start_rank, bool known, lwi_shared *shared)
{
    const lw_model *model = l->e->model;
    const int rows = l->cut->m;
    if (shared->ranked) return LW_OK;
    if (l->poses_alone && !known) lwi_cut_read(l->cut, l->tree, l->t, true);
    const lwi_motion closed = lwi_cut_motion(l->tree);
    TRY(lwi_shared_keep_ranks(shared, model, rows - start_rank, rows - lwi_rcr_rank(l->e),
                              &closed));
    if (!l->in_loops) return LW_OK;
    shared->loop_dependent = LWI_PUSH(&shared->arena, int, model->nloop);
    if (!shared->loop_dependent) return LW_ERR_MEMORY;
    memcpy(shared->loop_dependent, l->dependent, (size_t)model->nloop * sizeof *l->dependent);
    return LW_OK;
}

lw_status lwi_rcr_find_ranks(lwi_rcr *e, lwi_cut *cut, lwi_tree_work *tree, lwi_arena *arena,
                             lwi_shared *shared, lwi_rcr_reactions **reactions, lw_error *error)
{
    rank_search l = {.e = e,
                     .cut = cut,
                     .tree = tree,
                     .allocator = &arena->allocator,
                     .q = LWI_PUSH(arena, double, e->model->tree_nq),
                     .nearby = LWI_PUSH(arena, double, NEARBY * e->model->tree_nq),
                     .closed = LWI_PUSH(arena, double, e->model->tree_nq),
                     .du = LWI_PUSH(arena, double, e->model->tree_nv),
                     .still = LWI_PUSH(arena, double, e->model->tree_nv),
                     .max_rank = LWI_PUSH(arena, int, e->model->nnode),
                     .chosen = LWI_PUSH(arena, unsigned char, e->model->tree_nv),
                     .undetermined = LWI_PUSH(arena, unsigned char, e->model->njoint),
                     .dependent = LWI_PUSH(arena, int, e->model->nloop),
                     .poses_alone = needs_poses_alone(e->model),
                     .error = error};
    if (!l.q || !l.nearby || !l.closed || !l.du || !l.still || !l.max_rank || !l.chosen ||
        !l.undetermined || !l.dependent)
        return LW_ERR_MEMORY;
    int start_rank = 0;
    size_t reserve = 0;
    bool known = false;
    lw_status status = find_ranks(&l, shared, &start_rank, &known);
    *reactions = NULL;
    if (status == LW_OK && shared) status = keep_ranks(&l, start_rank, known, shared);
    const int redundant = status == LW_OK ? cut->m - lwi_rcr_rank(e) : 0;
    if (redundant > 0) {
        const bool single = known || l.in_loops ||
                            lwi_rcr_self_stresses(e, tree, redundant, l.undetermined, l.dependent);
        status = lwi_rcr_reactions_create(e->model, tree, single ? l.undetermined : NULL, arena,
                                          reactions);
    }
    memcpy(tree->joint_q, e->model->q0, (size_t)e->model->nq * sizeof(double));
    if (status == LW_OK) status = try_choices(&l, known, &reserve);
    lwi_release(l.allocator, e->pool);
    e->pool = NULL;
    if (status != LW_OK) return status;
    if (error) error->text[0] = 0; // of trial configurations
    e->room = reserve;
    LWI_ASSERT(e->need > 0 || e->model->nnode == 0);
    e->pool = LWI_PUSH(arena, double, e->room);
    return e->pool ? LW_OK : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------- partition

lw_status lwi_rcr_choose(lwi_rcr *e, double pivot, double t, lw_error *error)
{
    for (;;) {
        const lw_status status = lwi_rcr_eliminate(e, LWI_RCR_CHOOSE, pivot, 0, t, error);
        if (status != LW_ERR_MEMORY || pivot < LWI_RCR_LAST) return status;
        pivot *= 0.1; // fewer speeds are delayed
    }
}

lw_status lwi_rcr_factor(lwi_rcr *e, lwi_rcr_mode mode, double t, lw_error *error)
{
    LWI_ASSERT(e->dependent && lwi_rcr_is_fixed(mode));
    lw_status status = lwi_rcr_eliminate(e, mode, LWI_RCR_DELAY, 0, t, error);
    if (status == LW_ERR_MEMORY) status = lwi_rcr_eliminate(e, mode, LWI_RCR_LAST, 0, t, error);
    if (status == LW_ERR_MEMORY)
        return lwi_fail(error, status,
                        "t = %.9g s: too many loops are open at once for the memory "
                        "of the elimination",
                        t);
    return status;
}
