// forces.c -- forces as values: load += J' f for a force f along a row J of the speeds.
//
// The laws are those of model/forces.  Where one has modes (stops) or limits, the piece is chosen by the state.
#include "codegen/forces.h"

#include "codegen/joints.h"
#include "codegen/refuse.h"
#include "dynamics/state_derivatives.h"
#include "model/forces/item.h"
#include "model/forces/tendon.h"

#include <math.h>

// --------------------------------------------------------------------------------------- which ones

typedef struct checked {
    const lw_model *model;
    char user[200];
    lw_place place;
    lw_error *error;
} checked;

static lw_status check_signals(const checked *c, int n, const lw_signal *signal)
{
    for (int i = 0; i < n; i++) TRY(lwi_signals_check(c->model, signal[i], c->user, c->error));
    return LW_OK;
}

static lw_status check_law(const checked *c, const lwi_servo_law *law)
{
    const lw_signal both[2] = {law->target, law->rate};
    return check_signals(c, 2, both);
}

// Efforts on joints that close loops, and coordinates that these depend on.
static lw_status check_joint(const checked *c, bool speed, int index)
{
    char user[200];
    lw_place place;
    if (index < 0 || lwi_joint_reading_exists(c->model, speed, index)) return LW_OK;
    if (lwi_joint_is_still(c->model, speed, index)) return LW_OK;
    lwi_joint_user(c->model, speed, index, user, sizeof user, &place);
    if (speed)
        return lwi_refuse(c->model, place, c->error,
                          "%s closes a loop and has a force along a speed that is not known there",
                          user);
    return lwi_refuse(c->model, place, c->error,
                      "%s closes a loop and has a spring, stop or servo on its angle, of which the "
                      "revolutions are counted from the past; let another joint close the loop",
                      user);
}

static lw_status check_joint_spring(checked *c, const lwi_joint_spring_par *p)
{
    const lw_signal both[2] = {p->force, p->effort};
    lwi_joint_user(c->model, true, p->iv, c->user, sizeof c->user, &c->place);
    TRY(check_signals(c, 2, both));
    TRY(check_joint(c, true, p->iv));
    return p->stiffness != 0 ? check_joint(c, false, p->iq) : LW_OK;
}

static lw_status check_servo(checked *c, const lwi_servo_par *p)
{
    const bool reads = p->law.gain[1] != 0 || p->law.bias[1] != 0;
    for (int k = 0; k < p->n; k++) {
        TRY(check_joint(c, true, p->share[k].iv));
        if (reads) TRY(check_joint(c, false, p->share[k].iq));
    }
    return check_law(c, &p->law);
}

static lw_status check_tendon(checked *c, const lwi_tendon_par *p)
{
    for (int i = 0; p->crank.rod == 0 && i < p->n; i++)
        if (p->part[i].radius > 0)
            return lwi_refuse(c->model, c->place, c->error, "%s passes round an obstacle", c->user);
    return check_law(c, &p->law);
}

static lw_status check_wrench(checked *c, const lwi_wrench_par *p)
{
    TRY(check_signals(c, 3, p->force_of));
    TRY(check_signals(c, 3, p->torque_of));
    return check_signals(c, 1, &p->scale);
}

static lw_status check_force(checked *c, const lwi_force_type *type, const void *par)
{
    if (type == &lwi_force_joint_spring) return check_joint_spring(c, par);
    if (type == &lwi_force_spring)
        return check_signals(c, 1, &((const lwi_spring_par *)par)->force);
    if (type == &lwi_force_wrench) return check_wrench(c, par);
    if (type == &lwi_force_servo) return check_servo(c, par);
    if (type == &lwi_force_tendon) return check_tendon(c, par);
    if (type == &lwi_force_joint_stop) {
        const lwi_joint_stop_par *p = par;
        lwi_joint_user(c->model, true, p->iv, c->user, sizeof c->user, &c->place);
        TRY(check_joint(c, true, p->iv));
        return check_joint(c, false, p->iq);
    }
    if (type == &lwi_force_joint_friction) {
        const lwi_joint_friction_par *p = par;
        lwi_joint_user(c->model, true, p->iv, c->user, sizeof c->user, &c->place);
        return check_joint(c, true, p->iv);
    }
    return LW_OK;
}

// The name of the description that a force was made of: they are in the same order.
static void name_force(checked *c, const lwi_force_type *type, int number)
{
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) {
        const lwi_force_item *item = lwi_force_items[k];
        if (item->type != type) continue;
        const void *desc = lwi_force_desc(&c->model->desc, k, number);
        snprintf(c->user, sizeof c->user, "%s '%.180s'", type->name,
                 lwi_force_item_name(item, desc));
        c->place = lwi_force_item_place(item, desc);
    }
}

// Signals with states are integrated whether or not a force reads them.
static lw_status check_states(checked *c)
{
    const lw_model *m = c->model;
    for (int i = 0; i < m->desc.nfunction; i++) {
        const lw_signal signal = {i + 1};
        if (m->function[i].nstate == 0) continue;
        snprintf(c->user, sizeof c->user, "signal '%.180s'",
                 m->function[i].desc.name ? m->function[i].desc.name : "");
        TRY(check_signals(c, 1, &signal));
    }
    return LW_OK;
}

lw_status lwi_forces_check(const lw_model *m, lw_error *error)
{
    checked c = {.model = m, .error = error};
    for (int i = 0; i < m->nforce; i++) {
        int number = 0;
        for (int k = 0; k < i; k++) number += m->force[k].type == m->force[i].type;
        name_force(&c, m->force[i].type, number);
        TRY(check_force(&c, m->force[i].type, m->force[i].par));
    }
    return check_states(&c);
}

// ---------------------------------------------------------------------------------- between bodies

/** What forces are added up with. */
typedef struct adding {
    lwi_sides sides;
    lwi_sources sources;
    val *J, *sum, *load; ///< [tree nv] scratch, scratch, total
    int xdot;
    bool works;  ///< the power of parts without a potential is wanted
    bool stores; ///< the rate of the potential energy is wanted
    val power;   ///< of the present force: one of the two
} adding;

static lwi_codegen_graph *graph_of(const adding *a)
{
    return a->sources.walk->graph;
}

static val root(lwi_codegen_graph *g, val x)
{
    return lwi_codegen_graph_op(g, LWI_OP_SQRT, x, x);
}

static val norm(lwi_codegen_graph *g, const val a[3])
{
    return root(g, lwi_codegen_dot(g, 3, a, a));
}

// Power f rate of a part without a potential.
static void work(adding *a, val f, val rate)
{
    if (a->works) a->power = madd(graph_of(a), a->power, f, rate);
}

// Rate of a potential energy with the derivative f by a length.
static void store(adding *a, val f, val rate)
{
    if (a->stores) a->power = madd(graph_of(a), a->power, f, rate);
}

// A force F on the second body at the second point, and the opposite on the first at the same point.
static void push_force(adding *a, const val F[3])
{
    lwi_sides_force_row(&a->sides, F, true, a->J);
    lwi_sides_push(&a->sides, a->J, lit(graph_of(a), 1), a->load);
}

static void push_torque(adding *a, const val T[3])
{
    lwi_sides_torque_row(&a->sides, T, a->J);
    lwi_sides_push(&a->sides, a->J, lit(graph_of(a), 1), a->load);
}

// Velocity of the second point relative to the material of the first body there.
static void slip(const lwi_sides *s, val v[3])
{
    lwi_codegen_graph *g = s->walk->graph;
    val turning[3];
    lwi_cross(g, turning, s->frame[0].w, s->d);
    lwi_difference(g, v, s->frame[1].v, s->frame[0].v);
    lwi_difference(g, v, v, turning);
}

// f = -k (l - l0) - c dl/dt + force, positive pushes the points apart
static void add_spring(adding *a, const lwi_spring_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    lwi_sides *s = &a->sides;
    const val more = lwi_signal_of(&a->sources, p->force, 0);
    val n[3];
    lwi_sides_points(s, p->body1, p->point1, p->body2, p->point2);
    const val length = norm(g, s->d), reciprocal = inverse(g, length);
    for (int i = 0; i < 3; i++) n[i] = mul(g, reciprocal, s->d[i]);
    lwi_sides_force_row(s, n, false, a->J);
    val f = add(g, more, lit(g, p->stiffness * p->length));
    if (p->stiffness != 0) f = msub(g, f, lit(g, p->stiffness), length);
    if (p->damping != 0) f = msub(g, f, lit(g, p->damping), lwi_sides_rate(s, n, a->J));
    lwi_sides_push(s, a->J, f, a->load);
    if (!a->works && !a->stores) return;
    const val rate = lwi_sides_rate(s, n, a->J);
    work(a, msub(g, more, lit(g, p->damping), rate), rate);
    store(a, mul(g, lit(g, p->stiffness), sub(g, length, lit(g, p->length))), rate);
}

static void add_wrench(adding *a, const lwi_wrench_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    val F[6];
    const val scale = lwi_signal_of(&a->sources, p->scale, 1);
    for (int i = 0; i < 3; i++) {
        F[i] = add(g, lit(g, p->force[i]), lwi_signal_of(&a->sources, p->force_of[i], 0));
        F[3 + i] = add(g, lit(g, p->torque[i]), lwi_signal_of(&a->sources, p->torque_of[i], 0));
    }
    for (int i = 0; i < 6; i++) F[i] = mul(g, scale, F[i]);
    lwi_sides_point(&a->sides, p->body, p->point);
    if (p->body_axes) {
        lwi_rotate(g, F, a->sides.frame[1].R, F);
        lwi_rotate(g, F + 3, a->sides.frame[1].R, F + 3);
    }
    push_force(a, F);
    push_torque(a, F + 3);
    for (int i = 0; i < 3; i++) work(a, F[i], a->sides.frame[1].v[i]);
    for (int i = 0; i < 3; i++) work(a, F[3 + i], a->sides.frame[1].w[i]);
}

// -(linear + quadratic |v|) v
static void resistance(lwi_codegen_graph *g, double linear, double quadratic, const val v[3],
                       val F[3])
{
    val k = lit(g, -linear);
    if (quadratic != 0) k = msub(g, k, lit(g, quadratic), norm(g, v));
    for (int i = 0; i < 3; i++) F[i] = mul(g, k, v[i]);
}

static void add_drag(adding *a, const lwi_drag_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    val v[3], F[3], T[3];
    lwi_sides_point(&a->sides, p->body, p->point);
    const lwi_place *at = &a->sides.frame[1];
    for (int i = 0; i < 3; i++) v[i] = sub(g, at->v[i], lit(g, p->flow[i]));
    resistance(g, p->linear, p->quadratic, v, F);
    resistance(g, p->angular, p->angular_quadratic, at->w, T);
    push_force(a, F);
    push_torque(a, T);
    for (int i = 0; i < 3; i++) work(a, F[i], at->v[i]);
    for (int i = 0; i < 3; i++) work(a, T[i], at->w[i]);
}

// f = k x^n max(0, 1 + d dx/dt) for x > 0, along the normal at the centre of the sphere
static void add_stop(adding *a, const lwi_stop_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    lwi_sides *s = &a->sides;
    val n[3], v[3], normal[3], depth;
    lwi_sides_points(s, p->body2, p->point2, p->body1, p->point1);
    slip(s, v);
    if (p->plane) {
        lwi_literals(g, 3, normal, p->normal);
        lwi_rotate(g, n, s->frame[0].R, normal);
        depth = lwi_codegen_dot(g, 3, n, s->d);
    } else {
        depth = norm(g, s->d);
        const val reciprocal = inverse(g, depth);
        for (int i = 0; i < 3; i++) n[i] = mul(g, reciprocal, s->d[i]);
    }
    const val zero = lit(g, 0), x = sub(g, lit(g, p->radius), depth);
    const val spring =
        mul(g, lit(g, p->stiffness), lwi_codegen_graph_op(g, LWI_OP_POW, x, lit(g, p->exponent)));
    const val rate = lwi_codegen_dot(g, 3, n, v); // of the distance: -dx/dt
    const val press = msub(g, lit(g, 1), lit(g, p->dissipation), rate);
    const val pressed = lwi_codegen_graph_select(g, neg(g, press), mul(g, spring, press), zero);
    const val f = lwi_codegen_graph_select(g, neg(g, x), pressed, zero);
    lwi_sides_force_row(s, n, true, a->J);
    lwi_sides_push(s, a->J, f, a->load);
    if (a->works)
        work(a, lwi_codegen_graph_select(g, neg(g, x), sub(g, pressed, spring), zero), rate);
    if (a->stores) store(a, neg(g, lwi_codegen_graph_select(g, neg(g, x), spring, zero)), rate);
}

// ---------------------------------------------------------------------------------------- bushings

// The rotation vector of R: 2 atan2(s, w) / s times (x, y, z) of its quaternion, s = |(x, y, z)|, with the sign of w > 0.
// The quaternion has the largest of its four squares as pivot, as quat_from_matrix.
static void rotation_vector(lwi_codegen_graph *g, const val R[9], val a[3])
{
    const val one = lit(g, 1);
    const val square[4] = {add(g, add(g, one, R[0]), add(g, R[4], R[8])),
                           sub(g, add(g, one, R[0]), add(g, R[4], R[8])),
                           sub(g, add(g, one, R[4]), add(g, R[0], R[8])),
                           sub(g, add(g, one, R[8]), add(g, R[0], R[4]))};
    const val x[3] = {sub(g, R[7], R[5]), sub(g, R[2], R[6]), sub(g, R[3], R[1])};
    const val xy = add(g, R[1], R[3]), xz = add(g, R[2], R[6]), yz = add(g, R[5], R[7]);
    const val row[4][4] = {{square[0], x[0], x[1], x[2]},
                           {x[0], square[1], xy, xz},
                           {x[1], xy, square[2], yz},
                           {x[2], xz, yz, square[3]}}; // 4 q_i q_k
    val q[4], largest = square[0];
    for (int k = 0; k < 4; k++) q[k] = row[0][k];
    for (int i = 1; i < 4; i++) {
        const val less = sub(g, largest, square[i]);
        for (int k = 0; k < 4; k++) q[k] = lwi_codegen_graph_select(g, less, row[i][k], q[k]);
        largest = lwi_codegen_graph_select(g, less, square[i], largest);
    }
    const val half = mul(g, lit(g, 0.5), inverse(g, root(g, largest)));
    for (int k = 0; k < 4; k++) q[k] = mul(g, half, q[k]);
    for (int k = 3; k >= 0; k--) q[k] = lwi_codegen_graph_select(g, q[0], neg(g, q[k]), q[k]);
    const val s = norm(g, q + 1), small = sub(g, s, lit(g, 1e-8));
    const val angle = lwi_codegen_graph_op(g, LWI_OP_ATAN2, s, q[0]);
    const val by_sine = mul(g, lit(g, 2), lwi_codegen_graph_op(g, LWI_OP_DIV, angle, s));
    const val factor = lwi_codegen_graph_select(g, small, lit(g, 2), by_sine);
    for (int k = 0; k < 3; k++) a[k] = mul(g, factor, q[1 + k]);
}

// y + a x y / 2 + c a x (a x y),  c = (1 - (|a|/2) cot(|a|/2)) / |a|^2
static void transposed_rate(lwi_codegen_graph *g, const val a[3], const val y[3], val out[3])
{
    const val square = lwi_codegen_dot(g, 3, a, a), angle = root(g, square);
    const val h = mul(g, lit(g, 0.5), angle);
    const val series = madd(g, lit(g, 1.0 / 12), lit(g, 1.0 / 720), square);
    const val tangent = lwi_codegen_graph_op(g, LWI_OP_TAN, h, h);
    const val numerator = sub(g, lit(g, 1), lwi_codegen_graph_op(g, LWI_OP_DIV, h, tangent));
    const val exact = lwi_codegen_graph_op(g, LWI_OP_DIV, numerator, square);
    const val c = lwi_codegen_graph_select(g, sub(g, angle, lit(g, 0.02)), series, exact);
    val u[3], w[3];
    lwi_cross(g, u, a, y);
    lwi_cross(g, w, a, u);
    for (int i = 0; i < 3; i++) out[i] = madd(g, madd(g, y[i], lit(g, 0.5), u[i]), c, w[i]);
}

// In axes of F1: force -K d - C dd/dt, torque -B(a)' K_a a - C_a w
static void add_bushing(adding *a, const lwi_bushing_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    lwi_sides *s = &a->sides;
    val R1[9], back[9], R[9], d[3], v[3], w[3], angle[3], y[3], F[3], T[3];
    const bool turns = p->stiffness[3] != 0 || p->stiffness[4] != 0 || p->stiffness[5] != 0;
    lwi_sides_place(s, (lwi_attachment){p->body1, p->R1, p->r1},
                    (lwi_attachment){p->body2, p->R2, p->r2});
    for (int i = 0; i < 9; i++) R1[i] = s->frame[0].R[i], back[3 * (i % 3) + i / 3] = R1[i];
    lwi_rotate_back(g, d, R1, s->d);
    slip(s, v);
    lwi_rotate_back(g, v, R1, v);
    lwi_difference(g, w, s->frame[1].w, s->frame[0].w);
    lwi_rotate_back(g, w, R1, w);
    lwi_zero(g, 3, T);
    if (turns) {
        lwi_product(g, R, back, s->frame[1].R);
        rotation_vector(g, R, angle);
        for (int i = 0; i < 3; i++) y[i] = mul(g, lit(g, -p->stiffness[3 + i]), angle[i]);
        transposed_rate(g, angle, y, T);
    }
    for (int i = 0; i < 3 && a->stores; i++) {
        store(a, mul(g, lit(g, p->stiffness[i]), d[i]), v[i]);
        store(a, neg(g, T[i]), w[i]);
    }
    for (int i = 0; i < 3; i++) {
        F[i] = neg(g, madd(g, mul(g, lit(g, p->stiffness[i]), d[i]), lit(g, p->damping[i]), v[i]));
        T[i] = msub(g, T[i], lit(g, p->damping[3 + i]), w[i]);
    }
    lwi_rotate(g, F, R1, F);
    lwi_rotate(g, T, R1, T);
    push_force(a, F);
    push_torque(a, T);
    for (int i = 0; i < 3 && a->works; i++) {
        work(a, mul(g, lit(g, -p->damping[i]), v[i]), v[i]);
        work(a, mul(g, lit(g, -p->damping[3 + i]), w[i]), w[i]);
    }
}

// ---------------------------------------------------------------------------------- servos, tendons

// (g0 + g1 l + g2 l') u + kd rate + b0 + b1 l + b2 l', within its range
static val servo_force(const adding *a, const lwi_servo_law *law, val l, val dl)
{
    lwi_codegen_graph *g = graph_of(a);
    const val u = lwi_within(g, lwi_signal_of(&a->sources, law->target, 0), law->target_range);
    const val gain =
        madd(g, madd(g, lit(g, law->gain[0]), lit(g, law->gain[1]), l), lit(g, law->gain[2]), dl);
    const val bias =
        madd(g, madd(g, lit(g, law->bias[0]), lit(g, law->bias[1]), l), lit(g, law->bias[2]), dl);
    val f = madd(g, bias, gain, u);
    if (law->kd != 0) f = madd(g, f, lit(g, law->kd), lwi_signal_of(&a->sources, law->rate, 0));
    return lwi_within(g, f, law->effort_range);
}

// Within what a motor can do at a speed.
static val of_motor(lwi_codegen_graph *g, const lwi_servo_par *p, val f, val speed)
{
    static const double part[2] = {0, 1};
    if (!(p->stall < INFINITY)) return f;
    const val x = mul(g, lit(g, p->per_speed), speed), one = lit(g, 1), stall = lit(g, p->stall);
    const val up = mul(g, stall, lwi_within(g, sub(g, one, x), part));
    const val down = neg(g, mul(g, stall, lwi_within(g, add(g, one, x), part)));
    f = lwi_codegen_graph_select(g, sub(g, f, down), down, f);
    return lwi_codegen_graph_select(g, sub(g, up, f), up, f);
}

static void add_servo(adding *a, const lwi_servo_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    const bool reads = p->law.gain[1] != 0 || p->law.bias[1] != 0;
    val l = lit(g, 0), dl = l;
    for (int k = 0; k < p->n; k++) {
        const val c = lit(g, p->share[k].c);
        if (reads) l = madd(g, l, c, lwi_joint_reading(&a->sides, false, p->share[k].iq));
        dl = madd(g, dl, c, lwi_joint_reading(&a->sides, true, p->share[k].iv));
    }
    val f = of_motor(g, p, servo_force(a, &p->law, l, dl), dl);
    if (p->per_lag > 0) {
        const val y = lwi_codegen_graph_input(g, a->sources.walk->x, p->state);
        const double range[2] = {-p->effort_rate, p->effort_rate};
        const val rate = lwi_within(g, mul(g, lit(g, p->per_lag), sub(g, f, y)), range);
        if (a->xdot >= 0) lwi_codegen_graph_output(g, a->xdot, p->state, rate);
        f = y;
    }
    for (int k = 0; k < p->n; k++)
        lwi_joint_push(&a->sides, p->share[k].iv, mul(g, lit(g, p->share[k].c), f), a->J, a->load);
    work(a, f, dl);
}

// sum += J / divisor of a row along n, and the rate.
static void add_line(adding *a, const val n[3], bool shared, const val v[3], double divisor,
                     val *rate)
{
    lwi_codegen_graph *g = graph_of(a);
    const val per = lit(g, 1 / divisor);
    lwi_sides_force_row(&a->sides, n, shared, a->J);
    for (int i = 0; i < a->sources.walk->elements->model->tree_nv; i++)
        a->sum[i] = madd(g, a->sum[i], per, a->J[i]);
    *rate = madd(g, *rate, per, lwi_codegen_dot(g, 3, n, v));
}

static void along_path(adding *a, const lwi_tendon_par *p, val *L, val *rate)
{
    lwi_codegen_graph *g = graph_of(a);
    const lwi_path_part *before = NULL;
    double divisor = 1;
    for (int i = 0; i < p->n; i++) {
        const lwi_path_part *part = &p->part[i];
        val n[3], v[3];
        if (part->divisor != 0) {
            divisor = part->divisor;
            before = NULL;
            continue;
        }
        if (before) {
            lwi_sides_points(&a->sides, before->body, before->point, part->body, part->point);
            const val length = norm(g, a->sides.d), reciprocal = inverse(g, length);
            for (int k = 0; k < 3; k++) n[k] = mul(g, reciprocal, a->sides.d[k]);
            lwi_difference(g, v, a->sides.frame[1].v, a->sides.frame[0].v);
            *L = madd(g, *L, lit(g, 1 / divisor), length);
            if (before->body != part->body) add_line(a, n, false, v, divisor, rate);
        }
        before = part;
    }
}

// The force on the crank's point, which the slider's body takes at the same point (tendon.c: the couple is a x share d).
static void along_crank(adding *a, const lwi_slider_crank_par *p, val *L, val *rate)
{
    lwi_codegen_graph *g = graph_of(a);
    lwi_sides *s = &a->sides;
    val axis[3], v[3], n[3];
    lwi_sides_points(s, p->slider, p->at, p->crank, p->point);
    lwi_literals(g, 3, axis, p->axis);
    lwi_rotate(g, axis, s->frame[0].R, axis);
    slip(s, v);
    const val ad = lwi_codegen_dot(g, 3, axis, s->d), zero = lit(g, 0), one = lit(g, 1);
    const val square =
        sub(g, madd(g, lit(g, p->rod * p->rod), ad, ad), lwi_codegen_dot(g, 3, s->d, s->d));
    const val none = neg(g, square); // < 0: the rod reaches the axis
    const val length = root(g, square), per = inverse(g, length);
    const val share = lwi_codegen_graph_select(g, none, msub(g, one, ad, per), one);
    const val along = lwi_codegen_graph_select(g, none, per, zero);
    for (int i = 0; i < 3; i++) n[i] = madd(g, mul(g, share, axis[i]), along, s->d[i]);
    *L = sub(g, ad, lwi_codegen_graph_select(g, none, length, zero));
    add_line(a, n, true, v, 1, rate);
}

static void add_tendon(adding *a, const lwi_tendon_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    const val zero = lit(g, 0), gear = lit(g, p->law.gear);
    val L = zero, rate = zero;
    lwi_zero(g, a->sources.walk->elements->model->tree_nv, a->sum);
    if (p->crank.rod > 0)
        along_crank(a, &p->crank, &L, &rate);
    else
        along_path(a, p, &L, &rate);
    val f = mul(g, gear, servo_force(a, &p->law, mul(g, gear, L), mul(g, gear, rate)));
    f = msub(g, f, lit(g, p->damping), rate);
    if (p->coulomb > 0) {
        const val x = mul(g, lit(g, 1 / p->speed), rate);
        f = msub(g, f, lit(g, p->coulomb), lwi_codegen_graph_op(g, LWI_OP_TANH, x, x));
    }
    work(a, f, rate);
    if (p->stiffness != 0) {
        const double slack[2] = {p->lower, p->upper};
        const val x = sub(g, L, lwi_within(g, L, slack));
        store(a, mul(g, lit(g, p->stiffness), x), rate);
        f = msub(g, f, lit(g, p->stiffness), x);
    }
    for (int i = 0; i < a->sources.walk->elements->model->tree_nv; i++)
        a->load[i] = madd(g, a->load[i], a->sum[i], f);
}

// --------------------------------------------------------------------------------------- on joints

// The load has all of a spring on a joint that closes a loop; else only what follows a function, for the sweeps have the rest
// (lwi_effort).
static void add_joint_spring(adding *a, const lwi_joint_spring_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    const lwi_elements *elements = a->sources.walk->elements;
    const lw_signal both[2] = {p->force, p->effort};
    const bool of_tree = lwi_tree_speed(elements->model, p->iv) >= 0;
    if (lwi_joint_is_still(elements->model, true, p->iv)) return;
    val f = lit(g, 0), of_sweeps = f;
    for (int i = 0; i < 2; i++) {
        double constant;
        const bool known = of_tree && lwi_constant_signal(elements->model, both[i], &constant);
        val *sum = known ? &of_sweeps : &f;
        *sum = add(g, *sum, lwi_signal_of(&a->sources, both[i], 0));
    }
    if (p->damping != 0 && (!of_tree || a->works)) {
        val *sum = of_tree ? &of_sweeps : &f;
        *sum = msub(g, *sum, lit(g, p->damping), lwi_joint_reading(&a->sides, true, p->iv));
    }
    if (a->works && lwi_force_dissipates(&lwi_force_joint_spring, p))
        work(a, add(g, f, of_sweeps), lwi_joint_reading(&a->sides, true, p->iv));
    if (a->stores && p->stiffness != 0 && p->iq >= 0)
        store(a,
              mul(g, lit(g, p->stiffness),
                  sub(g, lwi_joint_reading(&a->sides, false, p->iq), lit(g, p->at))),
              lwi_joint_reading(&a->sides, true, p->iv));
    if (!of_tree && p->stiffness != 0 && p->iq >= 0)
        f = msub(g, f, lit(g, p->stiffness),
                 sub(g, lwi_joint_reading(&a->sides, false, p->iq), lit(g, p->at)));
    lwi_joint_push(&a->sides, p->iv, f, a->J, a->load);
}

// -side max(0, k x + c dx/dt) beyond the end, x = side (q - at)
static void add_joint_stop(adding *a, const lwi_joint_stop_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    const val zero = lit(g, 0), side = lit(g, p->side);
    if (lwi_joint_is_still(a->sources.walk->elements->model, true, p->iv)) return;
    const val q = lwi_joint_reading(&a->sides, false, p->iq);
    const val x = mul(g, side, sub(g, q, lit(g, p->at)));
    const val spring = mul(g, lit(g, p->stiffness), x);
    val f = spring;
    if (p->damping != 0) {
        const val speed = mul(g, side, lwi_joint_reading(&a->sides, true, p->iv));
        f = madd(g, f, lit(g, p->damping), speed);
        f = lwi_codegen_graph_select(g, neg(g, f), f, zero);
        if (a->works)
            work(a, lwi_codegen_graph_select(g, neg(g, x), sub(g, spring, f), zero), speed);
    }
    if (a->stores)
        store(a, lwi_codegen_graph_select(g, neg(g, x), mul(g, side, spring), zero),
              lwi_joint_reading(&a->sides, true, p->iv));
    f = lwi_codegen_graph_select(g, neg(g, x), f, zero);
    lwi_joint_push(&a->sides, p->iv, neg(g, mul(g, side, f)), a->J, a->load);
}

static void add_joint_friction(adding *a, const lwi_joint_friction_par *p)
{
    lwi_codegen_graph *g = graph_of(a);
    if (lwi_joint_is_still(a->sources.walk->elements->model, true, p->iv)) return;
    const val speed = lwi_joint_reading(&a->sides, true, p->iv);
    val f = neg(g, mul(g, lit(g, p->viscous), speed));
    if (p->coulomb != 0) {
        const val x = mul(g, lit(g, 1 / p->speed), speed);
        f = msub(g, f, lit(g, p->coulomb), lwi_codegen_graph_op(g, LWI_OP_TANH, x, x));
    }
    lwi_joint_push(&a->sides, p->iv, f, a->J, a->load);
    work(a, f, speed);
}

// ------------------------------------------------------------------------------------------- call

// Rotors of prescribed coordinates do not change the motion; rates of signals are not loads (signals.c).
static void add_force(adding *a, const lwi_force *force)
{
    if (force->type == &lwi_force_joint_spring)
        add_joint_spring(a, force->par);
    else if (force->type == &lwi_force_joint_stop)
        add_joint_stop(a, force->par);
    else if (force->type == &lwi_force_joint_friction)
        add_joint_friction(a, force->par);
    else if (force->type == &lwi_force_spring)
        add_spring(a, force->par);
    else if (force->type == &lwi_force_wrench)
        add_wrench(a, force->par);
    else if (force->type == &lwi_force_bushing)
        add_bushing(a, force->par);
    else if (force->type == &lwi_force_stop)
        add_stop(a, force->par);
    else if (force->type == &lwi_force_drag)
        add_drag(a, force->par);
    else if (force->type == &lwi_force_servo)
        add_servo(a, force->par);
    else if (force->type == &lwi_force_tendon)
        add_tendon(a, force->par);
}

lw_status lwi_forces_create(const lwi_walk *walk, lwi_arena *arena, int xdot, val *power,
                            const val **load)
{
    const lw_model *m = walk->elements->model;
    adding *a = LWI_PUSH(arena, adding, 1);
    val *each = LWI_PUSH(arena, val, m->nforce);
    *load = NULL;
    if (power) *power = lit(walk->graph, 0);
    if (m->nforce == 0) return LW_OK;
    if (!a || !each) return LW_ERR_MEMORY;
    *a = (adding){.xdot = xdot, .works = power && !m->driven, .stores = power && m->driven};
    a->sources = (lwi_sources){.walk = walk, .sides = &a->sides};
    a->J = LWI_PUSH(arena, val, m->tree_nv);
    a->sum = LWI_PUSH(arena, val, m->tree_nv);
    a->load = LWI_PUSH(arena, val, m->tree_nv);
    if (!a->J || !a->sum || !a->load) return LW_ERR_MEMORY;
    TRY(lwi_sides_create(walk, arena, &a->sides));
    lwi_zero(walk->graph, m->tree_nv, a->load);
    for (int i = 0; i < m->nforce; i++) {
        lwi_codegen_graph_mark(walk->graph);
        a->power = lit(walk->graph, 0);
        add_force(a, &m->force[i]);
        each[i] = a->power;
    }
    if (power) *power = lwi_codegen_sum(walk->graph, m->nforce, each);
    if (xdot >= 0) lwi_signal_rates(&a->sources, xdot);
    *load = a->load;
    return walk->graph->failed ? LW_ERR_MEMORY : LW_OK;
}
