// arguments.c -- the command line behind the verb.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct cli_option {
    const char *key, *value, *help;
    char letter;
} cli_option;

static const cli_option options_[] = {
#define X(name, key, letter, value, help) {key, value, help, letter},
    CLI_OPTION_LIST(X)
#undef X
};
enum { NOPTION = sizeof options_ / sizeof options_[0] };

static const cli_option simulation_[] = {
#define X(key, kind, fallback, value, help) {#key, value, help, 0},
    LW_OPTION_LIST(X)
#undef X
};
enum { NSIMULATION = sizeof simulation_ / sizeof simulation_[0] };

// '-' and '_' are the same letter
static bool same_key(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b)) return false;
    return *a == *b;
}

bool cli_ends_in(const char *file, const char *ending)
{
    const size_t n = strlen(file), m = strlen(ending);
    return n > m && !strcmp(file + n - m, ending);
}

static void print_option(FILE *file, const cli_option *option)
{
    char text[80], letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(text, sizeof text, "%s--%s%s%s", letter, option->key, option->value ? " " : "",
             option->value ? option->value : "");
    for (char *c = text; *c; c++)
        if (*c == '_') *c = '-';
    fprintf(file, "  %-28s %s\n", text, option->help);
}

void cli_print_options(FILE *file, unsigned options)
{
    for (int i = 0; i < NOPTION; i++)
        if (options & (1u << i)) print_option(file, &options_[i]);
    if (!(options & CLI_SIMULATION)) return;
    fputs("\nThe run; each is also a key of the model file's `simulation:`\n", file);
    for (int i = 0; i < NSIMULATION; i++) print_option(file, &simulation_[i]);
}

static cli_exit unknown(const char *key, const char *verb, unsigned options)
{
    const char *names[NOPTION + NSIMULATION];
    char room[80];
    int n = 0;
    for (int i = 0; i < NOPTION; i++)
        if (options & (1u << i)) names[n++] = options_[i].key;
    if (options & CLI_SIMULATION)
        for (int i = 0; i < NSIMULATION; i++) names[n++] = simulation_[i].key;
    return cli_complain(CLI_USE, "%s has no option --%s%s", verb, key,
                        cli_suggestion(room, sizeof room, key, names, n));
}

static cli_exit set_base(cli_arguments *arguments, const char *value)
{
    static const char *const names[] = {[LW_BASE_AUTO] = "auto",
                                        [LW_BASE_FIXED] = "fixed",
                                        [LW_BASE_FLOATING] = "floating"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(value, names[i])) {
            arguments->base = (lw_base)i;
            return CLI_DONE;
        }
    return cli_complain(CLI_USE, "--base %s: expected auto, fixed or floating", value);
}

static cli_exit set_seconds(cli_arguments *arguments, const char *value)
{
    char *end;
    arguments->seconds = strtod(value, &end);
    if (end != value && !*end && arguments->seconds > 0) return CLI_DONE;
    return cli_complain(CLI_USE, "--seconds %s: expected a positive number", value);
}

static cli_exit set_option(cli_arguments *arguments, int bit, const char *value)
{
    switch (bit) {
    case CLI_BIT_OUTPUT:
        if (arguments->noutput == CLI_MOST) return cli_complain(CLI_USE, "too many files to write");
        arguments->output[arguments->noutput++] = value;
        return CLI_DONE;
    case CLI_BIT_BASE: return set_base(arguments, value);
    case CLI_BIT_FORMULATIONS: arguments->formulations = value; return CLI_DONE;
    case CLI_BIT_SECONDS: return set_seconds(arguments, value);
    case CLI_BIT_JSON: arguments->json = true; return CLI_DONE;
    default: arguments->quiet = true; return CLI_DONE;
    }
}

// Kept for later, because the model file's settings come first; wrong ones are refused at once.
static cli_exit set_simulation(cli_arguments *arguments, const char *key, const char *value)
{
    lw_options scratch;
    lw_error error = {0};
    lw_options_default(&scratch);
    const lw_status status = lw_options_set(&scratch, key, value, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return CLI_USE;
    }
    if (arguments->nsetting == CLI_MOST) return cli_complain(CLI_USE, "too many options");
    arguments->setting[arguments->nsetting].key = key;
    arguments->setting[arguments->nsetting++].value = value;
    return CLI_DONE;
}

static int find(const cli_option *list, int n, const char *key, char letter)
{
    for (int i = 0; i < n; i++)
        if (key ? same_key(list[i].key, key) : list[i].letter == letter) return i;
    return -1;
}

// One option at argv[*at]; moves *at over its value.
static cli_exit parse_option(int argc, char **argv, int *at, unsigned options,
                             cli_arguments *arguments)
{
    char *word = argv[*at];
    char *key = word[1] == '-' ? word + 2 : NULL;
    char *value = NULL;
    if (key && (value = strchr(key, '='))) *value++ = 0;

    const int own = key || !word[2] ? find(options_, NOPTION, key, word[1]) : -1;
    const int sim = key && options & CLI_SIMULATION ? find(simulation_, NSIMULATION, key, 0) : -1;
    const bool known = own >= 0 && options & (1u << own);
    if (!known && sim < 0)
        return unknown(key ? key : word + 1, arguments->verb, options);

    const cli_option *option = known ? &options_[own] : &simulation_[sim];
    if (!option->value && value)
        return cli_complain(CLI_USE, "--%s takes no value, got '%s'", option->key, value);
    if (option->value && !value) {
        if (*at + 1 >= argc)
            return cli_complain(CLI_USE, "%s: %s is missing", word, option->value);
        value = argv[++*at];
    }
    if (known) return set_option(arguments, own, value);
    return set_simulation(arguments, option->key, value);
}

cli_exit cli_parse(int argc, char **argv, const char *verb, const char *operand, unsigned options,
                   cli_arguments *arguments)
{
    *arguments = (cli_arguments){.verb = verb, .seconds = 0.25};
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            const cli_exit code = parse_option(argc, argv, &i, options, arguments);
            if (code) return code;
        } else if (!operand || arguments->operand) {
            return cli_complain(CLI_USE, "%s: '%s' is one argument too many", verb, argv[i]);
        } else {
            arguments->operand = argv[i];
        }
    }
    if (operand && !arguments->operand)
        return cli_complain(CLI_USE, "%s: %s is missing (linkwork %s --help)", verb, operand, verb);
    return CLI_DONE;
}
