// bushing.c -- springs and dampers in six directions between frames F1 and F2 of two bodies.
//
// In axes of F1: displacement d of F2's origin, rotation vector a of F2, relative velocity (dd/dt,
// w);
//     force   -K d - C dd/dt         torque   -B(a)' K_a a - C_a w,    da/dt = B(a) w
//     B = 1 - [a]/2 + c [a]^2,  c = (1 - (|a|/2) cot(|a|/2)) / |a|^2
// on body 2 at F2's origin, the opposite on body 1 at the same point.  B makes the torque that of
// the potential (d' K d + a' K_a a)/2, at any angle up to half a turn, where a jumps.
#include "model/forces/change.h"
#include "model/forces/describe.h"
#include "model/model.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

typedef struct strain {
    double R1[9];            ///< F1 -> world
    double arm1[3], arm2[3]; ///< F2's origin from both mass centres, world axes
    double d[3], a[3];
} strain;

static void rotation_vector(double a[3], const double R[9])
{
    double q[4];
    quat_from_matrix(q, R);
    if (q[0] < 0)
        for (int i = 0; i < 4; i++) q[i] = -q[i];
    const double s = v3_norm(q + 1);
    // below this |a| = 2 |s| to the last bit
    v3_scale(a, s > 1e-8 ? 2 * atan2(s, q[0]) / s : 2, q + 1);
}

static strain strain_of(const lwi_bushing_par *p, const lwi_kin *kin)
{
    strain s;
    double R2[9], R[9], p1[3], p2[3], arm[3];
    m3_mul(s.R1, kin->R[p->body1], p->R1);
    m3_mul(R2, kin->R[p->body2], p->R2);
    m3_tmul(R, s.R1, R2);
    rotation_vector(s.a, R);
    m3_mul_v(arm, kin->R[p->body1], p->r1);
    v3_add(p1, kin->r[p->body1], arm);
    m3_mul_v(s.arm2, kin->R[p->body2], p->r2);
    v3_add(p2, kin->r[p->body2], s.arm2);
    v3_sub(s.arm1, p2, kin->r[p->body1]);
    v3_sub(s.d, p2, p1);
    m3_tmul_v(s.d, s.R1, s.d);
    return s;
}

// c, and its derivative by the angle |a| divided by the angle; the series where the differences would lose digits.
static double curvature(double angle, double *slope)
{
    const double h = 0.5 * angle, x = angle * angle;
    if (angle < 0.05) {
        *slope = 1.0 / 360 + x / 7560 + x * x / 201600;
        return 1.0 / 12 + x / 720 + x * x / 30240;
    }
    const double g = 1 - h / tan(h), dg = h / (sin(h) * sin(h)) - 1 / tan(h);
    *slope = (0.5 * dg / x - 2 * g / (x * angle)) / angle;
    return g / x;
}

// y + a x y / 2 + c a x (a x y) = B' y
static void transposed_rate(double out[3], const double a[3], const double y[3])
{
    const double angle = v3_norm(a), h = 0.5 * angle;
    // the series where the difference would lose digits
    const double c =
        angle < 0.02 ? 1.0 / 12 + angle * angle / 720 : (1 - h / tan(h)) / (angle * angle);
    double u[3], w[3];
    v3_cross(u, a, y);
    v3_cross(w, a, u);
    for (int i = 0; i < 3; i++) out[i] = y[i] + 0.5 * u[i] + c * w[i];
}

// dd/dt and w in axes of F1.
static void rates_of(const lwi_bushing_par *p, const lwi_kin *kin, const strain *s, double dd[3],
                     double w[3])
{
    double v1[3], v2[3];
    point_velocity(v1, kin, p->body1, s->arm1);
    point_velocity(v2, kin, p->body2, s->arm2);
    v3_sub(v2, v2, v1);
    m3_tmul_v(dd, s->R1, v2);
    v3_sub(w, kin->w[p->body2], kin->w[p->body1]);
    m3_tmul_v(w, s->R1, w);
}

// Force and torque on body 2 in axes of F1.
static void loads_of(const lwi_bushing_par *p, const strain *s, const double rate[6], double f[3],
                     double torque[3])
{
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = -p->stiffness[3 + i] * s->a[i];
    transposed_rate(torque, s->a, y);
    for (int i = 0; i < 3; i++) {
        f[i] = -p->stiffness[i] * s->d[i] - p->damping[i] * rate[i];
        torque[i] -= p->damping[3 + i] * rate[3 + i];
    }
}

static void push(lwi_loads *loads, int body, const double arm[3], double sign, const double f[3],
                 const double torque[3])
{
    push_along(loads, body, arm, sign, f);
    v3_axpy(lwi_load_on(loads, body) + 3, sign, torque);
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_bushing_par *p = par;
    (void)model, (void)t, (void)inputs;
    const strain s = strain_of(p, kin);
    double rate[6], f[3], torque[3];
    rates_of(p, kin, &s, rate, rate + 3);
    loads_of(p, &s, rate, f, torque);
    m3_mul_v(f, s.R1, f);
    m3_mul_v(torque, s.R1, torque);
    push(loads, p->body1, s.arm1, -1, f, torque);
    push(loads, p->body2, s.arm2, 1, f, torque);
    for (int i = 0; i < 6; i++) loads->power -= p->damping[i] * rate[i] * rate[i];
}

static double potential(const lw_model *model, const void *par, const lwi_kin *kin)
{
    const lwi_bushing_par *p = par;
    (void)model;
    const strain s = strain_of(p, kin);
    double V = 0;
    for (int i = 0; i < 3; i++)
        V += 0.5 * (p->stiffness[i] * s.d[i] * s.d[i] + p->stiffness[3 + i] * s.a[i] * s.a[i]);
    return V;
}

static int dissipates(const void *par)
{
    const lwi_bushing_par *p = par;
    for (int i = 0; i < 6; i++)
        if (p->damping[i] != 0) return 1;
    return 0;
}

static lwi_force_place place(const void *par)
{
    const lwi_bushing_par *p = par;
    return (lwi_force_place){.iv = -1, .n = 2, .body = {p->body1, p->body2}};
}

// Three displacements, and rows B(a)' e_i of the rotations: torque -B' K a - C w, da/dt = B w; for a
// damper, J x = B rotation stands for the rotation itself, which differs by the square of the angle.
static void rows(const void *par, const lwi_force_state *s, lwi_force_row *row)
{
    const lwi_bushing_par *p = par;
    double R1[9], R2[9], R[9], quat[4], angle[3], point[3];
    static const double identity[4] = {1, 0, 0, 0};
    m3_mul(R1, s->kin->R[p->body1], p->R1);
    m3_mul(R2, s->kin->R[p->body2], p->R2);
    m3_tmul(R, R1, R2);
    quat_from_matrix(quat, R);
    quat_continue(quat, identity);
    const double sine = v3_norm(quat + 1);
    v3_scale(angle, sine > 0 ? 2 * atan2(sine, quat[0]) / sine : 0, quat + 1);
    const double factor = rotation_vector_factor(angle);
    point_of(point, s->kin, p->body2, p->r2);
    for (int i = 0; i < 3; i++) {
        const double e[3] = {i == 0, i == 1, i == 2};
        double n[3], once[3], twice[3];
        m3_mul_v(n, R1, e);
        unit_force(&row[i], point, point, n, p->stiffness[i] + s->two * p->damping[i]);
        v3_cross(once, angle, e);
        v3_cross(twice, angle, once);
        for (int k = 0; k < 3; k++) n[k] = e[k] + 0.5 * once[k] + factor * twice[k];
        m3_mul_v(n, R1, n);
        unit_force(&row[3 + i], point, point, n, p->stiffness[3 + i] + s->two * p->damping[3 + i]);
        row[3 + i].couple = true;
    }
}

// Force and torque follow frame F1 of body 1, at a point of body 2.
static int actions(const void *par, const lwi_force_state *s, lwi_force_action *action)
{
    const lwi_bushing_par *p = par;
    double own[3], point[3], T[3], back[3];
    m3_mul_v(own, s->kin->R[p->body2], p->r2);
    v3_copy(T, s->load[1] + 3);
    v3_cross_add(T, s->load[1], own); // less own x F
    v3_scale(back, -1, s->load[1]);
    point_of(point, s->kin, p->body2, p->r2);
    act(&action[0], 1, LWI_FOLLOWS_POINT, point, s->load[1]);
    act(&action[1], 1, LWI_FOLLOWS_TORQUE, point, T);
    act(&action[2], 0, LWI_FOLLOWS_DIRECTION, point, back);
    return 3;
}

/** Displacements, rates and loads on body 2 in axes of F1; or their changes. */
typedef struct local {
    double d[3], a[3], rate[3], w[3], f[3], torque[3];
} local;

// Changes of f and torque by those of d, a, rate and w.
static void local_change(const lwi_bushing_par *p, const strain *s, local *c)
{
    double y[3], dy[3], first[3], second[3], part[3], slope;
    const double curve = curvature(v3_norm(s->a), &slope), turn = slope * v3_dot(s->a, c->a);
    for (int i = 0; i < 3; i++) {
        y[i] = -p->stiffness[3 + i] * s->a[i];
        dy[i] = -p->stiffness[3 + i] * c->a[i];
        c->f[i] = -p->stiffness[i] * c->d[i] - p->damping[i] * c->rate[i];
    }
    transposed_rate(c->torque, s->a, dy);
    v3_cross(first, s->a, y);
    v3_cross(second, s->a, first);
    v3_axpy(c->torque, turn, second);
    v3_cross(part, c->a, first);
    v3_axpy(c->torque, curve, part);
    v3_cross(first, c->a, y);
    v3_axpy(c->torque, 0.5, first);
    v3_cross(part, s->a, first);
    v3_axpy(c->torque, curve, part);
    for (int i = 0; i < 3; i++) c->torque[i] -= p->damping[3 + i] * c->w[i];
}

// out := R1' (x2 - x1 - theta1 x x), the change of the components of x in the axes of F1, which rotate.
static void to_frame(const double R1[9], const lwi_motion_pair *m, const double x[3],
                     const double dx[3], double out[3])
{
    double rotated[3];
    v3_cross(rotated, m->pose[0] + 3, x);
    v3_sub(out, dx, rotated);
    m3_tmul_v(out, R1, out);
}

// da = B(a) theta = theta - a x theta / 2 + c a x (a x theta)
static void angle_change(const double a[3], const double theta[3], double out[3])
{
    double slope, u[3], w[3];
    const double c = curvature(v3_norm(a), &slope);
    v3_cross(u, a, theta);
    v3_cross(w, a, u);
    for (int i = 0; i < 3; i++) out[i] = theta[i] - 0.5 * u[i] + c * w[i];
}

static void differentiate(const void *par, const lwi_force_state *s, int n,
                          const lwi_motion_pair *change, double (*load)[2][6])
{
    const lwi_bushing_par *p = par;
    const lwi_kin *kin = s->kin;
    const strain at = strain_of(p, kin);
    const double *w1 = kin->w[p->body1], *w2 = kin->w[p->body2];
    double rate[6], F[3], T[3], d[3], v[3], v1[3], w[3];
    rates_of(p, kin, &at, rate, rate + 3);
    loads_of(p, &at, rate, F, T);
    m3_mul_v(F, at.R1, F);
    m3_mul_v(T, at.R1, T);
    m3_mul_v(d, at.R1, at.d);
    point_velocity(v1, kin, p->body1, at.arm1);
    point_velocity(v, kin, p->body2, at.arm2);
    v3_sub(v, v, v1);
    v3_sub(w, w2, w1);
    memset(load, 0, (size_t)n * sizeof *load);
    for (int i = 0; i < n; i++) {
        const lwi_motion_pair *m = &change[i];
        double own[3], darm1[3], darm2[3], dp2[3], dp1[3], dd[3], dv[3], dv1[3], turn[3], dw[3],
            dF[3], dT[3];
        local c;
        arm_change(darm2, m, 1, at.arm2);
        v3_add(dp2, m->pose[1], darm2);
        v3_sub(darm1, dp2, m->pose[0]);
        v3_sub(own, at.arm1, d); // F1's origin from the mass centre
        point_change(dp1, m, 0, own);
        v3_sub(dd, dp2, dp1);
        to_frame(at.R1, m, d, dd, c.d);
        v3_sub(turn, m->pose[1] + 3, m->pose[0] + 3);
        m3_tmul_v(turn, at.R1, turn);
        angle_change(at.a, turn, c.a);
        velocity_change(dv1, m, 0, w1, at.arm1, darm1);
        velocity_change(dv, m, 1, w2, at.arm2, darm2);
        v3_sub(dv, dv, dv1);
        to_frame(at.R1, m, v, dv, c.rate);
        v3_sub(dw, m->twist[1] + 3, m->twist[0] + 3);
        to_frame(at.R1, m, w, dw, c.w);
        local_change(p, &at, &c);
        m3_mul_v(dF, at.R1, c.f);
        v3_cross_add(dF, m->pose[0] + 3, F);
        m3_mul_v(dT, at.R1, c.torque);
        v3_cross_add(dT, m->pose[0] + 3, T);
        add_load_change(load[i][0], -1, F, dF, at.arm1, darm1);
        add_load_change(load[i][1], 1, F, dF, at.arm2, darm2);
        v3_axpy(load[i][0] + 3, -1, dT);
        v3_axpy(load[i][1] + 3, 1, dT);
    }
}

static const size_t load_numbers[] = {
    offsetof(lwi_bushing_par, stiffness[0]), offsetof(lwi_bushing_par, stiffness[1]),
    offsetof(lwi_bushing_par, stiffness[2]), offsetof(lwi_bushing_par, stiffness[3]),
    offsetof(lwi_bushing_par, stiffness[4]), offsetof(lwi_bushing_par, stiffness[5]),
    offsetof(lwi_bushing_par, damping[0]),   offsetof(lwi_bushing_par, damping[1]),
    offsetof(lwi_bushing_par, damping[2]),   offsetof(lwi_bushing_par, damping[3]),
    offsetof(lwi_bushing_par, damping[4]),   offsetof(lwi_bushing_par, damping[5])};

static void by_numbers(const void *par, const lwi_force_state *s, double (*load)[2][6])
{
    const lwi_bushing_par *p = par;
    const strain at = strain_of(p, s->kin);
    static const double still[3];
    double rate[6];
    rates_of(p, s->kin, &at, rate, rate + 3);
    memset(load, 0, LWI_COUNT(load_numbers) * sizeof *load);
    for (int i = 0; i < LWI_COUNT(load_numbers); i++) {
        const bool stiffness = i < 6, turns = i % 6 >= 3;
        const double *x = !stiffness ? (turns ? rate + 3 : rate) : turns ? at.a : at.d;
        double y[3] = {0}, f[3], *to[2] = {load[i][0], load[i][1]};
        y[i % 3] = -x[i % 3];
        if (stiffness && turns)
            transposed_rate(f, at.a, y);
        else
            v3_copy(f, y);
        m3_mul_v(f, at.R1, f);
        for (int side = 0; side < 2; side++) {
            const double sign = side ? 1 : -1;
            if (turns)
                v3_axpy(to[side] + 3, sign, f);
            else
                add_load_change(to[side], sign, still, f, side ? at.arm2 : at.arm1, still);
        }
    }
}

static const lwi_quantity quantities[] = {
    LWI_OUTPUT("bushing", "displacement", LWI_OUTPUT_VECTOR("", "F1"), .unit = {"m"},
               .summary = "displacement of the second frame's origin"),
    LWI_OUTPUT("bushing", "rotation", LWI_OUTPUT_VECTOR("r", "F1"), .unit = {"rad"},
               .summary = "rotation vector of the second frame"),
    LWI_OUTPUT("bushing", "velocity", LWI_OUTPUT_VECTOR("v", "F1"), .unit = {"m/s"},
               .summary = "relative velocity of the second frame's origin"),
    LWI_OUTPUT("bushing", "angular_velocity", LWI_OUTPUT_VECTOR("w", "F1"), .unit = {"rad/s"},
               .summary = "relative angular velocity"),
    LWI_OUTPUT("bushing", "force", LWI_OUTPUT_VECTOR("f", "F1"), .unit = {"N"},
               .summary = "force on the second body, at the origin of its frame"),
    LWI_OUTPUT("bushing", "torque", LWI_OUTPUT_VECTOR("t", "F1"), .unit = {"N m"},
               .summary = "torque on the second body"),
    LWI_OUTPUT("bushing", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "power of force and torque"),
    LWI_OUTPUT("bushing", "energy", LWI_OUTPUT_SCALAR, .part = {"energy"}, .unit = {"J"},
               .summary = "energy in its springs"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_bushing_par *p = par;
    (void)t, (void)inputs;
    const strain s = strain_of(p, kin);
    double rate[6], f[3], torque[3];
    rates_of(p, kin, &s, rate, rate + 3);
    loads_of(p, &s, rate, f, torque);
    v3_axpy(value, 1, s.d);
    v3_axpy(value + 3, 1, s.a);
    v6_axpy(value + 6, 1, rate);
    v3_axpy(value + 12, 1, f);
    v3_axpy(value + 15, 1, torque);
    value[18] += v3_dot(f, rate) + v3_dot(torque, rate + 3);
    value[19] += potential(model, par, kin);
}

// Above 90 degrees the direction of a, of each component some digits; a reverses where 180 degrees are passed.
enum { DIGITS = 1000 };

static int piece(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                 const double *inputs)
{
    (void)model, (void)t, (void)inputs;
    const lwi_bushing_par *p = par;
    const strain s = strain_of(p, kin);
    const double angle = v3_norm(s.a);
    int code = 0;
    if (angle < 1.5707963267948966) return 0;
    for (int i = 0; i < 3; i++)
        code = code * DIGITS + (int)((s.a[i] / angle + 1) * (DIGITS / 2 - 1));
    return 1 + code;
}

static void direction_of(int code, double n[3])
{
    for (int i = 2, rest = code - 1; i >= 0; i--, rest /= DIGITS)
        n[i] = rest % DIGITS - (DIGITS / 2 - 1);
}

static lwi_force_passage passes(int from, int to)
{
    double n[3], m[3];
    if (from == 0 || to == 0) return LWI_PASSES_NOTHING;
    direction_of(from, n);
    direction_of(to, m);
    return v3_dot(n, m) < 0 ? LWI_PASSES_JUMP : LWI_PASSES_NOTHING;
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_bushing = {
    .name = "bushing",
    .summary = "springs and dampers in six directions between two bodies",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = potential, .dissipates = dissipates,
                    .next_break = NULL, .modes = NULL, .varies = NULL, .rate = NULL, .nrow = 6,
                    .rows = rows, .actions = actions, .outputs = &outputs),
    .piece = piece,
    .passes = passes,
    .jump = {"an angle of 180 degrees", "its torque"},
    .differentiate = differentiate,
    .load_number = load_numbers,
    .nload_number = LWI_COUNT(load_numbers),
    .by_numbers = by_numbers,
};

// ---- in model files

// clang-format off
#define AT(field) .offset = offsetof(lw_bushing_desc, field)
static const lwi_yaml_key keys[] = {
    {"between", LWI_KEY_PAIR, AT(body1), .required = LWI_KEY_REQUIRED, .help = "the two bodies"},
    {"at", LWI_KEY_VECTOR, AT(at), .flag = offsetof(lw_bushing_desc, has_at),
     .help = "origin of both frames, with world axes, at the assembly configuration [m]"},
    {"frame1", LWI_KEY_OBJECT, AT(frame1), .more = &lwi_yaml_pose_object,
     .help = "instead of `at`: F1 in the frame of the first body"},
    {"frame2", LWI_KEY_OBJECT, AT(frame2), .more = &lwi_yaml_pose_object,
     .help = "instead of `at`: F2 in the frame of the second body"},
    {"stiffness", LWI_KEY_NUMBERS, AT(stiffness), .count = 6, .required = LWI_KEY_REQUIRED,
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "along x y z of F1 [N/m], about x y z [N m/rad], >= 0"},
    {"damping", LWI_KEY_NUMBERS, AT(damping), .count = 6,
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "the same for velocities [N s/m, N m s/rad], >= 0; default 0"},
};
#undef AT
static const char *const types[] = {"bushing"};
static const lwi_yaml_object object = {.title = "bushing", .help = "springs and dampers in six directions",
                                       .type = types, .ntype = 1, .key = keys, .nkey = LWI_COUNT(keys)};
// clang-format on

lw_status lw_builder_add_bushing(lw_builder *b, const lw_bushing_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_bushing_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_bushing_desc", error));
    d.name = lwi_builder_name(b, desc->name, "bushing", b->desc.force[LWI_ITEM_bushing].n);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "bushing", d.name, d.place, error}, *it = &item;
    TRY(lwi_item_pair(it, d.body1, d.body2));
    if (!finite3(d.at) || !finite3(d.frame1.position) || !finite3(d.frame2.position) ||
        !none_negative(d.stiffness, 6) || !none_negative(d.damping, 6))
        return lwi_item_fail(
            it, "its places must be finite, stiffness and damping six numbers >= 0 each");
    if (d.has_at) {
        const double r[3] = {d.at.x, d.at.y, d.at.z}, q[4] = {1, 0, 0, 0};
        d.frame1 = lwi_pose_in_body(&b->desc.body[d.body1.index].pose, r, q);
        d.frame2 = lwi_pose_in_body(&b->desc.body[d.body2.index].pose, r, q);
        d.has_at = 0, d.at = (lw_vec3){0, 0, 0};
    }
    TRY(lwi_item_unit(it, "orientation of frame1", &d.frame1.orientation));
    TRY(lwi_item_unit(it, "orientation of frame2", &d.frame2.orientation));
    return lwi_force_push(b, LWI_ITEM_bushing, &d, error);
}

static lw_status add(lw_builder *builder, const void *desc, lw_error *error)
{
    return lw_builder_add_bushing(builder, desc, error);
}

static lw_status compile(lw_model *m, const void *desc, void *par)
{
    const lw_bushing_desc *d = desc;
    lwi_bushing_par *p = par;
    p->body1 = d->body1.index, p->body2 = d->body2.index;
    frame_from_com(m, p->body1, &d->frame1, p->R1, p->r1);
    frame_from_com(m, p->body2, &d->frame2, p->R2, p->r2);
    memcpy(p->stiffness, d->stiffness, sizeof p->stiffness);
    memcpy(p->damping, d->damping, sizeof p->damping);
    return LW_OK;
}

#define ROW(...) LWI_FORCE_PARAMETER(bushing, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("stiffness_x", "N/m", stiffness[0], .min = 0),
    ROW("stiffness_y", "N/m", stiffness[1], .min = 0),
    ROW("stiffness_z", "N/m", stiffness[2], .min = 0),
    ROW("stiffness_rx", "N m/rad", stiffness[3], .min = 0),
    ROW("stiffness_ry", "N m/rad", stiffness[4], .min = 0),
    ROW("stiffness_rz", "N m/rad", stiffness[5], .min = 0),
    ROW("damping_x", "N s/m", damping[0], .min = 0),
    ROW("damping_y", "N s/m", damping[1], .min = 0),
    ROW("damping_z", "N s/m", damping[2], .min = 0),
    ROW("damping_rx", "N m s/rad", damping[3], .min = 0),
    ROW("damping_ry", "N m s/rad", damping[4], .min = 0),
    ROW("damping_rz", "N m s/rad", damping[5], .min = 0),
};
#undef ROW

const lwi_force_item lwi_force_item_bushing =
    LWI_FORCE_ITEM(bushing, &object, lw_bushing_desc, lwi_bushing_par, add, compile, parameters,
                   "acts between bodies", NULL);
