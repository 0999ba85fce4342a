// bench.c -- linkwork bench: what evaluations cost on this machine.
//
// Cases are those of scenes.c; a MODEL is timed by bench_model.c.
#include "cli/bench.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CASES = 48 };

// ------------------------------------------------------------------------------------ which cases

// The next name of a list of names separated by commas; false when there is none.
static bool next_name(const char **list, char *name, size_t size)
{
    if (!**list) return false;
    const size_t length = strcspn(*list, ",");
    snprintf(name, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

// `chain` names all chains, `chain-7` one of them.
static bool names(const char *name, const char *of)
{
    const size_t n = strlen(name);
    return !strncmp(name, of, n) && (!of[n] || of[n] == '-');
}

static bool wanted(const scene_case *c, const char *list)
{
    char name[64];
    if (!list) return c->is_default;
    while (next_name(&list, name, sizeof name))
        if (names(name, c->name) || !strcmp(name, "all")) return true;
    return false;
}

static cli_exit check_names(const char *list, const scene_case *cases, int n)
{
    char name[64], room[80];
    const char *known[MAX_CASES + 1] = {"all"};
    for (int i = 0; i < n; i++) known[i + 1] = cases[i].name;
    while (list && next_name(&list, name, sizeof name)) {
        bool found = !strcmp(name, "all");
        for (int i = 0; i < n && !found; i++) found = names(name, cases[i].name);
        if (!found)
            return cli_complain(CLI_USE, "bench has no case '%s'%s", name,
                                cli_suggestion(room, sizeof room, name, known, n + 1));
    }
    return CLI_DONE;
}

// --------------------------------------------------------------------------------------- printing

static void processor(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}

static void print_row(const bench_result *r)
{
    printf("  %-15s %-17s", r->of->name, r->method);
    if (r->of->work == SCENE_FALL) {
        printf("%10.4g %9.4g s per simulated s; energy error %.1e, tip %.2f m\n", r->time.min,
               r->time.median, r->energy_error, r->tip);
        return;
    }
    if (r->of->work == SCENE_RUN) {
        printf("%10.3f %9.3f us for %g s, setting %.0e, last angle %.12f rad\n", 1e6 * r->time.min,
               1e6 * r->time.median, scene_duration(r->of->kind, r->of->n), r->setting,
               r->digest.last);
        return;
    }
    printf("%10.3f %9.3f us %9.1f ns per body\n", 1e6 * r->time.min, 1e6 * r->time.median,
           1e9 * r->time.min / r->bodies);
}

void bench_print_machine(void)
{
    char cpu[128];
    processor(cpu, sizeof cpu);
    printf("linkwork %s (%s), %s, %s %s\n\n", lw_version(), CLI_COMMIT, cpu, CLI_COMPILER,
           CLI_FLAGS);
}

void bench_json_machine(cli_json *json)
{
    char cpu[128];
    processor(cpu, sizeof cpu);
    json_text(json, "version", lw_version());
    json_text(json, "commit", CLI_COMMIT);
    json_text(json, "cpu", cpu);
    json_text(json, "compiler", CLI_COMPILER);
    json_text(json, "flags", CLI_FLAGS);
}

static void print_text(const bench_result *results, int n, int threads)
{
    bench_print_machine();
    if (threads > 1) printf("  %d threads, wall-clock time\n", threads);
    printf("  one evaluation                      minimum    median\n");
    for (int i = 0; i < n; i++) print_row(&results[i]);
}

static void print_digest(cli_json *json, const bench_result *r)
{
    const scene_digest *d = &r->digest, *published = scene_published(r->of->kind, r->of->n);
    const bool ran = r->of->work == SCENE_RUN;
    json_open(json, ran ? "angles" : "accelerations", '{');
    json_number(json, "sum", d->sum);
    json_number(json, "max", d->max);
    json_number(json, "first", d->first);
    json_number(json, "last", d->last);
    if (published && r->of->work == SCENE_EVALUATION)
        json_number(json, "ninth_digit", scene_ninth_digit(d, published));
    json_close(json, '}');
}

static void print_result(cli_json *json, const bench_result *r)
{
    const bool drop = r->of->work == SCENE_FALL;
    const bool ran = r->of->work == SCENE_RUN;
    const double unit = drop || ran ? 1 : 1e9;
    json_open(json, NULL, '{');
    json_text(json, "case", r->of->name);
    json_integer(json, "bodies", r->bodies);
    json_text(json, "method", r->method);
    json_text(json, "unit", drop ? "s per simulated s" : ran ? "s" : "ns");
    json_integer(json, "samples", r->time.samples);
    json_number(json, "minimum", unit * r->time.min);
    json_number(json, "median", unit * r->time.median);
    if (ran) json_number(json, "setting", r->setting);
    if (strstr(r->method, "compiled")) json_number(json, "compiling", r->compiling);
    if (r->has_digest) print_digest(json, r);
    if (drop) {
        json_number(json, "energy_error", r->energy_error);
        json_number(json, "tip", r->tip);
    }
    json_close(json, '}');
}

static void print_json(const bench_result *results, int n, int threads)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    bench_json_machine(&json);
    json_integer(&json, "threads", threads);
    json_open(&json, "cases", '[');
    for (int i = 0; i < n; i++) print_result(&json, &results[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

// -------------------------------------------------------------------------------------------- verb

static lw_status run(const scene_case *c, bench_budget budget, bench_result *results, int *count,
                     lw_error *error)
{
    *count = 1;
    if (c->work == SCENE_FALL) return bench_drop(c, budget, results, error);
    if (c->work == SCENE_RUN) return bench_run(c, budget, results, count, error);
    if (scene_is_long(c->kind)) return bench_rates(c, budget, results, count, error);
    lw_status status = bench_evaluations(c, budget, results, count, error);
    if (status == LW_OK && c->work == SCENE_BATCH)
        status = bench_batch(c, budget, &results[(*count)++], error);
    return status;
}

// Threads for the cases that use them, all of those that are named; of a run there are no other options to act on.
static cli_exit read_threads(const cli_arguments *a, const scene_case *cases, int n, int *threads)
{
    lw_options options;
    lw_error error = {0};
    *threads = 1;
    lw_options_default(&options);
    for (int i = 0; i < a->nsetting; i++)
        if (lw_options_set(&options, a->setting[i].key, a->setting[i].value, &error) != LW_OK)
            return cli_fail(error.status, &error);
    if (options.threads > 1) *threads = (int)options.threads;
    for (int i = 0; i<n && * threads> 1; i++)
        if (wanted(&cases[i], a->cases) && !scene_is_long(cases[i].kind))
            return cli_complain(CLI_USE,
                                "bench: case '%s' has one thread; --threads needs a MODEL or "
                                "--case path,rope,branches,ring",
                                cases[i].name);
    return CLI_DONE;
}

static const char *other_setting(const cli_arguments *a)
{
    for (int i = 0; i < a->nsetting; i++)
        if (strcmp(a->setting[i].key, "threads") != 0 && strcmp(a->setting[i].key, "compiled") != 0)
            return a->setting[i].key;
    return NULL;
}

static cli_exit check_options(const cli_arguments *a)
{
    const char *key = other_setting(a)                                ? other_setting(a)
                      : a->formulations                               ? "formulations"
                      : a->cut                                        ? "cut"
                      : a->keyframe                                   ? "keyframe"
                      : a->base != LW_BASE_AUTO                       ? "base"
                      : a->limits.stiffness > 0 || a->limits_time > 0 ? "limits"
                                                                      : NULL;
    return key ? cli_complain(CLI_USE, "bench: --%s needs a MODEL", key) : CLI_DONE;
}

cli_exit cli_bench(const cli_arguments *arguments)
{
    const char *when = "off";
    for (int i = 0; i < arguments->nsetting; i++)
        if (!strcmp(arguments->setting[i].key, "compiled")) when = arguments->setting[i].value;
    if (!strcmp(when, "auto") || (arguments->operand && strcmp(when, "off") != 0))
        return cli_complain(CLI_USE, "bench: --compiled %s: expected off or, of built-in cases, on",
                            when);
    if (arguments->operand) return bench_model(arguments);
    bench_budget budget = {arguments->seconds, arguments->samples, 1, !strcmp(when, "on")};
    bench_result results[MAX_CASES * BENCH_MAX_METHODS];
    int ncase, n = 0;
    const scene_case *cases = scene_cases(&ncase);
    cli_exit code = check_options(arguments);
    if (!code) code = check_names(arguments->cases, cases, ncase);
    if (!code) code = read_threads(arguments, cases, ncase, &budget.threads);
    if (code) return code;
    for (int i = 0; i < ncase; i++) {
        lw_error error = {0};
        int count = 0;
        if (!wanted(&cases[i], arguments->cases)) continue;
        const lw_status status = run(&cases[i], budget, results + n, &count, &error);
        if (status != LW_OK) return cli_fail(status, &error), CLI_FAILED;
        n += count;
    }
    (arguments->json ? print_json : print_text)(results, n, budget.threads);
    return CLI_DONE;
}
