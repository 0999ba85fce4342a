// checkpoint_file.c -- a checkpoint as JSON.
#include "store/checkpoint.h"
#include "store/json.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

static const char *const names[LWI_CHECKPOINT_LISTS] = {
#define X(name) [LWI_CHECKPOINT_##name] = #name,
    LWI_CHECKPOINT_LIST(X)
#undef X
};

static void put_list(FILE *file, const char *key, const double *number, int n)
{
    enum { ON_A_LINE = 8 };
    fprintf(file, "  \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        fputs(i == 0 ? "" : i % ON_A_LINE ? ", " : ",\n    ", file);
        lwi_json_number(file, number[i]);
    }
    fputs("],\n", file);
}

static void put_members(FILE *file, const lw_checkpoint *c)
{
    fprintf(file, "{\n  \"linkwork_checkpoint\": %d,\n", FORMAT);
    lwi_json_member(file, "version", c->version);
    for (int k = 0; k < LWI_CHECKPOINT_LISTS; k++) put_list(file, names[k], c->list[k], c->n[k]);
    lwi_json_strings(file, "files", c->file, c->nfile);
    fprintf(file, "  \"level\": %d,\n", (int)c->level);
    put_list(file, "every", (const double[]){c->every, (double)c->every_steps}, 2);
    lwi_json_options(file, &c->options);
    lwi_json_member(file, "model", c->model);
}

lw_status lwi_checkpoint_text(const lw_checkpoint *c, lwi_arena *arena, char **text, size_t *size)
{
    char *members = NULL, hash[LWI_SHA256_SIZE];
    size_t n = 0;
    FILE *file = open_memstream(&members, &n);
    if (!file) return LW_ERR_MEMORY;
    put_members(file, c);
    const bool lost = fclose(file) != 0 || !members;
    const lw_status status =
        lost ? LW_ERR_MEMORY : lwi_json_close(members, n, arena, hash, text, size);
    free(members);
    return status;
}

static lw_status read_lists(const lwi_json *r, lw_checkpoint *c)
{
    for (int k = 0; k < LWI_CHECKPOINT_LISTS; k++)
        TRY(lwi_json_read_numbers(r, names[k], &c->n[k], &c->list[k]));
    if (c->n[LWI_CHECKPOINT_run] != LWI_RUN_NUMBERS ||
        c->n[LWI_CHECKPOINT_cost] != LWI_COST_NUMBERS ||
        c->n[LWI_CHECKPOINT_audit] != LWI_AUDIT_NUMBERS ||
        c->n[LWI_CHECKPOINT_measures] % LWI_RUNNING_NUMBERS)
        return lwi_json_wrong(r, "run", "lists of other lengths");
    return LW_OK;
}

lw_status lwi_checkpoint_parse(lw_checkpoint *c, const char *text, size_t size, const char *path,
                               lw_error *error)
{
    char hash[LWI_SHA256_SIZE];
    lwi_json r = {.path = path, .arena = &c->arena, .error = error};
    int format, level, n;
    double *every;
    TRY(lwi_json_open(&r, text, size, hash));
    TRY(lwi_json_read_integer(&r, "linkwork_checkpoint", FORMAT, FORMAT, &format));
    TRY(lwi_json_read_string(&r, "version", &c->version));
    if (strcmp(c->version, lw_version()) != 0)
        return lwi_fail_at(error, LW_ERR_UNSUPPORTED, path, 0, 0,
                           "is of linkwork %s; this is %s, and its numbers may differ", c->version,
                           lw_version());
    TRY(read_lists(&r, c));
    TRY(lwi_json_read_strings(&r, "files", &c->nfile, &c->file));
    TRY(lwi_json_read_integer(&r, "level", LW_OBSERVE_POSE, LW_OBSERVE_MOMENTUM, &level));
    TRY(lwi_json_read_numbers(&r, "every", &n, &every));
    if (n != 2 || !(every[0] >= 0) || !(every[1] >= 0 && every[1] <= 1e15))
        return lwi_json_wrong(&r, "every", "an interval and a number of steps");
    TRY(lwi_json_read_options(&r, &c->options));
    TRY(lwi_json_read_string(&r, "model", &c->model));
    c->level = (lw_observe)level;
    c->every = every[0];
    c->every_steps = (long)every[1];
    c->taken = true;
    return LW_OK;
}
