// project.c -- generates the rows of closed loops, and the projections of positions and velocities onto them.
//
// Independent coordinates and speeds stay.  Block by block, W_y y = -b with b of the rows and of the dependent speeds
// before: velocities b = W_z v_z, a step of Newton's method for positions b = phi + W_z dq_z.
#include "codegen/functions.h"
#include "codegen/reduced.h"

lw_status lwi_generate_constraints(lwi_codegen_graph *g, const lwi_elements *elements,
                                   lwi_arena *arena, lw_error *error)
{
    (void)error;
    const int nv = elements->model->tree_nv;
    lwi_walk walk;
    lwi_closures c;
    TRY(lwi_walk_begin(g, elements, 0, arena, &walk));
    const int v = lwi_codegen_graph_array(g, "v");
    const int phi = lwi_codegen_graph_result(g, "phi"),
              rate = lwi_codegen_graph_result(g, "phidot");
    TRY(lwi_closures_create(&walk, arena, &c));
    for (int i = 0; i < elements->loops->m; i++) {
        val sum = c.rate[i];
        for (int j = 0; j < nv; j++)
            sum = madd(g, sum, c.J[i * nv + j], lwi_codegen_graph_input(g, v, j));
        lwi_codegen_graph_output(g, phi, i, c.phi[i]);
        lwi_codegen_graph_output(g, rate, i, sum);
    }
    return LW_OK;
}

// The rows at q, and room for all speeds.
static lw_status begin(lwi_codegen_graph *g, const lwi_elements *elements, lwi_arena *arena,
                       lwi_walk *walk, lwi_closures *c, val **u)
{
    TRY(lwi_walk_begin(g, elements, 0, arena, walk));
    *u = LWI_PUSH(arena, val, elements->model->tree_nv);
    return *u ? lwi_closures_create(walk, arena, c) : LW_ERR_MEMORY;
}

// All dependent speeds in u [tree nv], which has the independent ones; with phi: plus phi.
static lw_status solve(lwi_codegen_graph *g, const lwi_elements *elements, const lwi_closures *c,
                       bool positions, val *u, lwi_arena *arena)
{
    const int nv = elements->model->tree_nv;
    for (int k = 0; k < elements->loops->nblock; k++) {
        const lwi_loop_block *b = &elements->loops->block[k];
        lwi_codegen_graph_mark(g);
        val *rhs = LWI_PUSH(arena, val, b->nrow), *y = LWI_PUSH(arena, val, b->ny);
        if (!rhs || !y) return LW_ERR_MEMORY;
        for (int i = 0; i < b->nrow; i++) {
            rhs[i] = positions ? c->phi[b->row[i]] : c->rate[b->row[i]];
            for (int j = 0; j < b->nz; j++)
                rhs[i] = madd(g, rhs[i], c->J[b->row[i] * nv + b->z[j]], u[b->z[j]]);
        }
        TRY(lwi_block_solve(g, elements, b, c->J, 1, rhs, y, arena));
        for (int i = 0; i < b->ny; i++) u[b->y[i]] = y[i];
    }
    return LW_OK;
}

lw_status lwi_generate_project_velocities(lwi_codegen_graph *g, const lwi_elements *elements,
                                          lwi_arena *arena, lw_error *error)
{
    (void)error;
    const int nv = elements->model->tree_nv;
    lwi_walk walk;
    lwi_closures c;
    val *u;
    TRY(begin(g, elements, arena, &walk, &c, &u));
    const int v = lwi_codegen_graph_result(g, "v");
    for (int i = 0; i < nv; i++) u[i] = lwi_codegen_graph_input(g, v, i);
    TRY(solve(g, elements, &c, false, u, arena));
    for (int i = 0; i < nv; i++)
        if (elements->loops->dependent[i]) lwi_codegen_graph_output(g, v, i, u[i]);
    return LW_OK;
}

// With the K of the accelerations (reduced.c), so that both have the same operations: y = K z - W_y^-1 b of prescribed motions.
lw_status lwi_consistent_speeds(const lwi_walk *walk, val *u, lwi_arena *arena)
{
    lwi_codegen_graph *g = walk->graph;
    const lwi_elements *elements = walk->elements;
    const lwi_loops *loops = elements->loops;
    const int nv = elements->model->tree_nv;
    lwi_walk still = *walk; // only prescribed motions move
    lwi_closures c;
    still.v = -1;
    val *own = LWI_PUSH(arena, val, nv), **K = LWI_PUSH(arena, val *, loops->nblock);
    if (!own || !K) return LW_ERR_MEMORY;
    TRY(lwi_closures_create(&still, arena, &c));
    c.gamma = c.rate;
    for (int i = 0; i < nv; i++)
        if (!loops->dependent[i]) u[i] = lwi_codegen_graph_input(g, walk->v, i);
    for (int k = 0; k < loops->nblock; k++) {
        const lwi_loop_block *b = &loops->block[k];
        K[k] = LWI_PUSH(arena, val, b->ny * b->nz);
        if (!K[k]) return LW_ERR_MEMORY;
        TRY(lwi_dependent_accelerations(g, elements, &c, b, K[k], own, arena));
    }
    for (int k = 0; k < loops->nblock; k++) { // speeds depend on those of other blocks, K does not
        const lwi_loop_block *b = &loops->block[k];
        lwi_codegen_graph_mark(g);
        for (int i = 0; i < b->ny; i++) {
            u[b->y[i]] = own[b->y[i]];
            for (int j = 0; j < b->nz; j++)
                u[b->y[i]] = madd(g, u[b->y[i]], K[k][i * b->nz + j], u[b->z[j]]);
        }
    }
    return LW_OK;
}

lw_status lwi_generate_margins(lwi_codegen_graph *g, const lwi_elements *elements, lwi_arena *arena,
                               lw_error *error)
{
    (void)error;
    lwi_walk walk;
    lwi_closures c;
    val *margin = LWI_PUSH(arena, val, 2 * elements->model->tree_nv);
    int count = 0;
    if (!margin) return LW_ERR_MEMORY;
    TRY(lwi_walk_begin(g, elements, 0, arena, &walk));
    const int out = lwi_codegen_graph_result(g, "margin");
    TRY(lwi_closures_create(&walk, arena, &c));
    for (int k = 0; k < elements->loops->nblock; k++) {
        lwi_loop_block *b = &elements->loops->block[k];
        lwi_codegen_graph_mark(g);
        TRY(lwi_block_margins(g, elements, b, c.J, margin, &b->nmargin, arena));
        for (int i = 0; i < b->nmargin; i++) lwi_codegen_graph_output(g, out, count++, margin[i]);
    }
    return LW_OK;
}

// q e^(du/2), normalised
static void turn_quaternion(lwi_codegen_graph *g, val e[4], const val du[3])
{
    const val half = lit(g, 0.5);
    val h[3], c[3], s = e[0];
    for (int i = 0; i < 3; i++) h[i] = mul(g, half, du[i]);
    lwi_cross(g, c, e + 1, h);
    e[0] = sub(g, s, lwi_codegen_dot(g, 3, e + 1, h));
    for (int i = 0; i < 3; i++) e[1 + i] = add(g, e[1 + i], madd(g, c[i], s, h[i]));
    const val norm2 = lwi_codegen_dot(g, 4, e, e);
    const val scale = inverse(g, lwi_codegen_graph_op(g, LWI_OP_SQRT, norm2, norm2));
    for (int i = 0; i < 4; i++) e[i] = mul(g, scale, e[i]);
}

static void move_node(const lwi_walk *walk, const lwi_node *node, const val *u)
{
    lwi_codegen_graph *g = walk->graph;
    const lwi_joint_type *type = node->type;
    val x[LW_JOINT_MAX_NQ], R[9], d[3];
    for (int i = 0; i < node->nq; i++) x[i] = lwi_walk_coordinate(walk, node->iq + i);
    if (type->quaternion < 0) {
        for (int i = 0; i < node->nv; i++) x[i] = add(g, x[i], u[node->iv + i]);
    } else {
        if (lwi_joint_is_free(type)) {
            lwi_quaternion(g, R, x + 3);
            lwi_rotate(g, d, R, u + node->iv);
            lwi_add(g, 3, x, d);
        }
        turn_quaternion(g, x + node->nq - 4, u + node->iv + node->nv - 3);
    }
    for (int i = 0; i < node->nq; i++) lwi_codegen_graph_output(g, walk->q, node->iq + i, x[i]);
}

// Where rows depend on each other a step may vanish although the loops are open.  Ten times the sum of the squares of phi, in
// lengths of the mechanism, is one more entry of the step: it is small (1e-9) below 1e-5, ten times what a start may have.
static val openness(lwi_codegen_graph *g, const lwi_elements *elements, const lwi_closures *c)
{
    const lwi_loops *loops = elements->loops;
    val sum = lit(g, 0);
    if (loops->m == loops->ndependent) return sum;
    for (int i = 0, k = 0; i < loops->m; i++) {
        while (i >= loops->first[k]) k++, lwi_codegen_graph_mark(g);
        const double length = elements->model->length;
        const double unit = lwi_closing_row_is_length(elements, i) ? length : 1;
        sum = madd(g, sum, c->phi[i], mul(g, lit(g, 10 / (unit * unit)), c->phi[i]));
    }
    return sum;
}

lw_status lwi_generate_project_positions(lwi_codegen_graph *g, const lwi_elements *elements,
                                         lwi_arena *arena, lw_error *error)
{
    (void)error;
    const lw_model *m = elements->model;
    const int nv = m->tree_nv;
    lwi_walk walk;
    lwi_closures c;
    val *u;
    TRY(begin(g, elements, arena, &walk, &c, &u));
    const int step = lwi_codegen_graph_result(g, "step");
    lwi_codegen_graph_make_result(g, walk.q);
    lwi_zero(g, nv, u);
    TRY(solve(g, elements, &c, true, u, arena));
    int n = 0;
    for (int i = 0; i < nv; i++)
        if (elements->loops->dependent[i]) lwi_codegen_graph_output(g, step, n++, u[i]);
    lwi_codegen_graph_output(g, step, n, openness(g, elements, &c));
    for (int k = 0; k < m->nnode; k++) {
        const lwi_node *node = &m->node[k];
        bool moves = false;
        for (int i = 0; i < node->nv; i++) moves |= elements->loops->dependent[node->iv + i];
        lwi_codegen_graph_mark(g);
        if (moves) move_node(&walk, node, u);
    }
    return LW_OK;
}
