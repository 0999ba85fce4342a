// passes.c -- recursions along the spanning tree as prefix sums (passes.h).
//
// Composition is associative: of poses (R1, r1)(R2, r2) = (R1 R2, r1 + R1 r2); of velocities in
// world axes (v, w) and (dv, dw) to (v + w x (r2 - r1) + dv, w + dw); of forces with the transposes of poses.
#include "kinematics/passes.h"

#include "base/assert.h"
#include "kinematics/kernels.h"
#include "spatial/motion.h"

#include <string.h>

// Powers of two: nodes of a segment, and of a tree that is one segment.
enum { SEGMENT = 6, ONE_SEGMENT = 8 };

// ------------------------------------------------------------------------------------------ create

static int segment_of(const lwi_tree_passes *p, int k)
{
    return k >> p->shift;
}

static int end_of(const lwi_tree_passes *p, int s)
{
    const int end = (s + 1) << p->shift;
    return end < p->model->nnode ? end : p->model->nnode;
}

// Whether the parent of node k is a node of the same segment.
static bool inside(const lwi_tree_passes *p, int k)
{
    const int parent = p->model->node[k].parent;
    return parent >= 0 && segment_of(p, parent) == segment_of(p, k);
}

// Numbers the borders; returns their count.
static int find_borders(lwi_tree_passes *p)
{
    const int n = p->model->nnode;
    int count = 0;
    for (int k = 0; k < n; k++) p->border_of[k] = p->exit_of[k] = -1;
    for (int k = 0; k < n; k++) {
        const int parent = p->model->node[k].parent;
        LWI_ASSERT(parent < k);
        if (parent >= 0 && !inside(p, k)) p->border_of[parent] = 0;
    }
    for (int k = 0; k < n; k++)
        if (p->border_of[k] >= 0) p->border_of[k] = count++;
    return count;
}

// Exits of the heads, one for each border that heads of a segment are attached to.  last [border]: scratch.
static int find_exits(lwi_tree_passes *p, int *last)
{
    int count = 0;
    for (int s = 0, k = 0; s < p->segments; s++) {
        const int first = count;
        p->first_exit[s] = first;
        for (; k < end_of(p, s); k++) {
            const int parent = p->model->node[k].parent;
            if (parent < 0 || inside(p, k)) continue;
            const int base = p->border_of[parent];
            LWI_ASSERT(base >= 0);
            if (last[base] <= first) {
                p->exit[count] = (lwi_tree_exit){.base = base};
                last[base] = ++count;
            }
            p->exit_of[k] = last[base] - 1;
        }
    }
    p->first_exit[p->segments] = count;
    return count;
}

// Bases and exits of the borders, and the nodes between.
static void connect(lwi_tree_passes *p)
{
    for (int s = 0, i = 0, k = 0; s < p->segments; s++) {
        p->first_border[s] = i;
        for (; k < end_of(p, s); k++) {
            if (p->border_of[k] < 0) continue;
            int head = k;
            p->between[k] = true;
            while (inside(p, head)) p->between[head = p->model->node[head].parent] = true;
            const int exit = p->exit_of[head];
            LWI_ASSERT(p->border_of[k] == i);
            LWI_ASSERT(i == p->first_border[s] || p->border[i - 1].exit == exit); // one path
            p->border[i++] = (lwi_tree_border){
                .node = k, .base = exit < 0 ? -1 : p->exit[exit].base, .exit = exit};
        }
        p->first_border[s + 1] = i;
    }
}

lw_status lwi_tree_passes_create(const lw_model *model, lwi_arena *arena, lwi_tree_passes *p)
{
    const int n = model->nnode;
    *p = (lwi_tree_passes){.model = model, .shift = n <= 1 << ONE_SEGMENT ? ONE_SEGMENT : SEGMENT};
    p->segments = (n + (1 << p->shift) - 1) >> p->shift;
    p->border_of = LWI_PUSH(arena, int, n);
    p->exit_of = LWI_PUSH(arena, int, n);
    p->between = LWI_PUSH(arena, bool, n);
    p->carry = lwi_arena_push(arena, (size_t)n, sizeof *p->carry);
    p->first_border = LWI_PUSH(arena, int, p->segments + 1);
    p->first_exit = LWI_PUSH(arena, int, p->segments + 1);
    if (!p->border_of || !p->exit_of || !p->between || !p->carry || !p->first_border ||
        !p->first_exit)
        return LW_ERR_MEMORY;
    const int borders = find_borders(p);
    int heads = 0;
    for (int k = 0; k < n; k++) heads += model->node[k].parent >= 0 && !inside(p, k);
    p->border = LWI_PUSH(arena, lwi_tree_border, borders);
    p->exit = LWI_PUSH(arena, lwi_tree_exit, heads);
    int *last = LWI_PUSH(arena, int, borders);
    if (!p->border || !p->exit || !last) return LW_ERR_MEMORY;
    find_exits(p, last);
    connect(p);
    return LW_OK;
}

void lwi_tree_pass_depth(const lwi_tree_passes *p, double *longest, double *all)
{
    *longest = *all = 0;
    for (int s = 0; s < p->segments; s++) {
        const int first = s << p->shift, end = end_of(p, s);
        double own = end - first;
        for (int k = first; k < end; k++) own += p->between[k];
        *all += own;
        if (own > *longest) *longest = own;
    }
    *longest += p->first_border[p->segments];
    *all += p->first_border[p->segments];
}

// ------------------------------------------------------------------------------------------ a pass

typedef struct job {
    lwi_tree_passes *passes;
    const lwi_link *link;
    const double *v;
    const double (*own)[6];            // motions relative to the parents; NULL: of v
    const double (*at)[3], (*axes)[9]; // world frames
    double (*R)[9], (*r)[3], (*V)[6], (*F)[6];
    const lwi_link_kernels *kernels; // NULL: node by node
    void (*segment)(const struct job *job, int segment, int first, int end);
} job;

static job new_job(lwi_tree_passes *p)
{
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    return (job){.passes = p, .kernels = kernels && kernels->links.world ? &kernels->links : NULL};
}

static void run_segments(void *user, int first, int end)
{
    const job *of = user;
    const lwi_tree_passes *p = of->passes;
    for (int s = first; s < end; s++) of->segment(of, s, s << p->shift, end_of(p, s));
}

static void for_segments(job *of, void (*segment)(const job *job, int segment, int first, int end))
{
    of->segment = segment;
    lwi_pool_for(of->passes->pool, of->passes->segments, run_segments, of);
}

// ------------------------------------------------------------------------------------------- poses

// (R, r) := (R1, r1)(R2, r2)
static void compose(double *R, double *r, const double *R1, const double *r1, const double *R2,
                    const double *r2)
{
    m3_mul(R, R1, R2);
    m3_mul_v(r, R1, r2);
    v3_add(r, r, r1);
}

static void place_node(const job *of, int k, int parent)
{
    const lwi_link *link = &of->link[k];
    if (parent >= 0) {
        compose(of->R[k], of->r[k], of->R[parent], of->r[parent], link->R, link->r);
        return;
    }
    memcpy(of->R[k], link->R, sizeof link->R);
    v3_copy(of->r[k], link->r);
}

// Of nodes with parents that are placed.
static void place_nodes(const job *of, int first, int end)
{
    const lw_model *model = of->passes->model;
    if (of->kernels)
        of->kernels->world(model, of->link, first, end, of->R, of->r);
    else
        for (int k = first; k < end; k++) place_node(of, k, model->node[k].parent);
}

// The end of the nodes from k on, below `end`, that are between and have parents in the segment.
static int end_inside(const lwi_tree_passes *p, int k, int end)
{
    while (k < end && p->between[k] && inside(p, k)) k++;
    return k;
}

// Poses of borders in their bases.
static void place_borders(const job *of, int s, int first, int end)
{
    lwi_tree_passes *p = of->passes;
    if (p->first_border[s] == p->first_border[s + 1]) return;
    for (int k = first; k < end; k++) {
        const int next = end_inside(p, k, end);
        if (next > k) place_nodes(of, k, next);
        if (next < end && p->between[next]) place_node(of, next, -1);
        k = next;
    }
    for (int i = p->first_border[s]; i < p->first_border[s + 1]; i++) {
        lwi_tree_border *border = &p->border[i];
        memcpy(border->R, of->R[border->node], sizeof border->R);
        v3_copy(border->r, of->r[border->node]);
    }
}

static void place_rest(const job *of, int s, int first, int end)
{
    (void)s;
    const lwi_tree_passes *p = of->passes;
    for (int k = first, next; k < end; k = next + 1) {
        for (next = k; next < end && p->border_of[next] < 0;) next++;
        place_nodes(of, k, next);
    }
}

void lwi_tree_pass_world(lwi_tree_passes *p, const lwi_link *link, double (*R)[9], double (*r)[3])
{
    job of = new_job(p);
    of.link = link, of.R = R, of.r = r;
    const int borders = p->first_border[p->segments];
    if (borders) for_segments(&of, place_borders);
    for (int i = 0; i < borders; i++) {
        const lwi_tree_border *border = &p->border[i];
        if (border->base < 0) continue;
        const int base = p->border[border->base].node;
        compose(R[border->node], r[border->node], R[base], r[base], border->R, border->r);
    }
    for_segments(&of, place_rest);
}

// -------------------------------------------------------------------------------------- velocities

// V += the velocity of node `base` as of one body with it.
static void ride(const job *of, int k, int base)
{
    double *V = of->V[k], arm[3];
    const double *on = of->V[base];
    v3_sub(arm, of->at[k], of->at[base]);
    v3_cross_add(V, on + 3, arm);
    v6_add(V, V, on);
}

static void move_node(const job *of, int k, int parent)
{
    const lwi_node *node = &of->passes->model->node[k];
    const lwi_link *link = of->own ? NULL : &of->link[k];
    double own[6] = {0}, *V = of->V[k];
    if (of->own) v6_copy(own, of->own[k]);
    for (int j = 0; !of->own && j < node->nv; j++) v6_axpy(own, of->v[node->iv + j], link->S[j]);
    if (!of->own && node->driven) v6_add(own, own, link->sigma);
    m3_mul_v(V, of->axes[k], own);
    m3_mul_v(V + 3, of->axes[k], own + 3);
    if (parent >= 0) ride(of, k, parent);
}

static void ride_nodes(const job *of, int first, int end, int base)
{
    if (of->kernels)
        of->kernels->ride(first, end, base, of->at, of->V);
    else
        for (int k = first; k < end; k++) ride(of, k, base);
}

// Of nodes with parents that are moved.
static void move_nodes(const job *of, int first, int end)
{
    const lw_model *model = of->passes->model;
    if (of->kernels)
        of->kernels->motions(model, of->link, first, end, of->own, of->v, of->axes, of->at, of->V);
    else
        for (int k = first; k < end; k++) move_node(of, k, model->node[k].parent);
}

// Velocities of all nodes between, with the bases at rest.
static void move_segment(const job *of, int s, int first, int end)
{
    (void)s;
    const lwi_tree_passes *p = of->passes;
    for (int k = first; k < end; k++) {
        const int next = end_inside(p, k, end);
        if (next > k) move_nodes(of, k, next);
        if (next < end && p->between[next]) move_node(of, next, -1);
        k = next;
    }
}

// All borders of a segment are on one path, since nodes are in depth-first order, and so have one base.
static void move_rest(const job *of, int s, int first, int end)
{
    const lwi_tree_passes *p = of->passes;
    const int border = p->first_border[s];
    const int base = border < p->first_border[s + 1] ? p->border[border].base : -1;
    for (int k = first, next; k < end; k = next) {
        for (next = k; next < end && !p->between[next];) next++;
        move_nodes(of, k, next);
        for (k = next; next < end && p->between[next] && p->border_of[next] < 0;) next++;
        if (base >= 0) ride_nodes(of, k, next, p->border[base].node);
        while (next < end && p->border_of[next] >= 0) next++; // moved, and between
    }
}

static void sum_motions(job *of)
{
    const lwi_tree_passes *p = of->passes;
    const int borders = p->first_border[p->segments];
    if (borders) for_segments(of, move_segment);
    for (int i = 0; i < borders; i++) {
        const lwi_tree_border *border = &p->border[i];
        if (border->base >= 0) ride(of, border->node, p->border[border->base].node);
    }
    for_segments(of, move_rest);
}

void lwi_tree_pass_velocity(lwi_tree_passes *p, const lwi_link *link, const double (*R)[9],
                            const double (*r)[3], const double *v, double (*V)[6])
{
    job of = new_job(p);
    of.link = link, of.v = v, of.V = V, of.at = r, of.axes = R;
    sum_motions(&of);
}

void lwi_tree_pass_motion(lwi_tree_passes *p, const double (*R)[9], const double (*r)[3],
                          const double (*own)[6], double (*V)[6])
{
    job of = new_job(p);
    of.own = own, of.V = V, of.at = r, of.axes = R;
    sum_motions(&of);
}

// -------------------------------------------------------------------------------------------- sums

// Adds F of nodes end - 1 down to first to that of their parents, which are in their segment.
static void give_wrenches(const job *of, int first, int end, double (*F)[6])
{
    const lw_model *model = of->passes->model;
    if (of->kernels)
        of->kernels->wrenches(model, of->link, first - 1, end, F);
    else
        for (int k = end - 1; k >= first; k--)
            force_add_from(F[model->node[k].parent], of->link[k].R, of->link[k].r, F[k]);
}

// Sums inside the segment; what its heads pass on to each base.
static void sum_segment(const job *of, int s, int first, int end)
{
    lwi_tree_passes *p = of->passes;
    for (int e = p->first_exit[s]; e < p->first_exit[s + 1]; e++) v6_zero(p->exit[e].sum);
    for (int k = first; k < end; k++)
        if (p->between[k]) v6_zero(p->carry[k]);
    for (int k = end, next; k > first; k = next) {
        for (next = k; next > first && inside(p, next - 1);) next--;
        give_wrenches(of, next, k, of->F);
        if (next == first) break;
        const lwi_link *link = &of->link[--next];
        if (p->exit_of[next] >= 0)
            force_add_from(p->exit[p->exit_of[next]].sum, link->R, link->r, of->F[next]);
    }
}

// carry of each border := sum of all segments below.
static void sum_borders(lwi_tree_passes *p)
{
    for (int s = p->segments - 1; s >= 0; s--) {
        for (int i = p->first_border[s]; i < p->first_border[s + 1]; i++) {
            const lwi_tree_border *border = &p->border[i];
            if (border->exit >= 0)
                force_add_from(p->exit[border->exit].sum, border->R, border->r,
                               p->carry[border->node]);
        }
        for (int e = p->first_exit[s]; e < p->first_exit[s + 1]; e++) {
            double *carry = p->carry[p->border[p->exit[e].base].node];
            v6_add(carry, carry, p->exit[e].sum);
        }
    }
}

// Adds what the borders carry to the nodes above them in the segment.
static void add_carry(const job *of, int s, int first, int end)
{
    lwi_tree_passes *p = of->passes;
    if (p->first_border[s] == p->first_border[s + 1]) return;
    for (int k = end, next; k > first; k = next) {
        for (next = k; next > first && p->between[next - 1] && inside(p, next - 1);) next--;
        give_wrenches(of, next, k, p->carry);
        for (int i = next; i < k; i++) v6_add(of->F[i], of->F[i], p->carry[i]);
        if (next == first) break;
        if (p->between[--next]) v6_add(of->F[next], of->F[next], p->carry[next]);
    }
}

void lwi_tree_pass_sum(lwi_tree_passes *p, const lwi_link *link, double (*F)[6])
{
    job of = new_job(p);
    of.link = link, of.F = F;
    for_segments(&of, sum_segment);
    if (p->first_border[p->segments] == 0) return;
    sum_borders(p);
    for_segments(&of, add_carry);
}
