// bodies.c -- bodies of the model: inertia in body axes, rigid groups.  Its physical checks: inertia.c.
//
// A massless body that a fixed joint holds to another one is merged with it: it keeps its name and
// its outputs, and the dynamics see its carrier only.
#include "model/model.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

lw_status lwi_model_warn(lw_model *m, lw_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = lwi_warning_text(&m->arena, m->desc.source, place, format, arguments);
    va_end(arguments);
    const char **list = LWI_PUSH(&m->arena, const char *, m->desc.nwarning + 1);
    if (!list || !text) return LW_ERR_MEMORY;
    if (m->desc.nwarning) memcpy(list, m->desc.warning, (size_t)m->desc.nwarning * sizeof *list);
    list[m->desc.nwarning++] = text;
    m->desc.warning = list;
    return LW_OK;
}

// Exporters leave traces like 1e-35 where a body has no inertia.  Below a radius of gyration of
// 1e-10 m, an atom's, they are flushed.
static void flush_traces(lwi_body *b)
{
    double largest = 0;
    for (int i = 0; i < 6; i++) largest = fmax(largest, fabs(b->inertia[i]));
    if (largest < 1e-20 * (b->mass > 0 ? b->mass : 1)) memset(b->inertia, 0, sizeof b->inertia);
}

static bool massless(const lwi_body *b)
{
    for (int i = 0; i < 6; i++)
        if (b->inertia[i] != 0) return false;
    return b->mass == 0;
}

// A fixed joint between two frames that keep their place.
static bool rigid(const lw_joint_desc *j)
{
    return j->type == LW_JOINT_FIXED && !j->mount_turn.index && !j->mount_shift[0].index &&
           !j->mount_shift[1].index && !j->mount_shift[2].index;
}

// Pose of a joint frame in its body, from the mass centre.
static void frame_from_com(const lw_pose *frame, const double com[3], double R[9], double r[3])
{
    const double q[4] = {frame->orientation.w, frame->orientation.x, frame->orientation.y,
                         frame->orientation.z};
    quat_matrix(R, q);
    v3_set(r, frame->position.x - com[0], frame->position.y - com[1], frame->position.z - com[2]);
}

void lwi_rigid_pose(const lw_model *m, const lw_joint_desc *j, int a, int b, double R[9],
                    double r[3])
{
    double Ra[9], ra[3], Rb[9], rb[3];
    const bool forward = j->body1.index == a;
    frame_from_com(forward ? &j->frame1 : &j->frame2, m->body[a].com, Ra, ra);
    frame_from_com(forward ? &j->frame2 : &j->frame1, m->body[b].com, Rb, rb);
    m3_mul_t(R, Ra, Rb); // b's axes in a's
    m3_mul_v(r, R, rb);
    v3_sub(r, ra, r); // b's mass centre from a's
}

// Puts massless body b on its neighbour a's carrier, across the fixed joint j.
static void merge(lw_model *m, const lw_joint_desc *j, int a, int b)
{
    double R[9], r[3];
    lwi_rigid_pose(m, j, a, b, R, r);
    lwi_body *body = &m->body[b];
    const lwi_body *carrier = &m->body[a];
    body->carrier = carrier->carrier;
    m3_mul(body->carrier_R, carrier->carrier_R, R);
    m3_mul_v(body->carrier_r, carrier->carrier_R, r);
    v3_add(body->carrier_r, body->carrier_r, carrier->carrier_r);
}

static lw_status create_graph(lw_model *m, lwi_rigid_graph *g, lw_error *error)
{
    g->first = LWI_PUSH(&m->arena, int, m->nbody + 1);
    g->joint = LWI_PUSH(&m->arena, int, 2 * m->njoint + 1);
    int *fill = LWI_PUSH(&m->arena, int, m->nbody + 1);
    if (!g->first || !g->joint || !fill)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for rigid groups");
    for (int j = 0; j < m->njoint; j++) {
        if (!rigid(&m->desc.joint[j])) continue;
        g->first[m->desc.joint[j].body1.index + 1]++;
        g->first[m->desc.joint[j].body2.index + 1]++;
    }
    for (int i = 0; i < m->nbody; i++) g->first[i + 1] += g->first[i], fill[i] = g->first[i];
    for (int j = 0; j < m->njoint; j++) {
        if (!rigid(&m->desc.joint[j])) continue;
        g->joint[fill[m->desc.joint[j].body1.index]++] = j;
        g->joint[fill[m->desc.joint[j].body2.index]++] = j;
    }
    return LW_OK;
}

// Breadth-first from every body that stays, over rigid joints to massless bodies.
static lw_status merge_massless(lw_model *m, const lwi_rigid_graph *g, bool *merged,
                                lw_error *error)
{
    int *queue = LWI_PUSH(&m->arena, int, m->nbody);
    bool *seen = LWI_PUSH(&m->arena, bool, m->nbody);
    if (!queue || !seen) return lwi_fail(error, LW_ERR_MEMORY, "no memory for rigid groups");
    int head = 0, tail = 0;
    for (int i = 0; i < m->nbody; i++)
        if (i == 0 || !massless(&m->body[i])) queue[tail++] = i, seen[i] = true;
    for (int next = 0; head < tail || next < m->nbody;) {
        if (head == tail) { // a massless body that no massive one holds
            if (!seen[next]) queue[tail++] = next, seen[next] = true;
            next++;
            continue;
        }
        const int a = queue[head++];
        for (int i = g->first[a]; i < g->first[a + 1]; i++) {
            const lw_joint_desc *j = &m->desc.joint[g->joint[i]];
            const int b = j->body1.index == a ? j->body2.index : j->body1.index;
            if (seen[b]) continue;
            merge(m, j, a, b);
            merged[g->joint[i]] = seen[b] = true;
            m->body[b].holder = g->joint[i];
            m->merged[m->nmerged++] = b;
            queue[tail++] = b;
        }
    }
    return LW_OK;
}

lw_status lwi_compile_bodies(lw_model *m, lw_error *error)
{
    m->nbody = m->desc.nbody;
    m->njoint = m->desc.njoint;
    m->body = LWI_PUSH(&m->arena, lwi_body, m->nbody);
    m->joint = LWI_PUSH(&m->arena, lwi_joint, m->njoint);
    m->merged = LWI_PUSH(&m->arena, int, m->nbody);
    bool *merged = LWI_PUSH(&m->arena, bool, m->njoint);
    if (!m->body || !m->joint || !m->merged || !merged)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for %d bodies", m->nbody);
    for (int i = 0; i < m->nbody; i++) {
        const lw_body_desc *d = &m->desc.body[i];
        lwi_body *b = &m->body[i];
        b->name = d->name;
        b->mass = d->mass;
        v3_set(b->com, d->com.x, d->com.y, d->com.z);
        const double axes[4] = {d->inertia_axes.w, d->inertia_axes.x, d->inertia_axes.y,
                                d->inertia_axes.z};
        double R[9];
        quat_matrix(R, axes);
        if (d->inertia_axes.w == 1)
            memcpy(b->inertia, d->inertia, sizeof b->inertia);
        else
            s3_rotate(b->inertia, R, d->inertia);
        flush_traces(b);
        b->carrier = i;
        b->holder = -1;
        m3_identity(b->carrier_R);
        b->quat0[0] = 1;
    }
    lwi_rigid_graph graph;
    TRY(create_graph(m, &graph, error));
    TRY(lwi_check_inertias(m, &graph, error));
    TRY(lwi_check_masses(m, &graph, error));
    TRY(merge_massless(m, &graph, merged, error));
    for (int j = 0; j < m->njoint; j++) m->joint[j].merged = merged[j];
    return LW_OK;
}
