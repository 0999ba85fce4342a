// plan.c -- kernel normal form of a tree: bodies of one freedom, frames on axes, slots.
//
// In three steps:
//   expand   every joint becomes a product of turns and displacements along axes, each with a body
//            of its own (`part`), its frame raw: z on the axis, otherwise as the model has it
//   settle   a part's frame is turned about and shifted along its axis to suit its first child
//   place    slots, constants, the order of the recursion
#include "kernel/plan.h"

#include "kernel/parts.h"
#include "spatial/rotation.h"

#include <float.h>

typedef lwi_k_frame frame;

typedef struct part {
    lwi_k_kind kind;
    int parent; // part, -1: the ground
    frame in;   // joint frame in the parent's raw frame
    double turn, slide, sign;
    int iq, iv;
    double m, h[3], J[6]; // in the raw frame
    double phi, delta;    // the settled frame in the raw one: turn and shift along z
    int slot;
    int children;
} part;

typedef struct build {
    const lw_model *model;
    part *part;
    int npart;
    int *host;     // [nnode] part that carries the node, -1: the ground
    frame *offset; // [nnode] link frame of the node in the raw frame of that part
    lwi_k_choice choice;
} build;

// ------------------------------------------------------------------------------------------ frames

// c = a b
static void compose(frame *c, const frame *a, const frame *b)
{
    frame t;
    m3_mul(t.R, a->R, b->R);
    m3_mul_v(t.r, a->R, b->r);
    v3_add(t.r, t.r, a->r);
    *c = t;
}

static void invert(frame *inverse, const frame *a)
{
    frame t;
    m3_transpose(t.R, a->R);
    m3_mul_v(t.r, t.R, a->r);
    v3_scale(t.r, -1, t.r);
    *inverse = t;
}

static frame screw_z(double angle, double shift)
{
    frame f = {.r = {0, 0, shift}};
    rot_z(f.R, cos(angle), sin(angle));
    return f;
}

// Adds the inertia (m, h, J) of frame f to the sums of f's reference frame.  About a point r away
// the second moments are J + 2 h.r 1 - h r' - r h' + m (r.r 1 - r r').
static void add_inertia(double *sum_m, double sum_h[3], double sum_J[6], const frame *f, double m,
                        const double h[3], const double J[6])
{
    double Rh[3], RJ[6];
    m3_mul_v(Rh, f->R, h);
    s3_rotate(RJ, f->R, J);
    s3_add_point(RJ, m, f->r);
    const double *r = f->r, hr = 2 * v3_dot(Rh, r);
    RJ[0] += hr - 2 * Rh[0] * r[0];
    RJ[1] += hr - 2 * Rh[1] * r[1];
    RJ[2] += hr - 2 * Rh[2] * r[2];
    RJ[3] -= Rh[0] * r[1] + r[0] * Rh[1];
    RJ[4] -= Rh[0] * r[2] + r[0] * Rh[2];
    RJ[5] -= Rh[1] * r[2] + r[1] * Rh[2];
    *sum_m += m;
    v3_add(sum_h, sum_h, Rh);
    v3_axpy(sum_h, m, r);
    for (int i = 0; i < 6; i++) sum_J[i] += RJ[i];
}

// ------------------------------------------------------------------------------------------ expand

// A turn about or a displacement along an axis of F1 as it has come so far.
typedef struct motion {
    signed char coordinate, axis; // axis 0, 1, 2: x, y, z
    bool turn, slide;             // both: a screw
} motion;

typedef struct product {
    lw_joint_type type;
    int n;
    motion motion[3];
} product;

static const product products[] = {
    {LW_JOINT_REVOLUTE, 1, {{0, 2, true, false}}},
    {LW_JOINT_PRISMATIC, 1, {{0, 2, false, true}}},
    {LW_JOINT_SCREW, 1, {{0, 2, true, true}}},
    {LW_JOINT_CYLINDRICAL, 2, {{0, 2, false, true}, {1, 2, true, false}}},
    {LW_JOINT_UNIVERSAL, 2, {{0, 2, true, false}, {1, 0, true, false}}},
    {LW_JOINT_PLANAR, 3, {{0, 0, false, true}, {1, 1, false, true}, {2, 2, true, false}}},
};

static const product *product_of(const lwi_node *node)
{
    for (int i = 0; i < LWI_COUNT(products); i++)
        if (products[i].type == node->type->id) return &products[i];
    return NULL;
}

static bool has_kernel(const lwi_node *node)
{
    if (node->driven) return false;
    switch (node->type->id) {
    case LW_JOINT_FIXED:
        return true;
    case LW_JOINT_SPHERICAL:
        return !node->reversed;
    case LW_JOINT_FREE:
        return !node->reversed && node->parent < 0;
    default:
        return product_of(node) != NULL;
    }
}

static bool applies(const lw_model *model)
{
    if (model->nnode == 0 || (model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST)))
        return false;
    for (int k = 0; k < model->nnode; k++)
        if (!has_kernel(&model->node[k])) return false;
    return true;
}

// Takes the z axis to the given one.
static void axis_frame(frame *f, int axis)
{
    static const double to[3][9] = {
        {0, 0, 1, 1, 0, 0, 0, 1, 0}, {0, 1, 0, 0, 0, 1, 1, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    *f = (frame){{0}, {0}};
    memcpy(f->R, to[axis], sizeof f->R);
}

static part *add_part(build *b, lwi_k_kind kind, int parent, const frame *in, int iq, int iv)
{
    part *p = &b->part[b->npart++];
    *p = (part){.kind = kind, .parent = parent, .in = *in, .sign = 1, .iq = iq, .iv = iv};
    if (parent >= 0) b->part[parent].children++;
    return p;
}

// The parts of a product, in reverse with the signs turned where the tree passes it backwards.
static void expand_product(build *b, const lwi_node *node, int *host, frame *offset)
{
    const product *p = product_of(node);
    for (int i = 0; i < p->n; i++) {
        const motion *m = &p->motion[node->reversed ? p->n - 1 - i : i];
        frame axis, in;
        axis_frame(&axis, m->axis);
        compose(&in, offset, &axis);
        const lwi_k_kind kind = m->turn && !m->slide ? LWI_K_HINGE : LWI_K_SCREW;
        part *t = add_part(b, kind, *host, &in, node->iq + m->coordinate, node->iv + m->coordinate);
        t->sign = node->reversed ? -1 : 1;
        t->turn = m->turn;
        t->slide = m->slide ? (m->turn ? node->par->pitch : 1) : 0;
        *host = b->npart - 1;
        invert(offset, &axis);
    }
}

static void expand(build *b)
{
    static const frame identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (int k = 0; k < b->model->nnode; k++) {
        const lwi_node *node = &b->model->node[k];
        int host = node->parent < 0 ? -1 : b->host[node->parent];
        frame offset, X;
        memcpy(X.R, node->X_R, sizeof X.R);
        v3_copy(X.r, node->X_r);
        compose(&offset, node->parent < 0 ? &identity : &b->offset[node->parent], &X);
        if (node->type->id == LW_JOINT_SPHERICAL || node->type->id == LW_JOINT_FREE) {
            const bool ball = node->type->id == LW_JOINT_SPHERICAL;
            add_part(b, ball ? LWI_K_BALL : LWI_K_BASE, host, &offset, node->iq + (ball ? 0 : 3),
                     node->iv);
            host = b->npart - 1;
            offset = identity;
        } else if (node->type->id != LW_JOINT_FIXED) {
            expand_product(b, node, &host, &offset);
        }
        b->host[k] = host;
        b->offset[k] = offset;
        if (host < 0) continue;
        part *p = &b->part[host];
        add_inertia(&p->m, p->h, p->J, &offset, node->mass, node->h, node->J);
    }
}

lw_status lwi_k_parts_create(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts)
{
    const int most = 3 * model->nnode; // a planar joint has three parts
    build b = {.model = model,
               .part = LWI_PUSH(arena, part, most),
               .host = LWI_PUSH(arena, int, model->nnode),
               .offset = LWI_PUSH(arena, frame, model->nnode)};
    *parts = (lwi_k_parts){-1, LWI_PUSH(arena, lwi_k_part, most), b.host, b.offset};
    if (!b.part || !b.host || !b.offset || !parts->part) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].driven ||
            (model->node[k].type->id != LW_JOINT_FIXED && !product_of(&model->node[k])))
            return LW_OK;
    expand(&b);
    parts->n = b.npart;
    for (int i = 0; i < b.npart; i++) {
        const part *p = &b.part[i];
        lwi_k_part *to = &parts->part[i];
        *to = (lwi_k_part){.parent = p->parent,
                           .in = p->in,
                           .turn = p->turn,
                           .slide = p->slide,
                           .sign = p->sign,
                           .iq = p->iq,
                           .iv = p->iv,
                           .m = p->m};
        v3_copy(to->h, p->h);
        memcpy(to->J, p->J, sizeof to->J);
    }
    return LW_OK;
}

void lwi_k_compose(lwi_k_frame *c, const lwi_k_frame *a, const lwi_k_frame *b)
{
    compose(c, a, b);
}

// ------------------------------------------------------------------------------------------ settle

// A frame as turn_z(phi) shift(0, b, delta) screw_x(alpha, a) screw_z(angle, shift).
typedef struct axes {
    double phi, b, delta, ca, sa, a, angle, shift;
} axes;

// Below this the two axes are parallel to round-off, and x is along what is between them.
static const double parallel = 8 * DBL_EPSILON;
// Below this the common normal is too far away: feet of the normal are 1/sin alpha of the distance
// off, second moments about them lose the square of that.  x is then along the normal's direction
// only and b makes up for the rest.
static const double nearly_parallel = 0.25;

static axes decompose(const frame *f)
{
    axes d = {0};
    const double zx = f->R[2], zy = f->R[5], sine = hypot(zx, zy);
    const bool exact = sine <= parallel, square = fabs(f->R[8]) <= parallel;
    d.phi = exact ? atan2(f->r[1], f->r[0]) : atan2(zx, -zy);
    if (exact && hypot(f->r[0], f->r[1]) <= parallel * fabs(f->r[2])) d.phi = 0;
    d.ca = exact ? copysign(1, f->R[8]) : square ? 0 : f->R[8] / hypot(sine, f->R[8]);
    d.sa = exact ? 0 : square ? 1 : sine / hypot(sine, f->R[8]);

    // what is left after the turn: origin (a, y, z), axes T
    frame turn = screw_z(-d.phi, 0), left;
    compose(&left, &turn, f);
    const double y = left.r[1], z = left.r[2];
    d.a = left.r[0];
    if (sine >= nearly_parallel) { // y = -sa shift, z = delta + ca shift
        d.shift = -y / d.sa;
        d.delta = z - d.ca * d.shift;
    } else { // y = b - sa shift, z = ca shift
        d.shift = z / d.ca;
        d.b = exact ? 0 : y + d.sa * d.shift;
    }
    // what is rounding of the distance between the frames is nothing
    const double nothing = parallel * v3_norm(f->r);
    if (fabs(d.a) <= nothing) d.a = 0;
    if (fabs(d.shift) <= nothing) d.shift = 0;
    if (fabs(d.delta) <= nothing) d.delta = 0;
    // Rz(angle) = Rx(-alpha) T
    d.angle = atan2(d.ca * left.R[3] + d.sa * left.R[6], left.R[0]);
    return d;
}

static frame settled(const part *p)
{
    return screw_z(p->phi, p->delta);
}

// The joint frame of part i in its parent's settled frame.
static frame inboard(const build *b, int i)
{
    const part *p = &b->part[i];
    frame f = p->in;
    if (p->parent < 0) return f;
    frame back = settled(&b->part[p->parent]);
    invert(&back, &back);
    compose(&f, &back, &p->in);
    return f;
}

static bool is_screw(const part *p)
{
    return p->kind == LWI_K_HINGE || p->kind == LWI_K_SCREW;
}

// A part's first child is the one that follows it.
static void settle(build *b)
{
    for (int i = 1; i < b->npart; i++) {
        part *p = &b->part[i];
        if (p->parent != i - 1 || !is_screw(p) || !is_screw(&b->part[i - 1])) continue;
        const axes d = decompose(&p->in);
        b->part[i - 1].phi = d.phi;
        b->part[i - 1].delta = d.sa != 0 ? d.delta : d.ca * d.shift;
    }
}

// ------------------------------------------------------------------------------------------- place

static int blocks_of(int count)
{
    return (count + LWI_LANES - 1) / LWI_LANES;
}

// How part i, a screw, stands to its parent when all are settled.
static axes axes_of(const build *b, int i)
{
    const part *p = &b->part[i];
    const bool first = p->parent >= 0 && p->parent == i - 1 && is_screw(&b->part[i - 1]);
    const frame in = first ? p->in : inboard(b, i);
    axes d = decompose(&in);
    if (first) d.phi = d.delta = 0; // the parent was settled for it
    if (first && d.sa == 0) d.shift = 0;
    const double shift = d.shift + p->delta;
    d.shift = fabs(shift) > parallel * (fabs(d.shift) + fabs(p->delta)) ? shift : 0;
    return d;
}

static int8_t shape_of(const axes *d)
{
    // not sa == 1: that is so for cosines up to 1e-8
    const bool right = d->ca == 0, along = d->sa == 0 && d->ca == 1;
    return (int8_t)((right   ? LWI_K_SQUARE
                     : along ? LWI_K_PARALLEL
                             : LWI_K_OBLIQUE) |
                    (d->a != 0 ? LWI_K_APART : 0) | (d->shift != 0 ? LWI_K_ALONG : 0));
}

// Hinges of many chains stand to each other in turn (x, y, z; knee and ankle): runs whose lengths
// are multiples of that have bodies of one shape side by side.
static int period_of_shapes(const build *b)
{
    enum { MOST = 6 };
    for (int period = 1; period <= MOST; period++) {
        bool repeats = true;
        for (int i = 1; i + period < b->npart && repeats; i++) {
            const axes one = axes_of(b, i), other = axes_of(b, i + period);
            repeats = shape_of(&one) == shape_of(&other);
        }
        if (repeats) return period;
    }
    return 1;
}

// An unbranched chain of hinges that need no further turns, long enough: cut into runs.
static void choose_runs(const build *b, lwi_kernel_plan *plan)
{
    const int n = b->npart;
    int runs = b->choice.runs;
    if (runs == LWI_K_AUTO) runs = n < LWI_K_LEAST_FOR_RUNS ? 0 : 8;
    if (runs == LWI_K_AUTO_MOMENTA) runs = n < LWI_K_LEAST_OF_MOMENTA ? 0 : 8;
    if (runs == 0) return;
    for (int i = 0; i < b->npart; i++) {
        if (b->part[i].kind != LWI_K_HINGE || b->part[i].parent != i - 1) return;
        if (i > 0 && decompose(&b->part[i].in).b != 0) return;
    }
    plan->runs = runs;
    const int period = period_of_shapes(b);
    plan->length = (b->npart + plan->runs - 1) / plan->runs;
    plan->length += (period - plan->length % period) % period;
    for (int i = 0; i < b->npart; i++)
        b->part[i].slot = plan->runs * (i % plan->length) + i / plan->length;
    plan->nhinge = plan->nscrew = plan->nblock = blocks_of(plan->runs * plan->length);
}

// Slots of every kind, from zero on: the next free ones of a stage.
static void place_stage(build *b, const lwi_k_stage *stage, const int *order, int next[])
{
    for (int k = stage->first; k < stage->end && !stage->lanes; k++) {
        part *p = &b->part[order[k]];
        p->slot = next[p->kind]++;
    }
    for (int j = 0; j < stage->length; j++) {
        int *of = &next[b->part[order[stage->first + j]].kind];
        const int at = (*of + stage->lanes - 1) / stage->lanes * stage->lanes;
        *of = at + stage->lanes;
        for (int r = 0; r < stage->limbs; r++)
            if (stage->limb[r] + j < stage->limb[r + 1])
                b->part[order[stage->limb[r] + j]].slot = at + r;
    }
}

// Kinds one after the other; of each what stands in eight lanes, what stands in four, the rest.
static void place_slots(build *b, lwi_kernel_plan *plan, const int *order)
{
    int next[] = {[LWI_K_HINGE] = 0, [LWI_K_SCREW] = 0, [LWI_K_BALL] = 0, [LWI_K_BASE] = 0};
    for (int lanes = LWI_LANES; lanes >= 0; lanes -= 4)
        for (int i = 0; i < plan->nstage; i++)
            if (plan->stage[i].lanes == lanes) place_stage(b, &plan->stage[i], order, next);
    plan->nhinge = blocks_of(next[LWI_K_HINGE]);
    plan->nscrew = plan->nhinge + blocks_of(next[LWI_K_SCREW]);
    plan->nball = blocks_of(next[LWI_K_BALL]);
    plan->nbase = blocks_of(next[LWI_K_BASE]);
    plan->nblock = plan->nscrew + plan->nball + plan->nbase;
    const int from[] = {[LWI_K_HINGE] = 0,
                        [LWI_K_SCREW] = plan->nhinge,
                        [LWI_K_BALL] = plan->nscrew,
                        [LWI_K_BASE] = plan->nscrew + plan->nball};
    for (int i = 0; i < b->npart; i++) b->part[i].slot += from[b->part[i].kind] * LWI_LANES;
    choose_runs(b, plan);
    plan->first_ball = plan->nscrew * LWI_LANES;
}

static void set_body(const part *p, lwi_k_body *block, int l)
{
    double m = 0, h[3] = {0}, J[6] = {0};
    frame raw = settled(p);
    invert(&raw, &raw);
    add_inertia(&m, h, J, &raw, p->m, p->h, p->J);
    block->m[l] = m;
    for (int i = 0; i < 3; i++) block->h[i][l] = h[i];
    for (int i = 0; i < 6; i++) block->J[i][l] = J[i];
    for (int i = 0; i < 3; i++) block->moment[i][l] = h[i];
    block->pivot[l] = J[2];
}

static void set_screw(const build *b, int i, lwi_k_screw *k, int l, lwi_k_step *step)
{
    const part *p = &b->part[i];
    const axes d = axes_of(b, i);
    k->ca[l] = d.ca;
    k->sa[l] = d.sa;
    k->csa[l] = d.ca * d.sa;
    k->ssa[l] = d.sa * d.sa;
    k->c2a[l] = 1 - 2 * d.sa * d.sa;
    k->s2a[l] = 2 * d.ca * d.sa;
    k->a[l] = d.a;
    k->cphi[l] = cos(d.phi);
    k->sphi[l] = sin(d.phi);
    k->b[l] = d.b;
    k->delta[l] = d.delta;
    k->angle[l] = d.angle + p->phi;
    k->shift[l] = d.shift;
    k->sign[l] = p->sign;
    k->turn[l] = p->turn;
    k->slide[l] = p->slide;
    k->reach[0][l] = d.a;
    k->reach[1][l] = d.ca * d.b + d.sa * d.delta;
    k->reach[2][l] = d.ca * d.delta - d.sa * d.b;
    if (p->parent < 0) {
        const double *g = b->model->gravity, c = cos(d.phi), s = sin(d.phi);
        const double y = c * g[1] - s * g[0];
        k->fall[0][l] = c * g[0] + s * g[1];
        k->fall[1][l] = d.ca * y + d.sa * g[2];
        k->fall[2][l] = d.ca * g[2] - d.sa * y;
    }
    step->shape = shape_of(&d);
    step->turned = d.phi != 0 || d.b != 0 || d.delta != 0;
}

static void set_ball(const build *b, int i, lwi_k_ball *k, int l)
{
    const frame in = inboard(b, i);
    for (int j = 0; j < 9; j++) k->R[j][l] = in.R[j];
    for (int j = 0; j < 3; j++) k->r[j][l] = in.r[j];
}

static void set_constants(const build *b, lwi_kernel_plan *plan, const int *order)
{
    for (int k = 0; k < b->npart; k++) {
        const int i = order[k];
        const part *p = &b->part[i];
        const int block = p->slot / LWI_LANES, l = p->slot % LWI_LANES;
        lwi_k_step *step = &plan->step[k];
        set_body(p, &plan->body[block], l);
        *step = (lwi_k_step){.slot = p->slot,
                             .parent = p->parent < 0 ? -1 : b->part[p->parent].slot,
                             .iq = p->iq,
                             .iv = p->iv,
                             .kind = (int8_t)p->kind,
                             .park = -1,
                             .leaf = -1,
                             .fetch = -1};
        if (is_screw(p))
            set_screw(b, i, &plan->screw[block], l, step);
        else
            set_ball(b, i, &plan->ball[block - plan->nscrew], l);
        plan->forward = plan->forward && p->sign > 0;
        plan->straight =
            plan->straight && is_screw(p) && p->sign > 0 && p->slot == p->iq && p->slot == p->iv;
    }
}

// The text that is right for hinges of both shapes; -1: of none.
static int common_shape(int one, int other)
{
    if (one < 0) return other;
    const int axis = (one & LWI_K_AXIS) == (other & LWI_K_AXIS) ? one & LWI_K_AXIS : LWI_K_OBLIQUE;
    return axis | ((one | other) & (LWI_K_APART | LWI_K_ALONG));
}

// Bodies side by side have one text, in a batch as well, where they are one after the other.
static void share_texts(lwi_kernel_plan *plan, const lwi_k_stage *stage)
{
    for (int j = 0; j < stage->length; j++) {
        int shape = -1;
        bool turned = false;
        for (int pass = 0; pass < 2; pass++)
            for (int r = 0; r < stage->limbs; r++) {
                lwi_k_step *step = &plan->step[stage->limb[r] + j];
                if (stage->limb[r] + j >= stage->limb[r + 1]) continue;
                if (pass) {
                    step->shape = (int8_t)shape;
                    step->turned = turned;
                } else {
                    shape = common_shape(shape, step->shape);
                    turned = turned || step->turned;
                }
            }
    }
}

static void pad(lwi_kernel_plan *plan)
{
    for (int i = 0; i < plan->nblock; i++)
        for (int l = 0; l < LWI_LANES; l++) {
            plan->body[i].pivot[l] = 1;
            // a ball takes three freedoms out: lanes without a limb must have something there
            for (int j = 0; j < 3 && i >= plan->nscrew; j++) plan->body[i].J[j][l] = 1;
            if (i >= plan->nscrew) continue;
            plan->screw[i].ca[l] = plan->screw[i].c2a[l] = plan->screw[i].cphi[l] = 1;
            plan->screw[i].turn[l] = plan->screw[i].sign[l] = 1;
        }
}

// Origin of a body in its parent's frame, the part of it that does not move.
static void origin_of(const lwi_kernel_plan *plan, const part *p, double r[3])
{
    const int block = p->slot / LWI_LANES, l = p->slot % LWI_LANES;
    if (!is_screw(p)) {
        for (int i = 0; i < 3; i++) r[i] = plan->ball[block - plan->nscrew].r[i][l];
        return;
    }
    const lwi_k_screw *k = &plan->screw[block];
    const double ca = k->ca[l], sa = k->sa[l], d = k->shift[l], x = k->a[l], y = k->b[l] - sa * d;
    r[0] = k->cphi[l] * x - k->sphi[l] * y;
    r[1] = k->sphi[l] * x + k->cphi[l] * y;
    r[2] = k->delta[l] + ca * d;
}

static void add_masses(const build *b, lwi_kernel_plan *plan)
{
    for (int i = b->npart - 1; i >= 0; i--) {
        const part *p = &b->part[i];
        double *beyond = &plan->body[p->slot / LWI_LANES].beyond[p->slot % LWI_LANES], r[3];
        *beyond += p->m;
        if (p->parent < 0) continue;
        const int to = b->part[p->parent].slot;
        lwi_k_body *parent = &plan->body[to / LWI_LANES];
        parent->beyond[to % LWI_LANES] += *beyond;
        origin_of(plan, p, r);
        for (int j = 0; j < 3; j++) parent->moment[j][to % LWI_LANES] += *beyond * r[j];
    }
}

// Limbs side by side leave their inertia in a place of the body on which they hang; elsewhere,
// where limbs meet, all but the one whose first body follows.
static void choose_parking(const lwi_kernel_plan *plan, const int *up, bool *parks)
{
    for (int k = 0; k < plan->nstep; k++) parks[k] = up[k] >= 0 && up[k] != k - 1;
    for (int i = 0; i < plan->nstage; i++)
        for (int r = 0; r < plan->stage[i].limbs; r++) {
            const int k = plan->stage[i].limb[r];
            parks[k] = up[k] >= 0;
        }
}

// The next place, or the first of as many as a stage has lanes.
static int next_place(int *count, int lanes)
{
    const int at = lanes ? (*count + lanes - 1) / lanes * lanes : *count;
    *count = at + (lanes ? lanes : 1);
    return at;
}

// Places of what meets at the steps of a stage, and of its tips.
static void place_meetings(lwi_kernel_plan *plan, const lwi_k_stage *stage, const bool *meets,
                           const bool *tip, int *nplace, int *ntip)
{
    for (int k = stage->first; k < stage->end && !stage->lanes; k++) {
        if (meets[k]) plan->step[k].fetch = next_place(nplace, 0);
        if (tip[k]) plan->step[k].leaf = next_place(ntip, 0);
    }
    if (!stage->lanes) return;
    const int end = stage->first + stage->length - 1; // of the longest limb
    const int place = meets[end] ? next_place(nplace, stage->lanes) : -1;
    const int leaf = tip[end] ? next_place(ntip, stage->lanes) : -1;
    for (int r = 0; r < stage->limbs; r++) {
        const int last = stage->limb[r + 1] - 1;
        if (last - stage->limb[r] + 1 < stage->length) continue;
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
    if (!up || !at || !meets || !tip || !parks) return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++) at[order[k]] = k;
    for (int k = 0; k < n; k++) {
        const part *p = &b->part[order[k]];
        up[k] = p->parent < 0 ? -1 : at[p->parent];
        tip[k] = p->children == 0 && p->kind == LWI_K_HINGE && up[k] >= 0;
    }
    choose_parking(plan, up, parks);
    for (int k = 0; k < n; k++)
        if (parks[k]) meets[up[k]] = true;
    for (int i = 0; i < plan->nstage; i++)
        place_meetings(plan, &plan->stage[i], meets, tip, &nplace, &ntip);
    for (int k = n - 1; k >= 0; k--) {
        lwi_k_step *step = &plan->step[k];
        step->tip = !(k + 1 < n && up[k + 1] == k && !parks[k + 1]);
        if (!parks[k]) continue;
        step->park = plan->step[up[k]].fetch;
        step->first = meets[up[k]];
        meets[up[k]] = false;
    }
    plan->nart = blocks_of(nplace);
    plan->ntip = blocks_of(ntip);
    return LW_OK;
}

// Which steps can go on with the inertia in registers.
static void set_passages(lwi_kernel_plan *plan)
{
    for (int k = 1; k < plan->nstep; k++) {
        lwi_k_step *step = &plan->step[k];
        const lwi_k_step *next = &plan->step[k - 1];
        const bool on = step->kind == LWI_K_HINGE && next->kind == LWI_K_HINGE && !step->turned &&
                        step->parent == next->slot && step->park < 0 && next->fetch < 0;
        step->on = on && next->parent >= 0;
        step->last = on && next->parent < 0;
    }
}

// Where shorter limbs begin, the longest one makes a stop.
static lw_status set_beginnings(lwi_arena *arena, lwi_kernel_plan *plan)
{
    plan->begin = lwi_arena_push(arena, (size_t)plan->nstep, sizeof *plan->begin);
    if (!plan->begin) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->nstage; i++) {
        const lwi_k_stage *stage = &plan->stage[i];
        for (int r = 0; r < stage->limbs; r++) {
            const int beyond = stage->first + stage->limb[r + 1] - stage->limb[r];
            if (beyond == stage->first + stage->length) continue;
            plan->begin[beyond - 1][r] = -1;
            plan->step[beyond].on = false;
        }
    }
    return LW_OK;
}

// M' = M - g U' of a rigid body alone.
static void set_tip(const lwi_k_body *k, int l, lwi_k_tip *tip, int at)
{
    const double m = k->m[l], x = k->h[0][l], y = k->h[1][l], z = k->h[2][l], D = k->pivot[l];
    const double U[5] = {-y, x, 0, k->J[4][l], k->J[5][l]};
    double M[5][5] = {{m, 0, 0, 0, z},
                      {0, m, 0, -z, 0},
                      {0, 0, m, y, -x},
                      {0, -z, y, k->J[0][l], k->J[3][l]},
                      {z, 0, -x, k->J[3][l], k->J[1][l]}};
    tip->Di[at] = 1 / D;
    tip->felt[at] = k->J[0][l] + k->J[1][l];
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
}

static lw_status set_tips(lwi_arena *arena, lwi_kernel_plan *plan)
{
    plan->tip = LWI_PUSH(arena, lwi_k_tip, plan->ntip);
    if (!plan->tip) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        if (step->leaf >= 0)
            set_tip(&plan->body[step->slot / LWI_LANES], step->slot % LWI_LANES,
                    &plan->tip[step->leaf / LWI_LANES], step->leaf % LWI_LANES);
    }
    return LW_OK;
}

// What the bodies of all runs at one position have in common.
static lw_status set_run_shapes(lwi_arena *arena, lwi_kernel_plan *plan)
{
    plan->shape = LWI_PUSH(arena, int8_t, plan->length);
    if (!plan->shape) return LW_ERR_MEMORY;
    for (int j = 0; j < plan->length; j++) {
        int shape = -1;
        for (int i = j; i < plan->nstep; i += plan->length)
            shape = common_shape(shape, plan->step[i].shape);
        plan->shape[j] = (int8_t)shape;
    }
    return LW_OK;
}

// Order of the steps and stages: as limbs stand side by side, unless the tree is cut into runs.
static lw_status arrange(const build *b, lwi_arena *arena, lwi_kernel_plan *plan, int **order)
{
    lwi_limbs limbs;
    lwi_limb_body *body = LWI_PUSH(arena, lwi_limb_body, b->npart);
    if (!body) return LW_ERR_MEMORY;
    for (int i = 0; i < b->npart; i++) {
        const part *p = &b->part[i];
        body[i] = (lwi_limb_body){.parent = p->parent,
                                  .kind = (int8_t)p->kind,
                                  .pads = is_screw(p),
                                  .alone = p->kind == LWI_K_BASE};
        if (!is_screw(p)) continue;
        const axes d = axes_of(b, i);
        body[i].shape = shape_of(&d);
    }
    TRY(lwi_limbs_arrange(body, b->npart, b->choice.limbs, arena, &limbs));
    plan->stage = limbs.stage;
    plan->nstage = limbs.nstage;
    *order = limbs.order;
    return LW_OK;
}

static lw_status place(build *b, lwi_arena *arena, lwi_kernel_plan *plan)
{
    int *order;
    TRY(arrange(b, arena, plan, &order));
    place_slots(b, plan, order);
    plan->nstep = b->npart;
    plan->straight = plan->forward = true;
    v3_copy(plan->gravity, b->model->gravity);
    plan->step = LWI_PUSH(arena, lwi_k_step, plan->nstep);
    plan->body = LWI_PUSH(arena, lwi_k_body, plan->nblock);
    plan->screw = LWI_PUSH(arena, lwi_k_screw, plan->nscrew);
    plan->ball = LWI_PUSH(arena, lwi_k_ball, plan->nball + plan->nbase);
    if (!plan->step || !plan->body || !plan->screw || !plan->ball) return LW_ERR_MEMORY;
    pad(plan);
    set_constants(b, plan, order);
    for (int i = 0; i < plan->nstage; i++) share_texts(plan, &plan->stage[i]);
    add_masses(b, plan);
    TRY(place_parking(b, order, arena, plan));
    set_passages(plan);
    TRY(set_beginnings(arena, plan));
    TRY(set_tips(arena, plan));
    return plan->runs ? set_run_shapes(arena, plan) : LW_OK;
}

lw_status lwi_kernel_plan_create_chosen(const lw_model *model, lwi_k_choice choice,
                                        lwi_arena *arena, lwi_kernel_plan **out)
{
    *out = NULL;
    if (!applies(model)) return LW_OK;
    const int most = 3 * model->nnode; // a planar joint has three parts
    build b = {.model = model,
               .choice = choice,
               .part = LWI_PUSH(arena, part, most),
               .host = LWI_PUSH(arena, int, model->nnode),
               .offset = LWI_PUSH(arena, frame, model->nnode)};
    lwi_kernel_plan *plan = LWI_PUSH(arena, lwi_kernel_plan, 1);
    if (!b.part || !b.host || !b.offset || !plan) return LW_ERR_MEMORY;
    expand(&b);
    if (b.npart == 0) return LW_OK;
    settle(&b);
    TRY(place(&b, arena, plan));
    *out = plan;
    return LW_OK;
}

lw_status lwi_kernel_plan_create(const lw_model *model, lwi_arena *arena, lwi_kernel_plan **plan)
{
    return lwi_kernel_plan_create_chosen(model, (lwi_k_choice){LWI_K_AUTO, LWI_K_AUTO}, arena,
                                         plan);
}

// ------------------------------------------------------------------------------------------- state

static void prepare_tip(const lwi_kernel_plan *plan, const lwi_k_step *step,
                        const lwi_k_state *state, int n, int l)
{
    const lwi_k_tip *tip = &plan->tip[step->leaf / LWI_LANES];
    const int at = step->leaf % LWI_LANES;
    const lwi_k_body *body = &plan->body[step->slot / LWI_LANES];
    lwi_k_pivot *pivot = &state->pivot[n];
    lwi_k_momentum *keep = &state->momentum[n];
    for (int i = 0; i < 5; i++) pivot->g[i][l] = tip->g[i][at];
    for (int i = 0; i < 2; i++) keep->h[i][l] = body->moment[i][step->slot % LWI_LANES];
    pivot->Di[l] = tip->Di[at];
    pivot->felt[l] = tip->felt[at];
    keep->A[0][l] = tip->A[0][at] - tip->A[1][at];
    for (int i = 3; i < 6; i++) keep->A[i][l] = tip->A[i][at];
    keep->B[0][l] = tip->B[0][at] - tip->B[4][at];
    keep->B[1][l] = tip->B[1][at] + tip->B[3][at];
    keep->B[6][l] = tip->B[6][at], keep->B[7][l] = tip->B[7][at];
    keep->C[0][l] = tip->C[0][at] - tip->C[1][at];
    keep->C[3][l] = tip->C[3][at];
}

// What no kernel writes: quaternions of padding, the elimination of tips.
static void prepare_state(const lwi_kernel_plan *plan, bool batch, const lwi_k_state *state)
{
    const int nball = (plan->nball + plan->nbase) * (batch ? LWI_LANES : 1);
    for (int i = 0; i < nball; i++)
        for (int l = 0; l < LWI_LANES; l++) state->ball_joint[i].q[0][l] = 1;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        if (step->leaf < 0) continue;
        for (int l = 0; l < LWI_LANES; l++)
            if (batch || l == step->slot % LWI_LANES)
                prepare_tip(plan, step, state, batch ? step->slot : step->slot / LWI_LANES, l);
    }
}

lw_status lwi_k_state_create(const lwi_kernel_plan *plan, bool batch, lwi_arena *arena,
                             lwi_k_state *state)
{
    const int scale = batch ? LWI_LANES : 1;
    const int nscrew = scale * plan->nscrew, nball = scale * (plan->nball + plan->nbase);
    const int nblock = nscrew + nball;
    state->joint = LWI_PUSH(arena, lwi_k_joint, nscrew);
    state->ball_joint = LWI_PUSH(arena, lwi_k_ball_joint, nball);
    state->pose = LWI_PUSH(arena, lwi_k_pose, nscrew);
    state->ball_pose = LWI_PUSH(arena, lwi_k_ball_pose, nball);
    state->bias = LWI_PUSH(arena, lwi_k_bias, nblock);
    state->pivot = LWI_PUSH(arena, lwi_k_pivot, nscrew);
    state->ball_pivot = LWI_PUSH(arena, lwi_k_ball_pivot, nball);
    state->row = LWI_PUSH(arena, lwi_k_row, plan->runs ? nscrew : 0);
    state->motion = LWI_PUSH(arena, lwi_k_motion, nblock);
    state->art = LWI_PUSH(arena, lwi_k_art, scale * plan->nart + 1);
    state->run = LWI_PUSH(arena, lwi_k_run, 1);
    state->momentum = LWI_PUSH(arena, lwi_k_momentum, nblock);
    if (!state->joint || !state->ball_joint || !state->pose || !state->ball_pose || !state->bias ||
        !state->pivot || !state->ball_pivot || !state->row || !state->motion || !state->art ||
        !state->run || !state->momentum)
        return LW_ERR_MEMORY;
    prepare_state(plan, batch, state);
    return LW_OK;
}
