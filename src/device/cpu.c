// cpu.c -- the processor as a device: the same kernels, compiled by its compiler and kept as compiled models are.
#define _XOPEN_SOURCE 700
#include "base/file.h"
#include "base/sha256.h"
#include "compiled/cache.h"
#include "compiled/compiler.h"
#include "device/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct processor {
    void *library;
    void (*kernel[LWI_KERNELS])(lwi_cuda_run run);
} processor;

static lw_status load(processor *p, const char *path, lw_error *error)
{
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

static lw_status build_in(const char *folder, const char *source, const lwi_compiler *compiler,
                          char object[LWI_CACHE_PATH + 16], lw_error *error)
{
    char path[LWI_CACHE_PATH + 16], log[LWI_CACHE_PATH + 16];
    const char *const paths[] = {path, NULL};
    FILE *file;
    snprintf(path, sizeof path, "%s/kernels.c", folder);
    snprintf(object, LWI_CACHE_PATH + 16, "%s/model.so", folder);
    snprintf(log, sizeof log, "%s/messages", folder);
    TRY(lwi_open_output_stream(path, &file, error));
    fputs(source, file);
    TRY(lwi_close_output(file, path, error));
    return lwi_compiler_build(compiler, paths, object, log, error);
}

static lw_status cpu_open(lwi_device *d, const lw_device_batch_desc *desc, const char *source,
                          lw_error *error)
{
    char key[LWI_SHA256_SIZE], path[LWI_CACHE_PATH], folder[LWI_CACHE_PATH],
        object[LWI_CACHE_PATH + 16];
    lwi_compiler compiler;
    lwi_cache cache;
    lwi_sha256 hash;
    processor *p = d->own = lwi_allocate(&d->allocator, sizeof *p);
    if (!p) return lwi_fail(error, LW_ERR_MEMORY, "device cpu: no memory");
    memset(p, 0, sizeof *p);
    TRY(lwi_compiler_find(desc->compiler, &compiler, error));
    TRY(lwi_cache_open(desc->cache, &cache, error));
    lwi_sha256_begin(&hash);
    lwi_sha256_add(&hash, source, strlen(source) + 1);
    lwi_compiler_add(&compiler, &hash);
    lwi_sha256_end(&hash, key);
    snprintf(d->name, sizeof d->name, "%s", "processor");
    if (lwi_cache_find(&cache, key, path) && load(p, path, NULL) == LW_OK) return LW_OK;
    TRY(lwi_cache_begin(&cache, folder, error));
    lw_status status = build_in(folder, source, &compiler, object, error);
    if (status == LW_OK) {
        lwi_cache_keep(&cache, key, object, path);
        status = load(p, path, error);
    }
    lwi_cache_end(folder); // what is loaded stays in memory
    return status;
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
