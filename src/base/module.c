// module.c -- loading parts of the library.
#include "base/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The folder of the file that contains this code, found when it is loaded: its path may be relative to the folder in which
// the program began.  Links to the file are followed.
static char *folder;

__attribute__((constructor)) static void find_folder(void)
{
    static const char here = 0;
    Dl_info about;
    if (!dladdr(&here, &about) || !about.dli_fname) return;
    folder = realpath(about.dli_fname, NULL);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash) *slash = 0;
}

__attribute__((destructor)) static void free_folder(void)
{
    free(folder);
}

static bool find_file(const char *name, char *path, size_t size)
{
    const int n = folder ? snprintf(path, size, "%s/linkwork/%s.so", folder, name) : 0;
    return n > 0 && (size_t)n < size;
}

static void fail(lwi_module *m, const char *reason)
{
    snprintf(m->reason, sizeof m->reason, "%s", reason ? reason : "no reason given");
}

void lwi_module_load(lwi_module *m)
{
    char path[4096];
    if (!find_file(m->name, path, sizeof path)) {
        fail(m, "the folder of the library is not known");
        return;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *const *version = module ? dlsym(module, LWI_MODULE_SYMBOL) : NULL;
    if (!version)
        fail(m, dlerror());
    else if (strcmp(*version, lw_version()) != 0)
        snprintf(m->reason, sizeof m->reason, "%.200s is of version %.20s", path, *version);
    else
        m->functions = version;
}

lw_status lwi_module_check(const lwi_module *m, lw_error *error)
{
    if (m->functions) return LW_OK;
    return lwi_fail(error, LW_ERR_UNSUPPORTED,
                    "%s need a part of Linkwork that cannot be loaded: %s", m->what, m->reason);
}
