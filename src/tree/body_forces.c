// body_forces.c -- forces on bodies as efforts on joints (body_forces.h).
//
// Parts (normal_form/parts.h) between the bodies and the ground, parents first, in world axes:
//
//   outward   R = R_parent R_in Rz(theta),  r = r_parent + R_parent r_in + z d
//             v = v_parent + w_parent x (r - r_parent) + z d',  w = w_parent + z theta'
//   inward    tau = z.f d/dq + z.n dtheta/dq,  f_parent += f,  n_parent += n + (r - r_parent) x f
#include "tree/body_forces.h"

#include "base/assert.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"
#include "tree/normal_form/build.h"

#include <math.h>
#include <string.h>

typedef struct carrying {
    int parent; // -1: the ground
    lwi_k_kind kind;
    lwi_k_frame in;
    double turn, slide; // per unit of q
    int iq, iv;
    // now, world axes about the origin r
    double R[9], r[3], v[3], w[3], f[3], n[3];
} carrying;

// A body that forces act on, carried by a part or merged with another body.
typedef struct loaded {
    int body, part; // part -1: the ground
    lwi_k_frame at; // mass centre and axes of the body in the part
} loaded;

struct lwi_body_forces {
    const lw_model *model;
    int npart, nbody, nmerged;
    carrying *part; // [npart]
    loaded *body;   // [nbody] not merged
    int *merged;    // [nmerged]
    bool moves;     // forces read velocities
};

// ------------------------------------------------------------------------------------------- create

void lwi_body_forces_mark(const lw_model *model, bool *used)
{
    for (int i = 0; i < model->nforce; i++) {
        if (!(model->force[i].type->needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST))) continue;
        const lwi_force_place place = lwi_force_acts_on(&model->force[i]);
        for (int b = 0; place.n == 0 && b < model->nbody; b++) used[b] = true; // unknown
        for (int k = 0; k < place.n; k++) used[place.body[k]] = true;
    }
    lwi_mark_bodies_read(model, used);
    for (int b = 0; b < model->nbody; b++)
        if (used[b]) used[model->body[b].carrier] = true;
}

static void add_part(const lwi_build_part *from, int parent, carrying *to)
{
    *to = (carrying){.parent = parent,
                     .kind = from->kind,
                     .in = from->in,
                     .turn = from->sign * from->turn,
                     .slide = from->sign * from->slide,
                     .iq = from->iq,
                     .iv = from->iv};
}

static void add_bodies(lwi_body_forces *out, const lwi_build *b, const bool *used, const int *at)
{
    const lw_model *model = out->model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (!used[node->body]) continue;
        loaded *to = &out->body[out->nbody++];
        lwi_k_frame centre;
        memcpy(centre.R, node->c_R, sizeof centre.R);
        v3_copy(centre.r, node->c_r);
        *to = (loaded){.body = node->body, .part = b->part_of[k] < 0 ? -1 : at[b->part_of[k]]};
        lwi_k_compose(&to->at, &b->offset[k], &centre);
    }
    for (int i = 1; i < model->nbody; i++)
        if (used[i] && model->body[i].carrier != i) out->merged[out->nmerged++] = i;
}

static lw_status build(const lw_model *model, lwi_arena *scratch, lwi_arena *arena,
                       lwi_body_forces *out)
{
    const int max_parts = 7 * model->nnode; // as of lwi_kernel_plan_create_chosen
    lwi_build b = {.model = model,
                   .part = LWI_PUSH(scratch, lwi_build_part, max_parts),
                   .drive = LWI_PUSH(scratch, lwi_k_drive, max_parts),
                   .part_of = LWI_PUSH(scratch, int, model->nnode),
                   .offset = LWI_PUSH(scratch, lwi_k_frame, model->nnode)};
    bool *used = LWI_PUSH(scratch, bool, model->nbody),
         *carries = LWI_PUSH(scratch, bool, max_parts);
    int *at = LWI_PUSH(scratch, int, max_parts);
    if (!b.part || !b.drive || !b.part_of || !b.offset || !used || !carries || !at)
        return LW_ERR_MEMORY;
    lwi_build_expand(&b);
    lwi_body_forces_mark(model, used);
    for (int k = 0; k < model->nnode; k++)
        if (used[model->node[k].body] && b.part_of[k] >= 0) carries[b.part_of[k]] = true;
    for (int i = b.npart - 1; i >= 0; i--)
        if (carries[i] && b.part[i].parent >= 0) carries[b.part[i].parent] = true;
    out->part = LWI_PUSH(arena, carrying, b.npart);
    out->body = LWI_PUSH(arena, loaded, model->nnode);
    out->merged = LWI_PUSH(arena, int, model->nbody);
    if (!out->part || !out->body || !out->merged) return LW_ERR_MEMORY;
    for (int i = 0; i < b.npart; i++) {
        if (!carries[i]) continue;
        at[i] = out->npart++;
        add_part(&b.part[i], b.part[i].parent < 0 ? -1 : at[b.part[i].parent], &out->part[at[i]]);
    }
    add_bodies(out, &b, used, at);
    return LW_OK;
}

lw_status lwi_body_forces_create(const lw_model *model, lwi_arena *arena, lwi_body_forces **out)
{
    *out = NULL;
    if (!(model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST))) return LW_OK;
    if (!lwi_build_applies(model, true)) return LW_OK;
    lwi_body_forces *forces = LWI_PUSH(arena, lwi_body_forces, 1);
    if (!forces) return LW_ERR_MEMORY;
    *forces =
        (lwi_body_forces){.model = model, .moves = (model->force_needs & LWI_NEEDS_TWIST) != 0};
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = build(model, &scratch, arena, forces);
    lwi_arena_free(&scratch);
    if (status == LW_OK) *out = forces;
    return status;
}

// ------------------------------------------------------------------------------------------ outward

static const carrying ground = {.parent = -1, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

// Pose; R is that before the joint's rotation on entry.
static void place_screw(carrying *p, double q)
{
    const double c = cos(p->turn * q), s = sin(p->turn * q), d = p->slide * q;
    for (int i = 0; i < 3; i++) {
        double *row = p->R + 3 * i;
        const double x = row[0], y = row[1];
        row[0] = c * x + s * y;
        row[1] = c * y - s * x;
        p->r[i] += d * row[2];
    }
}

static void place_ball(carrying *p, const double *quat)
{
    double own[9], R[9];
    if (p->kind == LWI_K_BASE) { // coordinates of the origin come before the quaternion
        double origin[3];
        m3_mul_v(origin, p->R, quat - 3);
        v3_add(p->r, p->r, origin);
    }
    quat_matrix(own, quat);
    m3_mul(R, p->R, own);
    memcpy(p->R, R, sizeof R);
}

static void move_part(carrying *p, const carrying *parent, double u, const double *v)
{
    double arm[3], own[3];
    v3_sub(arm, p->r, parent->r);
    v3_cross(own, parent->w, arm);
    v3_add(p->v, parent->v, own);
    v3_copy(p->w, parent->w);
    if (p->kind == LWI_K_HINGE || p->kind == LWI_K_SCREW) {
        for (int i = 0; i < 3; i++) {
            p->v[i] += p->slide * u * p->R[3 * i + 2];
            p->w[i] += p->turn * u * p->R[3 * i + 2];
        }
        return;
    }
    if (p->kind == LWI_K_BASE) {
        m3_mul_v(own, p->R, v);
        v3_add(p->v, p->v, own);
        v += 3;
    }
    m3_mul_v(own, p->R, v);
    v3_add(p->w, p->w, own);
}

void lwi_body_forces_place(lwi_body_forces *forces, const double *q, const double *v,
                           const lwi_k_prescribed *drives, lwi_tree_work *work)
{
    const lw_model *model = forces->model;
    const int nq = model->tree_nq;
    for (int i = 0; i < forces->npart; i++) {
        carrying *p = &forces->part[i];
        const carrying *parent = p->parent < 0 ? &ground : &forces->part[p->parent];
        const bool driven = p->iq >= nq, screw = p->kind == LWI_K_HINGE || p->kind == LWI_K_SCREW;
        LWI_ASSERT(p->parent < i);
        m3_mul(p->R, parent->R, p->in.R);
        m3_mul_v(p->r, parent->R, p->in.r);
        v3_add(p->r, p->r, parent->r);
        if (screw)
            place_screw(p, driven ? drives[p->iq - nq].value[0] : q[p->iq]);
        else
            place_ball(p, q + p->iq);
        if (forces->moves)
            move_part(p, parent, driven ? drives[p->iq - nq].value[1] : v[p->iv], v + p->iv);
        v3_set(p->f, 0, 0, 0);
        v3_set(p->n, 0, 0, 0);
    }
    m3_identity(work->body_R[0]);
    for (int i = 0; i < forces->nbody; i++) {
        const loaded *l = &forces->body[i];
        const carrying *p = l->part < 0 ? &ground : &forces->part[l->part];
        double arm[3], *at = work->body_r[l->body];
        m3_mul(work->body_R[l->body], p->R, l->at.R);
        m3_mul_v(arm, p->R, l->at.r);
        v3_add(at, p->r, arm);
        v3_cross(work->body_v[l->body], p->w, arm);
        v3_add(work->body_v[l->body], work->body_v[l->body], p->v);
        v3_copy(work->body_w[l->body], p->w);
    }
    for (int i = 0; i < forces->nmerged; i++) {
        const int b = forces->merged[i];
        v3_copy(work->body_w[b], work->body_w[model->body[b].carrier]);
        lwi_tree_ride(model, b, work->body_w[b], work->body_R, work->body_r, work->body_v);
    }
}

// ------------------------------------------------------------------------------------------- inward

static void add_efforts(const carrying *p, double *effort)
{
    if (p->kind == LWI_K_HINGE || p->kind == LWI_K_SCREW) {
        const double z[3] = {p->R[2], p->R[5], p->R[8]};
        effort[0] += p->slide * v3_dot(z, p->f) + p->turn * v3_dot(z, p->n);
        return;
    }
    double own[3];
    if (p->kind == LWI_K_BASE) {
        m3_tmul_v(own, p->R, p->f);
        v3_add(effort, effort, own);
        effort += 3;
    }
    m3_tmul_v(own, p->R, p->n);
    v3_add(effort, effort, own);
}

void lwi_body_forces_efforts(lwi_body_forces *forces, lwi_k_prescribed *drives, lwi_tree_work *work)
{
    const int nv = forces->model->tree_nv;
    for (int i = 0; i < forces->nbody; i++) {
        const loaded *l = &forces->body[i];
        const double *load = work->loads.wrench[l->body];
        double arm[3];
        if (l->part < 0) continue;
        carrying *p = &forces->part[l->part];
        v3_sub(arm, work->body_r[l->body], p->r);
        v3_add(p->f, p->f, load);
        v3_add(p->n, p->n, load + 3);
        v3_cross_add(p->n, arm, load);
    }
    for (int i = forces->npart - 1; i >= 0; i--) {
        const carrying *p = &forces->part[i];
        add_efforts(p, p->iv >= nv ? &drives[p->iv - nv].outside : work->effort + p->iv);
        if (p->parent < 0) continue;
        carrying *parent = &forces->part[p->parent];
        double arm[3];
        v3_sub(arm, p->r, parent->r);
        v3_add(parent->f, parent->f, p->f);
        v3_add(parent->n, parent->n, p->n);
        v3_cross_add(parent->n, arm, p->f);
    }
}
