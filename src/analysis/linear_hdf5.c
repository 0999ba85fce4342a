// linear_hdf5.c -- linear systems as HDF5 files.
#include "analysis/linear.h"
#include "io/result/hdf5_file.h"

lw_status lw_linear_write_hdf5(const lw_linear *linear, const char *path, lw_error *error)
{
    if (!linear || !path)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_linear_write_hdf5: a linear system and a path are needed");
    const int f = linear->f, n = linear->n, p = linear->ninput, r = linear->noutput;
    const lwi_hdf5_matrix matrix[] = {
        {"A", n, n, linear->A},           {"B", n, p, linear->B},
        {"C", r, n, linear->C},           {"D", r, p, linear->D},
        {"mass_matrix", f, f, linear->M}, {"accelerations", f, 1, linear->acceleration}};
    const lwi_hdf5_strings_list list[] = {
        {"states", n, linear->state}, {"inputs", p, linear->input}, {"outputs", r, linear->output}};
    return lwi_hdf5_matrices_write(
        path,
        &(lwi_hdf5_matrices){
            .nmatrix = LWI_COUNT(matrix), .nlist = LWI_COUNT(list), .matrix = matrix, .list = list},
        error);
}
