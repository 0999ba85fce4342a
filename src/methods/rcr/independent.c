// independent.c -- the option `independent`: coordinates of the loops that the user names as independent, in place of
// those that are chosen by pivots [anderson2003, sections 3 and 4.2: the first of a loop, those next to the end
// effector].  All other coordinates of loops and couplings are then dependent, in the whole run.
#include "methods/rcr/independent.h"

#include "base/assert.h"
#include "model/coordinate_names.h"

#include <stdio.h>
#include <string.h>

// Half of the sixteen digits are lost at such a pivot.
#define SMALLEST_PIVOT 1e-8

struct lwi_rcr_independent {
    const lw_model *model;
    const char *names;              // as given
    unsigned char *named, *in_loop; // [tree_nv]
    int *node_of;                   // [njoint] -1: not in the tree
    lw_error *error;
};

typedef lwi_rcr_independent reading;

// -------------------------------------------------------------------------------------- coordinates

static void mark(const reading *r, int k)
{
    const lwi_node *node = &r->model->node[k];
    for (int i = 0; i < node->nv; i++) r->in_loop[node->iv + i] = 1;
}

// Nodes between the bodies of a cut joint: on the way of one of them to the ground, not of both.
static void mark_loop(const reading *r, int cut)
{
    int node[LWI_CLOSURE_BODIES];
    const lwi_node *nodes = r->model->node;
    const int n = lwi_rcr_closure_nodes(r->model, cut, node);
    LWI_ASSERT(n <= 2);
    int a = n > 0 ? node[0] : -1, b = n > 1 ? node[1] : -1;
    while (a != b) { // parents have smaller numbers
        int *later = a > b ? &a : &b;
        mark(r, *later);
        *later = nodes[*later].parent;
    }
}

static void mark_coupled(const reading *r, int joint)
{
    if (r->node_of[joint] >= 0) {
        mark(r, r->node_of[joint]);
        return;
    }
    for (int i = 0; i < r->model->nloop; i++)
        if (r->model->loop[i] == joint) mark_loop(r, i);
}

static void find_loops(const reading *r)
{
    const lw_model *model = r->model;
    for (int i = 0; i < model->nloop; i++) mark_loop(r, i);
    for (int i = 0; i < model->ncoupling; i++) {
        mark_coupled(r, model->coupling[i].joint);
        mark_coupled(r, model->coupling[i].of);
    }
}

// "A.q0, B.q0" of the marked coordinates.
static void list_coordinates(const reading *r, const unsigned char *marked, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int j = 0; j < r->model->njoint; j++) {
        const int k = r->node_of[j];
        for (int i = 0; k >= 0 && i < r->model->node[k].nv; i++) {
            if (!marked[r->model->node[k].iv + i] || used + 1 >= size) continue;
            used += (size_t)snprintf(text + used, size - used, "%s%s.q%d", used ? ", " : "",
                                     r->model->joint[j].name, r->model->node[k].column[i]);
        }
    }
    if (used + 1 > size && size > 4) memcpy(text + size - 4, "...", 4);
}

// ------------------------------------------------------------------------------------------ reading

// Coordinates of a joint; `only`: one of them, or -1.
static lw_status take_joint(const reading *r, int joint, int only)
{
    const lw_model *model = r->model;
    const char *name = model->joint[joint].name;
    const int k = r->node_of[joint];
    int found = 0;
    if (k < 0)
        return lwi_fail(r->error, LW_ERR_ARGUMENT,
                        "independent: joint '%s' closes a loop and has no coordinates in the tree "
                        "(`cut: never` keeps it there)",
                        name);
    for (int i = 0; i < model->node[k].nv; i++) {
        const int column = model->node[k].column[i], v = model->node[k].iv + i;
        if (only >= 0 && only != column) continue;
        if (!r->in_loop[v])
            return lwi_fail(r->error, LW_ERR_ARGUMENT,
                            "independent: joint '%s' is in no loop and not coupled, its "
                            "coordinates are independent in any case",
                            name);
        if (r->named[v]++)
            return lwi_fail(r->error, LW_ERR_ARGUMENT,
                            "independent: coordinate q%d of joint '%s' is named twice", column,
                            name);
        found++;
    }
    if (found) return LW_OK;
    return only < 0
               ? lwi_fail(r->error, LW_ERR_ARGUMENT,
                          "independent: joint '%s' has no coordinate that is free", name)
               : lwi_fail(r->error, LW_ERR_ARGUMENT,
                          "independent: joint '%s' has no coordinate q%d that is free", name, only);
}

static lw_status take_name(void *user, const char *text, lw_error *error)
{
    const reading *r = user;
    lwi_coordinate_name name;
    TRY(lwi_coordinate_name_read(r->model, "independent", text, &name, error));
    return take_joint(r, name.joint, name.coordinate);
}

static bool is_named(const lw_options *options)
{
    return options && options->independent[0] && strcmp(options->independent, "auto") != 0;
}

lw_status lwi_rcr_independent_create(lwi_work *work, lwi_rcr *e)
{
    const lw_model *model = work->model;
    if (!is_named(work->options)) return LW_OK;
    lwi_arena *arena = &work->arena;
    reading *r = LWI_PUSH(arena, reading, 1);
    if (!r) return LW_ERR_MEMORY;
    r->model = model;
    r->names = work->options->independent;
    r->error = &work->error;
    r->named = LWI_PUSH(arena, unsigned char, model->tree_nv);
    r->in_loop = LWI_PUSH(arena, unsigned char, model->tree_nv);
    r->node_of = LWI_PUSH(arena, int, model->njoint);
    if (!r->named || !r->in_loop || !r->node_of) return LW_ERR_MEMORY;
    for (int j = 0; j < model->njoint; j++) r->node_of[j] = -1;
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].joint >= 0) r->node_of[model->node[k].joint] = k;
    find_loops(r);
    TRY(lwi_names_each("independent", r->names, take_name, r, r->error));
    e->independent = r;
    return LW_OK;
}

bool lwi_rcr_is_independent(const lwi_rcr *e, int speed)
{
    return e->independent && e->independent->named[speed];
}

// ------------------------------------------------------------------------------------------- checks

lw_status lwi_rcr_independent_count(const lwi_rcr *e)
{
    const reading *r = e->independent;
    char list[160];
    int named = 0, all = 0;
    if (!r) return LW_OK;
    for (int i = 0; i < r->model->tree_nv; i++) named += r->named[i], all += r->in_loop[i];
    const int needed = all - lwi_rcr_rank(e);
    LWI_ASSERT(needed >= 0);
    if (named == needed) return LW_OK;
    list_coordinates(r, r->in_loop, list, sizeof list);
    return lwi_fail(
        r->error, LW_ERR_ARGUMENT,
        "independent: %d coordinate%s named (%.60s), but the loops have %d %s: name as many of %s",
        named, named == 1 ? " is" : "s are", r->names, needed,
        needed == 1 ? "degree of freedom" : "degrees of freedom", list);
}

lw_status lwi_rcr_independent_check(const lwi_rcr *e, lw_status status, double t)
{
    const reading *r = e->independent;
    if (!r || (status != LW_OK && status != LW_ERR_SINGULAR)) return status;
    if (e->min_row < SMALLEST_PIVOT || e->min_pivot >= SMALLEST_PIVOT) return status;
    return lwi_fail(r->error, LW_ERR_SINGULAR,
                    "independent coordinates %.80s do not determine the motion of the loops at "
                    "t = %.9g s (pivot %.1e): name others, or auto",
                    r->names, t, e->min_pivot);
}
