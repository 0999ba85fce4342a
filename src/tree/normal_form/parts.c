// parts.c -- a tree as products of rotations and displacements (parts.h).
#include "tree/normal_form/build.h"

#include "base/assert.h"
#include "spatial/rotation.h"

typedef lwi_k_frame frame;
typedef lwi_build_part part;
typedef lwi_build build;

// ------------------------------------------------------------------------------------------ frames

// c = a b
void lwi_k_compose(frame *c, const frame *a, const frame *b)
{
    frame t;
    m3_mul(t.R, a->R, b->R);
    m3_mul_v(t.r, a->R, b->r);
    v3_add(t.r, t.r, a->r);
    *c = t;
}

void lwi_k_invert(frame *inverse, const frame *a)
{
    frame t;
    m3_transpose(t.R, a->R);
    m3_mul_v(t.r, t.R, a->r);
    v3_scale(t.r, -1, t.r);
    *inverse = t;
}

lwi_k_frame lwi_k_screw_z(double angle, double shift)
{
    frame f = {.r = {0, 0, shift}};
    rot_z(f.R, cos(angle), sin(angle));
    return f;
}

// Adds the inertia (m, h, J) of frame f to the sums of f's reference frame.  About a point r away
// the second moments are J + 2 h.r 1 - h r' - r h' + m (r.r 1 - r r').
void lwi_k_add_inertia(double *sum_m, double sum_h[3], double sum_J[6], const frame *f, double m,
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

// True if the joint is a product of rotations about and displacements along axes, one coordinate each.
static bool is_product(const lwi_joint_type *type)
{
    for (int i = 0; i < type->nfactor; i++)
        if (type->factor[i].kind == LWI_FACTOR_PLACE || type->factor[i].kind == LWI_FACTOR_BALL)
            return false;
    return type->nfactor >= 0;
}

static bool is_ball(const lwi_node *node)
{
    return lwi_joint_is_ball(node->type);
}

static bool is_free(const lwi_node *node)
{
    return lwi_joint_is_free(node->type);
}

static const lwi_mount *mount_of(const lw_model *model, const lwi_node *node)
{
    if (node->joint < 0 || !model->joint[node->joint].mount.present) return NULL;
    return &model->joint[node->joint].mount;
}

static bool has_kernel(const lw_model *model, const lwi_node *node, bool prescribed)
{
    if (node->driven && !prescribed) return false;
    if (node->reversed && mount_of(model, node)) return false;
    if (is_ball(node)) return !node->reversed;
    if (is_free(node)) return !node->reversed && node->parent < 0 && !node->driven;
    return is_product(node->type);
}

bool lwi_build_applies(const lw_model *model, bool prescribed)
{
    const unsigned bodies = LWI_NEEDS_POSE | LWI_NEEDS_TWIST;
    if (model->nnode == 0 || (!prescribed && (model->force_needs & bodies))) return false;
    for (int k = 0; k < model->nnode; k++)
        if (!has_kernel(model, &model->node[k], prescribed)) return false;
    return true;
}

lw_signal lwi_k_drive_motion(const lw_model *model, lwi_k_drive drive)
{
    LWI_ASSERT_INDEX(drive.joint, model->njoint);
    const lwi_joint *joint = &model->joint[drive.joint];
    if (drive.coordinate >= 0) return joint->motion[drive.coordinate];
    if (drive.coordinate == LWI_K_MOUNT_TURN) return joint->mount.turn;
    return joint->mount.shift[drive.coordinate - LWI_K_MOUNT_SHIFT];
}

// Rotates the z axis to the given axis.
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

// Index of the coordinate among the free ones of the node; -1: its motion is prescribed.
static int free_one(const lwi_node *node, int coordinate)
{
    for (int j = 0; j < node->nv; j++)
        if (node->column[j] == coordinate) return j;
    return -1;
}

// A part along the z axis of `axis`, a frame in `offset` of the last part; it becomes the last one.
static part *add_axis(build *b, lwi_k_kind kind, const frame *axis, int *part_of, frame *offset)
{
    frame in;
    lwi_k_compose(&in, offset, axis);
    part *t = add_part(b, kind, *part_of, &in, -1, -1);
    *part_of = b->npart - 1;
    lwi_k_invert(offset, axis);
    return t;
}

static void prescribe(build *b, part *t, int joint, int coordinate)
{
    LWI_ASSERT(b->drive);
    t->driven = true;
    t->iq = b->model->tree_nq + b->ndrive;
    t->iv = b->model->tree_nv + b->ndrive;
    b->drive[b->ndrive++] = (lwi_k_drive){joint, coordinate};
}

// The parts of a product; in reverse order and with opposite signs for a reversed joint.
static void expand_product(build *b, const lwi_node *node, int *part_of, frame *offset)
{
    const int n = node->type->nfactor;
    for (int i = 0; i < n; i++) {
        const lwi_joint_factor *m = &node->type->factor[node->reversed ? n - 1 - i : i];
        const bool turns = m->kind != LWI_FACTOR_SLIDE, slides = m->kind != LWI_FACTOR_TURN;
        const int j = free_one(node, m->coordinate);
        frame axis;
        axis_frame(&axis, m->axis);
        part *t = add_axis(b, slides ? LWI_K_SCREW : LWI_K_HINGE, &axis, part_of, offset);
        t->sign = node->reversed ? -1 : 1;
        t->turn = turns;
        t->slide = slides ? (turns ? node->par->pitch : 1) : 0;
        if (j < 0) {
            prescribe(b, t, node->joint, m->coordinate);
            continue;
        }
        t->iq = node->iq + j, t->iv = node->iv + j;
        t->rotor = b->model->tree_rotor[t->iv];
    }
}

void lwi_k_frame_about(frame *f, const double axis[3])
{
    const int smallest = fabs(axis[0]) < fabs(axis[1]) ? (fabs(axis[0]) < fabs(axis[2]) ? 0 : 2)
                                                       : (fabs(axis[1]) < fabs(axis[2]) ? 1 : 2);
    double side[3] = {0}, x[3], y[3];
    side[smallest] = 1;
    v3_cross(x, side, axis);
    v3_scale(x, 1 / v3_norm(x), x);
    v3_cross(y, axis, x);
    *f = (frame){.r = {0}};
    for (int i = 0; i < 3; i++)
        f->R[3 * i] = x[i], f->R[3 * i + 1] = y[i], f->R[3 * i + 2] = axis[i];
}

// A moving mount: displacements along the axes of the joint frame, then a rotation.
static void expand_mount(build *b, const lwi_node *node, int *part_of, frame *offset)
{
    const lwi_mount *mount = mount_of(b->model, node);
    frame axis;
    for (int i = 0; mount && i < 3; i++) {
        if (mount->shift[i].index <= 0) continue;
        axis_frame(&axis, i);
        part *t = add_axis(b, LWI_K_SCREW, &axis, part_of, offset);
        t->slide = 1;
        prescribe(b, t, node->joint, LWI_K_MOUNT_SHIFT + i);
    }
    if (!mount || mount->turn.index <= 0) return;
    lwi_k_frame_about(&axis, mount->about);
    part *t = add_axis(b, LWI_K_HINGE, &axis, part_of, offset);
    t->turn = 1;
    prescribe(b, t, node->joint, LWI_K_MOUNT_TURN);
}

void lwi_build_expand(build *b)
{
    static const frame identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (int k = 0; k < b->model->nnode; k++) {
        const lwi_node *node = &b->model->node[k];
        int part_of = node->parent < 0 ? -1 : b->part_of[node->parent];
        frame offset, X;
        memcpy(X.R, node->X_R, sizeof X.R);
        v3_copy(X.r, node->X_r);
        lwi_k_compose(&offset, node->parent < 0 ? &identity : &b->offset[node->parent], &X);
        expand_mount(b, node, &part_of, &offset);
        if (is_ball(node) || is_free(node) || !is_product(node->type)) {
            add_part(b, is_ball(node) ? LWI_K_BALL : LWI_K_BASE, part_of, &offset,
                     node->iq + node->type->quaternion, node->iv);
            part_of = b->npart - 1;
            offset = identity;
        } else {
            expand_product(b, node, &part_of, &offset);
        }
        b->part_of[k] = part_of;
        b->offset[k] = offset;
        if (part_of < 0) continue;
        part *p = &b->part[part_of];
        lwi_k_add_inertia(&p->m, p->h, p->J, &offset, node->mass, node->h, node->J);
    }
}

static bool floats(const lwi_node *node)
{
    return (is_free(node) || is_ball(node)) && node->parent < 0 && !node->driven;
}

// Joints that become parts.
typedef enum kinds {
    PRODUCTS,           // and joints that float at the ground
    PRODUCTS_AND_BALLS, // and balls
    ANY
} kinds;

// True if every joint is of these kinds, without a mount.
static bool all_have_parts(const lw_model *model, kinds which)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const bool ball = which == PRODUCTS_AND_BALLS && is_ball(node) && !node->driven;
        if (!is_product(node->type) && !floats(node) && !ball) return false;
        if (node->joint >= 0 && model->joint[node->joint].mount.present) return false;
    }
    return true;
}

static lwi_k_part part_from(const part *p)
{
    lwi_k_part to = {.parent = p->parent,
                     .in = p->in,
                     .floats = p->kind == LWI_K_BASE || p->kind == LWI_K_BALL,
                     .ball = p->kind == LWI_K_BALL && p->parent >= 0,
                     .turn = p->turn,
                     .slide = p->slide,
                     .sign = p->sign,
                     .iq = p->iq,
                     .iv = p->iv,
                     .m = p->m};
    v3_copy(to.h, p->h);
    memcpy(to.J, p->J, sizeof to.J);
    return to;
}

// Replaces a ball by three parts from the same place on.
static void split_ball(lwi_k_part *to, bool reversed)
{
    static const lwi_k_frame identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    lwi_k_part whole = to[0], massless;
    whole.floats = whole.ball = false;
    whole.turn = 1;
    massless = whole;
    massless.m = 0;
    v3_set(massless.h, 0, 0, 0);
    memset(massless.J, 0, sizeof massless.J);
    for (int i = 0; i < 3; i++) {
        to[i] = i < 2 ? massless : whole;
        to[i].axis_of_ball = reversed ? -(i + 1) : i + 1;
        to[i].iv = whole.iv + i;
        if (i > 0) to[i].in = identity;
    }
}

static lw_status split_balls(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts)
{
    const int n = parts->n;
    int *last = LWI_PUSH(arena, int, n), total = 0; // of each part: the last one that replaces it
    bool *reversed = LWI_PUSH(arena, bool, n);
    for (int i = 0; i < n && last; i++) total += parts->part[i].ball ? 3 : 1, last[i] = total - 1;
    lwi_k_part *all = LWI_PUSH(arena, lwi_k_part, total);
    if (!last || !reversed || !all) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++)
        if (is_ball(&model->node[k])) reversed[parts->part_of[k]] = model->node[k].reversed;
    for (int i = 0; i < n; i++) {
        const int first = i ? last[i - 1] + 1 : 0, parent = parts->part[i].parent;
        all[first] = parts->part[i];
        if (parts->part[i].ball) split_ball(&all[first], reversed[i]);
        all[first].parent = parent < 0 ? -1 : last[parent];
        for (int k = first + 1; k <= last[i]; k++) all[k].parent = k - 1;
    }
    for (int k = 0; k < model->nnode; k++)
        if (parts->part_of[k] >= 0) parts->part_of[k] = last[parts->part_of[k]];
    parts->part = all;
    parts->n = total;
    return LW_OK;
}

static lw_status take_parts(const build *b, lwi_arena *arena, lwi_k_parts *parts)
{
    parts->part = LWI_PUSH(arena, lwi_k_part, b->npart);
    parts->drive = LWI_PUSH(arena, lwi_k_drive, b->ndrive);
    if (!parts->part || !parts->drive) return LW_ERR_MEMORY;
    for (int i = 0; i < b->npart; i++) parts->part[i] = part_from(&b->part[i]);
    if (b->ndrive) memcpy(parts->drive, b->drive, (size_t)b->ndrive * sizeof *b->drive);
    parts->n = b->npart, parts->ndrive = b->ndrive;
    return LW_OK;
}

static lw_status create(const lw_model *model, kinds which, lwi_arena *arena, lwi_k_parts *parts)
{
    *parts = (lwi_k_parts){.n = -1};
    if (which != ANY && !all_have_parts(model, which)) return LW_OK;
    const int max_parts =
        (model->driven ? 7 : 3) * model->nnode; // three of a planar joint, four of its mount
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    build b = {.model = model,
               .part = LWI_PUSH(&scratch, part, max_parts),
               .part_of = LWI_PUSH(arena, int, model->nnode),
               .offset = LWI_PUSH(arena, frame, model->nnode),
               .drive = LWI_PUSH(&scratch, lwi_k_drive, max_parts)};
    lw_status status = LW_ERR_MEMORY;
    if (b.part && b.part_of && b.offset && b.drive) {
        lwi_build_expand(&b);
        parts->part_of = b.part_of, parts->offset = b.offset;
        status = take_parts(&b, arena, parts);
    }
    lwi_arena_free(&scratch);
    return status;
}

lw_status lwi_k_parts_create(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts)
{
    return create(model, PRODUCTS, arena, parts);
}
lw_status lwi_k_parts_create_any(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts)
{
    return create(model, ANY, arena, parts);
}

lw_status lwi_k_parts_create_balls(const lw_model *model, lwi_arena *arena, lwi_k_parts *parts)
{
    TRY(create(model, PRODUCTS_AND_BALLS, arena, parts));
    return parts->n > 0 ? split_balls(model, arena, parts) : LW_OK;
}
