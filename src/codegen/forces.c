// forces.c -- forces between bodies: load += J' f for a force f along a row J of the speeds.
#include "codegen/forces.h"

#include "codegen/closures.h"
#include "codegen/loops.h"
#include "codegen/sides.h"
#include "model/forces/item.h"

#include <linkwork/codegen.h>

static const char head[] = "no code can be generated";

// --------------------------------------------------------------------------------------- which ones

static bool constants(const lw_model *m, int n, const lw_signal *signal)
{
    double value;
    for (int i = 0; i < n; i++)
        if (!lwi_constant_signal(m, signal[i], &value)) return false;
    return true;
}

static lw_status refuse(const char *name, const char *kind, lw_error *error)
{
    return lwi_fail(
        error, LW_ERR_UNSUPPORTED,
        "%s: the force of %s '%s' follows a function or an input; leave it out of the model "
        "and pass its effort in tau",
        head, kind, name);
}

lw_status lwi_forces_check(const lw_model *m, lw_error *error)
{
    const lwi_description *d = &m->desc;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) {
        const lwi_force_item *item = lwi_force_items[k];
        if (d->force[k].n == 0 || k == LWI_ITEM_spring || k == LWI_ITEM_wrench) continue;
        return lwi_fail(
            error, LW_ERR_UNSUPPORTED,
            "%s: %s '%s' %s; only springs and dampers, and constant wrenches are generated", head,
            item->type->name, lwi_force_item_name(item, lwi_force_desc(d, k, 0)), item->acts);
    }
    for (int i = 0; i < d->force[LWI_ITEM_spring].n; i++) {
        const lw_spring_desc *spring = lwi_spring_desc(d, i);
        if (!constants(m, 1, &spring->force)) return refuse(spring->name, "spring", error);
    }
    for (int i = 0; i < d->force[LWI_ITEM_wrench].n; i++) {
        const lw_wrench_desc *wrench = lwi_wrench_desc(d, i);
        if (!constants(m, 3, wrench->force_of) || !constants(m, 3, wrench->torque_of) ||
            !constants(m, 1, &wrench->scale))
            return refuse(wrench->name, "wrench", error);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- values

static const double unturned[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// f = -k (l - l0) - c dl/dt + force, positive pushes the points apart
static void add_spring(lwi_sides *s, const lwi_spring_par *p, val *J, val *load)
{
    lwi_codegen_graph *g = s->walk->graph;
    const lw_model *m = s->walk->elements->model;
    double constant = 0;
    val n[3];
    s->world = false;
    lwi_sides_place(s, (lwi_attachment){p->body1, unturned, p->point1},
                    (lwi_attachment){p->body2, unturned, p->point2});
    const val square = lwi_codegen_dot(g, 3, s->d, s->d);
    const val length = lwi_codegen_graph_op(g, LWI_OP_SQRT, square, square);
    const val reciprocal = inverse(g, length);
    for (int i = 0; i < 3; i++) n[i] = mul(g, reciprocal, s->d[i]);
    lwi_sides_force_row(s, n, false, J);
    lwi_constant_signal(m, p->force, &constant);
    val f = lit(g, constant + p->stiffness * p->length);
    if (p->stiffness != 0) f = msub(g, f, lit(g, p->stiffness), length);
    if (p->damping != 0) f = msub(g, f, lit(g, p->damping), lwi_sides_rate(s, J));
    lwi_sides_push(s, J, f, load);
}

static void add_wrench(lwi_sides *s, const lwi_wrench_par *p, val *J, val *load)
{
    static const double origin[3] = {0, 0, 0};
    lwi_codegen_graph *g = s->walk->graph;
    const lw_model *m = s->walk->elements->model;
    double scale = 1, f[6];
    val F[6];
    if (p->scale.index != 0) lwi_constant_signal(m, p->scale, &scale);
    for (int i = 0; i < 3; i++) {
        double force, torque;
        lwi_constant_signal(m, p->force_of[i], &force);
        lwi_constant_signal(m, p->torque_of[i], &torque);
        f[i] = scale * (p->force[i] + force);
        f[3 + i] = scale * (p->torque[i] + torque);
    }
    s->world = true;
    lwi_sides_place(s, (lwi_attachment){0, unturned, origin},
                    (lwi_attachment){p->body, unturned, p->point});
    lwi_literals(g, 6, F, f);
    if (p->body_axes) {
        lwi_rotate(g, F, s->frame[1].R, F);
        lwi_rotate(g, F + 3, s->frame[1].R, F + 3);
    }
    lwi_sides_force_row(s, F, false, J);
    lwi_sides_push(s, J, lit(g, 1), load);
    lwi_sides_torque_row(s, F + 3, J);
    lwi_sides_push(s, J, lit(g, 1), load);
}

lw_status lwi_forces_create(const lwi_walk *walk, lwi_arena *arena, const val **load)
{
    const lwi_elements *elements = walk->elements;
    const lw_model *m = elements->model;
    lwi_sides sides;
    lwi_closures closures;
    *load = NULL;
    if (!elements->loops &&
        m->desc.force[LWI_ITEM_spring].n + m->desc.force[LWI_ITEM_wrench].n == 0)
        return LW_OK;
    val *sum = LWI_PUSH(arena, val, m->tree_nv), *J = LWI_PUSH(arena, val, m->tree_nv);
    if (!sum || !J) return LW_ERR_MEMORY;
    lwi_zero(walk->graph, m->tree_nv, sum);
    if (elements->loops) {
        TRY(lwi_closures_create(walk, arena, &closures));
        lwi_add(walk->graph, m->tree_nv, sum, closures.load);
    }
    TRY(lwi_sides_create(walk, arena, &sides));
    for (int i = 0; i < m->nforce; i++) {
        if (m->force[i].type == &lwi_force_spring)
            add_spring(&sides, m->force[i].par, J, sum);
        else if (m->force[i].type == &lwi_force_wrench)
            add_wrench(&sides, m->force[i].par, J, sum);
    }
    *load = sum;
    return walk->graph->failed ? LW_ERR_MEMORY : LW_OK;
}
