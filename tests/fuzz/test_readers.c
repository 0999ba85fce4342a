// test_readers.c -- mutated model files: a reader gives a model or says what is wrong, and nothing
// else: no crash, no leak, no stall, no empty message.  A model it gives can be written, read and
// written again with the same contents.
//
//   test_readers [--mutations N] [--seed S] [--only K] [--corpus FOLDER] [--verbose]
//
// Mutation K of a seed is the same everywhere; the number of a failing one is printed, its text
// goes to fuzz_failure.txt.  The corpus itself is replayed first: every file a fixed bug left is
// there.
#include "fuzz/check_closures.h"
#include "fuzz/check_reader.h"

#include "io/yaml/keys.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_FILES = 256,
    MAX_BYTES = 1 << 16, // of a mutated text
    MAX_SECONDS = 20     // for one input, under sanitizers too
};

typedef struct seed_file {
    char name[256];
    char *text;
    size_t length;
    const char *format;
} seed_file;

typedef struct fuzzing {
    seed_file file[MAX_FILES];
    int nfile;
    uint64_t random;
    char *text; // [MAX_BYTES]
    size_t length;
    long read, refused;
    double slowest;
    bool verbose;
} fuzzing;

// ---------------------------------------------------------------------------------- random numbers

// splitmix64: a good sequence from any start
static uint64_t next(fuzzing *f)
{
    uint64_t z = f->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static size_t below(fuzzing *f, size_t count)
{
    return count ? (size_t)(next(f) % count) : 0;
}

// --------------------------------------------------------------------------------------- mutations

static const char *const tokens[] = {"{",
                                     "}",
                                     "[",
                                     "]",
                                     ": ",
                                     ", ",
                                     "- ",
                                     "? ",
                                     "\n",
                                     "\n  ",
                                     "\t",
                                     "\"",
                                     "'",
                                     "|\n",
                                     ">-\n",
                                     "#",
                                     "&a ",
                                     "*a",
                                     "!!str ",
                                     "<<: ",
                                     "---\n",
                                     "...\n",
                                     "%YAML 1.1\n",
                                     "null",
                                     "true",
                                     "~",
                                     "0",
                                     "-0",
                                     "-1",
                                     "1e999",
                                     "1e308",
                                     "5e-324",
                                     "-1e-3",
                                     "1e16",
                                     "nan",
                                     ".inf",
                                     "0x1F",
                                     "1_0",
                                     " mm",
                                     " kN s/m",
                                     " rpm",
                                     "2*",
                                     "-(",
                                     "^2",
                                     "rho",
                                     "A.x",
                                     "sqrt(",
                                     "part.yaml",
                                     "mirror: ",
                                     "density: ",
                                     "ground",
                                     "world",
                                     "all",
                                     "states: [1, 2]",
                                     "initial: ",
                                     "when: ",
                                     "every: ",
                                     "set: {",
                                     "signal.",
                                     ".value",
                                     " > 0 and ",
                                     "12 deg",
                                     "3000 rpm",
                                     "q0",
                                     "q1",
                                     "q9",
                                     "type: ",
                                     "[0, 0, 0]",
                                     "[1, 0, 0, 0]",
                                     "{}",
                                     "[]",
                                     "\\U0010FFFF",
                                     "\xc3\xa4",
                                     "\xff",
                                     "\xef\xbb\xbf",
                                     "<",
                                     ">",
                                     "/>",
                                     "</",
                                     "<link name=\"",
                                     "<joint name=\"",
                                     "\"/>",
                                     "<!--",
                                     "-->",
                                     "<![CDATA[",
                                     "]]>",
                                     "&lt;",
                                     "&x;",
                                     "<!DOCTYPE a [<!ENTITY x \"y\">]>",
                                     "<?xml version=\"1.0\"?>",
                                     "<mimic joint=\"a\"/>",
                                     "<origin/>",
                                     "<inertial>",
                                     "<axis xyz=\"0 0 0\"/>",
                                     "type=\"continuous\"",
                                     "type=\"floating\"",
                                     "type=\"planar\"",
                                     "<pose relative_to=\"a\">0 0 0 0 0 0</pose>",
                                     "<pose>1 2 3 .1 .2 .3</pose>",
                                     "<model name=\"m\">",
                                     "</model>",
                                     "<frame name=\"f\" attached_to=\"a\"/>",
                                     "attached_to=\"f\"",
                                     "relative_to=\"j\"",
                                     "expressed_in=\"b\"",
                                     "<parent>a</parent>",
                                     "<child>world</child>",
                                     "<axis2><xyz>0 1 0</xyz></axis2>",
                                     "__model__",
                                     "::",
                                     "type=\"ball\"",
                                     "type=\"gearbox\"",
                                     "<loop_joint name=\""};

// A key or a type of the native format, from its own tables.
static const char *random_key(fuzzing *f)
{
    static const lwi_yaml_object *const objects[] = {
        &lwi_yaml_file_object,      &lwi_yaml_function_object,   &lwi_yaml_body_object,
        &lwi_yaml_joint_object,     &lwi_yaml_mount_object,      &lwi_yaml_coupling_object,
        &lwi_yaml_limits_object,    &lwi_yaml_simulation_object, &lwi_yaml_friction_object,
        &lwi_yaml_mechanism_object, &lwi_yaml_parameter_object,  &lwi_yaml_include_object};
    enum { OBJECTS = sizeof objects / sizeof *objects };
    const size_t i = below(f, OBJECTS + LWI_FORCE_ITEMS);
    const lwi_yaml_object *object = i < OBJECTS ? objects[i] : lwi_force_items[i - OBJECTS]->keys;
    if (object->type && below(f, 3) == 0) {
        const char *type = object->type[below(f, (size_t)object->ntype)];
        return type ? type : "custom"; // a type that files do not have
    }
    return object->key[below(f, (size_t)object->nkey)].name;
}

// Replaces `cut` bytes at `at` by others, as far as there is room.
static void replace(fuzzing *f, size_t at, size_t cut, const char *with, size_t length)
{
    if (at > f->length) at = f->length;
    if (cut > f->length - at) cut = f->length - at;
    if (f->length - cut + length > MAX_BYTES) return;
    memmove(f->text + at + length, f->text + at + cut, f->length - at - cut);
    memcpy(f->text + at, with, length);
    f->length += length - cut;
}

static void insert_part(fuzzing *f, const char *from, size_t from_length)
{
    char part[512];
    const size_t start = below(f, from_length);
    size_t length = 1 + below(f, sizeof part);
    if (length > from_length - start) length = from_length - start;
    memcpy(part, from + start, length);
    replace(f, below(f, f->length + 1), below(f, 2) ? below(f, 64) : 0, part, length);
}

// A run of digits and signs near a place becomes another number.
static void change_number(fuzzing *f)
{
    static const char *const numbers[] = {"0",   "-1", "1e-300", "1e300",   "2",
                                          "0.5", "-0", "1e16",   "3.14159", "x"};
    static const char digits[] = "0123456789.eE+-";
    size_t at = below(f, f->length + 1), end;
    while (at < f->length && !(f->text[at] >= '0' && f->text[at] <= '9')) at++;
    for (end = at; end < f->length && f->text[end] && strchr(digits, f->text[end]);) end++;
    const char *number = numbers[below(f, sizeof numbers / sizeof *numbers)];
    replace(f, at, end - at, number, strlen(number));
}

static void mutate_once(fuzzing *f)
{
    const size_t at = below(f, f->length + 1);
    const char *token = tokens[below(f, sizeof tokens / sizeof *tokens)];
    const char byte = (char)next(f);
    switch (below(f, 10)) {
    case 0:
        if (at < f->length) f->text[at] = (char)(f->text[at] ^ 1 << below(f, 8));
        return;
    case 1:
        replace(f, at, 1, &byte, 1);
        return;
    case 2:
        replace(f, at, 1 + below(f, 40), "", 0);
        return;
    case 3:
        insert_part(f, f->text, f->length);
        return;
    case 4:
        replace(f, at, below(f, 2), token, strlen(token));
        return;
    case 5:
        token = random_key(f), replace(f, at, below(f, 8), token, strlen(token));
        return;
    case 6: {
        const seed_file *other = &f->file[below(f, (size_t)f->nfile)];
        insert_part(f, other->text, other->length);
        return;
    }
    case 7:
        if (below(f, 8) == 0) f->length = at; // the rest is gone
        return;
    default:
        change_number(f);
        return;
    }
}

// ------------------------------------------------------------------------------------------- check

static const char *check_text(fuzzing *f, const char *text, size_t length, const char *format)
{
    lw_error error;
    bool is_read = false;
    const clock_t start = clock();
    const char *wrong = strcmp(format, "closures") == 0
                            ? check_closures(text, length, &is_read, &error)
                            : check_reader(text, length, format, &is_read, &error);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds > f->slowest) f->slowest = seconds;
    f->read += is_read;
    f->refused += !is_read;
    if (f->verbose && !is_read) printf("%d:%d: %s\n", error.line, error.column, error.text);
    return !wrong && seconds > MAX_SECONDS ? "it takes too long" : wrong;
}

// ------------------------------------------------------------------------------------------ corpus

static const char *format_of(const char *name)
{
    const char *ending = strrchr(name, '.');
    if (!ending) return NULL;
    if (strcmp(ending, ".urdf") == 0) return "urdf";
    if (strcmp(ending, ".sdf") == 0) return "sdf";
    if (strcmp(ending, ".xml") == 0) return "mjcf";
    if (strcmp(ending, ".closures") == 0) return "closures"; // loop_closures.yaml of a robot
    return strcmp(ending, ".yaml") == 0 || strcmp(ending, ".json") == 0 ? "yaml" : NULL;
}

static bool load(seed_file *s, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    s->text = malloc(MAX_BYTES);
    if (s->text) s->length = fread(s->text, 1, MAX_BYTES, file);
    fclose(file);
    return s->text != NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const seed_file *)a)->name, ((const seed_file *)b)->name);
}

static bool load_corpus(fuzzing *f, const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) return false;
    for (struct dirent *entry; (entry = readdir(dir)) && f->nfile < MAX_FILES;) {
        seed_file *s = &f->file[f->nfile];
        char path[1024];
        s->format = format_of(entry->d_name);
        if (!s->format) continue;
        snprintf(s->name, sizeof s->name, "%s", entry->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (load(s, path)) f->nfile++;
    }
    closedir(dir);
    qsort(f->file, (size_t)f->nfile, sizeof *f->file, by_name);
    return f->nfile > 0;
}

static int report(const fuzzing *f, const char *what, const char *wrong)
{
    fprintf(stderr, "FAILED: %s: %s\n", what, wrong);
    FILE *file = fopen("fuzz_failure.txt", "wb");
    if (file) {
        fwrite(f->text, 1, f->length, file);
        fclose(file);
    }
    return 1;
}

static int replay(fuzzing *f)
{
    for (int i = 0; i < f->nfile; i++) {
        const seed_file *s = &f->file[i];
        memcpy(f->text, s->text, s->length);
        f->length = s->length;
        const char *wrong = check_text(f, s->text, s->length, s->format);
        if (wrong) return report(f, s->name, wrong);
    }
    return 0;
}

static int mutate(fuzzing *f, uint64_t seed, long k)
{
    char what[64];
    f->random = seed * 0xD1B54A32D192ED03u + (uint64_t)k;
    const seed_file *s = &f->file[below(f, (size_t)f->nfile)];
    memcpy(f->text, s->text, s->length);
    f->length = s->length;
    for (size_t n = 1 + below(f, 1 + below(f, 6)); n > 0; n--) // mostly few: more gets through
        mutate_once(f);
    const char *format = below(f, 50) ? s->format : "yaml"; // now and then by the wrong reader
    // a block of just this size, so that a sanitizer detects a byte read behind it
    char *exact = malloc(f->length ? f->length : 1);
    if (!exact) return 1;
    memcpy(exact, f->text, f->length);
    const char *wrong = check_text(f, exact, f->length, format);
    free(exact);
    snprintf(what, sizeof what, "--seed %llu --only %ld", (unsigned long long)seed, k);
    return wrong ? report(f, what, wrong) : 0;
}

static long number(const char *text)
{
    return text ? strtol(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    static fuzzing f;
    const char *folder = LW_SOURCE_DIR "/tests/fuzz/corpus";
    long mutations = 400, seed = 1, only = -1;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--verbose") == 0) {
            f.verbose = true;
            continue;
        }
        if (strcmp(argv[i], "--mutations") == 0)
            mutations = number(value);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = number(value);
        else if (strcmp(argv[i], "--only") == 0)
            only = number(value);
        else if (strcmp(argv[i], "--corpus") == 0 && value)
            folder = value;
        else
            return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
        i++;
    }
    f.text = malloc(MAX_BYTES);
    if (!f.text || !load_corpus(&f, folder)) {
        fprintf(stderr, "no corpus in %s\n", folder);
        return 2;
    }
    int failed = replay(&f);
    if (only >= 0) failed = failed || mutate(&f, (uint64_t)seed, only);
    for (long k = 0; k < mutations && only < 0 && !failed; k++)
        failed = mutate(&f, (uint64_t)seed, k);
    printf("%d files, %ld inputs: %ld read, %ld refused, slowest %.3f s\n", f.nfile,
           f.read + f.refused, f.read, f.refused, f.slowest);
    for (int i = 0; i < f.nfile; i++) free(f.file[i].text);
    free(f.text);
    return failed;
}
