// net_paths.c -- the passes over all paths of a net (net_paths.h).
#include "methods/dca/segments/net_paths.h"

#include "base/assert.h"
#include "methods/dca/segments/ends.h"
#include "methods/dca/segments/schedule.h"

enum { Q, IN, U, OUT, RATE, ROWS };

// ------------------------------------------------------------------------------------------ create

static lwi_net_rows rows_in_arrays(const lwi_net_plan *plan, int s)
{
    const lwi_net_segment *segment = &plan->segment[s];
    const int g = plan->place[s].block, *iq = plan->iq + segment->first,
              *iv = plan->iv + segment->first;
    for (int j = 1; j < segment->n; j++)
        if (iq[j] != iq[0] + j || iv[j] != iv[0] + j) return LWI_NET_SCATTERED;
    return segment->n < plan->body_at[g + 1] - plan->body_at[g] ? LWI_NET_SHORT : LWI_NET_IN_PLACE;
}

// Consecutive groups for each thread, of about as many bodies.
static void share_groups(lwi_net_paths *p)
{
    const lwi_net_plan *plan = p->plan;
    const long all = plan->body_at[plan->ngroup];
    for (int t = 1, g = 0; t <= p->threads; t++) {
        while (g < plan->ngroup && plan->body_at[g] * (long)p->threads < all * t) g++;
        p->first[t] = t == p->threads ? plan->ngroup : g;
    }
}

lw_status lwi_net_paths_create(const lwi_net_plan *plan, const lwi_path_kernels *kernels,
                               int tree_nv, lwi_pool *pool, lwi_arena *arena, lwi_net_paths *p)
{
    const int threads = lwi_path_share(pool ? lwi_pool_count(pool) : 1, plan->ngroup, plan->nhinge);
    const int blocks = plan->body_at[plan->ngroup];
    *p = (lwi_net_paths){
        .plan = plan, .kernels = kernels, .pool = threads > 1 ? pool : NULL, .threads = threads};
    p->first = LWI_PUSH(arena, int, threads + 1);
    p->done = LWI_PUSH(arena, long, threads);
    p->link = LWI_PUSH(arena, lwi_path_link, blocks);
    p->block = LWI_PUSH(arena, lwi_path_end, plan->ngroup + plan->nbatch);
    p->pair = LWI_PUSH(arena, lwi_net_pair, plan->nbatch);
    p->rows = LWI_PUSH(arena, lwi_net_rows, plan->nsegment);
    p->row = LWI_PUSH(arena, double, (long)ROWS *LWI_LANES *blocks);
    p->zeros = LWI_PUSH(arena, double, tree_nv);
    p->tip = LWI_PUSH(arena, double, plan->npath);
    if (!p->first || !p->done || !p->link || !p->block || !p->pair || !p->rows || !p->row ||
        !p->zeros || !p->tip)
        return LW_ERR_MEMORY;
    for (int s = 0; s < plan->nsegment; s++) p->rows[s] = rows_in_arrays(plan, s);
    share_groups(p);
    return LW_OK;
}

// Ends of the groups of a rank: numbers first ... end - 1 of each.
static void add_ends(const lwi_net_paths *p, int rank, lwi_path_range range, lwi_ranks_gather *of,
                     int *nrun)
{
    enum { NUMBERS = sizeof(lwi_path_end) / sizeof(double) };
    const int n = (int)(range.end - range.first) * LWI_LANES;
    for (int g = p->first[rank]; g < p->first[rank + 1]; g++)
        lwi_ranks_add(of->run, of->first[rank], nrun, 1, g * NUMBERS + (int)range.first * LWI_LANES,
                      n);
}

// Speeds of the hinges of a rank.
static void add_hinges(const lwi_net_paths *p, int rank, lwi_ranks_gather *of, int *nrun)
{
    const lwi_net_plan *plan = p->plan;
    for (int g = p->first[rank]; g < p->first[rank + 1]; g++)
        for (int l = 0; l < LWI_LANES; l++) {
            const int s = plan->member[g][l];
            for (int j = 0; s >= 0 && j < plan->segment[s].n; j++)
                lwi_ranks_add(of->run, of->first[rank], nrun, 0,
                              plan->iv[plan->segment[s].first + j], 1);
        }
}

static lw_status list_numbers(const lwi_net_paths *p, bool hinges, lwi_path_range range,
                              lwi_arena *arena, lwi_ranks_gather *of)
{
    const int count = p->ranks->of.count;
    int nrun = 0;
    TRY(lwi_ranks_gather_create(p->ranks, p->plan->ngroup + (hinges ? p->plan->nhinge : 0), arena,
                                of));
    for (int r = 0; r < count; r++) {
        of->first[r] = nrun;
        if (r >= p->threads) continue;
        if (hinges) add_hinges(p, r, of, &nrun);
        add_ends(p, r, range, of, &nrun);
    }
    of->first[count] = nrun;
    return lwi_ranks_gather_end(p->ranks, arena, of);
}

lw_status lwi_net_paths_ranks(lwi_net_paths *p, lwi_ranks *ranks, lwi_arena *arena)
{
    const lwi_path_range turning = {LWI_PATH_PLACE(turning), LWI_PATH_PLACE(c)};
    LWI_ASSERT(!p->pool);
    p->threads = lwi_path_share(ranks->of.count, p->plan->ngroup, p->plan->nhinge);
    p->first = LWI_PUSH(arena, int, p->threads + 1);
    p->done = LWI_PUSH(arena, long, p->threads);
    if (!p->first || !p->done) return LW_ERR_MEMORY;
    share_groups(p);
    p->ranks = ranks;
    for (int kind = 0; kind < LWI_PATH_EXCHANGES; kind++)
        TRY(list_numbers(p, false, lwi_path_up[kind], arena, &p->ends[kind]));
    TRY(list_numbers(p, true, turning, arena, &p->results[0]));
    return list_numbers(p, true, (lwi_path_range){0, 0}, arena, &p->results[1]);
}

// -------------------------------------------------------------------------------------------- rows

// Row `what` of lane l of a group, of those that are copied.
static double *row_of(const lwi_net_paths *p, int what, int g, int l)
{
    const int *at = p->plan->body_at;
    const size_t length = (size_t)(at[g + 1] - at[g]);
    return p->row + LWI_LANES * ((size_t)what * (size_t)at[p->plan->ngroup] + (size_t)at[g]) +
           (size_t)l * length;
}

// Arrays that the kernels of a pass use, and those of them that no earlier pass has copied.
#define OF(what) (1u << (what))
static const struct {
    unsigned used, copied;
} numbers_of[LWI_PATH_PASSES] = {
    [LWI_PATH_INWARD] = {OF(Q) | OF(IN), OF(Q) | OF(IN)},
    [LWI_PATH_AGAIN] = {OF(IN), 0},
    [LWI_PATH_SPEEDS] = {OF(OUT), 0},
    [LWI_PATH_RATES] = {OF(RATE), 0},
    [LWI_PATH_FACTOR] = {OF(Q) | OF(IN) | OF(U), OF(Q) | OF(U)},
    [LWI_PATH_VELOCITY] = {OF(U), OF(U)},
    [LWI_PATH_BIAS] = {OF(IN) | OF(U), OF(IN)},
    [LWI_PATH_AGAIN_BIAS] = {OF(IN), 0},
    [LWI_PATH_RESPONSE] = {OF(IN), OF(IN)},
    [LWI_PATH_ACCELERATE] = {OF(OUT), 0},
};

static void set_rows(const lwi_net_paths *p, int g, lwi_path_rows *rows)
{
    const lwi_net_plan *plan = p->plan;
    const unsigned used = numbers_of[p->pass].used;
    rows->kind = NULL;
    rows->all = LWI_PATH_HINGE;
    for (int l = 0; l < LWI_LANES; l++) {
        const int s = plan->member[g][l];
        const bool copied = s < 0 || p->rows[s] != LWI_NET_IN_PLACE;
        const int iq = copied ? 0 : plan->iq[plan->segment[s].first];
        const int iv = copied ? 0 : plan->iv[plan->segment[s].first];
        if (used & OF(Q)) rows->q[l] = copied ? row_of(p, Q, g, l) : p->q + iq;
        if (used & OF(IN)) rows->in[l] = copied ? row_of(p, IN, g, l) : p->in + iv;
        if (used & OF(U)) rows->u[l] = copied ? row_of(p, U, g, l) : p->u + iv;
        if (used & OF(OUT)) rows->out[l] = copied ? row_of(p, OUT, g, l) : p->out + iv;
        if (used & OF(RATE)) rows->rate[l] = copied ? row_of(p, RATE, g, l) : p->rate + iv;
    }
}

static void gather(double *to, const double *from, const int *at, int n, bool scattered)
{
    if (!scattered) memcpy(to, from + at[0], (size_t)n * sizeof *to);
    for (int j = 0; scattered && j < n; j++) to[j] = from[at[j]];
}

// Copies the input of a group where rows need it, and sets what the joints at the tips transmit along their axes.
static void take_input(lwi_net_paths *p, int g)
{
    const lwi_net_plan *plan = p->plan;
    const unsigned copied = numbers_of[p->pass].copied;
    for (int l = 0; l < LWI_LANES; l++) {
        const int s = plan->member[g][l];
        if (s < 0) continue;
        const lwi_net_segment *segment = &plan->segment[s];
        p->block[g].next[2][l] = segment->next < 0 ? p->tip[segment->path] : p->in[segment->next];
        if (p->rows[s] == LWI_NET_IN_PLACE) continue;
        const bool scattered = p->rows[s] == LWI_NET_SCATTERED;
        const int *iq = plan->iq + segment->first, *iv = plan->iv + segment->first;
        if (copied & OF(Q)) gather(row_of(p, Q, g, l), p->q, iq, segment->n, scattered);
        if (copied & OF(IN)) gather(row_of(p, IN, g, l), p->in, iv, segment->n, scattered);
        if (copied & OF(U)) gather(row_of(p, U, g, l), p->u, iv, segment->n, scattered);
    }
}

static void give_output(lwi_net_paths *p, int g, bool rates)
{
    const lwi_net_plan *plan = p->plan;
    double *to = rates ? p->rate : p->out;
    for (int l = 0; l < LWI_LANES; l++) {
        const int s = plan->member[g][l];
        if (s < 0 || p->rows[s] == LWI_NET_IN_PLACE) continue;
        const double *from = row_of(p, rates ? RATE : OUT, g, l);
        const int *iv = plan->iv + plan->segment[s].first, n = plan->segment[s].n;
        if (p->rows[s] == LWI_NET_SHORT) memcpy(to + iv[0], from, (size_t)n * sizeof *to);
        for (int j = 0; p->rows[s] == LWI_NET_SCATTERED && j < n; j++) to[iv[j]] = from[j];
    }
}

// ------------------------------------------------------------------------------- groups and joins

static bool compute_group(lwi_net_paths *p, int g)
{
    const lwi_net_plan *plan = p->plan;
    const int at = plan->body_at[g], n = plan->body_at[g + 1] - at;
    if (numbers_of[p->pass].copied) take_input(p, g);
    lwi_path_rows rows;
    set_rows(p, g, &rows);
    const bool valid =
        p->kernels->pass[p->pass](plan->body + at, p->link + at, &p->block[g], &rows, n);
    if (p->pass == LWI_PATH_SPEEDS || p->pass == LWI_PATH_ACCELERATE) give_output(p, g, false);
    if (p->pass == LWI_PATH_RATES) give_output(p, g, true);
    return valid;
}

static void join(lwi_net_paths *p, int number)
{
    const lwi_net_batch *batch = &p->plan->batch[number];
    lwi_net_pair *pair = &p->pair[number];
    const lwi_path_range range = lwi_path_up[p->up];
    for (int l = 0; l < batch->n; l++) {
        int at, next;
        const lwi_path_end *a = lwi_net_end(p, batch->a[l], &at),
                           *b = lwi_net_end(p, batch->b[l], &next);
        if (a == b && next == at + 1) {
            lwi_path_part_lanes(&pair->a, &pair->b, l, a, at, range);
            continue;
        }
        lwi_path_copy_lane(&pair->a, l, a, at, range);
        lwi_path_copy_lane(&pair->b, l, b, next, range);
    }
    p->kernels->up[0][p->up](&pair->a, &pair->b, &p->block[p->plan->ngroup + number], batch->n);
}

static void split(lwi_net_paths *p, int number)
{
    const lwi_net_batch *batch = &p->plan->batch[number];
    lwi_net_pair *pair = &p->pair[number];
    p->kernels->down[0][p->down](&pair->a, &pair->b, &p->block[p->plan->ngroup + number], batch->n);
    const lwi_path_range range = lwi_path_down[p->down];
    for (int l = 0; l < batch->n; l++) {
        int at, next;
        lwi_path_end *a = lwi_net_end(p, batch->a[l], &at), *b = lwi_net_end(p, batch->b[l], &next);
        if (a == b && next == at + 1) {
            lwi_path_unite_lanes(a, at, &pair->a, &pair->b, l, range);
            continue;
        }
        lwi_path_copy_lane(a, at, &pair->a, l, range);
        lwi_path_copy_lane(b, next, &pair->b, l, range);
    }
}

// --------------------------------------------------------------------------------------------- run

typedef struct task {
    lwi_net_paths *paths;
    void (*act)(lwi_net_paths *paths, int batch);
    _Atomic bool invalid;
} task;

static void level_part(void *user, int thread)
{
    task *run = user;
    lwi_net_paths *p = run->paths;
    const int first = p->plan->level[p->level], n = p->plan->level[p->level + 1] - first;
    if (thread >= p->threads) return;
    for (int i = n * thread / p->threads; i < n * (thread + 1) / p->threads; i++)
        run->act(p, first + i);
}

static void groups_part(void *user, int thread)
{
    task *run = user;
    lwi_net_paths *p = run->paths;
    bool valid = true;
    if (thread >= p->threads) return;
    for (int g = p->first[thread]; g < p->first[thread + 1]; g++)
        valid = compute_group(p, g) && valid;
    if (!valid) run->invalid = true;
    p->done[thread] += p->first[thread + 1] - p->first[thread];
}

// A level of joins; a single batch is not worth a barrier.
static void run_level(task *run, int level, void (*act)(lwi_net_paths *, int))
{
    lwi_net_paths *p = run->paths;
    const int first = p->plan->level[level], end = p->plan->level[level + 1];
    run->act = act;
    p->level = level;
    if (p->pool && end - first > 1)
        lwi_pool_run(p->pool, level_part, run);
    else
        for (int b = first; b < end; b++) act(p, b);
}

void lwi_net_paths_down(lwi_net_paths *p, int down)
{
    task run = {.paths = p};
    p->down = down;
    if (down == LWI_NET_NOTHING) return;
    for (int i = p->plan->nlevel - 1; i >= 0; i--) run_level(&run, i, split);
}

// What the groups of each rank have found: their ends to be joined, or their results.
static bool exchange(lwi_net_paths *p, bool valid)
{
    const bool rates = p->pass == LWI_PATH_RATES;
    double *const array[2] = {rates ? p->rate : p->out, (double *)p->block};
    const lwi_ranks_gather *of = p->up == LWI_NET_NOTHING ? &p->results[rates] : &p->ends[p->up];
    return lwi_ranks_gather_all(p->ranks, of, array, valid);
}

bool lwi_net_paths_run(lwi_net_paths *p, int down, lwi_path_pass_kind pass, int up)
{
    task run = {.paths = p};
    lwi_net_paths_down(p, down);
    p->pass = pass;
    p->up = up;
    if (p->pool)
        lwi_pool_run(p->pool, groups_part, &run);
    else if (lwi_ranks_share(p->ranks))
        groups_part(&run, p->ranks->of.rank);
    else
        for (int t = 0; t < p->threads; t++) groups_part(&run, t);
    bool valid = !run.invalid;
    if (lwi_ranks_share(p->ranks)) valid = exchange(p, valid);
    for (int i = 0; valid && up != LWI_NET_NOTHING && i < p->plan->nlevel; i++)
        run_level(&run, i, join);
    return valid;
}

void lwi_net_paths_correct(const lwi_net_paths *p)
{
    const lwi_net_plan *plan = p->plan;
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        for (int s = path->segment + 1; s < path->segment + path->nsegment; s++) {
            int lane;
            const lwi_path_end *before = lwi_net_end(p, s - 1, &lane);
            p->out[plan->iv[plan->segment[s].first]] -= before->turning[2][lane];
        }
    }
}
