// self_stress.c -- reactions that the redundant rows of single loops leave undetermined.
//
// A wrench w that acts along a loop, from body to body through all of its joints, moves none of their coordinates if the
// rows G of the joint that closes the loop, in the speeds of the loop, have multipliers z with G'z = 0: the loop is under
// self-stress.  Each of these is a self-stress of the mechanism, and those of different loops are independent, since
// each acts on the rows of another closing joint.  Where there are as many as there are redundant rows there are no others,
// and what they change are the components of reactions that are not unique: no factorisation over all bodies is needed.
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "spatial/rotation.h"
#include "system/min_norm.h"

#include <math.h>
#include <string.h>

// What is left of the effect of a unit speed on rows of length one that depends on those before, and of one that does not.
#define DEPENDENT 1e-9
#define INDEPENDENT 1e-5

// The rows of a joint that closes a loop: an orthonormal basis of what speeds do to them, and of the multipliers that do
// nothing to speeds.
typedef struct loop_rows {
    const lwi_rcr *e;
    const lwi_tree_work *tree;
    const lwi_closure *closure;
    const double *len;   // [n] length of each
    int n, rank, nbasis; // rows; directions of speeds; these and those of multipliers
    double basis[6][6];  // of orthonormal vectors
    bool certain;        // no vector was nearly dependent
} loop_rows;

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Takes the basis out of v.  @return what is left of its length
static double reduce(const loop_rows *l, double *v)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < l->nbasis; k++) {
            const double part = dot(l->n, l->basis[k], v);
            for (int i = 0; i < l->n; i++) v[i] -= part * l->basis[k][i];
        }
    return sqrt(dot(l->n, v, v));
}

static void add(loop_rows *l, const double *v, double length)
{
    LWI_ASSERT(l->nbasis < l->n && length > 0);
    for (int i = 0; i < l->n; i++) l->basis[l->nbasis][i] = v[i] / length;
    l->nbasis++;
}

// The speeds of node k, which moves a body of the joint.
static void add_node(loop_rows *l, int k, int body)
{
    const lwi_rcr *e = l->e;
    const lwi_closure *c = l->closure;
    const lwi_node *node = &e->model->node[k];
    double arm[3];
    int at = 0;
    while (at < c->nbody - 1 && c->body[at] != body) at++;
    v3_sub(arm, l->tree->body_r[body], l->tree->r[k]);
    for (int j = 0; j < node->nv && l->nbasis < l->n; j++) {
        const double *S = e->S[node->iv + j];
        double v[6], w[6];
        v3_scale(v, e->length, S);
        v3_copy(v + 3, S + 3);
        v3_cross_add(v, S + 3, arm);
        for (int r = 0; r < c->n; r++) w[r] = v6_dot(c->J[at][r], v) / (l->len[r] * e->length);
        const double left = reduce(l, w);
        if (left > INDEPENDENT)
            add(l, w, left);
        else if (!(left < DEPENDENT))
            l->certain = false;
    }
}

// The row of which the basis has the smallest part.
static int farthest_row(const loop_rows *l)
{
    double smallest = INFINITY;
    int best = 0;
    for (int r = 0; r < l->n; r++) {
        double part = 0;
        for (int k = 0; k < l->nbasis; k++) part += l->basis[k][r] * l->basis[k][r];
        if (part < smallest) smallest = part, best = r;
    }
    return best;
}

// The multipliers that no speed of the loop meets: basis[rank] ... basis[n - 1].
static void complete(loop_rows *l)
{
    l->rank = l->nbasis;
    while (l->nbasis < l->n) {
        double v[6] = {0};
        v[farthest_row(l)] = 1;
        const double left = reduce(l, v);
        add(l, v, left);
    }
}

// A step on the way from the bodies of a closing joint to their branch point: the node, and the body that it moves.
typedef void visit(void *user, int node, int body);

static void visit_loop(const lw_model *model, const lwi_joint *closing, visit *node, void *user)
{
    int a = model->body_node[closing->body1], b = model->body_node[closing->body2];
    while (a != b) { // parents have lower numbers
        if (a > b) {
            node(user, a, closing->body1);
            a = model->node[a].parent;
        } else {
            node(user, b, closing->body2);
            b = model->node[b].parent;
        }
    }
}

static void visit_rows(void *user, int node, int body)
{
    add_node(user, node, body);
}

// A wrench along a loop [N, N m]: world axes, about a point.
typedef struct stress {
    const lw_model *model;
    const lwi_motion *motion;
    double f[6], about[3];
    unsigned char *undetermined; // [njoint]
    bool clear;
} stress;

static void mark(stress *s, int j)
{
    const lwi_joint *joint = &s->model->joint[j];
    double point[3], arm[3], world[6], F[6];
    m3_mul_v(point, s->motion->R[joint->body2], joint->r2);
    v3_add(point, point, s->motion->r[joint->body2]);
    v3_sub(arm, s->about, point);
    v6_copy(world, s->f);
    v3_cross_add(world + 3, arm, s->f);
    lwi_joint_to_axes(s->model, j, s->motion->R, world, F);
    if (lwi_min_norm_mark(F, &s->undetermined[j])) s->clear = false;
}

static void visit_stress(void *user, int node, int body)
{
    stress *s = user;
    (void)body;
    if (s->model->node[node].joint >= 0) mark(s, s->model->node[node].joint);
}

// The wrench of multipliers z of the rows, for which the norm of those in N and N m is one.
static void take_wrench(const loop_rows *l, const lwi_joint *closing, const double *z, stress *s)
{
    const int body = closing->body2 ? closing->body2 : closing->body1;
    double lambda[6];
    int at = 0;
    while (at < l->closure->nbody - 1 && l->closure->body[at] != body) at++;
    for (int r = 0; r < l->n; r++) lambda[r] = z[r] / l->len[r];
    const double scale = 1 / sqrt(dot(l->n, lambda, lambda));
    v6_zero(s->f);
    for (int r = 0; r < l->n; r++) v6_axpy(s->f, scale * lambda[r], l->closure->J[at][r]);
    v3_copy(s->about, s->motion->r[body]);
}

bool lwi_rcr_self_stresses(const lwi_rcr *e, const lwi_tree_work *tree, int redundant,
                           unsigned char *undetermined, int *dependent)
{
    const lw_model *model = e->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    stress s = {.model = model, .motion = &motion, .undetermined = undetermined, .clear = true};
    memset(undetermined, 0, (size_t)model->njoint);
    if (model->ncoupling > 0) return false;
    for (int i = 0; i < model->nloop && s.clear; i++) {
        const lwi_joint *closing = &model->joint[model->loop[i]];
        loop_rows l = {.e = e,
                       .tree = tree,
                       .closure = &e->cut->closure[i],
                       .len = e->cut->len + e->cut->first[i],
                       .n = e->cut->closure[i].n,
                       .certain = true};
        visit_loop(model, closing, visit_rows, &l);
        if (!l.certain) return false;
        complete(&l);
        dependent[i] = l.n - l.rank;
        redundant -= dependent[i];
        for (int k = l.rank; k < l.n && redundant >= 0; k++) {
            take_wrench(&l, closing, l.basis[k], &s);
            visit_loop(model, closing, visit_stress, &s);
            mark(&s, model->loop[i]);
        }
    }
    return s.clear && redundant == 0;
}
