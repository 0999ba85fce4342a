// scratch.h -- a folder for the files of a test, the current one while the group of tests runs.
#ifndef LWT_SCRATCH_H
#define LWT_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char lwt_scratch_folder[] = "/tmp/lw_scratch_XXXXXX", lwt_scratch_before[4096];

static inline void lwt_remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char name[4096];
        struct stat s;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        if (snprintf(name, sizeof name, "%s/%s", path, e->d_name) >= (int)sizeof name) continue;
        if (lstat(name, &s) == 0 && S_ISDIR(s.st_mode))
            lwt_remove_folder(name);
        else
            remove(name);
    }
    if (folder) closedir(folder);
    rmdir(path);
}

/** Setup and teardown of a group of tests. */
static int lwt_scratch_enter(void **state)
{
    (void)state;
    if (!getcwd(lwt_scratch_before, sizeof lwt_scratch_before)) return -1;
    return mkdtemp(lwt_scratch_folder) && chdir(lwt_scratch_folder) == 0 ? 0 : -1;
}

static int lwt_scratch_leave(void **state)
{
    (void)state;
    if (chdir(lwt_scratch_before) != 0) return -1;
    lwt_remove_folder(lwt_scratch_folder);
    return 0;
}

#endif
