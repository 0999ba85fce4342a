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
// Distance over which its rate is measured: next to a reversal sines grow with the square of time.
#define FAR 0.1

// A group's pivot at the part s of the piece; INFINITY: unknown.
static double pivot_at(lw_sim *sim, const lwi_crossing_piece *piece, int group, double s)
{
    double sine;
    if (!lwi_crossing_sine(sim, piece, s, &sine)) return INFINITY;
    return sim->crossing.ngroup > 1 ? sim->monitor.here[group] : sine * sine;
}

// Adds a group's minimum at the part s of the piece, if it is lower than both states next to it.  At a position the pivot
// itself is round-off, and not kept.
static void add(lw_sim *sim, const lwi_crossing_piece *piece, int group, double s, double beside)
{
    lwi_crossing *c = &sim->crossing;
    double pivot = INFINITY;
    if (!(s > 0 && s < 1)) return;
    for (int i = -1; i <= 1; i++)
        pivot = fmin(pivot, pivot_at(sim, piece, group, s + i * NEXT * beside));
    const double before = pivot_at(sim, piece, group, s - beside);
    const double after = pivot_at(sim, piece, group, s + beside);
    if (!(pivot < fmin(before, after) && fmax(before, after) < INFINITY)) return;
    // of the side on which it is larger
    const double far =
        fmax(pivot_at(sim, piece, group, s - FAR), pivot_at(sim, piece, group, s + FAR));
    if (!(far < INFINITY)) return;
    c->minimum[c->nminimum++] =
        (lwi_crossing_minimum){.group = group, .at = s, .pivot = pivot, .slope = sqrt(far) / FAR};
}

// The sum of products of the speeds of a group's joints at the part s of the piece with those where it begins.
static double speeds_along(lw_sim *sim, const lwi_crossing_piece *piece, int group, double s)
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_monitor *monitor = &sim->monitor;
    lwi_gauss *g = &sim->passage.gauss;
    double sum = 0;
    g->node.t = piece->t + s * piece->h;
    lwi_gauss_polynomial(&g->rule6, g->work->layout.nx, piece->h, s, piece->x0, piece->rate, c->y);
    if (g->work->formulation->observe(g->work, g->node.t, c->y, sim->inputs, LW_OBSERVE_TWIST,
                                      &g->node) != LW_OK)
        return NAN;
    if (s == 0) memcpy(c->speed, g->node.qd, (size_t)sim->model->nv * sizeof *c->speed);
    for (int j = 0; j < sim->model->njoint; j++) {
        const int edge = monitor->system.joint_edge[j];
        const lwi_joint *joint = &sim->model->joint[j];
        if (edge < 0 || monitor->group[edge] != group) continue;
        for (int i = joint->iv; i < joint->iv + joint->type->nv; i++)
            sum += c->speed[i] * g->node.qd[i];
    }
    return sum;
}

// The part of the piece at which a group reverses; false: it does not.
static bool find_reversal(lw_sim *sim, const lwi_crossing_piece *piece, int group, double *reversal)
{
    enum { HALVES = 30 };
    double begin = 0, end = 1;
    if (!(speeds_along(sim, piece, group, 0) > 0) || !(speeds_along(sim, piece, group, 1) < 0))
        return false;
    for (int i = 0; i < HALVES; i++) {
        const double middle = 0.5 * (begin + end);
        *(speeds_along(sim, piece, group, middle) > 0 ? &begin : &end) = middle;
    }
    *reversal = 0.5 * (begin + end);
    return true;
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

// Is the sample i of a group no larger than its neighbours?  *at: the part of the piece where the parabola through them
// is smallest.
static bool is_smallest(const lwi_crossing *c, int group, int i, double *at)
{
    const int n = c->ngroup, middle = i == 0 ? 1 : i == SAMPLES ? SAMPLES - 1 : i;
    const double *p = c->sample + i * n + group, *m = c->sample + middle * n + group;
    if ((i > 0 && p[-n] < *p) || (i < SAMPLES && p[n] <= *p)) return false;
    const double bend = m[-n] - 2 * *m + m[n];
    if (!(bend > 0)) return false;
    *at = (middle + 0.5 * (m[-n] - m[n]) / bend) / SAMPLES;
    return fabs(*at * SAMPLES - i) < 1; // roughly
}

void lwi_crossing_find_minima(lw_sim *sim, const lwi_crossing_piece *piece)
{
    lwi_crossing *c = &sim->crossing;
    c->nminimum = 0;
    for (int i = 0; i <= SAMPLES; i++) {
        double sine = 1;
        lwi_crossing_sine(sim, piece, (double)i / SAMPLES, &sine);
        lwi_crossing_take_pivots(sim, sine, c->sample + i * c->ngroup);
    }
    for (int k = 0; k < c->ngroup; k++) {
        double at, reversal;
        // at a reversal, or on both sides of it
        if (find_reversal(sim, piece, k, &reversal)) {
            const int n = c->nminimum;
            add(sim, piece, k, reversal, BESIDE);
            if (c->nminimum > n) continue;
            for (int side = 0; side < 2; side++) {
                at = smallest_between(sim, piece, k, side ? reversal : 0, side ? 1 : reversal);
                add(sim, piece, k, at, fmin(BESIDE, 0.5 * fabs(at - reversal)));
            }
            continue;
        }
        for (int i = 0; i <= SAMPLES; i++)
            if (is_smallest(c, k, i, &at) &&
                lwi_crossing_narrow(sim, piece, c->ngroup > 1 ? k : -1, 0, &at))
                add(sim, piece, k, at, BESIDE);
    }
}

static bool has_minimum(const lwi_crossing *c, int group)
{
    for (int i = 0; i < c->nminimum; i++)
        if (c->minimum[i].group == group) return true;
    return false;
}

// Does the piece of which minima were found last end in front of the position of a group that passes none on it?
static bool ends_in_front(const lw_sim *sim)
{
    const lwi_crossing *c = &sim->crossing;
    const double smallest = LWI_CROSSING_MIN_AT_NODE * lwi_crossing_typical(sim);
    const double *end = c->sample + SAMPLES * c->ngroup;
    for (int k = 0; k < c->ngroup; k++)
        if (sqrt(end[k]) < smallest && end[k] < end[k - c->ngroup] && !has_minimum(c, k))
            return true;
    return false;
}

bool lwi_crossing_count_passed(lw_sim *sim, lwi_crossing_path *path)
{
    const lwi_crossing *c = &sim->crossing;
    path->npassed = 0;
    for (int i = 0; i < path->npiece; i++) {
        const lwi_crossing_piece *piece = &path->piece[i];
        lwi_crossing_find_minima(sim, piece);
        for (int k = 0; k < c->nminimum; k++)
            if (c->minimum[k].pivot < LWI_CROSSING_PASSED * sim->monitor.largest)
                path->passed[path->npassed++] = piece->t + c->minimum[k].at * piece->h;
    }
    return !ends_in_front(sim);
}
