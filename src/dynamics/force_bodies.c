// force_bodies.c -- forces on one body or between two.
#include "dynamics/force_terms.h"

#include <string.h>

static void collect(lwi_force_branches *c, int i)
{
    const lw_model *model = c->model;
    const lwi_force *force = &model->force[i];
    const lwi_force_place place = lwi_force_acts_on(force);
    if (!force->type->differentiate) {
        c->f->exact = false;
        return;
    }
    const int a = lwi_force_node(model, place.body[0]);
    if (place.n == 1) {
        lwi_force_add_branch(c, a, -1, 0);
        return;
    }
    const int b = lwi_force_node(model, place.body[1]), common = lwi_tree_common_node(model, a, b);
    lwi_force_add_branch(c, a, common, 0);
    lwi_force_add_branch(c, b, common, 1);
}

/** A force between bodies at a state. */
typedef struct acting {
    const lwi_force_place *place;
    const lwi_branch_speed *branch;
    int n;             // speeds
    double load[2][6]; // of this force alone
} acting;

static void fill_changes(const lwi_force_terms *s, const acting *a)
{
    lwi_motion_pair *by_q = s->f->change, *by_v = by_q + a->n;
    memset(by_q, 0, 2 * (size_t)a->n * sizeof *by_q);
    for (int i = 0; i < a->n; i++) {
        const int side = a->branch[i].side;
        lwi_force_move_body(s, a->place->body[side], a->branch[i].speed, by_q[i].pose[side],
                            by_q[i].twist[side]);
        v6_copy(s->f->moved[i], by_q[i].pose[side]);
        v6_copy(by_v[i].twist[side], by_q[i].pose[side]);
    }
}

static void subtract_changes(const lwi_force_terms *s, const acting *a)
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
                by_q += lwi_force_rotate_load(s, a->place->body[side], a->branch[j].speed,
                                              a->branch[k].speed, s->f->moved[j], a->load[side]);
            s->to->by_q[at] -= by_q;
            s->to->by_v[at] -= v6_dot(u, s->f->load[a->n + j][side]);
        }
    }
}

static void subtract_signals(const lwi_force_terms *s, const lwi_force *force,
                             const lwi_force_state *at, const acting *a)
{
    lwi_force_signal signal[LWI_FORCE_SIGNALS];
    const int n = force->type->signals ? force->type->signals(force->par, at, signal) : 0;
    for (int i = 0; i < n; i++) {
        if (!lwi_force_find_rows(s, signal[i].signal)) continue;
        for (int k = 0; k < a->n; k++)
            s->f->column[a->branch[k].speed] +=
                v6_dot(s->f->moved[k], signal[i].load[a->branch[k].side]);
        lwi_force_subtract_signal(s);
    }
}

// The loads of one force on its bodies.
static void loads_of(const lwi_force_terms *s, const lwi_force *force, const lwi_force_place *place,
                     double load[2][6])
{
    lwi_loads *loads = s->loads;
    for (int b = 0; b < place->n; b++) v6_zero(loads->wrench[place->body[b]]);
    force->type->apply(s->model, force->par, s->kin, s->t, s->inputs, loads);
    for (int b = 0; b < 2; b++) { // at most two
        if (b >= place->n) break;
        v6_copy(load[b], loads->wrench[place->body[b]]);
        v6_zero(loads->wrench[place->body[b]]);
    }
}

static lwi_force_state state_at(const lwi_force_terms *s, const double load[2][6])
{
    lwi_force_state at = lwi_force_state_at(s);
    for (int b = 0; b < 2; b++) at.load[b] = load[b];
    return at;
}

static void subtract_force(const lwi_force_terms *s, int i)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_place place = lwi_force_acts_on(force);
    acting a = {.place = &place,
                .branch = s->f->branch + s->f->first_speed[i],
                .n = s->f->first_speed[i + 1] - s->f->first_speed[i]};
    if (a.n == 0) return;
    loads_of(s, force, &place, a.load);
    const lwi_force_state at = state_at(s, a.load);
    fill_changes(s, &a);
    force->type->differentiate(force->par, &at, 2 * a.n, s->f->change, s->f->load);
    subtract_changes(s, &a);
    subtract_signals(s, force, &at, &a);
}

// As lwi_force_type.pull_back, by changes along all directions.
static void pull_units(const lwi_force_terms *s, const lwi_force *force, const lwi_force_state *at,
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

static void add_force_products(const lwi_force_terms *s, int i, const lwi_force_rows *rows)
{
    const lwi_force *force = &s->model->force[i];
    const lwi_force_place place = lwi_force_acts_on(force);
    double load[2][6], x[2][6] = {{0}};
    lwi_force_signal signal[LWI_FORCE_SIGNALS];
    lwi_motion_pair by;
    (void)rows; // in s->f->way
    if (s->f->first_speed[i + 1] == s->f->first_speed[i]) return;
    loads_of(s, force, &place, load);
    const lwi_force_state at = state_at(s, load);
    for (int b = 0; b < place.n; b++) lwi_force_way_at(s, place.body[b], x[b]);
    if (force->type->pull_back)
        force->type->pull_back(force->par, &at, (const double(*)[6])x, &by);
    else
        pull_units(s, force, &at, place.n, (const double(*)[6])x, &by);
    for (int b = 0; b < place.n; b++)
        lwi_force_add_body(s, place.body[b], by.pose[b], by.twist[b], load[b]);
    const int n = force->type->signals ? force->type->signals(force->par, &at, signal) : 0;
    for (int k = 0; k < n; k++) {
        double power = 0;
        for (int b = 0; b < place.n; b++) power += v6_dot(x[b], signal[k].load[b]);
        if (power != 0) lwi_force_add_rows(s, signal[k].signal, power);
    }
}

const lwi_force_kind lwi_force_kind_bodies = {collect, subtract_force, add_force_products};
