// cuda.c -- a GPU by the driver of CUDA.
//
// The context is the primary one of the device, which other libraries in the process use, too.  Launches and copies are on
// the default stream, and a launch is waited for.
#include "compiled/cache.h"
#include "device/device.h"
#include "device/driver.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 128 }; // of a block, with up to 255 registers each
enum { OLDEST = 5 };    // compute capability

typedef struct gpu {
    lwi_cuda_driver driver;
    int device;
    bool retained;
    lwi_cuda_context *context;
    lwi_cuda_module *module;
    lwi_cuda_function *function[LWI_KERNELS];
} gpu;

static lw_status check(const gpu *g, int result, const char *what, lw_error *error)
{
    const char *reason = NULL;
    if (result == 0) return LW_OK;
    if (g->driver.error_string(result, &reason) != 0 || !reason) reason = "no reason given";
    return lwi_fail(error, result == LWI_CUDA_OUT_OF_MEMORY ? LW_ERR_MEMORY : LW_ERR_INTEGRATOR,
                    "device cuda: %s: %s (error %d)", what, reason, result);
}

static lwi_cuda_address address_of(const void *p)
{
    return (lwi_cuda_address)(uintptr_t)p;
}

// ------------------------------------------------------------------------------------------ opening

static lw_status find_device(lwi_device *d, gpu *g, int *major, int *minor, lw_error *error)
{
    int count = 0;
    const int result = g->driver.init(0);
    if (result != LWI_CUDA_NO_DEVICE) TRY(check(g, result, "the driver does not begin", error));
    if (result == 0) TRY(check(g, g->driver.device_count(&count), "no number of devices", error));
    if (d->number >= count)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "device cuda:%d: the driver has %d devices",
                        d->number, count);
    TRY(check(g, g->driver.device_get(&g->device, d->number), "no device", error));
    TRY(check(g, g->driver.device_name(d->name, sizeof d->name, g->device), "no name", error));
    TRY(check(g, g->driver.device_attribute(major, LWI_CUDA_MAJOR, g->device), "no capability",
              error));
    TRY(check(g, g->driver.device_attribute(minor, LWI_CUDA_MINOR, g->device), "no capability",
              error));
    if (*major >= OLDEST) return LW_OK;
    return lwi_fail(error, LW_ERR_UNSUPPORTED,
                    "device cuda:%d: %s has compute capability %d.%d: expected at least %d.0",
                    d->number, d->name, *major, *minor, OLDEST);
}

static lw_status load_kernels(gpu *g, const char *code, lw_error *error)
{
    TRY(check(g, g->driver.load(&g->module, code), "the code is not accepted", error));
    for (int i = 0; i < LWI_KERNELS; i++)
        TRY(check(g, g->driver.function(&g->function[i], g->module, lwi_device_kernel_names[i]),
                  lwi_device_kernel_names[i], error));
    return LW_OK;
}

// What was compiled before, else compiled and kept.
static lw_status find_kernels(gpu *g, const lwi_cache *cache, const lwi_nvrtc *nvrtc,
                              const char *source, int major, int minor,
                              const lw_allocator *allocator, lw_error *error)
{
    char key[LWI_SHA256_SIZE], *code = NULL;
    size_t size = 0;
    lwi_nvrtc_key(nvrtc, source, major, minor, key);
    lw_status status = LW_ERR_UNSUPPORTED;
    if (lwi_cache_read(cache, LWI_CACHE_GPU, key, allocator, &code, &size)) {
        status = load_kernels(g, code, NULL);
        lwi_release(allocator, code);
    }
    if (status == LW_OK) return LW_OK;
    TRY(lwi_nvrtc_compile(nvrtc, source, major, minor, allocator, &code, &size, error));
    status = load_kernels(g, code, error);
    if (status == LW_OK) lwi_cache_write(cache, LWI_CACHE_GPU, key, code, size);
    lwi_release(allocator, code);
    return status;
}

// The context of the caller's thread is as before when a call returns.
static lw_status enter(const gpu *g, lw_error *error)
{
    return check(g, g->driver.push(g->context), "no context", error);
}

static lw_status leave(const gpu *g, lw_status status)
{
    lwi_cuda_context *popped;
    g->driver.pop(&popped);
    return status;
}

static lw_status cuda_open(lwi_device *d, const lw_device_batch_desc *desc, const char *source,
                           lw_error *error)
{
    int major = 0, minor = 0;
    lwi_nvrtc nvrtc;
    gpu *g = d->own = lwi_allocate(&d->allocator, sizeof *g);
    if (!g) return lwi_fail(error, LW_ERR_MEMORY, "device cuda: no memory");
    memset(g, 0, sizeof *g);
    TRY(lwi_cuda_driver_load(&g->driver, error));
    TRY(find_device(d, g, &major, &minor, error));
    TRY(lwi_nvrtc_load(desc->nvrtc, &nvrtc, error));
    lwi_cache cache;
    TRY(lwi_cache_open(desc->cache, &cache, error));
    TRY(check(g, g->driver.retain(&g->context, g->device), "no context", error));
    g->retained = true;
    TRY(enter(g, error));
    return leave(g, find_kernels(g, &cache, &nvrtc, source, major, minor, &d->allocator, error));
}

static void cuda_close(lwi_device *d)
{
    gpu *g = d->own;
    if (!g) return;
    if (g->module && enter(g, NULL) == LW_OK) {
        g->driver.unload(g->module);
        leave(g, LW_OK);
    }
    if (g->retained) g->driver.release(g->device);
    lwi_release(&d->allocator, g);
    d->own = NULL;
}

// ------------------------------------------------------------------------------------------ memory

static lw_status cuda_allocate(lwi_device *d, size_t bytes, void **address, lw_error *error)
{
    const gpu *g = d->own;
    lwi_cuda_address found = 0;
    char what[80];
    snprintf(what, sizeof what, "no memory for %zu bytes", bytes);
    TRY(enter(g, error));
    const lw_status status = leave(g, check(g, g->driver.allocate(&found, bytes), what, error));
    *address = (void *)(uintptr_t)found;
    return status;
}

static void cuda_release(lwi_device *d, void *address)
{
    const gpu *g = d->own;
    if (!address || enter(g, NULL) != LW_OK) return;
    g->driver.free(address_of(address));
    leave(g, LW_OK);
}

static lw_status cuda_fill(lwi_device *d, void *to, size_t bytes, lw_error *error)
{
    const gpu *g = d->own;
    TRY(enter(g, error));
    return leave(g, check(g, g->driver.fill(address_of(to), 0, bytes), "no zeros", error));
}

static lw_status cuda_upload(lwi_device *d, void *to, const void *from, size_t bytes,
                             lw_error *error)
{
    const gpu *g = d->own;
    TRY(enter(g, error));
    return leave(g, check(g, g->driver.upload(address_of(to), from, bytes), "no copy", error));
}

static lw_status cuda_download(lwi_device *d, void *to, const void *from, size_t bytes,
                               lw_error *error)
{
    const gpu *g = d->own;
    TRY(enter(g, error));
    return leave(g, check(g, g->driver.download(to, address_of(from), bytes), "no copy", error));
}

static lw_status cuda_copy(lwi_device *d, void *to, const void *from, size_t bytes, lw_error *error)
{
    const gpu *g = d->own;
    TRY(enter(g, error));
    lw_status status =
        check(g, g->driver.copy(address_of(to), address_of(from), bytes), "no copy", error);
    // copies within the device may end after the call
    if (status == LW_OK) status = check(g, g->driver.synchronize(), "no copy", error);
    return leave(g, status);
}

static lw_status cuda_launch(lwi_device *d, lwi_device_kernel kernel, const lwi_cuda_run *run,
                             lw_error *error)
{
    const gpu *g = d->own;
    lwi_cuda_run argument = *run;
    void *arguments[] = {&argument};
    const unsigned blocks = ((unsigned)run->instances + THREADS - 1) / THREADS;
    TRY(enter(g, error));
    lw_status status = check(g,
                             g->driver.launch(g->function[kernel], blocks, 1, 1, THREADS, 1, 1, 0,
                                              NULL, arguments, NULL),
                             "the kernel does not begin", error);
    if (status == LW_OK) status = check(g, g->driver.synchronize(), "the kernel failed", error);
    return leave(g, status);
}

const lwi_device_type lwi_device_cuda = {
    2,         cuda_open,   cuda_close,    cuda_allocate, cuda_release,
    cuda_fill, cuda_upload, cuda_download, cuda_copy,     cuda_launch};
