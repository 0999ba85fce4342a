// outputs.c -- the numbers of forces and drives: lists and values.
//
// The effort of a drive on speed k of a joint is the part of the reaction along the motion, F2 axes:
//
//     effort_k = S_k' W,   power_k = effort_k qd_k
//
// and what drives, mount and varying length of a joint do together is the power of its reaction:
//
//     power = f (v2 - v1) + t (w2 - w1),   v of both bodies at P2
//
// which is zero in a joint without them.  On a mount (f, t) also has the efforts of springs and others on the coordinates,
// which the mount moves, and what they do along the coordinates is subtracted.
#include "model/outputs.h"

#include "base/assert.h"
#include "model/forces/item.h"
#include "model/forces/points.h"

#include <string.h>

static const lwi_quantity drive_quantities[] = {
    LWI_COORDINATE_OUTPUT("drive", LWI_EFFORT_UNITS, "effort of the drive along coordinate K"),
    LWI_COORDINATE_OUTPUT("drive_power", LWI_POWER_UNITS, "its power: effort times speed K"),
};
static const lwi_quantity joint_quantities[] = {
    LWI_OUTPUT("joint", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "driven joints: power of the reaction, that of all drives, of the mount "
                          "and of a length that varies"),
};

static const lwi_quantity signal_quantities[] = {
    LWI_OUTPUT("signal", "value", LWI_OUTPUT_SCALAR, .part = {"value"}, .unit = {""},
               .summary = "value of a signal"),
};

int lwi_quantity_part_count(const lwi_quantity *q)
{
    int n = 0;
    while (n < LWI_QUANTITY_PARTS && q->part[n]) n++;
    return n;
}

// ------------------------------------------------------------------------------------------- types

typedef struct table {
    const lwi_quantity *quantity;
    int n;
} table;

// Table number k of all types; n = 0: there are no more.
static table table_at(int k)
{
    static const lwi_force_type *const types[] = {
#define X(name) &lwi_force_##name,
        LWI_FORCE_LIST(X)
#undef X
    };
    if (k == 0) return (table){drive_quantities, LWI_COUNT(drive_quantities)};
    if (k == 1) return (table){joint_quantities, LWI_COUNT(joint_quantities)};
    if (k == 2) return (table){signal_quantities, LWI_COUNT(signal_quantities)};
    if (k - 3 >= LWI_COUNT(types)) return (table){0};
    return (table){types[k - 3]->outputs->quantity, types[k - 3]->outputs->n};
}

const lwi_quantity *lwi_output_quantity_at(int index)
{
    for (int k = 0;; k++) {
        const table t = table_at(k);
        if (t.n == 0) return NULL;
        if (index < t.n) return t.quantity + index;
        index -= t.n;
    }
}

// ------------------------------------------------------------------------------------------- lists

// With model->output NULL the outputs are only counted.
static int add_output(lw_model *m, const char *item, table t, int joint, int coordinate)
{
    const int first = m->noutput_value;
    const lwi_force_output output = {item, t.quantity, t.n, first, joint, coordinate};
    if (m->output) m->output[m->noutput] = output;
    m->noutput++;
    for (int i = 0; i < t.n; i++) m->noutput_value += lwi_quantity_part_count(&t.quantity[i]);
    // two numbers determine what the names do not
    m->output_code = m->output_code * 1000003u + (unsigned long)(joint + 1) * 64u +
                     (unsigned long)(coordinate + 1);
    for (const char *c = t.quantity[0].name; *c; c++)
        m->output_code = m->output_code * 31u + (unsigned char)*c;
    return first;
}

// The forces before `end` are those of joints.
static void add_joint(lw_model *m, int j, int end, int *force)
{
    const lwi_joint *joint = &m->joint[j];
    const lwi_force_type *before = NULL;
    for (int iv = -1; *force < end; ++*force) {
        lwi_force *f = &m->force[*force];
        const lwi_force_place place = lwi_force_acts_on(f);
        if (place.iv < joint->iv || place.iv >= joint->iv + joint->type->nv) break;
        const table t = {f->type->outputs->quantity, f->type->outputs->n};
        // the stops at both ends of a coordinate are one output
        if (f->type == before && place.iv == iv)
            f->output = f[-1].output;
        else
            f->output = add_output(m, joint->name, t, j, place.iv - joint->iv);
        before = f->type, iv = place.iv;
    }
    for (int k = 0; k < joint->type->nv; k++)
        if (joint->motion[k].index)
            add_output(m, joint->name, (table){drive_quantities, LWI_COUNT(drive_quantities)}, j,
                       k);
    if (joint->ndriven || joint->mount.present || joint->length_of.index)
        add_output(m, joint->name, (table){joint_quantities, LWI_COUNT(joint_quantities)}, j, -1);
}

static void add_all(lw_model *m)
{
    int force = 0, end = m->nforce - (m->nstate > 0); // without the rates of signals
    m->noutput = m->noutput_value = 0;
    m->output_code = 0;
    for (int kind = 0; kind < LWI_FORCE_ITEMS; kind++) end -= m->desc.force[kind].n;
    for (int j = 0; j < m->njoint; j++) add_joint(m, j, end, &force);
    LWI_ASSERT(force == end);
    for (int kind = 0; kind < LWI_FORCE_ITEMS; kind++)
        for (int i = 0; i < m->desc.force[kind].n; i++, force++) {
            lwi_force *f = &m->force[force];
            const char *name =
                lwi_force_item_name(lwi_force_items[kind], lwi_force_desc(&m->desc, kind, i));
            LWI_ASSERT(force < m->nforce && f->type == lwi_force_items[kind]->type);
            f->output = add_output(
                m, name, (table){f->type->outputs->quantity, f->type->outputs->n}, -1, -1);
        }
    LWI_ASSERT(force == m->nforce - (m->nstate > 0));
    for (int i = 0; i < m->desc.nfunction; i++)
        if (m->desc.function[i].recorded)
            add_output(m, m->desc.function[i].name,
                       (table){signal_quantities, LWI_COUNT(signal_quantities)}, -1, i);
}

lw_status lwi_compile_outputs(lw_model *m)
{
    add_all(m);
    m->output = LWI_PUSH(&m->arena, lwi_force_output, m->noutput);
    if (!m->output) return LW_ERR_MEMORY;
    add_all(m);
    return LW_OK;
}

const char *lwi_output_unit(const lw_model *m, const lwi_force_output *output,
                            const lwi_quantity *q, int part)
{
    if (!q->numbered) return q->unit[q->unit[1] ? part : 0];
    LWI_ASSERT_INDEX(output->joint, m->njoint);
    const lwi_joint_type *type = m->joint[output->joint].type;
    const int k = output->coordinate;
    if (type->quaternion >= 0) return q->unit[type->nv == 6 && k < 3 ? 1 : 2];
    return q->unit[!type->scalar ? 0 : type->angles & (1u << k) ? 2 : 1];
}

int lw_model_output_count(const lw_model *model)
{
    if (!model) return 0;
    return model->noutput_value;
}

// The output that has number `index`.
static const lwi_force_output *find_output(const lw_model *m, int index)
{
    int low = 0, high = m->noutput - 1;
    while (low < high) {
        const int middle = high - (high - low) / 2;
        if (m->output[middle].first <= index)
            low = middle;
        else
            high = middle - 1;
    }
    return &m->output[low];
}

lw_output_info lw_model_output(const lw_model *model, int index)
{
    const lw_output_info none = {"", "", "", "", "", "", -1};
    if (!model || index < 0 || index >= model->noutput_value) return none;
    const lwi_force_output *o = find_output(model, index);
    const lwi_quantity *q = o->quantity;
    int part = index - o->first;
    for (int n; part >= (n = lwi_quantity_part_count(q)); q++) part -= n;
    LWI_ASSERT(q < o->quantity + o->nquantity);
    return (lw_output_info){.kind = q->kind,
                            .item = o->item,
                            .part = q->part[part],
                            .quantity = q->name,
                            .unit = lwi_output_unit(model, o, q, part),
                            .frame = q->frame,
                            .coordinate = q->numbered ? o->coordinate : -1};
}

// ------------------------------------------------------------------------------------------ values

static void drive_values(const lwi_joint *joint, int k, const lwi_kin *kin, const double W[6],
                         double *value)
{
    double S[LW_JOINT_MAX_NV][6], R2[9], f[3], t[3];
    LWI_ASSERT_INDEX(k, joint->type->nv);
    joint->type->subspace(&joint->par, kin->q + joint->iq, S);
    m3_mul(R2, kin->R[joint->body2], joint->R2);
    m3_tmul_v(f, R2, W);
    m3_tmul_v(t, R2, W + 3);
    value[0] = v3_dot(S[k], f) + v3_dot(S[k] + 3, t);
    value[1] = value[0] * kin->qd[joint->iv + k];
}

static double joint_power(const lwi_joint *joint, const lwi_kin *kin, const double W[6])
{
    double P2[3], arm[3], v1[3], v2[3], w[3];
    point_of(P2, kin, joint->body2, joint->r2);
    v3_sub(arm, P2, kin->r[joint->body1]);
    point_velocity(v1, kin, joint->body1, arm);
    v3_sub(arm, P2, kin->r[joint->body2]);
    point_velocity(v2, kin, joint->body2, arm);
    v3_sub(v2, v2, v1);
    v3_sub(w, kin->w[joint->body2], kin->w[joint->body1]);
    return v3_dot(W, v2) + v3_dot(W + 3, w);
}

// W += the efforts of a joint as a wrench on F2, world axes; returns their power along the coordinates.
static double add_efforts(const lwi_joint *joint, const lwi_kin *kin, const lwi_loads *loads,
                          double W[6])
{
    double T[LW_JOINT_MAX_NV][6], R2[9], f[3], power = 0;
    if (joint->type->nv == 0) return 0;
    joint->type->effort(&joint->par, kin->q + joint->iq, T);
    m3_mul(R2, kin->R[joint->body2], joint->R2);
    for (int k = 0; k < joint->type->nv; k++) {
        const double qdd = kin->qdd ? kin->qdd[joint->iv + k] : 0;
        const double effort = loads->effort[joint->iv + k] - joint->rotor[k] * qdd;
        m3_mul_v(f, R2, T[k]);
        v3_axpy(W, effort, f);
        m3_mul_v(f, R2, T[k] + 3);
        v3_axpy(W + 3, effort, f);
        power += effort * kin->qd[joint->iv + k];
    }
    return power;
}

// Efforts on all coordinates; forces that act on unknown places may be efforts too.
static void find_efforts(const lw_model *m, const lwi_kin *kin, double t, const double *inputs,
                         lwi_loads *loads)
{
    memset(loads->effort, 0, (size_t)m->nv * sizeof *loads->effort);
    for (int i = 0; i < m->nforce; i++)
        if (lwi_force_acts_on(&m->force[i]).n == 0)
            m->force[i].type->apply(m, m->force[i].par, kin, t, inputs, loads);
}

static double driven_power(const lwi_joint *joint, const lwi_kin *kin, const lwi_loads *loads,
                           const double reaction[6])
{
    double W[6];
    v6_copy(W, reaction);
    const double along = joint->mount.present ? add_efforts(joint, kin, loads, W) : 0;
    return joint_power(joint, kin, W) - along;
}

void lwi_outputs_evaluate(const lw_model *m, const lwi_kin *kin, const double (*reaction)[6],
                          double t, const double *inputs, lwi_loads *loads, double *value)
{
    bool mounted = false;
    memset(value, 0, (size_t)m->noutput_value * sizeof *value);
    for (int i = 0; i < m->nforce; i++) {
        const lwi_force *f = &m->force[i];
        f->type->outputs->add(m, f->par, kin, t, inputs, value + f->output);
    }
    for (int i = 0; i < m->noutput; i++) {
        const lwi_force_output *o = &m->output[i];
        if (o->quantity == drive_quantities)
            drive_values(&m->joint[o->joint], o->coordinate, kin, reaction[o->joint],
                         value + o->first);
        if (o->quantity == signal_quantities) {
            const lwi_now now = lwi_now_at(kin, t, inputs);
            value[o->first] =
                lwi_signal_value(m->function, (lw_signal){o->coordinate + 1}, &now, 0);
        }
        if (o->quantity != joint_quantities) continue;
        if (m->joint[o->joint].mount.present && !mounted)
            find_efforts(m, kin, t, inputs, loads), mounted = true;
        value[o->first] = driven_power(&m->joint[o->joint], kin, loads, reaction[o->joint]);
    }
}
