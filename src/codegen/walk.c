// walk.c -- the arrays that a generated function reads.
#include "codegen/walk.h"

#include "base/assert.h"
#include "codegen/jacobian.h"
#include "codegen/signals.h"

static int declare(lwi_codegen_graph *g, const char *name, bool wanted)
{
    return wanted ? lwi_codegen_graph_array(g, name) : -1;
}

// Functions of time, and their derivatives.
static lw_status create_drives(lwi_walk *walk, lwi_arena *arena)
{
    const lwi_elements *e = walk->elements;
    if (e->ndrive == 0) return LW_OK;
    val(*drive)[3] = lwi_arena_push(arena, (size_t)e->ndrive, sizeof *drive);
    if (!drive) return LW_ERR_MEMORY;
    for (int i = 0; i < e->ndrive; i++)
        lwi_signal_of_time(walk, lwi_drive_motion(e->model, e->drive[i]), drive[i]);
    walk->drive = (const val(*)[3])drive;
    return walk->graph->failed ? LW_ERR_MEMORY : LW_OK;
}

lw_status lwi_walk_begin(lwi_codegen_graph *g, const lwi_elements *e, unsigned reads,
                         lwi_arena *arena, lwi_walk *walk)
{
    const bool all = reads & LWI_READS_ALL, forces = (reads & LWI_READS_FORCES) && e->signals;
    *walk = (lwi_walk){.graph = g, .elements = e, .t = -1};
    if (all || forces || e->timed) walk->t = lwi_codegen_graph_scalar(g, "t");
    walk->q = declare(g, "q", true);
    walk->v = declare(g, "v", all || (reads & LWI_READS_SPEEDS));
    walk->x = declare(g, "x", all || (forces && e->model->nstate > 0));
    walk->u = declare(g, "u", all || (forces && e->model->desc.ninput > 0));
    return create_drives(walk, arena);
}

val lwi_walk_time(const lwi_walk *walk)
{
    LWI_ASSERT(walk->t >= 0);
    return lwi_codegen_graph_input(walk->graph, walk->t, 0);
}

val lwi_walk_coordinate(const lwi_walk *walk, int iq)
{
    const int nq = walk->elements->model->tree_nq;
    return iq < nq ? lwi_codegen_graph_input(walk->graph, walk->q, iq) : walk->drive[iq - nq][0];
}

val lwi_walk_drive(const lwi_walk *walk, int iv, int derivative)
{
    const int i = iv - walk->elements->model->tree_nv;
    LWI_ASSERT_INDEX(i, walk->elements->ndrive);
    return walk->drive[i][derivative];
}

val lwi_walk_speed(const lwi_walk *walk, int iv)
{
    if (iv >= walk->elements->model->tree_nv) return lwi_walk_drive(walk, iv, 1);
    if (walk->speed) return walk->speed[iv];
    return walk->v < 0 ? lit(walk->graph, 0) : lwi_codegen_graph_input(walk->graph, walk->v, iv);
}

int lwi_walk_drive_index(const lwi_elements *e, int joint, int coordinate)
{
    for (int i = 0; i < e->ndrive; i++)
        if (e->drive[i].joint == joint && e->drive[i].coordinate == coordinate) return i;
    return -1;
}

// Index among the free ones of the node, else nfree + that among the prescribed ones.
static int index_of(const lwi_elements *e, const lwi_node *node, int coordinate, int first,
                    int nfree)
{
    for (int j = 0; j < node->nv; j++)
        if (node->column[j] == coordinate) return first + j;
    return nfree + lwi_walk_drive_index(e, node->joint, coordinate);
}

int lwi_walk_coordinate_index(const lwi_elements *e, const lwi_node *node, int coordinate)
{
    return index_of(e, node, coordinate, node->iq, e->model->tree_nq);
}

int lwi_walk_speed_index(const lwi_elements *e, const lwi_node *node, int coordinate)
{
    return index_of(e, node, coordinate, node->iv, e->model->tree_nv);
}
