// compiler.c -- finding and calling the system's compiler.
#define _XOPEN_SOURCE 700
#include "compiled/compiler.h"
#include "codegen/sources.h"
#include "compiled/version.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

const char lwi_compiler_flags[] =
    "-std=c17 -O3 -march=native " LWI_CODEGEN_FLAGS " -fPIC -shared -w";

// ----------------------------------------------------------------------------------------- calling

// Held where a file is open that no other thread's compiler may inherit, and where one is started.
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

// Starts it with its output in `output` and without input; `apart`: in a separate process group, with all that it starts.
// 0 or the reason.
static int start(char *const *arguments, int output, bool apart, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t group;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason) return reason;
    reason = posix_spawnattr_init(&group);
    if (reason) {
        posix_spawn_file_actions_destroy(&actions);
        return reason;
    }
    if (apart) reason = posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
    if (!reason) reason = posix_spawnattr_setpgroup(&group, 0);
    if (!reason) reason = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (!reason) reason = posix_spawn_file_actions_adddup2(&actions, output, 2);
    // last: where the caller has closed its input, `output` may be 0
    if (!reason) reason = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    pthread_mutex_lock(&starting);
    if (!reason) reason = posix_spawnp(child, arguments[0], &actions, &group, arguments, environ);
    pthread_mutex_unlock(&starting);
    posix_spawnattr_destroy(&group);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

// Its exit code; 128 and more: it was ended by a signal; 0 where the program does not keep what children return.
static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The same, and ends the process group of the child when the caller requires it: then -1.
static int wait_or_end(const lwi_compiler *c, pid_t child)
{
    static const struct timespec pause = {.tv_nsec = 20000000};
    siginfo_t about = {0};
    while (c->interrupt && !c->interrupt(c->interrupt_user)) {
        about.si_pid = 0;
        if (waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR)
            break;
        if (about.si_pid == child) break;
        nanosleep(&pause, NULL);
    }
    if (!c->interrupt || !c->interrupt(c->interrupt_user)) return wait_for(child);
    kill(-child, SIGTERM);
    wait_for(child);
    return -1;
}

// 0 or the reason.
static int open_pipe(int ends[2])
{
    pthread_mutex_lock(&starting);
    const int reason = pipe(ends) == 0 ? 0 : errno;
    for (int i = 0; i < 2 && !reason; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    pthread_mutex_unlock(&starting);
    return reason;
}

// The first line that the command prints with --version.  0 or the reason.
static int ask_version(char *const *arguments, char *line, size_t size)
{
    int ends[2];
    pid_t child;
    int reason = open_pipe(ends);
    if (reason) return reason;
    reason = start(arguments, ends[1], false, &child);
    close(ends[1]);
    size_t n = 0;
    char rest[512] = "";
    for (ssize_t got = 1; !reason && got != 0;) { // all of it, or the command would not end
        const bool room = n + 1 < size;
        got = read(ends[0], room ? line + n : rest, room ? size - 1 - n : sizeof rest);
        if (got < 0 && errno != EINTR) break;
        if (room && got > 0) n += (size_t)got;
    }
    close(ends[0]);
    line[n] = 0;
    line[strcspn(line, "\n")] = 0;
    if (reason) return reason;
    return wait_for(child) == 0 ? 0 : ENOEXEC;
}

// ----------------------------------------------------------------------------------------- finding

// Divides the command at blanks; false: no word, or too many.
static bool divide(lwi_compiler *c, const char *command)
{
    if (strlen(command) >= sizeof c->command) return false;
    strcpy(c->command, command);
    c->nword = 0;
    for (char *at = c->command;;) {
        at += strspn(at, " \t");
        if (!*at) break;
        if (c->nword == LWI_COMPILER_WORDS) return false;
        c->word[c->nword++] = at;
        at += strcspn(at, " \t");
        if (*at) *at++ = 0;
    }
    c->word[c->nword] = NULL;
    return c->nword > 0;
}

// 0 or the reason.
static int try_command(lwi_compiler *c, const lwi_cache *cache, const char *command)
{
    char *arguments[LWI_COMPILER_WORDS + 2], key[LWI_SHA256_SIZE];
    if (!divide(c, command)) return EINVAL;
    const bool keyed = cache && c->nword == 1 && lwi_version_key(c->word[0], key);
    if (keyed && lwi_version_find(cache, key, c->version, sizeof c->version)) return 0;
    for (int i = 0; i < c->nword; i++) arguments[i] = c->word[i];
    arguments[c->nword] = (char[]){"--version"};
    arguments[c->nword + 1] = NULL;
    const int reason = ask_version(arguments, c->version, sizeof c->version);
    if (!reason && keyed) lwi_version_write(cache, key, c->version);
    return reason;
}

lw_status lwi_compiler_find(const char *given, const lwi_cache *cache, lwi_compiler *c,
                            lw_error *error)
{
    static const char *const common[] = {"cc", "gcc", "clang"};
    const char *variable = getenv("CC"), *who = "the compiler";
    if (!given && variable && *variable) given = variable, who = "the compiler of CC";
    c->interrupt = NULL, c->interrupt_user = NULL;
    if (given) {
        const int reason = try_command(c, cache, given);
        if (!reason) return LW_OK;
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "%s, '%.200s', cannot be called: %s", who, given,
                        reason == EINVAL ? "expected a command of one to 16 words"
                                         : strerror(reason));
    }
    for (int i = 0; i < LWI_COUNT(common); i++)
        if (try_command(c, cache, common[i]) == 0) return LW_OK;
    return lwi_fail(error, LW_ERR_UNSUPPORTED,
                    "no C compiler: expected CC to name one, or one of cc, gcc, clang");
}

// ---------------------------------------------------------------------------------------- building

// The first line with "error", else the first one.
static void read_message(const char *log, char *line, size_t size)
{
    FILE *file = fopen(log, "r");
    char next[400];
    line[0] = 0;
    while (file && fgets(next, sizeof next, file)) {
        next[strcspn(next, "\n")] = 0;
        const bool is_error = strstr(next, "error") != NULL;
        if (is_error || !line[0]) lwi_copy_text(line, size, next);
        if (is_error) break;
    }
    if (file) fclose(file);
}

lw_status lwi_compiler_build(const lwi_compiler *c, const char *const *sources, const char *object,
                             const char *log, lw_error *error)
{
    enum { MOST = 48 };
    char flags[sizeof lwi_compiler_flags + 1], *arguments[MOST];
    int n = 0;
    pid_t child;
    for (int i = 0; i < c->nword; i++) arguments[n++] = c->word[i];
    strcpy(flags, lwi_compiler_flags);
    for (char *rest = NULL, *word = strtok_r(flags, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        arguments[n++] = word;
    arguments[n++] = (char[]){"-o"};
    arguments[n++] = (char *)object;
    for (int i = 0; sources[i]; i++) arguments[n++] = (char *)sources[i];
    arguments[n++] = (char[]){"-lm"};
    arguments[n] = NULL;
    const int output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (output < 0) return lwi_fail(error, LW_ERR_IO, "%s: %s", log, strerror(errno));
    const int reason = start(arguments, output, c->interrupt != NULL, &child);
    close(output);
    if (reason)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "the compiler '%s' cannot be called: %s",
                        c->word[0], strerror(reason));
    const int code = wait_or_end(c, child);
    if (code < 0)
        return lwi_fail(error, LW_ERR_INTERRUPTED, "stopped while the compiler '%s' ran",
                        c->word[0]);
    if (code == 0 && access(object, R_OK) == 0) return LW_OK;
    char message[300];
    read_message(log, message, sizeof message);
    return lwi_fail(error, LW_ERR_UNSUPPORTED, "the compiler '%s' fails with code %d%s%s",
                    c->word[0], code, message[0] ? ": " : "", message);
}

// ------------------------------------------------------------------------------------------- keys

// Instructions differ between processors of one folder of files.
static void add_processor(lwi_sha256 *hash)
{
    static const char *const what[] = {"vendor_id",       "model name", "flags",      "Features",
                                       "CPU implementer", "CPU part",   "cpu family", "isa"};
    char line[8192];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file) && line[0] != '\n')
        for (int i = 0; i < LWI_COUNT(what); i++)
            if (!strncmp(line, what[i], strlen(what[i]))) lwi_sha256_add(hash, line, strlen(line));
    if (file) fclose(file);
}

void lwi_compiler_add(const lwi_compiler *compiler, lwi_sha256 *hash)
{
    for (int i = 0; i < compiler->nword; i++)
        lwi_sha256_add(hash, compiler->word[i], strlen(compiler->word[i]) + 1);
    lwi_sha256_add(hash, compiler->version, strlen(compiler->version) + 1);
    lwi_sha256_add(hash, lwi_compiler_flags, strlen(lwi_compiler_flags) + 1);
    add_processor(hash);
}
