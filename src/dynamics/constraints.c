// constraints.c -- the public functions of a closed mechanism's equations at a given state.
//
// With the joints that close loops cut, and v the speeds of the tree that is left,
//     M vdot + h = tau + J' lambda,    phi = 0,    J v + b = 0,    J vdot + gamma = 0
// J is the rows of kinematics/closure.h times the motions of the bodies: one inward sweep per row.
#include "dynamics/constraints.h"

#include "base/assert.h"

static lw_status fill(lw_constraints *c, lw_error *error)
{
    const lw_model *model = c->model;
    c->composite = LWI_PUSH(&c->arena, lwi_inertia, model->nnode);
    c->inputs = LWI_PUSH(&c->arena, double, model->desc.ninput);
    c->still = LWI_PUSH(&c->arena, double, model->tree_nv);
    if (!c->composite || !c->inputs || !c->still) return LW_ERR_MEMORY;
    TRY(lwi_tree_work_create(model, &c->arena, &c->tree));
    TRY(lwi_cut_create_rows(model, &c->arena, &c->cut));
    TRY(lwi_cut_create_rows_rotors(model, &c->arena, &c->spun));
    c->unit = LWI_PUSH(&c->arena, double, c->spun.m);
    c->JA = LWI_PUSH(&c->arena, double, c->spun.m);
    c->column = LWI_PUSH(&c->arena, double, model->tree_nv);
    if (!c->unit || !c->JA || !c->column) return LW_ERR_MEMORY;
    LWI_INVARIANT(c->cut.first[model->nloop + model->ncoupling] == c->cut.m, error);
    LWI_INVARIANT(c->spun.m == c->cut.m + c->spun.nrotor, error);
    return LW_OK;
}

lw_status lw_constraints_create(const lw_model *model, const lw_allocator *allocator,
                                lw_constraints **constraints, lw_error *error)
{
    if (!model || !constraints)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model or constraints is NULL");
    TRY(lwi_formulation_accepts(&lwi_formulation_lagrange, model, error));
    lw_constraints *c = lwi_allocate(allocator, sizeof *c);
    if (!c) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the constraints");
    *c = (lw_constraints){.model = model};
    lwi_arena_init(&c->arena, allocator);
    const lw_status status = fill(c, error);
    if (status != LW_OK) {
        lw_constraints_destroy(c);
        return status == LW_ERR_MEMORY ? lwi_fail(error, status, "no memory for the constraints")
                                       : status;
    }
    *constraints = c;
    return LW_OK;
}

void lw_constraints_destroy(lw_constraints *c)
{
    if (!c) return;
    const lw_allocator allocator = c->arena.allocator;
    lwi_arena_free(&c->arena);
    lwi_release(&allocator, c);
}

// -------------------------------------------------------------------------------------------- rows

int lw_constraints_count(const lw_constraints *constraints)
{
    if (!constraints) return 0;
    return constraints->cut.m;
}

lw_joint lw_constraints_joint(const lw_constraints *constraints, int row)
{
    if (!constraints) return (lw_joint){-1};
    const lwi_cut *cut = &constraints->cut;
    if (row < 0 || row >= cut->m) return (lw_joint){-1};
    int i = 0;
    while (row >= cut->first[i + 1]) i++;
    return (lw_joint){i < cut->model->nloop ? cut->model->loop[i]
                                            : cut->model->coupling[i - cut->model->nloop].joint};
}

// Angles of cut joints are those nearest to the start's: no state is kept between calls.
static void place(lw_constraints *c, double t, const double *q, const double *v)
{
    memcpy(c->tree.joint_q, c->model->q0, (size_t)c->model->nq * sizeof *c->tree.joint_q);
    lwi_cut_place(&c->cut, &c->tree, t, q, v);
}

// Efforts on the free speeds that balance the wrenches in the tree: f_k += sum over children X' f.
static void efforts(const lw_model *model, lwi_tree_work *tree, double (*f)[6], double *effort)
{
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *at = &model->node[k];
        const lwi_link *link = &tree->link[k];
        double up[6];
        for (int j = 0; j < at->nv; j++) effort[at->iv + j] = v6_dot(link->S[j], f[k]);
        if (at->parent < 0) continue;
        force_from(up, link->R, link->r, f[k]);
        v6_add(f[at->parent], f[at->parent], up);
    }
}

static bool all_finite(const double *x, int n)
{
    double sum = 0; // x - x is NaN if x is not finite
    for (int i = 0; i < n; i++) sum += x[i] - x[i];
    return sum == 0;
}

lw_status lw_constraints_evaluate(lw_constraints *c, double t, const double *q, const double *v,
                                  double *phi, double *rate, double *J, double *gamma)
{
    if (!c || !q || !v) return LW_ERR_ARGUMENT;
    const lw_model *model = c->model;
    const int m = c->cut.m, n = model->tree_nv;
    if (!all_finite(q, model->tree_nq) || !all_finite(v, n)) return LW_ERR_NOT_FINITE;
    place(c, t, q, v);
    lwi_cut_rows(&c->cut, &c->tree, t, LWI_CLOSURE_RATES);
    if (phi) memcpy(phi, c->cut.phi, (size_t)m * sizeof *phi);
    if (rate) memcpy(rate, c->cut.rate, (size_t)m * sizeof *rate);
    for (int i = 0; J && i < m; i++) {
        memset(c->tree.F, 0, (size_t)model->nnode * sizeof *c->tree.F);
        c->unit[i] = 1;
        lwi_cut_wrenches(&c->cut, &c->tree, c->unit, c->tree.F);
        c->unit[i] = 0;
        efforts(model, &c->tree, c->tree.F, J + (size_t)i * (size_t)n);
    }
    if (!gamma) return LW_OK;
    lwi_tree_newton_euler(model, &c->tree, v, c->still); // accelerations where vdot is zero
    lwi_cut_accelerations(&c->cut, &c->tree, c->JA);
    for (int i = 0; i < m; i++) gamma[i] = c->JA[i] + c->cut.gamma[i];
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- tree

// Rotors on cut joints, u = s'v + b:  M += I s s',  h += I s (du/dt at vdot = 0).
static void add_rotors(lw_constraints *c, double t, const double *v, double *M, double *h)
{
    const lw_model *model = c->model;
    lwi_cut *cut = &c->spun;
    const size_t n = (size_t)model->tree_nv;
    if (cut->nrotor == 0) return;
    lwi_cut_rows(cut, &c->tree, t, LWI_CLOSURE_RATES);
    lwi_tree_newton_euler(model, &c->tree, v, c->still);
    lwi_cut_accelerations(cut, &c->tree, c->JA);
    for (int k = 0; k < cut->nrotor; k++) {
        const int row = cut->rotor_row[k];
        const double I = 1 / (cut->rotor_scale[k] * cut->rotor_scale[k]),
                     a = c->JA[row] + cut->gamma[row];
        memset(c->tree.F, 0, (size_t)model->nnode * sizeof *c->tree.F);
        c->unit[row] = 1;
        lwi_cut_wrenches(cut, &c->tree, c->unit, c->tree.F);
        c->unit[row] = 0;
        efforts(model, &c->tree, c->tree.F, c->column);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; M && j < n; j++) M[i * n + j] += I * c->column[i] * c->column[j];
            if (h) h[i] += I * c->column[i] * a;
        }
    }
}

lw_status lw_constraints_tree(lw_constraints *c, double t, const double *q, const double *v,
                              const double *inputs, double *M, double *h)
{
    if (!c || !q || !v) return LW_ERR_ARGUMENT;
    const lw_model *model = c->model;
    if (!all_finite(q, model->tree_nq) || !all_finite(v, model->tree_nv)) return LW_ERR_NOT_FINITE;
    place(c, t, q, v);
    if (M) lwi_crba(model, c->tree.link, c->composite, M);
    if (!h) {
        add_rotors(c, t, v, M, NULL);
        return LW_OK;
    }
    lwi_cut_loads(&c->cut, &c->tree, t, v, inputs ? inputs : c->inputs);
    lwi_tree_newton_euler(model, &c->tree, v, c->still);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *at = &model->node[k];
        for (int j = 0; j < at->nv; j++)
            h[at->iv + j] = v6_dot(c->tree.link[k].S[j], c->tree.F[k]) - c->tree.effort[at->iv + j];
    }
    add_rotors(c, t, v, M, h);
    return lwi_tree_finite(model, t, h, "effort", NULL);
}
