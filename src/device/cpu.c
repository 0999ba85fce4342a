// cpu.c -- the processor as a device: the same kernels, compiled by its compiler and kept as compiled models are.
#define _XOPEN_SOURCE 700
#include "base/sha256.h"
#include "compiled/build.h"
#include "device/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct processor {
    void *library;
    void (*kernel[LWI_KERNELS])(lwi_cuda_run run);
} processor;

static lw_status load(void *object, const char *path, lw_error *error)
{
    processor *p = object;
    p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; p->library && i < LWI_KERNELS; i++) {
        void *found = dlsym(p->library, lwi_device_kernel_names[i]);
        if (!found) break;
        memcpy(&p->kernel[i], &found, sizeof found); // ISO C converts no functions
    }
    if (p->library && p->kernel[LWI_KERNELS - 1]) return LW_OK;
    const char *reason = dlerror();
    const lw_status status =
        lwi_fail(error, LW_ERR_UNSUPPORTED, "device cpu: %s cannot be loaded: %s", path,
                 reason ? reason : "no reason given");
    if (p->library) dlclose(p->library); // the reason is gone then
    p->library = NULL;
    return status;
}

static lw_status cpu_open(lwi_device *d, const lw_device_batch_desc *desc, const char *source,
                          lw_error *error)
{
    const lwi_source_file file = {.name = "kernels.c", .text = source};
    char key[LWI_SHA256_SIZE], path[LWI_CACHE_PATH];
    lwi_compiler compiler;
    lwi_cache cache;
    lwi_sha256 hash;
    processor *p = d->own = lwi_allocate(&d->allocator, sizeof *p);
    if (!p) return lwi_fail(error, LW_ERR_MEMORY, "device cpu: no memory");
    memset(p, 0, sizeof *p);
    TRY(lwi_cache_open(desc->cache, &cache, error));
    TRY(lwi_compiler_find(desc->compiler, &cache, &compiler, error));
    lwi_sha256_begin(&hash);
    lwi_sha256_add(&hash, source, strlen(source) + 1);
    lwi_compiler_add(&compiler, &hash);
    lwi_sha256_end(&hash, key);
    snprintf(d->name, sizeof d->name, "%s", "processor");
    if (lwi_cache_find(&cache, key, path) && load(p, path, NULL) == LW_OK) return LW_OK;
    return lwi_build(&file, 1, &compiler, &cache, key, load, p, error);
}

static void cpu_close(lwi_device *d)
{
    processor *p = d->own;
    if (p && p->library) dlclose(p->library);
    lwi_release(&d->allocator, p);
    d->own = NULL;
}

static lw_status cpu_allocate(lwi_device *d, size_t bytes, void **address, lw_error *error)
{
    *address = lwi_allocate(&d->allocator, bytes);
    return *address ? LW_OK
                    : lwi_fail(error, LW_ERR_MEMORY, "device cpu: no memory for %zu bytes", bytes);
}

static void cpu_release(lwi_device *d, void *address)
{
    lwi_release(&d->allocator, address);
}

static lw_status cpu_fill(lwi_device *d, void *to, size_t bytes, lw_error *error)
{
    (void)d, (void)error;
    memset(to, 0, bytes);
    return LW_OK;
}

static lw_status cpu_copy(lwi_device *d, void *to, const void *from, size_t bytes, lw_error *error)
{
    (void)d, (void)error;
    memmove(to, from, bytes);
    return LW_OK;
}

static lw_status cpu_launch(lwi_device *d, lwi_device_kernel kernel, const lwi_cuda_run *run,
                            lw_error *error)
{
    const processor *p = d->own;
    (void)error;
    p->kernel[kernel](*run);
    return LW_OK;
}

const lwi_device_type lwi_device_cpu = {1,        cpu_open, cpu_close, cpu_allocate, cpu_release,
                                        cpu_fill, cpu_copy, cpu_copy,  cpu_copy,     cpu_launch};
