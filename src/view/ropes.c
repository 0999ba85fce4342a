// ropes.c -- tendons as straight pieces, at every row of a motion.
#include "view/view.h"

#include "base/assert.h"
#include "model/forces/force.h"
#include "spatial/rotation.h"

typedef struct adding {
    float (*p)[2][3];
    size_t n;
} adding;

static void add_piece(void *user, const double from[3], const double to[3])
{
    adding *a = user;
    for (int k = 0; k < 3; k++) {
        a->p[a->n][0][k] = (float)from[k];
        a->p[a->n][1][k] = (float)to[k];
    }
    a->n++;
}

// Rotations and mass centres of all bodies.
typedef struct poses {
    double (*R)[9], (*r)[3];
} poses;

static void place(const lw_model *model, const float *position, const float *rotation,
                  const poses *to)
{
    for (int b = 0; b < model->nbody; b++) {
        double q[4];
        for (int k = 0; k < 4; k++) q[k] = (double)rotation[4 * b + k];
        quat_normalize(q, q);
        quat_matrix(to->R[b], q);
        for (int k = 0; k < 3; k++) to->r[b][k] = (double)position[3 * b + k];
    }
}

static int draw(const lw_model *model, const poses *at, lwi_drawn_piece *piece, void *user)
{
    const lwi_kin kin = {.R = (const double(*)[9])at->R, .r = (const double(*)[3])at->r};
    int n = 0;
    for (int i = 0; i < model->nforce; i++)
        if (model->force[i].type->draw)
            n += model->force[i].type->draw(model->force[i].par, &kin, piece, user);
    return n;
}

static bool allocate(const lw_model *model, lwi_arena *arena, poses *at)
{
    at->R = lwi_arena_push(arena, (size_t)model->nbody, sizeof *at->R);
    at->r = lwi_arena_push(arena, (size_t)model->nbody, sizeof *at->r);
    return at->R && at->r;
}

// The same at any poses.
lw_status lwi_view_rope_count(const lw_model *model, lwi_arena *arena, int *count, lw_error *error)
{
    poses at;
    if (!allocate(model, arena, &at))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for tendons");
    for (int b = 0; b < model->nbody; b++) {
        quat_matrix(at.R[b], model->body[b].quat0);
        v3_copy(at.r[b], model->body[b].r0);
    }
    *count = draw(model, &at, NULL, NULL);
    return LW_OK;
}

lw_status lwi_view_ropes_read(const lw_model *model, const lwi_view_motion *motion,
                              lwi_arena *arena, lwi_view_ropes *ropes, lw_error *error)
{
    const size_t nbody = (size_t)model->nbody;
    poses at;
    TRY(lwi_view_rope_count(model, arena, &ropes->n, error));
    adding all = {lwi_arena_push(arena, (size_t)ropes->n * (size_t)motion->nrow, sizeof *all.p), 0};
    if (!all.p || !allocate(model, arena, &at))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for tendons");
    ropes->p = all.p;
    for (long row = 0; row < motion->nrow && ropes->n; row++) {
        place(model, motion->position + 3 * nbody * (size_t)row,
              motion->rotation + 4 * nbody * (size_t)row, &at);
        draw(model, &at, add_piece, &all);
        LWI_ASSERT(all.n == (size_t)ropes->n * (size_t)(row + 1));
    }
    return LW_OK;
}
