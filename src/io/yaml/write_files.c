// write_files.c -- lw_model_write: a model of several files as these state it, as long as it is what they state.
//
// A program may have changed the model since its files were read: other places, another start, limits by an option.  So
// what would be written is read again, and both models are compared item by item, as numbers, each as if it were of one file.
#define _POSIX_C_SOURCE 200809L // open_memstream
#include "io/yaml/write.h"

#include <stdlib.h>
#include <string.h>

static lw_status as_text(const lw_model *model, bool flat, char **text, size_t *size)
{
    *text = NULL;
    FILE *file = open_memstream(text, size);
    if (!file) return LW_ERR_MEMORY;
    const lw_status status = lwi_yaml_write(model, flat, NULL, file, NULL);
    return fclose(file) == 0 ? status : LW_ERR_MEMORY;
}

static lw_status compare(const lw_model *a, const lw_model *b, bool *same)
{
    char *x = NULL, *y = NULL;
    size_t nx = 0, ny = 0;
    lw_status status = as_text(a, true, &x, &nx);
    if (status == LW_OK) status = as_text(b, true, &y, &ny);
    *same = status == LW_OK && nx == ny && memcmp(x, y, nx) == 0;
    free(x);
    free(y);
    return status;
}

// Is the model that of its files, read again as one?
static lw_status agrees(const lw_model *model, bool *same)
{
    const lw_read_desc desc = {.format = "yaml", .allocator = &model->arena.allocator};
    char *text;
    size_t size;
    lw_model *again = NULL;
    *same = false;
    lw_status status = as_text(model, false, &text, &size);
    if (status == LW_OK) {
        status = lw_model_parse(text, size, "model", &desc, &again, NULL, NULL);
        if (status == LW_OK)
            status = compare(model, again, same);
        else if (status != LW_ERR_MEMORY)
            status = LW_OK; // no model without the options of its reading: not the same
    }
    lw_model_destroy(again);
    free(text);
    return status;
}

lw_status lw_model_write(const lw_model *model, const lw_options *options, FILE *file,
                         lw_error *error)
{
    bool by_files = false;
    if (error) memset(error, 0, sizeof *error);
    if (!model || !file) return lwi_fail(error, LW_ERR_ARGUMENT, "model and file must be given");
    if (model->desc.stated.files && agrees(model, &by_files) == LW_ERR_MEMORY)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory to write the model");
    const bool flat = model->desc.stated.files && !by_files;
    return lwi_yaml_write(model, flat, options, file, error);
}
