// momenta.c -- generates joint momenta, and their rates                                [naudet2003]
//
//   V = X V_parent + S u      P* = I V + sum of children's      p = S'P* + rotor u   (13), (26), (34)
//   T* = weight + sum of children's    pdot = S'(T* - V x* P*) + Q                   (27), (35)
//
// Speeds follow from momenta by the sweeps of articulated bodies, with p instead of the efforts and
// no other forces: P* = M'v + D' with v = X V_parent comes with them (45).  Every S is
// constant in its frame of the normal form.
#include "codegen/articulated.h"
#include "codegen/forces.h"
#include "codegen/functions.h"

// V of body i, from the speeds in array v.
static void velocity(lwi_codegen_motion *m, int i, int v)
{
    lwi_codegen_graph *g = m->graph;
    const lwi_element *e = &m->elements->list[i];
    val still[6], S[6], *V = m->body[i].A;
    lwi_zero(g, 6, still);
    lwi_codegen_motion_carry(m, i, false, e->parent < 0 ? still : m->body[e->parent].A, V);
    for (int j = 0; j < lwi_element_speeds(e); j++) {
        const val u = lwi_codegen_graph_input(g, v, e->iv + j);
        lwi_codegen_motion_subspace(g, e, j, S);
        for (int k = 0; k < 6; k++) V[k] = madd(g, V[k], S[k], u);
    }
}

lw_status lwi_generate_momenta(lwi_codegen_graph *g, const lwi_elements *elements, lwi_arena *arena,
                               lw_error *error)
{
    (void)error;
    lwi_codegen_motion m;
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS, arena, &walk));
    const int v = walk.v, p = lwi_codegen_graph_result(g, "p");
    val(*P)[6] = lwi_arena_push(arena, (size_t)elements->n, sizeof *P), S[6];
    if (!P) return LW_ERR_MEMORY;
    TRY(lwi_codegen_motion_create(&walk, arena, &m));
    lwi_codegen_motion_pose(&m);
    for (int i = 0; i < elements->n; i++) {
        velocity(&m, i, v);
        lwi_codegen_motion_inertia(&m, i, m.body[i].A, P[i]);
    }
    for (int i = elements->n - 1; i >= 0; i--) {
        const lwi_element *e = &elements->list[i];
        for (int j = 0; j < lwi_element_speeds(e); j++) {
            lwi_codegen_motion_subspace(g, e, j, S);
            const val u = lwi_codegen_graph_input(g, v, e->iv + j);
            lwi_codegen_graph_output(g, p, e->iv + j,
                                     madd(g, lwi_codegen_dot(g, 6, S, P[i]), lit(g, e->rotor), u));
        }
        if (e->parent < 0) continue;
        lwi_codegen_wrench_to_parent(&m, i, P[i]);
        lwi_add(g, 6, P[e->parent], P[i]);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- rates

// P* = M'v + D'; for a base, which is on the ground, the momenta themselves.
static void subtree_momentum(const lwi_sweep *s, int i, val P[6])
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    if (e->kind == LWI_K_BASE) {
        for (int k = 0; k < 6; k++) P[k] = lwi_codegen_graph_input(g, s->tau, e->iv + k);
        return;
    }
    lwi_art_apply(g, P, &s->art[i], s->pivot[i].free_A);
    lwi_add(g, 6, P, s->art[i].p);
}

// T = [m g; h x g] with g in the axes of the body
static void weight(const lwi_codegen_motion *m, int i, const val gravity[6], val T[6])
{
    lwi_codegen_graph *g = m->graph;
    const lwi_element *e = &m->elements->list[i];
    val h[3];
    lwi_literals(g, 3, h, e->h);
    for (int k = 0; k < 3; k++) T[k] = mul(g, lit(g, e->m), gravity[k]);
    lwi_cross(g, T + 3, h, gravity);
}

// The model's efforts depend on speeds that are not inputs here.
static val own_effort(const lwi_sweep *s, int tau, int iv, val u)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_effort *f = &s->motion.elements->effort[iv];
    val sum = add(g, lwi_codegen_graph_input(g, tau, iv), lit(g, f->at_rest));
    if (s->motion.load) sum = add(g, sum, s->motion.load[iv]);
    if (f->stiffness != 0)
        sum = msub(g, sum, lit(g, f->stiffness), lwi_walk_coordinate(s->motion.walk, f->iq));
    return msub(g, sum, lit(g, f->damping), u);
}

// pdot of body i: S'(T* - V x* P*) + Q
static void rate(const lwi_sweep *s, int i, const val P[6], const val T[6], int tau, int pdot)
{
    lwi_codegen_graph *g = s->motion.graph;
    const lwi_element *e = &s->motion.elements->list[i];
    const val *V = s->motion.body[i].A;
    val c[6], S[6];
    lwi_cross(g, c, V + 3, P);
    lwi_cross(g, c + 3, V + 3, P + 3);
    lwi_cross_add(g, c + 3, V, P);
    for (int k = 0; k < 6; k++) c[k] = sub(g, T[k], c[k]);
    for (int j = 0; j < lwi_element_speeds(e); j++) {
        lwi_codegen_motion_subspace(g, e, j, S);
        const val Q = own_effort(s, tau, e->iv + j, s->pivot[i].u[j]);
        lwi_codegen_graph_output(g, pdot, e->iv + j, add(g, lwi_codegen_dot(g, 6, S, c), Q));
    }
}

lw_status lwi_generate_momenta_rates(lwi_codegen_graph *g, const lwi_elements *elements,
                                     lwi_arena *arena, lw_error *error)
{
    static const double still[3] = {0};
    lwi_sweep s = {.bias = false};
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_FORCES, arena, &walk));
    s.tau = lwi_codegen_graph_array(g, "p");
    const int tau = lwi_codegen_graph_array(g, "tau"), v = lwi_codegen_graph_result(g, "v");
    const int pdot = lwi_codegen_graph_result(g, "pdot");
    val(*T)[6] = lwi_arena_push(arena, (size_t)elements->n, sizeof *T);
    val(*gravity)[6] = lwi_arena_push(arena, (size_t)elements->n, sizeof *gravity);
    val ground[6], P[6];
    val *speed = LWI_PUSH(arena, val, elements->model->tree_nv);
    if (!T || !gravity || !speed) return LW_ERR_MEMORY;
    TRY(lwi_codegen_motion_create(&walk, arena, &s.motion));
    lwi_codegen_motion_pose(&s.motion);
    TRY(lwi_sweeps(&s, still, arena, error));
    lwi_zero(g, 6, ground);
    lwi_literals(g, 3, ground, elements->model->gravity);
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        lwi_codegen_motion_carry(&s.motion, i, false, e->parent < 0 ? ground : gravity[e->parent],
                                 gravity[i]);
        weight(&s.motion, i, gravity[i], T[i]);
        for (int j = 0; j < lwi_element_speeds(e); j++) {
            speed[e->iv + j] = s.pivot[i].u[j];
            lwi_codegen_graph_output(g, v, e->iv + j, s.pivot[i].u[j]);
        }
    }
    walk.speed = speed;
    TRY(lwi_forces_create(&walk, arena, -1, NULL, &s.motion.load));
    for (int i = elements->n - 1; i >= 0; i--) {
        subtree_momentum(&s, i, P);
        rate(&s, i, P, T[i], tau, pdot);
        if (elements->list[i].parent < 0) continue;
        lwi_codegen_wrench_to_parent(&s.motion, i, T[i]);
        lwi_add(g, 6, T[elements->list[i].parent], T[i]);
    }
    return LW_OK;
}
