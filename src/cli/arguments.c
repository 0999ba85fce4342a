// arguments.c -- the command line behind the verb.
#include "cli/cli.h"

#include <limits.h>
#include <string.h>

typedef struct cli_option {
    const char *key, *value, *help;
    char letter;
    bool expert; ///< left to `--help --all`
} cli_option;

static const cli_option options_[] = {
#define X(name, key, letter, value, help) {key, value, help, letter, false},
    CLI_OPTION_LIST(X)
#undef X
};

enum { BASIC, EXPERT };
static const cli_option simulation_[] = {
#define X(key, type, fallback, tier, value, help) {#key, value, help, 0, tier == EXPERT},
    LW_OPTION_LIST(X)
#undef X
};
enum { NSIMULATION = sizeof simulation_ / sizeof simulation_[0] };

static const cli_option plot_[] = {
#define X(key, value, help) {#key, value, help, 0, false},
    LW_PLOT_OPTION_LIST(X)
#undef X
};
enum { NPLOT = sizeof plot_ / sizeof plot_[0] };

// Options that the library sets by key: those of a run, those of a picture, or none.
static const cli_option *library_options(cli_options options, int *n)
{
    *n = cli_has(options, CLI_SIMULATION) ? NSIMULATION
         : cli_has(options, CLI_PLOTTING) ? NPLOT
                                          : 0;
    return cli_has(options, CLI_SIMULATION) ? simulation_ : plot_;
}

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

bool cli_has(cli_options options, int option)
{
    while (*options != CLI_LAST && *options != option) options++;
    return *options == option;
}

const char *cli_other_option(const cli_arguments *arguments, cli_options expected)
{
    for (int i = 0; i < CLI_NOPTION; i++)
        if (arguments->given[i] && !cli_has(expected, i)) return options_[i].key;
    return NULL;
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

int cli_print_options(FILE *file, cli_options options, bool expert)
{
    int n, left_out = 0;
    const bool many = cli_has(options, CLI_VARY) || cli_has(options, CLI_BY);
    for (int i = 0; i < CLI_NOPTION; i++) {
        if (!cli_has(options, i)) continue;
        if (expert || !cli_has(CLI_OPTIONS(CLI_EXPERT), i) ||
            (many && cli_has(CLI_OPTIONS(CLI_MANY), i)))
            print_option(file, &options_[i]);
        else
            left_out++;
    }
    const cli_option *library = library_options(options, &n);
    if (cli_has(options, CLI_SIMULATION))
        fputs("\nThe run; each is also a key of the model file's `simulation:`\n", file);
    for (int i = 0; i < n; i++) {
        if (expert || !library[i].expert)
            print_option(file, &library[i]);
        else
            left_out++;
    }
    return left_out;
}

// `dash`: "-" or "--", as typed before the key.
static cli_exit unknown(const char *dash, const char *key, const char *verb, cli_options options)
{
    const char *names[CLI_NOPTION + NSIMULATION + NPLOT];
    int n = 0, nlibrary;
    const cli_option *library = library_options(options, &nlibrary);
    for (int i = 0; i < CLI_NOPTION; i++)
        if (cli_has(options, i)) names[n++] = options_[i].key;
    for (int i = 0; i < nlibrary; i++) names[n++] = library[i].key;
    const char *nearest = lw_nearest(key, names, n);
    return cli_complain(CLI_USE, "%s has no option %s%s%s%s%s", verb, dash, key,
                        nearest ? ", did you mean --" : "", nearest ? nearest : "",
                        nearest ? "?" : "");
}

static cli_exit set_base(cli_arguments *arguments, const char *value)
{
    static const char *const names[] = {
        [LW_BASE_AUTO] = "auto", [LW_BASE_FIXED] = "fixed", [LW_BASE_FLOATING] = "floating"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(value, names[i])) {
            arguments->base = (lw_base)i;
            return CLI_DONE;
        }
    return cli_complain(CLI_USE, "--base %s: expected auto, fixed or floating", value);
}

bool cli_number(const char **text, const char *separators, double *value)
{
    char piece[64];
    const size_t n = strcspn(*text, separators);
    if (n >= sizeof piece) return false;
    memcpy(piece, *text, n);
    piece[n] = 0;
    if (!lw_number_read(piece, value)) return false;
    *text += n;
    return true;
}

// A whole number and nothing else.
static bool whole_number(const char *text, int from, int to, int *value)
{
    double number;
    if (!lw_number_read(text, &number) || !(number >= from && number <= to)) return false;
    *value = (int)number;
    return *value == number;
}

// K, K,C, auto, auto,T or ignore
static cli_exit set_limits(cli_arguments *arguments, const char *value)
{
    const char *at = value;
    lw_limits_desc *limits = &arguments->limits;
    double *time = &arguments->limits_time;
    const bool scaled = strncmp(value, "auto", 4) == 0 && (!value[4] || value[4] == ',');
    *limits = (lw_limits_desc){0};
    *time = scaled ? LW_LIMITS_TIME : 0;
    if (strcmp(value, "ignore") == 0 || strcmp(value, "auto") == 0) return CLI_DONE;
    if (scaled) at += 5;
    bool ok = cli_number(&at, ",", scaled ? time : &limits->stiffness);
    if (ok && !scaled && *at == ',') ok = *++at && cli_number(&at, ",", &limits->damping);
    if (ok && !*at && (scaled ? *time : limits->stiffness) > 0 && limits->damping >= 0)
        return CLI_DONE;
    return cli_complain(CLI_USE,
                        "--limits %s: expected a stiffness > 0, STIFFNESS,DAMPING, auto, "
                        "auto,SECONDS or ignore",
                        value);
}

static cli_exit set_seconds(cli_arguments *arguments, const char *value)
{
    if (lw_number_read(value, &arguments->seconds) && arguments->seconds > 0) return CLI_DONE;
    return cli_complain(CLI_USE, "--seconds %s: expected a positive number", value);
}

static cli_exit set_samples(cli_arguments *arguments, const char *value)
{
    if (whole_number(value, 1, 200, &arguments->samples)) return CLI_DONE;
    return cli_complain(CLI_USE, "--samples %s: expected a number from 1 to 200", value);
}

static cli_exit set_instance(cli_arguments *arguments, const char *value)
{
    if (whole_number(value, 0, INT_MAX, &arguments->instance)) return CLI_DONE;
    return cli_complain(CLI_USE, "--instance %s: expected a number, they count from 0", value);
}

static cli_exit set_seed(cli_arguments *arguments, const char *value)
{
    int seed;
    if (!whole_number(value, 0, INT_MAX, &seed))
        return cli_complain(CLI_USE, "--seed %s: expected a whole number from 0 to %d", value,
                            INT_MAX);
    arguments->seed = (uint64_t)seed;
    return CLI_DONE;
}

static cli_exit set_count(int *count, const char *key, const char *value)
{
    if (whole_number(value, 0, 1000, count)) return CLI_DONE;
    return cli_complain(CLI_USE, "--%s %s: expected a whole number from 0 to 1000", key, value);
}

// K/N with 1 <= K <= N
static cli_exit set_share(cli_arguments *arguments, const char *value)
{
    char first[16];
    const char *slash = strchr(value, '/');
    const size_t n = slash ? (size_t)(slash - value) : 0;
    if (n > 0 && n < sizeof first) {
        memcpy(first, value, n);
        first[n] = 0;
        if (whole_number(slash + 1, 1, INT_MAX, &arguments->shares) &&
            whole_number(first, 1, arguments->shares, &arguments->share))
            return CLI_DONE;
    }
    return cli_complain(CLI_USE, "--part %s: expected K/N, the share K from 1 to N", value);
}

// 0.5, or 1000steps
static cli_exit set_every(cli_arguments *arguments, const char *value)
{
    int steps = 0;
    char number[24];
    const char *word = strstr(value, "steps");
    size_t n = word ? (size_t)(word - value) : 0;
    if (word && !word[5] && n > 0 && n < sizeof number) {
        memcpy(number, value, n);
        if (number[n - 1] == ' ') n--;
        number[n] = 0;
        if (whole_number(number, 1, INT_MAX, &steps)) {
            arguments->every_steps = steps;
            return CLI_DONE;
        }
    } else if (lw_number_read(value, &arguments->every) && arguments->every > 0) {
        return CLI_DONE;
    }
    return cli_complain(CLI_USE, "--every %s: expected a time in seconds, or steps as 1000steps",
                        value);
}

static cli_exit set_part_rows(cli_arguments *arguments, const char *value)
{
    if (whole_number(value, 1, INT_MAX, &arguments->part_rows)) return CLI_DONE;
    return cli_complain(CLI_USE, "--part-rows %s: expected a whole number from 1 on", value);
}

static cli_exit set_evaluations(cli_arguments *arguments, const char *value)
{
    if (whole_number(value, 1, 1000000, &arguments->evaluations)) return CLI_DONE;
    return cli_complain(CLI_USE, "--evaluations %s: expected a whole number from 1 to 1000000",
                        value);
}

const char *const cli_levels[] = {
#define X(name, text) [LW_OBSERVE_##name] = text,
    LW_OBSERVE_LIST(X)
#undef X
};

int cli_level(const char *name)
{
    for (int i = 0; i <= LW_OBSERVE_MOMENTUM; i++)
        if (!strcmp(name, cli_levels[i])) return i;
    return -1;
}

static cli_exit set_precision(cli_arguments *arguments, const char *value)
{
    arguments->single_precision = !strcmp(value, "single");
    if (arguments->single_precision || !strcmp(value, "double")) return CLI_DONE;
    return cli_complain(CLI_USE, "--precision %s: expected double or single", value);
}

static cli_exit set_level(cli_arguments *arguments, const char *value)
{
    const int level = cli_level(value);
    if (level < 0)
        return cli_complain(
            CLI_USE,
            "--level %s: expected pose, twist, energy, acceleration, reaction, force or momentum",
            value);
    arguments->level = (lw_observe)level;
    return CLI_DONE;
}

static cli_exit set_option(cli_arguments *arguments, int id, const char *value)
{
    // clang-format off
    switch (id) {
    case CLI_OUTPUT:
        if (arguments->noutput == CLI_MAX) return cli_complain(CLI_USE, "too many files to write");
        arguments->output[arguments->noutput++] = value;
        return CLI_DONE;
    case CLI_INITIAL: arguments->initial = value; return CLI_DONE;
    case CLI_MODEL: arguments->model = value; return CLI_DONE;
    case CLI_INSTANCE: return set_instance(arguments, value);
    case CLI_BATCH: arguments->batch = value; return CLI_DONE;
    case CLI_DESIGN: arguments->design = value; return CLI_DONE;
    case CLI_SEED: return set_seed(arguments, value);
    case CLI_VARY:
        if (arguments->nvary == CLI_MAX) return cli_complain(CLI_USE, "too many things vary");
        arguments->vary[arguments->nvary++] = value;
        return CLI_DONE;
    case CLI_SET:
        if (arguments->nset == CLI_MAX) return cli_complain(CLI_USE, "too many parameters are set");
        arguments->set[arguments->nset++] = value;
        return CLI_DONE;
    case CLI_HOLD: arguments->hold = value; return CLI_DONE;
    case CLI_NEAR: arguments->near = value; return CLI_DONE;
    case CLI_STARTS: return set_count(&arguments->starts, "starts", value);
    case CLI_AT: arguments->at = value; return CLI_DONE;
    case CLI_INPUTS: arguments->inputs = value; return CLI_DONE;
    case CLI_OUTPUTS: arguments->outputs = value; return CLI_DONE;
    case CLI_INDEPENDENT: arguments->independent = value; return CLI_DONE;
    case CLI_FROM: arguments->from = value; return CLI_DONE;
    case CLI_ACTUATORS: arguments->actuators = value; return CLI_DONE;
    case CLI_WEIGHTS: arguments->weights = value; return CLI_DONE;
    case CLI_MOTION: arguments->motion = value; return CLI_DONE;
    case CLI_MINIMIZE: arguments->minimize = value; return CLI_DONE;
    case CLI_MAXIMIZE: arguments->maximize = value; return CLI_DONE;
    case CLI_FIT: arguments->fit = value; return CLI_DONE;
    case CLI_SUBJECT:
        if (arguments->nsubject == CLI_MAX) return cli_complain(CLI_USE, "too many constraints");
        arguments->subject[arguments->nsubject++] = value;
        return CLI_DONE;
    case CLI_ALGORITHM: arguments->algorithm = value; return CLI_DONE;
    case CLI_CASADI: arguments->casadi = true; return CLI_DONE;
    case CLI_CUDA: arguments->cuda = true; return CLI_DONE;
    case CLI_PRECISION: return set_precision(arguments, value);
    case CLI_EVALUATIONS: return set_evaluations(arguments, value);
    case CLI_ANY: arguments->any = true; return CLI_DONE;
    case CLI_WATCH: arguments->observed = value; return CLI_DONE;
    case CLI_BY: arguments->by = value; return CLI_DONE;
    case CLI_METHOD: arguments->method = value; return CLI_DONE;
    case CLI_STATISTIC: arguments->statistic = value; return CLI_DONE;
    case CLI_TABLE:
        if (arguments->ntable == CLI_MAX) return cli_complain(CLI_USE, "too many files to write");
        arguments->table[arguments->ntable++] = value;
        return CLI_DONE;
    case CLI_STORE: arguments->store = value; return CLI_DONE;
    case CLI_CHECKPOINT: arguments->checkpoint = value; return CLI_DONE;
    case CLI_EVENTS: arguments->events = value; return CLI_DONE;
    case CLI_EVERY: return set_every(arguments, value);
    case CLI_RESUME: arguments->resume = value; return CLI_DONE;
    case CLI_STATUS: arguments->status = value; return CLI_DONE;
    case CLI_VERIFY: arguments->verify = value; return CLI_DONE;
    case CLI_MERGE: arguments->merge = value; return CLI_DONE;
    case CLI_EXECUTOR: arguments->executor = value; return CLI_DONE;
    case CLI_SCHEDULER: arguments->scheduler = value; return CLI_DONE;
    case CLI_PART: return set_share(arguments, value);
    case CLI_PART_ROWS: return set_part_rows(arguments, value);
    case CLI_LEVEL: return set_level(arguments, value);
    case CLI_LANES: return set_count(&arguments->lanes, "lanes", value);
    case CLI_BASE: return set_base(arguments, value);
    case CLI_LIMITS: return set_limits(arguments, value);
    case CLI_INERTIA_CHECK: arguments->inertia_check = value; return CLI_DONE;
    case CLI_PACKAGE_PATH: arguments->package_path = value; return CLI_DONE;
    case CLI_MISSING_MESH: arguments->missing_mesh = value; return CLI_DONE;
    case CLI_COLUMNS: arguments->columns = value; return CLI_DONE;
    case CLI_CUT: arguments->cut = value; return CLI_DONE;
    case CLI_KEYFRAME: arguments->keyframe = value; return CLI_DONE;
    case CLI_FORMULATIONS: arguments->formulations = value; return CLI_DONE;
    case CLI_CASES: arguments->cases = value; return CLI_DONE;
    case CLI_SECONDS: return set_seconds(arguments, value);
    case CLI_SAMPLES: return set_samples(arguments, value);
    case CLI_PLAN: arguments->plan = true; return CLI_DONE;
    case CLI_REAL_TIME: arguments->real_time = true; return CLI_DONE;
    case CLI_RANKS: arguments->ranks = true; return CLI_DONE;
    case CLI_JSON: arguments->json = true; return CLI_DONE;
    default: arguments->quiet = true; return CLI_DONE;
    }
    // clang-format on
}

// Kept for later, because the model file's settings come first; wrong ones are refused at once.
static cli_exit set_library(cli_arguments *arguments, cli_options options, const char *key,
                            const char *value)
{
    lw_options scratch;
    lw_plot_options plot_scratch = {0};
    lw_error error = {0};
    if (cli_has(options, CLI_FORMULATIONS) && !strcmp(key, "formulation") && strchr(value, ',')) {
        arguments->formulations = value; // several: what was meant is clear
        return CLI_DONE;
    }
    lw_options_default(&scratch);
    const lw_status status = cli_has(options, CLI_SIMULATION)
                                 ? lw_options_set(&scratch, key, value, &error)
                                 : lw_plot_set(&plot_scratch, key, value, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return CLI_USE;
    }
    if (arguments->nsetting == CLI_MAX) return cli_complain(CLI_USE, "too many options");
    arguments->setting[arguments->nsetting].key = key;
    arguments->setting[arguments->nsetting++].value = value;
    return CLI_DONE;
}

// Was the option there before, if its help does not say that it may be repeated?
static bool is_repeated(cli_arguments *arguments, int own, const cli_option *option)
{
    bool given = false;
    if (own >= 0) {
        given = arguments->given[own];
        arguments->given[own] = true;
    } else {
        for (int i = 0; i < arguments->nsetting; i++)
            given |= !strcmp(arguments->setting[i].key, option->key);
    }
    return given && !strstr(option->help, "repeatable");
}

static int find(const cli_option *list, int n, const char *key, char letter)
{
    for (int i = 0; i < n; i++)
        if (key ? same_key(list[i].key, key) : list[i].letter == letter) return i;
    return -1;
}

// One option at argv[*at]; moves *at over its value.
static cli_exit parse_option(int argc, char **argv, int *at, cli_options options,
                             cli_arguments *arguments)
{
    char *word = argv[*at];
    char *key = word[1] == '-' ? word + 2 : NULL;
    char *value = NULL;
    if (key && (value = strchr(key, '='))) *value++ = 0;

    const int own = key || !word[2] ? find(options_, CLI_NOPTION, key, word[1]) : -1;
    int n;
    const cli_option *library = library_options(options, &n);
    const int other = key ? find(library, n, key, 0) : -1;
    const bool known = own >= 0 && cli_has(options, own);
    if (!known && other < 0)
        return unknown(key ? "--" : "-", key ? key : word + 1, arguments->verb, options);

    const cli_option *option = known ? &options_[own] : &library[other];
    if (!option->value && value)
        return cli_complain(CLI_USE, "--%s takes no value, got '%s'", option->key, value);
    if (option->value && !value) {
        if (*at + 1 >= argc)
            return cli_complain(CLI_USE, "%s %s: the value is missing (linkwork %s --help)", word,
                                option->value, arguments->verb);
        value = argv[++*at];
    }
    if (is_repeated(arguments, known ? own : -1, option))
        return cli_complain(CLI_USE, "--%s is given twice; expected once", option->key);
    if (known) return set_option(arguments, own, value);
    return set_library(arguments, options, option->key, value);
}

cli_exit cli_parse(int argc, char **argv, const char *verb, const char *operand,
                   cli_options options, cli_arguments *arguments)
{
    const bool several = operand && strstr(operand, "...");
    *arguments =
        (cli_arguments){.verb = verb, .seconds = 0.25, .level = LW_OBSERVE_REACTION, .seed = 1};
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            const cli_exit code = parse_option(argc, argv, &i, options, arguments);
            if (code) return code;
        } else if (!operand || arguments->noperand == (several ? CLI_MAX : 1)) {
            return cli_complain(CLI_USE, "%s: '%s' is one argument too many", verb, argv[i]);
        } else {
            arguments->operands[arguments->noperand++] = argv[i];
        }
    }
    arguments->operand = arguments->operands[0];
    if (operand && !arguments->operand && *operand != '[')
        return cli_complain(CLI_USE, "%s: %s is missing (linkwork %s --help)", verb, operand, verb);
    return CLI_DONE;
}
