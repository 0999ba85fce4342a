// test_desc.c -- size field of descriptors: older and newer callers, invalid sizes.
#include "base/base.h"

#include <linkwork/linkwork.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct sized {
    size_t size;
    int first, second;
} sized;

static void sizes_of_older_and_newer_callers(void **state)
{
    (void)state;
    struct {
        sized known;
        int unknown[2];
    } newer = {.known = {.size = sizeof newer, .first = 1, .second = 2}};
    sized to = {.size = 7, .first = 7, .second = 7};
    lw_error error = {0};

    const sized own = {.first = 3, .second = 4}; // 0: the size of the library's struct
    assert_int_equal(lwi_read_desc(&to, sizeof to, &own, "desc", &error), LW_OK);
    assert_true(to.size == 0 && to.first == 3 && to.second == 4);

    const sized older = {.size = offsetof(sized, second), .first = 5, .second = 6};
    assert_int_equal(lwi_read_desc(&to, sizeof to, &older, "desc", &error), LW_OK);
    assert_true(to.first == 5 && to.second == 0); // not read: beyond the caller's struct

    assert_int_equal(lwi_read_desc(&to, sizeof to, &newer, "desc", &error), LW_OK);
    assert_true(to.first == 1 && to.second == 2);
    newer.unknown[1] = 1;
    assert_int_equal(lwi_read_desc(&to, sizeof to, &newer, "desc", &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "does not know"));
}

static void wrong_sizes_are_refused(void **state)
{
    (void)state;
    sized to, from = {.size = 3};
    lw_error error = {0};
    assert_int_equal(lwi_read_desc(&to, sizeof to, &from, "desc", &error), LW_ERR_ARGUMENT);
    from.size = (size_t)-1; // uninitialized memory
    assert_int_equal(lwi_read_desc(&to, sizeof to, &from, "desc", &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "was it set to zero?"));
    assert_int_equal(lwi_read_desc(&to, sizeof to, NULL, "desc", &error), LW_ERR_ARGUMENT);
    assert_string_equal(error.text, "the desc is NULL");
}

// Every kind of descriptor passes the size check.
static void public_calls_check_the_size(void **state)
{
    (void)state;
    const size_t bad = 1;
    lw_builder *b;
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    lw_batch *batch = NULL;
    lw_writer *writer = NULL;
    lw_error e;
    assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
#define REFUSED(call) assert_int_equal((call), LW_ERR_ARGUMENT)
    REFUSED(lw_builder_add_function(b, &(lw_function_desc){.size = bad}, NULL, &e));
    REFUSED(lw_builder_add_body(b, &(lw_body_desc){.size = bad}, NULL, &e));
    REFUSED(lw_builder_add_body(b, NULL, NULL, &e));
    REFUSED(lw_builder_add_joint(b, &(lw_joint_desc){.size = bad}, NULL, &e));
    REFUSED(lw_builder_add_spring(b, &(lw_spring_desc){.size = bad}, &e));
    REFUSED(lw_builder_add_wrench(b, &(lw_wrench_desc){.size = bad}, &e));
    REFUSED(lw_builder_add_bushing(b, &(lw_bushing_desc){.size = bad}, &e));
    REFUSED(lw_builder_add_stop(b, &(lw_stop_desc){.size = bad}, &e));
    REFUSED(lw_builder_add_coupling(b, &(lw_coupling_desc){.size = bad}, &e));
    REFUSED(lw_builder_add_marker(b, &(lw_marker_desc){.size = bad}, &e));
    REFUSED(lw_builder_add_mechanism(b, &(lw_mechanism_desc){.size = bad}, &e));
    const lw_mechanism_desc chain = {.size = sizeof chain, .n = 2};
    assert_int_equal(lw_builder_add_mechanism(b, &chain, &e), LW_OK);
    assert_int_equal(lw_model_create(b, &model, &e), LW_OK);
    lw_builder_destroy(b);

    REFUSED(lw_sim_create(model, &(lw_sim_desc){.size = bad}, &sim, &e));
    REFUSED(lw_batch_create(model, &(lw_batch_desc){.size = bad, .instances = 1}, &batch, &e));
    REFUSED(lw_model_assemble(model, &(lw_assemble_desc){.size = bad}, &(lw_model *){0}, NULL, &e));
    REFUSED(lw_codegen_write(model, &(lw_codegen_desc){.size = bad, .name = "m"}, ".", NULL, &e));
    REFUSED(lw_device_batch_create(model, &(lw_device_batch_desc){.size = bad},
                                   &(lw_device_batch *){0}, &e));
    REFUSED(lw_view_page(model, NULL, &(lw_view_desc){.size = bad}, stdout, &e));
    REFUSED(lw_view_gltf(model, NULL, &(lw_view_desc){.size = bad}, stdout, &e));
    REFUSED(lw_model_read("x.yaml", &(lw_read_desc){.size = bad}, &(lw_model *){0}, NULL, &e));
    REFUSED(lw_model_parse("", 0, "x", &(lw_read_desc){.size = bad, .format = "yaml"},
                           &(lw_model *){0}, NULL, &e));
    const lw_sim_desc desc = {.size = sizeof desc};
    assert_int_equal(lw_sim_create(model, &desc, &sim, &e), LW_OK);
    REFUSED(lw_writer_create(NULL, &(lw_writer_desc){.size = bad, .sim = sim}, &writer, &e));
    assert_non_null(strstr(e.text, "lw_writer_desc.size is 1"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_older_and_newer_callers),
        cmocka_unit_test(wrong_sizes_are_refused),
        cmocka_unit_test(public_calls_check_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
