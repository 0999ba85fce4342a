// item.h -- a force of model files: its description, keys, checks and how it is compiled.
#ifndef LWI_MODEL_FORCES_ITEM_H
#define LWI_MODEL_FORCES_ITEM_H

#include "model/forces/force.h"
#include "model/keys.h"

#include <math.h>

/** A number of a description that can differ between instances of a batch. */
typedef struct lwi_parameter {
    const char *what, *name, *unit; ///< "mass", "body.NAME.mass", "kg"
    size_t offset;                  ///< in the description
    double min;                     ///< smallest value; -INFINITY: any
    bool above;                     ///< `min` itself is not allowed
    bool numbered;                  ///< one for each coordinate of a joint: "stiffness0"
} lwi_parameter;

/** Row of the parameters of the force `force`. */
#define LWI_FORCE_PARAMETER(force, text, text_unit, field, ...)                                    \
    {                                                                                              \
        .what = (text), .name = #force ".NAME." text, .unit = (text_unit),                         \
        .offset = offsetof(lw_##force##_desc, field), __VA_ARGS__                                  \
    }
#define LWI_ANY_NUMBER .min = -INFINITY

/** What a model file says of a force.  The description is a struct of the public interface with the members
 *  size, name and place. */
typedef struct lwi_force_item {
    const lwi_force_type *type;
    const lwi_yaml_object *keys; ///< its `type` is the name of the force
    size_t desc_size, name_at,
        place_at; ///< of the description: size, offsets of `name` and `place`
    size_t par_size;
    /** lw_builder_add_<name> */
    lw_status (*add)(lw_builder *, const void *desc, lw_error *);
    /** @return LW_ERR_MEMORY */
    lw_status (*compile)(struct lw_model *, const void *desc, void *par);
    const char *acts; ///< "acts between points"
    const lwi_parameter *parameter;
    int nparameter;
    const char *parameter_help; ///< "parameter of a spring"
    /** The line that drawings show: its sign "spring", "damper" or "force", its ends in the frames of the
     *  bodies.  NULL: they show none. */
    const char *(*line)(const void *desc, int body[2], lw_vec3 point[2]);
} lwi_force_item;

/** The facts of an item; none can be left out. */
#define LWI_FORCE_ITEM(force, file_keys, desc, par, add_function, compile_function, varied, what,  \
                       drawn)                                                                      \
    {                                                                                              \
        .type = &lwi_force_##force, .keys = (file_keys), .desc_size = sizeof(desc),                \
        .name_at = offsetof(desc, name), .place_at = offsetof(desc, place),                        \
        .par_size = sizeof(par), .add = (add_function), .compile = (compile_function),             \
        .parameter = (varied), .nparameter = LWI_COUNT(varied),                                    \
        .parameter_help = "parameter of a " #force, .acts = (what), .line = (drawn)                \
    }

#define X(name) extern const lwi_force_item lwi_force_item_##name;
LW_FORCE_LIST(X)
#undef X

/** [LWI_FORCE_ITEMS] in the order of the list. */
extern const lwi_force_item *const lwi_force_items[LWI_FORCE_ITEMS];

const char *lwi_force_item_name(const lwi_force_item *item, const void *desc);
lw_place lwi_force_item_place(const lwi_force_item *item, const void *desc);

#endif
