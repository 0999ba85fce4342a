// save.c -- a model written to a file in the format of its ending.  The text is complete before the file is opened, so
// that a model that cannot be written leaves a file as it was.
#define _POSIX_C_SOURCE 200809L // open_memstream
#include "base/file.h"
#include "base/base.h"

#include <linkwork/io.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *lw_model_format_of(const char *path)
{
    static const struct {
        const char *ending, *format;
    } known[] = {{".yaml", "yaml"},
                 {".yml", "yaml"},
                 {".urdf", "urdf"},
                 {".mjcf", "mjcf"},
                 {".xml", "mjcf"}};
    const size_t length = path ? strlen(path) : 0;
    for (int i = 0; i < LWI_COUNT(known); i++) {
        const size_t n = strlen(known[i].ending);
        if (length > n && strcasecmp(path + length - n, known[i].ending) == 0)
            return known[i].format;
    }
    return NULL;
}

static lw_status put(const char *path, const char *text, size_t size, lw_error *error)
{
    FILE *file;
    TRY(lwi_open_output_stream(path, &file, error));
    fwrite(text, 1, size, file);
    return lwi_close_output(file, path, error);
}

lw_status lw_model_save(const lw_model *model, const lw_options *options, const char *path,
                        void (*omitted)(void *user, const char *text), void *user, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!model || !path) return lwi_fail(error, LW_ERR_ARGUMENT, "model and path must be given");
    const char *format = lw_model_format_of(path);
    if (!format)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "%.200s: models are written as .yaml, trees also as .urdf, .mjcf or .xml",
                        path);
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the text of a model");
    lw_status status = strcmp(format, "yaml") == 0
                           ? lw_model_write(model, options, memory, error)
                           : lw_model_export(model, format, memory, omitted, user, error);
    if (fclose(memory) != 0 && status == LW_OK)
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory for the text of a model");
    if (status == LW_OK) status = put(path, text, size, error);
    free(text);
    return status;
}
