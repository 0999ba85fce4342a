// kinematics.c -- what the page needs to move the joints of a model: frames, elementary motions, coordinates.
//
// viewer/src/kinematics.js reads it.  Numbers have all their digits, so that loops close.
#include "view/view.h"

#include <math.h>

static void put_exact(FILE *file, const char *name, const double *x, int n)
{
    fprintf(file, "\"%s\":[", name);
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]))
            fprintf(file, "%s%.17g", i ? "," : "", x[i]);
        else
            fprintf(file, "%snull", i ? "," : "");
    fputc(']', file);
}

static void put_factors(FILE *file, const lwi_joint_type *type)
{
    fputs(",\"factors\":[", file);
    for (int k = 0; k < type->nfactor; k++) {
        const lwi_joint_factor *f = &type->factor[k];
        fprintf(file, "%s[%d,%d,%d]", k ? "," : "", (int)f->kind, f->axis, f->coordinate);
    }
    fputs("],", file);
}

// Scalar coordinates: [first coordinate, is an angle, range or nulls].
static void put_scalars(FILE *file, const lw_joint_desc *d, const lwi_joint_type *type)
{
    fputs(",\"scalars\":[", file);
    for (int k = 0, n = 0; type->scalar && k < type->nv; k++) {
        const lw_limits_desc *l = &d->coordinate[k].limits;
        const double range[2] = {l->has_lower ? l->lower : (double)NAN,
                                 l->has_upper ? l->upper : (double)NAN};
        fprintf(file, "%s{\"coordinate\":%d,\"angle\":%s,", n++ ? "," : "", k,
                type->angles >> k & 1 ? "true" : "false");
        put_exact(file, "range", range, 2);
        fputc('}', file);
    }
    fputs("]}", file);
}

static void put_joint(FILE *file, const lw_model *model, int i)
{
    const lwi_joint *j = &model->joint[i];
    fputs("{\"name\":", file);
    lwi_view_text(file, j->name);
    fprintf(file, ",\"body1\":%d,\"body2\":%d,\"pitch\":%.17g,\"length\":%s", j->body1, j->body2,
            j->type->has_pitch ? j->par.pitch : 0, j->type->has_length ? "true" : "false");
    put_factors(file, j->type);
    put_exact(file, "R1", j->R1, 9);
    fputc(',', file);
    put_exact(file, "r1", j->r1, 3);
    fputc(',', file);
    put_exact(file, "R2", j->R2, 9);
    fputc(',', file);
    put_exact(file, "r2", j->r2, 3);
    fputc(',', file);
    put_exact(file, "q", model->q0 + j->iq, j->type->nq);
    put_scalars(file, &model->desc.joint[i], j->type);
}

// Numbers of joints are those of the list, which has none that are merged.
static void put_couplings(FILE *file, const lw_model *model, const int *number)
{
    fputs("],\n\"couplings\":[", file);
    for (int i = 0; i < model->ncoupling; i++) {
        const lwi_coupling *c = &model->coupling[i];
        fprintf(file, "%s\n{\"joint\":%d,\"coordinate\":%d,\"of\":%d,\"with\":%d,", i ? "," : "",
                number[c->joint], c->coordinate, number[c->of], c->with);
        put_exact(file, "polynomial", c->c, c->n);
        fputc('}', file);
    }
    fputs("],\n", file);
}

static void put_bodies(FILE *file, const lw_model *model)
{
    fputs("\"bodies\":[", file);
    for (int b = 0; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        fprintf(file, "%s\n{\"carrier\":%d,", b ? "," : "", body->carrier);
        put_exact(file, "position", body->r0, 3);
        fputc(',', file);
        put_exact(file, "orientation", body->quat0, 4);
        fputc('}', file);
    }
    fputc(']', file);
}

static bool is_known(const lw_model *model)
{
    for (int i = 0; i < model->njoint; i++)
        if (model->joint[i].type->callbacks) return false;
    return true;
}

lw_status lwi_view_kinematics(FILE *file, const lw_model *model, lwi_arena *arena, lw_error *error)
{
    int *number = lwi_arena_push(arena, (size_t)model->njoint + 1, sizeof *number);
    if (!number) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the joints of the page");
    if (!is_known(model)) {
        fputs("\"kinematics\":null,\n", file);
        return LW_OK;
    }
    fputs("\"kinematics\":{\"joints\":[", file);
    for (int i = 0, n = 0; i < model->njoint; i++) {
        if (model->joint[i].merged) continue;
        fputs(n ? ",\n" : "\n", file);
        put_joint(file, model, i);
        number[i] = n++;
    }
    put_couplings(file, model, number);
    put_bodies(file, model);
    fputs("},\n", file);
    return LW_OK;
}
