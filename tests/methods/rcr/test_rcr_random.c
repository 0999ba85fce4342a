// test_rcr_random.c -- coordinate reduction of random mechanisms: every joint type, coupled, nested
// and redundant loops, drives, mounts, couplings, forces; against absolute coordinates.
#include "methods/rcr/rcr_cases.h"
#include "support/random_loops.h"

// Accelerations, reactions of minimum norm, their uniqueness and power are those of absolute coordinates; the number of
// dependent speeds is the rank of the constraints.
static void random_loops_agree(void **state)
{
    double worst = 0;
    (void)state;
    LWT_FOR_LOOPS(c, 200, LWT_LOOP_ALL)
    {
        lwt_run r = lwt_run_start(c.model, RCR), d;
        double *input = lwt_vector(c.model->desc.ninput);
        lwi_snapshot a, b;
        for (int i = 0; i < c.model->desc.ninput; i++) input[i] = 0.3 * (i + 1);
        lwt_observe(r.work, 0, r.x, input, &r.arena, &a);
        d = lwt_run_from(c.model, DENSE, &a);
        lwt_observe(d.work, 0, d.x, input, &d.arena, &b);
        if (lwt_rcr(&r)->e.ndependent != c.model->tree_nv - c.dof)
            fail_msg("seed %d: %d of %d speeds are dependent, %d degrees of freedom", (int)seed_,
                     lwt_rcr(&r)->e.ndependent, c.model->tree_nv, c.dof);
        const double error = lwt_acceleration_error(c.model, &a, &b);
        worst = fmax(worst, error);
        lwt_near("accelerations, seed", (int)seed_, error, 0, 1e-10);
        for (int j = 0; j < c.model->njoint; j++) assert_int_equal(a.unique[j], b.unique[j]);
        for (int j = 0; j < c.model->njoint; j++)
            for (int i = 0; i < 6; i++)
                lwt_near("reaction, seed", (int)seed_, a.reaction[j][i], b.reaction[j][i],
                         1e-8 * (1 + fabs(b.reaction[j][i])));
        double *xa = lwt_vector(r.work->layout.nx), *xb = lwt_vector(d.work->layout.nx);
        lwt_ok(r.work->formulation->rates(r.work, 0, r.x, input, xa), &r.work->error);
        lwt_ok(d.work->formulation->rates(d.work, 0, d.x, input, xb), &d.work->error);
        if (c.model->carries_work) {
            const double P = xb[lwt_work_index(d.work)];
            lwt_near("power, seed", (int)seed_, xa[lwt_work_index(r.work)], P,
                     1e-8 * (1 + fabs(P)));
        }
        free(xa);
        free(xb);
        free(input);
        lwt_run_end(&d);
        lwt_run_end(&r);
    }
    lwt_error("13.10", "200 random graphs: accelerations off dense", 1.5e-13, worst, 667); // 1e-10
    lwt_report("13.10", "dependent speeds as many as the rank", "in all", "in all 200");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_loops_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
