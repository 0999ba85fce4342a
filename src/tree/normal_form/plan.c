// plan.c -- kernel normal form of a tree: frames aligned with the axes, slots, constants, the order of the
// sweeps (plan.h; steps: build.h).
#include "tree/normal_form/build.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <float.h>

typedef lwi_k_frame frame;
typedef lwi_build_part part;
typedef lwi_build build;

// The last body of a segment needs inertia about its joint axis: its recursion starts there, without the
// bodies beyond.  Below this fraction of the other two moments of inertia, too many digits are lost.
static const double min_at_cuts = 1e-6;

// ------------------------------------------------------------------------------------------ align

// A frame as turn_z(phi) shift(0, b, delta) screw_x(alpha, a) lwi_k_screw_z(angle, shift).
typedef struct axes {
    double phi, b, delta, ca, sa, a, angle, shift;
} axes;

// Below this sine the two axes are parallel to round-off, and x is along their distance.
static const double parallel = 8 * DBL_EPSILON;
// Below this sine the common normal is too far away: its feet are at 1/sin alpha of the distance, and
// inertias about them lose the square of that.  x then has only the direction of the normal, and b is
// the offset.
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

    // after the rotation by -phi: origin (a, y, z), axes T
    frame turn = lwi_k_screw_z(-d.phi, 0), left;
    lwi_k_compose(&left, &turn, f);
    const double y = left.r[1], z = left.r[2];
    d.a = left.r[0];
    if (sine >= nearly_parallel) { // y = -sa shift, z = delta + ca shift
        d.shift = -y / d.sa;
        d.delta = z - d.ca * d.shift;
    } else { // y = b - sa shift, z = ca shift
        d.shift = z / d.ca;
        d.b = exact ? 0 : y + d.sa * d.shift;
    }
    // values below the rounding error of the distance between the frames are set to zero
    const double nothing = parallel * v3_norm(f->r);
    if (fabs(d.a) <= nothing) d.a = 0;
    if (fabs(d.shift) <= nothing) d.shift = 0;
    if (fabs(d.delta) <= nothing) d.delta = 0;
    // Rz(angle) = Rx(-alpha) T
    d.angle = atan2(d.ca * left.R[3] + d.sa * left.R[6], left.R[0]);
    return d;
}

static frame alignment_of(const part *p)
{
    return lwi_k_screw_z(p->phi, p->delta);
}

// The joint frame of part i in its parent's aligned frame.
static frame inboard(const build *b, int i)
{
    const part *p = &b->part[i];
    frame f = p->in;
    if (p->parent < 0) return f;
    frame back = alignment_of(&b->part[p->parent]);
    lwi_k_invert(&back, &back);
    lwi_k_compose(&f, &back, &p->in);
    return f;
}

static bool is_screw(const part *p)
{
    return p->kind == LWI_K_HINGE || p->kind == LWI_K_SCREW;
}

// Is screw i the first child of a screw, which is aligned with it?
static bool is_first(const build *b, int i)
{
    return i > 0 && b->part[i].parent == i - 1 && is_screw(&b->part[i - 1]);
}

// Aligns every screw with its first child, which is the part that follows it.
// @param of  out: parameters of first children relative to joint frames
static void align_screws(build *b, axes *of)
{
    for (int i = 1; i < b->npart; i++) {
        if (!is_screw(&b->part[i]) || !is_first(b, i)) continue;
        of[i] = decompose(&b->part[i].in);
        b->part[i - 1].phi = of[i].phi;
        b->part[i - 1].delta = of[i].sa != 0 ? of[i].delta : of[i].ca * of[i].shift;
    }
}

// ------------------------------------------------------------------------------------------- place

// Parameters of part i, a screw, relative to its parent, with all frames aligned.
static void find_axes(const build *b, int i, axes *d)
{
    const part *p = &b->part[i];
    if (is_first(b, i)) {
        d->phi = d->delta = 0; // the parent is aligned with it
        if (d->sa == 0) d->shift = 0;
    } else {
        const frame in = inboard(b, i);
        *d = decompose(&in);
    }
    const double shift = d->shift + p->delta;
    d->shift = fabs(shift) > parallel * (fabs(d->shift) + fabs(p->delta)) ? shift : 0;
}

static bool is_realigned(const axes *d)
{
    return d->phi != 0 || d->b != 0 || d->delta != 0;
}

// The kernel variant for a shape; with rotors there are three only.
static int with_variant(int shape)
{
    if (!(shape & LWI_K_ROTOR)) return shape;
    if ((shape & LWI_K_AXIS) == LWI_K_SQUARE) return shape | LWI_K_APART | LWI_K_ALONG;
    if ((shape & LWI_K_AXIS) == LWI_K_PARALLEL && !(shape & LWI_K_ALONG))
        return shape | LWI_K_APART;
    return LWI_K_ANY | (shape & ~LWI_K_FORM);
}

static int8_t shape_of(const axes *d, const part *p)
{
    // not sa == 1, which also holds for cosines up to 1e-8
    const bool right = d->ca == 0, along = d->sa == 0 && d->ca == 1;
    return (int8_t)with_variant((right   ? LWI_K_SQUARE
                                 : along ? LWI_K_PARALLEL
                                         : LWI_K_OBLIQUE) |
                                (d->a != 0 ? LWI_K_APART : 0) | (d->shift != 0 ? LWI_K_ALONG : 0) |
                                (p->rotor > 0 ? LWI_K_ROTOR : 0) |
                                (p->driven ? LWI_K_ROTOR | LWI_K_DRIVEN : 0));
}

// Slots of a branch in segments: body j of segment r has slot + segments j + r, from a new block.
static void place_segments(build *b, lwi_k_stage *stage, const int *order, int *next)
{
    stage->slot = *next;
    for (int k = stage->first; k < stage->end; k++) {
        const int i = k - stage->first;
        b->part[order[k]].slot =
            stage->slot + stage->segments * (i % stage->length) + i / stage->length;
    }
    *next += LWI_LANES * lwi_blocks_of(stage->segments * stage->length);
}

// Slots of a stage; next: the first free slot of every kind.
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
        for (int r = 0; r < stage->branches; r++)
            if (stage->branch[r] + j < stage->branch[r + 1])
                b->part[order[stage->branch[r] + j]].slot = at + r;
    }
}

// Slots of a section, from new blocks: stages of eight lanes, of four, and the rest.
static void place_section(build *b, lwi_kernel_plan *plan, lwi_k_section *section, const int *order,
                          int next[])
{
    for (int kind = 0; kind < 4; kind++) section->first_block[kind] = lwi_blocks_of(next[kind]);
    for (int lanes = LWI_LANES; lanes >= 0; lanes -= 4)
        for (int i = section->first_stage; i < section->end_stage; i++)
            if (plan->stage[i].lanes == lanes && !plan->stage[i].segments)
                place_stage(b, &plan->stage[i], order, next);
    for (int kind = 0; kind < 4; kind++) {
        section->end_block[kind] = lwi_blocks_of(next[kind]);
        section->tail[kind] = next[kind] - LWI_LANES * (section->end_block[kind] - 1);
        next[kind] = LWI_LANES * section->end_block[kind];
    }
}

static void find_sections(lwi_kernel_plan *plan)
{
    for (int s = 0, i = 0; s < plan->nsection; s++) {
        lwi_k_section *section = &plan->section[s];
        section->first_stage = i;
        while (i < plan->nstage && plan->stage[i].section == s) i++;
        section->end_stage = i;
        LWI_ASSERT(s == 0 || section->first_stage < i);
        if (section->first_stage == i) continue; // no trunk: all subtrees are on the ground
        section->first = plan->stage[section->first_stage].first;
        section->end = plan->stage[i - 1].end;
    }
}

// Slots by kind; within a kind those of segments first, then by section.
static void place_slots(build *b, lwi_kernel_plan *plan, const int *order)
{
    int next[] = {[LWI_K_HINGE] = 0, [LWI_K_SCREW] = 0, [LWI_K_BALL] = 0, [LWI_K_BASE] = 0};
    for (int i = 0; i < plan->nstage; i++)
        if (plan->stage[i].segments) place_segments(b, &plan->stage[i], order, &next[LWI_K_HINGE]);
    plan->nsegment = lwi_blocks_of(next[LWI_K_HINGE]);
    find_sections(plan);
    for (int s = 0; s < plan->nsection; s++) place_section(b, plan, &plan->section[s], order, next);
    plan->nhinge = lwi_blocks_of(next[LWI_K_HINGE]);
    plan->nscrew = plan->nhinge + lwi_blocks_of(next[LWI_K_SCREW]);
    plan->nball = lwi_blocks_of(next[LWI_K_BALL]);
    plan->nbase = lwi_blocks_of(next[LWI_K_BASE]);
    plan->nblock = plan->nscrew + plan->nball + plan->nbase;
    const int from[] = {[LWI_K_HINGE] = 0,
                        [LWI_K_SCREW] = plan->nhinge,
                        [LWI_K_BALL] = plan->nscrew,
                        [LWI_K_BASE] = plan->nscrew + plan->nball};
    for (int i = 0; i < b->npart; i++) b->part[i].slot += from[b->part[i].kind] * LWI_LANES;
    for (int s = 0; s < plan->nsection; s++)
        for (int kind = 0; kind < 4; kind++) {
            plan->section[s].first_block[kind] += from[kind];
            plan->section[s].end_block[kind] += from[kind];
        }
    plan->first_ball = plan->nscrew * LWI_LANES;
}

static void set_body(const part *p, lwi_k_body *block, int l)
{
    double m = 0, h[3] = {0}, J[6] = {0};
    frame raw = alignment_of(p);
    lwi_k_invert(&raw, &raw);
    lwi_k_add_inertia(&m, h, J, &raw, p->m, p->h, p->J);
    block->m[l] = m;
    for (int i = 0; i < 3; i++) block->h[i][l] = h[i];
    for (int i = 0; i < 6; i++) block->J[i][l] = J[i];
    for (int i = 0; i < 3; i++) block->first_moment[i][l] = h[i];
    block->pivot[l] = J[2];
}

static void set_screw(const build *b, int i, axes d, lwi_k_screw *k, int l, lwi_k_step *step)
{
    const part *p = &b->part[i];
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
    k->rotor[l] = p->driven ? 1 : p->rotor;
    k->driven[l] = p->driven;
    k->reach[0][l] = d.a;
    k->reach[1][l] = d.ca * d.b + d.sa * d.delta;
    k->reach[2][l] = d.ca * d.delta - d.sa * d.b;
    if (p->parent < 0) {
        const double *g = b->model->gravity, c = cos(d.phi), s = sin(d.phi);
        const double y = c * g[1] - s * g[0];
        k->minus_gravity[0][l] = c * g[0] + s * g[1];
        k->minus_gravity[1][l] = d.ca * y + d.sa * g[2];
        k->minus_gravity[2][l] = d.ca * g[2] - d.sa * y;
    }
    step->shape = shape_of(&d, p);
    step->realigned = is_realigned(&d);
}

static void set_ball(const build *b, int i, lwi_k_ball *k, int l)
{
    const frame in = inboard(b, i);
    for (int j = 0; j < 9; j++) k->R[j][l] = in.R[j];
    for (int j = 0; j < 3; j++) k->r[j][l] = in.r[j];
}

// @param of  axes of the parts that are screws
static void set_constants(const build *b, const axes *of, lwi_kernel_plan *plan, const int *order)
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
                             .driven = p->driven,
                             .park = -1,
                             .leaf = -1,
                             .fetch = -1};
        if (is_screw(p))
            set_screw(b, i, of[i], &plan->screw[block], l, step);
        else
            set_ball(b, i, &plan->ball[block - plan->nscrew], l);
        plan->forward = plan->forward && p->sign > 0;
        plan->rotors = plan->rotors || p->rotor > 0;
        plan->straight = plan->straight && is_screw(p) && p->sign > 0 && p->slot == p->iq &&
                         p->slot == p->iv && !p->driven;
    }
}

// The kernel variant that is valid for hinges of both shapes; one = -1: no shape yet.
static int common_shape(int one, int other)
{
    if (one < 0) return other;
    const int axis = (one & LWI_K_AXIS) == (other & LWI_K_AXIS) ? one & LWI_K_AXIS : LWI_K_OBLIQUE;
    return with_variant(axis | ((one | other) & ~LWI_K_AXIS));
}

// Bodies at one position of parallel branches share a kernel variant.  A batch, which processes them in
// sequence, uses the same one.
static void share_variants(lwi_kernel_plan *plan, const lwi_k_stage *stage)
{
    for (int j = 0; j < stage->length; j++) {
        int shape = -1;
        bool realigned = false;
        for (int pass = 0; pass < 2; pass++)
            for (int r = 0; r < stage->branches; r++) {
                lwi_k_step *step = &plan->step[stage->branch[r] + j];
                if (stage->branch[r] + j >= stage->branch[r + 1]) continue;
                if (pass) {
                    step->shape = (int8_t)shape;
                    step->realigned = realigned;
                } else {
                    shape = common_shape(shape, step->shape);
                    realigned = realigned || step->realigned;
                }
            }
    }
}

// The kernels find prescribed motions by `drives`, not by the shape.
static void set_drives(lwi_kernel_plan *plan)
{
    for (int i = 0; i < plan->nstep; i++) {
        lwi_k_step *step = &plan->step[i];
        step->drives = step->shape & LWI_K_DRIVEN;
        step->shape &= ~LWI_K_DRIVEN;
    }
}

static void pad(lwi_kernel_plan *plan)
{
    for (int i = 0; i < plan->nblock; i++)
        for (int l = 0; l < LWI_LANES; l++) {
            plan->body[i].pivot[l] = 1;
            // a ball eliminates three degrees of freedom: lanes without a branch need a regular pivot
            for (int j = 0; j < 3 && i >= plan->nscrew; j++) plan->body[i].J[j][l] = 1;
            if (i >= plan->nscrew) continue;
            plan->screw[i].ca[l] = plan->screw[i].c2a[l] = plan->screw[i].cphi[l] = 1;
            plan->screw[i].turn[l] = plan->screw[i].sign[l] = 1;
        }
}

// Origin of a body in its parent's frame for q = 0.
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
        for (int j = 0; j < 3; j++) parent->first_moment[j][to % LWI_LANES] += *beyond * r[j];
    }
}

// Are tree q and v of a branch in its order, with the model's signs, and only the last segment padded?
static bool is_straight(const lwi_kernel_plan *plan, const lwi_k_stage *stage)
{
    if (stage->end - stage->first <= (stage->segments - 1) * stage->length) return false;
    const lwi_k_step *first = &plan->step[stage->first];
    for (int k = stage->first; k < stage->end; k++) {
        const lwi_k_step *step = &plan->step[k];
        const int i = k - stage->first;
        if (step->iq != first->iq + i || step->iv != first->iv + i || step->driven) return false;
        if (plan->screw[lwi_k_block(step->slot)].sign[lwi_k_lane(step->slot)] != 1) return false;
    }
    return true;
}

// The common shape of the bodies of all segments at each position.
static lw_status set_segment_shapes(lwi_arena *arena, lwi_kernel_plan *plan)
{
    for (int s = 0; s < plan->nstage; s++) {
        lwi_k_stage *stage = &plan->stage[s];
        if (!stage->segments) continue;
        stage->segment = plan->segments++;
        stage->straight = is_straight(plan, stage);
        stage->shape = LWI_PUSH(arena, int8_t, stage->length);
        if (!stage->shape) return LW_ERR_MEMORY;
        for (int j = 0; j < stage->length; j++) {
            int shape = -1;
            for (int k = stage->first + j; k < stage->end; k += stage->length)
                shape = common_shape(shape, plan->step[k].shape);
            stage->shape[j] = (int8_t)shape;
        }
    }
    return LW_OK;
}

// Number of segments of a branch, and the minimum number of bodies for a cut.
static lwi_branch_choice choice_of(lwi_k_choice choice)
{
    const int min_bodies = choice.min_bodies ? choice.min_bodies : LWI_K_MIN_FOR_SECTIONS;
    if (choice.segments == LWI_K_AUTO)
        return (lwi_branch_choice){choice.branches, -1, LWI_K_MIN_FOR_SEGMENTS, min_bodies};
    LWI_ASSERT(choice.segments == 0 || choice.segments == 4 || choice.segments == 8);
    return (lwi_branch_choice){choice.branches, choice.segments, 2, min_bodies};
}

// Order of the steps and stages: parallel branches, branches in segments, the rest.
// @param of  axes of the parts that are screws
static lw_status arrange(const build *b, const axes *of, lwi_arena *arena, lwi_kernel_plan *plan,
                         int **order)
{
    lwi_branches branches;
    lwi_branch_body *body = LWI_PUSH(arena, lwi_branch_body, b->npart);
    if (!body) return LW_ERR_MEMORY;
    for (int i = 0; i < b->npart; i++) {
        const part *p = &b->part[i];
        body[i] = (lwi_branch_body){.parent = p->parent,
                                    .kind = (int8_t)p->kind,
                                    .pads = is_screw(p),
                                    .sequential = p->kind == LWI_K_BASE};
        if (!is_screw(p)) continue;
        body[i].shape = shape_of(&of[i], p);
        body[i].segments = p->kind == LWI_K_HINGE && p->rotor == 0 && !p->driven;
        body[i].realigned = is_realigned(&of[i]);
        body[i].ends = p->J[2] > min_at_cuts * (p->J[0] + p->J[1]);
    }
    TRY(lwi_branches_arrange(body, b->npart, choice_of(b->choice), arena, &branches));
    plan->stage = branches.stage;
    plan->nstage = branches.nstage;
    plan->nsection = branches.nsection;
    plan->section = LWI_PUSH(arena, lwi_k_section, plan->nsection);
    *order = branches.order;
    return plan->section ? LW_OK : LW_ERR_MEMORY;
}

static lw_status place(build *b, lwi_arena *scratch, lwi_arena *arena, lwi_kernel_plan *plan)
{
    int *order;
    axes *of = LWI_PUSH(scratch, axes, b->npart);
    if (!of) return LW_ERR_MEMORY;
    align_screws(b, of);
    for (int i = 0; i < b->npart; i++)
        if (is_screw(&b->part[i])) find_axes(b, i, &of[i]);
    TRY(arrange(b, of, arena, plan, &order));
    place_slots(b, plan, order);
    plan->nstep = b->npart;
    plan->straight = plan->nsection == 1;
    plan->forward = true;
    v3_copy(plan->gravity, b->model->gravity);
    plan->step = LWI_PUSH(arena, lwi_k_step, plan->nstep);
    plan->body = LWI_PUSH(arena, lwi_k_body, plan->nblock);
    plan->screw = LWI_PUSH(arena, lwi_k_screw, plan->nscrew);
    plan->ball = LWI_PUSH(arena, lwi_k_ball, plan->nball + plan->nbase);
    if (!plan->step || !plan->body || !plan->screw || !plan->ball) return LW_ERR_MEMORY;
    pad(plan);
    set_constants(b, of, plan, order);
    for (int i = 0; i < plan->nstage; i++) share_variants(plan, &plan->stage[i]);
    set_drives(plan);
    add_masses(b, plan);
    TRY(set_segment_shapes(arena, plan));
    return lwi_build_branch_points(b, order, arena, plan);
}

// The parts are used here only; the plan keeps the drives.
static lw_status create(const lw_model *model, lwi_k_choice choice, lwi_arena *scratch,
                        lwi_arena *arena, lwi_kernel_plan **out)
{
    // a planar joint has three, a moving mount four
    const int max_parts = (model->driven ? 7 : 3) * model->nnode;
    build b = {.model = model,
               .choice = choice,
               .drive = LWI_PUSH(scratch, lwi_k_drive, model->driven ? max_parts : 0),
               .part = LWI_PUSH(scratch, part, max_parts),
               .part_of = LWI_PUSH(scratch, int, model->nnode),
               .offset = LWI_PUSH(scratch, frame, model->nnode)};
    if (!b.part || !b.part_of || !b.offset || !b.drive) return LW_ERR_MEMORY;
    lwi_build_expand(&b);
    if (b.npart == b.ndrive) return LW_OK;
    lwi_kernel_plan *plan = LWI_PUSH(arena, lwi_kernel_plan, 1);
    if (!plan || !(plan->drive = LWI_PUSH(arena, lwi_k_drive, b.ndrive))) return LW_ERR_MEMORY;
    if (b.ndrive) memcpy(plan->drive, b.drive, (size_t)b.ndrive * sizeof *b.drive);
    plan->ndrive = b.ndrive;
    TRY(place(&b, scratch, arena, plan));
    *out = plan;
    return LW_OK;
}

lw_status lwi_kernel_plan_create_chosen(const lw_model *model, lwi_k_choice choice,
                                        lwi_arena *arena, lwi_kernel_plan **out)
{
    lwi_arena scratch;
    *out = NULL;
    if (!lwi_build_applies(model, choice.prescribed)) return LW_OK;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = create(model, choice, &scratch, arena, out);
    lwi_arena_free(&scratch);
    return status;
}

lw_status lwi_kernel_plan_create(const lw_model *model, lwi_arena *arena, lwi_kernel_plan **plan)
{
    return lwi_kernel_plan_create_chosen(model, (lwi_k_choice){LWI_K_AUTO, LWI_K_AUTO, false, 0},
                                         arena, plan);
}
