// memory.c -- results in memory: the rows of a writer become a result.
#include "base/assert.h"
#include "io/result/result.h"
#include "simulate/simulation.h"

#include <string.h>

enum { FIRST_ROOM = 256 }; // rows; doubled when full

struct lwi_result_memory {
    lwi_result_columns columns;
    lw_column_info *column; // [columns.n]
    lwi_result_rows rows;
    lw_options options;
    lwi_result_meta meta;
    lw_summary summary;
    long count, room;
    double *value, *state;       // [room][columns.n], [room][meta.nx]
    unsigned char *undetermined; // [joint] of the first row
    lw_result_event *known;      // [events of the model] with their names
    lw_result_event *event;      // [nevent, event_room]
    long nevent, event_room;
    lwi_arena arena; // all but the rows
};

// The names of events, which the result needs without the model.
static lw_status name_events(lwi_result_memory *m, const lw_model *model)
{
    const int n = lw_model_event_count(model);
    m->known = LWI_PUSH(&m->arena, lw_result_event, n);
    if (!m->known) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        m->known[i].name = lwi_arena_text(&m->arena, lw_model_event_name(model, i));
        m->known[i].action = lwi_arena_text(&m->arena, lw_model_event_action(model, i));
        if (!m->known[i].name || !m->known[i].action) return LW_ERR_MEMORY;
    }
    return LW_OK;
}

static lw_status fill(lwi_result_memory *m, const lw_sim *sim, lw_observe level, lw_error *error)
{
    const lw_model *model = lw_sim_model(sim);
    TRY(lwi_result_columns_choose(model, level, lw_sim_options(sim)->columns, &m->columns, error));
    TRY(lwi_result_rows_create(model, &m->columns, &m->arena, &m->rows));
    m->column = LWI_PUSH(&m->arena, lw_column_info, m->columns.n);
    m->undetermined = LWI_PUSH(&m->arena, unsigned char, model->njoint);
    m->meta.nx = lw_sim_state_size(sim);
    TRY(name_events(m, model));
    return m->column && m->undetermined ? LW_OK : LW_ERR_MEMORY;
}

lw_status lwi_result_memory_create(const lw_sim *sim, lw_observe level, lwi_result_memory **memory,
                                   lw_error *error)
{
    lwi_result_memory *m = lwi_allocate(NULL, sizeof *m);
    if (!m) return LW_ERR_MEMORY;
    *m = (lwi_result_memory){0};
    lwi_arena_init(&m->arena, NULL);
    const lw_status status = fill(m, sim, level, error);
    if (status == LW_OK)
        *memory = m;
    else
        lwi_result_memory_free(m);
    return status;
}

void lwi_result_memory_free(lwi_result_memory *m)
{
    if (!m) return;
    lwi_release(NULL, m->value);
    lwi_release(NULL, m->state);
    lwi_release(NULL, m->event);
    lwi_result_columns_free(&m->columns);
    lwi_arena_free(&m->arena);
    lwi_release(NULL, m);
}

lwi_result_rows *lwi_result_memory_rows(lwi_result_memory *m)
{
    return &m->rows;
}
const lwi_result_columns *lwi_result_memory_columns(const lwi_result_memory *m)
{
    return &m->columns;
}

// -------------------------------------------------------------------------------------------- rows

static bool grow(double **block, long width, long count, long room)
{
    double *larger = lwi_allocate(NULL, (size_t)room * (size_t)(width + 1) * sizeof *larger);
    if (!larger) return false;
    if (count) memcpy(larger, *block, (size_t)count * (size_t)width * sizeof *larger);
    lwi_release(NULL, *block);
    *block = larger;
    return true;
}

static lw_status add_events(lwi_result_memory *m, const lw_observation *o)
{
    while (m->nevent + o->noccurrence > m->event_room) {
        const long room = m->event_room ? 2 * m->event_room : FIRST_ROOM;
        lw_result_event *longer = lwi_allocate(NULL, (size_t)room * sizeof *longer);
        if (!longer) return LW_ERR_MEMORY;
        if (m->nevent) memcpy(longer, m->event, (size_t)m->nevent * sizeof *longer);
        lwi_release(NULL, m->event);
        m->event = longer, m->event_room = room;
    }
    for (int i = 0; i < o->noccurrence; i++) {
        lw_result_event *event = &m->event[m->nevent++];
        *event = m->known[o->occurrence[i].event];
        event->time = o->occurrence[i].time, event->row = m->count;
    }
    return LW_OK;
}

lw_status lwi_result_memory_row(lwi_result_memory *m, const lw_sim *sim, const lw_observation *o)
{
    const int n = m->columns.n, nx = m->meta.nx;
    if (m->count == m->room) {
        const long room = m->room ? 2 * m->room : FIRST_ROOM;
        if (!grow(&m->value, n, m->count, room) || !grow(&m->state, nx, m->count, room))
            return LW_ERR_MEMORY;
        m->room = room;
    }
    TRY(lwi_result_rows_fill(&m->rows, o));
    TRY(add_events(m, o));
    LWI_ASSERT_INDEX(m->count, m->room);
    LWI_ASSERT(m->rows.n == n);
    memcpy(m->value + m->count * n, m->rows.row, (size_t)n * sizeof *m->value);
    lw_sim_get_state(sim, NULL, m->state + m->count * nx);
    for (int j = 0; !m->count && o->reaction_undetermined && j < m->rows.model->njoint; j++)
        m->undetermined[j] = o->reaction_undetermined[j];
    m->count++;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ result

// Copies what the simulation owns: the result outlives it.
static lw_status copy_meta(lwi_result_memory *m, const lw_sim *sim)
{
    lwi_result_meta *meta = &m->meta;
    TRY(lwi_result_meta_of(sim, m->rows.model, &m->arena, meta));
    m->options = *meta->options;
    meta->options = &m->options;
    meta->formulation = m->options.formulation;
    lw_sim_summary(sim, &m->summary);
    meta->summary = &m->summary;
    meta->notice = lwi_arena_text(&m->arena, meta->notice);
    return meta->notice ? LW_OK : LW_ERR_MEMORY;
}

static lw_status name_columns(lwi_result_memory *m)
{
    const bool reactions = m->rows.level >= LW_OBSERVE_REACTION && m->count;
    for (int i = 0; i < m->columns.n; i++) {
        const lwi_result_column *c = &m->columns.column[i];
        const char *name = lwi_arena_text(&m->arena, c->name);
        if (!name) return LW_ERR_MEMORY;
        m->column[i] = (lw_column_info){name, c->unit, c->frame, 0};
        if (reactions && c->joint >= 0) m->column[i].undetermined = m->undetermined[c->joint];
    }
    return LW_OK;
}

lw_status lwi_result_memory_finish(lwi_result_memory *m, const lw_sim *sim, lw_result *r)
{
    TRY(copy_meta(m, sim));
    TRY(name_columns(m));
    r->path = "the result";
    r->column = m->column, r->n = m->columns.n, r->rows = m->count;
    TRY(lwi_result_sort_names(r));
    r->meta = m->meta;
    r->memory = m;
    m->rows.model = NULL; // it may have been destroyed
    return LW_OK;
}

const double *lwi_result_memory_values(const lwi_result_memory *m)
{
    return m->value;
}
const lw_result_event *lwi_result_memory_events(const lwi_result_memory *m, long *count)
{
    *count = m->nevent;
    return m->event;
}
const double *lwi_result_memory_states(const lwi_result_memory *m)
{
    return m->state;
}

lw_status lwi_result_memory_write(const lwi_result_memory *m, const char *path, lw_error *error)
{
    lwi_hdf5_writer *writer;
    lw_error closing;
    TRY(lwi_hdf5_create(path, &m->columns, &m->meta, (double)m->count, 0, &writer, error));
    lw_status status = LW_OK;
    for (long i = 0; i < m->nevent && status == LW_OK; i++)
        status = lwi_hdf5_event(writer, &m->event[i]);
    for (long k = 0; k < m->count && status == LW_OK; k++)
        status = lwi_hdf5_row(writer, m->value + k * m->columns.n, m->state + k * m->meta.nx,
                              m->undetermined);
    const lw_status closed = lwi_hdf5_close(writer, &closing);
    if (closed == LW_OK) return status;
    if (error) *error = closing; // of a failed row too
    return closed;
}
