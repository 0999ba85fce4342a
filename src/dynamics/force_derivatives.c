// force_derivatives.c -- exact derivatives of generalised forces.
#include "dynamics/force_derivatives.h"

#include "base/assert.h"
#include "dynamics/state_derivatives.h"
#include "model/forces/length.h"
#include "model/signals/states.h"

#include <string.h>

enum { UNITS = 24 }; // changes of the motion of two bodies

/** Sums over the bodies outboard of a node: wrenches about the world's origin. */
typedef struct lwi_outboard_sums {
    double a[6], t[6], f[6];
} lwi_outboard_sums;

// ------------------------------------------------------------------------------------------- create

static int node_of(const lw_model *model, int body)
{
    return body ? model->body_node[model->body[body].carrier] : -1;
}

/** Leaves and branches, found twice: counted, then stored. */
typedef struct collector {
    const lw_model *model;
    lwi_force_derivatives *f;
    bool store;
    int nleaf, nbranch, nplace; // most bodies of a path
    int first;                  // first leaf of the present function
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

// Of each function what its value and its rates read.
static void collect_leaves(collector *c)
{
    c->nleaf = 0;
    for (int i = 0; i < c->model->desc.nfunction; i++) {
        if (c->store) c->f->first_leaf[i] = c->nleaf;
        c->first = c->nleaf;
        if (lwi_function_kinked(c->model->desc.function, (lw_signal){i + 1})) c->f->kinked = true;
        add_signal(c, (lw_signal){i + 1});
        if (!reads_formulas(&c->model->function[i])) add_names(c, &c->model->function[i]);
    }
    if (c->store) c->f->first_leaf[c->model->desc.nfunction] = c->nleaf;
}

// The speeds on the way from a node to another, which is on its way to the ground (-1).
static void add_branch(collector *c, int node, int end, int side)
{
    for (; node != end; node = c->model->node[node].parent)
        for (int j = c->model->node[node].nv - 1; j >= 0; j--) {
            if (c->store)
                c->f->branch[c->nbranch] = (lwi_branch_speed){c->model->node[node].iv + j, side};
            c->nbranch++;
        }
}

static int common_ancestor(const lw_model *model, int a, int b)
{
    while (a != b) // parents have smaller numbers
        if (a > b)
            a = model->node[a].parent;
        else
            b = model->node[b].parent;
    return a;
}

static void add_branches(collector *c, const lwi_force_place *place)
{
    const lw_model *model = c->model;
    const int a = node_of(model, place->body[0]);
    if (place->n == 1) {
        add_branch(c, a, -1, 0);
        return;
    }
    const int b = node_of(model, place->body[1]), common = common_ancestor(model, a, b);
    add_branch(c, a, common, 0);
    add_branch(c, b, common, 1);
}

// The law of a force along a length of joint coordinates; NULL: it is another.
static const lwi_force_length *law_of(const lwi_force *force)
{
    const lwi_force_length *length = force->type->length;
    return length && length->speed && length->slopes ? length : NULL;
}

// Its coordinates, `side` of them the number of each.
static void add_coordinates(collector *c, const lwi_force *force)
{
    const lwi_force_length *length = law_of(force);
    double share;
    int iv;
    for (int k = 0; (iv = length->speed(force->par, k, &share)) >= 0; k++) {
        if (!lwi_is_speed_of_tree(c->model, iv)) c->f->exact = false;
        if (c->store)
            c->f->branch[c->nbranch] = (lwi_branch_speed){lwi_tree_speed(c->model, iv), k};
        c->nbranch++;
    }
    if (length->limited(force->par)) c->f->kinked = true;
}

// The path of a force along one over bodies, with derivatives; NULL: it is another.
static const lwi_force_length *path_of(const lwi_force *force)
{
    const lwi_force_length *length = force->type->length;
    return length && length->differentiate && length->exact(force->par) ? length : NULL;
}

// The speeds that move its parts against each other.
static void add_path(collector *c, const lwi_force *force)
{
    const lw_model *model = c->model;
    const lwi_force_length *path = path_of(force);
    int common = node_of(model, path->body(force->par, 0)), n = 0;
    for (int body; (body = path->body(force->par, n)) >= 0; n++)
        common = common_ancestor(model, common, node_of(model, body));
    for (int k = 0; k < n; k++) add_branch(c, node_of(model, path->body(force->par, k)), common, k);
    if (n > c->nplace) c->nplace = n;
    if (path->limited(force->par)) c->f->kinked = true;
}

// Has a force on a coordinate derivatives, and does it act on a joint of the tree?
static bool is_known(const lw_model *model, const lwi_force *force, const lwi_force_place *place)
{
    const lwi_force_type *type = force->type;
    if (type == &lwi_force_signal_states) return true;
    if (place->iv < 0) return type->differentiate != NULL;
    if (type != &lwi_force_joint_spring && type != &lwi_force_joint_stop &&
        type != &lwi_force_joint_friction && type != &lwi_force_joint_rotor)
        return false;
    return lwi_is_speed_of_tree(model, place->iv);
}

static void collect_forces(collector *c)
{
    const lw_model *model = c->model;
    c->nbranch = 0;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *force = &model->force[i];
        const lwi_force_place place = lwi_force_acts_on(force);
        if (c->store) c->f->first_speed[i] = c->nbranch;
        if (law_of(force)) {
            add_coordinates(c, force);
            continue;
        }
        if (path_of(force)) {
            add_path(c, force);
            continue;
        }
        if (!is_known(model, force, &place)) c->f->exact = false;
        if (c->store) {
            c->f->speed[i] = place.iv < 0 ? -1 : lwi_tree_speed(model, place.iv);
        }
        if (place.iv < 0 && force->type->differentiate) add_branches(c, &place);
    }
    if (c->store) c->f->first_speed[model->nforce] = c->nbranch;
}

static bool allocate(const lw_model *model, lwi_arena *arena, const collector *c,
                     lwi_force_derivatives *f)
{
    const size_t n = (size_t)model->tree_nv, branches = (size_t)c->nbranch;
    f->leaf = LWI_PUSH(arena, lwi_signal_leaf, c->nleaf);
    f->branch = LWI_PUSH(arena, lwi_branch_speed, branches);
    f->slope = LWI_PUSH(arena, double, c->nleaf);
    f->backward = LWI_PUSH(arena, bool, model->desc.nfunction);
    f->outboard = LWI_PUSH(arena, lwi_outboard_sums, model->nnode);
    f->way = lwi_arena_push(arena, n + (size_t)model->nnode, sizeof *f->way);
    f->until = lwi_arena_push(arena, n + (size_t)model->nnode, sizeof *f->until);
    f->first_leaf = LWI_PUSH(arena, int, model->desc.nfunction + 1);
    f->first_speed = LWI_PUSH(arena, int, model->nforce + 1);
    f->speed = LWI_PUSH(arena, int, model->nforce);
    const size_t changes = 2 * branches > UNITS ? 2 * branches : UNITS;
    f->change = LWI_PUSH(arena, lwi_motion_pair, changes);
    f->load = lwi_arena_push(arena, changes, sizeof *f->load);
    f->moved = lwi_arena_push(arena, branches, sizeof *f->moved);
    f->rotation = lwi_arena_push(arena, branches, sizeof *f->rotation);
    typedef double screw[6];
    screw **const at_places[] = {&f->place.pose, &f->place.twist, &f->place.load, &f->place.unit,
                                 &f->place.x};
    for (int i = 0; i < LWI_COUNT(at_places); i++)
        if (!(*at_places[i] = lwi_arena_push(arena, (size_t)c->nplace, sizeof(screw))))
            return false;
    if (!f->rotation) return false;
    f->row_q = LWI_PUSH(arena, double, n);
    f->row_v = LWI_PUSH(arena, double, n);
    f->row_z = LWI_PUSH(arena, double, model->nstate);
    f->column = LWI_PUSH(arena, double, n);
    f->unit = LWI_PUSH(arena, double, n);
    f->qdot = LWI_PUSH(arena, double, model->tree_nq);
    if (!f->slope || !f->backward || !f->outboard || !f->way || !f->until) return false;
    return f->leaf && f->branch && f->first_leaf && f->first_speed && f->speed && f->change &&
           f->load && f->moved && f->row_q && f->row_v && f->row_z && f->column && f->unit &&
           f->qdot;
}

lw_status lwi_force_derivatives_create(const lw_model *model, lwi_arena *arena,
                                       lwi_force_derivatives *f)
{
    *f = (lwi_force_derivatives){.exact = true};
    collector c = {.model = model, .f = f};
    collect_leaves(&c);
    collect_forces(&c);
    if (!f->exact) return LW_OK;
    if (!allocate(model, arena, &c, f)) return LW_ERR_MEMORY;
    c.store = true;
    collect_leaves(&c);
    collect_forces(&c);
    for (int i = 0; i < model->desc.nfunction; i++)
        f->backward[i] = lwi_signal_has_gradient(model->function, (lw_signal){i + 1});
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- motion

/** A state. */
typedef struct state {
    const lw_model *model;
    lwi_force_derivatives *f;
    const lwi_tree_derivatives *tree;
    const lwi_kin *kin;
    double t;
    const double *q, *v, *inputs;
    int nz;
    double *row_q, *row_v, *row_z; // where derivatives of signals are added
    const lwi_force_sums *to;      // NULL: products
} state;

// A screw about the world's origin at a point r.
static void at_point(const double S[6], const double r[3], double out[6])
{
    v3_cross(out, S + 3, r);
    v3_add(out, out, S);
    v3_copy(out + 3, S + 3);
}

// What a displacement of a speed changes in the motion of a body outboard: its pose, and its velocity at constant speeds.
static void move_body(const state *s, int body, int speed, double pose[6], double twist[6])
{
    const lwi_screws *screws = &s->tree->screws;
    const double *S = screws->S[speed], *V = screws->screw[screws->last[node_of(s->model, body)]].V;
    double change[6];
    motion_cross(change, S, V);
    v6_add(change, change, s->tree->rate[speed]);
    at_point(S, s->kin->r[body], pose);
    at_point(change, s->kin->r[body], twist);
    v3_cross_add(twist, V + 3, pose);
}

// Does a displacement of speed j rotate the screw of speed k, of the same way?
static bool carries(const lwi_screws *s, int j, int k)
{
    const int a = s->of_speed[j], b = s->of_speed[k];
    return b > a || (b == a && s->screw[a].follows);
}

// ------------------------------------------------------------------------------------------ signals

static void add_coordinate(const state *s, const lwi_signal_leaf *leaf, double by)
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

static void add_speed(const state *s, const lwi_signal_leaf *leaf, double by)
{
    const lwi_node *node = &s->model->node[leaf->node];
    for (int j = 0; j < node->nv; j++)
        if (node->column[j] == leaf->component) s->row_v[node->iv + j] += by;
}

// A wrench at a point r about the world's origin.
static void from_point(const double f[6], const double r[3], double out[6])
{
    v3_cross(out + 3, r, f);
    v3_add(out + 3, out + 3, f + 3);
    v3_copy(out, f);
}

static void add_cross(double to[6], const double V[6], const double f[6])
{
    double c[6];
    force_cross(c, V, f);
    v6_add(to, to, c);
}

// Adds what the derivatives `pose`, `twist` of a body give to its node, and its loads at constant u.
static void add_body(const state *s, int body, const double pose[6], const double twist[6],
                     const double load[6])
{
    const int node = node_of(s->model, body), last = node < 0 ? -1 : s->tree->screws.last[node];
    if (last < 0) return;
    const double *V = s->tree->screws.screw[last].V, *x = s->f->way[last], *r = s->kin->r[body];
    lwi_outboard_sums *to = &s->f->outboard[node];
    double p[6], t[6], f[6];
    v6_copy(p, pose);
    v3_cross_add(p, twist, V + 3); // the twist changes by w x dr too
    from_point(twist, r, t);
    v6_add(to->t, to->t, t);
    add_cross(to->a, V, t);
    if (load) {
        v3_cross_add(p, load, x + 3); // x at the mass centre by its displacement
        from_point(load, r, f);
        v6_add(to->f, to->f, f);
        add_cross(to->a, x, f);
    }
    from_point(p, r, t);
    v6_add(to->a, to->a, t);
}

static void add_probe(const state *s, const lwi_probe *probe, double by)
{
    double by_pose[2][6], by_twist[2][6];
    lwi_probe_derivatives(probe, s->kin, by_pose, by_twist);
    for (int side = 0; side < probe->n; side++) {
        const int body = probe->body[side];
        if (!s->to) {
            for (int i = 0; i < 6; i++) by_pose[side][i] *= by, by_twist[side][i] *= by;
            add_body(s, body, by_pose[side], by_twist[side], NULL);
            continue;
        }
        for (int k = node_of(s->model, body); k >= 0; k = s->model->node[k].parent)
            for (int i = s->model->node[k].iv; i < s->model->node[k].iv + s->model->node[k].nv;
                 i++) {
                double pose[6], twist[6];
                move_body(s, body, i, pose, twist);
                s->row_q[i] += by * (v6_dot(by_pose[side], pose) + v6_dot(by_twist[side], twist));
                s->row_v[i] += by * v6_dot(by_twist[side], pose);
            }
    }
}

static void add_leaf_row(const state *s, const lwi_signal_leaf *leaf, double by)
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

static void clear_rows(const state *s)
{
    const size_t n = (size_t)s->model->tree_nv;
    memset(s->row_q, 0, n * sizeof *s->row_q);
    memset(s->row_v, 0, n * sizeof *s->row_v);
    memset(s->row_z, 0, (size_t)s->model->nstate * sizeof *s->row_z);
}

static lwi_now now_of(const state *s)
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

// Adds the rows of a signal times `by`.  @return false: it depends on nothing
static bool add_rows(const state *s, lw_signal signal, double by)
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

// The rows of a signal.  @return false: it depends on nothing
static bool find_rows(const state *s, lw_signal signal)
{
    if (signal.index <= 0) return false;
    clear_rows(s);
    return add_rows(s, signal, 1);
}

// Q of a signal's unit is in f->column; its rows are found.
static void subtract_signal(const state *s)
{
    const size_t n = (size_t)s->model->tree_nv, nz = (size_t)s->nz;
    const lwi_force_derivatives *f = s->f;
    for (size_t k = 0; k < n; k++) {
        const double c = f->column[k];
        if (c == 0) continue;
        for (size_t j = 0; j < n; j++) {
            s->to->by_q[k * n + j] -= c * f->row_q[j];
            s->to->by_v[k * n + j] -= c * f->row_v[j];
        }
        for (size_t i = 0; i < nz; i++) s->to->force_by_z[k * nz + i] += c * f->row_z[i];
    }
}

// The rates of a state, from its rows.
static void set_rates(const state *s, int at)
{
    const size_t n = (size_t)s->model->tree_nv, nz = (size_t)s->nz, row = (size_t)at;
    memcpy(s->to->rate_by_q + row * n, s->row_q, n * sizeof(double));
    memcpy(s->to->rate_by_v + row * n, s->row_v, n * sizeof(double));
    memcpy(s->to->rate_by_z + row * nz, s->row_z, nz * sizeof(double));
}

// The rates of the states of one function.
static void find_rates(const state *s, int function)
{
    const lwi_function *of = &s->model->function[function];
    const lwi_now now = now_of(s);
    double slope[LWI_SIGNAL_STATES];
    for (int k = 0; k < of->nstate; k++) {
        clear_rows(s);
        for (int i = s->f->first_leaf[function]; i < s->f->first_leaf[function + 1]; i++) {
            lwi_signal_states_rate_slopes(of, &now, &s->f->leaf[i].seed, slope);
            if (slope[k] != 0) add_leaf_row(s, &s->f->leaf[i], slope[k]);
        }
        set_rates(s, of->state + k);
    }
}

// ------------------------------------------------------------------------- forces on joint coordinates

// Adds the rows of a law of force i, with a state or -1, times `by`.
static void add_law_rows(const state *s, int i, const lwi_law_slopes *law, int z, double by)
{
    const lwi_force *force = &s->model->force[i];
    if (by == 0) return;
    for (int k = s->f->first_speed[i]; k < s->f->first_speed[i + 1]; k++) {
        const lwi_branch_speed *at = &s->f->branch[k];
        double share;
        force->type->length->speed(force->par, at->side, &share);
        if (at->speed < 0) continue;
        s->row_q[at->speed] += by * law->by_length * share;
        s->row_v[at->speed] += by * law->by_rate * share;
    }
    if (z >= 0) s->row_z[z] += by * law->by_state;
    for (int k = 0; k < LWI_COUNT(law->signal); k++)
        if (law->by_signal[k] != 0) add_rows(s, law->signal[k], by * law->by_signal[k]);
}

// What u does along its length.
static double power_of(const state *s, int i, const double *u)
{
    const lwi_force *force = &s->model->force[i];
    double power = 0;
    for (int k = s->f->first_speed[i]; k < s->f->first_speed[i + 1]; k++) {
        const lwi_branch_speed *at = &s->f->branch[k];
        double share;
        force->type->length->speed(force->par, at->side, &share);
        if (at->speed >= 0) power += share * u[at->speed];
    }
    return power;
}

static lwi_force_state law_state(const state *s)
{
    return (lwi_force_state){.kin = s->kin, .model = s->model, .t = s->t, .inputs = s->inputs};
}

static void subtract_law(const state *s, int i)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_state at = law_state(s);
    lwi_law_slopes law, rate;
    const int z = force->type->length->slopes(force->par, &at, &law, &rate);
    clear_rows(s);
    add_law_rows(s, i, &law, z, 1);
    memset(s->f->column, 0, (size_t)s->model->tree_nv * sizeof *s->f->column);
    for (int k = s->f->first_speed[i]; k < s->f->first_speed[i + 1]; k++) {
        const lwi_branch_speed *to = &s->f->branch[k];
        double share;
        force->type->length->speed(force->par, to->side, &share);
        if (to->speed >= 0) s->f->column[to->speed] += share;
    }
    subtract_signal(s);
    if (z < 0 || s->nz == 0) return;
    clear_rows(s);
    add_law_rows(s, i, &rate, z, 1);
    set_rates(s, z);
}

static void add_law_products(const state *s, int i, const lwi_force_rows *rows)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_state at = law_state(s);
    lwi_law_slopes law, rate;
    const int z = force->type->length->slopes(force->par, &at, &law, &rate);
    add_law_rows(s, i, &law, z, power_of(s, i, rows->u));
    if (z >= 0 && rows->w) add_law_rows(s, i, &rate, z, rows->w[z]);
}

// ------------------------------------------------------------------------------------------- forces

static void subtract_effort(const state *s, int i)
{
    const lwi_force *force = &s->model->force[i];
    const int speed = s->f->speed[i];
    if (speed < 0) return;
    const size_t at = (size_t)speed * (size_t)(s->model->tree_nv + 1);
    if (force->type != &lwi_force_joint_spring) {
        if (!force->type->rate) return;
        lwi_force_state at_state = {
            .kin = s->kin, .model = s->model, .t = s->t, .inputs = s->inputs};
        const double by_q = force->type->rate(force->par, &at_state);
        at_state.two = 1;
        s->to->by_q[at] += by_q;
        s->to->by_v[at] += force->type->rate(force->par, &at_state) - by_q;
        return;
    }
    const lwi_joint_spring_par *p = force->par;
    if (p->iq >= 0) s->to->by_q[at] += p->stiffness;
    s->to->by_v[at] += p->damping;
    const lw_signal signal[2] = {p->force, p->effort};
    for (int k = 0; k < 2; k++) {
        if (!find_rows(s, signal[k])) continue;
        memset(s->f->column, 0, (size_t)s->model->tree_nv * sizeof *s->f->column);
        s->f->column[speed] = 1;
        subtract_signal(s);
    }
}

/** A force between bodies at a state. */
typedef struct acting {
    const lwi_force_place *place;
    const lwi_branch_speed *branch;
    int n;             // speeds
    double load[2][6]; // of this force alone
} acting;

static void fill_changes(const state *s, const acting *a)
{
    lwi_motion_pair *by_q = s->f->change, *by_v = by_q + a->n;
    memset(by_q, 0, 2 * (size_t)a->n * sizeof *by_q);
    for (int i = 0; i < a->n; i++) {
        const int side = a->branch[i].side;
        move_body(s, a->place->body[side], a->branch[i].speed, by_q[i].pose[side],
                  by_q[i].twist[side]);
        v6_copy(s->f->moved[i], by_q[i].pose[side]);
        v6_copy(by_v[i].twist[side], by_q[i].pose[side]);
    }
}

// du_k . f of a body by a displacement of speed j, which moves its mass centre by `shift`.
static double rotate_load(const state *s, int body, int j, int k, const double shift[3],
                          const double load[6])
{
    const double *Sj = s->tree->screws.S[j], *Sk = s->tree->screws.S[k];
    double rotated[6], change[6], moved[3];
    if (carries(&s->tree->screws, j, k))
        motion_cross(rotated, Sj, Sk);
    else
        v6_zero(rotated);
    at_point(rotated, s->kin->r[body], change);
    v3_cross(moved, Sk + 3, shift);
    v3_add(change, change, moved);
    return v6_dot(change, load);
}

static void subtract_changes(const state *s, const acting *a)
{
    const size_t n = (size_t)s->model->tree_nv;
    for (int k = 0; k < a->n; k++) {
        const int side = a->branch[k].side;
        const double *u = s->f->moved[k];
        const size_t row = (size_t)a->branch[k].speed * n;
        for (int j = 0; j < a->n; j++) {
            const size_t at = row + (size_t)a->branch[j].speed;
            double by_q = v6_dot(u, s->f->load[j][side]);
            if (a->branch[j].side == side)
                by_q += rotate_load(s, a->place->body[side], a->branch[j].speed, a->branch[k].speed,
                                    s->f->moved[j], a->load[side]);
            s->to->by_q[at] -= by_q;
            s->to->by_v[at] -= v6_dot(u, s->f->load[a->n + j][side]);
        }
    }
}

static void subtract_signals(const state *s, const lwi_force *force, const lwi_force_state *at,
                             const acting *a)
{
    lwi_force_signal signal[LWI_FORCE_SIGNALS];
    const int n = force->type->signals ? force->type->signals(force->par, at, signal) : 0;
    for (int i = 0; i < n; i++) {
        if (!find_rows(s, signal[i].signal)) continue;
        memset(s->f->column, 0, (size_t)s->model->tree_nv * sizeof *s->f->column);
        for (int k = 0; k < a->n; k++)
            s->f->column[a->branch[k].speed] +=
                v6_dot(s->f->moved[k], signal[i].load[a->branch[k].side]);
        subtract_signal(s);
    }
}

// The loads of one force on its bodies.
static void loads_of(const state *s, const lwi_force *force, const lwi_force_place *place,
                     lwi_loads *loads, double load[2][6])
{
    for (int b = 0; b < place->n; b++) v6_zero(loads->wrench[place->body[b]]);
    force->type->apply(s->model, force->par, s->kin, s->t, s->inputs, loads);
    for (int b = 0; b < 2; b++) { // at most two
        if (b >= place->n) break;
        v6_copy(load[b], loads->wrench[place->body[b]]);
        v6_zero(loads->wrench[place->body[b]]);
    }
}

static void subtract_force(const state *s, int i, lwi_loads *loads)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_place place = lwi_force_acts_on(force);
    acting a = {.place = &place,
                .branch = s->f->branch + s->f->first_speed[i],
                .n = s->f->first_speed[i + 1] - s->f->first_speed[i]};
    if (a.n == 0) return;
    loads_of(s, force, &place, loads, a.load);
    const lwi_force_state at = {.kin = s->kin,
                                .load = {a.load[0], a.load[1]},
                                .model = s->model,
                                .t = s->t,
                                .inputs = s->inputs};
    fill_changes(s, &a);
    force->type->differentiate(force->par, &at, 2 * a.n, s->f->change, s->f->load);
    subtract_changes(s, &a);
    subtract_signals(s, force, &at, &a);
}

// ------------------------------------------------------------------------------- forces along paths

/** One of them at a state. */
typedef struct along_path {
    const lwi_force *force;
    const lwi_force_length *path;
    const lwi_branch_speed *branch;
    int n, places; // of the branches; bodies of the path
    lwi_force_state at;
    lwi_law_slopes law;
} along_path;

static int place_of(const along_path *a, int k)
{
    return a->path->body(a->force->par, k);
}

static along_path begin_path(const state *s, int i)
{
    along_path a = {.force = &s->model->force[i],
                    .path = s->model->force[i].type->length,
                    .branch = s->f->branch + s->f->first_speed[i],
                    .n = s->f->first_speed[i + 1] - s->f->first_speed[i],
                    .at = law_state(s)};
    lwi_law_slopes rate;
    while (place_of(&a, a.places) >= 0) a.places++;
    a.path->slopes(a.force->par, &a.at, &a.law, &rate);
    a.path->unit_loads(a.force->par, s->kin, s->f->place.unit);
    return a;
}

// The loads by a displacement of a speed, or by a change of it.
static void change_path(const state *s, const along_path *a, int speed, bool displaced)
{
    const size_t bytes = (size_t)a->places * sizeof *s->f->place.pose;
    memset(s->f->place.pose, 0, bytes);
    memset(s->f->place.twist, 0, bytes);
    for (int k = 0; k < a->n; k++) {
        if (a->branch[k].speed != speed) continue;
        const int side = a->branch[k].side;
        if (displaced) v6_copy(s->f->place.pose[side], s->f->moved[k]);
        v6_copy(s->f->place.twist[side], displaced ? s->f->rotation[k] : s->f->moved[k]);
    }
    a->path->differentiate(a->force->par, &a->at, &a->law, (const double(*)[6])s->f->place.pose,
                           (const double(*)[6])s->f->place.twist, s->f->place.load);
}

static void subtract_path_column(const state *s, const along_path *a, int speed)
{
    const size_t n = (size_t)s->model->tree_nv;
    double *const matrix[2] = {s->to->by_q, s->to->by_v};
    for (int m = 0; m < 2; m++) {
        change_path(s, a, speed, m == 0);
        for (int k = 0; k < a->n; k++)
            matrix[m][(size_t)a->branch[k].speed * n + (size_t)speed] -=
                v6_dot(s->f->moved[k], s->f->place.load[a->branch[k].side]);
    }
    for (int j = 0; j < a->n; j++)
        for (int k = 0; a->branch[j].speed == speed && k < a->n; k++) {
            const int side = a->branch[k].side, row = a->branch[k].speed;
            if (a->branch[j].side != side) continue;
            s->to->by_q[(size_t)row * n + (size_t)speed] -=
                a->law.value * rotate_load(s, place_of(a, side), speed, row, s->f->moved[j],
                                           s->f->place.unit[side]);
        }
}

static void subtract_path(const state *s, int i)
{
    const along_path a = begin_path(s, i);
    for (int k = 0; k < a.n; k++)
        move_body(s, place_of(&a, a.branch[k].side), a.branch[k].speed, s->f->moved[k],
                  s->f->rotation[k]);
    for (int k = 0; k < a.n; k++) {
        int first = 0;
        while (a.branch[first].speed != a.branch[k].speed) first++;
        if (first == k) subtract_path_column(s, &a, a.branch[k].speed);
    }
    for (int m = 0; m < LWI_COUNT(a.law.signal); m++) {
        if (a.law.by_signal[m] == 0) continue;
        clear_rows(s);
        if (!add_rows(s, a.law.signal[m], a.law.by_signal[m])) continue;
        memset(s->f->column, 0, (size_t)s->model->tree_nv * sizeof *s->f->column);
        for (int k = 0; k < a.n; k++)
            s->f->column[a.branch[k].speed] +=
                v6_dot(s->f->moved[k], s->f->place.unit[a.branch[k].side]);
        subtract_signal(s);
    }
}

// Derivatives of the power of the loads at constant x by the motion of body k, along all directions.
static void pull_path(const state *s, const along_path *a, int k, const double (*x)[6],
                      double pose[6], double twist[6])
{
    const size_t bytes = (size_t)a->places * sizeof *s->f->place.pose;
    memset(s->f->place.pose, 0, bytes);
    memset(s->f->place.twist, 0, bytes);
    for (int i = 0; i < 12; i++) {
        double *unit = (i < 6 ? s->f->place.pose : s->f->place.twist)[k] + i % 6, sum = 0;
        *unit = 1;
        a->path->differentiate(a->force->par, &a->at, &a->law, (const double(*)[6])s->f->place.pose,
                               (const double(*)[6])s->f->place.twist, s->f->place.load);
        *unit = 0;
        for (int m = 0; m < a->places; m++) sum += v6_dot(x[m], s->f->place.load[m]);
        (i < 6 ? pose : twist)[i % 6] = sum;
    }
}

static void add_path_products(const state *s, int i)
{
    const along_path a = begin_path(s, i);
    const lwi_screws *screws = &s->tree->screws;
    double power = 0, (*x)[6] = s->f->place.x;
    if (a.n == 0) return;
    for (int k = 0; k < a.places; k++) {
        const int node = node_of(s->model, place_of(&a, k)),
                  last = node < 0 ? -1 : screws->last[node];
        v6_zero(x[k]);
        if (last >= 0) at_point(s->f->way[last], s->kin->r[place_of(&a, k)], x[k]);
        power += v6_dot(x[k], s->f->place.unit[k]);
    }
    for (int k = 0; k < a.places; k++) {
        double pose[6], twist[6], load[6];
        if (node_of(s->model, place_of(&a, k)) < 0) continue;
        pull_path(s, &a, k, (const double(*)[6])x, pose, twist);
        for (int m = 0; m < 6; m++) load[m] = a.law.value * s->f->place.unit[k][m];
        add_body(s, place_of(&a, k), pose, twist, load);
    }
    for (int m = 0; power != 0 && m < LWI_COUNT(a.law.signal); m++)
        if (a.law.by_signal[m] != 0) add_rows(s, a.law.signal[m], power * a.law.by_signal[m]);
}

void lwi_force_derivatives_subtract(const lw_model *model, lwi_force_derivatives *f,
                                    const lwi_tree_derivatives *tree, const lwi_tree_work *work,
                                    double t, const double *q, const double *v,
                                    const double *inputs, int nz, const lwi_force_sums *to)
{
    const lwi_kin kin = lwi_tree_kin(work);
    const state s = {model, f, tree, &kin, t, q, v, inputs, nz, f->row_q, f->row_v, f->row_z, to};
    lwi_loads loads = work->loads;
    LWI_ASSERT(f->exact);
    if (nz) memset(to->force_by_z, 0, (size_t)(model->tree_nv * nz) * sizeof(double));
    for (int i = 0; i < model->nforce; i++) {
        if (model->force[i].type == &lwi_force_signal_states) continue;
        if (law_of(&model->force[i]))
            subtract_law(&s, i);
        else if (path_of(&model->force[i]))
            subtract_path(&s, i);
        else if (lwi_force_acts_on(&model->force[i]).iv >= 0)
            subtract_effort(&s, i);
        else
            subtract_force(&s, i, &loads);
    }
    for (int i = 0; nz && i < model->desc.nfunction; i++)
        if (model->function[i].nstate > 0) find_rates(&s, i);
}

// ----------------------------------------------------------------------------------------- products

// Sums of u S outward.
static void find_ways(const state *s, const double *u)
{
    const lwi_screws *screws = &s->tree->screws;
    for (int i = 0; i < screws->n; i++) {
        const lwi_screw *e = &screws->screw[i];
        double own[6] = {0};
        for (int j = e->speed; e->speed >= 0 && j < e->speed + e->nspeed; j++)
            v6_axpy(own, u[j], screws->S[j]);
        if (e->before >= 0)
            v6_copy(s->f->until[i], s->f->way[e->before]);
        else
            v6_zero(s->f->until[i]);
        v6_add(s->f->way[i], s->f->until[i], own);
        if (!e->follows) v6_copy(s->f->until[i], s->f->way[i]);
    }
}

static void add_effort_products(const state *s, int i, const double *u)
{
    const lwi_force *force = &s->model->force[i];
    const int speed = s->f->speed[i];
    if (speed < 0 || u[speed] == 0) return;
    if (force->type != &lwi_force_joint_spring) {
        if (!force->type->rate) return;
        lwi_force_state at = {.kin = s->kin, .model = s->model, .t = s->t, .inputs = s->inputs};
        const double by_q = force->type->rate(force->par, &at);
        at.two = 1;
        s->row_q[speed] -= by_q * u[speed];
        s->row_v[speed] -= (force->type->rate(force->par, &at) - by_q) * u[speed];
        return;
    }
    const lwi_joint_spring_par *p = force->par;
    if (p->iq >= 0) s->row_q[speed] -= p->stiffness * u[speed];
    s->row_v[speed] -= p->damping * u[speed];
    add_rows(s, p->force, u[speed]);
    add_rows(s, p->effort, u[speed]);
}

// As lwi_force_type.pull_back, by changes along all directions.
static void pull_units(const state *s, const lwi_force *force, const lwi_force_state *at,
                       int bodies, const double x[2][6], lwi_motion_pair *by)
{
    const int n = 12 * bodies;
    lwi_motion_pair *change = s->f->change;
    memset(change, 0, (size_t)n * sizeof *change);
    for (int i = 0; i < n; i++)
        *((i % 12 < 6 ? change[i].pose : change[i].twist)[i / 12] + i % 6) = 1;
    force->type->differentiate(force->par, at, n, change, s->f->load);
    for (int i = 0; i < n; i++) {
        double sum = v6_dot(x[0], s->f->load[i][0]);
        if (bodies > 1) sum += v6_dot(x[1], s->f->load[i][1]);
        (i % 12 < 6 ? by->pose : by->twist)[i / 12][i % 6] = sum;
    }
}

static void add_force_products(const state *s, int i, lwi_loads *loads)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_place place = lwi_force_acts_on(force);
    const lwi_screws *screws = &s->tree->screws;
    double load[2][6], x[2][6] = {{0}};
    lwi_force_signal signal[LWI_FORCE_SIGNALS];
    lwi_motion_pair by;
    if (s->f->first_speed[i + 1] == s->f->first_speed[i]) return;
    loads_of(s, force, &place, loads, load);
    const lwi_force_state at = {.kin = s->kin,
                                .load = {load[0], load[1]},
                                .model = s->model,
                                .t = s->t,
                                .inputs = s->inputs};
    for (int b = 0; b < place.n; b++) {
        const int node = node_of(s->model, place.body[b]),
                  last = node < 0 ? -1 : screws->last[node];
        if (last >= 0) at_point(s->f->way[last], s->kin->r[place.body[b]], x[b]);
    }
    if (force->type->pull_back)
        force->type->pull_back(force->par, &at, (const double(*)[6])x, &by);
    else
        pull_units(s, force, &at, place.n, (const double(*)[6])x, &by);
    for (int b = 0; b < place.n; b++) add_body(s, place.body[b], by.pose[b], by.twist[b], load[b]);
    const int n = force->type->signals ? force->type->signals(force->par, &at, signal) : 0;
    for (int k = 0; k < n; k++) {
        double power = 0;
        for (int b = 0; b < place.n; b++) power += v6_dot(x[b], signal[k].load[b]);
        if (power != 0) add_rows(s, signal[k].signal, power);
    }
}

static void add_rate_products(const state *s, int function, const double *w)
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

static void add_outboard(const state *s)
{
    const lwi_screws *screws = &s->tree->screws;
    for (int k = s->model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &s->model->node[k];
        const lwi_outboard_sums *d = &s->f->outboard[k];
        for (int j = node->iv; j < node->iv + node->nv; j++) {
            double c[6];
            force_cross(c, s->f->until[screws->of_speed[j]], d->f);
            s->row_q[j] += v6_dot(screws->S[j], d->a) - v6_dot(screws->S[j], c) +
                           v6_dot(s->tree->rate[j], d->t);
            s->row_v[j] += v6_dot(screws->S[j], d->t);
        }
        if (node->parent < 0) continue;
        lwi_outboard_sums *to = &s->f->outboard[node->parent];
        v6_add(to->a, to->a, d->a);
        v6_add(to->t, to->t, d->t);
        v6_add(to->f, to->f, d->f);
    }
}

void lwi_force_products_add(const lw_model *model, lwi_force_derivatives *f,
                            const lwi_tree_derivatives *tree, const lwi_tree_work *work, double t,
                            const double *q, const double *v, const double *inputs,
                            const lwi_force_rows *rows, double *by_q, double *by_v, double *by_z)
{
    const lwi_kin kin = lwi_tree_kin(work);
    const state s = {model, f, tree, &kin, t, q, v, inputs, 0, by_q, by_v, by_z, NULL};
    lwi_loads loads = work->loads;
    LWI_ASSERT(f->exact);
    find_ways(&s, rows->u);
    memset(f->outboard, 0, (size_t)model->nnode * sizeof *f->outboard);
    for (int i = 0; i < model->nforce; i++) {
        if (model->force[i].type == &lwi_force_signal_states) continue;
        if (law_of(&model->force[i]))
            add_law_products(&s, i, rows);
        else if (path_of(&model->force[i]))
            add_path_products(&s, i);
        else if (lwi_force_acts_on(&model->force[i]).iv >= 0)
            add_effort_products(&s, i, rows->u);
        else
            add_force_products(&s, i, &loads);
    }
    for (int i = 0; rows->w && i < model->desc.nfunction; i++)
        if (model->function[i].nstate > 0) add_rate_products(&s, i, rows->w);
    add_outboard(&s);
}
