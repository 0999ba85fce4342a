// reach.c -- inverse kinematics: coordinates that meet goals, with the loops closed and joints in their ranges.
//
//   minimise  F = |r(q)|^2 / 2   on   phi(q, t) = 0,   lower <= q_j <= upper
// r are the weighted gaps of the goals, lengths in lengths of the mechanism.  A step p of the independent coordinates in
// their units solves
//   minimise  p'(J'J + mu) p / 2 + (J'r)'p,   a_i'p <= b_i for every end of a range
// by the method of Hildreth, one multiplier at a time; mu is nu |r|^2, so that steps are those of Gauss and Newton
// near the solution [nocedal2006, 10.3], and nu grows until the step makes F smaller.  Loops are then closed
// by Newton's method.
#include "analysis/placement.h"
#include "base/assert.h"
#include "base/linear.h"
#include "loops/cut_state.h"
#include "spatial/rotation.h"

#include <linkwork/analysis.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE 1e-9
#define LONGEST 0.5 // of a step [rad, lengths of the mechanism]
#define FLAT 1e-7   // gradient of F, relative to its terms, at a minimum
#define SMALLEST_MU 1e-10
#define VIOLATED 1e-9 // of ranges, in units
enum { ITERATIONS = 200, SWEEPS = 200, RAISES = 40 };

// One end of the range of a scalar coordinate.
typedef struct range_end {
    int joint, coordinate;
    double sign, bound; ///< sign * q <= bound
    double unit;
} range_end;

typedef struct search {
    lw_kinematics *k;
    const lw_goal *goal;
    const lw_reach_desc *desc;
    lwi_arena arena;
    int count, rows, nend, f;
    range_end *end;                     ///< [nend]
    double *r, *J;                      ///< [rows], [rows][f], columns in units
    double *point;                      ///< [6][f]
    double *speed;                      ///< [f][model nv] of all joints, by the independent ones
    double *H, *g, *p, *y, *increment;  ///< [f][f], [f], [f], [f], [tree nv]
    double *a, *w, *slack, *lambda, *d; ///< [nend][f], [nend][f], [nend], [nend], [nend]
    double *q, *best;                   ///< [tree nq]
    double nu, merit, penalty;
    int iterations;
} search;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for inverse kinematics");
}

// --------------------------------------------------------------------------------------- arguments

static int rows_of(const lw_goal *g)
{
    switch (g->type) {
    case LW_GOAL_POINT:
    case LW_GOAL_ORIENTATION:
        return 3;
    case LW_GOAL_POSE:
        return 6;
    case LW_GOAL_JOINT:
        return 1;
    }
    return 0;
}

static lw_status check_joint(const lw_model *model, int i, const lw_goal *g, lw_error *error)
{
    if (g->joint.index < 0 || g->joint.index >= model->njoint)
        return lwi_fail(error, LW_ERR_ARGUMENT, "goal %d: joint %d, there are %d", i,
                        g->joint.index, model->njoint);
    const lwi_joint *joint = &model->joint[g->joint.index];
    if (joint->type->scalar && g->coordinate >= 0 && g->coordinate < joint->type->nv) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "goal %d: joint '%s' has no scalar coordinate %d", i,
                    joint->name, g->coordinate);
}

static bool finite3(lw_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static lw_status check_goal(const lw_model *model, int i, const lw_goal *g, lw_error *error)
{
    const lw_quat *o = &g->orientation;
    const double length = sqrt(o->w * o->w + o->x * o->x + o->y * o->y + o->z * o->z);
    if (g->size != 0 && g->size != sizeof *g)
        return lwi_fail(error, LW_ERR_ARGUMENT, "goal %d: size %zu, expected %zu", i, g->size,
                        sizeof *g);
    if ((int)g->type < LW_GOAL_POINT || g->type > LW_GOAL_JOINT)
        return lwi_fail(error, LW_ERR_ARGUMENT, "goal %d: there is no type %d", i, (int)g->type);
    if (!(g->weight >= 0) || !(g->rotation_weight >= 0) ||
        !isfinite(g->weight + g->rotation_weight))
        return lwi_fail(error, LW_ERR_ARGUMENT, "goal %d: weight %g, expected >= 0", i,
                        g->weight >= 0 ? g->rotation_weight : g->weight);
    if (!finite3(g->point) || !finite3(g->position) || !isfinite(g->value))
        return lwi_fail(error, LW_ERR_ARGUMENT, "goal %d is not finite", i);
    if (g->type == LW_GOAL_JOINT) return check_joint(model, i, g, error);
    if (g->body.index <= 0 || g->body.index >= model->nbody)
        return lwi_fail(error, LW_ERR_ARGUMENT, "goal %d: body %d, expected 1 to %d", i,
                        g->body.index, model->nbody - 1);
    if (g->type != LW_GOAL_POINT && length > 0 && !(fabs(length - 1) <= 1e-3))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "goal %d: orientation has length %g, expected a unit quaternion", i,
                        length);
    return LW_OK;
}

static double joint_unit(const lw_model *model, int joint, int coordinate)
{
    return model->joint[joint].type->angles >> coordinate & 1 ? 1 : model->length;
}

static void list_ends(search *s)
{
    const lw_model *model = s->k->model;
    for (int j = 0; j < model->njoint && !s->desc->ignore_limits; j++)
        for (int c = 0; model->joint[j].type->scalar && c < model->joint[j].type->nv; c++) {
            const lw_limits_desc *l = &model->desc.joint[j].coordinate[c].limits;
            const double unit = joint_unit(model, j, c);
            if (model->joint[j].merged || model->joint[j].motion[c].index > 0) continue;
            if (l->has_lower) s->end[s->nend++] = (range_end){j, c, -1, -l->lower, unit};
            if (l->has_upper) s->end[s->nend++] = (range_end){j, c, 1, l->upper, unit};
        }
}

static lw_status create(search *s, lw_error *error)
{
    const lw_model *model = s->k->model;
    lwi_arena *arena = &s->arena;
    for (int i = 0; i < s->count; i++) {
        TRY(check_goal(model, i, &s->goal[i], error));
        s->rows += rows_of(&s->goal[i]);
    }
    s->end = lwi_arena_push(arena, 2 * (size_t)model->nv + 1, sizeof *s->end);
    if (!s->end) return no_memory(error);
    list_ends(s);
    s->f = s->k->at.manifold.f;
    const size_t f = (size_t)s->f, rows = (size_t)s->rows, ends = (size_t)s->nend;
    const struct {
        double **to;
        size_t n;
    } all[] = {{&s->r, rows},
               {&s->J, rows * f},
               {&s->point, 6 * f},
               {&s->speed, f * (size_t)model->nv},
               {&s->H, f * f},
               {&s->g, f},
               {&s->p, f},
               {&s->y, f},
               {&s->increment, (size_t)model->tree_nv},
               {&s->a, ends * f},
               {&s->w, ends * f},
               {&s->slack, ends},
               {&s->lambda, ends},
               {&s->d, ends},
               {&s->q, (size_t)model->tree_nq},
               {&s->best, (size_t)model->tree_nq}};
    for (int i = 0; i < LWI_COUNT(all); i++)
        if (!(*all[i].to = LWI_PUSH(arena, double, all[i].n))) return no_memory(error);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- gaps

// Rotation vector from the goal to the body, world axes.
static void rotation_of(const lw_goal *g, const double now[4], double e[3])
{
    const lw_quat *o = &g->orientation;
    const bool none = o->w == 0 && o->x == 0 && o->y == 0 && o->z == 0;
    double back[4] = {none ? 1 : o->w, -o->x, -o->y, -o->z}, d[4];
    quat_normalize(back, back);
    quat_mul(d, now, back);
    const double sign = d[0] < 0 ? -1 : 1, sine = sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
    const double factor = sine > 0 ? sign * 2 * atan2(sine, fabs(d[0])) / sine : 2 * sign;
    for (int i = 0; i < 3; i++) e[i] = factor * d[1 + i];
}

static double weight_of(double weight)
{
    return weight > 0 ? weight : 1;
}

static void place_gap(const search *s, const lw_goal *g, const lw_point_motion *at, double e[3])
{
    (void)s;
    e[0] = at->position[0] - g->position.x;
    e[1] = at->position[1] - g->position.y;
    e[2] = at->position[2] - g->position.z;
}

static double joint_gap(const search *s, const lw_goal *g)
{
    const lwi_joint *joint = &s->k->model->joint[g->joint.index];
    return s->k->at.manifold.constraints->tree.joint_q[joint->iq + g->coordinate] - g->value;
}

// Gaps of goal i in m and rad: of place, of rotation.
static void gap_of(search *s, const lw_goal *g, double *distance, double *angle)
{
    double e[3];
    lw_point_motion at;
    *distance = *angle = 0;
    if (g->type == LW_GOAL_JOINT) {
        *distance = fabs(joint_gap(s, g));
        return;
    }
    lw_kinematics_point(s->k, g->body, g->point, &at);
    place_gap(s, g, &at, e);
    if (g->type != LW_GOAL_ORIENTATION) *distance = v3_norm(e);
    rotation_of(g, at.quaternion, e);
    if (g->type != LW_GOAL_POINT) *angle = v3_norm(e);
}

static double largest_gap(search *s, double *gaps)
{
    double largest = 0;
    for (int i = 0; i < s->count; i++) {
        double distance, angle;
        gap_of(s, &s->goal[i], &distance, &angle);
        const double gap = fmax(distance, angle);
        if (gaps) gaps[i] = gap;
        if (!(gap <= largest)) largest = gap;
    }
    return largest;
}

static double violation(const search *s)
{
    const double *q = s->k->at.manifold.constraints->tree.joint_q;
    double sum = 0;
    for (int i = 0; i < s->nend; i++) {
        const range_end *e = &s->end[i];
        const double over = e->sign * q[s->k->model->joint[e->joint].iq + e->coordinate] - e->bound;
        if (over > 0) sum += over / e->unit;
    }
    return sum;
}

// r; returns F.
static double residuals(search *s)
{
    const double length = s->k->model->length;
    int row = 0;
    for (int i = 0; i < s->count; i++) {
        const lw_goal *g = &s->goal[i];
        const double weight = weight_of(g->weight), rotation = weight_of(g->rotation_weight);
        lw_point_motion at;
        double e[3];
        if (g->type == LW_GOAL_JOINT) {
            s->r[row++] =
                weight * joint_gap(s, g) / joint_unit(s->k->model, g->joint.index, g->coordinate);
            continue;
        }
        lw_kinematics_point(s->k, g->body, g->point, &at);
        if (g->type != LW_GOAL_ORIENTATION) {
            place_gap(s, g, &at, e);
            for (int c = 0; c < 3; c++) s->r[row++] = weight * e[c] / length;
        }
        if (g->type == LW_GOAL_POINT) continue;
        rotation_of(g, at.quaternion, e);
        for (int c = 0; c < 3; c++) s->r[row++] = rotation * e[c];
    }
    LWI_ASSERT(row == s->rows);
    return lwi_dot(s->rows, s->r, s->r) / 2;
}

static double merit_of(search *s)
{
    return residuals(s) + s->penalty * violation(s);
}

// -------------------------------------------------------------------------------------- derivatives

// Rates of the coordinates of all joints by the independent speeds, drives at rest.
static void joint_speeds(search *s)
{
    lwi_manifold *m = &s->k->at.manifold;
    const size_t nv = (size_t)s->k->model->nv, n = (size_t)m->n;
    const double *qd = m->constraints->tree.joint_qd;
    for (int k = 0; k < s->f; k++) {
        lw_constraints_evaluate(m->constraints, m->t, s->k->q, m->B + (size_t)k * n, NULL, m->rate,
                                NULL, NULL);
        memcpy(s->speed + (size_t)k * nv, qd, nv * sizeof *qd);
    }
    lw_constraints_evaluate(m->constraints, m->t, s->k->q, s->k->still, NULL, m->rate, NULL, NULL);
    for (size_t k = 0; k < (size_t)s->f; k++)
        for (size_t i = 0; i < nv; i++) s->speed[k * nv + i] -= qd[i];
}

static double joint_rate(const search *s, int joint, int coordinate, int k)
{
    const lw_model *model = s->k->model;
    return s->speed[(size_t)k * (size_t)model->nv + (size_t)(model->joint[joint].iv + coordinate)];
}

static double unit(const search *s, int k)
{
    const lwi_manifold *m = &s->k->at.manifold;
    return lwi_manifold_unit(m, m->independent[k]);
}

// The rate of a rotation vector e is T w with T'e = e, so that J'r is exact with w in place of it.
static void body_rows(search *s, const lw_goal *g, int *row)
{
    const double weight = weight_of(g->weight) / s->k->model->length,
                 rotation = weight_of(g->rotation_weight);
    lw_kinematics_jacobian(s->k, g->body, g->point, LW_AXES_WORLD, s->point);
    for (int k = 0; k < s->f; k++) {
        int i = *row;
        for (int c = 0; g->type != LW_GOAL_ORIENTATION && c < 3; c++)
            s->J[i++ * s->f + k] = weight * s->point[c * s->f + k] * unit(s, k);
        for (int c = 0; g->type != LW_GOAL_POINT && c < 3; c++)
            s->J[i++ * s->f + k] = rotation * s->point[(3 + c) * s->f + k] * unit(s, k);
    }
    *row += rows_of(g);
}

static void derivatives(search *s)
{
    const lw_model *model = s->k->model;
    int row = 0;
    joint_speeds(s);
    for (int i = 0; i < s->count; i++) {
        const lw_goal *g = &s->goal[i];
        if (g->type != LW_GOAL_JOINT) {
            body_rows(s, g, &row);
            continue;
        }
        const double weight =
            weight_of(g->weight) / joint_unit(model, g->joint.index, g->coordinate);
        for (int k = 0; k < s->f; k++)
            s->J[row * s->f + k] =
                weight * joint_rate(s, g->joint.index, g->coordinate, k) * unit(s, k);
        row++;
    }
    for (int i = 0; i < s->nend; i++) {
        const range_end *e = &s->end[i];
        const double q =
            s->k->at.manifold.constraints->tree.joint_q[model->joint[e->joint].iq + e->coordinate];
        s->slack[i] = (e->bound - e->sign * q) / e->unit;
        for (int k = 0; k < s->f; k++)
            s->a[i * s->f + k] =
                e->sign * joint_rate(s, e->joint, e->coordinate, k) * unit(s, k) / e->unit;
    }
}

// -------------------------------------------------------------------------------------------- steps

// H := factor of J'J + mu; g := J'r.
static double normal_equations(search *s)
{
    const int f = s->f;
    double largest = 0;
    for (int i = 0; i < f; i++) {
        s->g[i] = 0;
        for (int r = 0; r < s->rows; r++) s->g[i] += s->J[r * f + i] * s->r[r];
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int r = 0; r < s->rows; r++) sum += s->J[r * f + i] * s->J[r * f + j];
            s->H[i * f + j] = s->H[j * f + i] = sum;
        }
        largest = fmax(largest, s->H[i * f + i]);
    }
    const double mu =
        s->nu * lwi_dot(s->rows, s->r, s->r) + SMALLEST_MU * (largest > 0 ? largest : 1);
    for (int i = 0; i < f; i++) s->H[i * f + i] += mu;
    lwi_cholesky(f, s->H, 0);
    return mu;
}

static void solve(const search *s, double *x)
{
    lwi_lower_solve(s->f, s->H, x);
    lwi_lower_tsolve(s->f, s->H, x);
}

// p := the step in the ranges; lambda: the force of their ends.
static void ranged_step(search *s)
{
    const int f = s->f;
    for (int k = 0; k < f; k++) s->p[k] = -s->g[k];
    solve(s, s->p);
    for (int i = 0; i < s->nend; i++) {
        double *w = s->w + i * f;
        memcpy(w, s->a + i * f, (size_t)f * sizeof *w);
        solve(s, w);
        s->d[i] = lwi_dot(f, s->a + i * f, w);
        s->lambda[i] = 0;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double change = 0;
        for (int i = 0; i < s->nend; i++) {
            if (!(s->d[i] > 0)) continue;
            const double over = lwi_dot(f, s->a + i * f, s->p) - s->slack[i];
            const double next = fmax(0, s->lambda[i] + over / s->d[i]), by = next - s->lambda[i];
            s->lambda[i] = next;
            for (int k = 0; k < f; k++) s->p[k] -= by * s->w[i * f + k];
            change = fmax(change, fabs(by) * s->d[i]);
        }
        if (change <= 1e-15) return;
    }
}

// Is the gradient of F, less the force of the ends of ranges, zero?
static bool is_flat(const search *s)
{
    double gradient = 0, size = 0;
    for (int k = 0; k < s->f; k++) {
        double sum = s->g[k];
        for (int i = 0; i < s->nend; i++) sum += s->lambda[i] * s->a[i * s->f + k];
        gradient = fmax(gradient, fabs(sum));
        for (int r = 0; r < s->rows; r++) size = fmax(size, fabs(s->J[r * s->f + k]));
    }
    return gradient <= FLAT * size * sqrt(lwi_dot(s->rows, s->r, s->r));
}

// The largest displacement of a coordinate of the tree in its unit.
static double size_of_step(search *s)
{
    const lwi_manifold *m = &s->k->at.manifold;
    double largest = 0;
    memset(s->increment, 0, (size_t)m->n * sizeof *s->increment);
    for (int k = 0; k < s->f; k++)
        for (int i = 0; i < m->n; i++)
            s->increment[i] += s->p[k] * unit(s, k) * m->B[(size_t)k * (size_t)m->n + (size_t)i];
    for (int i = 0; i < m->n; i++)
        largest = fmax(largest, fabs(s->increment[i]) / lwi_manifold_unit(m, i));
    return largest;
}

// Places the mechanism at s->q moved by the increment times `part`; false: the loops do not close there.
static bool try_step(search *s, double part)
{
    lwi_manifold *m = &s->k->at.manifold;
    lw_error ignored;
    double *const q = s->k->q;
    for (int i = 0; i < m->n; i++) s->increment[i] *= part;
    memcpy(q, s->q, (size_t)s->k->model->tree_nq * sizeof *q);
    lwi_manifold_move(m, q, s->increment);
    return lwi_manifold_close(m, q, &ignored) == LW_OK &&
           lwi_placement_set(s->k, s->desc->time, q, NULL, &ignored) == LW_OK;
}

// A step that makes the merit smaller; false: there is none.
static lw_status improve(search *s, bool *improved, lw_error *error)
{
    memcpy(s->q, s->k->q, (size_t)s->k->model->tree_nq * sizeof *s->q);
    *improved = false;
    for (int raise = 0; raise < RAISES; raise++) {
        normal_equations(s);
        ranged_step(s);
        if (is_flat(s) && violation(s) <= VIOLATED) break;
        const double size = size_of_step(s);
        if (try_step(s, size > LONGEST ? LONGEST / size : 1)) {
            const double merit = merit_of(s);
            if (merit < s->merit) {
                s->merit = merit;
                s->nu = fmax(s->nu / 4, 1e-8);
                *improved = true;
                return LW_OK;
            }
        }
        TRY(lwi_placement_set(s->k, s->desc->time, s->q, NULL, error));
        residuals(s);
        derivatives(s);
        s->nu *= 8;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ outcome

static void find_active(const search *s, lw_reach_report *report)
{
    double largest = 0;
    report->active = 0;
    report->limit[0] = 0;
    for (int i = 0; i < s->nend; i++) {
        if (!(s->lambda[i] * sqrt(s->d[i] > 0 ? 1 : 0) > 0)) continue;
        report->active++;
        if (s->lambda[i] <= largest) continue;
        largest = s->lambda[i];
        snprintf(report->limit, sizeof report->limit, "joint.%.200s.q%d",
                 s->k->model->joint[s->end[i].joint].name, s->end[i].coordinate);
    }
}

static lw_status search_from(search *s, lw_reach_report *report, lw_error *error)
{
    const int bound = s->desc->iterations > 0 ? s->desc->iterations : ITERATIONS;
    const double tolerance = s->desc->tolerance > 0 ? s->desc->tolerance : TOLERANCE;
    s->nu = 1e-2;
    s->penalty = 10 * (1 + sqrt(2 * residuals(s)));
    s->merit = merit_of(s);
    memset(s->lambda, 0, (size_t)s->nend * sizeof *s->lambda);
    for (int i = 0;; i++) {
        bool improved;
        report->gap = largest_gap(s, NULL);
        report->outcome = LW_REACHED;
        if (report->gap <= tolerance && violation(s) <= VIOLATED) break;
        report->outcome = LW_REACH_ITERATIONS;
        if (i >= bound) break;
        residuals(s);
        derivatives(s);
        TRY(improve(s, &improved, error));
        report->iterations++;
        if (improved) continue;
        report->outcome = LW_REACH_MINIMUM;
        break;
    }
    find_active(s, report);
    if (report->outcome == LW_REACH_MINIMUM && report->active) report->outcome = LW_REACH_LIMITS;
    if (report->outcome == LW_REACHED) report->active = 0, report->limit[0] = 0;
    return LW_OK;
}

// Another state to begin with: the first one displaced; false: none that closes.
static bool scatter(search *s, const double *q, int seed)
{
    lwi_manifold *m = &s->k->at.manifold;
    lw_error ignored;
    if (lwi_placement_set(s->k, s->desc->time, q, NULL, &ignored) != LW_OK) return false;
    memcpy(s->q, q, (size_t)s->k->model->tree_nq * sizeof *q);
    lwi_cut_scatter(s->f, seed, s->p);
    for (int k = 0; k < s->f; k++) s->p[k] *= 4; // from -2 to 2 rad or lengths
    size_of_step(s);
    for (int i = 0; i < 5; i++)
        if (try_step(s, i ? 0.5 : 1)) return true;
    (void)m;
    return false;
}

static lw_status search_all(search *s, double *q, lw_reach_report *report, lw_error *error)
{
    const int starts = s->desc->starts > 0 ? s->desc->starts : 1;
    const size_t bytes = (size_t)s->k->model->tree_nq * sizeof *q;
    double best = INFINITY;
    for (int i = 0; i < starts; i++) {
        lw_reach_report now = {.iterations = report->iterations, .starts = i + 1};
        if (i > 0 && !scatter(s, q, i)) continue;
        TRY(search_from(s, &now, error));
        report->iterations = now.iterations;
        if (now.outcome == LW_REACHED || s->merit < best) {
            best = s->merit;
            *report = now;
            memcpy(s->best, s->k->q, bytes);
        }
        report->starts = i + 1;
        if (now.outcome == LW_REACHED) break;
    }
    if (report->outcome == LW_REACH_MINIMUM && starts > 1) report->outcome = LW_REACH_UNREACHABLE;
    memcpy(q, s->best, bytes);
    return lwi_placement_set(s->k, s->desc->time, q, NULL, error);
}

lw_status lw_kinematics_reach(lw_kinematics *k, int count, const lw_goal *goals,
                              const lw_reach_desc *desc, double *q, double *gaps,
                              lw_reach_report *report, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_reach_desc, desc, error);
    if (!k || !q || count < 0 || (count && !goals))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_kinematics_reach: goals and coordinates are needed");
    for (int i = 0; i < k->model->tree_nq; i++)
        if (!isfinite(q[i]))
            return lwi_fail(error, LW_ERR_NOT_FINITE, "q[%d] is %g, expected a number", i, q[i]);
    search s = {.k = k, .goal = goals, .desc = desc, .count = count};
    lw_reach_report own = {0};
    lwi_arena_init(&s.arena, &k->model->arena.allocator);
    lw_status status = create(&s, error);
    k->at.manifold.t = desc->time;
    if (status == LW_OK) {
        memcpy(s.q, q, (size_t)k->model->tree_nq * sizeof *q);
        status = lwi_manifold_close(&k->at.manifold, s.q, error);
    }
    if (status == LW_OK) status = lwi_placement_set(k, desc->time, s.q, NULL, error);
    if (status == LW_OK) {
        memcpy(q, s.q, (size_t)k->model->tree_nq * sizeof *q);
        status = search_all(&s, q, &own, error);
    }
    if (status == LW_OK && gaps) largest_gap(&s, gaps);
    if (status == LW_OK && report) *report = own;
    lwi_arena_free(&s.arena);
    return status;
}
