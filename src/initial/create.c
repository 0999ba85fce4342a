// create.c -- a model from a builder, or from another model: starts that do not close.
//
// Positions that are open are an error: which way a mechanism should be put together is the user's
// to say, by lw_model_assemble.  Speeds that are open are one only where all are given: else those
// that are not given follow from those that are.
#include "base/assert.h"
#include "initial/assemble.h"
#include "initial/parallel_axes.h"
#include "initial/restart.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <linkwork/assemble.h>

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------ what is
// given

// Speeds of a joint are given by its own `qd`, or by the velocity of the body that it carries.
static bool speeds_given(const lw_model *model, int j)
{
    const int node = model->joint[j].node;
    return model->desc.joint[j].has_qd ||
           (node >= 0 && model->desc.body[model->node[node].body].has_velocity);
}

static bool has_speeds(const lwi_joint *joint)
{
    return !joint->merged && joint->type->nv > joint->ndriven;
}

// base [nnode]: the node that no joint holds and that carries the node; -1: the ground.
static void find_bases(const lw_model *model, int *base)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        base[k] = node->joint < 0 ? k : node->parent < 0 ? -1 : base[node->parent];
    }
}

// tied [nnode]: bases that closures tie to the ground or to another base, as bars of given lengths do
// with a body that nothing else holds.
static void mark_bases(const lw_model *model, int *base, bool *tied)
{
    find_bases(model, base);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const int end[2] = {model->body_node[joint->body1], model->body_node[joint->body2]};
        const int one = end[0] < 0 ? -1 : base[end[0]], two = end[1] < 0 ? -1 : base[end[1]];
        if (one == two || lwi_joint_is_free(joint->type)) continue;
        if (one >= 0) tied[one] = true;
        if (two >= 0) tied[two] = true;
    }
}

static bool base_follows(const lw_model *model, const bool *tied, int node)
{
    return tied[node] && !model->desc.body[model->node[node].body].has_velocity;
}

// Speeds and velocities to keep: those given; rest where none are and nothing ties the joint, or the
// base, to others.
static int list_speeds(const lw_model *model, const bool *in_loop, const bool *tied, lwi_hold *hold)
{
    int n = 0;
    for (int j = 0; j < model->njoint; j++) {
        const lw_joint_desc *desc = &model->desc.joint[j];
        const lwi_joint *joint = &model->joint[j];
        if (joint->merged || joint->type->nv == 0) continue;
        if (!desc->has_qd && (in_loop[j] || speeds_given(model, j))) continue;
        lwi_hold *h = &hold[n++];
        *h = (lwi_hold){.joint = j};
        for (int k = 0; k < joint->type->nv; k++) {
            double f[3] = {0};
            if (joint->motion[k].index > 0)
                lwi_function_eval(model->function, joint->motion[k], 0, f);
            h->value[k] = desc->has_qd ? desc->qd[k] : f[1];
        }
    }
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const lw_body_desc *desc = &model->desc.body[node->body];
        if (node->joint >= 0 ? !desc->has_velocity : base_follows(model, tied, k)) continue;
        lwi_hold *h = &hold[n++];
        *h = (lwi_hold){.joint = -1, .body = node->body};
        v3_set(h->value, desc->velocity.x, desc->velocity.y, desc->velocity.z);
        v3_set(h->value + 3, desc->angular_velocity.x, desc->angular_velocity.y,
               desc->angular_velocity.z); // body axes, until the poses are known
    }
    return n;
}

static void turn_to_world(lwi_assembler *a, int nhold)
{
    for (int i = 0; i < nhold; i++)
        if (a->hold[i].body > 0)
            m3_mul_v(a->hold[i].value + 3, a->R[a->hold[i].body], a->hold[i].value + 3);
}

// -------------------------------------------------------------------------------------------
// create

static const lw_allocator *allocator_of(const lw_builder *builder)
{
    return builder->allocator.allocate ? &builder->allocator : NULL;
}

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
}

lw_status lw_model_create_open(const lw_builder *builder, lw_model **model, lw_error *error)
{
    if (!builder || !model) return lwi_fail(error, LW_ERR_ARGUMENT, "builder or model is NULL");
    lwi_unclosed unclosed;
    lw_model *m;
    TRY(lwi_compile_parallel(&builder->desc, allocator_of(builder), &unclosed, &m, error));
    const lw_error *why = unclosed.position.status ? &unclosed.position : &unclosed.velocity;
    if (why->status != LW_OK) {
        m->open = lwi_arena_text(&m->arena, why->text);
        if (!m->open) {
            lw_model_destroy(m);
            return no_memory(error);
        }
    }
    *model = m;
    return LW_OK;
}

// The motion at the model's start.
static void start_of(lwi_assembler *a)
{
    const lw_model *model = a->model;
    for (int b = 1; b < model->nbody; b++) {
        quat_matrix(a->R[b], model->body[b].quat0);
        v3_copy(a->r[b], model->body[b].r0);
    }
    if (model->nq) memcpy(a->q, model->q0, (size_t)model->nq * sizeof *a->q);
}

// The same tree again: speeds that follow do not count as given where loops are cut.
static void keep_tree(const lw_model *open, lwi_description *desc)
{
    for (int j = 0; j < open->njoint; j++)
        if (!open->joint[j].merged)
            desc->joint[j].cut = open->joint[j].node >= 0 ? LW_CUT_NEVER : LW_CUT_ALWAYS;
}

// What is written again is what was given.
static void restore_given(const lwi_description *given, lwi_description *desc)
{
    for (int b = 0; b < desc->nbody; b++) {
        desc->body[b].has_velocity = given->body[b].has_velocity;
        desc->body[b].velocity = given->body[b].velocity;
        desc->body[b].angular_velocity = given->body[b].angular_velocity;
    }
    for (int j = 0; j < desc->njoint; j++) {
        desc->joint[j].has_qd = given->joint[j].has_qd;
        desc->joint[j].cut = given->joint[j].cut;
        memcpy(desc->joint[j].qd, given->joint[j].qd, sizeof desc->joint[j].qd);
    }
}

// Compliance with which speeds are found where the default leaves residuals: loops 1e-6 rad from a singular position have
// directions with a squared sine of 1e-12, and what rounding leaves of redundant rows is still smaller.
#define NEAR_SINGULAR_COMPLIANCE 1e-13
#define SAME_RESIDUAL 0.01

// Whether the speeds of the assembler keep the loops closed, and those that are held, of which *off is the largest residual.
static bool are_found(lwi_assembler *a, int nhold, double *off)
{
    double speed = 1;
    *off = 0;
    for (int i = 0; i < a->model->nv; i++) speed = fmax(speed, fabs(a->qd[i]));
    const double left = lwi_assembler_residual(a, true, NULL);
    for (int i = 0; i < nhold; i++) *off = fmax(*off, lwi_assembler_hold_residual(a, i, true));
    return left <= LWI_CLOSURE_TOLERANCE * speed && *off <= LWI_CLOSURE_TOLERANCE * speed;
}

// The model's start with speeds that were not given found from those that were.  *made stays NULL
// where these contradict each other, or where the start is so near a singular position that no others follow: *near.
static lw_status follow_speeds(const lw_model *open, const bool *in_loop, const bool *tied,
                               lwi_hold *hold, lwi_arena *arena, lw_model **made, bool *near,
                               lw_error *error)
{
    double first, second;
    const int nhold = list_speeds(open, in_loop, tied, hold);
    lwi_assembler a;
    lwi_description desc;
    lwi_unclosed unclosed;
    TRY(lwi_assembler_create(open, nhold, hold, NULL, arena, &a));
    start_of(&a);
    turn_to_world(&a, nhold);
    lwi_assembler_speeds(&a);
    if (!are_found(&a, nhold, &first)) {
        a.compliance = NEAR_SINGULAR_COMPLIANCE;
        lwi_assembler_speeds(&a);
        if (!are_found(&a, nhold, &second)) {
            // speeds that contradict each other give way by the same with any compliance
            *near = !open->driven && fabs(first - second) > SAME_RESIDUAL * fmax(first, second);
            return LW_OK;
        }
    }
    TRY(lwi_describe_motion(open, &a.motion, a.qd, false, arena, &desc));
    keep_tree(open, &desc);
    TRY(lwi_model_compile(&desc, &open->arena.allocator, &unclosed, made, error));
    if (unclosed.position.status == LW_OK && unclosed.velocity.status == LW_OK) {
        restore_given(&open->desc, &(*made)->desc);
        return LW_OK;
    }
    lw_model_destroy(*made);
    *made = NULL;
    return LW_OK;
}

// *made: a model with consistent speeds, in place of one with consistent positions only;
// NULL where there is none.
static lw_status complete(const lw_model *open, lw_model **made, bool *near, lw_error *error)
{
    lwi_arena arena;
    lwi_arena_init(&arena, &open->arena.allocator);
    bool *in_loop = LWI_PUSH(&arena, bool, open->njoint);
    bool *tied = LWI_PUSH(&arena, bool, open->nnode);
    int *nodes = LWI_PUSH(&arena, int, open->nnode);
    lwi_hold *hold = LWI_PUSH(&arena, lwi_hold, open->njoint + open->nnode);
    lw_status status = in_loop && tied && nodes && hold ? LW_OK : LW_ERR_MEMORY;
    int followers = 0, bases = 0;
    if (status == LW_OK) {
        lwi_mark_loops(open, nodes, in_loop);
        mark_bases(open, nodes, tied);
        for (int j = 0; j < open->njoint; j++)
            followers += in_loop[j] && has_speeds(&open->joint[j]) && !speeds_given(open, j);
        for (int k = 0; k < open->nnode; k++) bases += base_follows(open, tied, k);
        if (followers || bases)
            status = follow_speeds(open, in_loop, tied, hold, &arena, made, near, error);
    }
    if (*made) (*made)->nfollowed = followers;
    lwi_arena_free(&arena);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}

static void add_reason(lw_error *error)
{
    const size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used,
             "; the start is so near a singular position that the speeds of other joints do not "
             "follow from these: give the speeds of all joints, or start farther away");
}

lw_status lw_model_create(const lw_builder *builder, lw_model **model, lw_error *error)
{
    if (!builder || !model) return lwi_fail(error, LW_ERR_ARGUMENT, "builder or model is NULL");
    lwi_unclosed unclosed;
    lw_model *m, *made = NULL;
    TRY(lwi_compile_parallel(&builder->desc, allocator_of(builder), &unclosed, &m, error));
    const lw_error *why = unclosed.position.status ? &unclosed.position : &unclosed.velocity;
    if (why->status == LW_OK) {
        *model = m;
        return LW_OK;
    }
    bool near = false;
    const lw_status status = why == &unclosed.velocity ? complete(m, &made, &near, error) : LW_OK;
    lw_model_destroy(m);
    if (status != LW_OK) return status;
    if (!made) {
        if (error) *error = *why;
        if (error && near) add_reason(error);
        return why->status;
    }
    *model = made;
    return LW_OK;
}

// -----------------------------------------------------------------------------------------
// assemble

// Coordinates near which to assemble: as given by the model, which they replace.
static lw_status list_near(const lw_model *model, const lw_joint_q *near, lwi_hold *hold, int *n,
                           lw_error *error)
{
    lw_joint j;
    if (!near->joint || lw_model_find_joint(model, near->joint, &j) != LW_OK)
        return lwi_fail(error, LW_ERR_ARGUMENT, "near: there is no joint '%s'",
                        near->joint ? near->joint : "");
    const lwi_joint_type *type = model->joint[j.index].type;
    if (model->joint[j.index].merged || type->nq == 0)
        return lwi_fail(error, LW_ERR_ARGUMENT, "near: joint '%s' (%s) has no coordinates",
                        near->joint, type->name);
    if (near->nq && near->nq != type->nq)
        return lwi_fail(error, LW_ERR_ARGUMENT, "near: joint '%s' (%s) has %d coordinate%s, not %d",
                        near->joint, type->name, type->nq, type->nq == 1 ? "" : "s", near->nq);
    for (int k = 0; k < type->nq; k++)
        if (!isfinite(near->q[k]))
            return lwi_fail(error, LW_ERR_ARGUMENT, "near: q%d of joint '%s' is not finite", k,
                            near->joint);
    int i = 0;
    while (i < *n && hold[i].joint != j.index) i++;
    hold[i] = (lwi_hold){.joint = j.index};
    memcpy(hold[i].value, near->q, (size_t)type->nq * sizeof *near->q);
    if (type->quaternion >= 0) {
        double *quat = hold[i].value + type->quaternion;
        if (!(quat_norm2(quat) > 0))
            return lwi_fail(error, LW_ERR_ARGUMENT, "near: the quaternion of joint '%s' is zero",
                            near->joint);
        quat_normalize(quat, quat);
    }
    if (i == *n) ++*n;
    return LW_OK;
}

// Coordinates that are given and what is named; values of the latter are filled in at the poses
// found.
static lw_status list_places(const lw_model *model, const lw_assemble_desc *desc, lwi_hold *hold,
                             int *ngiven, int *nhold, lw_error *error)
{
    int n = 0;
    for (int j = 0; j < model->njoint; j++) {
        const lw_joint_desc *d = &model->desc.joint[j];
        if (model->joint[j].merged || !d->has_q) continue;
        hold[n] = (lwi_hold){.joint = j};
        memcpy(hold[n++].value, d->q, sizeof d->q);
    }
    for (int i = 0; desc && i < desc->nnear; i++)
        TRY(list_near(model, &desc->near[i], hold, &n, error));
    *ngiven = n;
    for (int i = 0; desc && i < desc->nhold; i++) {
        lw_body body;
        lw_joint joint;
        if (lw_model_find_joint(model, desc->hold[i], &joint) == LW_OK)
            hold[n++] = (lwi_hold){.joint = joint.index};
        else if (lw_model_find_body(model, desc->hold[i], &body) == LW_OK && body.index > 0)
            hold[n++] = (lwi_hold){.joint = -1, .body = model->body[body.index].carrier};
        else
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "hold: there is no body and no joint '%s' that could move",
                            desc->hold[i]);
        if (hold[n - 1].joint >= 0 && model->joint[hold[n - 1].joint].merged) n--;
    }
    *nhold = n;
    return LW_OK;
}

static void hold_at_current_values(lwi_assembler *a, int first, int n)
{
    for (int i = first; i < n; i++) {
        lwi_hold *h = &a->hold[i];
        if (h->body > 0) {
            v3_copy(h->value, a->r[h->body]);
            quat_from_matrix(h->value + 3, a->R[h->body]);
        } else {
            const lwi_joint *joint = &a->model->joint[h->joint];
            memcpy(h->value, a->q + joint->iq, (size_t)joint->type->nq * sizeof *h->value);
        }
    }
}

// The unit of a row of an edge.
static const char *row_unit(const lwi_assembler *a, const lwi_assembler_edge *edge, int row)
{
    const int j = edge->joint >= 0 ? edge->joint : a->model->coupling[edge->coupling].joint;
    const lwi_joint_type *type = a->model->joint[j].type;
    if (edge->joint < 0) return type->angles & 1 ? "rad" : "m";
    if (row >= type->nc || type->row[row].kind == LWI_ROW_CALLBACK) return "m or rad";
    return type->row[row].kind == LWI_ROW_AXES || type->row[row].kind == LWI_ROW_ATTITUDE ? "rad"
                                                                                          : "m";
}

// The row of an edge with the largest residual.
static int largest_row(const lwi_assembler *a, int e)
{
    const double *residual = a->residual + a->plan.row[e];
    int largest = 0;
    for (int r = 1; r < a->plan.row[e + 1] - a->plan.row[e]; r++)
        if (fabs(residual[r]) > fabs(residual[largest])) largest = r;
    return largest;
}

// "joint 'a' by 0.12 m, joint 'b' by 0.05 rad": the largest gap first, those of a tenth of it and more.
static void list_open(const lwi_assembler *a, bool velocity, double worst, char *text, size_t size)
{
    enum { MOST = 4 };
    double last = INFINITY;
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < MOST && used < size; i++) {
        double largest = 0.1 * worst;
        int best = -1;
        for (int e = 0; e < a->first_hold; e++) {
            const double here = lwi_assembler_edge_residual(a, e);
            if (here >= largest && here < last) largest = here, best = e;
        }
        if (best < 0) return;
        last = largest;
        const lwi_assembler_edge *edge = &a->edge[best];
        const int j = edge->joint >= 0 ? edge->joint : a->model->coupling[edge->coupling].joint;
        const int n =
            snprintf(text + used, size - used, "%s%s '%.80s' by %.3g %s%s", used ? ", " : "",
                     edge->joint >= 0 ? "joint" : "coupling of joint", a->model->joint[j].name,
                     largest, row_unit(a, edge, largest_row(a, best)), velocity ? "/s" : "");
        used += n > 0 ? (size_t)n : 0;
    }
}

static lw_status no_velocities(const lwi_assembler *a, double worst, lw_error *error)
{
    char list[360];
    list_open(a, true, worst, list, sizeof list);
    return lwi_fail(error, LW_ERR_MODEL,
                    "the mechanism has no velocities that its joints allow; open are: %s", list);
}

// How far each body has come from where it is drawn.
static void measure_way(const lwi_assembler *a, lw_assembly *report)
{
    const lw_model *model = a->model;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        const lw_pose *pose = &model->desc.body[b].pose;
        const double quat[4] = {pose->orientation.w, pose->orientation.x, pose->orientation.y,
                                pose->orientation.z};
        double R[9], E[9], r[3];
        quat_matrix(R, quat);
        m3_mul_v(r, R, model->body[b].com);
        v3_set(r, a->r[b][0] - r[0] - pose->position.x, a->r[b][1] - r[1] - pose->position.y,
               a->r[b][2] - r[2] - pose->position.z);
        m3_tmul(E, R, a->R[b]);
        const double sine[3] = {E[7] - E[5], E[2] - E[6], E[3] - E[1]};
        const double angle = atan2(v3_norm(sine), E[0] + E[4] + E[8] - 1);
        if (v3_norm(r) > report->moved) report->moved = v3_norm(r), report->moved_body.index = b;
        if (angle > report->rotated) report->rotated = angle, report->rotated_body.index = b;
    }
}

// The largest change of what was given by joints: the first n holds.
static double largest_change(lwi_assembler *a, int n, bool velocity, lw_joint *joint)
{
    double largest = 0;
    joint->index = -1;
    for (int i = 0; i < n; i++) {
        if (a->hold[i].body > 0 || (velocity && !a->model->desc.joint[a->hold[i].joint].has_qd))
            continue;
        const double here = lwi_assembler_hold_residual(a, i, velocity);
        if (here > largest) largest = here, joint->index = a->hold[i].joint;
    }
    return largest;
}

// Poses at which a start ended.
typedef struct start {
    int open;          ///< joints and couplings that do not hold
    double worst, gap; ///< largest residual; root of the sum of squares
    double (*R)[9], (*r)[3], *q;
} start;

static lw_status create_start(const lw_model *model, lwi_arena *arena, start *s)
{
    *s = (start){.R = lwi_arena_push(arena, (size_t)model->nbody, sizeof *s->R),
                 .r = lwi_arena_push(arena, (size_t)model->nbody, sizeof *s->r),
                 .q = LWI_PUSH(arena, double, model->nq)};
    return s->R && s->r && s->q ? LW_OK : LW_ERR_MEMORY;
}

static void keep(start *s, const lwi_assembler *a)
{
    memcpy(s->R, a->R, (size_t)a->model->nbody * sizeof *s->R);
    memcpy(s->r, a->r, (size_t)a->model->nbody * sizeof *s->r);
    if (a->model->nq) memcpy(s->q, a->q, (size_t)a->model->nq * sizeof *s->q);
}

static void go_back(lwi_assembler *a, const start *s)
{
    memcpy(a->R, s->R, (size_t)a->model->nbody * sizeof *s->R);
    memcpy(a->r, s->r, (size_t)a->model->nbody * sizeof *s->r);
    if (a->model->nq) memcpy(a->q, s->q, (size_t)a->model->nq * sizeof *s->q);
}

// Gaps that differ by less than this share are the same minimum.
#define SAME_GAP 1e-2

// Starts until one closes, each from the best before: fewer joints are open, or the same number by less.
static lw_status close_by_starts(lwi_assembler *a, double tolerance, int max_starts,
                                 lwi_arena *arena, lw_assembly *report, int *same)
{
    start best;
    double smallest = INFINITY; // gap after damped steps: those of the first start are others
    *same = 0;
    report->iterations = lwi_assembler_close(a);
    report->after[0] = lwi_assembler_residual(a, false, NULL);
    report->starts = 1;
    if (report->after[0] <= tolerance || max_starts == 1) return LW_OK;
    TRY(create_start(a->model, arena, &best));
    best.open = lwi_assembler_open(a, tolerance), best.worst = report->after[0];
    best.gap = lwi_assembler_gap(a);
    keep(&best, a);
    while (best.worst > tolerance && report->starts < max_starts) {
        lwi_assembler_restart(a, tolerance, report->starts++);
        report->iterations += lwi_assembler_descend(a);
        const double worst = lwi_assembler_residual(a, false, NULL), gap = lwi_assembler_gap(a);
        const int open = lwi_assembler_open(a, tolerance);
        if (gap < (1 - SAME_GAP) * smallest) smallest = gap, *same = 0;
        if (gap <= (1 + SAME_GAP) * smallest) ++*same;
        if (open < best.open || (open == best.open && gap < best.gap)) {
            best.open = open, best.worst = worst, best.gap = gap;
            keep(&best, a);
        } else {
            go_back(a, &best);
        }
    }
    if (best.worst <= tolerance) lwi_assembler_unwind(a);
    report->after[0] = lwi_assembler_residual(a, false, NULL);
    return LW_OK;
}

// Gaps are reported where the joints of the tree hold: those of loops, as where a user opens them.
// Minima of least squares are many where loops close elsewhere; one for all starts is that of a contradiction.
static lw_status stays_open(lwi_assembler *a, int starts, int same, lw_error *error)
{
    char list[360], reason[160] = "";
    if (same > 2 && 2 * same > starts)
        snprintf(reason, sizeof reason,
                 "%d of %d starts end with the same gap, so lengths or joint types of these loops "
                 "contradict one another",
                 same, starts);
    else
        snprintf(reason, sizeof reason, "%d start%s tried", starts,
                 starts == 1 ? " was" : "s were");
    for (int k = 0; k < a->model->nnode; k++) {
        const int j = a->model->node[k].joint;
        if (j >= 0) lwi_assembler_place_by(a, k, a->q + a->model->joint[j].iq);
    }
    const double worst = lwi_assembler_residual(a, false, NULL);
    list_open(a, false, worst, list, sizeof list);
    return lwi_fail(error, LW_ERR_MODEL, "the mechanism cannot be put together, %s; open are: %s",
                    reason, list);
}

// Positions, in `a`.
static lw_status close_positions(lwi_assembler *a, const lwi_hold *hold, int ngiven, int nhold,
                                 int starts, lwi_arena *arena, lw_assembly *report, lw_error *error)
{
    enum { STARTS = 40 };
    TRY(lwi_assembler_create(a->model, nhold, hold, NULL, arena, a));
    a->ngiven = ngiven;
    lwi_assembler_place(a);
    hold_at_current_values(a, ngiven, nhold);
    report->before[0] = lwi_assembler_residual(a, false, NULL);
    const double tolerance = LWI_CLOSURE_TOLERANCE * (1 + a->length);
    int same;
    TRY(close_by_starts(a, tolerance, starts > 0 ? starts : STARTS, arena, report, &same));
    measure_way(a, report);
    report->changed = largest_change(a, ngiven, false, &report->changed_joint);
    return report->after[0] <= tolerance ? LW_OK : stays_open(a, report->starts, same, error);
}

// Velocities, in `a`, at the poses of `closed`.
static lw_status close_velocities(lwi_assembler *a, const lwi_assembler *closed,
                                  const bool *in_loop, lwi_hold *hold, lwi_arena *arena,
                                  lw_assembly *report, lw_error *error)
{
    const lw_model *model = closed->model;
    const size_t nbody = (size_t)model->nbody;
    bool *tied = LWI_PUSH(arena, bool, model->nnode);
    int *base = LWI_PUSH(arena, int, model->nnode);
    if (!tied || !base) return LW_ERR_MEMORY;
    mark_bases(model, base, tied);
    const int nhold = list_speeds(model, in_loop, tied, hold);
    TRY(lwi_assembler_create(model, nhold, hold, NULL, arena, a));
    memcpy(a->R, closed->R, nbody * sizeof *a->R);
    memcpy(a->r, closed->r, nbody * sizeof *a->r);
    if (model->nq) memcpy(a->q, closed->q, (size_t)model->nq * sizeof *a->q);
    turn_to_world(a, nhold);
    for (int b = 1; b < model->nbody; b++) { // as in the model, in its axes
        v3_copy(a->v[b], model->body[b].v0);
        m3_mul_v(a->w[b], a->R[b], model->body[b].w0);
    }
    report->before[1] = lwi_assembler_residual(a, true, NULL);
    lwi_assembler_speeds(a);
    report->after[1] = lwi_assembler_residual(a, true, NULL);
    report->changed_speed = largest_change(a, nhold, true, &report->changed_speed_joint);
    double speed = 1;
    for (int i = 0; i < model->nv; i++) speed = fmax(speed, fabs(a->qd[i]));
    if (report->after[1] <= LWI_CLOSURE_TOLERANCE * speed) return LW_OK;
    lwi_assembler_residual(a, true, NULL);
    return no_velocities(a, report->after[1], error);
}

static lw_status assemble(const lw_model *model, const lw_assemble_desc *desc, lwi_arena *arena,
                          lw_model **made, lw_assembly *report, lw_error *error)
{
    const int wanted = desc ? desc->nhold : 0;
    lwi_assembler places = {.model = model}, speeds;
    lwi_description result;
    lwi_unclosed unclosed;
    int ngiven = 0, nhold = 0;
    bool *in_loop = LWI_PUSH(arena, bool, model->njoint);
    int *nodes = LWI_PUSH(arena, int, model->nnode);
    lwi_hold *hold = LWI_PUSH(arena, lwi_hold, model->njoint + model->nnode + wanted);
    if (!in_loop || !nodes || !hold) return LW_ERR_MEMORY;
    lwi_mark_loops(model, nodes, in_loop);
    TRY(list_places(model, desc, hold, &ngiven, &nhold, error));
    TRY(close_positions(&places, hold, ngiven, nhold, desc ? desc->starts : 0, arena, report,
                        error));
    TRY(close_velocities(&speeds, &places, in_loop, hold, arena, report, error));
    TRY(lwi_describe_motion(model, &speeds.motion, speeds.qd, true, arena, &result));
    TRY(lwi_compile_parallel(&result, &model->arena.allocator, &unclosed, made, error));
    const lw_error *why = unclosed.position.status ? &unclosed.position : &unclosed.velocity;
    if (why->status == LW_OK) return LW_OK;
    if (error) *error = *why;
    lw_model_destroy(*made);
    *made = NULL;
    return why->status;
}

lw_status lw_model_assemble(const lw_model *model, const lw_assemble_desc *desc,
                            lw_model **assembled, lw_assembly *report, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_assemble_desc, desc, error);
    if (!model || !assembled)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_model_assemble: a model and a result are needed");
    lw_model *made = NULL;
    lw_assembly own;
    lwi_arena arena;
    if (!report) report = &own;
    *report = (lw_assembly){.changed_joint = {-1}, .changed_speed_joint = {-1}};
    lwi_arena_init(&arena, &model->arena.allocator);
    const lw_status status = assemble(model, desc, &arena, &made, report, error);
    lwi_arena_free(&arena);
    if (status == LW_ERR_MEMORY) return no_memory(error);
    if (status != LW_OK) return status;
    LWI_INVARIANT(made && !made->open, error);
    LWI_INVARIANT(made->nbody == model->nbody && made->njoint == model->njoint, error);
    LWI_INVARIANT(report->changed_joint.index < model->njoint, error);
    LWI_INVARIANT(report->changed_speed_joint.index < model->njoint, error);
    *assembled = made;
    return LW_OK;
}
