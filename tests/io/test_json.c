// test_json.c -- plain JSON is read as libyaml reads it, and all else is left to libyaml.
#include "support/counted.h"
#include "io/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Values, places and quotes of both are the same.
static void same_document(const lwi_document_value *a, const lwi_document_value *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->quoted, b->quoted);
    assert_int_equal(a->place.line, b->place.line);
    assert_int_equal(a->place.column, b->place.column);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->weight, b->weight);
    if (a->kind == LWI_DOCUMENT_SCALAR) assert_string_equal(a->text, b->text);
    for (int i = 0; i < a->count; i++) {
        same_document(a->item[i], b->item[i]);
        if (a->kind != LWI_DOCUMENT_MAP) continue;
        assert_string_equal(a->key[i], b->key[i]);
        assert_int_equal(a->key_place[i].line, b->key_place[i].line);
        assert_int_equal(a->key_place[i].column, b->key_place[i].column);
        assert_int_equal(a->order[i], b->order[i]);
    }
}

static unsigned draw(uint64_t *seed, unsigned n) // xorshift
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return (unsigned)(*seed >> 33) % n;
}

static char *put_blanks(char *to, uint64_t *seed)
{
    static const char *const blanks[] = {"", "", " ", "\n", "  \n  ", " \n\n"};
    return to + sprintf(to, "%s", blanks[draw(seed, 6)]);
}

// A random value as JSON; keys of a map differ.
static char *put_json(char *to, uint64_t *seed, int depth)
{
    static const char *const plain[] = {"0",    "-1",     "1.5e-3",        "12345678901234567890",
                                        "true", "false",  "null",          "\"a name\"",
                                        "\"\"", "\"{#\"", "\"- a: b, c\"", "-0.25E+7"};
    const unsigned kind = depth == 0 ? draw(seed, 2) : draw(seed, 4), n = draw(seed, 5);
    if (kind > 1 || depth > 6) return to + sprintf(to, "%s", plain[draw(seed, 12)]);
    *to++ = kind ? '{' : '[';
    for (unsigned i = 0; i < n; i++) {
        if (i) *to++ = ',';
        to = put_blanks(to, seed);
        if (kind) to += sprintf(to, "\"key %u\":", draw(seed, 1000) * 5 + i);
        to = put_blanks(to, seed);
        to = put_json(to, seed, depth + 1);
        to = put_blanks(to, seed);
    }
    *to++ = kind ? '}' : ']';
    *to = 0;
    return to;
}

// Plain JSON has the document that libyaml makes of it, which reads a text with a comment.
static void json_is_read_as_by_libyaml(void **state)
{
    (void)state;
    enum { N = 400, ROOM = 1 << 20 };
    char *text = malloc(ROOM);
    uint64_t seed = 88172645463325252u;
    assert_non_null(text);
    for (int i = 0; i < N; i++) {
        const lwi_document_value *json, *yaml_root;
        lwi_arena arena;
        lw_error error = {0};
        char *end = put_blanks(put_json(text, &seed, 0), &seed);
        lwi_arena_init(&arena, NULL);
        assert_int_equal(LW_OK, lwi_document_parse_json(text, (size_t)(end - text), &arena, &json));
        if (!json) fail_msg("left: %s", text);
        end += sprintf(end, "\n# a comment\n");
        const lw_status status =
            lwi_document_parse(text, (size_t)(end - text), "j", &arena, &yaml_root, &error);
        if (status != LW_OK) fail_msg("%s: %s", error.text, text);
        same_document(json, yaml_root);
        lwi_arena_free(&arena);
    }
    free(text);
}

static bool is_left(const char *text, size_t length)
{
    const lwi_document_value *root;
    lwi_arena arena;
    char *exact = malloc(length + !length); // without an end: nothing behind it is read
    assert_non_null(exact);
    memcpy(exact, text, length);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(LW_OK, lwi_document_parse_json(exact, length, &arena, &root));
    lwi_arena_free(&arena);
    free(exact);
    return !root;
}

static void all_else_is_left_to_libyaml(void **state)
{
    (void)state;
    static const char whole[] = "{\"a\": [1, -2.5e3, true, \"b\"], \"c\": {\"d\": null}}";
    static const char *const left[] = {"",
                                       "1",
                                       "\"a\"",
                                       "a: 1",
                                       "[1,]",
                                       "{\"a\":1,}",
                                       "{a: 1}",
                                       "{\"a\" :1}",
                                       "{\"a\"}",
                                       "{\"a\":}",
                                       "{\"a\" 1}",
                                       "[1 2]",
                                       "[\t1]",
                                       "[1]\r\n",
                                       "[1] # end",
                                       "[.5]",
                                       "[+1]",
                                       "[01]",
                                       "[nan]",
                                       "['a']",
                                       "[True]",
                                       "[trues]",
                                       "[\"\\u0041\"]",
                                       "[\"\xc3\xa4\"]",
                                       "[\"a\nb\"]",
                                       "[\"\x7f\"]",
                                       "[1}",
                                       "{\"a\":1]",
                                       "[1]]",
                                       "[1][2]",
                                       "[&a 1]",
                                       "[*a]",
                                       "[!t 1]",
                                       "[-]",
                                       "{\"a\":1,\"a\":2}",
                                       "[1:2]",
                                       "[\"a\"\"b\"]",
                                       "\xef\xbb\xbf[]",
                                       "[,1]",
                                       "{,}"};
    assert_false(is_left(whole, sizeof whole - 1));
    for (size_t n = 0; n < sizeof whole - 1; n++) assert_true(is_left(whole, n));
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (!is_left(left[i], strlen(left[i]))) fail_msg("%s", left[i]);
    char key[1100], nested[200];
    for (int n = 1000; n <= 1001; n++) {
        memset(key, 'k', sizeof key);
        memcpy(key, "{\"", 2);
        memcpy(key + 2 + n, "\":1}", 4);
        assert_int_equal(is_left(key, (size_t)n + 6), n == 1001);
    }
    for (size_t n = 63; n <= 64; n++) {
        memset(nested, '[', n);
        memset(nested + n, ']', n);
        assert_int_equal(is_left(nested, 2 * n), n == 64);
    }
}

// Bytes of the document of a long list that ends in `last`.
static size_t memory_of(const char *last)
{
    enum { N = 20000, EACH = 8 };
    char *text = malloc((size_t)N * EACH + 100), *to = text;
    size_t live = 0;
    const lw_allocator allocator = {lwt_allocate, lwt_release, &live};
    const lwi_document_value *root;
    lwi_arena arena;
    lw_error error = {0};
    assert_non_null(text);
    *to++ = '[';
    for (int i = 0; i < N; i++) to += sprintf(to, "%d, ", 10000 + i);
    to += sprintf(to, "\"%s\"]", last);
    lwi_arena_init(&arena, &allocator);
    assert_int_equal(LW_OK,
                     lwi_document_parse(text, (size_t)(to - text), "j", &arena, &root, &error));
    assert_int_equal(root->count, N + 1);
    const size_t bytes = live;
    lwi_arena_free(&arena);
    assert_true(live == 0);
    free(text);
    return bytes;
}

// A text is left for an escape at its end, and once more for a surrogate pair: nothing of these attempts remains.
static void attempts_are_released(void **state)
{
    (void)state;
    const size_t bytes = memory_of("A");
    assert_true(bytes > 20000 * sizeof(lwi_document_value));
    assert_in_range(memory_of("\\u0041"), bytes - 70000, bytes + 70000);
    assert_in_range(memory_of("\\uD83D\\uDE00"), bytes - 70000, bytes + 70000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(json_is_read_as_by_libyaml),
                                       cmocka_unit_test(all_else_is_left_to_libyaml),
                                       cmocka_unit_test(attempts_are_released)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
