// export.c -- the tree of links of a model, for robot formats.
#include "base/assert.h"
#include "base/numbers.h"
#include "io/export.h"

#include "io/frames.h"
#include "model/forces/item.h"
#include "io/text.h"
#include "spatial/rotation.h"

#include <linkwork/io.h>

#include <errno.h>
#include <stdarg.h>
#include <string.h>

lw_status lwi_export_fail(const lwi_export *x, const char *format, ...)
{
    char text[sizeof x->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_fail(x->error, LW_ERR_UNSUPPORTED, "%s: %s", x->format, text);
}

void lwi_export_report(const lwi_export *x, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (!x->report) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    x->report(x->user, text);
}

void lwi_export_text(const lwi_export *x, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&':
            fputs("&amp;", x->file);
            break;
        case '<':
            fputs("&lt;", x->file);
            break;
        case '>':
            fputs("&gt;", x->file);
            break;
        case '"':
            fputs("&quot;", x->file);
            break;
        case '\'':
            fputs("&apos;", x->file);
            break;
        default:
            fputc(*text, x->file);
        }
}

void lwi_export_numbers(const lwi_export *x, const char *name, const double *v, int n, bool keep)
{
    for (int i = 0; i < n; i++) keep = keep || v[i] != 0;
    if (!keep) return;
    fprintf(x->file, " %s=\"", name);
    for (int i = 0; i < n; i++) {
        if (i) fputc(' ', x->file);
        lwi_number_print(x->file, v[i] + 0.0); // no -0
    }
    fputc('"', x->file);
}

const char *lwi_export_mesh(const lwi_export *x, const lw_shape *shape)
{
    const lw_mesh_desc *m = &x->model->desc.mesh[shape->mesh.index - 1];
    if (!m->file)
        lwi_export_report(x, "mesh %d is not written, it has vertices and no file",
                          (int)shape->mesh.index);
    return m->uri ? m->uri : m->file;
}

void lwi_export_inertia(const lwi_export *x, int body, double *I)
{
    memcpy(I, x->model->body[body].inertia, 6 * sizeof *I);
}

// ----------------------------------------------------------------------------------------- joints

// Elementary joints of a type, from F1 to F2; -1: it has others.
static int axes_of(const lwi_joint_type *type, lwi_export_axis *axis)
{
    for (int k = 0; k < type->nfactor; k++) {
        const lwi_joint_factor *factor = &type->factor[k];
        if (factor->kind != LWI_FACTOR_TURN && factor->kind != LWI_FACTOR_SLIDE) return -1;
        axis[k] = (lwi_export_axis){.turns = factor->kind == LWI_FACTOR_TURN,
                                    .coordinate = factor->coordinate};
        axis[k].axis[(int)factor->axis] = 1;
    }
    return type->nfactor;
}

static void pose_of(const lw_pose *pose, double *R, double *r)
{
    const lw_quat *o = &pose->orientation;
    const double q[4] = {o->w, o->x, o->y, o->z};
    quat_matrix(R, q);
    v3_set(r, pose->position.x, pose->position.y, pose->position.z);
}

static lw_status check_joint(const lwi_export *x, const lw_joint_desc *d)
{
    for (int k = 0; k < LW_JOINT_MAX_NV; k++)
        if (d->coordinate[k].motion.index)
            return lwi_export_fail(x, "joint '%.200s': coordinate q%d is driven", d->name, k);
    const bool mounted = d->mount_shift[0].index || d->mount_shift[1].index ||
                         d->mount_shift[2].index || d->mount_turn.index;
    if (mounted) return lwi_export_fail(x, "joint '%.200s': its mount moves", d->name);
    return LW_OK;
}

static lw_status fill_link(const lwi_export *x, lwi_export_link *l, int joint, bool reversed)
{
    const lw_joint_desc *d = &x->model->desc.joint[joint];
    double R[2][9], r[2][3];
    pose_of(reversed ? &d->frame2 : &d->frame1, R[0], r[0]); // on the parent
    pose_of(reversed ? &d->frame1 : &d->frame2, R[1], r[1]);
    TRY(check_joint(x, d));
    l->joint = joint;
    l->reversed = reversed;
    const lwi_joint_type *type = x->model->joint[joint].type;
    l->kind = lwi_joint_is_ball(type)   ? LWI_EXPORT_BALL
              : lwi_joint_is_free(type) ? LWI_EXPORT_FREE
                                        : LWI_EXPORT_AXES;
    l->naxis = l->kind == LWI_EXPORT_AXES ? axes_of(type, l->axis) : 0;
    if (l->naxis < 0)
        return lwi_export_fail(x, "joint '%.200s' is of a type that the format does not support",
                               d->name);
    if (l->kind == LWI_EXPORT_FREE) {
        pose_of(&x->model->desc.body[l->body].pose, l->R, l->r);
        return l->parent ? lwi_export_fail(x, "joint '%.200s' is free between two bodies", d->name)
                         : LW_OK;
    }
    // body = F_parent F_own^-1
    double O[9], o[3];
    static const double zero[3] = {0, 0, 0};
    double identity[9];
    m3_identity(identity);
    lwi_frame_between(O, o, R[1], r[1], identity, zero);
    lwi_frame_mul(l->R, l->r, R[0], r[0], O, o);
    v3_copy(l->at, r[1]);
    for (int k = 0; k < l->naxis; k++) {
        double *a = l->axis[k].axis;
        if (reversed) v3_scale(a, -1, a);
        m3_mul_v(a, R[1], a);
    }
    if (reversed && l->naxis > 1)
        for (int k = 0; k < l->naxis / 2; k++) {
            const lwi_export_axis swap = l->axis[k];
            l->axis[k] = l->axis[l->naxis - 1 - k];
            l->axis[l->naxis - 1 - k] = swap;
        }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- tree

static lw_status refuse_loops(const lwi_export *x)
{
    const lw_model *m = x->model;
    if (m->nloop)
        return lwi_export_fail(x, "joint '%.200s' closes a loop, and only trees are written",
                               m->joint[m->loop[0]].name);
    return LW_OK;
}

// Linked lists of the joints of each body: first[body], next[2 joint + side].
static void list_joints(const lw_model *m, int *first, int *next)
{
    for (int i = 0; i < m->nbody; i++) first[i] = -1;
    for (int j = m->njoint - 1; j >= 0; j--)
        for (int side = 0; side < 2; side++) {
            const lw_joint_desc *d = &m->desc.joint[j];
            const int body = side ? d->body2.index : d->body1.index;
            next[2 * j + side] = first[body];
            first[body] = 2 * j + side;
        }
}

enum { NONE = -2 };

/** A traversal of the bodies from a root. */
typedef struct traversal {
    int *first, *next; ///< lists of joints, see list_joints
    int *link;         ///< [nbody] link of a body; -1: the ground; NONE: not reached
    int *queue;        ///< [nbody] bodies
} traversal;

// The base body of the floating mechanism that contains a body becomes a link.
static int add_base(lwi_export *x, traversal *t, int body)
{
    const lw_model *m = x->model;
    int top = m->body_node[m->body[body].carrier];
    LWI_ASSERT_INDEX(top, m->nnode);
    while (m->node[top].parent >= 0) top = m->node[top].parent;
    const int base = m->node[top].body;
    LWI_ASSERT_INDEX(x->nlink, m->nbody);
    lwi_export_link *l = &x->link[x->nlink];
    t->link[base] = x->nlink++;
    *l = (lwi_export_link){.body = base, .before = -1, .joint = -1, .kind = LWI_EXPORT_FREE};
    pose_of(&m->desc.body[base].pose, l->R, l->r);
    return base;
}

// Links of all bodies that joints connect to `base`, breadth first.
static lw_status add_tree(lwi_export *x, traversal *t, int base)
{
    const lw_model *m = x->model;
    int head = 0, tail = 0;
    t->queue[tail++] = base;
    while (head < tail) {
        const int body = t->queue[head++];
        for (int e = t->first[body]; e >= 0; e = t->next[e]) {
            const lw_joint_desc *d = &m->desc.joint[e / 2];
            const bool reversed = e % 2; // `body` is body2
            const int other = reversed ? d->body1.index : d->body2.index;
            if (t->link[other] != NONE) continue;
            LWI_ASSERT(x->nlink < m->nbody && tail < m->nbody);
            lwi_export_link *l = &x->link[x->nlink];
            t->link[other] = x->nlink++;
            t->queue[tail++] = other;
            *l = (lwi_export_link){.body = other, .parent = body, .before = t->link[body]};
            TRY(fill_link(x, l, e / 2, reversed));
        }
    }
    return LW_OK;
}

// Links in the order of a traversal from the ground, then from the floating bodies.
static lw_status add_links(lwi_export *x)
{
    const lw_model *m = x->model;
    traversal t = {.first = LWI_PUSH(&x->arena, int, m->nbody),
                   .next = LWI_PUSH(&x->arena, int, 2 * m->njoint + 1),
                   .link = LWI_PUSH(&x->arena, int, m->nbody),
                   .queue = LWI_PUSH(&x->arena, int, m->nbody)};
    x->link = LWI_PUSH(&x->arena, lwi_export_link, m->nbody);
    if (!t.first || !t.next || !t.queue || !t.link || !x->link)
        return lwi_fail(x->error, LW_ERR_MEMORY, "out of memory");
    list_joints(m, t.first, t.next);
    for (int i = 1; i < m->nbody; i++) t.link[i] = NONE;
    t.link[0] = -1;
    TRY(add_tree(x, &t, 0));
    for (int i = 1; i < m->nbody; i++)
        if (t.link[i] == NONE) TRY(add_tree(x, &t, add_base(x, &t, i)));
    return LW_OK;
}

// Properties of coordinate k that none of these formats supports.
static void report_coordinate(const lwi_export *x, const lw_joint_desc *d, int k)
{
    const lw_coordinate_desc *c = &d->coordinate[k];
    if (c->force.index)
        lwi_export_report(x, "joint '%.200s': the force on q%d is not written", d->name, k);
    if (c->limits.stiffness > 0)
        lwi_export_report(
            x, "joint '%.200s': the limits of q%d are written without stiffness and damping",
            d->name, k);
    if (c->friction.coulomb != 0)
        lwi_export_report(x, "joint '%.200s': the friction of q%d is written without its speed",
                          d->name, k);
}

static void report_losses(const lwi_export *x)
{
    const lwi_description *d = &x->model->desc;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) {
        const lwi_force_item *item = lwi_force_items[k];
        for (int n = 0; n < d->force[k].n; n++)
            lwi_export_report(x, "%s '%.200s' is not written", item->type->name,
                              lwi_force_item_name(item, lwi_force_desc(d, k, n)));
    }
#define TELL(list, count, what)                                                                    \
    for (int i = 0; i < d->count; i++)                                                             \
        lwi_export_report(x, what " '%.200s' is not written",                                      \
                          d->list[i].name ? d->list[i].name : "");
    TELL(marker, nmarker, "marker")
    TELL(event, nevent, "event")
#undef TELL
    for (int j = 0; j < d->njoint; j++)
        for (int k = 0; k < LW_JOINT_MAX_NV; k++) report_coordinate(x, &d->joint[j], k);
}

// ------------------------------------------------------------------------------------------- all

#define X(format) {#format, lwi_write_##format},
static const struct {
    const char *name;
    lw_status (*write)(lwi_export *);
} writers[] = {LWI_WRITER_LIST(X)};
#undef X
#define X(format) " " #format
static const char known[] = LWI_WRITER_LIST(X);
#undef X

lw_status lw_model_export(const lw_model *model, const char *format, FILE *file,
                          void (*report)(void *user, const char *text), void *user, lw_error *error)
{
    lw_error none;
    if (!error) error = &none;
    *error = (lw_error){0};
    if (!model || !format || !file)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, format and file must be given");
    for (int i = 0; i < LWI_COUNT(writers); i++) {
        if (strcmp(writers[i].name, format) != 0) continue;
        lwi_export x = {.model = model,
                        .format = writers[i].name,
                        .file = file,
                        .error = error,
                        .report = report,
                        .user = user};
        lwi_numbers numbers;
        if (!lwi_numbers_begin(&numbers)) return lwi_fail(error, LW_ERR_MEMORY, "out of memory");
        lwi_arena_init(&x.arena, &model->arena.allocator);
        lw_status status = refuse_loops(&x);
        if (status == LW_OK) status = add_links(&x);
        if (status == LW_OK) {
            report_losses(&x);
            status = writers[i].write(&x);
        }
        lwi_arena_free(&x.arena);
        lwi_numbers_end(&numbers);
        if (status == LW_OK && ferror(file))
            status = lwi_fail(error, LW_ERR_IO, "cannot be written: %s", strerror(errno));
        return status;
    }
    return lwi_fail(error, LW_ERR_ARGUMENT, "unknown output format '%s', known:%s", format, known);
}
