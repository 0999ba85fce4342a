// info.c -- linkwork info: what this build can do.
#include "cli/cli.h"

#include <string.h>

typedef struct section {
    const char *title, *key;
    int (*count)(void);
    lw_part_info (*part)(int);
    const char *note; ///< what `cite` of a part holds
} section;

// What differs between instances of a batch has a unit for a note.
static lw_part_info vary(int index)
{
    const lw_vary_info info = lw_vary_at(index);
    return (lw_part_info){info.name, info.help, info.unit};
}

static const section sections[] = {
    {"Formulations", "formulations", lw_formulation_count, lw_formulation_info, "cite"},
    {"Integrators", "integrators", lw_integrator_count, lw_integrator_info, "cite"},
    {"Joint types", "joint_types", lw_joint_type_count, lw_joint_type_info, "cite"},
    {"Forces", "force_types", lw_force_type_count, lw_force_type_info, "cite"},
    {"Formats", "formats", lw_format_count, lw_format_info, "cite"},
    {"Built with", "libraries", lw_library_count, lw_library_info, "cite"},
    {"What can differ in a sweep", "vary", lw_vary_count, vary, "unit"},
};
enum { NSECTION = sizeof sections / sizeof sections[0] };

static void print_section(const section *s)
{
    printf("\n%s\n", s->title);
    for (int i = 0; i < s->count(); i++) {
        const lw_part_info part = s->part(i);
        printf("  %-14s %s", part.name, part.summary);
        if (part.cite && part.cite[0]) printf("  [%s]", part.cite);
        putchar('\n');
    }
}

static void json_section(cli_json *json, const section *s)
{
    json_open(json, s->key, '[');
    for (int i = 0; i < s->count(); i++) {
        const lw_part_info part = s->part(i);
        json_open(json, NULL, '{');
        json_text(json, "name", part.name);
        json_text(json, "summary", part.summary);
        if (part.cite && part.cite[0]) json_text(json, s->note, part.cite);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// ----------------------------------------------------------------------------- columns of results

// "body.NAME.x y z".
static void column_names(const lw_quantity_info *q, char columns[80])
{
    const bool item = strcmp(q->item, "sys") != 0 && *q->item;
    int n = snprintf(columns, 80, "%s%s%s", q->item, *q->item ? "." : "", item ? "NAME." : "");
    for (int i = 0; i < q->size; i++)
        n += snprintf(columns + n, (size_t)(80 - n), "%s%s%s", i ? " " : "", q->part[i],
                      q->numbered ? "K" : "");
}

static void print_quantities(void)
{
    char columns[80];
    printf("\nColumns of results\n");
    for (int i = 0; i < lw_quantity_count(); i++) {
        const lw_quantity_info q = lw_quantity_at(i);
        column_names(&q, columns);
        printf("  %-36s %s\n", columns, q.summary);
    }
}

static void json_quantity(cli_json *json, const lw_quantity_info *q)
{
    char columns[80];
    column_names(q, columns);
    json_open(json, NULL, '{');
    json_text(json, "name", columns);
    json_text(json, "summary", q->summary);
    json_text(json, "quantity", q->name);
    json_text(json, "frame", q->frame);
    json_text(json, "level", q->level);
    json_open(json, "unit", '[');
    for (int i = 0; i < (q->same_unit ? 1 : q->size); i++) json_text(json, NULL, q->unit[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void json_quantities(cli_json *json)
{
    json_open(json, "columns", '[');
    for (int i = 0; i < lw_quantity_count(); i++) {
        const lw_quantity_info q = lw_quantity_at(i);
        json_quantity(json, &q);
    }
    json_close(json, ']');
}

cli_exit cli_info(const cli_arguments *arguments)
{
    cli_json json = {.file = stdout};
    if (arguments->json) {
        json_open(&json, NULL, '{');
        json_text(&json, "version", lw_version());
        for (int i = 0; i < NSECTION; i++) json_section(&json, &sections[i]);
        json_quantities(&json);
        json_close(&json, '}');
        return CLI_DONE;
    }
    printf("linkwork %s\n", lw_version());
    for (int i = 0; i < NSECTION; i++) print_section(&sections[i]);
    print_quantities();
    return CLI_DONE;
}
