// plan.c -- the bodies of every node's system, from the graph; the geometry of an instant.
//
// The system of node k contains its parent, the other bodies of the messages it receives, and those of the closures
// that enter at k.  Its highest body receives the message of k.
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <string.h>

// -------------------------------------------------------------------------------------- structure

int lwi_rcr_closure_nodes(const lw_model *model, int i, int node[LWI_CLOSURE_BODIES])
{
    int joint[2] = {0}, njoint = 0, n = 0;
    LWI_ASSERT_INDEX(i, model->nloop + model->ncoupling);
    if (i < model->nloop) {
        joint[njoint++] = model->loop[i];
    } else {
        joint[njoint++] = model->coupling[i - model->nloop].joint;
        joint[njoint++] = model->coupling[i - model->nloop].of;
    }
    for (int j = 0; j < njoint; j++) {
        const int body[2] = {model->joint[joint[j]].body1, model->joint[joint[j]].body2};
        for (int s = 0; s < 2; s++)
            if (body[s]) node[n++] = model->body_node[body[s]];
    }
    return n;
}

static bool list_closures(lwi_rcr *e, lwi_arena *arena, int *entry)
{
    const int count = e->cut->count;
    for (int i = 0; i < count; i++) {
        int node[LWI_CLOSURE_BODIES];
        const int n = lwi_rcr_closure_nodes(e->model, i, node);
        entry[i] = -1;
        for (int s = 0; s < n; s++)
            if (node[s] > entry[i]) entry[i] = node[s];
        if (entry[i] >= 0) e->node[entry[i]].nclosure++;
    }
    for (int k = 0; k < e->model->nnode; k++) {
        e->node[k].closure = LWI_PUSH(arena, int, e->node[k].nclosure);
        if (!e->node[k].closure) return false;
        e->node[k].nclosure = 0;
    }
    for (int i = 0; i < count; i++)
        if (entry[i] >= 0) e->node[entry[i]].closure[e->node[entry[i]].nclosure++] = i;
    return true;
}

// Inserts a body into the list, sorted descending, without duplicates.
static void insert(int *list, int *n, int body)
{
    int i = 0;
    while (i < *n && list[i] > body) i++;
    if (i < *n && list[i] == body) return;
    LWI_ASSERT(i <= *n);
    memmove(list + i + 1, list + i, (size_t)(*n - i) * sizeof *list);
    list[i] = body;
    ++*n;
}

static int find(const int *list, int n, int body)
{
    int i = 0;
    while (i < n && list[i] != body) i++;
    return i;
}

// The bodies of node k's system; after those of all higher nodes.
//   list         scratch
//   first, next  linked lists of children: first[k], next[first[k]], ...
static bool list_bodies(lwi_rcr *e, lwi_arena *arena, int k, int *list, int *first, int *next)
{
    lwi_rcr_node *node = &e->node[k];
    const int parent = e->model->node[k].parent;
    int n = 0, nchild = 0;
    if (parent >= 0) insert(list, &n, parent);
    for (int c = first[k]; c >= 0; c = next[c], nchild++)
        for (int i = 0; i < e->node[c].nbody; i++)
            if (e->node[c].body[i] != k) insert(list, &n, e->node[c].body[i]);
    for (int i = 0; i < node->nclosure; i++) {
        int other[LWI_CLOSURE_BODIES];
        const int m = lwi_rcr_closure_nodes(e->model, node->closure[i], other);
        for (int s = 0; s < m; s++)
            if (other[s] != k) insert(list, &n, other[s]);
    }
    node->plain = n == (parent >= 0);
    for (int c = first[k]; c >= 0; c = next[c]) node->plain = node->plain && e->node[c].nbody == 1;
    for (int i = 0; i < node->nclosure; i++) {
        int other[LWI_CLOSURE_BODIES];
        node->plain = node->plain && lwi_rcr_closure_nodes(e->model, node->closure[i], other) == 1;
    }
    for (int i = 0; i < n; i++) LWI_ASSERT(list[i] < k && (i == 0 || list[i] < list[i - 1]));
    LWI_ASSERT(parent < k);
    node->up = n ? list[0] : -1;
    node->nbody = n;
    node->nchild = nchild;
    node->body = LWI_PUSH(arena, int, n);
    node->slot = LWI_PUSH(arena, int, n);
    node->child = LWI_PUSH(arena, int, nchild);
    if (!node->body || !node->slot || !node->child) return false;
    if (n) memcpy(node->body, list, (size_t)n * sizeof *list);
    node->parent_at = parent < 0 ? -1 : find(list, n, parent);
    LWI_ASSERT(node->parent_at < n);
    nchild = 0;
    for (int c = first[k]; c >= 0; c = next[c]) {
        node->child[nchild++] = c;
        for (int i = 0; i < e->node[c].nbody; i++) // n for k itself
            e->node[c].slot[i] = find(list, n, e->node[c].body[i]);
        LWI_ASSERT(c > k && e->node[c].up == k);
    }
    if (n) next[k] = first[list[0]], first[list[0]] = k;
    return true;
}

static bool make_structure(lwi_rcr *e, lwi_arena *arena)
{
    const int n = e->model->nnode;
    int *entry = LWI_PUSH(arena, int, e->cut->count), *list = LWI_PUSH(arena, int, n + 1);
    int *first = LWI_PUSH(arena, int, n), *next = LWI_PUSH(arena, int, n);
    if (!entry || !list || !first || !next || !list_closures(e, arena, entry)) return false;
    for (int k = 0; k < n; k++) first[k] = next[k] = -1;
    for (int k = n - 1; k >= 0; k--)
        if (!list_bodies(e, arena, k, list, first, next)) return false;
    return true;
}

// ------------------------------------------------------------------------------------------ create

// scale: motion of the link frame due to a unit of each speed, at the start.
static void size_speeds(lwi_rcr *e, lwi_tree_work *tree)
{
    const lw_model *model = e->model;
    lwi_tree_position(model, 0, model->tree_q0, tree->link);
    for (int k = 0; k < model->nnode; k++)
        for (int j = 0; j < model->node[k].nv; j++) {
            const double *S = tree->link[k].S[j];
            const double size = sqrt(v3_dot(S, S) / (e->length * e->length) + v3_dot(S + 3, S + 3));
            e->scale[model->node[k].iv + j] = size > 0 ? size : 1;
        }
    for (int i = 0; i < model->tree_nv; i++) {
        const double unit = e->length * e->scale[i];
        LWI_ASSERT(unit > 0);
        e->rotor[i] = model->tree_rotor[i] / (unit * unit);
    }
}

lw_status lwi_rcr_create(const lw_model *model, const lwi_cut *cut, lwi_tree_work *tree,
                         lwi_arena *arena, lwi_rcr *e)
{
    LWI_ASSERT(cut->length > 0);
    *e = (lwi_rcr){.model = model, .cut = cut, .length = cut->length};
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    GET(e->node, model->nnode);
    GET(e->front, model->nnode);
    GET(e->waiting, model->nnode);
    GET(e->fresh, model->tree_nv);
    GET(e->scale, model->tree_nv);
    GET(e->rotor, model->tree_nv);
    GET(e->S, model->tree_nv);
    GET(e->d, model->nnode);
    GET(e->I, model->nnode);
    GET(e->c, model->nnode);
    GET(e->F, model->nnode);
    GET(e->Q, model->tree_nv);
    GET(e->a, cut->m);
    GET(e->x, model->nnode);
    GET(e->y, model->tree_nv);
    GET(e->mu, cut->m);
#undef GET
    if (!make_structure(e, arena)) return LW_ERR_MEMORY;
    size_speeds(e, tree);
    return lwi_rcr_rotors_create(e, arena);
}

// ---------------------------------------------------------------------------------- at an instant

// [6][6] inertia [anderson2003, (11)] from mass m, h = m c and inertia J about the origin, linear part first.
static void fill_inertia(double *I, double m, const double *h, const double *J)
{
    lwi_inertia M;
    inertia_rigid(&M, m, h, J);
    double A[9], C[9];
    s3_full(A, M.A);
    s3_full(C, M.C);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            I[6 * i + j] = A[3 * i + j];
            I[6 * i + 3 + j] = M.B[3 * i + j];
            I[6 * (3 + j) + i] = M.B[3 * i + j];
            I[6 * (3 + i) + 3 + j] = C[3 * i + j];
        }
}

void lwi_rcr_place(lwi_rcr *e, const lwi_tree_work *tree, double t)
{
    const lw_model *model = e->model;
    const double unit = 1 / e->length;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const double *R = tree->R[k];
        LWI_ASSERT(node->parent < k && node->iv + node->nv <= model->tree_nv);
        double h[3], J[6];
        for (int j = 0; j < node->nv; j++) {
            double *S = e->S[node->iv + j];
            LWI_ASSERT(e->scale[node->iv + j] > 0);
            const double s = 1 / e->scale[node->iv + j];
            m3_mul_v(S, R, tree->link[k].S[j]);
            m3_mul_v(S + 3, R, tree->link[k].S[j] + 3);
            v3_scale(S, s * unit, S);
            v3_scale(S + 3, s, S + 3);
        }
        v3_copy(e->d[k], tree->r[k]);
        if (node->parent >= 0) v3_sub(e->d[k], e->d[k], tree->r[node->parent]);
        v3_scale(e->d[k], unit, e->d[k]);
        m3_mul_v(e->c[k], R, node->c_r);
        v3_scale(e->c[k], unit, e->c[k]);
        m3_mul_v(h, R, node->h);
        v3_scale(h, unit, h);
        s3_rotate(J, R, node->J);
        for (int i = 0; i < 6; i++) J[i] *= unit * unit;
        fill_inertia(e->I[k], node->mass, h, J);
    }
    lwi_rcr_rotors_rows(e, tree, t, LWI_CLOSURE_POSITION);
}
