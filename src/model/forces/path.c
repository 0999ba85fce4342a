// path.c -- paths round spheres and cylinders (path.h).
//
// Round an obstacle all is done in a plane: that of the centre and both points for a sphere, across the axis for a
// cylinder, where heights grow with the length along the path.  In the plane the obstacle is a circle of radius r about
// the origin.  From a point at distance d its tangents touch it at the angle acos(r / d) to either side.  The path goes
// round within the smaller angle between the points, where the straight line would cut the circle; but if the
// direction opposite to the side is within that angle, it goes round the far side, whether or not the line cuts it.  If the
// point that gives the side is inside, the path is the shortest one that touches the circle from the inside of its
// opening: it touches it in one point.  So does MuJoCo 4.0.
#include "model/forces/path.h"

#include "model/forces/points.h"
#include "spatial/rotation.h"

#include <math.h>

// Lengths, squares of lengths and pivots below are zero.
#define TINY 1e-15
// Angles of round-off: a chord that cuts off the height e of a circle has an angle of the order of sqrt(e).
#define SAME 1e-7

// ------------------------------------------------------------------------------------------- circle

typedef struct arc {
    double first[2], last[2]; ///< where the path begins and ends to touch the circle
    double length;            ///< < 0: it does not touch it
} arc;

static double dot2(const double a[2], const double b[2])
{
    return a[0] * b[0] + a[1] * b[1];
}

static double cross2(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

// The point of the segment from a to b that is nearest to the origin.
static void nearest(const double a[2], const double b[2], double x[2])
{
    const double u[2] = {b[0] - a[0], b[1] - a[1]};
    const double s = fmin(fmax(-dot2(u, a) / dot2(u, u), 0), 1);
    x[0] = a[0] + s * u[0], x[1] = a[1] + s * u[1];
}

// The point where the tangent from p touches the circle, to the right of the direction to p for sign = 1.
static void touch(const double p[2], double r, double sign, double x[2])
{
    const double d2 = dot2(p, p), along = r * r / d2, across = sign * r * sqrt(d2 - r * r) / d2;
    x[0] = along * p[0] + across * p[1];
    x[1] = along * p[1] - across * p[0];
}

// The angle from a to b, clockwise for sign = 1, in [0, 2 pi); that of equal points is zero in spite
// of round-off.
static double angle_between(const double a[2], const double b[2], double sign)
{
    const double angle = atan2(-sign * cross2(a, b), dot2(a, b));
    if (angle > -SAME && angle < 0) return 0;
    return angle < 0 ? angle + 2 * acos(-1) : angle;
}

// The path that touches the circle first to the right (sign = 1) or left of the direction to p.
static arc wind(const double p[2], const double q[2], double r, double sign)
{
    arc a;
    touch(p, r, sign, a.first);
    touch(q, r, -sign, a.last);
    a.length = r * angle_between(a.first, a.last, sign);
    return a;
}

// Is the direction opposite to the side between those to p and q?
static bool goes_far(const double p[2], const double q[2], const double side[2])
{
    const double k = cross2(p, q), back[2] = {-side[0], -side[1]};
    return cross2(p, back) * k > 0 && cross2(back, q) * k > 0;
}

// Round the outside; side: NULL, or a vector of any length.
static arc round_circle(const double p[2], const double q[2], double r, const double *side)
{
    const arc none = {.length = -1};
    const double chord[2] = {q[0] - p[0], q[1] - p[1]}, near = cross2(p, q) > 0 ? -1 : 1;
    double x[2];
    if (dot2(p, p) < r * r || dot2(q, q) < r * r || dot2(chord, chord) < TINY) return none;
    if (side && goes_far(p, q, side)) return wind(p, q, r, -near);
    nearest(p, q, x);
    return dot2(x, x) > r * r ? none : wind(p, q, r, near);
}

// The angles of p, q and the touching point x satisfy  asin(r z / |p|) + asin(r z / |q|) - 2 asin z + G = 0, where z is
// the sine of the angle between the lines and the radius at x, G the angle from p to q.  Newton's method from z = 1.
static double solve_inside(double a, double b, double G)
{
    double z = 1 - 1e-7;
    for (int i = 0; i < 60; i++) {
        const double f = asin(a * z) + asin(b * z) - 2 * asin(z) + G;
        const double df =
            a / sqrt(1 - a * a * z * z) + b / sqrt(1 - b * b * z * z) - 2 / sqrt(1 - z * z);
        if (i == 0 && f > 0) return NAN;
        const double next = z - f / df;
        if (!(df < 0) || !(next < z) || fabs(f) < 1e-15) break;
        z = fmax(next, 0);
    }
    return z;
}

// Touches the circle in one point: where the lines make equal angles with the radius.
static arc inside_circle(const double p[2], const double q[2], double r)
{
    const double dp = sqrt(dot2(p, p)), dq = sqrt(dot2(q, q));
    const double chord[2] = {q[0] - p[0], q[1] - p[1]};
    arc a = {.length = -1};
    double x[2];
    if (dp <= r || dq <= r) return a;
    if (dot2(chord, chord) > TINY) {
        nearest(p, q, x);
        const bool within = dot2(chord, p) < 0 && dot2(chord, q) > 0;
        if (within && dot2(x, x) <= r * r) return a;
    }
    a.length = 0;
    const double G = fabs(atan2(cross2(p, q), dot2(p, q)));
    if (cos(G) < -1 + TINY) return (arc){.length = -1};
    const double z = cos(G) > 1 - TINY ? NAN : solve_inside(r / dp, r / dq, G);
    const double middle[2] = {p[0] + q[0], p[1] + q[1]};
    const double *from = cross2(p, q) > 0 ? p : q, d = from == p ? dp : dq;
    const double turn = isfinite(z) ? asin(z) - asin(r / d * z) : 0;
    const double *to = isfinite(z) ? from : middle;
    const double size = sqrt(dot2(to, to)), c = r * cos(turn) / size, s = r * sin(turn) / size;
    a.first[0] = c * to[0] - s * to[1];
    a.first[1] = s * to[0] + c * to[1];
    a.last[0] = a.first[0], a.last[1] = a.first[1];
    return a;
}

// ----------------------------------------------------------------------------------------- obstacles

// Axes of the plane of two points and the centre of a sphere, the first towards p.
static void plane_of(const double p[3], const double q[3], double e[2][3])
{
    double normal[3], other[3] = {1, 1, 1};
    v3_scale(e[0], 1 / v3_norm(p), p);
    v3_cross(normal, p, q);
    if (v3_norm(normal) < TINY) { // the same line: any plane through it
        const double a[3] = {fabs(p[0]), fabs(p[1]), fabs(p[2])};
        other[a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2] = 0;
        v3_cross(normal, e[0], other);
    }
    v3_scale(normal, 1 / v3_norm(normal), normal);
    v3_cross(e[1], normal, e[0]);
}

static double height_at(const double p[3], const double q[3], double share)
{
    return p[2] + (q[2] - p[2]) * share;
}

// Heights along a cylinder grow with the length of the path.
static void set_heights(const double p[3], const double q[3], double x[3], double y[3],
                        double *curve)
{
    const double before = hypot(p[0] - x[0], p[1] - x[1]), after = hypot(q[0] - y[0], q[1] - y[1]);
    const double all = before + *curve + after;
    x[2] = height_at(p, q, before / all);
    y[2] = height_at(p, q, (before + *curve) / all);
    *curve = hypot(*curve, y[2] - x[2]);
}

// A point of the world in the axes of an obstacle.
static void into(const double R[9], const double centre[3], const double x[3], double p[3])
{
    double d[3];
    v3_sub(d, x, centre);
    m3_tmul_v(p, R, d);
}

double lwi_path_wind(const lwi_path_part *o, const lwi_kin *kin, const double from[3],
                     const double to[3], double first[3], double last[3])
{
    double R[9], centre[3], p[3], q[3], s[3] = {0}, e[2][3] = {{1, 0, 0}, {0, 1, 0}};
    point_of(centre, kin, o->body, o->point);
    m3_mul(R, kin->R[o->body], o->R);
    into(R, centre, from, p);
    into(R, centre, to, q);
    if (v3_norm(p) < TINY || v3_norm(q) < TINY) return -1;
    if (!o->cylinder) plane_of(p, q, e);
    const double p2[2] = {v3_dot(p, e[0]), v3_dot(p, e[1])},
                 q2[2] = {v3_dot(q, e[0]), v3_dot(q, e[1])};
    if (o->side >= 0) {
        double at[3];
        point_of(at, kin, o->side, o->side_point);
        into(R, centre, at, s);
    }
    const double s2[2] = {v3_dot(s, e[0]), v3_dot(s, e[1])};
    const arc a = o->side >= 0 && v3_norm(s) < o->radius
                      ? inside_circle(p2, q2, o->radius)
                      : round_circle(p2, q2, o->radius, o->side >= 0 ? s2 : NULL);
    if (a.length < 0) return -1;
    double curve = a.length, x[3], y[3];
    for (int k = 0; k < 3; k++) {
        x[k] = a.first[0] * e[0][k] + a.first[1] * e[1][k];
        y[k] = a.last[0] * e[0][k] + a.last[1] * e[1][k];
    }
    if (o->cylinder) set_heights(p, q, x, y, &curve);
    m3_mul_v(first, R, x);
    v3_add(first, first, centre);
    m3_mul_v(last, R, y);
    v3_add(last, last, centre);
    return curve;
}

// --------------------------------------------------------------------------------------------- paths

/** From one point of a path to the next. */
typedef struct span {
    const lwi_path_part *from, *round, *to; ///< round: obstacle between them, or NULL
    double a[3], b[3];                      ///< the points, world
    double divisor;
} span;

/** The obstacle of a span where the path touches it. */
typedef struct contact {
    double first[3], last[3], curve; ///< curve < 0: it does not
} contact;

// The next span from element *i on; false: there is none.  Starts with {.divisor = 1}.
static bool next_span(const lwi_path_part *part, int n, const lwi_kin *kin, int *i, span *s)
{
    const lwi_path_part *before = s->to;
    v3_copy(s->a, s->b);
    s->round = NULL;
    for (; *i < n; ++*i) {
        const lwi_path_part *p = &part[*i];
        if (p->divisor != 0) {
            s->divisor = p->divisor;
            before = NULL;
        } else if (p->radius > 0) {
            s->round = p;
        } else {
            point_of(s->b, kin, p->body, p->point);
            if (before) {
                s->from = before, s->to = p;
                ++*i;
                return true;
            }
            v3_copy(s->a, s->b);
            before = p, s->round = NULL;
        }
    }
    return false;
}

static contact contact_of(const span *s, const lwi_kin *kin)
{
    contact c = {.curve = -1};
    if (s->round) c.curve = lwi_path_wind(s->round, kin, s->a, s->b, c.first, c.last);
    return c;
}

typedef struct walk {
    const lwi_kin *kin;
    void (*line)(void *user, const lwi_path_line *line);
    void *user;
    double length;
} walk;

static void go(walk *w, double divisor, int body1, const double from[3], int body2,
               const double to[3])
{
    lwi_path_line line = {.body1 = body1, .body2 = body2, .divisor = divisor};
    double d[3];
    v3_sub(d, to, from);
    v3_sub(line.arm1, from, w->kin->r[body1]);
    v3_sub(line.arm2, to, w->kin->r[body2]);
    const double length = v3_norm(d);
    v3_scale(line.n, length > 0 ? 1 / length : 0, d);
    w->length += length / divisor;
    if (w->line && body1 != body2) w->line(w->user, &line);
}

double lwi_path_walk(const lwi_path_part *part, int n, const lwi_kin *kin,
                     void (*line)(void *user, const lwi_path_line *line), void *user)
{
    walk w = {.kin = kin, .line = line, .user = user};
    int i = 0;
    for (span s = {.divisor = 1}; next_span(part, n, kin, &i, &s);) {
        const contact c = contact_of(&s, kin);
        if (c.curve >= 0) {
            go(&w, s.divisor, s.from->body, s.a, s.round->body, c.first);
            w.length += c.curve / s.divisor;
            go(&w, s.divisor, s.round->body, c.last, s.to->body, s.b);
        } else {
            go(&w, s.divisor, s.from->body, s.a, s.to->body, s.b);
        }
    }
    return w.length;
}

// 0: the span passes its obstacle; else the side that it touches: of a cylinder by its axis, of a sphere the near or the far
// one.
static unsigned side_of(const span *s, const lwi_kin *kin)
{
    const contact c = contact_of(s, kin);
    double centre[3], a[3], b[3], x[3], turn[3], across[3];
    if (c.curve < 0) return 0;
    point_of(centre, kin, s->round->body, s->round->point);
    v3_sub(a, s->a, centre);
    v3_sub(b, s->b, centre);
    v3_sub(x, c.first, centre);
    v3_cross(turn, a, x);
    if (s->round->cylinder) {
        const double own[3] = {s->round->R[2], s->round->R[5], s->round->R[8]};
        m3_mul_v(across, kin->R[s->round->body], own);
    } else {
        v3_cross(across, a, b);
    }
    return v3_dot(turn, across) < 0 ? 2 : 1;
}

int lwi_path_piece(const lwi_path_part *part, int n, const lwi_kin *kin)
{
    unsigned piece = 0;
    int i = 0;
    for (span s = {.divisor = 1}; next_span(part, n, kin, &i, &s);)
        piece = 3 * piece + (s.round ? side_of(&s, kin) : 0);
    return (int)(piece & 0xffffff);
}

bool lwi_path_changes_sides(int from, int to)
{
    for (; from && to; from /= 3, to /= 3)
        if (from % 3 && to % 3 && from % 3 != to % 3) return true;
    return false;
}

// -------------------------------------------------------------------------------------- derivatives
//
// The point x where the tangent from p touches a circle about the origin obeys  x.x = r^2,  x.p = r^2,  and is in the plane
// of the points (x.(p x q) = 0) round a sphere, across the axis round a cylinder: three linear equations for its change.

bool lwi_path_is_outside(const lwi_path_part *part, int n)
{
    for (int k = 0; k < n; k++) {
        double d[3];
        v3_sub(d, part[k].side_point, part[k].point);
        const bool fixed = part[k].side == part[k].body;
        if (part[k].side >= 0 && !(fixed && v3_norm(d) >= part[k].radius)) return false;
    }
    return true;
}

// a.x = 0, b.x = beta, c.x = gamma; zero where these are dependent
static void solve_rows(const double a[3], const double b[3], const double c[3], double beta,
                       double gamma, double x[3])
{
    double ab[3], ca[3], bc[3];
    v3_cross(ab, a, b);
    v3_cross(ca, c, a);
    v3_cross(bc, b, c);
    const double det = v3_dot(a, bc);
    v3_scale(x, det != 0 ? beta / det : 0, ca);
    if (det != 0) v3_axpy(x, gamma / det, ab);
}

/** An end of the curve on an obstacle: its point, that of the path next to it, and their changes, all from the centre in
 *  axes that rotate with the obstacle. */
typedef struct touching {
    double p[3], dp[3], x[3], dx[3];
} touching;

static void touch_sphere(touching *at, const double q[3], const double dq[3])
{
    double normal[3], turn[3], part[3];
    v3_cross(normal, at->p, q);
    v3_cross(turn, at->dp, q);
    v3_cross(part, at->p, dq);
    v3_add(turn, turn, part);
    solve_rows(at->x, at->p, normal, -v3_dot(at->x, at->dp), -v3_dot(at->x, turn), at->dx);
}

// v - (v.n) n; the same vector for n = 0
static void remove_along(double *v, const double *n)
{
    v3_axpy(v, -v3_dot(v, n), n);
}

/** In the plane across the axis of a cylinder: the length of the straight part, the angle of the point, their changes. */
typedef struct across_axis {
    double p[3], x[3], straight, dstraight, dangle;
} across_axis;

static across_axis touch_cylinder(touching *at, const double axis[3])
{
    across_axis a = {.straight = 0};
    double dp[3], d[3], along_circle[3];
    v3_copy(a.p, at->p);
    v3_copy(a.x, at->x);
    v3_copy(dp, at->dp);
    remove_along(a.p, axis);
    remove_along(a.x, axis);
    remove_along(dp, axis);
    solve_rows(a.x, a.p, axis, -v3_dot(a.x, dp), 0, at->dx);
    v3_sub(d, a.p, a.x);
    a.straight = v3_norm(d);
    a.dstraight = a.straight > 0 ? v3_dot(a.p, dp) / a.straight : 0;
    v3_cross(along_circle, axis, a.x);
    a.dangle = v3_dot(along_circle, at->dx) / v3_dot(a.x, a.x);
    return a;
}

// Heights as set_heights makes them.
static void move_heights(double radius, const double axis[3], touching *first, touching *last)
{
    const across_axis a = touch_cylinder(first, axis), b = touch_cylinder(last, axis);
    double d[3], e[3], turn[3];
    v3_sub(d, a.x, a.p);
    v3_sub(e, b.p, b.x);
    v3_cross(turn, a.x, a.p); // a.x x d = -a.x x a.p
    double sense = -v3_dot(turn, axis);
    v3_cross(turn, b.x, e);
    sense = sense + v3_dot(turn, axis) < 0 ? -1 : 1;
    v3_cross(turn, a.x, b.x);
    double angle = atan2(sense * v3_dot(turn, axis), v3_dot(a.x, b.x));
    if (angle < -SAME) angle += 2 * acos(-1);
    const double curve = radius * fmax(angle, 0), dcurve = radius * sense * (b.dangle - a.dangle);
    const double all = a.straight + curve + b.straight, dall = a.dstraight + dcurve + b.dstraight;
    const double rise = v3_dot(last->p, axis) - v3_dot(first->p, axis),
                 base = v3_dot(first->dp, axis), drise = v3_dot(last->dp, axis) - base;
    const double share[2] = {a.straight / all, (a.straight + curve) / all},
                 grows[2] = {a.dstraight, a.dstraight + dcurve};
    for (int k = 0; k < 2; k++)
        v3_axpy(k ? last->dx : first->dx,
                base + drise * share[k] + rise * (grows[k] - share[k] * dall) / all, axis);
}

// The change of a point of a body, `arm` from its mass centre.
static void displace(const double pose[6], const double arm[3], double shift[3])
{
    v3_cross(shift, pose + 3, arm);
    v3_add(shift, shift, pose);
}

static void begin_touching(touching *at, const double centre[3], const double shift[3],
                           const double pose[6], const double point[3], const double dpoint[3],
                           const double x[3])
{
    double rotated[3];
    v3_sub(at->p, point, centre);
    v3_sub(at->x, x, centre);
    v3_sub(at->dp, dpoint, shift);
    v3_cross(rotated, pose + 3, at->p);
    v3_sub(at->dp, at->dp, rotated);
}

// Changes of the points where a span touches its obstacle, from those of its ends a, b.
static void move_contact(const span *s, const contact *c, const lwi_kin *kin, const double pose[6],
                         const double da[3], const double db[3], double dfirst[3], double dlast[3])
{
    const lwi_path_part *o = s->round;
    double centre[3], arm[3], shift[3];
    touching first, last;
    point_of(centre, kin, o->body, o->point);
    v3_sub(arm, centre, kin->r[o->body]);
    displace(pose, arm, shift);
    begin_touching(&first, centre, shift, pose, s->a, da, c->first);
    begin_touching(&last, centre, shift, pose, s->b, db, c->last);
    if (o->cylinder) {
        const double own[3] = {o->R[2], o->R[5], o->R[8]};
        double axis[3];
        m3_mul_v(axis, kin->R[o->body], own);
        move_heights(o->radius, axis, &first, &last);
    } else {
        touch_sphere(&first, last.p, last.dp);
        touch_sphere(&last, first.p, first.dp);
    }
    displace(pose, first.x, dfirst);
    displace(pose, last.x, dlast);
    for (int i = 0; i < 3; i++) { // `displace` added that of the mass centre
        dfirst[i] += first.dx[i] + shift[i] - pose[i];
        dlast[i] += last.dx[i] + shift[i] - pose[i];
    }
}

/** An end of a straight part. */
typedef struct line_end {
    int part;
    const double *point, *shift;
} line_end;

static void move_line(const lwi_path_part *part, const lwi_kin *kin, double divisor, line_end from,
                      line_end to, void (*line)(void *user, const lwi_path_moved *line), void *user)
{
    lwi_path_moved m = {.part1 = from.part, .part2 = to.part};
    const int body1 = part[from.part].body, body2 = part[to.part].body;
    double d[3];
    if (body1 == body2) return;
    m.line = (lwi_path_line){.body1 = body1, .body2 = body2, .divisor = divisor};
    v3_sub(d, to.point, from.point);
    m.length = v3_norm(d);
    v3_scale(m.line.n, m.length > 0 ? 1 / m.length : 0, d);
    v3_sub(m.line.arm1, from.point, kin->r[body1]);
    v3_sub(m.line.arm2, to.point, kin->r[body2]);
    v3_copy(m.shift1, from.shift);
    v3_copy(m.shift2, to.shift);
    line(user, &m);
}

static void move_end(const lwi_path_part *p, const lwi_kin *kin, const double pose[6],
                     const double point[3], double shift[3])
{
    double arm[3];
    v3_sub(arm, point, kin->r[p->body]);
    displace(pose, arm, shift);
}

void lwi_path_differentiate(const lwi_path_part *part, int n, const lwi_kin *kin,
                            const double (*pose)[6],
                            void (*line)(void *user, const lwi_path_moved *line), void *user)
{
    static const double still[6];
    int i = 0;
    for (span s = {.divisor = 1}; next_span(part, n, kin, &i, &s);) {
        const contact c = contact_of(&s, kin);
        const int from = (int)(s.from - part), to = (int)(s.to - part);
        double da[3], db[3], dfirst[3], dlast[3];
        move_end(s.from, kin, pose ? pose[from] : still, s.a, da);
        move_end(s.to, kin, pose ? pose[to] : still, s.b, db);
        const line_end a = {from, s.a, da}, b = {to, s.b, db};
        if (c.curve < 0) {
            move_line(part, kin, s.divisor, a, b, line, user);
            continue;
        }
        const int round = (int)(s.round - part);
        move_contact(&s, &c, kin, pose ? pose[round] : still, da, db, dfirst, dlast);
        move_line(part, kin, s.divisor, a, (line_end){round, c.first, dfirst}, line, user);
        move_line(part, kin, s.divisor, (line_end){round, c.last, dlast}, b, line, user);
    }
}

// ----------------------------------------------------------------------------------------- drawings

// The curve on an obstacle is p(s) = centre + cos(s) u + sin(s) v + share of the height, with v along the line that
// arrives.
static void draw_curve(const span *s, const contact *c, const lwi_kin *kin, lwi_drawn_piece *piece,
                       void *user)
{
    const lwi_path_part *o = s->round;
    const double own[3] = {o->R[2], o->R[5], o->R[8]};
    double axis[3] = {0}, centre[3], u[3], v[3], rise[3], at[3], next[3];
    point_of(centre, kin, o->body, o->point);
    if (o->cylinder) m3_mul_v(axis, kin->R[o->body], own);
    v3_sub(rise, c->last, c->first);
    const double height = v3_dot(rise, axis);
    v3_sub(u, c->first, centre);
    const double start = v3_dot(u, axis);
    remove_along(u, axis);
    v3_sub(v, c->first, s->a);
    remove_along(v, axis);
    if (!(v3_norm(v) > TINY)) { // the line begins on the obstacle
        v3_copy(v, rise);
        remove_along(v, axis);
        v3_axpy(v, -v3_dot(v, u) / v3_dot(u, u), u);
    }
    if (v3_norm(v) > 0) v3_scale(v, o->radius / v3_norm(v), v);
    const double angle = sqrt(fmax(c->curve * c->curve - height * height, 0)) / o->radius;
    v3_copy(at, c->first);
    for (int k = 1; k <= LWI_PATH_CHORDS; k++) {
        const double share = (double)k / LWI_PATH_CHORDS;
        v3_copy(next, centre);
        v3_axpy(next, start + share * height, axis);
        v3_axpy(next, cos(share * angle), u);
        v3_axpy(next, sin(share * angle), v);
        piece(user, at, next);
        v3_copy(at, next);
    }
}

static void draw_line(const span *s, int pieces, lwi_drawn_piece *piece, void *user)
{
    double at[3], next[3];
    v3_copy(at, s->a);
    for (int k = 1; k <= pieces; k++) {
        const double share = (double)k / pieces;
        for (int i = 0; i < 3; i++) next[i] = (1 - share) * s->a[i] + share * s->b[i];
        piece(user, at, next);
        v3_copy(at, next);
    }
}

int lwi_path_draw(const lwi_path_part *part, int n, const lwi_kin *kin, lwi_drawn_piece *piece,
                  void *user)
{
    int i = 0, count = 0;
    for (span s = {.divisor = 1}; next_span(part, n, kin, &i, &s);) {
        const int pieces = s.round ? LWI_PATH_CHORDS + 2 : 1;
        count += pieces;
        if (!piece) continue;
        const contact c = contact_of(&s, kin);
        if (c.curve < 0) {
            draw_line(&s, pieces, piece, user);
            continue;
        }
        piece(user, s.a, c.first);
        draw_curve(&s, &c, kin, piece, user);
        piece(user, c.last, s.b);
    }
    return count;
}
