// names.c -- names of the model's bodies and joints: those of the file, and others derived from the bodies where
// the file has none.  A derived name never equals one of the file.
#include "io/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

static bool is_joint(const lwi_mjcf_part *p)
{
    return p->at.kind == LWI_MJCF_JOINT || strcmp(p->at.e->name, "freejoint") == 0;
}

// Counts the joints and equalities; adds their names to the list, if there is one.
static int each_joint(const lwi_mjcf *u, lwi_names *taken)
{
    int n = 0;
    for (int i = 0; i < u->nbody; i++)
        for (const lwi_mjcf_part *p = u->body[i].part; p; p = p->next) {
            if (!is_joint(p)) continue;
            n++;
            if (taken) lwi_names_add(taken, lwi_xml_get(p->at.e, "name"), i);
        }
    for (const lwi_xml_element *all = lwi_xml_child(u->xml.root, "equality"); all;
         all = lwi_xml_next(all, "equality"))
        for (const lwi_xml_element *e = all->first; e; e = e->next) {
            n++;
            if (taken) lwi_names_add(taken, lwi_xml_get(e, "name"), 0);
        }
    return n;
}

// `ground` is the fixed world; a body with this name is renamed.
static const char *body_name(lwi_mjcf *u, const lwi_names *taken, int index)
{
    const lwi_mjcf_body *b = &u->body[index];
    char made[32];
    if (b->name && strcmp(b->name, "ground") != 0) return b->name;
    snprintf(made, sizeof made, "body%d", index);
    if (!b->name) return lwi_names_distinct(taken, made, NULL, u->arena);
    const char *name = lwi_names_distinct(taken, "ground", "body", u->arena);
    if (name) lwi_notes_add(u->notes, b->e, name, "body 'ground' is renamed");
    return name;
}

static lw_status name_bodies(lwi_mjcf *u)
{
    lwi_names taken;
    if (lwi_names_create(u->nbody, u->arena, &taken) != LW_OK) return lwi_mjcf_no_memory(u);
    for (int i = 1; i < u->nbody; i++) lwi_names_add(&taken, u->body[i].name, i);
    lwi_names_sort(&taken);
    for (int i = 1; i < u->nbody; i++) {
        lwi_mjcf_begin_notes(u, u->body[i].e);
        u->body[i].desc.name = body_name(u, &taken, i);
        if (!u->body[i].desc.name) return lwi_mjcf_no_memory(u);
    }
    return LW_OK;
}

lw_status lwi_mjcf_make_names(lwi_mjcf *u)
{
    TRY(name_bodies(u));
    if (lwi_names_create(each_joint(u, NULL), u->arena, &u->taken_joints) != LW_OK)
        return lwi_mjcf_no_memory(u);
    each_joint(u, &u->taken_joints);
    lwi_names_sort(&u->taken_joints);
    return LW_OK;
}

const char *lwi_mjcf_joint_name(const lwi_mjcf *u, int body, const char *kind, int number)
{
    char second[48];
    snprintf(second, sizeof second, number > 1 ? "%.16s%d" : "%.16s", kind, number);
    return lwi_names_distinct(&u->taken_joints, u->body[body].desc.name, second, u->arena);
}

const char *lwi_mjcf_force_name(const lwi_mjcf *u, const char *item, const char *kind)
{
    return lwi_names_distinct(&u->taken_inputs, item, kind, u->arena);
}

// Joints and equalities of the format may have the same name; here both are joints.
const char *lwi_mjcf_equality_name(const lwi_mjcf *u, const lwi_xml_element *e, int body,
                                   int number)
{
    const char *name = lwi_xml_get(e, "name");
    if (!name) return lwi_mjcf_joint_name(u, body, e->name, number);
    if (lwi_names_find(&u->joint_names, name) < 0) return name;
    const char *other = lwi_names_distinct(&u->taken_joints, name, e->name, u->arena);
    lwi_mjcf_begin_notes(u, e);
    if (other) lwi_notes_add(u->notes, e, other, "equalities with the name of a joint are renamed");
    return other;
}
