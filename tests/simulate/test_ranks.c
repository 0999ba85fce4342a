// test_ranks.c -- runs by several processes: here threads that exchange messages, each with its own simulation.  Results
// are those of one process to the last bit.
#include "support/mechanism.h"
#include "methods/dca/net_cases.h"
#include "methods/dca/path_cases.h"

#include <pthread.h>

// ------------------------------------------------------------------------------------------ messages

enum { MOST = 5 };

typedef struct message {
    struct message *next;
    size_t size;
    char data[];
} message;

// Messages on their way from one rank to another.
typedef struct mail {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    message *first[MOST][MOST], *last[MOST][MOST];
    long count;
    long lost; // this one and all later ones do not arrive; 0: all do
} mail;

typedef struct member {
    mail *mail;
    lw_ranks of;
    const lw_model *model;
    const lw_options *options;
    lw_status status;
    lw_error error;
    char notice[1024];
    uint64_t hash;
    long steps;
} member;

static void post(mail *m, int from, int to, const void *data, size_t size)
{
    message *x = malloc(sizeof *x + size);
    if (!x) abort();
    x->next = NULL, x->size = size;
    if (size) memcpy(x->data, data, size);
    pthread_mutex_lock(&m->mutex);
    m->count++;
    if (m->last[from][to])
        m->last[from][to]->next = x;
    else
        m->first[from][to] = x;
    m->last[from][to] = x;
    pthread_cond_broadcast(&m->arrived);
    pthread_mutex_unlock(&m->mutex);
}

static void fetch(mail *m, int from, int to, void *data, size_t size)
{
    pthread_mutex_lock(&m->mutex);
    while (!m->first[from][to]) pthread_cond_wait(&m->arrived, &m->mutex);
    message *x = m->first[from][to];
    m->first[from][to] = x->next;
    if (!x->next) m->last[from][to] = NULL;
    pthread_mutex_unlock(&m->mutex);
    if (x->size != size) abort(); // both sides know the size
    if (size) memcpy(data, x->data, size);
    free(x);
}

// Whether the next message is lost.
static bool is_lost(mail *m)
{
    pthread_mutex_lock(&m->mutex);
    const bool lost = m->lost && m->count >= m->lost;
    pthread_mutex_unlock(&m->mutex);
    return lost;
}

static int exchange(void *user, int to, const void *out, size_t out_size, int from, void *in,
                    size_t in_size)
{
    const member *me = user;
    if (is_lost(me->mail)) return 1;
    if (to >= 0) post(me->mail, me->of.rank, to, out, out_size);
    if (from >= 0) fetch(me->mail, from, me->of.rank, in, in_size);
    return 0;
}

// --------------------------------------------------------------------------------------------- runs

static void add(uint64_t *hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++) *hash = (*hash ^ byte[i]) * 0x100000001b3;
}

static lw_status row(void *user, const lw_observation *o)
{
    member *me = user;
    const size_t n = (size_t)lw_model_body_count(me->model);
    add(&me->hash, &o->time, sizeof o->time);
    add(&me->hash, o->position, n * sizeof *o->position);
    add(&me->hash, o->velocity, n * sizeof *o->velocity);
    add(&me->hash, o->angular_velocity, n * sizeof *o->angular_velocity);
    return LW_OK;
}

static void *run(void *user)
{
    member *me = user;
    lw_sim *sim = NULL;
    const lw_sim_desc desc = {.options = me->options, .ranks = me->of.count ? &me->of : NULL};
    me->hash = 0xcbf29ce484222325;
    me->status = lw_sim_create(me->model, &desc, &sim, &me->error);
    if (me->status != LW_OK) return NULL;
    me->status = lw_sim_run(sim, LW_OBSERVE_TWIST, row, me, NULL, NULL);
    me->error = *lw_sim_error(sim);
    lwi_copy_text(me->notice, sizeof me->notice, lw_sim_notice(sim));
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    me->steps = summary.steps;
    lw_sim_destroy(sim);
    return NULL;
}

// Runs by `count` ranks; 0: without.  Returns the number of messages.
static long run_by(int count, const lw_model *model, const lw_options *options, long lost,
                   member *list)
{
    static mail box;
    pthread_t thread[MOST];
    box = (mail){
        .mutex = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER, .lost = lost};
    for (int i = 0; i < (count ? count : 1); i++) {
        list[i] = (member){.mail = &box, .model = model, .options = options};
        if (count)
            list[i].of =
                (lw_ranks){.rank = i, .count = count, .user = &list[i], .exchange = exchange};
    }
    for (int i = 1; i < count; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run, &list[i]), 0);
    run(&list[0]);
    for (int i = 1; i < count; i++) pthread_join(thread[i], NULL);
    return box.count;
}

static lw_options options_of(const char *formulation, const char *integrator, double duration)
{
    lw_options o;
    lw_options_default(&o);
    lwi_copy_text(o.formulation, sizeof o.formulation, formulation);
    lwi_copy_text(o.integrator, sizeof o.integrator, integrator);
    o.duration = duration;
    o.sample = LW_SAMPLE_STEPS;
    o.step = !strcmp(integrator, "rk4") ? duration / 2 : 0;
    return o;
}

// The same rows by ranks as by none.
static void same_rows(lw_model *model, const lw_options *options, bool shared)
{
    static const int counts[] = {2, MOST};
    static member alone, list[MOST];
    run_by(0, model, options, 0, &alone);
    lwt_ok(alone.status, &alone.error);
    assert_true(alone.steps > 0);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const long messages = run_by(counts[k], model, options, 0, list);
        assert_int_equal(messages > 0, counts[k] > 1 && shared);
        for (int i = 0; i < counts[k]; i++) {
            lwt_ok(list[i].status, &list[i].error);
            if (list[i].hash != alone.hash)
                fail_msg("%s, %s: rank %d of %d has other rows", options->formulation,
                         options->integrator, i, counts[k]);
        }
    }
    lw_model_destroy(model);
}

static lw_model *path(lwt_path_kind kind, int base)
{
    lwt_path c = lwt_path_create(1200, kind, 3, base, 10, false);
    lw_model *model = c.model;
    free(c.q), free(c.p);
    return model;
}

static lw_model *net_of_bars(void)
{
    lwt_net net = lwt_net_begin(3);
    net.stiffness = 5;
    lwt_net_meshes(&net, 2, 2, 96);
    return lwt_model(net.builder);
}

// Four-bars side by side: loops with redundant rows.
static lw_model *row_of_loops(int n)
{
    lw_builder *b = lwt_builder();
    lw_body before = {0};
    for (int i = 0; i <= n; i++) {
        const lw_body rod = lwt_rod(b, NULL, i, 0, i + 0.2, 1, 1);
        lw_joint_desc foot = {
            .type = LW_JOINT_REVOLUTE, .body2 = rod, .at = {i, 0, 0}, .axis = {0, 0, 1}};
        lwt_add(b, &foot);
        if (i > 0) {
            const lw_body coupler = lwt_rod(b, NULL, i - 0.8, 1, i + 0.2, 1, 1);
            for (int side = 0; side < 2; side++) {
                lw_joint_desc pin = {.type = LW_JOINT_REVOLUTE,
                                     .body1 = side ? rod : before,
                                     .body2 = coupler,
                                     .at = {i - 0.8 + side, 1, 0},
                                     .axis = {0, 0, 1}};
                lwt_add(b, &pin);
            }
        }
        before = rod;
    }
    return lwt_model(b);
}

static void of_paths(void **state)
{
    (void)state;
    const lw_options momenta = options_of("hdca", "rk4", 2e-3),
                     speeds = options_of("dca", "rk4", 2e-3);
    same_rows(path(LWT_COIL, -1), &momenta, true);
    same_rows(path(LWT_COIL, LW_JOINT_FREE), &speeds, true);
    same_rows(path(LWT_PLANAR, LW_JOINT_SPHERICAL), &momenta, true);
}

static void of_paths_between_hubs(void **state)
{
    (void)state;
    const lw_options momenta = options_of("hdca", "rk4", 1e-3),
                     speeds = options_of("dca", "rk4", 1e-3);
    same_rows(net_of_bars(), &momenta, true);
    same_rows(net_of_bars(), &speeds, true);
}

// By the elimination, with steps by tolerances, refinement, redundant rows, and in lanes.
static void of_loops(void **state)
{
    (void)state;
    lw_options momenta = options_of("hdca", "dopri5", 0.01),
               speeds = options_of("dca", "dopri5", 0.01);
    same_rows(row_of_loops(150), &momenta, true);
    momenta.plan = speeds.plan = LW_PLAN_BALANCED;
    same_rows(row_of_loops(150), &momenta, true);
    same_rows(row_of_loops(150), &speeds, true);
}

static void nothing_of_small_models(void **state)
{
    (void)state;
    static member list[MOST];
    lw_options options = options_of("auto", "dopri5", 0.1);
    lw_model *small = row_of_loops(2);
    run_by(2, small, &options, 0, list);
    assert_non_null(strstr(list[0].notice, "formulation hdca: processes share its evaluations"));
    assert_non_null(strstr(list[0].notice, "processes share nothing: the model is too small"));
    options = options_of("hdca", "dopri5", 0.1);
    same_rows(small, &options, false);
}

// A run ends in all ranks if messages do not arrive.
static void lost_messages_end_the_run(void **state)
{
    (void)state;
    static member list[MOST];
    const lw_options options = options_of("hdca", "rk4", 2e-3);
    lw_model *model = path(LWT_COIL, -1);
    run_by(1, model, &options, 0, list);
    lwt_ok(list[0].status, &list[0].error);
    run_by(2, model, &options, 1, list); // the first one arrives, or none
    for (int i = 0; i < 2; i++) {
        assert_int_equal(list[i].status, LW_ERR_IO);
        assert_non_null(strstr(list[i].error.text, "a message between processes is lost"));
    }
    lw_model_destroy(model);
}

static void refused(lw_model *model, const lw_ranks *ranks, const lw_options *options,
                    lw_status status, const char *text)
{
    lw_sim *sim = NULL;
    lw_error error;
    assert_int_equal(
        lw_sim_create(model, &(lw_sim_desc){.options = options, .ranks = ranks}, &sim, &error),
        status);
    assert_null(sim);
    if (!strstr(error.text, text)) fail_msg("%s, expected %s", error.text, text);
}

static void what_is_refused(void **state)
{
    (void)state;
    lw_model *model = row_of_loops(2);
    const lw_ranks good = {.count = 2, .exchange = exchange};
    lw_options options = options_of("rcr", "dopri5", 1);
    refused(model, &good, &options, LW_ERR_UNSUPPORTED,
            "share no evaluation of rcr, expected one of dca, hdca");
    options = options_of("hdca", "dopri5", 1);
    options.threads = 2;
    refused(model, &good, &options, LW_ERR_UNSUPPORTED, "expected threads 1, got 2");
    options.threads = 0;
    refused(model, &(lw_ranks){.count = 2}, &options, LW_ERR_ARGUMENT, "exchange is NULL");
    refused(model, &(lw_ranks){.count = 2, .rank = 2, .exchange = exchange}, &options,
            LW_ERR_ARGUMENT, "rank 2 of 2");
    refused(model, &(lw_ranks){.exchange = exchange}, &options, LW_ERR_ARGUMENT, "rank 0 of 0");
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_paths),
        cmocka_unit_test(of_paths_between_hubs),
        cmocka_unit_test(of_loops),
        cmocka_unit_test(nothing_of_small_models),
        cmocka_unit_test(lost_messages_end_the_run),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
