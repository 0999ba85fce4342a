// force_signals.c -- what signals read, and their derivatives by the motion.
#include "dynamics/force_terms.h"

#include "base/assert.h"
#include "model/signals/states.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ leaves

/** Leaves of functions. */
typedef struct collector {
    const lw_model *model;
    lwi_force_derivatives *f;
    bool store;
    int nleaf, first; // first leaf of the present function
} collector;

static bool same_leaf(const lwi_signal_leaf *a, const lwi_signal_leaf *b)
{
    return a->kind == b->kind && a->seed.iq == b->seed.iq && a->seed.iv == b->seed.iv &&
           a->seed.probe == b->seed.probe && a->seed.state == b->seed.state;
}

static void add_leaf(collector *c, const lwi_signal_leaf *leaf)
{
    for (int i = c->first; c->store && i < c->nleaf; i++)
        if (same_leaf(&c->f->leaf[i], leaf)) return;
    if (c->store) c->f->leaf[c->nleaf] = *leaf;
    c->nleaf++;
}

// A coordinate or speed of a joint of the tree; of a joint that closes a loop: not exact.
static void add_joint_leaf(collector *c, const lwi_formula_name *name)
{
    const lw_model *model = c->model;
    int j = model->njoint - 1;
    while (j > 0 && (name->speed ? model->joint[j].iv : model->joint[j].iq) > name->index) j--;
    while (j > 0 && model->joint[j].type->nv == 0) j--;
    const lwi_joint *joint = &model->joint[j];
    const int k = name->index - (name->speed ? joint->iv : joint->iq);
    lwi_signal_leaf leaf = {.seed = {.iq = -1, .iv = -1, .spring = -1},
                            .node = joint->node,
                            .component = k,
                            .kind = name->speed ? LWI_LEAF_SPEED : LWI_LEAF_COORDINATE};
    if (leaf.node < 0) {
        c->f->exact = false;
        return;
    }
    if (name->speed)
        leaf.seed.iv = name->index, leaf.seed.qd = 1;
    else
        leaf.seed.iq = name->index, leaf.seed.q = 1;
    add_leaf(c, &leaf);
}

static void add_signal(collector *c, lw_signal s);

static void add_name(collector *c, const lwi_formula_name *name)
{
    if (name->kind == LWI_READ_SIGNAL) {
        add_signal(c, (lw_signal){name->index});
    } else if (name->kind == LWI_READ_JOINT) {
        add_joint_leaf(c, name);
    } else {
        add_leaf(
            c, &(lwi_signal_leaf){.seed = {.iq = -1, .iv = -1, .spring = -1, .probe = name->probe},
                                  .kind = LWI_LEAF_PROBE});
    }
}

static void add_names(collector *c, const lwi_function *function)
{
    for (int i = 0; i < LWI_FUNCTION_FORMULAS; i++) {
        const lwi_formula *formula = lwi_function_formula(function, i);
        for (int k = 0; formula && k < formula->nname; k++) add_name(c, &formula->name[k]);
    }
}

static void add_states(collector *c, const lwi_function *function)
{
    for (int k = 0; k < function->nstate; k++)
        add_leaf(c,
                 &(lwi_signal_leaf){
                     .seed = {.iq = -1, .iv = -1, .spring = -1, .state = function->state + k + 1},
                     .kind = LWI_LEAF_STATE});
}

// What a value reads: of a signal that is a state, this state.
static bool reads_formulas(const lwi_function *function)
{
    const lw_function_type type = function->desc.type;
    return function->nstate == 0 || type == LW_FUNCTION_TRANSFER || type == LW_FUNCTION_PID;
}

static void add_signal(collector *c, lw_signal s)
{
    if (s.index <= 0) return;
    const lwi_function *function = &c->model->function[s.index - 1];
    add_states(c, function);
    if (function->desc.type == LW_FUNCTION_SUM)
        for (int i = 0; i < function->desc.nterm; i++) add_signal(c, function->desc.terms[i]);
    else if (reads_formulas(function))
        add_names(c, function);
}

int lwi_force_leaves(const lw_model *model, lwi_force_derivatives *f, bool store)
{
    collector c = {.model = model, .f = f, .store = store};
    for (int i = 0; i < model->desc.nfunction; i++) {
        if (store) f->first_leaf[i] = c.nleaf;
        c.first = c.nleaf;
        if (lwi_function_kinked(model->desc.function, (lw_signal){i + 1})) f->kinked = true;
        add_signal(&c, (lw_signal){i + 1});
        if (!reads_formulas(&model->function[i])) add_names(&c, &model->function[i]);
    }
    if (store) f->first_leaf[model->desc.nfunction] = c.nleaf;
    return c.nleaf;
}

// -------------------------------------------------------------------------------------------- rows

static void add_coordinate(const lwi_force_terms *s, const lwi_signal_leaf *leaf, double by)
{
    const lwi_node *node = &s->model->node[leaf->node];
    const lwi_joint *joint = &s->model->joint[node->joint];
    lwi_force_derivatives *f = s->f;
    if (node->type->scalar) {
        for (int j = 0; j < node->nv; j++)
            if (node->column[j] == leaf->component) s->row_q[node->iv + j] += by;
        return;
    }
    LWI_ASSERT(joint->ndriven == 0);
    for (int j = 0; j < node->nv; j++) {
        memset(f->unit, 0, (size_t)node->nv * sizeof *f->unit);
        f->unit[j] = 1;
        node->type->kinematics(node->par, s->q + node->iq, f->unit, f->qdot);
        s->row_q[node->iv + j] += by * f->qdot[leaf->component];
    }
}

static void add_speed(const lwi_force_terms *s, const lwi_signal_leaf *leaf, double by)
{
    const lwi_node *node = &s->model->node[leaf->node];
    for (int j = 0; j < node->nv; j++)
        if (node->column[j] == leaf->component) s->row_v[node->iv + j] += by;
}

static void add_probe(const lwi_force_terms *s, const lwi_probe *probe, double by)
{
    double by_pose[2][6], by_twist[2][6];
    lwi_probe_derivatives(probe, s->kin, by_pose, by_twist);
    for (int side = 0; side < probe->n; side++) {
        const int body = probe->body[side];
        if (!s->to) {
            for (int i = 0; i < 6; i++) by_pose[side][i] *= by, by_twist[side][i] *= by;
            lwi_force_add_body(s, body, by_pose[side], by_twist[side], NULL);
            continue;
        }
        for (int k = lwi_force_node(s->model, body); k >= 0; k = s->model->node[k].parent)
            for (int i = s->model->node[k].iv; i < s->model->node[k].iv + s->model->node[k].nv;
                 i++) {
                double pose[6], twist[6];
                lwi_force_move_body(s, body, i, pose, twist);
                s->row_q[i] += by * (v6_dot(by_pose[side], pose) + v6_dot(by_twist[side], twist));
                s->row_v[i] += by * v6_dot(by_twist[side], pose);
            }
    }
}

static void add_leaf_row(const lwi_force_terms *s, const lwi_signal_leaf *leaf, double by)
{
    switch (leaf->kind) {
    case LWI_LEAF_COORDINATE:
        add_coordinate(s, leaf, by);
        return;
    case LWI_LEAF_SPEED:
        add_speed(s, leaf, by);
        return;
    case LWI_LEAF_PROBE:
        add_probe(s, leaf->seed.probe, by);
        return;
    case LWI_LEAF_STATE:
        s->row_z[leaf->seed.state - 1] += by;
        return;
    }
}

void lwi_force_clear_rows(const lwi_force_terms *s)
{
    const size_t n = (size_t)s->model->tree_nv;
    memset(s->row_q, 0, n * sizeof *s->row_q);
    memset(s->row_v, 0, n * sizeof *s->row_v);
    memset(s->row_z, 0, (size_t)s->model->nstate * sizeof *s->row_z);
}

static lwi_now now_of(const lwi_force_terms *s)
{
    lwi_now now = lwi_now_at(s->kin, s->t, s->inputs);
    now.functions = s->model->function;
    return now;
}

/** The leaves of a signal. */
typedef struct leaves {
    const lwi_signal_leaf *leaf;
    double *slope;
    int n;
} leaves;

static void add_slope(void *user, const lwi_formula *formula, const lwi_instruction *in, double by)
{
    const leaves *to = user;
    for (int i = 0; i < to->n; i++) {
        const lwi_seed *seed = &to->leaf[i].seed;
        const bool here = in->operation == LWI_FORMULA_COORDINATE ? seed->iq == in->index
                          : in->operation == LWI_FORMULA_SPEED    ? seed->iv == in->index
                          : in->operation == LWI_FORMULA_READ
                              ? seed->probe == formula->name[in->index].probe
                              : false;
        if (here) to->slope[i] += by;
    }
}

bool lwi_force_add_rows(const lwi_force_terms *s, lw_signal signal, double by)
{
    bool any = false;
    if (signal.index <= 0) return false;
    const lwi_now now = now_of(s);
    const int first = s->f->first_leaf[signal.index - 1];
    leaves to = {s->f->leaf + first, s->f->slope + first, s->f->first_leaf[signal.index] - first};
    if (s->f->backward[signal.index - 1]) {
        memset(to.slope, 0, (size_t)to.n * sizeof *to.slope);
        lwi_signal_gradient(s->model->function, signal, &now, by,
                            &(lwi_gradient_sink){&to, add_slope});
    }
    for (int i = 0; i < to.n; i++) {
        double f[3];
        if (!s->f->backward[signal.index - 1]) {
            lwi_signal_jet(s->model->function, signal, &now, &to.leaf[i].seed, f);
            to.slope[i] = by * f[1];
        }
        if (to.slope[i] == 0) continue;
        add_leaf_row(s, &to.leaf[i], to.slope[i]);
        any = true;
    }
    return any;
}

bool lwi_force_find_rows(const lwi_force_terms *s, lw_signal signal)
{
    if (signal.index <= 0) return false;
    lwi_force_clear_rows(s);
    return lwi_force_add_rows(s, signal, 1);
}

void lwi_force_subtract_signal(const lwi_force_terms *s)
{
    const size_t n = (size_t)s->model->tree_nv, nz = (size_t)s->nz;
    const lwi_force_derivatives *f = s->f;
    for (size_t k = 0; k < n; k++) {
        const double c = f->column[k];
        f->column[k] = 0;
        if (c == 0) continue;
        for (size_t j = 0; j < n; j++) {
            s->to->by_q[k * n + j] -= c * f->row_q[j];
            s->to->by_v[k * n + j] -= c * f->row_v[j];
        }
        for (size_t i = 0; i < nz; i++) s->to->force_by_z[k * nz + i] += c * f->row_z[i];
    }
}

void lwi_force_set_rates(const lwi_force_terms *s, int at)
{
    const size_t n = (size_t)s->model->tree_nv, nz = (size_t)s->nz, row = (size_t)at;
    memcpy(s->to->rate_by_q + row * n, s->row_q, n * sizeof(double));
    memcpy(s->to->rate_by_v + row * n, s->row_v, n * sizeof(double));
    memcpy(s->to->rate_by_z + row * nz, s->row_z, nz * sizeof(double));
}

void lwi_force_find_rates(const lwi_force_terms *s, int function)
{
    const lwi_function *of = &s->model->function[function];
    const lwi_now now = now_of(s);
    double slope[LWI_SIGNAL_STATES];
    for (int k = 0; k < of->nstate; k++) {
        lwi_force_clear_rows(s);
        for (int i = s->f->first_leaf[function]; i < s->f->first_leaf[function + 1]; i++) {
            lwi_signal_states_rate_slopes(of, &now, &s->f->leaf[i].seed, slope);
            if (slope[k] != 0) add_leaf_row(s, &s->f->leaf[i], slope[k]);
        }
        lwi_force_set_rates(s, of->state + k);
    }
}

void lwi_force_add_rate_products(const lwi_force_terms *s, int function, const double *w)
{
    const lwi_function *of = &s->model->function[function];
    const lwi_now now = now_of(s);
    double slope[LWI_SIGNAL_STATES];
    for (int i = s->f->first_leaf[function]; i < s->f->first_leaf[function + 1]; i++) {
        double by = 0;
        lwi_signal_states_rate_slopes(of, &now, &s->f->leaf[i].seed, slope);
        for (int k = 0; k < of->nstate; k++) by += w[of->state + k] * slope[k];
        if (by != 0) add_leaf_row(s, &s->f->leaf[i], by);
    }
}
