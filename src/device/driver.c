// driver.c -- loading libcuda and libnvrtc, and compiling.
#include "device/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct symbol {
    const char *name;
    size_t offset; // of the pointer in the struct
} symbol;

static lw_status find_all(void *library, const char *what, const symbol *list, int n,
                          void *functions, lw_error *error)
{
    for (int i = 0; i < n; i++) {
        void *found = dlsym(library, list[i].name);
        if (!found)
            return lwi_fail(
                error, LW_ERR_UNSUPPORTED,
                "device cuda: %s has no function %s: expected that of CUDA 11.1 or later", what,
                list[i].name);
        memcpy((char *)functions + list[i].offset, &found,
               sizeof found); // ISO C converts no functions
    }
    return LW_OK;
}

lw_status lwi_cuda_driver_load(lwi_cuda_driver *driver, lw_error *error)
{
#define X(member, symbol, parameters) {symbol, offsetof(lwi_cuda_driver, member)},
    static const symbol list[] = {LWI_CUDA_LIST(X)};
#undef X
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "device cuda: there is no NVIDIA driver here: %s", dlerror());
    return find_all(library, "libcuda.so.1", list, LWI_COUNT(list), driver, error);
}

lw_status lwi_nvrtc_load(const char *path, lwi_nvrtc *nvrtc, lw_error *error)
{
#define X(member, symbol, parameters) {symbol, offsetof(lwi_nvrtc, member)},
    static const symbol list[] = {LWI_NVRTC_LIST(X)};
#undef X
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "libnvrtc.so"};
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (int i = 0; !path && !library && i < LWI_COUNT(names); i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return lwi_fail(
            error, LW_ERR_UNSUPPORTED,
            "device cuda: there is no NVRTC, the compiler of CUDA: %s: expected that of a CUDA "
            "toolkit, or `pip install nvidia-cuda-nvrtc-cu12`",
            dlerror());
    return find_all(library, path ? path : "libnvrtc", list, LWI_COUNT(list), nvrtc, error);
}

// The first lines of the log.
static lw_status refuse(const lwi_nvrtc *nvrtc, lwi_nvrtc_program *program, int result,
                        const lw_allocator *allocator, lw_error *error)
{
    size_t size = 0;
    char *log = NULL;
    if (nvrtc->log_size(program, &size) == 0 && size > 0) log = lwi_allocate(allocator, size);
    if (log && nvrtc->log(program, log) != 0) log[0] = 0;
    lwi_fail(error, LW_ERR_UNSUPPORTED,
             "device cuda: NVRTC cannot compile the model (error %d): %.300s", result,
             log ? log : "");
    lwi_release(allocator, log);
    return LW_ERR_UNSUPPORTED;
}

static lw_status take_code(const lwi_nvrtc *nvrtc, lwi_nvrtc_program *program,
                           const lw_allocator *allocator, char **code, size_t *size,
                           lw_error *error)
{
    *size = 0;
    int result = nvrtc->code_size(program, size);
    if (result != 0 || *size == 0)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "device cuda: NVRTC has no code (error %d)",
                        result);
    *code = lwi_allocate(allocator, *size);
    if (!*code) return lwi_fail(error, LW_ERR_MEMORY, "device cuda: no memory for the code");
    result = nvrtc->code(program, *code);
    if (result == 0) return LW_OK;
    lwi_release(allocator, *code);
    return lwi_fail(error, LW_ERR_UNSUPPORTED, "device cuda: NVRTC has no code (error %d)", result);
}

enum { ARCHITECTURE = 48 };

static void name_architecture(int major, int minor, char name[ARCHITECTURE])
{
    snprintf(name, ARCHITECTURE, "--gpu-architecture=sm_%d%d", major, minor);
}

void lwi_nvrtc_key(const lwi_nvrtc *nvrtc, const char *source, int major, int minor,
                   char key[LWI_SHA256_SIZE])
{
    char architecture[ARCHITECTURE], version[48] = "NVRTC";
    int number[2] = {0};
    lwi_sha256 hash;
    name_architecture(major, minor, architecture);
    if (nvrtc->version(&number[0], &number[1]) == 0)
        snprintf(version, sizeof version, "NVRTC %d.%d", number[0], number[1]);
    lwi_sha256_begin(&hash);
    lwi_sha256_add(&hash, source, strlen(source) + 1);
    lwi_sha256_add(&hash, architecture, strlen(architecture) + 1);
    lwi_sha256_add(&hash, version, strlen(version) + 1);
    lwi_sha256_end(&hash, key);
}

lw_status lwi_nvrtc_compile(const lwi_nvrtc *nvrtc, const char *source, int major, int minor,
                            const lw_allocator *allocator, char **code, size_t *size,
                            lw_error *error)
{
    char architecture[ARCHITECTURE];
    name_architecture(major, minor, architecture);
    const char *const options[] = {architecture};
    lwi_nvrtc_program *program;
    int result = nvrtc->create(&program, source, "model.cu", 0, NULL, NULL);
    if (result != 0)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "device cuda: NVRTC does not begin (error %d)",
                        result);
    result = nvrtc->compile(program, LWI_COUNT(options), options);
    const lw_status status = result == 0 ? take_code(nvrtc, program, allocator, code, size, error)
                                         : refuse(nvrtc, program, result, allocator, error);
    nvrtc->destroy(&program);
    return status;
}
