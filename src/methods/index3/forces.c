// forces.c -- applied forces in Newton's equations.
//
// A force whose law is f(phi, phidot) along a length or coordinate phi(q) changes in an iteration
// by
//     dlambda = -k J x,   J = dphi/dq,   k = -(df/dphi + 2/h df/dphidot)      (trapezoidal rule)
// that is,  J x = -dlambda / k:  a row of the engine whose eps is a real compliance [malczyk2019].
// The forces themselves stay in the residual, as the model has them; the rows only make Newton know
// how they change, so that any stiffness is solved in a few iterations.
//
//     spring    its length, and two rows across: the line turns, tension f holds it with f / length
//     bushing   three displacements, three turns of its own axes
//     stop      the normal, while it is pressed
//     joint coordinates   springs, stops while they are pressed, friction: all in one row
// What acts on one body alone -- a force at a point that turns with the body -- is in its matrix
// (lwi_index3_force_stiffness).  Negative stiffness (compressed springs across their line) is left
// out: the elimination needs positive pivots; Newton is linear there.
#include "methods/index3/index3.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// -------------------------------------------------------------------------------------------- list

// The joint and coordinate number of a speed; false where there is none that is not merged.
static bool coordinate_of(const lw_model *model, int iv, lwi_index3_coupler *c)
{
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const int k = iv - joint->iv;
        if (k < 0 || k >= joint->type->nv || joint->merged) continue;
        c->joint = j, c->coordinate = k;
        c->body[0] = joint->body1, c->body[1] = joint->body2;
        return true;
    }
    return false;
}

// Speed that a force acts on, or -1.
static int speed_of(const lwi_force *f)
{
    return lwi_force_acts_on(f).iv;
}

// Two bodies and rows of a force between points; 0 rows: none.
static int ends_of(const lwi_force *f, int body[2])
{
    const lwi_force_place place = lwi_force_acts_on(f);
    body[0] = place.body[0], body[1] = place.body[1];
    return f->type == &lwi_force_spring    ? 3
           : f->type == &lwi_force_bushing ? 6
                                           : f->type == &lwi_force_stop;
}

// Does a force on a joint coordinate ever change with it?
static bool changes(const lwi_force *f)
{
    if (f->type == &lwi_force_joint_rotor) return false;
    if (f->type != &lwi_force_joint_spring) return true;
    const lwi_joint_spring_par *p = f->par;
    return (p->iq >= 0 && p->stiffness > 0) || p->damping > 0;
}

// The dry friction of a speed; NULL: none.
static const lwi_joint_friction_par *dry_of(const lw_model *model, int iv)
{
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_joint_friction_par *p = f->par;
        if (f->type == &lwi_force_joint_friction && p->iv == iv && p->coulomb > 0 && p->speed > 0)
            return p;
    }
    return NULL;
}

int lwi_index3_couplers(const lw_model *model, lwi_index3_coupler *list)
{
    int n = 0;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        lwi_index3_coupler c = {.force = f, .joint = -1};
        const int iv = speed_of(f);
        c.rows = ends_of(f, c.body);
        if (iv >= 0 && changes(f) && coordinate_of(model, iv, &c)) {
            bool known = false;
            for (int before = 0; before < i; before++)
                known |= speed_of(&model->force[before]) == iv && changes(&model->force[before]);
            c.iv = iv, c.rows = known ? 0 : 1;
            c.first = i;
            for (int k = i; k < model->nforce; k++)
                if (speed_of(&model->force[k]) == iv) c.end = k + 1;
            c.dry = dry_of(model, iv);
        } else {
            c.body[0] = model->body[c.body[0]].host, c.body[1] = model->body[c.body[1]].host;
        }
        if (c.rows == 0 || c.body[0] == c.body[1]) continue; // none, or within one body
        if (list) list[n] = c;
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
                     .mode = s->mode ? *s->mode : NULL};
}

// -(df/dphi + 2/h df/dphidot) of one force on a joint coordinate.
static double coordinate_rate(const lwi_force *f, const lwi_kin *kin, double two)
{
    if (f->type == &lwi_force_joint_spring) {
        const lwi_joint_spring_par *p = f->par;
        return (p->iq < 0 ? 0 : p->stiffness) + two * p->damping;
    }
    if (f->type == &lwi_force_joint_friction) {
        const lwi_joint_friction_par *p = f->par;
        const double y = p->coulomb > 0 ? tanh(kin->qd[p->iv] / p->speed) : 0;
        return two * (p->viscous + (p->coulomb > 0 ? p->coulomb / p->speed * (1 - y * y) : 0));
    }
    const lwi_joint_stop_par *p = f->par;
    const lwi_force_modes *modes = f->type->modes;
    const unsigned char mode = kin->mode ? kin->mode[p->mode] : modes->now(p, kin);
    return mode == modes->next(p, 0, 0, kin) ? p->stiffness + two * p->damping : 0; // pressed
}

// Without the dry part of `c->dry`, which has a point of its own (friction.c).
static double all_coordinate_rates(const lw_model *model, const lwi_index3_coupler *c,
                                   const lwi_kin *kin, double two)
{
    double rate = 0;
    for (int i = c->first; i < c->end; i++) {
        const lwi_force *f = &model->force[i];
        if (speed_of(f) != c->iv || !changes(f)) continue;
        rate += c->dry && f->par == c->dry ? two * c->dry->viscous : coordinate_rate(f, kin, two);
    }
    return rate;
}

// -------------------------------------------------------------------------------------------- rows

// Rows of one force: wrenches on both hosts and stiffnesses; a stiffness <= 0: no row.
typedef struct rows {
    double wrench[6][2][6], rate[6];
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

// Loads of one force alone on its two bodies as they are named (not hosts): into `wrench`.
static void loads_of(lwi_index3 *d, const lwi_force *f, int body1, int body2, double t,
                     const double *inputs)
{
    lwi_system *s = &d->system;
    const lwi_kin kin = kin_of(s);
    lwi_loads loads = {.wrench = s->wrench};
    v6_zero(s->wrench[body1]), v6_zero(s->wrench[body2]);
    f->type->apply(s->model, f->par, &kin, t, inputs, &loads);
}

// Two unit vectors across the unit vector n.
static void across(const double n[3], double a[3], double b[3])
{
    const int smallest = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                                 : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    const double e[3] = {smallest == 0, smallest == 1, smallest == 2};
    v3_cross(a, n, e);
    v3_scale(a, 1 / v3_norm(a), a);
    v3_cross(b, n, a);
}

static void spring_rows(lwi_index3 *d, const lwi_index3_coupler *c, double t, double two,
                        const double *inputs, rows *r)
{
    const lwi_system *s = &d->system;
    const lwi_spring_par *p = c->force->par;
    double point1[3], point2[3], n[3], a[3], b[3];
    point_of(s, p->body1, p->point1, point1);
    point_of(s, p->body2, p->point2, point2);
    v3_sub(n, point2, point1);
    const double length = v3_norm(n);
    if (!(length > 0)) return;
    v3_scale(n, 1 / length, n);
    across(n, a, b);
    loads_of(d, c->force, p->body1, p->body2, t, inputs);
    const double tension = -v3_dot(n, s->wrench[p->body2]);
    unit_force(s, c, point1, point2, n, p->stiffness + two * p->damping, r, 0);
    unit_force(s, c, point1, point2, a, tension / length, r, 1);
    unit_force(s, c, point1, point2, b, tension / length, r, 2);
}

// Rows B(a)' e_i of the turns: torque -B' K a - C w, da/dt = B w (model/forces/bushing.c); for a
// damper, J x = B turn stands for the turn itself, which differs by the square of the angle.
static void bushing_rows(const lwi_system *s, const lwi_index3_coupler *c, double two, rows *r)
{
    const lwi_bushing_par *p = c->force->par;
    double R1[9], R2[9], R[9], quat[4], angle[3], point[3];
    static const double identity[4] = {1, 0, 0, 0};
    m3_mul(R1, s->R[p->body1], p->R1);
    m3_mul(R2, s->R[p->body2], p->R2);
    m3_tmul(R, R1, R2);
    quat_from_matrix(quat, R);
    quat_continue(quat, identity);
    const double sine = v3_norm(quat + 1);
    v3_scale(angle, sine > 0 ? 2 * atan2(sine, quat[0]) / sine : 0, quat + 1);
    const double factor = lwi_index3_rotation_factor(angle);
    point_of(s, p->body2, p->r2, point);
    for (int i = 0; i < 3; i++) {
        const double e[3] = {i == 0, i == 1, i == 2};
        double n[3], once[3], twice[3];
        m3_mul_v(n, R1, e);
        unit_force(s, c, point, point, n, p->stiffness[i] + two * p->damping[i], r, i);
        v3_cross(once, angle, e);
        v3_cross(twice, angle, once);
        for (int k = 0; k < 3; k++) n[k] = e[k] + 0.5 * once[k] + factor * twice[k];
        m3_mul_v(n, R1, n);
        for (int side = 0; side < 2; side++) {
            v6_zero(r->wrench[3 + i][side]);
            v3_scale(r->wrench[3 + i][side] + 3, side ? 1 : -1, n);
        }
        r->rate[3 + i] = p->stiffness[3 + i] + two * p->damping[3 + i];
    }
}

// f = k x^n (1 + d v) on body 1 along the normal; x and v from the force itself and its law:
//     df/dx = n f / x,   df/dv = k x^n d
static void stop_row(lwi_index3 *d, const lwi_index3_coupler *c, double t, double two,
                     const double *inputs, rows *r)
{
    const lwi_system *s = &d->system;
    const lwi_stop_par *p = c->force->par;
    double centre[3], point[3], n[3], depth;
    loads_of(d, c->force, p->body1, p->body2, t, inputs);
    const double f = v3_norm(s->wrench[p->body1]);
    point_of(s, p->body1, p->point1, centre);
    point_of(s, p->body2, p->point2, point);
    v3_sub(n, centre, point);
    if (p->plane) {
        double normal[3];
        m3_mul_v(normal, s->R[p->body2], p->normal);
        depth = p->radius - v3_dot(normal, n);
        v3_copy(n, normal);
    } else {
        const double apart = v3_norm(n);
        depth = p->radius - apart;
        v3_scale(n, apart > 0 ? 1 / apart : 0, n);
    }
    if (!(f > 0 && depth > 0)) return;
    v3_scale(n, -1, n); // on body 2
    unit_force(s, c, centre, centre, n,
               p->exponent * f / depth +
                   two * p->dissipation * p->stiffness * pow(depth, p->exponent),
               r, 0);
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

// All forces of a coordinate together; *off: J x counts from there.
static void coordinate_row(lwi_index3 *d, lwi_index3_coupler *c, double t, double h, rows *r,
                           double *off)
{
    lwi_system *s = &d->system;
    const lwi_kin kin = kin_of(s);
    const double v = kin.qd[c->iv];
    r->rate[0] = all_coordinate_rates(s->model, c, &kin, 2 / h);
    if (!c->dry && !(r->rate[0] > 0)) return;
    lwi_index3_unit_effort(d, c, t, r->wrench[0]);
    if (!c->dry) return;
    const double rate = lwi_index3_slip(c, h, lwi_index3_row_mobility(d, c, r->wrench[0]), v);
    r->rate[0] += rate;
    if (r->rate[0] > 0) *off = 0.5 * h * (v - c->slip.v) * rate / r->rate[0];
    lwi_index3_add_effort(d, c, r->wrench[0],
                          c->dry->coulomb * (tanh(v / c->dry->speed) - c->slip.y));
}

// A curved constraint: lambda's of the iteration stand in d->row.
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
    for (int k = 0; k < c->rows; k++) {
        const bool there = r && r->rate[k] > 0 && 1 / r->rate[k] > 0;
        s->phi[row + k] = s->b[row + k] = s->gamma[row + k] = 0;
        // rows of zeros have no multiplier
        d->compliance[row + k - d->first_compliance] = there ? 1 / r->rate[k] : 1;
        if (there) s->phi[row + k] = off;
        for (int side = 0, slot = s->plan.slot[e]; side < 2; side++) {
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
            coordinate_row(d, c, t, h, &r, &off);
        else if (c->force->type == &lwi_force_spring)
            spring_rows(d, c, t, two, inputs, &r);
        else if (c->force->type == &lwi_force_bushing)
            bushing_rows(&d->system, c, two, &r);
        else
            stop_row(d, c, t, two, inputs, &r);
        put(d, i, &r, off);
    }
}

void lwi_index3_no_force_rows(lwi_index3 *d)
{
    for (int i = 0; i < d->ncoupler; i++) put(d, i, NULL, 0);
}

// --------------------------------------------------------------------------------------- one body

// Stiffness of the host of a body; NULL: the ground.
static lwi_index3_stiffness *of_host(lwi_index3 *d, int body)
{
    const int host = d->system.model->body[body].host;
    return host ? &d->stiffness[d->system.model->body_node[host]] : NULL;
}

// A point of a body from its host's mass centre.
static void arm_of(const lwi_system *s, int body, const double local[3], double arm[3])
{
    point_of(s, body, local, arm);
    v3_sub(arm, arm, s->r[s->model->body[body].host]);
}

static void spring_on_bodies(lwi_index3 *d, const lwi_force *f, double t, const double *inputs)
{
    const lwi_system *s = &d->system;
    const lwi_spring_par *p = f->par;
    lwi_index3_stiffness *K1 = of_host(d, p->body1), *K2 = of_host(d, p->body2);
    double arm[3], F[3], back[3];
    loads_of(d, f, p->body1, p->body2, t, inputs);
    v3_copy(F, s->wrench[p->body2]);
    v3_scale(back, -1, F);
    arm_of(s, p->body2, p->point2, arm);
    if (K2) lwi_index3_stiff_point(K2, arm, F);
    arm_of(s, p->body1, p->point1, arm);
    if (K1) lwi_index3_stiff_point(K1, arm, back);
}

// Force and torque follow frame F1 of body 1, at a point of body 2.
static void bushing_on_bodies(lwi_index3 *d, const lwi_force *f, double t, const double *inputs)
{
    const lwi_system *s = &d->system;
    const lwi_bushing_par *p = f->par;
    lwi_index3_stiffness *K1 = of_host(d, p->body1), *K2 = of_host(d, p->body2);
    double arm2[3], arm1[3], own[3], F[3], T[3], back[3];
    loads_of(d, f, p->body1, p->body2, t, inputs);
    m3_mul_v(own, s->R[p->body2], p->r2);
    v3_copy(F, s->wrench[p->body2]);
    v3_copy(T, s->wrench[p->body2] + 3);
    v3_cross_add(T, F, own); // less own x F
    arm_of(s, p->body2, p->r2, arm2);
    if (K2) lwi_index3_stiff_point(K2, arm2, F);
    if (K2) lwi_index3_stiff_torque(K2, 1, T);
    if (!K1) return;
    point_of(s, p->body2, p->r2, arm1);
    v3_sub(arm1, arm1, s->r[s->model->body[p->body1].host]);
    v3_scale(back, -1, F);
    lwi_index3_stiff_direction(K1, arm1, back);
}

static void stop_on_bodies(lwi_index3 *d, const lwi_force *f, double t, const double *inputs)
{
    const lwi_system *s = &d->system;
    const lwi_stop_par *p = f->par;
    lwi_index3_stiffness *K1 = of_host(d, p->body1), *K2 = of_host(d, p->body2);
    double arm[3], F[3], back[3];
    loads_of(d, f, p->body1, p->body2, t, inputs);
    v3_copy(F, s->wrench[p->body1]);
    if (!(v3_dot(F, F) > 0)) return;
    v3_scale(back, -1, F);
    arm_of(s, p->body1, p->point1, arm);
    if (K1) lwi_index3_stiff_point(K1, arm, F);
    if (!K2) return;
    point_of(s, p->body1, p->point1, arm);
    v3_sub(arm, arm, s->r[s->model->body[p->body2].host]);
    if (p->plane)
        lwi_index3_stiff_direction(K2, arm, back); // the normal turns with body 2
    else
        lwi_index3_stiff_fixed(K2, arm, back);
}

static void wrench_on_body(lwi_index3 *d, const lwi_force *f, double t, const double *inputs)
{
    const lwi_system *s = &d->system;
    const lwi_wrench_par *p = f->par;
    lwi_index3_stiffness *K = of_host(d, p->body);
    double own[3], arm[3], F[3], T[3];
    if (!K) return;
    loads_of(d, f, p->body, p->body, t, inputs);
    v3_copy(F, s->wrench[p->body]);
    m3_mul_v(own, s->R[p->body], p->point);
    arm_of(s, p->body, p->point, arm);
    v3_copy(T, s->wrench[p->body] + 3);
    v3_cross_add(T, F, own);
    if (p->body_axes) {
        lwi_index3_stiff_follower(K, arm, F);
    } else {
        lwi_index3_stiff_point(K, arm, F);
        lwi_index3_stiff_torque(K, 1, T);
    }
}

void lwi_index3_force_stiffness(lwi_index3 *d, double t, const double *inputs)
{
    const lw_model *model = d->system.model;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        int body[2];
        if (f->type == &lwi_force_wrench)
            wrench_on_body(d, f, t, inputs);
        else if (ends_of(f, body) == 0 || model->body[body[0]].host == model->body[body[1]].host)
            continue;
        else if (f->type == &lwi_force_spring)
            spring_on_bodies(d, f, t, inputs);
        else if (f->type == &lwi_force_bushing)
            bushing_on_bodies(d, f, t, inputs);
        else
            stop_on_bodies(d, f, t, inputs);
    }
}
