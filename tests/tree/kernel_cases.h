// kernel_cases.h -- kernels against the generic recursion, against themselves in other widths, and in batches against
// single states: shared by the tests of the kernels.
#ifndef LWT_KERNEL_CASES_H
#define LWT_KERNEL_CASES_H

#include "tree/tree_cases.h"

#include "kinematics/formulation.h"
#include "kinematics/tree_state.h"
#include "tree/crba.h"
#include "tree/kernel.h"

static const int widths[] = {1, 4, 8};
static const lwi_formulation *const formulations[] = {&lwi_formulation_aba,
                                                      &lwi_formulation_momenta};

static inline lw_status try_rates(const lw_model *model, const lwi_formulation *formulation,
                                  int lanes, double t, const double *x, const double *input,
                                  double *xdot, lw_error *error)
{
    lwi_work *work;
    if (lwi_work_create_lanes(model, formulation, NULL, lanes, &work, error) != LW_OK)
        fail_msg("%s", error->text);
    const lw_status status = formulation->rates(work, t, x, input, xdot);
    *error = work->error;
    lwi_work_destroy(work);
    return status;
}

static inline void rates(const lw_model *model, const lwi_formulation *formulation, int lanes,
                         double t, const double *x, const double *input, double *xdot)
{
    lw_error error;
    if (try_rates(model, formulation, lanes, t, x, input, xdot, &error) != LW_OK)
        fail_msg("%s", error.text);
}

// Largest difference of the rates of the second half, relative to the largest rate.
static inline double difference(const lw_model *model, const double *a, const double *b)
{
    double max = 0, off = 0;
    for (int i = 0; i < model->tree_nv; i++) {
        const int k = model->tree_nq + i;
        max = fmax(max, fabs(a[k]));
        off = fmax(off, fabs(a[k] - b[k]));
    }
    off /= 1 + max;
    if (!model->carries_work) return off;
    const int at = model->tree_nq + model->tree_nv; // the work
    return fmax(off, fabs(a[at] - b[at]) / (1 + max + fabs(a[at])));
}

// Efforts of given accelerations without the model's forces, by the generic recursion.
static inline void generic_efforts(const lw_model *model, double t, const double *q,
                                   const double *v, const double *vdot, const double *input,
                                   double *tau)
{
    lwi_arena arena;
    lwi_tree_work work;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_tree_work_create(model, &arena, &work), LW_OK);
    lwi_tree_evaluate(model, &work, t, q, v, input);
    memset(work.wrench, 0, (size_t)model->nnode * sizeof *work.wrench);
    lwi_tree_newton_euler(model, &work, v, vdot);
    for (int k = 0; k < model->nnode; k++)
        for (int j = 0; j < model->node[k].nv; j++) {
            const int i = model->node[k].iv + j;
            tau[i] = v6_dot(work.link[k].S[j], work.F[k]) + model->tree_rotor[i] * vdot[i];
        }
    lwi_arena_free(&arena);
}

// The same by the kernel of a width; false: there is none.
static inline bool kernel_efforts(const lw_model *model, int width, double t, const double *q,
                                  const double *v, const double *vdot, double *tau)
{
    lwi_arena arena;
    lwi_kernel *kernel;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_kernel_create_prescribed(model, width, &arena, &kernel), LW_OK);
    if (kernel) {
        lwi_kernel_prescribe(kernel, t);
        assert_true(lwi_kernel_rnea(kernel, q, v, vdot, tau));
    }
    lwi_arena_free(&arena);
    return kernel != NULL;
}

// Efforts have no condition: the tolerance is that of sums of round-off, which cancel in long trees.
static inline void check_efforts(const lw_model *model, double t, const double *q, const double *v,
                                 const double *input, const char *what, unsigned long long seed)
{
    const int n = model->tree_nv;
    double *vdot = lwt_reals(n), *generic = lwt_reals(n), *first = lwt_reals(n);
    double *other = lwt_reals(n), max = 0;
    uint64_t draws = seed + 1;
    for (int i = 0; i < n; i++) vdot[i] = lwt_random(&draws, -5, 5);
    generic_efforts(model, t, q, v, vdot, input, generic);
    for (int i = 0; i < n; i++) max = fmax(max, fabs(generic[i]));
    if (kernel_efforts(model, widths[0], t, q, v, vdot, first))
        for (int i = 0; i < n; i++)
            if (!(fabs(first[i] - generic[i]) <= 1e-13 * (1 + max)))
                fail_msg("%s %llu, rnea: effort %d is %.3g off, the largest is %g", what, seed, i,
                         first[i] - generic[i], max);
    for (int w = 1; w < LWI_COUNT(widths); w++)
        if (lwi_kernels_of(widths[w]) && kernel_efforts(model, widths[w], t, q, v, vdot, other) &&
            memcmp(first, other, (size_t)n * sizeof *first))
            fail_msg("%s %llu, rnea: width %d differs from width 1", what, seed, widths[w]);
    free(vdot);
    free(generic);
    free(first);
    free(other);
}

// The mass matrix by the kernel of a width; false: there is none.
static inline bool kernel_mass_matrix(const lw_model *model, int width, double t, const double *q,
                                      double *M)
{
    lwi_arena arena;
    lwi_kernel *kernel;
    lwi_k_columns columns;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_kernel_create_prescribed(model, width, &arena, &kernel), LW_OK);
    if (kernel) {
        assert_int_equal(lwi_k_columns_create(kernel->plan, model->tree_nv, &arena, &columns),
                         LW_OK);
        assert_int_equal(columns.count, model->tree_nv);
        lwi_kernel_prescribe(kernel, t);
        assert_true(lwi_kernel_mass_matrix(kernel, &columns, q, M));
    }
    lwi_arena_free(&arena);
    return kernel != NULL;
}

static inline void generic_mass_matrix(const lw_model *model, double t, const double *q, double *M)
{
    lwi_arena arena;
    lwi_tree_work work;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_tree_work_create(model, &arena, &work), LW_OK);
    lwi_inertia *composite = LWI_PUSH(&arena, lwi_inertia, model->nnode);
    lwi_tree_position(model, t, q, work.link);
    lwi_crba(model, work.link, composite, M);
    lwi_arena_free(&arena);
}

// Symmetric bit for bit; entries relative to the largest.
static inline void check_mass_matrix(const lw_model *model, double t, const double *q,
                                     const char *what, unsigned long long seed)
{
    const int n = model->tree_nv;
    double *generic = lwt_reals(n * n), *first = lwt_reals(n * n), *other = lwt_reals(n * n);
    double max = 0;
    generic_mass_matrix(model, t, q, generic);
    for (int i = 0; i < n * n; i++) max = fmax(max, fabs(generic[i]));
    if (kernel_mass_matrix(model, widths[0], t, q, first))
        for (int i = 0; i < n * n; i++)
            if (!(fabs(first[i] - generic[i]) <= 1e-13 * max) ||
                first[i] != first[i % n * n + i / n])
                fail_msg("%s %llu, crba: M[%d][%d] is %.3g off, the largest is %g", what, seed,
                         i / n, i % n, first[i] - generic[i], max);
    for (int w = 1; w < LWI_COUNT(widths); w++)
        if (lwi_kernels_of(widths[w]) && kernel_mass_matrix(model, widths[w], t, q, other) &&
            memcmp(first, other, (size_t)(n * n) * sizeof *first))
            fail_msg("%s %llu, crba: width %d differs from width 1", what, seed, widths[w]);
    free(generic);
    free(first);
    free(other);
}

// Every width against the generic recursion (within `tolerance`) and against each other (equal).
static inline void check_model(const lw_model *model, double t, const double *x,
                               const double *input, double tolerance, const char *what,
                               unsigned long long seed)
{
    const int n = model->tree_nq + model->tree_nv + 1;
    double *generic = lwt_reals(n), *first = lwt_reals(n), *other = lwt_reals(n);
    check_efforts(model, t, x, x + model->tree_nq, input, what, seed);
    check_mass_matrix(model, t, x, what, seed);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        rates(model, formulations[f], LWI_NO_KERNEL, t, x, input, generic);
        rates(model, formulations[f], widths[0], t, x, input, first);
        const double off = difference(model, generic, first);
        if (!(off <= tolerance))
            fail_msg("%s %llu, %s: the kernel is %.3g off", what, seed, formulations[f]->name, off);
        for (int w = 1; w < LWI_COUNT(widths); w++) {
            if (!lwi_kernels_of(widths[w])) continue;
            rates(model, formulations[f], widths[w], t, x, input, other);
            if (memcmp(first, other, (size_t)n * sizeof *first))
                fail_msg("%s %llu, %s: width %d differs from width 1", what, seed,
                         formulations[f]->name, widths[w]);
        }
    }
    free(generic);
    free(first);
    free(other);
}

static inline void put_instance(const lwi_kernel *kernel, const lwi_k_state *batch, int l,
                                const double *q, const double *v)
{
    for (int i = 0; i < kernel->plan->nstep; i++) {
        const lwi_k_step *step = &kernel->plan->step[i];
        if (step->slot < kernel->plan->first_ball) {
            batch->joint[step->slot].q[l] = q[step->iq];
            batch->joint[step->slot].v[l] = v[step->iv];
            continue;
        }
        lwi_k_ball_joint *joint = &batch->ball_joint[step->slot - kernel->plan->first_ball];
        const int n = step->kind == LWI_K_BALL ? 3 : 6;
        for (int j = 0; j < 4; j++) joint->q[j][l] = q[step->iq + j];
        for (int j = 0; j < n; j++) joint->v[6 - n + j][l] = v[step->iv + j];
    }
}

static inline double instance_rate(const lwi_kernel *kernel, const lwi_k_state *batch,
                                   const lwi_k_step *step, int j, int l)
{
    const int slot = step->slot;
    if (slot >= kernel->plan->first_ball)
        return batch->ball_pivot[slot - kernel->plan->first_ball]
            .vdot[step->kind == LWI_K_BALL ? 3 + j : j][l];
    return kernel->plan->screw[slot / LWI_LANES].sign[slot % LWI_LANES] *
           batch->motion[slot].vdot[l];
}

static inline double instance_pdot(const lwi_kernel *kernel, const lwi_k_state *batch,
                                   const lwi_k_step *step, int j, int l)
{
    const int slot = step->slot;
    if (slot >= kernel->plan->first_ball)
        return batch->momentum[slot].pdot[step->kind == LWI_K_BALL ? 3 + j : j][l];
    return kernel->plan->screw[slot / LWI_LANES].sign[slot % LWI_LANES] *
           batch->momentum[slot].pdot[0][l];
}

static inline int dofs(const lwi_k_step *step)
{
    return step->kind == LWI_K_BALL ? 3 : step->kind == LWI_K_BASE ? 6 : 1;
}

// Eight instances in lanes: aba's vdot, the speeds of momenta and their rates are those of single
// states.
static inline void check_batch(const lw_model *m, const double *start, uint64_t seed, int width)
{
    lwi_arena arena;
    lwi_kernel *kernel;
    lwi_k_state batch;
    const uint64_t name = seed;
    double *q = lwt_reals(LWI_LANES * m->tree_nq), *v = lwt_reals(LWI_LANES * m->tree_nv);
    double *alone = lwt_reals(m->tree_nv), *pdot = lwt_reals(m->tree_nv);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_kernel_create(m, width, &arena, &kernel), LW_OK);
    assert_int_equal(lwi_k_state_create(kernel->plan, true, &arena, &batch), LW_OK);
    for (int l = 0; l < LWI_LANES; l++) {
        for (int i = 0; i < m->tree_nq; i++)
            q[l * m->tree_nq + i] = start[i] + lwt_random(&seed, -0.1, 0.1);
        for (int i = 0; i < m->tree_nv; i++) v[l * m->tree_nv + i] = lwt_random(&seed, -1, 1);
        put_instance(kernel, &batch, l, q + l * m->tree_nq, v + l * m->tree_nv);
    }
    for (int form = 0; form < 2; form++) {
        const unsigned fallback = form ? kernel->kernels->momenta_batch(kernel->plan, &batch)
                                       : kernel->kernels->aba_batch(kernel->plan, &batch);
        assert_int_equal(fallback, 0);
        for (int l = 0; l < LWI_LANES; l++) {
            const double *ql = q + l * m->tree_nq, *vl = v + l * m->tree_nv;
            assert_true(form ? lwi_kernel_momenta(kernel, ql, vl, alone, pdot)
                             : lwi_kernel_aba(kernel, ql, vl, NULL, alone));
            for (int i = 0; i < kernel->plan->nstep; i++) {
                const lwi_k_step *step = &kernel->plan->step[i];
                for (int j = 0; j < dofs(step); j++) {
                    const double rate = instance_rate(kernel, &batch, step, j, l);
                    const double other = form ? instance_pdot(kernel, &batch, step, j, l) : 0;
                    if (memcmp(&rate, &alone[step->iv + j], sizeof rate))
                        fail_msg("seed %llu, width %d, lane %d: %.17g, alone %.17g",
                                 (unsigned long long)name, width, l, rate, alone[step->iv + j]);
                    if (form && memcmp(&other, &pdot[step->iv + j], sizeof other))
                        fail_msg("seed %llu, width %d, lane %d: pdot %.17g, alone %.17g",
                                 (unsigned long long)name, width, l, other, pdot[step->iv + j]);
                }
            }
        }
    }
    free(q);
    free(v);
    free(alone);
    free(pdot);
    lwi_arena_free(&arena);
}

#endif
