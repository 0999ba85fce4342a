// compile.c -- from a description to the immutable model: all but the decision on an open start.
#include "model/forces/item.h"
#include "model/outputs.h"
#include "base/assert.h"
#include "model/description.h"
#include "model/events.h"
#include "model/impulses.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------- copy of the description

// One list of plain structs; its pointers are replaced afterwards.
static void *copy_list(lwi_arena *arena, const void *items, int count, size_t size)
{
    void *list = lwi_arena_push(arena, (size_t)count, size);
    if (list && count) memcpy(list, items, (size_t)count * size);
    return list;
}

static bool copy_text(lwi_arena *arena, const char **text)
{
    if (!*text) return true;
    *text = lwi_arena_text(arena, *text);
    return *text != NULL;
}

// The lists that a description points to.
static bool copy_lists(const lwi_yaml_object *keys, char *desc, lwi_arena *arena)
{
    for (int k = 0; k < keys->nkey; k++) {
        const lwi_yaml_key *key = &keys->key[k];
        if (key->kind != LWI_KEY_OBJECTS) continue;
        const void *items;
        int count;
        memcpy(&items, desc + key->offset, sizeof items);
        memcpy(&count, desc + key->size, sizeof count);
        if (count > 0) items = copy_list(arena, items, count, (size_t)key->count);
        if (count > 0 && !items) return false;
        memcpy(desc + key->offset, &items, sizeof items);
    }
    return true;
}

static bool copy_forces(lwi_description *d, int kind, lwi_arena *arena)
{
    const lwi_force_item *item = lwi_force_items[kind];
    lwi_force_list *list = &d->force[kind];
    list->desc = copy_list(arena, list->desc, list->n, item->desc_size);
    bool ok = list->desc != NULL;
    for (int i = 0; i < list->n && ok; i++) {
        char *desc = (char *)list->desc + (size_t)i * item->desc_size;
        const char *name;
        memcpy(&name, desc + item->name_at, sizeof name);
        ok = copy_text(arena, &name) && copy_lists(item->keys, desc, arena);
        memcpy(desc + item->name_at, &name, sizeof name);
    }
    return ok;
}

static bool copy_description(lwi_description *d, lwi_arena *arena)
{
    const lw_function_desc *functions = d->function;
    lwi_signal_names names = lwi_names_of(d);
#define COPY(field, count)                                                                         \
    if (!(d->field = copy_list(arena, d->field, d->count, sizeof *d->field))) return false
    COPY(function, nfunction);
    COPY(input, ninput);
    COPY(body, nbody);
    COPY(joint, njoint);
    COPY(coupling, ncoupling);
    COPY(marker, nmarker);
    COPY(measure, nmeasure);
    COPY(impulse, nimpulse);
    COPY(event, nevent);
    COPY(warning, nwarning);
    COPY(mesh, nmesh);
#undef COPY
    bool ok = copy_text(arena, &d->source) && lwi_statements_copy(&d->stated, arena) &&
              (!d->remake.make || d->remake.copy(&d->remake, arena));
    for (int i = 0; i < d->nfunction && ok; i++) {
        lwi_function built;
        names.nfunction = i; // those before it
        ok = lwi_function_build(&functions[i], &names, arena, &built) == LW_OK;
        if (ok) d->function[i] = built.desc;
    }
    for (int i = 0; i < d->ninput && ok; i++) ok = copy_text(arena, &d->input[i]);
    for (int i = 0; i < d->nbody && ok; i++) {
        lw_body_desc *b = &d->body[i];
        ok = copy_text(arena, &b->name);
        if (!ok || !b->nshape) continue;
        b->shapes = copy_list(arena, b->shapes, b->nshape, sizeof *b->shapes);
        ok = b->shapes != NULL;
    }
    for (int i = 0; i < d->nmesh && ok; i++) ok = lwi_mesh_desc_copy(arena, &d->mesh[i]);
    for (int k = 0; k < LWI_FORCE_ITEMS && ok; k++) ok = copy_forces(d, k, arena);
    for (int i = 0; i < d->nmarker && ok; i++) ok = copy_text(arena, &d->marker[i].name);
    for (int i = 0; i < d->nmeasure && ok; i++)
        ok = copy_text(arena, &d->measure[i].name) && copy_text(arena, &d->measure[i].formula) &&
             copy_text(arena, &d->measure[i].unit);
    for (int i = 0; i < d->nimpulse && ok; i++) ok = copy_text(arena, &d->impulse[i].name);
    for (int i = 0; i < d->nevent && ok; i++) ok = lwi_event_desc_copy(arena, &d->event[i]);
    for (int i = 0; i < d->nwarning && ok; i++) ok = copy_text(arena, &d->warning[i]);
    for (int i = 0; i < d->njoint && ok; i++) {
        ok = copy_text(arena, &d->joint[i].name);
        if (!ok || !d->joint[i].custom) continue;
        lw_custom_joint *custom = copy_list(arena, d->joint[i].custom, 1, sizeof *custom);
        ok = custom && copy_text(arena, &custom->name);
        d->joint[i].custom = custom;
    }
    for (int i = 0; i < d->ncoupling && ok; i++) {
        lw_coupling_desc *c = &d->coupling[i];
        c->polynomial = copy_list(arena, c->polynomial, c->npolynomial, sizeof *c->polynomial);
        ok = c->polynomial != NULL;
    }
    return ok;
}

// ------------------------------------------------------------------------------------------ joints

// A joint frame of the description, on the carrier of its body and from the carrier's mass centre.
static void frame_on_carrier(const lw_model *m, int body, const lw_pose *frame, double R[9],
                             double r[3])
{
    const lwi_body *b = &m->body[body];
    const double q[4] = {frame->orientation.w, frame->orientation.x, frame->orientation.y,
                         frame->orientation.z};
    double local[9], d[3];
    quat_matrix(local, q);
    v3_set(d, frame->position.x - b->com[0], frame->position.y - b->com[1],
           frame->position.z - b->com[2]);
    if (b->carrier == body) {
        memcpy(R, local, sizeof local);
        v3_copy(r, d);
        return;
    }
    m3_mul(R, b->carrier_R, local);
    m3_mul_v(r, b->carrier_R, d);
    v3_add(r, r, b->carrier_r);
}

// Distance of the joint points at the assembly configuration.
static double assembled_distance(const lw_model *m, const lw_joint_desc *d)
{
    double end[2][3];
    for (int side = 0; side < 2; side++) {
        const lw_pose *pose = &m->desc.body[side ? d->body2.index : d->body1.index].pose;
        const lw_vec3 p = side ? d->frame2.position : d->frame1.position;
        const double q[4] = {pose->orientation.w, pose->orientation.x, pose->orientation.y,
                             pose->orientation.z};
        const double local[3] = {p.x, p.y, p.z};
        double R[9];
        quat_matrix(R, q);
        m3_mul_v(end[side], R, local);
        end[side][0] += pose->position.x, end[side][1] += pose->position.y,
            end[side][2] += pose->position.z;
    }
    v3_sub(end[0], end[1], end[0]);
    return v3_norm(end[0]);
}

static lw_status compile_type(lw_model *m, const lw_joint_desc *d, lwi_joint *j, lw_error *error)
{
    j->par.pitch = d->pitch / 6.283185307179586476925286766559; // metres per radian
    j->par.length = d->length;
    if (d->type != LW_JOINT_CUSTOM) {
        j->type = lwi_joint_type_of(d->type);
    } else {
        lwi_joint_type *type = LWI_PUSH(&m->arena, lwi_joint_type, 1);
        if (!type) return lwi_fail(error, LW_ERR_MEMORY, "no memory for joint '%s'", d->name);
        j->par.custom = *d->custom;
        lwi_joint_custom_type(d->custom, type);
        j->type = type;
    }
    if (!j->type->has_length || d->length_of.index) return LW_OK;
    if (d->length == 0) j->par.length = assembled_distance(m, d);
    if (j->par.length > 0) return LW_OK;
    return lwi_model_fail(
        &m->desc, d->place, error,
        "joint '%s': the points of a distance joint coincide and no length is given; "
        "use a spherical joint",
        d->name);
}

// The rotor of a servo moves with l = gear q: gear^2 of its inertia on the coordinate.
static void add_servo_rotors(lw_model *m)
{
    for (int i = 0; i < m->desc.force[LWI_ITEM_servo].n; i++) {
        const lw_servo_desc *d = lwi_force_desc(&m->desc, LWI_ITEM_servo, i);
        const double gear = d->law.gear != 0 ? d->law.gear : 1;
        if (d->rotor == 0) continue;
        lwi_joint *j = &m->joint[d->joint.index];
        const bool first = j->rotor[d->coordinate] == 0;
        j->rotor[d->coordinate] += gear * gear * d->rotor;
        j->nrotor += first, m->nrotor += first;
    }
}

lw_status lwi_compile_joints(lw_model *m, lw_error *error)
{
    for (int i = 0; i < m->njoint; i++) {
        const lw_joint_desc *d = &m->desc.joint[i];
        lwi_joint *j = &m->joint[i];
        j->name = d->name;
        TRY(compile_type(m, d, j, error));
        j->body1 = m->body[d->body1.index].carrier;
        j->body2 = m->body[d->body2.index].carrier;
        if (j->body1 == j->body2 && !j->merged)
            return lwi_model_fail(
                &m->desc, d->place, error,
                "joint '%s': bodies '%s' and '%s' are fixed to each other already, "
                "the joint cannot move",
                d->name, m->desc.body[d->body1.index].name, m->desc.body[d->body2.index].name);
        frame_on_carrier(m, d->body1.index, &d->frame1, j->R1, j->r1);
        frame_on_carrier(m, d->body2.index, &d->frame2, j->R2, j->r2);
        LWI_ASSERT(j->type->nq <= LW_JOINT_MAX_NQ && j->type->nv <= LW_JOINT_MAX_NV);
        LWI_ASSERT(m->body[j->body1].carrier == j->body1);
        LWI_ASSERT(m->body[j->body2].carrier == j->body2);
        j->iq = m->nq;
        j->iv = m->nv;
        m->nq += j->type->nq;
        m->nv += j->type->nv;
        for (int k = 0; k < j->type->nv; k++) {
            j->motion[k] = d->coordinate[k].motion;
            j->ndriven += j->motion[k].index != 0;
            if (j->motion[k].index == 0 && d->coordinate[k].rotor > 0) {
                j->rotor[k] = d->coordinate[k].rotor;
                j->nrotor++, m->nrotor++;
            }
        }
        j->length_of = d->length_of;
        j->mount.turn = d->mount_turn;
        memcpy(j->mount.shift, d->mount_shift, sizeof j->mount.shift);
        j->mount.present = d->mount_turn.index || d->mount_shift[0].index ||
                           d->mount_shift[1].index || d->mount_shift[2].index;
        v3_set(j->mount.about, d->mount_about.x, d->mount_about.y, d->mount_about.z);
        const double about = v3_norm(j->mount.about);
        if (about == 0)
            v3_set(j->mount.about, 0, 0, 1);
        else
            v3_scale(j->mount.about, 1 / about, j->mount.about);
        m->driven = m->driven || j->ndriven || j->mount.present || j->length_of.index;
    }
    add_servo_rotors(m);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ forces

// How many joint springs joint j has; with `par`, fills them.
static int joint_springs(const lw_model *m, int j, lwi_joint_spring_par *par)
{
    const lw_joint_desc *d = &m->desc.joint[j];
    const lwi_joint *joint = &m->joint[j];
    int n = 0;
    for (int k = 0; k < joint->type->nv; k++) {
        const lw_coordinate_desc *c = &d->coordinate[k];
        const double damping = c->damping + d->damping;
        if (c->stiffness == 0 && damping == 0 && !c->force.index && !c->effort.index) continue;
        if (par)
            par[n] =
                (lwi_joint_spring_par){.iq = joint->type->scalar ? joint->iq + k : -1,
                                       .iv = joint->iv + k,
                                       .stiffness = c->stiffness,
                                       .damping = damping,
                                       .at = c->at,
                                       .force = c->force,
                                       .effort = c->effort,
                                       .follows = (lwi_function_needs(m->function, c->force) |
                                                   lwi_function_needs(m->function, c->effort)) &
                                                  LWI_NEEDS_JOINT};
        n++;
    }
    return n;
}

// The stops of joint j likewise.
static int joint_stops(lw_model *m, int j, lwi_joint_stop_par *par)
{
    const lwi_joint *joint = &m->joint[j];
    int n = 0;
    for (int k = 0; k < joint->type->nv; k++) {
        const lw_limits_desc *d = &m->desc.joint[j].coordinate[k].limits;
        for (int side = -1; side <= 1; side += 2) {
            if (!(side < 0 ? d->has_lower : d->has_upper) || d->stiffness == 0) continue;
            if (par)
                par[n] = (lwi_joint_stop_par){.iq = joint->iq + k,
                                              .iv = joint->iv + k,
                                              .mode = m->nmode++,
                                              .at = side < 0 ? d->lower : d->upper,
                                              .side = side,
                                              .stiffness = d->stiffness,
                                              .damping = d->damping};
            n++;
        }
    }
    return n;
}

// The frictions of joint j likewise.
static int joint_frictions(const lw_model *m, int j, lwi_joint_friction_par *par)
{
    const lwi_joint *joint = &m->joint[j];
    int n = 0;
    for (int k = 0; k < joint->type->nv; k++) {
        const lw_friction_desc *d = &m->desc.joint[j].coordinate[k].friction;
        if (d->coulomb == 0 && d->viscous == 0) continue;
        if (par) par[n] = (lwi_joint_friction_par){joint->iv + k, d->coulomb, d->viscous, d->speed};
        n++;
    }
    return n;
}

// The rotors on driven coordinates of joint j likewise.
static int joint_rotors(const lw_model *m, int j, lwi_joint_rotor_par *par)
{
    const lwi_joint *joint = &m->joint[j];
    int n = 0;
    for (int k = 0; k < joint->type->nv; k++) {
        const lw_coordinate_desc *c = &m->desc.joint[j].coordinate[k];
        if (c->rotor == 0 || c->motion.index == 0) continue;
        if (par) par[n] = (lwi_joint_rotor_par){joint->iv + k, c->rotor, c->motion};
        n++;
    }
    return n;
}

// A force with the signals it follows.
static void add_force(lw_model *m, const lwi_force_type *type, const void *par, lw_signal a,
                      lw_signal b)
{
    m->force[m->nforce++] = (lwi_force){type, par, 0};
    m->force_needs |= type->needs;
    m->force_needs |= lwi_function_needs(m->function, a) | lwi_function_needs(m->function, b);
    lwi_function_mark_read(m->function, m->desc.function, a);
    lwi_function_mark_read(m->function, m->desc.function, b);
    if (lwi_force_dissipates(type, par)) m->carries_work = true;
}

// What the signals need that a key of a description holds; they are marked as read.
static unsigned key_needs(lw_model *m, const lwi_yaml_key *key, const void *desc)
{
    lw_signal signal;
    unsigned needs = 0;
    const bool one = key->kind == LWI_KEY_SIGNAL || key->kind == LWI_KEY_FUNCTION;
    const int n = one ? 1 : key->kind == LWI_KEY_SIGNALS ? key->count : 0;
    for (int i = 0; i < n; i++) {
        memcpy(&signal, (const char *)desc + key->offset + (size_t)i * sizeof signal,
               sizeof signal);
        needs |= lwi_function_needs(m->function, signal);
        lwi_function_mark_read(m->function, m->desc.function, signal);
    }
    return needs;
}

static lw_status compile_items(lw_model *m, int kind)
{
    const lwi_force_item *item = lwi_force_items[kind];
    const int n = m->desc.force[kind].n;
    char *par = lwi_arena_push(&m->arena, (size_t)n, item->par_size);
    if (!par) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++, par += item->par_size) {
        const void *desc = lwi_force_desc(&m->desc, kind, i);
        TRY(item->compile(m, desc, par));
        add_force(m, item->type, par, (lw_signal){0}, (lw_signal){0});
        for (int k = 0; k < item->keys->nkey; k++)
            m->force_needs |= key_needs(m, &item->keys->key[k], desc);
    }
    return LW_OK;
}

// Their rates are evaluated last, and need what their formulas read.
static void add_signal_states(lw_model *m)
{
    if (m->nstate == 0) return;
    m->force[m->nforce++] = (lwi_force){&lwi_force_signal_states, m, 0};
    for (int i = 0; i < m->desc.nfunction; i++) {
        if (m->function[i].nstate == 0) continue;
        m->force_needs |= lwi_function_needs(m->function, (lw_signal){i + 1});
        lwi_function_mark_read(m->function, m->desc.function, (lw_signal){i + 1});
    }
}

lw_status lwi_compile_forces(lw_model *m, lw_error *error)
{
    int n = 0, first = 0, stops = 0, frictions = 0, rotors = 0;
    for (int j = 0; j < m->njoint; j++) {
        first += joint_springs(m, j, NULL);
        stops += joint_stops(m, j, NULL);
        frictions += joint_frictions(m, j, NULL);
        rotors += joint_rotors(m, j, NULL);
    }
    lwi_joint_rotor_par *rotor = LWI_PUSH(&m->arena, lwi_joint_rotor_par, rotors);
    lwi_joint_friction_par *friction = LWI_PUSH(&m->arena, lwi_joint_friction_par, frictions);
    lwi_joint_stop_par *stop = LWI_PUSH(&m->arena, lwi_joint_stop_par, stops);
    lwi_joint_spring_par *js = LWI_PUSH(&m->arena, lwi_joint_spring_par, first);
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) n += m->desc.force[k].n;
    m->force = LWI_PUSH(&m->arena, lwi_force, n + first + stops + frictions + rotors + 1);
    m->coupling = LWI_PUSH(&m->arena, lwi_coupling, m->desc.ncoupling);
    if (!rotor || !friction || !stop || !js || !m->force || !m->coupling)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for forces");
    m->carries_work = m->driven;
    const bool at_joints = first + stops + frictions + rotors > 0;
    for (int j = 0; j < m->njoint && at_joints; j++) {
        const int count = joint_springs(m, j, js);
        for (int i = 0; i < count; i++, js++)
            add_force(m, &lwi_force_joint_spring, js, js->force, js->effort);
        for (int i = joint_stops(m, j, stop); i > 0; i--, stop++)
            add_force(m, &lwi_force_joint_stop, stop, (lw_signal){0}, (lw_signal){0});
        for (int i = joint_frictions(m, j, friction); i > 0; i--, friction++)
            add_force(m, &lwi_force_joint_friction, friction, (lw_signal){0}, (lw_signal){0});
        for (int i = joint_rotors(m, j, rotor); i > 0; i--, rotor++)
            add_force(m, &lwi_force_joint_rotor, rotor, (lw_signal){0}, (lw_signal){0});
    }
    for (int k = 0; k < LWI_FORCE_ITEMS; k++)
        if (compile_items(m, k) != LW_OK)
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for forces");
    add_signal_states(m);
    LWI_ASSERT(m->nforce == n + first + stops + frictions + rotors + (m->nstate > 0));
    m->ncoupling = m->desc.ncoupling;
    for (int i = 0; i < m->ncoupling; i++) {
        const lw_coupling_desc *d = &m->desc.coupling[i];
        m->coupling[i] = (lwi_coupling){d->joint.index, d->coordinate, d->of.index,
                                        d->with,        d->polynomial, d->npolynomial};
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- model

// Largest distance of a joint point from the mass centre of a moving body.
static double mechanism_length(const lw_model *model)
{
    double largest = 0;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->body1) largest = fmax(largest, v3_norm(joint->r1));
        if (joint->body2) largest = fmax(largest, v3_norm(joint->r2));
    }
    return largest > 0 ? largest : 1;
}

static lw_status compile(lw_model *m, const lwi_description *desc, lwi_unclosed *unclosed,
                         lw_error *error)
{
    m->desc = *desc;
    if (!copy_description(&m->desc, &m->arena))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
    m->function = LWI_PUSH(&m->arena, lwi_function, desc->nfunction);
    if (!m->function) return lwi_fail(error, LW_ERR_MEMORY, "no memory for functions");
    lwi_signal_names names = lwi_names_of(desc);
    for (int i = 0; i < desc->nfunction; i++) {
        names.nfunction = i;
        if (lwi_function_build(&desc->function[i], &names, &m->arena, &m->function[i]) != LW_OK)
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for functions");
        m->function[i].moves = lwi_function_of_state(m->desc.function, (lw_signal){i + 1}) != NULL;
        m->function[i].state = m->nstate;
        m->nstate += m->function[i].nstate;
        m->limited |=
            m->function[i].desc.type == LW_FUNCTION_INTEGRAL && m->function[i].desc.has_range;
    }
    v3_copy(m->gravity, desc->gravity);
    for (int i = 0; i < 3; i++)
        if (!isfinite(m->gravity[i]))
            return lwi_model_fail(desc, (lw_place){0, 0}, error, "gravity is not finite");
    TRY(lwi_compile_bodies(m, error));
    TRY(lwi_compile_joints(m, error));
    TRY(lwi_compile_formulas(m, error));
    TRY(lwi_compile_events(m, error));
    TRY(lwi_compile_topology(m, error));
    TRY(lwi_compile_forces(m, error));
    if (lwi_compile_outputs(m) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the outputs of forces");
    lwi_compile_impulses(m);
    m->length = mechanism_length(m);
    TRY(lwi_compile_start(m, unclosed, error));
    return lwi_compile_states(m, error);
}

lw_status lwi_model_compile(const lwi_description *desc, const lw_allocator *allocator,
                            lwi_unclosed *unclosed, lw_model **model, lw_error *error)
{
    TRY(lwi_description_check(desc, error));
    lw_model *m = lwi_allocate(allocator, sizeof *m);
    if (!m) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
    memset(m, 0, sizeof *m);
    lwi_arena_init(&m->arena, allocator);
    if (error) error->status = LW_OK;
    const lw_status status = compile(m, desc, unclosed, error);
    if (status != LW_OK) {
        if (status == LW_ERR_MEMORY && error && error->status == LW_OK) // of a warning
            lwi_fail(error, status, "no memory for the model");
        lw_model_destroy(m);
        return status;
    }
    *model = m;
    return LW_OK;
}

void lw_model_destroy(lw_model *model)
{
    if (!model) return;
    const lw_allocator allocator = model->arena.allocator;
    lwi_arena_free(&model->arena);
    lwi_release(&allocator, model);
}
