// force_motion.c -- how bodies move by displacements, and sums of loads over the tree.
#include "dynamics/force_terms.h"

int lwi_force_node(const lw_model *model, int body)
{
    return body ? model->body_node[model->body[body].carrier] : -1;
}

// A screw about the world's origin at a point r.
static void at_point(const double S[6], const double r[3], double out[6])
{
    v3_cross(out, S + 3, r);
    v3_add(out, out, S);
    v3_copy(out + 3, S + 3);
}

void lwi_force_move_body(const lwi_force_terms *s, int body, int speed, double pose[6],
                         double twist[6])
{
    const lwi_screws *screws = &s->tree->screws;
    const double *S = screws->S[speed],
                 *V = screws->screw[screws->last[lwi_force_node(s->model, body)]].V;
    double change[6];
    motion_cross(change, S, V);
    v6_add(change, change, s->tree->rate[speed]);
    at_point(S, s->kin->r[body], pose);
    at_point(change, s->kin->r[body], twist);
    v3_cross_add(twist, V + 3, pose);
}

// Does a displacement of speed j rotate the screw of speed k, of the same way?
static bool carries(const lwi_screws *s, int j, int k)
{
    const int a = s->of_speed[j], b = s->of_speed[k];
    return b > a || (b == a && s->screw[a].follows);
}

double lwi_force_rotate_load(const lwi_force_terms *s, int body, int j, int k,
                             const double shift[3], const double load[6])
{
    const double *Sj = s->tree->screws.S[j], *Sk = s->tree->screws.S[k];
    double rotated[6], change[6], moved[3];
    if (carries(&s->tree->screws, j, k))
        motion_cross(rotated, Sj, Sk);
    else
        v6_zero(rotated);
    at_point(rotated, s->kin->r[body], change);
    v3_cross(moved, Sk + 3, shift);
    v3_add(change, change, moved);
    return v6_dot(change, load);
}

// ---------------------------------------------------------------------------------------- products

void lwi_force_find_ways(const lwi_force_terms *s, const double *u)
{
    const lwi_screws *screws = &s->tree->screws;
    for (int i = 0; i < screws->n; i++) {
        const lwi_screw *e = &screws->screw[i];
        double own[6] = {0};
        for (int j = e->speed; e->speed >= 0 && j < e->speed + e->nspeed; j++)
            v6_axpy(own, u[j], screws->S[j]);
        if (e->before >= 0)
            v6_copy(s->f->until[i], s->f->way[e->before]);
        else
            v6_zero(s->f->until[i]);
        v6_add(s->f->way[i], s->f->until[i], own);
        if (!e->follows) v6_copy(s->f->until[i], s->f->way[i]);
    }
}

void lwi_force_way_at(const lwi_force_terms *s, int body, double x[6])
{
    const int node = lwi_force_node(s->model, body),
              last = node < 0 ? -1 : s->tree->screws.last[node];
    v6_zero(x);
    if (last >= 0) at_point(s->f->way[last], s->kin->r[body], x);
}

// A wrench at a point r about the world's origin.
static void from_point(const double f[6], const double r[3], double out[6])
{
    v3_cross(out + 3, r, f);
    v3_add(out + 3, out + 3, f + 3);
    v3_copy(out, f);
}

static void add_cross(double to[6], const double V[6], const double f[6])
{
    double c[6];
    force_cross(c, V, f);
    v6_add(to, to, c);
}

void lwi_force_add_body(const lwi_force_terms *s, int body, const double pose[6],
                        const double twist[6], const double load[6])
{
    const int node = lwi_force_node(s->model, body),
              last = node < 0 ? -1 : s->tree->screws.last[node];
    if (last < 0) return;
    const double *V = s->tree->screws.screw[last].V, *x = s->f->way[last], *r = s->kin->r[body];
    lwi_outboard_sums *to = &s->f->outboard[node];
    double p[6], t[6], f[6];
    v6_copy(p, pose);
    v3_cross_add(p, twist, V + 3); // the twist changes by w x dr too
    from_point(twist, r, t);
    v6_add(to->t, to->t, t);
    add_cross(to->a, V, t);
    if (load) {
        v3_cross_add(p, load, x + 3); // x at the mass centre by its displacement
        from_point(load, r, f);
        v6_add(to->f, to->f, f);
        add_cross(to->a, x, f);
    }
    from_point(p, r, t);
    v6_add(to->a, to->a, t);
}

void lwi_force_add_outboard(const lwi_force_terms *s)
{
    const lwi_screws *screws = &s->tree->screws;
    for (int k = s->model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &s->model->node[k];
        const lwi_outboard_sums *d = &s->f->outboard[k];
        for (int j = node->iv; j < node->iv + node->nv; j++) {
            double c[6];
            force_cross(c, s->f->until[screws->of_speed[j]], d->f);
            s->row_q[j] += v6_dot(screws->S[j], d->a) - v6_dot(screws->S[j], c) +
                           v6_dot(s->tree->rate[j], d->t);
            s->row_v[j] += v6_dot(screws->S[j], d->t);
        }
        if (node->parent < 0) continue;
        lwi_outboard_sums *to = &s->f->outboard[node->parent];
        v6_add(to->a, to->a, d->a);
        v6_add(to->t, to->t, d->t);
        v6_add(to->f, to->f, d->f);
    }
}
