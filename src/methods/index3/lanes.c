// lanes.c -- blocks of a step of index3 in lanes: which joints and bodies are side by side, their sources and
// targets.  The order of items: lanes_order.c.
#include "methods/index3/lanes_maker.h"

#include "base/cpu.h"

#include <string.h>

// ----------------------------------------------------------------------------------------- kernels

LWI_ISA_BUILDS(lwi_index3_kernels, lwi_index3_kernels);

static const lwi_index3_kernels *kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

bool lwi_index3_lanes_width(lwi_index3_lanes *s, int width)
{
    const lwi_index3_kernels *kernels = kernels_of(width);
    if (!kernels || !lwi_elim_lanes(s->elim, width)) return false;
    s->kernels = kernels;
    return true;
}

// ----------------------------------------------------------------------------------- applicability

// Number of axis rows of a joint with point rows and axis rows only; -1: it has other rows.
static int axis_rows(const lwi_joint *joint)
{
    const lwi_joint_type *type = joint->type;
    if (joint->mount.present || !type->points || type->nc > 3 + LWI_INDEX3_AXES) return -1;
    for (int k = 3; k < type->nc; k++)
        if (type->row[k].kind != LWI_ROW_AXES) return -1;
    return type->nc - 3;
}

const lwi_joint *lwi_index3_lane_joint_of(const lwi_system *s, int e)
{
    const int j = e < s->nedge ? s->edge_joint[e] : -1; // then links of split bodies
    return j >= 0 ? &s->model->joint[j] : NULL;
}

int lwi_index3_lane_axis_rows(const lwi_system *s, int e)
{
    const lwi_joint *joint = lwi_index3_lane_joint_of(s, e);
    return joint ? axis_rows(joint) : -1;
}

int lwi_index3_lane_row_count(const lwi_system *s, int e)
{
    const int axes = lwi_index3_lane_axis_rows(s, e);
    return axes < 0 ? 0 : 3 + axes;
}

static bool fits(const lwi_index3 *d)
{
    const lwi_index3_method *m = &d->method;
    const lwi_system *s = &d->system;
    if (d->euler || m->stop || !m->projection || s->transfer) return false;
    for (int i = 0; i < d->ncoupler;
         i++) // sticking coordinates need other factors in the projections
        if (d->coupler[i].dry && m->projection == LW_INDEX3_PROJECTION_TANGENT) return false;
    if (!s->nrow || d->nrotor) return false;
    for (int e = 0; e < s->nedge; e++) {
        const lwi_joint *joint = lwi_index3_lane_joint_of(s, e);
        if (joint && joint->body1 == joint->body2) return false;
    }
    for (int j = 0; j < s->model->njoint; j++)
        if (s->model->joint[j].mount.present) return false;
    return true;
}

// ------------------------------------------------------------------------------------------- lists

static int axes_of(const lwi_index3_lane_maker *m, int edge)
{
    return lwi_index3_lane_axis_rows(&m->d->system, edge);
}

static int rows_of(const lwi_index3_lane_maker *m, int edge)
{
    return m->d->system.plan.graph.edge[edge].rows;
}

// Block for the next lane of a kind: that of the set, or of single ones.
static int block_for(lwi_index3_lane_maker *m, int kind, int set, int *last, int *count,
                     const int *lanes)
{
    if (set >= 0) return *last == set ? *count - 1 : (*last = set, (*count)++);
    if (m->open[kind] >= 0 && lanes[0] >= LWI_LANES) m->open[kind] = -1;
    if (m->open[kind] < 0) m->open[kind] = (*count)++;
    return m->open[kind];
}

// Number of sides: bodies 1 and 2 of a joint; the bodies of the graph for a coupling or force.
static int sides_of(const lwi_system *s, int edge)
{
    return lwi_index3_lane_joint_of(s, edge) ? 2 : s->plan.graph.edge[edge].n;
}

int lwi_index3_lane_node(const lwi_system *s, int edge, int side)
{
    const lwi_joint *joint = lwi_index3_lane_joint_of(s, edge);
    if (side >= sides_of(s, edge)) return -1;
    if (!joint) return lwi_system_node_of(s, s->plan.graph.edge[edge].body[side]);
    const int body = side ? joint->body2 : joint->body1;
    return body ? s->model->body_node[body] : -1;
}

static void clear_open(lwi_index3_lane_maker *m)
{
    for (int i = 0; i < LWI_COUNT(m->open); i++) m->open[i] = -1;
}

static void list_joints(lwi_index3_lane_maker *m)
{
    lwi_index3_lanes *s = m->s;
    int set = -1;
    clear_open(m);
    for (int i = 0; i < m->nedge; i++) {
        const lwi_elim_assembled_edge *from = &m->edge[i];
        const int axes = axes_of(m, from->edge), count = rows_of(m, from->edge);
        const int kind = m->mixed[from->edge] ? 9 + count : axes;
        const int open = m->open[kind], full = open >= 0 ? s->joint[open].lanes : 0;
        const int b = block_for(m, kind, from->set, &set, &s->nedge, &full);
        lwi_index3_lane_joint *j = &s->joint[b];
        const int l = j->lanes++;
        LWI_ASSERT_INDEX(l, LWI_LANES);
        LWI_ASSERT(s->nedge <= m->nedge);
        j->mixed |= m->mixed[from->edge] || (l && j->axes != axes);
        if (l == 0 || j->axes < axes) j->axes = axes;
        j->count = count;
        j->edge[l] = from->edge;
        j->v[l] = from->v;
        j->step = from->step;
        s->edge_at[from->edge] = LWI_LANES * b + l;
    }
    for (int b = 0; b < s->nedge; b++) {
        lwi_index3_lane_joint *j = &s->joint[b];
        j->straight = j->step > 1;
        for (int l = j->lanes; l < LWI_LANES; l++) {
            j->edge[l] = j->edge[l - 1];
            j->v[l] = j->v[l - 1] + (j->step > 1); // the elimination also repeats the last lane
        }
        for (int l = 0; l < LWI_LANES; l++) j->straight &= j->v[l] == j->v[0] + l;
        j->sides = 2;
        for (int l = 0; l < j->lanes; l++)
            if (j->sides < sides_of(&m->d->system, j->edge[l]))
                j->sides = sides_of(&m->d->system, j->edge[l]);
    }
}

static void finish_place(lwi_index3_lane_target *p, int lanes)
{
    p->straight = p->right > 1; // not if addresses are adjacent by chance
    for (int l = 1; l < LWI_LANES; l++) {
        if (l >= lanes) { // the elimination also repeats the last lane
            const int next = p->right > 1;
            p->R[l] = p->R[l - 1] + next, p->Q[l] = p->Q[l - 1] ? p->Q[l - 1] + next : NULL;
            p->down[l] = p->down[l - 1];
        }
        p->straight &= p->R[l] == p->R[0] + l && p->down[l] == p->down[0];
    }
}

static void set_place(lwi_index3_lane_target *p, int l, const lwi_elim_assembled_block *from)
{
    LWI_ASSERT(from->R && from->down > 0 && from->right > 0);
    p->R[l] = from->R, p->Q[l] = from->Q;
    p->down[l] = from->down, p->right = from->right;
}

static void list_diagonals(lwi_index3_lane_maker *m)
{
    lwi_index3_lanes *s = m->s;
    for (int i = 0; i < m->nblock; i++) {
        const lwi_elim_assembled_block *from = &m->block[i];
        if (from->row != from->column || from->add) continue;
        const int at = s->edge_at[from->row];
        set_place(&s->joint[at / LWI_LANES].place, at % LWI_LANES, from);
    }
    for (int b = 0; b < s->nedge; b++) finish_place(&s->joint[b].place, s->joint[b].lanes);
}

// ------------------------------------------------------------------------------------------ bodies

// Eight bodies on the same side of eight joints form a block, the others follow in their order.
static void arrange_bodies(lwi_index3_lane_maker *m)
{
    lwi_index3_lanes *s = m->s;
    const int n = m->d->system.model->nnode;
    int at = 0;
    for (int k = 0; k < n; k++) s->body_at[k] = -1;
    for (int b = 0; b < s->nedge; b++)
        for (int side = 0; side < 2; side++) {
            const lwi_index3_lane_joint *j = &s->joint[b];
            bool full = j->lanes == LWI_LANES;
            for (int l = 0; l < LWI_LANES && full; l++) {
                const int k = lwi_index3_lane_node(&m->d->system, j->edge[l], side);
                full = k >= 0 && s->body_at[k] < 0;
                for (int i = 0; i < l && full; i++)
                    full = lwi_index3_lane_node(&m->d->system, j->edge[i], side) != k;
            }
            for (int l = 0; l < LWI_LANES && full; l++)
                s->body_at[lwi_index3_lane_node(&m->d->system, j->edge[l], side)] = at++;
        }
    for (int k = 0; k < n; k++)
        if (s->body_at[k] < 0) s->body_at[k] = at++;
    s->nbody = (at + LWI_LANES - 1) / LWI_LANES;
    LWI_ASSERT(at == n);
}

static int body_offset(const lwi_index3_lanes *s, int node, int lane)
{
    const int at = node >= 0 ? s->body_at[node] : LWI_LANES * s->nbody + lane;
    return at / LWI_LANES * (int)(sizeof(lwi_index3_lane_body) / sizeof(double)) + at % LWI_LANES;
}

static int full_offset(const lwi_index3_lanes *s, int node, int lane)
{
    const int at = node >= 0 ? s->body_at[node] : LWI_LANES * s->nbody + lane;
    return at / LWI_LANES * (int)(sizeof(lwi_index3_lane_full) / sizeof(double)) + at % LWI_LANES;
}

static int rows_offset(const lwi_index3_lanes *s, int at, int side)
{
    const int rows =
        at / LWI_LANES < s->nedge ? (int)(s->joint[at / LWI_LANES].rows - s->rows) : s->nrows;
    return (rows + side) * (int)(sizeof(lwi_index3_lane_rows) / sizeof(double)) + at % LWI_LANES;
}

static int side_offset(int at, int side)
{
    return (at / LWI_LANES * (int)sizeof(lwi_index3_lane_edge) +
            side * (int)sizeof(lwi_index3_lane_side)) /
               (int)sizeof(double) +
           at % LWI_LANES;
}

static void finish_from(lwi_index3_lane_source *from)
{
    from->straight = true;
    for (int l = 1; l < LWI_LANES; l++) from->straight &= from->at[l] == from->at[0] + l;
}

static void find_bodies(lwi_index3_lane_maker *m)
{
    lwi_index3_lanes *s = m->s;
    for (int b = 0; b < s->nedge; b++)
        for (int side = 0; side < s->joint[b].sides; side++) {
            lwi_index3_lane_joint *j = &s->joint[b];
            for (int l = 0; l < LWI_LANES; l++) {
                const int k = lwi_index3_lane_node(&m->d->system, j->edge[l], side);
                j->body[side].at[l] = body_offset(s, k, l);
                j->full_of[side].at[l] = full_offset(s, k, l);
                j->full |= k >= 0 && m->full[k];
            }
            finish_from(&j->body[side]), finish_from(&j->full_of[side]);
        }
}

// Node of the body of a block of the matrix.
static int block_node(const lwi_index3_lane_maker *m, const lwi_elim_assembled_block *from)
{
    const lwi_system *s = &m->d->system;
    return lwi_system_node_of(s, s->plan.graph.edge[from->row].body[from->row_body]);
}

// Allocates rows of all kinds: of mixed blocks, and of those that share a body with them.
static lw_status find_rows(lwi_index3_lane_maker *m, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    bool *has = LWI_PUSH(&m->arena, bool, s->nedge);
    if (!has) return LW_ERR_MEMORY;
    for (int b = 0; b < s->nedge; b++) has[b] = s->joint[b].mixed;
    for (int i = 0, next; i < m->nblock; i = next) {
        bool shares_mixed = false, full = false;
        for (next = i; next == i || (next < m->nblock && m->block[i].set >= 0 &&
                                     m->block[next].set == m->block[i].set);
             next++) {
            const lwi_elim_assembled_block *from = &m->block[next];
            const int k = block_node(m, from);
            shares_mixed |= s->joint[s->edge_at[from->row] / LWI_LANES].mixed;
            shares_mixed |= s->joint[s->edge_at[from->column] / LWI_LANES].mixed;
            full |= m->full[k];
        }
        for (int k = i; k < next; k++) {
            if (m->block[k].row == m->block[k].column || !(shares_mixed || full)) continue;
            m->shares_mixed[k] = true, m->shares_full[k] = full;
            has[s->edge_at[m->block[k].row] / LWI_LANES] = true;
            has[s->edge_at[m->block[k].column] / LWI_LANES] = true;
        }
    }
    for (int b = 0; b < s->nedge; b++) s->nrows += has[b] ? s->joint[b].sides : 0;
    s->rows = lwi_arena_push(arena, (size_t)s->nrows + 1, sizeof *s->rows);
    if (!s->rows) return LW_ERR_MEMORY;
    for (int b = 0, at = 0; b < s->nedge; b++) {
        if (!has[b]) continue;
        s->joint[b].rows = s->rows + at;
        at += s->joint[b].sides;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- pairs

// Side of body number i of an edge of the graph.
static int side_of(const lwi_index3_lane_maker *m, int edge, int i)
{
    const lwi_system *s = &m->d->system;
    if (!lwi_index3_lane_joint_of(s, edge)) return i;
    return lwi_system_node_of(s, s->plan.graph.edge[edge].body[i]) ==
           lwi_index3_lane_node(&m->d->system, edge, 1);
}

static void list_pair(lwi_index3_lane_maker *m, const lwi_elim_assembled_block *from,
                      lwi_index3_lane_pair *p)
{
    const lwi_index3_lanes *s = m->s;
    const int l = p->lanes++;
    LWI_ASSERT_INDEX(l, LWI_LANES);
    const int edge[2] = {from->row, from->column}, body[2] = {from->row_body, from->column_body};
    double sign = 1;
    for (int i = 0; i < 2; i++) {
        const int side = side_of(m, edge[i], body[i]);
        p->axes[i] = axes_of(m, edge[i]);
        p->count[i] = rows_of(m, edge[i]);
        p->side[i].at[l] = p->mixed ? rows_offset(s, s->edge_at[edge[i]], side)
                                    : side_offset(s->edge_at[edge[i]], side);
        sign *= side ? 1 : -1;
    }
    const int node = block_node(m, from), parts = lwi_system_parts_of(&m->d->system, node);
    p->body.at[l] = p->full ? full_offset(s, node, l) : body_offset(s, node, l);
    if (p->full) s->is_full[s->body_at[node] / LWI_LANES] = true;
    p->add = from->add;
    p->sign[l] = p->mixed ? parts : sign;
    p->split |= parts > 1;
    LWI_ASSERT(p->mixed || parts == 1);
    set_place(&p->place, l, from);
}

static void finish_pair(lwi_index3_lane_pair *p)
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

// Blocks that are added to others come after them.
static void list_pairs(lwi_index3_lane_maker *m)
{
    lwi_index3_lanes *s = m->s;
    for (int added = 0; added < 2; added++) {
        int set = -1;
        clear_open(m);
        for (int i = 0; i < m->nblock; i++) {
            const lwi_elim_assembled_block *from = &m->block[i];
            if (from->row == from->column || from->add != (added > 0)) continue;
            const int counts =
                (LWI_INDEX3_MAX_ROWS + 1) * rows_of(m, from->row) + rows_of(m, from->column);
            const int kind = m->shares_mixed[i]
                                 ? 9 + 2 * counts + m->shares_full[i]
                                 : 3 * axes_of(m, from->row) + axes_of(m, from->column);
            const int open = m->open[kind], full = open >= 0 ? s->pair[open].lanes : 0;
            m->pair_of[i] = block_for(m, kind, from->set, &set, &s->npair, &full);
            LWI_ASSERT_INDEX(kind, LWI_INDEX3_BLOCK_KINDS);
            LWI_ASSERT(s->npair <= m->nblock);
            lwi_index3_lane_pair *p = &s->pair[m->pair_of[i]];
            p->mixed = m->shares_mixed[i], p->full = m->shares_full[i];
            list_pair(m, from, p);
        }
    }
    for (int i = 0; i < s->npair; i++) finish_pair(&s->pair[i]);
}

// --------------------------------------------------------------------------------- incident joints

// Allocates the longest list of each block; entries without a joint refer to zeros.
static lw_status create_incidents(const lwi_index3_lanes *s, lwi_arena *arena)
{
    for (int b = 0; b < s->nbody; b++) {
        lwi_index3_lane_incident *p = &s->incident[b];
        p->from = LWI_PUSH(arena, lwi_index3_lane_source, p->n);
        p->axes = LWI_PUSH(arena, bool, p->n);
        p->mixed = LWI_PUSH(arena, lwi_index3_lane_source, p->nmixed);
        if (!p->from || !p->axes || !p->mixed) return LW_ERR_MEMORY;
        for (int l = 0; l < LWI_LANES; l++) { // the last edge and the last rows are zeros
            for (int i = 0; i < p->n; i++)
                p->from[i].at[l] = side_offset(LWI_LANES * s->nedge + l, 0);
            for (int i = 0; i < p->nmixed; i++)
                p->mixed[i].at[l] = rows_offset(s, LWI_LANES * s->nedge + l, 0);
        }
    }
    return LW_OK;
}

static void list_incident(const lwi_index3_lane_maker *m, int e, int side, bool fill, int *count)
{
    const lwi_index3_lanes *s = m->s;
    const int k = lwi_index3_lane_node(&m->d->system, e, side), from = s->edge_at[e];
    if (k < 0) return;
    const bool mixed = s->joint[from / LWI_LANES].mixed;
    const int at = s->body_at[k], i = count[2 * at + mixed]++, l = at % LWI_LANES;
    LWI_ASSERT_INDEX(at, LWI_LANES * s->nbody);
    lwi_index3_lane_incident *p = &s->incident[at / LWI_LANES];
    int *n = mixed ? &p->nmixed : &p->n;
    if (!fill) {
        if (*n < i + 1) *n = i + 1;
    } else if (mixed) {
        p->mixed[i].at[l] = rows_offset(s, from, side);
    } else {
        p->from[i].at[l] = side_offset(from, side);
        p->axes[i] |= axes_of(m, e) > 0;
    }
}

static lw_status list_incidents(lwi_index3_lane_maker *m, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    const lwi_system *c = &m->d->system;
    int *count = LWI_PUSH(&m->arena, int, 2 * LWI_LANES * s->nbody);
    if (!count) return LW_ERR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        memset(count, 0, (size_t)(2 * LWI_LANES * s->nbody) * sizeof *count);
        for (int e = 0; e < c->nedge; e++)
            for (int side = 0; side < sides_of(&m->d->system, e); side++)
                list_incident(m, e, side, pass > 0, count);
        if (!pass) TRY(create_incidents(s, arena));
    }
    for (int b = 0; b < s->nbody; b++) {
        lwi_index3_lane_incident *p = &s->incident[b];
        for (int i = 0; i < p->n; i++) finish_from(&p->from[i]);
        for (int i = 0; i < p->nmixed; i++) finish_from(&p->mixed[i]);
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- creation

static void find_mixed(lwi_index3_lane_maker *m)
{
    const lwi_system *c = &m->d->system;
    if (m->d->method.tangent) lwi_index3_find_full(m->d, m->full);
    for (int e = 0; e < m->nedge; e++) {
        m->mixed[e] = lwi_index3_lane_row_count(c, e) < c->plan.graph.edge[e].rows;
        for (int side = 0; side < sides_of(&m->d->system, e); side++) {
            const int k = lwi_index3_lane_node(&m->d->system, e, side);
            m->mixed[e] |= k >= 0 && (m->full[k] || lwi_system_parts_of(c, k) > 1);
        }
    }
}

// Memory of mixed blocks, and of bodies with full K.
static lw_status make_mixed(lwi_index3_lane_maker *m, lwi_arena *arena)
{
    lwi_index3_lanes *s = m->s;
    bool mixed = false, full = false;
    for (int b = 0; b < s->nedge; b++) {
        const lwi_index3_lane_joint *j = &s->joint[b];
        mixed |= j->mixed;
        for (int l = 0; l < LWI_LANES && j->full; l++)
            for (int side = 0; side < j->sides; side++) {
                const int k = lwi_index3_lane_node(&m->d->system, j->edge[l], side);
                if (k >= 0) s->is_full[s->body_at[k] / LWI_LANES] = true;
            }
    }
    for (int k = 0; k < m->d->system.model->nnode; k++)
        if (m->full[k]) s->is_full[s->body_at[k] / LWI_LANES] = true;
    for (int b = 0; b < s->nbody; b++) full |= s->is_full[b];
    if (mixed && !(s->mixed = lwi_arena_push(arena, (size_t)s->nedge, sizeof *s->mixed)))
        return LW_ERR_MEMORY;
    if (full && !(s->full = lwi_arena_push(arena, (size_t)s->nbody + 1, sizeof *s->full)))
        return LW_ERR_MEMORY;
    return lwi_index3_fallback_create(m->d, s, arena);
}

static lw_status make(lwi_index3_lane_maker *m, lwi_arena *arena)
{
    const lwi_index3 *d = m->d;
    const lwi_system *c = &d->system;
    lwi_index3_lanes *s = m->s;
    m->nblock = lwi_elim_assembled_list(c->elim, NULL, NULL);
    m->nedge = c->plan.graph.nedge;
    m->block = LWI_PUSH(&m->arena, lwi_elim_assembled_block, m->nblock);
    m->edge = LWI_PUSH(&m->arena, lwi_elim_assembled_edge, m->nedge);
    m->pair_of = LWI_PUSH(&m->arena, int, m->nblock);
    m->shares_mixed = LWI_PUSH(&m->arena, bool, m->nblock);
    m->shares_full = LWI_PUSH(&m->arena, bool, m->nblock);
    m->full = LWI_PUSH(&m->arena, bool, c->model->nnode);
    m->mixed = LWI_PUSH(&m->arena, bool, m->nedge);
    s->joint = LWI_PUSH(arena, lwi_index3_lane_joint, m->nedge);
    s->edge_at = LWI_PUSH(arena, int, m->nedge);
    s->body_at = LWI_PUSH(arena, int, c->model->nnode);
    s->pair = lwi_arena_push(arena, (size_t)m->nblock, sizeof *s->pair);
    if (!m->block || !m->edge || !m->pair_of || !s->joint || !s->edge_at || !s->body_at || !s->pair)
        return LW_ERR_MEMORY;
    if (!m->shares_mixed || !m->shares_full || !m->full || !m->mixed) return LW_ERR_MEMORY;
    lwi_elim_assembled_list(c->elim, m->block, m->edge);
    for (int i = 0; i < m->nblock; i++) m->pair_of[i] = -1;
    find_mixed(m);
    list_joints(m);
    list_diagonals(m);
    arrange_bodies(m);
    s->is_full = LWI_PUSH(arena, bool, s->nbody + 1);
    if (!s->is_full) return LW_ERR_MEMORY;
    find_bodies(m);
    TRY(find_rows(m, arena));
    list_pairs(m);
    TRY(make_mixed(m, arena));
    s->body = lwi_arena_push(arena, (size_t)s->nbody + 1, sizeof *s->body);
    s->edge = lwi_arena_push(arena, (size_t)s->nedge + 1, sizeof *s->edge);
    s->incident = LWI_PUSH(arena, lwi_index3_lane_incident, s->nbody);
    if (!s->body || !s->edge || !s->incident) return LW_ERR_MEMORY;
    TRY(lwi_index3_lane_constants(d, arena, s));
    TRY(lwi_index3_lane_order(m, arena));
    return list_incidents(m, arena);
}

lw_status lwi_index3_lanes_create(lwi_index3 *d, int threads, lwi_arena *arena)
{
    if (!fits(d) || !kernels_of(0)) return LW_OK;
    lwi_index3_lanes *s = LWI_PUSH(arena, lwi_index3_lanes, 1);
    if (!s) return LW_ERR_MEMORY;
    *s = (lwi_index3_lanes){
        .kernels = kernels_of(0), .elim = d->system.elim, .level = d->method.tangent};
    lwi_index3_lane_maker m = {.d = d, .s = s, .threads = threads};
    lwi_arena_init(&m.arena, &arena->allocator);
    const lw_status status = make(&m, arena);
    lwi_arena_free(&m.arena);
    if (status == LW_OK) d->lanes = s;
    return status;
}
