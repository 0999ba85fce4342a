// writer.h -- what all files of a generated model are written from: its graphs, and names and parameters of functions.
#ifndef LWI_CODEGEN_WRITER_H
#define LWI_CODEGEN_WRITER_H

#include "codegen/casadi.h"
#include "codegen/functions.h"
#include "codegen/repeat.h"
#include "codegen/sources.h"

/** What the files of a model are written from. */
typedef struct lwi_codegen_writer {
    const lw_model *model;
    const lwi_elements *elements;
    const lwi_partition *partition; ///< of closed loops; NULL: the one of the start
    const char *name, *directory;
    char upper[128];
    lwi_codegen_graph graph[LWI_CODEGEN_FUNCTIONS];
    bool
        shapes; ///< of compiled runs: what repeats is generated once (repeat.h); lwi_generate_run_rates
    lwi_repeats *repeats[LWI_CODEGEN_FUNCTIONS]; ///< NULL: plain statements
    double seconds;                              ///< that a compiler may take for them
    bool casadi;
    int lanes;                      ///< of states; 0: none
    int packs;                      ///< lanes of equal parts of one state; 0: none
    bool circular;                  ///< sines and cosines are those of lanes, not of libm
    unsigned functions;             ///< which: bits 1u << LW_CODEGEN_...
    bool cuda, single;              ///< a source for many instances; of floats
    lwi_codegen_graph loaded_rates; ///< of that source: rates with efforts
    FILE *kernels;                  ///< that source alone; NULL: files in the folder
    lwi_codegen_graph jacobian[LWI_CASADI_JACOBIANS];
} lwi_codegen_writer;

/** [LWI_CODEGEN_FUNCTIONS] names of the functions, after that of the model. */
extern const char *const lwi_codegen_names[];
/** [LWI_CODEGEN_FUNCTIONS] what builds their values. */
extern lwi_generate *const lwi_codegen_generators[];
/** Does the model have the function? */
bool lwi_codegen_applies(const lwi_elements *elements, int function);
/** Has the model the function, and is it asked for? */
bool lwi_codegen_wanted(const lwi_codegen_writer *writer, int function);
/** May the function fail? */
bool lwi_codegen_returns_code(const lwi_elements *elements, int function);
/** Does some function call this one? */
bool lwi_codegen_calls(const lwi_codegen_writer *writer, lwi_op op);
/** What comes before a function, and its body.  @param lanes  as of lwi_repeats_print */
void lwi_codegen_print_before(FILE *file, const lwi_codegen_writer *writer, int function,
                              int lanes);
void lwi_codegen_print_body(FILE *file, lwi_codegen_writer *writer, int function, int lanes);
/** The first n parameters of a function, the arrays of its graph; `vectors`: numbers are arrays, too. */
void lwi_codegen_print_parameters(FILE *file, const lwi_codegen_graph *graph, int n,
                                  const char *type, bool vectors);
/** How many of them a function of the caller has. */
int lwi_codegen_parameter_count(const lwi_codegen_writer *writer, int function);
/** Prints letters with NAME, UPPER and LANES replaced; TIMED{...} is left out where positions do not depend on time. */
void lwi_codegen_template(FILE *file, const lwi_codegen_writer *writer, const char *letters);

#endif
