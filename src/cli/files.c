// files.c -- files that are written: an existing file is kept until the new one is complete, and
// nothing that is read is written over.
#define _XOPEN_SOURCE 700
#include "cli/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static cli_exit check_not_read(const cli_arguments *arguments, const char *file)
{
    const char *read[] = {arguments->initial, arguments->batch, arguments->model, arguments->motion,
                          arguments->fit};
    bool is_read = false;
    for (int k = 0; k < (int)(sizeof read / sizeof read[0]); k++)
        is_read |= read[k] && same_file(file, read[k]);
    for (int k = 0; k < arguments->noperand; k++)
        is_read |= same_file(file, arguments->operands[k]);
    if (!is_read) return CLI_DONE;
    return cli_complain(CLI_USE, "%s: is a file that is read; expected another to write", file);
}

// ---------------------------------------------------------------------------------- one document

// The file that is being written.
static struct {
    const char *given;             ///< its name in the call
    char file[PATH_MAX + 8];       ///< links followed
    char temporary[PATH_MAX + 40]; ///< where it is written first; "": nowhere, the file at once
} place;

static void remove_temporary(int number)
{
    unlink(place.temporary);
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

// A new file in the folder of place.file, with the ending of `path`: no other program writes it.
static int create_temporary(const char *path, mode_t mode)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (int i = 0; i < 100; i++) {
        const int n = snprintf(place.temporary, sizeof place.temporary, "%s.part-%ld-%d%s",
                               place.file, (long)getpid(), i, dot ? dot : "");
        if (n < 0 || n >= (int)sizeof place.temporary) break;
        const int file = open(place.temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (file >= 0) return file;
        if (errno != EEXIST) break;
    }
    return -1;
}

// A pipe or a device is written to directly, and so is a file in a folder that takes no other file; a file that may not
// be written is not replaced either.
static bool find_place(const char *path)
{
    struct stat old;
    const bool existed = !stat(path, &old);
    place.temporary[0] = 0;
    place.given = path;
    char *real = existed ? realpath(path, NULL) : NULL;
    const int n = snprintf(place.file, sizeof place.file, "%s", real ? real : path);
    free(real);
    if (n >= (int)sizeof place.file) return false;
    if (existed && (!S_ISREG(old.st_mode) || access(place.file, W_OK))) return true;
    const int file = create_temporary(path, existed ? 0600 : 0666);
    if (file < 0) {
        place.temporary[0] = 0;
        return true;
    }
    if (existed) (void)!fchmod(file, old.st_mode & 07777);
    close(file);
    on_signals(SIG_DFL, remove_temporary);
    return true;
}

cli_exit cli_begin_file(const cli_arguments *arguments, const char **path)
{
    if (arguments->noutput != 1)
        return cli_complain(CLI_USE, "%s writes one file, -o was given %d times", arguments->verb,
                            arguments->noutput);
    const cli_exit code = check_not_read(arguments, arguments->output[0]);
    if (code) return code;
    if (!find_place(arguments->output[0]))
        return cli_complain(CLI_FAILED, "%s: %s", arguments->output[0], strerror(ENAMETOOLONG));
    *path = place.temporary[0] ? place.temporary : arguments->output[0];
    return CLI_DONE;
}

cli_exit cli_end_file(const cli_arguments *arguments, bool whole)
{
    const bool put = whole && (!place.temporary[0] || !rename(place.temporary, place.file));
    const int reason = errno;
    struct stat about;
    const char *written = place.temporary[0] ? place.temporary : place.file;
    if (!put && !stat(written, &about) && S_ISREG(about.st_mode)) remove(written);
    on_signals(remove_temporary, SIG_DFL);
    if (put || !whole) return CLI_DONE;
    return cli_complain(CLI_FAILED, "%s: cannot be written: %s", arguments->output[0],
                        strerror(reason));
}

cli_exit cli_fail_file(lw_status status, lw_error *error)
{
    if (place.temporary[0] && !strcmp(error->file, place.temporary))
        snprintf(error->file, sizeof error->file, "%s", place.given);
    return cli_fail(status, error);
}

cli_exit cli_open(const cli_arguments *arguments, FILE **file)
{
    const char *path;
    *file = stdout;
    if (!arguments->noutput) return CLI_DONE;
    const cli_exit code = cli_begin_file(arguments, &path);
    if (code) return code;
    *file = fopen(path, "w");
    if (*file) return CLI_DONE;
    const int reason = errno;
    cli_end_file(arguments, false);
    return cli_complain(CLI_FAILED, "%s: cannot be written: %s", arguments->output[0],
                        strerror(reason));
}

int cli_finish(FILE *file)
{
    errno = 0;
    const bool failed = ferror(file) | fflush(file);
    if (failed && !errno) { // the reason of an earlier write is lost: another one meets it too
        clearerr(file);
        fputc('\n', file);
        fflush(file);
    }
    const int reason = errno;
    const bool lost = fclose(file) != 0;
    if (!failed && !lost) return 0;
    return reason ? reason : lost && errno ? errno : EIO;
}

cli_exit cli_close(const cli_arguments *arguments, FILE *file, bool whole)
{
    if (!arguments->noutput)
        return ferror(file) | fflush(file)
                   ? cli_complain(CLI_FAILED, "standard output: cannot be written whole")
                   : CLI_DONE;
    const int reason = cli_finish(file);
    const cli_exit code = cli_end_file(arguments, whole && !reason);
    if (code || !reason) return code;
    return cli_complain(CLI_FAILED, "%s: cannot be written: %s", arguments->output[0],
                        strerror(reason));
}

// ----------------------------------------------------------------------------------------- results

// File k of results, tables and events.
static const char *written(const cli_arguments *a, int k)
{
    if (k < a->noutput) return a->output[k];
    return k < a->noutput + a->ntable ? a->table[k - a->noutput] : a->events;
}

void cli_put_quoted(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

cli_exit cli_check_place(const char *file)
{
    struct stat old;
    const bool existed = !lstat(file, &old);
    if (!stat(file, &old) && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode))
        return CLI_DONE; // a pipe would see its end
    const int f = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (f < 0) return cli_complain(CLI_FAILED, "%s: cannot be written: %s", file, strerror(errno));
    close(f);
    if (!existed) unlink(file);
    return CLI_DONE;
}

cli_exit cli_check_results(const cli_arguments *arguments)
{
    for (int i = 0; i < arguments->noutput + arguments->ntable + (arguments->events != NULL); i++) {
        const char *file = written(arguments, i);
        if (file == arguments->events && !cli_ends_in(file, ".csv"))
            return cli_complain(CLI_USE, "%s: events are written as .csv", file);
        const bool parquet = cli_has_folder(arguments) && cli_ends_in(file, ".parquet");
        if (!cli_ends_in(file, ".csv") && !cli_ends_in(file, ".h5") && !parquet)
            return cli_complain(CLI_USE, "%s: %s are written as %s", file,
                                i < arguments->noutput && !arguments->merge ? "results" : "tables",
                                cli_has_folder(arguments) ? ".h5, .csv or .parquet"
                                                          : ".h5 or .csv");
        const cli_exit code = check_not_read(arguments, file);
        if (code) return code;
        for (int k = 0; k < i; k++)
            if (same_file(file, written(arguments, k)))
                return cli_complain(CLI_USE, "%s: is to be written twice; expected different files",
                                    file);
    }
    return CLI_DONE;
}

cli_exit cli_check_checkpoint(const cli_arguments *arguments)
{
    const char *file = arguments->checkpoint;
    struct stat about;
    if (!file) return CLI_DONE;
    for (int i = 0; i < arguments->noutput; i++)
        if (same_file(file, arguments->output[i]))
            return cli_complain(CLI_USE, "%s: is to be written twice; expected different files",
                                file);
    if (!stat(file, &about) && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return cli_complain(CLI_USE, "%s: is no regular file; a checkpoint replaces its file",
                            file);
    return arguments->resume ? CLI_DONE : check_not_read(arguments, file);
}
