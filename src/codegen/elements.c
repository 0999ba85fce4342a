// elements.c -- the models that can be generated, and their constants.
#include "codegen/elements.h"

#include "codegen/forces.h"
#include "codegen/loops.h"
#include "codegen/motion.h"

#include <linkwork/codegen.h>

#include <float.h>
#include <math.h>
#include <stdio.h>

// ----------------------------------------------------------------------------------------- refusal

static const char head[] = "no code can be generated";

static const char *joint_name(const lw_model *model, int joint)
{
    return model->joint[joint].name;
}

static lw_status check_joints(const lw_model *model, lw_error *error)
{
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->ndriven > 0 || joint->mount.present)
            return lwi_fail(error, LW_ERR_UNSUPPORTED, "%s: joint '%s' has a prescribed %s", head,
                            joint->name, joint->ndriven > 0 ? "motion" : "mount");
        if (joint->type->callbacks)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: joint '%s' is given by callbacks (custom)", head, joint->name);
    }
    return LW_OK;
}

// Joints without normal form: spherical and free joints that the tree passes backwards, free joints
// between two bodies.
static lw_status check_tree(const lw_model *model, lw_error *error)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const bool is_free = lwi_joint_is_free(node->type);
        if (node->type->quaternion < 0) continue;
        if (node->reversed)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: %s joint '%s' leads from body '%s' towards the ground; exchange "
                            "its bodies",
                            head, node->type->name, joint_name(model, node->joint),
                            model->body[node->body].name);
        if (is_free && node->parent >= 0)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: free joint '%s' is between two moving bodies", head,
                            joint_name(model, node->joint));
    }
    return LW_OK;
}

static const char *joint_of_speed(const lw_model *model, int iv)
{
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (iv >= joint->iv && iv < joint->iv + joint->type->nv) return joint->name;
    }
    return "?";
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

static lw_status check_joint_forces(const lw_model *model, lw_error *error)
{
    const lwi_description *d = &model->desc;
    for (int j = 0; j < d->njoint; j++)
        for (int k = 0; k < LW_JOINT_MAX_NV; k++) {
            const lw_coordinate_desc *c = &d->joint[j].coordinate[k];
            const bool limits = c->limits.stiffness > 0;
            if (limits || c->friction.coulomb != 0 || c->friction.viscous != 0)
                return lwi_fail(error, LW_ERR_UNSUPPORTED,
                                "%s: joint '%s' has %s; only its springs and dampers are generated",
                                head, d->joint[j].name, limits ? "limits" : "friction");
        }
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- efforts

// Index in tree v of a speed of the joint arrays; the same for coordinates.
static void place_effort(const lw_model *model, const lwi_joint_spring_par *p, int *iv, int *iq)
{
    *iv = *iq = -1;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint < 0) continue;
        const lwi_joint *joint = &model->joint[node->joint];
        const int i = p->iv - joint->iv;
        if (i < 0 || i >= joint->type->nv) continue;
        *iv = node->iv + i;
        if (p->iq >= 0) *iq = node->iq + (p->iq - joint->iq);
    }
}

// A spring or damper on a joint that closes a loop.
static lw_status read_cut_effort(lwi_elements *e, const lwi_joint_spring_par *p, double constant,
                                 lw_error *error)
{
    const lw_model *model = e->model;
    for (int k = 0; k < model->nloop; k++) {
        const lwi_joint *joint = &model->joint[model->loop[k]];
        const int i = p->iv - joint->iv;
        if (i < 0 || i >= joint->type->nv) continue;
        const lwi_coordinate_kind kind = joint->type->coordinate[i].kind;
        const bool ball = lwi_joint_is_ball(joint->type), is_length = kind == LWI_COORDINATE_LENGTH;
        if (!ball && !is_length && kind != LWI_COORDINATE_TURN)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: %s joint '%s' closes a loop and has a spring, damper or effort",
                            head, joint->type->name, joint->name);
        if (p->stiffness != 0 && !is_length)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: joint '%s' closes a loop and has a spring: its revolutions are "
                            "counted from the past; let another joint close the loop",
                            head, joint->name);
        e->cut_effort[e->ncut_effort++] = (lwi_cut_effort){
            .joint = model->loop[k],
            .k = i,
            .effort = {-1, constant + p->stiffness * p->at, p->stiffness, p->damping}};
    }
    return LW_OK;
}

static lw_status read_efforts(const lw_model *model, lwi_elements *e, lw_error *error)
{
    for (int i = 0; i < model->nforce; i++) {
        if (model->force[i].type != &lwi_force_joint_spring) continue;
        const lwi_joint_spring_par *p = model->force[i].par;
        double force, effort;
        int iv, iq;
        if (!lwi_constant_signal(model, p->force, &force) ||
            !lwi_constant_signal(model, p->effort, &effort))
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "%s: the effort on joint '%s' follows a function or an input; leave it "
                            "out of the model and pass it in tau",
                            head, joint_of_speed(model, p->iv));
        place_effort(model, p, &iv, &iq);
        if (iv < 0) { // closes a loop, or is without dynamics
            TRY(read_cut_effort(e, p, force + effort, error));
            continue;
        }
        lwi_effort *f = &e->effort[iv];
        f->at_rest += force + effort;
        f->damping += p->damping;
        if (iq < 0) continue;
        f->iq = iq;
        f->stiffness += p->stiffness;
        f->at_rest += p->stiffness * p->at;
    }
    return LW_OK;
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
    e->node = node_of(model, step->iv);
    e->rotor = model->tree_rotor[step->iv];
    read_body(&plan->body[block], l, e);
    if (e->kind == LWI_K_BALL || e->kind == LWI_K_BASE)
        read_ball(&plan->ball[block - plan->nscrew], l, e);
    else
        read_screw(&plan->screw[block], l, e);
}

lw_status lwi_elements_create(const lw_model *model, const lw_allocator *allocator,
                              lwi_arena *arena, lwi_elements *e, lw_error *error)
{
    *e = (lwi_elements){.model = model};
    TRY(check_joints(model, error));
    TRY(check_tree(model, error));
    TRY(lwi_forces_check(model, error));
    TRY(check_joint_forces(model, error));
    if (model->tree_nv > LW_CODEGEN_MAX_SPEEDS)
        return lwi_fail(
            error, LW_ERR_UNSUPPORTED,
            "%s: the model has %d degrees of freedom, more than the %d that straight-line code "
            "is made for",
            head, model->tree_nv, LW_CODEGEN_MAX_SPEEDS);
    if (model->tree_nv == 0)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "%s: nothing moves in this model", head);

    lw_model bare = *model; // efforts are handled by the generator
    bare.nforce = 0;
    bare.force_needs = 0;
    lwi_kernel_plan *plan = NULL;
    TRY(lwi_kernel_plan_create(&bare, arena, &plan));
    if (!plan)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "%s: the tree has no kernel normal form", head);
    e->n = plan->nstep;
    e->list = LWI_PUSH(arena, lwi_element, plan->nstep);
    e->effort = LWI_PUSH(arena, lwi_effort, model->tree_nv);
    e->cut_effort = LWI_PUSH(arena, lwi_cut_effort, model->nforce + 1);
    if (!e->list || !e->effort || !e->cut_effort)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the generator");
    for (int i = 0; i < plan->nstep; i++) read_element(plan, model, i, &e->list[i]);
    for (int i = 0; i < 3; i++) e->ground[i] = -model->gravity[i];
    TRY(read_efforts(model, e, error));
    TRY(lwi_closings_create(e, arena, error));
    return e->loops ? lwi_partition_create(e, allocator, arena, error) : LW_OK;
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
