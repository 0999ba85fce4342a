// plan.c -- kernel normal form of a tree: bodies of one freedom, frames on axes, slots.
//
// In three steps:
//   expand   every joint becomes a product of turns and displacements along axes, each with a body
//            of its own (`part`), its frame raw: z on the axis, otherwise as the model has it
//   settle   a part's frame is turned about and shifted along its axis to suit its first child
//   place    slots, constants, the order of the recursion
#include "kernel/plan.h"

#include "spatial/rotation.h"

#include <float.h>

typedef struct frame {
    double R[9], r[3]; // axes -> reference, origin
} frame;

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
    bool in_runs;
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
    const bool exact = sine <= parallel;
    d.phi = exact ? atan2(f->r[1], f->r[0]) : atan2(zx, -zy);
    if (exact && hypot(f->r[0], f->r[1]) <= parallel * fabs(f->r[2])) d.phi = 0;
    d.ca = exact ? copysign(1, f->R[8]) : f->R[8] / hypot(sine, f->R[8]);
    d.sa = exact ? 0 : sine / hypot(sine, f->R[8]);

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
        b->part[i - 1].delta = d.delta;
    }
}

// ------------------------------------------------------------------------------------------- place

static int blocks_of(int count)
{
    return (count + LWI_LANES - 1) / LWI_LANES;
}

static int count_kind(const build *b, lwi_k_kind kind)
{
    int n = 0;
    for (int i = 0; i < b->npart; i++) n += b->part[i].kind == kind;
    return n;
}

// Fewest bodies of a chain for four and for eight runs, where they win over fewer (measured).
enum { LEAST_FOR_4 = 32, LEAST_FOR_8 = 500 };

// An unbranched chain of hinges that need no further turns, long enough: cut into runs.
static void choose_runs(const build *b, lwi_plan *plan)
{
    if (b->npart < LEAST_FOR_4) return;
    for (int i = 0; i < b->npart; i++) {
        if (b->part[i].kind != LWI_K_HINGE || b->part[i].parent != i - 1) return;
        if (i > 0 && decompose(&b->part[i].in).b != 0) return;
    }
    plan->runs = b->npart < LEAST_FOR_8 ? 4 : 8;
    plan->length = (b->npart + plan->runs - 1) / plan->runs;
    for (int i = 0; i < b->npart; i++)
        b->part[i].slot = plan->runs * (i % plan->length) + i / plan->length;
    plan->nscrew = plan->nblock = blocks_of(plan->runs * plan->length);
}

static void place_slots(build *b, lwi_plan *plan)
{
    plan->nscrew = blocks_of(count_kind(b, LWI_K_HINGE) + count_kind(b, LWI_K_SCREW));
    plan->nball = blocks_of(count_kind(b, LWI_K_BALL));
    plan->nbase = blocks_of(count_kind(b, LWI_K_BASE));
    plan->nblock = plan->nscrew + plan->nball + plan->nbase;
    plan->first_ball = plan->nscrew * LWI_LANES;
    int screw = 0, ball = plan->first_ball, base = (plan->nscrew + plan->nball) * LWI_LANES;
    for (int i = 0; i < b->npart; i++) {
        part *p = &b->part[i];
        p->slot = is_screw(p) ? screw++ : p->kind == LWI_K_BALL ? ball++ : base++;
    }
    if (b->in_runs) choose_runs(b, plan);
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
}

// Returns whether phi, b or delta are needed.
static bool set_screw(const build *b, int i, lwi_k_screw *k, int l)
{
    const part *p = &b->part[i];
    const bool first = p->parent >= 0 && p->parent == i - 1 && is_screw(&b->part[i - 1]);
    const frame in = first ? p->in : inboard(b, i);
    axes d = decompose(&in);
    if (first) d.phi = d.delta = 0; // the parent was settled for it
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
    k->shift[l] = d.shift + p->delta;
    k->sign[l] = p->sign;
    k->turn[l] = p->turn;
    k->slide[l] = p->slide;
    return d.phi != 0 || d.b != 0 || d.delta != 0;
}

static void set_ball(const build *b, int i, lwi_k_ball *k, int l)
{
    const frame in = inboard(b, i);
    for (int j = 0; j < 9; j++) k->R[j][l] = in.R[j];
    for (int j = 0; j < 3; j++) k->r[j][l] = in.r[j];
}

static void set_constants(const build *b, lwi_plan *plan)
{
    for (int i = 0; i < b->npart; i++) {
        const part *p = &b->part[i];
        const int block = p->slot / LWI_LANES, l = p->slot % LWI_LANES;
        lwi_k_step *step = &plan->step[i];
        set_body(p, &plan->body[block], l);
        *step = (lwi_k_step){.slot = p->slot,
                             .parent = p->parent < 0 ? -1 : b->part[p->parent].slot,
                             .iq = p->iq,
                             .iv = p->iv,
                             .kind = (int8_t)p->kind,
                             .tip = p->children == 0,
                             .park = -1,
                             .fetch = -1};
        if (is_screw(p))
            step->turned = set_screw(b, i, &plan->screw[block], l);
        else
            set_ball(b, i, &plan->ball[block - plan->nscrew], l);
        plan->straight =
            plan->straight && is_screw(p) && p->sign > 0 && p->slot == p->iq && p->slot == p->iv;
    }
}

static void pad(lwi_plan *plan)
{
    for (int i = 0; i < plan->nblock; i++)
        for (int l = 0; l < LWI_LANES; l++) {
            plan->body[i].pad[l] = 1;
            if (i >= plan->nscrew) continue;
            plan->screw[i].ca[l] = plan->screw[i].c2a[l] = plan->screw[i].cphi[l] = 1;
            plan->screw[i].turn[l] = plan->screw[i].sign[l] = 1;
        }
    for (int i = 0; i < plan->nstep; i++)
        plan->body[plan->step[i].slot / LWI_LANES].pad[plan->step[i].slot % LWI_LANES] = 0;
}

static void add_masses(const build *b, lwi_plan *plan)
{
    for (int i = b->npart - 1; i >= 0; i--) {
        const int slot = b->part[i].slot, parent = b->part[i].parent;
        double *beyond = &plan->body[slot / LWI_LANES].beyond[slot % LWI_LANES];
        *beyond += b->part[i].m;
        if (parent < 0) continue;
        const int to = b->part[parent].slot;
        plan->body[to / LWI_LANES].beyond[to % LWI_LANES] += *beyond;
    }
}

// Where limbs meet, all but the first leave their inertia in a place of the parent's.
static void place_parking(const build *b, lwi_plan *plan)
{
    for (int i = b->npart - 1; i >= 0; i--) {
        lwi_k_step *step = &plan->step[i];
        const int parent = b->part[i].parent;
        if (parent >= 0 && parent != i - 1) {
            step->first = plan->step[parent].fetch < 0;
            if (step->first) plan->step[parent].fetch = plan->nart++;
            step->park = plan->step[parent].fetch;
        }
    }
    for (int i = 0; i < b->npart; i++) {
        lwi_k_step *step = &plan->step[i];
        step->plain = step->kind == LWI_K_HINGE && !step->tip && !step->turned && step->park < 0 &&
                      step->fetch < 0 && step->parent >= 0;
    }
}

static lw_status place(build *b, lwi_arena *arena, lwi_plan *plan)
{
    place_slots(b, plan);
    plan->nstep = b->npart;
    plan->straight = true;
    v3_copy(plan->gravity, b->model->gravity);
    plan->step = LWI_PUSH(arena, lwi_k_step, plan->nstep);
    plan->body = LWI_PUSH(arena, lwi_k_body, plan->nblock);
    plan->screw = LWI_PUSH(arena, lwi_k_screw, plan->nscrew);
    plan->ball = LWI_PUSH(arena, lwi_k_ball, plan->nball + plan->nbase);
    if (!plan->step || !plan->body || !plan->screw || !plan->ball) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->nstep; i++) plan->step[i].slot = b->part[i].slot;
    pad(plan);
    set_constants(b, plan);
    add_masses(b, plan);
    place_parking(b, plan);
    return LW_OK;
}

static lw_status create(const lw_model *model, bool in_runs, lwi_arena *arena, lwi_plan **out)
{
    *out = NULL;
    if (!applies(model)) return LW_OK;
    const int most = 3 * model->nnode; // a planar joint has three parts
    build b = {.model = model,
               .in_runs = in_runs,
               .part = LWI_PUSH(arena, part, most),
               .host = LWI_PUSH(arena, int, model->nnode),
               .offset = LWI_PUSH(arena, frame, model->nnode)};
    lwi_plan *plan = LWI_PUSH(arena, lwi_plan, 1);
    if (!b.part || !b.host || !b.offset || !plan) return LW_ERR_MEMORY;
    expand(&b);
    if (b.npart == 0) return LW_OK;
    settle(&b);
    TRY(place(&b, arena, plan));
    *out = plan;
    return LW_OK;
}

lw_status lwi_plan_create(const lw_model *model, lwi_arena *arena, lwi_plan **plan)
{
    return create(model, true, arena, plan);
}

lw_status lwi_plan_create_single(const lw_model *model, lwi_arena *arena, lwi_plan **plan)
{
    return create(model, false, arena, plan);
}

// ------------------------------------------------------------------------------------------- state

// What no kernel writes: the unit entry of a hinge's row, quaternions of padding.
static void prepare_state(const lwi_plan *plan, bool batch, const lwi_k_state *state)
{
    const int nball = (plan->nball + plan->nbase) * (batch ? LWI_LANES : 1);
    for (int i = 0; i < nball; i++)
        for (int l = 0; l < LWI_LANES; l++) state->ball_joint[i].q[0][l] = 1;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        if (step->kind != LWI_K_HINGE) continue;
        lwi_k_pivot *pivot = &state->pivot[batch ? step->slot : step->slot / LWI_LANES];
        for (int l = 0; l < LWI_LANES; l++)
            if (batch || l == step->slot % LWI_LANES) pivot->g[5][l] = 1;
    }
}

lw_status lwi_k_state_create(const lwi_plan *plan, bool batch, lwi_arena *arena, lwi_k_state *state)
{
    const int scale = batch ? LWI_LANES : 1;
    const int nscrew = scale * plan->nscrew, nball = scale * (plan->nball + plan->nbase);
    const int nblock = nscrew + nball;
    state->joint = LWI_PUSH(arena, lwi_k_joint, nscrew);
    state->ball_joint = LWI_PUSH(arena, lwi_k_ball_joint, nball);
    state->pose = LWI_PUSH(arena, lwi_k_pose, nblock);
    state->bias = LWI_PUSH(arena, lwi_k_bias, nblock);
    state->pivot = LWI_PUSH(arena, lwi_k_pivot, nscrew);
    state->ball_pivot = LWI_PUSH(arena, lwi_k_ball_pivot, nball);
    state->row = LWI_PUSH(arena, lwi_k_row, nscrew);
    state->motion = LWI_PUSH(arena, lwi_k_motion, nblock);
    state->art = LWI_PUSH(arena, lwi_k_art, plan->nart);
    state->run = LWI_PUSH(arena, lwi_k_run, 1);
    state->momentum = LWI_PUSH(arena, lwi_k_momentum, nblock);
    if (!state->joint || !state->ball_joint || !state->pose || !state->bias || !state->pivot ||
        !state->ball_pivot || !state->row || !state->motion || !state->art || !state->run ||
        !state->momentum)
        return LW_ERR_MEMORY;
    prepare_state(plan, batch, state);
    return LW_OK;
}
