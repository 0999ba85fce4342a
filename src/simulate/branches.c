// branches.c -- the branches of the motion that meet at a singular position.
//
// Small motions along velocities that belong to no branch, put on the constraints, lie on one; the limit of their velocities
// at the position is its direction.  From several velocities each branch is found.
#include "simulate/branches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The first of four small motions, in radians or lengths of the mechanism.
#define TRIAL (LWI_BRANCH_MOTION / 4)
enum { CHOICES = 4, TRIES = 24, ROUNDS = 8, JOINTS = 8 };
// Speeds of joints that differ by less, of the largest, are the same.
#define SAME 0.02

static void add_velocities(const lw_model *model, double weight, const lwi_snapshot *m,
                           lwi_snapshot *sum)
{
    for (int b = 0; b < model->nbody; b++) {
        v3_axpy(sum->v[b], weight, m->v[b]);
        v3_axpy(sum->w[b], weight, m->w[b]);
    }
}

void lwi_branch_change(lw_sim *sim, const lwi_snapshot *m, double rate, lwi_snapshot *change)
{
    static const double weight[] = {4, -6, 4, -1}; // of the cubic's value at zero
    const lw_model *model = sim->model;
    lwi_gauss *g = &sim->passage.gauss;
    const size_t bytes = (size_t)model->nbody * sizeof *change->v;
    memset(change->v, 0, bytes);
    memset(change->w, 0, bytes);
    add_velocities(model, -1, m, change);
    for (int i = 0; i < LWI_COUNT(weight); i++) {
        lwi_gauss_move(g, m, (i + 1) * TRIAL / rate);
        add_velocities(model, weight[i], &g->moved, change);
    }
}

// ----------------------------------------------------------------------------------------- choices

void lwi_branch_velocities(lw_sim *sim, int k, lwi_snapshot *m)
{
    lwi_assembler *a = sim->passage.gauss.assembler;
    const double length = sim->monitor.system.length;
    lwi_snapshot_copy(sim->model, &sim->crossing.start, m);
    lwi_sim_take_motion(a, m);
    a->t = m->t;
    for (int i = 0; i < sim->model->nnode; i++) {
        const int b = sim->model->node[i].body;
        for (int c = 0; c < 3; c++) {
            a->v[b][c] = length * sin(1.7 * k + 2.3 * i + 0.9 * c);
            a->w[b][c] = sin(2.9 * k + 1.1 * i + 2.1 * c + 1);
        }
    }
    a->held = false;
    lwi_assembler_weigh(a);
    lwi_assembler_project(a, 0);
    a->held = true;
    lwi_sim_give_motion(a, m);
}

// m := velocities along a branch, with the speeds of joints in passage.gauss.moved; false: not found.
static bool find_branch(lw_sim *sim, lwi_snapshot *m, lwi_snapshot *change)
{
    const lwi_system *s = &sim->monitor.system;
    for (int i = 0; i < ROUNDS; i++) {
        const double rate = lwi_sine_rate(s, m);
        if (!(rate > 0)) return false;
        lwi_branch_change(sim, m, rate, change);
        const bool leads = lwi_sine_rate(s, change) <= LWI_BRANCH_CHANGE * rate;
        add_velocities(sim->model, 1, change, m);
        if (!leads) continue;
        lwi_gauss_move(&sim->passage.gauss, m, 0);
        return true;
    }
    return false;
}

/** The joints with one scalar speed, and the speeds of each branch relative to the largest. */
typedef struct choices {
    int joint[JOINTS], njoint, n;
    double speed[CHOICES][JOINTS];
} choices;

static bool find_joints(const lw_model *model, choices *c)
{
    for (int j = 0; j < model->njoint; j++) {
        if (model->joint[j].type->nv == 0) continue;
        if (model->joint[j].type->nv != 1 || c->njoint == JOINTS) return false;
        c->joint[c->njoint++] = j;
    }
    return c->njoint > 0;
}

static void add_choice(const lw_model *model, const double *qd, choices *c)
{
    double *speed = c->speed[c->n], largest = 0;
    for (int i = 0; i < c->njoint; i++) {
        speed[i] = qd[model->joint[c->joint[i]].iv];
        if (fabs(speed[i]) > (1 + SAME) * fabs(largest)) largest = speed[i];
    }
    if (largest == 0) return;
    for (int i = 0; i < c->njoint; i++) speed[i] /= largest;
    for (int k = 0; k < c->n; k++) {
        double off = 0;
        for (int i = 0; i < c->njoint; i++) off = fmax(off, fabs(speed[i] - c->speed[k][i]));
        if (off < SAME) return;
    }
    c->n++;
}

// Adds to a text of the given size; false: it has no room.
static bool add_text(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text), n = strlen(more);
    if (used + n >= size) return false;
    memcpy(text + used, more, n + 1);
    return true;
}

static bool write_choices(const lw_model *model, const choices *c, char *text, size_t size)
{
    char one[300];
    bool room = add_text(text, size, "; motions lead on with qd of ");
    for (int i = 0; i < c->njoint; i++) {
        snprintf(one, sizeof one, "%s'%.255s'", i ? ", " : "", model->joint[c->joint[i]].name);
        room = room && add_text(text, size, one);
    }
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < c->njoint; i++) {
            const double x = c->speed[k][i];
            snprintf(one, sizeof one, "%s%.3g",
                     i   ? ", "
                     : k ? " or "
                         : " as ",
                     fabs(x) < 1e-4 ? 0 : x);
            room = room && add_text(text, size, one);
        }
    return room;
}

void lwi_branch_choices(lw_sim *sim, char *text, size_t size)
{
    lwi_crossing *crossing = &sim->crossing;
    choices c = {.n = 0};
    text[0] = 0;
    if (sim->model->driven || !sim->passage.active || !find_joints(sim->model, &c)) return;
    for (int k = 0; k < TRIES && c.n < CHOICES; k++) {
        lwi_branch_velocities(sim, k, &crossing->direction);
        if (find_branch(sim, &crossing->direction, &crossing->from))
            add_choice(sim->model, sim->passage.gauss.moved.qd, &c);
    }
    if (c.n < 2 || !write_choices(sim->model, &c, text, size)) text[0] = 0;
}
