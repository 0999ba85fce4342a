// rattle_stepper.h -- steps of rattle without a simulation, by kernels of a chosen width.
#ifndef LWT_RATTLE_STEPPER_H
#define LWT_RATTLE_STEPPER_H

#include "methods/rattle/rattle_cases.h"

#include "methods/rattle/kernels.h"

/** A workspace at the start of a model. */
typedef struct stepper {
    lw_options options;
    lwi_work *work;
    double *x, zeros[8];
} stepper;

/** @param width  of kernels; 0: the widest, -1: generic code */
static inline stepper stepper_begin(const lw_model *model, int order, int width,
                                    const char *threads)
{
    stepper s = {.options = rattle_options(0.01, 1, 1, order)};
    lw_error error;
    lwi_arena arena;
    lwi_snapshot start;
    lwt_set(&s.options, "threads", threads);
    lwt_ok(lwi_work_create_options(model, &lwi_formulation_rattle, NULL, 0, &s.options, &s.work,
                                   &error),
           &error);
    lwi_rattle_choose_kernels(s.work->data, width);
    s.x = calloc((size_t)s.work->layout.nx, sizeof *s.x);
    assert_non_null(s.x);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    lwt_ok(s.work->formulation->enter(s.work, &start, s.x), &s.work->error);
    lwi_arena_free(&arena);
    return s;
}

static inline void stepper_advance(stepper *s, double h, int steps)
{
    for (int i = 0; i < steps; i++)
        lwt_ok(s->work->formulation->step(s->work, i * h, h, s->x, s->zeros), &s->work->error);
}

static inline void stepper_end(stepper *s)
{
    free(s->x);
    lwi_work_destroy(s->work);
}

#endif
