// view.c -- the motion of a result, and output of JSON and base64.
#include "view/view.h"

#include "base/assert.h"
#include "io/result/columns.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- text

void lwi_view_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20 || *c == '<' || *c == 0x7f) // `</script` must not occur in the page
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

void lwi_view_numbers(FILE *file, const double *x, int n)
{
    fputc('[', file);
    for (int i = 0; i < n; i++) {
        if (i) fputc(',', file);
        if (isfinite(x[i]))
            fprintf(file, "%.9g", x[i]);
        else
            fputs("null", file);
    }
    fputc(']', file);
}

static void flush(lwi_view_base64 *b)
{
    fwrite(b->text, 1, (size_t)b->ntext, b->file);
    b->ntext = 0;
}

static void put_three(lwi_view_base64 *b, const unsigned char *x, int n)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned v =
        (unsigned)x[0] << 16 | (unsigned)(n > 1 ? x[1] : 0) << 8 | (n > 2 ? x[2] : 0);
    char *text = b->text + b->ntext;
    text[0] = letter[v >> 18];
    text[1] = letter[v >> 12 & 63];
    text[2] = n > 1 ? letter[v >> 6 & 63] : '=';
    text[3] = n > 2 ? letter[v & 63] : '=';
    b->ntext += 4;
    LWI_ASSERT(b->ntext <= (int)sizeof b->text);
    if (b->ntext == sizeof b->text) flush(b);
}

void lwi_view_base64_put(lwi_view_base64 *b, const void *bytes, size_t size)
{
    const unsigned char *x = bytes;
    for (size_t i = 0; i < size; i++) {
        b->rest[b->nrest++] = x[i];
        if (b->nrest < 3) continue;
        put_three(b, b->rest, 3);
        b->nrest = 0;
    }
}

void lwi_view_base64_end(lwi_view_base64 *b)
{
    if (b->nrest) put_three(b, b->rest, b->nrest);
    b->nrest = 0;
    flush(b);
}

// ------------------------------------------------------------------------------------------ motion

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the motion");
}

// Every `stride`-th row and the last.
static void choose_rows(lwi_view_motion *m, long stride)
{
    m->nrow = 0;
    for (long r = 0; r < m->nresult; r += stride) m->row[m->nrow++] = r;
    if (m->nresult && m->row[m->nrow - 1] != m->nresult - 1) m->row[m->nrow++] = m->nresult - 1;
}

// Reads one column into every row that is kept.
static lw_status read_column(lw_result *result, int column, double *buffer,
                             const lwi_view_motion *m, float *to, size_t step, lw_error *error)
{
    TRY(lw_result_read(result, column, 0, m->nresult, buffer, error));
    for (long i = 0; i < m->nrow; i++) to[(size_t)i * step] = (float)buffer[m->row[i]];
    return LW_OK;
}

// Chooses between q and -q so that interpolation between rows takes the shorter way.
static void keep_signs(const lwi_view_motion *m, int nbody)
{
    for (long i = 1; i < m->nrow; i++)
        for (int b = 0; b < nbody; b++) {
            float *q = m->rotation + 4 * ((size_t)i * (size_t)nbody + (size_t)b);
            const float *before = q - 4 * (size_t)nbody;
            float dot = 0;
            for (int k = 0; k < 4; k++) dot += q[k] * before[k];
            for (int k = 0; k < 4 && dot < 0; k++) q[k] = -q[k];
        }
}

static void start_of(const lw_model *model, lwi_view_motion *m)
{
    m->nrow = 1;
    m->time[0] = 0;
    for (int b = 0; b < model->nbody; b++) {
        for (int k = 0; k < 3; k++) m->position[3 * b + k] = (float)model->body[b].r0[k];
        for (int k = 0; k < 4; k++) m->rotation[4 * b + k] = (float)model->body[b].quat0[k];
    }
}

static lw_status read_all(const lw_model *model, lw_result *result, double *buffer,
                          lwi_view_motion *m, lw_error *error)
{
    const size_t n = (size_t)model->nbody;
    int column[7];
    TRY(lw_result_find_column(result, "time", column, error));
    TRY(lw_result_read(result, column[0], 0, m->nresult, buffer, error));
    for (long i = 0; i < m->nrow; i++) {
        m->time[i] = buffer[m->row[i]];
        for (int k = 0; k < 3; k++) m->position[3 * (size_t)i * n + (size_t)k] = 0; // the ground
        for (int k = 0; k < 4; k++) m->rotation[4 * (size_t)i * n + (size_t)k] = k == 0;
    }
    for (size_t b = 1; b < n; b++) {
        TRY(lwi_result_pose_columns(result, model->body[b].name, column, error));
        for (size_t k = 0; k < 3; k++)
            TRY(read_column(result, column[k], buffer, m, m->position + 3 * b + k, 3 * n, error));
        for (size_t k = 0; k < 4; k++)
            TRY(read_column(result, column[3 + k], buffer, m, m->rotation + 4 * b + k, 4 * n,
                            error));
    }
    keep_signs(m, model->nbody);
    return LW_OK;
}

lw_status lwi_view_motion_read(const lw_model *model, lw_result *result, double max_bytes,
                               lwi_arena *arena, lwi_view_motion *m, lw_error *error)
{
    const size_t n = (size_t)model->nbody;
    *m = (lwi_view_motion){.nresult = result ? lw_result_row_count(result) : 1};
    if (m->nresult < 1) return lwi_fail(error, LW_ERR_ARGUMENT, "the result has no rows");
    const double each = lwi_view_row_bytes(model);
    const long stride = 1 + (long)((double)m->nresult * each / max_bytes);
    const size_t kept = (size_t)(m->nresult / stride + 2);
    m->row = lwi_arena_push(arena, kept, sizeof *m->row);
    m->time = lwi_arena_push(arena, kept, sizeof *m->time);
    m->position = lwi_arena_push(arena, kept * n, 3 * sizeof *m->position);
    m->rotation = lwi_arena_push(arena, kept * n, 4 * sizeof *m->rotation);
    double *buffer = lwi_arena_push(arena, (size_t)m->nresult, sizeof *buffer);
    if (!m->row || !m->time || !m->position || !m->rotation || !buffer) return no_memory(error);
    choose_rows(m, stride);
    if (result) return read_all(model, result, buffer, m, error);
    start_of(model, m);
    return LW_OK;
}

lw_status lwi_view_motion_clips(const lw_model *model, const lw_view_clips *clips, double max_bytes,
                                lwi_arena *arena, lwi_view_motion *m, int *count, lw_error *error)
{
    const size_t n = (size_t)model->nbody;
    if (clips->count < 1 || clips->rows < 2 || !(clips->seconds > 0) || !clips->name || !clips->r ||
        !clips->quat)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "clips: expected at least one with two rows, names, poses and a duration");
    const double each = lwi_view_row_bytes(model) * (double)clips->rows;
    *count = (int)fmax(1, fmin(clips->count, max_bytes / each));
    *m = (lwi_view_motion){.nrow = *count * clips->rows, .nresult = *count * clips->rows};
    const size_t rows = (size_t)m->nrow;
    m->time = lwi_arena_push(arena, rows, sizeof *m->time);
    m->position = lwi_arena_push(arena, rows * n, 3 * sizeof *m->position);
    m->rotation = lwi_arena_push(arena, rows * n, 4 * sizeof *m->rotation);
    if (!m->time || !m->position || !m->rotation) return no_memory(error);
    for (long i = 0; i < m->nrow; i++)
        m->time[i] = clips->seconds * (double)i / (double)(clips->rows - 1);
    for (size_t i = 0; i < rows * n; i++) {
        for (int k = 0; k < 3; k++) m->position[3 * i + (size_t)k] = (float)clips->r[i][k];
        for (int k = 0; k < 4; k++) m->rotation[4 * i + (size_t)k] = (float)clips->quat[i][k];
    }
    keep_signs(m, model->nbody);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- parts

void lwi_view_shape(const lw_body_desc *d, const lw_shape *shape, double *R, double *r)
{
    const lw_quat o = shape->orientation;
    const double q[4] = {o.w, o.x, o.y, o.z};
    quat_matrix(R, q);
    v3_set(r, shape->position.x - d->com.x, shape->position.y - d->com.y,
           shape->position.z - d->com.z);
}

unsigned lwi_view_colour(int group)
{
    LWI_ASSERT(group >= 0);
    static const unsigned ground = 0x8899AA,
                          others[LWI_VIEW_COLOURS - 1] = {0x4477AA, 0xEE6677, 0x228833, 0xCCBB44,
                                                          0x66CCEE, 0xAA3377, 0xDD7711};
    return group == 0 ? ground : others[group % (LWI_VIEW_COLOURS - 1)];
}

static void to_body(const lwi_plot_poses *poses, int body, double *p)
{
    double d[3];
    v3_sub(d, p, poses->r[body]);
    m3_tmul_v(p, poses->R[body], d);
}

lw_status lwi_view_scene(const lw_model *model, lwi_arena *arena, lwi_plot_scene *scene,
                         lw_error *error)
{
    lwi_plot_poses poses = {.R = lwi_arena_push(arena, (size_t)model->nbody, sizeof *poses.R),
                            .r = lwi_arena_push(arena, (size_t)model->nbody, sizeof *poses.r)};
    if (!poses.R || !poses.r) return no_memory(error);
    for (int b = 0; b < model->nbody; b++) {
        quat_matrix(poses.R[b], model->body[b].quat0);
        v3_copy(poses.r[b], model->body[b].r0);
    }
    TRY(lwi_plot_scene_build(model, &poses, arena, scene, error));
    for (int i = 0; i < scene->nline; i++)
        for (int k = 0; k < 2; k++) to_body(&poses, scene->line[i].body, scene->line[i].p[k]);
    for (int i = 0; i < scene->nspring; i++)
        for (int k = 0; k < 2; k++)
            to_body(&poses, scene->spring[i].body[k], scene->spring[i].p[k]);
    for (int i = 0; i < scene->njoint; i++) {
        lwi_plot_joint_mark *mark = &scene->joint[i];
        const lwi_joint *j = &model->joint[mark->joint];
        to_body(&poses, j->body1, mark->p1);
        to_body(&poses, j->body2, mark->p2);
        for (int k = 0; k < mark->naxis; k++)
            m3_tmul_v(mark->axis[k], poses.R[j->body1], mark->axis[k]);
    }
    return LW_OK;
}
