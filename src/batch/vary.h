// vary.h -- names of what can differ between instances, and how it is put into effect.
#ifndef LWI_BATCH_VARY_H
#define LWI_BATCH_VARY_H

#include "kinematics/formulation.h"

#include <linkwork/batch.h>

typedef enum lwi_vary_kind {
    LWI_VARY_Q,    ///< joint coordinate: index in the model's q
    LWI_VARY_QD,   ///< joint speed: index in the model's qd
    LWI_VARY_BASE, ///< floating base: component of the body's motion
    LWI_VARY_INPUT,
    LWI_VARY_PARAMETER, ///< a number of the description
    LWI_VARY_FILE,      ///< a parameter of the model's file, in its unit
    LWI_VARY_OPTION     ///< a number of the options
} lwi_vary_kind;

/** A name, resolved. */
typedef struct lwi_vary {
    lwi_vary_kind kind;
    const char *name;
    int item, index; ///< body, component; input; parameter: item and number
    int list;        ///< of a parameter
    const struct lwi_parameter *parameter;
} lwi_vary;

/** Does it need another model? */
static inline bool lwi_vary_of_model(const lwi_vary *vary)
{
    return vary->kind == LWI_VARY_PARAMETER || vary->kind == LWI_VARY_FILE;
}
/** Does it need another simulation? */
static inline bool lwi_vary_of_variant(const lwi_vary *vary)
{
    return lwi_vary_of_model(vary) || vary->kind == LWI_VARY_OPTION;
}

lw_status lwi_vary_resolve(const lw_model *model, const char *name, lwi_vary *vary,
                           lw_error *error);
/** Of its values: "mm", "m or rad" where it is not known which of them, "" for none. */
const char *lwi_vary_unit(const lw_model *model, const lwi_vary *vary);

/** The value of a number of the description, in its unit; of a scale 1. */
double lwi_vary_number(const lw_model *model, const lwi_vary *vary);
/** Numbers the sets of parameters that differ, in the order of the instances.
 *  @param values   [n][nvary]
 *  @param variant  [n] out    @param first  [n] out: of each the first instance      @return LW_ERR_MEMORY */
lw_status lwi_vary_group(const lwi_vary *vary, int nvary, const double *values, int n,
                         lwi_arena *scratch, int *variant, int *first, int *nvariant);
/** Parses the model's file, where some of the names are its parameters, for many calls of lwi_vary_model. */
lw_status lwi_vary_parse(const lw_model *model, const lwi_vary *vary, int nvary, lwi_arena *arena,
                         const lwi_parsed_document **document, lw_error *error);
/** The model with other parameters; values of other kinds are passed over.
 *  @param document  by lwi_vary_parse; NULL: the file is parsed again
 *  @param values   [nvary]
 *  @param options  of the runs; NULL: not compared
 *  @param note     [LWI_REMAKE_NOTE] out: which option does not follow the parameters; may be NULL */
lw_status lwi_vary_model(const lw_model *model, const lwi_parsed_document *document,
                         const lwi_vary *vary, int nvary, const double *values,
                         const lw_options *options, char *note, const lw_allocator *allocator,
                         lw_model **varied, lw_error *error);
/** Sets options by the values of that kind.   @return LW_ERR_ARGUMENT: a value is not possible */
lw_status lwi_vary_options(const lwi_vary *vary, int nvary, const double *values,
                           lw_options *options, lw_error *error);
/** Sets coordinates, speeds and bases of a snapshot, and inputs.  @return whether the snapshot has changed; then
 *  it is completed by lwi_snapshot_from_joints */
bool lwi_vary_start(const lwi_vary *vary, int nvary, const double *values, lwi_snapshot *snapshot,
                    double *inputs);

#endif
