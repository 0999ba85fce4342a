// main.c -- linkwork VERB ...: finds the verb, gives help.
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct cli_verb {
    const char *name, *operand, *summary;
    cli_options options;
    cli_exit (*run)(const cli_arguments *);
} cli_verb;

static const cli_verb verbs[] = {
#define X(name, operand, options, summary) {#name, operand, summary, options, cli_##name},
    CLI_VERB_LIST(X)
#undef X
};
enum { NVERB = sizeof verbs / sizeof verbs[0] };

static const cli_verb *find(const char *name)
{
    for (int i = 0; i < NVERB; i++)
        if (!strcmp(verbs[i].name, name)) return &verbs[i];
    return NULL;
}

static void help(FILE *file)
{
    fprintf(file, "linkwork %s -- multibody dynamics\n\n", lw_version());
    fputs("usage: linkwork VERB ...\n\n", file);
    for (int i = 0; i < NVERB; i++)
        fprintf(file, "  %-11s %-7s  %s\n", verbs[i].name, verbs[i].operand ? verbs[i].operand : "",
                verbs[i].summary);
    fputs("\n`linkwork VERB --help` lists the options of a verb that everyone needs, `--help "
          "--all` all of them.\n\nExit codes:",
          file);
#define X(name, code, text) fprintf(file, "%s %d %s", code ? "," : "", code, text);
    CLI_EXIT_LIST(X)
#undef X
    fputs(".\n", file);
}

static void help_of(FILE *file, const cli_verb *verb, bool all)
{
    fprintf(file, "usage: linkwork %s%s%s [options]\n\n%s\n\n", verb->name,
            verb->operand ? " " : "", verb->operand ? verb->operand : "", verb->summary);
    const int left_out = cli_print_options(file, verb->options, all);
    if (left_out)
        fprintf(file, "\n`linkwork %s --help --all` lists %d more.\n", verb->name, left_out);
}

static cli_exit unknown(const char *name)
{
    const char *names[NVERB];
    char room[80];
    for (int i = 0; i < NVERB; i++) names[i] = verbs[i].name;
    return cli_complain(CLI_USE, "no verb '%s'%s (linkwork --help)", name,
                        cli_suggestion(room, sizeof room, name, names, NVERB));
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h");
}

// Opens /dev/null in place of closed standard streams: the first file opened would otherwise receive what is printed.
// It is opened for reading only, so that printing fails.
static bool fill_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) return false;
    return true;
}

static cli_exit run(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return CLI_USE;
    }
    const bool is_verb_help = is_help(argv[1]) || !strcmp(argv[1], "help");
    if (is_verb_help && argc == 2) {
        help(stdout);
        return CLI_DONE;
    }
    if (!strcmp(argv[1], "help") && !strncmp(argv[2], "--", 2) && !is_help(argv[2]))
        return cli_man(argc - 2, argv + 2);
    if (!strcmp(argv[1], "--version")) {
        printf("linkwork %s\n", lw_version());
        return CLI_DONE;
    }
    const char *name = argv[is_verb_help ? 2 : 1];
    const cli_verb *verb = find(name);
    if (!verb) return unknown(name);
    bool all = false, help_wanted = is_verb_help;
    for (int i = 2; i < argc; i++) {
        all |= !strcmp(argv[i], "--all");
        help_wanted |= is_help(argv[i]);
    }
    if (help_wanted) {
        help_of(stdout, verb, all);
        return CLI_DONE;
    }

    cli_arguments arguments;
    const cli_exit code =
        cli_parse(argc - 2, argv + 2, verb->name, verb->operand, verb->options, &arguments);
    return code ? code : verb->run(&arguments);
}

// Libraries need memory when the program ends: without it HDF5 crashes then.
static void end_without_memory(cli_exit code)
{
    void *volatile room = malloc(1 << 20); // volatile: the compiler may not leave it out
    if (!room) _Exit((int)code);
    free(room);
}

// Blocks of this size and larger are returned to the system when they are freed: glibc begins so, but raises the limit to
// the size of what is freed, and temporary memory of a large model would stay until the end.
static void return_large_blocks(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
}

int main(int argc, char **argv)
{
    if (!fill_streams()) return CLI_FAILED;
    return_large_blocks();
    signal(SIGXFSZ, SIG_IGN); // a file that is too large is reported as a full disk is
    const cli_exit code = run(argc, argv);
    errno = 0;
    const bool written = !fflush(stdout) && !ferror(stdout);
    if (code) end_without_memory(code);
    if (written || code) return (int)code;
    return (int)cli_complain(CLI_FAILED, "standard output cannot be written: %s",
                             strerror(errno ? errno : EIO));
}
