// row.c -- the numbers of a row, in the order of the columns, and back.
//
// Readers of rows can rely on this: every number is finite, and quaternions change their sign from
// row to row only where the attitude requires it.
#include "base/assert.h"
#include "io/result/columns.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

lw_status lwi_result_rows_fill(lwi_result_rows *rows, const lw_observation *observation)
{
    double room[LWI_RESULT_PARTS], quaternion[4];
    double *to = rows->row;
    for (int i = 0; i < rows->nentry; i++) {
        const lwi_result_entry *e = &rows->entry[i];
        const double *x = e->quantity->values(rows->model, observation, e->item, room) + e->from;
        const int vector = e->n - (e->quantity->quaternion ? 4 : 0);
        LWI_ASSERT(e->from >= 0 && vector >= 0);
        for (int k = 0; k < vector; k++) to[k] = x[k];
        if (vector < e->n) { // q and -q are the same attitude: the one nearer to the row before
            memcpy(quaternion, x + vector, sizeof quaternion);
            quat_continue(quaternion, to + vector);
            memcpy(to + vector, quaternion, sizeof quaternion);
        }
        to += e->n;
    }
    LWI_ASSERT(to == rows->row + rows->n);
    for (int i = 0; i < rows->n; i++)
        if (!isfinite(rows->row[i])) return LW_ERR_NOT_FINITE;
    return LW_OK;
}

lw_status lwi_result_rows_create(const lw_model *model, lw_observe level,
                                 const lwi_result_columns *columns, lwi_arena *arena,
                                 lwi_result_rows *rows)
{
    *rows = (lwi_result_rows){.model = model, .level = level, .entry = columns->entry};
    rows->nentry = columns->nentry;
    LWI_ASSERT(rows->nentry > 0); // columns of a model, not of names
    for (int i = 0; i < rows->nentry; i++) rows->n += rows->entry[i].n;
    rows->row = LWI_PUSH(arena, double, rows->n);
    return rows->row ? LW_OK : LW_ERR_MEMORY;
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
    double room[LWI_RESULT_PARTS];
    TRY(allocate_motion(model, arena, motion));
    for (int i = 0; i < columns->nentry; row += columns->entry[i++].n) {
        const lwi_result_entry *e = &columns->entry[i];
        if (e->quantity->resume == LWI_RESULT_FOLLOWS) continue;
        // these values are in arrays of the motion, which are not const
        double *to = (double *)e->quantity->values(model, motion, e->item, room) + e->from;
        memcpy(to, row, (size_t)e->n * sizeof *to);
    }
    return LW_OK;
}
