// inverse.c -- inverse dynamics of any mechanism: efforts u of chosen actuators for a motion, and reactions.
//
// With  M a + h = S'u + J'lambda,  J B = 0  (manifold.h) and tau = M a + h  the multipliers drop out:
//     A u = B'tau,   A = B'S'   [f][m]
// Rows are scaled by L^-1, M_r = L L', so that metres and radians compare; columns by the weights w of the actuators,
// x = w u.  A complete orthogonal decomposition gives the rank of A and the x of smallest residual and minimum norm.  Its
// pivots are relative to columns of actuators that move as fast as the fastest coordinate, in rad and lengths.  Where
// the residual is not zero, actuators cannot make the motion: missing = B'tau - A u in independent coordinates.
//
// Then  J'lambda = tau - S'u - missing  gives multipliers of minimum norm in scaled rows, and one pass over the tree the
// reactions (loops/cut_reactions.h).
#include "analysis/actuate.h"
#include "analysis/chosen.h"
#include "analysis/names.h"
#include "analysis/track.h"
#include "base/linear.h"
#include "kinematics/observe.h"
#include "loops/cut_reactions.h"
#include "loops/cut_state.h"
#include "model/coordinate_names.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <linkwork/analysis.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RANK 1e-10      // of the scaled A: relative pivots
#define INFEASIBLE 1e-8 // residual, relative to the parts of what is required
#define NULL_PART 1e-9  // of an actuator in an orthonormal null vector
#define GAP 1e-4    // [rad, lengths of the mechanism] of a coordinate of a motion and of the loops
#define AFFINE 1e-7 // relative deviation of an input's effect from proportionality

struct lw_inverse {
    lw_model *model; ///< actuated, owned
    lwi_arena arena;
    lwi_chosen at;
    int m, n, f;            ///< actuators, speeds of the tree, degrees of freedom
    int *input;             ///< [m]
    double *weight;         ///< [m]
    double *inputs, *trial; ///< [ninput] with zeros, with trial values, of the actuators
    double *S;              ///< [m][n]
    double *A;              ///< [m][f] columns, scaled rows
    double *tau, *h1, *h2, *left, *bias;       ///< [n]
    double *need, *part, *L;                   ///< [f], [f], [f][f]
    double *x, *u, *missing, *null;            ///< [m], [m], [f], [m][m]
    double pivot;                              ///< last one kept, relative to the best column
    unsigned char *redundant;                  ///< [m]
    double *residual, *rate, *lambda, *column; ///< [rows]
    double *q, *v, *vdot;                      ///< [tree nq], [n], [n] of an observation
    lwi_cod actuators, rows;                   ///< of A [f][m], of J' [n][rows]
    lwi_cut_reactions reactions;
    lwi_snapshot snapshot;
    lwi_loads loads;
    lwi_track track;        ///< of the motion of the description; rows 0: none
    double *near_q, *still; ///< [tree nq], [n] on the way to a row
    char worst[LW_COORDINATE_NAME_SIZE];
    double gap;        ///< largest deviation of a coordinate of the motion from the loops, in units
    char warning[400]; ///< names it
    lw_inverse_solution solution;
};

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for inverse dynamics");
}

// ----------------------------------------------------------------------------- create: actuators

static lw_status take_input(lw_inverse *s, int input, lw_error *error)
{
    for (int i = 0; i < s->m; i++)
        if (s->input[i] == input)
            return lwi_fail(error, LW_ERR_ARGUMENT, "actuators: '%s' is named twice",
                            s->model->desc.input[input]);
    s->input[s->m++] = input;
    return LW_OK;
}

static lw_status take(void *user, const char *name, lw_error *error)
{
    lw_inverse *s = user;
    int input;
    lwi_coordinate_name at;
    if (lw_model_find_input(s->model, name, &input) == LW_OK) return take_input(s, input, error);
    TRY(lwi_coordinate_name_read(s->model, "actuators", name, &at, error));
    for (int k = 0; k < s->model->joint[at.joint].type->nv; k++)
        if (at.coordinate < 0 || k == at.coordinate)
            TRY(take_input(s, lwi_actuator_input(s->model, at.joint, k), error));
    return LW_OK;
}

static bool is_driven(const lw_model *model)
{
    for (int j = 0; j < model->njoint; j++)
        if (model->joint[j].ndriven) return true;
    return false;
}

// The inputs of all driven coordinates of `given`, or all inputs.
static lw_status take_default(lw_inverse *s, const lw_model *given, lw_error *error)
{
    for (int i = 0; !is_driven(given) && i < s->model->desc.ninput; i++)
        TRY(take_input(s, i, error));
    for (int j = 0; j < given->njoint; j++)
        for (int k = 0; k < given->joint[j].type->nv; k++)
            if (given->joint[j].motion[k].index > 0)
                TRY(take_input(s, lwi_actuator_input(s->model, j, k), error));
    return LW_OK;
}

// 1 over the largest value that a servo with limits allows the input; 1 where there is no such limit.
static double default_weight(const lw_model *model, int input)
{
    const lwi_force_list *servos = &model->desc.force[LWI_ITEM_servo];
    for (int i = 0; i < servos->n; i++) {
        const lw_servo_desc *d = lwi_force_desc(&model->desc, LWI_ITEM_servo, i);
        const double effect = fabs(d->law.kp + d->law.gain[0]);
        const double largest = fmax(fabs(d->law.effort_range[0]), fabs(d->law.effort_range[1]));
        if (d->law.target.index == -1 - input && d->law.has_effort_range && effect > 0 &&
            largest > 0)
            return effect / largest;
    }
    return 1;
}

static lw_status find_actuators(lw_inverse *s, const lw_model *given, const lw_inverse_desc *desc,
                                lw_error *error)
{
    const size_t p = (size_t)s->model->desc.ninput;
    s->input = LWI_PUSH(&s->arena, int, p);
    s->weight = LWI_PUSH(&s->arena, double, p);
    s->inputs = LWI_PUSH(&s->arena, double, p);
    s->trial = LWI_PUSH(&s->arena, double, p);
    if (!s->input || !s->weight || !s->inputs || !s->trial) return no_memory(error);
    if (desc->actuators && *desc->actuators)
        TRY(lwi_names_each("actuators", desc->actuators, take, s, error));
    else
        TRY(take_default(s, given, error));
    if (s->m == 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "actuators: none, because the model has no drives; expected names of "
                        "coordinates or of inputs");
    for (int i = 0; desc->inputs && i < given->desc.ninput; i++) s->inputs[i] = desc->inputs[i];
    for (int i = 0; i < s->m; i++) {
        s->inputs[s->input[i]] = 0;
        s->weight[i] = default_weight(s->model, s->input[i]);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------ create: memory

static bool cod_create(lwi_arena *arena, int n, int m, lwi_cod *cod)
{
    double *a = LWI_PUSH(arena, double, (size_t)n *(size_t)m),
           *rest = LWI_PUSH(arena, double, lwi_cod_doubles(n, m));
    int *pivot = LWI_PUSH(arena, int, m);
    if (!a || !rest || !pivot) return false;
    lwi_cod_init(cod, n, m, a, rest, pivot);
    return true;
}

static lw_status allocate(lw_inverse *s)
{
    lwi_arena *arena = &s->arena;
    const lw_model *model = s->model;
    const size_t n = (size_t)s->n, m = (size_t)s->m;
    double **const speed[] = {&s->tau,  &s->h1,      &s->h2, &s->left, &s->bias, &s->need,
                              &s->part, &s->missing, &s->v,  &s->vdot, &s->still};
    for (int i = 0; i < LWI_COUNT(speed); i++)
        if (!(*speed[i] = LWI_PUSH(arena, double, n))) return LW_ERR_MEMORY;
    s->q = LWI_PUSH(arena, double, model->tree_nq);
    s->near_q = LWI_PUSH(arena, double, model->tree_nq);
    s->S = LWI_PUSH(arena, double, m *n);
    s->A = LWI_PUSH(arena, double, m *n);
    s->L = LWI_PUSH(arena, double, n *n);
    s->x = LWI_PUSH(arena, double, m);
    s->u = LWI_PUSH(arena, double, m);
    s->null = LWI_PUSH(arena, double, m *m);
    s->redundant = LWI_PUSH(arena, unsigned char, m);
    s->loads.wrench = lwi_arena_push(arena, (size_t)model->nbody, sizeof *s->loads.wrench);
    s->loads.effort = LWI_PUSH(arena, double, model->nv);
    if (!s->q || !s->near_q || !s->S || !s->A || !s->L || !s->x || !s->u || !s->null ||
        !s->redundant || !s->loads.wrench || !s->loads.effort)
        return LW_ERR_MEMORY;
    return lwi_snapshot_create(model, arena, &s->snapshot);
}

// Memory that depends on the number of rows and degrees of freedom, which do not change from choice to choice.
static lw_status allocate_rows(lw_inverse *s)
{
    lwi_arena *arena = &s->arena;
    const int rows = s->at.manifold.m;
    if (s->residual) return LW_OK;
    s->residual = LWI_PUSH(arena, double, rows);
    s->rate = LWI_PUSH(arena, double, rows);
    s->lambda = LWI_PUSH(arena, double, rows);
    s->column = LWI_PUSH(arena, double, rows);
    if (!s->residual || !s->rate || !s->lambda || !s->column ||
        !cod_create(arena, s->f, s->m, &s->actuators) || !cod_create(arena, s->n, rows, &s->rows))
        return LW_ERR_MEMORY;
    return lwi_cut_reactions_create(&s->at.manifold.constraints->cut, rows - (s->n - s->f), arena,
                                    &s->reactions);
}

// Independent coordinates at the start.
static lw_status choose(lw_inverse *s, lw_error *error)
{
    TRY(lwi_chosen_choose(&s->at, 0, s->model->tree_q0, error));
    s->f = s->at.manifold.f;
    return allocate_rows(s) == LW_OK ? LW_OK : no_memory(error);
}

// The first independent coordinate that the motion does not have; -1: it has all.
static int lacking(const lw_inverse *s)
{
    for (int k = 0; k < s->f; k++)
        if (!lwi_track_has(&s->track, s->at.manifold.independent[k])) return k;
    return -1;
}

// The names of all coordinates that the motion has, as independent ones.
static lw_status name_tracked(lw_inverse *s, lw_error *error)
{
    size_t used = 0;
    const size_t size = (size_t)s->n * LW_COORDINATE_NAME_SIZE + 1;
    char *names = LWI_PUSH(&s->arena, char, size);
    if (!names) return no_memory(error);
    for (int i = 0; i < s->n; i++) {
        char name[LW_COORDINATE_NAME_SIZE];
        if (!lwi_track_has(&s->track, i)) continue;
        lwi_analysis_name(s->model, i, false, name, sizeof name);
        used += (size_t)snprintf(names + used, size - used, "%s%s", used ? "," : "", name);
    }
    s->at.names = names;
    return LW_OK;
}

static lw_status choose_tracked(lw_inverse *s, lw_result *motion, lw_error *error)
{
    char name[LW_COORDINATE_NAME_SIZE];
    TRY(lwi_track_create(s->model, motion, &s->arena, &s->track, error));
    if (lacking(s) >= 0 && !*s->at.names) {
        TRY(name_tracked(s, error));
        TRY(choose(s, error));
    }
    if (lacking(s) < 0) return LW_OK;
    lwi_manifold_name(&s->at.manifold, lacking(s), false, name, sizeof name);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "motion: the columns do not determine the mechanism of dof %d: %s has none",
                    s->f, name);
}

static lw_status create(lw_inverse *s, const lw_model *given, const lw_inverse_desc *desc,
                        lw_error *error)
{
    s->at.names = lwi_arena_text(&s->arena, desc->independent ? desc->independent : "");
    if (!s->at.names) return no_memory(error);
    s->n = s->model->tree_nv;
    TRY(find_actuators(s, given, desc, error));
    s->at.model = s->model;
    s->at.inputs = s->inputs;
    if (allocate(s) != LW_OK) return no_memory(error);
    lw_model_tree_start(s->model, s->q, s->v);
    TRY(choose(s, error));
    return desc->motion ? choose_tracked(s, desc->motion, error) : LW_OK;
}

lw_status lw_inverse_create(const lw_model *model, const lw_inverse_desc *desc,
                            lw_inverse **inverse, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_inverse_desc, desc, error);
    if (!model || !inverse)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_inverse_create: a model and a result are needed");
    lw_inverse *s = lwi_allocate(&model->arena.allocator, sizeof *s);
    if (!s) return no_memory(error);
    *s = (lw_inverse){0};
    lwi_arena_init(&s->arena, &model->arena.allocator);
    const bool named = desc->actuators && *desc->actuators; // else those of the drives
    lw_status status =
        lw_model_actuate(model, desc->actuators, !(named && desc->keep_drives), &s->model, error);
    if (status == LW_OK) status = create(s, model, desc, error);
    if (status == LW_OK)
        *inverse = s;
    else
        lw_inverse_destroy(s);
    return status;
}

void lw_inverse_destroy(lw_inverse *s)
{
    if (!s) return;
    const lw_allocator allocator = s->arena.allocator;
    lwi_chosen_leave(&s->at);
    lw_model_destroy(s->model);
    lwi_arena_free(&s->arena);
    lwi_release(&allocator, s);
}

const lw_model *lw_inverse_model(const lw_inverse *inverse)
{
    return inverse ? inverse->model : NULL;
}

int lw_inverse_actuators(const lw_inverse *inverse)
{
    return inverse ? inverse->m : 0;
}

const char *lw_inverse_actuator_name(const lw_inverse *inverse, int index)
{
    if (!inverse || index < 0 || index >= inverse->m) return "";
    return inverse->model->desc.input[inverse->input[index]];
}

int lw_inverse_actuator_input(const lw_inverse *inverse, int index)
{
    return inverse && index >= 0 && index < inverse->m ? inverse->input[index] : -1;
}

// Sets the weight of an input; false: it is no actuator.
static bool set_weight(lw_inverse *s, int input, double weight)
{
    for (int i = 0; i < s->m; i++)
        if (s->input[i] == input) {
            s->weight[i] = weight;
            return true;
        }
    return false;
}

lw_status lw_inverse_set_weight(lw_inverse *s, const char *actuator, double weight, lw_error *error)
{
    int input;
    bool found = false;
    lwi_coordinate_name at;
    if (!s || !actuator)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_inverse_set_weight: an actuator is needed");
    if (!(weight > 0) || !isfinite(weight))
        return lwi_fail(error, LW_ERR_ARGUMENT, "weight of '%s' is %g, expected > 0", actuator,
                        weight);
    if (lw_model_find_input(s->model, actuator, &input) == LW_OK) {
        found = set_weight(s, input, weight);
    } else {
        TRY(lwi_coordinate_name_read(s->model, "weights", actuator, &at, error));
        for (int k = 0; k < s->model->joint[at.joint].type->nv; k++)
            if (at.coordinate < 0 || k == at.coordinate)
                found |= set_weight(s, lwi_actuator_input(s->model, at.joint, k), weight);
    }
    return found ? LW_OK
                 : lwi_fail(error, LW_ERR_ARGUMENT, "weights: '%s' is no actuator", actuator);
}

int lw_inverse_dof(const lw_inverse *inverse)
{
    return inverse ? inverse->f : 0;
}

lw_status lw_inverse_coordinate_name(const lw_inverse *inverse, int index, char *text, size_t size)
{
    if (!inverse || !text || index < 0 || index >= inverse->f) return LW_ERR_ARGUMENT;
    lwi_manifold_name(&inverse->at.manifold, index, false, text, size);
    return LW_OK;
}

int lw_inverse_coordinate_speed(const lw_inverse *inverse, int index)
{
    return inverse && index >= 0 && index < inverse->f ? inverse->at.manifold.independent[index]
                                                       : -1;
}

// --------------------------------------------------------------------------------- solve: the state

// Size of the terms of which row i of J x is the sum.
static double row_size(const lw_inverse *s, int i, const double *x)
{
    double sum = 0;
    for (int k = 0; k < s->n; k++)
        sum += fabs(s->at.manifold.J[(size_t)i * (size_t)s->n + (size_t)k] * x[k]);
    return sum;
}

static lw_status violated(const lw_inverse *s, double t, int row, const char *what, double residual,
                          const char *unit, lw_error *error)
{
    const lw_joint joint = lw_constraints_joint(s->at.manifold.constraints, row);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "t = %.10g s: %s do not satisfy joint '%s', residual %.3g %s: inverse dynamics "
                    "needs a motion that all joints allow",
                    t, what, s->model->joint[joint.index].name, residual, unit);
}

// Do q, v and vdot satisfy the rows, up to `tolerance` of the terms?
static lw_status check_motion(lw_inverse *s, double t, const double *q, const double *v,
                              const double *vdot, double tolerance, lw_error *error)
{
    lwi_manifold *m = &s->at.manifold;
    const size_t n = (size_t)s->n;
    if (lw_constraints_evaluate(m->constraints, t, q, v, m->phi, s->rate, m->J, m->gamma) != LW_OK)
        return lwi_fail(error, LW_ERR_NOT_FINITE, "t = %.10g s: the state is not finite", t);
    for (int i = 0; i < m->m; i++) {
        double sum = m->gamma[i];
        for (size_t k = 0; k < n; k++) sum += m->J[(size_t)i * n + k] * vdot[k];
        const double size[] = {1 + s->model->length, 1 + row_size(s, i, v),
                               1 + fabs(m->gamma[i]) + row_size(s, i, vdot)};
        if (!(fabs(m->phi[i]) <= tolerance * size[0]))
            return violated(s, t, i, "coordinates", m->phi[i], "m or rad", error);
        if (!(fabs(s->rate[i]) <= tolerance * size[1]))
            return violated(s, t, i, "speeds", s->rate[i], "m/s or rad/s", error);
        if (!(fabs(sum) <= tolerance * size[2]))
            return violated(s, t, i, "accelerations", sum, "m/s^2 or rad/s^2", error);
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------- solve: the actuators

// h := what the tree needs at vdot = 0 with inputs.
static lw_status needed(lw_inverse *s, double t, const double *q, const double *v,
                        const double *inputs, double *h, lw_error *error)
{
    const lw_status status =
        lw_constraints_tree(s->at.manifold.constraints, t, q, v, inputs, NULL, h);
    return status == LW_OK ? LW_OK
                           : lwi_fail(error, status, "t = %.10g s: a force is not finite", t);
}

// S_k := effect of one unit of actuator k, from both sides of zero in steps of `step`; false: it is not proportional.
static lw_status effect(lw_inverse *s, double t, const double *q, const double *v, int k,
                        double step, bool *affine, lw_error *error)
{
    double *const S = s->S + (size_t)k * (size_t)s->n;
    double largest = 0, bend = 0, size = 0;
    memcpy(s->trial, s->inputs, (size_t)s->model->desc.ninput * sizeof *s->trial);
    s->trial[s->input[k]] = step;
    TRY(needed(s, t, q, v, s->trial, s->h1, error));
    s->trial[s->input[k]] = -step;
    TRY(needed(s, t, q, v, s->trial, s->h2, error));
    for (int i = 0; i < s->n; i++) {
        S[i] = (s->h2[i] - s->h1[i]) / (2 * step);
        size = fmax(size, fabs(s->at.manifold.h[i]));
        largest = fmax(largest, fabs(S[i]) * step);
        bend = fmax(bend, fabs(s->h1[i] + s->h2[i] - 2 * s->at.manifold.h[i]));
    }
    *affine = bend <= AFFINE * largest + 16 * DBL_EPSILON * size;
    for (int i = 0; i < s->n; i++)
        if (fabs(S[i]) * step <= 16 * DBL_EPSILON * fmax(size, largest)) S[i] = 0;
    return LW_OK;
}

static lw_status effects(lw_inverse *s, double t, const double *q, const double *v, lw_error *error)
{
    double size = 1;
    for (int i = 0; i < s->n; i++) size = fmax(size, fabs(s->at.manifold.h[i]));
    for (int k = 0; k < s->m; k++) {
        bool affine = false;
        const double steps[] = {size, 1, 1e-3};
        for (int i = 0; !affine && i < LWI_COUNT(steps); i++)
            TRY(effect(s, t, q, v, k, steps[i], &affine, error));
        if (!affine)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "t = %.10g s: efforts are not proportional to the input '%s'", t,
                            lw_inverse_actuator_name(s, k));
    }
    return LW_OK;
}

static double norm(int n, const double *x)
{
    return sqrt(lwi_dot(n, x, x));
}

// L with M_r = L L'; where no mass moves with a coordinate, the units of the coordinates.
static void factor_metric(lw_inverse *s)
{
    const size_t f = (size_t)s->f;
    double size = 0;
    memcpy(s->L, s->at.manifold.reduced, f * f * sizeof *s->L);
    for (size_t k = 0; k < f; k++) size = fmax(size, s->L[k * f + k]);
    if (lwi_cholesky(s->f, s->L, 1e-12 * size) < 0) return;
    memset(s->L, 0, f * f * sizeof *s->L);
    for (int k = 0; k < s->f; k++)
        s->L[(size_t)k * f + (size_t)k] =
            lwi_manifold_unit(&s->at.manifold, s->at.manifold.independent[k]);
}

// to [f] := B' from
static void reduce(const lw_inverse *s, const double *from, double *to)
{
    for (int k = 0; k < s->f; k++)
        to[k] = lwi_dot(s->n, s->at.manifold.B + (size_t)k * (size_t)s->n, from);
}

// The size of what is required: of inertia and of loads, which may cancel.
static double required_size(lw_inverse *s)
{
    double size = 0;
    for (int i = 0; i < s->n; i++) s->left[i] = s->tau[i] - s->at.manifold.h[i];
    reduce(s, s->left, s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    size = norm(s->f, s->part);
    reduce(s, s->at.manifold.h, s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    return size + norm(s->f, s->part);
}

static void mark_redundant(lw_inverse *s)
{
    const int dimension = s->m - s->actuators.rank;
    memset(s->redundant, 0, (size_t)s->m);
    lwi_cod_null(&s->actuators, s->null);
    for (int i = 0; i < dimension; i++)
        for (int k = 0; k < s->m; k++)
            if (fabs(s->null[(size_t)i * (size_t)s->m + (size_t)k]) > NULL_PART)
                s->redundant[k] = 1;
}

// How fast the fastest coordinate of the tree moves, by its unit, in motions with L'z of length one.
static double fastest_speed(lw_inverse *s)
{
    const lwi_manifold *m = &s->at.manifold;
    double fastest = 0;
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < s->f; k++) s->part[k] = m->B[(size_t)k * (size_t)s->n + (size_t)i];
        lwi_lower_solve(s->f, s->L, s->part);
        fastest = fmax(fastest, norm(s->f, s->part) / lwi_manifold_unit(m, i));
    }
    return fastest;
}

// The largest column of A, scaled, if all coordinates moved as fast as the fastest one.
static double best_column(lw_inverse *s)
{
    const double speed = fastest_speed(s);
    double best = 0;
    for (int k = 0; k < s->m; k++) {
        double sum = 0;
        for (int i = 0; i < s->n; i++)
            sum += fabs(s->S[(size_t)k * (size_t)s->n + (size_t)i]) *
                   lwi_manifold_unit(&s->at.manifold, i);
        best = fmax(best, sum * speed / s->weight[k]);
    }
    return best;
}

// Rank by pivots relative to the best column, so that one actuator at a dead point has none either.
static void factor_actuators(lw_inverse *s)
{
    double longest = 0;
    const double best = best_column(s);
    for (int k = 0; k < s->m; k++)
        longest = fmax(longest, norm(s->f, s->actuators.a + (size_t)k * (size_t)s->f));
    const double part = best > 0 ? longest / best : 1;
    lwi_cod_factor(&s->actuators, -1, part > 0 ? RANK / part : RANK);
    s->pivot = s->actuators.rank ? s->actuators.small * part : 1;
}

// Efforts of smallest residual and minimum weighted norm.
static void solve_efforts(lw_inverse *s)
{
    const size_t f = (size_t)s->f;
    for (int k = 0; k < s->m; k++) {
        double *const column = s->A + (size_t)k * f;
        reduce(s, s->S + (size_t)k * (size_t)s->n, column);
        memcpy(s->actuators.a + (size_t)k * f, column, f * sizeof *column);
        lwi_lower_solve(s->f, s->L, s->actuators.a + (size_t)k * f);
        for (size_t i = 0; i < f; i++) s->actuators.a[(size_t)k * f + i] /= s->weight[k];
    }
    factor_actuators(s);
    reduce(s, s->tau, s->need);
    memcpy(s->part, s->need, f * sizeof *s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    lwi_cod_solve(&s->actuators, s->part, s->x);
    for (int k = 0; k < s->m; k++) s->u[k] = s->x[k] / s->weight[k];
    mark_redundant(s);
}

// What the actuators leave, in independent coordinates; its relative size.
static void find_missing(lw_inverse *s)
{
    lw_inverse_solution *const out = &s->solution;
    const double size = required_size(s);
    double largest = -1;
    memcpy(s->missing, s->need, (size_t)s->f * sizeof *s->missing);
    for (int k = 0; k < s->m; k++)
        for (int i = 0; i < s->f; i++)
            s->missing[i] -= s->A[(size_t)k * (size_t)s->f + (size_t)i] * s->u[k];
    memcpy(s->part, s->missing, (size_t)s->f * sizeof *s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    out->residual = size > 0 ? norm(s->f, s->part) / size : 0;
    s->worst[0] = 0;
    for (int i = 0; i < s->f; i++) {
        const double x =
            fabs(s->missing[i]) * lwi_manifold_unit(&s->at.manifold, s->at.manifold.independent[i]);
        if (x <= largest * (1 + 1e-9)) continue;
        largest = x;
        lwi_manifold_name(&s->at.manifold, i, false, s->worst, sizeof s->worst);
    }
}

// ----------------------------------------------------------------------------- solve: the reactions

// lambda with J'lambda = tau - S'u - missing, of minimum norm in rows of length one.
static void solve_multipliers(lw_inverse *s)
{
    const lwi_manifold *m = &s->at.manifold;
    const size_t n = (size_t)s->n;
    const double *len = m->constraints->cut.len;
    memcpy(s->left, s->tau, n * sizeof *s->left);
    for (int k = 0; k < s->m; k++)
        for (size_t i = 0; i < n; i++) s->left[i] -= s->S[(size_t)k * n + i] * s->u[k];
    for (int k = 0; k < s->f; k++) s->left[m->independent[k]] -= s->missing[k];
    for (int r = 0; r < m->m; r++)
        for (size_t i = 0; i < n; i++)
            s->rows.a[(size_t)r * n + i] = m->J[(size_t)r * n + i] / len[r];
    lwi_cod_factor(&s->rows, s->n - s->f, 0);
    lwi_cod_solve(&s->rows, s->left, s->lambda);
    for (int r = 0; r < m->m; r++) s->lambda[r] /= len[r];
}

// Rotors of cut joints as efforts, which act on the bodies.
static void apply_rotors(lw_inverse *s, double t, const double *v, const double *vdot)
{
    lw_constraints *c = s->at.manifold.constraints;
    lwi_cut *cut = &c->cut;
    const lw_model *model = s->model;
    const lwi_motion motion = lwi_cut_motion(&c->tree);
    if (c->spun.nrotor == 0) return;
    lwi_tree_accelerations(model, &c->tree, v, vdot);
    lwi_cut_accelerations(cut, &c->tree, NULL);
    memset(cut->wrench, 0, (size_t)model->nbody * sizeof *cut->wrench);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        double effort[LW_JOINT_MAX_NV] = {0};
        if (joint->nrotor == 0) continue;
        lwi_joint_read_acceleration(model, model->loop[i], t, &motion, (const double(*)[3])cut->a,
                                    (const double(*)[3])cut->al, effort);
        for (int k = 0; k < joint->type->nv; k++) effort[k] *= -joint->rotor[k];
        lwi_joint_apply_effort(model, model->loop[i], t, &motion, effort, cut->wrench);
    }
    for (int k = 0; k < model->nnode; k++)
        lwi_cut_add_wrench(model, &c->tree, k, 1, cut->wrench[model->node[k].body],
                           c->tree.wrench[k]);
}

// What is missing acts as an effort on the independent coordinates; it is no reaction.
static void add_missing(lw_inverse *s)
{
    const lw_model *model = s->model;
    double *const effort = s->at.manifold.constraints->tree.loads.effort;
    for (int i = 0; i < s->f; i++) {
        const int speed = s->at.manifold.independent[i];
        int k = 0;
        while (speed >= model->node[k].iv + model->node[k].nv) k++;
        const lwi_node *node = &model->node[k];
        if (node->joint >= 0)
            effort[model->joint[node->joint].iv + node->column[speed - node->iv]] += s->missing[i];
    }
}

static void find_reactions(lw_inverse *s, double t, const double *q, const double *v,
                           const double *vdot)
{
    lw_constraints *c = s->at.manifold.constraints;
    static const lwi_auxiliary none = {.at_work = -1};
    memcpy(s->trial, s->inputs, (size_t)s->model->desc.ninput * sizeof *s->trial);
    for (int k = 0; k < s->m; k++) s->trial[s->input[k]] = s->u[k];
    lw_constraints_evaluate(c, t, q, v, s->at.manifold.phi, NULL, NULL, NULL);
    solve_multipliers(s);
    lwi_cut_loads(&c->cut, &c->tree, t, v, s->trial);
    apply_rotors(s, t, v, vdot);
    add_missing(s);
    lwi_cut_wrenches(&c->cut, &c->tree, s->lambda, c->tree.wrench);
    lwi_cut_state_observe(&c->cut, &none, &c->tree, t, NULL, v, vdot, LW_OBSERVE_REACTION,
                          &s->snapshot);
    if (s->at.manifold.m)
        lwi_cut_reactions_find(&s->reactions, &c->cut, &c->tree, &s->rows, s->lambda, &s->snapshot);
    lwi_observe_merged(s->model, LW_OBSERVE_REACTION, s->trial, &s->loads, &s->snapshot);
}

// ------------------------------------------------------------------------------------------- solve

static void report(lw_inverse *s, double t)
{
    lw_inverse_solution *const out = &s->solution;
    out->time = t;
    out->rank = s->actuators.rank;
    out->dof = s->f;
    out->actuators = s->m;
    out->condition = s->pivot;
    out->kind = out->residual > INFEASIBLE ? LW_INVERSE_INFEASIBLE
                : s->m > s->actuators.rank ? LW_INVERSE_MINIMUM_NORM
                                           : LW_INVERSE_UNIQUE;
    out->effort = s->u;
    out->redundant = s->redundant;
    out->missing = s->missing;
    out->required = s->need;
    out->tau = s->tau;
    out->coordinate = s->worst;
    out->reaction = (const double(*)[6])s->snapshot.reaction;
    out->reaction_undetermined = s->snapshot.undetermined;
}

static lw_status solve(lw_inverse *s, double t, const double *q, const double *v,
                       const double *vdot, double tolerance, lw_error *error)
{
    lwi_manifold *m = &s->at.manifold;
    const size_t n = (size_t)s->n;
    TRY(lwi_chosen_tangent(&s->at, t, q, error));
    TRY(check_motion(s, t, q, v, vdot, tolerance, error));
    TRY(lwi_manifold_force(m, q, v, s->part, error));
    for (size_t i = 0; i < n; i++) s->tau[i] = m->h[i] + lwi_dot(s->n, m->M + i * n, vdot);
    TRY(effects(s, t, q, v, error));
    factor_metric(s);
    solve_efforts(s);
    find_missing(s);
    find_reactions(s, t, q, v, vdot);
    report(s, t);
    return LW_OK;
}

static bool all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static lw_status check_arguments(const lw_inverse *s, double t, const double *q, const double *v,
                                 const double *vdot, lw_error *error)
{
    if (!s || !q || !v || !vdot)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "inverse dynamics: coordinates, speeds and accelerations are needed");
    if (isfinite(t) && all_finite(q, s->model->tree_nq) && all_finite(v, s->n) &&
        all_finite(vdot, s->n))
        return LW_OK;
    return lwi_fail(error, LW_ERR_NOT_FINITE, "inverse dynamics: the motion is not finite");
}

lw_status lw_inverse_solve(lw_inverse *inverse, double t, const double *q, const double *v,
                           const double *vdot, const lw_inverse_solution **solution,
                           lw_error *error)
{
    TRY(check_arguments(inverse, t, q, v, vdot, error));
    TRY(solve(inverse, t, q, v, vdot, LWI_CLOSURE_TOLERANCE, error));
    if (solution) *solution = &inverse->solution;
    return LW_OK;
}

lw_status lw_inverse_complete(lw_inverse *s, double t, double *q, double *v, double *vdot,
                              lw_error *error)
{
    TRY(check_arguments(s, t, q, v, vdot, error));
    lwi_manifold *m = &s->at.manifold;
    TRY(lwi_chosen_tangent(&s->at, t, q, error));
    TRY(lwi_manifold_close(m, q, error));
    TRY(lwi_manifold_tangent(m, q, error));
    for (int k = 0; k < s->f; k++) s->need[k] = v[m->independent[k]];
    lwi_manifold_speeds(m, q, s->need, v);
    TRY(lwi_manifold_force(m, q, v, s->part, error));
    for (int k = 0; k < s->f; k++) s->need[k] = vdot[m->independent[k]];
    memcpy(vdot, m->bias, (size_t)s->n * sizeof *vdot);
    for (int k = 0; k < s->f; k++)
        for (int i = 0; i < s->n; i++)
            vdot[i] += s->need[k] * m->B[(size_t)k * (size_t)s->n + (size_t)i];
    return LW_OK;
}

// ------------------------------------------------------------------------------ an observed motion

// Accelerations of the free speeds.
static void gather_accelerations(const lw_model *model, const lw_observation *o, const double *v,
                                 double *vdot)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double *const to = vdot + node->iv, R[9], c[3];
        for (int i = 0; node->joint >= 0 && i < node->nv; i++)
            to[i] = o->qdd[model->joint[node->joint].iv + node->column[i]];
        if (node->joint >= 0) continue;
        quat_matrix(R, o->quaternion[node->body]); // d/dt (R'v) = R'a - w x R'v
        m3_tmul_v(to, R, o->acceleration[node->body]);
        v3_cross(c, v + node->iv + 3, v + node->iv);
        v3_sub(to, to, c);
        v3_copy(to + 3, o->angular_acceleration[node->body]);
    }
}

lw_status lw_inverse_motion(lw_inverse *s, const lw_observation *motion,
                            const lw_inverse_solution **solution, lw_error *error)
{
    if (!s || !motion)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_inverse_motion: a motion is needed");
    if (motion->level < LW_OBSERVE_ACCELERATION)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_inverse_motion: the motion has no accelerations (level acceleration or "
                        "more)");
    lwi_tree_gather(s->model, motion->q, motion->qd, motion->position, motion->quaternion,
                    motion->velocity, motion->angular_velocity, s->q, s->v);
    gather_accelerations(s->model, motion, s->v, s->vdot);
    TRY(check_arguments(s, motion->time, s->q, s->v, s->vdot, error));
    TRY(lwi_chosen_tangent(&s->at, motion->time, s->q, error));
    TRY(check_motion(s, motion->time, s->q, s->v, s->vdot, 1e3 * LWI_CLOSURE_TOLERANCE, error));
    TRY(lw_inverse_complete(s, motion->time, s->q, s->v, s->vdot, error));
    return lw_inverse_solve(s, motion->time, s->q, s->v, s->vdot, solution, error);
}

// ------------------------------------------------------------------------------- rows of a motion

#define STRIDE                                                                                     \
    0.1 // [rad, lengths of the mechanism] of an independent coordinate, on the way to a row

// How many steps lead to the row, so that loops stay on their branch.
static int strides(const lw_inverse *s)
{
    double largest = 0;
    for (int k = 0; k < s->f; k++) {
        const int speed = s->at.manifold.independent[k];
        int node = 0;
        while (speed >= s->model->node[node].iv + s->model->node[node].nv) node++;
        const lwi_node *at = &s->model->node[node];
        if (!at->type->scalar) continue;
        const int i = at->iq + speed - at->iv;
        largest =
            fmax(largest, fabs(s->near_q[i] - s->q[i]) / lwi_manifold_unit(&s->at.manifold, speed));
    }
    return largest < 1000 * STRIDE ? 1 + (int)(largest / STRIDE) : 1000;
}

// Part of the way of the independent scalar coordinates from s->q to s->near_q, the dependent ones closed.
static lw_status stride(lw_inverse *s, double t, double part, lw_error *error)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *at = &s->model->node[k];
        for (int i = 0; at->type->scalar && i < at->nv; i++)
            if (lwi_track_has(&s->track, at->iv + i))
                s->q[at->iq + i] += part * (s->near_q[at->iq + i] - s->q[at->iq + i]);
    }
    memset(s->still, 0, (size_t)s->n * sizeof *s->still);
    memset(s->vdot, 0, (size_t)s->n * sizeof *s->vdot);
    return lw_inverse_complete(s, t, s->q, s->still, s->vdot, error);
}

long lw_inverse_rows(const lw_inverse *inverse)
{
    return inverse ? inverse->track.rows : 0;
}

// Compares coordinates that the row has with those that the loops give, s->q.
static void compare_row(lw_inverse *s, double t)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *at = &s->model->node[k];
        for (int i = 0; at->type->scalar && i < at->nv; i++) {
            const int speed = at->iv + i;
            const double given = s->near_q[at->iq + i], found = s->q[at->iq + i],
                         gap = fabs(given - found) / lwi_manifold_unit(&s->at.manifold, speed);
            if (!lwi_track_has(&s->track, speed) || !(gap > fmax(GAP, s->gap))) continue;
            s->gap = gap;
            snprintf(s->warning, sizeof s->warning,
                     "motion: at t = %.9g s joint.%.100s.q%d = %.9g does not satisfy the loops: "
                     "they give %.9g, from the independent coordinates of the motion, and these "
                     "efforts are for it",
                     t, s->model->joint[at->joint].name, at->column[i], given, found);
        }
    }
}

static lw_status solve_row(lw_inverse *s, long row, double t, lw_error *error)
{
    memcpy(s->near_q, s->q, (size_t)s->model->tree_nq * sizeof *s->q);
    lwi_track_row(&s->track, row, s->near_q, s->v, s->vdot);
    const int n = strides(s);
    for (int i = 1; i < n; i++) TRY(stride(s, t, 1.0 / (n - i + 1), error));
    lwi_track_row(&s->track, row, s->q, s->v, s->vdot);
    TRY(lw_inverse_complete(s, t, s->q, s->v, s->vdot, error));
    compare_row(s, t);
    return LW_OK;
}

lw_status lw_inverse_row(lw_inverse *s, long row, const lw_inverse_solution **solution,
                         lw_error *error)
{
    if (!s || row < 0 || row >= s->track.rows)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_inverse_row: there is no row %ld", row);
    const double t = s->track.time[row];
    lw_error reason = {0};
    const lw_status status = solve_row(s, row, t, &reason);
    if (status != LW_OK)
        return lwi_fail_at(error, status, reason.file, reason.line, reason.column,
                           "motion: row %ld, t = %.9g s: %.400s", row, t, reason.text);
    return lw_inverse_solve(s, t, s->q, s->v, s->vdot, solution, error);
}

const char *lw_inverse_warning(const lw_inverse *inverse)
{
    return inverse ? inverse->warning : "";
}

void lw_inverse_state(const lw_inverse *inverse, const double **q, const double **v,
                      const double **vdot)
{
    if (!inverse) return;
    if (q) *q = inverse->q;
    if (v) *v = inverse->v;
    if (vdot) *vdot = inverse->vdot;
}
