// write.c -- writes a tree as URDF: joints of several coordinates become series of joints with one
// coordinate and massless links between them, named JOINT_q0, JOINT_q1, ...
//
// The frame of a link has the axes of the body and its origin in the joint, as the format requires.
#include "io/export.h"

#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// Angles about the fixed axes x, y, z of a rotation: R = Rz(yaw) Ry(pitch) Rx(roll).
static void rpy_of(const double *R, double *rpy)
{
    const double c = hypot(R[0], R[3]);
    // gimbal lock: only the sum of roll and yaw is determined
    if (c < 1e-9) {
        v3_set(rpy, 0, atan2(-R[6], c), atan2(-R[1], R[4]));
        return;
    }
    v3_set(rpy, atan2(R[7], R[8]), atan2(-R[6], c), atan2(R[3], R[0]));
}

static void put_origin(const lwi_export *x, const double *R, const double *r)
{
    double rpy[3];
    rpy_of(R, rpy);
    fputs("    <origin", x->file);
    lwi_export_numbers(x, "xyz", r, 3, true);
    lwi_export_numbers(x, "rpy", rpy, 3, true);
    fputs("/>\n", x->file);
}

// ------------------------------------------------------------------------------------------- links

static void put_shape(const lwi_export *x, const lwi_export_link *l, const lw_shape *shape)
{
    const double *s = shape->size;
    const double q[4] = {shape->orientation.w, shape->orientation.x, shape->orientation.y,
                         shape->orientation.z};
    double R[9], r[3] = {shape->position.x, shape->position.y, shape->position.z};
    if (shape->type == LW_SHAPE_ELLIPSOID) {
        lwi_export_report(x, "body '%.200s': its ellipsoid is not written, URDF has none",
                          x->model->body[l->body].name);
        return;
    }
    if (shape->type == LW_SHAPE_MESH && !lwi_export_mesh(x, shape)) return;
    quat_matrix(R, q);
    v3_sub(r, r, l->at);
    fputs("    <visual>\n  ", x->file);
    put_origin(x, R, r);
    fputs("      <geometry>", x->file);
    if (shape->type == LW_SHAPE_MESH) {
        fputs("<mesh filename=\"", x->file);
        lwi_export_text(x, lwi_export_mesh(x, shape));
        fputc('"', x->file);
        if (s[0] != 1 || s[1] != 1 || s[2] != 1) lwi_export_numbers(x, "scale", s, 3, true);
    } else if (shape->type == LW_SHAPE_BOX) {
        fputs("<box", x->file);
        lwi_export_numbers(x, "size", s, 3, true);
    } else {
        fputs(shape->type == LW_SHAPE_SPHERE    ? "<sphere"
              : shape->type == LW_SHAPE_CAPSULE ? "<capsule"
                                                : "<cylinder",
              x->file);
        lwi_export_numbers(x, "radius", s, 1, true);
        if (shape->type != LW_SHAPE_SPHERE) lwi_export_numbers(x, "length", s + 1, 1, true);
    }
    fputs("/></geometry>\n", x->file);
    if (shape->has_color) {
        fprintf(x->file, "      <material name=\"%d_%td\"><color", l->body,
                shape - x->model->desc.body[l->body].shapes);
        lwi_export_numbers(x, "rgba", shape->color, 4, true);
        fputs("/></material>\n", x->file);
    }
    fputs("    </visual>\n", x->file);
}

static void put_link(const lwi_export *x, const lwi_export_link *l)
{
    static const char *const keys[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const lwi_body *b = &x->model->body[l->body];
    double com[3], identity[9], I[6];
    v3_sub(com, b->com, l->at);
    m3_identity(identity);
    lwi_export_inertia(x, l->body, I);
    fputs("  <link name=\"", x->file);
    lwi_export_text(x, b->name);
    fputs("\">\n", x->file);
    if (b->mass > 0) {
        fputs("    <inertial>\n  ", x->file);
        put_origin(x, identity, com);
        fputs("      <mass", x->file);
        lwi_export_numbers(x, "value", &b->mass, 1, true);
        fputs("/>\n      <inertia", x->file);
        for (int k = 0; k < 6; k++) lwi_export_numbers(x, keys[k], &I[k], 1, true);
        fputs("/>\n    </inertial>\n", x->file);
    }
    const lw_body_desc *d = &x->model->desc.body[l->body];
    for (int k = 0; k < d->nshape; k++) put_shape(x, l, &d->shapes[k]);
    fputs("  </link>\n", x->file);
}

// ------------------------------------------------------------------------------------------ joints

// "JOINT", or "JOINT_q1" of a joint with several coordinates; its child link has the same name.
static void put_joint_name(const lwi_export *x, const lwi_export_link *l, int k)
{
    lwi_export_text(x, x->model->joint[l->joint].name);
    if (l->naxis > 1) fprintf(x->file, "_q%d", l->axis[k].coordinate);
}

static void put_limits(const lwi_export *x, const lw_coordinate_desc *c, bool turns)
{
    const lw_limits_desc *n = &c->limits;
    if (turns && !n->has_lower && !n->has_upper) return; // continuous
    // the format requires numbers where there is no limit
    const double lower = n->has_lower ? n->lower : -1e9, upper = n->has_upper ? n->upper : 1e9;
    fputs("    <limit", x->file);
    lwi_export_numbers(x, "lower", &lower, 1, true);
    lwi_export_numbers(x, "upper", &upper, 1, true);
    fputs(" effort=\"1e9\" velocity=\"1e9\"/>\n", x->file);
}

static void put_mimic(const lwi_export *x, const lwi_export_link *l, int coordinate)
{
    const lw_model *m = x->model;
    for (int i = 0; i < m->ncoupling; i++) {
        const lwi_coupling *c = &m->coupling[i];
        if (c->joint != l->joint || c->coordinate != coordinate) continue;
        const double offset = c->n > 0 ? c->c[0] : 0, factor = c->n > 1 ? c->c[1] : 0;
        fputs("    <mimic joint=\"", x->file);
        lwi_export_text(x, m->joint[c->of].name);
        if (m->joint[c->of].type->nv > 1) fprintf(x->file, "_q%d", c->with);
        fputc('"', x->file);
        lwi_export_numbers(x, "multiplier", &factor, 1, true);
        lwi_export_numbers(x, "offset", &offset, 1, true);
        fputs("/>\n", x->file);
    }
}

static void put_acting(const lwi_export *x, const lwi_export_link *l, int k)
{
    const char *name = x->model->joint[l->joint].name;
    const lw_coordinate_desc *c = &x->model->desc.joint[l->joint].coordinate[l->axis[k].coordinate];
    const double damping = c->damping + c->friction.viscous;
    put_limits(x, c, l->axis[k].turns);
    if (damping != 0 || c->friction.coulomb != 0) {
        fputs("    <dynamics", x->file);
        lwi_export_numbers(x, "damping", &damping, 1, false);
        lwi_export_numbers(x, "friction", &c->friction.coulomb, 1, false);
        fputs("/>\n", x->file);
    }
    if (c->stiffness != 0)
        lwi_export_report(x, "joint '%.200s': its spring is not written, URDF has none", name);
    if (c->effort.index)
        lwi_export_report(x, "joint '%.200s': the effort on q%d is not written, URDF has none",
                          name, l->axis[k].coordinate);
    if (c->rotor != 0)
        lwi_export_report(x, "joint '%.200s': its rotor is not written, URDF has none", name);
    put_mimic(x, l, l->axis[k].coordinate);
}

static const char *type_of(const lwi_export *x, const lwi_export_link *l, int k)
{
    if (l->kind == LWI_EXPORT_FREE) return "floating";
    if (!l->naxis) return "fixed";
    const lw_limits_desc *n =
        &x->model->desc.joint[l->joint].coordinate[l->axis[k].coordinate].limits;
    if (!l->axis[k].turns) return "prismatic";
    return n->has_lower || n->has_upper ? "revolute" : "continuous";
}

// Elementary joint k of a link; `origin`: its pose in the previous link.
static void put_joint(const lwi_export *x, const lwi_export_link *l, int k, const char *root)
{
    const lw_model *m = x->model;
    const int last = l->naxis > 0 ? l->naxis - 1 : 0;
    double R[9], r[3];
    m3_identity(R);
    v3_set(r, 0, 0, 0);
    if (k == 0) { // from the parent link to this one at zero coordinates
        memcpy(R, l->R, sizeof R);
        m3_mul_v(r, l->R, l->at);
        v3_add(r, r, l->r);
        if (l->before >= 0) v3_sub(r, r, x->link[l->before].at);
    }
    fputs("  <joint name=\"", x->file);
    if (l->joint >= 0)
        put_joint_name(x, l, k);
    else
        fputs("root", x->file);
    fprintf(x->file, "\" type=\"%s\">\n    <parent link=\"", type_of(x, l, k));
    if (k > 0)
        put_joint_name(x, l, k - 1);
    else
        lwi_export_text(x, l->parent ? m->body[l->parent].name : root);
    fputs("\"/>\n    <child link=\"", x->file);
    if (k < last)
        put_joint_name(x, l, k);
    else
        lwi_export_text(x, m->body[l->body].name);
    fputs("\"/>\n", x->file);
    put_origin(x, R, r);
    if (l->naxis) {
        fputs("    <axis", x->file);
        lwi_export_numbers(x, "xyz", l->axis[k].axis, 3, true);
        fputs("/>\n", x->file);
        put_acting(x, l, k);
    }
    fputs("  </joint>\n", x->file);
    if (k < last) {
        fputs("  <link name=\"", x->file);
        put_joint_name(x, l, k);
        fputs("\"/>\n", x->file);
    }
}

static lw_status check(const lwi_export *x)
{
    const lw_model *m = x->model;
    for (int i = 0; i < x->nlink; i++)
        if (x->link[i].kind == LWI_EXPORT_BALL)
            return lwi_export_fail(x, "joint '%.200s' is spherical, which URDF does not support",
                                   m->joint[x->link[i].joint].name);
    for (int i = 0; i < m->ncoupling; i++)
        if (m->coupling[i].n > 2)
            return lwi_export_fail(x, "the coupling of joint '%.200s' is not linear",
                                   m->joint[m->coupling[i].joint].name);
    return LW_OK;
}

// A single floating body with nothing on the ground is the root; otherwise the world is.
static const char *root_of(const lwi_export *x)
{
    static const char *const names[] = {"world", "world_link", "world__", "world___root"};
    int on_ground = 0;
    for (int i = 0; i < x->nlink; i++) on_ground += x->link[i].parent == 0;
    if (on_ground == 1 && x->link[0].kind == LWI_EXPORT_FREE) return NULL;
    for (int k = 0; k < LWI_COUNT(names); k++) {
        bool taken = false;
        for (int i = 1; i < x->model->nbody; i++)
            taken = taken || strcmp(x->model->body[i].name, names[k]) == 0;
        if (!taken) return names[k];
    }
    return "";
}

// Is it larger than the round-off of poses that were read?
static bool starts_elsewhere(const lwi_export *x)
{
    const lw_model *m = x->model;
    for (int i = 0; i < x->nlink; i++)
        for (int k = 0; k < x->link[i].naxis; k++) {
            const lwi_export_link *l = &x->link[i];
            if (fabs(m->q0[m->joint[l->joint].iq + l->axis[k].coordinate]) > 1e-9) return true;
        }
    return false;
}

static bool moves(const lwi_export *x)
{
    for (int i = 0; i < x->model->tree_nv; i++)
        if (x->model->tree_v0[i] != 0) return true;
    return false;
}

lw_status lwi_write_urdf(lwi_export *x)
{
    const double *g = x->model->gravity;
    const char *root = root_of(x);
    TRY(check(x));
    if (root && !*root) return lwi_export_fail(x, "no name is left for the world");
    if (g[0] != 0 || g[1] != 0 || fabs(g[2] + 9.81) > 0.01)
        lwi_export_report(x, "gravity %g %g %g is not written, URDF has none", g[0], g[1], g[2]);
    if (starts_elsewhere(x))
        lwi_export_report(x, "initial coordinates are not written, URDF has none");
    if (moves(x)) lwi_export_report(x, "initial speeds are not written, URDF has none");
    fputs("<?xml version=\"1.0\"?>\n<robot name=\"linkwork\">\n", x->file);
    if (root) fprintf(x->file, "  <link name=\"%s\"/>\n", root);
    for (int i = 0; i < x->nlink; i++) put_link(x, &x->link[i]);
    for (int i = 0; i < x->nlink; i++) {
        const lwi_export_link *l = &x->link[i];
        if (!root && i == 0) continue;
        for (int k = 0; k == 0 || k < l->naxis; k++) put_joint(x, l, k, root);
    }
    fputs("</robot>\n", x->file);
    return LW_OK;
}
