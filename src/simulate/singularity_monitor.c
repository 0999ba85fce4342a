// singularity_monitor.c -- detects singular positions that a run approaches, passes or steps over.
//
// The monitor works for every formulation.  The distance of the constraints from dependence follows from the poses of
// the bodies: it is the smallest pivot that the elimination keeps, a squared sine.  The pivot is sampled whenever the
// mechanism has moved by a certain distance.  If the middle one of three samples is the smallest, and the parabola
// through them suggests a much smaller minimum, the minimum is searched for: joint coordinates between samples are
// Hermite cubics (angles are smooth even if poses rotate by several radians), projected onto the constraints.  So a
// step over a singular position is detected as well.  The monitor does not change the results of a run.
#include "system/singular.h"
#include "kinematics/tree.h"
#include "simulate/independent_loops.h"
#include "simulate/simulation.h"

#include "spatial/rotation.h"
#include "spatial/vec3.h"
#include "system/loop_ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Smallest and largest distance between two samples, in lengths of the mechanism or radians.  The smallest one:
// a tenth away from a singular position pivots are a hundredth of their typical value.  The largest one: in a longer
// piece the pivot may have two minima.
#define APART 0.1
#define FAR_APART 0.75
// Between these limits the distance is this multiple of the present sine.  Sines decrease by at most 0.6 to 0.8 per
// radian, so after a step over a singular position its distance is at most that before the step: the pivot there is
// well below LOW times the previous one.
#define REACH 1.5
// A remainder up to this part of a piece does not make another piece.
#define SPARE 0.1
// Largest number of pieces of a step, for steps that diverge.
enum { MAX_PIECES = 64 };
// A minimum between samples is searched for if the middle sample is below LOW times the largest pivot of the run, or if
// the minimum of the parabola is below DEEP times the smallest sample or SHALLOW times the largest pivot: closer than
// ten times the reported distance the error of the parabola is too large.
#define LOW 0.5
#define DEEP 0.25
#define SHALLOW (100 * LWI_MONITOR_NEAR)
// If the mechanism has barely moved, the interval to the next check grows by this factor.
#define LATER 2
// Trials of the search for the minimum: largest number, and number before the search may stop because a small pivot
// is no longer expected.
enum { TRIALS = 10, MIN_TRIALS = 2 };
// Positions at one time are the same if no number differs by more than this: the round-off of a long path.
#define SAME 1e-12
// Newton steps of the projection of an interpolated pose onto the constraints, which starts close to them.
enum { CLOSING = 6 };

// ----------------------------------------------------------------------------------------- memory

static lw_status create_positions(const lw_model *model, lwi_arena *arena,
                                  lwi_monitor_sample *sample)
{
    const size_t n = (size_t)model->nnode;
    sample->q = LWI_PUSH(arena, double, model->nq);
    sample->r = lwi_arena_push(arena, n, sizeof *sample->r);
    sample->quat = lwi_arena_push(arena, n, sizeof *sample->quat);
    return sample->q && sample->r && sample->quat ? LW_OK : LW_ERR_MEMORY;
}

static lw_status create_sample(const lw_model *model, lwi_arena *arena, lwi_monitor_sample *sample)
{
    const size_t n = (size_t)model->nnode;
    TRY(create_positions(model, arena, sample));
    sample->rate = LWI_PUSH(arena, double, model->nq);
    sample->v = lwi_arena_push(arena, n, sizeof *sample->v);
    sample->quat_rate = lwi_arena_push(arena, n, sizeof *sample->quat_rate);
    return sample->rate && sample->v && sample->quat_rate ? LW_OK : LW_ERR_MEMORY;
}

// Groups of loops that share no joint; pivots of each where there are several.
static lw_status create_groups(const lw_model *model, lwi_arena *arena, lwi_monitor *monitor)
{
    const lwi_system *s = &monitor->system;
    const int nedge = s->plan.graph.nedge;
    int *of = LWI_PUSH(arena, int, model->njoint + model->ncoupling);
    if (!of) return LW_ERR_MEMORY;
    TRY(lwi_independent_loops(model, &arena->allocator, of, &monitor->ngroup));
    monitor->group = LWI_PUSH(arena, int, nedge);
    if (!monitor->group) return LW_ERR_MEMORY;
    for (int e = 0; e < nedge; e++) {
        const int j = s->edge_joint[e];
        monitor->group[e] = of[j >= 0 ? j : model->njoint - 1 - j];
    }
    if (monitor->ngroup < 2) monitor->ngroup = 0;
    if (monitor->ngroup == 0) return LW_OK;
    monitor->here = LWI_PUSH(arena, double, monitor->ngroup);
    monitor->seen_here = LWI_PUSH(arena, double, monitor->ngroup);
    return monitor->here && monitor->seen_here ? LW_OK : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------ the last snapshot

// Equal up to round-off: a state and the snapshot that it was made of have the same pivot.
static bool same_numbers(int n, const double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= SAME * (1 + fabs(b[i])))) return false;
    return true;
}

// Likewise: quaternions of opposite sign are one attitude, and a state has others than the model's poses.
static bool same_attitude(const double a[4], const double b[4])
{
    double q[4];
    memcpy(q, a, sizeof q);
    quat_continue(q, b);
    return same_numbers(4, q, b);
}

// The smallest kept pivot of the last matrix pass.  Those of groups of loops go to monitor->here.
static double read_pivots(lwi_monitor *monitor, int *edge)
{
    const lwi_system *s = &monitor->system;
    if (monitor->ngroup)
        lwi_elim_loop_pivots(s->elim, monitor->ngroup, monitor->group, monitor->here);
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(s->elim);
    *edge = pivots.edge;
    return fmax(0, pivots.min);
}

// The snapshot is one with a pivot.
static void see(lwi_monitor *monitor, const lwi_snapshot *m)
{
    const lw_model *model = monitor->system.model;
    lwi_monitor_sample *seen = &monitor->seen;
    seen->t = m->t;
    if (model->nq) memcpy(seen->q, m->q, (size_t)model->nq * sizeof *seen->q);
    for (int k = 0; k < model->nnode; k++) {
        v3_copy(seen->r[k], m->r[model->node[k].body]);
        memcpy(seen->quat[k], m->quat[model->node[k].body], sizeof seen->quat[k]);
    }
}

// Whether the configuration of the generic ranks is that of the start, the snapshot.
static bool is_ranked_at(const lwi_system *s, const lwi_snapshot *m)
{
    if (!s->generic_R) return true;
    bool same = s->generic_t == m->t && same_numbers(s->model->nq, s->generic_q, m->q);
    for (int b = 1; b < s->model->nbody && same; b++)
        same =
            same_numbers(9, s->generic_R[b], m->R[b]) && same_numbers(3, s->generic_r[b], m->r[b]);
    return same;
}

// Pivots at the start are known where ranks were found there; next to singular positions their factors are needed too.
static void see_start(lwi_monitor *monitor)
{
    const lwi_system *s = &monitor->system;
    const lwi_in_plane *plane = &monitor->in_plane;
    int edge;
    if (plane->elim && !s->generic_R) { // ranks are those of the plane at the start
        see(monitor, &monitor->placed);
        monitor->seen.pivot = plane->pivot, monitor->seen.edge = plane->edge;
        return;
    }
    if (!s->ranked_there || !is_ranked_at(s, &monitor->placed)) return;
    const double pivot = read_pivots(monitor, &edge);
    if (!(pivot > LWI_MONITOR_NEAR)) return;
    see(monitor, &monitor->placed);
    monitor->seen.pivot = pivot, monitor->seen.edge = edge;
    if (monitor->ngroup)
        memcpy(monitor->seen_here, monitor->here, (size_t)monitor->ngroup * sizeof *monitor->here);
}

lw_status lwi_monitor_create(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                             lwi_monitor *monitor)
{
    bool ranked = false;
    *monitor = (lwi_monitor){.smallest = INFINITY, .known.t = NAN, .seen.t = NAN, .first = NAN};
    if (model->nloop == 0 && model->ncoupling == 0) return LW_OK; // a tree has no such positions
    TRY(lwi_system_create_common(model, shared, arena, &monitor->system));
    TRY(create_groups(model, arena, monitor));
    if (!monitor->ngroup) TRY(lwi_in_plane_create(&monitor->system, arena, &monitor->in_plane));
    if (!monitor->in_plane.elim) TRY(lwi_loop_find_ranks(&monitor->system, shared, &ranked));
    if (!ranked) TRY(lwi_in_plane_find_ranks(&monitor->in_plane, &monitor->system, shared, arena));
    for (int i = 0; i < LWI_COUNT(monitor->sample); i++)
        TRY(create_sample(model, arena, &monitor->sample[i]));
    TRY(create_sample(model, arena, &monitor->now));
    TRY(create_sample(model, arena, &monitor->between));
    for (int i = 0; i < LWI_COUNT(monitor->piece); i++)
        TRY(create_sample(model, arena, &monitor->piece[i]));
    TRY(create_positions(model, arena, &monitor->seen));
    TRY(lwi_snapshot_create(model, arena, &monitor->placed));
    lwi_snapshot_start(model, &monitor->placed);
    monitor->active = monitor->system.nrow > 0;
    if (monitor->active) see_start(monitor);
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- samples

double lwi_monitor_pivot_here(lwi_monitor *monitor, double t, int *edge)
{
    lwi_system *s = &monitor->system;
    lwi_system_rows(s, t);
    lwi_system_geometric(s);
    for (int g = 0; g < monitor->ngroup; g++) monitor->here[g] = 1;
    const lw_status status = lwi_elim_check_pivots(s->elim);
    if (status != LW_OK && status != LW_ERR_SINGULAR) return 1;
    return read_pivots(monitor, edge);
}

// The same, without rows and factors of the system where the rows within a plane are enough.
static double smallest_pivot(lwi_monitor *monitor, double t, int *edge)
{
    double pivot;
    if (lwi_in_plane_pivot(&monitor->in_plane, &monitor->system, t, &pivot, edge)) return pivot;
    return lwi_monitor_pivot_here(monitor, t, edge);
}

static bool is_seen(const lwi_monitor *monitor, double t, const double *q)
{
    return t == monitor->seen.t && same_numbers(monitor->system.model->nq, q, monitor->seen.q);
}

// Whether the positions are those of the last snapshot with a pivot.
static bool is_seen_sample(const lwi_monitor *monitor, const lwi_monitor_sample *sample)
{
    const lwi_monitor_sample *seen = &monitor->seen;
    const int n = monitor->system.model->nnode;
    bool same = is_seen(monitor, sample->t, sample->q);
    for (int k = 0; k < n && same; k++)
        same = same_numbers(3, sample->r[k], seen->r[k]) &&
               same_attitude(sample->quat[k], seen->quat[k]);
    return same;
}

static bool is_seen_snapshot(const lwi_monitor *monitor, const lwi_snapshot *m)
{
    const lw_model *model = monitor->system.model;
    const lwi_monitor_sample *seen = &monitor->seen;
    bool same = is_seen(monitor, m->t, m->q);
    for (int k = 0; k < model->nnode && same; k++) {
        const int b = model->node[k].body;
        same = same_numbers(3, m->r[b], seen->r[k]) && same_attitude(m->quat[b], seen->quat[k]);
    }
    return same;
}

double lwi_monitor_pivot(lwi_monitor *monitor, const lwi_snapshot *m, int *edge)
{
    lwi_monitor_sample *seen = &monitor->seen;
    const size_t groups = (size_t)monitor->ngroup * sizeof *monitor->here;
    lwi_system_from_snapshot(&monitor->system, m);
    if (!is_seen_snapshot(monitor, m)) {
        see(monitor, m);
        seen->pivot = smallest_pivot(monitor, m->t, &seen->edge);
        if (groups) memcpy(monitor->seen_here, monitor->here, groups);
    } else if (groups) {
        memcpy(monitor->here, monitor->seen_here, groups);
    }
    *edge = seen->edge;
    return seen->pivot;
}

// Hermite's cubic of n numbers and its derivative at a + x h, 0 <= x <= 1; f, g at the ends.
static void cubic(int n, double h, double x, const double *f0, const double *g0, const double *f1,
                  const double *g1, double *f, double *g)
{
    const double y = 1 - x, s = 6 * x * y / h;
    for (int i = 0; i < n; i++) {
        f[i] = y * y * ((1 + 2 * x) * f0[i] + h * x * g0[i]) +
               x * x * ((1 + 2 * y) * f1[i] - h * y * g1[i]);
        g[i] = s * (f1[i] - f0[i]) + y * (1 - 3 * x) * g0[i] + x * (1 - 3 * y) * g1[i];
    }
}

// The motion at time t between two samples: joints and floating bodies.
static void interpolate(const lw_model *model, const lwi_monitor_sample *a,
                        const lwi_monitor_sample *b, double t, lwi_monitor_sample *c)
{
    const double h = b->t - a->t, x = (t - a->t) / h;
    c->t = t;
    cubic(model->nq, h, x, a->q, a->rate, b->q, b->rate, c->q, c->rate);
    for (int k = 0; k < model->nnode; k++) {
        if (model->node[k].joint >= 0) continue;
        cubic(3, h, x, a->r[k], a->v[k], b->r[k], b->v[k], c->r[k], c->v[k]);
        cubic(4, h, x, a->quat[k], a->quat_rate[k], b->quat[k], b->quat_rate[k], c->quat[k],
              c->quat_rate[k]);
        if (!(quat_norm2(c->quat[k]) > 0)) memcpy(c->quat[k], a->quat[k], sizeof c->quat[k]);
    }
}

// Poses of the bodies from the sample's joint coordinates.
static void place(lwi_monitor *monitor, const lwi_monitor_sample *sample)
{
    lwi_system *s = &monitor->system;
    const lw_model *model = s->model;
    lwi_snapshot *m = &monitor->placed;
    if (model->nq) memcpy(m->q, sample->q, (size_t)model->nq * sizeof *m->q);
    for (int k = 0; k < model->nnode; k++) {
        if (model->node[k].joint >= 0) continue;
        v3_copy(m->r[model->node[k].body], sample->r[k]);
        memcpy(m->quat[model->node[k].body], sample->quat[k], sizeof sample->quat[k]);
    }
    lwi_snapshot_from_joints(model, sample->t, m);
    lwi_system_from_snapshot(s, m);
    lwi_system_read_loops(s, sample->t, true);
}

// The smallest pivot at time t between two consecutive samples.
static double pivot_between(lwi_monitor *monitor, const lwi_monitor_sample *from, double t,
                            int *edge)
{
    lwi_system *s = &monitor->system;
    interpolate(s->model, from, from + 1, t, &monitor->between);
    place(monitor, &monitor->between);
    lwi_system_close(s, t, 1e-9 * s->length, CLOSING);
    return smallest_pivot(monitor, t, edge);
}

static void record(lwi_monitor *monitor, double t, double pivot, int edge)
{
    if (!(pivot < LWI_MONITOR_NEAR * monitor->largest)) return;
    if (!monitor->times++) monitor->entry = t;
    if (!(pivot < monitor->smallest)) return;
    monitor->smallest = pivot;
    monitor->time = t;
    monitor->edge = edge;
}

// ------------------------------------------------------------------------------------------ search

// Pivots at three times, the middle one the smallest: the interval of the search.
typedef struct bracket {
    double t[3], pivot[3];
    int edge;
} bracket;

// Time and value of the minimum of the parabola through the three.
static double parabola_minimum(const bracket *b, double *value)
{
    const double h0 = b->t[1] - b->t[0], h1 = b->t[2] - b->t[1];
    const double up0 = (b->pivot[0] - b->pivot[1]) / h0, up1 = (b->pivot[2] - b->pivot[1]) / h1;
    const double bend = (up0 + up1) / (h0 + h1), slope = up1 - bend * h1;
    *value = bend > 0 ? b->pivot[1] - slope * slope / (4 * bend) : b->pivot[1];
    return bend > 0 ? b->t[1] - slope / (2 * bend) : b->t[1];
}

// A time strictly within the bracket and away from its middle: that of the parabola, or else a point on the
// larger side.
static double next_time(const bracket *b)
{
    const double small = 1e-3 * (b->t[2] - b->t[0]);
    double value;
    const double t = parabola_minimum(b, &value);
    if (t > b->t[0] + small && t < b->t[2] - small && fabs(t - b->t[1]) > small) return t;
    return b->t[1] - b->t[0] > b->t[2] - b->t[1] ? b->t[1] - 0.4 * (b->t[1] - b->t[0])
                                                 : b->t[1] + 0.4 * (b->t[2] - b->t[1]);
}

static void narrow(bracket *b, double t, double pivot, int edge)
{
    const int side = t < b->t[1] ? 0 : 2;
    if (pivot < b->pivot[1]) { // the middle becomes an end
        b->t[2 - side] = b->t[1], b->pivot[2 - side] = b->pivot[1];
        b->t[1] = t, b->pivot[1] = pivot, b->edge = edge;
    } else {
        b->t[side] = t, b->pivot[side] = pivot;
    }
}

// Does the parabola suggest a much smaller pivot in between?
static bool suspect(const lwi_monitor *monitor, const bracket *b)
{
    double value;
    parabola_minimum(b, &value);
    return value < fmax(DEEP * b->pivot[1], SHALLOW * monitor->largest);
}

// Pivots are smooth functions of time, also through zero: parabolas find the minimum in a few
// trials.
static void search(lwi_monitor *monitor, bracket b)
{
    const double enough = 0.01 * LWI_MONITOR_NEAR * monitor->largest;
    for (int i = 0; i < TRIALS && b.pivot[1] > enough; i++) {
        if (i >= MIN_TRIALS && !suspect(monitor, &b)) return;
        int edge = 0;
        const double t = next_time(&b);
        if (!(t > b.t[0] && t < b.t[2])) break; // round-off
        const lwi_monitor_sample *from = monitor->sample + (t < monitor->sample[1].t ? 0 : 1);
        const double pivot = pivot_between(monitor, from, t, &edge);
        narrow(&b, t, pivot, edge);
    }
    record(monitor, b.t[1], b.pivot[1], b.edge);
}

// Searches if the middle one of three samples is a minimum.
static void check_middle(lwi_monitor *monitor)
{
    const lwi_monitor_sample *s = monitor->sample;
    if (!(s[1].pivot <= s[0].pivot && s[1].pivot < s[2].pivot)) return;
    bracket b = {.edge = s[1].edge};
    for (int i = 0; i < 3; i++) b.t[i] = s[i].t, b.pivot[i] = s[i].pivot;
    if (s[1].pivot < LOW * monitor->largest || suspect(monitor, &b)) search(monitor, b);
}

// ---------------------------------------------------------------------------------------- motion

// Largest motion of a body, in radians or lengths of the mechanism.
static double distance(const lwi_system *s, const lwi_monitor_sample *a,
                       const lwi_monitor_sample *b)
{
    double largest = 0, half = 0.5 * (b->t - a->t);
    for (int k = 0; k < s->model->nnode; k++) {
        double d[3], c[4], speed = 0;
        v3_sub(d, b->r[k], a->r[k]);
        for (int i = 0; i < 4; i++) c[i] = b->quat[k][i] - a->quat[k][i];
        for (int i = 0; i < 4; i++)
            speed += fabs(a->quat_rate[k][i]) + fabs(b->quat_rate[k][i]); // counts full rotations
        largest = fmax(largest, v3_norm(d) / s->length);
        largest = fmax(largest, fmax(2 * sqrt(quat_norm2(c)), half * speed));
    }
    return largest;
}

static void take(const lw_model *model, const lwi_snapshot *m, const lwi_monitor_sample *before,
                 lwi_monitor_sample *sample)
{
    sample->t = m->t;
    if (model->nq) memcpy(sample->q, m->q, (size_t)model->nq * sizeof *sample->q);
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        double *q = sample->q + joint->iq, *rate = sample->rate + joint->iq;
        if (joint->type->nq == 0) continue;
        if (joint->type->scalar)
            memcpy(rate, m->qd + joint->iv, (size_t)joint->type->nv * sizeof *rate);
        else
            joint->type->kinematics(&joint->par, q, m->qd + joint->iv, rate);
    }
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        v3_copy(sample->r[k], m->r[b]);
        v3_copy(sample->v[k], m->v[b]);
        memcpy(sample->quat[k], m->quat[b], sizeof sample->quat[k]);
        if (before) quat_continue(sample->quat[k], before->quat[k]);
        quat_rate(sample->quat_rate[k], sample->quat[k], m->w[b]);
    }
}

void lwi_monitor_set_piece(lwi_monitor *monitor, const lwi_snapshot *from, const lwi_snapshot *to)
{
    take(monitor->system.model, from, NULL, &monitor->piece[0]);
    take(monitor->system.model, to, &monitor->piece[0], &monitor->piece[1]);
}

double lwi_monitor_piece_pivot(lwi_monitor *monitor, double t, int *edge)
{
    return pivot_between(monitor, monitor->piece, t, edge);
}

// Appends a sample by exchanging its memory with that of an unused or the oldest one.
static void append(lwi_monitor *monitor, lwi_monitor_sample *fresh)
{
    lwi_monitor_sample *sample = monitor->sample;
    if (monitor->count == LWI_COUNT(monitor->sample)) { // drop the oldest one
        const lwi_monitor_sample oldest = sample[0];
        sample[0] = sample[1], sample[1] = sample[2], sample[2] = oldest;
        monitor->count--;
    }
    lwi_monitor_sample *last = &sample[monitor->count++];
    const lwi_monitor_sample memory = *last;
    *last = *fresh;
    *fresh = memory;
    if (last->t == monitor->known.t) {
        last->pivot = monitor->known.pivot, last->edge = monitor->known.edge;
    } else if (is_seen_sample(monitor, last)) {
        last->pivot = monitor->seen.pivot, last->edge = monitor->seen.edge;
    } else {
        place(monitor, last);
        last->pivot = smallest_pivot(monitor, last->t, &last->edge);
    }
    monitor->largest = fmax(monitor->largest, last->pivot);
    if (monitor->count == LWI_COUNT(monitor->sample)) check_middle(monitor);
}

// Distance to the next sample: larger if far from singular positions.
static double spacing(const lwi_monitor_sample *sample)
{
    return fmin(FAR_APART, fmax(APART, REACH * sqrt(sample->pivot)));
}

static void add(lwi_monitor *monitor, const lwi_snapshot *m, bool last_one)
{
    lwi_system *s = &monitor->system;
    if (!monitor->active) return;
    const lwi_monitor_sample *last = monitor->count ? &monitor->sample[monitor->count - 1] : NULL;
    if (last && !(m->t > last->t)) return;
    take(s->model, m, last, &monitor->now);
    if (last) {
        const double moved = distance(s, last, &monitor->now);
        const double apart = spacing(last);
        if (!(moved > apart) && !last_one) return;
        const int pieces = (int)fmin(fmax(1, ceil(moved / apart - SPARE)), MAX_PIECES);
        const double t = last->t, h = (monitor->now.t - t) / pieces;
        for (int i = 1; i < pieces; i++) {
            last = &monitor->sample[monitor->count - 1];
            interpolate(s->model, last, &monitor->now, t + i * h, &monitor->between);
            append(monitor, &monitor->between);
        }
    }
    append(monitor, &monitor->now);
}

bool lwi_monitor_is_early(const lwi_monitor *monitor, double t)
{
    return monitor->active && monitor->count > 0 && t < monitor->due &&
           t > monitor->sample[monitor->count - 1].t;
}

// As `distance`, with the speeds at the beginning instead of those at the end, which are not known.
bool lwi_monitor_has_barely_moved(lwi_monitor *monitor, const lwi_snapshot *m)
{
    const lwi_system *s = &monitor->system;
    const lwi_monitor_sample *last = monitor->count ? &monitor->sample[monitor->count - 1] : NULL;
    if (!monitor->active) return true;
    if (!last || !(m->t > last->t)) return false;
    const double apart = spacing(last), h = m->t - last->t;
    double moved = 0;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double d[3], quat[4], c[4], speed = 0;
        v3_sub(d, m->r[b], last->r[k]);
        memcpy(quat, m->quat[b], sizeof quat);
        quat_continue(quat, last->quat[k]);
        for (int i = 0; i < 4; i++)
            c[i] = quat[i] - last->quat[k][i], speed += fabs(last->quat_rate[k][i]);
        moved = fmax(moved, v3_norm(d) / s->length);
        moved = fmax(moved, fmax(2 * sqrt(quat_norm2(c)), h * speed));
    }
    if (moved > apart) return false;
    // at the present speed; accelerating mechanisms are checked more often
    monitor->due = last->t + h * fmin(LATER, apart / moved);
    return true;
}

void lwi_monitor_add(lwi_monitor *monitor, const lwi_snapshot *m)
{
    add(monitor, m, false);
}

void lwi_monitor_add_known(lwi_monitor *monitor, const lwi_snapshot *m, double pivot, int edge)
{
    monitor->known.t = m->t, monitor->known.pivot = pivot, monitor->known.edge = edge;
    add(monitor, m, false);
    monitor->known.t = NAN;
}

void lwi_monitor_end(lwi_monitor *monitor, const lwi_snapshot *m)
{
    if (!monitor->active) return;
    add(monitor, m, true);
    const lwi_monitor_sample *last = &monitor->sample[monitor->count - 1];
    record(monitor, last->t, last->pivot, last->edge);
    monitor->count = 0;
}

void lwi_monitor_message(const lwi_monitor *monitor, char *text, size_t size)
{
    char which[320];
    text[0] = 0;
    if (!monitor->active || !monitor->times) return;
    lwi_singular_names(monitor->system.model, monitor->system.edge_joint[monitor->edge], which,
                       sizeof which);
    snprintf(text, size,
             "passed close to a singular position at t = %.6g s (times in all: %ld, closest at "
             "%.6g s): "
             "the constraints of %s almost depended on each other there (pivot %.1e, %.1e at "
             "most); what follows may be another branch of the motion",
             monitor->entry, monitor->times, monitor->time, which, monitor->smallest,
             monitor->largest);
}

// ------------------------------------------------------------------------------------------- sines

lw_status lwi_sine_create(const lw_model *model, lwi_arena *arena, lwi_sine *sine)
{
    *sine = (lwi_sine){0};
    sine->r = lwi_arena_push(arena, (size_t)model->nnode, sizeof *sine->r);
    sine->quat = lwi_arena_push(arena, (size_t)model->nnode, sizeof *sine->quat);
    return sine->r && sine->quat ? LW_OK : LW_ERR_MEMORY;
}

double lwi_sine_at(lwi_monitor *monitor, const lwi_snapshot *m)
{
    int edge;
    return sqrt(lwi_monitor_pivot(monitor, m, &edge));
}

double lwi_sine_rate(const lwi_system *s, const lwi_snapshot *m)
{
    double shift = 0, turn = 0; // squares of the largest ones
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        const double speed = v3_dot(m->v[b], m->v[b]), rate = v3_dot(m->w[b], m->w[b]);
        shift = speed > shift ? speed : shift;
        turn = rate > turn ? rate : turn;
    }
    return fmax(sqrt(shift) / s->length, sqrt(turn));
}

void lwi_sine_take(const lwi_system *s, const lwi_snapshot *m, double sine, lwi_sine *to)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        v3_copy(to->r[k], m->r[b]);
        memcpy(to->quat[k], m->quat[b], sizeof to->quat[k]);
    }
    to->t = m->t, to->sine = sine, to->rate = lwi_sine_rate(s, m);
    to->valid = true;
}

double lwi_sine_motion(const lwi_system *s, const lwi_sine *from, const lwi_snapshot *m,
                       double rate)
{
    double shift = 0, turn = 0; // squares of the largest ones
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double d[3], q[4], c[4];
        v3_sub(d, m->r[b], from->r[k]);
        memcpy(q, m->quat[b], sizeof q);
        quat_continue(q, from->quat[k]);
        for (int i = 0; i < 4; i++) c[i] = q[i] - from->quat[k][i];
        const double distance = v3_dot(d, d), angle = quat_norm2(c);
        shift = distance > shift ? distance : shift;
        turn = angle > turn ? angle : turn;
    }
    const double largest = fmax(sqrt(shift) / s->length, 2 * sqrt(turn));
    return fmax(largest, rate * fabs(m->t - from->t)); // counts full rotations
}

// --------------------------------------------------------------------------------- in a simulation

lw_status lwi_sim_prepare_monitor(lw_sim *sim)
{
    lwi_monitor *monitor = &sim->monitor;
    if (sim->work->fixed_cost) return LW_OK; // samples make some steps longer
    TRY(lwi_monitor_create(sim->model, &sim->shared, &sim->arena, monitor));
    if (!monitor->active || sim->projection.active) return LW_OK;
    return lwi_snapshot_create(sim->model, &sim->arena, &monitor->snapshot);
}

bool lwi_sim_observe_motion(lw_sim *sim, double t, const double *x, lw_observe level,
                            lwi_snapshot *m)
{
    m->t = t;
    return sim->work->formulation->observe(sim->work, t, x, sim->inputs, level, m) == LW_OK;
}

// The model accepts velocities that violate the joints by 1e-6 (LWI_CLOSURE_TOLERANCE).  Their correction changes them
// by at most this [m/s, rad/s] if rows are a thousandth or more away from dependence.  Closer to a singular position,
// velocities that belong to no branch of the motion are accepted as well, and the corrected ones differ from them
// arbitrarily.
#define MAX_CHANGE 1e-3

// Largest difference between the model's velocities and those of the snapshot, and its body; *speed: the larger of 1
// and the largest velocity of the model.
static double largest_change(const lw_model *model, const lwi_snapshot *m, double *speed, int *body)
{
    double largest = 0;
    *speed = 1;
    *body = 0;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        double dv[3], dw[3];
        v3_sub(dv, m->v[b], model->body[b].v0);
        v3_sub(dw, m->w[b], model->body[b].w0);
        const double change = fmax(v3_norm(dv), v3_norm(dw));
        *speed = fmax(*speed, fmax(v3_norm(model->body[b].v0), v3_norm(model->body[b].w0)));
        if (change > largest) largest = change, *body = b;
    }
    return largest;
}

// Whether the speeds in the state are those of the model's start, up to round-off: then so are the velocities of all bodies.
// Long paths enlarge SAME, but by far less than to MAX_CHANGE.
static bool has_speeds_of_start(const lw_sim *sim)
{
    const lw_model *model = sim->model;
    if (!(sim->work->formulation->flags & LWI_TREE_STATE) ||
        lwi_layout_has(&sim->work->layout, LWI_MOMENTUM))
        return false;
    return same_numbers(model->tree_nv, sim->x + model->tree_nq, model->tree_v0);
}

lw_status lwi_sim_check_begin(lw_sim *sim)
{
    lwi_monitor *monitor = &sim->monitor;
    double speed;
    int body, edge = 0;
    if (sim->crossing.started) return LW_OK; // the state is a little later than the start
    if (!monitor->active || has_speeds_of_start(sim) ||
        !lwi_sim_observe_motion(sim, sim->t, sim->x, LW_OBSERVE_TWIST, &sim->snapshot))
        return LW_OK;
    const double change = largest_change(sim->model, &sim->snapshot, &speed, &body);
    if (!(change > MAX_CHANGE * speed)) return LW_OK;
    lwi_system_from_snapshot(&monitor->system, &sim->snapshot);
    const double pivot = lwi_monitor_pivot_here(monitor, sim->t, &edge);
    const lw_status status =
        lwi_singular_fail_speeds(sim->model, monitor->system.edge_joint[edge], sim->t, pivot, body,
                                 change, "", &sim->work->error);
    return lwi_sim_fail_work(sim, status, "the initial state");
}

// A state that was made from the joints in sim->snapshot, and has not changed since then, need not be observed.
static bool take_placed(lw_sim *sim, double t, const double *x, lwi_snapshot *to)
{
    const lw_model *model = sim->model;
    const lwi_snapshot *m = &sim->snapshot;
    const int nq = model->tree_nq, n = nq + model->tree_nv;
    double *made = sim->scratch;
    if (!sim->placed || m->t != t || !(sim->work->formulation->flags & LWI_TREE_STATE) ||
        lwi_layout_has(&sim->work->layout, LWI_MOMENTUM))
        return false;
    lwi_tree_gather(model, m->q, m->qd, (const double(*)[3])m->r, (const double(*)[4])m->quat,
                    (const double(*)[3])m->v, (const double(*)[3])m->w, made, made + nq);
    if (!same_numbers(n, made, x)) return false;
    lwi_snapshot_copy(model, m, to);
    return true;
}

static lwi_snapshot *snapshot_of(lw_sim *sim)
{
    return sim->projection.active ? &sim->projection.snapshot : &sim->monitor.snapshot;
}

const lwi_snapshot *lwi_sim_sampled_motion(lw_sim *sim, double t)
{
    const lwi_monitor *monitor = &sim->monitor;
    const lwi_snapshot *m = snapshot_of(sim);
    const double last = monitor->count ? monitor->sample[monitor->count - 1].t : NAN;
    return sim->crossing.active && monitor->first == t && last == t && m->t == t ? m : NULL;
}

void lwi_sim_monitor(lw_sim *sim, double t, const double *x)
{
    lwi_monitor *monitor = &sim->monitor;
    if (!monitor->active) return;
    const bool first = monitor->count == 0; // it needs velocities
    const bool poses = !first && sim->work->formulation->flags & LWI_POSES_FIRST;
    const bool observed = sim->projection.active && sim->projection.observed;
    lwi_snapshot *m = snapshot_of(sim);
    if (sim->crossing.active && !first) return; // lwi_sim_accept samples
    if (lwi_monitor_is_early(monitor, t)) return;
    if (!observed && poses && !lwi_sim_observe_motion(sim, t, x, LW_OBSERVE_POSE, m)) return;
    if (poses && lwi_monitor_has_barely_moved(monitor, m)) return;
    const bool has_speeds =
        (observed && !sim->projection.poses) || (first && !observed && take_placed(sim, t, x, m));
    if (!has_speeds && !lwi_sim_observe_motion(sim, t, x, LW_OBSERVE_TWIST, m)) return;
    lwi_monitor_add(monitor, m);
    if (first) monitor->first = t;
}

lw_status lwi_sim_check_stop(lw_sim *sim)
{
    const bool closed = sim->model->nloop > 0 || sim->model->ncoupling > 0;
    if (sim->options.singular != LW_SINGULAR_STOP || !closed || !sim->work->fixed_cost)
        return LW_OK;
    return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                    "singular: stop needs steps that may take longer than others, which those of "
                    "real-time mode may not; expected pass or turn");
}

lw_status lwi_sim_check_passed(lw_sim *sim)
{
    const lwi_monitor *monitor = &sim->monitor;
    if (sim->options.singular != LW_SINGULAR_STOP || !monitor->times) return LW_OK;
    lwi_singular_fail_stop(sim->model, monitor->system.edge_joint[monitor->edge], monitor->time,
                           monitor->smallest, "the run ends behind it", &sim->work->error);
    return lwi_sim_fail_work(sim, LW_ERR_SINGULAR, "the run stops");
}

void lwi_sim_end_monitor(lw_sim *sim)
{
    const bool outside = sim->crossing.active && sim->crossing.outside == sim->t;
    if (sim->monitor.count == 0 && sim->t == sim->start) return; // nothing has moved
    lwi_sim_end_skipping(sim);
    if (outside && sim->monitor.count == 0) return; // its margin is large
    if (sim->monitor.active &&
        lwi_sim_observe_motion(sim, sim->t, sim->x, LW_OBSERVE_TWIST, &sim->snapshot))
        lwi_monitor_end(&sim->monitor, &sim->snapshot);
}
