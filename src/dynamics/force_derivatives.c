// force_derivatives.c -- exact derivatives of generalised forces.
#include "dynamics/force_derivatives.h"

#include "base/assert.h"
#include "dynamics/force_terms.h"

#include <string.h>

enum { UNITS = 24 }; // changes of the motion of two bodies

// NULL: its state is that of a signal.
static const lwi_force_kind *kind_of(const lwi_force *force)
{
    const lwi_force_length *length = force->type->length;
    if (force->type == &lwi_force_signal_states) return NULL;
    if (length && length->speed && length->slopes) return &lwi_force_kind_sum;
    if (length && length->differentiate && length->exact(force->par)) return &lwi_force_kind_path;
    return lwi_force_acts_on(force).iv >= 0 ? &lwi_force_kind_coordinate : &lwi_force_kind_bodies;
}

// ------------------------------------------------------------------------------------------ create

void lwi_force_add_speed(lwi_force_branches *c, int speed, int side)
{
    if (c->store) c->f->branch[c->n] = (lwi_branch_speed){speed, side};
    c->n++;
}

void lwi_force_add_branch(lwi_force_branches *c, int node, int end, int side)
{
    for (; node != end; node = c->model->node[node].parent)
        for (int j = c->model->node[node].nv - 1; j >= 0; j--)
            lwi_force_add_speed(c, c->model->node[node].iv + j, side);
}

static lwi_force_branches collect(const lw_model *model, lwi_force_derivatives *f, bool store)
{
    lwi_force_branches c = {.model = model, .f = f, .store = store};
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force_kind *kind = kind_of(&model->force[i]);
        if (store) f->first_speed[i] = c.n;
        if (kind) kind->collect(&c, i);
    }
    if (store) f->first_speed[model->nforce] = c.n;
    return c;
}

static bool allocate(const lw_model *model, lwi_arena *arena, int leaves,
                     const lwi_force_branches *c, lwi_force_derivatives *f)
{
    const size_t n = (size_t)model->tree_nv, branches = (size_t)c->n;
    f->leaf = LWI_PUSH(arena, lwi_signal_leaf, leaves);
    f->branch = LWI_PUSH(arena, lwi_branch_speed, branches);
    f->slope = LWI_PUSH(arena, double, leaves);
    f->backward = LWI_PUSH(arena, bool, model->desc.nfunction);
    f->outboard = LWI_PUSH(arena, lwi_outboard_sums, model->nnode);
    f->way = lwi_arena_push(arena, n + (size_t)model->nnode, sizeof *f->way);
    f->until = lwi_arena_push(arena, n + (size_t)model->nnode, sizeof *f->until);
    f->first_leaf = LWI_PUSH(arena, int, model->desc.nfunction + 1);
    f->first_speed = LWI_PUSH(arena, int, model->nforce + 1);
    f->speed = LWI_PUSH(arena, int, model->nforce);
    const size_t changes = 2 * branches > UNITS ? 2 * branches : UNITS;
    f->change = LWI_PUSH(arena, lwi_motion_pair, changes);
    f->load = lwi_arena_push(arena, changes, sizeof *f->load);
    f->moved = lwi_arena_push(arena, branches, sizeof *f->moved);
    f->rotation = lwi_arena_push(arena, branches, sizeof *f->rotation);
    typedef double screw[6];
    screw **const at_places[] = {&f->place.pose, &f->place.twist, &f->place.load,
                                 &f->place.unit, &f->place.x,     &f->place.by};
    for (int i = 0; i < LWI_COUNT(at_places); i++)
        if (!(*at_places[i] = lwi_arena_push(arena, (size_t)c->nplace, sizeof(screw))))
            return false;
    if (!f->rotation) return false;
    f->row_q = LWI_PUSH(arena, double, n);
    f->row_v = LWI_PUSH(arena, double, n);
    f->row_z = LWI_PUSH(arena, double, model->nstate);
    f->column = LWI_PUSH(arena, double, n);
    f->unit = LWI_PUSH(arena, double, n);
    f->qdot = LWI_PUSH(arena, double, model->tree_nq);
    if (!f->slope || !f->backward || !f->outboard || !f->way || !f->until) return false;
    return f->leaf && f->branch && f->first_leaf && f->first_speed && f->speed && f->change &&
           f->load && f->moved && f->row_q && f->row_v && f->row_z && f->column && f->unit &&
           f->qdot;
}

lw_status lwi_force_derivatives_create(const lw_model *model, lwi_arena *arena,
                                       lwi_force_derivatives *f)
{
    *f = (lwi_force_derivatives){.exact = true};
    const int leaves = lwi_force_leaves(model, f, false);
    const lwi_force_branches branches = collect(model, f, false);
    if (!f->exact) return LW_OK;
    if (!allocate(model, arena, leaves, &branches, f)) return LW_ERR_MEMORY;
    lwi_force_leaves(model, f, true);
    collect(model, f, true);
    for (int i = 0; i < model->desc.nfunction; i++)
        f->backward[i] = lwi_signal_has_gradient(model->function, (lw_signal){i + 1});
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- evaluate

void lwi_force_derivatives_subtract(const lw_model *model, lwi_force_derivatives *f,
                                    const lwi_tree_derivatives *tree, const lwi_tree_work *work,
                                    double t, const double *q, const double *inputs, int nz,
                                    const lwi_force_sums *to)
{
    const lwi_kin kin = lwi_tree_kin(work);
    lwi_loads loads = work->loads;
    const lwi_force_terms s = {model,  f,  tree,     &kin,     &loads,   t, q,
                               inputs, nz, f->row_q, f->row_v, f->row_z, to};
    LWI_ASSERT(f->exact);
    if (nz) memset(to->force_by_z, 0, (size_t)(model->tree_nv * nz) * sizeof(double));
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force_kind *kind = kind_of(&model->force[i]);
        if (kind) kind->subtract(&s, i);
    }
    for (int i = 0; nz && i < model->desc.nfunction; i++)
        if (model->function[i].nstate > 0) lwi_force_find_rates(&s, i);
}

void lwi_force_products_add(const lw_model *model, lwi_force_derivatives *f,
                            const lwi_tree_derivatives *tree, const lwi_tree_work *work, double t,
                            const double *q, const double *inputs, const lwi_force_rows *rows,
                            double *by_q, double *by_v, double *by_z)
{
    const lwi_kin kin = lwi_tree_kin(work);
    lwi_loads loads = work->loads;
    const lwi_force_terms s = {model,  f, tree, &kin, &loads, t,   q,
                               inputs, 0, by_q, by_v, by_z,   NULL};
    LWI_ASSERT(f->exact);
    lwi_force_find_ways(&s, rows->u);
    memset(f->outboard, 0, (size_t)model->nnode * sizeof *f->outboard);
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force_kind *kind = kind_of(&model->force[i]);
        if (kind) kind->multiply(&s, i, rows);
    }
    for (int i = 0; rows->w && i < model->desc.nfunction; i++)
        if (model->function[i].nstate > 0) lwi_force_add_rate_products(&s, i, rows->w);
    lwi_force_add_outboard(&s);
}
