// check_reader.c -- what must be true of any text that a reader of models gets.
#include "fuzz/check_reader.h"

#include <linkwork/io.h>

#include "support/failing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *written(const lw_model *model, size_t *length, lw_status *status)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    if (!file) return NULL;
    *status = lw_model_write(model, NULL, file, NULL);
    fclose(file);
    return text;
}

// NULL, or what is wrong with a model that was read.
static const char *check_model(const lw_model *model)
{
    const lw_read_desc yaml = {.format = "yaml", .folder = LW_SOURCE_DIR "/tests/fuzz/corpus"};
    const char *wrong = NULL;
    size_t length, length2;
    lw_status status, status2 = LW_OK;
    lw_model *again = NULL;
    char *text = written(model, &length, &status), *text2 = NULL;
    if (!text) return "no memory for the check";
    if (status == LW_OK) {
        if (lw_model_parse(text, length, "again", &yaml, &again, NULL, NULL) != LW_OK)
            wrong = "what was written is not read";
        else if (!(text2 = written(again, &length2, &status2)) || status2 != LW_OK)
            wrong = "what was written and read is not written";
        else if (length != length2 || memcmp(text, text2, length) != 0)
            wrong = "written, read and written again it is another text";
    } else if (status != LW_ERR_UNSUPPORTED) {
        wrong = "a model that was read is not written";
    }
    lw_model_destroy(again);
    free(text);
    free(text2);
    return wrong;
}

static const char *check_error(lw_status status, const lw_error *error, const lw_model *model)
{
    const bool included = strstr(error->file, "/corpus/") != NULL; // a file that the text includes
    if (status != LW_ERR_PARSE && status != LW_ERR_MODEL && status != LW_ERR_UNSUPPORTED &&
        status != LW_ERR_IO) // of a file to include that is not there
        return "a status that no text may cause";
    if (error->status != status) return "the error has another status";
    if (!*error->text) return "the error says nothing";
    if (strcmp(error->file, "fuzz") != 0 && !included) return "the error does not name the file";
    if (error->line < 0 || error->column < 0) return "the place is not one";
    return model ? "a failure gives a model" : NULL;
}

const char *check_reader(const char *text, size_t length, const char *format, bool *is_read,
                         lw_error *error)
{
    lwt_failing memory = {.left = LONG_MAX};
    const lw_allocator allocator = lwt_failing_allocator(&memory);
    lw_read_desc desc = {
        .format = format, .allocator = &allocator, .folder = LW_SOURCE_DIR "/tests/fuzz/corpus"};
    if (length % 3 == 1) desc.limits_time = LW_LIMITS_TIME;
    if (length % 3 == 2) desc.limits.stiffness = 1e4;
    const char *wrong;
    lw_model *model = NULL;
    *error = (lw_error){0};
    const lw_status status = lw_model_parse(text, length, "fuzz", &desc, &model, NULL, error);
    *is_read = status == LW_OK;
    if (status == LW_OK) {
        wrong = check_model(model);
        lw_model_destroy(model);
    } else {
        wrong = check_error(status, error, model);
    }
    return !wrong && memory.live != 0 ? "memory is left behind" : wrong;
}
