// branches.c -- the branches of a tree, and which of them are swept in parallel lanes (branches.h).
//
//   branches  chains of bodies with one child each; height: 0 without bodies beyond, else one more than
//             the maximum height of the branches beyond
//   stages    for every height, the largest first: similar branches in groups of up to eight, the longest
//             first; the others are padded to its length
//   cuts      long branches with few similar ones.  The part that is cut into segments becomes a
//             separate branch, and so do the remainders before and beyond it
#include "tree/segments/cut.h"

#include <stdlib.h>

typedef struct branch {
    int head, length, height;
    bool ground, sequential;
    int section;
    int stage;  ///< -1: none, swept sequentially
    int beside; ///< branches of the stage
    int cut;    ///< -1: none
    const lwi_branch_body *body;
    const int *next;
} branch;

typedef struct work {
    const lwi_branch_body *body;
    int n, nbranch, ncut;
    int *children, *next; ///< [n] next: the only child in the branch, else -1
    int *of;              ///< [n] branch
    int *cut_of;          ///< [n] cut, -1: none
    int *section;         ///< [n]
    branch *branch;       ///< [nbranch]
    int *row;             ///< [n] bodies of one branch
    lwi_segment_cut *cut; ///< [ncut]
} work;

static bool continues(const work *w, int i)
{
    const int parent = w->body[i].parent;
    return parent >= 0 && w->children[parent] == 1 && !w->body[i].sequential &&
           !w->body[parent].sequential && w->cut_of[i] == w->cut_of[parent];
}

static void find_branches(work *w)
{
    w->nbranch = 0;
    for (int i = 0; i < w->n; i++) w->next[i] = -1, w->children[i] = 0;
    for (int i = 0; i < w->n; i++)
        if (w->body[i].parent >= 0) w->children[w->body[i].parent]++;
    for (int i = 0; i < w->n; i++) {
        const lwi_branch_body *body = &w->body[i];
        if (continues(w, i)) {
            w->next[body->parent] = i;
            w->of[i] = w->of[body->parent];
            w->branch[w->of[i]].length++;
            continue;
        }
        w->of[i] = w->nbranch;
        w->branch[w->nbranch++] = (branch){.head = i,
                                           .length = 1,
                                           .stage = -1,
                                           .cut = w->cut_of[i],
                                           .section = w->section[i],
                                           .ground = body->parent < 0,
                                           .sequential = body->sequential,
                                           .body = w->body,
                                           .next = w->next};
    }
    for (int k = w->nbranch - 1; k > 0; k--) {
        const int parent = w->body[w->branch[k].head].parent, height = w->branch[k].height + 1;
        if (parent >= 0 && w->branch[w->of[parent]].height < height)
            w->branch[w->of[parent]].height = height;
    }
}

// Order: section; then decreasing height; then sequential, on the ground, decreasing length, kinds, shapes.
static int compare(const void *one, const void *other)
{
    const branch *a = one, *b = other;
    if (a->section != b->section) return a->section < b->section ? -1 : 1;
    if (a->height != b->height) return a->height > b->height ? -1 : 1;
    if (a->sequential != b->sequential) return a->sequential ? -1 : 1;
    if (a->ground != b->ground) return a->ground ? -1 : 1;
    if (a->length != b->length) return a->length > b->length ? -1 : 1;
    for (int i = a->head, k = b->head; i >= 0; i = a->next[i], k = b->next[k])
        if (a->body[i].kind != a->body[k].kind) return a->body[i].kind < a->body[k].kind ? -1 : 1;
    for (int i = a->head, k = b->head; i >= 0; i = a->next[i], k = b->next[k])
        if (a->body[i].shape != a->body[k].shape)
            return a->body[i].shape < a->body[k].shape ? -1 : 1;
    return a->head < b->head ? -1 : 1;
}

// True if b can share a stage with a, which is at least as long.  Only branches without bodies beyond are
// padded: the others have a branch point at their last body.
static bool fits(const branch *a, const branch *b)
{
    if (a->height != b->height || a->ground != b->ground || b->sequential) return false;
    if (b->stage >= 0 || b->cut >= 0) return false;
    if (a->length != b->length && a->height > 0) return false;
    int i = a->head;
    for (int k = b->head; k >= 0; i = a->next[i], k = b->next[k])
        if (a->body[i].kind != a->body[k].kind) return false;
    for (; i >= 0; i = a->next[i])
        if (!a->body[i].pads) return false;
    return true;
}

// Similar branches follow each other in the order: those further away are not tried, so that the cost is linear.
enum { MAX_TRIES = 1024 };

// Finds the branches that can share a stage with branch k, k first; returns their number.
static int beside(const work *w, int k, int found[LWI_LANES])
{
    int count = 0;
    for (int i = k; i < w->nbranch && i < k + MAX_TRIES && count < LWI_LANES; i++) {
        if (w->branch[i].height != w->branch[k].height) break;
        if (w->branch[i].section != w->branch[k].section) break;
        if (fits(&w->branch[k], &w->branch[i])) found[count++] = i;
    }
    return count;
}

// Number of the branches found for which a stage is faster than a sequential sweep: 0, up to 4, or all.
// Measured (bench_branches, docs/benchmarks.md): a position of four lanes costs as much as 1.7
// sequential bodies, a stage adds the cost of one more, for every register width.  Four more lanes are
// used if their branches have at least 1.5 times the bodies of the longest branch: a compromise between
// the loss on registers of four lanes and the gain on registers of eight.
static int worthwhile(const work *w, const int *found, int count)
{
    const int longest = w->branch[found[0]].length;
    int bodies = 0, more = 0;
    for (int i = 0; i < count; i++) *(i < 4 ? &bodies : &more) += w->branch[found[i]].length;
    if (10 * bodies <= 17 * longest + 10) return 0;
    return 2 * more < 3 * longest && count > 4 ? 4 : count;
}

static void choose_stages(work *w, int min_branches)
{
    int found[LWI_LANES], stages = 0;
    for (int k = 0; k < w->nbranch && min_branches != 0; k++) {
        if (w->branch[k].sequential || w->branch[k].stage >= 0 || w->branch[k].cut >= 0) continue;
        int count = beside(w, k, found);
        if (min_branches < 0)
            count = worthwhile(w, found, count);
        else if (count < min_branches)
            count = 0;
        for (int i = 0; i < count; i++) {
            w->branch[found[i]].stage = stages;
            w->branch[found[i]].beside = count;
        }
        stages += count > 0;
    }
}

// Three parallel branches are faster than segments of each.  Two are slower from 96 hinges on, measured with registers of
// four lanes; with eight lanes both ways use registers of four up to 383 hinges.  But segments make batches slower, so the
// gain must be a quarter.
enum { MIN_LENGTH_OF_TWO = 192 };

// Cuts long branches with at most one similar branch into segments; returns true if any is cut.
static bool cut_branches(work *w, lwi_branch_choice choice)
{
    for (int k = 0; k < w->nbranch && choice.segments != 0; k++) {
        const branch *l = &w->branch[k];
        lwi_segment_cut *cut = &w->cut[w->ncut];
        int n = 0;
        if (l->length < choice.min_length || l->beside > 2 ||
            (l->beside == 2 && l->length < MIN_LENGTH_OF_TWO))
            continue;
        for (int i = l->head; i >= 0; i = w->next[i]) w->row[n++] = i;
        if (!lwi_segment_cut_branch(w->body, w->row, n, l->height > 0, choice, cut)) continue;
        for (int i = 0; i < cut->count; i++) w->cut_of[w->row[cut->first + i]] = w->ncut;
        w->ncut++;
    }
    return w->ncut > 0;
}

static int append(const branch *l, int *order, int at)
{
    for (int i = l->head; i >= 0; i = l->next[i]) order[at++] = i;
    return at;
}

static lwi_k_stage *stage_after(lwi_branches *out, int at, int section)
{
    lwi_k_stage *stage = &out->stage[out->nstage++];
    *stage = (lwi_k_stage){.first = at, .end = at, .section = section};
    return stage;
}

// Order of the branches; those of a stage are placed together, at the position of its first one.
static void arrange(const work *w, lwi_branches *out)
{
    int at = 0, stages = -1;
    for (int k = 0; k < w->nbranch; k++) {
        const branch *l = &w->branch[k];
        lwi_k_stage *last = out->nstage ? &out->stage[out->nstage - 1] : NULL;
        if (l->stage < 0) {
            const bool on = last && last->lanes == 0 && last->segments == 0 && l->cut < 0 &&
                            last->section == l->section;
            lwi_k_stage *stage = on ? last : stage_after(out, at, l->section);
            at = append(l, out->order, at);
            stage->end = at;
            if (l->cut < 0) continue;
            stage->segments = w->cut[l->cut].segments;
            stage->length = w->cut[l->cut].length;
            continue;
        }
        if (l->stage <= stages) continue; // placed with the first branch of its stage
        stages = l->stage;
        lwi_k_stage *stage = stage_after(out, at, l->section);
        stage->length = l->length;
        for (int i = k; stage->branches < l->beside; i++) {
            if (w->branch[i].stage != l->stage) continue;
            stage->branch[stage->branches++] = at;
            at = append(&w->branch[i], out->order, at);
        }
        stage->end = stage->branch[stage->branches] = at;
        stage->lanes = stage->branches > 4 ? 8 : 4;
    }
}

// One sequential stage, bodies in the given order.
static void arrange_plainly(const work *w, lwi_branches *out)
{
    for (int i = 0; i < w->n; i++) out->order[i] = i;
    out->stage[0] = (lwi_k_stage){.end = w->n};
    out->nstage = 1;
}

static void find_stages(work *w, int min_branches)
{
    find_branches(w);
    qsort(w->branch, (size_t)w->nbranch, sizeof *w->branch, compare);
    choose_stages(w, min_branches);
}

lw_status lwi_branches_arrange(const lwi_branch_body *body, int n, lwi_branch_choice choice,
                               lwi_arena *arena, lwi_branches *out)
{
    work w = {.body = body,
              .n = n,
              .children = LWI_PUSH(arena, int, n),
              .next = LWI_PUSH(arena, int, n),
              .of = LWI_PUSH(arena, int, n),
              .cut_of = LWI_PUSH(arena, int, n),
              .section = LWI_PUSH(arena, int, n),
              .row = LWI_PUSH(arena, int, n),
              .cut = LWI_PUSH(arena, lwi_segment_cut, n),
              .branch = LWI_PUSH(arena, branch, n)};
    *out =
        (lwi_branches){.order = LWI_PUSH(arena, int, n), .stage = LWI_PUSH(arena, lwi_k_stage, n)};
    if (!w.children || !w.next || !w.of || !w.cut_of || !w.section || !w.row || !w.cut ||
        !w.branch || !out->order || !out->stage)
        return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++) w.cut_of[i] = -1;
    out->nsection = 1;
    if (choice.min_bodies > 0 && n >= choice.min_bodies)
        TRY(lwi_branch_sections(body, n, arena, w.section, &out->nsection));
    find_stages(&w, choice.branches);
    bool any = cut_branches(&w, choice);
    if (any) find_stages(&w, choice.branches);
    any = any || out->nsection > 1;
    for (int k = 0; k < w.nbranch; k++) any = any || w.branch[k].stage >= 0;
    if (any)
        arrange(&w, out);
    else
        arrange_plainly(&w, out);
    return LW_OK;
}
