// joints.c -- coordinates and speeds of joints as the model states them: of the tree, prescribed, or of loops.
//
// Of a joint that closes a loop they follow from its frames, with d from F1 to F2:
//
//   length     e.d                        its rate   e.(v2 - v1) + (w1 x e).d      e: an axis of F1
//   hinge                                 rate       z.(w2 - w1)
//   universal                             rates      e.(w2 - w1)                   e: z of F1, x of F2, perpendicular
//   ball                                  rates      f.(w2 - w1)                   f: an axis of F2
#include "codegen/joints.h"

#include "base/assert.h"
#include "codegen/refuse.h"

#include <stdio.h>

static const lwi_joint *joint_of(const lw_model *m, bool speed, int index, int *k)
{
    for (int j = 0; j < m->njoint; j++) {
        const lwi_joint *joint = &m->joint[j];
        *k = index - (speed ? joint->iv : joint->iq);
        if (*k >= 0 && *k < (speed ? joint->type->nv : joint->type->nq)) return joint;
    }
    return NULL;
}

bool lwi_joint_is_still(const lw_model *m, bool speed, int index)
{
    int k;
    const lwi_joint *joint = joint_of(m, speed, index, &k);
    return !joint || joint->merged;
}

void lwi_joint_user(const lw_model *m, bool speed, int index, char *user, size_t size,
                    lw_place *place)
{
    int k;
    const lwi_joint *joint = joint_of(m, speed, index, &k);
    snprintf(user, size, "joint '%.180s'", joint ? joint->name : "?");
    *place = joint ? lwi_joint_place(m, (int)(joint - m->joint)) : (lw_place){0};
}

// Index for lwi_walk_coordinate or lwi_walk_speed.
static int tree_index(const lwi_elements *e, const lwi_joint *joint, bool speed, int k)
{
    const lwi_node *node = &e->model->node[joint->node];
    if (speed) return lwi_walk_speed_index(e, node, k);
    return joint->type->quaternion >= 0 ? node->iq + k : lwi_walk_coordinate_index(e, node, k);
}

int lwi_tree_coordinate(const lwi_elements *e, int index)
{
    int k;
    const lwi_joint *joint = joint_of(e->model, false, index, &k);
    return tree_index(e, joint, false, k);
}

bool lwi_joint_reading_exists(const lw_model *m, bool speed, int index)
{
    int k;
    const lwi_joint *joint = joint_of(m, speed, index, &k);
    if (!joint || joint->merged) return false;
    if (joint->node >= 0) return true;
    if (joint->type->quaternion >= 0) return speed && lwi_joint_is_ball(joint->type);
    const lwi_coordinate_kind kind = joint->type->coordinate[k].kind;
    return kind == LWI_COORDINATE_LENGTH || (speed && kind != 0);
}

// Of an angle between axes of both frames the axis that is perpendicular to these: of F1 where it is between two of its axes.
static void axis_of_arc(const lwi_sides *s, const lwi_coordinate_form *form, val e[3])
{
    const bool second = form->i == form->k;
    const int from = second ? form->l : form->i, to = second ? form->j : form->k;
    LWI_ASSERT((from + 1) % 3 == to); // the angle is about the third axis, not against it
    lwi_place_axis(&s->frame[second], 3 - from - to, e);
}

// The axis of a speed of a joint that closes a loop, in axes at rest, once it is placed.  Is it one of a length?
static bool axis_of(const lwi_sides *s, const lwi_joint *joint, int k, val e[3])
{
    const lwi_coordinate_form *form = &joint->type->coordinate[k];
    const bool ball = joint->type->quaternion >= 0;
    if (ball)
        lwi_place_axis(&s->frame[1], k, e);
    else if (form->kind == LWI_COORDINATE_ARC)
        axis_of_arc(s, form, e);
    else
        lwi_place_axis(&s->frame[0], form->kind == LWI_COORDINATE_LENGTH ? form->i : LWI_Z, e);
    return !ball && form->kind == LWI_COORDINATE_LENGTH;
}

static val of_loop(lwi_sides *s, const lwi_joint *joint, bool speed, int k)
{
    lwi_codegen_graph *g = s->walk->graph;
    const lwi_place *one = &s->frame[0], *two = &s->frame[1];
    val e[3], turning[3], relative[3];
    lwi_sides_joint(s, joint);
    const bool length = axis_of(s, joint, k, e);
    if (!speed) return lwi_codegen_dot(g, 3, e, s->d);
    if (!length) {
        lwi_difference(g, relative, two->w, one->w);
        return lwi_codegen_dot(g, 3, e, relative);
    }
    lwi_difference(g, relative, two->v, one->v);
    lwi_cross(g, turning, one->w, e);
    return add(g, lwi_codegen_dot(g, 3, e, relative), lwi_codegen_dot(g, 3, turning, s->d));
}

val lwi_joint_reading(lwi_sides *s, bool speed, int index)
{
    const lwi_elements *elements = s->walk->elements;
    int k;
    const lwi_joint *joint = joint_of(elements->model, speed, index, &k);
    if (joint->node < 0) return of_loop(s, joint, speed, k);
    const int i = tree_index(elements, joint, speed, k);
    return speed ? lwi_walk_speed(s->walk, i) : lwi_walk_coordinate(s->walk, i);
}

void lwi_joint_push(lwi_sides *s, int index, val effort, val *J, val *load)
{
    lwi_codegen_graph *g = s->walk->graph;
    const lwi_elements *elements = s->walk->elements;
    int k;
    const lwi_joint *joint = joint_of(elements->model, true, index, &k);
    val e[3];
    if (joint->node >= 0) {
        const int iv = tree_index(elements, joint, true, k);
        if (iv < elements->model->tree_nv) load[iv] = add(g, load[iv], effort); // else prescribed
        return;
    }
    lwi_sides_joint(s, joint);
    if (axis_of(s, joint, k, e))
        lwi_sides_force_row(s, e, true, J);
    else
        lwi_sides_torque_row(s, e, J);
    lwi_sides_push(s, J, effort, load);
}
