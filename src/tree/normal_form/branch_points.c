// branch_points.c -- branch points of the inward recursion, and the elimination of tips.
//
// Input: slots, constants and stages of a plan.  Output: step->park, fetch, leaf, tip, first, stride, on,
// last and begins; plan->begin, plan->tip and plan->subtree.  Cost: O(n).
//
// A branch adds its articulated inertia for its parent to a place in lwi_k_state.art.  The elimination of
// a hinge without children is constant and is computed here:
//     U = M S,  D = S'U + rotor,  g = U/D,  M' = M - g U'                      [anderson2003, (14), (19)]
#include "tree/normal_form/build.h"

typedef lwi_build_part part;
typedef lwi_build build;

// Selects the steps that add their inertia to a place of the parent: the first body of each parallel
// branch, of each branch in segments and of each stage, and at other branch points the first body of
// each branch but the one that directly follows its parent.
static void choose_parking(const lwi_kernel_plan *plan, const int *up, bool *parks)
{
    for (int k = 0; k < plan->nstep; k++) parks[k] = up[k] >= 0 && up[k] != k - 1;
    for (int i = 0; i < plan->nstage; i++) {
        const lwi_k_stage *stage = &plan->stage[i];
        parks[stage->first] = up[stage->first] >= 0;
        for (int r = 0; r < stage->branches; r++)
            parks[stage->branch[r]] = up[stage->branch[r]] >= 0;
    }
}

// Allocates one place, or for a stage with lanes one aligned group of `lanes` places; returns the first.
static int next_place(int *count, int lanes)
{
    const int at = lanes ? (*count + lanes - 1) / lanes * lanes : *count;
    *count = at + (lanes ? lanes : 1);
    return at;
}

// The section of each step.
static void find_sections(const lwi_kernel_plan *plan, int *section)
{
    for (int s = 0; s < plan->nsection; s++)
        for (int k = plan->section[s].first; k < plan->section[s].end; k++) section[k] = s;
}

// Allocates the places of the branch points and of the tips of a stage.
static void place_branch_points(lwi_kernel_plan *plan, const lwi_k_stage *stage, const bool *meets,
                                const bool *tip, int *nplace, int *ntip)
{
    for (int k = stage->first; k < stage->end && !stage->lanes; k++) {
        if (meets[k]) plan->step[k].fetch = next_place(nplace, 0);
        if (tip[k] && !stage->segments) plan->step[k].leaf = next_place(ntip, 0);
    }
    if (!stage->lanes) return;
    const int end = stage->first + stage->length - 1; // of the longest branch
    const int place = meets[end] ? next_place(nplace, stage->lanes) : -1;
    const int leaf = tip[end] ? next_place(ntip, stage->lanes) : -1;
    for (int r = 0; r < stage->branches; r++) {
        const int last = stage->branch[r + 1] - 1;
        if (last - stage->branch[r] + 1 < stage->length) continue;
        plan->step[last].fetch = place < 0 ? -1 : place + r;
        plan->step[last].leaf = leaf < 0 ? -1 : leaf + r;
    }
}

static lw_status place_parking(const build *b, const int *order, lwi_arena *arena,
                               lwi_kernel_plan *plan)
{
    const int n = plan->nstep;
    int nplace = 0, ntip = 0, *up = LWI_PUSH(arena, int, n), *at = LWI_PUSH(arena, int, n);
    bool *meets = LWI_PUSH(arena, bool, n), *tip = LWI_PUSH(arena, bool, n);
    bool *parks = LWI_PUSH(arena, bool, n);
    int *section = LWI_PUSH(arena, int, n);
    if (!up || !at || !meets || !tip || !parks || !section) return LW_ERR_MEMORY;
    find_sections(plan, section);
    for (int k = 0; k < n; k++) at[order[k]] = k;
    for (int k = 0; k < n; k++) {
        const part *p = &b->part[order[k]];
        up[k] = p->parent < 0 ? -1 : at[p->parent];
        tip[k] = p->children == 0 && p->kind == LWI_K_HINGE && up[k] >= 0 && !plan->step[k].drives;
    }
    choose_parking(plan, up, parks);
    for (int k = 0; k < n; k++)
        if (parks[k]) meets[up[k]] = true;
    for (int i = 0; i < plan->nstage; i++)
        place_branch_points(plan, &plan->stage[i], meets, tip, &nplace, &ntip);
    for (int k = 0; k < n; k++) plan->nsubtree += parks[k] && section[up[k]] != section[k];
    plan->subtree = LWI_PUSH(arena, lwi_k_subtree, plan->nsubtree);
    if (!plan->subtree) return LW_ERR_MEMORY;
    plan->nsubtree = 0;
    for (int k = n - 1; k >= 0; k--) {
        lwi_k_step *step = &plan->step[k];
        step->tip = !(k + 1 < n && up[k + 1] == k && !parks[k + 1]);
        if (!parks[k]) continue;
        step->park = plan->step[up[k]].fetch;
        step->first = meets[up[k]];
        meets[up[k]] = false;
        if (section[up[k]] == section[k]) continue;
        const int own = next_place(&nplace, 0);
        plan->subtree[plan->nsubtree++] = (lwi_k_subtree){own, step->park, step->first};
        step->park = own;
        step->first = true;
    }
    plan->nart = lwi_blocks_of(nplace);
    plan->ntip = lwi_blocks_of(ntip);
    return LW_OK;
}

// Finds the steps after which the recursion continues with the inertia, or the motion, in registers.
static void set_passages(lwi_kernel_plan *plan)
{
    for (int k = 1; k < plan->nstep; k++) {
        lwi_k_step *step = &plan->step[k];
        const lwi_k_step *next = &plan->step[k - 1];
        const int stride = step->slot - next->slot;
        const bool on = step->kind == LWI_K_HINGE && next->kind == LWI_K_HINGE &&
                        !step->realigned && step->parent == next->slot && step->park < 0 &&
                        next->fetch < 0 && stride > 0 && stride <= LWI_LANES;
        step->stride = on ? (int8_t)stride : 0;
        step->on = on && next->parent >= 0 && !step->drives && !next->drives;
        step->last = on && next->parent < 0 && !(step->shape & LWI_K_ROTOR);
    }
}

// At the step where shorter branches begin, the recursion of the longest one leaves the registers.
static lw_status set_beginnings(lwi_arena *arena, lwi_kernel_plan *plan)
{
    plan->begin = lwi_arena_push(arena, (size_t)plan->nstep, sizeof *plan->begin);
    if (!plan->begin) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->nstage; i++) {
        const lwi_k_stage *stage = &plan->stage[i];
        for (int r = 0; r < stage->branches; r++) {
            const int beyond = stage->first + stage->branch[r + 1] - stage->branch[r];
            if (beyond == stage->first + stage->length) continue;
            plan->begin[beyond - 1][r] = -1;
            plan->step[beyond - 1].begins = true;
            plan->step[beyond].on = false;
        }
    }
    return LW_OK;
}

// M' = M - g U' of a rigid body; the row of the joint axis itself is (rotor/D) U.
static void set_tip(const lwi_k_body *k, double rotor, int l, lwi_k_tip *tip, int at)
{
    const double m = k->m[l], x = k->h[0][l], y = k->h[1][l], z = k->h[2][l];
    const double D = k->pivot[l] + rotor, left = rotor / D;
    const double U[5] = {-y, x, 0, k->J[4][l], k->J[5][l]};
    double M[5][5] = {{m, 0, 0, 0, z},
                      {0, m, 0, -z, 0},
                      {0, 0, m, y, -x},
                      {0, -z, y, k->J[0][l], k->J[3][l]},
                      {z, 0, -x, k->J[3][l], k->J[1][l]}};
    tip->Di[at] = 1 / D;
    tip->diagonal[at] = k->J[0][l] + k->J[1][l];
    for (int i = 0; i < 5; i++) {
        tip->U[i][at] = U[i];
        tip->g[i][at] = U[i] / D;
        for (int j = 0; j < 5; j++) M[i][j] -= U[i] * U[j] / D;
    }
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int e = 0; e < 6; e++) tip->A[e][at] = M[row[e]][column[e]];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) tip->B[3 * i + j][at] = M[i][3 + j];
    tip->C[0][at] = M[3][3], tip->C[1][at] = M[4][4], tip->C[3][at] = M[3][4];
    for (int i = 0; i < 3; i++) tip->B[3 * i + 2][at] = left * U[i];
    tip->C[4][at] = left * U[3], tip->C[5][at] = left * U[4], tip->C[2][at] = left * k->pivot[l];
}

static lw_status set_tips(lwi_arena *arena, lwi_kernel_plan *plan)
{
    plan->tip = LWI_PUSH(arena, lwi_k_tip, plan->ntip);
    if (!plan->tip) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int block = step->slot / LWI_LANES, l = step->slot % LWI_LANES;
        if (step->leaf >= 0)
            set_tip(&plan->body[block], plan->screw[block].rotor[l], l,
                    &plan->tip[step->leaf / LWI_LANES], step->leaf % LWI_LANES);
    }
    return LW_OK;
}

lw_status lwi_build_branch_points(const build *b, const int *order, lwi_arena *arena,
                                  lwi_kernel_plan *plan)
{
    TRY(place_parking(b, order, arena, plan));
    set_passages(plan);
    TRY(set_beginnings(arena, plan));
    return set_tips(arena, plan);
}
