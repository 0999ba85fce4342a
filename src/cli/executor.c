// executor.c -- studies by executors of the Python package: processes, Dask, MPI, Ray.
#define _XOPEN_SOURCE 700
#include "cli/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const executors[] = {"local", "processes", "dask", "mpi", "ray"};
enum { NEXECUTOR = sizeof executors / sizeof executors[0], WORDS = 32 + 2 * CLI_MAX };

bool cli_has_executor(const cli_arguments *a)
{
    return a->executor && strcmp(a->executor, executors[0]) != 0;
}

cli_exit cli_check_executor(const cli_arguments *a)
{
    char room[80];
    bool known = !a->executor;
    for (int i = 0; i < NEXECUTOR; i++) known |= a->executor && !strcmp(a->executor, executors[i]);
    if (!known)
        return cli_complain(CLI_USE, "--engine %s: expected local, processes, dask, mpi or ray%s",
                            a->executor,
                            cli_suggestion(room, sizeof room, a->executor, executors, NEXECUTOR));
    if (a->scheduler &&
        (!a->executor || (strcmp(a->executor, "dask") != 0 && strcmp(a->executor, "ray") != 0)))
        return cli_complain(CLI_USE, "--scheduler is of --engine dask or ray");
    return CLI_DONE;
}

static const char *python(void)
{
    const char *own = getenv("LINKWORK_PYTHON");
    return own && *own ? own : "python3";
}

// Waits for a process; true: it has ended without an error.
static bool has_succeeded(pid_t child)
{
    int how = 1;
    while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR) {}
    return child > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

// Can the interpreter import these packages?
static bool can_import(const char *command)
{
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);
        if (nothing >= 0) dup2(nothing, STDERR_FILENO);
        execlp(python(), python(), "-c", command, (char *)NULL);
        _exit(127);
    }
    return has_succeeded(child);
}

cli_exit cli_check_parquet(const char *file)
{
    if (!cli_ends_in(file, ".parquet") || can_import("import linkwork.engine, pandas, pyarrow"))
        return CLI_DONE;
    return cli_complain(CLI_FAILED,
                        "%s: .parquet needs the Python package with pandas and pyarrow, and %s "
                        "does not have them: .csv and .h5 do not (LINKWORK_PYTHON names another "
                        "interpreter)",
                        file, python());
}

cli_exit cli_write_parquet(const char *folder, const char *file)
{
    const cli_exit code = cli_check_parquet(file);
    if (code) return code;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execlp(python(), python(), "-m", "linkwork.engine", folder, "--merge", file, (char *)NULL);
        _exit(127);
    }
    if (has_succeeded(child)) return CLI_DONE;
    return cli_complain(CLI_FAILED, "%s: the table was not written by %s", file, python());
}

typedef struct words {
    const char *word[WORDS];
    int n;
} words;

static void add(words *w, const char *word)
{
    w->word[w->n++] = word;
}

static void add_pair(words *w, const char *option, const char *value)
{
    add(w, option);
    add(w, value);
}

cli_exit cli_run_executor(const cli_arguments *a, const char *folder, int threads)
{
    words w = {.n = 0};
    char number[2][24];
    snprintf(number[0], sizeof number[0], "%d", threads > 0 ? threads : 1);
    snprintf(number[1], sizeof number[1], "%d", a->lanes);
    if (!can_import("import linkwork.engine"))
        return cli_complain(CLI_FAILED,
                            "--engine %s needs the Python package, which %s does not have: "
                            "pip install linkwork[%s] (LINKWORK_PYTHON names another interpreter)",
                            a->executor, python(), a->executor);
    add(&w, python()); // by this name an interpreter finds its environment
    if (!strcmp(a->executor, "mpi")) add_pair(&w, "-m", "mpi4py.futures");
    add_pair(&w, "-m", "linkwork.engine");
    add_pair(&w, folder, "--engine");
    add(&w, a->executor);
    if (a->scheduler) add_pair(&w, "--scheduler", a->scheduler);
    add_pair(&w, "--threads", number[0]);
    add_pair(&w, "--lanes", number[1]);
    for (int i = 0; i < a->ntable; i++) add_pair(&w, "--table", a->table[i]);
    if (a->quiet) add(&w, "--quiet");
    add(&w, NULL);
    fflush(stdout);
    execvp(python(), (char *const *)w.word);
    return cli_complain(CLI_FAILED, "%s: %s", python(), strerror(errno));
}
