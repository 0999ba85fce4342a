// row.c -- the numbers of a row, in the order of the columns, and back.
//
// Readers of rows can rely on this: every number is finite, and quaternions change their sign from
// row to row only where the attitude requires it.
#include "base/assert.h"
#include "io/result/columns.h"
#include "io/result/measures.h"
#include "kinematics/kernels.h"
#include "spatial/rotation.h"

#include <string.h>

// Entries of one quantity with the same number of components, at constant distances in the array and in
// the row: in a chain of revolute joints, one run has the positions of all bodies.
struct lwi_result_run {
    const lwi_quantity *quantity;
    bool quaternion;     // the last four components are one
    bool view, measure;  // reactions elsewhere; measures
    int count, n;        // entries, components of each
    int from, from_step; // index in the quantity's array
    int to, to_step;     // index in the row
};

// ------------------------------------------------------------------------------------------ a row

// The caller passes n as a constant where it can, so that the compiler unrolls the copy.
static inline void copy_run(const lwi_result_run *run, const double *x, double *to, int n)
{
    for (int i = 0; i < run->count; i++, x += run->from_step, to += run->to_step)
        memcpy(to, x, (size_t)n * sizeof *to);
}

static void copy_vectors(const lwi_result_run *run, const double *x, double *to)
{
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    if (kernels && kernels->copy &&
        kernels->copy(x, run->from_step, to, run->to_step, run->n, run->count))
        return;
    switch (run->n) {
    case 1:
        copy_run(run, x, to, 1);
        break;
    case 3:
        copy_run(run, x, to, 3);
        break;
    case 6:
        copy_run(run, x, to, 6);
        break;
    default:
        copy_run(run, x, to, run->n);
    }
}

// q and -q are the same attitude: the one nearer to that of the row before.
static inline void copy_quaternion(const double *x, double *to)
{
    double q[4];
    memcpy(q, x, sizeof q);
    quat_continue(q, to);
    memcpy(to, q, sizeof q);
}

static void copy_quaternions(const lwi_result_run *run, const double *x, double *to)
{
    const int vector = run->n - 4;
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    LWI_ASSERT(vector >= 0);
    if (kernels && kernels->continue_quaternions && vector == 0) {
        kernels->continue_quaternions(x, run->from_step, to, run->to_step, run->count);
        return;
    }
    for (int i = 0; i < run->count; i++, x += run->from_step, to += run->to_step) {
        for (int k = 0; k < vector; k++) to[k] = x[k];
        copy_quaternion(x + vector, to + vector);
    }
}

static void fill_run(const lwi_result_run *run, const lwi_result_values *values, double *row)
{
    const bool force = run->quantity->subject == LWI_RESULT_FORCE;
    const double *array = run->view      ? values->view[0]
                          : run->measure ? values->measure
                          : force        ? values->observation->output
                                         : run->quantity->array(values);
    if (!array) return; // above the level of the observation: of a measure that no column needs
    const double *x = run->from + array;
    if (run->quaternion)
        copy_quaternions(run, x, row + run->to);
    else
        copy_vectors(run, x, row + run->to);
}

// x - x is 0 if x is finite, otherwise NaN.  Four sums without a branch, for vector instructions.
static bool all_finite(const double *x, int n)
{
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    if (kernels) return kernels->finite(x, n);
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += x[i + k] - x[i + k];
    for (; i < n; i++) sum[0] += x[i] - x[i];
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

lw_status lwi_result_rows_fill(lwi_result_rows *rows, const lw_observation *observation)
{
    lwi_result_values_compute(rows->model, rows->level, observation, &rows->values);
    for (int i = 0; i < rows->nview; i++)
        lwi_result_view_compute(rows->model, observation, &rows->view[i], rows->values.view[i]);
    if (rows->measures)
        TRY(lwi_measures_evaluate(rows->measures, rows->model, rows->formulas, observation,
                                  rows->values.measure));
    for (int i = 0; i < rows->nrun; i++) fill_run(&rows->run[i], &rows->values, rows->row);
    return all_finite(rows->row, rows->n) ? LW_OK : LW_ERR_NOT_FINITE;
}

// ------------------------------------------------------------------------------------------- runs

// Grows; there are few, where items of one kind have the same quantities.
typedef struct run_list {
    lwi_arena *arena;
    lwi_result_run *run;
    int n, room;
} run_list;

static lw_status append(run_list *list, const lwi_result_run *run)
{
    enum { FIRST = 32 };
    if (run->count == 0) return LW_OK;
    if (list->n == list->room) {
        const int room = list->room ? 2 * list->room : FIRST;
        lwi_result_run *larger = LWI_PUSH(list->arena, lwi_result_run, room);
        if (!larger) return LW_ERR_MEMORY;
        if (list->n) memcpy(larger, list->run, (size_t)list->n * sizeof *larger);
        list->run = larger, list->room = room;
    }
    list->run[list->n++] = *run;
    return LW_OK;
}

// Adds an entry to the run, if it is at the run's distances from the entry before.
static bool extend(lwi_result_run *run, int from, int to, int n)
{
    if (run->count == 0 || n != run->n) return false;
    if (run->count == 1) run->from_step = from - run->from, run->to_step = to - run->to;
    if (from != run->from + run->count * run->from_step ||
        to != run->to + run->count * run->to_step)
        return false;
    run->count++;
    return true;
}

// Numbers of forces lie side by side in both: their quantities do not matter.  Reactions elsewhere come last.
enum { FORCES = 62, VIEWS, BINS }; // before them: index of the quantity
enum { MEASURES = 61 };

static inline int bin_of(const lwi_result_entry *e, const lwi_quantity *first)
{
    const lwi_quantity *q = e->quantity;
    if (e->view) return VIEWS;
    if (q->subject == LWI_RESULT_FORCE) return FORCES;
    if (q->subject == LWI_RESULT_MEASURE) return MEASURES;
    const long k = q - first;
    LWI_ASSERT(k >= 0 && k < MEASURES);
    return (int)k;
}

// Entries of each bin in their order: entry[first[g]] ... entry[first[g + 1] - 1].
typedef struct bins {
    const lwi_result_columns *columns;
    int first[BINS + 1];
    int *entry, *to; ///< [nentry] index, and index of the first number in the row
    signed char *of; ///< [nentry] bin of each
} bins;

static lw_status sort_entries(const lwi_result_columns *columns, lwi_arena *scratch, bins *g)
{
    const lwi_quantity *first = lwi_result_quantity_at(0);
    int next[BINS];
    *g = (bins){.columns = columns,
                .entry = LWI_PUSH(scratch, int, columns->nentry),
                .to = LWI_PUSH(scratch, int, columns->nentry),
                .of = LWI_PUSH(scratch, signed char, columns->nentry)};
    if (!g->entry || !g->to || !g->of) return LW_ERR_MEMORY;
    for (int i = 0; i < columns->nentry; i++) {
        g->of[i] = (signed char)bin_of(&columns->entry[i], first);
        g->first[g->of[i] + 1]++;
    }
    for (int k = 0; k < BINS; k++) g->first[k + 1] += g->first[k];
    memcpy(next, g->first, sizeof next);
    for (int i = 0, to = 0; i < columns->nentry; to += columns->entry[i++].n) {
        const int at = next[g->of[i]]++;
        g->entry[at] = i, g->to[at] = to;
    }
    return LW_OK;
}

static lw_status append_bin(run_list *list, const bins *g, int bin)
{
    lwi_result_run run = {0};
    for (int i = g->first[bin]; i < g->first[bin + 1]; i++) {
        const lwi_result_entry *e = &g->columns->entry[g->entry[i]];
        if (extend(&run, e->first, g->to[i], e->n)) continue;
        TRY(append(list, &run));
        // a quaternion is there as a whole or not at all, and last
        run = (lwi_result_run){.quantity = e->quantity,
                               .quaternion = e->quantity->quaternion && e->n >= 4,
                               .view = bin == VIEWS,
                               .measure = bin == MEASURES,
                               .count = 1,
                               .n = e->n,
                               .from = e->first,
                               .to = g->to[i]};
    }
    return append(list, &run);
}

static lw_status make_runs(const lwi_result_columns *columns, lwi_arena *arena, run_list *list)
{
    lwi_arena scratch;
    bins g;
    lwi_arena_init(&scratch, NULL);
    lw_status status = sort_entries(columns, &scratch, &g);
    *list = (run_list){.arena = arena};
    for (int k = 0; k < BINS && status == LW_OK; k++) status = append_bin(list, &g, k);
    lwi_arena_free(&scratch);
    return status;
}

lw_status lwi_result_rows_create(const lw_model *model, const lwi_result_columns *columns,
                                 lwi_arena *arena, lwi_result_rows *rows)
{
    LWI_ASSERT(columns->nentry > 0); // columns of a model, not of names
    run_list list = {0};
    TRY(make_runs(columns, arena, &list));
    *rows = (lwi_result_rows){.model = model,
                              .level = columns->level,
                              .run = list.run,
                              .view = columns->view,
                              .nview = columns->nview,
                              .measures = columns->measures};
    for (int i = 0; i < columns->nentry; i++) rows->n += columns->entry[i].n;
    rows->row = LWI_PUSH(arena, double, rows->n);
    rows->values.marker = LWI_PUSH(arena, lwi_result_marker, model->desc.nmarker);
    const int impacts = lwi_result_has_impacts(model) ? model->njoint : 0;
    rows->values.none = lwi_arena_push(arena, (size_t)impacts, sizeof *rows->values.none);
    rows->values.view = lwi_arena_push(arena, (size_t)columns->nview, sizeof *rows->values.view);
    rows->values.measure = LWI_PUSH(arena, double, model->desc.nmeasure);
    if (!rows->values.view || !rows->values.measure) return LW_ERR_MEMORY;
    if (!rows->row || !rows->values.marker || !rows->values.none) return LW_ERR_MEMORY;
    rows->nrun = list.n;
    return LW_OK;
}

// --------------------------------------------------------------------------------- motion of a row

static lw_status allocate_motion(const lw_model *model, lwi_arena *arena, lw_observation *o)
{
    const size_t n = (size_t)model->nbody;
    double(*quaternion)[4] = lwi_arena_push(arena, n, sizeof *quaternion);
    *o = (lw_observation){.level = LW_OBSERVE_ENERGY,
                          .position = lwi_arena_push(arena, n, sizeof *o->position),
                          .quaternion = (const double(*)[4])quaternion,
                          .velocity = lwi_arena_push(arena, n, sizeof *o->velocity),
                          .angular_velocity = lwi_arena_push(arena, n, sizeof *o->velocity),
                          .q = LWI_PUSH(arena, double, model->nq),
                          .qd = LWI_PUSH(arena, double, model->nv)};
    if (!quaternion || !o->position || !o->velocity || !o->angular_velocity || !o->q || !o->qd)
        return LW_ERR_MEMORY;
    quaternion[0][0] = 1; // the ground
    return LW_OK;
}

lw_status lwi_result_row_motion(const lw_model *model, const lwi_result_columns *columns,
                                const double *row, lwi_arena *arena, lw_observation *motion)
{
    const lwi_result_values values = {.observation = motion};
    TRY(allocate_motion(model, arena, motion));
    for (int i = 0; i < columns->nentry; row += columns->entry[i++].n) {
        const lwi_result_entry *e = &columns->entry[i];
        if (e->quantity->resume == LWI_RESULT_FOLLOWS) continue;
        double *to = (double *)e->quantity->array(&values) + e->first; // not const in a motion
        memcpy(to, row, (size_t)e->n * sizeof *to);
    }
    return LW_OK;
}
