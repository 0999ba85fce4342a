// number_gradient.c -- derivatives of u'F + nu'C by the numbers of a model.
//
// Products with a fixed screw s of crosses are those of forces:  f.(V x s) = -s.(V x* f).
#include "dynamics/number_gradient.h"

#include "base/assert.h"
#include "model/signals/functions.h"
#include "spatial/motion.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- numbers

// The node and column of speed iv of the joint arrays; false: not a free speed of the tree.
static bool find_spring(const lw_model *model, const lwi_force *force, lwi_number_spring *out)
{
    const lwi_joint_spring_par *p = force->par;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int j = 0; node->joint >= 0 && j < node->nv; j++) {
            if (model->joint[node->joint].iv + node->column[j] != p->iv) continue;
            out->node = k;
            out->speed = node->iv + j;
            out->column = node->column[j];
            out->coordinate = p->iq >= 0;
            return true;
        }
    }
    return false;
}

// ----------------------------------------------------------------------------- forces and formulas

static lw_status create_loads(const lw_model *model, lwi_arena *arena, lwi_model_numbers *n)
{
    n->loads = LWI_PUSH(arena, lwi_number_loads, model->nforce);
    if (!n->loads) return LW_ERR_MEMORY;
    for (int i = 0; i < model->nforce; i++) {
        if (!model->force[i].type->by_numbers) continue;
        n->loads[n->nloads++] = (lwi_number_loads){i, n->n};
        n->n += model->force[i].type->nload_number;
    }
    return LW_OK;
}

// Counts the numbers of formulas; or stores them.
static int list_constants(const lw_model *model, lwi_number_constant *to)
{
    int count = 0;
    for (int i = 0; i < model->desc.nfunction; i++)
        for (int k = 0; k < LWI_FUNCTION_FORMULAS; k++) {
            const lwi_formula *f = lwi_function_formula(&model->function[i], k);
            for (int c = 0; f && c < f->ncode; c++) {
                if (f->code[c].operation != LWI_FORMULA_NUMBER) continue;
                if (to) to[count] = (lwi_number_constant){i, k, c};
                count++;
            }
        }
    return count;
}

// Functions of which the value depends on that of function i, itself included.
static void mark_reached(const lw_model *model, int i, bool *on)
{
    const lwi_function *f = &model->function[i];
    if (on[i]) return;
    on[i] = true;
    for (int k = 0; f->desc.type == LW_FUNCTION_SUM && k < f->desc.nterm; k++)
        if (f->desc.terms[k].index > 0) mark_reached(model, f->desc.terms[k].index - 1, on);
    for (int k = 0; k < LWI_FUNCTION_FORMULAS; k++) {
        const lwi_formula *formula = lwi_function_formula(f, k);
        for (int c = 0; formula && c < formula->nname; c++)
            if (formula->name[c].kind == LWI_READ_SIGNAL && formula->name[c].index > 0)
                mark_reached(model, formula->name[c].index - 1, on);
    }
}

static int list_reached(const lw_model *model, const lwi_model_numbers *n, bool *on, int *to)
{
    const size_t count = (size_t)model->desc.nfunction;
    int used = 0;
    for (int i = 0; i < model->desc.nfunction; i++) {
        memset(on, 0, count * sizeof *on);
        mark_reached(model, i, on);
        if (to) n->first_reached[i] = used;
        for (int c = 0; c < n->nconstant; c++) {
            if (!on[n->constant[c].function]) continue;
            if (to) to[used] = c;
            used++;
        }
    }
    if (to) n->first_reached[count] = used;
    return used;
}

static lw_status create_constants(const lw_model *model, lwi_arena *arena, lwi_model_numbers *n)
{
    n->constants = n->n;
    n->nconstant = list_constants(model, NULL);
    n->n += n->nconstant;
    n->constant = LWI_PUSH(arena, lwi_number_constant, n->nconstant);
    n->used = LWI_PUSH(arena, bool, n->nconstant);
    n->first_reached = LWI_PUSH(arena, int, model->desc.nfunction + 1);
    bool *on = LWI_PUSH(arena, bool, model->desc.nfunction);
    if (!n->constant || !n->used || !n->first_reached || !on) return LW_ERR_MEMORY;
    list_constants(model, n->constant);
    for (int i = 0; i < n->nconstant; i++) n->used[i] = true;
    n->reached = LWI_PUSH(arena, int, list_reached(model, n, on, NULL));
    if (!n->reached) return LW_ERR_MEMORY;
    list_reached(model, n, on, n->reached);
    return LW_OK;
}

lw_status lwi_numbers_create(const lw_model *model, lwi_arena *arena, lwi_model_numbers *n)
{
    *n = (lwi_model_numbers){.places = true,
                             .by_loads = true,
                             .of = LWI_PUSH(arena, lwi_number_spring, model->nforce),
                             .load = LWI_PUSH(arena, lwi_number_load, model->nnode)};
    if (!n->of || !n->load) return LW_ERR_MEMORY;
    for (int i = 0; i < model->nforce; i++) {
        n->of[n->nspring].force = i;
        if (model->force[i].type == &lwi_force_joint_spring &&
            find_spring(model, &model->force[i], &n->of[n->nspring]))
            n->nspring++;
    }
    n->frame = n->inertia + 10 * model->nnode;
    n->cut = n->frame + 6 * model->nnode;
    n->spring = n->cut + LWI_NUMBERS_CUT * model->nloop;
    n->gravity = n->spring + LWI_NUMBERS_SPRING * n->nspring;
    n->n = n->gravity + 3;
    TRY(create_loads(model, arena, n));
    return create_constants(model, arena, n);
}

void lwi_numbers_frame(const double R[9], const double r[3], const double dR[9], const double dr[3],
                       double out[6])
{
    double W[9], shift[3];
    m3_mul_t(W, dR, R);
    out[3] = (W[7] - W[5]) / 2, out[4] = (W[2] - W[6]) / 2, out[5] = (W[3] - W[1]) / 2;
    v3_cross(shift, out + 3, r);
    v3_sub(out, dr, shift);
}

// ------------------------------------------------------------------------------------------ motion

void lwi_number_ways(const lwi_number_state *at, const double *u, double (*way)[6])
{
    for (int k = 0; k < at->model->nnode; k++) {
        const lwi_node *node = &at->model->node[k];
        if (node->parent >= 0)
            v6_copy(way[k], way[node->parent]);
        else
            v6_zero(way[k]);
        for (int j = node->iv; j < node->iv + node->nv; j++)
            v6_axpy(way[k], u[j], at->d->tree.screws.S[j]);
    }
}

/** The motion of a link, or of the ground. */
typedef struct motion {
    double V[6], A[6], x[6];
} motion;

static motion motion_of(const lwi_number_state *at, int node, const double (*way)[6])
{
    const lwi_screws *s = &at->d->tree.screws;
    const int last = node < 0 ? -1 : s->last[node];
    motion m = {{0}, {0}, {0}};
    if (node >= 0 && way) v6_copy(m.x, way[node]);
    if (last >= 0) {
        v6_copy(m.V, s->screw[last].V);
        v6_copy(m.A, s->screw[last].A);
    } else {
        for (int i = 0; i < 3; i++) m.A[i] = -at->model->gravity[i];
    }
    return m;
}

// out -= V x* f
static void subtract_cross(double out[6], const double V[6], const double f[6])
{
    double c[6];
    force_cross(c, V, f);
    v6_axpy(out, -1, c);
}

static void add_cross(double out[6], const double V[6], const double f[6])
{
    double c[6];
    force_cross(c, V, f);
    v6_add(out, out, c);
}

// The factor of s of a load at a place that moves with `m`.
static void factor_of(const lwi_number_load *load, const motion *m, double out[6])
{
    double c[6];
    v6_copy(out, load->s);
    subtract_cross(out, m->V, load->psi);
    subtract_cross(out, m->A, load->psi2);
    force_cross(c, m->V, load->psi2);
    add_cross(out, m->V, c);
    subtract_cross(out, m->x, load->psi_x);
}

// to += scale times the factor in axes of the link about its origin.
static void add_factor(const lwi_number_state *at, int node, const double world[6], double scale,
                       double to[6])
{
    double local[6];
    if (node < 0) {
        v6_axpy(to, scale, world);
        return;
    }
    force_to(local, at->work->R[node], at->work->r[node], world);
    v6_axpy(to, scale, local);
}

// ---------------------------------------------------------------------------------------- inertias

// x.(I A + V x* I V) = x.I A - (V x x).I V, linear in mass, first moment and inertia.
static void add_product(const double a[6], const double b[6], double scale, double to[10])
{
    const double *v = a, *w = a + 3, *V = b, *W = b + 3;
    double p[3], r[3];
    v3_cross(p, v, W);
    v3_cross(r, V, w);
    to[0] += scale * v3_dot(v, V);
    for (int i = 0; i < 3; i++) to[1 + i] += scale * (p[i] + r[i]);
    for (int i = 0; i < 3; i++) to[4 + i] += scale * w[i] * W[i];
    to[7] += scale * (w[0] * W[1] + w[1] * W[0]);
    to[8] += scale * (w[0] * W[2] + w[2] * W[0]);
    to[9] += scale * (w[1] * W[2] + w[2] * W[1]);
}

static void add_inertia(const lwi_number_state *at, int k, const motion *m, double scale,
                        double to[10])
{
    const double *R = at->work->R[k], *r = at->work->r[k];
    double x[6], V[6], A[6], c[6];
    motion_to(x, R, r, m->x);
    motion_to(V, R, r, m->V);
    motion_to(A, R, r, m->A);
    motion_cross(c, V, x);
    add_product(x, A, scale, to);
    add_product(c, V, -scale, to);
}

// ------------------------------------------------------------------------------------------- places

// y and z of node k, from those of its children.
static void add_speeds(const lwi_number_state *at, int k, const double *u, lwi_number_load *load)
{
    const lwi_node *node = &at->model->node[k];
    const lwi_subtree *tree = &at->d->tree.subtree[k];
    double x[6] = {0}, y[6], w[3], rotated[3];
    for (int j = node->iv; j < node->iv + node->nv; j++) v6_axpy(x, u[j], at->d->tree.screws.S[j]);
    inertia_mul(y, tree->m, tree->h, tree->J, x);
    v6_add(load->y, load->y, y);
    m3_tmul_v(w, tree->Ba, x + 3);
    v3_cross(rotated, tree->p, x);
    v3_axpy(w, 2, rotated);
    v3_add(load->z, load->z, w);
}

// The inertial terms of the inboard place of node k, behind motion m.
static void add_place(const lwi_number_state *at, int k, const motion *m, lwi_number_load *load)
{
    const lwi_subtree *tree = &at->d->tree.subtree[k];
    double P[6], w[3], rotated[3];
    inertia_mul(P, tree->m, tree->h, tree->J, m->x);
    v6_add(load->psi2, load->psi2, P);
    v6_add(load->psi2, load->psi2, load->y);
    m3_tmul_v(w, tree->Ba, m->x + 3);
    v3_cross(rotated, tree->p, m->x);
    v3_axpy(w, 2, rotated);
    v3_add(load->psi + 3, load->psi + 3, w);
    v3_add(load->psi + 3, load->psi + 3, load->z);
    subtract_cross(load->s, m->x, tree->f);
}

static void add_load(lwi_number_load *to, const lwi_number_load *from, double sign)
{
    v6_axpy(to->s, sign, from->s);
    v6_axpy(to->psi, sign, from->psi);
    v6_axpy(to->psi2, sign, from->psi2);
    v6_axpy(to->psi_x, sign, from->psi_x);
    v6_axpy(to->y, sign, from->y);
    v3_axpy(to->z, sign, from->z);
}

// ---------------------------------------------------------------------------------------- cut joints

/** Sums over the rows of one joint, axes of F1: of nu by pose, rate and J, of lambda. */
typedef struct row_sums {
    double pose[6], rate[6], J[6], W[6], K[6][6];
} row_sums;

static row_sums sum_rows(const lwi_row_derivatives *row, int n, const double *nu,
                         const double *lambda)
{
    row_sums sum = {.pose = {0}};
    for (int r = 0; r < n; r++) {
        v6_axpy(sum.pose, nu[r], row[r].second_by_pose);
        v6_axpy(sum.rate, nu[r], row[r].second_by_rate);
        v6_axpy(sum.J, nu[r], row[r].J);
        v6_axpy(sum.W, lambda[r], row[r].J);
        for (int a = 0; a < 6; a++) v6_axpy(sum.K[a], lambda[r], row[r].K[a]);
    }
    return sum;
}

/** By what the rows of all cut joints are multiplied. */
typedef struct row_factors {
    const double *nu, *lambda; // [rows] of C, and of F; NULL: none
    const double *mu, *kappa;  // [rows] of phi and of J v + b; NULL: none
} row_factors;

// The same of mu'phi + kappa'(J v + b).
static row_sums sum_constraints(const lwi_row_derivatives *row, int n, const double *mu,
                                const double *kappa)
{
    row_sums sum = {.pose = {0}};
    for (int r = 0; r < n; r++) {
        v6_axpy(sum.pose, mu[r], row[r].J);
        v6_axpy(sum.pose, kappa[r], row[r].rate_by_pose);
        v6_axpy(sum.rate, kappa[r], row[r].J);
    }
    return sum;
}

// What a displacement of F2 changes, of F1 the opposite.
static lwi_number_load load_of_rows(const row_sums *sum, const lwi_row_sides *s, const double x1[6],
                                    const double x2[6])
{
    lwi_number_load load = {.s = {0}};
    double D[6], relative[6], K[6] = {0}, a[6], b[6], c[6], W[6], KD[6], rotated[6];
    for (int i = 0; i < 6; i++) relative[i] = x2[i] - x1[i];
    motion_to(D, s->R, s->p, relative);
    for (int i = 0; i < 6; i++) v6_axpy(K, D[i], sum->K[i]);
    force_from(a, s->R, s->p, sum->pose);
    force_from(b, s->R, s->p, sum->rate);
    force_from(c, s->R, s->p, sum->J);
    force_from(W, s->R, s->p, sum->W);
    force_from(KD, s->R, s->p, K);
    v6_copy(load.s, a);
    add_cross(load.s, s->V2, b);
    add_cross(load.s, s->A2, c);
    force_cross(rotated, s->V1, c);
    add_cross(load.s, s->V2, rotated);
    v6_axpy(load.s, -1, KD);
    subtract_cross(load.s, x2, W);
    v6_copy(load.psi, b);
    add_cross(load.psi, s->V2, c);
    add_cross(load.psi, s->V1, c);
    v6_copy(load.psi2, c);
    v6_axpy(load.psi_x, -1, W);
    return load;
}

// Of a distance: phi = d.d/(2 l) - l/2.
static double by_length(double length, const lwi_row_derivatives *row, const row_factors *f, int i,
                        const double D[6])
{
    if (f->mu) return -(f->mu[i] * (length + row->phi) + f->kappa[i] * row->rate) / length;
    return (f->lambda[i] * v6_dot(row->J, D) - f->nu[i] * row->second) / length;
}

static int node_of(const lw_model *model, int body)
{
    return body ? model->body_node[body] : -1;
}

// Adds the terms of loop-closing joint `loop`, rows `part`, to the loads of its links and to its own places.
static void add_cut(const lwi_model_numbers *n, const lwi_number_state *at, int loop, int part,
                    const row_factors *f, const double (*way)[6], double scale, double *gradient)
{
    const lw_model *model = at->model;
    const lwi_row_part *p = &at->d->rows.part[part];
    const lwi_joint *joint = &model->joint[p->joint];
    const lwi_row_derivatives *row = at->d->rows.row[part];
    const int node[2] = {node_of(model, joint->body1), node_of(model, joint->body2)};
    double *own = gradient + n->cut + LWI_NUMBERS_CUT * loop, factor[6];
    lwi_row_sides s;
    lwi_row_sides_place(model, &at->d->tree.screws, at->work, joint, at->t, &s);
    const row_sums sum = f->mu
                             ? sum_constraints(row, p->nrow, f->mu + p->first, f->kappa + p->first)
                             : sum_rows(row, p->nrow, f->nu + p->first, f->lambda + p->first);
    const motion m[2] = {motion_of(at, node[0], way), motion_of(at, node[1], way)};
    const lwi_number_load load = load_of_rows(&sum, &s, m[0].x, m[1].x);
    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1 : -1;
        if (node[side] >= 0) add_load(&n->load[node[side]], &load, sign);
        factor_of(&load, &m[side], factor);
        add_factor(at, node[side], factor, sign * scale, own + 6 * side);
    }
    if (!joint->type->has_length || joint->length_of.index || p->coupling >= 0) return;
    double relative[6], D[6];
    for (int i = 0; i < 6; i++) relative[i] = m[1].x[i] - m[0].x[i];
    motion_to(D, s.R, s.p, relative);
    for (int r = 0; r < joint->type->nc; r++)
        if (joint->type->row[r].kind == LWI_ROW_LENGTH)
            own[12] += scale * by_length(joint->par.length, &row[r], f, p->first + r, D);
}

// Coordinates of joints of the tree do not depend on places.
static void add_cuts(const lwi_model_numbers *n, const lwi_number_state *at, const row_factors *f,
                     const double (*way)[6], double scale, double *gradient)
{
    for (int i = 0; i < at->d->rows.npart; i++) {
        const lwi_row_part *p = &at->d->rows.part[i];
        if (p->rotors || at->model->joint[p->joint].node >= 0) continue;
        for (int loop = 0; loop < at->model->nloop; loop++)
            if (at->model->loop[loop] == p->joint) add_cut(n, at, loop, i, f, way, scale, gradient);
    }
}

// ----------------------------------------------------------------------------------------- gradient

static void add_springs(const lwi_model_numbers *n, const lwi_number_state *at, const double *u,
                        double scale, double *to)
{
    for (int i = 0; i < n->nspring; i++, to += LWI_NUMBERS_SPRING) {
        const lwi_number_spring *s = &n->of[i];
        const lwi_joint_spring_par *p = at->model->force[s->force].par;
        const double power = scale * u[s->speed];
        to[1] += power * at->v[s->speed];
        if (!s->coordinate) continue;
        to[0] += power * (at->work->link[s->node].q[s->column] - p->at);
        to[2] -= power * p->stiffness;
    }
}

// What loads on the bodies of a force do along u.
static double power_of(const lwi_number_state *at, const lwi_force_place *place,
                       const double load[2][6], const double (*way)[6])
{
    double sum = 0;
    for (int side = 0; side < place->n; side++) {
        const int body = place->body[side];
        if (body == 0) continue;
        const double *x = way[at->model->body_node[at->model->body[body].carrier]];
        double v[3];
        v3_cross(v, x + 3, at->work->body_r[body]);
        v3_add(v, v, x);
        sum += v3_dot(load[side], v) + v3_dot(load[side] + 3, x + 3);
    }
    return sum;
}

// By the numbers of formulas that a signal depends on, where its unit does `power` along u.
static void add_constants(const lwi_model_numbers *n, const lwi_number_state *at,
                          const lwi_now *now, lw_signal signal, double power, double *gradient)
{
    if (signal.index <= 0 || power == 0) return;
    for (int i = n->first_reached[signal.index - 1]; i < n->first_reached[signal.index]; i++) {
        const int c = n->reached[i];
        const lwi_number_constant *of = &n->constant[c];
        if (!n->used[c]) continue;
        const lwi_formula *formula =
            lwi_function_formula(&at->model->function[of->function], of->formula);
        const lwi_seed seed = {
            .iq = -1, .iv = -1, .spring = -1, .number = &formula->code[of->instruction]};
        double f[3];
        lwi_signal_jet(at->model->function, signal, now, &seed, f);
        gradient[n->constants + c] -= power * f[1];
    }
}

static void add_signals(const lwi_model_numbers *n, const lwi_number_state *at, const double *u,
                        const double (*way)[6], double scale, const lwi_force_state *state,
                        double *gradient)
{
    const lwi_now now = lwi_now_at(state->kin, at->t, at->inputs);
    for (int i = 0; i < n->nspring; i++) {
        const lwi_joint_spring_par *p = at->model->force[n->of[i].force].par;
        add_constants(n, at, &now, p->force, scale * u[n->of[i].speed], gradient);
        add_constants(n, at, &now, p->effort, scale * u[n->of[i].speed], gradient);
    }
    for (int i = 0; i < n->nloads; i++) {
        const lwi_force *force = &at->model->force[n->loads[i].force];
        const lwi_force_place place = lwi_force_acts_on(force);
        lwi_force_signal signal[LWI_FORCE_SIGNALS];
        const int count =
            force->type->signals ? force->type->signals(force->par, state, signal) : 0;
        for (int k = 0; k < count; k++)
            add_constants(n, at, &now, signal[k].signal,
                          scale * power_of(at, &place, (const double(*)[6])signal[k].load, way),
                          gradient);
    }
}

static void add_loads(const lwi_model_numbers *n, const lwi_number_state *at, const double *u,
                      const double (*way)[6], double scale, double *gradient)
{
    bool constants = false;
    for (int i = 0; i < n->nconstant; i++) constants = constants || n->used[i];
    if (!constants && !n->by_loads) return;
    const lwi_kin kin = lwi_tree_kin(at->work);
    const lwi_force_state state = {
        .kin = &kin, .model = at->model, .t = at->t, .inputs = at->inputs};
    for (int i = 0; n->by_loads && i < n->nloads; i++) {
        const lwi_force *force = &at->model->force[n->loads[i].force];
        const lwi_force_place place = lwi_force_acts_on(force);
        double load[LWI_FORCE_NUMBERS][2][6];
        force->type->by_numbers(force->par, &state, load);
        for (int k = 0; k < force->type->nload_number; k++)
            gradient[n->loads[i].first + k] -=
                scale * power_of(at, &place, (const double(*)[6])load[k], way);
    }
    if (constants) add_signals(n, at, u, way, scale, &state, gradient);
}

// By inboard frame k and gravity; children first.
static void add_frame(const lwi_model_numbers *n, const lwi_number_state *at, int k,
                      const double *u, const double (*way)[6], double scale, double *gradient)
{
    const int parent = at->model->node[k].parent;
    const motion before = motion_of(at, parent, way);
    lwi_number_load *load = &n->load[k];
    double factor[6];
    add_speeds(at, k, u, load);
    if (parent >= 0) add_load(&n->load[parent], load, 1);
    add_place(at, k, &before, load);
    factor_of(load, &before, factor);
    add_factor(at, parent, factor, scale, gradient + n->frame + 6 * k);
}

// Gravity is an acceleration -g of the ground: the linear part of -I x of each body.
static void add_weight(const lwi_node *node, const double R[9], const double r[3],
                       const double x[6], double scale, double to[3])
{
    double c[3], v[3];
    m3_mul_v(c, R, node->h);
    v3_axpy(c, node->mass, r);
    v3_cross(v, x + 3, c);
    v3_axpy(v, node->mass, x);
    v3_axpy(to, -scale, v);
}

void lwi_number_gradient(const lwi_model_numbers *n, const lwi_number_state *at, const double *u,
                         const double *nu, const double (*way)[6], double scale, double *gradient)
{
    const lw_model *model = at->model;
    for (int k = 0; k < model->nnode; k++) {
        const motion own = motion_of(at, k, way);
        add_inertia(at, k, &own, scale, gradient + n->inertia + 10 * k);
        add_weight(&model->node[k], at->work->R[k], at->work->r[k], own.x, scale,
                   gradient + n->gravity);
    }
    add_springs(n, at, u, scale, gradient + n->spring);
    add_loads(n, at, u, way, scale, gradient);
    if (!n->places) return;
    memset(n->load, 0, (size_t)model->nnode * sizeof *n->load);
    const row_factors rows = {.nu = nu, .lambda = at->lambda};
    if (at->d->closed) add_cuts(n, at, &rows, way, scale, gradient);
    for (int k = model->nnode - 1; k >= 0; k--) add_frame(n, at, k, u, way, scale, gradient);
}

void lwi_number_constraints(const lwi_model_numbers *n, const lwi_number_state *at,
                            const double *mu, const double *kappa, double scale, double *gradient)
{
    const lw_model *model = at->model;
    const row_factors rows = {.mu = mu, .kappa = kappa};
    if (!n->places || !at->d->closed) return;
    memset(n->load, 0, (size_t)model->nnode * sizeof *n->load);
    add_cuts(n, at, &rows, NULL, scale, gradient);
    for (int k = model->nnode - 1; k >= 0; k--) {
        const int parent = model->node[k].parent;
        const motion before = motion_of(at, parent, NULL);
        double factor[6];
        if (parent >= 0) add_load(&n->load[parent], &n->load[k], 1);
        factor_of(&n->load[k], &before, factor);
        add_factor(at, parent, factor, scale, gradient + n->frame + 6 * k);
    }
}
