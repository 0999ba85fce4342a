// check_closures.c -- what must be true of any file of loops next to a URDF robot.
#include "fuzz/check_closures.h"

#include <linkwork/io.h>

#include "support/failing.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Four bars that end in one point, with frames there as links and as joints.
#define LINK(name)                                                                                 \
    "<link name='" name "'><inertial><mass value='1'/>"                                            \
    "<inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
#define HINGE(name, parent, child, xyz)                                                            \
    "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child      \
    "'/><origin xyz='" xyz "'/><axis xyz='0 0 1'/></joint>"
#define FRAME(name, link, tip, xyz)                                                                \
    "<link name='" tip "'/><joint name='" name "' type='fixed'><parent link='" link                \
    "'/><child link='" tip "'/><origin xyz='" xyz "'/></joint>"
static const char robot[] = "<robot name='r'><link name='world'/>" LINK("left") LINK("top")
    LINK("right") HINGE("A", "world", "left", "0 0 0") HINGE("B", "left", "top", "0 1 0")
        HINGE("D", "world", "right", "1 0 0") FRAME("t1", "top", "tip1", "1 0 0")
            FRAME("t2", "right", "tip2", "0 1 0") "</robot>";

static char folder[] = "/tmp/closures-XXXXXX", path[sizeof folder + 32];

static void clean(void)
{
    remove(path);
    rmdir(folder);
}

static const char *write_file(const char *text, size_t length)
{
    if (!*path) {
        if (!mkdtemp(folder)) return "no temporary folder";
        snprintf(path, sizeof path, "%s/loop_closures.yaml", folder);
        atexit(clean);
    }
    FILE *file = fopen(path, "wb");
    if (!file) return "no temporary file";
    const bool whole = fwrite(text, 1, length, file) == length;
    return fclose(file) == 0 && whole ? NULL : "the temporary file is not written";
}

static const char *check_error(lw_status status, const lw_error *error, const lw_model *model)
{
    if (status != LW_ERR_PARSE && status != LW_ERR_MODEL && status != LW_ERR_UNSUPPORTED)
        return "a status that no text may cause";
    if (error->status != status) return "the error has another status";
    if (!*error->text) return "the error says nothing";
    if (!strstr(error->file, "loop_closures.yaml") && strcmp(error->file, "fuzz.urdf") != 0)
        return "the error does not name a file";
    if (error->line < 0 || error->column < 0) return "the place is not one";
    return model ? "a failure gives a model" : NULL;
}

const char *check_closures(const char *text, size_t length, bool *is_read, lw_error *error)
{
    lwt_failing memory = {.left = LONG_MAX};
    const lw_allocator allocator = lwt_failing_allocator(&memory);
    const lw_read_desc desc = {.format = "urdf", .allocator = &allocator, .folder = folder};
    lw_model *model = NULL;
    const char *wrong = write_file(text, length);
    *error = (lw_error){0};
    *is_read = false;
    if (wrong) return wrong;
    const lw_status status =
        lw_model_parse(robot, sizeof robot - 1, "fuzz.urdf", &desc, &model, NULL, error);
    if (status == LW_OK) {
        *is_read = lw_model_loop_count(model) > 0;
        lw_model_destroy(model);
    } else {
        wrong = check_error(status, error, model);
    }
    return !wrong && memory.live != 0 ? "memory is left behind" : wrong;
}
