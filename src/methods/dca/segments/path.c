// path.c -- evaluation of a path in segments: storage, passes, the joins across lanes (path.h).
//
// Numbers (n) are those of docs/theory/segments.md.  An evaluation of speeds and momentum rates:
//
//     inward   poses, (2) of every segment; joins (5)-(7); the ground (9): first solution V0, f0 at all cuts
//     again    z and e about V0, f0 (8), joins, the ground: corrections V, f
//     outward  speeds (3), rates of the momenta (4)
//
// of accelerations:
//
//     factor   poses, matrices of (2), angular velocities
//     bias     z and e of the accelerations (10), (11), joins, the ground: first solution
//     again    as above;  accelerate: (3) with accelerations
//
// of what efforts add to these (22): response instead of bias, with the factors that are there
#include "methods/dca/segments/path.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "methods/dca/segments/ends.h"
#include "methods/dca/segments/root.h"
#include "methods/dca/segments/schedule.h"
#include "spatial/rotation.h"

#include <string.h>

LWI_ISA_BUILDS(lwi_path_kernels, lwi_path_kernels);

const lwi_path_kernels *lwi_path_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

enum { FOLDS = 3 }; // of eight lanes to one
enum { Q, IN, U, OUT, RATE, ROWS };

/** Pairs of neighbouring lanes of a compound, and theirs. */
typedef struct fold {
    lwi_path_end a, b, to;
} fold;

struct lwi_path {
    const lwi_path_kernels *kernels;
    const lwi_path_plan *plan;
    lwi_path_schedule schedule;
    lwi_path_link *link; // [groups][length]
    lwi_path_end *end;   // [2 groups - 1] groups, then compounds
    fold *fold;          // [FOLDS]
    lwi_path_root root;
    // rows of segments that are not consecutive in the arrays of the tree, or padded
    double *row; // [ROWS][8 groups][stride]: q, in, u, out, rate
    int stride;
    bool *copied;  // [8 groups]
    double *zeros; // [tree_nv]
    // of the evaluation
    const double *q, *in, *u;
    double *out, *rate; // rate NULL: accelerations
    // of the pass
    lwi_path_pass_kind pass;
    lwi_path_exchange_kind up, down;
    // of ranks: the results of each, of accelerations and of speeds with rates
    lwi_ranks *ranks; // NULL: this process alone
    lwi_ranks_gather results[2];
};

// -------------------------------------------------------------------------------------------- rows

static bool is_ball(int kind)
{
    return kind == LWI_PATH_BALL || kind == LWI_PATH_SOME_BALLS;
}

// Coordinates that a place has in its row.
static int coordinates(int kind)
{
    return is_ball(kind) ? 4 : kind != LWI_PATH_OF_BALL;
}

// Row `what` of segment s, of those that are copied.
static double *row_of(const lwi_path *path, int what, int s)
{
    const size_t segments = (size_t)(LWI_LANES * path->plan->groups);
    return path->row + ((size_t)what * segments + (size_t)s) * (size_t)path->stride;
}

static lwi_path_rows rows_of(const lwi_path *path, int group)
{
    const lwi_path_plan *plan = path->plan;
    lwi_path_rows rows = {.kind = plan->kind + group * plan->length, .all = plan->all[group]};
    for (int l = 0; l < LWI_LANES; l++) {
        const int s = l * plan->groups + group;
        const bool copied = path->copied[s];
        const int iq = copied ? 0 : plan->joint[plan->first[s]].iq;
        const int iv = copied ? 0 : plan->joint[plan->first[s]].iv;
        rows.q[l] = copied ? row_of(path, Q, s) : path->q + iq;
        rows.in[l] = copied ? row_of(path, IN, s) : path->in + iv;
        rows.u[l] = copied ? row_of(path, U, s) : path->u + iv;
        rows.out[l] = copied ? row_of(path, OUT, s) : path->out + iv;
        rows.rate[l] = copied ? row_of(path, RATE, s) : path->rate ? path->rate + iv : NULL;
    }
    return rows;
}

// Axes of the head of segment s in those of the ball that it begins with.
static void head_axes(const lwi_path *path, int s, double R[9])
{
    const lwi_path_plan *plan = path->plan;
    const lwi_path_body *body = plan->body + s % plan->groups * plan->length;
    const int *place = plan->place + s * plan->length, l = s / plan->groups;
    double own[9], about_z[9];
    for (; *place != plan->first[s]; place++) body++;
    quat_matrix(own, path->q + plan->joint[plan->first[s]].iq);
    rot_z(about_z, body[2].ca[l], body[2].sa[l]);
    m3_mul(R, about_z, own);
}

// What the first joint of segment s transmits along the head's axis c, and those after it; between balls all are known.
// A slider is never cut.
static void known_at(const lwi_path *path, int s, int c, double x[3])
{
    const lwi_path_joint *joint = &path->plan->joint[path->plan->first[s]];
    const double *in = path->in + joint->iv;
    double R[9];
    x[2] = joint->kind == LWI_PATH_HINGE ? in[0] : 0;
    if (joint->kind != LWI_PATH_BALL) return;
    head_axes(path, s, R);
    for (; c < 3; c++) x[c] = v3_dot(R + 3 * c, in);
}

// Copies the input of a group where rows need it, and sets what the joints at the tips transmit along their axes.
static void take_input(lwi_path *path, int group)
{
    const lwi_path_plan *plan = path->plan;
    const signed char *kind = plan->kind + group * plan->length;
    for (int l = 0; l < LWI_LANES; l++) {
        const int s = l * plan->groups + group, *place = plan->place + s * plan->length;
        double couple[3] = {0};
        if (plan->first[s + 1] < plan->n)
            known_at(path, s + 1, lwi_path_only_balls(plan->all[group]) ? 0 : 2, couple);
        for (int c = 0; c < 3; c++) path->end[group].next[c][l] = couple[c];
        if (!path->copied[s]) continue;
        double *q = row_of(path, Q, s), *in = row_of(path, IN, s), *u = row_of(path, U, s);
        for (int j = 0; j < plan->places[group]; q += coordinates(kind[j]), j++) {
            if (place[j] < 0) continue;
            const lwi_path_joint *joint = &plan->joint[place[j]];
            for (int i = 0; i < coordinates(kind[j]); i++) q[i] = path->q[joint->iq + i];
            for (int i = 0; i < lwi_path_nv(joint); i++) {
                in[j + i] = path->in[joint->iv + i];
                u[j + i] = path->u[joint->iv + i];
            }
        }
    }
}

static void give_output(lwi_path *path, int group)
{
    const lwi_path_plan *plan = path->plan;
    for (int l = 0; l < LWI_LANES; l++) {
        const int s = l * plan->groups + group, *place = plan->place + s * plan->length;
        if (!path->copied[s]) continue;
        const double *out = row_of(path, OUT, s), *rate = row_of(path, RATE, s);
        for (int j = 0; j < plan->places[group]; j++) {
            if (place[j] < 0) continue;
            const lwi_path_joint *joint = &plan->joint[place[j]];
            for (int i = 0; i < lwi_path_nv(joint); i++) {
                path->out[joint->iv + i] = out[j + i];
                if (path->rate) path->rate[joint->iv + i] = rate[j + i];
            }
        }
    }
}

// The speeds of the first joint of segment s were found relative to a body that does not rotate about the head's axis c
// and those after it: less those of the body before it, which another segment has.
static void correct_first_speeds_of(lwi_path *path, int s, int c, const double turning[3])
{
    const lwi_path_joint *joint = &path->plan->joint[path->plan->first[s]];
    double *out = path->out + joint->iv, R[9];
    if (joint->kind == LWI_PATH_HINGE) out[0] -= turning[2];
    if (joint->kind != LWI_PATH_BALL) return;
    head_axes(path, s, R);
    for (; c < 3; c++) v3_axpy(out, -turning[c], R + 3 * c);
}

static bool shared_out(const lwi_path *path)
{
    return lwi_ranks_share(path->ranks);
}

// Whether this rank computes the segments of a group; of group 0: what is at the path's inner end.
static bool is_own(const lwi_path *path, int group)
{
    const lwi_path_schedule *s = &path->schedule;
    if (!shared_out(path)) return true;
    const int me = path->ranks->of.rank;
    return group >= lwi_path_first_group(s, me) && group < lwi_path_first_group(s, me + 1);
}

// The tips before the first group of each rank are those of the last group of the one before.
static void exchange_turning(lwi_path *path)
{
    const lwi_path_schedule *s = &path->schedule;
    const int n = s->threads, me = path->ranks->of.rank;
    if (me >= n || n == 1) return;
    double *in = path->end[(lwi_path_first_group(s, me) + s->groups - 1) % s->groups].turning[0];
    const double *out = path->end[lwi_path_first_group(s, me + 1) - 1].turning[0];
    const size_t size = sizeof path->end->turning;
    lwi_ranks_exchange(path->ranks, (me + 1) % n, out, size, (me + n - 1) % n, in, size);
}

static void correct_first_speeds(lwi_path *path)
{
    const lwi_path_plan *plan = path->plan;
    double turning[3] = {0, 0, path->root.axial};
    if (shared_out(path)) exchange_turning(path);
    if (is_own(path, 0)) correct_first_speeds_of(path, 0, 2, turning);
    for (int s = 1; s < LWI_LANES * plan->groups && plan->first[s] < plan->n; s++) {
        const int before = (s - 1) % plan->groups, l = (s - 1) / plan->groups;
        if (!is_own(path, s % plan->groups)) continue;
        for (int c = 0; c < 3; c++) turning[c] = path->end[before].turning[c][l];
        correct_first_speeds_of(path, s, lwi_path_only_balls(plan->all[before]) ? 0 : 2, turning);
    }
}

// ------------------------------------------------------------------------------------------ create

// Are the state's numbers in the arrays of the tree those of the places one after the other?
static bool is_direct(const lwi_path_plan *plan, int s)
{
    const int *place = plan->place + s * plan->length, first = plan->first[s];
    for (int j = 0, iq = 0, k = first; j < plan->places[s % plan->groups]; k++) {
        const lwi_path_joint *joint = &plan->joint[k];
        if (place[j] != k || joint->iq != plan->joint[first].iq + iq ||
            joint->iv != plan->joint[first].iv + j)
            return false;
        j += lwi_path_nv(joint);
        iq += coordinates((int)joint->kind);
    }
    return true;
}

// Numbers in a row of any group.
static int longest_row(const lwi_path_plan *plan)
{
    int longest = 0;
    for (int g = 0; g < plan->groups; g++) {
        int n = 0;
        for (int j = 0; j < plan->places[g]; j++)
            n += coordinates(plan->kind[g * plan->length + j]);
        if (n > longest) longest = n;
    }
    return longest;
}

// Padding of balls is not rotated.
static void set_rows(lwi_path *path)
{
    const lwi_path_plan *plan = path->plan;
    for (int s = 0; s < LWI_LANES * plan->groups; s++) {
        const int group = s % plan->groups;
        const signed char *kind = plan->kind + group * plan->length;
        double *q = row_of(path, Q, s);
        path->copied[s] = !is_direct(plan, s);
        for (int j = 0; j < plan->places[group]; q += coordinates(kind[j]), j++)
            if (is_ball(kind[j])) *q = 1;
    }
}

lw_status lwi_path_create(const lw_model *model, const lwi_path_plan *plan, int width,
                          lwi_pool *pool, lwi_arena *arena, lwi_path **out)
{
    const lwi_path_kernels *kernels = lwi_path_kernels_of(width);
    *out = NULL;
    if (!kernels) return LW_OK;
    const int segments = LWI_LANES * plan->groups;
    lwi_path *path = LWI_PUSH(arena, lwi_path, 1);
    if (!path) return LW_ERR_MEMORY;
    path->kernels = kernels;
    path->plan = plan;
    path->link = LWI_PUSH(arena, lwi_path_link, plan->groups * plan->length);
    path->end = LWI_PUSH(arena, lwi_path_end, 2 * plan->groups - 1);
    path->fold = LWI_PUSH(arena, fold, FOLDS);
    path->stride = longest_row(plan);
    path->row = LWI_PUSH(arena, double, ROWS *segments * path->stride);
    path->zeros = LWI_PUSH(arena, double, model->tree_nv);
    path->copied = LWI_PUSH(arena, bool, segments);
    if (!path->link || !path->end || !path->fold || !path->row || !path->copied || !path->zeros)
        return LW_ERR_MEMORY;
    set_rows(path);
    lwi_path_root_init(&plan->base, model->gravity, &path->root);
    TRY(lwi_path_schedule_create(plan->groups, plan->n, pool, arena, &path->schedule));
    *out = path;
    return LW_OK;
}

// Speeds of the segments of all groups of a rank, lane by lane.
static void add_results(const lwi_path *path, int rank, int array, lwi_ranks_gather *of, int *nrun)
{
    const lwi_path_plan *plan = path->plan;
    const lwi_path_schedule *schedule = &path->schedule;
    const int first = lwi_path_first_group(schedule, rank);
    const int end = lwi_path_first_group(schedule, rank + 1), from = of->first[rank];
    if (rank == 0) lwi_ranks_add(of->run, from, nrun, array, plan->base.iv, plan->base.nv);
    for (int l = 0; l < LWI_LANES; l++)
        for (int g = first; g < end; g++) {
            const int s = l * plan->groups + g;
            for (int k = plan->first[s]; k < plan->first[s + 1]; k++)
                lwi_ranks_add(of->run, from, nrun, array, plan->joint[k].iv,
                              lwi_path_nv(&plan->joint[k]));
        }
}

lw_status lwi_path_ranks(lwi_path *path, lwi_ranks *ranks, lwi_arena *arena)
{
    const lwi_path_plan *plan = path->plan;
    TRY(lwi_path_schedule_ranks(&path->schedule, plan->n, ranks, arena));
    for (int arrays = 1; arrays <= 2; arrays++) {
        lwi_ranks_gather *of = &path->results[arrays - 1];
        int nrun = 0;
        TRY(lwi_ranks_gather_create(ranks, arrays * (plan->n + 1), arena, of));
        for (int r = 0; r < ranks->of.count; r++) {
            of->first[r] = nrun;
            for (int array = 0; array < arrays; array++) add_results(path, r, array, of, &nrun);
        }
        of->first[ranks->of.count] = nrun;
        TRY(lwi_ranks_gather_end(ranks, arena, of));
    }
    path->ranks = ranks;
    return LW_OK;
}

const lwi_path_plan *lwi_path_plan_of(const lwi_path *path)
{
    return path->plan;
}
int lwi_path_threads(const lwi_path *path)
{
    return path->schedule.threads;
}
long lwi_path_groups_done(const lwi_path *path, int thread)
{
    LWI_ASSERT_INDEX(thread, path->schedule.threads);
    return path->schedule.done[thread];
}

// ---------------------------------------------------------------------------------- groups and joins

static bool compute_group(void *user, int g)
{
    lwi_path *path = user;
    const int n = path->plan->length, places = path->plan->places[g];
    const lwi_path_pass_kind pass = path->pass;
    if (pass == LWI_PATH_INWARD || pass == LWI_PATH_FACTOR || pass == LWI_PATH_VELOCITY ||
        pass == LWI_PATH_RESPONSE)
        take_input(path, g);
    const lwi_path_rows rows = rows_of(path, g);
    const bool valid = path->kernels->pass[pass](path->plan->body + g * n, path->link + g * n,
                                                 &path->end[g], &rows, places);
    if (pass == LWI_PATH_OUTWARD || pass == LWI_PATH_SPEEDS || pass == LWI_PATH_ACCELERATE)
        give_output(path, g);
    return valid;
}

static void join(void *user, const lwi_path_join *j)
{
    const lwi_path *path = user;
    path->kernels->up[path->plan->balls][path->up](&path->end[j->a], &path->end[j->b],
                                                   &path->end[j->to], LWI_LANES);
}

static void split(void *user, const lwi_path_join *j)
{
    const lwi_path *path = user;
    path->kernels->down[path->plan->balls][path->down](&path->end[j->a], &path->end[j->b],
                                                       &path->end[j->to], LWI_LANES);
}

static double *numbers(void *user, int end, bool up, size_t *count)
{
    const lwi_path *path = user;
    const lwi_path_range range = up ? lwi_path_up[path->up] : lwi_path_down[path->down];
    *count = (range.end - range.first) * LWI_LANES;
    return (double *)&path->end[end] + range.first * LWI_LANES;
}

// ------------------------------------------------------------------------------------ across lanes

// Joins the lanes of the whole in the order of the path.
static void fold_up(lwi_path *path, lwi_path_exchange_kind kind)
{
    const lwi_path_end *from = &path->end[lwi_path_whole(&path->schedule)];
    if (!is_own(path, 0)) return;
    for (int i = 0, lanes = LWI_LANES / 2; i < FOLDS; i++, lanes /= 2) {
        fold *f = &path->fold[i];
        for (int l = 0; l < lanes; l++)
            lwi_path_part_lanes(&f->a, &f->b, l, from, 2 * l, lwi_path_up[kind]);
        path->kernels->up[path->plan->balls][kind](&f->a, &f->b, &f->to, lanes);
        from = &f->to;
    }
}

static void fold_down(lwi_path *path, lwi_path_exchange_kind kind)
{
    for (int i = FOLDS - 1; i >= 0 && is_own(path, 0); i--) {
        fold *f = &path->fold[i];
        lwi_path_end *to = i ? &path->fold[i - 1].to : &path->end[lwi_path_whole(&path->schedule)];
        const int lanes = LWI_LANES / 2 >> i;
        path->kernels->down[path->plan->balls][kind](&f->a, &f->b, &f->to, lanes);
        for (int l = 0; l < lanes; l++)
            lwi_path_unite_lanes(to, 2 * l, &f->a, &f->b, l, lwi_path_down[kind]);
    }
}

// ------------------------------------------------------------------------------------- evaluations

enum { NOTHING = LWI_PATH_EXCHANGES };

// One pass over the groups: ends of the segments from above, bodies, ends to be joined.
static bool run(lwi_path *path, int down, lwi_path_pass_kind pass, int up)
{
    const lwi_path_work work = {down == NOTHING ? NULL : split, compute_group,
                                up == NOTHING ? NULL : join, numbers};
    path->pass = pass;
    path->down = (lwi_path_exchange_kind)down;
    path->up = (lwi_path_exchange_kind)up;
    if (!lwi_path_run(&path->schedule, &work, path)) return false;
    if (up != NOTHING) fold_up(path, path->up);
    return true;
}

// An evaluation that is not well conditioned ends; of ranks, when all know.
static bool ends(const lwi_path *path, bool valid)
{
    return !valid && !shared_out(path);
}

// The results of all ranks.
static bool exchange_results(lwi_path *path, bool valid)
{
    double *const array[2] = {path->out, path->rate};
    if (!shared_out(path)) return valid;
    return lwi_ranks_gather_all(path->ranks, &path->results[path->rate != NULL], array, valid);
}

bool lwi_path_rates(lwi_path *path, const double *q, const double *p, double *u, double *pdot)
{
    lwi_path_end *whole = &path->fold[FOLDS - 1].to;
    lwi_path_root *root = &path->root;
    const bool inner = is_own(path, 0);
    path->q = q, path->in = p, path->u = path->zeros;
    path->out = u, path->rate = pdot;
    double known[3];
    known_at(path, 0, 2, known);
    const double first = known[2];
    lwi_path_root_place(root, q);
    bool valid = run(path, NOTHING, LWI_PATH_INWARD, LWI_PATH_MOMENTA);
    if (ends(path, valid)) return false;
    if (inner) valid = lwi_path_root_solve(root, whole, p, first) && valid;
    if (ends(path, valid)) return false;
    fold_down(path, LWI_PATH_MOMENTA);
    run(path, LWI_PATH_MOMENTA, LWI_PATH_AGAIN, LWI_PATH_CORRECTION);
    if (inner) lwi_path_root_again(root, whole, first);
    fold_down(path, LWI_PATH_CORRECTION);
    const lwi_path_pass_kind last = pdot ? LWI_PATH_OUTWARD : LWI_PATH_SPEEDS;
    valid = run(path, LWI_PATH_CORRECTION, last, NOTHING) && valid;
    if (ends(path, valid)) return false;
    correct_first_speeds(path);
    if (inner) valid = lwi_path_root_rates(root, whole, p, u, pdot) && valid;
    return exchange_results(path, valid);
}

// Accelerations by the factors that are there: what `bias` puts into the vectors, `again` corrects.
static bool solve_accelerations(lwi_path *path, int down, lwi_path_pass_kind bias,
                                lwi_path_pass_kind again, bool valid)
{
    lwi_path_end *whole = &path->fold[FOLDS - 1].to;
    lwi_path_root *root = &path->root;
    const bool inner = is_own(path, 0);
    double first[3];
    known_at(path, 0, 2, first);
    run(path, down, bias, LWI_PATH_VECTORS);
    if (inner) valid = lwi_path_root_accelerate(root, whole, path->in, first[2]) && valid;
    if (ends(path, valid)) return false;
    fold_down(path, LWI_PATH_VECTORS);
    run(path, LWI_PATH_VECTORS, again, LWI_PATH_CORRECTION);
    if (inner) lwi_path_root_accelerate_again(root, whole, first[2]);
    fold_down(path, LWI_PATH_CORRECTION);
    valid = run(path, LWI_PATH_CORRECTION, LWI_PATH_ACCELERATE, NOTHING) && valid;
    if (ends(path, valid)) return false;
    correct_first_speeds(path);
    if (inner) valid = lwi_path_root_accelerations(root, path->out) && valid;
    return exchange_results(path, valid);
}

bool lwi_path_accelerations(lwi_path *path, const double *q, const double *u, const double *effort,
                            bool factored, double *udot)
{
    lwi_path_end *whole = &path->fold[FOLDS - 1].to;
    const int begin = factored ? LWI_PATH_VELOCITIES : LWI_PATH_FACTORS;
    path->q = q, path->in = effort ? effort : path->zeros, path->u = u;
    path->out = udot, path->rate = NULL;
    lwi_path_root_place(&path->root, q);
    const bool valid = run(path, NOTHING, factored ? LWI_PATH_VELOCITY : LWI_PATH_FACTOR, begin);
    if (ends(path, valid)) return false;
    if (is_own(path, 0)) lwi_path_root_velocity(&path->root, whole, u);
    fold_down(path, (lwi_path_exchange_kind)begin);
    return solve_accelerations(path, begin, LWI_PATH_BIAS, LWI_PATH_AGAIN_BIAS, valid);
}

bool lwi_path_response(lwi_path *path, const double *q, const double *effort, double *du)
{
    path->q = q, path->in = effort, path->u = path->zeros;
    path->out = du, path->rate = NULL;
    lwi_path_root_rest(&path->root);
    return solve_accelerations(path, NOTHING, LWI_PATH_RESPONSE, LWI_PATH_AGAIN, true);
}

void lwi_path_add_efforts(const lwi_path *path, const double *effort, double *pdot)
{
    const lwi_path_plan *plan = path->plan;
    for (int k = 0; k < plan->n; k++) {
        const int iv = plan->joint[k].iv;
        for (int i = 0; i < lwi_path_nv(&plan->joint[k]); i++) pdot[iv + i] += effort[iv + i];
    }
    if (plan->base.nv) lwi_path_root_efforts(&path->root, effort, pdot);
}
