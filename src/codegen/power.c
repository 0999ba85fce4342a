// power.c -- the sum over bodies of the wrench of inertia times the velocity, both at the origin and in the axes of the body.
//
// In a frame that falls with gravity accelerations are less by it, so the sum has the rate of the potential energy.
#include "codegen/power.h"

// v of body i from that of its parent; w is known.
static void velocity(const lwi_codegen_motion *m, int i, const val parent[3], val v[3])
{
    lwi_codegen_graph *g = m->graph;
    const lwi_element *e = &m->elements->list[i];
    const bool screw = e->kind == LWI_K_HINGE || e->kind == LWI_K_SCREW;
    val V[6];
    lwi_zero(g, 6, V);
    for (int k = 0; k < 3 && e->parent >= 0; k++)
        V[k] = parent[k], V[3 + k] = m->body[e->parent].w[k];
    lwi_codegen_motion_carry(m, i, false, V, V);
    if (screw) V[2] = madd(g, V[2], lit(g, e->sign * e->slide), lwi_walk_speed(m->walk, e->iv));
    for (int k = 0; k < 3; k++)
        v[k] = e->kind == LWI_K_BASE ? add(g, V[k], lwi_walk_speed(m->walk, e->iv + k)) : V[k];
}

lw_status lwi_codegen_inertial_power(const lwi_codegen_motion *m, const val *vdot, lwi_arena *arena,
                                     val *power)
{
    lwi_codegen_graph *g = m->graph;
    const int n = m->elements->n;
    val(*v)[3] = lwi_arena_push(arena, (size_t)n, sizeof *v);
    val *each = LWI_PUSH(arena, val, n);
    if (!v || !each) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        const lwi_element *e = &m->elements->list[i];
        const lwi_body_values *b = &m->body[i];
        val F[6], p[6];
        lwi_codegen_graph_mark(g);
        velocity(m, i, e->parent < 0 ? NULL : v[e->parent], v[i]);
        lwi_codegen_motion_inertia(m, i, b->A, F);
        lwi_codegen_motion_wrench(m, i, p);
        lwi_add(g, 6, F, p);
        each[i] = add(g, lwi_codegen_dot(g, 3, F, v[i]), lwi_codegen_dot(g, 3, F + 3, b->w));
        if (e->rotor != 0)
            each[i] = madd(g, each[i], mul(g, lit(g, e->rotor), lwi_walk_speed(m->walk, e->iv)),
                           vdot[e->iv]);
    }
    *power = lwi_codegen_sum(g, n, each);
    return LW_OK;
}
