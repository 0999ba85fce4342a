// rcr.c -- the formulation `rcr`: recursive coordinate reduction                          [anderson2003]
//
// Input: state x = (tree q, tree u, [work], auxiliary coordinates of cut joints), forces.  Output: xdot.
// All speeds are integrated, but every evaluation computes the dependent ones from the independent ones [(34), (47)]:
// velocities satisfy the rows to rounding, positions drift in proportion to time.  The partition into dependent
// and independent speeds is a discrete state in addition to x; rates depend on it by the rounding error of x only.
// Between steps (pre_step) a new one is chosen when its smallest pivot has become small.
// Numbers (n) are those of [anderson2003].
//
// With the option `state` = momenta the tree's momenta replace its speeds (momenta.c); then the partition
// affects rounding only.
//
// Evaluations are made by loop clusters in lanes (clusters/), by the dense path (dense_path.h) or by the
// elimination (rcr.h), whichever applies and is estimated to be fastest.  Cost: O(n + m).
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "kinematics/kernels.h"
#include "methods/rcr/clusters/evaluate.h"
#include "methods/rcr/dense_path.h"
#include "methods/rcr/independent.h"
#include "methods/rcr/state.h"

#include <stdio.h>
#include <string.h>

// Nearer than by this part of the fastest speed they cannot be.
#define ROUND_OFF 1e-13

// ---------------------------------------------------------------------------------------- prepare

static bool has_momenta(const lwi_work *work)
{
    return work->options && work->options->state == LW_STATE_MOMENTA;
}

// Whether the rows follow from the poses alone, and are those with which ranks were found.
static bool keeps_rows(const lwi_cut *cut)
{
    const lw_model *model = cut->model;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const bool simple = !joint->mount.present && joint->ndriven == 0 && joint->nrotor == 0 &&
                            lwi_joint_has_simple_rows(joint->type);
        if (!simple || (cut->at_rest && cut->at_rest[i])) return false;
    }
    return model->ncoupling == 0;
}

static bool has_hinges_alone(const lw_model *model)
{
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    if (!kernels || !kernels->links.angular || model->nforce || model->nrotor || model->driven ||
        model->ncoupling || model->nmerged)
        return false;
    for (int i = 0; i < model->nloop; i++)
        if (!lwi_joint_is_hinge(model->joint[model->loop[i]].type)) return false;
    return true;
}

// Whether something resists every motion: an elimination finds all its pivots of inertias.
static bool has_inertia(const lw_model *model)
{
    static const double little = 1e-9; // of a trace
    for (int k = 0; k < model->nnode; k++) {
        const lwi_body *body = &model->body[model->node[k].body];
        const double *J = body->inertia; // xx yy zz xy xz yz
        const double trace = J[0] + J[1] + J[2], limit = little * trace;
        const double y = J[1] - J[3] * J[3] / J[0], yz = J[5] - J[3] * J[4] / J[0];
        const double z = J[2] - J[4] * J[4] / J[0] - yz * yz / y;
        if (!(body->mass > 0 && J[0] > limit && y > limit && z > limit)) return false;
    }
    return true;
}

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    lwi_rcr_work *d = LWI_PUSH(arena, lwi_rcr_work, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    d->theta = LWI_RCR_THETA;
    d->keep = LWI_RCR_KEEP;
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    TRY(lwi_tree_work_create(model, arena, &d->tree));
    d->tree.mode = &work->mode;
    d->tree.states = &work->states;
    TRY(lwi_cut_create_rows(model, arena, &d->cut));
    GET(d->v, model->tree_nv);
    GET(d->vdot, model->tree_nv);
    GET(d->zeros, model->tree_nv);
    GET(d->lambda, d->cut.m);
    GET(d->residual, model->nnode);
    GET(d->tree.has_F, model->nnode);
    if (has_momenta(work)) {
        GET(d->p, model->tree_nv);
        GET(d->sigma, d->cut.m);
        GET(d->momenta, 1);
        TRY(lwi_cut_momenta_create(model, &d->tree, NULL, lwi_gauge_choose(model, work->options),
                                   d->cut.length, arena, d->momenta));
    }
#undef GET
    work->ndiscrete = sizeof(lwi_rcr_choice) + (size_t)model->tree_nv + LWI_SOURCE_CHOICE;
    work->ndiscrete += -work->ndiscrete % sizeof(double); // aligned, for arrays of them in batches
    LWI_ASSERT(work->ndiscrete % sizeof(double) == 0);
    work->nkept = lwi_rcr_kept_numbers(model);
    work->discrete = lwi_arena_push(arena, 1, work->ndiscrete);
    if (!work->discrete) return LW_ERR_MEMORY;
    memcpy(d->tree.joint_q, model->q0, (size_t)model->nq * sizeof(double));
    TRY(lwi_rcr_create(model, &d->cut, &d->tree, arena, &d->e));
    d->e.limit = work->limit;
    TRY(lwi_rcr_independent_create(work, &d->e));
    TRY(lwi_rcr_find_ranks(&d->e, &d->cut, &d->tree, arena, work->shared, &d->reactions,
                           &work->error));
    LWI_ASSERT(lwi_rcr_rank(&d->e) <= d->cut.m);
    TRY(lwi_rcr_independent_count(&d->e));
    TRY(lwi_auxiliary_create(model, d->momenta ? LWI_MOMENTUM : LWI_SPEED, arena, &d->auxiliary,
                             &work->layout));
    TRY(lwi_rcr_digits_create(work));
    d->last.x = LWI_PUSH(arena, double, work->layout.nx);
    d->last.dependent = LWI_PUSH(arena, unsigned char, model->tree_nv);
    d->dense_at.x = LWI_PUSH(arena, double, work->layout.nx);
    if (!d->last.x || !d->last.dependent || !d->dense_at.x) return LW_ERR_MEMORY;
    if (d->momenta) {
        if (!keeps_rows(&d->cut)) d->e.at_start = NULL;
        return d->reactions ? lwi_rcr_reactions_prepare(model, d->reactions, &d->tree) : LW_OK;
    }
    TRY(lwi_rcr_clusters_create(work, &d->clusters));
    if (d->reactions && !(d->clusters && lwi_rcr_clusters_have_reactions(d->clusters)))
        TRY(lwi_rcr_reactions_prepare(model, d->reactions, &d->tree));
    d->hinges_alone = has_hinges_alone(model);
    d->has_inertia = has_inertia(model);
    d->start.dependent = LWI_PUSH(arena, unsigned char, model->tree_nv);
    d->start.x = LWI_PUSH(arena, double, work->layout.nx);
    if (!d->start.dependent || !d->start.x) return LW_ERR_MEMORY;
    // clusters have the axes of body 1 at hinges, and so does what is compared with them
    if (work->lanes != LWI_NO_KERNEL)
        TRY(lwi_cut_use_axes_at_rest(&d->cut, d->clusters == NULL, arena));
    if (!keeps_rows(&d->cut)) d->e.at_start = NULL;
    return work->lanes == LWI_NO_KERNEL || d->e.independent || !lwi_rcr_dense_pays(d)
               ? LW_OK
               : lwi_rcr_dense_create(d, arena, &d->dense);
}

// ------------------------------------------------------------------------------------- evaluation

// Poses at (t, x), and velocities V_t at zero free speeds.                             (5)
void lwi_rcr_place_tree(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_tree_work *tree = &d->tree;
    d->last.solved = false;
    lwi_auxiliary_load(model, &d->auxiliary, x, tree->joint_q);
    lwi_tree_position(model, t, x, tree->link);
    if (model->driven) lwi_tree_velocity(model, tree->link, d->zeros, tree->V);
    lwi_tree_world(model, tree->link, tree->R, tree->r);
    lwi_tree_bodies(model, (const double(*)[9])tree->R, (const double(*)[3])tree->r,
                    (const double(*)[6])tree->V, tree->body_R, tree->body_r,
                    model->driven ? tree->body_v : NULL, model->driven ? tree->body_w : NULL);
    lwi_tree_joints(model, tree->link, d->zeros, tree->joint_q, NULL);
}

// Rows and geometry, with rates of the rows at zero free speeds.
static void place_rows(lwi_rcr_work *d, double t)
{
    lwi_cut_rows(&d->cut, &d->tree, t, LWI_CLOSURE_POSITION);
    lwi_rcr_place(&d->e, &d->tree, t);
}

void lwi_rcr_place_state(lwi_work *work, double t, const double *x)
{
    lwi_rcr_place_tree(work, t, x);
    place_rows(work->data, t);
}

// d->v := all speeds, from the independent ones of u [tree_nv]; after the elimination.      (34),
// (47)
void lwi_rcr_complete_speeds(lwi_work *work, const double *u)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_rcr *e = &d->e;
    if (model->driven)
        for (int r = 0; r < d->cut.m; r++) e->a[r] = d->cut.rate[r] / (d->cut.len[r] * e->length);
    for (int i = 0; i < model->tree_nv; i++) e->y[i] = u[i] * e->scale[i];
    lwi_rcr_velocities(e, model->driven);
    for (int i = 0; i < model->tree_nv; i++)
        d->v[i] = e->dependent[i] ? e->y[i] / e->scale[i] : u[i];
    LWI_ASSERT(e->ndependent <= model->tree_nv);
}

lwi_rcr_choice *lwi_rcr_choice_of(lwi_work *work)
{
    lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = work->discrete;
    LWI_ASSERT(work->ndiscrete >= sizeof *choice + (size_t)work->model->tree_nv);
    d->e.dependent = choice->dependent;
    return choice;
}

// Whether clusters with the partition of the run find its reactions, too, loop by loop.
static bool has_loop_reactions(const lwi_work *work)
{
    const lwi_rcr_work *d = work->data;
    const lwi_rcr_choice *choice = work->discrete;
    return d->clusters && choice->made &&
           lwi_rcr_clusters_fit_reactions(d->clusters, choice->dependent);
}

// Whether clusters evaluate the run and its rows: they take nothing from its start but the speeds.
static bool needs_speeds_only(const lwi_work *work)
{
    const lwi_rcr_work *d = work->data;
    const lwi_rcr_choice *choice = work->discrete;
    return d->clusters && !d->momenta && d->has_inertia &&
           lwi_rcr_clusters_fit(d->clusters, choice->dependent) &&
           (d->reactions || has_loop_reactions(work));
}

static bool is_start(const lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    return t == 0 &&
           (!model->tree_nq || !memcmp(x, model->tree_q0, (size_t)model->tree_nq * sizeof *x));
}

// A new partition, d->e.fresh; after place.
static lw_status choose(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    if (d->e.at_start && d->theta == LWI_RCR_THETA && is_start(work, t, x)) {
        if (model->tree_nv) memcpy(d->e.fresh, d->e.at_start, (size_t)model->tree_nv);
        return LW_OK;
    }
    const lw_status chosen = lwi_rcr_choose(&d->e, d->theta, t, &work->error);
    return lwi_rcr_independent_check(&d->e, chosen, t);
}

const unsigned char *lwi_rcr_start_partition(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    const size_t n = (size_t)model->tree_nv;
    double *x = d->start.x;
    if (!d->clusters || d->e.independent || d->theta != LWI_RCR_THETA || !n) return NULL;
    if (d->start.made) return d->start.pivot > 0 ? d->start.dependent : NULL;
    d->start.made = true;
    memcpy(x, model->tree_q0, (size_t)model->tree_nq * sizeof *x);
    lwi_auxiliary_store(model, &d->auxiliary, model->q0, x);
    lwi_rcr_place_state(work, 0, x);
    lw_error error; // not at a singular position
    if (!d->e.at_start && lwi_rcr_choose(&d->e, d->theta, 0, &error) != LW_OK) return NULL;
    memcpy(d->start.dependent, d->e.at_start ? d->e.at_start : d->e.fresh, n);
    lwi_rcr_clusters_prefer(work, 0, x, d->start.dependent);
    d->start.pivot = lwi_rcr_clusters_pivot(work, 0, x, d->start.dependent);
    return d->start.pivot > 0 ? d->start.dependent : NULL;
}

// The partition of the run; chooses one if there is none.  After place.
static lw_status take_partition(lwi_work *work, double t, const double *x)
{
    lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = lwi_rcr_choice_of(work);
    const size_t n = (size_t)work->model->tree_nv;
    if (choice->made) return LW_OK;
    TRY(choose(work, t, x));
    if (d->clusters && !d->e.independent) lwi_rcr_clusters_prefer(work, t, x, d->e.fresh);
    *choice = (lwi_rcr_choice){.made = true, .min_pivot = 2, .last_pivot = 2};
    if (n) memcpy(choice->dependent, d->e.fresh, n);
    return LW_OK;
}

// The elimination with that partition.  After place.
static lw_status factor(lwi_work *work, double t, const double *x)
{
    lwi_rcr_work *d = work->data;
    TRY(take_partition(work, t, x));
    return lwi_rcr_independent_check(&d->e, lwi_rcr_factor(&d->e, LWI_RCR_FIXED, t, &work->error),
                                     t);
}

// d->v at the start of a run with speeds as state, by what evaluates it: clusters need no elimination.  After place.
static lw_status start_speeds(lwi_work *work, double t, const double *x, bool *by_clusters)
{
    lwi_rcr_work *d = work->data;
    *by_clusters = false;
    TRY(take_partition(work, t, x));
    if (needs_speeds_only(work) && lwi_rcr_clusters_motion(work, t, x, NULL, d->v, NULL)) {
        d->e.reduced = false; // accelerations at this state eliminate first
        *by_clusters = true;
        return LW_OK;
    }
    TRY(factor(work, t, x));
    lwi_rcr_complete_speeds(work, x + work->model->tree_nq);
    return LW_OK;
}

lw_status lwi_rcr_check_finite(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    const lwi_rcr_work *d = work->data;
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    const bool finite = kernels && kernels->finite(x, model->tree_nq);
    for (int k = 0; !finite && k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int i = 0; i < node->nq; i++)
            if (!isfinite(x[node->iq + i]))
                return lwi_fail(&work->error, LW_ERR_NOT_FINITE,
                                "%s '%s': coordinate %d is not a finite number at t = %.9g s",
                                node->joint < 0 ? "body" : "joint",
                                node->joint < 0 ? model->body[node->body].name
                                                : model->joint[node->joint].name,
                                i, t);
    }
    return lwi_tree_finite(model, t, x + model->tree_nq, d->momenta ? "momentum" : "speed",
                           &work->error);
}

// Clusters need the independent speeds of the partition.
bool lwi_rcr_takes_dense_path(const lwi_rcr_work *d, const lwi_rcr_choice *choice)
{
    if (!d->dense) return false;
    return !(d->clusters && choice->made && lwi_rcr_clusters_fit(d->clusters, choice->dependent));
}

// Rows of the present motion.
static const lwi_cut *rows_of(const lwi_rcr_work *d)
{
    return d->by_dense ? lwi_rcr_dense_rows(d->dense) : &d->cut;
}

// Largest distance of the speeds u [tree_nv] of a state from those that satisfy the rows, d->v, in tolerances of the
// integrator.
static double speeds_off(const lwi_work *work, const double *u)
{
    const lwi_rcr_work *d = work->data;
    const int n = work->model->tree_nv;
    const lw_options *o = work->options;
    double fastest = 0, off = 0;
    for (int i = 0; i < n; i++) fastest = fmax(fastest, fabs(d->v[i]));
    const double atol = fmax(o ? o->atol : 0, ROUND_OFF * fastest), rtol = o ? o->rtol : 0;
    for (int i = 0; i < n; i++)
        if (u[i] != d->v[i]) off = fmax(off, fabs(u[i] - d->v[i]) / (atol + rtol * fabs(d->v[i])));
    return off;
}

// d->v by the dense path, after its factors.
void lwi_rcr_take_dense_speeds(lwi_work *work, double t, const double *x)
{
    lwi_rcr_work *d = work->data;
    lwi_rcr_dense_speeds(d->dense, d, x + work->model->tree_nq);
    memcpy(d->dense_at.x, x, (size_t)work->layout.nx * sizeof *x);
    d->dense_at.t = t;
    d->dense_at.off = speeds_off(work, x + work->model->tree_nq);
    d->dense_at.valid = true;
}

static lw_status kinematics(lwi_work *work, double t, const double *x, bool exact)
{
    lwi_rcr_work *d = work->data;
    const double *second = x + work->model->tree_nq;
    TRY(lwi_rcr_check_finite(work, t, x));
    lwi_rcr_place_tree(work, t, x);
    d->by_dense =
        lwi_rcr_takes_dense_path(d, work->discrete) && lwi_rcr_dense_factor(d->dense, d, t);
    if (!d->by_dense) {
        place_rows(d, t);
        TRY(factor(work, t, x));
    }
    if (d->by_dense)
        lwi_rcr_take_dense_speeds(work, t, x);
    else if (d->momenta)
        lwi_rcr_momenta_speeds(d, second);
    else
        lwi_rcr_complete_speeds(work, second);
    lwi_rcr_move(work, t, exact ? LWI_RCR_READ_ALL : LWI_RCR_READ_NEEDED);
    return d->momenta ? lwi_tree_finite(work->model, t, d->v, "speed", &work->error) : LW_OK;
}

static bool is_solved(lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    const lwi_rcr_choice *choice = lwi_rcr_choice_of(work);
    return d->last.solved && choice->made && t == d->last.t &&
           memcmp(x, d->last.x, (size_t)work->layout.nx * sizeof *x) == 0 &&
           memcmp(choice->dependent, d->last.dependent, (size_t)work->model->tree_nv) == 0;
}

// Momenta are not shared: their scales change the speeds.
void lwi_rcr_note_solved(lwi_work *work, double t, const double *x)
{
    lwi_rcr_work *d = work->data;
    if (d->momenta) return;
    memcpy(d->last.x, x, (size_t)work->layout.nx * sizeof *x);
    memcpy(d->last.dependent, lwi_rcr_choice_of(work)->dependent, (size_t)work->model->tree_nv);
    d->last.t = t;
    d->last.solved = d->last.rows = true;
    d->last.clusters = false;
}

// Whether the motion of this state is there, found for something else.
static bool take_motion(lwi_work *work, double t, const double *x, lwi_rcr_purpose what)
{
    lwi_rcr_work *d = work->data;
    const bool takes = what != d->last.purpose && d->last.purpose != LWI_RCR_FOR_STEP;
    d->last.purpose = what;
    return takes && is_solved(work, t, x);
}

static lw_status kinematics_for(lwi_work *work, double t, const double *x, lwi_rcr_purpose what)
{
    const lwi_rcr_work *d = work->data;
    // nothing but the scale of the work depends on their round-off
    const bool same = !d->last.clusters || d->auxiliary.at_work < 0;
    if (take_motion(work, t, x, what) && d->last.rows && same) return LW_OK;
    TRY(kinematics(work, t, x, true));
    lwi_rcr_note_solved(work, t, x);
    return LW_OK;
}

// vdot; after everything that depends on velocities.
static lw_status accelerations(lwi_work *work, double t, const double *inputs)
{
    lwi_rcr_work *d = work->data;
    d->mount_power = lwi_cut_loads(&d->cut, &d->tree, t, d->v, inputs);
    if (!d->by_dense && !d->e.reduced) TRY(lwi_rcr_factor(&d->e, LWI_RCR_FIXED, t, &work->error));
    if (d->by_dense)
        lwi_rcr_dense_accelerations(d->dense, d, t);
    else
        lwi_rcr_accelerations(d, t);
    return lwi_tree_finite(work->model, t, d->vdot, "acceleration", &work->error);
}

// Rate of the work [W]: the power of forces, drives and mounts, after the accelerations if something is driven;
// with momenta less the rate of the share that drives and mounts have in them (cut_momenta.h).
static double power(lwi_rcr_work *d)
{
    const bool driven = d->cut.model->driven;
    if (d->momenta)
        return d->tree.power + d->mount_power +
               (driven ? lwi_cut_momenta_prescribed_rate(d->momenta) : 0);
    if (driven) lwi_rcr_lambda(d, d->lambda);
    return lwi_cut_state_power(rows_of(d), &d->tree, d->lambda, d->v, d->vdot,
                               d->tree.power + d->mount_power + d->rotor_power);
}

// Updates the smallest pivot of the partition if it was used.
static void record_pivot(const lwi_rcr_work *d, lwi_rcr_choice *choice)
{
    if (d->by_dense) return;
    choice->last_pivot = d->e.min_pivot;
    choice->min_pivot = fmin(choice->min_pivot, choice->last_pivot);
    choice->used_partition |= lwi_rcr_takes_dense_path(d, choice);
}

// Rates of the momenta; after everything that depends on velocities.
static lw_status momenta_rates(lwi_work *work, double t, const double *x, const double *inputs,
                               double *pdot)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    d->mount_power = lwi_cut_loads(&d->cut, &d->tree, t, d->v, inputs);
    lwi_rcr_momenta_impulses(d, t);
    lwi_cut_momenta_rates(d->momenta, x + model->tree_nq, pdot);
    return lwi_tree_finite(model, t, pdot, "rate of momentum", &work->error);
}

// What the state's w lacks of the work [J]; after kinematics.
static double prescribed_work(lwi_rcr_work *d, double t)
{
    if (!d->momenta || !d->cut.model->driven) return 0;
    lwi_rcr_momenta_impulses(d, t);
    return lwi_cut_momenta_prescribed(d->momenta);
}

// Rates by clusters; *done: false if the general elimination has to decide.
static lw_status rates_by_clusters(lwi_work *work, double t, const double *x, const double *inputs,
                                   double *xdot, bool *done)
{
    lwi_rcr_choice *choice = lwi_rcr_choice_of(work);
    double min;
    lwi_rcr_work *d = work->data;
    if (work->model->nforce || d->tree.added || work->model->driven)
        d->last.solved = false; // forces and drives write to the tree
    if (!choice->made) {
        TRY(lwi_rcr_check_finite(work, t, x));
        lwi_rcr_place_state(work, t, x);
        TRY(take_partition(work, t, x));
    }
    LWI_ASSERT(choice->made);
    *done = d->in_clusters = lwi_rcr_clusters_rates(work, t, x, inputs, xdot, &min);
    if (!*done) return LW_OK;
    choice->last_pivot = min;
    choice->min_pivot = fmin(choice->min_pivot, min);
    return LW_OK;
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    double *second = xdot + model->tree_nq;
    lwi_states_set(work, x, xdot);
    if (d->clusters) {
        bool done;
        TRY(rates_by_clusters(work, t, x, inputs, xdot, &done));
        if (done) return LW_OK;
    }
    d->in_clusters = false;
    if (d->last.purpose != LWI_RCR_FOR_STEP || !is_solved(work, t, x))
        TRY(kinematics(work, t, x, model->nforce > 0));
    d->last.solved = false; // forces and drives write to the tree
    record_pivot(d, work->discrete);
    TRY(d->momenta ? momenta_rates(work, t, x, inputs, second) : accelerations(work, t, inputs));
    lwi_cut_state_rates(&d->cut, &d->auxiliary, &d->tree, d->v, d->momenta ? second : d->vdot,
                        xdot);
    LWI_ASSERT(d->auxiliary.at_work < work->layout.nx);
    if (d->auxiliary.at_work >= 0) xdot[d->auxiliary.at_work] = power(d);
    return LW_OK;
}

// The partition and d->v by clusters, without the elimination, where pivots of the partition of the model's start are as large
// as those of a new one (lwi_rcr_clusters_prefer), or nearly as there.
static bool take_start_partition(lwi_work *work, double t, const double *x)
{
    static const double nearly = 0.8;
    lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = lwi_rcr_choice_of(work);
    double min;
    const unsigned char *dependent = lwi_rcr_start_partition(work);
    if (!dependent || !lwi_rcr_clusters_fit(d->clusters, dependent)) return false;
    const double enough = fmin(0.5 * (d->theta + d->keep), nearly * d->start.pivot);
    *choice = (lwi_rcr_choice){.made = true, .min_pivot = 2, .last_pivot = 2};
    memcpy(choice->dependent, dependent, (size_t)work->model->tree_nv);
    if (lwi_rcr_clusters_speeds(work, t, x, d->v, &min) && min > enough) return true;
    memset(choice, 0, work->ndiscrete - LWI_SOURCE_CHOICE);
    return false;
}

static bool enter_by_clusters(lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    if (work->resumed || d->momenta || !d->has_inertia || is_start(work, t, x)) return false;
    return take_start_partition(work, t, x);
}

static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    double *v = x + model->tree_nq;
    const lwi_motion motion = lwi_cut_motion(&d->tree);
    lwi_cut_state_enter(&d->cut, &d->auxiliary, snapshot, &d->tree, x);
    lwi_states_enter(work, snapshot, x);
    if (!work->resumed) memset(work->discrete, 0, work->ndiscrete); // else the partition is kept
    d->by_dense = false;
    memcpy(d->last.x, x, (size_t)work->layout.nx * sizeof *x);
    const bool without_rows = enter_by_clusters(work, snapshot->t, x);
    bool by_clusters = without_rows;
    if (without_rows) {
        lwi_rcr_place_tree(work, snapshot->t, x);
    } else {
        lwi_rcr_place_state(work, snapshot->t, x);
        const lw_status status = start_speeds(work, snapshot->t, x, &by_clusters);
        if (status == LW_ERR_SINGULAR && work->resumed &&
            !d->momenta) { // speeds are those of the motion
            lwi_auxiliary_store(model, &d->auxiliary, d->tree.joint_q, x);
            return LW_OK;
        }
        TRY(status);
    }
    lwi_rcr_move(work, snapshot->t, LWI_RCR_READ_ALL);
    lwi_auxiliary_store(model, &d->auxiliary, d->tree.joint_q, x);
    if (d->momenta) {
        lwi_cut_momenta_of_speeds(d->momenta, snapshot->t, &motion, d->v, v);
        if (!model->driven) return LW_OK;
        TRY(kinematics(work, snapshot->t, x, true));
        x[d->auxiliary.at_work] -= prescribed_work(d, snapshot->t);
    } else if (model->tree_nv) {
        memcpy(v, d->v, (size_t)model->tree_nv * sizeof *v);
        memcpy(d->last.x + model->tree_nq, v, (size_t)model->tree_nv * sizeof *v);
        // not where coordinates of cut joints were read again: the rows may depend on them
        if (without_rows || (!lwi_rcr_takes_dense_path(d, work->discrete) &&
                             !memcmp(d->last.x, x, (size_t)work->layout.nx * sizeof *x)))
            lwi_rcr_note_solved(work, snapshot->t, x);
        d->last.rows = !without_rows;
        d->last.clusters = by_clusters;
    }
    d->last.purpose = LWI_RCR_FOR_NONE;
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- observe

// Where no rows are redundant; else reactions are computed together, reactions.c.
static void observe_cut_reactions(lwi_rcr_work *d, lwi_snapshot *snapshot)
{
    const lw_model *model = d->cut.model;
    const lwi_motion motion = lwi_cut_motion(&d->tree);
    for (int i = 0; i < model->nloop; i++) {
        lwi_joint_reaction(model, model->loop[i], &motion, &rows_of(d)->closure[i],
                           d->lambda + d->cut.first[i], snapshot->reaction[model->loop[i]]);
        lwi_snapshot_set_undetermined(snapshot, model->loop[i], 0);
    }
}

// Speeds, and accelerations if the level needs them, by the clusters that evaluate the run, where no multipliers are
// needed: below that level, or where reactions follow from accelerations; *done: false if the elimination has to.
static lw_status move_by_clusters(lwi_work *work, double t, const double *x, const double *inputs,
                                  lw_observe level, bool *done)
{
    lwi_rcr_work *d = work->data;
    const bool accelerates = level >= LW_OBSERVE_ACCELERATION;
    *done = false;
    if (!d->clusters || !lwi_rcr_choice_of(work)->made) return LW_OK;
    if (accelerates && !d->reactions && !has_loop_reactions(work)) return LW_OK;
    if (!accelerates && take_motion(work, t, x, LWI_RCR_FOR_VELOCITIES) && d->last.clusters) {
        if (!d->hinges_alone) lwi_rcr_move(work, t, LWI_RCR_READ_CLOSED); // joints as below
        *done = true;
        return LW_OK;
    }
    TRY(lwi_rcr_check_finite(work, t, x));
    d->last.solved = false; // forces and drives write to the tree
    if (!lwi_rcr_clusters_motion(work, t, x, inputs, d->v, accelerates ? d->vdot : NULL))
        return LW_OK;
    d->by_dense = false;
    if (d->hinges_alone) {
        lwi_rcr_move_links(work, t, x);
    } else {
        lwi_rcr_place_tree(work, t, x);
        lwi_rcr_move(work, t, LWI_RCR_READ_CLOSED);
    }
    if (accelerates) d->mount_power = lwi_cut_loads(&d->cut, &d->tree, t, d->v, inputs);
    d->tree.has_A = false;
    *done = true;
    return LW_OK;
}

// The same by the elimination or the dense path.
static lw_status move_by_rows(lwi_work *work, double t, const double *x, const double *inputs,
                              lw_observe level)
{
    lwi_rcr_work *d = work->data;
    if (level < LW_OBSERVE_ACCELERATION) return kinematics_for(work, t, x, LWI_RCR_FOR_VELOCITIES);
    TRY(kinematics_for(work, t, x, LWI_RCR_FOR_ROW));
    TRY(accelerations(work, t, inputs));
    if (!d->reactions) {
        lwi_rcr_lambda(d, d->lambda);
        lwi_cut_wrenches(rows_of(d), &d->tree, d->lambda, d->tree.wrench);
    }
    d->tree.has_A = !d->by_dense;
    if (!d->by_dense) lwi_rcr_take_accelerations(d);
    return LW_OK;
}

// Reactions of minimum norm, and unique ones where clusters move the tree: loop by loop from those of the tree in the
// snapshot, or together.
static lw_status observe_reactions(lwi_work *work, double t, bool by_loops, lwi_snapshot *snapshot)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    const bool found = by_loops && lwi_rcr_clusters_find_reactions(work, snapshot->reaction);
    if (found && d->reactions) lwi_rcr_reactions_mark(model, d->reactions, snapshot);
    for (int i = 0; i < model->nloop && found && !d->reactions; i++)
        lwi_snapshot_set_undetermined(snapshot, model->loop[i], 0);
    if (found) return LW_OK;
    if (d->by_dense) lwi_rcr_place(&d->e, &d->tree, t);
    const lw_status status =
        d->reactions ? lwi_rcr_reactions_observe(model, d->reactions, &d->tree, t, snapshot)
                     : LW_ERR_NOT_FINITE;
    if (status == LW_OK) return LW_OK;
    return lwi_fail(&work->error, status,
                    status == LW_ERR_MEMORY ? "no memory for reactions at t = %.9g s"
                                            : "reactions at t = %.9g s are not finite numbers",
                    t);
}

static lw_status observe_motion(lwi_work *work, double t, const double *x, const double *inputs,
                                lw_observe level, lwi_snapshot *snapshot)
{
    lwi_rcr_work *d = work->data;
    // reactions of minimum norm follow from the accelerations alone; of rotors they need their efforts
    const bool together = d->reactions && work->model->nrotor == 0;
    bool by_clusters = false;
    double prescribed = 0;
    lwi_states_observe(work, x, snapshot);
    if (level < LW_OBSERVE_TWIST) { // poses do not need the elimination
        TRY(lwi_rcr_check_finite(work, t, x));
        lwi_rcr_place_tree(work, t, x);
        lwi_cut_read(&d->cut, &d->tree, t, true);
    } else {
        TRY(move_by_clusters(work, t, x, inputs, level, &by_clusters));
        if (!by_clusters) TRY(move_by_rows(work, t, x, inputs, level));
        prescribed = prescribed_work(d, t);
    }
    d->tree.has_world = true; // by place_tree or move_links
    d->cut.closed = by_clusters;
    const bool by_loops = by_clusters && has_loop_reactions(work);
    lwi_tree_observe(
        work->model, &d->tree, t, d->v, d->vdot,
        together && !by_loops && level > LW_OBSERVE_ACCELERATION ? LW_OBSERVE_ACCELERATION : level,
        snapshot);
    snapshot->work = d->auxiliary.at_work >= 0 ? x[d->auxiliary.at_work] : 0;
    if (by_clusters && d->hinges_alone)
        lwi_rcr_read_closed_hinges(d, level, snapshot);
    else
        lwi_cut_state_observe_joints(&d->cut, &d->tree, t, level, snapshot);
    snapshot->work += prescribed;
    if (level < LW_OBSERVE_REACTION) return LW_OK;
    if (d->reactions || by_loops) return observe_reactions(work, t, by_loops, snapshot);
    observe_cut_reactions(d, snapshot);
    return LW_OK;
}

// A partition for clusters after compiled rates, which have none.
static lw_status renew_partition(lwi_work *work, double t, const double *x)
{
    if (take_start_partition(work, t, x)) return LW_OK;
    TRY(lwi_rcr_check_finite(work, t, x));
    lwi_rcr_place_state(work, t, x);
    return take_partition(work, t, x);
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    const lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = lwi_rcr_choice_of(work);
    if (!work->source.rates || choice->made || !d->clusters || level < LW_OBSERVE_TWIST)
        return observe_motion(work, t, x, inputs, level, snapshot);
    lw_status status = renew_partition(work, t, x);
    if (status == LW_OK) status = observe_motion(work, t, x, inputs, level, snapshot);
    memset(choice, 0, work->ndiscrete - LWI_SOURCE_CHOICE); // steps do not depend on rows
    return status;
}

// Largest |phi|: distances of points and sines of angles, at least as large as any row.
static double gap(lwi_work *work, double t, const double *x)
{
    lwi_rcr_work *d = work->data;
    const double known = d->clusters ? lwi_rcr_clusters_gap(work, t, x) : INFINITY;
    if (known < INFINITY) return known;
    if (lwi_rcr_check_finite(work, t, x) != LW_OK) return INFINITY;
    lwi_rcr_place_tree(work, t, x);
    return lwi_cut_gap(&d->cut, &d->tree, t);
}

static bool close_loops(lwi_work *work, double t, double *x, double gap, bool angles)
{
    lwi_rcr_work *d = work->data;
    if (!d->clusters || !lwi_rcr_clusters_close(work, t, x, gap)) return false;
    if (!angles || d->auxiliary.n == 0) return true;
    lwi_rcr_place_tree(work, t, x);
    lwi_cut_read(&d->cut, &d->tree, t, true);
    lwi_auxiliary_store(work->model, &d->auxiliary, d->tree.joint_q, x);
    return true;
}

static double margin(const lwi_work *work)
{
    const lwi_rcr_work *d = work->data;
    return d->in_clusters ? lwi_rcr_clusters_margin(d->clusters) : 0;
}

static double margin_at(lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    return d->in_clusters ? lwi_rcr_clusters_margin_at(work, t, x) : -1;
}

static lw_status scale(lwi_work *work, double t, const double *x, double *factor)
{
    lwi_rcr_work *d = work->data;
    TRY(kinematics_for(work, t, x, LWI_RCR_FOR_SCALE));
    lwi_cut_state_scale(&d->cut, &d->auxiliary, &d->tree, &work->layout, factor);
    if (!d->momenta) return LW_OK;
    return lwi_cut_momenta_scale(d->momenta, t, d->p, d->v, factor + work->model->tree_nq,
                                 &work->error);
}

static void about(const lwi_work *work, char *text, size_t size)
{
    const lwi_rcr_work *d = work->data;
    text[0] = 0;
    if (d->momenta && d->cut.m) lwi_gauge_about(&d->momenta->gauge, text, size);
}

const lwi_formulation lwi_formulation_rcr = {
    .name = "rcr",
    .summary =
        "recursive coordinate reduction: loops in relative coordinates, O(n + m); trees, loops, "
        "couplings, redundant constraints",
    .cite = "anderson2003",
    .flags = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_ROTORS | LWI_HAS_SPEEDS | LWI_HAS_MOMENTA |
             LWI_HAS_KAPPA | LWI_POSES_FIRST | LWI_TREE_STATE,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .pre_step = lwi_rcr_pre_step,
    .keep = lwi_rcr_keep,
    .recall = lwi_rcr_recall,
    .observe = observe,
    .impulses = lwi_rcr_state_impulses,
    .gap = gap,
    .close = close_loops,
    .margin = margin,
    .margin_at = margin_at,
    .scale = scale,
    .about = about,
    .notice = lwi_rcr_notice,
    .lost_digits = lwi_rcr_lost_digits,
};
