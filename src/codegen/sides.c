// sides.c -- the ways from two bodies to their lowest common ancestor.
#include "codegen/sides.h"

#include "kinematics/tree.h"
#include "spatial/motion.h"

#include <string.h>

lw_status lwi_sides_create(const lwi_walk *walk, lwi_arena *arena, lwi_sides *s)
{
    const lw_model *m = walk->elements->model;
    *s = (lwi_sides){.walk = walk};
    s->column = LWI_PUSH(arena, lwi_column, m->tree_nv);
    s->sign = LWI_PUSH(arena, double, m->tree_nv);
    for (int i = 0; i < 2; i++) {
        s->node[i] = LWI_PUSH(arena, int, m->nnode);
        if (!s->node[i]) return LW_ERR_MEMORY;
    }
    return s->column && s->sign ? LW_OK : LW_ERR_MEMORY;
}

static int list_nodes(const lw_model *m, int base, int node, int *list)
{
    int n = 0;
    for (int k = node; k != base; k = m->node[k].parent) n++;
    int at = n;
    for (int k = node; k != base; k = m->node[k].parent) list[--at] = k;
    return n;
}

// c = the frame (R, r) in one that is at (Q, p)
static void compose(const double Q[9], const double p[3], const double R[9], const double r[3],
                    double S[9], double c[3])
{
    m3_mul(S, Q, R);
    m3_mul_v(c, Q, r);
    v3_add(c, c, p);
}

// An attachment in the link frame of the node that carries its body.
static void in_link(const lw_model *m, lwi_attachment x, double R[9], double r[3])
{
    const lwi_body *body = &m->body[x.body];
    double Q[9], p[3];
    memcpy(R, x.R, 9 * sizeof *R);
    memcpy(r, x.r, 3 * sizeof *r);
    if (body->carrier != x.body) {
        compose(body->carrier_R, body->carrier_r, R, r, Q, p);
        memcpy(R, Q, sizeof Q);
        memcpy(r, p, sizeof p);
    }
    const int k = m->body_node[body->carrier];
    if (k < 0) return; // the ground
    compose(m->node[k].c_R, m->node[k].c_r, R, r, Q, p);
    memcpy(R, Q, sizeof Q);
    memcpy(r, p, sizeof p);
}

// The base in axes in which the first joint frame is that of the model: its inverse pose.
static void start(const lwi_sides *s, lwi_attachment one, lwi_place *p)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
    const lw_model *m = s->walk->elements->model;
    const int first = s->n[0] > 0 ? s->node[0][0] : s->n[1] > 0 ? s->node[1][0] : -1;
    double R[9], r[3], transposed[9];
    if (s->world) {
        lwi_place_start(s->walk->graph, p, identity, origin);
        return;
    }
    if (first >= 0) {
        memcpy(R, m->node[first].X_R, sizeof R);
        memcpy(r, m->node[first].X_r, sizeof r);
    } else {
        in_link(m, one, R, r);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) transposed[3 * i + j] = R[3 * j + i];
    m3_mul_v(r, transposed, r);
    v3_scale(r, -1, r);
    lwi_place_start(s->walk->graph, p, transposed, r);
}

// Both frames, the first one on a mount of a joint (-1: none).  Each side is a separate part: it has values in common with loops
// nearby, and loops that wait for each other would not be evaluated together.
static void place_both(lwi_sides *s, lwi_attachment one, lwi_attachment two, int mounted)
{
    const lw_model *m = s->walk->elements->model;
    const lwi_attachment at[2] = {one, two};
    double R[9], r[3];
    int node[2];
    for (int i = 0; i < 2; i++) node[i] = m->body_node[m->body[at[i].body].carrier];
    s->base = s->world ? -1 : lwi_tree_common_node(m, node[0], node[1]);
    s->driven = mounted >= 0 && m->joint[mounted].mount.present;
    for (int i = 0; i < m->tree_nv; i++) s->sign[i] = 0;
    for (int i = 0; i < 2; i++) s->n[i] = list_nodes(m, s->base, node[i], s->node[i]);
    for (int i = 0; i < 2; i++) {
        lwi_codegen_graph_mark(s->walk->graph);
        start(s, one, &s->frame[i]);
        for (int k = 0; k < s->n[i]; k++) {
            const lwi_node *it = &m->node[s->node[i][k]];
            lwi_place_node(s->walk, it, &s->frame[i], &s->column[it->iv], NULL);
            for (int j = 0; j < it->nv; j++) s->sign[it->iv + j] = i ? 1 : -1;
            s->driven |= it->driven;
        }
        in_link(m, at[i], R, r);
        lwi_place_fixed(s->walk->graph, &s->frame[i], R, r);
        if (i == 0 && mounted >= 0) lwi_place_mount(s->walk, mounted, &s->frame[0]);
    }
    lwi_codegen_graph_mark(s->walk->graph);
    lwi_difference(s->walk->graph, s->d, s->frame[1].r, s->frame[0].r);
}

void lwi_sides_place(lwi_sides *s, lwi_attachment one, lwi_attachment two)
{
    place_both(s, one, two, -1);
}

void lwi_sides_points(lwi_sides *s, int body1, const double r1[3], int body2, const double r2[3])
{
    static const double unturned[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    lwi_sides_place(s, (lwi_attachment){body1, unturned, r1},
                    (lwi_attachment){body2, unturned, r2});
}

void lwi_sides_point(lwi_sides *s, int body, const double r[3])
{
    static const double origin[3] = {0, 0, 0};
    s->world = true;
    lwi_sides_points(s, 0, origin, body, r);
    s->world = false;
}

void lwi_sides_joint(lwi_sides *s, const lwi_joint *joint)
{
    place_both(s, (lwi_attachment){joint->body1, joint->R1, joint->r1},
               (lwi_attachment){joint->body2, joint->R2, joint->r2},
               (int)(joint - s->walk->elements->model->joint));
}

void lwi_sides_force_row(const lwi_sides *s, const val e[3], bool shared, val *J)
{
    lwi_codegen_graph *g = s->walk->graph;
    for (int i = 0; i < s->walk->elements->model->tree_nv; i++) {
        J[i] = lit(g, 0);
        if (s->sign[i] == 0) continue;
        val v[3];
        const bool second = shared || s->sign[i] > 0;
        lwi_column_at(g, &s->column[i], s->frame[second].r, v);
        J[i] = mul(g, lit(g, s->sign[i]), lwi_codegen_dot(g, 3, e, v));
    }
}

void lwi_sides_torque_row(const lwi_sides *s, const val c[3], val *J)
{
    lwi_codegen_graph *g = s->walk->graph;
    for (int i = 0; i < s->walk->elements->model->tree_nv; i++)
        J[i] = s->sign[i] == 0
                   ? lit(g, 0)
                   : mul(g, lit(g, s->sign[i]), lwi_codegen_dot(g, 3, c, s->column[i].w));
}

val lwi_sides_rate(const lwi_sides *s, const val e[3], const val *J)
{
    lwi_codegen_graph *g = s->walk->graph;
    val rate = lit(g, 0), v[3];
    if (s->driven) {
        for (int i = 0; i < 3; i++) v[i] = sub(g, s->frame[1].v[i], s->frame[0].v[i]);
        return lwi_codegen_dot(g, 3, e, v);
    }
    for (int i = 0; i < s->walk->elements->model->tree_nv; i++)
        if (s->sign[i] != 0) rate = madd(g, rate, J[i], lwi_walk_speed(s->walk, i));
    return rate;
}

void lwi_sides_push(const lwi_sides *s, const val *J, val f, val *load)
{
    lwi_codegen_graph *g = s->walk->graph;
    for (int i = 0; i < s->walk->elements->model->tree_nv; i++) load[i] = madd(g, load[i], J[i], f);
}
