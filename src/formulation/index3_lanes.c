// index3_lanes.c -- which joints and bodies stand side by side in a step of index3, and its parts.
#include "formulation/index3_lanes.h"

#include "base/flush.h"
#include "kernel/kernels.h"
#include "spatial/rotation.h"

#include <string.h>

// ------------------------------------------------------------------------------------------- texts

extern const lwi_index3_texts lwi_index3_texts_scalar;
#if LWI_X86_KERNELS
extern const lwi_index3_texts lwi_index3_texts_fma, lwi_index3_texts_avx2, lwi_index3_texts_avx512;
#endif

static const lwi_index3_texts *texts_of(int width)
{
#if LWI_X86_KERNELS
    const int most = lwi_kernels_of(0)->width; // of this machine
    if (most == 8 && (width == 0 || width == 8)) return &lwi_index3_texts_avx512;
    if (most >= 4 && (width == 0 || width == 4)) return &lwi_index3_texts_avx2;
    if (most >= 4 && width == 1) return &lwi_index3_texts_fma;
#endif
    return width == 0 || width == 1 ? &lwi_index3_texts_scalar : NULL;
}

bool lwi_index3_lanes_width(lwi_index3_lanes *s, int width)
{
    const lwi_index3_texts *texts = texts_of(width);
    if (!texts || !lwi_dual_lanes(s->dual, width)) return false;
    s->texts = texts;
    return true;
}

// ---------------------------------------------------------------------------------------- for whom

// Rows that hold axis i of F1 normal to axis j of F2, beside those of the points.
static const struct {
    lw_joint_type type;
    int axes, i[LWI_I3_AXES], j[LWI_I3_AXES];
} kinds[] = {
    {LW_JOINT_SPHERICAL, 0, {0}, {0}},
    {LW_JOINT_UNIVERSAL, 1, {2}, {0}},
    {LW_JOINT_REVOLUTE, 2, {0, 1}, {2, 2}},
};

static int kind_of(const lwi_joint *joint)
{
    for (int k = 0; k < LWI_COUNT(kinds); k++)
        if (kinds[k].type == joint->type->id) return k;
    return -1;
}

static bool fits(const lwi_index3 *d)
{
    const lwi_index3_method *m = &d->method;
    const lwi_closed *s = &d->closed;
    const lw_model *model = s->model;
    if (d->seven || m->newton || m->stop || m->order || m->projection != LWI_PROJECT_MASS)
        return false;
    if (!s->nrow || s->nextra || model->ncoupling || model->nforce || d->at_work >= 0) return false;
    for (int e = 0; e < s->nedge; e++) {
        const lwi_joint *joint = &model->joint[s->edge_joint[e]];
        if (kind_of(joint) < 0 || joint->ndriven || joint->mount.present) return false;
        if (joint->body1 == joint->body2) return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------- lists

// What is filled lane by lane while blocks are listed.
typedef struct maker {
    const lwi_index3 *d;
    lwi_index3_lanes *s;
    lwi_arena arena; ///< for the time of creation
    lwi_given_block *block;
    lwi_given_edge *edge;
    int *pair_of; ///< [nblock] -1: a diagonal one
    int nblock, nedge;
    int open[9]; ///< block of single ones of each kind that has lanes left, -1: none
} maker;

static int axes_of(const maker *m, int edge)
{
    const lwi_closed *s = &m->d->closed;
    return kinds[kind_of(&s->model->joint[s->edge_joint[edge]])].axes;
}

// The block for the next lane of a kind: that of the set, or of single ones.
static int block_for(maker *m, int kind, int set, int *last, int *count, const int *lanes)
{
    if (set >= 0) return *last == set ? *count - 1 : (*last = set, (*count)++);
    if (m->open[kind] >= 0 && lanes[0] >= LWI_LANES) m->open[kind] = -1;
    if (m->open[kind] < 0) m->open[kind] = (*count)++;
    return m->open[kind];
}

static void forget_open(maker *m)
{
    for (int i = 0; i < LWI_COUNT(m->open); i++) m->open[i] = -1;
}

static void list_joints(maker *m)
{
    lwi_index3_lanes *s = m->s;
    int set = -1;
    forget_open(m);
    for (int i = 0; i < m->nedge; i++) {
        const lwi_given_edge *from = &m->edge[i];
        const int axes = axes_of(m, from->edge);
        const int open = m->open[axes], full = open >= 0 ? s->joint[open].lanes : 0;
        const int b = block_for(m, axes, from->set, &set, &s->nedge, &full);
        lwi_i3_joint *j = &s->joint[b];
        const int l = j->lanes++;
        j->axes = axes;
        j->edge[l] = from->edge;
        j->v[l] = from->v;
        j->step = from->step;
        s->edge_at[from->edge] = LWI_LANES * b + l;
    }
    for (int b = 0; b < s->nedge; b++) {
        lwi_i3_joint *j = &s->joint[b];
        j->straight = true;
        for (int l = j->lanes; l < LWI_LANES; l++) {
            j->edge[l] = j->edge[l - 1];
            j->v[l] = j->v[l - 1] + (j->step > 1); // the engine's lanes that repeat the last one
        }
        for (int l = 0; l < LWI_LANES; l++) j->straight &= j->v[l] == j->v[0] + l;
    }
}

static void finish_place(lwi_i3_place *p, int lanes)
{
    p->straight = true;
    for (int l = 1; l < LWI_LANES; l++) {
        if (l >= lanes) { // the engine has lanes that repeat the last one, too
            const int next = p->right > 1;
            p->R[l] = p->R[l - 1] + next, p->Q[l] = p->Q[l - 1] ? p->Q[l - 1] + next : NULL;
            p->down[l] = p->down[l - 1];
        }
        p->straight &= p->R[l] == p->R[0] + l && p->down[l] == p->down[0];
    }
}

static void set_place(lwi_i3_place *p, int l, const lwi_given_block *from)
{
    p->R[l] = from->R, p->Q[l] = from->Q;
    p->down[l] = from->down, p->right = from->right;
}

static void list_diagonals(maker *m)
{
    lwi_index3_lanes *s = m->s;
    for (int i = 0; i < m->nblock; i++) {
        const lwi_given_block *from = &m->block[i];
        if (from->row != from->column || from->add) continue;
        const int at = s->edge_at[from->row];
        set_place(&s->joint[at / LWI_LANES].place, at % LWI_LANES, from);
    }
    for (int b = 0; b < s->nedge; b++) finish_place(&s->joint[b].place, s->joint[b].lanes);
}

// ------------------------------------------------------------------------------------------ bodies

// Nodes of an edge's bodies 1 and 2; -1: the ground.
static int node_of(const maker *m, int edge, int side)
{
    const lwi_closed *s = &m->d->closed;
    const lwi_joint *joint = &s->model->joint[s->edge_joint[edge]];
    const int body = side ? joint->body2 : joint->body1;
    return body ? s->model->body_node[body] : -1;
}

// Eight bodies that eight joints have on one side are a block, the rest in their order.
static void place_bodies(maker *m)
{
    lwi_index3_lanes *s = m->s;
    const int n = m->d->closed.model->nnode;
    int at = 0;
    for (int k = 0; k < n; k++) s->body_at[k] = -1;
    for (int b = 0; b < s->nedge; b++)
        for (int side = 0; side < 2; side++) {
            const lwi_i3_joint *j = &s->joint[b];
            bool whole = j->lanes == LWI_LANES;
            for (int l = 0; l < LWI_LANES && whole; l++) {
                const int k = node_of(m, j->edge[l], side);
                whole = k >= 0 && s->body_at[k] < 0;
                for (int i = 0; i < l && whole; i++) whole = node_of(m, j->edge[i], side) != k;
            }
            for (int l = 0; l < LWI_LANES && whole; l++)
                s->body_at[node_of(m, j->edge[l], side)] = at++;
        }
    for (int k = 0; k < n; k++)
        if (s->body_at[k] < 0) s->body_at[k] = at++;
    s->nbody = (at + LWI_LANES - 1) / LWI_LANES;
}

static int body_offset(const lwi_index3_lanes *s, int node, int lane)
{
    const int at = node >= 0 ? s->body_at[node] : LWI_LANES * s->nbody + lane;
    return at / LWI_LANES * (int)(sizeof(lwi_i3_body) / sizeof(double)) + at % LWI_LANES;
}

static int side_offset(int at, int side)
{
    return (at / LWI_LANES * (int)sizeof(lwi_i3_edge) + side * (int)sizeof(lwi_i3_side)) /
               (int)sizeof(double) +
           at % LWI_LANES;
}

static void finish_from(lwi_i3_from *from)
{
    from->straight = true;
    for (int l = 1; l < LWI_LANES; l++) from->straight &= from->at[l] == from->at[0] + l;
}

static void find_bodies(maker *m)
{
    lwi_index3_lanes *s = m->s;
    for (int b = 0; b < s->nedge; b++)
        for (int side = 0; side < 2; side++) {
            lwi_i3_from *from = &s->joint[b].body[side];
            for (int l = 0; l < LWI_LANES; l++)
                from->at[l] = body_offset(s, node_of(m, s->joint[b].edge[l], side), l);
            finish_from(from);
        }
}

// ------------------------------------------------------------------------------------------- pairs

// Is body number i of an edge, as the graph has it, the joint's second?
static int side_of(const maker *m, int edge, int i)
{
    return m->d->closed.plan.graph.edge[edge].body[i] == node_of(m, edge, 1);
}

static void list_pair(maker *m, const lwi_given_block *from, lwi_i3_pair *p)
{
    const lwi_index3_lanes *s = m->s;
    const int l = p->lanes++;
    const int edge[2] = {from->row, from->column}, body[2] = {from->row_body, from->column_body};
    double sign = 1;
    for (int i = 0; i < 2; i++) {
        const int side = side_of(m, edge[i], body[i]);
        p->axes[i] = axes_of(m, edge[i]);
        p->side[i].at[l] = side_offset(s->edge_at[edge[i]], side);
        sign *= side ? 1 : -1;
    }
    p->body.at[l] = body_offset(s, m->d->closed.plan.graph.edge[edge[0]].body[body[0]], l);
    p->add = from->add;
    p->sign[l] = sign;
    set_place(&p->place, l, from);
}

static void finish_pair(lwi_i3_pair *p)
{
    for (int l = p->lanes; l < LWI_LANES; l++) {
        for (int i = 0; i < 2; i++) p->side[i].at[l] = p->side[i].at[l - 1];
        p->body.at[l] = p->body.at[l - 1];
        p->sign[l] = p->sign[l - 1];
    }
    for (int i = 0; i < 2; i++) finish_from(&p->side[i]);
    finish_from(&p->body);
    finish_place(&p->place, p->lanes);
    if (p->place.straight) p->lanes = LWI_LANES;
}

// What is added to others comes after them.
static void list_pairs(maker *m)
{
    lwi_index3_lanes *s = m->s;
    for (int added = 0; added < 2; added++) {
        int set = -1;
        forget_open(m);
        for (int i = 0; i < m->nblock; i++) {
            const lwi_given_block *from = &m->block[i];
            if (from->row == from->column || from->add != (added > 0)) continue;
            const int kind = 3 * axes_of(m, from->row) + axes_of(m, from->column);
            const int open = m->open[kind], full = open >= 0 ? s->pair[open].lanes : 0;
            m->pair_of[i] = block_for(m, kind, from->set, &set, &s->npair, &full);
            list_pair(m, from, &s->pair[m->pair_of[i]]);
        }
    }
    for (int i = 0; i < s->npair; i++) finish_pair(&s->pair[i]);
}

// ------------------------------------------------------------------------------------------- pulls

static lw_status list_pulls(maker *m, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const lwi_closed *c = &m->d->closed;
    int *count = LWI_PUSH(&m->arena, int, LWI_LANES * s->nbody);
    if (!count) return LW_ERR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        memset(count, 0, (size_t)(LWI_LANES * s->nbody) * sizeof *count);
        for (int e = 0; e < c->nedge; e++)
            for (int side = 0; side < 2; side++) {
                const int k = node_of(m, e, side);
                if (k < 0) continue;
                const int at = s->body_at[k], i = count[at]++;
                lwi_i3_pulls *p = &s->pulls[at / LWI_LANES];
                if (pass) {
                    p->from[i].at[at % LWI_LANES] = side_offset(s->edge_at[e], side);
                    p->axes[i] |= axes_of(m, e) > 0;
                } else if (p->n < i + 1) {
                    p->n = i + 1;
                }
            }
        for (int b = 0; b < s->nbody; b++) {
            lwi_i3_pulls *p = &s->pulls[b];
            if (!pass) p->from = LWI_PUSH(arena, lwi_i3_from, p->n);
            if (!pass) p->axes = LWI_PUSH(arena, bool, p->n);
            if (!p->from || !p->axes) return LW_ERR_MEMORY;
            for (int i = 0; i < p->n; i++) {
                for (int l = 0; l < LWI_LANES && !pass; l++) // the last edge has no force
                    p->from[i].at[l] = side_offset(LWI_LANES * s->nedge + l, 0);
                if (pass) finish_from(&p->from[i]);
            }
        }
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- order

static void later(int *time, int t)
{
    if (*time < t) *time = t;
}

// A body's time from those of its joints, a joint's from those of its bodies.
static void bodies_after(const maker *m, const int *joint, int *body)
{
    const lwi_index3_lanes *s = m->s;
    for (int b = 0; b < s->nedge; b++)
        for (int l = 0; l < 2 * s->joint[b].lanes; l++) {
            const int k = node_of(m, s->joint[b].edge[l / 2], l % 2);
            if (k >= 0) later(&body[s->body_at[k] / LWI_LANES], joint[b]);
        }
}

static void joints_after(const maker *m, const int *body, int *joint)
{
    const lwi_index3_lanes *s = m->s;
    for (int b = 0; b < s->nedge; b++)
        for (int l = 0; l < 2 * s->joint[b].lanes; l++) {
            const int k = node_of(m, s->joint[b].edge[l / 2], l % 2);
            later(&joint[b], k >= 0 ? body[s->body_at[k] / LWI_LANES] : b);
        }
}

// A joint's time is its number.  What is added to other blocks comes last; units come in their order.
static void find_times(const maker *m, int *time[LWI_I3_KINDS], int nunit)
{
    const lwi_index3_lanes *s = m->s;
    const int size = (int)(sizeof(lwi_i3_body) / sizeof(double));
    for (int b = 0; b < s->nedge; b++) time[LWI_I3_JOINT][b] = b;
    bodies_after(m, time[LWI_I3_JOINT], time[LWI_I3_BODY]);
    joints_after(m, time[LWI_I3_BODY], time[LWI_I3_AFTER]);
    bodies_after(m, time[LWI_I3_AFTER], time[LWI_I3_BODY_AGAIN]);
    joints_after(m, time[LWI_I3_BODY_AGAIN], time[LWI_I3_LAST]);
    for (int i = 0; i < s->npair; i++)
        for (int l = 0; l < LWI_LANES; l++)
            later(&time[LWI_I3_PAIR][i],
                  s->pair[i].add ? s->nedge
                                 : time[LWI_I3_BODY_AGAIN][s->pair[i].body.at[l] / size]);
    for (int i = 0; i < m->nedge; i++)
        later(&time[LWI_I3_UNIT][m->edge[i].unit],
              time[LWI_I3_LAST][s->edge_at[m->edge[i].edge] / LWI_LANES]);
    for (int i = 0; i < m->nblock; i++)
        if (m->pair_of[i] >= 0)
            later(&time[LWI_I3_UNIT][m->block[i].unit], time[LWI_I3_PAIR][m->pair_of[i]]);
    for (int u = 1; u < nunit; u++) later(&time[LWI_I3_UNIT][u], time[LWI_I3_UNIT][u - 1]);
}

// All items by their times, kind by kind.
static lw_status order_items(maker *m, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const int nunit = lwi_dual_given_units(s->dual);
    const int count[LWI_I3_KINDS] = {s->nedge, s->nbody, s->nedge, s->nbody,
                                     s->nedge, s->npair, nunit};
    int *time[LWI_I3_KINDS], *at = LWI_PUSH(&m->arena, int, s->nedge + 2);
    if (!at) return LW_ERR_MEMORY;
    for (int kind = 0; kind < LWI_I3_KINDS; kind++) {
        if (!(time[kind] = LWI_PUSH(&m->arena, int, count[kind]))) return LW_ERR_MEMORY;
        s->nitem += count[kind];
    }
    if (!(s->item = LWI_PUSH(arena, lwi_i3_item, s->nitem))) return LW_ERR_MEMORY;
    find_times(m, time, nunit);
    for (int kind = 0; kind < LWI_I3_KINDS; kind++)
        for (int i = 0; i < count[kind]; i++) at[time[kind][i] + 1]++;
    for (int t = 0; t <= s->nedge; t++) at[t + 1] += at[t];
    for (int kind = 0; kind < LWI_I3_KINDS; kind++)
        for (int i = 0; i < count[kind]; i++) {
            lwi_i3_item *item = &s->item[at[time[kind][i]]++];
            item->kind = kind, item->block = i;
        }
    return LW_OK;
}

// --------------------------------------------------------------------------------------- constants

static void set_nothing(lwi_i3_body *b, int l)
{
    b->mass[l] = b->quat[0][l] = b->R[0][l] = b->R[4][l] = b->R[8][l] = 1;
    for (int i = 0; i < 3; i++) b->J[i][l] = b->mobility[i][l] = 1;
}

static void set_bodies(const lwi_index3 *d, lwi_index3_lanes *s)
{
    const lw_model *model = d->closed.model;
    for (int b = 0; b <= s->nbody; b++)
        for (int l = 0; l < LWI_LANES; l++) set_nothing(&s->body[b], l);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_body *body = &model->body[model->node[k].body];
        const int l = s->body_at[k] % LWI_LANES;
        lwi_i3_body *b = &s->body[s->body_at[k] / LWI_LANES];
        b->mass[l] = body->mass, b->inverse_mass[l] = 1 / body->mass;
        b->free[l] = b->counts[l] = 1;
        for (int i = 0; i < 3; i++) b->weight[i][l] = body->mass * model->gravity[i];
        for (int i = 0; i < 6; i++)
            b->J[i][l] = body->inertia[i], b->mobility[i][l] = d->closed.mobility[k][i];
    }
}

static void set_edges(const lwi_index3 *d, lwi_index3_lanes *s)
{
    const lwi_closed *c = &d->closed;
    for (int b = 0; b < s->nedge; b++)
        for (int l = 0; l < LWI_LANES; l++) {
            const lwi_joint *joint = &c->model->joint[c->edge_joint[s->joint[b].edge[l]]];
            const int kind = kind_of(joint);
            lwi_i3_edge *e = &s->edge[b];
            e->relative[l] = d->relative[s->joint[b].edge[l]] / (3 + kinds[kind].axes);
            for (int i = 0; i < 3; i++) {
                e->r1[i][l] = joint->r1[i], e->r2[i][l] = joint->r2[i];
                for (int k = 0; k < kinds[kind].axes; k++) {
                    e->axis1[k][i][l] = joint->R1[3 * i + kinds[kind].i[k]];
                    e->axis2[k][i][l] = joint->R2[3 * i + kinds[kind].j[k]];
                }
            }
        }
}

// Where x has what blocks need.
static lw_status set_rows(const lwi_index3 *d, lwi_arena *arena, lwi_index3_lanes *s)
{
    const lwi_closed *c = &d->closed;
    s->pose = LWI_PUSH(arena, lwi_i3_row, s->nbody);
    s->speed = LWI_PUSH(arena, lwi_i3_row, s->nbody);
    s->acceleration = LWI_PUSH(arena, lwi_i3_row, s->nbody);
    s->lambda = LWI_PUSH(arena, lwi_i3_row, s->nedge);
    if (!s->pose || !s->speed || !s->acceleration || !s->lambda) return LW_ERR_MEMORY;
    for (int at = 0; at < LWI_LANES * s->nbody; at++) {
        const int b = at / LWI_LANES, l = at % LWI_LANES;
        s->pose[b].at[l] = s->speed[b].at[l] = s->acceleration[b].at[l] = -1;
    }
    for (int k = 0; k < c->model->nnode; k++) {
        const int b = s->body_at[k] / LWI_LANES, l = s->body_at[k] % LWI_LANES;
        s->pose[b].at[l] = 7 * k;
        s->speed[b].at[l] = d->at_speed + 6 * k;
        s->acceleration[b].at[l] = d->at_acceleration + d->nmemory * k;
    }
    for (int b = 0; b < s->nedge; b++)
        for (int l = 0; l < LWI_LANES; l++)
            s->lambda[b].at[l] = d->at_lambda + c->plan.row[s->joint[b].edge[l]];
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- creation

static lw_status make(maker *m, lwi_arena *arena)
{
    const lwi_index3 *d = m->d;
    const lwi_closed *c = &d->closed;
    lwi_index3_lanes *s = m->s;
    m->nblock = lwi_dual_given_list(c->dual, NULL, NULL);
    m->nedge = c->nedge;
    m->block = LWI_PUSH(&m->arena, lwi_given_block, m->nblock);
    m->edge = LWI_PUSH(&m->arena, lwi_given_edge, m->nedge);
    m->pair_of = LWI_PUSH(&m->arena, int, m->nblock);
    s->joint = LWI_PUSH(arena, lwi_i3_joint, c->nedge);
    s->edge_at = LWI_PUSH(arena, int, c->nedge);
    s->body_at = LWI_PUSH(arena, int, c->model->nnode);
    s->pair = lwi_arena_push(arena, (size_t)m->nblock, sizeof *s->pair);
    if (!m->block || !m->edge || !m->pair_of || !s->joint || !s->edge_at || !s->body_at || !s->pair)
        return LW_ERR_MEMORY;
    lwi_dual_given_list(c->dual, m->block, m->edge);
    for (int i = 0; i < m->nblock; i++) m->pair_of[i] = -1;
    list_joints(m);
    list_diagonals(m);
    place_bodies(m);
    find_bodies(m);
    list_pairs(m);
    s->body = lwi_arena_push(arena, (size_t)s->nbody + 1, sizeof *s->body);
    s->edge = lwi_arena_push(arena, (size_t)s->nedge + 1, sizeof *s->edge);
    s->pulls = LWI_PUSH(arena, lwi_i3_pulls, s->nbody);
    if (!s->body || !s->edge || !s->pulls) return LW_ERR_MEMORY;
    set_bodies(d, s);
    set_edges(d, s);
    TRY(set_rows(d, arena, s));
    TRY(order_items(m, arena));
    return list_pulls(m, arena);
}

lw_status lwi_index3_lanes_create(lwi_index3 *d, lwi_arena *arena)
{
    if (!fits(d)) return LW_OK;
    lwi_index3_lanes *s = LWI_PUSH(arena, lwi_index3_lanes, 1);
    if (!s) return LW_ERR_MEMORY;
    *s = (lwi_index3_lanes){.texts = texts_of(0),
                            .dual = d->closed.dual,
                            .level = d->method.tangent,
                            .length = d->closed.length};
    maker m = {.d = d, .s = s};
    lwi_arena_init(&m.arena, &arena->allocator);
    const lw_status status = make(&m, arena);
    lwi_arena_free(&m.arena);
    if (status == LW_OK) d->lanes = s;
    return status;
}

// -------------------------------------------------------------------------------------------- step

// All items, each kind by its phase.
static void pass(const lwi_index3_lanes *s, const lwi_i3_phase phase[LWI_I3_KINDS])
{
    for (int i = 0; i < s->nitem; i++) {
        const lwi_i3_item *item = &s->item[i];
        const lwi_i3_phase what = phase[item->kind];
        if (what < LWI_I3_PHASES)
            s->texts->phase[what](s, item->block, item->block + 1);
        else if (what != LWI_I3_NOTHING)
            lwi_dual_given_unit(s->dual, item->block, what == LWI_I3_ELIMINATE);
    }
}

// A pass with the engine's sweep upwards, matrix or right side alone; threads share it in one of its own.
static lw_status sweep_up(lwi_index3 *d, const lwi_i3_phase phase[LWI_I3_KINDS], bool symmetric)
{
    const lwi_index3_lanes *s = d->lanes;
    const bool matrix = phase[LWI_I3_UNIT] == LWI_I3_ELIMINATE;
    const bool alone = lwi_dual_given_alone(s->dual);
    lwi_i3_phase all[LWI_I3_KINDS];
    memcpy(all, phase, sizeof all);
    if (!alone) all[LWI_I3_UNIT] = LWI_I3_NOTHING;
    if (matrix) TRY(lwi_dual_given_begin(s->dual, symmetric));
    pass(s, all);
    if (!alone && matrix) lwi_dual_given_factor(s->dual);
    return matrix ? lwi_dual_given_end(s->dual) : LW_OK;
}

// To lambda.
static void sweep_down(const lwi_index3 *d)
{
    lwi_dual *dual = d->lanes->dual;
    (lwi_dual_given_alone(dual) ? lwi_dual_given_down : lwi_dual_given_solve)(dual);
}

// eps of every row: relative, or 1/penalty, which belongs to K of eta times a mobility
static void set_eps(const lwi_index3 *d, double eta)
{
    d->lanes->absolute = d->method.penalty > 0 ? 1 / (d->method.penalty * eta) : 0;
}

void lwi_index3_lanes_begin(lwi_index3 *d, double h, double *x)
{
    lwi_index3_lanes *s = d->lanes;
    s->h = h;
    s->state = x;
    s->ahead = false;
}

// What ends an iteration; what begins the next one; what begins the projections.
#define AFTER LWI_I3_FORCES, LWI_I3_TAKE
#define NEWTON(pairs) LWI_I3_ROWS_FORCES, LWI_I3_BALANCE, LWI_I3_NEWTON, pairs, LWI_I3_ELIMINATE
#define SPEEDS LWI_I3_ROWS, LWI_I3_MASSES, LWI_I3_SPEEDS, LWI_I3_PAIRS_ONCE, LWI_I3_ELIMINATE
#define NO LWI_I3_NOTHING

// From the prediction, from the last iteration, or in one pass with the end of the last iteration.
static lw_status begin_iteration(lwi_index3 *d, lwi_i3_phase joints, lwi_i3_phase bodies)
{
    const bool symmetric = d->lanes->level < 2;
    const lwi_i3_phase phase[] = {joints, bodies,
                                  NEWTON(symmetric ? LWI_I3_PAIRS_ONCE : LWI_I3_PAIRS)};
    set_eps(d, 1);
    TRY(sweep_up(d, phase, symmetric));
    const double began = lwi_clock();
    sweep_down(d);
    d->times.solve += lwi_clock() - began;
    return LW_OK;
}

static lw_status begin_projections(lwi_index3 *d, lwi_i3_phase joints, lwi_i3_phase bodies)
{
    const lwi_i3_phase phase[] = {joints, bodies, SPEEDS};
    set_eps(d, 0.25 * d->lanes->h * d->lanes->h);
    return sweep_up(d, phase, true);
}

// 2-norm of the increments of all bodies.
static double increments(const lwi_index3_lanes *s)
{
    double sum[LWI_LANES] = {0}, all = 0;
    for (int b = 0; b < s->nbody; b++) {
        const double *size = s->body[b].size;
        for (int l = 0; l < LWI_LANES; l++) sum[l] += size[l];
    }
    for (int l = 0; l < LWI_LANES; l++) all += sum[l];
    return sqrt(all);
}

static lw_status iterate(lwi_index3 *d, int i, double *size)
{
    lwi_index3_lanes *s = d->lanes;
    static const lwi_i3_phase after[] = {AFTER, NO, NO, NO, NO, NO};
    const bool all = !(d->method.tolerance > 0), last = i + 1 == d->method.iterations;
    if (!s->ahead) TRY(begin_iteration(d, i ? NO : LWI_I3_MULTIPLIERS, i ? NO : LWI_I3_BEGIN));
    s->ahead = all; // what comes next is known: one pass for both
    const double began = lwi_clock();
    if (!all)
        pass(s, after);
    else
        TRY((last ? begin_projections : begin_iteration)(d, AFTER));
    if (all && last) d->times.projection += lwi_clock() - began;
    *size = increments(s);
    return LW_OK;
}

lw_status lwi_index3_lanes_iterate(lwi_index3 *d, int i, double *size)
{
    const uint64_t mode = lwi_flush_begin();
    const lw_status status = iterate(d, i, size);
    lwi_flush_end(mode);
    return status;
}

static lw_status project(lwi_index3 *d)
{
    static const lwi_i3_phase between[] = {LWI_I3_IMPULSES, LWI_I3_TAKE_SPEEDS, LWI_I3_GAMMAS,
                                           NO, NO, NO, LWI_I3_UP};
    static const lwi_i3_phase last[] = {LWI_I3_IMPULSES, LWI_I3_FINISH, LWI_I3_PUT, NO, NO, NO, NO};
    if (!d->lanes->ahead) TRY(begin_projections(d, NO, NO));
    const double began = lwi_clock();
    sweep_down(d);
    TRY(sweep_up(d, between, true));
    const double turn = lwi_clock();
    sweep_down(d);
    pass(d->lanes, last);
    d->times.velocity += turn - began;
    d->times.acceleration += lwi_clock() - turn;
    return LW_OK;
}

// Poses of all bodies to `closed`.
static void show_poses(const lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_closed *c = &d->closed;
    for (int k = 0; k < c->model->nnode; k++) {
        const int body = c->model->node[k].body, l = s->body_at[k] % LWI_LANES;
        const lwi_i3_body *b = &s->body[s->body_at[k] / LWI_LANES];
        for (int i = 0; i < 3; i++) c->r[body][i] = b->r[i][l];
        for (int i = 0; i < 9; i++) c->R[body][i] = b->R[i][l];
    }
}

// The angle of a revolute joint, continued: as lwi_row_angle has it.
static double angle_of(const lwi_closed *c, const lwi_joint *joint, double near)
{
    double F1[9], F2[9], A = 0, B = 0;
    m3_mul(F1, c->R[joint->body1], joint->R1);
    m3_mul(F2, c->R[joint->body2], joint->R2);
    for (int i = 0; i < 9; i += 3) {
        A += F1[i] * F2[i] + F1[i + 1] * F2[i + 1];
        B += F1[i + 1] * F2[i] - F1[i] * F2[i + 1];
    }
    return angle_continue(atan2(B, A), near);
}

// Carried coordinates are continued in x.
static void carry(const lwi_index3 *d, double t, double *x)
{
    const lwi_closed *c = &d->closed;
    const lwi_carried *carried = &d->carried;
    if (!carried->n) return;
    show_poses(d);
    lwi_carried_load(c->model, carried, x, c->q);
    for (int i = 0, last = -1; i < carried->n; i++) {
        const int j = carried->item[i].joint;
        const lwi_joint *joint = &c->model->joint[j];
        double q[LW_JOINT_MAX_NQ];
        if (j != last && joint->type->id == LW_JOINT_REVOLUTE) {
            c->q[joint->iq] = angle_of(c, joint, c->q[joint->iq]);
        } else if (j != last) {
            lwi_joint_read_motion(c->model, j, t, &c->motion, q, NULL);
            memcpy(c->q + joint->iq, q, (size_t)joint->type->nq * sizeof *q);
        }
        last = j;
    }
    lwi_carried_store(c->model, carried, c->q, x);
}

lw_status lwi_index3_lanes_finish(lwi_index3 *d, double t, double *x)
{
    const double began = lwi_clock();
    const uint64_t mode = lwi_flush_begin();
    const lw_status status = project(d);
    lwi_flush_end(mode);
    if (status != LW_OK) return status;
    d->times.projection += lwi_clock() - began;
    carry(d, t, x);
    return LW_OK;
}

void lwi_index3_lanes_show(const lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_closed *c = &d->closed;
    for (int k = 0; k < c->model->nnode; k++)
        for (int i = 0; i < 6; i++)
            c->x[k][i] = s->body[s->body_at[k] / LWI_LANES].x[i][s->body_at[k] % LWI_LANES];
    for (int e = 0; e < c->nedge; e++) {
        const int b = s->edge_at[e] / LWI_LANES, l = s->edge_at[e] % LWI_LANES;
        for (int r = 0; r < 3 + s->joint[b].axes; r++)
            c->phi[c->plan.row[e] + r] = s->edge[b].phi[r][l];
    }
}
