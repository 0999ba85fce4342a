// crossing_path.c -- the step across a singular position.
#include "simulate/crossing.h"

#include <math.h>
#include <string.h>

// Smallest sine at a node, relative to the largest of the run.
#define MIN_AT_NODE LWI_CROSSING_MIN_AT_NODE
// The estimated error, in tolerances, that ends the attempts, but at smallest ENOUGH; the largest one that is accepted,
// but at smallest ACCEPTED; the largest gap, in lengths.
#define SHARE 0.1
#define ENOUGH 1e-11
#define ACCEPTED 1e-8
#define LARGEST_GAP LWI_CROSSING_LARGEST_GAP
// A gap of round-off, in lengths; the largest difference of both steps, relative to one radian, length or the speeds.
#define NO_GAP LWI_CROSSING_NO_GAP
#define LARGEST_DIFFERENCE LWI_CROSSING_LARGEST_DIFFERENCE
// Distance of the position from the middle of a step, relative to its length, above which another one is computed.
#define OFF_MIDDLE 0.1
// Points at which a step across is searched for its position.
enum { POINTS = 13 };
#define FIRST_POINT 0.1
#define POINTS_APART ((1 - 2 * FIRST_POINT) / (POINTS - 1))
// Rows are shifted by the gap up to so many times, until the shift changes by this part of the mechanism's length.  Near
// the gap the polynomial on rows without a shift is a rough one.
enum { SHIFTS = 4 };
#define SAME_SHIFT 1e-12
#define LARGEST_SHIFT 1e-6
// Part to which a shift reduces the difference of both steps, if the gap is its cause and it is too large.
#define SHIFTED 0.5

// Largest difference of two states: coordinates, and speeds relative to the largest one.
static double difference(const lwi_layout *layout, const double *a, const double *b)
{
    double largest = 0, speed = 0, apart = 0;
    for (int i = 0; i < layout->nblock; i++) {
        const lwi_block *block = &layout->block[i];
        for (int k = block->first; k < block->first + block->n; k++) {
            const double d = fabs(a[k] - b[k]);
            if (block->kind == LWI_SPEED)
                apart = fmax(apart, d), speed = fmax(speed, fabs(a[k]));
            else if (block->kind != LWI_WORK)
                largest = fmax(largest, d);
        }
    }
    return fmax(largest, speed > 0 ? apart / speed : 0);
}

// Sines at the nodes of the last step, the smallest one and the edge there: at the position itself all rows that depend on
// each other have pivots of round-off.  path->node = 0: unknown
static void find_at_nodes(lw_sim *sim, double t, double h, lwi_crossing_path *path)
{
    lwi_gauss *g = &sim->passage.gauss;
    const int nx = g->work->layout.nx;
    path->node = INFINITY;
    memset(path->sine_at, 0, sizeof path->sine_at);
    for (int i = 0; i < g->rule6.stages && path->node > 0; i++) {
        g->node.t = t + g->rule6.c[i] * h;
        const bool known =
            g->work->formulation->observe(g->work, g->node.t, g->stage + i * nx, sim->inputs,
                                          LW_OBSERVE_POSE, &g->node) == LW_OK;
        const double sine = known ? lwi_sine_at(&sim->monitor, &g->node) : 0;
        path->sine_at[i] = sine;
        if (sine < path->node) path->node = sine, path->edge = sim->monitor.seen.edge;
    }
}

static void keep_piece(lwi_gauss *g, double t, double h, lwi_crossing_piece *piece)
{
    const size_t n = (size_t)g->work->layout.nx;
    piece->t = t, piece->h = h;
    memcpy(piece->rate, g->rate, LWI_GAUSS_STAGES * n * sizeof *g->rate);
}

// State and sine of the polynomial at a part s of the piece; *residual of positions, not divided by lengths.
bool lwi_crossing_sine(lw_sim *sim, const lwi_crossing_piece *piece, double s, double *sine)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const double t = piece->t + s * piece->h;
    lwi_gauss_polynomial(&g->rule6, g->work->layout.nx, piece->h, s, piece->x0, piece->rate, c->y);
    g->node.t = t;
    // velocities may not exist there
    if (g->work->formulation->observe(g->work, t, c->y, sim->inputs, LW_OBSERVE_POSE, &g->node) !=
        LW_OK)
        return false;
    *sine = lwi_sine_at(&sim->monitor, &g->node);
    return true;
}

// The part of the last piece at which the parabola through the pivots of the smallest node and its neighbours is smallest;
// false: none is.
static bool find_between_nodes(const lwi_gauss_rule *rule, const lwi_crossing_path *path,
                               double *at)
{
    int k = 1;
    for (int i = 1; i < rule->stages - 1; i++)
        if (path->sine_at[i] < path->sine_at[k]) k = i;
    double p[3], s[3];
    for (int i = 0; i < 3; i++)
        s[i] = rule->c[k - 1 + i], p[i] = path->sine_at[k - 1 + i] * path->sine_at[k - 1 + i];
    if (!(p[1] <= p[0] && p[1] <= p[2])) return false;
    const double below = (p[1] - p[0]) / (s[1] - s[0]), above = (p[2] - p[1]) / (s[2] - s[1]);
    const double bend = (above - below) / (s[2] - s[0]);
    if (!(bend > 0)) return false;
    *at = 0.5 * (s[0] + s[1] - below / bend);
    return true;
}

bool lwi_crossing_narrow(lw_sim *sim, const lwi_crossing_piece *piece, int group, int from,
                         double *at)
{
    enum { NARROWED = 3, ROUNDS = 12 };
    double h = POINTS_APART, sine;
    int narrowed = from;
    for (int k = 0; k < ROUNDS && narrowed < NARROWED; k++) {
        double p[3];
        for (int i = 0; i < 3; i++) {
            if (!lwi_crossing_sine(sim, piece, *at + (i - 1) * h, &sine)) return false;
            p[i] = group < 0 ? sine * sine : sim->monitor.here[group];
        }
        const double bend = p[0] - 2 * p[1] + p[2];
        if (!(bend > 0)) break;
        const double move = 0.5 * h * (p[0] - p[2]) / bend;
        *at += fmin(fmax(move, -h), h);
        if (fabs(move) < h) narrowed++, h *= 0.1;
    }
    return true;
}

// Part of the last piece at which the sine of the polynomial is smallest: samples, then parabolas through pivots, which
// narrow.
static bool find_position(lw_sim *sim, const lwi_crossing_path *path, double *at)
{
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    double smallest = INFINITY, sine;
    const bool known = find_between_nodes(&sim->passage.gauss.rule6, path, at);
    for (int i = 0; i < POINTS && !known; i++) {
        const double s = FIRST_POINT + i * POINTS_APART;
        if (!lwi_crossing_sine(sim, piece, s, &sine)) return false;
        if (sine < smallest) smallest = sine, *at = s;
    }
    return lwi_crossing_narrow(sim, piece, -1, known, at);
}

// The position on the path, the sine there, and the gap: the residual of the polynomial.
static bool find_gap(lw_sim *sim, lwi_crossing_path *path)
{
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    double at = 0.5;
    if (!find_position(sim, path, &at) || !lwi_crossing_sine(sim, piece, at, &path->sine))
        return false;
    path->position = piece->t + at * piece->h;
    lwi_sim_take_motion(g->assembler, &g->node);
    path->gap = lwi_assembler_residual(g->assembler, false, NULL) / g->assembler->length;
    return true;
}

// A piece of length h from the motion m, the state gauss->x; *estimate: at least the difference of both rules.
static bool step_by_both(lw_sim *sim, const lwi_snapshot *m, double h, lwi_crossing_piece *piece,
                         double *estimate)
{
    const lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const size_t bytes = (size_t)g->work->layout.nx * sizeof *g->x;
    memcpy(piece->x0, g->x, bytes);
    // at a start no rates are known
    const bool begins = !c->first && lwi_gauss_begin(g, m->t, g->x, sim->inputs);
    const lwi_gauss_guess guess = begins ? LWI_GUESS_RATES : LWI_GUESS_MOTION;
    if (!lwi_gauss_step(g, &g->rule4, guess, m, 0, h, sim->inputs)) return false;
    memcpy(c->y, g->x, bytes);
    memcpy(g->x, piece->x0, bytes);
    if (!lwi_gauss_step(g, &g->rule6, LWI_GUESS_STEP, m, 0, h, sim->inputs)) return false;
    keep_piece(g, m->t, h, piece);
    *estimate = fmax(*estimate, difference(&g->work->layout, c->y, g->x));
    return true;
}

bool lwi_sim_attempt_path(lw_sim *sim, double offset, double h)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    lwi_crossing_path *path = &c->path;
    const int nx = g->work->layout.nx;
    const size_t bytes = (size_t)nx * sizeof *g->x;
    const lwi_snapshot *m = &c->at;
    path->npassed = 0;
    path->estimate = 0;
    path->npiece = offset > 0 ? 2 : 1;
    const bool here = !c->first && !g->own && lwi_gauss_close(g, m->t, sim->x, g->x);
    if (!here && !lwi_gauss_enter(g, c->first ? c->first : m, 0, g->x)) return false;
    if (offset > 0) {
        if (!step_by_both(sim, m, offset, &path->piece[0], &path->estimate)) return false;
        c->from.t = m->t + offset;
        if (g->work->formulation->observe(g->work, c->from.t, g->x, sim->inputs, LW_OBSERVE_TWIST,
                                          &c->from) != LW_OK)
            return false;
        m = &c->from;
    }
    lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    g->assembler->shift = path->shifted ? path->shift : NULL;
    if (!step_by_both(sim, m, h, piece, &path->estimate)) return false;
    memcpy(path->x1, g->x, bytes);
    find_at_nodes(sim, m->t, h, path);
    return true;
}

void lwi_crossing_keep_path(lwi_crossing *c)
{
    const lwi_crossing_path path = c->best;
    c->best = c->path;
    c->path = path;
}

bool lwi_crossing_try_path(lw_sim *sim, double offset, double h, double min_at_node)
{
    lwi_gauss *g = &sim->passage.gauss;
    const bool done = lwi_sim_attempt_path(sim, offset, h);
    g->assembler->shift = NULL;
    return done && sim->crossing.path.node > min_at_node * lwi_crossing_typical(sim);
}

// The error that ends the attempts, and the largest one that is accepted.
double lwi_crossing_enough(const lw_options *o)
{
    return fmax(SHARE * fmax(o->rtol, o->atol), ENOUGH);
}
double lwi_crossing_accepted(const lw_options *o)
{
    return fmax(fmax(o->rtol, o->atol), ACCEPTED);
}

// Without a gap the difference of both steps is that of the shorter rule, with an error of order nine; that of the longer
// one is thirteen.
double lwi_crossing_longer(double estimate)
{
    return pow(estimate, 13. / 9);
}

// Polynomials of long steps have residuals by themselves: shorter steps show whether there is a gap.
static bool keep_if_better(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_crossing_path *path = &c->path;
    if (!(path->estimate < LARGEST_DIFFERENCE)) return false;
    if (!find_gap(sim, path) || !(path->gap <= LARGEST_GAP)) return false;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    if (fabs(path->position - (piece->t + 0.5 * piece->h)) > OFF_MIDDLE * piece->h) {
        c->found = path->position;
        return false;
    }
    if (path->gap <= NO_GAP) path->estimate = lwi_crossing_longer(path->estimate);
    if (!(path->estimate < fmin(lwi_crossing_accepted(&sim->options), c->best.estimate)))
        return false;
    if (!lwi_crossing_count_passed(sim, path)) return false;
    lwi_crossing_keep_path(c);
    return true;
}

// Links with a gap have no crossing, and a step over their bend is a rough one.  On rows that are shifted by the gap there
// is one.
static bool find_shifted_path(lw_sim *sim, double offset, double h)
{
    lwi_crossing *c = &sim->crossing;
    lwi_assembler *a = sim->passage.gauss.assembler;
    double last = INFINITY, largest = INFINITY;
    for (int k = 0; k <= SHIFTS; k++) {
        lwi_crossing_path *path = &c->path;
        // the error of a rough step is not that of the gap
        if (!(path->estimate < largest)) return false;
        if (!find_gap(sim, path) || !(path->gap <= LARGEST_SHIFT)) return false;
        if (path->shifted && fabs(path->gap - last) <= SAME_SHIFT) return keep_if_better(sim);
        last = path->gap;
        largest = fmax(SHIFTED * path->estimate, LARGEST_DIFFERENCE);
        // the residuals are those of the position
        memcpy(path->shift, a->residual, (size_t)a->nrow * sizeof *path->shift);
        path->shifted = true;
        if (!lwi_crossing_try_path(sim, offset, h, MIN_AT_NODE)) return false;
    }
    return keep_if_better(sim);
}

double lwi_crossing_find_middle(lw_sim *sim, double D)
{
    lwi_crossing *c = &sim->crossing;
    c->path.shifted = false;
    const bool done = lwi_sim_attempt_path(sim, 0, 2 * D) && find_gap(sim, &c->path);
    const double after = (done ? c->path.position : c->found) - sim->t;
    return after > 0 ? after : D;
}

bool lwi_crossing_single(lw_sim *sim, double D)
{
    static const double shrinks[] = {1, 0.6, 0.36, 0.2, 0.1};
    bool done[LWI_COUNT(shrinks)] = {false}; // those that failed would fail again
    lwi_crossing *c = &sim->crossing;
    for (int shifted = 0; shifted < 2 && !(c->best.estimate < INFINITY); shifted++)
        for (int i = 0; i < LWI_COUNT(shrinks); i++) {
            c->path.shifted = false;
            c->path.node = INFINITY;
            const double offset = D * (1 - shrinks[i]), h = 2 * D * shrinks[i];
            if (shifted && !done[i]) continue;
            done[i] = lwi_crossing_try_path(sim, offset, h, MIN_AT_NODE);
            if (!(c->path.node > MIN_AT_NODE * lwi_crossing_typical(sim))) break;
            if (!done[i]) continue;
            if (!(shifted ? find_shifted_path(sim, offset, h) : keep_if_better(sim))) continue;
            if (c->best.estimate <= lwi_crossing_enough(&sim->options)) break;
        }
    return c->best.estimate < INFINITY;
}
