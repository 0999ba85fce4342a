// limits.c -- limits of joints that have no stiffness become stops: of a given stiffness and damping, or scaled by the
// mechanism, critically damped with a given time constant T,
//
//     stiffness = I / T^2,   damping = 2 I / T
//
// where I is the articulated inertia of the coordinate at the start [featherstone2008]: that of everything beyond it,
// its other joints free, and its own rotor.
#include "io/limits.h"

#include "io/effective.h"
#include "model/model.h"

#include <linkwork/dynamics.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/** What was done, for the notices. */
typedef struct tally {
    int n;
    double smallest, largest; ///< stiffness
    char names[600];
} tally;

static void add_name(tally *t, const char *name)
{
    const size_t used = strlen(t->names);
    if (t->n++ < 20)
        snprintf(t->names + used, sizeof t->names - used, "%s%.60s", used ? ", " : "", name);
}

// Is it a range that nothing holds?
static bool is_open(const lw_coordinate_desc *c)
{
    const lw_limits_desc *l = &c->limits;
    return (l->has_lower || l->has_upper) && !(l->stiffness > 0) && c->motion.index == 0;
}

static bool any_open(const lwi_description *d)
{
    for (int j = 0; j < d->njoint; j++)
        for (int k = 0; k < LW_JOINT_MAX_NV; k++)
            if (is_open(&d->joint[j].coordinate[k])) return true;
    return false;
}

// ------------------------------------------------------------------------------------------- stops

static void set_stop(lw_limits_desc *l, double inertia, double T)
{
    l->stiffness = inertia / (T * T);
    l->damping = 2 * inertia / T;
}

static void scale_joint(lw_builder *b, const lwi_effective *e, double T, int j, tally *done,
                        tally *left)
{
    int q_first, nq, v_first, nv;
    lw_joint_desc *joint = &b->desc.joint[j];
    const bool in_tree =
        lw_model_joint_tree(e->model, (lw_joint){j}, &q_first, &nq, &v_first, &nv) == LW_OK;
    for (int k = 0, free = 0; k < LW_JOINT_MAX_NV; k++) {
        lw_coordinate_desc *c = &joint->coordinate[k];
        const int iv = c->motion.index ? -1 : free++; // free speeds of the tree
        if (!is_open(c)) continue;
        const double I = in_tree && iv >= 0 && iv < nv ? e->D[v_first + iv] : 0;
        if (!(I > 0) || !isfinite(I / (T * T))) {
            add_name(left, joint->name);
            continue;
        }
        set_stop(&c->limits, I, T);
        done->smallest = done->n ? fmin(done->smallest, c->limits.stiffness) : c->limits.stiffness;
        done->largest = done->n ? fmax(done->largest, c->limits.stiffness) : c->limits.stiffness;
        add_name(done, joint->name);
    }
}

static lw_status report_start(lw_builder *b, const lw_model *m)
{
    tally beyond = {0};
    for (int j = 0; j < b->desc.njoint; j++) {
        const lwi_joint *joint = &m->joint[j];
        for (int k = 0; k < joint->type->nq && k < LW_JOINT_MAX_NV; k++) {
            const lw_limits_desc *l = &b->desc.joint[j].coordinate[k].limits;
            const double q = m->q0[joint->iq + k];
            if (l->stiffness > 0 &&
                ((l->has_lower && q < l->lower) || (l->has_upper && q > l->upper)))
                add_name(&beyond, b->desc.joint[j].name);
        }
    }
    if (beyond.n == 0) return LW_OK;
    return lw_builder_warn(b, (lw_place){0}, "joints start beyond their limits (%d): %s", beyond.n,
                           beyond.names);
}

static lw_status scale(lw_builder *b, lwi_effective *e, double T)
{
    tally done = {0}, left = {0};
    lwi_effective_factor(e);
    for (int j = 0; j < b->desc.njoint; j++) scale_joint(b, e, T, j, &done, &left);
    if (done.n)
        TRY(lw_builder_warn(b, (lw_place){0},
                            "limits are stops, critically damped with a time constant of %g s: "
                            "stiffness %.3g to %.3g N m/rad or N/m, joints (%d): %s",
                            T, done.smallest, done.largest, done.n, done.names));
    if (left.n)
        TRY(lw_builder_warn(b, (lw_place){0},
                            "limits are not enforced, the joints close loops or have no inertia "
                            "(%d): %s",
                            left.n, left.names));
    return report_start(b, e->model);
}

static lw_status scaled(lw_builder *b, double T, lw_error *error)
{
    lwi_effective e;
    TRY(lwi_effective_create(b, &e, error));
    const lw_status status = scale(b, &e, T);
    lwi_effective_destroy(&e);
    return status == LW_OK ? LW_OK : lwi_fail(error, status, "no memory for the limits of joints");
}

lw_status lwi_limits_apply(lw_builder *b, const lw_limits_desc *given, double T, lw_error *error)
{
    if ((!(T > 0) && !(given->stiffness > 0)) || !any_open(&b->desc)) return LW_OK;
    if (T > 0) return scaled(b, T, error);
    for (int j = 0; j < b->desc.njoint; j++)
        for (int k = 0; k < LW_JOINT_MAX_NV; k++) {
            lw_coordinate_desc *c = &b->desc.joint[j].coordinate[k];
            if (!is_open(c)) continue;
            c->limits.stiffness = given->stiffness;
            c->limits.damping = given->damping;
        }
    return LW_OK;
}
