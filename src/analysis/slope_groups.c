// slope_groups.c -- parameters that change different bodies and joints.
#include "analysis/slope_groups.h"

#include "analysis/dependence.h"
#include "analysis/slope_fields.h"
#include "kinematics/displacement.h"
#include "loops/cut_state.h"
#include "model/forces/item.h"
#include "system/system.h"

#include <math.h>
#include <string.h>

#define ROUND_OFF                                                                                  \
    1e-9 // of changes of the start [rad, m, 1/s] by changes of parameters by their values
#define SAME_PART 1e-8 // of parts of steps; derivatives of numbers have eleven digits

// ------------------------------------------------------------------------------------------- groups

typedef struct groups {
    int n; // groups
    int nby, nslot;
    int nown;    // slots that parameters of one group do not share: of nodes and joints, or all
    int *of;     // [nby] group of each parameter; -1: alone
    int *rank;   // [nby] in its group
    bool *again; // [nby] of a group with shared items that does not separate: others may
    bool *touch; // [nby][nslot] slots of items that the file states by each parameter, see slot_of
} groups;

// The force of an item of a list of forces, which has numbers; -1: another item.
static int force_of(const lw_model *model, const lwi_statement *s)
{
    if (s->list < LWI_STATED_FORCES || s->item < 0) return -1;
    const lwi_force_type *type = lwi_force_items[s->list - LWI_STATED_FORCES]->type;
    int item = s->item;
    for (int i = 0; i < model->nforce && type->by_numbers; i++)
        if (model->force[i].type == type && item-- == 0) return i;
    return -1;
}

// Node of a body, or behind the nodes a joint, then a force, then a formula; -1: another item.
static int slot_of(const lw_model *model, const lwi_statement *s)
{
    if (s->list == LWI_STATED_BODY && s->item > 0)
        return model->body_node[model->body[s->item].carrier];
    if (s->list == LWI_STATED_JOINT && s->item >= 0) return model->nnode + s->item;
    const int force = force_of(model, s);
    if (force >= 0) return model->nnode + model->njoint + force;
    const bool formula = s->list == LWI_STATED_FUNCTION && s->item >= 0 &&
                         model->desc.function[s->item].type == LW_FUNCTION_FORMULA;
    return formula ? model->nnode + model->njoint + model->nforce + s->item : -1;
}

// Marks what depends on each parameter; `alone`: something else than bodies and joints.
static void find_items(const lw_model *model, const lwi_dependence *d, groups *g, bool *on,
                       bool *alone)
{
    const lwi_statements *s = d->stated;
    for (int i = 0; i < s->n; i++) {
        memset(on, 0, (size_t)d->nby * sizeof *on);
        lwi_dependence_add(d, s->text + s->entry[i].text, on);
        const int slot = slot_of(model, &s->entry[i]);
        for (int k = 0; k < d->nby; k++) {
            if (!on[k]) continue;
            if (slot < 0)
                alone[k] = true;
            else
                g->touch[k * g->nslot + slot] = true;
        }
    }
    for (int i = 0; i < s->npoint; i++) lwi_dependence_add(d, s->point[i].text, alone);
}

static bool touches(const groups *g, int k)
{
    for (int i = 0; i < g->nslot; i++)
        if (g->touch[k * g->nslot + i]) return true;
    return false;
}

static bool overlap(const groups *g, int a, int b, int nslot)
{
    for (int i = 0; i < nslot; i++)
        if (g->touch[a * g->nslot + i] && g->touch[b * g->nslot + i]) return true;
    return false;
}

static bool fits(const groups *g, int k, int group)
{
    for (int i = 0; i < k; i++)
        if (g->of[i] == group && overlap(g, i, k, g->nown)) return false;
    return true;
}

// Do parameters of a group share the item of a number?
static bool shares(const groups *g, int group)
{
    for (int k = 0; k < g->nby; k++)
        for (int i = 0; i < k && g->of[k] == group; i++)
            if (g->of[i] == group && overlap(g, i, k, g->nslot)) return true;
    return false;
}

// Groups of the parameters that are not `alone` and not made.
static void assign(groups *g, int nown, const bool *alone, const bool *made)
{
    g->n = 0;
    g->nown = nown;
    for (int k = 0; k < g->nby; k++) {
        g->of[k] = -1;
        if (made[k] || alone[k] || !touches(g, k)) continue;
        int group = 0;
        while (group < g->n && !fits(g, k, group)) group++;
        g->of[k] = group;
        if (group == g->n) g->n++;
    }
}

static lw_status find_groups(const lw_model *model, const char *const *by, int nby, bool *alone,
                             lwi_arena *arena, groups *g)
{
    const lwi_statements *s = &model->desc.stated;
    *g = (groups){.nby = nby,
                  .nslot = model->nnode + model->njoint + model->nforce + model->desc.nfunction};
    const size_t n = (size_t)nby;
    bool *on = LWI_PUSH(arena, bool, n);
    lwi_dependence d;
    TRY(lwi_dependence_create(s, by, nby, arena, &d));
    g->of = LWI_PUSH(arena, int, n);
    g->rank = LWI_PUSH(arena, int, n);
    g->again = LWI_PUSH(arena, bool, n);
    g->touch = LWI_PUSH(arena, bool, n *(size_t)g->nslot);
    if (!on || !g->of || !g->rank || !g->again || !g->touch) return LW_ERR_MEMORY;
    find_items(model, &d, g, on, alone);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- slopes

// Slot of the item that has number `i`; -1: none.
static int slot_of_number(const lwi_slopes_desc *d, int i)
{
    const lwi_model_numbers *n = d->numbers;
    const int forces = d->model->nnode + d->model->njoint;
    if (i >= n->inertia && i < n->frame) return (i - n->inertia) / 10;
    if (i >= n->spring && i < n->gravity) {
        const int spring = (i - n->spring) / LWI_NUMBERS_SPRING;
        return d->model->nnode + d->model->node[n->of[spring].node].joint;
    }
    if (i >= n->constants)
        return forces + d->model->nforce + n->constant[i - n->constants].function;
    for (int f = 0; f < n->nloads; f++) {
        const lwi_number_loads *loads = &n->loads[f];
        if (i >= loads->first &&
            i < loads->first + d->model->force[loads->force].type->nload_number)
            return forces + loads->force;
    }
    return -1;
}

/** A group that is varied: its parameters together, and a second time with parts of their steps. */
typedef struct variation {
    int group, members;
    const lwi_slope *whole;
    const double
        *second; // [numbers] derivatives of the second time; NULL: none, items are not shared
} variation;

// The part of a parameter's step in the second variation.  Equally spaced ones would be means of each other: a product of
// two parameters would appear as a number of a third one.
static double part_of(const groups *g, int k, int members)
{
    return 0.5 + 0.5 * (1 + 0.5 * lwi_system_pseudorandom(g->rank[k], 0) + g->rank[k]) / members;
}

enum { NOTHING = -2 };
// The parameter that number whole->number[i] belongs to; -1: none; NOTHING: it does not change.
static int owner_of(const lwi_slopes_desc *d, const groups *g, const variation *v, int i)
{
    const int number = v->whole->number[i], slot = slot_of_number(d, number);
    if (v->second && v->whole->change[i] == 0 && v->second[number] == 0) return NOTHING;
    const double part = v->second ? v->second[number] / v->whole->change[i] : 0;
    for (int k = 0; slot >= 0 && k < g->nby; k++)
        if (g->of[k] == v->group && g->touch[k * g->nslot + slot] &&
            (!v->second || slot < g->nown || fabs(part - part_of(g, k, v->members)) <= SAME_PART))
            return k;
    return -1;
}

// Does a change of several parameters together consist of numbers alone?
static bool of_numbers(const lwi_slopes_desc *d, const lwi_slope *whole)
{
    if (!whole->local || whole->nforce > 0 || lwi_slope_changes_motion(whole, d->model, !d->moving))
        return false;
    for (int i = 0; i < 2 * d->model->tree_nv + d->model->nstate; i++)
        if (fabs(whole->start[i]) > ROUND_OFF) return false;
    return true;
}

// Is each of them one of a parameter?
static bool separates(const lwi_slopes_desc *d, const groups *g, const variation *v)
{
    if (!of_numbers(d, v->whole)) return false;
    for (int i = 0; i < v->whole->count; i++)
        if (owner_of(d, g, v, i) == -1) return false;
    return true;
}

// The part of parameter k.
static lw_status take_part(const lwi_slopes_desc *d, const groups *g, const variation *v, int k,
                           double step, lwi_arena *arena, lwi_slope *slope)
{
    const lwi_slope *whole = v->whole;
    *slope = (lwi_slope){.name = d->by[k], .step = step, .local = true, .start = whole->start};
    slope->number = LWI_PUSH(arena, int, whole->count);
    slope->change = LWI_PUSH(arena, double, whole->count);
    if (!slope->number || !slope->change) return LW_ERR_MEMORY;
    for (int i = 0; i < whole->count; i++) {
        if (owner_of(d, g, v, i) != k) continue;
        slope->number[slope->count] = whole->number[i];
        slope->change[slope->count++] = whole->change[i] / step;
    }
    return LW_OK;
}

/** A state at random with rows u, nu, in the arena. */
typedef struct random_state {
    double *q, *v, *vdot, *lambda, *u, *nu, *by_q, *by_v, *gradient, *scratch, *increment;
    double (*way)[6];
    lwi_slope_state at;
} random_state;

static lw_status allocate(const lwi_slopes_desc *d, lwi_arena *arena, random_state *r)
{
    const size_t n = (size_t)d->model->tree_nv, m = (size_t)d->d->rows.m;
    const struct {
        double **array;
        size_t count;
    } vector[] = {{&r->q, (size_t)d->model->tree_nq},
                  {&r->v, n},
                  {&r->vdot, n},
                  {&r->lambda, m},
                  {&r->u, n},
                  {&r->nu, m},
                  {&r->by_q, n * n},
                  {&r->by_v, n * n},
                  {&r->gradient, (size_t)d->numbers->n},
                  {&r->scratch, 2 * (n + m) + 2 * (size_t)d->model->nstate},
                  {&r->increment, n}};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i].array = LWI_PUSH(arena, double, vector[i].count))) return LW_ERR_MEMORY;
    r->way = lwi_arena_push(arena, (size_t)d->model->nnode, sizeof *r->way);
    return r->way ? LW_OK : LW_ERR_MEMORY;
}

static void scatter(const lwi_slopes_desc *d, random_state *r)
{
    const int n = d->model->tree_nv, m = d->d->rows.m;
    memcpy(r->q, d->model->tree_q0, (size_t)d->model->tree_nq * sizeof *r->q);
    lwi_displacement_units(d->model, r->v);
    lwi_cut_scatter(n, 1, r->increment);
    for (int i = 0; i < n; i++) r->increment[i] *= r->v[i];
    lwi_displace(d->model, r->q, r->increment);
    lwi_cut_scatter(n, 2, r->v);
    lwi_cut_scatter(n, 3, r->vdot);
    lwi_cut_scatter(n, 4, r->u);
    lwi_cut_scatter(m, 5, r->nu);
    lwi_cut_scatter(m, 6, r->lambda);
}

static lw_status make_probe(const lwi_slopes_desc *d, lwi_arena *arena, random_state *r,
                            lwi_slope_probe *probe)
{
    const double t = 0.1;
    TRY(allocate(d, arena, r));
    scatter(d, r);
    lwi_inverse_derivatives(d->model, d->d, d->work, t, r->q, r->v, r->vdot, d->inputs, r->by_q,
                            r->by_v, d->d->M);
    lwi_generalised_forces(d->model, d->d, d->work, t, r->q, r->v, d->inputs, r->increment);
    const lwi_number_state at = {d->model, d->d, d->work, t, r->v, r->lambda, d->inputs};
    const double(*way)[6] = (const double(*)[6])r->way;
    lwi_number_ways(&at, r->u, r->way);
    lwi_number_gradient(d->numbers, &at, r->u, r->nu, way, 1, r->gradient);
    r->at = (lwi_slope_state){t,         r->q,    r->v, r->vdot,      r->lambda,
                              d->inputs, d->work, d->z, d->d->tangent};
    *probe = (lwi_slope_probe){&r->at, r->u, r->nu, r->gradient, way, r->scratch};
    return LW_OK;
}

// Those of a group, or parameter `only`, then those that are held.  @return how many
static int choose(const lwi_slopes_listed *l, const groups *g, int group, int only)
{
    int n = 0;
    for (int k = 0; k < g->nby; k++)
        if (only < 0 ? g->of[k] == group : k == only) l->varied[n++] = l->parameter[k];
    for (int k = 0; k < g->nby; k++) {
        if (!l->held[k] || (only < 0 ? g->of[k] == group : k == only)) continue;
        l->varied[n] = l->parameter[k];
        l->varied[n++].step = 0;
    }
    return n;
}

// Members of a group that cannot be separated, or are one alone, leave it.
static void dissolve(groups *g, int group)
{
    const bool again = shares(g, group);
    for (int k = 0; k < g->nby; k++) {
        if (g->of[k] != group) continue;
        g->of[k] = -1;
        g->again[k] = again;
    }
}

static int rank_members(groups *g, int group)
{
    int n = 0;
    for (int k = 0; k < g->nby; k++)
        if (g->of[k] == group) g->rank[k] = n++;
    return n;
}

// second [numbers] := derivatives of the numbers by the members together, each by a part of its step.
// varied: that is possible, and no number changes that the whole leaves as it is, as a quotient of two members.
static lw_status vary_parts(const lwi_slopes_desc *d, const lwi_slopes_listed *l, const groups *g,
                            const lwi_slope *whole, int group, int members, lwi_arena *arena,
                            double *second, bool *varied)
{
    lwi_slope parts;
    const int n = choose(l, g, group, -1);
    int at = 0;
    for (int k = 0; k < g->nby; k++)
        if (g->of[k] == group) l->varied[at++].step *= part_of(g, k, members);
    const lw_status status =
        lwi_slope_create(d->model, l->document, d->numbers, l->varied, n, 1, arena, &parts, NULL);
    *varied = status == LW_OK;
    if (!*varied) return status == LW_ERR_MEMORY ? status : LW_OK;
    int beside = 0;
    for (int i = 0; i < parts.count; i++) {
        second[parts.number[i]] = parts.change[i];
        beside += parts.change[i] != 0;
    }
    for (int i = 0; i < whole->count; i++) beside -= second[whole->number[i]] != 0;
    *varied = beside == 0;
    lwi_slope_destroy(&parts);
    return LW_OK;
}

static lw_status make_parts(const lwi_slopes_desc *d, const lwi_slopes_listed *l, groups *g,
                            const lwi_slope *whole, int group, lwi_arena *arena, lwi_slope *slope)
{
    bool varied = true;
    double *second = NULL;
    if (!of_numbers(d, whole)) {
        dissolve(g, group);
        return LW_OK;
    }
    const int members = rank_members(g, group);
    if (shares(g, group)) {
        second = LWI_PUSH(arena, double, d->numbers->n);
        if (!second) return LW_ERR_MEMORY;
        TRY(vary_parts(d, l, g, whole, group, members, arena, second, &varied));
    }
    const variation v = {group, members, whole, second};
    if (!varied || !separates(d, g, &v)) dissolve(g, group);
    for (int k = 0; k < g->nby; k++)
        if (g->of[k] == group) TRY(take_part(d, g, &v, k, l->parameter[k].step, arena, &slope[k]));
    return LW_OK;
}

static lw_status make_group(const lwi_slopes_desc *d, const lwi_slopes_listed *l, groups *g,
                            int group, lwi_arena *arena, lwi_slope *slope, lw_error *error)
{
    lwi_slope whole;
    if (rank_members(g, group) < 2) {
        dissolve(g, group);
        return LW_OK;
    }
    const int n = choose(l, g, group, -1);
    lw_status status =
        lwi_slope_create(d->model, l->document, d->numbers, l->varied, n, 1, arena, &whole, NULL);
    if (status != LW_OK) {
        dissolve(g, group);
        return status == LW_ERR_MEMORY ? status : LW_OK; // alone, each names its failure
    }
    status = lwi_slope_test(&whole, d->numbers, &l->probe, arena, error);
    if (status == LW_OK) status = make_parts(d, l, g, &whole, group, arena, slope);
    lwi_slope_destroy(&whole);
    return status;
}

static bool reads_formula(const lw_model *model, const groups *g, int k)
{
    for (int i = g->nslot - model->desc.nfunction; i < g->nslot; i++)
        if (g->touch[k * g->nslot + i]) return true;
    return false;
}

// Groups of parameters that are not made, which share slots behind the first `nown`.
static lw_status make_groups(const lwi_slopes_desc *d, const lwi_slopes_listed *l, groups *g,
                             int nown, const bool *alone, bool *made, lwi_arena *arena,
                             lwi_slope *slope, lw_error *error)
{
    assign(g, nown, alone, made);
    for (int i = 0; i < g->n; i++) TRY(make_group(d, l, g, i, arena, slope, error));
    for (int k = 0; k < g->nby; k++) made[k] = made[k] || g->of[k] >= 0;
    return LW_OK;
}

static lw_status make_alone(const lwi_slopes_desc *d, const lwi_slopes_listed *l, const groups *g,
                            int k, lwi_arena *arena, lwi_slope *slope, lw_error *error)
{
    const int n = choose(l, g, -1, k);
    TRY(lwi_slope_create(d->model, l->document, d->numbers, l->varied, n, l->parameter[k].step,
                         arena, slope, error));
    return lwi_slope_test(slope, d->numbers, &l->probe, arena, error);
}

static bool is_expression(const lw_model *model, const char *name)
{
    const lwi_statements *s = &model->desc.stated;
    const int k = lwi_dependence_find(s, name, (int)strlen(name));
    return k >= 0 && lwi_dependence_is_expression(&s->parameter[k]);
}

lw_status lwi_slopes_create(const lwi_slopes_desc *d, lwi_arena *arena, lwi_slope *slope,
                            int *created, lw_error *error)
{
    lwi_slope_parameter *parameter = LWI_PUSH(arena, lwi_slope_parameter, d->nby),
                        *varied = LWI_PUSH(arena, lwi_slope_parameter, d->nby);
    bool *held = LWI_PUSH(arena, bool, d->nby), *made = LWI_PUSH(arena, bool, d->nby),
         *alone = LWI_PUSH(arena, bool, d->nby);
    groups g;
    *created = 0;
    if (!parameter || !varied || !held || !made || !alone) return LW_ERR_MEMORY;
    for (int k = 0; k < d->nby; k++) {
        TRY(lwi_slope_find(d->model, d->by[k], d->any, d->relative, &parameter[k], error));
        held[k] = is_expression(d->model, d->by[k]);
    }
    lwi_slopes_listed l = {parameter, held, varied, NULL, {0}};
    for (int k = 0; k < d->nby && !l.document;
         k++) // names with dots are numbers of the description
        if (!strchr(d->by[k], '.')) TRY(lwi_model_parse(d->model, arena, &l.document, error));
    random_state state;
    TRY(make_probe(d, arena, &state, &l.probe));
    TRY(lwi_slopes_by_fields(d, &l, arena, slope, made, error));
    TRY(find_groups(d->model, d->by, d->nby, alone, arena, &g));
    for (int k = 0; k < d->nby; k++)
        if (!made[k]) slope[k] = (lwi_slope){.name = d->by[k]};
    *created = d->nby;
    if (d->together) {
        const int items = d->model->nnode + d->model->njoint;
        TRY(make_groups(d, &l, &g, items, alone, made, arena, slope, error));
        for (int k = 0; k < d->nby; k++)
            alone[k] = alone[k] || !g.again[k] || reads_formula(d->model, &g, k);
        TRY(make_groups(d, &l, &g, g.nslot, alone, made, arena, slope, error));
    }
    for (int k = 0; k < d->nby; k++)
        if (!made[k]) TRY(make_alone(d, &l, &g, k, arena, &slope[k], error));
    return LW_OK;
}
