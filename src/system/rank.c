// rank.c -- generic rank of a mechanism's rows.
//
// Ranks belong to configurations on the constraints: redundant rows tilt as soon as positions drift, and at a
// singular start fewer rows are independent than in its neighbourhood.  Therefore the start is closed to
// round-off, and so are a few configurations near it, reached along the degrees of freedom; the configuration
// with the largest rank defines the generic rank.
#include "system/dependent_rows.h"

#include "base/assert.h"

#include "kinematics/planar_rows.h"
#include "spatial/motion.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// Positions of one configuration.
typedef struct place {
    double (*R)[9], (*r)[3], *q;
} place;

static lw_status make_place(const lw_model *model, lwi_arena *arena, place *p)
{
    p->R = lwi_arena_push(arena, (size_t)model->nbody, sizeof *p->R);
    p->r = lwi_arena_push(arena, (size_t)model->nbody, sizeof *p->r);
    p->q = LWI_PUSH(arena, double, model->nq);
    return p->R && p->r && p->q ? LW_OK : LW_ERR_MEMORY;
}

static void store(const lwi_system *s, place *p)
{
    memcpy(p->R, s->R, (size_t)s->model->nbody * sizeof *p->R);
    memcpy(p->r, s->r, (size_t)s->model->nbody * sizeof *p->r);
    if (s->model->nq) memcpy(p->q, s->q, (size_t)s->model->nq * sizeof *p->q);
}

static void restore(lwi_system *s, const place *p)
{
    memcpy(s->R, p->R, (size_t)s->model->nbody * sizeof *p->R);
    memcpy(s->r, p->r, (size_t)s->model->nbody * sizeof *p->r);
    if (s->model->nq) memcpy(s->q, p->q, (size_t)s->model->nq * sizeof *p->q);
}

// Positions off by this tilt rows by angles with squares far below LWI_SYSTEM_RANK, 1e-20; it is above round-off, which
// is 2e-11 at the end of a chain of 1600 rods.
static double closed_enough(const lwi_system *s)
{
    return 1e-10 * (1 + s->length);
}

// If bodies are split, loops at one body close one after the other, and the round-off of one, over its pivot,
// is passed to the next: near singular positions, with pivots of 1e-5, up to 1e-11 in redundant rows.
#define PARTS_RANK 1e-11

// The compliance of a long path in directions in which it is rigid is round-off that grows with the cube of its bodies: in
// a planar ring of 60 it has 1e-11 of a row, as much as there is of rows that hold a chain of 1000 as a whole.  A pivot
// below this may be either.
#define DOUBTFUL 1e-7

static int rank_above(lwi_system *s, double threshold)
{
    int rank = -1;
    lwi_elim_clear_ranks(s->elim);
    if (lwi_elim_find_ranks(s->elim, threshold, &rank) != LW_OK) return -1;
    LWI_ASSERT(rank >= 0 && rank <= s->plan.nrow);
    return rank;
}

// The rows in the speeds of the tree have no such round-off.
static bool find_by_speeds(lwi_system *s, int *rank)
{
    lwi_arena scratch;
    bool certain = false;
    lwi_arena_init(&scratch, &s->model->arena.allocator);
    int *dependent = LWI_PUSH(&scratch, int, s->nedge);
    if (dependent && lwi_dependent_by_speeds(s, &scratch, dependent, &certain) != LW_OK)
        certain = false;
    *rank = s->plan.nrow;
    for (int e = 0; certain && e < s->nedge; e++) *rank -= dependent[e];
    lwi_arena_free(&scratch);
    return certain;
}

// A larger threshold, with which no pivot is counted that is round-off.
static int rank_without_round_off(lwi_system *s, double threshold, int rank)
{
    int certain, found = rank;
    if (!find_by_speeds(s, &certain) || certain >= rank) return rank;
    for (double t = 10 * threshold; t < 2 * DOUBTFUL && found > certain; t *= 10)
        found = rank_above(s, t);
    return found == certain ? found : rank_above(s, threshold);
}

// Of the rows that are placed.
static int rank_of_rows(lwi_system *s)
{
    lwi_system_geometric(s);
    const bool closed = lwi_system_residual(s) <= closed_enough(s);
    const double threshold = s->split.npart ? PARTS_RANK : LWI_SYSTEM_RANK;
    int rank = rank_above(s, closed ? threshold : LWI_ELIM_RANK);
    if (rank < 0) return -1;
    if (closed && lwi_elim_pivots(s->elim).min < DOUBTFUL)
        rank = rank_without_round_off(s, threshold, rank);
    return rank - (s->plan.nrow - s->nrow); // links form a tree: independent
}

int lwi_system_rank(lwi_system *s)
{
    lwi_system_rows(s, 0);
    return rank_of_rows(s);
}

// The mixing steps of the generator SplitMix64: regular sequences would repeat along regular chains.
double lwi_system_pseudorandom(int k, int seed)
{
    LWI_ASSERT(k >= 0 && seed >= 0);
    uint64_t z =
        (uint64_t)(k + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(seed + 1) * 0xd1342543de82ef95u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return 0x1p-52 * (double)(z >> 12) - 0.5; // 52 bits are exact
}

// A step of the given size [m] along the degrees of freedom, with the current factors; false: nothing moves.
static bool step_along_motion(lwi_system *s, int seed, double size)
{
    double before = 0, largest = 0;
    memset(s->x, 0, (size_t)s->nbody * sizeof *s->x);
    for (int k = 0; k < s->model->nnode; k++)
        for (int i = 0; i < 6; i++) {
            s->x[k][i] = lwi_system_pseudorandom(6 * k + i, seed) / (i < 3 ? 1 : s->length);
            before = fmax(before, fabs(s->x[k][i]) * (i < 3 ? 1 : s->length));
        }
    memset(s->c, 0, (size_t)s->plan.nrow * sizeof *s->c);
    lwi_system_share(s, false, s->x);
    lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 1);
    for (int k = 0; k < s->model->nnode; k++)
        for (int i = 0; i < 6; i++)
            largest = fmax(largest, fabs(s->x[k][i]) * (i < 3 ? 1 : s->length));
    if (!(largest > 1e-9 * before)) return false; // only round-off remains
    for (int k = 0; k < s->model->nnode; k++)
        for (int i = 0; i < 6; i++) s->x[k][i] *= size / largest;
    lwi_system_move(s, (const double(*)[6])s->x);
    return true;
}

// Convergence is quadratic: six steps are common.
#define MAX_STEPS 30

void lwi_system_start_closed(lwi_system *s)
{
    lwi_system_start(s);
    if (s->nrow == 0 || lwi_system_close(s, 0, closed_enough(s), MAX_STEPS)) return;
    lwi_system_start(s);
    lwi_system_rows(s, 0);
}

int lwi_system_start_rank(lwi_system *s)
{
    lwi_system_start_closed(s);
    return rank_of_rows(s);
}

// Takes the configuration of the generic ranks over; false: here the rows have another rank at it, or at the start
// more depend on each other, which other parts may see with other tolerances.
static bool adopt(lwi_system *s, const lwi_shared *shared, place *best)
{
    if (!shared || !shared->ranked || shared->start_redundant > shared->redundant) return false;
    *best = (place){shared->R, shared->r, shared->q};
    if (lwi_shared_has(shared, &s->plan) && shared->node_rank) {
        lwi_elim_put_ranks(s->elim, shared->node_rank);
        s->start_rank = s->generic_rank = s->nrow - shared->redundant;
        return true;
    }
    restore(s, best);
    s->start_rank = s->generic_rank = lwi_system_rank(s);
    s->ranked_there = true;
    return s->nrow - s->generic_rank == shared->redundant;
}

// Keeps the ranks of the nodes for eliminations with the same plan.
static lw_status keep_node_ranks(lwi_system *s, lwi_shared *shared)
{
    if (!lwi_shared_has(shared, &s->plan)) return LW_OK;
    s->common = shared;
    if (shared->node_rank) return LW_OK;
    shared->node_rank = LWI_PUSH(&shared->arena, int, s->plan.nnode);
    if (!shared->node_rank) return LW_ERR_MEMORY;
    lwi_elim_get_ranks(s->elim, shared->node_rank);
    return LW_OK;
}

lw_status lwi_system_put_ranks(lwi_system *s, const int *rank, lwi_shared *shared)
{
    s->start_rank = s->generic_rank = s->nrow - shared->redundant;
    lwi_elim_put_ranks(s->elim, rank);
    return keep_node_ranks(s, shared);
}

enum { NEARBY = 3 };

// Steps from the start along the degrees of freedom, with the factors there, off the constraints; false: nothing moves.
static bool step_nearby(lwi_system *s, const place *start, int i)
{
    // Lengths of the mechanism, or radians: large enough to leave a singular position, where pivots grow with
    // the square of the step, small enough to return to the constraints.
    static const double sizes[NEARBY] = {0.02, 0.03, 0.05};
    LWI_ASSERT_INDEX(i, NEARBY);
    if (i > 0) { // the first one begins with these factors
        restore(s, start);
        lwi_system_rank(s);
    }
    return step_along_motion(s, i, sizes[i] * s->length);
}

// A drive that is at a singular position at t = 0 holds the mechanism there: where drives are shortly after, more rows
// may be independent.  False: no configuration with a larger rank was found.
static bool search_driven(lwi_system *s, const place *start, place *best)
{
    static const double times[] = {1e-2, 0.1};
    bool found = false;
    for (int i = 0; i < LWI_COUNT(times) && !found; i++) {
        restore(s, start);
        if (!lwi_system_close(s, times[i], closed_enough(s), MAX_STEPS)) continue;
        const int rank = rank_of_rows(s);
        found = rank > s->generic_rank;
        if (!found) continue;
        s->generic_rank = rank;
        s->generic_t = times[i];
        store(s, best);
    }
    return found;
}

// Pivots at the start above which no row nearly depends on others there.
#define FAR_FROM_SINGULAR 1e-4

// The largest rank at any configuration, if that of the start is known to be it; otherwise `full`.
static lw_status largest_rank(const lwi_system *s, int full, lwi_arena *scratch, int *largest)
{
    int planar = 0;
    *largest = full;
    if (!(lwi_elim_pivots(s->elim).min > FAR_FROM_SINGULAR)) return LW_OK;
    if (s->start_rank < full) TRY(lwi_planar_rows(s->model, &scratch->allocator, &planar, NULL));
    if (s->start_rank == s->nrow - planar) *largest = s->start_rank;
    return LW_OK;
}

static lw_status search(lwi_system *s, int full, lwi_arena *scratch, place *best)
{
    place start = *best;
    int count = 0;
    s->start_rank = s->generic_rank = lwi_system_start_rank(s);
    store(s, best);
    TRY(largest_rank(s, full, scratch, &full));
    if (s->start_rank < full) {
        TRY(make_place(s->model, scratch, &start));
        store(s, &start);
        count = NEARBY;
    }
    bool last_is_best = true;
    for (int i = 0; i < count; i++) {
        last_is_best = i == 0;
        if (!step_nearby(s, &start, i)) break;
        last_is_best = false;
        if (!lwi_system_close(s, 0, closed_enough(s), MAX_STEPS)) continue;
        const int rank = rank_of_rows(s);
        if (rank < s->generic_rank) continue;
        // of equal ranks the later one: ranks of single nodes may be special at the start
        s->generic_rank = rank;
        store(s, best);
        last_is_best = true;
        // at the first one the rank of the start: confirmed
        if (rank == full || (i == 0 && rank == s->start_rank)) break;
    }
    if (s->model->driven && s->generic_rank < full) {
        last_is_best = false;
        if (search_driven(s, &start, best)) return LW_OK;
    }
    if (last_is_best) return LW_OK;
    restore(s, best);
    lwi_system_rank(s);
    return LW_OK;
}

lw_status lwi_system_find_ranks(lwi_system *s, lwi_shared *shared, lwi_arena *arena)
{
    const int free = 6 * s->model->nnode + s->model->nrotor * (s->nrotor > 0);
    const int full = s->nrow < free ? s->nrow : free;
    place best;
    s->start_rank = s->generic_rank = s->nrow;
    if (s->nrow == 0 || (s->model->nloop == 0 && s->model->ncoupling == 0)) return LW_OK;
    bool same = adopt(s, shared, &best);
    if (!same) {
        lwi_arena scratch;
        TRY(make_place(s->model, arena, &best));
        lwi_arena_init(&scratch, &arena->allocator);
        const lw_status status = search(s, full, &scratch, &best);
        lwi_arena_free(&scratch);
        TRY(status);
        s->ranked_there = true;
        const lwi_motion at = {
            .R = (const double(*)[9])best.R, .r = (const double(*)[3])best.r, .q = best.q};
        same = shared && !shared->ranked && s->start_rank >= 0 && s->generic_rank >= s->start_rank;
        if (same)
            TRY(lwi_shared_keep_ranks(shared, s->model, s->nrow - s->start_rank,
                                      s->nrow - s->generic_rank, &at));
    }
    if (same) TRY(keep_node_ranks(s, shared));
    s->generic_R = best.R, s->generic_r = best.r, s->generic_q = best.q;
    lwi_system_start(s);
    return LW_OK;
}

lw_status lwi_system_fewest_redundant(const lw_model *model, const lwi_arena *arena, int *redundant)
{
    lwi_system s;
    lwi_arena scratch;
    if (*redundant == 0) return LW_OK;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status =
        lwi_system_create_shared(model, LW_PLAN_AUTO, true, NULL, &scratch, &s);
    if (status == LW_OK && s.nrow - s.generic_rank < *redundant)
        *redundant = s.nrow - s.generic_rank;
    lwi_arena_free(&scratch);
    return status;
}

lw_status lwi_system_find_reference(lwi_system *s)
{
    lwi_shared *shared = s->common;
    if (!s->generic_R) return LW_OK;
    if (shared && shared->reference) {
        lwi_elim_put_reference(s->elim, shared->reference);
        return LW_OK;
    }
    restore(s, &(place){s->generic_R, s->generic_r, s->generic_q});
    if (!s->ranked_there || s->generic_t != 0) lwi_system_rows(s, 0); // else they are there
    lwi_system_masses(s);
    if (lwi_elim_factor(s->elim, NULL) == LW_OK) {
        lwi_elim_set_reference(s->elim);
        s->tree_pivot = lwi_elim_tree_pivot(s->elim);
    }
    lwi_system_start(s);
    if (!shared) return LW_OK;
    shared->reference = LWI_PUSH(&shared->arena, double, s->plan.nnode);
    if (!shared->reference) return LW_ERR_MEMORY;
    lwi_elim_get_reference(s->elim, shared->reference);
    return LW_OK;
}
