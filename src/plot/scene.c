// scene.c -- the geometry of a model: shapes, lines between the joints of a body, joints with their axes,
// springs, mass centres.
//
// Shapes are centred on the mass centre, in body axes.  A body without one is drawn as lines: one
// line between two joints, or a line from each joint to the mass centre.  Massless frames that move with another
// body, and their joints, are not drawn.
#include "plot/scene.h"

#include "model/forces/item.h"

#include "base/assert.h"
#include "base/components.h"

#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

enum { ROUND = 24 }; // corners of a circle

typedef struct building {
    const lw_model *model;
    const lwi_plot_poses *poses;
    lwi_arena *arena;
    lwi_plot_scene *scene;
    // the current shape, in body axes from the mass centre
    double R[9], r[3], scale[3];
    int max_point, max_edge;
    int *start, *end; // [body + 1] ends of joint marks by body: 2 mark + side
} building;

static void to_world(const building *b, int body, const double *local, double *world)
{
    m3_mul_v(world, b->poses->R[body], local);
    v3_add(world, world, b->poses->r[body]);
}

// ------------------------------------------------------------------------------------------ shapes

static bool make_solid(building *b, int body, int np, int nedge)
{
    lwi_plot_solid *s = &b->scene->solid[b->scene->nsolid];
    *s = (lwi_plot_solid){.body = body,
                          .p = lwi_arena_push(b->arena, (size_t)np, sizeof *s->p),
                          .edge = lwi_arena_push(b->arena, (size_t)nedge, sizeof *s->edge)};
    if (!s->p || !s->edge) return false;
    b->scene->nsolid++;
    b->max_point = np, b->max_edge = nedge;
    return true;
}

// Adds a point of the current shape, in the axes of the shape.
static void solid_point(const building *b, double x, double y, double z)
{
    lwi_plot_solid *s = &b->scene->solid[b->scene->nsolid - 1];
    double p[3];
    LWI_ASSERT_INDEX(s->np, b->max_point);
    m3_mul_v(p, b->R, (const double[3]){b->scale[0] * x, b->scale[1] * y, b->scale[2] * z});
    v3_add(p, p, b->r);
    to_world(b, s->body, p, s->p[s->np++]);
}

static void solid_edge(const building *b, int from, int to)
{
    lwi_plot_solid *s = &b->scene->solid[b->scene->nsolid - 1];
    LWI_ASSERT_INDEX(s->nedge, b->max_edge);
    s->edge[s->nedge][0] = from, s->edge[s->nedge++][1] = to;
}

static bool add_box(building *b, int body, const double *size)
{
    if (!make_solid(b, body, 8, 12)) return false;
    for (int i = 0; i < 8; i++)
        solid_point(b, i & 1 ? size[0] / 2 : -size[0] / 2, i & 2 ? size[1] / 2 : -size[1] / 2,
                    i & 4 ? size[2] / 2 : -size[2] / 2);
    for (int i = 0; i < 8; i++) // edges: corners that differ in one coordinate
        for (int bit = 1; bit < 8; bit <<= 1)
            if (!(i & bit)) solid_edge(b, i, i | bit);
    return true;
}

// A circle of radius r about z at height z, of the last solid; with `edges` it is drawn.
static void add_ring(building *b, double r, double z, bool edges)
{
    const int first = b->scene->solid[b->scene->nsolid - 1].np;
    for (int i = 0; i < ROUND; i++) {
        const double angle = 2 * 3.141592653589793 * i / ROUND;
        solid_point(b, r * cos(angle), r * sin(angle), z);
        if (edges) solid_edge(b, first + i, first + (i + 1) % ROUND);
    }
}

static bool add_cylinder(building *b, int body, double r, double length)
{
    if (!make_solid(b, body, 2 * ROUND, 2 * ROUND)) return false;
    add_ring(b, r, length / 2, true);
    add_ring(b, r, -length / 2, true);
    return true;
}

// Two half spheres at distance `length`: rings of latitude.
static bool add_capsule(building *b, int body, double r, double length)
{
    enum { RINGS = 5 };
    if (!make_solid(b, body, 2 * (RINGS * ROUND + 1), 2 * ROUND)) return false;
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0; k < RINGS; k++) {
            const double latitude = 0.5 * 3.141592653589793 * k / RINGS;
            add_ring(b, r * cos(latitude), side * (length / 2 + r * sin(latitude)), k == 0);
        }
        solid_point(b, 0, 0, side * (length / 2 + r));
    }
    return true;
}

static bool add_shape(building *b, int body, const lw_shape *s)
{
    const lw_vec3 com = b->model->desc.body[body].com;
    const double q[4] = {s->orientation.w, s->orientation.x, s->orientation.y, s->orientation.z};
    quat_matrix(b->R, q);
    v3_set(b->r, s->position.x - com.x, s->position.y - com.y, s->position.z - com.z);
    v3_set(b->scale, 1, 1, 1);
    switch (s->type) {
    case LW_SHAPE_BOX:
        return add_box(b, body, s->size);
    case LW_SHAPE_CYLINDER:
        return add_cylinder(b, body, s->size[0], s->size[1]);
    case LW_SHAPE_SPHERE:
        return add_capsule(b, body, s->size[0], 0);
    case LW_SHAPE_CAPSULE:
        return add_capsule(b, body, s->size[0], s->size[1]);
    case LW_SHAPE_ELLIPSOID:
        v3_copy(b->scale, s->size);
        return add_capsule(b, body, 1, 0);
    case LW_SHAPE_MESH: // files are not opened for pictures
    case LW_SHAPE_NONE:
    case LW_SHAPE_COUNT:
        break;
    }
    return true;
}

// ------------------------------------------------------------------------------------------ joints

static void add_axis(lwi_plot_joint_mark *mark, const double *R, const lwi_joint_axis *axis)
{
    const int column = axis->axis;
    mark->slides[mark->naxis] = axis->slides;
    v3_set(mark->axis[mark->naxis++], R[column], R[3 + column], R[6 + column]);
}

static void add_joint(building *b, int index)
{
    const lwi_joint *j = &b->model->joint[index];
    lwi_plot_joint_mark *mark = &b->scene->joint[b->scene->njoint];
    double R1[9], R2[9];
    if (j->merged || j->type->sign == LWI_JOINT_HIDDEN) return;
    b->scene->njoint++;
    *mark = (lwi_plot_joint_mark){.joint = index, .sign = j->type->sign};
    LWI_ASSERT(mark->sign != LWI_JOINT_UNSIGNED);
    mark->grounded = j->body1 == 0 || j->body2 == 0;
    to_world(b, j->body1, j->r1, mark->p1);
    to_world(b, j->body2, j->r2, mark->p2);
    m3_mul(R1, b->poses->R[j->body1], j->R1);
    m3_mul(R2, b->poses->R[j->body2], j->R2);
    for (int k = 0; k < LWI_COUNT(j->type->drawn); k++) {
        const lwi_joint_axis *axis = &j->type->drawn[k];
        if (axis->frame) add_axis(mark, axis->frame == 1 ? R1 : R2, axis);
    }
}

// ------------------------------------------------------------------------------------------- lines

static void add_line(building *b, int body, const double *from, const double *to, bool thin)
{
    LWI_ASSERT_INDEX(b->scene->nline, 2 * (b->model->njoint + b->model->nbody));
    lwi_plot_link *line = &b->scene->line[b->scene->nline++];
    *line = (lwi_plot_link){.body = body, .thin = thin};
    v3_copy(line->p[0], from);
    v3_copy(line->p[1], to);
}

// Distance of the mass centre from the line through p and q, by |q - p|.
static double offset(const double *p, const double *q, const double *com)
{
    double along[3], across[3], x[3];
    v3_sub(along, q, p);
    v3_sub(across, com, p);
    v3_cross(x, along, across);
    const double n2 = v3_dot(along, along);
    return n2 > 0 ? v3_norm(x) / n2 : 0;
}

static void connect(building *b, int body, const double (*p)[3], int n)
{
    const bool shape = b->model->desc.body[body].nshape > 0;
    const double *com = b->poses->r[body];
    if (n == 2) {
        add_line(b, body, p[0], p[1], shape);
        double middle[3];
        v3_add(middle, p[0], p[1]);
        v3_scale(middle, 0.5, middle);
        if (!shape && offset(p[0], p[1], com) > 0.02) add_line(b, body, middle, com, true);
        return;
    }
    for (int i = 0; i < n; i++) add_line(b, body, p[i], com, shape);
}

static int body_of(const building *b, int end)
{
    const lwi_joint *j = &b->model->joint[b->scene->joint[end / 2].joint];
    return end % 2 ? j->body2 : j->body1;
}

// Sorts the ends of the joint marks by body.
static bool sort_ends(building *b)
{
    const int n = 2 * b->scene->njoint, nbody = b->model->nbody;
    b->start = LWI_PUSH(b->arena, int, nbody + 1);
    b->end = LWI_PUSH(b->arena, int, n);
    if (!b->start || !b->end) return false;
    for (int i = 0; i < n; i++) b->start[body_of(b, i)]++;
    for (int k = 1; k <= nbody; k++) b->start[k] += b->start[k - 1]; // the end of each for now
    for (int i = n; i-- > 0;) b->end[--b->start[body_of(b, i)]] = i;
    return true;
}

// The joint points on `body`, without duplicates; of very many, without those next in the list.
static int points_of(const building *b, int body, double (*p)[3])
{
    enum { COMPARED = 64 };
    int n = 0;
    for (int i = b->start[body]; i < b->start[body + 1]; i++) {
        const lwi_plot_joint_mark *mark = &b->scene->joint[b->end[i] / 2];
        const double *at = b->end[i] % 2 ? mark->p2 : mark->p1;
        bool known = false;
        for (int k = n > COMPARED ? n - COMPARED : 0; k < n && !known; k++)
            known = !memcmp(p[k], at, sizeof *p);
        if (!known) v3_copy(p[n++], at);
    }
    return n;
}

static void add_line_of(building *b, const lwi_force_item *item, const void *desc)
{
    int body[2];
    lw_vec3 point[2];
    const char *kind = item->line(desc, body, point);
    lwi_plot_spring_mark *mark = &b->scene->spring[b->scene->nspring++];
    mark->name = lwi_force_item_name(item, desc);
    mark->kind = kind;
    for (int side = 0; side < 2; side++) {
        double local[3] = {point[side].x, point[side].y, point[side].z};
        if (body[side]) v3_sub(local, local, b->model->body[body[side]].com);
        mark->body[side] = body[side];
        to_world(b, body[side], local, mark->p[side]);
    }
}

// Forces that drawings show as lines.
static void add_springs(building *b)
{
    const lwi_description *d = &b->model->desc;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++)
        for (int i = 0; lwi_force_items[k]->line && i < d->force[k].n; i++)
            add_line_of(b, lwi_force_items[k], lwi_force_desc(d, k, i));
}

static int count_springs(const lw_model *m)
{
    int n = 0;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++)
        if (lwi_force_items[k]->line) n += m->desc.force[k].n;
    return n;
}

// ----------------------------------------------------------------------------------------- groups

// Numbers the groups of rigidly joined bodies in the order of their first body; 0: the ground.
static void find_groups(building *b)
{
    const lw_model *m = b->model;
    int *group = b->scene->group;
    for (int i = 0; i < m->nbody; i++) group[i] = i;
    for (int i = 0; i < m->nbody + m->njoint; i++) { // carried bodies, joints that do not move
        const lwi_joint *j = i < m->nbody ? NULL : &m->joint[i - m->nbody];
        if (j && j->type->nfactor != 0) continue;
        const int one = lwi_component_of(group, j ? j->body1 : i),
                  two = lwi_component_of(group, j ? j->body2 : m->body[i].carrier);
        group[one > two ? one : two] = one < two ? one : two;
    }
    for (int i = 0; i < m->nbody; i++) group[i] = lwi_component_of(group, i);
    for (int i = 0; i < m->nbody; i++) { // replace it by the number of the group
        const bool first = group[i] == i;
        group[i] = first ? b->scene->ngroup++ : group[group[i]];
    }
}

// -------------------------------------------------------------------------------------------- all

static bool make_lists(building *b)
{
    const lw_model *m = b->model;
    lwi_plot_scene *s = b->scene;
    int nshape = 0;
    for (int i = 0; i < m->nbody; i++) nshape += m->desc.body[i].nshape;
    s->solid = LWI_PUSH(b->arena, lwi_plot_solid, nshape);
    s->joint = LWI_PUSH(b->arena, lwi_plot_joint_mark, m->njoint);
    s->line = LWI_PUSH(b->arena, lwi_plot_link, 2 * m->njoint + 2 * m->nbody);
    s->spring = LWI_PUSH(b->arena, lwi_plot_spring_mark, count_springs(m));
    s->body = LWI_PUSH(b->arena, lwi_plot_body_mark, m->nbody);
    s->group = LWI_PUSH(b->arena, int, m->nbody);
    return s->solid && s->joint && s->line && s->spring && s->body && s->group;
}

lw_status lwi_plot_scene_build(const lw_model *model, const lwi_plot_poses *poses, lwi_arena *arena,
                               lwi_plot_scene *scene, lw_error *error)
{
    *scene = (lwi_plot_scene){0};
    building b = {.model = model, .poses = poses, .arena = arena, .scene = scene};
    double(*p)[3] = lwi_arena_push(arena, 2 * (size_t)model->njoint, sizeof *p);
    bool enough = p && make_lists(&b);
    if (enough) find_groups(&b);
    int leaders = 1; // groups so far, with that of the ground
    for (int i = 0; i < model->njoint && enough; i++) add_joint(&b, i);
    enough = enough && sort_ends(&b);
    for (int i = 1; i < model->nbody && enough; i++) {
        const lw_body_desc *d = &model->desc.body[i];
        for (int k = 0; k < d->nshape && enough; k++) enough = add_shape(&b, i, &d->shapes[k]);
        if (model->body[i].carrier != i) continue;
        connect(&b, i, (const double(*)[3])p, points_of(&b, i, p));
        lwi_plot_body_mark *mark = &scene->body[scene->nbody++];
        mark->body = i;
        mark->leads = scene->group[i] == leaders;
        leaders += mark->leads;
        v3_copy(mark->com, poses->r[i]);
    }
    if (!enough) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture of the mechanism");
    add_springs(&b);
    return LW_OK;
}

void lwi_plot_scene_points(const lwi_plot_scene *s, void (*visit)(void *user, const double p[3]),
                           void *user)
{
    for (int i = 0; i < s->nsolid; i++)
        for (int k = 0; k < s->solid[i].np; k++) visit(user, s->solid[i].p[k]);
    for (int i = 0; i < s->nline; i++) visit(user, s->line[i].p[0]), visit(user, s->line[i].p[1]);
    for (int i = 0; i < s->njoint; i++) visit(user, s->joint[i].p1), visit(user, s->joint[i].p2);
    for (int i = 0; i < s->nspring; i++)
        visit(user, s->spring[i].p[0]), visit(user, s->spring[i].p[1]);
    for (int i = 0; i < s->nbody; i++) visit(user, s->body[i].com);
}
