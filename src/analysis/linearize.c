// linearize.c -- xdot = A x + B u about a state, x = (y, z) in independent coordinates.  With a callback of the inputs, of
// derivative K by the states, A is A + B K and C is C + D K.
//
//   dz/dt = zdot(y, z, u)      derivatives of the reduced equations; with joints of callers differences along the
//                              constraint manifold
//   dy/dt = dz - [v, B dy]     in independent rows; the bracket is that of increments in axes of F2, of rotations and
//                              displacements of free joints: zero of scalar coordinates
#include "analysis/feedback.h"
#include "analysis/reduced.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for a linearisation");
}

// What the differences vary.
typedef struct variation {
    lw_linear *linear;
    lwi_analysis_state *state;
    double *y, *z, *inputs; ///< [f], [f], [ninput]
    double *c, *cdot;       ///< [model nstate] states of signals, their rates
    const double *given;    ///< inputs of the caller, or NULL
} variation;

// Accelerations [f], then the rates of the states of signals.
static lw_status accelerations_at(void *user, lwi_analysis_vary what, int k, double by, double *out,
                                  lw_error *error)
{
    variation *const w = user;
    const size_t f = (size_t)w->linear->f;
    memset(w->y, 0, f * sizeof *w->y);
    memcpy(w->z, w->state->z, f * sizeof *w->z);
    for (int i = 0; i < w->linear->ninput; i++) w->inputs[i] = w->given ? w->given[i] : 0;
    if (what == LWI_VARY_POSITION) w->y[k] = by;
    if (what == LWI_VARY_SPEED) w->z[k] += by;
    if (what == LWI_VARY_INPUT) w->inputs[k] += by;
    const lw_linear *linear = w->linear;
    memcpy(w->c, linear->c, (size_t)w->state->manifold.model->nstate * sizeof *w->c);
    if (what == LWI_VARY_SIGNAL) w->c[linear->signal[k]] += by;
    w->state->manifold.states = (lwi_states){.value = w->c, .rate = w->cdot};
    TRY(lwi_analysis_near(w->state, w->y, w->z, false, out, error));
    for (int i = 0; i < linear->nsignal; i++) out[f + (size_t)i] = w->cdot[linear->signal[i]];
    return LW_OK;
}

// [v, d] of a joint with speeds in axes of F2: a ball, or displacement and rotation.
static void bracket(int nv, const double *v, const double *d, double *out)
{
    if (nv == 3) {
        v3_cross(out, v, d);
        return;
    }
    double other[3];
    v3_cross(out, v + 3, d);
    v3_cross(other, v, d + 3);
    v3_add(out, out, other);
    v3_cross(out + 3, v + 3, d + 3);
}

// Rows of A of dy/dt.
static void kinematic_rows(lw_linear *linear, const lwi_analysis_state *state)
{
    const lwi_manifold *m = &state->manifold;
    const size_t f = (size_t)linear->f, n = (size_t)m->n, nx = (size_t)linear->n;
    for (size_t i = 0; i < f; i++) linear->A[i * nx + f + i] = 1;
    for (int k = 0; k < m->model->nnode; k++) {
        const lwi_node *node = &m->model->node[k];
        if (node->type->scalar || node->type->quaternion < 0) continue;
        for (size_t j = 0; j < f; j++) {
            double out[6];
            bracket(node->nv, state->v + node->iv, state->B + j * n + node->iv, out);
            for (size_t i = 0; i < f; i++) {
                const int row = m->independent[i] - node->iv;
                if (row >= 0 && row < node->nv) linear->A[i * nx + j] -= out[row];
            }
        }
    }
}

// Column k of the dynamic rows and those of signals; columns from n on are those of inputs.
static void put_column(lw_linear *linear, size_t k, const double *column)
{
    const size_t f = (size_t)linear->f, n = (size_t)linear->n, p = (size_t)linear->ninput;
    for (size_t r = 0; r < n - f; r++) {
        if (k < n)
            linear->A[(f + r) * n + k] = column[r];
        else
            linear->B[(f + r) * p + (k - n)] = column[r];
    }
}

lwi_analysis_vary lwi_linear_vary(const lw_linear *linear, int k, int *which)
{
    const int f = linear->f, n = linear->n;
    *which = k < f ? k : k < 2 * f ? k - f : k < n ? k - 2 * f : k - n;
    return k < f       ? LWI_VARY_POSITION
           : k < 2 * f ? LWI_VARY_SPEED
           : k < n     ? LWI_VARY_SIGNAL
                       : LWI_VARY_INPUT;
}

double lwi_linear_step(const lwi_analysis_state *state, lwi_analysis_vary what, int k)
{
    return what == LWI_VARY_INPUT || what == LWI_VARY_SIGNAL ? 1 : lwi_analysis_step(state, k);
}

static lw_status rows_by_differences(variation *w, lwi_arena *arena, lw_error *error)
{
    lw_linear *const linear = w->linear;
    const int count = linear->n - linear->f;
    double *scratch = LWI_PUSH(arena, double, 4 * count), *column = LWI_PUSH(arena, double, count);
    if (!scratch || !column) return no_memory(error);
    for (int k = 0; k < linear->n + linear->ninput; k++) {
        int i;
        const lwi_analysis_vary what = lwi_linear_vary(linear, k, &i);
        TRY(lwi_analysis_difference(accelerations_at, w, what, i,
                                    lwi_linear_step(w->state, what, i), count, scratch, column,
                                    error));
        put_column(linear, (size_t)k, column);
    }
    return LW_OK;
}

// M_r^-1 times the derivatives of the reduced force.
static lw_status exact_rows(variation *w, lwi_reduced *reduced, lwi_arena *arena, lw_error *error)
{
    lw_linear *const linear = w->linear;
    const size_t f = (size_t)linear->f, p = (size_t)linear->ninput;
    double *by_y = LWI_PUSH(arena, double, f *f), *by_z = LWI_PUSH(arena, double, f *f),
           *by_u = LWI_PUSH(arena, double, f *p), *column = LWI_PUSH(arena, double, f);
    if (!by_y || !by_z || !by_u || !column) return no_memory(error);
    TRY(lwi_reduced_derivatives(reduced, linear->acceleration, by_y, by_z, by_u, error));
    TRY(lwi_manifold_factor_mass(&w->state->manifold, error));
    for (size_t k = 0; k < 2 * f + p; k++) {
        for (size_t r = 0; r < f; r++)
            column[r] = k < f       ? by_y[r * f + k]
                        : k < 2 * f ? by_z[r * f + k - f]
                                    : by_u[r * p + k - 2 * f];
        lwi_manifold_accelerations(&w->state->manifold, column);
        put_column(linear, k, column);
    }
    return LW_OK;
}

static lw_status dynamic_rows(variation *w, lwi_arena *arena, lw_error *error)
{
    lwi_reduced reduced;
    lw_error why;
    if (w->state->manifold.model->nstate > 0) return rows_by_differences(w, arena, error);
    const lw_status status = lwi_reduced_create(w->state, arena, &reduced, &why);
    if (status == LW_ERR_UNSUPPORTED) return rows_by_differences(w, arena, error);
    if (status != LW_OK) return lwi_fail(error, status, "%s", why.text);
    return exact_rows(w, &reduced, arena, error);
}

// ------------------------------------------------------------------------------------------- bodies

// Velocities of the bodies, world axes, as those of their carriers; at speeds v less those at v = 0.
static void read_velocities(const lw_linear *linear, const lwi_manifold *m, double sign,
                            double (*move)[6])
{
    const lw_model *model = m->model;
    const lwi_tree_work *tree = &m->constraints->tree;
    for (int b = 1; b < linear->nbody; b++) {
        const lwi_body *body = &model->body[b];
        double arm[3], v[3];
        m3_mul_v(arm, (const double *)tree->body_R[body->carrier], body->carrier_r);
        v3_cross(v, tree->body_w[body->carrier], arm);
        for (int i = 0; i < 3; i++) {
            move[b][i] += sign * (tree->body_v[body->carrier][i] + v[i]);
            move[b][3 + i] += sign * tree->body_w[body->carrier][i];
        }
    }
}

static void place_inertia(lw_linear *linear, const lwi_manifold *m, int b)
{
    const lwi_body *body = &m->model->body[b];
    const double *J = body->inertia;
    const double I[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    double R[9], RI[9];
    m3_mul(R, (const double *)m->constraints->tree.body_R[body->carrier], body->carrier_R);
    m3_mul(RI, R, I);
    m3_mul_t(linear->inertia[b], RI, R);
    linear->mass[b] = body->mass;
}

static void body_motions(lw_linear *linear, lwi_analysis_state *state, double *still)
{
    lwi_manifold *const m = &state->manifold;
    for (int k = 0; k < linear->f; k++) {
        double(*const move)[6] = linear->move + (size_t)k * (size_t)linear->nbody;
        lw_constraints_evaluate(m->constraints, m->t, state->q, state->B + (size_t)k * (size_t)m->n,
                                NULL, m->rate, NULL, NULL);
        read_velocities(linear, m, 1, move);
        lw_constraints_evaluate(m->constraints, m->t, state->q, still, NULL, m->rate, NULL, NULL);
        read_velocities(linear, m, -1, move);
    }
    if (linear->f == 0)
        lw_constraints_evaluate(m->constraints, m->t, state->q, still, NULL, m->rate, NULL, NULL);
    for (int b = 1; b < linear->nbody; b++) place_inertia(linear, m, b);
}

// ------------------------------------------------------------------------------------------ results

static lw_status name_states(lw_linear *linear, const lwi_manifold *m, lw_error *error)
{
    for (int i = 0; i < 2 * linear->f; i++) {
        char text[LW_COORDINATE_NAME_SIZE];
        lwi_manifold_name(m, i % linear->f, i >= linear->f, text, sizeof text);
        if (!(linear->state[i] = lwi_arena_text(&linear->arena, text))) return no_memory(error);
    }
    for (int i = 0; i < linear->nsignal; i++) {
        char text[LW_COORDINATE_NAME_SIZE];
        lwi_state_name(m->model, linear->signal[i], text, sizeof text);
        if (!(linear->state[2 * linear->f + i] = lwi_arena_text(&linear->arena, text)))
            return no_memory(error);
    }
    for (int i = 0; i < linear->ninput; i++)
        if (!(linear->input[i] = lwi_arena_text(&linear->arena, m->model->desc.input[i])))
            return no_memory(error);
    for (int b = 0; b < linear->nbody; b++)
        if (!(linear->body[b] = lwi_arena_text(&linear->arena, m->model->body[b].name)))
            return no_memory(error);
    return LW_OK;
}

static lw_status allocate(lw_linear *linear, lw_error *error)
{
    lwi_arena *arena = &linear->arena;
    const size_t f = (size_t)linear->f, p = (size_t)linear->ninput, n = (size_t)linear->nbody;
    const size_t nx = (size_t)linear->n;
    linear->state = LWI_PUSH(arena, const char *, nx);
    linear->input = LWI_PUSH(arena, const char *, p);
    linear->body = LWI_PUSH(arena, const char *, n);
    linear->A = LWI_PUSH(arena, double, nx *nx);
    linear->B = LWI_PUSH(arena, double, nx *p);
    linear->M = LWI_PUSH(arena, double, f *f);
    linear->acceleration = LWI_PUSH(arena, double, nx - f);
    linear->unit = LWI_PUSH(arena, double, f);
    linear->move = lwi_arena_push(arena, f * n, sizeof *linear->move);
    linear->mass = LWI_PUSH(arena, double, n);
    linear->inertia = lwi_arena_push(arena, n, sizeof *linear->inertia);
    if (linear->state && linear->input && linear->body && linear->A && linear->B && linear->M &&
        linear->acceleration && linear->unit && linear->move && linear->mass && linear->inertia)
        return LW_OK;
    return no_memory(error);
}

// All states are outputs.
static lw_status states_as_outputs(lw_linear *linear, lw_error *error)
{
    const size_t n = (size_t)linear->n;
    linear->noutput = (int)n;
    linear->output = linear->state;
    linear->C = LWI_PUSH(&linear->arena, double, n *n);
    linear->D = LWI_PUSH(&linear->arena, double, n *(size_t)linear->ninput);
    if (!linear->C || !linear->D) return no_memory(error);
    for (size_t i = 0; i < n; i++) linear->C[i * n + i] = 1;
    return LW_OK;
}

static lw_status take_signals(lw_linear *linear, const lw_model *model, const double *states,
                              lw_error *error)
{
    const size_t n = (size_t)model->nstate;
    linear->signal = LWI_PUSH(&linear->arena, int, n);
    linear->c = LWI_PUSH(&linear->arena, double, n);
    if (!linear->signal || !linear->c) return no_memory(error);
    linear->nsignal = lwi_analysis_signals(model, linear->signal);
    if (n) memcpy(linear->c, states ? states : model->state0, n * sizeof *linear->c);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(linear->c[i]))
            return lwi_fail(error, LW_ERR_ARGUMENT, "states[%d] is not finite", (int)i);
    return LW_OK;
}

static lw_status compute(lw_linear *linear, const lw_linear_desc *desc, lwi_analysis_state *state,
                         lwi_arena *arena, lw_error *error)
{
    lwi_manifold *const m = &state->manifold;
    TRY(take_signals(linear, m->model, desc->states, error));
    linear->f = m->f;
    linear->n = 2 * m->f + linear->nsignal;
    linear->ninput = m->model->desc.ninput;
    linear->nbody = m->model->nbody;
    TRY(allocate(linear, error));
    TRY(name_states(linear, m, error));
    variation w = {.linear = linear,
                   .state = state,
                   .y = LWI_PUSH(arena, double, linear->f),
                   .z = LWI_PUSH(arena, double, linear->f),
                   .inputs = LWI_PUSH(arena, double, linear->ninput),
                   .c = LWI_PUSH(arena, double, m->model->nstate),
                   .cdot = LWI_PUSH(arena, double, m->model->nstate),
                   .given = desc->inputs};
    double *still = LWI_PUSH(arena, double, m->n);
    if (!w.y || !w.z || !w.inputs || !w.c || !w.cdot || !still) return no_memory(error);
    lwi_analysis_feedback feedback;
    const bool closed = desc->callback && linear->ninput > 0;
    if (closed) {
        TRY(lwi_analysis_feedback_create(linear, desc, state, arena, &feedback, error));
        w.given = feedback.inputs;
    }
    m->inputs = w.inputs;
    for (int k = 0; k < linear->f; k++) linear->unit[k] = lwi_manifold_unit(m, m->independent[k]);
    linear->weight = lwi_analysis_weight(m->model);
    memcpy(linear->M, state->M, (size_t)linear->f * (size_t)linear->f * sizeof *linear->M);
    TRY(accelerations_at(&w, LWI_VARY_POSITION, 0, 0, linear->acceleration, error));
    kinematic_rows(linear, state);
    TRY(dynamic_rows(&w, arena, error));
    body_motions(linear, state, still);
    m->inputs = w.given;
    m->states = (lwi_states){0};
    TRY(desc->outputs && *desc->outputs ? lwi_linear_outputs(linear, state, desc->outputs, error)
                                        : states_as_outputs(linear, error));
    if (!closed) return LW_OK;
    TRY(lwi_analysis_feedback_gains(&feedback, arena, error));
    const size_t f = (size_t)linear->f, n = (size_t)linear->n, p = (size_t)linear->ninput;
    lwi_analysis_feedback_close(&feedback, n - f, linear->B + f * p, linear->A + f * n);
    lwi_analysis_feedback_close(&feedback, (size_t)linear->noutput, linear->D, linear->C);
    return LW_OK;
}

lw_status lw_linearize(const lw_model *model, const lw_linear_desc *desc, lw_linear **linear,
                       lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_linear_desc, desc, error);
    if (!model || !linear)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_linearize: a model and a result are needed");
    lw_linear *made = lwi_allocate(&model->arena.allocator, sizeof *made);
    if (!made) return no_memory(error);
    *made = (lw_linear){0};
    lwi_arena arena;
    lwi_analysis_state state;
    lwi_arena_init(&made->arena, &model->arena.allocator);
    lwi_arena_init(&arena, &model->arena.allocator);
    lw_status status =
        lwi_analysis_state_create(model, desc->time, desc->q, desc->v ? desc->v : model->tree_v0,
                                  desc->inputs, desc->independent, &arena, &state, error);
    if (status == LW_OK) {
        status = compute(made, desc, &state, &arena, error);
        lwi_analysis_state_destroy(&state);
    }
    lwi_arena_free(&arena);
    if (status == LW_OK)
        *linear = made;
    else
        lw_linear_destroy(made);
    return status;
}

void lw_linear_destroy(lw_linear *linear)
{
    if (!linear) return;
    const lw_allocator allocator = linear->arena.allocator;
    lwi_arena_free(&linear->arena);
    lwi_release(&allocator, linear);
}

int lw_linear_states(const lw_linear *linear)
{
    return linear ? linear->n : 0;
}
int lw_linear_dof(const lw_linear *linear)
{
    return linear ? linear->f : 0;
}
int lw_linear_inputs(const lw_linear *linear)
{
    return linear ? linear->ninput : 0;
}
int lw_linear_outputs(const lw_linear *linear)
{
    return linear ? linear->noutput : 0;
}

static const char *name_at(const char *const *name, int count, int index)
{
    return index >= 0 && index < count ? name[index] : "";
}

const char *lw_linear_state_name(const lw_linear *linear, int index)
{
    return linear ? name_at(linear->state, linear->n, index) : "";
}
const char *lw_linear_input_name(const lw_linear *linear, int index)
{
    return linear ? name_at(linear->input, linear->ninput, index) : "";
}
const char *lw_linear_output_name(const lw_linear *linear, int index)
{
    return linear ? name_at(linear->output, linear->noutput, index) : "";
}

const double *lw_linear_A(const lw_linear *linear)
{
    return linear ? linear->A : NULL;
}
const double *lw_linear_B(const lw_linear *linear)
{
    return linear ? linear->B : NULL;
}
const double *lw_linear_C(const lw_linear *linear)
{
    return linear ? linear->C : NULL;
}
const double *lw_linear_D(const lw_linear *linear)
{
    return linear ? linear->D : NULL;
}
const double *lw_linear_mass(const lw_linear *linear)
{
    return linear ? linear->M : NULL;
}
const double *lw_linear_accelerations(const lw_linear *linear)
{
    return linear ? linear->acceleration : NULL;
}
