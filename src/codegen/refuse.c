// refuse.c -- the error of a model that cannot be generated.
#include "codegen/refuse.h"

#include <stdarg.h>
#include <stdio.h>

lw_status lwi_refuse(const lw_model *model, lw_place place, lw_error *error, const char *format,
                     ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lwi_fail(error, LW_ERR_UNSUPPORTED, "no code can be generated: %s", text);
    if (!error || place.line == 0) return LW_ERR_UNSUPPORTED;
    lwi_copy_text(error->file, sizeof error->file, model->desc.source ? model->desc.source : "");
    error->line = place.line;
    error->column = place.column;
    return LW_ERR_UNSUPPORTED;
}

lw_place lwi_joint_place(const lw_model *model, int joint)
{
    return model->desc.joint[joint].place;
}
