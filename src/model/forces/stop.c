// stop.c -- a sphere against a plane or another sphere: the only contact there is.     [hunt1975]
//
//   f = k x^n max(0, 1 + d dx/dt)  for x > 0,  pushes the bodies apart along the normal
//
// x is how deep the sphere is in the other body.  The spring part has the potential k x^(n+1) /
// (n+1), the rest does work.  The line of the force goes through the centre of the sphere, so it
// acts there on both.
#include "model/forces/describe.h"
#include "base/assert.h"
#include "model/forces/change.h"
#include "model/model.h"
#include "spatial/motion.h"

#include <math.h>
#include <string.h>

enum { FREE, PRESSED, LOOSE };
// A step within a contact of spheres, relative to the time in which they would pass through each other: a longer one
// may end behind the contact with no rate evaluated in it.
#define SHARE 0.2

typedef struct touch {
    double arm1[3], arm2[3]; ///< centre of the sphere from both mass centres, world axes
    double n[3];             ///< unit vector, from body 2 to the sphere; zero where centres meet
    double x, rate;
} touch;

static touch touch_of(const lwi_stop_par *p, const lwi_kin *kin)
{
    touch c;
    double centre[3], point[3], apart[3], depth, v1[3], v2[3], arm[3];
    m3_mul_v(c.arm1, kin->R[p->body1], p->point1);
    v3_add(centre, kin->r[p->body1], c.arm1);
    v3_sub(c.arm2, centre, kin->r[p->body2]);
    m3_mul_v(arm, kin->R[p->body2], p->point2);
    v3_add(point, kin->r[p->body2], arm);
    v3_sub(apart, centre, point);
    if (p->plane) {
        m3_mul_v(c.n, kin->R[p->body2], p->normal);
        depth = v3_dot(c.n, apart);
        v3_copy(arm, c.arm2); // of the plane's material where the centre is
    } else {
        depth = v3_norm(apart);
        v3_scale(c.n, depth > 0 ? 1 / depth : 0, apart);
    }
    c.x = p->radius - depth;
    c.rate = 0;
    if (!kin->v) return c; // for a potential: no velocity
    point_velocity(v1, kin, p->body1, c.arm1);
    point_velocity(v2, kin, p->body2, arm);
    v3_sub(v1, v1, v2);
    c.rate = -v3_dot(c.n, v1);
    return c;
}

// The factor of the damper; where it is not positive the bodies part faster than the spring
// follows.
static double press(const lwi_stop_par *p, const touch *c)
{
    return 1 + p->dissipation * c->rate;
}

static int mode_index(const void *par)
{
    return ((const lwi_stop_par *)par)->mode;
}

static unsigned char mode_of(const lwi_stop_par *p, const touch *c)
{
    if (c->x < 0 || (c->x == 0 && c->rate <= 0)) return FREE;
    return press(p, c) > 0 ? PRESSED : LOOSE;
}

static unsigned char mode_now(const void *par, const lwi_kin *kin)
{
    const touch c = touch_of(par, kin);
    return mode_of(par, &c);
}

static int mode_guards(const void *par, unsigned char mode, const lwi_kin *kin, double *guard)
{
    LWI_ASSERT(mode <= LOOSE);
    const lwi_stop_par *p = par;
    const touch c = touch_of(p, kin);
    if (mode == FREE) {
        guard[0] = -c.x;
        return 1;
    }
    guard[0] = c.x;
    guard[1] = (mode == PRESSED ? 1 : -1) * press(p, &c) * p->radius;
    return p->dissipation > 0 ? 2 : 1;
}

// A point of a body, `arm` from its mass centre, with velocity and acceleration.
static void motion_of(double y[3][3], const lwi_kin *kin, int body, const double arm[3])
{
    v3_add(y[0], kin->r[body], arm);
    point_velocity(y[1], kin, body, arm);
    point_acceleration(y[2], kin, body, arm);
}

// y: of the centre relative to the plane's point, then the part along the normal n of the plane, which rotates:
//     (n y)' = n' y + n y',   n' = w x n,   n'' = w' x n + w x n'
static void across_plane(const lwi_stop_par *p, const lwi_kin *kin, double y[3][3])
{
    double n[3], nd[3], ndd[3];
    const double *w = kin->w[p->body2];
    m3_mul_v(n, kin->R[p->body2], p->normal);
    v3_cross(nd, w, n);
    v3_cross(ndd, w, nd);
    if (kin->al) v3_cross_add(ndd, kin->al[p->body2], n);
    const double second = v3_dot(ndd, y[0]) + 2 * v3_dot(nd, y[1]) + v3_dot(n, y[2]);
    const double first = v3_dot(nd, y[0]) + v3_dot(n, y[1]);
    y[0][0] = v3_dot(n, y[0]);
    y[1][0] = first;
    y[2][0] = second;
}

// y: of the vector between the centres, then its length |y|;  |y|'' = (y' y' + y y'' - |y|'^2) / |y|
static void length_of(double y[3][3])
{
    const double length = v3_norm(y[0]);
    const double first = v3_dot(y[0], y[1]) / length;
    const double second = (v3_dot(y[1], y[1]) + v3_dot(y[0], y[2]) - first * first) / length;
    y[0][0] = length;
    y[1][0] = first;
    y[2][0] = second;
}

static void gap_of(const void *par, unsigned char mode, const lwi_kin *kin, lwi_gap *gap)
{
    const lwi_stop_par *p = par;
    double arm1[3], arm2[3], y2[3][3];
    m3_mul_v(arm1, kin->R[p->body1], p->point1);
    m3_mul_v(arm2, kin->R[p->body2], p->point2);
    *gap = (lwi_gap){.n = 1};
    motion_of(gap->y, kin, p->body1, arm1);
    motion_of(y2, kin, p->body2, arm2);
    for (int k = 0; k < 3; k++) v3_sub(gap->y[k], gap->y[k], y2[k]);
    if (mode == FREE && !p->plane) {
        gap->n = 3, gap->radius = p->radius;
        return;
    }
    if (p->plane)
        across_plane(p, kin, gap->y);
    else {
        const double speed = v3_norm(gap->y[1]);
        gap->step = speed > 0 ? SHARE * p->radius / speed : 0;
        length_of(gap->y);
    }
    gap->y[0][0] -= p->radius;
    for (int k = 0; mode != FREE && k < 3; k++) gap->y[k][0] = -gap->y[k][0];
}

static unsigned char mode_next(const void *par, unsigned char mode, int k, const lwi_kin *kin)
{
    (void)par, (void)kin;
    if (mode == FREE) return PRESSED;
    return k == 0 ? FREE : mode == PRESSED ? LOOSE : PRESSED;
}

static double spring_of(const lwi_stop_par *p, const touch *c)
{
    return c->x > 0 ? p->stiffness * pow(c->x, p->exponent) : 0;
}

static void measure(const void *par, const lwi_kin *kin, double *x, double *rate)
{
    const touch c = touch_of(par, kin);
    *x = c.x, *rate = c.rate;
}

static void tangent(const void *par, unsigned char mode, double x, double rate, lwi_law_tangent *t)
{
    const lwi_stop_par *p = par;
    const touch c = {.x = x > 0 ? x : 0, .rate = rate};
    *t = (lwi_law_tangent){.x = x, .rate = rate};
    if (mode != PRESSED) return;
    t->f = spring_of(p, &c) * press(p, &c);
    t->by_x = p->stiffness * p->exponent * pow(c.x, p->exponent - 1) * press(p, &c);
    t->by_rate = spring_of(p, &c) * p->dissipation;
}

static double force_of(const lwi_stop_par *p, const touch *c, const lwi_kin *kin, double spring)
{
    if (kin->tangent) {
        const lwi_law_tangent *t = &kin->tangent[p->mode];
        return t->f + t->by_x * (c->x - t->x) + t->by_rate * (c->rate - t->rate);
    }
    const unsigned char mode = kin->mode ? kin->mode[p->mode] : mode_of(p, c);
    return mode == PRESSED ? spring * press(p, c) : 0;
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_stop_par *p = par;
    (void)model, (void)t, (void)inputs;
    const touch c = touch_of(p, kin);
    const double spring = c.x > 0 ? p->stiffness * pow(c.x, p->exponent) : 0;
    const double f = force_of(p, &c, kin, spring);
    push_along(loads, p->body1, c.arm1, f, c.n);
    push_along(loads, p->body2, c.arm2, -f, c.n);
    loads->power -= (f - spring) * c.rate;
}

static double potential(const lw_model *model, const void *par, const lwi_kin *kin)
{
    const lwi_stop_par *p = par;
    const lwi_kin places = {.R = kin->R, .r = kin->r};
    (void)model;
    const double x = touch_of(p, &places).x;
    return x > 0 ? p->stiffness * pow(x, p->exponent + 1) / (p->exponent + 1) : 0;
}

static int dissipates(const void *par)
{
    return ((const lwi_stop_par *)par)->dissipation > 0;
}

static const lwi_force_modes modes = {.index = mode_index,
                                      .now = mode_now,
                                      .guards = mode_guards,
                                      .gap = gap_of,
                                      .next = mode_next,
                                      .measure = measure,
                                      .tangent = tangent};

static lwi_force_place place(const void *par)
{
    const lwi_stop_par *p = par;
    return (lwi_force_place){.iv = -1, .n = 2, .body = {p->body1, p->body2}};
}

// The normal, while it is pressed: f = k x^n (1 + d v) on body 1; x and v from the force itself:
//     df/dx = n f / x,   df/dv = k x^n d
static void rows(const void *par, const lwi_force_state *s, lwi_force_row *row)
{
    const lwi_stop_par *p = par;
    double centre[3], point[3], n[3], depth;
    const double f = v3_norm(s->load[0]);
    point_of(centre, s->kin, p->body1, p->point1);
    point_of(point, s->kin, p->body2, p->point2);
    v3_sub(n, centre, point);
    if (p->plane) {
        double normal[3];
        m3_mul_v(normal, s->kin->R[p->body2], p->normal);
        depth = p->radius - v3_dot(normal, n);
        v3_copy(n, normal);
    } else {
        const double apart = v3_norm(n);
        depth = p->radius - apart;
        v3_scale(n, apart > 0 ? 1 / apart : 0, n);
    }
    if (!(f > 0 && depth > 0)) return;
    v3_scale(n, -1, n); // on body 2
    unit_force(row, centre, centre, n,
               p->exponent * f / depth +
                   s->two * p->dissipation * p->stiffness * pow(depth, p->exponent));
}

static int actions(const void *par, const lwi_force_state *s, lwi_force_action *action)
{
    const lwi_stop_par *p = par;
    const double *F = s->load[0];
    double centre[3], back[3];
    if (!(v3_dot(F, F) > 0)) return 0;
    v3_scale(back, -1, F);
    point_of(centre, s->kin, p->body1, p->point1);
    act(&action[0], 0, LWI_FOLLOWS_POINT, centre, F);
    // the normal of a plane rotates with body 2
    act(&action[1], 1, p->plane ? LWI_FOLLOWS_DIRECTION : LWI_FOLLOWS_NOTHING, centre, back);
    return 2;
}

// The force acts at the sphere's centre on both bodies; the normal of a plane rotates with it.
static void differentiate(const void *par, const lwi_force_state *s, int n,
                          const lwi_motion_pair *change, double (*load)[2][6])
{
    const lwi_stop_par *p = par;
    const lwi_kin *kin = s->kin;
    const touch c = touch_of(p, kin);
    const double *w1 = kin->w[p->body1], *w2 = kin->w[p->body2], depth = p->radius - c.x;
    double arm[3], apart[3], v[3], v2[3], F[3];
    lwi_law_tangent t;
    tangent(p, kin->mode ? kin->mode[p->mode] : mode_of(p, &c), c.x, c.rate, &t);
    m3_mul_v(arm, kin->R[p->body2], p->point2);
    v3_sub(apart, c.arm2, arm); // from point 2 to the centre
    const double *material = p->plane ? c.arm2 : arm;
    point_velocity(v, kin, p->body1, c.arm1);
    point_velocity(v2, kin, p->body2, material);
    v3_sub(v, v, v2);
    v3_scale(F, t.f, c.n);
    memset(load, 0, (size_t)n * sizeof *load);
    for (int i = 0; i < n && (t.f != 0 || t.by_x != 0 || t.by_rate != 0); i++) {
        const lwi_motion_pair *m = &change[i];
        double darm1[3], darm2[3], darm[3], centre[3], dapart[3], dn[3], dv[3], dv2[3], dF[3];
        arm_change(darm1, m, 0, c.arm1);
        v3_add(centre, m->pose[0], darm1);
        v3_sub(darm2, centre, m->pose[1]);
        arm_change(darm, m, 1, arm);
        v3_sub(dapart, darm2, darm);
        if (p->plane)
            v3_cross(dn, m->pose[1] + 3, c.n);
        else
            direction_change(dn, c.n, depth, dapart);
        velocity_change(dv, m, 0, w1, c.arm1, darm1);
        velocity_change(dv2, m, 1, w2, material, p->plane ? darm2 : darm);
        v3_sub(dv, dv, dv2);
        const double dx = -v3_dot(dn, apart) - v3_dot(c.n, dapart),
                     drate = -v3_dot(dn, v) - v3_dot(c.n, dv);
        v3_scale(dF, t.by_x * dx + t.by_rate * drate, c.n);
        v3_axpy(dF, t.f, dn);
        add_load_change(load[i][0], 1, F, dF, c.arm1, darm1);
        add_load_change(load[i][1], -1, F, dF, c.arm2, darm2);
    }
}

static const lwi_quantity quantities[] = {
    LWI_OUTPUT("stop", "depth", LWI_OUTPUT_SCALAR, .part = {"depth"}, .unit = {"m"},
               .summary = "how deep the sphere is in the other body; < 0: their distance"),
    LWI_OUTPUT("stop", "rate", LWI_OUTPUT_SCALAR, .part = {"rate"}, .unit = {"m/s"},
               .summary = "its derivative"),
    LWI_OUTPUT("stop", "push", LWI_OUTPUT_SCALAR, .part = {"force"}, .unit = {"N"},
               .summary = "force that pushes the bodies apart, >= 0"),
    LWI_OUTPUT("stop", "force", LWI_OUTPUT_VECTOR("f", "world"), .unit = {"N"},
               .summary = "force on the body of the sphere, at its centre"),
    LWI_OUTPUT("stop", "power", LWI_OUTPUT_SCALAR, .part = {"power"}, .unit = {"W"},
               .summary = "power of the force"),
    LWI_OUTPUT("stop", "energy", LWI_OUTPUT_SCALAR, .part = {"energy"}, .unit = {"J"},
               .summary = "energy in its spring"),
};

static void add_outputs(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                        const double *inputs, double *value)
{
    const lwi_stop_par *p = par;
    const touch c = touch_of(p, kin);
    (void)t, (void)inputs;
    const double f = force_of(p, &c, kin, spring_of(p, &c));
    value[0] += c.x;
    value[1] += c.rate;
    value[2] += f;
    v3_axpy(value + 3, f, c.n);
    value[6] -= f * c.rate;
    value[7] += potential(model, par, kin);
}

static const lwi_force_outputs outputs = {quantities, LWI_COUNT(quantities), add_outputs};

const lwi_force_type lwi_force_stop = {
    .name = "stop",
    .summary = "contact of a sphere with a plane or a sphere",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = potential, .dissipates = dissipates,
                    .next_break = NULL, .modes = &modes, .varies = NULL, .rate = NULL, .nrow = 1,
                    .rows = rows, .actions = actions, .outputs = &outputs),
    .differentiate = differentiate,
};

// ---- in model files

// clang-format off
#define AT(field) .offset = offsetof(lw_stop_desc, field)
static const lwi_yaml_key keys[] = {
    {"between", LWI_KEY_PAIR, AT(body1), .required = LWI_KEY_REQUIRED,
     .help = "the body of the sphere, and that of the plane or the other sphere"},
    {"from", LWI_KEY_VECTOR, AT(point1), .flag = offsetof(lw_stop_desc, world1),
     .help = "centre of the sphere, in the world at the assembly configuration [m]"},
    {"to", LWI_KEY_VECTOR, AT(point2), .flag = offsetof(lw_stop_desc, world2),
     .help = "point of the plane or centre of the other sphere, in the world at the assembly "
             "configuration [m]"},
    {"point1", LWI_KEY_VECTOR, AT(point1),
     .help = "instead of `from`: in the frame of the first body [m]; default 0 0 0"},
    {"point2", LWI_KEY_VECTOR, AT(point2),
     .help = "instead of `to`: in the frame of the second body [m]; default 0 0 0"},
    {"radius", LWI_KEY_NUMBER, AT(radius), .required = LWI_KEY_REQUIRED, .range = LWI_RANGE_POSITIVE, .help = "of the sphere [m], > 0"},
    {"radius2", LWI_KEY_NUMBER, AT(radius2), .range = LWI_RANGE_POSITIVE, .help = "of the other sphere [m], > 0"},
    {"normal", LWI_KEY_DIRECTION, AT(normal), .flag = offsetof(lw_stop_desc, world_normal),
     .help = "instead of `radius2`: of a plane, towards the sphere, world axes at the assembly "
             "configuration"},
    {"normal2", LWI_KEY_DIRECTION, AT(normal),
     .help = "the same in the frame of the second body"},
    {"stiffness", LWI_KEY_NUMBER, AT(stiffness), .required = LWI_KEY_REQUIRED,
     .range = LWI_RANGE_POSITIVE, .help = "stiffness x^exponent max(0, 1 + dissipation dx/dt) pushes apart where bodies overlap by "
             "x > 0 [N/m^exponent], > 0"},
    {"exponent", LWI_KEY_NUMBER, AT(exponent), .range = LWI_RANGE_FROM_ONE, .help = ">= 1; default 1.5"},
    {"dissipation", LWI_KEY_NUMBER, AT(dissipation), .range = LWI_RANGE_NOT_NEGATIVE, .help = "[s/m], >= 0; default 0"},
};
#undef AT
static const char *const types[] = {"stop"};
static const lwi_yaml_object object = {.title = "stop", .help = "contact of a sphere with a plane or a sphere",
                                       .type = types, .ntype = 1, .key = keys, .nkey = LWI_COUNT(keys)};
// clang-format on

// The normal of a plane on body 2, in its frame, of unit length.
static lw_status place_normal(const lwi_item *it, lw_stop_desc *d)
{
    const lw_pose *pose = &it->builder->desc.body[d->body2.index].pose;
    const double q[4] = {pose->orientation.w, pose->orientation.x, pose->orientation.y,
                         pose->orientation.z};
    double R[9];
    if (!finite3(d->normal) || (zero3(d->normal) == (d->radius2 == 0)))
        return lwi_item_fail(
            it,
            "expected the `normal` of a plane or the `radius2` of a sphere on body 2, one of both");
    if (d->radius2 > 0) return LW_OK;
    d->normal = lwi_direction(d->normal);
    double n[3] = {d->normal.x, d->normal.y, d->normal.z};
    if (d->world_normal) {
        quat_matrix(R, q);
        m3_tmul_v(n, R, n);
    }
    v3_normalize(n); // idempotent: a model that was written is read with the same bits
    d->normal = (lw_vec3){n[0], n[1], n[2]};
    d->world_normal = 0;
    return LW_OK;
}

lw_status lw_builder_add_stop(lw_builder *b, const lw_stop_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_stop_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_stop_desc", error));
    d.name = lwi_builder_name(b, desc->name, "stop", b->desc.force[LWI_ITEM_stop].n);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "stop", d.name, d.place, error}, *it = &item;
    if (d.exponent == 0) d.exponent = 1.5;
    const double numbers[] = {d.radius2, d.dissipation};
    TRY(lwi_item_pair(it, d.body1, d.body2));
    if (!finite3(d.point1) || !finite3(d.point2) || !none_negative(numbers, 2) ||
        !(isfinite(d.radius) && d.radius > 0) || !(isfinite(d.stiffness) && d.stiffness > 0) ||
        !(isfinite(d.exponent) && d.exponent >= 1))
        return lwi_item_fail(
            it,
            "radius %g, radius2 %g, stiffness %g, exponent %g, dissipation %g; expected radius and "
            "stiffness > 0, exponent >= 1, the others >= 0, and finite points",
            d.radius, d.radius2, d.stiffness, d.exponent, d.dissipation);
    TRY(place_normal(it, &d));
    point_in_body(b, d.body1, &d.point1, &d.world1);
    point_in_body(b, d.body2, &d.point2, &d.world2);
    return lwi_force_push(b, LWI_ITEM_stop, &d, error);
}

static lw_status add(lw_builder *builder, const void *desc, lw_error *error)
{
    return lw_builder_add_stop(builder, desc, error);
}

static lw_status compile(lw_model *m, const void *desc, void *par)
{
    const lw_stop_desc *d = desc;
    lwi_stop_par *p = par;
    *p = (lwi_stop_par){.body1 = d->body1.index,
                        .body2 = d->body2.index,
                        .mode = m->nmode++,
                        .plane = d->radius2 == 0,
                        .normal = {d->normal.x, d->normal.y, d->normal.z},
                        .radius = d->radius + d->radius2,
                        .stiffness = d->stiffness,
                        .exponent = d->exponent,
                        .dissipation = d->dissipation};
    point_from_com(m, p->body1, d->point1, p->point1);
    point_from_com(m, p->body2, d->point2, p->point2);
    return LW_OK;
}

#define ROW(...) LWI_FORCE_PARAMETER(stop, __VA_ARGS__)
static const lwi_parameter parameters[] = {
    ROW("radius", "m", radius, .min = 0, .above = true),
    ROW("stiffness", "N/m^exponent", stiffness, .min = 0, .above = true),
    ROW("exponent", "1", exponent, .min = 1),
    ROW("dissipation", "s/m", dissipation, .min = 0),
};
#undef ROW

const lwi_force_item lwi_force_item_stop =
    LWI_FORCE_ITEM(stop, &object, lw_stop_desc, lwi_stop_par, add, compile, parameters,
                   "acts between bodies", NULL);
