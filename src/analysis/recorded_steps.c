// recorded_steps.c -- the steps of a run that sweeps need, in little memory.
//
// Times and lengths of all steps are stored, and the rates of their stages while they fit into the memory.  After that
// only states at the beginnings of some steps are: when these are too many, every second one is dropped.  The steps between
// two of them are computed again, once in a sweep, from the first: N steps with C stored states need room for C states and
// for the stages of N / C steps.
#include "analysis/recording.h"

#include <string.h>

#define FEWEST 512 // states that may be stored, however large they are

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
}

static bool grow(void **array, size_t used, size_t room, const lw_allocator *allocator)
{
    void *made = lwi_allocate(allocator, room);
    if (!made) return false;
    if (used) memcpy(made, *array, used);
    lwi_release(allocator, *array);
    *array = made;
    return true;
}

// Doubles needed for the rates of one step.
static size_t rates_of_step(const lwi_recording *s)
{
    return (size_t)s->tableau->stages * (size_t)s->nx;
}

static void drop_rates(lwi_recording *s)
{
    lwi_release(&s->arena.allocator, s->path.K);
    s->path.K = NULL;
    s->path.rates = false;
}

// Of step `count`, its stages are in s->K; where they are too many, or there is no memory, none are stored.
static void store_rates(lwi_recording *s)
{
    lwi_recorded_steps *p = &s->path;
    const size_t step = rates_of_step(s), count = (size_t)p->count;
    if (!p->rates) return;
    if ((count + 1) * step * sizeof *p->K > s->memory) {
        drop_rates(s);
        return;
    }
    if (p->count == p->rate_room) {
        const size_t more = 2 * count + 64;
        if (!grow((void **)&p->K, count * step * sizeof *p->K, more * step * sizeof *p->K,
                  &s->arena.allocator)) {
            drop_rates(s);
            return;
        }
        p->rate_room = (long)more;
    }
    memcpy(p->K + count * step, s->K, step * sizeof *p->K);
}

// Every second state is dropped.
static void thin_states(lwi_recording *s)
{
    lwi_recorded_steps *p = &s->path;
    const size_t nx = (size_t)s->nx;
    drop_rates(s);
    for (long i = 1; 2 * i < p->stored; i++)
        memcpy(p->x + (size_t)i * nx, p->x + (size_t)(2 * i) * nx, nx * sizeof *p->x);
    p->stored = (p->stored + 1) / 2;
    p->stride *= 2;
}

static lw_status store_state(lwi_recording *s, const double *x, lw_error *error)
{
    lwi_recorded_steps *p = &s->path;
    const size_t nx = (size_t)s->nx, limit = s->memory / (rates_of_step(s) * sizeof *x + 1);
    if (p->count % p->stride != 0) return LW_OK;
    if (p->stored >= (long)(limit > FEWEST ? limit : FEWEST)) thin_states(s);
    if (p->count % p->stride != 0) return LW_OK;
    if (p->stored == p->room) {
        const size_t more = 2 * (size_t)p->stored + 64;
        if (!grow((void **)&p->x, (size_t)p->stored * nx * sizeof *x, more * nx * sizeof *x,
                  &s->arena.allocator))
            return no_memory(error);
        p->room = (long)more;
    }
    memcpy(p->x + (size_t)p->stored++ * nx, x, nx * sizeof *x);
    return LW_OK;
}

lw_status lwi_recording_append(lwi_recording *s, double t, double h, const double *x,
                               lw_error *error)
{
    lwi_recorded_steps *p = &s->path;
    const lw_allocator *allocator = &s->arena.allocator;
    const size_t count = (size_t)p->count, nmode = (size_t)s->model->nmode;
    if (p->count == 0) p->stride = 1, p->rates = !s->sim, p->first = -1;
    if (p->count == p->capacity) {
        const size_t more = 2 * count + 64;
        if (!grow((void **)&p->t, count * sizeof *p->t, more * sizeof *p->t, allocator) ||
            !grow((void **)&p->h, count * sizeof *p->h, more * sizeof *p->h, allocator) ||
            (nmode && !grow((void **)&p->mode, count * nmode, more * nmode, allocator)))
            return no_memory(error);
        p->capacity = (long)more;
    }
    if (s->njump && s->jump[s->njump - 1].step == p->count) {
        lwi_recorded_jump *jump = &s->jump[s->njump - 1];
        if (!(jump->start = LWI_PUSH(&s->arena, double, s->nx))) return no_memory(error);
        memcpy(jump->start, x, (size_t)s->nx * sizeof *x);
    }
    if (!p->last && !(p->last = LWI_PUSH(&s->arena, double, s->nx))) return no_memory(error);
    TRY(store_state(s, x, error));
    store_rates(s);
    memcpy(p->last, x, (size_t)s->nx * sizeof *x);
    p->t[count] = t;
    p->h[count] = h;
    if (nmode) memcpy(p->mode + count * nmode, s->mode_here, nmode);
    p->count++;
    return LW_OK;
}

void lwi_recording_release(lwi_recording *s)
{
    lwi_recorded_steps *p = &s->path;
    void *const array[] = {p->t, p->h, p->x, p->K, p->mode, p->piece_x, p->piece_K};
    for (int i = 0; i < LWI_COUNT(array); i++) lwi_release(&s->arena.allocator, array[i]);
}

// ------------------------------------------------------------------------------------------- again

// The state that a step begins with after a jump; NULL: there was none before it.
static const double *start_after_jump(const lwi_recording *s, long step)
{
    long low = 0, high = s->njump; // jumps before `low` are at steps up to `step`
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (s->jump[middle].step <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && s->jump[low - 1].step == step ? s->jump[low - 1].start : NULL;
}

// The steps between two stored states, of which `step` is one, with their rates.
static lw_status compute_again(lwi_recording *s, long step, lw_error *error)
{
    lwi_recorded_steps *p = &s->path;
    const size_t nx = (size_t)s->nx, rates = rates_of_step(s);
    const long first = step - step % p->stride,
               end = first + p->stride < p->count ? first + p->stride : p->count;
    if (p->first == first) return LW_OK;
    p->first = -1;
    if (p->piece_room < p->stride) {
        const size_t more = (size_t)p->stride;
        if (!grow((void **)&p->piece_x, 0, more * nx * sizeof(double), &s->arena.allocator) ||
            !grow((void **)&p->piece_K, 0, more * rates * sizeof(double), &s->arena.allocator))
            return no_memory(error);
        p->piece_room = p->stride;
    }
    memcpy(p->piece_x, p->x + (size_t)(first / p->stride) * nx, nx * sizeof *p->x);
    for (long i = first; i < end; i++) {
        double *x = p->piece_x + (size_t)(i - first) * nx;
        lwi_recording_take_modes(s, i);
        TRY(lwi_recording_step(s, p->t[i], p->h[i], x, error));
        memcpy(p->piece_K + (size_t)(i - first) * rates, s->K, rates * sizeof *s->K);
        const double *start = start_after_jump(s, i + 1);
        if (i + 1 < end) memcpy(x + nx, start ? start : s->next, nx * sizeof *x);
    }
    p->first = first;
    return LW_OK;
}

lw_status lwi_recording_state(lwi_recording *s, long step, const double **x, lw_error *error)
{
    const lwi_recorded_steps *p = &s->path;
    const size_t nx = (size_t)s->nx;
    if (step == p->count) {
        *x = p->last;
    } else if (p->stride == 1) {
        *x = p->x + (size_t)step * nx;
    } else {
        TRY(compute_again(s, step, error));
        *x = p->piece_x + (size_t)(step - p->first) * nx;
    }
    return LW_OK;
}

lw_status lwi_recording_place_stages(lwi_recording *s, long step, const double **K, lw_error *error)
{
    const lwi_recorded_steps *p = &s->path;
    const size_t rates = rates_of_step(s);
    const double *x;
    if (!p->K) TRY(compute_again(s, step, error));
    TRY(lwi_recording_state(s, step, &x, error));
    *K = p->K ? p->K + (size_t)step * rates : p->piece_K + (size_t)(step - p->first) * rates;
    for (int i = 0; i < s->tableau->stages; i++)
        lwi_recording_place_stage(s, (size_t)i, p->h[step], x, *K);
    lwi_recording_take_modes(s, step);
    return LW_OK;
}
