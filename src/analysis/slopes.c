// slopes.c -- derivatives of a mechanism's equations by parameters of its file.
#include "analysis/slopes.h"

#include "analysis/slope_sides.h"
#include "base/assert.h"
#include "base/linear.h"
#include "batch/vary.h"
#include "model/forces/item.h"
#include "model/forces/length.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// Order four: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h
static const int side_of[LWI_SLOPE_SIDES] = LWI_SLOPE_STEPS;
static const double weight[LWI_SLOPE_SIDES] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
#define ROUND_OFF 1e-13       // of sums
#define SAME 1e-13            // relative changes below it are round-off
enum { LARGEST_FORCE = 512 }; // bytes of its parameters

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
}

// ------------------------------------------------------------------------------------------- sides

static lw_status find_number(const lw_model *model, const lwi_vary *vary, const char *name,
                             double relative, lwi_slope_parameter *parameter, lw_error *error)
{
    if (vary->kind != LWI_VARY_PARAMETER)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "'%s' is no parameter; expected one of the model's file, or a number of its "
            "description like body.NAME.mass",
            name);
    const double value = lwi_vary_number(model, vary);
    *parameter = (lwi_slope_parameter){name, value, relative * (value != 0 ? fabs(value) : 1)};
    return LW_OK;
}

lw_status lwi_slope_find(const lw_model *model, const char *name, bool numbers, double relative,
                         lwi_slope_parameter *parameter, lw_error *error)
{
    lwi_vary vary;
    for (int i = 0; i < lw_model_parameter_count(model); i++) {
        const lw_parameter_info p = lw_model_parameter_at(model, i);
        if (strcmp(p.name, name) != 0) continue;
        const double value = p.value / p.unit_value;
        *parameter = (lwi_slope_parameter){name, value, relative * fabs(value)};
        if (parameter->step > 0) return LW_OK;
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "parameter '%s' is 0, so that a relative step gives no other value; expected "
            "a parameter that is not 0",
            name);
    }
    TRY(lwi_vary_resolve(model, name, &vary, error)); // names the nearest
    if (numbers) return find_number(model, &vary, name, relative, parameter, error);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "'%s' is no parameter of the model's file; expected a name under `parameters:`",
                    name);
}

static bool same_tree(const lw_model *a, const lw_model *b)
{
    bool same = a->nnode == b->nnode && a->tree_nq == b->tree_nq && a->tree_nv == b->tree_nv &&
                a->nloop == b->nloop && a->ncoupling == b->ncoupling && a->nstate == b->nstate &&
                a->nforce == b->nforce && a->nmode == b->nmode &&
                a->desc.nevent == b->desc.nevent && a->desc.nimpulse == b->desc.nimpulse;
    for (int k = 0; same && k < a->nnode; k++)
        same = a->node[k].parent == b->node[k].parent && a->node[k].joint == b->node[k].joint &&
               a->node[k].body == b->node[k].body && a->node[k].reversed == b->node[k].reversed;
    for (int i = 0; same && i < a->nloop; i++) same = a->loop[i] == b->loop[i];
    return same;
}

/** Parameters that are varied together. */
typedef struct variants {
    const lwi_slope_parameter *parameter;
    const lwi_parsed_document *document;
    lwi_vary *vary;
    double *value;
    int count;
} variants;

static lw_status resolve(const lw_model *model, const lwi_parsed_document *document,
                         const lwi_slope_parameter *parameter, int count, lwi_arena *arena,
                         variants *v, lw_error *error)
{
    *v = (variants){parameter, document, LWI_PUSH(arena, lwi_vary, count),
                    LWI_PUSH(arena, double, count), count};
    if (!v->vary || !v->value) return no_memory(error);
    for (int k = 0; k < count; k++)
        TRY(lwi_vary_resolve(model, parameter[k].name, &v->vary[k], error));
    return LW_OK;
}

static lw_status make_variant(void *user, const lw_model *model, int steps,
                              const lw_allocator *allocator, lw_model **varied, lw_error *error)
{
    const variants *v = user;
    for (int k = 0; k < v->count; k++)
        v->value[k] = v->parameter[k].value + steps * v->parameter[k].step;
    return lwi_vary_model(model, v->document, v->vary, v->count, v->value, NULL, NULL, allocator,
                          varied, error);
}

// ----------------------------------------------------------------------------------------- numbers

double lwi_slope_weight(const lwi_slope *slope, int side)
{
    return weight[side] / slope->step;
}

double lwi_slope_difference(const double f[LWI_SLOPE_SIDES], double step)
{
    double sum = 0;
    if (f[0] == f[1] && f[1] == f[2] && f[2] == f[3]) return 0; // without round-off
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) sum += weight[s] * f[s];
    return sum / step;
}

/** Up to 12 numbers of the model that belong together, in one of its sides. */
typedef struct group {
    int n;
    double x[12];
} group;

static group inertia_of(const lw_model *model, int k)
{
    const lwi_node *node = &model->node[k];
    group g = {.n = 10, .x = {node->mass}};
    for (int i = 0; i < 3; i++) g.x[1 + i] = node->h[i];
    for (int i = 0; i < 6; i++) g.x[4 + i] = node->J[i];
    return g;
}

static group frame_at(const double R[9], const double r[3])
{
    group g = {.n = 12, .x = {0}};
    memcpy(g.x, R, 9 * sizeof *R);
    memcpy(g.x + 9, r, 3 * sizeof *r);
    return g;
}

static group frame_of(const lw_model *model, int k)
{
    return frame_at(model->node[k].X_R, model->node[k].X_r);
}

static group body_of(const lw_model *model, int k)
{
    return frame_at(model->node[k].c_R, model->node[k].c_r);
}

// F1 (side 0) or F2 of loop-closing joint i in the link of its body.
static group cut_frame_of(const lw_model *model, int i, int side)
{
    const lwi_joint *joint = &model->joint[model->loop[i]];
    const int body = side ? joint->body2 : joint->body1;
    const double *R = side ? joint->R2 : joint->R1, *r = side ? joint->r2 : joint->r1;
    double in_R[9], in_r[3];
    if (body == 0) return frame_at(R, r);
    const lwi_node *node = &model->node[model->body_node[body]];
    m3_mul(in_R, node->c_R, R);
    m3_mul_v(in_r, node->c_R, r);
    v3_add(in_r, in_r, node->c_r);
    return frame_at(in_R, in_r);
}

static group first_frame_of(const lw_model *model, int i)
{
    return cut_frame_of(model, i, 0);
}

static group second_frame_of(const lw_model *model, int i)
{
    return cut_frame_of(model, i, 1);
}

static group length_of(const lw_model *model, int i)
{
    const lwi_joint *joint = &model->joint[model->loop[i]];
    return (group){.n = 1, .x = {joint->type->has_length ? joint->par.length : 0}};
}

static group spring_of(const lw_model *model, int force)
{
    const lwi_joint_spring_par *p = model->force[force].par;
    return (group){.n = 3, .x = {p->stiffness, p->damping, p->at}};
}

static group gravity_of(const lw_model *model, int i)
{
    (void)i;
    group g = {.n = 3, .x = {0}};
    memcpy(g.x, model->gravity, sizeof model->gravity);
    return g;
}

// The derivative of a group.  @return false: it does not change
static bool change_of(const lwi_slope *slope, group (*of)(const lw_model *, int), int i,
                      double change[12])
{
    group side[LWI_SLOPE_SIDES];
    double size = 0, largest = 0;
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        side[s] = of(slope->side[s].model, i);
        for (int c = 0; c < side[s].n; c++) size = fmax(size, fabs(side[s].x[c]));
    }
    for (int c = 0; c < side[0].n; c++) {
        double f[LWI_SLOPE_SIDES];
        for (int s = 0; s < LWI_SLOPE_SIDES; s++) f[s] = side[s].x[c];
        change[c] = lwi_slope_difference(f, slope->step);
        largest = fmax(largest, fabs(f[3] - f[0]));
    }
    return largest > SAME * size;
}

/** The numbers that change, found twice: counted, then stored. */
typedef struct collector {
    lwi_slope *slope;
    bool store;
} collector;

static void collect(const collector *to, int first, const double *change, int n)
{
    for (int i = 0; i < n; i++) {
        if (to->store) {
            to->slope->number[to->slope->count] = first + i;
            to->slope->change[to->slope->count] = change[i];
        }
        to->slope->count++;
    }
}

static void collect_group(const collector *to, group (*of)(const lw_model *, int), int i, int n,
                          int first)
{
    double change[12];
    if (change_of(to->slope, of, i, change)) collect(to, first, change, n);
}

static void collect_frame(const collector *to, const lw_model *model,
                          group (*of)(const lw_model *, int), int i, int first)
{
    double change[12], displacement[6];
    if (!change_of(to->slope, of, i, change)) return;
    const group at = of(model, i);
    lwi_numbers_frame(at.x, at.x + 9, change, change + 9, displacement);
    collect(to, first, displacement, 6);
    to->slope->places = true;
}

static group loads_of(const lw_model *model, int force)
{
    const lwi_force *f = &model->force[force];
    group g = {.n = f->type->nload_number, .x = {0}};
    for (int k = 0; k < g.n; k++)
        memcpy(&g.x[k], (const char *)f->par + f->type->load_number[k], sizeof g.x[k]);
    return g;
}

static const lwi_instruction *constant_of(const lw_model *model, const lwi_number_constant *c)
{
    const lwi_formula *f = lwi_function_formula(&model->function[c->function], c->formula);
    return f && c->instruction < f->ncode ? &f->code[c->instruction] : NULL;
}

static void collect_constant(const collector *to, const lwi_number_constant *c, int number)
{
    double f[LWI_SLOPE_SIDES], size = 0;
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        const lwi_instruction *in = constant_of(to->slope->side[s].model, c);
        if (!in || in->operation != LWI_FORMULA_NUMBER) return;
        f[s] = in->value;
        size = fmax(size, fabs(f[s]));
    }
    const double change = lwi_slope_difference(f, to->slope->step);
    if (fabs(f[LWI_SLOPE_SIDES - 1] - f[0]) > SAME * size) collect(to, number, &change, 1);
}

static void collect_numbers(const lw_model *model, const lwi_model_numbers *n, const collector *to)
{
    double change[12];
    to->slope->count = 0;
    for (int k = 0; k < model->nnode; k++) {
        collect_group(to, inertia_of, k, 10, n->inertia + 10 * k);
        collect_frame(to, model, frame_of, k, n->frame + 6 * k);
        if (change_of(to->slope, body_of, k, change)) to->slope->places = true;
    }
    for (int i = 0; i < model->nloop; i++) {
        const int first = n->cut + LWI_NUMBERS_CUT * i;
        collect_frame(to, model, first_frame_of, i, first);
        collect_frame(to, model, second_frame_of, i, first + 6);
        collect_group(to, length_of, i, 1, first + 12);
    }
    for (int i = 0; i < n->nspring; i++)
        collect_group(to, spring_of, n->of[i].force, 3, n->spring + LWI_NUMBERS_SPRING * i);
    collect_group(to, gravity_of, 0, 3, n->gravity);
    for (int i = 0; i < n->nloads; i++)
        collect_group(to, loads_of, n->loads[i].force,
                      model->force[n->loads[i].force].type->nload_number, n->loads[i].first);
    for (int i = 0; i < n->nconstant; i++) collect_constant(to, &n->constant[i], n->constants + i);
}

static lw_status find_numbers(const lw_model *model, const lwi_model_numbers *n, lwi_slope *slope,
                              lwi_arena *arena, lw_error *error)
{
    collect_numbers(model, n, &(collector){slope, false});
    slope->number = LWI_PUSH(arena, int, slope->count);
    slope->change = LWI_PUSH(arena, double, slope->count);
    if (!slope->number || !slope->change) return no_memory(error);
    collect_numbers(model, n, &(collector){slope, true});
    return LW_OK;
}

static double by_numbers(const lwi_slope *slope, const double *gradient)
{
    double sum = 0;
    for (int i = 0; i < slope->count; i++) sum += gradient[slope->number[i]] * slope->change[i];
    return sum;
}

double lwi_slope_by_numbers(const lwi_slope *slope, const double *gradient)
{
    return slope->local ? by_numbers(slope, gradient) : 0;
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

// What a force has added to the loads does along u; they are zero afterwards.
static double take_power(const lw_model *model, const lwi_force *force, const lwi_slope_state *at,
                         int speed, const double *u, const double (*way)[6], lwi_loads *loads)
{
    const lwi_force_place place = lwi_force_acts_on(force);
    const lwi_force_length *length = place.n == 0 ? force->type->length : NULL;
    double sum = 0, share;
    if (place.iv >= 0) {
        sum = speed >= 0 ? u[speed] * loads->effort[place.iv] : 0;
        loads->effort[place.iv] = 0;
        return sum;
    }
    for (int b = 0; b < place.n; b++) {
        sum += power_on(model, at->work, place.body[b], loads->wrench[place.body[b]], way);
        v6_zero(loads->wrench[place.body[b]]);
    }
    for (int k = 0, b; length && length->body && (b = length->body(force->par, k)) >= 0; k++) {
        sum += power_on(model, at->work, b, loads->wrench[b], way);
        v6_zero(loads->wrench[b]); // it may be named again
    }
    for (int k = 0, iv; length && length->speed && (iv = length->speed(force->par, k, &share)) >= 0;
         k++) {
        const int j = lwi_tree_speed(model, iv);
        sum += j >= 0 ? u[j] * loads->effort[iv] : 0;
        loads->effort[iv] = 0;
    }
    return sum;
}

// The power along u of force i of one side at a state, and w'g of the states of signals of which it gives the rates.
static double one_force(const lwi_slope_side *side, const lwi_slope_state *at, int i, int speed,
                        const double *u, const double *w, const double (*way)[6], double *rate)
{
    const lw_model *model = side->model;
    const lwi_force *force = &model->force[i];
    const lwi_states states = {.value = at->z, .rate = rate};
    lwi_kin kin = lwi_tree_kin(at->work);
    lwi_loads loads = side->tree.loads; // arrays for what this force alone adds
    kin.states = &states;
    if (kin.mode && at->tangent) {
        lwi_law_tangents(model, &kin, at->tangent, side->tangent);
        kin.tangent = side->tangent;
    }
    for (int k = 0; k < model->nstate; k++) rate[k] = 0;
    take_power(model, force, at, speed, u, way, &loads); // others have left theirs
    force->type->apply(model, force->par, &kin, at->t, at->inputs, &loads);
    double sum = take_power(model, force, at, speed, u, way, &loads);
    for (int k = 0; w && k < model->nstate; k++) sum += w[k] * rate[k];
    return sum;
}

static double by_forces(const lwi_slope *slope, const lwi_slope_state *at, const double *u,
                        const double *w, const double (*way)[6], double *rate)
{
    double sum = 0;
    for (int i = 0; i < slope->nforce; i++) {
        double f[LWI_SLOPE_SIDES];
        for (int s = 0; s < LWI_SLOPE_SIDES; s++)
            f[s] =
                one_force(&slope->side[s], at, slope->force[i], slope->speed[i], u, w, way, rate);
        sum += lwi_slope_difference(f, slope->step);
    }
    return sum;
}

static bool force_differs(const lwi_slope *slope, const lwi_slope_state *at, int i, int speed,
                          const double *u, const double (*way)[6], double *rate)
{
    const double a = one_force(&slope->side[0], at, i, speed, u, NULL, way, rate),
                 b = one_force(&slope->side[3], at, i, speed, u, NULL, way, rate);
    return fabs(a - b) > SAME * (fabs(a) + fabs(b));
}

static size_t parameters_of(const lwi_force_type *type)
{
    for (int k = 0; k < LWI_FORCE_ITEMS; k++)
        if (lwi_force_items[k]->type == type) return lwi_force_items[k]->par_size;
    return 0;
}

// Do the parameters of two forces differ in their numbers alone?
static bool same_but_numbers(const lwi_force *a, const lwi_force *b)
{
    unsigned char copy[LARGEST_FORCE];
    const size_t size = parameters_of(a->type);
    if (size == 0 || size > sizeof copy || a->type != b->type) return false;
    memcpy(copy, b->par, size);
    for (int k = 0; k < a->type->nload_number; k++)
        memcpy(copy + a->type->load_number[k], (const char *)a->par + a->type->load_number[k],
               sizeof(double));
    return memcmp(copy, a->par, size) == 0;
}

static bool is_number(const lwi_slope *slope, const lwi_model_numbers *numbers, int force)
{
    for (int i = 0; i < numbers->nspring; i++)
        if (numbers->of[i].force == force) return true;
    for (int i = 0; i < numbers->nloads; i++)
        if (numbers->loads[i].force == force)
            return same_but_numbers(&slope->side[0].model->force[force],
                                    &slope->side[LWI_SLOPE_SIDES - 1].model->force[force]);
    return false;
}

// May rates of states, or forces on joints that are no numbers, read formulas that differ?
static bool may_read(const lwi_slope *slope, const lwi_force *force)
{
    const lw_model *model = slope->side[0].model;
    if (force->type != &lwi_force_signal_states && force->type != &lwi_force_joint_spring)
        return false;
    return lwi_sides_formulas_differ(model, slope->side[LWI_SLOPE_SIDES - 1].model);
}

// Does force i act on a joint that closes a loop, so that its power along u is not known?
static bool acts_on_cut(const lw_model *model, int i)
{
    const lwi_force *force = &model->force[i];
    const lwi_force_place place = lwi_force_acts_on(force);
    const lwi_force_length *length = force->type->length;
    double share;
    if (place.iv >= 0) return lwi_tree_speed(model, place.iv) < 0;
    for (int k = 0, iv; length && length->speed && (iv = length->speed(force->par, k, &share)) >= 0;
         k++)
        if (lwi_tree_speed(model, iv) < 0) return true;
    return false;
}

// Is the power of all forces that may differ known?
static bool powers_known(const lwi_slope *slope)
{
    const lw_model *a = slope->side[0].model, *b = slope->side[LWI_SLOPE_SIDES - 1].model;
    for (int k = 0; k < slope->nforce; k++) {
        const int i = slope->force[k];
        const bool differs = a->force[i].type != &lwi_force_servo ||
                             lwi_sides_servos_differ(&a->force[i], &b->force[i]) ||
                             lwi_sides_formulas_differ(a, b);
        if (differs && acts_on_cut(a, i)) return false;
    }
    return true;
}

static lw_status find_forces(lwi_slope *slope, const lwi_model_numbers *numbers,
                             const lwi_slope_state *at, const double *u, const double (*way)[6],
                             double *rate, lwi_arena *arena, lw_error *error)
{
    const lw_model *model = slope->side[0].model;
    slope->force = LWI_PUSH(arena, int, model->nforce);
    slope->speed = LWI_PUSH(arena, int, model->nforce);
    if (!slope->force || !slope->speed) return no_memory(error);
    for (int i = 0; i < model->nforce; i++) {
        const int iv = lwi_force_acts_on(&model->force[i]).iv,
                  speed = iv < 0 ? -1 : lwi_tree_speed(model, iv);
        if (is_number(slope, numbers, i)) continue;
        if (!may_read(slope, &model->force[i]) &&
            !lwi_sides_may_pause(&model->force[i],
                                 &slope->side[LWI_SLOPE_SIDES - 1].model->force[i]) &&
            !force_differs(slope, at, i, speed, u, way, rate))
            continue;
        slope->force[slope->nforce] = i;
        slope->speed[slope->nforce++] = speed;
    }
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- residuals

// F [n], C [m] and the rates g [nstate] of one model at a state, without rotors on cut joints.
static void residual(lwi_slope_side *side, const lwi_slope_state *at, double *F, double *C,
                     double *g)
{
    const lw_model *model = side->model;
    lwi_tree_work *tree = &side->tree;
    const lwi_states states = {.value = at->z, .rate = g};
    tree->mode = at->work->mode;
    if (model->nstate) tree->states = &states;
    memcpy(tree->joint_q, model->q0, (size_t)model->nq * sizeof *tree->joint_q);
    lwi_cut_place(&side->cut, tree, at->t, at->q, at->v);
    if (side->cut.m) lwi_cut_rows(&side->cut, tree, at->t, LWI_CLOSURE_RATES);
    const lwi_kin kin = lwi_tree_kin(tree);
    if (kin.mode && at->tangent) {
        lwi_law_tangents(model, &kin, at->tangent, side->tangent);
        tree->tangent = side->tangent;
    }
    lwi_cut_loads(&side->cut, tree, at->t, at->v, at->inputs);
    tree->states = NULL, tree->tangent = NULL;
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

static double size_of(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(a[i] * b[i]);
    return sum;
}

// @return the largest sum of terms, for their round-off
static double by_models(const lwi_slope *slope, const lwi_slope_state *at, const lwi_slope_rows *r,
                        double *scratch, double *out)
{
    double size = 0;
    const int n = slope->side[0].model->tree_nv, m = slope->side[0].cut.m,
              nz = r->w ? slope->side[0].model->nstate : 0;
    double *C = scratch + n, *g = C + m;
    memset(out, 0, (size_t)r->count * sizeof *out);
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_slope_side side = slope->side[s]; // its arrays are scratch
        residual(&side, at, scratch, C, g);
        size = fmax(size, size_of(n, r->u, scratch) + size_of(m, r->nu, C));
        for (int i = 0; i < r->count; i++)
            out[i] += weight[s] / slope->step *
                      (lwi_dot(n, r->u + (size_t)i * (size_t)n, scratch) +
                       lwi_dot(m, r->nu + (size_t)i * (size_t)m, C) -
                       (nz ? lwi_dot(nz, r->w + (size_t)i * (size_t)nz, g) : 0));
    }
    return size;
}

void lwi_slope_residuals(const lwi_slope *slope, const lwi_slope_state *at, double *scratch,
                         double *out)
{
    const int n = slope->side[0].model->tree_nv, m = slope->side[0].cut.m,
              nz = slope->side[0].model->nstate;
    double *C = scratch + n, *g = C + m;
    memset(out, 0, (size_t)(n + m + nz) * sizeof *out);
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_slope_side side = slope->side[s]; // its arrays are scratch
        const double a = weight[s] / slope->step;
        residual(&side, at, scratch, C, g);
        for (int i = 0; i < n + m; i++) out[i] += a * scratch[i];
        for (int i = n + m; i < n + m + nz; i++) out[i] -= a * scratch[i];
    }
}

void lwi_slope_constraints(const lwi_slope *slope, const lwi_slope_state *at, double *out)
{
    const int m = slope->side[0].cut.m;
    memset(out, 0, 2 * (size_t)m * sizeof *out);
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_slope_side side = slope->side[s]; // its arrays are scratch
        const lw_model *model = side.model;
        const double a = weight[s] / slope->step;
        memcpy(side.tree.joint_q, model->q0, (size_t)model->nq * sizeof *side.tree.joint_q);
        lwi_cut_place(&side.cut, &side.tree, at->t, at->q, at->v);
        lwi_cut_rows(&side.cut, &side.tree, at->t, LWI_CLOSURE_POSITION);
        for (int i = 0; i < m; i++) out[i] += a * side.cut.phi[i];
        for (int i = 0; i < m; i++) out[m + i] += a * side.cut.rate[i];
    }
}

void lwi_slope_products(const lwi_slope *slope, const lw_model *model, const lwi_slope_state *at,
                        const lwi_slope_rows *r, double *scratch, double *out)
{
    if (!slope->local) {
        by_models(slope, at, r, scratch, out);
        return;
    }
    for (size_t i = 0; i < (size_t)r->count; i++)
        out[i] = -by_forces(slope, at, r->u + i * (size_t)model->tree_nv,
                            r->w ? r->w + i * (size_t)model->nstate : NULL,
                            r->way + i * (size_t)model->nnode, scratch);
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
    slope->start = LWI_PUSH(arena, double, 2 * model->tree_nv + model->nstate);
    if (!dq || !slope->start) return no_memory(error);
    for (int i = 0; i < model->tree_nq; i++) {
        for (int s = 0; s < LWI_SLOPE_SIDES; s++) f[s] = slope->side[s].model->tree_q0[i];
        dq[i] = lwi_slope_difference(f, slope->step);
    }
    for (int k = 0; k < model->nnode; k++)
        along_speeds(&model->node[k], model->tree_q0 + model->node[k].iq, dq + model->node[k].iq,
                     slope->start + model->node[k].iv);
    for (int i = 0; i < model->tree_nv; i++) {
        for (int s = 0; s < LWI_SLOPE_SIDES; s++) f[s] = slope->side[s].model->tree_v0[i];
        slope->start[model->tree_nv + i] = lwi_slope_difference(f, slope->step);
    }
    for (int i = 0; i < model->nstate; i++) {
        for (int s = 0; s < LWI_SLOPE_SIDES; s++) f[s] = slope->side[s].model->state0[i];
        slope->start[2 * model->tree_nv + i] = lwi_slope_difference(f, slope->step);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ create

static lw_status create(const lw_model *model, const lwi_model_numbers *numbers,
                        const lwi_slope_variants *of, lwi_arena *arena, lwi_slope *slope,
                        lw_error *error)
{
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        lwi_slope_side *side = &slope->side[s];
        TRY(of->make(of->user, model, side_of[s], &arena->allocator, &side->model, error));
        if (!same_tree(model, side->model))
            return lwi_fail(
                error, LW_ERR_UNSUPPORTED,
                "parameter '%s' changes the spanning tree, or which forces there are; expected "
                "method `differences`",
                of->name);
        TRY(lwi_tree_work_create(side->model, arena, &side->tree));
        TRY(lwi_cut_create_rows(side->model, arena, &side->cut));
        side->tangent = LWI_PUSH(arena, lwi_law_tangent, side->model->nmode);
        if (!side->tangent) return no_memory(error);
    }
    TRY(find_numbers(model, numbers, slope, arena, error));
    return find_start(model, slope, arena, error);
}

lw_status lwi_slope_create_of(const lw_model *model, const lwi_model_numbers *numbers,
                              const lwi_slope_variants *of, double step, lwi_arena *arena,
                              lwi_slope *slope, lw_error *error)
{
    *slope = (lwi_slope){.name = of->name, .step = step};
    const lw_status status = create(model, numbers, of, arena, slope, error);
    if (status != LW_OK) lwi_slope_destroy(slope);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}

lw_status lwi_slope_create(const lw_model *model, const lwi_parsed_document *document,
                           const lwi_model_numbers *numbers, const lwi_slope_parameter *parameter,
                           int count, double step, lwi_arena *arena, lwi_slope *slope,
                           lw_error *error)
{
    variants v;
    *slope = (lwi_slope){.name = parameter->name, .step = step};
    TRY(resolve(model, document, parameter, count, arena, &v, error));
    const lwi_slope_variants of = {parameter->name, make_variant, &v};
    return lwi_slope_create_of(model, numbers, &of, step, arena, slope, error);
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

// Forces that read places: of bodies, and of joints that close loops.
static bool force_reads_places(const lw_model *model, const lwi_force *force)
{
    if (force->type->needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST)) return true;
    if (model->nloop == 0) return false;
    const int iv = lwi_force_acts_on(force).iv;
    if (iv < 0 || lwi_tree_speed(model, iv) < 0) return true;
    if (force->type != &lwi_force_joint_spring) return force->type == &lwi_force_servo;
    return ((const lwi_joint_spring_par *)force->par)->follows;
}

// The same of rates of signals.
static bool signals_read_places(const lw_model *model)
{
    bool reads = false;
    for (int i = 0; i < model->desc.nfunction; i++) {
        const bool moves = lwi_function_needs(model->function, (lw_signal){i + 1}) &
                           (model->nloop > 0 ? ~0u : (unsigned)(LWI_NEEDS_POSE | LWI_NEEDS_TWIST));
        reads = reads || (model->function[i].nstate > 0 && moves);
    }
    return reads;
}

static bool forces_read_places(const lw_model *model)
{
    if (signals_read_places(model)) return true;
    for (int i = 0; i < model->nforce; i++)
        if (force_reads_places(model, &model->force[i])) return true;
    return false;
}

bool lwi_slope_changes_motion(const lwi_slope *slope, const lw_model *model, bool formulas)
{
    const lw_model *side = slope->side[0].model;
    if (!slope->local || slope->places || (formulas && lwi_sides_formulas_differ(side, model)) ||
        lwi_sides_markers_differ(side, model) || lwi_sides_measures_differ(side, model))
        return true;
    for (int b = 1; b < model->nbody; b++)
        if (!lwi_sides_same_numbers(side->body[b].com, model->body[b].com, 3)) return true;
    return false;
}

void lwi_slopes_choose_numbers(const lwi_slope *slope, int n, lwi_model_numbers *numbers)
{
    numbers->places = numbers->by_loads = false;
    for (int i = 0; i < numbers->nconstant; i++) numbers->used[i] = false;
    for (int k = 0; k < n; k++) {
        if (!slope[k].local) continue;
        numbers->places = numbers->places || slope[k].places;
        for (int i = 0; i < slope[k].count; i++) {
            const int number = slope[k].number[i];
            if (number >= numbers->constants)
                numbers->used[number - numbers->constants] = true;
            else if (number >= numbers->gravity + 3)
                numbers->by_loads = true;
        }
    }
}

lw_status lwi_slope_test(lwi_slope *slope, const lwi_model_numbers *numbers,
                         const lwi_slope_probe *probe, lwi_arena *arena, lw_error *error)
{
    const lwi_slope_state *at = probe->at;
    const double *u = probe->u, *nu = probe->nu, *gradient = probe->gradient;
    const double(*way)[6] = probe->way;
    double whole, size = 0;
    if (!same_forces(slope) ||
        !lwi_sides_same_at_all_times(slope->side[0].model,
                                     slope->side[LWI_SLOPE_SIDES - 1].model) ||
        (slope->places && forces_read_places(slope->side[0].model)))
        return LW_OK;
    TRY(find_forces(slope, numbers, at, u, way, probe->scratch, arena, error));
    if (!powers_known(slope)) return LW_OK;
    const double exact = by_numbers(slope, gradient),
                 forces = by_forces(slope, at, u, NULL, way, probe->scratch);
    const lwi_slope_rows rows = {.count = 1, .u = u, .nu = nu};
    const double terms = by_models(slope, at, &rows, probe->scratch, &whole);
    for (int i = 0; i < slope->count; i++)
        size += fabs(slope->change[i] * gradient[slope->number[i]]);
    slope->local =
        fabs(whole - (exact - forces)) <=
        1e-8 * (fabs(whole) + fabs(exact) + fabs(forces) + size) + ROUND_OFF * terms / slope->step;
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
                            const double *states, double *out, lw_error *error)
{
    const int n = slope->side[0].run.columns.n - 1;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int s = 0; s < LWI_SLOPE_SIDES; s++) {
        TRY(lwi_probe_run_at(&slope->side[s].run, t, q, v, states, error));
        for (int c = 0; c < n; c++)
            out[c] += weight[s] / slope->step * slope->side[s].run.rows.row[c + 1];
    }
    return LW_OK;
}
