// module.c -- loading parts of the library.
#include "base/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// The file of the module, in the folder of the file that contains this code.
static bool find_file(const char *name, char *path, size_t size)
{
    static const char here = 0;
    Dl_info about;
    if (!dladdr(&here, &about) || !about.dli_fname) return false;
    const char *slash = strrchr(about.dli_fname, '/');
    const int folder = slash ? (int)(slash - about.dli_fname) : 1;
    const int n =
        snprintf(path, size, "%.*s/linkwork/%s.so", folder, slash ? about.dli_fname : ".", name);
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
