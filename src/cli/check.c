// check.c -- linkwork check: what a model is, before anything moves.
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
#define X(name, text, nq, nv, nc, help) text,
    LW_JOINT_LIST(X)
#undef X
};

enum { MAX_NAMES = 8, MAX_LOOPS = 20 }; ///< that the text gives; --json has all
enum { NPLAN = 2 };

/** What became of formulations that accept the model at a singular start. */
enum { BEGINS, CANNOT, UNTRIED, BEGINNINGS, MAX_FORMULATIONS = 16 };

/** A formulation is not tried if an evaluation is predicted to take so many of the cheapest one, and longer than
 *  NOTICEABLE [s]. */
enum { MAX_EVALUATIONS = 10 };
static const double NOTICEABLE = 1e-3;

/** What the library says of a model. */
typedef struct findings {
    lw_check check;
    lw_redundancy *joint; ///< [joint]
    bool *printed;        ///< [joint] scratch of the text
    lw_joint *loop;       ///< [joint] room for the joints of one loop
    int type_count[LW_JOINT_COUNT];
    int nbody, njoint, nloop, nwarning; ///< bodies without the ground
    lw_plan_info plan[NPLAN], used;     ///< comb, balanced; what `auto` takes
    const char *begin[BEGINNINGS][MAX_FORMULATIONS];
    int nbegin[BEGINNINGS];
    char method[600]; ///< of a run, or why there is none
    bool refused;     ///< there is none
} findings;

static void count(const lw_model *model, findings *f)
{
    f->nbody = lw_model_body_count(model) - 1;
    f->njoint = lw_model_joint_count(model);
    f->nloop = lw_model_loop_count(model);
    f->nwarning = lw_model_warning_count(model);
    for (int i = 0; i < f->njoint; i++) f->type_count[lw_model_joint(model, (lw_joint){i}).type]++;
}

// Fewer constraints are independent there than nearby.
static bool singular_start(const findings *f)
{
    return f->check.dof > f->check.dof_generic;
}

// A run begins with a state and its rates.
static lw_status begin(const lw_model *model, const lw_options *options)
{
    lw_sim *sim = NULL;
    const lw_observation *o;
    lw_status status = lw_sim_create(model, &(lw_sim_desc){.options = options}, &sim, NULL);
    if (status == LW_OK) status = lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o);
    lw_sim_destroy(sim);
    return status;
}

static double smallest_of(const double *seconds, int n)
{
    double smallest = INFINITY;
    for (int i = 0; i < n; i++) smallest = fmin(smallest, seconds[i]);
    return smallest;
}

// Tries which formulations can begin at a singular initial state; formulations that refuse the model are not listed.
static lw_status find_beginners(const lw_model *model, findings *f, lw_error *error)
{
    const int n = lw_formulation_count();
    double seconds[MAX_FORMULATIONS];
    if (n > MAX_FORMULATIONS) return LW_ERR_INTERNAL;
    lw_status status = lw_model_costs(model, seconds, error);
    const double limit = fmax(NOTICEABLE, MAX_EVALUATIONS * smallest_of(seconds, n));
    for (int i = 0; i < n && status == LW_OK; i++) {
        const char *name = lw_formulation_info(i).name;
        lw_options options;
        int what = UNTRIED;
        if (isnan(seconds[i])) continue; // refuses the model
        lw_options_default(&options);
        status = lw_options_set(&options, "formulation", name, error);
        if (status == LW_OK && seconds[i] <= limit) {
            const lw_status begun = begin(model, &options);
            if (begun == LW_ERR_MEMORY) return begun;
            if (begun != LW_OK && begun != LW_ERR_SINGULAR) continue;
            what = begun == LW_OK ? BEGINS : CANNOT;
        }
        f->begin[what][f->nbegin[what]++] = name;
    }
    return status;
}

// -------------------------------------------------------------------------------------------- text

static void print_bodies(const lw_model *model, const findings *f)
{
    double mass = 0;
    for (int i = 1; i <= f->nbody; i++) mass += lw_model_body(model, (lw_body){i}).mass;
    printf("bodies       %d, %.6g kg\n", f->nbody, mass);
    for (int i = 1; i <= f->nbody; i++) {
        const lw_body_info body = lw_model_body(model, (lw_body){i});
        if (body.moves_with == i) continue;
        printf("             %s moves with %s\n", body.name,
               lw_model_body_name(model, (lw_body){body.moves_with}));
    }
}

static void print_joints(const lw_model *model, const findings *f)
{
    const char *separator = ": ";
    printf("joints       %d", f->njoint);
    for (int i = 0; i < LW_JOINT_COUNT; i++) {
        if (!f->type_count[i]) continue;
        printf("%s%d %s", separator, f->type_count[i], type_names[i]);
        separator = ", ";
    }
    printf("\nloops        %d\n", f->nloop);
    for (int i = 0; i < f->nloop && i < MAX_LOOPS; i++) {
        const int n = lw_model_loop(model, i, f->loop, f->njoint);
        printf("             %s closes one", lw_model_joint_name(model, f->loop[0]));
        for (int k = 1; k < n && k <= MAX_NAMES; k++)
            printf("%s%s", k > 1 ? ", " : " with ", lw_model_joint_name(model, f->loop[k]));
        if (n - 1 > MAX_NAMES) printf(", ... (%d in all)", n - 1);
        printf("\n");
    }
    if (f->nloop > MAX_LOOPS) printf("             ... (--json lists all)\n");
}

// "z force, x and y torque": the axes of F1 along which the reaction is left open, where they are
// all.
static const char *axes_text(const lw_redundancy *r, char *text, size_t size)
{
    static const char *const names[] = {"x", "y", "z"};
    size_t used = 0;
    int named = 0;
    text[0] = 0;
    for (int k = 0; k < 2; k++) {
        const unsigned axes = r->axes >> (3 * k) & 7u;
        const int n = (int)((axes & 1u) + (axes >> 1 & 1u) + (axes >> 2 & 1u));
        if (n && used) used += (size_t)snprintf(text + used, size - used, ", ");
        for (int i = 0, done = 0; i < 3; i++) {
            if (!(axes >> i & 1u)) continue;
            const char *before = !done ? "" : done == n - 1 ? " and " : ", ";
            used += (size_t)snprintf(text + used, size - used, "%s%s", before, names[i]);
            done++;
        }
        if (n) used += (size_t)snprintf(text + used, size - used, k ? " torque" : " force");
        named += n;
    }
    if (named < r->open) text[0] = 0;
    return text;
}

// Two joints of which the same is to be said.
static bool alike(const lw_redundancy *a, const lw_redundancy *b)
{
    return a->rows == b->rows && a->dependent == b->dependent && a->open == b->open &&
           a->axes == b->axes;
}

// The names of all joints from i on that are like joint i, some of them where there are many; marks
// them as printed.
static void print_alike(const lw_model *model, const findings *f, int i, bool *printed)
{
    int n = 0;
    for (int k = i; k < f->njoint; k++) {
        if (printed[k] || !alike(&f->joint[i], &f->joint[k])) continue;
        printed[k] = true;
        if (n++ < MAX_NAMES)
            printf("%s%s", n > 1 ? ", " : "", lw_model_joint_name(model, (lw_joint){k}));
    }
    if (n > MAX_NAMES) printf(", ... (%d in all)", n);
}

static void print_dependent(const lw_model *model, const findings *f)
{
    char axes[80];
    memset(f->printed, 0, (size_t)f->njoint * sizeof *f->printed);
    for (int i = 0; i < f->njoint; i++) {
        const lw_redundancy *r = &f->joint[i];
        if (!r->dependent || f->printed[i]) continue;
        printf("             %d of %d depend%s on others at ", r->dependent, r->rows,
               r->dependent == 1 ? "s" : "");
        print_alike(model, f, i, f->printed);
        if (r->dependent == r->open && axes_text(r, axes, sizeof axes)[0]) printf(": %s", axes);
        printf("\n");
    }
}

static void print_undetermined(const lw_model *model, const findings *f)
{
    char axes[80];
    int open = 0;
    for (int i = 0; i < f->njoint; i++) open += f->joint[i].open > 0;
    if (!open) return;
    printf(
        "reactions    not determined by the constraints at %d joint%s; the smallest are reported\n",
        open, open == 1 ? "" : "s");
    // here it does not matter how many rows of a joint depend on others
    for (int i = 0; i < f->njoint; i++) f->joint[i].rows = f->joint[i].dependent = 0;
    memset(f->printed, 0, (size_t)f->njoint * sizeof *f->printed);
    for (int i = 0; i < f->njoint; i++) {
        const lw_redundancy *r = &f->joint[i];
        if (!r->open || f->printed[i]) continue;
        printf("             ");
        print_alike(model, f, i, f->printed);
        if (axes_text(r, axes, sizeof axes)[0])
            printf(": %s\n", axes);
        else
            printf(": %d direction%s\n", r->open, r->open == 1 ? "" : "s");
    }
}

// Larger residuals than this are no round-off.
#define CONFLICT 1e-9

static void print_beginners(const findings *f)
{
    static const char *const before[BEGINNINGS] = {"", "not with ", "not tried: "};
    const bool any = f->nbegin[BEGINS] > 0;
    printf("             the start is a singular position: %d more than nearby; %s\n             ",
           f->check.dof - f->check.dof_generic,
           any ? "runs can begin here with" : "no run can begin here,");
    for (int what = 0; what < BEGINNINGS; what++)
        for (int i = 0; i < f->nbegin[what]; i++)
            printf("%s%s%s",
                   i             ? ", "
                   : what && any ? "; "
                                 : "",
                   i ? "" : before[what], f->begin[what][i]);
    printf("\n");
    if (f->nbegin[UNTRIED])
        printf("             (not tried: predicted to take more than %d times as long as the "
               "fastest)\n",
               MAX_EVALUATIONS);
    printf(
        "             equilibrium, linearize and modes refuse it: they need a regular position\n");
}

static void print_dof(const lw_model *model, const findings *f)
{
    const lw_check *c = &f->check;
    printf("dof          %d now, %d generically\n", c->dof, c->dof_generic);
    if (c->dof > c->dof_generic)
        print_beginners(f);
    else if (c->dof == 0 && f->nbody)
        printf("             nothing can move but what drives and mounts move\n");
    printf("constraints  %d equations, %d independent, %d redundant\n", c->rows, c->rank,
           c->redundant);
    print_dependent(model, f);
    print_undetermined(model, f);
    if (c->conflict > CONFLICT)
        printf("conflict     no accelerations meet all constraints at the start (%s is off by "
               "%.1e): drives, or\n"
               "             the velocities, ask for what the loops forbid\n",
               c->conflict_joint < 0 ? "a coupling"
                                     : lw_model_joint_name(model, (lw_joint){c->conflict_joint}),
               c->conflict);
    printf("assembly     residual: position %.1e, velocity %.1e\n", c->residual[0], c->residual[1]);
    if (c->drive_joint >= 0)
        printf("             starts in motion: that of joint '%s' has qd%d = %.9g at the start\n",
               lw_model_joint_name(model, (lw_joint){c->drive_joint}), c->drive_coordinate,
               c->drive_speed);
    if (c->followed)
        printf("             speeds of %d joint%s follow from those given\n", c->followed,
               c->followed == 1 ? "" : "s");
    if (f->nloop)
        printf("pivots       smallest kept %.1e%s%s, largest dropped %.1e (1: at right angles, 0: "
               "dependent)\n",
               c->kept, c->kept_joint < 0 ? "" : " at ",
               c->kept_joint < 0 ? "" : lw_model_joint_name(model, (lw_joint){c->kept_joint}),
               c->dropped);
}

static void print_plans(const findings *f)
{
    printf("plan         joins  depth  equations  open joints  multiplications  critical path  "
           "evaluation\n");
    for (int i = 0; i < NPLAN; i++) {
        const lw_plan_info *p = &f->plan[i];
        printf("  %-10s %5d  %5d  %9d  %11d  %15.4g  %13.4g  %10.4g\n", p->kind, p->nodes, p->depth,
               p->width, p->open, p->work, p->critical, p->evaluation);
    }
    printf("             auto takes %s; equations: of the widest join\n", f->used.kind);
    printf(
        "             evaluation: on its longest path, with %d of the tree's bodies one after the "
        "other in each of\n             two passes, and %d force%s on one thread\n",
        f->used.pass, f->used.forces, f->used.forces == 1 ? "" : "s");
    const lw_plan_info *p = &f->used;
    if (p->segments)
        printf(
            "segments     dca and hdca evaluate %d segments of up to %d bodies, in %d group%s of "
            "eight;\n             longest way: %d bodies, then %d joins\n",
            p->segments, p->segment_length, p->segment_groups, p->segment_groups == 1 ? "" : "s",
            p->segment_length, p->segment_joins);
    if (p->segment_hubs)
        printf("             between them %d bodies that branch or close loops, in a separate "
               "elimination\n",
               p->segment_hubs);
}

// The methods of a run with these options, or why it is refused.
static lw_status find_method(const lw_model *model, const lw_options *options, findings *f,
                             lw_sim **sim, lw_error *error)
{
    const lw_sim_desc desc = {.options = options};
    const lw_observation *start;
    lw_status status = lw_sim_create(model, &desc, sim, error);
    if (status == LW_OK) {
        status = lw_sim_observe(*sim, LW_OBSERVE_ACCELERATION, &start);
        if (status != LW_OK) *error = *lw_sim_error(*sim);
    }
    if (status == LW_OK)
        snprintf(f->method, sizeof f->method, "%s, %s", lw_sim_options(*sim)->formulation,
                 lw_sim_options(*sim)->integrator);
    else
        snprintf(f->method, sizeof f->method, "none: %s", error->text), f->refused = true;
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

static void print_signals(const lw_model *model)
{
    int total = 0, count[LW_FUNCTION_COUNT] = {0};
    const char *name[LW_FUNCTION_COUNT] = {0};
    const char *separator = ": ";
    for (int i = 0; i < lw_model_function_count(model); i++) {
        const lw_function_info f = lw_model_function(model, i);
        if (f.recorded) total++, count[f.type]++, name[f.type] = f.type_name;
    }
    if (!total) return;
    printf("signals      %d", total);
    for (int type = 0; type < LW_FUNCTION_COUNT; type++) {
        if (!count[type]) continue;
        printf("%s%d %s", separator, count[type], name[type]);
        separator = ", ";
    }
    printf("\n");
}

static void print_events(const lw_model *model)
{
    const int n = lw_model_event_count(model);
    if (!n) return;
    printf("events       %d", n);
    for (int i = 0; i < n && i < MAX_NAMES; i++)
        printf("%s%s", i ? ", " : ": ", lw_model_event_name(model, i));
    printf(n > MAX_NAMES ? ", ...\n" : "\n");
}

static void print_findings(const lw_model *model, const findings *f)
{
    print_bodies(model, f);
    print_joints(model, f);
    print_dof(model, f);
    if (f->used.kind) print_plans(f);
    print_signals(model);
    print_events(model);
    printf("method       %s\n", f->method);
    printf("warnings     %d\n", f->nwarning);
    for (int i = 0; i < f->nwarning; i++) printf("             %s\n", lw_model_warning(model, i));
}

// -------------------------------------------------------------------------------------------- JSON

static void json_bodies(cli_json *json, const lw_model *model, const findings *f)
{
    json_open(json, "bodies", '[');
    for (int i = 1; i <= f->nbody; i++) {
        const lw_body_info body = lw_model_body(model, (lw_body){i});
        json_open(json, NULL, '{');
        json_text(json, "name", body.name);
        json_number(json, "mass", body.mass);
        if (body.moves_with != i)
            json_text(json, "moves_with", lw_model_body_name(model, (lw_body){body.moves_with}));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_joints(cli_json *json, const lw_model *model, const findings *f)
{
    char axes[80];
    json_open(json, "joints", '[');
    for (int i = 0; i < f->njoint; i++) {
        const lw_joint_info joint = lw_model_joint(model, (lw_joint){i});
        json_open(json, NULL, '{');
        json_text(json, "name", joint.name);
        json_text(json, "type", type_names[joint.type]);
        json_text(json, "body1", lw_model_body_name(model, joint.body1));
        json_text(json, "body2", lw_model_body_name(model, joint.body2));
        json_integer(json, "driven", joint.ndriven);
        json_integer(json, "closes_loop", joint.closes_loop);
        json_integer(json, "constraints", f->joint[i].rows);
        json_integer(json, "redundant", f->joint[i].dependent);
        json_integer(json, "undetermined", f->joint[i].open);
        json_text(json, "undetermined_axes", axes_text(&f->joint[i], axes, sizeof axes));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_loops(cli_json *json, const lw_model *model, const findings *f)
{
    json_integer(json, "loops", f->nloop);
    json_open(json, "loop_joints", '[');
    for (int i = 0; i < f->nloop; i++) {
        const int n = lw_model_loop(model, i, f->loop, f->njoint);
        json_open(json, NULL, '[');
        for (int k = 0; k < n; k++) json_text(json, NULL, lw_model_joint_name(model, f->loop[k]));
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void json_signals(cli_json *json, const lw_model *model)
{
    json_open(json, "signals", '[');
    for (int i = 0; i < lw_model_function_count(model); i++) {
        const lw_function_info f = lw_model_function(model, i);
        if (!f.recorded) continue;
        json_open(json, NULL, '{');
        json_text(json, "name", f.name);
        json_text(json, "type", f.type_name);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_events(cli_json *json, const lw_model *model)
{
    json_open(json, "events", '[');
    for (int i = 0; i < lw_model_event_count(model); i++)
        json_text(json, NULL, lw_model_event_name(model, i));
    json_close(json, ']');
}

static void json_plans(cli_json *json, const findings *f)
{
    json_open(json, "plans", '[');
    for (int i = 0; i < NPLAN; i++) {
        const lw_plan_info *p = &f->plan[i];
        json_open(json, NULL, '{');
        json_text(json, "kind", p->kind);
        json_integer(json, "joins", p->nodes);
        json_integer(json, "depth", p->depth);
        json_integer(json, "width", p->width);
        json_integer(json, "open", p->open);
        json_number(json, "work", p->work);
        json_number(json, "critical", p->critical);
        json_integer(json, "pass", p->pass);
        json_integer(json, "forces", p->forces);
        json_number(json, "evaluation", p->evaluation);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_text(json, "plan", f->used.kind);
    if (f->used.segments) {
        json_open(json, "segments", '{');
        json_integer(json, "count", f->used.segments);
        json_integer(json, "length", f->used.segment_length);
        json_integer(json, "groups", f->used.segment_groups);
        json_integer(json, "joins", f->used.segment_joins);
        if (f->used.segment_hubs) json_integer(json, "hubs", f->used.segment_hubs);
        json_close(json, '}');
    }
}

static void json_findings(const char *name, const lw_model *model, const findings *f)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", name);
    json_bodies(&json, model, f);
    json_joints(&json, model, f);
    json_loops(&json, model, f);
    json_integer(&json, "dof", f->check.dof);
    json_integer(&json, "dof_generic", f->check.dof_generic);
    json_integer(&json, "constraints", f->check.rows);
    json_integer(&json, "rank", f->check.rank);
    json_integer(&json, "redundant", f->check.redundant);
    json_array(&json, "residual", f->check.residual, 2);
    json_integer(&json, "followed", f->check.followed);
    if (f->check.drive_joint >= 0) {
        json_text(&json, "moving_drive",
                  lw_model_joint_name(model, (lw_joint){f->check.drive_joint}));
        json_number(&json, "drive_speed", f->check.drive_speed);
    }
    json_number(&json, "smallest_kept", f->check.kept);
    if (f->check.kept_joint >= 0)
        json_text(&json, "smallest_kept_joint",
                  lw_model_joint_name(model, (lw_joint){f->check.kept_joint}));
    json_number(&json, "largest_dropped", f->check.dropped);
    json_number(&json, "conflict", f->check.conflict);
    if (singular_start(f)) {
        static const char *const key[BEGINNINGS] = {"can_begin", "cannot_begin", "not_tried"};
        for (int what = 0; what < BEGINNINGS; what++) {
            json_open(&json, key[what], '[');
            for (int i = 0; i < f->nbegin[what]; i++) json_text(&json, NULL, f->begin[what][i]);
            json_close(&json, ']');
        }
    }
    json_signals(&json, model);
    json_events(&json, model);
    if (f->used.kind) json_plans(&json, f);
    json_text(&json, f->refused ? "refused" : "method",
              f->method + (f->refused ? strlen("none: ") : 0));
    json_open(&json, "warnings", '[');
    for (int i = 0; i < f->nwarning; i++) json_text(&json, NULL, lw_model_warning(model, i));
    json_close(&json, ']');
    json_close(&json, '}');
}

// -------------------------------------------------------------------------------------------- verb

static lw_status find_plans(const lw_model *model, findings *f, lw_error *error)
{
    static const char *const kinds[NPLAN] = {"comb", "balanced"};
    lw_status status = lw_model_plan(model, "auto", &f->used, error);
    for (int i = 0; i < NPLAN && status == LW_OK; i++)
        status = lw_model_plan(model, kinds[i], &f->plan[i], error);
    return status;
}

// The ranks are those that the simulation has found, unless a run is refused.
static lw_status find_mobility(const lw_model *model, const lw_options *options, findings *f,
                               lw_error *error)
{
    lw_sim *sim = NULL;
    lw_status status = find_method(model, options, f, &sim, error);
    if (status == LW_OK)
        status = sim ? lw_sim_mobility(sim, &f->check, f->joint, error)
                     : lw_model_mobility(model, &f->check, f->joint, error);
    lw_sim_destroy(sim);
    return status;
}

static lw_status examine(const lw_model *model, const cli_arguments *arguments,
                         const lw_options *options, findings *f, lw_error *error)
{
    if (!f->joint || !f->printed || !f->loop) return LW_ERR_MEMORY;
    lw_status status = find_mobility(model, options, f, error);
    if (status == LW_OK && singular_start(f)) status = find_beginners(model, f, error);
    if (status == LW_OK && arguments->plan) status = find_plans(model, f, error);
    return status;
}

cli_exit cli_check(const cli_arguments *arguments)
{
    lw_model *model = NULL;
    lw_options options;
    lw_error error = {0};
    findings f = {0};
    cli_exit code = cli_read(arguments, &model, &options);
    if (code == CLI_INPUT) cli_warn_of_refused(arguments);
    if (code) return code;
    count(model, &f);

    f.joint = calloc((size_t)f.njoint + 1, sizeof *f.joint);
    f.printed = calloc((size_t)f.njoint + 1, sizeof *f.printed);
    f.loop = calloc((size_t)f.njoint + 1, sizeof *f.loop);
    const lw_status status = examine(model, arguments, &options, &f, &error);
    if (status != LW_OK)
        code = cli_fail(status, &error);
    else if (arguments->json)
        json_findings(arguments->operand, model, &f);
    else
        print_findings(model, &f);
    if (!code && f.refused) code = CLI_FAILED; // as a run
    free(f.joint);
    free(f.printed);
    free(f.loop);
    lw_model_destroy(model);
    return code;
}
