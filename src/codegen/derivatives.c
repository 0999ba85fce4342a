// derivatives.c -- generates the function `derivatives`, from which derivatives of inverse and forward dynamics follow.
//
// Efforts are  tau = ID(q, v, a) - forces(q, v).  Derivatives of ID are products of the terms of speed_terms.h, those of the
// forces come from their graph.  With loops, of free speeds z and dependent speeds y, the accelerations follow from
//
//     force_z(q, v, z') = [1 N'] (ID - forces - tau) = 0        a_y = N z' + kappa(q, v)
//
// The graph of N and kappa gives the derivatives of a_y at fixed z', and those of N' load at a fixed load = ID - forces - tau of the
// dependent speeds.  Products of matrices are left to the caller, which has loops (compiled/derivative_source.c): written out
// they would be most of the text.
#include "codegen/accumulate.h"
#include "codegen/forces.h"
#include "codegen/functions.h"
#include "codegen/reduced.h"
#include "codegen/refuse.h"
#include "codegen/speed_terms.h"

typedef struct derivation {
    lwi_walk walk;
    lwi_codegen_graph *graph;
    const lwi_loops *loops; // NULL: a tree
    lwi_arena *arena;
    int nv, nfree, ndependent;
    int vdot, load;     // arrays: accelerations; [ndependent] efforts ID - forces - tau
    int term;           // [LWI_TERMS][nv]
    int by_q, by_v;     // [nv][nv] of - forces
    int y_by_q, y_by_v; // [ndependent][nv]
    int N, z_by_q;      // [ndependent][nfree]; [nfree][nv] of N' load
    int *place;         // [nv] number of a speed among the free or among the dependent ones
    val *a;             // [nv] accelerations
    val *share;         // [nv][nfree] speeds by free speeds: [1; N]
} derivation;

static bool is_dependent(const derivation *d, int iv)
{
    return d->loops && d->loops->dependent[iv];
}

static lw_status begin(derivation *d)
{
    lwi_codegen_graph *g = d->graph;
    d->vdot = lwi_codegen_graph_array(g, "vdot");
    if (d->loops) d->load = lwi_codegen_graph_array(g, "load");
    d->term = lwi_codegen_graph_result(g, "term");
    d->by_q = lwi_codegen_graph_result(g, "by_q");
    d->by_v = lwi_codegen_graph_result(g, "by_v");
    if (d->loops) {
        d->y_by_q = lwi_codegen_graph_result(g, "y_by_q");
        d->y_by_v = lwi_codegen_graph_result(g, "y_by_v");
        d->N = lwi_codegen_graph_result(g, "N");
        d->z_by_q = lwi_codegen_graph_result(g, "z_by_q");
    }
    d->place = LWI_PUSH(d->arena, int, d->nv);
    d->a = LWI_PUSH(d->arena, val, d->nv);
    if (!d->place || !d->a) return LW_ERR_MEMORY;
    for (int i = 0; i < d->nv; i++) {
        d->place[i] = is_dependent(d, i) ? d->ndependent++ : d->nfree++;
        d->a[i] = lwi_codegen_graph_input(g, d->vdot, i);
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------- loops

// Row of N and acceleration of the dependent speed y, from those of the speeds z of its block: y' = K z' + kappa.
static void follow(derivation *d, const lwi_loop_block *b, const val *K, val kappa, int y)
{
    lwi_codegen_graph *g = d->graph;
    val *row = d->share + (size_t)y * (size_t)d->nfree;
    d->a[y] = kappa;
    for (int j = 0; j < b->nz; j++) {
        const int z = b->z[j];
        d->a[y] = madd(g, d->a[y], K[j], d->a[z]);
        const val *before = d->share + (size_t)z * (size_t)d->nfree;
        for (int k = 0; k < d->nfree; k++) row[k] = madd(g, row[k], K[j], before[k]);
    }
}

static lw_status close_loops(derivation *d)
{
    const int nv = d->nv;
    lwi_closures closures;
    val *kappa = LWI_PUSH(d->arena, val, nv), *K = LWI_PUSH(d->arena, val, nv * nv);
    d->share = LWI_PUSH(d->arena, val, nv * d->nfree);
    if (!kappa || !K || !d->share) return LW_ERR_MEMORY;
    lwi_zero(d->graph, nv * d->nfree, d->share);
    for (int i = 0; i < nv; i++)
        if (!is_dependent(d, i)) d->share[i * d->nfree + d->place[i]] = lit(d->graph, 1);
    TRY(lwi_closures_create(&d->walk, d->arena, &closures));
    for (int k = 0; k < d->loops->nblock; k++) {
        const lwi_loop_block *b = &d->loops->block[k];
        TRY(lwi_dependent_accelerations(d->graph, d->walk.elements, &closures, b, K, kappa,
                                        d->arena));
        for (int i = 0; i < b->ny; i++) follow(d, b, K + i * b->nz, kappa[b->y[i]], b->y[i]);
    }
    return LW_OK;
}

// Values to differentiate: - forces [nv], then dependent accelerations [ndependent], N' load [nfree].
static lw_status find_values(derivation *d, val *value)
{
    lwi_codegen_graph *g = d->graph;
    lwi_codegen_motion m;
    TRY(lwi_codegen_motion_create(&d->walk, d->arena, &m));
    TRY(lwi_forces_create(&d->walk, d->arena, -1, NULL, &m.load));
    for (int i = 0; i < d->nv; i++) value[i] = neg(g, lwi_codegen_motion_effort(&m, -1, i));
    if (!d->loops) return LW_OK;
    TRY(close_loops(d));
    lwi_zero(g, d->nfree, value + d->nv + d->ndependent);
    for (int i = 0; i < d->nv; i++) {
        if (!is_dependent(d, i)) continue;
        const val load = lwi_codegen_graph_input(g, d->load, d->place[i]);
        value[d->nv + d->place[i]] = d->a[i];
        for (int k = 0; k < d->nfree; k++) {
            val *sum = &value[d->nv + d->ndependent + k];
            *sum = madd(g, *sum, d->share[i * d->nfree + k], load);
        }
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------- variables

// Seeds of the variables: displacements along the speeds [nv], then speeds [nv].
typedef struct seeds {
    derivation *d;
    lwi_codegen_seed *list;
    int n;
} seeds;

static void add_seed(seeds *s, int array, int entry, int variable, val by)
{
    const val input = lwi_codegen_graph_input(s->d->graph, array, entry);
    s->list[s->n++] = (lwi_codegen_seed){input, variable, by};
}

// The quaternion e at iq changes by de = e w/2 with rotations w along the three speeds at iv.
static void add_quaternion(seeds *s, int iq, int iv)
{
    lwi_codegen_graph *g = s->d->graph;
    static const int entry[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};
    static const double half[4][3] = {
        {-0.5, -0.5, -0.5}, {0.5, -0.5, 0.5}, {0.5, 0.5, -0.5}, {-0.5, 0.5, 0.5}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            add_seed(
                s, s->d->walk.q, iq + i, iv + j,
                mul(g, lit(g, half[i][j]), lwi_walk_coordinate(&s->d->walk, iq + entry[i][j])));
}

static void add_displacements(seeds *s, const lwi_node *node)
{
    derivation *d = s->d;
    const lwi_joint_type *type = node->type;
    if (type->quaternion < 0) {
        for (int i = 0; i < node->nv; i++)
            add_seed(s, d->walk.q, node->iq + i, node->iv + i, lit(d->graph, 1));
        return;
    }
    if (lwi_joint_is_free(type)) {
        val e[4], R[9];
        for (int i = 0; i < 4; i++) e[i] = lwi_walk_coordinate(&d->walk, node->iq + 3 + i);
        lwi_quaternion(d->graph, R, e);
        for (int i = 0; i < 9; i++)
            add_seed(s, d->walk.q, node->iq + i / 3, node->iv + i % 3, R[i]);
    }
    add_quaternion(s, node->iq + node->nq - 4, node->iv + node->nv - 3);
}

static lw_status find_seeds(derivation *d, seeds *s)
{
    const lw_model *m = d->walk.elements->model;
    *s = (seeds){.d = d, .list = LWI_PUSH(d->arena, lwi_codegen_seed, 9 * m->tree_nq + m->tree_nv)};
    if (!s->list) return LW_ERR_MEMORY;
    for (int k = 0; k < m->nnode; k++) add_displacements(s, &m->node[k]);
    for (int i = 0; i < d->nv; i++) add_seed(s, d->walk.v, i, d->nv + i, lit(d->graph, 1));
    return LW_OK;
}

// ------------------------------------------------------------------------------------ call

// Entries that are always 0 are left out.
static void output(derivation *d, int array, int entry, val x)
{
    double number;
    if (lwi_codegen_graph_known(d->graph, x, &number) && number == 0) return;
    lwi_codegen_graph_output(d->graph, array, entry, x);
}

// Rows of a Jacobian [n][2 nv] by displacements and by speeds, to two arrays; by_v -1: they do not depend on speeds.
static void output_rows(derivation *d, int n, const val *jacobian, int by_q, int by_v)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d->nv; j++) {
            const val *by = jacobian + (size_t)i * 2 * (size_t)d->nv;
            output(d, by_q, i * d->nv + j, by[j]);
            if (by_v >= 0) output(d, by_v, i * d->nv + j, by[d->nv + j]);
        }
}

static void output_loops(derivation *d, const val *jacobian)
{
    const size_t n = 2 * (size_t)d->nv;
    output_rows(d, d->ndependent, jacobian, d->y_by_q, d->y_by_v);
    output_rows(d, d->nfree, jacobian + n * (size_t)d->ndependent, d->z_by_q, -1);
    for (int i = 0; i < d->nv; i++)
        for (int k = 0; k < d->nfree && is_dependent(d, i); k++)
            output(d, d->N, d->place[i] * d->nfree + k, d->share[i * d->nfree + k]);
}

static lw_status output_terms(derivation *d)
{
    const int n = LWI_TERMS * d->nv;
    val *term = LWI_PUSH(d->arena, val, n);
    if (!term) return LW_ERR_MEMORY;
    TRY(lwi_speed_terms(&d->walk, d->a, term, d->arena));
    for (int i = 0; i < n; i++) lwi_codegen_graph_output(d->graph, d->term, i, term[i]);
    return LW_OK;
}

lw_status lwi_generate_derivatives(lwi_codegen_graph *g, const lwi_elements *elements,
                                   lwi_arena *arena, lw_error *error)
{
    const int nv = elements->model->tree_nv;
    derivation d = {.graph = g, .loops = elements->loops, .arena = arena, .nv = nv};
    seeds s;
    if (nv > LW_CODEGEN_MAX_SPEEDS)
        return lwi_refuse(elements->model, (lw_place){0}, error,
                          "derivatives: the model has %d speeds, expected at most %d; the "
                          "library's derivatives have no limit",
                          nv, LW_CODEGEN_MAX_SPEEDS);
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS | LWI_READS_FORCES, arena, &d.walk));
    TRY(begin(&d));
    TRY(output_terms(&d));
    const int n = d.loops ? 2 * nv : nv;
    val *value = LWI_PUSH(arena, val, n), *jacobian = LWI_PUSH(arena, val, 2 * nv * n);
    if (!value || !jacobian) return LW_ERR_MEMORY;
    TRY(find_values(&d, value));
    TRY(find_seeds(&d, &s));
    TRY(lwi_codegen_accumulate(g, s.n, s.list, 2 * nv, n, value, jacobian));
    output_rows(&d, nv, jacobian, d.by_q, d.by_v);
    if (d.loops) output_loops(&d, jacobian + 2 * (size_t)nv * (size_t)nv);
    return g->failed ? LW_ERR_MEMORY : LW_OK;
}
