// closures.c -- the rows of joints that close loops, and of couplings.
//
// Both sides of a loop start at the lowest common ancestor of its bodies, which is at rest here: rows do not depend on
// its motion.  With F1, F2 the joint's frames, d from F1 to F2, e an axis of F1, f one of F2, and the terms of
// model/joints/rows.c:
//
//   point     d                  three rows, in axes at rest
//   along     e.d                J: e.(v2 - v1 - w1 x d)
//   axes      e.f                J: (f x e).(w2 - w1)
//   length    (d.d - L^2) / 2L   J: d.(v2 - v1) / L
#include "codegen/closures.h"

#include "codegen/loops.h"
#include "codegen/sides.h"
#include <string.h>

static const char head[] = "no code can be generated";

// --------------------------------------------------------------------------------------- which there are

const char *lwi_closing_name(const lwi_elements *elements, int k)
{
    const lw_model *m = elements->model;
    const int joint = k < m->nloop ? m->loop[k] : m->coupling[k - m->nloop].joint;
    return m->joint[joint].name;
}

static lw_status check_cut(const lwi_joint *joint, lw_error *error)
{
    for (int k = 0; k < joint->type->nc; k++) {
        const lwi_row_kind kind = joint->type->row[k].kind;
        if (kind == LWI_ROW_THREAD || kind == LWI_ROW_CALLBACK)
            return lwi_fail(error, LW_ERR_UNSUPPORTED, "%s: %s joint '%s' closes a loop", head,
                            joint->type->name, joint->name);
    }
    if (joint->type->has_length && joint->length_of.index != 0)
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "%s: the length of joint '%s' follows a function", head, joint->name);
    for (int k = 0; k < joint->type->nv; k++)
        if (joint->rotor[k] != 0)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: joint '%s' closes a loop and has a rotor", head, joint->name);
    return LW_OK;
}

static lw_status check_coupling(const lw_model *m, const lwi_coupling *c, lw_error *error)
{
    const int of[2] = {c->joint, c->of};
    for (int i = 0; i < 2; i++)
        if (m->joint[of[i]].node < 0)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: joint '%s' is coupled to joint '%s', and '%s' closes a loop", head,
                            m->joint[c->joint].name, m->joint[c->of].name, m->joint[of[i]].name);
    return LW_OK;
}

lw_status lwi_closings_create(lwi_elements *elements, lwi_arena *arena, lw_error *error)
{
    const lw_model *m = elements->model;
    const int n = m->nloop + m->ncoupling;
    if (n == 0) return LW_OK;
    lwi_loops *loops = LWI_PUSH(arena, lwi_loops, 1);
    if (!loops) return LW_ERR_MEMORY;
    memset(loops, 0, sizeof *loops);
    loops->first = LWI_PUSH(arena, int, n + 1);
    if (!loops->first) return LW_ERR_MEMORY;
    loops->first[0] = 0;
    for (int k = 0; k < n; k++) {
        if (k < m->nloop)
            TRY(check_cut(&m->joint[m->loop[k]], error));
        else
            TRY(check_coupling(m, &m->coupling[k - m->nloop], error));
        const int rows = k < m->nloop ? m->joint[m->loop[k]].type->nc : 1;
        loops->first[k + 1] = loops->first[k] + rows;
    }
    loops->n = n;
    loops->m = loops->first[n];
    if (loops->m > 0) elements->loops = loops; // joints without rows close nothing
    return LW_OK;
}

bool lwi_closing_row_is_length(const lwi_elements *elements, int row)
{
    const lw_model *m = elements->model;
    const lwi_loops *loops = elements->loops;
    int k = 0;
    while (row >= loops->first[k + 1]) k++;
    if (k >= m->nloop) {
        const lwi_coupling *c = &m->coupling[k - m->nloop];
        return !(m->joint[c->joint].type->angles & 1u << c->coordinate);
    }
    const lwi_row_kind kind = m->joint[m->loop[k]].type->row[row - loops->first[k]].kind;
    return kind == LWI_ROW_POINT || kind == LWI_ROW_ALONG || kind == LWI_ROW_LENGTH;
}

// -------------------------------------------------------------------------------------------- rows

typedef struct loop {
    lwi_sides sides;
    const lwi_joint *joint;
} loop;

typedef struct row {
    val *J, phi, gamma;
} row;

static void place_loop(loop *l)
{
    const lwi_joint *joint = l->joint;
    lwi_sides_place(&l->sides, (lwi_attachment){joint->body1, joint->R1, joint->r1},
                    (lwi_attachment){joint->body2, joint->R2, joint->r2});
}

static void difference(lwi_codegen_graph *g, val c[3], const val a[3], const val b[3])
{
    for (int i = 0; i < 3; i++) c[i] = sub(g, a[i], b[i]);
}

static void point_row(const loop *l, int i, row *x)
{
    lwi_codegen_graph *g = l->sides.walk->graph;
    val e[3];
    lwi_zero(g, 3, e);
    e[i] = lit(g, 1);
    lwi_sides_force_row(&l->sides, e, false, x->J);
    x->phi = l->sides.d[i];
    x->gamma = sub(g, l->sides.frame[1].a[i], l->sides.frame[0].a[i]);
}

static void along_row(const loop *l, int i, row *x)
{
    lwi_codegen_graph *g = l->sides.walk->graph;
    const lwi_place *one = &l->sides.frame[0], *two = &l->sides.frame[1];
    val e[3], we[3], dv[3], da[3], c[3];
    lwi_place_axis(one, i, e);
    lwi_sides_force_row(&l->sides, e, true, x->J);
    x->phi = lwi_codegen_dot(g, 3, e, l->sides.d);
    difference(g, dv, two->v, one->v);
    difference(g, da, two->a, one->a);
    lwi_cross(g, we, one->w, e);
    const val coriolis = lwi_codegen_dot(g, 3, we, dv);
    lwi_codegen_centripetal(g, c, one->w, e);
    lwi_cross_add(g, c, one->al, e);
    x->gamma = add(g, lwi_codegen_dot(g, 3, e, da), add(g, coriolis, coriolis));
    x->gamma = add(g, x->gamma, lwi_codegen_dot(g, 3, c, l->sides.d));
}

static void axes_row(const loop *l, int i, int j, row *x)
{
    lwi_codegen_graph *g = l->sides.walk->graph;
    const lwi_place *one = &l->sides.frame[0], *two = &l->sides.frame[1];
    val e[3], f[3], c[3], we[3], wf[3], wwe[3], wwf[3], dal[3];
    lwi_place_axis(one, i, e);
    lwi_place_axis(two, j, f);
    lwi_cross(g, c, f, e);
    lwi_sides_torque_row(&l->sides, c, x->J);
    x->phi = lwi_codegen_dot(g, 3, e, f);
    lwi_cross(g, we, one->w, e);
    lwi_cross(g, wf, two->w, f);
    lwi_cross(g, wwe, one->w, we);
    lwi_cross(g, wwf, two->w, wf);
    difference(g, dal, two->al, one->al);
    const val coriolis = lwi_codegen_dot(g, 3, we, wf);
    x->gamma = add(g, lwi_codegen_dot(g, 3, c, dal), add(g, coriolis, coriolis));
    x->gamma = add(g, x->gamma, lwi_codegen_dot(g, 3, wwe, f));
    x->gamma = add(g, x->gamma, lwi_codegen_dot(g, 3, wwf, e));
}

static void length_row(const loop *l, row *x)
{
    lwi_codegen_graph *g = l->sides.walk->graph;
    const lwi_place *one = &l->sides.frame[0], *two = &l->sides.frame[1];
    const double L = l->joint->par.length;
    val e[3], dv[3], da[3];
    for (int i = 0; i < 3; i++) e[i] = mul(g, lit(g, 1 / L), l->sides.d[i]);
    lwi_sides_force_row(&l->sides, e, false, x->J);
    difference(g, dv, two->v, one->v);
    difference(g, da, two->a, one->a);
    x->phi = sub(g, mul(g, lit(g, 0.5), lwi_codegen_dot(g, 3, e, l->sides.d)), lit(g, 0.5 * L));
    x->gamma = madd(g, lwi_codegen_dot(g, 3, e, da), lit(g, 1 / L), lwi_codegen_dot(g, 3, dv, dv));
}

static void form_row(const loop *l, int k, row *x)
{
    const lwi_row_form *form = &l->joint->type->row[k];
    switch (form->kind) {
    case LWI_ROW_POINT:
        point_row(l, form->i, x);
        return;
    case LWI_ROW_ALONG:
        along_row(l, form->i, x);
        return;
    case LWI_ROW_AXES:
        axes_row(l, form->i, form->j, x);
        return;
    case LWI_ROW_ATTITUDE: // zero together where the frames are parallel, and independent there
        axes_row(l, (form->i + 1) % 3, (form->i + 2) % 3, x);
        return;
    case LWI_ROW_LENGTH:
        length_row(l, x);
        return;
    case LWI_ROW_THREAD:
    case LWI_ROW_CALLBACK: // refused
        return;
    }
}

// q_0 = p(q_1)
static void coupling_row(const lwi_walk *walk, const lwi_coupling *c, row *x)
{
    lwi_codegen_graph *g = walk->graph;
    const lw_model *m = walk->elements->model;
    const lwi_node *follows = &m->node[m->joint[c->joint].node],
                   *leads = &m->node[m->joint[c->of].node];
    const val q = lwi_codegen_graph_input(g, walk->q, leads->iq + c->with);
    val P = lit(g, 0), P1 = P, P2 = P;
    for (int k = c->n - 1; k >= 0; k--) {
        P2 = madd(g, add(g, P1, P1), P2, q);
        P1 = madd(g, P, P1, q);
        P = madd(g, lit(g, c->c[k]), P, q);
    }
    for (int i = 0; i < m->tree_nv; i++) x->J[i] = lit(g, 0);
    x->J[follows->iv + c->coordinate] = lit(g, 1);
    x->J[leads->iv + c->with] = sub(g, x->J[leads->iv + c->with], P1);
    x->phi = sub(g, lwi_codegen_graph_input(g, walk->q, follows->iq + c->coordinate), P);
    x->gamma = lit(g, 0);
    if (walk->v < 0) return;
    const val v = lwi_walk_speed(walk, leads->iv + c->with);
    x->gamma = neg(g, mul(g, P2, mul(g, v, v)));
}

// ----------------------------------------------------------------------------------------- efforts

// J of the speed of coordinate k of the joint; false: it has no simple one.
static bool speed_row(const loop *l, int k, row *x)
{
    const lwi_joint_type *type = l->joint->type;
    val e[3];
    if (type->quaternion == 0) {
        lwi_place_axis(&l->sides.frame[1], k, e);
        lwi_sides_torque_row(&l->sides, e, x->J);
        return true;
    }
    if (type->coordinate[k].kind == LWI_COORDINATE_LENGTH) {
        along_row(l, type->coordinate[k].i, x);
        return true;
    }
    lwi_place_axis(&l->sides.frame[0], LWI_Z, e);
    lwi_sides_torque_row(&l->sides, e, x->J);
    return type->coordinate[k].kind == LWI_COORDINATE_TURN;
}

static void add_efforts(const loop *l, row *x, val *load)
{
    lwi_codegen_graph *g = l->sides.walk->graph;
    const lwi_elements *elements = l->sides.walk->elements;
    for (int i = 0; i < elements->ncut_effort; i++) {
        const lwi_cut_effort *f = &elements->cut_effort[i];
        if (&elements->model->joint[f->joint] != l->joint || !speed_row(l, f->k, x)) continue;
        val effort = lit(g, f->effort.at_rest);
        if (f->effort.damping != 0)
            effort = msub(g, effort, lit(g, f->effort.damping), lwi_sides_rate(&l->sides, x->J));
        if (f->effort.stiffness != 0) effort = msub(g, effort, lit(g, f->effort.stiffness), x->phi);
        lwi_sides_push(&l->sides, x->J, effort, load);
    }
}

lw_status lwi_closures_create(const lwi_walk *walk, lwi_arena *arena, lwi_closures *c)
{
    const lwi_elements *elements = walk->elements;
    const lwi_loops *loops = elements->loops;
    const lw_model *m = elements->model;
    const size_t nv = (size_t)m->tree_nv, rows = (size_t)loops->m;
    loop *l = LWI_PUSH(arena, loop, 1);
    val *scratch = LWI_PUSH(arena, val, nv);
    c->J = LWI_PUSH(arena, val, rows * nv);
    c->phi = LWI_PUSH(arena, val, rows);
    c->gamma = LWI_PUSH(arena, val, rows);
    c->load = LWI_PUSH(arena, val, nv);
    if (!l || !scratch || !c->J || !c->phi || !c->gamma || !c->load) return LW_ERR_MEMORY;
    TRY(lwi_sides_create(walk, arena, &l->sides));
    lwi_zero(walk->graph, (int)nv, c->load);
    for (int k = 0; k < loops->n; k++) {
        lwi_codegen_graph_note(walk->graph, "loop of joint '%s'", lwi_closing_name(elements, k));
        if (k < m->nloop) {
            l->joint = &m->joint[m->loop[k]];
            place_loop(l);
        }
        for (int i = loops->first[k]; i < loops->first[k + 1]; i++) {
            row x = {.J = c->J + (size_t)i * nv};
            if (k < m->nloop)
                form_row(l, i - loops->first[k], &x);
            else
                coupling_row(walk, &m->coupling[k - m->nloop], &x);
            c->phi[i] = x.phi;
            c->gamma[i] = x.gamma;
        }
        row x = {.J = scratch};
        if (k < m->nloop && walk->v >= 0) add_efforts(l, &x, c->load);
    }
    return walk->graph->failed ? LW_ERR_MEMORY : LW_OK;
}
