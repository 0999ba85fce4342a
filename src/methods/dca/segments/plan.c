// plan.c -- a path of hinges: recognised, brought to axes with a twist about x between joints, and cut (plan.h).
#include "methods/dca/segments/plan.h"

#include "base/assert.h"
#include "spatial/rotation.h"
#include "tree/normal_form/build.h"

#include <float.h>

// The last body of a segment has nothing beyond it in the passes inward: below this ratio of its moments of inertia,
// about its joint and the other two, too many digits are lost there.
static const double min_at_cuts = 1e-6;

// Below this sine or cosine two axes are parallel, or at a right angle, to round-off.
static const double rounding = 8 * DBL_EPSILON;

// Hinges of the path, raw.
typedef struct path {
    const lw_model *model;
    lwi_k_parts parts;
    int base, n; // parts before the first hinge; hinges
} path;

static const lwi_k_part *hinge(const path *p, int k)
{
    LWI_ASSERT_INDEX(k, p->n);
    return &p->parts.part[p->base + k];
}

// ----------------------------------------------------------------------------------------- applies

static bool is_path(path *p)
{
    const lwi_k_parts *parts = &p->parts;
    if (parts->n < 1 || parts->ndrive) return false;
    p->base = parts->part[0].floats;
    if (p->base && p->model->node[0].reversed) return false;
    p->n = parts->n - p->base;
    for (int i = 0; i < parts->n; i++) {
        const lwi_k_part *part = &parts->part[i];
        if (part->parent != i - 1) return false;
        if (part->floats != (i < p->base)) return false;
        if (!part->floats && (part->turn != 1 || part->slide != 0)) return false;
    }
    return true;
}

static double rotor(const path *p, int k)
{
    return p->model->tree_rotor[hinge(p, k)->iv];
}

bool lwi_path_may_cut(const lw_model *model, const lwi_k_part *before, const lwi_k_part *after)
{
    const double *J = before->J;
    return model->tree_rotor[after->iv] == 0 && J[2] > min_at_cuts * (J[0] + J[1]);
}

// May the path be cut through joint k?
static bool may_cut(const path *p, int k)
{
    return lwi_path_may_cut(p->model, hinge(p, k - 1), hinge(p, k));
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

// Sets `first` and the length; false if there are too few places for cuts.
static bool cut(const path *p, lwi_path_choice choice, lwi_path_plan *plan)
{
    const int segments = LWI_LANES * plan->groups;
    const int length = quotient(p->n, segments);
    LWI_ASSERT(length <= lwi_path_longest_segment(p->n, choice.length));
    plan->length = 0;
    for (int s = 0; s < segments; s++) {
        int k = (s + 1) * length < p->n ? (s + 1) * length : p->n;
        while (k > plan->first[s] && k < p->n && !may_cut(p, k)) k--;
        if (k == plan->first[s] && k < p->n) return false;
        if (s == segments - 1) k = p->n; // what earlier cuts left
        plan->first[s + 1] = k;
        const int size = lwi_path_segment_size(plan, s);
        if (size > plan->length) plan->length = size;
    }
    return true;
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

// Axes of hinge k + 1 in those of hinge k, both after flip, and its point.
static void next_frame(const path *p, int k, double R[9], double r[3])
{
    const lwi_k_part *next = hinge(p, k + 1);
    double S[9], T[9];
    lwi_path_flip(S, hinge(p, k));
    m3_mul(T, S, next->in.R);
    m3_mul_v(r, S, next->in.r);
    lwi_path_flip(S, next);
    m3_mul(R, T, S);
}

// Constants of hinge k; psi: rotation left over by the twist before it, and for the next one on return.
static void set_body(const path *p, int k, double *psi, lwi_path_body *to, int l)
{
    const lwi_k_part *part = hinge(p, k);
    twist t = {0, 1, 0, 0};
    double R[9], r[3] = {0}, back[9], S[9], A[9], h[3], J[6];
    if (k + 1 < p->n) {
        next_frame(p, k, R, r);
        t = twist_of(R);
    }
    lwi_path_flip(S, part);
    rot_z(back, cos(t.phi), -sin(t.phi));
    m3_mul(A, back, S);
    m3_mul_v(r, back, r);
    m3_mul_v(h, A, part->h);
    s3_rotate(J, A, part->J);
    to->angle[l] = *psi + t.phi;
    to->ca[l] = t.ca;
    to->sa[l] = t.sa;
    to->m[l] = part->m;
    to->rotor[l] = rotor(p, k);
    for (int i = 0; i < 3; i++) to->o[i][l] = r[i], to->h[i][l] = h[i];
    for (int i = 0; i < 6; i++) to->J[i][l] = J[i];
    *psi = t.psi;
}

// A massless body on a joint that cannot move.
static void set_padding(lwi_path_body *to, int l)
{
    to->ca[l] = 1;
    to->rotor[l] = 1e300;
}

static void set_bodies(const path *p, lwi_path_plan *plan)
{
    double psi = 0;
    for (int s = 0; s < LWI_LANES * plan->groups; s++) {
        lwi_path_body *group = plan->body + s % plan->groups * plan->length;
        const int l = s / plan->groups, size = lwi_path_segment_size(plan, s);
        for (int j = 0; j < size; j++) set_body(p, plan->first[s] + j, &psi, &group[j], l);
        for (int j = size; j < plan->length; j++) set_padding(&group[j], l);
    }
}

void lwi_path_set_bodies(const lwi_path_row *row, int first, int n, double *angle,
                         lwi_path_body *block, int length, int l)
{
    const path p = {.model = row->model,
                    .parts = {.part = (lwi_k_part *)row->part},
                    .n = row->n}; // not changed
    for (int j = 0; j < n; j++) set_body(&p, first + j, angle, &block[j], l);
    for (int j = n; j < length; j++) set_padding(&block[j], l);
}

static void set_base(const path *p, lwi_path_plan *plan)
{
    const lwi_k_part *first = hinge(p, 0);
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

static lw_status fill(const path *p, lwi_path_choice choice, lwi_arena *arena, lwi_path_plan **out)
{
    lwi_path_plan *plan = LWI_PUSH(arena, lwi_path_plan, 1);
    if (!plan) return LW_ERR_MEMORY;
    plan->n = p->n;
    plan->groups = quotient(p->n, LWI_LANES * lwi_path_longest_segment(p->n, choice.length));
    plan->first = LWI_PUSH(arena, int, LWI_LANES * plan->groups + 1);
    plan->iq = LWI_PUSH(arena, int, p->n);
    plan->iv = LWI_PUSH(arena, int, p->n);
    if (!plan->first || !plan->iq || !plan->iv) return LW_ERR_MEMORY;
    if (!cut(p, choice, plan)) return LW_OK;
    plan->body = LWI_PUSH(arena, lwi_path_body, plan->groups * plan->length);
    if (!plan->body) return LW_ERR_MEMORY;
    for (int k = 0; k < p->n; k++) {
        plan->iq[k] = hinge(p, k)->iq;
        plan->iv[k] = hinge(p, k)->iv;
    }
    set_bodies(p, plan);
    set_base(p, plan);
    *out = plan;
    return LW_OK;
}

lw_status lwi_path_plan_create(const lw_model *model, lwi_path_choice choice, lwi_arena *arena,
                               lwi_path_plan **plan)
{
    path p = {.model = model};
    *plan = NULL;
    const int minimum = choice.minimum ? choice.minimum : LWI_PATH_MINIMUM;
    if (model->nnode < 1 || model->nloop || model->ncoupling || model->driven) return LW_OK;
    if (model->tree_nv < minimum || !lwi_build_applies(model, true)) return LW_OK;
    TRY(lwi_k_parts_create(model, arena, &p.parts));
    if (!is_path(&p) || p.n < minimum) return LW_OK;
    if (p.base && rotor(&p, 0) != 0)
        return LW_OK; // the base would be moved by more than p of this joint
    return fill(&p, choice, arena, plan);
}
