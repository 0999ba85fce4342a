// mode_motion.c -- the motion of a mechanism along one of its modes, for drawings.
//
// Problem: poses of all bodies at equal phases of a period.  The independent coordinates are displaced by
//     y = a (Re x cos p - Im x sin p)
// from the state that was linearised, and the dependent ones closed.  Where loops do not close that far away, a is
// halved.                                                       Cost: O(n^3) for each row, n speeds of the tree.
#include "analysis/linear.h"
#include "analysis/state.h"
#include "base/assert.h"
#include "spatial/rotation.h"

#include <linkwork/analysis.h>

#include <math.h>
#include <string.h>

#define LENGTH 0.15 // largest displacement of a body, in lengths of the mechanism
#define ANGLE 0.35  // largest rotation [rad]
enum { HALVINGS = 12 };

/** The mode, and where it begins. */
typedef struct motion {
    const lw_model *model;
    lwi_analysis_state state;
    lwi_arena arena;
    double *re, *im;                 // [f]
    double (*shape)[6], (*other)[6]; // [body]
} motion;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the motion of a mode");
}

static double largest(int nbody, double (*shape)[6], double (*other)[6], int first)
{
    double maximum = 0;
    for (int b = 1; b < nbody; b++)
        for (int i = first; i < first + 3; i++)
            maximum = fmax(maximum, hypot(shape[b][i], other[b][i]));
    return maximum;
}

// The factor of the shape with which a displacement is LENGTH or a rotation is ANGLE, and none is larger; 0: nothing moves.
static double amplitude_of(const motion *m)
{
    const double far = largest(m->model->nbody, m->shape, m->other, 0),
                 turn = largest(m->model->nbody, m->shape, m->other, 3);
    double a = far > 0 ? LENGTH * m->model->length / far : INFINITY;
    if (turn > 0) a = fmin(a, ANGLE / turn);
    return isfinite(a) ? a : 0;
}

static void read_poses(const motion *m, double (*r)[3], double (*quat)[4])
{
    const lwi_tree_work *tree = &m->state.manifold.constraints->tree;
    static const double none[4] = {1};
    memset(r[0], 0, sizeof r[0]);
    memcpy(quat[0], none, sizeof none);
    for (int b = 1; b < m->model->nbody; b++) {
        v3_copy(r[b], tree->body_r[b]);
        quat_from_matrix(quat[b], tree->body_R[b]);
    }
}

// One row: at a phase, with the factor `a`.
static lw_status place(motion *m, double a, double phase, double (*r)[3], double (*quat)[4],
                       lw_error *error)
{
    lwi_analysis_state *s = &m->state;
    lwi_manifold *manifold = &s->manifold;
    const size_t n = (size_t)manifold->n;
    memset(s->increment, 0, n * sizeof *s->increment);
    for (int k = 0; k < manifold->f; k++) {
        const double y = a * (m->re[k] * cos(phase) - m->im[k] * sin(phase));
        for (size_t i = 0; i < n; i++) s->increment[i] += y * s->B[(size_t)k * n + i];
    }
    memcpy(s->near_q, s->q, (size_t)m->model->tree_nq * sizeof *s->q);
    lwi_manifold_move(manifold, s->near_q, s->increment);
    TRY(lwi_manifold_close(manifold, s->near_q, error));
    memset(s->near_v, 0, n * sizeof *s->near_v);
    TRY(lw_constraints_evaluate(manifold->constraints, manifold->t, s->near_q, s->near_v,
                                manifold->phi, NULL, NULL, NULL));
    read_poses(m, r, quat);
    return LW_OK;
}

static lw_status place_all(motion *m, double a, int rows, double (*r)[3], double (*quat)[4],
                           lw_error *error)
{
    const size_t n = (size_t)m->model->nbody;
    for (int i = 0; i < rows; i++)
        TRY(place(m, a, 2 * acos(-1) * i / (rows - 1), r + (size_t)i * n, quat + (size_t)i * n,
                  error));
    return LW_OK;
}

static lw_status move(motion *m, const lw_modes *modes, int index, int rows, double (*r)[3],
                      double (*quat)[4], lw_error *error)
{
    const size_t n = (size_t)m->model->nbody, f = (size_t)m->state.manifold.f;
    int coordinates, bodies;
    lwi_modes_size(modes, &coordinates, &bodies);
    if (coordinates != (int)f || bodies != (int)n)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_modes_motion: the modes are of a model with %d bodies and %d degrees "
                        "of freedom, expected this model, found one with %d and %d",
                        bodies - 1, coordinates, (int)n - 1, (int)f);
    m->re = LWI_PUSH(&m->arena, double, f);
    m->im = LWI_PUSH(&m->arena, double, f);
    m->shape = lwi_arena_push(&m->arena, n, sizeof *m->shape);
    m->other = lwi_arena_push(&m->arena, n, sizeof *m->other);
    if (!m->re || !m->im || !m->shape || !m->other) return no_memory(error);
    lw_modes_coordinates(modes, index, m->re, m->im);
    lw_modes_shape(modes, index, m->shape, m->other);
    lw_status status = LW_ERR_SINGULAR;
    double a = amplitude_of(m);
    for (int i = 0; status == LW_ERR_SINGULAR && i < HALVINGS; i++, a /= 2)
        status = place_all(m, a, rows, r, quat, error);
    return status;
}

lw_status lw_modes_motion(const lw_modes *modes, int index, const lw_model *model,
                          const lw_linear_desc *desc, int rows, double (*r)[3], double (*quat)[4],
                          lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_linear_desc, desc, error);
    if (!modes || !model || !r || !quat || rows < 2 || index < 0 || index >= lw_modes_count(modes))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_modes_motion: expected modes, one of them, their model, at least two "
                        "rows and arrays");
    motion m = {.model = model};
    lwi_arena_init(&m.arena, &model->arena.allocator);
    lw_status status = lwi_analysis_state_create(model, desc->time, desc->q, desc->v, desc->inputs,
                                                 desc->independent, &m.arena, &m.state, error);
    if (status == LW_OK) {
        status = move(&m, modes, index, rows, r, quat, error);
        lwi_analysis_state_destroy(&m.state);
    }
    lwi_arena_free(&m.arena);
    return status;
}
