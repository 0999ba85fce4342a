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
//   driven    e.d - f(t)         J: as along; a hinge: the sine of its angle less f(t), z.(w2 - w1)
#include "codegen/closures.h"

#include "codegen/loops.h"
#include "codegen/refuse.h"
#include "codegen/sides.h"

#include <string.h>

// --------------------------------------------------------------------------------------- which there are

int lwi_closing_joint(const lwi_elements *elements, int k)
{
    const lw_model *m = elements->model;
    return k < m->nloop ? m->loop[k] : m->coupling[k - m->nloop].joint;
}

static lw_status check_cut(const lw_model *m, int j, lw_error *error)
{
    const lwi_joint *joint = &m->joint[j];
    const lw_place place = lwi_joint_place(m, j);
    for (int k = 0; k < joint->type->nc; k++) {
        const lwi_row_kind kind = joint->type->row[k].kind;
        if (kind == LWI_ROW_THREAD || kind == LWI_ROW_CALLBACK)
            return lwi_refuse(m, place, error, "%s joint '%s' closes a loop", joint->type->name,
                              joint->name);
    }
    for (int k = 0; k < joint->type->nv; k++) {
        if (joint->rotor[k] != 0)
            return lwi_refuse(m, place, error, "joint '%s' closes a loop and has a rotor",
                              joint->name);
        const lwi_coordinate_kind kind = joint->type->coordinate[k].kind;
        const bool simple = kind == LWI_COORDINATE_LENGTH || kind == LWI_COORDINATE_TURN;
        if (joint->motion[k].index > 0 && !simple)
            return lwi_refuse(m, place, error,
                              "%s joint '%s' closes a loop and has a prescribed motion",
                              joint->type->name, joint->name);
    }
    return LW_OK;
}

static lw_status check_coupling(const lw_model *m, const lwi_coupling *c, lw_error *error)
{
    const int of[2] = {c->joint, c->of};
    for (int i = 0; i < 2; i++)
        if (m->joint[of[i]].node < 0)
            return lwi_refuse(m, lwi_joint_place(m, of[i]), error,
                              "joint '%s' is coupled to joint '%s', and '%s' closes a loop",
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
            TRY(check_cut(m, m->loop[k], error));
        else
            TRY(check_coupling(m, &m->coupling[k - m->nloop], error));
        const lwi_joint *joint = k < m->nloop ? &m->joint[m->loop[k]] : NULL;
        const int rows = joint ? joint->type->nc + joint->ndriven : 1;
        loops->first[k + 1] = loops->first[k] + rows;
    }
    loops->n = n;
    loops->m = loops->first[n];
    if (loops->m > 0) elements->loops = loops; // joints without rows close nothing
    return LW_OK;
}

// The coordinate of a row of a prescribed motion, which follow the joint's own.
static int driven_coordinate(const lwi_joint *joint, int row)
{
    int left = row - joint->type->nc, k = 0;
    while (joint->motion[k].index <= 0 || left-- > 0) k++;
    return k;
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
    const lwi_joint *joint = &m->joint[m->loop[k]];
    const int at = row - loops->first[k];
    if (at >= joint->type->nc)
        return joint->type->coordinate[driven_coordinate(joint, at)].kind == LWI_COORDINATE_LENGTH;
    const lwi_row_kind kind = joint->type->row[at].kind;
    return kind == LWI_ROW_POINT || kind == LWI_ROW_ALONG || kind == LWI_ROW_LENGTH;
}

// -------------------------------------------------------------------------------------------- rows

typedef struct loop {
    lwi_sides sides;
    const lwi_joint *joint;
} loop;

typedef struct row {
    val *J, phi, rate, gamma;
} row;

static void point_row(const loop *l, int i, row *x)
{
    lwi_codegen_graph *g = l->sides.walk->graph;
    val e[3];
    lwi_zero(g, 3, e);
    e[i] = lit(g, 1);
    lwi_sides_force_row(&l->sides, e, false, x->J);
    x->phi = l->sides.d[i];
    x->rate = sub(g, l->sides.frame[1].v[i], l->sides.frame[0].v[i]);
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
    lwi_difference(g, dv, two->v, one->v);
    lwi_difference(g, da, two->a, one->a);
    lwi_cross(g, we, one->w, e);
    x->rate = add(g, lwi_codegen_dot(g, 3, e, dv), lwi_codegen_dot(g, 3, we, l->sides.d));
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
    val e[3], f[3], c[3], we[3], wf[3], wwe[3], wwf[3], dal[3], dw[3];
    lwi_place_axis(one, i, e);
    lwi_place_axis(two, j, f);
    lwi_cross(g, c, f, e);
    lwi_sides_torque_row(&l->sides, c, x->J);
    x->phi = lwi_codegen_dot(g, 3, e, f);
    lwi_difference(g, dw, two->w, one->w);
    x->rate = lwi_codegen_dot(g, 3, c, dw);
    lwi_cross(g, we, one->w, e);
    lwi_cross(g, wf, two->w, f);
    lwi_cross(g, wwe, one->w, we);
    lwi_cross(g, wwf, two->w, wf);
    lwi_difference(g, dal, two->al, one->al);
    const val coriolis = lwi_codegen_dot(g, 3, we, wf);
    x->gamma = add(g, lwi_codegen_dot(g, 3, c, dal), add(g, coriolis, coriolis));
    x->gamma = add(g, x->gamma, lwi_codegen_dot(g, 3, wwe, f));
    x->gamma = add(g, x->gamma, lwi_codegen_dot(g, 3, wwf, e));
}

// With the length L(t):  rate (d.dv - L L') / L,  gamma (d.da + dv.dv - L'^2 - L L'') / L
static void length_row(const loop *l, row *x)
{
    const lwi_walk *walk = l->sides.walk;
    lwi_codegen_graph *g = walk->graph;
    const lwi_place *one = &l->sides.frame[0], *two = &l->sides.frame[1];
    const int j = (int)(l->joint - walk->elements->model->joint);
    const int drive = lwi_walk_drive_index(walk->elements, j, LWI_DRIVE_LENGTH);
    val L[3] = {lit(g, l->joint->par.length), lit(g, 0), lit(g, 0)}, e[3], dv[3], da[3];
    for (int k = 0; drive >= 0 && k < 3; k++) L[k] = walk->drive[drive][k];
    const val per = inverse(g, L[0]);
    for (int i = 0; i < 3; i++) e[i] = mul(g, per, l->sides.d[i]);
    lwi_sides_force_row(&l->sides, e, false, x->J);
    lwi_difference(g, dv, two->v, one->v);
    lwi_difference(g, da, two->a, one->a);
    const val half = lit(g, 0.5);
    x->phi = sub(g, mul(g, half, lwi_codegen_dot(g, 3, e, l->sides.d)), mul(g, half, L[0]));
    x->rate = sub(g, lwi_codegen_dot(g, 3, e, dv), L[1]);
    x->gamma = madd(g, lwi_codegen_dot(g, 3, e, da), per,
                    sub(g, lwi_codegen_dot(g, 3, dv, dv), mul(g, L[1], L[1])));
    x->gamma = sub(g, x->gamma, L[2]);
}

// sin(angle - f) = (-sin f x1 + cos f y1).x2 of a hinge
static void turn_row(const loop *l, val f, row *x)
{
    lwi_codegen_graph *g = l->sides.walk->graph;
    const lwi_place *one = &l->sides.frame[0], *two = &l->sides.frame[1];
    val e[3], x1[3], y1[3], x2[3], dw[3], dal[3], we[3], c, s;
    lwi_place_axis(one, LWI_Z, e);
    lwi_place_axis(one, LWI_X, x1);
    lwi_place_axis(one, LWI_Y, y1);
    lwi_place_axis(two, LWI_X, x2);
    lwi_codegen_circular(g, f, 0, &c, &s);
    lwi_sides_torque_row(&l->sides, e, x->J);
    x->phi = msub(g, mul(g, c, lwi_codegen_dot(g, 3, y1, x2)), s, lwi_codegen_dot(g, 3, x1, x2));
    lwi_difference(g, dw, two->w, one->w);
    lwi_difference(g, dal, two->al, one->al);
    lwi_cross(g, we, one->w, e);
    x->rate = lwi_codegen_dot(g, 3, e, dw);
    x->gamma = add(g, lwi_codegen_dot(g, 3, e, dal), lwi_codegen_dot(g, 3, we, dw));
}

// A prescribed coordinate of the joint.
static void driven_row(const loop *l, int k, row *x)
{
    const lwi_walk *walk = l->sides.walk;
    lwi_codegen_graph *g = walk->graph;
    const lwi_coordinate_form *form = &l->joint->type->coordinate[k];
    const int j = (int)(l->joint - walk->elements->model->joint);
    const val *f = walk->drive[lwi_walk_drive_index(walk->elements, j, k)];
    if (form->kind == LWI_COORDINATE_LENGTH) {
        along_row(l, form->i, x);
        x->phi = sub(g, x->phi, f[0]);
    } else {
        turn_row(l, f[0], x);
    }
    x->rate = sub(g, x->rate, f[1]);
    x->gamma = sub(g, x->gamma, f[2]);
}

static void form_row(const loop *l, int k, row *x)
{
    if (k >= l->joint->type->nc) {
        driven_row(l, driven_coordinate(l->joint, k), x);
        return;
    }
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

static void set_column(const lwi_walk *walk, int iv, val c, val *J)
{
    if (iv < walk->elements->model->tree_nv) J[iv] = add(walk->graph, J[iv], c);
}

static val acceleration(const lwi_walk *walk, int iv)
{
    return iv < walk->elements->model->tree_nv ? lit(walk->graph, 0) : lwi_walk_drive(walk, iv, 2);
}

// q_0 = p(q_1)
static void coupling_row(const lwi_walk *walk, const lwi_coupling *c, row *x)
{
    lwi_codegen_graph *g = walk->graph;
    const lwi_elements *elements = walk->elements;
    const lw_model *m = elements->model;
    const lwi_node *follows = &m->node[m->joint[c->joint].node],
                   *leads = &m->node[m->joint[c->of].node];
    const int iv = lwi_walk_speed_index(elements, follows, c->coordinate),
              with = lwi_walk_speed_index(elements, leads, c->with);
    const val q = lwi_walk_coordinate(walk, lwi_walk_coordinate_index(elements, leads, c->with));
    val P = lit(g, 0), P1 = P, P2 = P;
    for (int k = c->n - 1; k >= 0; k--) {
        P2 = madd(g, add(g, P1, P1), P2, q);
        P1 = madd(g, P, P1, q);
        P = madd(g, lit(g, c->c[k]), P, q);
    }
    for (int i = 0; i < m->tree_nv; i++) x->J[i] = lit(g, 0);
    set_column(walk, iv, lit(g, 1), x->J);
    set_column(walk, with, neg(g, P1), x->J);
    const int iq = lwi_walk_coordinate_index(elements, follows, c->coordinate);
    const val v = lwi_walk_speed(walk, with);
    x->phi = sub(g, lwi_walk_coordinate(walk, iq), P);
    x->rate = msub(g, lwi_walk_speed(walk, iv), P1, v);
    x->gamma = msub(g, acceleration(walk, iv), P1, acceleration(walk, with));
    x->gamma = msub(g, x->gamma, P2, mul(g, v, v));
}

lw_status lwi_closures_create(const lwi_walk *walk, lwi_arena *arena, lwi_closures *c)
{
    const lwi_elements *elements = walk->elements;
    const lwi_loops *loops = elements->loops;
    const lw_model *m = elements->model;
    const size_t nv = (size_t)m->tree_nv, rows = (size_t)loops->m;
    loop *l = LWI_PUSH(arena, loop, 1);
    c->J = LWI_PUSH(arena, val, rows * nv);
    c->phi = LWI_PUSH(arena, val, rows);
    c->rate = LWI_PUSH(arena, val, rows);
    c->gamma = LWI_PUSH(arena, val, rows);
    if (!l || !c->J || !c->phi || !c->rate || !c->gamma) return LW_ERR_MEMORY;
    TRY(lwi_sides_create(walk, arena, &l->sides));
    for (int k = 0; k < loops->n; k++) {
        lwi_codegen_graph_note(walk->graph, "loop of joint '%s'",
                               m->joint[lwi_closing_joint(elements, k)].name);
        if (k < m->nloop) {
            l->joint = &m->joint[m->loop[k]];
            lwi_sides_joint(&l->sides, l->joint);
        }
        for (int i = loops->first[k]; i < loops->first[k + 1]; i++) {
            row x = {.J = c->J + (size_t)i * nv};
            if (k < m->nloop)
                form_row(l, i - loops->first[k], &x);
            else
                coupling_row(walk, &m->coupling[k - m->nloop], &x);
            c->phi[i] = x.phi;
            c->rate[i] = x.rate;
            c->gamma[i] = x.gamma;
        }
    }
    return walk->graph->failed ? LW_ERR_MEMORY : LW_OK;
}
