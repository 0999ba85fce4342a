// elements.c -- the models that can be generated, and their constants.
#include "codegen/elements.h"

#include "codegen/forces.h"
#include "codegen/joints.h"
#include "codegen/loops.h"
#include "codegen/motion.h"
#include "codegen/refuse.h"
#include "codegen/signals.h"
#include "dynamics/state_derivatives.h"

#include <linkwork/codegen.h>

#include <float.h>
#include <math.h>
#include <stdio.h>

// ----------------------------------------------------------------------------------------- refusal

static const char *joint_name(const lw_model *model, int joint)
{
    return model->joint[joint].name;
}

static lw_status check_motion(const lw_model *model, int j, lw_signal motion, lw_error *error)
{
    char user[200];
    snprintf(user, sizeof user, "joint '%.180s'", joint_name(model, j));
    return lwi_signals_check(model, motion, user, error);
}

static lw_status check_joints(const lw_model *model, lw_error *error)
{
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const lwi_mount *mount = &joint->mount;
        if (joint->type->callbacks)
            return lwi_refuse(model, lwi_joint_place(model, j), error,
                              "joint '%s' is given by callbacks (custom)", joint->name);
        for (int k = 0; k < joint->type->nv; k++)
            TRY(check_motion(model, j, joint->motion[k], error));
        for (int k = 0; mount->present && k < 3; k++)
            TRY(check_motion(model, j, mount->shift[k], error));
        if (mount->present) TRY(check_motion(model, j, mount->turn, error));
        TRY(check_motion(model, j, joint->length_of, error));
    }
    return LW_OK;
}

// Joints without normal form: spherical and free joints that the tree passes backwards, free joints
// between two bodies, mounts of joints that it passes backwards.
static lw_status check_tree(const lw_model *model, lw_error *error)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const bool is_free = lwi_joint_is_free(node->type);
        const lw_place place =
            node->joint < 0 ? (lw_place){0} : lwi_joint_place(model, node->joint);
        const bool mounted = node->joint >= 0 && model->joint[node->joint].mount.present;
        if (mounted && (node->reversed || is_free))
            return lwi_refuse(model, place, error, "joint '%s' has a mount and %s",
                              joint_name(model, node->joint),
                              is_free ? "is free" : "leads towards the ground");
        if (node->type->quaternion < 0) continue;
        if (node->reversed)
            return lwi_refuse(model, place, error,
                              "%s joint '%s' leads from body '%s' towards the ground; exchange "
                              "its bodies",
                              node->type->name, joint_name(model, node->joint),
                              model->body[node->body].name);
        if (is_free && node->parent >= 0)
            return lwi_refuse(model, place, error, "free joint '%s' is between two moving bodies",
                              joint_name(model, node->joint));
    }
    return LW_OK;
}

bool lwi_constant_signal(const lw_model *model, lw_signal signal, double *value)
{
    *value = 0;
    if (signal.index == 0) return true;
    if (signal.index < 0) return false;
    const lw_function_desc *desc = &model->function[signal.index - 1].desc;
    *value = desc->value;
    return desc->type == LW_FUNCTION_CONSTANT;
}

// ----------------------------------------------------------------------------------------- efforts

// The linear part of springs and dampers on joints of the tree; forces.c has all others.
static void read_efforts(const lw_model *model, lwi_elements *e)
{
    for (int i = 0; i < model->nforce; i++) {
        if (model->force[i].type != &lwi_force_joint_spring) continue;
        const lwi_joint_spring_par *p = model->force[i].par;
        double force = 0, effort = 0;
        const int iv = lwi_tree_speed(model, p->iv);
        if (iv < 0) continue; // closes a loop, is prescribed or without dynamics
        lwi_effort *f = &e->effort[iv];
        if (lwi_constant_signal(model, p->force, &force)) f->at_rest += force;
        if (lwi_constant_signal(model, p->effort, &effort)) f->at_rest += effort;
        f->damping += p->damping;
        if (p->iq < 0) continue;
        f->iq = lwi_tree_coordinate(e, p->iq);
        f->stiffness += p->stiffness;
        f->at_rest += p->stiffness * p->at;
    }
}

// ------------------------------------------------------------------------------------------ drives

lw_signal lwi_drive_motion(const lw_model *model, lwi_k_drive drive)
{
    if (drive.coordinate == LWI_DRIVE_LENGTH) return model->joint[drive.joint].length_of;
    return lwi_k_drive_motion(model, drive);
}

static void add_drive(lwi_elements *e, int joint, int coordinate)
{
    const lwi_k_drive drive = {joint, coordinate};
    if (lwi_drive_motion(e->model, drive).index > 0) e->drive[e->ndrive++] = drive;
}

static lw_status read_drives(const lwi_kernel_plan *plan, lwi_arena *arena, lwi_elements *e)
{
    const lw_model *m = e->model;
    e->drive = LWI_PUSH(arena, lwi_k_drive, plan->ndrive + (LW_JOINT_MAX_NV + 5) * m->nloop);
    if (!e->drive) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->ndrive; i++) e->drive[e->ndrive++] = plan->drive[i];
    for (int i = 0; i < m->nloop; i++) {
        const lwi_joint *joint = &m->joint[m->loop[i]];
        for (int k = 0; k < joint->type->nv; k++) add_drive(e, m->loop[i], k);
        for (int k = LWI_DRIVE_LENGTH; k < 0; k++)
            if (joint->mount.present || k == LWI_DRIVE_LENGTH) add_drive(e, m->loop[i], k);
    }
    e->timed = e->ndrive > 0;
    return LW_OK;
}

// Some function that changes, or an input: what forces may read.
static bool has_signals(const lw_model *m)
{
    bool some = m->desc.ninput > 0 || m->nstate > 0;
    for (int i = 0; i < m->desc.nfunction; i++)
        some |= m->function[i].desc.type != LW_FUNCTION_CONSTANT;
    return some;
}

// ---------------------------------------------------------------------------------------- elements

// Rounding of the frames leaves 1e-17 instead of zero: elements below some units in the last place of the
// largest of their group are zero.
static void snap(int n, double *x, double largest)
{
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    for (int i = 0; i < n; i++)
        if (fabs(x[i]) <= 8 * DBL_EPSILON * largest) x[i] = 0;
}

double lwi_whole(double x)
{
    const double whole = rint(x);
    return fabs(x - whole) <= 8 * DBL_EPSILON ? whole : x;
}

static void snap_rotation(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = lwi_whole(x[i]);
}

static void read_body(const lwi_k_body *k, int l, lwi_element *e)
{
    e->m = k->m[l];
    for (int i = 0; i < 3; i++) e->h[i] = k->h[i][l];
    for (int i = 0; i < 6; i++) e->J[i] = k->J[i][l];
    snap(3, e->h, 0);
    snap(6, e->J, 0);
}

static void read_screw(const lwi_k_screw *k, int l, lwi_element *e)
{
    double turns[4] = {k->ca[l], k->sa[l], k->cphi[l], k->sphi[l]};
    double lengths[4] = {k->a[l], k->b[l], k->delta[l], k->shift[l]};
    snap_rotation(4, turns);
    snap(4, lengths, 0);
    e->ca = turns[0], e->sa = turns[1], e->cphi = turns[2], e->sphi = turns[3];
    e->a = lengths[0], e->b = lengths[1], e->delta = lengths[2], e->shift = lengths[3];
    e->angle = k->angle[l];
    if (fabs(e->angle) <= 8 * DBL_EPSILON) e->angle = 0;
    e->sign = k->sign[l];
    e->turn = k->turn[l];
    e->slide = k->slide[l];
}

static void read_ball(const lwi_k_ball *k, int l, lwi_element *e)
{
    for (int i = 0; i < 9; i++) e->R[i] = k->R[i][l];
    for (int i = 0; i < 3; i++) e->r[i] = k->r[i][l];
    snap_rotation(9, e->R);
    snap(3, e->r, 0);
}

static const lwi_node *node_of(const lw_model *model, int iv)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (iv >= node->iv && iv < node->iv + node->nv) return node;
    }
    return NULL;
}

static int element_at(const lwi_kernel_plan *plan, int slot)
{
    for (int i = 0; i < plan->nstep; i++)
        if (plan->step[i].slot == slot) return i;
    return -1;
}

static void read_element(const lwi_kernel_plan *plan, const lw_model *model, int i, lwi_element *e)
{
    const lwi_k_step *step = &plan->step[i];
    const int block = step->slot / LWI_LANES, l = step->slot % LWI_LANES;
    e->kind = (lwi_k_kind)step->kind;
    e->parent = step->parent < 0 ? -1 : element_at(plan, step->parent);
    e->iq = step->iq;
    e->iv = step->iv;
    e->driven = step->driven;
    if (e->driven) {
        const int joint = plan->drive[step->iv - model->tree_nv].joint;
        e->node = &model->node[model->joint[joint].node];
    } else {
        e->node = node_of(model, step->iv);
        e->rotor = model->tree_rotor[step->iv];
    }
    read_body(&plan->body[block], l, e);
    if (e->kind == LWI_K_BALL || e->kind == LWI_K_BASE)
        read_ball(&plan->ball[block - plan->nscrew], l, e);
    else
        read_screw(&plan->screw[block], l, e);
}

lw_status lwi_elements_read(const lw_model *model, lwi_arena *arena, lwi_elements *e,
                            lw_error *error)
{
    *e = (lwi_elements){.model = model};
    TRY(check_joints(model, error));
    TRY(check_tree(model, error));
    TRY(lwi_forces_check(model, error));
    if (model->tree_nv == 0)
        return lwi_refuse(model, (lw_place){0}, error, "nothing moves in this model");

    lw_model bare = *model; // efforts are handled by the generator
    bare.nforce = 0;
    bare.force_needs = 0;
    lwi_kernel_plan *plan = NULL;
    const lwi_k_choice choice = {LWI_K_AUTO, LWI_K_AUTO, model->driven, 0};
    TRY(lwi_kernel_plan_create_chosen(&bare, choice, arena, &plan));
    if (!plan) return lwi_refuse(model, (lw_place){0}, error, "the tree has no kernel normal form");
    e->n = plan->nstep;
    e->list = LWI_PUSH(arena, lwi_element, plan->nstep);
    e->effort = LWI_PUSH(arena, lwi_effort, model->tree_nv);
    if (!e->list || !e->effort)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the generator");
    for (int i = 0; i < plan->nstep; i++) read_element(plan, model, i, &e->list[i]);
    for (int i = 0; i < 3; i++) e->ground[i] = -model->gravity[i];
    TRY(read_drives(plan, arena, e));
    e->signals = has_signals(model);
    read_efforts(model, e);
    return lwi_closings_create(e, arena, error);
}

lw_status lwi_elements_create(const lw_model *model, const lwi_partition *partition,
                              const lw_allocator *allocator, lwi_arena *arena, lwi_elements *e,
                              lw_error *error)
{
    TRY(lwi_elements_read(model, arena, e, error));
    return e->loops ? lwi_partition_create(e, partition, allocator, arena, error) : LW_OK;
}

int lwi_element_of_speed(const lwi_elements *e, int iv)
{
    int i = e->n - 1;
    while (i >= 0) {
        const lwi_element *it = &e->list[i];
        if (iv >= it->iv && iv < it->iv + lwi_element_speeds(it)) break;
        i--;
    }
    return i;
}

void lwi_element_name(const lwi_elements *elements, const lwi_element *e, char *room, size_t size)
{
    const lw_model *model = elements->model;
    if (e->node->joint < 0)
        snprintf(room, size, "floating body '%s'", model->body[e->node->body].name);
    else
        snprintf(room, size, "joint '%s'", joint_name(model, e->node->joint));
}
