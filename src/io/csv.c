// csv.c -- results as CSV: a header and one row of %.17g numbers per moment.
//
// Columns that the level does not provide are left out; the order is that of the header below.  The
// reader of a row may rely on: every field is a finite number, quaternions do not change sign from
// row to row without reason.
#include "io/text.h"
#include "model/model.h"
#include "spatial/rotation.h"

#include <linkwork/io.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct lw_csv {
    FILE *file;
    const lw_model *model;
    lw_observe level;
    int ncolumn, filled; // of a row
    double *row;         // [ncolumn]
    double *body_near;   // [nbody][4] quaternions of the row before, for their sign
    double *marker_near; // [nmarker][4]
    double *joint_near;  // [njoint][4] spherical and free joints
    bool begun;          // a row has been written
    lwi_arena arena;
};

// ----------------------------------------------------------------------------------------- columns

static const char *const pose_columns[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
static const char *const twist_columns[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
static const char *const rate_columns[] = {"ax", "ay", "az", "alx", "aly", "alz"};
static const char *const wrench_columns[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
static const char *const energy_columns[] = {"T",  "V",  "E",  "Wnc", "px",   "py",
                                             "pz", "lx", "ly", "lz",  "cpos", "cvel"};

// One field of the header, quoted where a comma, a quote or the end of a line needs it. [rfc4180, 2]
static void put_column(lw_csv *c, const char *kind, const char *name, const char *what)
{
    const bool quote = strpbrk(name, ",\"\r\n") != NULL;
    fputs(quote ? ",\"" : ",", c->file);
    fprintf(c->file, "%s%s", kind, *kind ? "." : "");
    for (const char *p = name; *p; p++) {
        if (*p == '"') fputc('"', c->file);
        fputc(*p, c->file);
    }
    fprintf(c->file, ".%s%s", what, quote ? "\"" : "");
    c->ncolumn++;
}

static void put_columns(lw_csv *c, const char *kind, const char *name, const char *const *what, int n)
{
    for (int i = 0; i < n; i++) put_column(c, kind, name, what[i]);
}

static void put_body_columns(lw_csv *c, const char *kind, const char *name)
{
    put_columns(c, kind, name, pose_columns, 7);
    if (c->level >= LW_OBSERVE_TWIST) put_columns(c, kind, name, twist_columns, 6);
    if (c->level >= LW_OBSERVE_ACCELERATION) put_columns(c, kind, name, rate_columns, 6);
}

static void put_numbered(lw_csv *c, const char *name, const char *what, int k)
{
    char column[16];
    snprintf(column, sizeof column, "%s%d", what, k);
    put_column(c, "joint", name, column);
}

// Spherical and free joints: the quaternion, and the angular velocity of F2 relative to F1 in F2.
static bool has_quaternion(const lwi_joint_type *type)
{
    return type->id == LW_JOINT_SPHERICAL || type->id == LW_JOINT_FREE;
}

static void put_joint_columns(lw_csv *c, const lwi_joint *j)
{
    const bool rates = c->level >= LW_OBSERVE_TWIST;
    const bool accelerations = c->level >= LW_OBSERVE_ACCELERATION;
    const lwi_joint_type *type = j->type;
    if (has_quaternion(type)) {
        const int skip = type->id == LW_JOINT_FREE ? 0 : 3; // no position, no velocity
        put_columns(c, "joint", j->name, pose_columns + skip, 7 - skip);
        if (rates) put_columns(c, "joint", j->name, twist_columns + skip, 6 - skip);
        return;
    }
    for (int k = 0; k < (type->nq > type->nv ? type->nq : type->nv); k++) {
        if (k < type->nq) put_numbered(c, j->name, "q", k);
        if (k < type->nv && rates) put_numbered(c, j->name, "qd", k);
        if (k < type->nv && accelerations) put_numbered(c, j->name, "qdd", k);
    }
}

static void put_header(lw_csv *c)
{
    const lw_model *m = c->model;
    fputs("time", c->file);
    c->ncolumn = 1;
    for (int i = 1; i < m->nbody; i++) put_body_columns(c, "body", m->body[i].name);
    for (int i = 0; i < m->njoint; i++) put_joint_columns(c, &m->joint[i]);
    for (int i = 0; i < m->njoint && c->level >= LW_OBSERVE_REACTION; i++)
        put_columns(c, "joint", m->joint[i].name, wrench_columns, 6);
    for (int i = 0; i < m->desc.nmarker; i++)
        put_body_columns(c, "marker", m->desc.marker[i].name);
    if (c->level >= LW_OBSERVE_ENERGY)
        put_columns(c, "", "sys", energy_columns, LWI_COUNT(energy_columns));
    if (c->level >= LW_OBSERVE_REACTION) put_column(c, "", "sys", "cacc");
    fputs("\n", c->file);
}

// -------------------------------------------------------------------------------------------- rows

static void add(lw_csv *c, const double *x, int n)
{
    memcpy(c->row + c->filled, x, (size_t)n * sizeof *x);
    c->filled += n;
}

// q and -q are the same attitude: the one nearer to the row before.
static void add_quaternion(lw_csv *c, const double q[4], double near[4])
{
    double signed_q[4];
    memcpy(signed_q, q, sizeof signed_q);
    if (c->begun) quat_continue(signed_q, near);
    add(c, signed_q, 4);
    memcpy(near, signed_q, sizeof signed_q);
}

static void add_body(lw_csv *c, const lw_observation *o, int body)
{
    add(c, o->position[body], 3);
    add_quaternion(c, o->quaternion[body], c->body_near + 4 * body);
    if (c->level >= LW_OBSERVE_TWIST) {
        add(c, o->velocity[body], 3);
        add(c, o->angular_velocity[body], 3);
    }
    if (c->level >= LW_OBSERVE_ACCELERATION) {
        add(c, o->acceleration[body], 3);
        add(c, o->angular_acceleration[body], 3);
    }
}

// A marker at d from the mass centre (body axes), its axes A in the body's:
//   r = r_body + R d,  v = v_body + R (w x d),  a = a_body + R (w' x d + w x (w x d)),
// w and w' in the marker's axes: A' w, A' w'.
static void add_marker(lw_csv *c, const lw_observation *o, int marker)
{
    const lw_marker_desc *m = &c->model->desc.marker[marker];
    const int body = m->body.index;
    const double axes[4] = {m->pose.orientation.w, m->pose.orientation.x, m->pose.orientation.y,
                            m->pose.orientation.z};
    double d[3] = {m->pose.position.x, m->pose.position.y, m->pose.position.z};
    double R[9], A[9], q[4], r[3], x[3], y[3];
    v3_sub(d, d, c->model->body[body].com);
    quat_matrix(R, o->quaternion[body]);
    quat_matrix(A, axes);
    quat_mul(q, o->quaternion[body], axes);
    m3_mul_v(r, R, d);
    v3_add(r, r, o->position[body]);
    add(c, r, 3);
    add_quaternion(c, q, c->marker_near + 4 * marker);
    if (c->level < LW_OBSERVE_TWIST) return;
    const double *w = o->angular_velocity[body];
    v3_cross(x, w, d); // w x d
    m3_mul_v(r, R, x);
    v3_add(r, r, o->velocity[body]);
    add(c, r, 3);
    m3_tmul_v(r, A, w);
    add(c, r, 3);
    if (c->level < LW_OBSERVE_ACCELERATION) return;
    const double *wdot = o->angular_acceleration[body];
    v3_cross(y, w, x);
    v3_cross_add(y, wdot, d);
    m3_mul_v(r, R, y);
    v3_add(r, r, o->acceleration[body]);
    add(c, r, 3);
    m3_tmul_v(r, A, wdot);
    add(c, r, 3);
}

static void add_joint(lw_csv *c, const lw_observation *o, int joint)
{
    const lwi_joint *j = &c->model->joint[joint];
    const bool rates = c->level >= LW_OBSERVE_TWIST;
    const bool accelerations = c->level >= LW_OBSERVE_ACCELERATION;
    const int nq = j->type->nq, nv = j->type->nv;
    if (has_quaternion(j->type)) {
        add(c, o->q + j->iq, nq - 4);
        add_quaternion(c, o->q + j->iq + nq - 4, c->joint_near + 4 * joint);
        if (rates) add(c, o->qd + j->iv, nv);
        return;
    }
    for (int k = 0; k < (nq > nv ? nq : nv); k++) {
        if (k < nq) add(c, o->q + j->iq + k, 1);
        if (k < nv && rates) add(c, o->qd + j->iv + k, 1);
        if (k < nv && accelerations) add(c, o->qdd + j->iv + k, 1);
    }
}

static void add_system(lw_csv *c, const lw_observation *o)
{
    const double energy[4] = {o->kinetic, o->potential, o->kinetic + o->potential, o->work};
    if (c->level < LW_OBSERVE_ENERGY) return;
    add(c, energy, 4);
    add(c, o->momentum, 3);
    add(c, o->angular_momentum, 3);
    add(c, o->residual, c->level >= LW_OBSERVE_REACTION ? 3 : 2);
}

static void fill_row(lw_csv *c, const lw_observation *o)
{
    const lw_model *m = c->model;
    c->filled = 0;
    add(c, &o->time, 1);
    for (int i = 1; i < m->nbody; i++) add_body(c, o, i);
    for (int i = 0; i < m->njoint; i++) add_joint(c, o, i);
    for (int i = 0; i < m->njoint && c->level >= LW_OBSERVE_REACTION; i++) add(c, o->reaction[i], 6);
    for (int i = 0; i < m->desc.nmarker; i++) add_marker(c, o, i);
    add_system(c, o);
}

lw_status lw_csv_row(lw_csv *csv, const lw_observation *observation)
{
    lwi_numbers numbers;
    if (!csv || !observation || observation->level < csv->level) return LW_ERR_ARGUMENT;
    fill_row(csv, observation);
    for (int i = 0; i < csv->ncolumn; i++)
        if (!isfinite(csv->row[i])) return LW_ERR_NOT_FINITE;
    csv->begun = true;
    if (!lwi_numbers_begin(&numbers)) return LW_ERR_MEMORY;
    for (int i = 0; i < csv->ncolumn; i++) fprintf(csv->file, "%s%.17g", i ? "," : "", csv->row[i]);
    fputs("\n", csv->file);
    lwi_numbers_end(&numbers);
    return ferror(csv->file) ? LW_ERR_IO : LW_OK;
}

// ------------------------------------------------------------------------------------ open, close

static lw_status allocate_rows(lw_csv *c)
{
    const lw_model *m = c->model;
    c->row = LWI_PUSH(&c->arena, double, c->ncolumn);
    c->body_near = LWI_PUSH(&c->arena, double, 4 * m->nbody);
    c->marker_near = LWI_PUSH(&c->arena, double, 4 * m->desc.nmarker);
    c->joint_near = LWI_PUSH(&c->arena, double, 4 * m->njoint);
    return c->row && c->body_near && c->marker_near && c->joint_near ? LW_OK : LW_ERR_MEMORY;
}

static void discard(lw_csv *c)
{
    lwi_arena_free(&c->arena);
    lwi_release(NULL, c);
}

lw_status lw_csv_create(const lw_model *model, lw_observe level, const char *path, lw_csv **csv,
                        lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!model || !path || !csv || (int)level < 0 || level > LW_OBSERVE_REACTION)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, level, path and csv must be given");
    lw_csv *c = lwi_allocate(NULL, sizeof *c);
    if (!c) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a CSV file");
    memset(c, 0, sizeof *c);
    c->model = model, c->level = level;
    lwi_arena_init(&c->arena, NULL);
    c->file = fopen(path, "w");
    if (!c->file) {
        lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
        discard(c);
        return LW_ERR_IO;
    }
    put_header(c);
    if (allocate_rows(c) != LW_OK) {
        fclose(c->file);
        discard(c);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a row of the CSV file");
    }
    *csv = c;
    return LW_OK;
}

lw_status lw_csv_close(lw_csv *csv)
{
    if (!csv) return LW_OK;
    const bool failed = ferror(csv->file) != 0;
    const bool lost = fclose(csv->file) != 0;
    discard(csv);
    return failed || lost ? LW_ERR_IO : LW_OK;
}
