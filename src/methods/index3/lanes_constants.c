// lanes_constants.c -- constants of the blocks of a step of index3 in lanes: bodies, joint points and axes, offsets
// in x.
#include "methods/index3/lanes_maker.h"

static void set_nothing(lwi_index3_lane_body *b, int l)
{
    b->mass[l] = b->quat[0][l] = b->R[0][l] = b->R[4][l] = b->R[8][l] = 1;
    for (int i = 0; i < 3; i++) b->J[i][l] = b->mobility[i][l] = 1;
}

static void set_bodies(const lwi_index3 *d, lwi_index3_lanes *s)
{
    const lw_model *model = d->system.model;
    for (int b = 0; b <= s->nbody; b++)
        for (int l = 0; l < LWI_LANES; l++) set_nothing(&s->body[b], l);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_body *body = &model->body[model->node[k].body];
        const int l = s->body_at[k] % LWI_LANES;
        lwi_index3_lane_body *b = &s->body[s->body_at[k] / LWI_LANES];
        b->mass[l] = body->mass, b->inverse_mass[l] = 1 / body->mass;
        b->free[l] = b->counts[l] = 1;
        b->reach2[l] = d->reach[k] * d->reach[k];
        for (int i = 0; i < 3; i++) b->weight[i][l] = body->mass * model->gravity[i];
        for (int i = 0; i < 6; i++)
            b->J[i][l] = body->inertia[i], b->mobility[i][l] = d->system.mobility[k][i];
    }
}

// Points and axes of a joint; zeros for other edges.
static void set_edge(const lwi_system *c, int edge, lwi_index3_lane_edge *e, int l)
{
    const lwi_joint *joint = lwi_index3_lane_joint_of(c, edge);
    const int axes = lwi_index3_lane_axis_rows(c, edge);
    if (axes < 0) return;
    for (int i = 0; i < 3; i++) {
        e->r1[i][l] = joint->r1[i], e->r2[i][l] = joint->r2[i];
        for (int k = 0; k < axes; k++) {
            e->axis1[k][i][l] = joint->R1[3 * i + joint->type->row[3 + k].i];
            e->axis2[k][i][l] = joint->R2[3 * i + joint->type->row[3 + k].j];
        }
    }
}

// Number of parts of the bodies of an edge; rows of a link between parts.
static void set_parts(const lwi_system *c, int edge, lwi_index3_lane_joint *j,
                      lwi_index3_lane_mixed *mixed, int l)
{
    for (int side = 0; side < LWI_EDGE_BODIES; side++) {
        const int k = side < j->sides ? lwi_index3_lane_node(c, edge, side) : -1;
        mixed->parts[side][l] = k < 0 ? 1 : lwi_system_parts_of(c, k);
        j->split |= mixed->parts[side][l] > 1;
    }
    if (edge < c->nedge) return;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 6; i++) j->rows[side].J[7 * i][l] = side ? -1 : 1;
}

static void set_edges(const lwi_index3 *d, lwi_index3_lanes *s)
{
    const lwi_system *c = &d->system;
    for (int b = 0; b < s->nedge; b++)
        for (int l = 0; l < LWI_LANES; l++) {
            const int e = s->joint[b].edge[l], hard = lwi_index3_constraint_row_count(d, e);
            s->edge[b].relative[l] = hard ? d->relative[e] / hard : 0;
            s->edge[b].follows[l] = hard && d->follows[e];
            set_edge(c, e, &s->edge[b], l);
            for (int r = 0; s->joint[b].mixed && r < c->plan.graph.edge[e].rows; r++) {
                s->mixed[b].base[r][l] = r < lwi_index3_lane_row_count(c, e);
                s->mixed[b].hard[r][l] = r < hard;
            }
            if (s->joint[b].mixed) set_parts(c, e, &s->joint[b], &s->mixed[b], l);
        }
}

// Offsets of bodies and joints in x.
static lw_status set_rows(const lwi_index3 *d, lwi_arena *arena, lwi_index3_lanes *s)
{
    const lwi_system *c = &d->system;
    s->pose = LWI_PUSH(arena, lwi_index3_lane_offset, s->nbody);
    s->speed = LWI_PUSH(arena, lwi_index3_lane_offset, s->nbody);
    s->acceleration = LWI_PUSH(arena, lwi_index3_lane_offset, s->nbody);
    s->lambda = LWI_PUSH(arena, lwi_index3_lane_offset, s->nedge);
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
        for (int l = 0; l < LWI_LANES; l++) // repeated lanes may be undefined in the elimination
            s->lambda[b].at[l] = l < s->joint[b].lanes && s->joint[b].edge[l] < c->nedge
                                     ? d->at_lambda + c->plan.row[s->joint[b].edge[l]]
                                     : -1;
    return LW_OK;
}

lw_status lwi_index3_lane_constants(const lwi_index3 *d, lwi_arena *arena, lwi_index3_lanes *s)
{
    set_bodies(d, s);
    set_edges(d, s);
    return set_rows(d, arena, s);
}
