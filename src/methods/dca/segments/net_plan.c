// net_plan.c -- long paths of hinges between hubs (net_plan.h).
#include "methods/dca/segments/net_plan.h"

#include "base/assert.h"
#include "spatial/rotation.h"
#include "tree/body_forces.h"
#include "tree/normal_form/build.h"

#include <limits.h>

typedef struct planner {
    const lw_model *model;
    lwi_arena *arena, scratch;
    lwi_net_choice choice;
    lwi_k_parts parts;
    int *begin;         // [nnode + 1] first part of each node
    int *children;      // [nnode]
    int *child;         // [nnode] the last one
    bool *link;         // [nnode] may be in a path
    int *part;          // [npath] of the first hinge
    int *tied;          // [nnode] number of the loop that a hinge at the tip closes, -1: none
    lwi_k_part *at_tip; // [npath] that hinge
    lwi_net_plan *plan;
} planner;

#define GET(arena, field, count)                                                                   \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY

// -------------------------------------------------------------------------------- bodies of paths

static bool only_turns(const lwi_node *node)
{
    const lwi_joint_type *type = node->type;
    for (int i = 0; i < type->nfactor; i++)
        if (type->factor[i].kind != LWI_FACTOR_TURN) return false;
    return type->nfactor > 0 && !node->driven;
}

static bool is_hinge(const lwi_node *node)
{
    return only_turns(node) && node->type->nfactor == 1;
}

// May a joint outside the tree end a path?
static bool ties(const lwi_joint *joint)
{
    const lwi_joint_type *type = joint->type;
    return type->nfactor == 1 && type->factor[0].kind == LWI_FACTOR_TURN &&
           type->factor[0].axis == 2 && joint->ndriven == 0 && joint->nrotor == 0 &&
           !joint->mount.present;
}

// Bodies that joints outside the tree attach to are in no path, but its last one may have one hinge.
static void find_ties(planner *p)
{
    const lw_model *model = p->model;
    for (int k = 0; k < model->nnode; k++) p->tied[k] = -1;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const int side[2] = {joint->body1, joint->body2};
        for (int b = 0; b < 2; b++) {
            const int k = model->body_node[side[b]];
            if (k < 0 || !p->link[k]) continue;
            if (ties(joint) && p->children[k] == 0 && p->tied[k] < 0 &&
                lwi_path_may_end(&p->parts.part[p->begin[k + 1] - 1]))
                p->tied[k] = i;
            else
                p->link[k] = false;
        }
    }
}

// Bodies that forces act on or read are in no path.
static lw_status find_loaded(planner *p)
{
    const lw_model *model = p->model;
    bool *used;
    GET(&p->scratch, used, model->nbody);
    lwi_body_forces_mark(model, used);
    for (int k = 0; k < model->nnode; k++)
        if (used[model->node[k].body]) p->link[k] = false;
    return LW_OK;
}

// Bodies on revolute joints, without branches.
static lw_status find_links(planner *p)
{
    const lw_model *model = p->model;
    const int n = model->nnode;
    GET(&p->scratch, p->begin, n + 1);
    GET(&p->scratch, p->children, n);
    GET(&p->scratch, p->child, n);
    GET(&p->scratch, p->link, n);
    GET(&p->scratch, p->tied, n);
    for (int k = 0; k < n; k++) {
        const lwi_node *node = &model->node[k];
        const int last = p->parts.part_of[k] + 1; // that of its parent, if it has no parts
        p->begin[k + 1] = last > p->begin[k] ? last : p->begin[k];
        p->link[k] = only_turns(node);
        if (node->parent < 0) continue;
        p->children[node->parent]++;
        p->child[node->parent] = k;
    }
    for (int k = 0; k < n; k++) p->link[k] &= p->children[k] <= 1;
    TRY(find_loaded(p));
    find_ties(p);
    return LW_OK;
}

// The first body of a path?
static bool begins(const planner *p, int k)
{
    const int parent = p->model->node[k].parent;
    return p->link[k] && (parent < 0 || !p->link[parent]);
}

// The last body of the path that begins with node k.
static int last_of(const planner *p, int k)
{
    while (p->children[k] == 1 && p->link[p->child[k]]) k = p->child[k];
    return k;
}

static int hinges_of(const planner *p, int first, int last)
{
    return p->begin[last + 1] - p->begin[first];
}

static double rotor(const planner *p, int part)
{
    return p->model->tree_rotor[p->parts.part[part].iv];
}

// Shortens a path until it can be cut at both ends; its first body, or -1: nothing is left.
static int trim(planner *p, int first)
{
    int last = last_of(p, first);
    while (p->children[last] == 1) { // the tip carries a hub
        const int hub = p->child[last], part = p->begin[hub];
        if (is_hinge(&p->model->node[hub]) &&
            lwi_path_may_cut(p->model, &p->parts.part[part - 1], &p->parts.part[part]))
            break;
        p->link[last] = false;
        if (last == first) return -1;
        last = p->model->node[last].parent;
    }
    while (p->model->node[first].parent >= 0 && rotor(p, p->begin[first]) != 0) {
        p->link[first] = false;
        if (last == first) return -1;
        first = p->child[first];
    }
    return first;
}

// Bodies of short paths become hubs.
static void drop_short(planner *p)
{
    const int shortest = p->choice.shortest ? p->choice.shortest : LWI_NET_SHORTEST;
    for (int k = 0; k < p->model->nnode; k++) {
        if (!begins(p, k)) continue;
        const int first = trim(p, k);
        if (first < 0) continue;
        const int last = last_of(p, first);
        if (hinges_of(p, first, last) >= shortest) continue;
        for (int i = first;; i = p->child[i]) {
            p->link[i] = false;
            if (i == last) break;
        }
    }
}

// ------------------------------------------------------------------------------------------- lists

static lw_status list_hubs(planner *p)
{
    const lw_model *model = p->model;
    lwi_net_plan *plan = p->plan;
    GET(p->arena, plan->hub_of, model->nnode);
    for (int k = 0; k < model->nnode; k++) {
        plan->hub_of[k] = p->link[k] ? -1 : plan->nhub++;
        if (p->link[k]) plan->nhinge += hinges_of(p, k, k);
        if (begins(p, k)) plan->npath++;
        if (p->link[k] && p->tied[k] >= 0) plan->ntie++;
    }
    GET(p->arena, plan->hub, plan->nhub);
    GET(p->arena, plan->path, plan->npath);
    GET(p->arena, plan->tie, plan->ntie); // at most: two paths may share one
    GET(p->arena, plan->from_hub, plan->nhub + 2);
    GET(p->arena, plan->carries, plan->npath);
    GET(p->arena, plan->iq, plan->nhinge);
    GET(p->arena, plan->iv, plan->nhinge);
    GET(&p->scratch, p->part, plan->npath);
    GET(&p->scratch, p->at_tip, plan->npath);
    return LW_OK;
}

static int hub_at(const lwi_net_plan *plan, int node)
{
    return node < 0 ? -1 : plan->hub_of[node];
}

// The head of the path that begins with node k, in the link frame of the hub that carries it.
static void set_head(const planner *p, int k, lwi_net_path *path)
{
    const int parent = p->model->node[k].parent;
    const lwi_k_part *part = &p->parts.part[p->begin[k]];
    lwi_k_frame flip = {.r = {0}}, in;
    lwi_path_flip(flip.R, part);
    lwi_k_compose(&in, &part->in, &flip);
    path->head = in;
    if (parent < 0) return;
    lwi_k_frame back;
    lwi_k_invert(&back, &p->parts.offset[parent]);
    lwi_k_compose(&path->head, &back, &in);
}

// The hinge outside the tree at the tip of a path, as a part that its last body carries.
static void set_tie(planner *p, int i)
{
    lwi_net_path *path = &p->plan->path[i];
    const int k = path->tip;
    const lwi_node *node = &p->model->node[k];
    const lwi_joint *joint = &p->model->joint[p->model->loop[p->tied[k]]];
    const bool first = joint->body1 == node->body;
    lwi_k_frame in;
    m3_mul(in.R, node->c_R, first ? joint->R1 : joint->R2);
    m3_mul_v(in.r, node->c_R, first ? joint->r1 : joint->r2);
    v3_add(in.r, in.r, node->c_r);
    lwi_k_invert(&path->link, &in);
    lwi_k_compose(&in, &p->parts.offset[k], &in);
    p->at_tip[i] = (lwi_k_part){.in = in, .turn = 1, .sign = 1};
}

// Joints outside the tree at the tips of paths, each once.
static lw_status list_ties(planner *p)
{
    lwi_net_plan *plan = p->plan;
    int *tie; // of each loop
    GET(&p->scratch, tie, p->model->nloop);
    for (int i = 0; i < p->model->nloop; i++) tie[i] = -1;
    plan->ntie = 0;
    for (int i = 0; i < plan->npath; i++) {
        lwi_net_path *path = &plan->path[i];
        const int loop = path->tie;
        if (loop < 0) continue;
        if (tie[loop] < 0) {
            tie[loop] = plan->ntie++;
            plan->tie[tie[loop]] = (lwi_net_tie){loop, {-1, -1}};
        }
        const int body1 = p->model->joint[p->model->loop[loop]].body1;
        path->tie = tie[loop];
        plan->tie[tie[loop]].path[body1 != p->model->node[path->tip].body] = i;
        set_tie(p, i);
    }
    return LW_OK;
}

// The paths of each hub.
static void list_by_hub(lwi_net_plan *plan)
{
    int *at = plan->from_hub;
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from >= 0) at[plan->path[i].from + 2]++;
    for (int h = 1; h < plan->nhub; h++) at[h + 1] += at[h];
    for (int i = 0; i < plan->npath; i++)
        if (plan->path[i].from >= 0) plan->carries[at[plan->path[i].from + 1]++] = i;
}

static lw_status list_paths(planner *p)
{
    const lw_model *model = p->model;
    lwi_net_plan *plan = p->plan;
    int npath = 0, nhinge = 0;
    for (int h = 0, k = 0; k < model->nnode; k++)
        if (!p->link[k]) plan->hub[h++] = (lwi_net_hub){k, hub_at(plan, model->node[k].parent), -1};
    for (int k = 0; k < model->nnode; k++) {
        if (!begins(p, k)) continue;
        const int last = last_of(p, k);
        lwi_net_path *path = &plan->path[npath];
        *path = (lwi_net_path){.from = hub_at(plan, model->node[k].parent),
                               .to = p->children[last] ? plan->hub_of[p->child[last]] : -1,
                               .tie = p->tied[last],
                               .tip = last,
                               .first = nhinge,
                               .n = hinges_of(p, k, last)};
        LWI_ASSERT(last - k < path->n); // nodes of a path are consecutive
        for (int i = p->begin[k]; i < p->begin[last + 1]; i++, nhinge++) {
            plan->iq[nhinge] = p->parts.part[i].iq;
            plan->iv[nhinge] = p->parts.part[i].iv;
        }
        p->part[npath] = p->begin[k];
        set_head(p, k, path);
        if (path->to >= 0) {
            plan->hub[path->to].path = npath;
            plan->hub[path->to].parent = path->from;
        }
        npath++;
    }
    list_by_hub(plan);
    return list_ties(p);
}

// ---------------------------------------------------------------------------------------- segments

static int quotient(int n, int by) // rounded up
{
    return (n + by - 1) / by;
}

// The length nearest to the given one by which a path is cut.
static int length_of(const lwi_net_path *path, int about)
{
    const int pieces = (2 * path->n + about) / (2 * about);
    return quotient(path->n, pieces > 1 ? pieces : 1);
}

// Cuts a path into pieces of about the given length; `part`: that of its first hinge.  Returns the number of segments;
// segment NULL: only counts.
static int cut(const planner *p, const lwi_net_path *path, const lwi_k_part *part, int about,
               lwi_net_segment *segment)
{
    const int length = length_of(path, about);
    int from = 0, count = 0;
    while (from < path->n) {
        int end = from + length < path->n ? from + length : path->n;
        while (end < path->n && end > from &&
               !lwi_path_may_cut(p->model, &part[end - 1], &part[end]))
            end--;
        if (end == from) end = path->n; // no place for a cut
        if (segment)
            segment[count] = (lwi_net_segment){.first = path->first + from, .n = end - from};
        count++;
        from = end;
    }
    return count;
}

// What passes over the segments and joins cost with paths cut by about the given length, in bodies: groups have the length
// of their longest segment.  @param count  [nhinge + 1] zero, and again on return
static long cost_of(const lwi_net_plan *plan, int about, int *count)
{
    enum { JOIN = 12 }; // counted in instructions, with its copies between lanes
    long cost = 0;
    int longest = 0, lane = 0;
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        const int length = length_of(path, about), whole = path->n / length,
                  rest = path->n % length;
        count[length] += whole;
        count[rest] += rest > 0;
        cost += JOIN * (whole + (rest > 0) - 1);
        if (length > longest) longest = length;
    }
    for (int n = longest; n > 0; count[n--] = 0)
        for (int i = 0; i < count[n]; i++, lane++)
            if (lane % LWI_LANES == 0) cost += LWI_LANES * n;
    return cost;
}

// About twice the length of the segments of a single path, as where there are hubs too threads gain less than joins take;
// so that groups and joins have the smallest cost.
static lw_status choose_length(planner *p, int *about)
{
    const lwi_net_plan *plan = p->plan;
    const int common = lwi_path_longest_segment(2 * plan->nhinge, p->choice.length);
    int *count;
    long minimum = LONG_MAX;
    *about = common;
    if (p->choice.length) return LW_OK;
    GET(&p->scratch, count, plan->nhinge + 1);
    for (int length = common - common / 4; length <= common + common / 4; length++) {
        const long cost = cost_of(plan, length, count);
        if (cost < minimum) minimum = cost, *about = length;
    }
    return LW_OK;
}

static lw_status list_segments(planner *p)
{
    lwi_net_plan *plan = p->plan;
    int about;
    TRY(choose_length(p, &about));
    for (int i = 0; i < plan->npath; i++) {
        lwi_net_path *path = &plan->path[i];
        path->segment = plan->nsegment;
        path->nsegment = cut(p, path, &p->parts.part[p->part[i]], about, NULL);
        plan->nsegment += path->nsegment;
    }
    GET(p->arena, plan->segment, plan->nsegment);
    for (int i = 0; i < plan->npath; i++) {
        const lwi_net_path *path = &plan->path[i];
        lwi_net_segment *segment = &plan->segment[path->segment];
        const int after = path->to < 0 ? -1 : p->model->node[plan->hub[path->to].node].iv;
        cut(p, path, &p->parts.part[p->part[i]], about, segment);
        for (int j = 0; j < path->nsegment; j++) {
            segment[j].path = i;
            segment[j].next =
                j + 1 < path->nsegment ? plan->iv[segment[j].first + segment[j].n] : after;
            if (segment[j].n > plan->longest) plan->longest = segment[j].n;
        }
    }
    return LW_OK;
}

// Numbers of the segments by length, longest first, and those of equal length in their order.
static lw_status sort_segments(planner *p, int **sorted)
{
    const lwi_net_plan *plan = p->plan;
    int *count, n = 0;
    GET(&p->scratch, *sorted, plan->nsegment);
    GET(&p->scratch, count, plan->longest + 2);
    for (int s = 0; s < plan->nsegment; s++) count[plan->segment[s].n]++;
    for (int length = plan->longest; length >= 0; length--) {
        const int own = count[length];
        count[length] = n;
        n += own;
    }
    for (int s = 0; s < plan->nsegment; s++) (*sorted)[count[plan->segment[s].n]++] = s;
    return LW_OK;
}

static lw_status make_groups(planner *p)
{
    lwi_net_plan *plan = p->plan;
    int *sorted;
    TRY(sort_segments(p, &sorted));
    plan->ngroup = quotient(plan->nsegment, LWI_LANES);
    GET(p->arena, plan->member, plan->ngroup);
    GET(p->arena, plan->body_at, plan->ngroup + 1);
    GET(p->arena, plan->place, plan->nsegment + LWI_LANES * plan->nsegment);
    for (int g = 0; g < plan->ngroup; g++) {
        plan->body_at[g + 1] = plan->body_at[g] + plan->segment[sorted[LWI_LANES * g]].n;
        for (int l = 0; l < LWI_LANES; l++) {
            const int i = LWI_LANES * g + l;
            plan->member[g][l] = i < plan->nsegment ? sorted[i] : -1;
            if (i < plan->nsegment) plan->place[sorted[i]] = (lwi_net_place){g, l};
        }
    }
    GET(p->arena, plan->body, plan->body_at[plan->ngroup]);
    return LW_OK;
}

// Constants of the bodies, in the order of each path; what the last twist leaves over goes to the hub at the tip.
static void set_bodies(const planner *p)
{
    lwi_net_plan *plan = p->plan;
    for (int i = 0; i < plan->npath; i++) {
        lwi_net_path *path = &plan->path[i];
        const lwi_k_part *part = &p->parts.part[p->part[i]];
        const lwi_path_row row = {p->model, part, path->n + (path->to >= 0),
                                  path->tie < 0 ? NULL : &p->at_tip[i]};
        path->angle = 0;
        for (int s = path->segment; s < path->segment + path->nsegment; s++) {
            const lwi_net_segment *segment = &plan->segment[s];
            const lwi_net_place at = plan->place[s];
            lwi_path_set_bodies(&row, segment->first - path->first, segment->n, &path->angle,
                                plan->body + plan->body_at[at.block],
                                plan->body_at[at.block + 1] - plan->body_at[at.block], at.lane);
        }
        if (path->tie >= 0) {
            const lwi_k_frame back = lwi_k_screw_z(path->angle, 0);
            lwi_k_compose(&path->link, &back, &path->link);
        }
        if (path->to < 0) continue;
        lwi_k_frame flip = {.r = {0}};
        lwi_path_flip(flip.R, &part[path->n]);
        lwi_k_compose(&path->link, &flip, &p->parts.offset[plan->hub[path->to].node]);
    }
    const lwi_path_row none = {.model = p->model};
    double angle = 0;
    for (int g = 0; g < plan->ngroup; g++)
        for (int l = 0; l < LWI_LANES; l++)
            if (plan->member[g][l] < 0)
                lwi_path_set_bodies(&none, 0, 0, &angle, plan->body + plan->body_at[g],
                                    plan->body_at[g + 1] - plan->body_at[g], l);
}

// ------------------------------------------------------------------------------------------- joins

// Puts a join of this level into its last batch, or a new one; returns the number of the compound.
static int add_join(lwi_net_plan *plan, int level, int a, int b)
{
    if (plan->nbatch == plan->level[level] || plan->batch[plan->nbatch - 1].n == LWI_LANES)
        plan->batch[plan->nbatch++].n = 0;
    lwi_net_batch *batch = &plan->batch[plan->nbatch - 1];
    const int to = plan->nsegment + LWI_LANES * (plan->nbatch - 1) + batch->n;
    plan->place[to] = (lwi_net_place){plan->ngroup + plan->nbatch - 1, batch->n};
    batch->a[batch->n] = a;
    batch->b[batch->n++] = b;
    return to;
}

// Neighbours in each path are joined, level by level.
static lw_status make_joins(planner *p)
{
    enum { MAX_LEVELS = 32 };
    lwi_net_plan *plan = p->plan;
    int *end, *left; // ends of each path that are left, from its first segment on; their number
    GET(&p->scratch, end, plan->nsegment);
    GET(&p->scratch, left, plan->npath);
    GET(p->arena, plan->batch, plan->nsegment);
    GET(p->arena, plan->level, MAX_LEVELS + 1);
    for (int s = 0; s < plan->nsegment; s++) end[s] = s;
    for (int i = 0; i < plan->npath; i++) left[i] = plan->path[i].nsegment;
    for (bool any = true; any;) {
        any = false;
        LWI_ASSERT(plan->nlevel < MAX_LEVELS);
        for (int i = 0; i < plan->npath; i++) {
            int *own = end + plan->path[i].segment, n = 0;
            for (int j = 0; j < left[i]; j += 2)
                own[n++] =
                    j + 1 < left[i] ? add_join(plan, plan->nlevel, own[j], own[j + 1]) : own[j];
            any = any || n < left[i];
            left[i] = n;
            plan->path[i].whole = own[0];
        }
        if (any) plan->level[++plan->nlevel] = plan->nbatch;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ create

static bool accepts(const lw_model *model, int minimum)
{
    if (model->nnode < 1 || model->ncoupling || model->tree_nv + model->nnode < minimum)
        return false;
    for (int i = 0; i < model->nloop; i++)
        if (model->joint[model->loop[i]].nrotor > 0) return false;
    return true;
}

// Whether there may be a path that is long enough: what has no parts yet shows that most models have none.
static lw_status may_have_path(planner *p, bool *may)
{
    const lw_model *model = p->model;
    const int shortest = p->choice.shortest ? p->choice.shortest : LWI_NET_SHORTEST;
    int *hinges; // of the path up to each body, at most
    *may = false;
    GET(&p->scratch, p->children, model->nnode);
    GET(&p->scratch, p->link, model->nnode);
    GET(&p->scratch, hinges, model->nnode);
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].parent >= 0) p->children[model->node[k].parent]++;
    for (int k = 0; k < model->nnode; k++)
        p->link[k] = only_turns(&model->node[k]) && p->children[k] <= 1;
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        const int side[2] = {model->body_node[joint->body1], model->body_node[joint->body2]};
        for (int b = 0; b < 2; b++)
            if (side[b] >= 0 && p->children[side[b]] > 0) p->link[side[b]] = false; // no tie
    }
    for (int k = 0; k < model->nnode && !*may; k++) {
        const lwi_node *node = &model->node[k];
        if (!p->link[k]) continue;
        const bool mount = node->joint >= 0 && model->joint[node->joint].mount.present;
        hinges[k] = (node->parent < 0 ? 0 : hinges[node->parent]) + node->type->nfactor;
        *may = mount || hinges[k] >= shortest; // a mount has parts, too
    }
    return LW_OK;
}

// Hubs are few.
static bool is_worth_it(const planner *p, int minimum)
{
    const lwi_net_plan *plan = p->plan;
    const int share = p->choice.share ? p->choice.share : LWI_NET_SHARE;
    return plan->nhinge + plan->nhub >= minimum && plan->nhinge >= share * plan->nhub;
}

static lw_status fill(planner *p, lwi_net_plan **out)
{
    const int minimum = p->choice.minimum ? p->choice.minimum : LWI_PATH_MINIMUM;
    bool may;
    TRY(may_have_path(p, &may));
    if (!may) return LW_OK;
    TRY(lwi_k_parts_create_any(p->model, &p->scratch, &p->parts));
    TRY(find_links(p));
    drop_short(p);
    if (!(p->plan = LWI_PUSH(p->arena, lwi_net_plan, 1))) return LW_ERR_MEMORY;
    TRY(list_hubs(p));
    TRY(list_paths(p));
    if (!is_worth_it(p, minimum)) return LW_OK;
    TRY(list_segments(p));
    TRY(make_groups(p));
    set_bodies(p);
    TRY(make_joins(p));
    *out = p->plan;
    return LW_OK;
}

lw_status lwi_net_plan_create(const lw_model *model, lwi_net_choice choice, lwi_arena *arena,
                              lwi_net_plan **plan)
{
    planner p = {.model = model, .arena = arena, .choice = choice};
    *plan = NULL;
    if (!accepts(model, choice.minimum ? choice.minimum : LWI_PATH_MINIMUM)) return LW_OK;
    lwi_arena_init(&p.scratch, &arena->allocator);
    const lw_status status = fill(&p, plan);
    lwi_arena_free(&p.scratch);
    return status;
}
