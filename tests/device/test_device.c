// test_device.c -- batches on the processor and, by a driver that stands for NVIDIA's, on a GPU: against runs of the library,
// against each other, and what is said where something is missing.
#include "codegen/generated.h"

#include "base/base.h"
#include "support/given.h"
#include "support/random_model.h"

#include <glob.h>

enum { N = 130, MOST = 64, BODIES = 32 };

static int (*left)(void);

static void need(void)
{
    skip_without_compiler();
    if (!left) {
        print_message("SKIPPED: the driver for tests could not be built\n");
        skip();
    }
}

// Loaded first, they are what the loader finds by these names.
static int load_fakes(void **state)
{
    char command[700], path[300];
    static const char *const names[] = {"libcuda.so.1", "libnvrtc.so.12"};
    if (make_folder(state) != 0) return -1;
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("CC", LW_C_COMPILER, 1);
    for (int i = 0; i < 2 && has_compiler(); i++) {
        snprintf(command, sizeof command,
                 LW_C_COMPILER " -std=c17 -O1 -fPIC -shared -Wl,-soname,%s '" LW_FAKE_CUDA
                               "' -o '%s/%s' -ldl",
                 names[i], folder, names[i]);
        if (system(command) != 0) return -1;
        snprintf(path, sizeof path, "./%s/%s", folder, names[i]);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) return -1;
        void *found = dlsym(library, "fake_cuda_left");
        if (i == 0) memcpy(&left, &found, sizeof found);
    }
    return 0;
}

static lw_device_batch *make(const lw_model *model, lw_device_batch_desc desc)
{
    lw_device_batch *b;
    lw_error error = {0};
    if (!desc.instances) desc.instances = N;
    if (lw_device_batch_create(model, &desc, &b, &error) != LW_OK) fail_msg("%s", error.text);
    return b;
}

// Instances near the start of the model, with efforts; the first is the start without.
static void begin(const lw_model *model, lw_device_batch *b, double effort, double *y, double *tau)
{
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    uint64_t seed = 3;
    OK(lw_device_batch_read(b, LW_DEVICE_STATE, y));
    OK(lw_device_batch_read(b, LW_DEVICE_EFFORTS, tau));
    for (int j = 0; j < nv * N; j++) assert_true(tau[j] == 0);
    for (int j = 0; j < nq + nv; j++)
        for (int i = 1; i < N; i++) y[j * N + i] += lwt_random(&seed, -0.05, 0.05);
    for (int j = 0; j < nv; j++)
        for (int i = 1; i < N; i++) tau[j * N + i] = effort * lwt_random(&seed, -1, 1);
    OK(lw_device_batch_write(b, LW_DEVICE_STATE, y, false));
    OK(lw_device_batch_write(b, LW_DEVICE_EFFORTS, tau, false));
    OK(lw_device_batch_close(b));
}

static double states[2][2 * MOST * N], efforts[MOST * N], measures[2][3 * 4 * N], ends[N];
static int status[N], steps[N];

static void run_one(const lw_model *model, const char *device, const lw_options *options, double *y,
                    double *measure)
{
    const int ns = lw_model_tree_nq(model) + lw_model_tree_nv(model);
    const int entries[] = {0, ns - 1, ns + 3, ns + 4};
    lw_device_batch *b =
        make(model, (lw_device_batch_desc){
                        .device = device, .options = options, .nmeasure = 4, .measure = entries});
    begin(model, b, 0.5, y, efforts);
    double first[N];
    OK(lw_device_batch_read(b, LW_DEVICE_STATE, y));
    memcpy(first, y, sizeof first);
    OK(lw_device_batch_step(b, 0.04));
    OK(lw_device_batch_step(b, 0.1));
    assert_true(lw_device_batch_time(b) == 0.1);
    OK(lw_device_batch_read(b, LW_DEVICE_STATE, y));
    OK(lw_device_batch_read(b, LW_DEVICE_MEASURE, measure));
    OK(lw_device_batch_read(b, LW_DEVICE_STATUS, status));
    OK(lw_device_batch_read(b, LW_DEVICE_STEPS, steps));
    OK(lw_device_batch_read(b, LW_DEVICE_END, ends));
    for (int i = 0; i < N; i++) {
        assert_int_equal(0, status[i]);
        assert_true(fabs(ends[i] - 0.1) < 1e-15 && steps[i] > 1);
        assert_true(measure[i] <= first[i] && measure[N + i] >= first[i]); // of both calls
    }
    lw_device_batch_destroy(b);
}

// The first instance has the mass centre of body 1 of a run of the library, and in its measure.
static void check_library(const lw_model *model, double high)
{
    lw_sim *sim;
    lw_options options;
    lw_error error = {0};
    const lw_observation *seen;
    double maximum = -INFINITY;
    lw_options_default(&options);
    options.rtol = options.atol = 1e-11;
    const lw_sim_desc desc = {.options = &options};
    OK(lw_sim_create(model, &desc, &sim, &error));
    for (int k = 0; k <= 200; k++) {
        OK(lw_sim_step(sim, 0.0005 * k));
        OK(lw_sim_observe(sim, LW_OBSERVE_POSE, &seen));
        maximum = fmax(maximum, seen->position[1][0]);
    }
    if (!(fabs(high - maximum) < 1e-5))
        fail_msg("largest x of body 1: %.17g, expected %.17g", high, maximum);
    lw_sim_destroy(sim);
}

static void devices_agree(void **state)
{
    (void)state;
    need();
    static const struct {
        const char *file;
        const char *integrator;
    } cases[] = {{"examples/models/ur5.urdf", "rk4"},
                 {"examples/models/ur5.urdf", "dopri54"},
                 {"examples/models/four_bar.yaml", "rk4"},
                 {"examples/models/four_bar.yaml", "dopri54"}};
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        lw_model *model = read_model(cases[k].file, LW_BASE_AUTO);
        lw_options options;
        lw_error error;
        const int ns = lw_model_tree_nq(model) + lw_model_tree_nv(model);
        lw_options_default(&options);
        OK(lw_options_set(&options, "integrator", cases[k].integrator, &error));
        options.step = k % 2 ? 0 : 0.0005;
        run_one(model, "cpu", &options, states[0], measures[0]);
        run_one(model, "cuda", &options, states[1], measures[1]);
        assert_int_equal(0, left());
        expect_close(cases[k].file, "state", states[1], states[0], ns * N, 1e-12);
        expect_close(cases[k].file, "measure", measures[1], measures[0], 12 * N, 1e-12);
        if (k % 2 == 0) check_library(model, measures[0][(3 * 2 + 1) * N]);
        lw_model_destroy(model);
    }
}

// Many intervals in one launch, and floats.
static void intervals_and_floats(void **state)
{
    (void)state;
    need();
    static double tau[2 * MOST * N], trajectory[2 * 2 * MOST * N];
    static float small[2 * MOST * N];
    lw_model *model = read_model("examples/models/ur5.urdf", LW_BASE_AUTO);
    lw_options options;
    lw_error error;
    enum { NV = 6, NS = 12 };
    lw_options_default(&options);
    OK(lw_options_set(&options, "integrator", "rk4", &error));
    options.step = 0.001;
    lw_device_batch *one =
        make(model, (lw_device_batch_desc){.device = "cpu", .options = &options});
    lw_device_batch *two =
        make(model, (lw_device_batch_desc){.device = "cpu", .options = &options});
    begin(model, one, 1, states[0], efforts);
    begin(model, two, 1, states[1], efforts);
    for (int j = 0; j < NV * N; j++) tau[j] = efforts[j], tau[NV * N + j] = -efforts[j];
    OK(lw_device_batch_run(one, 2, 0.01, NULL, tau, trajectory));
    OK(lw_device_batch_step(two, 0.01));
    OK(lw_device_batch_read(two, LW_DEVICE_STATE, states[1]));
    assert_memory_equal(trajectory, states[1], sizeof(double) * NS * N);
    OK(lw_device_batch_write(two, LW_DEVICE_EFFORTS, tau + NV * N, true));
    OK(lw_device_batch_step(two, 0.02));
    OK(lw_device_batch_read(two, LW_DEVICE_STATE, states[1]));
    assert_memory_equal(trajectory + NS * N, states[1], sizeof(double) * NS * N);
    lw_device_batch_destroy(one);
    lw_device_batch_destroy(two);

    lw_device_view view;
    one = make(model, (lw_device_batch_desc){.options = &options, .single_precision = true});
    OK(lw_device_batch_view(one, LW_DEVICE_STATE, &view));
    assert_int_equal(32, view.bits);
    assert_int_equal(2, view.kind);
    assert_int_equal(NS, view.rows);
    assert_int_equal(N, view.instances);
    OK(lw_device_batch_step(one, 0.01));
    OK(lw_device_batch_read(one, LW_DEVICE_STATE, small));
    two = make(model, (lw_device_batch_desc){.options = &options});
    OK(lw_device_batch_view(two, LW_DEVICE_INPUTS, &view));
    assert_null(view.data);
    OK(lw_device_batch_step(two, 0.01));
    OK(lw_device_batch_read(two, LW_DEVICE_STATE, states[0]));
    for (int j = 0; j < NS * N; j++) assert_true(fabs((double)small[j] - states[0][j]) < 1e-4);
    lw_device_batch_destroy(one);
    lw_device_batch_destroy(two);
    assert_int_equal(0, left());
    lw_model_destroy(model);
}

// The line of the model file.
static int refused(const lw_model *model, lw_status expected, const char *words,
                   lw_device_batch_desc desc)
{
    lw_device_batch *b;
    lw_error error = {0};
    if (!desc.instances) desc.instances = N;
    const lw_status got = lw_device_batch_create(model, &desc, &b, &error);
    if (got != expected || !strstr(error.text, words))
        fail_msg("%d: '%s', expected %d: '%s'", got, error.text, expected, words);
    assert_int_equal(0, left());
    return error.line;
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    need();
    static const struct {
        const char *name, *value, *words;
        lw_status status;
    } broken[] = {
        {"FAKE_CUDA_DEVICES", "0", "device cuda:0: the driver has 0 devices", LW_ERR_UNSUPPORTED},
        {"FAKE_CUDA_MAJOR", "3", "Fake 40 has compute capability 3.0: expected at least 5.0",
         LW_ERR_UNSUPPORTED},
        {"FAKE_CUDA_BROKEN", "1", "error: this is what the compiler says", LW_ERR_UNSUPPORTED},
        {"FAKE_CUDA_BYTES", "5000", "no memory for 6240 bytes: out of memory", LW_ERR_MEMORY}};
    lw_model *model = read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
    for (int i = 0; i < LWI_COUNT(broken); i++) {
        setenv(broken[i].name, broken[i].value, 1);
        refused(model, broken[i].status, broken[i].words, // nothing is found
                (lw_device_batch_desc){.device = "cuda", .cache = ""});
        unsetenv(broken[i].name);
    }
    refused(model, LW_ERR_UNSUPPORTED, "device cuda:1: the driver has 1 devices",
            (lw_device_batch_desc){.device = "cuda:1"});
    refused(model, LW_ERR_ARGUMENT, "device 'cuda:x': expected cuda, cuda:N or cpu",
            (lw_device_batch_desc){.device = "cuda:x"});
    refused(model, LW_ERR_ARGUMENT, "device 'gpu'", (lw_device_batch_desc){.device = "gpu"});
    refused(model, LW_ERR_UNSUPPORTED, "there is no NVRTC",
            (lw_device_batch_desc){.nvrtc = "/none/libnvrtc.so"});
    refused(model, LW_ERR_ARGUMENT, "instances: -1", (lw_device_batch_desc){.instances = -1});
    refused(model, LW_ERR_ARGUMENT, "measure 0: entry 99",
            (lw_device_batch_desc){.nmeasure = 1, .measure = (const int[]){99}});
    lw_options options;
    lw_error error;
    lw_options_default(&options);
    options.rtol = -1;
    refused(model, LW_ERR_ARGUMENT, "rtol: -1 is not a positive number",
            (lw_device_batch_desc){.options = &options});
    lw_options_default(&options);
    OK(lw_options_set(&options, "integrator", "bdf", &error));
    refused(model, LW_ERR_UNSUPPORTED, "integrator 'bdf'",
            (lw_device_batch_desc){.options = &options});
    OK(lw_options_set(&options, "integrator", "rk4", &error));
    refused(model, LW_ERR_ARGUMENT, "step 0: rk4 needs one",
            (lw_device_batch_desc){.options = &options});
    lw_device_batch *b = make(model, (lw_device_batch_desc){.device = "cuda:0"});
    assert_string_equal("Fake 40", lw_device_batch_name(b));
    assert_int_equal(LW_ERR_ARGUMENT, lw_device_batch_step(b, 0));
    assert_non_null(strstr(lw_device_batch_error(b)->text, "expected a length > 0"));
    setenv("FAKE_CUDA_LAUNCH", "719", 1);
    assert_int_equal(LW_ERR_INTEGRATOR, lw_device_batch_step(b, 1));
    assert_non_null(strstr(lw_device_batch_error(b)->text,
                           "the kernel does not begin: some error (error 719)"));
    assert_true(lw_device_batch_time(b) == 0);
    unsetenv("FAKE_CUDA_LAUNCH");
    lw_device_batch_destroy(b);
    assert_int_equal(0, left());
    lw_model_destroy(model);
    static const char *const happens[][2] = {
        {"events: {e: {at: [1], record: true}}", "event 'e': on a device"},
        {"impulses: {p: {body: a, time: 1, impulse: [0, 0, 1]}}", "impulse 'p': on a device"}};
    for (int i = 0; i < LWI_COUNT(happens); i++) {
        char text[600];
        snprintf(
            text, sizeof text,
            "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, "
            "0]}}\njoints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, "
            "1, 0]}}\n%s\n",
            happens[i][0]);
        model = lwt_yaml(text);
        assert_int_equal(4, refused(model, LW_ERR_UNSUPPORTED, happens[i][1],
                                    (lw_device_batch_desc){.device = "cpu"}));
        lw_model_destroy(model);
    }
    model = lwt_yaml( // a rate that jumps is an impact
        "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0]}}\n"
        "functions: {push: {type: ramp, rate: 1, from: 0.5}}\n"
        "joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], "
        "mount: {shift: [push, 0, 0]}}}\n");
    assert_int_equal(4,
                     refused(model, LW_ERR_UNSUPPORTED, "joint 'j': the rate of its motion jumps",
                             (lw_device_batch_desc){.device = "cpu"}));
    lw_model_destroy(model);
}

// What NVRTC compiled is found again by the text, its version and the GPU, and compiled again where it is damaged.
static void kernels_of_a_gpu_are_kept(void **state)
{
    (void)state;
    char cache[300], pattern[320];
    glob_t files;
    need();
    snprintf(cache, sizeof cache, "%s/kept", folder);
    lw_model *model = read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
    const lw_device_batch_desc desc = {.device = "cuda", .cache = cache};
    lw_device_batch_destroy(make(model, desc));
    snprintf(pattern, sizeof pattern, "%s/*", cache);
    assert_int_equal(0, glob(pattern, 0, NULL, &files));
    assert_int_equal(1, files.gl_pathc);
    assert_non_null(strstr(files.gl_pathv[0], ".cubin"));
    setenv("FAKE_CUDA_BROKEN", "1", 1); // it does not compile
    lw_device_batch *b = make(model, desc);
    assert_int_equal(LW_OK, lw_device_batch_step(b, 0.1));
    lw_device_batch_destroy(b);
    refused(model, LW_ERR_UNSUPPORTED, "what the compiler says",
            (lw_device_batch_desc){.device = "cuda", .cache = cache, .single_precision = true});
    setenv("FAKE_CUDA_MINOR", "5", 1);
    refused(model, LW_ERR_UNSUPPORTED, "what the compiler says", desc);
    unsetenv("FAKE_CUDA_MINOR");
    setenv("FAKE_CUDA_MAJOR", "8", 1);
    refused(model, LW_ERR_UNSUPPORTED, "what the compiler says", desc);
    unsetenv("FAKE_CUDA_MAJOR");
    FILE *file = fopen(files.gl_pathv[0], "r+b");
    assert_non_null(file);
    fseek(file, 100, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, 100, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
    refused(model, LW_ERR_UNSUPPORTED, "what the compiler says", desc);
    unsetenv("FAKE_CUDA_BROKEN");
    lw_device_batch_destroy(make(model, desc));
    globfree(&files);
    assert_int_equal(0, left());
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_agree),
        cmocka_unit_test(intervals_and_floats),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(kernels_of_a_gpu_are_kept),
    };
    return cmocka_run_group_tests(tests, load_fakes, remove_folder);
}
