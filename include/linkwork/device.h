// device.h -- many instances of one model in one launch: kernels generated for the model (codegen.h), run by a GPU, or by the
// processor.
//
// All arrays stay on the device, with the instances side by side: [rows][instances].
#ifndef LINKWORK_DEVICE_H
#define LINKWORK_DEVICE_H

#include <linkwork/model.h>
#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_device_batch lw_device_batch; ///< used by one thread at a time

typedef struct lw_device_batch_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    /** "cuda", "cuda:1": a GPU by its number, with NVIDIA's driver and NVRTC; "cpu": the processor, with its compiler;
     *  NULL: cuda */
    const char *device;
    int instances;         ///< at least 1
    bool single_precision; ///< floats in place of doubles
    /** NULL: defaults.  The integrators are `dopri54` (auto) with rtol, atol, max_steps, and `rk4` with the largest `step` */
    const lw_options *options;
    int nmeasure;
    const int
        *measure; ///< [nmeasure] what is measured: entries of (q, v, x, mass centres [nbody][3])
    const char *nvrtc;    ///< of cuda: path of the library; NULL: as the loader finds it
    const char *compiler; ///< of cpu: as of lw_compiled_desc
    const char *cache;    ///< of compiled kernels, as of lw_compiled_desc
    const lw_allocator *allocator;
} lw_device_batch_desc;

/** The arrays, and their rows.  Numbers are doubles or floats; `end` is doubles, `status` and `steps` are int32. */
typedef enum lw_device_array {
    LW_DEVICE_STATE,  ///< [tree nq + tree nv + nstate] q, v, x
    LW_DEVICE_INPUTS, ///< [inputs] of lw_device_batch_step; zeros at first
    LW_DEVICE_EFFORTS, ///< [tree nv] of lw_device_batch_step, added to those of the model; zeros at first
    LW_DEVICE_END, ///< [1] time of the state of each instance
    LW_DEVICE_STATUS, ///< [1] 0; else why the instance makes no more steps (docs/codegen.md); may be set to 0
    LW_DEVICE_STEPS, ///< [1] so far
    LW_DEVICE_MEASURE, ///< [nmeasure][3] minimum, maximum, integral over time, since the start of the batch
    LW_DEVICE_ARRAYS
} lw_device_array;

typedef struct lw_device_view {
    void *data;          ///< address on the device; NULL: the array has no rows
    int rows, instances; ///< C order
    bool integers;
    int bits;         ///< of a number
    int kind, number; ///< of the device, as in DLPack: 1 the processor, 2 a CUDA GPU
} lw_device_view;

/** Generates and compiles the kernels; all instances are at the start of the model, t = 0.
 *  @return LW_ERR_UNSUPPORTED: of what no code is generated; events, impulses, rates of prescribed motions that jump; an
 *          option that kernels do not have; there is no driver, no compiler, no such device, or it is too old; LW_ERR_MEMORY: also of
 *          the device */
LW_API lw_status lw_device_batch_create(const lw_model *model, const lw_device_batch_desc *desc,
                                        lw_device_batch **batch, lw_error *error);
LW_API void lw_device_batch_destroy(lw_device_batch *batch);
LW_API const char *lw_device_batch_name(const lw_device_batch *batch); ///< of the device
LW_API double lw_device_batch_time(const lw_device_batch *batch);      ///< common to all

/** @return LW_ERR_ARGUMENT: there is no such array */
LW_API lw_status lw_device_batch_view(const lw_device_batch *batch, lw_device_array array,
                                      lw_device_view *view);
/** Copies an array to or from the memory of the caller; `write` also from an address of the device. */
LW_API lw_status lw_device_batch_read(lw_device_batch *batch, lw_device_array array, void *to);
LW_API lw_status lw_device_batch_write(lw_device_batch *batch, lw_device_array array,
                                       const void *from, bool on_device);

/** Changes the dependent coordinates and speeds of all states so that they satisfy the loops.  An instance that cannot be
 *  closed has a status. */
LW_API lw_status lw_device_batch_close(lw_device_batch *batch);
/** Integrates all instances to `time`, with the present inputs and efforts.  Those that fail have a status, which is no failure
 *  of the call.      @return LW_ERR_ARGUMENT: not after the present time; LW_ERR_INTEGRATOR: the device failed */
LW_API lw_status lw_device_batch_step(lw_device_batch *batch, double time);
/** The same over many intervals in one launch; arrays are addresses of the device.
 *  @param length      of an interval [s]
 *  @param inputs      [intervals][inputs][instances], constant in an interval; NULL: zeros
 *  @param efforts     [intervals][tree nv][instances], likewise
 *  @param trajectory  [intervals][tree nq + tree nv + nstate][instances] out, at the end of each, of an instance that
 *                     ended before it its last state; NULL: not wanted */
LW_API lw_status lw_device_batch_run(lw_device_batch *batch, int intervals, double length,
                                     const void *inputs, const void *efforts, void *trajectory);
LW_API const lw_error *
lw_device_batch_error(const lw_device_batch *batch); ///< of the last failed call

#ifdef __cplusplus
}
#endif
#endif
