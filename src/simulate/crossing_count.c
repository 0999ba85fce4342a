// crossing_count.c -- which singular positions a step across passes.
//
// Pivots are sampled along the polynomials.  A group of loops that reverses may pass its position twice, also between two
// samples.
#include "simulate/crossing.h"

#include <math.h>
#include <string.h>

// Of a piece; at most every second one is a minimum.
enum { SAMPLES = LWI_CROSSING_SAMPLES };
// Distances of states next to a minimum, in lengths of a piece, and next to it, relative to those.
#define BESIDE 0.02
#define NEXT 5e-3
// Distances from an end at one of which the pivot is smaller than there, if its minimum is between that and the next sample,
// relative to that of samples: positions may be as near, and next to a standstill polynomials are no better than their errors.
static const double inwards[] = {1e-4, 5e-3, 0.1};
// Distance over which its rate is measured: next to a reversal sines grow with the square of time.
#define FAR 0.1
// Pivots at half the distance from a position are below this part of those at the whole: a quarter, of parabolas.
#define HALFWAY 0.6
// Minima below this part of the pivots next to them may be positions.
#define DEEP 0.01
// Pivots on both sides of a reversal behind a position are below this part of that at the reversal.
#define LOWER 0.9
// The first sample of a path from a start: where one group is at its position, pivots of others are not known.
#define AWAY_FROM_START 5e-3
// Rates within a piece may be larger than those at its ends by this factor.
#define UNEVEN 2

// A group's pivot at the part s of the piece; INFINITY: unknown.
static double pivot_at(lw_sim *sim, const lwi_crossing_piece *piece, int group, double s)
{
    double sine;
    if (!lwi_crossing_sine(sim, piece, s, &sine)) return INFINITY;
    return sim->crossing.ngroup > 1 ? sim->monitor.here[group] : sine * sine;
}

// Is the minimum at s that of a parabola?  Exactly at the position of another group round-off chooses among the rows that have small
// pivots, and a group that is at none may seem to be.
static bool is_smooth(lw_sim *sim, const lwi_crossing_piece *piece, int group, double s,
                      double beside, double before, double after)
{
    return pivot_at(sim, piece, group, s - 0.5 * beside) < HALFWAY * before &&
           pivot_at(sim, piece, group, s + 0.5 * beside) < HALFWAY * after;
}

// Adds a group's minimum at the part s of the piece, if it is lower than both states next to it, and than `limit`.  At a
// position the pivot itself is round-off, and not kept.
static void add(lw_sim *sim, const lwi_crossing_piece *piece, int group, double s, double beside,
                double limit)
{
    lwi_crossing *c = &sim->crossing;
    double pivot = INFINITY;
    if (!(s > 0 && s < 1)) return;
    for (int i = -1; i <= 1; i++)
        pivot = fmin(pivot, pivot_at(sim, piece, group, s + i * NEXT * beside));
    if (!(pivot < limit)) return;
    const double before = pivot_at(sim, piece, group, s - beside);
    const double after = pivot_at(sim, piece, group, s + beside);
    if (!(pivot < fmin(before, after) && fmax(before, after) < INFINITY)) return;
    const double depth = pivot / fmin(before, after);
    if (depth < DEEP && !is_smooth(sim, piece, group, s, beside, before, after)) return;
    // of the side on which it is larger
    const double far =
        fmax(pivot_at(sim, piece, group, s - FAR), pivot_at(sim, piece, group, s + FAR));
    if (!(far < INFINITY)) return;
    c->minimum[c->nminimum++] = (lwi_crossing_minimum){
        .group = group, .at = s, .pivot = pivot, .depth = depth, .slope = sqrt(far) / FAR};
}

// gauss.node := the motion at the part s of the piece, with velocities; false: unknown.
static bool observe_at(lw_sim *sim, const lwi_crossing_piece *piece, double s)
{
    const lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    g->node.t = piece->t + s * piece->h;
    lwi_gauss_polynomial(&g->rule6, g->work->layout.nx, piece->h, s, piece->x0, piece->rate, c->y);
    return g->work->formulation->observe(g->work, g->node.t, c->y, sim->inputs, LW_OBSERVE_TWIST,
                                         &g->node) == LW_OK;
}

// The sum of products of the speeds of a group's joints at gauss.node with those in crossing.speed.
static double speeds_along(const lw_sim *sim, int group)
{
    const lwi_monitor *monitor = &sim->monitor;
    const double *qd = sim->passage.gauss.node.qd, *from = sim->crossing.speed;
    double sum = 0;
    for (int j = 0; j < sim->model->njoint; j++) {
        const int edge = monitor->system.joint_edge[j];
        const lwi_joint *joint = &sim->model->joint[j];
        if (edge < 0 || monitor->group[edge] != group) continue;
        for (int i = joint->iv; i < joint->iv + joint->type->nv; i++) sum += from[i] * qd[i];
    }
    return sum;
}

// The part of the piece at which a group that reverses does so.
static double find_reversal(lw_sim *sim, const lwi_crossing_piece *piece, int group)
{
    enum { HALVES = 30 };
    double begin = 0, end = 1;
    for (int i = 0; i < HALVES; i++) {
        const double middle = 0.5 * (begin + end);
        const bool before = observe_at(sim, piece, middle) && speeds_along(sim, group) > 0;
        *(before ? &begin : &end) = middle;
    }
    return 0.5 * (begin + end);
}

// The part between begin and end at which a group's pivot, which first falls, is smallest: golden sections.
static double smallest_between(lw_sim *sim, const lwi_crossing_piece *piece, int group,
                               double begin, double end)
{
    enum { SECTIONS = 40 };
    const double part = 0.618033988749895;
    double a = end - part * (end - begin), b = begin + part * (end - begin);
    double at_a = pivot_at(sim, piece, group, a), at_b = pivot_at(sim, piece, group, b);
    for (int i = 0; i < SECTIONS; i++)
        if (at_a < at_b) {
            end = b, b = a, at_b = at_a;
            a = end - part * (end - begin), at_a = pivot_at(sim, piece, group, a);
        } else {
            begin = a, a = b, at_a = at_b;
            b = begin + part * (end - begin), at_b = pivot_at(sim, piece, group, b);
        }
    return 0.5 * (begin + end);
}

// Is the sample i of a group no larger than its neighbours?
static bool is_smallest(const lwi_crossing *c, int group, int i)
{
    const int n = c->ngroup;
    const double *p = c->sample + i * n + group;
    return !(i > 0 && p[-n] < *p) && !(i < SAMPLES && p[n] <= *p);
}

// The minimum next to the sample i, which is the smallest: parabolas from that through its neighbours on.  Where they lead away,
// as next to a start from rest, of which the pivots are no parabola, sections.
static void add_near(lw_sim *sim, const lwi_crossing_piece *piece, int group, int i)
{
    const lwi_crossing *c = &sim->crossing;
    const int n = c->ngroup, before = c->nminimum;
    const double *p = c->sample + i * n + group;
    const double bend = p[-n] - 2 * *p + p[n];
    if (!(bend > 0)) return;
    double at = (i + 0.5 * (p[-n] - p[n]) / bend) / SAMPLES;
    if (lwi_crossing_narrow(sim, piece, n > 1 ? group : -1, 0, &at))
        add(sim, piece, group, at, BESIDE, INFINITY);
    if (c->nminimum > before) return;
    at = smallest_between(sim, piece, group, (i - 1.0) / SAMPLES, (i + 1.0) / SAMPLES);
    add(sim, piece, group, at, BESIDE, INFINITY);
}

// The minimum between the begin or the end of the piece and the next sample, where the smallest one is the outer: a motion
// from a standstill has a position soon after it, and none is before.
static void add_at_end(lw_sim *sim, const lwi_crossing_piece *piece, int group, bool end)
{
    const lwi_crossing *c = &sim->crossing;
    const double apart = 1.0 / SAMPLES;
    const double there = c->sample[(end ? SAMPLES * c->ngroup : 0) + group];
    bool falls = c->first && !end; // that sample may be behind it
    for (int i = 0; i < LWI_COUNT(inwards) && !falls; i++) {
        const double s = inwards[i] * apart;
        falls = pivot_at(sim, piece, group, end ? 1 - s : s) < there;
    }
    if (!falls) return;
    const double at = smallest_between(sim, piece, group, end ? 1 - apart : 0, end ? 1 : apart);
    add(sim, piece, group, at, fmin(BESIDE, 0.5 * (end ? 1 - at : at)), INFINITY);
}

// Minima of a group that reverses: on both sides of the reversal if it passes a position, which it then does twice; else at
// the reversal.
static void add_beside_reversal(lw_sim *sim, const lwi_crossing_piece *piece, int group)
{
    lwi_crossing *c = &sim->crossing;
    const int n = c->nminimum;
    const double reversal = find_reversal(sim, piece, group);
    const double limit = LOWER * pivot_at(sim, piece, group, reversal);
    for (int side = 0; side < 2; side++) {
        const double at =
            smallest_between(sim, piece, group, side ? reversal : 0, side ? 1 : reversal);
        add(sim, piece, group, at, fmin(BESIDE, 0.5 * fabs(at - reversal)), limit);
    }
    if (c->nminimum > n) return;
    add(sim, piece, group, reversal, BESIDE, INFINITY);
    if (c->nminimum > n) c->minimum[n].reverses = true;
}

// c->small := groups that may have a small sine on the piece, by samples; c->reversing: those of them that reverse on it.
static void find_groups(lw_sim *sim, const lwi_crossing_piece *piece)
{
    lwi_crossing *c = &sim->crossing;
    const lwi_system *s = &sim->monitor.system;
    const lwi_snapshot *m = &sim->passage.gauss.node;
    double rate = 0;
    bool known = observe_at(sim, piece, 0);
    if (known) {
        memcpy(c->speed, m->qd, (size_t)sim->model->nv * sizeof *c->speed);
        rate = lwi_sine_rate(s, m);
    }
    known = known && observe_at(sim, piece, 1);
    rate = known ? fmax(rate, lwi_sine_rate(s, m)) : INFINITY;
    const double reach = c->slope * UNEVEN * rate * piece->h / SAMPLES;
    const double largest = LWI_CROSSING_WINDOW * lwi_crossing_typical(sim) + reach;
    for (int k = 0; k < c->ngroup; k++) {
        double smallest = INFINITY;
        for (int i = 0; i <= SAMPLES; i++) smallest = fmin(smallest, c->sample[i * c->ngroup + k]);
        c->small[k] = sqrt(smallest) <= largest;
        c->reversing[k] = known && c->small[k] && speeds_along(sim, k) < 0;
    }
}

void lwi_crossing_find_minima(lw_sim *sim, const lwi_crossing_piece *piece)
{
    lwi_crossing *c = &sim->crossing;
    const double begin = c->first ? AWAY_FROM_START : 0;
    c->nminimum = 0;
    for (int i = 0; i <= SAMPLES; i++) {
        double sine = 1;
        lwi_crossing_sine(sim, piece, i ? (double)i / SAMPLES : begin, &sine);
        lwi_crossing_take_pivots(sim, sine, c->sample + i * c->ngroup);
    }
    find_groups(sim, piece);
    for (int k = 0; k < c->ngroup; k++) {
        if (c->reversing[k]) add_beside_reversal(sim, piece, k);
        if (c->reversing[k] || !c->small[k]) continue;
        if (is_smallest(c, k, 0)) add_at_end(sim, piece, k, false);
        for (int i = 1; i < SAMPLES; i++)
            if (is_smallest(c, k, i)) add_near(sim, piece, k, i);
        if (is_smallest(c, k, SAMPLES)) add_at_end(sim, piece, k, true);
    }
}

// Is a minimum of the group between the last two samples?
static bool ends_with_minimum(const lwi_crossing *c, int group)
{
    for (int i = 0; i < c->nminimum; i++)
        if (c->minimum[i].group == group && c->minimum[i].at > 1 - 1.0 / SAMPLES) return true;
    return false;
}

// Does the piece of which minima were found last end in front of a position, also of a group that has passed it and comes back?
static bool ends_in_front(const lw_sim *sim)
{
    const lwi_crossing *c = &sim->crossing;
    const double smallest = LWI_CROSSING_MIN_AT_NODE * lwi_crossing_typical(sim);
    const double *end = c->sample + SAMPLES * c->ngroup;
    for (int k = 0; k < c->ngroup; k++)
        if (sqrt(end[k]) < smallest && end[k] < end[k - c->ngroup] && !ends_with_minimum(c, k))
            return true;
    return false;
}

// The largest pivot of the run, or of the group on the piece of which minima were found last.
static double largest_of(const lw_sim *sim, int group)
{
    const lwi_crossing *c = &sim->crossing;
    double largest = sim->monitor.largest;
    for (int i = 0; i <= SAMPLES; i++) {
        const double pivot = c->sample[i * c->ngroup + group];
        if (pivot < 1) largest = fmax(largest, pivot);
    }
    return largest;
}

// path->edge := that of the first position, where loops of several groups have passed some.
static void name_first(lw_sim *sim, lwi_crossing_path *path)
{
    double first = INFINITY, sine;
    if (sim->crossing.ngroup < 2 || path->npassed == 0) return;
    for (int i = 0; i < path->npassed; i++) first = fmin(first, path->passed[i]);
    const lwi_crossing_piece *piece = path->piece;
    if (path->npiece > 1 && first > piece->t + piece->h) piece++;
    const double at = (first - piece->t) / piece->h;
    if (lwi_crossing_sine(sim, piece, (1 + NEXT * BESIDE) * at, &sine))
        path->edge = sim->monitor.seen.edge;
}

bool lwi_crossing_count_passed(lw_sim *sim, lwi_crossing_path *path)
{
    const lwi_crossing *c = &sim->crossing;
    path->npassed = 0;
    for (int i = 0; i < path->npiece; i++) {
        const lwi_crossing_piece *piece = &path->piece[i];
        lwi_crossing_find_minima(sim, piece);
        for (int k = 0; k < c->nminimum; k++) {
            const lwi_crossing_minimum *m = &c->minimum[k];
            if (m->reverses || !(m->pivot < LWI_CROSSING_PASSED * largest_of(sim, m->group)))
                continue;
            path->depth[path->npassed] = m->depth;
            path->passed[path->npassed++] = piece->t + m->at * piece->h;
        }
    }
    const bool in_front = ends_in_front(sim);
    name_first(sim, path);
    return !in_front;
}
