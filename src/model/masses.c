// masses.c -- a warning of bodies the mass of which probably has a wrong unit.
//
// Of all bodies of uniform density with a mass m and moments of inertia with the sum 2 P a ball fills the largest volume:
// P = 3/5 m R^2.  So m and P give the lowest density that a body can have.
#include "base/components.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Both are exceeded: the mass, relative to the median of the parts that move, and the lowest density [kg/m^3].  The densest
// material, osmium, has 2.3e4; a wrong unit (g, t, mm) is a factor of 1e3, of a volume 1e9.
#define HEAVY 1e4
#define DENSE 1e6

enum { NAMED = 3 }; ///< bodies in the message

/** What fixed joints connect. */
typedef struct parts {
    int *of;      ///< [nbody] first body of the part of a body; 0: fixed to the ground
    double *mass; ///< [n] of those that move and have one, ascending
    int n;
} parts;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void join(const lw_model *m, const lwi_rigid_graph *graph, int *of)
{
    for (int b = 0; b < m->nbody; b++) of[b] = b;
    for (int i = 0; i < graph->first[m->nbody]; i++) {
        const lw_joint_desc *j = &m->desc.joint[graph->joint[i]];
        const int u = lwi_component_of(of, j->body1.index),
                  v = lwi_component_of(of, j->body2.index);
        of[u > v ? u : v] = u > v ? v : u;
    }
    for (int b = 0; b < m->nbody; b++) of[b] = lwi_component_of(of, b);
}

static lw_status find_parts(lw_model *m, const lwi_rigid_graph *graph, parts *p)
{
    double *sum = LWI_PUSH(&m->arena, double, m->nbody);
    *p = (parts){LWI_PUSH(&m->arena, int, m->nbody), LWI_PUSH(&m->arena, double, m->nbody), 0};
    if (!sum || !p->of || !p->mass) return LW_ERR_MEMORY;
    join(m, graph, p->of);
    for (int b = 1; b < m->nbody; b++) sum[p->of[b]] += m->body[b].mass;
    for (int b = 1; b < m->nbody; b++)
        if (p->of[b] == b && sum[b] > 0) p->mass[p->n++] = sum[b];
    qsort(p->mass, (size_t)p->n, sizeof *p->mass, compare);
    return LW_OK;
}

static double lowest_density(const lwi_body *b)
{
    const double polar = (b->inertia[0] + b->inertia[1] + b->inertia[2]) / 2;
    const double radius = sqrt(polar / (0.6 * b->mass));
    return b->mass / (4.0 / 3 * acos(-1) * radius * radius * radius);
}

// "body 'a'", "bodies 'a', 'b', 'c' and 2 more"
static void name_bodies(const lw_model *m, const int *found, int n, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, n > 1 ? "bodies" : "body");
    for (int i = 0; i < n && i < NAMED && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s '%s'", i ? "," : "",
                                 m->body[found[i]].name);
    if (n > NAMED && used < size) snprintf(text + used, size - used, " and %d more", n - NAMED);
}

static lw_status warn(lw_model *m, const int *found, int n, double median)
{
    const lwi_body *b = &m->body[found[0]];
    size_t size = sizeof "bodies and more" + 3 * sizeof n;
    for (int i = 0; i < n && i < NAMED; i++)
        size += strlen(m->body[found[i]].name) + strlen(", ''");
    char *const names = lwi_arena_push(&m->arena, size, 1);
    if (!names) return LW_ERR_MEMORY;
    name_bodies(m, found, n, names, size);
    return lwi_model_warn(
        m, m->desc.body[found[0]].place,
        "%s: %.6g kg%s are %.2g times the median of the parts that move, and "
        "%.2g kg/m^3 or more with this inertia (osmium: 2.3e+04): is a unit of mass or length "
        "wrong?",
        names, b->mass, n > 1 ? " of the first" : "", b->mass / median, lowest_density(b));
}

lw_status lwi_check_masses(lw_model *m, const lwi_rigid_graph *graph, lw_error *error)
{
    parts p;
    double smallest = INFINITY, largest = 0;
    int n = 0;
    for (int b = 1; b < m->nbody; b++) {
        if (m->body[b].mass > 0) smallest = fmin(smallest, m->body[b].mass);
        largest = fmax(largest, m->body[b].mass);
    }
    if (!(largest >= HEAVY * smallest)) return LW_OK;
    if (find_parts(m, graph, &p) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for rigid groups");
    if (!p.n) return LW_OK;
    const double median = p.mass[(p.n - 1) / 2];
    int *found = LWI_PUSH(&m->arena, int, m->nbody);
    if (!found) return lwi_fail(error, LW_ERR_MEMORY, "no memory for rigid groups");
    for (int b = 1; b < m->nbody; b++) {
        const lwi_body *body = &m->body[b];
        if (p.of[b] == 0 || body->mass < HEAVY * median || !(body->inertia[0] > 0)) continue;
        if (lowest_density(body) >= DENSE) found[n++] = b;
    }
    return n ? warn(m, found, n, median) : LW_OK;
}
