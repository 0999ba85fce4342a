// json.c -- JSON with a hash at its end.
#include "store/json.h"

#include "base/numbers.h"

#include <linkwork/options.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char hash_key[] = "  \"hash\": \"";

// ------------------------------------------------------------------------------------------ writing

// [rfc8259, 7]
void lwi_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if ((unsigned char)*c < ' ')
            fprintf(file, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

void lwi_json_member(FILE *file, const char *key, const char *text)
{
    fprintf(file, "  \"%s\": ", key);
    lwi_json_string(file, text);
    fputs(",\n", file);
}

void lwi_json_number(FILE *file, double value)
{
    char text[40];
    if (isfinite(value))
        lwi_number_write(value, text, sizeof text);
    else
        snprintf(text, sizeof text, "\"%s\"", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    fputs(text, file);
}

void lwi_json_strings(FILE *file, const char *key, const char *const *text, int n)
{
    fprintf(file, "  \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", file);
        lwi_json_string(file, text[i]);
    }
    fputs("],\n", file);
}

void lwi_json_options(FILE *file, const lw_options *options)
{
    fputs("  \"options\": {", file);
    for (int i = 0; i < lw_option_count(); i++) {
        char text[LW_OPTION_STRING_SIZE] = "";
        const char *key = lw_option_at(i).key;
        lw_options_get(options, key, text, sizeof text);
        fprintf(file, "%s\n    \"%s\": ", i ? "," : "", key);
        lwi_json_string(file, text);
    }
    fputs("\n  },\n", file);
}

lw_status lwi_json_close(const char *members, size_t size, lwi_arena *arena,
                         char hash[LWI_SHA256_SIZE], char **text, size_t *length)
{
    lwi_sha256_of(members, size, hash);
    const size_t room = size + sizeof hash_key + LWI_SHA256_SIZE + 8;
    *text = lwi_arena_chars(arena, room);
    if (!*text) return LW_ERR_MEMORY;
    *length = (size_t)snprintf(*text, room, "%s%s%s\"\n}\n", members, hash_key, hash);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ reading

lw_status lwi_json_wrong(const lwi_json *r, const char *key, const char *expected)
{
    return lwi_fail_at(r->error, LW_ERR_PARSE, r->path, 0, 0, "'%s': expected %s", key, expected);
}

const lwi_document_value *lwi_json_find(const lwi_json *r, const char *key)
{
    const int i = lwi_document_find(r->root, key);
    return i < 0 ? NULL : r->root->item[i];
}

lw_status lwi_json_read_string(const lwi_json *r, const char *key, const char **text)
{
    const lwi_document_value *value = lwi_json_find(r, key);
    if (!value || value->kind != LWI_DOCUMENT_SCALAR) return lwi_json_wrong(r, key, "a string");
    *text = value->text;
    return LW_OK;
}

lw_status lwi_json_read_real(const lwi_json *r, const char *key, double *value)
{
    const char *text = "";
    TRY(lwi_json_read_string(r, key, &text));
    return lwi_number_read(text, value) ? LW_OK : lwi_json_wrong(r, key, "a number");
}

lw_status lwi_json_read_integer(const lwi_json *r, const char *key, int from, int to, int *number)
{
    double value = 0;
    TRY(lwi_json_read_real(r, key, &value));
    if (!(value >= from && value <= to) || value != floor(value))
        return lwi_json_wrong(r, key, "a whole number in its range");
    *number = (int)value;
    return LW_OK;
}

static lw_status read_list(const lwi_json *r, const char *key, const lwi_document_value **list)
{
    const lwi_document_value *value = lwi_json_find(r, key);
    if (!value || value->kind != LWI_DOCUMENT_LIST) return lwi_json_wrong(r, key, "a list");
    for (int i = 0; i < value->count; i++)
        if (value->item[i]->kind != LWI_DOCUMENT_SCALAR)
            return lwi_json_wrong(r, key, "a list of strings or numbers");
    *list = value;
    return LW_OK;
}

lw_status lwi_json_read_strings(const lwi_json *r, const char *key, int *n, const char ***text)
{
    const lwi_document_value *list = NULL;
    TRY(read_list(r, key, &list));
    *n = list->count;
    *text = LWI_PUSH(r->arena, const char *, list->count);
    if (!*text) return lwi_fail(r->error, LW_ERR_MEMORY, "no memory for a list");
    for (int i = 0; i < list->count; i++) (*text)[i] = list->item[i]->text;
    return LW_OK;
}

static bool read_any_number(const char *text, double *value)
{
    if (!strcmp(text, "nan"))
        *value = NAN;
    else if (!strcmp(text, "inf"))
        *value = INFINITY;
    else if (!strcmp(text, "-inf"))
        *value = -INFINITY;
    else
        return lwi_number_read(text, value);
    return true;
}

lw_status lwi_json_read_numbers(const lwi_json *r, const char *key, int *n, double **numbers)
{
    const lwi_document_value *list = NULL;
    TRY(read_list(r, key, &list));
    *n = list->count;
    *numbers = LWI_PUSH(r->arena, double, list->count);
    if (!*numbers) return lwi_fail(r->error, LW_ERR_MEMORY, "no memory for a list");
    for (int i = 0; i < list->count; i++)
        if (!read_any_number(list->item[i]->text, &(*numbers)[i]))
            return lwi_json_wrong(r, key, "numbers");
    return LW_OK;
}

lw_status lwi_json_read_options(const lwi_json *r, lw_options *options)
{
    const lwi_document_value *value = lwi_json_find(r, "options");
    if (!value || value->kind != LWI_DOCUMENT_MAP) return lwi_json_wrong(r, "options", "a map");
    lw_options_default(options);
    for (int i = 0; i < value->count; i++) {
        lw_error why = {0};
        if (value->item[i]->kind != LWI_DOCUMENT_SCALAR)
            return lwi_json_wrong(r, "options", "strings");
        if (lw_options_set(options, value->key[i], value->item[i]->text, &why) != LW_OK)
            return lwi_fail_at(r->error, LW_ERR_PARSE, r->path, 0, 0, "'options': %s", why.text);
    }
    return LW_OK;
}

// The hash is right and nothing follows it.
static lw_status check_hash(const lwi_json *r, const char *text, size_t size,
                            char hash[LWI_SHA256_SIZE])
{
    const char *at = text, *found = NULL;
    while ((at = strstr(at, hash_key))) found = at++;
    if (found) lwi_sha256_of(text, (size_t)(found - text), hash);
    char end[sizeof hash_key + LWI_SHA256_SIZE + 8];
    if (found) snprintf(end, sizeof end, "%s%s\"\n}\n", hash_key, hash);
    if (found && strlen(text) == size && !strcmp(found, end)) return LW_OK;
    return lwi_fail_at(r->error, LW_ERR_PARSE, r->path, 0, 0,
                       "is damaged: its hash is not that of its text%s",
                       r->remedy ? r->remedy : "");
}

lw_status lwi_json_open(lwi_json *json, const char *text, size_t size, char hash[LWI_SHA256_SIZE])
{
    TRY(check_hash(json, text, size, hash));
    TRY(lwi_document_parse(text, size, json->path, json->arena, &json->root, json->error));
    if (json->root->kind == LWI_DOCUMENT_MAP) return LW_OK;
    return lwi_fail_at(json->error, LW_ERR_PARSE, json->path, 1, 1, "is no JSON object");
}
