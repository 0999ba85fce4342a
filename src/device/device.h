// device.h -- what runs kernels: a GPU by its driver, or the processor.
#ifndef LWI_DEVICE_DEVICE_H
#define LWI_DEVICE_DEVICE_H

#include "codegen/cuda.h"

#include <linkwork/device.h>

typedef enum lwi_device_kernel {
    LWI_KERNEL_RK4,
    LWI_KERNEL_DOPRI54,
    LWI_KERNEL_CLOSE,
    LWI_KERNELS
} lwi_device_kernel;

/** Symbols of the kernels in generated text. */
extern const char *const lwi_device_kernel_names[LWI_KERNELS];

typedef struct lwi_device lwi_device;

/** A kind of device.  Addresses are those of the device; each function fails with a message in `error`. */
typedef struct lwi_device_type {
    int kind; ///< of DLPack
    lw_status (*open)(lwi_device *device, const lw_device_batch_desc *desc, const char *source,
                      lw_error *error);
    void (*close)(lwi_device *device); ///< also of one that was not opened completely
    lw_status (*allocate)(lwi_device *device, size_t bytes, void **address, lw_error *error);
    void (*release)(lwi_device *device, void *address);
    lw_status (*fill)(lwi_device *device, void *to, size_t bytes, lw_error *error); ///< with zeros
    lw_status (*upload)(lwi_device *device, void *to, const void *from, size_t bytes,
                        lw_error *error);
    lw_status (*download)(lwi_device *device, void *to, const void *from, size_t bytes,
                          lw_error *error);
    lw_status (*copy)(lwi_device *device, void *to, const void *from, size_t bytes,
                      lw_error *error);
    /** Waits for the end of the kernel. */
    lw_status (*launch)(lwi_device *device, lwi_device_kernel kernel, const lwi_cuda_run *run,
                        lw_error *error);
} lwi_device_type;

struct lwi_device {
    const lwi_device_type *type;
    int number;
    char name[128];
    void *own; ///< of its type
    lw_allocator allocator;
};

extern const lwi_device_type lwi_device_cuda, lwi_device_cpu;

#endif
