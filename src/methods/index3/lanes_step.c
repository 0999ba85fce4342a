// lanes_step.c -- the parts of a step of index3 in lanes: iterations and projections as passes over items.
#include "methods/index3/fallback.h"

#include "base/flush.h"
#include "spatial/rotation.h"

#include <string.h>

// -------------------------------------------------------------------------------------------- step

// Work of the threads in a round: a pass over the items of their places, or down their tasks.
typedef struct job {
    const lwi_index3_lanes *s;
    const lwi_index3_lane_phase *phase; ///< [LWI_INDEX3_KINDS]; NULL: downward sweep
    int first, end;                     ///< kinds
    int round;
    lwi_barrier *barrier;
    uint64_t mode; ///< treatment of subnormal numbers (flush.h)
} job;

// largest := the larger ones, NaN where one of them is.
static void widen(double largest[LWI_LANES], const lwi_lanes size)
{
    for (int l = 0; l < LWI_LANES; l++)
        if (size[l] > largest[l] || isnan(size[l])) largest[l] = size[l];
}

static void pass_place(const job *t, int place)
{
    LWI_ASSERT_INDEX(place, t->s->round[t->s->nround]);
    const lwi_index3_lanes *s = t->s;
    for (int i = s->first[place]; i < s->first[place + 1]; i++) {
        const lwi_index3_lane_item *item = &s->item[i];
        const lwi_index3_lane_phase what = t->phase[item->kind];
        if (item->kind < t->first || item->kind >= t->end) continue;
        if (what < LWI_INDEX3_PHASES)
            s->kernels->phase[what](s, item->block, item->block + 1);
        else if (what != LWI_INDEX3_NOTHING)
            lwi_elim_assembled_up(s->elim, item->block, what == LWI_INDEX3_ELIMINATE, &LWI_ALONE);
        if (what == LWI_INDEX3_TAKE) widen(s->largest[place], s->body[item->block].size);
    }
}

static bool eliminates_together(const job *t, int round)
{
    return t->phase && t->s->together[round] && t->phase[LWI_INDEX3_TASK] == LWI_INDEX3_ELIMINATE;
}

// The tasks of a round by all threads.
static void pass_together(const job *t, int part)
{
    const lwi_index3_lanes *s = t->s;
    const lwi_team team = {.part = part, .parts = s->parts, .barrier = t->barrier};
    for (int i = s->first[s->round[t->round]]; i < s->first[s->round[t->round] + 1]; i++) {
        lwi_elim_assembled_up(s->elim, s->item[i].block, true, &team);
        lwi_team_meet(&team);
    }
}

static void down_place(const lwi_index3_lanes *s, int place)
{
    for (int i = s->first_task[place + 1] - 1; i >= s->first_task[place]; i--)
        lwi_elim_assembled_down(s->elim, s->task[i]);
}

static void run_job(void *user, int part)
{
    const job *t = user;
    const int place = t->s->round[t->round] + part;
    const bool together = eliminates_together(t, t->round);
    if (together ? part >= t->s->parts : place >= t->s->round[t->round + 1]) return;
    const uint64_t mode = lwi_flush_get();
    lwi_flush_set(t->mode);
    if (together)
        pass_together(t, part);
    else if (t->phase)
        pass_place(t, place);
    else
        down_place(t->s, place);
    lwi_flush_set(mode);
}

static void run_round(job *t, int round)
{
    t->round = round;
    if (t->s->round[round + 1] - t->s->round[round] > 1 || eliminates_together(t, round))
        lwi_pool_run(t->s->pool, run_job, t);
    else
        run_job(t, 0);
}

// Items of kinds first ... end - 1, each kind with its phase.
static void pass_kinds(lwi_index3_lanes *s, const lwi_index3_lane_phase phase[LWI_INDEX3_KINDS],
                       int first, int end)
{
    job t = {.s = s,
             .phase = phase,
             .first = first,
             .end = end,
             .barrier = &s->barrier,
             .mode = lwi_flush_get()};
    unsigned kinds = 0;
    for (int kind = first; kind < end; kind++)
        kinds |= phase[kind] == LWI_INDEX3_NOTHING ? 0 : 1u << kind;
    for (int r = 0; r < s->nround; r++)
        if (s->kinds[r] & kinds) run_round(&t, r);
}

// All items.  The scalar fallback runs after all bodies have their motion and rows of points and axes are
// computed, or before right sides are.
static void pass(lwi_index3 *d, const lwi_index3_lane_phase phase[LWI_INDEX3_KINDS],
                 lwi_index3_stage stage)
{
    lwi_index3_lanes *s = d->lanes;
    const int split =
        stage == LWI_INDEX3_STAGE_ACCELERATIONS ? LWI_INDEX3_AFTER : LWI_INDEX3_BODY_AGAIN;
    if (!s->fallback || stage == LWI_INDEX3_STAGE_NONE) {
        pass_kinds(s, phase, 0, LWI_INDEX3_KINDS);
        return;
    }
    pass_kinds(s, phase, 0, split);
    lwi_index3_fallback_stage(d, stage);
    pass_kinds(s, phase, split, LWI_INDEX3_KINDS);
}

// A pass with the upward sweep of the elimination, matrix or right side only.
static lw_status sweep_up(lwi_index3 *d, const lwi_index3_lane_phase phase[LWI_INDEX3_KINDS],
                          bool symmetric, lwi_index3_stage stage)
{
    lwi_elim *elim = d->lanes->elim;
    lwi_pool *pool = d->lanes->parts > 1 ? d->lanes->pool : NULL;
    const bool matrix = phase[LWI_INDEX3_TASK] == LWI_INDEX3_ELIMINATE;
    if (matrix) TRY(lwi_elim_assembled_begin(elim, symmetric, pool));
    lwi_elim_assembled_sweep(elim, true);
    pass(d, phase, stage);
    lwi_elim_assembled_sweep(elim, false);
    return matrix ? lwi_elim_assembled_kept(elim) : LW_OK;
}

// Downward sweep: lambda.
static void sweep_down(const lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    job t = {.s = s, .mode = lwi_flush_get()};
    lwi_elim_assembled_sweep(s->elim, true);
    for (int r = s->nround - 1; r >= 0; r--)
        if (s->kinds[r] & 1u << LWI_INDEX3_TASK) run_round(&t, r);
    lwi_elim_assembled_sweep(s->elim, false);
}

// eps of every row: relative, or 1/penalty, for K of eta times a mobility
static void set_eps(const lwi_index3 *d, double eta)
{
    d->lanes->absolute = d->method.penalty > 0 ? 1 / (d->method.penalty * eta) : 0;
}

void lwi_index3_lanes_begin(lwi_index3 *d, double end, double h, double *x, const double *inputs)
{
    lwi_index3_lanes *s = d->lanes;
    s->t = end, s->h = h;
    s->inputs = inputs;
    s->state = x;
    s->ahead = false;
    memset(s->largest, 0, (size_t)s->round[s->nround] * sizeof *s->largest);
    if (s->fallback) lwi_index3_fallback_begin(d);
}

// Phases that end an iteration; that begin the next one; that begin the projections.
#define AFTER LWI_INDEX3_FORCES, LWI_INDEX3_TAKE
#define NEWTON LWI_INDEX3_ROWS_FORCES, LWI_INDEX3_BALANCE, LWI_INDEX3_NEWTON
#define SPEEDS LWI_INDEX3_ROWS, LWI_INDEX3_MASSES, LWI_INDEX3_SPEEDS
#define NO LWI_INDEX3_NOTHING

// Starts an iteration from the prediction, from the last iteration, or in one pass with the end of the last
// iteration.
static lw_status begin_iteration(lwi_index3 *d, lwi_index3_lane_phase joints,
                                 lwi_index3_lane_phase bodies)
{
    lwi_index3_lanes *s = d->lanes;
    const bool symmetric = s->level < 2, first = bodies == LWI_INDEX3_BEGIN;
    s->keep = d->method.newton == LW_INDEX3_NEWTON_MODIFIED && !first;
    const lwi_index3_lane_phase matrix = symmetric ? LWI_INDEX3_PAIRS_ONCE : LWI_INDEX3_PAIRS;
    const lwi_index3_lane_phase phase[] = {
        joints,
        bodies,
        NEWTON,
        s->keep ? LWI_INDEX3_NOTHING : matrix,
        s->keep ? LWI_INDEX3_UP : LWI_INDEX3_ELIMINATE,
    };
    set_eps(d, 1);
    TRY(sweep_up(d, phase, symmetric, LWI_INDEX3_STAGE_NEWTON));
    const double began = lwi_clock();
    sweep_down(d);
    d->times.solve += lwi_clock() - began;
    return LW_OK;
}

static lw_status begin_projections(lwi_index3 *d, lwi_index3_lane_phase joints,
                                   lwi_index3_lane_phase bodies)
{
    lwi_index3_lanes *s = d->lanes;
    s->keep = d->method.projection == LW_INDEX3_PROJECTION_TANGENT;
    s->unit = lwi_index3_projection_unit(d, s->h);
    s->follow = d->any_follows;
    const lwi_index3_lane_phase phase[] = {
        joints,
        bodies,
        SPEEDS,
        s->keep ? LWI_INDEX3_NOTHING : LWI_INDEX3_PAIRS_ONCE,
        s->keep ? LWI_INDEX3_UP : LWI_INDEX3_ELIMINATE,
    };
    set_eps(d, 0.25 * s->h * s->h);
    return sweep_up(d, phase, true, LWI_INDEX3_STAGE_SPEEDS);
}

// Largest increment of a body since the last call; NaN if there is one.
static double increments(const lwi_index3_lanes *s)
{
    const int places = s->round[s->nround];
    double all = 0;
    for (int p = 0; p < places; p++)
        for (int l = 0; l < LWI_LANES; l++) {
            const double size = s->largest[p][l];
            if (size > all || isnan(size)) all = size;
            if (isnan(size)) return size;
        }
    memset(s->largest, 0, (size_t)places * sizeof *s->largest);
    return sqrt(all);
}

static lw_status iterate(lwi_index3 *d, int i, double *size)
{
    lwi_index3_lanes *s = d->lanes;
    static const lwi_index3_lane_phase after[] = {AFTER, NO, NO, NO, NO, NO};
    const bool all = !(d->method.tolerance > 0), last = i + 1 == d->method.iterations;
    if (!s->ahead)
        TRY(begin_iteration(d, i ? NO : LWI_INDEX3_MULTIPLIERS, i ? NO : LWI_INDEX3_BEGIN));
    s->ahead = all; // the next phase is known: one pass for both
    const double began = lwi_clock();
    if (!all)
        pass(d, after, LWI_INDEX3_STAGE_NONE);
    else
        TRY((last ? begin_projections : begin_iteration)(d, AFTER));
    if (all && last) d->times.projection += lwi_clock() - began;
    *size = increments(s);
    return LW_OK;
}

lw_status lwi_index3_lanes_iterate(lwi_index3 *d, int i, double *size)
{
    LWI_ASSERT_INDEX(i, d->method.iterations);
    LWI_ASSERT(d->lanes->h > 0 && d->lanes->state);
    const uint64_t mode = lwi_flush_begin();
    const lw_status status = iterate(d, i, size);
    lwi_flush_end(mode);
    return status;
}

static lw_status project(lwi_index3 *d)
{
    static const lwi_index3_lane_phase between[] = {
        LWI_INDEX3_IMPULSES, LWI_INDEX3_TAKE_SPEEDS, LWI_INDEX3_GAMMAS, NO, NO, NO, LWI_INDEX3_UP};
    static const lwi_index3_lane_phase last[] = {
        LWI_INDEX3_IMPULSES, LWI_INDEX3_FINISH, LWI_INDEX3_PUT, NO, NO, NO, NO};
    if (!d->lanes->ahead) TRY(begin_projections(d, NO, NO));
    const double began = lwi_clock();
    sweep_down(d);
    TRY(sweep_up(d, between, true, LWI_INDEX3_STAGE_ACCELERATIONS));
    const double halfway = lwi_clock();
    sweep_down(d);
    pass(d, last, LWI_INDEX3_STAGE_NONE);
    d->times.velocity += halfway - began;
    d->times.acceleration += lwi_clock() - halfway;
    return LW_OK;
}

// Copies the poses of nodes first ... end - 1 to `system`.
static void show_poses(void *user, int first, int end)
{
    const lwi_index3 *d = user;
    const lwi_index3_lanes *s = d->lanes;
    const lwi_system *c = &d->system;
    for (int k = first; k < end; k++) {
        const int body = c->model->node[k].body, l = s->body_at[k] % LWI_LANES;
        const lwi_index3_lane_body *b = &s->body[s->body_at[k] / LWI_LANES];
        for (int i = 0; i < 3; i++) c->r[body][i] = b->r[i][l];
        for (int i = 0; i < 9; i++) c->R[body][i] = b->R[i][l];
    }
}

static void carry_joints(void *user, int first, int end)
{
    lwi_index3 *d = user;
    lwi_system_carry_coordinates(&d->system, &d->auxiliary, first, end, d->lanes->t);
}

// Continues the auxiliary states in x.
static void carry(lwi_index3 *d, double *x)
{
    const lwi_system *c = &d->system;
    lwi_pool *pool = d->lanes->parts > 1 ? d->lanes->pool : NULL;
    if (!d->auxiliary.n) return;
    lwi_pool_for(pool, c->model->nnode, show_poses, d);
    lwi_auxiliary_load(c->model, &d->auxiliary, x, c->q);
    lwi_pool_for(pool, d->auxiliary.n, carry_joints, d);
    lwi_auxiliary_store(c->model, &d->auxiliary, c->q, x);
}

// Multipliers with those of the projection of accelerations, which are those of the elimination's last solution.
static void put_output(const lwi_index3 *d, double *x)
{
    const lwi_index3_lanes *s = d->lanes;
    const double unit = d->method.output == LW_INDEX3_OUTPUT_NEWTON ? 0 : s->unit;
    if (d->at_output < 0) return;
    for (int b = 0; b < s->nedge; b++)
        for (int l = 0; l < s->joint[b].lanes; l++) {
            const lwi_index3_lane_joint *j = &s->joint[b];
            const int from = s->lambda[b].at[l], to = from - d->at_lambda + d->at_output;
            if (from < 0) continue;
            for (int r = 0; r < lwi_index3_constraint_row_count(d, j->edge[l]); r++)
                x[to + r] = s->edge[b].lambda[r][l] + unit * j->v[l][r * j->step];
        }
}

lw_status lwi_index3_lanes_finish(lwi_index3 *d, double *x)
{
    const double began = lwi_clock();
    const uint64_t mode = lwi_flush_begin();
    const lw_status status = project(d);
    lwi_flush_end(mode);
    if (status != LW_OK) return status;
    d->times.projection += lwi_clock() - began;
    put_output(d, x);
    carry(d, x);
    if (d->lanes->fallback) lwi_index3_fallback_finish(d, x);
    return LW_OK;
}

void lwi_index3_lanes_export(const lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_system *c = &d->system;
    for (int k = 0; k < c->model->nnode; k++)
        for (int i = 0; i < 6; i++)
            c->x[k][i] = s->body[s->body_at[k] / LWI_LANES].x[i][s->body_at[k] % LWI_LANES];
    for (int e = 0; e < c->nedge; e++) {
        const int b = s->edge_at[e] / LWI_LANES, l = s->edge_at[e] % LWI_LANES;
        for (int r = 0; r < s->joint[b].count; r++)
            c->phi[c->plan.row[e] + r] = s->edge[b].phi[r][l];
    }
}
