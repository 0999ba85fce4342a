// test_quantities.c -- the table of quantities: names, columns, rows and the motion of a row agree.
#include "io/result/columns.h"
#include "support/given.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// All joint types, a floating base, markers, a loop.
static const char *const models[] = {"tests/golden/P8_mixed_joint_arm.yaml",
                                     "tests/golden/P9_floating_tree.yaml",
                                     "tests/golden/P10_spatial_slider_crank.yaml",
                                     "examples/models/crane.yaml", "examples/models/cart_arm.yaml"};

static void a_name_determines_unit_and_frame(void **state)
{
    (void)state;
    for (int i = 0; i < lw_quantity_count(); i++) {
        const lw_quantity_info q = lw_quantity_at(i);
        for (int k = 0; k < q.size; k++) {
            const bool item = *q.item && strcmp(q.item, "sys") != 0;
            const char *unit, *frame;
            char name[64];
            snprintf(name, sizeof name, "%s%s%s%s%s", q.item, *q.item ? "." : "",
                     item ? "a.b c." : "", q.part[k], q.numbered ? "0" : "");
            lwi_result_column_meaning(name, &unit, &frame);
            assert_string_equal(q.unit[q.same_unit ? 0 : k], unit);
            assert_string_equal(q.frame, frame);
        }
    }
    static const char *const others[] = {"",        ".time",   "x",         "sys.x",    "sys.a.T",
                                         "body..x", "body.ax", "joint.a.q", "time.time"};
    for (int i = 0; i < LWI_COUNT(others); i++) {
        const char *unit, *frame;
        lwi_result_column_meaning(others[i], &unit, &frame);
        assert_string_equal("", unit);
    }
}

// Columns from a model and from their names mean the same.
static void names_determine_quantity_and_item(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(models); i++) {
        lw_model *model = lwt_read(models[i]);
        for (int level = 0; level <= LW_OBSERVE_MOMENTUM; level++) {
            lwi_result_columns c, n;
            assert_int_equal(LW_OK, lwi_result_columns_of_model(model, (lw_observe)level, &c));
            int entries = 0;
            for (int k = 0; k < c.nentry; k++) entries += c.entry[k].n;
            assert_int_equal(c.n, entries);
            const char **names = calloc((size_t)c.n, sizeof *names);
            for (int k = 0; k < c.n; k++) names[k] = c.column[k].name;
            assert_int_equal(LW_OK, lwi_result_columns_of_names(names, c.n, &n));
            const lwi_result_entry *e = c.entry;
            for (int k = 0, last = e->n; k < c.n; k++) {
                if (k == last) last += (++e)->n;
                const char *expected = lwi_result_item_name(model, e);
                int length, of_name;
                const char *item = lwi_result_column_item(&c.column[k], &length);
                assert_int_equal(strlen(expected), length);
                assert_memory_equal(expected, item, (size_t)length);
                lwi_result_column_item(&n.column[k], &of_name);
                assert_int_equal(length, of_name);
                assert_string_equal(e->quantity->name, c.column[k].quantity->name);
                assert_string_equal(e->quantity->name, n.column[k].quantity->name);
                assert_string_equal(c.column[k].frame, n.column[k].frame);
            }
            free(names);
            lwi_result_columns_free(&n);
            lwi_result_columns_free(&c);
        }
        lw_model_destroy(model);
    }
}

// The motion of a row gives the same row again.
static void rows_and_motions_are_inverse(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(models); i++) {
        lw_model *model = lwt_read(models[i]);
        lw_sim *sim;
        const lw_observation *observed;
        lwi_result_columns c;
        lwi_result_rows rows, again;
        lw_observation motion;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(LW_OK, lw_sim_create(model, &(lw_sim_desc){0}, &sim, NULL));
        assert_int_equal(LW_OK, lw_sim_step(sim, 0.02));
        assert_int_equal(LW_OK, lw_sim_observe(sim, LW_OBSERVE_ENERGY, &observed));
        assert_int_equal(LW_OK, lwi_result_columns_of_model(model, LW_OBSERVE_ENERGY, &c));
        assert_int_equal(LW_OK, lwi_result_rows_create(model, &c, &arena, &rows));
        assert_int_equal(LW_OK, lwi_result_rows_create(model, &c, &arena, &again));
        assert_int_equal(LW_OK, lwi_result_rows_fill(&rows, observed));
        assert_int_equal(LW_OK, lwi_result_row_motion(model, &c, rows.row, &arena, &motion));
        assert_int_equal(LW_OK, lwi_result_rows_fill(&again, &motion));
        for (int k = 0; k < c.n; k++) { // momenta and residuals are not part of a motion
            static const char *const others[] = {"sys.p", "sys.l", "sys.c"};
            bool other = false;
            for (int n = 0; n < LWI_COUNT(others); n++)
                other |= !strncmp(c.column[k].name, others[n], strlen(others[n]));
            if (!other && !(rows.row[k] == again.row[k]))
                fail_msg("%s: %s is %.17g, %.17g in the motion", models[i], c.column[k].name,
                         rows.row[k], again.row[k]);
        }
        lwi_result_columns_free(&c);
        lwi_arena_free(&arena);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

static void each_number_of_an_observation_must_be_finite(void **state)
{
    (void)state;
    lw_model *model = lwt_read(models[0]);
    lw_sim *sim;
    const lw_observation *observed;
    lwi_result_columns c;
    lwi_result_rows rows;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(LW_OK, lw_sim_create(model, &(lw_sim_desc){0}, &sim, NULL));
    assert_int_equal(LW_OK, lw_sim_observe(sim, LW_OBSERVE_REACTION, &observed));
    assert_int_equal(LW_OK, lwi_result_columns_of_model(model, LW_OBSERVE_REACTION, &c));
    assert_int_equal(LW_OK, lwi_result_rows_create(model, &c, &arena, &rows));
    assert_int_equal(LW_OK, lwi_result_rows_fill(&rows, observed));
    double *const reaction = (double *)observed->reaction; // of the simulation, not const
    double *const residual = (double *)observed->residual; // the last numbers of the row
    for (int i = 0; i < 6 * model->njoint + 3; i++) {
        double *number = i < 3 ? &residual[i] : &reaction[i - 3];
        const double before = *number;
        *number = i % 2 ? NAN : i % 4 ? INFINITY : -INFINITY;
        assert_int_equal(LW_ERR_NOT_FINITE, lwi_result_rows_fill(&rows, observed));
        *number = before;
    }
    assert_int_equal(LW_OK, lwi_result_rows_fill(&rows, observed));
    lwi_result_columns_free(&c);
    lwi_arena_free(&arena);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_determines_unit_and_frame),
        cmocka_unit_test(names_determine_quantity_and_item),
        cmocka_unit_test(rows_and_motions_are_inverse),
        cmocka_unit_test(each_number_of_an_observation_must_be_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
