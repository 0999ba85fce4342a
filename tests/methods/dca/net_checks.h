// net_checks.h -- evaluations of nets in segments against those of the general elimination.
#ifndef LWT_NET_CHECKS_H
#define LWT_NET_CHECKS_H

#include "methods/dca/net_cases.h"
#include "methods/dca/segments/net.h"

static inline lwi_work *lwt_net_work(const lw_model *model, const char *formulation, int lanes,
                                     int threads)
{
    lwi_work *work;
    lw_error error;
    lw_options options;
    lw_options_default(&options);
    options.threads = threads;
    lwt_ok(lwi_work_create_options(model, lwi_formulation_find(formulation), NULL, lanes, &options,
                                   &work, &error),
           &error);
    return work;
}

static inline double *lwt_net_state(const lw_model *model, int nx, bool moved)
{
    double *x = lwt_reals(nx);
    uint64_t seed = 5;
    memcpy(x, model->tree_q0, (size_t)model->tree_nq * sizeof *x);
    for (int k = 0; moved && k < model->nnode; k++)
        if (model->node[k].nq == 1) x[model->node[k].iq] = lwt_random(&seed, -1, 1);
    for (int i = 0; i < model->tree_nv; i++) x[model->tree_nq + i] = lwt_random(&seed, -1, 1);
    return x;
}

// The net of the model, as hdca has it.
static inline bool lwt_has_net(const lw_model *model)
{
    lwi_arena arena;
    lwi_net_plan *plan;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_net_plan_create(model, (lwi_net_choice){0}, &arena, &plan), LW_OK);
    const bool found = plan != NULL;
    lwi_arena_free(&arena);
    return found;
}

// Rates in segments against those of another formulation, or of the general elimination.
static inline void lwt_net_check_rates(const lw_model *model, const char *formulation,
                                       const char *other, double t, bool moved, bool segments,
                                       double tolerance)
{
    lwi_work *net = lwt_net_work(model, formulation, 0, 1),
             *plain = lwt_net_work(model, other, LWI_NO_KERNEL, 1);
    const int nx = net->layout.nx, nq = model->tree_nq;
    double *x = lwt_net_state(model, nx, moved), *a = lwt_reals(nx), *b = lwt_reals(nx);
    double size[2] = {1, 1}, worst[2] = {0};
    assert_int_equal(plain->layout.nx, nx);
    lwt_ok(net->formulation->rates(net, t, x, NULL, a), &net->error);
    lwt_ok(plain->formulation->rates(plain, t, x, NULL, b), &plain->error);
    for (int i = 0; i < nx; i++) size[i >= nq] = fmax(size[i >= nq], fabs(b[i]));
    for (int i = 0; i < nx; i++) {
        const double off = fabs(a[i] - b[i]) / size[i >= nq];
        worst[i >= nq] = fmax(worst[i >= nq], off);
        if (!(off <= tolerance))
            fail_msg("%s: %s %d of %d: %.17g, expected %.17g", formulation,
                     i < nq ? "speed" : "rate", i < nq ? i : i - nq, nq, a[i], b[i]);
    }
    if (segments) assert_memory_not_equal(a, b, (size_t)nx * sizeof *a); // not the same evaluation
    if (getenv("LW_SHOW"))
        printf("%s by %s: rates of coordinates %.1e, of speeds or momenta %.1e\n", formulation,
               other, worst[0], worst[1]);
    lwi_work_destroy(net);
    lwi_work_destroy(plain);
    free(x), free(a), free(b);
}

// Observations in segments against those of the general elimination.  @return whether their bits differ
static inline bool lwt_net_check_observations(const lw_model *model, const char *formulation,
                                              double t, bool moved, double tolerance)
{
    lwi_snapshot m[2];
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    for (int i = 0; i < 2; i++) {
        lwi_work *work = lwt_net_work(model, formulation, i ? LWI_NO_KERNEL : 0, 1);
        double *x = lwt_net_state(model, work->layout.nx, moved);
        for (int again = 0; again < 2; again++) // a row leaves no trace in the next
            lwt_observe(work, t, x, NULL, &arena, &m[i]);
        free(x);
        lwi_work_destroy(work);
    }
    const double *got[] = {m[0].r[0],        m[0].v[0], m[0].a[0], m[0].al[0],
                           m[0].reaction[0], m[0].q,    m[0].qd,   m[0].qdd};
    const double *other[] = {m[1].r[0],        m[1].v[0], m[1].a[0], m[1].al[0],
                             m[1].reaction[0], m[1].q,    m[1].qd,   m[1].qdd};
    const int n[] = {3 * model->nbody,  3 * model->nbody, 3 * model->nbody, 3 * model->nbody,
                     6 * model->njoint, model->nq,        model->nv,        model->nv};
    for (int k = 0; k < LWI_COUNT(n); k++) {
        double size = 1;
        for (int i = 0; i < n[k]; i++) size = fmax(size, fabs(other[k][i]));
        for (int i = 0; i < n[k]; i++)
            if (!(fabs(got[k][i] - other[k][i]) <= tolerance * size))
                fail_msg("%s: quantity %d, %d: %.17g, expected %.17g", formulation, k, i, got[k][i],
                         other[k][i]);
    }
    if (!(fabs(m[0].work - m[1].work) <= tolerance * (1 + fabs(m[1].work))))
        fail_msg("%s: work %.17g, expected %.17g", formulation, m[0].work, m[1].work);
    const size_t bytes = (size_t)model->njoint * sizeof *m[0].reaction;
    const bool differ = memcmp(m[0].reaction, m[1].reaction, bytes) != 0;
    for (int j = 0; j < model->njoint; j++)
        assert_int_equal(m[0].undetermined[j], m[1].undetermined[j]);
    lwi_arena_free(&arena);
    return differ;
}

// -------------------------------------------------------------------------------------------- runs

/** A step by the classical Runge-Kutta method. */
static inline void lwt_net_step(lwi_work *work, double t, double h, double *x, double *k[4],
                                double *at)
{
    static const double part[] = {0, 0.5, 0.5, 1}, weight[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    const int nx = work->layout.nx;
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < nx; i++) at[i] = x[i] + (s ? h * part[s] * k[s - 1][i] : 0);
        lwt_ok(work->formulation->rates(work, t + h * part[s], at, NULL, k[s]), &work->error);
    }
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < nx; i++) x[i] += h * weight[s] * k[s][i];
}

/** Kinetic and of weight. */
static inline double lwt_net_energy(const lw_model *model, const lwi_snapshot *m)
{
    double sum = 0;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        const lwi_body *body = &model->body[b];
        double L[3];
        s3_mul_v(L, body->inertia, m->w[b]);
        sum += 0.5 * (body->mass * v3_dot(m->v[b], m->v[b]) + v3_dot(m->w[b], L)) -
               body->mass * v3_dot(model->gravity, m->r[b]);
    }
    return sum;
}

#endif
