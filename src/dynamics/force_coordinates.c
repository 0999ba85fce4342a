// force_coordinates.c -- forces on joint coordinates: on one, and along a sum of them.
#include "dynamics/force_terms.h"
#include "dynamics/state_derivatives.h"

// ---------------------------------------------------------------------------------- one coordinate

// Has it derivatives, and does it act on a joint of the tree?
static bool is_known(const lw_model *model, const lwi_force_type *type, int iv)
{
    if (type != &lwi_force_joint_spring && type != &lwi_force_joint_stop &&
        type != &lwi_force_joint_friction && type != &lwi_force_joint_rotor)
        return false;
    return lwi_is_speed_of_tree(model, iv);
}

static void collect_effort(lwi_force_branches *c, int i)
{
    const lwi_force *force = &c->model->force[i];
    const int iv = lwi_force_acts_on(force).iv;
    if (!is_known(c->model, force->type, iv)) c->f->exact = false;
    if (c->store) c->f->speed[i] = lwi_tree_speed(c->model, iv);
}

static void subtract_effort(const lwi_force_terms *s, int i)
{
    const lwi_force *force = &s->model->force[i];
    const int speed = s->f->speed[i];
    if (speed < 0) return;
    const size_t at = (size_t)speed * (size_t)(s->model->tree_nv + 1);
    if (force->type != &lwi_force_joint_spring) {
        if (!force->type->rate) return;
        lwi_force_state state = lwi_force_state_at(s);
        const double by_q = force->type->rate(force->par, &state);
        state.two = 1;
        s->to->by_q[at] += by_q;
        s->to->by_v[at] += force->type->rate(force->par, &state) - by_q;
        return;
    }
    const lwi_joint_spring_par *p = force->par;
    if (p->iq >= 0) s->to->by_q[at] += p->stiffness;
    s->to->by_v[at] += p->damping;
    const lw_signal signal[2] = {p->force, p->effort};
    for (int k = 0; k < 2; k++) {
        if (!lwi_force_find_rows(s, signal[k])) continue;
        s->f->column[speed] = 1;
        lwi_force_subtract_signal(s);
    }
}

static void add_effort_products(const lwi_force_terms *s, int i, const lwi_force_rows *rows)
{
    const lwi_force *force = &s->model->force[i];
    const double *u = rows->u;
    const int speed = s->f->speed[i];
    if (speed < 0 || u[speed] == 0) return;
    if (force->type != &lwi_force_joint_spring) {
        if (!force->type->rate) return;
        lwi_force_state at = lwi_force_state_at(s);
        const double by_q = force->type->rate(force->par, &at);
        at.two = 1;
        s->row_q[speed] -= by_q * u[speed];
        s->row_v[speed] -= (force->type->rate(force->par, &at) - by_q) * u[speed];
        return;
    }
    const lwi_joint_spring_par *p = force->par;
    if (p->iq >= 0) s->row_q[speed] -= p->stiffness * u[speed];
    s->row_v[speed] -= p->damping * u[speed];
    lwi_force_add_rows(s, p->force, u[speed]);
    lwi_force_add_rows(s, p->effort, u[speed]);
}

const lwi_force_kind lwi_force_kind_coordinate = {collect_effort, subtract_effort,
                                                  add_effort_products};

// ----------------------------------------------------------------------------- sums of coordinates

// Its coordinates, `side` of them the number of each.
static void collect_sum(lwi_force_branches *c, int i)
{
    const lwi_force *force = &c->model->force[i];
    const lwi_force_length *length = force->type->length;
    double share;
    int iv;
    for (int k = 0; (iv = length->speed(force->par, k, &share)) >= 0; k++) {
        if (!lwi_is_speed_of_tree(c->model, iv)) c->f->exact = false;
        lwi_force_add_speed(c, lwi_tree_speed(c->model, iv), k);
    }
    if (length->limited(force->par)) c->f->kinked = true;
}

// Adds the rows of a law of force i, with a state or -1, times `by`.
static void add_law_rows(const lwi_force_terms *s, int i, const lwi_law_slopes *law, int z,
                         double by)
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
        if (law->by_signal[k] != 0) lwi_force_add_rows(s, law->signal[k], by * law->by_signal[k]);
}

// What u does along its length.
static double power_of(const lwi_force_terms *s, int i, const double *u)
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

static void subtract_law(const lwi_force_terms *s, int i)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_state at = lwi_force_state_at(s);
    lwi_law_slopes law, rate;
    const int z = force->type->length->slopes(force->par, &at, &law, &rate);
    lwi_force_clear_rows(s);
    add_law_rows(s, i, &law, z, 1);
    for (int k = s->f->first_speed[i]; k < s->f->first_speed[i + 1]; k++) {
        const lwi_branch_speed *to = &s->f->branch[k];
        double share;
        force->type->length->speed(force->par, to->side, &share);
        if (to->speed >= 0) s->f->column[to->speed] += share;
    }
    lwi_force_subtract_signal(s);
    if (z < 0 || s->nz == 0) return;
    lwi_force_clear_rows(s);
    add_law_rows(s, i, &rate, z, 1);
    lwi_force_set_rates(s, z);
}

static void add_law_products(const lwi_force_terms *s, int i, const lwi_force_rows *rows)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_state at = lwi_force_state_at(s);
    lwi_law_slopes law, rate;
    const int z = force->type->length->slopes(force->par, &at, &law, &rate);
    add_law_rows(s, i, &law, z, power_of(s, i, rows->u));
    if (z >= 0 && rows->w) add_law_rows(s, i, &rate, z, rows->w[z]);
}

const lwi_force_kind lwi_force_kind_sum = {collect_sum, subtract_law, add_law_products};
