// json.c -- JSON, written as it comes.
#include "cli/cli.h"

#include <math.h>

static void quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

static void member(cli_json *json, const char *key)
{
    if (json->depth) {
        fprintf(json->file, json->empty ? "\n%*s" : ",\n%*s", 2 * json->depth, "");
    }
    json->empty = false;
    if (key) {
        quoted(json->file, key);
        fputs(": ", json->file);
    }
}

static void number(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, "%.17g", value);
    else
        fputs("null", file);
}

void json_open(cli_json *json, const char *key, char bracket)
{
    member(json, key);
    fputc(bracket, json->file);
    json->depth++;
    json->empty = true;
}

void json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (!json->empty) fprintf(json->file, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->file);
    json->empty = false;
    if (!json->depth) fputc('\n', json->file);
}

void json_text(cli_json *json, const char *key, const char *value)
{
    member(json, key);
    quoted(json->file, value ? value : "");
}

void json_bool(cli_json *json, const char *key, bool value)
{
    member(json, key);
    fputs(value ? "true" : "false", json->file);
}

void json_number(cli_json *json, const char *key, double value)
{
    member(json, key);
    number(json->file, value);
}

void json_integer(cli_json *json, const char *key, long value)
{
    member(json, key);
    fprintf(json->file, "%ld", value);
}

void json_array(cli_json *json, const char *key, const double *value, int n)
{
    member(json, key);
    fputc('[', json->file);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", json->file);
        number(json->file, value[i]);
    }
    fputc(']', json->file);
}
