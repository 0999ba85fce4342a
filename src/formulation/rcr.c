// rcr.c -- the formulation `rcr`: recursive coordinate reduction
//
// State x = (tree q, tree u, [work], carried coordinates of cut joints).  All speeds are
// integrated, but those that depend on others are read from these, at every evaluation: velocities
// meet the rows to round-off, positions drift in proportion to time.  Which speeds depend is the
// partition, discrete beside x; the rates do not depend on it but by the round-off that x is off
// the rows.  It is looked after between steps (settle): a new one is chosen when the smallest pivot
// has become small.
#include "formulation/rcr.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- prepare

// Largest distance of a joint point from the mass centre of a moving body.
static double mechanism_length(const lw_model *model)
{
    double most = 0;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->body1) most = fmax(most, v3_norm(joint->r1));
        if (joint->body2) most = fmax(most, v3_norm(joint->r2));
    }
    return most > 0 ? most : 1;
}

// The rows of cut joints, without the dense matrices that `lagrange` needs for them.
static lw_status create_rows(const lw_model *model, lwi_arena *arena, lwi_cut *cut)
{
    *cut = (lwi_cut){.model = model,
                     .count = model->nloop + model->ncoupling,
                     .n = model->tree_nv,
                     .length = mechanism_length(model)};
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    GET(cut->first, cut->count + 1);
    for (int i = 0; i < cut->count; i++) {
        cut->first[i] = cut->m;
        cut->m += i < model->nloop ? lwi_joint_row_count(model, model->loop[i]) : 1;
    }
    cut->first[cut->count] = cut->m;
    GET(cut->closure, cut->count);
    GET(cut->phi, cut->m);
    GET(cut->rate, cut->m);
    GET(cut->b, cut->m);
    GET(cut->gamma, cut->m);
    GET(cut->len, cut->m);
    GET(cut->wrench, model->nbody);
    GET(cut->a, model->nbody);
    GET(cut->al, model->nbody);
    return LW_OK;
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
    TRY(lwi_tree_work_create(model, arena, &d->tree));
    TRY(create_rows(model, arena, &d->cut));
    GET(d->v, model->tree_nv);
    GET(d->vdot, model->tree_nv);
    GET(d->none, model->tree_nv);
    GET(d->lambda, d->cut.m);
#undef GET
    work->ndiscrete = sizeof(lwi_rcr_choice) + (size_t)model->tree_nv;
    work->ndiscrete += -work->ndiscrete % sizeof(double); // one stands behind the other in batches
    work->discrete = lwi_arena_push(arena, 1, work->ndiscrete);
    if (!work->discrete) return LW_ERR_MEMORY;
    memcpy(d->tree.joint_q, model->q0, (size_t)model->nq * sizeof(double));
    TRY(lwi_rcr_create(model, &d->cut, &d->tree, arena, &d->e));
    TRY(lwi_rcr_learn(&d->e, &d->cut, &d->tree, arena, &work->error));
    // redundant rows: of all there are, the rank is what dependent speeds can be
    int rank = 0;
    for (int k = 0; k < model->nnode; k++)
        if (d->e.node[k].up < 0) rank += d->e.node[k].rank;
    if (rank < d->cut.m) TRY(lwi_rcr_reactions_create(&d->e, arena, &d->reactions));
    return lwi_carried_create(model, LWI_SPEED, arena, &d->carried, &work->layout);
}

// ------------------------------------------------------------------------------------- evaluation

// Positions, rows and geometry at (t, x); rates of the rows without free speeds.
static void place(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_tree_work *tree = &d->tree;
    lwi_carried_load(model, &d->carried, x, tree->joint_q);
    lwi_tree_position(model, t, x, tree->link);
    if (model->driven) lwi_tree_velocity(model, tree->link, d->none, tree->V);
    lwi_tree_world(model, tree->link, tree->R, tree->r);
    lwi_tree_bodies(model, (const double(*)[9])tree->R, (const double(*)[3])tree->r,
                    (const double(*)[6])tree->V, tree->body_R, tree->body_r,
                    model->driven ? tree->body_v : NULL, model->driven ? tree->body_w : NULL);
    lwi_tree_joints(model, tree->link, d->none, tree->joint_q, NULL);
    lwi_cut_rows(&d->cut, tree, t, LWI_CLOSURE_POSITION);
    lwi_rcr_place(&d->e, tree);
}

// v: all speeds that go with the independent ones of u [tree_nv]; after the elimination.
static void complete_speeds(lwi_work *work, const double *u)
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
}

// Speed of a revolute that is cut: z2.(w2 - w1).
static double turning(const lwi_joint *joint, const lwi_motion *motion)
{
    const double z[3] = {joint->R2[2], joint->R2[5], joint->R2[8]};
    double axis[3], w[3];
    m3_mul_v(axis, motion->R[joint->body2], z);
    v3_sub(w, motion->w[joint->body2], motion->w[joint->body1]);
    return v3_dot(axis, w);
}

// Velocities of everything at the speeds v, after place.  Merged bodies are left to the forces.
//   exact  coordinates of cut joints are read from the poses too, where the carried ones will not
//   do
static void move(lwi_work *work, double t, bool exact)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_tree_work *tree = &d->tree;
    const lwi_motion motion = lwi_cut_motion(tree);
    lwi_tree_rates(model, t, d->v, tree->link);
    lwi_tree_velocity(model, tree->link, d->v, tree->V);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double v[3];
        v3_cross(v, tree->V[k] + 3, node->c_r);
        v3_add(v, v, tree->V[k]);
        m3_mul_v(tree->body_v[node->body], tree->R[k], v);
        m3_mul_v(tree->body_w[node->body], tree->R[k], tree->V[k] + 3);
    }
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        double now[LW_JOINT_MAX_NQ];
        if (joint->type->nq == 0) continue;
        if (!exact && joint->type->id == LW_JOINT_REVOLUTE && !joint->mount.present) {
            tree->joint_qd[joint->iv] = turning(joint, &motion);
            continue;
        }
        lwi_joint_read_motion(model, model->loop[i], t, &motion, now, tree->joint_qd + joint->iv);
        memcpy(tree->joint_q + joint->iq, now, (size_t)joint->type->nq * sizeof *now);
    }
}

static lwi_rcr_choice *choice_of(lwi_work *work)
{
    lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = work->discrete;
    d->e.dependent = choice->dependent;
    return choice;
}

// The elimination with the partition of the run, which is chosen where there is none; after place.
static lw_status factor(lwi_work *work, double t)
{
    lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = choice_of(work);
    const size_t n = (size_t)work->model->tree_nv;
    if (!choice->made) {
        TRY(lwi_rcr_choose(&d->e, d->theta, t, &work->error));
        *choice = (lwi_rcr_choice){.made = true, .lately = 2, .thin = d->e.thin, .thinnest = 2};
        if (n) memcpy(choice->dependent, d->e.fresh, n);
    }
    return lwi_rcr_factor(&d->e, t, &work->error);
}

static lw_status check_finite(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    for (int k = 0; k < model->nnode; k++) {
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
    return lwi_tree_finite(model, t, x + model->tree_nq, "speed", &work->error);
}

static lw_status kinematics(lwi_work *work, double t, const double *x, bool exact)
{
    TRY(check_finite(work, t, x));
    place(work, t, x);
    TRY(factor(work, t));
    complete_speeds(work, x + work->model->tree_nq);
    move(work, t, exact);
    return LW_OK;
}

// A [nnode]: accelerations without those of the free speeds, in the falling frame, as
// lwi_tree_newton_euler; F: what is left of the forces then, in world axes and the units of the
// sweep.
static void bias(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_tree_work *tree = &d->tree;
    const double base[6] = {-model->gravity[0], -model->gravity[1], -model->gravity[2]};
    const double unit = 1 / d->e.length;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const lwi_link *link = &tree->link[k];
        double *A = tree->A[k], c[6], P[6], F[6];
        motion_to(A, link->R, link->r, node->parent < 0 ? base : tree->A[node->parent]);
        lwi_tree_bias(model, k, tree, d->v, c);
        v6_add(A, A, c);
        inertia_mul(F, node->mass, node->h, node->J, A);
        inertia_mul(P, node->mass, node->h, node->J, tree->V[k]);
        force_cross(c, tree->V[k], P);
        for (int i = 0; i < 6; i++) F[i] = tree->wrench[k][i] - F[i] - c[i];
        m3_mul_v(d->e.F[k], tree->R[k], F);
        m3_mul_v(d->e.F[k] + 3, tree->R[k], F + 3);
        v3_scale(d->e.F[k], unit, d->e.F[k]);
        v3_scale(d->e.F[k] + 3, unit * unit, d->e.F[k] + 3);
        for (int j = node->iv; j < node->iv + node->nv; j++)
            d->e.Q[j] = tree->effort[j] * unit * unit / d->e.scale[j];
    }
}

// gamma of all rows; J is there.
static void biases(lwi_cut *cut, const lwi_tree_work *tree, double t)
{
    const lw_model *model = cut->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    for (int i = 0; i < model->nloop; i++)
        lwi_joint_closure_gamma(model, model->loop[i], t, &motion, cut->gamma + cut->first[i]);
    for (int i = 0; i < model->ncoupling; i++) {
        lwi_closure c;
        lwi_coupling_closure(model, i, t, &motion, LWI_CLOSURE_RATES, &c);
        cut->gamma[cut->first[model->nloop + i]] = c.gamma[0];
    }
}

// vdot; all that depends on the velocities is there.
static lw_status accelerations(lwi_work *work, double t, const double *inputs)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_rcr *e = &d->e;
    lwi_cut *cut = &d->cut;
    d->mount_power = lwi_cut_loads(cut, &d->tree, t, d->v, inputs);
    biases(cut, &d->tree, t);
    bias(work);
    lwi_cut_accelerations(cut, &d->tree, e->a);
    for (int r = 0; r < cut->m; r++)
        e->a[r] = (e->a[r] + cut->gamma[r]) / (cut->len[r] * e->length);
    lwi_rcr_solve(e);
    for (int i = 0; i < model->tree_nv; i++) d->vdot[i] = e->y[i] / e->scale[i];
    return lwi_tree_finite(model, t, d->vdot, "acceleration", &work->error);
}

// Multipliers in the rows' own units: M A = F + J' lambda.
static void multipliers(lwi_rcr_work *d)
{
    lwi_rcr_multipliers(&d->e);
    for (int r = 0; r < d->cut.m; r++) d->lambda[r] = -d->e.mu[r] * d->e.length / d->cut.len[r];
}

// Forces of the model, of drives and mounts.  A cut joint's wrenches J'lambda have the power
// lambda.J V = -lambda.b on the constraints.
static double power(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    double P = d->tree.power + d->mount_power;
    if (!model->driven) return P;
    multipliers(d);
    for (int i = 0; i < d->cut.m; i++) P -= d->lambda[i] * d->cut.b[i];
    lwi_cut_wrenches(&d->cut, &d->tree, d->lambda, d->tree.wrench);
    lwi_tree_newton_euler(model, &d->tree, d->v, d->vdot);
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].driven) P += lwi_tree_drive_power(model, k, &d->tree, d->tree.F[k]);
    return P;
}

// How good the partition is, and how far the loops are from losing their rank.
static void watch(const lwi_rcr *e, lwi_rcr_choice *choice, double t)
{
    const double near = LWI_RCR_NEAR * choice->thin;
    choice->lately = fmin(choice->lately, e->least);
    if (!choice->close && e->thin < near && !choice->times++) choice->near = t;
    choice->close = e->thin < near || (choice->close && e->thin < 10 * near);
    if (!(e->thin < choice->thinnest)) return;
    choice->thinnest = e->thin;
    choice->time = t;
    choice->at = e->thin_at;
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    TRY(kinematics(work, t, x, model->nforce > 0));
    watch(&d->e, work->discrete, t);
    TRY(accelerations(work, t, inputs));
    lwi_tree_kinematics(model, d->tree.link, d->v, xdot);
    if (model->tree_nv)
        memcpy(xdot + model->tree_nq, d->vdot, (size_t)model->tree_nv * sizeof *xdot);
    lwi_carried_rates(model, &d->carried, d->tree.joint_q, d->tree.joint_qd, xdot);
    if (d->carried.at_work >= 0) xdot[d->carried.at_work] = power(work);
    return LW_OK;
}

// ------------------------------------------------------------------------------------- partition

// A new partition must have a smallest pivot so much better than the old one; where there is none,
// it is sought again when the old one has become so much worse.
#define BETTER 1.5
#define WORSE 0.5

// Another partition where the present one has come close to a singular position; the speeds of x
// are made consistent, so that the new independent ones are right to round-off.
static lw_status settle(lwi_work *work, double t, double *x, bool *changed)
{
    const lw_model *model = work->model;
    const size_t n = (size_t)model->tree_nv;
    lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = choice_of(work);
    const double lately = choice->lately;
    *changed = false;
    choice->lately = 2;
    if (!choice->made || !(lately < d->keep)) return LW_OK;
    place(work, t, x);
    TRY(lwi_rcr_factor(&d->e, t, &work->error));
    const double now = d->e.least;
    if (!(now < d->keep)) {
        choice->given_up = 0;
        return LW_OK;
    }
    // what was not found will not be found until things are much worse, or have been better
    if (choice->given_up > 0 && now > WORSE * choice->given_up) return LW_OK;
    complete_speeds(work, x + model->tree_nq);
    choice->given_up = now;
    if (lwi_rcr_choose(&d->e, d->theta, t, &work->error) != LW_OK || d->e.least < BETTER * now)
        return LW_OK;
    choice->given_up = 0;
    memcpy(choice->dependent, d->e.fresh, n);
    memcpy(x + model->tree_nq, d->v, n * sizeof *x);
    if (!choice->switches++) choice->entry = t;
    *changed = true;
    return LW_OK;
}

// "joint 'a'" of a node.
static void node_name(const lw_model *model, int k, char *text, size_t size)
{
    const int joint = model->node[k].joint;
    snprintf(text, size, "%s '%.120s'", joint < 0 ? "body" : "joint",
             joint < 0 ? model->body[model->node[k].body].name : model->joint[joint].name);
}

static void notice(const lwi_work *work, char *text, size_t size)
{
    const lwi_rcr_choice *choice = work->discrete;
    char where[160];
    int used = 0;
    text[0] = 0;
    if (choice->switches)
        used =
            snprintf(text, size,
                     "independent coordinates were changed, first at t = %.6g s (times in all: %d)",
                     choice->entry, choice->switches);
    if (!choice->times || used < 0 || (size_t)used >= size) return;
    node_name(work->model, choice->at, where, sizeof where);
    snprintf(text + used, size - (size_t)used,
             "%spassed close to a singular position at t = %.6g s (times in all: %d, closest at "
             "%.6g s): "
             "the constraints of the loops through %s almost depended on each other there (%.1e, "
             "%.1e at "
             "the start); what follows may be another branch of the motion",
             used ? "\n" : "", choice->near, choice->times, choice->time, where, choice->thinnest,
             choice->thin);
}

static lw_status enter(lwi_work *work, const lwi_moment *moment, double *x)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    double *v = x + model->tree_nq;
    lwi_tree_gather(model, moment->q, moment->qd, (const double(*)[3])moment->r,
                    (const double(*)[4])moment->quat, (const double(*)[3])moment->v,
                    (const double(*)[3])moment->w, x, v);
    if (model->nq) memcpy(d->tree.joint_q, moment->q, (size_t)model->nq * sizeof *x);
    lwi_carried_store(model, &d->carried, moment->q, x);
    if (d->carried.at_work >= 0) x[d->carried.at_work] = moment->work;
    place(work, moment->t, x);
    if (!work->goes_on) memset(work->discrete, 0, work->ndiscrete); // else the partition stays
    TRY(factor(work, moment->t));
    complete_speeds(work, v);
    move(work, moment->t, true);
    lwi_carried_store(model, &d->carried, d->tree.joint_q, x);
    if (model->tree_nv) memcpy(v, d->v, (size_t)model->tree_nv * sizeof *v);
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- observe

static void observe_cut_joints(lwi_rcr_work *d, double t, lw_observe level, lwi_moment *moment)
{
    const lw_model *model = d->cut.model;
    const lwi_motion motion = lwi_cut_motion(&d->tree);
    if (level >= LW_OBSERVE_ACCELERATION) lwi_cut_accelerations(&d->cut, &d->tree, NULL);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        memcpy(moment->q + joint->iq, d->tree.joint_q + joint->iq,
               (size_t)joint->type->nq * sizeof(double));
        if (level >= LW_OBSERVE_TWIST)
            memcpy(moment->qd + joint->iv, d->tree.joint_qd + joint->iv,
                   (size_t)joint->type->nv * sizeof(double));
        if (level >= LW_OBSERVE_ACCELERATION)
            lwi_joint_read_acceleration(model, model->loop[i], t, &motion,
                                        (const double(*)[3])d->cut.a, (const double(*)[3])d->cut.al,
                                        moment->qdd + joint->iv);
        if (level < LW_OBSERVE_REACTION) continue;
        lwi_joint_reaction(model, model->loop[i], &motion, &d->cut.closure[i],
                           d->lambda + d->cut.first[i], moment->reaction[model->loop[i]]);
        moment->unique[model->loop[i]] = 1;
    }
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_moment *moment)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    TRY(kinematics(work, t, x, true));
    if (level >= LW_OBSERVE_ACCELERATION) {
        TRY(accelerations(work, t, inputs));
        multipliers(d);
        if (!d->reactions) lwi_cut_wrenches(&d->cut, &d->tree, d->lambda, d->tree.wrench);
    }
    lwi_tree_observe(model, &d->tree, t, d->v, d->vdot, level, moment);
    observe_cut_joints(d, t, level, moment);
    if (level >= LW_OBSERVE_REACTION && d->reactions &&
        !lwi_rcr_reactions_observe(&d->e, d->reactions, &d->tree, t, moment))
        return lwi_fail(&work->error, LW_ERR_NOT_FINITE,
                        "reactions at t = %.9g s are not finite numbers", t);
    moment->work = d->carried.at_work >= 0 ? x[d->carried.at_work] : 0;
    return LW_OK;
}

// Everything is in metres, radians and seconds but the work.
static lw_status scale(lwi_work *work, double t, const double *x, double *factor)
{
    lwi_rcr_work *d = work->data;
    for (int i = 0; i < work->layout.nx; i++) factor[i] = 1;
    if (d->carried.at_work < 0) return LW_OK;
    TRY(kinematics(work, t, x, true));
    factor[d->carried.at_work] = lwi_tree_energy_scale(work->model, &d->tree);
    return LW_OK;
}

const lwi_formulation lwi_formulation_rcr = {
    .name = "rcr",
    .summary =
        "recursive coordinate reduction: loops in relative coordinates, O(n + m); trees, loops, "
        "couplings, redundant constraints",
    .cite = "anderson2003",
    .can = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_MASSLESS,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .settle = settle,
    .observe = observe,
    .scale = scale,
    .notice = notice,
};
