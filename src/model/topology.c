// topology.c -- spanning tree, sweep order, link frames.
//
// The tree is chosen by joints: those that must not be cut first, then the others in the order of
// the file, then those that should be cut; a joint whose bodies are connected already closes a
// loop. Distance joints always close one.  Bodies that nothing connects to the ground float.
#include "model/model.h"
#include "spatial/motion.h"

#include <string.h>

typedef struct graph {
    int *parent;       // union-find over hosts
    bool *in_tree;     // [njoint]
    int *first, *list; // tree joints of each host
} graph;

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static lw_status choose_joints(lw_model *m, graph *g, lw_error *error)
{
    static const lw_cut order[] = {LW_CUT_NEVER, LW_CUT_AUTO, LW_CUT_PREFER};
    for (int i = 0; i < m->nbody; i++) g->parent[i] = i;
    for (int pass = 0; pass < 3; pass++)
        for (int j = 0; j < m->njoint; j++) {
            const lwi_joint *joint = &m->joint[j];
            const lw_joint_desc *d = &m->desc.joint[j];
            if (joint->merged || d->cut != order[pass] || d->type == LW_JOINT_DISTANCE) continue;
            const int a = root_of(g->parent, joint->body1), b = root_of(g->parent, joint->body2);
            if (a == b && d->cut == LW_CUT_NEVER)
                return lwi_model_fail(
                    &m->desc, d->place, error,
                    "joint '%s': `cut: never`, but only joints that must not be cut "
                    "form this loop",
                    d->name);
            if (a == b) continue;
            g->parent[a > b ? a : b] = a > b ? b : a; // the ground, 0, stays a root
            g->in_tree[j] = true;
        }
    return LW_OK;
}

static void list_joints(const lw_model *m, graph *g, int *fill)
{
    for (int j = 0; j < m->njoint; j++)
        if (g->in_tree[j]) g->first[m->joint[j].body1 + 1]++, g->first[m->joint[j].body2 + 1]++;
    for (int i = 0; i < m->nbody; i++) g->first[i + 1] += g->first[i], fill[i] = g->first[i];
    for (int j = 0; j < m->njoint; j++)
        if (g->in_tree[j])
            g->list[fill[m->joint[j].body1]++] = j, g->list[fill[m->joint[j].body2]++] = j;
}

// Inertia and pose of the body in the node's link frame.
static void place_body(const lw_model *m, lwi_node *n)
{
    const lwi_body *b = &m->body[n->body];
    n->mass = b->mass;
    v3_scale(n->h, b->mass, n->c_r);
    s3_rotate(n->J, n->c_R, b->inertia);
    s3_add_point(n->J, b->mass, n->c_r);
}

static const lwi_joint_par no_parameters;

static void make_root(lw_model *m, lwi_node *n, int body)
{
    n->parent = n->joint = -1;
    n->body = body;
    n->type = lwi_joint_type_of(LW_JOINT_FREE);
    n->par = &no_parameters;
    m3_identity(n->X_R);
    m3_identity(n->c_R);
    place_body(m, n);
}

static void make_node(lw_model *m, lwi_node *n, int parent, int parent_body, int j)
{
    const lwi_joint *joint = &m->joint[j];
    n->reversed = joint->body2 == parent_body;
    n->parent = parent;
    n->joint = j;
    n->body = n->reversed ? joint->body1 : joint->body2;
    n->type = joint->type;
    n->par = &joint->par;
    n->driven = joint->ndriven > 0 || joint->mount.present;
    const double *Rp = n->reversed ? joint->R2 : joint->R1,
                 *rp = n->reversed ? joint->r2 : joint->r1;
    const double *Rc = n->reversed ? joint->R1 : joint->R2,
                 *rc = n->reversed ? joint->r1 : joint->r2;
    m3_transpose(n->c_R, Rc);
    m3_tmul_v(n->c_r, Rc, rc);
    v3_scale(n->c_r, -1, n->c_r);
    if (parent < 0) {
        memcpy(n->X_R, Rp, sizeof n->X_R);
        v3_copy(n->X_r, rp);
    } else {
        const lwi_node *p = &m->node[parent];
        m3_mul(n->X_R, p->c_R, Rp);
        m3_mul_v(n->X_r, p->c_R, rp);
        v3_add(n->X_r, n->X_r, p->c_r);
    }
    place_body(m, n);
}

// Depth first from a body whose node is `node` (-1: the ground), children in the order of the file.
static void descend(lw_model *m, const graph *g, int body, int node, int *stack, int *cursor)
{
    int depth = 0;
    stack[depth++] = body;
    m->body_node[body] = node;
    while (depth) {
        const int b = stack[depth - 1];
        if (cursor[b] == g->first[b + 1]) {
            depth--;
            continue;
        }
        const int j = g->list[cursor[b]++];
        if (m->joint[j].node >= 0) continue; // the way we came
        make_node(m, &m->node[m->nnode], m->body_node[b], b, j);
        const int child = m->node[m->nnode].body;
        m->joint[j].node = m->body_node[child] = m->nnode++;
        stack[depth++] = child;
    }
}

static void number_states(lw_model *m)
{
    for (int k = 0; k < m->nnode; k++) {
        lwi_node *n = &m->node[k];
        n->iq = m->tree_nq;
        n->iv = m->tree_nv;
        for (int i = 0; i < n->type->nv; i++)
            if (n->joint < 0 || m->joint[n->joint].motion[i].index == 0)
                n->column[n->nv++] = (signed char)i;
        n->nq = n->nv == n->type->nv ? n->type->nq : n->nv; // driven: scalar coordinates
        m->tree_nq += n->nq;
        m->tree_nv += n->nv;
    }
}

lw_status lwi_compile_topology(lw_model *m, lw_error *error)
{
    const int nb = m->nbody, nj = m->njoint;
    graph g = {.parent = LWI_PUSH(&m->arena, int, nb),
               .in_tree = LWI_PUSH(&m->arena, bool, nj),
               .first = LWI_PUSH(&m->arena, int, nb + 1),
               .list = LWI_PUSH(&m->arena, int, 2 * nj + 1)};
    int *cursor = LWI_PUSH(&m->arena, int, nb + 1), *stack = LWI_PUSH(&m->arena, int, nb);
    m->node = LWI_PUSH(&m->arena, lwi_node, nb);
    m->body_node = LWI_PUSH(&m->arena, int, nb);
    m->loop = LWI_PUSH(&m->arena, int, nj);
    if (!g.parent || !g.in_tree || !g.first || !g.list || !cursor || !stack || !m->node ||
        !m->body_node || !m->loop)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the spanning tree");
    TRY(choose_joints(m, &g, error));
    list_joints(m, &g, cursor);
    for (int i = 0; i < nb; i++) cursor[i] = g.first[i], m->body_node[i] = -1;
    for (int j = 0; j < nj; j++) m->joint[j].node = -1;
    descend(m, &g, 0, -1, stack, cursor);
    for (int i = 1; i < nb; i++) {
        if (m->body[i].host != i || root_of(g.parent, i) == 0 || m->body_node[i] >= 0) continue;
        make_root(m, &m->node[m->nnode], i);
        m->nnode++;
        descend(m, &g, i, m->nnode - 1, stack, cursor);
    }
    number_states(m);
    for (int j = 0; j < nj; j++)
        if (!m->joint[j].merged && m->joint[j].node < 0) m->loop[m->nloop++] = j;
    return LW_OK;
}
