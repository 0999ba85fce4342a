// fallback.c -- scalar fallback of a step of index3 in lanes.
#include "methods/index3/fallback.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- creation

int lwi_index3_constraint_row_count(const lwi_index3 *d, int e)
{
    const lwi_system *s = &d->system;
    return e < s->nedge - d->ncoupler ? s->plan.graph.edge[e].rows : 0;
}

static int node_of_body(const lw_model *model, int body)
{
    const int carrier = model->body[body].carrier;
    return carrier ? model->body_node[carrier] : -1;
}

// Joint of the speed that a force acts on; -1: none.
static int joint_of_force(const lwi_index3 *d, const lwi_force *force)
{
    const int iv = lwi_force_acts_on(force).iv;
    return iv >= 0 ? d->speed_joint[iv] : -1;
}

static void mark_bodies(const lw_model *model, int body1, int body2, bool *mark)
{
    const int node[2] = {node_of_body(model, body1), node_of_body(model, body2)};
    for (int i = 0; i < 2; i++)
        if (node[i] >= 0) mark[node[i]] = true;
}

static void mark_all(bool *mark, int n)
{
    for (int i = 0; i < n; i++) mark[i] = true;
}

static void mark_joint(const lw_model *model, int j, bool *mark)
{
    mark_bodies(model, model->joint[j].body1, model->joint[j].body2, mark);
}

void lwi_index3_find_full(const lwi_index3 *d, bool *full)
{
    const lw_model *model = d->system.model;
    for (int j = 0; j < model->njoint; j++)
        if (d->system.joint_edge[j] >= 0 && !model->joint[j].type->points)
            mark_joint(model, j, full);
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_place place = lwi_force_acts_on(f);
        const int j = joint_of_force(d, f);
        if (j < 0 && place.n == 0) // unknown
            mark_all(full, model->nnode);
        else if (j < 0)
            mark_bodies(model, place.body[0], place.body[1], full);
        else if (!model->joint[j].type->points)
            mark_joint(model, j, full);
    }
}

static void find_slots(const lwi_system *s, lwi_index3_fallback_edge *g)
{
    const lwi_plan_edge *edge = &s->plan.graph.edge[g->edge];
    LWI_ASSERT(edge->n <= LWI_EDGE_BODIES);
    const int j = s->edge_joint[g->edge];
    for (int side = 0; side < LWI_EDGE_BODIES; side++) {
        g->slot[side] = side < edge->n ? s->plan.slot[g->edge] + side : -1;
        if (j < 0) continue;
        const int body = side == 0   ? s->model->joint[j].body1
                         : side == 1 ? s->model->joint[j].body2
                                     : 0;
        g->slot[side] = -1;
        for (int i = 0; i < edge->n && body; i++)
            if (lwi_system_node_of(s, edge->body[i]) == s->model->body_node[body])
                g->slot[side] = s->plan.slot[g->edge] + i;
    }
}

static void list_edges(const lwi_index3 *d, lwi_index3_fallback *fallback, bool *node, bool *joint)
{
    const lwi_system *s = &d->system;
    for (int e = 0; e < s->nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        lwi_index3_fallback_edge g = {.edge = e, .known = lwi_index3_lane_row_count(s, e)};
        if (g.known == edge->rows) continue;
        g.to_world = d->points[e] && g.known == 0;
        find_slots(s, &g);
        fallback->edge[fallback->nedge++] = g;
        for (int i = 0; i < edge->n; i++) node[lwi_system_node_of(s, edge->body[i])] = true;
        if (s->edge_joint[e] >= 0) joint[s->edge_joint[e]] = true;
    }
}

static void list_forces(const lwi_index3 *d, bool *node, bool *joint, bool *read)
{
    const lw_model *model = d->system.model;
    const bool all = lwi_reads_state(model); // formulas may read any
    if (all) mark_all(node, model->nnode), mark_all(read, model->njoint);
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force_place place = lwi_force_acts_on(&model->force[i]);
        const int j = joint_of_force(d, &model->force[i]);
        if (j < 0 && place.n == 0) { // unknown: any body, any joint
            mark_all(node, model->nnode);
            if (model->force[i].type->needs & LWI_NEEDS_JOINT)
                mark_all(joint, model->njoint), mark_all(read, model->njoint);
        } else if (j < 0)
            mark_bodies(model, place.body[0], place.body[1], node);
        else
            mark_joint(model, j, node), joint[j] = read[j] = true;
    }
    for (int i = 0; i < model->ncoupling; i++)
        read[model->coupling[i].joint] = read[model->coupling[i].of] = true;
    for (int j = 0; j < model->njoint; j++)
        if (model->joint[j].type->callbacks) read[j] = true;
}

static int list_marked(const bool *mark, int n, int *list)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (mark[i]) list[count++] = i;
    return count;
}

static lw_status create(const lwi_index3 *d, lwi_index3_lanes *s, lwi_arena *scratch,
                        lwi_arena *arena)
{
    const lw_model *model = d->system.model;
    lwi_index3_fallback *fallback = LWI_PUSH(arena, lwi_index3_fallback, 1);
    bool *node = LWI_PUSH(scratch, bool, model->nnode),
         *joint = LWI_PUSH(scratch, bool, model->njoint);
    bool *read = LWI_PUSH(scratch, bool, model->njoint);
    if (!fallback || !node || !joint || !read) return LW_ERR_MEMORY;
    fallback->edge = LWI_PUSH(arena, lwi_index3_fallback_edge, d->system.nedge);
    fallback->node = LWI_PUSH(arena, int, model->nnode);
    fallback->joint = LWI_PUSH(arena, int, model->njoint);
    fallback->read = LWI_PUSH(arena, int, model->njoint);
    if (!fallback->edge || !fallback->node || !fallback->joint || !fallback->read)
        return LW_ERR_MEMORY;
    list_edges(d, fallback, node, joint);
    if (!fallback->nedge && !model->nforce) return LW_OK;
    list_forces(d, node, joint, read);
    fallback->nnode = list_marked(node, model->nnode, fallback->node);
    fallback->njoint = list_marked(joint, model->njoint, fallback->joint);
    fallback->nread = list_marked(read, model->njoint, fallback->read);
    s->load = lwi_arena_push(arena, (size_t)s->nbody, sizeof *s->load);
    if (!s->load) return LW_ERR_MEMORY;
    s->fallback = fallback;
    return LW_OK;
}

lw_status lwi_index3_fallback_create(const lwi_index3 *d, lwi_index3_lanes *s, lwi_arena *arena)
{
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = create(d, s, &scratch, arena);
    lwi_arena_free(&scratch);
    return status;
}

// ------------------------------------------------------------------------------------------ motion

// Motion of the fallback's bodies from lanes; velocities of the trapezoidal rule, or those of the projection.
static void take_motion(lwi_index3 *d, bool by_rule)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_system *c = &d->system;
    for (int n = 0; n < s->fallback->nnode; n++) {
        const int k = s->fallback->node[n], body = c->model->node[k].body,
                  l = s->body_at[k] % LWI_LANES;
        const lwi_index3_lane_body *b = &s->body[s->body_at[k] / LWI_LANES];
        for (int i = 0; i < 9; i++) c->R[body][i] = b->R[i][l];
        for (int i = 0; i < 3; i++) {
            c->r[body][i] = b->r[i][l];
            c->w[body][i] = b->w[i][l];
            c->v[body][i] =
                by_rule ? 2 / s->h * (b->r[i][l] - b->r0[i][l]) - b->v0[i][l] : b->v[i][l];
        }
    }
    lwi_system_place_merged(&d->system);
}

static void read_joints(lwi_index3 *d, double t)
{
    const lwi_index3_fallback *fallback = d->lanes->fallback;
    for (int i = 0; i < fallback->nread; i++)
        if (!lwi_index3_read_hinge(&d->system, fallback->read[i]))
            lwi_system_read_joint(&d->system, fallback->read[i], t);
}

static bool has_friction(const lwi_index3 *d)
{
    for (int i = 0; i < d->ncoupler; i++)
        if (d->coupler[i].dry) return true;
    return false;
}

void lwi_index3_fallback_begin(lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    if (has_friction(d)) {
        lwi_index3_read(d, &d->system, s->state);
        read_joints(d, s->t - s->h);
        lwi_index3_friction_begins(d);
    } else {
        lwi_auxiliary_load(d->system.model, &d->auxiliary, s->state, d->system.q);
    }
}

// -------------------------------------------------------------------------------------------- rows

// x := sum of x_k times axis k of F1
static void rotate_to_world(const double axes[9], double *x)
{
    double in[3];
    v3_copy(in, x);
    m3_tmul_v(x, axes, in);
}

// Rotates point rows to world axes, with their phi and b.
static void convert_points(lwi_index3 *d, lwi_index3_fallback_edge *g)
{
    lwi_system *s = &d->system;
    const int row = s->plan.row[g->edge];
    double w[6], column[3];
    for (int k = 0; k < 3; k++) {
        lwi_index3_row_wrench(d, g->edge, k, w);
        v3_copy(g->axes + 3 * k, w);
    }
    for (int i = 0; i < s->plan.graph.edge[g->edge].n; i++) {
        double(*J)[6] = lwi_elim_J(s->elim) + 6 * (s->plan.slot[g->edge] + i);
        for (int c = 0; c < 6; c++) {
            for (int k = 0; k < 3; k++) column[k] = J[k][c];
            rotate_to_world(g->axes, column);
            for (int k = 0; k < 3; k++) J[k][c] = column[k];
        }
    }
    rotate_to_world(g->axes, s->phi + row);
    rotate_to_world(g->axes, s->b + row);
}

// Writes the constraint rows of the fallback to J; `own`: as in Newton's iterations.
static void write_rows(lwi_index3 *d, bool own)
{
    lwi_index3_fallback *fallback = d->lanes->fallback;
    for (int i = 0; i < fallback->nedge; i++) {
        lwi_index3_fallback_edge *g = &fallback->edge[i];
        if (lwi_index3_constraint_row_count(d, g->edge) == 0) continue;
        if (lwi_index3_hinge_drive(&d->system, g, d->lanes->t)) continue;
        lwi_system_edge_rows(&d->system, g->edge, d->lanes->t);
        if (!g->to_world) continue;
        if (own) lwi_index3_own_points(d, g->edge);
        convert_points(d, g);
    }
}

// Lanes of an edge: its own, and those that repeat it.
static int first_lane(const lwi_index3_lanes *s, int edge, int *end)
{
    const int l = s->edge_at[edge] % LWI_LANES;
    LWI_ASSERT(l < s->joint[s->edge_at[edge] / LWI_LANES].lanes);
    *end = l + 1 == s->joint[s->edge_at[edge] / LWI_LANES].lanes ? LWI_LANES : l + 1;
    return l;
}

// Copies J and phi to the lanes; with `c`, the right sides -c in place of phi.
static void put_rows(const lwi_index3 *d, const double *c)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_system *system = &d->system;
    for (int n = 0; n < s->fallback->nedge; n++) {
        const lwi_index3_fallback_edge *g = &s->fallback->edge[n];
        const int block = s->edge_at[g->edge] / LWI_LANES, row = system->plan.row[g->edge];
        const bool soft = lwi_index3_constraint_row_count(d, g->edge) == 0;
        const lwi_index3_lane_joint *j = &s->joint[block];
        int end;
        for (int l = first_lane(s, g->edge, &end); l < end; l++) {
            for (int r = g->known; r < j->count; r++) {
                if (soft) s->mixed[block].soft[r][l] = d->compliance[row + r - d->first_compliance];
                if (c)
                    s->mixed[block].c[r][l] = -c[row + r];
                else
                    s->edge[block].phi[r][l] = system->phi[row + r];
            }
            for (int side = 0; side < j->sides; side++) {
                if (g->slot[side] < 0) continue;
                const double(*J)[6] =
                    (const double(*)[6])lwi_elim_J(system->elim) + 6 * g->slot[side];
                for (int r = g->known; r < j->count; r++)
                    for (int i = 0; i < 6; i++) j->rows[side].J[6 * r + i][l] = J[r][i];
            }
        }
    }
}

// ------------------------------------------------------------------------------------------- loads

// Multipliers of the fallback's rows; zero for all others.
static void take_multipliers(lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_system *c = &d->system;
    memset(d->row, 0, (size_t)c->nrow * sizeof *d->row);
    for (int n = 0; n < s->fallback->nedge; n++) {
        const lwi_index3_fallback_edge *g = &s->fallback->edge[n];
        const int at = s->edge_at[g->edge];
        for (int r = g->known; r < lwi_index3_constraint_row_count(d, g->edge); r++)
            d->row[c->plan.row[g->edge] + r] = s->edge[at / LWI_LANES].lambda[r][at % LWI_LANES];
    }
}

// x := loads and efforts of the model's forces
static void take_loads(lwi_index3 *d)
{
    lwi_system *c = &d->system;
    const lwi_index3_lanes *s = d->lanes;
    if (c->model->nforce) {
        lwi_system_forces(c, s->t, s->inputs);
        lwi_system_gather(c, s->t, &c->loads);
    }
    for (int n = 0; n < s->fallback->nnode; n++) {
        const int k = s->fallback->node[n];
        if (c->model->nforce)
            v6_copy(c->x[k], c->wrench[c->model->node[k].body]);
        else
            v6_zero(c->x[k]);
    }
}

static void find_stiffnesses(lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_index3_fallback *fallback = s->fallback;
    for (int n = 0; n < fallback->nnode; n++)
        d->stiffness[fallback->node[n]] = (lwi_index3_stiffness){0};
    for (int i = 0; i < fallback->njoint; i++)
        lwi_index3_joint_stiffness(d, fallback->joint[i], s->t, d->row);
    lwi_index3_other_stiffnesses(d, s->t, s->inputs, d->row);
}

static void put_loads(const lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    for (int n = 0; n < s->fallback->nnode; n++) {
        const int k = s->fallback->node[n], l = s->body_at[k] % LWI_LANES;
        lwi_index3_lane_load *to = &s->load[s->body_at[k] / LWI_LANES];
        const lwi_index3_stiffness *K = &d->stiffness[k];
        for (int i = 0; i < 6; i++) to->f[i][l] = d->system.x[k][i];
        for (int i = 0; i < 9 && s->level; i++) to->rr[i][l] = K->rr[i];
        if (!s->level || !s->is_full[s->body_at[k] / LWI_LANES]) continue;
        for (int i = 0; i < 9; i++)
            to->tr[i][l] = K->tr[i], to->rt[i][l] = K->rt[i], to->tt[i][l] = K->tt[i];
    }
}

// ------------------------------------------------------------------------------------------ stages

static void newton(lwi_index3 *d)
{
    const lwi_index3_lanes *s = d->lanes;
    take_motion(d, true);
    read_joints(d, d->lanes->t);
    write_rows(d, true);
    take_multipliers(d);
    take_loads(d);
    if (s->level)
        lwi_index3_force_rows(d, s->t, s->h, s->inputs); // friction adds to x
    else
        lwi_index3_no_force_rows(d);
    if (s->level && !s->keep) find_stiffnesses(d);
    put_rows(d, NULL);
    put_loads(d);
}

static void speeds(lwi_index3 *d)
{
    take_motion(d, true);
    read_joints(d, d->lanes->t);
    write_rows(d, false);
    if (!d->lanes
             ->keep) { // else rows of forces are those of the last iteration: part of the metric
        lwi_index3_no_force_rows(d);
        lwi_index3_friction_rows(d, d->lanes->t, d->lanes->h, 1);
    }
    put_rows(d, d->system.b);
}

static void accelerations(lwi_index3 *d)
{
    lwi_system *s = &d->system;
    lwi_index3_fallback *fallback = d->lanes->fallback;
    take_motion(d, false);
    for (int i = 0; i < fallback->nedge; i++) {
        const lwi_index3_fallback_edge *g = &fallback->edge[i];
        if (lwi_index3_constraint_row_count(d, g->edge) == 0) continue;
        lwi_system_edge_gamma(s, g->edge, d->lanes->t);
        if (g->to_world) rotate_to_world(g->axes, s->gamma + s->plan.row[g->edge]);
    }
    put_rows(d, s->gamma);
}

void lwi_index3_fallback_stage(lwi_index3 *d, lwi_index3_stage stage)
{
    LWI_ASSERT(d->lanes->fallback && stage != LWI_INDEX3_STAGE_NONE);
    if (stage == LWI_INDEX3_STAGE_NEWTON)
        newton(d);
    else if (stage == LWI_INDEX3_STAGE_SPEEDS)
        speeds(d);
    else
        accelerations(d);
}

// Power of the forces and of prescribed motions: fallback rows with a rate b.
void lwi_index3_fallback_finish(lwi_index3 *d, double *x)
{
    const lwi_index3_lanes *s = d->lanes;
    const lwi_system *c = &d->system;
    if (d->at_work < 0) return;
    lwi_system_forces(&d->system, s->t, s->inputs);
    const double unit = lwi_index3_projection_unit(d, s->h);
    double power = c->loads.power;
    for (int n = 0; n < s->fallback->nedge; n++) {
        const lwi_index3_fallback_edge *g = &s->fallback->edge[n];
        const int at = s->edge_at[g->edge], l = at % LWI_LANES;
        const lwi_index3_lane_joint *j = &s->joint[at / LWI_LANES];
        for (int r = g->known; r < j->count; r++)
            power -= (s->edge[at / LWI_LANES].lambda[r][l] + unit * j->rows[0].f[r][l]) *
                     c->b[c->plan.row[g->edge] + r];
    }
    x[d->at_work] += 0.5 * s->h * (x[d->at_work + 1] + power);
    x[d->at_work + 1] = power;
}
