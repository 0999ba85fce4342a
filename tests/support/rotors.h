// rotors.h -- a copy of a model with rotors on its coordinates.
#ifndef LWT_ROTORS_H
#define LWT_ROTORS_H

#include "support/mechanism.h"
#include "support/random_model.h"

/** A model from `desc` with the joints of `model`. The caller destroys it. */
static inline lw_model *lwt_with_rotors_of(const lw_model *model, const lwi_description *desc)
{
    lwi_unclosed unclosed;
    lw_error error;
    lw_model *made = NULL;
    assert_int_equal(model->njoint, desc->njoint);
    lwt_ok(lwi_model_compile(desc, NULL, &unclosed, &made, &error), &error);
    return made;
}

/** A copy of `model` with rotor inertias between 0.01 and 1 [kg, kg m^2] on two of three scalar
 *  coordinates, driven ones included. The caller destroys it. */
static inline lw_model *lwt_with_rotors(const lw_model *model, uint64_t seed)
{
    lwi_description desc = model->desc;
    desc.joint = calloc((size_t)desc.njoint + 1, sizeof *desc.joint);
    assert_non_null(desc.joint);
    for (int j = 0; j < desc.njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        desc.joint[j] = model->desc.joint[j];
        for (int k = 0; joint->type->scalar && k < joint->type->nv; k++)
            if (lwt_random_below(&seed, 3) > 0)
                desc.joint[j].coordinate[k].rotor = lwt_random(&seed, 0.01, 1);
    }
    lw_model *made = lwt_with_rotors_of(model, &desc);
    free(desc.joint);
    return made;
}

#endif
