// sweep_store.c -- linkwork sweep with a folder: the study is made part by part, by any number of processes.
#define _XOPEN_SOURCE 700
#include "cli/batch.h"
#include "cli/compiled.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct study {
    const cli_arguments *arguments;
    const char *folder;
    lw_store *store;
    int parts;           // of the study
    int threads;         // 0: all processors
    int made;            // parts, now
    lw_store_state then; // when it was opened
    lw_store_state now;
    double rows;              // variants of parts made now
    double start;             // wall clock [s]
    double counted, counting; // wall clock of the last count of parts; how long it took [s]
    cli_progress progress;
    double running; // variants of the part that is being made
    double share;   // variants of the parts of --part K/N that were missing
} study;

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool cli_has_folder(const cli_arguments *a)
{
    return a->store || a->resume || a->status || a->verify || a->merge || a->share ||
           a->part_rows || a->executor || a->scheduler;
}

static cli_exit fail_store(const study *s, lw_status status)
{
    return cli_fail(status, lw_store_error(s->store));
}

static cli_exit write_table(const study *s, const char *file)
{
    if (cli_ends_in(file, ".parquet")) return cli_write_parquet(s->folder, file);
    const lw_status status = lw_store_merge(s->store, file);
    if (status == LW_OK) return CLI_DONE;
    const cli_exit code = fail_store(s, status);
    if (status != LW_ERR_PARSE) return code;
    cli_complain(code, "`linkwork sweep --verify %s` removes damaged parts", s->folder);
    return code;
}

// ----------------------------------------------------------------------------------------- progress

static void print_time(FILE *file, double seconds)
{
    if (seconds < 120)
        fprintf(file, "%.0f s", seconds);
    else if (seconds < 7200)
        fprintf(file, "%.0f min", seconds / 60);
    else
        fprintf(file, "%.1f h", seconds / 3600);
}

// Of the study, with `fraction` of the present part.  The time left is that at the mean rate: of the parts of this process
// with --part, else of all that are made, by other processes too.  Before a few parts are made nothing is known of it.
static void draw(const study *s, double fraction)
{
    enum { KNOWN = 3 };
    const double present = fraction * s->running, elapsed = wall_clock() - s->start;
    const double made = (s->arguments->share ? s->rows : s->now.rows - s->then.rows) + present;
    const double left =
        s->arguments->share ? s->share - made : s->now.variants - s->now.rows - present;
    const double rate = elapsed > 0 ? made / elapsed : 0;
    fprintf(stderr, "\r%d of %d parts, %.0f of %d variants", s->now.done, s->now.parts,
            s->now.rows + present, s->now.variants);
    if (rate > 0) fprintf(stderr, ", %.3g/s", rate);
    if (rate > 0 && s->made >= KNOWN) {
        fputs(", ", stderr);
        print_time(stderr, left > 0 ? left / rate : 0);
        fputs(" left", stderr);
    }
    if (s->now.failed) fprintf(stderr, ", %d failed", s->now.failed);
    fputs("\033[K", stderr);
}

static int poll(void *user, double time, double end)
{
    study *s = user;
    const double every = 0.1; // s
    if (s->progress.bar && wall_clock() - s->progress.shown > every) {
        s->progress.shown = wall_clock();
        draw(s, end > 0 ? time / end : 1);
    }
    return cli_is_stopped(NULL);
}

// ------------------------------------------------------------------------------------------- parts

static int common_divisor(int a, int b)
{
    while (b) {
        const int rest = a % b;
        a = b, b = rest;
    }
    return a;
}

// Part number i of this process: each process goes through the parts in another order, so that two of them seldom make
// the same one.
static int part_at(const study *s, int i)
{
    const unsigned seed = (unsigned)getpid() * 2654435761u;
    const int n = s->parts;
    int step = 1 + (int)((seed >> 8) % (unsigned)n);
    while (common_divisor(step, n) > 1) step++;
    return (int)(((unsigned)i * (unsigned long long)step + seed % (unsigned)n) % (unsigned)n);
}

static cli_exit count(study *s)
{
    const double begun = wall_clock();
    const lw_status status = lw_store_count(s->store, &s->now);
    s->counted = wall_clock();
    s->counting = s->counted - begun;
    return status == LW_OK ? CLI_DONE : fail_store(s, status);
}

// A count opens all parts: a small part of the time is spent on counts, however many there are.
static cli_exit count_seldom(study *s)
{
    const double share = 50;
    if (wall_clock() - s->counted > share * s->counting) return count(s);
    s->now.done++;
    s->now.rows += (int)s->running;
    return CLI_DONE;
}

static cli_exit make_part(study *s, int part)
{
    if (lw_store_has(s->store, part)) return CLI_DONE;
    s->running = lw_store_part_rows(s->store, part, NULL);
    const lw_status status = lw_store_run(s->store, part, s->threads, s->arguments->lanes, poll, s);
    if (status == LW_ERR_INTERRUPTED) return CLI_FAILED;
    if (status != LW_OK) return fail_store(s, status);
    s->rows += s->running;
    s->made++;
    return count_seldom(s);
}

static cli_exit make_parts(study *s)
{
    const cli_arguments *a = s->arguments;
    const int shares = a->share ? a->shares : 1, first = a->share ? a->share - 1 : 0;
    cli_exit code = CLI_DONE;
    for (int i = first; i < s->parts && a->share; i += shares)
        if (!lw_store_has(s->store, i)) s->share += lw_store_part_rows(s->store, i, NULL);
    for (int i = 0; i < s->parts && !code; i++) {
        const int part = a->share ? i : part_at(s, i);
        if (part % shares == first) code = make_part(s, part);
        if (!code && cli_is_stopped(NULL)) code = CLI_FAILED;
    }
    return code;
}

// ------------------------------------------------------------------------------------------ reports

static void print_state(const study *s)
{
    const lw_store_state *n = &s->now;
    printf("study        %s, %.16s\n", s->folder, lw_store_hash(s->store));
    printf("method       %s, %s\n", lw_store_options(s->store)->formulation,
           lw_store_options(s->store)->integrator);
    printf("parts        %d of %d complete", n->done, n->parts);
    if (s->made) printf(", %d made now", s->made);
    printf("\nvariants     %d of %d", n->rows, n->variants);
    if (n->failed) printf(", %d failed", n->failed);
    putchar('\n');
    if (s->made) {
        const double elapsed = wall_clock() - s->start;
        printf("rate         %.3g variants/s over ", s->rows / elapsed);
        print_time(stdout, elapsed);
        putchar('\n');
    }
    if (n->temporary)
        printf("temporary    %d file%s of processes that write, or were killed while they wrote\n",
               n->temporary, n->temporary == 1 ? "" : "s");
}

static void print_json(const study *s)
{
    const lw_store_state *n = &s->now;
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "folder", s->folder);
    json_text(&json, "hash", lw_store_hash(s->store));
    json_text(&json, "version", lw_version());
    json_text(&json, "formulation", lw_store_options(s->store)->formulation);
    json_text(&json, "integrator", lw_store_options(s->store)->integrator);
    json_integer(&json, "parts", n->parts);
    json_integer(&json, "complete", n->done);
    json_integer(&json, "made", s->made);
    json_integer(&json, "part_rows", lw_store_part_rows(s->store, 0, NULL));
    json_integer(&json, "variants", n->variants);
    json_integer(&json, "rows", n->rows);
    json_integer(&json, "failed", n->failed);
    json_integer(&json, "temporary", n->temporary);
    json_close(&json, '}');
}

static void report(const study *s)
{
    if (s->arguments->json)
        print_json(s);
    else if (!s->arguments->quiet)
        print_state(s);
}

// ---------------------------------------------------------------------------------- what to do

static cli_exit count_parts(study *s)
{
    const cli_exit code = count(s);
    s->then = s->now;
    s->parts = s->now.parts;
    return code;
}

static cli_exit open_folder(study *s, const char *folder)
{
    lw_error error = {0};
    s->folder = folder;
    const lw_status status = lw_store_open(folder, &s->store, &error);
    if (status == LW_OK) return count_parts(s);
    cli_fail(status, &error);
    return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
}

static cli_exit write_tables(study *s)
{
    const cli_arguments *a = s->arguments;
    for (int i = 0; i < a->ntable; i++) {
        const cli_exit code = write_table(s, a->table[i]);
        if (code) return code;
        if (!a->quiet && !a->json) printf("table        %s\n", a->table[i]);
    }
    return CLI_DONE;
}

static cli_exit make(study *s)
{
    const cli_arguments *a = s->arguments;
    if (cli_has_executor(a)) return cli_run_executor(a, s->folder, s->threads);
    cli_catch_signals();
    s->start = wall_clock();
    s->progress = cli_progress_start(a->verb, a->quiet, 0);
    const cli_exit made = make_parts(s), counted = count(s), code = made ? made : counted;
    cli_progress_end(&s->progress);
    report(s);
    if (!code) return s->now.done == s->now.parts ? write_tables(s) : CLI_DONE;
    return cli_complain(CLI_FAILED,
                        "%s: %d of %d parts are complete; `linkwork sweep --resume %s` continues",
                        s->folder, s->now.done, s->now.parts, s->folder);
}

// Tables are written when all parts are complete: those that cannot be are refused before.
static cli_exit check_tables(const cli_arguments *a)
{
    cli_exit code = cli_check_results(a);
    for (int i = 0; i < a->ntable && !code; i++) code = cli_check_place(a->table[i]);
    for (int i = 0; i < a->noutput && !code; i++) code = cli_check_place(a->output[i]);
    for (int i = 0; i < a->ntable && !code; i++) code = cli_check_parquet(a->table[i]);
    return code;
}

// "sobol:64, seed 3: l=0.4:0.6, c=1,2"
static char *about(const cli_arguments *a)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    fprintf(file, "%s", a->design ? a->design : "grid");
    if (a->design) fprintf(file, ", seed %llu", (unsigned long long)a->seed);
    for (int k = 0; k < a->nvary; k++) fprintf(file, "%s%s", k ? "; " : ": ", a->vary[k]);
    if (a->batch) fprintf(file, "; rows of %s", a->batch);
    fclose(file);
    return text;
}

// What is said of the options, as by a sweep without a folder: of the first variant and the last one.
static void print_notice(const lw_model *model, const lw_options *options, const cases *what)
{
    const size_t width = (size_t)what->columns;
    lw_sweep *two = NULL;
    double *value = malloc((2 * width + 1) * sizeof *value);
    if (!value) return;
    memcpy(value, what->value, width * sizeof *value);
    memcpy(value + width, what->value + ((size_t)what->n - 1) * width, width * sizeof *value);
    const lw_batch_desc desc = {.options = options,
                                .instances = 2,
                                .threads = 1,
                                .nvary = what->columns,
                                .vary = what->name,
                                .values = value};
    if (lw_sweep_create(model, &desc, &two, NULL) == LW_OK) {
        for (const char *line = lw_sweep_notice(two); *line;) {
            const size_t n = strcspn(line, "\n");
            printf("%-12s %.*s\n", "options", (int)n, line);
            line += n + (line[n] == '\n');
        }
        fflush(stdout);
    }
    lw_sweep_destroy(two);
    free(value);
}

static cli_exit create(study *s, const lw_model *model, const lw_options *options,
                       const cases *what)
{
    const cli_arguments *a = s->arguments;
    lw_error error = {0};
    char *text = about(a);
    const lw_store_desc desc = {.options = options,
                                .variants = what->table,
                                .columns = a->observed,
                                .about = text,
                                .part_rows = a->part_rows,
                                .parts = a->shares,
                                .threads = (int)options->threads};
    s->folder = a->store;
    s->threads = desc.threads;
    const lw_status status = lw_store_create(a->store, model, &desc, &s->store, &error);
    free(text);
    return status == LW_OK ? count_parts(s) : cli_fail(status, &error);
}

static cli_exit begin(study *s)
{
    const cli_arguments *a = s->arguments;
    lw_model *model = NULL;
    lw_options options;
    cases what = {0};
    if (!a->operand)
        return cli_complain(CLI_USE, "sweep --store: MODEL is missing; --resume DIR continues");
    if (!a->nvary && !a->batch)
        return cli_complain(CLI_USE,
                            "sweep --store: nothing differs; give --vary NAME=FROM:TO:COUNT or "
                            "--batch FILE");
    cli_exit code = check_tables(a);
    if (!code) code = cli_read(a, &model, &options);
    if (!code) code = cli_compiled_exclude(a, &options, "expected a sweep without a folder");
    if (!code) code = cases_read(a, model, &what);
    if (!code) code = create(s, model, &options, &what);
    if (!code && !a->quiet && !a->json) print_notice(model, &options, &what);
    cases_free(&what);
    lw_model_destroy(model);
    return code ? code : make(s);
}

static void report_damage(void *user, const char *file, const char *what)
{
    (void)user;
    cli_complain(CLI_FAILED, "%s: %s; removed", file, what);
}

static cli_exit verify(study *s)
{
    int damaged;
    const lw_status status = lw_store_verify(s->store, report_damage, NULL, &damaged);
    if (status != LW_OK) return fail_store(s, status);
    const cli_exit code = count_parts(s);
    if (code) return code;
    report(s);
    if (!damaged) return CLI_DONE;
    return cli_complain(
        CLI_FAILED, "%s: %d part%s damaged; `linkwork sweep --resume %s` makes %s again", s->folder,
        damaged, damaged == 1 ? " was" : "s were", s->folder, damaged == 1 ? "it" : "them");
}

static cli_exit merge(study *s)
{
    const cli_arguments *a = s->arguments;
    if (!a->noutput)
        return cli_complain(CLI_USE,
                            "sweep --merge: give the table to write, -o FILE.csv, .h5 or .parquet");
    for (int i = 0; i < a->noutput; i++) {
        const cli_exit code = write_table(s, a->output[i]);
        if (code) return code;
    }
    report(s);
    return CLI_DONE;
}

// Of a study that is continued, the only option of the run that may differ.
static cli_exit read_threads(study *s)
{
    const cli_arguments *a = s->arguments;
    lw_options options;
    lw_options_default(&options);
    for (int i = 0; i < a->nsetting; i++) {
        if (strcmp(a->setting[i].key, "threads") != 0)
            return cli_complain(CLI_USE, "the folder has the options of the runs, --%s too",
                                a->setting[i].key);
        lw_options_set(&options, "threads", a->setting[i].value, NULL);
    }
    s->threads = (int)options.threads;
    return CLI_DONE;
}

// The option that names a folder that is there.
static const char *option_of(const cli_arguments *a)
{
    return a->resume ? "resume" : a->status ? "status" : a->verify ? "verify" : "merge";
}

#define ALWAYS CLI_RESUME, CLI_STATUS, CLI_VERIFY, CLI_MERGE, CLI_JSON, CLI_QUIET

// Options of a folder that is there, and what each has no use for.
static cli_exit check_others(const cli_arguments *a)
{
    const cli_options own =
        a->resume ? CLI_OPTIONS(ALWAYS, CLI_PART, CLI_LANES, CLI_TABLE, CLI_EXECUTOR, CLI_SCHEDULER)
        : a->merge ? CLI_OPTIONS(ALWAYS, CLI_OUTPUT)
                   : CLI_OPTIONS(ALWAYS);
    const char *other = a->store ? NULL : cli_other_option(a, own);
    if (!other) return CLI_DONE;
    return cli_complain(CLI_USE, "--%s is not for --%s DIR: the folder has the model and the study",
                        other, option_of(a));
}

// One of these at a time, and what each has no use for.
static cli_exit check_use(const cli_arguments *a)
{
    const int asked = !!a->store + !!a->resume + !!a->status + !!a->verify + !!a->merge;
    if (asked == 0)
        return cli_complain(CLI_USE,
                            "--part, --part-rows and --engine are for --store DIR or --resume DIR");
    if (asked > 1)
        return cli_complain(CLI_USE,
                            "--store, --resume, --status, --verify, --merge: expected one of them");
    if (!a->store && a->operand)
        return cli_complain(CLI_USE,
                            "the folder has the model and the study; expected only --%s DIR",
                            option_of(a));
    if (a->noutput && !a->merge)
        return cli_complain(CLI_USE, "-o is of --merge; a folder keeps no rows of the runs");
    if ((a->executor || a->scheduler) && !a->store && !a->resume)
        return cli_complain(CLI_USE, "--engine is for --store DIR or --resume DIR");
    if (a->share && cli_has_executor(a))
        return cli_complain(CLI_USE,
                            "--part K/N is a share of this process; an executor makes all parts");
    const cli_exit code = cli_check_executor(a);
    if (code) return code;
    if (a->share && !a->store && !a->resume)
        return cli_complain(CLI_USE, "--part is for --store DIR or --resume DIR");
    return check_others(a);
}

static cli_exit act(study *s)
{
    const cli_arguments *a = s->arguments;
    if (a->store) return begin(s);
    const char *folder = a->resume   ? a->resume
                         : a->status ? a->status
                         : a->verify ? a->verify
                                     : a->merge;
    cli_exit code = read_threads(s);
    if (!code) code = check_tables(a);
    if (!code) code = open_folder(s, folder);
    if (code) return code;
    if (a->resume) return make(s);
    if (a->verify) return verify(s);
    if (a->merge) return merge(s);
    report(s);
    return CLI_DONE;
}

cli_exit cli_folder(const cli_arguments *arguments)
{
    study s = {.arguments = arguments};
    cli_exit code = check_use(arguments);
    if (!code) code = act(&s);
    lw_store_close(s.store);
    return code;
}
