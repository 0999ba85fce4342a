// topology.c -- spanning tree, sweep order, link frames.
//
// The tree is grown from the ground in breadth, so that loops are cut in their middle: trees are
// shallow, and a loop that is its own mirror image is cut in the mirror.  An end cut would treat
// its halves differently in everything but the motion, and round-off that is not symmetric feeds
// the motions that are not [chadaj2017].  Some joints come before others (joint_class); among
// joints that reach a body at the same depth, those that cost more as cut joints (cut_cost), then those
// listed first.  A joint between bodies that are connected already closes a loop; distance joints always
// do.  Bodies that nothing connects to the ground float.  Which joints are in the tree follows from
// the list alone, the order of the nodes from the file's: depth first.
#include "model/model.h"
#include "base/assert.h"
#include "base/components.h"
#include "spatial/motion.h"

#include <stdlib.h>
#include <string.h>

// A joint that reaches a body at the depth being searched.
typedef struct candidate {
    int cost, joint, to;
} candidate;

typedef struct graph {
    int *parent;        // union-find over carriers
    bool *in_tree;      // [njoint]
    signed char *class; // [njoint] joint_class
    int *first, *list;  // joints of each carrier: all while the tree grows, those of the tree then
    int *level, *seen;  // scratch of `grow` [nbody]: bodies by depth; run that has seen them
    candidate *reach;   // [2 njoint]
} graph;

static bool moved(const lwi_joint *joint)
{
    return joint->ndriven > 0 || joint->mount.present;
}

// Joints of a class are added to the tree before those of the next.  Driven ones: in the tree
// they have neither coordinates nor equations.  Those with a specified start: the tree uses it, a
// loop only checks it.  Those with rotors: in the tree they add to one number of its mass matrix.  Those of bodies
// without mass: in the tree these bodies carry others.
enum { NEVER_CUT, DRIVEN, GIVEN, GEARED, ORDINARY, RATHER_CUT, NCLASS, ALWAYS_CUT };

static bool has_rotor(const lw_joint_desc *d)
{
    for (int k = 0; k < LWI_COUNT(d->coordinate); k++)
        if (d->coordinate[k].rotor != 0) return true;
    return false;
}

// A body without mass on one side.
static bool is_light(const lw_model *m, int j)
{
    const int body[2] = {m->joint[j].body1, m->joint[j].body2};
    return (body[0] && !(m->body[body[0]].mass > 0)) || (body[1] && !(m->body[body[1]].mass > 0));
}

static int joint_class(const lw_model *m, int j)
{
    const lw_joint_desc *d = &m->desc.joint[j];
    if (m->joint[j].merged || m->joint[j].type->loop_only || d->cut == LW_CUT_ALWAYS)
        return ALWAYS_CUT;
    if (d->cut != LW_CUT_AUTO) return d->cut == LW_CUT_NEVER ? NEVER_CUT : RATHER_CUT;
    if (moved(&m->joint[j])) return DRIVEN;
    if (d->has_q || d->has_qd) return GIVEN;
    return has_rotor(d) || m->joint[j].nrotor > 0 || is_light(m, j) ? GEARED : ORDINARY;
}

// Equations that close the joint; more where its points slide, since those have more terms; most
// where its coordinates have forces or rotors, which a coordinate of the state makes simple.
static int cut_cost(const lw_model *m, int j)
{
    const lw_joint_desc *d = &m->desc.joint[j];
    const lwi_joint_type *type = m->joint[j].type;
    const int cost = type->nc + type->cut_cost;
    for (int k = 0; k < type->nv; k++) {
        const lw_coordinate_desc *c = &d->coordinate[k];
        if (c->stiffness != 0 || c->damping != 0 || c->force.index || c->effort.index ||
            c->rotor != 0 || m->joint[j].rotor[k] != 0)
            return cost + 12;
    }
    return d->damping != 0 ? cost + 12 : cost;
}

static int dear_first(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->cost != y->cost ? y->cost - x->cost : x->joint - y->joint;
}

// Most bodies carry few joints, for which a call of qsort takes longer than exchanges; those of a hub are often in order.
enum { FEW_CANDIDATES = 8 };

static bool are_sorted(const candidate *c, int n)
{
    for (int i = 1; i < n; i++)
        if (dear_first(&c[i - 1], &c[i]) > 0) return false;
    return true;
}

static void sort_candidates(candidate *c, int n)
{
    if (n > FEW_CANDIDATES) {
        if (are_sorted(c, n)) return;
        qsort(c, (size_t)n, sizeof *c, dear_first);
        return;
    }
    for (int i = 1; i < n; i++) {
        const candidate x = c[i];
        int to = i;
        for (; to > 0 && dear_first(&c[to - 1], &x) > 0; to--) c[to] = c[to - 1];
        c[to] = x;
    }
}

// What joint j leads to from body b.
static int across(const lw_model *m, int j, int b)
{
    LWI_ASSERT(m->joint[j].body1 == b || m->joint[j].body2 == b);
    return m->joint[j].body1 == b ? m->joint[j].body2 : m->joint[j].body1;
}

// Adds joints of the class, in breadth from `start`, to the present tree.
static void grow(const lw_model *m, graph *g, int class, int start, int run)
{
    int n = 0, done = 0;
    g->level[n++] = start;
    g->seen[start] = run;
    while (done < n) {
        int nreach = 0;
        const int end = n;
        for (; done < end; done++) {
            const int b = g->level[done];
            for (int i = g->first[b]; i < g->first[b + 1]; i++) {
                const int j = g->list[i], to = across(m, j, b);
                if (g->in_tree[j] && g->seen[to] != run)
                    g->seen[to] = run, g->level[n++] = to;
                else if (!g->in_tree[j] && g->class[j] == class)
                    g->reach[nreach++] = (candidate){cut_cost(m, j), j, to};
            }
        }
        sort_candidates(g->reach, nreach);
        for (int i = 0; i < nreach; i++) {
            const int j = g->reach[i].joint, to = g->reach[i].to;
            const int a = lwi_component_of(g->parent, m->joint[j].body1),
                      b = lwi_component_of(g->parent, m->joint[j].body2);
            if (a == b) continue;
            g->parent[a > b ? a : b] = a > b ? b : a; // the ground, 0, stays a root
            g->in_tree[j] = true;
            g->seen[to] = run;
            g->level[n++] = to;
        }
    }
}

static lw_status check_hints(const lw_model *m, graph *g, lw_error *error)
{
    for (int j = 0; j < m->njoint; j++) {
        const lwi_joint *joint = &m->joint[j];
        const lw_joint_desc *d = &m->desc.joint[j];
        if (g->class[j] == NEVER_CUT && !g->in_tree[j])
            return lwi_model_fail(&m->desc, d->place, error,
                                  "joint '%s': `cut: never`, but only joints that must not be cut "
                                  "form this loop",
                                  d->name);
        if (d->cut == LW_CUT_ALWAYS && !joint->merged && !joint->type->loop_only &&
            lwi_component_of(g->parent, joint->body1) != lwi_component_of(g->parent, joint->body2))
            return lwi_model_fail(
                &m->desc, d->place, error,
                "joint '%s': `cut: always`, but it is in no loop, or every joint of "
                "its loop is cut",
                d->name);
    }
    return LW_OK;
}

static lw_status choose_joints(lw_model *m, graph *g, lw_error *error)
{
    bool any[ALWAYS_CUT + 1] = {false};
    for (int i = 0; i < m->nbody; i++) g->parent[i] = i;
    for (int j = 0; j < m->njoint; j++) any[g->class[j] = (signed char)joint_class(m, j)] = true;
    for (int class = 0, run = 0; class < NCLASS; class ++) {
        if (!any[class]) continue;
        run++;
        for (int i = 0; i < m->nbody; i++)
            if (m->body[i].carrier == i && g->seen[i] != run) grow(m, g, class, i, run);
    }
    return check_hints(m, g, error);
}

// All joints that are not merged, or those of the tree, by the carriers of their bodies.
static void list_joints(const lw_model *m, graph *g, bool tree, int *fill)
{
    memset(g->first, 0, (size_t)(m->nbody + 1) * sizeof *g->first);
    for (int j = 0; j < m->njoint; j++)
        if (tree ? g->in_tree[j] : !m->joint[j].merged)
            g->first[m->joint[j].body1 + 1]++, g->first[m->joint[j].body2 + 1]++;
    for (int i = 0; i < m->nbody; i++) g->first[i + 1] += g->first[i], fill[i] = g->first[i];
    for (int j = 0; j < m->njoint; j++)
        if (tree ? g->in_tree[j] : !m->joint[j].merged)
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
    LWI_ASSERT(m->body[body].carrier == body);
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
    LWI_ASSERT_INDEX(j, m->njoint);
    LWI_ASSERT(parent < m->nnode);
    LWI_ASSERT(m->joint[j].body1 != m->joint[j].body2);
    const lwi_joint *joint = &m->joint[j];
    n->reversed = joint->body2 == parent_body;
    n->parent = parent;
    n->joint = j;
    n->body = n->reversed ? joint->body1 : joint->body2;
    n->type = joint->type;
    n->par = &joint->par;
    n->driven = moved(joint);
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

// Depth first from a body with node `node` (-1: the ground), children in the order of the file.
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
        LWI_ASSERT(n->nv <= n->type->nv);
        n->nq = n->nv == n->type->nv ? n->type->nq : n->nv; // driven: scalar coordinates
        m->tree_nq += n->nq;
        m->tree_nv += n->nv;
    }
}

static lw_status list_rotors(lw_model *m)
{
    m->tree_rotor = LWI_PUSH(&m->arena, double, m->tree_nv);
    if (!m->tree_rotor) return LW_ERR_MEMORY;
    for (int k = 0; k < m->nnode; k++) {
        const lwi_node *n = &m->node[k];
        for (int i = 0; n->joint >= 0 && i < n->nv; i++)
            m->tree_rotor[n->iv + i] = m->joint[n->joint].rotor[n->column[i]];
    }
    return LW_OK;
}

lw_status lwi_compile_topology(lw_model *m, lw_error *error)
{
    const int nb = m->nbody, nj = m->njoint;
    graph g = {.parent = LWI_PUSH(&m->arena, int, nb),
               .in_tree = LWI_PUSH(&m->arena, bool, nj),
               .class = LWI_PUSH(&m->arena, signed char, nj),
               .first = LWI_PUSH(&m->arena, int, nb + 1),
               .list = LWI_PUSH(&m->arena, int, 2 * nj + 1),
               .level = LWI_PUSH(&m->arena, int, nb),
               .seen = LWI_PUSH(&m->arena, int, nb),
               .reach = LWI_PUSH(&m->arena, candidate, 2 * nj)};
    int *cursor = LWI_PUSH(&m->arena, int, nb + 1), *stack = LWI_PUSH(&m->arena, int, nb);
    m->node = LWI_PUSH(&m->arena, lwi_node, nb);
    m->body_node = LWI_PUSH(&m->arena, int, nb);
    m->loop = LWI_PUSH(&m->arena, int, nj);
    if (!g.parent || !g.in_tree || !g.class || !g.first || !g.list || !g.level || !g.seen ||
        !g.reach || !cursor || !stack || !m->node || !m->body_node || !m->loop)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the spanning tree");
    list_joints(m, &g, false, cursor);
    TRY(choose_joints(m, &g, error));
    list_joints(m, &g, true, cursor);
    for (int i = 0; i < nb; i++) cursor[i] = g.first[i], m->body_node[i] = -1;
    for (int j = 0; j < nj; j++) m->joint[j].node = -1;
    descend(m, &g, 0, -1, stack, cursor);
    for (int i = 1; i < nb;
         i++) { // the first body of the file in a part that floats, or what carries it
        const int root = m->body[i].carrier;
        if (lwi_component_of(g.parent, root) == 0 || m->body_node[root] >= 0) continue;
        make_root(m, &m->node[m->nnode], root);
        m->nnode++;
        descend(m, &g, root, m->nnode - 1, stack, cursor);
    }
    number_states(m);
    if (list_rotors(m) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the spanning tree");
    for (int j = 0; j < nj; j++)
        if (!m->joint[j].merged && m->joint[j].node < 0) m->loop[m->nloop++] = j;
    LWI_ASSERT(m->nnode < nb);
    for (int k = 0; k < m->nnode; k++) LWI_ASSERT(m->node[k].parent < k);
    return LW_OK;
}
