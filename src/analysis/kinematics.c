// kinematics.c -- motion of fully driven mechanisms: positions from phi(q, t) = 0 by Newton's method from time to time,
// velocities and accelerations by linear solves.  Nothing is integrated.
#include "analysis/manifold.h"
#include "simulate/simulation.h"

#include <linkwork/analysis.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Largest correction of an extrapolated position [rad, lengths of the mechanism]: it stays on its branch.
#define LARGEST_CORRECTION 0.05
// Pivot of the rows in the dependent coordinates, relative to the largest, below which the drives determine no
// velocities.
#define DEAD_POINT 1e-7
#define MAX_ROWS 1e12
#define SHORTEST 1e-10 // of the step between two rows

typedef struct motion {
    lw_sim *sim;
    const lw_model *model;
    lwi_arena arena;
    lwi_manifold manifold;
    double t, *q, *v;           ///< the last closed position
    double *next_q, *increment; ///< [tree nq], [tree nv]
} motion;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for kinematics");
}

static lw_status check_driven(const motion *k, lw_error *error)
{
    const lwi_manifold *m = &k->manifold;
    char names[400] = "", name[LW_COORDINATE_NAME_SIZE];
    size_t used = 0;
    for (int i = 0; i < m->f && used + sizeof name < sizeof names; i++) {
        lwi_manifold_name(m, i, false, name, sizeof name);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
    }
    return m->f == 0
               ? LW_OK
               : lwi_fail(
                     error, LW_ERR_MODEL,
                     "kinematics needs a `motion` for each degree of freedom; %d have none: %s",
                     m->f, names);
}

static lw_status begin(motion *k, lw_error *error)
{
    const lw_model *model = k->model;
    if (model->nstate > 0) {
        char state[LW_COORDINATE_NAME_SIZE];
        lwi_state_name(model, 0, state, sizeof state);
        return lwi_fail(
            error, LW_ERR_UNSUPPORTED,
            "signals of the model have states (integrals, lags, controllers, switches), "
            "which kinematics does not integrate: %s; expected a run",
            state);
    }
    TRY(lwi_manifold_create(model, k->t, model->tree_q0, NULL, &k->arena, &k->manifold, error));
    TRY(check_driven(k, error));
    k->q = LWI_PUSH(&k->arena, double, model->tree_nq);
    k->v = LWI_PUSH(&k->arena, double, model->tree_nv);
    k->next_q = LWI_PUSH(&k->arena, double, model->tree_nq);
    k->increment = LWI_PUSH(&k->arena, double, model->tree_nv);
    if (!k->q || !k->v || !k->next_q || !k->increment) return no_memory(error);
    memcpy(k->q, model->tree_q0, (size_t)model->tree_nq * sizeof *k->q);
    return LW_OK;
}

// Speeds at k->q.
static lw_status solve_speeds(motion *k, lw_error *error)
{
    lwi_manifold *m = &k->manifold;
    TRY(lwi_manifold_tangent(m, k->q, error));
    const lwi_cod *cod = &m->dependent_rows;
    if (m->n > 0 && m->m > 0 && !(cod->small > DEAD_POINT)) {
        char name[LW_COORDINATE_NAME_SIZE];
        lwi_manifold_dependent_name(m, cod->pivot[m->n - 1], name, sizeof name);
        return lwi_fail(error, LW_ERR_SINGULAR,
                        "t = %.10g s: dead point, the drives do not determine %s", k->t, name);
    }
    lwi_manifold_speeds(m, k->q, NULL, k->v);
    return LW_OK;
}

// Closes next_q at `time`; false: not near the extrapolated position.
static bool close_near(motion *k, double time)
{
    lwi_manifold *m = &k->manifold;
    lw_error ignored;
    double largest = 0;
    m->t = time;
    memcpy(k->next_q, k->q, (size_t)k->model->tree_nq * sizeof *k->q);
    for (int i = 0; i < m->n; i++) k->increment[i] = (time - k->t) * k->v[i];
    lwi_manifold_move(m, k->next_q, k->increment);
    memset(k->increment, 0, (size_t)m->n * sizeof *k->increment);
    if (lwi_manifold_close_counting(m, k->next_q, k->increment, &ignored) != LW_OK) return false;
    for (int i = 0; i < m->n; i++)
        largest = fmax(largest, fabs(k->increment[i]) / lwi_manifold_unit(m, i));
    return largest <= LARGEST_CORRECTION;
}

// From k->t to `time`, by shorter steps where a position is far from the extrapolated one.
static lw_status advance(motion *k, double time, lw_error *error)
{
    const double whole = time - k->t;
    double step = whole;
    while (k->t < time) {
        const double to = time - k->t <= step * (1 + 1e-9) ? time : k->t + step;
        if (close_near(k, to)) {
            memcpy(k->q, k->next_q, (size_t)k->model->tree_nq * sizeof *k->q);
            k->t = to;
            TRY(solve_speeds(k, error));
            step *= 2;
            continue;
        }
        step = (to - k->t) / 2;
        if (!(step > SHORTEST * whole) || k->t + step == k->t)
            return lwi_fail(
                error, LW_ERR_SINGULAR,
                "t = %.10g s: the drives lead no further: the loops do not close beyond this time",
                k->t);
    }
    return LW_OK;
}

static lw_status show(motion *k, lw_observe level, lw_row row, void *user, lw_error *error)
{
    const lw_observation *seen;
    lw_constraints *c = k->manifold.constraints;
    lw_constraints_evaluate(c, k->t, k->q, k->v, k->manifold.phi, NULL, NULL, NULL);
    lw_status status = lw_sim_set_joints(k->sim, k->t, c->tree.joint_q, c->tree.joint_qd);
    if (status == LW_OK) status = lw_sim_observe(k->sim, level, &seen);
    if (status != LW_OK)
        return lwi_fail(error, status, "t = %.10g s: %s", k->t, lw_sim_error(k->sim)->text);
    return row ? row(user, seen) : LW_OK;
}

static lw_status rows(motion *k, lw_observe level, lw_row row, void *row_user, lw_progress progress,
                      void *progress_user, lw_error *error)
{
    const lw_options *options = lw_sim_options(k->sim);
    const double start = k->t, end = start + options->duration;
    const double intervals = ceil(options->duration / options->sample - 1e-9);
    const long count = (long)intervals;
    k->manifold.t = k->t;
    TRY(lwi_manifold_close(&k->manifold, k->q, error));
    TRY(solve_speeds(k, error));
    TRY(show(k, level, row, row_user, error));
    for (long i = 1; i <= count; i++) {
        TRY(advance(k, i == count ? end : start + (double)i * options->sample, error));
        TRY(show(k, level, row, row_user, error));
        if (progress && progress(progress_user, k->t, end))
            return lwi_fail(error, LW_ERR_INTERRUPTED, "stopped");
    }
    return LW_OK;
}

lw_status lw_sim_kinematics(lw_sim *sim, lw_observe level, lw_row row, void *row_user,
                            lw_progress progress, void *progress_user)
{
    if (!sim) return LW_ERR_ARGUMENT;
    lw_error error = {0}; // the calls on `sim` overwrite its own
    motion k = {.sim = sim, .model = sim->model, .t = sim->t};
    if (!(sim->options.sample > 0))
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                        "sample: kinematics has no steps; expected an interval [s]");
    if (!(sim->options.duration / sim->options.sample < MAX_ROWS))
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                        "sample: %g s gives more than %g rows in %g s; expected a longer interval",
                        sim->options.sample, MAX_ROWS, sim->options.duration);
    lwi_arena_init(&k.arena, &k.model->arena.allocator);
    lw_status status = begin(&k, &error);
    if (status == LW_OK) status = rows(&k, level, row, row_user, progress, progress_user, &error);
    lwi_manifold_destroy(&k.manifold);
    lwi_arena_free(&k.arena);
    if (status != LW_OK) sim->error = error;
    return status;
}
