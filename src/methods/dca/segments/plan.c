// plan.c -- a path: recognised, brought to axes with a twist about x between joints, and cut (plan.h).
#include "methods/dca/segments/plan.h"

#include "base/assert.h"
#include "spatial/rotation.h"
#include "tree/normal_form/build.h"

#include <float.h>

// The last body of a segment has nothing beyond it in the passes inward: below this ratio of its inertia, about or along
// its joint's axes and others, too many digits are lost there.
static const double min_at_cuts = 1e-6;

// Below this sine or cosine two axes are parallel, or at a right angle, to round-off.
static const double rounding = 8 * DBL_EPSILON;

// Joints of the path, raw.
typedef struct path {
    const lw_model *model;
    lwi_k_parts parts;
    int base, n;              // parts before the first joint; joints
    const lwi_k_part *beyond; // a hinge that the last one carries, or NULL
} path;

static const lwi_k_part *part_of(const path *p, int k)
{
    LWI_ASSERT_INDEX(k, p->n);
    return &p->parts.part[p->base + k];
}

static lwi_path_kind kind_of(const lwi_k_part *part)
{
    if (part->ball) return LWI_PATH_BALL;
    return part->turn == 1 && part->slide == 0 ? LWI_PATH_HINGE : LWI_PATH_SCREW;
}

// ----------------------------------------------------------------------------------------- applies

static bool has_rotor(const lw_model *model, const lwi_k_part *part)
{
    for (int i = 0; i < (part->ball ? 3 : 1); i++)
        if (model->tree_rotor[part->iv + i] != 0) return true;
    return false;
}

static bool is_path(path *p)
{
    const lwi_k_parts *parts = &p->parts;
    if (parts->n < 1 || parts->ndrive) return false;
    p->base = parts->part[0].floats;
    if (p->base && (p->model->node[0].reversed || p->model->node[0].nv < 3)) return false;
    p->n = parts->n - p->base;
    for (int i = 0; i < parts->n; i++)
        if (parts->part[i].parent != i - 1 ||
            parts->part[i].floats != (i < p->base || parts->part[i].ball))
            return false;
    for (int k = 0; k < p->n; k++)
        if (part_of(p, k)->ball && has_rotor(p->model, part_of(p, k))) return false;
    if (!p->base || p->n == 0) return true;
    // the base is moved by more than p of its first joint if this is no hinge or has a rotor
    return kind_of(part_of(p, 0)) != LWI_PATH_SCREW && !has_rotor(p->model, part_of(p, 0));
}

// Has the body, with nothing beyond it, enough inertia for its joint?
static bool has_inertia(const lwi_k_part *part)
{
    const double *J = part->J, t = part->turn, s = part->slide, trace = J[0] + J[1] + J[2];
    switch (kind_of(part)) {
    case LWI_PATH_HINGE:
        return J[2] > min_at_cuts * (J[0] + J[1]);
    case LWI_PATH_SCREW:
        return t * t * J[2] + s * s * part->m > min_at_cuts * (t * t * trace + s * s * part->m);
    default: { // pivots of J, z first
        const double yy = J[1] - J[5] * J[5] / J[2], xy = J[3] - J[4] * J[5] / J[2];
        const double xx = J[0] - J[4] * J[4] / J[2];
        return J[2] > min_at_cuts * trace && yy > min_at_cuts * trace &&
               xx - xy * xy / yy > min_at_cuts * trace;
    }
    }
}

bool lwi_path_may_end(const lwi_k_part *last)
{
    return has_inertia(last);
}

bool lwi_path_may_cut(const lw_model *model, const lwi_k_part *before, const lwi_k_part *after)
{
    return kind_of(after) != LWI_PATH_SCREW && !has_rotor(model, after) && has_inertia(before);
}

// May the path be cut through joint k?
static bool may_cut(const path *p, int k)
{
    return lwi_path_may_cut(p->model, part_of(p, k - 1), part_of(p, k));
}

// ------------------------------------------------------------------------------------------- lengths

static int quotient(int n, int by) // rounded up
{
    return (n + by - 1) / by;
}

// Short segments leave more to joins, each of which costs what tens of bodies do; long ones leave fewer to threads,
// and from 128 bodies on the blocks of a group exceed the second cache.
int lwi_path_longest_segment(int n, int choice)
{
    if (choice) return choice;
    const int length = n / 128;
    return length < 32 ? 32 : length > 128 ? 128 : length;
}

// Sets `first` and `largest`; false if there are too few places for cuts.
static bool cut(const path *p, lwi_path_choice choice, lwi_path_plan *plan)
{
    const int segments = LWI_LANES * plan->groups;
    const int length = quotient(p->n, segments);
    LWI_ASSERT(length <= lwi_path_longest_segment(p->n, choice.length));
    plan->largest = 0;
    for (int s = 0; s < segments; s++) {
        int k = (s + 1) * length < p->n ? (s + 1) * length : p->n;
        while (k > plan->first[s] && k < p->n && !may_cut(p, k)) k--;
        if (k == plan->first[s] && k < p->n) return false;
        if (s == segments - 1) k = p->n; // what earlier cuts left
        plan->first[s + 1] = k;
        const int size = lwi_path_segment_size(plan, s);
        if (size > plan->largest) plan->largest = size;
    }
    return true;
}

// What each lane of a group has left.
typedef struct front {
    int joint[LWI_LANES], end[LWI_LANES];
} front;

static int next_kind(const path *p, const front *f, int l)
{
    return f->joint[l] == f->end[l] ? -1 : (int)kind_of(part_of(p, f->joint[l]));
}

// The kind that the lane with the largest rest has next, of equal ones the more frequent kind; -1: all have ended.
static int choose_kind(const path *p, const front *f)
{
    int best = -1, longest = 0, lanes = 0;
    for (int l = 0; l < LWI_LANES; l++) {
        const int left = f->end[l] - f->joint[l], kind = next_kind(p, f, l);
        int same = 0;
        for (int i = 0; i < LWI_LANES; i++) same += next_kind(p, f, i) == kind;
        if (left < longest || (left == longest && same <= lanes)) continue;
        if (kind >= 0) best = kind, longest = left, lanes = same;
    }
    return best;
}

// Joints of the segments of group g side by side: those of one kind at each place, padding in the other lanes.
// Returns the number of places.  @param fill  sets `kind` and `place`
static int align(const path *p, lwi_path_plan *plan, int g, bool fill)
{
    front f;
    int places = 0;
    for (int l = 0; l < LWI_LANES; l++) {
        f.joint[l] = plan->first[l * plan->groups + g];
        f.end[l] = plan->first[l * plan->groups + g + 1];
    }
    for (int kind; (kind = choose_kind(p, &f)) >= 0;) {
        const int n = kind == LWI_PATH_BALL ? 3 : 1;
        int lanes = 0;
        for (int l = 0; l < LWI_LANES; l++) {
            if (next_kind(p, &f, l) != kind) continue;
            lanes++;
            if (fill) plan->place[(l * plan->groups + g) * plan->length + places] = f.joint[l];
            f.joint[l]++;
        }
        for (int i = 0; fill && i < n; i++) {
            int here = i ? LWI_PATH_OF_BALL : kind;
            if (here == LWI_PATH_BALL && lanes < LWI_LANES) here = LWI_PATH_SOME_BALLS;
            plan->kind[g * plan->length + places + i] = (signed char)here;
        }
        places += n;
    }
    return places;
}

// Are the joints at the tips of group g balls, or its segments the last of the path?
static bool tips_are_balls(const path *p, const lwi_path_plan *plan, int g)
{
    for (int l = 0; l < LWI_LANES; l++) {
        const int beyond = plan->first[l * plan->groups + g + 1];
        if (beyond < p->n && !part_of(p, beyond)->ball) return false;
    }
    return true;
}

// `all` of lwi_path_rows.
static int kind_of_all(const path *p, const lwi_path_plan *plan, int g)
{
    const signed char *kind = plan->kind + g * plan->length;
    int balls = 0, hinges = 0, padded = 0;
    for (int j = 0; j < plan->places[g]; j++) {
        hinges += kind[j] == LWI_PATH_HINGE;
        balls += kind[j] == LWI_PATH_BALL || kind[j] == LWI_PATH_OF_BALL;
        padded += kind[j] == LWI_PATH_SOME_BALLS;
    }
    if (hinges == plan->places[g]) return LWI_PATH_HINGE;
    if (balls + padded < plan->places[g] || !tips_are_balls(p, plan, g)) return LWI_PATH_MIXED;
    return padded ? LWI_PATH_SOME_BALLS : LWI_PATH_BALL;
}

// ---------------------------------------------------------------------------------------- constants

// R = Rz(phi) Rx(alpha) Rz(psi)
typedef struct twist {
    double phi, ca, sa, psi;
} twist;

// An angle that is the rounding of none, as those of rods in line are, is none.
static double angle_of(double y, double x)
{
    return fabs(y) <= rounding * x ? 0 : atan2(y, x);
}

static twist twist_of(const double R[9])
{
    const double side =
        R[5] > 0 ? -1 : 1; // of the two normals of the axes, the one nearer to x: |phi| <= pi/2
    const double zx = side * R[2], zy = side * R[5], sine = hypot(zx, zy);
    const bool parallel = sine <= rounding, square = fabs(R[8]) <= rounding;
    twist t = {.phi = parallel ? 0 : angle_of(zx, -zy)};
    t.ca = parallel ? copysign(1, R[8]) : square ? 0 : R[8] / hypot(sine, R[8]);
    t.sa = side * (parallel ? 0 : square ? 1 : sine / hypot(sine, R[8]));
    double back[9], T[9];
    rot_z(back, cos(t.phi), -sin(t.phi));
    m3_mul(T, back, R);
    t.psi =
        angle_of(t.ca * T[3] + t.sa * T[6], T[0]); // phi + psi is accurate where phi alone is not
    return t;
}

// A joint that the tree passes backwards rotates forwards about the opposite axis: x is the axis of this change.
void lwi_path_flip(double S[9], const lwi_k_part *part)
{
    rot_x(S, part->sign, 0);
}

// Axes of joint k + 1 in those of joint k, both after flip, and its point.
static void next_frame(const path *p, int k, double R[9], double r[3])
{
    const lwi_k_part *next = k + 1 < p->n ? part_of(p, k + 1) : p->beyond;
    double S[9], T[9];
    lwi_path_flip(S, part_of(p, k));
    m3_mul(T, S, next->in.R);
    m3_mul_v(r, S, next->in.r);
    lwi_path_flip(S, next);
    m3_mul(R, T, S);
}

// A ball: its own axes remain, the rotations about z are separate constants.
static void set_ball(const lwi_k_part *part, twist t, const double r[3], double psi,
                     lwi_path_body *to, int l)
{
    to[0].ca[l] = t.ca, to[0].sa[l] = t.sa;
    to[1].ca[l] = cos(t.phi), to[1].sa[l] = sin(t.phi);
    to[2].ca[l] = cos(psi), to[2].sa[l] = sin(psi);
    to[0].m[l] = part->m;
    for (int i = 0; i < 3; i++) to[0].o[i][l] = r[i], to[0].h[i][l] = part->h[i];
    for (int i = 0; i < 6; i++) to[0].J[i][l] = part->J[i];
}

// Constants of joint k; psi: rotation left over by the twist before it, and for the next one on return.
static void set_body(const path *p, int k, double *psi, lwi_path_body *to, int l)
{
    const lwi_k_part *part = part_of(p, k);
    twist t = {0, 1, 0, 0};
    double R[9], r[3] = {0}, back[9], S[9], A[9], h[3], J[6];
    const double before = *psi;
    if (k + 1 < p->n || p->beyond) {
        next_frame(p, k, R, r);
        t = twist_of(R);
    }
    *psi = t.psi;
    if (part->ball) {
        set_ball(part, t, r, before, to, l);
        return;
    }
    lwi_path_flip(S, part);
    rot_z(back, cos(t.phi), -sin(t.phi));
    m3_mul(A, back, S);
    m3_mul_v(r, back, r);
    m3_mul_v(h, A, part->h);
    s3_rotate(J, A, part->J);
    to->angle[l] = before + t.phi;
    to->ca[l] = t.ca;
    to->sa[l] = t.sa;
    to->m[l] = part->m;
    to->rotor[l] = p->model->tree_rotor[part->iv];
    to->turn[l] = part->turn;
    to->slide[l] = part->slide;
    for (int i = 0; i < 3; i++) to->o[i][l] = r[i], to->h[i][l] = h[i];
    for (int i = 0; i < 6; i++) to->J[i][l] = J[i];
}

// A massless body on a joint that cannot move.
static void set_padding(lwi_path_body *to, int l)
{
    to->ca[l] = 1;
    to->rotor[l] = 1e300;
    to->padding[l] = 1;
}

static void set_bodies(const path *p, lwi_path_plan *plan)
{
    double psi = 0;
    for (int s = 0; s < LWI_LANES * plan->groups; s++) {
        lwi_path_body *group = plan->body + s % plan->groups * plan->length;
        const int l = s / plan->groups, *place = plan->place + s * plan->length;
        for (int j = 0; j < plan->places[s % plan->groups]; j++) {
            if (place[j] < 0) {
                set_padding(&group[j], l);
                continue;
            }
            set_body(p, place[j], &psi, &group[j], l);
            j += lwi_path_nv(&plan->joint[place[j]]) - 1;
        }
    }
}

void lwi_path_set_bodies(const lwi_path_row *row, int first, int n, double *angle,
                         lwi_path_body *block, int length, int l)
{
    const path p = {.model = row->model,
                    .parts = {.part = (lwi_k_part *)row->part},
                    .n = row->n,
                    .beyond = row->beyond}; // not changed
    for (int j = 0; j < n; j++) set_body(&p, first + j, angle, &block[j], l);
    for (int j = n; j < length; j++) set_padding(&block[j], l);
}

static void set_base(const path *p, lwi_path_plan *plan)
{
    const lwi_k_part *first = part_of(p, 0);
    lwi_path_base *base = &plan->base;
    double S[9];
    lwi_path_flip(S, first);
    m3_mul(base->head.R, first->in.R, S);
    v3_copy(base->head.r, first->in.r);
    if (!p->base) return;
    const lwi_k_part *part = &p->parts.part[0];
    base->nv = p->model->node[0].nv;
    base->iq = part->iq;
    base->iv = part->iv;
    base->in = part->in;
    base->m = part->m;
    v3_copy(base->h, part->h);
    memcpy(base->J, part->J, sizeof base->J);
}

// ------------------------------------------------------------------------------------------- create

// What `cut` needs.
static lw_status begin(const path *p, lwi_path_choice choice, lwi_arena *arena, lwi_path_plan *plan)
{
    *plan = (lwi_path_plan){.n = p->n};
    plan->groups = quotient(p->n, LWI_LANES * lwi_path_longest_segment(p->n, choice.length));
    plan->first = LWI_PUSH(arena, int, LWI_LANES * plan->groups + 1);
    return plan->first ? LW_OK : LW_ERR_MEMORY;
}

static lw_status fill(const path *p, lwi_path_choice choice, lwi_arena *arena, lwi_path_plan **out)
{
    lwi_path_plan *plan = LWI_PUSH(arena, lwi_path_plan, 1);
    if (!plan) return LW_ERR_MEMORY;
    TRY(begin(p, choice, arena, plan));
    plan->joint = LWI_PUSH(arena, lwi_path_joint, p->n);
    if (!plan->joint) return LW_ERR_MEMORY;
    if (!cut(p, choice, plan)) return LW_OK;
    plan->places = LWI_PUSH(arena, int, plan->groups);
    if (!plan->places) return LW_ERR_MEMORY;
    for (int g = 0; g < plan->groups; g++) {
        plan->places[g] = align(p, plan, g, false);
        if (plan->places[g] > plan->length) plan->length = plan->places[g];
    }
    const int places = plan->groups * plan->length;
    plan->body = LWI_PUSH(arena, lwi_path_body, places);
    plan->kind = LWI_PUSH(arena, signed char, places);
    plan->all = LWI_PUSH(arena, int, plan->groups);
    plan->place = LWI_PUSH(arena, int, LWI_LANES *places);
    if (!plan->body || !plan->kind || !plan->all || !plan->place) return LW_ERR_MEMORY;
    for (int i = 0; i < LWI_LANES * places; i++) plan->place[i] = -1;
    plan->balls = true;
    for (int g = 0; g < plan->groups; g++) {
        align(p, plan, g, true);
        plan->all[g] = kind_of_all(p, plan, g);
        plan->balls = plan->balls && lwi_path_only_balls(plan->all[g]);
    }
    for (int k = 0; k < p->n; k++) {
        const lwi_k_part *part = part_of(p, k);
        plan->joint[k] = (lwi_path_joint){kind_of(part), part->iq, part->iv};
    }
    set_bodies(p, plan);
    set_base(p, plan);
    *out = plan;
    return LW_OK;
}

// True if bodies that move against each other branch off; false also where bodies are joined rigidly.
static bool has_branches(const lw_model *model)
{
    bool branches = false;
    for (int k = 0; k < model->nnode; k++) {
        if (model->node[k].nv == 0) return false;
        branches = branches || model->node[k].parent != k - 1;
    }
    return branches;
}

// p: the joints of the model, *found: whether they are a path.
static lw_status find_path(const lw_model *model, lwi_path_choice choice, lwi_arena *scratch,
                           path *p, bool *found)
{
    const int minimum = choice.minimum ? choice.minimum : LWI_PATH_MINIMUM;
    *p = (path){.model = model};
    *found = false;
    if (model->nnode < 1 || model->nloop || model->ncoupling || model->driven) return LW_OK;
    if (model->tree_nv < minimum || has_branches(model)) return LW_OK;
    if (!lwi_build_applies(model, true)) return LW_OK;
    TRY(lwi_k_parts_create_any(model, scratch, &p->parts));
    *found = is_path(p) && p->n + p->base >= minimum && p->n > 0;
    return LW_OK;
}

lw_status lwi_path_plan_create(const lw_model *model, lwi_path_choice choice, lwi_arena *arena,
                               lwi_path_plan **plan)
{
    path p;
    bool found;
    lwi_arena scratch;
    *plan = NULL;
    lwi_arena_init(&scratch, &arena->allocator);
    lw_status status = find_path(model, choice, &scratch, &p, &found);
    if (status == LW_OK && found) status = fill(&p, choice, arena, plan);
    lwi_arena_free(&scratch);
    return status;
}

// Whether the axis of joint k and the next one are parallel or at a right angle, as twist_of has it: flips change signs.
static bool is_square(const path *p, int k)
{
    if (k + 1 == p->n) return true; // no twist
    const double *R = part_of(p, k + 1)->in.R;
    return hypot(R[2], R[5]) <= rounding || fabs(R[8]) <= rounding;
}

static lw_status count(const path *p, lwi_arena *scratch, lwi_path_counts *counts)
{
    lwi_path_plan plan;
    TRY(begin(p, (lwi_path_choice){0}, scratch, &plan));
    if (!cut(p, (lwi_path_choice){0}, &plan)) return LW_OK;
    for (int k = 0; k < p->n; k++) {
        if (part_of(p, k)->ball)
            counts->balls++;
        else if (is_square(p, k))
            counts->square++;
        else
            counts->others++;
    }
    return LW_OK;
}

lw_status lwi_path_count(const lw_model *model, const lw_allocator *allocator,
                         lwi_path_counts *counts)
{
    path p;
    bool found;
    lwi_arena scratch;
    *counts = (lwi_path_counts){0};
    lwi_arena_init(&scratch, allocator);
    lw_status status = find_path(model, (lwi_path_choice){0}, &scratch, &p, &found);
    if (status == LW_OK && found) status = count(&p, &scratch, counts);
    lwi_arena_free(&scratch);
    return status;
}
