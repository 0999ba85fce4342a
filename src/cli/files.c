// files.c -- files that are written: an existing file is kept until the new one is complete, and
// nothing that is read is written over.
#define _XOPEN_SOURCE 700
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct place {
    char file[PATH_MAX + 8];      ///< links followed
    char temporary[PATH_MAX + 8]; ///< where it is written first; "": nowhere, the file at once
    bool exists;                  ///< there is a file already
    struct stat old;
} place;

// A pipe or a device is written to directly, a file under a temporary name in the same folder.
static place place_of(const char *path)
{
    place p = {.exists = !stat(path, &p.old)};
    char *real = p.exists ? realpath(path, NULL) : NULL;
    snprintf(p.file, sizeof p.file, "%s", real ? real : path);
    free(real);
    const int n = snprintf(p.temporary, sizeof p.temporary, "%s.part", p.file);
    if (n < 0 || n >= (int)sizeof p.temporary || (p.exists && !S_ISREG(p.old.st_mode)))
        p.temporary[0] = 0;
    return p;
}

// The temporary file, which a signal that ends the program removes.
static char unfinished[PATH_MAX + 8];

static void remove_unfinished(int number)
{
    unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number); // when this function has returned
}

static void on_signals(void (*now)(int), void (*then)(int))
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < (int)(sizeof number / sizeof number[0]); i++) {
        struct sigaction action;
        if (!sigaction(number[i], NULL, &action) && action.sa_handler == now)
            signal(number[i], then);
    }
}

cli_exit cli_open(const cli_arguments *arguments, FILE **file)
{
    if (arguments->noutput > 1)
        return cli_complain(CLI_USE, "%s writes one file, -o was given %d times", arguments->verb,
                            arguments->noutput);
    *file = stdout;
    if (!arguments->noutput) return CLI_DONE;
    const char *path = arguments->output[0];
    place p = place_of(path);
    // a file that may not be written is not replaced either, and in a folder that takes no other
    // file it is written in its place
    if (p.temporary[0] && p.exists && access(p.file, W_OK)) p.temporary[0] = 0;
    *file = p.temporary[0] ? fopen(p.temporary, "w") : NULL;
    if (*file) {
        memcpy(unfinished, p.temporary, sizeof unfinished);
        on_signals(SIG_DFL, remove_unfinished);
    }
    if (!*file)
        *file = fopen(path, "w");
    else if (p.exists)
        (void)!fchmod(fileno(*file), p.old.st_mode & 07777);
    if (*file) return CLI_DONE;
    return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
}

// The open file is the temporary one.
static bool is_beside(const place *p, FILE *file)
{
    struct stat open, temporary;
    return p->temporary[0] && !fstat(fileno(file), &open) && !stat(p->temporary, &temporary) &&
           open.st_dev == temporary.st_dev && open.st_ino == temporary.st_ino;
}

cli_exit cli_close(const cli_arguments *arguments, FILE *file, bool whole)
{
    if (!arguments->noutput)
        return ferror(file) | fflush(file)
                   ? cli_complain(CLI_FAILED, "standard output: cannot be written whole")
                   : CLI_DONE;
    const char *path = arguments->output[0];
    const place p = place_of(path);
    const bool temporary = is_beside(&p, file);
    on_signals(remove_unfinished, SIG_DFL);
    const int failed = ferror(file) | fflush(file) | fclose(file);
    const bool put = whole && !failed && (!temporary || !rename(p.temporary, p.file));
    if (!put && (temporary || (p.exists && S_ISREG(p.old.st_mode))))
        remove(temporary ? p.temporary : p.file);
    if (put || (!whole && !failed)) return CLI_DONE;
    return cli_complain(CLI_FAILED, "%s: cannot be written whole", path);
}

// ----------------------------------------------------------------------------------------- results

// Two names of one file, also of one that is not there yet.
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (!strcmp(a, b)) return true;
    if (!stat(a, &x) && !stat(b, &y)) return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    if (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) != 0) return false;
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    snprintf(folder_a, sizeof folder_a, "%.*s", slash_a ? (int)(slash_a - a + 1) : 1,
             slash_a ? a : ".");
    snprintf(folder_b, sizeof folder_b, "%.*s", slash_b ? (int)(slash_b - b + 1) : 1,
             slash_b ? b : ".");
    return !stat(folder_a, &x) && !stat(folder_b, &y) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

cli_exit cli_check_results(const cli_arguments *arguments)
{
    const char *read[] = {arguments->operand, arguments->initial, arguments->batch};
    for (int i = 0; i < arguments->noutput; i++) {
        const char *file = arguments->output[i];
        if (!cli_ends_in(file, ".csv") && !cli_ends_in(file, ".h5"))
            return cli_complain(CLI_USE, "%s: results are written as .h5 or .csv", file);
        for (int k = 0; k < (int)(sizeof read / sizeof read[0]); k++)
            if (read[k] && same_file(file, read[k]))
                return cli_complain(CLI_USE,
                                    "%s: is a file that is read; expected another to write", file);
        for (int k = 0; k < i; k++)
            if (same_file(file, arguments->output[k]))
                return cli_complain(CLI_USE, "%s: is to be written twice; expected different files",
                                    file);
    }
    return CLI_DONE;
}
