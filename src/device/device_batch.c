// device_batch.c -- the arrays of many instances on a device, and launches of their kernels.
#include "base/assert.h"
#include "codegen/refuse.h"
#include "codegen/sources.h"
#include "device/device.h"
#include "model/impulses.h"
#include "simulate/options.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const lwi_device_kernel_names[LWI_KERNELS] = {
    LWI_CODEGEN_SOURCE "_rk4", LWI_CODEGEN_SOURCE "_dopri54", LWI_CODEGEN_SOURCE "_close"};

struct lw_device_batch {
    lw_allocator allocator;
    lwi_device device;
    int n, nq, nv, nx, nu, nbody, nmeasure;
    bool single, adaptive;
    double time, step, rtol, atol; // step: the largest of rk4
    int max_steps;
    int rows[LW_DEVICE_ARRAYS];
    size_t bytes[LW_DEVICE_ARRAYS];
    void *array[LW_DEVICE_ARRAYS]; // on the device
    void *length, *column;         // likewise: next steps; what is measured
    bool positions, measured;      // some of it are positions; it has begun
    lw_error error;
};

static size_t number_size(const lw_device_batch *b)
{
    return b->single ? sizeof(float) : sizeof(double);
}

static size_t element_size(const lw_device_batch *b, int array)
{
    return array == LW_DEVICE_STATUS || array == LW_DEVICE_STEPS ? sizeof(int)
           : array == LW_DEVICE_END                              ? sizeof(double)
                                                                 : number_size(b);
}

// ------------------------------------------------------------------------------------------ options

static lw_status check_options(lw_device_batch *b, const lw_device_batch_desc *desc)
{
    lw_options options;
    if (desc->options)
        options = *desc->options;
    else
        lw_options_default(&options);
    TRY(lwi_options_check(&options, &b->error));
    b->adaptive = !strcmp(options.integrator, "auto") || !strcmp(options.integrator, "dopri54");
    if (!b->adaptive && strcmp(options.integrator, "rk4") != 0)
        return lwi_fail(&b->error, LW_ERR_UNSUPPORTED,
                        "integrator '%s': on a device expected dopri54 or rk4", options.integrator);
    b->step = options.step, b->rtol = options.rtol, b->atol = options.atol;
    b->max_steps =
        options.max_steps > 0 && options.max_steps < INT_MAX ? (int)options.max_steps : INT_MAX;
    if (b->adaptive && b->step > 0)
        return lwi_fail(&b->error, LW_ERR_UNSUPPORTED,
                        "step %g: on a device dopri54 has no largest step: expected 0", b->step);
    if (!b->adaptive && !(b->step > 0 && isfinite(b->step)))
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "step %g: rk4 needs one > 0", b->step);
    return LW_OK;
}

static lw_status refuse(lw_device_batch *b, const lw_model *m, const char *kind, const char *name,
                        lw_place place)
{
    return lwi_fail_at(&b->error, LW_ERR_UNSUPPORTED, m->desc.source, place.line, place.column,
                       "%s '%s': on a device expected a model without %ss", kind, name ? name : "",
                       kind);
}

static lw_status check_model(lw_device_batch *b, const lw_model *m)
{
    if (m->open) return lwi_fail(&b->error, LW_ERR_MODEL, "%s", m->open);
    const lwi_description *d = &m->desc;
    if (d->nevent > 0) return refuse(b, m, "event", d->event[0].name, d->event[0].place);
    if (d->nimpulse > 0) return refuse(b, m, "impulse", d->impulse[0].name, d->impulse[0].place);
    for (int i = 0; i < d->nfunction; i++)
        if (d->function[i].type == LW_FUNCTION_RELAY)
            return lwi_fail(&b->error, LW_ERR_UNSUPPORTED,
                            "signal '%s' switches at events: on a device expected a model without",
                            d->function[i].name);
    const int jumps = lwi_model_first_jump(m);
    return jumps < 0
               ? LW_OK
               : lwi_fail_at(&b->error, LW_ERR_UNSUPPORTED, d->source,
                             lwi_joint_place(m, jumps).line, lwi_joint_place(m, jumps).column,
                             "joint '%s': the rate of its motion jumps, an impact: on a device "
                             "expected a model without",
                             m->joint[jumps].name);
}

static lw_status check_measures(lw_device_batch *b, const lw_device_batch_desc *desc)
{
    const int state = b->nq + b->nv + b->nx, end = state + 3 * b->nbody;
    if (desc->nmeasure < 0 || (desc->nmeasure && !desc->measure))
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "measures are missing");
    for (int k = 0; k < desc->nmeasure; k++) {
        const int i = desc->measure[k];
        if (i < 0 || i >= end)
            return lwi_fail(&b->error, LW_ERR_ARGUMENT, "measure %d: entry %d, expected 0 to %d", k,
                            i, end - 1);
        b->positions |= i >= state;
    }
    b->nmeasure = desc->nmeasure;
    return LW_OK;
}

// "cuda", "cuda:1", "cpu"
static lw_status find_device(lw_device_batch *b, const char *name)
{
    char *end = NULL;
    const bool cuda = !name || !strncmp(name, "cuda", 4);
    b->device.type = cuda ? &lwi_device_cuda : &lwi_device_cpu;
    if (!name || !strcmp(name, "cuda") || !strcmp(name, "cpu")) return LW_OK;
    const long number = cuda && name[4] == ':' ? strtol(name + 5, &end, 10) : -1;
    b->device.number = (int)number;
    if (end && end != name + 5 && !*end && number >= 0 && number < 1000) return LW_OK;
    return lwi_fail(&b->error, LW_ERR_ARGUMENT, "device '%.60s': expected cuda, cuda:N or cpu",
                    name);
}

// ----------------------------------------------------------------------------------------- creating

static lw_status open_device(lw_device_batch *b, const lw_model *model,
                             const lw_device_batch_desc *desc)
{
    char *source = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&source, &size);
    if (!file) return lwi_fail(&b->error, LW_ERR_MEMORY, "no memory for kernels");
    lw_status status =
        lwi_codegen_print_kernels(model, b->single, desc->allocator, file, &b->error);
    if (fclose(file) != 0 && status == LW_OK)
        status = lwi_fail(&b->error, LW_ERR_MEMORY, "no memory for kernels");
    if (status == LW_OK) status = b->device.type->open(&b->device, desc, source, &b->error);
    free(source);
    return status;
}

static lw_status new_array(lw_device_batch *b, size_t bytes, void **address)
{
    if (bytes == 0) return LW_OK;
    TRY(b->device.type->allocate(&b->device, bytes, address, &b->error));
    return b->device.type->fill(&b->device, *address, bytes, &b->error);
}

static lw_status allocate(lw_device_batch *b, const int *measure)
{
    const int rows[LW_DEVICE_ARRAYS] = {[LW_DEVICE_STATE] = b->nq + b->nv + b->nx,
                                        [LW_DEVICE_INPUTS] = b->nu,
                                        [LW_DEVICE_EFFORTS] = b->nv,
                                        [LW_DEVICE_END] = 1,
                                        [LW_DEVICE_STATUS] = 1,
                                        [LW_DEVICE_STEPS] = 1,
                                        [LW_DEVICE_MEASURE] = 3 * b->nmeasure};
    const size_t n = (size_t)b->n;
    for (int k = 0; k < LW_DEVICE_ARRAYS; k++) {
        b->rows[k] = rows[k];
        b->bytes[k] = (size_t)rows[k] * n * element_size(b, k);
        TRY(new_array(b, b->bytes[k], &b->array[k]));
    }
    TRY(new_array(b, n * number_size(b), &b->length));
    const size_t bytes = (size_t)b->nmeasure * sizeof *measure;
    TRY(new_array(b, bytes, &b->column));
    return bytes ? b->device.type->upload(&b->device, b->column, measure, bytes, &b->error) : LW_OK;
}

// All instances at the start of the model.
static lw_status start(lw_device_batch *b, const lw_model *m)
{
    const size_t n = (size_t)b->n;
    void *all = lwi_allocate(&b->allocator, b->bytes[LW_DEVICE_STATE]);
    if (!all) return lwi_fail(&b->error, LW_ERR_MEMORY, "no memory for %d states", b->n);
    for (int j = 0; j < b->rows[LW_DEVICE_STATE]; j++) {
        const double x = j < b->nq           ? m->tree_q0[j]
                         : j < b->nq + b->nv ? m->tree_v0[j - b->nq]
                                             : m->state0[j - b->nq - b->nv];
        for (size_t i = 0; i < n; i++)
            if (b->single)
                ((float *)all)[(size_t)j * n + i] = (float)x;
            else
                ((double *)all)[(size_t)j * n + i] = x;
    }
    const lw_status status = lw_device_batch_write(b, LW_DEVICE_STATE, all, false);
    lwi_release(&b->allocator, all);
    return status;
}

static lw_status build(lw_device_batch *b, const lw_model *model, const lw_device_batch_desc *desc)
{
    if (desc->instances < 1)
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "instances: %d, expected at least 1",
                        desc->instances);
    b->n = desc->instances, b->single = desc->single_precision;
    b->nq = model->tree_nq, b->nv = model->tree_nv, b->nx = model->nstate;
    b->nu = model->desc.ninput, b->nbody = model->nbody;
    TRY(find_device(b, desc->device));
    TRY(check_options(b, desc));
    TRY(check_model(b, model));
    TRY(check_measures(b, desc));
    TRY(open_device(b, model, desc));
    TRY(allocate(b, desc->measure));
    return start(b, model);
}

lw_status lw_device_batch_create(const lw_model *model, const lw_device_batch_desc *desc,
                                 lw_device_batch **batch, lw_error *error)
{
    LWI_DESC(lw_device_batch_desc, desc, error);
    if (!model || !desc || !batch)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, description or result is missing");
    lwi_arena arena; // an allocator that is NULL is malloc
    lwi_arena_init(&arena, desc->allocator);
    lw_device_batch *b = lwi_allocate(&arena.allocator, sizeof *b);
    if (!b) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a batch");
    *b = (lw_device_batch){.allocator = arena.allocator, .device.allocator = arena.allocator};
    const lw_status status = build(b, model, desc);
    if (status == LW_OK) {
        *batch = b;
        return LW_OK;
    }
    if (error) *error = b->error;
    lw_device_batch_destroy(b);
    return status;
}

void lw_device_batch_destroy(lw_device_batch *b)
{
    if (!b) return;
    const lwi_device_type *type = b->device.type;
    for (int k = 0; type && k < LW_DEVICE_ARRAYS; k++)
        if (b->array[k]) type->release(&b->device, b->array[k]);
    if (b->length) type->release(&b->device, b->length);
    if (b->column) type->release(&b->device, b->column);
    if (type) type->close(&b->device);
    const lw_allocator allocator = b->allocator;
    lwi_release(&allocator, b);
}

// ------------------------------------------------------------------------------------------- arrays

const char *lw_device_batch_name(const lw_device_batch *b)
{
    return b ? b->device.name : "";
}
double lw_device_batch_time(const lw_device_batch *b)
{
    return b ? b->time : 0;
}
const lw_error *lw_device_batch_error(const lw_device_batch *b)
{
    return b ? &b->error : NULL;
}

static bool is_array(lw_device_array array)
{
    return (int)array >= 0 && array < LW_DEVICE_ARRAYS;
}

lw_status lw_device_batch_view(const lw_device_batch *b, lw_device_array array,
                               lw_device_view *view)
{
    if (!b || !view || !is_array(array)) return LW_ERR_ARGUMENT;
    *view = (lw_device_view){.data = b->array[array],
                             .rows = b->rows[array],
                             .instances = b->n,
                             .integers = array == LW_DEVICE_STATUS || array == LW_DEVICE_STEPS,
                             .bits = 8 * (int)element_size(b, array),
                             .kind = b->device.type->kind,
                             .number = b->device.number};
    return LW_OK;
}

lw_status lw_device_batch_read(lw_device_batch *b, lw_device_array array, void *to)
{
    if (!b) return LW_ERR_ARGUMENT;
    if (!to || !is_array(array)) return lwi_fail(&b->error, LW_ERR_ARGUMENT, "there is no array");
    if (b->bytes[array] == 0) return LW_OK;
    return b->device.type->download(&b->device, to, b->array[array], b->bytes[array], &b->error);
}

lw_status lw_device_batch_write(lw_device_batch *b, lw_device_array array, const void *from,
                                bool on_device)
{
    if (!b) return LW_ERR_ARGUMENT;
    if (!from || !is_array(array)) return lwi_fail(&b->error, LW_ERR_ARGUMENT, "there is no array");
    if (b->bytes[array] == 0) return LW_OK;
    return (on_device ? b->device.type->copy : b->device.type->upload)(
        &b->device, b->array[array], from, b->bytes[array], &b->error);
}

// -------------------------------------------------------------------------------------------- runs

static lwi_cuda_run run_of(const lw_device_batch *b, int intervals, double length)
{
    const double steps = b->adaptive ? 1 : ceil(length / b->step - 1e-9);
    return (lwi_cuda_run){.instances = b->n,
                          .intervals = intervals,
                          .steps = steps < 1 ? 1 : (int)steps,
                          .max_steps = b->max_steps,
                          .ncolumn = b->nmeasure,
                          .nposition = b->positions,
                          .fresh = !b->measured,
                          .time = b->time,
                          .interval = length,
                          .rtol = b->rtol,
                          .atol = b->atol,
                          .state = b->array[LW_DEVICE_STATE],
                          .end = b->array[LW_DEVICE_END],
                          .status = b->array[LW_DEVICE_STATUS],
                          .count = b->array[LW_DEVICE_STEPS],
                          .length = b->length,
                          .column = b->column,
                          .measure = b->array[LW_DEVICE_MEASURE]};
}

lw_status lw_device_batch_close(lw_device_batch *b)
{
    if (!b) return LW_ERR_ARGUMENT;
    const lwi_cuda_run run = run_of(b, 0, 0);
    return b->device.type->launch(&b->device, LWI_KERNEL_CLOSE, &run, &b->error);
}

static lw_status launch(lw_device_batch *b, const lwi_cuda_run *run, double end)
{
    TRY(b->device.type->launch(&b->device, b->adaptive ? LWI_KERNEL_DOPRI54 : LWI_KERNEL_RK4, run,
                               &b->error));
    b->time = end;
    b->measured = true;
    return LW_OK;
}

static lw_status check_length(lw_device_batch *b, double length)
{
    if (!isfinite(length) || !(length > 0))
        return lwi_fail(&b->error, LW_ERR_ARGUMENT,
                        "interval of %g s: expected a length > 0, a time after %.10g", length,
                        b->time);
    if (!b->adaptive && !(length / b->step < INT_MAX))
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "interval of %g s: too many steps of %g s",
                        length, b->step);
    return LW_OK;
}

lw_status lw_device_batch_step(lw_device_batch *b, double time)
{
    if (!b) return LW_ERR_ARGUMENT;
    TRY(check_length(b, time - b->time));
    lwi_cuda_run run = run_of(b, 1, time - b->time);
    run.u = b->array[LW_DEVICE_INPUTS], run.tau = b->array[LW_DEVICE_EFFORTS];
    return launch(b, &run, time);
}

lw_status lw_device_batch_run(lw_device_batch *b, int intervals, double length, const void *inputs,
                              const void *efforts, void *trajectory)
{
    if (!b) return LW_ERR_ARGUMENT;
    if (intervals < 1)
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "intervals: %d, expected at least 1",
                        intervals);
    TRY(check_length(b, length));
    lwi_cuda_run run = run_of(b, intervals, length);
    run.u = inputs, run.tau = efforts, run.trajectory = trajectory;
    return launch(b, &run, b->time + intervals * length);
}
