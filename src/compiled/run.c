// run.c -- the rates of a simulation's steps by compiled code.
//
// The state is x = (tree q, tree v, the work, angles of cut joints, states of signals).
#include "base/assert.h"
#include "base/simd/lanes.h"
#include "batch/batch.h"
#include "batch/vary.h"
#include "codegen/sources.h"
#include "compiled/compiled.h"
#include "methods/rcr/rcr.h"
#include "simulate/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool finite(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += 0 * x[i]; // NAN where one is not finite
    return sum == 0;
}

/** One workspace's use of it. */
typedef struct use {
    const lw_compiled *compiled;
    double *v;          ///< [tree nv] those that satisfy the rows
    double *kept;       ///< [nx][LWI_LANES] rates of lanes that are done
    double smallest;    ///< margin of a partition that is kept
    int angles, states; ///< first in x
    int work;           ///< its entry in x, if forces or motions do work
} use;

// ------------------------------------------------------------------------------- parts of a run

// The partition is a discrete state of a run, or an instance, in addition to that of the formulation.  Before a step where its
// margin, a sine or a relative length, is below `smallest`, one of those that the run had before is taken, with a margin larger by
// BETTER.  Where there is none the formulation evaluates, until one has a margin of that size.  A compiler takes as long as thousands of steps: a new partition is made when the
// formulation has evaluated so many steps as FIRST_PAUSE, twice as many for each further one.
#define BETTER 1.5

// Errors of speeds grow by the reciprocal of the margin: as in `rcr`, `smallest` is LWI_RCR_KEEP.  Of mechanisms with
// margins that are small everywhere, for lengths are very different, it is a part of that at the start of the model.
#define PART 0.5
#define SMALLEST 3e-4

// With less the speeds of a state are kept as they were integrated.
#define FLOOR 0.1

enum { VISITED = 12, FORMULATION = LWI_PART_NONE, FIRST_PAUSE = 300, SEARCHES = 64 };

/** All zero: the first part, and nothing else was tried. */
typedef struct part_choice {
    double entry;      ///< [s] of the first change
    long steps;        ///< of the formulation, since the last new part
    const char *joint; ///< that closes the loop of the first change
    int changes;
    short now;                        ///< number of the part, or FORMULATION
    short nvisited, visited[VISITED]; ///< besides the first one
    bool refused;                     ///< a new part could not be compiled
} part_choice;

_Static_assert(sizeof(part_choice) <= LWI_SOURCE_CHOICE, "the choice has no room");

static part_choice *choice_of(const lwi_work *work, void *discrete)
{
    if (work->ndiscrete == 0) return NULL;
    LWI_ASSERT(work->ndiscrete >= LWI_SOURCE_CHOICE);
    return (void *)((char *)discrete + work->ndiscrete - LWI_SOURCE_CHOICE);
}

// The next evaluation by the formulation chooses its partition again: it has evaluated none of the states since the last one.
static void clear_choice(const lwi_work *work, void *discrete)
{
    if (work->ndiscrete) memset(discrete, 0, work->ndiscrete - LWI_SOURCE_CHOICE);
}

static int part_of(const lwi_work *work, void *discrete)
{
    const part_choice *choice = choice_of(work, discrete);
    return choice ? choice->now : 0;
}

static const lwi_calls *calls_of(const lw_compiled *c, int part)
{
    return part == 0 ? c->calls : c->parts->part[part].calls;
}

static double margin_of(const lw_compiled *c, int part, double t, const double *q)
{
    return sqrt(fmax(0, calls_of(c, part)->margin(t, q, NULL)));
}

// Makes the speeds of x those that follow from the independent ones of the present part.
static void complete_speeds(const use *mine, int part, double t, double *x)
{
    const lw_compiled_info *n = &mine->compiled->info;
    double *v = x + n->nq, *rate = mine->kept;
    const double *states = x + mine->states;
    if (calls_of(mine->compiled, part)
            ->rates(t, x, v, states, NULL, rate, rate + n->nq, rate + mine->states, mine->v, NULL,
                    NULL))
        return;
    if (finite(mine->v, n->nv)) memcpy(v, mine->v, (size_t)n->nv * sizeof *v);
}

// The part of those that the run had with the largest margin at x, or -1.
static int best_visited(const use *mine, const part_choice *choice, double t, const double *x,
                        double *margin)
{
    int best = FORMULATION;
    *margin = 0;
    for (int i = -1; i < choice->nvisited; i++) {
        const int part = i < 0 ? 0 : choice->visited[i];
        const double its = part == choice->now ? 0 : margin_of(mine->compiled, part, t, x);
        if (its > *margin) best = part, *margin = its;
    }
    return best;
}

// A new part, chosen at x; -1: there is none.
static int new_part(const use *mine, const lwi_work *work, part_choice *choice, double t,
                    const double *x)
{
    lwi_arena arena;
    lwi_partition partition;
    double squared = 0;
    int part = FORMULATION;
    if (choice->nvisited == VISITED) return FORMULATION;
    lwi_arena_init(&arena, NULL); // malloc: the caller's allocator serves creation only
    const lw_status status =
        lwi_codegen_partition_at(work->model, t, x, &arena, &partition, &squared, NULL);
    if (status == LW_OK && sqrt(squared) >= mine->smallest)
        part = lwi_compiled_load(mine->compiled, work->model, &partition);
    lwi_arena_free(&arena);
    if (part == LWI_PART_REFUSED) {
        choice->refused = true;
        return FORMULATION;
    }
    for (int i = 0; i < choice->nvisited; i++)
        if (choice->visited[i] == part) return part;
    if (part > 0) choice->visited[choice->nvisited++] = (short)part, choice->steps = 0;
    return part;
}

// Rates by this part from here on.
static void take_part(const use *mine, part_choice *choice, int part, double margin, double t,
                      double *x)
{
    if (choice->now >= 0 && margin >= FLOOR * mine->smallest)
        complete_speeds(mine, choice->now, t, x);
    if (!choice->changes++) {
        choice->entry = t;
        calls_of(mine->compiled, choice->now)->margin(t, x, &choice->joint);
    }
    choice->now = (short)part;
}

// Steps of the formulation before a new part is chosen.
static long pause_of(const part_choice *choice)
{
    return (long)FIRST_PAUSE << choice->nvisited;
}

// The formulation has evaluated another step: is it time to choose a new part?
static bool is_due(part_choice *choice)
{
    const long pause = pause_of(choice);
    return ++choice->steps >= pause && (choice->steps - pause) % SEARCHES == 0;
}

static lw_status pre_step(void *user, lwi_work *work, double t, double *x, bool *changed)
{
    const use *mine = user;
    part_choice *choice = choice_of(work, work->discrete);
    double other = 0, margin = 0;
    if (!choice || !finite(x, work->layout.nx)) return LW_OK; // the next rates say what
    if (choice->now != FORMULATION) {
        margin = margin_of(mine->compiled, choice->now, t, x);
        if (margin >= mine->smallest) return LW_OK;
    }
    int part = best_visited(mine, choice, t, x, &other);
    if (!(other >= fmax(mine->smallest, BETTER * margin))) part = FORMULATION;
    if (part == FORMULATION && choice->now == FORMULATION && is_due(choice))
        part = new_part(mine, work, choice, t, x);
    if (part == choice->now) return LW_OK;
    take_part(mine, choice, part, margin, t, x);
    *changed = true;
    return LW_OK;
}

static void notice(const lwi_work *work, char *text, size_t size)
{
    const part_choice *choice = choice_of(work, work->discrete);
    const use *mine = work->source.user;
    text[0] = 0;
    if (!choice || !choice->changes) return;
    const char *end = "", *reason = "";
    char soon[100];
    if (choice->refused)
        end = "; the formulation evaluates where a partition could not be compiled: ",
        reason = mine->compiled->parts->refused;
    else if (choice->now == FORMULATION && choice->nvisited == VISITED)
        end = "; at the end the formulation evaluates, for a run has no more partitions";
    else if (choice->now == FORMULATION && choice->steps >= pause_of(choice))
        end = "; at the end the formulation evaluates, for no pivot is large enough";
    else if (choice->now == FORMULATION)
        end = soon;
    snprintf(soon, sizeof soon,
             "; at the end the formulation evaluates: after %ld such steps a partition is chosen",
             pause_of(choice));
    snprintf(
        text, size,
        "compiled rates: the partition of closed loops was changed, first at t = %.6g s in the "
        "loop of joint '%.80s' (changes: %d, partitions: %d)%s%s",
        choice->entry, choice->joint ? choice->joint : "", choice->changes, 1 + choice->nvisited,
        end, reason);
}

// --------------------------------------------------------------------------------------- rates

static bool rates(void *user, lwi_work *work, double t, const double *x, const double *inputs,
                  double *xdot)
{
    const use *mine = user;
    const lw_compiled_info *n = &mine->compiled->info;
    const int nx = work->layout.nx, states = mine->states, part = part_of(work, work->discrete);
    if (part == FORMULATION) return false;
    if (calls_of(mine->compiled, part)
            ->rates(t, x, x + n->nq, x + states, inputs, xdot, xdot + n->nq, xdot + states, NULL,
                    xdot + mine->angles, xdot + mine->work))
        return false;
    if (!finite(xdot, nx)) return false; // its message names what
    clear_choice(work, work->discrete);
    return true;
}

static double margin(void *user, const lwi_work *work, double t, const double *x)
{
    const use *mine = user;
    const int part = part_of(work, work->discrete);
    if (part == FORMULATION) return -1;
    if (mine->compiled->calls->timed) return 0; // of rows that depend on time it is not known
    return margin_of(mine->compiled, part, t, x);
}

// Lanes with finite rates.
static unsigned finite_lanes(const double *xdot, int nx, int stride, unsigned lanes)
{
    unsigned good = 0;
    for (int l = 0; lanes >> l; l++) {
        double sum = 0;
        for (int i = 0; i < nx; i++) sum += 0 * xdot[i * stride + l];
        good |= (unsigned)(sum == 0) << l;
    }
    return lanes & good;
}

// Entries of some lanes from one array to another.
static void copy_lanes(int nx, unsigned lanes, int stride, const double *from, int to_stride,
                       double *to)
{
    for (int l = 0; lanes >> l; l++)
        for (int i = 0; i < nx && (lanes >> l & 1u); i++)
            to[i * to_stride + l] = from[i * stride + l];
}

// Those of the lanes that have the part of the first one.
static unsigned same_part(const lwi_work *work, void *const *discrete, unsigned lanes, int *part)
{
    unsigned same = 0;
    for (int l = 0; lanes >> l; l++) {
        if (!(lanes >> l & 1u)) continue;
        const int its = part_of(work, discrete ? discrete[l] : work->discrete);
        if (!same) *part = its;
        same |= (unsigned)(its == *part) << l;
    }
    return same;
}

// A block of lanes, each with its part: all lanes by each of these, which leaves those of others undefined.
static unsigned block_in_lanes(const use *mine, const lwi_work *work, int stride, const double *t,
                               const double *x, const double *const *inputs, double *xdot,
                               unsigned lanes, void *const *discrete)
{
    const lw_compiled_info *n = &mine->compiled->info;
    const int nx = work->layout.nx, states = mine->states;
    unsigned done = 0, kept = 0;
    while (lanes) {
        int part = 0;
        const unsigned now = same_part(work, discrete, lanes, &part);
        lanes &= ~now;
        if (part == FORMULATION) continue;
        if (done & ~kept) copy_lanes(nx, done & ~kept, stride, xdot, LWI_LANES, mine->kept);
        kept = done;
        done |=
            now & ~calls_of(mine->compiled, part)
                       ->rates_lanes(stride, t, x, x + n->nq * stride, x + states * stride, inputs,
                                     xdot, xdot + n->nq * stride, xdot + states * stride,
                                     xdot + mine->angles * stride, xdot + mine->work * stride);
    }
    copy_lanes(nx, kept, LWI_LANES, mine->kept, stride, xdot);
    return done;
}

static unsigned rates_in_lanes(void *user, lwi_work *work, int stride, const double *t,
                               const double *x, const double *const *inputs, double *xdot,
                               unsigned lanes, void *const *discrete)
{
    const use *mine = user;
    const int width = mine->compiled->info.lanes;
    unsigned done = 0;
    if (stride % width != 0) return 0;
    for (int l = 0; l < stride; l += width) {
        const unsigned part = lanes >> l & ((1u << width) - 1);
        if (!part) continue;
        done |= block_in_lanes(mine, work, stride, t + l, x + l, inputs + l, xdot + l, part,
                               discrete ? discrete + l : NULL)
                << l;
    }
    done = finite_lanes(xdot, work->layout.nx, stride, done);
    for (int l = 0; discrete && done >> l; l++)
        if (done >> l & 1u) clear_choice(work, discrete[l]);
    return done;
}

// Formulations that can have compiled rates, with commas.
static const char *names_of_fit(char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < lw_formulation_count(); i++) {
        if (!(lw_formulation_flags(i) & LW_FORMULATION_COMPILED)) continue;
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", lw_formulation_info(i).name);
    }
    return text;
}

static lw_status check_fit(const lw_sim *sim, const lw_compiled *c, lw_error *error)
{
    const lwi_work *work = sim->work;
    const lw_model *m = work->model;
    const lw_compiled_info *n = &c->info;
    char names[100];
    if (m->tree_nq != n->nq || m->tree_nv != n->nv || m->nstate != n->nstate ||
        m->desc.ninput != n->ninput)
        return lwi_fail(
            error, LW_ERR_UNSUPPORTED,
            "%.200s cannot use these compiled rates, which are another model's: expected %d "
            "coordinates, %d speeds, %d states of signals and %d inputs, found %d, %d, %d and %d",
            m->desc.source ? m->desc.source : "the model", m->tree_nq, m->tree_nv, m->nstate,
            m->desc.ninput, n->nq, n->nv, n->nstate, n->ninput);
    if (c->calls->works != m->carries_work)
        return lwi_fail(
            error, LW_ERR_UNSUPPORTED,
            "%.200s cannot use these compiled rates, which are another model's: its forces "
            "or motions do %s",
            m->desc.source ? m->desc.source : "the model", c->calls->works ? "no work" : "work");
    if (!(work->formulation->flags & LWI_TREE_STATE) || lwi_layout_has(&work->layout, LWI_MOMENTUM))
        return lwi_fail(
            error, LW_ERR_UNSUPPORTED,
            "formulation %s cannot use compiled rates: its state is not coordinates and "
            "speeds of the tree; expected one of %s, with the option state: speeds",
            sim->options.formulation, names_of_fit(names, sizeof names));
    return LW_OK;
}

// Memory of the workspace's arena.
static lw_status attach(lwi_work *work, const void *compiled)
{
    const lw_compiled *c = compiled;
    use *u = LWI_PUSH(&work->arena, use, 1);
    if (!u) return LW_ERR_MEMORY;
    *u = (use){.compiled = c,
               .v = LWI_PUSH(&work->arena, double, c->info.nv),
               .kept = LWI_PUSH(&work->arena, double, work->layout.nx *LWI_LANES),
               .states = work->layout.nx - c->info.nstate,
               .angles = c->info.nq + c->info.nv + work->model->carries_work,
               .work = c->info.nq + c->info.nv};
    if (!u->v || !u->kept) return LW_ERR_MEMORY;
    u->smallest =
        fmax(SMALLEST, fmin(LWI_RCR_KEEP, PART * margin_of(c, 0, 0, work->model->tree_q0)));
    work->source = (lwi_rates_source){.rates = rates,
                                      .margin = margin,
                                      .pre_step = c->calls->margins > 0 ? pre_step : NULL,
                                      .notice = c->calls->margins > 0 ? notice : NULL,
                                      .rates_in_lanes = c->info.lanes > 1 ? rates_in_lanes : NULL,
                                      .user = u};
    return LW_OK;
}

lw_status lw_sim_use_compiled(lw_sim *sim, const lw_compiled *c)
{
    if (!sim || !c) return LW_ERR_ARGUMENT;
    TRY(check_fit(sim, c, &sim->error));
    if (attach(sim->work, c) == LW_OK) return LW_OK;
    return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for compiled rates");
}

// The first name that varies and is a parameter of the model.
static const char *varied_parameter(const lw_batch *b)
{
    for (int k = 0; k < b->nvary; k++) {
        lwi_vary vary;
        if (lwi_vary_resolve(b->model, b->vary[k], &vary, NULL) == LW_OK &&
            lwi_vary_of_model(&vary))
            return b->vary[k];
    }
    return "";
}

static lw_status refuse_parameter(const char *parameter, lw_error *error)
{
    return lwi_fail(error, LW_ERR_UNSUPPORTED,
                    "compiled rates cannot be used: %.120s changes the model, and they are of one "
                    "model; expected inputs (input.NAME) and starts (joint.NAME.q0, .qd0) to vary",
                    parameter);
}

static lw_status check_batch(lw_batch *b, const lw_compiled *c)
{
    const lw_sim *first = lwi_batch_sim(b);
    if (!first)
        return lwi_fail(&b->error, LW_ERR_UNSUPPORTED,
                        "compiled rates cannot be used: no instance could begin");
    for (int v = 0; v < b->nvariant; v++)
        if (b->variant[v].own) return refuse_parameter(varied_parameter(b), &b->error);
    return check_fit(first, c, &b->error);
}

// Instances with separate simulations: each as a single one.
static lw_status attach_each(lw_batch *b, const lw_compiled *c)
{
    for (int v = 0; v < b->nvariant; v++) // of instances that could not begin there is none
        if (b->variant[v].sim) TRY(attach(b->variant[v].sim->work, c));
    return LW_OK;
}

lw_status lw_batch_use_compiled(lw_batch *b, const lw_compiled *c)
{
    if (!b || !c) return LW_ERR_ARGUMENT;
    TRY(check_batch(b, c));
    lw_status status = b->alone ? attach_each(b, c) : LW_OK;
    for (int i = 0; i < b->nworker && status == LW_OK; i++)
        status = lwi_worker_each_work(b->worker[i], attach, c);
    return status == LW_OK ? LW_OK : lwi_batch_no_memory(b);
}

static lw_status use_in_group(lw_batch *b, const void *compiled)
{
    return lw_batch_use_compiled(b, compiled);
}

lw_status lw_sweep_use_compiled(lw_sweep *s, const lw_compiled *c)
{
    if (!s || !c) return LW_ERR_ARGUMENT;
    const char *parameter = lwi_sweep_parameter(s);
    if (parameter) return refuse_parameter(parameter, lwi_sweep_failure(s));
    return lwi_sweep_each_batch(s, use_in_group, c);
}
