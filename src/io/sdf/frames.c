// frames.c -- models, links, frames and joints of an SDF file, and their poses.
//
// Everything with a frame is an item.  A pose is relative to another item: by default the enclosing model,
// of a joint its child, of a frame what it is attached to; `relative_to` names another.
// Versions before 1.7 have no relative_to and the same defaults.  World poses follow the
// chains of bases from the world on.
#include "base/assert.h"
#include "io/sdf/sdf.h"

#include "io/frames.h"
#include "io/readers.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lw_status lwi_sdf_no_memory(const lwi_sdf *u)
{
    return lwi_fail(u->error, LW_ERR_MEMORY, "out of memory");
}

// Messages have room for a few names: the formats truncate long ones.
lw_status lwi_sdf_fail(const lwi_sdf *u, const lwi_sdf_item *item, const lwi_xml_element *e,
                       lw_status status, const char *format, ...)
{
    char text[sizeof u->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_xml_fail(&item->file->xml, e, status, u->error, "%s", text);
}

void lwi_sdf_begin_notes(const lwi_sdf *u, const lwi_sdf_file *file)
{
    u->notes->part = file->part;
    u->notes->part_place = file->place;
}

// ----------------------------------------------------------------------------------------- values

lw_status lwi_sdf_number(const lwi_sdf *u, const lwi_sdf_item *item, const lwi_xml_element *e,
                         const char *name, double *x)
{
    const lwi_xml_element *value = lwi_xml_child(e, name);
    return value ? lwi_xml_text_numbers(&item->file->xml, value, 1, x, u->error) : LW_OK;
}

bool lwi_sdf_true(const lwi_xml_element *e, const char *name)
{
    const lwi_xml_element *value = lwi_xml_child(e, name);
    return value && (strcmp(value->text, "true") == 0 || strcmp(value->text, "1") == 0);
}

static bool attribute_is(const lwi_xml_element *e, const char *name, const char *value)
{
    const char *found = lwi_xml_get(e, name);
    return found && strcmp(found, value) == 0;
}

lw_status lwi_sdf_pose(const lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e,
                       double *R, double *r)
{
    double x[7] = {0};
    const lwi_xml_element *pose = lwi_xml_child(e, "pose");
    m3_identity(R);
    v3_set(r, 0, 0, 0);
    if (!pose || !*pose->text) return LW_OK;
    const bool quaternion = attribute_is(pose, "rotation_format", "quat_xyzw");
    TRY(lwi_xml_text_numbers(&file->xml, pose, quaternion ? 7 : 6, x, u->error));
    v3_copy(r, x);
    if (quaternion) {
        const double q[4] = {x[6], x[3], x[4], x[5]};
        // three printed digits, as in the native file
        if (!(fabs(sqrt(quat_norm2(q)) - 1) <= 1e-3))
            return lwi_xml_fail(&file->xml, pose, LW_ERR_MODEL, u->error,
                                "<pose>: the quaternion has length %g, expected 1",
                                sqrt(quat_norm2(q)));
        quat_matrix(R, q);
        return LW_OK;
    }
    const double unit = attribute_is(pose, "degrees", "true") || attribute_is(pose, "degrees", "1")
                            ? 0.017453292519943296
                            : 1;
    v3_scale(x + 3, unit, x + 3);
    lwi_frame_rpy(R, x + 3);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ items

// "scope" + "name" + "end"
static const char *joined(const lwi_sdf *u, const char *scope, const char *name, const char *end)
{
    const size_t n = strlen(scope), m = strlen(name), k = strlen(end) + 1;
    char *text = LWI_PUSH(u->arena, char, n + m + k);
    if (!text) return NULL;
    memcpy(text, scope, n);
    memcpy(text + n, name, m);
    memcpy(text + n + m, end, k);
    return text;
}

static lw_status push_item(lwi_sdf *u, const lwi_sdf_item *item, int *index)
{
    if (u->nitem == u->room) {
        const int room = u->room ? 2 * u->room : 64;
        lwi_sdf_item *larger = LWI_PUSH(u->arena, lwi_sdf_item, room);
        if (!larger) return lwi_sdf_no_memory(u);
        if (u->nitem) memcpy(larger, u->item, (size_t)u->nitem * sizeof *larger);
        u->item = larger;
        u->room = room;
    }
    *index = u->nitem;
    LWI_ASSERT(u->nitem < u->room);
    u->item[u->nitem++] = *item;
    return LW_OK;
}

static lw_status add_item(lwi_sdf *u, lwi_sdf_kind kind, const lwi_sdf_file *file,
                          const lwi_xml_element *e, const char *name, int model, int *index)
{
    lwi_sdf_item item = {.kind = kind,
                         .model = model,
                         .file = file,
                         .e = e,
                         .placed = e,
                         .placed_file = file,
                         .base = -1,
                         .depth = u->item[model].depth + 1,
                         .carrier = -1};
    item.place = file->part ? file->place : (lw_place){e->line, e->column};
    if (!name) TRY(lwi_xml_need(&file->xml, e, "name", &name, u->error));
    if (!*name) return lwi_sdf_fail(u, &item, e, LW_ERR_MODEL, "<%s> has an empty name", e->name);
    item.name = joined(u, u->item[model].scope, name, "");
    return item.name ? push_item(u, &item, index) : lwi_sdf_no_memory(u);
}

static lw_status collect_children(lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e,
                                  int model);

/** How a model is included; zero: it is in the file itself. */
typedef struct inclusion {
    const lwi_xml_element *e;
    const lwi_sdf_file *file;
    const char *name;
    bool fixed;
} inclusion;

// `short_names`: the only model of a file has names without prefix.
static lw_status collect_model(lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e,
                               int model, inclusion by, bool short_names)
{
    int index;
    TRY(add_item(u, LWI_SDF_MODEL, file, e, by.name, model, &index));
    lwi_sdf_item *item = &u->item[index];
    if (item->depth > LWI_SDF_MAX_DEPTH)
        return lwi_sdf_fail(u, item, e, LW_ERR_PARSE, "more than %d nested models",
                            LWI_SDF_MAX_DEPTH);
    item->scope = short_names ? "" : joined(u, item->name, "::", "");
    if (!item->scope) return lwi_sdf_no_memory(u);
    if (by.e) item->placed = by.e, item->placed_file = by.file;
    item->fixed = u->item[model].fixed || by.fixed || lwi_sdf_true(e, "static");
    TRY(collect_children(u, file, e, index));
    u->item[index].end = u->nitem;
    return LW_OK;
}

// --------------------------------------------------------------------------------------- includes

double lwi_sdf_version(const char *text)
{
    long major = 0, minor = 0;
    char *end = NULL;
    if (!text) return 0;
    major = strtol(text, &end, 10);
    if (*end == '.') minor = strtol(end + 1, NULL, 10);
    return 1000 * (double)major + (double)minor;
}

static lw_status open_file(lwi_sdf *u, const lwi_sdf_file *from, const lwi_xml_element *include,
                           const char *path, const char *part, const lwi_sdf_file **opened)
{
    char *text = NULL;
    size_t length = 0;
    const lw_allocator *allocator = &u->arena->allocator;
    if (u->nfile > LWI_SDF_MAX_FILES)
        return lwi_xml_fail(&from->xml, include, LW_ERR_PARSE, u->error,
                            "more than %d files are included", LWI_SDF_MAX_FILES);
    lwi_sdf_file *file = LWI_PUSH(u->arena, lwi_sdf_file, 1);
    if (!file) return lwi_sdf_no_memory(u);
    file->part = part;
    file->place = from->part ? from->place : (lw_place){include->line, include->column};
    const char *slash = strrchr(path, '/');
    char *folder = lwi_arena_text(u->arena, path);
    if (!folder) return lwi_sdf_no_memory(u);
    folder[slash ? slash - path : 0] = 0;
    file->folder = folder;
    TRY(lwi_reader_file(path, allocator, &text, &length, u->error));
    const lw_status status = lwi_xml_parse(&file->xml, text, length, path, allocator, u->error);
    lwi_release(allocator, text);
    TRY(status);
    LWI_ASSERT_INDEX(u->nfile, LWI_COUNT(u->file));
    u->file[u->nfile++] = file;
    file->version = lwi_sdf_version(lwi_xml_get(file->xml.root, "version"));
    *opened = file;
    return LW_OK;
}

// The file of the latest version in model.config of a folder, or model.sdf.
static lw_status file_of_folder(lwi_sdf *u, const lwi_sdf_file *from,
                                const lwi_xml_element *include, const char *folder,
                                const char **name)
{
    const lwi_sdf_file *config;
    double latest = -1;
    *name = joined(u, folder, "/", "model.sdf");
    const char *wanted = joined(u, folder, "/", "model.config");
    if (!*name || !wanted) return lwi_sdf_no_memory(u);
    const char *path = lwi_reader_path_inside(u->desc->folder, wanted, u->arena);
    if (!path) return LW_OK;
    TRY(open_file(u, from, include, path, wanted, &config));
    for (const lwi_xml_element *e = lwi_xml_child(config->xml.root, "sdf"); e;
         e = lwi_xml_next(e, "sdf")) {
        const double version = lwi_sdf_version(lwi_xml_get(e, "version"));
        if (version < latest || !*e->text) continue;
        latest = version;
        *name = joined(u, folder, "/", e->text);
        if (!*name) return lwi_sdf_no_memory(u);
    }
    return LW_OK;
}

// Path of a URI below the folder of the main file, or NULL.
static lw_status path_of_uri(lwi_sdf *u, const lwi_sdf_file *from, const lwi_xml_element *include,
                             const char *uri, const char **path, const char **part)
{
    static const char *const schemes[] = {"model://", "file://", "package://"};
    *path = NULL;
    for (int i = 0; i < LWI_COUNT(schemes); i++)
        if (strncmp(uri, schemes[i], strlen(schemes[i])) == 0) uri += strlen(schemes[i]);
    *part = uri;
    if (!u->desc->folder || !*uri || *uri == '/') return LW_OK;
    const size_t n = strlen(uri);
    const bool is_file = (n > 4 && strcmp(uri + n - 4, ".sdf") == 0) ||
                         (n > 6 && strcmp(uri + n - 6, ".world") == 0);
    if (!is_file) TRY(file_of_folder(u, from, include, uri, part));
    *path = lwi_reader_path_inside(u->desc->folder, *part, u->arena);
    return LW_OK;
}

static lw_status collect_include(lwi_sdf *u, const lwi_sdf_file *from,
                                 const lwi_xml_element *include, int model, bool short_names)
{
    const lwi_xml_element *uri = lwi_xml_child(include, "uri");
    const lwi_xml_element *name = lwi_xml_child(include, "name");
    const char *path, *part;
    const lwi_sdf_file *file;
    if (!uri)
        return lwi_xml_fail(&from->xml, include, LW_ERR_PARSE, u->error, "<include> has no <uri>");
    if (attribute_is(include, "merge", "true") || attribute_is(include, "merge", "1"))
        return lwi_xml_fail(&from->xml, include, LW_ERR_UNSUPPORTED, u->error,
                            "<include merge='true'> of '%.150s' is not supported, expected a "
                            "nested model",
                            uri->text);
    TRY(path_of_uri(u, from, include, uri->text, &path, &part));
    if (!path)
        return lwi_xml_fail(&from->xml, include, LW_ERR_PARSE, u->error,
                            u->desc->folder
                                ? "<include>: '%.200s' does not exist below the folder of the file"
                                : "<include>: '%.200s' cannot be read: the model is parsed from "
                                  "memory without a folder",
                            uri->text);
    TRY(open_file(u, from, include, path, part, &file));
    const lwi_xml_element *e = lwi_xml_child(file->xml.root, "model");
    if (strcmp(file->xml.root->name, "sdf") != 0 || !e || lwi_xml_next(e, "model"))
        return lwi_xml_fail(&file->xml, file->xml.root, LW_ERR_PARSE, u->error,
                            "expected <sdf> with one <model>, for an <include>");
    TRY(lwi_sdf_survey(u, file, e));
    const inclusion by = {include, from, name && *name->text ? name->text : NULL,
                          lwi_sdf_true(include, "static")};
    return collect_model(u, file, e, model, by, short_names);
}

// ---------------------------------------------------------------------------------------- collect

// The recursion depth is that of nested models, which collect_model limits.
static lw_status collect_children(lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e,
                                  int model)
{
    static const struct {
        const char *name;
        lwi_sdf_kind kind;
    } kinds[] = {{"link", LWI_SDF_LINK}, {"frame", LWI_SDF_FRAME}, {"joint", LWI_SDF_JOINT}};
    // a single model that nothing in the world refers to: no prefix
    int models = 0;
    const bool world = model == 0;
    for (const lwi_xml_element *c = e->first; world && c; c = c->next)
        models += strcmp(c->name, "model") == 0 || strcmp(c->name, "include") == 0
                      ? 1
                      : 2 * (strcmp(c->name, "joint") == 0 || strcmp(c->name, "frame") == 0);
    for (const lwi_xml_element *c = e->first; c; c = c->next) {
        int index;
        if (strcmp(c->name, "model") == 0)
            TRY(collect_model(u, file, c, model, (inclusion){0}, models == 1));
        else if (strcmp(c->name, "include") == 0)
            TRY(collect_include(u, file, c, model, models == 1));
        for (int k = 0; k < LWI_COUNT(kinds); k++)
            if (strcmp(c->name, kinds[k].name) == 0 && (!world || kinds[k].kind != LWI_SDF_LINK))
                TRY(add_item(u, kinds[k].kind, file, c, NULL, model, &index));
    }
    return LW_OK;
}

// Indexes the names of a kind; equal names are an error.
static lw_status index_kind(lwi_sdf *u, lwi_sdf_kind kind)
{
    int count = 0;
    for (int i = 0; i < u->nitem; i++) count += u->item[i].kind == kind;
    lwi_names *names = &u->names[kind];
    if (lwi_names_create(count, u->arena, names) != LW_OK) return lwi_sdf_no_memory(u);
    for (int i = 0; i < u->nitem; i++)
        if (u->item[i].kind == kind) lwi_names_add(names, u->item[i].name, i);
    lwi_names_sort(names);
    const int k = lwi_names_repeated(names);
    if (!k) return LW_OK;
    const lwi_sdf_item *item = &u->item[names->item[names->order[k]]];
    return lwi_sdf_fail(u, item, item->e, LW_ERR_MODEL, "<%s> '%.200s': this name occurs twice",
                        item->e->name, item->name);
}

// ------------------------------------------------------------------------------------------ names

static int find_kind(const lwi_sdf *u, lwi_sdf_kind kind, const char *name)
{
    return lwi_names_find(&u->names[kind], name);
}

int lwi_sdf_find(const lwi_sdf *u, int model, const char *name)
{
    static const lwi_sdf_kind kinds[] = {LWI_SDF_LINK, LWI_SDF_FRAME, LWI_SDF_MODEL, LWI_SDF_JOINT};
    static const char self[] = "::__model__";
    if (strcmp(name, "world") == 0 || strcmp(name, "__root__") == 0) return 0;
    if (strcmp(name, "__model__") == 0) return model;
    LWI_ASSERT_INDEX(model, u->nitem);
    const char *full = joined(u, u->item[model].scope, name, "");
    if (!full) return -1;
    const size_t n = strlen(full), m = sizeof self - 1;
    if (n > m && strcmp(full + n - m, self) == 0) {
        char *inner = lwi_arena_text(u->arena, full);
        if (!inner) return -1;
        inner[n - m] = 0;
        return find_kind(u, LWI_SDF_MODEL, inner);
    }
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        const int found = find_kind(u, kinds[k], full);
        if (found >= 0) return found;
    }
    return -1;
}

static lw_status find_named(const lwi_sdf *u, const lwi_sdf_item *item, const lwi_xml_element *e,
                            const char *what, const char *name, int model, int *found)
{
    *found = lwi_sdf_find(u, model, name);
    if (*found >= 0) return LW_OK;
    return lwi_sdf_fail(u, item, e, LW_ERR_MODEL, "%s '%.120s': %s '%.120s' does not exist",
                        item->e->name, item->name, what, name);
}

// ------------------------------------------------------------------------------------------ bases

static lw_status named_child(const lwi_sdf *u, const lwi_sdf_item *item, const char *what,
                             int *found)
{
    const lwi_xml_element *e = lwi_xml_child(item->e, what);
    if (!e || !*e->text)
        return lwi_sdf_fail(u, item, item->e, LW_ERR_PARSE, "joint '%.200s' has no <%s>",
                            item->name, what);
    return find_named(u, item, e, what, e->text, item->model, found);
}

// The item that the frame of a model is attached to: the canonical link, the first link, or the first
// nested model.
static lw_status canonical(const lwi_sdf *u, int model, int *carrier)
{
    const lwi_sdf_item *item = &u->item[model];
    const char *name = lwi_xml_get(item->e, "canonical_link");
    *carrier = 0;
    if (item->fixed) return LW_OK;
    if (name && *name) return find_named(u, item, item->e, "canonical link", name, model, carrier);
    int inner = 0;
    for (int i = model + 1; i < item->end; i++) {
        if (u->item[i].model != model) continue;
        if (u->item[i].kind == LWI_SDF_LINK) {
            *carrier = i;
            return LW_OK;
        }
        if (u->item[i].kind == LWI_SDF_MODEL && !inner) inner = i;
    }
    *carrier = inner;
    return LW_OK;
}

static lw_status default_base(lwi_sdf *u, int index)
{
    lwi_sdf_item *item = &u->item[index];
    const char *to;
    item->base = item->model;
    switch (item->kind) {
    case LWI_SDF_LINK:
        item->carrier = index;
        return LW_OK;
    case LWI_SDF_MODEL:
        return canonical(u, index, &item->carrier);
    case LWI_SDF_FRAME:
        to = lwi_xml_get(item->e, "attached_to");
        if (to && *to)
            TRY(find_named(u, item, item->e, "attached_to", to, item->model, &item->base));
        item->carrier = item->base;
        return LW_OK;
    case LWI_SDF_JOINT:
        TRY(named_child(u, item, "child", &item->base));
        item->carrier = item->base;
        return LW_OK;
    default:
        return LW_OK;
    }
}

static lw_status read_base(lwi_sdf *u, int index)
{
    TRY(default_base(u, index));
    lwi_sdf_item *item = &u->item[index];
    // a pose in <include> replaces the pose of the model
    const bool own = item->placed != item->e && !lwi_xml_child(item->placed, "pose");
    const lwi_xml_element *e = own ? item->e : item->placed;
    const lwi_sdf_file *file = own ? item->file : item->placed_file;
    const lwi_xml_element *pose = lwi_xml_child(e, "pose");
    TRY(lwi_sdf_pose(u, file, e, item->X_R, item->X_r));
    const char *to = pose ? lwi_xml_get(pose, "relative_to") : NULL;
    const char *old = pose ? lwi_xml_get(pose, "frame") : NULL;
    if (old && *old) {
        lwi_sdf_begin_notes(u, item->file);
        lwi_notes_add(u->notes, pose, item->name,
                      "<pose frame=''> has different meanings in versions of the format and is not "
                      "used, poses of");
    }
    return to && *to ? find_named(u, item, e, "relative_to", to, item->model, &item->base) : LW_OK;
}

// ---------------------------------------------------------------------------------------- placing

// Pose of an item in the frame of an enclosing model.
static lw_status pose_in_model(const lwi_sdf *u, int item, int model, double *R, double *r)
{
    const lwi_sdf_item *m = &u->item[model];
    m3_identity(R);
    v3_set(r, 0, 0, 0);
    for (int steps = model; item != model; steps++, item = u->item[item].base) {
        if (item <= model || item >= m->end || steps >= m->end)
            return lwi_sdf_fail(u, m, m->e, LW_ERR_MODEL,
                                "model '%.200s': its placement_frame is not inside it", m->name);
        lwi_frame_mul(R, r, u->item[item].X_R, u->item[item].X_r, R, r);
    }
    return LW_OK;
}

// The pose of a model with a placement frame P is that of P:  X_model = X (X_P in model)^-1.
static lw_status use_placement_frame(lwi_sdf *u, int model)
{
    lwi_sdf_item *m = &u->item[model];
    const lwi_xml_element *other = m->placed == m->e ? NULL : m->placed;
    const lwi_xml_element *e = other ? lwi_xml_child(other, "placement_frame") : NULL;
    const char *name = e ? e->text : lwi_xml_get(m->e, "placement_frame");
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3] = {0, 0, 0};
    double R[9], r[3];
    int frame;
    if (!name || !*name) return LW_OK;
    TRY(find_named(u, m, m->e, "placement_frame", name, model, &frame));
    TRY(pose_in_model(u, frame, model, R, r));
    lwi_frame_between(R, r, R, r, I, zero);
    lwi_frame_mul(m->X_R, m->X_r, m->X_R, m->X_r, R, r);
    return LW_OK;
}

// Follows the bases of an item to one that is placed, then places the items on the path in reverse.
static lw_status place(lwi_sdf *u, int first)
{
    int last = -1;
    for (int i = first; u->item[i].seen != LWI_SDF_PLACED;) {
        lwi_sdf_item *item = &u->item[i];
        if (item->seen == LWI_SDF_ON_THE_WAY)
            return lwi_sdf_fail(u, item, item->e, LW_ERR_MODEL,
                                "%s '%.200s': its pose is relative to itself through other "
                                "frames",
                                item->e->name, item->name);
        item->seen = LWI_SDF_ON_THE_WAY;
        item->back = last;
        last = i;
        i = item->base;
    }
    for (; last >= 0; last = u->item[last].back) {
        lwi_sdf_item *item = &u->item[last];
        const lwi_sdf_item *base = &u->item[item->base];
        lwi_frame_mul(item->R, item->r, base->R, base->r, item->X_R, item->X_r);
        item->seen = LWI_SDF_PLACED;
    }
    return LW_OK;
}

lw_status lwi_sdf_link_of(const lwi_sdf *u, int item, int *link)
{
    int end = item;
    for (int steps = 0; u->item[end].carrier != end; end = u->item[end].carrier)
        if (++steps > u->nitem)
            return lwi_sdf_fail(u, &u->item[item], u->item[item].e, LW_ERR_MODEL,
                                "%s '%.200s' is attached to itself through other frames",
                                u->item[item].e->name, u->item[item].name);
    while (u->item[item].carrier != end) { // path compression
        const int next = u->item[item].carrier;
        u->item[item].carrier = end;
        item = next;
    }
    *link = end;
    return LW_OK;
}

static lw_status collect_root(lwi_sdf *u)
{
    const lwi_sdf_file *file = u->file[0];
    const lwi_xml_element *root = file->xml.root, *world = lwi_xml_child(root, "world");
    if (strcmp(root->name, "sdf") != 0)
        return lwi_xml_fail(&file->xml, root, LW_ERR_PARSE, u->error,
                            "the file starts with <%.80s>, expected <sdf>", root->name);
    if (!lwi_xml_get(root, "version"))
        return lwi_xml_fail(&file->xml, root, LW_ERR_PARSE, u->error,
                            "<sdf> has no attribute 'version'");
    if (world)
        TRY(lwi_sdf_survey(u, file, world));
    else
        for (const lwi_xml_element *e = root->first; e; e = e->next) {
            if (strcmp(e->name, "model") == 0)
                TRY(lwi_sdf_survey(u, file, e));
            else if (strcmp(e->name, "include") != 0)
                lwi_notes_add(u->notes, e, lwi_xml_get(e, "name"), "<%.60s> in <sdf> is not read",
                              e->name);
        }
    for (const lwi_xml_element *e = world ? world->next : NULL; e; e = e->next)
        lwi_notes_add(u->notes, e, lwi_xml_get(e, "name"), "<%.60s> next to a <world> is not read",
                      e->name);
    return collect_children(u, file, world ? world : root, 0);
}

lw_status lwi_sdf_collect(lwi_sdf *u)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    lwi_sdf_item world = {.kind = LWI_SDF_WORLD,
                          .name = "world",
                          .scope = "",
                          .model = -1,
                          .file = u->file[0],
                          .e = u->file[0]->xml.root,
                          .base = -1,
                          .seen = LWI_SDF_PLACED};
    int index;
    memcpy(world.R, I, sizeof I);
    TRY(push_item(u, &world, &index));
    TRY(collect_root(u));
    for (int k = LWI_SDF_MODEL; k < LWI_SDF_KINDS; k++) TRY(index_kind(u, (lwi_sdf_kind)k));
    for (int i = 1; i < u->nitem; i++) TRY(read_base(u, i));
    for (int i = u->nitem - 1; i > 0; i--) // nested models first
        if (u->item[i].kind == LWI_SDF_MODEL) TRY(use_placement_frame(u, i));
    for (int i = 1; i < u->nitem; i++) TRY(place(u, i));
    return LW_OK;
}
