// fake_cuda.c -- stands for NVIDIA's driver and NVRTC in tests: programs are compiled for the processor and kernels run there.
//
// Built as libcuda.so.1 and as libnvrtc.so.12.  Addresses of the device are no addresses of the processor; calls need a context;
// all that is created must be destroyed.  The environment makes it fail:
//   FAKE_CUDA_DEVICES=0         no device                  FAKE_CUDA_MAJOR=3       compute capability 3.0
//   FAKE_CUDA_BYTES=1000        memory of the device       FAKE_CUDA_BROKEN=1      NVRTC reports an error
//   FAKE_CUDA_LAUNCH=719        kernels fail
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long address;
static const address OFFSET = 1ULL << 62;
enum { HEAD = 32 }; // bytes before the object in the code of NVRTC
enum { DONE = 0, BAD = 1, NO_MEMORY = 2, NO_DEVICE = 100, UNBOUND = 201, BLOCKS = 256 };

static long setting(const char *name, long otherwise)
{
    const char *found = getenv(name);
    return found ? atol(found) : otherwise;
}

// ------------------------------------------------------------------------------------------ driver

static int depth, retained, modules, blocks;
static long used;
static struct {
    void *at;
    long bytes;
} block[BLOCKS];

/** What is not destroyed: contexts, modules, memory. */
int fake_cuda_left(void)
{
    return depth + retained + modules + blocks;
}

static void *local(const void *device)
{
    return device ? (void *)((uintptr_t)device - OFFSET) : NULL;
}

int cuInit(unsigned flags)
{
    return flags != 0 ? BAD : setting("FAKE_CUDA_DEVICES", 1) > 0 ? DONE : NO_DEVICE;
}
int cuGetErrorString(int result, const char **text)
{
    *text = result == NO_MEMORY ? "out of memory"
            : result == UNBOUND ? "invalid device context"
                                : "some error";
    return DONE;
}
int cuDeviceGetCount(int *count)
{
    *count = (int)setting("FAKE_CUDA_DEVICES", 1);
    return DONE;
}
int cuDeviceGet(int *device, int ordinal)
{
    *device = 40 + ordinal; // a handle is no number
    return ordinal < setting("FAKE_CUDA_DEVICES", 1) ? DONE : 101;
}
int cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "Fake %d", device);
    return device >= 40 ? DONE : 101;
}
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? (int)setting("FAKE_CUDA_MAJOR", 9) : 0;
    return device >= 40 && (attribute == 75 || attribute == 76) ? DONE : BAD;
}
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &retained;
    retained++;
    return device >= 40 ? DONE : 101;
}
int cuDevicePrimaryCtxRelease_v2(int device)
{
    retained--;
    return device >= 40 ? DONE : 101;
}
int cuCtxPushCurrent_v2(void *context)
{
    depth++;
    return context == &retained && retained > 0 ? DONE : UNBOUND;
}
int cuCtxPopCurrent_v2(void **context)
{
    *context = &retained;
    depth--;
    return DONE;
}
int cuCtxSynchronize(void)
{
    return depth == 1 ? DONE : UNBOUND;
}
int cuModuleLoadData(void **module, const void *image)
{
    char path[] = "/tmp/fake-cuda-XXXXXX";
    long size;
    if (depth != 1) return UNBOUND;
    if (sscanf(image, "\177ELF %ld", &size) != 1) return 200;
    const int file = mkstemp(path);
    if (file < 0 || write(file, (const char *)image + HEAD, (size_t)size) != size) return 200;
    close(file);
    *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*module) return 200;
    unlink(path);
    modules++;
    return DONE;
}
int cuModuleUnload(void *module)
{
    modules--;
    return depth == 1 && dlclose(module) == 0 ? DONE : UNBOUND;
}
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = dlsym(module, name);
    return *function ? DONE : 500;
}
int cuMemAlloc_v2(address *to, size_t bytes)
{
    if (depth != 1) return UNBOUND;
    if (bytes == 0 || blocks == BLOCKS) return BAD;
    if (used + (long)bytes > setting("FAKE_CUDA_BYTES", 1L << 40)) return NO_MEMORY;
    void *at = malloc(bytes);
    memset(at, 0x5a, bytes);
    used += (long)bytes;
    block[blocks].at = at, block[blocks++].bytes = (long)bytes;
    *to = (address)(uintptr_t)at + OFFSET;
    return DONE;
}
int cuMemFree_v2(address at)
{
    for (int i = 0; i < blocks && depth == 1; i++) {
        if (block[i].at != local((void *)(uintptr_t)at)) continue;
        free(block[i].at);
        used -= block[i].bytes;
        block[i] = block[--blocks];
        return DONE;
    }
    return BAD;
}
static int within(address at, size_t bytes)
{
    const char *p = local((void *)(uintptr_t)at);
    for (int i = 0; i < blocks && depth == 1; i++) {
        const char *from = block[i].at;
        if (p >= from && p + bytes <= from + block[i].bytes) return 1;
    }
    return 0;
}
int cuMemsetD8_v2(address to, unsigned char value, size_t bytes)
{
    if (!within(to, bytes)) return BAD;
    memset(local((void *)(uintptr_t)to), value, bytes);
    return DONE;
}
int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
    if (!within(to, bytes)) return BAD;
    memcpy(local((void *)(uintptr_t)to), from, bytes);
    return DONE;
}
int cuMemcpyDtoH_v2(void *to, address from, size_t bytes)
{
    if (!within(from, bytes)) return BAD;
    memcpy(to, local((void *)(uintptr_t)from), bytes);
    return DONE;
}
int cuMemcpyDtoD_v2(address to, address from, size_t bytes)
{
    if (!within(to, bytes) || !within(from, bytes)) return BAD;
    memmove(local((void *)(uintptr_t)to), local((void *)(uintptr_t)from), bytes);
    return DONE;
}

// The argument of the kernels (src/codegen/cuda.h).
typedef struct run {
    int instances, other[6];
    double number[4];
    void *pointer[10];
} run;

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
    void (*kernel)(run);
    run r;
    memcpy(&r, arguments[0], sizeof r);
    memcpy(&kernel, &function, sizeof kernel);
    if (depth != 1) return UNBOUND;
    if (gy != 1 || gz != 1 || by != 1 || bz != 1 || shared || stream || extra || bx > 1024)
        return BAD;
    if ((size_t)gx * bx < (size_t)r.instances || (size_t)(gx - 1) * bx >= (size_t)r.instances)
        return BAD;
    if (setting("FAKE_CUDA_LAUNCH", 0)) return (int)setting("FAKE_CUDA_LAUNCH", 0);
    for (int i = 0; i < 10; i++) {
        if (r.pointer[i] && !within((address)(uintptr_t)r.pointer[i], 1)) return BAD;
        r.pointer[i] = local(r.pointer[i]);
    }
    kernel(r);
    return DONE;
}

// ------------------------------------------------------------------------------------------ NVRTC

typedef struct program {
    char *source, object[64];
} program;

int nvrtcCreateProgram(program **p, const char *source, const char *name, int n,
                       const char *const *h, const char *const *names)
{
    *p = calloc(1, sizeof **p);
    (*p)->source = strdup(source);
    return name && n == 0 && !h && !names ? 0 : 2;
}
int nvrtcDestroyProgram(program **p)
{
    unlink((*p)->object);
    free((*p)->source);
    free(*p);
    *p = NULL;
    return 0;
}
int nvrtcCompileProgram(program *p, int n, const char *const *option)
{
    char text[64] = "/tmp/fake-cuda-XXXXXX", command[400];
    if (n != 1 || strncmp(option[0], "--gpu-architecture=sm_", 22) != 0) return 5;
    if (setting("FAKE_CUDA_BROKEN", 0)) return 6;
    const int file = mkstemp(text);
    if (file < 0 || write(file, p->source, strlen(p->source)) < 0) return 11;
    close(file);
    snprintf(p->object, sizeof p->object, "%s.so", text);
    snprintf(command, sizeof command,
             "%s -std=c17 -O1 -ffp-contract=off -fPIC -shared -w -x c %s -o %s -lm",
             getenv("CC") ? getenv("CC") : "cc", text, p->object);
    const int failed = system(command);
    unlink(text);
    return failed ? 6 : 0;
}
static const char words[] = "model.cu(1): error: this is what the compiler says";
int nvrtcGetProgramLogSize(program *p, size_t *size)
{
    (void)p;
    *size = sizeof words;
    return 0;
}
int nvrtcGetProgramLog(program *p, char *text)
{
    (void)p;
    memcpy(text, words, sizeof words);
    return 0;
}
int nvrtcGetCUBINSize(program *p, size_t *size)
{
    FILE *file = fopen(p->object, "rb");
    if (!file) return 11;
    fseek(file, 0, SEEK_END);
    *size = HEAD + (size_t)ftell(file);
    fclose(file);
    return 0;
}
int nvrtcGetCUBIN(program *p, char *code)
{
    size_t size;
    FILE *file = fopen(p->object, "rb");
    if (!file || nvrtcGetCUBINSize(p, &size) != 0) return 11;
    snprintf(code, HEAD, "\177ELF %ld", (long)(size - HEAD));
    const size_t got = fread(code + HEAD, 1, size - HEAD, file);
    fclose(file);
    return got == size - HEAD ? 0 : 11;
}
int nvrtcVersion(int *major, int *minor)
{
    *major = 12;
    *minor = (int)setting("FAKE_CUDA_MINOR", 4);
    return 0;
}
