// forces.c -- applied forces in Newton's equations.
//
// A force with the law f(phi, phidot) along a length or coordinate phi(q) changes in an iteration by
//     dlambda = -k J x,   J = dphi/dq,   k = -(df/dphi + 2/h df/dphidot)      (trapezoidal rule)
// that is,  J x = -dlambda / k:  a row of the elimination with a physical compliance as eps.  It replaces the
// terms dQ/dq, dQ/dqdot of [malczyk2019, (19)-(20)], where the factors h/2 and h^2/4 are exchanged in print.
// The forces are in the residual; the rows only give Newton their derivative, so that any stiffness is solved
// in a few iterations.
//
//     spring    along its length, and two rows across: tension f gives the line the stiffness f / length
//     bushing   three translations, three rotations about its own axes
//     stop      along the normal, while in contact
//     joint coordinates   springs, stops in contact, friction: all in one row
//     tendon    along its length, over up to four moving bodies; servos on sums of coordinates likewise
// The effect on one body alone -- a force at a point that rotates with the body -- is in the matrix of the
// body (lwi_index3_force_stiffness).  Negative stiffness (compressed springs across their line) is omitted:
// the elimination needs positive pivots; Newton converges linearly there.
#include "methods/index3/index3.h"

#include "model/forces/length.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// -------------------------------------------------------------------------------------------- list

// Index of the speed that a force acts on, or -1.
static int speed_of(const lwi_force *f)
{
    return lwi_force_acts_on(f).iv;
}

// Index of the speed of a joint that is not merged on which a force acts that depends on its coordinate or speed, or
// -1.
static int row_of(const lwi_index3 *d, const lwi_force *f)
{
    const int iv = speed_of(f);
    const bool changes = f->type->varies && f->type->varies(f->par);
    return iv >= 0 && changes && d->speed_joint[iv] >= 0 ? iv : -1;
}

lw_status lwi_index3_sort_forces(lwi_index3 *d, lwi_arena *arena)
{
    const lw_model *model = d->system.model;
    int n = 0;
    d->speed_joint = LWI_PUSH(arena, int, model->nv);
    d->first_acting = LWI_PUSH(arena, int, model->nv + 1);
    if (!d->speed_joint || !d->first_acting) return LW_ERR_MEMORY;
    for (int iv = 0; iv < model->nv; iv++) d->speed_joint[iv] = -1;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        for (int k = 0; k < joint->type->nv && !joint->merged; k++)
            d->speed_joint[joint->iv + k] = j;
    }
    for (int i = 0; i < model->nforce; i++) {
        const int iv = row_of(d, &model->force[i]);
        if (iv >= 0) d->first_acting[iv]++, n++;
    }
    for (int iv = 0; iv < model->nv; iv++) d->first_acting[iv + 1] += d->first_acting[iv];
    d->acting = LWI_PUSH(arena, int, n);
    if (!d->acting) return LW_ERR_MEMORY;
    for (int i = model->nforce - 1; i >= 0; i--) { // backwards: in their order at each speed
        const int iv = row_of(d, &model->force[i]);
        if (iv >= 0) d->acting[--d->first_acting[iv]] = i;
    }
    return LW_OK;
}

// The row of all forces on the coordinate of force i, if that is the first of them.
static void coordinate_coupler(const lwi_index3 *d, int i, int iv, lwi_index3_coupler *c)
{
    const lw_model *model = d->system.model;
    const lwi_joint *joint = &model->joint[d->speed_joint[iv]];
    c->joint = d->speed_joint[iv], c->coordinate = iv - joint->iv;
    c->body[0] = joint->body1, c->body[1] = joint->body2;
    c->iv = iv;
    c->first = d->first_acting[iv], c->end = d->first_acting[iv + 1];
    c->rows = d->acting[c->first] == i;
    for (int k = c->end - 1; k >= c->first; k--) { // the first one
        const lwi_force *f = &model->force[d->acting[k]];
        const lwi_joint_friction_par *p = f->par;
        if (f->type == &lwi_force_joint_friction && p->coulomb > 0 && p->speed > 0) c->dry = p;
    }
}

// Adds a body, once; false: there are `limit`.
static bool add_body(const lw_model *model, int body, int limit, lwi_index3_coupler *c)
{
    const int carrier = model->body[body].carrier;
    c->ground |= carrier == 0;
    for (int i = 0; i < c->n; i++)
        if (c->body[i] == carrier) return true;
    if (carrier == 0) return true;
    if (c->n == limit) return false;
    c->body[c->n++] = carrier;
    return true;
}

// The row of a force along a length: none where it moves no body, or more than `limit`.
static void length_coupler(const lwi_index3 *d, int limit, lwi_index3_coupler *c)
{
    const lw_model *model = d->system.model;
    const lwi_force_length *length = lwi_force_length_of(c->force);
    const void *par = c->force->par;
    bool fits = true;
    double share;
    for (int k = 0, b; length->body && (b = length->body(par, k)) >= 0; k++)
        fits = fits && add_body(model, b, limit, c);
    for (int k = 0, iv; length->speed && (iv = length->speed(par, k, &share)) >= 0; k++) {
        const int j = d->speed_joint[iv];
        fits = fits && (j < 0 || (add_body(model, model->joint[j].body1, limit, c) &&
                                  add_body(model, model->joint[j].body2, limit, c)));
    }
    c->rows = fits && c->n > 0;
}

int lwi_index3_couplers(const lwi_index3 *d, int limit, lwi_index3_coupler *list)
{
    const lw_model *model = d->system.model;
    int n = 0;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        lwi_index3_coupler c = {.force = f, .joint = -1};
        const int iv = row_of(d, f);
        const lwi_force_place place = lwi_force_acts_on(f);
        c.rows = f->type->nrow;
        if (iv >= 0) {
            coordinate_coupler(d, i, iv, &c);
        } else if (lwi_force_length_of(f)) {
            length_coupler(d, limit, &c);
        } else {
            for (int k = 0; k < 2; k++) c.body[k] = model->body[place.body[k]].carrier;
        }
        if (c.rows == 0 || (c.n == 0 && c.body[0] == c.body[1])) continue; // or within one body
        if (list) list[n] = c;
        LWI_ASSERT(c.rows <= LWI_EDGE_ROWS && c.first <= c.end);
        n++;
    }
    return n + lwi_index3_geometric(model, list ? list + n : NULL);
}

// ------------------------------------------------------------------------------------------- rates

static lwi_kin kin_of(const lwi_system *s)
{
    return (lwi_kin){.R = s->motion.R,
                     .r = s->motion.r,
                     .v = s->motion.v,
                     .w = s->motion.w,
                     .q = s->q,
                     .qd = s->qd,
                     .mode = s->mode ? *s->mode : NULL,
                     .states = s->states};
}

// Without the dry part of `c->dry`, which is linearised in friction.c.
static double all_coordinate_rates(const lwi_index3 *d, const lwi_index3_coupler *c,
                                   const lwi_force_state *state)
{
    const double two = state->two;
    double rate = 0;
    for (int i = c->first; i < c->end; i++) {
        const lwi_force *f = &d->system.model->force[d->acting[i]];
        rate += c->dry && f->par == c->dry ? two * c->dry->viscous : f->type->rate(f->par, state);
    }
    return rate;
}

// -------------------------------------------------------------------------------------------- rows

// Rows of one force: wrenches on both bodies and stiffnesses; a stiffness <= 0: no row.
typedef struct rows {
    double wrench[6][LWI_EDGE_BODIES][6], rate[6];
} rows;

// Row k: a unit force n on body 2 at point 2, the opposite on body 1 at point 1.
static void unit_force(const lwi_system *s, const lwi_index3_coupler *c, const double point1[3],
                       const double point2[3], const double n[3], double rate, rows *r, int k)
{
    const double *point[2] = {point1, point2};
    for (int side = 0; side < 2; side++) {
        double arm[3], *w = r->wrench[k][side];
        v3_scale(w, side ? 1 : -1, n);
        v3_sub(arm, point[side], s->r[c->body[side]]);
        v3_cross(w + 3, arm, w);
    }
    r->rate[k] = rate;
}

static void point_of(const lwi_system *s, int body, const double local[3], double point[3])
{
    m3_mul_v(point, s->R[body], local);
    v3_add(point, point, s->r[body]);
}

// Loads of one force on its two bodies as named (merged ones included), to `wrench`.
static void loads_of(lwi_index3 *d, const lwi_force *f, int body1, int body2, double t,
                     const double *inputs)
{
    lwi_system *s = &d->system;
    const lwi_kin kin = kin_of(s);
    lwi_loads loads = {.wrench = s->wrench};
    v6_zero(s->wrench[body1]), v6_zero(s->wrench[body2]);
    f->type->apply(s->model, f->par, &kin, t, inputs, &loads);
}

// A force at the present state; its loads stay in the system's `wrench`.
static lwi_force_state state_of(lwi_index3 *d, const lwi_force *f, double t, double two,
                                const lwi_kin *kin, const double *inputs)
{
    const lwi_force_place place = lwi_force_acts_on(f);
    const int body[2] = {place.body[0], place.body[place.n - 1]};
    loads_of(d, f, body[0], body[1], t, inputs);
    return (lwi_force_state){.kin = kin,
                             .load = {d->system.wrench[body[0]], d->system.wrench[body[1]]},
                             .two = two,
                             .model = d->system.model,
                             .t = t,
                             .inputs = inputs};
}

static void between_bodies(lwi_index3 *d, const lwi_index3_coupler *c, double t, double two,
                           const double *inputs, rows *r)
{
    const lwi_kin kin = kin_of(&d->system);
    const lwi_force_state state = state_of(d, c->force, t, two, &kin, inputs);
    lwi_force_row row[LWI_FORCE_ROWS] = {{.rate = 0}};
    c->force->type->rows(c->force->par, &state, row);
    for (int k = 0; k < c->rows; k++) {
        const lwi_force_row *of = &row[k];
        if (!of->couple) {
            unit_force(&d->system, c, of->point1, of->point2, of->n, of->rate, r, k);
            continue;
        }
        for (int side = 0; side < 2; side++) {
            v6_zero(r->wrench[k][side]);
            v3_scale(r->wrench[k][side] + 3, side ? 1 : -1, of->n);
        }
        r->rate[k] = of->rate;
    }
}

// The values in the system's `wrench` of a body about its mass centre, about that of its carrier and added to it.
static void carry(lwi_system *s, int body)
{
    const int carrier = s->model->body[body].carrier;
    double arm[3], *from = s->wrench[body], *to = s->wrench[carrier];
    if (carrier == body) return;
    v3_sub(arm, s->r[body], s->r[carrier]);
    v3_cross_add(from + 3, arm, from);
    v6_axpy(to, 1, from);
    v6_zero(from);
}

// The one row of a force along a length.
static void length_row(lwi_index3 *d, const lwi_index3_coupler *c, double t, double two,
                       const double *inputs, rows *r)
{
    lwi_system *s = &d->system;
    const lwi_force_length *length = lwi_force_length_of(c->force);
    const void *par = c->force->par;
    const lwi_kin kin = kin_of(s);
    const lwi_force_state state = {
        .kin = &kin, .two = two, .model = s->model, .t = t, .inputs = inputs};
    double share;
    r->rate[0] = length->rate(par, &state);
    if (!(r->rate[0] > 0)) return;
    v6_zero(s->wrench[0]);
    for (int i = 0; i < c->n; i++) v6_zero(s->wrench[c->body[i]]);
    for (int k = 0, b; length->body && (b = length->body(par, k)) >= 0; k++) v6_zero(s->wrench[b]);
    if (length->unit) length->unit(par, &kin, &(lwi_loads){.wrench = s->wrench});
    for (int k = 0, b; length->body && (b = length->body(par, k)) >= 0; k++) carry(s, b);
    for (int k = 0, iv; length->speed && (iv = length->speed(par, k, &share)) >= 0; k++) {
        double tau[LW_JOINT_MAX_NV] = {0};
        const int j = d->speed_joint[iv];
        if (j < 0) continue;
        tau[iv - s->model->joint[j].iv] = share;
        lwi_joint_apply_effort(s->model, j, t, &s->motion, tau, s->wrench);
    }
    for (int i = 0; i < c->n; i++) v6_copy(r->wrench[0][i], s->wrench[c->body[i]]);
}

void lwi_index3_unit_effort(lwi_index3 *d, const lwi_index3_coupler *c, double t,
                            double wrench[2][6])
{
    lwi_system *s = &d->system;
    double tau[LW_JOINT_MAX_NV] = {0};
    tau[c->coordinate] = 1;
    for (int side = 0; side < 2; side++) v6_zero(s->wrench[c->body[side]]);
    lwi_joint_apply_effort(s->model, c->joint, t, &s->motion, tau, s->wrench);
    for (int side = 0; side < 2; side++) v6_copy(wrench[side], s->wrench[c->body[side]]);
}

// All forces of a coordinate together; *off: offset of J x.
static void coordinate_row(lwi_index3 *d, lwi_index3_coupler *c, double t, double h,
                           const double *inputs, rows *r, double *off)
{
    lwi_system *s = &d->system;
    const lwi_kin kin = kin_of(s);
    const double v = kin.qd[c->iv];
    const lwi_force_state state = {
        .kin = &kin, .two = 2 / h, .model = s->model, .t = t, .inputs = inputs};
    r->rate[0] = all_coordinate_rates(d, c, &state);
    if (!c->dry && !(r->rate[0] > 0)) return;
    lwi_index3_unit_effort(d, c, t, r->wrench[0]);
    if (!c->dry) return;
    const double rate = lwi_index3_slip(c, h, lwi_index3_row_mobility(d, c, r->wrench[0]), v);
    r->rate[0] += rate;
    if (r->rate[0] > 0) *off = 0.5 * h * (v - c->slip.v) * rate / r->rate[0];
    lwi_index3_add_effort(d, c, r->wrench[0],
                          c->dry->coulomb * (tanh(v / c->dry->speed) - c->slip.y));
}

// A curved constraint; the multipliers of the iteration are in d->row.
static void curved_rows(lwi_index3 *d, const lwi_index3_coupler *c, double t, rows *r)
{
    const lwi_system *s = &d->system;
    if (c->coupling) {
        r->rate[0] = lwi_index3_curvature(d, c->coupling - 1, d->row);
        if (r->rate[0] > 0) lwi_index3_unit_effort(d, c, t, r->wrench[0]);
        return;
    }
    const lwi_joint *joint = &s->model->joint[c->distance - 1];
    const double rate = lwi_index3_tension(d, c->distance - 1, d->row);
    double point1[3], point2[3];
    point_of(s, joint->body1, joint->r1, point1);
    point_of(s, joint->body2, joint->r2, point2);
    for (int k = 0; k < 3 && rate > 0; k++) {
        const double n[3] = {k == 0, k == 1, k == 2};
        unit_force(s, c, point1, point2, n, rate, r, k);
    }
}

static void put(lwi_index3 *d, int i, const rows *r, double off)
{
    lwi_system *s = &d->system;
    const lwi_index3_coupler *c = &d->coupler[i];
    const int e = s->nedge - d->ncoupler + i, row = s->plan.row[e];
    LWI_ASSERT_INDEX(i, d->ncoupler);
    LWI_ASSERT(row >= d->first_compliance && s->plan.graph.edge[e].rows == c->rows);
    for (int k = 0; k < c->rows; k++) {
        const bool there = r && r->rate[k] > 0 && 1 / r->rate[k] > 0;
        s->phi[row + k] = s->b[row + k] = s->gamma[row + k] = 0;
        // rows of zeros have no multiplier
        d->compliance[row + k - d->first_compliance] = there ? 1 / r->rate[k] : 1;
        if (there) s->phi[row + k] = off;
        for (int side = 0, slot = s->plan.slot[e]; side < c->n; side++) {
            if (!c->body[side]) continue;
            double *J = lwi_elim_J(s->elim)[6 * slot++ + k];
            if (there)
                v6_copy(J, r->wrench[k][side]);
            else
                v6_zero(J);
        }
    }
}

void lwi_index3_force_rows(lwi_index3 *d, double t, double h, const double *inputs)
{
    LWI_ASSERT(h > 0);
    const double two = 2 / h;
    for (int i = 0; i < d->ncoupler; i++) {
        lwi_index3_coupler *c = &d->coupler[i];
        rows r = {.rate = {0}};
        double off = 0;
        if (c->rotor > 0) { // by lwi_index3_rotor_rows
            put(d, i, NULL, 0);
            continue;
        }
        if (!c->force)
            curved_rows(d, c, t, &r);
        else if (c->joint >= 0)
            coordinate_row(d, c, t, h, inputs, &r, &off);
        else if (lwi_force_length_of(c->force))
            length_row(d, c, t, two, inputs, &r);
        else
            between_bodies(d, c, t, two, inputs, &r);
        put(d, i, &r, off);
    }
}

void lwi_index3_no_force_rows(lwi_index3 *d)
{
    for (int i = 0; i < d->ncoupler; i++) put(d, i, NULL, 0);
}

// --------------------------------------------------------------------------------------- one body

// Stiffness of the body that a body is merged into; NULL: the ground.
static lwi_index3_stiffness *stiffness_of_carrier(lwi_index3 *d, int body)
{
    const int carrier = d->system.model->body[body].carrier;
    return carrier ? &d->stiffness[d->system.model->body_node[carrier]] : NULL;
}

static void act(lwi_index3_stiffness *K, const double arm[3], const lwi_force_action *a)
{
    switch (a->follows) {
    case LWI_FOLLOWS_POINT:
        lwi_index3_stiff_point(K, arm, a->F);
        break;
    case LWI_FOLLOWS_BODY:
        lwi_index3_stiff_follower(K, arm, a->F);
        break;
    case LWI_FOLLOWS_DIRECTION:
        lwi_index3_stiff_direction(K, arm, a->F);
        break;
    case LWI_FOLLOWS_NOTHING:
        lwi_index3_stiff_fixed(K, arm, a->F);
        break;
    case LWI_FOLLOWS_TORQUE:
        lwi_index3_stiff_torque(K, 1, a->F);
        break;
    }
}

void lwi_index3_force_stiffness(lwi_index3 *d, double t, const double *inputs)
{
    const lw_model *model = d->system.model;
    const lwi_kin kin = kin_of(&d->system);
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_place place = lwi_force_acts_on(f);
        const lwi_body *body = model->body;
        lwi_force_action action[LWI_FORCE_ACTIONS];
        if (!f->type->actions) continue;
        if (place.n == 2 && body[place.body[0]].carrier == body[place.body[1]].carrier) continue;
        const lwi_force_state state = state_of(d, f, t, 0, &kin, inputs);
        const int n = f->type->actions(f->par, &state, action);
        for (int k = 0; k < n; k++) {
            const int on = place.body[action[k].side];
            lwi_index3_stiffness *K = stiffness_of_carrier(d, on);
            double arm[3];
            v3_sub(arm, action[k].point, d->system.r[body[on].carrier]);
            if (K) act(K, arm, &action[k]);
        }
    }
}
