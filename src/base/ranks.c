// ranks.c -- messages between ranks, and what each has computed to all of them (ranks.h).
#include "base/ranks.h"

#include "base/assert.h"

#include <string.h>

void lwi_ranks_exchange(lwi_ranks *ranks, int to, const void *out, size_t out_size, int from,
                        void *in, size_t in_size)
{
    const lw_ranks *of = &ranks->of;
    LWI_ASSERT(to < of->count && from < of->count && to != of->rank && from != of->rank);
    if (!ranks->failed && of->exchange(of->user, to, out, out_size, from, in, in_size))
        ranks->failed = true;
}

void lwi_ranks_send(lwi_ranks *ranks, int to, const void *data, size_t size)
{
    lwi_ranks_exchange(ranks, to, data, size, -1, NULL, 0);
}

void lwi_ranks_receive(lwi_ranks *ranks, int from, void *data, size_t size)
{
    lwi_ranks_exchange(ranks, -1, NULL, 0, from, data, size);
}

// ------------------------------------------------------------------------------------------ gather

void lwi_ranks_add(lwi_ranks_run *run, int from, int *nrun, int array, int first, int n)
{
    lwi_ranks_run *last = *nrun > from ? &run[*nrun - 1] : NULL;
    if (n == 0) return;
    if (last && last->array == array && last->first + last->n == first)
        last->n += n;
    else
        run[(*nrun)++] = (lwi_ranks_run){array, first, n};
}

lw_status lwi_ranks_gather_create(const lwi_ranks *ranks, int room, lwi_arena *arena,
                                  lwi_ranks_gather *of)
{
    of->run = LWI_PUSH(arena, lwi_ranks_run, room);
    of->first = LWI_PUSH(arena, int, ranks->of.count + 1);
    of->numbers = LWI_PUSH(arena, size_t, ranks->of.count);
    return of->run && of->first && of->numbers ? LW_OK : LW_ERR_MEMORY;
}

// Each rank's numbers are followed by whether it is valid.
lw_status lwi_ranks_gather_end(const lwi_ranks *ranks, lwi_arena *arena, lwi_ranks_gather *of)
{
    size_t all = 0;
    for (int r = 0; r < ranks->of.count; r++) {
        of->numbers[r] = 1;
        for (int i = of->first[r]; i < of->first[r + 1]; i++)
            of->numbers[r] += (size_t)of->run[i].n;
        all += of->numbers[r];
    }
    of->block = LWI_PUSH(arena, double, all);
    return of->block ? LW_OK : LW_ERR_MEMORY;
}

static double *pack(const lwi_ranks_gather *of, int rank, double *const *array, double *to)
{
    for (int i = of->first[rank]; i < of->first[rank + 1]; i++) {
        const lwi_ranks_run *run = &of->run[i];
        memcpy(to, array[run->array] + run->first, (size_t)run->n * sizeof *to);
        to += run->n;
    }
    return to;
}

static const double *unpack(const lwi_ranks_gather *of, int rank, double *const *array,
                            const double *from)
{
    for (int i = of->first[rank]; i < of->first[rank + 1]; i++) {
        const lwi_ranks_run *run = &of->run[i];
        memcpy(array[run->array] + run->first, from, (size_t)run->n * sizeof *from);
        from += run->n;
    }
    return from;
}

// Numbers of the blocks of `n` ranks from this one on.
static size_t numbers_of(const lwi_ranks *ranks, const lwi_ranks_gather *of, int from, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++) sum += of->numbers[(from + i) % ranks->of.count];
    return sum;
}

// In round i each rank has the blocks of 2^i ranks from itself on, and takes those of as many ranks more from the rank
// that they begin with.
bool lwi_ranks_gather_all(lwi_ranks *ranks, const lwi_ranks_gather *of, double *const *array,
                          bool valid)
{
    const int me = ranks->of.rank, count = ranks->of.count;
    *pack(of, me, array, of->block) = valid;
    size_t have = of->numbers[me];
    for (int d = 1; d < count; d *= 2) {
        const int n = d < count - d ? d : count - d, from = (me + d) % count;
        const size_t out = numbers_of(ranks, of, me, n), in = numbers_of(ranks, of, from, n);
        lwi_ranks_exchange(ranks, (me - d + count) % count, of->block, out * sizeof(double), from,
                           of->block + have, in * sizeof(double));
        have += in;
    }
    if (ranks->failed) return false;
    const double *at = of->block + of->numbers[me];
    for (int i = 1; i < count; i++) {
        at = unpack(of, (me + i) % count, array, at);
        valid = *at++ != 0 && valid;
    }
    return valid;
}
