// inverse.c -- generates inverse dynamics: Newton and Euler in the normal form [featherstone2008]
//
//   outward   A = X A_parent + bias + S vdot         inward   F = M A + p + sum of children's
//   tau = S'F + rotor vdot - the model's efforts
#include "codegen/forces.h"
#include "codegen/functions.h"
#include "codegen/motion.h"

// F = [m a + al x h + w x (w x h); h x a + J al + w x J w]
static void wrench(const lwi_codegen_motion *m, int i, const val A[6], val F[6])
{
    lwi_codegen_graph *g = m->graph;
    val p[6];
    lwi_codegen_motion_inertia(m, i, A, F);
    lwi_codegen_motion_wrench(m, i, p);
    lwi_add(g, 6, F, p);
}

// vdot, tau [tree nv]
static lw_status find_efforts(const lwi_walk *walk, const val *vdot, val *tau, lwi_arena *arena)
{
    lwi_codegen_graph *g = walk->graph;
    const lwi_elements *elements = walk->elements;
    lwi_codegen_motion m;
    val(*F)[6] = lwi_arena_push(arena, (size_t)elements->n, sizeof *F);
    val ground[6], S[6];
    if (!F) return LW_ERR_MEMORY;
    TRY(lwi_codegen_motion_create(walk, arena, &m));
    lwi_codegen_motion_pose(&m);
    lwi_codegen_motion_velocity(&m);
    TRY(lwi_forces_create(walk, arena, -1, NULL, &m.load));
    lwi_zero(g, 6, ground);
    lwi_literals(g, 3, ground, elements->ground);
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        val *A = m.body[i].A;
        lwi_codegen_motion_carry(&m, i, true, e->parent < 0 ? ground : m.body[e->parent].A, A);
        for (int j = 0; j < lwi_element_speeds(e); j++) {
            lwi_codegen_motion_subspace(g, e, j, S);
            for (int k = 0; k < 6; k++) A[k] = madd(g, A[k], S[k], vdot[e->iv + j]);
        }
        wrench(&m, i, A, F[i]);
    }
    for (int i = elements->n - 1; i >= 0; i--) {
        const lwi_element *e = &elements->list[i];
        for (int j = 0; j < lwi_element_speeds(e); j++) {
            lwi_codegen_motion_subspace(g, e, j, S);
            const val own = lwi_codegen_motion_effort(&m, -1, e->iv + j);
            const val F_S =
                madd(g, lwi_codegen_dot(g, 6, S, F[i]), lit(g, e->rotor), vdot[e->iv + j]);
            tau[e->iv + j] = sub(g, F_S, own);
        }
        if (e->parent < 0) continue;
        lwi_codegen_wrench_to_parent(&m, i, F[i]);
        lwi_add(g, 6, F[e->parent], F[i]);
    }
    return LW_OK;
}

lw_status lwi_generate_inverse_dynamics(lwi_codegen_graph *g, const lwi_elements *elements,
                                        lwi_arena *arena, lw_error *error)
{
    (void)error;
    const int nv = elements->model->tree_nv;
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS | LWI_READS_FORCES, arena, &walk));
    const int vdot = lwi_codegen_graph_array(g, "vdot"), tau = lwi_codegen_graph_result(g, "tau");
    val *a = LWI_PUSH(arena, val, nv), *effort = LWI_PUSH(arena, val, nv);
    if (!a || !effort) return LW_ERR_MEMORY;
    for (int i = 0; i < nv; i++) a[i] = lwi_codegen_graph_input(g, vdot, i);
    TRY(find_efforts(&walk, a, effort, arena));
    for (int i = nv - 1; i >= 0; i--) lwi_codegen_graph_output(g, tau, i, effort[i]);
    return LW_OK;
}
