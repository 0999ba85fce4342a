// slopes.c -- derivatives of a mechanism's equations by parameters of its file.
#include "analysis/slopes.h"

#include "base/assert.h"
#include "batch/vary.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// Order four: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h
static const int side_of[LWI_SLOPE_SIDES] = {-2, -1, 1, 2};
static const double weight[LWI_SLOPE_SIDES] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
#define SAME 1e-13 // relative changes below it are round-off

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
}

// ----------------------------------------------------------------------------------------- columns

lw_status lwi_probe_run_create(const lw_model *model, const char *patterns, lwi_arena *arena,
                               lwi_probe_run *run, lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    const bool tree = model->nloop + model->ncoupling == 0; // both have the state (q, v, ...)
    strcpy(options.formulation, tree ? "aba" : "lagrange");
    options.project = LW_PROJECT_NEVER; // states need not satisfy the joints
    *run = (lwi_probe_run){.nq = model->tree_nq, .nv = model->tree_nv};
    TRY(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &run->sim, error));
    TRY(lwi_result_columns_choose(model, LW_OBSERVE_REACTION, patterns, &run->columns, error));
    TRY(lwi_result_rows_create(model, &run->columns, arena, &run->rows));
    run->x = LWI_PUSH(arena, double, lw_sim_state_size(run->sim));
    if (!run->x) return no_memory(error);
    lw_sim_get_state(run->sim, NULL, run->x);
    return LW_OK;
}

void lwi_probe_run_destroy(lwi_probe_run *run)
{
    lwi_result_columns_free(&run->columns);
    lw_sim_destroy(run->sim);
    run->sim = NULL;
}

lw_status lwi_probe_run_at(lwi_probe_run *run, double t, const double *q, const double *v,
                           lw_error *error)
{
    const lw_observation *now;
    memcpy(run->x, q, (size_t)run->nq * sizeof *q);
    memcpy(run->x + run->nq, v, (size_t)run->nv * sizeof *v);
    lw_status status = lw_sim_set_state(run->sim, t, run->x);
    if (status == LW_OK) status = lw_sim_observe(run->sim, run->columns.level, &now);
    if (status == LW_OK) status = lwi_result_rows_fill(&run->rows, now);
    return status == LW_OK ? LW_OK : lwi_fail(error, status, "%s", lw_sim_error(run->sim)->text);
}

// ------------------------------------------------------------------------------------------- sides

static lw_status find_parameter(const lw_model *model, const char *name, double relative,
                                double *value, double *step, lw_error *error)
{
    for (int i = 0; i < lw_model_parameter_count(model); i++) {
        const lw_parameter_info p = lw_model_parameter_at(model, i);
        if (strcmp(p.name, name) != 0) continue;
        *value = p.value / p.unit_value;
        *step = relative * fabs(*value);
        if (*step > 0) return LW_OK;
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "parameter '%s' is 0, so that a relative step gives no other value; expected "
            "a parameter that is not 0",
            name);
    }
    TRY(lw_vary_check(model, name, error)); // names the nearest
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "'%s' is no parameter of the model's file; expected a name under `parameters:`",
                    name);
}

static bool same_tree(const lw_model *a, const lw_model *b)
{
    bool same = a->nnode == b->nnode && a->tree_nq == b->tree_nq && a->tree_nv == b->tree_nv &&
                a->nloop == b->nloop && a->ncoupling == b->ncoupling;
    for (int k = 0; same && k < a->nnode; k++)
        same = a->node[k].parent == b->node[k].parent && a->node[k].joint == b->node[k].joint &&
               a->node[k].body == b->node[k].body && a->node[k].reversed == b->node[k].reversed;
    for (int i = 0; same && i < a->nloop; i++) same = a->loop[i] == b->loop[i];
    return same;
}

static lw_status make_side(const lw_model *model, const lwi_vary *vary, double value,
                           lwi_arena *arena, lwi_slope_side *side, lw_error *error)
{
    TRY(lwi_vary_model(model, vary, 1, &value, NULL, NULL, &arena->allocator, &side->model, error));
    if (!same_tree(model, side->model))
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "parameter '%s' changes the spanning tree; expected method `differences`",
                        vary->name);
    return LW_OK;
}

// ------------------------------------------------------------------- what has no effect at some states

static bool same_numbers(const double *a, const double *b, int n)
{
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_function(const lw_function_desc *a, const lw_function_desc *b)
{
    const double x[] = {a->value, a->offset, a->amplitude, a->omega, a->phase,
                        a->rate,  a->from,   a->to,        a->start, a->end};
    const double y[] = {b->value, b->offset, b->amplitude, b->omega, b->phase,
                        b->rate,  b->from,   b->to,        b->start, b->end};
    const bool shape = a->type == b->type && a->ncoefficient == b->ncoefficient &&
                       a->npoint == b->npoint && a->npoint2 == b->npoint2 && a->nterm == b->nterm;
    const int n = a->npoint, values = a->type == LW_FUNCTION_MAP ? n * a->npoint2 : n;
    return shape && same_numbers(x, y, LWI_COUNT(x)) &&
           same_numbers(a->coefficients, b->coefficients, a->ncoefficient) &&
           same_numbers(a->t, b->t, n) && same_numbers(a->y, b->y, values) &&
           same_numbers(a->x2, b->x2, a->npoint2) && same_text(a->formula, b->formula) &&
           same_text(a->formula2, b->formula2);
}

// What a joint with drives does may follow from these at some times alone.
static bool same_joint(const lwi_joint *a, const lwi_joint *b)
{
    return a->par.pitch == b->par.pitch && a->par.length == b->par.length &&
           same_numbers(a->mount.about, b->mount.about, 3) && same_numbers(a->R1, b->R1, 9) &&
           same_numbers(a->r1, b->r1, 3) && same_numbers(a->R2, b->R2, 9) &&
           same_numbers(a->r2, b->r2, 3);
}

// Do two sides have the same functions, and of a driven model the same joints?  Otherwise their equations may be equal
// at one time and differ at another.
static bool same_at_all_times(const lw_model *a, const lw_model *b)
{
    bool same = a->desc.nfunction == b->desc.nfunction;
    for (int i = 0; same && i < a->desc.nfunction; i++)
        same = same_function(&a->desc.function[i], &b->desc.function[i]);
    for (int j = 0; same && a->driven && j < a->njoint; j++)
        same = same_joint(&a->joint[j], &b->joint[j]);
    return same;
}

// Forces that may be without effect at a state, as a slack tendon, and are not known to have the same parameters.
static bool may_pause(const lwi_force *a, const lwi_force *b)
{
    if (a->type == &lwi_force_joint_friction) {
        const lwi_joint_friction_par *x = a->par, *y = b->par;
        return x->coulomb != y->coulomb || x->viscous != y->viscous || x->speed != y->speed;
    }
    if (a->type == &lwi_force_joint_rotor) {
        const lwi_joint_rotor_par *x = a->par, *y = b->par;
        return x->inertia != y->inertia;
    }
    if (a->type == &lwi_force_wrench) {
        const lwi_wrench_par *x = a->par, *y = b->par;
        return !same_numbers(x->point, y->point, 3) || !same_numbers(x->force, y->force, 3) ||
               !same_numbers(x->torque, y->torque, 3);
    }
    return a->type == &lwi_force_servo || a->type == &lwi_force_tendon;
}

// ---------------------------------------------------------------------------------------- inertias

static void inertia_of(const lwi_node *node, double out[10])
{
    out[0] = node->mass;
    for (int i = 0; i < 3; i++) out[1 + i] = node->h[i];
    for (int i = 0; i < 6; i++) out[4 + i] = node->J[i];
}

static double difference(const double f[LWI_SLOPE_SIDES], double step)
{
    double sum = 0;
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) sum += weight[s] * f[s];
    return sum / step;
}

// Change of the inertia of node k.  @return false: there is none
static bool change_of_node(const lwi_slope *slope, int k, double change[10])
{
    double value[LWI_SLOPE_SIDES][10], size = 0, largest = 0;
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        inertia_of(&slope->side[s].model->node[k], value[s]);
        for (int i = 0; i < 10; i++) size = fmax(size, fabs(value[s][i]));
    }
    for (int i = 0; i < 10; i++) {
        double f[LWI_SLOPE_SIDES];
        for (int s = 0; s < LWI_SLOPE_SIDES; s++) f[s] = value[s][i];
        change[i] = difference(f, slope->step);
        largest = fmax(largest, fabs(f[3] - f[0]));
    }
    return largest > SAME * size;
}

static lw_status find_inertias(const lw_model *model, lwi_slope *slope, lwi_arena *arena,
                               lw_error *error)
{
    double change[10];
    for (int k = 0; k < model->nnode; k++) slope->count += change_of_node(slope, k, change);
    slope->node = LWI_PUSH(arena, int, slope->count);
    slope->change = lwi_arena_push(arena, (size_t)slope->count, sizeof *slope->change);
    if (!slope->node || !slope->change) return no_memory(error);
    slope->count = 0;
    for (int k = 0; k < model->nnode; k++) {
        if (!change_of_node(slope, k, change)) continue;
        memcpy(slope->change[slope->count], change, sizeof change);
        slope->node[slope->count++] = k;
    }
    return LW_OK;
}

static double by_inertia(const lwi_slope *slope, const lwi_slope_state *at, const double (*X)[6])
{
    double sum = 0;
    for (int i = 0; i < slope->count; i++) {
        double f[6];
        const int k = slope->node[i], last = at->tree->screws.last[k];
        if (last < 0) continue;
        lwi_tree_inertial_wrench(slope->change[i], at->work->R[k], at->work->r[k],
                                 &at->tree->screws.screw[last], f);
        sum += v6_dot(X[k], f);
    }
    return sum;
}

// ------------------------------------------------------------------------------------------ forces

// What a wrench on body b about its mass centre does along u.
static double power_on(const lw_model *model, const lwi_tree_work *work, int b,
                       const double wrench[6], const double (*way)[6])
{
    if (b == 0) return 0;
    const double *x = way[model->body_node[model->body[b].carrier]];
    double v[3];
    v3_cross(v, x + 3, work->body_r[b]);
    v3_add(v, v, x);
    return v3_dot(wrench, v) + v3_dot(wrench + 3, x + 3);
}

// The power along u of force i of one side at a state.
static double one_force(const lwi_slope_side *side, const lwi_slope_state *at, int i, int speed,
                        const double *u, const double (*way)[6])
{
    const lw_model *model = side->model;
    const lwi_force *force = &model->force[i];
    const lwi_force_place place = lwi_force_acts_on(force);
    const lwi_kin kin = lwi_tree_kin(at->work);
    lwi_loads loads = side->tree.loads; // arrays for what this force alone adds
    double sum = 0;
    for (int b = 0; place.iv < 0 && b < place.n; b++) v6_zero(loads.wrench[place.body[b]]);
    if (place.iv >= 0) loads.effort[place.iv] = 0;
    force->type->apply(model, force->par, &kin, at->t, at->inputs, &loads);
    if (place.iv >= 0) {
        sum = speed >= 0 ? u[speed] * loads.effort[place.iv] : 0;
        loads.effort[place.iv] = 0;
    }
    for (int b = 0; place.iv < 0 && b < place.n; b++) {
        sum += power_on(model, at->work, place.body[b], loads.wrench[place.body[b]], way);
        v6_zero(loads.wrench[place.body[b]]);
    }
    return sum;
}

static double by_forces(const lwi_slope *slope, const lwi_slope_state *at, const double *u,
                        const double (*way)[6])
{
    double sum = 0;
    for (int i = 0; i < slope->nforce; i++) {
        double f[LWI_SLOPE_SIDES];
        for (int s = 0; s < LWI_SLOPE_SIDES; s++)
            f[s] = one_force(&slope->side[s], at, slope->force[i], slope->speed[i], u, way);
        sum += difference(f, slope->step);
    }
    return sum;
}

static bool force_differs(const lwi_slope *slope, const lwi_slope_state *at, int i, int speed,
                          const double *u, const double (*way)[6])
{
    const double a = one_force(&slope->side[0], at, i, speed, u, way),
                 b = one_force(&slope->side[3], at, i, speed, u, way);
    return fabs(a - b) > SAME * (fabs(a) + fabs(b));
}

static lw_status find_forces(lwi_slope *slope, const lwi_slope_state *at, const double *u,
                             const double (*way)[6], lwi_arena *arena, lw_error *error)
{
    const lw_model *model = slope->side[0].model;
    slope->force = LWI_PUSH(arena, int, model->nforce);
    slope->speed = LWI_PUSH(arena, int, model->nforce);
    if (!slope->force || !slope->speed) return no_memory(error);
    for (int i = 0; i < model->nforce; i++) {
        const int iv = lwi_force_acts_on(&model->force[i]).iv,
                  speed = iv < 0 ? -1 : lwi_tree_speed(model, iv);
        if (!may_pause(&model->force[i], &slope->side[LWI_SLOPE_SIDES - 1].model->force[i]) &&
            !force_differs(slope, at, i, speed, u, way))
            continue;
        slope->force[slope->nforce] = i;
        slope->speed[slope->nforce++] = speed;
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- residuals

// F [n] and C [m] of one model at a state, without rotors on cut joints.
static void residual(lwi_slope_side *side, const lwi_slope_state *at, double *F, double *C)
{
    const lw_model *model = side->model;
    lwi_tree_work *tree = &side->tree;
    memcpy(tree->joint_q, model->q0, (size_t)model->nq * sizeof *tree->joint_q);
    lwi_cut_place(&side->cut, tree, at->t, at->q, at->v);
    if (side->cut.m) lwi_cut_rows(&side->cut, tree, at->t, LWI_CLOSURE_RATES);
    lwi_cut_loads(&side->cut, tree, at->t, at->v, at->inputs);
    if (side->cut.m) lwi_cut_wrenches(&side->cut, tree, at->lambda, tree->wrench);
    lwi_tree_newton_euler(model, tree, at->v, at->vdot);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int j = node->iv; j < node->iv + node->nv; j++)
            F[j] = v6_dot(tree->link[k].S[j - node->iv], tree->F[k]) - tree->effort[j] +
                   model->tree_rotor[j] * at->vdot[j];
    }
    if (side->cut.m == 0) return;
    lwi_cut_accelerations(&side->cut, tree, C);
    for (int i = 0; i < side->cut.m; i++) C[i] += side->cut.gamma[i];
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void by_models(const lwi_slope *slope, const lwi_slope_state *at, int count, const double *u,
                      const double *nu, double *scratch, double *out)
{
    const int n = slope->side[0].model->tree_nv, m = slope->side[0].cut.m;
    memset(out, 0, (size_t)count * sizeof *out);
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_slope_side side = slope->side[s]; // its arrays are scratch
        residual(&side, at, scratch, scratch + n);
        for (int i = 0; i < count; i++)
            out[i] += weight[s] / slope->step *
                      (dot(n, u + (size_t)i * (size_t)n, scratch) +
                       dot(m, nu + (size_t)i * (size_t)m, scratch + n));
    }
}

void lwi_slope_products(const lwi_slope *slope, const lw_model *model, const lwi_slope_state *at,
                        int count, const double *u, const double *nu, const double (*X)[6],
                        double *scratch, double *out)
{
    if (!slope->local) {
        by_models(slope, at, count, u, nu, scratch, out);
        return;
    }
    for (int i = 0; i < count; i++) {
        const double(*way)[6] = X + (size_t)i * (size_t)model->nnode;
        out[i] = by_inertia(slope, at, way) -
                 by_forces(slope, at, u + (size_t)i * (size_t)model->tree_nv, way);
    }
}

// ------------------------------------------------------------------------------------------- start

// The change dq of the coordinates of one node as a displacement along its speeds.
static void along_speeds(const lwi_node *node, const double *q, const double *dq, double *out)
{
    const int e = node->type->quaternion;
    if (e < 0) {
        memcpy(out, dq, (size_t)node->nv * sizeof *out);
        return;
    }
    const double conjugate[4] = {q[e], -q[e + 1], -q[e + 2], -q[e + 3]};
    double rotation[4], R[9];
    quat_mul(rotation, conjugate, dq + e);
    for (int i = 0; i < 3; i++) out[node->nv - 3 + i] = 2 * rotation[1 + i];
    if (node->nv < 6) return;
    quat_matrix(R, q + e);
    m3_tmul_v(out, R, dq);
}

static lw_status find_start(const lw_model *model, lwi_slope *slope, lwi_arena *arena,
                            lw_error *error)
{
    double *dq = LWI_PUSH(arena, double, model->tree_nq), f[LWI_SLOPE_SIDES];
    slope->start = LWI_PUSH(arena, double, 2 * model->tree_nv);
    if (!dq || !slope->start) return no_memory(error);
    for (int i = 0; i < model->tree_nq; i++) {
        for (int s = 0; s < LWI_SLOPE_SIDES; s++) f[s] = slope->side[s].model->tree_q0[i];
        dq[i] = difference(f, slope->step);
    }
    for (int k = 0; k < model->nnode; k++)
        along_speeds(&model->node[k], model->tree_q0 + model->node[k].iq, dq + model->node[k].iq,
                     slope->start + model->node[k].iv);
    for (int i = 0; i < model->tree_nv; i++) {
        for (int s = 0; s < LWI_SLOPE_SIDES; s++) f[s] = slope->side[s].model->tree_v0[i];
        slope->start[model->tree_nv + i] = difference(f, slope->step);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ create

static lw_status create(const lw_model *model, const char *name, double relative, lwi_arena *arena,
                        lwi_slope *slope, lw_error *error)
{
    lwi_vary vary;
    double value = 0;
    TRY(find_parameter(model, name, relative, &value, &slope->step, error));
    TRY(lwi_vary_resolve(model, name, &vary, error));
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_slope_side *side = &slope->side[s];
        TRY(make_side(model, &vary, value + side_of[s] * slope->step, arena, side, error));
        TRY(lwi_tree_work_create(side->model, arena, &side->tree));
        TRY(lwi_cut_create_rows(side->model, arena, &side->cut));
    }
    TRY(find_inertias(model, slope, arena, error));
    return find_start(model, slope, arena, error);
}

lw_status lwi_slope_create(const lw_model *model, const char *name, double relative,
                           lwi_arena *arena, lwi_slope *slope, lw_error *error)
{
    *slope = (lwi_slope){.name = name};
    const lw_status status = create(model, name, relative, arena, slope, error);
    if (status != LW_OK) lwi_slope_destroy(slope);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}

static bool same_forces(const lwi_slope *slope)
{
    const lw_model *model = slope->side[0].model;
    bool same = true;
    for (int s = 1; s < LWI_SLOPE_SIDES; s++) {
        const lw_model *other = slope->side[s].model;
        same = same && other->nforce == model->nforce;
        for (int i = 0; same && i < model->nforce; i++)
            same = other->force[i].type == model->force[i].type;
    }
    return same;
}

lw_status lwi_slope_test(lwi_slope *slope, const lwi_slope_state *at, const double *u,
                         const double *nu, const double (*X)[6], double *scratch, lwi_arena *arena,
                         lw_error *error)
{
    double whole, size = 0;
    if (!same_forces(slope) ||
        !same_at_all_times(slope->side[0].model, slope->side[LWI_SLOPE_SIDES - 1].model))
        return LW_OK;
    TRY(find_forces(slope, at, u, X, arena, error));
    const double inertia = by_inertia(slope, at, X), forces = by_forces(slope, at, u, X);
    by_models(slope, at, 1, u, nu, scratch, &whole);
    for (int i = 0; i < slope->count; i++)
        for (int j = 0; j < 10; j++) size += fabs(slope->change[i][j]);
    slope->local = fabs(whole - (inertia - forces)) <=
                   1e-9 * (fabs(whole) + fabs(inertia) + fabs(forces) + size);
    return LW_OK;
}

lw_status lwi_slope_observe(lwi_slope *slope, const char *columns, lwi_arena *arena,
                            lw_error *error)
{
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_slope_side *side = &slope->side[s];
        TRY(lwi_probe_run_create(side->model, columns, arena, &side->run, error));
    }
    return LW_OK;
}

void lwi_slope_destroy(lwi_slope *slope)
{
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_probe_run_destroy(&slope->side[s].run);
        lw_model_destroy(slope->side[s].model);
        slope->side[s].model = NULL;
    }
}

lw_status lwi_slope_columns(lwi_slope *slope, double t, const double *q, const double *v,
                            double *out, lw_error *error)
{
    const int n = slope->side[0].run.columns.n - 1;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        TRY(lwi_probe_run_at(&slope->side[s].run, t, q, v, error));
        for (int c = 0; c < n; c++)
            out[c] += weight[s] / slope->step * slope->side[s].run.rows.row[c + 1];
    }
    return LW_OK;
}
