// chosen.c -- a manifold in independent coordinates that are chosen again where they become bad.
#include "analysis/chosen.h"

#include <linkwork/analysis.h>

// Pivot of the dependent coordinates, relative to the first, below which others are chosen, and below which the
// independent coordinates do not determine the others.
#define LOSING 1e-4
#define DEAD 1e-9

void lwi_chosen_leave(lwi_chosen *c)
{
    if (!c->there) return;
    lwi_manifold_destroy(&c->manifold);
    lwi_arena_free(&c->arena);
    c->there = false;
}

lw_status lwi_chosen_choose(lwi_chosen *c, double t, const double *q, lw_error *error)
{
    lwi_chosen_leave(c);
    lwi_arena_init(&c->arena, &c->model->arena.allocator);
    const lw_status status =
        lwi_manifold_create(c->model, t, q, c->names, &c->arena, &c->manifold, error);
    if (status != LW_OK) {
        lwi_arena_free(&c->arena);
        return status;
    }
    c->there = true;
    c->manifold.inputs = c->inputs;
    return LW_OK;
}

static double small_pivot(const lwi_manifold *m)
{
    return m->n > m->f ? m->dependent_rows.small : 1;
}

lw_status lwi_chosen_rows(lwi_chosen *c, double t, const double *q, const double *v,
                          lw_error *error)
{
    if (!c->there) TRY(lwi_chosen_choose(c, t, q, error));
    c->manifold.t = t;
    return lwi_manifold_rows(&c->manifold, q, v, error);
}

lw_status lwi_chosen_factor(lwi_chosen *c, double t, const double *q, const double *v,
                            lw_error *error)
{
    lwi_manifold *m = &c->manifold;
    lwi_manifold_factor(m);
    if (small_pivot(m) > LOSING) return LW_OK;
    if (!*c->names) {
        TRY(lwi_chosen_choose(c, t, q, error));
        TRY(lwi_manifold_rows(m, q, v, error));
        lwi_manifold_factor(m);
    }
    if (small_pivot(m) > DEAD) return LW_OK;
    char name[LW_COORDINATE_NAME_SIZE];
    lwi_manifold_dependent_name(m, m->dependent_rows.pivot[m->n - m->f - 1], name, sizeof name);
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "t = %.10g s: singular position: the independent coordinates do not determine "
                    "the motion of %s",
                    t, name);
}

lw_status lwi_chosen_tangent(lwi_chosen *c, double t, const double *q, lw_error *error)
{
    TRY(lwi_chosen_rows(c, t, q, NULL, error));
    return lwi_chosen_factor(c, t, q, NULL, error);
}
