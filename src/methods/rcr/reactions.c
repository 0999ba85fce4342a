// reactions.c -- reactions of minimum norm, if redundant rows leave them undetermined (not in the paper).
//
// Reactions lambda of all joints balance the remaining forces f on the bodies, J' lambda = f.  Those of minimum
// norm are lambda = J y with J'J y = f: each joint acts as a spring of unit stiffness in its rows.  J'J is
// assembled body by body and eliminated in the order of the sweeps, O(n):
//
//     [A  B] [y_k]   [f_k]
//     [B' C] [ y ] = [ f ],    A = L L',  Y = L^-1 B,   C - Y'Y to the parent in the elimination
//
// Degrees of freedom of the mechanism, and directions in which redundant rows differ by drift, have no stiffness:
// SOFT is added, and corrected by iterative refinement of f - J' lambda.  A joint's reaction is unique if no
// null vector, J' n = 0, has a component on it; two projections of quasi-random vectors determine this.
#include "base/linear.h"

#include "base/assert.h"
#include "methods/rcr/rcr.h"

#include <string.h>

// Added to the stiffness of every body, in rows of length one.  Far above rounding and above the square of common drift
// (1e-5); far below the stiffness of mechanisms: chains of a thousand bodies have 1e-6.
#define SOFT 1e-9
// Each refinement reduces the error by SOFT over the stiffness.
enum { MAX_PASSES = 8 };
#define CLOSE_ENOUGH 1e-13
// Limit of the projection on a joint that no null vector touches, for vectors of entries about one.
#define UNIQUE_TOLERANCE 1e-6
enum { PROBES = 2 };

struct lwi_rcr_spring {
    double *L, *Y, *S; // [6][6], [6][6 nbody], [6 nbody][6 nbody]
};

struct lwi_rcr_reactions {
    int nrow;
    int *first;           // [joints + couplings + 1] first row of each
    int *entry;           // [joints + couplings] node at which it enters; -1: none
    int *next, *head;     // linked lists of those that enter at a node: head[node], next[item], ...
    lwi_closure *closure; // [joints + couplings]
    double *lambda, *part;       // [2 rows], the second half for find_unique; [rows]
    struct lwi_rcr_spring *node; // [nnode]
    double (*f)[6], (*y)[6];     // [nnode] about mass centres, world axes
    double (*wrench)[6];         // [nbody]
    double *scratch;             // [(6 + 6 nbody)^2] for the largest nbody
    unsigned char *unique;       // [njoint]
};

// ------------------------------------------------------------------------------------------ create

static void closure_of(const lw_model *model, int i, double t, const lwi_motion *motion,
                       lwi_closure *c)
{
    if (i < model->njoint)
        lwi_joint_closure(model, i, t, motion, LWI_CLOSURE_POSITION, c);
    else
        lwi_coupling_closure(model, i - model->njoint, t, motion, LWI_CLOSURE_POSITION, c);
}

lw_status lwi_rcr_reactions_create(const lwi_rcr *e, lwi_arena *arena, lwi_rcr_reactions **out)
{
    const lw_model *model = e->model;
    const int count = model->njoint + model->ncoupling;
    lwi_rcr_reactions *r = LWI_PUSH(arena, lwi_rcr_reactions, 1);
    if (!r) return LW_ERR_MEMORY;
    *out = r;
#define GET(field, n)                                                                              \
    if (!((field) = lwi_arena_push(arena, (size_t)(n), sizeof *(field)))) return LW_ERR_MEMORY
    GET(r->first, count + 1);
    GET(r->entry, count);
    GET(r->next, count);
    GET(r->head, model->nnode);
    GET(r->closure, count);
    for (int k = 0; k < model->nnode; k++) r->head[k] = -1;
    for (int i = 0; i < count; i++) {
        int body[4] = {0}, nbody = 0;
        const int joint[2] = {i < model->njoint ? i : model->coupling[i - model->njoint].joint,
                              i < model->njoint ? -1 : model->coupling[i - model->njoint].of};
        for (int s = 0; s < 2 && joint[s] >= 0; s++) {
            body[nbody++] = model->joint[joint[s]].body1;
            body[nbody++] = model->joint[joint[s]].body2;
        }
        r->first[i + 1] = r->first[i] + (i < model->njoint ? lwi_joint_row_count(model, i) : 1);
        r->entry[i] = -1;
        if (i < model->njoint && model->joint[i].merged) continue;
        for (int s = 0; s < nbody; s++)
            if (body[s] && model->body_node[body[s]] > r->entry[i])
                r->entry[i] = model->body_node[body[s]];
        if (r->entry[i] >= 0) r->next[i] = r->head[r->entry[i]], r->head[r->entry[i]] = i;
    }
    r->nrow = r->first[count];
    GET(r->lambda, 2 * r->nrow);
    GET(r->part, r->nrow);
    GET(r->node, model->nnode);
    GET(r->f, model->nnode);
    GET(r->y, model->nnode);
    GET(r->wrench, model->nbody);
    GET(r->unique, model->njoint);
    int max = 0;
    for (int k = 0; k < model->nnode; k++) {
        const int n = 6 * e->node[k].nbody;
        GET(r->node[k].L, 36);
        GET(r->node[k].Y, 6 * n);
        GET(r->node[k].S, (size_t)n * (size_t)n);
        if (n > max) max = n;
    }
    GET(r->scratch, (size_t)(max + 6) * (size_t)(max + 6));
#undef GET
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ factor

// Offset of a body in the system of node k, k itself first.
static int place_of(const lwi_rcr *e, int k, int other)
{
    int i = 0;
    if (other == k) return 0;
    LWI_ASSERT(other < k);
    while (e->node[k].body[i] != other) i++;
    LWI_ASSERT_INDEX(i, e->node[k].nbody);
    return 6 + 6 * i;
}

// A row for a body, rotations in units of the length.
static void row_on(const lwi_rcr *e, const lwi_closure *c, int s, int row, double J[6])
{
    v3_copy(J, c->J[s][row]);
    v3_scale(J + 3, 1 / e->length, c->J[s][row] + 3);
}

static void add_stiffness(const lwi_rcr *e, const lwi_closure *c, int k, int n, double *M)
{
    for (int a = 0; a < c->nbody; a++)
        for (int b = 0; b < c->nbody; b++) {
            const int at = place_of(e, k, e->model->body_node[c->body[a]]),
                      bt = place_of(e, k, e->model->body_node[c->body[b]]);
            for (int r = 0; r < c->n; r++) {
                double Ja[6], Jb[6];
                row_on(e, c, a, r, Ja);
                row_on(e, c, b, r, Jb);
                for (int i = 0; i < 6; i++)
                    for (int j = 0; j < 6; j++) M[(at + i) * n + bt + j] += Ja[i] * Jb[j];
            }
        }
}

static bool factor(const lwi_rcr *e, lwi_rcr_reactions *r)
{
    for (int k = e->model->nnode - 1; k >= 0; k--) {
        const lwi_rcr_node *node = &e->node[k];
        struct lwi_rcr_spring *own = &r->node[k];
        const int nb = 6 * node->nbody, n = 6 + nb;
        double *M = r->scratch;
        memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
        for (int i = 0; i < 6; i++) M[i * n + i] = SOFT;
        for (int i = r->head[k]; i >= 0; i = r->next[i]) add_stiffness(e, &r->closure[i], k, n, M);
        for (int c = 0; c < node->nchild; c++) {
            const lwi_rcr_node *child = &e->node[node->child[c]];
            const double *S = r->node[node->child[c]].S;
            for (int a = 0; a < child->nbody; a++)
                for (int b = 0; b < child->nbody; b++) {
                    const int at = place_of(e, k, child->body[a]),
                              bt = place_of(e, k, child->body[b]);
                    for (int i = 0; i < 6; i++)
                        v6_add(M + (at + i) * n + bt, M + (at + i) * n + bt,
                               S + (6 * a + i) * 6 * child->nbody + 6 * b);
                }
        }
        for (int i = 0; i < 6; i++) memcpy(own->L + 6 * i, M + i * n, 6 * sizeof *M);
        if (lwi_cholesky(6, own->L, 0) >= 0) return false;
        for (int i = 0; i < 6; i++) LWI_ASSERT(own->L[7 * i] > 0);
        for (int i = 0; i < 6; i++)
            for (int b = 0; b < nb; b++) {
                double y = M[i * n + 6 + b];
                for (int l = 0; l < i; l++) y -= own->L[6 * i + l] * own->Y[l * nb + b];
                own->Y[i * nb + b] = y / own->L[7 * i];
            }
        for (int a = 0; a < nb; a++)
            for (int b = 0; b < nb; b++) {
                double s = M[(6 + a) * n + 6 + b];
                for (int i = 0; i < 6; i++) s -= own->Y[i * nb + a] * own->Y[i * nb + b];
                own->S[a * nb + b] = s;
            }
    }
    return true;
}

// y := (J'J + SOFT)^-1 y
static void solve(const lwi_rcr *e, const lwi_rcr_reactions *r, double (*y)[6])
{
    for (int k = e->model->nnode - 1; k >= 0; k--) {
        const lwi_rcr_node *node = &e->node[k];
        const struct lwi_rcr_spring *own = &r->node[k];
        lwi_lower_solve(6, own->L, y[k]);
        for (int b = 0; b < node->nbody; b++)
            for (int j = 0; j < 6; j++)
                for (int i = 0; i < 6; i++)
                    y[node->body[b]][j] -= own->Y[i * 6 * node->nbody + 6 * b + j] * y[k][i];
    }
    for (int k = 0; k < e->model->nnode; k++) {
        const lwi_rcr_node *node = &e->node[k];
        const struct lwi_rcr_spring *own = &r->node[k];
        for (int i = 0; i < 6; i++)
            for (int b = 0; b < node->nbody; b++)
                y[k][i] -= v6_dot(own->Y + i * 6 * node->nbody + 6 * b, y[node->body[b]]);
        lwi_lower_tsolve(6, own->L, y[k]);
    }
}

// ---------------------------------------------------------------------------------------- smallest

// f -= J' lambda
static void subtract(const lwi_rcr *e, const lwi_rcr_reactions *r, const double *lambda,
                     double (*f)[6])
{
    for (int i = 0; i < e->model->njoint + e->model->ncoupling; i++) {
        const lwi_closure *c = &r->closure[i];
        if (r->entry[i] < 0) continue;
        for (int s = 0; s < c->nbody; s++)
            for (int row = 0; row < c->n; row++) {
                double J[6];
                row_on(e, c, s, row, J);
                v6_axpy(f[e->model->body_node[c->body[s]]], -lambda[r->first[i] + row], J);
            }
    }
}

// lambda += J y
static void respond(const lwi_rcr *e, const lwi_rcr_reactions *r, double (*y)[6], double *lambda)
{
    for (int i = 0; i < e->model->njoint + e->model->ncoupling; i++) {
        const lwi_closure *c = &r->closure[i];
        if (r->entry[i] < 0) continue;
        for (int s = 0; s < c->nbody; s++)
            for (int row = 0; row < c->n; row++) {
                double J[6];
                row_on(e, c, s, row, J);
                lambda[r->first[i] + row] += v6_dot(J, y[e->model->body_node[c->body[s]]]);
            }
    }
}

static double size(const lwi_rcr *e, double (*f)[6])
{
    double max = 0;
    for (int k = 0; k < e->model->nnode; k++)
        for (int i = 0; i < 6; i++) max = fmax(max, fabs(f[k][i]));
    return max;
}

// lambda := minimum-norm solution of J' lambda = f; overwrites f.
static void smallest(const lwi_rcr *e, lwi_rcr_reactions *r, double *lambda)
{
    const size_t bytes = (size_t)e->model->nnode * sizeof *r->f;
    const double first = size(e, r->f);
    LWI_ASSERT(r->nrow >= 0);
    memset(lambda, 0, (size_t)r->nrow * sizeof *lambda);
    for (int pass = 0; pass < MAX_PASSES && size(e, r->f) > CLOSE_ENOUGH * first; pass++) {
        memcpy(r->y, r->f, bytes);
        solve(e, r, r->y);
        memset(r->part, 0, (size_t)r->nrow * sizeof *r->part);
        respond(e, r, r->y, r->part);
        for (int i = 0; i < r->nrow; i++) lambda[i] += r->part[i];
        subtract(e, r, r->part, r->f);
    }
}

// A joint is not unique if a null vector touches it: scattered reactions minus those of minimum
// norm with the same effect.
static void find_unique(const lwi_rcr *e, lwi_rcr_reactions *r)
{
    const lw_model *model = e->model;
    memset(r->unique, 1, (size_t)model->njoint);
    for (int probe = 0; probe < PROBES; probe++) {
        double *scattered = r->lambda + r->nrow;
        lwi_cut_scatter(r->nrow, probe, scattered);
        memset(r->f, 0, (size_t)model->nnode * sizeof *r->f);
        subtract(e, r, scattered, r->f);
        smallest(e, r, r->lambda); // of the opposite
        for (int j = 0; j < model->njoint; j++)
            for (int i = r->first[j]; i < r->first[j + 1]; i++)
                if (fabs(r->lambda[i] + scattered[i]) > UNIQUE_TOLERANCE) r->unique[j] = 0;
    }
}

// f := what reactions must balance: M A + V x* M V - loads - efforts of tree joints.  After lwi_tree_newton_euler,
// with the wrench [nnode] of the loads.
static void collect(const lwi_rcr *e, lwi_rcr_reactions *r, const lwi_tree_work *tree, double t,
                    const lwi_motion *motion)
{
    const lw_model *model = e->model;
    memset(r->wrench, 0, (size_t)model->nbody * sizeof *r->wrench);
    for (int j = 0; j < model->njoint && model->nforce + model->nrotor; j++)
        if (model->joint[j].node >= 0)
            lwi_joint_apply_effort(model, j, t, motion, tree->loads.effort + model->joint[j].iv,
                                   r->wrench);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double F[6], P[6], c[6], *f = r->f[k], arm[3];
        inertia_mul(F, node->mass, node->h, node->J, tree->A[k]);
        inertia_mul(P, node->mass, node->h, node->J, tree->V[k]);
        force_cross(c, tree->V[k], P);
        for (int i = 0; i < 6; i++) F[i] += c[i] - tree->wrench[k][i];
        v3_scale(arm, -1, node->c_r);
        v3_cross_add(F + 3, arm, F); // about the mass centre
        m3_mul_v(f, tree->R[k], F);
        m3_mul_v(f + 3, tree->R[k], F + 3);
        for (int i = 0; i < 6; i++) f[i] -= r->wrench[node->body][i];
        v3_scale(f + 3, 1 / e->length, f + 3);
    }
}

bool lwi_rcr_reactions_observe(const lwi_rcr *e, lwi_rcr_reactions *r, const lwi_tree_work *tree,
                               double t, lwi_snapshot *snapshot)
{
    const lw_model *model = e->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    for (int i = 0; i < model->njoint + model->ncoupling; i++)
        if (r->entry[i] >= 0) closure_of(model, i, t, &motion, &r->closure[i]);
    if (!factor(e, r)) return false;
    find_unique(e, r);
    collect(e, r, tree, t, &motion);
    smallest(e, r, r->lambda);
    for (int j = 0; j < model->njoint; j++) {
        if (model->joint[j].merged) continue;
        lwi_joint_reaction(model, j, &motion, &r->closure[j], r->lambda + r->first[j],
                           snapshot->reaction[j]);
        snapshot->unique[j] = r->unique[j];
    }
    return true;
}
