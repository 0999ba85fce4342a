// events.c -- events of a model in results: each with its time and the row at or after it.
#include "io/result/result.h"

#include <string.h>

static void widen(int room[2], const char *name, const char *action)
{
    const int need[2] = {(int)strlen(name) + 1, (int)strlen(action) + 1};
    for (int k = 0; k < 2; k++)
        if (need[k] > room[k]) room[k] = need[k];
}

void lwi_result_event_room(const lw_model *model, int room[2])
{
    room[0] = room[1] = 0;
    for (int i = 0; i < lw_model_event_count(model); i++)
        widen(room, lw_model_event_name(model, i), lw_model_event_action(model, i));
}

lw_status lwi_result_find_event_room(lw_result *result, lw_error *error)
{
    const lw_result_event *event = NULL;
    long n = 0;
    TRY(lw_result_events(result, &event, &n, error));
    for (long i = 0; i < n; i++) widen(result->meta.event_room, event[i].name, event[i].action);
    return LW_OK;
}

lw_status lwi_result_write_events(const lw_model *model, const lw_observation *o, long row,
                                  int instance, lwi_hdf5_writer *writer)
{
    for (int i = 0; i < o->noccurrence; i++) {
        const lw_occurrence *one = &o->occurrence[i];
        const lw_result_event event = {.time = one->time,
                                       .row = row,
                                       .instance = instance,
                                       .name = lw_model_event_name(model, one->event),
                                       .action = lw_model_event_action(model, one->event)};
        TRY(lwi_hdf5_event(writer, &event));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ reading

static lw_status read_all(lw_result *r, lw_error *error)
{
    if (r->read_events) return LW_OK;
    if (r->memory) r->event = lwi_result_memory_events(r->memory, &r->nevent);
    if (r->hdf5) TRY(lwi_hdf5_events(r->hdf5, &r->arena, &r->event, &r->nevent, error));
    r->read_events = true;
    return LW_OK;
}

// Place of a row among those of the instance that is selected, which increase.
static long place_of(const lw_result *r, long row)
{
    long low = 0, high = r->npicked;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (r->picked[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Events of the instance that is selected, rows counted among its own.
static lw_status pick(lw_result *r, long *count, lw_error *error)
{
    lwi_release(NULL, r->picked_event);
    r->picked_event = lwi_allocate(NULL, ((size_t)r->nevent + 1) * sizeof *r->picked_event);
    if (!r->picked_event) return lwi_fail(error, LW_ERR_MEMORY, "no memory for events");
    for (long i = 0; i < r->nevent; i++) {
        const long place = place_of(r, r->event[i].row);
        if (place == r->npicked || r->picked[place] != r->event[i].row) continue;
        r->picked_event[*count] = r->event[i];
        r->picked_event[(*count)++].row = place;
    }
    return LW_OK;
}

lw_status lw_result_events(lw_result *result, const lw_result_event **events, long *count,
                           lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!result || !events || !count)
        return lwi_fail(error, LW_ERR_ARGUMENT, "result, events and count must be given");
    long n = 0;
    TRY(read_all(result, error));
    if (result->picked) TRY(pick(result, &n, error));
    *events = result->picked ? result->picked_event : result->event;
    *count = result->picked ? n : result->nevent;
    return LW_OK;
}
