// shares.c -- the forces of a model, shared by the threads of a pool (shares.h).
#include "model/forces/shares.h"

#include "base/assert.h"
#include "spatial/motion.h"

#include <string.h>

// Fewer forces take less time than it takes to wake a thread.
enum { WORTH = 512 };
// Threads gain too little if more than this share of the forces acts on bodies of two threads.
#define TWICE 0.25

// ------------------------------------------------------------------------------------------ create

// Joint of each speed.
static void find_joints(const lw_model *model, int *joint_of)
{
    for (int j = 0; j < model->njoint; j++)
        for (int k = 0; k < model->joint[j].type->nv; k++) joint_of[model->joint[j].iv + k] = j;
}

static int node_of(const lw_model *model, int body)
{
    const int carrier = model->body[body].carrier;
    return carrier ? model->body_node[carrier] : -1;
}

// Nodes that a force acts on, -1: none; of forces on a joint the first is that of one of its bodies.  False: unknown.
static bool find_nodes(const lw_model *model, const lwi_force *force, const int *joint_of,
                       int node[2])
{
    const lwi_force_place place = lwi_force_acts_on(force);
    node[0] = node[1] = -1;
    if (place.iv >= 0) {
        const lwi_joint *joint = &model->joint[joint_of[place.iv]];
        node[0] = node_of(model, joint->body2);
        if (node[0] < 0) node[0] = node_of(model, joint->body1);
        return true;
    }
    for (int k = 0; k < place.n; k++) node[k] = node_of(model, place.body[k]);
    return place.n > 0;
}

// Part of each body: the nodes in their order, with about equal numbers of forces.  work: [nnode] of each node
static void divide(lwi_force_shares *s, const double *work)
{
    const lw_model *model = s->model;
    double all = 0, done = 0;
    for (int k = 0; k < model->nnode; k++) all += work[k];
    for (int b = 0; b < model->nbody; b++) s->part[b] = -1;
    for (int k = 0; k < model->nnode; k++) {
        const int part = (int)((done + 0.5 * work[k]) / all * s->parts);
        s->part[model->node[k].body] = part < s->parts ? part : s->parts - 1;
        done += work[k];
    }
    for (int b = 0; b < model->nbody; b++) s->part[b] = s->part[model->body[b].carrier];
}

// Parts that an item with these nodes belongs to; returns their number, 1 or 2.
static int parts_of(const lwi_force_shares *s, const int node[2], int part[2])
{
    int n = 0;
    for (int k = 0; k < 2; k++) {
        if (node[k] < 0) continue;
        const int p = s->part[s->model->node[node[k]].body];
        if (n == 0 || part[0] != p) part[n++] = p;
    }
    if (n == 0) part[n++] = 0;
    return n;
}

// The items of each part, in ascending order, from their parts [n][2], the second -1: none.
static lw_status list(int parts, int n, const int (*of)[2], lwi_arena *arena, int **first,
                      int **item, bool **counts)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += (of[i][0] >= 0) + (of[i][1] >= 0);
    *first = LWI_PUSH(arena, int, parts + 1);
    *item = LWI_PUSH(arena, int, all);
    if (counts) *counts = LWI_PUSH(arena, bool, all);
    if (!*first || !*item || (counts && !*counts)) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            if (of[i][k] >= 0) (*first)[of[i][k] + 1]++;
    for (int p = 0; p < parts; p++) (*first)[p + 1] += (*first)[p];
    for (int i = n - 1; i >= 0; i--) // from the ends: first[p + 1] becomes the beginning of p
        for (int k = 0; k < 2; k++) {
            if (of[i][k] < 0) continue;
            const int at = --(*first)[of[i][k] + 1];
            (*item)[at] = i;
            if (counts) (*counts)[at] = k == 0;
        }
    for (int p = 0; p < parts; p++) (*first)[p] = (*first)[p + 1];
    (*first)[parts] = all;
    return LW_OK;
}

static lw_status list_joints(lwi_force_shares *s, lwi_arena *scratch, lwi_arena *arena)
{
    const lw_model *model = s->model;
    int(*of)[2] = lwi_arena_push(scratch, (size_t)model->njoint, sizeof *of);
    if (!of) return LW_ERR_MEMORY;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const int node[2] = {node_of(model, joint->body1), node_of(model, joint->body2)};
        of[j][0] = of[j][1] = -1;
        if (!joint->merged && joint->type->nv > 0) parts_of(s, node, of[j]);
    }
    return list(s->parts, model->njoint, (const int(*)[2])of, arena, &s->first_joint, &s->joint,
                NULL);
}

static lw_status list_bodies(lwi_force_shares *s, lwi_arena *scratch, lwi_arena *arena)
{
    const int n = s->model->nbody;
    int(*of)[2] = lwi_arena_push(scratch, (size_t)n, sizeof *of);
    if (!of) return LW_ERR_MEMORY;
    for (int b = 0; b < n; b++) of[b][0] = s->part[b], of[b][1] = -1;
    return list(s->parts, n, (const int(*)[2])of, arena, &s->first_body, &s->body, NULL);
}

// *worth: whether threads pay.
static lw_status fill(lwi_force_shares *s, lwi_arena *scratch, lwi_arena *arena, bool *worth)
{
    const lw_model *model = s->model;
    int *joint_of = LWI_PUSH(scratch, int, model->nv), twice = 0;
    int(*node)[2] = lwi_arena_push(scratch, (size_t)model->nforce, sizeof *node);
    double *work = LWI_PUSH(scratch, double, model->nnode);
    s->part = LWI_PUSH(arena, int, model->nbody);
    s->power = LWI_PUSH(arena, double, model->nforce);
    if (!joint_of || !node || !work || !s->part || !s->power) return LW_ERR_MEMORY;
    find_joints(model, joint_of);
    for (int k = 0; k < model->nnode; k++) work[k] = 0.1; // loads of bodies are cleared, too
    for (int i = 0; i < model->nforce; i++) {
        if (!find_nodes(model, &model->force[i], joint_of, node[i])) return LW_OK;
        for (int k = 0; k < 2; k++)
            if (node[i][k] >= 0) work[node[i][k]] += node[i][0] < 0 || node[i][1] < 0 ? 1 : 0.5;
    }
    divide(s, work);
    for (int i = 0; i < model->nforce; i++) {
        int part[2] = {-1, -1};
        twice += parts_of(s, node[i], part) > 1;
        node[i][0] = part[0], node[i][1] = part[1];
    }
    if (twice > TWICE * model->nforce) return LW_OK;
    *worth = true;
    TRY(list(s->parts, model->nforce, (const int(*)[2])node, arena, &s->first_force, &s->force,
             &s->counts));
    TRY(list_joints(s, scratch, arena));
    return list_bodies(s, scratch, arena);
}

lw_status lwi_force_shares_create(const lw_model *model, lwi_pool *pool, lwi_arena *arena,
                                  lwi_force_shares **out)
{
    *out = NULL;
    if (!pool || lwi_pool_count(pool) < 2 || model->nforce < WORTH) return LW_OK;
    lwi_force_shares *s = LWI_PUSH(arena, lwi_force_shares, 1);
    if (!s) return LW_ERR_MEMORY;
    *s = (lwi_force_shares){.model = model, .pool = pool, .parts = lwi_pool_count(pool)};
    bool worth = false;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = fill(s, &scratch, arena, &worth);
    lwi_arena_free(&scratch);
    if (status == LW_OK && worth) *out = s;
    return status;
}

// ------------------------------------------------------------------------------------------- apply

typedef struct run {
    void (*task)(void *user, int part);
    void *user;
} run;

static void run_parts(void *user, int first, int end)
{
    const run *r = user;
    for (int p = first; p < end; p++) r->task(r->user, p);
}

void lwi_force_shares_run(const lwi_force_shares *s, void (*task)(void *user, int part), void *user)
{
    run r = {.task = task, .user = user};
    lwi_pool_for(s->pool, s->parts, run_parts, &r);
}

typedef struct job {
    const lwi_force_shares *shares;
    const lwi_kin *kin;
    double t;
    const double *inputs;
    lwi_loads *loads;
} job;

static void apply_part(void *user, int part)
{
    const job *of = user;
    const lwi_force_shares *s = of->shares;
    const lw_model *model = s->model;
    lwi_loads own = *of->loads;
    own.part = s->part, own.own = part;
    for (int i = s->first_body[part]; i < s->first_body[part + 1]; i++)
        v6_zero(own.wrench[s->body[i]]);
    for (int i = s->first_force[part]; i < s->first_force[part + 1]; i++) {
        const lwi_force *force = &model->force[s->force[i]];
        own.power = 0;
        force->type->apply(model, force->par, of->kin, of->t, of->inputs, &own);
        if (s->counts[i]) s->power[s->force[i]] = own.power;
    }
    for (int i = s->first_body[part]; i < s->first_body[part + 1]; i++)
        lwi_load_to_carrier(model, s->body[i], of->kin, &own);
}

void lwi_force_shares_apply(const lwi_force_shares *s, const lwi_kin *kin, double t,
                            const double *inputs, lwi_loads *loads)
{
    job of = {.shares = s, .kin = kin, .t = t, .inputs = inputs, .loads = loads};
    const lw_model *model = s->model;
    if (model->nv > 0) memset(loads->effort, 0, (size_t)model->nv * sizeof *loads->effort);
    lwi_force_shares_run(s, apply_part, &of);
    loads->power = 0;
    for (int i = 0; i < model->nforce; i++) loads->power += s->power[i];
}
