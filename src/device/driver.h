// driver.h -- the CUDA driver and its compiler NVRTC, loaded where they are.
//
// Names, types and numbers are those of NVIDIA's documentation of both; nothing of them is needed to build the library.
#ifndef LWI_DEVICE_DRIVER_H
#define LWI_DEVICE_DRIVER_H

#include "base/base.h"
#include "base/sha256.h"

typedef unsigned long long lwi_cuda_address; ///< CUdeviceptr
typedef struct lwi_cuda_context lwi_cuda_context;
typedef struct lwi_cuda_module lwi_cuda_module;
typedef struct lwi_cuda_function lwi_cuda_function;
typedef struct lwi_nvrtc_program lwi_nvrtc_program;

enum { LWI_CUDA_MAJOR = 75, LWI_CUDA_MINOR = 76 }; ///< CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
enum { LWI_CUDA_OUT_OF_MEMORY = 2, LWI_CUDA_NO_DEVICE = 100 }; ///< CUDA_ERROR_...

/** Functions of libcuda: member, symbol, parameters; each returns a CUresult, 0 for success. */
#define LWI_CUDA_LIST(X)                                                                           \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(error_string, "cuGetErrorString", (int result, const char **text))                           \
    X(device_count, "cuDeviceGetCount", (int *count))                                              \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                       \
    X(device_name, "cuDeviceGetName", (char *name, int length, int device))                        \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))           \
    X(retain, "cuDevicePrimaryCtxRetain", (lwi_cuda_context * *context, int device))               \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int device))                                       \
    X(push, "cuCtxPushCurrent_v2", (lwi_cuda_context * context))                                   \
    X(pop, "cuCtxPopCurrent_v2", (lwi_cuda_context * *context))                                    \
    X(synchronize, "cuCtxSynchronize", (void))                                                     \
    X(load, "cuModuleLoadData", (lwi_cuda_module * *module, const void *image))                    \
    X(unload, "cuModuleUnload", (lwi_cuda_module * module))                                        \
    X(function, "cuModuleGetFunction",                                                             \
      (lwi_cuda_function * *function, lwi_cuda_module * module, const char *name))                 \
    X(allocate, "cuMemAlloc_v2", (lwi_cuda_address * address, size_t bytes))                       \
    X(free, "cuMemFree_v2", (lwi_cuda_address address))                                            \
    X(fill, "cuMemsetD8_v2", (lwi_cuda_address to, unsigned char value, size_t bytes))             \
    X(upload, "cuMemcpyHtoD_v2", (lwi_cuda_address to, const void *from, size_t bytes))            \
    X(download, "cuMemcpyDtoH_v2", (void *to, lwi_cuda_address from, size_t bytes))                \
    X(copy, "cuMemcpyDtoD_v2", (lwi_cuda_address to, lwi_cuda_address from, size_t bytes))         \
    X(launch, "cuLaunchKernel",                                                                    \
      (lwi_cuda_function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,            \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,        \
       void **arguments, void **extra))

/** Functions of libnvrtc; each returns an nvrtcResult, 0 for success. */
#define LWI_NVRTC_LIST(X)                                                                          \
    X(create, "nvrtcCreateProgram",                                                                \
      (lwi_nvrtc_program * *program, const char *source, const char *name, int nheader,            \
       const char *const *header, const char *const *header_name))                                 \
    X(destroy, "nvrtcDestroyProgram", (lwi_nvrtc_program * *program))                              \
    X(compile, "nvrtcCompileProgram",                                                              \
      (lwi_nvrtc_program * program, int noption, const char *const *option))                       \
    X(log_size, "nvrtcGetProgramLogSize", (lwi_nvrtc_program * program, size_t * size))            \
    X(log, "nvrtcGetProgramLog", (lwi_nvrtc_program * program, char *text))                        \
    X(version, "nvrtcVersion", (int *major, int *minor))                                           \
    X(code_size, "nvrtcGetCUBINSize", (lwi_nvrtc_program * program, size_t * size))                \
    X(code, "nvrtcGetCUBIN", (lwi_nvrtc_program * program, char *code))

typedef struct lwi_cuda_driver {
#define X(member, symbol, parameters) int(*member) parameters;
    LWI_CUDA_LIST(X)
#undef X
} lwi_cuda_driver;

typedef struct lwi_nvrtc {
#define X(member, symbol, parameters) int(*member) parameters;
    LWI_NVRTC_LIST(X)
#undef X
} lwi_nvrtc;

/** Loads libcuda.  It stays loaded until the program ends.
 *  @return LW_ERR_UNSUPPORTED: there is none, or it lacks a function */
lw_status lwi_cuda_driver_load(lwi_cuda_driver *driver, lw_error *error);
/** Loads libnvrtc, from `path` if that is not NULL. */
lw_status lwi_nvrtc_load(const char *path, lwi_nvrtc *nvrtc, lw_error *error);
/** The key of the code in the cache: of all on which it depends. */
void lwi_nvrtc_key(const lwi_nvrtc *nvrtc, const char *source, int major, int minor,
                   char key[LWI_SHA256_SIZE]);
/** Compiles for a compute capability.
 *  @param code  [size] out; the caller releases it (lwi_release)
 *  @return LW_ERR_UNSUPPORTED with the first lines of the compiler's log; LW_ERR_MEMORY */
lw_status lwi_nvrtc_compile(const lwi_nvrtc *nvrtc, const char *source, int major, int minor,
                            const lw_allocator *allocator, char **code, size_t *size,
                            lw_error *error);

#endif
