// split.c -- bodies with many edges split into chains of rigidly linked parts.
#include "elimination/split.h"

#include "base/assert.h"

#include <stdint.h>

// A body with more than SPLIT_ABOVE edges is split into parts of at most PART_EDGES edges.  For revolute
// joints (five rows) a split pays from 10 edges on, and parts of 2 to 8 edges cost the same within a tenth.
// Few parts are preferred: every link adds round-off.
enum { SPLIT_ABOVE = 12, PART_EDGES = 6 };

// Number of edges with rows at each body.
static lw_status count_edges(const lwi_plan_graph *graph, lwi_arena *arena, int **degree)
{
    if (!(*degree = LWI_PUSH(arena, int, graph->nbody))) return LW_ERR_MEMORY;
    for (int e = 0; e < graph->nedge; e++)
        for (int i = 0; i < graph->edge[e].n && graph->edge[e].rows; i++)
            (*degree)[graph->edge[e].body[i]]++;
    return LW_OK;
}

// Numbers the parts; first [nbody]: number of the part that follows the body itself.
static void number_parts(const lwi_plan_graph *graph, const int *degree, int *first,
                         lwi_split *split)
{
    for (int b = 0; b < graph->nbody; b++) {
        split->count[b] = degree[b] > SPLIT_ABOVE ? (degree[b] + PART_EDGES - 1) / PART_EDGES : 1;
        first[b] = split->npart;
        split->npart += split->count[b] - 1;
    }
}

// Distributes the edges in their order over the parts of their body, equal numbers up to one.
static void share_edges(const lwi_plan_graph *graph, const int *degree, const int *first, int *met,
                        const lwi_split *split, lwi_plan_edge *edge)
{
    for (int e = 0; e < graph->nedge; e++) {
        edge[e] = graph->edge[e];
        for (int i = 0; i < edge[e].n && edge[e].rows; i++) {
            const int b = edge[e].body[i];
            const int k = (int)((int64_t)met[b]++ * split->count[b] / degree[b]) - 1;
            LWI_ASSERT(k < split->count[b] - 1);
            if (k < 0) continue;
            lwi_split_part *part = &split->part[first[b] + k];
            if (part->edge < 0) part->edge = e;
            edge[e].body[i] = graph->nbody + first[b] + k;
        }
    }
}

// Chains the parts of each body; edge [npart].
static void link_parts(const lwi_plan_graph *graph, const int *first, const lwi_split *split,
                       lwi_plan_edge *edge)
{
    for (int b = 0; b < graph->nbody; b++)
        for (int k = 0; k < split->count[b] - 1; k++) {
            const int i = first[b] + k, before = k ? graph->nbody + i - 1 : b;
            split->part[i] = (lwi_split_part){.body = b, .before = before, .edge = -1};
            edge[i] = (lwi_plan_edge){.rows = 6, .n = 2, .body = {before, graph->nbody + i}};
        }
}

lw_status lwi_split_create(const lwi_plan_graph *graph, lwi_arena *arena, lwi_split *split)
{
    int *degree;
    *split = (lwi_split){.graph = *graph};
    TRY(count_edges(graph, arena, &degree));
    int *first = LWI_PUSH(arena, int, graph->nbody), *met = LWI_PUSH(arena, int, graph->nbody);
    split->count = LWI_PUSH(arena, int, graph->nbody);
    if (!first || !met || !split->count) return LW_ERR_MEMORY;
    number_parts(graph, degree, first, split);
    if (split->npart == 0) return LW_OK;
    lwi_plan_edge *edge =
        LWI_PUSH(arena, lwi_plan_edge, (size_t)graph->nedge + (size_t)split->npart);
    split->part = LWI_PUSH(arena, lwi_split_part, split->npart);
    if (!edge || !split->part) return LW_ERR_MEMORY;
    link_parts(graph, first, split, edge + graph->nedge);
    share_edges(graph, degree, first, met, split, edge);
    for (int i = 0; i < split->npart; i++) LWI_ASSERT(split->part[i].edge >= 0);
    split->graph = (lwi_plan_graph){
        .nbody = graph->nbody + split->npart, .nedge = graph->nedge + split->npart, .edge = edge};
    return LW_OK;
}
