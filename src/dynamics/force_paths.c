// force_paths.c -- forces along paths over bodies.
#include "dynamics/force_terms.h"

#include <string.h>

// The speeds that move its parts against each other.
static void collect(lwi_force_branches *c, int i)
{
    const lw_model *model = c->model;
    const lwi_force *force = &model->force[i];
    const lwi_force_length *path = force->type->length;
    int common = lwi_force_node(model, path->body(force->par, 0)), n = 0;
    for (int body; (body = path->body(force->par, n)) >= 0; n++)
        common = lwi_tree_common_node(model, common, lwi_force_node(model, body));
    for (int k = 0; k < n; k++)
        lwi_force_add_branch(c, lwi_force_node(model, path->body(force->par, k)), common, k);
    if (n > c->nplace) c->nplace = n;
    if (path->limited(force->par)) c->f->kinked = true;
}

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

static along_path begin_path(const lwi_force_terms *s, int i)
{
    along_path a = {.force = &s->model->force[i],
                    .path = s->model->force[i].type->length,
                    .branch = s->f->branch + s->f->first_speed[i],
                    .n = s->f->first_speed[i + 1] - s->f->first_speed[i],
                    .at = lwi_force_state_at(s)};
    lwi_law_slopes rate;
    while (place_of(&a, a.places) >= 0) a.places++;
    a.path->slopes(a.force->par, &a.at, &a.law, &rate);
    a.path->unit_loads(a.force->par, s->kin, s->f->place.unit);
    return a;
}

// The loads by a displacement of a speed, or by a change of it.
static void change_path(const lwi_force_terms *s, const along_path *a, int speed, bool displaced)
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

static void subtract_path_column(const lwi_force_terms *s, const along_path *a, int speed)
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
                a->law.value * lwi_force_rotate_load(s, place_of(a, side), speed, row,
                                                     s->f->moved[j], s->f->place.unit[side]);
        }
}

static void subtract_path(const lwi_force_terms *s, int i)
{
    const along_path a = begin_path(s, i);
    for (int k = 0; k < a.n; k++)
        lwi_force_move_body(s, place_of(&a, a.branch[k].side), a.branch[k].speed, s->f->moved[k],
                            s->f->rotation[k]);
    for (int k = 0; k < a.n; k++) {
        int first = 0;
        while (a.branch[first].speed != a.branch[k].speed) first++;
        if (first == k) subtract_path_column(s, &a, a.branch[k].speed);
    }
    for (int m = 0; m < LWI_COUNT(a.law.signal); m++) {
        if (a.law.by_signal[m] == 0) continue;
        lwi_force_clear_rows(s);
        if (!lwi_force_add_rows(s, a.law.signal[m], a.law.by_signal[m])) continue;
        for (int k = 0; k < a.n; k++)
            s->f->column[a.branch[k].speed] +=
                v6_dot(s->f->moved[k], s->f->place.unit[a.branch[k].side]);
        lwi_force_subtract_signal(s);
    }
}

// Products  x.f  of the loads f = value g, g = dL'/dV those of a unit force, with L' = g.V:
//
//     d(x.f) = (value x + x.g by_rate V).dg + x.g (by_length g.pose + by_rate g.twist)
//
// A part of the path changes g of those next to it alone, up to the points on both sides of an obstacle: parts that are
// COLOURS apart are moved at once.                                                             Cost: O(bodies of the path)
enum { REACH = 2, COLOURS = 2 * REACH + 1 };

// by [places] := derivatives of x.g by the poses, at constant x.
static void pull_path(const lwi_force_terms *s, const along_path *a, const double (*x)[6],
                      double (*by)[6])
{
    const lwi_law_slopes unit = {.value = 1};
    const size_t bytes = (size_t)a->places * sizeof *s->f->place.pose;
    memset(s->f->place.pose, 0, bytes);
    memset(s->f->place.twist, 0, bytes);
    for (int move = 0; move < 6 * COLOURS; move++) {
        const int colour = move / 6, i = move % 6;
        for (int k = colour; k < a->places; k += COLOURS) s->f->place.pose[k][i] = 1;
        a->path->differentiate(a->force->par, &a->at, &unit, (const double(*)[6])s->f->place.pose,
                               (const double(*)[6])s->f->place.twist, s->f->place.load);
        for (int k = colour; k < a->places; k += COLOURS) {
            const int end = k + REACH < a->places ? k + REACH + 1 : a->places;
            s->f->place.pose[k][i] = by[k][i] = 0;
            for (int m = k > REACH ? k - REACH : 0; m < end; m++)
                by[k][i] += v6_dot(x[m], s->f->place.load[m]);
        }
    }
}

static void add_path_products(const lwi_force_terms *s, int i, const lwi_force_rows *rows)
{
    const along_path a = begin_path(s, i);
    double power = 0, (*x)[6] = s->f->place.x, (*unit)[6] = s->f->place.unit;
    (void)rows; // in s->f->way
    if (a.n == 0) return;
    for (int k = 0; k < a.places; k++) {
        lwi_force_way_at(s, place_of(&a, k), x[k]);
        power += v6_dot(x[k], unit[k]);
    }
    for (int k = 0; k < a.places; k++) {
        const int body = place_of(&a, k);
        for (int m = 0; m < 6; m++)
            x[k][m] = a.law.value * x[k][m] +
                      power * a.law.by_rate * (m < 3 ? s->kin->v[body] : s->kin->w[body])[m % 3];
    }
    pull_path(s, &a, (const double(*)[6])x, s->f->place.by);
    for (int k = 0; k < a.places; k++) {
        double *pose = s->f->place.by[k], twist[6], load[6];
        v6_axpy(pose, power * a.law.by_length, unit[k]);
        for (int m = 0; m < 6; m++)
            twist[m] = power * a.law.by_rate * unit[k][m], load[m] = a.law.value * unit[k][m];
        lwi_force_add_body(s, place_of(&a, k), pose, twist, load);
    }
    for (int m = 0; power != 0 && m < LWI_COUNT(a.law.signal); m++)
        if (a.law.by_signal[m] != 0)
            lwi_force_add_rows(s, a.law.signal[m], power * a.law.by_signal[m]);
}

const lwi_force_kind lwi_force_kind_path = {collect, subtract_path, add_path_products};
