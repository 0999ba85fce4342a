// crossing_several.c -- steps across the singular positions of several loops.
//
// Loops that share no joint have separate singular positions, which may be passed one soon after the other: the nodes of
// the step across one are then next to another.  The nodes of Gauss steps leave gaps, so that length and begin of a step can
// be chosen with all positions in gaps, or beyond an end that is far enough from them for the next step across to begin
// there.  The time and the rate of each sine are those of the minima along the polynomial of the last attempt, at first
// those of motions to both sides of the present one.
#include "simulate/crossing.h"

#include <math.h>

// Distances of positions from nodes and from ends of a step, in widths of their windows: the sine at a node, relative to that
// where the window begins, and at an end from which nodes of the next step are as far.
#define NODE 0.1
#define END 0.4
// Where no step keeps so far, it may come nearer by this factor.
#define NEARER 0.6
// Errors of times to positions that are estimated from one motion.
#define UNSURE 0.3
// Lengths of steps that are tried, each by this factor shorter than the one before; how many, and with how many begins.
#define SHORTER 0.82
enum { LENGTHS = 12, BEGINS = 48 };
// Where none is found the longest is longer by this factor: a position close ahead is then before the first node, or in the
// gap after it.  Steps end there if the position was too far ahead to be seen as they began.
#define LONGER 8
// Where none of these is accurate nodes may come nearer by this factor, and have sines smaller by it: positions that are passed
// slowly, next to a reversal or while other loops move fast.  Round-off of nodes shows in the difference of both rules.
#define LAST LWI_CROSSING_LAST
// Sines at nodes of a step that begins nearer, relative to that where it begins.
#define AS_BEGIN 0.5
// The first position is so many windows ahead that another attempt may follow, nearer to it.
#define EARLY 0.6
// The largest difference of both rules with which a path shows where positions are, and whether a minimum is regular.
#define ROUGH 1e-3

lw_status lwi_crossing_create_groups(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_arena *arena = &sim->arena;
    const int n = c->ngroup = sim->monitor.ngroup > 1 ? sim->monitor.ngroup : 1;
    c->wanted = LWI_PUSH(arena, bool, n);
    c->regular = LWI_PUSH(arena, bool, n);
    c->small = LWI_PUSH(arena, bool, n);
    c->reversing = LWI_PUSH(arena, bool, n);
    const int largest = (LWI_CROSSING_SAMPLES + 2) * n; // on a piece
    c->minimum = LWI_PUSH(arena, lwi_crossing_minimum, largest);
    c->room = 4 * largest;
    c->ahead = LWI_PUSH(arena, lwi_crossing_ahead, c->room);
    c->pivot = LWI_PUSH(arena, double, 9 * n);
    c->sample = LWI_PUSH(arena, double, (LWI_CROSSING_PIECES + 1) * n);
    c->at_pivot = LWI_PUSH(arena, double, n);
    c->last_pivot = LWI_PUSH(arena, double, n);
    c->path.passed = LWI_PUSH(arena, double, 2 * largest); // two pieces
    c->best.passed = LWI_PUSH(arena, double, 2 * largest);
    c->path.depth = LWI_PUSH(arena, double, 2 * largest);
    c->best.depth = LWI_PUSH(arena, double, 2 * largest);
    c->speed = LWI_PUSH(arena, double, sim->model->nv);
    if (!c->wanted || !c->regular || !c->small || !c->reversing || !c->minimum || !c->ahead ||
        !c->pivot || !c->sample || !c->at_pivot || !c->last_pivot || !c->path.passed ||
        !c->best.passed || !c->path.depth || !c->best.depth || !c->speed)
        return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++) c->wanted[k] = true;
    return LW_OK;
}

// --------------------------------------------------------------------------------- positions ahead

static void sort(lwi_crossing *c)
{
    for (int i = 1; i < c->nahead; i++) {
        const lwi_crossing_ahead a = c->ahead[i];
        int k = i;
        for (; k > 0 && c->ahead[k - 1].after > a.after; k--) c->ahead[k] = c->ahead[k - 1];
        c->ahead[k] = a;
    }
}

bool lwi_crossing_several(lw_sim *sim, double D)
{
    lwi_crossing *c = &sim->crossing;
    int n = 0, within = 0;
    for (int i = 0; i < c->nahead; i++)
        if (c->ahead[i].after > 0) c->ahead[n++] = c->ahead[i];
    c->nahead = n;
    sort(c);
    for (int i = 0; i < n; i++)
        within += (1 - UNSURE) * c->ahead[i].after < 2 * D + END * c->ahead[i].window;
    if (within == 0) c->nahead = 0; // those are of later steps
    return within > 1;
}

// Positions as the last attempt shows them, on its last piece.  Nodes need not keep away from a minimum with a sine above that
// allowed at nodes, as where a loop reverses in front of its position.
static void correct_positions(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    const lwi_crossing_path *path = &c->path;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    const double typical = lwi_crossing_typical(sim), begin = piece->t - sim->t;
    if (!(path->node > 0 && path->node < INFINITY && path->estimate < ROUGH)) return;
    lwi_crossing_find_minima(sim, piece);
    int n = 0;
    for (int i = 0; i < c->nahead; i++)
        if (c->ahead[i].after < begin || c->ahead[i].after > begin + piece->h)
            c->ahead[n++] = c->ahead[i];
    for (int i = 0; i < c->nminimum; i++) {
        const lwi_crossing_minimum *m = &c->minimum[i];
        const double sine = sqrt(m->pivot);
        if (!(sine < LWI_CROSSING_TURNS * LWI_CROSSING_WINDOW * typical)) continue;
        if (sine > LWI_CROSSING_MIN_AT_NODE * typical) {
            if (i == 0 || m[-1].group != m->group) c->regular[m->group] = true;
            continue;
        }
        if (n == c->room) break;
        c->ahead[n++] =
            (lwi_crossing_ahead){.group = m->group,
                                 .after = begin + m->at * piece->h,
                                 .window = LWI_CROSSING_WINDOW * typical / m->slope * piece->h};
    }
    c->nahead = n;
    sort(c);
}

// -------------------------------------------------------------------------------------- one step

static double nearest_node(const lwi_gauss_rule *rule, double at)
{
    double nearest = INFINITY;
    for (int i = 0; i < rule->stages; i++) nearest = fmin(nearest, fabs(rule->c[i] - at));
    return nearest;
}

// How far a step keeps from all positions, relative to the smallest distances allowed: `end` windows at its ends.
static double clearance(const lw_sim *sim, double offset, double h, double end)
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_gauss *g = &sim->passage.gauss;
    double smallest = INFINITY;
    for (int i = 0; i < c->nahead; i++) {
        const lwi_crossing_ahead *a = &c->ahead[i];
        const double at = (a->after - offset) / h;
        const double node = fmin(nearest_node(&g->rule4, at), nearest_node(&g->rule6, at));
        smallest = fmin(smallest, node * h / (NODE * a->window));
        smallest = fmin(smallest, fabs(1 - at) * h / (end * a->window));
        if (offset > 0) smallest = fmin(smallest, fabs(at) * h / (end * a->window));
    }
    return smallest;
}

// The begin of a step of length h across the first position, so that it keeps far from all; false: there is none.
static bool find_begin(const lw_sim *sim, double h, double latest, double allowed, double end,
                       double *offset)
{
    const double first = sim->crossing.ahead[0].after;
    double best = allowed;
    bool found = false;
    for (int i = 0; i < BEGINS; i++) {
        const double begin = first * i / BEGINS;
        if (begin + h > latest || begin + h <= first) continue;
        const double smallest = clearance(sim, begin, h, end);
        if (smallest > best) best = smallest, *offset = begin, found = true;
    }
    return found;
}

bool lwi_crossing_find_gaps(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_crossing_path *path = &c->path;
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    const double window = LWI_CROSSING_WINDOW * lwi_crossing_typical(sim);
    path->gap = 0, path->sine = INFINITY, path->position = INFINITY;
    for (int i = 0; i < c->nminimum; i++) {
        const lwi_crossing_minimum *m = &c->minimum[i];
        double sine;
        if (!(sqrt(m->pivot) < window)) continue;
        if (!lwi_crossing_sine(sim, piece, m->at, &sine)) return false;
        path->position = fmin(path->position, piece->t + m->at * piece->h);
        path->sine = fmin(path->sine, sqrt(m->pivot));
        lwi_sim_take_motion(g->assembler, &g->node);
        path->gap = fmax(path->gap,
                         lwi_assembler_residual(g->assembler, false, NULL) / g->assembler->length);
    }
    return path->sine < window; // else it is across none
}

static bool is_early(const lwi_crossing *c)
{
    return c->nahead > 0 && c->ahead[0].after > EARLY * c->ahead[0].window;
}

// Of a slow loop an attempt nearer to it may not be nearer in windows, while a fast one is early.
static bool is_near(const lwi_crossing *c)
{
    for (int i = 0; i < c->nahead; i++)
        if (c->ahead[i].after <= EARLY * c->ahead[i].window) return true;
    return c->nahead == 0;
}

static bool keep_if_better(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_crossing_path *path = &c->path;
    if (!(path->estimate < LWI_CROSSING_LARGEST_DIFFERENCE)) return false;
    if (!lwi_crossing_find_gaps(sim) || !(path->gap <= LWI_CROSSING_LARGEST_GAP)) return false;
    if (!(path->estimate < c->best.estimate) || !lwi_crossing_count_passed(sim, path)) return false;
    // a run that has no step across stops or leaves its branch
    const double accepted = lwi_crossing_accepted(&sim->options);
    if ((is_early(c) || path->npassed == 0) && !(path->estimate < accepted)) return false;
    lwi_crossing_keep_path(c);
    return true;
}

// From the present time to the last window of those that overlap, at smallest across the first position.
static double reach(const lwi_crossing *c)
{
    double end = 0;
    if (c->nahead == 0) return 0;
    for (int i = 0; i < c->nahead; i++) {
        const lwi_crossing_ahead *a = &c->ahead[i];
        if (i > 0 && !(a->after - a->window < end)) break;
        end = fmax(end, a->after + a->window);
    }
    return fmax(end, 2 * c->ahead[0].after);
}

// Tries lengths from the longest on.
static void try_lengths(lw_sim *sim, double longest, double latest, double allowed, double end,
                        double min_at_node)
{
    lwi_crossing *c = &sim->crossing;
    double h = longest, offset;
    for (int i = 0; i < LENGTHS && c->nahead > 0; i++, h *= SHORTER) {
        if (!find_begin(sim, h, latest, allowed, end, &offset)) continue;
        c->path.shifted = false;
        c->path.node = INFINITY;
        const bool done = lwi_crossing_try_path(sim, offset, h, min_at_node);
        c->tried++;
        c->converged += c->path.node < INFINITY;
        correct_positions(sim);
        if (!done || !keep_if_better(sim)) continue;
        if (c->best.estimate <= lwi_crossing_enough(&sim->options)) return;
    }
}

// None of the steps tried converges: where joints lock no motion leads across.
static bool is_locked(const lwi_crossing *c)
{
    return c->tried > 0 && c->converged == 0;
}

bool lwi_crossing_across_several(lw_sim *sim, double rate, double limit)
{
    lwi_crossing *c = &sim->crossing;
    const double latest = fmin(limit - sim->t, 2 * LWI_CROSSING_FARTHEST / rate);
    if (c->nahead == 0) return false;
    const double node = LWI_CROSSING_MIN_AT_NODE, enough = lwi_crossing_accepted(&sim->options);
    c->tried = c->converged = 0;
    try_lengths(sim, fmin(reach(c), latest), latest, 1, END, node);
    if (is_locked(c)) return false;
    if (!(c->best.estimate <= enough))
        try_lengths(sim, fmin(reach(c), latest), latest, NEARER, END, node);
    if (is_locked(c)) return false;
    if (!(c->best.estimate < INFINITY))
        try_lengths(sim, fmin(LONGER * reach(c), latest), latest, NEARER, END, node);
    if (c->best.estimate < INFINITY || !is_near(c)) return c->best.estimate < INFINITY;
    // nodes need not keep farther away than the state from which the step begins
    const double last = fmin(LAST * node, AS_BEGIN * c->last.sine / lwi_crossing_typical(sim));
    // ends keep as far as with NEARER, or come as near as nodes
    try_lengths(sim, fmin(reach(c), latest), latest, LAST, END * NEARER / LAST, last);
    double longest = fmin(reach(c), latest);
    for (int i = 0; i < 2 && !(c->best.estimate < enough); i++) {
        try_lengths(sim, longest, latest, LAST, END, last);
        longest *= pow(SHORTER, LENGTHS);
    }
    return c->best.estimate < INFINITY;
}
