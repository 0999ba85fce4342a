// man.c -- manual pages and shell completion, from the tables that `--help` prints.
//
//   linkwork help --man [VERB]      the page of the program or of a verb, as roff: pipe it to man
//   -l - linkwork help --completion      completion for bash linkwork help --pages FOLDER
//   linkwork.1, linkwork-VERB.1, ..., linkwork.bash, for the install
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

typedef struct option {
    const char *key, *value, *help;
    char letter;
} option;

typedef struct verb {
    const char *name, *operand, *summary;
    cli_options options;
} verb;

static const verb verbs[] = {
#define X(name, operand, options, summary) {#name, operand, summary, options},
    CLI_VERB_LIST(X)
#undef X
};
static const option own[] = {
#define X(name, key, letter, value, help) {key, value, help, letter},
    CLI_OPTION_LIST(X)
#undef X
};
static const option simulation[] = {
#define X(key, type, fallback, tier, value, help) {#key, value, help, 0},
    LW_OPTION_LIST(X)
#undef X
};
static const option plotting[] = {
#define X(key, value, help) {#key, value, help, 0},
    LW_PLOT_OPTION_LIST(X)
#undef X
};
enum {
    NPLOTTING = sizeof plotting / sizeof plotting[0],
    NVERB = sizeof verbs / sizeof verbs[0],
    NOWN = sizeof own / sizeof own[0],
    NSIMULATION = sizeof simulation / sizeof simulation[0]
};

// -------------------------------------------------------------------------------------------- roff

// Text of a page: `word` is bold, hyphens are those of the keyboard.
static void put_text(FILE *file, const char *text)
{
    bool bold = false;
    if (*text == '.' || *text == '\'') fputs("\\&", file); // no request
    for (; *text; text++) {
        if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", file);
        } else if (*text == '-') {
            fputs("\\-", file);
        } else if (*text == '\\') {
            fputs("\\e", file);
        } else {
            fputc(*text, file);
        }
    }
}

static void put_title(FILE *file, const char *name)
{
    fputs(".TH ", file);
    for (const char *c = name; *c; c++) fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, file);
    fprintf(file, " 1 \"\" \"linkwork %s\" \"Linkwork\"\n", lw_version());
}

static void put_option(FILE *file, const option *o)
{
    char key[64];
    snprintf(key, sizeof key, "--%s", o->key);
    for (char *c = key; *c; c++)
        if (*c == '_') *c = '-';
    fputs(".TP\n", file);
    if (o->letter) fprintf(file, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB", file);
    put_text(file, key);
    fputs("\\fR", file);
    if (o->value) fputs(" \\fI", file), put_text(file, o->value), fputs("\\fR", file);
    fputc('\n', file);
    put_text(file, o->help);
    fputc('\n', file);
}

static void put_options(FILE *file, cli_options options)
{
    fputs(".SH OPTIONS\n", file);
    for (int i = 0; i < NOWN; i++)
        if (cli_has(options, i)) put_option(file, &own[i]);
    put_option(file, &(option){"help", NULL, "lists the options", 'h'});
    if (cli_has(options, CLI_PLOTTING)) fputs(".SS Pictures\n", file);
    for (int i = 0; i < NPLOTTING && cli_has(options, CLI_PLOTTING); i++)
        put_option(file, &plotting[i]);
    if (!cli_has(options, CLI_SIMULATION)) return;
    fputs(".SS The run\n", file);
    put_text(file, "Each is also a key of the model file's `simulation:`, which the command line "
                   "overrides.\n");
    for (int i = 0; i < NSIMULATION; i++) put_option(file, &simulation[i]);
}

static void put_verbs(FILE *file)
{
    fputs(".SH VERBS\n", file);
    for (int i = 0; i < NVERB; i++) {
        fprintf(file, ".TP\n\\fB%s\\fR", verbs[i].name);
        if (verbs[i].operand) fprintf(file, " \\fI%s\\fR", verbs[i].operand);
        fputc('\n', file);
        put_text(file, verbs[i].summary);
        fputc('\n', file);
    }
}

static void put_exit_codes(FILE *file)
{
    fputs(".SH EXIT STATUS\n", file);
#define X(name, code, text) fprintf(file, ".TP\n\\fB%d\\fR\n%s\n", code, text);
    CLI_EXIT_LIST(X)
#undef X
}

// All pages except page `but` (-1: that of the program).
static void put_see_also(FILE *file, int but)
{
    const char *between = "";
    fputs(".SH SEE ALSO\n", file);
    if (but >= 0) fputs("\\fBlinkwork\\fR(1)", file), between = ",\n";
    for (int i = 0; i < NVERB; i++) {
        if (i == but) continue;
        fprintf(file, "%s\\fBlinkwork\\-%s\\fR(1)", between, verbs[i].name);
        between = ",\n";
    }
    fputc('\n', file);
}

// Every option of every verb; those that several verbs share appear once.
static void put_program(FILE *file)
{
    put_title(file, "linkwork");
    fputs(".SH NAME\nlinkwork \\- simulates mechanisms of rigid bodies and joints\n"
          ".SH SYNOPSIS\n\\fBlinkwork\\fR \\fIVERB\\fR [\\fIFILE\\fR] [\\fIoptions\\fR]\n"
          ".SH DESCRIPTION\n",
          file);
    put_text(file,
             "Linkwork moves rigid bodies and the joints between them in three dimensions, "
             "forward in time. Models are native YAML files or URDF robots. Results go to the "
             "files of `-o` or to standard output, messages to standard error as "
             "file:line:column: message.\n");
    put_verbs(file);
#define X(name, key, letter, value, help) CLI_##name,
    put_options(file, CLI_OPTIONS(CLI_OPTION_LIST(X) CLI_SIMULATION, CLI_PLOTTING));
#undef X
    put_exit_codes(file);
    fputs(".SH EXAMPLE\n.nf\nlinkwork check crane.yaml\nlinkwork run crane.yaml \\-o crane.csv\n"
          "linkwork compare crane.yaml \\-\\-formulations aba,momenta,dense\n.fi\n",
          file);
    put_see_also(file, -1);
}

static void put_verb(FILE *file, int i)
{
    const verb *v = &verbs[i];
    char name[64];
    snprintf(name, sizeof name, "linkwork-%s", v->name);
    put_title(file, name);
    fputs(".SH NAME\n", file);
    put_text(file, name);
    fputs(" \\- ", file);
    put_text(file, v->summary);
    fprintf(file, "\n.SH SYNOPSIS\n\\fBlinkwork %s\\fR", v->name);
    if (v->operand) fprintf(file, " \\fI%s\\fR", v->operand);
    fputs(" [\\fIoptions\\fR]\n", file);
    put_options(file, v->options);
    put_exit_codes(file);
    put_see_also(file, i);
}

// ------------------------------------------------------------------------------------------- shell

static void put_word(FILE *file, const option *o)
{
    fputs(" --", file);
    for (const char *c = o->key; *c; c++) fputc(*c == '_' ? '-' : *c, file);
}

static void put_parts(FILE *file, const char *key, int (*count)(void), lw_part_info (*part)(int))
{
    fprintf(file, "    --%s) words=\"auto", key);
    for (int i = 0; i < count(); i++) fprintf(file, " %s", part(i).name);
    fputs("\" ;;\n", file);
}

// Verbs, their options, names of formulations, integrators and levels; everything else is a file.
static void put_completion(FILE *file)
{
    fputs("# bash completion of linkwork\n_linkwork()\n{\n    local words=\n    COMPREPLY=()\n"
          "    case ${COMP_WORDS[COMP_CWORD-1]} in\n",
          file);
    put_parts(file, "formulation", lw_formulation_count, lw_formulation_info);
    put_parts(file, "integrator", lw_integrator_count, lw_integrator_info);
#define X(name, text) " " text
    fputs("    --level) words=\"" LW_OBSERVE_LIST(X) "\" ;;\n", file);
#undef X
    fputs("    esac\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"", file);
    for (int i = 0; i < NVERB; i++) fprintf(file, "%s ", verbs[i].name);
    fputs("help --help --version\"\n    elif [ -z \"$words\" ]; then\n"
          "        case ${COMP_WORDS[COMP_CWORD]} in -*) ;; *) return ;; esac\n"
          "        case ${COMP_WORDS[1]} in\n",
          file);
    for (int i = 0; i < NVERB; i++) {
        fprintf(file, "        %s) words=\"--help", verbs[i].name);
        for (int k = 0; k < NOWN; k++)
            if (cli_has(verbs[i].options, k)) put_word(file, &own[k]);
        for (int k = 0; k < NSIMULATION && cli_has(verbs[i].options, CLI_SIMULATION); k++)
            put_word(file, &simulation[k]);
        for (int k = 0; k < NPLOTTING && cli_has(verbs[i].options, CLI_PLOTTING); k++)
            put_word(file, &plotting[k]);
        fputs("\" ;;\n", file);
    }
    fputs("        esac\n    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
          "complete -o default -F _linkwork linkwork\n",
          file);
}

// ------------------------------------------------------------------------------------------- files

static cli_exit put_file(const char *folder, const char *name, void (*put)(FILE *, int), int i)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) return cli_complain(CLI_FAILED, "%s: %s", path, strerror(errno));
    put(file, i);
    const bool failed = ferror(file) != 0;
    if (fclose(file) || failed)
        return cli_complain(CLI_FAILED, "%s: cannot be written whole", path);
    return CLI_DONE;
}

static void put_page(FILE *file, int i)
{
    if (i < 0)
        put_program(file);
    else
        put_verb(file, i);
}

static void put_shell(FILE *file, int i)
{
    (void)i;
    put_completion(file);
}

static cli_exit put_files(const char *folder)
{
    char name[64];
    cli_exit code = put_file(folder, "linkwork.1", put_page, -1);
    for (int i = 0; i < NVERB && !code; i++) {
        snprintf(name, sizeof name, "linkwork-%s.1", verbs[i].name);
        code = put_file(folder, name, put_page, i);
    }
    return code ? code : put_file(folder, "linkwork.bash", put_shell, 0);
}

cli_exit cli_man(int argc, char **argv)
{
    static const char *const known[] = {"--man", "--completion", "--pages"};
    char room[80];
    if (!strcmp(argv[0], "--pages") && argc == 2) return put_files(argv[1]);
    if (!strcmp(argv[0], "--completion") && argc == 1) {
        put_completion(stdout);
    } else if (!strcmp(argv[0], "--man") && argc <= 2) {
        int i = -1;
        if (argc == 2)
            for (i = 0; i < NVERB && strcmp(verbs[i].name, argv[1]); i++) {}
        if (i == NVERB) return cli_complain(CLI_USE, "help --man: no verb '%s'", argv[1]);
        put_page(stdout, i);
    } else {
        return cli_complain(CLI_USE,
                            "help: '%s' is not --man [VERB], --completion, --pages FOLDER%s",
                            argv[0], cli_suggestion(room, sizeof room, argv[0], known, 3));
    }
    return fflush(stdout) ? cli_complain(CLI_FAILED, "standard output is full") : CLI_DONE;
}
