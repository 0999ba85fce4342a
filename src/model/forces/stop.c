// stop.c -- a sphere against a plane or another sphere: the only contact there is.     [hunt1975]
//
//   f = k x^n max(0, 1 + d dx/dt)  for x > 0,  pushes the bodies apart along the normal
//
// x is how deep the sphere is in the other body.  The spring part has the potential k x^(n+1) /
// (n+1), the rest does work.  The line of the force goes through the centre of the sphere, so it
// acts there on both.
#include "model/forces/points.h"
#include "model/model.h"
#include "spatial/motion.h"

#include <math.h>

enum { FREE, PRESSED, LOOSE };

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
    if (!kin->v) return c; // a potential asks for no velocity
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

static int mode_guards(const void *par, unsigned char mode, const lwi_kin *kin, lwi_guard *guard)
{
    const lwi_stop_par *p = par;
    const touch c = touch_of(p, kin);
    if (mode == FREE) {
        guard[0] = (lwi_guard){-c.x, -c.rate};
        return 1;
    }
    guard[0] = (lwi_guard){c.x, c.rate};
    guard[1] = (lwi_guard){(mode == PRESSED ? 1 : -1) * press(p, &c) * p->radius, NAN};
    return p->dissipation > 0 ? 2 : 1;
}

static unsigned char mode_next(const void *par, unsigned char mode, int k, const lwi_kin *kin)
{
    (void)par, (void)kin;
    if (mode == FREE) return PRESSED;
    return k == 0 ? FREE : mode == PRESSED ? LOOSE : PRESSED;
}

static void apply(const lw_model *model, const void *par, const lwi_kin *kin, double t,
                  const double *inputs, lwi_loads *loads)
{
    const lwi_stop_par *p = par;
    (void)model, (void)t, (void)inputs;
    const touch c = touch_of(p, kin);
    const double spring = c.x > 0 ? p->stiffness * pow(c.x, p->exponent) : 0;
    const unsigned char mode = kin->mode ? kin->mode[p->mode] : mode_of(p, &c);
    const double f = mode == PRESSED ? spring * press(p, &c) : 0;
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

static const lwi_force_modes modes = {
    .index = mode_index, .now = mode_now, .guards = mode_guards, .next = mode_next};

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
    // the normal of a plane turns with body 2
    act(&action[1], 1, p->plane ? LWI_FOLLOWS_DIRECTION : LWI_FOLLOWS_NOTHING, centre, back);
    return 2;
}

const lwi_force_type lwi_force_stop = {
    .name = "stop",
    .summary = "contact of a sphere with a plane or a sphere",
    .needs = LWI_NEEDS_POSE | LWI_NEEDS_TWIST,
    .apply = apply,
    LWI_FORCE_FACTS(.place = place, .potential = potential, .dissipates = dissipates,
                    .next_break = NULL, .modes = &modes, .varies = NULL, .rate = NULL, .nrow = 1,
                    .rows = rows, .actions = actions),
};
